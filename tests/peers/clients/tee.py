"""tee.py FILE COMMAND…: runs a program, and writes its input to FILE.in and its output to FILE.out."""

import os
import signal
import subprocess
import sys
import threading

name, *command = sys.argv[1:]
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda number, _: child.send_signal(number))


def copy(source, sink, path):
    with open(path, "wb", buffering=0) as out:
        while data := os.read(source, 1 << 16):
            out.write(data)
            try:
                while data:
                    data = data[os.write(sink, data) :]
            except BrokenPipeError:
                break


def send():
    copy(0, child.stdin.fileno(), name + ".in")
    child.stdin.close()


threading.Thread(target=send, daemon=True).start()
copy(child.stdout.fileno(), 1, name + ".out")
status = child.wait()
os._exit(status if status >= 0 else 128 - status)

#!/usr/bin/env python3
"""Measures `wiretool watch` on a terminal of its own: watch.py WIRETOOL [MEGABYTES]

Prints for a recording of each encoding, with runs of `decode -f json` and watch in turn:

  first      seconds until the first messages show
  index      MB/s until all messages are in the list, and its ratio to decode -f json
  rules      MB/s until all messages are judged
  key        milliseconds from a key to the redraw while the file is read: median, 99 %, maximum
  filter     seconds until the first match, and until 1 million messages are checked
  stop       milliseconds from the next condition to its first match, while another one is applied
  memory     the peak in MiB, without 32 bytes for each message

The recordings are written to TMPDIR and removed.
"""

import base64
import codecs
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROWS, COLUMNS = 48, 160
ROUNDS = 3
TIMEOUT = 300
# The time without output after which a redraw is complete.
QUIET = 0.003


def pack(value):
    """Returns a value as MessagePack."""
    if value is None:
        return b"\xc0"
    if isinstance(value, int):
        return bytes([value]) if value < 128 else b"\xce" + struct.pack(">I", value)
    if isinstance(value, str):
        text = value.encode()
        return (bytes([0xA0 | len(text)]) if len(text) < 32 else b"\xda" + struct.pack(">H", len(text))) + text
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(pack, value))
    return bytes([0x80 | len(value)]) + b"".join(pack(k) + pack(v) for k, v in value.items())


def framed(value):
    body = pack(value)
    return struct.pack(">I", len(body)) + body


def saikuro(n):
    name = f"{n:032x}"
    call = {"version": 1, "type": "call", "id": name, "target": f"math.add{n % 7}", "args": [n, "x" * (n % 90)]}
    return framed(call), framed({"id": name, "ok": True, "result": list(range(n % 40)), "error": None})


def oracle(n):
    call = {"jsonrpc": "2.0", "id": n, "method": "invoke", "params": {"selector": f"f{n % 7}", "calldata": ["0x1"] * (n % 30)}}
    answer = {"jsonrpc": "2.0", "id": n, "result": ["0x2"] * (n % 20)}
    return [(json.dumps(m, separators=(",", ":")) + "\n").encode() for m in (call, answer)]


READY = ["{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n", "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n"]


def record(path, protocol, size, count=None):
    """Writes a recording of about `size` bytes or of `count` messages; returns the number of messages."""
    make = {"oracle": oracle, "saikuro": saikuro}[protocol]
    n = written = 0
    with open(path, "w") as file:
        started = "2026-01-01T00:00:00.000000000Z"
        file.write(json.dumps({"wiretool": 1, "protocol": protocol, "started": started}) + "\n")
        for number, (direction, text) in enumerate(zip(("s2c", "c2s"), READY if protocol == "oracle" else ())):
            file.write(json.dumps({"t": number, "conn": 1, "dir": direction, "text": text}) + "\n")
        while (written < size) if count is None else (2 * n < count):
            for step, (direction, data) in enumerate(zip(("c2s", "s2c"), make(n))):
                line = {"t": 10 + n * 20000 + step * 7000, "conn": 1, "dir": direction}
                if protocol == "saikuro":
                    line["b64"] = base64.b64encode(data).decode()
                else:
                    line["text"] = data.decode()
                written += file.write(json.dumps(line, separators=(",", ":")) + "\n")
            n += 1
        file.write(json.dumps({"t": n * 20000, "event": "end"}) + "\n")
    return 2 * n


class Screen:
    """watch on a terminal, and what its cells show."""

    TOKEN = re.compile(r"\x1b\[([0-9;?<>=]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b.|[^\x1b]+", re.S)
    PART = re.compile(r"\x1b(\[[0-9;?<>=]*)?$")

    def __init__(self, wiretool, path):
        self.cells = [[" "] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.rest = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.start = self.last = time.monotonic()
        environment = {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            os.execve(wiretool, [wiretool, "watch", path], environment)

    def type(self, keys):
        os.write(self.fd, keys.encode())
        return time.monotonic()

    def line(self, row):
        return "".join(self.cells[row])

    def wait(self, is_shown, what, is_partial=False):
        """Waits until the screen shows something; returns the time of the last bytes of that redraw, or of the first ones
        that show it if `is_partial`."""
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until:
            # A redraw may take several reads: between them, cells of two screens show.
            ready, _, _ = select.select([self.fd], [], [], QUIET)
            if ready:
                data = os.read(self.fd, 1 << 16)
                self.last = time.monotonic()
                self.take(data)
                if is_partial and is_shown():
                    return self.last
            elif is_shown():
                return self.last
        sys.exit(f"{what} is not shown:\n" + "\n".join(map(self.line, range(ROWS))))

    def take(self, data):
        data = self.rest + self.decoder.decode(data)
        # A sequence may continue in the next read.
        part = self.PART.search(data)
        self.rest = part[0] if part else ""
        for token in self.TOKEN.finditer(data[: len(data) - len(self.rest)]):
            if token[2] == "H":
                place = [int(n or 1) for n in token[1].split(";")] if token[1] else [1, 1]
                self.row, self.column = place[0] - 1, place[-1] - 1
            elif token[2] == "J":
                self.cells = [[" "] * COLUMNS for _ in range(ROWS)]
            elif token[0][:1] != "\x1b":
                for character in token[0]:
                    if self.row < ROWS and self.column < COLUMNS:
                        self.cells[self.row][self.column] = character
                    self.column += 1

    def memory(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024

    def quit(self):
        self.type("q")
        try:
            while os.read(self.fd, 1 << 16):
                pass
        except OSError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def decode_seconds(wiretool, path):
    start = time.monotonic()
    with open(os.devnull, "wb") as nothing:
        subprocess.run([wiretool, "decode", "-q", "-f", "json", path], stdout=nothing, check=False)
    return time.monotonic() - start


def status(screen):
    return screen.line(ROWS - 1)


def index(wiretool, path, keys):
    """Returns the seconds to the first screen, to the index, to the rules, and the peak of memory."""
    screen = Screen(wiretool, path)
    first = screen.wait(lambda: "messages  1 of" in screen.line(0), "the first message") - screen.start
    row = 1
    while keys is not None and "reading" in status(screen):
        row += 1
        pressed = screen.type("j")
        redrawn = screen.wait(lambda: f"messages  {row} of" in screen.line(0), f"row {row}", is_partial=True)
        keys.append(1000 * (redrawn - pressed))
    indexed = screen.wait(lambda: "reading" not in status(screen) and "message" in status(screen), "the index")
    judged = screen.wait(lambda: "rules" not in status(screen), "the end of the rules")
    memory = screen.memory()
    screen.quit()
    return first, indexed - screen.start, judged - screen.start, memory


def filters(wiretool, path):
    screen = Screen(wiretool, path)
    ready = lambda: not re.search("reading|rules", status(screen)) and "message" in status(screen)
    screen.wait(ready, "the index")
    results = []
    for condition in ("kind=call", "error", "latency>5us", "args[0]=5 or params.selector=f5"):
        typed = screen.type(f"/{condition}\r")
        first = screen.wait(lambda: condition in screen.line(0) and "1 of" in screen.line(0) or "no message" in screen.line(1), condition)
        done = screen.wait(lambda: "…" not in screen.line(0) and condition in screen.line(0), condition)
        results.append(f"{condition}: {first - typed:.2f} {done - typed:.2f}")
        screen.type("\x1b")
        screen.wait(lambda: condition not in screen.line(0), "all messages")
    screen.type("/zzzz\r")
    screen.wait(lambda: "zzzz" in screen.line(0), "the condition")
    typed = screen.type("/kind=invoke,call\r")
    stopped = screen.wait(lambda: re.search(r"\d of .*kind=invoke,call", screen.line(0)), "the next condition") - typed
    screen.quit()
    return "; ".join(results), 1000 * stopped


def main():
    wiretool = os.path.abspath(sys.argv[1])
    size = float(sys.argv[2] if len(sys.argv) > 2 else 1000) * 1e6
    for protocol in ("oracle", "saikuro"):
        with tempfile.TemporaryDirectory(prefix="watch-bench-") as folder:
            path = os.path.join(folder, f"{protocol}.jsonl")
            count = record(path, protocol, size)
            megabytes = os.path.getsize(path) / 1e6
            print(f"{protocol}: {megabytes:.0f} MB, {count} messages", flush=True)
            for _ in range(ROUNDS):
                decoded = decode_seconds(wiretool, path)
                first, indexed, judged, memory = index(wiretool, path, None)
                extra = memory - 32 * count / 2**20
                print(
                    f"  decode {megabytes / decoded:.0f} MB/s  first {first:.2f} s"
                    f"  index {megabytes / indexed:.0f} MB/s = {decoded / indexed:.2f}"
                    f"  rules {megabytes / judged:.0f} MB/s = {decoded / judged:.2f}  memory {extra:.0f} MiB",
                    flush=True,
                )
            keys = []
            index(wiretool, path, keys)
            keys.sort()
            if keys:
                at = lambda part: keys[min(len(keys) - 1, int(len(keys) * part))]
                print(f"  key {at(0.5):.1f} {at(0.99):.1f} {keys[-1]:.1f} ms, {len(keys)} keys")
            record(path, protocol, 0, 1_000_000)
            results, stopped = filters(wiretool, path)
            print(f"  filter {results}  stop {stopped:.0f} ms", flush=True)


if __name__ == "__main__":
    main()

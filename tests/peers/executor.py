"""An executor that follows the real one: it starts a command, waits for `ready`, calls, and kills.

One line out, one line in; the first byte must be `{`; `shutdown` is written and SIGKILL follows at once. Errors are
the texts of the real one.
"""

import json
import os
import select
import signal
import subprocess
import threading

LIMIT = 30  # seconds that a test waits, where the real one waits for ever


class Failed(Exception):
    pass


class Executor:
    def __init__(self, command, read_stderr=True, limit=LIMIT):
        self.limit = limit
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.buffer = b""
        self.stderr = b""
        self.news = threading.Condition()
        if read_stderr:
            threading.Thread(target=self.drain, daemon=True).start()
        self.next_id = 0
        first = self.byte()
        if first != b"{":
            self.kill()
            raise Failed(f"first byte {first!r}")
        ready = json.loads(self.line())
        if ready.get("method") != "ready":
            raise Failed(f"not ready: {ready}")
        self.write({"jsonrpc": "2.0", "id": ready["id"], "result": {}})

    def drain(self):
        while piece := self.process.stderr.read(65536):
            with self.news:
                self.stderr += piece
                self.news.notify_all()

    def stderr_contains(self, words):
        """Returns True if stderr contains this text within the time limit."""
        with self.news:
            return self.news.wait_for(lambda: words.encode() in self.stderr, self.limit)

    def more(self):
        if not select.select([self.process.stdout], [], [], self.limit)[0]:
            raise TimeoutError("nothing came")
        piece = os.read(self.process.stdout.fileno(), 65536)
        if not piece:
            raise Failed("oracle process terminated")
        self.buffer += piece

    def byte(self):
        while not self.buffer:
            self.more()
        return self.buffer[:1]

    def line(self):
        while b"\n" not in self.buffer:
            self.more()
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def write(self, message):
        self.process.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def invoke(self, selector, *felts):
        ident, self.next_id = self.next_id, self.next_id + 1
        params = {"selector": selector, "calldata": [hex(f) for f in felts]}
        self.write({"jsonrpc": "2.0", "id": ident, "method": "invoke", "params": params})
        try:
            answer = json.loads(self.line())
        except json.JSONDecodeError as error:
            raise Failed(f"not JSON: {error}")
        if answer["id"] != ident:
            raise Failed(f"response ID mismatch: expected {ident}, got {answer['id']}")
        if "error" in answer:
            raise Failed(answer["error"]["message"])
        return [int(felt, 16) for felt in answer["result"]]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(LIMIT)

    def shutdown(self):
        self.write({"jsonrpc": "2.0", "method": "shutdown"})
        self.kill()

"""Python's websockets at both ends of `wiretool proxy`: with compression context, fragments, masks, and faults.

Prints a line a case, exits 1 at the first that differs.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import serve

WIRETOOL = sys.argv[1]
folder = tempfile.TemporaryDirectory()
got = []


def echo(socket):
    try:
        for message in socket:
            got.append(message)
            socket.send(message)
    except ConnectionClosed:
        pass


server = serve(echo, "127.0.0.1", 0, compression="deflate", max_size=1 << 28)
threading.Thread(target=server.serve_forever, daemon=True).start()
PORT = server.socket.getsockname()[1]


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r}\n  wanted {wanted!r}")


def message(n, text="hello"):
    return json.dumps({"kind": "INV", "seq": n, "tool": "github.list", "args": {"text": text, "n": n}})


class Proxy:
    def __init__(self, name, *flags):
        self.path = os.path.join(folder.name, name + ".jsonl")
        command = [WIRETOOL, "record", "-p", "sael", "--once", "--connect", f"ws://127.0.0.1:{PORT}", "-w", self.path]
        self.run = subprocess.Popen([*command, *flags], stderr=subprocess.PIPE, text=True)
        while "listening on" not in (line := self.run.stderr.readline()):
            pass
        self.port = int(line.split("127.0.0.1:")[1].split(",")[0])

    def connect_to(self, compression):
        return connect(f"ws://127.0.0.1:{self.port}", compression=compression, max_size=1 << 28)

    def end(self):
        """Returns the decoded messages and the fault events."""
        self.run.stderr.read()
        self.run.wait(30)
        out = subprocess.run([WIRETOOL, "decode", "-f", "json", self.path], capture_output=True, timeout=120)
        lines = [json.loads(line) for line in out.stdout.splitlines()]
        events = [json.loads(line) for line in open(self.path)]
        return lines, [event for event in events if event.get("event") == "inject" and "offset" in event]


def passes():
    """Every message and every byte, whole and fragmented, with and without compression."""
    for compression in ("deflate", None):
        proxy = Proxy(f"pass-{compression}")
        got.clear()
        sent = [message(n, "a" * n) for n in range(300)]
        back = []
        with proxy.connect_to(compression) as socket:
            for n, text in enumerate(sent):
                # An iterable is sent in fragments.
                socket.send(text if n % 3 else [text[:10], text[10:20], text[20:]], text=True)
                back.append(socket.recv())
        check("back", back, sent)
        check("there", got, sent)
        lines, _ = proxy.end()
        for way in ("c2s", "s2c"):
            read = [line["message"] for line in lines if line["dir"] == way and line["kind"] == "INV"]
            check(f"decoded {way}", read, [json.loads(text) for text in sent])
        digest = hashlib.sha256("".join(sent).encode()).hexdigest()[:12]
        print(f"websockets, {compression or 'plain'}: 300 messages there and back, {digest}, all decoded both ways")


def faults():
    """The effect of each action on a peer, with and without compression."""
    for compression in (None, "deflate"):
        for action in (
            "delay 50ms",
            "drop",
            "dup",
            "corrupt .args.text",
            "corrupt byte",
            "truncate 5",
            "length +1",
            "close",
            "reset",
        ):
            proxy = Proxy(f"{action}-{compression}".replace(" ", "_"), "--seed", "3", "--fault", f"dir=c2s kind=INV nth 2: {action}")
            got.clear()
            back, end = [], "closed by the client"
            try:
                with proxy.connect_to(compression) as socket:
                    for n in range(3):
                        socket.send(message(n))
                    while len(back) < 3:
                        back.append(socket.recv(timeout=0.5))
            except TimeoutError:
                end = "no more came"
            except ConnectionClosed as error:
                code = error.rcvd.code if error.rcvd else None
                end = f"closed by the server, {code}" if code else "cut"
            lines, events = proxy.end()
            check("one event", len(events), 1)
            seqs = []
            for text in got:
                try:
                    seqs.append(str(json.loads(text)["seq"]) + ("" if json.loads(text)["args"]["text"] == "hello" else "*"))
                except (ValueError, KeyError):
                    seqs.append("?")
            undone = events[0].get("undone")
            undone = f"; undone: {undone}" if undone else ""
            print(f"  {compression or 'plain':8} {action:19} server got {' '.join(seqs) or '-':9} {end}{undone}")
            if compression is None:
                wanted = {
                    "delay 50ms": ["0", "1", "2"],
                    "drop": ["0", "2"],
                    "dup": ["0", "1", "1", "2"][: len(seqs)],
                    "corrupt .args.text": ["0", "1*", "2"],
                    "close": ["0"],
                }.get(action)
                if wanted:
                    check(action, seqs, wanted)
            check("the server got the first", seqs[0], "0")


passes()
faults()

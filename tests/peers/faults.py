"""Every fault with every kind of peer: the bytes that the client receives, and the recording.

Three requests go out, and the second is meant. The topic faults has the table of what comes of that: it is read there, and what
happens must equal it.
"""

import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys

import msgpack
from proxy_tools import WAIT, WIRETOOL, Peer, Proxy, check, connect_to, folder, listen, new_path, read_recording
from websockets.client import ClientProtocol
from websockets.frames import Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

HERE = os.path.dirname(os.path.abspath(__file__))
ORACLE = sys.argv[2]
NOISE = os.path.join(folder.name, "noise")
with open(NOISE, "wb") as noise:
    noise.write(b"#noise#\n")
QUIET = 0.5  # seconds after which nothing more comes of what is to be silent
ACTIONS = ["delay 50ms", "drop", "dup", "corrupt PLACE", "truncate 7", "length +3", "close", "reset", "stall", "inject FILE"]
# Keys of every fault event.
USUAL = {"t", "conn", "event", "dir", "offset", "len", "kind", "id", "fault"}


class PartialMessage(Exception):
    """The stream ended inside a message."""


def read_exactly(sock, size):
    data = b""
    while len(data) < size:
        piece = sock.recv(size - len(data))
        if not piece:
            if data:
                raise PartialMessage
            return b""
        data += piece
    return data


def served(listener, serve):
    """Serves one connection. Returns the errors that the server found."""
    sock, _ = listener.accept()
    against = None
    try:
        serve(sock)
    except ConnectionResetError:
        against = "reset"
    except Exception as error:
        against = type(error).__name__
    # Unread bytes would turn the end into a reset.
    try:
        sock.shutdown(socket.SHUT_WR)
        while sock.recv(65536):
            pass
    except OSError:
        pass
    sock.close()
    return against


def talk(protocol, flags, server, steps, parse, silent, half=True):
    """Steps through a proxy to a server: each but the last waits for one answer more. Returns all that came, and how it ended.

    The server is a function for one connection of this process, or the port of another.
    """
    mine = None
    if callable(server):
        listener, port = listen()
        mine = Peer(served, listener, server)
    else:
        port = server
    with Proxy(protocol, f"{'ws' if protocol == 'sael' else 'http' if protocol == 'stepflow' else 'tcp'}://127.0.0.1:{port}", *flags) as proxy:
        sock, data, end = connect_to(proxy.port), b"", None
        for n, step in enumerate(steps[:-1], 1):
            sock.sendall(step)
            while len(parse(data)) < n:
                piece = sock.recv(65536)
                check("an answer", piece != b"", True)
                data += piece
        sock.sendall(steps[-1])
        try:
            if half:
                sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        sock.settimeout(QUIET if silent else WAIT)
        while end is None:
            try:
                piece = sock.recv(65536)
                data += piece
                end = None if piece else "end"
            except ConnectionResetError:
                end = "reset"
            except TimeoutError:
                check("silence", silent, True)
                end = "silence"
        sock.close()
        proxy.end()
    against = mine.result() if mine else None
    check("recorded as it was read", read_recording(proxy.recording)[0].get((1, "c2s")), b"".join(steps))
    return parse(data), end, against, proxy.recording


def cell(answers, end, against=None):
    how = [] if end == "end" else [end]
    # The server sees the truncation as well.
    how += [against] if against and against != end else []
    return " ".join(answers) + "".join(f", {word}" for word in how)


def prefixed(data, order):
    """Complete frames with a length prefix."""
    frames = []
    while len(data) >= 4 and len(data) >= 4 + (size := struct.unpack(order + "I", data[:4])[0]):
        frames.append(data[4 : 4 + size])
        data = data[4 + size :]
    return frames


def saikuro(flags, silent):
    def serve(sock):
        while head := read_exactly(sock, 4):
            call = msgpack.unpackb(read_exactly(sock, struct.unpack(">I", head)[0]))
            known = call["target"] == "math.add"
            reply = {"result": sum(call["args"])} if known else {"error": {"code": "FunctionNotFound"}}
            body = msgpack.packb({"id": call["id"], "ok": known, **reply})
            sock.sendall(struct.pack(">I", len(body)) + body)

    def parse(data):
        replies = map(msgpack.unpackb, prefixed(data, ">"))
        return [f"{reply['id'][-1]}{'' if reply['ok'] else '!'}" for reply in replies]

    def call(n):
        body = msgpack.packb({"version": 1, "type": "call", "id": bytes(15) + bytes([n]), "target": "math.add", "args": [n, 1]})
        return struct.pack(">I", len(body)) + body

    answers, end, against, path = talk("saikuro", flags, serve, [call(1), call(2) + call(3)], parse, silent)
    return cell(answers, end, against), path


def sael(flags, silent):
    def serve(sock):
        ws = ServerProtocol()
        while data := sock.recv(65536):
            ws.receive_data(data)
            try:
                for event in ws.events_received():
                    if isinstance(event, Request):
                        ws.send_response(ws.accept(event))
                    elif event.opcode is Opcode.TEXT and ws.state is State.OPEN:
                        call = json.loads(event.data)
                        known = call["tool"] == "echo"
                        rest = {"output": {}} if known else {"code": "TOOL_NOT_FOUND", "message": ""}
                        ws.send_text(json.dumps({"v": 1, "kind": "RES" if known else "ERR", "seq": call["seq"], **rest}).encode())
            finally:
                sock.sendall(b"".join(ws.data_to_send()))

    def parse(data):
        head, _, data = data.partition(b"\r\n\r\n")
        answers = ["101"] if b" 101 " in head else []
        while len(data) > 1 and len(data) >= 2 + data[1]:
            body, data, opcode = data[2 : 2 + data[1]], data[2 + data[1] :], data[0] & 15
            if opcode == Opcode.CLOSE:
                answers.append(f"close {struct.unpack('>H', body[:2])[0]}")
            else:
                reply = json.loads(body)
                answers.append(f"{reply['seq']}{'' if reply['kind'] == 'RES' else '!'}")
        return answers

    client = ClientProtocol(parse_uri("ws://sael.invalid/sael/ws"))
    client.send_request(client.connect())
    steps = [b"".join(client.data_to_send())]
    for n in (1, 2, 3):
        # The key is the same each time, because the decoding of a truncated frame depends on it.
        call, key = json.dumps({"v": 1, "kind": "INV", "seq": n, "tool": "echo", "input": {}}).encode(), bytes([1, 2, 3, 4])
        steps.append(bytes([0x81, 0x80 | len(call)]) + key + bytes(byte ^ key[n % 4] for n, byte in enumerate(call)))
    answers, end, against, path = talk("sael", flags, serve, [*steps[:2], steps[2] + steps[3]], parse, silent)
    return cell(answers[1:], end, against), path


BARGE = 3854301714


def barge(sid):
    body = struct.pack("<i", len(sid)) + sid
    body = struct.pack("<BBi", 0, 0, len(body)) + body
    return struct.pack("<II", len(body) + 4, BARGE) + body


def telequick(flags, silent):
    def serve(sock):
        while head := read_exactly(sock, 4):
            rest = read_exactly(sock, struct.unpack("<I", head)[0])
            method, size, chars = struct.unpack_from("<I2xii", rest)
            # An unknown method, and an envelope whose length is too large or too small.
            if (method, size, chars) != (BARGE, len(rest) - 10, len(rest) - 14):
                raise ValueError
            sock.sendall(barge(rest[14:]))

    def parse(data):
        return [n[-1] if re.fullmatch("call-[123]", n) else "2!" for n in (f[14:].decode("latin-1") for f in prefixed(data, "<"))]

    steps = [barge(b"call-1"), barge(b"call-2") + barge(b"call-3")]
    answers, end, against, path = talk("telequick", flags, serve, steps, parse, silent)
    return cell(answers, end, against), path


class Stepflow:
    """The real server; one for all tests."""

    def __init__(self):
        command = [sys.executable, os.path.join(HERE, "stepflow_server.py")]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.port = json.loads(self.process.stdout.readline())["port"]

    def end(self):
        self.process.kill()
        self.process.wait(WAIT)

    @staticmethod
    def parse(data):
        answers = []
        while b"\r\n\r\n" in data:
            head, data = data.split(b"\r\n\r\n", 1)
            size = re.search(rb"(?i)content-length: *(\d+)", head)
            size = int(size[1]) if size else len(data)
            if len(data) < size:
                break
            body, data = data[:size], data[size:]
            try:
                reply = json.loads(body)
                answers.append(f"{reply['id']}{'' if 'result' in reply else '!'}")
            except (ValueError, KeyError):
                answers.append(f"HTTP {int(head.split()[1])}")
        return answers

    @staticmethod
    def post(n):
        params = {"component": "/double", "input": {"n": n}, "attempt": 1}
        params["observability"] = {"trace_id": None, "span_id": None, "run_id": None, "flow_id": None, "step_id": None}
        body = json.dumps({"jsonrpc": "2.0", "id": str(n), "method": "components/execute", "params": params}).encode()
        head = ["POST / HTTP/1.1", "host: peer", "content-type: application/json", "accept: application/json, text/event-stream"]
        head += ["connection: close"] if n == 3 else []
        return "\r\n".join([*head, f"content-length: {len(body)}", "", ""]).encode() + body

    def __call__(self, flags, silent):
        steps = [self.post(1), self.post(2) + self.post(3)]
        answers, end, _, path = talk("stepflow", flags, self.port, steps, self.parse, silent, half=False)
        # uvicorn may not read a refused request to its end, so its own end may arrive as a reset.
        by_us = any(flag.endswith(": reset") for flag in flags)
        return cell(answers, "end" if end == "reset" and not by_us else end), path


def oracle(flags, silent):
    """The real oracle as a child."""
    path = new_path("oracle")
    command = [WIRETOOL, "proxy", "-q", "-p", "oracle", "-w", path, *flags, "--", ORACLE]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
    line = lambda message: json.dumps(message, separators=(",", ":")).encode() + b"\n"
    call = lambda n: line({"jsonrpc": "2.0", "id": n, "method": "invoke", "params": {"selector": "square", "calldata": [hex(n)]}})
    got, end = b"", "end"

    def more():
        nonlocal got
        if not select.select([process.stdout], [], [], QUIET if silent and got.count(b"\n") == 2 else WAIT)[0]:
            check("silence", silent, True)
            return None
        piece = os.read(process.stdout.fileno(), 65536)
        got += piece
        return piece

    try:
        process.stdin.write(line({"jsonrpc": "2.0", "id": 0, "result": {}}) + call(1))
        # It sends `ready`, and answers.
        while got.count(b"\n") < 2:
            check("an answer", more() != b"", True)
        process.stdin.write(call(2) + call(3))
        process.stdin.close()
        while piece := more():
            pass
        if piece is None:
            end = "silence"
            process.send_signal(signal.SIGTERM)
        status = process.wait(WAIT)
    finally:
        process.kill()
        process.wait(WAIT)
    replies = [json.loads(line) for line in got.splitlines()[1:]]
    answers = [f"{reply['id']}{'' if 'result' in reply else '!'}" for reply in replies]
    return cell(answers, end, f"exit {status}" if status and end == "end" else None), path


PEERS = {
    "saikuro": ("role=request dir=c2s nth 2", ".target"),
    "sael": ("kind=INV dir=c2s nth 2", ".tool"),
    "stepflow": ('subject="components/execute" dir=c2s nth 2', ".params.component"),
    "telequick": ("role=request dir=c2s nth 2", ".fields.call_sid"),
    "oracle": ("kind=invoke dir=c2s nth 2", ".params.selector"),
}


def done(path):
    """Returns the recorded event of the injected fault, and the end that it caused."""
    events = [json.loads(line) for line in open(path, "rb") if b'"event"' in line]
    injected = [event for event in events if event["event"] == "inject" and "conn" in event]
    check("one was done", len(injected), 1)
    ends = [f"then `{event['event']}` by wiretool" for event in events if event.get("by") == "wiretool" and event["event"] == injected[0]["fault"].split()[-1]]
    return " ".join([f"`{key}`" for key in sorted(set(injected[0]) - USUAL)] + ends)


def observed(stepflow):
    run = {"saikuro": saikuro, "sael": sael, "stepflow": stepflow, "telequick": telequick, "oracle": oracle}
    rows = []
    for action in ACTIONS:
        cells, outcomes = [], []
        for name, (condition, spot) in PEERS.items():
            does = action.replace("PLACE", spot).replace("FILE", NOISE)
            got, path = run[name](["--seed", "1", "--fault", f"{condition}: {does}"], action == "stall")
            cells.append(got)
            outcomes.append(done(path))
        # A child has no connection that could be closed or cut, and a line has no length.
        *sockets, child = outcomes
        check(f"{action}: recorded of sockets", len(set(sockets)), 1)
        outcomes = sockets[:1] + [f"oracle: {child or 'nothing'}"] * (child != sockets[0])
        rows.append([f"`{action}`", *cells, "; ".join(outcomes)])
    return rows


stepflow = Stepflow()
try:
    rows = observed(stepflow)
finally:
    stepflow.end()
topic = open(os.path.join(HERE, "../../src/cli/topics/faults.md"), encoding="utf-8").read()
lines = topic.split("```text\n")[-1].split("```")[0].splitlines()[1:]
wanted = [re.split(r"  +", line) for line in lines]
for row in rows:
    row[0] = row[0].strip("`").replace(" PLACE", "")
    row[-1] = row[-1].replace("`", "").replace("then ", "").replace("; oracle: nothing", "")
got = [row[: len(row) - (not row[-1])] for row in rows]
check("the table in src/cli/topics/faults.md", got, wanted)
print(f"faults: {len(ACTIONS)} against {len(PEERS)} kinds of peers, as in the topic")

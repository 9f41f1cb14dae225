"""Independent libraries write messages, and wiretool decodes them with the same meaning.

MessagePack by `msgpack`, WebSocket frames by `websockets` (masked, fragmented, compressed), JSON by the standard library.
Deterministic: one seed. Prints a line a case, exits 1 at the first that differs.
"""

import json
import struct
import subprocess
import sys
import uuid

import msgpack
from common import WIRETOOL, plain, rng, same, value
from websockets.client import ClientProtocol
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory, ServerPerMessageDeflateFactory
from websockets.server import ServerProtocol
from websockets.uri import parse_uri


def decode(stream, *flags):
    """Returns every line of output; decoding must not report a fault."""
    run = subprocess.run([WIRETOOL, "decode", "--from", "raw", "-f", "json", *flags], input=stream, capture_output=True, timeout=60)
    if run.returncode != 0:
        sys.exit(f"exit {run.returncode}: {run.stderr.decode()}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def saikuro(count=2000):
    calls = []
    for _ in range(count):
        made = uuid.UUID(int=rng.getrandbits(128), version=4)
        ident = made.bytes if rng.random() < 0.5 else str(made)
        calls.append((made, {"version": 1, "type": "call", "id": ident, "target": "a.b", "args": [value(), value()]}))
    bodies = [msgpack.packb(call, use_bin_type=True) for _, call in calls]
    lines = decode(b"".join(struct.pack(">I", len(body)) + body for body in bodies))
    same("saikuro count", len(lines), count)
    at = 0
    for line, (made, call), body in zip(lines, calls, bodies):
        same("saikuro", line["message"], plain(call))
        same("saikuro place", (line["offset"], line["len"], line["id"]), (at, len(body) + 4, str(made)))
        at += len(body) + 4
    print(f"saikuro over a prefix: {count} messages by msgpack {msgpack.version}")


def websocket(compressed, binary, count=300):
    """Returns the streams of a client and a server, made by a real handshake and real framing."""
    extensions = [ClientPerMessageDeflateFactory()] if compressed else None
    client = ClientProtocol(parse_uri("ws://localhost/sael/ws"), extensions=extensions)
    server = ServerProtocol(extensions=[ServerPerMessageDeflateFactory()] if compressed else None)
    client.send_request(client.connect())
    streams = {"c2s": b"".join(client.data_to_send()), "s2c": b""}
    server.receive_data(streams["c2s"])
    server.send_response(server.accept(server.events_received()[0]))
    streams["s2c"] += b"".join(server.data_to_send())
    client.receive_data(streams["s2c"])
    sent = {"c2s": [], "s2c": []}
    for n in range(count):
        for way, side in (("c2s", client), ("s2c", server)):
            kind = {"c2s": "INV", "s2c": "RES"}[way]
            message = {"v": 1, "kind": kind, "seq": n + 1, "note": "same words again and again " * rng.randrange(9)}
            body = msgpack.packb(message) if binary else json.dumps(message).encode()
            pieces = rng.choice([1, 1, 1, 2, 5])
            cuts = sorted(rng.randrange(len(body) + 1) for _ in range(pieces - 1))
            parts = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)])]
            send = side.send_binary if binary else side.send_text
            send(parts[0], fin=pieces == 1)
            for i, part in enumerate(parts[1:], 2):
                if rng.random() < 0.3:
                    side.send_ping(b"between")
                side.send_continuation(part, fin=i == pieces)
            streams[way] += b"".join(side.data_to_send())
            sent[way].append(message)
    for way, stream in streams.items():
        lines = decode(stream, "--dir", way)
        same("head", lines[0]["role"], "control")
        got = [line["message"] for line in lines if line["role"] != "control"]
        same(f"websocket {way}", got, sent[way])
    what = "compressed" if compressed else "plain"
    print(f"sael over WebSocket, {what}, {'MessagePack' if binary else 'JSON'}: {2 * count} messages by websockets")


def lines(count=2000):
    calls = []
    for n in range(count):
        params = {"selector": f"f{n}", "calldata": [hex(rng.getrandbits(rng.choice([8, 64, 250]))) for _ in range(n % 5)]}
        calls.append({"jsonrpc": "2.0", "id": n, "method": "invoke", "params": params})
    for ascii_only, separators in ((True, (",", ":")), (False, (", ", ": "))):
        text = "".join(json.dumps(c, ensure_ascii=ascii_only, separators=separators) + "\n" for c in calls)
        same("oracle", [line["message"] for line in decode(text.encode())], calls)
    print(f"oracle lines: {2 * count} messages by json")


saikuro()
for compressed in (False, True):
    for binary in (False, True):
        websocket(compressed, binary)
lines()

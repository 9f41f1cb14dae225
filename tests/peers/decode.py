"""What independent libraries write, wiretool reads as they meant it.

MessagePack by `msgpack`, WebSocket frames by `websockets` (masked, fragmented, compressed), JSON by the standard library.
Deterministic: one seed. Prints a line a case, exits 1 at the first that differs.
"""

import json
import random
import struct
import subprocess
import sys
import uuid

import msgpack
from websockets.client import ClientProtocol
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory, ServerPerMessageDeflateFactory
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

WIRETOOL = sys.argv[1]
rng = random.Random(20261121)


def decode(stream, *flags):
    """Every line of output; decoding must find nothing wrong."""
    run = subprocess.run([WIRETOOL, "decode", "--from", "raw", "-f", "json", *flags], input=stream, capture_output=True, timeout=60)
    if run.returncode != 0:
        sys.exit(f"exit {run.returncode}: {run.stderr.decode()}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def plain(value):
    """A decoded value as JSON has it, the lossless forms included."""
    if isinstance(value, msgpack.ExtType):
        return {"$ext": [value.code - 256 if value.code > 127 else value.code, value.data.hex()]}
    if isinstance(value, bytes):
        return {"$bin": value.hex()}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"$float": struct.pack(">d", value).hex()}
    if isinstance(value, dict):
        if all(isinstance(k, str) and not k.startswith("$") for k in value):
            return {k: plain(v) for k, v in value.items()}
        return {"$map": [[plain(k), plain(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def value(depth=0):
    kinds = ["int", "big", "negative", "float", "odd", "str", "bin", "ext", "bool", "nil"]
    if depth < 4:
        kinds += ["list", "map", "keys"] * 2
    kind = rng.choice(kinds)
    text = lambda n: "".join(rng.choice("abcXYZ019 \"\\\n\té€😀\x00\u202e") for _ in range(rng.randrange(n)))
    many = rng.choice([0, 1, 3, 17])
    return {
        "int": lambda: rng.randrange(1 << rng.choice([4, 7, 8, 16, 32])),
        "big": lambda: rng.randrange(1 << 63, 1 << 64),
        "negative": lambda: -rng.randrange(1, 1 << rng.choice([5, 7, 15, 31, 63])),
        "float": lambda: rng.choice([0.1, -0.0, 1e300, 5e-324, 2.0**53, rng.uniform(-1e6, 1e6)]),
        "odd": lambda: rng.choice([float("nan"), float("inf"), float("-inf")]),
        "str": lambda: text(rng.choice([4, 40, 300])),
        "bin": lambda: rng.randbytes(rng.choice([0, 1, 16, 300, 70_000] if depth < 2 else [0, 1, 16])),
        "ext": lambda: msgpack.ExtType(rng.randrange(128), rng.randbytes(rng.choice([1, 2, 4, 8, 16, 3, 300]))),
        "bool": lambda: rng.random() < 0.5,
        "nil": lambda: None,
        "list": lambda: [value(depth + 1) for _ in range(many)],
        "map": lambda: {text(6) + str(i): value(depth + 1) for i in range(many)},
        "keys": lambda: {rng.randrange(1 << 40): value(depth + 1) for _ in range(many)},
    }[kind]()


def same(name, got, wanted):
    # NaN differs from itself and -0.0 does not from 0.0: compare spellings.
    if json.dumps(got) != json.dumps(wanted):
        sys.exit(f"{name}: {json.dumps(got)[:500]}\n  wanted {json.dumps(wanted)[:500]}")


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
    """A client's and a server's stream, made by a real handshake and real framing."""
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

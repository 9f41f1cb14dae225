"""wiretool writes messages, and independent libraries read them with the same meaning.

MessagePack by `msgpack`, WebSocket frames by `websockets`, JSON by the standard library. Deterministic: one seed.
"""

import json
import struct
import subprocess
import sys
import uuid

import msgpack
from common import WIRETOOL, plain, rng, same, value
from websockets.frames import Frame
from websockets.streams import StreamReader


def encode(messages, *flags):
    text = "".join(json.dumps(m) + "\n" for m in messages)
    run = subprocess.run([WIRETOOL, "encode", "--to", "raw", "--seed", "1", *flags], input=text.encode(), capture_output=True, timeout=60)
    if run.returncode != 0:
        sys.exit(f"exit {run.returncode}: {run.stderr.decode()[:2000]}")
    return run.stdout


def saikuro(count=2000):
    calls = []
    for _ in range(count):
        made = uuid.UUID(int=rng.getrandbits(128), version=4)
        calls.append({"version": 1, "type": "call", "id": made.bytes, "target": "a.b", "args": [value(), value()]})
    stream = encode([plain(c) for c in calls], "-p", "saikuro")
    at = 0
    for call in calls:
        (length,) = struct.unpack_from(">I", stream, at)
        body = stream[at + 4 : at + 4 + length]
        same("saikuro", plain(msgpack.unpackb(body, strict_map_key=False)), plain(call))
        # This library also writes the shortest widths.
        if body != msgpack.packb(call, use_bin_type=True):
            sys.exit(f"saikuro: not canonical: {body[:80].hex()}")
        at += 4 + length
    same("saikuro end", at, len(stream))
    print(f"saikuro over a prefix: {count} messages read by msgpack, byte for byte what it writes")


def widths():
    """Every width that $as names."""
    forms = {
        "u8": 1, "u16": 1, "u32": 1, "u64": 1, "i8": 1, "i16": -1, "i32": 1, "i64": -1, "f32": 0.5,
        "str8": "a", "str16": "a", "str32": "a", "bin16": {"$bin": "01"}, "bin32": {"$bin": "01"},
        "array16": [1], "array32": [1], "map16": {"k": 1}, "map32": {"k": 1}, "ext8": {"$ext": [5, "01"]},
    }
    args = [{"$as": [name, given]} for name, given in forms.items()]
    call = {"version": 1, "type": "call", "id": {"$bin": "00" * 16}, "target": "a.b", "args": args}
    stream = encode([call], "-p", "saikuro")
    same("widths", plain(msgpack.unpackb(stream[4:], strict_map_key=False))["args"], list(forms.values()))
    print(f"saikuro widths: {len(forms)} forms read by msgpack")


def frames(stream, masked):
    """Returns every frame of a stream, read by websockets."""
    reader = StreamReader()
    reader.feed_data(stream)
    reader.feed_eof()
    while len(reader.buffer):
        parse = Frame.parse(reader.read_exact, mask=masked)
        try:
            next(parse)
            sys.exit("a frame is cut off")
        except StopIteration as done:
            yield done.value


def sael(count=500):
    sent = [{"v": 1, "kind": "INV", "seq": n + 1, "tool": "t", "input": {"x": "é" * rng.randrange(200)}} for n in range(count)]
    for binary in (False, True):
        for way in ("c2s", "s2c"):
            flags = ["--msgpack"] if binary else []
            stream = encode(sent, "-p", "sael", "--framing", "websocket", "--dir", way, *flags)
            read = msgpack.unpackb if binary else json.loads
            got = [read(frame.data) for frame in frames(stream, way == "c2s")]
            same("sael", got, sent)
    print(f"sael over WebSocket: {4 * count} frames read by websockets")


def lines(count=1000):
    sent = [{"jsonrpc": "2.0", "id": n, "method": "invoke", "params": {"selector": "f", "calldata": [hex(n)]}} for n in range(count)]
    stream = encode(sent, "-p", "oracle")
    same("oracle", [json.loads(line) for line in stream.decode().splitlines()], sent)
    print(f"oracle lines: {count} messages read by json")


saikuro()
widths()
sael()
lines()

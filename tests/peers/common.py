"""Shared by the peer tests of both directions: values of every type, and their form in the output of decode."""

import json
import random
import struct
import sys

import msgpack

WIRETOOL = sys.argv[1]
rng = random.Random(20261121)


def plain(value):
    """Returns the JSON form of a decoded value, including the lossless forms."""
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
    # NaN is not equal to itself and -0.0 is equal to 0.0: compare the texts.
    if json.dumps(got) != json.dumps(wanted):
        sys.exit(f"{name}: {json.dumps(got)[:500]}\n  wanted {json.dumps(wanted)[:500]}")

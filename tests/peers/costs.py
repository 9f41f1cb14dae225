"""`stat --cost` of shared captures, beside msgpack and zlib of Python: costs.py WIRETOOL

Reads recordings of mcp and sael that tests/recordings.py makes of WIRETOOL_CAPTURES. Prints the table of savings.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

import msgpack
from common import WIRETOOL, same

HERE = pathlib.Path(__file__).resolve().parent


def output(*args):
    run = subprocess.run([WIRETOOL, *args], capture_output=True, timeout=120)
    # 1: the capture has faults.
    if run.returncode not in (0, 1):
        sys.exit(f"{args}: exit {run.returncode}: {run.stderr.decode()}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def compressed(bodies, takeover):
    """Returns the length of messages as permessage-deflate sends them, without the end of each."""
    total, context = 0, None
    for body in bodies:
        if context is None or not takeover:
            context = zlib.compressobj(6, zlib.DEFLATED, -15, 8)
        text = context.compress(body) + context.flush(zlib.Z_SYNC_FLUSH)
        total += len(text) - 4
    return total


def bodies_of(recording):
    """Returns the JSON bodies of each direction of each connection; `None` if one cannot be read from its line."""
    streams = collections.defaultdict(list)
    for line in output("decode", "-f", "json", str(recording)):
        if "message" not in line and "fault" not in line:
            continue
        if "fault" in line or not line.get("body_len"):
            return None
        body = line["message"]
        for separators in ((",", ":"), (", ", ": ")):
            for ascii_only in (False, True):
                text = json.dumps(body, separators=separators, ensure_ascii=ascii_only).encode()
                if len(text) == line["body_len"]:
                    break
            else:
                continue
            break
        else:
            return None
        streams[line.get("conn"), line.get("dir")].append(text)
    return streams


def check(recording):
    cost = output("stat", "--cost", "-f", "json", str(recording))[0]["cost"]["forms"]
    streams = bodies_of(recording)
    if streams is None:
        return None
    all_bodies = [body for bodies in streams.values() for body in bodies]
    size = sum(map(len, all_bodies))
    same(f"{recording.name} bytes", cost["deflate"]["bytes"], size)
    packed = sum(len(msgpack.packb(json.loads(body))) for body in all_bodies)
    same(f"{recording.name} msgpack", cost["msgpack"]["other_bytes"], packed)
    for key, takeover in (("deflate", True), ("deflate_no_context_takeover", False)):
        own, theirs = cost[key]["other_bytes"], sum(compressed(bodies, takeover) for bodies in streams.values())
        # Two compressors choose other matches.
        if abs(own - theirs) > max(0.08 * theirs, 8):
            sys.exit(f"{recording.name} {key}: {own}, but zlib has {theirs}")
    return cost


def main():
    captures = os.environ.get("WIRETOOL_CAPTURES")
    if not captures:
        print("NOT CHECKED: costs of shared captures: WIRETOOL_CAPTURES is not set")
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, HERE.parent / "recordings.py", captures, folder], check=True, timeout=120)
        for protocol in ("mcp", "sael"):
            sums, count = collections.Counter(), 0
            for recording in sorted(pathlib.Path(folder).glob(f"{protocol}-*.jsonl")):
                cost = check(recording)
                if cost is None:
                    continue
                count += 1
                for form, values in cost.items():
                    sums[form, "bytes"] += values["bytes"]
                    sums[form, "other"] += values["other_bytes"]
            same(f"{protocol}: recordings", count > 5, True)
            saved = ", ".join(
                f"{form} {100 - 100 * sums[form, 'other'] / sums[form, 'bytes']:.1f} %"
                for form in ("msgpack", "deflate", "deflate_no_context_takeover", "delta")
                if sums[form, "bytes"]
            )
            print(f"costs of {protocol}: {count} recordings by msgpack and zlib, {sums['deflate', 'bytes']} bytes; saved: {saved}")


main()

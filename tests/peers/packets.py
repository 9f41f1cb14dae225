"""Packet captures of `export -f pcapng` in tshark: checksums and sequence numbers are right, and it finds the HTTP heads,
the WebSocket frames and the comments that wiretool has."""

import json
import pathlib
import subprocess
import sys
import tempfile

WIRETOOL = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECKS = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
WRONG = "tcp.checksum.status != 1 || ip.checksum.status != 1 || tcp.analysis.flags || _ws.malformed"


def run(*args):
    ran = subprocess.run(list(map(str, args)), capture_output=True, timeout=60)
    return ran.stdout.decode()


def tshark(path, display, *fields):
    names = [part for field in fields for part in ("-e", field)]
    return run("tshark", "-r", path, *CHECKS, "-Y", display, "-T", "fields", *names).splitlines()


def same(name, got, wanted):
    if got != wanted:
        sys.exit(f"{name}: {got}\n  wanted {wanted}")


def main():
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        packets = pathlib.Path(folder, "session.pcapng")
        for path in sorted((ROOT / "fixtures").glob("*/*.jsonl")):
            ran = subprocess.run([WIRETOOL, "export", "-f", "pcapng", "--show-secrets", "-o", packets, path], capture_output=True, timeout=60)
            if ran.returncode != 0:
                continue
            count += 1
            same(f"{path}: wrong packets", tshark(packets, WRONG, "frame.number", "_ws.expert.message"), [])
            rows = [json.loads(line) for line in run(WIRETOOL, "decode", "-q", "-f", "json", path).splitlines()]
            comments = tshark(packets, "frame.comment", "frame.comment")
            for row in rows:
                named = any(comment.startswith(f"#{row['index']} ") for comment in comments)
                same(f"{path}: comment of #{row['index']}", named, True)
        for name, framing, display in [("stepflow/http-sse", "http", "http.request"), ("cdp/session", "websocket", "websocket")]:
            path = ROOT / f"fixtures/{name}.jsonl"
            run(WIRETOOL, "export", "-f", "pcapng", "--show-secrets", "-o", packets, path)
            rows = [json.loads(line) for line in run(WIRETOOL, "decode", "-q", "-f", "json", path).splitlines()]
            is_one = {
                "http": lambda row: row["framing"] == "http" and row["dir"] == "c2s",
                "websocket": lambda row: row["framing"] == "websocket",
            }[framing]
            same(f"{name}: {framing}", len(tshark(packets, display, "frame.number")), len([row for row in rows if is_one(row)]))
    print(f"{count} packet captures")


main()

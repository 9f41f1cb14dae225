#!/usr/bin/env python3
"""Converts captures with a known read order into recordings: recordings.py CAPTURES OUT

CAPTURES holds saikuro/NAME.N.chunks.jsonl, sael/NAME.chunks.jsonl, stepflow/NAME/timeline.jsonl, oracle/*/NAME.jsonl,
NAME.chunks.jsonl of the JSON-RPC family and telequick/mixed.expected.jsonl, each beside the bytes of both directions; OUT
gets PROTOCOL-NAME.jsonl. Times count from 2026-01-01.
"""

import base64
import json
import pathlib
import sys


class Recording:
    """Writes one recording."""

    def __init__(self, path, protocol, transport, **more):
        self.file = open(path, "w")
        self.chunks, self.bytes = 0, {}
        started = "2026-01-01T00:00:00.000000000Z"
        self.line(wiretool=1, protocol=protocol, started=started, transport=transport, **more)

    def line(self, **record):
        self.file.write(json.dumps(record, separators=(",", ":"), ensure_ascii=True) + "\n")

    def chunk(self, t, conn, stream, data):
        if not data:
            return
        self.chunks += 1
        self.bytes[stream] = self.bytes.get(stream, 0) + len(data)
        record = {"t": t, "conn": conn, "dir": stream}
        try:
            self.line(**record, text=data.decode())
        except UnicodeDecodeError:
            self.line(**record, b64=base64.b64encode(data).decode())

    def end(self, t):
        self.line(t=t, event="end", chunks=self.chunks, bytes=self.bytes)
        self.file.close()


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def sockets(capture, out, protocol, name, unit):
    """saikuro and sael: one connection, reads by offset and length."""
    data = {d: pathlib.Path(f"{capture}.{d}.bin").read_bytes() for d in ("c2s", "s2c")}
    recording = Recording(out / f"{protocol}-{name}.jsonl", protocol, "tcp")
    ended, t = set(), 0
    recording.line(t=0, conn=0, event="open")
    for read in lines(f"{capture}.chunks.jsonl"):
        t = round(read.get("t_us", read.get("t", 0)) * unit)
        if read.get("eof"):
            ended.add(read["dir"])
            recording.line(t=t, conn=0, dir=read["dir"], event="eof")
        else:
            at = read["off"]
            recording.chunk(t, 0, read["dir"], data[read["dir"]][at : at + read["len"]])
    recording.line(t=t, conn=0, event="close")
    recording.end(t)


def stepflow(folder, out):
    """stepflow: several connections, or the pipes of a child."""
    reads = lines(folder / "timeline.jsonl")
    stdio = (folder / "c2s.bin").exists()
    recording = Recording(out / f"stepflow-{folder.name}.jsonl", "stepflow", "stdio" if stdio else "tcp")
    data, t, ended = {}, 0, {}
    for read in reads:
        t, conn = round(read["t"] * 1e9), read.get("conn", 0)
        if read.get("open"):
            recording.line(t=t, conn=conn, event="open")
        elif "exit" in read:
            recording.line(t=t, conn=conn, event="exit", status=read["exit"])
        elif "dir" in read:
            stream, at = read["dir"], read.get("offset", 0)
            name = f"{stream}.bin" if stdio else f"conn{conn:03}.{stream}.bin"
            if read.get("len") and (folder / name).exists():
                whole = data.setdefault(name, (folder / name).read_bytes())
                recording.chunk(t, conn, stream, whole[at : at + read["len"]])
            elif read.get("len"):
                # Connections that the capture omits.
                recording.line(t=t, conn=conn, dir=stream, event="lost", bytes=read["len"])
            if read.get("eof"):
                recording.line(t=t, conn=conn, dir=stream, event="eof")
                ended.setdefault(conn, set()).add(stream)
                if len(ended[conn]) == 2:
                    recording.line(t=t, conn=conn, event="close")
    recording.end(t)


def oracle(path, out):
    """oracle: one process, one line per read."""
    stem = str(path)[: -len(".jsonl")]
    names = {"executor->oracle": "c2s", "oracle->executor": "s2c"}
    files = {"c2s": f"{stem}.to_oracle.bin", "s2c": f"{stem}.from_oracle.bin"}
    data = {d: pathlib.Path(name).read_bytes() for d, name in files.items()}
    at = {"c2s": 0, "s2c": 0}
    events = lines(path)
    argv = next((e["argv"] for e in events if e.get("event") == "spawn"), None)
    more = {"argv": argv} if argv else {}
    recording = Recording(out / f"oracle-{path.parent.name}-{path.stem}.jsonl", "oracle", "stdio", **more)
    t = 0
    # The last lines of a killed process are in the bytes, but have no separate read.
    last = {"dir": "rest"}
    done = [e["dir"] == "event" and e["event"] in ("eof", "exit") for e in events]
    events.insert(done.index(True) if True in done else len(events), last)
    told = {d: sum(e["bytes"] for e in events if names.get(e["dir"]) == d) for d in files}
    for event in events:
        t = round(event["t_ms"] * 1e6) if event["dir"] != "rest" else t
        if event["dir"] == "rest":
            for stream in files:
                recording.chunk(t, 0, stream, data[stream][told[stream] :])
        elif event["dir"] in names:
            stream = names[event["dir"]]
            start, at[stream] = at[stream], at[stream] + event["bytes"]
            recording.chunk(t, 0, stream, data[stream][start : at[stream]])
        elif event["dir"] == "oracle.stderr":
            text = event.get("line", "").encode() + event.get("eol", "").encode()
            recording.chunk(t, 0, "stderr", text)
        elif event.get("event") == "spawn":
            recording.line(t=t, conn=0, event="open")
        elif event.get("event") == "eof" and event.get("of") in names:
            recording.line(t=t, conn=0, dir=names[event["of"]], event="eof")
        elif event.get("event") == "exit":
            recording.line(t=t, conn=0, event="exit", status=event.get("rc"))
    recording.end(t)


def family(chunks, out, protocol):
    """mcp, lsp, acp and jsonrpc: the pipes of a process, or several connections."""
    stem = str(chunks)[: -len(".chunks.jsonl")]
    name = pathlib.Path(stem).name
    reads = lines(chunks)
    stdio = pathlib.Path(f"{stem}.c2s.bin").exists()
    transport = "stdio" if stdio else "ws" if "ws-" in name else "tcp" if "tcp-" in name else "http"
    recording = Recording(out / f"{protocol}-{name}.jsonl", protocol, transport)
    data, t, ended = {}, 0, {}
    if stdio:
        recording.line(t=0, conn=0, event="open")
    for read in reads:
        t, conn = round(read["t"] * 1e9), read.get("conn", 0)
        stream = read.get("dir")
        if read.get("open"):
            recording.line(t=t, conn=conn, event="open")
        elif "exit" in read:
            recording.line(t=t, conn=conn, event="exit", status=read["exit"])
        elif stream:
            path = f"{stem}.{stream}.bin" if stdio else f"{stem}.{conn}.{stream}.bin"
            if path not in data:
                data[path] = pathlib.Path(path).read_bytes()
            recording.chunk(t, conn, stream, data[path][read["off"] : read["off"] + read["len"]])
            if read.get("eof"):
                recording.line(t=t, conn=conn, dir=stream, event="eof")
                ended.setdefault(conn, set()).add(stream)
                if len(ended[conn]) == 2 and not stdio:
                    recording.line(t=t, conn=conn, event="close")
    recording.end(t)


def telequick(capture, out):
    """telequick: the frames of a session in their order, 1 ms apart. Audio frames go in both directions, in turn."""
    data = pathlib.Path(f"{capture}.bin").read_bytes()
    recording = Recording(out / f"telequick-{capture.name}.jsonl", "telequick", "tcp")
    recording.line(t=0, conn=0, event="open")
    t = 0
    for frame in lines(f"{capture}.expected.jsonl"):
        t += 1_000_000
        at = frame["offset"]
        directions = {"s2c-event": "s2c", "either": ("c2s", "s2c")[frame["index"] % 2]}
        direction = directions.get(frame["dir"], frame["dir"])
        recording.chunk(t, 0, direction, data[at : at + frame["frame_len"]])
    recording.line(t=t, conn=0, event="close")
    recording.end(t)


def main():
    captures, out = map(pathlib.Path, sys.argv[1:3])
    out.mkdir(parents=True, exist_ok=True)
    for protocol, unit in (("saikuro", 1e9), ("sael", 1e3)):
        for path in sorted((captures / protocol).glob("*.chunks.jsonl")):
            name = path.name[: -len(".chunks.jsonl")]
            sockets(path.parent / name, out, protocol, name, unit)
    for path in sorted((captures / "stepflow").glob("*/timeline.jsonl")):
        stepflow(path.parent, out)
    for path in sorted((captures / "oracle").glob("*/*.jsonl")):
        if not path.name.endswith(".executor.jsonl"):
            oracle(path, out)
    for protocol in ("mcp", "lsp", "acp", "jsonrpc"):
        for path in sorted((captures / protocol).glob("*.chunks.jsonl")):
            family(path, out, protocol)
    telequick(captures / "telequick" / "mixed", out)


if __name__ == "__main__":
    main()

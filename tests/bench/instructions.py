#!/usr/bin/env python3
"""Counts the instructions of ten small workloads with callgrind, and compares them with instructions.txt.

    instructions.py WIRETOOL            exits with 1 if a count is 3 % or more above the committed one
    instructions.py WIRETOOL --write    writes the counts to instructions.txt

Counts depend on the compiler, so they are compared only with counts of the same compiler. They do not depend on the load of
the machine.
"""
import base64
import binascii
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMITTED = pathlib.Path(__file__).with_suffix(".txt")
LIMIT = 1.03
EXCHANGES_EACH = 2000

# name, protocol, command
WORKLOADS = [
    ("start", None, ["--version"]),
    ("json-saikuro", "saikuro", ["decode", "-f", "json"]),
    ("json-sael", "sael", ["decode", "-f", "json"]),
    ("json-telequick", "telequick", ["decode", "-f", "json"]),
    ("json-mcp", "mcp", ["decode", "-f", "json"]),
    ("line-saikuro", "saikuro", ["decode", "-f", "line"]),
    ("line-mcp", "mcp", ["decode", "-f", "line"]),
    ("lint-sael", "sael", ["lint", "-q", "--fail-on", "never"]),
    ("lint-mcp", "mcp", ["lint", "-q", "--fail-on", "never"]),
    ("stat-stepflow", "stepflow", ["stat"]),
]


def text(i):
    return f"line {i}: " + "the quick brown fox " * (i % 7) + '"quoted"\n'


def rpc(method, params, result):
    """A request of `method` and its answer."""
    return lambda i: (
        {"jsonrpc": "2.0", "id": i, "method": method, "params": params(i)},
        {"jsonrpc": "2.0", "id": i, "result": result(i)},
    )


def saikuro(i):
    id = f"00000000-0000-4000-8000-{i:012x}"
    return (
        {"version": 1, "type": "call", "id": id, "target": "math.add", "args": [i, 2.5, text(i), {"deep": [True, None]}]},
        {"id": id, "ok": True, "result": {"sum": i + 2, "text": text(i)}},
    )


def sael(i):
    return (
        {"kind": "INV", "seq": i + 1, "tool": "search", "args": {"query": text(i), "limit": i}},
        {"kind": "RES", "seq": i + 1, "output": [{"id": i, "title": text(i)}]},
    )


def telequick(i):
    return {"method": "Barge", "struct": "BargeRequest", "fields": {"call_sid": f"CA{i:08}"}}, {"method": "Barge", "struct": "Empty", "fields": {}}


# A request and its answer, by protocol; the argument makes them distinct.
EXCHANGES = {
    "mcp": rpc(
        "tools/call",
        lambda i: {"name": "echo", "arguments": {"message": text(i), "number": i}},
        lambda i: {"content": [{"type": "text", "text": text(i)}], "isError": False},
    ),
    "saikuro": saikuro,
    "sael": sael,
    "stepflow": rpc(
        "components/execute",
        lambda i: {"component": "/math/add", "input": {"a": i, "b": text(i)}, "attempt": 1},
        lambda i: {"output": {"sum": i, "text": text(i)}},
    ),
    "telequick": telequick,
}


def write_recording(wiretool, protocol, folder):
    """Writes a recording of exchanges of `protocol`, and returns its path."""
    lines = "".join(json.dumps(message) + "\n" for i in range(EXCHANGES_EACH) for message in EXCHANGES[protocol](i))
    encoded = subprocess.run(
        [wiretool, "encode", "-p", protocol, "--to", "hex"], input=lines, text=True, capture_output=True, timeout=60
    )
    assert encoded.returncode == 0, encoded.stderr
    path = folder / f"{protocol}.jsonl"
    with path.open("w") as recording:
        header = {"wiretool": 1, "protocol": protocol, "started": "2026-01-01T00:00:00.000000000Z", "transport": "tcp"}
        print(json.dumps(header), file=recording)
        for i, line in enumerate(encoded.stdout.splitlines()):
            bytes = base64.b64encode(binascii.unhexlify(line)).decode()
            print(json.dumps({"t": i * 1_000_000, "conn": 1, "dir": ["c2s", "s2c"][i % 2], "b64": bytes}), file=recording)
        print(json.dumps({"t": 2 * EXCHANGES_EACH * 1_000_000, "event": "end"}), file=recording)
    return path


def count(command, folder):
    """Returns the number of instructions that `command` executes."""
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.out", *command],
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C", "TERM": "dumb"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=folder, timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return int(re.search(r"Collected : (\d+)", run.stderr)[1])


def committed():
    """Returns the compiler of instructions.txt and its counts."""
    if not COMMITTED.exists():
        return None, {}
    compiler, *rows = COMMITTED.read_text().splitlines()
    return compiler, {name: int(number) for name, number in (row.split() for row in rows)}


def main():
    wiretool = pathlib.Path(sys.argv[1]).resolve()
    if shutil.which("valgrind") is None:
        print("NOT CHECKED: valgrind is not installed")
        return 0
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split(" (")[0].strip()
    before_compiler, before = committed()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        inputs = {p: write_recording(wiretool, p, folder) for p in sorted({p for _, p, _ in WORKLOADS if p})}
        counts = {}
        for workload, protocol, command in WORKLOADS:
            rest = [inputs[protocol]] if protocol else []
            counts[workload] = count([wiretool, *command, *rest], folder)
    lines = [f"{name:16} {number}" for name, number in counts.items()]
    if "--write" in sys.argv[2:]:
        COMMITTED.write_text("\n".join([compiler, *lines]) + "\n")
    if compiler != before_compiler:
        print(f"NOT CHECKED: {COMMITTED.name} has counts of {before_compiler}, this is {compiler}")
        print("\n".join(lines))
        return 0
    failed = False
    for line, (workload, number) in zip(lines, counts.items()):
        ratio = number / before.get(workload, number)
        over = ratio >= LIMIT
        failed |= over
        print(f"{line:32} {ratio:.3f}{'  too many' if over else ''}")
    if failed:
        print(f"If this is meant, write the counts: {' '.join(sys.argv[:2])} --write")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

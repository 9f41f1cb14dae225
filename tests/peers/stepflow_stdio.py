"""stepflow over stdio through `wiretool proxy`: the real server as a child, and a runtime that answers its callbacks.

The child stands between two `tee`s, so that what reached it and what it wrote is known.
"""

import hashlib
import json
import os
import subprocess
import sys
import uuid

from proxy_tools import WIRETOOL, WAIT, Peer, check, check_recording, folder, new_path, read_recording, check_redaction, digest

PYTHON = sys.argv[2]
HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = 60

into, out = (os.path.join(folder.name, name) for name in ("into", "out"))
path = sys.argv[3] if len(sys.argv) > 3 else new_path("stepflow")
script = 'tee "$1" | "$3" "$4" | tee "$2"'
child = ["sh", "-c", script, "sh", into, out, PYTHON, os.path.join(HERE, "stepflow_child.py")]
command = [WIRETOOL, "proxy", "-p", "stepflow", "-w", path, "--", *child]
process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
stderr = Peer(process.stderr.read)
wrote, read = bytearray(), bytearray()


def write(message):
    # The real runtime writes the text and the line end separately.
    for piece in (json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"), ensure_ascii=False).encode(), b"\n"):
        wrote.extend(piece)
        process.stdin.write(piece)
        process.stdin.flush()


def line():
    text = process.stdout.readline()
    check("the child goes on", text[-1:], b"\n")
    read.extend(text)
    return json.loads(text)


def ask(method, params):
    ident = str(uuid.uuid4())
    write({"id": ident, "method": method, "params": params})
    return ident


def execute(component, n):
    observability = {"trace_id": None, "span_id": None, "run_id": str(uuid.uuid4()), "flow_id": "f" * 64, "step_id": "s"}
    return ask("components/execute", {"component": component, "input": {"n": n}, "attempt": 1, "observability": observability})


try:
    ident = ask("initialize", {"runtime_protocol_version": 1})
    check("initialize", line(), {"id": ident, "result": {"server_protocol_version": 1}, "jsonrpc": "2.0"})
    write({"method": "initialized", "params": {}})
    ident = ask("components/list", {})
    names = {component["component"] for component in line()["result"]["components"]}
    check("components", {"/double", "/store", "/fail"} <= names, True)
    # All at the same time: callbacks and answers arrive in any order.
    kinds = ["/double", "/store", "/fail"]
    asked = {execute(kinds[n % 3], n): n for n in range(CALLS)}
    callbacks = 0
    while asked:
        message = line()
        if "method" in message:
            check("callback", message["method"], "blobs/put")
            blob = hashlib.sha256(json.dumps(message["params"]["data"]).encode()).hexdigest()
            write({"id": message["id"], "result": {"blob_id": blob}})
            callbacks += 1
            continue
        n = asked.pop(message["id"])
        if n % 3 == 2:
            check("fail", message["error"]["code"], -32003)
        else:
            check("output", message["result"]["output"]["n"], n if n % 3 else 2 * n)
    process.stdin.close()
    check("the end", process.stdout.read(), b"")
    check("its status", process.wait(WAIT), 0)
    stderr.result()
finally:
    process.kill()
    process.wait(WAIT)
check("callbacks", callbacks, CALLS // 3)
for what, through, end in (("stdin", bytes(wrote), into), ("stdout", bytes(read), out)):
    check(what, digest(open(end, "rb").read()), digest(through))
streams, events = read_recording(path)
check("events", events[-1], "end")
check("recorded", (digest(streams[1, "c2s"]), digest(streams[1, "s2c"])), (digest(bytes(wrote)), digest(bytes(read))))
counts = {"request initialize": 1, "request components/list": 1, "request components/execute": CALLS, "request blobs/put": callbacks}
lines = check_recording(path, counts)
hidden = [folder.name.encode(), "größe €".encode()]
check_redaction(path, hidden, "--field", "text")
print(f"stepflow 0.7.0 over stdio: {CALLS} calls, {callbacks} with callbacks, {len(wrote) + len(read)} bytes the same at both ends; redacted")

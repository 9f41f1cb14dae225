"""Three servers on the SDK of MCP, each started by the one before it under `wiretool record`. One command says which of them
made the client wait."""

import os
import subprocess
import sys

from proxy_tools import WIRETOOL, WAIT, check, folder, wiretool

PYTHON = os.path.join(sys.argv[2], "python")
CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")
# The last one is slow.
SECONDS = {"planner": 0.02, "search": 0.05, "index": 1.0}

names = list(SECONDS)
paths = [os.path.join(folder.name, f"{name}.jsonl") for name in names]
command = []
for name, path in reversed(list(zip(names, paths))):
    server = [PYTHON, f"{CLIENTS}/chain_server.py", name, str(SECONDS[name]), "stdio", *command]
    command = [WIRETOOL, "record", "-q", "-w", path, "--", *server]
done = subprocess.run([PYTHON, f"{CLIENTS}/chain_client.py", *command], capture_output=True, timeout=WAIT)
check(f"the client printed {done.stderr.decode()[-2000:]}", (done.returncode, done.stdout), (0, b"x in index\n"))

operations = wiretool("decode", "--merge", "--ops", "-f", "json", *paths)
calls = {one["src"]: one for one in operations if one.get("name") == "find"}
check("captures", set(calls), set(names))
for outer, inner in zip(names, names[1:]):
    check(f"{inner} is inside of {outer}", calls[inner].get("parent"), calls[outer]["op"])
whole = calls["planner"]
check("the most of the time", max(whole["shares"], key=whole["shares"].get), "index server")
check("at least its work", whole["shares"]["index server"] >= 1000, True)
check("all of the time", abs(sum(whole["shares"].values()) - whole["duration_ms"]) < 0.001, True)
apart = wiretool("lint", "-f", "json", *paths, codes=(0, 1))
together = wiretool("lint", "--merge", "-f", "json", *paths, codes=(0, 1))
found = [[one["finding"]["rule"] for one in lines if "finding" in one] for lines in (apart, together)]
check("findings", sorted(found[0]), sorted(found[1]))
print(f"chain: {len(operations)} operations of {len(names)} processes, ok")

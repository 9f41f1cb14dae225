"""Operations of real sessions of MCP 2026-07-28, which server and client of the SDK make over stdio and HTTP: a call that asks twice
for input is one operation. Three proxies in a row: the legs of a call are one operation."""

import os
import socket
import subprocess
import sys
import time

from proxy_tools import WIRETOOL, WAIT, Proxy, check, folder, wiretool

PYTHON = os.path.join(sys.argv[2], "python")
CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(*args):
    """Starts a server; `None` becomes its port. Returns it when it listens."""
    port = free_port()
    server = subprocess.Popen([PYTHON, *(str(port) if arg is None else arg for arg in args)], **QUIET)
    until = time.monotonic() + WAIT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), WAIT).close()
            return server, port
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def talk(client, *args):
    run = subprocess.run([PYTHON, f"{CLIENTS}/{client}", *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    check(f"{client} printed {run.stderr.decode()[-2000:]}", run.returncode, 0)
    return run.stdout.decode().strip()


def check_input(what, recording):
    operations = wiretool("decode", "--ops", "-f", "json", recording)
    shown = {one.get("name") or one["subject"]: one for one in operations if one["subject"] in ("tools/call", "server/discover")}
    check(f"{what}: operations", sorted(shown), ["book", "now", "server/discover"])
    check(f"{what}: states", {one["state"] for one in operations}, {"answered"})
    book, now = shown["book"], shown["now"]
    check(f"{what}: retries of book", book["parts"], {"retry": 2})
    check(f"{what}: parts of now", now.get("parts"), None)
    check(f"{what}: link", (book["link"], now.get("link")), ("recorded", None))
    check(f"{what}: messages of book", book["messages"], 6)
    shares = book["shares"]
    check(f"{what}: owners {shares}", set(shares), {"server", "person"})
    check(f"{what}: two times 400 ms of a person {shares}", 800 <= shares["person"] < 2500, True)
    check(f"{what}: three times 50 ms of the server {shares}", 150 <= shares["server"] < 2000, True)
    check(f"{what}: the sum", abs(sum(shares.values()) - book["duration_ms"]) < 0.001, True)
    found = wiretool("lint", "-f", "json", recording, codes=(0, 1))
    check(f"{what}: errors", [one for one in found if one.get("finding", {}).get("severity") == "error"], [])


recording = os.path.join(folder.name, "stdio.jsonl")
said = talk("input_client.py", WIRETOOL, "record", "-q", "-w", recording, "--", PYTHON, f"{CLIENTS}/input_server.py", "stdio")
check("stdio: said", said, "2026-07-28 booked Oslo now")
check_input("stdio", recording)

server, port = start(f"{CLIENTS}/input_server.py", "http", None)
try:
    with Proxy("mcp", port) as proxy:
        said = talk("input_client.py", f"http://127.0.0.1:{proxy.port}/mcp")
        proxy.end()
    check("http: said", said, "2026-07-28 booked Oslo now")
    check_input("http", proxy.recording)
finally:
    server.kill()
    server.wait()

# Three proxies in a row before one server: the legs of each call are one operation.
server, port = start(f"{CLIENTS}/chain_server.py", "index", "0.3", None)
proxies = {}
try:
    for name in ("inner", "middle", "outer"):
        proxies[name] = Proxy("mcp", port)
        port = proxies[name].port
    said = talk("chain_client.py", f"http://127.0.0.1:{port}/mcp")
    check("relays: said", said, "x in index")
finally:
    for proxy in reversed(proxies.values()):
        proxy.end()
    server.kill()
    server.wait()
paths = []
for name, proxy in proxies.items():
    paths.append(os.path.join(folder.name, f"{name}.jsonl"))
    os.rename(proxy.recording, paths[-1])
operations = wiretool("decode", "--merge", "--ops", "-f", "json", *paths)
for subject in ("server/discover", "tools/call"):
    legs = {one["src"]: one for one in operations if one["subject"] == subject}
    check(f"relays: {subject}: captures", set(legs), set(proxies))
    check(f"relays: {subject}: outermost", legs["outer"].get("parent"), None)
    for outer, inner in (("outer", "middle"), ("middle", "inner")):
        got = legs[inner].get("parent"), legs[inner].get("link")
        check(f"relays: {subject}: {inner} is inside of {outer}", got, (legs[outer]["op"], "inferred"))
    shares = legs["outer"]["shares"]
    check(f"relays: {subject}: owner {shares}", max(shares, key=shares.get), "inner server")
print(f"operations: of sessions with input over stdio and HTTP, and of {len(operations)} calls through three proxies, ok")

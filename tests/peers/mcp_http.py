"""mcp over HTTP through `wiretool proxy`: streamable HTTP and HTTP+SSE, servers and clients of two SDKs. The bytes pass
unchanged, the recording decodes and has no errors, and can be replayed; `send` calls a tool."""

import json
import os
import socket
import subprocess
import sys
import time

from proxy_tools import WAIT, Proxy, Relay, check, read_recording, wiretool

NODE, PYTHON = sys.argv[2], sys.argv[3]
HERE = os.path.dirname(os.path.abspath(__file__))
ECHO, COUNT = ("echo", {"message": "größe €"}), ("count", {"n": 3})
EVERYTHING, OWN = [f"{NODE}/mcp-server-everything"], [f"{PYTHON}/python", f"{HERE}/clients/mcp_server.py"]
# Server, its transport, the path, the tool; the clients.
SERVERS = [
    (EVERYTHING, "streamableHttp", "/mcp", ECHO, ["http", "python"]),
    (EVERYTHING, "sse", "/sse", ECHO, ["sse"]),
    (OWN, "streamable-http", "/mcp", COUNT, ["http", "python"]),
    (OWN, "sse", "/sse", COUNT, ["sse"]),
]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port):
    until = time.monotonic() + WAIT
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), WAIT).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def talk(client, url, tool, arguments):
    command = ["node", f"{HERE}/clients/mcp.mjs", client, tool, arguments, url]
    if client == "python":
        command = [f"{PYTHON}/python", f"{HERE}/clients/mcp_client.py", url, tool, arguments]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    check(f"{client} printed {run.stderr.decode()[-2000:]}", run.returncode, 0)
    check(f"{client} got", "größe €" in run.stdout.decode() or "gr\\u00f6\\u00dfe" in run.stdout.decode(), True)


total = sessions = 0
for command, transport, path, (tool, arguments), clients in SERVERS:
    arguments = json.dumps(arguments)
    port = free_port()
    env = {**os.environ, "PORT": str(port)}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([*command, transport, str(port)], env=env, **quiet)
    try:
        wait_for(port)
        address = f"http://127.0.0.1:{port}{path}"
        for client in clients:
            name = f"{transport} with {client}"
            inner = Relay(port)
            with Proxy("mcp", inner.port) as proxy:
                outer = Relay(proxy.port)
                talk(client, f"http://127.0.0.1:{outer.port}{path}", tool, arguments)
                proxy.end()
            check(f"{name}: bytes", outer.passed(), inner.passed())
            streams, events = read_recording(proxy.recording)
            check(f"{name}: recorded", (events[-1], "lost" in events), ("end", False))
            total += sum(map(len, streams.values()))
            lines = wiretool("decode", "-f", "json", proxy.recording)
            check(f"{name}: protocol", {line["protocol"] for line in lines}, {"mcp"})
            found = wiretool("lint", "-f", "json", proxy.recording)
            check(f"{name}: errors", [f for f in found if f.get("finding", {}).get("severity") == "error"], [])
            # `everything` adds tools while it answers; which of them a list has depends on timing.
            summary = wiretool("replay", "-f", "json", "--ignore", "response:result.tools", proxy.recording, "--connect", address)[-1]["summary"]
            check(f"{name}: replayed", (summary["sent"] > 2, summary["differ"], summary["hangs"]), (True, 0, False))
            sessions += 1
        answers = wiretool("send", "mcp", "tools/call", tool, arguments, "-f", "json", "--connect", address)
        check(f"{transport}: send", [a["message"]["result"]["content"][0]["type"] for a in answers if a["role"] == "response"], ["text"])
    finally:
        server.kill()
        server.wait(WAIT)
print(f"mcp: {sessions} sessions over HTTP, {total} bytes unchanged; decoded, linted and replayed; send calls a tool")

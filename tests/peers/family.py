"""mcp over stdio through `wiretool proxy`: two servers from npm and two from PyPI. The bytes pass unchanged, the recording
decodes without errors and warnings, it can be replayed against the server, and a stub from the recording answers the
client."""

import json
import os
import subprocess
import sys

from proxy_tools import WIRETOOL, WAIT, check, digest, folder, new_path, read_recording, wiretool

NODE, PYTHON = sys.argv[2], sys.argv[3]
VERSION = "2025-11-25"
SERVERS = {
    "everything": ([f"{NODE}/mcp-server-everything"], "echo", {"message": "größe €"}),
    "memory": ([f"{NODE}/mcp-server-memory"], "read_graph", {}),
    "time": ([f"{PYTHON}/mcp-server-time"], "convert_time", {"source_timezone": "UTC", "time": "09:30", "target_timezone": "Asia/Tokyo"}),
    "fetch": ([f"{PYTHON}/mcp-server-fetch"], "fetch", {"url": "http://127.0.0.1:9/"}),
}
os.environ["MEMORY_FILE_PATH"] = os.path.join(folder.name, "memory.jsonl")


def talk(command, tool, arguments):
    """Plays a client. Returns what it wrote, what it read, and the answers."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    wrote, read, answers = bytearray(), bytearray(), {}

    def write(message):
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        wrote.extend(line)
        process.stdin.write(line)
        process.stdin.flush()

    def ask(ident, method, params):
        write({"id": ident, "method": method, "params": params})
        while ident not in answers:
            line = process.stdout.readline()
            check("the server goes on", line[-1:], b"\n")
            read.extend(line)
            message = json.loads(line)
            if message.get("method") == "roots/list":
                write({"id": message["id"], "result": {"roots": []}})
            elif "method" not in message:
                answers[message["id"]] = message

    try:
        client = {"protocolVersion": VERSION, "capabilities": {"roots": {}}, "clientInfo": {"name": "client", "version": "1"}}
        ask(1, "initialize", client)
        write({"method": "notifications/initialized"})
        ask(2, "tools/list", {})
        ask(3, "tools/call", {"name": tool, "arguments": arguments})
        ask(4, "ping", {})
        process.stdin.close()
        read.extend(process.stdout.read())
        process.wait(WAIT)
    finally:
        process.kill()
        process.wait(WAIT)
    return bytes(wrote), bytes(read), answers


total = 0
for name, (server, tool, arguments) in SERVERS.items():
    path = new_path(name)
    wrote, read, answers = talk([WIRETOOL, "proxy", "-q", "-p", "mcp", "-w", path, "--", *server], tool, arguments)
    check(f"{name}: tools", len(answers[2]["result"]["tools"]) > 0, True)
    streams, _ = read_recording(path)
    check(f"{name}: recorded", (digest(streams[1, "c2s"]), digest(streams[1, "s2c"])), (digest(wrote), digest(read)))
    lines = wiretool("decode", "--lint", "-f", "json", path)
    check(f"{name}: decoded", {line["protocol"] for line in lines}, {"mcp"})
    pairs = {line["id"]: line.get("reply_to") for line in lines if line["role"] in ("response", "error") and line["dir"] == "s2c"}
    check(f"{name}: pairs", (set(pairs), None in pairs.values()), ({1, 2, 3, 4}, False))
    found = wiretool("lint", "-f", "json", path)
    found = [line["finding"] for line in found if line.get("finding", {}).get("severity") in ("error", "warning")]
    # The server may ask for the roots after the client has read its last answer, and gives up at the end.
    found = [one for one in found if (one["rule"], "roots/list" in one["text"]) != ("mcp/cancelled-unanswered", True)]
    check(f"{name}: findings", found, [])
    # Some answers have times and generated values: the command ends, whatever it compares.
    wiretool("replay", "-f", "json", path, "--", *server, codes=(0, 1))
    _, _, stubbed = talk([WIRETOOL, "stub", "mcp", "-q", "--from-recording", path], tool, arguments)
    check(f"{name}: stub", {n: a for n, a in stubbed.items() if n > 1}, {n: a for n, a in answers.items() if n > 1})
    total += len(wrote) + len(read)
print(f"mcp: {len(SERVERS)} servers over stdio, {total} bytes unchanged; decoded, replayed and stubbed")

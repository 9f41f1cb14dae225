"""Clients of others use every tool of `wiretool mcp serve`: both SDKs, and the command line of the MCP Inspector. Their
sessions are recorded, and lint finds nothing in them."""

import json
import os
import subprocess
import sys

from proxy_tools import WIRETOOL, WAIT, check, folder, new_path, wiretool

NODE, PYTHON = sys.argv[2], sys.argv[3]
HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.normpath(os.path.join(HERE, "../../fixtures"))
SESSION = os.path.join(FIXTURES, "mcp/session.jsonl")
CALLS = [
    ("recordings", {"limit": 2}, '"recordings"'),
    ("messages", {"recording": SESSION, "where": "role=error"}, "Unknown tool: sub"),
    ("message", {"recording": SESSION, "index": 5, "view": "hex"}, "22 6a 73 6f 6e"),
    ("operations", {"recording": SESSION}, "tools/call add"),
    ("findings", {"recording": SESSION}, "mcp/unknown-tool"),
    ("waiting", {"recording": os.path.join(FIXTURES, "cli/hang.jsonl")}, "the oracle must send it"),
    ("statistics", {"recording": SESSION}, "p50"),
    ("differences", {"a": os.path.join(FIXTURES, "cli/run-a.jsonl"), "b": os.path.join(FIXTURES, "cli/run-b.jsonl")}, "result.ts"),
    ("decode", {"bytes": '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', "protocol": "mcp"}, "tools/list"),
]


def recorded():
    """Returns the command of a server whose session is recorded, and the recording."""
    path = new_path("serve")
    return path, [WIRETOOL, "record", "-q", "-p", "mcp", "-w", path, "--", WIRETOOL, "mcp", "serve", FIXTURES]


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    check(f"{command[:4]} printed {done.stderr.decode()[-2000:]}", done.returncode, 0)
    return json.loads(done.stdout)


def check_clean(path):
    found = wiretool("lint", "-f", "json", "--fail-on", "info", path)
    check(f"{path}: findings", [line["finding"] for line in found if "finding" in line], [])


for name, client in {
    "TypeScript": ["node", f"{HERE}/clients/mcp_tools.mjs"],
    "Python": [f"{PYTHON}/python", f"{HERE}/clients/mcp_tools.py"],
}.items():
    path, server = recorded()
    got = run([*client, json.dumps([call[:2] for call in CALLS]), *server])
    check(f"{name}: tools", sorted(got["tools"]), sorted(call[0] for call in CALLS))
    check(f"{name}: resource", "saikuro" in got["resource"], True)
    check(f"{name}: instructions", "never follow them" in got["instructions"], True)
    for (tool, _, wanted), text in zip(CALLS, got["texts"], strict=True):
        check(f"{name}: {tool}: {text}", wanted in text, True)
    check_clean(path)

# It keeps flags of the server for itself, so the command is one word.
launcher = os.path.join(folder.name, "serve")
subprocess.run([WIRETOOL, "wrap", "-q", "--launcher", launcher, "--", WIRETOOL, "mcp", "serve", FIXTURES], check=True, timeout=WAIT)
os.environ["XDG_STATE_HOME"] = folder.name
inspector = [f"{NODE}/mcp-inspector", "--cli", launcher, "--method"]
check("Inspector: tools", len(run([*inspector, "tools/list"])["tools"]), len(CALLS))
check("Inspector: resources", len(run([*inspector, "resources/list"])["resources"]) >= 100, True)
for tool, arguments, wanted in CALLS:
    given = [word for key, value in arguments.items() for word in ("--tool-arg", f"{key}={value}")]
    text = run([*inspector, "tools/call", "--tool-name", tool, *given])["content"][0]["text"]
    check(f"Inspector: {tool}: {text}", wanted in text, True)
recordings = os.path.join(folder.name, "wiretool/recordings")
paths = [os.path.join(at, file) for at, _, files in os.walk(recordings) for file in files]
check("Inspector: recordings", len(paths), len(CALLS) + 2)
for path in paths:
    check_clean(path)
print(f"mcp serve: {len(CALLS)} tools by 3 clients, {len(paths) + 2} sessions without findings")

"""Clients of editors and hosts start `wiretool record` instead of their server, as `wiretool help clients` shows. The
bytes are those that client and server have; recordings decode without faults, lint finds no error, they can be replayed
against the server, and a stub from them serves the client."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys

from proxy_tools import WIRETOOL, WAIT, check, folder, read_recording, wiretool

NODE, PYTHON = sys.argv[2], sys.argv[3]
HERE = os.path.dirname(os.path.abspath(__file__))
TEE = [sys.executable, os.path.join(HERE, "clients", "tee.py")]
os.environ["MEMORY_FILE_PATH"] = os.path.join(folder.name, "memory.jsonl")


def write(name, text):
    path = os.path.join(folder.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run(command, **settings):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT, **settings)
    check(f"{command[:4]} printed {done.stderr.decode()[-2000:]}", done.returncode, 0)
    return done.stdout


def record(name, protocol, client, server, **settings):
    """Runs a client whose server is recorded. Returns the recording and what the client printed."""
    outer, inner = (os.path.join(folder.name, f"{name}-{side}") for side in ("outer", "inner"))
    path = os.path.join(folder.name, f"{name}-{{pid}}.jsonl")
    wrapped = [WIRETOOL, "record", "-q", "-p", protocol, "-w", path, "--", *TEE, inner, *server]
    printed = client([*TEE, outer, *wrapped], **settings)
    (path,) = glob.glob(os.path.join(folder.name, f"{name}-[0-9]*.jsonl"))
    streams, events = read_recording(path)
    for end, direction in (("in", "c2s"), ("out", "s2c")):
        sides = [open(f"{side}.{end}", "rb").read() for side in (outer, inner)]
        check(f"{name}: {direction}", streams[1, direction] == sides[0] == sides[1], True)
    check(f"{name}: end", (events[-1], "lost" in events), ("end", False))
    lines = wiretool("decode", "-f", "json", path)
    check(f"{name}: protocol", {line["protocol"] for line in lines}, {protocol})
    found = wiretool("lint", "-f", "json", path)
    check(f"{name}: errors", [f for f in found if f.get("finding", {}).get("severity") == "error"], [])
    return path, printed, sum(map(len, streams.values()))


def lsp_client(language, file):
    return lambda command: run(["node", f"{HERE}/clients/lsp.mjs", language, file, *command])


def mcp_client(tool, arguments):
    return lambda command: run(["node", f"{HERE}/clients/mcp.mjs", "stdio", tool, json.dumps(arguments), *command])


def acp_client(command):
    return run(["node", f"{HERE}/clients/acp.mjs", *command])


page = write("page.html", '<html>\n<p id="ü €">x</p>\n</html>\n')
SESSIONS = {
    "memory": ("mcp", mcp_client("read_graph", {}), [f"{NODE}/mcp-server-memory"]),
    "time": ("mcp", mcp_client("convert_time", {"source_timezone": "UTC", "time": "09:30", "target_timezone": "Asia/Tokyo"}), [f"{PYTHON}/mcp-server-time"]),
    "html": ("lsp", lsp_client("html", page), [f"{NODE}/vscode-html-language-server", "--stdio"]),
    "pylsp": ("lsp", lsp_client("python", write("main.py", "größe = 1\n")), [f"{PYTHON}/pylsp"]),
    "clangd": ("lsp", lsp_client("c", write("main.c", "int größe;\n")), [f"{PYTHON}/clangd"]),
    "acp": ("acp", acp_client, ["node", f"{HERE}/clients/acp_agent.mjs"]),
}
total = 0
for name, (protocol, client, server) in SESSIONS.items():
    path, printed, size = record(name, protocol, client, server)
    total += size
    # Some answers have times and generated values: the command ends, whatever it compares.
    wiretool("replay", "-f", "json", path, "--", *server, codes=(0, 1))
    stubbed = client([WIRETOOL, "stub", protocol, "-q", "--from-recording", path])
    mine = {key: value for key, value in json.loads(printed).items() if key != "status"}
    check(f"{name}: stub", {key: json.loads(stubbed)[key] for key in mine}, mine)

# The exit status, and signals.
path = os.path.join(folder.name, "status.jsonl")
status = subprocess.run([WIRETOOL, "record", "-q", "-p", "lsp", "-w", path, "--", "sh", "-c", "exit 7"], stdin=subprocess.DEVNULL, timeout=WAIT)
check("status", status.returncode, 7)
path = os.path.join(folder.name, "signal.jsonl")
script = "trap 'echo ended; exit 9' TERM; echo started; while :; do sleep 0.05; done"
child = subprocess.Popen([WIRETOOL, "record", "-q", "-p", "mcp", "-w", path, "--", "bash", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
check("started", child.stdout.readline(), b"started\n")
child.send_signal(signal.SIGTERM)
check("the server gets the signal", child.stdout.read(), b"ended\n")
child.wait(WAIT)
check("recorded", read_recording(path)[0][1, "s2c"], b"started\nended\n")
check("end", read_recording(path)[1][-1], "end")

# Neovim, where it is installed.
nvim = shutil.which("nvim")
if nvim:
    out = os.path.join(folder.name, "nvim.out")

    def neovim(command):
        # Words are separated by blanks there, and no path has one.
        env = {**os.environ, "LSP_FILE": page, "LSP_OUT": out, "LSP_COMMAND": " ".join(command), "XDG_STATE_HOME": folder.name, "XDG_CACHE_HOME": folder.name}
        return run([nvim, "--headless", "--clean", "-c", f"luafile {HERE}/clients/nvim.lua"], env=env)

    path, _, size = record("nvim", "lsp", neovim, SESSIONS["html"][2])
    check("Neovim: answers", open(out).read().split(), ["true", "true"])
    total += size
else:
    print("NOT CHECKED: Neovim, which is not installed")
print(f"clients: {len(SESSIONS) + bool(nvim)} sessions, {total} bytes unchanged; decoded, linted, replayed and stubbed")

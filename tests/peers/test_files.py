"""`wiretool test` with real servers: an MCP server of npm, a language server and an oracle, each with a baseline; a server that
breaks in six ways, with what the report says for each; and the pytest fixture of `wiretool help test`.

test_files.py WIRETOOL NODE-BIN PYTHON-BIN ORACLE PYTHON
"""

import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

WIRETOOL, NODE, PYTHON_BIN, ORACLE, PYTHON = sys.argv[1:6]
TIMES = re.compile(r"\d+(\.\d+)? (ns|µs|ms|s)\b")
folder = tempfile.TemporaryDirectory()
path = pathlib.Path(folder.name)
# Stubs of the cases find the tested binary.
(path / "bin").mkdir()
(path / "bin/wiretool").symlink_to(pathlib.Path(WIRETOOL).resolve())
environment = {**os.environ, "PATH": f"{path / 'bin'}:{os.environ['PATH']}", "RUST_BACKTRACE": "0"}


def run(*words):
    ran = subprocess.run(["wiretool", *words], cwd=path, env=environment, capture_output=True, text=True, timeout=120)
    return ran.returncode, ran.stdout, ran.stderr


def results(name, text, *flags):
    """Returns for each case its outcome, and its problems as texts."""
    (path / f"{name}.toml").write_text(text)
    code, out, err = run("test", "-f", "json", *flags, f"{name}.toml")
    cases = [json.loads(line) for line in out.splitlines()]
    if not cases:
        sys.exit(f"{name}: exit code {code}: {err}")
    return code, {c["case"]: [f"{p['rule']} {p['text']}" for p in c["problems"]] for c in cases}


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: wanted {wanted!r}, got {got!r}")


SERVERS = {
    "everything": f"""
protocol = "mcp"
command = ["{NODE}/mcp-server-everything"]
budget = {{ latency = "20s", calls = 40 }}
[[case]]
name = "echoes"
send = [["tools/call", "echo", '{{"message":"größe €"}}']]
expect = ['of="tools/call" .result.content[0].text="Echo: größe €"']
[[case]]
name = "offers"
baseline = "everything.json"
""",
    "pylsp": f"""
protocol = "lsp"
command = ["{PYTHON_BIN}/pylsp"]
timeout = "30s"
[[case]]
name = "offers"
baseline = "pylsp.json"
""",
    "oracle": f"""
protocol = "oracle"
command = ["{ORACLE}"]
[[case]]
name = "answers"
send = ["invoke square 0x5"]
expect = ["role=response .result[0]=0x19"]
[[case]]
name = "dies"
send = ["invoke die 0x1"]
""",
}
for name in ("everything", "pylsp"):
    check(f"{name}: update", results(name, SERVERS[name], "--update")[0], 0)
    code, found = results(name, SERVERS[name])
    check(name, (code, set(map(tuple, found.values()))), (0, {()}))
# A client of an older release may rely on what is gone now.
stored = json.loads((path / "everything.json").read_text())
stored["lists"]["tools/list"]["gone"] = {"name": "gone", "inputSchema": {"type": "object"}}
stored["lists"]["tools/list"]["echo"]["inputSchema"]["properties"]["message"]["type"] = ["string", "number"]
(path / "everything.json").write_text(json.dumps(stored))
code, found = results("everything", SERVERS["everything"])
wanted = [
    'test/baseline breaking: tools/list echo.message: type was ["string","number"], and is "string" now',
    "test/baseline breaking: tools/list gone: gone",
]
check("breaking changes", (code, found["echoes"], found["offers"]), (1, [], wanted))
code, found = results("oracle", SERVERS["oracle"])
check("oracle", (code, found["answers"]), (1, []))
check("oracle: dies", "before its answer came" in found["dies"][0], True)

# A server in Python that breaks.
(path / "broken.py").write_text(
    """
import json, sys, time

for line in sys.stdin:
    message = json.loads(line)
    method, ident = message["method"], message.get("id")
    write = lambda **members: print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)
    if method == "initialize":
        info = {"name": "broken", "version": "1"}
        tools = {"tools": {}}
        write(id=ident, result={"protocolVersion": "2025-06-18", "capabilities": tools, "serverInfo": info})
    elif method == "tools/call":
        answer = {"content": [{"type": "text", "text": "4"}]}
        match message["params"]["name"]:
            case "hang":
                continue
            case "die":
                sys.exit(3)
            case "log":
                print("Traceback (most recent call last):", flush=True)
            case "other":
                write(id=ident + 100, result=answer)
                continue
            case "slow":
                time.sleep(0.5)
            case "fail":
                answer["isError"] = True
        write(id=ident, result=answer)
"""
)
ways = {
    "hang": "test/hangs no message for N; #3 c1 → request tools/call hang id 1 for N the server must send it",
    "die": "test/ended the child ended with status 3 before its answer came",
    "log": "test/fault #4 at byte ",
    "other": "test/hangs no expected message for N; #3 c1 → request tools/call other id 1 for N the server must send it",
    "slow": "test/latency the answer to tools/call #3 took N, at most N are allowed",
    "fail": "test/error #4 is an error that no condition of expect names",
}
text = f'protocol = "mcp"\ncommand = ["{PYTHON}", "broken.py"]\ntimeout = "2s"\nbudget = {{ latency = "400ms" }}\n'
text += "".join(f'[[case]]\nname = "{way}"\nsend = "tools/call {way}"\n' for way in ways)
code, found = results("broken", text)
for way, wanted in ways.items():
    got = [TIMES.sub("N", problem) for problem in found[way]]
    if not any(problem.startswith(wanted) for problem in got):
        sys.exit(f"{way}: wanted {wanted!r}, got {got!r}")
check("broken", code, 1)
_, junit, _ = run("test", "--report", "junit", "broken.toml")
check("junit", (junit.count("<testcase"), junit.count("<failure")), (6, 6))

# The fixture of the documentation.
_, page, _ = run("help", "test")
lines = page.splitlines()
start = next(at for at, line in enumerate(lines) if line.strip() == "import re")
indent = lines[start].index("import")
code = itertools.takewhile(lambda line: not line.strip() or line.startswith(" " * indent), lines[start:])
source = textwrap.dedent("\n".join(code)).strip()
check("at most 15 lines", len(source.splitlines()) <= 15, True)
(path / "api.toml").write_text('[[on]]\nmatch = "subject=add"\nresult = 3\n')
(path / "test_client.py").write_text(
    source
    + """


def test_adds(api):
    import json, urllib.request

    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "add", "params": [1, 2]}).encode()
    request = urllib.request.Request(api, body, {"content-type": "application/json"})
    assert json.load(urllib.request.urlopen(request, timeout=10))["result"] == 3
"""
)
words = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_client.py"]
ran = subprocess.run(words, cwd=path, env=environment, capture_output=True, text=True, timeout=60)
check("pytest", (ran.returncode, "1 passed" in ran.stdout), (0, True))
print("wiretool test: 3 servers, 2 baselines, 6 ways to break; the fixture runs in pytest")

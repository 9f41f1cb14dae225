"""pyright through `wiretool record`, twice with the same client: the two recordings have no difference, and replay of one
against a new pyright has none, logs aside. Registrations and progress have other ids in each run."""

import json
import os
import subprocess
import sys

from proxy_tools import WIRETOOL, WAIT, check, folder, new_path

SERVER = [f"{sys.argv[2]}/pyright-langserver", "--stdio"]
ROOT = os.path.join(folder.name, "project")
FILE = os.path.join(ROOT, "a.py")
TEXT = "import os\n\ndef half(n: int) -> float:\n    return n / 2\n\nhalf('x')\n"


def uri(path):
    return f"file://{path}"


def talk(command):
    """Plays an editor."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def write(message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        process.stdin.flush()

    def read():
        length = 0
        while (line := process.stdout.readline()) != b"\r\n":
            check("the server goes on", line[-2:], b"\r\n")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(process.stdout.read(length))

    def until(is_last):
        while True:
            message = read()
            if message.get("method") == "workspace/configuration":
                write({"id": message["id"], "result": [{} for _ in message["params"]["items"]]})
            elif "method" in message and "id" in message:
                write({"id": message["id"], "result": None})
            if is_last(message):
                return message

    def ask(ident, method, params):
        write({"id": ident, "method": method, "params": params})
        return until(lambda message: message.get("id") == ident and "method" not in message)

    try:
        capabilities = {
            "workspace": {"configuration": True, "didChangeWatchedFiles": {"dynamicRegistration": True}},
            "textDocument": {"hover": {}, "publishDiagnostics": {}},
            "window": {"workDoneProgress": True},
        }
        folders = [{"uri": uri(ROOT), "name": "project"}]
        ask(1, "initialize", {"processId": None, "rootUri": uri(ROOT), "workspaceFolders": folders, "capabilities": capabilities})
        write({"method": "initialized", "params": {}})
        until(lambda message: message.get("method") == "client/registerCapability")
        document = {"uri": uri(FILE), "languageId": "python", "version": 1, "text": TEXT}
        write({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        until(lambda message: message.get("method") == "textDocument/publishDiagnostics")
        place = {"textDocument": {"uri": uri(FILE)}, "position": {"line": 2, "character": 5}}
        hover = ask(2, "textDocument/hover", place)
        check("hover", "half" in json.dumps(hover["result"]), True)
        ask(3, "textDocument/documentSymbol", {"textDocument": {"uri": uri(FILE)}})
        ask(4, "shutdown", None)
        write({"method": "exit"})
        process.wait(WAIT)
    finally:
        process.kill()
        process.wait(WAIT)


def run(*args, codes=(0,)):
    """Returns the output of wiretool."""
    made = subprocess.run([WIRETOOL, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    text = made.stdout.decode() + made.stderr.decode()
    check(f"{args}:\n{text[:3000]}", made.returncode in codes, True)
    return text


os.mkdir(ROOT)
with open(FILE, "w") as file:
    file.write(TEXT)
one, two = new_path("one"), new_path("two")
for path in one, two:
    talk([WIRETOOL, "record", "-q", "-p", "lsp", "-w", path, "--", *SERVER])
# Which operations are slow enough for a line of the log depends on the machine.
run("diff", "--where", "subject!=window/logMessage", one, two)
log = "notification window/logMessage"
played = run("replay", one, "--keep-going", "--ignore", f"{log}:params.message", "--timeout", "30s", "--", *SERVER, codes=(0, 1))
different = [line for line in played.splitlines() if line.startswith(("✗", "  ←", "  →")) and log not in line]
check("differences", different, [])
check(f"end of {played}", " sent, " in played, True)
print(f"pyright: two recordings do not differ, and {played.splitlines()[-1].removeprefix('wiretool: ')}")

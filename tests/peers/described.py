"""debugpy, whose protocol is described in a file: recorded with a client, checked by lint, replayed to a new adapter, and
played by a stub for the same client."""

import json
import os
import subprocess
import sys

from proxy_tools import WIRETOOL, WAIT, check, folder, new_path

PYTHON = sys.argv[2]
ADAPTER = [PYTHON, "-m", "debugpy.adapter"]
PROGRAM = os.path.join(folder.name, "add.py")


def debug(command):
    """Plays an editor that stops in a function, and ends there. Returns the values of its variables."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    sent, read = 0, []

    def ask(name, arguments):
        nonlocal sent
        sent += 1
        body = json.dumps({"seq": sent, "type": "request", "command": name, "arguments": arguments}).encode()
        process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        process.stdin.flush()
        return sent

    def find(fits):
        """Returns the first message that fits, of those that were read or of the next ones."""
        while not (found := [message for message in read if fits(message)]):
            length = 0
            while (line := process.stdout.readline()) != b"\r\n":
                check("the adapter goes on", line[-2:], b"\r\n")
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            read.append(json.loads(process.stdout.read(length)))
        read.remove(found[0])
        return found[0]

    def result(request):
        answer = find(lambda message: message.get("request_seq") == request)
        check(f"success of {answer}", answer["success"], True)
        return answer.get("body")

    def event(name):
        return find(lambda message: message.get("event") == name).get("body")

    try:
        result(ask("initialize", {"adapterID": "python", "linesStartAt1": True}))
        launch = ask("launch", {"program": PROGRAM, "console": "internalConsole", "python": [PYTHON]})
        event("initialized")
        result(ask("setBreakpoints", {"source": {"path": PROGRAM}, "breakpoints": [{"line": 2}]}))
        result(ask("configurationDone", {}))
        result(launch)
        thread = {"threadId": event("stopped")["threadId"]}
        frame = result(ask("stackTrace", thread))["stackFrames"][0]["id"]
        scope = result(ask("scopes", {"frameId": frame}))["scopes"][0]["variablesReference"]
        variables = result(ask("variables", {"variablesReference": scope}))["variables"]
        return {variable["name"]: variable["value"] for variable in variables}
    finally:
        process.terminate()
        process.wait(WAIT)


def check_session(protocol, path):
    """Checks that every message has a kind and a role, and every answer its request, and that lint finds nothing."""
    decode = ["decode", "-f", "json", "--where", "index>=0 or reply_to"]
    made = subprocess.run([WIRETOOL, *decode, path], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    lines = [json.loads(line) for line in made.stdout.splitlines()]
    check("protocol", {line["protocol"] for line in lines}, {protocol})
    check("faults", [line for line in lines if "fault" in line or not line.get("role")], [])
    answers = [line for line in lines if line["role"] in ("response", "error")]
    check("answers without a request", [line for line in answers if "reply_to" not in line], [])
    lint = subprocess.run([WIRETOOL, "lint", "--fail-on", "info", path], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    check(f"lint printed {lint.stdout.decode()}", lint.returncode, 0)
    return len(lines)


def replay(path, command):
    """Checks that the answers of a new program are the recorded ones. Returns the last line of the report."""
    made = subprocess.run(
        [WIRETOOL, "replay", path, "--keep-going", "--timeout", "30s", "--", *command],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=2 * WAIT,
    )
    text = made.stdout.decode()
    wrong = [line for line in text.splitlines() if line.startswith("✗")]
    check(f"differences in {text}", wrong, [])
    return made.stderr.decode().splitlines()[-1].removeprefix("wiretool: ")


with open(PROGRAM, "w") as file:
    file.write("def add(a, b):\n    return a + b\nadd(1, 2)\n")
path = new_path("dap")
record = [WIRETOOL, "record", "-q", "-w", path, "--"]
stub = [WIRETOOL, "stub", "-q", "--from-recording", path]
variables = debug(record + ADAPTER)
check("variables", variables, {"a": "1", "b": "2"})
count = check_session("dap", path)
end = replay(path, ADAPTER)
check("variables of the stub", debug([*stub, "dap"]), variables)
print(f"debugpy: {count} messages; {end}")

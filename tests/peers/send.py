"""`wiretool send` with real programs, and a replay of its recordings.

send.py WIRETOOL ORACLE PYTHON-WITH-STEPFLOW-STDIO
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import runtime
import saikuro
import sael
import telequick
from proxy_tools import Peer, listen

WIRETOOL, ORACLE, PYTHON = sys.argv[1:4]
HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent.parent / "fixtures"
STEPFLOW = [PYTHON, str(HERE / "stepflow_child.py")]
# Errors of the oracle contain backtraces if these variables are set.
ENVIRONMENT = {**os.environ, "RUST_BACKTRACE": "0"}


def run(*words):
    ran = subprocess.run([WIRETOOL, *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    return ran.returncode, ran.stdout, ran.stderr


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: wanted {wanted!r}, got {got!r}")


def replay(name, recording, child, *more):
    code, out, err = run("replay", recording, "--timeout", "10s", *more, "--", *child)
    check(f"{name}: replay", (code, out), (0, ""))
    check(f"{name}: what was compared", " 0 differ" in err.splitlines()[-1], True)


with tempfile.TemporaryDirectory() as folder:
    # It lists its selectors in another order each time.
    replay("oracle", FIXTURES / "oracle/real-oracle.jsonl", [ORACLE], "--ignore", "error:error.message")
    replay("stepflow", FIXTURES / "stepflow/real-stdio.jsonl", STEPFLOW)

    # Sent, recorded, and played again: with the recorded value, and with another one.
    recording = pathlib.Path(folder) / "asked.jsonl"
    ident = "0b54e2b0-66a4-4c6e-9c39-4f1a6c52d10a"
    observability = {"trace_id": None, "span_id": None, "run_id": ident, "flow_id": "f" * 64, "step_id": "s"}
    params = {"component": "/store", "input": {"n": 5}, "attempt": 1, "observability": observability}
    message = {"jsonrpc": "2.0", "id": ident, "method": "components/execute", "params": params}
    asked = pathlib.Path(folder) / "message.json"
    asked.write_text(json.dumps(message))
    words = ["--json", asked, "-f", "json", "-w", recording]
    code, out, err = run("send", "stepflow", *words, "--", *STEPFLOW)
    check("send", (code, len(out.splitlines())), (0, 1))
    answer = json.loads(out.splitlines()[-1])
    check("send", (code, answer["message"]["result"]["output"]["n"]), (0, 5))
    replay("asked", recording, STEPFLOW)
    text = recording.read_text()
    check("the answer is recorded", text.count('\\"n\\":5'), 2)
    at = text.rindex('\\"n\\":5')
    recording.write_text(text[:at] + text[at:].replace('\\"n\\":5', '\\"n\\":6', 1))
    code, out, err = run("replay", recording, "--", *STEPFLOW)
    check("another answer", (code, "result.output.n  6 → 5" in out), (1, True))
    check("the flag is given", "--ignore 'response:result.output.n'" in out, True)

    # A child that answers one request and fails on the next.
    code, out, err = run("send", "oracle", "invoke", "die", "0x1", "--timeout", "5s", "--", ORACLE)
    check("a child that dies", (code, "before its answer came" in err), (1, True))


def sends():
    """Checks stderr, the exit code, and the content of the answers in order."""
    listener, port = listen()
    media = [b"\0" * 160] * 5
    served = {
        "saikuro": ("tcp", lambda: saikuro.runtime(False, listener, [])),
        "sael": ("ws", lambda: sael.serve(listener, False, [])),
        "telequick": ("tcp", lambda: telequick.serve(listener, False, media, [])),
        "inclusive": ("tcp", lambda: telequick.serve(listener, True, media, [])),
    }
    server, http = runtime.start()
    child = ["--", ORACLE]
    stepflow = ["--connect", f"http://127.0.0.1:{http}"]
    cases = [
        (None, ["oracle", "invoke", "square", "0x5", *child], 0, [("result", '["0x19"]')]),
        (None, ["oracle", "invoke", "nothing", *child], 1, [("error", "unknown selector")]),
        ("saikuro", ["saikuro", "call", "math.add", "2", "3"], 0, [("response", '"result":5')]),
        ("saikuro", ["saikuro", "call", "math.fail", "2"], 1, [("error", "InvalidArguments")]),
        ("sael", ["sael", "LST"], 0, [("LST", '"name":"echo"')]),
        ("sael", ["sael", "SUB", "news", "--linger", "1s"], 0, [("RES", "subscriptionId")] + [("EVT", f'"n":{n}') for n in range(5)]),
        ("telequick", ["telequick", "Terminate", "call_sid=c9"], 0, [("TerminateResponse", '"call_sid":"c9"')]),
        ("inclusive", ["telequick", "Terminate", "call_sid=c9", "--length-mode", "inclusive"], 0, [("TerminateResponse", '"call_sid":"c9"')]),
        (None, ["stepflow", "components/execute", "/double", '{"n":21}', *stepflow], 0, [("response", '"n":42')]),
        (None, ["stepflow", "components/execute", "/store", '{"n":3}', *stepflow], 0, [("response", '"n":3')]),
        (None, ["stepflow", "components/info", "/nowhere", *stepflow], 1, [("error", "/nowhere")]),
    ]
    try:
        for peer, words, wanted, lines in cases:
            scheme, serve = served.get(peer, (None, None))
            serving = peer and Peer(serve)
            if peer == "saikuro":
                offers = saikuro.provider(saikuro.client_over(False, port))
                Peer(saikuro.provide, offers, 1)
            to = ["--connect", f"{scheme}://127.0.0.1:{port}"] if peer else []
            split = words.index("--") if "--" in words else len(words)
            code, out, err = run("send", *words[:split], "-f", "json", *to, *words[split:])
            check(f"{words}: {err}", code, wanted)
            got = [json.loads(line) for line in out.splitlines()]
            check(f"{words}", [line["kind"] for line in got], [kind for kind, _ in lines])
            for line, (_, part) in zip(got, lines):
                check(f"{words}: {part} in {line['message']}", part in json.dumps(line["message"], separators=(",", ":")), True)
            if serving:
                serving.result()
    finally:
        server.kill()
        server.wait(30)
    listener.close()
    print(f"send: {len(cases)} messages to real peers of five protocols, answered and shown")


sends()
print("send against real programs: what it recorded is replayed")

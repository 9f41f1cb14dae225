"""`wiretool replay` and `wiretool send` against real programs: recorded sessions are answered as they were, wrong ones are not.

replay.py WIRETOOL ORACLE PYTHON-WITH-STEPFLOW-STDIO
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

WIRETOOL, ORACLE, PYTHON = sys.argv[1:4]
HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent.parent / "fixtures"
STEPFLOW = [PYTHON, str(HERE / "stepflow_child.py")]
# Errors of the oracle hold backtraces where they are asked for.
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

    # Asked, recorded, played again: with what was recorded, and with something else.
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

    # A child that answers one question and dies of the next.
    code, out, err = run("send", "oracle", "invoke", "die", "0x1", "--timeout", "5s", "--", ORACLE)
    check("a child that dies", (code, "before its answer came" in err), (1, True))

print("replay and send against real programs: as they should be")

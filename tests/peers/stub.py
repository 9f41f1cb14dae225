"""`wiretool stub` as the component server of the real stepflow runtime: from a script, and then from its own recording.

The runtime is asked over its own HTTP interface to run a flow of two steps; the stub asks the runtime back in the second.
"""

import json
import os
import signal
import subprocess
import sys

from runtime import ITEMS, work
from through import WAIT, WIRETOOL, check, place

SCRIPT = """
offers = ["/double", "/store"]
[[on]]
match = 'subject="components/execute" .params.component="/double"'
result = { n = "{{params.input.n}}" }
[[on]]
match = 'subject="components/execute" .params.component="/store"'
ask = { method = "blobs/put", params = { data = { n = "{{params.input.n}}" }, blob_type = "data" } }
result = { n = "{{params.input.n}}", blob = "{{answer.result.blob_id}}" }
"""


class Stub:
    def __init__(self, *flags):
        command = [WIRETOOL, "stub", "stepflow", "--listen", "http://127.0.0.1:0", *flags]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        line = self.process.stderr.readline()
        self.port = int(line.split(b"://127.0.0.1:")[1].split(b",")[0])

    def end(self):
        self.process.send_signal(signal.SIGINT)
        said = self.process.stderr.read().decode()
        check(said[-2000:], self.process.wait(WAIT), 130)
        return said


def main():
    script, recording, report = place("stub.toml"), place("stub"), place("asked.json")
    with open(script, "w") as file:
        file.write(SCRIPT)
    stub = Stub("--script", script, "-w", recording, "--report", report, "-q")
    work(stub.port, lambda n: n)
    stub.end()
    asked = json.load(open(report))
    check("asked", [rule["asked"] for rule in asked["rules"]], [ITEMS, ITEMS])
    check("missed", asked["missed"], 0)
    again = Stub("--from-recording", recording, "--report", report, "-q")
    work(again.port, lambda n: n)
    again.end()
    asked = json.load(open(report))
    check("missed", (asked["missed"], [miss["why"] for miss in asked["misses"]]), (0, []))
    print(f"stepflow runtime 0.9.0 with a stub for a server: {2 * ITEMS} calls, {ITEMS} with callbacks; again from the recording")
    os.remove(report)


if __name__ == "__main__":
    main()
    sys.exit(0)

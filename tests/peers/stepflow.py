"""stepflow over HTTP and HTTPS through `wiretool proxy`: the real server, a runtime that answers its callbacks, many connections.

Prints a line a case, exits 1 at the first that differs.
"""

import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import threading

from proxy_tools import Certificates, check_recording, check_redaction

WIRETOOL = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
SECRETS = {"authorization": "Bearer 5ecret-0f-a-runtime", "cookie": "sid=4n0ther-5ecret"}
# The option to trust the proxy, if the scheme uses TLS.
trust = None
HEAD = {**SECRETS, "content-type": "application/json", "accept": "application/json, text/event-stream"}


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r}\n  wanted {wanted!r}")


def post(port, message, head=HEAD):
    if trust:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=trust)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/", json.dumps(message), head)
    return connection, connection.getresponse()


def execute(ident, component, n):
    params = {"component": component, "input": {"n": n}, "attempt": 1}
    params["observability"] = {"trace_id": None, "span_id": None, "run_id": None, "flow_id": None, "step_id": None}
    return {"jsonrpc": "2.0", "id": ident, "method": "components/execute", "params": params}


def plain(port, ident, n):
    _, answer = post(port, execute(ident, "/double", n))
    answer = json.loads(answer.read())
    check("double", (answer["id"], answer["result"]["output"]["n"]), (ident, 2 * n))


def callback(port, ident, n):
    """The answer is an event stream; its callback is answered over another connection while it is open."""
    _, stream = post(port, execute(ident, "/store", n))
    check("a stream", stream.headers["content-type"].split(";")[0], "text/event-stream")
    while True:
        line = stream.readline()
        check("the stream goes on", line != b"", True)
        if not line.startswith(b"data: "):
            continue
        event = json.loads(line[6:])
        if "method" in event:
            head = dict(HEAD)
            if "stepflow-instance-id" in stream.headers:
                head["stepflow-instance-id"] = stream.headers["stepflow-instance-id"]
            reply = {"jsonrpc": "2.0", "id": event["id"], "result": {"blob_id": "b" * 64}}
            _, taken = post(port, reply, head)
            check("an answer is taken", taken.status, 202)
            taken.read()
        else:
            check("store", (event["id"], event["result"]["output"]["n"]), (ident, n))
            return


def run_both_sides(scheme, paper=(), flags=()):
    server = subprocess.Popen([sys.executable, os.path.join(HERE, "stepflow_server.py"), *paper], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        upstream = json.loads(server.stdout.readline())["port"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.jsonl")
            command = [WIRETOOL, "proxy", "-p", "stepflow", "-f", "json", "--connect", f"{scheme}://localhost:{upstream}", "-w", path, *flags]
            proxy = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            port = int(proxy.stderr.readline().split(b"://127.0.0.1:")[1].split(b",")[0])
            shown = []
            reader = threading.Thread(target=lambda: shown.extend(map(json.loads, proxy.stdout)))
            reader.start()
            _, answer = post(port, {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {"runtime_protocol_version": 1}})
            check("initialize", "result" in json.loads(answer.read()), True)
            _, answer = post(port, {"jsonrpc": "2.0", "method": "initialized", "params": {}})
            check("initialized", answer.status, 202)
            answer.read()
            calls = [threading.Thread(target=plain, args=(port, f"d{n}", n)) for n in range(20)]
            calls += [threading.Thread(target=callback, args=(port, f"s{n}", n)) for n in range(20)]
            for call in calls:
                call.start()
            for call in calls:
                call.join(60)
            proxy.send_signal(signal.SIGINT)
            check("interrupted", proxy.wait(30), 130)
            reader.join(30)
            for name, lines in (
                ("shown", shown),
                ("recorded", [json.loads(line) for line in subprocess.run([WIRETOOL, "decode", "-f", "json", path], capture_output=True, timeout=60).stdout.splitlines()]),
            ):
                check(f"faults {name}", [line for line in lines if "fault" in line], [])
                asked = [line["id"] for line in lines if line["role"] == "request" and line["dir"] == "c2s"]
                check(name, sorted(asked), sorted(["i"] + [f"{c}{n}" for c in "ds" for n in range(20)]))
                callbacks = [line for line in lines if line["role"] == "request" and line["dir"] == "s2c"]
                check(f"callbacks {name}", len(callbacks), 20)
                answers = [line for line in lines if line["role"] == "response"]
                check(f"answers {name}", len(answers), 41 + 20)
            check_recording(path, {"request initialize": 1, "request components/execute": 40, "request blobs/put": 20})
            check_redaction(path, [value.replace("=", " ").split(" ")[1].encode() for value in SECRETS.values()])
            print(f"stepflow over {scheme.upper()} on both sides: 20 plain calls and 20 with callbacks, {max(l['conn'] for l in shown)} connections, shown and recorded; redacted")
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    run_both_sides("http")
    papers = Certificates()
    trust = ssl.create_default_context(cafile=papers.root)
    flags = ("--listen", "https://127.0.0.1:0", "--cert", papers.cert, "--key", papers.key, "--cacert", papers.root)
    run_both_sides("https", (papers.cert, papers.key), flags)

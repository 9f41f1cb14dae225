"""stepflow through `wiretool proxy`, both ends real: the runtime, and a server with components.

The runtime is asked over its own HTTP interface, which is not stepflow's protocol, to run a flow of two steps; the
second asks the runtime back.
"""

import http.client
import json
import os
import subprocess
import sys

import stepflow_orchestrator
from through import WAIT, Peer, Proxy, check, examined, recorded, redacted

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.path.join(os.path.dirname(stepflow_orchestrator.__file__), "bin", "stepflow-server")
ITEMS = 20


def announced(stream):
    """The port that a program names in a line of its log."""
    for line in stream:
        if line.startswith(b'{"port"'):
            return json.loads(line)["port"]
    sys.exit("no port")


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    connection.request(method, f"/api/v1{path}", body and json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    check(f"{path}: {text[:500]}", answer.status, 200)
    return json.loads(text)


def config(port):
    return {
        "plugins": {"peer": {"type": "stepflow", "transport": "http", "url": f"http://127.0.0.1:{port}"}},
        "routes": {"/peer/{*component}": [{"plugin": "peer"}]},
        "stateStore": {"type": "inMemory"},
    }


FLOW = {
    "name": "peers",
    "steps": [
        {"id": "a", "component": "/peer/double", "input": {"n": {"$input": "$.n"}}},
        {"id": "b", "component": "/peer/store", "input": {"n": {"$step": "a", "path": "$.n"}}},
    ],
    "output": {"$step": "b"},
}

server = subprocess.Popen([sys.executable, os.path.join(HERE, "stepflow_server.py")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
runtime = None
try:
    with Proxy("stepflow", announced(server.stdout)) as proxy:
        command = [RUNTIME, "--port", "0", "--config-stdin", "--log-level", "warn"]
        runtime = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        runtime.stdin.write(json.dumps(config(proxy.port)).encode())
        runtime.stdin.close()
        port = announced(runtime.stdout)
        log = Peer(runtime.stdout.read)
        names = {component["component"] for component in ask(port, "GET", "/components")["components"]}
        check("components", {"/double", "/store"} <= names, True)
        flow = ask(port, "POST", "/flows", {"flow": FLOW})["flowId"]
        run = ask(port, "POST", "/runs", {"flowId": flow, "input": [{"n": n} for n in range(ITEMS)], "wait": True})
        check("the run", (run["status"], run["itemCount"]), ("completed", ITEMS))
        items = ask(port, "GET", f"/runs/{run['runId']}/items")
        outputs = sorted(item["result"]["result"]["n"] for item in items["items"])
        check("outputs", outputs, [2 * n for n in range(ITEMS)])
        runtime.kill()
        runtime.wait(WAIT)
        log.done()
        shown = proxy.end()
finally:
    for program in filter(None, (server, runtime)):
        program.kill()
        program.wait(WAIT)
counts = {"request initialize": 1, "request components/execute": 2 * ITEMS, "request blobs/put": ITEMS}
lines = examined(proxy.recording, counts, shown)
redacted(proxy.recording, [flow.encode()], "--value", flow)
conns = max(conn for conn, _ in recorded(proxy.recording)[0])
print(f"stepflow 0.9.0 and 0.9.2 over HTTP: {2 * ITEMS} calls, {ITEMS} with callbacks, {len(lines)} messages, {conns} connections; redacted")

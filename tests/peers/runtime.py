"""stepflow through `wiretool proxy`, with real programs at both ends: the runtime, and a server with components.

The runtime is asked over its own HTTP interface, which is not stepflow's protocol, to run a flow of two steps; the
second asks the runtime back.
"""

import http.client
import json
import os
import subprocess
import sys

import stepflow_orchestrator
from proxy_tools import WAIT, Certificates, Peer, Proxy, Relay, check, check_recording, read_recording, check_redaction, digest

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.path.join(os.path.dirname(stepflow_orchestrator.__file__), "bin", "stepflow-server")
ITEMS = 20


def announced(stream):
    """Returns the port that a program prints in a line of its log."""
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



def start(*paper):
    """Starts a server. Returns it and its port."""
    command = [sys.executable, os.path.join(HERE, "stepflow_server.py"), *paper]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        return server, announced(server.stdout)
    except BaseException:
        server.kill()
        raise


def work(port, wanted=lambda n: 2 * n):
    """Starts a runtime that runs the flow with the server on a port. Returns the name of the flow."""
    runtime = subprocess.Popen(
        [RUNTIME, "--port", "0", "--config-stdin", "--log-level", "warn"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        runtime.stdin.write(json.dumps(config(port)).encode())
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
        check("outputs", outputs, [wanted(n) for n in range(ITEMS)])
        runtime.kill()
        runtime.wait(WAIT)
        log.result()
        return flow
    finally:
        runtime.kill()
        runtime.wait(WAIT)


def recordings(path):
    """The traffic of each connection with any traffic."""
    streams, events = read_recording(path)
    check("whole", (events[-1], "lost" in events), ("end", False))
    conns = sorted({conn for conn, _ in streams})
    return sorted(tuple(digest(streams.get((conn, way), b"")) for way in ("c2s", "s2c")) for conn in conns)


COUNTS = {"request initialize": 1, "request components/execute": 2 * ITEMS, "request blobs/put": ITEMS}


def plain():
    server, port = start()
    try:
        with Proxy("stepflow", port) as proxy:
            flow = work(proxy.port)
            shown = proxy.end()
    finally:
        server.kill()
        server.wait(WAIT)
    lines = check_recording(proxy.recording, COUNTS, shown)
    check_redaction(proxy.recording, [flow.encode()], "--value", flow)
    conns = max(conn for conn, _ in read_recording(proxy.recording)[0])
    print(f"stepflow 0.9.0 and 0.9.2 over HTTP: {2 * ITEMS} calls, {ITEMS} with callbacks, {len(lines)} messages, {conns} connections; redacted")


def sealed():
    """The server uses TLS. The runtime trusts only its built-in roots, so it connects to the proxy without TLS."""
    papers = Certificates()
    server, port = start(papers.cert, papers.key)
    try:
        with Proxy("stepflow", f"https://localhost:{port}", "--cacert", papers.root, listen="http") as proxy:
            relay = Relay(proxy.port)
            work(relay.port)
            shown = proxy.end()
    finally:
        server.kill()
        server.wait(WAIT)
    check_recording(proxy.recording, COUNTS, shown)
    passed = [pair for pair in relay.passed() if pair[0][0]]
    check("what the runtime and its relay saw", recordings(proxy.recording), passed)
    print(f"stepflow over HTTP in front and HTTPS behind: {2 * ITEMS} calls, {len(passed)} connections, hash-equal")


def between():
    """Two proxies with TLS between them, and counting relays on both sides."""
    papers = Certificates()
    server, port = start()
    try:
        behind = Relay(port)
        with Proxy("stepflow", f"http://127.0.0.1:{behind.port}", "--cert", papers.cert, "--key", papers.key, listen="https") as inner:
            with Proxy("stepflow", f"https://localhost:{inner.port}", "--cacert", papers.root, listen="http") as outer:
                before = Relay(outer.port)
                work(before.port)
                shown = outer.end()
                inner.end()
    finally:
        server.kill()
        server.wait(WAIT)
    check_recording(outer.recording, COUNTS, shown)
    check_recording(inner.recording, COUNTS)
    passed = [[pair for pair in relay.passed() if pair[0][0]] for relay in (before, behind)]
    check("what went in and came out", passed[0], passed[1])
    check("outer", recordings(outer.recording), passed[0])
    check("inner", recordings(inner.recording), passed[0])
    print(f"stepflow over HTTP, HTTPS, HTTP through two proxies: {2 * ITEMS} calls, {len(passed[0])} connections, hash-equal")


if __name__ == "__main__":
    plain()
    sealed()
    between()

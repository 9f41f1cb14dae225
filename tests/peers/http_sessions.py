"""Sessions over HTTP. acp: agent and client of the SDK through `wiretool proxy`; the bytes pass unchanged, the recording
decodes, has no errors, and can be replayed. mcp: a small server of this test ends the response to a call before the
answer; `send` asks for the rest with Last-Event-ID, and ends its session with DELETE."""

import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time

from proxy_tools import WAIT, Proxy, Relay, check, read_recording, wiretool

HERE = os.path.dirname(os.path.abspath(__file__))


def wait_for(port):
    until = time.monotonic() + WAIT
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), WAIT).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def errors(recording):
    found = wiretool("lint", "-f", "json", recording)
    return [f for f in found if f.get("finding", {}).get("severity") == "error"]


class Resuming(http.server.BaseHTTPRequestHandler):
    """An MCP server: the response to a call has one event without a message, then it ends."""

    protocol_version = "HTTP/1.1"
    requests, held = [], {}

    def log_message(self, *_):
        pass

    def say(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in {"content-length": len(body), **fields}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.requests.append(("POST", body.get("method"), self.headers.get("mcp-session-id")))
        answer = lambda result: json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": result}).encode()
        if body.get("method") == "initialize":
            info = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
            return self.say(200, answer(info), content_type="application/json", mcp_session_id="s-1")
        if "id" not in body:
            return self.say(202)
        self.held["e-7"] = answer({"content": [{"type": "text", "text": "größe €"}]})
        self.say(200, b"retry: 50\nid: e-7\ndata: \n\n", content_type="text/event-stream")

    def do_GET(self):
        last = self.headers.get("last-event-id")
        self.requests.append(("GET", last, self.headers.get("mcp-session-id")))
        answer = self.held.pop(last, None)
        if answer is None:
            return self.say(405)
        self.say(200, b"event: message\nid: e-8\ndata: " + answer + b"\n\n", content_type="text/event-stream")

    def do_DELETE(self):
        self.requests.append(("DELETE", None, self.headers.get("mcp-session-id")))
        self.say(200)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Resuming)
threading.Thread(target=server.serve_forever, daemon=True).start()
with Proxy("mcp", server.server_port) as proxy:
    address = f"http://127.0.0.1:{proxy.port}/mcp"
    answers = wiretool("send", "mcp", "tools/call", "size", "{}", "-f", "json", "--connect", address)
    proxy.end()
server.shutdown()
texts = [a["message"]["result"]["content"][0]["text"] for a in answers if "content" in a["message"].get("result", {})]
check("resumed answer", texts, ["größe €"])
check("resumed after", [r for r in Resuming.requests if r[0] == "GET" and r[1]], [("GET", "e-7", "s-1")])
check("deleted", Resuming.requests[-1], ("DELETE", None, "s-1"))
check("resumed: errors", errors(proxy.recording), [])
lines = wiretool("decode", "-f", "json", "--lint", proxy.recording)
call = next(line["index"] for line in lines if line.get("subject") == "tools/call")
check("resumed: paired", [line["reply_to"] for line in lines if "content" in json.dumps(line.get("message", "")) and "reply_to" in line], [call])

if len(sys.argv) > 2:
    agent_port = socket.create_server(("127.0.0.1", 0))
    port = agent_port.getsockname()[1]
    agent_port.close()
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    agent = subprocess.Popen(["node", f"{HERE}/clients/acp_agent.mjs", str(port)], **quiet)
    try:
        wait_for(port)
        inner = Relay(port)
        with Proxy("acp", inner.port) as proxy:
            outer = Relay(proxy.port)
            url = f"http://127.0.0.1:{outer.port}/acp"
            run = subprocess.run(["node", f"{HERE}/clients/acp.mjs", url], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
            check(f"acp client says {run.stderr.decode()[-2000:]}", run.returncode, 0)
            check("acp client got", json.loads(run.stdout)["stopReason"], "end_turn")
            proxy.end()
        check("acp: bytes", outer.passed(), inner.passed())
        streams, events = read_recording(proxy.recording)
        check("acp: recorded", (events[-1], "lost" in events), ("end", False))
        check("acp: protocol", {line["protocol"] for line in wiretool("decode", "-f", "json", proxy.recording)}, {"acp"})
        check("acp: errors", errors(proxy.recording), [])
        summary = wiretool("replay", "-f", "json", proxy.recording, "--connect", f"http://127.0.0.1:{port}/acp")[-1]["summary"]
        check("acp: replayed", (summary["sent"] > 2, summary["differ"], summary["hangs"]), (True, 0, False))
        answers = wiretool("send", "acp", "session/new", "/srv", "-f", "json", "--connect", f"http://127.0.0.1:{port}/acp")
        check("acp: send", ["sessionId" in a["message"]["result"] for a in answers if a["role"] == "response" and "sessionId" in json.dumps(a)], [True])
    finally:
        agent.kill()
        agent.wait(WAIT)
print("http: an answer on a resumed stream, a session ended with DELETE" + (", acp with agent and client of the SDK" if len(sys.argv) > 2 else ""))

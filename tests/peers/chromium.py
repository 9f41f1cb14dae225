"""Chromium, whose protocol is described in a file: recorded with Puppeteer and checked by lint; a stub plays it for
Puppeteer; a session of one page is replayed to a new browser."""

import json
import subprocess

import websockets.sync.client as sync

from browser_tools import Browser
from described_tools import check_session, replay, run_client
from proxy_tools import WAIT, WIRETOOL, Proxy, Relay, check, check_same_bytes


def browse(port, path):
    return run_client(["node", "clients/browser.mjs", f"ws://127.0.0.1:{port}{path}"])


def use_page(port, path):
    """Loads a page and uses its elements, each request after the answer to the one before."""
    with sync.connect(f"ws://127.0.0.1:{port}{path}", compression=None, max_size=None, open_timeout=WAIT) as socket:
        sent, events = 0, []

        def call(method, **params):
            nonlocal sent
            sent += 1
            socket.send(json.dumps({"id": sent, "method": method, "params": params}))
            while (message := json.loads(socket.recv(WAIT))).get("id") != sent:
                events.append(message)
            return message.get("result", message.get("error"))

        def evaluate(expression):
            return call("Runtime.evaluate", expression=expression, awaitPromise=True)

        def event(method):
            while not (found := [event for event in events if event["method"] == method]):
                events.append(json.loads(socket.recv(WAIT)))
            return found[-1]["params"]

        call("Runtime.enable")
        call("Page.navigate", url="data:text/html,<title>one</title><p id=p>text</p>")
        evaluate("new Promise(done => document.readyState == 'complete' ? done() : addEventListener('load', () => done()))")
        root = call("DOM.getDocument")["root"]["nodeId"]
        node = call("DOM.querySelector", nodeId=root, selector="#p")["nodeId"]
        seen = [call("DOM.getOuterHTML", nodeId=node)["outerHTML"]]
        made = evaluate("document.querySelector('p')")["result"]["objectId"]
        length = "function () { return this.textContent.length }"
        seen.append(call("Runtime.callFunctionOn", objectId=made, functionDeclaration=length)["result"]["value"])
        evaluate("console.log('seen', 5)")
        seen.append(event("Runtime.consoleAPICalled")["args"][1]["value"])
        seen.append(evaluate("no()")["exceptionDetails"]["exception"]["className"])
        seen.append(call("No.such")["code"])
        return seen


def recorded(use, wanted):
    """Records a session between two relays that are not wiretool. Returns the recording, its path and the number of its
    messages."""
    with Browser() as browser:
        path = browser.path if use is browse else browser.page()
        behind = Relay(browser.port)
        with Proxy("cdp", behind.port) as proxy:
            before = Relay(proxy.port)
            check("seen", use(before.port, path), wanted)
            shown = proxy.end()
        ends = lambda relay, end: [pair[end] for pair in relay.pairs]
        check_same_bytes(proxy.recording, ends(before, 1), ends(behind, 0))
    # A browser does not answer requests to its parts that go away, which happens at any time.
    count = check_session("cdp", proxy.recording, allow=["cdp/unanswered"])
    check("as many shown as recorded", len(shown), count)
    return proxy.recording, path, count


saw = ["one", "text", "two", "wrong", "Protocol error (No.such): 'No.such' wasn't found"]
recording, path, count = recorded(browse, saw)
stub = subprocess.Popen(
    [WIRETOOL, "stub", "cdp", "--from-recording", recording, "--listen", "tcp://127.0.0.1:0"],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
)
try:
    port = int(stub.stderr.readline().split(b"://127.0.0.1:")[1].split()[0])
    check("seen at the stub", browse(port, path), saw)
finally:
    stub.kill()
    stub.communicate()
print(f"Chromium and Puppeteer: {count} messages; the stub satisfies Puppeteer")

recording, _, count = recorded(use_page, ['<p id="p">text</p>', 4, 5, "ReferenceError", -32601])
with Browser() as browser:
    end = replay(recording, "--connect", f"ws://127.0.0.1:{browser.port}{browser.page()}")
print(f"Chromium and a page: {count} messages; {end}")

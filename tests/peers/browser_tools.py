"""Chromium without a window, and a page of it that scripts drive."""

import json
import os
import re
import subprocess
import time
import urllib.request

import websockets.sync.client as sync

from proxy_tools import WAIT, folder, new_path


class Browser:
    """Chromium without a window, with a new profile. `port` and `path` are those of its DevTools."""

    def __init__(self):
        self.folder = os.path.join(folder.name, os.path.basename(new_path("browser")))
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0"]
        self.process = subprocess.Popen(
            ["chromium", *flags, f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for line in self.process.stderr:
            if found := re.search(rb"ws://127\.0\.0\.1:(\d+)(/\S+)", line):
                self.port, self.path = int(found[1]), found[2].decode()
                return
        raise EOFError("the browser has ended")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.stderr.read()
        self.process.wait(WAIT)

    def page(self):
        """Returns the path of its page."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json/list", timeout=WAIT) as answer:
            pages = [target for target in json.load(answer) if target["type"] == "page"]
        return "/" + pages[0]["webSocketDebuggerUrl"].split("/", 3)[3]


class Page:
    """A page of a browser, driven over DevTools. `problems` are messages of its console, errors, and requests to
    addresses."""

    def __init__(self, browser):
        url = f"ws://127.0.0.1:{browser.port}{browser.page()}"
        self.socket = sync.connect(url, compression=None, max_size=None, open_timeout=WAIT)
        self.sent, self.problems = 0, []
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self.sent += 1
        self.socket.send(json.dumps({"id": self.sent, "method": method, "params": params}))
        while (message := json.loads(self.socket.recv(WAIT))).get("id") != self.sent:
            self.notice(message)
        if "error" in message:
            raise ValueError(f"{method}: {message['error']}")
        return message["result"]

    def notice(self, event):
        method, params = event["method"], event["params"]
        if method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "about:")):
                self.problems.append(url)
        elif method in ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening"]:
            self.problems.append(json.dumps(params)[:500])

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise ValueError(f"{expression[:200]}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, expression):
        """Evaluates an expression until it is true; returns its value."""
        end = time.monotonic() + WAIT
        while not (value := self.evaluate(expression)):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.02)
        return value

    def open(self, address, width, dark=False):
        """Opens an address, and returns the time in milliseconds after which its script has run."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        return int(self.wait_for("document.documentElement?.dataset.ready"))

    def press(self, key):
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def point(self, selector):
        """Moves the mouse to the start of an element, and again if the page moved it meanwhile."""
        place = f"(({{x, y}}) => [x + 5, y + 5])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        at = None
        while (now := self.evaluate(place)) != at:
            at = now
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])
            self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
"""i3, whose protocol is described in a file, and i3ipc: recorded, checked by lint, replayed to a new i3, and played by a stub
for the same client."""

import os
import subprocess
import sys

from described_tools import check_session, replay, run_client
from proxy_tools import WAIT, WIRETOOL, Proxy, Relay, check, check_same_bytes, folder, new_path

PYTHON = sys.argv[2]
CONFIG = "# i3 config file (v4)\nfont pango:monospace 8\n"


class WindowManager:
    """i3 on a display without a screen, of its own. `socket` is the path of its socket."""

    def __init__(self):
        display, written = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(written), "-screen", "0", "800x600x24", "-nolisten", "tcp"],
            pass_fds=[written], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(written)
        with os.fdopen(display) as lines:
            number = lines.readline().strip()
        self.socket, config = (os.path.join(folder.name, name) for name in ("i3.sock", "i3.config"))
        with open(config, "w") as file:
            # It says when it is ready.
            file.write(f"{CONFIG}ipc-socket {self.socket}\nexec --no-startup-id echo ready\n")
        self.i3 = subprocess.Popen(
            ["i3", "-c", config], env={**os.environ, "DISPLAY": f":{number}"},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        check("i3 starts", self.i3.stdout.readline(), b"ready\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.i3, self.server):
            process.terminate()
            process.wait(WAIT)


def use(socket):
    return run_client([PYTHON, "clients/i3.py", socket])


wanted = {"version": 4, "focused": ["two"], "success": [True, False], "names": ["three"]}
with WindowManager() as manager:
    behind = Relay(manager.socket)
    with Proxy("i3", behind.port) as proxy:
        before = Relay(proxy.port, new_path("before"))
        check("seen", use(before.port), wanted)
        shown = proxy.end()
    ends = lambda relay, end: [pair[end] for pair in relay.pairs]
    check_same_bytes(proxy.recording, ends(before, 1), ends(behind, 0))
path = proxy.recording
count = check_session("i3", path)
check("as many shown as recorded", len(shown), count)
with WindowManager() as manager:
    end = replay(path, "--connect", f"unix://{manager.socket}")
socket = new_path("stub")
stub = subprocess.Popen(
    [WIRETOOL, "stub", "i3", "--from-recording", path, "--listen", f"unix://{socket}"],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
)
try:
    check("the stub listens", b"listening on" in stub.stderr.readline(), True)
    check("seen at the stub", use(socket), wanted)
finally:
    stub.kill()
    stub.communicate()
print(f"i3: {count} messages; {end}")

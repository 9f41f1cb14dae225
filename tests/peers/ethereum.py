"""An Ethereum node, described by five lines and an OpenRPC file, and ethers: recorded, checked by lint, replayed to a new
node, and played by a stub for the same client."""

import json
import subprocess

from described_tools import check_session, replay, run_client
from proxy_tools import WAIT, WIRETOOL, Proxy, Relay, check, check_same_bytes

ETHEREUM = "ethereum.toml"


class Node:
    """A node on a free port."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["node", "clients/ethereum_node.mjs"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=WAIT)


def use(port):
    return run_client(["node", "clients/ethereum.mjs", f"http://127.0.0.1:{port}"])


wanted = [0, 1, 1, "1000000000000000000005", -32700]
with Node() as node:
    behind = Relay(node.port)
    with Proxy(ETHEREUM, behind.port) as proxy:
        before = Relay(proxy.port)
        check("seen", use(before.port), wanted)
        shown = proxy.end()
    ends = lambda relay, end: [pair[end] for pair in relay.pairs]
    check_same_bytes(proxy.recording, ends(before, 1), ends(behind, 0))
path = proxy.recording
# The node sends its stack to clients.
count = check_session("ethereum", path, "-p", ETHEREUM, allow=["ethereum/stack-trace"])
check("as many shown as recorded", len(shown), count)
with Node() as node:
    end = replay(path, "-p", ETHEREUM, "--connect", f"http://127.0.0.1:{node.port}")
stub = subprocess.Popen(
    [WIRETOOL, "stub", ETHEREUM, "--from-recording", path, "--listen", "http://127.0.0.1:0"],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
)
try:
    port = int(stub.stderr.readline().split(b"://127.0.0.1:")[1].split()[0])
    check("seen at the stub", use(port), wanted)
finally:
    stub.kill()
    stub.communicate()
print(f"Ethereum: {count} messages; {end}")

wrong = [
    ({"id": 1, "method": "eth_getBalance", "params": ["0x12", "latest"]}, "params[0] does not match"),
    ({"id": 1, "result": 7}, "result is an integer"),
    ({"id": 2, "method": "eth_getBlockByNumber", "params": ["0x1"]}, "params has 1"),
    ({"id": 2, "result": {"number": "0x1"}}, "result has no `transactions`"),
]
lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message, _ in wrong)
made = subprocess.run([WIRETOOL, "lint", "-p", ETHEREUM], input=lines, capture_output=True, text=True, timeout=WAIT)
for (message, text), found in zip(wrong, made.stdout.splitlines(), strict=True):
    check(f"{text!r} in {found!r}", text in found, True)

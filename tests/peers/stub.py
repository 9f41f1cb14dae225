"""`wiretool stub` with real programs: an executor, the stepflow runtime, clients of saikuro, sael and telequick.

From scripts, and from recordings of the same clients with real servers, redacted ones as well; last a crowd that asks
for a while, in which the stub must not grow. The stepflow runtime is asked over its own HTTP interface to run a flow of
two steps; the stub asks the runtime back in the second.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import saikuro
import sael
import telequick
from executor import Executor, Failed
from runtime import ITEMS, work
from proxy_tools import LIMIT, WAIT, WIRETOOL, Peer, Proxy, check, connect_to, listen, new_path

ORACLE = sys.argv[2]
# The number of concurrent clients, and the duration in seconds.
CROWD, WHILE = 64, float(os.environ.get("PEER_SECONDS", "15"))
# The memory in KiB that a stub may gain after all have connected.
MAX_GROWTH = 8192

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
    def __init__(self, protocol, scheme, *flags):
        command = [WIRETOOL, "stub", protocol, "--listen", f"{scheme}://127.0.0.1:0", *flags]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            line = self.process.stderr.readline()
            self.port = int(line.split(b"://127.0.0.1:")[1].split(b",")[0])
        except BaseException:
            self.process.kill()
            raise
        self.stderr = Peer(self.process.stderr.read)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT)

    def memory(self):
        """Its resident memory in KiB."""
        status = open(f"/proc/{self.process.pid}/status").read()
        return int(status.split("VmRSS:")[1].split()[0])

    def end(self):
        self.process.send_signal(signal.SIGINT)
        check("interrupted", self.process.wait(WAIT), 130)
        return self.stderr.result().decode()


def stepflow():
    script, recording, report = new_path("stub.toml"), new_path("stub"), new_path("asked.json")
    with open(script, "w") as file:
        file.write(SCRIPT)
    with Stub("stepflow", "http", "--script", script, "-w", recording, "--report", report, "-q") as stub:
        work(stub.port, lambda n: n)
        stub.end()
    asked = json.load(open(report))
    check("asked", [rule["asked"] for rule in asked["rules"]], [ITEMS, ITEMS])
    check("missed", asked["missed"], 0)
    with Stub("stepflow", "http", "--from-recording", recording, "--report", report, "-q") as stub:
        work(stub.port, lambda n: n)
        stub.end()
    asked = json.load(open(report))
    check("missed", (asked["missed"], [miss["why"] for miss in asked["misses"]]), (0, []))
    print(f"stepflow runtime 0.9.0 with a stub for a server: {2 * ITEMS} calls, {ITEMS} with callbacks; again from the recording")


OFFERS = """
[[on]]
match = 'subject=square .params.calldata[0]="0x3"'
times = 2
result = ["0x9"]
[[on]]
match = 'subject=square .params.calldata[0]="0x3"'
error = "used up"
[[on]]
match = "subject=echo"
result = ["{{params.calldata[0]}}"]
"""


def fails(executor, selector, *felts):
    try:
        return executor.invoke(selector, *felts)
    except Failed as error:
        return str(error)


def oracle():
    """An executor cannot distinguish the stub from an oracle."""
    script, path = new_path("oracle.toml"), new_path("oracle")
    with open(script, "w") as file:
        file.write(OFFERS)
    executor = Executor([WIRETOOL, "stub", "oracle", "--script", script])
    check("answers", [fails(executor, "square", 3) for _ in range(3)], [[9], [9], "used up"])
    check("echo", executor.invoke("echo", 77), [77])
    check("unknown", "sqare" in fails(executor, "sqare", 3), True)
    check("an answer after it", executor.invoke("echo", 1 << 250), [1 << 250])
    executor.shutdown()
    executor = Executor([WIRETOOL, "record", "-p", "oracle", "-w", path, "--", ORACLE])
    calls = [("square", n) for n in range(40)] + [("square", 1 << 40)]
    before = [fails(executor, *call) for call in calls]
    executor.process.stdin.close()
    check("the end of stdin", executor.process.wait(WAIT), 0)
    for recording in (path, masked(path)):
        executor = Executor([WIRETOOL, "stub", "oracle", "--from-recording", recording, "--require-all"])
        check("as recorded", [fails(executor, *call) for call in calls], before)
        check("not recorded", "nearest is" in fails(executor, "square", 1000), True)
        executor.process.stdin.close()
        check("all was asked for", executor.process.wait(WAIT), 0)
    print(f"oracle: an executor with a stub from a script, and {len(calls)} calls from a recording, redacted as well")


def provider():
    """A stub joins a runtime, and a client of that runtime cannot distinguish it from a provider."""
    script = new_path("provider.toml")
    with open(script, "w") as file:
        file.write('offers = ["math.add"]\n[[on]]\nmatch = \'subject="math.add"\'\nresult = "{{args[0]}}"\n')
    for ws in (False, True):
        listener, port = listen()
        scheme = "ws" if ws else "tcp"
        command = [WIRETOOL, "stub", "saikuro", "--connect", f"{scheme}://127.0.0.1:{port}", "--script", script]
        stub = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            check("it dials first", b"connecting" in stub.stderr.readline(), True)
            offers = saikuro.joined(ws, listener, [])
            relay = Peer(saikuro.runtime, ws, listener, [], False, offers)
            client = saikuro.client_over(ws, port)
            for n in range(CROWD):
                ident = saikuro.new_call_id().bytes
                got = saikuro.answer(client, saikuro.envelope("call", ident, "math.add", [n]))
                check("answer", got["result"], n)
            client.end()
            stub.send_signal(signal.SIGINT)
            check("it leaves", stub.wait(WAIT), 130)
            relay.result()
        finally:
            stub.kill()
        print(f"saikuro runtime over {scheme} with a stub for a provider: {CROWD} calls")


def masked(path):
    """Redacts a recording."""
    out = new_path("redacted")
    run = subprocess.run([WIRETOOL, "redact", path, "-o", out], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    check(f"redact printed {run.stderr.decode()}", run.returncode, 0)
    return out


def clients():
    """Sends the requests of clients of real servers to a stub."""
    secret = sael.token()
    media = [random.Random(4).randbytes(160) for _ in range(5)]
    for protocol, scheme, serve, talk in (
        ("saikuro", "tcp", lambda to: saikuro.runtime(False, to, []), lambda port: saikuro.talk(False, port)),
        ("saikuro", "ws", lambda to: saikuro.runtime(True, to, []), lambda port: saikuro.talk(True, port)),
        ("sael", "ws", lambda to: sael.serve(to, False, []), lambda port: sael.talk(port, False, secret)),
        ("telequick", "tcp", lambda to: telequick.serve(to, False, media, []), lambda port: telequick.talk(port, False, media)),
        ("telequick", "tcp", lambda to: telequick.serve(to, True, media, []), lambda port: telequick.talk(port, True, media)),
    ):
        asked = lambda port: [module.rng.seed(9) for module in (saikuro, sael, telequick)] and talk(port)
        listener, port = listen()
        with Proxy(protocol, port) as proxy:
            server = Peer(serve, listener)
            asked(proxy.port)
            server.result()
            proxy.end()
        listener.close()
        for recording in (proxy.recording, masked(proxy.recording)):
            report = new_path("asked.json")
            with Stub(protocol, scheme, "--from-recording", recording, "--report", report, "-q") as stub:
                # The stub sends all events of a call immediately after a subscription, which this client does not expect.
                if protocol != "telequick":
                    asked(stub.port)
                flags = ("--connect", f"{scheme}://127.0.0.1:{stub.port}")
                run = subprocess.run([WIRETOOL, "replay", recording, *flags], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
                check(f"replay: {run.stdout.decode()[:2000]} {run.stderr.decode()[:2000]}", run.returncode, 0)
                stub.end()
            summary = json.load(open(report))
            check("missed", (summary["missed"], [miss["why"] for miss in summary["misses"]]), (0, []))
            check("not requested", [one for one in summary["recorded"] if not one["asked"]], [])
        print(f"{protocol} over {scheme}: a client and a replay with a stub from its recording, {summary['requests']} requests, redacted as well")


def serve_many_clients():
    """Many concurrent clients for some time."""
    script = new_path("crowd.toml")
    with open(script, "w") as file:
        file.write('[[on]]\nmatch = "subject=math.add"\nresult = "{{args[0]}}"\n')
    with Stub("saikuro", "tcp", "--script", script, "-q") as stub:
        streams = [saikuro.Framed(connect_to(stub.port)) for _ in range(CROWD)]
        memory, rounds, until = None, 0, time.monotonic() + WHILE
        while time.monotonic() < until or rounds < 10:
            idents = [saikuro.new_call_id().bytes for _ in streams]
            for stream, ident in zip(streams, idents):
                stream.send(saikuro.envelope("call", ident, "math.add", [rounds, "x" * 200]))
            for stream, ident in zip(streams, idents):
                got = stream.recv()
                check("answer", (got["id"], got["result"]), (ident, rounds))
            rounds += 1
            # By then each client has allocated its memory.
            if rounds == 20:
                memory = stub.memory()
            # Other clients come and go.
            gone = streams.pop(0)
            gone.sock.close()
            streams.append(saikuro.Framed(connect_to(stub.port)))
        grown = stub.memory() - (memory or 0)
        check(f"{grown} KiB more than {memory}", memory is None or grown < MAX_GROWTH, True)
        for stream in streams:
            stream.sock.close()
        stub.end()
    print(f"saikuro: {CROWD} connections at once, {rounds * CROWD} calls in {WHILE:g} s, {memory} KiB then and {grown} more at the end")


if __name__ == "__main__":
    signal.alarm(int(LIMIT + WHILE))
    for case in sys.argv[3:] or ("stepflow", "oracle", "clients", "provider", "serve_many_clients"):
        globals()[case]()

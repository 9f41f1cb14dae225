"""Sessions of real programs, recorded through `wiretool proxy`, and played by `wiretool replay` with new programs.

As long as the peer is the same there is no difference, however its answers come; where one field of one answer is
another, that field is named with its bytes. Prints a line a case, exits 1 at the first that differs.
"""

import os
import random
import re
import subprocess
import sys

import runtime
import saikuro
import sael
import stepflow
import telequick
from executor import Executor
from proxy_tools import WIRETOOL, WAIT, Peer, Proxy, check, listen, new_path, wiretool

ORACLE, PYTHON = sys.argv[2], sys.argv[3]
HERE = os.path.dirname(os.path.abspath(__file__))


def play(recording, *to, code=0):
    """Returns its stdout and stderr."""
    run = subprocess.run([WIRETOOL, "replay", recording, *to], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    stdout, stderr = run.stdout.decode(), run.stderr.decode()
    check(f"replay {to}:\n{stdout[:3000]}\n{stderr[:3000]}", run.returncode, code)
    return stdout, stderr


def findings(recording):
    """Returns the number of findings by rule."""
    counts = {}
    for line in wiretool("lint", "-f", "json", recording, codes=(0, 1)):
        if rule := line.get("finding", {}).get("rule"):
            counts[rule] = counts.get(rule, 0) + 1
    return counts


def same(recording, *to, strict=True):
    """Checks that there is no difference: by replay, by diff of its recording, and by lint. Returns the summary."""
    again = new_path("again")
    stdout, stderr = play(recording, "-w", again, *to)
    check("stdout", stdout, "")
    sent, compared, differ = map(int, re.search(r"(\d+) sent, (\d+) answers? compared, (\d+) differ", stderr).groups())
    check("differ", differ, 0)
    run = subprocess.run([WIRETOOL, "diff", recording, again], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    check(f"diff:\n{run.stdout.decode()[:3000]}{run.stderr.decode()[:1000]}", run.returncode, 0)
    if strict:
        check("findings", findings(again), findings(recording))
    return f"{sent} messages sent, {compared} answers the same"


def other(recording, *to, field, values):
    """One different field is reported with both values and with the bytes of both."""
    stdout, stderr = play(recording, *to, code=1)
    line = [line for line in stdout.splitlines() if line.split()[:1] == [field]]
    check(f"{field} in\n{stdout}", len(line), 1)
    check(f"values in {line}", all(value in line[0] for value in values), True)
    check(f"bytes in {line}", bool(re.search(r"bytes \d+\.\.\d+: [0-9a-f]{2,}…? and \d+\.\.\d+: [0-9a-f]{2,}", line[0])), True)
    check(f"one in {stderr}", "1 differs" in stderr, True)


def squares(times):
    """A recorded session of an oracle."""
    path = new_path("oracle")
    executor = Executor([WIRETOOL, "record", "-p", "oracle", "-w", path, "--", ORACLE])
    for n in range(times):
        check("square", executor.invoke("square", n), [n * n])
    executor.process.stdin.close()
    check("the end of stdin", executor.process.wait(WAIT), 0)
    return path


def oracle():
    path = squares(50)
    compared = same(path, "--", ORACLE)
    # The square of 9.
    script = f"{ORACLE} | sed -u s/0x51/0x52/"
    other(path, "--", "sh", "-c", script, field="result[0]", values=('"0x51"', '"0x52"'))
    print(f"oracle: {compared}; 0x52 for 0x51 is reported")


def sockets(name, scheme, record, serve, field, values):
    """A session between sockets; `serve` takes a listener and a flag for equal answers."""
    listener, port = listen()
    with Proxy(name.split(",")[0], port) as proxy:
        server = Peer(serve, listener, False)
        record(proxy.port)
        server.result()
        proxy.end()
    server = Peer(serve, listener, False)
    compared = same(proxy.recording, "--connect", f"{scheme}://127.0.0.1:{port}")
    server.result()
    Peer(serve, listener, True)
    other(proxy.recording, "--connect", f"{scheme}://127.0.0.1:{port}", field=field, values=values)
    listener.close()
    print(f"{name} over {scheme}: {compared}; {values[1]} for {values[0]} is reported")


def all_sockets():
    media = [random.Random(4).randbytes(160) for _ in range(5)]
    secret = sael.token()
    for ws in (False, True):
        talk = lambda port: saikuro.talk(ws, port)
        serve = lambda listener, changed: saikuro.runtime(ws, listener, [], changed)
        sockets("saikuro", "ws" if ws else "tcp", talk, serve, "result", ("41", "42"))
    for deflate in (False, True):
        talk = lambda port: sael.talk(port, deflate, secret)
        serve = lambda listener, changed: sael.serve(listener, deflate, [], changed)
        sockets("sael, compressed" if deflate else "sael", "ws", talk, serve, "output.text", ("größe", "GRÖSSE"))
    for inclusive in (False, True):
        talk = lambda port: telequick.talk(port, inclusive, media)
        serve = lambda listener, changed: telequick.serve(listener, inclusive, media, [], changed)
        name = "telequick, inclusive" if inclusive else "telequick"
        sockets(name, "tcp", talk, serve, "fields.status", ('"QUEUED"', '"FAILED"'))


def stdio():
    """Callbacks, and answers in any order."""
    path = new_path("stepflow")
    child = [PYTHON, os.path.join(HERE, "stepflow_child.py")]
    command = [sys.executable, os.path.join(HERE, "stepflow_stdio.py"), WIRETOOL, PYTHON, path]
    check("recorded", subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=WAIT).returncode, 0)
    compared = same(path, "--", *child)
    script = ["sh", "-c", '"$1" "$2" | sed -u "s/\\"n\\":42}/\\"n\\":43}/;s/\\"n\\":42,/\\"n\\":43,/"', "sh", *child]
    other(path, "--", *script, field="result.output.n", values=("42", "43"))
    print(f"stepflow 0.7.0 over stdio: {compared}; 43 for 42 is reported")


def asked(port):
    """Sends the calls of a runtime to a server, many at the same time."""
    hello = {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {"runtime_protocol_version": 1}}
    check("initialize", stepflow.post(port, hello)[1].status, 200)
    check("initialized", stepflow.post(port, {"jsonrpc": "2.0", "method": "initialized", "params": {}})[1].status, 202)
    calls = [Peer(stepflow.plain, port, f"d{n}", n) for n in range(20)] + [Peer(stepflow.callback, port, f"s{n}", n) for n in range(20)]
    for call in calls:
        call.result()


def http():
    """With a hand-written runtime, and with the real one."""
    for name, work in (("threads", asked), ("runtime 0.9.0", runtime.work)):
        server, port = runtime.start()
        try:
            with Proxy("stepflow", port) as proxy:
                work(proxy.port)
                proxy.end()
            compared = same(proxy.recording, "--connect", f"http://127.0.0.1:{port}")
        finally:
            server.kill()
            server.wait(WAIT)
        os.environ["PEER_CHANGED"] = "13"
        server, port = runtime.start()
        del os.environ["PEER_CHANGED"]
        try:
            other(proxy.recording, "--connect", f"http://127.0.0.1:{port}", field="result.output.n", values=("26", "27"))
        finally:
            server.kill()
            server.wait(WAIT)
        print(f"stepflow 0.9.2 over HTTP, {name}: {compared}; 27 for 26 is reported")


def bad():
    """Unplayable recordings and silent peers give one sentence each; the recording made until then is complete."""
    listener, port = listen()
    with Proxy("saikuro", port) as proxy:
        relay = Peer(saikuro.runtime, False, listener, [])
        saikuro.talk(False, proxy.port)
        relay.result()
        proxy.end()
    whole = open(proxy.recording, "rb").read().splitlines(keepends=True)

    def cut(name, lines):
        path = new_path(name)
        with open(path, "wb") as file:
            file.writelines(lines)
        return path

    away, gone = listen()
    away.close()
    to = ("--connect", f"tcp://127.0.0.1:{port}", "--timeout", "1s")
    here = proxy.recording
    for name, recording, flags, code, words in (
        ("of another protocol", here, ("-p", "sael", *to), 2, "it is a recording of saikuro, not of sael"),
        ("no recording", cut("none", [b"\x00\x01"]), to, 2, "recording"),
        ("only answers", cut("answers", [line for line in whole if b'"c2s"' not in line]), to, 2, "it has only answers"),
        ("refuses", here, ("--connect", f"tcp://127.0.0.1:{gone}"), 2, "refused"),
    ):
        stdout, stderr = play(recording, *flags, code=code)
        check(f"{name}: {stderr}", (words in stderr, len(stderr.splitlines()) <= 2), (True, True))
    # Nothing to compare is not a difference; a partial message at the end is not sent.
    whole = [line for line in open(squares(9), "rb").read().splitlines(keepends=True) if b'"stderr"' not in line]
    sixth = next(at for at, line in enumerate(whole) if b'"c2s"' in line and b"0x5" in line)
    for name, lines, words in (
        ("only requests", [line for line in whole if b'"s2c"' not in line], ("it has only requests, and no answer to compare", "10 sent, 0 answers")),
        ("torn", whole[:sixth] + [whole[sixth][:40]], ("it has no end line: its messages are replayed", "wiretool: 6 sent, ")),
    ):
        stdout, stderr = play(cut(name, lines), "--", ORACLE)
        check(f"{name}: {stdout} {stderr}", [word for word in words if word not in stderr], [])
    for name, answers, words in (
        ("hangs", lambda sock: sock.recv(1), ("✗ hangs: no message for 1 s", "unanswered → announce $saikuro.announce")),
        ("closes", lambda sock: sock.close(), ("✗ connection 1 was",)),
    ):
        again = new_path("again")
        held = []
        peer = Peer(lambda: (held.append(listener.accept()[0]), answers(held[0])))
        stdout, stderr = play(here, *to, "-w", again, code=1)
        check(f"{name}: {stdout}", [word for word in words if word not in stdout], [])
        peer.result()
        messages = wiretool("decode", "-f", "json", again)
        check("sent before it", [line["kind"] for line in messages if line["role"] == "request"][:1], ["announce"])
        check("whole", b'"event":"end"' in open(again, "rb").read().splitlines()[-1], True)
        held[0].close()
    listener.close()
    print("replay: other protocols, one-way and torn recordings, peers that refuse, hang or close are reported in one sentence")


if __name__ == "__main__":
    for case in sys.argv[4:] or ("oracle", "all_sockets", "stdio", "http", "bad"):
        globals()[case]()

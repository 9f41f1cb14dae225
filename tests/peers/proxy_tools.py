"""Shared by the tests of real peers through `wiretool proxy`: counting sockets, proxies, and checks of recordings."""

import base64
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading

WIRETOOL = sys.argv[1]
LIMIT = 120  # seconds for a whole script, far more than it needs
WAIT = 30  # seconds for one step
folder = tempfile.TemporaryDirectory()
count = 0


def on_timeout(*_):
    raise TimeoutError(f"not done in {LIMIT} s")


signal.signal(signal.SIGALRM, on_timeout)
signal.alarm(LIMIT)


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r}\n  wanted {wanted!r}")


def new_path(name):
    """Returns a new path for an output file."""
    global count
    count += 1
    return os.path.join(folder.name, f"{count}-{name}.jsonl")


class CountingSocket(socket.socket):
    """A socket that stores the length and the digest of its traffic: `out` and `into`."""

    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.out, self.into = Digest(), Digest()

    def accept(self):
        fd, address = self._accept()
        stream = CountingSocket(self.family, self.type, self.proto, fileno=fd)
        return set_options(stream), address

    def sendall(self, data, *flags):
        super().sendall(data, *flags)
        self.out.add(data)

    def recv(self, size, *flags):
        data = super().recv(size, *flags)
        self.into.add(data)
        return data

    def read_exactly(self, size):
        """Reads this number of bytes; nothing if the stream ends before."""
        data = b""
        while len(data) < size:
            piece = self.recv(size - len(data))
            if not piece:
                check("an end between messages", data, b"")
                return b""
            data += piece
        return data


class Digest:
    def __init__(self):
        self.sha, self.len = hashlib.sha256(), 0

    def add(self, data):
        self.sha.update(data)
        self.len += len(data)

    def digest(self):
        return self.len, self.sha.hexdigest()


def listen(path=None):
    """Returns a listening socket on loopback and its port, or one at a path."""
    sock = CountingSocket(socket.AF_UNIX if path else socket.AF_INET, socket.SOCK_STREAM)
    sock.settimeout(WAIT)
    sock.bind(path or ("127.0.0.1", 0))
    sock.listen(16)
    return sock, path or sock.getsockname()[1]


def connect_to(address):
    """Connects to a port of loopback, or to a path."""
    is_path = isinstance(address, str)
    sock = set_options(CountingSocket(socket.AF_UNIX if is_path else socket.AF_INET, socket.SOCK_STREAM))
    sock.connect(address if is_path else ("127.0.0.1", address))
    return sock


def set_options(sock):
    """Sets a time limit and disables the delay of small writes."""
    sock.settimeout(WAIT)
    if sock.family == socket.AF_INET:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


class Peer(threading.Thread):
    """A thread that runs during the test; `result` raises its exception."""

    def __init__(self, run, *args):
        super().__init__(daemon=True)
        self.call, self.error, self.answer = (run, args), None, None
        self.start()

    def run(self):
        try:
            run, args = self.call
            self.answer = run(*args)
        except BaseException as error:
            self.error = error

    def result(self):
        self.join(WAIT)
        if self.is_alive():
            raise TimeoutError("a peer does not end")
        if self.error:
            raise self.error
        return self.answer


class Relay:
    """A plain relay that is not wiretool, in front of a port or a path. Stores the traffic of each connection."""

    def __init__(self, to, path=None):
        self.to, self.pairs = to, []
        self.listener, self.port = listen(path)
        self.listener.settimeout(None)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = connect_to(self.to)
            except OSError:
                client.close()
                continue
            self.pairs.append((client, server))
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=ends, daemon=True).start()

    @staticmethod
    def pump(source, sink):
        source.settimeout(None)
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def passed(self):
        """Returns the digests of both directions of each connection."""
        return sorted((server.out.digest(), server.into.digest()) for _, server in self.pairs)


class Certificates:
    """A root that no system trusts, and a certificate signed by it."""

    def __init__(self):
        import trustme

        root = trustme.CA()
        mine = root.issue_cert("localhost", "127.0.0.1")
        self.root, self.cert, self.key = (os.path.join(folder.name, name) for name in ("root.pem", "cert.pem", "key.pem"))
        root.cert_pem.write_to_path(self.root)
        mine.private_key_pem.write_to_path(self.key)
        with open(self.cert, "wb") as chain:
            chain.writelines(blob.bytes() for blob in mine.cert_chain_pems)


class Proxy:
    """`wiretool proxy` between a free port and an address or a port. Shows and records everything."""

    def __init__(self, protocol, connect, *flags, listen="tcp"):
        self.recording = new_path(protocol)
        connect = f"tcp://127.0.0.1:{connect}" if isinstance(connect, int) else connect
        command = [WIRETOOL, "proxy", "-p", protocol, "-f", "json", "--listen", f"{listen}://127.0.0.1:0", "--connect", connect]
        self.process = subprocess.Popen(
            [*command, "-w", self.recording, *flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            self.port = int(self.process.stderr.readline().split(b"://127.0.0.1:")[1].split(b",")[0])
        except BaseException:
            self.process.kill()
            raise
        self.shown = Peer(self.process.stdout.read)
        self.stderr = Peer(self.process.stderr.read)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT)

    def end(self):
        """Interrupts it. Returns the messages that it showed, one per line."""
        self.process.send_signal(signal.SIGINT)
        check("interrupted", self.process.wait(WAIT), 130)
        self.stderr.result()
        return [json.loads(line) for line in self.shown.result().splitlines()]


def wiretool(*args, codes=(0,)):
    """Returns its stdout as JSON lines."""
    run = subprocess.run([WIRETOOL, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    if run.returncode not in codes:
        sys.exit(f"{args}: {run.returncode}\n{run.stdout.decode()[:3000]}\n{run.stderr.decode()}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def read_recording(path):
    """Returns the bytes of each connection and direction, and the events."""
    streams, events = {}, []
    for line in open(path, "rb").read().splitlines()[1:]:
        line = json.loads(line)
        if "event" in line:
            events.append(line["event"])
            continue
        data = line["text"].encode() if "text" in line else base64.b64decode(line["b64"])
        streams[line["conn"], line["dir"]] = streams.get((line["conn"], line["dir"]), b"") + data
    return streams, events


def digest(data):
    return len(data), hashlib.sha256(data).hexdigest()


def check_same_bytes(path, clients, servers):
    """Checks that sent, received and recorded bytes are equal for each connection and direction. Returns their number."""
    streams, events = read_recording(path)
    check("whole", (events[-1], "lost" in events), ("end", False))
    check("connections", len(clients), len(servers))
    for conn, (client, server) in enumerate(zip(clients, servers), 1):
        for direction, sent, received in (("c2s", client.out, server.into), ("s2c", server.out, client.into)):
            check(f"connection {conn} {direction}", received.digest(), sent.digest())
            check(f"connection {conn} {direction} recorded", digest(streams.get((conn, direction), b"")), sent.digest())
    return sum(map(len, streams.values()))


def check_recording(path, calls, shown=None, errors=()):
    """Checks faults, errors and the answered calls by subject. Returns the lines of decode."""
    lines = wiretool("decode", "-f", "json", path)
    check("faults", [line for line in lines if "fault" in line], [])
    if shown is not None:
        check("as many shown as recorded", len(shown), len(lines))
    found = wiretool("lint", "-f", "json", path, codes=(1 if errors else 0,))
    rules = {line["finding"]["rule"] for line in found[:-1] if line["finding"]["severity"] == "error"}
    check("errors", (rules, found[-1]["summary"]["waiting"]), (set(errors), []))
    stat = wiretool("stat", "-f", "json", path)[0]
    check("unanswered, faulty", (stat["unanswered"], stat["faulty"]), (0, 0))
    counts = {latency["what"]: latency["count"] for latency in stat["latencies"]}
    # A subject may be followed by names: each component of components/execute is counted apart.
    sums = {what: sum(n for name, n in counts.items() if f"{name} ".startswith(f"{what} ")) for what in calls}
    check(f"answered of {counts}", sums, calls)
    return lines


def check_redaction(path, secrets, *flags):
    """Checks that the redacted recording decodes as before, and contains no secret."""
    out = new_path("redacted")
    run = subprocess.run([WIRETOOL, "redact", path, "-o", out, *flags], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    check(f"redact printed {run.stderr.decode()}", run.returncode, 0)
    keys = ("index", "conn", "dir", "time", "offset", "len", "framing", "kind", "role", "id", "subject")
    shape = lambda lines: [[line.get(key) for key in keys] for line in lines]
    before, after = (wiretool("decode", "-f", "json", file) for file in (path, out))
    check("messages of the redacted", shape(after), shape(before))
    check("faults of the redacted", [line for line in after if "fault" in line], [])
    # The text of a finding may contain a secret; the rest is the same.
    plain = lambda line: {key: value for key, value in line.get("finding", {}).items() if key != "text"} or line["summary"]
    places = lambda file: [plain(line) for line in wiretool("lint", "-f", "json", file, codes=(0, 1))]
    check("findings in the redacted", places(out), places(path))
    # Pairs and latencies by subject.
    stats = [wiretool("stat", "-f", "json", file)[0] for file in (path, out)]
    for stat in stats:
        del stat["file"]
    check("stat of the redacted", stats[1], stats[0])
    haystacks = lambda file, lines: [open(file, "rb").read(), *read_recording(file)[0].values(), *(json.dumps(line, ensure_ascii=False).encode() for line in lines)]
    for secret in secrets:
        forms = (secret, secret.hex().encode()) if len(secret) > 3 else (secret,)
        held = lambda hays: any(form in hay for hay in hays for form in forms)
        check(f"{secret!r} recorded", held(haystacks(path, before)), True)
        check(f"{secret!r} in the redacted", held(haystacks(out, after)), False)
    return len(secrets)


def check_refusal(path):
    """Checks that a recording with secrets in compressed bodies is refused."""
    out = new_path("refused")
    run = subprocess.run([WIRETOOL, "redact", path, "-o", out], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    check(f"redact printed {run.stderr.decode()}", (run.returncode, os.path.exists(out)), (1, False))

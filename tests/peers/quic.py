#!/usr/bin/env python3
"""telequick over QUIC: aioquic as client and server, with wiretool between them, or as the other side.

Every byte, stream id, FIN, reset, stop, datagram and close code must reach the other side unchanged, and the recording
must equal what the peers sent.
"""
import asyncio
import json
import os
import ssl
import struct
import subprocess
import sys
import tempfile

import trustme
from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import HeadersReceived, WebTransportStreamDataReceived
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration

BINARY = sys.argv[1]
LIMIT = 60
BARGE, EVENTS, AUDIO, TERMINATE = 3854301714, 959835745, 2991054320, 3834253405


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<i", len(value)) + value


def frame(method, fields, inclusive=True):
    body = struct.pack("<BBi", 0, 0, len(fields)) + fields
    return struct.pack("<II", len(body) + (8 if inclusive else 4), method) + body


def barge(sid):
    return frame(BARGE, text(sid))


def audio(sid, number, last=False):
    fields = text(sid) + text(bytes(160)) + text("PCMU") + struct.pack("<Q?", number, last)
    return frame(AUDIO, fields, inclusive=False)


class Peer(QuicConnectionProtocol):
    """Notes everything that arrives, by stream."""

    on_connection = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # aioquic has no setting for it.
        limit = self._quic._local_max_streams_bidi
        limit.value = limit.sent = 2048
        self.got, self.notes, self.datagrams = {}, [], []
        self.closed_with = None
        self.ended = asyncio.Event()
        peers.append(self)

    def quic_event_received(self, event):
        if isinstance(event, events.StreamDataReceived):
            self.got[event.stream_id] = self.got.get(event.stream_id, b"") + event.data
            if event.end_stream:
                self.notes.append(("fin", event.stream_id))
            if self.on_connection and not self._quic.configuration.is_client:
                type(self).on_connection(self, event)
        elif isinstance(event, events.StreamReset):
            self.notes.append(("reset", event.stream_id, event.error_code))
        elif isinstance(event, events.StopSendingReceived):
            self.notes.append(("stop", event.stream_id, event.error_code))
        elif isinstance(event, events.DatagramFrameReceived):
            self.datagrams.append(event.data)
        elif isinstance(event, events.ConnectionTerminated):
            self.closed_with = (event.error_code, event.reason_phrase)
            self.ended.set()
        changed.set()

    def send(self, stream, data, end=False):
        self._quic.send_stream_data(stream, data, end)
        self.transmit()

    async def until(self, condition):
        async with asyncio.timeout(LIMIT):
            while not condition():
                changed.clear()
                await changed.wait()


class WebPeer(Peer):
    """Speaks WebTransport over HTTP/3. What arrives on its streams is in `web`, without their headers."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.web, self.headers = {}, {}
        self.http = H3Connection(self._quic, enable_webtransport=True)

    def quic_event_received(self, event):
        for part in self.http.handle_event(event):
            if isinstance(part, HeadersReceived):
                self.headers[part.stream_id] = dict(part.headers)
                if dict(part.headers).get(b":method") == b"CONNECT":
                    self.http.send_headers(part.stream_id, [(b":status", b"200")])
                    self.transmit()
            elif isinstance(part, WebTransportStreamDataReceived):
                self.web[part.stream_id] = self.web.get(part.stream_id, b"") + part.data
                if part.stream_ended and not self._quic.configuration.is_client:
                    self.answer(part.stream_id, part.session_id)
        super().quic_event_received(event)

    def answer(self, stream, session):
        """Audio and an answer on streams of the server: aioquic reads nothing on those that the client has opened."""
        if self.web[stream] == frame(EVENTS, text("web")):
            push = self.http.create_webtransport_stream(session, is_unidirectional=True)
            self.send(push, audio("CA0", 0) + audio("CA0", 1, True))
        elif self.web[stream] == barge("CA0"):
            both = self.http.create_webtransport_stream(session)
            self.send(both, frame(BARGE, b""), True)


peers, proxies = [], []
# Set by each event of any peer.
changed = asyncio.Event()


def configuration(client, certificate=None, key=None, alpn=("h3",)):
    made = QuicConfiguration(is_client=client, alpn_protocols=list(alpn), max_datagram_frame_size=65536)
    if client:
        made.verify_mode = ssl.CERT_NONE
        made.server_name = "localhost"
    else:
        made.load_cert_chain(certificate, key)
    return made


class Listener:
    """A command that listens, and records."""

    def __init__(self, folder, *words):
        self.recording = os.path.join(folder, f"r{len(os.listdir(folder))}.jsonl")
        command = [BINARY, *words, "-w", self.recording]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.said = []
        while True:
            line = self.process.stderr.readline()
            assert line, self.said
            self.said.append(line)
            if "listening on quic://" in line:
                self.port = int(line.split("listening on quic://127.0.0.1:")[1].split(",")[0])
                return

    def end(self):
        self.process.terminate()
        _, rest = self.process.communicate(timeout=LIMIT)
        return "".join(self.said) + rest

    def lines(self):
        with open(self.recording) as file:
            return [json.loads(line) for line in file]


def Proxy(port, folder, *flags):
    return Listener(folder, "record", "-p", "telequick", "--insecure", "--connect", f"quic://localhost:{port}", *flags)


def recorded(lines, direction):
    import base64
    streams = {}
    for line in lines:
        if line.get("dir") == direction and ("text" in line or "b64" in line) and not line.get("datagram"):
            data = line["text"].encode() if "text" in line else base64.b64decode(line["b64"])
            key = (line["conn"], line["stream"])
            streams[key] = streams.get(key, b"") + data
    return streams


async def case(folder, certificate, key, name, script, check, flags=(), alpn=("h3",), clients=1, peer=Peer):
    peers.clear()
    server = await serve("127.0.0.1", 0, configuration=configuration(False, certificate, key, alpn),
                         create_protocol=peer)
    port = server._transport.get_extra_info("sockname")[1]
    proxy = Proxy(port, folder, *flags)
    proxies.append(proxy)
    try:
        async def one():
            async with connect("127.0.0.1", proxy.port, configuration=configuration(True, alpn=alpn),
                               create_protocol=peer) as client:
                await client.ping()
                await script(client)
        async with asyncio.timeout(LIMIT):
            await asyncio.gather(*(one() for _ in range(clients)))
            await check(proxy)
    finally:
        server.close()
        said = proxy.end()
    print(f"ok: {name}")
    return proxy, said


def sides():
    clients = [peer for peer in peers if peer._quic.configuration.is_client]
    return clients, [peer for peer in peers if not peer._quic.configuration.is_client]


async def calls(folder, *keys):
    """Calls on streams of their own, audio on one long stream, events of the server, datagrams, half-closed streams."""
    async def script(client):
        quic = client._quic
        for number in range(10):
            stream = quic.get_next_available_stream_id()
            client.send(stream, barge(f"CA{number}"), True)
        # A skipped id: stream 44 is used before 40.
        client.send(44, barge("CA44"), True)
        sound = quic.get_next_available_stream_id(is_unidirectional=True)
        for number in range(50):
            client.send(sound, audio("CA0", number, number == 49))
        client.send(sound, b"", True)
        quic.send_datagram_frame(b"datagram up")
        client.transmit()
        stream = 48
        client.send(stream, barge("reset")[:9])
        await client.until(lambda: any(p.got.get(stream) for p in sides()[1]))
        quic.reset_stream(stream, 77)
        client.transmit()
        # The server answers stream 0, stops stream 52, opens a stream, and sends a datagram.
        client.send(52, bytes(1000))
        await client.until(lambda: client.datagrams and any(n[:2] == ("stop", 52) for n in client.notes)
                           and ("fin", 0) in client.notes and ("fin", 3) in client.notes)
        quic.close(error_code=4711, reason_phrase="done")
        client.transmit()

    def answer(server, event):
        if event.stream_id == 0 and event.end_stream:
            server.send(0, frame(BARGE, b""), True)
            server.send(3, audio("CA0", 0) + audio("CA0", 1), True)
            server._quic.send_datagram_frame(b"datagram down")
            server.transmit()
        if event.stream_id == 52:
            server._quic.stop_stream(52, 99)
            server.transmit()

    Peer.on_connection = answer

    async def check(proxy):
        clients, servers = sides()
        (client,), (server,) = clients, servers
        await server.until(lambda: server.closed_with)
        assert server.closed_with == (4711, "done"), server.closed_with
        for number in range(10):
            assert server.got[4 * number] == barge(f"CA{number}")
            assert ("fin", 4 * number) in server.notes
        assert server.got[44] == barge("CA44") and 40 not in server.got
        assert server.got[2] == b"".join(audio("CA0", n, n == 49) for n in range(50))
        assert ("reset", 48, 77) in server.notes, server.notes
        assert server.datagrams == [b"datagram up"]
        assert client.datagrams == [b"datagram down"]
        assert client.got[0] == frame(BARGE, b"") and client.got[3] == audio("CA0", 0) + audio("CA0", 1)
        assert ("stop", 52, 99) in client.notes

    proxy, said = await case(folder, *keys, "calls, audio, events, datagrams, reset, stop, close", script, check)
    lines = proxy.lines()
    up, down = recorded(lines, "c2s"), recorded(lines, "s2c")
    assert up[(1, 44)] == barge("CA44") and (1, 40) not in up
    assert down == {(1, 0): frame(BARGE, b""), (1, 3): audio("CA0", 0) + audio("CA0", 1)}
    # The two directions are independent.
    assert sorted(l["dir"] for l in lines if l.get("datagram")) == ["c2s", "s2c"]
    kinds = [(l["event"], l.get("stream"), l.get("code")) for l in lines if "event" in l]
    assert ("reset", 48, 77) in kinds and ("stop", 52, 99) in kinds, kinds
    assert ("close", None, 4711) in kinds, kinds
    return proxy.recording


async def early_close(folder, *keys):
    """A hundred requests and an open audio stream right before a close all arrive, and no stream gets a FIN."""
    async def script(client):
        sound = client._quic.get_next_available_stream_id(is_unidirectional=True)
        client.send(sound, audio("CA0", 0))
        for number in range(100):
            stream = client._quic.get_next_available_stream_id()
            client._quic.send_stream_data(stream, barge(f"CA{number}"), True)
        client.transmit()
        # Everything has left the client, nothing of it is acknowledged by the server yet.
        await client.ping()
        client._quic.close(error_code=1, reason_phrase="bye")
        client.transmit()

    async def check(proxy):
        _, (server,) = sides()
        await server.until(lambda: server.closed_with)
        assert server.closed_with == (1, "bye"), server.closed_with
        missing = [n for n in range(100) if server.got.get(4 * n) != barge(f"CA{n}")]
        assert not missing, missing
        assert server.got[2] == audio("CA0", 0)
        assert ("fin", 2) not in server.notes and not any(n[0] in ("reset", "stop") for n in server.notes), server.notes

    Peer.on_connection = None
    await case(folder, *keys, "a close after a hundred requests", script, check)


async def several(folder, *keys):
    """Three clients at once."""
    async def script(client):
        for number in range(20):
            stream = client._quic.get_next_available_stream_id()
            client.send(stream, barge(f"CA{number}") * 100, True)
        await client.until(lambda: len([n for n in client.notes if n[0] == "fin"]) == 20)
        client._quic.close(error_code=0)
        client.transmit()

    def answer(server, event):
        if event.end_stream:
            server.send(event.stream_id, frame(BARGE, b""), True)

    Peer.on_connection = answer

    async def check(proxy):
        _, servers = sides()
        assert len(servers) == 3
        for server in servers:
            await server.until(lambda: server.closed_with)
            for number in range(20):
                assert server.got[4 * number] == barge(f"CA{number}") * 100

    proxy, _ = await case(folder, *keys, "three clients at once", script, check, clients=3)
    assert {line["conn"] for line in proxy.lines() if "conn" in line} == {1, 2, 3}


def memory(process):
    """Anonymous memory in KiB, and the number of threads."""
    with open(f"/proc/{process.pid}/status") as file:
        status = dict(line.split(":", 1) for line in file)
    return int(status["RssAnon"].split()[0]), int(status["Threads"])


async def many(folder, *keys):
    """A thousand streams that are open at once, again and again: what they need is released when they have ended."""
    rounds, count, seen = 11, 1000, []

    def answer(server, event):
        if event.end_stream:
            server._quic.send_stream_data(event.stream_id, frame(BARGE, b""), True)
            server.transmit()

    Peer.on_connection = answer

    async def script(client):
        quic = client._quic
        for n in range(rounds):
            streams = [quic.get_next_available_stream_id() + 4 * number for number in range(count)]
            for stream in streams:
                quic.send_stream_data(stream, barge("CA0"))
            client.transmit()
            await client.until(lambda: [len(server.got) for server in sides()[1]] == [count * (n + 1)])
            for stream in streams:
                quic.send_stream_data(stream, b"", True)
            client.transmit()
            await client.until(lambda: len(client.notes) == count * (n + 1))
            seen.append(memory(proxies[-1].process))
        quic.close(error_code=0)
        client.transmit()

    async def check(proxy):
        # The first rounds fill what is kept for reuse.
        (before, threads), (after, threads_after) = seen[4], seen[-1]
        assert after < before + 1024 and threads_after <= threads, seen

    await case(folder, *keys, "11,000 streams, 1,000 at once", script, check)


async def server_closes(folder, *keys):
    """The server closes with a code; the client gets the same."""
    async def script(client):
        client.send(0, barge("CA0"), True)
        await asyncio.wait_for(client.ended.wait(), LIMIT)
        assert client.closed_with == (7, "no capacity"), client.closed_with

    def answer(server, event):
        server._quic.close(error_code=7, reason_phrase="no capacity")
        server.transmit()

    Peer.on_connection = answer

    async def check(proxy):
        pass

    await case(folder, *keys, "the server closes", script, check)


async def web(folder, *keys):
    """A session of WebTransport: a subscription, two requests, and what the server sends on streams of its own."""
    requests = {}

    async def script(client):
        session = client._quic.get_next_available_stream_id()
        fields = [(b":method", b"CONNECT"), (b":scheme", b"https"), (b":authority", b"localhost"), (b":path", b"/"),
                  (b":protocol", b"webtransport")]
        client.http.send_headers(session, fields)
        client.transmit()
        await client.until(lambda: session in client.headers)
        assert client.headers[session][b":status"] == b"200"
        for request in (frame(EVENTS, text("web")), barge("CA0"), frame(TERMINATE, text("CA0"))):
            stream = client.http.create_webtransport_stream(session)
            client.send(stream, request, True)
            requests[stream] = request
        sound = client.http.create_webtransport_stream(session, is_unidirectional=True)
        client.send(sound, audio("CA0", 0) + audio("CA0", 1))
        requests[sound] = audio("CA0", 0) + audio("CA0", 1)
        pushed = {3: audio("CA0", 0) + audio("CA0", 1, True), 1: frame(BARGE, b"")}
        await client.until(lambda: {stream & 3: data for stream, data in client.web.items()} == pushed
                           and len(sides()[1][0].web) == len(requests))
        client._quic.close(error_code=0)
        client.transmit()

    async def check(proxy):
        (client,), (server,) = sides()
        await server.until(lambda: server.closed_with)
        assert server.web == requests, server.web

    proxy, _ = await case(folder, *keys, "a session of WebTransport", script, check, peer=WebPeer)
    (client,), (server,) = sides()
    up, down = recorded(proxy.lines(), "c2s"), recorded(proxy.lines(), "s2c")
    assert up == {(1, stream): data for stream, data in server.got.items()}
    assert down == {(1, stream): data for stream, data in client.got.items()}
    done = subprocess.run([BINARY, "decode", "-f", "json", proxy.recording], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    messages = sorted((line["dir"], line["stream"], line["kind"]) for line in lines if line["framing"] != "http3")
    push, = [s for s in client.web if s & 3 == 3]
    both, = [s for s in client.web if s & 3 == 1]
    sound, = [s for s in requests if s & 2]
    first, second, third = [s for s in requests if not s & 2]
    wanted = [("c2s", first, "EventStreamRequest"), ("c2s", second, "BargeRequest"), ("c2s", third, "TerminateRequest"),
              ("c2s", sound, "AudioFrame"), ("c2s", sound, "AudioFrame"), ("s2c", push, "AudioFrame"),
              ("s2c", push, "AudioFrame"), ("s2c", both, "Empty")]
    assert messages == sorted(wanted), messages
    kinds = {(line["dir"], line["kind"], line.get("subject")) for line in lines if line["framing"] == "http3"}
    for dir in ("c2s", "s2c"):
        for kind in ("http3-control", "http3-settings", "qpack-encoder", "qpack-decoder"):
            assert (dir, kind, None) in kinds, kinds
        assert (dir, "webtransport", "session 0") in kinds, kinds
    assert ("c2s", "http3-headers", "CONNECT") in kinds and ("s2c", "http3-headers", None) in kinds, kinds
    return proxy.recording


async def protocols(folder, *keys):
    """A client without a common protocol is refused in a sentence that lists both sides."""
    server = await serve("127.0.0.1", 0, configuration=configuration(False, *keys), create_protocol=Peer)
    port = server._transport.get_extra_info("sockname")[1]
    proxy = Proxy(port, folder)
    try:
        try:
            async with asyncio.timeout(LIMIT):
                async with connect("127.0.0.1", proxy.port, configuration=configuration(True, alpn=["moq", "x"])):
                    raise AssertionError("connected")
        except ConnectionError:
            pass
    finally:
        server.close()
        said = proxy.end()
    assert "the client offers moq, x, and wiretool accepts h3" in said, said
    print("ok: no common protocol")


SCRIPT = """
[[on]]
match = 'subject=StreamEvents'
items = [{ value = { status = "RINGING" } }]
end = false

[[on]]
match = 'subject=Barge'
steps = [
  { message = { method = "Barge", struct = "Empty", length_mode = "inclusive", fields = {} } },
%s]
""" % "".join(
    "  { message = { method = 'AudioFrame', fields = { call_sid = 'CA0', payload = { '$bin' = '%s' }, codec = 'PCMU',"
    " sequence_number = %d, end_of_stream = %s } } },\n  { wait = '20ms' },\n"
    % ("00" * 160, number, str(number == 24).lower()) for number in range(25))


async def stub(folder):
    """The stub: answers on the streams of the requests; events and audio at real pace on one of its own."""
    path = os.path.join(folder, "script.toml")
    with open(path, "w") as file:
        file.write(SCRIPT)
    listener = Listener(folder, "stub", "telequick", "--script", path, "--listen", "quic://127.0.0.1:0", "--once")
    peers.clear()
    Peer.on_connection = None
    sound = b"".join(audio("CA0", number, number == 24) for number in range(25))
    async with asyncio.timeout(LIMIT):
        async with connect("127.0.0.1", listener.port, configuration=configuration(True),
                           create_protocol=Peer) as client:
            start = asyncio.get_running_loop().time()
            client.send(0, frame(EVENTS, text("cli")), True)
            client.send(4, barge("CA0"), True)
            await client.until(lambda: client.got.get(3, b"").endswith(sound) and ("fin", 4) in client.notes)
            passed = asyncio.get_running_loop().time() - start
            client._quic.close(error_code=5, reason_phrase="done")
            client.transmit()
    # The answer is inclusive, as its request.
    assert client.got[4] == frame(BARGE, b""), client.got[4]
    assert passed >= 24 * 0.02, passed
    said = listener.process.communicate(timeout=LIMIT)[1]
    assert listener.process.returncode == 0, said
    down = recorded(listener.lines(), "s2c")
    assert down == {(1, 4): client.got[4], (1, 3): client.got[3]}
    assert recorded(listener.lines(), "c2s") == {(1, 0): frame(EVENTS, text("cli")), (1, 4): barge("CA0")}
    print("ok: the stub answers, and pushes events and audio at real pace")


async def send_and_replay(folder, certificate, key):
    """send: a stream for each request, no answer to one of them; replay: the same streams."""
    recording = os.path.join(folder, "sent.jsonl")
    lines = "StreamEvents client_id=cli\nBarge call_sid=CA0\nTerminate call_sid=CA0\n"

    def answer(server, event):
        if event.stream_id == 4 and event.end_stream:
            # A bare envelope, as gateways answer.
            server.send(4, struct.pack("<BBi", 0, 0, 0), True)
            server.send(3, audio("CA0", 0, True))

    Peer.on_connection = answer
    server = await serve("127.0.0.1", 0, configuration=configuration(False, certificate, key), create_protocol=Peer)
    port = server._transport.get_extra_info("sockname")[1]
    common = ["--insecure", "--connect", f"quic://localhost:{port}"]

    async def run(*words, stdin=b""):
        peers.clear()
        process = await asyncio.create_subprocess_exec(
            BINARY, *words, *common, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = await asyncio.wait_for(process.communicate(stdin), LIMIT)
        assert process.returncode == 0, (out, err)
        (peer,) = peers
        assert peer.got == {0: frame(EVENTS, text("cli"), False), 4: frame(BARGE, text("CA0"), False),
                            8: frame(TERMINATE, text("CA0"), False)}, peer.got
        assert [note for note in peer.notes if note[0] == "fin"] == [("fin", 0), ("fin", 4), ("fin", 8)], peer.notes
        return out.decode(), err.decode()

    try:
        out, err = await run("send", "telequick", "--file", "-", "-f", "json", "--timeout", "1s", "-w", recording,
                             stdin=lines.encode())
        shown = [json.loads(line) for line in out.splitlines()]
        assert [(line["stream"], line["kind"]) for line in shown] == [(4, "Empty"), (3, "AudioFrame")], shown
        assert "1 request without an answer" in err, err
        out, err = await run("replay", recording, "--keep-ids", "--timeout", "2s")
        assert "3 sent, 2 answers compared, 0 differ" in err, err
    finally:
        server.close()
    print("ok: send and replay, a stream for each request")


NOISE = b"#noise#\n"
ACTIONS = ["delay 50ms", "drop", "dup", "corrupt .fields.call_sid", "truncate 7", "length +3", "close 7", "reset 7", "stall", "inject FILE"]
# Keys of every fault event.
USUAL = {"t", "conn", "stream", "event", "dir", "offset", "len", "kind", "id", "fault"}


def requests_of(data):
    """The call ids of the requests in a stream."""
    while data:
        size, method, payload, chars = struct.unpack_from("<II2xii", data)
        if (method, payload, chars) != (BARGE, size - 14, size - 18) or len(data) < size:
            raise ValueError
        yield data[18:size]
        data = data[size:]


async def fault(folder, action, *keys):
    """Three requests on three streams, and a fault on the second. Returns what the client receives, and what is recorded."""
    def answer(server, event):
        if event.end_stream:
            try:
                sids = list(requests_of(server.got.get(event.stream_id, b"")))
            except (ValueError, struct.error):
                server._quic.reset_stream(event.stream_id, 400)
                return server.transmit()
            server.send(event.stream_id, b"".join(frame(BARGE, text(sid)) for sid in sids), True)

    how = []

    async def script(client):
        client.send(0, barge("call-1"), True)
        await client.until(lambda: ("fin", 0) in client.notes)
        client.send(4, barge("call-2"), True)
        # A close is as fast as an answer.
        if not action.startswith("close"):
            client.send(8, barge("call-3"), True)
        if action.startswith("close"):
            await asyncio.wait_for(client.ended.wait(), LIMIT)
            how.append(f"close {client.closed_with[0]}")
        else:
            await client.until(lambda: ("fin", 8) in client.notes)
        if action.startswith("reset"):
            server = sides()[1][0]
            code = int(action.split()[1])
            await client.until(lambda: ("stop", 4, code) in client.notes and ("reset", 4, code) in server.notes)
            how.append(f"stop {code}")
        elif action == "stall":
            assert not any(note[1] == 4 for note in client.notes), client.notes
            how.append("silence")
        elif not action.startswith("close"):
            await client.until(lambda: any(note[1] == 4 for note in client.notes))
            how.extend(f"reset {note[2]}" for note in client.notes if note[0] == "reset")

    Peer.on_connection = answer

    async def check(proxy):
        pass

    noise = os.path.join(folder, "noise")
    with open(noise, "wb") as file:
        file.write(NOISE)
    flags = ["--seed", "1", "--fault", f"role=request dir=c2s nth 2: {action.replace('FILE', noise)}"]
    proxy, _ = await case(folder, *keys, f"fault: {action}", script, check, flags)
    client, = sides()[0]
    answers = [sid for stream in (0, 4, 8) for sid in requests_of(client.got.get(stream, b""))]
    answers = [f"{sid[-1:].decode()}" if sid in (b"call-1", b"call-2", b"call-3") else "2!" for sid in answers]
    # Bytes are recorded as they were received.
    count = 2 if action.startswith("close") else 3
    assert recorded(proxy.lines(), "c2s") == {(1, 4 * n): barge(f"call-{n + 1}") for n in range(count)}
    lines = [line for line in proxy.lines() if "event" in line]
    injected, = [line for line in lines if line["event"] == "inject" and "conn" in line]
    assert injected["stream"] == 4, injected
    ends = [f"{line['event']} by wiretool" for line in lines if line.get("by") == "wiretool"]
    if ends:
        end, = [line for line in lines if line.get("by") == "wiretool"]
        assert end["code"] == int(action.split()[1]), end
    return ", ".join([" ".join(answers), *how]), " ".join([*sorted(set(injected) - USUAL), *ends])


async def faults(folder, *keys):
    """Every fault, as the topic says."""
    topic = open(os.path.join(os.path.dirname(__file__), "../../src/cli/topics/faults.md"), encoding="utf-8").read()
    rows = topic.split("the client receives    recorded\n")[1].split("```")[0].splitlines()
    rows = [(row[:14].strip(), row[14:37].strip(), row[37:].strip()) for row in rows]
    seen = [(action.split(" .")[0], *await fault(folder, action, *keys)) for action in ACTIONS]
    assert seen == rows, seen


def decode(recording):
    done = subprocess.run([BINARY, "decode", "-f", "json", recording], capture_output=True, text=True, timeout=LIMIT)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [(line.get("stream"), line["dir"], line.get("kind")) for line in lines]
    assert all(line["protocol"] == "telequick" for line in lines if line.get("kind")), kinds
    assert sum(line.get("subject") == "Barge" and line["dir"] == "c2s" for line in lines) >= 11, kinds
    assert sum(line["stream"] == 2 for line in lines if "stream" in line) == 50, kinds
    print("ok: the recording decodes, stream by stream")


async def main():
    with tempfile.TemporaryDirectory() as folder:
        keys = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
        issued = trustme.CA().issue_cert("localhost")
        issued.private_key_pem.write_to_path(keys[1])
        issued.cert_chain_pems[0].write_to_path(keys[0])
        recordings = os.path.join(folder, "recordings")
        os.mkdir(recordings)
        decode(await calls(recordings, *keys))
        Peer.on_connection = None
        await early_close(recordings, *keys)
        await several(recordings, *keys)
        await many(recordings, *keys)
        await server_closes(recordings, *keys)
        Peer.on_connection = None
        await protocols(recordings, *keys)
        await faults(recordings, *keys)
        await web(recordings, *keys)
        await stub(recordings)
        await send_and_replay(recordings, *keys)


asyncio.run(main())

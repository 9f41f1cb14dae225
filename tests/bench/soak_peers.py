"""The peers and programs of soak.py: messages and connections, the server behind proxies, running wiretools, recordings."""

import asyncio
import base64
import collections
import contextlib
import glob
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import ssl
import struct
import subprocess
import time
import zlib

STEP_TIMEOUT = 120
CALLS = itertools.count(1)
TEXT = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyzABCDEF0123456789 é€", k=1 << 20))


class Failure(Exception):
    """wiretool did not do what it promises."""


def check(condition, text):
    if not condition:
        raise Failure(text)


def request(number, text, do="answer"):
    params = {"do": do, "text": text}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "get", "params": params}, ensure_ascii=False).encode()


def answer(number, text):
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": text}, separators=(",", ":"), ensure_ascii=False).encode()


def some_text(rng, most=200_000):
    size = int(10 * (most / 10) ** rng.random())
    at = rng.randrange(len(TEXT) - size)
    return TEXT[at : at + size]


def mask(data, key=b"\x12\x34\x56\x78"):
    long = (key * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(long, "big")).to_bytes(len(data), "big")


def frame(form, body, by_client):
    """Returns the bytes of one message; an empty body ends a WebSocket session."""
    if form == "lines":
        return body + b"\n"
    if form == "http":
        head = "POST / HTTP/1.1\r\nhost: localhost" if by_client else "HTTP/1.1 200 OK"
        return f"{head}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    first, body = (0x81, body) if body else (0x88, b"\x03\xe8")
    masked = 128 if by_client else 0
    size = len(body)
    if size < 126:
        head = bytes([first, masked | size])
    else:
        head = struct.pack(">BBH", first, masked | 126, size) if size < 1 << 16 else struct.pack(">BBQ", first, masked | 127, size)
    return head + (b"\x12\x34\x56\x78" + mask(body) if by_client else body)


def split(form, data):
    """Returns the first message of `data` as the length of its frame and its body, or `None` if it is not complete."""
    if form == "lines":
        end = data.find(b"\n")
        return None if end < 0 else (end + 1, bytes(data[:end]))
    if form == "http":
        end = data.find(b"\r\n\r\n") + 4
        size = int(re.search(rb"content-length: (\d+)", data[:end], re.I)[1]) if end > 3 else 0
        return None if end < 4 or len(data) < end + size else (end + size, bytes(data[end : end + size]))
    if len(data) < 2:
        return None
    size, at = data[1] & 127, 2
    if size > 125:
        at = 4 if size == 126 else 10
        size = int.from_bytes(data[2:at], "big")
    key_size = 4 if data[1] & 128 else 0
    end = at + key_size + size
    if len(data) < end or len(data) < at:
        return None
    body = bytes(data[at + key_size : end])
    body = mask(body, bytes(data[at : at + 4])) if key_size else body
    return end, b"" if data[0] & 15 == 8 else body


class Connection:
    """One side of a connection, which counts its bytes."""

    def __init__(self, reader, writer, form, by_client):
        self.reader, self.writer, self.form, self.by_client = reader, writer, form, by_client
        self.buffer = bytearray()
        self.sent = self.got = (0, 0)  # the number of bytes and their CRC

    def streams(self):
        """The connection as `Recorded.connections` has it."""
        return frozenset((None, way, *counted) for way, counted in (("c2s", self.sent), ("s2c", self.got)) if counted[0])

    async def write(self, data):
        self.sent = (self.sent[0] + len(data), zlib.crc32(data, self.sent[1]))
        self.writer.write(data)
        await self.writer.drain()

    async def send(self, body):
        await self.write(frame(self.form, body, self.by_client))

    async def more(self):
        data = await self.reader.read(1 << 16)
        self.got = (self.got[0] + len(data), zlib.crc32(data, self.got[1]))
        self.buffer += data
        return data

    async def read(self):
        """Returns the frame and the body of the next message, or `None` at the end."""
        while not (found := split(self.form, self.buffer)):
            if not await self.more():
                return None
        raw = bytes(self.buffer[: found[0]])
        del self.buffer[: found[0]]
        return raw, found[1]

    async def read_all(self):
        while await self.more():
            pass
        return bytes(self.buffer)

    async def open_websocket(self):
        """Sends or answers the handshake."""
        if self.by_client:
            head = "GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
            await self.write((head + "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            if not await self.more():
                return False
        if not self.by_client:
            key = re.search(rb"sec-websocket-key: (\S+)", self.buffer, re.I)[1]
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            head = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: "
            await self.write(head + accept + b"\r\n\r\n")
        del self.buffer[: self.buffer.index(b"\r\n\r\n") + 4]
        return True

    def reset(self):
        sock = self.writer.get_extra_info("socket")
        if sock is not None and sock.family != socket.AF_UNIX and not self.writer.is_closing():
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def close(self):
        self.writer.close()
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            await asyncio.wait_for(self.writer.wait_closed(), 5)


async def serve(reader, writer, form):
    """The server behind proxies: answers with the text of the request, or fails as the request says."""
    connection = Connection(reader, writer, form, False)
    with contextlib.suppress(OSError, ssl.SSLError, ValueError):
        if form == "ws" and not await connection.open_websocket():
            return await connection.close()
        while message := await connection.read():
            if not message[1]:
                await connection.send(b"")
                break
            call = json.loads(message[1])
            text, do = call["params"]["text"], call["params"]["do"]
            data = frame(form, answer(call["id"], text), False)
            await connection.write(data if do == "answer" else data[: len(data) // 2])
            if do == "reset":
                return connection.reset()
            if do == "stall":
                await asyncio.wait_for(connection.read_all(), 30)
            if do != "answer":
                break
    await connection.close()


class Program:
    """A running wiretool."""

    @classmethod
    async def start(cls, soak, name, *arguments, env=None, limits=(), pipes=False):
        self = cls()
        self.soak, self.name, self.samples, self.whole, self.connections, self.bytes = soak, name, [], collections.Counter(), 0, 0
        self.stderr = soak.path(f"{name}.err")

        def limit():
            for kind, most in limits:
                resource.setrlimit(kind, (most, most))

        pipe = subprocess.PIPE if pipes else subprocess.DEVNULL
        with open(self.stderr, "wb") as stderr:
            self.process = await asyncio.create_subprocess_exec(
                soak.binary, *arguments, stdin=pipe, stdout=pipe, stderr=stderr, env={**os.environ, **(env or {})},
                preexec_fn=limit, limit=1 << 22)
        soak.running.append(self)
        self.address = None
        for _ in range(0 if pipes else 1000):
            if found := re.search(r"listening on ([^,\s]+)", self.errors()):
                self.address = found[1]
                break
            check(self.process.returncode is None, f"{name} does not start: {self.errors()}")
            await asyncio.sleep(0.01)
        check(pipes or self.address, f"{name} does not listen")
        return self

    def errors(self):
        return self.stderr.read_text(errors="replace")

    async def end(self, number=signal.SIGTERM, codes=(143,)):
        """Ends the program, and checks its exit code."""
        if number and self.process.returncode is None:
            self.process.send_signal(number)
        try:
            code = await asyncio.wait_for(self.process.wait(), 15)
        except asyncio.TimeoutError:
            self.process.kill()
            raise Failure(f"{self.name}: still runs 15 s after signal {number}") from None
        finally:
            self.soak.running.remove(self)
        check("panicked" not in self.errors(), f"{self.name} panicked: {self.errors()[-2000:]}")
        check(code in codes, f"{self.name}: exit code {code}, not {codes}: {self.errors()[-300:]}")

    def sample(self):
        with contextlib.suppress(OSError):
            place = pathlib.Path(f"/proc/{self.process.pid}")
            rss = int(re.search(r"VmRSS:\s+(\d+)", (place / "status").read_text())[1]) * 1024
            self.samples.append((time.monotonic(), rss, len(os.listdir(place / "fd"))))


class Target:
    """What clients connect to. `is_raw`: the frames of the answers are known, not only their bodies."""

    def __init__(self, program, scheme, form, is_raw):
        self.program, self.scheme, self.form, self.is_raw = program, scheme, form, is_raw
        self.address, self.lock = program.address, asyncio.Lock()

    async def connect(self, soak):
        if self.scheme == "unix":
            streams = await asyncio.open_unix_connection(self.address.removeprefix("unix:"))
        else:
            host, port = self.address.split("//")[1].split(":")
            streams = await asyncio.open_connection(host, port, ssl=soak.client_tls if self.is_tls() else None)
        connection = Connection(*streams, self.form, True)
        if self.form == "ws":
            check(await connection.open_websocket(), "closed in the handshake")
        return connection

    def is_tls(self):
        return self.scheme in ("tls", "wss", "https")

    async def ask(self, connection, number, text):
        await connection.send(request(number, text))
        self.compare(await connection.read(), number, text)

    def compare(self, message, number, text):
        wanted = answer(number, text)
        check(message is not None, f"no answer to {number}")
        same = message[0] == frame(self.form, wanted, False) if self.is_raw else message[1] == wanted
        check(same, f"another answer to {number}: {message[0][:100]} … of {len(message[0])} bytes, {len(wanted)} wanted")


def part(path):
    """Returns the place of a file in its recording: the clock can step back between the times in two names."""
    with open(path) as file, contextlib.suppress(ValueError):
        return json.loads(file.readline()).get("part", 0)
    return 0


class Recorded:
    """The bytes of a recording, by connection and direction."""

    def __init__(self, paths):
        self.data, self.lost, self.faults, self.has_end = collections.defaultdict(bytearray), 0, [], False
        for path in sorted(paths, key=part):
            for line in pathlib.Path(path).read_bytes().split(b"\n"):
                try:
                    line = json.loads(line)
                except ValueError:
                    continue  # the last line after a kill
                if "event" in line:
                    self.lost += line.get("len", 0) if line["event"] == "lost" else 0
                    self.faults += [line] if line["event"] == "inject" and "conn" in line else []
                    self.has_end = line["event"] == "end"
                elif line.get("dir") in ("c2s", "s2c"):
                    data = base64.b64decode(line["b64"]) if "b64" in line else line["text"].encode()
                    self.data[line["conn"], line.get("stream"), line["dir"]] += data

    def connections(self):
        """Counts equal connections: each is the set of its streams with direction, length and CRC."""
        sets = collections.defaultdict(set)
        for (conn, stream, way), data in self.data.items():
            sets[conn].add((stream, way, len(data), zlib.crc32(data)))
        return collections.Counter(map(frozenset, sets.values()))

    def total(self, way):
        return sum(len(data) for key, data in self.data.items() if key[2] == way)


SESSIONS = {"whole": 6, "pipelined": 3, "half-closed": 2, "vanish": 2, "leave": 1, "idle": 1, "stall": 1, "close": 2, "reset": 2}


async def session(step, target, rng, kind=None):
    """One connection of a client."""
    if target.scheme == "quic":
        return await quic_session(step, target, rng)
    if target.scheme == "stdio":
        async with target.lock:
            before = target.connection.sent[0] + target.connection.got[0]
            for number in range(5):
                await target.ask(target.connection, number, some_text(rng))
            return step.count(target.program, target.connection.sent[0] + target.connection.got[0] - before, 0)
    kind = kind or rng.choices(list(SESSIONS), SESSIONS.values())[0]
    client = await target.connect(step.soak)
    try:
        if kind in ("whole", "pipelined", "half-closed"):
            await whole_session(target, client, rng, kind)
            target.program.whole[client.streams()] += 1
        elif kind in ("stall", "close", "reset"):
            await failing_session(target, client, rng, kind)
        elif kind == "vanish":
            await client.send(request(0, some_text(rng)))
            if rng.random() < 0.5:
                await client.more()
            client.reset()
        elif kind == "leave":
            data = frame(target.form, request(0, some_text(rng)), True)
            await client.write(data[: rng.randrange(len(data))])
    finally:
        step.count(target.program, client.sent[0], client.got[0])
        await client.close()


async def whole_session(target, client, rng, kind):
    texts = list(enumerate(some_text(rng) for _ in range(rng.randint(1, 5))))
    can_half_close = client.writer.can_write_eof()
    kind = kind if can_half_close or kind == "whole" else "pipelined"

    async def write():
        for number, text in texts:
            await client.send(request(number, text))
        if kind == "half-closed":
            client.writer.write_eof()

    async def read():
        for number, text in texts:
            target.compare(await client.read(), number, text)

    if kind == "whole":
        for number, text in texts:
            await target.ask(client, number, text)
    else:
        await asyncio.gather(write(), read())
    if kind != "half-closed" and target.form == "ws":
        await client.send(b"")
    if kind != "half-closed" and can_half_close:
        client.writer.write_eof()
    if can_half_close or target.form == "ws":
        rest = await client.read_all()
        check(target.form == "ws" or not rest, f"{len(rest)} bytes after the last answer")


async def failing_session(target, client, rng, kind):
    text = some_text(rng)
    await client.send(request(0, text, kind))
    with contextlib.suppress(OSError):
        async with asyncio.timeout(rng.uniform(0.2, 2) if kind == "stall" else STEP_TIMEOUT / 2):
            await client.read_all()
    check(kind == "stall" or client.reader.at_eof() or client.reader.exception(), "the end of the server does not arrive")
    if target.is_raw:
        wanted, got = frame(target.form, answer(0, text), False), bytes(client.buffer)
        half = wanted[: len(wanted) // 2]
        check(got == half if kind == "close" else half.startswith(got), f"{kind}: {len(got)} bytes, {len(half)} wanted")
    if rng.random() < 0.5:
        client.reset()


async def quic_session(step, target, rng):
    """`wiretool send` sends some messages, or is killed."""
    name = f"call-{next(CALLS)}"
    names = [rng.randbytes(rng.choice([2, 20, 2000])).hex() for _ in range(rng.randint(1, 4))]
    step.soak.path(f"{name}.txt").write_text("".join(f"Terminate call_sid={word}\n" for word in names))
    recording = step.soak.path(f"{name}.jsonl")
    words = ["send", "telequick", "--file", str(step.soak.path(f"{name}.txt")), "--connect", target.address, "--cacert", target.pem]
    if rng.random() < 0.2:
        sender = await Program.start(step.soak, name, *words, "--linger", "9s", pipes=True)
        await asyncio.sleep(rng.random() * 0.3)
        await sender.end(signal.SIGKILL, (-9,))
        step.count(target.program, 0, 0)
    else:
        out, _ = await step.soak.run(*words, "-f", "json", "-w", recording)
        got = [json.loads(line)["message"]["fields"]["call_sid"] for line in out.splitlines()]
        check(sorted(got) == sorted(names), f"{len(got)} answers, {len(names)} wanted, or others")
        recorded = Recorded([recording])
        target.program.whole.update(recorded.connections())
        step.count(target.program, recorded.total("c2s"), recorded.total("s2c"))
    for path in glob.glob(str(step.soak.path(f"{name}.*"))):
        os.remove(path)


def check_recorded(target, recorded):
    """Every session that was whole is in the recording."""
    if recorded.lost:
        print(f"note: {target.program.name}: {recorded.lost} bytes are lost, and reported", flush=True)
        return check(target.program.process.returncode == 2, f"{recorded.lost} bytes are lost, but the exit code is not 2")
    if target.scheme == "stdio":
        return check(recorded.connections() == {target.connection.streams(): 1}, "the recording has other bytes than the client")
    missing = target.program.whole - recorded.connections()
    check(not missing, f"{missing.total()} of {target.program.whole.total()} connections are not as recorded: {list(missing)[:2]}")

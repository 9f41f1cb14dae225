"""saikuro through `wiretool proxy`: a client and a provider at a runtime that relays, over tcp and over WebSocket.

Ids are 16 bytes in most peers and text in Python's; the runtime answers with bytes, whatever came.
"""

import random
import struct
import uuid

import msgpack
from proxy_tools import Peer, Proxy, check, connect_to, check_recording, listen, check_redaction, check_same_bytes
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection
from websockets.server import ServerProtocol

CALLS = 200
CAPABILITY = "kap-7f3a1c-granted"
rng = random.Random(1)
# The runtime is another program.
other = random.Random(5)


def new_call_id(source=rng):
    return uuid.UUID(bytes=source.randbytes(16), version=4)


class Framed:
    """MessagePack with a length prefix."""

    def __init__(self, sock):
        self.sock = sock

    def send(self, message):
        body = msgpack.packb(message)
        self.sock.sendall(struct.pack(">I", len(body)) + body)

    def recv(self):
        head = self.sock.read_exactly(4)
        return msgpack.unpackb(self.sock.read_exactly(struct.unpack(">I", head)[0])) if head else None

    def end(self):
        self.sock.shutdown(1)
        check("nothing more", self.sock.read_exactly(1), b"")
        self.sock.close()


class Messages:
    """MessagePack in a WebSocket message."""

    def __init__(self, ws, sock):
        self.ws, self.sock = ws, sock

    def send(self, message):
        self.ws.send(msgpack.packb(message))

    def recv(self):
        try:
            return msgpack.unpackb(self.ws.recv(timeout=30))
        except Exception as error:
            if type(error).__name__ != "ConnectionClosedOK":
                raise
            return None

    def end(self):
        self.ws.close()


def client_over(ws, port):
    sock = connect_to(port)
    # The client of the real peers offers compression; the runtime accepts none.
    return Messages(connect("ws://saikuro.invalid/", sock=sock), sock) if ws else Framed(sock)


def server_over(ws, sock):
    if not ws:
        return Framed(sock)
    connection = ServerConnection(sock, ServerProtocol(), close_timeout=10)
    connection.handshake()
    return Messages(connection, sock)


def envelope(kind, ident, target, args, **more):
    return {"version": 1, "type": kind, "id": ident, "target": target, "args": args, **more}


def answer(stream, what):
    """Sends a call and waits for the answer, whose id is bytes."""
    stream.send(what)
    got = stream.recv()
    wanted = what["id"] if isinstance(what["id"], bytes) else uuid.UUID(what["id"]).bytes
    check("id", got["id"], wanted)
    return got


def joined(ws, listener, streams):
    """Accepts a provider."""
    provider = server_over(ws, listener.accept()[0])
    streams.append(provider.sock)
    announce = provider.recv()
    check("announce", (announce["type"], announce["target"]), ("announce", "$saikuro.announce"))
    ident = announce["id"]
    provider.send({"id": ident if isinstance(ident, bytes) else uuid.UUID(ident).bytes, "ok": True})
    return provider


def runtime(ws, listener, streams, changed=False, provider=None):
    """Accepts a provider, then a client; forwards each call with its own id."""
    provider = provider or joined(ws, listener, streams)
    client = server_over(ws, listener.accept()[0])
    streams.append(client.sock)
    while (call := client.recv()) is not None:
        ident = call["id"] if isinstance(call["id"], bytes) else uuid.UUID(call["id"]).bytes
        if call["type"] == "cast":
            provider.send({**call, "id": new_call_id(other).bytes})
            client.send({"id": ident, "ok": True})
            continue
        got = answer(provider, {**call, "id": new_call_id(other).bytes})
        if changed and call["args"] == [40, 1]:
            got["result"] += 1
        client.send({**got, "id": ident})
    client.end()
    check("the provider leaves", provider.recv(), None)
    provider.end()


def provider(stream):
    function = {"returns": {"kind": "primitive", "type": "any"}, "visibility": "public", "capabilities": [], "idempotent": True}
    args = lambda *types: [{"name": "a", "type": {"kind": "primitive", "type": name}} for name in types]
    takes = {"add": args("i64", "i64"), "fail": args("i64"), "note": args("i64"), "echo": args("bytes")}
    functions = {name: {"args": types, **function} for name, types in takes.items()}
    schema = {"version": 1, "namespaces": {"math": {"functions": functions}}, "types": {}}
    ack = answer(stream, envelope("announce", str(new_call_id()), "$saikuro.announce", [schema]))
    check("ack", ack["ok"], True)
    return stream


def provide(stream, times):
    for _ in range(times):
        call = stream.recv()
        if call["type"] == "cast":
            continue
        if call["target"] == "math.fail":
            stream.send({"id": call["id"], "ok": False, "error": {"code": "InvalidArguments", "message": "no"}})
        elif call["target"] == "math.echo":
            stream.send({"id": call["id"], "ok": True, "result": call["args"]})
        else:
            stream.send({"id": call["id"], "ok": True, "result": sum(call["args"])})
    stream.end()


def talk(ws, port):
    """Sends all requests of a client, with a provider that answers them."""
    offers = provider(client_over(ws, port))
    beside = Peer(provide, offers, CALLS + 10)
    client = client_over(ws, port)
    for n in range(CALLS):
        ident = new_call_id()
        # Every second id has the form of Python's client.
        ident = ident.bytes if n % 2 else str(ident)
        if n % 10 == 9:
            got = answer(client, envelope("call", ident, "math.fail", [n]))
            check("fail", got["error"]["code"], "InvalidArguments")
        elif n % 10 == 8:
            data = rng.randbytes(rng.choice([0, 1, 100, 70_000])) + b"\xff"
            check("echo", answer(client, envelope("call", ident, "math.echo", [data]))["result"], [data])
        else:
            call = envelope("call", ident, "math.add", [n, 1], capability=CAPABILITY)
            check("add", answer(client, call)["result"], n + 1)
    for n in range(10):
        check("cast", answer(client, envelope("cast", new_call_id().bytes, "math.note", [n]))["ok"], True)
    client.end()
    beside.result()
    return offers, client


def run(ws):
    listener, port = listen()
    servers = []
    with Proxy("saikuro", port) as proxy:
        relay = Peer(runtime, ws, listener, servers)
        offers, client = talk(ws, proxy.port)
        relay.result()
        shown = proxy.end()
    size = check_same_bytes(proxy.recording, [offers.sock, client.sock], servers)
    # Each call is made twice: to the runtime, and by it.
    counts = {"call math.add": 320, "call math.echo": 40, "call math.fail": 40}
    # Python's client does not match an answer whose id has another form than its request.
    lines = check_recording(proxy.recording, counts, shown, ["saikuro/answer-id-form"])
    secrets = check_redaction(proxy.recording, [CAPABILITY.encode()])
    over = "WebSocket" if ws else "tcp"
    print(f"saikuro over {over}: {CALLS} calls relayed, {len(lines)} messages, {size} bytes the same at both ends; redacted, {secrets} secret gone")


if __name__ == "__main__":
    run(False)
    run(True)

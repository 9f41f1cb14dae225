"""telequick through `wiretool proxy`: two peers on sockets, in both length modes.

Real requests count the whole frame in their length, real pushes of events and audio what follows the length; the
document knows the latter alone. A socket has no ids: the method pairs answers with requests, in order.
"""

import random
import struct

from proxy_tools import Peer, Proxy, check, connect_to, check_recording, listen, check_redaction, check_same_bytes

CALLS = 200
TOKEN = b"mt_9f8e7d6c5b4a"
ORIGINATE, TERMINATE, EVENTS, AUDIO, BARGE, ALLOCATE = 1430677891, 3834253405, 959835745, 2991054320, 3854301714, 1763028449
rng = random.Random(3)


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<i", len(data)) + data


def envelope(*fields, version=0):
    body = b"".join(fields)
    return struct.pack("<BBi", version, 0, len(body)) + body


def frame(method, body, inclusive):
    return struct.pack("<II", len(body) + (8 if inclusive else 4), method) + body


def int32(n):
    return struct.pack("<i", n)


def originate(sid, n):
    strings = [text(s) for s in ("trunk-1", "+4912345", "+4954321", "wss://ai.invalid/", "", "tenant")]
    after = [int32(60_000), text(sid), int32(1), text(""), b"\x01", int32(250), text("client"), struct.pack("<I", n), text(""), text("")]
    return envelope(*strings, *after, version=1)


def originated(sid, status="QUEUED"):
    return envelope(text(sid), text(status), text(""), int32(0), struct.pack("<q", 1795240000000))


def event(sid, kind):
    numbers = struct.pack("<III", 10, 9, 0) + struct.pack("<Q", 1600) + struct.pack("<dd", 1.5, 4.25)
    times = struct.pack("<q", 1795240000000)
    middle = [int32(0), text(""), int32(0), times, struct.pack("<q", 0), numbers]
    return envelope(text(sid), int32(kind), text("INITIATED"), times, *middle, text("trunk-1"), text("tenant"), text("PCMU"), times, text("client"))


def allocated():
    return envelope(text("wt.invalid"), struct.pack("<H", 4433), text("node"), text(TOKEN), text("OK"), text(""), int32(0), struct.pack("<q", 1))


def audio(sid, media, sequence, last):
    return envelope(text(sid), text(media), text("PCMU"), struct.pack("<Q", sequence), b"\x01" if last else b"\x00")


def receive(sock, inclusive):
    head = sock.read_exactly(4)
    if not head:
        return None, b""
    rest = sock.read_exactly(struct.unpack("<I", head)[0] - (4 if inclusive else 0))
    return struct.unpack_from("<I", rest)[0], rest[4:]


def first(body):
    """Returns the first field, if it is text."""
    size = struct.unpack_from("<i", body, 6)[0]
    return body[10 : 10 + size].decode()


def serve(listener, inclusive, media, streams, changed=False):
    sock, _ = listener.accept()
    streams.append(sock)
    push = lambda method, body: sock.sendall(frame(method, body, False))
    calls = 0
    while True:
        method, body = receive(sock, inclusive)
        if method is None:
            break
        if method == ORIGINATE:
            sid = f"call-{calls}"
            calls += 1
            # An answer in two writes, and the next one in one.
            whole = frame(ORIGINATE, originated(sid), False)
            sock.sendall(whole[:7])
            sock.sendall(whole[7:] + frame(EVENTS, event(sid, 1), False))
            if calls % 20 == 0:
                for n in range(5):
                    push(AUDIO, audio(sid, media[n], n, n == 4))
        elif method == TERMINATE:
            sid = first(body)
            push(TERMINATE, originated(sid, "FAILED" if changed and sid == "call-13" else "QUEUED"))
        elif method == BARGE:
            push(BARGE, envelope())
        elif method == ALLOCATE:
            push(ALLOCATE, allocated())
    sock.shutdown(1)
    sock.close()


def talk(port, inclusive, media):
    """Sends all requests of a client."""
    sock = connect_to(port)
    say = lambda method, body: sock.sendall(frame(method, body, inclusive))

    def hear(method):
        got, body = receive(sock, False)
        check("method", got, method)
        return body

    say(EVENTS, envelope(text("client")))
    say(ALLOCATE, envelope(*[text(s) for s in ("", "agent", "tenant", "trunk-1", "realm")]))
    check("a token", TOKEN in hear(ALLOCATE), True)
    sids = []
    for n in range(CALLS // 2):
        say(ORIGINATE, originate("", n))
        sids.append(first(hear(ORIGINATE)))
        check("event", first(hear(EVENTS)), sids[-1])
        if n % 20 == 19:
            for at in range(5):
                check("audio", media[at] in hear(AUDIO), True)
    # Several concurrent calls.
    for some in range(0, CALLS // 4, 10):
        for sid in sids[some : some + 10]:
            say(TERMINATE, envelope(text(sid)))
        for sid in sids[some : some + 10]:
            check("terminated", first(hear(TERMINATE)), sid)
    for sid in sids[CALLS // 4 :]:
        say(BARGE, envelope(text(sid)))
        hear(BARGE)
    sock.shutdown(1)
    check("nothing more", receive(sock, False), (None, b""))
    sock.close()
    return sock


def run(inclusive):
    listener, port = listen()
    servers = []
    media = [rng.randbytes(160) for _ in range(5)]
    with Proxy("telequick", port) as proxy:
        server = Peer(serve, listener, inclusive, media, servers)
        sock = talk(proxy.port, inclusive, media)
        server.result()
        shown = proxy.end()
    size = check_same_bytes(proxy.recording, [sock], servers)
    counts = {"OriginateRequest Originate": CALLS // 2, "TerminateRequest Terminate": CALLS // 4, "BargeRequest Barge": CALLS // 4, "AllocateWtRequest AllocateWt": 1}
    lines = check_recording(proxy.recording, counts, shown)
    modes = lambda direction: {line["message"]["length_mode"] for line in lines if line["dir"] == direction}
    check("flavours", (modes("c2s"), modes("s2c")), ({"inclusive" if inclusive else "exclusive"}, {"exclusive"}))
    secrets = check_redaction(proxy.recording, [TOKEN, *media], "--field", "payload")
    flavour = "the whole frame counted in requests" if inclusive else "the document's lengths"
    print(f"telequick, {flavour}: {CALLS} calls, {len(lines)} messages, {size} bytes the same at both ends; redacted, {secrets} secrets gone")


if __name__ == "__main__":
    run(False)
    run(True)

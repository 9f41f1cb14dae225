"""sael through `wiretool proxy`: a client and a server over WebSocket, with messages of the real ones.

The client masks, spells as Python does and breaks long messages up; the server spells as Go does and answers out of
order. Once as bare messages, and once compressed with a window that lasts, as other servers take it.
"""

import base64
import hashlib
import hmac
import json
import random
import sys
import time

from proxy_tools import Peer, Proxy, check, connect_to, check_recording, listen, check_redaction, check_refusal, check_same_bytes
from websockets.exceptions import ConnectionClosedOK
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.server import ServerProtocol
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection

CALLS = 200
AT_ONCE = 16
TOPIC = "news"
SUBJECT = "agent-zx81q"
rng = random.Random(2)
# The server is another program.
other = random.Random(6)


def token():
    now = int(time.time())
    claims = {"iss": "sael", "sub": SUBJECT, "iat": now - 1, "exp": now + 3600, "client_id": SUBJECT, "scope": ["echo:use"]}
    text = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    payload = text(json.dumps(claims, separators=(",", ":")).encode())
    signature = hmac.new(b"not the key", f"v1.{payload}".encode(), hashlib.sha256).digest()
    return f"qct.v1.{payload}.{text(signature)}"


def serve(listener, deflate, streams, changed=False):
    sock, _ = listener.accept()
    streams.append(sock)
    extensions = [ServerPerMessageDeflateFactory()] if deflate else []
    ws = ServerConnection(sock, ServerProtocol(extensions=extensions), close_timeout=10)
    ws.handshake()

    def say(kind, **members):
        # Go sorts the keys of a map, and escapes these characters.
        text = json.dumps({"v": 1, "kind": kind, **members}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        ws.send(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))

    waiting = []

    def invoked(call):
        seq, tool, n = call["seq"], call["tool"], call["input"]["n"]
        if tool == "count":
            for at in range(n % 4):
                say("STR", seq=seq, data=at)
            say("END", seq=seq, cost={"compute_ms": 3})
        elif n % 10 == 7:
            say("ERR", seq=seq, code="INVALID_INPUT", message="<refused>")
        else:
            text = call["input"]["text"]
            if changed and n == 13:
                text = text.upper()
            say("RES", seq=seq, output={"n": n, "text": text}, trace_id=call["trace_id"], cost={"compute_ms": 1, "tokens": n})

    try:
        while True:
            call = json.loads(ws.recv(timeout=30))
            kind = call["kind"]
            if kind == "HEY":
                members = {"id": "srv", "name": "peer", "version": "1.0"}
                say("HEY", server=members, supports=["streaming"], tools=2, topics=1, session_id="ses_AbCdEf0123456789", session_ttl=3600, granted_capabilities=["echo:use"])
            elif kind == "LST":
                tools = [{"name": "echo", "description": "", "streaming": False, "requires_capability": ["echo:use"]}, {"name": "count", "description": "", "streaming": True}]
                say("LST", seq=call["seq"], tools=tools)
            elif kind == "INV":
                waiting.append(call)
                if len(waiting) == AT_ONCE // 2:
                    other.shuffle(waiting)
                    while waiting:
                        invoked(waiting.pop())
            elif kind == "SUB":
                say("RES", seq=call["seq"], subscriptionId=call["seq"])
                for n in range(5):
                    say("EVT", seq=call["seq"], data={"n": n})
            elif kind == "HBT":
                say("HBA", ts=call["ts"])
            elif kind == "BYE":
                ws.close()
    except ConnectionClosedOK:
        return


def talk(port, deflate, secret):
    """Sends all requests of a client."""
    sock = connect_to(port)
    ws = connect("ws://sael.invalid/sael/ws", sock=sock, compression="deflate" if deflate else None)
    check("compression", [e.name for e in ws.protocol.extensions], ["permessage-deflate"] if deflate else [])

    def say(kind, **members):
        text = json.dumps({"v": 1, "kind": kind, **members})
        third = len(text) // 3
        ws.send([text[:third], text[third : 2 * third], text[2 * third :]] if len(text) > 3000 else text)

    def hear():
        return json.loads(ws.recv(timeout=30))

    say("HEY", agent={"id": SUBJECT, "kind": "llm", "name": "peer"}, supports=["streaming"], auth={"type": "bearer", "token": secret}, capabilities=["echo:use"])
    check("HEY", hear()["session_id"][:4], "ses_")
    say("LST", seq=1)
    check("LST", [tool["name"] for tool in hear()["tools"]], ["echo", "count"])
    say("SUB", seq=2, topic=TOPIC)
    check("SUB", hear()["subscriptionId"], 2)
    check("EVT", [hear()["data"]["n"] for _ in range(5)], list(range(5)))
    say("UNS", seq=2)
    asked, left = {}, list(range(CALLS))
    while asked or left:
        while left and len(asked) < AT_ONCE:
            n = left.pop(0)
            text = "größe €<&> " * rng.choice([1, 20, 2000])
            asked[n + 3] = (n, text, [])
            trace = f"{rng.getrandbits(128) | 1:032x}"
            say("INV", seq=n + 3, tool="count" if n % 5 == 4 else "echo", input={"n": n, "text": text}, trace_id=trace)
        got = hear()
        n, text, streamed = asked[got["seq"]]
        if got["kind"] == "STR":
            streamed.append(got["data"])
            continue
        del asked[got["seq"]]
        if n % 5 == 4:
            check("count", (got["kind"], streamed), ("END", list(range(n % 4))))
        elif n % 10 == 7:
            check("refused", got["code"], "INVALID_INPUT")
        else:
            check("echo", got["output"], {"n": n, "text": text})
    say("HBT", ts=1795240000)
    check("HBA", hear()["ts"], 1795240000)
    say("BYE")
    try:
        sys.exit(f"more: {hear()}")
    except ConnectionClosedOK:
        ws.close()
    return sock


def run(deflate):
    listener, port = listen()
    servers, secret = [], token()
    with Proxy("sael", port) as proxy:
        server = Peer(serve, listener, deflate, servers)
        sock = talk(proxy.port, deflate, secret)
        server.result()
        shown = proxy.end()
    size = check_same_bytes(proxy.recording, [sock], servers)
    counts = {"INV echo": CALLS * 4 // 5, "INV count": CALLS // 5, "LST": 1}
    lines = check_recording(proxy.recording, counts, shown)
    if deflate:
        check_refusal(proxy.recording)
        secrets = "compressed secrets are not redacted, but refused"
    else:
        signature, claims = secret.split(".")[3], secret.split(".")[2]
        secrets = f"redacted, {check_redaction(proxy.recording, [part.encode() for part in (secret, claims, signature)])} secrets gone"
    print(f"sael{', compressed' if deflate else ''}: {CALLS} calls, {len(lines)} messages, {size} bytes the same at both ends; {secrets}")


if __name__ == "__main__":
    run(False)
    run(True)

#!/usr/bin/env python3
"""Measures the proxy beside a collector that does not work: collector.py WIRETOOL [EXCHANGES]

Prints the latency of exchanges through `wiretool proxy`, in microseconds, without `--otlp` and with collectors that are up, down,
slow, or answer 429. Runs take turns, and each number is the median of the rounds. Fails if an answer differs from what was sent.
"""

import http.server
import re
import socket
import statistics
import subprocess
import sys
import threading
import time

WIRETOOL = sys.argv[1]
EXCHANGES = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
ROUNDS = 3
# The time after which a slow collector answers.
SLOW = 5


def collector(status, delay):
    """Starts a collector; returns its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(delay)
            self.send_response(status)
            self.send_header("Content-Length", "2")
            if status == 429:
                self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # The proxy does not wait for a slow one.
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def closed_port():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


def answer_lines(listener):
    while True:
        peer = listener.accept()[0]
        with peer, peer.makefile("rwb") as file:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for line in file:
                number = re.search(rb'"id":(\d+)', line)[1]
                file.write(b'{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}\n' % (number, number))
                file.flush()


def exchange(listener, otlp):
    """Returns p50 and p99 in microseconds."""
    command = [WIRETOOL, "proxy", "-p", "mcp", "--listen", "tcp://127.0.0.1:0", "--once"]
    command += ["--connect", f"tcp://127.0.0.1:{listener.getsockname()[1]}", *(["--otlp", otlp] if otlp else [])]
    proxy = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    port = next(int(found[1]) for line in proxy.stderr if (found := re.search(r"listen\S* .*?127\.0\.0\.1:(\d+)", line)))
    threading.Thread(target=proxy.stderr.read, daemon=True).start()
    taken = []
    with socket.create_connection(("127.0.0.1", port)) as client, client.makefile("rwb") as file:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for n in range(EXCHANGES):
            call = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}\n' % n
            start = time.perf_counter_ns()
            file.write(call)
            file.flush()
            answer = file.readline()
            taken.append(time.perf_counter_ns() - start)
            assert answer == b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%d"}]}}\n' % (n, n), answer
    proxy.terminate()
    proxy.wait(30)
    taken.sort()
    return [taken[len(taken) * part // 100] / 1000 for part in (50, 99)]


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=answer_lines, args=(listener,), daemon=True).start()
    collectors = {
        "without": None,
        "up": collector(200, 0),
        "down": closed_port(),
        "slow": collector(200, SLOW),
        "429": collector(429, 0),
    }
    found = {name: [] for name in collectors}
    for _ in range(ROUNDS):
        for name, otlp in collectors.items():
            found[name].append(exchange(listener, otlp))
    for name, rounds in found.items():
        p50, p99 = (statistics.median(column) for column in zip(*rounds))
        print(f"{name:8} p50 {p50:7.0f} µs  p99 {p99:7.0f} µs")


if __name__ == "__main__":
    main()

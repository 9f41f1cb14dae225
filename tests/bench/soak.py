#!/usr/bin/env python3
"""Soak test of the live commands: soak.py [--binary PATH] [--minutes N] [--seed N] [--only NAME]... [--keep]

Two kinds of steps run at the same time for N minutes (default: 60):

  loads     one long-lived proxy, record or stub for each transport, which gets about eight connections per second together:
            whole and pipelined sessions, half-closed ones, clients that vanish, servers that stall, close or reset
  episodes  short-lived programs, in turn: faults, SIGSTOP, few descriptors, a full or slow disk, clock steps, rotation,
            kill -9 (more than 200 per hour), replay, a child on stdio, and 10,000 connections to one program

Checks: a client receives exactly the bytes that the server sent, apart from stated faults; every recording loads and has
these bytes; every step ends in time; exit codes are as `wiretool help exit` says; nothing panics; and the memory and the
descriptors of the long-lived programs, measured each second, do not grow after the first third of the time.

The last output is a table; the exit code is 1 if anything failed. `--only` names a load or an episode. `--keep` keeps the
folder with recordings and stderr. The test needs Linux and `openssl`. Without root (tmpfs) or libfaketime it leaves out
the full disk or the clock steps, and says so.
"""

import argparse
import asyncio
import contextlib
import glob
import os
import pathlib
import random
import resource
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import traceback

from soak_episodes import EPISODES
from soak_peers import STEP_TIMEOUT, Connection, Failure, Program, Recorded, Target, check, check_recorded, serve, session

RATE = 8  # connections per second of all loads
SCRIPT = """
[[on]]
match = 'params.do=stall'
hang = true
[[on]]
match = 'params.do=close'
close = true
[[on]]
match = 'params.do=reset'
reset = true
[[on]]
match = 'subject=get'
result = "{{params.text}}"
"""
GATEWAY = """
[[on]]
match = 'subject=Terminate'
result = { call_sid = "{{fields.call_sid}}", status = "OK", error_message = "", error_code = 0, timestamp_ms = 1 }
"""

# Name: command, scheme, form of the messages, options, share of the connections. `-w` is the place of the recording.
LOADS = {
    "proxy-tcp": ("proxy", "tcp", "lines", ["-q"], 5),
    "record-tcp": ("record", "tcp", "lines", ["-w", "--rotate", "5M"], 3),
    "proxy-unix": ("proxy", "unix", "lines", ["-w", "--rotate", "30s", "-f", "json"], 2),
    "proxy-ws": ("proxy", "ws", "ws", ["-w", "--lint"], 2),
    "record-wss": ("record", "wss", "ws", ["-w"], 1),
    "proxy-http": ("proxy", "http", "http", ["-w", "-f", "tree"], 2),
    "proxy-https": ("proxy", "https", "http", ["-q"], 1),
    "proxy-tls": ("proxy", "tls", "lines", ["-w", "--rotate", "5M"], 2),
    "proxy-quic": ("proxy", "quic", "quic", ["-w"], 0.5),
    "proxy-stdio": ("proxy", "stdio", "lines", ["-w", "-f", "line"], 1),
    "stub-tcp": ("stub", "tcp", "lines", ["-w"], 2),
    "stub-unix": ("stub", "unix", "lines", [], 1),
    "stub-ws": ("stub", "ws", "ws", [], 2),
    "stub-http": ("stub", "http", "http", ["-w"], 2),
    "stub-tls": ("stub", "tls", "lines", [], 1),
}


class Soak:
    def __init__(self, options, folder):
        self.binary, self.folder = os.path.abspath(options.binary), pathlib.Path(folder)
        self.minutes, self.seed = options.minutes, options.seed
        self.running, self.peers, self.steps, self.began = [], {}, {}, time.monotonic()
        self.path("echo.toml").write_text(SCRIPT)
        self.path("gateway.toml").write_text(GATEWAY)
        self.certificate = [str(self.path("cert.pem")), str(self.path("key.pem"))]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
             "-out", self.certificate[0], "-keyout", self.certificate[1], "-subj", "/CN=127.0.0.1",
             "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True, timeout=30)
        self.client_tls = ssl.create_default_context(cafile=self.certificate[0])
        self.server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server_tls.load_cert_chain(*self.certificate)

    def path(self, name):
        return self.folder / name

    async def run(self, *arguments, codes=(0,), timeout=STEP_TIMEOUT, **more):
        """Runs wiretool to its end; returns stdout and stderr."""
        process = await asyncio.create_subprocess_exec(
            self.binary, *map(str, arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        words = " ".join(map(str, arguments))[:200]
        try:
            out, err = (text.decode(errors="replace") for text in await asyncio.wait_for(process.communicate(), timeout))
        except asyncio.TimeoutError:
            process.kill()
            raise Failure(f"wiretool {words}: no end after {timeout} s") from None
        check("panicked" not in err, f"wiretool {words} panicked: {err[:2000]}")
        check(process.returncode in codes, f"wiretool {words}: exit code {process.returncode}, not {codes}: {err[-300:]}")
        return out, err

    async def loads(self, paths):
        """Checks that recordings can be read, together and each alone; returns their bytes."""
        paths = sorted(map(str, paths))
        check(paths, "no recording")
        for names in [paths] + ([[path] for path in paths] if len(paths) > 1 else []):
            await self.run("decode", "-q", *names, codes=(0, 1), timeout=300)
        return Recorded(paths)

    async def peer(self, scheme, form):
        """Returns the address of the server behind proxies."""
        if (scheme, form) not in self.peers:
            handler = lambda reader, writer: serve(reader, writer, form)
            if scheme == "unix":
                path = str(self.path("peer.sock"))
                await asyncio.start_unix_server(handler, path)
                self.peers[scheme, form] = f"unix:{path}"
            else:
                tls = self.server_tls if scheme in ("tls", "wss", "https") else None
                server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=tls, backlog=500)
                self.peers[scheme, form] = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return self.peers[scheme, form]

    async def target(self, name, command, scheme, form, options, **more):
        """Starts a program; returns it as a target."""
        listen = f"unix:{self.path(name)}.sock" if scheme == "unix" else f"{scheme}://127.0.0.1:0"
        pem = str(self.path(f"{name}.pem"))
        if scheme == "quic":
            arguments = ["--listen", listen, "--cert-out", pem]
            if command != "stub":
                behind = await self.target(f"{name}-server", "stub", "quic", "quic", [])
                arguments += ["--connect", behind.address, "--cacert", behind.pem]
        else:
            is_tls = scheme in ("tls", "wss", "https")
            arguments = ["--listen", listen] + (["--cert", self.certificate[0], "--key", self.certificate[1]] if is_tls else [])
            if command != "stub":
                arguments += ["--connect", await self.peer(scheme, form)] + (["--cacert", self.certificate[0]] if is_tls else [])
        protocol, script = ("telequick", "gateway.toml") if form == "quic" else ("jsonrpc", "echo.toml")
        stub = [protocol, "--script", str(self.path(script))]
        options = [word for option in options for word in (["-w", str(self.path(f"{name}.jsonl"))] if option == "-w" else [option])]
        if scheme == "stdio":
            child = ["--", self.binary, "stub", "-q", *stub]
            program = await Program.start(self, name, command, "-p", protocol, *options, *child, pipes=True, **more)
        else:
            first = [command, *(stub if command == "stub" else ["-p", protocol])]
            program = await Program.start(self, name, *first, *options, *arguments, **more)
        target = Target(program, scheme, form, command != "stub" and scheme != "stdio")
        target.pem = pem
        if scheme == "stdio":
            target.connection = Connection(program.process.stdout, program.process.stdin, form, True)
        return target

    def recordings(self, name):
        return glob.glob(f"{self.path(name)}[-.]*jsonl")

    def step(self, name):
        return self.steps.setdefault(name, Step(self, name))


class Step:
    """A row of the table."""

    def __init__(self, soak, name):
        self.soak, self.name, self.runs, self.connections, self.bytes, self.failures, self.growth = soak, name, 0, 0, 0, [], None

    def count(self, program, sent, got):
        self.connections += 1
        self.bytes += sent + got
        program.connections += 1
        program.bytes += sent + got

    async def attempt(self, action):
        """Runs an action within the time limit, and notes its failure."""
        self.runs += 1
        try:
            async with asyncio.timeout(STEP_TIMEOUT):
                await action
            return True
        except (Failure, OSError, ValueError, asyncio.IncompleteReadError) as error:
            text = str(error) or f"no end after {STEP_TIMEOUT} s"
            if not isinstance(error, Failure):
                frames = [f"{f.name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__) if "soak" in f.filename]
                text = f"{type(error).__name__} {text} in {' '.join(frames)}"
            self.failures.append(text)
            print(f"{time.monotonic() - self.soak.began:7.1f} s  {self.name}, run {self.runs}: {text}", flush=True)
            return False


async def run_loads(soak, names, until):
    """Gives the long-lived programs their connections until the end, and measures them each second."""
    targets = [(soak.step(name), await soak.target(name, *LOADS[name][:4])) for name in names]
    programs = list(soak.running)
    soak.ready.set()
    shares = [LOADS[name][4] for name in names]
    rate = RATE * sum(shares) / sum(load[4] for load in LOADS.values())
    rng, tasks = random.Random(f"{soak.seed} loads"), set()
    sampling = asyncio.create_task(sample(programs))
    while targets and time.monotonic() < until:
        step, target = rng.choices(targets, shares)[0]
        task = asyncio.create_task(step.attempt(session(step, target, random.Random(rng.random()))))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(rng.expovariate(rate))
    await asyncio.gather(*tasks)
    # A QUIC connection without its client ends after 30 seconds.
    calm = time.monotonic() + 40
    while time.monotonic() < calm and any(program.samples[-1][2] > program.samples[0][2] for program in programs):
        await asyncio.sleep(1)
    sampling.cancel()
    for step, target in targets:
        await step.attempt(end_load(step, target, until))
    for program in [program for program in programs if program in soak.running]:
        await soak.step(program.name.removesuffix("-server")).attempt(program.end())


async def sample(programs):
    while True:
        for program in programs:
            program.sample()
        await asyncio.sleep(1)


async def end_load(step, target, until):
    program = target.program
    samples = [sample for sample in program.samples if sample[0] <= until]
    warm = samples[len(samples) // 3 :]
    step.soak.path(f"{step.name}.csv").write_text("".join(f"{t:.1f},{rss},{files}\n" for t, rss, files in program.samples))
    step.growth = Growth(warm, program.connections / max(1, samples[-1][0] - samples[0][0]) * 60)
    if target.scheme == "stdio":
        program.process.stdin.close()
        await program.end(None, (0,))
    else:
        await program.end()
    if paths := step.soak.recordings(step.name):
        check_recorded(target, await step.soak.loads(paths))
    first, last = program.samples[0][2], program.samples[-1][2]
    check(last <= first, f"{last} descriptors are open at the end, {first} at the start")
    check(not step.growth.is_leak(), f"memory grows: {step.growth.memory:.0f} bytes per minute")


class Growth:
    """The slopes of memory and descriptors per minute."""

    def __init__(self, samples, rate):
        self.samples = samples
        self.memory, self.descriptors = (slope(samples, column) for column in (1, 2))
        self.per_connection = self.memory / rate if rate else 0

    def is_leak(self):
        """Growth counts if both halves have it, and it is beyond what an allocator keeps."""
        middle = len(self.samples) // 2
        halves = [slope(half, 1) * (half[-1][0] - half[0][0]) / 60 for half in (self.samples[:middle], self.samples[middle:]) if half]
        return all(half > 512 << 10 for half in halves) and sum(halves) > 2 << 20


def slope(samples, column):
    """Returns the slope of the least squares per minute."""
    if len(samples) < 2:
        return 0
    mean_x, mean_y = (sum(sample[i] for sample in samples) / len(samples) for i in (0, column))
    square = sum((sample[0] - mean_x) ** 2 for sample in samples)
    return 60 * sum((sample[0] - mean_x) * (sample[column] - mean_y) for sample in samples) / square


async def run_episodes(soak, names, until):
    await soak.ready.wait()
    rng, number = random.Random(f"{soak.seed} episodes"), 0
    while names and time.monotonic() < until:
        for name in rng.sample(names, len(names)):
            # About 400 kills and 10 churns per hour; the others have the rest of the time.
            for _ in range({"kill": 3, "churn": rng.random() < 0.1 or len(names) == 1}.get(name, 1)):
                number += 1
                await run_episode(soak, name, number, rng)
            await asyncio.sleep(0.5)
            if time.monotonic() > until:
                return


async def run_episode(soak, name, number, rng):
    step, prefix, seed = soak.step(name), f"{name}-{number:05}", rng.random()
    good = await step.attempt(EPISODES[name](step, random.Random(seed), prefix))
    for program in [program for program in soak.running if program.name.startswith(prefix)]:
        with contextlib.suppress(ProcessLookupError):
            program.process.kill()
        await program.process.wait()
        soak.running.remove(program)
    for path in glob.glob(str(soak.path(prefix)) + "*") if good else []:
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def print_table(soak):
    print(f"\n{'step':<14}{'runs':>7}{'connections':>12}{'MB':>9}{'RSS, KiB':>16}{'B/min':>9}{'B/conn':>8}{'fd/min':>8}{'failures':>9}")
    for step in soak.steps.values():
        growth, more = step.growth, " " * 41
        if growth and growth.samples:
            rss = f"{growth.samples[0][1] >> 10}..{growth.samples[-1][1] >> 10}"
            more = f"{rss:>16}{growth.memory:>9.0f}{growth.per_connection:>8.0f}{growth.descriptors:>8.2f}"
        print(f"{step.name:<14}{step.runs:>7}{step.connections:>12}{step.bytes / 1e6:>9.1f}{more}{len(step.failures):>9}")
    steps = soak.steps.values()
    print(f"{'all':<14}{sum(s.runs for s in steps):>7}{sum(s.connections for s in steps):>12}"
          f"{sum(s.bytes for s in steps) / 1e6:>9.1f}{'':>41}{sum(len(s.failures) for s in steps):>9}")


async def run(options, folder):
    soak = Soak(options, folder)
    soak.ready = asyncio.Event()
    until = time.monotonic() + 60 * soak.minutes
    names = options.only or [*LOADS, *EPISODES]
    try:
        await asyncio.gather(
            run_loads(soak, [name for name in LOADS if name in names], until),
            run_episodes(soak, [name for name in EPISODES if name in names], until))
    finally:
        for program in soak.running:
            with contextlib.suppress(ProcessLookupError):
                program.process.kill()
    print_table(soak)
    return any(step.failures for step in soak.steps.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/wiretool", help="the wiretool to test")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--only", action="append", choices=[*LOADS, *EPISODES], metavar="NAME")
    parser.add_argument("--keep", action="store_true", help="keep the folder with recordings and stderr")
    options = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    folder = tempfile.mkdtemp(prefix="soak-")
    print(f"seed {options.seed}, files in {folder}", flush=True)
    try:
        failed = asyncio.run(run(options, folder))
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()

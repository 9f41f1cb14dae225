"""The episodes of soak.py: each starts programs of its own, disturbs them, and checks what they did."""

import asyncio
import contextlib
import glob
import os
import pathlib
import random
import resource
import signal
import subprocess
import time

from soak_peers import Connection, Failure, Program, check, check_recorded, frame, answer, request, session, some_text

FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
PLACES = [("tcp", "lines"), ("unix", "lines"), ("ws", "ws"), ("http", "http"), ("tls", "lines"), ("wss", "ws"), ("https", "http")]
QUIC = ("quic", "quic")
INJECTED = b'{"jsonrpc":"2.0","method":"note"}\n'


def expected(action, whole, got, frames):
    """Returns whether a client may get this if the fault hits the second of three answers."""
    first, second, third = frames
    exact = {
        "delay 50ms": whole,
        "drop": first + third,
        "dup": first + second + second + third,
        "inject FILE": first + INJECTED + second + third,
        "close": first,
        "stall": first,
    }
    if action in exact:
        return got == exact[action]
    if action == "reset":
        return first.startswith(got)
    if action == "truncate 7":
        return got.startswith(first + second[:7]) and len(got) < len(whole)
    if action == "length +3":
        return got.startswith(first)
    return got != whole and got.startswith(first) and got.endswith(third) and len(got) == len(whole)


FAULTS = ["delay 50ms", "drop", "dup", "inject FILE", "close", "stall", "reset", "truncate 7", "length +3", "corrupt result", "corrupt byte"]


async def faults(step, rng, name):
    """One fault on the second of three answers."""
    action, (scheme, form) = rng.choice(FAULTS), rng.choice(PLACES)
    step.soak.path(f"{name}-note").write_bytes(INJECTED)
    fault = "kind=response nth 2: " + action.replace("FILE", str(step.soak.path(f"{name}-note")))
    target = await step.soak.target(name, "proxy", scheme, form, ["-w", "--seed", "1", "--fault", fault])
    client = await target.connect(step.soak)
    texts = list(enumerate(some_text(rng, 5000) for _ in range(3)))
    frames = [frame(form, answer(*text), False) for text in texts]
    whole = b"".join(frames)
    with contextlib.suppress(OSError):
        async with asyncio.timeout(1):
            for number, text in texts:
                await client.send(request(number, text))
            while not (action not in ("close", "stall", "reset", "length +3") and expected(action, whole, bytes(client.buffer), frames)):
                if not await client.more():
                    break
    got = bytes(client.buffer)
    step.count(target.program, client.sent[0], client.got[0])
    await client.close()
    await target.program.end()
    recorded = await step.soak.loads(step.soak.recordings(name))
    check(expected(action, whole, got, frames), f"{action} over {scheme}: {len(got)} bytes of {list(map(len, frames))}")
    check(len(recorded.faults) == 1, f"{action} over {scheme}: {len(recorded.faults)} faults in the recording")
    sent = b"".join(bytes(data) for key, data in recorded.data.items() if key[2] == "s2c")
    wanted = whole if action not in ("close", "stall", "reset") else frames[0]
    check(wanted in sent or action == "length +3", f"{action} over {scheme}: the recording has not what the server sent")


async def stopped(step, rng, name):
    """SIGSTOP and SIGCONT of a proxy with busy connections."""
    target = await step.soak.target(name, rng.choice(["proxy", "record"]), *rng.choice([*PLACES, QUIC]), ["-w"])

    async def halt():
        for _ in range(3):
            await asyncio.sleep(rng.random() * 0.1)
            target.program.process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(rng.choice([0.02, 0.3, 1.5]))
            target.program.process.send_signal(signal.SIGCONT)

    sessions = [session(step, target, random.Random(rng.random()), rng.choice(["whole", "pipelined"])) for _ in range(6)]
    await asyncio.gather(halt(), *sessions)
    await target.program.end(codes=(143, 2))
    check_recorded(target, await step.soak.loads(step.soak.recordings(name)))


async def descriptors(step, rng, name):
    """150 clients of a proxy that may open 64 files."""
    scheme, form = rng.choice([("tcp", "lines"), ("unix", "lines"), ("http", "http"), ("tls", "lines")])
    target = await step.soak.target(name, "proxy", scheme, form, ["-w"], limits=[(resource.RLIMIT_NOFILE, 64)])
    target.program.sample()

    async def ask():
        client = None
        try:
            async with asyncio.timeout(10):
                client = await target.connect(step.soak)
                await target.ask(client, 1, "few")
            return client, True
        except (OSError, Failure) as error:
            check("another" not in str(error), str(error))
            return client, False

    asked = await asyncio.gather(*(ask() for _ in range(150)))
    good = sum(is_good for _, is_good in asked)
    before, began = processor_time(target), time.monotonic()
    await asyncio.sleep(1)
    used = (processor_time(target) - before) / (time.monotonic() - began)
    for client, _ in asked:
        if client:
            step.count(target.program, client.sent[0], client.got[0])
    await asyncio.gather(*(client.close() for client, _ in asked if client))
    until = time.monotonic() + 10
    while time.monotonic() < until:
        with contextlib.suppress(OSError, Failure):
            await session(step, target, random.Random(rng.random()), "whole")
            break
        await asyncio.sleep(0.1)
    check(time.monotonic() < until, "after all clients have left, a new one gets no answer")
    await asyncio.sleep(0.5)
    target.program.sample()
    first, last = target.program.samples[0][2], target.program.samples[-1][2]
    lines = target.program.errors().count("\n")
    await target.program.end()
    await step.soak.loads(step.soak.recordings(name))
    check(good >= 20, f"only {good} clients of {scheme} got answers")
    check(used < 0.3, f"{100 * used:.0f} % of a processor while no descriptor is free")
    check(last <= first, f"{last} descriptors are open at the end, {first} at the start")
    check(lines < 1000, f"{lines} lines on stderr")


def processor_time(target):
    fields = pathlib.Path(f"/proc/{target.program.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def disk(step, rng, name):
    """A disk that is full (a tmpfs of 256 KiB, or `ulimit -f`), or slow (a named pipe with a slow reader)."""
    kind = rng.choice(["full", "limit", "slow"] if os.geteuid() == 0 else ["limit", "slow"])
    folder, reader = step.soak.path(f"{name}-disk"), None
    folder.mkdir()
    recording = folder / "calls.jsonl"
    if kind == "full" and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder], capture_output=True).returncode:
        kind = "limit"
    try:
        if kind == "slow":
            os.mkfifo(recording)
            reader = asyncio.create_task(read_slowly(recording))
        rotate = ["--rotate", "60K"] if kind == "full" and rng.random() < 0.5 else []
        limits = [(resource.RLIMIT_FSIZE, 256 << 10)] if kind == "limit" else []
        target = await step.soak.target(name, "proxy", *rng.choice(PLACES), ["--write", str(recording), *rotate], limits=limits)
        while target.program.bytes < 2e6:
            await session(step, target, random.Random(rng.random()), "pipelined")
        await target.program.end(codes=(143, 2) if kind == "slow" else (2,))
        if reader:
            folder.joinpath("calls-read.jsonl").write_bytes(await reader)
            os.remove(recording)
        recorded = await step.soak.loads(glob.glob(f"{folder}/calls*.jsonl"))
        if kind == "slow" and "in time" not in target.program.errors():
            total = recorded.total("c2s") + recorded.total("s2c") + recorded.lost
            check(total == target.program.bytes, f"{total} bytes are recorded or lost, {target.program.bytes} passed")
    finally:
        if kind == "full":
            subprocess.run(["umount", "-l", folder], check=False, capture_output=True)
        if reader:
            reader.cancel()


async def read_slowly(path):
    """Reads a named pipe at about 1 MB/s until its writer has closed it."""
    pipe, data, was_open = os.open(path, os.O_RDONLY | os.O_NONBLOCK), b"", False
    try:
        while True:
            try:
                piece = os.read(pipe, 1 << 15)
                if not piece and was_open:
                    return data
                was_open, data = was_open or bool(piece), data + piece
            except BlockingIOError:
                was_open = True
            await asyncio.sleep(0.03)
    finally:
        os.close(pipe)


async def clock(step, rng, name):
    """The clock of the system makes steps while files rotate."""
    if not FAKETIME:
        return print("clock: left out, libfaketime is not installed") if step.runs == 1 else None
    steps = step.soak.path(f"{name}-clock")
    steps.write_text("+0s")
    env = {"LD_PRELOAD": FAKETIME[0], "FAKETIME_TIMESTAMP_FILE": str(steps), "FAKETIME_NO_CACHE": "1",
           "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
    form = rng.choice([name, f"{name}-{{time}}"])
    options = ["--write", str(step.soak.path(f"{form}.jsonl")), "--rotate", "1s", "--idle", "30s", "-f", "json"]
    target = await step.soak.target(name, "proxy", *rng.choice(PLACES[:4]), options, env=env)
    for shift in rng.sample(["+3600s", "-3600s", "+86400s", "-7d", "+400d", "-1s", "+0s"], 5):
        steps.write_text(shift)
        await session(step, target, random.Random(rng.random()), "whole")
        await asyncio.sleep(0.5)
    await target.program.end()
    paths = sorted(step.soak.recordings(name))
    check_recorded(target, await step.soak.loads(paths))
    notes = (await step.soak.run("decode", *paths))[1]
    check("not read" not in notes, f"{len(paths)} files of one recording are read as several: {notes}")


async def rotate(step, rng, name):
    """Many small files of one recording."""
    limit = rng.choice(["20K", "200K", "1s"])
    target = await step.soak.target(name, rng.choice(["proxy", "record"]), *rng.choice([*PLACES, QUIC]), ["-w", "--rotate", limit])
    kinds = ["whole", "pipelined", "half-closed", "vanish", "reset"]
    for _ in range(2):
        await asyncio.gather(*(session(step, target, random.Random(rng.random()), rng.choice(kinds)) for _ in range(4)))
        await asyncio.sleep(0.6 if limit == "1s" else 0)
    await target.program.end()
    check_recorded(target, await step.soak.loads(step.soak.recordings(name)))


async def kill(step, rng, name):
    """kill -9 at a random moment."""
    command = rng.choice(["proxy", "record", "stub", "stdio"])
    options = ["-w", "--rotate", "100K"] if command != "stub" and rng.random() < 0.5 else ["-w"]
    if command == "stdio":
        target = await step.soak.target(name, "record", "stdio", "lines", ["-w"])
    else:
        target = await step.soak.target(name, command, *rng.choice([*PLACES, QUIC]), options)

    async def talk():
        with contextlib.suppress(OSError, Failure):
            while target.program.process.returncode is None:
                await session(step, target, random.Random(rng.random()), "whole")

    talking = [asyncio.create_task(talk()) for _ in range(3)]
    await asyncio.sleep(rng.random() ** 2 * 0.6)
    pid = target.program.process.pid
    children = [int(pid) for path in glob.glob(f"/proc/{pid}/task/*/children") for pid in pathlib.Path(path).read_text().split()]
    await target.program.end(signal.SIGKILL, (-9,))
    try:
        async with asyncio.timeout(20 if target.scheme == "quic" else 5):
            await asyncio.gather(*talking)
    except TimeoutError:
        raise Failure(f"{command}: clients do not see the end of a killed program") from None
    until = time.monotonic() + 5
    while (left := [pid for pid in children if is_running(pid)]) and time.monotonic() < until:
        await asyncio.sleep(0.05)
    check(not left, f"{command}: the child still runs 5 s after the kill")
    if command != "stdio" or target.program.bytes:
        await step.soak.loads(step.soak.recordings(name))


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


async def replay(step, rng, name):
    """send, replay and stub --from-recording with each other."""
    soak = step.soak
    scheme, form = rng.choice([*PLACES, QUIC, ("stdio", "lines")])
    protocol = "telequick" if scheme == "quic" else "jsonrpc"
    words = lambda n: f"Terminate call_sid=c{n}" if scheme == "quic" else 'request get \'{"do":"answer","text":"%s"}\'' % ("x" * rng.randrange(3000))
    calls = soak.path(f"{name}.txt")
    calls.write_text("".join(words(n) + "\n" for n in range(5)))
    recording = soak.path(f"{name}-sent.jsonl")
    trust = ["--cacert", soak.certificate[0]] if scheme in ("tls", "wss", "https") else []
    if scheme == "stdio":
        to = ["--", soak.binary, "stub", protocol, "--script", str(soak.path("echo.toml"))]
        again = ["--", soak.binary, "stub", protocol, "--from-recording", str(recording)]
        programs = []
    else:
        target = await soak.target(f"{name}-a", "proxy", scheme, form, [])
        to = ["--connect", target.address, *(["--cacert", target.pem] if scheme == "quic" else trust)]
        programs = [target.program]
    await soak.run("send", protocol, "--file", calls, "-q", "-w", recording, *to)
    await soak.run("replay", recording, "--repeat", rng.choice(["1", "10"]), *to)
    if scheme != "stdio":
        second = await soak.target(f"{name}-b", "stub", scheme, form, ["--from-recording", str(recording)])
        again = ["--connect", second.address, *(["--cacert", second.pem] if scheme == "quic" else trust)]
        programs.append(second.program)
    await soak.run("replay", recording, "--repeat", "3", *again)
    size = len(recording.read_bytes())
    for program in programs:
        program.connections += 10
        step.count(program, size, size)
    if programs and scheme != "quic":
        # The server stalls, then it is gone.
        programs[1].process.send_signal(signal.SIGSTOP)
        await soak.run("replay", recording, "--timeout", "300ms", *again, codes=(1, 2))
        programs[1].process.send_signal(signal.SIGCONT)
        await programs[1].end()
        await soak.run("replay", recording, "--timeout", "300ms", *again, codes=(2,))
    for program in programs:
        if program in soak.running:
            await program.end()


async def churn(step, rng, name):
    """10,000 short connections to one program. It remembers 4,096 of them, so after 5,000 its memory is flat."""
    command, (scheme, form) = rng.choice(["proxy", "record", "stub"]), rng.choice([("tcp", "lines"), ("ws", "ws"), ("http", "http")])
    target = await step.soak.target(name, command, scheme, form, ["-w"])
    program, numbers, memory = target.program, iter(range(10_000)), []

    async def clients():
        for number in numbers:
            if number in (0, 5000, 7500, 9999):
                program.sample()
                memory.append(program.samples[-1][1])
            client = await target.connect(step.soak)
            await target.ask(client, number, "few")
            step.count(program, client.sent[0], client.got[0])
            await client.close()

    await asyncio.gather(*(clients() for _ in range(4)))
    await asyncio.sleep(0.5)
    program.sample()
    await program.end()
    await step.soak.loads(step.soak.recordings(name))
    # A buffer can become larger once: a leak grows in both parts.
    growth = min(memory[2] - memory[1], memory[3] - memory[2]) / 2500
    check(growth < 100, f"{command} {scheme}: memory grows by {growth:.0f} bytes per connection: {memory}")
    check(program.samples[-1][2] <= program.samples[0][2], f"{command} {scheme}: {program.samples[-1][2]} descriptors are open at the end")


CHILDREN = {"exit 7": 7, "kill -9 $$": 137, "exec sleep 20": 143, "cat": 0, "head -c 3000": 0}


async def stdio(step, rng, name):
    """A child that exits, dies, sleeps, or sends back megabytes to a slow reader."""
    script = rng.choice(list(CHILDREN))
    recording = step.soak.path(f"{name}.jsonl")
    program = await Program.start(step.soak, name, "proxy", "-q", "-p", "jsonrpc", "-w", str(recording), "--", "sh", "-c", script, pipes=True)
    client = Connection(program.process.stdout, program.process.stdin, "lines", True)
    sent = b"".join(request(n, some_text(rng)) + b"\n" for n in range(rng.randint(1, 100)))

    async def write():
        with contextlib.suppress(OSError):
            await client.write(sent)
        program.process.stdin.close()

    async def read():
        while await client.more():
            await asyncio.sleep(rng.choice([0, 0, 0.005]))

    if script == "exec sleep 20":
        await asyncio.sleep(0.2)
        await program.end(signal.SIGTERM, (143,))
    else:
        await asyncio.gather(write(), read())
        await program.end(None, (CHILDREN[script],))
    got = bytes(client.buffer)
    check(got == {"cat": sent, "head -c 3000": sent[:3000]}.get(script, b""), f"{script}: {len(got)} bytes of {len(sent)}")
    step.count(program, client.sent[0], client.got[0])
    recorded = await step.soak.loads([recording])
    check(recorded.lost or recorded.total("s2c") == len(got), f"{script}: {recorded.total('s2c')} bytes recorded, {len(got)} passed")


EPISODES = {
    "faults": faults,
    "stopped": stopped,
    "descriptors": descriptors,
    "disk": disk,
    "clock": clock,
    "rotate": rotate,
    "kill": kill,
    "replay": replay,
    "stdio": stdio,
    "churn": churn,
}

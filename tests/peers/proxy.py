"""Real programs through `wiretool proxy` and `wiretool record`.

An oracle made with its own SDK, under an executor that behaves as the real one; and what goes wrong between those two
in practice. Prints a line a case, exits 1 at the first that differs.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from executor import Executor, Failed
from proxy_tools import check_recording, new_path, check_redaction

WIRETOOL, ORACLE = sys.argv[1], sys.argv[2]
folder = tempfile.TemporaryDirectory()
count = 0


def recording():
    global count
    count += 1
    return os.path.join(folder.name, f"{count}.jsonl")


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r}\n  wanted {wanted!r}")


def decode(path):
    run = subprocess.run([WIRETOOL, "decode", "-f", "json", path], capture_output=True, timeout=60)
    return [json.loads(line) for line in run.stdout.splitlines()], run.stderr.decode()


def fails(call, words):
    try:
        got = call()
    except Failed as error:
        if words not in str(error):
            sys.exit(f"{error}: wanted {words!r}")
        return
    sys.exit(f"{got!r}: wanted {words!r}")


def wait_for_exit(pid):
    """Waits until a process that is not our child has ended."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            state = open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1][0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.01)
    sys.exit(f"process {pid} lives on")


def descendants(pid):
    """Returns all descendants of a process."""
    children = open(f"/proc/{pid}/task/{pid}/children").read().split()
    return [p for child in map(int, children) for p in [child, *descendants(child)]]


def calls(times=5):
    """At most the last read is missing, in 20 runs."""
    missing = 0
    for _ in range(20):
        path = recording()
        executor = Executor([WIRETOOL, "record", "-p", "oracle", "-w", path, "--", ORACLE])
        started = descendants(executor.process.pid)
        for n in range(times):
            check("square", executor.invoke("square", n), [n * n])
        fails(lambda: executor.invoke("square", 1 << 40), "value is too large")
        executor.shutdown()
        for pid in started:
            wait_for_exit(pid)
        lines, notes = decode(path)
        kinds = [line["kind"] for line in lines]
        wanted = ["ready", "ack"] + ["invoke", "result"] * times + ["invoke", "error"]
        # The kill may arrive before `shutdown` is read, and before the last forwarded answer is recorded.
        check(f"kinds {kinds}", kinds in (wanted + ["shutdown"], wanted, wanted[:-1]), True)
        check("faults", [line for line in lines if "fault" in line], [])
        # On a busy machine the kill may arrive after the end.
        # Or so early that the last line is truncated.
        last = open(path).readlines()[-1]
        complete = last.endswith("\n") and json.loads(last).get("event") == "end"
        check("a note", "no end line" in notes, not complete)
        missing += len(kinds) < len(wanted)
    print(f"oracle: 20 executors that kill after shutdown; the last answer of {missing} not recorded; no orphans")


def unread_stderr_blocks_oracle(times=2000):
    """An oracle blocks while nobody reads its stderr; with --drain-stderr it does not."""
    for drain in (False, True):
        flags = ["--drain-stderr"] if drain else []
        command = [WIRETOOL, "record", "-p", "oracle", *flags, "-w", recording(), "--", ORACLE]
        executor = Executor(command, read_stderr=False, limit=30 if drain else 3)
        done = 0
        try:
            for n in range(times):
                executor.invoke("square", n)
                done += 1
        except TimeoutError:
            pass
        executor.kill()
        if drain:
            check("with --drain-stderr", done, times)
        else:
            check("a blocked oracle", 100 < done < times, True)
            blocked = done
    print(f"oracle: stuck at invoke {blocked} where nobody reads stderr, all {times} answered with --drain-stderr")


def log_line_on_stdout_is_reported():
    """A log line on stdout shifts the session by one; it is reported, and with quarantine it does no harm."""
    path = recording()
    executor = Executor([WIRETOOL, "record", "-p", "oracle", "-w", path, "--", ORACLE])
    executor.invoke("square", 2)
    # stderr also contains other text.
    check("a log", executor.stderr_contains("0x4"), True)
    fails(lambda: executor.invoke("noise", 7), "not JSON")
    fails(lambda: executor.invoke("square", 3), "response ID mismatch")
    named = "not a message of oracle: a log line where none belongs; on stderr at that time: "
    check("named", executor.stderr_contains(named), True)
    executor.kill()
    path = recording()
    executor = Executor([WIRETOOL, "proxy", "-p", "oracle", "--quarantine", "-w", path, "--", ORACLE])
    check("noise", executor.invoke("noise", 7), [7])
    check("square", executor.invoke("square", 3), [9])
    # The oracle writes its log in pieces, and this may arrive between two of them.
    check("moved to stderr", executor.stderr_contains("a log line where none belongs\n"), True)
    executor.shutdown()
    print("oracle: a log line on stdout is named with offset and stderr; quarantined, the session lives on")


def kill_of_wrapper_ends_oracle():
    """The wrapper is killed; the oracle sees the end of its stdin."""
    script = f"{ORACLE}; echo over >&2"
    executor = Executor([WIRETOOL, "record", "-p", "oracle", "-w", recording(), "--", "sh", "-c", script])
    started = descendants(executor.process.pid)
    check("a shell and an oracle", len(started), 2)
    executor.invoke("square", 2)
    executor.shutdown()
    for pid in started:
        wait_for_exit(pid)
    print("oracle: behind a shell that takes the kill, the oracle ends with its stdin")


def exit_status_is_passed_on():
    """Any exit status is passed on."""
    executor = Executor([WIRETOOL, "record", "-p", "oracle", "-w", recording(), "--", ORACLE])
    fails(lambda: executor.invoke("die", 1), "oracle process terminated")
    check("a panic", executor.process.wait(30), 101)
    executor = Executor([WIRETOOL, "record", "-p", "oracle", "-w", recording(), "--", ORACLE])
    executor.process.stdin.close()
    check("the end of stdin", executor.process.wait(30), 0)
    print("oracle: a panic is 101 and the end of stdin 0, through the proxy as without it")


def shown():
    """The shareable output contains neither the command line nor the log, nor the redacted arguments."""
    path = new_path("oracle")
    executor = Executor([WIRETOOL, "record", "-p", "oracle", "-w", path, "--", ORACLE])
    for n in range(50):
        check("square", executor.invoke("square", 0xBEEF + n), [(0xBEEF + n) ** 2])
    executor.process.stdin.close()
    check("the end of stdin", executor.process.wait(30), 0)
    check_recording(path, {"invoke square": 50})
    secrets = [b"peer-oracle", b"recv: ", b"send: ", *(hex(0xBEEF + n).encode() for n in range(50))]
    check_redaction(path, secrets, "--value", "0xb[ef][0-9a-f]{2}")
    print(f"oracle: 50 calls counted; redacted, {len(secrets)} secrets gone")


calls()
shown()
unread_stderr_blocks_oracle()
log_line_on_stdout_is_reported()
kill_of_wrapper_ends_oracle()
exit_status_is_passed_on()

"""Shared by the tests of programs whose protocols are described in files."""

import json
import os
import subprocess
import sys

from proxy_tools import WAIT, WIRETOOL, check, digest, folder, read_recording, wiretool


def run_client(command):
    """Runs a client. Returns what it prints as JSON."""
    made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    check(f"{command} printed {made.stdout.decode()}\n{made.stderr.decode()}", made.returncode, 0)
    return json.loads(made.stdout)


def tee(name, command):
    """Returns a command that also writes the input and the output of a program to files."""
    return [sys.executable, "clients/tee.py", os.path.join(folder.name, name), *command]


def check_bytes(path, client, server):
    """Checks that what passed at each side is what the recording of one connection has."""
    streams, _ = read_recording(path)
    recorded = {way: digest(data) for (_, way), data in streams.items()}
    for side in (client, server):
        for way, end in (("c2s", "in"), ("s2c", "out")):
            with open(os.path.join(folder.name, f"{side}.{end}"), "rb") as file:
                check(f"bytes {way} at {side}", digest(file.read()), recorded[way])


def check_session(protocol, path, *flags, allow=()):
    """Checks that every message has a kind and a role, and every answer its request, and that lint finds nothing. Returns
    the number of messages."""
    lines = wiretool("decode", "-f", "json", "--where", "index>=0 or reply_to", *flags, path)
    check("protocol", {line["protocol"] for line in lines}, {protocol})
    check("faults", [line for line in lines if "fault" in line], [])
    of_transport = ("http-request", "http-response", "close")
    check("messages without a role", [line for line in lines if not line.get("role") and line["kind"] not in of_transport], [])
    answers = [line for line in lines if line.get("role") in ("response", "error")]
    check("answers without a request", [line for line in answers if "reply_to" not in line], [])
    allowed = [word for rule in allow for word in ("--allow", rule)]
    lint = subprocess.run([WIRETOOL, "lint", "--fail-on", "info", *allowed, *flags, path], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
    check(f"lint printed {lint.stdout.decode()}", lint.returncode, 0)
    return len(lines)


def replay(path, *to):
    """Checks that the answers of a new program are the recorded ones. Returns the last line of the report."""
    made = subprocess.run(
        [WIRETOOL, "replay", path, "--keep-going", "--timeout", "30s", *to],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=2 * WAIT,
    )
    check(f"replay printed {made.stdout.decode()}\n{made.stderr.decode()}", made.returncode, 0)
    return made.stderr.decode().splitlines()[-1].removeprefix("wiretool: ")

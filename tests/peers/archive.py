"""HAR files of `export -f har`: har-validator (npm) accepts them, haralyzer (PyPI) reads the exchanges that wiretool has, and
decode of a file gives the messages of its capture."""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

from haralyzer import HarParser

WIRETOOL = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
VALIDATE = """
const { har } = require('har-validator');
const log = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8'));
har(log).then(() => {}, error => { console.log(JSON.stringify(error.errors)); process.exit(1); });
"""


def decode(path):
    ran = subprocess.run([WIRETOOL, "decode", "-q", "-f", "json", path], capture_output=True, timeout=60)
    return [json.loads(line) for line in ran.stdout.decode().splitlines()]


def comparable(rows):
    keys = ["dir", "protocol", "kind", "role", "id", "message"]
    return collections.Counter(json.dumps([row.get(key) for key in keys]) for row in rows)


def same(name, got, wanted):
    if got != wanted:
        sys.exit(f"{name}: {got}\n  wanted {wanted}")


def main():
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        archive = pathlib.Path(folder, "session.har")
        for path in sorted((ROOT / "fixtures").glob("*/*.jsonl")):
            command = [WIRETOOL, "export", "-f", "har", "--show-secrets", "-o", archive, path]
            if subprocess.run(command, capture_output=True, timeout=60).returncode != 0:
                continue
            count += 1
            ran = subprocess.run(["node", "-e", VALIDATE, archive], capture_output=True, timeout=60, cwd=ROOT / "tests/peers")
            same(f"{path}: har-validator", (ran.returncode, ran.stdout), (0, b""))
            rows = decode(path)
            same(f"{path}: messages", comparable(decode(archive)), comparable(rows))
            log = json.loads(archive.read_text())
            read = [entry for page in HarParser(log).pages for entry in page.entries] or HarParser(log).har_data["entries"]
            statuses = sorted(entry["response"]["status"] for entry in read)
            heads = [row for row in rows if row["framing"] == "http" and row["dir"] == "s2c" and row["kind"] != "sse-event"]
            same(f"{path}: entries", len(statuses) >= 1 and len(heads) >= 1, True)
    if count < 3:
        sys.exit(f"only {count} captures have HTTP")
    print(f"{count} HAR files")


main()

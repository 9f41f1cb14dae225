"""Rows of `decode -f json --flat` in DuckDB and in ClickHouse's engine: counts, types, rows, and the statements that
`export -f sql` prints, computed a second way from the rows."""

import collections
import datetime
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

import chdb.session
import duckdb

WIRETOOL = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
CAPTURES = sorted(
    str(path.relative_to(ROOT))
    for folder in ["fixtures/cli", "fixtures/cli/broken", "fixtures/mcp", "fixtures/acp", "fixtures/oracle", "fixtures/sael", "fixtures/saikuro", "fixtures/stepflow"]
    for path in (ROOT / folder).glob("*.jsonl")
)


def wiretool(*args):
    ran = subprocess.run([WIRETOOL, *args], cwd=ROOT, capture_output=True, timeout=120)
    assert ran.returncode in (0, 1), ran.stderr.decode()
    return ran.stdout.decode()


def same(name, got, wanted):
    if got != wanted:
        sys.exit(f"{name}:\n  got    {got}\n  wanted {wanted}")


def statements(engine):
    """The table, the reading of the rows, and the statements by name."""
    text = wiretool("export", "-f", "sql", "--engine", engine)
    parts = [part.strip() for part in re.split(r";\s*\n", text) if part.strip()]
    named = {part.split(":", 1)[0].removeprefix("-- "): part for part in parts[2:]}
    return parts[:2], named


def plain(value):
    """One form for the values of both engines."""
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}", value):
        return value.replace(" ", "T")[:26]
    return value


def time(row):
    return row["time"] and row["time"][:26]


class Expected:
    """The results of the statements, from the rows."""

    def __init__(self, rows):
        self.rows = rows
        self.answered = {(row["src"], row["reply_to"]) for row in rows}

    def slowest(self):
        by = collections.defaultdict(list)
        for row in self.rows:
            if row["latency_ms"] is not None and row["of"] is not None:
                by[row["of"]].append(row["latency_ms"])

        def quantile(values, part):
            values = sorted(values)
            at = part * (len(values) - 1)
            low = int(at)
            high = min(low + 1, len(values) - 1)
            return values[low] + (values[high] - values[low]) * (at - low)

        found = [[of, len(all), quantile(all, 0.5), quantile(all, 0.99), max(all)] for of, all in by.items()]
        return sorted(found, key=lambda row: (-round(row[3], 9), row[0]))[:20]

    def errors(self):
        by = collections.defaultdict(lambda: [0, 0])
        for row in self.rows:
            if row["reply_to"] is not None:
                count = by[row["peer"] or "unknown"]
                count[0] += 1
                count[1] += row["role"] == "error" or row["outcome"] == "error"
        found = [[peer, *counts] for peer, counts in by.items()]
        return sorted(found, key=lambda row: (-row[2] / row[1], row[0]))

    def open(self):
        return [row for row in self.rows if row["role"] == "request" and (row["src"], row["index"]) not in self.answered]

    def unanswered(self):
        found = [[row["src"], row["index"], time(row), row["dir"], row["subject"], row["name"]] for row in self.open()]
        return sorted(found, key=lambda row: row[:2])

    def owes(self):
        by = collections.defaultdict(list)
        for row in self.open():
            side = {"c2s": "server", "s2c": "client", None: "unknown"}[row["dir"]]
            by[row["src"], row["conn"], side].append(time(row))
        found = [[*key, len(times), min((at for at in times if at), default=None)] for key, times in by.items()]
        return sorted(found, key=str)

    def findings(self):
        by = collections.Counter()
        for row in self.rows:
            for finding in json.loads(row["findings"] or "[]"):
                by[row["time"] and row["time"][:10], finding["rule"], finding["severity"]] += 1
        return sorted(([*key, count] for key, count in by.items()), key=str)

    def definitions(self):
        by = collections.defaultdict(lambda: (set(), set()))
        for row in self.rows:
            if row["role"] == "response" and (row["of"] or "").endswith("/list"):
                member = {"resources/templates/list": "resourceTemplates"}.get(row["of"], row["of"].split("/")[0])
                listed = json.loads(row["message"]).get("result", {}).get(member)
                for one in (one for one in listed if "name" in one) if isinstance(listed, list) else []:
                    found, times = by[row["peer"], row["host"], row["of"], one["name"]]
                    found.add(json.dumps(one))
                    times.add(time(row))
        found = [[*key, len(all), min(times), max(times)] for key, (all, times) in by.items() if len(all) > 1]
        return sorted(found, key=str)

    def operation(self):
        timed = [row for row in self.rows if row["latency_ms"] is not None and row["op"] is not None]
        root = min(timed, key=lambda row: (-row["latency_ms"], row["src"], row["op"]))
        parts = {root["op"]}
        while True:
            inside = {row["op"] for row in self.rows if row["src"] == root["src"] and row["parent"] in parts}
            if inside <= parts:
                break
            parts |= inside
        keys = ["index", "op", "parent", "dir", "kind"]
        return [
            [*(row[key] for key in keys), row["subject"] if row["subject"] is not None else row["of"], row["name"], row["latency_ms"]]
            for row in sorted(self.rows, key=lambda row: row["index"])
            if row["src"] == root["src"] and row["op"] in parts
        ]


def check(engine, rows, query):
    """Loads the rows, and compares."""
    loading, named = statements(engine)
    for statement in loading:
        query(statement)
    quote = {"duckdb": '"', "clickhouse": "`"}[engine]
    same(f"{engine}: count", query("SELECT count(*) FROM messages"), [[len(rows)]])
    rng = random.Random(20261126)
    for row in rng.sample(rows, 10):
        where = f"src = '{row['src']}' AND {quote}index{quote} = {row['index']}"
        [got] = query(f"SELECT * FROM messages WHERE {where}")
        wanted = [value[:26] if key == "time" and value else value for key, value in row.items()]
        same(f"{engine}: {where}", got, [plain(value) for value in wanted])
    expected = Expected(rows)
    same(f"{engine}: statements", sorted(named), sorted(["slowest", "errors", "unanswered", "owes", "findings", "definitions", "operation"]))
    for name, statement in named.items():
        got = query(statement)
        wanted = [[plain(value) for value in row] for row in getattr(expected, name)()]
        if name == "definitions":
            same(f"{engine}: changed templates", [row[:4] for row in got if row[3] == "t"], [["first 1", "box", "resources/templates/list", "t"]])
            same(f"{engine}: tools of two servers", [row for row in got if row[3] == "own"], [])
        if name in ("owes", "findings", "definitions"):
            got, wanted = sorted(got, key=str), sorted(wanted, key=str)
        assert wanted, f"{name} has no row to be compared"
        same(f"{engine}: {name}", got, wanted)
    print(f"{engine}: {len(rows)} rows, {len(named)} statements")


def lists(path, server, answers):
    """Writes a recording of a server that answers list requests: method, member and definitions."""
    time = 0
    lines = [{"wiretool": 1, "protocol": "mcp", "started": "2026-07-01T10:00:00Z", "host": "box"}]

    def add(direction, message):
        nonlocal time
        time += 1_000_000
        lines.append({"t": time, "conn": 1, "dir": direction, "text": json.dumps({"jsonrpc": "2.0", **message}) + "\n"})

    def info(key, name):
        return {"protocolVersion": "2025-11-25", "capabilities": {}, key: {"name": name, "version": "1"}}

    add("c2s", {"id": 0, "method": "initialize", "params": info("clientInfo", "client")})
    add("s2c", {"id": 0, "result": info("serverInfo", server)})
    for number, (method, member, definitions) in enumerate(answers, 1):
        add("c2s", {"id": number, "method": method})
        add("s2c", {"id": number, "result": {member: definitions}})
    lines.append({"t": time, "event": "end"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def recordings(folder):
    """Two servers with different tools of one name, and one that changes its resource template."""
    first, second = pathlib.Path(folder, "first.jsonl"), pathlib.Path(folder, "second.jsonl")
    tools = [("tools/list", "tools", [{"name": "own", "description": text}]) for text in ["one", "two"]]
    templates = [("resources/templates/list", "resourceTemplates", [{"name": "t", "uriTemplate": uri}]) for uri in ["u", "v"]]
    lists(first, "first", [tools[0], *templates])
    lists(second, "second", [tools[1]])
    return [str(first), str(second)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "messages.jsonl")
        text = wiretool("decode", "-f", "json", "--flat", *CAPTURES, *recordings(folder))
        path.write_text(text)
        rows = [json.loads(line) for line in text.splitlines()]
        at = lambda statement: statement.replace("'messages.jsonl'", f"'{path}'")
        duck = duckdb.connect()

        def query(statement):
            ran = duck.execute(at(statement))
            return [[plain(value) for value in row] for row in ran.fetchall()]

        check("duckdb", rows, query)
        house = chdb.session.Session()
        house.query("CREATE DATABASE tables ENGINE = Atomic")
        house.query("USE tables")

        def query(statement):
            settings = "output_format_json_quote_64bit_integers = 0, output_format_json_escape_forward_slashes = 0"
            text = at(statement)
            if "SELECT" in text and not text.lstrip("-").lstrip().startswith(("CREATE", "INSERT")) and "INSERT" not in text:
                text += f" SETTINGS {settings}"
            out = str(house.query(text, "JSONCompactEachRow"))
            return [[plain(value) for value in json.loads(line)] for line in out.splitlines() if line]

        check("clickhouse", rows, query)


main()

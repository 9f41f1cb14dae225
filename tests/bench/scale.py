#!/usr/bin/env python3
"""Measures the pipeline of `wiretool help scale`: scale.py WIRETOOL FOLDER [JOBS]

Decodes the recordings in FOLDER into rows, loads the rows into DuckDB and into ClickHouse's engine (duckdb and chdb of PyPI), and
runs the statements of `export -f sql` on both. Prints peaks of memory, sizes, and the time of processors: it depends less on other load
than that of the clock. MB/s are those of recordings, by one core.
"""

import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import chdb.session
import duckdb

WIRETOOL, FOLDER, JOBS = sys.argv[1], pathlib.Path(sys.argv[2]), (sys.argv[3:] or ["2"])[0]
RECORDINGS = sorted(FOLDER.glob("*.jsonl"))
MB = sum(path.stat().st_size for path in RECORDINGS) / 1e6


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def decode(paths, out):
    """Writes rows; returns the seconds, and the peak of memory in MB."""
    command = [WIRETOOL, "decode", "-q", "-f", "json", "--flat", "--jobs", JOBS, *map(str, paths)]
    start = of_children()
    child = subprocess.Popen(command, stdout=out)
    peak = 0
    while child.poll() is None:
        status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        peak = max([peak, *(int(kb) for kb in re.findall(r"VmHWM:\s+(\d+)", status))])
        time.sleep(0.05)
    assert child.returncode in (0, 1), child.returncode
    return of_children() - start, peak / 1e3


def statements(engine):
    text = subprocess.run([WIRETOOL, "export", "-f", "sql", "--engine", engine], capture_output=True, text=True, check=True).stdout
    parts = [part.strip() for part in re.split(r";\s*\n", text) if part.strip()]
    return parts[0], parts[1], {part.split(":", 1)[0].removeprefix("-- "): part for part in parts[2:]}


def timed(run, statement):
    start = time.process_time()
    run(statement)
    return time.process_time() - start


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = folder / "messages.jsonl"
        duck = duckdb.connect(str(folder / "messages.db"))
        duck.execute(f"SET temp_directory = '{folder}/spill'")
        house = chdb.session.Session(str(folder / "house"))
        engines = {"duckdb": (lambda text: duck.execute(text).fetchall()), "clickhouse": (lambda text: house.query(text, "CSV"))}
        spent, row_mb, peak = dict.fromkeys(["decode", *engines], 0.0), 0.0, 0.0
        for recording in RECORDINGS:
            with rows.open("wb") as out:
                seconds, used = decode([recording], out)
            spent["decode"], peak = spent["decode"] + seconds, max(peak, used)
            row_mb += rows.stat().st_size / 1e6
            for engine, run in engines.items():
                table, load, _ = statements(engine)
                if recording == RECORDINGS[0]:
                    run(table)
                spent[engine] += timed(run, load.replace("messages.jsonl", str(rows)))
        rows.unlink()
        print(f"recordings {MB:.0f} MB, rows {row_mb:.0f} MB; " + ", ".join(f"{what} {MB / seconds:.0f} MB/s" for what, seconds in spent.items()))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(f"peaks: decode --jobs {JOBS} {peak:.0f} MB, both engines {memory:.0f} MB", flush=True)
        copy = "COPY (SELECT *, CAST(\"time\" AS DATE) AS \"day\" FROM messages) TO '{}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (protocol, \"day\"))"
        seconds = timed(engines["duckdb"], copy.format(folder / "parquet"))
        print(f"Parquet {size(folder / 'parquet'):.0f} MB, written at {MB / seconds:.0f} MB/s; ClickHouse {size(folder / 'house'):.0f} MB")
        if shutil.which("zstd"):
            packed = sum(len(subprocess.run(["zstd", "-qc", path], capture_output=True, check=True).stdout) for path in RECORDINGS)
            print(f"zstd of the recordings {packed / 1e6:.0f} MB")
        taken = {engine: {name: timed(run, text) for name, text in statements(engine)[2].items()} for engine, run in engines.items()}
        for name, seconds in taken["duckdb"].items():
            print(f"{name:12} duckdb {seconds:6.2f} s  clickhouse {taken['clickhouse'][name]:6.2f} s")


if __name__ == "__main__":
    main()

"""Spans of `export -f otlp`, read with OpenTelemetry's own definition, and by the rules of the collector for JSON: ids in
hex, 64-bit integers as text."""

import base64
import json
import pathlib
import re
import subprocess
import sys

from google.protobuf import json_format
from opentelemetry.proto.trace.v1 import trace_pb2

WIRETOOL = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def export(*args):
    ran = subprocess.run([WIRETOOL, "export", "-f", "otlp", *args], cwd=ROOT, capture_output=True, timeout=120)
    assert ran.returncode == 0, ran.stderr.decode()
    return ran.stdout.decode().splitlines()


def check_json(value, key=None):
    """Checks the rules of JSON that protobuf does not have, and gives ids the form that it has."""
    if isinstance(value, dict):
        return {name: check_json(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [check_json(one, key) for one in value]
    if key in ("traceId", "spanId", "parentSpanId"):
        length = 32 if key == "traceId" else 16
        assert re.fullmatch(f"[0-9a-f]{{{length}}}", value) and int(value, 16), (key, value)
        return base64.b64encode(bytes.fromhex(value)).decode()
    if key in ("startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "intValue"):
        assert isinstance(value, str) and value == str(int(value)), (key, value)
    return value


def spans(lines):
    found = []
    for line in lines:
        data = trace_pb2.TracesData()
        json_format.ParseDict(check_json(json.loads(line)), data, ignore_unknown_fields=False)
        for resource in data.resource_spans:
            assert resource.schema_url.startswith("https://opentelemetry.io/schemas/")
            assert any(one.key == "service.name" for one in resource.resource.attributes)
            for scope in resource.scope_spans:
                assert scope.scope.name == "wiretool"
                found += scope.spans
    return found


def main():
    count = 0
    for path in sorted((ROOT / "fixtures").glob("*/*.jsonl")):
        ran = subprocess.run([WIRETOOL, "export", "-f", "otlp", path], capture_output=True, timeout=120)
        for span in spans(ran.stdout.decode().splitlines()):
            count += 1
            assert span.name and span.end_time_unix_nano >= span.start_time_unix_nano
            assert len({one.key for one in span.attributes}) == len(span.attributes), span
    merged = [f"fixtures/cli/merge/{name}.jsonl" for name in ("planner", "search", "index")]
    all = {span.name: span for span in spans(export("--merge", *merged))}
    plan, find, look = (all[f"tools/call {name}"] for name in ("plan", "find", "look"))
    assert plan.trace_id == find.trace_id == look.trace_id
    assert look.parent_span_id == find.span_id
    assert [link.span_id for link in find.links] == [plan.span_id]
    print(f"{count} spans")


main()

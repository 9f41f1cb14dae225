"""Spans of `export -f otlp`, read with OpenTelemetry's own definition, and by the rules of the collector for JSON: ids in
hex, 64-bit integers as text."""

import base64
import json
import pathlib
import re
import socketserver
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler

from google.protobuf import json_format
from opentelemetry.proto.metrics.v1 import metrics_pb2
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
        if "resourceMetrics" in json.loads(line):
            continue
        data = trace_pb2.TracesData()
        json_format.ParseDict(check_json(json.loads(line)), data, ignore_unknown_fields=False)
        for resource in data.resource_spans:
            assert resource.schema_url.startswith("https://opentelemetry.io/schemas/")
            assert any(one.key == "service.name" for one in resource.resource.attributes)
            for scope in resource.scope_spans:
                assert scope.scope.name == "wiretool"
                found += scope.spans
    return found


def durations(lines):
    """The histograms of the lines: name, attributes, number of operations."""
    found = []
    for line in lines:
        if "resourceMetrics" not in json.loads(line):
            continue
        data = metrics_pb2.MetricsData()
        json_format.ParseDict(check_json(json.loads(line)), data, ignore_unknown_fields=False)
        for metric in data.resource_metrics[0].scope_metrics[0].metrics:
            assert metric.unit == "s"
            for point in metric.histogram.data_points:
                assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
                assert sum(point.bucket_counts) == point.count and point.min <= point.max <= point.sum + 1e-9
                attributes = {one.key: one.value.string_value for one in point.attributes}
                found.append((metric.name, attributes, point.count))
    return found


class Collector(BaseHTTPRequestHandler):
    lines = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        signal = "resourceSpans" if self.path == "/v1/traces" else "resourceMetrics"
        assert list(json.loads(body)) == [signal], self.path
        self.lines.append(body.decode())
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def check_collector():
    """What a collector gets is what the file has."""
    capture = "fixtures/cli/operations.jsonl"
    with socketserver.TCPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        export("--otlp", f"http://127.0.0.1:{server.server_address[1]}", capture)
        server.shutdown()
    lines = export(capture)
    key = lambda span: span.span_id
    assert sorted(spans(Collector.lines), key=key) == sorted(spans(lines), key=key)
    assert durations(Collector.lines) == durations(lines)
    books = [one for one in durations(lines) if one[1].get("gen_ai.tool.name") == "book"]
    assert [(name, count) for name, _, count in books] == [("mcp.client.operation.duration", 1)], books


def main():
    check_collector()
    count = 0
    for path in sorted((ROOT / "fixtures").glob("*/*.jsonl")):
        ran = subprocess.run([WIRETOOL, "export", "-f", "otlp", path], capture_output=True, timeout=120)
        durations(ran.stdout.decode().splitlines())
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

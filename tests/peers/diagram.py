"""Diagrams of `export -f mermaid` in mermaid itself, in Chromium: it accepts all of them, draws one of each protocol, and
shows hostile texts unchanged. The folder of captures that WIRETOOL_CAPTURES names is read, too, if it is set."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

from browser_tools import Browser, Page
from proxy_tools import WAIT, WIRETOOL, check

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MERMAID = os.environ.get("WIRETOOL_MERMAID", str(HERE / "node_modules/mermaid/dist/mermaid.min.js"))
HOSTILE = [
    "end", "a\nend\nparticipant evil", "; deactivate p1", "#35; # %%{init: {}}%%", "<script>x()</script>",
    "<img src=x onerror=document.title='bad'>", "\u202ereversed\0nul\u2028line", "style x:#35;", "classDef a:b #c;", "$$\\frac{1}{2}$$",
    "&lt; &amp; ﬂ°°60¶ß", "`code` \"quoted\" 'it'", "wrap: nowrap: x", "loop alt else", "A->>B: x", "Note over p0: x", "{[()]}@|~*_^",
]


def export(*args):
    ran = subprocess.run([WIRETOOL, "export", "-f", "mermaid", *map(str, args)], capture_output=True, timeout=WAIT)
    return ran.stdout.decode()


def captures():
    yield from sorted((ROOT / "fixtures").glob("*/*.jsonl"))
    shared = os.environ.get("WIRETOOL_CAPTURES")
    if shared:
        for path in sorted(pathlib.Path(shared).rglob("*.jsonl")):
            with open(path, "rb") as file:
                if file.read(12).startswith(b'{"wiretool"'):
                    yield path


def hostile(folder):
    """A recording with hostile names."""
    path = pathlib.Path(folder, "hostile.jsonl")
    lines = [{"wiretool": 1, "protocol": "mcp", "started": "2026-07-01T10:00:00Z", "transport": "stdio"}]
    for n, name in enumerate(HOSTILE):
        request = {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name}}
        lines.append({"t": n, "conn": 1, "dir": "c2s", "text": json.dumps(request) + "\n"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def shown(name):
    """A name as every screen shows it."""
    name = name.replace("\n", "\\n")
    return re.sub("[\0\u202e\u2028]", lambda found: f"\\u{{{ord(found[0]):x}}}", name)


def main():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        page = Page(browser)
        page.evaluate(open(MERMAID, encoding="utf-8").read() + "; mermaid.initialize({startOnLoad: false}); 1")
        render = "mermaid.render('d', {}).then((drawn) => {{ document.body.innerHTML = drawn.svg; return 1; }})"
        drawn, count = set(), 0
        for path in captures():
            for ops in ([], ["--ops"]):
                text = export(*ops, path)
                if not text:
                    continue
                check(f"{path} {ops}", page.evaluate(f"mermaid.parse({json.dumps(text)}).then(() => 'ok', (e) => String(e))"), "ok")
                count += 1
            protocol = path.relative_to(ROOT).parts[1] if path.is_relative_to(ROOT) else None
            if text and protocol not in drawn:
                drawn.add(protocol)
                text = export(path)
                page.evaluate(render.format(json.dumps(text)))
                texts = page.evaluate("document.querySelectorAll('.messageText').length")
                check(f"messages of {path}", texts, len(re.findall(r"-{1,2}>>", text)))
        text = export("--allow", "mcp/before-initialize", hostile(folder))
        page.evaluate(render.format(json.dumps(text)))
        texts = page.evaluate("[...document.querySelectorAll('.messageText')].map((one) => one.textContent)")
        for name, text in zip(HOSTILE, texts, strict=True):
            check(f"the text for {name!r}", f"tools/call {shown(name)} (" in text, True)
        check("script elements", page.evaluate("document.querySelectorAll('script, img').length"), 0)
        check("title", page.evaluate("document.title"), "")
        print(f"{count} diagrams, drawn for {len(drawn)} protocols")


main()

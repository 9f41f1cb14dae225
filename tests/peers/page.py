"""The page of `wiretool export -f html` in Chromium: search, keys, permalinks, marks of fields and bytes, hostile content,
10,000 messages within a second, and what axe-core says about accessibility. Screenshots go to the folder that
WIRETOOL_SCREENSHOTS names, if it is set."""

import base64
import json
import os
import subprocess

from browser_tools import Browser, Page
from proxy_tools import WAIT, WIRETOOL, check, folder

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "../../fixtures")
AXE = open(os.path.join(HERE, "node_modules/axe-core/axe.min.js"), encoding="utf-8").read()
SHOTS = os.environ.get("WIRETOOL_SCREENSHOTS")
HOSTILE = "</script><script>document.title='bad'</script><!--<img src=x onerror=document.title='bad'>\"'&\u202eabc\x00\u2028"


def write(name, *args):
    """Writes a page and returns its address."""
    path = os.path.join(folder.name, name + ".html")
    done = subprocess.run([WIRETOOL, "export", "-f", "html", "-o", path, *args], capture_output=True, timeout=WAIT)
    check(f"export of {args}", done.returncode, 0)
    return "file://" + path


def text_of(page, name):
    return page.evaluate(f"document.getElementById({name!r}).textContent")


def search(page, text):
    """Types a condition; returns how many messages match, or the error."""
    page.evaluate(f"((input) => {{ input.value = {json.dumps(text)}; input.dispatchEvent(new Event('input')); }})(document.getElementById('where'))")
    page.evaluate("new Promise((done) => setTimeout(done, 150))")
    shown = text_of(page, "count").split(" ")[0].replace(",", "")
    return text_of(page, "where-error") or int(shown)


def selected(file, condition):
    """Returns how many messages the condition selects in wiretool."""
    command = [WIRETOOL, "decode", "--lint", "-f", "json", "-q", "--where", condition, file]
    out = subprocess.run(command, capture_output=True, timeout=WAIT).stdout
    return sum(b'"kind":' in line for line in out.splitlines())


def check_accessible(page, what):
    page.evaluate(AXE + "; 0")
    found = page.evaluate("axe.run({ resultTypes: ['violations'] }).then((all) => all.violations.map((one) => "
                          "[one.impact, one.id, one.nodes[0].html.slice(0, 200)]))")
    check(f"axe-core: {what}", [one for one in found if one[0] in ("serious", "critical")], [])


def check_heads(page, file):
    """Conditions see the values of a body behind a head that has secrets."""
    page.open(write("heads", file), 1440)
    for condition in [".method", ".result", ".params.name", ".id>=1", "latency>0"]:
        check(f"behind a head: {condition}", search(page, condition), selected(file, condition))
    check("a duration without unit", "wanted a duration" in str(search(page, "latency>1")), True)


def check_use(page, file):
    """Searches, presses keys, follows permalinks and points at fields and bytes, as a reader does."""
    address = write("use", file)
    page.open(address, 1440)
    count = search(page, "")
    for condition in [
        "role=request", "not role=request", "dir=s2c latency>=1ms", "kind=request,response", "subject~tools", 'subject~"tools/*"',
        "subject~/^tools.[cl]/", "of=tools/call", "name=add or name=sub", ".params.name=add", ".params.arguments.a=1",
        '.params.arguments.a="1"', ".params.arguments.b>1", "(role=error or findings) dir=c2s", "id=2", "id>=3", "len>100",
        "findings=mcp/unknown-tool", "reply_to", "index<3", "offset>=423", "len<1K", "not .result",
        ".result.content[0].type=text", "subject!~tools", "subject!=tools/call", "latency<1s and role=response",
        "subject=tools/call latency>0ms", "subject!=tools/call latency>0ms", "subject=tools/call reply_to", "not subject~tools reply_to",
        "subject=tools/call (latency>0ms or index=1)", "message", "link", "src", "who", ".[0].id", ".params.arguments={}",
        ".params.capabilities={}", "time>00:00:00.005", "time<2027-01-31T12:00:00Z",
    ]:
        check(condition, search(page, condition), selected(file, condition))
    check("an unknown key", "wanted a key, got knd" in str(search(page, "knd=call")), True)
    check("a text", search(page, "STRUCTUREDcontent"), 1)
    check("nothing", search(page, ""), count)
    # Keys, as in watch.
    at = lambda: page.evaluate("location.hash")
    for key, wanted in [
        ("Escape", ""), ("j", "#m0"), ("j", "#m1"), ("k", "#m0"), ("G", "#m9"), ("r", "#m8"), ("g", "#m0"), ("f", "#m8"), ("r", "#m9"),
        ("g", "#m0"), ("r", "#m1"),
    ]:
        page.press(key)
        check(f"key {key}", at(), wanted)
    page.press("i")
    check("its operation", text_of(page, "count"), "2 of 10 messages")
    page.press("Escape")
    page.press("Escape")
    check("all again", text_of(page, "count"), "10 messages")
    page.press("/")
    check("the search has the focus", page.evaluate("document.activeElement.id"), "where")
    page.press("Escape")
    page.press("s")
    check("latency shows", page.evaluate("document.getElementById('panel-latency').hidden"), False)
    page.press("?")
    check("keys show", page.evaluate("document.getElementById('keys').open"), True)
    page.evaluate("document.getElementById('close').click()")
    page.press("Enter")
    check("the tree has the focus", page.evaluate("document.activeElement.getAttribute('role')"), "treeitem")
    # Permalinks.
    page.evaluate("location.hash = '#m8'")
    page.wait_for("document.querySelector('.row[aria-selected=true]')?.dataset.at === '8'")
    page.open(address + "#m5", 1440)
    check("the title of a permalink", "→ request tools/call add" in text_of(page, "panel-message"), True)
    # A field marks its bytes, and the reverse.
    marked = lambda: page.evaluate("[...document.querySelectorAll('.hex span:not(.as) i.on')].map((run) => run.textContent).join(' ')")
    field = page.evaluate("[...document.querySelectorAll('.node')].findIndex((node) => node.textContent.startsWith('method'))")
    page.point(f".node[data-f='{field}']")
    check("bytes of a field", bytes.fromhex(marked()), b'"method""tools/call"')
    page.point(f".hex i[data-f='{field + 1}']")
    check("the field of bytes", page.evaluate("document.querySelector('.node.on').textContent.startsWith('params')"), True)
    page.press("Enter")
    page.press("ArrowDown")
    check("bytes of a field with the focus", bytes.fromhex(marked()), b'"jsonrpc""2.0"')
    # Paper is light, and has all rows.
    page.evaluate("addEventListener('beforeprint', () => { window.seen = [document.documentElement.dataset.theme, document.querySelectorAll('.row').length] })")
    check("printed", page.call("Page.printToPDF", printBackground=True)["data"][:4], "JVBE")
    check("on paper", page.evaluate("window.seen"), ["light", count])
    check("after printing", page.evaluate("document.documentElement.dataset.theme ?? 'none'"), "none")


def check_hostile(page):
    """Nothing of the wire is executed, and nothing turns the direction of text."""
    call = {"jsonrpc": "2.0", "id": HOSTILE, "method": "tools/call", "params": {"name": HOSTILE, "arguments": {HOSTILE: HOSTILE}}}
    long = {"jsonrpc": "2.0", "id": 2, "method": "n" * (1 << 20), "params": {}}
    file = os.path.join(folder.name, HOSTILE[:8].replace("/", "") + ".c2s")
    with open(file, "w", encoding="utf-8") as out:
        out.write(json.dumps(call) + "\n" + json.dumps(long) + "\n")
    for width in [1440, 360]:
        page.open(write("hostile", "-p", "mcp", "--dir", "c2s", file) + "#m0", width)
        check("elements of the wire", page.evaluate("document.querySelectorAll('img, iframe, link, base').length"), 0)
        check("scripts", page.evaluate("document.scripts.length"), 1)
        check("title", page.evaluate("document.title"), "<script.c2s · wiretool")
        for panel in ["panel-message", "panel-findings", "panel-latency", "list"]:
            check(f"{panel} turns text", page.evaluate(f"/[\\u202e\\u0000\\u2028]/.test(document.getElementById('{panel}').textContent)"), False)
        check("the text is there", HOSTILE[:60] in text_of(page, "panel-message"), True)
        check("it fits", page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)


def check_large(page):
    """10,000 messages open within a second; only the rows that show exist."""
    file = os.path.join(folder.name, "large.txt")
    with open(file, "w", encoding="utf-8") as out:
        for n in range(5_001):
            arguments = {"path": f"/tmp/file-{n}.txt", "mode": "read", "tags": ["a", "b", "c"]}
            out.write(json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": f"t{n % 9}", "arguments": arguments}}) + "\n")
            out.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": n, "progress": 1}}) + "\n")
    address = write("large", "-p", "mcp", "--dir", "c2s", file)
    took = min(page.open(address, 1440) for _ in range(3))
    check("messages", text_of(page, "count"), "10,000 messages")
    check("rows", page.evaluate("document.querySelectorAll('.row').length < 80"), True)
    check("the note of the cut", text_of(page, "notes").startswith("2 messages are left out"), True)
    check("one of many", search(page, "file-4321.txt"), 1)
    # It takes half a second on a machine with nothing else to do.
    check(f"opens in {took} ms", took < 10_000, True)
    return took


with Browser() as browser:
    page = Page(browser)
    check_use(page, os.path.join(FIXTURES, "mcp/session.jsonl"))
    check_heads(page, os.path.join(FIXTURES, "mcp/rules/session-missing.passes.jsonl"))
    check_hostile(page)
    took = check_large(page)
    shown = write("shown", os.path.join(FIXTURES, "i3/session.jsonl"), os.path.join(FIXTURES, "saikuro/rules/seq-gap.fires.jsonl"))
    for width in [1440, 360]:
        for dark in [False, True]:
            page.open(shown + "#m3", width, dark)
            check("it fits", page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)
            for tab in ["message", "findings", "latency"]:
                page.evaluate(f"document.getElementById('tab-{tab}').click()")
                check_accessible(page, f"{tab} at {width}")
                if SHOTS:
                    shot = page.call("Page.captureScreenshot", format="png", captureBeyondViewport=width < 500)["data"]
                    name = f"{tab}-{width}-{'dark' if dark else 'light'}.png"
                    open(os.path.join(SHOTS, name), "wb").write(base64.b64decode(shot))
            page.evaluate("document.getElementById('help').click()")
            check_accessible(page, f"keys at {width}")
    check("problems", page.problems, [])
print(f"Chromium and the page: 10,000 messages in {took} ms")

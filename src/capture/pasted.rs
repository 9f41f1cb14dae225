//! Tells text that shows messages from a stream of messages, by the lines around them. In a stream, such lines are errors.
//!
//! ```text
//!   {code:json}                       Jira, and the fences of Markdown
//!   * Connected to localhost          curl -v, Insomnia
//!   Script started on 2026-11-27      script(1)
//!   --> POST http://localhost/mcp     OkHttp
//!   h:1: POST http://localhost/mcp    mitmdump
//!   Response Body                     the console of Postman
//!   $ nc localhost 3000               a terminal, where the first line is a command
//!   > POST /mcp HTTP/1.1              heads of HTTP behind a mark
//!   ==> server.log <==                head and tail of several files
//!   --------------------              Fiddler, between exchanges
//!   === RUN   TestCall                go test -v, and other programs that run tests
//!   ✔ calls a tool (3ms)              node --test, Mocha, Jest: often behind all messages
//!     2 passing (15ms)
//!   maria.silva  6:02 PM              a chat
//!   <?xml version="1.0"?>             a report or a page
//! ```

use super::form::FormVerdict;
use FormVerdict::{No, Open, Yes};
use serde::de::IgnoredAny;

/// Beginnings of lines around messages.
const MARKS: [&[u8]; 29] = [
    b"Script started on ",
    b"```",
    b"~~~",
    b"{code",
    b"{noformat",
    b"{panel",
    b"{quote",
    b"[code",
    b"* Connected to ",
    b"* Connection #",
    b"* Preparing request to ",
    b"< HTTP/",
    b"<< HTTP/",
    b"--> POST http",
    b"--> GET http",
    b"--> END ",
    b"<-- END ",
    b"<-- 2",
    b"== Info:",
    b"@@ -",
    b"=== RUN ",
    b"--- PASS: ",
    b"--- FAIL: ",
    b"TAP version 1",
    b"stdout | ",
    b"------- output -------",
    b"RUN  v",
    "ℹ tests ".as_bytes(),
    b"test result: ",
];
/// Lines around messages.
const LINES: [&[u8]; 5] = [
    b"Content-Transfer-Encoding: quoted-printable",
    b"Request Body",
    b"Request Headers",
    b"Response Body",
    b"Response Headers",
];
/// Parts of lines around messages.
const PARTS: [&[u8]; 8] = [
    b": POST http",
    b": GET http",
    b"] client connect",
    b" websocat::",
    b" port [",
    b" test session starts =",
    b"- Captured stdout ",
    b"- Captured log ",
];

/// Returns true if lines show that messages were copied out of something else.
pub(super) fn is_pasted(text: &[u8]) -> bool {
    let start = text.trim_ascii_start();
    let is_http = is_native(start) && is_printed_http(start) == Yes(());
    is_http || is_session(start) || is_markup(start) || text.split(|&c| c == b'\n').any(is_mark)
}

/// Returns true for a line that no stream of messages has.
fn is_mark(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let has = |part: &&[u8]| memchr::memmem::find(line, part).is_some();
    MARKS.iter().any(|mark| line.starts_with(mark))
        || LINES.contains(&line)
        || is_block(line)
        || is_rule(line)
        || is_file_heading(line)
        || is_chat_heading(line)
        || is_test_result(line)
        || is_shown_event(line)
        || is_logged_request(line)
        || !line.contains(&b'{') && PARTS.iter().any(has)
}

/// Returns true if the last lines of a text show that messages were copied out of something else. It may begin inside a line.
#[cfg(feature = "cli")]
pub(crate) fn ends_as_pasted(text: &[u8]) -> bool {
    let is_text = |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| !text.contains('\0'));
    let lines = memchr::memchr(b'\n', text).and_then(|at| text.get(at + 1..));
    lines.is_some_and(|lines| is_text(lines) && lines.split(|&c| c == b'\n').any(is_mark))
}

/// Returns true if a text begins as a report in XML or a page in HTML does.
pub(super) fn is_markup(text: &[u8]) -> bool {
    const STARTS: [&str; 4] = ["<?xml", "<!doctype html", "<html", "<testsuite"];
    let begins = |start: &&str| {
        let head = text.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
    };
    STARTS.iter().any(begins)
}

/// Returns true for a line between exchanges, as Fiddler writes it.
fn is_rule(line: &[u8]) -> bool {
    const LEAST: usize = 20;
    line.len() >= LEAST && line.iter().all(|c| matches!(c, b'-' | b'='))
}

/// Returns true for the heading of a file that head and tail print: `==> server.log <==`.
pub(super) fn is_file_heading(line: &[u8]) -> bool {
    line.starts_with(b"==> ") && line.ends_with(b" <==")
}

/// Returns true for the sender and the time of a message in a chat: `maria.silva  6:02 PM`.
fn is_chat_heading(line: &[u8]) -> bool {
    let clock = line.strip_suffix(b"AM").or(line.strip_suffix(b"PM"));
    let clock = clock.and_then(|line| line.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next());
    let is_clock = clock.is_some_and(|clock| {
        let is_part = |c: &u8| c.is_ascii_digit() || *c == b':';
        (4..=5).contains(&clock.len()) && clock.contains(&b':') && clock.iter().all(is_part)
    });
    is_clock && line.first().is_some_and(u8::is_ascii_alphabetic)
}

/// Returns true for the first line of a request behind other text: `2026/11/27 10:00:00 POST /mcp HTTP/1.1`.
fn is_logged_request(line: &[u8]) -> bool {
    let mut words = line.split(|&c| c == b' ').skip(1);
    words.any(|word| METHODS.contains(&word))
        && words.next().is_some_and(|target| target.starts_with(b"/"))
        && words
            .next()
            .is_some_and(|version| version.starts_with(b"HTTP/1"))
}

/// Returns true for a server-sent event with its line ends as escapes, as tshark prints `http.file_data`.
fn is_shown_event(line: &[u8]) -> bool {
    let is_event = line.starts_with(b"event: ") || line.starts_with(b"data: {");
    is_event && (line.ends_with(br"\r\n") || line.ends_with(br"\n\n"))
}

/// Returns true for a line of a program that runs tests: `✔ calls a tool (3ms)`, `2 passing (15ms)`, `Tests: 2 passed, 2 total`.
fn is_test_result(line: &[u8]) -> bool {
    let marks = ["✔ ", "✓ ", "✖ ", "✗ "];
    if line.ends_with(b"ms)") && marks.iter().any(|mark| line.starts_with(mark.as_bytes())) {
        return true;
    }
    let line = line.strip_prefix(b"Tests:").unwrap_or(line).trim_ascii();
    let mut words = line.split(u8::is_ascii_whitespace);
    let is_number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let count = words.next().is_some_and(is_number);
    let what = words
        .next()
        .map(|word| word.strip_suffix(b",").unwrap_or(word));
    count && matches!(what, Some(b"passing" | b"failing" | b"passed" | b"failed"))
}

/// Returns true for a key of YAML whose text is in the lines below it: `message: |`.
fn is_block(line: &[u8]) -> bool {
    let marks = [&b": |"[..], b": |-", b": |+", b": >", b": >-"];
    let key = marks.iter().find_map(|mark| line.strip_suffix(*mark));
    let key = key.map(|key| key.strip_prefix(b"- ").unwrap_or(key));
    key.is_some_and(|key| {
        !key.is_empty()
            && key
                .iter()
                .all(|c| c.is_ascii_alphanumeric() || b"_-".contains(c))
    })
}

/// Returns true if a text begins with the prompt and the command of a terminal, or with a marked request line.
fn is_session(text: &[u8]) -> bool {
    let line = text.split(|&c| c == b'\n').next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace);
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    let is_letter = |word: &[u8]| {
        word.first()
            .is_some_and(|c| c.is_ascii_alphabetic() || b"./".contains(c))
    };
    let is_prompt = matches!(first, b"$" | b"%")
        || first.contains(&b'@') && matches!(first.last(), Some(b'$' | b'%' | b'#'));
    let is_command = is_prompt && second.is_some_and(is_letter);
    is_command || matches!(first, b">" | b"<") && second.is_some_and(|word| METHODS.contains(&word))
}

const METHODS: [&[u8]; 4] = [b"GET", b"POST", b"PUT", b"DELETE"];

/// Returns true if a text begins as HTTP does.
pub(super) fn is_native(text: &[u8]) -> bool {
    [&b"GET "[..], b"POST ", b"PUT ", b"DELETE ", b"HTTP/1"]
        .iter()
        .any(|mark| text.starts_with(mark))
}

/// Says if a text begins with the head of an answer whose body has no chunks, although the head says so: `curl -i` shows the
/// head as it came, and the body without its chunks.
pub(super) fn is_unchunked(text: &[u8]) -> FormVerdict<()> {
    let mut rest = text;
    loop {
        if !rest.starts_with(b"HTTP/1") {
            return No;
        }
        let ends = [&b"\r\n\r\n"[..], b"\n\n"].map(|end| {
            let at = memchr::memmem::find(rest, end)?;
            Some((at, at + end.len()))
        });
        let Some((end, body)) = ends.into_iter().flatten().min() else {
            return Open;
        };
        let head = rest.get(..end).unwrap_or_default();
        rest = rest.get(body..).unwrap_or_default();
        // The answer to `Expect: 100-continue` stands before it.
        let is_interim = head.get(b"HTTP/1.1 ".len()) == Some(&b'1');
        if is_interim {
            continue;
        }
        if !is_chunked_head(head) {
            return No;
        }
        let is_size = |c: &u8| c.is_ascii_hexdigit() || b" \t\r;".contains(c);
        let size = rest.split(|&c| c == b'\n' || c == b';').next();
        return match (rest, size) {
            (b"", _) => Open,
            (_, Some(size)) if !size.iter().all(is_size) => Yes(()),
            (_, Some(size)) if size.len() == rest.len() => Open,
            _ => No,
        };
    }
}

/// Returns true if a head says that its body is in chunks.
pub(super) fn is_chunked_head(head: &[u8]) -> bool {
    head.split(|&c| c == b'\n').any(|line| {
        let line = line.to_ascii_lowercase();
        let value = line.strip_prefix(b"transfer-encoding:");
        value.is_some_and(|value| value.trim_ascii().ends_with(b"chunked"))
    })
}

/// Says if a body is JSON over several lines that has another length than its head says.
fn has_indented_body(head: &[u8], body: &[u8]) -> FormVerdict<()> {
    let length = head.split(|&c| c == b'\n').find_map(|line| {
        let line = line.to_ascii_lowercase();
        let value = line.strip_prefix(b"content-length:")?.trim_ascii();
        std::str::from_utf8(value).ok()?.parse::<usize>().ok()
    });
    match (length, body) {
        (Some(_), [] | [b'{' | b'[']) => Open,
        (Some(length), [b'{' | b'[', b'\n', ..]) => match body.get(..length) {
            None => Open,
            Some(body) if serde_json::from_slice::<IgnoredAny>(body).is_ok() => No,
            Some(_) => Yes(()),
        },
        _ => No,
    }
}

/// Says if a text begins with a head of HTTP without CR, and then JSON over several lines: `HTTPie` prints messages so, with
/// the length that they had before. A request line without a version is no HTTP either.
pub(super) fn is_printed_http(text: &[u8]) -> FormVerdict<()> {
    match is_unchunked(text) {
        No => {}
        verdict => return verdict,
    }
    if let Some(at) = memchr::memmem::find(text, b"\r\n\r\n") {
        let (head, body) = text.split_at_checked(at + 4).unwrap_or_default();
        return has_indented_body(head, body);
    }
    let end = memchr::memmem::find(text, b"\n\n");
    let head = text.get(..end.unwrap_or(text.len())).unwrap_or(text);
    if head.contains(&b'\r') || head.starts_with(b"{") {
        return No;
    }
    let first = head.split(|&c| c == b'\n').next().unwrap_or_default();
    let has_version = memchr::memmem::find(first, b"HTTP/1").is_some();
    if first.len() < text.len() && !has_version {
        return Yes(());
    }
    // A log has only the request lines.
    if head.split(|&c| c == b'\n').nth(1).is_some_and(is_native) {
        return Yes(());
    }
    let Some(body) = end.and_then(|end| text.get(end + 2..)) else {
        return Open;
    };
    match body {
        [] | [b'{' | b'['] => Open,
        [b'{' | b'[', b'\n', ..] if has_version => Yes(()),
        _ => No,
    }
}

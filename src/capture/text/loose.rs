//! JSON that is no stream of its protocol, although it contains nothing else than messages.
//!
//! ```text
//!   {"jsonrpc":"2.0","id":1,...}{"jsonrpc":...}    several messages on a line
//!   {"jsonrpc":"2.0","method":"textDocument/...    a message without the header that its peers need
//!   {"jsonrpc":"2.0","id":1,"meth                  a line that was broken at a width
//!   od":"tools/list"}
//!   [{...,"method":...},{...,"result":...}]        a list of what both sides send
//!   {"jsonrpc":"2.0","id":1,...}\0{"jsonrpc":...}  zero bytes between messages
//!   {<LF>  "jsonrpc":"2.0",...<LF>}<LF>Response:   indented messages and other text
//!   {"jsonrpc":"2.0","id":1,...}   59  02:03:00    a row of a table, as browsers copy it
//!   {"jsonrpc":"2.0","id":1,...} sent              the direction is behind the message
//! ```

use super::clean::to_ascii;
use super::columns::unwrapped;
use super::directions::find_direction;
use super::finder::{Finder, json_len};
use super::objects::{self, Search};
use super::probe::{Expected, MessageFraming, MessageTest, are_pair, is_http_request};
use crate::capture::base64_text;
use crate::capture::form::{FormVerdict, InputEnd};
use FormVerdict::{No, Open, Yes};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The most messages that are examined.
const MAX_MESSAGES: usize = 16;
/// The most lines that are joined.
const MAX_LINES: usize = 64;

/// Says if text that begins with JSON is such a text. Its first line decides, or the first elements of a list.
pub(in super::super) fn detect_loose(
    text: &[u8],
    end: InputEnd,
    expected: Expected,
) -> FormVerdict {
    let start = text.trim_ascii_start();
    let list = start.strip_prefix(b"[");
    let mut rest = list.unwrap_or(start).trim_ascii_start();
    let mut known = MessageTest::new(expected);
    let mut seen: Vec<Value> = Vec::new();
    let (mut count, mut is_wrapped) = (0, false);
    while rest.starts_with(b"{") && count < MAX_MESSAGES {
        count += 1;
        let Some(len) = json_len(rest) else {
            return is_loose_beginning(rest, end, &mut known);
        };
        let (message, after) = rest.split_at_checked(len).unwrap_or_default();
        let certain = known.certain_framing(message);
        if !matches!(certain, Some((_, true))) && is_wrapper(message, expected) {
            return Yes("its objects have messages inside".into());
        }
        let framing = certain.map(|(framing, _)| framing);
        rest = after.trim_ascii_start();
        if framing.is_some() && list.is_none() && message.starts_with(b"{\n") {
            match has_text_between(rest, end) {
                No => {}
                verdict => return verdict,
            }
        }
        match (framing, rest.first()) {
            (None, _) => return No,
            (Some(MessageFraming::Headers), None) if end == InputEnd::More => return Open,
            (Some(MessageFraming::Headers), None | Some(b'{' | b',' | b']')) => {
                return without_header();
            }
            // The next message may have a header.
            (Some(MessageFraming::Headers), Some(_)) => return has_columns(after, end),
            (Some(MessageFraming::Lines | MessageFraming::Either), _) => {}
        }
        // xargs -0 and other programs separate texts so.
        if let Some(next) = rest.strip_prefix(b"\0").filter(|_| list.is_none()) {
            return match next.first() {
                Some(b'{') => Yes("zero bytes are between its messages".into()),
                None if end == InputEnd::More => Open,
                _ => No,
            };
        }
        if list.is_none() {
            let (blanks, _) = after
                .split_at_checked(after.len() - rest.len())
                .unwrap_or_default();
            is_wrapped |= is_filled(message);
            if is_wrapped && blanks.contains(&b'\n') {
                continue;
            }
            return match rest.first() {
                Some(b'$' | b',') if !blanks.contains(&b'\n') => has_mark(rest, end),
                _ if blanks.contains(&b'\n') => No,
                None if end == InputEnd::More => Open,
                Some(b'{') => is_second(rest, end),
                _ => match has_direction(rest, end) {
                    No => has_columns(after, end),
                    verdict => verdict,
                },
            };
        }
        let message: Value = serde_json::from_slice(message).unwrap_or_default();
        if seen.iter().any(|other| are_pair(other, &message)) {
            return Yes("it is a list of what both sides send".into());
        }
        seen.push(message);
        rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
    }
    if rest.is_empty() && end == InputEnd::More {
        Open
    } else {
        No
    }
}

/// Returns true if a text begins with an object that is no message, and that has bytes in hex or in Base64.
pub(in super::super) fn shows_bytes(text: &[u8], expected: Expected) -> bool {
    const LEAST: usize = 16;
    let start = text.trim_ascii_start();
    let object = start.strip_prefix(b"[").unwrap_or(start);
    let object = object.trim_ascii_start();
    let object = json_len(object).and_then(|len| object.get(..len));
    let Some(object) = object.filter(|object| object.starts_with(b"{")) else {
        return false;
    };
    let is_bytes = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|c| c.is_ascii_hexdigit());
        let base64 = text.trim_end_matches('=');
        let is_base64 = base64.bytes().all(|c| base64_text::value(c).is_some());
        text.len() >= LEAST && (is_hex || is_base64 && text.bytes().any(|c| c.is_ascii_uppercase()))
    };
    let members: Map<String, Value> = serde_json::from_slice(object).unwrap_or_default();
    let mut known = MessageTest::new(expected);
    let is_certain = matches!(known.certain_framing(object), Some((_, true)));
    members.values().any(is_bytes) && !is_certain && !has_part_of_message(&members)
}

/// Says if lines of text are between a message on several lines and the next one: `Response:`, `-----`, `// answer`.
fn has_text_between(rest: &[u8], end: InputEnd) -> FormVerdict {
    const HEADER: &[u8] = b"Content-";
    let is_open = HEADER.starts_with(rest) || memchr::memmem::find(rest, b"\n{").is_none();
    match rest.first() {
        Some(b'{' | b'[' | b',' | b']') => No,
        Some(_) if rest.starts_with(HEADER) => No,
        _ if !is_open => Yes("other text is between its messages".into()),
        _ if end == InputEnd::More => Open,
        _ => No,
    }
}

/// Says if a line has a second message: what cannot be read behind the first one is an error in a stream.
fn is_second(rest: &[u8], end: InputEnd) -> FormVerdict {
    let is_whole = json_len(rest)
        .or_else(|| json_len(&unwrapped(rest, None)))
        .is_some();
    let has_end = rest.contains(&b'\n');
    match (is_whole, has_end, end) {
        (false, false, InputEnd::More) => Open,
        (true, ..) | (false, false, InputEnd::Limit) => {
            Yes("several messages are on one line".into())
        }
        (false, ..) => No,
    }
}

/// Returns true if a message was broken where its line was full: not as programs print JSON on several lines, which indent
/// them.
fn is_filled(message: &[u8]) -> bool {
    let mut lines = message.split(|&c| c == b'\n');
    let first = lines.next().unwrap_or_default();
    let has_members = [&b",\""[..], b", \""]
        .iter()
        .any(|mark| memchr::memmem::find(first, mark).is_some());
    let is_margin = |line: &[u8]| matches!(line.first(), Some(b' ' | b'\t' | b'}' | b']') | None);
    has_members && lines.next().is_some_and(|line| !is_margin(line))
}

/// Says if a line has a direction behind its message, and perhaps a second message behind an arrow.
fn has_direction(rest: &[u8], end: InputEnd) -> FormVerdict {
    const MAX_WORDS: usize = 4;
    let line = memchr::memchr(b'\n', rest);
    let line_end = line.unwrap_or(rest.len());
    let next = memchr::memchr(b'{', rest).filter(|at| *at < line_end);
    let word = rest
        .get(..next.unwrap_or(line_end))
        .unwrap_or(rest)
        .trim_ascii();
    let has_end = line.is_some() || next.is_some() || end == InputEnd::Real;
    let count = word.split(u8::is_ascii_whitespace).count();
    match next.and_then(|at| rest.get(at..)) {
        _ if count > MAX_WORDS || word.len() > 40 => No,
        _ if !has_end && end == InputEnd::More => Open,
        _ if find_direction(word, b"").is_none() => No,
        Some(second) => is_second(second, end),
        None => Yes("directions are behind its messages".into()),
    }
}

/// Says if a line has the other columns of a table after its message: a number, a time; or a second pane.
fn has_columns(after: &[u8], end: InputEnd) -> FormVerdict {
    let (line, has_end) = match memchr::memchr(b'\n', after) {
        Some(at) => (after.get(..at).unwrap_or_default(), true),
        None => (after, end == InputEnd::Real),
    };
    let bar = "│".as_bytes();
    let text = line.trim_ascii();
    if text.starts_with(bar) {
        return Yes("two panes of a terminal are beside each other".into());
    }
    let is_cell = |word: &[u8]| {
        let has_digit = word.iter().any(u8::is_ascii_digit);
        let is_number = word
            .iter()
            .all(|c| c.is_ascii_digit() || b":.,-/TZ+".contains(c));
        has_digit && is_number || matches!(word, b"AM" | b"PM" | b"B" | b"kB" | b"KB")
    };
    let mut words = text
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let is_table = line.contains(&b'\t') || text.contains(&b':');
    match (words.all(is_cell), has_end) {
        (true, true) if is_table && !text.is_empty() => {
            Yes("its lines have other columns after each message".into())
        }
        (true, false) if end == InputEnd::More => Open,
        _ if !has_end && end == InputEnd::More && bar.starts_with(text) => Open,
        _ => No,
    }
}

/// Says if a line has only one character after its message: `$` of `cat -A`, the comma after an element of a list.
fn has_mark(rest: &[u8], end: InputEnd) -> FormVerdict {
    let line = match memchr::memchr(b'\n', rest) {
        None if end == InputEnd::More && rest.trim_ascii_end().len() == 1 => return Open,
        at => at.and_then(|at| rest.get(..at)).unwrap_or(rest),
    };
    match line.trim_ascii_end().len() {
        1 => Yes("its lines have a mark after each message".into()),
        _ => No,
    }
}

/// Judges a message that does not end here, or that is no JSON.
fn is_loose_beginning(text: &[u8], end: InputEnd, known: &mut MessageTest) -> FormVerdict {
    let first = memchr::memchr(b'\n', text).unwrap_or(text.len());
    match serde_json::from_slice::<IgnoredAny>(text) {
        // The error is before the first line end.
        Err(error) if !error.is_eof() && error.line() == 1 && error.column() < first => {
            return is_typographic(
                text.get(..first).unwrap_or(text),
                first < text.len(),
                end,
                known,
            );
        }
        Err(error) if !error.is_eof() => {
            let breaks = memchr::memchr_iter(b'\n', text).skip(1).take(MAX_LINES);
            let last = (end != InputEnd::More).then_some(text.len());
            let mut joined = breaks
                .chain(last)
                .map(|at| unwrapped(text.get(..at).unwrap_or(text), None));
            let is_message = |line: Vec<u8>| {
                let message = json_len(&line).and_then(|len| line.get(..len));
                message.is_some_and(|message| known.is_message(message))
            };
            if joined.any(is_message) {
                return Yes("its lines were broken at a width".into());
            }
            // JSON5 and JavaScript have commas behind the last member.
            if text.starts_with(b"{\n")
                && matches!(objects::find(text, 0, known), Search::Found(one) if one.place.0 == 0)
            {
                return Yes("its object has more than JSON allows".into());
            }
        }
        _ => {}
    }
    if end == InputEnd::More {
        return Open;
    }
    let mut completed = objects::completed(text).into_iter().flatten();
    if completed.any(|json| known.framing(&json) == Some(MessageFraming::Headers)) {
        return without_header();
    }
    No
}

/// Says if a line is a message but for blanks and quotes that are not those of ASCII, as a page or a word processor has them.
fn is_typographic(
    line: &[u8],
    is_whole: bool,
    end: InputEnd,
    known: &mut MessageTest,
) -> FormVerdict {
    match to_ascii(line) {
        Cow::Owned(_) if !is_whole && end == InputEnd::More => Open,
        Cow::Owned(line) if known.is_message(&line) => {
            Yes("its blanks or quotes are not those of JSON".into())
        }
        _ => No,
    }
}

fn without_header() -> FormVerdict {
    Yes("its messages have no headers, which their protocol needs".into())
}

/// Returns true if an object that is no message itself has one inside.
fn is_wrapper(object: &[u8], expected: Expected) -> bool {
    let members: Map<String, Value> = serde_json::from_slice(object).unwrap_or_default();
    (is_http_request(object) || !has_part_of_message(&members))
        && Finder::new(expected).has_inner_message(object)
}

/// Returns true if an object has a member that a message has beside its id.
fn has_part_of_message(members: &Map<String, Value>) -> bool {
    let is_own = |key: &str| members.contains_key(key);
    ["method", "result", "error"].into_iter().any(is_own)
}

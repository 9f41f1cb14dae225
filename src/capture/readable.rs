//! Is it text in which bytes or messages are shown, and not a stream of messages that is text itself?
//!
//! ```text
//!   {"log":"...","stream":"stdout"}   text: the first key is not one of a message
//!   {"jsonrpc":"2.0",...              a stream
//!   GET / HTTP/1.1                    a stream
//!   []byte{0x0, 0x41}                 text
//! ```

use super::form::{FormVerdict, InputEnd};
use super::pasted::is_printed_http;
use FormVerdict::{No, Open, Yes};

/// A mark that `bytes` might be the beginning of.
pub(super) fn starts(bytes: &[u8], mark: &[u8]) -> FormVerdict<()> {
    if bytes.starts_with(mark) {
        Yes(())
    } else if mark.starts_with(bytes) {
        Open
    } else {
        No
    }
}

/// The text behind `{"`, where an object begins.
pub(super) fn first_key(text: &[u8]) -> Result<&[u8], FormVerdict<()>> {
    let mut rest = text;
    for mark in [b"{", b"\""] {
        rest = rest.trim_ascii_start();
        match starts(rest, mark) {
            Yes(()) => rest = rest.get(1..).unwrap_or_default(),
            other => return Err(other),
        }
    }
    Ok(rest)
}

/// Returns the first line if it is an object whose first key, with its closing quote, is one of `keys`.
pub(super) fn first_object<'t>(
    text: &'t [u8],
    keys: &[&[u8]],
    end: InputEnd,
) -> Result<&'t [u8], FormVerdict> {
    let verdict = |verdict: FormVerdict<()>| verdict.map(|()| String::new());
    let key = first_key(text).map_err(verdict)?;
    let verdicts = || keys.iter().map(|mark| starts(key, mark));
    if !verdicts().any(|verdict| matches!(verdict, Yes(()))) {
        let is_open = verdicts().any(|verdict| matches!(verdict, Open));
        return Err(if is_open { Open } else { No });
    }
    let text = text.trim_ascii_start();
    let line = text.split(|&c| c == b'\n').next().unwrap_or_default();
    if line.len() == text.len() && end != InputEnd::Real {
        return Err(Open);
    }
    Ok(line)
}

/// The beginnings of streams that are text themselves.
const NATIVE: [&[u8]; 12] = [
    b"GET ",
    b"POST ",
    b"PUT ",
    b"DELETE ",
    b"HEAD ",
    b"OPTIONS ",
    b"PATCH ",
    b"CONNECT ",
    b"PRI * HTTP",
    b"HTTP/1",
    b"Content-Length:",
    b"Content-Type:",
];

/// First keys of messages themselves. An object with another first key contains messages or bytes, as a log does, or is a
/// message that the text itself gives.
const MESSAGE_KEYS: [&[u8]; 9] = [
    b"jsonrpc\"",
    b"id\"",
    b"method\"",
    b"params\"",
    b"result\"",
    b"error\"",
    b"notification\"",
    b"seq\"",
    b"port\"",
];
/// The first key of an event of Chrome's debugging protocol, which is no message of JSON-RPC.
const DEVTOOLS: [&[u8]; 3] = [b"method\"", b":", b"\"Network."];

/// Returns the strongest verdict about several marks.
fn any(marks: &[&[u8]], text: &[u8]) -> FormVerdict<()> {
    let verdicts = marks.iter().map(|mark| starts(text, mark));
    verdicts.fold(No, |best, verdict| match (best, verdict) {
        (Yes(()), _) | (_, Yes(())) => Yes(()),
        (Open, _) | (_, Open) => Open,
        (No, No) => No,
    })
}

/// Asks about text that starts with an object.
fn is_readable_object(text: &[u8]) -> FormVerdict {
    let key = match first_key(text) {
        Ok(key) => key,
        // Braces of a list, or an empty object.
        Err(No)
            if !text
                .get(1..)
                .unwrap_or_default()
                .trim_ascii_start()
                .starts_with(b"}") =>
        {
            return Yes("it is text".into());
        }
        Err(verdict) => return verdict.map(|()| String::new()),
    };
    let mut rest = key;
    for mark in DEVTOOLS {
        rest = rest.trim_ascii_start();
        match starts(rest, mark) {
            Yes(()) => rest = rest.get(mark.len()..).unwrap_or_default(),
            Open => return Open,
            No => {
                return match any(&MESSAGE_KEYS, key) {
                    Yes(()) => is_print_of_ruby(key),
                    Open => Open,
                    No => Yes("its first key is not one of a message".into()),
                };
            }
        }
    }
    Yes("it is an event of the Chrome DevTools protocol".into())
}

/// Says if an arrow is behind the first key, `{"jsonrpc"=>"2.0"}`, instead of a colon.
fn is_print_of_ruby(key: &[u8]) -> FormVerdict {
    let end = memchr::memchr(b'"', key).and_then(|at| key.get(at + 1..));
    match starts(end.unwrap_or_default().trim_ascii_start(), b"=>") {
        Yes(()) => Yes("its first key has an arrow, as Ruby prints it".into()),
        Open => Open,
        No => No,
    }
}

/// Returns true if a line that is not UTF-8 looks like one in Latin-1, or may do so once it is whole: it begins with ASCII, and
/// other bytes are few.
fn is_latin1(line: &[u8], is_whole: bool) -> bool {
    const MAX_SHARE: usize = 8;
    let others = line.iter().filter(|c| !c.is_ascii()).count();
    let has_controls = line.iter().any(|c| (0x80..0xa0).contains(c));
    let are_few = !is_whole || others * MAX_SHARE <= line.len();
    line.first().is_some_and(u8::is_ascii) && are_few && !has_controls
}

/// Text that is not itself a stream of messages. Whether it is text, the first line decides, so that the answer does not
/// depend on how much of the input has arrived.
pub(super) fn is_readable(text: &[u8], end: InputEnd) -> FormVerdict {
    let start = text.trim_ascii_start();
    let line_end = memchr::memchr(b'\n', start);
    let line = start.get(..line_end.unwrap_or(start.len()));
    let line = line.unwrap_or_default();
    let is_utf8 = match std::str::from_utf8(line) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && line_end.is_none() && end != InputEnd::Real,
    };
    let is_ended = line_end.is_some() || end != InputEnd::More;
    let is_utf8 = is_utf8 || is_latin1(line, is_ended);
    let is_plain = |c: &u8| !c.is_ascii_control() || c.is_ascii_whitespace() || *c == 0x1b;
    if !is_utf8 || !line.iter().all(is_plain) {
        return No;
    }
    if line_end.is_none() && end == InputEnd::More {
        return Open;
    }
    let found = || Yes("it is text".into());
    match start.first() {
        None => Open,
        Some(b'{') => is_readable_object(start),
        Some(b'[') => {
            let rest = start.get(1..).unwrap_or_default().trim_ascii_start();
            match rest {
                [] | [b']'] => Open,
                // Go writes a type before its lists.
                [b']', c, ..] if c.is_ascii_alphabetic() => found(),
                [b'{', ..] => is_readable_object(rest),
                [b'[', inner @ ..] => match inner.trim_ascii_start().first() {
                    None => Open,
                    // A list of lists that begin with a text, or a table of TOML.
                    Some(c) if *c == b'"' || c.is_ascii_alphabetic() => found(),
                    Some(_) => No,
                },
                [b']', ..] => No,
                _ => found(),
            }
        }
        Some(_) => match any(&NATIVE, start) {
            Yes(()) => is_printed_http(start).map(|()| "it is a print of HTTP".into()),
            Open => Open,
            No => found(),
        },
    }
}

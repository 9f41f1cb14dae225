//! Is it text in which bytes or messages are shown, and not a stream of messages that is text itself?
//!
//! ```text
//!   {"log":"...","stream":"stdout"}   text: the first key is one of a log
//!   {"jsonrpc":"2.0",...              a stream
//!   GET / HTTP/1.1                    a stream
//!   []byte{0x0, 0x41}                 text
//! ```

use super::form::{FormVerdict, InputEnd};
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

/// First keys of objects that contain messages or bytes in their members.
const ENVELOPE_KEYS: [&[u8]; 34] = [
    b"log\"",
    b"stream\"",
    b"time\"",
    b"timestamp\"",
    b"@timestamp\"",
    b"ts\"",
    b"t\"",
    b"level\"",
    b"lvl\"",
    b"severity\"",
    b"msg\"",
    b"message\"",
    b"MESSAGE\"",
    b"PRIORITY\"",
    b"SYSLOG_IDENTIFIER\"",
    b"_",
    b"logger\"",
    b"name\"",
    b"host\"",
    b"hostname\"",
    b"pid\"",
    b"dir\"",
    b"direction\"",
    b"event\"",
    b"data\"",
    b"payload\"",
    b"body\"",
    b"bytes\"",
    b"hex\"",
    b"base64\"",
    b"frame\"",
    b"raw\"",
    b"buffer\"",
    b"type\"",
];

/// Text that is not itself a stream of messages.
pub(super) fn is_readable(text: &[u8], end: InputEnd) -> FormVerdict {
    let is_utf8 = match std::str::from_utf8(text) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && end != InputEnd::Real,
    };
    let is_plain = |c: &u8| !c.is_ascii_control() || c.is_ascii_whitespace() || *c == 0x1b;
    if !is_utf8 || !text.iter().all(is_plain) {
        return No;
    }
    let start = text.trim_ascii_start();
    let found = || Yes("it is text".into());
    let any = |marks: &[&[u8]], text: &[u8]| {
        let verdicts = marks.iter().map(|mark| starts(text, mark));
        verdicts.fold(No, |best, verdict| match (best, verdict) {
            (Yes(()), _) | (_, Yes(())) => Yes(()),
            (Open, _) | (_, Open) => Open,
            (No, No) => No,
        })
    };
    match start.first() {
        None => Open,
        Some(b'{') => match first_key(start) {
            Err(verdict) => verdict.map(|()| String::new()),
            Ok(key) => any(&ENVELOPE_KEYS, key).map(|()| "its first key is one of a log".into()),
        },
        Some(b'[') => {
            let rest = start.get(1..).unwrap_or_default().trim_ascii_start();
            match rest {
                [] | [b']'] => Open,
                // Go writes a type before its lists.
                [b']', c, ..] if c.is_ascii_alphabetic() => found(),
                [b'{' | b'[' | b']', ..] => No,
                _ => found(),
            }
        }
        Some(_) => match any(&NATIVE, start) {
            Yes(()) => No,
            Open => Open,
            No => found(),
        },
    }
}

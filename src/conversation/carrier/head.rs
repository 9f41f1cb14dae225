//! Heads of HTTP exchanges, as far as a live connection must know them.

use super::{Carriage, MADE};
use crate::decoder::Decoded;
use crate::framing::Head;

/// Most fields that are looked at.
const FIELDS: usize = 128;

/// The status of a response, 0 of a request; `None` where the frame is no whole exchange.
pub(super) fn status(decoded: &Decoded<'_>) -> Option<u16> {
    match decoded.frame.head {
        Head::Http { status, event, .. } if !event => Some(status),
        _ => None,
    }
}

/// The start line.
pub(super) fn start<'a>(decoded: &Decoded<'a>) -> &'a str {
    match decoded.frame.head {
        Head::Http { start, .. } => start,
        _ => "",
    }
}

/// What a field says, where the head is at hand and has it.
pub(super) fn field(decoded: &Decoded<'_>, name: &str) -> Option<String> {
    let bytes = decoded.frame.view.bytes;
    let start = bytes.iter().position(|b| *b == b'\n')? + 1;
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let rest = bytes.get(start..)?;
    let httparse::Status::Complete((_, fields)) =
        httparse::parse_headers(rest, &mut fields).ok()?
    else {
        return None;
    };
    let found = fields.iter().find(|f| f.name.eq_ignore_ascii_case(name))?;
    Some(String::from_utf8_lossy(found.value).trim().to_owned())
}

/// A request: its start line, what is usual in it or is said in place of that, and what else the carriage says.
pub(super) fn request(method: &str, usual: &[(&str, &str)], carriage: &Carriage<'_>) -> String {
    let Carriage {
        host, path, fields, ..
    } = carriage;
    let is_one_of = |names: &[&str], name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
    let said = || {
        let all = fields.iter().map(|(name, value)| (&**name, &**value));
        all.filter(|(name, _)| !is_one_of(&MADE, name))
    };
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    let usual = || {
        [("host", host.as_str())]
            .into_iter()
            .chain(usual.iter().copied())
    };
    let first = usual().map(|own| {
        let other = said().find(|(name, _)| own.0.eq_ignore_ascii_case(name));
        other.unwrap_or(own)
    });
    let names: Vec<&str> = usual().map(|(name, _)| name).collect();
    let rest = said().filter(|(name, _)| !is_one_of(&names, name));
    for (name, value) in first.chain(rest) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text
}

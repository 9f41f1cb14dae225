//! Heads of HTTP exchanges, as far as a live connection must know them.

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

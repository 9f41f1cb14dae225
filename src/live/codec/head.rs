//! Heads of HTTP exchanges, as far as a live connection must know them.

use super::{ConnectionConfig, MADE};
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

/// Whether the connection ends with this exchange.
pub(super) fn closes(decoded: &Decoded<'_>) -> bool {
    matches!(decoded.frame.head, Head::Http { closes: true, .. })
}

/// Whether bytes are a head, and nothing more yet, whose client waits to be told to go on: RFC 9110 section 10.1.1. One of
/// HTTP/1.0 is not to be told so.
pub(super) fn expects(bytes: &[u8]) -> bool {
    if !bytes.ends_with(b"\n\r\n") {
        return false;
    }
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let whole = request.parse(bytes);
    let whole = whole.is_ok_and(|n| n == httparse::Status::Complete(bytes.len()));
    let asks = values(bytes, "expect").is_some_and(|values| lists(&values, "100-continue"));
    whole && request.version == Some(1) && asks
}

/// What a field says, where the head is at hand and has it.
pub(super) fn field(decoded: &Decoded<'_>, name: &str) -> Option<String> {
    values(decoded.frame.view.bytes, name)?.into_iter().next()
}

/// Whether a field that is a list has an element.
pub(super) fn has(decoded: &Decoded<'_>, name: &str, element: &str) -> bool {
    values(decoded.frame.view.bytes, name).is_some_and(|values| lists(&values, element))
}

fn lists(values: &[String], element: &str) -> bool {
    let mut all = values.iter().flat_map(|value| value.split(','));
    all.any(|one| one.trim().eq_ignore_ascii_case(element))
}

/// All that fields of that name say, in a head at the beginning of these bytes.
fn values(bytes: &[u8], name: &str) -> Option<Vec<String>> {
    let start = bytes.iter().position(|b| *b == b'\n')? + 1;
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let rest = bytes.get(start..)?;
    let httparse::Status::Complete((_, fields)) =
        httparse::parse_headers(rest, &mut fields).ok()?
    else {
        return None;
    };
    let found = fields.iter().filter(|f| f.name.eq_ignore_ascii_case(name));
    let text = |f: &httparse::Header<'_>| String::from_utf8_lossy(f.value).trim().to_owned();
    Some(found.map(text).collect())
}

/// A request: its start line, what is usual in it or is said in place of that, and what else the config says.
pub(super) fn request(
    method: &str,
    usual: &[(&str, &str)],
    config: &ConnectionConfig<'_>,
) -> String {
    let ConnectionConfig {
        host, path, fields, ..
    } = config;
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

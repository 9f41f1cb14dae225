//! Reads and writes heads of HTTP exchanges for live connections.

use super::{ConnectionConfig, GENERATED_FIELDS};
use crate::decoder::Decoded;
use crate::framing::Head;

/// Maximum number of fields that are read.
const MAX_FIELDS: usize = 128;

/// Returns the status of a response, or 0 for a request. `None` if the frame is not a complete exchange.
pub(super) fn status(decoded: &Decoded<'_>) -> Option<u16> {
    match decoded.frame.head {
        Head::Http { status, event, .. } if !event => Some(status),
        _ => None,
    }
}

/// Returns the start line.
pub(super) fn start_line<'a>(decoded: &Decoded<'a>) -> &'a str {
    match decoded.frame.head {
        Head::Http { start, .. } => start,
        _ => "",
    }
}

/// Returns `true` if the connection ends with this exchange.
pub(super) fn closes_connection(decoded: &Decoded<'_>) -> bool {
    matches!(decoded.frame.head, Head::Http { closes: true, .. })
}

/// Returns `true` if the bytes are exactly a head whose client waits for `100 Continue` (RFC 9110 section 10.1.1). A
/// client of HTTP/1.0 must not receive it.
pub(super) fn expects_continue(bytes: &[u8]) -> bool {
    if !bytes.ends_with(b"\n\r\n") {
        return false;
    }
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let is_complete = request.parse(bytes);
    let is_complete = is_complete.is_ok_and(|n| n == httparse::Status::Complete(bytes.len()));
    let expects = values(bytes, "expect").is_some_and(|values| contains(&values, "100-continue"));
    is_complete && request.version == Some(1) && expects
}

/// Returns the value of a field, if the head is available and has it.
pub(super) fn field(decoded: &Decoded<'_>, name: &str) -> Option<String> {
    values(decoded.frame.view.bytes, name)?.into_iter().next()
}

/// Returns `true` if a list field has this element.
pub(super) fn has_element(decoded: &Decoded<'_>, name: &str, element: &str) -> bool {
    values(decoded.frame.view.bytes, name).is_some_and(|values| contains(&values, element))
}

fn contains(values: &[String], element: &str) -> bool {
    let mut all = values.iter().flat_map(|value| value.split(','));
    all.any(|one| one.trim().eq_ignore_ascii_case(element))
}

/// Returns the values of all fields of this name in the head at the start of these bytes.
fn values(bytes: &[u8], name: &str) -> Option<Vec<String>> {
    let start = bytes.iter().position(|b| *b == b'\n')? + 1;
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
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

/// Writes a request: start line, default fields or their replacements, further fields of the configuration.
pub(super) fn request(
    method: &str,
    defaults: &[(&str, &str)],
    config: &ConnectionConfig<'_>,
) -> String {
    let ConnectionConfig {
        host, path, fields, ..
    } = config;
    let is_one_of = |names: &[&str], name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
    let sent = || {
        let all = fields.iter().map(|(name, value)| (&**name, &**value));
        all.filter(|(name, _)| !is_one_of(&GENERATED_FIELDS, name))
    };
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    let defaults = || {
        [("host", host.as_str())]
            .into_iter()
            .chain(defaults.iter().copied())
    };
    let first = defaults().map(|default| {
        let other = sent().find(|(name, _)| default.0.eq_ignore_ascii_case(name));
        other.unwrap_or(default)
    });
    let names: Vec<&str> = defaults().map(|(name, _)| name).collect();
    let rest = sent().filter(|(name, _)| !is_one_of(&names, name));
    for (name, value) in first.chain(rest) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text
}

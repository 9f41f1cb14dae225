//! Reads and writes heads of HTTP exchanges for live connections.

use super::{ConnectionConfig, FieldsOfRequest, GENERATED_FIELDS};
use crate::decoder::Decoded;
use crate::framing::Head;

/// The type of a stream of events.
pub(in crate::live) const EVENT_STREAM: &str = "text/event-stream";
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
    is_complete && request.version == Some(1) && contains(bytes, "expect", "100-continue")
}

/// Returns the value of a field, if the head is available and has it.
pub(in crate::live) fn field(decoded: &Decoded<'_>, name: &str) -> Option<String> {
    field_of(decoded.frame.view.bytes, name)
}

/// Returns the value of a field of the head at the start of these bytes.
pub(in crate::live) fn field_of(bytes: &[u8], name: &str) -> Option<String> {
    values(bytes, name)?.into_iter().next()
}

/// Returns `true` if a list field has this element.
pub(super) fn has_element(decoded: &Decoded<'_>, name: &str, element: &str) -> bool {
    contains(decoded.frame.view.bytes, name, element)
}

/// Returns the elements of a list field in the head at the start of these bytes.
pub(super) fn elements(bytes: &[u8], name: &str) -> Vec<String> {
    let values = values(bytes, name).unwrap_or_default();
    let parts = values.iter().flat_map(|value| value.split(','));
    let parts = parts.map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

fn contains(bytes: &[u8], name: &str, element: &str) -> bool {
    let all = elements(bytes, name);
    all.iter().any(|one| one.eq_ignore_ascii_case(element))
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

/// Writes a request: start line, default fields or their replacements, further fields. The fields of the session replace
/// those of the user, and these those of the recording: of the recorded message, if there is one.
pub(super) fn request(
    method: &str,
    defaults: &[(&str, &str)],
    config: &ConnectionConfig<'_>,
    recorded: Option<&[u8]>,
    session: &FieldsOfRequest,
) -> String {
    let own = recorded.map(user_fields);
    let recorded = own.as_ref().unwrap_or(&config.recorded);
    let of_session = session.fields.iter().map(|(name, value)| (*name, &**value));
    let mut fields: Vec<(&str, &str)> = of_session.collect();
    for source in [&config.fields, recorded] {
        let upto = fields.len();
        for (name, value) in source {
            let is_known = fields
                .iter()
                .take(upto)
                .any(|(n, _)| n.eq_ignore_ascii_case(name));
            let mut removed = session.removed.iter();
            let is_removed = removed.any(|n| n.eq_ignore_ascii_case(name));
            let is_generated = GENERATED_FIELDS
                .iter()
                .any(|n| n.eq_ignore_ascii_case(name));
            if !is_known && !is_removed && !is_generated {
                fields.push((name, value));
            }
        }
    }
    let path = session.path.as_ref().unwrap_or(&config.path);
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    let host = [("host", config.host.as_str())];
    let defaults = || host.iter().chain(defaults).copied();
    let first = defaults().map(|default| {
        let other = fields
            .iter()
            .find(|(name, _)| default.0.eq_ignore_ascii_case(name));
        *other.unwrap_or(&default)
    });
    let is_default = |name: &str| defaults().any(|(known, _)| known.eq_ignore_ascii_case(name));
    let rest = fields.iter().copied().filter(|(name, _)| !is_default(name));
    for (name, value) in first.chain(rest) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text
}

/// Returns the fields of a request that the user has set: no fields that each connection generates, and none about this
/// connection or the encoding of the body.
pub(in crate::live) fn user_fields(head: &[u8]) -> Vec<(String, String)> {
    const PER_CONNECTION: [&str; 16] = [
        "host",
        "content-type",
        "content-encoding",
        "content-digest",
        "content-md5",
        "digest",
        "repr-digest",
        "accept",
        "accept-encoding",
        "expect",
        "http2-settings",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
    ];
    let mut buffer = [httparse::EMPTY_HEADER; 128];
    let mut request = httparse::Request::new(&mut buffer);
    if request.parse(head).is_err() {
        return Vec::new();
    }
    let text = |field: &httparse::Header<'_>| {
        let value = std::str::from_utf8(field.value).ok()?.to_owned();
        Some((field.name.to_ascii_lowercase(), value))
    };
    let all: Vec<(String, String)> = request.headers.iter().filter_map(text).collect();
    // RFC 9110 section 7.6.1: Connection names the fields that are about the connection.
    let named = all.iter().filter(|(name, _)| name == "connection");
    let named = named.flat_map(|(_, value)| value.split(','));
    let named: Vec<String> = named.map(|n| n.trim().to_ascii_lowercase()).collect();
    let is_per_connection = |name: &str| {
        PER_CONNECTION.contains(&name)
            || GENERATED_FIELDS.contains(&name)
            || named.iter().any(|other| other == name)
    };
    let fields = all.into_iter();
    let fields = fields.filter(|(name, _)| !name.is_empty() && !is_per_connection(name));
    fields.collect()
}

#[cfg(test)]
mod tests {
    use super::user_fields;

    #[test]
    fn fields_about_the_connection_are_removed() {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\n\
                    Expect: 100-continue\r\nProxy-Connection: x\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\
                    Sec-WebSocket-Key: a\r\nUpgrade: websocket\r\nAuthorization: Bearer x\r\nX-Own: 1, 2\r\n\r\n";
        let own = [("authorization", "Bearer x"), ("x-own", "1, 2")];
        assert_eq!(
            user_fields(head.as_bytes()),
            own.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}

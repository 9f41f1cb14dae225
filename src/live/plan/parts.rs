//! Parts of recorded messages that are stored separately: ids and fields of HTTP requests; and the check that a
//! recording can be used.

use super::PlanError;
use crate::capture::{CaptureInput, Form, Header, Item, ProblemSeverity};
use crate::diff::{Val, walk};
use crate::live::codec::GENERATED_FIELDS;
use crate::protocol::{Id, Protocol};

/// The error for input that is not a recording.
pub(super) const NOT_A_RECORDING: &str =
    "not a recording: the first line must be {\"wiretool\":1,…}";

/// Checks that a recording is of one of these protocols, if it names one.
pub(super) fn check_protocol(
    header: &Header,
    protocols: &[&dyn Protocol],
) -> Result<(), PlanError> {
    match &header.protocol {
        Some(name) if !protocols.iter().any(|p| p.name() == name) => {
            let wanted = protocols.first().map_or("", |p| p.name());
            Err(format!("it is a recording of {name}, not of {wanted}"))
        }
        _ => Ok(()),
    }
}

/// Checks that this is a recording of this protocol without errors. A missing end is not an error.
pub(crate) fn check(recording: &[u8], protocol: &dyn Protocol) -> Result<(), PlanError> {
    let mut input = CaptureInput::new(Form::Recording);
    let (mut result, mut has_header) = (Ok(()), false);
    let mut item = |item: Item<'_>| {
        let found = match item {
            Item::Header(header) => {
                has_header = true;
                check_protocol(header, &[protocol])
            }
            Item::Problem(problem) if problem.severity == ProblemSeverity::Error => {
                Err(problem.to_string())
            }
            _ => Ok(()),
        };
        if result.is_ok() {
            result = found;
        }
    };
    input.push(recording, &mut item);
    input.finish(&mut item);
    if !has_header {
        return Err(NOT_A_RECORDING.into());
    }
    result
}

/// Returns the id of a message as a value.
pub(in crate::live) fn id_of(id: &Id<'_>) -> Option<Val> {
    match id {
        Id::None => None,
        Id::Uuid(uuid) => Some(Val::Uuid(*uuid)),
        Id::Text(text) => Some(Val::text(text)),
        Id::Number(n) => Some(Val::Number(n.to_string())),
        Id::Json(text) => {
            let mut val = None;
            walk(text, &mut |_, spot| val = Some(spot.val));
            val
        }
    }
}

/// Returns the fields of a request that the user has set: no fields that each connection generates, and none about this
/// connection or the encoding of the body.
pub(super) fn user_fields(head: &[u8]) -> Vec<(String, String)> {
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

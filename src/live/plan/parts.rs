//! What of a message is kept in a form of its own: its id, and the fields of the request that carried it. And whether
//! there are messages at all.

use super::PlanError;
use crate::capture::{Form, Header, Input, Item, Severity};
use crate::diff::{Val, walk};
use crate::live::codec::MADE;
use crate::protocol::{Id, Protocol};

/// What is said of what is no recording.
pub(super) const NO_RECORDING: &str =
    "this is no recording: one begins with a line {\"wiretool\":1,…}";

/// Whether a recording is of one of these protocols, where it says so.
pub(super) fn is_of(header: &Header, protocols: &[&dyn Protocol]) -> Result<(), PlanError> {
    match &header.protocol {
        Some(name) if !protocols.iter().any(|p| p.name() == name) => {
            let wanted = protocols.first().map_or("", |p| p.name());
            Err(format!(
                "it is a recording of {name}, and {wanted} was asked for"
            ))
        }
        _ => Ok(()),
    }
}

/// Whether this is a recording, whole but for its end, and of that protocol.
pub(crate) fn check(recording: &[u8], protocol: &dyn Protocol) -> Result<(), PlanError> {
    let mut input = Input::new(Form::Recording);
    let (mut unfit, mut has_head) = (Ok(()), false);
    let mut item = |item: Item<'_>| {
        let found = match item {
            Item::Header(header) => {
                has_head = true;
                is_of(header, &[protocol])
            }
            Item::Problem(problem) if problem.severity == Severity::Error => {
                Err(problem.to_string())
            }
            _ => Ok(()),
        };
        if unfit.is_ok() {
            unfit = found;
        }
    };
    input.push(recording, &mut item);
    input.finish(&mut item);
    if !has_head {
        return Err(NO_RECORDING.into());
    }
    unfit
}

/// The id of a message, as the value that it is.
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

/// Fields of a request that are the user's: not those that every connection makes anew, nor those that speak of how this
/// one is used or its body is written.
pub(super) fn fields(head: &[u8]) -> Vec<(String, String)> {
    const ANEW: [&str; 16] = [
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
    let mut room = [httparse::EMPTY_HEADER; 128];
    let mut request = httparse::Request::new(&mut room);
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
    let is_anew = |name: &str| {
        ANEW.contains(&name) || MADE.contains(&name) || named.iter().any(|other| other == name)
    };
    let fields = all.into_iter();
    let fields = fields.filter(|(name, _)| !name.is_empty() && !is_anew(name));
    fields.collect()
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn what_belongs_to_the_connection_is_not_the_users() {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\n\
                    Expect: 100-continue\r\nProxy-Connection: x\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\
                    Sec-WebSocket-Key: a\r\nUpgrade: websocket\r\nAuthorization: Bearer x\r\nX-Own: 1, 2\r\n\r\n";
        let own = [("authorization", "Bearer x"), ("x-own", "1, 2")];
        assert_eq!(
            fields(head.as_bytes()),
            own.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}

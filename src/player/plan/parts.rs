//! What of a message is kept in a form of its own: its id, and the fields of the request that carried it.

use crate::player::walk::{Val, walk};
use crate::protocol::Id;

/// The id of a message, as the value that it is.
pub(super) fn id_of(id: &Id<'_>) -> Option<Val> {
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

/// Fields of a request that are the user's: not those that every connection makes anew.
pub(super) fn fields(head: &[u8]) -> Vec<(String, String)> {
    const ANEW: [&str; 11] = [
        "host",
        "connection",
        "upgrade",
        "content-length",
        "content-type",
        "transfer-encoding",
        "accept",
        "accept-encoding",
        "sec-websocket-key",
        "sec-websocket-version",
        "sec-websocket-extensions",
    ];
    let mut room = [httparse::EMPTY_HEADER; 128];
    let mut request = httparse::Request::new(&mut room);
    if request.parse(head).is_err() {
        return Vec::new();
    }
    let fields = request.headers.iter().filter_map(|field| {
        let name = field.name.to_ascii_lowercase();
        let value = std::str::from_utf8(field.value).ok()?.to_owned();
        (!ANEW.contains(&name.as_str()) && !name.is_empty()).then_some((name, value))
    });
    fields.collect()
}

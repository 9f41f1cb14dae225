//! The upgrade to WebSocket: the offered subprotocols and the selected one.

use super::state::{Agreed, SaelConnection};
use super::{SaelMessage, broken, rule, short};
use crate::framing::Head;
use crate::framing::fields::{fields, is_token, secrets};
use crate::span::Span;

/// The field that offers subprotocols and selects one.
const FIELD: &str = "sec-websocket-protocol";

/// Handles a head.
pub(super) fn head(message: &SaelMessage<'_, '_>, conn: &mut SaelConnection) {
    let Head::Http { status, .. } = message.frame.head else {
        return;
    };
    conn.has_start = true;
    if status == 101 {
        conn.agreed = Agreed::Json;
    }
    let bytes = message.frame.view.bytes;
    let secrets = secrets(bytes, &|_| false);
    for field in fields(bytes).filter(|field| field.is(FIELD)) {
        // RFC 6455 section 11.3.4: the field may occur several times, which is equivalent to one list.
        let mut from = field.value.start;
        let value = bytes.get(field.value).unwrap_or_default();
        for part in value.split(|b| *b == b',') {
            let blank = part.len() - part.trim_ascii_start().len();
            let part_at = from + blank;
            from += part.len() + 1;
            let name = part.trim_ascii();
            if status == 101 && contains(name, b"msgpack") {
                conn.agreed = Agreed::MessagePack;
            }
            // RFC 6455 section 4.1 (10): the elements are tokens of RFC 9110, which have no separators.
            if let Some(odd) = name.iter().find(|b| !is_token(**b)) {
                let place = part_at..part_at + name.len();
                let is_secret = secrets
                    .iter()
                    .any(|s| s.range.start < place.end && place.start < s.range.end);
                let shown = if is_secret {
                    "(secret)".into()
                } else {
                    short(&String::from_utf8_lossy(name))
                };
                let place = message.span(Span::new(place.start, place.end));
                broken!(message, rule::SUBPROTOCOL_NAME, place;
                    "subprotocol `{shown}` has `{}`, which a token cannot contain",
                    odd.escape_ascii());
            }
        }
    }
}

fn contains(name: &[u8], word: &[u8]) -> bool {
    name.windows(word.len())
        .any(|w| w.eq_ignore_ascii_case(word))
}

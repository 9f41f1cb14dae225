//! Fields of HTTP heads, for rules.

use super::Seen;
use crate::framing::Head;
use crate::framing::fields::fields;
use crate::span::Span;

/// Returns the head of a message in HTTP; `None` for an event of a stream, and for a body that was reassembled.
pub fn head<'a>(seen: &Seen<'a>) -> Option<&'a [u8]> {
    let frame = seen.frame;
    match frame.head {
        Head::Http {
            start,
            len,
            event: false,
            ..
        } => {
            let head = frame.view.bytes.get(..len as usize)?;
            head.starts_with(start.as_bytes()).then_some(head)
        }
        _ => None,
    }
}

/// Returns the values of a field, joined by commas, and the position of the first. If the field is absent, the position
/// is that of the head.
pub fn field(head: &[u8], name: &str) -> (Option<String>, Span) {
    let named = || fields(head).filter(|field| field.is(name));
    let text = |value| String::from_utf8_lossy(head.get(value).unwrap_or_default()).into_owned();
    let values: Vec<String> = named().map(|field| text(field.value)).collect();
    let place = named().next().map_or(0..head.len(), |field| field.value);
    let values = (!values.is_empty()).then(|| values.join(", "));
    (values, Span::new(place.start, place.end))
}

/// Returns true if a response starts an event stream.
pub fn starts_events(seen: &Seen<'_>) -> bool {
    let kind = head(seen).and_then(|head| field(head, "content-type").0);
    kind.is_some_and(|kind| kind.to_ascii_lowercase().contains("text/event-stream"))
}

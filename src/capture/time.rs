//! Times of captures: nanoseconds since 1970, written as RFC 3339 with nine digits of fraction.

use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

/// Nanoseconds since 1970-01-01T00:00:00Z.
pub type Time = i128;

/// Parses an RFC 3339 time.
pub(super) fn parse(text: &str) -> Option<Time> {
    text.parse::<jiff::Timestamp>()
        .ok()
        .map(jiff::Timestamp::as_nanosecond)
}

const PRINTER: jiff::fmt::temporal::DateTimePrinter =
    jiff::fmt::temporal::DateTimePrinter::new().precision(Some(9));

/// Appends a time of a chunk.
#[cfg(feature = "render")]
pub(crate) fn push_time(time: i64, out: &mut Vec<u8>) {
    let time = jiff::Timestamp::from_nanosecond(time.into()).unwrap_or_default();
    // A vector accepts everything.
    let _ = PRINTER.print_timestamp(&time, out);
}

#[allow(clippy::ref_option)] // the shape that serde asks for
pub(super) fn serialize<S: Serializer>(at: &Option<Time>, to: S) -> Result<S::Ok, S::Error> {
    match at.map(jiff::Timestamp::from_nanosecond) {
        Some(Ok(at)) => to.serialize_str(&PRINTER.timestamp_to_string(&at)),
        // A time after the year 9999 cannot be written; the recording continues without it.
        None | Some(Err(_)) => to.serialize_none(),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else {
        return Ok(None);
    };
    parse(&text)
        .map(Some)
        .ok_or_else(|| D::Error::custom(format!("started: not a time of RFC 3339: {text:?}")))
}

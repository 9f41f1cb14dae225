//! Times of captures: nanoseconds since 1970, written as RFC 3339 with nine digits of fraction. A time whose date is not
//! known is in a year of its own; screens show its time of day, and JSON leaves it out.

use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

/// Nanoseconds since 1970-01-01T00:00:00Z.
pub type Time = i128;

/// A day.
pub(super) const DAY: Time = 86_400_000_000_000;
/// 1700-01-01T00:00:00Z: times in the year after it have no date.
const UNDATED: Time = -98_615 * DAY;

/// Returns a time of day without a date, from nanoseconds since midnight.
pub(super) fn of_day(since_midnight: Time) -> Time {
    UNDATED + since_midnight
}

/// Returns true if the date of a time is not known.
pub(super) fn is_undated(time: Time) -> bool {
    (UNDATED..UNDATED + 365 * DAY).contains(&time)
}

/// Parses an RFC 3339 time, or one without a date: `10:00:00.5`.
pub(super) fn parse(text: &str) -> Option<Time> {
    let dated = text.parse::<jiff::Timestamp>();
    let dated = dated.ok().map(jiff::Timestamp::as_nanosecond);
    dated.or_else(|| {
        let is_clock = text.as_bytes().get(2) == Some(&b':');
        let dated = is_clock.then(|| format!("1700-01-01T{text}Z"))?;
        let time = dated.parse::<jiff::Timestamp>().ok()?;
        Some(time.as_nanosecond())
    })
}

/// Returns a time of day in milliseconds, if the date is not known.
#[cfg(test)]
pub(super) fn clock_of(time: Time) -> Option<String> {
    let time = is_undated(time)
        .then(|| jiff::Timestamp::from_nanosecond(time))?
        .ok()?;
    Some(PRINTER.timestamp_to_string(&time).get(11..23)?.to_owned())
}

const PRINTER: jiff::fmt::temporal::DateTimePrinter =
    jiff::fmt::temporal::DateTimePrinter::new().precision(Some(9));

/// Appends a member of an object: the time of a chunk, unless it or its date is not known.
#[cfg(feature = "render")]
pub(crate) fn write_time(name: &str, time: Option<i64>, out: &mut Vec<u8>) {
    if let Some(time) = time.filter(|time| !is_undated((*time).into())) {
        let time = jiff::Timestamp::from_nanosecond(time.into()).unwrap_or_default();
        out.extend_from_slice(b",\"");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":\"");
        // A vector accepts everything.
        let _ = PRINTER.print_timestamp(&time, &mut *out);
        out.push(b'"');
    }
}

/// Returns true if a header leaves a time out.
#[allow(clippy::ref_option)] // the shape that serde asks for
pub(super) fn is_left_out(at: &Option<Time>) -> bool {
    at.is_none_or(is_undated)
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

//! Times of captures: nanoseconds since 1970, written as RFC 3339 with nine digits of fraction. A time whose date is not
//! known is in a year of its own, and written without a date.

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
fn is_undated(time: Time) -> bool {
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
    Some(written(time).get(..12)?.to_owned())
}

/// Returns a time as it is written.
fn written(time: jiff::Timestamp) -> String {
    let mut text = PRINTER.timestamp_to_string(&time);
    if is_undated(time.as_nanosecond())
        && let Some((_, clock)) = text.split_once('T')
    {
        text = clock.trim_end_matches('Z').to_owned();
    }
    text
}

const PRINTER: jiff::fmt::temporal::DateTimePrinter =
    jiff::fmt::temporal::DateTimePrinter::new().precision(Some(9));

/// Appends a time of a chunk.
#[cfg(feature = "render")]
pub(crate) fn push_time(time: i64, out: &mut Vec<u8>) {
    let is_undated = is_undated(time.into());
    let time = jiff::Timestamp::from_nanosecond(time.into()).unwrap_or_default();
    if is_undated {
        return out.extend_from_slice(written(time).as_bytes());
    }
    // A vector accepts everything.
    let _ = PRINTER.print_timestamp(&time, out);
}

#[allow(clippy::ref_option)] // the shape that serde asks for
pub(super) fn serialize<S: Serializer>(at: &Option<Time>, to: S) -> Result<S::Ok, S::Error> {
    match at.map(jiff::Timestamp::from_nanosecond) {
        Some(Ok(at)) => to.serialize_str(&written(at)),
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

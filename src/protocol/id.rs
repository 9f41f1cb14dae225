//! Ids of messages.

use crate::encoding::lossless::hex16;
use crate::tape::unescape;
use std::borrow::Cow;
use std::hash::{BuildHasher, Hash, Hasher as _};

/// The value that links an answer to its request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Id<'a> {
    /// The message has no id.
    #[default]
    None,
    /// A JSON value as it is spelled: `7`, `"a"`, `null`.
    Json(Cow<'a, str>),
    /// Sixteen bytes, shown lower-case and hyphenated.
    Uuid([u8; 16]),
    /// Text that is not a UUID.
    Text(Cow<'a, str>),
    /// A number.
    Number(i128),
}

impl Id<'_> {
    /// Copies the id.
    pub fn into_owned(self) -> Id<'static> {
        match self {
            Self::Json(text) => Id::Json(text.into_owned().into()),
            Self::Text(text) => Id::Text(text.into_owned().into()),
            Self::None => Id::None,
            Self::Uuid(uuid) => Id::Uuid(uuid),
            Self::Number(number) => Id::Number(number),
        }
    }

    /// Returns `true` for an id that is written, and names nothing: that of a message that could not be read.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Json(text) if text == "null")
    }

    /// Returns a number that a request and its answer share, beside `scope`; `None` without an id.
    pub(crate) fn pair_key(&self, scope: impl Hash, state: &impl BuildHasher) -> Option<u64> {
        let mut hasher = state.build_hasher();
        scope.hash(&mut hasher);
        match self {
            Self::None => return None,
            Self::Json(text) => same_spelling(text).hash(&mut hasher),
            Self::Text(text) => text.hash(&mut hasher),
            Self::Uuid(uuid) => uuid.hash(&mut hasher),
            Self::Number(number) => number.hash(&mut hasher),
        }
        Some(hasher.finish())
    }

    /// Returns the id for display. JSON ids stay as they are spelled, so that `7` and `"7"` differ.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::None => Cow::Borrowed(""),
            Self::Json(text) | Self::Text(text) => Cow::Borrowed(text),
            Self::Number(n) => Cow::Owned(n.to_string()),
            Self::Uuid(uuid) => {
                let text = uuid_text(uuid).to_vec();
                Cow::Owned(String::from_utf8(text).unwrap_or_default())
            }
        }
    }
}

/// Returns an id of JSON in the spelling that equal texts and equal whole numbers share: `7` for `7.0`.
fn same_spelling(text: &str) -> Cow<'_, str> {
    if let Some(inner) = text.strip_prefix('"') {
        if !text.contains('\\') {
            return text.into();
        }
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        return format!("\"{}\"", unescape(inner)).into();
    }
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse::<f64>().ok().filter(|_| !is_whole);
    // The limit of exact whole numbers.
    let number = number.filter(|n| n.fract() == 0.0 && n.abs() <= 9_007_199_254_740_992.0);
    number.map_or(text.into(), |n| format!("{}", n as i64).into())
}

/// Formats a UUID: lower-case and hyphenated.
pub fn uuid_text(uuid: &[u8; 16]) -> [u8; 36] {
    let digits = hex16(uuid);
    let mut text = [b'-'; 36];
    for (to, from) in [
        (0..8, 0..8),
        (9..13, 8..12),
        (14..18, 12..16),
        (19..23, 16..20),
        (24..36, 20..32),
    ] {
        text[to].copy_from_slice(&digits[from]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::same_spelling;

    #[test]
    fn equal_ids_have_one_spelling() {
        for (one, other) in [
            ("7", "7.0"),
            ("-7", "-7e0"),
            ("0", "-0.0"),
            (r#""\u00e9""#, "\"é\""),
            (r#""a\"""#, r#""\u0061\u0022""#),
        ] {
            assert_eq!(same_spelling(one), same_spelling(other), "{one}");
        }
        for (one, other) in [
            ("7", "\"7\""),
            ("7.5", "7"),
            ("9007199254740993", "9007199254740992"),
            ("null", "0"),
        ] {
            assert_ne!(same_spelling(one), same_spelling(other), "{one}");
        }
    }
}

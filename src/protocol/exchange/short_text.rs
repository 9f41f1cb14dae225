//! A text that is usually short.

use std::fmt;
use std::ops::Deref;

/// The length of a text that needs no memory of its own.
const INLINE: usize = 22;

/// A text that is usually short, as most ids are.
#[derive(Clone)]
pub(super) enum ShortText {
    Inline(u8, [u8; INLINE]),
    Long(Box<str>),
}

impl From<&str> for ShortText {
    fn from(text: &str) -> Self {
        let mut bytes = [0; INLINE];
        match bytes.get_mut(..text.len()) {
            Some(start) => {
                start.copy_from_slice(text.as_bytes());
                Self::Inline(text.len() as u8, bytes)
            }
            None => Self::Long(text.into()),
        }
    }
}

impl Deref for ShortText {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Inline(len, bytes) => {
                let text = bytes.get(..usize::from(*len)).unwrap_or_default();
                std::str::from_utf8(text).unwrap_or_default()
            }
            Self::Long(text) => text,
        }
    }
}

impl fmt::Debug for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{INLINE, ShortText};

    #[test]
    fn texts_of_each_length_are_kept() {
        assert_eq!(size_of::<ShortText>(), 24);
        for len in [0, 1, INLINE - 1, INLINE, INLINE + 1, 1000] {
            let text = "é".repeat(len / 2) + if len % 2 == 1 { "a" } else { "" };
            assert_eq!(&*ShortText::from(text.as_str()), text);
        }
    }
}

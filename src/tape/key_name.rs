//! Names of a schema: keys and named numbers. Keys of values that JSON lacks.

use std::sync::LazyLock;

/// The space for a name as a JSON key, in a size that is copied without a call.
const MAX_KEY_LEN: usize = 32;

/// A name of a schema, and its form as a JSON key, with quotes and colon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName {
    text: String,
    json_key: [u8; MAX_KEY_LEN],
    len: u8,
}

impl KeyName {
    /// The name of an entry without one.
    pub(crate) const NONE: &'static Self = &Self {
        text: String::new(),
        json_key: [0; MAX_KEY_LEN],
        len: 0,
    };

    /// Creates a name. A long one, or one with other characters than letters, digits and `_`, has
    /// no prepared key.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let mut json_key = [0; MAX_KEY_LEN];
        let mut len = 0;
        if plain && text.len() + 3 <= MAX_KEY_LEN {
            for (to, from) in json_key.iter_mut().zip(format!("\"{text}\":").bytes()) {
                *to = from;
                len += 1;
            }
        }
        Self {
            text,
            json_key,
            len,
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Writes it as a JSON key with colon. Returns `false` if it has no prepared key.
    #[inline]
    pub(crate) fn write_key(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&self.json_key);
        out.truncate(out.len() - MAX_KEY_LEN + self.len as usize);
        self.len > 0
    }
}

/// The key of an object for a value that JSON lacks, as a label for [`Sink::label`](super::Sink::label). Every tape knows
/// it, whatever its names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKey {
    /// A tag and its value.
    Tag,
    /// A simple value.
    Simple,
    /// Text in chunks.
    Text,
    /// Bytes in chunks.
    Bytes,
}

impl FormKey {
    const ALL: [Self; 4] = [Self::Tag, Self::Simple, Self::Text, Self::Bytes];

    /// Returns the index for labels; no schema has so many names.
    pub const fn id(self) -> u32 {
        u32::MAX - self as u32
    }

    /// Returns the name.
    pub fn name(self) -> &'static KeyName {
        static NAMES: LazyLock<[KeyName; 4]> =
            LazyLock::new(|| ["$tag", "$simple", "$str", "$bin"].map(KeyName::new));
        NAMES.get(self as usize).unwrap_or(KeyName::NONE)
    }

    /// Returns the name of a label.
    pub(super) fn named(id: u32) -> Option<&'static KeyName> {
        let key = Self::ALL.into_iter().find(|key| key.id() == id);
        key.map(Self::name)
    }
}

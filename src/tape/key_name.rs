//! Names of a schema: keys and named numbers.

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

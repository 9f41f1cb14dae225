//! The forms in which bytes may come in: the values of `--from`.

/// How an input is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// Found out from the bytes.
    #[default]
    Auto,
    /// The bytes themselves.
    Raw,
    /// Hex bytes, line by line, with comments.
    Hex,
    /// Hex bytes behind offsets: `xxd`, `hexdump -C`, `od -t x1`.
    Xxd,
    /// Base64, either alphabet.
    Base64,
    /// What `decode -f json` writes.
    Jsonl,
    /// What `-w` writes.
    Recording,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 7] = [
        Self::Auto,
        Self::Raw,
        Self::Hex,
        Self::Xxd,
        Self::Base64,
        Self::Jsonl,
        Self::Recording,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Raw => "raw",
            Self::Hex => "hex",
            Self::Xxd => "xxd",
            Self::Base64 => "base64",
            Self::Jsonl => "jsonl",
            Self::Recording => "recording",
        }
    }

    /// The form of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for form in Form::ALL {
            assert_eq!(Form::from_name(form.name()), Some(form));
        }
        assert_eq!(Form::from_name("HEX"), None);
    }
}

//! The bytes of a text that decide which secrets it can hold.

/// The maximum length of a text that is examined byte by byte. In a longer one, a search for each sign is faster.
const SHORT: usize = 128;

/// The sign of each byte.
static SIGN_OF: [u8; 256] = {
    let mut signs = [0; 256];
    let groups: [(u8, &[u8]); 6] = [
        (Signs::PAIR, b"=:"),
        (Signs::SPACE, b" "),
        (Signs::HYPHEN, b"-"),
        (Signs::UNDERSCORE, b"_"),
        (Signs::CAPITAL, b"IJK"),
        (Signs::PERCENT, b"%"),
    ];
    let mut group = 0;
    while group < groups.len() {
        let (sign, bytes) = groups[group];
        let mut at = 0;
        while at < bytes.len() {
            signs[bytes[at] as usize] = sign;
            at += 1;
        }
        group += 1;
    }
    signs
};

/// The signs that a text may have. Most texts are names and ids, which have none.
#[derive(Clone, Copy)]
pub(super) struct Signs(u8);

impl Signs {
    /// Between a name and a value.
    pub const PAIR: u8 = 1;
    pub const SPACE: u8 = 2;
    pub const HYPHEN: u8 = 4;
    pub const UNDERSCORE: u8 = 8;
    /// In the form of a key.
    pub const CAPITAL: u8 = 16;
    /// Before the digits of an escaped byte.
    pub const PERCENT: u8 = 32;

    pub fn of(text: &[u8]) -> Self {
        if text.len() > SHORT {
            let has_sign = memchr::memchr3(b'=', b':', b' ', text).is_some();
            let all = if has_sign {
                Self::PAIR | Self::SPACE
            } else {
                0
            };
            return Self(all | Self::HYPHEN | Self::UNDERSCORE | Self::CAPITAL | Self::PERCENT);
        }
        let sign = |byte: &u8| SIGN_OF.get(usize::from(*byte)).copied();
        Self(
            text.iter()
                .fold(0, |all, byte| all | sign(byte).unwrap_or(0)),
        )
    }

    /// Returns `true` if the text may have one of these signs.
    pub fn has(self, signs: u8) -> bool {
        self.0 & signs != 0
    }
}

/// Returns `true` if a word of the text may end as `Bearer` or `Basic` does.
pub(super) fn ends_like_a_scheme(text: &[u8]) -> bool {
    let mut pairs = text.windows(2);
    text.len() > SHORT || pairs.any(|pair| matches!(pair, [b'r' | b'c', b' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_signs_of_its_bytes() {
        for (text, want) in [
            ("math.add", 0),
            ("a=b", Signs::PAIR),
            ("a: b", Signs::PAIR | Signs::SPACE),
            ("x_y-z", Signs::UNDERSCORE | Signs::HYPHEN),
            ("AKIA", Signs::CAPITAL),
            ("a%3D", Signs::PERCENT),
        ] {
            assert_eq!(Signs::of(text.as_bytes()).0, want, "{text}");
        }
        let long = "a".repeat(SHORT + 1);
        assert!(Signs::of(long.as_bytes()).has(Signs::HYPHEN));
        assert!(!Signs::of(long.as_bytes()).has(Signs::PAIR | Signs::SPACE));
        assert!(Signs::of((long.clone() + "=").as_bytes()).has(Signs::PAIR));
        assert!(ends_like_a_scheme(long.as_bytes()));
        assert!(ends_like_a_scheme(b"a Bearer x") && !ends_like_a_scheme(b"a bean x"));
    }
}

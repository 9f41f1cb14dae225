//! Names of secret values, in messages, HTTP heads, queries and recordings.

/// Names of values that are secret wherever they occur: lower case, letters and digits only.
pub const NAMES: [&str; 9] = [
    "auth",
    "bearer",
    "cookies",
    "credentials",
    "pass",
    "passwords",
    "pwd",
    "secrets",
    "setcookie",
];
/// Endings of names that are secret too.
pub const ENDINGS: [&str; 14] = [
    "accesskey",
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "jwt",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
];
/// Tokens that only connect messages, as in MCP and LSP; not secret.
pub const OTHER_TOKENS: [&str; 3] = ["partialresulttoken", "progresstoken", "workdonetoken"];
/// Names and endings that are secret in HTTP heads and queries only.
pub const WEB_ENDINGS: [&str; 3] = ["sessionid", "signature", "signingkey"];
/// Names that are secret in queries only.
pub const QUERY_NAMES: [&str; 4] = ["code", "key", "sig", "ticket"];

/// The number of letters of a name that are compared, from its end.
const LONGEST: usize = 64;

/// The last two letters of all [`NAMES`] and [`ENDINGS`]: a bit for the last one, in the element of the one before it.
const TAILS: [u32; 26] = {
    let mut tails = [0; 26];
    let mut at = 0;
    while at < NAMES.len() + ENDINGS.len() {
        let name = if at < NAMES.len() {
            NAMES[at]
        } else {
            ENDINGS[at - NAMES.len()]
        };
        let [.., before, last] = name.as_bytes() else {
            panic!("a name has two letters");
        };
        tails[(*before - b'a') as usize] |= 1 << (*last - b'a');
        at += 1;
    }
    tails
};

/// Returns `false` for most names that are not secret, by their last two letters.
fn may_be_secret(name: &[u8]) -> bool {
    let mut letters = name.iter().rev().filter(|b| b.is_ascii_alphanumeric());
    let (before, last) = match name {
        // Most names have no separator here.
        [.., before, last] if before.is_ascii_alphabetic() && last.is_ascii_alphabetic() => {
            (before, last)
        }
        _ => match (letters.next(), letters.next()) {
            (Some(last), Some(before)) => (before, last),
            _ => return false,
        },
    };
    let number = |letter: &u8| letter.to_ascii_lowercase().wrapping_sub(b'a');
    let (before, last) = (number(before), number(last));
    let lasts = TAILS.get(usize::from(before)).copied().unwrap_or_default();
    last < 26 && lasts & 1 << last != 0
}

/// A name in lower case without separators, so that `api_key`, `apiKey` and `X-API-Key` are equal.
struct PlainName {
    letters: [u8; LONGEST],
    len: usize,
}

impl PlainName {
    fn new(name: &[u8]) -> Self {
        let mut plain = Self {
            letters: [0; LONGEST],
            len: 0,
        };
        let letters = name.iter().rev().filter(|b| b.is_ascii_alphanumeric());
        for (slot, letter) in plain.letters.iter_mut().rev().zip(letters) {
            *slot = letter.to_ascii_lowercase();
            plain.len += 1;
        }
        plain
    }

    fn text(&self) -> &[u8] {
        self.letters.get(LONGEST - self.len..).unwrap_or_default()
    }

    fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.text() == name.as_bytes())
    }

    fn ends_with_any(&self, endings: &[&str]) -> bool {
        let text = self.text();
        endings.iter().any(|end| text.ends_with(end.as_bytes()))
    }
}

/// Returns `true` if a value with this name is secret, for any type of the value.
pub fn is_secret_name(name: &[u8]) -> bool {
    if !may_be_secret(name) {
        return false;
    }
    let plain = PlainName::new(name);
    (plain.is(&NAMES) || plain.ends_with_any(&ENDINGS)) && !plain.is(&OTHER_TOKENS)
}

/// Returns `true` if a field of an HTTP head with this name is secret.
pub(super) fn is_secret_field(name: &[u8]) -> bool {
    is_secret_name(name) || PlainName::new(name).ends_with_any(&WEB_ENDINGS)
}

/// Returns `true` if a query parameter with this key is secret.
pub(super) fn is_secret_query(key: &[u8]) -> bool {
    is_secret_field(key) || PlainName::new(key).is(&QUERY_NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_without_case_and_separators() {
        for name in [
            "password",
            "PASSWD",
            "api_key",
            "apiKey",
            "X-API-Key",
            "client.secret",
            "access_token",
            "idToken",
            "Authorization",
            "cookie",
            "Set-Cookie",
            "private_key",
            "auth",
        ] {
            assert!(is_secret_name(name.as_bytes()), "{name}");
        }
        for name in [
            "",
            "key",
            "code",
            "tokens",
            "max_tokens",
            "token_type",
            "author",
            "progressToken",
            "secretary",
            "session_id",
        ] {
            assert!(!is_secret_name(name.as_bytes()), "{name}");
        }
        assert!(is_secret_field(b"Mcp-Session-Id") && !is_secret_field(b"Sec-WebSocket-Key"));
        assert!(is_secret_query(b"code") && !is_secret_query(b"keys"));
        let long = format!("{}password", "x".repeat(500));
        assert!(is_secret_name(long.as_bytes()));
    }
}

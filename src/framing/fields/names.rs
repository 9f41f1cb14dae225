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
/// So are names that end in one of these.
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
/// Tokens that only connect messages, such as MCP's and LSP's.
pub const OTHER_TOKENS: [&str; 3] = ["partialresulttoken", "progresstoken", "workdonetoken"];
/// Names and endings that are secret in HTTP heads and queries only.
pub const WEB_ENDINGS: [&str; 3] = ["sessionid", "signature", "signingkey"];
/// Names that are secret in queries only.
pub const QUERY_NAMES: [&str; 4] = ["code", "key", "sig", "ticket"];

/// Letters of a name that are compared: the last ones.
const LONGEST: usize = 64;

/// A name in lower case without separators, so that `api_key`, `apiKey` and `X-API-Key` compare alike.
struct Plain {
    letters: [u8; LONGEST],
    len: usize,
}

impl Plain {
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

    fn ends(&self, endings: &[&str]) -> bool {
        let text = self.text();
        endings.iter().any(|end| text.ends_with(end.as_bytes()))
    }
}

/// Whether a value of this name is secret, whatever its type.
pub fn is_secret_name(name: &[u8]) -> bool {
    let plain = Plain::new(name);
    (plain.is(&NAMES) || plain.ends(&ENDINGS)) && !plain.is(&OTHER_TOKENS)
}

/// The same for a field of an HTTP head.
pub(super) fn is_secret_field(name: &[u8]) -> bool {
    is_secret_name(name) || Plain::new(name).ends(&WEB_ENDINGS)
}

/// The same for a key of a query.
pub(super) fn is_secret_query(key: &[u8]) -> bool {
    is_secret_field(key) || Plain::new(key).is(&QUERY_NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_matter() {
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

//! Names of secret values, in messages, HTTP heads, queries and recordings.

/// Names of values that are secret wherever they occur: lower case, letters and digits only.
pub const NAMES: [&str; 14] = [
    "auth",
    "bearer",
    "cookies",
    "credentials",
    "csrf",
    "otp",
    "pass",
    "passwords",
    "pin",
    "pwd",
    "secrets",
    "setcookie",
    "totp",
    "xsrf",
];
/// Endings of names that are secret too.
pub const ENDINGS: [&str; 26] = [
    "accesskey",
    "apikey",
    "authkey",
    "authorization",
    "connectionstring",
    "cookie",
    "credential",
    "encryptionkey",
    "hmackey",
    "jwt",
    "licensekey",
    "mfacode",
    "otpcode",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwordhash",
    "pincode",
    "privatekey",
    "secret",
    "secretkey",
    "signingkey",
    "sshkey",
    "subscriptionkey",
    "token",
];
/// Tokens that only connect messages, as in MCP and LSP; not secret.
pub const OTHER_TOKENS: [&str; 3] = ["partialresulttoken", "progresstoken", "workdonetoken"];
/// The environment variable of the working directory, in capital letters.
const WORKING_DIRECTORY: &[u8] = b"PWD";
/// Endings that are secret in HTTP heads and queries only.
pub const WEB_ENDINGS: [&str; 5] = [
    "connectionid",
    "functionskey",
    "sessionid",
    "signature",
    "signature256",
];
/// Names that are secret in HTTP heads and queries only.
pub const WEB_NAMES: [&str; 4] = ["authentication", "dpop", "xauth", "xotp"];
/// Names that are secret in queries only.
pub const QUERY_NAMES: [&str; 5] = ["code", "key", "pw", "sig", "ticket"];

/// For the last two letters of a name: a bit for each of [`NAMES`], and then of [`ENDINGS`], that ends with them.
static TAILS: [[u64; 26]; 26] = {
    let mut tails = [[0; 26]; 26];
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
        tails[(*before - b'a') as usize][(*last - b'a') as usize] |= 1 << at;
        at += 1;
    }
    tails
};

/// Returns the letters and digits of a name in lower case, the last one first, so that `api_key`, `apiKey` and
/// `X-API-Key` are equal.
fn letters(name: &[u8]) -> impl Iterator<Item = u8> {
    let letters = name.iter().rev().filter(|b| b.is_ascii_alphanumeric());
    letters.map(u8::to_ascii_lowercase)
}

/// Returns the bits in [`TAILS`] of the last two letters of a name. Most names have none.
fn candidates(name: &[u8]) -> u64 {
    let mut letters = letters(name);
    let (before, last) = match name {
        // Most names have no separator here.
        [.., before, last] if before.is_ascii_alphabetic() && last.is_ascii_alphabetic() => {
            (before.to_ascii_lowercase(), last.to_ascii_lowercase())
        }
        _ => match (letters.next(), letters.next()) {
            (Some(last), Some(before)) => (before, last),
            _ => return 0,
        },
    };
    let number = |letter: u8| usize::from(letter.wrapping_sub(b'a'));
    let lasts = TAILS.get(number(before));
    let bits = lasts.and_then(|lasts| lasts.get(number(last)));
    bits.copied().unwrap_or_default()
}

fn ends_with(name: &[u8], end: &str) -> bool {
    let mut letters = letters(name);
    end.bytes().rev().all(|b| letters.next() == Some(b))
}

fn is(name: &[u8], other: &str) -> bool {
    letters(name).eq(other.bytes().rev())
}

/// Returns `true` if a value with this name is secret, for any type of the value.
pub fn is_secret_name(name: &[u8]) -> bool {
    let mut left = candidates(name);
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        left &= left - 1;
        let found = match NAMES.get(at) {
            Some(other) => is(name, other),
            None => (ENDINGS.get(at - NAMES.len())).is_some_and(|end| ends_with(name, end)),
        };
        if found {
            let is_other = OTHER_TOKENS.iter().any(|other| is(name, other));
            return !is_other && name != WORKING_DIRECTORY;
        }
    }
    false
}

/// Returns `true` if a list with this name may hold secrets: `tokens`, `api_keys`. A number with such a name is a count.
pub fn is_secret_list(name: &[u8]) -> bool {
    let [rest @ .., b's' | b'S'] = name else {
        return false;
    };
    candidates(rest) != 0 && ENDINGS.iter().any(|end| ends_with(rest, end))
}

/// Returns `true` if the text beside this name is the name of a value: `{"name": "X-Api-Key", "value": "Zx81"}`.
pub fn is_pair_name(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"name") || name.eq_ignore_ascii_case(b"key")
}

/// Returns `true` if a field of an HTTP head with this name is secret.
pub fn is_secret_field(name: &[u8]) -> bool {
    is_secret_name(name)
        || WEB_ENDINGS.iter().any(|end| ends_with(name, end))
        || WEB_NAMES.iter().any(|other| is(name, other))
}

/// Returns `true` if a query parameter with this key is secret.
pub(super) fn is_secret_query(key: &[u8]) -> bool {
    is_secret_field(key) || QUERY_NAMES.iter().any(|name| is(key, name))
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
            "signing_key",
            "ssh_key",
            "password_hash",
            "pin",
            "otp",
            "totp",
            "licenseKey",
            "otp_code",
            "pinCode",
            "mfa_code",
            "hmac_key",
            "encryption_key",
            "connection_string",
            "xsrf",
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
            "spin",
            "pinned",
            "publicKey",
            "keys",
            "mode",
            "postcode",
            "string",
            "authentication",
            "PWD",
        ] {
            assert!(!is_secret_name(name.as_bytes()), "{name}");
        }
        for name in [
            "Mcp-Session-Id",
            "Acp-Connection-Id",
            "X-Auth",
            "DPoP",
            "Ocp-Apim-Subscription-Key",
            "X-Otp",
            "X-Auth-Key",
            "X-Functions-Key",
            "Authentication",
            "X-Hub-Signature-256",
        ] {
            assert!(is_secret_field(name.as_bytes()), "{name}");
        }
        assert!(!is_secret_field(b"Sec-WebSocket-Key") && !is_secret_name(b"connectionId"));
        assert!(is_secret_query(b"code") && !is_secret_query(b"keys"));
        assert!(is_secret_query(b"pw") && !is_secret_name(b"pw"));
        assert!(is_secret_list(b"tokens") && is_secret_list(b"apiKeys"));
        assert!(!is_secret_list(b"token") && !is_secret_list(b"keys") && !is_secret_list(b"s"));
        let long = format!("{}password", "x".repeat(500));
        assert!(is_secret_name(long.as_bytes()));
    }
}

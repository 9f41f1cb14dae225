//! Finds secrets in a head: the places that HTTP and its users have for credentials.
//!
//! ```text
//!   GET /v1?token=Zx81&x=1 HTTP/1.1      the value of such a key
//!                 ----
//!   Authorization: Bearer Zx81           what follows the scheme
//!                         ----
//!   Referer: https://me:Zx81@host/       the password of a URL
//!                       ----
//! ```

use super::credentials::{
    Key, MAX_NAME, MIN_RANDOM, add_cookie, authority, is_random, split, unescaped,
};
use super::names::{is_secret_field, is_secret_query};
use super::secret_ranges::{FoundSecrets, HeaderSecret, credentials, without};
use super::text::find_in_text;
use super::{fields, line, slice, trimmed};
use std::borrow::Cow;
use std::ops::Range;

/// Last tokens of a WebSocket subprotocol that announce a secret after them.
const ANNOUNCING_TOKENS: [&str; 6] = ["authorization", "bearer", "jwt", "key", "secret", "token"];
/// The minimum length of a secret after `Bearer`, anywhere in a head.
const MIN_BEARER: usize = 8;

/// The form of a secret value, by the name of its field.
enum FieldSecrecy {
    /// A scheme, then credentials.
    Credentials,
    /// Pairs of names and values.
    Cookies,
    /// One pair, then attributes.
    SetCookie,
    Subprotocols,
    /// An address that can have a user and a password.
    Host,
    /// A secret, possibly after a scheme.
    All,
}

fn field_secrecy(name: &[u8], is_also_secret: &dyn Fn(&str) -> bool) -> Option<FieldSecrecy> {
    let name = std::str::from_utf8(name).ok()?;
    if name.is_empty() || name.len() > MAX_NAME {
        return None;
    }
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "authorization" | "proxy-authorization" => Some(FieldSecrecy::Credentials),
        "cookie" => Some(FieldSecrecy::Cookies),
        "set-cookie" => Some(FieldSecrecy::SetCookie),
        "sec-websocket-protocol" => Some(FieldSecrecy::Subprotocols),
        "host" => Some(FieldSecrecy::Host),
        name if is_secret_field(name.as_bytes()) || is_also_secret(name) => Some(FieldSecrecy::All),
        _ => None,
    }
}

/// Returns `true` if the name of a field makes its whole value secret.
pub(super) fn is_secret(name: &[u8]) -> bool {
    let field_secrecy = field_secrecy(name, &|_| false);
    !matches!(
        field_secrecy,
        None | Some(FieldSecrecy::Subprotocols | FieldSecrecy::Host)
    )
}

/// Returns the secrets in a head, in a trailer, or in any bytes that may be part of one: in order,
/// without nesting. `is_also_secret` gets names of fields and keys in lower case, and selects further secret
/// ones.
pub fn secrets(bytes: &[u8], is_also_secret: &dyn Fn(&str) -> bool) -> Vec<HeaderSecret> {
    let mut found = FoundSecrets::default();
    for field in fields(bytes) {
        find_in_value(
            bytes,
            field.name,
            field.value.clone(),
            is_also_secret,
            &mut found,
        );
        // Some peers do not join a line that starts with a blank to the line before.
        let mut at = field.range.start;
        while let Some(line) = line(bytes, at).filter(|line| line.end <= field.range.end) {
            at = line.end;
            if line.start > field.range.start {
                let own = super::field(bytes, line);
                find_in_value(bytes, own.name, own.value, is_also_secret, &mut found);
            }
        }
        find_in_keys(bytes, field.range.clone(), is_also_secret, &mut found);
        find_in_urls(bytes, field.range.clone(), &mut found);
        // These fields name the expected credentials and hold none.
        if !field.is("www-authenticate") && !field.is("proxy-authenticate") {
            find_bearer_tokens(bytes, field.range, &mut found);
        }
    }
    super::values::values(bytes, is_also_secret, &mut found);
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        find_in_text(bytes, at..at + chunk.valid().len(), &mut found);
        at += chunk.valid().len() + chunk.invalid().len();
    }
    found.into_sorted()
}

/// Returns text from a head with its secrets replaced.
pub fn masked(text: &str) -> Cow<'_, str> {
    without(text, &secrets(text.as_bytes(), &|_| false))
}

/// Finds secrets in a value by the name of its field.
fn find_in_value(
    bytes: &[u8],
    name: &[u8],
    value: Range<usize>,
    is_also_secret: &dyn Fn(&str) -> bool,
    found: &mut FoundSecrets,
) {
    match field_secrecy(name, is_also_secret) {
        None => {}
        Some(FieldSecrecy::Credentials) => {
            let range = credentials(bytes, value, true);
            found.add(bytes, range, false);
        }
        Some(FieldSecrecy::All) => {
            let range = credentials(bytes, value, false);
            found.add(bytes, range, false);
        }
        Some(FieldSecrecy::Cookies) => {
            for pair in split(bytes, value, b';') {
                add_cookie(bytes, pair, found);
            }
        }
        Some(FieldSecrecy::SetCookie) => {
            if let Some(pair) = split(bytes, value, b';').next() {
                add_cookie(bytes, pair, found);
            }
        }
        Some(FieldSecrecy::Host) => authority(bytes, value, found),
        Some(FieldSecrecy::Subprotocols) => {
            let mut announced = false;
            for element in split(bytes, value, b',') {
                let element = trimmed(bytes, element);
                if announced {
                    found.add(bytes, element, false);
                    announced = false;
                } else {
                    announced = announces(slice(bytes, &element));
                    add_subprotocol(bytes, element, found);
                }
            }
        }
    }
}

/// Returns `true` if a secret follows this token.
fn announces(word: &[u8]) -> bool {
    let last = word.rsplit(|b| !b.is_ascii_alphanumeric()).next();
    last.is_some_and(|last| {
        let is = |word: &&str| last.eq_ignore_ascii_case(word.as_bytes());
        ANNOUNCING_TOKENS.iter().any(is)
    })
}

/// Finds the secret in one name of a subprotocol (`chat`, `bearer.Zx81`, `Zx81…`): everything after
/// an announcing token, or from the first token that looks random.
fn add_subprotocol(bytes: &[u8], name: Range<usize>, found: &mut FoundSecrets) {
    let words: Vec<Range<usize>> = split(bytes, name.clone(), b'.').collect();
    let announced = words.iter().zip(words.iter().skip(1));
    let announced = announced
        .filter(|(word, _)| announces(slice(bytes, word)))
        .map(|(_, next)| next.start)
        .next();
    let random = words.iter().find(|word| is_random(slice(bytes, word)));
    if let Some(start) = announced.or(random.map(|word| word.start)) {
        found.add(bytes, start..name.end, false);
    }
}

/// Finds the values of secret keys: `token=Zx81` in a query, a form, or a log line.
fn find_in_keys(
    bytes: &[u8],
    within: Range<usize>,
    is_also_secret: &dyn Fn(&str) -> bool,
    found: &mut FoundSecrets,
) {
    let all = slice(bytes, &within);
    let mut done = 0;
    for equals in memchr::memchr_iter(b'=', all) {
        // Skips keys inside a secret value: the whole value is secret already.
        if equals < done {
            continue;
        }
        let key = Key::before(all, equals);
        let Some(key) = key.filter(|key| is_secret_key(key.name, is_also_secret)) else {
            continue;
        };
        let value = key.value(all);
        done = value.end;
        found.add(
            bytes,
            within.start + value.start..within.start + value.end,
            true,
        );
    }
}

fn is_secret_key(key: &[u8], is_also_secret: &dyn Fn(&str) -> bool) -> bool {
    let key = unescaped(key).to_ascii_lowercase();
    is_secret_query(&key) || is_also_secret(&String::from_utf8_lossy(&key))
}

/// Finds passwords of URLs. A user name without password, or one that looks random, counts as a
/// token.
fn find_in_urls(bytes: &[u8], within: Range<usize>, found: &mut FoundSecrets) {
    let all = slice(bytes, &within);
    for slashes in memchr::memmem::find_iter(all, b"://") {
        let start = slashes + 3;
        let rest = all.get(start..).unwrap_or_default();
        let ends = |b: &u8| b.is_ascii_whitespace() || b"/?#\"'<>\\".contains(b);
        let authority = rest.iter().position(ends).unwrap_or(rest.len());
        let start = within.start + start;
        self::authority(bytes, start..start + authority, found);
    }
}

/// Finds the tokens after `Bearer` or `Basic` that are long and not a plain word.
fn find_bearer_tokens(bytes: &[u8], within: Range<usize>, found: &mut FoundSecrets) {
    let all = slice(bytes, &within);
    for at in memchr::memchr2_iter(b'b', b'B', all) {
        let rest = all.get(at..).unwrap_or_default();
        let scheme = [&b"bearer"[..], b"basic"].into_iter().find(|scheme| {
            let word = rest.get(..scheme.len());
            word.is_some_and(|word| word.eq_ignore_ascii_case(scheme))
        });
        let before = at.checked_sub(1).and_then(|before| all.get(before));
        let Some(scheme) = scheme.filter(|_| !before.is_some_and(u8::is_ascii_alphanumeric)) else {
            continue;
        };
        let rest = rest.get(scheme.len()..).unwrap_or_default();
        let blank = rest.len() - rest.trim_ascii_start().len();
        let token = rest.get(blank..).unwrap_or_default();
        // RFC 9110 section 11.2: token68
        let is_token = |b: &u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(b);
        let len = token.iter().take_while(|b| is_token(b)).count();
        let token = token.get(..len).unwrap_or_default();
        let plain = token.iter().all(u8::is_ascii_lowercase);
        if blank > 0 && len >= MIN_BEARER && (!plain || len >= MIN_RANDOM) {
            let start = within.start + at + scheme.len() + blank;
            found.add(bytes, start..start + len, false);
        }
    }
}

#[cfg(test)]
mod tests;

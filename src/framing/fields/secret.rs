//! What in a head is secret: the credentials that HTTP and its users have places for.
//!
//! ```text
//!   GET /v1?token=Zx81&x=1 HTTP/1.1      the value of such a key
//!                 ----
//!   Authorization: Bearer Zx81           what follows the scheme
//!                         ----
//!   Referer: https://me:Zx81@host/       the password of a URL
//!                       ----
//! ```

use super::found::{Found, Secret, credentials};
use super::names::{is_secret_field, is_secret_query};
use super::{fields, line, of, trimmed};
use std::borrow::Cow;
use std::ops::Range;

/// Words that a WebSocket subprotocol ends in which announces a secret after it.
const ANNOUNCING: [&str; 6] = ["authorization", "bearer", "jwt", "key", "secret", "token"];
/// Longest name, and longest key, that is looked at.
const NAME: usize = 256;
/// A word of a subprotocol that is no shorter may be a secret without being announced.
const RANDOM: usize = 16;
/// What follows `Bearer` is a secret from this length on, wherever that stands.
const BEARER: usize = 8;

/// What a field's name says of its value.
enum Says {
    /// A scheme, then credentials.
    Credentials,
    /// Pairs of names and values.
    Cookies,
    /// One pair, then how long it lasts.
    SetCookie,
    Subprotocols,
    /// An address, which may have a user and a password.
    Host,
    /// A secret, perhaps after a scheme.
    All,
}

fn says(name: &[u8], also: &dyn Fn(&str) -> bool) -> Option<Says> {
    let name = std::str::from_utf8(name).ok()?;
    if name.is_empty() || name.len() > NAME {
        return None;
    }
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "authorization" | "proxy-authorization" => Some(Says::Credentials),
        "cookie" => Some(Says::Cookies),
        "set-cookie" => Some(Says::SetCookie),
        "sec-websocket-protocol" => Some(Says::Subprotocols),
        "host" => Some(Says::Host),
        name if is_secret_field(name.as_bytes()) || also(name) => Some(Says::All),
        _ => None,
    }
}

/// Whether by its name all that a field says is secret.
pub(super) fn is_secret(name: &[u8]) -> bool {
    let says = says(name, &|_| false);
    !matches!(says, None | Some(Says::Subprotocols | Says::Host))
}

/// What is secret in a head, in a trailer, or in any bytes that may be part of one: in order, none inside another. `also`
/// is asked with names of fields and with keys, in lower case, which ones are secret beside those that always are.
pub fn secrets(bytes: &[u8], also: &dyn Fn(&str) -> bool) -> Vec<Secret> {
    let mut found = Found::default();
    for field in fields(bytes) {
        named(bytes, field.name, field.value.clone(), also, &mut found);
        // Not everybody takes a line that begins with a blank for part of the one before.
        let mut at = field.range.start;
        while let Some(line) = line(bytes, at).filter(|line| line.end <= field.range.end) {
            at = line.end;
            if line.start > field.range.start {
                let own = super::field(bytes, line);
                named(bytes, own.name, own.value, also, &mut found);
            }
        }
        keys(bytes, field.range.clone(), also, &mut found);
        urls(bytes, field.range.clone(), &mut found);
        // That says which credentials are wanted.
        if !field.is("www-authenticate") && !field.is("proxy-authenticate") {
            bearers(bytes, field.range, &mut found);
        }
    }
    super::values::values(bytes, also, &mut found);
    found.in_order()
}

/// Text from a head with its secrets left out.
pub fn masked(text: &str) -> Cow<'_, str> {
    let secrets = secrets(text.as_bytes(), &|_| false);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut at) = (String::new(), 0);
    for Secret { range, .. } in secrets {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str("(secret)");
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

/// What is secret in a value because of its field's name.
fn named(
    bytes: &[u8],
    name: &[u8],
    value: Range<usize>,
    also: &dyn Fn(&str) -> bool,
    found: &mut Found,
) {
    match says(name, also) {
        None => {}
        Some(Says::Credentials) => {
            let range = credentials(bytes, value, true);
            found.add(bytes, range, false);
        }
        Some(Says::All) => {
            let range = credentials(bytes, value, false);
            found.add(bytes, range, false);
        }
        Some(Says::Cookies) => {
            for pair in split(bytes, value, b';') {
                cookie(bytes, pair, found);
            }
        }
        Some(Says::SetCookie) => {
            if let Some(pair) = split(bytes, value, b';').next() {
                cookie(bytes, pair, found);
            }
        }
        Some(Says::Host) => authority(bytes, value, found),
        Some(Says::Subprotocols) => {
            let mut announced = false;
            for element in split(bytes, value, b',') {
                let element = trimmed(bytes, element);
                if announced {
                    found.add(bytes, element, false);
                    announced = false;
                } else {
                    announced = announces(of(bytes, &element));
                    subprotocol(bytes, element, found);
                }
            }
        }
    }
}

fn cookie(bytes: &[u8], pair: Range<usize>, found: &mut Found) {
    let equals = memchr::memchr(b'=', of(bytes, &pair));
    let start = pair.start + equals.map_or(0, |at| at + 1);
    found.add(bytes, start..pair.end, false);
}

/// Whether a secret comes after this word.
fn announces(word: &[u8]) -> bool {
    let last = word.rsplit(|b| !b.is_ascii_alphanumeric()).next();
    last.is_some_and(|last| {
        let is = |word: &&str| last.eq_ignore_ascii_case(word.as_bytes());
        ANNOUNCING.iter().any(is)
    })
}

/// One name of a subprotocol, `chat`, `bearer.Zx81`, `Zx81…`: what follows an announcing word, or begins with a word that
/// looks random, is secret.
fn subprotocol(bytes: &[u8], name: Range<usize>, found: &mut Found) {
    let words: Vec<Range<usize>> = split(bytes, name.clone(), b'.').collect();
    let announced = words.iter().zip(words.iter().skip(1));
    let announced = announced
        .filter(|(word, _)| announces(of(bytes, word)))
        .map(|(_, next)| next.start)
        .next();
    let random = words.iter().find(|word| is_random(of(bytes, word)));
    if let Some(start) = announced.or(random.map(|word| word.start)) {
        found.add(bytes, start..name.end, false);
    }
}

/// Whether this is long and no words: it has digits, and capitals or no hyphens.
fn is_random(word: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| word.iter().any(is);
    let is_hex = || word.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-');
    let is_word = word
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"-_~=".contains(b));
    word.len() >= RANDOM
        && is_word
        && has(u8::is_ascii_digit)
        && (has(u8::is_ascii_uppercase) || !word.contains(&b'-') || is_hex())
}

/// The values of secret keys: `token=Zx81` in a query, a form, or a log line.
fn keys(bytes: &[u8], within: Range<usize>, also: &dyn Fn(&str) -> bool, found: &mut Found) {
    let all = of(bytes, &within);
    let mut done = 0;
    for equals in memchr::memchr_iter(b'=', all) {
        // What stands in a secret value is secret as it is.
        if equals < done {
            continue;
        }
        let before = all.get(equals.saturating_sub(NAME)..equals);
        let before = before.unwrap_or_default();
        let is_key = |b: &u8| b.is_ascii_alphanumeric() || b"-_.~%[]+".contains(b);
        let len = before.iter().rev().take_while(|b| is_key(b)).count();
        let start = equals - len;
        let lead = start.checked_sub(1).and_then(|at| all.get(at));
        let in_query = matches!(lead, Some(b'?' | b'&'));
        let leads = |b: &u8| b.is_ascii_whitespace() || b"?&#;,\"'({".contains(b);
        let key = all.get(start..equals).unwrap_or_default();
        if len == 0 || !lead.is_none_or(leads) || !is_secret_key(key, also) {
            continue;
        }
        let rest = all.get(equals + 1..).unwrap_or_default();
        let quotes = rest.iter().take_while(|b| b"\"'".contains(b)).count();
        let ends = |b: &u8| {
            b.is_ascii_whitespace() || b"&#\"'<>".contains(b) || !in_query && b";,".contains(b)
        };
        let value = rest.get(quotes..).unwrap_or_default();
        let value_len = value.iter().position(ends).unwrap_or(value.len());
        let start = equals + 1 + quotes;
        done = start + value_len;
        found.add(bytes, within.start + start..within.start + done, true);
    }
}

fn is_secret_key(key: &[u8], also: &dyn Fn(&str) -> bool) -> bool {
    let key = unescaped(key).to_ascii_lowercase();
    is_secret_query(&key) || also(&String::from_utf8_lossy(&key))
}

/// Text of a URL without its percent escapes.
pub fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let digits = after.first_chunk::<2>().filter(|_| *first == b'%');
        let mut byte = [0];
        if digits.is_some_and(|digits| hex::decode_to_slice(digits, &mut byte).is_ok()) {
            out.extend(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            out.push(*first);
            rest = after;
        }
    }
    out
}

/// Passwords of URLs, and names where they stand alone or look random, for then they are tokens.
fn urls(bytes: &[u8], within: Range<usize>, found: &mut Found) {
    let all = of(bytes, &within);
    for slashes in memchr::memmem::find_iter(all, b"://") {
        let start = slashes + 3;
        let rest = all.get(start..).unwrap_or_default();
        let ends = |b: &u8| b.is_ascii_whitespace() || b"/?#\"'<>\\".contains(b);
        let authority = rest.iter().position(ends).unwrap_or(rest.len());
        let start = within.start + start;
        self::authority(bytes, start..start + authority, found);
    }
}

/// `me:Zx81@host`: the password, and the name if it is alone or looks random.
fn authority(bytes: &[u8], place: Range<usize>, found: &mut Found) {
    let all = of(bytes, &place);
    let Some(at) = memchr::memrchr(b'@', all) else {
        return;
    };
    let user = all.get(..at).unwrap_or_default();
    let colon = memchr::memchr(b':', user);
    let name = user.get(..colon.unwrap_or(at)).unwrap_or_default();
    if colon.is_none() || is_random(name) {
        found.add(bytes, place.start..place.start + name.len(), true);
    }
    if let Some(colon) = colon {
        found.add(bytes, place.start + colon + 1..place.start + at, true);
    }
}

/// What follows `Bearer` or `Basic`, where it is long and no plain word.
fn bearers(bytes: &[u8], within: Range<usize>, found: &mut Found) {
    let all = of(bytes, &within);
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
        if blank > 0 && len >= BEARER && (!plain || len >= RANDOM) {
            let start = within.start + at + scheme.len() + blank;
            found.add(bytes, start..start + len, false);
        }
    }
}

/// The parts between separators.
fn split(bytes: &[u8], range: Range<usize>, by: u8) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    of(bytes, &range).split(move |b| *b == by).map(move |part| {
        let part = start..start + part.len();
        start = part.end + 1;
        part
    })
}

#[cfg(test)]
mod tests;

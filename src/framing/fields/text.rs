//! Finds secrets inside ordinary text: a prompt, a command, an output, an address.
//!
//! ```text
//!   see https://me:Zx81@host/?token=Zx82      the password of a URL, and its secret parameters
//!                  ----             ----
//!   curl -H 'Authorization: Bearer Zx81'      a field of a head
//!                                  ----
//!   tool --api-key=Zx81 --token Zx82          flags, and variables such as API_KEY=Zx81
//!                  ----         ----
//!   x=https%3A%2F%2Fhost%2F%3Ftoken%3DZx81    a parameter of a URL inside of a URL
//!                                     ----
//!   the password: hunter22                    a secret name, and a value with a digit
//!                 --------
//! ```
//!
//! Keys of well-known services have a form of their own: [`shapes`]. Text also speaks about secrets: `the token: see below`, `auth=true`, `basic Markdown`, `token=get_token()`. Outside
//! of URLs, a value that looks like a word or like code is not secret.

use super::credentials::{
    Key, add_cookie, authority, is_plain_secret, looks_innocent, split, unescaped,
};
use super::flags::FlagValue;
use super::names::{is_secret_field, is_secret_name, is_secret_query};
use super::secret_ranges::{FoundSecrets, HeaderSecret, credentials, is_scheme};
use super::signs::Signs;
use super::values::json_value;
use super::{shapes, signs, slice};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// The minimum length of a text with a secret: `?pin=1`.
const MIN_TEXT: usize = 6;
/// The maximum length of a name.
const MAX_NAME: usize = 64;
/// The minimum length of a token after `Bearer` without a field name.
const MIN_BEARER: usize = 8;

/// The ends of `Bearer` and `Basic`, which are mostly written with a capital.
static SCHEMES: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new("earer "), Finder::new("asic ")]);

/// Returns the secrets in a text: in order, without nesting.
pub fn text_secrets(text: &[u8]) -> Vec<HeaderSecret> {
    let mut found = FoundSecrets::default();
    if text.len() >= MIN_TEXT {
        find_all(text, &mut found);
    }
    found.into_sorted()
}

fn find_all(text: &[u8], found: &mut FoundSecrets) {
    let signs = Signs::of(text);
    if signs.has(Signs::PAIR | Signs::SPACE | Signs::PERCENT) {
        find_by_signs(text, signs, found);
    }
    shapes::find(text, signs, found);
}

/// Finds the secrets in a text among other bytes.
pub(super) fn find_in_text(bytes: &[u8], text: Range<usize>, found: &mut FoundSecrets) {
    let mut own = FoundSecrets::default();
    let inner = slice(bytes, &text);
    find_by_signs(inner, Signs::of(inner), &mut own);
    shapes::find(inner, Signs::of(inner), &mut own);
    found.append(own, text.start);
}

fn find_by_signs(text: &[u8], signs: Signs, found: &mut FoundSecrets) {
    if signs.has(Signs::PAIR) {
        find_pairs(text, found);
    }
    if signs.has(Signs::HYPHEN) {
        find_after_flags(text, found);
    }
    if signs.has(Signs::SPACE) {
        find_after_schemes(text, found);
    }
    if signs.has(Signs::PERCENT) {
        find_in_escaped_queries(text, found);
    }
}

/// Finds secrets beside `=` and `:`.
fn find_pairs(text: &[u8], found: &mut FoundSecrets) {
    let mut done = 0;
    for at in memchr::memchr2_iter(b'=', b':', text) {
        if at < done {
            continue;
        }
        done = if text.get(at) == Some(&b'=') {
            find_in_key(text, at, found)
        } else if let Some(start) = after_slashes(text, at + 1) {
            find_in_url(text, start, found)
        } else {
            find_in_field(text, at, found)
        };
    }
}

/// Returns the offset after two slashes, which can be escaped.
fn after_slashes(text: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..2 {
        let rest = text.get(at..)?;
        at += rest.iter().take_while(|b| **b == b'\\').count();
        text.get(at).filter(|b| **b == b'/')?;
        at += 1;
    }
    Some(at)
}

/// Finds `token=Zx81` in a query, in a flag or as a variable. Returns the end of what it read.
fn find_in_key(text: &[u8], equals: usize, found: &mut FoundSecrets) -> usize {
    let Some(key) = Key::before(text, equals) else {
        return equals;
    };
    let is_secret = if key.in_query {
        let name = if key.name.contains(&b'%') {
            Cow::Owned(unescaped(key.name))
        } else {
            Cow::Borrowed(key.name)
        };
        is_secret_query(&name)
    } else {
        is_secret_name(key.name)
    };
    let flag = FlagValue::after(key.name).filter(|flag| *flag != FlagValue::All);
    if !is_secret && flag.is_none() {
        return equals;
    }
    let value = up_to_markup(text, key.value(text));
    if let Some(flag) = flag {
        let end = value.end;
        add_flag_value(text, flag, value, found);
        return end;
    }
    let is_certain = key.in_query || key.name.starts_with(b"-");
    let end = value.end;
    add(text, value, is_certain, true, found);
    end
}

/// Adds what is secret of the value of a flag.
fn add_flag_value(text: &[u8], flag: FlagValue, value: Range<usize>, found: &mut FoundSecrets) {
    if let Some(secret) = flag.secret_in(slice(text, &value)) {
        let secret = value.start + secret.start..value.start + secret.end;
        add(text, secret, flag != FlagValue::All, false, found);
    }
}

/// Finds the secret parameters of a query whose signs are escaped: `%3Ftoken%3DZx81%26`.
fn find_in_escaped_queries(text: &[u8], found: &mut FoundSecrets) {
    let mut done = 0;
    for equals in memchr::memchr_iter(b'%', text) {
        if equals < done || !is_escaped(text, equals, b"=") {
            continue;
        }
        let before = text.get(equals.saturating_sub(MAX_NAME)..equals);
        let before = before.unwrap_or_default();
        let Some(percent) = memchr::memrchr(b'%', before) else {
            continue;
        };
        let percent = equals - before.len() + percent;
        let name = text.get(percent + 3..equals).unwrap_or_default();
        if is_escaped(text, percent, b"?&#") && is_secret_query(name) {
            let start = equals + 3;
            let ends = |at: usize, b: u8| {
                b.is_ascii_whitespace() || b"&#\"'<>`\\".contains(&b) || is_escaped(text, at, b"&#")
            };
            let mut rest = text.iter().enumerate().skip(start);
            let end = rest.find(|(at, b)| ends(*at, **b));
            done = end.map_or(text.len(), |(at, _)| at);
            add(text, start..done, true, true, found);
        }
    }
}

/// Returns `true` if an escape of a URL stands for one of these bytes.
fn is_escaped(text: &[u8], at: usize, bytes: &[u8]) -> bool {
    let Some([b'%', digits @ ..]) = text.get(at..).and_then(|rest| rest.get(..3)) else {
        return false;
    };
    let mut byte = [0];
    hex::decode_to_slice(digits, &mut byte).is_ok() && bytes.contains(&byte[0])
}

/// Finds the password of a URL. A user name alone is a token, unless it is a word, as in `ssh://git@host`.
fn find_in_url(text: &[u8], start: usize, found: &mut FoundSecrets) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let ends = |b: &u8| b.is_ascii_whitespace() || b"/?#\"'<>\\`".contains(b);
    let len = rest.iter().position(ends).unwrap_or(rest.len());
    let all = rest.get(..len).unwrap_or_default();
    let end = start + len;
    if let Some(at) = memchr::memrchr(b'@', all) {
        let user = all.get(..at).unwrap_or_default();
        if user.contains(&b':') || !looks_innocent(user) {
            authority(text, start..end, found);
        }
        return end;
    }
    // The text is cut off, possibly in a password: a port has only digits.
    let colon = memchr::memchr(b':', all).filter(|_| end == text.len() && !all.contains(&b'['));
    let port = colon.map_or(end, |colon| start + colon + 1)..end;
    if !slice(text, &port).iter().all(u8::is_ascii_digit) {
        add(text, port, false, false, found);
    }
    start
}

/// Finds the value of a field of a head, `X-Api-Key: Zx81`, and of a quoted name, `'token': 'Zx81'`.
fn find_in_field(text: &[u8], colon: usize, found: &mut FoundSecrets) -> usize {
    let first = colon.saturating_sub(MAX_NAME);
    let before = text.get(first..colon).unwrap_or_default();
    let before = before.trim_ascii_end();
    let is_quote = |b: &&u8| b"\"'\\".contains(b);
    let quotes = before.iter().rev().take_while(is_quote).count();
    let before = before.get(..before.len() - quotes).unwrap_or_default();
    let is_name = |b: &&u8| b.is_ascii_alphanumeric() || b"-_.".contains(b);
    let len = before.iter().rev().take_while(is_name).count();
    let place = first + before.len() - len..first + before.len();
    let name = slice(text, &place);
    let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
    let is_field = || name.contains(&b'-') && is_secret_field(name) || is("dpop");
    let is_value = is_secret_name(name);
    if !is_value && !is_field() {
        return colon;
    }
    if is_value && quotes > 0 {
        let value = json_value(text, &place);
        let is_container =
            |value: &Range<usize>| matches!(text.get(value.start), Some(b'[' | b'{'));
        let Some(value) = value.filter(|value| !is_container(value)) else {
            return colon;
        };
        let end = value.end;
        found.add(text, credentials(text, value, false), false);
        return end;
    }
    if is("cookie") || is("set-cookie") {
        // The attributes after the value of a set cookie are not secret.
        let count = if is("cookie") { usize::MAX } else { 1 };
        let line = field_line(text, colon + 1);
        let end = line.end;
        let pairs = split(text, line, b';').take(count);
        pairs.for_each(|pair| add_cookie(text, pair, found));
        return end;
    }
    let is_plain = !name.contains(&b'-') && !is("authorization") && !is("dpop");
    let mut value = word(text, colon + 1);
    if is_scheme(slice(text, &value)) {
        value = word(text, value.end + 1);
    }
    if is_plain && !is_plain_secret(slice(text, &value)) {
        return colon;
    }
    let end = value.end;
    add(text, value, false, false, found);
    end
}

/// Finds the values after flags: `--token Zx81`, and in a list, `"--token", "Zx81"`.
fn find_after_flags(text: &[u8], found: &mut FoundSecrets) {
    for at in memchr::memchr_iter(b'-', text) {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        if before.is_some_and(|b| !b.is_ascii_whitespace() && !b"\"'`([".contains(b)) {
            continue;
        }
        let flag = word(text, at);
        if let Some(after) = FlagValue::after(slice(text, &flag)) {
            let rest = text.get(flag.end..).unwrap_or_default();
            let between = |b: &&u8| b" \t\"'\\,".contains(b);
            let value = word(text, flag.end + rest.iter().take_while(between).count());
            add_flag_value(text, after, value, found);
        }
    }
}

/// Finds the tokens after `Bearer` and `Basic`. The first may be long and not a word; the second must be a user and a
/// password.
fn find_after_schemes(text: &[u8], found: &mut FoundSecrets) {
    if !signs::ends_like_a_scheme(text) {
        return;
    }
    let [bearer, basic] = &*SCHEMES;
    for at in bearer.find_iter(text) {
        let value = word(text, at + 6);
        let token = slice(text, &value);
        let has = |is: fn(&u8) -> bool| token.iter().skip(1).any(is);
        if token.len() >= MIN_BEARER && (has(u8::is_ascii_digit) || has(u8::is_ascii_uppercase)) {
            add(text, value, false, false, found);
        }
    }
    for at in basic.find_iter(text) {
        let value = word(text, at + 5);
        let token = slice(text, &value).split(|b| *b == b'=').next();
        let read = BASE64.decode(token.unwrap_or_default());
        let read = read.unwrap_or_default();
        if read.contains(&b':') && std::str::from_utf8(&read).is_ok() {
            add(text, value, true, false, found);
        }
    }
}

/// Adds a value. Unless it is certain, it must not look like a word or like code.
fn add(
    text: &[u8],
    value: Range<usize>,
    is_certain: bool,
    escaped: bool,
    found: &mut FoundSecrets,
) {
    let all = slice(text, &value);
    // The end of a sentence, or of a link in Markdown.
    let last = all.iter().rposition(|b| !b")]}.,;:!?".contains(b));
    let end = value.start + last.map_or(0, |last| last + 1);
    if is_certain || !looks_innocent(all) {
        found.add(text, value.start..end, escaped);
    }
}

/// Returns the range of the word at an offset, without blanks and quotes before it.
fn word(text: &[u8], at: usize) -> Range<usize> {
    let rest = text.get(at..).unwrap_or_default();
    let skipped = |b: &u8| b" \t\"'\\".contains(b);
    let start = rest.iter().take_while(|b| skipped(b)).count();
    let rest = rest.get(start..).unwrap_or_default();
    let ends = |b: &u8| *b <= b' ' || b"\"'\\`<>".contains(b);
    let len = rest.iter().position(ends).unwrap_or(rest.len());
    at + start..at + start + len
}

/// Returns the rest of a line, up to a quote.
fn field_line(text: &[u8], at: usize) -> Range<usize> {
    let rest = text.get(at..).unwrap_or_default();
    let len = rest.iter().position(|b| b"\r\n\"'\\`".contains(b));
    at..at + len.unwrap_or(rest.len())
}

/// Returns the start of a value, before a character that ends it in Markdown and in escaped text.
fn up_to_markup(text: &[u8], value: Range<usize>) -> Range<usize> {
    let all = slice(text, &value);
    let len = all.iter().position(|b| b"`\\|".contains(b));
    value.start..len.map_or(value.end, |len| value.start + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let secrets = text_secrets(text.as_bytes());
        secrets
            .iter()
            .map(|secret| &text[secret.range.clone()])
            .collect()
    }

    #[test]
    fn secrets_in_text_are_found() {
        let table: &[(&str, &[&str])] = &[
            (
                "see https://me:Zx81@host/ and http://h/?token=abc.",
                &["Zx81", "abc"],
            ),
            ("postgres://me:hunter@db", &["hunter"]),
            ("https://ghp4ab@github.com/a", &["ghp4ab"]),
            ("[a](https://h/cb?x=1&code=ab%2F1&b=2)", &["ab%2F1"]),
            ("https://h/cb#access_token=Zx81)", &["Zx81"]),
            ("curl -H 'Authorization: Bearer Zx81' h", &["Zx81"]),
            ("Authorization: Zx81\nHost: h", &["Zx81"]),
            ("proxy-authorization:Basic dTpw", &["dTpw"]),
            (r#"-H \"X-Api-Key: Zx81\" -v"#, &["Zx81"]),
            ("Cookie: a=Zx81; b=Zx82", &["Zx81", "Zx82"]),
            ("set-cookie: a=Zx81; Path=/", &["Zx81"]),
            ("it sends Bearer abcDEF123.", &["abcDEF123"]),
            ("Basic dXNlcjpwYXNzd29yZA==", &["dXNlcjpwYXNzd29yZA=="]),
            ("tool --api-key=Zx81 --token Zx82 -v", &["Zx81", "Zx82"]),
            ("tool --token 'Zx82'", &["Zx82"]),
            ("--token=hunter", &["hunter"]),
            ("export API_KEY=sk-Zx81; run", &["sk-Zx81"]),
            ("DB_PASSWORD=\"Zx81\"", &["Zx81"]),
            ("got {'password': 'hunter', 'n': 1}", &["hunter"]),
            ("```json\n{\"token\": \"Zx81\"}\n```", &["Zx81"]),
            (r#"a {\"token\":\"Zx81\"} b"#, &["Zx81"]),
            ("password: hunter22, it is", &["hunter22"]),
            ("API_KEY: Zx8181\npin: 918273", &["Zx8181", "918273"]),
            ("Token: Bearer Zx8181.", &["Zx8181"]),
            ("--env=API_KEY=sk-Zx81 -v", &["sk-Zx81"]),
            ("curl -u me:Zx81 --proxy-user=me:Zx82 h", &["Zx81", "Zx82"]),
            (r#"["-u", "me:Zx81"]"#, &["Zx81"]),
            ("tool --key Zx9Qk7Vw3Lm2Rt8B", &["Zx9Qk7Vw3Lm2Rt8B"]),
            ("tool --key=Zx9Qk7Vw3Lm2Rt8B", &["Zx9Qk7Vw3Lm2Rt8B"]),
            ("https://h/?pw=Zx81", &["Zx81"]),
            ("https%3A%2F%2Fh%2F%3Ftoken%3DZx81", &["Zx81"]),
            ("%3fx%3d1%26access_token%3dZx%2081%26y%3D2", &["Zx%2081"]),
        ];
        for (text, want) in table {
            assert_eq!(found(text), *want, "{text}");
        }
    }

    #[test]
    fn ordinary_text_has_no_secrets() {
        for text in [
            "the token: see below",
            "token: Zx81",
            "fn f(token: u32, secret: Vec<u8>, pin: [u8; 16], token: get(12345))",
            "token: String, password: AccessToken",
            "max_tokens=4096 tokens=17",
            "pin: the message to the top",
            "Client(token=token, auth=auth, password=get_password(1))",
            "password=os.environ[\"P\"]",
            "TOKEN=$TOKEN --token ${TOKEN} --token <token>",
            "auth=true&x",
            "token=None, secret=null",
            "use --token to set the token",
            "--no-auth --verbose",
            "--auth --verbose",
            "basic TypeScript, a Basic Markdown file",
            "a bearer certificate",
            "Bearer authentication",
            "Authorization: required",
            "Authorization: Bearer <token>",
            "Authorization: Bearer TOKEN",
            "ssh://git@host/a",
            "mail me@host, http://h/@scope/a:b@c",
            "http://h/a?keys=1&monkey=2",
            "exit code=1, key=value",
            "12:30:45",
            "a: b",
            "--",
            "=",
            ":",
            " ",
            "",
            "x=1",
            "{\"token\": {\"type\": \"string\"}}",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "YOUR_TOKEN=YOUR_TOKEN",
            "docker run -u 1000:1000 -e MODE=a=b",
            "tool --key key.pem --key=/etc/ssl/a1.key",
            "sort --key 2,2n",
            "a%3Fx%3D1%26monkey%3D2, 50% token%3Dx, %3D%3Ftoken",
            "pw=1",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn long_text_needs_linear_time() {
        for unit in [
            "token=",
            "a:b=",
            "://",
            "--token ",
            "Bearer ",
            "\"token\": \"",
            "x-token: ",
            "Cookie: ",
            "://a:b@",
            "%3Ftoken%3D",
            "%3D",
            "-u a:",
        ] {
            let text = unit.repeat((1 << 20) / unit.len());
            let started = std::time::Instant::now();
            text_secrets(text.as_bytes());
            assert!(started.elapsed().as_secs() < 10, "{unit}");
        }
    }
}

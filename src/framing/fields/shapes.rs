//! Finds keys of well-known services by their form, wherever they stand in a text.
//!
//! ```text
//!   use ghp_16C7e42F292c6912E7710c838347Ae178B4a for it      the start, then a minimum number of characters
//!       ----------------------------------------
//!   -----BEGIN PRIVATE KEY-----\nMIIE…                       all lines up to the end of the key
//!                                ----
//! ```
//!
//! Each form has a byte that is rare in other texts. Only these bytes are searched for; the rest is compared there.

use super::secret_ranges::FoundSecrets;
use super::signs::Signs;
use super::slice;

/// The minimum length of a text with a key.
const MIN_TEXT: usize = 18;
/// The minimum length of a part of a token with claims.
const MIN_CLAIMS: usize = 12;
/// The maximum length of the first line of PEM before `PRIVATE KEY`: `-----BEGIN OPENSSH `.
const MAX_BEGIN: usize = 32;
/// The bytes that are searched for, in two passes.
const RARE: ([u8; 2], [u8; 3]) = (*b"_-", *b"IJK");

/// The form of a key.
struct Shape {
    /// Its first characters.
    start: &'static str,
    /// The offset in `start` of the byte that is searched for.
    rare: usize,
    /// The character before it, and the byte itself.
    two: [u8; 2],
    rest: Rest,
}

/// The form of the characters after the start.
#[derive(Clone, Copy)]
enum Rest {
    /// At least so many letters and digits, and at least one digit.
    Alphanumeric(usize),
    /// The same, with `-` and `_`.
    Token(usize),
    /// At least so many capitals and digits.
    Capitals(usize),
    /// Parts of Base64 with points between them, of which the second begins as the first does or is cut off.
    Claims,
    /// Lines of Base64 up to a line of hyphens.
    Lines,
}

const fn shape(start: &'static str, rare: usize, rest: Rest) -> Shape {
    let bytes = start.as_bytes();
    Shape {
        start,
        rare,
        two: [bytes[rare - 1], bytes[rare]],
        rest,
    }
}

/// The forms that are known: of GitHub, GitLab, Slack, Anthropic, `OpenAI`, Stripe, npm, `PyPI`, Hugging Face, Amazon
/// and Google; JSON Web Tokens and PEM.
static SHAPES: [Shape; 25] = [
    shape("ghp_", 3, Rest::Alphanumeric(20)),
    shape("gho_", 3, Rest::Alphanumeric(20)),
    shape("ghu_", 3, Rest::Alphanumeric(20)),
    shape("ghs_", 3, Rest::Alphanumeric(20)),
    shape("ghr_", 3, Rest::Alphanumeric(20)),
    shape("github_pat_", 6, Rest::Token(20)),
    shape("glpat-", 5, Rest::Token(16)),
    shape("xoxb-", 4, Rest::Token(16)),
    shape("xoxp-", 4, Rest::Token(16)),
    shape("xoxa-", 4, Rest::Token(16)),
    shape("xoxe-", 4, Rest::Token(16)),
    shape("xoxr-", 4, Rest::Token(16)),
    shape("xoxs-", 4, Rest::Token(16)),
    shape("sk-", 2, Rest::Token(20)),
    shape("sk_live_", 2, Rest::Alphanumeric(16)),
    shape("sk_test_", 2, Rest::Alphanumeric(16)),
    shape("rk_live_", 2, Rest::Alphanumeric(16)),
    shape("npm_", 3, Rest::Alphanumeric(30)),
    shape("pypi-", 4, Rest::Token(30)),
    shape("hf_", 2, Rest::Alphanumeric(28)),
    shape("AKIA", 2, Rest::Capitals(14)),
    shape("ASIA", 2, Rest::Capitals(14)),
    shape("AIza", 1, Rest::Token(30)),
    shape("eyJ", 2, Rest::Claims),
    shape("PRIVATE KEY-----", 8, Rest::Lines),
];

/// Returns the first characters of all forms.
#[cfg(test)]
pub(crate) fn key_starts() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().map(|shape| shape.start)
}

/// Adds the keys in a text.
pub(super) fn find(text: &[u8], signs: Signs, found: &mut FoundSecrets) {
    if text.len() < MIN_TEXT {
        return;
    }
    let ([underscore, hyphen], [first, second, third]) = RARE;
    if signs.has(Signs::HYPHEN | Signs::UNDERSCORE) {
        let mut done = 0;
        for at in memchr::memchr2_iter(underscore, hyphen, text) {
            find_at(text, at, &mut done, found);
        }
    }
    if signs.has(Signs::CAPITAL) {
        let mut done = 0;
        for at in memchr::memchr3_iter(first, second, third, text) {
            find_at(text, at, &mut done, found);
        }
    }
}

/// Adds the key whose rare byte stands at an offset after those that are done.
fn find_at(text: &[u8], at: usize, done: &mut usize, found: &mut FoundSecrets) {
    let Some(&[before, rare]) = at
        .checked_sub(1)
        .and_then(|at| text.get(at..)?.first_chunk())
    else {
        return;
    };
    // Most of these bytes are between digits and other letters.
    if at < *done || BEFORE.get(usize::from(before)) != Some(&true) {
        return;
    }
    for shape in SHAPES.iter().filter(|shape| shape.two == [before, rare]) {
        let Some(first) = at.checked_sub(shape.rare) else {
            continue;
        };
        let rest = text.get(first..).unwrap_or_default();
        let Some(rest) = rest.strip_prefix(shape.start.as_bytes()) else {
            continue;
        };
        let before = text.get(..first).unwrap_or_default();
        let start = first + shape.start.len();
        if let Rest::Lines = shape.rest {
            if is_begin(before) {
                *done = add_lines(text, start, found);
            }
        } else if !is_inside_word(before)
            && let Some(len) = shape.rest.len(rest)
        {
            *done = start + len;
            found.add(text, first..*done, false);
        }
    }
}

/// Returns `true` if a text ends in a word. The letter of an escape, `\n`, is no word.
fn is_inside_word(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't'] | [] => false,
        [.., last] => is_token(last),
    }
}

/// Returns `true` before the type of a key in the first line of PEM.
fn is_begin(before: &[u8]) -> bool {
    let line = before.get(before.len().saturating_sub(MAX_BEGIN)..);
    let line = line.unwrap_or_default();
    let hyphens = memchr::memmem::rfind(line, b"-----");
    hyphens.is_some_and(|at| line.get(at + 5..).is_some_and(|s| s.starts_with(b"BEGIN ")))
}

/// The bytes before the rare byte of a form.
const BEFORE: [bool; 256] = {
    let mut is = [false; 256];
    let mut n = 0;
    while n < SHAPES.len() {
        is[SHAPES[n].two[0] as usize] = true;
        n += 1;
    }
    is
};

impl Rest {
    /// Returns the number of characters that belong to the key; `None` if they are none.
    fn len(self, rest: &[u8]) -> Option<usize> {
        let count = |is: fn(&u8) -> bool| rest.iter().take_while(|b| is(b)).count();
        let (len, min) = match self {
            Self::Alphanumeric(min) => (count(u8::is_ascii_alphanumeric), min),
            Self::Token(min) => (count(is_token), min),
            Self::Capitals(min) => {
                let is = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit();
                (count(is), min)
            }
            Self::Claims => return claims(rest),
            Self::Lines => return None,
        };
        let key = rest.get(..len)?;
        let is_key = len >= min && key.iter().any(u8::is_ascii_digit);
        is_key.then_some(len)
    }
}

fn is_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(byte)
}

/// Returns the length of the parts of a token after its first characters.
fn claims(rest: &[u8]) -> Option<usize> {
    let part = |at: usize| {
        let rest = rest.get(at..).unwrap_or_default();
        rest.iter().take_while(|b| is_token(b)).count()
    };
    let head = part(0);
    let mut end = head + 1;
    if head <= MIN_CLAIMS || rest.get(head) != Some(&b'.') {
        return None;
    }
    let body = part(end);
    let is_json = rest.get(end..).is_some_and(|body| body.starts_with(b"ey"));
    end += body;
    let is_signed = body > MIN_CLAIMS && rest.get(end) == Some(&b'.');
    while rest.get(end) == Some(&b'.') && part(end + 1) > 0 {
        end += 1 + part(end + 1);
    }
    (is_json || is_signed).then_some(end)
}

/// Adds the lines of a private key, and returns their end. A backslash ends a line, as in `\n`.
fn add_lines(text: &[u8], start: usize, found: &mut FoundSecrets) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let len = memchr::memmem::find(rest, b"-----").unwrap_or(rest.len());
    let end = start + len;
    if memchr::memchr(b'\\', slice(text, &(start..end))).is_none() {
        found.add(text, start..end, false);
        return end;
    }
    let mut at = start;
    while at < end {
        let line = slice(text, &(at..end));
        let len = memchr::memchr(b'\\', line).unwrap_or(line.len());
        found.add(text, at..at + len, false);
        let rest = text.get(at + len..end).unwrap_or_default();
        let slashes = rest.iter().take_while(|b| **b == b'\\').count();
        // The letter of the escape.
        at += len + slashes + 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::super::text_secrets;
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let secrets = text_secrets(text.as_bytes());
        let text = |range: std::ops::Range<usize>| &text[range];
        secrets.into_iter().map(|s| text(s.range)).collect()
    }

    #[test]
    fn keys_are_found_by_their_form() {
        let digits = "0123456789abcdefghijABCDEFGHIJ0123456789";
        for shape in &SHAPES {
            let key = match shape.rest {
                Rest::Capitals(_) => format!("{}IOSFODNN7EXAMPLE", shape.start),
                Rest::Claims => "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl".to_owned(),
                Rest::Lines => continue,
                _ => format!("{}{digits}", shape.start),
            };
            for text in [
                key.clone(),
                format!("use {key}, please"),
                format!("[\"{key}\"]"),
                format!("\\n{key}."),
            ] {
                assert_eq!(found(&text), [key.as_str()], "{text}");
            }
            assert_eq!(found(&format!("a{key}")), [""; 0]);
        }
        let claims = "eyJhbGciOiJkaXIiLCJlbmMiOiJBIn0..aXY.Y2lwaGVydGV4dDEyMzQ.dGFn";
        assert_eq!(found(claims), [""; 0], "an empty key and short parts");
        let cut = "eyJhbGciOiJIUzI1NiJ9.eyJzd";
        assert_eq!(found(cut), [cut]);
    }

    #[test]
    fn private_keys_are_found() {
        let table: &[(&str, &[&str])] = &[
            (
                "-----BEGIN PRIVATE KEY-----\nMIIE\nab+/=\n-----END PRIVATE KEY-----\nx",
                &["MIIE\nab+/="],
            ),
            (
                r"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nab==\n-----END",
                &["MIIE", "ab=="],
            ),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", &["b3Bl"]),
            ("-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkq\n-----END", &[]),
            ("-----BEGIN CERTIFICATE-----\nMIIBIjANBgkq\n-----END", &[]),
        ];
        for (text, want) in table {
            assert_eq!(found(text), *want, "{text}");
        }
    }

    #[test]
    fn ordinary_words_are_no_keys() {
        for text in [
            "4dd08780-4146-1567-2ff4-a479a95fbaff",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sha512-AKIAIOSFODNN7EXAMPLEIzaSyA0123456789abcdefghijkAKIA==",
            "task-4146-1567-2ff4-a479a95fbaff-1234",
            "sk-SK sk-loading-container-with-many-words",
            "npm_config_user_agent=npm/10.8.2 npm_lifecycle_event",
            "eyJhbGciOiJIUzI1NiJ9",
            "eyJhbGciOiJIUzI1NiJ9.x",
            "glpat-",
            "hf_hub_download_and_extract_archive_2024",
            "AKIA1234",
            "PRIVATE KEYS are 5 of them",
            "2026-11-26T10:00:00.123456-08:00 a-b-c-d-e-f-g",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn long_text_needs_linear_time() {
        for unit in [
            "eyJ.",
            "eyJaaaaaaaaaaaaaa.",
            "eyJaaaaaaaaaaaaaa.eyJaaaaaaaaaaaaaa.",
            "sk-",
            " sk-0123456789012345678901",
            "-----BEGIN PRIVATE KEY-----",
            "PRIVATE KEY-----",
            "BEGIN PRIVATE KEY-----\\",
        ] {
            let text = unit.repeat((1 << 20) / unit.len());
            let started = std::time::Instant::now();
            text_secrets(text.as_bytes());
            assert!(started.elapsed().as_secs() < 10, "{unit}");
        }
    }

    #[test]
    fn each_form_is_found_by_a_byte_that_is_searched_for() {
        for shape in &SHAPES {
            let [_, rare] = shape.two;
            assert!(
                RARE.0.contains(&rare) || RARE.1.contains(&rare),
                "{}",
                shape.start
            );
        }
    }
}

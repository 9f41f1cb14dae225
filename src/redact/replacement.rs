//! Derives replacements for secrets: of the same length and kind, and equal for equal secrets.
//!
//! ```text
//!   qct.v1.eyJpc3MiOiJzYWVsIn0.jMSua7H16b0    sid=4f2a-Zx    "pa\u0073s"
//!   qct.v1.eyJpc3MiOiJ4cXVjIn0.pWDrf4U73q2    sid=9c7e-Qm    "ub\u0066k"
//! ```
//!
//! Runs of letters and digits are replaced, each by a run derived from it and the key; all other characters stay. So do
//! the parts that show the kind of a token: short parts, the structure of claims, and hexadecimal digits.

use crate::encoding::json;
use crate::tape::{Node, Tape};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::borrow::Cow;

/// The maximum length of a part of a token that shows its kind.
const MAX_KIND_PART: usize = 3;
/// Shorter runs may by chance be replaced by themselves.
const MIN_DISTINCT: usize = 3;
/// The minimum length of hexadecimal text that is a digest or an id, and stays hexadecimal.
const MIN_HEX: usize = 16;
/// The maximum number of levels of claims.
const MAX_DEPTH: u32 = 32;

/// Derives replacements from one key.
#[derive(Clone)]
pub struct Replacer {
    key: [u8; 32],
}

/// A stream of numbers derived from a run, the key, and the number of attempts.
struct DigitStream {
    /// Has read key and run, so that a long run is read only once.
    mac: Option<Hmac<Sha256>>,
    block: [u8; 32],
    counter: u32,
    at: usize,
}

impl DigitStream {
    fn new(key: [u8; 32], attempt: u8, run: &[u8]) -> Self {
        // HMAC accepts keys of any length.
        let mut mac = Hmac::new_from_slice(&key).ok();
        if let Some(mac) = &mut mac {
            mac.update(&[attempt]);
            mac.update(run);
        }
        Self {
            mac,
            block: [0; 32],
            counter: 0,
            at: 32,
        }
    }

    fn next_number(&mut self) -> u32 {
        if self.at + 4 > self.block.len() {
            if let Some(mut mac) = self.mac.clone() {
                mac.update(&self.counter.to_be_bytes());
                self.block = mac.finalize().into_bytes().into();
            }
            self.counter += 1;
            self.at = 0;
        }
        let four = self.block.get(self.at..).and_then(|b| b.first_chunk());
        self.at += 4;
        four.map_or(0, |four| u32::from_be_bytes(*four))
    }
}

/// Returns true for a digest or an id: hexadecimal digits, possibly in groups.
fn is_hex(text: &str) -> bool {
    text.len() >= MIN_HEX && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Returns another character of the same kind and the same length in UTF-8.
fn replacement_char(c: char, random: u32, hex: bool) -> char {
    let of = |first: u32, many: u32| char::from_u32(first + random % many).unwrap_or(c);
    match c {
        'a'..='f' if hex => of('a' as u32, 6),
        'A'..='F' if hex => of('A' as u32, 6),
        'a'..='z' => of('a' as u32, 26),
        'A'..='Z' => of('A' as u32, 26),
        '0'..='9' => of('0' as u32, 10),
        _ => match c.len_utf8() {
            // Letters, ideographs.
            2 => of(0xe0, 23),
            3 => of(0x4e00, 0x5000),
            4 => of(0x2_0000, 0xa000),
            _ => c,
        },
    }
}

impl Replacer {
    /// Creates replacements with this key. With the key, simple secrets can be guessed from their replacements.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// Replaces text.
    pub fn replace_text(&self, text: &str) -> String {
        self.replace_token(text)
            .unwrap_or_else(|| self.replace_words(text))
    }

    /// Replaces bytes that are not text.
    pub fn replace_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = DigitStream::new(self.key, 0, bytes);
        bytes.iter().map(|_| stream.next_number() as u8).collect()
    }

    /// Replaces a number in the spelling of JSON: sign, point, exponent and zeros stay.
    pub fn replace_number(&self, text: &str) -> String {
        let mut stream = DigitStream::new(self.key, 0, text.as_bytes());
        let mut leads = true;
        let digit = |c: char| {
            if !c.is_ascii_digit() {
                return c;
            }
            let random = stream.next_number();
            let first = std::mem::take(&mut leads);
            match (first, c) {
                (true, '0') => c,
                (true, _) => char::from_digit(1 + random % 9, 10).unwrap_or(c),
                _ => replacement_char(c, random, false),
            }
        };
        text.chars().map(digit).collect()
    }

    fn replace_words(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let hex = is_hex(text);
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_alphanumeric());
            let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.replace_run(run, hex || is_hex(run), &mut out);
            let mut chars = after.chars();
            out.extend(chars.next());
            rest = chars.as_str();
        }
        out
    }

    fn replace_run(&self, run: &str, hex: bool, out: &mut String) {
        let digits = run.strip_prefix("0x").unwrap_or_default();
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            out.push_str("0x");
            out.push_str(&self.replace_hex_literal(digits));
            return;
        }
        for attempt in 0..=u8::MAX {
            let mut stream = DigitStream::new(self.key, attempt, run.as_bytes());
            let of = |c| replacement_char(c, stream.next_number(), hex);
            let replaced: String = run.chars().map(of).collect();
            if replaced != run || run.chars().count() < MIN_DISTINCT || attempt == u8::MAX {
                out.push_str(&replaced);
                return;
            }
        }
    }

    /// Replaces the digits after `0x`. The first digit is not zero and not greater than before, so that the value fits its field.
    fn replace_hex_literal(&self, digits: &str) -> String {
        let mut stream = DigitStream::new(self.key, 0, digits.as_bytes());
        let of = |(at, c): (usize, char)| {
            let random = stream.next_number();
            let less = |first: char| {
                let many = (c as u32 - first as u32).max(1);
                char::from_u32(first as u32 + random % many).unwrap_or(c)
            };
            match c {
                '0' if at == 0 => c,
                '1'..='9' if at == 0 => less('1'),
                'a'..='f' if at == 0 => less('a'),
                'A'..='F' if at == 0 => less('A'),
                _ => replacement_char(c, random, true),
            }
        };
        digits.chars().enumerate().map(of).collect()
    }

    /// Replaces a token of several parts with claims; its kind and the structure of its claims stay.
    fn replace_token(&self, text: &str) -> Option<String> {
        let parts: Vec<&str> = text.split('.').collect();
        if parts.len() < 3 {
            return None;
        }
        let part = |part: &&str| match self.replace_claims(part) {
            _ if part.len() <= MAX_KIND_PART => (*part).to_owned(),
            Some(claims) => claims,
            None => self.replace_words(part),
        };
        let replaced: Vec<String> = parts.iter().map(part).collect();
        Some(replaced.join("."))
    }

    /// Replaces the texts in a part of a token that is an object in base64url.
    fn replace_claims(&self, part: &str) -> Option<String> {
        let json = BASE64URL.decode(part).ok()?;
        let mut replaced = json.clone();
        let mut tape = Tape::new();
        for leaf in leaves(parse_object(&json, &mut tape)?) {
            let raw = std::str::from_utf8(leaf.raw_text()).ok()?;
            let start = leaf.span().at() + 1;
            let target = replaced.get_mut(start..start + raw.len());
            if let (Some(text), Some(target)) = (replace_json_text(raw, self), target)
                && leaf.is_string()
            {
                target.copy_from_slice(text.as_bytes());
            }
        }
        Some(BASE64URL.encode(replaced))
    }
}

fn parse_object<'a>(json: &'a [u8], tape: &'a mut Tape) -> Option<Node<'a>> {
    let root = json::root(json, MAX_DEPTH, tape).ok()?;
    root.is_map().then_some(root)
}

/// Returns all values below a value that have no children, or the value itself.
pub fn leaves(node: Node<'_>) -> Vec<Node<'_>> {
    let mut leaves = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if node.is_array() {
            open.extend(node.children());
        } else if node.is_map() {
            open.extend(node.members().map(|(_, value)| value));
        } else {
            leaves.push(node);
        }
    }
    leaves
}

/// Returns the texts in the claims of a token.
pub fn claim_texts(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let parts: Vec<&str> = text.split('.').collect();
    for part in parts.iter().filter(|_| parts.len() >= 3) {
        let json = BASE64URL.decode(part).unwrap_or_default();
        let mut tape = Tape::new();
        let root = parse_object(&json, &mut tape);
        let texts = root.into_iter().flat_map(leaves);
        out.extend(texts.filter_map(|leaf| leaf.text().map(Cow::into_owned)));
    }
    out
}

/// Returns the replacement for text in the spelling of JSON, with the same characters escaped.
pub fn replace_json_text(raw: &str, replacer: &Replacer) -> Option<String> {
    let text: String = serde_json::from_str(&format!("\"{raw}\"")).ok()?;
    copy_spelling(raw, &replacer.replace_text(&text))
}

/// Returns `replaced` in the spelling of `raw`; they differ in letters and digits only.
pub fn copy_spelling(raw: &str, replaced: &str) -> Option<String> {
    let mut replaced = replaced.chars();
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(first) = rest.chars().next() {
        let c = replaced.next()?;
        let taken = match rest.as_bytes() {
            [b'\\', b'u', ..] => {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units);
                for unit in &*units {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
                6 * units.len()
            }
            // Characters with a short escape are not letters, and stay.
            [b'\\', ..] => {
                out.push_str(rest.get(..2)?);
                2
            }
            _ => {
                out.push(c);
                first.len_utf8()
            }
        };
        rest = rest.get(taken..)?;
    }
    (out.len() == raw.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replacer() -> Replacer {
        Replacer::new([7; 32])
    }

    #[test]
    fn replaced_text_has_the_same_length_and_kind() {
        for text in [
            "a",
            "hunter2",
            "Zoë-Ünïcode",
            "日本語x",
            "😀𠀀b",
            "",
            "--",
            "a b\tc",
        ] {
            let replaced = replacer().replace_text(text);
            assert_eq!(replaced.len(), text.len(), "{replaced}");
            let kind = |c: char| (c.is_lowercase(), c.is_ascii_digit(), c.len_utf8());
            let kinds = |text: &str| {
                text.chars()
                    .filter(char::is_ascii)
                    .map(kind)
                    .collect::<Vec<_>>()
            };
            assert_eq!(kinds(&replaced), kinds(text));
            assert_eq!(replaced, replacer().replace_text(text));
        }
        assert_ne!(replacer().replace_text("hunter2"), "hunter2");
        assert_ne!(
            replacer().replace_text("hunter2"),
            Replacer::new([8; 32]).replace_text("hunter2")
        );
        let (first, second) = (
            replacer().replace_text("tools:search"),
            replacer().replace_text("tools:*"),
        );
        assert_eq!(first.split(':').next(), second.split(':').next());
        for n in 100..1000 {
            assert_ne!(replacer().replace_text(&n.to_string()), n.to_string());
        }
    }

    #[test]
    fn replaced_json_text_has_the_same_escapes() {
        for raw in [
            r"pass",
            r"p\u0061ss\n\u00e9",
            r#"\"\\\/"#,
            r"\ud83d\ude00\ud842\udfb7x",
            "日本",
        ] {
            let replaced = replace_json_text(raw, &replacer()).unwrap();
            assert_eq!(replaced.len(), raw.len(), "{replaced}");
            let places = |text: &str| {
                text.match_indices('\\')
                    .map(|(at, _)| at)
                    .collect::<Vec<_>>()
            };
            assert_eq!(places(&replaced), places(raw));
        }
        let plain = replace_json_text("pass", &replacer()).unwrap();
        let escaped = replace_json_text(r"p\u0061ss", &replacer()).unwrap();
        let read: String = serde_json::from_str(&format!("\"{escaped}\"")).unwrap();
        assert_eq!(read, plain, "equal whatever the spelling");
    }

    #[test]
    fn digests_and_ids_stay_hexadecimal() {
        for text in [
            "84aebb2ecc1b48fc28931994539b5975",
            "0123456789ABCDEF",
            "0b54e2b0-66a4-4c6e-9c39-4f1a6c52d101",
            "Bearer 84aebb2ecc1b48fc",
        ] {
            let (replaced, last) = (
                replacer().replace_text(text),
                text.rsplit(' ').next().unwrap(),
            );
            assert_ne!(replaced, text);
            assert!(
                is_hex(&replaced[replaced.len() - last.len()..]),
                "{replaced}"
            );
        }
        let replaced: String = (0..40)
            .map(|n| replacer().replace_text(&format!("cafe{n}")))
            .collect();
        let beyond = |c: char| c.is_ascii_lowercase() && !c.is_ascii_hexdigit();
        assert!(
            replaced.contains(beyond),
            "short ones are words: {replaced}"
        );
    }

    #[test]
    fn field_elements_stay_field_elements() {
        let greatest = format!("0x8{}", "0".repeat(62));
        for text in ["0xbeef", "0x0", "0xDEADBEEF", "0x10000000000", &greatest] {
            let replaced = replacer().replace_text(text);
            assert_eq!(replaced.len(), text.len());
            assert!(
                replaced[2..].bytes().all(|b| b.is_ascii_hexdigit()),
                "{replaced}"
            );
            assert!(replaced.starts_with("0x") && replaced[2..3] <= text[2..3]);
            assert!(replaced[2..3] != *"0" || text[2..3] == *"0", "{replaced}");
            assert!(replaced != text || text == "0x0", "{replaced}");
        }
        assert!(!replacer().replace_text(&greatest).starts_with("0x8"));
        assert!(!replacer().replace_text("0xyz").starts_with("0x"));
    }

    #[test]
    fn tokens_stay_tokens() {
        let claims =
            r#"{"iss":"sael","sub":"agent-7","exp":1795255200,"scope":["tools:*","a\u0062c"]}"#;
        let token = format!("qct.v1.{}.jMSua7H16b0", BASE64URL.encode(claims));
        let replaced = replacer().replace_text(&token);
        assert_eq!(replaced.len(), token.len());
        assert!(replaced.starts_with("qct.v1."));
        let claims_value = BASE64URL
            .decode(replaced.split('.').nth(2).unwrap())
            .unwrap();
        let claims_value: serde_json::Value = serde_json::from_slice(&claims_value).unwrap();
        assert_eq!(claims_value["exp"], 1_795_255_200);
        assert_eq!(claims_value["sub"], replacer().replace_text("agent-7"));
        assert_eq!(claims_value["scope"][0], replacer().replace_text("tools:*"));
        assert_eq!(claims_value["scope"][1], replacer().replace_text("abc"));
        let texts = claim_texts(&token);
        assert_eq!(texts.len(), 4, "{texts:?}");
        for text in ["sael", "agent", "tools", "jMSua7H16b0"] {
            assert!(
                !replaced.contains(text) && !claims_value.to_string().contains(text),
                "{claims_value}"
            );
        }
    }

    #[test]
    fn numbers_stay_numbers() {
        for text in ["0", "-12.50e+3", "18446744073709551615", "0.25"] {
            let replaced = replacer().replace_number(text);
            assert_eq!(replaced.len(), text.len());
            assert!(
                serde_json::from_str::<serde_json::Number>(&replaced).is_ok(),
                "{replaced}"
            );
        }
    }
}

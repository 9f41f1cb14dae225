//! What stands in for a secret: as long, of the same kind, and for equal secrets the same.
//!
//! ```text
//!   qct.v1.eyJpc3MiOiJzYWVsIn0.jMSua7H16b0    sid=4f2a-Zx    "pa\u0073s"
//!   qct.v1.eyJpc3MiOiJ4cXVjIn0.pWDrf4U73q2    sid=9c7e-Qm    "ub\u0066k"
//! ```
//!
//! Runs of letters and digits are replaced, each by one that follows from it and the key; what stands between them stays.
//! So does what tells the kind of a token: its short parts, the shape of claims, and that it is hexadecimal.

use crate::encoding::json;
use crate::span::Span;
use crate::tape::{Node, Tape};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::borrow::Cow;

/// Parts of a token that are no longer than this tell what it is.
const TYPE: usize = 3;
/// Runs of fewer characters may by chance stand for themselves.
const SHORT: usize = 3;
/// Text of hexadecimal digits that is no shorter is a digest or an id, and stays one.
const HEX: usize = 16;
/// Levels of claims that are looked into.
const DEPTH: u32 = 32;

/// Makes stand-ins under one key.
#[derive(Clone)]
pub struct StandIn {
    key: [u8; 32],
}

/// Numbers that follow from a run, its key, and how often it was tried.
struct Stream {
    /// Has read all of these, so that a long run is read once.
    mac: Option<Hmac<Sha256>>,
    block: [u8; 32],
    counter: u32,
    at: usize,
}

impl Stream {
    fn new(key: [u8; 32], tried: u8, run: &[u8]) -> Self {
        // Keys of any length are taken.
        let mut mac = Hmac::new_from_slice(&key).ok();
        if let Some(mac) = &mut mac {
            mac.update(&[tried]);
            mac.update(run);
        }
        Self {
            mac,
            block: [0; 32],
            counter: 0,
            at: 32,
        }
    }

    fn next(&mut self) -> u32 {
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

/// Whether this is a digest or an id: hexadecimal digits, perhaps in groups.
fn is_hex(text: &str) -> bool {
    text.len() >= HEX && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Another character of the same kind, and as long in UTF-8.
fn other(c: char, random: u32, hex: bool) -> char {
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

impl StandIn {
    /// Stand-ins under this key: whoever has it can tell which secret an easy one was.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// For text.
    pub fn text(&self, text: &str) -> String {
        self.token(text).unwrap_or_else(|| self.words(text))
    }

    /// For bytes that are no text.
    pub fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = Stream::new(self.key, 0, bytes);
        bytes.iter().map(|_| stream.next() as u8).collect()
    }

    /// For a number as JSON spells it: sign, point and exponent stay where they are, and so does zero.
    pub fn number(&self, text: &str) -> String {
        let mut stream = Stream::new(self.key, 0, text.as_bytes());
        let mut leads = true;
        let digit = |c: char| {
            if !c.is_ascii_digit() {
                return c;
            }
            let random = stream.next();
            let first = std::mem::take(&mut leads);
            match (first, c) {
                (true, '0') => c,
                (true, _) => char::from_digit(1 + random % 9, 10).unwrap_or(c),
                _ => other(c, random, false),
            }
        };
        text.chars().map(digit).collect()
    }

    fn words(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let hex = is_hex(text);
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_alphanumeric());
            let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.word(run, hex || is_hex(run), &mut out);
            let mut chars = after.chars();
            out.extend(chars.next());
            rest = chars.as_str();
        }
        out
    }

    fn word(&self, run: &str, hex: bool, out: &mut String) {
        let digits = run.strip_prefix("0x").unwrap_or_default();
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            out.push_str("0x");
            out.push_str(&self.literal(digits));
            return;
        }
        for tried in 0..=u8::MAX {
            let mut stream = Stream::new(self.key, tried, run.as_bytes());
            let of = |c| other(c, stream.next(), hex);
            let made: String = run.chars().map(of).collect();
            if made != run || run.chars().count() < SHORT || tried == u8::MAX {
                out.push_str(&made);
                return;
            }
        }
    }

    /// Digits behind `0x`. The first is no zero, and no greater than it was, so that what fitted a field still does.
    fn literal(&self, digits: &str) -> String {
        let mut stream = Stream::new(self.key, 0, digits.as_bytes());
        let of = |(at, c): (usize, char)| {
            let random = stream.next();
            let less = |first: char| {
                let many = (c as u32 - first as u32).max(1);
                char::from_u32(first as u32 + random % many).unwrap_or(c)
            };
            match c {
                '0' if at == 0 => c,
                '1'..='9' if at == 0 => less('1'),
                'a'..='f' if at == 0 => less('a'),
                'A'..='F' if at == 0 => less('A'),
                _ => other(c, random, true),
            }
        };
        digits.chars().enumerate().map(of).collect()
    }

    /// A token of parts with claims inside: what it is and how its claims are built stays.
    fn token(&self, text: &str) -> Option<String> {
        let parts: Vec<&str> = text.split('.').collect();
        if parts.len() < 3 {
            return None;
        }
        let part = |part: &&str| match self.claims(part) {
            _ if part.len() <= TYPE => (*part).to_owned(),
            Some(claims) => claims,
            None => self.words(part),
        };
        let made: Vec<String> = parts.iter().map(part).collect();
        Some(made.join("."))
    }

    /// A part of a token that is an object in base64url, with its texts replaced where they stand.
    fn claims(&self, part: &str) -> Option<String> {
        let json = BASE64URL.decode(part).ok()?;
        let mut made = json.clone();
        let mut tape = Tape::new();
        for leaf in leaves(object(&json, &mut tape)?) {
            let raw = std::str::from_utf8(leaf.raw_text()).ok()?;
            let start = leaf.span().at() + 1;
            let place = made.get_mut(start..start + raw.len());
            if let (Some(text), Some(place)) = (spell(raw, self), place)
                && leaf.is_string()
            {
                place.copy_from_slice(text.as_bytes());
            }
        }
        Some(BASE64URL.encode(made))
    }
}

fn object<'a>(json: &'a [u8], tape: &'a mut Tape) -> Option<Node<'a>> {
    json::parse(json, Span::new(0, json.len()), DEPTH, tape).ok()?;
    tape.root(json).filter(|root| root.is_map())
}

/// All values below one that have no children themselves, or the one.
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

/// The texts that a token's claims hold.
pub fn claims_of(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let parts: Vec<&str> = text.split('.').collect();
    for part in parts.iter().filter(|_| parts.len() >= 3) {
        let json = BASE64URL.decode(part).unwrap_or_default();
        let mut tape = Tape::new();
        let root = object(&json, &mut tape);
        let texts = root.into_iter().flat_map(leaves);
        out.extend(texts.filter_map(|leaf| leaf.text().map(Cow::into_owned)));
    }
    out
}

/// The stand-in for text that JSON spells so, in the same spelling: what was escaped is.
pub fn spell(raw: &str, stand_in: &StandIn) -> Option<String> {
    let text: String = serde_json::from_str(&format!("\"{raw}\"")).ok()?;
    respell(raw, &stand_in.text(&text))
}

/// Text with other letters and digits than `raw` says, in the spelling of `raw`.
pub fn respell(raw: &str, made: &str) -> Option<String> {
    let mut made = made.chars();
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(first) = rest.chars().next() {
        let c = made.next()?;
        let taken = match rest.as_bytes() {
            [b'\\', b'u', ..] => {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units);
                for unit in &*units {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
                6 * units.len()
            }
            // What has a short escape is no letter, and stays.
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

    fn one() -> StandIn {
        StandIn::new([7; 32])
    }

    #[test]
    fn text_keeps_length_and_kind_and_equality() {
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
            let made = one().text(text);
            assert_eq!(made.len(), text.len(), "{made}");
            let kind = |c: char| (c.is_lowercase(), c.is_ascii_digit(), c.len_utf8());
            let kinds = |text: &str| {
                text.chars()
                    .filter(char::is_ascii)
                    .map(kind)
                    .collect::<Vec<_>>()
            };
            assert_eq!(kinds(&made), kinds(text));
            assert_eq!(made, one().text(text));
        }
        assert_ne!(one().text("hunter2"), "hunter2");
        assert_ne!(one().text("hunter2"), StandIn::new([8; 32]).text("hunter2"));
        let (first, second) = (one().text("tools:search"), one().text("tools:*"));
        assert_eq!(first.split(':').next(), second.split(':').next());
        for n in 100..1000 {
            assert_ne!(one().text(&n.to_string()), n.to_string());
        }
    }

    #[test]
    fn spelling_is_kept() {
        for raw in [
            r"pass",
            r"p\u0061ss\n\u00e9",
            r#"\"\\\/"#,
            r"\ud83d\ude00\ud842\udfb7x",
            "日本",
        ] {
            let made = spell(raw, &one()).unwrap();
            assert_eq!(made.len(), raw.len(), "{made}");
            let places = |text: &str| {
                text.match_indices('\\')
                    .map(|(at, _)| at)
                    .collect::<Vec<_>>()
            };
            assert_eq!(places(&made), places(raw));
        }
        let plain = spell("pass", &one()).unwrap();
        let escaped = spell(r"p\u0061ss", &one()).unwrap();
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
            let (made, last) = (one().text(text), text.rsplit(' ').next().unwrap());
            assert_ne!(made, text);
            assert!(is_hex(&made[made.len() - last.len()..]), "{made}");
        }
        let made: String = (0..40).map(|n| one().text(&format!("cafe{n}"))).collect();
        let beyond = |c: char| c.is_ascii_lowercase() && !c.is_ascii_hexdigit();
        assert!(made.contains(beyond), "short ones are words: {made}");
    }

    #[test]
    fn field_elements_stay_field_elements() {
        let greatest = format!("0x8{}", "0".repeat(62));
        for text in ["0xbeef", "0x0", "0xDEADBEEF", "0x10000000000", &greatest] {
            let made = one().text(text);
            assert_eq!(made.len(), text.len());
            assert!(made[2..].bytes().all(|b| b.is_ascii_hexdigit()), "{made}");
            assert!(made.starts_with("0x") && made[2..3] <= text[2..3]);
            assert!(made[2..3] != *"0" || text[2..3] == *"0", "{made}");
            assert!(made != text || text == "0x0", "{made}");
        }
        assert!(!one().text(&greatest).starts_with("0x8"));
        assert!(!one().text("0xyz").starts_with("0x"));
    }

    #[test]
    fn tokens_stay_tokens() {
        let claims =
            r#"{"iss":"sael","sub":"agent-7","exp":1795255200,"scope":["tools:*","a\u0062c"]}"#;
        let token = format!("qct.v1.{}.jMSua7H16b0", BASE64URL.encode(claims));
        let made = one().text(&token);
        assert_eq!(made.len(), token.len());
        assert!(made.starts_with("qct.v1."));
        let told = BASE64URL.decode(made.split('.').nth(2).unwrap()).unwrap();
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
        assert_eq!(told["exp"], 1_795_255_200);
        assert_eq!(told["sub"], one().text("agent-7"));
        assert_eq!(told["scope"][0], one().text("tools:*"));
        assert_eq!(told["scope"][1], one().text("abc"));
        let texts = claims_of(&token);
        assert_eq!(texts.len(), 4, "{texts:?}");
        for text in ["sael", "agent", "tools", "jMSua7H16b0"] {
            assert!(
                !made.contains(text) && !told.to_string().contains(text),
                "{told}"
            );
        }
    }

    #[test]
    fn numbers_stay_numbers() {
        for text in ["0", "-12.50e+3", "18446744073709551615", "0.25"] {
            let made = one().number(text);
            assert_eq!(made.len(), text.len());
            assert!(
                serde_json::from_str::<serde_json::Number>(&made).is_ok(),
                "{made}"
            );
        }
    }
}

//! Capability tokens: `qct.v1.<payload>.<signature>`, both parts base64url without padding.
//!
//! ```text
//!   qct . v1 . eyJpc3MiOiJ…  . jMSua7H16b0…
//!    |    |    claims, JSON     HMAC-SHA256(secret, "v1." + payload as written)
//!    |    version
//!    prefix; it stays when the token is called SCT
//! ```
//!
//! The signature covers the encoded text, not the JSON: minting languages spell JSON differently, so nothing is ever
//! encoded anew to check it. [`Token::parse`] takes any text apart and names what is wrong, [`Token::verify`] makes every
//! check of the document, [`mint`] writes one.

mod verify;

use super::message::is_base64url;
pub use super::message::is_token;
use crate::encoding::json;
use crate::span::Span;
use crate::tape::Tape;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{
    GeneralPurpose, GeneralPurposeConfig, URL_SAFE_NO_PAD as STRICT,
};
use base64::engine::{DecodePaddingMode, Engine};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Map, Value};
use sha2::Sha256;
use std::fmt;
pub use verify::{Check, Checked, Outcome, verified};

/// What every token begins with.
pub const PREFIX: &str = "qct";
/// The only version there is.
pub const VERSION: &str = "v1";
/// Claims that a token must have.
pub const REQUIRED: [&str; 4] = ["iss", "sub", "exp", "scope"];
/// Nesting of claims that is read.
const DEPTH: u32 = 64;

/// Reads what strict decoders refuse, so that claims can be shown whatever else is wrong: padding, spare bits.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The claims of a token, base64 resolved; `None` where they are no base64url.
pub fn claims(text: &str) -> Option<Vec<u8>> {
    let payload = text.strip_prefix("qct.")?.split('.').nth(1)?;
    STRICT.decode(payload).ok()
}

/// Something wrong with a token or its claims.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The part or the claim: `payload`, `exp`.
    pub place: String,
    /// What is wrong with it.
    pub text: String,
}

impl Problem {
    fn new(place: &str, text: impl Into<String>) -> Self {
        Self {
            place: place.to_owned(),
            text: text.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// A token taken apart, as far as that goes.
#[derive(Clone, Debug)]
pub struct Token<'a> {
    text: &'a str,
    parts: Vec<&'a str>,
    json: Option<String>,
    claims: Option<Map<String, Value>>,
    problems: Vec<Problem>,
}

impl<'a> Token<'a> {
    /// Takes any text apart; what is wrong is in [`Token::problems`].
    pub fn parse(text: &'a str) -> Self {
        // One more than there should be: the rest of a text with ten thousand dots is of no interest.
        let parts: Vec<&str> = text.splitn(5, '.').collect();
        let mut token = Self {
            text,
            parts,
            json: None,
            claims: None,
            problems: Vec::new(),
        };
        token.read();
        token
    }

    fn read(&mut self) {
        let mut problems = Vec::new();
        if self.parts.len() != 4 {
            problems.push(Problem::new("token", self.count()));
        }
        if self.prefix() != PREFIX {
            problems.push(Problem::new("prefix", "is not `qct`"));
        }
        if self.parts.len() > 1 && self.version() != VERSION {
            problems.push(Problem::new("version", "is not `v1`"));
        }
        for (name, part) in [("payload", self.payload()), ("signature", self.signature())] {
            if let Some(odd) = part.and_then(foreign) {
                problems.push(Problem::new(name, odd));
            }
        }
        if let Some(signature) = self.signature()
            && signature.bytes().all(is_base64url)
            && signature.len() != 43
        {
            let text = format!(
                "has {} characters, and 32 bytes take 43",
                signature.chars().count()
            );
            problems.push(Problem::new("signature", text));
        }
        match self.payload().map(|payload| LENIENT.decode(payload)) {
            None => {}
            Some(Err(_)) => problems.push(Problem::new("payload", "is no base64url")),
            Some(Ok(bytes)) => match String::from_utf8(bytes) {
                Err(_) => problems.push(Problem::new("payload", "is not UTF-8")),
                Ok(json) => {
                    match object(&json) {
                        Ok(claims) => {
                            problems.extend(lacking(&claims));
                            problems.extend(repeated(&json));
                            self.claims = Some(claims);
                        }
                        Err(text) => problems.push(Problem::new("payload", text)),
                    }
                    self.json = Some(json);
                }
            },
        }
        self.problems = problems;
    }

    /// How many parts there are, in words.
    fn count(&self) -> String {
        match self.parts.len() {
            5 => "has more than the four parts that dots separate".to_owned(),
            n => format!("has {n} of the four parts that dots separate"),
        }
    }

    /// The text as it was given.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// What stands before the first dot.
    pub fn prefix(&self) -> &'a str {
        self.parts.first().copied().unwrap_or_default()
    }

    /// What stands between the first and the second dot.
    pub fn version(&self) -> &'a str {
        self.parts.get(1).copied().unwrap_or_default()
    }

    /// The claims as they are encoded.
    pub fn payload(&self) -> Option<&'a str> {
        self.parts.get(2).copied()
    }

    /// The signature as it is encoded. A secret: whoever has all parts may use the token.
    pub fn signature(&self) -> Option<&'a str> {
        self.parts.get(3).copied()
    }

    /// The claims as their JSON was written, where the payload is text.
    pub fn json(&self) -> Option<&str> {
        self.json.as_deref()
    }

    /// The claims, where they are a JSON object.
    pub fn claims(&self) -> Option<&Map<String, Value>> {
        self.claims.as_ref()
    }

    /// The capabilities it grants; what is no text among them is left out.
    pub fn scope(&self) -> Vec<&str> {
        let scope = self.claims.as_ref().and_then(|c| c.get("scope"));
        let items = scope.and_then(Value::as_array);
        items
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// What is wrong with it, whoever signed it and whatever the time.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// The first character that base64url does not have.
fn foreign(part: &str) -> Option<String> {
    let (at, c) = part
        .char_indices()
        .find(|(_, c)| !u8::try_from(*c).is_ok_and(is_base64url))?;
    let what = match c {
        '=' => "padding, and there must be none".to_owned(),
        '+' | '/' => format!("`{c}`, which base64 has and base64url has not"),
        c if c.is_whitespace() => "white space".to_owned(),
        c => format!("`{}`, which base64url has not", c.escape_default()),
    };
    Some(format!("byte {at} is {what}"))
}

/// Claims that are an object.
fn object(json: &str) -> Result<Map<String, Value>, String> {
    if json.is_empty() {
        return Err("is empty".to_owned());
    }
    match serde_json::from_str(json) {
        Ok(Value::Object(claims)) => Ok(claims),
        Ok(other) => Err(format!("is {}, no object", kind(&other))),
        Err(error) => Err(format!("is no JSON: {error}")),
    }
}

/// What is wrong with a set of claims, by the document's table of claims.
fn lacking(claims: &Map<String, Value>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in REQUIRED {
        if claims.get(name).is_none_or(Value::is_null) {
            problems.push(Problem::new(name, "is required, and is not there"));
        }
    }
    for (name, value) in claims {
        if let Some(text) = misfit(name, value) {
            problems.push(Problem::new(name, text));
        }
    }
    problems
}

/// What is wrong with the value of a claim; null is as good as absent.
fn misfit(name: &str, value: &Value) -> Option<String> {
    if value.is_null() {
        return None;
    }
    let wanted = match name {
        "iss" | "sub" | "client_id" | "session_id" if !value.is_string() => "text",
        "iat" | "nbf" | "exp" if !value.is_number() => "a number of seconds since 1970",
        "max_cost_usd" if !value.is_number() => "a number",
        "scope" | "federation_allowed" => {
            let items = value.as_array();
            if items.is_some_and(|items| items.iter().all(Value::is_string)) {
                return None;
            }
            "a list of texts"
        }
        _ => return None,
    };
    Some(format!("is {}, and must be {wanted}", kind(value)))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a bool",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Claims that are there twice: the last one counts, and a reader may see the first.
fn repeated(json: &str) -> Vec<Problem> {
    let mut tape = Tape::new();
    if json::parse(json.as_bytes(), Span::new(0, json.len()), DEPTH, &mut tape).is_err() {
        return Vec::new();
    }
    let mut seen = std::collections::HashSet::new();
    let members = tape.root(json.as_bytes()).into_iter();
    members
        .flat_map(crate::tape::Node::members)
        .filter_map(|(key, _)| key.text())
        .filter(|key| !seen.insert(key.clone()))
        .map(|key| Problem::new(&key, "is there twice; the last one counts"))
        .collect()
}

/// The signature that text has under a secret; `None` under an empty one.
fn sign(text: &[&str], secret: &[u8]) -> Option<Hmac<Sha256>> {
    if secret.is_empty() {
        return None;
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    for part in text {
        mac.update(part.as_bytes());
    }
    Some(mac)
}

/// What is wrong with claims that are to be signed: no object, or not what the document demands.
pub fn claims_problems(json: &str) -> Vec<Problem> {
    match object(json) {
        Ok(claims) => {
            let mut problems = lacking(&claims);
            problems.extend(repeated(json));
            problems
        }
        Err(text) => vec![Problem::new("claims", text)],
    }
}

/// A token over claims exactly as they are written; [`claims_problems`] says whether they should be. An empty secret
/// signs nothing, as in the reference.
pub fn mint(claims: &str, secret: &[u8]) -> Result<String, Problem> {
    let payload = STRICT.encode(claims);
    let mac = sign(&[VERSION, ".", &payload], secret)
        .ok_or_else(|| Problem::new("secret", "is empty"))?;
    let signature = STRICT.encode(mac.finalize().into_bytes());
    Ok(format!("{PREFIX}.{VERSION}.{payload}.{signature}"))
}

#[cfg(test)]
mod tests;

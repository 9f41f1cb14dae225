//! Capability tokens: `qct.v1.<payload>.<signature>`, both parts base64url without padding.
//!
//! ```text
//!   qct . v1 . eyJpc3MiOiJ…  . jMSua7H16b0…
//!    |    |    claims, JSON     HMAC-SHA256(secret, "v1." + payload as written)
//!    |    version
//!    prefix; it stays when the token is called SCT
//! ```
//!
//! The signature covers the encoded text, not the JSON. Issuers spell JSON differently, so a check never encodes the
//! claims again. [`Token::parse`] splits any text and lists its problems, [`Token::verify`] makes every check of the
//! document, [`mint`] creates a token.

mod verify;

use super::message::is_base64url;
pub use super::message::is_token;
use crate::encoding::json;
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
pub use verify::{Check, CheckOutcome, Checked, verified};

/// The prefix of every token.
pub const PREFIX: &str = "qct";
/// The only version.
pub const VERSION: &str = "v1";
/// The required claims.
pub const REQUIRED: [&str; 4] = ["iss", "sub", "exp", "scope"];
/// The deepest nesting of claims.
const DEPTH: u32 = 64;

/// Accepts text that strict decoders refuse, so that claims can be shown despite other errors: padding, spare bits.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes the claims of a token; `None` if they are not base64url.
pub fn claims(text: &str) -> Option<Vec<u8>> {
    let payload = text.strip_prefix("qct.")?.split('.').nth(1)?;
    STRICT.decode(payload).ok()
}

/// A problem of a token or its claims.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenProblem {
    /// The part or the claim: `payload`, `exp`.
    pub place: String,
    /// The problem.
    pub text: String,
}

impl TokenProblem {
    fn new(place: &str, text: impl Into<String>) -> Self {
        Self {
            place: place.to_owned(),
            text: text.into(),
        }
    }
}

impl fmt::Display for TokenProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// A token, split as far as possible.
#[derive(Clone, Debug)]
pub struct Token<'a> {
    text: &'a str,
    parts: Vec<&'a str>,
    json: Option<String>,
    claims: Option<Map<String, Value>>,
    problems: Vec<TokenProblem>,
}

impl<'a> Token<'a> {
    /// Splits any text; [`Token::problems`] lists the errors.
    pub fn parse(text: &'a str) -> Self {
        // One part more than expected: a text with ten thousand dots is not split further.
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
            problems.push(TokenProblem::new("token", self.count()));
        }
        if self.prefix() != PREFIX {
            problems.push(TokenProblem::new("prefix", "is not `qct`"));
        }
        if self.parts.len() > 1 && self.version() != VERSION {
            problems.push(TokenProblem::new("version", "is not `v1`"));
        }
        for (name, part) in [("payload", self.payload()), ("signature", self.signature())] {
            if let Some(odd) = part.and_then(invalid_char) {
                problems.push(TokenProblem::new(name, odd));
            }
        }
        if let Some(signature) = self.signature()
            && signature.bytes().all(is_base64url)
            && signature.len() != 43
        {
            let text = format!(
                "has {} characters, but 32 bytes need 43",
                signature.chars().count()
            );
            problems.push(TokenProblem::new("signature", text));
        }
        match self.payload().map(|payload| LENIENT.decode(payload)) {
            None => {}
            Some(Err(_)) => problems.push(TokenProblem::new("payload", "is not base64url")),
            Some(Ok(bytes)) => match String::from_utf8(bytes) {
                Err(_) => problems.push(TokenProblem::new("payload", "is not UTF-8")),
                Ok(json) => {
                    match object(&json) {
                        Ok(claims) => {
                            problems.extend(check_claims(&claims));
                            problems.extend(repeated(&json));
                            self.claims = Some(claims);
                        }
                        Err(text) => problems.push(TokenProblem::new("payload", text)),
                    }
                    self.json = Some(json);
                }
            },
        }
        self.problems = problems;
    }

    /// Describes the number of parts.
    fn count(&self) -> String {
        match self.parts.len() {
            5 => "has more than the four parts that dots separate".to_owned(),
            n => format!("has {n} of the four parts that dots separate"),
        }
    }

    /// Returns the text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the text before the first dot.
    pub fn prefix(&self) -> &'a str {
        self.parts.first().copied().unwrap_or_default()
    }

    /// Returns the text between the first and the second dot.
    pub fn version(&self) -> &'a str {
        self.parts.get(1).copied().unwrap_or_default()
    }

    /// Returns the encoded claims.
    pub fn payload(&self) -> Option<&'a str> {
        self.parts.get(2).copied()
    }

    /// Returns the encoded signature. It is a secret: the whole token can be used by anyone who has it.
    pub fn signature(&self) -> Option<&'a str> {
        self.parts.get(3).copied()
    }

    /// Returns the JSON of the claims as it was written, if the payload is text.
    pub fn json(&self) -> Option<&str> {
        self.json.as_deref()
    }

    /// Returns the claims, if they are a JSON object.
    pub fn claims(&self) -> Option<&Map<String, Value>> {
        self.claims.as_ref()
    }

    /// Returns the granted capabilities; elements that are not text are left out.
    pub fn scope(&self) -> Vec<&str> {
        let scope = self.claims.as_ref().and_then(|c| c.get("scope"));
        let items = scope.and_then(Value::as_array);
        items
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// Returns the problems that depend neither on the secret nor on the time.
    pub fn problems(&self) -> &[TokenProblem] {
        &self.problems
    }
}

/// Describes the first character that base64url does not have.
fn invalid_char(part: &str) -> Option<String> {
    let (at, c) = part
        .char_indices()
        .find(|(_, c)| !u8::try_from(*c).is_ok_and(is_base64url))?;
    let what = match c {
        '=' => "padding, which is not allowed".to_owned(),
        '+' | '/' => format!("`{c}`, which belongs to base64, but not to base64url"),
        c if c.is_whitespace() => "white space".to_owned(),
        c => format!(
            "`{}`, which does not belong to base64url",
            c.escape_default()
        ),
    };
    Some(format!("byte {at} is {what}"))
}

/// Parses claims that are an object.
fn object(json: &str) -> Result<Map<String, Value>, String> {
    if json.is_empty() {
        return Err("is empty".to_owned());
    }
    match serde_json::from_str(json) {
        Ok(Value::Object(claims)) => Ok(claims),
        Ok(other) => Err(format!("is {}, not an object", kind(&other))),
        Err(error) => Err(format!("is not JSON: {error}")),
    }
}

/// Checks a set of claims against the table of claims in the document.
fn check_claims(claims: &Map<String, Value>) -> Vec<TokenProblem> {
    let mut problems = Vec::new();
    for name in REQUIRED {
        if claims.get(name).is_none_or(Value::is_null) {
            problems.push(TokenProblem::new(name, "is required, but missing"));
        }
    }
    for (name, value) in claims {
        if let Some(text) = claim_error(name, value) {
            problems.push(TokenProblem::new(name, text));
        }
    }
    problems
}

/// Describes the error in the value of a claim; null counts as absent.
fn claim_error(name: &str, value: &Value) -> Option<String> {
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
    Some(format!("is {}; it must be {wanted}", kind(value)))
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

/// Reports repeated claims: the last one counts, but another reader may use the first.
fn repeated(json: &str) -> Vec<TokenProblem> {
    let mut tape = Tape::new();
    let root = json::root(json.as_bytes(), DEPTH, &mut tape);
    let mut seen = std::collections::HashSet::new();
    root.into_iter()
        .flat_map(crate::tape::Node::members)
        .filter_map(|(key, _)| key.text())
        .filter(|key| !seen.insert(key.clone()))
        .map(|key| TokenProblem::new(&key, "is repeated; the last one counts"))
        .collect()
}

/// Computes the signature of a text with a secret; `None` if the secret is empty.
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

/// Checks claims before signing: they must be an object that satisfies the document.
pub fn claims_problems(json: &str) -> Vec<TokenProblem> {
    match object(json) {
        Ok(claims) => {
            let mut problems = check_claims(&claims);
            problems.extend(repeated(json));
            problems
        }
        Err(text) => vec![TokenProblem::new("claims", text)],
    }
}

/// Creates a token from claims exactly as they are written; [`claims_problems`] checks them. An empty secret is
/// refused, as in the reference.
pub fn mint(claims: &str, secret: &[u8]) -> Result<String, TokenProblem> {
    let payload = STRICT.encode(claims);
    let mac = sign(&[VERSION, ".", &payload], secret)
        .ok_or_else(|| TokenProblem::new("secret", "is empty"))?;
    let signature = STRICT.encode(mac.finalize().into_bytes());
    Ok(format!("{PREFIX}.{VERSION}.{payload}.{signature}"))
}

#[cfg(test)]
mod tests;

//! Makes every check of the document, and notes where the references differ.

use super::{LENIENT, PREFIX, STRICT, Token, VERSION, claim_error, invalid_char, sign};
use base64::Engine as _;
use hmac::Mac as _;
use serde_json::Value;
use std::cmp::Ordering;

/// A check of the document, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// Four parts.
    Split,
    /// `qct`.
    Prefix,
    /// `v1`.
    Version,
    /// base64url without padding.
    Alphabet,
    /// HMAC-SHA256 under the secret.
    Signature,
    /// The payload is a JSON object.
    Claims,
    /// The issuer is present.
    Issuer,
    /// The subject is present.
    Subject,
    /// The expiry is present.
    Expiry,
    /// The scope is present.
    Scope,
    /// iat <= now.
    IssuedAt,
    /// nbf <= now.
    NotBefore,
    /// exp > now.
    NotExpired,
    /// `client_id` is the agent's id.
    ClientId,
}

impl Check {
    /// The name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Prefix => "prefix",
            Self::Version => "version",
            Self::Alphabet => "alphabet",
            Self::Signature => "signature",
            Self::Claims => "claims",
            Self::Issuer => "iss",
            Self::Subject => "sub",
            Self::Expiry => "exp",
            Self::Scope => "scope",
            Self::IssuedAt => "iat <= now",
            Self::NotBefore => "nbf <= now",
            Self::NotExpired => "exp > now",
            Self::ClientId => "client_id",
        }
    }
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckOutcome {
    /// The check passed.
    Passed,
    /// The check failed.
    Failed,
    /// There is nothing to check, or nothing to compare with.
    Skipped,
}

/// A completed check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// The check.
    pub check: Check,
    /// The outcome.
    pub outcome: CheckOutcome,
    /// The values that were found; never the signature or the secret.
    pub text: String,
    /// The behaviour of the reference implementations, if it differs.
    pub references: Option<&'static str>,
}

/// Returns true if no check failed.
pub fn verified(checks: &[Checked]) -> bool {
    checks.iter().all(|c| c.outcome != CheckOutcome::Failed)
}

impl Token<'_> {
    /// Makes every check, also after a failed one. `now` is in seconds since 1970; `client_id` is the agent's id, if it
    /// is known.
    pub fn verify(&self, secret: &[u8], now: i64, client_id: Option<&str>) -> Vec<Checked> {
        let equals = |check, got: &str, wanted: &str| {
            let text = if got == wanted {
                format!("`{wanted}`")
            } else {
                format!("wanted `{wanted}`, got `{got}`")
            };
            checked(check, got == wanted, text)
        };
        let mut checks = vec![
            if self.parts.len() == 4 {
                checked(Check::Split, true, "four parts")
            } else {
                checked(Check::Split, false, self.count())
            },
            equals(Check::Prefix, self.prefix(), PREFIX),
            equals(Check::Version, self.version(), VERSION),
            self.alphabet(),
            self.signed(secret),
        ];
        checks.push(match (self.claims(), self.problems_with("payload")) {
            (Some(claims), _) => checked(
                Check::Claims,
                true,
                format!("an object of {}", claims.len()),
            ),
            (None, Some(text)) => Checked {
                references: Some("the typescript reference takes any JSON value"),
                ..checked(Check::Claims, false, format!("the payload {text}"))
            },
            (None, None) => checked(Check::Claims, false, "there is no payload"),
        });
        for (check, name) in [
            (Check::Issuer, "iss"),
            (Check::Subject, "sub"),
            (Check::Expiry, "exp"),
            (Check::Scope, "scope"),
        ] {
            checks.push(self.required(check, name));
        }
        checks.push(Checked {
            references: Some("no reference checks it"),
            ..self.time(Check::IssuedAt, "iat", now, Ordering::is_le)
        });
        checks.push(self.time(Check::NotBefore, "nbf", now, Ordering::is_le));
        let mut expiry = self.time(Check::NotExpired, "exp", now, Ordering::is_gt);
        if self
            .claim("exp")
            .and_then(Value::as_i64)
            .is_some_and(|e| e <= 0)
        {
            expiry.references = Some("for the go reference it never expires");
        }
        checks.push(expiry);
        checks.push(self.client(client_id));
        for check in &mut checks {
            if check.outcome != CheckOutcome::Failed && check.check != Check::NotBefore {
                check.references = None;
            }
        }
        checks
    }

    /// Returns a claim that is present; null counts as absent.
    fn claim(&self, name: &str) -> Option<&Value> {
        self.claims()?.get(name).filter(|v| !v.is_null())
    }

    fn problems_with(&self, place: &str) -> Option<&str> {
        let mut last = self.problems.iter().rev();
        last.find(|p| p.place == place).map(|p| p.text.as_str())
    }

    fn alphabet(&self) -> Checked {
        let parts = [("payload", self.payload()), ("signature", self.signature())];
        for (name, part) in parts {
            if let Some(odd) = part.and_then(invalid_char) {
                let mut failed = checked(Check::Alphabet, false, format!("{name}: {odd}"));
                if name == "payload" && odd.contains("padding") {
                    failed.references = Some("the python and typescript references take padding");
                }
                return failed;
            }
        }
        if self.payload().is_none() {
            return skipped(Check::Alphabet, "there is no payload");
        }
        checked(Check::Alphabet, true, "base64url without padding")
    }

    /// RFC 2104 over the text as written. The bytes are compared in constant time. Strict decoding accepts only one
    /// spelling of them, so this equals the text comparison of the references.
    fn signed(&self, secret: &[u8]) -> Checked {
        let check = Check::Signature;
        let (Some(payload), Some(signature)) = (self.payload(), self.signature()) else {
            return skipped(check, "there is no signature");
        };
        if secret.is_empty() {
            return checked(check, false, "the secret is empty");
        }
        let is = |text: &[&str], bytes: &[u8]| {
            sign(text, secret).is_some_and(|mac| mac.verify_slice(bytes).is_ok())
        };
        let covered = [self.version(), ".", payload];
        if let Ok(bytes) = STRICT.decode(signature) {
            let good = is(&covered, &bytes);
            let text = if good {
                "HMAC-SHA256 of `v1.<payload>`"
            } else if is(&[self.prefix(), ".", self.version(), ".", payload], &bytes) {
                "covers `qct.v1.<payload>`; it must cover `v1.<payload>`"
            } else if is(&[payload], &bytes) {
                "covers only the payload; it must cover `v1.<payload>`"
            } else if self.json().is_some_and(|json| is(&[json], &bytes)) {
                "covers the JSON of the claims; it must cover `v1.<payload>` as it is written"
            } else {
                "does not match: the secret or the claims differ"
            };
            return checked(check, good, text);
        }
        let text = match LENIENT.decode(signature.trim()) {
            Ok(bytes) if is(&covered, &bytes) => {
                "has the right bytes, but another spelling: spare bits, padding or white space"
            }
            Ok(_) => "does not match, and is not canonical base64url",
            Err(_) => "is not base64url",
        };
        checked(check, false, text)
    }

    fn required(&self, check: Check, name: &str) -> Checked {
        let Some(claims) = self.claims() else {
            return skipped(check, "there are no claims");
        };
        match claims.get(name) {
            None | Some(Value::Null) => Checked {
                references: Some(if check == Check::Expiry {
                    "for the go and typescript references it never expires"
                } else {
                    "no reference requires it"
                }),
                ..checked(check, false, "is required, but missing")
            },
            Some(value) => match claim_error(name, value) {
                Some(text) => checked(check, false, text),
                None => checked(check, true, "is there"),
            },
        }
    }

    fn time(&self, check: Check, name: &str, now: i64, good: fn(Ordering) -> bool) -> Checked {
        let Some(value) = self.claim(name) else {
            return Checked {
                references: self
                    .claims()
                    .is_some_and(|c| c.get(name).is_some_and(Value::is_null))
                    .then_some("the python reference fails on null"),
                ..skipped(check, "is not there")
            };
        };
        let Some(order) = compare(value, now) else {
            return checked(check, false, claim_error(name, value).unwrap_or_default());
        };
        let mut time = checked(check, good(order), format!("{value}, now {now}"));
        if value.as_f64().is_some_and(|v| v.fract() == 0.0) && value.is_f64() {
            time.text
                .push_str(" (a float; the go reference refuses those)");
        }
        time
    }

    fn client(&self, id: Option<&str>) -> Checked {
        let check = Check::ClientId;
        match (self.claim("client_id"), id) {
            (None, _) => skipped(check, "is not there: any agent may use it"),
            (Some(Value::String(own)), None) => skipped(
                check,
                format!("is `{own}`, but no agent is given to compare"),
            ),
            (Some(Value::String(own)), Some(id)) if own == id => {
                checked(check, true, format!("`{own}`"))
            }
            (Some(Value::String(own)), Some(id)) => {
                checked(check, false, format!("wanted `{id}`, got `{own}`"))
            }
            (Some(value), _) => checked(
                check,
                false,
                claim_error("client_id", value).unwrap_or_default(),
            ),
        }
    }
}

/// Compares a time with now: exactly if it is an integer.
fn compare(value: &Value, now: i64) -> Option<Ordering> {
    if let Some(time) = value.as_i64() {
        return Some(time.cmp(&now));
    }
    if value.is_u64() {
        return Some(Ordering::Greater);
    }
    #[allow(clippy::cast_precision_loss)] // seconds of this age are far below 2^53
    value.as_f64()?.partial_cmp(&(now as f64))
}

fn checked(check: Check, good: bool, text: impl Into<String>) -> Checked {
    Checked {
        check,
        outcome: if good {
            CheckOutcome::Passed
        } else {
            CheckOutcome::Failed
        },
        text: text.into(),
        references: None,
    }
}

fn skipped(check: Check, text: impl Into<String>) -> Checked {
    Checked {
        check,
        outcome: CheckOutcome::Skipped,
        text: text.into(),
        references: None,
    }
}

//! Checks the token of HEY.

use super::{SaelMessage, rule, short};
use crate::protocol::sael::token::{Check, CheckOutcome, Token};
use crate::protocol::session::{Place, broken};

/// A longer lifetime is reported: a year and a day, in seconds.
const LONG: i64 = 366 * 86_400;

/// Makes every check of a token that is possible here.
pub(super) fn check_token(
    message: &SaelMessage<'_, '_>,
    token: &Token<'_>,
    place: Place,
    secret: Option<&[u8]>,
    agent: Option<&str>,
) {
    const SECOND: i64 = 1_000_000_000;
    let now = message.time().map(|time| time.div_euclid(SECOND));
    let checks = token.verify(secret.unwrap_or_default(), now.unwrap_or(0), agent);
    let failed = |wanted: Check| {
        checks
            .iter()
            .find(|c| c.check == wanted && c.outcome == CheckOutcome::Failed)
    };
    let shape = [
        Check::Split,
        Check::Prefix,
        Check::Version,
        Check::Alphabet,
        Check::Claims,
    ];
    if let Some(bad) = shape.into_iter().find_map(failed) {
        broken!(message, rule::TOKEN_SHAPE, place;
            "the token's {}: {}", bad.check.name(), bad.text);
        return;
    }
    if let (Some(_), Some(bad)) = (secret, failed(Check::Signature)) {
        broken!(message, rule::TOKEN_SIGNATURE, place; "the token's signature {}", bad.text);
    }
    let parts = ["token", "prefix", "version", "payload", "signature"];
    let odd: Vec<String> = token
        .problems()
        .iter()
        .filter(|problem| !parts.contains(&problem.place.as_str()))
        .take(4)
        .map(|problem| format!("{} {}", short(&problem.place), problem.text))
        .collect();
    if !odd.is_empty() {
        broken!(message, rule::TOKEN_CLAIMS, place; "in the token's claims, {}", odd.join("; "));
    }
    let number = |name: &str| {
        let claim = token.claims().and_then(|claims| claims.get(name));
        claim.and_then(serde_json::Value::as_f64)
    };
    for (check, name, (rule, what)) in [
        (
            Check::IssuedAt,
            "iat",
            (rule::TOKEN_ISSUED_LATER, "was issued in the future"),
        ),
        (
            Check::NotBefore,
            "nbf",
            (rule::TOKEN_NOT_YET, "is not valid yet"),
        ),
        (
            Check::NotExpired,
            "exp",
            (rule::TOKEN_EXPIRED, "has expired"),
        ),
    ] {
        if let (Some(_), Some(_), Some(bad)) = (now, number(name), failed(check)) {
            broken!(message, rule, place; "the token {what}: {name} is {}", bad.text);
        }
    }
    if let (Some(_), Some(bad)) = (agent, failed(Check::ClientId)) {
        broken!(message, rule::TOKEN_CLIENT, place;
            "the token's client_id must be agent.id: {}", bad.text);
    }
    #[allow(clippy::cast_precision_loss)] // seconds of this age are far below 2^53
    let from = number("iat").or(now.map(|now| now as f64));
    #[allow(clippy::cast_precision_loss)]
    if let (Some(from), Some(to)) = (from, number("exp"))
        && to - from > LONG as f64
    {
        let days = ((to - from) / 86_400.0).floor();
        broken!(message, rule::TOKEN_LONG_LIVED, place; "the token is valid for {days} days");
    }
}

/// Returns true if the traffic to this address can be read on the network.
pub(super) fn is_open(address: &str) -> bool {
    let Some(rest) = ["ws://", "tcp://", "http://"]
        .into_iter()
        .find_map(|scheme| address.strip_prefix(scheme))
    else {
        return false;
    };
    let here = ["localhost", "127.", "[::1]"];
    !here.iter().any(|host| rest.starts_with(host))
}

//! Capability tokens: `qct.v1.<payload>.<signature>`, both parts base64url without padding.
//!
//! Recognised here, so that they are not shown by accident.

/// Whether text looks like a capability token: the prefix, and parts of the right alphabet.
pub fn is_token(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("qct.") else {
        return false;
    };
    let mut parts = rest.split('.');
    let base64 = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    parts.next().is_some_and(|version| version.starts_with('v'))
        && parts.clone().count() >= 1
        && parts.all(base64)
}

/// The claims of a token, base64 resolved; `None` where they are no base64url.
pub fn claims(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let payload = text.strip_prefix("qct.")?.split('.').nth(1)?;
    base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(payload)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognised() {
        assert!(is_token("qct.v1.eyJhIjoxfQ.c2ln"));
        assert_eq!(
            claims("qct.v1.eyJhIjoxfQ.c2ln").as_deref(),
            Some(&b"{\"a\":1}"[..])
        );
        for text in [
            "",
            "qct.",
            "qct.v1",
            "qct.v1.a b.c",
            "act.v1.eyJhIjoxfQ.c2ln",
        ] {
            assert!(!is_token(text), "{text}");
        }
    }
}

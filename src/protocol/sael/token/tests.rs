use super::*;

const SECRET: &[u8] = b"wiretool-test-secret";
const CLAIMS: &str = r#"{"iss":"i","sub":"s","iat":100,"exp":200,"scope":["a:b"]}"#;

fn failed(text: &str, now: i64, id: Option<&str>) -> Vec<&'static str> {
    let checks = Token::parse(text).verify(SECRET, now, id);
    let failed = checks.iter().filter(|c| c.outcome == CheckOutcome::Failed);
    failed.map(|c| c.check.name()).collect()
}

fn issued(claims: &str) -> String {
    mint(claims, SECRET).unwrap()
}

#[test]
fn token_texts_are_recognised() {
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

#[test]
fn times_and_agents_are_checked() {
    let with = |more: &str| issued(&CLAIMS.replace("\"iat\":100", &format!("\"iat\":100{more}")));
    for (token, now, id, want) in [
        (issued(CLAIMS), 100, None, &[][..]),
        (issued(CLAIMS), 199, None, &[]),
        (issued(CLAIMS), 200, None, &["exp > now"]),
        (issued(CLAIMS), 99, None, &["iat <= now"]),
        (with(",\"nbf\":150"), 150, None, &[]),
        (with(",\"nbf\":151"), 150, None, &["nbf <= now"]),
        (with(",\"nbf\":null"), 150, None, &[]),
        (with(",\"nbf\":\"1\""), 150, None, &["nbf <= now"]),
        (with(",\"client_id\":\"x\""), 150, Some("x"), &[]),
        (with(",\"client_id\":\"x\""), 150, None, &[]),
        (with(",\"client_id\":\"x\""), 150, Some("y"), &["client_id"]),
        (with(",\"client_id\":7"), 150, None, &["client_id"]),
        (issued(&CLAIMS.replace("200", "200.5")), 200, None, &[]),
        (issued(&CLAIMS.replace("200", "1e300")), i64::MAX, None, &[]),
        (
            issued(&CLAIMS.replace("200", "18446744073709551615")),
            i64::MAX,
            None,
            &[],
        ),
        (
            issued(&CLAIMS.replace("200", "true")),
            150,
            None,
            &["exp", "exp > now"],
        ),
        (
            issued(&CLAIMS.replace("[\"a:b\"]", "\"a:b\"")),
            150,
            None,
            &["scope"],
        ),
        (issued("{}"), 150, None, &["iss", "sub", "exp", "scope"]),
    ] {
        assert_eq!(failed(&token, now, id), want, "{token} at {now}");
    }
}

#[test]
fn other_signing_methods_are_reported() {
    let output = |signature: String| {
        let token = issued(CLAIMS);
        let payload = Token::parse(&token).payload().unwrap().to_owned();
        let text = format!("qct.v1.{payload}.{signature}");
        let checks = Token::parse(&text).verify(SECRET, 150, None);
        let signature = checks.iter().find(|c| c.check == Check::Signature);
        let signature = signature.unwrap();
        assert_eq!(signature.outcome, CheckOutcome::Failed);
        signature.text.clone()
    };
    let mac = |text: &str| STRICT.encode(sign(&[text], SECRET).unwrap().finalize().into_bytes());
    let good = issued(CLAIMS);
    let token = Token::parse(&good);
    let (payload, signature) = (token.payload().unwrap(), token.signature().unwrap());
    insta::assert_snapshot!(
        [
            output(mac(&format!("qct.v1.{payload}"))),
            output(mac(payload)),
            output(mac(CLAIMS)),
            output(format!("{signature}=")),
            output(format!("{signature}\n")),
            output(format!("{signature}*")),
            output(String::new()),
        ]
        .join("\n"),
        @r"
    covers `qct.v1.<payload>`; it must cover `v1.<payload>`
    covers only the payload; it must cover `v1.<payload>`
    covers the JSON of the claims; it must cover `v1.<payload>` as it is written
    has the right bytes, but another spelling: spare bits, padding or white space
    has the right bytes, but another spelling: spare bits, padding or white space
    is not base64url
    does not match: the secret or the claims differ
    "
    );
}

#[test]
fn problems_are_listed() {
    let output = |text: &str| {
        let token = Token::parse(text);
        let lines: Vec<String> = token.problems().iter().map(ToString::to_string).collect();
        format!("{}\n  {}", text.escape_debug(), lines.join("\n  "))
    };
    let payload = |json: &str| format!("qct.v1.{}.{}", STRICT.encode(json), "A".repeat(43));
    insta::assert_snapshot!(
        [
            output(""),
            output("a.b.c.d.e.f"),
            output("qct.v2.e30.x"),
            output("qct.v1.e30=.é"),
            output(&payload("[1]")),
            output(&payload("{")),
            output(&payload(r#"{"iss":1,"sub":"","sub":"x","exp":"1","scope":[1]}"#)),
        ]
        .join("\n"),
        @r"

      token: has 1 of the four parts that dots separate
      prefix: is not `qct`
    a.b.c.d.e.f
      token: has more than the four parts that dots separate
      prefix: is not `qct`
      version: is not `v1`
      signature: has 1 characters, but 32 bytes need 43
      payload: is not base64url
    qct.v2.e30.x
      version: is not `v1`
      signature: has 1 characters, but 32 bytes need 43
      iss: is required, but missing
      sub: is required, but missing
      exp: is required, but missing
      scope: is required, but missing
    qct.v1.e30=.é
      payload: byte 3 is padding, which is not allowed
      signature: byte 0 is `\u{e9}`, which does not belong to base64url
      iss: is required, but missing
      sub: is required, but missing
      exp: is required, but missing
      scope: is required, but missing
    qct.v1.WzFd.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      payload: is a list, not an object
    qct.v1.ew.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      payload: is not JSON: EOF while parsing an object at line 1 column 1
    qct.v1.eyJpc3MiOjEsInN1YiI6IiIsInN1YiI6IngiLCJleHAiOiIxIiwic2NvcGUiOlsxXX0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      exp: is text; it must be a number of seconds since 1970
      iss: is a number; it must be text
      scope: is a list; it must be a list of texts
      sub: is repeated; the last one counts
    "
    );
}

#[test]
fn issuing_needs_a_secret() {
    assert_eq!(mint("{}", b"").unwrap_err().to_string(), "secret: is empty");
    let token = issued(CLAIMS);
    let checks = Token::parse(&token).verify(b"", 150, None);
    assert!(!verified(&checks));
    assert_eq!(claims_problems(CLAIMS), []);
    assert_eq!(claims_problems("7").len(), 1);
}

/// No change of a valid token verifies: each bit flipped, each byte replaced, each end cut off, bytes inserted.
#[test]
fn damage_never_verifies() {
    let good = issued(CLAIMS);
    assert!(failed(&good, 150, None).is_empty());
    let refused = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let checks = Token::parse(&text).verify(SECRET, 150, None);
        assert!(!verified(&checks), "{text}");
    };
    let bytes = good.as_bytes();
    for at in 0..bytes.len() {
        refused(&bytes[..at]);
        refused(&bytes[at + 1..]);
        for bit in 0..8 {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1 << bit;
            refused(&damaged);
        }
        for byte in [0, 0xff, b'.', b'=', b'A', b'_', b'\n'] {
            let mut damaged = bytes.to_vec();
            damaged.insert(at, byte);
            refused(&damaged);
            damaged[at] = byte;
            damaged.remove(at + 1);
            if damaged != bytes {
                refused(&damaged);
            }
        }
    }
    for more in ["A", "=", ".", "\n", "..", "\0"] {
        refused(format!("{good}{more}").as_bytes());
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_parsed(text in "(qct)?\\.?(v1)?\\.?.{0,40}\\.?.{0,50}", secret in proptest::collection::vec(proptest::num::u8::ANY, 0..4)) {
        let token = Token::parse(&text);
        proptest::prop_assert!(!verified(&token.verify(&secret, 0, Some("x"))));
        let _ = token.scope();
    }

    #[test]
    fn an_issued_token_verifies(sub in ".{0,20}", secret in proptest::collection::vec(proptest::num::u8::ANY, 1..80)) {
        let claims = serde_json::json!({"iss": "i", "sub": sub, "exp": 9, "scope": []}).to_string();
        let text = mint(&claims, &secret).unwrap();
        proptest::prop_assert!(is_token(&text));
        let token = Token::parse(&text);
        proptest::prop_assert_eq!(token.json(), Some(claims.as_str()));
        proptest::prop_assert!(verified(&token.verify(&secret, 8, None)));
    }
}

//! Tests: secrets in heads, and text that is not secret.

use super::*;

fn found_texts(head: &[u8]) -> Vec<String> {
    secrets(head, &|name| name == "x-mine" || name == "pin")
        .iter()
        .map(|secret| slice(head, &secret.range).escape_ascii().to_string())
        .collect()
}

#[test]
fn secrets_are_found() {
    let table: &[(&[u8], &[&str])] = &[
        (b"Authorization: Bearer Zx81", &["Zx81"]),
        (b"AUTHORIZATION : Zx81", &["Zx81"]),
        (b"Authorization:\r\n Bearer Zx81", &["Zx81"]),
        (b"Authorization: Bearer\r\n Zx81\r\nHost: h", &["Zx81"]),
        (b"Authorization: Bearer\r\n", &[]),
        (b"\0Authorization\0: Odd Zx81\xff9", &[r"Zx81\xff9"]),
        (b"host: h\r\n x-api-key: Zx81", &["Zx81"]),
        (b"\"authorization\": \"Bearer Zx81\",", &["Zx81"]),
        (
            b"Proxy-Authorization: Digest a=\"b\", c=\"d\"",
            &[r#"a=\"b\", c=\"d"#],
        ),
        (b"cookie: a=Zx81; b; c=\"d\"", &["Zx81", "b", "d"]),
        (b"set-cookie: a=Zx81; Path=/", &["Zx81"]),
        (b"X-Api-Key: Zx81", &["Zx81"]),
        (b"X-Auth-Token: token Zx81", &["Zx81"]),
        (b"X-Mine: Zx81 b", &["Zx81 b"]),
        (b"X-Other: Zx81", &[]),
        (b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", &[]),
        (b"GET /v1?token=Zx81&x=1 HTTP/1.1", &["Zx81"]),
        (
            b"GET /v1?x=1&Access%5FToken=a,b;c%20#f HTTP/1.1",
            &["a,b;c%20"],
        ),
        (b"GET /v1?pin=1234&monkey=2&keys=3 HTTP/1.1", &["1234"]),
        (b"location: /cb#id_token=Zx81&state=s", &["Zx81"]),
        (b"referer: http://u:Zx81@h/?access_token=y", &["Zx81", "y"]),
        (b"GET http://Zx81@h/ HTTP/1.1", &["Zx81"]),
        (b"user=me&password=Zx81", &["Zx81"]),
        (b"login token='Zx81', ok", &["Zx81"]),
        (b"via: log of Bearer abcDEF123; more", &["abcDEF123"]),
        (b"a bearer certificate", &[]),
        (b"www-authenticate: Bearer authorization_uri=\"u\"", &[]),
    ];
    for (head, want) in table {
        assert_eq!(found_texts(head), *want, "{}", head.escape_ascii());
    }
}

#[test]
fn subprotocol_names_are_not_secret() {
    for (value, want) in [
        ("chat, graphql-transport-ws, graphql-transport-ws2", None),
        ("application/x-vendor-message-pack, v12.stomp, mqtt", None),
        ("json.v1.deflate-with-context", None),
        ("chat, bearer.Zx81", Some("Zx81")),
        ("vendor-insecure-api-key.Zx81.b, chat", Some("Zx81.b")),
        ("bearer, Zx81", Some("Zx81")),
        (
            "v1, eyJhbGciOiJIUzI1NiJ9.e30.x",
            Some("eyJhbGciOiJIUzI1NiJ9.e30.x"),
        ),
        ("k3j4h5g6f7d8s9a0", Some("k3j4h5g6f7d8s9a0")),
        (
            "0b54e2b0-66a4-4c6e-9c39-4f1a6c52d101",
            Some("0b54e2b0-66a4-4c6e-9c39-4f1a6c52d101"),
        ),
    ] {
        let head = format!("Sec-WebSocket-Protocol: {value}\r\n");
        let want: Vec<&str> = want.into_iter().collect();
        assert_eq!(found_texts(head.as_bytes()), want, "{value}");
    }
}

#[test]
fn masking_changes_only_secrets() {
    assert_eq!(masked("GET /a?b=c"), "GET /a?b=c");
    assert_eq!(masked("GET /a?key=Zx81&b=c"), "GET /a?key=(secret)&b=c");
}

#[test]
fn percent_escapes_are_decoded() {
    assert_eq!(unescaped(b"a%2Fb%zz%4"), b"a/b%zz%4");
}

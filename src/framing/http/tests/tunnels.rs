//! Tests: bytes that are forwarded and not read: HTTP/2, and the data of a CONNECT tunnel.

use super::{emitted, framer};

/// Bytes that are not HTTP/1.1 are reported and skipped at once, for any split.
#[test]
fn tunnels_and_http_2_are_reported_and_skipped() {
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0";
    let tunnel = "CONNECT a.example:443 HTTP/1.1\r\nhost: a.example\r\n\r\n\x16\x03\x01\x02\0";
    let granted = "HTTP/1.1 200 Connection established\r\n\r\n\x16\x03\x03\0\x7a";
    let refused = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    for (stream, want) in [
        (preface, "at 0, 24 bytes, fault"),
        (tunnel, "at 0, 51 bytes, http-request"),
        (granted, "at 0, 39 bytes, http-response"),
        (refused, "at 0, 40 bytes, message"),
    ] {
        for size in [1, 2, 5, stream.len()] {
            let (mut framer, mut done) = (framer(), 0);
            assert_eq!(
                emitted(&mut framer, stream, &mut done, size),
                [want],
                "{size}"
            );
            // After the preface a start line can still follow.
            assert!(framer.is_skipping() || done == stream.len(), "{size}");
        }
    }
}

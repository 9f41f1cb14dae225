//! What is forwarded and not read: HTTP/2, and what goes through CONNECT.

use crate::framing::{Framer, Framing, Hints, LengthMode, Limits, Step};

/// What is not HTTP/1.1 is named and passed over at once, however it is cut; nobody waits for it.
#[test]
fn tunnels_and_http_2_are_named_and_passed_over() {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0";
    let tunnel = b"CONNECT a.example:443 HTTP/1.1\r\nhost: a.example\r\n\r\n\x16\x03\x01\x02\0";
    let granted = b"HTTP/1.1 200 Connection established\r\n\r\n\x16\x03\x03\0\x7a";
    let refused = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    for (stream, want) in [
        (&preface[..], "at 0, 24 bytes, fault"),
        (tunnel, "at 0, 51 bytes, http-request"),
        (granted, "at 0, 39 bytes, http-response"),
        (refused, "at 0, 40 bytes, message"),
    ] {
        for size in [1, 2, 5, stream.len()] {
            let mut framer = Framer::new(
                Framing::Http,
                Limits::default(),
                Hints::default(),
                LengthMode::Auto,
                true,
            );
            let (mut told, mut done) = (Vec::new(), 0);
            let mut end = 0;
            while end < stream.len() {
                end = (end + size).min(stream.len());
                loop {
                    match framer.next(&stream[done..end], done as u64, false) {
                        Step::Incomplete(_) | Step::Took(0) => break,
                        Step::Took(n) => done += n,
                        Step::Frame(frame, n) => {
                            let what = frame.control.unwrap_or(match frame.fault {
                                Some(_) => "fault",
                                None => "message",
                            });
                            told.push(format!("at {}, {} bytes, {what}", frame.offset, frame.len));
                            done += n;
                        }
                    }
                }
            }
            assert_eq!(told, [want], "{size}");
            // After the preface a start line may still come, and is looked for.
            assert!(framer.is_lost() || done == stream.len(), "{size}");
        }
    }
}

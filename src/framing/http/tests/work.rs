//! Tests: each byte is examined a bounded number of times, so that a hostile peer cannot cause much
//! work with little traffic.

use super::{EMPTY, OK};
use crate::framing::http::{HttpFraming, MAX_HEAD};
use crate::framing::{Buffer, Limits, Step};

/// Returns the number of bytes searched or parsed, and the number of frames, of a stream that
/// arrives in pieces and does not end.
fn work(stream: &[u8], piece: usize) -> (u64, usize) {
    let mut http = HttpFraming::default();
    let (mut base, mut frames) = (0, 0);
    for end in (piece..stream.len()).step_by(piece).chain([stream.len()]) {
        loop {
            let input = Buffer {
                window: &stream[base..end],
                base: base as u64,
                eof: false,
                limits: Limits::default(),
                resync: true,
            };
            match http.next(input) {
                Step::Incomplete(_) => break,
                Step::Took(n) => base += n,
                Step::Frame(_, n) => {
                    base += n;
                    frames += 1;
                }
            }
        }
    }
    (http.memo.looked, frames)
}

#[test]
fn failed_starts_are_cheap() {
    let fields = "POST / HTTP/1.1\r\nx: ".repeat(60_000);
    let line = "HTTP/1.1 200 ".repeat(100_000);
    let refused = "HTTP/1.1 200 ".repeat(50_000) + "\0\r\n\r\n";
    let many = "POST / HTTP/1.1\r\nx: ".repeat(40_000) + "\r\n\r\n";
    for (what, stream) in [
        ("fields without end", fields),
        ("a line without end", line),
        ("a line that is refused", refused.repeat(2)),
        ("too many fields", many.repeat(2)),
    ] {
        assert!(stream.len() > MAX_HEAD, "{what}");
        let whole = format!("{EMPTY}{stream}\n{OK}");
        for piece in [1000, 65_536, whole.len()] {
            let (looked, frames) = work(whole.as_bytes(), piece);
            // Each byte is examined once, and again for each head that is tried and fails.
            let most = u64::from(super::super::MAX_TRIES) * 3 * whole.len() as u64;
            assert!(looked <= most, "{what}, {piece}: {looked} of {most}");
            assert!(frames > 1, "{what}, {piece}");
        }
    }
}

/// A message after an empty line is still found after this many failed starts.
#[test]
fn message_after_refused_heads_is_read() {
    for n in [1, 15, 16, 17, 100] {
        let stream = "HTTP/1.1 200 ".repeat(n) + "\0\r\n\r\n" + EMPTY;
        let frames = |more: &str| work(format!("{stream}{more}").as_bytes(), 7).1;
        assert_eq!(frames(EMPTY), frames("") + 1, "{n}");
    }
}

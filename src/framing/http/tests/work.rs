//! How often a byte is looked at, whatever comes: a peer that means harm must not make a little traffic much work.

use super::{EMPTY, OK};
use crate::framing::http::{Http, MAX_HEAD};
use crate::framing::{Input, Limits, Step};

/// Bytes that were searched or parsed, and how many frames there are, of a stream that comes in pieces and goes on.
fn work(stream: &[u8], piece: usize) -> (u64, usize) {
    let mut http = Http::default();
    let (mut base, mut frames) = (0, 0);
    for end in (piece..stream.len()).step_by(piece).chain([stream.len()]) {
        loop {
            let input = Input {
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
    (http.dry.looked, frames)
}

#[test]
fn starts_that_come_to_nothing_are_cheap() {
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
            // Each byte is looked at once, and again where a head is tried that comes to nothing.
            let most = u64::from(super::super::TRIES) * 3 * whole.len() as u64;
            assert!(looked <= most, "{what}, {piece}: {looked} of {most}");
            assert!(frames > 1, "{what}, {piece}");
        }
    }
}

/// What stands behind an empty line that so many starts came before is still found.
#[test]
fn what_follows_refused_heads_is_read() {
    for n in [1, 15, 16, 17, 100] {
        let stream = "HTTP/1.1 200 ".repeat(n) + "\0\r\n\r\n" + EMPTY;
        let frames = |more: &str| work(format!("{stream}{more}").as_bytes(), 7).1;
        assert_eq!(frames(EMPTY), frames("") + 1, "{n}");
    }
}

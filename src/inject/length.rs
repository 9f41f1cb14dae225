//! Changes the length in a frame's header.
//!
//! ```text
//!   prefix      00 00 00 0e .......      websocket   81 85 ...., 81 fe 01 00 ....
//!   method      0e 00 00 00 .......      http        content-length: 14, or the size of the first chunk
//!                                        content-length   the same field
//! ```

use crate::framing::{Framing, Head, header_length};
use std::ops::Range;

/// A changed length: its position in the frame, its new bytes, and both numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChangedLength {
    pub(super) at: Range<usize>,
    pub(super) with: Vec<u8>,
    pub(super) was: u64,
    pub(super) is: u64,
}

/// Returns the frame's length changed by `by`, at most the maximum of its field. The shortest form
/// of WebSocket becomes the next one if needed.
pub(super) fn change_length(
    framing: Framing,
    head: &Head<'_>,
    frame: &[u8],
    by: i64,
) -> Option<ChangedLength> {
    let add = |was: u64, most: u64| was.saturating_add_signed(by).min(most);
    let four = frame.first_chunk::<4>();
    match (framing, head) {
        (Framing::Prefix, _) => {
            let was = u64::from(u32::from_be_bytes(*four?));
            let is = add(was, u64::from(u32::MAX));
            Some(ChangedLength::new(0, (is as u32).to_be_bytes(), was, is))
        }
        (Framing::Method, _) => {
            let was = u64::from(u32::from_le_bytes(*four?));
            let is = add(was, u64::from(u32::MAX));
            Some(ChangedLength::new(0, (is as u32).to_le_bytes(), was, is))
        }
        (Framing::WebSocket, _) | (_, Head::WebSocket { .. }) => {
            let (size, was) = websocket(frame)?;
            Some(match size {
                1 => {
                    let (is, bit) = (add(was, 0xffff), frame.get(1)? & 0x80);
                    let with = match is {
                        0..126 => vec![bit | is as u8],
                        // Only the next form can hold this number.
                        _ => [&[bit | 0x7e], (is as u16).to_be_bytes().as_slice()].concat(),
                    };
                    ChangedLength {
                        at: 1..2,
                        with,
                        was,
                        is,
                    }
                }
                3 => {
                    let is = add(was, 0xffff);
                    ChangedLength::new(2, (is as u16).to_be_bytes(), was, is)
                }
                _ => {
                    let is = add(was, u64::MAX >> 1);
                    ChangedLength::new(2, is.to_be_bytes(), was, is)
                }
            })
        }
        (Framing::ContentLength, _) => {
            let length = header_length(frame)?;
            let at = length.at()..length.end();
            let was = text(frame, &at)?.parse().ok()?;
            let is = add(was, u64::MAX);
            let with = is.to_string().into_bytes();
            Some(ChangedLength { at, with, was, is })
        }
        (_, Head::Http { len, event, .. }) if !event => {
            let head = frame.get(..*len as usize)?;
            if let Some(at) = content_length(head) {
                let was = text(head, &at)?.parse().ok()?;
                let is = add(was, u64::MAX);
                let with = is.to_string().into_bytes();
                return Some(ChangedLength { at, with, was, is });
            }
            let body = frame.get(head.len()..)?;
            let digits = body.iter().take_while(|b| b.is_ascii_hexdigit()).count();
            let at = head.len()..head.len() + digits;
            let was = u64::from_str_radix(text(frame, &at)?, 16).ok()?;
            let is = add(was, u64::MAX);
            let with = format!("{is:x}").into_bytes();
            Some(ChangedLength { at, with, was, is })
        }
        _ => None,
    }
}

impl ChangedLength {
    fn new<const N: usize>(at: usize, with: [u8; N], was: u64, is: u64) -> Self {
        Self {
            at: at..at + N,
            with: with.to_vec(),
            was,
            is,
        }
    }
}

/// Returns the number of bytes of a WebSocket frame's length, and the length.
fn websocket(frame: &[u8]) -> Option<(usize, u64)> {
    Some(match frame.get(1)? & 0x7f {
        126 => {
            let &[_, _, a, b] = frame.first_chunk()?;
            (3, u64::from(u16::from_be_bytes([a, b])))
        }
        127 => {
            let &[_, _, ref len @ ..] = frame.first_chunk::<10>()?;
            (9, u64::from_be_bytes(*len))
        }
        len => (1, u64::from(len)),
    })
}

/// Returns the number of bytes before a WebSocket frame's payload.
pub(super) fn websocket_head(frame: &[u8]) -> Option<usize> {
    let mask = if frame.get(1)? & 0x80 == 0 { 0 } else { 4 };
    Some(1 + websocket(frame)?.0 + mask)
}

/// Returns the position of the digits of the first Content-Length.
fn content_length(head: &[u8]) -> Option<Range<usize>> {
    let value = field(head, "content-length")?;
    let digits = head.get(value.clone())?;
    let n = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    (n > 0).then_some(value.start..value.start + n)
}

/// Returns the position of the value of the first field with this name, without blanks around it.
pub(super) fn field(head: &[u8], name: &str) -> Option<Range<usize>> {
    fields(head, name).next()
}

/// Returns the positions of the values of all fields with this name.
pub(super) fn fields<'h>(head: &'h [u8], name: &'h str) -> impl Iterator<Item = Range<usize>> + 'h {
    let mut at = 0;
    let lines = head.split_inclusive(|b| *b == b'\n');
    lines.filter_map(move |line| {
        let start = at;
        at += line.len();
        let colon = memchr::memchr(b':', line)?;
        let before = line.get(..colon)?;
        // The first line is not a field.
        if start == 0 || !before.eq_ignore_ascii_case(name.as_bytes()) {
            return None;
        }
        let value = line.get(colon + 1..)?;
        let before = value.len() - value.trim_ascii_start().len();
        let start = start + colon + 1 + before;
        Some(start..start + value.trim_ascii().len())
    })
}

/// Returns host and port of a request's target, if it has them (RFC 9112 section 3.2.2).
pub(super) fn authority(head: &[u8]) -> Option<Range<usize>> {
    let line = head.split(|b| *b == b'\n').next()?;
    let start = memchr::memchr(b' ', line)? + 1;
    let target = line.get(start..)?.split(|b| *b == b' ').next()?;
    let colon = memchr::memmem::find(target, b"://")?;
    // A path can contain an address too.
    if target.get(..colon)?.contains(&b'/') {
        return None;
    }
    let rest = target.get(colon + 3..)?;
    let len = rest.iter().position(|b| matches!(b, b'/' | b'?' | b'#'));
    let authority = rest.get(..len.unwrap_or(rest.len()))?;
    let user = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let at = start + colon + 3;
    Some(at + user..at + authority.len())
}

fn text<'a>(bytes: &'a [u8], at: &Range<usize>) -> Option<&'a str> {
    std::str::from_utf8(bytes.get(at.clone())?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXCHANGE: Head<'_> = Head::Http {
        start: "",
        status: 0,
        len: 34,
        event: false,
        closes: false,
    };

    fn changed_frame(
        framing: Framing,
        head: Head<'_>,
        frame: &[u8],
        by: i64,
    ) -> Option<(Vec<u8>, u64, u64)> {
        let changed = change_length(framing, &head, frame, by)?;
        let mut bytes = frame.to_vec();
        bytes.splice(changed.at, changed.with);
        Some((bytes, changed.was, changed.is))
    }

    #[test]
    fn lengths_change_by_the_requested_amount() {
        let chunked = b"POST / HTTP/1.1\r\nhost: abcdefghi\r\n\r\nff;x\r\n";
        let length = b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n";
        let long = [&[0x82, 0x7f][..], &70_000u64.to_be_bytes()].concat();
        let longer = [&[0x82, 0x7f][..], &70_001u64.to_be_bytes()].concat();
        let cases: &[(Framing, &[u8], i64, &[u8])] = &[
            (Framing::Prefix, b"\0\0\0\x02{}", 1, b"\0\0\0\x03{}"),
            (Framing::Prefix, b"\0\0\0\x02{}", -5, b"\0\0\0\0{}"),
            (Framing::Method, b"\x02\0\0\0abcd", 256, b"\x02\x01\0\0abcd"),
            (Framing::WebSocket, b"\x81\x82....xy", 4, b"\x81\x86....xy"),
            (
                Framing::WebSocket,
                b"\x81\x02xy",
                500,
                b"\x81\x7e\x01\xf6xy",
            ),
            (
                Framing::WebSocket,
                b"\x81\x7e\x01\0xy",
                -1,
                b"\x81\x7e\0\xffxy",
            ),
            (Framing::WebSocket, &long, 1, &longer),
        ];
        for (framing, frame, by, want) in cases {
            let (got, was, is) = changed_frame(*framing, Head::None, frame, *by).unwrap();
            assert_eq!(
                got.escape_ascii().to_string(),
                want.escape_ascii().to_string()
            );
            assert_ne!(was, is);
        }
        let head = |len| match EXCHANGE {
            Head::Http {
                start,
                status,
                event,
                closes,
                ..
            } => Head::Http {
                start,
                status,
                len,
                event,
                closes,
            },
            other => other,
        };
        let got = changed_frame(Framing::Http, head(38), length, 1).unwrap();
        assert_eq!(got.0, b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n");
        let got = changed_frame(Framing::Http, head(36), chunked, 1).unwrap();
        assert_eq!(
            got.0,
            b"POST / HTTP/1.1\r\nhost: abcdefghi\r\n\r\n100;x\r\n"
        );
        assert_eq!(changed_frame(Framing::Lines, Head::None, b"{}\n", 1), None);
    }
}

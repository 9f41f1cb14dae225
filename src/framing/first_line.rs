//! The framings that the first line of a stream shows, if it is one of HTTP or of a header block.

use super::Framing;
use super::http::head::is_start_line;

/// The largest number of bytes in which a first line is searched for.
const MAX_LINE: usize = 16 << 10;

/// Returns the framings that read a stream with this first line; none if the line does not show any. `None` if more bytes
/// are needed.
pub(crate) fn header_framings(bytes: &[u8]) -> Option<&'static [Framing]> {
    let seen = bytes.get(..MAX_LINE).unwrap_or(bytes);
    let end = memchr::memchr(b'\n', seen);
    let line = seen.get(..end.unwrap_or(seen.len()))?;
    // The answer is the same for the start of a line and for the whole line.
    if !may_start_header(line) {
        return Some(&[]);
    }
    if end.is_none() {
        return (seen.len() == MAX_LINE).then_some(&[]);
    }
    let is_field = |name: &[u8]| {
        line.get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    Some(if is_start_line(line) {
        // WebSocket begins with an upgrade of HTTP.
        &[Framing::Http, Framing::WebSocket]
    } else if is_field(b"content-length:") {
        &[Framing::ContentLength]
    } else {
        &[]
    })
}

/// Returns true for bytes that may begin a line of HTTP or of a header block.
fn may_start_header(bytes: &[u8]) -> bool {
    let starts_name = bytes.first().is_none_or(u8::is_ascii_alphabetic);
    starts_name
        && bytes
            .iter()
            .all(|b| matches!(b, b'\r' | b'\t' | 0x20..0x7f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_shows_the_framing() {
        let http: &[Framing] = &[Framing::Http, Framing::WebSocket];
        let length: &[Framing] = &[Framing::ContentLength];
        for (line, wanted) in [
            (&b"POST / HTTP/1.1\r\n"[..], Some(http)),
            (b"GET /sael/ws HTTP/1.0\n", Some(http)),
            (b"HTTP/1.1 200 \r\n", Some(http)),
            (b"HTTP/1.1 200\r\n", Some(http)),
            (b"Content-Length: 3\r\n", Some(length)),
            (b"content-length:3\n", Some(length)),
            (b"{\"jsonrpc\":\"2.0\"}\n", Some(&[])),
            (b"\n", Some(&[])),
            (b"POST / HTTP/1.1", None),
            (b"", None),
            (b"{\"jsonrpc\"", Some(&[])),
            (b"POST \0", Some(&[])),
            (b"\0OST / HTTP/1.1\r\n", Some(&[])),
        ] {
            assert_eq!(header_framings(line), wanted, "{line:?}");
        }
        assert_eq!(header_framings(&[b'x'; MAX_LINE]), Some(&[][..]));
    }
}

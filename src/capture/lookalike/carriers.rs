//! Protocols of other programs, by their first bytes.

use super::EXAMINED;
use crate::framing::is_start_line;

/// The short name of HTTP.
pub(crate) const HTTP: &str = "HTTP";

/// Returns the name of what a peer sends in place of messages.
pub(crate) fn short_name(bytes: &[u8]) -> Option<&'static str> {
    let line = bytes.split(|c| *c == b'\n').next().unwrap_or_default();
    match bytes {
        _ if is_start_line(line) || is_http2(bytes) => Some(HTTP),
        _ if is_tls(bytes) => Some("TLS"),
        _ if is_ssh(bytes) => Some("SSH"),
        [b'{' | b'[', ..] => Some("JSON"),
        _ => None,
    }
}

/// RFC 9113 section 3.4: the preface of a client.
pub(super) fn is_http2(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PRI * HTTP/2.0")
}

/// RFC 4253 section 4.2: the first line of each side.
pub(super) fn is_ssh(bytes: &[u8]) -> bool {
    bytes.starts_with(b"SSH-2.0-")
}

/// RFC 9113 section 6.5: a connection begins with SETTINGS of 6 bytes each, on stream 0.
pub(super) fn is_http2_settings(bytes: &[u8]) -> bool {
    match bytes.first_chunk() {
        Some([0, 0, len, 4, 0, 0, 0, 0, 0]) => {
            let rest = bytes.len() - 9;
            len % 6 == 0 && (rest == usize::from(*len) || rest > usize::from(*len) + 8)
        }
        _ => false,
    }
}

/// RFC 8446 section 5.1: a record with a handshake, or with application data.
pub(super) fn is_tls(bytes: &[u8]) -> bool {
    matches!(bytes, [0x16 | 0x17, 3, 0..=4, 0..=0x41, _, ..])
}

/// Commands, or answers, of Redis: `*2 CR LF $3 CR LF GET CR LF $1 CR LF a CR LF`.
pub(super) fn is_redis(bytes: &[u8]) -> bool {
    let Some(end) = memchr::memmem::find(bytes, b"\r\n") else {
        return false;
    };
    let (line, rest) = bytes.split_at_checked(end).unwrap_or_default();
    let rest = rest.get(2..).unwrap_or_default();
    let is_number = |text: &[u8]| {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    match line.split_first() {
        Some((b'*' | b'%' | b'~' | b'>', count)) => {
            is_number(count)
                && (rest.is_empty() || rest.first().is_some_and(|c| b"$*:+-%_#,".contains(c)))
        }
        Some((b'$', len)) => is_number(len) && !rest.is_empty(),
        Some((b':', number)) => is_number(number),
        Some((b'+', word)) => !word.is_empty() && word.iter().all(u8::is_ascii_uppercase),
        Some((b'-', text)) => text.starts_with(b"ERR ") || text.starts_with(b"WRONGTYPE "),
        _ => false,
    }
}

/// Messages of gRPC, each after a flag and its length.
pub(super) fn is_grpc(bytes: &[u8]) -> bool {
    let (mut rest, mut count) = (bytes, 0);
    while let Some([0, a, b, c, d]) = rest.first_chunk() {
        let len = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        let Some(after) = rest.get(5..).and_then(|body| body.get(len..)) else {
            return bytes.len() == EXAMINED && count > 0;
        };
        if len == 0 {
            return false;
        }
        (rest, count) = (after, count + 1);
    }
    count > 0 && rest.is_empty()
}

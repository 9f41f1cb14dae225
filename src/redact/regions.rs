//! Stores the runs of a stream that are read as HTTP heads: heads, trailers, and undecoded bytes.
//!
//! ```text
//!   HTTP/1.1 200 OK ... CR LF CR LF  5 CR LF {"jso 9 CR LF n...  0 CR LF x-token: Zx81 CR LF CR LF   ??? ...
//!   '- a run ----------------------------'   '-----'       '- a run, up to the next decoded frame --------'
//! ```
//!
//! Adjacent runs are joined, so that skipped bytes are read as a whole.

use super::MIN_TOKEN;
use crate::decoder::{Decoded, Origin};
use crate::framing::fields::fields;
use crate::framing::{Frame, Head, Places};
use crate::protocol::Lane;
use crate::span::Span;
use std::collections::BTreeMap;
use std::ops::Range;

/// Runs with fewer bytes between them, such as a line end, are joined.
const MIN_GAP: u64 = 3;

/// The length of a method or a status at the start of an HTTP/3 field section.
const HTTP3_START: usize = 4;

/// Runs by stream, in the order in which they were noted.
#[derive(Default)]
pub(super) struct Regions(BTreeMap<Lane, Vec<Range<u64>>>);

impl Regions {
    fn add(&mut self, origin: Origin, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let runs = self.0.entry(origin.lane()).or_default();
        match runs.last_mut() {
            Some(last) if (last.start..last.end + MIN_GAP).contains(&range.start) => {
                last.end = last.end.max(range.end);
            }
            _ => runs.push(range),
        }
    }

    /// Adds the parts of a frame, and of the bytes before it, that are read. Returns true if its body must be read
    /// separately, because it is masked or compressed in the stream.
    pub(super) fn add_frame(&mut self, decoded: &Decoded<'_>, is_unknown: bool) -> bool {
        let (frame, origin) = (decoded.frame, decoded.origin);
        let before = decoded.raw.map_or(0, |raw| raw.before.len() as u64);
        self.add(origin, frame.offset.saturating_sub(before)..frame.offset);
        let mut at = frame.offset;
        let end = frame.offset + frame.len;
        let view = frame.view;
        match (view.places, frame.head) {
            // A frame with a header ends where the header says: another text follows.
            (Places::Run(_), _) if is_unknown && view.body.at() == 0 => {
                self.add(origin, at..end);
                return false;
            }
            (Places::Run(_), Head::Http { .. }) => {
                let body = view.range(view.body);
                self.add(origin, at..body.start);
                self.add(origin, body.end..end);
            }
            (Places::Packed(_), Head::Http { len, .. }) => {
                self.add(origin, at..at + u64::from(len));
            }
            (Places::Pieces(pieces), Head::Http { .. }) => {
                let ends = pieces.iter().skip(1).map(|piece| piece.at as usize);
                for (piece, next) in pieces.iter().zip(ends.chain([view.bytes.len()])) {
                    self.add(origin, at..piece.offset);
                    at = piece.offset + next.saturating_sub(piece.at as usize) as u64;
                }
                self.add(origin, at..end);
            }
            _ => {}
        }
        is_unknown
    }

    /// Returns the runs of one stream.
    pub(super) fn runs(&self, key: Lane) -> &[Range<u64>] {
        self.0.get(&key).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Returns true if the bytes of a frame were not decoded.
pub(super) fn is_unknown(decoded: &Decoded<'_>) -> bool {
    let control = decoded.frame.control;
    let text = decoded.message.valid && decoded.root().is_some();
    !text && (control.is_none() || control == Some("skipped"))
}

/// Returns true if an HTTP head declares a compressed body.
pub(super) fn is_compressed(decoded: &Decoded<'_>) -> bool {
    let (Head::Http { len, .. }, Some(raw)) = (decoded.frame.head, decoded.raw) else {
        return false;
    };
    let head = raw.bytes.get(..len as usize).unwrap_or_default();
    let encoding = fields(head).find(|field| field.is("content-encoding"));
    let coding = encoding.and_then(|field| head.get(field.value));
    coding.is_some_and(|coding| !coding.eq_ignore_ascii_case(b"identity"))
}

/// Returns the content of an HTTP/3 frame in which secrets cannot be found, because it is compressed. The method or the
/// status stays.
pub(super) fn http3_content(frame: &Frame<'_>) -> Option<Span> {
    let body = frame.view.body;
    let start = match frame.head {
        Head::Http3 { start: "", .. } | Head::None => 0,
        Head::Http3 { .. } => HTTP3_START,
        _ => return None,
    };
    let is_plain = matches!(
        frame.control,
        Some("http3-settings" | "http3-goaway" | "http3-max-push-id" | "http3-cancel-push")
    );
    let at = (body.at() + start).min(body.end());
    (!is_plain && at < body.end()).then(|| Span::new(at, body.end()))
}

/// Returns the length of `name=` at the start of a parameter of a query.
fn parameter_name(bytes: &[u8], token: Range<usize>) -> usize {
    let before = token.start.checked_sub(1).and_then(|at| bytes.get(at));
    let is_parameter = matches!(before, Some(b'?' | b'&' | b';'));
    let text = bytes.get(token).unwrap_or_default();
    let equals = memchr::memchr(b'=', text).filter(|_| is_parameter);
    equals.map_or(0, |at| at + 1)
}

/// Returns long runs of characters that occur in tokens, except the names of fields of a head and of parameters of a query.
pub(super) fn long_tokens(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut start = 0_usize;
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || b"-_.~+/=".contains(b);
    for (at, byte) in bytes.iter().chain([&b' ']).enumerate() {
        if !is_token(byte) {
            let is_name = || {
                let before = start.checked_sub(1).and_then(|at| bytes.get(at));
                let letters = |b: &u8| b.is_ascii_alphabetic() || *b == b'-';
                let text = bytes.get(start..at).unwrap_or_default();
                *byte == b':' && matches!(before, None | Some(b'\n')) && text.iter().all(letters)
            };
            if at - start >= MIN_TOKEN && !is_name() {
                tokens.push(start + parameter_name(bytes, start..at)..at);
            }
            start = at + 1;
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_tokens() {
        for (text, wanted) in [
            (
                "data: /message?sessionId=bf7c3675-29fe",
                &["bf7c3675-29fe"][..],
            ),
            ("a bf7c3675=29fe428aafae b", &["bf7c3675=29fe428aafae"]),
            ("Access-Control-Allow-Origin: *", &[]),
            ("0123456789abcde", &[]),
        ] {
            let found = long_tokens(text.as_bytes());
            let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, wanted, "{text}");
        }
    }
}

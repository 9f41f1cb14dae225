//! Runs of a stream that are read like a head of HTTP: heads, trailers, and what nobody understands.
//!
//! ```text
//!   HTTP/1.1 200 OK ... CR LF CR LF  5 CR LF {"jso 9 CR LF n...  0 CR LF x-token: Zx81 CR LF CR LF   ??? ...
//!   '- a run ----------------------------'   '-----'       '- a run, up to where something is understood -'
//! ```
//!
//! Runs that touch are one, so that what was passed over in pieces is read as a whole.

use super::LONG;
use crate::decoder::{Decoded, Origin};
use crate::framing::fields::fields;
use crate::framing::{Head, Places};
use crate::protocol::Direction;
use std::collections::BTreeMap;
use std::ops::Range;

/// Runs with fewer bytes between them, a line end, are one.
const APART: u64 = 3;

/// Of which connection, and which way.
pub(super) type Key = (u32, Direction);

/// As what is changed there is told.
pub(super) fn origin((conn, direction): Key) -> Origin {
    Origin {
        conn: Some(conn),
        direction: Some(direction),
        time: None,
    }
}

/// Runs by their streams, in the order in which they were noted.
#[derive(Default)]
pub(super) struct Regions(BTreeMap<Key, Vec<Range<u64>>>);

impl Regions {
    fn add(&mut self, origin: Origin, range: Range<u64>) {
        let (Some(conn), Some(direction)) = (origin.conn, origin.direction) else {
            return;
        };
        if range.is_empty() {
            return;
        }
        let runs = self.0.entry((conn, direction)).or_default();
        match runs.last_mut() {
            Some(last) if (last.start..last.end + APART).contains(&range.start) => {
                last.end = last.end.max(range.end);
            }
            _ => runs.push(range),
        }
    }

    /// What of a frame, and of what stands before it, is to be read; says whether the frame's body is to be, too, and
    /// cannot be in the stream: it is masked, or compressed.
    pub(super) fn note(&mut self, decoded: &Decoded<'_>, is_unknown: bool) -> bool {
        let (frame, origin) = (decoded.frame, decoded.origin);
        let before = decoded.raw.map_or(0, |raw| raw.before.len() as u64);
        self.add(origin, frame.offset.saturating_sub(before)..frame.offset);
        let mut at = frame.offset;
        let end = frame.offset + frame.len;
        let view = frame.view;
        match (view.places, frame.head) {
            (Places::Run(_), _) if is_unknown => {
                self.add(origin, at..end);
                return false;
            }
            (Places::Run(_), Head::Http { .. }) => {
                let body = view.range(view.body);
                self.add(origin, at..body.start);
                self.add(origin, body.end..end);
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

    /// The runs of one stream.
    pub(super) fn of(&self, key: Key) -> &[Range<u64>] {
        self.0.get(&key).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Whether nobody knows what a frame's bytes are.
pub(super) fn is_unknown(decoded: &Decoded<'_>) -> bool {
    let control = decoded.frame.control;
    let text = decoded.message.valid && decoded.root().is_some();
    !text && (control.is_none() || control == Some("skipped"))
}

/// Whether an HTTP head says that its body is compressed.
pub(super) fn is_compressed(decoded: &Decoded<'_>) -> bool {
    let (Head::Http { len, .. }, Some(raw)) = (decoded.frame.head, decoded.raw) else {
        return false;
    };
    let head = raw.bytes.get(..len as usize).unwrap_or_default();
    let encoding = fields(head).find(|field| field.is("content-encoding"));
    let says = encoding.and_then(|field| head.get(field.value));
    says.is_some_and(|says| !says.eq_ignore_ascii_case(b"identity"))
}

/// Long runs of characters of which tokens are made.
pub(super) fn words(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = 0;
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || b"-_.~+/=".contains(b);
    for (at, byte) in bytes.iter().chain([&b' ']).enumerate() {
        if !is_word(byte) {
            if at - start >= LONG {
                words.push(start..at);
            }
            start = at + 1;
        }
    }
    words
}

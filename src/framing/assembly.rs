//! Assembles a body that is not contiguous in the stream, in a buffer that is reused.
//!
//! ```text
//!   stream   01 03 "Hel" 80 02 "lo"            at   offset
//!   bytes          "Hel"       "lo"    pieces   0    2
//!                                               3    7
//! ```

use super::backlog::release;
use super::{Piece, Places, View};
use crate::span::Span;

/// The minimum number of pieces that a body may have, for any limit.
const MIN_PIECES: usize = 1 << 16;

/// Bytes and their stream offsets. Runs can be recorded first and copied when the body is complete.
#[derive(Default)]
pub(super) struct Assembly {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
    len: usize,
}

impl Assembly {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.pieces.clear();
        self.len = 0;
    }

    /// Clears it between two messages, and keeps no memory of a long body.
    pub(super) fn release(&mut self) {
        self.clear();
        release(&mut self.bytes);
        self.pieces.shrink_to(MIN_PIECES);
    }

    /// Returns the length of the body so far.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of bytes from `offset` on that still fit. Returns 0 when the number of
    /// pieces reaches its limit, because the map of pieces takes memory too.
    pub(super) fn space(&self, offset: u64, limit: usize) -> usize {
        if self.max_pieces(limit).is_some() && self.end() != Some(offset) {
            return 0;
        }
        limit.saturating_sub(self.len)
    }

    /// Returns the maximum number of pieces if the body has reached it.
    pub(super) fn max_pieces(&self, limit: usize) -> Option<usize> {
        let most = MIN_PIECES.max(limit / 64);
        (self.pieces.len() >= most).then_some(most)
    }

    /// Returns the stream offset after the last byte.
    pub(super) fn end(&self) -> Option<u64> {
        let last = self.pieces.last()?;
        Some(last.offset + (self.len - last.at as usize) as u64)
    }

    /// Records that the next `len` bytes of the body are at `offset` of the stream.
    pub(super) fn record(&mut self, offset: u64, len: usize) {
        if len == 0 {
            return;
        }
        if self.end() != Some(offset) {
            let at = self.len as u32;
            self.pieces.push(Piece { at, offset });
        }
        self.len += len;
    }

    /// Records the payload, and copies it at once. Unmasks it if there is a mask.
    pub(super) fn push(&mut self, offset: u64, payload: &[u8], mask: Option<[u8; 4]>) {
        self.record(offset, payload.len());
        unmask(payload, mask, &mut self.bytes);
    }

    /// Returns the offset of the first byte if the body is one run.
    pub(super) fn single_run(&self) -> Option<u64> {
        match self.pieces.as_slice() {
            [one] => Some(one.offset),
            _ => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies the recorded runs out of the window. The first byte of the window has the stream
    /// offset `base`.
    pub(super) fn copy_runs(&mut self, window: &[u8], base: u64) {
        self.bytes.clear();
        let ends = self.pieces.iter().skip(1).map(|p| p.at as usize);
        for (piece, end) in self.pieces.iter().zip(ends.chain([self.len])) {
            let start = piece.offset.saturating_sub(base) as usize;
            let len = end - piece.at as usize;
            let run = window
                .get(start..)
                .and_then(|rest| rest.get(..len).or(Some(rest)));
            self.bytes.extend_from_slice(run.unwrap_or_default());
        }
    }

    /// Returns the body as a view. An empty body is at the stream offset `end`.
    pub(super) fn view(&self, end: u64) -> View<'_> {
        View {
            bytes: &self.bytes,
            body: Span::new(0, self.bytes.len()),
            places: if self.pieces.is_empty() {
                Places::Run(end)
            } else {
                Places::Pieces(&self.pieces)
            },
        }
    }
}

/// Appends `payload` to `out`, combined with the mask by XOR (RFC 6455 section 5.3), eight bytes at a time.
pub(crate) fn unmask(payload: &[u8], mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(payload);
    let Some(mask) = mask else { return };
    let [a, b, c, d] = mask;
    let key = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = out
        .get_mut(start..)
        .unwrap_or_default()
        .as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ key).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmasking_is_xor_with_the_repeated_mask_at_every_length() {
        let mask = [0x37, 0xfa, 0x21, 0x3d];
        let plain: Vec<u8> = (0..40).collect();
        for len in 0..plain.len() {
            let want: Vec<u8> = (0..len).map(|i| plain[i] ^ mask[i % 4]).collect();
            let mut got = b"before".to_vec();
            unmask(&plain[..len], Some(mask), &mut got);
            assert_eq!(&got[6..], want, "{len}");
        }
    }

    #[test]
    fn consecutive_runs_are_merged() {
        let mut body = Assembly::default();
        for (offset, len) in [(12, 2), (14, 1), (15, 0), (17, 2)] {
            body.record(offset, len);
        }
        assert_eq!(
            body.pieces,
            [Piece { at: 0, offset: 12 }, Piece { at: 3, offset: 17 }]
        );
        body.copy_runs(b"..abc..de", 10);
        assert_eq!(body.bytes(), b"abcde");
        let view = body.view(0);
        assert_eq!((view.locate(2), view.locate(3)), (14, 17));
    }
}

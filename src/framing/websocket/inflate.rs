//! RFC 7692 permessage-deflate, the receiving side.
//!
//! The history is retained between messages. A sender that does not use it (`no_context_takeover`)
//! does not refer to it, and a window smaller than 32 KiB refers to less, so the parameters of the
//! handshake are not needed.

use flate2::{Decompress, FlushDecompress, Status};

/// RFC 7692 section 7.2.2: "Append 4 octets of 0x00 0x00 0xff 0xff to the tail end of the payload".
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// The number of bytes inflated at a time.
const STEP: usize = 16 << 10;

/// A message over the limit is still inflated, to keep the history, up to this many times the
/// limit.
const BEYOND: usize = 4;

/// One direction's decompressor; created with the first compressed message.
#[derive(Default)]
pub(super) struct Inflate(Option<Decompress>);

/// The reason why a message does not inflate.
pub(super) enum InflateError {
    /// It is longer than this many bytes.
    Limit(usize),
    /// It is not a deflate stream.
    Data(String),
}

impl Inflate {
    /// Returns `true` before the first compressed message.
    pub(super) fn is_new(&self) -> bool {
        self.0.is_none()
    }

    /// Inflates one message into `out`, at most `limit` bytes of it; `whole` if all bytes of it are
    /// present.
    pub(super) fn inflate(
        &mut self,
        payload: &[u8],
        out: &mut Vec<u8>,
        limit: usize,
        whole: bool,
    ) -> Result<(), InflateError> {
        out.clear();
        // An empty payload is not a deflate block; the tail alone would corrupt the history.
        if payload.is_empty() {
            return Ok(());
        }
        let state = self.0.get_or_insert_with(|| Decompress::new(false));
        let mut sink = InflateOutput {
            out,
            limit,
            seen: 0,
        };
        let mut result = sink.feed(state, payload);
        // A final block that ends exactly here has no rest that the tail would complete.
        if whole && matches!(result, Ok(false)) {
            result = sink.feed(state, &TAIL);
        }
        let over = sink.seen > limit;
        if result.is_err() {
            self.0 = None;
        }
        if over {
            return Err(InflateError::Limit(limit));
        }
        result.map(|_| ())
    }
}

/// Takes the output; bytes over the limit are counted and dropped.
struct InflateOutput<'a> {
    out: &'a mut Vec<u8>,
    limit: usize,
    seen: usize,
}

impl InflateOutput<'_> {
    /// Inflates `input`. Returns `true` if it ended with the final block of a deflate stream.
    fn feed(&mut self, state: &mut Decompress, input: &[u8]) -> Result<bool, InflateError> {
        let mut chunk = [0; STEP];
        let mut rest = input;
        loop {
            let (in_before, out_before) = (state.total_in(), state.total_out());
            let status = state
                .decompress(rest, &mut chunk, FlushDecompress::None)
                .map_err(|e| {
                    let near = input.len() - rest.len();
                    InflateError::Data(format!("{e}, after byte {near} of {}", input.len()))
                })?;
            let used = (state.total_in() - in_before) as usize;
            let made = (state.total_out() - out_before) as usize;
            rest = rest.get(used..).unwrap_or_default();
            self.take(chunk.get(..made).unwrap_or_default())?;
            if status == Status::StreamEnd {
                // RFC 7692 section 7.2.3.4: a block with BFINAL set is legal, and others may follow it.
                state.reset(false);
                if rest.is_empty() {
                    return Ok(true);
                }
            } else if used == 0 && made == 0 || rest.is_empty() && made < chunk.len() {
                return Ok(false);
            }
        }
    }

    fn take(&mut self, made: &[u8]) -> Result<(), InflateError> {
        let space = self.limit.saturating_sub(self.seen).min(made.len());
        self.out
            .extend_from_slice(made.get(..space).unwrap_or_default());
        self.seen = self.seen.saturating_add(made.len());
        if self.seen > self.limit.saturating_mul(BEYOND) {
            return Err(InflateError::Limit(self.limit));
        }
        Ok(())
    }
}

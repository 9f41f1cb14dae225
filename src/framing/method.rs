//! A little-endian u32 length and a u32 method id before each message; or envelopes alone.
//!
//! ```text
//!   11 00 00 00 | 12 fa bb e5 | 00 00 07 00 00 00 03 00 00 00 61 62 63
//!   length        method id     envelope, which knows its own length
//!   17            '--------------------- 17, exclusive ------------'
//!   21 '------------------------------- 21, inclusive -------------'
//! ```
//!
//! Some writers count the length field itself and some do not. The protocol decides from the first
//! 14 bytes, because the envelope repeats its length ([`Hints::measure`]). If these contradict each
//! other, the last known mode of the stream is used.

use super::resync::Resync;
use super::state::FramerState;
use super::{Buffer, Framing, Head, Hints, LengthMode, PLAUSIBLE, Step, Wire};
use crate::error::DecodeError;
use crate::span::Span;

/// The length of the frame that starts here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Not known yet: at least this many bytes are needed, counted from the start of the frame.
    Incomplete(u64),
    /// The bytes contradict each other: measure again with a given mode.
    Undecided,
    /// A frame.
    Frame {
        /// Bytes, header included.
        len: u64,
        /// The bytes that its length counts; `None` if it has no such length.
        mode: Option<LengthMode>,
    },
    /// A frame whose length and envelope contradict each other: one of the two is wrong. By its
    /// length the frame ends inside its envelope, or after it in both modes.
    Mismatch {
        /// The length of the frame by its length field, header included.
        len: u64,
        /// The length of the frame by its envelope.
        needs: u64,
        /// The bytes that its length counts.
        mode: LengthMode,
        /// The error to report if the length is wrong.
        error: DecodeError,
    },
    /// No frame starts with these bytes.
    Bad(DecodeError),
}

pub(super) struct MethodFraming {
    framing: Framing,
    hints: Hints,
    mode: LengthMode,
    /// The mode of the last frame that showed one.
    last: Option<LengthMode>,
    resync: Resync,
}

impl MethodFraming {
    pub(super) fn new(framing: Framing, hints: Hints, mode: LengthMode) -> Self {
        // Without lengths, nothing marks the start of an envelope.
        let plausible = hints.plausible.filter(|_| framing == Framing::Method);
        Self {
            framing,
            hints: Hints { plausible, ..hints },
            mode,
            last: None,
            resync: Resync::new(framing, plausible),
        }
    }

    /// Skips to the next frame.
    pub(super) fn seek(&mut self) {
        self.resync.seek();
    }

    /// Returns the state between two frames.
    pub(super) fn state(&self) -> Option<FramerState> {
        self.resync
            .is_like_new()
            .then_some(FramerState::Method(self.last))
    }

    /// Continues between two frames.
    pub(super) fn set_state(&mut self, state: FramerState) {
        if let FramerState::Method(last) = state {
            self.last = last;
        }
    }

    /// Returns `true` if a frame starts at the start of the window.
    pub(super) fn is_between(&self) -> bool {
        self.resync.is_between()
    }

    // A call would copy the frame.
    #[inline(always)]
    pub(super) fn next<'a>(&mut self, input: Buffer<'a>) -> Step<'a> {
        if self.resync.is_active() {
            match self.resync.next(input) {
                Step::Took(0) => {}
                step => return step,
            }
        }
        let Buffer { window, eof, .. } = input;
        if window.is_empty() {
            return Step::Incomplete(None);
        }
        let Some(measure) = self.hints.measure else {
            return self.resync.start(input, unmeasured());
        };
        let measured = match measure(window, self.framing, self.mode) {
            // Uses the mode of the frame before; without one, exclusive, as in the document.
            Measured::Undecided => {
                let mode = self.last.unwrap_or(LengthMode::Exclusive);
                match measure(window, self.framing, mode) {
                    Measured::Frame { len, .. } => Measured::Frame {
                        len,
                        mode: self.last,
                    },
                    other => other,
                }
            }
            other => other,
        };
        match measured {
            Measured::Incomplete(needs) if eof => {
                let mut step = self.complete_frame(input, needs, self.known_mode());
                if let Step::Frame(frame, _) = &mut step
                    && let Some(fault) = &mut frame.fault
                {
                    let declared = window
                        .first_chunk::<4>()
                        .filter(|_| self.framing == Framing::Method);
                    let declared =
                        declared.map_or(0, |length| u64::from(u32::from_le_bytes(*length)));
                    fault.error.wanted = if declared > needs {
                        format!("at least {declared} bytes, as the length says").into()
                    } else {
                        format!("at least {needs} bytes").into()
                    };
                }
                step
            }
            Measured::Undecided => Step::Incomplete(None),
            Measured::Incomplete(needs) => {
                Step::Incomplete(Some(needs.saturating_sub(window.len() as u64)))
            }
            Measured::Bad(error) => self.resync.start(input, error),
            Measured::Mismatch {
                len, needs, error, ..
            } if len > needs => self.resolve_long(input, len, needs, error),
            Measured::Frame { len, .. } | Measured::Mismatch { len, .. } if len > limit(input) => {
                let error = over_limit(input, len);
                self.resync.start(input, error)
            }
            Measured::Frame { len, mode } => {
                if eof || window.len() as u64 >= len {
                    self.last = mode.or(self.last);
                }
                self.complete_frame(input, len, mode)
            }
            Measured::Mismatch {
                len, needs, error, ..
            } => self.resolve_short(input, len, needs, error),
        }
    }

    /// Returns the mode to use if the bytes do not show one.
    fn known_mode(&self) -> Option<LengthMode> {
        match self.mode {
            LengthMode::Auto => self.last,
            mode => Some(mode),
        }
    }

    /// Returns the frame of the first `len` bytes once they are present.
    fn complete_frame<'a>(
        &self,
        input: Buffer<'a>,
        len: u64,
        mode: Option<LengthMode>,
    ) -> Step<'a> {
        let window = input.window;
        let there = window.len() as u64;
        if there < len && !input.eof {
            return Step::Incomplete(Some(len - there));
        }
        let end = len.min(there) as usize;
        let numbers = window.first_chunk::<8>().map(|[a, b, c, d, id @ ..]| {
            let length = u32::from_le_bytes([*a, *b, *c, *d]);
            (length, u32::from_le_bytes(*id))
        });
        let (head, body) = match (self.framing, numbers) {
            (Framing::Method, Some((length, id))) => {
                (Head::Method { length, id, mode }, 8.min(end))
            }
            (Framing::Method, None) => (Head::None, end),
            _ => (Head::None, 0),
        };
        let mut frame = input.frame(self.framing, head, Span::new(body, end), end);
        if there < len {
            let field = if self.framing == Framing::Method {
                "length"
            } else {
                "payload_size"
            };
            frame.fault =
                Some(input.truncated(field, format!("a frame of {len} bytes"), window.len()));
        }
        Step::Frame(frame, end)
    }

    /// Handles a length that is smaller than the envelope. The frame ends at its length if another
    /// frame starts there; otherwise at the end of the envelope if another frame starts there;
    /// otherwise at its length.
    fn resolve_short<'a>(
        &self,
        input: Buffer<'a>,
        len: u64,
        needs: u64,
        error: DecodeError,
    ) -> Step<'a> {
        if let Some(missing) = missing_bytes(input, len) {
            return Step::Incomplete(Some(missing));
        }
        let there = input.window.len() as u64;
        if self.is_followed(input, len) || there < len || needs > limit(input) {
            return self.complete_frame(input, len, self.known_mode());
        }
        if let Some(missing) = missing_bytes(input, needs) {
            return Step::Incomplete(Some(missing));
        }
        if !self.is_followed(input, needs) {
            return self.complete_frame(input, len, self.known_mode());
        }
        self.envelope_frame(input, needs, error)
    }

    /// Handles a length that is larger than the envelope. The frame ends with the envelope if
    /// another frame starts there or the stream ends there; otherwise at its length.
    fn resolve_long<'a>(
        &mut self,
        input: Buffer<'a>,
        len: u64,
        needs: u64,
        error: DecodeError,
    ) -> Step<'a> {
        if needs <= limit(input) && input.resync {
            if let Some(missing) = missing_bytes(input, needs.min(len)) {
                return Step::Incomplete(Some(missing));
            }
            if self.is_followed(input, needs) {
                let error = if len > limit(input) {
                    let hint = format!(
                        "the envelope ends after {needs} bytes: the length should be {}",
                        error.wanted
                    );
                    over_limit(input, len).hint(hint)
                } else {
                    error
                };
                return self.envelope_frame(input, needs, error);
            }
        }
        if len > limit(input) {
            let error = over_limit(input, len);
            return self.resync.start(input, error);
        }
        self.complete_frame(input, len, self.known_mode())
    }

    /// Returns `true` if the stream ends at this byte, or another frame starts there.
    fn is_followed(&self, input: Buffer<'_>, end: u64) -> bool {
        let rest = usize::try_from(end).ok();
        let rest = rest.and_then(|end| input.window.get(end..));
        rest.is_some_and(|rest| rest.is_empty() || self.hints.plausible.is_some_and(|p| p(rest)))
    }

    /// Returns the frame that ends with its envelope, with an error about its length.
    fn envelope_frame<'a>(&self, input: Buffer<'a>, needs: u64, error: DecodeError) -> Step<'a> {
        let mut step = self.complete_frame(input, needs, self.known_mode());
        if let Step::Frame(frame, _) = &mut step {
            frame.fault = Some(input.fault(0, error));
        }
        step
    }
}

/// Writes a frame. The length is correct unless `wire` has another.
pub(super) fn write(body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
    // Without a method id it is an answer that consists of its envelope alone.
    let Some((id, mode)) = wire.method else {
        return wire.payload(body, out);
    };
    let own = if mode == LengthMode::Inclusive { 8 } else { 4 };
    let right = (wire.header.len() + body.len()) as u32 + own;
    out.extend_from_slice(&wire.length.unwrap_or(right).to_le_bytes());
    out.extend_from_slice(&id.to_le_bytes());
    wire.payload(body, out);
}

/// Records method and mode of a frame, and the length if it is not correct.
pub(super) fn describe(
    raw: &[u8],
    (length, id): (u32, u32),
    mode: Option<LengthMode>,
    wire: &mut Wire,
) {
    let mode = mode.unwrap_or_default();
    let own = if mode == LengthMode::Inclusive { 0 } else { 4 };
    let right = raw.len().saturating_sub(own);
    wire.method = Some((id, mode));
    wire.length = (length as usize != right).then_some(length);
}

/// Returns the number of bytes missing to decide if a frame starts at `end`; `None` at the end of
/// the stream.
fn missing_bytes(input: Buffer<'_>, end: u64) -> Option<u64> {
    let (there, end) = (input.window.len() as u64, end + PLAUSIBLE as u64);
    (!input.eof && there < end).then(|| end - there)
}

/// Builds the error for a protocol in a framing that it does not support.
fn unmeasured() -> DecodeError {
    DecodeError::new(
        "bad-length",
        Span::new(0, 0),
        "framing",
        "a protocol that measures its frames",
        "one that does not",
    )
    .hint("choose another framing (`framing`)")
}

/// Returns the maximum length of a frame: the largest message and its header.
fn limit(input: Buffer<'_>) -> u64 {
    input.limits.message as u64 + 8
}

fn over_limit(input: Buffer<'_>, len: u64) -> DecodeError {
    DecodeError::new(
        "over-limit",
        Span::new(0, 4.min(input.window.len())),
        "length",
        format!("a frame of at most {} bytes", limit(input)),
        len.to_string(),
    )
}

//! A little-endian u32 length and a u32 method id before each message; or envelopes alone.
//!
//! ```text
//!   11 00 00 00 | 12 fa bb e5 | 00 00 07 00 00 00 03 00 00 00 61 62 63
//!   length        method id     envelope, which knows its own length
//!   17            '--------------------- 17, exclusive ------------'
//!   21 '------------------------------- 21, inclusive -------------'
//! ```
//!
//! Writers differ in whether the length counts itself. The protocol tells from the first 14 bytes, since the envelope
//! repeats its length ([`Hints::measure`]); where those contradict each other the stream's last flavour holds.

use super::resync::Resync;
use super::write::payload;
use super::{Framing, Head, Hints, Input, PLAUSIBLE, Step, Wire};
use crate::error::DecodeError;
use crate::span::Span;

/// How a telequick length counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LengthMode {
    /// Told from each frame's bytes.
    #[default]
    Auto,
    /// Method id and body.
    Exclusive,
    /// The whole frame, itself included.
    Inclusive,
}

impl LengthMode {
    /// Every mode, in the order help lists them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Exclusive, Self::Inclusive];

    /// The name users write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exclusive => "exclusive",
            Self::Inclusive => "inclusive",
        }
    }

    /// The mode of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// How long the frame that begins here is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Not decidable yet: so many bytes are needed at least, counted from the frame's first.
    Incomplete(u64),
    /// The bytes contradict each other: ask again with a flavour.
    Undecided,
    /// A frame.
    Frame {
        /// Bytes, header included.
        len: u64,
        /// How its length counts; `None` where there is no such length.
        mode: Option<LengthMode>,
    },
    /// A frame whose length and envelope contradict each other: one of the two is wrong. By the length it ends inside its
    /// envelope, or later than that in neither flavour.
    Off {
        /// Bytes by the length, header included.
        len: u64,
        /// Bytes by the envelope.
        needs: u64,
        /// How its length counts.
        mode: LengthMode,
        /// What to say where it is the length that is wrong.
        error: DecodeError,
    },
    /// No frame begins so.
    Bad(DecodeError),
}

pub(super) struct Method {
    framing: Framing,
    hints: Hints,
    mode: LengthMode,
    /// The flavour of the last frame that told.
    last: Option<LengthMode>,
    resync: Resync,
}

impl Method {
    pub(super) fn new(framing: Framing, hints: Hints, mode: LengthMode) -> Self {
        // Envelopes alone have nothing to be told by.
        let plausible = hints.plausible.filter(|_| framing == Framing::Method);
        Self {
            framing,
            hints: Hints { plausible, ..hints },
            mode,
            last: None,
            resync: Resync::new(framing, plausible),
        }
    }

    /// Passes over what stands before the next frame.
    pub(super) fn seek(&mut self) {
        self.resync.seek();
    }

    /// Whether a frame begins at the start of the window.
    pub(super) fn is_between(&self) -> bool {
        self.resync.is_between()
    }

    pub(super) fn next<'a>(&mut self, input: Input<'a>) -> Step<'a> {
        if self.resync.active() {
            match self.resync.next(input) {
                Step::Took(0) => {}
                step => return step,
            }
        }
        let Input { window, eof, .. } = input;
        if window.is_empty() {
            return Step::Incomplete(None);
        }
        let Some(measure) = self.hints.measure else {
            return self.resync.begin(input, unmeasured());
        };
        let measured = match measure(window, self.framing, self.mode) {
            // The flavour of the frame before holds; the seed's own without one.
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
                let mut step = self.whole(input, needs, self.chosen());
                if let Step::Frame(frame, _) = &mut step
                    && let Some(fault) = &mut frame.fault
                {
                    let told = window
                        .first_chunk::<4>()
                        .filter(|_| self.framing == Framing::Method);
                    let told = told.map_or(0, |length| u64::from(u32::from_le_bytes(*length)));
                    fault.error.wanted = if told > needs {
                        format!("at least {told} bytes, as the length says").into()
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
            Measured::Bad(error) => self.resync.begin(input, error),
            Measured::Off {
                len, needs, error, ..
            } if len > needs => self.long(input, len, needs, error),
            Measured::Frame { len, .. } | Measured::Off { len, .. } if len > limit(input) => {
                let error = over_limit(input, len);
                self.resync.begin(input, error)
            }
            Measured::Frame { len, mode } => {
                if eof || window.len() as u64 >= len {
                    self.last = mode.or(self.last);
                }
                self.whole(input, len, mode)
            }
            Measured::Off {
                len, needs, error, ..
            } => self.short(input, len, needs, error),
        }
    }

    /// The flavour where the bytes do not tell.
    fn chosen(&self) -> Option<LengthMode> {
        match self.mode {
            LengthMode::Auto => self.last,
            mode => Some(mode),
        }
    }

    /// The frame of the first `len` bytes, once they are there.
    fn whole<'a>(&self, input: Input<'a>, len: u64, mode: Option<LengthMode>) -> Step<'a> {
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

    /// The length says less than the envelope: the frame ends where the length says if another begins there, where the
    /// envelope says if another begins there, and where the length says if none does.
    fn short<'a>(&self, input: Input<'a>, len: u64, needs: u64, error: DecodeError) -> Step<'a> {
        if let Some(missing) = lacks(input, len) {
            return Step::Incomplete(Some(missing));
        }
        let there = input.window.len() as u64;
        if self.follows(input, len) || there < len || needs > limit(input) {
            return self.whole(input, len, self.chosen());
        }
        if let Some(missing) = lacks(input, needs) {
            return Step::Incomplete(Some(missing));
        }
        if !self.follows(input, needs) {
            return self.whole(input, len, self.chosen());
        }
        self.ends_at(input, needs, error)
    }

    /// The length says more than the envelope: the frame ends with the envelope if another begins there, or if the
    /// stream ends there, and else where the length says.
    fn long<'a>(&mut self, input: Input<'a>, len: u64, needs: u64, error: DecodeError) -> Step<'a> {
        if needs <= limit(input) && input.resync {
            if let Some(missing) = lacks(input, needs.min(len)) {
                return Step::Incomplete(Some(missing));
            }
            if self.follows(input, needs) {
                let error = if len > limit(input) {
                    let hint = format!(
                        "the envelope ends after {needs} bytes: the length should be {}",
                        error.wanted
                    );
                    over_limit(input, len).hint(hint)
                } else {
                    error
                };
                return self.ends_at(input, needs, error);
            }
        }
        if len > limit(input) {
            let error = over_limit(input, len);
            return self.resync.begin(input, error);
        }
        self.whole(input, len, self.chosen())
    }

    /// Whether the stream ends at a byte, or another frame begins there.
    fn follows(&self, input: Input<'_>, end: u64) -> bool {
        let rest = usize::try_from(end).ok();
        let rest = rest.and_then(|end| input.window.get(end..));
        rest.is_some_and(|rest| rest.is_empty() || self.hints.plausible.is_some_and(|p| p(rest)))
    }

    /// The frame that ends with its envelope, whatever its length says.
    fn ends_at<'a>(&self, input: Input<'a>, needs: u64, error: DecodeError) -> Step<'a> {
        let mut step = self.whole(input, needs, self.chosen());
        if let Step::Frame(frame, _) = &mut step {
            frame.fault = Some(input.fault(0, error));
        }
        step
    }
}

/// Writes a frame: its length is right where `wire` does not say another.
pub(super) fn write(body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
    let (id, mode) = wire.method.unwrap_or_default();
    let own = if mode == LengthMode::Inclusive { 8 } else { 4 };
    let right = (wire.header.len() + body.len()) as u32 + own;
    out.extend_from_slice(&wire.length.unwrap_or(right).to_le_bytes());
    out.extend_from_slice(&id.to_le_bytes());
    payload(body, wire, out);
}

/// Says which method and mode a frame has, and which length, where it is not right.
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

/// Bytes that are missing until it can be seen whether a frame begins at a byte; none at the end of the stream.
fn lacks(input: Input<'_>, end: u64) -> Option<u64> {
    let (there, end) = (input.window.len() as u64, end + PLAUSIBLE as u64);
    (!input.eof && there < end).then(|| end - there)
}

/// A protocol was read in a framing that it cannot be in.
fn unmeasured() -> DecodeError {
    DecodeError::new(
        "bad-length",
        Span::new(0, 0),
        "framing",
        "a protocol that measures its frames",
        "one that does not",
    )
    .hint("choose another framing with --framing")
}

/// Bytes of the longest frame: the largest message and what stands before it.
fn limit(input: Input<'_>) -> u64 {
    input.limits.message as u64 + 8
}

fn over_limit(input: Input<'_>, len: u64) -> DecodeError {
    DecodeError::new(
        "over-limit",
        Span::new(0, 4.min(input.window.len())),
        "length",
        format!("a frame of at most {} bytes", limit(input)),
        len.to_string(),
    )
}

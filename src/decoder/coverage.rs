//! Reports each byte of a stream exactly once.
//!
//! ```text
//!   01 01 61   89 00   80 01 62   0a 0a 81 01 63        a message in two frames with a ping inside, then another
//!   '-- 1 ---' '- 0 -' '-- 1 --'  '---- 2 -------'      the line that reports each byte
//!                                 before  frame
//! ```
//!
//! Stores only consumed bytes that are not reported yet. If they are many and belong to no frame, a
//! separate line reports them.

use crate::framing::Limits;

/// The maximum number of bytes between frames that wait for the next frame; more are a separate
/// line.
const MAX_RUN: usize = 64 << 10;
/// The maximum number of recorded frames inside one message.
const MAX_INNER: usize = 1 << 16;

/// A frame's bytes as in the stream.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RawFrame<'a> {
    /// The bytes between the frame before and this one.
    pub before: &'a [u8],
    /// The frame, line end included, without frames inside it.
    pub bytes: &'a [u8],
    /// The frame is inside a fragmented message that is emitted after it.
    pub inside: bool,
    /// The positions in `bytes` of the frames inside this one, which were emitted before.
    pub between: &'a [usize],
}

impl RawFrame<'_> {
    /// No bytes.
    pub(super) const NOTHING: Self = Self {
        before: &[],
        bytes: &[],
        inside: false,
        between: &[],
    };
}

/// The position of the waiting bytes.
#[derive(Clone, Copy)]
pub(super) enum PendingBytes {
    /// Between frames.
    BetweenFrames,
    /// All bytes before the current frame belong to no other.
    BeforeFrame,
    /// Inside a message that is not complete.
    InsideMessage,
    /// At the end of the stream.
    StreamEnd,
}

/// The consumed bytes that are not reported.
#[derive(Default)]
pub(super) struct Coverage {
    bytes: Vec<u8>,
    /// The stream offset of the first byte.
    start: u64,
    /// The number of bytes before the current frame.
    before: usize,
    /// The positions of emitted frames in them.
    between: Vec<usize>,
    /// The number of bytes to report as a separate line.
    due: usize,
    /// The maximum number of bytes of a message that is not complete.
    most: usize,
}

impl Coverage {
    pub(super) fn new(limits: Limits) -> Self {
        // Headers of fragments need space too.
        let message = limits.message as usize;
        Self {
            most: message + message / 4 + (1 << 20),
            ..Self::default()
        }
    }

    /// Adds bytes that belong to no complete frame; the first byte is at `here`.
    pub(super) fn add(&mut self, taken: &[u8], here: u64) {
        if self.bytes.is_empty() {
            self.start = here;
        }
        self.bytes.extend_from_slice(taken);
    }

    /// Records a frame inside the current message.
    pub(super) fn inner_frame<'a>(&mut self, taken: &'a [u8]) -> RawFrame<'a> {
        self.between.push(self.bytes.len());
        RawFrame {
            before: &[],
            bytes: taken,
            inside: true,
            between: &[],
        }
    }

    /// Starts a frame at `offset`; `taken`, at `here`, completes it.
    pub(super) fn start_frame(&mut self, offset: u64, taken: &[u8], here: u64) {
        if self.bytes.is_empty() {
            self.start = here;
        }
        self.before = offset.saturating_sub(self.start) as usize;
        // Nearly every frame lies in one window, and nothing is copied.
        if !self.bytes.is_empty() || self.before > MAX_RUN {
            self.bytes.extend_from_slice(taken);
        }
    }

    /// Returns the frame after [`Coverage::start_frame`].
    pub(super) fn finish_frame<'a>(&'a mut self, taken: &'a [u8]) -> RawFrame<'a> {
        let all = if self.bytes.is_empty() {
            taken
        } else {
            &self.bytes
        };
        let (before, bytes) = all.split_at_checked(self.before).unwrap_or((&[], all));
        for place in &mut self.between {
            *place = place.saturating_sub(before.len());
        }
        RawFrame {
            before,
            bytes,
            inside: false,
            between: &self.between,
        }
    }

    /// Marks all bytes as reported.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.between.clear();
        self.before = 0;
    }

    /// Returns bytes that cannot wait, and the stream offset of the first; call
    /// [`Coverage::drop_surplus`] after their report.
    pub(super) fn surplus(&mut self, pending: PendingBytes) -> Option<(u64, RawFrame<'_>)> {
        let all = self.bytes.len();
        self.due = match pending {
            PendingBytes::BetweenFrames if all > MAX_RUN => MAX_RUN,
            PendingBytes::BeforeFrame if self.before > MAX_RUN => MAX_RUN,
            PendingBytes::InsideMessage if all > self.most => self.most,
            PendingBytes::InsideMessage if self.between.len() > MAX_INNER => all,
            PendingBytes::StreamEnd if all > 0 => all.min(MAX_RUN),
            _ => return None,
        };
        let bytes = self.bytes.get(..self.due)?;
        let inside = self.between.iter().take_while(|p| **p <= self.due).count();
        let raw = RawFrame {
            before: &[],
            bytes,
            inside: false,
            between: self.between.get(..inside).unwrap_or_default(),
        };
        Some((self.start, raw))
    }

    /// Drops the bytes of the last [`Coverage::surplus`].
    pub(super) fn drop_surplus(&mut self) {
        let due = std::mem::take(&mut self.due);
        self.bytes.drain(..due.min(self.bytes.len()));
        self.start += due as u64;
        self.before = self.before.saturating_sub(due);
        let inside = self.between.iter().take_while(|p| **p <= due).count();
        self.between.drain(..inside);
        for place in &mut self.between {
            *place -= due;
        }
    }
}

/// The bytes of a frame in its stream.
#[derive(Clone, Copy)]
pub(super) struct FrameBytes<'a> {
    /// The bytes that are consumed after the frame.
    pub taken: &'a [u8],
    /// The stream offset of the first of them.
    pub offset: u64,
    /// The start of the message around the frame.
    pub message_start: Option<u64>,
}

impl<'a> FrameBytes<'a> {
    pub fn new(window: &'a [u8], took: usize, offset: u64, message_start: Option<u64>) -> Self {
        Self {
            taken: window.get(..took).unwrap_or(window),
            offset,
            message_start,
        }
    }
}

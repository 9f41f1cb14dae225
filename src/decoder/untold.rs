//! Each byte of a stream, told exactly once.
//!
//! ```text
//!   01 01 61   89 00   80 01 62   0a 0a 81 01 63        a message in two frames with a ping inside, then another
//!   '-- 1 ---' '- 0 -' '-- 1 --'  '---- 2 -------'      by which line each byte is told
//!                                 before  frame
//! ```
//!
//! Kept are only bytes that were taken in and that no line has told yet; where they are many and no frame will have
//! them, a line of their own tells them.

use crate::framing::Limits;

/// Bytes between frames that wait for the next; more of them are a line of their own.
const RUN: usize = 64 << 10;
/// Frames inside one message that are remembered.
const INSIDE: usize = 1 << 16;

/// A frame's bytes as they stood in the stream.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Raw<'a> {
    /// Between the frame before and this one.
    pub before: &'a [u8],
    /// The frame, line end included; without frames that stand inside it.
    pub bytes: &'a [u8],
    /// It stands inside a fragmented message that is told after it.
    pub inside: bool,
    /// Where in `bytes` the frames stood, told before, that this one has inside.
    pub between: &'a [usize],
}

impl Raw<'_> {
    /// No bytes.
    pub(super) const NOTHING: Self = Self {
        before: &[],
        bytes: &[],
        inside: false,
        between: &[],
    };
}

/// Who may have the bytes that wait.
#[derive(Clone, Copy)]
pub(super) enum Whose {
    /// They stand between frames.
    Nobodys,
    /// All up to the frame at hand stand before it.
    Frames,
    /// A message has begun that is not complete.
    Messages,
    /// The stream has ended.
    Ended,
}

/// What was taken in and not told.
pub(super) struct Untold {
    bytes: Vec<u8>,
    /// Stream offset of the first of them.
    start: u64,
    /// How many of them stand before the frame at hand.
    before: usize,
    /// Where in them frames stood that were told.
    between: Vec<usize>,
    /// How many are to be told as a line of their own.
    due: usize,
    /// Most bytes of a message that is not complete.
    most: usize,
}

impl Untold {
    pub(super) fn new(limits: Limits) -> Self {
        // Heads of fragments take room too.
        let message = limits.message as usize;
        Self {
            bytes: Vec::new(),
            start: 0,
            before: 0,
            between: Vec::new(),
            due: 0,
            most: message + message / 4 + (1 << 20),
        }
    }

    /// Bytes that are part of no complete frame; the first of them is at `here`.
    pub(super) fn take(&mut self, taken: &[u8], here: u64) {
        if self.bytes.is_empty() {
            self.start = here;
        }
        self.bytes.extend_from_slice(taken);
    }

    /// A frame inside the message that has begun.
    pub(super) fn inside<'a>(&mut self, taken: &'a [u8]) -> Raw<'a> {
        self.between.push(self.bytes.len());
        Raw {
            before: &[],
            bytes: taken,
            inside: true,
            between: &[],
        }
    }

    /// A frame begins at `offset`; with `taken`, at `here`, it is complete.
    pub(super) fn before(&mut self, offset: u64, taken: &[u8], here: u64) {
        if self.bytes.is_empty() {
            self.start = here;
        }
        self.before = offset.saturating_sub(self.start) as usize;
        // Nearly always a frame lies in one window, and there is nothing to be put together.
        if !self.bytes.is_empty() || self.before > RUN {
            self.bytes.extend_from_slice(taken);
        }
    }

    /// The frame after [`Untold::before`].
    pub(super) fn frame<'a>(&'a mut self, taken: &'a [u8]) -> Raw<'a> {
        let all = if self.bytes.is_empty() {
            taken
        } else {
            &self.bytes
        };
        let (before, bytes) = all.split_at_checked(self.before).unwrap_or((&[], all));
        for place in &mut self.between {
            *place = place.saturating_sub(before.len());
        }
        Raw {
            before,
            bytes,
            inside: false,
            between: &self.between,
        }
    }

    /// All was told.
    pub(super) fn told(&mut self) {
        self.bytes.clear();
        self.between.clear();
        self.before = 0;
    }

    /// Bytes that cannot wait, and the stream offset of the first; [`Untold::passed`] when they were told.
    pub(super) fn surplus(&mut self, whose: Whose) -> Option<(u64, Raw<'_>)> {
        let all = self.bytes.len();
        self.due = match whose {
            Whose::Nobodys if all > RUN => RUN,
            Whose::Frames if self.before > RUN => RUN,
            Whose::Messages if all > self.most => self.most,
            Whose::Messages if self.between.len() > INSIDE => all,
            Whose::Ended if all > 0 => all.min(RUN),
            _ => return None,
        };
        let bytes = self.bytes.get(..self.due)?;
        let inside = self.between.iter().take_while(|p| **p <= self.due).count();
        let raw = Raw {
            before: &[],
            bytes,
            inside: false,
            between: self.between.get(..inside).unwrap_or_default(),
        };
        Some((self.start, raw))
    }

    /// What was due was told.
    pub(super) fn passed(&mut self) {
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

//! After a frame whose length cannot be right: skip to where a frame plausibly begins.
//!
//! The bytes passed over are not lost: the first run of them carries the fault, further ones are lines of their own.

use super::{Framing, Head, Input, PLAUSIBLE, Step};
use crate::error::DecodeError;
use crate::span::Span;

/// Passed-over bytes are given out in runs of at most this many, so that none is ever held in memory for long.
const RUN: usize = 64 << 10;

pub(super) struct Resync {
    framing: Framing,
    plausible: Option<fn(&[u8]) -> bool>,
    /// What to say of the run that is being passed over.
    error: Option<DecodeError>,
    active: bool,
    searched: usize,
}

impl Resync {
    pub(super) fn new(framing: Framing, plausible: Option<fn(&[u8]) -> bool>) -> Self {
        Self {
            framing,
            plausible,
            error: None,
            active: false,
            searched: 0,
        }
    }

    pub(super) fn active(&self) -> bool {
        self.active
    }

    /// Whether nothing was passed over yet, or all that had to be.
    pub(super) fn is_between(&self) -> bool {
        !self.active || self.error.is_some()
    }

    /// The frame at the start of the window cannot be one: starts to pass over it.
    pub(super) fn begin<'a>(&mut self, input: Input<'a>, error: DecodeError) -> Step<'a> {
        self.active = true;
        self.error = Some(error);
        self.searched = 1;
        self.next(input)
    }

    /// Bytes are missing before the window: passes over what stands before the next frame. Where nothing tells a frame's
    /// beginning, one is taken to begin at once.
    pub(super) fn seek(&mut self) {
        self.active = self.plausible.is_some();
        self.error = None;
        self.searched = 0;
    }

    /// The next run that is passed over; nothing taken where a frame begins at once.
    pub(super) fn next<'a>(&mut self, input: Input<'a>) -> Step<'a> {
        let Input { window, eof, .. } = input;
        if window.is_empty() {
            return Step::Incomplete(None);
        }
        let plausible = self.plausible.filter(|_| input.resync);
        let mut found = None;
        while let Some(rest) = window.get(self.searched..)
            && self.searched < RUN
            && (rest.len() >= PLAUSIBLE || (eof && !rest.is_empty()))
        {
            if plausible.is_some_and(|p| p(rest)) {
                found = Some(self.searched);
                break;
            }
            self.searched += 1;
        }
        let end = match found {
            Some(at) => at,
            None if self.searched >= RUN => RUN,
            None if eof => window.len(),
            None => return Step::Incomplete(None),
        };
        self.active = found.is_none() && !(eof && end == window.len());
        self.searched = 0;
        if end == 0 {
            return Step::Took(0);
        }
        let mut frame = input.frame(self.framing, Head::None, Span::new(0, end), end);
        match self.error.take() {
            Some(error) => {
                let error = match error.hint {
                    None if found.is_some() => error.hint(format!(
                        "{end} bytes are passed over; a frame begins after them"
                    )),
                    _ => error,
                };
                frame.fault = Some(input.fault(0, error));
            }
            None => frame.control = Some("skipped"),
        }
        Step::Frame(frame, end)
    }
}

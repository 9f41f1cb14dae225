//! Skips to the next plausible frame after a frame whose length cannot be correct.
//!
//! Skipped bytes are emitted: the first run of them carries the fault, each further run is a
//! separate line.

use super::{Buffer, Framing, Head, PLAUSIBLE, Step};
use crate::error::DecodeError;
use crate::span::Span;

/// The maximum length of a run of skipped bytes, so that memory stays bounded.
const RUN: usize = 64 << 10;

pub(super) struct Resync {
    framing: Framing,
    plausible: Option<fn(&[u8]) -> bool>,
    /// The error of the run that is skipped.
    error: Option<Box<DecodeError>>,
    active: bool,
    searched: usize,
    /// The number of bytes that show if a frame starts with them.
    start_len: usize,
}

impl Resync {
    pub(super) fn new(framing: Framing, plausible: Option<fn(&[u8]) -> bool>) -> Self {
        Self {
            framing,
            plausible,
            error: None,
            active: false,
            searched: 0,
            start_len: PLAUSIBLE,
        }
    }

    /// Sets the number of bytes that show if a frame starts with them.
    pub(super) fn set_start_len(&mut self, len: usize) {
        self.start_len = len.clamp(PLAUSIBLE, 1024);
    }

    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// Returns `true` if nothing is skipped or searched.
    pub(super) fn is_like_new(&self) -> bool {
        !self.active && self.error.is_none() && self.searched == 0
    }

    /// Returns `true` if nothing is skipped yet, or everything.
    pub(super) fn is_between(&self) -> bool {
        !self.active || self.error.is_some()
    }

    /// Starts to skip from the start of the window, where no frame can be.
    pub(super) fn start<'a>(&mut self, input: Buffer<'a>, error: DecodeError) -> Step<'a> {
        self.lose(error);
        self.next(input)
    }

    /// Starts to skip at the start of the next window, where no frame can be.
    pub(super) fn lose(&mut self, error: DecodeError) {
        self.active = true;
        self.error = Some(error.into());
        self.searched = 1;
    }

    /// Handles missing bytes before the window: skips to the next frame. Without a test for a
    /// frame's start, a frame is assumed to start at once.
    pub(super) fn seek(&mut self) {
        self.search();
        self.active = self.plausible.is_some();
    }

    /// Searches for a frame from the start of the next window on.
    pub(super) fn search(&mut self) {
        self.active = true;
        self.error = None;
        self.searched = 0;
    }

    /// Returns the next skipped run; `Took(0)` if a frame starts at once.
    pub(super) fn next<'a>(&mut self, input: Buffer<'a>) -> Step<'a> {
        let plausible = self.plausible;
        self.next_at(input, |bytes| Some(plausible.is_some_and(|p| p(bytes))))
    }

    /// Returns the next skipped run up to bytes for which `is_start` is true. If it does not know, a frame starts only
    /// at once, after missing bytes.
    pub(super) fn next_at<'a>(
        &mut self,
        input: Buffer<'a>,
        is_start: impl Fn(&[u8]) -> Option<bool>,
    ) -> Step<'a> {
        let Buffer { window, eof, .. } = input;
        if window.is_empty() {
            return Step::Incomplete(None);
        }
        let mut found = None;
        while let Some(rest) = window.get(self.searched..)
            && self.searched < RUN
            && (rest.len() >= self.start_len || (eof && !rest.is_empty()))
        {
            if input.resync && is_start(rest).unwrap_or(self.searched == 0 && self.error.is_none())
            {
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
                        "{end} bytes are skipped; a frame begins after them"
                    )),
                    _ => *error,
                };
                frame.fault = Some(input.fault(0, error));
            }
            None => frame.control = Some("skipped"),
        }
        Step::Frame(frame, end)
    }
}

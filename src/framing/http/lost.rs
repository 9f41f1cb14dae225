//! After bytes that are no HTTP: skip to what looks like the next start line.
//!
//! The bytes passed over are not lost: the first run of them carries the fault, further ones are lines of their own.

use super::super::Input;
use memchr::memmem;

/// Passed-over bytes are given out in runs of at most this many.
pub(super) const RUN: usize = 64 << 10;
/// A start line that begins in a run may reach this far beyond it.
const BEYOND: usize = 8 << 10;
/// What all start lines have.
const VERSION: &[u8] = b"HTTP/1.";
/// `HTTP/1.1 200`
const STATUS: usize = 12;

/// How far the search has come, in bytes from the start of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    /// A start line before this place was tried already.
    pub(super) from: usize,
    pub(super) searched: usize,
}

/// What the search says.
pub(super) enum Found {
    More,
    /// So many bytes are none of a message; whether one follows.
    Run(usize, bool),
}

impl Lost {
    pub(super) fn new(from: usize) -> Self {
        Self { from, searched: 0 }
    }

    pub(super) fn next(&mut self, input: Input<'_>) -> Found {
        let Input { window, eof, .. } = input;
        let horizon = RUN + BEYOND;
        let seen = window.get(..horizon).unwrap_or(window);
        let last = eof || seen.len() == horizon;
        if input.resync {
            while let Some(at) = seen
                .get(self.searched..)
                .and_then(|rest| memmem::find(rest, VERSION))
            {
                let at = at + self.searched;
                if !last && seen.len() < at + STATUS {
                    self.searched = at;
                    return Found::More;
                }
                self.searched = at + 1;
                match start_line(seen, at) {
                    Some(start) if start >= self.from && start < RUN => {
                        return Found::Run(start, true);
                    }
                    _ => {}
                }
            }
            self.searched = self
                .searched
                .max(seen.len().saturating_sub(VERSION.len() - 1));
        }
        if last || (!input.resync && window.len() >= RUN) {
            Found::Run(window.len().min(RUN), false)
        } else {
            Found::More
        }
    }
}

/// Where the start line begins whose version is at `at`.
fn start_line(seen: &[u8], at: usize) -> Option<usize> {
    let (before, rest) = seen.split_at_checked(at)?;
    // HTTP/1.x and a status code, or a line end.
    match rest.get(VERSION.len() + 1..STATUS) {
        Some([b' ', a, b, c]) if [a, b, c].into_iter().all(u8::is_ascii_digit) => return Some(at),
        Some([b'\r', b'\n', ..] | [b'\n', ..]) => {}
        _ => return None,
    }
    // METHOD SP target SP
    let line = before.strip_suffix(b" ")?;
    let target = line.iter().rposition(u8::is_ascii_whitespace)?;
    let method = line.get(..target)?;
    let letters = method
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_uppercase())
        .count();
    let whole = line.get(target) == Some(&b' ') && target + 1 < line.len();
    (whole && (3..=16).contains(&letters)).then_some(target - letters)
}

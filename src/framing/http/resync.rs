//! Skips bytes that are not HTTP up to a likely start line; after missing bytes also up to a chunk of events, or a message
//! of WebSocket: the missing bytes may hold the rest of an upgrade.
//!
//! Skipped bytes are emitted: the first run of them carries the fault, each further run is a
//! separate line.

use super::super::websocket::WebSocketResync;
use super::super::{Buffer, Limits};
use super::chunked::{CHUNK_PROBE, starts_chunk};
use memchr::memmem;

/// The maximum length of a run of skipped bytes.
pub(super) const RUN: usize = 64 << 10;
/// The maximum length of a start line beyond the run in which it starts.
const BEYOND: usize = 8 << 10;
/// A part of every start line.
const VERSION: &[u8] = b"HTTP/1.";
/// `HTTP/1.1 200`
const STATUS: usize = 12;

/// The progress of the search, in bytes from the start of the window.
pub(super) struct HttpResync {
    /// Start lines before this position were tried already.
    pub(super) from: usize,
    pub(super) searched: usize,
    /// Bytes are missing: a stream of events may continue. The search for a chunk of them is up to this position.
    chunk: Option<usize>,
    /// Bytes are missing: the stream may be WebSocket now. The search for a message is up to this position.
    websocket: Option<(usize, WebSocketResync)>,
}

/// The result of a search for a start line.
pub(super) enum ResyncResult {
    More,
    /// This many bytes belong to no message; `true` if a message follows.
    Run(usize, bool),
    /// This many bytes belong to no message; a chunk of events follows.
    Events(usize),
    /// This many bytes belong to no message; a message of WebSocket follows.
    WebSocket(usize),
}

impl HttpResync {
    pub(super) fn new(from: usize) -> Self {
        Self {
            from,
            searched: 0,
            chunk: None,
            websocket: None,
        }
    }

    /// Starts after missing bytes.
    pub(super) fn after_gap() -> Self {
        Self {
            chunk: Some(0),
            websocket: Some((0, WebSocketResync::default())),
            ..Self::new(0)
        }
    }

    /// Continues after a run of skipped bytes.
    pub(super) fn restart(&self) -> Self {
        Self {
            chunk: self.chunk.map(|_| 0),
            websocket: (self.websocket.as_ref()).map(|_| (0, WebSocketResync::default())),
            ..Self::new(0)
        }
    }

    /// Searches for the start of a chunk of events. Returns true if it is at the new position.
    fn find_chunk(&mut self, seen: &[u8], last: bool) -> bool {
        let Some(at) = &mut self.chunk else {
            return false;
        };
        while *at < RUN {
            let rest = seen.get(*at..).unwrap_or_default();
            if rest.is_empty() || (rest.len() < CHUNK_PROBE && !last) {
                break;
            }
            let is_line = *at == 0 || seen.get(*at - 1) == Some(&b'\n');
            if is_line && starts_chunk(rest) {
                return true;
            }
            *at += 1;
        }
        false
    }

    /// Searches for a message of WebSocket. Returns the position up to which none starts, and `true` if one starts there.
    fn find_websocket(&mut self, seen: &[u8], limits: Limits, last: bool) -> (usize, bool) {
        let Some((at, search)) = &mut self.websocket else {
            return (usize::MAX, false);
        };
        let (next, found) = search.find(seen, *at, limits, last);
        *at = next;
        (next, found)
    }

    pub(super) fn next(&mut self, input: Buffer<'_>) -> ResyncResult {
        let horizon = RUN + BEYOND;
        let seen = input.window.get(..horizon).unwrap_or(input.window);
        let last = input.eof || seen.len() == horizon;
        let (at, found) = if input.resync {
            self.find_websocket(seen, input.limits, last)
        } else {
            (usize::MAX, false)
        };
        match self.next_http(input) {
            ResyncResult::Run(n, true) | ResyncResult::Events(n) if n > at && !found => {
                // A message may be before it.
                self.searched = self.searched.min(n);
                ResyncResult::More
            }
            ResyncResult::Run(n, _) if found && at < n => ResyncResult::WebSocket(at),
            ResyncResult::Events(n) if found && at < n => ResyncResult::WebSocket(at),
            ResyncResult::More if found => ResyncResult::WebSocket(at),
            http => http,
        }
    }

    fn next_http(&mut self, input: Buffer<'_>) -> ResyncResult {
        let Buffer { window, eof, .. } = input;
        let horizon = RUN + BEYOND;
        let seen = window.get(..horizon).unwrap_or(window);
        let last = eof || seen.len() == horizon;
        if input.resync {
            let found = self.find_chunk(seen, last);
            let chunk = self.chunk.unwrap_or(usize::MAX);
            while let Some(at) = seen
                .get(self.searched..)
                .and_then(|rest| memmem::find(rest, VERSION))
            {
                let at = at + self.searched;
                if !last && seen.len() < at + STATUS {
                    self.searched = at;
                    return ResyncResult::More;
                }
                self.searched = at + 1;
                match start_line(seen, at) {
                    Some(start) if start > chunk && found => break,
                    // A chunk may be before it.
                    Some(start) if start > chunk && !last => {
                        self.searched = at;
                        return ResyncResult::More;
                    }
                    Some(start) if start >= self.from && start < RUN => {
                        return ResyncResult::Run(start, true);
                    }
                    _ => {}
                }
            }
            if found {
                return ResyncResult::Events(chunk);
            }
            self.searched = self
                .searched
                .max(seen.len().saturating_sub(VERSION.len() - 1));
        }
        if last || (!input.resync && window.len() >= RUN) {
            ResyncResult::Run(window.len().min(RUN), false)
        } else {
            ResyncResult::More
        }
    }
}

/// Returns the position of the start line whose version is at `at`.
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

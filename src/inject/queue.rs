//! One direction of one connection: the held bytes, and the way in which they are sent.
//!
//! ```text
//!   start                begun                 taken
//!   |====== settled =====|---- not complete ----|
//!   '- goes out, edited  '- stays
//! ```

use super::edit::{Edit, EditKind, StreamEnd};
use crate::framing::{Backlog, BodyDelimiter, BodyPart};
use crate::protocol::{Direction, Lane};
use fastrand::Rng;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// The maximum number of recorded frames inside an incomplete message; then it is sent.
const MAX_INNER: usize = 1 << 16;

/// An action of a direction, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Write these bytes.
    Bytes(Vec<u8>),
    /// Wait this many nanoseconds.
    Wait(u64),
    /// Record an applied fault: the keys of an `inject` event.
    Event(Map<String, Value>),
    /// Close the connection, with this code if it is a QUIC connection.
    Close(Option<u64>),
    /// Cut the connection; over QUIC, reset this direction of the stream with this code.
    Reset(Option<u64>),
    /// Write nothing more, and leave the connection open.
    Stall,
}

#[derive(Default)]
pub(super) struct DirectionQueue {
    held: Backlog,
    /// The stream offset of the first held byte.
    start: u64,
    edits: Vec<Edit>,
    /// Frames of the incomplete message.
    inside: Vec<Range<u64>>,
    /// The position in a body of chunks after the last sent byte.
    chunks: Option<BodyDelimiter>,
    /// Bytes to send when a chunk can start.
    late: Vec<Vec<u8>>,
    /// The direction was closed, cut or stalled.
    over: bool,
    rngs: BTreeMap<usize, Rng>,
    /// Actions that were not returned yet.
    out: Vec<Out>,
}

impl DirectionQueue {
    /// Adds bytes. Returns the number of held bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) -> usize {
        if self.over {
            self.start += bytes.len() as u64;
            return 0;
        }
        self.held.push(bytes);
        self.held.len()
    }

    /// Returns the stream offset of the first byte that was not sent.
    pub(super) fn start_offset(&self) -> u64 {
        self.start
    }

    /// Returns the stream offset after the last byte.
    fn end(&self) -> u64 {
        self.start + self.held.len() as u64
    }

    /// Returns `true` if no more bytes are sent.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Returns all actions so far.
    pub(super) fn take_actions(&mut self, out: &mut Vec<Out>) {
        out.append(&mut self.out);
    }

    /// Returns the bytes of a run; `None` if they were sent before.
    pub(super) fn bytes(&self, run: &Range<u64>) -> Option<&[u8]> {
        let at = usize::try_from(run.start.checked_sub(self.start)?).ok()?;
        let end = usize::try_from(run.end.checked_sub(self.start)?).ok()?;
        self.held.bytes().get(at..end)
    }

    /// Records a frame. Returns the runs that belong to it, without the frames inside it.
    pub(super) fn frame(&mut self, whole: Range<u64>) -> Vec<Range<u64>> {
        let mut own = Vec::new();
        let mut at = whole.start;
        // The frames are in order, because those inside a message are removed with it.
        let first = self.inside.partition_point(|r| r.start < whole.start);
        for inner in self.inside.drain(first..) {
            if inner.start > at {
                own.push(at..inner.start);
            }
            at = at.max(inner.end);
        }
        if whole.end > at {
            own.push(at..whole.end);
        }
        self.inside.push(whole);
        own
    }

    /// Returns the bytes of several runs, joined.
    pub(super) fn joined(&self, runs: &[Range<u64>]) -> Vec<u8> {
        let parts = runs.iter().filter_map(|run| self.bytes(run));
        parts.flatten().copied().collect()
    }

    pub(super) fn edit(&mut self, at: Range<u64>, operation: EditKind) {
        self.edits.push(Edit { at, operation });
    }

    /// Returns `true` if the last sent bytes belong to a body in chunks.
    pub(super) fn in_chunks(&self) -> bool {
        let starts_chunks = |edit: &Edit| matches!(edit.operation, EditKind::Chunks);
        self.chunks.is_some() || self.edits.iter().any(starts_chunks)
    }

    /// Returns the random numbers of one fault.
    pub(super) fn rng(&mut self, fault: usize, seed: u64, lane: Lane) -> &mut Rng {
        self.rngs.entry(fault).or_insert_with(|| {
            // Spread, because the sequences of adjacent seeds start with similar numbers.
            let spread = |n: u64| n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let way = u64::from(lane.direction == Some(Direction::ToClient));
            let conn = u64::from(lane.conn.unwrap_or_default());
            let which = spread((fault as u64) << 33 | conn << 1 | way);
            let stream = lane.stream.map_or(0, |stream| spread(spread(stream)));
            Rng::with_seed(seed ^ which ^ stream)
        })
    }

    /// Sends complete frames up to `begun`, and the bytes between them.
    pub(super) fn release(&mut self, begun: u64, taken: u64) {
        let upto = if self.inside.len() > MAX_INNER {
            taken
        } else {
            begun
        };
        self.flush(upto.min(self.end()));
    }

    /// Sends all held bytes.
    pub(super) fn flush_all(&mut self) {
        self.flush(self.end());
    }

    /// Sends held bytes, with the edits in them.
    ///
    /// ```text
    ///   start           at        edit.at          upto        end
    ///     |-- passed ----|- part --|-- replaced --|-- ... ------|-- stays held
    /// ```
    fn flush(&mut self, upto: u64) {
        if upto < self.start || self.over {
            return;
        }
        self.inside.retain(|run| run.end > upto);
        let (mut now, later) = std::mem::take(&mut self.edits)
            .into_iter()
            .partition::<Vec<_>, _>(|edit| edit.at.end <= upto);
        self.edits = later;
        now.sort_by_key(Edit::key);
        let held = std::mem::take(&mut self.held);
        let base = self.start;
        let part = |from: u64, to: u64| {
            let (from, to) = (from.saturating_sub(base), to.saturating_sub(base));
            let held = held.bytes().get(from as usize..to as usize);
            held.unwrap_or_default()
        };
        let mut at = base;
        for Edit { at: run, operation } in now {
            if run.start > at {
                self.pass(part(at, run.start), true);
            }
            let untouched = run.start >= at;
            at = at.max(run.start);
            match operation {
                EditKind::Put(bytes) => {
                    if untouched {
                        self.put(&bytes);
                    }
                    self.pass(part(at, run.end), false);
                    at = at.max(run.end);
                }
                EditKind::Wait(ns) => self.out.push(Out::Wait(ns)),
                EditKind::Event(event) => self.out.push(Out::Event(event)),
                EditKind::Chunks => self.chunks = Some(BodyDelimiter::CHUNKED),
                EditKind::Chunk(bytes) => {
                    self.late.push(bytes);
                    self.flush_chunks();
                }
                EditKind::End(end) => {
                    self.out.push(match end {
                        StreamEnd::Close(code) => Out::Close(code),
                        StreamEnd::Reset(code) => Out::Reset(code),
                        StreamEnd::Stall => Out::Stall,
                    });
                    self.over = true;
                    self.start = base + held.len() as u64;
                    self.edits.clear();
                    self.inside.clear();
                    return;
                }
            }
        }
        self.pass(part(at, upto), true);
        self.held = held;
        self.held.consume((upto - base) as usize);
        self.start = upto;
    }

    fn put(&mut self, bytes: &[u8]) {
        match self.out.last_mut() {
            _ if bytes.is_empty() => {}
            Some(Out::Bytes(before)) => before.extend_from_slice(bytes),
            _ => self.out.push(Out::Bytes(bytes.to_vec())),
        }
    }

    /// Passes bytes of the stream, sends them if `out` is set, and follows the position in a body
    /// of chunks.
    fn pass(&mut self, bytes: &[u8], out: bool) {
        let mut rest = bytes;
        while let Some(source) = &mut self.chunks {
            let n = match source.next(rest) {
                BodyPart::Framing(n) => n,
                BodyPart::Data(n) => {
                    source.took(n);
                    n
                }
                BodyPart::More if rest.is_empty() => break,
                BodyPart::More | BodyPart::End | BodyPart::Bad(_) => {
                    self.chunks = None;
                    break;
                }
            };
            let (bit, after) = rest.split_at_checked(n).unwrap_or((rest, &[]));
            if out {
                self.put(bit);
            }
            rest = after;
            self.flush_chunks();
        }
        if out {
            self.put(rest);
        }
    }

    /// Sends the waiting chunks if a chunk can start here.
    fn flush_chunks(&mut self) {
        if !self.chunks.is_some_and(|source| source.is_between()) {
            return;
        }
        for chunk in std::mem::take(&mut self.late) {
            let head = format!("{:x}\r\n", chunk.len());
            self.put(&[head.as_bytes(), &chunk, b"\r\n"].concat());
        }
    }
}

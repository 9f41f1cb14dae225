//! One direction of one connection: what is held, and how it goes out.
//!
//! ```text
//!   start                begun                 taken
//!   |====== settled =====|---- not complete ----|
//!   '- goes out, edited  '- stays
//! ```

use super::edit::{Does, Edit, End};
use crate::framing::{Backlog, Bit, Source};
use crate::protocol::Direction;
use fastrand::Rng;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// Frames inside an unfinished message that are remembered; past that it is let go.
const INSIDE: usize = 1 << 16;

/// What is to be done with a direction, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Write these bytes.
    Bytes(Vec<u8>),
    /// Wait so many ns.
    Wait(u64),
    /// Write down that this was done: the keys of an `inject` event.
    Told(Map<String, Value>),
    /// Close the connection.
    Close,
    /// Cut the connection.
    Reset,
    /// Write nothing more, though the connection stays.
    Stall,
}

#[derive(Default)]
pub(super) struct Lane {
    held: Backlog,
    /// Stream offset of the first byte that is held.
    start: u64,
    edits: Vec<Edit>,
    /// Frames of the message that is not complete.
    inside: Vec<Range<u64>>,
    /// Where in a body of chunks the last byte that went out stands.
    chunks: Option<Source>,
    /// What goes out when a chunk can begin.
    late: Vec<Vec<u8>>,
    /// It was closed, cut or stalled.
    over: bool,
    rngs: BTreeMap<usize, Rng>,
    /// What is to be done and was not handed out.
    out: Vec<Out>,
}

impl Lane {
    /// More bytes; says how many are held with them.
    pub(super) fn take(&mut self, bytes: &[u8]) -> usize {
        if self.over {
            self.start += bytes.len() as u64;
            return 0;
        }
        self.held.push(bytes);
        self.held.len()
    }

    /// Stream offset of the first byte that did not go out.
    pub(super) fn begins(&self) -> u64 {
        self.start
    }

    /// One past the last byte that came.
    fn end(&self) -> u64 {
        self.start + self.held.len() as u64
    }

    /// Whether nothing goes out any more.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// What is to be done up to now.
    pub(super) fn hand_out(&mut self, out: &mut Vec<Out>) {
        out.append(&mut self.out);
    }

    /// The bytes of a run; `None` where they went out before.
    pub(super) fn bytes(&self, run: &Range<u64>) -> Option<&[u8]> {
        let at = usize::try_from(run.start.checked_sub(self.start)?).ok()?;
        let end = usize::try_from(run.end.checked_sub(self.start)?).ok()?;
        self.held.bytes().get(at..end)
    }

    /// A frame was told; gives the runs that are its own, without frames that stand inside it.
    pub(super) fn frame(&mut self, whole: Range<u64>) -> Vec<Range<u64>> {
        let mut own = Vec::new();
        let mut at = whole.start;
        // They stand in order, since those inside a message go when it is told.
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

    /// The bytes of several runs as one.
    pub(super) fn joined(&self, runs: &[Range<u64>]) -> Vec<u8> {
        let parts = runs.iter().filter_map(|run| self.bytes(run));
        parts.flatten().copied().collect()
    }

    pub(super) fn edit(&mut self, at: Range<u64>, does: Does) {
        self.edits.push(Edit { at, does });
    }

    /// Whether what went out last was a part of a body in chunks.
    pub(super) fn in_chunks(&self) -> bool {
        let begins = |edit: &Edit| matches!(edit.does, Does::Chunks);
        self.chunks.is_some() || self.edits.iter().any(begins)
    }

    /// The numbers of one fault.
    pub(super) fn rng(
        &mut self,
        fault: usize,
        seed: u64,
        conn: u32,
        direction: Direction,
    ) -> &mut Rng {
        self.rngs.entry(fault).or_insert_with(|| {
            let way = u64::from(direction == Direction::ToClient);
            let which = (fault as u64) << 33 | u64::from(conn) << 1 | way;
            // Spread, since neighbouring seeds give numbers that begin alike.
            let which = which.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            Rng::with_seed(seed ^ which)
        })
    }

    /// Frames that end up to `begun` are complete, and what stands between them is nobody's: all that goes out.
    pub(super) fn settle(&mut self, begun: u64, taken: u64) {
        let upto = if self.inside.len() > INSIDE {
            taken
        } else {
            begun
        };
        self.flush(upto.min(self.end()));
    }

    /// All that is held goes out.
    pub(super) fn flush_all(&mut self) {
        self.flush(self.end());
    }

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
        for Edit { at: run, does } in now {
            if run.start > at {
                self.pass(part(at, run.start), true);
            }
            let untouched = run.start >= at;
            at = at.max(run.start);
            match does {
                Does::Put(bytes) => {
                    if untouched {
                        self.put(&bytes);
                    }
                    self.pass(part(at, run.end), false);
                    at = at.max(run.end);
                }
                Does::Wait(ns) => self.out.push(Out::Wait(ns)),
                Does::Told(told) => self.out.push(Out::Told(told)),
                Does::Chunks => self.chunks = Some(Source::CHUNKED),
                Does::Chunk(bytes) => {
                    self.late.push(bytes);
                    self.due();
                }
                Does::End(end) => {
                    self.out.push(match end {
                        End::Close => Out::Close,
                        End::Reset => Out::Reset,
                        End::Stall => Out::Stall,
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
        self.held.done((upto - base) as usize);
        self.start = upto;
    }

    fn put(&mut self, bytes: &[u8]) {
        match self.out.last_mut() {
            _ if bytes.is_empty() => {}
            Some(Out::Bytes(before)) => before.extend_from_slice(bytes),
            _ => self.out.push(Out::Bytes(bytes.to_vec())),
        }
    }

    /// Bytes of the stream go by, and out where they are to; where they stand in a body of chunks is followed.
    fn pass(&mut self, bytes: &[u8], out: bool) {
        let mut rest = bytes;
        while let Some(source) = &mut self.chunks {
            let n = match source.next(rest) {
                Bit::Framing(n) => n,
                Bit::Data(n) => {
                    source.took(n);
                    n
                }
                Bit::More if rest.is_empty() => break,
                Bit::More | Bit::End | Bit::Bad(_) => {
                    self.chunks = None;
                    break;
                }
            };
            let (bit, after) = rest.split_at_checked(n).unwrap_or((rest, &[]));
            if out {
                self.put(bit);
            }
            rest = after;
            self.due();
        }
        if out {
            self.put(rest);
        }
    }

    /// What waits for a chunk to begin goes out where one can.
    fn due(&mut self) {
        if !self.chunks.is_some_and(|source| source.is_between()) {
            return;
        }
        for chunk in std::mem::take(&mut self.late) {
            let head = format!("{:x}\r\n", chunk.len());
            self.put(&[head.as_bytes(), &chunk, b"\r\n"].concat());
        }
    }
}

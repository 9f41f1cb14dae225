//! The times of the chunks whose bytes are not emitted yet. The time of a frame is the latest time of the chunks that
//! hold its bytes, whenever it is emitted; the chunks of a capture can be out of order.

/// The maximum number of chunks that are told apart.
const MAX_CHUNKS: usize = 1 << 12;
/// The capacity that is kept when no bytes are pending.
const KEPT: usize = 16;

/// The end of a chunk in the stream, and its time. It starts at the end of the chunk before.
struct ChunkEnd {
    end: u64,
    time: Option<i64>,
}

/// Earlier chunks of a stream, and the current one.
#[derive(Default)]
pub(super) struct ChunkTimes {
    earlier: Vec<ChunkEnd>,
    /// The stream offset and the time of the current chunk.
    start: u64,
    time: Option<i64>,
}

impl ChunkTimes {
    /// Returns `true` if no earlier chunk matters.
    pub(super) fn is_empty(&self) -> bool {
        self.earlier.is_empty()
    }

    /// Starts a chunk at a stream offset.
    pub(super) fn begin(&mut self, start: u64, time: Option<i64>) {
        (self.start, self.time) = (start, time);
    }

    /// Ends the current chunk. The bytes from `pending` up to `end` are not emitted yet.
    pub(super) fn finish(&mut self, pending: u64, end: u64) {
        if pending >= end {
            self.earlier.clear();
            self.earlier.shrink_to(KEPT);
            return;
        }
        let gone = self.earlier.partition_point(|chunk| chunk.end <= pending);
        self.earlier.drain(..gone);
        if self.earlier.last().is_some_and(|last| last.end >= end) {
            return;
        }
        let is_full = self.earlier.len() >= MAX_CHUNKS;
        match self.earlier.last_mut() {
            Some(last) if last.time == self.time || is_full => {
                last.end = end;
                last.time = last.time.max(self.time);
            }
            _ => self.earlier.push(ChunkEnd {
                end,
                time: self.time,
            }),
        }
    }

    /// Marks the current chunk as the end of the stream: it has no bytes, and is part of a frame that ends there.
    pub(super) fn end_stream(&mut self) {
        self.start = self.start.saturating_sub(1);
    }

    /// Returns the latest time of the bytes from a frame's offset up to `end`; of the byte before them if there are none.
    pub(super) fn of(&self, offset: u64, end: u64) -> Option<i64> {
        if self.earlier.is_empty() {
            return self.time;
        }
        let first = offset.min(end.saturating_sub(1));
        let from = self.earlier.partition_point(|chunk| chunk.end <= first);
        let mut latest = (end > self.start).then_some(self.time).flatten();
        for chunk in self.earlier.get(from..).unwrap_or_default() {
            latest = latest.max(chunk.time);
            if chunk.end >= end {
                break;
            }
        }
        latest
    }
}

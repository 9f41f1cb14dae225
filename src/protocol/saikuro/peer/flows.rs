//! Streams and channels: the next item number, the sides that have closed, and the items that wait for the end of a
//! pause.

use super::success;
use crate::error::{Refusal, Result};
use crate::protocol::make::Object;
use crate::protocol::peer::{MAX_ENTRIES, RecentEntries};

/// The largest number of items of a stream that wait for the end of a pause.
const HELD: usize = 1 << 10;
/// The number of characters of an id that are stored.
const LONGEST: usize = 1 << 8;

/// A stream or channel.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // independent facts
pub(super) struct PeerStream {
    /// The number of the next item of this side.
    seq: u64,
    /// It is a channel: both sides may send items.
    channel: bool,
    /// This side opened it.
    is_opener: bool,
    closed_here: bool,
    closed_by_peer: bool,
    paused: bool,
    held: Vec<String>,
}

/// The facts that a close needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    seq: u64,
    is_opener: bool,
}

/// Streams and channels by connection and id.
#[derive(Debug)]
pub(super) struct Flows {
    all: RecentEntries<(u32, String), PeerStream>,
}

impl Default for Flows {
    fn default() -> Self {
        Self {
            all: RecentEntries::with_capacity(MAX_ENTRIES),
        }
    }
}

impl Flows {
    pub(super) fn open(&mut self, conn: u32, name: &str, channel: bool, is_opener: bool) {
        let flow = PeerStream {
            channel,
            is_opener,
            ..PeerStream::default()
        };
        self.all.insert(key(conn, name), flow);
    }

    fn get(&mut self, conn: u32, name: &str) -> Option<&mut PeerStream> {
        self.all.get_mut(&key(conn, name))
    }

    /// Removes a stream or channel that has ended.
    pub(super) fn remove(&mut self, conn: u32, name: &str) {
        self.all.remove(&key(conn, name));
    }

    /// Removes all streams and channels of a connection.
    pub(super) fn remove_connection(&mut self, conn: u32) {
        self.all.retain(|key, _| key.0 != conn);
    }

    pub(super) fn is_channel(&mut self, conn: u32, name: &str) -> bool {
        self.get(conn, name).is_some_and(|flow| flow.channel)
    }

    /// Returns the number of the next item.
    pub(super) fn next(&mut self, conn: u32, name: &str) -> u64 {
        let flow = self.all.entry(key(conn, name));
        flow.seq += 1;
        flow.seq - 1
    }

    /// Returns the message if it can be sent now; holds it back during a pause.
    pub(super) fn send_or_hold(
        &mut self,
        conn: u32,
        name: &str,
        message: String,
    ) -> Result<Option<String>> {
        let flow = self.all.entry(key(conn, name));
        if !flow.paused {
            return Ok(Some(message));
        }
        if flow.held.len() >= HELD {
            let got = format!("a pause in which {HELD} items wait already");
            return Err(Refusal::new("reply", "resume of the other side", got));
        }
        flow.held.push(message);
        Ok(None)
    }

    pub(super) fn pause(&mut self, conn: u32, name: &str) {
        if let Some(flow) = self.get(conn, name) {
            flow.paused = true;
        }
    }

    /// Ends a pause, and returns the messages that waited.
    pub(super) fn resume(&mut self, conn: u32, name: &str) -> Vec<String> {
        let Some(flow) = self.get(conn, name) else {
            return Vec::new();
        };
        flow.paused = false;
        std::mem::take(&mut flow.held)
    }

    /// Records a sent item; a script may number its items itself.
    pub(super) fn record_item(&mut self, conn: u32, name: &str, seq: Option<i128>) {
        let seq = seq.and_then(|seq| u64::try_from(seq).ok());
        if let Some((flow, seq)) = self.get(conn, name).zip(seq) {
            flow.seq = flow.seq.max(seq.saturating_add(1));
        }
    }

    pub(super) fn closed_here(&mut self, conn: u32, name: &str) {
        let Some(flow) = self.get(conn, name) else {
            return;
        };
        flow.closed_here = true;
        if flow.closed_by_peer || !flow.channel {
            self.remove(conn, name);
        }
    }

    /// Handles the close of the other side. Returns the facts for the close of this side, if it has not closed yet.
    pub(super) fn closed_by_peer(&mut self, conn: u32, name: &str) -> Option<Closing> {
        let flow = self.get(conn, name)?;
        flow.closed_by_peer = true;
        let (seq, is_opener) = (flow.seq, flow.is_opener);
        let is_due = flow.channel && !flow.closed_here;
        if !is_due {
            self.remove(conn, name);
        }
        is_due.then_some(Closing { seq, is_opener })
    }
}

/// Ids have any length; the stored part is bounded.
fn key(conn: u32, name: &str) -> (u32, String) {
    (conn, name.chars().take(LONGEST).collect())
}

/// Builds the message that closes a channel. MUST (Channel Close): both sides send one.
pub(super) fn close(id: &str, Closing { seq, is_opener }: Closing, document: bool) -> String {
    if document {
        let close = Object::default().json("id", id);
        return close.json("close", "true").finish();
    }
    if is_opener {
        // The opener continues with envelopes without a target.
        let envelope = Object::default().json("version", super::VERSION);
        let envelope = envelope.text("type", "channel").json("id", id);
        let envelope = envelope.text("target", "").json("args", "[]");
        return envelope.text("stream_control", "end").finish();
    }
    end(id, seq)
}

/// Builds the end of a stream, as real peers write it; it has a number like an item.
pub(super) fn end(id: &str, seq: u64) -> String {
    let end = success(id).json("seq", &seq.to_string());
    end.text("stream_control", "end").finish()
}

//! Streams and channels: which number the next item has, who has closed, and what waits for the end of a pause.

use super::yes;
use crate::error::Refusal;
use crate::protocol::make::Object;
use crate::protocol::peer::{MOST, Recent};

/// Most items that wait for the end of a pause, of one stream.
const HELD: usize = 1 << 10;
/// Characters of an id that are kept.
const LONGEST: usize = 1 << 8;

/// A stream or channel.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a thing of its own
pub(super) struct Flow {
    /// The number of the next item that this side says.
    seq: u64,
    /// It is a channel, and either side may speak.
    channel: bool,
    /// This side opened it.
    ours: bool,
    closed_by_us: bool,
    closed_by_them: bool,
    paused: bool,
    held: Vec<String>,
}

/// What a close needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    seq: u64,
    ours: bool,
}

/// Streams and channels by connection and id.
#[derive(Debug)]
pub(super) struct Flows {
    all: Recent<(u32, String), Flow>,
}

impl Default for Flows {
    fn default() -> Self {
        Self {
            all: Recent::with_room(MOST),
        }
    }
}

impl Flows {
    pub(super) fn open(&mut self, conn: u32, name: &str, channel: bool, ours: bool) {
        let flow = Flow {
            channel,
            ours,
            ..Flow::default()
        };
        self.all.put(key(conn, name), flow);
    }

    fn get(&mut self, conn: u32, name: &str) -> Option<&mut Flow> {
        self.all.get_mut(&key(conn, name))
    }

    /// Nothing more belongs to it.
    pub(super) fn over(&mut self, conn: u32, name: &str) {
        self.all.take(&key(conn, name));
    }

    /// A connection is no more.
    pub(super) fn leave(&mut self, conn: u32) {
        self.all.retain(|key, _| key.0 != conn);
    }

    pub(super) fn is_channel(&mut self, conn: u32, name: &str) -> bool {
        self.get(conn, name).is_some_and(|flow| flow.channel)
    }

    /// The number of the next thing that is said in it.
    pub(super) fn next(&mut self, conn: u32, name: &str) -> u64 {
        let flow = self.all.entry(key(conn, name));
        flow.seq += 1;
        flow.seq - 1
    }

    /// What can be said now; while it is paused nothing can, and the message waits.
    pub(super) fn or_hold(
        &mut self,
        conn: u32,
        name: &str,
        message: String,
    ) -> Result<Option<String>, Refusal> {
        let flow = self.all.entry(key(conn, name));
        if !flow.paused {
            return Ok(Some(message));
        }
        if flow.held.len() >= HELD {
            let got = format!("a pause in which {HELD} items wait already");
            return Err(Refusal::new("phrase", "resume of the other side", got));
        }
        flow.held.push(message);
        Ok(None)
    }

    pub(super) fn pause(&mut self, conn: u32, name: &str) {
        if let Some(flow) = self.get(conn, name) {
            flow.paused = true;
        }
    }

    /// What waited.
    pub(super) fn resume(&mut self, conn: u32, name: &str) -> Vec<String> {
        let Some(flow) = self.get(conn, name) else {
            return Vec::new();
        };
        flow.paused = false;
        std::mem::take(&mut flow.held)
    }

    /// An item was said, perhaps by somebody who numbers on his own.
    pub(super) fn said_item(&mut self, conn: u32, name: &str, seq: Option<i128>) {
        let seq = seq.and_then(|seq| u64::try_from(seq).ok());
        if let Some((flow, seq)) = self.get(conn, name).zip(seq) {
            flow.seq = flow.seq.max(seq.saturating_add(1));
        }
    }

    pub(super) fn closed_by_us(&mut self, conn: u32, name: &str) {
        let Some(flow) = self.get(conn, name) else {
            return;
        };
        flow.closed_by_us = true;
        if flow.closed_by_them || !flow.channel {
            self.over(conn, name);
        }
    }

    /// The other side will say no more in it: how this one closes it, too, if it has not.
    pub(super) fn closed_by_them(&mut self, conn: u32, name: &str) -> Option<Closing> {
        let flow = self.get(conn, name)?;
        flow.closed_by_them = true;
        let (seq, ours) = (flow.seq, flow.ours);
        let is_due = flow.channel && !flow.closed_by_us;
        if !is_due {
            self.over(conn, name);
        }
        is_due.then_some(Closing { seq, ours })
    }
}

/// Ids are of any length; what is kept of them is not.
fn key(conn: u32, name: &str) -> (u32, String) {
    (conn, name.chars().take(LONGEST).collect())
}

/// The message that closes a channel. MUST (Channel Close): both sides send one.
pub(super) fn close(id: &str, Closing { seq, ours }: Closing, document: bool) -> String {
    if document {
        let close = Object::default().json("id", id);
        return close.json("close", "true").finish();
    }
    if ours {
        // Who opened it goes on in envelopes without a target.
        let envelope = Object::default().json("version", super::VERSION);
        let envelope = envelope.text("type", "channel").json("id", id);
        let envelope = envelope.text("target", "").json("args", "[]");
        return envelope.text("stream_control", "end").finish();
    }
    end(id, seq)
}

/// The end of a stream, as real peers write it; it has a number like an item.
pub(super) fn end(id: &str, seq: u64) -> String {
    let end = yes(id).json("seq", &seq.to_string());
    end.text("stream_control", "end").finish()
}

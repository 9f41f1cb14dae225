//! Sessions of a server. They outlive their connections, with their open requests and recent frames.

use std::collections::{BTreeMap, VecDeque};

/// The largest number of sessions.
pub(super) const SESSIONS: usize = 1 << 8;
/// The number of stored frames of each session. MUST (After disconnect): the last 64.
const FRAMES: usize = 64;
/// The largest size of the stored frames, in bytes.
const BYTES: usize = 1 << 20;
/// The largest number of open calls and subscriptions of a session, regardless of the window.
const OPEN: usize = 1 << 10;
/// The number of open requests that is allowed if the server has not set a window.
pub(super) const WINDOW: u64 = 64;

/// An open request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OpenSeq {
    /// A request that waits for an answer; `streams` is set if the answer is a stream.
    Call { streams: bool },
    /// A subscription to a topic.
    Topic(String),
}

/// A session.
#[derive(Debug)]
pub(super) struct PeerSession {
    /// The current connection.
    pub(super) conn: Option<u32>,
    /// The version that the client uses.
    pub(super) v: u8,
    /// The time until which the session is stored without a connection, in nanoseconds since 1970.
    pub(super) until: i64,
    pub(super) granted: Vec<String>,
    pub(super) window: u64,
    open: BTreeMap<i128, OpenSeq>,
    frames: VecDeque<(i128, String)>,
    bytes: usize,
    /// Frames that are being sent again, and are not stored twice.
    replayed: VecDeque<String>,
}

impl Default for PeerSession {
    fn default() -> Self {
        Self {
            conn: None,
            v: 1,
            until: i64::MAX,
            granted: Vec::new(),
            window: WINDOW,
            open: BTreeMap::new(),
            frames: VecDeque::new(),
            bytes: 0,
            replayed: VecDeque::new(),
        }
    }
}

impl PeerSession {
    pub(super) fn of(conn: u32) -> Self {
        Self {
            conn: Some(conn),
            ..Self::default()
        }
    }

    pub(super) fn open(&mut self, seq: i128, what: OpenSeq) {
        if !self.is_full() {
            self.open.insert(seq, what);
        }
    }

    /// Returns true if there is no space for another request.
    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= OPEN
    }

    pub(super) fn opened(&self, seq: i128) -> Option<&OpenSeq> {
        self.open.get(&seq)
    }

    pub(super) fn close(&mut self, seq: i128) -> Option<OpenSeq> {
        self.open.remove(&seq)
    }

    /// Marks a call as answered in parts.
    pub(super) fn streams(&mut self, seq: i128) {
        if let Some(OpenSeq::Call { streams }) = self.open.get_mut(&seq) {
            *streams = true;
        }
    }

    /// Removes a call after its last answer; a subscription stays open.
    pub(super) fn answered(&mut self, seq: i128) {
        if matches!(self.open.get(&seq), Some(OpenSeq::Call { .. })) {
            self.open.remove(&seq);
        }
    }

    /// Returns the number of requests without an answer.
    pub(super) fn outstanding(&self) -> u64 {
        let calls = self
            .open
            .values()
            .filter(|open| matches!(open, OpenSeq::Call { .. }));
        calls.count() as u64
    }

    /// Returns the seqs of the subscriptions to a topic.
    pub(super) fn subscribers(&self, topic: &str) -> Vec<i128> {
        let to = |open: &OpenSeq| matches!(open, OpenSeq::Topic(t) if t == topic);
        let all = self.open.iter().filter(|(_, open)| to(open));
        all.map(|(seq, _)| *seq).collect()
    }

    /// Stores a frame that was sent with a seq.
    pub(super) fn store(&mut self, seq: i128, frame: String) {
        if self.replayed.front() == Some(&frame) {
            self.replayed.pop_front();
            return;
        }
        self.bytes += frame.len();
        self.frames.push_back((seq, frame));
        while self.frames.len() > FRAMES || self.bytes > BYTES {
            let Some((_, gone)) = self.frames.pop_front() else {
                break;
            };
            self.bytes = self.bytes.saturating_sub(gone.len());
        }
    }

    /// Resumes the session on a connection. Returns the frames that the client missed, and the open streams, which end.
    pub(super) fn resume(&mut self, conn: u32, last: i128) -> (Vec<String>, Vec<i128>) {
        self.conn = Some(conn);
        self.until = i64::MAX;
        let streams = |open: &OpenSeq| matches!(open, OpenSeq::Call { streams: true });
        let dead = self.open.iter().filter(|(_, open)| streams(open));
        let dead: Vec<i128> = dead.map(|(seq, _)| *seq).collect();
        self.open.retain(|_, open| !streams(open));
        let missed = self.frames.iter().filter(|(seq, _)| *seq > last);
        let missed: Vec<String> = missed.map(|(_, frame)| frame.clone()).collect();
        self.replayed = missed.iter().cloned().collect();
        (missed, dead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_frames_are_stored_once() {
        let mut session = PeerSession::of(1);
        for seq in 1..=70 {
            session.store(seq, format!("frame {seq}"));
        }
        let (missed, _) = session.resume(2, 67);
        assert_eq!(missed, ["frame 68", "frame 69", "frame 70"]);
        for (seq, frame) in (68..).zip(missed) {
            session.store(seq, frame);
        }
        session.store(70, "frame 70".into());
        let (missed, _) = session.resume(3, 0);
        assert_eq!(missed.len(), FRAMES);
        assert_eq!(missed.first().map(String::as_str), Some("frame 8"));
        assert_eq!(missed[62..], ["frame 70", "frame 70"]);
    }

    #[test]
    fn stored_bytes_are_bounded() {
        let mut session = PeerSession::of(1);
        session.store(1, "x".repeat(BYTES));
        session.store(2, "y".into());
        assert_eq!((session.frames.len(), session.bytes), (1, 1));
        session.store(3, "z".repeat(BYTES + 1));
        assert_eq!((session.frames.len(), session.bytes), (0, 0));
    }

    #[test]
    fn streams_end_with_their_connection_and_subscriptions_do_not() {
        let mut session = PeerSession::of(1);
        session.open(1, OpenSeq::Call { streams: false });
        session.open(2, OpenSeq::Call { streams: false });
        session.streams(2);
        session.open(3, OpenSeq::Topic("t".into()));
        assert_eq!(
            (session.outstanding(), session.subscribers("t")),
            (2, vec![3])
        );
        let (_, dead) = session.resume(2, 0);
        assert_eq!((dead, session.outstanding()), (vec![2], 1));
        session.answered(3);
        assert!(session.opened(3).is_some());
    }

    #[test]
    fn open_requests_are_bounded() {
        let mut session = PeerSession::of(1);
        for seq in 0..=OPEN as i128 {
            session.open(seq, OpenSeq::Topic("t".into()));
        }
        assert!(session.is_full());
        assert_eq!(session.subscribers("t").len(), OPEN);
    }
}

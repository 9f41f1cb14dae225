//! Sessions of a server: they outlive their connections, with what is open in them and what was said last.

use crate::protocol::peer::Recent;
use std::collections::{BTreeMap, VecDeque};

/// Most sessions that are kept.
const SESSIONS: usize = 1 << 8;
/// Frames that are kept of each. MUST (After disconnect): the last 64.
const FRAMES: usize = 64;
/// Bytes of them that are kept at most.
const BYTES: usize = 1 << 20;
/// Most calls and subscriptions of each, whatever the window says.
const OPEN: usize = 1 << 10;
/// Requests that may be open where the server has not said otherwise.
pub(super) const WINDOW: u64 = 64;

/// What is open under a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// A request that is to be answered; whether it is answered with a stream.
    Call { streams: bool },
    /// A subscription, to a topic.
    Topic(String),
}

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    /// The connection that it has now.
    pub(super) conn: Option<u32>,
    /// The version that its client speaks.
    pub(super) v: u8,
    /// Until when it is kept without a connection, in nanoseconds since 1970.
    pub(super) until: i64,
    pub(super) granted: Vec<String>,
    pub(super) window: u64,
    open: BTreeMap<i128, Open>,
    frames: VecDeque<(i128, String)>,
    bytes: usize,
    /// Frames that are being said once more, and not to be kept twice.
    again: VecDeque<String>,
}

impl Default for Session {
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
            again: VecDeque::new(),
        }
    }
}

impl Session {
    pub(super) fn of(conn: u32) -> Self {
        Self {
            conn: Some(conn),
            ..Self::default()
        }
    }

    pub(super) fn open(&mut self, seq: i128, what: Open) {
        if !self.is_full() {
            self.open.insert(seq, what);
        }
    }

    /// Whether there is no room for more.
    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= OPEN
    }

    pub(super) fn opened(&self, seq: i128) -> Option<&Open> {
        self.open.get(&seq)
    }

    pub(super) fn close(&mut self, seq: i128) -> Option<Open> {
        self.open.remove(&seq)
    }

    /// A call is answered in parts.
    pub(super) fn streams(&mut self, seq: i128) {
        if let Some(Open::Call { streams }) = self.open.get_mut(&seq) {
            *streams = true;
        }
    }

    /// A call is answered for good; a subscription goes on.
    pub(super) fn answered(&mut self, seq: i128) {
        if matches!(self.open.get(&seq), Some(Open::Call { .. })) {
            self.open.remove(&seq);
        }
    }

    /// Requests that are not answered.
    pub(super) fn outstanding(&self) -> u64 {
        let calls = self
            .open
            .values()
            .filter(|open| matches!(open, Open::Call { .. }));
        calls.count() as u64
    }

    /// Numbers of the subscriptions to a topic.
    pub(super) fn subscribers(&self, topic: &str) -> Vec<i128> {
        let to = |open: &Open| matches!(open, Open::Topic(t) if t == topic);
        let all = self.open.iter().filter(|(_, open)| to(open));
        all.map(|(seq, _)| *seq).collect()
    }

    /// Keeps what was said under a number.
    pub(super) fn keep(&mut self, seq: i128, frame: String) {
        if self.again.front() == Some(&frame) {
            self.again.pop_front();
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

    /// A connection takes it up again: what its client has missed. Streams that were open are no more.
    pub(super) fn resume(&mut self, conn: u32, last: i128) -> (Vec<String>, Vec<i128>) {
        self.conn = Some(conn);
        self.until = i64::MAX;
        let streams = |open: &Open| matches!(open, Open::Call { streams: true });
        let dead = self.open.iter().filter(|(_, open)| streams(open));
        let dead: Vec<i128> = dead.map(|(seq, _)| *seq).collect();
        self.open.retain(|_, open| !streams(open));
        let missed = self.frames.iter().filter(|(seq, _)| *seq > last);
        let missed: Vec<String> = missed.map(|(_, frame)| frame.clone()).collect();
        self.again = missed.iter().cloned().collect();
        (missed, dead)
    }
}

/// All of them, by id.
#[derive(Debug)]
pub(super) struct Sessions(Recent<String, Session>);

impl Default for Sessions {
    fn default() -> Self {
        Self(Recent::with_room(SESSIONS))
    }
}

impl Sessions {
    pub(super) fn put(&mut self, id: &str, session: Session) {
        self.0.put(id.to_owned(), session);
    }

    pub(super) fn get(&mut self, id: &str) -> Option<&mut Session> {
        self.0.get_mut(&id.to_owned())
    }

    /// The session of an id, made for a connection where there is none.
    pub(super) fn entry(&mut self, id: &str, conn: u32) -> &mut Session {
        if self.get(id).is_none() {
            self.put(id, Session::of(conn));
        }
        self.0.entry(id.to_owned())
    }

    /// The session goes by another name.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        if let Some(session) = self.0.take(&from.to_owned()) {
            self.put(to, session);
        }
    }

    pub(super) fn end(&mut self, id: &str) {
        self.0.take(&id.to_owned());
    }

    /// Takes the session that is to be resumed, as the newest; `None` where there is none any more.
    pub(super) fn renew(&mut self, id: &str, now: i64) -> Option<&mut Session> {
        let session = self.0.take(&id.to_owned())?;
        if session.until < now {
            return None;
        }
        self.0.put(id.to_owned(), session);
        self.get(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_frames_are_kept_once() {
        let mut session = Session::of(1);
        for seq in 1..=70 {
            session.keep(seq, format!("frame {seq}"));
        }
        let (missed, _) = session.resume(2, 67);
        assert_eq!(missed, ["frame 68", "frame 69", "frame 70"]);
        for (seq, frame) in (68..).zip(missed) {
            session.keep(seq, frame);
        }
        session.keep(70, "frame 70".into());
        let (missed, _) = session.resume(3, 0);
        assert_eq!(missed.len(), FRAMES);
        assert_eq!(missed.first().map(String::as_str), Some("frame 8"));
        assert_eq!(missed[62..], ["frame 70", "frame 70"]);
    }

    #[test]
    fn bytes_are_bounded() {
        let mut session = Session::of(1);
        session.keep(1, "x".repeat(BYTES));
        session.keep(2, "y".into());
        assert_eq!((session.frames.len(), session.bytes), (1, 1));
        session.keep(3, "z".repeat(BYTES + 1));
        assert_eq!((session.frames.len(), session.bytes), (0, 0));
    }

    #[test]
    fn streams_end_with_their_connection_and_subscriptions_do_not() {
        let mut session = Session::of(1);
        session.open(1, Open::Call { streams: false });
        session.open(2, Open::Call { streams: false });
        session.streams(2);
        session.open(3, Open::Topic("t".into()));
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
    fn no_more_is_open_than_there_is_room_for() {
        let mut session = Session::of(1);
        for seq in 0..=OPEN as i128 {
            session.open(seq, Open::Topic("t".into()));
        }
        assert!(session.is_full());
        assert_eq!(session.subscribers("t").len(), OPEN);
    }
}

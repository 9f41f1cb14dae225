//! The state of a connection, a session and a request.

use crate::protocol::exchange::OpenRequest;
use crate::protocol::session::Place;
use crate::protocol::session::heartbeat::Heartbeats;
use crate::protocol::session::memory::{Blank, ConnId, Lazy, Reported};
use std::collections::BTreeSet;
use std::collections::{HashSet, VecDeque};

/// The number of open requests that is allowed until WIN changes it.
pub(super) const WINDOW: i128 = 64;
/// The number of frames that a server stores for a resumption.
pub(super) const REPLAYED: usize = 64;
/// The number of closed requests that are stored.
pub(super) const ENDED: usize = 1 << 12;
/// The number of cancelled calls of a session whose answer may still come.
const CANCELLED: usize = 64;

/// The first message of the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Opening {
    #[default]
    Nothing,
    Hey,
    Resume,
    /// Another kind.
    Without,
    /// It was missed, or could not be decoded.
    Unclear,
}

/// The encoding that the upgrade selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Agreed {
    /// No upgrade was seen.
    #[default]
    Unknown,
    Json,
    MessagePack,
}

/// A resumption that HEY has not confirmed yet.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// The last seq that the client reports as received.
    pub(super) last: Option<i128>,
    pub(super) frames: u64,
    /// Seqs whose last answer was replayed.
    pub(super) finals: HashSet<i128>,
    /// Seqs of earlier frames of the server that the client does not have.
    pub(super) due: Vec<i128>,
    /// The session name in the RSM.
    pub(super) name: Option<Box<str>>,
}

/// A greeting that has no answer yet.
#[derive(Debug, Default)]
pub(super) struct Login {
    /// The HEY or RSM that waits for an answer.
    pub(super) hello: Option<OpenRequest>,
    /// It was not answered, and will not be.
    pub(super) hello_unanswered: bool,
    pub(super) replay: Option<Replay>,
    pub(super) version: Option<i128>,
    /// The scope of the token in HEY.
    pub(super) scope: Option<Vec<String>>,
}

impl Blank for Login {
    const BLANK: &'static Self = &Self {
        hello: None,
        hello_unanswered: false,
        replay: None,
        version: None,
        scope: None,
    };
}

/// The signs of a client that is alive, on a connection whose HEY was answered.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    pub(super) heartbeats: Heartbeats,
    /// The time and index of the client's last heartbeat or greeting.
    pub(super) beat_at: Option<(i64, u64)>,
    /// The client's last message.
    pub(super) client_last: Option<Place>,
}

impl Blank for Liveness {
    const BLANK: &'static Self = &Self {
        heartbeats: Heartbeats::NONE,
        beat_at: None,
        client_last: None,
    };
}

/// What few connections have.
#[derive(Debug, Default)]
pub(super) struct RareFacts {
    /// The ERR that refused the greeting.
    pub(super) refused: Option<u64>,
    /// BYE of the client, and of the server.
    pub(super) bye: [Option<u64>; 2],
    /// The seq of a message that the server does not know.
    pub(super) odd: Option<i128>,
    /// The codes that are not in the document, and were reported.
    pub(super) reported_codes: BTreeSet<&'static str>,
}

impl Blank for RareFacts {
    const BLANK: &'static Self = &Self {
        refused: None,
        bye: [None; 2],
        odd: None,
        reported_codes: BTreeSet::new(),
    };
}

/// A connection.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // independent facts
pub(super) struct SaelConnection {
    pub(super) session: u32,
    pub(super) opening: Opening,
    /// The start of the connection was seen: no earlier message was missed.
    pub(super) has_start: bool,
    /// The server has sent a message.
    pub(super) answered: bool,
    pub(super) login: Lazy<Login>,
    /// HEY was answered.
    pub(super) hey_answered: bool,
    /// The latest message of the client that the server has answered: it has read all earlier ones.
    pub(super) read_up_to: Option<u64>,
    /// A rule about the login was broken: a refusal is then not reported.
    pub(super) suspect: bool,
    pub(super) client_left: bool,
    pub(super) server_left: bool,
    pub(super) agreed: Agreed,
    /// The client's last message was a heartbeat.
    pub(super) beat_last: bool,
    pub(super) alive: Lazy<Liveness>,
    pub(super) reported: Reported,
    pub(super) rare: Lazy<RareFacts>,
}

impl SaelConnection {
    /// Returns true if messages may have been missed.
    pub(super) fn may_have_gaps(&self) -> bool {
        match self.opening {
            Opening::Unclear => true,
            Opening::Nothing => !self.has_start,
            _ => false,
        }
    }

    pub(super) fn new(session: u32) -> Self {
        Self {
            session,
            ..Self::default()
        }
    }
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEnd {
    Answered,
    Unsubscribed,
    Cancelled,
}

/// A closed request.
#[derive(Clone, Debug)]
pub(super) struct EndedCall {
    pub(super) how: CallEnd,
    /// The index of the request.
    pub(super) request: u64,
    /// The message that ended it, and its time.
    pub(super) index: u64,
    pub(super) time: Option<i64>,
    /// A cancelled subscription: events that were on their way still answer it.
    pub(super) asked: Option<Box<OpenRequest>>,
}

/// What the greeting and later messages agree about a session.
#[derive(Debug, Default)]
pub(super) struct SessionTerms {
    /// The names that HEY gave it.
    pub(super) names: BTreeSet<Box<str>>,
    /// The agent, with the subject of its token if that is another one.
    pub(super) client: Option<Box<str>>,
    pub(super) window: Option<i128>,
    cancelled: VecDeque<i128>,
    pub(super) granted: Option<Vec<String>>,
    /// The client sent neither a token nor capabilities.
    pub(super) anonymous: bool,
    pub(super) max_cost: Option<f64>,
    pub(super) cost: f64,
}

impl Blank for SessionTerms {
    const BLANK: &'static Self = &Self {
        names: BTreeSet::new(),
        client: None,
        window: None,
        cancelled: VecDeque::new(),
        granted: None,
        anonymous: false,
        max_cost: None,
        cost: 0.0,
    };
}

/// A session, which outlives a connection.
#[derive(Debug, Default)]
pub(super) struct SessionState {
    /// The current connection.
    pub(super) conn: ConnId,
    pub(super) terms: Lazy<SessionTerms>,
    /// The highest seq of a request.
    pub(super) highest: Option<i128>,
    /// The highest seq of any message.
    pub(super) seen: Option<i128>,
    /// Seqs of the last frames of the server, 0 if a frame has none.
    pub(super) sent: VecDeque<i128>,
    /// Requests that count against the window.
    pub(super) open: usize,
    /// Subscriptions that were granted and not cancelled.
    pub(super) live: usize,
    pub(super) reported: Reported,
}

impl SessionState {
    /// Creates the session of a new connection.
    pub(super) fn of(conn: ConnId) -> Self {
        Self {
            conn,
            ..Self::default()
        }
    }

    /// Returns the largest number of open requests.
    pub(super) fn window(&self) -> i128 {
        self.terms.window.unwrap_or(WINDOW)
    }

    /// Returns the reason why a client may not send another request.
    pub(super) fn window_full(&self) -> Option<String> {
        let (open, window) = (self.open, self.window());
        (open as i128 >= window).then(|| format!("window full: {open} of {window} outstanding"))
    }

    /// Records a cancelled call. Returns the oldest one if there are too many.
    pub(super) fn cancel(&mut self, seq: i128) -> Option<i128> {
        let cancelled = &mut self.terms.cancelled;
        cancelled.push_back(seq);
        (cancelled.len() > CANCELLED)
            .then(|| cancelled.pop_front())
            .flatten()
    }

    /// Records the seq of a frame of the server, 0 if it has none.
    pub(super) fn send(&mut self, seq: i128) {
        if self.sent.len() >= REPLAYED {
            self.sent.pop_front();
        }
        self.sent.push_back(seq);
    }

    /// Records a seq.
    pub(super) fn record_seq(&mut self, seq: i128) {
        self.seen = self.seen.max(Some(seq));
    }
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SaelRequestKind {
    List,
    #[default]
    Call,
    Subscription,
}

/// The state of a request.
#[derive(Debug, Default)]
pub(super) struct SaelCall {
    pub(super) sort: SaelRequestKind,
    pub(super) conn: ConnId,
    /// A subscription that was granted.
    pub(super) live: bool,
    /// Cancelled, or only partly decoded: an answer is allowed, but not required.
    pub(super) released: bool,
    /// The client closed the connection before the answer could come.
    pub(super) dropped: bool,
    pub(super) cancelled: Option<(u64, Option<i64>)>,
    /// The `streaming` value of the tool in the list, if it is listed.
    pub(super) streaming: Option<bool>,
    pub(super) delta: Option<bool>,
    /// The number of items so far.
    pub(super) items: u64,
    pub(super) patches: Option<bool>,
    pub(super) trace: Option<Box<str>>,
    /// A capability that its tools require.
    pub(super) required: Option<Box<Required>>,
    /// The part of its input that the schema of the tool forbids.
    pub(super) first_mismatch: Option<String>,
    pub(super) reported: Reported,
}

/// A capability that a call needs.
#[derive(Clone, Debug)]
pub(super) struct Required {
    pub(super) capability: String,
    /// The document's rule certainly grants it.
    pub(super) granted: bool,
    /// Both rules certainly deny it.
    pub(super) lacking: bool,
}

impl SaelCall {
    /// Returns true if an answer is required.
    pub(super) fn needs_answer(&self) -> bool {
        !self.live && !self.released
    }
}

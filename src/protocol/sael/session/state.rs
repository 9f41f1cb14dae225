//! What is remembered of a connection, a session and a request.

use crate::protocol::correlation::Asked;
use crate::protocol::session::Place;
use crate::protocol::session::heartbeat::Heartbeats;
use crate::protocol::session::memory::{ConnId, Reported};
use std::collections::{HashSet, VecDeque};

/// Requests that may be open at a time until WIN says otherwise.
pub(super) const WINDOW: i128 = 64;
/// Frames that a server keeps for a client to come back.
pub(super) const KEPT: usize = 64;
/// Requests that are done and still known.
pub(super) const ENDED: usize = 1 << 12;
/// Cancelled calls of a session whose answer may still come.
const CANCELLED: usize = 64;

/// How the client began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Opening {
    #[default]
    Nothing,
    Hey,
    Resume,
    /// With another kind.
    Without,
    /// It was not seen, or not understood.
    Unclear,
}

/// What the upgrade settled on.
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
    /// What the client says it has.
    pub(super) last: Option<i128>,
    pub(super) frames: u64,
    /// Seqs whose last answer was replayed.
    pub(super) finals: HashSet<i128>,
    /// Seqs of frames that the server sent before, and that are due: those that the client does not have.
    pub(super) due: Vec<i128>,
    /// The name it was asked for by.
    pub(super) name: Option<Box<str>>,
}

/// A connection.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // facts that do not exclude each other
pub(super) struct Conn {
    pub(super) session: u32,
    pub(super) opening: Opening,
    /// It was seen to begin: what was not said in it was not said at all.
    pub(super) begun: bool,
    /// The server has said something.
    pub(super) answered: bool,
    /// HEY or RSM, while it waits.
    pub(super) hello: Option<Asked>,
    /// It was not answered, and will not be.
    pub(super) unheard: bool,
    /// HEY was answered.
    pub(super) greeted: bool,
    pub(super) replay: Option<Replay>,
    pub(super) version: Option<i128>,
    /// The scope of the token that HEY carried.
    pub(super) scope: Option<Vec<String>>,
    /// A rule about the login was broken: that it is refused then says nothing new.
    pub(super) suspect: bool,
    /// The ERR that refused it.
    pub(super) refused: Option<u64>,
    /// BYE of the client, and of the server.
    pub(super) bye: [Option<u64>; 2],
    pub(super) client_left: bool,
    pub(super) server_left: bool,
    /// The seq of a message that the server knows nothing of.
    pub(super) odd: Option<i128>,
    pub(super) agreed: Agreed,
    pub(super) heartbeats: Heartbeats,
    /// The client's last message was a heartbeat.
    pub(super) beat_last: bool,
    /// When the client's last heartbeat was, or its greeting, and which message that is.
    pub(super) beat_at: Option<(i64, u64)>,
    /// The client's last message.
    pub(super) client_last: Option<Place>,
    pub(super) reported: Reported,
}

impl Conn {
    /// Whether something may have been said that was not seen.
    pub(super) fn unclear(&self) -> bool {
        match self.opening {
            Opening::Unclear => true,
            Opening::Nothing => !self.begun,
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

/// How a request came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Answered,
    Unsubscribed,
    Cancelled,
}

/// A request that is done.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) how: How,
    /// The message that ended it, and when.
    pub(super) index: u64,
    pub(super) time: Option<i64>,
    /// A subscription that was taken back: its events that were under way still answer it.
    pub(super) asked: Option<Box<Asked>>,
}

/// A session: what outlives a connection.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The connection that has it now.
    pub(super) conn: ConnId,
    /// The names that HEY gave it.
    pub(super) names: HashSet<Box<str>>,
    /// The highest seq of a request.
    pub(super) highest: Option<i128>,
    /// The highest seq of anything.
    pub(super) seen: Option<i128>,
    pub(super) window: Option<i128>,
    /// Seqs of the last frames of the server, 0 where one has none.
    pub(super) sent: VecDeque<i128>,
    /// Requests that count against the window.
    pub(super) open: usize,
    /// Subscriptions that were granted and not taken back.
    pub(super) live: usize,
    cancelled: VecDeque<i128>,
    pub(super) granted: Option<Vec<String>>,
    /// No token and no capabilities were shown.
    pub(super) anonymous: bool,
    pub(super) most_cost: Option<f64>,
    pub(super) cost: f64,
    pub(super) reported: Reported,
}

impl State {
    /// That of a connection, in which nothing was said.
    pub(super) fn of(conn: ConnId) -> Self {
        Self {
            conn,
            ..Self::default()
        }
    }

    /// How many requests may be open.
    pub(super) fn window(&self) -> i128 {
        self.window.unwrap_or(WINDOW)
    }

    /// Why a client may not ask more.
    pub(super) fn full(&self) -> Option<String> {
        let (open, window) = (self.open, self.window());
        (open as i128 >= window).then(|| format!("window full: {open} of {window} outstanding"))
    }

    /// Notes a cancelled call, and gives back one that has waited long enough.
    pub(super) fn cancel(&mut self, seq: i128) -> Option<i128> {
        self.cancelled.push_back(seq);
        (self.cancelled.len() > CANCELLED)
            .then(|| self.cancelled.pop_front())
            .flatten()
    }

    /// Notes the seq of a frame of the server, 0 where it has none.
    pub(super) fn send(&mut self, seq: i128) {
        if self.sent.len() >= KEPT {
            self.sent.pop_front();
        }
        self.sent.push_back(seq);
    }

    /// Notes a seq.
    pub(super) fn see(&mut self, seq: i128) {
        self.seen = self.seen.max(Some(seq));
    }
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    List,
    #[default]
    Call,
    Subscription,
}

/// A request, beside where it is.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) sort: Sort,
    pub(super) conn: ConnId,
    /// A subscription that was granted.
    pub(super) live: bool,
    /// Cancelled, or never quite understood: an answer may come, none is owed.
    pub(super) released: bool,
    /// The client closed the connection before the answer could come.
    pub(super) dropped: bool,
    pub(super) cancelled: Option<(u64, Option<i64>)>,
    /// What the tool's listing says, where there was one.
    pub(super) streaming: Option<bool>,
    pub(super) delta: Option<bool>,
    /// Items so far, and whether they are deltas.
    pub(super) items: u64,
    pub(super) patches: Option<bool>,
    pub(super) trace: Option<Box<str>>,
    /// A capability that its tools require.
    pub(super) required: Option<Required>,
    /// What of its input the tool's schema forbids.
    pub(super) unfit: Option<String>,
    pub(super) reported: Reported,
}

/// A capability that a call needs, and whether it was granted.
#[derive(Clone, Debug)]
pub(super) struct Required {
    pub(super) capability: String,
    /// By the document's rule, for certain.
    pub(super) granted: bool,
    /// By neither rule, for certain.
    pub(super) lacking: bool,
}

impl Call {
    /// Whether an answer is owed.
    pub(super) fn owed(&self) -> bool {
        !self.live && !self.released
    }
}

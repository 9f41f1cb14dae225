//! The rules of a conversation: the passive part of a protocol.
//!
//! A [`Session`] receives every message and event of a conversation, with direction, connection and time as arguments.
//! It reports broken rules, and which request each answer belongs to. It touches no clock and no socket, so that files,
//! pipes and live proxies get the same findings.
//!
//! ```text
//!   Seen, ConnectionChange -> Session -> Report { findings, answers }      during the run
//!                                     -> Vec<Waiting>                      the peers that must send next
//! ```
//!
//! A session names the rules that are broken; [`Rule`] describes each.

mod current;
pub(super) mod heartbeat;
pub(crate) mod http;
pub(crate) mod memory;
mod operation;
pub(crate) mod stored;
pub(super) mod text;
mod waiting;

pub use super::exchange::OpenRequest;
use super::exchange::SharedRequestTexts;
pub(crate) use super::observed::{Place, Seen};
use super::peer::{Peer, PeerConfig, Silent};
pub(crate) use super::rule_names::{RuleId, RuleSet};
pub(crate) use super::rules::{Example, Need, Rule, Severity};
use super::{Direction, Message, Origin};
pub(crate) use current::Current;
pub use operation::{Link, OperationFacts, Owner};
use std::sync::Arc;
pub use waiting::Waiting;
pub(crate) use waiting::WaitingList;

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionChange {
    /// The connection opened.
    Opened,
    /// One direction ended, of the connection, or of one of its streams where the origin names one.
    Ended,
    /// The connection closed in order.
    Closed,
    /// The connection was reset.
    Reset,
    /// The spawned child exited.
    Exited,
    /// Bytes passed unrecorded: the next bytes may lack their start.
    Lost,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broken {
    /// The rule.
    pub rule: RuleId,
    /// The position of the bytes that break it.
    pub place: Place,
    /// One sentence: the actual value and the expected value. Empty if the rule is off.
    pub text: String,
    /// Another message that is involved.
    pub related: Option<u64>,
    /// The upper limit of the severity here, even if the rule is more severe.
    pub at_most: Severity,
}

/// The request that one message answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The index of the request.
    pub to: u64,
    /// Nanoseconds between the two, if both times are known.
    pub latency: Option<i64>,
    /// The kind of the request.
    pub kind: Arc<str>,
    /// The subject of the request.
    pub subject: Option<Arc<str>>,
    /// The name of the request within its subject.
    pub name: Option<Arc<str>>,
    /// No further message answers the request.
    pub last: bool,
    /// Its id is that of the request in another form. A client that compares ids as text does not match it.
    pub id_form_differs: bool,
}

/// Returns the name of a message within its subject: its own, or that of the request that it answers.
pub(crate) fn name_of<'a>(message: &'a Message<'_>, answer: Option<&'a Answer>) -> Option<&'a str> {
    let own = message.name.as_deref();
    own.or_else(|| answer?.name.as_deref())
}

/// A subscription that begins or ends. Until its end, messages of the peer follow its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionChange {
    /// The index of the request.
    pub request: u64,
    /// It begins, or is granted once more; otherwise it ends.
    pub begins: bool,
}

/// The results for one message or event. Reuse one report for a whole run.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The broken rules.
    pub broken: Vec<Broken>,
    /// The request that the current message answers.
    pub answer: Option<Answer>,
    /// The earlier message that the current one repeats, since its client resumes an event stream.
    pub(crate) repeats: Option<u64>,
    /// A number of the session over HTTP to which the current message belongs.
    pub(crate) session: Option<u64>,
    /// What the current message says about operations.
    pub operation: OperationFacts,
    /// The subscriptions that begin or end.
    pub subscriptions: Vec<SubscriptionChange>,
    /// The requests that get no answer, because their connection has ended.
    pub(crate) left: Vec<Waiting>,
    /// The requests that their side cancelled by closing their connection.
    pub(crate) abandoned: Vec<u64>,
    /// The rules that are off: their texts are not written.
    pub(crate) off: RuleSet,
    /// The input has ended: rules that are off are not added.
    pub(crate) is_at_end: bool,
    /// The rule that was added last is not in `broken`.
    pub(crate) is_skipped: bool,
    /// The texts of requests.
    pub(crate) texts: SharedRequestTexts,
}

/// Reports a broken rule: to whom, the rule, its place, another message that is involved or may be, and the text with the
/// actual value and the expected value. The text is written only if the rule is on.
///
/// ```text
///   broken!(seen, rule::SEQ_GAP, seen.at(node), first; "seq is {got}; it should be {next}");
/// ```
#[macro_export]
macro_rules! broken {
    ($to:expr, $rule:expr, $place:expr; $($text:tt)+) => {
        $to.add($rule, $place, None, &|| ::std::format!($($text)+))
    };
    ($to:expr, $rule:expr, $place:expr, $related:expr; $($text:tt)+) => {
        $to.add($rule, $place, Option::<u64>::from($related), &|| ::std::format!($($text)+))
    };
}
pub use crate::broken;

impl Report {
    /// Removes all results.
    pub fn clear(&mut self) {
        self.broken.clear();
        self.answer = None;
        self.repeats = None;
        self.session = None;
        self.operation = OperationFacts::default();
        self.subscriptions.clear();
        self.left.clear();
        self.abandoned.clear();
    }

    /// Adds a request that gets no answer, because its connection has ended: [`Session::waiting`] lists it no more.
    pub fn leave(&mut self, waiting: Waiting) {
        self.left.push(waiting);
    }

    /// Adds the begin or the end of a subscription, by the index of its request.
    pub fn subscription(&mut self, request: u64, begins: bool) {
        let change = SubscriptionChange { request, begins };
        self.subscriptions.push(change);
    }

    /// Adds a broken rule; see [`broken!`]. Few messages break a rule: `cold` keeps the code that writes the text apart from
    /// the code that every message runs.
    #[cold]
    pub fn add(
        &mut self,
        rule: RuleId,
        place: Place,
        related: Option<u64>,
        text: &dyn Fn() -> String,
    ) {
        let is_off = self.off.contains(rule);
        self.is_skipped = is_off && self.is_at_end;
        if self.is_skipped {
            return;
        }
        self.broken.push(Broken {
            rule,
            place,
            text: if is_off { String::new() } else { text() },
            related,
            at_most: Severity::Error,
        });
    }

    /// Limits the severity of the rule that was added last.
    pub fn at_most(&mut self, severity: Severity) {
        if let Some(last) = self.broken.last_mut().filter(|_| !self.is_skipped) {
            last.at_most = severity;
        }
    }

    /// Records that the current message answers a request. Store [`OpenRequest::of`] the request until then. `last`: no
    /// further message answers it.
    pub fn answers(&mut self, asked: &OpenRequest, seen: &Seen<'_>, last: bool) {
        let times = asked.origin().time.zip(seen.origin.time);
        let texts = asked.texts().clone();
        self.answer = Some(Answer {
            to: asked.index(),
            latency: times.map(|(from, to)| to.saturating_sub(from)),
            kind: texts.kind,
            subject: texts.subject,
            name: texts.name,
            last,
            id_form_differs: false,
        });
    }
}

/// Facts about a conversation that are not in its messages.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The address of the peer, from the head of the recording.
    pub connect: Option<String>,
    /// The command that spawned the peer, from the head of the recording.
    pub argv: Vec<String>,
    /// The secret that tokens are signed with.
    pub secret: Option<Vec<u8>>,
    /// The largest number of requests that are tracked at a time.
    pub max_open: usize,
    /// Messages are in the order in which they were sent, also between the two directions.
    pub order: bool,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            connect: None,
            argv: Vec::new(),
            secret: None,
            max_open: super::exchange::MAX_ENTRIES,
            order: true,
        }
    }
}

/// Tracks one conversation: all connections between the same two sides.
pub trait Session: Send {
    /// Handles a message. Messages come in the order in which they were sent.
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report);

    /// Handles an event of a connection, or of one of its directions.
    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        let _ = (origin, what, report);
    }

    /// Returns `true` if the session receives the ends of streams; otherwise they end with their connection.
    fn pairs_by_stream(&self) -> bool {
        false
    }

    /// Handles the end of the input.
    fn finish(&mut self, report: &mut Report);

    /// Visits the messages that wait now for an answer of the other side.
    fn waiting(&self, visit: &mut dyn FnMut(Waiting));

    /// Returns true if the message with that index can still be answered, even if a missing answer breaks no rule. The
    /// client asks this for every request that it sends, so it must not search.
    fn is_open(&self, index: u64) -> bool {
        let mut is_open = false;
        self.waiting(&mut |one| is_open |= one.place.index == index);
        is_open
    }

    /// Returns the names of the two sides of a connection, if they differ from the usual names of the protocol.
    fn sides(&self, conn: Option<u32>) -> Option<[&str; 2]> {
        let _ = conn;
        None
    }

    /// Returns the client of a connection, as it names itself, if the protocol has such a name.
    fn client(&self, conn: Option<u32>) -> Option<&str> {
        let _ = conn;
        None
    }

    /// Returns true if the session has input that only it can recognise: a secret, a signature, a connection string.
    fn has(&self, need: Need) -> bool {
        let _ = need;
        false
    }

    /// Returns the number of requests that are not tracked because too many were open.
    fn untracked(&self) -> u64 {
        0
    }
}

/// The methods of a [`Session`] around another one, `inner`, that only pass on what it answers.
#[cfg(feature = "described")]
macro_rules! forward_to_inner {
    () => {
        fn pairs_by_stream(&self) -> bool {
            self.inner.pairs_by_stream()
        }

        fn waiting(&self, visit: &mut dyn FnMut($crate::protocol::session::Waiting)) {
            self.inner.waiting(visit);
        }

        fn is_open(&self, index: u64) -> bool {
            self.inner.is_open(index)
        }

        fn sides(&self, conn: Option<u32>) -> Option<[&str; 2]> {
            self.inner.sides(conn)
        }

        fn client(&self, conn: Option<u32>) -> Option<&str> {
            self.inner.client(conn)
        }

        fn has(&self, need: $crate::protocol::session::Need) -> bool {
            self.inner.has(need)
        }

        fn untracked(&self) -> u64 {
            self.inner.untracked()
        }
    };
}
#[cfg(feature = "described")]
pub(crate) use forward_to_inner;

/// The behaviour of a protocol over time: its rules, and both sides of a conversation.
pub trait Behavior: Sync {
    /// Returns the rules for its conversations.
    fn rules(&self) -> &[Arc<Rule>];
    /// Creates a session for one conversation, over all its connections.
    fn session<'a>(&'a self, config: &SessionConfig) -> Box<dyn Session + 'a>;
    /// Creates a peer that plays one side of a conversation: the one that sends in direction `side`.
    fn peer<'a>(&'a self, side: Direction, config: &PeerConfig) -> Box<dyn Peer + 'a> {
        let _ = (side, config);
        Box::new(Silent)
    }
}

/// Implements [`Behavior`] for a protocol: the rules of the Markdown files with the examples among its fixtures, its
/// session, and its peer.
macro_rules! behavior {
    (
        $protocol:ty,
        [$($rules:tt),+],
        $examples:literal,
        |$this:pat_param, $session_config:ident| $session:expr,
        |$me:pat_param, $side:pat_param, $peer_config:pat_param| $peer:expr $(,)?
    ) => {
        impl $crate::protocol::session::Behavior for $protocol {
            fn rules(&self) -> &[std::sync::Arc<$crate::protocol::rules::Rule>] {
                use $crate::protocol::rules::{Rule, built_in};
                static RULES: std::sync::LazyLock<Vec<std::sync::Arc<Rule>>> =
                    std::sync::LazyLock::new(|| {
                        built_in(
                            concat!($(include_str!($rules)),+),
                            Some(|rule| $crate::protocol::examples::find($examples, rule)),
                        )
                    });
                &RULES
            }

            fn session<'a>(
                &'a self,
                $session_config: &$crate::protocol::session::SessionConfig,
            ) -> Box<dyn $crate::protocol::session::Session + 'a> {
                let $this = self;
                Box::new($session)
            }

            fn peer<'a>(
                &'a self,
                $side: $crate::protocol::Direction,
                $peer_config: &$crate::protocol::peer::PeerConfig,
            ) -> Box<dyn $crate::protocol::peer::Peer + 'a> {
                let $me = self;
                $peer
            }
        }
    };
}
pub(super) use behavior;

/// The behaviour of a protocol without rules: it tracks nothing and sends nothing.
pub(super) struct Passive;

impl Behavior for Passive {
    fn rules(&self) -> &[Arc<Rule>] {
        &[]
    }

    fn session<'a>(&'a self, _: &SessionConfig) -> Box<dyn Session + 'a> {
        Box::new(Self)
    }
}

impl Session for Passive {
    fn message(&mut self, _: &Seen<'_>, _: &mut Report) {}

    fn finish(&mut self, _: &mut Report) {}

    fn waiting(&self, _: &mut dyn FnMut(Waiting)) {}
}

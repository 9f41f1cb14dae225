//! What a server without a session sends only if a request asks for it (2026-07-28, Logging and Subscriptions).
//!
//! ```text
//!   tools/call #3 {_meta: {logLevel: "warning"}}        log messages of this level, and of more severe ones
//!   subscriptions/listen #5 {id: 7, notifications: {toolsListChanged: true}}
//!   notifications/subscriptions/acknowledged            the first message with subscriptionId 7
//!   notifications/tools/list_changed                    with subscriptionId 7, because #5 asks for it
//! ```
//!
//! Over HTTP the stream of a log message shows its request. On a pipe, a level that any request asked for may be meant.

use crate::framing::Head;
use crate::protocol::Role;
use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rpc::spelling;
use crate::protocol::rule_names::mcp as rule;
use crate::protocol::session::memory::RecentEntries;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::quote;
use crate::protocol::session::{Link, broken, http};
use crate::tape::Node;

/// The member of `_meta` that asks for log messages.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The member of `_meta` that names the request that opened a subscription.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const LISTEN: &str = "subscriptions/listen";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
/// The levels of log messages, the least severe first.
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];
/// The notifications of subscriptions, with the member that asks for each.
const KINDS: [(&str, &str); 4] = [
    ("notifications/tools/list_changed", "toolsListChanged"),
    ("notifications/prompts/list_changed", "promptsListChanged"),
    (
        "notifications/resources/list_changed",
        "resourcesListChanged",
    ),
    ("notifications/resources/updated", "resourceSubscriptions"),
];

/// What the requests of a session ask for.
#[derive(Default)]
pub(super) struct Requested {
    /// The least severe level of log messages that any request asked for.
    level: Option<usize>,
    /// The levels of requests over HTTP, by index.
    levels: RecentEntries<u64, Option<usize>>,
    /// By the id of the request, as it is written.
    subscriptions: RecentEntries<Box<str>, Subscription>,
    /// The server is one of sessions without a handshake.
    is_sure: bool,
    /// Requests may have been missed.
    missed: bool,
}

/// The request that opened a subscription.
struct Subscription {
    index: u64,
    /// The kinds that it asks for, if they can be read.
    kinds: Option<[bool; KINDS.len()]>,
    is_acknowledged: bool,
    /// Several requests have the id.
    is_shared: bool,
}

impl Requested {
    /// Requests may have been missed.
    pub(super) fn missed(&mut self) {
        self.missed = true;
    }

    /// Handles a request of the client. `stateless`: it names its version.
    pub(super) fn ask(&mut self, message: &RpcMessage<'_, '_>, stateless: bool) {
        if stateless {
            // A client asks older servers for it, too.
            self.is_sure |= !message.is("server/discover");
            let level = message.param("_meta").and_then(|meta| meta.get(LOG_LEVEL));
            // A level that nobody knows may mean any.
            let level = level.map(|level| position(level).unwrap_or(0));
            if http::head(&message.seen).is_some() {
                self.levels.insert(message.index, level);
            }
            self.level = match (self.level, level) {
                (Some(before), Some(level)) => Some(before.min(level)),
                (before, level) => before.or(level),
            };
        }
        if let Some(id) = message.call.id.filter(|_| message.is(LISTEN)) {
            let asked = message
                .param("notifications")
                .filter(|asked| asked.is_map());
            let kinds =
                asked.map(|asked| KINDS.map(|(_, name)| asked.get(name).is_some_and(asks_for)));
            let id: Box<str> = to_stored(spelling(id));
            let subscription = Subscription {
                index: message.index,
                kinds,
                is_acknowledged: false,
                is_shared: self.subscriptions.get(&id).is_some(),
            };
            self.subscriptions.insert(id, subscription);
        }
    }

    /// Handles the answer to a request that names its version.
    pub(super) fn answer(&mut self, message: &RpcMessage<'_, '_>) {
        self.is_sure |= message.result().is_some();
    }

    /// Checks a notification of the server. `stateless`: no request of the session belongs to a handshake.
    pub(super) fn check(&mut self, message: &RpcMessage<'_, '_>, stateless: bool) {
        if message.role != Role::Notification || message.is_from_client() {
            return;
        }
        let is_judged = stateless && self.is_sure && !self.missed;
        if message.is("notifications/message") {
            return self.check_level(message, is_judged);
        }
        let meta = message.param("_meta");
        let id = meta.and_then(|meta| meta.get(SUBSCRIPTION));
        let kind = KINDS.iter().position(|(method, _)| message.is(method));
        let Some(id) = id else {
            if kind.is_some() && is_judged && http::head(&message.seen).is_none() {
                broken!(message, rule::SUBSCRIPTION_ID, message.whole();
                    "_meta has no {SUBSCRIPTION}: without a session, {} belongs to a subscription",
                    message.short_name());
            }
            return;
        };
        let Some(subscription) = self
            .subscriptions
            .get_mut(&to_stored::<Box<str>>(spelling(id)))
        else {
            return;
        };
        if subscription.is_shared {
            return;
        }
        let index = subscription.index;
        message.part_of(index, Link::Recorded);
        let is_first = !std::mem::replace(&mut subscription.is_acknowledged, true);
        if is_first && !message.is(ACKNOWLEDGED) && !self.missed {
            broken!(message, rule::SUBSCRIPTION_ACKNOWLEDGED, message.at(id), index;
                "this is sent before {ACKNOWLEDGED}, which should be the first message of the subscription {}",
                quote(id));
        }
        let asked = subscription.kinds.zip(kind);
        if let Some((asked, kind)) = asked
            && !asked.get(kind).is_some_and(|asked| *asked)
            && let Some((_, name)) = KINDS.get(kind)
        {
            broken!(message, rule::SUBSCRIPTION_KIND, message.whole(), index;
                "#{index} does not ask for {}: its notifications have no {name}",
                message.short_name());
        }
    }

    /// Checks that a request asked for a log message. `is_judged`: on a pipe, all requests are known.
    fn check_level(&self, message: &RpcMessage<'_, '_>, is_judged: bool) {
        let level = message.param("level");
        let Some((node, level)) = level.and_then(|level| Some((level, position(level)?))) else {
            return;
        };
        let (asked, index) = match message.frame.head {
            Head::Http { .. } => {
                // The stream shows the request.
                let request = message.operation().part_of.map(|(index, _)| index);
                let levels = request.and_then(|index| Some((index, self.levels.get(&index)?)));
                let Some((index, asked)) = levels else {
                    return;
                };
                (*asked, Some(index))
            }
            _ if is_judged => (self.level, None),
            _ => return,
        };
        let of = index.map_or("no request asks".to_owned(), |index| {
            format!("#{index} does not ask")
        });
        match asked {
            None => broken!(message, rule::LOG_LEVEL, message.at(node), index;
                "{of} for log messages: _meta has no {LOG_LEVEL}"),
            Some(asked) if level < asked => {
                let asked = LEVELS.get(asked).copied().unwrap_or_default();
                broken!(message, rule::LOG_LEVEL, message.at(node), index;
                    "{of} for log messages of the level {}, only from {asked} on", quote(node));
            }
            Some(_) => {}
        }
    }
}

/// Returns true if a member of the filter asks for its notifications.
fn asks_for(member: Node<'_>) -> bool {
    member.as_bool() == Some(true) || member.is_array() && member.children().next().is_some()
}

/// Returns the position of a level.
fn position(level: Node<'_>) -> Option<usize> {
    LEVELS.iter().position(|name| level.is_text(name))
}

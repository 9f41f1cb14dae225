//! The session of a described protocol: pairs, and the rules that every description has.
//!
//! ```text
//!   by id       connection, direction of the request, id -> request
//!   by order    connection, direction of the request     -> the oldest request       (see exchange)
//!   by subject  the same, separate for each subject
//! ```

use super::Described;
use super::description::{MessageKind, Pairing, is_answer};
use super::matching::Found as FoundMessage;
use super::message::id_of;
use crate::protocol::exchange::{Added, Exchange, Found, Ids, Key, OpenRequest};
use crate::protocol::rule_names::described as rule;
use crate::protocol::session::memory::ConnId;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{
    ConnectionChange, Current, Report, Seen, Session, SessionConfig, Waiting, broken,
};
use crate::protocol::{Direction, Id, Origin, Place, Role};
use crate::tape::unescape;

/// The number of stored ids of answers.
const MAX_ENDED: usize = 1 << 8;

/// What an answer repeats of its request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Ident {
    Whole(i128),
    Text(Box<str>),
    Bytes([u8; 16]),
    /// Nothing: answers come in the order of the requests.
    Order,
}

impl Ident {
    fn of(id: &Id<'_>) -> Option<Self> {
        Some(match id {
            Id::None => return None,
            Id::Json(text) => match text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
                Some(text) => Self::Text(to_stored(&unescape(text))),
                None if *text == "null" => return None,
                None => match text.parse() {
                    Ok(number) => Self::Whole(number),
                    Err(_) => Self::Text(to_stored(text)),
                },
            },
            Id::Text(text) => Self::Text(to_stored(text)),
            Id::Number(number) => Self::Whole(*number),
            Id::Uuid(uuid) => Self::Bytes(*uuid),
        })
    }
}

/// The state of an open request.
#[derive(Debug, Default)]
struct Sent {
    is_cancelled: bool,
    /// The other side may end the connection instead of an answer.
    ends: bool,
    /// The answer may have been missed.
    may_be_missed: bool,
}

impl Sent {
    fn needs_answer(&self) -> bool {
        !self.is_cancelled && !self.ends && !self.may_be_missed
    }
}

/// The state of a conversation.
pub(super) struct DescribedSession<'d> {
    described: &'d Described,
    exchange: Exchange<ConnId, Ident, Sent>,
}

impl<'d> DescribedSession<'d> {
    pub fn new(described: &'d Described, config: &SessionConfig) -> Self {
        Self {
            described,
            exchange: Exchange::new(Ids::Again, config.max_open, MAX_ENDED),
        }
    }

    /// Returns the range in which an id is unique.
    fn scope(&self, conn: ConnId) -> ConnId {
        conn.filter(|_| !self.described.description.across_connections)
    }

    fn handle(&mut self, seen: Current<'_, '_>) {
        let message = seen.message;
        let Some(root) = seen.root().filter(|_| message.role != Some(Role::Control)) else {
            return;
        };
        let described = self.described;
        described.matcher.read(root, |found| {
            let messages = &described.description.messages;
            match (message.role, found.kind(messages, seen.origin.direction)) {
                (Some(role), Some(kind)) => self.message(seen, role, kind, found),
                _ if message.valid && seen.frame.fault.is_none() => {
                    broken!(seen, rule::NO_MATCH, seen.whole();
                        "{} matches no message of {}", quote(root), described.description.name);
                }
                _ => {}
            }
        });
    }

    fn message(
        &mut self,
        seen: Current<'_, '_>,
        role: Role,
        kind: &MessageKind,
        found: &FoundMessage<'_, '_>,
    ) {
        let direction = seen.origin.direction;
        if let Some((is, should)) = direction.zip(kind.direction)
            && is != should
        {
            let [to_server, to_client] = &self.described.description.sides;
            let (sender, other) = match is {
                Direction::ToServer => (to_server, to_client),
                Direction::ToClient => (to_client, to_server),
            };
            broken!(seen, rule::WRONG_DIRECTION, seen.whole();
                "the {sender} sends {}, which only the {other} sends", short(&seen.message.kind));
        }
        if let Some(id) = kind.cancels.as_ref().and_then(|path| found.at(path)) {
            let requester = direction.unwrap_or(Direction::ToServer);
            let key = Ident::of(&id_of(id)).map(|id| self.key(seen, requester, id));
            if let Some((asked, sent)) = key.and_then(|key| self.exchange.open.get_mut(&key)) {
                sent.is_cancelled = true;
                seen.cancels(asked.index());
            }
        }
        if role == Role::Request {
            let ends = kind.ends.as_ref();
            let ends = ends.is_some_and(|ends| found.holds(ends, direction));
            self.asks(seen, ends);
        } else if is_answer(role) {
            self.answers(seen, role);
        }
    }

    fn key(&self, seen: Current<'_, '_>, requester: Direction, id: Ident) -> Key<ConnId, Ident> {
        Key {
            scope: self.scope(seen.origin.conn),
            requester: Some(requester),
            id,
        }
    }

    /// Returns what pairs a message with others.
    fn ident(&self, seen: Current<'_, '_>) -> Option<Ident> {
        match self.described.description.pairing {
            Pairing::Id => Ident::of(&seen.message.id),
            Pairing::Order => Some(Ident::Order),
            Pairing::Subject => {
                let subject = seen.message.subject.as_deref();
                subject.map(|text| Ident::Text(text.into()))
            }
        }
    }

    fn asks(&mut self, seen: Current<'_, '_>, ends: bool) {
        let requester = seen.origin.direction.unwrap_or(Direction::ToServer);
        let Some(id) = self.ident(seen) else {
            return;
        };
        let reuses = self.described.description.pairing == Pairing::Id;
        let key = self.key(seen, requester, id);
        let before = self.exchange.open.get(&key);
        let before = before.map(|(asked, _)| (asked.describe(), asked.index()));
        let sent = Sent {
            ends,
            ..Sent::default()
        };
        let added = self.exchange.open.queue(key, seen.stored_request(), sent);
        if let (Added::Queued, Some((what, index)), true) = (added, before, reuses) {
            broken!(seen, rule::ID_REUSED, place(seen), index;
                "the id {} is that of {what}, #{index}, which is still open",
                short(&seen.message.id.text()));
        }
    }

    fn answers(&mut self, seen: Current<'_, '_>, role: Role) {
        let sides = match seen.origin.direction {
            Some(direction) => [Some(direction.other()), None],
            None => [Some(Direction::ToServer), Some(Direction::ToClient)],
        };
        let Some(id) = self.ident(seen) else {
            return;
        };
        let keys = sides.into_iter().flatten();
        let keys: Vec<_> = keys.map(|side| self.key(seen, side, id.clone())).collect();
        let is_open = |key: &&Key<ConnId, Ident>| self.exchange.find(key) == Found::Open;
        let Some(key) = keys.iter().find(is_open) else {
            if let Some(first) = keys.first() {
                self.report_unmatched(seen, first);
            }
            return;
        };
        if role == Role::Item {
            if let Some((asked, _)) = self.exchange.open.get(key) {
                seen.answers(asked, false);
            }
        } else if let Some((asked, sent)) = self.exchange.open.close(key) {
            seen.answers(&asked, true);
            seen.operation().cancels = sent.is_cancelled && role == Role::Error;
            self.exchange.ended.insert(key.clone(), seen.index);
        }
    }

    /// Reports an answer without a request.
    fn report_unmatched(&self, seen: Current<'_, '_>, key: &Key<ConnId, Ident>) {
        if !seen.message.valid || seen.frame.fault.is_some() {
            return;
        }
        let id = seen.message.id.text();
        let id = short(&id);
        match self.exchange.find(key) {
            Found::Open | Found::Untracked => {}
            _ if self.described.description.pairing != Pairing::Id => {
                broken!(seen, rule::ORPHAN, place(seen); "no request is open{}", of_subject(key));
            }
            Found::Ended => {
                let answer = self.exchange.ended.get(key).copied().unwrap_or_default();
                broken!(seen, rule::ANSWERED_TWICE, place(seen), answer;
                    "the request with the id {id} was answered before, by #{answer}");
            }
            Found::Never => {
                broken!(seen, rule::ORPHAN, place(seen); "no open request has the id {id}");
            }
        }
    }

    fn unanswered(asked: &OpenRequest, sent: &Sent, report: &mut Report) {
        if sent.needs_answer() {
            let id = match asked.id() {
                "" => String::new(),
                id => format!(" ({})", short(id)),
            };
            broken!(report, rule::UNANSWERED, asked.place();
                "{}{id} has no answer", asked.describe());
        }
    }
}

impl Session for DescribedSession<'_> {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        Current::handle(seen, report, |seen| self.handle(seen));
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        let scope = self.scope(origin.conn);
        let is_shared = self.described.description.across_connections;
        match what {
            ConnectionChange::Opened if !is_shared => self.exchange.reopen(scope),
            ConnectionChange::Lost => {
                self.exchange.lose(scope, origin.direction);
                self.exchange
                    .open
                    .each(scope, |_, sent| sent.may_be_missed = true);
            }
            // An answer may come on another connection.
            _ if is_shared => {}
            _ => {
                let ended = origin.direction.filter(|_| what == ConnectionChange::Ended);
                let gone = match ended {
                    Some(_) => self.exchange.open.end_side(scope, ended),
                    None => self.exchange.open.end(scope),
                };
                for (_, asked, sent) in &gone {
                    Self::unanswered(asked, sent, report);
                    if sent.needs_answer() {
                        report.leave(asked.waiting(None));
                    }
                }
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        for (_, asked, sent) in self.exchange.open.sorted() {
            Self::unanswered(asked, sent, report);
        }
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting)) {
        let open = self.exchange.open.sorted().into_iter();
        let open = open.filter(|(_, _, sent)| sent.needs_answer());
        open.for_each(|(_, asked, _)| visit(asked.waiting(None)));
    }

    fn is_open(&self, index: u64) -> bool {
        self.exchange.open.at(index).is_some()
    }

    fn untracked(&self) -> u64 {
        self.exchange.open.untracked()
    }
}

/// Names the subject that pairs an answer.
fn of_subject(key: &Key<ConnId, Ident>) -> String {
    match &key.id {
        Ident::Text(subject) => format!(" that asks for {}", short(subject)),
        _ => String::new(),
    }
}

/// Returns the position of the id of a message.
fn place(seen: Current<'_, '_>) -> Place {
    let id = seen.message.id_span;
    id.map_or_else(|| seen.whole(), |at| seen.span(at))
}

//! The session of a described protocol: pairs, and the rules that every description has.
//!
//! ```text
//!   by id       connection, direction of the request, id -> request
//!   by order    connection, direction of the request     -> the oldest request
//! ```

use super::Described;
use super::description::{MessageKind, Pairing, is_answer};
use super::matching::Found;
use super::message::id_of;
use crate::protocol::correlation::{OpenRequest, OpenRequests, Scoped};
use crate::protocol::rule_names::described as rule;
use crate::protocol::session::memory::{ConnId, RecentEntries};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{
    ConnectionChange, Current, Report, Seen, Session, SessionConfig, Waiting, broken,
};
use crate::protocol::{Direction, Id, Origin, Role};
use crate::tape::unescape;
use std::collections::BTreeSet;

/// The number of stored ids of answers.
const MAX_ENDED: usize = 1 << 8;
/// The number of connections whose lost bytes and counts are stored.
const MAX_CONNECTIONS: usize = 1 << 12;

/// The parts of a request that its answer repeats.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PairKey {
    scope: ConnId,
    requester: Direction,
    id: Ident,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Ident {
    Whole(i128),
    Text(Box<str>),
    Bytes([u8; 16]),
}

impl Scoped for PairKey {
    type Scope = ConnId;

    fn scope(&self) -> ConnId {
        self.scope
    }
}

impl Ident {
    fn of(id: &Id<'_>) -> Option<Self> {
        Some(match id {
            Id::None => return None,
            Id::Json(text) => match text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
                Some(text) => Self::Text(unescape(text).as_ref().into()),
                None if *text == "null" => return None,
                None => match text.parse() {
                    Ok(number) => Self::Whole(number),
                    Err(_) => Self::Text(text.as_ref().into()),
                },
            },
            Id::Text(text) => Self::Text(text.as_ref().into()),
            Id::Number(number) => Self::Whole(*number),
            Id::Uuid(uuid) => Self::Bytes(*uuid),
        })
    }
}

/// The state of an open request.
#[derive(Debug, Default)]
struct Sent {
    is_cancelled: bool,
    /// The answer may have been missed.
    may_be_missed: bool,
}

impl Sent {
    fn needs_answer(&self) -> bool {
        !self.is_cancelled && !self.may_be_missed
    }
}

/// The state of a conversation.
pub(super) struct DescribedSession<'d> {
    described: &'d Described,
    open: OpenRequests<PairKey, Sent>,
    answered: RecentEntries<PairKey, u64>,
    /// For pairs by order: the number of requests, and of those that are answered.
    counts: RecentEntries<(ConnId, Direction), (i128, i128)>,
    /// Connections whose bytes were lost.
    lost: BTreeSet<ConnId>,
}

impl<'d> DescribedSession<'d> {
    pub fn new(described: &'d Described, config: &SessionConfig) -> Self {
        Self {
            described,
            open: OpenRequests::with_capacity(config.max_open),
            answered: RecentEntries::with_capacity(MAX_ENDED),
            counts: RecentEntries::with_capacity(MAX_CONNECTIONS),
            lost: BTreeSet::new(),
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
        found: &Found<'_, '_>,
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
                "the {sender} sends {}, which only the {other} sends", seen.message.kind);
        }
        if let Some(id) = kind.cancels.as_ref().and_then(|path| found.at(path)) {
            let requester = direction.unwrap_or(Direction::ToServer);
            let key = Ident::of(&id_of(id)).map(|id| self.key(seen, requester, id));
            if let Some((_, sent)) = key.and_then(|key| self.open.get_mut(&key)) {
                sent.is_cancelled = true;
            }
        }
        if role == Role::Request {
            self.asks(seen);
        } else if is_answer(role) {
            self.answers(seen, role);
        }
    }

    fn key(&self, seen: Current<'_, '_>, requester: Direction, id: Ident) -> PairKey {
        PairKey {
            scope: self.scope(seen.origin.conn),
            requester,
            id,
        }
    }

    fn asks(&mut self, seen: Current<'_, '_>) {
        let requester = seen.origin.direction.unwrap_or(Direction::ToServer);
        let id = match self.described.description.pairing {
            Pairing::Id => Ident::of(&seen.message.id),
            Pairing::Order => {
                let scope = self.scope(seen.origin.conn);
                let (asked, _) = self.counts.entry((scope, requester));
                *asked += 1;
                Some(Ident::Whole(*asked))
            }
        };
        let Some(id) = id else {
            return;
        };
        let key = self.key(seen, requester, id);
        let asked = OpenRequest::of(&seen);
        if let Some((before, _)) = self.open.add_request(key, asked, Sent::default()) {
            let place = seen
                .message
                .id_span
                .map_or_else(|| seen.whole(), |at| seen.span(at));
            broken!(seen, rule::ID_REUSED, place, before.place.index;
                "the id {} is that of {}, #{}, which is still open",
                short(&seen.message.id.text()), before.describe(), before.place.index);
        }
    }

    fn answers(&mut self, seen: Current<'_, '_>, role: Role) {
        let sides = match seen.origin.direction {
            Some(direction) => [Some(direction.other()), None],
            None => [Some(Direction::ToServer), Some(Direction::ToClient)],
        };
        let sides = sides.into_iter().flatten();
        let keys: Vec<_> = match self.described.description.pairing {
            Pairing::Id => {
                let id = Ident::of(&seen.message.id);
                let keys = sides.filter_map(|side| Some(self.key(seen, side, id.clone()?)));
                keys.collect()
            }
            Pairing::Order => {
                let scope = self.scope(seen.origin.conn);
                let oldest = sides.map(|side| {
                    let (_, answered) =
                        self.counts.get(&(scope, side)).copied().unwrap_or_default();
                    self.key(seen, side, Ident::Whole(answered + 1))
                });
                oldest.collect()
            }
        };
        let Some(first) = keys.first() else {
            return;
        };
        let found = keys.iter().find(|key| self.open.get(key).is_some());
        let Some(key) = found else {
            self.report_unmatched(seen, first);
            return;
        };
        if role == Role::Item {
            if let Some((asked, _)) = self.open.get(key) {
                seen.answers(asked, false);
            }
            return;
        }
        if let Some((asked, _)) = self.open.close(key) {
            seen.answers(&asked, true);
            self.answered.insert(key.clone(), seen.index);
        }
        if self.described.description.pairing == Pairing::Order {
            let (_, answered) = self.counts.entry((key.scope, key.requester));
            *answered += 1;
        }
    }

    /// Reports an answer without a request.
    fn report_unmatched(&self, seen: Current<'_, '_>, key: &PairKey) {
        let may_be_missed = self.lost.contains(&seen.origin.conn) || self.open.refused() > 0;
        if may_be_missed || !seen.message.valid || seen.frame.fault.is_some() {
            return;
        }
        let place = seen
            .message
            .id_span
            .map_or_else(|| seen.whole(), |at| seen.span(at));
        let id = seen.message.id.text();
        let id = short(&id);
        if self.described.description.pairing == Pairing::Order {
            broken!(seen, rule::ORPHAN, place; "no request is open");
        } else if let Some(answer) = self.answered.get(key) {
            broken!(seen, rule::ANSWERED_TWICE, place, *answer;
                "the request with the id {id} was answered before, by #{answer}");
        } else {
            broken!(seen, rule::ORPHAN, place; "no open request has the id {id}");
        }
    }

    fn unanswered(asked: &OpenRequest, sent: &Sent, report: &mut Report) {
        if sent.needs_answer() {
            let id = match asked.id.as_ref() {
                "" => String::new(),
                id => format!(" ({})", short(id)),
            };
            broken!(report, rule::UNANSWERED, asked.place;
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
        match what {
            ConnectionChange::Opened => {
                self.lost.remove(&origin.conn);
                if !self.described.description.across_connections {
                    for side in [Direction::ToServer, Direction::ToClient] {
                        self.counts.remove(&(scope, side));
                    }
                }
            }
            ConnectionChange::Lost => {
                if self.lost.len() < MAX_CONNECTIONS {
                    self.lost.insert(origin.conn);
                }
                self.open.retain(scope, |_, _, sent| {
                    sent.may_be_missed = true;
                    true
                });
            }
            // An answer may come on another connection.
            _ if self.described.description.across_connections => {}
            _ => {
                let ended = origin.direction.filter(|_| what == ConnectionChange::Ended);
                let gone = self.open.end_where(scope, |key| {
                    ended.is_none_or(|direction| key.requester != direction)
                });
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
        for (_, asked, sent) in self.open.sorted() {
            Self::unanswered(asked, sent, report);
        }
    }

    fn waiting(&self) -> Vec<Waiting> {
        let open = self.open.sorted().into_iter();
        let open = open.filter(|(_, _, sent)| sent.needs_answer());
        open.map(|(_, asked, _)| asked.waiting(None)).collect()
    }

    fn is_open(&self, index: u64) -> bool {
        self.open.at(index).is_some()
    }

    fn refused(&self) -> u64 {
        self.open.refused()
    }
}

//! A side of a described protocol: its opening, the answers that it gives by itself, and answers of a script.

use super::Described;
use super::description::{Heartbeat, MessageKind, OwnAnswer, Pairing};
use super::write::{Parts, Tree, build};
use crate::error::{Refusal, Result};
use crate::protocol::peer::{
    HandshakeStage, MAX_ENTRIES, Outgoing, Peer, PeerConfig, PeerReply, Readiness, RecentEntries,
    Request, as_json, json_of, with_json,
};
use crate::protocol::session::Seen;
use crate::protocol::{Direction, Role};
use crate::select::Expr;
use crate::tape::Node;

/// A side of a conversation.
pub(super) struct DescribedPeer<'d> {
    described: &'d Described,
    side: Direction,
    config: PeerConfig,
    stages: RecentEntries<u32, Opening>,
    /// The last number that this side used as an id.
    last: i128,
}

/// The opening of a connection.
#[derive(Debug, Default)]
struct Opening {
    /// The number of messages of the opening that were sent.
    sent: usize,
    stage: HandshakeStage,
    /// The time of the next heartbeat.
    beat: i64,
}

impl<'d> DescribedPeer<'d> {
    /// Creates the side that sends in direction `side`.
    pub fn new(described: &'d Described, side: Direction, config: &PeerConfig) -> Self {
        Self {
            described,
            side,
            config: config.clone(),
            stages: RecentEntries::with_capacity(MAX_ENTRIES),
            last: 0,
        }
    }

    fn new_id(&mut self) -> String {
        self.last += 1;
        self.last.to_string()
    }

    fn kinds(&self) -> &'d [MessageKind] {
        &self.described.description.messages
    }

    /// Returns the kind of a role that this side sends; `to`: the request that it answers.
    fn kind(&self, role: Role, to: Option<&Request>) -> Option<&'d MessageKind> {
        let fits = |one: &&MessageKind| one.direction.is_none_or(|side| side == self.side);
        let answers = |one: &&MessageKind| {
            let is_asked = |asked: &Expr| {
                let matcher = &self.described.matcher;
                let side = Some(self.side.other());
                with_json(&to?.message, |root| {
                    matcher.read(root, |found| found.holds(asked, side))
                })
            };
            one.answers.as_ref().and_then(is_asked)
        };
        // Special kinds come first.
        let kinds = self.kinds().iter().rev().filter(|one| one.role == role);
        let kinds: Vec<_> = kinds.filter(|one| answers(one) != Some(false)).collect();
        let named = kinds.iter().find(|one| answers(one) == Some(true));
        let usual = || kinds.iter().find(|one| fits(one));
        named.or_else(usual).or(kinds.first()).copied()
    }

    /// Returns the messages of a client that are sent now: requests wait for the answer to the one before.
    fn open(&mut self, conn: u32, outgoing: &mut Vec<Outgoing>) {
        let messages = &self.described.description.opening.client;
        loop {
            let sent = self.stages.entry(conn).sent;
            let Some(text) = messages.get(sent) else {
                self.stages.entry(conn).stage = HandshakeStage::Open;
                return;
            };
            let (message, id) = self.with_new_id(text);
            let opening = self.stages.entry(conn);
            opening.sent += 1;
            outgoing.push(Outgoing::new(conn, message));
            if let Some(id) = id {
                opening.stage = HandshakeStage::Requested(id);
                return;
            }
        }
    }

    /// Returns a message of the description with a new id, and the id of a request.
    fn with_new_id(&mut self, text: &str) -> (String, Option<String>) {
        let described = self.described;
        let found = with_json(text, |root| {
            let kind = described.matcher.find(self.kinds(), root, None)?;
            let path = kind.id.as_ref()?;
            Some((path, kind.role == Role::Request, Tree::of(root)))
        });
        let Some((path, is_request, mut tree)) = found.flatten() else {
            return (text.to_owned(), None);
        };
        let id = self.new_id();
        tree.set(path, id.clone());
        (tree.to_json(), is_request.then_some(id))
    }

    /// Returns the heartbeat that this side sends by itself.
    fn beat(&self) -> Option<&'d Heartbeat> {
        let heartbeat = self.described.description.heartbeat.as_ref();
        heartbeat.filter(|one| one.direction == self.side)
    }

    /// Returns true if this side sends heartbeats on a connection now: a client after its opening.
    fn is_beating(&self, opening: &Opening) -> bool {
        self.side == Direction::ToClient || matches!(opening.stage, HandshakeStage::Open)
    }

    /// Returns the kind of a message that is sent in a direction.
    fn kind_of(&self, root: Node<'_>, direction: Direction) -> Option<&'d MessageKind> {
        let matcher = &self.described.matcher;
        matcher.find(self.kinds(), root, Some(direction))
    }

    /// Returns the answer to a heartbeat, with its id.
    fn echo(&self, seen: &Seen<'_>) -> Option<String> {
        let heartbeat = self.described.description.heartbeat.as_ref()?;
        let answer = heartbeat.answer.as_deref()?;
        let root = seen
            .root()
            .filter(|_| seen.message.role == Some(Role::Heartbeat))?;
        let asked = self.kind_of(root, self.side.other())?;
        let is_sent = with_json(&heartbeat.send, |root| {
            self.kind_of(root, heartbeat.direction)
        });
        if !is_sent
            .flatten()
            .is_some_and(|sent| std::ptr::eq(sent, asked))
        {
            return None;
        }
        let matcher = &self.described.matcher;
        let id = matcher.read(root, |found| found.at(asked.id.as_ref()?).map(json_of));
        let tree = with_json(answer, |root| {
            let path = self
                .kind_of(root, self.side)
                .and_then(|kind| kind.id.as_ref());
            let mut tree = Tree::of(root);
            if let Some((path, id)) = path.zip(id) {
                tree.set(path, id);
            }
            tree.to_json()
        });
        tree.or_else(|| Some(answer.to_owned()))
    }

    /// Returns the answer of the description to a request.
    fn own(&self, root: Node<'_>) -> Option<&'d OwnAnswer> {
        let mut answers = self.described.description.opening.answers.iter();
        let described = self.described;
        described.matcher.read(root, |found| {
            answers.find(|answer| found.holds(&answer.when, Some(self.side.other())))
        })
    }

    /// Builds an answer to a request.
    fn answer(&mut self, to: &Request, role: Role, mut parts: Parts) -> Result<String> {
        let mut kind = self.kind(role, Some(to));
        let mut wanted = format!("a [[message]] with the role {}", role.name());
        if role == Role::Error {
            // The condition `error` of a response makes it an error.
            let response = self.kind(Role::Response, Some(to));
            kind = kind.or(response.filter(|kind| kind.error.is_some()));
            wanted.push_str(", or a response with the condition `error`, in the description");
        }
        let kind = kind.ok_or_else(|| Refusal::new("reply", wanted, "none"))?;
        let described = self.described;
        let id = with_json(&to.message, |root| {
            described.matcher.read(root, |found| {
                let asked = found.kind(self.kinds(), Some(self.side.other()))?;
                found.at(asked.id.as_ref()?).map(json_of)
            })
        });
        parts.pair_id = id.flatten();
        if parts.pair_id.is_none() && described.description.pairing == Pairing::Id {
            return Err(Refusal::new(
                "id",
                "a request to answer",
                "a message without an id",
            ));
        }
        if kind.reply_to.is_some() && kind.id.is_some() {
            parts.id = Some(self.new_id());
        }
        parts.subject.clone_from(&to.subject);
        parts.kind = Some(to.kind.clone());
        let message = build(kind, &parts).to_json();
        described.check_error(kind, &parts, &message)?;
        Ok(message)
    }

    /// Builds a message that is no answer.
    fn message(&mut self, role: Role, subject: &str, content: &str) -> Result<String> {
        let wanted = || Refusal::new("reply", "a message that the description has", role.name());
        let kind = self.kind(role, None).ok_or_else(wanted)?;
        let parts = Parts {
            id: kind.id.as_ref().map(|_| self.new_id()),
            kind: Some(subject.to_owned()),
            subject: Some(subject.to_owned()),
            content: Some(as_json(content, "content")?.to_owned()),
            ..Parts::default()
        };
        Ok(build(kind, &parts).to_json())
    }
}

impl Peer for DescribedPeer<'_> {
    fn opened(&mut self, conn: u32, now: i64, outgoing: &mut Vec<Outgoing>) {
        if let Some(heartbeat) = self.beat() {
            self.stages.entry(conn).beat = now.saturating_add(heartbeat.every);
        }
        if self.config.no_hello {
            return;
        }
        if self.side == Direction::ToServer {
            return self.open(conn, outgoing);
        }
        for text in &self.described.description.opening.server {
            outgoing.push(Outgoing::new(conn, self.with_new_id(text).0));
        }
    }

    fn received(&mut self, seen: &Seen<'_>, _: i64, outgoing: &mut Vec<Outgoing>) {
        let conn = seen.origin.conn.unwrap_or_default();
        if let Some(answer) = self.echo(seen) {
            outgoing.push(Outgoing::new(conn, answer));
            return;
        }
        if let Some(answer) = self.own_answer(seen) {
            let mut message = Outgoing::new(conn, answer);
            let then = seen
                .root()
                .and_then(|root| self.own(root))
                .map(|own| &own.then);
            for text in then.into_iter().flatten() {
                message = message.and(self.with_new_id(text).0);
            }
            outgoing.push(message);
            return;
        }
        let Some(opening) = self.stages.get_mut(&conn) else {
            return;
        };
        let id = seen.message.id.text();
        let HandshakeStage::Requested(asked) = &opening.stage else {
            return;
        };
        match seen.message.role {
            Some(Role::Response) if *asked == id => self.open(conn, outgoing),
            Some(Role::Error) if *asked == id => {
                let text = "the opening was answered with an error".to_owned();
                opening.stage = HandshakeStage::Over(text);
            }
            _ => {}
        }
    }

    fn own_answer(&mut self, seen: &Seen<'_>) -> Option<String> {
        if seen.message.role != Some(Role::Request) || self.side != Direction::ToClient {
            return None;
        }
        let own = seen.root().and_then(|root| self.own(root))?;
        let parts = Parts {
            content: Some(own.result.clone()),
            ..Parts::default()
        };
        self.answer(&Request::of(seen), Role::Response, parts).ok()
    }

    fn sent(&mut self, seen: &Seen<'_>, _: i64) {
        let id = seen.root().and_then(|root| {
            self.described.matcher.read(root, |found| {
                let kind = found.kind(self.kinds(), Some(self.side))?;
                found.at(kind.id.as_ref()?)?.as_i128()
            })
        });
        self.last = self.last.max(id.unwrap_or_default());
    }

    fn closed(&mut self, conn: u32, _: i64) {
        self.stages.remove(&conn);
    }

    fn readiness(&self, conn: u32) -> Readiness {
        let opens = !self.described.description.opening.client.is_empty();
        if !opens || self.side != Direction::ToServer || self.config.no_hello {
            return Readiness::Ready;
        }
        let stage = self.stages.get(&conn).map(|opening| &opening.stage);
        HandshakeStage::readiness(stage, "the answers to the opening")
    }

    fn due(&self) -> Option<i64> {
        self.beat()?;
        let open = self.stages.values().filter(|one| self.is_beating(one));
        open.map(|one| one.beat).min()
    }

    fn tick(&mut self, now: i64, outgoing: &mut Vec<Outgoing>) {
        let Some(heartbeat) = self.beat() else {
            return;
        };
        for conn in self.stages.keys() {
            let is_due = |one: &Opening| self.is_beating(one) && one.beat <= now;
            if self.stages.get(&conn).is_some_and(is_due) {
                self.stages.entry(conn).beat = now.saturating_add(heartbeat.every);
                let (message, _) = self.with_new_id(&heartbeat.send);
                outgoing.push(Outgoing::new(conn, message));
            }
        }
    }

    fn encode_reply(&mut self, to: &Request, reply: PeerReply<'_>, _: i64) -> Result<Outgoing> {
        let content = |value: &str, place: &'static str| -> Result<Parts> {
            Ok(Parts {
                content: Some(as_json(value, place)?.to_owned()),
                ..Parts::default()
            })
        };
        let message = match reply {
            PeerReply::Result(value) => {
                self.answer(to, Role::Response, content(value, "result")?)?
            }
            PeerReply::Error {
                code,
                message,
                data,
            } => {
                let data = data.map(|data| as_json(data, "data")).transpose()?;
                let parts = Parts {
                    failed: true,
                    code: code.map(str::to_owned),
                    text: Some(message.to_owned()),
                    content: data.map(str::to_owned),
                    ..Parts::default()
                };
                self.answer(to, Role::Error, parts)?
            }
            PeerReply::Item(value) => self.answer(to, Role::Item, content(value, "item")?)?,
            PeerReply::End(value) => {
                let parts = value.map(|value| content(value, "end")).transpose()?;
                self.answer(to, Role::End, parts.unwrap_or_default())?
            }
            PeerReply::Ask(subject, params) => self.message(Role::Request, subject, params)?,
            PeerReply::Tell(subject, params) => {
                self.message(Role::Notification, subject, params)?
            }
            PeerReply::Results(_) | PeerReply::Delta(_) => {
                return Err(reply.refused("result, error, item, end, ask or tell"));
            }
        };
        Ok(Outgoing::new(to.conn, message))
    }
}

//! The active half: a provider announces what it has, a runtime takes note; channels are closed by both; items are
//! numbered, and held back while the other side asks for a pause.
//!
//! ```text
//!   client    announce (where it offers something) --> ack: calls may be made
//!   runtime   announce <-- ack        a version other than 1, a target that is not offered <-- error
//!   both      close <-- close         pause, resume: items wait
//! ```
//!
//! Dialects (of [`PeerConfig::dialect`]): `peers`, the default, and `document`. Once the other side has said something that
//! only the document has, answers to it are in the document's form. Ids are answered as they were spelled, but a runtime
//! for which `peers` is set writes each id as the real runtime does: as sixteen bytes.
//!
//! A batch is one request: its result is the array of all results. It is refused as a whole where one of its calls is for
//! something that is not offered, as the real runtime does.

mod announce;
mod flows;
mod phrase;
#[cfg(test)]
mod tests;

use super::message::{self, field, parse_uuid};
use crate::error::Refusal;
use crate::protocol::make::{Mint, Object};
use crate::protocol::peer::{
    MOST, Offer, Peer, PeerConfig, Phrase, Readiness, Recent, Request, Says, json_of,
};
use crate::protocol::session::Seen;
use crate::protocol::{Direction, Id, Role};
use crate::tape::Node;
use announce::Hello;
use flows::Flows;

/// The one version of the protocol.
const VERSION: &str = "1";

/// What is known of a connection.
#[derive(Debug, Default)]
struct Conn {
    /// The other side writes what only the document has.
    document: bool,
    hello: Hello,
}

/// One side; the two do not differ in much.
#[allow(clippy::struct_excessive_bools)] // facts that do not exclude each other
pub(super) struct Side {
    is_runtime: bool,
    no_hello: bool,
    document: bool,
    /// Ids are written as the real runtime writes them.
    exact: bool,
    offers: Vec<Offer>,
    mint: Mint,
    conns: Recent<u32, Conn>,
    flows: Flows,
}

/// Why a request cannot be served: the code of real peers, that of the document, words, and more.
type Refused = (&'static str, &'static str, String, Option<String>);

impl Side {
    pub(super) fn new(side: Direction, config: &PeerConfig) -> Self {
        Self {
            is_runtime: side == Direction::ToClient,
            no_hello: config.no_hello,
            document: config.dialect.as_deref() == Some("document"),
            exact: side == Direction::ToClient && config.dialect.as_deref() == Some("peers"),
            offers: config.offers.clone(),
            mint: config.mint(),
            conns: Recent::with_room(MOST),
            flows: Flows::default(),
        }
    }

    /// Whether what is said on a connection is in the document's form.
    fn is_document(&self, conn: u32) -> bool {
        self.document || self.conns.get(&conn).is_some_and(|c| c.document)
    }

    /// The id of a message, as its answer spells it. The real runtime reads no id but a UUID.
    fn id_of(&self, conn: u32, root: Node<'_>) -> Option<String> {
        let id = field(root, "id")?;
        if !self.exact || self.is_document(conn) {
            return Some(json_of(id));
        }
        let uuid = uuid_of(id)?;
        Some(format!("{{\"$bin\":\"{}\"}}", hex::encode(uuid)))
    }

    /// A message that is no envelope: the real runtime says so under an id of its own making.
    fn malformed(&mut self, conn: u32, id: Option<String>, says: &mut Vec<Says>) {
        if !self.is_runtime || self.is_document(conn) {
            return;
        }
        let id = id.unwrap_or_else(|| fresh_id(&mut self.mint));
        let why = "malformed envelope: no type that a runtime has, or no MessagePack map";
        says.push(Says::new(conn, no(&id, "MalformedEnvelope", why, None)));
    }

    /// What keeps a request from being served.
    fn objection(&self, kind: &str, root: Node<'_>) -> Option<Refused> {
        if self.is_runtime {
            let version = field(root, "version");
            if version.and_then(Node::as_i128) != Some(1) {
                let got = version.map_or("nothing".into(), json_of);
                let short: String = got.chars().take(40).collect();
                let why = format!("incompatible protocol version: expected {VERSION}, got {short}");
                return Some(("IncompatibleVersion", "SchemaError", why, None));
            }
        }
        if kind != "batch" {
            return self.unknown(field(root, "target"));
        }
        let items = field(root, "batch_items").filter(|items| items.is_array());
        let mut items = items.into_iter().flat_map(Node::children).peekable();
        if items.peek().is_none() {
            let why = "a batch has one call or more".to_owned();
            return Some(("MalformedEnvelope", "InvalidArgs", why, None));
        }
        items.enumerate().find_map(|(at, item)| {
            let target = field(item, "target");
            let (real, document, why, _) = self.unknown(target)?;
            let details = Object::default().json("batch_index", &at.to_string());
            let details = details.maybe("target", target.map(json_of)).finish();
            let why = format!("batch item at index {at}: {why}");
            Some((real, document, why, Some(details)))
        })
    }

    /// What nobody offers; nothing is known of that where there are no offers.
    fn unknown(&self, target: Option<Node<'_>>) -> Option<Refused> {
        let target = target.and_then(Node::text).unwrap_or_default();
        let known = |offer: &Offer| offer.name == target;
        if self.offers.is_empty() || self.offers.iter().any(known) {
            return None;
        }
        let short: String = target.chars().take(80).collect();
        let (code, why) = match short.rsplit_once('.') {
            Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => {
                let mut spaces = self.offers.iter().filter_map(|o| o.name.rsplit_once('.'));
                let (mine, theirs) = (namespace, target.rsplit_once('.').map(|t| t.0));
                if spaces.any(|(space, _)| Some(space) == theirs) {
                    ("FunctionNotFound", format!("function not found: {short}"))
                } else {
                    ("NamespaceNotFound", format!("namespace not found: {mine}"))
                }
            }
            _ => {
                let why = format!("target '{short}' must be in 'namespace.function' format");
                return Some(("MalformedEnvelope", "InvalidArgs", why, None));
            }
        };
        Some((code, "NotFound", why, None))
    }

    /// An envelope that asks for something.
    fn asked(&mut self, seen: &Seen<'_>, root: Node<'_>, says: &mut Vec<Says>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let kind = seen.message.kind.as_ref();
        let Some(id) = self.id_of(conn, root) else {
            return self.malformed(conn, None, says);
        };
        if let Some((real, document, why, details)) = self.objection(kind, root) {
            let code = if self.is_document(conn) {
                document
            } else {
                real
            };
            says.push(Says::new(conn, no(&id, code, &why, details.as_deref())));
            return;
        }
        if matches!(kind, "stream" | "channel") {
            let name = seen.message.id.text();
            self.flows.open(conn, &name, kind == "channel", false);
        }
    }

    /// What only the document has tells that the other side speaks by it.
    fn learn(&mut self, seen: &Seen<'_>, root: Node<'_>) {
        let by_kind = match seen.message.kind.as_ref() {
            "announce" => announce::document_form(root).is_some(),
            "announce_ack" | "close" | "stream-error" => true,
            "item" | "end" => root.get("ok").is_none(),
            _ => false,
        };
        let conn = seen.origin.conn.unwrap_or_default();
        if by_kind || root.get("cap").is_some_and(Node::is_string) {
            self.conns.entry(conn).document = true;
        }
    }
}

impl Peer for Side {
    fn opened(&mut self, conn: u32, _: i64, says: &mut Vec<Says>) {
        let mut hello = Hello::default();
        if !self.is_runtime && !self.offers.is_empty() {
            hello = Hello::Due;
            if !self.no_hello {
                let all = announce::messages(&self.offers, self.document, &mut self.mint);
                says.extend(all.into_iter().map(|message| Says::new(conn, message)));
            }
        }
        let document = false;
        self.conns.put(conn, Conn { document, hello });
    }

    fn heard(&mut self, seen: &Seen<'_>, _: i64, says: &mut Vec<Says>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let message = seen.message;
        let Some(root) = seen.root().filter(|_| message.valid) else {
            return self.malformed(conn, None, says);
        };
        self.learn(seen, root);
        let id = self.id_of(conn, root);
        let name = message.id.text();
        match (message.kind.as_ref(), message.role) {
            ("announce", _) if self.is_runtime => {
                let id = id.unwrap_or_else(|| fresh_id(&mut self.mint));
                let ack = announce::ack(root, &id);
                says.push(Says::new(conn, ack));
            }
            ("call" | "stream" | "channel" | "batch" | "resource", Some(Role::Request)) => {
                self.asked(seen, root, says);
            }
            // The document has no answer to a cast, and providers give none.
            ("log", _) if self.is_runtime && !self.is_document(conn) => match id {
                Some(id) => says.push(Says::new(conn, yes(&id).finish())),
                None => self.malformed(conn, None, says),
            },
            ("announce_ack" | "response" | "error", _) => {
                let hello = &mut self.conns.entry(conn).hello;
                hello.answered(root, &name);
                if message.role == Some(Role::Error) {
                    self.flows.over(conn, &name);
                }
            }
            ("abort" | "stream-error", _) => self.flows.over(conn, &name),
            (_, Some(Role::End)) => {
                let aborts = field(root, "stream_control").is_some_and(|c| c.is_text("abort"));
                if aborts {
                    return self.flows.over(conn, &name);
                }
                if let Some((flow, id)) = self.flows.closed_by_them(conn, &name).zip(id) {
                    let document = self.is_document(conn);
                    says.push(Says::new(conn, flows::close(&id, flow, document)));
                }
            }
            ("pause" | "resume" | "channel", Some(Role::Notification)) => {
                let control = field(root, "stream_control");
                if control.is_some_and(|c| c.is_text("pause")) {
                    self.flows.pause(conn, &name);
                } else if control.is_some_and(|c| c.is_text("resume")) {
                    let held = self.flows.resume(conn, &name);
                    says.extend(held.into_iter().map(|message| Says::new(conn, message)));
                }
            }
            (_, None) => {
                let own = id.filter(|_| matches!(message.id, Id::Uuid(_)));
                self.malformed(conn, own, says);
            }
            _ => {}
        }
    }

    fn said(&mut self, seen: &Seen<'_>, _: i64) {
        let conn = seen.origin.conn.unwrap_or_default();
        let (message, name) = (seen.message, seen.message.id.text());
        let Some(root) = seen.root() else {
            return;
        };
        match (message.kind.as_ref(), message.role) {
            ("announce", _) => {
                let name = announce::document_form(root)
                    .and_then(Node::text)
                    .unwrap_or(name);
                self.conns.entry(conn).hello.announced(&name);
            }
            ("channel", Some(Role::Request)) => self.flows.open(conn, &name, true, true),
            ("abort" | "stream-error", _) => self.flows.over(conn, &name),
            (_, Some(Role::Item)) => {
                let seq = field(root, "seq").and_then(Node::as_i128);
                self.flows.said_item(conn, &name, seq);
            }
            (_, Some(Role::End)) => self.flows.closed_by_us(conn, &name),
            _ => {}
        }
    }

    fn closed(&mut self, conn: u32, _: i64) {
        self.conns.take(&conn);
        self.flows.leave(conn);
    }

    fn readiness(&self, conn: u32) -> Readiness {
        match self.conns.get(&conn) {
            Some(conn) => conn.hello.readiness(),
            None => Readiness::Ready,
        }
    }

    fn phrase(&mut self, to: &Request, phrase: Phrase<'_>, _: i64) -> Result<Says, Refusal> {
        self.put(to, phrase)
    }
}

/// The beginning of a yes.
fn yes(id: &str) -> Object {
    Object::default().json("id", id).json("ok", "true")
}

fn error(code: &str, why: &str, details: Option<&str>) -> String {
    let error = Object::default().text("code", code).text("message", why);
    error.maybe("details", details.map(str::to_owned)).finish()
}

/// A whole no.
fn no(id: &str, code: &str, why: &str, details: Option<&str>) -> String {
    let answer = Object::default().json("id", id).json("ok", "false");
    answer.json("error", &error(code, why, details)).finish()
}

/// An envelope that begins something.
fn envelope(kind: &str, target: &str, args: &str, mint: &mut Mint) -> String {
    let envelope = Object::default()
        .json("version", VERSION)
        .text("type", kind);
    let envelope = envelope.json("id", &fresh_id(mint)).text("target", target);
    envelope.json("args", args).finish()
}

/// A fresh id as the runtime writes it: sixteen bytes.
fn fresh_id(mint: &mut Mint) -> String {
    format!("{{\"$bin\":\"{}\"}}", hex::encode(mint.uuid()))
}

/// The bytes of an id in a message that is text.
fn bytes_of(id: Node<'_>) -> Option<Vec<u8>> {
    let digits = id.get("$bin").and_then(Node::text)?;
    hex::decode(digits.as_bytes()).ok()
}

/// The UUID that an id is, in a message of the wire or in one that is text.
fn uuid_of(id: Node<'_>) -> Option<[u8; 16]> {
    match (bytes_of(id), id.text()) {
        (Some(bytes), _) => <[u8; 16]>::try_from(bytes.as_slice()).ok(),
        (None, Some(text)) => parse_uuid(text.as_bytes()),
        (None, None) => match message::id(id) {
            Id::Uuid(uuid) => Some(uuid),
            _ => None,
        },
    }
}

/// An id in a message that is text, as [`message::id`] would show it.
fn name_of(id: Node<'_>) -> String {
    match (uuid_of(id), bytes_of(id), id.text()) {
        (Some(uuid), ..) => Id::Uuid(uuid).text().into_owned(),
        (None, Some(bytes), _) => hex::encode(bytes),
        (None, None, Some(text)) => text.into_owned(),
        (None, None, None) => message::id(id).text().into_owned(),
    }
}

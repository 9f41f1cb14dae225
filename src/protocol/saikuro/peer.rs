//! The peers of saikuro. A provider announces its functions and a runtime acknowledges them. Both sides close channels.
//! Items are numbered, and held back while the other side asks for a pause.
//!
//! ```text
//!   client    announce (if it offers functions) --> ack: calls are possible
//!   runtime   announce <-- ack        a version other than 1, a target that is not offered <-- error
//!   both      close <-- close         pause, resume: items wait
//! ```
//!
//! The dialects ([`PeerConfig::dialect`]) are `peers`, the default, and `document`. After the other side has sent a
//! message that only the document has, answers to it have the document's form. An answer spells the id as the request
//! does; but a runtime with `peers` set writes each id as the real runtime does: as sixteen bytes.
//!
//! A batch is one request: its result is the array of all results. If one of its calls needs a function that is not
//! offered, the whole batch is refused, as the real runtime does.

mod announce;
mod answers;
mod flows;
#[cfg(test)]
mod tests;

use super::message::{self, field, parse_uuid};
use crate::encoding::lossless::{bytes_json, json_bytes};
use crate::error::Result;
use crate::protocol::make::{IdGen, Object};
use crate::protocol::peer::{
    MAX_ENTRIES, Offer, Outgoing, Peer, PeerConfig, PeerReply, Readiness, RecentEntries, Request,
    json_of, shorten,
};
use crate::protocol::session::Seen;
use crate::protocol::{Direction, Id, Role};
use crate::tape::Node;
use announce::Hello;
use flows::Flows;

/// The only version of the protocol.
const VERSION: &str = "1";

/// The state of a connection.
#[derive(Debug, Default)]
struct PeerConnection {
    /// The other side uses the document's dialect.
    document: bool,
    hello: Hello,
}

/// One side; the two are nearly equal.
#[allow(clippy::struct_excessive_bools)] // independent facts
pub(super) struct SaikuroPeer {
    is_runtime: bool,
    no_hello: bool,
    document: bool,
    /// Ids are written as the real runtime writes them.
    exact: bool,
    offers: Vec<Offer>,
    id_gen: IdGen,
    conns: RecentEntries<u32, PeerConnection>,
    flows: Flows,
}

/// A refusal: the code of real peers, that of the document, text, and details.
type CallRefusal = (&'static str, &'static str, String, Option<String>);

impl SaikuroPeer {
    pub(super) fn new(side: Direction, config: &PeerConfig) -> Self {
        Self {
            is_runtime: side == Direction::ToClient,
            no_hello: config.no_hello,
            document: config.dialect.as_deref() == Some("document"),
            exact: side == Direction::ToClient && config.dialect.as_deref() == Some("peers"),
            offers: config.offers.clone(),
            id_gen: config.mint(),
            conns: RecentEntries::with_capacity(MAX_ENTRIES),
            flows: Flows::default(),
        }
    }

    /// Returns true if messages on a connection have the document's form.
    fn is_document(&self, conn: u32) -> bool {
        self.document || self.conns.get(&conn).is_some_and(|c| c.document)
    }

    /// Returns the id of a message, as its answer spells it. The real runtime reads only UUIDs.
    fn id_of(&self, conn: u32, root: Node<'_>) -> Option<String> {
        let id = field(root, "id")?;
        if !self.exact || self.is_document(conn) {
            return Some(json_of(id));
        }
        let uuid = uuid_of(id)?;
        Some(bytes_json(&uuid))
    }

    /// Answers a message that is not an envelope: the real runtime uses a generated id.
    fn answer_malformed(&mut self, conn: u32, id: Option<String>, outgoing: &mut Vec<Outgoing>) {
        if !self.is_runtime || self.is_document(conn) {
            return;
        }
        let id = id.unwrap_or_else(|| generate_id(&mut self.id_gen));
        let why = "malformed envelope: no type that a runtime has, or no MessagePack map";
        outgoing.push(Outgoing::new(
            conn,
            failure(&id, "MalformedEnvelope", why, None),
        ));
    }

    /// Returns the reason why a request is refused.
    fn find_refusal(&self, kind: &str, root: Node<'_>) -> Option<CallRefusal> {
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
            return self.unknown_target(field(root, "target"));
        }
        let items = field(root, "batch_items").filter(|items| items.is_array());
        let mut items = items.into_iter().flat_map(Node::children).peekable();
        if items.peek().is_none() {
            let why = "a batch has at least one call".to_owned();
            return Some(("MalformedEnvelope", "InvalidArgs", why, None));
        }
        items.enumerate().find_map(|(at, item)| {
            let target = field(item, "target");
            let (real, document, why, _) = self.unknown_target(target)?;
            let details = Object::default().json("batch_index", &at.to_string());
            let details = details.optional("target", target.map(json_of)).finish();
            let why = format!("batch item at index {at}: {why}");
            Some((real, document, why, Some(details)))
        })
    }

    /// Returns the refusal of an unknown target; without offers every target is known.
    fn unknown_target(&self, target: Option<Node<'_>>) -> Option<CallRefusal> {
        let target = target.and_then(Node::text).unwrap_or_default();
        let known = |offer: &Offer| offer.name == target;
        if self.offers.is_empty() || self.offers.iter().any(known) {
            return None;
        }
        let short = shorten(&target);
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

    /// Handles a request.
    fn handle_request(&mut self, seen: &Seen<'_>, root: Node<'_>, outgoing: &mut Vec<Outgoing>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let kind = seen.message.kind.as_ref();
        let Some(id) = self.id_of(conn, root) else {
            return self.answer_malformed(conn, None, outgoing);
        };
        if let Some((real, document, why, details)) = self.find_refusal(kind, root) {
            let code = if self.is_document(conn) {
                document
            } else {
                real
            };
            outgoing.push(Outgoing::new(
                conn,
                failure(&id, code, &why, details.as_deref()),
            ));
            return;
        }
        if matches!(kind, "stream" | "channel") {
            let name = seen.message.id.text();
            self.flows.open(conn, &name, kind == "channel", false);
        }
    }

    /// Detects a peer that uses the document's dialect by messages that only the document has.
    fn detect_dialect(&mut self, seen: &Seen<'_>, root: Node<'_>) {
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

impl Peer for SaikuroPeer {
    fn opened(&mut self, conn: u32, _: i64, outgoing: &mut Vec<Outgoing>) {
        let mut hello = Hello::default();
        if !self.is_runtime && !self.offers.is_empty() {
            hello = Hello::Due;
            if !self.no_hello {
                let all = announce::messages(&self.offers, self.document, &mut self.id_gen);
                outgoing.extend(all.into_iter().map(|message| Outgoing::new(conn, message)));
            }
        }
        let document = false;
        self.conns.insert(conn, PeerConnection { document, hello });
    }

    fn received(&mut self, seen: &Seen<'_>, _: i64, outgoing: &mut Vec<Outgoing>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let message = seen.message;
        let Some(root) = seen.root().filter(|_| message.valid) else {
            return self.answer_malformed(conn, None, outgoing);
        };
        self.detect_dialect(seen, root);
        let id = self.id_of(conn, root);
        let name = message.id.text();
        match (message.kind.as_ref(), message.role) {
            ("announce", _) if self.is_runtime => {
                let id = id.unwrap_or_else(|| generate_id(&mut self.id_gen));
                let ack = announce::ack(root, &id);
                outgoing.push(Outgoing::new(conn, ack));
            }
            ("call" | "stream" | "channel" | "batch" | "resource", Some(Role::Request)) => {
                self.handle_request(seen, root, outgoing);
            }
            // The document has no answer to a cast, and providers send none.
            ("log", _) if self.is_runtime && !self.is_document(conn) => match id {
                Some(id) => outgoing.push(Outgoing::new(conn, success(&id).finish())),
                None => self.answer_malformed(conn, None, outgoing),
            },
            ("announce_ack" | "response" | "error", _) => {
                let hello = &mut self.conns.entry(conn).hello;
                hello.answered(root, &name);
                if message.role == Some(Role::Error) {
                    self.flows.remove(conn, &name);
                }
            }
            ("abort" | "stream-error", _) => self.flows.remove(conn, &name),
            (_, Some(Role::End)) => {
                let aborts = field(root, "stream_control").is_some_and(|c| c.is_text("abort"));
                if aborts {
                    return self.flows.remove(conn, &name);
                }
                if let Some((flow, id)) = self.flows.closed_by_peer(conn, &name).zip(id) {
                    let document = self.is_document(conn);
                    outgoing.push(Outgoing::new(conn, flows::close(&id, flow, document)));
                }
            }
            ("pause" | "resume" | "channel", Some(Role::Notification)) => {
                let control = field(root, "stream_control");
                if control.is_some_and(|c| c.is_text("pause")) {
                    self.flows.pause(conn, &name);
                } else if control.is_some_and(|c| c.is_text("resume")) {
                    let held = self.flows.resume(conn, &name);
                    outgoing.extend(held.into_iter().map(|message| Outgoing::new(conn, message)));
                }
            }
            (_, None) => {
                let own = id.filter(|_| matches!(message.id, Id::Uuid(_)));
                self.answer_malformed(conn, own, outgoing);
            }
            _ => {}
        }
    }

    fn sent(&mut self, seen: &Seen<'_>, _: i64) {
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
            ("abort" | "stream-error", _) => self.flows.remove(conn, &name),
            (_, Some(Role::Item)) => {
                let seq = field(root, "seq").and_then(Node::as_i128);
                self.flows.record_item(conn, &name, seq);
            }
            (_, Some(Role::End)) => self.flows.closed_here(conn, &name),
            _ => {}
        }
    }

    fn closed(&mut self, conn: u32, _: i64) {
        self.conns.remove(&conn);
        self.flows.remove_connection(conn);
    }

    fn readiness(&self, conn: u32) -> Readiness {
        match self.conns.get(&conn) {
            Some(conn) => conn.hello.readiness(),
            None => Readiness::Ready,
        }
    }

    fn encode_reply(&mut self, to: &Request, reply: PeerReply<'_>, _: i64) -> Result<Outgoing> {
        self.put(to, reply)
    }
}

/// Starts a successful answer.
fn success(id: &str) -> Object {
    Object::default().json("id", id).json("ok", "true")
}

fn error(code: &str, why: &str, details: Option<&str>) -> String {
    let error = Object::default().text("code", code).text("message", why);
    error
        .optional("details", details.map(str::to_owned))
        .finish()
}

/// Builds an error answer.
fn failure(id: &str, code: &str, why: &str, details: Option<&str>) -> String {
    let answer = Object::default().json("id", id).json("ok", "false");
    answer.json("error", &error(code, why, details)).finish()
}

/// Builds an envelope that starts a call, stream or channel.
fn envelope(kind: &str, target: &str, args: &str, id_gen: &mut IdGen) -> String {
    let envelope = Object::default()
        .json("version", VERSION)
        .text("type", kind);
    let envelope = envelope
        .json("id", &generate_id(id_gen))
        .text("target", target);
    envelope.json("args", args).finish()
}

/// Generates an id as the runtime writes it: sixteen bytes.
fn generate_id(id_gen: &mut IdGen) -> String {
    bytes_json(&id_gen.uuid())
}

/// Returns the UUID of an id in a decoded or a JSON message.
fn uuid_of(id: Node<'_>) -> Option<[u8; 16]> {
    match (json_bytes(id), id.text()) {
        (Some(bytes), _) => <[u8; 16]>::try_from(bytes.as_slice()).ok(),
        (None, Some(text)) => parse_uuid(text.as_bytes()),
        (None, None) => match message::id(id) {
            Id::Uuid(uuid) => Some(uuid),
            _ => None,
        },
    }
}

/// Returns the id in a JSON message as [`message::id`] would show it.
fn name_of(id: Node<'_>) -> String {
    match (uuid_of(id), json_bytes(id), id.text()) {
        (Some(uuid), ..) => Id::Uuid(uuid).text().into_owned(),
        (None, Some(bytes), _) => hex::encode(bytes),
        (None, None, Some(text)) => text.into_owned(),
        (None, None, None) => message::id(id).text().into_owned(),
    }
}

//! The component server: answers the handshake, and lists its components.

use super::{COMPONENT_NOT_FOUND, VERSION};
use crate::error::Result;
use crate::protocol::Role;
use crate::protocol::make::{IdGen, Object, array};
use crate::protocol::peer::{
    Offer, Outgoing, Peer, PeerConfig, PeerReply, Request, shorten, with_about,
};
use crate::protocol::rpc::build::{self, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::protocol::rpc::{Call, spelling};
use crate::protocol::session::Seen;
use crate::tape::Node;

/// The codes of a version mismatch: of releases A and B, and of C.
const VERSION_MISMATCH: [i32; 2] = [-32002, -32006];

/// Calls are answered even without a session: a runtime that restarts its server does not open one again, and most real
/// servers do not require it.
pub(super) struct StepflowServer {
    id_gen: IdGen,
    offers: Vec<Offer>,
}

/// A refusal: code, text and data.
type ServerRefusal = (i32, String, Option<String>);

impl StepflowServer {
    pub(super) fn new(config: &PeerConfig) -> Self {
        Self {
            id_gen: config.mint(),
            offers: config.offers.clone(),
        }
    }

    /// Returns the answer to a request; `None` if the script must answer.
    fn answer(
        &self,
        method: &str,
        params: Option<Node<'_>>,
    ) -> Result<Option<String>, ServerRefusal> {
        if params.is_some_and(|p| !p.is_map() && !p.is_null()) {
            let why = "invalid params: they must be an object";
            return Err((INVALID_PARAMS, why.into(), None));
        }
        match method {
            "initialize" => initialize(params).map(Some),
            "components/list" => {
                let entries: Vec<String> = self.offers.iter().map(entry).collect();
                let list = Object::default().json("components", &array(&entries));
                Ok(Some(list.finish()))
            }
            "components/info" => {
                let offer = self.offer(params)?;
                Ok(offer.map(|offer| Object::default().json("info", &entry(offer)).finish()))
            }
            "components/execute" => self.offer(params).map(|_| None),
            "components/infer_schema" => Ok(None),
            _ => {
                let why = format!("Method not found: {}", shorten(method));
                Err((METHOD_NOT_FOUND, why, None))
            }
        }
    }

    /// Returns the component of a request; `None` if the components are not known.
    fn offer(&self, params: Option<Node<'_>>) -> Result<Option<&Offer>, ServerRefusal> {
        // The document names a component with an object, every peer with text.
        let component = params.and_then(|p| p.get("component"));
        let name = component.and_then(|c| c.get("name").unwrap_or(c).text());
        let Some(name) = name else {
            let why = "invalid params: missing component";
            return Err((INVALID_PARAMS, why.into(), None));
        };
        let found = self.offers.iter().find(|offer| offer.name == name);
        if found.is_some() || self.offers.is_empty() {
            return Ok(found);
        }
        let data = Object::default().text("component", &name).finish();
        let why = format!("Component '{}' not found", shorten(&name));
        Err((COMPONENT_NOT_FOUND, why, Some(data)))
    }
}

fn initialize(params: Option<Node<'_>>) -> Result<String, ServerRefusal> {
    let spellings = [
        ("runtime_protocol_version", "server_protocol_version"),
        ("runtimeProtocolVersion", "serverProtocolVersion"),
    ];
    let versions = spellings.iter().zip(VERSION_MISMATCH);
    for ((theirs, ours), mismatch) in versions {
        let Some(version) = params.and_then(|p| p.get(theirs)) else {
            continue;
        };
        // Initialization: versions must be equal.
        if version.as_i128() == VERSION.parse().ok() {
            return Ok(Object::default().json(ours, VERSION).finish());
        }
        let why = format!(
            "version {} is not supported, only {VERSION}",
            shorten(spelling(version))
        );
        return Err((mismatch, why, None));
    }
    let why = "invalid params: missing runtime_protocol_version";
    Err((INVALID_PARAMS, why.into(), None))
}

/// Builds the list entry of a component.
fn entry(offer: &Offer) -> String {
    let entry = Object::default().text("component", &offer.name);
    with_about(entry, &["component"], offer.about.as_deref()).finish()
}

impl Peer for StepflowServer {
    fn received(&mut self, seen: &Seen<'_>, _: i64, outgoing: &mut Vec<Outgoing>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let call = seen.root().map(Call::of).unwrap_or_default();
        // Both sides treat a null id as absent.
        let id = call.id.map(spelling).filter(|id| *id != "null");
        let Some(id) = id.filter(|_| seen.message.role == Some(Role::Request)) else {
            return;
        };
        let method = call.method.and_then(Node::text).unwrap_or_default();
        let answer = match self.answer(&method, call.params) {
            Ok(None) => return,
            Ok(Some(result)) => build::result(id, &result),
            Err((code, why, data)) => build::error(id, &code.to_string(), &why, data.as_deref()),
        };
        outgoing.push(Outgoing::new(conn, answer));
    }

    fn encode_reply(&mut self, to: &Request, reply: PeerReply<'_>, _: i64) -> Result<Outgoing> {
        super::encode_reply(to, reply, &mut self.id_gen)
    }
}

//! The component server: greets the runtime, and says what components there are.

use super::{COMPONENT_NOT_FOUND, VERSION};
use crate::error::Refusal;
use crate::protocol::Role;
use crate::protocol::jsonrpc::say::{self, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::protocol::jsonrpc::{Call, spelling};
use crate::protocol::make::{Mint, Object, array};
use crate::protocol::peer::{Offer, Peer, PeerConfig, Phrase, Request, Says, with_about};
use crate::protocol::session::Seen;
use crate::tape::Node;

/// Versions differ: as releases A and B say it, and as C does.
const VERSION_MISMATCH: [i32; 2] = [-32002, -32006];

/// Calls are served whether or not the session was opened: a runtime that restarts its server does not open one again, and
/// most real servers do not ask for it.
pub(super) struct Server {
    mint: Mint,
    offers: Vec<Offer>,
}

/// Why a request cannot be served: code, words, and more.
type Refused = (i32, String, Option<String>);

impl Server {
    pub(super) fn new(config: &PeerConfig) -> Self {
        Self {
            mint: config.mint(),
            offers: config.offers.clone(),
        }
    }

    /// What a request is answered with; `None` where that is for the script to say.
    fn serve(&self, method: &str, params: Option<Node<'_>>) -> Result<Option<String>, Refused> {
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
                let short: String = method.chars().take(80).collect();
                Err((METHOD_NOT_FOUND, format!("Method not found: {short}"), None))
            }
        }
    }

    /// The component that is meant; none where it is not known what there is.
    fn offer(&self, params: Option<Node<'_>>) -> Result<Option<&Offer>, Refused> {
        // The document names a component by an object, every peer by text.
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
        let short: String = name.chars().take(80).collect();
        let data = Object::default().text("component", &name).finish();
        let why = format!("Component '{short}' not found");
        Err((COMPONENT_NOT_FOUND, why, Some(data)))
    }
}

fn initialize(params: Option<Node<'_>>) -> Result<String, Refused> {
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
        let short: String = spelling(version).chars().take(80).collect();
        let why = format!("version {short} is not spoken here, {VERSION} is");
        return Err((mismatch, why, None));
    }
    let why = "invalid params: missing runtime_protocol_version";
    Err((INVALID_PARAMS, why.into(), None))
}

/// A component as lists have it.
fn entry(offer: &Offer) -> String {
    let entry = Object::default().text("component", &offer.name);
    with_about(entry, &["component"], offer.about.as_deref()).finish()
}

impl Peer for Server {
    fn heard(&mut self, seen: &Seen<'_>, _: i64, says: &mut Vec<Says>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let call = seen.root().map(Call::of).unwrap_or_default();
        // An id that is null is none, to either side.
        let id = call.id.map(spelling).filter(|id| *id != "null");
        let Some(id) = id.filter(|_| seen.message.role == Some(Role::Request)) else {
            return;
        };
        let method = call.method.and_then(Node::text).unwrap_or_default();
        let answer = match self.serve(&method, call.params) {
            Ok(None) => return,
            Ok(Some(result)) => say::result(id, &result),
            Err((code, why, data)) => say::error(id, &code.to_string(), &why, data.as_deref()),
        };
        says.push(Says::new(conn, answer));
    }

    fn phrase(&mut self, to: &Request, phrase: Phrase<'_>, _: i64) -> Result<Says, Refusal> {
        super::phrase(to, phrase, &mut self.mint)
    }
}

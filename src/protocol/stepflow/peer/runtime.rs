//! The runtime: opens sessions, and answers what servers ask back.

use super::blobs::Blobs;
use super::{VERSION, fresh_id, is_http};
use crate::error::Refusal;
use crate::protocol::Role;
use crate::protocol::jsonrpc::say::{self, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::protocol::jsonrpc::{Call, spelling};
use crate::protocol::make::{Mint, Object};
use crate::protocol::peer::{MOST, Peer, PeerConfig, Phrase, Readiness, Recent, Request, Says};
use crate::protocol::session::Seen;
use crate::tape::Node;

/// What calls wait for.
const WAITS: &str = "the answer to initialize";

/// How far a session is.
#[derive(Debug, Default)]
enum Stage {
    /// Nothing was said.
    #[default]
    New,
    /// `initialize` was said on a connection, with this id.
    Asked(u32, String),
    /// It was answered, and `initialized` is to be said.
    Answered,
    /// That was said, too.
    Open,
    /// The server wants none.
    Refused(String),
}

pub(super) struct Runtime {
    no_hello: bool,
    dialect: Option<String>,
    mint: Mint,
    /// All connections are one session.
    http: bool,
    /// By connection; one without where all are one.
    sessions: Recent<Option<u32>, Stage>,
    blobs: Blobs,
}

impl Runtime {
    pub(super) fn new(config: &PeerConfig) -> Self {
        Self {
            no_hello: config.no_hello,
            dialect: config.dialect.clone(),
            mint: config.mint(),
            http: false,
            sessions: Recent::with_room(MOST),
            blobs: Blobs::default(),
        }
    }

    fn key(&self, conn: u32) -> Option<u32> {
        (!self.http).then_some(conn)
    }

    fn initialize(&mut self) -> String {
        let version = match self.dialect.as_deref() {
            Some("C") => "runtimeProtocolVersion",
            _ => "runtime_protocol_version",
        };
        let params = Object::default().json(version, VERSION).finish();
        say::request(&fresh_id(&mut self.mint), "initialize", Some(&params))
    }

    /// What a server asks back: code and words where it cannot have it.
    fn serve(&mut self, method: &str, params: Option<Node<'_>>) -> Result<String, (i32, String)> {
        let missing = |name: &str| (INVALID_PARAMS, format!("invalid params: missing {name}"));
        let text = |name: &str| params.and_then(|p| p.get(name)?.text());
        match method {
            "blobs/put" => {
                let data = params.and_then(|p| p.get("data"));
                let data = data.ok_or_else(|| missing("data"))?;
                let id = self.blobs.put(data, text("blob_type").as_deref());
                let id = id.ok_or_else(|| (super::USUAL, "Failed to put blob".to_owned()))?;
                Ok(Object::default().text("blob_id", &id).finish())
            }
            "blobs/get" => {
                let id = text("blob_id").ok_or_else(|| missing("blob_id"))?;
                // What the runtimes of each release say; the documents of B swap this code and the next.
                let code = match self.dialect.as_deref() {
                    Some("A") => -32008,
                    _ => -32011,
                };
                let short: String = id.chars().take(80).collect();
                let blob = self.blobs.get(&id).map(str::to_owned);
                blob.ok_or_else(|| (code, format!("Blob not found: {short}")))
            }
            _ => {
                let short: String = method.chars().take(80).collect();
                Err((METHOD_NOT_FOUND, format!("Method not found: {short}")))
            }
        }
    }
}

impl Peer for Runtime {
    fn opened(&mut self, conn: u32, _: i64, says: &mut Vec<Says>) {
        let key = self.key(conn);
        if !self.http {
            self.sessions.put(key, Stage::New);
        }
        if !self.no_hello && matches!(self.sessions.entry(key), Stage::New) {
            let message = self.initialize();
            says.push(Says::new(conn, message));
        }
    }

    fn heard(&mut self, seen: &Seen<'_>, _: i64, says: &mut Vec<Says>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let call = seen.root().map(Call::of).unwrap_or_default();
        let Some(id) = call.id.map(spelling) else {
            return;
        };
        match seen.message.role {
            Some(Role::Response | Role::Error) => {
                let key = self.key(conn);
                let stage = self.sessions.entry(key);
                if !matches!(stage, Stage::Asked(_, asked) if asked == id) {
                    return;
                }
                if let Some(error) = call.error() {
                    let part = |name| {
                        error
                            .get(name)
                            .map(|n| n.text().unwrap_or(spelling(n).into()))
                    };
                    let (code, message) = (part("code"), part("message"));
                    *stage = Stage::Refused(format!(
                        "initialize was answered with error {}: {}",
                        code.unwrap_or_default(),
                        message.unwrap_or_default()
                    ));
                    return;
                }
                *stage = Stage::Answered;
                if !self.no_hello {
                    let message = say::notification("initialized", Some("{}"));
                    says.push(Says::new(conn, message));
                }
            }
            // An id that is null is none, to either side.
            Some(Role::Request) if id != "null" => {
                let method = call.method.and_then(Node::text).unwrap_or_default();
                let answer = match self.serve(&method, call.params) {
                    Ok(result) => say::result(id, &result),
                    Err((code, why)) => say::error(id, &code.to_string(), &why, None),
                };
                says.push(Says::new(conn, answer));
            }
            _ => {}
        }
    }

    fn said(&mut self, seen: &Seen<'_>, _: i64) {
        let conn = seen.origin.conn.unwrap_or_default();
        let call = seen.root().map(Call::of).unwrap_or_default();
        let method = call.method.and_then(Node::text);
        match (method.as_deref(), call.id) {
            (Some("initialize"), Some(id)) => {
                self.http |= is_http(seen);
                let stage = Stage::Asked(conn, spelling(id).to_owned());
                self.sessions.put(self.key(conn), stage);
            }
            (Some("initialized"), None) => {
                self.sessions.put(self.key(conn), Stage::Open);
            }
            _ => {}
        }
    }

    fn closed(&mut self, conn: u32, _: i64) {
        if !self.http {
            self.sessions.take(&Some(conn));
        } else if matches!(self.sessions.get(&None), Some(Stage::Asked(asked, _)) if *asked == conn)
        {
            // It will never be answered: the next connection begins anew.
            self.sessions.take(&None);
        }
    }

    fn readiness(&self, conn: u32) -> Readiness {
        match self.sessions.get(&self.key(conn)) {
            Some(Stage::Open) => Readiness::Ready,
            Some(Stage::Refused(why)) => Readiness::Refused(why.clone()),
            _ => Readiness::Waits(WAITS),
        }
    }

    fn phrase(&mut self, to: &Request, phrase: Phrase<'_>, _: i64) -> Result<Says, Refusal> {
        super::phrase(to, phrase, &mut self.mint)
    }
}

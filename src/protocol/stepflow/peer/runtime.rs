//! The runtime: opens sessions, and answers callbacks of servers.

use super::blobs::Blobs;
use super::{DIALECT, VERSION, is_http};
use crate::error::Result;
use crate::protocol::Role;
use crate::protocol::make::{IdGen, Object};
use crate::protocol::peer::{
    MAX_ENTRIES, Outgoing, Peer, PeerConfig, PeerReply, Readiness, RecentEntries, Request, shorten,
};
use crate::protocol::rpc::build::{self, INVALID_PARAMS};
use crate::protocol::rpc::peer::{PeerAnswer, method_not_found};
use crate::protocol::rpc::{Call, spelling};
use crate::protocol::session::Seen;
use crate::tape::Node;

/// The reason why calls wait.
const WAITS: &str = "the answer to initialize";

/// The state of a session.
#[derive(Debug, Default)]
enum SessionStage {
    /// Nothing was sent.
    #[default]
    New,
    /// `initialize` was sent on a connection, with this id.
    Requested(u32, String),
    /// It was answered, and `initialized` must be sent.
    Answered,
    /// `initialized` was sent.
    Open,
    /// The server has refused the session.
    Refused(String),
}

pub(super) struct Runtime {
    no_hello: bool,
    dialect: Option<String>,
    id_gen: IdGen,
    /// All connections are one session.
    http: bool,
    /// Sessions by connection; `None` if all connections are one session.
    sessions: RecentEntries<Option<u32>, SessionStage>,
    blobs: Blobs,
}

impl Runtime {
    pub(super) fn new(config: &PeerConfig) -> Self {
        Self {
            no_hello: config.no_hello,
            dialect: config.dialect.clone(),
            id_gen: config.mint(),
            http: false,
            sessions: RecentEntries::with_capacity(MAX_ENTRIES),
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
        build::request(
            &(DIALECT.new_id)(&mut self.id_gen),
            "initialize",
            Some(&params),
        )
    }

    /// Answers a callback. An error is a code and a text.
    fn answer(&mut self, method: &str, params: Option<Node<'_>>) -> PeerAnswer {
        let missing = |name: &str| (INVALID_PARAMS, format!("invalid params: missing {name}"));
        let text = |name: &str| params.and_then(|p| p.get(name)?.text());
        match method {
            "blobs/put" => {
                let data = params.and_then(|p| p.get("data"));
                let data = data.ok_or_else(|| missing("data"))?;
                let id = self.blobs.put(data, text("blob_type").as_deref());
                let id =
                    id.ok_or_else(|| (super::DEFAULT_CODE, "Failed to put blob".to_owned()))?;
                Ok(Object::default().text("blob_id", &id).finish())
            }
            "blobs/get" => {
                let id = text("blob_id").ok_or_else(|| missing("blob_id"))?;
                // The codes of the runtimes of each release; the documents of B swap this code and the next.
                let code = match self.dialect.as_deref() {
                    Some("A") => -32008,
                    _ => -32011,
                };
                let blob = self.blobs.get(&id).map(str::to_owned);
                blob.ok_or_else(|| (code, format!("Blob not found: {}", shorten(&id))))
            }
            _ => method_not_found(method),
        }
    }
}

impl Peer for Runtime {
    fn opened(&mut self, conn: u32, _: i64, outgoing: &mut Vec<Outgoing>) {
        let key = self.key(conn);
        if !self.http {
            self.sessions.insert(key, SessionStage::New);
        }
        if !self.no_hello && matches!(self.sessions.entry(key), SessionStage::New) {
            let message = self.initialize();
            outgoing.push(Outgoing::new(conn, message));
        }
    }

    fn received(&mut self, seen: &Seen<'_>, _: i64, outgoing: &mut Vec<Outgoing>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let call = seen.root().map(Call::of).unwrap_or_default();
        let Some(id) = call.id.map(spelling) else {
            return;
        };
        match seen.message.role {
            Some(Role::Response | Role::Error) => {
                let key = self.key(conn);
                let stage = self.sessions.entry(key);
                if !matches!(stage, SessionStage::Requested(_, asked) if asked == id) {
                    return;
                }
                if let Some(error) = call.error() {
                    let part = |name| {
                        error
                            .get(name)
                            .map(|n| n.text().unwrap_or(spelling(n).into()))
                    };
                    let (code, message) = (part("code"), part("message"));
                    *stage = SessionStage::Refused(format!(
                        "initialize was answered with error {}: {}",
                        code.unwrap_or_default(),
                        message.unwrap_or_default()
                    ));
                    return;
                }
                *stage = SessionStage::Answered;
                if !self.no_hello {
                    let message = build::notification("initialized", Some("{}"));
                    outgoing.push(Outgoing::new(conn, message));
                }
            }
            // Both sides treat a null id as absent.
            Some(Role::Request) if id != "null" => {
                let method = call.method.and_then(Node::text).unwrap_or_default();
                let answer = match self.answer(&method, call.params) {
                    Ok(result) => build::result(id, &result),
                    Err((code, why)) => build::error(id, &code.to_string(), &why, None),
                };
                outgoing.push(Outgoing::new(conn, answer));
            }
            _ => {}
        }
    }

    fn sent(&mut self, seen: &Seen<'_>, _: i64) {
        let conn = seen.origin.conn.unwrap_or_default();
        let call = seen.root().map(Call::of).unwrap_or_default();
        let method = call.method.and_then(Node::text);
        match (method.as_deref(), call.id) {
            (Some("initialize"), Some(id)) => {
                self.http |= is_http(seen);
                let stage = SessionStage::Requested(conn, spelling(id).to_owned());
                self.sessions.insert(self.key(conn), stage);
            }
            (Some("initialized"), None) => {
                self.sessions.insert(self.key(conn), SessionStage::Open);
            }
            _ => {}
        }
    }

    fn closed(&mut self, conn: u32, _: i64) {
        if !self.http {
            self.sessions.remove(&Some(conn));
        } else if matches!(self.sessions.get(&None), Some(SessionStage::Requested(asked, _)) if *asked == conn)
        {
            // It will not be answered: the next connection starts again.
            self.sessions.remove(&None);
        }
    }

    fn readiness(&self, conn: u32) -> Readiness {
        match self.sessions.get(&self.key(conn)) {
            Some(SessionStage::Open) => Readiness::Ready,
            Some(SessionStage::Refused(why)) => Readiness::Refused(why.clone()),
            _ => Readiness::Waits(WAITS.into()),
        }
    }

    fn encode_reply(&mut self, to: &Request, reply: PeerReply<'_>, _: i64) -> Result<Outgoing> {
        super::encode_reply(to, reply, &mut self.id_gen)
    }
}

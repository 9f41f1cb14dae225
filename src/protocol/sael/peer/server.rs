//! The server: what it answers of itself.

use super::sessions::{Open, Session, Sessions};
use super::{SECOND, err, frame, in_call, seq, short};
use crate::error::Refusal;
use crate::protocol::make::{Mint, Object, array, text};
use crate::protocol::peer::{
    MOST, Offer, Peer, PeerConfig, Phrase, Readiness, Recent, Request, Says, json_of, look,
    with_about,
};
use crate::protocol::sael::capability::{self, Verdict};
use crate::protocol::session::Seen;
use crate::tape::Node;

/// How long a session is kept without a connection, in seconds.
pub(super) const TTL: i64 = 3600;
/// A client that is silent for longer is gone (heartbeats of the server).
const SILENCE: i64 = 90 * SECOND;

/// Longest topic or capability that is kept, and most capabilities.
pub(super) const LONGEST: usize = 1 << 8;

/// What is known of a connection.
#[derive(Debug, Default)]
pub(super) struct Conn {
    /// Its session; one without a name before HEY, which real servers allow.
    pub(super) session: String,
    /// HEY or RSM let it in.
    pub(super) is_in: bool,
    is_closed: bool,
    /// When its client was heard last.
    heard: i64,
}

pub(super) struct Server {
    pub(super) name: Option<String>,
    pub(super) secret: Option<Vec<u8>>,
    pub(super) no_hello: bool,
    pub(super) offers: Vec<Offer>,
    pub(super) mint: Mint,
    pub(super) sessions: Sessions,
    /// Those that are closed, too: answers may still be on their way to them.
    pub(super) conns: Recent<u32, Conn>,
    /// Calls that were cancelled, by session and number.
    pub(super) cancelled: Recent<(String, i128), ()>,
}

impl Server {
    pub(super) fn new(config: &PeerConfig) -> Self {
        Self {
            name: config.name.clone(),
            secret: config.secret.clone(),
            no_hello: config.no_hello,
            offers: config.offers.clone(),
            mint: config.mint(),
            sessions: Sessions::default(),
            conns: Recent::with_room(MOST),
            cancelled: Recent::with_room(MOST),
        }
    }

    /// The session of a connection; one is made where there is none yet.
    pub(super) fn session(&mut self, conn: u32) -> &mut Session {
        let state = self.conns.entry(conn);
        if state.session.is_empty() {
            // No id that is ever told begins like this, so that nobody can take it up.
            state.session = format!("#{conn}");
        }
        let id = state.session.clone();
        self.sessions.entry(&id, conn)
    }

    /// The version that a client speaks.
    fn version(&mut self, conn: u32) -> u8 {
        let id = &self.conns.entry(conn).session;
        self.sessions.get(id).map_or(1, |session| session.v)
    }

    /// What keeps a call from being served: code, words, and the stage of a pipeline.
    fn objection(
        &mut self,
        conn: u32,
        root: Node<'_>,
    ) -> Option<(&'static str, String, Option<usize>)> {
        let session = self.session(conn);
        let (window, outstanding) = (session.window, session.outstanding());
        let is_full = session.is_full();
        let granted = session.granted.clone();
        // MUST (Backpressure): no more than the window.
        if outstanding >= window || is_full {
            let why = format!("{outstanding} of {window} requests are open");
            return Some(("BACKPRESSURE", why, None));
        }
        let stages = root.get("pipeline").filter(|p| p.is_array());
        let mut stages = stages.into_iter().flat_map(Node::children).peekable();
        let judge = |tool: Option<Node<'_>>, stage| {
            let name = tool.and_then(Node::text).unwrap_or_default();
            let (code, why) = self.tool(&name, &granted).err()?;
            Some((code, why, stage))
        };
        if stages.peek().is_none() {
            return judge(root.get("tool"), None);
        }
        let tools = stages
            .enumerate()
            .filter_map(|(at, stage)| Some((at, stage.get("tool")?)));
        let mut objections = tools.filter_map(|(at, tool)| judge(Some(tool), Some(at)));
        objections.next()
    }

    /// Whether a tool can be had; nothing is known of that where none is offered.
    fn tool(&self, name: &str, granted: &[String]) -> Result<(), (&'static str, String)> {
        if self.offers.is_empty() && !name.is_empty() {
            return Ok(());
        }
        let Some(offer) = self.offers.iter().find(|offer| is_called(offer, name)) else {
            return Err(("TOOL_NOT_FOUND", format!("tool: {}", short(name))));
        };
        let about = offer.about.as_deref().unwrap_or("{}");
        let needs = look(about, |about| {
            let needs = about.get("requires_capability")?.text()?;
            Some(needs.into_owned())
        });
        let Some(needs) = needs.flatten().filter(|needs| !needs.is_empty()) else {
            return Ok(());
        };
        let granted: Vec<&str> = granted.iter().map(String::as_str).collect();
        match capability::allows(&granted, &needs).document.verdict {
            Verdict::No => Err((
                "MISSING_CAPABILITY",
                format!("{} requires {}", short(name), short(&needs)),
            )),
            Verdict::Yes | Verdict::Open => Ok(()),
        }
    }

    fn called(&mut self, conn: u32, seq: i128, root: Node<'_>, says: &mut Vec<Says>) {
        if let Some((code, why, stage)) = self.objection(conn, root) {
            let v = self.session(conn).v;
            let no = in_call(v, "ERR", seq)
                .text("code", code)
                .text("message", &why);
            let no = no.maybe("stage", stage.map(|at| at.to_string()));
            says.push(Says::new(conn, no.finish()));
            return;
        }
        let name = root.get("tool").and_then(Node::text).unwrap_or_default();
        let mut offers = self.offers.iter();
        let streams = offers.any(|offer| offer.streams && is_called(offer, &name));
        self.session(conn).open(seq, Open::Call { streams });
    }

    /// UNS and CAN, which real servers treat alike: a call that ends like this says so.
    fn ended(&mut self, conn: u32, seq: i128, says: &mut Vec<Says>) {
        let session = self.session(conn);
        let v = session.v;
        if let Some(Open::Call { .. }) = session.close(seq) {
            let id = self.conns.entry(conn).session.clone();
            self.cancelled.put((id, seq), ());
            let no = err(v, seq, "CANCELLED", "the client cancelled it");
            says.push(Says::new(conn, no));
        }
    }

    fn tools(&self) -> String {
        let entries: Vec<String> = self.offers.iter().map(tool).collect();
        array(&entries)
    }

    /// One of the client's frames, of a client that was let in.
    fn asked(&mut self, kind: &str, conn: u32, root: Node<'_>, says: &mut Vec<Says>) {
        let v = self.session(conn).v;
        let number = seq(root);
        let Some(seq) = number else {
            let why = format!("{kind}: seq must be an integer of 1 to 2^53-1");
            return says.push(Says::new(conn, err(v, 0, "INVALID_INPUT", &why)));
        };
        match kind {
            "LST" => {
                let list = in_call(v, "LST", seq).json("tools", &self.tools());
                says.push(Says::new(conn, list.finish()));
            }
            "INV" => self.called(conn, seq, root, says),
            "SUB" => {
                let topic = root.get("topic").and_then(Node::text);
                let Some(topic) = topic.filter(|topic| topic.len() <= LONGEST) else {
                    let why = format!("SUB: topic must be text, of at most {LONGEST} bytes");
                    let no = err(v, seq, "INVALID_INPUT", &why);
                    return says.push(Says::new(conn, no));
                };
                let session = self.session(conn);
                if session.is_full() {
                    let no = err(v, seq, "BACKPRESSURE", "too much is open already");
                    return says.push(Says::new(conn, no));
                }
                session.open(seq, Open::Topic(topic.into_owned()));
                let yes = Says::new(conn, subscribed(v, seq).finish());
                says.push(Says {
                    acknowledges: true,
                    ..yes
                });
            }
            _ => self.ended(conn, seq, says),
        }
    }
}

/// The answer to a SUB.
pub(super) fn subscribed(v: u8, seq: i128) -> Object {
    in_call(v, "RES", seq).json("subscriptionId", &seq.to_string())
}

/// Whether a tool is called by a name: its own, with or without its version.
fn is_called(offer: &Offer, name: &str) -> bool {
    let bare = offer.name.split_once('@').map_or("", |(bare, _)| bare);
    !name.is_empty() && (offer.name == name || bare == name)
}

/// A tool as lists have it: its version is not in its name.
fn tool(offer: &Offer) -> String {
    let (name, version) = match offer.name.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (offer.name.as_str(), None),
    };
    let about = offer.about.as_deref().unwrap_or("{}");
    let described = look(about, |about| about.get("description").map(json_of));
    let described = described.flatten().unwrap_or_else(|| text(""));
    let streams = if offer.streams { "true" } else { "false" };
    let entry = Object::default().text("name", name);
    let entry = entry
        .json("description", &described)
        .json("streaming", streams);
    let entry = entry.maybe("version", version.map(text));
    let own: &[&str] = match version {
        Some(_) => &["name", "description", "streaming", "version"],
        None => &["name", "description", "streaming"],
    };
    with_about(entry, own, Some(about)).finish()
}

impl Peer for Server {
    fn opened(&mut self, conn: u32, now: i64, _: &mut Vec<Says>) {
        let state = Conn {
            heard: now,
            ..Conn::default()
        };
        self.conns.put(conn, state);
    }

    fn heard(&mut self, seen: &Seen<'_>, now: i64, says: &mut Vec<Says>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let (message, root) = (seen.message, seen.root());
        let state = self.conns.entry(conn);
        if state.is_closed {
            return;
        }
        state.heard = now;
        let is_in = state.is_in || self.secret.is_none();
        let kind = message.kind.as_ref();
        // In the header form a message may be its kind alone.
        let bare = message.valid && message.dialect.is_some();
        let is_frame = message.valid && root.map_or(bare, Node::is_map);
        let v = self.version(conn);
        match (kind, root) {
            _ if !is_frame => {
                let no = err(v, 0, "INVALID_FRAME", "this is no frame");
                says.push(Says::new(conn, no));
            }
            ("HEY", Some(root)) => self.hey(conn, root, now, says),
            ("RSM", Some(root)) => self.resume(conn, root, now, says),
            ("HBT", root) => {
                let ts = root.and_then(|root| root.get("ts")).map(json_of);
                let beat = frame(v, "HBA").json("ts", ts.as_deref().unwrap_or("null"));
                says.push(Says::new(conn, beat.finish()));
            }
            ("BYE", _) => {
                let id = self.conns.entry(conn).session.clone();
                self.sessions.end(&id);
                says.push(Says::close(conn));
            }
            // What it would update is nowhere defined.
            ("ACK", _) => {}
            ("LST" | "INV" | "SUB" | "UNS" | "CAN", Some(root)) if is_in => {
                self.asked(kind, conn, root, says);
            }
            ("HEY" | "RSM" | "LST" | "INV" | "SUB" | "UNS" | "CAN", None) if is_in => {
                let why = format!("{kind}: it has no members");
                says.push(Says::new(conn, err(v, 0, "INVALID_INPUT", &why)));
            }
            ("LST" | "INV" | "SUB" | "UNS" | "CAN", _) => {
                let no = err(v, 0, "AUTH_INVALID", "HEY with a token comes first");
                says.push(Says::new(conn, no).last());
            }
            _ => {
                let number = root.and_then(seq).unwrap_or_default();
                let why = format!("kind: {}", short(kind));
                says.push(Says::new(conn, err(v, number, "UNKNOWN_KIND", &why)));
            }
        }
    }

    fn said(&mut self, seen: &Seen<'_>, _: i64) {
        let conn = seen.origin.conn.unwrap_or_default();
        let Some(root) = seen.root() else {
            return;
        };
        let kind = seen.message.kind.as_ref();
        let number = seq(root);
        // Where somebody else says it, his session is the one that can be taken up.
        if kind == "HEY" {
            self.rename(conn, root);
        }
        let session = self.session(conn);
        if kind == "WIN"
            && let Some(window) = root.get("window").and_then(Node::as_i128)
        {
            session.window = u64::try_from(window).unwrap_or_default();
        }
        let Some(seq) = number else {
            return;
        };
        match kind {
            "RES" | "END" | "ERR" | "LST" => session.answered(seq),
            "STR" => session.streams(seq),
            _ => {}
        }
        let mut text = Vec::new();
        if let Some(parsed) = seen.message.value {
            parsed.write_message(seen.frame.view.bytes, &mut text);
        }
        session.keep(seq, String::from_utf8(text).unwrap_or_default());
    }

    fn closed(&mut self, conn: u32, now: i64) {
        let state = self.conns.entry(conn);
        state.is_closed = true;
        let id = state.session.clone();
        if let Some(session) = self.sessions.get(&id)
            && session.conn == Some(conn)
        {
            session.conn = None;
            session.until = now.saturating_add(TTL * SECOND);
        }
    }

    fn readiness(&self, conn: u32) -> Readiness {
        match self.conns.get(&conn) {
            Some(conn) if conn.is_in => Readiness::Ready,
            _ => Readiness::Waits("HEY of the client"),
        }
    }

    fn due(&self) -> Option<i64> {
        let open = self.conns.iter().filter(|(_, conn)| !conn.is_closed);
        open.map(|(_, conn)| silent(conn)).min()
    }

    fn tick(&mut self, now: i64, says: &mut Vec<Says>) {
        for name in self.conns.keys() {
            let conn = self.conns.entry(name);
            if !conn.is_closed && silent(conn) <= now {
                conn.is_closed = true;
                says.push(Says::close(name));
            }
        }
    }

    fn phrase(&mut self, to: &Request, phrase: Phrase<'_>, _: i64) -> Result<Says, Refusal> {
        self.put(to, phrase)
    }
}

/// When a client has been silent for too long: for more than so many seconds.
fn silent(conn: &Conn) -> i64 {
    conn.heard.saturating_add(SILENCE + 1)
}

//! The server: the answers that it sends by itself.

use super::sessions::{OpenSeq, PeerSession, SESSIONS};
use super::{SECOND, err, frame, in_call, seq, shorten};
use crate::error::Result;
use crate::protocol::make::{IdGen, Object, array, text};
use crate::protocol::peer::{
    MAX_ENTRIES, Offer, Outgoing, Peer, PeerConfig, PeerReply, Readiness, RecentEntries, Request,
    json_of, with_about, with_json,
};
use crate::protocol::sael::capability::{self, Grant};
use crate::protocol::session::Seen;
use crate::tape::Node;

/// The lifetime of a session without a connection, in seconds.
pub(super) const TTL: i64 = 3600;
/// A client that is silent for longer is considered gone (heartbeats of the server).
const SILENCE: i64 = 90 * SECOND;

/// The longest stored topic or capability, in bytes, and the largest number of capabilities.
pub(super) const LONGEST: usize = 1 << 8;

/// The state of a connection.
#[derive(Debug, Default)]
pub(super) struct ServerConnection {
    /// Its session. Before HEY the session has no name; real servers allow that.
    pub(super) session: String,
    /// HEY or RSM was accepted.
    pub(super) is_in: bool,
    is_closed: bool,
    /// The time of the last message of the client.
    last_received: i64,
}

pub(super) struct SaelServer {
    pub(super) name: Option<String>,
    pub(super) secret: Option<Vec<u8>>,
    pub(super) no_hello: bool,
    pub(super) offers: Vec<Offer>,
    pub(super) id_gen: IdGen,
    /// Sessions by id.
    pub(super) sessions: RecentEntries<String, PeerSession>,
    /// Connections, also closed ones: answers may still be on their way to them.
    pub(super) conns: RecentEntries<u32, ServerConnection>,
    /// Cancelled calls, by session and seq.
    pub(super) cancelled: RecentEntries<(String, i128), ()>,
}

impl SaelServer {
    pub(super) fn new(config: &PeerConfig) -> Self {
        Self {
            name: config.name.clone(),
            secret: config.secret.clone(),
            no_hello: config.no_hello,
            offers: config.offers.clone(),
            id_gen: config.mint(),
            sessions: RecentEntries::with_capacity(SESSIONS),
            conns: RecentEntries::with_capacity(MAX_ENTRIES),
            cancelled: RecentEntries::with_capacity(MAX_ENTRIES),
        }
    }

    /// Returns the session of a connection; creates one if there is none.
    pub(super) fn session(&mut self, conn: u32) -> &mut PeerSession {
        let state = self.conns.entry(conn);
        if state.session.is_empty() {
            // No sent id starts with `#`, so no client can resume this session.
            state.session = format!("#{conn}");
        }
        let id = state.session.clone();
        if self.sessions.get(&id).is_none() {
            self.sessions.insert(id.clone(), PeerSession::of(conn));
        }
        self.sessions.entry(id)
    }

    /// Returns the version that a client uses.
    fn version(&mut self, conn: u32) -> u8 {
        let id = &self.conns.entry(conn).session;
        self.sessions.get(id).map_or(1, |session| session.v)
    }

    /// Returns the reason why a call is refused: code, text, and the stage of a pipeline.
    fn find_refusal(
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

    /// Checks that a tool is available. Without offers, every tool is.
    fn tool(&self, name: &str, granted: &[String]) -> Result<(), (&'static str, String)> {
        if self.offers.is_empty() && !name.is_empty() {
            return Ok(());
        }
        let Some(offer) = self.offers.iter().find(|offer| is_called(offer, name)) else {
            return Err(("TOOL_NOT_FOUND", format!("tool: {}", shorten(name))));
        };
        let about = offer.about.as_deref().unwrap_or("{}");
        let needs = with_json(about, |about| {
            let needs = about.get("requires_capability")?.text()?;
            Some(needs.into_owned())
        });
        let Some(needs) = needs.flatten().filter(|needs| !needs.is_empty()) else {
            return Ok(());
        };
        let granted: Vec<&str> = granted.iter().map(String::as_str).collect();
        match capability::allows(&granted, &needs).document.verdict {
            Grant::No => Err((
                "MISSING_CAPABILITY",
                format!("{} requires {}", shorten(name), shorten(&needs)),
            )),
            Grant::Yes | Grant::Open => Ok(()),
        }
    }

    fn invoke(&mut self, conn: u32, seq: i128, root: Node<'_>, outgoing: &mut Vec<Outgoing>) {
        if let Some((code, why, stage)) = self.find_refusal(conn, root) {
            let v = self.session(conn).v;
            let refusal = in_call(v, "ERR", seq)
                .text("code", code)
                .text("message", &why);
            let refusal = refusal.optional("stage", stage.map(|at| at.to_string()));
            outgoing.push(Outgoing::new(conn, refusal.finish()));
            return;
        }
        let name = root.get("tool").and_then(Node::text).unwrap_or_default();
        let mut offers = self.offers.iter();
        let streams = offers.any(|offer| offer.streams && is_called(offer, &name));
        self.session(conn).open(seq, OpenSeq::Call { streams });
    }

    /// UNS and CAN, which real servers handle the same way: a cancelled call gets an error.
    fn cancel(&mut self, conn: u32, seq: i128, outgoing: &mut Vec<Outgoing>) {
        let session = self.session(conn);
        let v = session.v;
        if let Some(OpenSeq::Call { .. }) = session.close(seq) {
            let id = self.conns.entry(conn).session.clone();
            self.cancelled.insert((id, seq), ());
            let refusal = err(v, seq, "CANCELLED", "the client cancelled it");
            outgoing.push(Outgoing::new(conn, refusal));
        }
    }

    fn tools(&self) -> String {
        let entries: Vec<String> = self.offers.iter().map(tool).collect();
        array(&entries)
    }

    /// Handles a request of an admitted client.
    fn handle_request(
        &mut self,
        kind: &str,
        conn: u32,
        root: Node<'_>,
        outgoing: &mut Vec<Outgoing>,
    ) {
        let v = self.session(conn).v;
        let number = seq(root);
        let Some(seq) = number else {
            let why = format!("{kind}: seq must be an integer of 1 to 2^53-1");
            return outgoing.push(Outgoing::new(conn, err(v, 0, "INVALID_INPUT", &why)));
        };
        match kind {
            "LST" => {
                let list = in_call(v, "LST", seq).json("tools", &self.tools());
                outgoing.push(Outgoing::new(conn, list.finish()));
            }
            "INV" => self.invoke(conn, seq, root, outgoing),
            "SUB" => {
                let topic = root.get("topic").and_then(Node::text);
                let Some(topic) = topic.filter(|topic| topic.len() <= LONGEST) else {
                    let why = format!("SUB: topic must be text, of at most {LONGEST} bytes");
                    let refusal = err(v, seq, "INVALID_INPUT", &why);
                    return outgoing.push(Outgoing::new(conn, refusal));
                };
                let session = self.session(conn);
                if session.is_full() {
                    let refusal = err(v, seq, "BACKPRESSURE", "too much is open already");
                    return outgoing.push(Outgoing::new(conn, refusal));
                }
                session.open(seq, OpenSeq::Topic(topic.into_owned()));
                let yes = Outgoing::new(conn, subscribed(v, seq).finish());
                outgoing.push(Outgoing {
                    acknowledges: true,
                    ..yes
                });
            }
            _ => self.cancel(conn, seq, outgoing),
        }
    }
}

/// Builds the answer to a SUB.
pub(super) fn subscribed(v: u8, seq: i128) -> Object {
    in_call(v, "RES", seq).json("subscriptionId", &seq.to_string())
}

/// Returns true if a name is that of the tool, with or without its version.
fn is_called(offer: &Offer, name: &str) -> bool {
    let bare = offer.name.split_once('@').map_or("", |(bare, _)| bare);
    !name.is_empty() && (offer.name == name || bare == name)
}

/// Builds the list entry of a tool: the version is a separate member.
fn tool(offer: &Offer) -> String {
    let (name, version) = match offer.name.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (offer.name.as_str(), None),
    };
    let about = offer.about.as_deref().unwrap_or("{}");
    let described = with_json(about, |about| about.get("description").map(json_of));
    let described = described.flatten().unwrap_or_else(|| text(""));
    let streams = if offer.streams { "true" } else { "false" };
    let entry = Object::default().text("name", name);
    let entry = entry
        .json("description", &described)
        .json("streaming", streams);
    let entry = entry.optional("version", version.map(text));
    let own: &[&str] = match version {
        Some(_) => &["name", "description", "streaming", "version"],
        None => &["name", "description", "streaming"],
    };
    with_about(entry, own, Some(about)).finish()
}

impl Peer for SaelServer {
    fn opened(&mut self, conn: u32, now: i64, _: &mut Vec<Outgoing>) {
        let state = ServerConnection {
            last_received: now,
            ..ServerConnection::default()
        };
        self.conns.insert(conn, state);
    }

    fn received(&mut self, seen: &Seen<'_>, now: i64, outgoing: &mut Vec<Outgoing>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let (message, root) = (seen.message, seen.root());
        let state = self.conns.entry(conn);
        if state.is_closed {
            return;
        }
        state.last_received = now;
        let is_in = state.is_in || self.secret.is_none();
        let kind = message.kind.as_ref();
        // In the header form a message may consist of its kind alone.
        let bare = message.valid && message.dialect.is_some();
        let is_frame = message.valid && root.map_or(bare, Node::is_map);
        let v = self.version(conn);
        match (kind, root) {
            _ if !is_frame => {
                let refusal = err(v, 0, "INVALID_FRAME", "not a frame");
                outgoing.push(Outgoing::new(conn, refusal));
            }
            ("HEY", Some(root)) => self.hey(conn, root, now, outgoing),
            ("RSM", Some(root)) => self.resume(conn, root, now, outgoing),
            ("HBT", root) => {
                let ts = root.and_then(|root| root.get("ts")).map(json_of);
                let beat = frame(v, "HBA").json("ts", ts.as_deref().unwrap_or("null"));
                outgoing.push(Outgoing::new(conn, beat.finish()));
            }
            ("BYE", _) => {
                let id = self.conns.entry(conn).session.clone();
                self.sessions.remove(&id);
                outgoing.push(Outgoing::close(conn));
            }
            // No document defines the effect of ACK.
            ("ACK", _) => {}
            ("LST" | "INV" | "SUB" | "UNS" | "CAN", Some(root)) if is_in => {
                self.handle_request(kind, conn, root, outgoing);
            }
            ("HEY" | "RSM" | "LST" | "INV" | "SUB" | "UNS" | "CAN", None) if is_in => {
                let why = format!("{kind}: it has no members");
                outgoing.push(Outgoing::new(conn, err(v, 0, "INVALID_INPUT", &why)));
            }
            ("LST" | "INV" | "SUB" | "UNS" | "CAN", _) => {
                let refusal = err(v, 0, "AUTH_INVALID", "HEY with a token comes first");
                outgoing.push(Outgoing::new(conn, refusal).last());
            }
            _ => {
                let number = root.and_then(seq).unwrap_or_default();
                let why = format!("kind: {}", shorten(kind));
                outgoing.push(Outgoing::new(conn, err(v, number, "UNKNOWN_KIND", &why)));
            }
        }
    }

    fn sent(&mut self, seen: &Seen<'_>, _: i64) {
        let conn = seen.origin.conn.unwrap_or_default();
        let Some(root) = seen.root() else {
            return;
        };
        let kind = seen.message.kind.as_ref();
        let number = seq(root);
        // If the script sends HEY, its session is the one that can be resumed.
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
        session.store(seq, String::from_utf8(text).unwrap_or_default());
    }

    fn missed(&mut self, conn: u32, message: &str) -> Option<u32> {
        let number = with_json(message, seq).flatten();
        let session = self.session(conn);
        if let Some(resumed) = session.conn.filter(|current| *current != conn) {
            return Some(resumed);
        }
        if let Some(seq) = number {
            session.answered(seq);
            session.store(seq, message.to_owned());
        }
        None
    }

    fn closed(&mut self, conn: u32, now: i64) {
        let state = self.conns.entry(conn);
        state.is_closed = true;
        let id = state.session.clone();
        if let Some(session) = self.sessions.get_mut(&id)
            && session.conn == Some(conn)
        {
            session.conn = None;
            session.until = now.saturating_add(TTL * SECOND);
        }
    }

    fn readiness(&self, conn: u32) -> Readiness {
        match self.conns.get(&conn) {
            Some(conn) if conn.is_in => Readiness::Ready,
            _ => Readiness::Waits("HEY of the client".into()),
        }
    }

    fn due(&self) -> Option<i64> {
        let open = self.conns.iter().filter(|(_, conn)| !conn.is_closed);
        open.map(|(_, conn)| silence_deadline(conn)).min()
    }

    fn tick(&mut self, now: i64, outgoing: &mut Vec<Outgoing>) {
        for name in self.conns.keys() {
            let conn = self.conns.entry(name);
            if !conn.is_closed && silence_deadline(conn) <= now {
                conn.is_closed = true;
                outgoing.push(Outgoing::close(name));
            }
        }
    }

    fn encode_reply(&mut self, to: &Request, reply: PeerReply<'_>, _: i64) -> Result<Outgoing> {
        self.build_answer(to, reply)
    }
}

/// Returns the time after which a client is silent for too long.
fn silence_deadline(conn: &ServerConnection) -> i64 {
    conn.last_received.saturating_add(SILENCE + 1)
}

//! What a row of a table has beyond its message: capture, host, process, session and peer.
//!
//! A session is what a header that ends in `session-id`, or a member `sessionId` or `session`, says. A peer names itself
//! in an object such as `clientInfo` of its first messages.

use crate::capture::{Header, Sources};
use crate::decoder::Decoded;
use crate::framing::Head;
use crate::framing::fields::fields;
use crate::protocol::session::memory::PerDirection;
use crate::protocol::{Direction, Role};
use crate::render::json::flat::RowFacts;
use crate::tape::Node;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The number of connections, and of sessions, that are known; the first are forgotten.
const MAX_KNOWN: usize = 1 << 12;
/// The number of messages of a direction in which a peer may name itself.
const MAX_LOOKS: u8 = 8;
/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 256;

/// The facts of a connection, or of a session.
#[derive(Debug, Default)]
struct Known {
    session: Option<String>,
    peers: PerDirection<Option<String>>,
    looks: PerDirection<u8>,
}

/// The facts of a capture.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    sources: Option<&'static Sources>,
    source: String,
    header: Option<(Option<String>, Option<u64>)>,
    /// The headers of several captures, by connection.
    headers: BTreeMap<u32, (Option<String>, Option<u64>)>,
    connections: BTreeMap<Option<u32>, Known>,
    sessions: BTreeMap<String, Known>,
}

impl Facts {
    /// Begins with the captures, if several are one conversation.
    pub(crate) fn new(sources: Option<&'static Sources>) -> Self {
        Self {
            sources,
            ..Self::default()
        }
    }

    /// Begins a capture.
    pub(crate) fn begin(&mut self, source: &str) {
        *self = Self {
            sources: self.sources,
            source: source.to_owned(),
            ..Self::default()
        };
    }

    /// Reads the header of a recording.
    pub(crate) fn header(&mut self, header: &Header) {
        self.header = Some(recorder(header));
    }

    /// Reads a message.
    pub(crate) fn see(&mut self, decoded: &Decoded<'_>) {
        let conn = decoded.origin.conn;
        if let (Some(sources), Some(number)) = (self.sources, conn)
            && !self.headers.contains_key(&number)
        {
            let header = sources.header_of(conn);
            let facts = header.as_ref().map(recorder).unwrap_or_default();
            limit(&mut self.headers);
            self.headers.insert(number, facts);
        }
        let session = session_of(decoded);
        if !self.connections.contains_key(&conn) {
            limit(&mut self.connections);
        }
        let known = self.connections.entry(conn).or_default();
        if let Some(session) = session.filter(|one| known.session.as_deref() != Some(one)) {
            let is_first = known.session.is_none();
            let session = known.session.insert(session.into_owned()).clone();
            // A side may name itself before the session has a name.
            for direction in [Direction::ToServer, Direction::ToClient] {
                let peer = known.peers.get(Some(direction));
                if let Some(peer) = peer.as_ref().filter(|_| is_first) {
                    name_peer(&mut self.sessions, &session, direction, peer);
                }
            }
        }
        let Some(direction) = decoded.origin.direction else {
            return;
        };
        let opens = matches!(
            decoded.message.role,
            Some(Role::Request | Role::Response | Role::Hello)
        );
        let looks = known.looks.get_mut(Some(direction));
        if !opens || *looks >= MAX_LOOKS {
            return;
        }
        *looks += 1;
        let Some(peer) = decoded.root().and_then(peer_of) else {
            return;
        };
        *known.peers.get_mut(Some(direction)) = Some(peer.clone());
        if let Some(session) = &known.session {
            name_peer(&mut self.sessions, session, direction, &peer);
        }
    }

    /// Returns the facts about a message that was seen.
    pub(crate) fn of(&self, decoded: &Decoded<'_>) -> RowFacts<'_> {
        let conn = decoded.origin.conn;
        let recorder = match self.sources {
            Some(_) => conn.and_then(|conn| self.headers.get(&conn)),
            None => self.header.as_ref(),
        };
        let known = self.connections.get(&conn);
        RowFacts {
            source: self
                .sources
                .and_then(|sources| sources.name_of(conn))
                .unwrap_or(&self.source),
            host: recorder.and_then(|(host, _)| host.as_deref()),
            pid: recorder.and_then(|(_, pid)| *pid),
            session: known.and_then(|known| known.session.as_deref()),
            peer: (decoded.origin.direction).and_then(|sender| self.peer(decoded, sender)),
        }
    }

    /// Returns the name of the side of a message's connection that sends in a direction.
    pub(crate) fn peer(&self, decoded: &Decoded<'_>, direction: Direction) -> Option<&str> {
        let known = self.connections.get(&decoded.origin.conn);
        let session = known.and_then(|known| known.session.as_deref());
        let of_session = session.and_then(|session| self.sessions.get(session));
        let mut all = [known, of_session].into_iter().flatten();
        all.find_map(|known| known.peers.get(Some(direction)).as_deref())
    }
}

/// Names a side of a session.
fn name_peer(
    sessions: &mut BTreeMap<String, Known>,
    session: &str,
    direction: Direction,
    peer: &str,
) {
    limit(sessions);
    let known = sessions.entry(session.to_owned()).or_default();
    *known.peers.get_mut(Some(direction)) = Some(peer.to_owned());
}

/// Removes the first entry if there are too many.
fn limit<K: Ord, V>(map: &mut BTreeMap<K, V>) {
    if map.len() >= MAX_KNOWN {
        map.pop_first();
    }
}

/// Returns host and process of a recorder.
fn recorder(header: &Header) -> (Option<String>, Option<u64>) {
    let host = header.more.get("host").and_then(Value::as_str);
    let pid = header.more.get("pid").and_then(Value::as_u64);
    (host.map(str::to_owned), pid)
}

/// Returns the session that a message names.
fn session_of<'a>(decoded: &Decoded<'a>) -> Option<Cow<'a, str>> {
    if let Head::Http {
        len, event: false, ..
    } = decoded.frame.head
    {
        let head = decoded.frame.view.bytes.get(..len as usize)?;
        let is_session = |name: &[u8]| {
            let end = name.len().checked_sub("session-id".len());
            end.and_then(|at| name.get(at..))
                .is_some_and(|end| end.eq_ignore_ascii_case(b"session-id"))
        };
        let field = fields(head).find(|field| is_session(field.name));
        if let Some(value) = field.and_then(|field| head.get(field.value)) {
            return usable(String::from_utf8_lossy(value));
        }
    }
    let root = decoded.root().filter(|root| root.is_map())?;
    let parts = [Some(root), root.get("params"), root.get("result")];
    let mut parts = parts.into_iter().flatten().filter(|part| part.is_map());
    parts.find_map(|part| {
        let named = part.get("sessionId").or_else(|| part.get("session"))?;
        usable(named.text().filter(|_| named.is_string())?)
    })
}

fn usable(name: Cow<'_, str>) -> Option<Cow<'_, str>> {
    (!name.is_empty() && name.len() <= MAX_NAME).then_some(name)
}

/// Returns the name and the version that a message gives its sender.
fn peer_of(root: Node<'_>) -> Option<String> {
    let root = Some(root).filter(|root| root.is_map())?;
    let content = ["params", "result"].map(|key| root.get(key));
    let mut content = content.into_iter().flatten().filter(|part| part.is_map());
    content.find_map(|part| {
        let meta = part.get("_meta").filter(|meta| meta.is_map());
        let mut parts = [Some(part), meta].into_iter().flatten();
        parts.find_map(|part| {
            let is_info = |key: &Node<'_>| key.text().is_some_and(|key| key.ends_with("Info"));
            let mut infos = part
                .members()
                .filter(|(key, value)| is_info(key) && value.is_map());
            infos.find_map(|(_, info)| name_and_version(info))
        })
    })
}

fn name_and_version(info: Node<'_>) -> Option<String> {
    let text = |key: &str| {
        let value = info.get(key).filter(|value| value.is_string())?;
        usable(value.text()?)
    };
    let name = text("name")?;
    Some(match text("version") {
        Some(version) => format!("{name} {version}"),
        None => name.into_owned(),
    })
}

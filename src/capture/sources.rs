//! Several captures that are read as one conversation: their names, and what their headers say about the processes.
//!
//! ```text
//!   a.jsonl  connection 1 --> 1     the numbers of connections in the conversation; each belongs to one capture
//!   b.jsonl  connection 1 --> 2
//! ```

use super::recording::Header;
use serde_json::Value;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The number of connections whose capture is known.
const MAX_CONNECTIONS: usize = 1 << 20;

/// The captures of a conversation. The thread that reads adds to it, and every output reads it.
#[derive(Debug)]
pub(crate) struct Sources {
    names: Vec<SourceName>,
    known: RwLock<Known>,
}

#[derive(Debug)]
struct SourceName {
    /// The name of the file.
    path: String,
    short: String,
}

/// What was read so far.
#[derive(Debug, Default)]
struct Known {
    headers: Vec<Option<Header>>,
    /// The capture of each connection, from connection 1 on.
    of_conn: Vec<u16>,
    /// The processes that serve connections.
    children: Vec<(u32, u64)>,
}

/// The number of processes that are stored.
const MAX_PROCESSES: usize = 1 << 12;

/// What headers say about a pair of captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The process that served the outer one made the calls of the inner one.
    Parent,
    /// The outer one is the leg before a relay, and the inner one the leg after it.
    Relay,
    /// Headers do not tell that one of them holds.
    Unknown,
}

impl Sources {
    /// Returns the captures with the names of these files.
    pub fn new(paths: &[String]) -> Self {
        let mut names: Vec<SourceName> = Vec::new();
        for path in paths {
            let short = short_name(path, &names);
            let path = path.clone();
            names.push(SourceName { path, short });
        }
        let known = Known {
            headers: paths.iter().map(|_| None).collect(),
            ..Known::default()
        };
        Self {
            names,
            known: RwLock::new(known),
        }
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        change(&mut self.known.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the short names, in the order of the captures.
    pub fn short_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| name.short.as_str())
    }

    /// Sets the header of a capture.
    pub fn set_header(&self, source: u16, header: &Header) {
        self.change(|known| {
            if let Some(place) = known.headers.get_mut(usize::from(source)) {
                *place = Some(header.clone());
            }
        });
    }

    /// Adds a connection of a capture; returns its number in the conversation.
    pub fn add_connection(&self, source: u16) -> u32 {
        self.change(|known| {
            if known.of_conn.len() < MAX_CONNECTIONS {
                known.of_conn.push(source);
            }
            u32::try_from(known.of_conn.len()).unwrap_or(u32::MAX)
        })
    }

    /// Says which process serves a connection.
    pub fn add_process(&self, conn: u32, pid: u64) {
        self.change(|known| {
            if known.children.len() < MAX_PROCESSES {
                known.children.push((conn, pid));
            }
        });
    }

    /// Returns the connection that the process serves whose calls a capture has.
    pub fn caller(&self, inner: u16) -> Option<u32> {
        self.known().caller(inner)
    }

    /// Returns the number of the capture with a connection.
    pub fn number_of(&self, conn: Option<u32>) -> Option<u16> {
        self.known().number_of(conn?)
    }

    /// Returns the short name of a capture.
    pub fn short(&self, source: u16) -> &str {
        let name = self.names.get(usize::from(source));
        name.map_or("", |name| &name.short)
    }

    /// Returns the short name of the capture of a connection.
    pub fn name_of(&self, conn: Option<u32>) -> Option<&str> {
        self.number_of(conn).map(|source| self.short(source))
    }

    /// Returns the name of the file of a connection.
    #[cfg(feature = "cli")]
    pub fn path_of(&self, conn: Option<u32>) -> Option<&str> {
        let source = self.number_of(conn)?;
        self.names
            .get(usize::from(source))
            .map(|name| name.path.as_str())
    }

    /// Returns the header of the capture of a connection.
    pub fn header_of(&self, conn: Option<u32>) -> Option<Header> {
        let known = self.known();
        known.header(known.number_of(conn?)?).cloned()
    }

    /// Returns true if another program made the capture of a connection: its numbers are not reused.
    pub fn is_captured(&self, conn: u32) -> bool {
        let header = self.header_of(Some(conn));
        header.is_some_and(|header| header.captured().is_some())
    }

    /// Returns what headers say about two captures.
    pub fn relation(&self, outer: u16, inner: u16) -> Relation {
        let known = self.known();
        let (Some(first), Some(second)) = (known.header(outer), known.header(inner)) else {
            return Relation::Unknown;
        };
        let caller = known.caller(inner).and_then(|conn| known.number_of(conn));
        if caller == Some(outer) {
            return Relation::Parent;
        }
        let hosts = [first, second].map(|header| text(header, "host"));
        match (&first.connect, &second.listen) {
            (Some(connect), Some(listen)) if reaches(connect, listen, hosts) => Relation::Relay,
            _ => Relation::Unknown,
        }
    }
}

impl Known {
    fn header(&self, source: u16) -> Option<&Header> {
        self.headers.get(usize::from(source))?.as_ref()
    }

    fn number_of(&self, conn: u32) -> Option<u16> {
        let number = conn.checked_sub(1)?;
        self.of_conn.get(number as usize).copied()
    }

    fn caller(&self, inner: u16) -> Option<u32> {
        let inner = self.header(inner)?;
        let parent = inner.more.get("ppid")?.as_u64()?;
        let is_parent = |&&(conn, pid): &&(u32, u64)| {
            let outer = self.number_of(conn).and_then(|source| self.header(source));
            let host = outer.and_then(|outer| text(outer, "host"));
            pid == parent && host.is_some() && host == text(inner, "host")
        };
        let child = self.children.iter().find(is_parent);
        child.map(|(conn, _)| *conn)
    }
}

/// Returns a text of a header.
fn text<'h>(header: &'h Header, key: &str) -> Option<&'h str> {
    header.more.get(key).and_then(Value::as_str)
}

/// Returns true if a connection to the first address arrives at the second one. `hosts`: where both processes run.
fn reaches(connect: &str, listen: &str, hosts: [Option<&str>; 2]) -> bool {
    const LOCAL: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];
    const ALL: [&str; 2] = ["0.0.0.0", "[::]"];
    let [from, at] = hosts;
    let (connect, listen) = (place_of(connect), place_of(listen));
    let split = |address| str::rsplit_once(address, ':');
    let (Some((name, port)), Some((own, own_port))) = (split(connect), split(listen)) else {
        return from == at && connect == listen;
    };
    let (is_local, listens_local) = (LOCAL.contains(&name), LOCAL.contains(&own));
    let reaches_local = is_local && (listens_local || ALL.contains(&own));
    let is_there = from == at && (name == own || reaches_local);
    let is_host = at.is_some_and(|at| is_same_host(name, at)) && !listens_local;
    port == own_port && (is_there || is_host)
}

/// Compares names of hosts, of which one may have a domain.
fn is_same_host(one: &str, other: &str) -> bool {
    let has_domain = |long: &str, short| {
        let domain = long.strip_prefix(short);
        domain.is_some_and(|domain| domain.is_empty() || domain.starts_with('.'))
    };
    has_domain(one, other) || has_domain(other, one)
}

/// Returns host and port, or the path, without scheme and target.
fn place_of(address: &str) -> &str {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let rest = rest.strip_prefix("unix:").unwrap_or(rest);
    let end = if rest.starts_with('/') || scheme == "unix" {
        rest.len()
    } else {
        rest.find('/').unwrap_or(rest.len())
    };
    rest.get(..end).unwrap_or_default()
}

/// Returns the name of a file without folder and extension; with its folder, or with a number, if another one has it.
fn short_name(path: &str, names: &[SourceName]) -> String {
    let path = Path::new(path);
    let file = path.file_name().unwrap_or(path.as_os_str());
    let file = file.to_string_lossy();
    let file = file.strip_suffix(".gz").unwrap_or(&file);
    let stem = match file.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => file,
    };
    let folder = path.parent().and_then(Path::file_name);
    let folder = folder.map(|folder| format!("{}/{stem}", folder.to_string_lossy()));
    let is_free = |short: &String| names.iter().all(|name| name.short != *short);
    let numbered = (2..).map(|n: u32| format!("{stem}-{n}"));
    let mut all = std::iter::once(stem.to_owned())
        .chain(folder)
        .chain(numbered);
    all.find(is_free).unwrap_or_default()
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    fn header(keys: Value) -> Header {
        let mut keys = keys;
        keys["wiretool"] = 1.into();
        serde_json::from_value(keys).unwrap()
    }

    #[test]
    fn short_names_are_unique() {
        for (paths, wanted) in [
            (&["x/a.jsonl", "b.jsonl.gz"][..], &["a", "b"][..]),
            (&["x/a.jsonl", "y/a.jsonl"], &["a", "y/a"]),
            (&["a.jsonl", "a.jsonl", "a.pcap"], &["a", "a-2", "a-3"]),
            (&["-", ".jsonl", "a.b.jsonl"], &["-", ".jsonl", "a.b"]),
        ] {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            let sources = Sources::new(&paths);
            assert_eq!(sources.short_names().collect::<Vec<_>>(), wanted);
        }
    }

    #[test]
    fn headers_relate_captures() {
        let child =
            |ppid: u64| serde_json::json!({"host": "h", "pid": 1, "ppid": ppid, "argv": ["x"]});
        let leg = |listen: &str, connect: &str| serde_json::json!({"host": "h", "listen": listen, "connect": connect});
        let far = |listen: &str, connect: &str| serde_json::json!({"host": "far", "listen": listen, "connect": connect});
        for (first, second, wanted) in [
            (child(2), child(40), Relation::Parent),
            (child(2), child(2), Relation::Unknown),
            (
                child(2),
                serde_json::json!({"host": "other", "ppid": 40, "argv": ["x"]}),
                Relation::Unknown,
            ),
            (
                leg("tcp://127.0.0.1:1", "tcp://127.0.0.1:2"),
                leg("tcp://127.0.0.1:2", "tcp://127.0.0.1:3"),
                Relation::Relay,
            ),
            (
                leg("http://127.0.0.1:1", "http://localhost:2/mcp"),
                leg("http://127.0.0.1:2", "http://127.0.0.1:3"),
                Relation::Relay,
            ),
            (
                leg("unix:/tmp/a", "unix:/tmp/b"),
                leg("unix:/tmp/b", "unix:/tmp/c"),
                Relation::Relay,
            ),
            (
                leg("unix:/tmp/a", "unix:/tmp/b"),
                leg("unix:/tmp/x", "unix:/tmp/c"),
                Relation::Unknown,
            ),
            (
                leg("http://127.0.0.1:1", "http://127.0.0.1:2"),
                leg("http://0.0.0.0:2", "http://x:3"),
                Relation::Relay,
            ),
            (
                leg("http://127.0.0.1:1", "http://far.example:80/mcp"),
                far("http://0.0.0.0:80", "http://127.0.0.1:3"),
                Relation::Relay,
            ),
            (
                leg("http://127.0.0.1:1", "http://127.0.0.1:80"),
                far("http://127.0.0.1:80", "http://127.0.0.1:3"),
                Relation::Unknown,
            ),
            (
                leg("http://127.0.0.1:1", "http://one:80"),
                far("http://0.0.0.0:80", "http://127.0.0.1:3"),
                Relation::Unknown,
            ),
            (
                leg("http://127.0.0.1:1", "http://far:80"),
                far("http://0.0.0.0:81", "http://127.0.0.1:3"),
                Relation::Unknown,
            ),
            (serde_json::json!({}), child(40), Relation::Unknown),
        ] {
            let sources = Sources::new(&["a".into(), "b".into()]);
            sources.set_header(0, &header(first.clone()));
            sources.set_header(1, &header(second.clone()));
            sources.add_process(sources.add_connection(0), 40);
            assert_eq!(sources.relation(0, 1), wanted, "{first} {second}");
        }
    }

    #[test]
    fn connections_belong_to_captures() {
        let sources = Sources::new(&["a.jsonl".into(), "b.jsonl".into()]);
        let numbers = [1, 0, 1].map(|source| sources.add_connection(source));
        assert_eq!(numbers, [1, 2, 3]);
        let names = [0, 1, 2, 3, 4].map(|conn| sources.name_of(Some(conn)));
        assert_eq!(names, [None, Some("b"), Some("a"), Some("b"), None]);
        assert_eq!(sources.path_of(Some(2)), Some("a.jsonl"));
        assert_eq!(sources.name_of(None), None);
    }
}

//! Namespaces: their owners, their connections, and their schemas.
//!
//! ```text
//!   announce  {version, type, id, target, args: [schema]}   or   {type, namespace, schema}
//!   schema    {version, namespaces: {name: {functions: {name: {args: [{type}], returns}}}}, types}
//! ```

use super::super::message::field;
use super::super::schema::SCHEMA;
use crate::protocol::exchange::work;
use crate::protocol::rule_names::saikuro as rule;
use crate::protocol::schema::lint::lint;
use crate::protocol::session::text::{quote, quote_text};
use crate::protocol::session::{Current, broken};
use crate::protocol::{Direction, Origin, Role};
use crate::tape::Node;
use foldhash::{HashMap, HashSet};

/// The largest number of stored namespaces, of all connections.
const MAX_ENTRIES: usize = 1 << 12;
/// The longest stored namespace, in bytes.
const LONGEST: usize = 1 << 8;

/// The kinds of types that a runtime reads, each with its required members. Adapters also write `list` and `optional`.
const KINDS: [(&str, &[&str]); 7] = [
    ("primitive", &["type"]),
    ("named", &["name"]),
    ("option", &["inner"]),
    ("array", &["item"]),
    ("map", &["value"]),
    ("stream", &["item"]),
    ("channel", &["inbound", "outbound"]),
];
/// The primitive types.
const PRIMITIVES: [&str; 15] = [
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "string", "bytes",
    "any", "unit",
];

/// The owner of a namespace.
#[derive(Debug)]
struct Owner {
    conn: Option<u32>,
    direction: Option<Direction>,
    index: u64,
    /// A call by its own sender was reported.
    reported: bool,
}

/// All announced namespaces.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    owners: HashMap<Box<str>, Owner>,
    /// The announced names, by the connection of their owner.
    by_conn: HashMap<Option<u32>, HashSet<Box<str>>>,
}

impl Namespaces {
    /// Handles an announce: the sender now owns its namespaces.
    pub(super) fn announce(&mut self, seen: Current<'_, '_>, root: Node<'_>) {
        if let Some(node) = document_form(root) {
            self.claim(seen, node);
            return;
        }
        let names = schema(root).and_then(|s| s.get("namespaces"));
        for (name, _) in names.into_iter().flat_map(Node::members) {
            self.claim(seen, name);
        }
    }

    fn claim(&mut self, seen: Current<'_, '_>, node: Node<'_>) {
        let Some(name) = node.text().filter(|name| name.len() <= LONGEST) else {
            return;
        };
        let Origin {
            conn, direction, ..
        } = seen.origin;
        if let Some(before) = self.owners.get(name.as_ref()) {
            let is_same = (before.conn, before.direction) == (conn, direction);
            broken!(seen, rule::NAMESPACE_TWICE, seen.at(node), before.index;
                "{} was announced before, {}, in #{}: calls now go to this connection",
                quote_text(&name),
                if is_same { "on this connection" } else { "by another provider" }, before.index);
        } else if self.owners.len() >= MAX_ENTRIES {
            return;
        }
        let index = seen.index;
        let owner = Owner {
            conn,
            direction,
            index,
            reported: false,
        };
        let before = self.owners.insert(name.as_ref().into(), owner);
        if let Some(names) = before.and_then(|before| self.by_conn.get_mut(&before.conn)) {
            names.remove(name.as_ref());
        }
        let names = self.by_conn.entry(conn).or_default();
        names.insert(name.as_ref().into());
    }

    /// Handles the answer to an announce. If it is a refusal, reports it and returns `true`.
    pub(super) fn refused(&mut self, seen: Current<'_, '_>, index: u64) -> bool {
        if seen.message.role != Some(Role::Error) {
            return false;
        }
        self.remove_announce(seen.origin.conn, index);
        let code = seen.message.outcome.as_deref().unwrap_or("no code");
        broken!(seen, rule::ANNOUNCE_REFUSED, seen.whole(), index;
            "the announce is refused with {}: its functions cannot be called", quote_text(code));
        true
    }

    /// Removes the namespaces of a refused announce.
    pub(super) fn remove_announce(&mut self, conn: Option<u32>, index: u64) {
        let Some(names) = self.by_conn.get_mut(&conn) else {
            return;
        };
        work::count_visits(names.len());
        let owners = &mut self.owners;
        names.retain(|name| {
            let goes = owners.get(name).is_some_and(|owner| owner.index == index);
            if goes {
                owners.remove(name);
            }
            !goes
        });
    }

    /// Removes the namespaces of a connection that has ended.
    pub(super) fn remove_connection(&mut self, conn: Option<u32>) {
        for name in self.by_conn.remove(&conn).into_iter().flatten() {
            self.owners.remove(&name);
        }
    }

    /// Returns the announce of a target that the sender of a call offers itself, and true at the first such call.
    pub(super) fn own_announce(&mut self, origin: Origin, target: Node<'_>) -> Option<(u64, bool)> {
        let target = target.text()?;
        let (namespace, _) = target.rsplit_once('.')?;
        let owner = self.owners.get_mut(namespace)?;
        if (owner.conn, owner.direction) != (origin.conn, origin.direction) {
            return None;
        }
        let is_first = !owner.reported;
        owner.reported = true;
        Some((owner.index, is_first))
    }
}

/// Returns the namespace of an announce in the document's form.
pub(super) fn document_form(root: Node<'_>) -> Option<Node<'_>> {
    let plain = root.get("target").is_none() && root.get("args").is_none();
    root.get("namespace").filter(|n| plain && n.is_string())
}

pub(super) fn schema(root: Node<'_>) -> Option<Node<'_>> {
    match document_form(root) {
        Some(_) => root.get("schema"),
        None => field(root, "args")?.at(0),
    }
}

/// Checks the schema of an announce.
pub(super) fn check(seen: Current<'_, '_>, root: Node<'_>) {
    let Some(schema) = schema(root).filter(|s| s.is_map()) else {
        broken!(seen, rule::BAD_SCHEMA, seen.whole();
            "the announce has no schema; it should have a map");
        return;
    };
    lint(
        &seen,
        schema,
        (&SCHEMA, "the schema"),
        &|p| p.rule(),
        &mut seen.report(),
    );
    let functions =
        values(schema.get("namespaces")).flat_map(|namespace| values(namespace.get("functions")));
    for function in functions {
        let args = function.get("args").into_iter().flat_map(Node::children);
        let types = args
            .filter_map(|arg| arg.get("type"))
            .chain(function.get("returns"));
        for node in types {
            // One finding is enough: a runtime refuses the whole announce for it.
            if let Err((node, text)) = check_type(node) {
                broken!(seen, rule::SCHEMA_KIND, seen.at(node); "{text}");
                return;
            }
        }
    }
}

/// Returns the values of a map.
fn values(map: Option<Node<'_>>) -> impl Iterator<Item = Node<'_>> {
    let map = map.filter(|m| m.is_map());
    map.into_iter().flat_map(Node::members).map(|(_, v)| v)
}

/// Checks one type and its inner types.
fn check_type(node: Node<'_>) -> Result<(), (Node<'_>, String)> {
    let Some(kind) = node.get("kind") else {
        return Err((node, "a type has no kind".into()));
    };
    let Some((name, must)) = KINDS.iter().find(|(name, _)| kind.is_text(name)) else {
        let text = format!("a type has the kind {}; no runtime reads it", quote(kind));
        return Err((kind, text));
    };
    for part in *must {
        let Some(inner) = node.get(part) else {
            return Err((kind, format!("a type of kind {name} has no {part}")));
        };
        match *name {
            "primitive" if !PRIMITIVES.iter().any(|p| inner.is_text(p)) => {
                let text = format!("the primitive type is {}; no runtime has it", quote(inner));
                return Err((inner, text));
            }
            "primitive" | "named" => {}
            _ => check_type(inner)?,
        }
    }
    Ok(())
}

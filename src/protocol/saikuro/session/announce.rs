//! Namespaces: who announced them, on which connection, and in what words.
//!
//! ```text
//!   announce  {version, type, id, target, args: [schema]}   or   {type, namespace, schema}
//!   schema    {version, namespaces: {name: {functions: {name: {args: [{type}], returns}}}}, types}
//! ```

use super::super::message::field;
use super::super::schema::SCHEMA;
use crate::protocol::correlation::work;
use crate::protocol::schema::lint::lint;
use crate::protocol::session::text::{quote, quote_text};
use crate::protocol::session::{Report, Seen};
use crate::protocol::{Direction, Origin};
use crate::tape::Node;
use std::collections::{HashMap, HashSet};

/// Namespaces that are remembered, of all connections.
const MOST: usize = 1 << 12;
/// Bytes of a namespace that is remembered.
const LONGEST: usize = 1 << 8;

/// Kinds of types that a runtime reads, each with what it must have. Adapters write more: `list`, `optional`.
const KINDS: [(&str, &[&str]); 7] = [
    ("primitive", &["type"]),
    ("named", &["name"]),
    ("option", &["inner"]),
    ("array", &["item"]),
    ("map", &["value"]),
    ("stream", &["item"]),
    ("channel", &["inbound", "outbound"]),
];
/// Primitive types.
const PRIMITIVES: [&str; 15] = [
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "string", "bytes",
    "any", "unit",
];

/// Who announced a namespace.
#[derive(Debug)]
struct Owner {
    conn: Option<u32>,
    direction: Option<Direction>,
    index: u64,
    /// That its sender calls it, too, was said.
    told: bool,
}

/// All that are announced.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    owners: HashMap<Box<str>, Owner>,
    /// The names in it, by the connection of their owner.
    by_conn: HashMap<Option<u32>, HashSet<Box<str>>>,
}

impl Namespaces {
    /// An announce: its namespaces are its sender's from now on.
    pub(super) fn announce(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        if let Some(node) = document_form(root) {
            self.claim(seen, node, report);
            return;
        }
        let names = schema(root).and_then(|s| s.get("namespaces"));
        for (name, _) in names.into_iter().flat_map(Node::members) {
            self.claim(seen, name, report);
        }
    }

    fn claim(&mut self, seen: &Seen<'_>, node: Node<'_>, report: &mut Report) {
        let Some(name) = node.text().filter(|name| name.len() <= LONGEST) else {
            return;
        };
        let Origin {
            conn, direction, ..
        } = seen.origin;
        if let Some(before) = self.owners.get(name.as_ref()) {
            let whose = if (before.conn, before.direction) == (conn, direction) {
                "on this connection"
            } else {
                "by another provider"
            };
            let text = format!(
                "{} was announced before, {whose}, in #{}: from now on calls go by this one",
                quote_text(&name),
                before.index
            );
            report.broken_by("namespace-twice", seen.at(node), before.index, text);
        } else if self.owners.len() >= MOST {
            return;
        }
        let index = seen.index;
        let owner = Owner {
            conn,
            direction,
            index,
            told: false,
        };
        let before = self.owners.insert(name.as_ref().into(), owner);
        if let Some(names) = before.and_then(|before| self.by_conn.get_mut(&before.conn)) {
            names.remove(name.as_ref());
        }
        let names = self.by_conn.entry(conn).or_default();
        names.insert(name.as_ref().into());
    }

    /// An announce of a connection was refused.
    pub(super) fn refuse(&mut self, conn: Option<u32>, index: u64) {
        let Some(names) = self.by_conn.get_mut(&conn) else {
            return;
        };
        work::did(names.len());
        let owners = &mut self.owners;
        names.retain(|name| {
            let goes = owners.get(name).is_some_and(|owner| owner.index == index);
            if goes {
                owners.remove(name);
            }
            !goes
        });
    }

    /// A connection is over, and with it what its providers offered.
    pub(super) fn leave(&mut self, conn: Option<u32>) {
        for name in self.by_conn.remove(&conn).into_iter().flatten() {
            self.owners.remove(&name);
        }
    }

    /// The announce with which the sender of a call offered what it now calls, and whether it does so for the first time.
    pub(super) fn own(&mut self, origin: Origin, target: Node<'_>) -> Option<(u64, bool)> {
        let target = target.text()?;
        let (namespace, _) = target.rsplit_once('.')?;
        let owner = self.owners.get_mut(namespace)?;
        if (owner.conn, owner.direction) != (origin.conn, origin.direction) {
            return None;
        }
        let is_first = !owner.told;
        owner.told = true;
        Some((owner.index, is_first))
    }
}

/// The namespace of an announce in the document's form.
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
pub(super) fn check(seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
    let Some(schema) = schema(root).filter(|s| s.is_map()) else {
        let text = "the announce carries no schema, a map should be";
        report.broken("bad-schema", seen.whole(), text);
        return;
    };
    lint(seen, schema, (&SCHEMA, "the schema"), &|p| p.rule(), report);
    let functions =
        values(schema.get("namespaces")).flat_map(|namespace| values(namespace.get("functions")));
    for function in functions {
        let args = function.get("args").into_iter().flat_map(Node::children);
        let types = args
            .filter_map(|arg| arg.get("type"))
            .chain(function.get("returns"));
        for node in types {
            // One is enough: a runtime refuses the whole announce for it.
            if let Err((node, text)) = describe(node) {
                report.broken("schema-kind", seen.at(node), text);
                return;
            }
        }
    }
}

/// The values of a map.
fn values(map: Option<Node<'_>>) -> impl Iterator<Item = Node<'_>> {
    let map = map.filter(|m| m.is_map());
    map.into_iter().flat_map(Node::members).map(|(_, v)| v)
}

/// Checks one type, and those inside it.
fn describe(node: Node<'_>) -> Result<(), (Node<'_>, String)> {
    let Some(kind) = node.get("kind") else {
        return Err((node, "a type without a kind".into()));
    };
    let Some((name, must)) = KINDS.iter().find(|(name, _)| kind.is_text(name)) else {
        let text = format!("a type of kind {}, which no runtime reads", quote(kind));
        return Err((kind, text));
    };
    for part in *must {
        let Some(inner) = node.get(part) else {
            return Err((kind, format!("a type of kind {name} without {part}")));
        };
        match *name {
            "primitive" if !PRIMITIVES.iter().any(|p| inner.is_text(p)) => {
                let text = format!("a primitive type {}, which no runtime has", quote(inner));
                return Err((inner, text));
            }
            "primitive" | "named" => {}
            _ => describe(inner)?,
        }
    }
    Ok(())
}

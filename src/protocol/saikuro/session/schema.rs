//! What announced schemas say of functions, and whether calls keep to it.
//!
//! ```text
//!   announce   {functions: {add: {args: [{name, type, optional?}], capabilities: [...]}}}   learn()
//!   call       math.add [2, 3], capability?                                                 check()
//! ```

use super::super::message::field;
use super::announce::schema;
use super::check::MOST as FINDINGS;
use crate::protocol::session::text::{quote, quote_text};
use crate::protocol::session::{Report, Seen};
use crate::tape::{Node, Scalar, Value};
use std::collections::HashMap;

/// Functions, arguments and types that are remembered, of all connections.
const MOST: usize = 1 << 14;
/// Longest name that is remembered, in bytes.
const LONGEST: usize = 1 << 8;

/// A type, as far as a value can contradict it.
#[derive(Debug)]
enum Kind {
    /// It is not looked at: `any`, a type with a name, a stream.
    Any,
    Bool,
    Integer,
    Float,
    Text,
    Bytes,
    Unit,
    Option(Box<Kind>),
    Array(Box<Kind>),
    Map(Box<Kind>),
}

#[derive(Debug)]
struct Argument {
    name: Box<str>,
    kind: Kind,
    /// How the schema calls its type.
    shown: Box<str>,
    optional: bool,
}

#[derive(Debug)]
struct Function {
    /// The announce.
    by: u64,
    conn: Option<u32>,
    arguments: Vec<Argument>,
    capability: Option<Box<str>>,
}

/// All functions that are announced, by their target.
#[derive(Debug, Default)]
pub(super) struct Functions {
    by_target: HashMap<Box<str>, Function>,
    parts: usize,
}

impl Functions {
    /// An announce.
    pub(super) fn learn(&mut self, seen: &Seen<'_>, root: Node<'_>) {
        let namespaces = schema(root).and_then(|s| s.get("namespaces"));
        for (namespace, content) in namespaces.into_iter().flat_map(Node::members) {
            let functions = content.get("functions").filter(|f| f.is_map());
            for (name, function) in functions.into_iter().flat_map(Node::members) {
                let (Some(namespace), Some(name)) = (namespace.text(), name.text()) else {
                    continue;
                };
                if self.parts >= MOST || namespace.len() + name.len() >= LONGEST {
                    continue;
                }
                let function = self.function(seen, function);
                self.parts += 1;
                let target = format!("{namespace}.{name}");
                self.by_target.insert(target.into(), function);
            }
        }
    }

    fn function(&mut self, seen: &Seen<'_>, node: Node<'_>) -> Function {
        let capability = node.get("capabilities").and_then(|list| list.at(0));
        let listed = node.get("args").into_iter().flat_map(Node::children);
        let arguments: Vec<_> = listed
            .take(MOST.saturating_sub(self.parts))
            .map(|argument| Argument {
                name: short(argument.get("name")),
                kind: argument.get("type").map_or(Kind::Any, kind),
                shown: argument.get("type").map(shown).unwrap_or_default(),
                optional: argument.get("optional").and_then(Node::as_bool) == Some(true)
                    || argument.get("default").is_some(),
            })
            .collect();
        self.parts += arguments.len();
        Function {
            by: seen.index,
            conn: seen.origin.conn,
            arguments,
            capability: capability.map(|node| short(Some(node))),
        }
    }

    /// An announce was refused.
    pub(super) fn refuse(&mut self, index: u64) {
        self.forget(|function| function.by == index);
    }

    /// A connection is over, and with it what its providers offered.
    pub(super) fn leave(&mut self, conn: Option<u32>) {
        self.forget(|function| function.conn == conn);
    }

    fn forget(&mut self, is_gone: impl Fn(&Function) -> bool) {
        if self.by_target.is_empty() {
            return;
        }
        self.by_target.retain(|_, function| !is_gone(function));
        let parts = self.by_target.values().map(|f| 1 + f.arguments.len());
        self.parts = parts.sum();
    }

    /// A call, or a batch of them: do their arguments and capabilities fit what was announced?
    pub(super) fn check(&self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let before = report.broken.len();
        self.call(seen, root, report);
        let items = field(root, "batch_items").filter(|items| items.is_array());
        for item in items.into_iter().flat_map(Node::children) {
            if report.broken.len() >= before + FINDINGS {
                break;
            }
            self.call(seen, item, report);
        }
    }

    fn call(&self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let target = field(root, "target").and_then(Node::text);
        let Some((target, function)) = target
            .and_then(|target| Some((quote_text(&target), self.by_target.get(target.as_ref())?)))
        else {
            return;
        };
        let by = function.by;
        let shows = field(root, "capability").or_else(|| field(root, "cap"));
        match (&function.capability, shows) {
            (Some(capability), None) => {
                let text = format!(
                    "{target} requires the capability {}, as #{by} announced, and none is shown",
                    quote_text(capability)
                );
                report.broken_by("capability-missing", seen.at(root), by, text);
            }
            (None, Some(capability)) => {
                let text = format!(
                    "the call shows a capability, and {target} requires none, as #{by} announced"
                );
                report.broken_by("capability-undeclared", seen.at(capability), by, text);
            }
            _ => {}
        }
        let Some(args) = field(root, "args").filter(|args| args.is_array()) else {
            return;
        };
        let (count, most) = (args.children().count(), function.arguments.len());
        let least = function.arguments.iter().rposition(|a| !a.optional);
        let least = least.map_or(0, |last| last + 1);
        if !(least..=most).contains(&count) {
            let wanted = if least == most {
                most.to_string()
            } else {
                format!("{least} to {most}")
            };
            let text = format!(
                "{target} takes {wanted} argument{}, as #{by} announced, and {count} {} given",
                if wanted == "1" { "" } else { "s" },
                if count == 1 { "is" } else { "are" }
            );
            report.broken_by("args-unfit", seen.at(args), by, text);
            return;
        }
        let mut pairs = args.children().zip(&function.arguments);
        let unfit = pairs.find(|(value, argument)| {
            !(fits(&argument.kind, *value) || argument.optional && value.is_null())
        });
        if let Some((value, argument)) = unfit {
            let text = format!(
                "argument {} of {target} is {}, {} should be, as #{by} announced",
                quote_text(&argument.name),
                quote(value),
                argument.shown
            );
            report.broken_by("args-unfit", seen.at(value), by, text);
        }
    }
}

/// The beginning of a text.
fn short(node: Option<Node<'_>>) -> Box<str> {
    let text = node.and_then(Node::text).unwrap_or_default();
    text.chars().take(LONGEST / 4).collect()
}

/// How a schema calls a type.
fn shown(node: Node<'_>) -> Box<str> {
    let kind = node.get("kind");
    match kind.and_then(Node::text).as_deref() {
        Some("primitive") => short(node.get("type")),
        _ => short(kind),
    }
}

fn kind(node: Node<'_>) -> Kind {
    let inner = |name| Box::new(node.get(name).map_or(Kind::Any, kind));
    match node.get("kind").and_then(Node::text).as_deref() {
        Some("primitive") => match node.get("type").and_then(Node::text).as_deref() {
            Some("bool") => Kind::Bool,
            Some("i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64") => Kind::Integer,
            Some("f32" | "f64") => Kind::Float,
            Some("string") => Kind::Text,
            Some("bytes") => Kind::Bytes,
            Some("unit") => Kind::Unit,
            _ => Kind::Any,
        },
        Some("option") => Kind::Option(inner("inner")),
        Some("array") => Kind::Array(inner("item")),
        Some("map") => Kind::Map(inner("value")),
        _ => Kind::Any,
    }
}

/// Whether a value may be of a type; what a relay changes on the way (bytes to text) may be.
fn fits(kind: &Kind, node: Node<'_>) -> bool {
    match (kind, node.value()) {
        (Kind::Any, _)
        | (Kind::Bool, Value::Scalar(Scalar::Bool(_)))
        | (Kind::Unit | Kind::Option(_), Value::Scalar(Scalar::Null))
        | (Kind::Integer | Kind::Float, Value::Scalar(Scalar::Uint(_) | Scalar::Int(_)))
        | (Kind::Float, Value::Scalar(Scalar::F32(_) | Scalar::F64(_)))
        | (Kind::Text | Kind::Bytes, Value::Scalar(Scalar::Str(_) | Scalar::Bin(_))) => true,
        // A peer may take integral floats for integers.
        (Kind::Integer, Value::Scalar(Scalar::F64(bits))) => f64::from_bits(bits).fract() == 0.0,
        (Kind::Integer, Value::Scalar(Scalar::F32(bits))) => f32::from_bits(bits).fract() == 0.0,
        (Kind::Option(inner), _) => fits(inner, node),
        (Kind::Array(item), Value::Array) => node.children().all(|value| fits(item, value)),
        (Kind::Map(item), Value::Map) => node.members().all(|(_, value)| fits(item, value)),
        _ => false,
    }
}

//! Checks calls against the announced schemas.
//!
//! ```text
//!   announce   {functions: {add: {args: [{name, type, optional?}], capabilities: [...]}}}   record()
//!   call       math.add [2, 3], capability?                                                 check()
//!   answer     5, on the connection of the announce                                         check_result()
//! ```

use super::super::message::field;
use super::announce::schema;
use super::check::MAX_ENTRIES as FINDINGS;
use crate::protocol::Direction;
use crate::protocol::rule_names::saikuro as rule;
use crate::protocol::session::text::{quote, quote_text};
use crate::protocol::session::{Current, broken};
use crate::tape::{Node, Scalar, Value};
use foldhash::HashMap;

/// The largest number of stored functions, arguments and types, of all connections.
const MAX_ENTRIES: usize = 1 << 14;
/// The longest stored name, in bytes.
const LONGEST: usize = 1 << 8;

/// A type, reduced to the part that a value can contradict.
#[derive(Debug)]
enum ValueKind {
    /// It is not checked: `any`, a named type, a stream.
    Any,
    Bool,
    Integer,
    Float,
    Text,
    Bytes,
    Unit,
    Option(Box<ValueKind>),
    Array(Box<ValueKind>),
    Map(Box<ValueKind>),
}

#[derive(Debug)]
struct Argument {
    name: Box<str>,
    kind: ValueKind,
    /// The name of the type in the schema.
    shown: Box<str>,
    optional: bool,
}

#[derive(Debug)]
struct Function {
    /// The index of the announce.
    by: u64,
    conn: Option<u32>,
    arguments: Vec<Argument>,
    /// The type of its result, and its name in the schema.
    returns: Option<(ValueKind, Box<str>)>,
    capability: Option<Box<str>>,
}

/// All announced functions, by their target.
#[derive(Debug, Default)]
pub(super) struct Functions {
    by_target: HashMap<Box<str>, Function>,
    parts: usize,
}

impl Functions {
    /// Records the functions of an announce.
    pub(super) fn record(&mut self, seen: Current<'_, '_>, root: Node<'_>) {
        let namespaces = schema(root).and_then(|s| s.get("namespaces"));
        for (namespace, content) in namespaces.into_iter().flat_map(Node::members) {
            let functions = content.get("functions").filter(|f| f.is_map());
            for (name, function) in functions.into_iter().flat_map(Node::members) {
                let (Some(namespace), Some(name)) = (namespace.text(), name.text()) else {
                    continue;
                };
                if self.parts >= MAX_ENTRIES || namespace.len() + name.len() >= LONGEST {
                    continue;
                }
                let function = self.function(seen, function);
                self.parts += 1;
                let target = format!("{namespace}.{name}");
                self.by_target.insert(target.into(), function);
            }
        }
    }

    fn function(&mut self, seen: Current<'_, '_>, node: Node<'_>) -> Function {
        let capability = node.get("capabilities").and_then(|list| list.at(0));
        let listed = node.get("args").into_iter().flat_map(Node::children);
        let arguments: Vec<_> = listed
            .take(MAX_ENTRIES.saturating_sub(self.parts))
            .map(|argument| Argument {
                name: short(argument.get("name")),
                kind: argument.get("type").map_or(ValueKind::Any, kind),
                shown: argument.get("type").map(type_name).unwrap_or_default(),
                optional: argument.get("optional").and_then(Node::as_bool) == Some(true)
                    || argument.get("default").is_some(),
            })
            .collect();
        self.parts += arguments.len();
        Function {
            by: seen.index,
            conn: seen.origin.conn,
            arguments,
            returns: node
                .get("returns")
                .map(|node| (kind(node), type_name(node))),
            capability: capability.map(|node| short(Some(node))),
        }
    }

    /// Removes the functions of a refused announce.
    pub(super) fn remove_announce(&mut self, index: u64) {
        self.remove_where(|function| function.by == index);
    }

    /// Removes the functions of a connection that has ended.
    pub(super) fn remove_connection(&mut self, conn: Option<u32>) {
        self.remove_where(|function| function.conn == conn);
    }

    fn remove_where(&mut self, is_gone: impl Fn(&Function) -> bool) {
        if self.by_target.is_empty() {
            return;
        }
        self.by_target.retain(|_, function| !is_gone(function));
        let parts = self.by_target.values().map(|f| 1 + f.arguments.len());
        self.parts = parts.sum();
    }

    /// Checks the arguments and capabilities of a call, or of a batch, against the announced functions.
    pub(super) fn check(&self, seen: Current<'_, '_>, root: Node<'_>) {
        let before = seen.findings();
        self.call(seen, root);
        let items = field(root, "batch_items").filter(|items| items.is_array());
        for item in items.into_iter().flat_map(Node::children) {
            if seen.findings() >= before + FINDINGS {
                break;
            }
            self.call(seen, item);
        }
    }

    /// Checks the result of a call against the announced function, where its provider sends it. Other connections relay
    /// it.
    pub(super) fn check_result(
        &self,
        seen: Current<'_, '_>,
        root: Node<'_>,
        (index, target): (u64, &str),
    ) {
        let Some(function) = self.by_target.get(target) else {
            return;
        };
        let result = field(root, "result").filter(|_| function.conn == seen.origin.conn);
        if let (Some(value), Some((kind, shown))) = (result, &function.returns)
            && !fits(kind, value)
        {
            broken!(seen, rule::RESULT_UNFIT, seen.at(value), index;
                "the result of {} is {}; it should be {shown}, as #{} announced",
                quote_text(target), quote(value), function.by);
        }
    }

    fn call(&self, seen: Current<'_, '_>, root: Node<'_>) {
        let target = field(root, "target").and_then(Node::text);
        let Some((target, function)) = target
            .and_then(|target| Some((quote_text(&target), self.by_target.get(target.as_ref())?)))
        else {
            return;
        };
        // A runtime keeps capabilities to itself.
        if seen.origin.direction != Some(Direction::ToClient) {
            function.check_capability(seen, root, &target);
        }
        function.check_arguments(seen, root, &target);
    }
}

impl Function {
    fn check_capability(&self, seen: Current<'_, '_>, root: Node<'_>, target: &str) {
        let by = self.by;
        let shows = field(root, "capability").or_else(|| field(root, "cap"));
        match (&self.capability, shows) {
            (Some(capability), None) => {
                broken!(seen, rule::CAPABILITY_MISSING, seen.at(root), by;
                    "{target} requires the capability {}, as #{by} announced, but the call has \
                    none", quote_text(capability));
            }
            (None, Some(capability)) => {
                broken!(seen, rule::CAPABILITY_UNDECLARED, seen.at(capability), by;
                    "the call has a capability, but {target} requires none, as #{by} announced");
            }
            _ => {}
        }
    }

    fn check_arguments(&self, seen: Current<'_, '_>, root: Node<'_>, target: &str) {
        let by = self.by;
        let Some(args) = field(root, "args").filter(|args| args.is_array()) else {
            return;
        };
        let (count, most) = (args.children().count(), self.arguments.len());
        let least = self.arguments.iter().rposition(|a| !a.optional);
        let least = least.map_or(0, |last| last + 1);
        if !(least..=most).contains(&count) {
            let wanted = if least == most {
                most.to_string()
            } else {
                format!("{least} to {most}")
            };
            broken!(seen, rule::ARGS_UNFIT, seen.at(args), by;
                "{target} takes {wanted} argument{}, as #{by} announced, but {count} {} given",
                if wanted == "1" { "" } else { "s" }, if count == 1 { "is" } else { "are" });
            return;
        }
        let mut pairs = args.children().zip(&self.arguments);
        let first_mismatch = pairs.find(|(value, argument)| {
            !(fits(&argument.kind, *value) || argument.optional && value.is_null())
        });
        if let Some((value, argument)) = first_mismatch {
            broken!(seen, rule::ARGS_UNFIT, seen.at(value), by;
                "argument {} of {target} is {}; it should be {}, as #{by} announced",
                quote_text(&argument.name), quote(value), argument.shown);
        }
    }
}

/// Returns the start of a text.
fn short(node: Option<Node<'_>>) -> Box<str> {
    let text = node.and_then(Node::text).unwrap_or_default();
    text.chars().take(LONGEST / 4).collect()
}

/// Returns the name of a type in the schema.
fn type_name(node: Node<'_>) -> Box<str> {
    let kind = node.get("kind");
    match kind.and_then(Node::text).as_deref() {
        Some("primitive") => short(node.get("type")),
        _ => short(kind),
    }
}

fn kind(node: Node<'_>) -> ValueKind {
    let inner = |name| Box::new(node.get(name).map_or(ValueKind::Any, kind));
    match node.get("kind").and_then(Node::text).as_deref() {
        Some("primitive") => match node.get("type").and_then(Node::text).as_deref() {
            Some("bool") => ValueKind::Bool,
            Some("i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64") => ValueKind::Integer,
            Some("f32" | "f64") => ValueKind::Float,
            Some("string") => ValueKind::Text,
            Some("bytes") => ValueKind::Bytes,
            Some("unit") => ValueKind::Unit,
            _ => ValueKind::Any,
        },
        Some("option") => ValueKind::Option(inner("inner")),
        Some("array") => ValueKind::Array(inner("item")),
        Some("map") => ValueKind::Map(inner("value")),
        _ => ValueKind::Any,
    }
}

/// Returns true if a value may have a type. A relay may change a value on the way (bytes to text).
fn fits(kind: &ValueKind, node: Node<'_>) -> bool {
    match (kind, node.value()) {
        (ValueKind::Any, _)
        | (ValueKind::Bool, Value::Scalar(Scalar::Bool(_)))
        | (ValueKind::Unit | ValueKind::Option(_), Value::Scalar(Scalar::Null))
        | (
            ValueKind::Integer | ValueKind::Float,
            Value::Scalar(Scalar::Uint(_) | Scalar::Int(_)),
        )
        | (ValueKind::Float, Value::Scalar(Scalar::F32(_) | Scalar::F64(_)))
        | (ValueKind::Text | ValueKind::Bytes, Value::Scalar(Scalar::Str(_) | Scalar::Bin(_))) => {
            true
        }
        // A peer may accept integral floats as integers.
        (ValueKind::Integer, Value::Scalar(Scalar::F64(bits))) => {
            f64::from_bits(bits).fract() == 0.0
        }
        (ValueKind::Integer, Value::Scalar(Scalar::F32(bits))) => {
            f32::from_bits(bits).fract() == 0.0
        }
        (ValueKind::Option(inner), _) => fits(inner, node),
        (ValueKind::Array(item), Value::Array) => node.children().all(|value| fits(item, value)),
        (ValueKind::Map(item), Value::Map) => node.members().all(|(_, value)| fits(item, value)),
        _ => false,
    }
}

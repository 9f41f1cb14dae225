//! What a message must be before it is written: what every protocol's `write.rs` is built from.

use super::{MessageHead, Written};
use crate::encoding::lossless::quote;
use crate::encoding::{json, msgpack};
use crate::error::Refusal;
use crate::span::Span;
use crate::tape::{Node, Scalar, Tape, Value};

/// What a member may be.
#[derive(Clone, Copy)]
pub struct Sort {
    /// What it is called where it is missing: `an array`.
    pub wanted: &'static str,
    /// Whether a value is one.
    pub is: fn(Node<'_>) -> bool,
}

/// Whether a member must be there.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    Must,
    May,
    /// Null is as good as absent.
    OrNull,
}

/// A member, whether it must be there, and what it may be.
pub struct Member {
    name: &'static str,
    need: Need,
    sort: Sort,
}

/// A member that must be there.
pub const fn must(name: &'static str, sort: Sort) -> Member {
    let need = Need::Must;
    Member { name, need, sort }
}

/// A member that may be absent.
pub const fn may(name: &'static str, sort: Sort) -> Member {
    let need = Need::May;
    Member { name, need, sort }
}

/// A member that may be absent, or null.
pub const fn or_null(name: &'static str, sort: Sort) -> Member {
    let need = Need::OrNull;
    Member { name, need, sort }
}

/// What a member may be: a name for it, and what tells it.
pub const fn sort(wanted: &'static str, is: fn(Node<'_>) -> bool) -> Sort {
    Sort { wanted, is }
}

/// Any value.
pub const ANY: Sort = sort("a value", |_| true);
/// An array.
pub const ARRAY: Sort = sort("an array", is_array);
/// A truth value.
pub const BOOL: Sort = sort("true or false", |n| n.as_bool().is_some());
/// A whole number of 64 bits.
pub const INT: Sort = sort("an integer", |n| {
    whole(n).is_some_and(|v| i64::try_from(v).is_ok())
});
/// An object.
pub const OBJECT: Sort = sort("an object", is_map);
/// Text that is UTF-8.
pub const TEXT: Sort = sort("a string", |n| n.is_string() && n.text().is_some());
/// A whole number of 64 bits, zero or above.
pub const UINT: Sort = sort("an integer of 0 or more", |n| {
    whole(n).is_some_and(|v| u64::try_from(v).is_ok())
});

fn is_array(node: Node<'_>) -> bool {
    node.is_array()
}

fn is_map(node: Node<'_>) -> bool {
    node.is_map()
}

/// An integer that is spelled as one.
pub fn whole(node: Node<'_>) -> Option<i128> {
    match node.value() {
        Value::Scalar(Scalar::Uint(value)) => Some(value.into()),
        Value::Scalar(Scalar::Int(value)) => Some(value.into()),
        Value::Scalar(Scalar::Number(_)) => node.number_text()?.parse().ok(),
        _ => None,
    }
}

/// Checks one value.
pub fn be(node: Node<'_>, sort: Sort) -> Result<(), Refusal> {
    if (sort.is)(node) {
        return Ok(());
    }
    Err(Refusal::whole(sort.wanted, quote(node)))
}

/// Checks the members of an object.
pub fn object(node: Node<'_>, wanted: &[Member]) -> Result<(), Refusal> {
    be(node, OBJECT)?;
    members(&|name| node.get(name), wanted)
}

/// Checks members, wherever they are found.
pub fn members<'a>(
    find: &dyn Fn(&str) -> Option<Node<'a>>,
    wanted: &[Member],
) -> Result<(), Refusal> {
    for Member { name, need, sort } in wanted {
        match (find(name), need) {
            (None, Need::Must) => return Err(Refusal::new(*name, sort.wanted, "nothing")),
            (Some(node), Need::OrNull) if node.is_null() => {}
            (Some(node), _) => be(node, *sort).map_err(|r| r.inside(name))?,
            (None, _) => {}
        }
    }
    Ok(())
}

/// Checks every element of an array.
pub fn each<'a>(
    array: Node<'a>,
    check: impl Fn(Node<'a>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    be(array, ARRAY)?;
    for (n, item) in array.children().enumerate() {
        check(item).map_err(|r| r.at(n))?;
    }
    Ok(())
}

/// Writes a message that is JSON: its own text.
pub fn write_json(
    message: Node<'_>,
    force: bool,
    check: impl FnOnce(Node<'_>) -> Result<(), Refusal>,
    out: &mut Vec<u8>,
) -> Result<Written, Refusal> {
    if !force {
        check(message)?;
    }
    json::write_text(message.span().of(message.bytes()), true, out);
    Ok(Written::default())
}

/// Writes a message that is `MessagePack`. What is checked is what the bytes say, so that lossless forms need no look of
/// their own.
pub fn write_msgpack(
    message: Node<'_>,
    force: bool,
    check: impl FnOnce(Node<'_>) -> Result<(), Refusal>,
    out: &mut Vec<u8>,
) -> Result<Written, Refusal> {
    let mut body = Vec::new();
    msgpack::write(message, &mut body)?;
    if !force {
        let (mut tape, span) = (Tape::new(), Span::new(0, body.len()));
        let parsed = msgpack::parse(&body, span, msgpack::MAX_DEPTH, &mut tape);
        parsed.map_err(|error| Refusal::whole(error.wanted, error.got))?;
        if let Some(root) = tape.root(&body) {
            check(root)?;
        }
    }
    out.extend_from_slice(&body);
    Ok(Written {
        head: MessageHead::default(),
    })
}

//! One message, checked and written as `MessagePack`. Accepted is what the document has, and what real peers send.

use super::message::field;
use crate::encoding::lossless::quote;
use crate::error::Refusal;
use crate::protocol::check::{
    self, ANY, ARRAY, BOOL, Member, OBJECT, Sort, TEXT, UINT, each, may, members, must, object,
    or_null, sort, whole,
};
use crate::protocol::{WriteOptions, Written};
use crate::tape::{Node, Scalar, Value};

/// Writes a message.
pub(super) fn write(
    message: Node<'_>,
    options: &WriteOptions,
    out: &mut Vec<u8>,
) -> Result<Written, Refusal> {
    check::write_msgpack(message, options.force, check, out)
}

/// Every `type` there is.
const TYPES: [&str; 9] = [
    "call",
    "cast",
    "stream",
    "channel",
    "batch",
    "resource",
    "log",
    "announce",
    "announce_ack",
];

const ONE: Sort = sort("1", |n| whole(n) == Some(1));
const ID: Sort = sort("a string, 16 bytes, or an array of 16 numbers", is_id);
const TARGET: Sort = sort("\"namespace.function\"", is_target);
/// What follows on an open channel has no target.
const CHANNEL: Sort = sort("\"namespace.function\", or \"\"", |n| {
    n.is_text("") || is_target(n)
});
const CONTROL: Sort = sort("\"end\", \"pause\", \"resume\" or \"abort\"", |n| {
    let known = ["end", "pause", "resume", "abort"];
    known.iter().any(|word| n.is_text(word))
});
const TRUE: Sort = sort("true", |n| n.as_bool() == Some(true));
const ITEMS: Sort = sort("an array of one envelope or more", |n| n.at(0).is_some());
const SCHEMA: Sort = sort("an array with a schema, an object, at its front", |n| {
    n.at(0).is_some_and(Node::is_map)
});

/// What every envelope may have.
const ENVELOPE: &[Member] = &[
    must("version", ONE),
    must("id", ID),
    may("args", ARRAY),
    may("meta", OBJECT),
    or_null("capability", TEXT),
    or_null("cap", TEXT),
    or_null("stream_control", CONTROL),
    or_null("seq", UINT),
];
/// Announce and its answer in the document's form, which are no envelopes.
const ANNOUNCE: &[Member] = &[must("namespace", TEXT), must("schema", OBJECT)];
const ANNOUNCE_ACK: &[Member] = &[must("namespace", TEXT), must("ok", BOOL)];
/// What every answer may have.
const REPLY: &[Member] = &[
    must("id", ID),
    must("ok", BOOL),
    or_null("seq", UINT),
    or_null("stream_control", CONTROL),
    may("results", ARRAY),
];
/// Stream and channel frames of the document.
const FRAME: &[Member] = &[must("id", ID), must("seq", UINT), may("end", TRUE)];
const CLOSE: &[Member] = &[must("id", ID), must("close", TRUE)];
const ERROR: &[Member] = &[
    must("code", TEXT),
    must("message", TEXT),
    or_null("details", OBJECT),
];

fn check(root: Node<'_>) -> Result<(), Refusal> {
    let has = |name| root.get(name).is_some();
    if root.is_array() || has("type") {
        return envelope(root);
    }
    check::be(root, OBJECT)?;
    if has("ok") {
        reply(root)
    } else if has("seq") {
        frame(root)
    } else if has("close") {
        object(root, CLOSE)
    } else {
        let wanted = "an envelope with a type, or an answer with ok, seq or close";
        Err(Refusal::whole(wanted, quote(root)))
    }
}

fn envelope(root: Node<'_>) -> Result<(), Refusal> {
    let find = |name: &str| {
        if root.is_array() {
            field(root, name)
        } else {
            root.get(name)
        }
    };
    let rules = |rules: &[Member]| members(&find, rules);
    let known = |n: Node<'_>| TYPES.into_iter().find(|t| n.is_text(t));
    let wanted = || format!("one of {}", TYPES.join(" "));
    let kind = find("type").ok_or_else(|| Refusal::new("type", wanted(), "nothing"))?;
    let kind = known(kind).ok_or_else(|| Refusal::new("type", wanted(), quote(kind)))?;
    match kind {
        "announce" if find("namespace").or_else(|| find("schema")).is_some() => {
            return rules(ANNOUNCE);
        }
        "announce_ack" => {
            rules(ANNOUNCE_ACK)?;
            return error(root);
        }
        _ => rules(ENVELOPE)?,
    }
    match kind {
        "channel" => rules(&[must("target", CHANNEL)]),
        "log" => rules(&[must("target", TEXT)]),
        "announce" => rules(&[must("target", TEXT), must("args", SCHEMA)]),
        "batch" => {
            rules(&[may("target", TEXT), must("batch_items", ITEMS)])?;
            match find("batch_items") {
                Some(items) => each(items, envelope).map_err(|r| r.inside("batch_items")),
                None => Ok(()),
            }
        }
        _ => rules(&[must("target", TARGET)]),
    }
}

fn reply(root: Node<'_>) -> Result<(), Refusal> {
    object(root, REPLY)?;
    error(root)?;
    let ok = root.get("ok").and_then(Node::as_bool) == Some(true);
    let failed = root.get("error").is_some_and(|e| !e.is_null());
    let results = root.get("results");
    let ends = root.get("stream_control").is_some_and(|c| !c.is_null());
    if ok && failed {
        return Err(Refusal::new("error", "nothing, since ok is true", "one"));
    }
    // The end by an error comes after the error, and a batch says which of its calls failed.
    if !(ok || failed || ends || results.is_some()) {
        return Err(Refusal::new(
            "error",
            "an object, since ok is false",
            "nothing",
        ));
    }
    match results {
        Some(results) => each(results, reply).map_err(|r| r.inside("results")),
        None => Ok(()),
    }
}

/// An item of the document's, or the end of them.
fn frame(root: Node<'_>) -> Result<(), Refusal> {
    object(root, FRAME)?;
    error(root)?;
    let has = |name: &&str| root.get(name).is_some();
    match ["data", "end", "error"].iter().filter(|n| has(n)).count() {
        1 => Ok(()),
        _ => Err(Refusal::whole("one of data, end and error", quote(root))),
    }
}

fn error(root: Node<'_>) -> Result<(), Refusal> {
    match root.get("error").filter(|e| !e.is_null()) {
        Some(error) => object(error, ERROR).map_err(|r| r.inside("error")),
        None => members(&|name| root.get(name), &[may("error", ANY)]),
    }
}

fn is_id(node: Node<'_>) -> bool {
    match node.value() {
        Value::Scalar(Scalar::Bin(bytes)) => bytes.len() == 16,
        Value::Array => {
            let byte = |n| whole(n).is_some_and(|v| (0..256).contains(&v));
            node.children().count() == 16 && node.children().all(byte)
        }
        _ => (TEXT.is)(node),
    }
}

fn is_target(node: Node<'_>) -> bool {
    let text = node.text().filter(|_| node.is_string());
    let split = text.as_deref().and_then(|t| t.rsplit_once('.'));
    split.is_some_and(|(namespace, function)| !namespace.is_empty() && !function.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::tests::{of, refusals};

    #[test]
    fn wrong_messages() {
        let texts = [
            "null",
            "{}",
            r#"{"$map":[[1,2]]}"#,
            r#"{"type":5,"version":1,"id":"a","target":"a.b"}"#,
            r#"{"type":"Call","version":1,"id":"a","target":"a.b"}"#,
            r#"{"type":"call","id":"a","target":"a.b"}"#,
            r#"{"type":"call","version":2,"id":"a","target":"a.b"}"#,
            r#"{"type":"call","version":1.0,"id":"a","target":"a.b"}"#,
            r#"{"type":"call","version":1,"target":"a.b"}"#,
            r#"{"type":"call","version":1,"id":5,"target":"a.b"}"#,
            r#"{"type":"call","version":1,"id":{"$bin":"00"},"target":"a.b"}"#,
            r#"{"type":"call","version":1,"id":"a"}"#,
            r#"{"type":"call","version":1,"id":"a","target":"add"}"#,
            r#"{"type":"call","version":1,"id":"a","target":"a.b","args":{"a":1}}"#,
            r#"{"type":"call","version":1,"id":"a","target":"a.b","meta":null}"#,
            r#"{"type":"call","version":1,"id":"a","target":"a.b","cap":{"$bin":"00"}}"#,
            r#"{"type":"channel","version":1,"id":"a","target":"","stream_control":"halt"}"#,
            r#"{"type":"batch","version":1,"id":"a","batch_items":[]}"#,
            r#"{"type":"batch","version":1,"id":"a","batch_items":[{"type":"call","version":1,"id":"b","target":"x.y"},{"type":"call","version":1,"id":"c"}]}"#,
            r#"{"type":"announce","namespace":"a"}"#,
            r#"{"type":"announce","version":1,"id":"a","target":"$saikuro.announce","args":[]}"#,
            r#"[1,"call","a","b",[],null,null,null,null,null]"#,
            r#"{"id":"a","ok":1}"#,
            r#"{"id":"a","ok":false}"#,
            r#"{"id":"a","ok":true,"error":{"code":"X","message":"m"}}"#,
            r#"{"id":"a","ok":false,"error":{"code":-1,"message":"m"}}"#,
            r#"{"id":"a","ok":true,"seq":-1}"#,
            r#"{"id":"a","seq":0}"#,
            r#"{"id":"a","seq":0,"data":1,"end":true}"#,
            r#"{"id":"a","close":false}"#,
            r#"{"id":"a","ok":true,"result":{"$bin":"0"}}"#,
            r#"{"id":"a","ok":true,"result":18446744073709551616}"#,
        ];
        let table = refusals(of("saikuro"), &WriteOptions::default(), &texts);
        insta::assert_snapshot!(table, @r#"
        null
          message: wanted an object, got null
        {}
          message: wanted an envelope with a type, or an answer with ok, seq or close, got {}
        {"$map":[[1,2]]}
          message: wanted an envelope with a type, or an answer with ok, seq or close, got {"$map":[[1,2]]}
        {"type":5,"version":1,"id":"a","target":"a.b"}
          type: wanted one of call cast stream channel batch resource log announce announce_ack, got 5
        {"type":"Call","version":1,"id":"a","target":"a.b"}
          type: wanted one of call cast stream channel batch resource log announce announce_ack, got "Call"
        {"type":"call","id":"a","target":"a.b"}
          version: wanted 1, got nothing
        {"type":"call","version":2,"id":"a","target":"a.b"}
          version: wanted 1, got 2
        {"type":"call","version":1.0,"id":"a","target":"a.b"}
          version: wanted 1, got 1.0
        {"type":"call","version":1,"target":"a.b"}
          id: wanted a string, 16 bytes, or an array of 16 numbers, got nothing
        {"type":"call","version":1,"id":5,"target":"a.b"}
          id: wanted a string, 16 bytes, or an array of 16 numbers, got 5
        {"type":"call","version":1,"id":{"$bin":"00"},"target":"a.b"}
          id: wanted a string, 16 bytes, or an array of 16 numbers, got {"$bin":"00"}
        {"type":"call","version":1,"id":"a"}
          target: wanted "namespace.function", got nothing
        {"type":"call","version":1,"id":"a","target":"add"}
          target: wanted "namespace.function", got "add"
        {"type":"call","version":1,"id":"a","target":"a.b","args":{"a":1}}
          args: wanted an array, got {"a":1}
        {"type":"call","version":1,"id":"a","target":"a.b","meta":null}
          meta: wanted an object, got null
        {"type":"call","version":1,"id":"a","target":"a.b","cap":{"$bin":"00"}}
          cap: wanted a string, got {"$bin":"00"}
        {"type":"channel","version":1,"id":"a","target":"","stream_control":"halt"}
          stream_control: wanted "end", "pause", "resume" or "abort", got "halt"
        {"type":"batch","version":1,"id":"a","batch_items":[]}
          batch_items: wanted an array of one envelope or more, got []
        {"type":"batch","version":1,"id":"a","batch_items":[{"type":"call","version":1,"id":"b","target":"x.y"},{"type":"call","version":1,"id":"c"}]}
          batch_items[1].target: wanted "namespace.function", got nothing
        {"type":"announce","namespace":"a"}
          schema: wanted an object, got nothing
        {"type":"announce","version":1,"id":"a","target":"$saikuro.announce","args":[]}
          args: wanted an array with a schema, an object, at its front, got []
        [1,"call","a","b",[],null,null,null,null,null]
          target: wanted "namespace.function", got "b"
        {"id":"a","ok":1}
          ok: wanted true or false, got 1
        {"id":"a","ok":false}
          error: wanted an object, since ok is false, got nothing
        {"id":"a","ok":true,"error":{"code":"X","message":"m"}}
          error: wanted nothing, since ok is true, got one
        {"id":"a","ok":false,"error":{"code":-1,"message":"m"}}
          error.code: wanted a string, got -1
        {"id":"a","ok":true,"seq":-1}
          seq: wanted an integer of 0 or more, got -1
        {"id":"a","seq":0}
          message: wanted one of data, end and error, got {"id":"a","seq":0}
        {"id":"a","seq":0,"data":1,"end":true}
          message: wanted one of data, end and error, got {"id":"a","seq":0,"data":1,"end":true}
        {"id":"a","close":false}
          close: wanted true, got false
        {"id":"a","ok":true,"result":{"$bin":"0"}}
          result.$bin: wanted a string of hex digits, two a byte, got "0"
        {"id":"a","ok":true,"result":18446744073709551616}
          result: wanted an integer of -2^63 to 2^64-1, got 18446744073709551616
        "#);
    }
}

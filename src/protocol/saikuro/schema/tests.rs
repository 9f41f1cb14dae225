//! Messages that are refused before writing.

use super::{ANSWERS, ENVELOPES, NOWHERE, form};
use crate::protocol::WriteOptions;
use crate::protocol::saikuro::message::{POSITIONS, field};
use crate::protocol::schema::Type;
use crate::protocol::schema::check::fits;
use crate::protocol::tests::heads::each_fixture;
use crate::protocol::tests::{of, refusals};
use crate::tape::Node;

#[test]
fn wrong_messages_are_refused() {
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
      batch_items: wanted an array of at least one envelope, got []
    {"type":"batch","version":1,"id":"a","batch_items":[{"type":"call","version":1,"id":"b","target":"x.y"},{"type":"call","version":1,"id":"c"}]}
      batch_items[1].target: wanted "namespace.function", got nothing
    {"type":"announce","namespace":"a"}
      schema: wanted an object, got nothing
    {"type":"announce","version":1,"id":"a","target":"$saikuro.announce","args":[]}
      args[0]: wanted an object, got nothing
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
      data: wanted a value, or end or error, got nothing
    {"id":"a","seq":0,"data":1,"end":true}
      end: wanted nothing beside data, got one
    {"id":"a","close":false}
      close: wanted true, got false
    {"id":"a","ok":true,"result":{"$bin":"0"}}
      result.$bin: wanted a string of hex digits, two for each byte, got "0"
    {"id":"a","ok":true,"result":18446744073709551616}
      result: wanted an integer of -2^63 to 2^64-1, got 18446744073709551616
    "#);
}

/// The head reader finds the types, positions, ids and targets of the schema.
#[test]
fn the_head_reader_agrees_with_the_schema() {
    for message in ENVELOPES {
        let Type::Record(members) = message.ty else {
            continue;
        };
        for member in members.iter().filter(|m| m.position != Some(NOWHERE)) {
            let position = POSITIONS.iter().position(|name| *name == member.name);
            assert_eq!(member.position, position, "{}", member.name);
        }
    }
    each_fixture("saikuro", 50, &mut |line, root| {
        let kind = line["kind"].as_str().unwrap_or_default();
        let name = field(root, "type").and_then(Node::text);
        if let Some(form) =
            name.and_then(|name| form(ENVELOPES.iter().filter(|m| m.is_named(&name)), root))
        {
            assert_eq!(kind, form.name, "{line}");
            // The document's announcement has no target.
            let target = field(root, "target").or_else(|| root.get("namespace"));
            let target = target.and_then(Node::text);
            let reported = line["subject"].as_str();
            assert!(
                reported.is_none() || reported == target.as_deref(),
                "{line}"
            );
        } else if root.is_map() && fits(root, &ANSWERS[0].ty) && kind != "unknown" {
            let role = line["role"].as_str().unwrap_or_default();
            let answers = [
                "response",
                "error",
                "item",
                "end",
                "control",
                "notification",
            ];
            assert!(answers.contains(&role), "{line}");
        }
    });
}

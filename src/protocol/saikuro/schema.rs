//! The schema: envelopes, as objects or as arrays, and their answers, of the document and of real peers.

use super::message::{field, parse_uuid};
use crate::encoding::lossless::{bytes_json, quote};
use crate::error::{Refusal, Result};
use crate::protocol::Direction::{ToClient, ToServer};
use crate::protocol::make::{IdGen, Made, Recipe, Words, text};
use crate::protocol::rule_names::saikuro as rule;
use crate::protocol::schema::check::{form, is_text, refuse, whole, write_msgpack};
use crate::protocol::schema::json_schema::{MessageJsonSchema, any_of, of};
use crate::protocol::schema::marks::{Generated, Marks};
use crate::protocol::schema::{
    self, ANY, ARRAY, BOOL, CodeType, Fresh, Mark, Member, MessageSchema, OBJECT, TEXT, Type, UINT,
    ValueForm, may, members, message, must, nullable, object, one, request,
};
use crate::protocol::{Kind, Role, WriteOptions, Written};
use crate::tape::{Node, Scalar, Value};
use std::sync::LazyLock;

/// A UUID in sixteen bytes, as the runtime writes it; other peers write text.
const ID: Type = Type::Code(&CodeType {
    name: "a string, 16 bytes, or an array of 16 numbers",
    members: &[],
    is: is_id,
    word: |word, _| Ok(parse_uuid(word.as_bytes()).map_or_else(|| text(word), |id| bytes_json(&id))),
});
const TARGET: Type = Type::Code(&CodeType {
    name: "\"namespace.function\"",
    members: &[],
    is: is_target,
    word: |word, _| Ok(text(word)),
});
/// A later message on an open channel has no target.
const CHANNEL: Type = Type::Code(&CodeType {
    name: "\"namespace.function\", or \"\"",
    members: &[],
    is: |node| node.is_text("") || is_target(node),
    word: |word, _| Ok(text(word)),
});
/// The values of `stream_control`.
pub(super) const CONTROLS: &[&str] = &["end", "pause", "resume", "abort"];
const CONTROL: Type = Type::OneOf(CONTROLS);
const TRUE: Type = Type::Form(
    &BOOL,
    &ValueForm::of(None, "true", |node| node.as_bool() == Some(true)).refused(),
);
/// A call of a batch; [`items`] checks it.
const ITEM: Type = Type::Code(&CodeType {
    name: "an envelope",
    members: &[NEW_ID, CAPABILITY, CAP],
    is: |_| true,
    word: |word, id_gen| {
        let words: Vec<String> = word.split_whitespace().map(str::to_owned).collect();
        schema::make::build(CALL, &mut Words::new(&words, |_| false), id_gen)
    },
});
const ITEMS: Type = Type::Form(
    &Type::Array(&ITEM),
    &ValueForm::of(None, "an array of at least one envelope", |node| {
        node.at(0).is_some()
    })
    .refused(),
);
pub(super) const ERROR: Type = object![
    must("code", TEXT)
        .missing(rule::BAD_ERROR)
        .wrong(rule::BAD_ERROR),
    must("message", TEXT)
        .missing(rule::BAD_ERROR)
        .wrong(rule::BAD_ERROR),
    nullable("details", OBJECT).wrong(rule::BAD_ERROR),
];
/// The number of a frame in a stream.
const SEQ: Member = nullable("seq", UINT).wrong(rule::BAD_FIELD);
const STREAM_CONTROL: Member = nullable("stream_control", CONTROL).wrong(rule::BAD_FIELD);
pub(super) const FRAME: Type = object![SEQ, STREAM_CONTROL];
/// The part of an announced schema that lint checks.
pub(super) const SCHEMA: Type = object![
    must("version", Type::Integer(1, 1))
        .missing(rule::SCHEMA_VERSION)
        .wrong(rule::SCHEMA_VERSION)
];

/// A word of `make` that becomes text; nothing checks it.
const WORD: Type = Type::Code(&CodeType {
    name: "a string",
    members: &[],
    is: |_| true,
    word: |word, _| Ok(text(word)),
});
const RECORD: Type = object![
    may("level", WORD),
    may("name", WORD),
    may("msg", WORD),
    may("ts", ANY).marked(&[Mark::Generated("log", Fresh::Time)]),
];

/// The position of a member that arrays do not have.
const NOWHERE: usize = usize::MAX;
const IDS: &[Mark] = &[Mark::Generated("id", Fresh::Id), Mark::Volatile];
const TOKEN: &[Mark] = &[Mark::Generated("token", Fresh::Given), Mark::Secret];
const NEW_ID: Member = must("id", ID)
    .at(2)
    .new(|id_gen| bytes_json(&id_gen.uuid()))
    .marked(IDS);
const CAPABILITY: Member = nullable("capability", TEXT)
    .at(6)
    .marked(TOKEN)
    .wrong(rule::BAD_FIELD);
const CAP: Member = nullable("cap", TEXT)
    .at(NOWHERE)
    .marked(TOKEN)
    .wrong(rule::BAD_FIELD);
const ANSWERED: Member = must("id", ID).marked(IDS);
const RESULTS: Member = may("results", Type::Array(&object![may("id", ANY).marked(IDS)]));
/// An opened resource has its own id.
const RESULT: Type = Type::Either(&[
    object![may("id", ANY).marked(&[Mark::Generated("resource", Fresh::Same)])],
    ANY,
]);
const ARGS: Member = may("args", ARRAY).default("[]");

/// An envelope of a type: its target, its arguments, and further members.
macro_rules! envelope {
    ($type:literal, $target:expr, $args:expr $(, $member:expr)* $(,)?) => {
        Type::Record(members![
            must("version", Type::Integer(1, 1))
                .at(0)
                .default("1")
                .missing(rule::BAD_VERSION).wrong(rule::BAD_VERSION),
            must("type", Type::OneOf(&[$type])).at(1).default(concat!("\"", $type, "\"")),
            NEW_ID,
            $target.at(3).missing(rule::BAD_TARGET).wrong(rule::BAD_TARGET),
            $args.at(4).wrong(rule::BAD_FIELD),
            may("meta", OBJECT).at(5).wrong(rule::BAD_FIELD),
            CAPABILITY,
            CAP,
            $($member.at(7),)*
            STREAM_CONTROL.at(8),
            SEQ.at(9),
        ])
    };
}

const WORDS: &str = "target [arg:args…] id= capability=";
/// An announcement in the document's form, which is not an envelope.
const ANNOUNCE: Type = object![must("namespace", TEXT), must("schema", OBJECT)];

/// All envelopes.
static ENVELOPES: &[MessageSchema] = &[
    request("call", ToServer)
        .of(envelope!["call", must("target", TARGET), ARGS])
        .words(WORDS)
        .about("requests one answer"),
    message("cast", ToServer)
        .of(envelope!["cast", must("target", TARGET), ARGS])
        .words(WORDS)
        .about("requests no answer"),
    request("stream", ToServer)
        .of(envelope!["stream", must("target", TARGET), ARGS])
        .words(WORDS)
        .about("requests items"),
    request("channel", ToServer)
        .role(None)
        .of(envelope!["channel", must("target", CHANNEL), ARGS])
        .words(WORDS)
        .about("opens a channel"),
    request("batch", ToServer)
        .of(envelope![
            "batch",
            may("target", TEXT).default("\"\""),
            ARGS,
            must("batch_items", ITEMS)
                .missing(rule::EMPTY_BATCH)
                .wrong(rule::EMPTY_BATCH),
        ])
        .check(items)
        .words("call:batch_items… id= capability=")
        .about("several calls, each a word: 'TARGET ARG…'"),
    request("resource", ToServer)
        .of(envelope!["resource", must("target", TARGET), ARGS])
        .words(WORDS)
        .about("requests a resource"),
    message("log", ToServer)
        .of(envelope![
            "log",
            must("target", TEXT).default("\"$log\""),
            may(
                "args",
                Type::Tuple(members![may("record", Type::Either(&[RECORD, ANY]))])
            ),
        ])
        .words("level:args.record.level name:args.record.name message:args.record.msg id=")
        .about("a log record"),
    request("announce", ToServer).when("namespace").of(ANNOUNCE),
    request("announce", ToServer).when("schema").of(ANNOUNCE),
    request("announce", ToServer)
        .of(envelope![
            "announce",
            must("target", TEXT).default("\"$saikuro.announce\""),
            must("args", Type::Tuple(members![must("schema", OBJECT)])),
        ])
        .words("schema:args.schema id=")
        .about("a provider's schema, in JSON"),
    message("announce_ack", ToClient)
        .role(None)
        .of(object![
            must("namespace", TEXT),
            must("ok", BOOL),
            nullable("error", ERROR),
        ])
        .about("the answer to an announcement in the document's form"),
];
static CALL: &MessageSchema = &request("call", ToServer)
    .of(envelope!["call", must("target", TARGET), ARGS])
    .words("target [arg:args…]");

/// Messages that are not envelopes: answers, and the stream and channel frames of the document.
static ANSWERS: &[MessageSchema] = &[
    message("", ToClient)
        .when("ok")
        .of(object![
            ANSWERED,
            must("ok", BOOL),
            SEQ,
            STREAM_CONTROL,
            RESULTS,
            nullable("error", ERROR),
        ])
        .check(reply),
    message("", ToClient).when("seq").of(object![
        ANSWERED,
        must("seq", UINT),
        one("data", ANY),
        one("end", TRUE),
        one("error", Type::Either(&[ERROR, Type::Null])),
    ]),
    message("", ToClient)
        .when("close")
        .of(object![ANSWERED, must("close", TRUE)]),
];

/// The answers that `make` can build.
static MADE: &[MessageSchema] = &[
    message("response", ToClient)
        .role(Some(Role::Response))
        .of(object![
            ANSWERED,
            must("ok", BOOL).default("true"),
            may("result", RESULT),
        ])
        .words("id [result]")
        .about("an answer"),
    message("error", ToClient)
        .role(Some(Role::Error))
        .of(object![
            ANSWERED,
            must("ok", BOOL).default("false"),
            must("error", ERROR),
        ])
        .words("id error.code error.message")
        .about("an error answer"),
    message("item", ToClient)
        .role(Some(Role::Item))
        .of(object![
            ANSWERED,
            must("ok", BOOL).default("true"),
            must("result", ANY),
            must("seq", UINT),
        ])
        .words("id seq value:result")
        .about("one item of a stream"),
    message("end", ToClient)
        .role(Some(Role::End))
        .of(object![
            ANSWERED,
            must("ok", BOOL).default("true"),
            must("seq", UINT),
            must("stream_control", CONTROL).default("\"end\""),
        ])
        .words("id seq")
        .about("the end of a stream"),
    message("abort", ToClient)
        .role(Some(Role::End))
        .of(object![
            ANSWERED,
            must("ok", BOOL).default("false"),
            must("seq", UINT),
            must("stream_control", CONTROL).default("\"abort\""),
        ])
        .words("id seq")
        .about("the end of a stream after an error"),
];

/// The answers that `make` cannot build.
static OTHERS: &[MessageSchema] = &[
    message("batch-response", ToClient)
        .role(None)
        .of(object![RESULTS])
        .about("the answers to a batch, in the order of its calls"),
    message("stream-error", ToClient)
        .role(Some(Role::Error))
        .about("the end of a stream by an error, in the document's form"),
    message("close", ToClient)
        .role(Some(Role::End))
        .about("the end of one side of a channel, in the document's form"),
    message("pause", ToClient).about("stop sending items (real peers)"),
    message("resume", ToClient).about("send items again (real peers)"),
    message("unknown", ToClient)
        .role(None)
        .about("a map of another kind"),
];

/// Every kind of message.
pub(super) static KINDS: LazyLock<Vec<Kind>> =
    LazyLock::new(|| schema::kinds(ENVELOPES.iter().chain(MADE).chain(OTHERS)));

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let mut marks = Marks::of(ENVELOPES.iter().chain(MADE).chain(OTHERS));
    // A call may have a batch as an argument, and a batch may contain a batch.
    let nested = Generated::new("**.batch_items[*].id", "id", Fresh::Id);
    marks.generated.push(nested.volatile());
    // An announced schema.
    marks.dictionaries = ["namespaces", "functions", "types"].map(Into::into).into();
    marks
});

/// The messages that [`make`] makes.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> =
    LazyLock::new(|| schema::make::recipes(ENVELOPES.iter().chain(MADE)));

/// Returns the JSON Schema of each kind; all answers have the same.
pub(super) fn shapes() -> Vec<MessageJsonSchema> {
    let mut shapes = schema::json_schema::shapes(ENVELOPES);
    let answers: Vec<String> = ANSWERS.iter().map(|message| of(&message.ty)).collect();
    let others = MADE.iter().chain(OTHERS).map(|message| message.name);
    let known = others.filter(|name| *name != "unknown");
    shapes.extend(known.map(|name| (name.into(), any_of(&answers))));
    shapes
}

/// Makes a message from words, in the form of real peers.
pub(super) fn make(kind: &str, words: &mut Words<'_>, id_gen: &mut IdGen) -> Result<Made> {
    schema::make::make(ENVELOPES.iter().chain(MADE), kind, words, id_gen)
}

/// Writes a message.
pub(super) fn write(
    message: Node<'_>,
    options: &WriteOptions,
    out: &mut Vec<u8>,
) -> Result<Written> {
    write_msgpack(message, options.force, check, out)
}

/// Returns true if an envelope of this type may be sent, or be an item of a batch.
pub(super) fn is_invocation(name: &str) -> bool {
    let mut envelopes = ENVELOPES.iter();
    envelopes.any(|m| m.is_named(name) && m.direction == ToServer)
}

/// Returns the form of an envelope that real peers send; for an unknown type, a call.
pub(super) fn find(name: &str) -> &'static MessageSchema {
    let known = ENVELOPES.iter().rfind(|m| m.is_named(name));
    known.unwrap_or(CALL)
}

fn check(root: Node<'_>) -> Result<()> {
    if root.is_array() || root.get("type").is_some() {
        return envelope(root);
    }
    refuse(root, &OBJECT)?;
    let Some(answer) = form(ANSWERS, root) else {
        let wanted = "an envelope with a type, or an answer with ok, seq or close";
        return Err(Refusal::whole(wanted, quote(root)));
    };
    check_as(root, answer)
}

fn check_as(root: Node<'_>, message: &MessageSchema) -> Result<()> {
    refuse(root, &message.ty)?;
    message.check.map_or(Ok(()), |check| check(root))
}

fn envelope(root: Node<'_>) -> Result<()> {
    let kind = field(root, "type");
    let name = kind.and_then(Node::text).unwrap_or_default();
    let Some(message) = form(ENVELOPES.iter().filter(|m| m.is_named(&name)), root) else {
        let mut names: Vec<_> = ENVELOPES.iter().map(|m| m.name).collect();
        names.dedup();
        let wanted = format!("one of {}", names.join(" "));
        let got = kind.map_or_else(|| "nothing".into(), quote);
        return Err(Refusal::new("type", wanted, got));
    };
    check_as(root, message)
}

/// Checks that the items of a batch are envelopes.
fn items(root: Node<'_>) -> Result<()> {
    let items = field(root, "batch_items").into_iter();
    for (n, item) in items.flat_map(Node::children).enumerate() {
        envelope(item).map_err(|r| r.at(n).inside("batch_items"))?;
    }
    Ok(())
}

fn reply(root: Node<'_>) -> Result<()> {
    let ok = root.get("ok").and_then(Node::as_bool) == Some(true);
    let has = |name: &str| root.get(name).is_some_and(|node| !node.is_null());
    if ok && has("error") {
        return Err(Refusal::new("error", "nothing, since ok is true", "one"));
    }
    let results = root.get("results");
    // An abort comes after the error, and a batch lists the failed calls.
    if !(ok || has("error") || has("stream_control") || results.is_some()) {
        let wanted = "an object, since ok is false";
        return Err(Refusal::new("error", wanted, "nothing"));
    }
    for (n, result) in results.into_iter().flat_map(Node::children).enumerate() {
        let [answer, ..] = ANSWERS else { break };
        check_as(result, answer).map_err(|r| r.at(n).inside("results"))?;
    }
    Ok(())
}

fn is_id(node: Node<'_>) -> bool {
    match node.value() {
        Value::Scalar(Scalar::Bin(bytes)) => bytes.len() == 16,
        Value::Array => {
            let byte = |n| whole(n).is_some_and(|v| (0..256).contains(&v));
            node.children().count() == 16 && node.children().all(byte)
        }
        _ => is_text(node),
    }
}

fn is_target(node: Node<'_>) -> bool {
    let text = node.text().filter(|_| node.is_string());
    let split = text.as_deref().and_then(|t| t.rsplit_once('.'));
    split.is_some_and(|(namespace, function)| !namespace.is_empty() && !function.is_empty())
}

#[cfg(test)]
mod tests;

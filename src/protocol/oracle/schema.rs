//! The schema: the messages of the document.

use super::felt::Felt;
use super::message::{PEER_DEPTH, is_usable_id};
use crate::encoding::json::lone_surrogate;
use crate::error::{Refusal, Result};
use crate::protocol::Direction::{ToClient, ToServer};
use crate::protocol::make::{Recipe, text, value};
use crate::protocol::rpc::dialect::{Dialect, FAILURE, OTHERS, VERSION};
use crate::protocol::schema::check::{is_text, write_json};
use crate::protocol::schema::marks::{Collector, Generated, Marks};
use crate::protocol::schema::{
    self, CodeType, Fresh, Mark, MessageSchema, OBJECT, TEXT, Type, members, message, must, object,
    request,
};
use crate::protocol::{Kind, Role, WriteOptions, Written};
use crate::tape::Node;
use std::sync::LazyLock;

const ID: Type = Type::Code(&CodeType {
    name: "null, a string, or an integer of 0 to 2^64-1",
    members: &[],
    is: is_usable_id,
    word: |word, _| Ok(value(word)),
});
const FELT: Type = Type::Code(&CodeType {
    name: "a felt, \"0x\" and hex digits below the prime",
    members: &[],
    is: |node| {
        let is_felt = |text: &str| Felt::parse(text).is_ok();
        Felt::is_usual(node.raw_text()) || is_text(node) && node.text().is_some_and(|t| is_felt(&t))
    },
    word: |word, _| felt(word),
});
/// Each direction counts its own requests.
const READY: &[Mark] = &[Mark::Generated("ready", Fresh::Id), Mark::Volatile];
const INVOKE: &[Mark] = &[Mark::Generated("invoke", Fresh::Id), Mark::Volatile];
pub(super) const FELTS: Type = Type::Array(&FELT);
/// By name or by position: the SDK accepts both.
pub(super) const INVOKE_PARAMS: Type =
    Type::Record(members![must("selector", TEXT), must("calldata", FELTS)]);

/// The methods of the document.
static METHODS: &[MessageSchema] = &[
    request("ready", ToClient)
        .id(READY)
        .words("")
        .about("the oracle is ready"),
    request("invoke", ToServer)
        .id(INVOKE)
        .of(INVOKE_PARAMS)
        .result(FELTS)
        .words("selector [felt:calldata…]")
        .about("a call; felts in hex or decimal"),
    message("shutdown", ToServer)
        .words("")
        .about("the end of the session"),
];

pub(super) static DIALECT: Dialect = Dialect {
    answers: &[
        message("ack", ToServer)
            .id(READY)
            .of(object![
                VERSION,
                must("id", ID),
                must("result", OBJECT).default("{}"),
            ])
            .words("id")
            .role(Some(Role::Response))
            .about("the executor's answer to ready"),
        message("result", ToClient)
            .id(INVOKE)
            .of(object![VERSION, must("id", ID), must("result", FELTS)])
            .words("id [felt:result…]")
            .role(Some(Role::Response))
            .about("the answer to a call"),
        FAILURE.id(INVOKE),
    ],
    open: false,
    any_method: false,
    object_results: true,
    id: ID,
    error_id: ID,
    // An answer does not name its request: an object acknowledges `ready`.
    result: Type::Either(&[FELTS, OBJECT]),
    empty_params: false,
    ..Dialect::new(METHODS)
};

/// Every kind of message.
pub(super) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let known = DIALECT.methods.iter().chain(DIALECT.answers);
    schema::kinds(known.chain(&OTHERS))
});

/// Values that differ from run to run: ids of each direction.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let mut collector = Collector::default();
    for message in DIALECT.methods.iter().chain(DIALECT.answers) {
        collector.id(message.name, message.id);
    }
    let mut marks = collector.finish();
    marks.generated.push(Generated::ignored("id", "id"));
    marks
});

/// The messages that can be made.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| DIALECT.recipes());

/// Writes a message that the peers' parser can read.
pub(super) fn write(
    message: Node<'_>,
    options: &WriteOptions,
    out: &mut Vec<u8>,
) -> Result<Written> {
    let check = |root: Node<'_>| DIALECT.check(root).and_then(|()| check_readable(root));
    write_json(message, options.force, check, out)
}

fn check_readable(root: Node<'_>) -> Result<()> {
    if lone_surrogate(root.span().of(root.bytes())).is_some() {
        let wanted = "both halves of a surrogate pair";
        return Err(Refusal::whole(wanted, "one half"));
    }
    if is_deeper(root, PEER_DEPTH) {
        let wanted = format!("at most {PEER_DEPTH} levels of nesting, as real peers read");
        return Err(Refusal::whole(wanted, "more"));
    }
    Ok(())
}

fn is_deeper(node: Node<'_>, levels: u32) -> bool {
    let inner = node.is_map() || node.is_array();
    match levels.checked_sub(1) {
        Some(left) => inner && node.children().any(|child| is_deeper(child, left)),
        None => inner,
    }
}

/// Converts a word to a felt: hex unchanged, decimal as hex.
fn felt(word: &str) -> Result<String> {
    match word.parse::<u128>() {
        Ok(number) => Ok(text(&format!("{number:#x}"))),
        Err(_) if Felt::parse(word).is_ok() => Ok(text(word)),
        Err(_) => Err(Refusal::new(
            "calldata",
            "felts: hex with 0x, or decimal below 2^128",
            format!("`{word}`"),
        )),
    }
}

#[cfg(test)]
mod tests;

//! Messages from a few words, in the form that real peers use.

use crate::error::Refusal;
use crate::protocol::make::{Made, Mint, Object, Recipe, Words, array, text, unknown_kind, value};
use std::borrow::Cow;

pub(super) const RECIPES: &[Recipe] = &[
    Recipe {
        name: "call",
        words: Cow::Borrowed("TARGET [ARG…]"),
        keys: Cow::Borrowed("id capability"),
        about: "asks for one answer",
    },
    Recipe {
        name: "cast",
        words: Cow::Borrowed("TARGET [ARG…]"),
        keys: Cow::Borrowed("id capability"),
        about: "asks for none",
    },
    Recipe {
        name: "stream",
        words: Cow::Borrowed("TARGET [ARG…]"),
        keys: Cow::Borrowed("id capability"),
        about: "asks for items",
    },
    Recipe {
        name: "channel",
        words: Cow::Borrowed("TARGET [ARG…]"),
        keys: Cow::Borrowed("id capability"),
        about: "opens a channel",
    },
    Recipe {
        name: "resource",
        words: Cow::Borrowed("TARGET [ARG…]"),
        keys: Cow::Borrowed("id capability"),
        about: "asks for a resource",
    },
    Recipe {
        name: "batch",
        words: Cow::Borrowed("'TARGET ARG…'…"),
        keys: Cow::Borrowed("id capability"),
        about: "several calls, a word each",
    },
    Recipe {
        name: "log",
        words: Cow::Borrowed("LEVEL NAME MESSAGE"),
        keys: Cow::Borrowed("id"),
        about: "a log record",
    },
    Recipe {
        name: "announce",
        words: Cow::Borrowed("SCHEMA"),
        keys: Cow::Borrowed("id"),
        about: "a provider's schema, in JSON",
    },
    Recipe {
        name: "response",
        words: Cow::Borrowed("ID [RESULT]"),
        keys: Cow::Borrowed(""),
        about: "an answer",
    },
    Recipe {
        name: "error",
        words: Cow::Borrowed("ID CODE MESSAGE"),
        keys: Cow::Borrowed(""),
        about: "an answer that says no",
    },
    Recipe {
        name: "item",
        words: Cow::Borrowed("ID SEQ VALUE"),
        keys: Cow::Borrowed(""),
        about: "one item of a stream",
    },
    Recipe {
        name: "end",
        words: Cow::Borrowed("ID SEQ"),
        keys: Cow::Borrowed(""),
        about: "the end of a stream",
    },
    Recipe {
        name: "abort",
        words: Cow::Borrowed("ID SEQ"),
        keys: Cow::Borrowed(""),
        about: "the end of a stream after an error",
    },
];

pub(super) fn make(kind: &str, words: &mut Words<'_>, mint: &mut Mint) -> Result<Made, Refusal> {
    let made = match kind {
        "call" | "cast" | "stream" | "channel" | "resource" => {
            let target = words.word("a target: namespace.function")?;
            let args = words.rest();
            Made::to_server(envelope(kind, target, &args, words, mint))
        }
        "batch" => {
            let mut items = Vec::new();
            while let Some(call) = words.maybe() {
                let mut parts = call.split_whitespace();
                let Some(target) = parts.next() else { continue };
                let args: Vec<String> = parts.map(value).collect();
                items.push(envelope("call", target, &args, &Words::default(), mint).finish());
            }
            Made::to_server(
                envelope("batch", "", &[], words, mint).json("batch_items", &array(&items)),
            )
        }
        "log" => {
            let record = Object::default()
                .text("level", words.word("a level: trace debug info warn error")?);
            let record = record
                .text("name", words.word("a logger's name")?)
                .text("msg", words.word("a message")?);
            Made::to_server(envelope("log", "$log", &[record.finish()], words, mint))
        }
        "announce" => {
            let schema = words.json("a schema in JSON")?;
            Made::to_server(envelope(
                "announce",
                "$saikuro.announce",
                &[schema],
                words,
                mint,
            ))
        }
        "response" => {
            let answer = Object::default()
                .json("id", &id(words.word("an id")?))
                .json("ok", "true");
            Made::to_client(answer.maybe("result", words.maybe().map(value)))
        }
        "error" => {
            let answer = Object::default()
                .json("id", &id(words.word("an id")?))
                .json("ok", "false");
            let error = Object::default().text("code", words.word("an error code")?);
            Made::to_client(answer.json(
                "error",
                &error.text("message", words.word("a message")?).finish(),
            ))
        }
        "item" => {
            let answer = Object::default()
                .json("id", &id(words.word("an id")?))
                .json("ok", "true");
            let seq = words.number("a sequence number")?;
            Made::to_client(
                answer
                    .json("result", &words.value("a value")?)
                    .json("seq", &seq),
            )
        }
        "end" | "abort" => {
            let ok = if kind == "end" { "true" } else { "false" };
            let answer = Object::default()
                .json("id", &id(words.word("an id")?))
                .json("ok", ok);
            Made::to_client(
                answer
                    .json("seq", &words.number("a sequence number")?)
                    .text("stream_control", kind),
            )
        }
        _ => return Err(unknown_kind(kind, RECIPES)),
    };
    words.end()?;
    Ok(made)
}

fn envelope(
    kind: &str,
    target: &str,
    args: &[String],
    words: &Words<'_>,
    mint: &mut Mint,
) -> Object {
    let id = words.key("id").map_or_else(|| bytes(&mint.uuid()), id);
    let envelope = Object::default()
        .json("version", "1")
        .text("type", kind)
        .json("id", &id)
        .text("target", target);
    envelope
        .json("args", &array(args))
        .maybe("capability", words.key("capability").map(text))
}

/// An id as the runtime writes it: a UUID as sixteen bytes, anything else as text.
fn id(word: &str) -> String {
    super::message::parse_uuid(word.as_bytes()).map_or_else(|| text(word), |uuid| bytes(&uuid))
}

fn bytes(uuid: &[u8; 16]) -> String {
    format!("{{\"$bin\":\"{}\"}}", hex::encode(uuid))
}

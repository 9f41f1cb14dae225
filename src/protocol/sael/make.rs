//! Messages from a few words, as JSON objects with their kind inside: what real peers send.

use crate::error::Refusal;
use crate::protocol::make::{Made, Mint, Object, Recipe, Words, array, text, unknown_kind, value};
use std::borrow::Cow;

pub(super) const RECIPES: &[Recipe] = &[
    Recipe {
        name: "HEY",
        words: Cow::Borrowed("AGENT-ID [KIND]"),
        keys: Cow::Borrowed("token"),
        about: "opens a session",
    },
    Recipe {
        name: "RSM",
        words: Cow::Borrowed("SESSION-ID LAST-SEQ"),
        keys: Cow::Borrowed(""),
        about: "takes a session up again",
    },
    Recipe {
        name: "LST",
        words: Cow::Borrowed(""),
        keys: Cow::Borrowed("seq"),
        about: "asks for the tools",
    },
    Recipe {
        name: "INV",
        words: Cow::Borrowed("TOOL [INPUT]"),
        keys: Cow::Borrowed("seq trace_id"),
        about: "calls a tool",
    },
    Recipe {
        name: "PIPELINE",
        words: Cow::Borrowed("STAGE…"),
        keys: Cow::Borrowed("seq trace_id"),
        about: "an INV of stages, in JSON",
    },
    Recipe {
        name: "SUB",
        words: Cow::Borrowed("TOPIC [FILTER]"),
        keys: Cow::Borrowed("seq"),
        about: "subscribes to a topic",
    },
    Recipe {
        name: "UNS",
        words: Cow::Borrowed("SEQ"),
        keys: Cow::Borrowed(""),
        about: "ends a subscription",
    },
    Recipe {
        name: "CAN",
        words: Cow::Borrowed("SEQ"),
        keys: Cow::Borrowed(""),
        about: "cancels a call",
    },
    Recipe {
        name: "ACK",
        words: Cow::Borrowed("SEQ"),
        keys: Cow::Borrowed(""),
        about: "window update",
    },
    Recipe {
        name: "HBT",
        words: Cow::Borrowed("[TS]"),
        keys: Cow::Borrowed(""),
        about: "the client lives",
    },
    Recipe {
        name: "BYE",
        words: Cow::Borrowed(""),
        keys: Cow::Borrowed(""),
        about: "ends the session",
    },
    Recipe {
        name: "RES",
        words: Cow::Borrowed("SEQ OUTPUT"),
        keys: Cow::Borrowed(""),
        about: "the answer to a call",
    },
    Recipe {
        name: "STR",
        words: Cow::Borrowed("SEQ DATA"),
        keys: Cow::Borrowed(""),
        about: "one item of a stream",
    },
    Recipe {
        name: "END",
        words: Cow::Borrowed("SEQ"),
        keys: Cow::Borrowed(""),
        about: "the end of a stream",
    },
    Recipe {
        name: "ERR",
        words: Cow::Borrowed("SEQ CODE MESSAGE"),
        keys: Cow::Borrowed(""),
        about: "an answer that says no",
    },
    Recipe {
        name: "EVT",
        words: Cow::Borrowed("SEQ DATA"),
        keys: Cow::Borrowed(""),
        about: "an event of a subscription",
    },
    Recipe {
        name: "WIN",
        words: Cow::Borrowed("WINDOW"),
        keys: Cow::Borrowed(""),
        about: "how many calls may be open",
    },
    Recipe {
        name: "HBA",
        words: Cow::Borrowed("[TS]"),
        keys: Cow::Borrowed(""),
        about: "the server lives",
    },
];

pub(super) fn make(kind: &str, words: &mut Words<'_>, mint: &mut Mint) -> Result<Made, Refusal> {
    let frame = Object::default()
        .json("v", "1")
        .text("kind", if kind == "PIPELINE" { "INV" } else { kind });
    // seq counts from 1: 0 is the connection's own.
    let fresh = |frame: Object, words: &Words<'_>, mint: &mut Mint| {
        let seq = words
            .key("seq")
            .map_or_else(|| (mint.number() + 1).to_string(), value);
        frame
            .json("seq", &seq)
            .maybe("trace_id", words.key("trace_id").map(text))
    };
    let made = match kind {
        "HEY" => {
            let agent = Object::default().text("id", words.word("the agent's id")?);
            let agent = agent
                .text("kind", words.maybe().unwrap_or("agent"))
                .finish();
            let auth = |token| {
                Object::default()
                    .text("type", "bearer")
                    .text("token", token)
                    .finish()
            };
            Made::to_server(
                frame
                    .json("agent", &agent)
                    .maybe("auth", words.key("token").map(auth)),
            )
        }
        "RSM" => {
            let frame = frame.text("session_id", words.word("a session id")?);
            Made::to_server(
                frame.json("last_seq_received", &words.number("the last seq received")?),
            )
        }
        "LST" => Made::to_server(fresh(frame, words, mint)),
        "INV" => {
            let frame = fresh(frame, words, mint).text("tool", words.word("a tool")?);
            let input = words.maybe().map_or_else(|| "{}".to_owned(), value);
            Made::to_server(frame.json("input", &input))
        }
        "PIPELINE" => {
            Made::to_server(fresh(frame, words, mint).json("pipeline", &array(&words.rest())))
        }
        "SUB" => {
            let frame = fresh(frame, words, mint).text("topic", words.word("a topic")?);
            Made::to_server(frame.maybe("filter", words.maybe().map(value)))
        }
        "UNS" | "CAN" | "ACK" => Made::to_server(frame.json("seq", &words.number("a seq")?)),
        "HBT" => Made::to_server(frame.json("ts", &words.maybe().map_or("0".into(), value))),
        "HBA" => Made::to_client(frame.json("ts", &words.maybe().map_or("0".into(), value))),
        "BYE" => Made::to_server(frame),
        "RES" => {
            let frame = frame.json("seq", &words.number("a seq")?);
            Made::to_client(frame.json("output", &words.value("the output")?))
        }
        "STR" | "EVT" => {
            let frame = frame.json("seq", &words.number("a seq")?);
            Made::to_client(frame.json("data", &words.value("the data")?))
        }
        "END" => Made::to_client(frame.json("seq", &words.number("a seq")?)),
        "ERR" => {
            let frame = frame
                .json("seq", &words.number("a seq")?)
                .text("code", words.word("an error code")?);
            Made::to_client(frame.text("message", words.word("a message")?))
        }
        "WIN" => Made::to_client(frame.json("window", &words.number("a window")?)),
        _ => return Err(unknown_kind(kind, RECIPES)),
    };
    words.end()?;
    Ok(made)
}

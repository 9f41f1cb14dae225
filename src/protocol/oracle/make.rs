//! Messages from a few words.

use crate::error::Refusal;
use crate::protocol::make::{Made, Mint, Object, Recipe, Words, array, text, unknown_kind};
use std::borrow::Cow;

pub(super) const RECIPES: &[Recipe] = &[
    Recipe {
        name: "ready",
        words: Cow::Borrowed(""),
        keys: Cow::Borrowed("id"),
        about: "the oracle is ready",
    },
    Recipe {
        name: "ack",
        words: Cow::Borrowed("ID"),
        keys: Cow::Borrowed(""),
        about: "the executor's answer to ready",
    },
    Recipe {
        name: "invoke",
        words: Cow::Borrowed("SELECTOR [FELT…]"),
        keys: Cow::Borrowed("id"),
        about: "a call; felts in hex or decimal",
    },
    Recipe {
        name: "result",
        words: Cow::Borrowed("ID [FELT…]"),
        keys: Cow::Borrowed(""),
        about: "the answer to a call",
    },
    Recipe {
        name: "error",
        words: Cow::Borrowed("ID CODE MESSAGE"),
        keys: Cow::Borrowed(""),
        about: "an answer that says no",
    },
    Recipe {
        name: "shutdown",
        words: Cow::Borrowed(""),
        keys: Cow::Borrowed(""),
        about: "the end of the session",
    },
];

pub(super) fn make(kind: &str, words: &mut Words<'_>, mint: &mut Mint) -> Result<Made, Refusal> {
    let rpc = Object::default().text("jsonrpc", "2.0");
    let fresh = |words: &Words<'_>, mint: &mut Mint| {
        words
            .key("id")
            .map_or_else(|| mint.number().to_string(), crate::protocol::make::value)
    };
    let made = match kind {
        "ready" => Made::to_client(rpc.json("id", &fresh(words, mint)).text("method", "ready")),
        "ack" => Made::to_server(
            rpc.json("id", &words.value("the id of ready")?)
                .json("result", "{}"),
        ),
        "invoke" => {
            let selector = words.word("a selector")?;
            let params = Object::default()
                .text("selector", selector)
                .json("calldata", &array(&felts(words)?));
            Made::to_server(
                rpc.json("id", &fresh(words, mint))
                    .text("method", "invoke")
                    .json("params", &params.finish()),
            )
        }
        "result" => {
            let id = words.value("the id of the call")?;
            Made::to_client(rpc.json("id", &id).json("result", &array(&felts(words)?)))
        }
        "error" => {
            let id = words.value("the id of the call")?;
            let error = Object::default().json("code", &words.number("an error code")?);
            let error = error.text("message", words.word("a message")?);
            Made::to_client(rpc.json("id", &id).json("error", &error.finish()))
        }
        "shutdown" => Made::to_server(rpc.text("method", "shutdown")),
        _ => return Err(unknown_kind(kind, RECIPES)),
    };
    words.end()?;
    Ok(made)
}

/// The words that are left as felts: hex as it stands, decimal as hex.
fn felts(words: &mut Words<'_>) -> Result<Vec<String>, Refusal> {
    let felt = |word: &str| match word.parse::<u128>() {
        Ok(number) => Ok(text(&format!("{number:#x}"))),
        Err(_) if super::felt::Felt::parse(word).is_ok() => Ok(text(word)),
        Err(_) => Err(Refusal::new(
            "calldata",
            "felts: hex with 0x, or decimal below 2^128",
            format!("`{word}`"),
        )),
    };
    std::iter::from_fn(|| words.maybe()).map(felt).collect()
}

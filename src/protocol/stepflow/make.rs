//! Messages from a few words.

use crate::error::Refusal;
use crate::protocol::make::{Made, Mint, Object, Recipe, Words, unknown_kind, value};

pub(super) const RECIPES: &[Recipe] = &[
    Recipe {
        name: "initialize",
        words: "[VERSION]",
        keys: "id",
        about: "opens a session",
    },
    Recipe {
        name: "initialized",
        words: "",
        keys: "",
        about: "the session is open",
    },
    Recipe {
        name: "components/list",
        words: "",
        keys: "id",
        about: "asks for the components",
    },
    Recipe {
        name: "components/info",
        words: "COMPONENT",
        keys: "id",
        about: "asks for one component",
    },
    Recipe {
        name: "components/execute",
        words: "COMPONENT INPUT",
        keys: "id attempt",
        about: "runs a component",
    },
    Recipe {
        name: "blobs/put",
        words: "DATA [TYPE]",
        keys: "id",
        about: "stores data; TYPE is data or flow",
    },
    Recipe {
        name: "blobs/get",
        words: "BLOB-ID",
        keys: "id",
        about: "asks for data",
    },
    Recipe {
        name: "flows/evaluate",
        words: "FLOW-ID INPUT",
        keys: "id",
        about: "runs a flow",
    },
    Recipe {
        name: "request",
        words: "METHOD [PARAMS]",
        keys: "id",
        about: "any other request",
    },
    Recipe {
        name: "notification",
        words: "METHOD [PARAMS]",
        keys: "",
        about: "any other notification",
    },
    Recipe {
        name: "response",
        words: "ID RESULT",
        keys: "",
        about: "an answer",
    },
    Recipe {
        name: "error",
        words: "ID CODE MESSAGE [DATA]",
        keys: "",
        about: "an answer that says no",
    },
];

pub(super) fn make(kind: &str, words: &mut Words<'_>, mint: &mut Mint) -> Result<Made, Refusal> {
    let rpc = Object::default().text("jsonrpc", "2.0");
    let none = || "{}".to_owned();
    let request = |method: &str, params: &str, words: &Words<'_>, mint: &mut Mint| {
        let id = words
            .key("id")
            .map_or_else(|| format!("\"{}\"", uuid_text(&mint.uuid())), value);
        let rpc = Object::default().text("jsonrpc", "2.0").json("id", &id);
        rpc.text("method", method).json("params", params)
    };
    let made = match kind {
        "initialize" => {
            let version = words.maybe().unwrap_or("1");
            let params = Object::default()
                .json("runtime_protocol_version", version)
                .finish();
            Made::to_server(request(kind, &params, words, mint))
        }
        "initialized" => Made::to_server(rpc.text("method", kind).json("params", "{}")),
        "components/list" => Made::to_server(request(kind, "{}", words, mint)),
        "components/info" => {
            let params = Object::default()
                .text("component", words.word("a component: /name")?)
                .finish();
            Made::to_server(request(kind, &params, words, mint))
        }
        "components/execute" => {
            let params = Object::default().text("component", words.word("a component: /name")?);
            let attempt = words.key("attempt").map_or_else(|| "1".to_owned(), value);
            // Servers since 0.7 refuse what has no attempt and no observability; those before pass over both.
            let params = params
                .json("input", &words.value("its input")?)
                .json("attempt", &attempt)
                .json("observability", "{}");
            Made::to_server(request(kind, &params.finish(), words, mint))
        }
        "blobs/put" => {
            let params = Object::default().json("data", &words.value("data")?);
            let params = params
                .text("blob_type", words.maybe().unwrap_or("data"))
                .finish();
            Made::to_client(request(kind, &params, words, mint))
        }
        "blobs/get" => {
            let params = Object::default()
                .text("blob_id", words.word("a blob's id")?)
                .finish();
            Made::to_client(request(kind, &params, words, mint))
        }
        "flows/evaluate" => {
            let params = Object::default().text("flow_id", words.word("a flow's id")?);
            let params = params.json("input", &words.value("its input")?).finish();
            Made::to_client(request(kind, &params, words, mint))
        }
        "request" => {
            let method = words.word("a method")?;
            let params = words.maybe().map_or_else(none, value);
            Made::to_server(request(method, &params, words, mint))
        }
        "notification" => {
            let rpc = rpc.text("method", words.word("a method")?);
            Made::to_server(rpc.json("params", &words.maybe().map_or_else(none, value)))
        }
        "response" => {
            let rpc = rpc.json("id", &words.value("an id")?);
            Made::to_client(rpc.json("result", &words.value("a result")?))
        }
        "error" => {
            let rpc = rpc.json("id", &words.value("an id")?);
            let error = Object::default().json("code", &words.number("an error code")?);
            let error = error
                .text("message", words.word("a message")?)
                .maybe("data", words.maybe().map(value));
            Made::to_client(rpc.json("error", &error.finish()))
        }
        _ => return Err(unknown_kind(kind, RECIPES)),
    };
    words.end()?;
    Ok(made)
}

fn uuid_text(uuid: &[u8; 16]) -> String {
    crate::protocol::Id::Uuid(*uuid).text().into_owned()
}

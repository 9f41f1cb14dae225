//! One message, checked and written as JSON: exactly the text it was given as. Accepted is what any release sends.

use super::message::METHODS;
use crate::error::Refusal;
use crate::protocol::check::{
    self, ANY, ARRAY, Member, OBJECT, Sort, TEXT, UINT, may, members, must, object, or_null, rpc,
    sort, whole,
};
use crate::protocol::{WriteOptions, Written};
use crate::tape::Node;

/// Writes a message.
pub(super) fn write(
    message: Node<'_>,
    options: &WriteOptions,
    out: &mut Vec<u8>,
) -> Result<Written, Refusal> {
    check::write_json(message, options.force, check, out)
}

const ID: Sort = sort("a string, or an integer of -2^63 to 2^63-1", is_id);
/// An error that answers no request that could be read has none.
const ERROR_ID: Sort = sort("a string, an integer of -2^63 to 2^63-1, or null", |n| {
    n.is_null() || is_id(n)
});
const NOTIFIES: Sort = sort("nothing: this is a notification", |_| false);
/// The document writes an object with a name, every peer text.
const COMPONENT: Sort = sort("a string", |n| {
    let name = n.get("name").unwrap_or(n);
    (TEXT.is)(name)
});
const PORT: Sort = sort("an integer of 1 to 65535", |n| {
    whole(n).is_some_and(|v| (1..=65535).contains(&v))
});
const ATTEMPT: Sort = sort("an integer of 1 or more", |n| {
    whole(n).is_some_and(|v| v >= 1)
});

/// What tells and asks for nothing.
const NOTIFICATIONS: [&str; 3] = ["initialized", "progress_update", "execution_complete"];
/// The params that a method must have in every release that has it.
const PARAMS: &[(&str, &[Member])] = &[
    ("components/info", &[must("component", COMPONENT)]),
    (
        "components/execute",
        &[
            must("component", COMPONENT),
            must("input", ANY),
            or_null("attempt", ATTEMPT),
            or_null("observability", OBJECT),
        ],
    ),
    (
        "components/infer_schema",
        &[must("component", COMPONENT), must("input_schema", ANY)],
    ),
    (
        "blobs/put",
        &[must("data", ANY), or_null("blob_type", TEXT)],
    ),
    ("blobs/get", &[must("blob_id", TEXT)]),
    (
        "flows/evaluate",
        &[must("flow_id", TEXT), must("input", ANY)],
    ),
    ("flows/get_metadata", &[must("flow_id", TEXT)]),
    (
        "flows/submit_batch",
        &[must("flow_id", TEXT), must("inputs", ARRAY)],
    ),
    ("flows/get_batch", &[must("batch_id", TEXT)]),
    (
        "runs/submit",
        &[must("flowId", TEXT), must("inputs", ARRAY)],
    ),
    ("runs/get", &[must("runId", TEXT)]),
];
/// The version, in the spelling of either release.
const VERSION: [&str; 2] = ["runtime_protocol_version", "runtimeProtocolVersion"];

fn check(root: Node<'_>) -> Result<(), Refusal> {
    if root.get("jsonrpc").is_none() && root.get("port").is_some() {
        return object(root, &[must("port", PORT)]);
    }
    let call = rpc::call(root)?;
    let Some(method) = call.method.and_then(Node::text) else {
        let id = if call.error().is_some() { ERROR_ID } else { ID };
        return rpc::answer(&call, id);
    };
    if !METHODS.contains(&method.as_ref()) {
        let wanted = format!("one of {}", METHODS.join(" "));
        return Err(Refusal::new("method", wanted, format!("{method:?}")));
    }
    let id = if NOTIFICATIONS.contains(&method.as_ref()) {
        may("id", NOTIFIES)
    } else {
        must("id", ID)
    };
    object(root, &[id, or_null("params", OBJECT)])?;
    let params = call.params.filter(|p| !p.is_null());
    let find = |name: &str| params.and_then(|p| p.get(name));
    let rules = PARAMS.iter().find(|(name, _)| *name == method);
    let checked = match rules {
        Some((_, rules)) => members(&find, rules),
        None if method == "initialize" => {
            let spelled = VERSION.into_iter().find(|name| find(name).is_some());
            members(&find, &[must(spelled.unwrap_or(VERSION[0]), UINT)])
        }
        None => Ok(()),
    };
    checked.map_err(|r| r.inside("params"))
}

fn is_id(node: Node<'_>) -> bool {
    let int = || whole(node).is_some_and(|v| i64::try_from(v).is_ok());
    (TEXT.is)(node) || int()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::tests::{of, refusals};

    #[test]
    fn wrong_messages() {
        let texts = [
            "5",
            "[]",
            "{}",
            r#"{"port":0}"#,
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"1.0","id":"a","result":1}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":7}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"components/frobnicate"}"#,
            r#"{"jsonrpc":"2.0","method":"components/list"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"components/list"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"components/list"}"#,
            r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"components/list"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"components/list","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"initialized"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"runtimeProtocolVersion":"1"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"components/execute"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":"/x"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":5,"input":1}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":"/x","input":1,"attempt":0}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"blobs/put","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"runs/submit","params":{"flowId":"f","inputs":{}}}"#,
            r#"{"jsonrpc":"2.0","id":"a"}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":1}"#,
            r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":1.5,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","result":1,"error":{"code":1,"message":"m"}}"#,
        ];
        let table = refusals(of("stepflow"), &WriteOptions::default(), &texts);
        insta::assert_snapshot!(table, @r#"
        5
          message: wanted an object, got 5
        []
          message: wanted an object, got []
        {}
          jsonrpc: wanted "2.0", got nothing
        {"port":0}
          port: wanted an integer of 1 to 65535, got 0
        {"jsonrpc":"2.0"}
          message: wanted a method, or an id and its result or error, got nothing
        {"jsonrpc":"1.0","id":"a","result":1}
          jsonrpc: wanted "2.0", got "1.0"
        {"jsonrpc":"2.0","id":"a","method":7}
          method: wanted a string, got 7
        {"jsonrpc":"2.0","id":"a","method":"components/frobnicate"}
          method: wanted one of initialize initialized components/list components/info components/execute components/infer_schema blobs/put blobs/get flows/evaluate flows/get_metadata flows/submit_batch flows/get_batch runs/submit runs/get progress_update execution_complete, got "components/frobnicate"
        {"jsonrpc":"2.0","method":"components/list"}
          id: wanted a string, or an integer of -2^63 to 2^63-1, got nothing
        {"jsonrpc":"2.0","id":null,"method":"components/list"}
          id: wanted a string, or an integer of -2^63 to 2^63-1, got null
        {"jsonrpc":"2.0","id":1.5,"method":"components/list"}
          id: wanted a string, or an integer of -2^63 to 2^63-1, got 1.5
        {"jsonrpc":"2.0","id":9223372036854775808,"method":"components/list"}
          id: wanted a string, or an integer of -2^63 to 2^63-1, got 9223372036854775808
        {"jsonrpc":"2.0","id":"a","method":"components/list","params":[]}
          params: wanted an object, got []
        {"jsonrpc":"2.0","id":"a","method":"initialized"}
          id: wanted nothing: this is a notification, got "a"
        {"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}
          params.runtime_protocol_version: wanted an integer of 0 or more, got nothing
        {"jsonrpc":"2.0","id":"a","method":"initialize","params":{"runtimeProtocolVersion":"1"}}
          params.runtimeProtocolVersion: wanted an integer of 0 or more, got "1"
        {"jsonrpc":"2.0","id":"a","method":"components/execute"}
          params.component: wanted a string, got nothing
        {"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":"/x"}}
          params.input: wanted a value, got nothing
        {"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":5,"input":1}}
          params.component: wanted a string, got 5
        {"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":"/x","input":1,"attempt":0}}
          params.attempt: wanted an integer of 1 or more, got 0
        {"jsonrpc":"2.0","id":"a","method":"blobs/put","params":{}}
          params.data: wanted a value, got nothing
        {"jsonrpc":"2.0","id":"a","method":"runs/submit","params":{"flowId":"f","inputs":{}}}
          params.inputs: wanted an array, got {}
        {"jsonrpc":"2.0","id":"a"}
          result: wanted a value, or an error, got nothing
        {"jsonrpc":"2.0","id":null,"result":1}
          id: wanted a string, or an integer of -2^63 to 2^63-1, got null
        {"jsonrpc":"2.0","error":{"code":1,"message":"m"}}
          id: wanted a string, an integer of -2^63 to 2^63-1, or null, got nothing
        {"jsonrpc":"2.0","id":"a","error":{"code":1.5,"message":"m"}}
          error.code: wanted an integer, got 1.5
        {"jsonrpc":"2.0","id":"a","result":1,"error":{"code":1,"message":"m"}}
          error: wanted nothing beside a result, got one
        "#);
    }
}

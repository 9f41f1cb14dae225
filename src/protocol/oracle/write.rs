//! One message, checked and written as a line's JSON: exactly the text it was given as.

use super::felt::Felt;
use super::message::{PEER_DEPTH, is_usable_id};
use crate::encoding::json::lone_surrogate;
use crate::encoding::lossless::quote;
use crate::error::Refusal;
use crate::protocol::check::{
    self, ARRAY, Member, OBJECT, Sort, TEXT, be, each, may, must, object, or_null, rpc, sort,
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

const ID: Sort = sort("null, a string, or an integer of 0 to 2^64-1", is_usable_id);
const FELT: Sort = sort("a felt, \"0x\" and hex digits below the prime", |n| {
    n.is_string() && n.text().is_some_and(|t| Felt::parse(&t).is_ok())
});
const FELTS: Sort = Sort {
    wanted: "an array of felts",
    ..ARRAY
};
/// By name, or by position as the SDK takes them, too.
const PARAMS: Sort = sort("an object with selector and calldata", |n| {
    n.is_map() || n.is_array()
});

const READY: &[Member] = &[must("id", ID), or_null("params", OBJECT)];
const INVOKE: &[Member] = &[must("id", ID), must("params", PARAMS)];
const PARTS: &[Member] = &[must("selector", TEXT), must("calldata", FELTS)];
const SHUTDOWN: &[Member] = &[may("id", NOTIFIES), or_null("params", OBJECT)];
const NOTIFIES: Sort = sort("nothing: shutdown is a notification", |_| false);

fn check(root: Node<'_>) -> Result<(), Refusal> {
    let call = rpc::call(root)?;
    readable(root)?;
    match call.method.and_then(Node::text).as_deref() {
        Some("ready") => object(root, READY),
        Some("invoke") => {
            object(root, INVOKE)?;
            let params = call.params.map_or(Ok(()), invoke);
            params.map_err(|r| r.inside("params"))
        }
        Some("shutdown") => object(root, SHUTDOWN),
        Some(other) => {
            let wanted = "ready, invoke or shutdown";
            Err(Refusal::new("method", wanted, format!("{other:?}")))
        }
        None => {
            rpc::answer(&call, ID)?;
            match call.result.filter(|result| !result.is_map()) {
                Some(result) => felts(result).map_err(|r| r.inside("result")),
                None => Ok(()),
            }
        }
    }
}

fn invoke(params: Node<'_>) -> Result<(), Refusal> {
    let part = |name: &str| match name {
        "selector" if params.is_array() => params.at(0),
        "calldata" if params.is_array() => params.at(1),
        _ => params.get(name),
    };
    check::members(&part, PARTS)?;
    match part("calldata") {
        Some(calldata) => felts(calldata).map_err(|r| r.inside("calldata")),
        None => Ok(()),
    }
}

fn felts(array: Node<'_>) -> Result<(), Refusal> {
    if !array.is_array() {
        let wanted = "an array of felts, or {} to acknowledge";
        return Err(Refusal::whole(wanted, quote(array)));
    }
    each(array, |felt| be(felt, FELT))
}

/// What the real peers' parser can read.
fn readable(root: Node<'_>) -> Result<(), Refusal> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::tests::{of, refusals};

    #[test]
    fn wrong_messages() {
        let texts = [
            "[]",
            "{}",
            r#"{"jsonrpc":"1.0","id":0,"method":"ready"}"#,
            r#"{"jsonrpc":2.0,"id":0,"method":"ready"}"#,
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":5}"#,
            r#"{"jsonrpc":"2.0","method":"ready"}"#,
            r#"{"jsonrpc":"2.0","id":-1,"method":"ready"}"#,
            r#"{"jsonrpc":"2.0","id":1.0,"method":"ready"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"ready"}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"ready","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"Ready"}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"invoke"}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"calldata":[]}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":5,"calldata":[]}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":"0x1"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":["f",["0x1",2]]}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0X1"]}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"\ud800","calldata":[]}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"shutdown"}"#,
            r#"{"jsonrpc":"2.0","result":[]}"#,
            r#"{"jsonrpc":"2.0","id":0}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":["0x1","12"]}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":[],"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":"1","message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":1}}"#,
        ];
        let table = refusals(of("oracle"), &WriteOptions::default(), &texts);
        insta::assert_snapshot!(table, @r#"
        []
          message: wanted an object, got []
        {}
          jsonrpc: wanted "2.0", got nothing
        {"jsonrpc":"1.0","id":0,"method":"ready"}
          jsonrpc: wanted "2.0", got "1.0"
        {"jsonrpc":2.0,"id":0,"method":"ready"}
          jsonrpc: wanted "2.0", got 2.0
        {"jsonrpc":"2.0"}
          message: wanted a method, or an id and its result or error, got nothing
        {"jsonrpc":"2.0","id":0,"method":5}
          method: wanted a string, got 5
        {"jsonrpc":"2.0","method":"ready"}
          id: wanted null, a string, or an integer of 0 to 2^64-1, got nothing
        {"jsonrpc":"2.0","id":-1,"method":"ready"}
          id: wanted null, a string, or an integer of 0 to 2^64-1, got -1
        {"jsonrpc":"2.0","id":1.0,"method":"ready"}
          id: wanted null, a string, or an integer of 0 to 2^64-1, got 1.0
        {"jsonrpc":"2.0","id":true,"method":"ready"}
          id: wanted null, a string, or an integer of 0 to 2^64-1, got true
        {"jsonrpc":"2.0","id":0,"method":"ready","params":[]}
          params: wanted an object, got []
        {"jsonrpc":"2.0","id":0,"method":"Ready"}
          method: wanted ready, invoke or shutdown, got "Ready"
        {"jsonrpc":"2.0","id":0,"method":"invoke"}
          params: wanted an object with selector and calldata, got nothing
        {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"calldata":[]}}
          params.selector: wanted a string, got nothing
        {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":5,"calldata":[]}}
          params.selector: wanted a string, got 5
        {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":"0x1"}}
          params.calldata: wanted an array of felts, got "0x1"
        {"jsonrpc":"2.0","id":0,"method":"invoke","params":["f",["0x1",2]]}
          params.calldata[1]: wanted a felt, "0x" and hex digits below the prime, got 2
        {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0X1"]}}
          params.calldata[0]: wanted a felt, "0x" and hex digits below the prime, got "0X1"
        {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"\ud800","calldata":[]}}
          message: wanted both halves of a surrogate pair, got one half
        {"jsonrpc":"2.0","id":0,"method":"shutdown"}
          id: wanted nothing: shutdown is a notification, got 0
        {"jsonrpc":"2.0","result":[]}
          id: wanted null, a string, or an integer of 0 to 2^64-1, got nothing
        {"jsonrpc":"2.0","id":0}
          result: wanted a value, or an error, got nothing
        {"jsonrpc":"2.0","id":0,"result":null}
          result: wanted an array of felts, or {} to acknowledge, got null
        {"jsonrpc":"2.0","id":0,"result":["0x1","12"]}
          result[1]: wanted a felt, "0x" and hex digits below the prime, got "12"
        {"jsonrpc":"2.0","id":0,"result":[],"error":{"code":1,"message":"m"}}
          error: wanted nothing beside a result, got one
        {"jsonrpc":"2.0","id":0,"error":{"code":"1","message":"m"}}
          error.code: wanted an integer, got "1"
        {"jsonrpc":"2.0","id":0,"error":{"code":1}}
          error.message: wanted a string, got nothing
        "#);
    }
}

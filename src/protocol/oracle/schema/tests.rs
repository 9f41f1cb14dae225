//! Messages that are refused before writing.

use super::DIALECT;
use crate::protocol::WriteOptions;
use crate::protocol::schema::check::fits;
use crate::protocol::tests::heads::each_fixture;
use crate::protocol::tests::{of, refusals};
use crate::tape::Node;

#[test]
fn wrong_messages_are_refused() {
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
      method: wanted one of ready invoke shutdown, got "Ready"
    {"jsonrpc":"2.0","id":0,"method":"invoke"}
      params.selector: wanted a string, got nothing
    {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"calldata":[]}}
      params.selector: wanted a string, got nothing
    {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":5,"calldata":[]}}
      params.selector: wanted a string, got 5
    {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":"0x1"}}
      params.calldata: wanted an array, each element a felt, "0x" and hex digits below the prime, got "0x1"
    {"jsonrpc":"2.0","id":0,"method":"invoke","params":["f",["0x1",2]]}
      params.calldata[1]: wanted a felt, "0x" and hex digits below the prime, got 2
    {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0X1"]}}
      params.calldata[0]: wanted a felt, "0x" and hex digits below the prime, got "0X1"
    {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"\ud800","calldata":[]}}
      message: wanted both halves of a surrogate pair, got one half
    {"jsonrpc":"2.0","id":0,"method":"shutdown"}
      id: wanted nothing: this is a notification, got 0
    {"jsonrpc":"2.0","result":[]}
      id: wanted null, a string, or an integer of 0 to 2^64-1, got nothing
    {"jsonrpc":"2.0","id":0}
      result: wanted a value, or an error, got nothing
    {"jsonrpc":"2.0","id":0,"result":null}
      result: wanted an array, each element a felt, "0x" and hex digits below the prime or an object, got null
    {"jsonrpc":"2.0","id":0,"result":["0x1","12"]}
      result[1]: wanted a felt, "0x" and hex digits below the prime, got "12"
    {"jsonrpc":"2.0","id":0,"result":[],"error":{"code":1,"message":"m"}}
      error: wanted nothing beside a result, got one
    {"jsonrpc":"2.0","id":0,"error":{"code":"1","message":"m"}}
      error.code: wanted an integer of -2^63 to 2^63-1, got "1"
    {"jsonrpc":"2.0","id":0,"error":{"code":1}}
      error.message: wanted a string, got nothing
    "#);
}

/// The head reader finds the methods and the subject of the schema.
#[test]
fn the_head_reader_agrees_with_the_schema() {
    each_fixture("oracle", 50, &mut |line, root| {
        let kind = line["kind"].as_str().unwrap_or_default();
        let name = root.get("method").and_then(Node::text);
        let method = name.as_deref().and_then(|name| DIALECT.find(name));
        let has_id = root.get("id").is_some();
        let own = method.filter(|method| method.answered == has_id);
        assert_eq!(DIALECT.find(kind).is_some(), own.is_some(), "{line}");
        if DIALECT.check(root).is_err() {
            return;
        }
        let answer = DIALECT.answers.iter().find(|answer| answer.name == kind);
        let form = own.or(answer).expect("a kind of the schema");
        assert_eq!(form.name, kind, "{line}");
        if let Some(answer) = answer {
            assert!(fits(root, &answer.ty), "{line}");
        }
        let params = root.get("params").filter(|_| kind == "invoke");
        let selector = params.and_then(|p| p.get("selector").or_else(|| p.at(0)));
        let selector = selector.and_then(Node::text);
        assert_eq!(line["subject"].as_str(), selector.as_deref(), "{line}");
    });
}

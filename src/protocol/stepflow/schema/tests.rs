//! Messages that are refused before writing.

use super::{DIALECT, dialect as dialect_of};
use crate::protocol::WriteOptions;
use crate::protocol::schema::members_of;
use crate::protocol::stepflow::message::result_member;
use crate::protocol::tests::heads::each_fixture;
use crate::protocol::tests::{of, refusals};
use crate::tape::Node;

#[test]
fn wrong_messages_are_refused() {
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
      id: wanted a string or an integer of -2^63 to 2^63-1, got nothing
    {"jsonrpc":"2.0","id":null,"method":"components/list"}
      id: wanted a string or an integer of -2^63 to 2^63-1, got null
    {"jsonrpc":"2.0","id":1.5,"method":"components/list"}
      id: wanted a string or an integer of -2^63 to 2^63-1, got 1.5
    {"jsonrpc":"2.0","id":9223372036854775808,"method":"components/list"}
      id: wanted a string or an integer of -2^63 to 2^63-1, got 9223372036854775808
    {"jsonrpc":"2.0","id":"a","method":"components/list","params":[]}
      params: wanted an object, got []
    {"jsonrpc":"2.0","id":"a","method":"initialized"}
      id: wanted nothing: this is a notification, got "a"
    {"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}
      params.runtime_protocol_version: wanted an integer of 0 or more, got nothing
    {"jsonrpc":"2.0","id":"a","method":"initialize","params":{"runtimeProtocolVersion":"1"}}
      params.runtimeProtocolVersion: wanted an integer of 0 or more, got "1"
    {"jsonrpc":"2.0","id":"a","method":"components/execute"}
      params.component: wanted a string or an object, got nothing
    {"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":"/x"}}
      params.input: wanted a value, got nothing
    {"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":5,"input":1}}
      params.component: wanted a string or an object, got 5
    {"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":"/x","input":1,"attempt":0}}
      params.attempt: wanted an integer of 1 or more, got 0
    {"jsonrpc":"2.0","id":"a","method":"blobs/put","params":{}}
      params.data: wanted a value, got nothing
    {"jsonrpc":"2.0","id":"a","method":"runs/submit","params":{"flowId":"f","inputs":{}}}
      params.inputs: wanted an array, got {}
    {"jsonrpc":"2.0","id":"a"}
      result: wanted a value, or an error, got nothing
    {"jsonrpc":"2.0","id":null,"result":1}
      id: wanted a string or an integer of -2^63 to 2^63-1, got null
    {"jsonrpc":"2.0","error":{"code":1,"message":"m"}}
      id: wanted a string, an integer of -2^63 to 2^63-1 or null, got nothing
    {"jsonrpc":"2.0","id":"a","error":{"code":1.5,"message":"m"}}
      error.code: wanted an integer of -2^63 to 2^63-1, got 1.5
    {"jsonrpc":"2.0","id":"a","result":1,"error":{"code":1,"message":"m"}}
      error: wanted nothing beside a result, got one
    "#);
}

/// The head reader finds the methods and results of the schema.
#[test]
fn the_head_reader_agrees_with_the_schema() {
    each_fixture("stepflow", 100, &mut |line, root| {
        let name = root.get("method").and_then(Node::text);
        let kind = line["kind"].as_str().unwrap_or_default();
        if let Some(name) = &name {
            assert_eq!(line["subject"].as_str(), Some(name.as_ref()), "{line}");
        }
        let method = name.and_then(|name| DIALECT.find(&name));
        if let Some(method) = method.filter(|_| DIALECT.check(root).is_ok()) {
            assert_eq!(kind == "request", method.answered, "{line}");
        }
    });
    let mut count = 0;
    let results = DIALECT
        .methods
        .iter()
        .map(|method| (method, members_of(&method.result)));
    for (method, member) in results.flat_map(|(m, all)| all.iter().map(move |one| (m, one))) {
        let spelled = member.spelled.iter().copied();
        for (name, releases) in [(member.name, member.releases)].into_iter().chain(spelled) {
            let Some(dialect) = result_member(name.as_bytes()) else {
                continue;
            };
            count += 1;
            let releases = dialect_of(releases.and(method.releases));
            // A member that several releases write decides nothing.
            assert!(dialect.is_empty() || releases == Some(dialect), "{name}");
        }
    }
    assert!(count >= 6);
}

//! Scripts for both sides.

use super::*;
use crate::framing::Framing;
use crate::protocol::oracle::Oracle;
use crate::protocol::tests::script::run_script;
use insta::assert_snapshot;

fn run(side: Direction, config: &PeerConfig, script: &str) -> String {
    run_script(&Oracle::builtin(), Framing::Lines, side, config, script)
}

#[test]
fn an_oracle_sends_ready_and_answers() {
    let config = PeerConfig {
        offers: vec![Offer {
            name: "f".into(),
            ..Offer::default()
        }],
        ..PeerConfig::default()
    };
    let script = r#"
        open
        ready
        < {"jsonrpc":"2.0","id":0,"result":{}}
        ready
        < {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0x2710"]}}
        result ["0x1","0x2"]
        < {"jsonrpc":"2.0","id":"a","method":"invoke","params":["f",[]]}
        error out of felts
        error 7: seven | {"more":true}
        error internal-error: again
        item 5
        result [
        error seventy: no such code
        < {"jsonrpc":"2.0","id":2,"method":"invoke","params":{"selector":"g","calldata":[]}}
        < {"jsonrpc":"2.0","id":3,"method":"invoke","params":{"selector":"f","calldata":["0x1","12"]}}
        < {"jsonrpc":"2.0","id":4,"method":"invoke","params":{"selector":"f","calldata":["0x1",12]}}
        < {"jsonrpc":"2.0","id":5,"method":"invoke","params":{"selector":"f"}}
        < {"jsonrpc":"2.0","id":6,"method":"shutdown"}
        < {"jsonrpc":"2.0","id":null,"method":"list"}
        < {"jsonrpc":"2.0","method":"note"}
        raw not json
        bye
        < {"jsonrpc":"2.0","method":"shutdown"}
        ready
    "#;
    assert_snapshot!(run(Direction::ToClient, &config, script), @r#"
    open
        1> {"jsonrpc":"2.0","id":0,"method":"ready"}
    ready
        Waits("the executor's answer to ready")
    < {"jsonrpc":"2.0","id":0,"result":{}}
    ready
        Ready
    < {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0x2710"]}}
    result ["0x1","0x2"]
        1> {"jsonrpc":"2.0","id":0,"result":["0x1","0x2"]}
    < {"jsonrpc":"2.0","id":"a","method":"invoke","params":["f",[]]}
    error out of felts
        1> {"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"out of felts"}}
    error 7: seven | {"more":true}
        1> {"jsonrpc":"2.0","id":"a","error":{"code":7,"message":"seven","data":{"more":true}}}
        ! extra-line: id "a" was answered by #5
        ! error-code: code is 7; it should be a code of JSON-RPC, such as -32603
    error internal-error: again
        1> {"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"again"}}
        ! extra-line: id "a" was answered by #5
    item 5
        refused: reply: wanted result or error: an invoke has one answer, got item
    result [
        refused: result: wanted JSON, got `[`
    error seventy: no such code
        refused: code: wanted an integer, or a name such as parse-error invalid-request method-not-found invalid-params internal-error, got `seventy`
    < {"jsonrpc":"2.0","id":2,"method":"invoke","params":{"selector":"g","calldata":[]}}
        1> {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"unknown selector: \"g\", known are f"}}
    < {"jsonrpc":"2.0","id":3,"method":"invoke","params":{"selector":"f","calldata":["0x1","12"]}}
        1> {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"invalid params: calldata[1]: wanted a felt, \"0x\" and hex digits below the prime, got \"12\""}}
    < {"jsonrpc":"2.0","id":4,"method":"invoke","params":{"selector":"f","calldata":["0x1",12]}}
        1> {"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"invalid params: calldata[1]: wanted a felt, \"0x\" and hex digits below the prime, got 12"}}
    < {"jsonrpc":"2.0","id":5,"method":"invoke","params":{"selector":"f"}}
        1> {"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"invalid params: calldata: wanted an array, each element a felt, \"0x\" and hex digits below the prime, got nothing"}}
    < {"jsonrpc":"2.0","id":6,"method":"shutdown"}
        1> {"jsonrpc":"2.0","id":6,"error":{"code":-32601,"message":"method not found: shutdown"}}
    < {"jsonrpc":"2.0","id":null,"method":"list"}
        1> {"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"method not found: list"}}
    < {"jsonrpc":"2.0","method":"note"}
    raw not json
    bye
    < {"jsonrpc":"2.0","method":"shutdown"}
        1>    closes
    ready
        Refused("the executor has ended the session")
    "#);
}

#[test]
fn a_refused_oracle_closes() {
    let config = PeerConfig::default();
    let other = "the first message is not the answer to ready";
    for (answer, why) in [
        (
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":0,"message":"no"}}"#,
            "ready was answered with an error",
        ),
        (r#"{"jsonrpc":"2.0","id":"0","result":{}}"#, other),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[]}}"#,
            other,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"shutdown"}"#,
            "the executor has ended the session",
        ),
    ] {
        let script = format!("open\n< {answer}\nready");
        let run = run(Direction::ToClient, &config, &script);
        assert!(run.contains("    1>    closes"), "{run}");
        let refused = format!("Refused(\"{why}\")\n");
        assert!(run.ends_with(&refused), "{run}");
    }
}

#[test]
fn an_executor_waits_for_ready() {
    let script = r#"
        open
        ready
        bye
        < {"jsonrpc":"2.0","id":18446744073709551615,"method":"ready","params":{}}
        ready
        > {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[]}}
        < {"jsonrpc":"2.0","id":0,"result":[]}
        < {"jsonrpc":"2.0","id":1,"method":"ready"}
        bye
        > {"jsonrpc":"2.0","method":"shutdown"}
        ready
        bye
        closed
        ready
    "#;
    assert_snapshot!(run(Direction::ToServer, &PeerConfig::default(), script), @r#"
    open
    ready
        Waits("ready of the oracle")
    bye
    < {"jsonrpc":"2.0","id":18446744073709551615,"method":"ready","params":{}}
        1> {"jsonrpc":"2.0","id":18446744073709551615,"result":{}}
    ready
        Ready
    > {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[]}}
        1> {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[]}}
    < {"jsonrpc":"2.0","id":0,"result":[]}
    < {"jsonrpc":"2.0","id":1,"method":"ready"}
    bye
        1> {"jsonrpc":"2.0","method":"shutdown"}
    > {"jsonrpc":"2.0","method":"shutdown"}
        1> {"jsonrpc":"2.0","method":"shutdown"}
    ready
        Refused("shutdown was said")
    bye
    closed
    ready
        Waits("ready of the oracle")
    "#);
}

#[test]
fn an_executor_refuses_other_first_messages() {
    let mut all = String::new();
    for first in [
        r#"< {"jsonrpc":"2.0","id":"x","method":"Ready"}"#,
        r#"< {"jsonrpc":"2.0","id":0,"method":"ready","params":[]}"#,
        r#"< {"jsonrpc":"2.0","method":"ready"}"#,
        r#"< {"jsonrpc":"2.0","id":0,"result":[]}"#,
        "raw Compiling oracle",
    ] {
        all.push_str(&run(
            Direction::ToServer,
            &PeerConfig::default(),
            &format!("open\n{first}\nready\nbye"),
        ));
    }
    assert_snapshot!(all, @r#"
    open
    < {"jsonrpc":"2.0","id":"x","method":"Ready"}
        1> {"jsonrpc":"2.0","id":"x","error":{"code":0,"message":"expected ready request from oracle"}}
    ready
        Refused("expected ready request from oracle")
    bye
    open
    < {"jsonrpc":"2.0","id":0,"method":"ready","params":[]}
        1> {"jsonrpc":"2.0","id":0,"error":{"code":0,"message":"expected the params of ready to be an object"}}
    ready
        Refused("expected the params of ready to be an object")
    bye
    open
    < {"jsonrpc":"2.0","method":"ready"}
    ready
        Refused("expected a ready request, got something else")
    bye
    open
    < {"jsonrpc":"2.0","id":0,"result":[]}
    ready
        Refused("expected a ready request, got something else")
    bye
    open
    raw Compiling oracle
    ready
        Refused("expected a ready request, got something else")
    bye
    "#);
}

#[test]
fn the_script_may_send_hello() {
    let config = PeerConfig {
        no_hello: true,
        ..PeerConfig::default()
    };
    let script = r#"
        open
        ready
        > {"jsonrpc":"2.0","id":7,"method":"ready"}
        < {"jsonrpc":"2.0","id":7,"result":{}}
        ready
    "#;
    assert_snapshot!(run(Direction::ToClient, &config, script), @r#"
    open
    ready
        Waits("the executor's answer to ready")
    > {"jsonrpc":"2.0","id":7,"method":"ready"}
        1> {"jsonrpc":"2.0","id":7,"method":"ready"}
    < {"jsonrpc":"2.0","id":7,"result":{}}
    ready
        Ready
    "#);
    let script = r#"
        open
        < {"jsonrpc":"2.0","id":7,"method":"ready"}
        ready
        result {}
        ready
        open 2
        2< {"jsonrpc":"2.0","id":8,"method":"ready"}
        error 0: not today
        ready 2
    "#;
    assert_snapshot!(run(Direction::ToServer, &config, script), @r#"
    open
    < {"jsonrpc":"2.0","id":7,"method":"ready"}
    ready
        Waits("ready of the oracle")
    result {}
        1> {"jsonrpc":"2.0","id":7,"result":{}}
    ready
        Ready
    open 2
    2< {"jsonrpc":"2.0","id":8,"method":"ready"}
    error 0: not today
        2> {"jsonrpc":"2.0","id":8,"error":{"code":0,"message":"not today"}}
    ready 2
        Refused("ready was answered with an error: not today")
    "#);
}

//! Scripts for both sides.

use super::*;
use crate::protocol::peer::Offer;
use crate::protocol::stepflow::Stepflow;
use crate::protocol::tests::script::run_script;
use insta::assert_snapshot;

fn run(side: Direction, framing: Framing, config: &PeerConfig, script: &str) -> String {
    run_script(&Stepflow, framing, side, config, script)
}

#[test]
fn a_runtime_opens_the_session_and_stores_blobs() {
    let script = r#"
        open
        ready
        < {"id":$id,"result":{"server_protocol_version":1},"jsonrpc":"2.0"}
        ready
        > {"jsonrpc":"2.0","id":"x","method":"components/execute","params":{"component":"/a","input":{}}}
        < {"jsonrpc":"2.0","id":"b1","method":"blobs/put","params":{"data":{"b":1,"a":[2.50]},"blob_type":"data"}}
        < {"jsonrpc":"2.0","id":2,"method":"blobs/get","params":{"blob_id":$blob_id}}
        < {"jsonrpc":"2.0","id":2,"method":"blobs/get","params":{"blob_id":"x"}}
        < {"jsonrpc":"2.0","id":3,"method":"blobs/put","params":{}}
        < {"jsonrpc":"2.0","id":4,"method":"runs/get","params":{"runId":"r"}}
        < {"jsonrpc":"2.0","id":null,"method":"blobs/get","params":{"blob_id":"x"}}
        < {"jsonrpc":"2.0","id":"x","result":{"output":1}}
        bye
    "#;
    assert_snapshot!(run(Direction::ToServer, Framing::Lines, &PeerConfig::default(), script), @r#"
    open
        1> {"jsonrpc":"2.0","id":"c266e3bb-b455-4027-a2e9-6157021a6a1c","method":"initialize","params":{"runtime_protocol_version":1}}
    ready
        Waits("the answer to initialize")
    < {"id":$id,"result":{"server_protocol_version":1},"jsonrpc":"2.0"}
        1> {"jsonrpc":"2.0","method":"initialized","params":{}}
    ready
        Ready
    > {"jsonrpc":"2.0","id":"x","method":"components/execute","params":{"component":"/a","input":{}}}
        1> {"jsonrpc":"2.0","id":"x","method":"components/execute","params":{"component":"/a","input":{}}}
    < {"jsonrpc":"2.0","id":"b1","method":"blobs/put","params":{"data":{"b":1,"a":[2.50]},"blob_type":"data"}}
        1> {"jsonrpc":"2.0","id":"b1","result":{"blob_id":"f08d8b87978915734c5a238350a0f99f1e80bbd317fcd7420805efe1ab88d6c7"}}
    < {"jsonrpc":"2.0","id":2,"method":"blobs/get","params":{"blob_id":$blob_id}}
        1> {"jsonrpc":"2.0","id":2,"result":{"data":{"b":1,"a":[2.50]},"blob_type":"data"}}
    < {"jsonrpc":"2.0","id":2,"method":"blobs/get","params":{"blob_id":"x"}}
        1> {"jsonrpc":"2.0","id":2,"error":{"code":-32011,"message":"Blob not found: x"}}
    < {"jsonrpc":"2.0","id":3,"method":"blobs/put","params":{}}
        1> {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"invalid params: missing data"}}
    < {"jsonrpc":"2.0","id":4,"method":"runs/get","params":{"runId":"r"}}
        1> {"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"Method not found: runs/get"}}
    < {"jsonrpc":"2.0","id":null,"method":"blobs/get","params":{"blob_id":"x"}}
    < {"jsonrpc":"2.0","id":"x","result":{"output":1}}
    bye
    "#);
}

#[test]
fn every_child_has_its_own_session() {
    let script = r#"
        open 1
        open 2
        2< {"jsonrpc":"2.0","id":$id,"error":{"code":-32002,"message":"no"}}
        ready 1
        ready 2
    "#;
    let config = PeerConfig {
        dialect: Some("C".into()),
        ..PeerConfig::default()
    };
    assert_snapshot!(run(Direction::ToServer, Framing::Lines, &config, script), @r#"
    open 1
        1> {"jsonrpc":"2.0","id":"c266e3bb-b455-4027-a2e9-6157021a6a1c","method":"initialize","params":{"runtimeProtocolVersion":1}}
    open 2
        2> {"jsonrpc":"2.0","id":"c36c2d3b-4818-4569-adc7-584b5140a80b","method":"initialize","params":{"runtimeProtocolVersion":1}}
    2< {"jsonrpc":"2.0","id":$id,"error":{"code":-32002,"message":"no"}}
    ready 1
        Waits("the answer to initialize")
    ready 2
        Refused("initialize was answered with error -32002: no")
    "#);
}

#[test]
fn over_http_all_connections_are_one_session() {
    let script = r#"
        open 1
        open 2
        ready 2
        closed 1
        open 3
        3< {"jsonrpc":"2.0","id":$id,"result":{"server_protocol_version":1}}
        ready 2
        open 4
        ready 4
    "#;
    assert_snapshot!(run(Direction::ToServer, Framing::Http, &PeerConfig::default(), script), @r#"
    open 1
        1> {"jsonrpc":"2.0","id":"c266e3bb-b455-4027-a2e9-6157021a6a1c","method":"initialize","params":{"runtime_protocol_version":1}}
    open 2
    ready 2
        Waits("the answer to initialize")
    closed 1
    open 3
        3> {"jsonrpc":"2.0","id":"c36c2d3b-4818-4569-adc7-584b5140a80b","method":"initialize","params":{"runtime_protocol_version":1}}
        ! second-initialize: initialize is sent again; it should be sent once for each session
    3< {"jsonrpc":"2.0","id":$id,"result":{"server_protocol_version":1}}
        3> {"jsonrpc":"2.0","method":"initialized","params":{}}
    ready 2
        Ready
    open 4
    ready 4
        Ready
    "#);
}

#[test]
fn a_server_lists_its_components() {
    let config = PeerConfig {
        offers: vec![
            Offer {
                name: "/upper".into(),
                about: Some(r#"{"description":"shouts","component":"/lower"}"#.into()),
                streams: false,
            },
            Offer {
                name: "/count".into(),
                ..Offer::default()
            },
        ],
        ..PeerConfig::default()
    };
    let script = r#"
        open
        ready
        < {"jsonrpc":"2.0","id":"a","method":"initialize","params":{"runtime_protocol_version":1}}
        < {"jsonrpc":"2.0","method":"initialized","params":{}}
        < {"jsonrpc":"2.0","id":"b","method":"initialize","params":{"runtimeProtocolVersion":1,"capabilities":{}}}
        < {"jsonrpc":"2.0","id":"c","method":"initialize","params":{"runtimeProtocolVersion":2}}
        < {"jsonrpc":"2.0","id":"d","method":"initialize","params":{}}
        < {"jsonrpc":"2.0","id":"e","method":"components/list","params":{}}
        < {"jsonrpc":"2.0","id":"f","method":"components/info","params":{"component":"/upper"}}
        < {"jsonrpc":"2.0","id":"g","method":"components/info","params":{"component":"/nope"}}
        < {"jsonrpc":"2.0","id":"h","method":"components/execute","params":{"component":"/nope","input":{}}}
        < {"jsonrpc":"2.0","id":"i","method":"components/execute","params":{"input":{}}}
        < {"jsonrpc":"2.0","id":"j","method":"components/list","params":[]}
        < {"jsonrpc":"2.0","id":"k","method":"blobs/get","params":{"blob_id":"x"}}
        < {"jsonrpc":"2.0","id":7,"method":"components/execute","params":{"component":"/upper","input":{"text":"a"}}}
        ask blobs/put {"data":1,"blob_type":"data"}
        tell progress_update {"done":0.5}
        result "A"
        < {"jsonrpc":"2.0","id":8,"method":"components/execute","params":{"component":{"name":"/count"},"input":1}}
        error it broke
        < {"jsonrpc":"2.0","id":9,"method":"components/infer_schema","params":{"component":"/count","input_schema":{}}}
        result {"output_schema":{}}
        error component-not-found: gone | {"component":"/count"}
        item 1
        ask blobs/put 5
    "#;
    assert_snapshot!(run(Direction::ToClient, Framing::Lines, &config, script), @r#"
    open
    ready
        Ready
    < {"jsonrpc":"2.0","id":"a","method":"initialize","params":{"runtime_protocol_version":1}}
        1> {"jsonrpc":"2.0","id":"a","result":{"server_protocol_version":1}}
    < {"jsonrpc":"2.0","method":"initialized","params":{}}
    < {"jsonrpc":"2.0","id":"b","method":"initialize","params":{"runtimeProtocolVersion":1,"capabilities":{}}}
        1> {"jsonrpc":"2.0","id":"b","result":{"serverProtocolVersion":1}}
    < {"jsonrpc":"2.0","id":"c","method":"initialize","params":{"runtimeProtocolVersion":2}}
        1> {"jsonrpc":"2.0","id":"c","error":{"code":-32006,"message":"version 2 is not supported, only 1"}}
    < {"jsonrpc":"2.0","id":"d","method":"initialize","params":{}}
        1> {"jsonrpc":"2.0","id":"d","error":{"code":-32602,"message":"invalid params: missing runtime_protocol_version"}}
    < {"jsonrpc":"2.0","id":"e","method":"components/list","params":{}}
        1> {"jsonrpc":"2.0","id":"e","result":{"components":[{"component":"/upper","description":"shouts"},{"component":"/count"}]}}
    < {"jsonrpc":"2.0","id":"f","method":"components/info","params":{"component":"/upper"}}
        1> {"jsonrpc":"2.0","id":"f","result":{"info":{"component":"/upper","description":"shouts"}}}
    < {"jsonrpc":"2.0","id":"g","method":"components/info","params":{"component":"/nope"}}
        1> {"jsonrpc":"2.0","id":"g","error":{"code":-32001,"message":"Component '/nope' not found","data":{"component":"/nope"}}}
    < {"jsonrpc":"2.0","id":"h","method":"components/execute","params":{"component":"/nope","input":{}}}
        1> {"jsonrpc":"2.0","id":"h","error":{"code":-32001,"message":"Component '/nope' not found","data":{"component":"/nope"}}}
    < {"jsonrpc":"2.0","id":"i","method":"components/execute","params":{"input":{}}}
        1> {"jsonrpc":"2.0","id":"i","error":{"code":-32602,"message":"invalid params: missing component"}}
    < {"jsonrpc":"2.0","id":"j","method":"components/list","params":[]}
        1> {"jsonrpc":"2.0","id":"j","error":{"code":-32602,"message":"invalid params: they must be an object"}}
    < {"jsonrpc":"2.0","id":"k","method":"blobs/get","params":{"blob_id":"x"}}
        1> {"jsonrpc":"2.0","id":"k","error":{"code":-32601,"message":"Method not found: blobs/get"}}
    < {"jsonrpc":"2.0","id":7,"method":"components/execute","params":{"component":"/upper","input":{"text":"a"}}}
    ask blobs/put {"data":1,"blob_type":"data"}
        1> {"jsonrpc":"2.0","id":"c266e3bb-b455-4027-a2e9-6157021a6a1c","method":"blobs/put","params":{"data":1,"blob_type":"data"}}
    tell progress_update {"done":0.5}
        1> {"jsonrpc":"2.0","method":"progress_update","params":{"done":0.5}}
        ! unknown-notification: no release has a notification progress_update
    result "A"
        1> {"jsonrpc":"2.0","id":7,"result":{"output":"A"}}
        ! answer-before-callback: the execute is answered before request blobs/put, sent during it
    < {"jsonrpc":"2.0","id":8,"method":"components/execute","params":{"component":{"name":"/count"},"input":1}}
    error it broke
        1> {"jsonrpc":"2.0","id":8,"error":{"code":-32000,"message":"it broke"}}
    < {"jsonrpc":"2.0","id":9,"method":"components/infer_schema","params":{"component":"/count","input_schema":{}}}
    result {"output_schema":{}}
        1> {"jsonrpc":"2.0","id":9,"result":{"output_schema":{}}}
    error component-not-found: gone | {"component":"/count"}
        1> {"jsonrpc":"2.0","id":9,"error":{"code":-32001,"message":"gone","data":{"component":"/count"}}}
        ! answered-twice: the request with the id 9 was answered before, by #30
    item 1
        refused: reply: wanted result, error, ask or tell: a request has one answer, got item
    ask blobs/put 5
        refused: params: wanted a JSON object, got `5`
    "#);
}

#[test]
fn a_server_without_offers_leaves_components_to_the_script() {
    let script = r#"
        < {"jsonrpc":"2.0","id":1,"method":"components/info","params":{"component":"/a"}}
        result {"info":{"component":"/a"}}
        < {"jsonrpc":"2.0","id":2,"method":"components/execute","params":{"component":"/a","input":1}}
        result 2
    "#;
    assert_snapshot!(run(Direction::ToClient, Framing::Http, &PeerConfig::default(), script), @r#"
    < {"jsonrpc":"2.0","id":1,"method":"components/info","params":{"component":"/a"}}
    result {"info":{"component":"/a"}}
        1> {"jsonrpc":"2.0","id":1,"result":{"info":{"component":"/a"}}}
    < {"jsonrpc":"2.0","id":2,"method":"components/execute","params":{"component":"/a","input":1}}
    result 2
        1> {"jsonrpc":"2.0","id":2,"result":{"output":2}}
    "#);
}

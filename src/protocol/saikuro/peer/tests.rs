//! Scripts for both sides and both dialects.

use super::*;
use crate::framing::Framing;
use crate::protocol::saikuro::Saikuro;
use crate::protocol::tests::script::run_script;
use insta::assert_snapshot;

fn run(side: Direction, config: &PeerConfig, script: &str) -> String {
    run_script(&Saikuro, Framing::Prefix, side, config, script)
}

fn offering(names: &[&str]) -> PeerConfig {
    let offer = |name: &&str| Offer {
        name: (*name).to_owned(),
        // No arguments: without a description, a function is announced with as many as it may take.
        about: Some(r#"{"args":[]}"#.into()),
        ..Offer::default()
    };
    PeerConfig {
        offers: names.iter().map(offer).collect(),
        ..PeerConfig::default()
    }
}

#[test]
fn a_provider_announces_its_functions() {
    let mut config = offering(&["math.add", "math.tail", "a.b.c", "odd"]);
    config.offers[0].about = Some(
        r#"{"args":[{"name":"a","type":{"kind":"primitive","type":"i64"}}],"doc":"adds"}"#.into(),
    );
    config.offers[1].streams = true;
    let script = r#"
        open
        ready
        < {"id":$id,"ok":true}
        ready
        < {"version":1,"type":"call","id":{"$bin":"00112233445566778899aabbccddeeff"},"target":"math.add","args":[1]}
        result 2
        < {"version":1,"type":"call","id":"a","target":"math.nope","args":[]}
        < {"version":1,"type":"call","id":"b","target":"x.nope","args":[]}
        < {"version":1,"type":"cast","id":"c","target":"x.nope","args":[]}
        < {"version":1,"type":"stream","id":"00112233-4455-6677-8899-aabbccddeeff","target":"math.tail","args":[]}
        item "one"
        end "two"
    "#;
    assert_snapshot!(run(Direction::ToServer, &config, script), @r#"
    open
        1> {"version":1,"type":"announce","id":{"$bin":"c266e3bbb4554027a2e96157021a6a1c"},"target":"$saikuro.announce","args":[{"version":1,"namespaces":{"math":{"functions":{"add":{"returns":{"kind":"primitive","type":"any"},"visibility":"public","capabilities":[],"args":[{"name":"a","type":{"kind":"primitive","type":"i64"}}],"doc":"adds"},"tail":{"returns":{"kind":"stream","item":{"kind":"primitive","type":"any"}},"visibility":"public","capabilities":[],"args":[]}}},"a.b":{"functions":{"c":{"returns":{"kind":"primitive","type":"any"},"visibility":"public","capabilities":[],"args":[]}}}},"types":{}}]}
    ready
        Waits("the answer to announce")
    < {"id":$id,"ok":true}
    ready
        Ready
    < {"version":1,"type":"call","id":{"$bin":"00112233445566778899aabbccddeeff"},"target":"math.add","args":[1]}
    result 2
        1> {"id":{"$bin":"00112233445566778899aabbccddeeff"},"ok":true,"result":2}
    < {"version":1,"type":"call","id":"a","target":"math.nope","args":[]}
        1> {"id":"a","ok":false,"error":{"code":"FunctionNotFound","message":"function not found: math.nope"}}
        ! peers-error-code: "FunctionNotFound" is a code of real peers, which the document does not have
    < {"version":1,"type":"call","id":"b","target":"x.nope","args":[]}
        1> {"id":"b","ok":false,"error":{"code":"NamespaceNotFound","message":"namespace not found: x"}}
    < {"version":1,"type":"cast","id":"c","target":"x.nope","args":[]}
    < {"version":1,"type":"stream","id":"00112233-4455-6677-8899-aabbccddeeff","target":"math.tail","args":[]}
    item "one"
        1> {"id":"00112233-4455-6677-8899-aabbccddeeff","ok":true,"result":"one","seq":0}
    end "two"
        1> {"id":"00112233-4455-6677-8899-aabbccddeeff","ok":true,"result":"two","seq":1}
        1> {"id":"00112233-4455-6677-8899-aabbccddeeff","ok":true,"seq":2,"stream_control":"end"}
    "#);
    let script = r#"
        open
        < {"id":$id,"ok":false,"error":{"code":"Internal","message":"schema is frozen"}}
        ready
    "#;
    assert_snapshot!(run(Direction::ToServer, &offering(&["a.b"]), script), @r#"
    open
        1> {"version":1,"type":"announce","id":{"$bin":"c266e3bbb4554027a2e96157021a6a1c"},"target":"$saikuro.announce","args":[{"version":1,"namespaces":{"a":{"functions":{"b":{"returns":{"kind":"primitive","type":"any"},"visibility":"public","capabilities":[],"args":[]}}}},"types":{}}]}
    < {"id":$id,"ok":false,"error":{"code":"Internal","message":"schema is frozen"}}
    ready
        Refused("announce was answered with Internal: schema is frozen")
    "#);
}

#[test]
fn a_provider_uses_the_document_dialect() {
    let config = PeerConfig {
        dialect: Some("document".into()),
        ..offering(&["math.add", "io.read"])
    };
    let script = r#"
        open
        < {"type":"announce_ack","namespace":"io","ok":true}
        ready
        < {"type":"announce_ack","namespace":"math","ok":true}
        ready
        < {"version":1,"type":"call","id":"b","target":"x.nope","args":[]}
        < {"version":1,"type":"stream","id":"s","target":"io.read","args":[]}
        item 1
        item 2
        error InvalidArgs: no such file | {"arg":0}
    "#;
    assert_snapshot!(run(Direction::ToServer, &config, script), @r#"
    open
        1> {"type":"announce","namespace":"math","schema":{"version":1,"namespaces":{"math":{"functions":{"add":{"returns":{"kind":"primitive","type":"any"},"visibility":"public","capabilities":[],"args":[]}}}},"types":{}}}
        1> {"type":"announce","namespace":"io","schema":{"version":1,"namespaces":{"io":{"functions":{"read":{"returns":{"kind":"primitive","type":"any"},"visibility":"public","capabilities":[],"args":[]}}}},"types":{}}}
    < {"type":"announce_ack","namespace":"io","ok":true}
    ready
        Waits("the answer to announce")
    < {"type":"announce_ack","namespace":"math","ok":true}
    ready
        Ready
    < {"version":1,"type":"call","id":"b","target":"x.nope","args":[]}
        1> {"id":"b","ok":false,"error":{"code":"NotFound","message":"namespace not found: x"}}
        ! document-error-code: "NotFound" is a code of the document, which a runtime cannot decode
    < {"version":1,"type":"stream","id":"s","target":"io.read","args":[]}
    item 1
        1> {"id":"s","seq":0,"data":1}
    item 2
        1> {"id":"s","seq":1,"data":2}
    error InvalidArgs: no such file | {"arg":0}
        1> {"id":"s","seq":2,"error":{"code":"InvalidArgs","message":"no such file","details":{"arg":0}}}
        ! document-error-code: "InvalidArgs" is a code of the document, which a runtime cannot decode
    "#);
}

#[test]
fn a_client_without_offers_is_ready_at_once() {
    let script = r#"
        open
        ready
        > {"version":1,"type":"channel","id":"c","target":"chat.room","args":[]}
        < {"id":"c","ok":true,"result":"hello","seq":0}
        < {"id":"c","ok":true,"seq":1,"stream_control":"end"}
        > {"version":1,"type":"stream","id":"s","target":"chat.log","args":[]}
        < {"id":"s","ok":true,"seq":0,"stream_control":"end"}
        bye
    "#;
    assert_snapshot!(run(Direction::ToServer, &PeerConfig::default(), script), @r#"
    open
    ready
        Ready
    > {"version":1,"type":"channel","id":"c","target":"chat.room","args":[]}
        1> {"version":1,"type":"channel","id":"c","target":"chat.room","args":[]}
        ! bad-id: id is "c"; it should be a UUID
    < {"id":"c","ok":true,"result":"hello","seq":0}
    < {"id":"c","ok":true,"seq":1,"stream_control":"end"}
        1> {"version":1,"type":"channel","id":"c","target":"","args":[],"stream_control":"end"}
        ! bad-id: id is "c"; it should be a UUID
    > {"version":1,"type":"stream","id":"s","target":"chat.log","args":[]}
        1> {"version":1,"type":"stream","id":"s","target":"chat.log","args":[]}
        ! bad-id: id is "s"; it should be a UUID
    < {"id":"s","ok":true,"seq":0,"stream_control":"end"}
    bye
    "#);
}

#[test]
fn a_runtime_answers_for_real_peers() {
    let config = offering(&["math.add", "math.tail", "chat.room"]);
    let script = r#"
        open
        ready
        < {"version":1,"type":"announce","id":"a","target":"$saikuro.announce","args":[{"version":1,"namespaces":{},"types":{}}]}
        < {"version":1,"type":"announce","id":"b","target":"$saikuro.announce","args":["no schema"]}
        < {"version":1,"type":"log","id":"l","target":"$log","args":[{"level":"info","name":"n","msg":"m"}]}
        < {"version":1,"type":"call","id":{"$bin":"00112233445566778899aabbccddeeff"},"target":"math.add","args":[1,2]}
        result 3
        error it broke
        error InvalidArguments: two numbers | {"arg":0}
        item 1
        result {
        error data must be an object | 5
        < {"version":2,"type":"call","id":"v","target":"math.add","args":[]}
        < {"version":1,"type":"call","id":"n","target":"nope","args":[]}
        < {"version":1,"type":"cast","id":"c","target":"math.nope","args":[]}
        < {"version":1,"type":"batch","id":"d","target":"","args":[],"batch_items":[]}
        < {"version":1,"type":"batch","id":"e","target":"","args":[],"batch_items":[{"version":1,"type":"call","id":"1","target":"math.add","args":[]},{"version":1,"type":"call","id":"2","target":"x.y","args":[]}]}
        < {"version":1,"type":"batch","id":"f","target":"","args":[],"batch_items":[{"version":1,"type":"call","id":"1","target":"math.add","args":[]},{"version":1,"type":"call","id":"2","target":"math.add","args":[]}]}
        result [3,null]
        result [3]
        < {"type":"halt","id":"a1b2c3d4-e5f6-7890-abcd-ef1234567890"}
        < {"nothing":1}
    "#;
    assert_snapshot!(run(Direction::ToClient, &config, script), @r#"
    open
    ready
        Ready
    < {"version":1,"type":"announce","id":"a","target":"$saikuro.announce","args":[{"version":1,"namespaces":{},"types":{}}]}
        1> {"id":"a","ok":true}
    < {"version":1,"type":"announce","id":"b","target":"$saikuro.announce","args":["no schema"]}
        1> {"id":"b","ok":false,"error":{"code":"MalformedEnvelope","message":"announce envelope must carry a Schema in args[0]"}}
        ! announce-refused: the announce is refused with "MalformedEnvelope": its functions cannot be called
        ! peers-error-code: "MalformedEnvelope" is a code of real peers, which the document does not have
    < {"version":1,"type":"log","id":"l","target":"$log","args":[{"level":"info","name":"n","msg":"m"}]}
        1> {"id":"l","ok":true}
        ! log-answered: log $log, #4, is answered, and no peer waits for the answer
    < {"version":1,"type":"call","id":{"$bin":"00112233445566778899aabbccddeeff"},"target":"math.add","args":[1,2]}
    result 3
        1> {"id":{"$bin":"00112233445566778899aabbccddeeff"},"ok":true,"result":3}
    error it broke
        1> {"id":{"$bin":"00112233445566778899aabbccddeeff"},"ok":false,"error":{"code":"ProviderError","message":"it broke"}}
        ! second-answer: call math.add, #6, was answered before, by #7
    error InvalidArguments: two numbers | {"arg":0}
        1> {"id":{"$bin":"00112233445566778899aabbccddeeff"},"ok":false,"error":{"code":"InvalidArguments","message":"two numbers","details":{"arg":0}}}
        ! second-answer: call math.add, #6, was answered before, by #7
    item 1
        refused: reply: wanted result, error, ask or tell: only streams and channels have items, got item
    result {
        refused: result: wanted JSON, got `{`
    error data must be an object | 5
        refused: details: wanted a JSON object, got `5`
    < {"version":2,"type":"call","id":"v","target":"math.add","args":[]}
        1> {"id":"v","ok":false,"error":{"code":"IncompatibleVersion","message":"incompatible protocol version: expected 1, got 2"}}
    < {"version":1,"type":"call","id":"n","target":"nope","args":[]}
        1> {"id":"n","ok":false,"error":{"code":"MalformedEnvelope","message":"target 'nope' must be in 'namespace.function' format"}}
    < {"version":1,"type":"cast","id":"c","target":"math.nope","args":[]}
    < {"version":1,"type":"batch","id":"d","target":"","args":[],"batch_items":[]}
        1> {"id":"d","ok":false,"error":{"code":"MalformedEnvelope","message":"a batch has at least one call"}}
    < {"version":1,"type":"batch","id":"e","target":"","args":[],"batch_items":[{"version":1,"type":"call","id":"1","target":"math.add","args":[]},{"version":1,"type":"call","id":"2","target":"x.y","args":[]}]}
        1> {"id":"e","ok":false,"error":{"code":"NamespaceNotFound","message":"batch item at index 1: namespace not found: x","details":{"batch_index":1,"target":"x.y"}}}
    < {"version":1,"type":"batch","id":"f","target":"","args":[],"batch_items":[{"version":1,"type":"call","id":"1","target":"math.add","args":[]},{"version":1,"type":"call","id":"2","target":"math.add","args":[]}]}
    result [3,null]
        1> {"id":"f","ok":true,"result":[3,null]}
    result [3]
        refused: result: wanted an array of 2 results, one a call, got something else
    < {"type":"halt","id":"a1b2c3d4-e5f6-7890-abcd-ef1234567890"}
        1> {"id":"a1b2c3d4-e5f6-7890-abcd-ef1234567890","ok":false,"error":{"code":"MalformedEnvelope","message":"malformed envelope: no type that a runtime has, or no MessagePack map"}}
        ! random-id: the error has an id that no request has; it probably answers #21: "malformed envelope: no type that a runtime has, or no Messag"…
    < {"nothing":1}
        1> {"id":{"$bin":"c266e3bbb4554027a2e96157021a6a1c"},"ok":false,"error":{"code":"MalformedEnvelope","message":"malformed envelope: no type that a runtime has, or no MessagePack map"}}
        ! random-id: the error has an id that no request has; it probably answers #23: "malformed envelope: no type that a runtime has, or no Messag"…
    "#);
}

#[test]
fn streams_and_channels_have_the_form_of_real_peers() {
    let script = r#"
        open
        < {"version":1,"type":"stream","id":"s","target":"math.tail","args":[]}
        item 1
        item 2
        end
        < {"version":1,"type":"stream","id":"t","target":"math.tail","args":[]}
        item 1
        error Timeout: too late
        < {"version":1,"type":"channel","id":"c","target":"chat.room","args":[]}
        item "a"
        < {"version":1,"type":"channel","id":"c","target":"","args":[],"stream_control":"pause"}
        @2 item "b"
        @2 item "c"
        < {"version":1,"type":"channel","id":"c","target":"","args":[],"stream_control":"resume"}
        < {"version":1,"type":"channel","id":"c","target":"","args":["x"]}
        < {"version":1,"type":"channel","id":"c","target":"","args":[],"stream_control":"end"}
        < {"version":1,"type":"channel","id":"d","target":"chat.room","args":[]}
        < {"version":1,"type":"channel","id":"d","target":"","args":[],"stream_control":"abort"}
        < {"version":1,"type":"call","id":"e","target":"a.b","args":[]}
        ask math.add [1,2]
        tell math.note "x"
    "#;
    assert_snapshot!(run(Direction::ToClient, &PeerConfig::default(), script), @r#"
    open
    < {"version":1,"type":"stream","id":"s","target":"math.tail","args":[]}
    item 1
        1> {"id":"s","ok":true,"result":1,"seq":0}
    item 2
        1> {"id":"s","ok":true,"result":2,"seq":1}
    end
        1> {"id":"s","ok":true,"seq":2,"stream_control":"end"}
    < {"version":1,"type":"stream","id":"t","target":"math.tail","args":[]}
    item 1
        1> {"id":"t","ok":true,"result":1,"seq":0}
    error Timeout: too late
        1> {"id":"t","ok":false,"error":{"code":"Timeout","message":"too late"}}
        1> {"id":"t","ok":false,"seq":1,"stream_control":"abort"}
    < {"version":1,"type":"channel","id":"c","target":"chat.room","args":[]}
    item "a"
        1> {"id":"c","ok":true,"result":"a","seq":0}
    < {"version":1,"type":"channel","id":"c","target":"","args":[],"stream_control":"pause"}
    @2 item "b"
        1> 
    @2 item "c"
        1> 
    < {"version":1,"type":"channel","id":"c","target":"","args":[],"stream_control":"resume"}
        1> {"id":"c","ok":true,"result":"b","seq":1}
        1> {"id":"c","ok":true,"result":"c","seq":2}
    < {"version":1,"type":"channel","id":"c","target":"","args":["x"]}
    < {"version":1,"type":"channel","id":"c","target":"","args":[],"stream_control":"end"}
        1> {"id":"c","ok":true,"seq":3,"stream_control":"end"}
    < {"version":1,"type":"channel","id":"d","target":"chat.room","args":[]}
    < {"version":1,"type":"channel","id":"d","target":"","args":[],"stream_control":"abort"}
    < {"version":1,"type":"call","id":"e","target":"a.b","args":[]}
    ask math.add [1,2]
        1> {"version":1,"type":"call","id":{"$bin":"c266e3bbb4554027a2e96157021a6a1c"},"target":"math.add","args":[1,2]}
    tell math.note "x"
        1> {"version":1,"type":"cast","id":{"$bin":"c36c2d3b48184569adc7584b5140a80b"},"target":"math.note","args":["x"]}
    "#);
}

#[test]
fn a_runtime_answers_in_the_dialect_of_the_request() {
    let script = r#"
        open
        < {"type":"announce","namespace":"math","schema":{"version":1,"namespaces":{},"types":{}}}
        < {"type":"announce","namespace":"math","schema":5}
        < {"version":1,"type":"log","id":"l","target":"$log","args":[]}
        < {"version":2,"type":"call","id":"v","target":"math.add","args":[]}
        < {"version":1,"type":"stream","id":"s","target":"math.tail","args":[],"cap":"t"}
        item 1
        end 2
        < {"version":1,"type":"channel","id":"c","target":"chat.room","args":[]}
        item "a"
        < {"id":"c","close":true}
        < {"version":1,"type":"channel","id":"d","target":"chat.room","args":[]}
        end
        < {"id":"d","close":true}
        < {"version":1,"type":"batch","id":"f","batch_items":[{"version":1,"type":"call","id":"1","target":"math.add","args":[]},{"version":1,"type":"call","id":"2","target":"math.add","args":[]}]}
        result [3,{"a":1}]
        < {"nothing":1}
    "#;
    assert_snapshot!(run(Direction::ToClient, &PeerConfig::default(), script), @r#"
    open
    < {"type":"announce","namespace":"math","schema":{"version":1,"namespaces":{},"types":{}}}
        1> {"type":"announce_ack","namespace":"math","ok":true}
    < {"type":"announce","namespace":"math","schema":5}
        1> {"type":"announce_ack","namespace":"math","ok":false,"error":{"code":"SchemaError","message":"a schema is a map"}}
        ! document-error-code: "SchemaError" is a code of the document, which a runtime cannot decode
        ! announce-refused: the announce is refused with "SchemaError": its functions cannot be called
    < {"version":1,"type":"log","id":"l","target":"$log","args":[]}
    < {"version":2,"type":"call","id":"v","target":"math.add","args":[]}
        1> {"id":"v","ok":false,"error":{"code":"SchemaError","message":"incompatible protocol version: expected 1, got 2"}}
        ! document-error-code: "SchemaError" is a code of the document, which a runtime cannot decode
    < {"version":1,"type":"stream","id":"s","target":"math.tail","args":[],"cap":"t"}
    item 1
        1> {"id":"s","seq":0,"data":1}
    end 2
        1> {"id":"s","seq":1,"data":2}
        1> {"id":"s","seq":2,"end":true}
    < {"version":1,"type":"channel","id":"c","target":"chat.room","args":[]}
    item "a"
        1> {"id":"c","seq":0,"data":"a"}
    < {"id":"c","close":true}
        1> {"id":"c","close":true}
    < {"version":1,"type":"channel","id":"d","target":"chat.room","args":[]}
    end
        1> {"id":"d","close":true}
    < {"id":"d","close":true}
    < {"version":1,"type":"batch","id":"f","batch_items":[{"version":1,"type":"call","id":"1","target":"math.add","args":[]},{"version":1,"type":"call","id":"2","target":"math.add","args":[]}]}
    result [3,{"a":1}]
        1> {"id":"f","ok":true,"results":[{"id":"1","ok":true,"result":3},{"id":"2","ok":true,"result":{"a":1}}]}
    < {"nothing":1}
    "#);
}

#[test]
fn a_runtime_in_the_dialect_of_peers_answers_in_binary_form() {
    let script = r#"
        open
        < {"version":1,"type":"call","id":"00112233-4455-6677-8899-aabbccddeeff","target":"math.add","args":[1]}
        result 2
        < {"version":1,"type":"log","id":"00112233-4455-6677-8899-aabbccddeefe","target":"$log","args":[{}]}
        < {"version":1,"type":"log","id":"log-1","target":"$log","args":[{}]}
    "#;
    let config = |dialect: Option<&str>| PeerConfig {
        dialect: dialect.map(str::to_owned),
        ..offering(&["math.add"])
    };
    let ids = |dialect| {
        let run = run(Direction::ToClient, &config(dialect), script);
        let answers = run
            .lines()
            .filter_map(|line| line.trim().strip_prefix("1> "));
        let ids = answers.map(|line| line.split(",\"ok\"").next().unwrap_or_default().to_owned());
        ids.collect::<Vec<_>>()
    };
    let text = [
        r#"{"id":"00112233-4455-6677-8899-aabbccddeeff""#,
        r#"{"id":"00112233-4455-6677-8899-aabbccddeefe""#,
        r#"{"id":"log-1""#,
    ];
    assert_eq!(ids(None), text);
    let binary = ids(Some("peers"));
    assert_eq!(
        binary[..2],
        [
            r#"{"id":{"$bin":"00112233445566778899aabbccddeeff"}"#,
            r#"{"id":{"$bin":"00112233445566778899aabbccddeefe"}"#,
        ]
    );
    // The real runtime reads no other id, and refuses the message under a generated id.
    assert!(binary[2].starts_with(r#"{"id":{"$bin":"#), "{}", binary[2]);
}

//! Scripts for both sides.

mod resume;

use super::*;
use crate::framing::Framing;
use crate::protocol::peer::Offer;
use crate::protocol::sael::Sael;
use crate::protocol::sael::token::mint;
use crate::protocol::tests::script::run_script;
use insta::assert_snapshot;

fn run(side: Direction, config: &PeerConfig, script: &str) -> String {
    let run = run_script(&Sael, Framing::Lines, side, config, script);
    let own = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    run.replace(&own, "\"version\":\"(own)\"")
}

fn offer(name: &str, about: &str, streams: bool) -> Offer {
    Offer {
        name: name.into(),
        about: Some(about.into()),
        streams,
    }
}

#[test]
fn a_client_opens_and_closes_a_session() {
    let config = PeerConfig {
        name: Some("me".into()),
        token: Some("qct.v1.a.b".into()),
        ..PeerConfig::default()
    };
    let script = r#"
        open
        ready
        wait 60
        < {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_1","session_ttl":3600,"granted_capabilities":[]}
        ready
        > {"v":1,"kind":"INV","seq":1,"tool":"t","input":{}}
        > {"v":1,"kind":"INV","seq":2,"tool":"t","input":{}}
        > {"v":1,"kind":"SUB","seq":3,"topic":"news"}
        < {"v":1,"kind":"RES","seq":1,"output":5}
        < {"v":1,"kind":"RES","seq":3,"subscriptionId":3}
        wait 29
        wait 1
        < {"v":1,"kind":"HBA","ts":1700000090}
        wait 65
        < {"v":1,"kind":"EVT","seq":3,"data":{}}
        bye
        ready
        wait 60
    "#;
    assert_snapshot!(run(Direction::ToServer, &config, script), @r#"
    open
        1> {"v":1,"kind":"HEY","agent":{"id":"me","kind":"agent"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"],"auth":{"type":"bearer","token":"qct.v1.a.b"}}
        ! token-shape: the token's claims: the payload is not base64url
    ready
        Waits("HEY of the server")
    wait 60
    < {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_1","session_ttl":3600,"granted_capabilities":[]}
    ready
        Ready
    > {"v":1,"kind":"INV","seq":1,"tool":"t","input":{}}
        1> {"v":1,"kind":"INV","seq":1,"tool":"t","input":{}}
    > {"v":1,"kind":"INV","seq":2,"tool":"t","input":{}}
        1> {"v":1,"kind":"INV","seq":2,"tool":"t","input":{}}
    > {"v":1,"kind":"SUB","seq":3,"topic":"news"}
        1> {"v":1,"kind":"SUB","seq":3,"topic":"news"}
    < {"v":1,"kind":"RES","seq":1,"output":5}
    < {"v":1,"kind":"RES","seq":3,"subscriptionId":3}
    wait 29
    wait 1
        1> {"v":1,"kind":"HBT","ts":1700000090}
    < {"v":1,"kind":"HBA","ts":1700000090}
    wait 65
        1> {"v":1,"kind":"HBT","ts":1700000155}
        ! heartbeat-late: the client's last heartbeat, or its greeting, is 65 s ago; one is due every 30
    < {"v":1,"kind":"EVT","seq":3,"data":{}}
    bye
        1> {"v":1,"kind":"CAN","seq":2}
        1> {"v":1,"kind":"UNS","seq":3}
        1> {"v":1,"kind":"BYE"}
    ready
        Refused("BYE was said")
    wait 60
    "#);
}

#[test]
fn a_refused_client_makes_no_calls() {
    let script = r#"
        open
        < {"v":1,"kind":"ERR","seq":0,"code":"AUTH_EXPIRED","message":"too late"}
        ready
        bye
        closed
        open 2
        2< {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_1"}
        2< {"v":1,"kind":"ERR","seq":4,"code":"TOOL_NOT_FOUND","message":"tool: x"}
        ready 2
    "#;
    assert_snapshot!(run(Direction::ToServer, &PeerConfig::default(), script), @r#"
    open
        1> {"v":1,"kind":"HEY","agent":{"id":"wiretool","kind":"agent"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"]}
    < {"v":1,"kind":"ERR","seq":0,"code":"AUTH_EXPIRED","message":"too late"}
    ready
        Refused("AUTH_EXPIRED: too late")
    bye
    closed
    open 2
        2> {"v":1,"kind":"HEY","agent":{"id":"wiretool","kind":"agent"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"]}
    2< {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_1"}
    2< {"v":1,"kind":"ERR","seq":4,"code":"TOOL_NOT_FOUND","message":"tool: x"}
    ready 2
        Ready
    "#);
}

fn tools() -> PeerConfig {
    PeerConfig {
        name: Some("tools".into()),
        offers: vec![
            offer(
                "echo.upper@2",
                r#"{"description":"shouts","input":{"type":"object"}}"#,
                false,
            ),
            offer("logs.tail", r#"{"streaming":false}"#, true),
            offer("git.read", r#"{"requires_capability":"git:read"}"#, false),
        ],
        ..PeerConfig::default()
    }
}

#[test]
fn a_server_answers_requests() {
    let script = r#"
        open
        ready
        < {"v":2,"kind":"HEY","agent":{"id":"a"},"capabilities":["git:write"]}
        ready
        < {"v":2,"kind":"LST","seq":1}
        < {"v":2,"kind":"INV","seq":2,"tool":"echo.upper","input":{"text":"a"},"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}
        result "A"
        < {"v":2,"kind":"INV","seq":3,"tool":"echo.upper@2","input":{}}
        error no text
        < {"v":2,"kind":"INV","seq":4,"tool":"echo.upper@3","input":{}}
        < {"v":2,"kind":"INV","seq":5}
        < {"v":2,"kind":"INV","seq":6,"tool":"git.read","input":{}}
        < {"v":2,"kind":"INV","seq":7,"pipeline":[{"tool":"echo.upper"},{"filter":"a > 1"},{"tool":"nope"}]}
        < {"v":2,"kind":"INV","seq":8,"pipeline":[{"tool":"echo.upper"},{"filter":"a > 1"}]}
        result []
        < {"v":2,"kind":"INV","seq":9,"tool":"logs.tail","input":{}}
        item {"line":"one"}
        end {"line":"two"}
        < {"v":2,"kind":"INV","seq":10,"tool":"logs.tail","input":{}}
        delta {"a":1}
        < {"v":2,"kind":"CAN","seq":10}
        delta {"a":2}
        < {"v":2,"kind":"CAN","seq":10}
        < {"v":2,"kind":"INV","seq":11,"tool":"echo.upper","input":{}}
        error RATE_LIMITED: slower | {"retry_after_ms":500,"seq":9}
        ask x {}
        < {"v":2,"kind":"INV","seq":0,"tool":"echo.upper","input":{}}
        < {"v":2,"kind":"HBT","ts":1.50}
        < {"v":2,"kind":"ACK","seq":1}
        < {"v":2,"kind":"RES","seq":1,"output":1}
        < {"v":2,"kind":"XYZ"}
        raw nonsense
        < {"v":2,"kind":"BYE"}
    "#;
    assert_snapshot!(run(Direction::ToClient, &tools(), script), @r#"
    open
    ready
        Waits("HEY of the client")
    < {"v":2,"kind":"HEY","agent":{"id":"a"},"capabilities":["git:write"]}
        1> {"v":2,"kind":"HEY","server":{"id":"tools","name":"tools","version":"(own)"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"],"tools":3,"session_id":"ses_wmbju7RVQCei6WFX","session_ttl":3600,"granted_capabilities":["git:write"]}
    ready
        Ready
    < {"v":2,"kind":"LST","seq":1}
        1> {"v":2,"kind":"LST","seq":1,"tools":[{"name":"echo.upper","description":"shouts","streaming":false,"version":"2","input":{"type":"object"}},{"name":"logs.tail","description":"","streaming":true},{"name":"git.read","description":"","streaming":false,"requires_capability":"git:read"}]}
    < {"v":2,"kind":"INV","seq":2,"tool":"echo.upper","input":{"text":"a"},"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}
    result "A"
        1> {"v":2,"kind":"RES","seq":2,"output":"A","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}
    < {"v":2,"kind":"INV","seq":3,"tool":"echo.upper@2","input":{}}
    error no text
        1> {"v":2,"kind":"ERR","seq":3,"code":"INTERNAL","message":"no text"}
    < {"v":2,"kind":"INV","seq":4,"tool":"echo.upper@3","input":{}}
        1> {"v":2,"kind":"ERR","seq":4,"code":"TOOL_NOT_FOUND","message":"tool: echo.upper@3"}
    < {"v":2,"kind":"INV","seq":5}
        1> {"v":2,"kind":"ERR","seq":5,"code":"TOOL_NOT_FOUND","message":"tool: "}
    < {"v":2,"kind":"INV","seq":6,"tool":"git.read","input":{}}
        1> {"v":2,"kind":"ERR","seq":6,"code":"MISSING_CAPABILITY","message":"git.read requires git:read"}
    < {"v":2,"kind":"INV","seq":7,"pipeline":[{"tool":"echo.upper"},{"filter":"a > 1"},{"tool":"nope"}]}
        1> {"v":2,"kind":"ERR","seq":7,"code":"TOOL_NOT_FOUND","message":"tool: nope","stage":2}
    < {"v":2,"kind":"INV","seq":8,"pipeline":[{"tool":"echo.upper"},{"filter":"a > 1"}]}
    result []
        1> {"v":2,"kind":"RES","seq":8,"output":[]}
    < {"v":2,"kind":"INV","seq":9,"tool":"logs.tail","input":{}}
    item {"line":"one"}
        1> {"v":2,"kind":"STR","seq":9,"data":{"line":"one"}}
    end {"line":"two"}
        1> {"v":2,"kind":"STR","seq":9,"data":{"line":"two"}}
        1> {"v":2,"kind":"END","seq":9}
    < {"v":2,"kind":"INV","seq":10,"tool":"logs.tail","input":{}}
    delta {"a":1}
        1> {"v":2,"kind":"STR","seq":10,"delta":{"a":1}}
        ! delta-undeclared: STR has delta, but the tool is not listed with delta true
    < {"v":2,"kind":"CAN","seq":10}
        1> {"v":2,"kind":"ERR","seq":10,"code":"CANCELLED","message":"the client cancelled it"}
    delta {"a":2}
        refused: reply: wanted nothing: the call was cancelled, got delta
    < {"v":2,"kind":"CAN","seq":10}
    < {"v":2,"kind":"INV","seq":11,"tool":"echo.upper","input":{}}
    error RATE_LIMITED: slower | {"retry_after_ms":500,"seq":9}
        1> {"v":2,"kind":"ERR","seq":11,"code":"RATE_LIMITED","message":"slower","retry_after_ms":500}
    ask x {}
        refused: reply: wanted result, error, item, delta, end or tell, got ask
    < {"v":2,"kind":"INV","seq":0,"tool":"echo.upper","input":{}}
        1> {"v":2,"kind":"ERR","seq":0,"code":"INVALID_INPUT","message":"INV: seq must be an integer of 1 to 2^53-1"}
    < {"v":2,"kind":"HBT","ts":1.50}
        1> {"v":2,"kind":"HBA","ts":1.50}
    < {"v":2,"kind":"ACK","seq":1}
    < {"v":2,"kind":"RES","seq":1,"output":1}
        1> {"v":2,"kind":"ERR","seq":1,"code":"UNKNOWN_KIND","message":"kind: RES"}
        ! error-code-extra: UNKNOWN_KIND is a code of the reference server, not of the document
    < {"v":2,"kind":"XYZ"}
        1> {"v":2,"kind":"ERR","seq":0,"code":"UNKNOWN_KIND","message":"kind: XYZ"}
    raw nonsense
        1> {"v":2,"kind":"ERR","seq":0,"code":"INVALID_FRAME","message":"not a frame"}
        ! error-code-extra: INVALID_FRAME is a code of the reference server, not of the document
    < {"v":2,"kind":"BYE"}
        1>    closes
    "#);
}

#[test]
fn a_server_publishes_events() {
    let script = r#"
        open
        < {"v":1,"kind":"HEY","agent":{"id":"a"}}
        < {"v":1,"kind":"SUB","seq":1,"topic":"news","filter":{"about":"wires"}}
        < {"v":1,"kind":"SUB","seq":2,"topic":"news"}
        < {"v":1,"kind":"SUB","seq":3}
        < {"v":1,"kind":"INV","seq":4,"tool":"t","input":{}}
        tell news {"n":1}
        tell other {"n":1}
        result null
        < {"v":1,"kind":"UNS","seq":1}
        < {"v":1,"kind":"INV","seq":5,"tool":"t","input":{}}
        tell news {"n":2}
        < {"v":1,"kind":"UNS","seq":9}
    "#;
    assert_snapshot!(run(Direction::ToClient, &PeerConfig::default(), script), @r#"
    open
    < {"v":1,"kind":"HEY","agent":{"id":"a"}}
        1> {"v":1,"kind":"HEY","server":{"id":"wiretool","name":"wiretool","version":"(own)"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"],"tools":0,"session_id":"ses_wmbju7RVQCei6WFX","session_ttl":3600,"granted_capabilities":[]}
    < {"v":1,"kind":"SUB","seq":1,"topic":"news","filter":{"about":"wires"}}
        1> {"v":1,"kind":"RES","seq":1,"subscriptionId":1}
    < {"v":1,"kind":"SUB","seq":2,"topic":"news"}
        1> {"v":1,"kind":"RES","seq":2,"subscriptionId":2}
    < {"v":1,"kind":"SUB","seq":3}
        1> {"v":1,"kind":"ERR","seq":3,"code":"INVALID_INPUT","message":"SUB: topic must be text, of at most 256 bytes"}
    < {"v":1,"kind":"INV","seq":4,"tool":"t","input":{}}
    tell news {"n":1}
        1> {"v":1,"kind":"EVT","seq":1,"data":{"n":1}}
        1> {"v":1,"kind":"EVT","seq":2,"data":{"n":1}}
    tell other {"n":1}
        refused: topic: wanted a topic that somebody has subscribed to, got `other`
    result null
        1> {"v":1,"kind":"RES","seq":4,"output":null}
    < {"v":1,"kind":"UNS","seq":1}
    < {"v":1,"kind":"INV","seq":5,"tool":"t","input":{}}
    tell news {"n":2}
        1> {"v":1,"kind":"EVT","seq":2,"data":{"n":2}}
    < {"v":1,"kind":"UNS","seq":9}
    "#);
}

#[test]
fn tokens_are_checked_if_a_secret_is_set() {
    let claims = |more: &str| {
        format!(r#"{{"iss":"i","sub":"s","exp":1700000001,"scope":["git:read:*"]{more}}}"#)
    };
    let good = mint(&claims(""), b"secret").expect("claims");
    let other = mint(&claims(r#","client_id":"b""#), b"secret").expect("claims");
    let hey = |token: &str| {
        format!(
            r#"< {{"v":1,"kind":"HEY","agent":{{"id":"a"}},"auth":{{"type":"bearer","token":"{token}"}}}}"#
        )
    };
    let forged = good.replace("qct.v1.", "qct.v1.X");
    let script = [
        "open".to_owned(),
        r#"< {"v":1,"kind":"LST","seq":1}"#.to_owned(),
        r#"< {"v":1,"kind":"HEY","agent":{"id":"a"},"auth":{"type":"none"}}"#.to_owned(),
        r#"< {"v":9,"kind":"HEY","agent":{"id":"a"}}"#.to_owned(),
        hey(&other),
        hey(&forged),
        hey(&good),
        r#"< {"v":1,"kind":"INV","seq":2,"tool":"git.read","input":{}}"#.to_owned(),
        "wait 2".to_owned(),
        hey(&good),
    ];
    let config = PeerConfig {
        secret: Some(b"secret".to_vec()),
        ..tools()
    };
    let run = run(Direction::ToClient, &config, &script.join("\n"));
    let output: Vec<&str> = run.lines().filter(|line| line.contains("1> ")).collect();
    assert_snapshot!(output.join("\n"), @r#"
    1> {"v":1,"kind":"ERR","seq":0,"code":"AUTH_INVALID","message":"HEY with a token comes first"}   closes
    1> {"v":1,"kind":"ERR","seq":0,"code":"AUTH_INVALID","message":"a bearer token is needed"}   closes
    1> {"v":1,"kind":"ERR","seq":0,"code":"UNSUPPORTED_VERSION","message":"versions 1 and 2 are supported, not 9"}   closes
    1> {"v":1,"kind":"ERR","seq":0,"code":"AUTH_INVALID","message":"token: client_id: wanted `a`, got `b`"}   closes
    1> {"v":1,"kind":"ERR","seq":0,"code":"AUTH_INVALID","message":"token: signature: does not match: the secret or the claims differ"}   closes
    1> {"v":1,"kind":"HEY","server":{"id":"tools","name":"tools","version":"(own)"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"],"tools":3,"session_id":"ses_wmbju7RVQCei6WFX","session_ttl":3600,"granted_capabilities":["git:read:*"]}
    1> {"v":1,"kind":"ERR","seq":0,"code":"AUTH_EXPIRED","message":"token: exp > now: 1700000001, now 1700000002"}   closes
    "#);
}

//! Behaviour over several messages: windows, silence, sessions that lose their connection.

use super::{Direction, PeerConfig, run};
use insta::assert_snapshot;

#[test]
fn a_client_resumes_a_session_after_a_lost_connection() {
    let script = r#"
        open 1
        1< {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_1"}
        1< {"v":1,"kind":"EVT","seq":7,"data":{}}
        closed 1
        open 2
        2< {"v":1,"kind":"ERR","seq":0,"code":"SESSION_EXPIRED","message":"gone"}
        ready 2
        closed 2
        open 3
    "#;
    assert_snapshot!(run(Direction::ToServer, &PeerConfig::default(), script), @r#"
    open 1
        1> {"v":1,"kind":"HEY","agent":{"id":"wiretool","kind":"agent"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"]}
    1< {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_1"}
    1< {"v":1,"kind":"EVT","seq":7,"data":{}}
    closed 1
    open 2
        2> {"v":1,"kind":"RSM","session_id":"ses_1","last_seq_received":7}
        ! anonymous-resume: the resumed session was opened without a token
    2< {"v":1,"kind":"ERR","seq":0,"code":"SESSION_EXPIRED","message":"gone"}
    ready 2
        Refused("SESSION_EXPIRED: gone")
    closed 2
    open 3
        3> {"v":1,"kind":"HEY","agent":{"id":"wiretool","kind":"agent"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"]}
    "#);
}

#[test]
fn a_client_waits_while_the_window_is_full() {
    let script = r#"
        open
        < {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_1"}
        < {"v":1,"kind":"WIN","window":2}
        > {"v":1,"kind":"SUB","seq":1,"topic":"t"}
        ready
        > {"v":1,"kind":"INV","seq":2,"tool":"t","input":{}}
        ready
        < {"v":1,"kind":"RES","seq":1,"subscriptionId":1}
        < {"v":1,"kind":"EVT","seq":1,"data":{}}
        < {"v":1,"kind":"STR","seq":2,"data":1}
        ready
        > {"v":1,"kind":"LST","seq":3}
        ready
        < {"v":1,"kind":"END","seq":2}
        ready
    "#;
    let run = run(Direction::ToServer, &PeerConfig::default(), script);
    let ready: Vec<&str> = run
        .lines()
        .filter(|line| line.starts_with("    Ready") || line.starts_with("    Waits"))
        .map(str::trim)
        .collect();
    let full = "Waits(\"an answer: the window is full\")";
    assert_eq!(ready, ["Ready", full, "Ready", full, "Ready"], "{run}");
}

#[test]
fn calls_over_the_window_are_refused() {
    let script = r#"
        open
        < {"v":1,"kind":"HEY","agent":{"id":"a"}}
        > {"v":1,"kind":"WIN","window":1}
        < {"v":1,"kind":"INV","seq":1,"tool":"t","input":{}}
        < {"v":1,"kind":"INV","seq":2,"tool":"t","input":{}}
        result 1
        < {"v":1,"kind":"INV","seq":3,"tool":"t","input":{}}
    "#;
    assert_snapshot!(run(Direction::ToClient, &PeerConfig::default(), script), @r#"
    open
    < {"v":1,"kind":"HEY","agent":{"id":"a"}}
        1> {"v":1,"kind":"HEY","server":{"id":"wiretool","name":"wiretool","version":"(own)"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"],"tools":0,"session_id":"ses_wmbju7RVQCei6WFX","session_ttl":3600,"granted_capabilities":[]}
    > {"v":1,"kind":"WIN","window":1}
        1> {"v":1,"kind":"WIN","window":1}
    < {"v":1,"kind":"INV","seq":1,"tool":"t","input":{}}
    < {"v":1,"kind":"INV","seq":2,"tool":"t","input":{}}
        1> {"v":1,"kind":"ERR","seq":2,"code":"BACKPRESSURE","message":"1 of 1 requests are open"}
    result 1
        1> {"v":1,"kind":"RES","seq":1,"output":1}
    < {"v":1,"kind":"INV","seq":3,"tool":"t","input":{}}
    "#);
}

#[test]
fn a_resumed_client_receives_missed_frames() {
    let script = r#"
        open 1
        1< {"v":1,"kind":"HEY","agent":{"id":"a"}}
        1< {"v":1,"kind":"SUB","seq":1,"topic":"news"}
        1< {"v":1,"kind":"INV","seq":2,"tool":"slow","input":{}}
        1< {"v":1,"kind":"INV","seq":3,"tool":"stream","input":{}}
        @1 item "one"
        closed 1
        @0 result "late"
        @0 tell news "missed"
        open 2
        2< {"v":1,"kind":"RSM","session_id":$session_id,"last_seq_received":1}
        @0 tell news "after"
        @1 item "two"
        2< {"v":1,"kind":"INV","seq":4,"tool":"t","input":{}}
        result 4
        closed 2
        open 3
        3< {"v":1,"kind":"RSM","session_id":$session_id,"last_seq_received":3}
        closed 3
        wait 3601
        open 4
        4< {"v":1,"kind":"RSM","session_id":$session_id,"last_seq_received":3}
        open 5
        5< {"v":1,"kind":"RSM","session_id":"\u00231","last_seq_received":0}
    "#;
    assert_snapshot!(run(Direction::ToClient, &PeerConfig::default(), script), @r#"
    open 1
    1< {"v":1,"kind":"HEY","agent":{"id":"a"}}
        1> {"v":1,"kind":"HEY","server":{"id":"wiretool","name":"wiretool","version":"(own)"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"],"tools":0,"session_id":"ses_wmbju7RVQCei6WFX","session_ttl":3600,"granted_capabilities":[]}
    1< {"v":1,"kind":"SUB","seq":1,"topic":"news"}
        1> {"v":1,"kind":"RES","seq":1,"subscriptionId":1}
    1< {"v":1,"kind":"INV","seq":2,"tool":"slow","input":{}}
    1< {"v":1,"kind":"INV","seq":3,"tool":"stream","input":{}}
    @1 item "one"
        1> {"v":1,"kind":"STR","seq":3,"data":"one"}
    closed 1
    @0 result "late"
        1> 
    @0 tell news "missed"
        1> 
    open 2
    2< {"v":1,"kind":"RSM","session_id":$session_id,"last_seq_received":1}
        2> {"v":1,"kind":"STR","seq":3,"data":"one"}
        2> {"v":1,"kind":"RES","seq":2,"output":"late"}
        2> {"v":1,"kind":"HEY","resumed":true,"session_id":"ses_wmbju7RVQCei6WFX","replayed":2}
    @0 tell news "after"
        2> {"v":1,"kind":"EVT","seq":1,"data":"after"}
    @1 item "two"
        refused: reply: wanted nothing: the call was cancelled, got item
    2< {"v":1,"kind":"INV","seq":4,"tool":"t","input":{}}
    result 4
        2> {"v":1,"kind":"RES","seq":4,"output":4}
    closed 2
    open 3
    3< {"v":1,"kind":"RSM","session_id":$session_id,"last_seq_received":3}
        3> {"v":1,"kind":"RES","seq":4,"output":4}
        3> {"v":1,"kind":"HEY","resumed":true,"session_id":"ses_wmbju7RVQCei6WFX","replayed":1}
    closed 3
    wait 3601
    open 4
    4< {"v":1,"kind":"RSM","session_id":$session_id,"last_seq_received":3}
        4> {"v":1,"kind":"ERR","seq":0,"code":"SESSION_EXPIRED","message":"this session does not exist any more: start with HEY"}   closes
        ! login-refused: the server refuses RSM: SESSION_EXPIRED (this session does not exist any more: start with HEY)
    open 5
    5< {"v":1,"kind":"RSM","session_id":"\u00231","last_seq_received":0}
        5> {"v":1,"kind":"ERR","seq":0,"code":"SESSION_EXPIRED","message":"this session does not exist any more: start with HEY"}   closes
    "#);
}

#[test]
fn silence_ends_a_connection() {
    let script = r#"
        open
        < {"v":1,"kind":"HEY","agent":{"id":"a"}}
        wait 60
        < {"v":1,"kind":"HBT","ts":1}
        wait 90
        wait 1
        wait 100
    "#;
    assert_snapshot!(run(Direction::ToClient, &PeerConfig::default(), script), @r#"
    open
    < {"v":1,"kind":"HEY","agent":{"id":"a"}}
        1> {"v":1,"kind":"HEY","server":{"id":"wiretool","name":"wiretool","version":"(own)"},"supports":["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"],"tools":0,"session_id":"ses_wmbju7RVQCei6WFX","session_ttl":3600,"granted_capabilities":[]}
    wait 60
    < {"v":1,"kind":"HBT","ts":1}
        1> {"v":1,"kind":"HBA","ts":1}
    wait 90
    wait 1
        1>    closes
    wait 100
    "#);
}

#[test]
fn the_script_may_send_hello() {
    let config = PeerConfig {
        no_hello: true,
        ..PeerConfig::default()
    };
    let script = r#"
        open 1
        1< {"v":1,"kind":"HEY","agent":{"id":"a"}}
        1> {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_recorded","tools":0}
        1< {"v":1,"kind":"INV","seq":4,"tool":"t","input":{}}
        result 4
        closed 1
        open 2
        2< {"v":1,"kind":"RSM","session_id":"ses_recorded","last_seq_received":0}
        ready 2
    "#;
    assert_snapshot!(run(Direction::ToClient, &config, script), @r#"
    open 1
    1< {"v":1,"kind":"HEY","agent":{"id":"a"}}
    1> {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_recorded","tools":0}
        1> {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_recorded","tools":0}
    1< {"v":1,"kind":"INV","seq":4,"tool":"t","input":{}}
    result 4
        1> {"v":1,"kind":"RES","seq":4,"output":4}
    closed 1
    open 2
    2< {"v":1,"kind":"RSM","session_id":"ses_recorded","last_seq_received":0}
    ready 2
        Ready
    "#);
    let script = r#"
        open
        > {"v":1,"kind":"HEY","agent":{"id":"a"}}
        < {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_1"}
        ready
        wait 40
    "#;
    assert_snapshot!(run(Direction::ToServer, &config, script), @r#"
    open
    > {"v":1,"kind":"HEY","agent":{"id":"a"}}
        1> {"v":1,"kind":"HEY","agent":{"id":"a"}}
    < {"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_1"}
    ready
        Ready
    wait 40
    "#);
}

#[test]
fn stored_state_of_a_client_is_bounded() {
    let long = "x".repeat(257);
    let grants = vec!["\"a\""; 300].join(",");
    let script = [
        "open".to_owned(),
        format!(
            r#"< {{"v":1,"kind":"HEY","agent":{{"id":"a"}},"capabilities":["{long}",{grants}]}}"#
        ),
        format!(r#"< {{"v":1,"kind":"SUB","seq":1,"topic":"{long}"}}"#),
    ];
    let run = run(
        Direction::ToClient,
        &PeerConfig::default(),
        &script.join("\n"),
    );
    let output: Vec<&str> = run.lines().filter(|line| line.contains("1> ")).collect();
    let granted = format!(
        r#""granted_capabilities":[{}]"#,
        vec!["\"a\""; 256].join(",")
    );
    assert!(output[0].contains(&granted), "{run}");
    assert_snapshot!(output[1], @r#"    1> {"v":1,"kind":"ERR","seq":1,"code":"INVALID_INPUT","message":"SUB: topic must be text, of at most 256 bytes"}"#);
}

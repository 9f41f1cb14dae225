//! Numbers that the peer makes anew in each run: requests that refer to them use those of this run.

use super::recorded_peer::settings;
use super::time_limits::{Messages, RUN_LIMIT, observer, run};
use super::{content_length, recorded_as};
use crate::framing::Limits;
use crate::live::client::Client;
use crate::live::codec::ConnectionConfig;
use crate::live::plan::Plan;
use crate::protocol::Direction;
use crate::protocol::described::embedded;
use crate::select::Select;

/// A debugger names a thread by the number of the kernel, in an event that comes before the list of threads.
#[test]
fn a_thread_has_the_number_of_this_run() {
    let lines = r#"
    > {"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"a"}}
    < {"seq":1,"type":"response","request_seq":1,"command":"initialize","success":true,"body":{}}
    < {"seq":2,"type":"event","event":"stopped","body":{"reason":"entry","threadId":18555}}
    > {"seq":2,"type":"request","command":"threads"}
    < {"seq":3,"type":"response","request_seq":2,"command":"threads","success":true,"body":{"threads":[{"id":18555,"name":"t"}]}}
    > {"seq":3,"type":"request","command":"stackTrace","arguments":{"threadId":18555}}
    < {"seq":4,"type":"response","request_seq":3,"command":"stackTrace","success":true,"body":{"stackFrames":[]}}
"#;
    let recording = recorded_as("dap", lines, content_length);
    let choice = Select::default().filter();
    let plan = Plan::of(&recording, embedded(), None, Limits::default(), choice).unwrap();
    let settings = settings(plan.protocol);
    let all = Messages::default();
    let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
    let mut client = Client::replaying(&plan, config, &settings, observer(&all));
    let mut asked = String::new();
    run(&mut client, "", RUN_LIMIT, |line| {
        let answer = |seq: u32, command: &str, body: &str| {
            // The event has a number, too.
            let own = seq + u32::from(seq > 1);
            let text = format!(
                r#"{{"seq":{own},"type":"response","request_seq":{seq},"command":"{command}","success":true,"body":{body}}}"#
            );
            content_length(&text)
        };
        if line.contains("initialize") {
            let stopped = r#"{"seq":2,"type":"event","event":"stopped","body":{"reason":"entry","threadId":777}}"#;
            answer(1, "initialize", "{}") + &content_length(stopped)
        } else if line.contains("threads") {
            answer(2, "threads", r#"{"threads":[{"id":777,"name":"t"}]}"#)
        } else if line.contains("stackTrace") {
            line.clone_into(&mut asked);
            answer(3, "stackTrace", r#"{"stackFrames":[]}"#)
        } else {
            String::new()
        }
    });
    let all = all.lock().unwrap().join("\n");
    assert!(asked.contains(r#""threadId":777"#), "{asked} {all}");
    assert!(!all.contains("differ"), "{all}");
}

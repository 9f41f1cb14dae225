//! The waiting messages and their reasons.

use super::{C2S, INITIALIZE, INITIALIZED, Run, S2C, VERSION, execute, output, put, ready, stored};
use crate::protocol::session::ConnectionChange;

#[test]
fn waiting_lists_the_handshake() {
    let mut run = Run::new(9);
    run.line(C2S, INITIALIZE);
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#0 request initialize s2c: no request is allowed before initialize is answered",
    ]
    "##);
    run.line(S2C, VERSION);
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#1 the runtime, for initialized c2s: initialize is answered; a server may refuse other requests before initialized",
    ]
    "##);
    run.line(C2S, INITIALIZED);
    assert_eq!(run.waiting(), [""; 0]);
}

#[test]
fn an_execute_waits_for_its_callback() {
    let mut run = ready();
    run.line(C2S, &execute("\"e\"")).line(S2C, &put("\"c\""));
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#3 request components/execute /store s2c: callback unanswered inside an execute: request blobs/put (\"c\")",
        "#4 request blobs/put c2s",
    ]
    "##);
    run.line(C2S, &stored("\"c\""));
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#3 request components/execute /store s2c",
    ]
    "##);
    run.connection_event(0, None, ConnectionChange::Exited);
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#3 request components/execute /store s2c",
    ]
    "##);
    assert_eq!(run.broken, []);
    run.finish();
    assert_eq!(run.broken, [("unanswered", 3)]);
}

/// One pipe does not show the execute of a callback; only the callback is reported.
#[test]
fn several_executes_may_wait_for_one_callback() {
    let mut run = ready();
    run.line(C2S, &execute("1"))
        .line(C2S, &execute("2"))
        .line(S2C, &put("\"c\""))
        .line(C2S, &execute("3"));
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#3 request components/execute /store s2c: callback unanswered inside an execute: request blobs/put (\"c\"), perhaps its own",
        "#4 request components/execute /store s2c: callback unanswered inside an execute: request blobs/put (\"c\"), perhaps its own",
        "#5 request blobs/put c2s",
        "#6 request components/execute /store s2c",
    ]
    "##);
    // Either execute may be answered first: nothing shows which one sent the callback.
    run.line(S2C, &output("1")).line(S2C, &output("2"));
    assert_eq!(run.broken, []);
}

#[test]
fn over_http_the_stream_shows_the_execute_of_a_callback() {
    let mut run = Run::new(99);
    run.post(0, INITIALIZE)
        .respond(0, "200 OK", VERSION)
        .post(0, INITIALIZED)
        .respond(0, "202 Accepted", "\"\"")
        .post(0, &execute("1"))
        .post(1, &execute("2"))
        .stream(0)
        .stream(1)
        .event(1, &put("\"c\""));
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#4 request components/execute /store s2c",
        "#5 request components/execute /store s2c: callback unanswered inside an execute: request blobs/put (\"c\")",
        "#8 request blobs/put c2s",
    ]
    "##);
    run.event(0, &output("1"))
        .post(2, &stored("\"c\""))
        .respond(2, "202 Accepted", "\"\"")
        .event(1, &output("2"))
        .finish();
    assert_eq!(run.broken, []);
    assert_eq!(run.answers, [(1, 0), (9, 4), (10, 8), (12, 5)]);
}

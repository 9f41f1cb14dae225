//! The waiting messages and their reasons.

use super::{INITIALIZE, INITIALIZED, VERSION, execute, on, output, put, ready, start, stored};
use crate::protocol::session::ConnectionChange;

#[test]
fn waiting_lists_the_handshake() {
    let mut run = start(9);
    run.client(0, INITIALIZE);
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#0 request initialize s2c: no request is allowed before initialize is answered",
    ]
    "##);
    run.server(0, VERSION);
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#1 the runtime, for initialized c2s: initialize is answered; a server may refuse other requests before initialized",
    ]
    "##);
    run.client(0, INITIALIZED);
    assert_eq!(run.waiting(), [""; 0]);
}

#[test]
fn an_execute_waits_for_its_callback() {
    let mut run = ready();
    run.client(0, &execute("\"e\"")).server(0, &put("\"c\""));
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#3 request components/execute /store s2c: callback unanswered inside an execute: request blobs/put (\"c\")",
        "#4 request blobs/put c2s",
    ]
    "##);
    run.client(0, &stored("\"c\""));
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#3 request components/execute /store s2c",
    ]
    "##);
    run.event(on(0, None), ConnectionChange::Exited);
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#3 request components/execute /store s2c",
    ]
    "##);
    assert_eq!(run.broken(), []);
    run.finish();
    assert_eq!(run.broken(), [("unanswered", 3)]);
}

/// One pipe does not show the execute of a callback; only the callback is reported.
#[test]
fn several_executes_may_wait_for_one_callback() {
    let mut run = ready();
    run.client(0, &execute("1"))
        .client(0, &execute("2"))
        .server(0, &put("\"c\""))
        .client(0, &execute("3"));
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#3 request components/execute /store s2c: callback unanswered inside an execute: request blobs/put (\"c\"), perhaps its own",
        "#4 request components/execute /store s2c: callback unanswered inside an execute: request blobs/put (\"c\"), perhaps its own",
        "#5 request blobs/put c2s",
        "#6 request components/execute /store s2c",
    ]
    "##);
    // Either execute may be answered first: nothing shows which one sent the callback.
    run.server(0, &output("1")).server(0, &output("2"));
    assert_eq!(run.broken(), []);
}

#[test]
fn over_http_the_stream_shows_the_execute_of_a_callback() {
    let mut run = start(99);
    run.post(0, INITIALIZE)
        .respond(0, "200 OK", VERSION)
        .post(0, INITIALIZED)
        .respond(0, "202 Accepted", "\"\"")
        .post(0, &execute("1"))
        .post(1, &execute("2"))
        .stream(0)
        .stream(1)
        .sse(1, &put("\"c\""));
    insta::assert_debug_snapshot!(run.waiting(), @r##"
    [
        "#4 request components/execute /store s2c",
        "#5 request components/execute /store s2c: callback unanswered inside an execute: request blobs/put (\"c\")",
        "#8 request blobs/put c2s",
    ]
    "##);
    run.sse(0, &output("1"))
        .post(2, &stored("\"c\""))
        .respond(2, "202 Accepted", "\"\"")
        .sse(1, &output("2"))
        .finish();
    assert_eq!(run.broken(), []);
    assert_eq!(run.pairs(), [(1, 0), (9, 4), (10, 8), (12, 5)]);
}

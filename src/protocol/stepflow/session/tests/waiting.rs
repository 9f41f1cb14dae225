//! Who waits for whom, and why.

use super::{
    C2S, Heard, INITIALIZE, INITIALIZED, S2C, VERSION, execute, output, put, ready, stored,
};
use crate::protocol::session::Happened;

#[test]
fn the_handshake_is_waited_for() {
    let mut heard = Heard::new(9);
    heard.line(C2S, INITIALIZE);
    insta::assert_debug_snapshot!(heard.waiting(), @r##"
    [
        "#0 request initialize s2c: nothing may be asked before initialize is answered",
    ]
    "##);
    heard.line(S2C, VERSION);
    insta::assert_debug_snapshot!(heard.waiting(), @r##"
    [
        "#1 the runtime, for initialized c2s: initialize is answered; a server may refuse all else",
    ]
    "##);
    heard.line(C2S, INITIALIZED);
    assert_eq!(heard.waiting(), [""; 0]);
}

#[test]
fn an_execute_waits_for_its_callback() {
    let mut heard = ready();
    heard.line(C2S, &execute("\"e\"")).line(S2C, &put("\"c\""));
    insta::assert_debug_snapshot!(heard.waiting(), @r##"
    [
        "#3 request components/execute s2c: callback unanswered inside an execute: request blobs/put (\"c\")",
        "#4 request blobs/put c2s",
    ]
    "##);
    heard.line(C2S, &stored("\"c\""));
    insta::assert_debug_snapshot!(heard.waiting(), @r##"
    [
        "#3 request components/execute s2c",
    ]
    "##);
    heard.happened(0, None, Happened::Exited);
    insta::assert_debug_snapshot!(heard.waiting(), @r##"
    [
        "#3 request components/execute s2c",
    ]
    "##);
    assert_eq!(heard.broken, []);
    heard.finish();
    assert_eq!(heard.broken, [("unanswered", 3)]);
}

/// One pipe does not tell whose a callback is; the callback alone is to blame.
#[test]
fn several_executes_may_wait_for_one_callback() {
    let mut heard = ready();
    heard
        .line(C2S, &execute("1"))
        .line(C2S, &execute("2"))
        .line(S2C, &put("\"c\""))
        .line(C2S, &execute("3"));
    insta::assert_debug_snapshot!(heard.waiting(), @r##"
    [
        "#3 request components/execute s2c: callback unanswered inside an execute: request blobs/put (\"c\"), perhaps its own",
        "#4 request components/execute s2c: callback unanswered inside an execute: request blobs/put (\"c\"), perhaps its own",
        "#5 request blobs/put c2s",
        "#6 request components/execute s2c",
    ]
    "##);
    // Either may be answered first: nothing says that it was the one that asked.
    heard.line(S2C, &output("1")).line(S2C, &output("2"));
    assert_eq!(heard.broken, []);
}

#[test]
fn over_http_the_stream_tells_whose_a_callback_is() {
    let mut heard = Heard::new(99);
    heard
        .post(0, INITIALIZE)
        .respond(0, "200 OK", VERSION)
        .post(0, INITIALIZED)
        .respond(0, "202 Accepted", "\"\"")
        .post(0, &execute("1"))
        .post(1, &execute("2"))
        .stream(0)
        .stream(1)
        .event(1, &put("\"c\""));
    insta::assert_debug_snapshot!(heard.waiting(), @r##"
    [
        "#4 request components/execute s2c",
        "#5 request components/execute s2c: callback unanswered inside an execute: request blobs/put (\"c\")",
        "#8 request blobs/put c2s",
    ]
    "##);
    heard
        .event(0, &output("1"))
        .post(2, &stored("\"c\""))
        .respond(2, "202 Accepted", "\"\"")
        .event(1, &output("2"))
        .finish();
    assert_eq!(heard.broken, []);
    assert_eq!(heard.answers, [(1, 0), (9, 4), (10, 8), (12, 5)]);
}

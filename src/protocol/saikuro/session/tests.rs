//! Cases that a fixture cannot show: bounds, many connections, unknown directions, lost bytes, waiting requests.

use super::*;
use crate::protocol::saikuro::Saikuro;
use crate::protocol::tests::session_run::{SessionRun, at_most, on};
use serde_json::{Value, json};

const TO_SERVER: Option<Direction> = Some(Direction::ToServer);
const TO_CLIENT: Option<Direction> = Some(Direction::ToClient);

type Run = SessionRun<'static, SaikuroSession>;

fn start(max_open: usize) -> Run {
    SessionRun::new(&Saikuro, SaikuroSession::new(&at_most(max_open)))
}

impl Run {
    fn send(&mut self, conn: u32, direction: Option<Direction>, message: &Value) -> &mut Self {
        let body = rmp_serde::to_vec_named(message).expect("MessagePack");
        let length = (body.len() as u32).to_be_bytes();
        self.push(on(conn, direction), [&length[..], &body].concat())
    }
}

fn id(n: u64) -> String {
    format!("a1b2c3d4-e5f6-4890-abcd-{n:012x}")
}

fn ask(kind: &str, n: u64) -> Value {
    json!({"version": 1, "type": kind, "id": id(n), "target": "math.add", "args": []})
}

fn ok(n: u64) -> Value {
    json!({"id": id(n), "ok": true, "result": 3})
}

fn item(n: u64, seq: u64) -> Value {
    json!({"id": id(n), "ok": true, "result": "x", "seq": seq})
}

fn close(n: u64) -> Value {
    json!({"id": id(n), "close": true})
}

#[test]
fn an_id_is_separate_for_each_connection_and_direction() {
    let mut run = start(16);
    run.send(0, TO_SERVER, &ask("call", 1))
        .send(1, TO_SERVER, &ask("call", 1))
        // A runtime forwards a call under its id, here to the connection that it came from.
        .send(0, TO_CLIENT, &ask("call", 1))
        .send(0, TO_SERVER, &ok(1))
        .send(1, TO_CLIENT, &ok(1))
        .send(0, TO_CLIENT, &ok(1));
    assert_eq!(run.answers, [(3, 2, true), (4, 1, true), (5, 0, true)]);
    run.finish();
    assert_eq!(run.broken(), []);
}

#[test]
fn all_forms_of_an_id_are_equal() {
    let mut run = start(16);
    let bytes: Vec<u8> = (0xa0..0xb0).collect();
    let mut call = ask("call", 1);
    call["id"] = json!(bytes);
    run.send(0, TO_SERVER, &call);
    let mut answer = ok(1);
    answer["id"] = json!("{A0A1A2A3-A4A5-A6A7-A8A9-AAABACADAEAF}");
    run.send(0, TO_CLIENT, &answer);
    assert_eq!(run.answers, [(1, 0, true)]);
    assert_eq!(run.broken(), []);
}

#[test]
fn without_directions_roles_decide() {
    let mut run = start(16);
    run.send(0, None, &ask("call", 1))
        .send(0, None, &ok(1))
        .send(0, None, &ask("stream", 2))
        .send(0, None, &item(2, 0))
        .send(0, None, &item(2, 2))
        .send(0, None, &ask("channel", 3))
        .send(0, None, &json!({"id": id(3), "seq": 0, "data": 1}))
        .send(0, None, &json!({"id": id(3), "seq": 0, "data": 1}))
        .send(0, None, &close(3))
        .send(0, None, &close(3));
    assert_eq!(run.broken(), [("seq-gap", 4)]);
    assert_eq!(run.answers.len(), 7);
}

#[test]
fn ok_that_is_not_a_bool_is_reported() {
    let mut run = start(9);
    run.send(0, TO_SERVER, &ask("call", 1)).send(
        0,
        TO_CLIENT,
        &json!({"id": id(1), "ok": "true", "result": 1}),
    );
    run.finish();
    assert_eq!(run.broken(), [("bad-field", 1), ("unanswered", 0)]);
}

/// Each side ends its own direction: an abort of the other side and delayed frames are no frames after the end.
#[test]
fn an_abort_is_answered_by_an_abort() {
    let follow = |way: Option<Direction>| {
        let mut run = start(9);
        run.send(0, TO_SERVER, &ask("channel", 1));
        let item = json!({"version": 1, "type": "channel", "id": id(1), "target": "", "args": [1], "seq": 0});
        let mut abort = item.clone();
        abort["stream_control"] = "abort".into();
        run.send(0, TO_SERVER, &abort);
        run.send(0, way, &self::item(1, 0));
        let end = json!({"id": id(1), "ok": false, "seq": 1, "stream_control": "abort"});
        run.send(0, way, &end).send(0, way, &end);
        run.broken()
    };
    // Only frames after both aborts are.
    assert_eq!(follow(TO_CLIENT), [("after-end", 4)]);
}

#[test]
fn tables_are_bounded() {
    let mut run = start(4);
    for n in 0..10 {
        run.send(0, TO_SERVER, &ask("call", n));
    }
    assert_eq!(run.session.untracked(), 6);
    assert_eq!(Waiting::all_of(&run.session).len(), 4);
    run.send(0, TO_CLIENT, &ok(9));
    assert_eq!(run.broken(), [], "what was not followed is not judged");
    let mut run = start(4);
    for n in 0..10_000 {
        run.send(0, TO_SERVER, &ask("call", n))
            .send(0, TO_CLIENT, &ok(n))
            .send(0, TO_SERVER, &ask("cast", n + 20_000));
    }
    assert_eq!(run.session.untracked(), 0);
    assert!(run.session.calls.open.is_empty());
    assert!(run.session.calls.ended.len() <= 4096);
    let side = run.session.side(Some(0), TO_SERVER);
    assert!(side.order.is_empty());
}

#[test]
fn streams_without_a_start_are_bounded() {
    let mut run = start(16);
    run.send(0, TO_CLIENT, &item(1, 7))
        .send(0, TO_CLIENT, &item(1, 8))
        .send(0, TO_CLIENT, &item(1, 10));
    assert_eq!(run.broken(), [("unknown-id", 0), ("seq-gap", 2)]);
    assert!(Waiting::all_of(&run.session).is_empty());
    run.finish();
    run.event(on(0, None), ConnectionChange::Closed);
    assert_eq!(run.found.len(), 2);
    assert_eq!(run.session.orphans, 0);
}

#[test]
fn lost_bytes_cause_no_findings() {
    let mut run = start(16);
    run.send(0, TO_SERVER, &ask("stream", 1))
        .send(0, TO_SERVER, &ask("call", 2))
        .send(0, TO_CLIENT, &item(1, 0));
    run.event(on(0, None), ConnectionChange::Lost);
    run.send(0, TO_CLIENT, &item(1, 5))
        .send(0, TO_CLIENT, &ok(3))
        .send(0, TO_CLIENT, &item(1, 7));
    run.event(on(0, None), ConnectionChange::Closed);
    assert_eq!(run.broken(), [("seq-gap", 5)]);
}

#[test]
fn unreadable_messages_cause_no_further_findings() {
    let mut run = start(16);
    run.send(0, TO_SERVER, &ask("call", 1));
    let mut answer = rmp_serde::to_vec_named(&ok(1)).expect("MessagePack");
    *answer.last_mut().expect("a byte") = 0xc1;
    let mut bytes = (answer.len() as u32).to_be_bytes().to_vec();
    bytes.extend(&answer);
    run.push(on(0, TO_CLIENT), &bytes);
    run.push(on(0, TO_SERVER), b"\0\0\0\x01\xc1");
    run.push(on(0, TO_SERVER), b"\0\0\0\x05\x81");
    run.finish();
    assert_eq!(run.broken(), []);
}

#[test]
fn a_connection_that_ended_in_both_directions_is_removed() {
    let mut run = start(16);
    run.send(0, TO_SERVER, &ask("call", 1));
    run.event(on(0, TO_SERVER), ConnectionChange::Ended);
    assert_eq!(run.broken(), []);
    run.event(on(0, TO_CLIENT), ConnectionChange::Ended);
    assert_eq!(run.broken(), [("unanswered", 0)]);
    run.event(on(0, None), ConnectionChange::Closed);
    run.finish();
    assert_eq!(run.found.len(), 1);
}

#[test]
fn a_refusal_with_a_random_id_is_matched_to_its_message() {
    let mut run = start(16);
    let mut bad = ask("call", 2);
    bad["id"] = json!("req-2");
    let error = json!({"code": "MalformedEnvelope", "message": "no"});
    let refusal = json!({"id": id(9), "ok": false, "error": error});
    run.send(0, TO_SERVER, &ask("call", 1))
        .send(0, TO_SERVER, &bad)
        .send(0, TO_CLIENT, &ok(1))
        .send(0, TO_CLIENT, &refusal);
    assert_eq!(run.answers, [(2, 0, true), (3, 1, true)]);
    assert!(Waiting::all_of(&run.session).is_empty());
    let want = [("bad-id", 1), ("peers-error-code", 3), ("random-id", 3)];
    assert_eq!(run.broken(), want);
}

#[test]
fn waiting_lists_the_expected_sender() {
    let mut run = start(16);
    let schema = json!({"version": 1, "namespaces": {"text": {}}, "types": {}});
    let mut announce = ask("announce", 1);
    announce["args"] = json!([schema]);
    let mut own = ask("call", 2);
    own["target"] = json!("text.upper");
    run.send(0, TO_SERVER, &announce)
        .send(0, TO_CLIENT, &json!({"id": id(1), "ok": true}))
        .send(0, TO_SERVER, &own)
        .send(0, TO_CLIENT, &ask("call", 3))
        .send(0, TO_SERVER, &ask("stream", 4))
        .send(0, TO_CLIENT, &json!({"id": id(4), "ok": true}))
        .send(0, TO_SERVER, &ask("channel", 5))
        .send(0, TO_SERVER, &close(5))
        .send(0, TO_SERVER, &ask("channel", 6))
        .send(0, TO_CLIENT, &close(6))
        .send(0, TO_SERVER, &ask("stream", 7));
    insta::assert_snapshot!(run.waiting().join("\n"), @r"
    #2 call text.upper s2c: the calling connection announced the namespace itself; a runtime reads its answer after 30 s
    #3 call math.add c2s
    #4 stream math.add s2c: it was acknowledged by a runtime, which forwards no items
    #6 channel math.add s2c: closed by one side only
    #8 channel math.add c2s: closed by one side only
    #10 stream math.add s2c
    ");
}

/// An id that a runtime refuses does not hide that the arguments do not fit.
#[test]
fn arguments_are_checked_whatever_the_id_is() {
    let mut run = start(10);
    let argument = json!({"name": "a", "type": {"kind": "primitive", "type": "i64"}});
    let schema = json!({"version": 1, "namespaces": {"math": {"functions": {"add": {
        "args": [argument], "returns": {"kind": "primitive", "type": "i64"},
        "visibility": "public", "capabilities": []}}}}, "types": {}});
    let mut announce = ask("announce", 1);
    announce["target"] = json!("$saikuro.announce");
    announce["args"] = json!([schema]);
    run.send(0, TO_SERVER, &announce);
    for id in [&b"0123456789abcdef"[..], &[0xff; 16]] {
        let member = |name: &str, value: rmpv::Value| (name.into(), value);
        let call = rmpv::Value::Map(vec![
            member("version", 1.into()),
            member("type", "call".into()),
            member("id", rmpv::Value::Binary(id.to_vec())),
            member("target", "math.add".into()),
            member("args", rmpv::Value::Array(vec!["two".into()])),
        ]);
        let mut body = Vec::new();
        rmpv::encode::write_value(&mut body, &call).expect("writing to memory");
        let length = (body.len() as u32).to_be_bytes();
        run.push(on(1, TO_SERVER), [&length[..], &body].concat());
    }
    assert_eq!(
        run.broken(),
        [("ambiguous-id", 1), ("args-unfit", 1), ("args-unfit", 2)]
    );
}

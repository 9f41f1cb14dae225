//! What no fixture can show: bounds, many connections, unknown directions, lost bytes, who waits for whom.

use super::*;
use crate::encoding::{Parsed, Want};
use crate::framing::{Framer, Framing, LengthMode, Limits, Step};
use crate::protocol::saikuro::Saikuro;
use crate::protocol::{Context, Protocol};
use serde_json::{Value, json};

const TO_SERVER: Option<Direction> = Some(Direction::ToServer);
const TO_CLIENT: Option<Direction> = Some(Direction::ToClient);

/// A conversation, and what was said of it.
struct Talk {
    conduct: Conduct,
    report: Report,
    index: u64,
    found: Vec<String>,
    answers: Vec<(u64, u64, bool)>,
}

impl Talk {
    fn new(most_open: usize) -> Self {
        let config = SessionConfig {
            most_open,
            ..SessionConfig::default()
        };
        Self {
            conduct: Conduct::new(&config),
            report: Report::default(),
            index: 0,
            found: Vec::new(),
            answers: Vec::new(),
        }
    }

    fn bytes(&mut self, conn: u32, direction: Option<Direction>, bytes: &[u8]) {
        let limits = Limits::default();
        let mut framer = Framer::new(
            Framing::Prefix,
            limits,
            Saikuro.descriptor().hints,
            LengthMode::Auto,
            true,
        );
        let Step::Frame(frame, _) = framer.next(bytes, 0, true) else {
            panic!("no frame: {bytes:02x?}");
        };
        let mut parsed = Parsed::new(Want::Places, limits.depth);
        let message = Saikuro.read(
            &frame,
            &Context {
                direction,
                ..Context::default()
            },
            &mut parsed,
        );
        let seen = Seen {
            index: self.index,
            origin: Origin {
                conn: Some(conn),
                direction,
                time: None,
            },
            frame: &frame,
            message: &message,
        };
        self.report.clear();
        self.conduct.message(&seen, &mut self.report);
        self.index += 1;
        self.note();
    }

    fn say(&mut self, conn: u32, direction: Option<Direction>, message: &Value) -> &mut Self {
        let body = rmp_serde::to_vec_named(message).expect("MessagePack");
        let mut bytes = (body.len() as u32).to_be_bytes().to_vec();
        bytes.extend(body);
        self.bytes(conn, direction, &bytes);
        self
    }

    fn happened(&mut self, conn: u32, direction: Option<Direction>, what: Happened) {
        let origin = Origin {
            conn: Some(conn),
            direction,
            time: None,
        };
        self.report.clear();
        self.conduct.happened(origin, what, &mut self.report);
        self.note();
    }

    fn finish(&mut self) {
        self.report.clear();
        self.conduct.finish(&mut self.report);
        self.note();
    }

    fn note(&mut self) {
        let broken = self.report.broken.iter();
        self.found
            .extend(broken.map(|b| format!("#{} {}", b.place.index, b.rule)));
        if let Some(answer) = &self.report.answer {
            let by = self.index.saturating_sub(1);
            self.answers.push((by, answer.to, answer.last));
        }
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
fn one_id_is_several_on_several_connections_and_ways() {
    let mut talk = Talk::new(16);
    talk.say(0, TO_SERVER, &ask("call", 1))
        .say(1, TO_SERVER, &ask("call", 1))
        // A runtime hands a call on under its id, here to the very connection that it came from.
        .say(0, TO_CLIENT, &ask("call", 1))
        .say(0, TO_SERVER, &ok(1))
        .say(1, TO_CLIENT, &ok(1))
        .say(0, TO_CLIENT, &ok(1));
    assert_eq!(talk.answers, [(3, 2, true), (4, 1, true), (5, 0, true)]);
    talk.finish();
    assert_eq!(talk.found, [""; 0]);
}

#[test]
fn forms_of_an_id_are_one() {
    let mut talk = Talk::new(16);
    let bytes: Vec<u8> = (0xa0..0xb0).collect();
    let mut call = ask("call", 1);
    call["id"] = json!(bytes);
    talk.say(0, TO_SERVER, &call);
    let mut answer = ok(1);
    answer["id"] = json!("{A0A1A2A3-A4A5-A6A7-A8A9-AAABACADAEAF}");
    talk.say(0, TO_CLIENT, &answer);
    assert_eq!(talk.answers, [(1, 0, true)]);
    assert_eq!(talk.found, [""; 0]);
}

#[test]
fn without_directions_roles_tell() {
    let mut talk = Talk::new(16);
    talk.say(0, None, &ask("call", 1))
        .say(0, None, &ok(1))
        .say(0, None, &ask("stream", 2))
        .say(0, None, &item(2, 0))
        .say(0, None, &item(2, 2))
        .say(0, None, &ask("channel", 3))
        .say(0, None, &json!({"id": id(3), "seq": 0, "data": 1}))
        .say(0, None, &json!({"id": id(3), "seq": 0, "data": 1}))
        .say(0, None, &close(3))
        .say(0, None, &close(3));
    assert_eq!(talk.found, ["#4 seq-gap"]);
    assert_eq!(talk.answers.len(), 7);
}

#[test]
fn ok_that_is_no_bool_is_named() {
    let mut talk = Talk::new(9);
    talk.say(0, TO_SERVER, &ask("call", 1)).say(
        0,
        TO_CLIENT,
        &json!({"id": id(1), "ok": "true", "result": 1}),
    );
    assert_eq!(talk.found, ["#1 bad-field"]);
}

/// Each side ends its own direction: neither the other's abort nor what is under way comes after an end.
#[test]
fn an_abort_is_answered_by_an_abort() {
    let follow = |way: Option<Direction>| {
        let mut talk = Talk::new(9);
        talk.say(0, TO_SERVER, &ask("channel", 1));
        let item = json!({"version": 1, "type": "channel", "id": id(1), "target": "", "args": [1], "seq": 0});
        let mut abort = item.clone();
        abort["stream_control"] = "abort".into();
        talk.say(0, TO_SERVER, &abort);
        talk.say(0, way, &self::item(1, 0));
        let end = json!({"id": id(1), "ok": false, "seq": 1, "stream_control": "abort"});
        talk.say(0, way, &end).say(0, way, &end);
        talk.found
    };
    // Only what comes after both aborts does.
    assert_eq!(follow(TO_CLIENT), ["#4 after-end"]);
}

#[test]
fn tables_are_bounded() {
    let mut talk = Talk::new(4);
    for n in 0..10 {
        talk.say(0, TO_SERVER, &ask("call", n));
    }
    assert_eq!(talk.conduct.refused(), 6);
    assert_eq!(talk.conduct.waiting().len(), 4);
    talk.say(0, TO_CLIENT, &ok(9));
    assert_eq!(talk.found, [""; 0], "what was not followed is not judged");
    let mut talk = Talk::new(4);
    for n in 0..10_000 {
        talk.say(0, TO_SERVER, &ask("call", n))
            .say(0, TO_CLIENT, &ok(n))
            .say(0, TO_SERVER, &ask("cast", n + 20_000));
    }
    assert_eq!(talk.conduct.refused(), 0);
    assert!(talk.conduct.open.is_empty());
    assert!(talk.conduct.ended.len() <= 4096);
    let side = talk.conduct.side(Some(0), TO_SERVER);
    assert!(side.order.is_empty());
}

#[test]
fn streams_whose_beginning_was_not_seen_are_counted_too() {
    let mut talk = Talk::new(16);
    talk.say(0, TO_CLIENT, &item(1, 7))
        .say(0, TO_CLIENT, &item(1, 8))
        .say(0, TO_CLIENT, &item(1, 10));
    assert_eq!(talk.found, ["#0 unknown-id", "#2 seq-gap"]);
    assert!(talk.conduct.waiting().is_empty());
    talk.finish();
    assert_eq!(talk.found.len(), 2);
    assert_eq!(talk.conduct.orphans, 0);
}

#[test]
fn lost_bytes_are_held_against_nobody() {
    let mut talk = Talk::new(16);
    talk.say(0, TO_SERVER, &ask("stream", 1))
        .say(0, TO_SERVER, &ask("call", 2))
        .say(0, TO_CLIENT, &item(1, 0));
    talk.happened(0, None, Happened::Lost);
    talk.say(0, TO_CLIENT, &item(1, 5))
        .say(0, TO_CLIENT, &ok(3))
        .say(0, TO_CLIENT, &item(1, 7));
    talk.happened(0, None, Happened::Closed);
    assert_eq!(talk.found, ["#5 seq-gap"]);
}

#[test]
fn half_read_messages_make_no_noise() {
    let mut talk = Talk::new(16);
    talk.say(0, TO_SERVER, &ask("call", 1));
    let mut answer = rmp_serde::to_vec_named(&ok(1)).expect("MessagePack");
    *answer.last_mut().expect("a byte") = 0xc1;
    let mut bytes = (answer.len() as u32).to_be_bytes().to_vec();
    bytes.extend(&answer);
    talk.bytes(0, TO_CLIENT, &bytes);
    talk.bytes(0, TO_SERVER, b"\0\0\0\x01\xc1");
    talk.bytes(0, TO_SERVER, b"\0\0\0\x05\x81");
    talk.finish();
    assert_eq!(talk.found, [""; 0]);
}

#[test]
fn a_connection_that_ended_both_ways_is_over() {
    let mut talk = Talk::new(16);
    talk.say(0, TO_SERVER, &ask("call", 1));
    talk.happened(0, TO_SERVER, Happened::Ended);
    assert_eq!(talk.found, [""; 0]);
    talk.happened(0, TO_CLIENT, Happened::Ended);
    assert_eq!(talk.found, ["#0 unanswered"]);
    talk.happened(0, None, Happened::Closed);
    talk.finish();
    assert_eq!(talk.found.len(), 1);
}

#[test]
fn a_refusal_under_a_random_id_answers_what_it_means() {
    let mut talk = Talk::new(16);
    let mut bad = ask("call", 2);
    bad["id"] = json!("req-2");
    let error = json!({"code": "MalformedEnvelope", "message": "no"});
    let refusal = json!({"id": id(9), "ok": false, "error": error});
    talk.say(0, TO_SERVER, &ask("call", 1))
        .say(0, TO_SERVER, &bad)
        .say(0, TO_CLIENT, &ok(1))
        .say(0, TO_CLIENT, &refusal);
    assert_eq!(talk.answers, [(2, 0, true), (3, 1, true)]);
    assert!(talk.conduct.waiting().is_empty());
    let want = ["#1 bad-id", "#3 peers-error-code", "#3 random-id"];
    assert_eq!(talk.found, want);
}

#[test]
fn who_waits_for_whom() {
    let mut talk = Talk::new(16);
    let schema = json!({"version": 1, "namespaces": {"text": {}}, "types": {}});
    let mut announce = ask("announce", 1);
    announce["args"] = json!([schema]);
    let mut own = ask("call", 2);
    own["target"] = json!("text.upper");
    talk.say(0, TO_SERVER, &announce)
        .say(0, TO_CLIENT, &json!({"id": id(1), "ok": true}))
        .say(0, TO_SERVER, &own)
        .say(0, TO_CLIENT, &ask("call", 3))
        .say(0, TO_SERVER, &ask("stream", 4))
        .say(0, TO_CLIENT, &json!({"id": id(4), "ok": true}))
        .say(0, TO_SERVER, &ask("channel", 5))
        .say(0, TO_SERVER, &close(5))
        .say(0, TO_SERVER, &ask("channel", 6))
        .say(0, TO_CLIENT, &close(6))
        .say(0, TO_SERVER, &ask("stream", 7));
    let waiting = talk.conduct.waiting();
    let lines: Vec<String> = waiting
        .iter()
        .map(|w| {
            let owes = w.owes.map_or("?", Direction::name);
            let why = w.why.as_deref().unwrap_or("-");
            format!("#{} {} {owes}: {why}", w.place.index, w.what)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    #2 call text.upper s2c: the connection that asks announced the namespace itself; a runtime reads its answer after 30 s
    #3 call math.add c2s: -
    #4 stream math.add s2c: it was acknowledged by a runtime, which hands on no items
    #6 channel math.add s2c: closed by one side only
    #8 channel math.add c2s: closed by one side only
    #10 stream math.add s2c: -
    ");
}

//! Heartbeats that sides send and answer.

use super::described;
use super::rules::check;
use crate::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use crate::protocol::Direction;
use crate::protocol::described::Described;
use crate::protocol::peer::{Outgoing, PeerConfig};
use crate::protocol::session::{Behavior, Seen};

pub(super) const BEATING: &str = r#"
name = "beats"
framings = ["lines"]
[[message]]
when = ".op=ping"
role = "heartbeat"
id = ".n"
[[message]]
when = ".op=pong"
role = "heartbeat"
id = ".of"
[[message]]
when = ".do"
role = "request"
id = ".do"
[heartbeat]
send = '{"op":"ping","n":0}'
every = "30s"
answer = '{"op":"pong"}'
"#;

const SECOND: i64 = 1_000_000_000;

fn messages(outgoing: &[Outgoing]) -> Vec<&str> {
    outgoing.iter().map(|one| one.message.as_str()).collect()
}

#[test]
fn heartbeats_are_sent_at_their_interval() {
    let c2s = described(BEATING);
    let s2c = described(&BEATING.replace("every", "direction = \"s2c\"\nevery"));
    for (beats, side, is_sender) in [
        (&c2s, Direction::ToServer, true),
        (&c2s, Direction::ToClient, false),
        (&s2c, Direction::ToClient, true),
        (&s2c, Direction::ToServer, false),
    ] {
        let mut peer = beats.peer(side, &PeerConfig::default());
        let mut outgoing = Vec::new();
        peer.opened(7, 5 * SECOND, &mut outgoing);
        assert_eq!(peer.due(), is_sender.then_some(35 * SECOND), "{side:?}");
        peer.tick(34 * SECOND, &mut outgoing);
        assert!(outgoing.is_empty());
        peer.tick(35 * SECOND, &mut outgoing);
        peer.tick(35 * SECOND, &mut outgoing);
        peer.tick(66 * SECOND, &mut outgoing);
        let want = [r#"{"op":"ping","n":1}"#, r#"{"op":"ping","n":2}"#];
        assert_eq!(
            messages(&outgoing),
            &want[..if is_sender { 2 } else { 0 }],
            "{side:?}"
        );
        peer.closed(7, 70 * SECOND);
        assert_eq!(peer.due(), None);
    }
}

/// Returns what a side sends when it receives a line.
fn answers(beats: &Described, side: Direction, line: &str) -> Vec<String> {
    let mut peer = beats.peer(side, &PeerConfig::default());
    let mut outgoing = Vec::new();
    let mut decoder = Decoder::new(DecodeOptions::new(vec![beats]));
    let origin = Origin {
        conn: Some(7),
        direction: Some(side.other()),
        ..Origin::default()
    };
    let mut tell = |decoded: &Decoded<'_>| {
        let seen = Seen {
            index: decoded.index,
            origin,
            frame: decoded.frame,
            message: decoded.message,
        };
        peer.received(&seen, 0, &mut outgoing);
    };
    decoder.push(origin, format!("{line}\n").as_bytes(), &mut tell);
    decoder.finish(&mut tell);
    messages(&outgoing).into_iter().map(str::to_owned).collect()
}

#[test]
fn heartbeats_are_answered() {
    let beats = described(BEATING);
    for side in [Direction::ToServer, Direction::ToClient] {
        for (line, want) in [
            (r#"{"op":"ping","n":41}"#, &[r#"{"op":"pong","of":41}"#][..]),
            (r#"{"op":"ping"}"#, &[r#"{"op":"pong"}"#]),
            (r#"{"op":"pong","of":41}"#, &[]),
            (r#"{"do":1}"#, &[]),
        ] {
            assert_eq!(answers(&beats, side, line), want, "{side:?} {line}");
        }
    }
    let silent = described(&BEATING.replace("answer = '{\"op\":\"pong\"}'\n", ""));
    assert!(answers(&silent, Direction::ToClient, r#"{"op":"ping"}"#).is_empty());
}

#[test]
fn heartbeats_are_in_no_pair() {
    let lines = [
        r#">{"op":"ping","n":1}"#,
        r#">{"op":"ping","n":1}"#,
        r#"<{"op":"pong","of":2}"#,
    ];
    assert_eq!(check(&described(BEATING), &lines), Vec::<String>::new());
}

#[test]
fn wrong_heartbeats_have_places() {
    for (from, to, want) in [
        (
            "every = \"30s\"\n",
            "",
            "16:1: heartbeat: wanted send and every",
        ),
        (
            "\"30s\"",
            "\"1ms\"",
            "18:9: every: wanted a time of at least 10ms, such as 30s, got \"1ms\"",
        ),
        (
            "\"30s\"",
            "30",
            "18:9: every: wanted a time of at least 10ms, such as 30s, got 30",
        ),
        (
            r#"'{"op":"ping","n":0}'"#,
            r#"'{"do":1}'"#,
            "17:8: send: wanted a message that a [[message]] with the role heartbeat matches, got '{\"do\":1}'",
        ),
        (
            r#"'{"op":"pong"}'"#,
            r#"'{"op":"ping"}'"#,
            "19:10: answer: wanted a message of another kind than send, got '{\"op\":\"ping\"}'",
        ),
        (
            "answer",
            "reply",
            "19:1: unknown key reply: there are send, every, direction, answer",
        ),
        (
            "every",
            "direction = \"up\"\nevery",
            "18:13: direction: wanted c2s or s2c, got \"up\"",
        ),
    ] {
        assert!(BEATING.contains(from), "{from}");
        let error = Described::from_toml(&BEATING.replacen(from, to, 1)).unwrap_err();
        let errors: Vec<_> = error
            .errors()
            .map(|(line, column, text)| format!("{line}:{column}: {text}"))
            .collect();
        assert_eq!(errors, [want], "{from} -> {to}");
    }
}

//! Answers that come late, or with another form of id.

use super::recorded_peer::{TestPeer, plan, play, settings};

const HEAD: &str = "{\"wiretool\":1,\"protocol\":\"jsonrpc\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"stdio\"}\n";

fn chunk(dir: &str, text: &str) -> String {
    let text = serde_json::to_string(&format!("{text}\n")).unwrap();
    format!("{{\"t\":1,\"conn\":1,\"dir\":\"{dir}\",\"text\":{text}}}\n")
}

/// A peer that answers `waits` only after the end of the client's direction, with the text of its id and this suffix.
struct Answers {
    suffix: &'static str,
    waits: bool,
    held: Vec<u8>,
}

impl TestPeer for Answers {
    fn receive(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut now = Vec::new();
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            let text = std::str::from_utf8(line).unwrap();
            let (_, id) = text.split_once("\"id\":").unwrap();
            let id = id.split([',', '}']).next().unwrap();
            let suffix = self.suffix;
            let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}{suffix},\"result\":1}}\n");
            let held = self.waits && text.contains("waits");
            let to = if held { &mut self.held } else { &mut now };
            to.extend_from_slice(answer.as_bytes());
        }
        vec![(conn, now)]
    }

    fn finished(&mut self, conn: u32) -> Vec<(u32, Vec<u8>)> {
        vec![(conn, std::mem::take(&mut self.held))]
    }
}

#[test]
fn the_own_direction_ends_before_the_answers_that_followed_its_end() {
    let eof = "{\"t\":1,\"conn\":1,\"event\":\"eof\",\"dir\":\"c2s\"}\n";
    let asked = |id: u32, method: &str| {
        chunk(
            "c2s",
            &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"}}"),
        )
    };
    let answered = |id: u32| {
        chunk(
            "s2c",
            &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":1}}"),
        )
    };
    let first = [
        HEAD.into(),
        asked(1, "waits"),
        asked(2, "at-once"),
        answered(2),
    ]
    .concat();
    for (rest, waits, is_clean) in [
        ([eof.into(), answered(1)].concat(), true, true),
        ([eof.into(), answered(1)].concat(), false, true),
        // Before the end, an answer is still awaited.
        ([answered(1), eof.into()].concat(), true, false),
        ([answered(1), eof.into()].concat(), false, true),
    ] {
        let recording = [first.clone(), rest].concat();
        let plan = plan(recording.as_bytes());
        let mut peer = Answers {
            suffix: "",
            waits,
            held: Vec::new(),
        };
        let run = play(&plan, &settings(plan.protocol), &mut peer);
        assert_eq!(
            run.outcome.is_clean(),
            is_clean,
            "{recording}{:?}",
            run.reported
        );
    }
}

#[test]
fn an_answer_with_another_form_of_id_differs() {
    for (id, suffix, differ) in [
        ("3", "", 0),
        ("3", ".0", 1),
        ("3.0", "", 0),
        ("3e0", "", 0),
        ("\"3\"", "", 0),
    ] {
        let recording = [
            HEAD.into(),
            chunk(
                "c2s",
                &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"a\"}}"),
            ),
            chunk(
                "s2c",
                &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":1}}"),
            ),
        ];
        let recording = recording.concat();
        let plan = plan(recording.as_bytes());
        let mut peer = Answers {
            suffix,
            waits: false,
            held: Vec::new(),
        };
        let run = play(&plan, &settings(plan.protocol), &mut peer);
        assert_eq!(run.outcome.differ, differ, "{id}: {:?}", run.reported);
        assert!(!run.outcome.hangs);
    }
}

//! A sixth protocol, outside of the crate: a crate that uses the library implements its own protocol, so that its
//! messages are decoded, shown, encoded, linted, compared and sent. `tests/sixth_cli.rs` runs commands with it.

#[path = "sixth/quiz.rs"]
mod quiz;

use quiz::{LENGTH_FIELD, LengthField, Quiz};
use std::sync::LazyLock;
use wiretool::conversation::{Conversation, Judge, RuleSettings, Verdict, check};
use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use wiretool::diff::{Diff, DiffSide, Difference, Ignore};
use wiretool::encode::{self, Encoder};
use wiretool::error::Refusal;
use wiretool::framing::Framing;
use wiretool::protocol::make::{IdGen, Words};
use wiretool::protocol::peer::{PeerConfig, PeerReply, Request, with_json};
use wiretool::protocol::session::{Behavior, SessionConfig};
use wiretool::protocol::{Direction, Notes, Protocol};
use wiretool::render::{DisplayOptions, json, line, tree};

static QUIZ: LazyLock<Quiz> = LazyLock::new(Quiz::default);
static QUIZ_PROTOCOL: LazyLock<&dyn Protocol> = LazyLock::new(|| &*QUIZ);

const SESSION: [(Direction, &str); 3] = [
    (Direction::ToServer, "{\"ask\":1,\"about\":\"time\"}\n"),
    (Direction::ToClient, "{\"answer\":1,\"is\":\"noon\"}\n"),
    (Direction::ToClient, "{\"answer\":2,\"is\":\"blue\"}\n"),
];

/// Decodes the messages of a connection.
fn decode(talk: &[(Direction, &str)], tell: &mut dyn FnMut(&Decoded<'_>)) {
    let mut decoder = Decoder::new(DecodeOptions::new(vec![&*QUIZ]));
    for (direction, text) in talk {
        let origin = Origin {
            direction: Some(*direction),
            ..Origin::default()
        };
        decoder.push(origin, text.as_bytes(), tell);
    }
    decoder.finish(tell);
}

#[test]
fn quiz_is_decoded_and_shown() {
    let (mut lines, mut trees, mut jsons) = (String::new(), String::new(), Vec::new());
    decode(&SESSION[..2], &mut |decoded| {
        line::write(decoded, None, DisplayOptions::default(), &mut lines);
        let notes = &mut Notes::default();
        tree::write(decoded, None, DisplayOptions::default(), notes, &mut trees);
        json::write(decoded, None, DisplayOptions::default(), &mut jsons);
    });
    insta::assert_snapshot!(lines, @"
   #0        0 → ask    time                 1
   #1        0 ← answer                      1
    ");
    insta::assert_snapshot!(trees, @r#"
    #0 → ask time  id 1  (quiz, lines, request, 24 bytes at 0)
       0..24  {2}
       7..8     ask  1
      17..23    about  "time"
    #1 ← answer  id 1  (quiz, lines, response, 24 bytes at 0)
       0..24  {2}
      10..11    answer  1
      17..23    is  "noon"  = 12:00
    "#);
    insta::assert_snapshot!(String::from_utf8(jsons).unwrap(), @r#"
    {"v":1,"index":0,"dir":"c2s","offset":0,"len":24,"body_offset":0,"body_len":24,"framing":"lines","protocol":"quiz","kind":"ask","role":"request","id":1,"subject":"time","message":{"ask":1,"about":"time"}}
    {"v":1,"index":1,"dir":"s2c","offset":0,"len":24,"body_offset":0,"body_len":24,"framing":"lines","protocol":"quiz","kind":"answer","role":"response","id":1,"message":{"answer":1,"is":"noon"}}
    "#);
}

#[test]
fn quiz_is_detected_among_all_protocols() {
    let mut protocols = wiretool::protocol::registry::all().to_vec();
    protocols.push(&*QUIZ);
    let mut decoder = Decoder::new(DecodeOptions::new(protocols));
    let mut found = Vec::new();
    let mut tell = |decoded: &Decoded<'_>| found.push(decoded.protocol.name().to_owned());
    for (_, text) in &SESSION[..2] {
        decoder.push(Origin::default(), text.as_bytes(), &mut tell);
    }
    decoder.finish(&mut tell);
    assert_eq!(found, ["quiz", "quiz"]);
}

/// A protocol whose peers write a mark, reserved bytes up to the length at `offset`, and reserved bytes up to the body.
fn quiz(mark: &str, offset: usize, width: usize, header: usize) -> Quiz {
    let mark = mark.as_bytes().to_vec();
    let length = LengthField {
        mark,
        offset,
        width,
        header,
    };
    Quiz::new("quiz", length)
}

/// Decodes bytes in pieces of a size: the framing, the fault and the body of each frame.
fn frames_of(decoder: &mut Decoder<'_>, stream: &[u8], size: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut tell = |decoded: &Decoded<'_>| {
        let frame = decoded.frame;
        let (framing, body) = (frame.framing.name(), frame.view.body().escape_ascii());
        let fault = frame.fault.as_ref().map_or("", |fault| fault.error.code);
        let control = frame.control.unwrap_or_default();
        found.push(format!("{framing} {body} {fault}{control}"));
    };
    for piece in stream.chunks(size) {
        decoder.push(Origin::default(), piece, &mut tell);
    }
    decoder.finish(&mut tell);
    found
}

#[test]
fn own_framing_is_detected_in_any_split_and_with_any_parameters() {
    let bodies = [r#"{"ask":1,"about":"time"}"#, r#"{"answer":1,"is":"noon"}"#];
    for (quiz, head) in [
        (Quiz::default(), &b"Q\0\0\x18"[..]),
        (quiz("", 0, 1, 1), b"\x18"),
        (quiz("quiz", 6, 4, 12), b"quiz\0\0\0\0\0\x18\0\0"),
    ] {
        let stream = bodies.map(|body| [head, body.as_bytes()].concat()).concat();
        for size in 1..=stream.len() {
            let mut decoder = Decoder::new(DecodeOptions::new(vec![&quiz]));
            let found = frames_of(&mut decoder, &stream, size);
            let want = bodies.map(|body| format!("quiz-length {} ", body.escape_default()));
            assert_eq!(found, want, "{:?} in pieces of {size}", quiz.length);
        }
    }
}

#[test]
fn own_framing_continues_after_bytes_that_are_no_frame() {
    let stream = b"Q\0\0\x18{\"ask\":1,\"about\":\"time\"}what is this\0Q\0\0\x18{\"answer\":1,\"is\":\"noon\"}";
    for size in 1..=stream.len() {
        let mut options = DecodeOptions::new(vec![&*QUIZ]);
        options.framing = QUIZ_PROTOCOL.framing_named("quiz-length");
        let found = frames_of(&mut Decoder::new(options), stream, size);
        let want = [
            r#"quiz-length {\"ask\":1,\"about\":\"time\"} "#,
            r"quiz-length what is this\x00 bad-length",
            r#"quiz-length {\"answer\":1,\"is\":\"noon\"} "#,
        ];
        assert_eq!(found, want, "in pieces of {size}");
    }
}

#[test]
fn own_framing_continues_after_missing_bytes() {
    let mut options = DecodeOptions::new(vec![&*QUIZ]);
    options.framing = Some(Framing::Custom(LENGTH_FIELD));
    let mut decoder = Decoder::new(options);
    let mut found = Vec::new();
    let mut tell = |decoded: &Decoded<'_>| {
        let frame = decoded.frame;
        let what = frame.fault.as_ref().map(|fault| fault.error.code);
        found.push((frame.offset, what.or(frame.control)));
    };
    let message = b"Q\0\0\x18{\"ask\":1,\"about\":\"time\"}";
    decoder.push(Origin::default(), &message[..10], &mut tell);
    decoder.gap(Origin::default(), 100, &mut tell);
    decoder.push(Origin::default(), b"the end of another one", &mut tell);
    decoder.push(Origin::default(), message, &mut tell);
    decoder.finish(&mut tell);
    assert_eq!(
        found,
        [(0, Some("gap")), (110, Some("skipped")), (132, None)]
    );
}

#[test]
fn own_framing_has_a_name() {
    let framing = QUIZ_PROTOCOL.framing_named("quiz-length");
    assert_eq!(framing, Some(Framing::Custom(LENGTH_FIELD)));
    assert_eq!(QUIZ_PROTOCOL.framing_named("lines"), Some(Framing::Lines));
    assert_eq!(QUIZ_PROTOCOL.framing_named("quiz-lines"), None);
    for wrong in ["", "a name of more than 23 bytes", "a\0b"] {
        assert_eq!(Framing::custom(wrong), None, "{wrong}");
    }
}

#[test]
fn own_framing_is_written() {
    let line = r#"{"v":1,"index":0,"offset":0,"len":46,"framing":"quiz-length","protocol":"quiz","message":{"answer":1,"is":"noon"}}"#;
    let quiz = quiz("Q?", 4, 3, 8);
    let options = encode::EncodeOptions::lines(vec![&quiz]);
    let mut encoder = Encoder::new(options, IdGen::new(1));
    let written = with_json(line, |message| encoder.encode(message)).unwrap();
    let written = written.unwrap().bytes.escape_ascii().to_string();
    let want = r#"Q?\x00\x00\x00\x00\x18\x00{\"answer\":1,\"is\":\"noon\"}"#;
    assert_eq!(written, want);
}

/// Writes one message.
fn encode(text: &str) -> Result<String, Refusal> {
    let options = encode::EncodeOptions::new(&*QUIZ);
    let mut encoder = Encoder::new(options, IdGen::new(1));
    let written = with_json(text, |message| encoder.encode(message)).unwrap()?;
    Ok(String::from_utf8(written.bytes).unwrap())
}

#[test]
fn quiz_is_encoded_and_made() {
    for (_, text) in SESSION {
        assert_eq!(encode(text.trim_end()).unwrap(), text);
    }
    insta::assert_snapshot!(encode(r#"{"ask":-1}"#).unwrap_err().to_string(), @"ask: wanted an integer of 0 or more, got -1");

    let words = ["time".to_owned()];
    let mut words = Words::new(&words, |_| false);
    let made = QUIZ.make("ask", &mut words, &mut IdGen::new(1)).unwrap();
    assert_eq!(made.message, r#"{"ask":0,"about":"time"}"#);
}

#[test]
fn quiz_rules_give_findings() {
    let mut conversation =
        Conversation::new(&[&*QUIZ], &Judge::default(), SessionConfig::default());
    let mut reported = Vec::new();
    decode(&SESSION, &mut |decoded| {
        let findings = conversation.see(decoded).findings;
        reported.extend(findings.iter().map(|f| format!("{}: {}", f.name(), f.text)));
    });
    assert_eq!(reported, ["quiz/unasked: 2 was not asked"]);
}

/// An answer without a question.
const RECORDING: &str = r#"{"wiretool":1}
{"conn":1,"dir":"s2c","text":"{\"answer\":2,\"is\":\"blue\"}\n"}
"#;

/// The names of a protocol can be read from a file: nothing of it must stay in memory, and what a run gave remains.
#[test]
fn protocol_of_run_time_is_used_and_dropped() {
    for name in ["quiz", "exam"].map(|word| format!("{word}-{}", std::process::id())) {
        let quiz = Quiz::new(&name, Quiz::default().length);
        let protocols: Vec<&dyn Protocol> = vec![&quiz];
        let mut decoder = Decoder::new(DecodeOptions::new(protocols.clone()));
        let mut conversation =
            Conversation::new(&protocols, &Judge::default(), SessionConfig::default());
        let (mut kept, mut found, mut sides) = (
            Vec::new(),
            Vec::new(),
            [(); 2].map(|()| DiffSide::default()),
        );
        for (direction, text) in SESSION {
            let origin = Origin {
                direction: Some(direction),
                ..Origin::default()
            };
            decoder.push(origin, text.as_bytes(), &mut |decoded| {
                let verdict = conversation.see(decoded);
                found.extend(verdict.findings.to_vec());
                for side in &mut sides {
                    side.see(decoded, verdict);
                }
                kept.push(decoded.keep());
            });
        }
        let ignore = Ignore::new(quiz.marks().generated.iter().map(|one| &*one.path));
        let mut differences = 0;
        Diff::new(&quiz, &ignore, &sides[0], &sides[1], 128).run(&mut |_| differences += 1);
        let options = encode::EncodeOptions::new(&quiz);
        let mut encoder = Encoder::new(options, IdGen::new(1));
        let written = with_json(SESSION[0].1.trim(), |ask| encoder.encode(ask)).unwrap();
        assert_eq!(written.unwrap().bytes, SESSION[0].1.as_bytes());
        let mut checked = check(
            RECORDING.as_bytes(),
            DecodeOptions::new(protocols),
            RuleSettings::default(),
        );
        drop((decoder, conversation, encoder));
        drop(quiz);

        assert_eq!(differences, 0);
        let kinds: Vec<_> = kept
            .iter()
            .map(|kept| kept.message().kind.into_owned())
            .collect();
        assert_eq!(kinds, ["ask", "answer", "answer"]);
        assert!(kept.iter().all(|kept| kept.protocol == name));
        found.append(&mut checked);
        let found: Vec<_> = found.iter().map(|f| (f.name(), &*f.rule.clause)).collect();
        let unasked = (
            format!("{name}/unasked"),
            &*format!("the rules of {name}, section 1"),
        );
        assert_eq!(found, [unasked.clone(), unasked]);
    }
}

#[test]
fn quiz_pairs_answers_and_checks_members() {
    let mut conversation =
        Conversation::new(&[&*QUIZ], &Judge::default(), SessionConfig::default());
    let mut pairs = Vec::new();
    let talk = [
        SESSION[0],
        (Direction::ToClient, "{\"answer\":1,\"is\":7}\n"),
    ];
    decode(&talk, &mut |decoded| {
        let verdict = conversation.see(decoded);
        let found: Vec<_> = verdict.findings.iter().map(|f| f.text.clone()).collect();
        pairs.push((verdict.answer.map(|answer| answer.to), found.join("; ")));
    });
    let wrong = "is of the message is 7; it should be a string".to_owned();
    assert_eq!(pairs, [(None, String::new()), (Some(0), wrong)]);
}

#[test]
fn quiz_recordings_are_compared() {
    let side = |talk: &[(Direction, &str)]| {
        let mut side = DiffSide::default();
        decode(talk, &mut |decoded| {
            side.see(decoded, Verdict::default());
        });
        side
    };
    let (left, right) = (side(&SESSION[..2]), side(&[SESSION[0], SESSION[2]]));
    let ignore = Ignore::new(QUIZ.marks().generated.iter().map(|one| one.path.as_ref()));
    let mut reported = Vec::new();
    Diff::new(&*QUIZ, &ignore, &left, &right, 128).run(&mut |difference| {
        if let Difference::Fields(_, _, fields) = difference {
            reported.extend(fields.into_iter().map(|field| field.path));
        }
    });
    assert_eq!(reported, ["is"]);
}

#[test]
fn quiz_is_sent_and_answered() {
    let mut master = QUIZ.peer(Direction::ToClient, &PeerConfig::default());
    let mut output = Vec::new();
    decode(&SESSION[..1], &mut |decoded| {
        let request = Request::of(&decoded.seen());
        output.push(
            master
                .encode_reply(&request, PeerReply::Result("\"noon\""), 0)
                .unwrap()
                .message,
        );
    });
    assert_eq!(output, [r#"{"answer":1,"is":"noon"}"#]);
}

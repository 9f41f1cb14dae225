//! A sixth protocol, outside of the crate: a crate that uses the library implements its own protocol, so that its
//! messages are decoded, shown, encoded, linted, compared and sent. `tests/sixth_cli.rs` runs commands with it.

#[path = "sixth/quiz.rs"]
mod quiz;

use quiz::Quiz;
use wiretool::conversation::{Conversation, Judge, Verdict};
use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use wiretool::diff::{Diff, DiffSide, Difference, Ignore};
use wiretool::encode::{self, Encoder};
use wiretool::error::Refusal;
use wiretool::protocol::make::{IdGen, Words};
use wiretool::protocol::peer::{PeerConfig, PeerReply, Request, with_json};
use wiretool::protocol::session::{Behavior, SessionConfig};
use wiretool::protocol::{Direction, Notes, Protocol};
use wiretool::render::{DisplayOptions, json, line, tree};

const SESSION: [(Direction, &str); 3] = [
    (Direction::ToServer, "{\"ask\":1,\"about\":\"time\"}\n"),
    (Direction::ToClient, "{\"answer\":1,\"is\":\"noon\"}\n"),
    (Direction::ToClient, "{\"answer\":2,\"is\":\"blue\"}\n"),
];

/// Decodes the messages of a connection.
fn decode(talk: &[(Direction, &str)], tell: &mut dyn FnMut(&Decoded<'_>)) {
    let mut decoder = Decoder::new(DecodeOptions::new(vec![&Quiz]));
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
    protocols.push(&Quiz);
    let mut decoder = Decoder::new(DecodeOptions::new(protocols));
    let mut found = Vec::new();
    let mut tell = |decoded: &Decoded<'_>| found.push(decoded.protocol.name());
    for (_, text) in &SESSION[..2] {
        decoder.push(Origin::default(), text.as_bytes(), &mut tell);
    }
    decoder.finish(&mut tell);
    assert_eq!(found, ["quiz", "quiz"]);
}

#[test]
fn own_framing_is_detected_in_any_split() {
    let texts = [SESSION[0].1.trim_end(), SESSION[1].1.trim_end()];
    let stream = texts.map(|text| format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    let stream = stream.concat().into_bytes();
    for size in 1..=stream.len() {
        let mut decoder = Decoder::new(DecodeOptions::new(vec![&Quiz]));
        let mut found = Vec::new();
        let mut tell = |decoded: &Decoded<'_>| {
            let framing = decoded.frame.framing.name();
            found.push((framing, decoded.frame.view.body().to_vec()));
        };
        for piece in stream.chunks(size) {
            decoder.push(Origin::default(), piece, &mut tell);
        }
        decoder.finish(&mut tell);
        let want = texts.map(|text| ("quiz-length", text.as_bytes().to_vec()));
        assert_eq!(found, want, "in pieces of {size}");
    }
}

#[test]
fn own_framing_is_written() {
    let line = r#"{"v":1,"index":0,"offset":0,"len":46,"framing":"quiz-length","protocol":"quiz","message":{"answer":1,"is":"noon"}}"#;
    let options = encode::EncodeOptions::lines(vec![&Quiz]);
    let mut encoder = Encoder::new(options, IdGen::new(1));
    let written = with_json(line, |message| encoder.encode(message)).unwrap();
    let written = String::from_utf8(written.unwrap().bytes).unwrap();
    assert_eq!(
        written,
        "Content-Length: 24\r\n\r\n{\"answer\":1,\"is\":\"noon\"}"
    );
}

/// Writes one message.
fn encode(text: &str) -> Result<String, Refusal> {
    let options = encode::EncodeOptions::new(&Quiz);
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
    let made = Quiz.make("ask", &mut words, &mut IdGen::new(1)).unwrap();
    assert_eq!(made.message, r#"{"ask":0,"about":"time"}"#);
}

#[test]
fn quiz_rules_give_findings() {
    let mut conversation =
        Conversation::new(&[&Quiz], &Judge::default(), SessionConfig::default(), true);
    let mut reported = Vec::new();
    decode(&SESSION, &mut |decoded| {
        let findings = conversation.see(decoded).findings;
        reported.extend(findings.iter().map(|f| format!("{}: {}", f.name(), f.text)));
    });
    assert_eq!(reported, ["quiz/unasked: 2 was not asked"]);
}

#[test]
fn quiz_pairs_answers_and_checks_members() {
    let mut conversation =
        Conversation::new(&[&Quiz], &Judge::default(), SessionConfig::default(), true);
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
    let ignore = Ignore::new(
        Quiz.descriptor()
            .marks
            .generated
            .iter()
            .map(|one| one.path.as_ref()),
    );
    let mut reported = Vec::new();
    Diff::new(&Quiz, &ignore, &left, &right, 128).run(&mut |difference| {
        if let Difference::Fields(_, _, fields) = difference {
            reported.extend(fields.into_iter().map(|field| field.path));
        }
    });
    assert_eq!(reported, ["is"]);
}

#[test]
fn quiz_is_sent_and_answered() {
    let mut master = Quiz.peer(Direction::ToClient, &PeerConfig::default());
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

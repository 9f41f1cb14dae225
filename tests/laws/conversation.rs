//! Findings and operations of a conversation do not depend on the split of its bytes, and damage never panics.

use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::conversation::{Conversation, Finding, Judge, Verdict};
use wiretool::decoder::{Decoder, Origin};
use wiretool::encoding::Want;
use wiretool::protocol::rules::Severity;
use wiretool::protocol::session::{SessionConfig, Waiting};
use wiretool::protocol::{Protocol, registry};

use crate::common::{Setup, assert_same};

/// The findings of a recording whose chunks are first split by `pieces`.
fn findings_of(
    protocol: &dyn Protocol,
    recording: &str,
    pieces: &mut dyn FnMut(&[u8]) -> Vec<Vec<u8>>,
) -> String {
    let setup = Setup {
        protocol: registry::find(protocol.name()).map(Protocol::name),
        ..Setup::default()
    };
    let options = setup.options(Want::Places);
    let mut decoder = Decoder::new(options.clone());
    let mut conversation = Conversation::new(
        &options.protocols,
        &Judge::default(),
        SessionConfig::default(),
    );
    conversation.follow_operations();
    let mut out = String::new();
    let mut tell = |verdict: Verdict<'_>| {
        for finding in verdict.findings {
            let (name, place) = (finding.name(), finding.place);
            out.push_str(&format!("{name} {place:?} {}\n", finding.text));
        }
        if let Some(answer) = verdict.answer {
            out.push_str(&format!("{answer:?}\n"));
        }
        if let Some(operation) = verdict.operation {
            out.push_str(&format!("{operation:?}\n"));
        }
        for operation in verdict.ended {
            out.push_str(&format!("{operation:?}\n"));
        }
    };
    let mut input = CaptureInput::new(Form::Recording);
    let mut item = |item: Item<'_>| match item {
        Item::Chunk(chunk) => {
            let origin = Origin {
                conn: Some(chunk.conn),
                direction: chunk.direction,
                time: chunk.time.and_then(|t| i64::try_from(t).ok()),
                ..Origin::default()
            };
            for piece in pieces(chunk.bytes) {
                decoder.push(origin, &piece, &mut |decoded| {
                    tell(conversation.see(decoded));
                });
            }
        }
        Item::Event(event) => {
            tell(conversation.event(&event));
        }
        _ => {}
    };
    input.push(recording.as_bytes(), &mut item);
    input.finish(&mut item);
    decoder.finish(&mut |decoded| tell(conversation.see(decoded)));
    tell(conversation.finish());
    for waiting in conversation.waiting() {
        out.push_str(&format!("{waiting:?}\n"));
    }
    out
}

fn examples() -> impl Iterator<Item = (&'static dyn Protocol, String, &'static str)> {
    registry::all().iter().copied().flat_map(|protocol| {
        protocol.behavior().rules().iter().flat_map(move |rule| {
            let name = format!("{}/{}", protocol.name(), rule.name);
            let both = rule.example().map(|e| [e.fires, e.passes]);
            both.into_iter()
                .flatten()
                .map(move |recording| (protocol, name.clone(), recording))
        })
    })
}

#[test]
fn any_split_gives_same_findings() {
    for (protocol, name, recording) in examples() {
        let whole = findings_of(protocol, recording, &mut |bytes| vec![bytes.to_vec()]);
        let split = findings_of(protocol, recording, &mut |bytes| {
            bytes.iter().map(|byte| vec![*byte]).collect()
        });
        assert_same(&whole, &split, || name.clone());
    }
}

#[test]
fn damaged_conversations_do_not_panic() {
    // Every example, each chunk with one changed byte, at a position that moves from example to example.
    for (n, (protocol, _, recording)) in examples().enumerate() {
        for change in 0..6 {
            let mut chunk = 0;
            findings_of(protocol, recording, &mut |bytes| {
                chunk += 1;
                let mut copy = bytes.to_vec();
                let len = copy.len().max(1);
                if let Some(byte) = copy.get_mut((n * 31 + change * 17 + chunk * 7) % len) {
                    *byte = [0x00, 0xff, b'{', *byte ^ 1, *byte ^ 0x80, b'"'][change];
                }
                vec![copy]
            });
        }
    }
}

/// The findings of a recording, and the peers that must send next, before its end is checked.
fn findings_before_end(protocol: &dyn Protocol, recording: &str) -> (Vec<Finding>, Vec<Waiting>) {
    let setup = Setup {
        protocol: registry::find(protocol.name()).map(Protocol::name),
        ..Setup::default()
    };
    let options = setup.options(Want::Places);
    let mut decoder = Decoder::new(options.clone());
    let mut conversation = Conversation::new(
        &options.protocols,
        &Judge::default(),
        SessionConfig::default(),
    );
    let mut found = Vec::new();
    let mut input = CaptureInput::new(Form::Recording);
    let mut item = |item: Item<'_>| match item {
        Item::Chunk(chunk) => {
            let origin = Origin {
                conn: Some(chunk.conn),
                direction: chunk.direction,
                time: chunk.time.and_then(|t| i64::try_from(t).ok()),
                ..Origin::default()
            };
            decoder.push(origin, chunk.bytes, &mut |decoded| {
                found.extend_from_slice(conversation.see(decoded).findings);
            });
        }
        Item::Event(event) => {
            if let Some(origin) = event.end() {
                decoder.end(origin, &mut |decoded| {
                    found.extend_from_slice(conversation.see(decoded).findings);
                });
            }
            found.extend_from_slice(conversation.event(&event).findings);
        }
        _ => {}
    };
    input.push(recording.as_bytes(), &mut item);
    // A last message without an end, such as a line without LF, is part of the recording.
    decoder.finish(&mut |decoded| {
        found.extend_from_slice(conversation.see(decoded).findings);
    });
    let waiting = conversation.waiting();
    found.extend_from_slice(conversation.finish().findings);
    (found, waiting)
}

/// A conversation that is cut after any message and then ends in any way: lint reports the peer that must send next,
/// and the close of the connection.
#[test]
fn every_cut_reports_peer_that_must_send_next() {
    const CLOSED: &str = "the connection is closed";
    let (mut wrong, mut cuts) = (String::new(), 0);
    for (protocol, name, recording) in examples() {
        let lines: Vec<&str> = recording.lines().collect();
        for n in 1..lines.len() {
            let is_chunk = lines[n - 1].contains("\"b64\"") || lines[n - 1].contains("\"text\"");
            let cut = format!("{}\n", lines[..n].join("\n"));
            let ended = ["eof", "close", "reset", "exit", "lost"];
            let is_over = |cut: &str| {
                ended
                    .iter()
                    .any(|e| cut.contains(&format!("\"event\":\"{e}\"")))
            };
            if !is_chunk || is_over(&cut) {
                continue;
            }
            let (found_before, waiting) = findings_before_end(protocol, &cut);
            let Some((first, owes)) = waiting.first().and_then(|w| Some((w, w.owes?))) else {
                continue;
            };
            // A refused oracle that has ended has to send nothing more; most adapters cannot close a channel.
            // A stream without items was reported when it was acknowledged.
            let why = first.why.as_deref().unwrap_or_default();
            let is_sent = why.contains("acknowledged by a runtime");
            // Of two requests with one id, either answer may be missing.
            let has_duplicate = found_before
                .iter()
                .any(|f| f.rule.name == "duplicate-id" && f.text.contains(first.what.as_str()));
            if is_sent
                || has_duplicate
                || first.what.contains("to exit")
                || first.what.starts_with("channel ")
            {
                continue;
            }
            for end in ["eof", "close", "reset"] {
                let conn = first.place.origin.conn.unwrap_or_default();
                let dir = owes.name();
                let event = format!(
                    "{{\"t\":9000000000000,\"conn\":{conn},\"dir\":\"{dir}\",\"event\":\"{end}\"}}\n"
                );
                let (found, after) = findings_before_end(protocol, &format!("{cut}{event}"));
                cuts += 1;
                // An answer that its requester cannot receive has the finding.
                let reported = found.iter().find(|f| {
                    let closed = !f.rule.unanswered || f.text.contains(CLOSED);
                    let is_unread =
                        why.starts_with("its answer") && f.related == Some(first.place.index);
                    f.place.index == first.place.index && closed || is_unread
                });
                let waits = after.iter().any(|w| {
                    let why = w.why.as_deref().unwrap_or_default();
                    w.place.index == first.place.index && why.contains(CLOSED)
                });
                let mild = reported.is_some_and(|f| {
                    f.rule.peers == Severity::Error && f.severity < Severity::Error
                });
                if (reported.is_none() && !waits) || mild {
                    let what = &first.what;
                    let found: Vec<_> = found.iter().map(|f| (f.name(), &f.text)).collect();
                    wrong.push_str(&format!(
                        "{name}, line {n}, {end}: {what} ({why}): {found:?}\n"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(cuts > 500, "{cuts} cuts are few");
}

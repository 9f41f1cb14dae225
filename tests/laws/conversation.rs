//! Findings and operations of a run do not depend on the split of its bytes, and damage never panics.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use std::convert::Infallible;
use std::ops::ControlFlow;
use wiretool::capture::{CaptureInput, Form};
use wiretool::conversation::{Finding, Operation, Output, RuleSettings, Run};
use wiretool::encoding::Want;
use wiretool::protocol::rules::Severity;
use wiretool::protocol::session::Waiting;
use wiretool::protocol::{Protocol, registry};

use crate::common::{Setup, assert_same};

/// A recording that is read to its end.
#[derive(Default)]
struct Told {
    findings: Vec<Finding>,
    operations: Vec<Operation>,
    /// Answers and the operations of messages.
    verdicts: String,
    /// The peers that must send next, before the end is checked.
    waiting: Vec<Waiting>,
}

impl Told {
    fn of(protocol: &dyn Protocol, recording: &str) -> Self {
        let setup = Setup {
            protocol: registry::find(protocol.name()).map(Protocol::name),
            ..Setup::default()
        };
        let rules = RuleSettings {
            operations: true,
            ..RuleSettings::default()
        };
        let input = CaptureInput::new(Form::Recording);
        let mut run = Run::new(input, setup.options(Want::Places), Some(rules));
        let mut told = Self::default();
        let ControlFlow::Continue(()) =
            run.read_all(recording.as_bytes(), &mut |output: Output<'_>| {
                told.take(&output);
                ControlFlow::<Infallible>::Continue(())
            });
        told
    }

    fn take(&mut self, output: &Output<'_>) {
        self.findings.extend_from_slice(output.findings());
        let ended = match output {
            Output::Message(_, Some(verdict)) => {
                self.verdicts += &format!("{:?} {:?}\n", verdict.answer, verdict.operation);
                verdict.ended
            }
            Output::Event(_, verdict) => verdict.ended,
            Output::BeforeEnd(run) => {
                self.waiting = run.conversation().expect("rules").waiting();
                return;
            }
            Output::End(run, _) => run.conversation().expect("rules").ended_operations(),
            _ => return,
        };
        self.operations.extend_from_slice(ended);
    }

    /// All that must not depend on the split.
    fn text(&self) -> String {
        let findings = self.findings.iter();
        let findings = findings.map(|f| format!("{} {:?} {}\n", f.name(), f.place, f.text));
        let findings: String = findings.collect();
        let (operations, waiting) = (&self.operations, &self.waiting);
        format!("{findings}{}{operations:#?}\n{waiting:#?}", self.verdicts)
    }
}

/// Returns the recording with other chunks: `pieces` returns those that take the place of one.
fn rewritten(recording: &str, pieces: &mut dyn FnMut(&[u8]) -> Vec<Vec<u8>>) -> String {
    let mut out = String::new();
    for line in recording.lines() {
        let mut chunk: Value = serde_json::from_str(line).expect("a line of a recording");
        let Some(bytes) = bytes_of(&mut chunk) else {
            out += &format!("{line}\n");
            continue;
        };
        let pieces = pieces(&bytes);
        for (n, piece) in pieces.iter().enumerate() {
            let mut chunk = chunk.clone();
            chunk["b64"] = BASE64_STANDARD.encode(piece).into();
            if n + 1 < pieces.len() {
                chunk.as_object_mut().expect("an object").remove("fin");
            }
            out += &format!("{chunk}\n");
        }
    }
    out
}

/// Takes the bytes out of a line of a recording; `None` if it has none, or if a datagram must not be split.
fn bytes_of(chunk: &mut Value) -> Option<Vec<u8>> {
    let line = chunk.as_object_mut()?;
    if line.contains_key("datagram") {
        return None;
    }
    if let Some(text) = line.remove("text") {
        return Some(text.as_str()?.as_bytes().to_vec());
    }
    let encoded = line.remove("b64")?;
    BASE64_STANDARD.decode(encoded.as_str()?).ok()
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
        let bytes = rewritten(recording, &mut |bytes| {
            bytes.iter().map(|byte| vec![*byte]).collect()
        });
        let [whole, split] = [recording, &bytes].map(|text| Told::of(protocol, text).text());
        assert_same(&whole, &split, || name.clone());
    }
}

#[test]
fn damaged_conversations_do_not_panic() {
    // Every example, each chunk with one changed byte, at a position that moves from example to example.
    for (n, (protocol, _, recording)) in examples().enumerate() {
        for change in 0..6 {
            let mut chunk = 0;
            let damaged = rewritten(recording, &mut |bytes| {
                chunk += 1;
                let mut copy = bytes.to_vec();
                let len = copy.len().max(1);
                if let Some(byte) = copy.get_mut((n * 31 + change * 17 + chunk * 7) % len) {
                    *byte = [0x00, 0xff, b'{', *byte ^ 1, *byte ^ 0x80, b'"'][change];
                }
                vec![copy]
            });
            Told::of(protocol, &damaged);
        }
    }
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
            let before = Told::of(protocol, &cut);
            let Some((first, owes)) = (before.waiting.first()).and_then(|w| Some((w, w.owes?)))
            else {
                continue;
            };
            // A refused oracle that has ended has to send nothing more; most adapters cannot close a channel.
            // A stream without items was reported when it was acknowledged. A subscription of mcp ends with its connection.
            let why = first.why.as_deref().unwrap_or_default();
            let is_sent = why.contains("acknowledged by a runtime");
            // Of two requests with one id, either answer may be missing.
            let has_duplicate = (before.findings)
                .iter()
                .any(|f| f.rule.name == "duplicate-id" && f.text.contains(first.what.as_str()));
            if is_sent
                || has_duplicate
                || first.what.contains("to exit")
                || first.what.starts_with("channel ")
                || first.what.contains("subscriptions/listen")
            {
                continue;
            }
            for end in ["eof", "close", "reset"] {
                let conn = first.place.origin.conn.unwrap_or_default();
                let dir = owes.name();
                let event = format!(
                    "{{\"t\":9000000000000,\"conn\":{conn},\"dir\":\"{dir}\",\"event\":\"{end}\"}}\n"
                );
                let Told {
                    findings: found,
                    waiting: after,
                    ..
                } = Told::of(protocol, &format!("{cut}{event}"));
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

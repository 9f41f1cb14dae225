//! Shared parts of the tests of the screen, and the law of the store: a stored message is the message.

use super::judging::RuleThread;
use super::model::Model;
use super::shared::Shared;
use super::source::{IndexSink, input_run};
use super::steps::Steps;
use super::store::{Store, StoreReader};
use crate::capture::{Item, Sources};
use crate::cli::input::{self, Flow, InputState};
use crate::cli::interrupt::Stop;
use crate::cli::options::InputArgs;
use crate::conversation::{Finding, Output, RuleSettings, Sink};
use crate::decoder::{DecodeOptions, Decoded, RareParts, StoredFrames};
use crate::encoding::{Parsed, Want};
use crate::framing::Limits;
use crate::protocol::session::Place;
use crate::protocol::{Notes, registry};
use crate::render::{DisplayOptions, json, tree};
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn input_of(path: PathBuf) -> InputArgs {
    InputArgs::of_file(path)
}

/// Returns a model with the messages of a fixture.
pub(super) fn model_of(fixture: &str) -> Model {
    model_of_file(fixtures().join(fixture))
}

/// Returns a model with the messages of fixtures that are one conversation, and the names of their captures.
pub(super) fn model_of_merged(all: &[&str]) -> (Model, &'static Sources) {
    let mut input = input_of(PathBuf::new());
    input.files = all.iter().map(|one| fixtures().join(one)).collect();
    input.merge = true;
    let sources = input::merged_sources(&input).unwrap().unwrap();
    let frames = StoredFrames::new(registry::all().to_vec());
    let shared = Shared::new(Store::new(frames.clone()).unwrap());
    fill_from(&shared, frames, &input, Some(sources)).unwrap();
    shared.store().status.ended = true;
    let reader = StoreReader::new(Limits::default().depth);
    (Model::new(shared, reader, false), sources)
}

/// Returns a model with the messages of a capture.
pub(super) fn model_of_file(path: PathBuf) -> Model {
    let frames = StoredFrames::new(registry::all().to_vec());
    let shared = Shared::new(Store::new(frames.clone()).unwrap());
    fill(&shared, frames, &input_of(path)).unwrap();
    shared.store().status.ended = true;
    let reader = StoreReader::new(Limits::default().depth);
    Model::new(shared, reader, false)
}

/// Reads all messages, and judges them.
fn fill(shared: &Shared, frames: StoredFrames<'static>, input: &InputArgs) -> Result<()> {
    fill_from(shared, frames, input, None)
}

fn fill_from(
    shared: &Shared,
    frames: StoredFrames<'static>,
    input: &InputArgs,
    sources: Option<&'static Sources>,
) -> Result<()> {
    let (steps, stop) = (Arc::<Steps>::default(), Stop::default());
    let rules = RuleSettings::default();
    let depth = Limits::default().depth;
    let judging = RuleThread::new(shared.clone(), Arc::clone(&steps), rules, depth, false);
    let mut run = input_run(InputState::default(), shared);
    run.sources = sources;
    let mut sink = IndexSink::new(shared.clone(), Arc::clone(&steps), frames);
    let options = DecodeOptions::new(registry::all().to_vec());
    std::thread::scope(|scope| {
        scope.spawn(|| judging.run(&stop));
        let read = input::read(input, &options, &mut run, &mut sink);
        steps.close();
        read
    })
}

/// Stores each message, reads it again, and compares what renderers write.
struct RoundTrip {
    frames: StoredFrames<'static>,
    parsed: Parsed,
    notes: Notes,
}

fn rendered(decoded: &Decoded<'_>, notes: &mut Notes) -> String {
    let (mut text, mut line) = (String::new(), Vec::new());
    tree::write(decoded, None, DisplayOptions::default(), notes, &mut text);
    json::write(decoded, None, DisplayOptions::default(), &mut line);
    text + &String::from_utf8_lossy(&line)
}

impl Sink for RoundTrip {
    type Break = Result<()>;

    fn take(&mut self, output: Output<'_>) -> Flow {
        let Output::Message(decoded, _) = output else {
            return Flow::Continue(());
        };
        let mut bytes = Vec::new();
        self.frames.write(decoded, &mut bytes);
        let rare = RareParts::of(decoded);
        let wanted = rendered(decoded, &mut self.notes);
        let Self {
            frames,
            parsed,
            notes,
            ..
        } = self;
        let place = (decoded.index, decoded.origin);
        let found = frames.read(&bytes, place, rare.as_ref(), parsed, |again| {
            rendered(again, notes)
        });
        assert_eq!(found.as_deref(), Some(wanted.as_str()));
        // Any part of it is no message, or another, but no panic.
        for len in (0..bytes.len()).rev().take(80) {
            let part = bytes.get(..len).unwrap_or_default();
            frames.read(part, place, None, parsed, |_| ());
        }
        Flow::Continue(())
    }
}

/// Passes each fixture that may be a capture.
fn each_fixture(visit: &mut dyn FnMut(PathBuf)) {
    let mut folders = vec![fixtures()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            let name = path.extension().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                folders.push(path);
            } else if ["hex", "jsonl", "har", "bin", "txt"].contains(&&*name) {
                visit(path);
            }
        }
    }
}

fn quiet() -> InputState {
    InputState {
        notes: Some(Box::new(|_| {})),
        ..InputState::default()
    }
}

/// The findings of a message.
type Judged = (u64, String);

/// Judges each message when it is read.
struct InOneThread {
    judged: Vec<Judged>,
    answers: Vec<Option<u64>>,
    is_recording: bool,
    /// The messages that wait for an answer at the end.
    open: BTreeSet<u64>,
}

impl InOneThread {
    fn findings(&mut self, findings: &[Finding]) {
        self.judged.extend(findings.iter().map(judged));
    }
}

fn judged(finding: &Finding) -> Judged {
    let (name, severity) = (&finding.rule.name, finding.severity);
    let place = finding.place;
    (
        place.index,
        format!("{name} {severity:?} {place:?} {}", finding.text),
    )
}

impl Sink for InOneThread {
    type Break = Result<()>;

    fn rules(&self) -> Option<RuleSettings> {
        Some(RuleSettings::default())
    }

    fn take(&mut self, output: Output<'_>) -> Flow {
        self.findings(output.findings());
        match output {
            Output::Item(Item::Header(_), _) => self.is_recording = true,
            Output::Message(decoded, verdict) => {
                let answer = verdict.and_then(|verdict| verdict.answer);
                assert_eq!(decoded.index as usize, self.answers.len());
                self.answers.push(answer.map(|answer| answer.to));
            }
            Output::BeforeEnd(run) => {
                let conversation = run.conversation();
                let open =
                    conversation.map(|one| one.unanswered(self.is_recording, usize::MAX).first);
                let open = open.into_iter().flatten().map(|one| one.place.index);
                self.open = open.filter(|index| *index != Place::NO_MESSAGE).collect();
            }
            _ => {}
        }
        Flow::Continue(())
    }
}

#[test]
fn messages_are_judged_as_in_one_thread() {
    let mut findings = 0;
    each_fixture(&mut |path| {
        let mut wanted = InOneThread {
            judged: Vec::new(),
            answers: Vec::new(),
            is_recording: false,
            open: BTreeSet::new(),
        };
        let options = DecodeOptions::new(registry::all().to_vec());
        // Some fixtures need flags, or are no captures.
        let read = input::read(&input_of(path.clone()), &options, &mut quiet(), &mut wanted);
        let frames = StoredFrames::new(registry::all().to_vec());
        let shared = Shared::new(Store::new(frames.clone()).unwrap());
        let filled = fill(&shared, frames, &input_of(path.clone()));
        assert_eq!(read.is_ok(), filled.is_ok(), "{}", path.display());
        let store = shared.store();
        let mut found: Vec<Judged> = store.all_findings().map(judged).collect();
        found.sort();
        wanted.judged.sort();
        assert_eq!(found, wanted.judged, "{}", path.display());
        let count = store.entries.len();
        assert_eq!((count, store.judged), (wanted.answers.len(), count));
        for (index, answer) in wanted.answers.iter().enumerate() {
            let entry = store.entries.get(index).unwrap();
            let request = entry.other().filter(|_| entry.is_answer());
            assert_eq!(request.map(|to| to as u64), *answer);
            let is_open = wanted.open.contains(&(index as u64));
            assert_eq!(entry.is_open(), is_open, "#{index} {}", path.display());
        }
        assert_eq!(store.open, wanted.open.len(), "{}", path.display());
        findings += found.len();
    });
    assert!(findings > 500, "{findings} findings");
}

#[test]
fn a_stored_message_is_the_message() {
    let mut messages = 0;
    each_fixture(&mut |path| {
        let mut run = quiet();
        let mut display = RoundTrip {
            frames: StoredFrames::new(registry::all().to_vec()),
            parsed: Parsed::new(Want::Places, Limits::default().depth),
            notes: Notes::default(),
        };
        let options = DecodeOptions::new(registry::all().to_vec());
        // Some fixtures need flags, or are no captures.
        let _ = input::read(&input_of(path), &options, &mut run, &mut display);
        messages += run.messages;
    });
    assert!(messages > 2000, "{messages} messages");
}

//! What the tests of the screen share, and the law of the store: a stored message is the message.

use super::model::Model;
use super::source::{IndexSink, Shared};
use super::store::{Store, StoreReader};
use crate::capture::Form;
use crate::cli::input::{self, FrameDisplay, InputRun};
use crate::cli::options::{InputArgs, PacketArgs};
use crate::conversation::pipeline::Pipeline;
use crate::conversation::{Judge, Verdict};
use crate::decoder::{DecodeOptions, Decoded, RareParts, StoredFrames};
use crate::encoding::{Parsed, Want};
use crate::framing::Limits;
use crate::protocol::session::SessionConfig;
use crate::protocol::{Notes, registry};
use crate::render::{DisplayOptions, json, tree};
use anyhow::Result;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn input_of(path: PathBuf) -> InputArgs {
    InputArgs {
        files: vec![path],
        from: Form::Auto,
        dir: None,
        c2s: Vec::new(),
        s2c: Vec::new(),
        follow: false,
        packets: PacketArgs::default(),
    }
}

/// Returns a model with the messages of a fixture.
pub(super) fn model_of(fixture: &str) -> Model {
    model_of_file(fixtures().join(fixture))
}

/// Returns a model with the messages of a capture.
pub(super) fn model_of_file(path: PathBuf) -> Model {
    let frames = StoredFrames::new(registry::all().to_vec());
    let shared = Shared::new(Store::new(frames.clone()).unwrap());
    let rules = (Judge::default(), SessionConfig::default());
    let mut sink = IndexSink::new(InputRun::default(), shared.clone(), frames, rules, false);
    let options = DecodeOptions::new(registry::all().to_vec());
    input::read(&input_of(path), &options, &mut sink).unwrap();
    shared.store().status.ended = true;
    let reader = StoreReader::new(Limits::default().depth);
    Model::new(shared, reader, false)
}

/// Stores each message, reads it again, and compares what renderers write.
struct RoundTrip {
    run: InputRun,
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

impl FrameDisplay for RoundTrip {
    fn run(&mut self) -> &mut InputRun {
        &mut self.run
    }

    fn frame(&mut self, decoded: &Decoded<'_>, _: Option<Verdict<'_>>) -> Result<()> {
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
        Ok(())
    }

    fn end(&mut self, _: &str, _: u64, _: &mut Pipeline<'_>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_stored_message_is_the_message() {
    let mut folders = vec![fixtures()];
    let mut messages = 0;
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            let name = path.extension().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                folders.push(path);
            } else if ["hex", "jsonl", "har", "bin", "txt"].contains(&&*name) {
                let mut display = RoundTrip {
                    run: InputRun {
                        notes: Some(Box::new(|_| {})),
                        ..InputRun::default()
                    },
                    frames: StoredFrames::new(registry::all().to_vec()),
                    parsed: Parsed::new(Want::Places, Limits::default().depth),
                    notes: Notes::default(),
                };
                let options = DecodeOptions::new(registry::all().to_vec());
                // Some fixtures need flags, or are no captures.
                let _ = input::read(&input_of(path), &options, &mut display);
                messages += display.run.messages;
            }
        }
    }
    assert!(messages > 2000, "{messages} messages");
}

//! A capture that is read in sections gives what it gives as a whole.

use super::super::{Output, RuleSettings, Run};
use crate::capture::{CaptureInput, Form, Item};
use crate::decoder::{DecodeOptions, Section, SectionMemory};
use crate::encoding::Want;
use crate::protocol::registry;
use crate::render::{DisplayOptions, json};
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The outputs of a run: messages with verdicts, findings, and the bytes of all items.
#[derive(Default)]
struct Outputs(Vec<u8>, Vec<u8>);

impl super::Sink for Outputs {
    type Break = Infallible;

    fn take(&mut self, output: Output<'_>) -> ControlFlow<Infallible> {
        match output {
            Output::Message(decoded, verdict) => {
                json::write(decoded, verdict, DisplayOptions::default(), &mut self.0);
            }
            Output::End(run, findings) => {
                let end = format!("{} {:?} {findings:?}", run.decoder().index(), run.bytes());
                self.0.extend(end.bytes());
            }
            Output::Note(text) => self.0.extend(text.bytes()),
            Output::Item(Item::Chunk(chunk), _) => self.1.extend_from_slice(chunk.bytes),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn run(protocol: &str, want: Want) -> Run<'static> {
    let mut options = DecodeOptions::new(vec![registry::find(protocol).unwrap()]);
    options.want = want;
    let rules = (want == Want::Places).then(RuleSettings::default);
    Run::new(CaptureInput::new(Form::Raw), options, rules)
}

/// Returns the outputs as text. The items hold each byte once.
fn text(outputs: Outputs, bytes: &[u8]) -> String {
    assert_eq!(outputs.1, bytes);
    String::from_utf8(outputs.0).unwrap()
}

fn whole(bytes: &[u8], protocol: &str, want: Want) -> String {
    let mut outputs = Outputs::default();
    let ControlFlow::Continue(()) = run(protocol, want).read_all(bytes, &mut outputs);
    text(outputs, bytes)
}

/// Reads `size` bytes at a time, as sections as soon as possible. Returns the number of sections that were read ahead, too.
fn in_sections(bytes: &[u8], protocol: &str, want: Want, size: usize) -> (String, usize) {
    let (mut run, mut outputs) = (run(protocol, want), Outputs::default());
    let (mut rest, mut ahead) = (bytes, 0);
    while !rest.is_empty() {
        let (next, later) = rest.split_at(size.min(rest.len()));
        rest = later;
        let ControlFlow::Continue(()) = run.read(&mut &*next, &mut outputs);
        let Some(mut splitter) = run.splitter() else {
            continue;
        };
        let (mut reader, mut section) = (splitter.reader(), Section::default());
        let mut memory = SectionMemory::default();
        let mut more = |buffer: &mut Vec<u8>| {
            let (next, later) = rest.split_at(size.min(rest.len()));
            rest = later;
            buffer.extend_from_slice(next);
            Ok::<_, Infallible>(!next.is_empty())
        };
        while let Ok(true) = splitter.split(&mut section, &mut more) {
            let messages = reader.read(&section, &mut memory);
            ahead += usize::from(messages.is_some());
            let ControlFlow::Continue(()) = run.read_section(&section, messages, &mut outputs);
            run.update_reader(&mut reader);
            reader.shrink(&mut memory);
        }
    }
    let ControlFlow::Continue(()) = run.finish(&mut outputs);
    (text(outputs, bytes), ahead)
}

/// The bytes of each fixture of a protocol as one stream.
fn streams(protocol: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut paths: Vec<PathBuf> = ["", "rules"]
        .iter()
        .filter_map(|inner| folder.join(protocol).join(inner).read_dir().ok())
        .flat_map(|entries| entries.map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|e| e == "txt" || e == "jsonl"))
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let mut bytes = Vec::new();
        let mut sink = |item: Item<'_>| {
            if let Item::Chunk(chunk) = item {
                bytes.extend_from_slice(chunk.bytes);
            }
        };
        let mut input = CaptureInput::new(Form::Auto);
        input.push(&std::fs::read(path).unwrap(), &mut sink);
        input.finish(&mut sink);
        bytes
    };
    paths.iter().map(read).collect()
}

const WANTS: [Want; 3] = [Want::Places, Want::Text, Want::TextOfFew];

#[test]
fn fixtures_in_parts_of_any_size_are_read_as_a_whole() {
    let mut ahead = 0;
    for protocol in registry::names() {
        for bytes in streams(protocol) {
            for want in WANTS {
                let wanted = whole(&bytes, protocol, want);
                for size in [1, 5, 64, 333] {
                    let (got, sections) = in_sections(&bytes, protocol, want, size);
                    assert_eq!(got, wanted, "{protocol}, sections of {size}: {bytes:02x?}");
                    ahead += sections;
                }
            }
        }
    }
    assert!(ahead > 1000, "{ahead} sections were read ahead");
}

#[test]
fn damaged_streams_in_parts_are_read_as_a_whole() {
    for protocol in [
        "saikuro",
        "oracle",
        "sael",
        "stepflow",
        "telequick",
        "lsp",
        "mcp",
    ] {
        let all = streams(protocol);
        let all = all.iter().filter(|bytes| (200..600).contains(&bytes.len()));
        for bytes in all.take(2) {
            for at in (0..bytes.len()).step_by(3) {
                for change in [0x01, 0x80, 0xff] {
                    let mut bytes = bytes.repeat(2);
                    bytes[at] ^= change;
                    let wanted = whole(&bytes, protocol, Want::Text);
                    let (got, _) = in_sections(&bytes, protocol, Want::Text, 50);
                    assert_eq!(got, wanted, "{protocol}, byte {at} ^ {change}");
                }
            }
        }
    }
}

#[test]
fn a_small_stream_in_parts_of_each_size_is_read_as_a_whole() {
    for protocol in ["saikuro", "oracle", "sael", "telequick", "lsp"] {
        let all = streams(protocol);
        let small = all.iter().filter(|bytes| (60..300).contains(&bytes.len()));
        for bytes in small.take(3) {
            let bytes = bytes.repeat(2);
            let wanted = whole(&bytes, protocol, Want::Places);
            for size in 1..bytes.len() {
                let (got, _) = in_sections(&bytes, protocol, Want::Places, size);
                assert_eq!(got, wanted, "{protocol}, sections of {size}");
            }
        }
    }
}

//! Recordings in several files: the set reads like one file, and a later file alone like the rest of it.

use super::super::tap::{Passed, PassedKind, Tap, TapConfig};
use super::super::{Finding, Output, RuleSettings, Run};
use crate::capture::recording::continued::PART;
use crate::capture::{CaptureInput, ChunkSource, Form, Record};
use crate::decoder::DecodeOptions;
use crate::encoding::Want;
use crate::framing::Head;
use crate::protocol::{Channel, registry};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The maximum length of a recording that is split.
const MAX_LEN: u64 = 32 << 10;
/// The number of places where each is split.
const POINTS: usize = 4;

fn options() -> DecodeOptions<'static> {
    DecodeOptions {
        want: Want::Head,
        ..DecodeOptions::new(registry::all().to_vec())
    }
}

/// What a reader says about each message, by its index, and the names of the findings.
#[derive(Debug, Default, PartialEq)]
struct Read {
    messages: BTreeMap<u64, String>,
    findings: Vec<String>,
    /// Something depends on earlier bytes of a stream that no event hands on.
    is_compressed: bool,
}

fn read(recording: &[u8]) -> Read {
    let mut read = Read::default();
    let mut take = |output: Output<'_>| -> ControlFlow<Infallible> {
        read.findings
            .extend(output.findings().iter().map(Finding::name));
        if let Output::Message(decoded, verdict) = output {
            let (message, frame) = (decoded.message, decoded.frame);
            let answers = verdict.and_then(|verdict| verdict.answer.map(|answer| answer.to));
            let faults: Vec<_> = decoded.faults().map(|(_, fault)| fault.code).collect();
            let text = format!(
                "c{:?} {:?} {} {} {:?} {} {answers:?} {faults:?}",
                decoded.origin.conn,
                decoded.origin.direction,
                frame.offset,
                message.kind,
                message.role,
                message.id.text(),
            );
            read.messages.insert(decoded.index, text);
            read.is_compressed |= matches!(
                frame.head,
                Head::WebSocket {
                    compressed: true,
                    ..
                }
            );
        }
        ControlFlow::Continue(())
    };
    let rules = Some(RuleSettings::default());
    let mut run = Run::new(CaptureInput::new(Form::Recording), options(), rules);
    let ControlFlow::Continue(()) = run.read_all(recording, &mut take);
    read.findings.sort();
    read
}

/// Writes a recording with a new file after so many of its lines.
fn split(records: &[Record], at: usize) -> Option<[Vec<u8>; 2]> {
    let (Record::Header(header), records) = records.split_first()? else {
        return None;
    };
    let mut header = header.clone();
    header.more.insert(PART.to_owned(), 1.into());
    let mut files = [Vec::new(), Vec::new()];
    let config = TapConfig {
        header,
        record: true,
        decode: Some(options()),
        rules: Some(RuleSettings::default()),
        guard: None,
    };
    let [first, second] = &mut files;
    let mut tap = Tap::new(config, first);
    let mut ignore = |_: Output<'_>| -> ControlFlow<Infallible> { ControlFlow::Continue(()) };
    for (n, record) in records.iter().enumerate() {
        if n == at {
            tap.begin_part(0, first, second);
        }
        let (t, conn, stream, what, bytes) = match record {
            Record::Chunk { datagram: true, .. } | Record::Header(_) => return None,
            Record::Event(event) if event.event == "end" => continue,
            Record::Event(event) => {
                let what = PassedKind::Event(event.clone().into());
                (event.t, event.conn, event.stream, what, &[][..])
            }
            Record::Chunk {
                t,
                conn,
                stream,
                dir,
                bytes,
                ..
            } => (*t, Some(*conn), *stream, PassedKind::Chunk(*dir), &**bytes),
        };
        let passed = Passed {
            t,
            channel: Channel {
                conn: conn.unwrap_or_default(),
                stream,
            },
            what: &what,
            bytes,
        };
        let out = if n < at { &mut *first } else { &mut *second };
        tap.record(&passed, out);
        tap.read(&passed, &mut ignore);
    }
    tap.finish(i64::MAX / 4, second, &mut ignore);
    Some(files)
}

fn recordings(folder: &Path, all: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            recordings(&path, all);
        } else if path.extension().is_some_and(|one| one == "jsonl")
            && path.metadata().is_ok_and(|meta| meta.len() < MAX_LEN)
        {
            all.push(path);
        }
    }
}

#[test]
fn files_of_a_recording_read_like_one() {
    let mut all = Vec::new();
    recordings(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"),
        &mut all,
    );
    if let Some(folder) = std::env::var_os("WIRETOOL_CAPTURES") {
        recordings(Path::new(&folder), &mut all);
    }
    let mut wrong = Vec::new();
    let mut differs = Vec::new();
    let (mut sets, mut alone, mut all_alone) = (0, 0, 0);
    for path in all {
        let text = std::fs::read(&path).unwrap();
        let lines = text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let Ok(records) = lines.map(Record::parse).collect::<Result<Vec<_>, _>>() else {
            continue;
        };
        let is_of_traffic = |record: &Record| {
            !matches!(
                record,
                Record::Chunk {
                    dir: ChunkSource::Stderr,
                    ..
                }
            )
        };
        if !records.iter().all(is_of_traffic) {
            continue;
        }
        let Some(whole) = split(&records, usize::MAX) else {
            continue;
        };
        let whole = whole.concat();
        let wanted = read(&whole);
        for n in 1..=POINTS {
            let at = records.len() * n / (POINTS + 1);
            let Some([first, second]) = split(&records, at) else {
                continue;
            };
            if second.is_empty() {
                continue;
            }
            let set = read(&[first, second.clone()].concat());
            assert_eq!(set, wanted, "{} at {at}", path.display());
            sets += 1;
            let rest = read(&second);
            let has_fault = |text: &String| !text.ends_with(" []");
            for (index, message) in &rest.messages {
                let known = wanted.messages.get(index);
                let is_new = has_fault(message) && !known.is_some_and(has_fault);
                // The methods of waiting requests are not handed on, and HEAD has no body.
                let is_known = rest.is_compressed || path.ends_with("stepflow/http-head.jsonl");
                if is_new && !is_known {
                    wrong.push(format!("{} at {at}: #{index} {message}", path.display()));
                }
                alone += u32::from(known == Some(message));
                if known != Some(message) {
                    differs.push(format!(
                        "{} at {at}: #{index} {message}\n    {known:?}",
                        path.display()
                    ));
                }
                all_alone += 1;
            }
            // In those that fire, requests end without an answer, so they are not open.
            let is_broken = path.to_string_lossy().contains(".fires.");
            let unasked = rest
                .findings
                .iter()
                .filter(|name| name.ends_with("unasked"));
            for finding in unasked.filter(|name| !is_broken && !wanted.findings.contains(name)) {
                wrong.push(format!("{} at {at}: {finding}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(sets > 300, "{sets}");
    assert!(
        alone * 100 > all_alone * 98,
        "{alone} of {all_alone}:\n{}",
        differs.join("\n")
    );
}

//! Recordings: their lines, and their conversations with rules and operations.

use crate::common::{assert_same, cut, is_json};
use crate::shape;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use wiretool::capture::{CaptureInput, Form, Record};
use wiretool::conversation::{Finding, Output, RuleSettings, Run};
use wiretool::decoder::DecodeOptions;
use wiretool::protocol::described::embedded;
use wiretool::protocol::{Place, Protocol, registry};
use wiretool::render::style::is_active;
use wiretool::render::{DisplayOptions, json, line};

/// Every line that is read is written as a line with the same meaning. Base64 agrees with the crate of that name.
pub fn check_record(data: &[u8]) -> u64 {
    let mut kinds = BTreeSet::new();
    for text in data.split(|b| *b == b'\n') {
        let value = serde_json::from_slice::<serde_json::Value>(text).ok();
        let base64 = value.and_then(|value| Some(value.get("b64")?.as_str()?.to_owned()));
        let read = match Record::parse(text) {
            Ok(read) => read,
            Err(error) => {
                let error = error.to_string();
                assert!(!error.is_empty(), "an error that says nothing");
                let valid = base64.is_some_and(|text| STANDARD.decode(text).is_ok());
                assert!(!(error.starts_with("b64") && valid), "{error}");
                continue;
            }
        };
        if let (Record::Chunk { bytes, .. }, Some(base64)) = (&read, base64) {
            assert_eq!(STANDARD.decode(base64).as_ref(), Ok(bytes));
        }
        let mut written = Vec::new();
        read.write(&mut written);
        let (body, end) = written.split_at(written.len() - 1);
        let shown = String::from_utf8_lossy(body);
        assert!(end == b"\n" && !body.contains(&b'\n'), "one line: {shown}");
        assert!(!shown.chars().any(is_active), "active: {shown}");
        // A number with more digits than a double changes when it is read first.
        let mut again = Vec::new();
        Record::parse(body).expect("its own line").write(&mut again);
        assert!(again == written, "{shown}");
        kinds.insert(match &read {
            Record::Header(header) => format!("header {}", header.more.len()),
            Record::Chunk {
                dir,
                stream,
                datagram,
                ..
            } => {
                format!("{} {} {datagram}", dir.name(), stream.is_some())
            }
            Record::Event(event) => event.event.chars().take(8).collect(),
        });
    }
    shape::of(&kinds)
}

/// What a run told so far.
#[derive(Default)]
struct Told {
    text: String,
    rules: BTreeSet<String>,
    messages: u64,
}

impl Told {
    /// A finding is about a message that was seen, and says something.
    fn findings(&mut self, findings: &[Finding]) {
        for finding in findings {
            let (place, name) = (finding.place, finding.name());
            let is_seen = |index: u64| index < self.messages || index == Place::NO_MESSAGE;
            assert!(is_seen(place.index), "{name}: {place:?}");
            assert!(finding.related.is_none_or(is_seen), "{name}: {finding:?}");
            let text = &finding.text;
            assert!(!text.is_empty(), "{name}: {place:?}");
            self.text += &format!("{name} {place:?} {text}\n");
            self.rules.insert(name);
        }
    }

    fn take(&mut self, output: &Output<'_>) {
        match output {
            Output::Message(decoded, verdict) => {
                self.messages = self.messages.max(decoded.index + 1);
                let (mut out, mut shown) = (Vec::new(), String::new());
                let display = DisplayOptions::default();
                json::write(decoded, *verdict, display, &mut out);
                let text = String::from_utf8(out).expect("JSON output is UTF-8");
                assert!(is_json(text.trim_end().as_bytes()), "no JSON: {text}");
                line::write(decoded, *verdict, display, &mut shown);
                let raw = shown.chars().any(|c| c != '\n' && is_active(c));
                assert!(!raw, "a control character: {shown:?}");
                self.text += &text;
                self.text += &shown;
            }
            Output::Event(..) | Output::End(..) => {}
            _ => return,
        }
        self.findings(output.findings());
        let ended = match output {
            Output::Message(_, Some(verdict)) | Output::Event(_, verdict) => verdict.ended,
            Output::End(run, _) => run.conversation().expect("rules").ended_operations(),
            _ => &[],
        };
        for operation in ended {
            let sum: i64 = operation.shares.iter().sum();
            assert_eq!(operation.duration.unwrap_or_default(), sum, "{operation:?}");
            assert!(
                operation.shares.iter().all(|share| *share >= 0),
                "{operation:?}"
            );
            self.text += &format!("{operation:?}\n");
        }
    }
}

fn told<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Told {
    let all = registry::all().iter().chain(embedded());
    let protocols: Vec<&dyn Protocol> = all.copied().collect();
    let mut options = DecodeOptions::new(protocols);
    options.flags = true;
    let rules = RuleSettings {
        operations: true,
        ..RuleSettings::default()
    };
    let mut run = Run::new(CaptureInput::new(Form::Recording), options, Some(rules));
    let mut told = Told::default();
    let mut sink = |output: Output<'_>| -> ControlFlow<()> {
        told.take(&output);
        ControlFlow::Continue(())
    };
    for mut piece in pieces {
        assert!(run.read(&mut piece, &mut sink).is_continue());
    }
    assert!(run.finish(&mut sink).is_continue());
    told
}

/// The last two bytes select the split of the recording.
pub fn check(data: &[u8]) -> u64 {
    let Some((text, split)) = data.split_last_chunk() else {
        return 0;
    };
    let at = usize::from(u16::from_be_bytes(*split)) % (text.len() + 1);
    let whole = told([text]);
    let split = told(cut(text, &[at]));
    assert_same(&whole.text, &split.text, || format!("cut at {at}"));
    shape::of(&(shape::of_lines(&whole.text), whole.rules))
}

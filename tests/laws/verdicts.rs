//! A table of verdicts: for thousands of messages, the result of the writer and the broken rules, and the output of
//! `make` for some arguments. An entry is not necessarily right; the table shows the effect of a change.
//!
//! The messages are those of the fixtures, and each of them with one member removed, replaced or added.
//! `WIRETOOL_BLESS=1 cargo test --test laws verdicts` writes the table; read the difference before you commit it.

use crate::common::Setup;
use crate::seeds::{captured, each, fixtures};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use wiretool::capture::{CaptureInput, Form};
use wiretool::conversation::{Output, RuleSettings, Run};
use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use wiretool::encode::{self, Encoder};
use wiretool::encoding::{Want, json as text};
use wiretool::protocol::make::{IdGen, Words};
use wiretool::protocol::{Direction, Protocol, Role, registry};
use wiretool::span::Span;
use wiretool::tape::Tape;

/// The number of messages of one kind that are varied.
const SAMPLES: usize = 4;
const DIRECTIONS: [Direction; 2] = [Direction::ToServer, Direction::ToClient];

/// The arguments that `make` gets for every kind.
const WORDS: [&[&str]; 8] = [
    &[],
    &["a.b"],
    &["7"],
    &["a.b", "7"],
    &["7", "a.b"],
    &["a.b", "{\"k\":1}"],
    &["7", "a.b", "{\"k\":1}"],
    &["a.b", "x", "7", "y"],
];

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/laws/verdicts");
    folder.join(format!("{name}.txt"))
}

/// Compares a table with its file, or writes the file.
fn compare(name: &str, table: &str) {
    let path = file(name);
    if std::env::var_os("WIRETOOL_BLESS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, table).unwrap();
        return;
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let differ = before.lines().zip(table.lines()).filter(|(a, b)| a != b);
    let lines: Vec<_> = differ.map(|(a, b)| format!("- {a}\n+ {b}")).collect();
    let count = (before.lines().count(), table.lines().count());
    assert!(
        lines.is_empty() && count.0 == count.1,
        "{}: {} lines differ, {count:?} lines in all:\n{}",
        path.display(),
        lines.len(),
        lines[..lines.len().min(40)].join("\n")
    );
}

/// The first messages of each kind in the fixtures.
fn samples(protocol: &'static str) -> BTreeMap<String, Vec<Value>> {
    let mut samples: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (_, path) in fixtures().into_iter().filter(|(name, _)| *name == protocol) {
        each(protocol, &path, Want::Text, &mut |decoded| {
            let message = decoded.message;
            if decoded.is_faulty() || !message.valid || message.role == Some(Role::Control) {
                return;
            }
            let mut text = Vec::new();
            decoded.write_message(&mut text);
            let Ok(value) = serde_json::from_slice::<Value>(&text) else {
                return;
            };
            let role = message.role.map_or("none", Role::name);
            let of_kind = samples
                .entry(format!("{} {role}", message.kind))
                .or_default();
            if value.is_object() && of_kind.len() < SAMPLES && !of_kind.contains(&value) {
                of_kind.push(value);
            }
        });
    }
    samples
}

/// A message with one change: the position, the change, and the result.
type Variant = (String, String, Value);

/// Every variant of a message: each member of it, and of its objects, removed or replaced, and one added.
fn variants(message: &Value) -> Vec<Variant> {
    let mut paths = vec![Vec::new()];
    for (key, value) in message.as_object().into_iter().flatten() {
        paths.push(vec![key.clone()]);
        for (inner, _) in value.as_object().into_iter().flatten() {
            paths.push(vec![key.clone(), inner.clone()]);
        }
    }
    let replacements = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!("x"),
        json!([]),
        json!({}),
    ];
    let mut variants = Vec::new();
    for path in paths {
        let Some((last, above)) = path.split_last() else {
            variants.push(("message".into(), "as it is".into(), message.clone()));
            let mut changed = message.clone();
            changed["unknown"] = json!(1);
            variants.push(("message".into(), "one more".into(), changed));
            continue;
        };
        let change = |what: Option<&Value>| {
            let mut changed = message.clone();
            let holder = above
                .iter()
                .fold(&mut changed, |value, key| &mut value[key]);
            let holder = holder.as_object_mut().unwrap();
            match what {
                Some(value) => drop(holder.insert(last.clone(), value.clone())),
                None => drop(holder.remove(last)),
            }
            changed
        };
        let place = path.join(".");
        variants.push((place.clone(), "removed".into(), change(None)));
        for value in &replacements {
            variants.push((place.clone(), value.to_string(), change(Some(value))));
        }
    }
    variants
}

/// The verdict of one message in this direction: the result of the writer, then of the rules.
fn verdict(protocol: &'static dyn Protocol, message: &Value, direction: Direction) -> String {
    let bytes = message.to_string().into_bytes();
    let mut tape = Tape::new();
    text::parse(&bytes, Span::new(0, bytes.len()), 1000, &mut tape).unwrap();
    let root = tape.root(&bytes).unwrap();
    let encoded = |force| {
        let mut options = encode::EncodeOptions::new(protocol);
        options.force = force;
        Encoder::new(options, IdGen::new(1)).message(root, Some(direction))
    };
    let mut output = match encoded(false) {
        Ok(_) => "accepted".to_owned(),
        Err(refusal) => format!("refused at {:?}", refusal.path),
    };
    let Ok(encoded) = encoded(true) else {
        return output + ", cannot be written";
    };
    let name = protocol.name();
    let recording = format!(
        "{{\"wiretool\":1,\"protocol\":\"{name}\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}}\n\
         {{\"t\":0,\"conn\":1,\"dir\":\"{}\",\"b64\":\"{}\"}}\n",
        direction.name(),
        STANDARD.encode(&encoded.bytes)
    );
    let options = DecodeOptions::new(vec![protocol]);
    let mut rules = Vec::new();
    let input = CaptureInput::new(Form::Recording);
    let mut run = Run::new(input, options, Some(RuleSettings::default()));
    let mut sink = |output: Output<'_>| -> ControlFlow<()> {
        // Findings about missing messages say nothing about this message.
        if let Output::Message(..) = output {
            for finding in output.findings() {
                let severity = finding.severity.name();
                rules.push(format!("{} {severity}", finding.rule.name));
            }
        }
        ControlFlow::Continue(())
    };
    assert!(run.read_all(recording.as_bytes(), &mut sink).is_continue());
    rules.sort();
    rules.dedup();
    if !rules.is_empty() {
        let _ = write!(output, ", {}", rules.join(", "));
    }
    output
}

/// One line for each position and verdict, with all its variants.
fn of_messages(protocol: &'static dyn Protocol, table: &mut String) -> usize {
    let mut count = 0;
    for (kind, messages) in samples(protocol.name()) {
        for (at, message) in messages.iter().enumerate() {
            for direction in DIRECTIONS {
                let mut verdicts: Vec<(String, String, Vec<String>)> = Vec::new();
                for (place, what, changed) in variants(message) {
                    count += 1;
                    let output = verdict(protocol, &changed, direction);
                    match verdicts
                        .iter_mut()
                        .find(|(p, s, _)| *p == place && *s == output)
                    {
                        Some((.., all)) => all.push(what),
                        None => verdicts.push((place, output, vec![what])),
                    }
                }
                let way = direction.name();
                for (place, output, what) in verdicts {
                    let what = what.join(" ");
                    let _ = writeln!(table, "{kind} {at} {way} {place}: {what}: {output}");
                }
            }
        }
    }
    count
}

fn of_make(protocol: &'static dyn Protocol, table: &mut String) {
    for recipe in protocol.recipes() {
        for words in WORDS {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut taken = Words::new(&words, |_| false);
            let made = protocol.make(&recipe.name, &mut taken, &mut IdGen::new(1));
            let output = match made {
                Ok(made) => format!("{} {}", made.direction.name(), made.message),
                Err(refusal) => format!("refused at {:?}", refusal.path),
            };
            let _ = writeln!(table, "make {} {words:?}: {output}", recipe.name);
        }
    }
}

#[test]
fn verdicts_equal_the_table() {
    for protocol in registry::all().iter().copied() {
        let mut table = String::new();
        let count = of_messages(protocol, &mut table);
        assert!(count > 1000, "{}: {count} messages", protocol.name());
        of_make(protocol, &mut table);
        compare(protocol.name(), &table);
    }
}

#[test]
fn verdicts_on_captures_equal_the_table() {
    let seeds = captured(1 << 20);
    if seeds.is_empty() {
        return;
    }
    let mut table = String::new();
    for seed in seeds {
        let protocol = registry::find(seed.protocol).unwrap();
        let direction = if seed.name.contains("s2c") {
            Direction::ToClient
        } else {
            Direction::ToServer
        };
        let mut output: BTreeMap<String, usize> = BTreeMap::new();
        let mut decoder = Decoder::new(Setup::of(seed.protocol).options(Want::Text));
        let mut sink = |decoded: &Decoded<'_>| {
            let mut text = Vec::new();
            decoded.write_message(&mut text);
            let value = serde_json::from_slice::<Value>(&text);
            let verdict = match value {
                Ok(value) if decoded.message.valid => verdict(protocol, &value, direction),
                _ => "no JSON".into(),
            };
            *output.entry(verdict).or_default() += 1;
        };
        decoder.push(Origin::default(), &seed.bytes, &mut sink);
        decoder.finish(&mut sink);
        let name = Path::new(&seed.name).file_name().unwrap().to_string_lossy();
        for (verdict, count) in output {
            let _ = writeln!(table, "{} {name}: {count} {verdict}", seed.protocol);
        }
    }
    compare("captures", &table);
}

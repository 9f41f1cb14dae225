//! Every rule of every protocol: its example breaks it, and one close to it does not.
//!
//! `fixtures/<protocol>/rules/RULE.fires.jsonl` and `RULE.passes.jsonl` are recordings. The first breaks the rule, and
//! besides only rules that it says it implies; the second breaks nothing.

use crate::capture::{Header, Stream};
use crate::conversation::tap::{Settings, Shown, Tap};
use crate::conversation::{Dialect, Judge, find_rule, follow, rules_of};
use crate::decoder::Options;
use crate::protocol::oracle::Oracle;
use crate::protocol::oracle::cairo_serde::Signature;
use crate::protocol::session::{Need, Rule, SessionConfig, Severity};
use crate::protocol::telequick::{Schema, Telequick};
use crate::protocol::{Protocol, registry};
use crate::transport::Address;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::path::Path;

/// What the examples of rules that need it are judged with.
const SECRET: &[u8] = b"correct horse battery staple";
const SIGNATURE: &str = "pow(u256) -> u256";
/// A limit that an example can go over without being long.
const SCHEMA: &str = "limit frame = 256;";

/// The rules that a recording breaks, each with what is said of it.
fn broken(protocol: &dyn Protocol, rule: &Rule, recording: &str) -> Vec<(&'static str, String)> {
    let signed = Oracle::with_signatures(vec![Signature::parse(SIGNATURE).expect("a signature")]);
    let limited = Schema::builtin().extend(SCHEMA).expect("a schema");
    let limited = Telequick::new(limited);
    let protocol: &dyn Protocol = match protocol.name() {
        "oracle" if rule.needs.contains(&Need::Signature) => &signed,
        "telequick" if rule.name == "peer-limit" => &limited,
        _ => protocol,
    };
    let options = Options::new(vec![protocol]);
    let config = SessionConfig {
        secret: rule.needs.contains(&Need::Secret).then(|| SECRET.to_vec()),
        ..SessionConfig::default()
    };
    let mut all = Vec::new();
    let Ok(_) = follow::<Infallible>(
        recording.as_bytes(),
        &options,
        &Judge::default(),
        config,
        &mut |_, verdict| {
            for finding in verdict.findings {
                all.push((finding.rule.name, finding.text.clone()));
            }
            Ok(())
        },
    );
    all
}

#[test]
fn examples_break_their_rule_and_no_other() {
    let mut wrong = String::new();
    for protocol in registry::all().iter().copied() {
        for rule in protocol.behavior().rules() {
            let name = format!("{}/{}", protocol.name(), rule.name);
            let example = rule
                .example
                .unwrap_or_else(|| panic!("{name} has no example"));
            let fired = broken(protocol, rule, example.fires);
            if !fired.iter().any(|(fired, _)| *fired == rule.name) {
                writeln!(wrong, "{name}: not broken by its example: {fired:?}").unwrap();
            }
            for (other, text) in &fired {
                if *other != rule.name && !rule.implies.contains(other) {
                    writeln!(wrong, "{name}: its example also breaks {other}: {text}").unwrap();
                }
            }
            let implied: BTreeSet<_> = fired.iter().map(|(name, _)| *name).collect();
            for other in &rule.implies {
                if !implied.contains(other) {
                    writeln!(wrong, "{name}: implies {other}, its example does not").unwrap();
                }
            }
            for (other, text) in broken(protocol, rule, example.passes) {
                writeln!(wrong, "{name}: its good example breaks {other}: {text}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn rules_are_told_in_full() {
    for protocol in registry::all() {
        let rules = protocol.behavior().rules();
        let faults: Vec<&str> = protocol
            .descriptor()
            .faults
            .iter()
            .map(|(code, _)| *code)
            .collect();
        let mut names = BTreeSet::new();
        for rule in rules {
            let name = format!("{}/{}", protocol.name(), rule.name);
            assert!(names.insert(rule.name), "{name} is there twice");
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(rule.name.chars().all(plain), "{name}");
            assert!(rule.document.max(rule.peers) > Severity::Off, "{name}");
            assert!(!rule.clause.is_empty(), "{name} follows nothing");
            assert!(rule.why.len() > 40 && rule.why.ends_with('.'), "{name}");
            for other in &rule.implies {
                assert!(
                    rules.iter().any(|r| r.name == *other),
                    "{name} implies {other}, which is no rule"
                );
            }
            for code in &rule.faults {
                let shared = faults.contains(code) || SHARED_FAULTS.contains(code);
                assert!(shared, "{name}: {code} is no fault code");
            }
        }
    }
}

/// Fault codes of framings and encodings that rules speak of.
const SHARED_FAULTS: &[&str] = &[
    "bad-json",
    "bad-length",
    "bad-msgpack",
    "bad-utf8",
    "empty",
    "ends-early",
    "over-limit",
    "too-deep",
    "trailing-bytes",
    "truncated",
];

/// A rule that fires on nothing that the recorder writes says nothing to anyone.
#[test]
fn examples_break_their_rule_as_a_recorder_writes_them() {
    for protocol in registry::all().iter().copied() {
        for rule in protocol.behavior().rules() {
            let name = format!("{}/{}", protocol.name(), rule.name);
            let example = rule.example.expect("an example").fires;
            let fired = broken(protocol, rule, &recorded_again(example, &name));
            let fired: Vec<_> = fired.iter().map(|(name, _)| *name).collect();
            assert!(fired.contains(&rule.name), "{name}: {fired:?}");
        }
    }
}

/// What the recorder writes when a recording's chunks and events pass it again.
fn recorded_again(recording: &str, name: &str) -> String {
    let mut lines = recording.lines();
    let head = lines.next().expect("a header");
    let header: Header = serde_json::from_str(head).expect("a header");
    // It connects to an address, or spawns a command.
    if let Some(connect) = &header.connect {
        Address::parse(connect).unwrap_or_else(|why| panic!("{name}: {connect}: {why}"));
        assert!(header.argv.is_none(), "{name}: an address and a command");
    }
    let settings = Settings {
        header,
        record: true,
        decode: None,
        judge: None,
        guard: None,
    };
    let mut out = Vec::new();
    let mut tap = Tap::new(settings, &mut out);
    let (mut show, mut last) = (|_: Shown<'_>| {}, 0);
    for line in lines {
        let value: Value = serde_json::from_str(line).expect("JSON");
        last = value["t"].as_i64().expect("a time");
        if value.get("event").is_none() {
            let conn = value["conn"].as_u64().unwrap_or_default() as u32;
            let stream = match value["dir"].as_str() {
                Some("c2s") => Stream::C2s,
                Some("s2c") => Stream::S2c,
                _ => Stream::Stderr,
            };
            let bytes = match (value["text"].as_str(), value["b64"].as_str()) {
                (Some(text), _) => text.as_bytes().to_vec(),
                (None, b64) => STANDARD.decode(b64.expect("bytes")).expect("Base64"),
            };
            tap.chunk(last, conn, stream, &bytes, &mut out, &mut show);
        } else if value["event"] != "end" {
            let event = serde_json::from_value(value).expect("an event");
            tap.event(&event, &mut out, &mut show);
        }
    }
    tap.finish(last, &mut out, &mut show);
    String::from_utf8(out).expect("UTF-8")
}

/// One damaged byte is one cause: what is told is that, and what does not follow from it.
#[test]
fn a_damaged_byte_breaks_few_rules() {
    let (mut worst, mut runs) = (BTreeMap::new(), 0);
    for protocol in registry::all().iter().copied() {
        for rule in protocol.behavior().rules() {
            let example = rule.example.expect("an example").passes;
            for at in (0..example.len()).step_by(97) {
                let Some(damaged) = damaged(example, at) else {
                    continue;
                };
                runs += 1;
                let found = broken(protocol, rule, &damaged);
                if found.len() > MOST_FOR_ONE_BYTE {
                    worst.insert((found.len(), rule.name, at), found);
                }
            }
        }
    }
    assert!(runs > 500, "{runs}");
    assert!(
        worst.is_empty(),
        "{} of {runs}: {:#?}",
        worst.len(),
        worst.last_key_value()
    );
}

/// Findings that one damaged byte may have.
const MOST_FOR_ONE_BYTE: usize = 4;

/// A recording with one byte of one chunk changed, near this place of it.
fn damaged(recording: &str, at: usize) -> Option<String> {
    let start = recording.get(..at)?.rfind('\n')? + 1;
    let len = recording.get(start..)?.find('\n')?;
    let mut value: Value = serde_json::from_str(recording.get(start..start + len)?).ok()?;
    let mut bytes = match (value["text"].as_str(), value["b64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(b64)) => STANDARD.decode(b64).ok()?,
        (None, None) => return None,
    };
    let n = (at - start) % bytes.len();
    bytes[n] = bytes[n].wrapping_add(3);
    let object = value.as_object_mut()?;
    object.remove("text");
    object.insert("b64".into(), STANDARD.encode(bytes).into());
    let (before, after) = (&recording[..start], &recording[start + len..]);
    Some(format!("{before}{value}{after}"))
}

/// Files that no rule has are left over from one that was renamed.
#[test]
fn no_example_is_left_over() {
    for protocol in registry::all() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(protocol.name())
            .join("rules");
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let name = entry.expect("a file").file_name();
            let name = name.to_string_lossy().into_owned();
            let rule = name
                .strip_suffix(".fires.jsonl")
                .or_else(|| name.strip_suffix(".passes.jsonl"));
            let known =
                rule.is_some_and(|rule| protocol.behavior().rules().iter().any(|r| r.name == rule));
            assert!(known, "{}/{name} belongs to no rule", protocol.name());
        }
    }
}

/// What a broken rule is by default: an error if a real peer fails, otherwise at most a warning.
#[test]
fn both_dialects_are_an_error_where_peers_fail() {
    let judge = |dialect| Judge {
        dialect,
        ..Judge::default()
    };
    let [document, peers, both] = [Dialect::Document, Dialect::Peers, Dialect::Both].map(judge);
    let mut wrong = String::new();
    for protocol in registry::all().iter().copied() {
        for rule in rules_of(protocol) {
            let by = |judge: &Judge| judge.severity(protocol.name(), rule);
            let (own, peers, both) = (by(&document), by(&peers), by(&both));
            let is_error = both == Severity::Error;
            let in_bounds = both <= own.max(peers) && (rule.harmless || both >= peers);
            if is_error != (peers == Severity::Error) || !in_bounds {
                let (own, peers, both) = (own.name(), peers.name(), both.name());
                writeln!(
                    wrong,
                    "{}/{}: document {own}, peers {peers}, both {both}",
                    protocol.name(),
                    rule.name
                )
                .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for (name, severity) in [
        ("saikuro/cast-answered", Severity::Info),
        ("saikuro/result-missing", Severity::Info),
        ("sael/anonymous-subscription", Severity::Info),
        ("sael/anonymous-effect", Severity::Info),
        ("sael/anonymous-resume", Severity::Info),
        ("sael/error-code-extra", Severity::Info),
        ("sael/dropped-subscription", Severity::Error),
        ("saikuro/unanswered", Severity::Error),
        ("sael/unanswered", Severity::Error),
        ("stepflow/unanswered", Severity::Error),
        ("oracle/unanswered", Severity::Error),
    ] {
        let (protocol, rule) = find_rule(name).expect(name);
        assert_eq!(both.severity(protocol, rule), severity, "{name}");
    }
}

/// Cargo does not see that a file of examples changes, which the program holds as it was compiled.
#[test]
fn examples_are_those_of_the_folder() {
    for protocol in registry::all() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(protocol.name())
            .join("rules");
        for rule in protocol.behavior().rules() {
            let example = rule.example.expect("an example");
            for (end, text) in [("fires", example.fires), ("passes", example.passes)] {
                let path = folder.join(format!("{}.{end}.jsonl", rule.name));
                let file = std::fs::read_to_string(&path).expect("a file");
                let path = path.display();
                assert!(
                    file == text,
                    "{path} has changed: touch src/protocol/mod.rs"
                );
            }
        }
    }
}

//! Every rule of every protocol: one example breaks it, and a similar one does not.
//!
//! `fixtures/<protocol>/rules/RULE.fires.jsonl` and `RULE.passes.jsonl` are recordings. The first breaks the rule, and
//! otherwise only rules that it implies; the second breaks no rule.

use crate::capture::{ChunkSource, EventRecord, Header};
use crate::conversation::tap::{Passed, PassedKind, Tap, TapConfig};
use crate::conversation::{Judge, Output, RuleDialect, RuleSettings, check, find_rule, rules_of};
use crate::decoder::DecodeOptions;
use crate::protocol::oracle::Oracle;
use crate::protocol::oracle::cairo_serde::Signature;
use crate::protocol::session::{Need, Rule, SessionConfig, Severity};
use crate::protocol::telequick::{Schema, Telequick};
use crate::protocol::{Channel, Protocol, registry};
use crate::transport::Address;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

/// The secret, signature and schema for the examples of rules that need them.
const SECRET: &[u8] = b"correct horse battery staple";
const SIGNATURE: &str = "pow(u256) -> u256";
/// A limit that a short example can exceed.
const SCHEMA: &str = "limit frame = 256;";

/// Returns the rules that a recording breaks, with the text of each finding.
fn broken(protocol: &dyn Protocol, rule: &Rule, recording: &str) -> Vec<(String, String)> {
    let signed = Oracle::with_signatures(vec![Signature::parse(SIGNATURE).expect("a signature")]);
    let limited = Schema::builtin().extend(SCHEMA).expect("a schema");
    let limited = Telequick::new(limited);
    let protocol: &dyn Protocol = match protocol.name() {
        "oracle" if rule.needs.contains(&Need::Signature) => &signed,
        "telequick" if rule.name == "peer-limit" => &limited,
        _ => protocol,
    };
    let options = DecodeOptions::new(vec![protocol]);
    let session = SessionConfig {
        secret: rule.needs.contains(&Need::Secret).then(|| SECRET.to_vec()),
        ..SessionConfig::default()
    };
    let rules = RuleSettings {
        session,
        ..RuleSettings::default()
    };
    let found = check(recording.as_bytes(), options, rules);
    let found = found.into_iter();
    found
        .map(|finding| (finding.rule.name.to_string(), finding.text))
        .collect()
}

#[test]
fn examples_break_only_their_rule() {
    let mut wrong = String::new();
    for protocol in registry::all().iter().copied() {
        for rule in protocol.behavior().rules() {
            let name = format!("{}/{}", protocol.name(), rule.name);
            let example = rule
                .example()
                .unwrap_or_else(|| panic!("{name} has no example"));
            let fired = broken(protocol, rule, example.fires);
            if !fired.iter().any(|(fired, _)| *fired == rule.name) {
                writeln!(wrong, "{name}: not broken by its example: {fired:?}").unwrap();
            }
            for (other, text) in &fired {
                if *other != rule.name && !rule.implies.iter().any(|own| own == other) {
                    writeln!(wrong, "{name}: its example also breaks {other}: {text}").unwrap();
                }
            }
            let implied: BTreeSet<_> = fired.iter().map(|(name, _)| &**name).collect();
            for other in &rule.implies {
                if !implied.contains(&**other) {
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

/// The verbs of findings. A text with another verb adds it here.
const VERBS: &str = "accepts allows announced answers are asks be becomes begins belongs break breaks calls came can cannot \
    carries closed closes comes confirms continues contains counts covers creates declare declares did differ differs do does end \
    ended ends exits expects failed fits follow follows forbids forwards gets gives goes got grants had has have include \
    is kept knows lacks left lists look looks makes matches may means might must named names need needs offered opened \
    opens put read reads refuse refused refuses reported requests requires resumes round see sees selected selects send sends sent \
    should skip speaks starts stays stops subscribed subscribes supports take takes took use uses waits wanted was were \
    will writes";

/// Returns the problem of the language of a finding: subject, verb, values, in short clauses.
fn language_problem(text: &str) -> Option<String> {
    const MAX_WORDS: usize = 40;
    // Values of the wire are not checked, and hints in parentheses are those of decode.
    let (mut plain, mut quote, mut depth) = (String::new(), None, 0);
    for c in text.chars() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => {
                quote = Some(c);
                plain.push('Q');
            }
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            (None, c) if depth == 0 => plain.push(c),
            (None, _) => {}
        }
    }
    let first = plain.split_whitespace().next().unwrap_or_default();
    if ["A", "An", "The", "This", "It", "No", "There"].contains(&first) || text.ends_with('.') {
        return Some("it is written as a sentence with a capital letter or a full stop".into());
    }
    let words: Vec<&str> = plain.split_whitespace().collect();
    if words.len() > MAX_WORDS {
        return Some(format!("it has {} words", words.len()));
    }
    let relative = words
        .iter()
        .filter(|word| ["which", "that", "who"].contains(word));
    if relative.count() > 1 {
        return Some("a chain of relative clauses".into());
    }
    let separators = ["; ", ": ", ", but ", ", and ", ", although "];
    let joined = separators
        .iter()
        .fold(plain.clone(), |text, s| text.replace(s, "\n"));
    let clauses: Vec<&str> = joined.split('\n').collect();
    let has_verb = |clause: &str| {
        let mut words = clause.split_whitespace().map(|word| word.trim_matches(','));
        words.any(|word| VERBS.split_whitespace().any(|verb| verb == word))
    };
    // `message: wanted JSON, got text` begins with the place.
    let is_place = |n: usize| clauses.iter().skip(n).any(|c| c.starts_with("wanted "));
    let is_value = |clause: &str| !clause.trim_end_matches(['…', ' ']).contains(' ');
    let wrong = clauses
        .iter()
        .enumerate()
        .find(|(n, clause)| !(has_verb(clause) || is_place(*n) || *n > 0 && is_value(clause)));
    wrong.map(|(_, clause)| format!("no verb in `{clause}`"))
}

#[test]
fn findings_are_sentences_with_subject_verb_and_values() {
    let (mut wrong, mut checked) = (String::new(), 0);
    for protocol in registry::all().iter().copied() {
        for rule in protocol.behavior().rules() {
            let name = format!("{}/{}", protocol.name(), rule.name);
            let fires = rule.example().map_or("", |example| example.fires);
            for (fired, text) in broken(protocol, rule, fires) {
                if let Some(problem) = language_problem(&text) {
                    writeln!(wrong, "{name}, {fired}: {text}\n    {problem}").unwrap();
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "{checked} findings");
    assert!(wrong.is_empty(), "{wrong}");
    for (text, problem) in [
        ("a batch: peers take one message", "no verb in `a batch`"),
        (
            "the id, which the peer that asked has, is 7, which is odd",
            "a chain of relative clauses",
        ),
        (
            "The id is 7",
            "it is written as a sentence with a capital letter or a full stop",
        ),
    ] {
        assert_eq!(language_problem(text).as_deref(), Some(problem), "{text}");
    }
}

#[test]
fn rules_are_documented_completely() {
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
            assert!(names.insert(&rule.name), "{name} is there twice");
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(rule.name.chars().all(plain), "{name}");
            assert!(rule.document.max(rule.peers) > Severity::Off, "{name}");
            assert!(!rule.clause.is_empty(), "{name} follows nothing");
            assert!(rule.why.len() > 40 && rule.why.ends_with('.'), "{name}");
            for other in &rule.implies {
                assert!(
                    rules.iter().any(|r| r.name == *other),
                    "{name} implies {other}, which is not a rule"
                );
            }
            for code in &rule.faults {
                let shared = faults.contains(&&**code) || SHARED_FAULTS.contains(&&**code);
                assert!(shared, "{name}: {code} is no fault code");
            }
        }
    }
}

/// Fault codes of framings and encodings that rules name.
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

/// A rule must fire on the output of the recorder.
#[test]
fn examples_break_their_rule_after_they_are_recorded_again() {
    for protocol in registry::all().iter().copied() {
        for rule in protocol.behavior().rules() {
            let name = format!("{}/{}", protocol.name(), rule.name);
            let example = rule.example().expect("an example").fires;
            let fired = broken(protocol, rule, &recorded_again(example, &name));
            let fired: Vec<_> = fired.iter().map(|(name, _)| &**name).collect();
            assert!(fired.contains(&&*rule.name), "{name}: {fired:?}");
        }
    }
}

/// Records the chunks and events of a recording again.
fn recorded_again(recording: &str, name: &str) -> String {
    let mut lines = recording.lines();
    let head = lines.next().expect("a header");
    let header: Header = serde_json::from_str(head).expect("a header");
    // The recording connects to an address or starts a command.
    if let Some(connect) = &header.connect {
        Address::parse(connect).unwrap_or_else(|why| panic!("{name}: {connect}: {why}"));
        assert!(header.argv.is_none(), "{name}: an address and a command");
    }
    let settings = TapConfig {
        header,
        record: true,
        decode: None,
        rules: None,
        guard: None,
    };
    let mut out = Vec::new();
    let mut tap = Tap::new(settings, &mut out);
    let mut show = |_: Output<'_>| -> ControlFlow<Infallible> { ControlFlow::Continue(()) };
    let mut last = 0;
    for line in lines {
        let value: Value = serde_json::from_str(line).expect("JSON");
        last = value["t"].as_i64().expect("a time");
        if value.get("event").is_none() {
            let conn = value["conn"].as_u64().unwrap_or_default() as u32;
            let source = match value["dir"].as_str() {
                Some("c2s") => ChunkSource::C2s,
                Some("s2c") => ChunkSource::S2c,
                _ => ChunkSource::Stderr,
            };
            let bytes = match (value["text"].as_str(), value["b64"].as_str()) {
                (Some(text), _) => text.as_bytes().to_vec(),
                (None, b64) => STANDARD.decode(b64.expect("bytes")).expect("Base64"),
            };
            let passed = Passed {
                t: last,
                channel: Channel {
                    conn,
                    stream: value["stream"].as_u64(),
                },
                what: &PassedKind::Chunk(source),
                bytes: &bytes,
            };
            tap.record(&passed, &mut out);
        } else if value["event"] != "end" {
            let event: EventRecord = serde_json::from_value(value).expect("an event");
            let passed = Passed {
                t: last,
                channel: 0.into(),
                what: &PassedKind::Event(event.into()),
                bytes: &[],
            };
            tap.record(&passed, &mut out);
        }
    }
    tap.finish(last, &mut out, &mut show);
    String::from_utf8(out).expect("UTF-8")
}

/// One damaged byte is one cause: it is reported, and consequences are not.
#[test]
fn a_damaged_byte_breaks_few_rules() {
    let (mut worst, mut runs) = (BTreeMap::new(), 0);
    for protocol in registry::all().iter().copied() {
        for rule in protocol.behavior().rules() {
            let example = rule.example().expect("an example").passes;
            for at in (0..example.len()).step_by(97) {
                let Some(damaged) = damaged(example, at) else {
                    continue;
                };
                runs += 1;
                let found = broken(protocol, rule, &damaged);
                if found.len() > MAX_FINDINGS_OF_ONE_BYTE {
                    worst.insert((found.len(), &rule.name, at), found);
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

/// Maximum number of findings for one damaged byte.
const MAX_FINDINGS_OF_ONE_BYTE: usize = 4;

/// Returns a recording with one changed byte near this position of a chunk.
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

/// Examples without a rule are left over from a renamed rule.
#[test]
fn every_example_has_a_rule() {
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

/// The default severity of a broken rule: an error if a real peer fails, otherwise at most a warning.
#[test]
fn the_dialect_both_is_an_error_if_peers_fail() {
    let judge = |dialect| Judge {
        dialect,
        ..Judge::default()
    };
    let [document, peers, both] =
        [RuleDialect::Document, RuleDialect::Peers, RuleDialect::Both].map(judge);
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

/// Cargo does not notice changed example files, so the program may hold old ones.
#[test]
fn compiled_examples_equal_the_files() {
    for protocol in registry::all() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(protocol.name())
            .join("rules");
        for rule in protocol.behavior().rules() {
            let example = rule.example().expect("an example");
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

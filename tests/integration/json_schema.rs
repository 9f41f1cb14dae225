//! Checks the schema of `decode --print-schema` against the output of `decode -f json` for every fixture: each line
//! fits it, and each message that its protocol can write fits the schema of its kind.

use crate::common;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use wiretool::protocol::registry;
use wiretool::protocol::{Direction, MessageForm, Protocol, WriteOptions};
use wiretool::span::Span;
use wiretool::tape::Tape;

/// Keywords without a constraint.
const ANNOTATIONS: [&str; 5] = ["$schema", "$defs", "title", "description", "format"];

/// A validator of the used part of JSON Schema. Panics at an unknown keyword.
struct Validator {
    root: Value,
}

impl Validator {
    fn printed() -> Self {
        let (code, out, err) =
            common::run(common::wiretool().args(["decode", "--print-schema"]), "");
        assert_eq!((code, err.as_str()), (0, ""));
        let root = serde_json::from_str(&out).expect("JSON");
        Self { root }
    }

    /// The schema of a kind of message.
    fn kind(&self, protocol: &str, kind: &str) -> Option<&Value> {
        self.root["$defs"].get(format!("{protocol}.{kind}"))
    }

    /// Returns the reason why a value does not fit a schema.
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let schema = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return Err(format!("{at}: must not be there")),
            Value::Object(schema) => schema,
            other => panic!("no schema: {other}"),
        };
        for (keyword, wanted) in schema {
            if !ANNOTATIONS.contains(&keyword.as_str()) {
                self.keyword(schema, keyword, wanted, value, at)?;
            }
        }
        Ok(())
    }

    fn keyword(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        wanted: &Value,
        value: &Value,
        at: &str,
    ) -> Result<(), String> {
        let fail = || Err(format!("{at}: {keyword} is {wanted}, got {value}"));
        let fits = |schema: &Value| self.check(schema, value, at).is_ok();
        let list = || wanted.as_array().expect("a list");
        let right = match keyword {
            "$ref" => {
                let path = wanted.as_str().expect("text").trim_start_matches('#');
                let target = self.root.pointer(path).expect("a definition");
                return self.check(target, value, at);
            }
            "type" => is_type(wanted.as_str().expect("text"), value),
            "const" => wanted == value,
            "enum" => list().contains(value),
            "minimum" | "maximum" => value.as_number().is_none_or(|value| {
                let [bound, value] =
                    [wanted.as_number().expect("a number"), value].map(ToString::to_string);
                let integers = bound.parse::<i128>().ok().zip(value.parse::<i128>().ok());
                let floats = || bound.parse::<f64>().ok().zip(value.parse::<f64>().ok());
                let order = match integers {
                    Some((bound, value)) => Some(value.cmp(&bound)),
                    None => floats().and_then(|(bound, value)| value.partial_cmp(&bound)),
                };
                let wrong = match keyword {
                    "minimum" => Ordering::Less,
                    _ => Ordering::Greater,
                };
                order.is_some_and(|order| order != wrong)
            }),
            "pattern" => value.as_str().is_none_or(|text| {
                let pattern = Regex::new(wanted.as_str().expect("text"));
                pattern.expect("a pattern").is_match(text)
            }),
            "not" => !fits(wanted),
            "anyOf" => list().iter().any(fits),
            "oneOf" => list().iter().filter(|schema| fits(schema)).count() == 1,
            "allOf" => {
                let mut all = list().iter();
                return all.try_for_each(|schema| self.check(schema, value, at));
            }
            "required" => value.as_object().is_none_or(|object| {
                let mut names = list().iter().map(|name| name.as_str().expect("text"));
                names.all(|name| object.contains_key(name))
            }),
            "properties" => {
                let members = value.as_object().into_iter().flatten();
                for (name, member) in members {
                    if let Some(schema) = wanted.get(name) {
                        self.check(schema, member, &format!("{at}.{name}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                assert_eq!(*wanted, false);
                let members = value.as_object().into_iter().flatten();
                let known = |name: &String| schema["properties"].get(name).is_some();
                members.map(|(name, _)| name).all(known)
            }
            "items" | "prefixItems" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    let schema = match wanted {
                        Value::Array(schemas) => schemas.get(n),
                        schema => Some(schema),
                    };
                    if let Some(schema) = schema {
                        self.check(schema, item, &format!("{at}[{n}]"))?;
                    }
                }
                true
            }
            "minItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 >= wanted.as_u64().expect("a number")),
            other => panic!("{at}: the test does not know the keyword {other}"),
        };
        if right { Ok(()) } else { fail() }
    }
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => {
            let is_whole = |number: f64| number.fract() == 0.0;
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_whole)
        }
        other => panic!("no type: {other}"),
    }
}

fn files(extensions: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files = Vec::new();
    for protocol in registry::names() {
        let inside = std::fs::read_dir(root.join(protocol)).expect("fixtures");
        let inside = inside.map(|file| file.expect("a file").path());
        let is_one = |path: &PathBuf| {
            path.extension()
                .is_some_and(|e| extensions.iter().any(|own| e == *own))
        };
        files.extend(inside.filter(is_one));
    }
    files.sort();
    files
}

/// Parses a line, unless it is nested too deeply or has a number outside the range of floats.
fn parsed(line: &str) -> Option<Value> {
    if !line.starts_with('{') {
        return None;
    }
    let reported = |error: &serde_json::Error| {
        let error = error.to_string();
        ["recursion limit", "number out of range"]
            .iter()
            .any(|why| error.contains(why))
    };
    match serde_json::from_str(line) {
        Err(error) if reported(&error) => None,
        line => Some(line.expect("JSON")),
    }
}

/// The expected lines of `decode -f json` for fixtures.
fn expected_lines() -> Vec<(String, Value)> {
    let mut lines = Vec::new();
    for file in files(&["json"]) {
        let text = std::fs::read_to_string(&file).expect("a file");
        for (n, line) in text.lines().enumerate() {
            if let Some(line) = parsed(line) {
                lines.push((format!("{}:{}", file.display(), n + 1), line));
            }
        }
    }
    lines
}

#[test]
fn every_line_fits_schema() {
    let validator = Validator::printed();
    let mut wrong = Vec::new();
    let mut check = |place: &str, line: &Value| {
        let result = validator.check(&validator.root, line, "line");
        wrong.extend(result.err().map(|error| format!("{place}: {error}")));
    };
    let kept = expected_lines();
    assert!(kept.len() > 300, "{} lines", kept.len());
    for (place, line) in &kept {
        check(place, line);
    }
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for file in files(&["hex", "txt", "bin", "jsonl"]) {
        for flag in ["--lint", "--exact"] {
            let mut command = common::wiretool();
            command.args(["decode", "-f", "json", flag]).arg(&file);
            let (_, out, _) = common::run(&mut command, "");
            for line in out.lines().filter_map(parsed) {
                check(&format!("{} {flag}", file.display()), &line);
                seen.extend(line.as_object().expect("an object").keys().cloned());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // These keys require --lint or --exact; each is in some line.
    for key in [
        "wire",
        "findings",
        "reply_to",
        "latency_ms",
        "of",
        "op",
        "raw",
        "faults",
    ] {
        assert!(seen.contains(key), "no line has {key}");
    }
}

#[test]
fn damaged_lines_do_not_fit_schema() {
    let validator = Validator::printed();
    for (place, line) in expected_lines() {
        for (key, value) in line.as_object().expect("an object") {
            let mut damaged = line.clone();
            // A message, an id and the content of text may have any value of their type.
            if !["message", "id"].contains(&key.as_str()) {
                damaged[key] = json!([value]);
                let result = validator.check(&validator.root, &damaged, "line");
                assert!(result.is_err() || key == "faults", "{place}: {key}");
            }
        }
        for key in ["v", "index", "offset", "len", "framing", "protocol"] {
            let mut damaged = line.clone();
            damaged.as_object_mut().expect("an object").remove(key);
            let result = validator.check(&validator.root, &damaged, "line");
            assert!(result.is_err(), "{place}: no {key}");
        }
        let mut damaged = line;
        damaged["new"] = json!(1);
        let result = validator.check(&validator.root, &damaged, "line");
        assert!(result.is_err(), "{place}: a new key");
    }
}

/// Returns `true` if the protocol writes a message.
fn is_written(protocol: &dyn Protocol, line: &Value, message: &Value) -> bool {
    let text = message.to_string();
    let mut tape = Tape::new();
    let span = Span::new(0, text.len());
    wiretool::encoding::json::parse(text.as_bytes(), span, 1000, &mut tape).expect("JSON");
    let root = tape.root(text.as_bytes()).expect("a value");
    let options = WriteOptions {
        direction: line["dir"].as_str().and_then(Direction::from_name),
        form: MessageForm::Json,
        ..WriteOptions::default()
    };
    protocol.write(root, &options, &mut Vec::new()).is_ok()
}

#[test]
fn written_messages_fit_schema_of_kind() {
    let validator = Validator::printed();
    let mut wrong = Vec::new();
    let mut checked: BTreeSet<String> = BTreeSet::new();
    // The number of damaged messages that the protocol refuses, and the number of these that the schema refuses too.
    let mut refused: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (place, line) in expected_lines() {
        let (name, kind) = (
            line["protocol"].as_str().unwrap_or_default(),
            line["kind"].as_str().unwrap_or_default(),
        );
        let protocol = registry::find(name).expect("a protocol");
        let (Some(message), None, Some(schema)) = (
            line.get("message"),
            line.get("fault"),
            validator.kind(name, kind),
        ) else {
            continue;
        };
        // The schema does not distinguish keys that JSON does not have.
        if message.to_string().contains("\"$map\"") || !is_written(protocol, &line, message) {
            continue;
        }
        checked.insert(format!("{name}.{kind}"));
        let result = validator.check(schema, message, "message");
        wrong.extend(
            result
                .err()
                .map(|error| format!("{place}: {kind}: {error}")),
        );
        for key in message.as_object().into_iter().flat_map(Map::keys) {
            let mut without = message.clone();
            without.as_object_mut().expect("an object").remove(key);
            let mut other = message.clone();
            other[key] = json!([{ "odd": 1.5 }]);
            for damaged in [without, other] {
                let fits = validator.check(schema, &damaged, "message").is_ok();
                if is_written(protocol, &line, &damaged) {
                    // Without its type, the message has another kind.
                    continue;
                }
                let (all, own) = refused.entry(protocol.name()).or_default();
                *all += 1;
                *own += u32::from(!fits);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let all = validator.root["$defs"].as_object().expect("definitions");
    let missing: Vec<&String> = all
        .keys()
        .filter(|name| name.contains('.') && !checked.contains(*name))
        .collect();
    assert!(missing.is_empty(), "no fixture is checked for {missing:?}");
    // The schema cannot check everything, for example the range of a felt.
    for protocol in registry::names() {
        let (all, own) = refused[protocol];
        assert!(all > 400 && own * 2 > all, "{protocol}: {own} of {all}");
    }
}

/// Lines of stderr stand between the messages, whole, and belong to no message.
#[test]
fn lines_of_stderr_are_shown_between_messages() {
    let chunks = [
        ("stderr", r#""text":"starting\nlistening on ""#),
        ("stderr", r#""text":"8080\n""#),
        (
            "c2s",
            r#""text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n""#,
        ),
        (
            "stderr",
            r#""text":"Authorization: Bearer abcdef0123456789\r\n""#,
        ),
        ("stderr", r#""b64":"/wo=""#),
        (
            "s2c",
            r#""text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n""#,
        ),
        ("stderr", r#""text":"no end""#),
    ];
    let head =
        r#"{"wiretool":1,"protocol":"mcp","started":"2026-01-01T00:00:00Z","transport":"stdio"}"#;
    let mut recording = format!("{head}\n");
    for (t, (dir, text)) in chunks.iter().enumerate() {
        let ns = t * 1_000_000;
        recording += &format!("{{\"t\":{ns},\"conn\":1,\"dir\":\"{dir}\",{text}}}\n");
    }
    let decode = |args: &[&str], input: &str| {
        let mut command = common::wiretool();
        command.args(args);
        common::run(&mut command, input)
    };
    let (code, out, _) = decode(&["decode", "--stderr", "-f", "json"], &recording);
    assert_eq!(code, 0);
    let validator = Validator::printed();
    let lines: Vec<Value> = out.lines().filter_map(parsed).collect();
    for line in &lines {
        let result = validator.check(&validator.root, line, "line");
        assert!(result.is_ok(), "{result:?}: {line}");
    }
    let shown = |line: &Value| {
        (
            line["kind"].clone(),
            line["after"].clone(),
            line["message"].clone(),
        )
    };
    let stderr = |after: Value, text: Value| (json!("stderr"), after, text);
    let of_child = lines.iter().filter(|line| line["role"] == "control");
    let wanted = [
        stderr(Value::Null, json!("starting")),
        stderr(Value::Null, json!("listening on 8080")),
        stderr(json!(0), json!("Authorization: Bearer abcdef0123456789")),
        stderr(json!(0), json!({"$str": "ff"})),
        stderr(json!(1), json!("no end")),
    ];
    assert_eq!(of_child.map(shown).collect::<Vec<_>>(), wanted);
    let places: Vec<bool> = lines
        .iter()
        .map(|line| line.get("index").is_some())
        .collect();
    assert_eq!(places, [false, false, true, false, false, true, false]);
    // They are no input of encode.
    let (code, encoded, _) = decode(&["encode", "-p", "mcp"], &out);
    let messages = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    assert_eq!((code, encoded.as_str()), (0, messages));
    let (code, out, _) = decode(&["decode", "--stderr"], &recording);
    assert_eq!(code, 0);
    insta::assert_snapshot!(out, @r"
            00:00:00.000 c1 stderr: starting
            00:00:00.001 c1 stderr: listening on 8080
       #0        0 c1 00:00:00.002 → request       ping                 1
            00:00:00.003 c1 stderr: Authorization: Bearer (secret)
            00:00:00.004 c1 stderr: �
       #1        0 c1        +3 ms ← response      ping                 1        3 ms {}
            00:00:00.006 c1 stderr: no end
    ");
    // Without the flag, they are left out.
    let (_, out, _) = decode(&["decode"], &recording);
    assert!(!out.contains("stderr"), "{out}");
}

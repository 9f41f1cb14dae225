//! Conditions agree with the output: short flags with their long forms, and keys with JSON output.

use crate::common::Setup;
use crate::seeds::{each, fixtures};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use wiretool::capture::{CaptureInput, Form};
use wiretool::conversation::{Output, RuleSettings, Run};
use wiretool::decoder::Decoded;
use wiretool::encoding::Want;
use wiretool::protocol::registry;
use wiretool::render::{DisplayOptions, json};
use wiretool::select::{Expr, Filter, Select};

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Flags that select messages, each with its long form.
fn flags(decoded: &Decoded<'_>) -> Vec<(Select, String)> {
    let (message, origin) = (decoded.message, decoded.origin);
    let none = Select::default();
    let kind = message.kind.to_string();
    let mut flags = vec![(
        Select {
            kinds: vec![kind.clone()],
            ..none.clone()
        },
        format!("kind={}", quoted(&kind)),
    )];
    let start: String = kind.chars().take(2).collect();
    flags.push((
        Select {
            kinds: vec!["nothing".into(), format!("{start}*")],
            ..none.clone()
        },
        format!("kind=nothing or kind~{}", quoted(&format!("{start}*"))),
    ));
    let id = message.id.text().into_owned();
    if !id.is_empty() {
        let select = Select {
            ids: vec![id.clone()],
            ..none.clone()
        };
        flags.push((select, format!("id={}", quoted(&id))));
    }
    flags.extend(message.subject.as_ref().map(|subject| {
        let select = Select {
            subjects: vec![subject.to_string()],
            ..none.clone()
        };
        (select, format!("subject={}", quoted(subject)))
    }));
    flags.extend(origin.direction.map(|direction| {
        let select = Select {
            direction: Some(direction),
            ..none.clone()
        };
        (select, format!("dir={}", direction.name()))
    }));
    flags
}

#[test]
fn flags_equal_their_long_forms() {
    let mut asked = 0;
    for (protocol, file) in fixtures() {
        let mut forms: BTreeMap<String, (Filter, Expr)> = BTreeMap::new();
        each(protocol, &file, Want::Places, &mut |decoded| {
            for (select, long) in flags(decoded) {
                let expr: Expr = long.parse().unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(select.expr(), expr, "{long}");
                let again = expr.to_string().parse();
                assert_eq!(again, Ok(expr.clone()), "{long}");
                forms.insert(long, (select.filter(), expr));
            }
        });
        let mut hits: BTreeMap<&str, u32> = BTreeMap::new();
        let mut scratch = Vec::new();
        each(protocol, &file, Want::Places, &mut |decoded| {
            for (long, (filter, expr)) in &forms {
                let short = filter.matches(decoded, None, &mut scratch);
                assert_eq!(short, expr.holds(decoded, None, &mut scratch), "{long}");
                *hits.entry(long).or_default() += u32::from(short);
                asked += 1;
            }
        });
        for (long, hits) in hits {
            assert!(
                hits > 0 || long.ends_with("fault"),
                "{long} never holds in {}",
                file.display()
            );
        }
    }
    assert!(asked > 1000, "only {asked} were asked");
}

/// Keys with one value, with their paths in a line of JSON output.
const KEYS: [&str; 13] = [
    "index",
    "conn",
    "dir",
    "time",
    "offset",
    "len",
    "body_offset",
    "body_len",
    "framing",
    "protocol",
    "kind",
    "role",
    "subject",
];

/// The condition for a value of JSON output; `None` if JSON has a special form for it.
fn conditions(path: &str, value: &serde_json::Value, out: &mut Vec<String>) {
    use serde_json::Value as V;
    match value {
        V::Null => out.push(format!("{path}=null not {path}")),
        V::Bool(v) => out.push(format!("{path}={v}")),
        V::String(text) => out.push(format!("{path}={} {path}", quoted(text))),
        V::Number(n)
            if n.as_f64().is_some_and(|f| f.abs() > 9e15) && !n.is_u64() && !n.is_i64() => {}
        V::Number(n) => out.push(format!("{path}={n} {path}<={n} not {path}<{n}")),
        V::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                conditions(&format!("{path}[{i}]"), item, out);
            }
        }
        V::Object(members) if members.keys().any(|k| k.starts_with('$')) => {}
        V::Object(members) => {
            for (key, item) in members {
                conditions(&format!("{path}.{}", quoted(key)), item, out);
            }
        }
    }
}

#[test]
fn keys_equal_json_output() {
    let mut asked = 0;
    for (protocol, file) in fixtures() {
        let mut scratch = Vec::new();
        each(protocol, &file, Want::Places, &mut |decoded| {
            let mut line = Vec::new();
            json::write(decoded, None, DisplayOptions::default(), &mut line);
            let Ok(reported) = serde_json::from_slice::<serde_json::Value>(&line) else {
                return;
            };
            let mut wanted = Vec::new();
            for key in KEYS {
                match &reported[key] {
                    serde_json::Value::Null => wanted.push(format!("not {key}")),
                    serde_json::Value::String(text) => {
                        wanted.push(format!("{key}={} {key}", quoted(text)));
                    }
                    value => wanted.push(format!("{key}={value}")),
                }
            }
            match &reported["id"] {
                serde_json::Value::Null => wanted.push("not id".into()),
                serde_json::Value::String(text) => wanted.push(format!("id={}", quoted(text))),
                _ => {}
            }
            // A kind that only looks like a known one needs quotes.
            let kind = reported["kind"].as_str().map(|kind| format!("kind={kind}"));
            let near = |text: &String| protocol == "sael" && text.parse::<Expr>().is_err();
            wanted.extend(kind.filter(|text| !near(text)));
            let code = reported["fault"]["code"].as_str();
            wanted.push(code.map_or("not fault".into(), |code| format!("fault={code}")));
            let more = reported["faults"].as_array().into_iter().flatten();
            wanted.extend(
                more.map(|fault| format!("faults={}", fault["code"].as_str().expect("a code"))),
            );
            wanted.push(
                if reported.get("raw").is_some() {
                    "raw"
                } else {
                    "not raw"
                }
                .into(),
            );
            if reported.get("message").is_some() {
                let mut all = Vec::new();
                conditions("message", &reported["message"], &mut all);
                // A lone surrogate is shown as U+FFFD, but is not that character.
                let surrogate = code == Some("lone-surrogate");
                wanted.extend(all.into_iter().map(|text| {
                    if surrogate && text.contains('\u{fffd}') {
                        format!("not {text}")
                    } else {
                        text
                    }
                }));
            } else {
                wanted.push("not message".into());
            }
            for text in wanted {
                let expr: Expr = text
                    .parse()
                    .unwrap_or_else(|e| panic!("{}\n{e}", file.display()));
                assert!(
                    expr.holds(decoded, None, &mut scratch),
                    "{text} does not hold for {}",
                    String::from_utf8_lossy(&line)
                );
                asked += 1;
            }
        });
    }
    assert!(asked > 5000, "only {asked} were asked");
}

#[test]
fn conversation_keys_select_messages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let (mut answers, mut findings) = (0, 0);
    for protocol in registry::all() {
        let Ok(folder) = std::fs::read_dir(root.join(protocol.name()).join("rules")) else {
            continue;
        };
        for file in folder.map(|file| file.expect("a file").path()) {
            let recording = std::fs::read(&file).expect("a fixture");
            let options = Setup::of(protocol.name()).options(Want::Places);
            let mut scratch = Vec::new();
            let mut tell = |output: Output<'_>| -> ControlFlow<()> {
                let Output::Message(decoded, Some(verdict)) = output else {
                    return ControlFlow::Continue(());
                };
                let mut wanted = Vec::new();
                match verdict.answer {
                    None => wanted.push("not reply_to not latency".to_owned()),
                    Some(answer) => {
                        wanted.push(format!("reply_to={}", answer.to));
                        let took = answer
                            .latency
                            .map(|ns| format!("latency={ns}ns latency_ms>={ns}ns"));
                        wanted.push(took.unwrap_or("not latency".to_owned()));
                        answers += 1;
                    }
                }
                let here = verdict.findings.iter();
                let here: Vec<_> = here.filter(|f| f.place.index == decoded.index).collect();
                wanted.push(
                    if here.is_empty() {
                        "not findings"
                    } else {
                        "findings"
                    }
                    .to_owned(),
                );
                for finding in here {
                    wanted.push(format!("finding={}", finding.name()));
                    wanted.push(format!("findings={}", finding.rule.name));
                    findings += 1;
                }
                for text in wanted {
                    let expr: Expr = text.parse().unwrap_or_else(|e| panic!("{e}"));
                    let holds = expr.holds(decoded, Some(verdict), &mut scratch);
                    assert!(holds, "{text} in {}", file.display());
                }
                ControlFlow::Continue(())
            };
            let input = CaptureInput::new(Form::Recording);
            let mut run = Run::new(input, options, Some(RuleSettings::default()));
            assert!(run.read_all(&recording, &mut tell).is_continue());
        }
    }
    assert!(
        answers > 0 && findings > 0,
        "{answers} answers, {findings} findings"
    );
}

//! Compares the `wiretool sael` commands with the measured behaviour of three reference implementations.
//!
//! The vectors are not part of this repository: `WIRETOOL_CAPTURES` names the folder with `sael/tokens.json` and
//! `sael/conformance-cases.json`. Without it the tests are skipped.

use serde_json::Value;
use std::path::PathBuf;
use wiretool::protocol::sael::capability::{Grant, allows};
use wiretool::protocol::sael::filter::{FilterDialect, ItemFilter};
use wiretool::protocol::sael::token::{Check, CheckOutcome, Token, mint, verified};

fn load(name: &str) -> Option<Value> {
    let Some(folder) = std::env::var_os("WIRETOOL_CAPTURES") else {
        println!("WIRETOOL_CAPTURES is not set: nothing of {name} is checked");
        return None;
    };
    let path = PathBuf::from(folder).join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Some(serde_json::from_str(&text).unwrap())
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The check that a textual verdict names.
fn checks_of(verdict: &str) -> &'static [Check] {
    match verdict {
        "invalid: malformed" => &[Check::Split, Check::Prefix, Check::Version],
        "invalid: signature" => &[Check::Signature],
        "invalid: expired" => &[Check::NotExpired],
        "invalid: issued in the future" => &[Check::IssuedAt],
        "invalid: sub required" => &[Check::Subject],
        "invalid: scope required" => &[Check::Scope],
        "invalid: payload encoding" => &[Check::Alphabet],
        "invalid: payload" => &[Check::Claims],
        "valid" | "valid?" => &[],
        other => panic!("what is {other}?"),
    }
}

#[test]
fn token_vectors_agree() {
    let Some(all) = load("sael/tokens.json") else {
        return;
    };
    let now = all["measured_at_unix"].as_i64().unwrap();
    let vectors = list(&all, "vectors");
    let mut agree = [0; 3];
    for vector in vectors {
        let (name, secret) = (text(vector, "name"), text(vector, "secret"));
        let token = Token::parse(text(vector, "token"));
        let checks = token.verify(secret.as_bytes(), now, None);
        let failed: Vec<Check> = checks
            .iter()
            .filter(|c| c.outcome == CheckOutcome::Failed)
            .map(|c| c.check)
            .collect();
        let wanted = checks_of(text(vector, "by_document"));
        assert_eq!(failed.is_empty(), wanted.is_empty(), "{name}: {checks:#?}");
        assert!(
            wanted.is_empty() || failed.iter().any(|c| wanted.contains(c)),
            "{name}: {checks:#?}"
        );
        if let (Some(json), false) = (token.json(), wanted.contains(&Check::Split)) {
            assert_eq!(json, text(vector, "claims_text"), "{name}");
        }
        // A token of a reference implementation is reproduced byte by byte.
        if name.contains("-minted-") {
            let ours = mint(text(vector, "claims_text"), secret.as_bytes()).unwrap();
            assert_eq!(ours, text(vector, "token"), "{name}");
        }
        let mut apart = Vec::new();
        for (count, dialect) in agree.iter_mut().zip(FilterDialect::ALL) {
            let theirs = vector["measured"][dialect.name()]["valid"]
                .as_bool()
                .unwrap();
            if theirs == failed.is_empty() {
                *count += 1;
            } else {
                apart.push(dialect.name());
            }
        }
        if !apart.is_empty() {
            println!(
                "{name}: {} by the document, otherwise {}",
                text(vector, "by_document"),
                apart.join(", ")
            );
        }
    }
    println!(
        "{0} of {0} tokens as the document has it; as go {1}, python {2}, typescript {3}",
        vectors.len(),
        agree[0],
        agree[1],
        agree[2]
    );
    assert!(vectors.len() >= 24);
}

#[test]
fn conformance_tokens_agree() {
    let Some(all) = load("sael/conformance-cases.json") else {
        return;
    };
    let cases = list(&all, "token");
    for case in cases {
        let secret = text(case, "secret").as_bytes();
        let minted = mint(&case["claims"].to_string(), secret).unwrap();
        let checks = Token::parse(&minted).verify(secret, 1_795_219_684, None);
        assert_eq!(
            verified(&checks),
            case["valid"].as_bool().unwrap(),
            "{}: {checks:#?}",
            text(case, "name")
        );
        let wanted = match case["error_contains"].as_str() {
            None => continue,
            Some("expired") => Check::NotExpired,
            Some("not yet") => Check::NotBefore,
            Some(other) => panic!("what is {other}?"),
        };
        let failed = checks.iter().filter(|c| c.outcome == CheckOutcome::Failed);
        assert_eq!(failed.map(|c| c.check).collect::<Vec<_>>(), [wanted]);
    }
    println!("{0} of {0} conformance tokens", cases.len());
    assert!(cases.len() >= 3);
}

#[test]
fn filter_vectors_agree() {
    let Some(all) = load("sael/conformance-cases.json") else {
        return;
    };
    let rows = list(&all, "rows");
    let cases = list(&all, "filter");
    let (mut apart, mut agree) = (0, [0; 3]);
    let mut wrong = String::new();
    for case in cases {
        let expr = text(case, "expr");
        let items = case["items"].as_array().map_or(rows, Vec::as_slice);
        let filter = ItemFilter::parse(expr).unwrap();
        let kept = |dialect| -> Vec<usize> {
            let keeps = |i: &usize| filter.keeps(&items[*i], 1_795_219_684, dialect);
            (0..items.len()).filter(keeps).collect()
        };
        let theirs = |dialect: FilterDialect| -> Vec<usize> {
            let kept = list(&case["kept"], dialect.name());
            kept.iter().map(|i| i.as_u64().unwrap() as usize).collect()
        };
        for (count, dialect) in agree.iter_mut().zip(FilterDialect::ALL) {
            if kept(dialect) == theirs(dialect) {
                *count += 1;
            } else {
                wrong += &format!(
                    "{expr}: {} keeps {:?}, here {:?}\n",
                    dialect.name(),
                    theirs(dialect),
                    kept(dialect)
                );
            }
        }
        // Differences between implementations are reported, and only those.
        let outgoing = items
            .iter()
            .any(|item| !filter.judge(item, 1_795_219_684).agree());
        let differ = case["all_agree"] == false;
        if outgoing != differ {
            wrong += &format!("{expr}: the references differ: {differ}; said: {outgoing}\n");
        }
        if differ {
            apart += 1;
            println!(
                "{expr}: the references differ; go is followed: {:?}",
                kept(FilterDialect::Go)
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    println!(
        "{} filters, {apart} over which the references differ: as go {}, python {}, typescript {}",
        cases.len(),
        agree[0],
        agree[1],
        agree[2]
    );
    assert!(cases.len() >= 101);
    for case in list(&all, "filter_non_array_input") {
        let filter = ItemFilter::parse(text(case, "expr")).unwrap();
        assert_eq!(
            filter.apply(&case["input"], 0, FilterDialect::Go),
            case["go"]
        );
    }
}

#[test]
fn capability_vectors_agree() {
    let Some(all) = load("sael/conformance-cases.json") else {
        return;
    };
    let cases = list(&all, "capability");
    let mut differ = 0;
    for case in cases {
        let name = text(case, "name");
        let grants: Vec<&str> = list(case, "grants")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let found = allows(&grants, text(case, "required"));
        let by_document = match case.get("expected").unwrap_or(&case["by_document"]) {
            Value::Bool(yes) => Grant::from(*yes),
            _ => Grant::Open,
        };
        assert_eq!(found.document.verdict, by_document, "{name}");
        assert_eq!(
            Some(found.code.verdict == Grant::Yes),
            case["go"].as_bool(),
            "{name}"
        );
        differ += usize::from(!found.agree());
    }
    println!(
        "{0} of {0} capability cases by both rules; they differ over {differ}",
        cases.len()
    );
    assert!(cases.len() >= 21);
}

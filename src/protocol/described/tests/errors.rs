//! Errors of descriptions: each with line, column, and what was expected.

use crate::protocol::described::Described;
use proptest::prelude::*;

/// A description without an error.
const CORRECT: &str = r#"name = "quiz"
framings = ["lines"]
[[message]]
when = ".ask"
role = "request"
id = ".ask"
[[message]]
role = "response"
id = ".answer"
[marks]
secret = ["token"]
"#;

/// Returns `LINE:COLUMN: TEXT` of each error.
fn errors(text: &str) -> Vec<String> {
    match Described::from_toml(text) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let errors = error.errors();
            errors
                .map(|(line, column, text)| format!("{line}:{column}: {text}"))
                .collect()
        }
    }
}

#[test]
fn wrong_descriptions_have_places() {
    assert_eq!(errors(CORRECT), Vec::<String>::new());
    for (from, to, want) in [
        (
            "name = \"quiz\"",
            "",
            &["1:1: wanted a name: name = \"my-protocol\""][..],
        ),
        (
            "\"quiz\"",
            "\"Quiz\"",
            &[
                "1:8: name: wanted at most 32 lower-case letters, digits and hyphens, a letter first, got \"Quiz\"",
            ],
        ),
        (
            "framings",
            "framing",
            &[
                "1:1: wanted framings: a list of lines, prefix, content-length, websocket, http, values, message",
                "2:1: unknown key framing: did you mean framings?",
            ],
        ),
        (
            "[\"lines\"]",
            "[\"lines\", \"pipe\"]",
            &[
                "2:22: framings: wanted a list of lines, prefix, content-length, websocket, http, values, message, got \"pipe\"",
            ],
        ),
        (
            "[\"lines\"]",
            "[\"lines\", \"lines\"]",
            &["2:22: framings: wanted each name once, got \"lines\""],
        ),
        (
            "[\"lines\"]",
            "[]",
            &[
                "2:12: framings: wanted a list of lines, prefix, content-length, websocket, http, values, message, got []",
            ],
        ),
        (
            "when = \".ask\"",
            "wehn = \".ask\"",
            &["4:1: unknown key wehn: did you mean when?"],
        ),
        (
            "when = \".ask\"",
            "when = \"kind=call\"",
            &[
                "4:9: when: wanted paths of the message, such as .type, of at most 16 steps, or dir, got kind",
            ],
        ),
        (
            "when = \".ask\"",
            "when = \".ask=\"",
            &["4:14: when: wanted a value"],
        ),
        (
            "when = \".ask\"",
            "when = \".ask and (.b\"",
            &["4:21: when: wanted a closing parenthesis (the one at column 10 is open)"],
        ),
        (
            "role = \"request\"",
            "role = \"question\"",
            &[
                "5:8: role: wanted one of request, response, error, notification, item, end, hello, heartbeat, control, got \"question\"",
            ],
        ),
        (
            "role = \"request\"",
            "",
            &[
                "3:1: wanted a role: one of request, response, error, notification, item, end, hello, heartbeat, control",
            ],
        ),
        (
            "id = \".ask\"",
            "",
            &["3:1: wanted id: the path of the id that pairs the request"],
        ),
        (
            "id = \".answer\"",
            "",
            &["7:1: wanted reply-to or id: the path of the id that pairs the response"],
        ),
        (
            "id = \".ask\"",
            "id = \"ask\"",
            &["6:6: id: wanted a path that starts with a dot, such as .id or .[1], got \"ask\""],
        ),
        (
            "id = \".ask\"",
            "id = \".ask[x]\"",
            &["6:12: id: wanted the number of an element, or a name in quotes"],
        ),
        (
            "id = \".ask\"",
            "id = \".ask[999]\"",
            &[
                "6:6: id: wanted a path of at most 16 steps and elements up to [255], got \".ask[999]\"",
            ],
        ),
        (
            "id = \".ask\"",
            "id = \".ask\"\nreply-to = \".b\"",
            &["7:1: reply-to is of an answer, but the role is request"],
        ),
        (
            "id = \".ask\"",
            "id = 7",
            &["6:6: id: wanted a path that starts with a dot, such as .id or .[1], got 7"],
        ),
        (
            "[marks]",
            "[marks]\nvolatile = [\"a..b\"]",
            &[
                "11:13: volatile: wanted a list of paths, such as seq, **.ts or KIND:PATH, got \"a..b\"",
            ],
        ),
        (
            "secret = [\"token\"]",
            "generated = [{ path = \"a\", fresh = \"new\" }]",
            &["11:36: fresh: wanted id, time, given or same, got \"new\""],
        ),
        (
            "secret = [\"token\"]",
            "references = [{ path = \"a\", maker = \"me\" }]",
            &["11:37: maker: wanted sender or receiver, got \"me\""],
        ),
        (
            "[marks]",
            "[opening]\nclient = ['{\"ask\":']\n[marks]",
            &["11:11: client: wanted JSON as text, got '{\"ask\":'"],
        ),
        (
            "[marks]",
            "[opening]\nanswers = [{ when = \".ask\" }]\n[marks]",
            &["11:12: answers: wanted when and result"],
        ),
        (
            "framings",
            "encodings = [\"cbor\", \"msgpack\"]\nframings",
            &["2:13: encodings: wanted json and at most one other, got [\"cbor\", \"msgpack\"]"],
        ),
        (
            "framings",
            "port = 0\nframings",
            &["2:8: port: wanted a number from 1 to 65535, got 0"],
        ),
        (
            "framings",
            "sides = [\"a\", \"a\"]\nframings",
            &[
                "2:9: sides: wanted two names: first the side that opens the connection, got [\"a\", \"a\"]",
            ],
        ),
        (
            "framings",
            "pair = \"time\"\nframings",
            &["2:8: pair: wanted id or order, got \"time\""],
        ),
        (
            "framings",
            "encodings = [\"xml\"]\nframings",
            &["2:14: encodings: wanted a list of json, msgpack, cbor, got \"xml\""],
        ),
        (
            "framings",
            "base = \"jsonrpc\"\nframings",
            &["4:3: message: the base has its own"],
        ),
        (
            "framings",
            "base = \"xmlrpc\"\nframings",
            &[
                "2:8: base: wanted the name of a built-in protocol (saikuro, oracle, sael, stepflow, telequick, mcp, lsp, acp, jsonrpc), got \"xmlrpc\"",
            ],
        ),
        (
            "name = \"quiz\"",
            "name = ",
            &["1:8: string values must be quoted, expected literal string"],
        ),
    ] {
        assert!(CORRECT.contains(from), "{from}");
        assert_eq!(
            errors(&CORRECT.replacen(from, to, 1)),
            want,
            "{from} -> {to}"
        );
    }
}

#[test]
fn all_errors_are_reported() {
    let text = CORRECT
        .replace("request", "ask")
        .replace("[marks]", "[mark]")
        .replace(".ask", "ask");
    let found = errors(&text);
    assert_eq!(found.len(), 4, "{found:#?}");
}

#[test]
fn errors_have_carets() {
    let error = Described::from_toml(&CORRECT.replace("role = \"request\"", "rol = \"request\""));
    insta::assert_snapshot!(error.unwrap_err().to_string(), @r#"
    description:3:1: wanted a role: one of request, response, error, notification, item, end, hello, heartbeat, control
      [[message]]
      ^^^^^^^^^^^
    description:5:1: unknown key rol: did you mean role?
      rol = "request"
      ^^^
    "#);
}

#[test]
fn descriptions_are_bounded() {
    let kinds = "[[message]]\nrole = \"notification\"\n".repeat(200);
    let regex = "[[message]]\nrole = \"notification\"\nwhen = '.a~/b/'\n".repeat(20);
    let members = (0..40).fold(String::new(), |text, n| {
        text + &format!("[[message]]\nrole = \"notification\"\nsubject = \".m{n}\"\n")
    });
    let deep = format!("when = \"{}.a\"\n", "(".repeat(70_000));
    let nested = format!("x = {}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    let large = format!("about = \"{}\"\n", "a".repeat(300 << 10));
    let states = "[[message]]\nrole = \"notification\"\nwhen = '.a~/(\\w{1000}){1000}/'\n";
    for (text, want) in [
        (kinds.as_str(), "message: wanted at most 128 kinds"),
        (&regex, "when: wanted at most 16 regular expressions in all"),
        (
            &members,
            "wanted paths with at most 32 different first members",
        ),
        (&deep, "unknown key when"),
        (&nested, ""),
        (&large, "wanted a description of at most 256 KiB"),
        (states, "when: wanted a regular expression"),
    ] {
        let text = format!("name = \"x\"\nframings = [\"lines\"]\n{text}");
        let found = errors(&text).join("\n");
        assert!(found.contains(want) && !found.is_empty(), "{want}: {found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A description with a damaged part is read or refused.
    #[test]
    fn damaged_descriptions_are_read_or_refused(at in 0..CORRECT.len(), len in 0..40_usize, text in "[ -~\n]{0,8}") {
        let end = (at + len).min(CORRECT.len());
        let mut damaged = CORRECT.to_owned();
        damaged.replace_range(at..end, &text);
        if let Err(error) = Described::from_toml(&damaged) {
            prop_assert!(error.errors().all(|(line, column, text)| line > 0 && column > 0 && !text.is_empty()));
        }
    }
}

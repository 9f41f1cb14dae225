//! Types of messages: the short form, schema files, and files that a description may not read.

use super::errors::FORMS;
use super::heartbeat::BEATING;
use super::rules::check;
use crate::protocol::described::{Described, embedded, texts};
use std::cell::RefCell;

/// A protocol with types in the short form.
const TYPED: &str = r#"
name = "quiz"
framings = ["lines"]
[[message]]
when = ".ask"
role = "request"
id = ".ask"
type = "ask"
[[message]]
when = ".op"
role = "notification"
[[message]]
role = "response"
id = ".answer"
[types]
ask = { ask = "int", "about?" = "text", "tags?" = "[text | int]", "at?" = "point" }
point = { x = "number", "y?" = "number | null", "of?" = { name = "text" } }
level = { op = "'level'", level = "'low' | 'high' | 3", "on?" = "true | 'maybe'" }
stop = { op = "'stop'", "why?" = "any", "more?" = "object", "is?" = "bool" }
"#;

/// Reads a description with files.
fn with_files(text: &str, files: &[(&str, &str)]) -> Result<Described, String> {
    let read = |name: &str| {
        let found = files.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, text)| (*text).to_owned())
            .ok_or_else(|| format!("no file {name}"))
    };
    Described::from_toml_with("x", text, &read).map_err(|error| {
        let errors = error
            .errors()
            .map(|(line, column, text)| format!("{line}:{column}: {text}"));
        errors.collect::<Vec<_>>().join("; ")
    })
}

#[test]
fn messages_are_compared_with_their_types() {
    let quiz = with_files(TYPED, &[]).unwrap();
    for (line, want) in [
        (r#">{"op":"level","level":"low"}"#, ""),
        (r#">{"op":"level","level":3,"on":true}"#, ""),
        (
            r#">{"op":"level","level":"mid"}"#,
            "0 wrong-type: level: message.level",
        ),
        (
            r#">{"op":"level","level":3,"on":false}"#,
            "0 wrong-type: level: message.on",
        ),
        (
            r#">{"op":"stop","why":[],"more":{},"is":false,"new":1}"#,
            "",
        ),
        (
            r#">{"op":"stop","is":1}"#,
            "0 wrong-type: stop: message.is is an integer; it must be a bool",
        ),
        (
            r#">{"op":"stop","more":1}"#,
            "0 wrong-type: stop: message.more is an integer; it must be an object",
        ),
        (r#">{"op":"other","is":1}"#, ""),
    ] {
        let found = check(&quiz, &[line]).join("\n");
        assert!(
            found.starts_with(want) && found.is_empty() == want.is_empty(),
            "{line}: {found}"
        );
    }
    for (line, want) in [
        (
            r#">{"ask":1,"about":"x","tags":["a",1],"at":{"x":1.5,"y":null,"of":{"name":"n"}}}"#,
            "",
        ),
        (
            r#">{"ask":1,"tags":["a",null]}"#,
            "0 wrong-type: ask: message.tags[1]",
        ),
        (
            r#">{"ask":1,"at":{"y":1}}"#,
            "0 wrong-type: ask: message.at has no `x`, which is required",
        ),
        (
            r#">{"ask":1,"at":{"x":1,"of":{"name":2}}}"#,
            "0 wrong-type: ask: message.at.of.name is an integer; it must be a string",
        ),
        (
            r#">{"ask":"1"}"#,
            "0 wrong-type: ask: message.ask is a string; it must be an integer",
        ),
    ] {
        let found = check(&quiz, &[line]).join("\n");
        assert!(
            found.starts_with(want) && found.is_empty() == want.is_empty(),
            "{line}: {found}"
        );
    }
}

#[test]
fn wrong_types_have_places() {
    for (from, to, want) in [
        (
            "\"'stop'\"",
            "\"stap\"",
            "19:15: op: wanted text, int, number, bool, null, any, object, a name of [types], [text], 'on' | 'off', or a table, got \"stap\"",
        ),
        (
            "\"[text | int]\"",
            "\"[text | tint]\"",
            "16:51: tags: wanted text, int, number, bool, null, any, object, a name of [types], [text], 'on' | 'off', or a table, got \"[text | tint]\"",
        ),
        (
            "type = \"ask\"",
            "type = \"asks\"",
            "8:8: type: wanted the name of a definition in types or schema, got \"asks\"",
        ),
        (
            "[types]",
            "[types]\nx = 1",
            "16:5: types: wanted a table, got 1",
        ),
        (
            "framings",
            "schema = \"a.json\"\nframings",
            "3:10: schema: no file a.json",
        ),
        (
            "framings",
            "schema = \"../a.json\"\nframings",
            "3:10: schema: wanted a path in the folder of the description, got \"../a.json\"",
        ),
        (
            "framings",
            "schema = \"/etc/passwd\"\nframings",
            "3:10: schema: wanted a path in the folder of the description, got \"/etc/passwd\"",
        ),
        (
            "framings",
            "schema = \"wrong.json\"\nframings",
            "3:10: schema: wrong.json: line 1, column 7: wanted JSON: expected value",
        ),
        (
            "framings",
            "schema = \"none.json\"\nframings",
            "3:10: schema: none.json: wanted definitions of messages: `$defs` or `definitions` of JSON Schema, `methods` of OpenRPC, or `requests` of metaModel.json; got none",
        ),
        (
            "framings",
            "schema-dir = \"dir\"\nframings",
            "3:14: schema-dir: wanted schema beside it, got \"dir\"",
        ),
    ] {
        assert!(TYPED.contains(from), "{from}");
        let files = [("wrong.json", "{\"a\": x}"), ("none.json", "{}")];
        let error = with_files(&TYPED.replacen(from, to, 1), &files).unwrap_err();
        assert_eq!(error, want, "{from} -> {to}");
    }
    let deep = format!(
        "[types]\nx = {{ a = \"{}int{}\" }}",
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let error = with_files(&TYPED.replace("[types]", &deep), &[]).unwrap_err();
    assert!(error.contains("a: wanted text, int"), "{error}");
    let alone = Described::from_toml("name = \"x\"\nbase = \"jsonrpc\"\nschema = \"a.json\"\n");
    assert!(
        alone
            .unwrap_err()
            .to_string()
            .contains("schema: the description is in no folder")
    );
}

const OPEN_RPC: &str = r##"{"openrpc": "1.2.6", "methods": [
  {"name": "eth_getBalance",
   "params": [{"name": "Address", "required": true, "schema": {"$ref": "#/components/schemas/address"}}],
   "result": {"name": "Balance", "schema": {"$ref": "https://example.org/types.json#/definitions/quantity"}}}],
  "components": {"schemas": {"address": {"type": "string", "pattern": "^0x[0-9a-f]{4}$"}}}}"##;

#[test]
fn a_base_and_a_schema_file_describe_a_protocol() {
    let text = "name = \"eth\"\nabout = \"Ethereum\"\nbase = \"jsonrpc\"\nschema = \"openrpc.json\"\nport = 8545\n";
    let types = r##"{"definitions": {"quantity": {"allOf": [{"$ref": "#/definitions/text"}, {"$ref": "more.json#/long"}]}, "text": {"type": "string"}}}"##;
    let more = r#"{"long": {"minLength": 3}}"#;
    let files = [
        ("openrpc.json", OPEN_RPC),
        ("types/types.json", types),
        ("types/more.json", more),
    ];
    let with_folder = format!("{text}schema-dir = \"types\"\n");
    let ask = |id: u32, address: &str| {
        format!(
            r#">{{"jsonrpc":"2.0","id":{id},"method":"eth_getBalance","params":["{address}"]}}"#
        )
    };
    let (first, second) = (ask(1, "0x00ff"), ask(2, "0xff"));
    let lines = [
        first.as_str(),
        r#"<{"jsonrpc":"2.0","id":1,"result":"0x5"}"#,
        &second,
        r#"<{"jsonrpc":"2.0","id":2,"result":5}"#,
    ];
    let eth = with_files(&with_folder, &files).unwrap();
    assert_eq!(
        check(&eth, &lines),
        [
            "1 -> 0",
            "2 wrong-type: eth_getBalance: params[0] does not match the pattern ^0x[0-9a-f]{4}$",
            "3 -> 2",
            "3 wrong-type: eth_getBalance: result is an integer; it must be a string",
        ]
    );
    let short = [first.as_str(), r#"<{"jsonrpc":"2.0","id":1,"result":"0x"}"#];
    let found = check(&eth, &short).join("\n");
    assert!(
        found.contains("1 wrong-type: eth_getBalance: result"),
        "{found}"
    );
    // Without the folder, the reference is reported once.
    let eth = with_files(text, &files).unwrap();
    assert_eq!(
        check(&eth, &lines),
        [
            "1 -> 0",
            r#"1 not-checked: eth_getBalance: the reference "https://example.org/types.json#/definitions/quantity" is not in the schema"#,
            "2 wrong-type: eth_getBalance: params[0] does not match the pattern ^0x[0-9a-f]{4}$",
            "3 -> 2",
        ]
    );
}

#[test]
fn types_of_a_body_after_a_header() {
    let text = "name = \"x\"\n[header]\nfields = [{ name = \"n\", type = \"u8\", length = \"body\" }]\n[[message]]\nrole = \"notification\"\ntype = \"t\"\n[types]\nt = { a = \"int\" }\n";
    let protocol = with_files(text, &[]).unwrap();
    // The check of lines adds a line end, which is white space of the body.
    let found = check(&protocol, &[">\u{8}{\"a\":\"\"}"]);
    assert_eq!(
        found.first().map(String::as_str),
        Some("0 wrong-type: t: message.a is a string; it must be an integer")
    );
}

#[test]
fn dap_has_its_schema() {
    let dap = embedded()[0];
    // A line end follows each line, which is white space of its body.
    let message = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len() + 1);
    let ask =
        message(r#"{"seq":1,"type":"request","command":"next","arguments":{"threadId":"1"}}"#);
    let scopes =
        message(r#"{"seq":2,"type":"request","command":"scopes","arguments":{"frameId":1}}"#);
    let answer = message(
        r#"{"seq":1,"type":"response","request_seq":2,"success":true,"command":"scopes","body":{}}"#,
    );
    let event = message(r#"{"seq":2,"type":"event","event":"output","body":{"output":1}}"#);
    let lines = [
        format!(">{ask}"),
        format!(">{scopes}"),
        format!("<{answer}"),
        format!("<{event}"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let found = check(dap, &lines);
    let wrong: Vec<_> = found
        .iter()
        .filter(|one| one.contains("wrong-type"))
        .collect();
    assert_eq!(
        wrong,
        [
            "0 wrong-type: NextRequest: message.arguments.threadId is a string; it must be an integer",
            "2 wrong-type: ScopesResponse: message.body has no `scopes`, which is required",
            "3 wrong-type: OutputEvent: message.body.output is an integer; it must be a string",
        ],
        "{found:#?}"
    );
}

/// Answers without a definition of their request have the one whose constant members they have; a constant object is
/// compared, too.
#[test]
fn answers_are_compared_with_the_definition_of_their_constants() {
    let schema = r#"{"$defs": {
        "Ask": {"properties": {"type": {"const": "ask"}, "of": {"const": {"a": 1}}}},
        "Ans": {"properties": {"type": {"const": "ans"}, "v": {"type": "string"}}, "additionalProperties": {"type": "integer"}}
    }}"#;
    let text = r#"
name = "quiz"
framings = ["lines"]
schema = "quiz.json"
[[message]]
when = ".type=ask"
role = "request"
id = ".id"
[[message]]
when = ".type=ans"
role = "response"
id = ".id"
error = ".bad"
"#;
    let quiz = with_files(text, &[("quiz.json", schema)]).unwrap();
    let lines = [
        r#">{"type":"ask","id":1,"of":{"a":1}}"#,
        r#"<{"type":"ans","id":1,"v":"x"}"#,
        r#">{"type":"ask","id":2,"of":{"a":2}}"#,
        r#"<{"type":"ans","id":2,"v":2}"#,
        r#">{"type":"ask","id":3,"of":"s"}"#,
        r#"<{"type":"ans","id":3,"bad":"x"}"#,
    ];
    let found = check(&quiz, &lines);
    let wrong = found.iter().filter(|one| one.contains("wrong-type"));
    let wrong: Vec<&str> = wrong.map(String::as_str).collect();
    insta::assert_snapshot!(wrong.join("\n"), @r"
    2 wrong-type: Ask: message.of is not the only allowed value
    3 wrong-type: Ans: message.v is an integer; it must be a string
    4 wrong-type: Ask: message.of is not the only allowed value
    5 wrong-type: Ans: message.bad is a string; it must be an integer
    ");
}

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) as usize) % most.max(1)
    }

    /// Returns a text with some parts removed, repeated, replaced or moved.
    fn mutate(&mut self, text: &str) -> String {
        const PARTS: [&str; 24] = [
            "..",
            "/etc/passwd",
            "[[",
            "{",
            "}",
            "\"",
            "'",
            "=",
            "0x",
            "-1",
            "99999999999999999999",
            "#/$defs/a",
            "$ref",
            "x.json#/a",
            "true",
            "{name...}",
            "{n:int}",
            "(a|b)*",
            "varint",
            "[types]",
            ".a[0]",
            "\u{e9}",
            "\\u0000",
            "u64",
        ];
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(6) {
            let at = self.below(chars.len() + 1);
            let end = (at + self.below(24)).min(chars.len());
            match self.below(4) {
                0 => drop(chars.drain(at..end)),
                1 => {
                    let part: Vec<char> = chars[at..end].to_vec();
                    let to = self.below(chars.len() + 1);
                    chars.splice(to..to, part);
                }
                _ => {
                    let part = PARTS[self.below(PARTS.len())];
                    chars.splice(at..end, part.chars());
                }
            }
        }
        chars.into_iter().collect()
    }
}

/// Descriptions and schemas of any content are read or refused, soon, and read only files beside them.
#[test]
fn hostile_descriptions_are_read_or_refused() {
    const SCHEMA: &str = r##"{"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}], "properties": {"op": {"const": "x"}}},
        "b": {"$ref": "#/$defs/a", "pattern": "^(a|b)*$", "patternProperties": {"^x": {"$ref": "other.json#/c"}}}}}"##;
    let own: Vec<&str> = texts()
        .map(|(_, text)| text)
        .chain([TYPED, FORMS, BEATING])
        .collect();
    let keys = "schema = \"s.json\"\nschema-dir = \"d\"\n";
    let mut random = Random(1);
    for round in 0..2_000 {
        let text = format!("{keys}{}", own[round % own.len()]);
        let text = if round % 3 == 0 {
            text
        } else {
            random.mutate(&text)
        };
        let schema = random.mutate(SCHEMA);
        let asked = RefCell::new(Vec::new());
        let files = |name: &str| {
            asked.borrow_mut().push(name.to_owned());
            Ok(schema.clone())
        };
        let start = std::time::Instant::now();
        let read = Described::from_toml_with("x", &text, &files);
        if let Ok(protocol) = read {
            check(
                &protocol,
                &[r#">{"op":"x","a":1,"seq":1,"type":"event","event":"stopped"}"#],
            );
        }
        let took = start.elapsed();
        assert!(took.as_secs() < 1, "{took:?}: {text}\n{schema}");
        for name in asked.into_inner() {
            let is_inside = !name.starts_with('/') && !name.split('/').any(|part| part == "..");
            assert!(is_inside, "{name}: {text}");
        }
    }
}

use super::*;
use crate::encoding::json;
use crate::protocol::tests::rows;
use crate::tape::Tape;
use serde_json::json;

/// Checks JSON text.
fn check(document: &SchemaDocument, text: &str) -> SchemaCheck {
    let mut tape = Tape::new();
    let root = json::root(text.as_bytes(), 512, &mut tape).expect("JSON");
    document.check(root, "input")
}

fn wrong(document: &SchemaDocument, text: &str) -> Option<String> {
    let found = check(document, text);
    assert_eq!(found.unchecked, None, "{text}");
    found.wrong.map(|wrong| wrong.text)
}

#[test]
fn the_first_mismatch_is_reported_with_its_path() {
    let schema = SchemaDocument::new(json!({
        "type": "object",
        "required": ["text"],
        "additionalProperties": false,
        "properties": {
            "text": {"type": "string", "enum": ["a", "b"]},
            "count": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
            "tags": {"type": "array", "items": {"type": "object", "required": ["id"]}},
            "mode": {"const": 1},
            "never": false,
            "any": true,
            "shared": {"$ref": "#/$defs/shared"},
            "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "$defs": {"shared": {"type": "boolean"}},
    }));
    for [input, wanted] in rows(
        r#"
{"text":"a"} |
{"text":"a","count":2.0,"any":[],"mode":1} |
{"text":"a","mode":1.0} |
{"text":"a","count":null,"tags":[{"id":1}]} |
[] | input is an array; it must be an object
{} | input has no `text`, which is required
{"text":1} | input.text is an integer; it must be a string
{"text":"c"} | input.text is not one of the allowed values
{"text":"a","count":0} | input.count is 0, but its minimum is 1
{"text":"a","count":10} | input.count is 10, but its maximum is 9
{"text":"a","count":1.5} | input.count is a fraction; it must be an integer or null
{"text":"a","tags":[{"id":1},{}]} | input.tags[1] has no `id`, which is required
{"text":"a","mode":2} | input.mode is not the only allowed value
{"text":"a","never":2} | input.never must not be there
{"text":"a","shared":2} | input.shared is an integer; it must be a bool
{"text":"a","either":null} |
{"text":"a","either":2} | input.either fits none of the schemas of anyOf
{"text":"a","txet":2} | it has no property input.txet
"#,
    ) {
        let found = wrong(&schema, input).unwrap_or_default();
        assert_eq!(found, wanted, "{input}");
    }
}

/// Each keyword: a schema, values that fit, and values that do not.
#[test]
fn each_keyword_is_checked() {
    let tree = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"node": {"properties": {"next": {"$ref": "#/definitions/node"}, "n": {"type": "integer"}}}},
        "$ref": "#/definitions/node", "maxProperties": 0,
    });
    let named = json!({
        "$id": "https://example.com/main",
        "properties": {
            "anchor": {"$ref": "#small"},
            "escaped": {"$ref": "#/$defs/a%25b~1c~0d"},
            "other": {"$ref": "https://example.com/other.json"},
            "relative": {"$ref": "other.json#/$defs/inner"},
            "itself": {"$ref": "#"},
        },
        "$defs": {
            "s": {"$anchor": "small", "maximum": 3},
            "a%b/c~d": {"type": "null"},
            "o": {"$id": "https://example.com/other.json", "type": "string", "$defs": {"inner": {"type": "boolean"}}},
        },
    });
    for (schema, fit, others) in [
        (
            json!({"minLength": 2, "maxLength": 3}),
            vec!["\"ab\"", "\"äöü\"", "1"],
            vec!["\"a\"", "\"abcd\""],
        ),
        (
            json!({"pattern": "^a\\d+$"}),
            vec!["\"a12\"", "null"],
            vec!["\"a\"", "\"ba1\""],
        ),
        (
            json!({"exclusiveMinimum": 1, "exclusiveMaximum": 3}),
            vec!["2", "1.5", "\"\""],
            vec!["1", "3", "3.0"],
        ),
        (
            json!({"minimum": 1, "exclusiveMinimum": true}),
            vec!["2"],
            vec!["1", "0"],
        ),
        (
            json!({"multipleOf": 0.01}),
            vec!["1", "0.29", "19.99", "1e300"],
            vec!["0.005"],
        ),
        (
            json!({"multipleOf": 3}),
            vec!["0", "9", "-3", "3.0"],
            vec!["10", "1.5"],
        ),
        (
            json!({"minItems": 1, "maxItems": 2}),
            vec!["[1]", "[1,2]", "{}"],
            vec!["[]", "[1,2,3]"],
        ),
        (
            json!({"uniqueItems": true}),
            vec!["[1,2]", "[[1],[2]]"],
            vec!["[1,2,1]", "[{\"a\":1},{\"a\":1}]"],
        ),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": {"type": "null"}}),
            vec!["[\"a\"]", "[\"a\",1,null]", "[]"],
            vec!["[1]", "[\"a\",1,2]"],
        ),
        (
            json!({"items": [{"type": "string"}], "additionalItems": false}),
            vec!["[\"a\"]", "[]"],
            vec!["[1]", "[\"a\",1]"],
        ),
        (
            json!({"contains": {"type": "string"}, "minContains": 2, "maxContains": 3}),
            vec!["[\"a\",1,\"b\"]"],
            vec!["[\"a\"]", "[\"a\",\"a\",\"a\",\"a\"]"],
        ),
        (
            json!({"contains": {"const": 1}}),
            vec!["[0,1]"],
            vec!["[]", "[2]"],
        ),
        (
            json!({"minProperties": 1, "maxProperties": 2}),
            vec!["{\"a\":1}"],
            vec!["{}", "{\"a\":1,\"b\":2,\"c\":3}"],
        ),
        (
            json!({"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": {"type": "integer"}}),
            vec!["{\"x-a\":\"\",\"n\":1}"],
            vec!["{\"x-a\":1}", "{\"n\":\"\"}"],
        ),
        (
            json!({"patternProperties": {"^x-": true}, "additionalProperties": false}),
            vec!["{\"x-a\":\"\"}"],
            vec!["{\"a\":1}"],
        ),
        (
            json!({"propertyNames": {"maxLength": 2}}),
            vec!["{\"ab\":1}"],
            vec!["{\"abc\":1}"],
        ),
        (
            json!({"dependentRequired": {"a": ["b"]}}),
            vec!["{\"a\":1,\"b\":1}", "{\"b\":1}"],
            vec!["{\"a\":1}"],
        ),
        (
            json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
            vec!["{\"a\":1,\"b\":1}", "{\"c\":1,\"d\":1}"],
            vec!["{\"a\":1}", "{\"c\":1}"],
        ),
        (
            json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}),
            vec!["1", "2"],
            vec!["0", "3"],
        ),
        (
            json!({"oneOf": [{"minimum": 1}, {"maximum": 2}]}),
            vec!["0", "3"],
            vec!["1"],
        ),
        (
            json!({"oneOf": [{"type": "null"}, {"minimum": 1}, {"maximum": 2}]}),
            vec!["0"],
            vec!["1", "\"a\"", "null"],
        ),
        (json!({"not": {"type": "string"}}), vec!["1"], vec!["\"a\""]),
        (
            json!({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "null"}}),
            vec!["\"a\"", "null"],
            vec!["\"\"", "1"],
        ),
        (
            json!({"if": {"type": "string"}}),
            vec!["\"a\"", "1"],
            vec![],
        ),
        (
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            vec!["null", "\"a\""],
            vec!["1", "\"b\""],
        ),
        (
            json!({"enum": [1, [2.0], {"a": null}]}),
            vec!["1.0", "[2]", "{\"a\":null}"],
            vec!["2", "{}"],
        ),
        (
            json!({"const": 9_007_199_254_740_993_u64}),
            vec!["9007199254740993"],
            vec!["9007199254740992"],
        ),
        (
            json!({"minimum": -1}),
            vec!["18446744073709551615"],
            vec!["-1e3"],
        ),
        (json!({"format": "email", "unknown": 1}), vec!["1"], vec![]),
        (
            tree,
            vec!["{\"next\":{\"next\":{\"n\":1}}}"],
            vec!["{\"next\":{\"next\":{\"n\":\"\"}}}"],
        ),
        (
            named,
            vec![
                "{\"anchor\":3,\"escaped\":null,\"other\":\"\",\"relative\":true,\"itself\":{\"anchor\":1}}",
            ],
            vec![
                "{\"anchor\":4}",
                "{\"escaped\":1}",
                "{\"other\":1}",
                "{\"relative\":1}",
                "{\"itself\":{\"anchor\":4}}",
            ],
        ),
    ] {
        let document = SchemaDocument::new(schema);
        for text in fit {
            assert_eq!(wrong(&document, text), None, "{} {text}", document.root());
        }
        for text in others {
            assert_ne!(wrong(&document, text), None, "{} {text}", document.root());
        }
    }
}

#[test]
fn formats_are_checked_where_the_draft_asserts_them() {
    let old = "http://json-schema.org/draft-07/schema#";
    let new = "https://json-schema.org/draft/2020-12/schema";
    for (format, fit, others) in [
        (
            "date-time",
            &[
                "2024-02-29T23:59:60Z",
                "2026-01-01t00:00:00.5+05:30",
                "2026-12-31T00:00:00z",
            ][..],
            &[
                "2023-02-29T00:00:00Z",
                "2026-01-01 00:00:00Z",
                "2026-01-01T00:00:00",
                "2026-01-01T24:00:00Z",
                "2026-1-1T00:00:00Z",
                "x",
            ][..],
        ),
        (
            "date",
            &["2000-02-29"],
            &["1900-02-29", "2026-13-01", "2026-00-10", "2026-01-01T"],
        ),
        (
            "time",
            &["12:00:00Z", "12:00:00.123-08:00"],
            &["12:00:00", "12:00Z", "12:00:00.Z", "12:00:00+8"],
        ),
        (
            "uri",
            &[
                "https://example.com/a?b=%20#c",
                "urn:x:y",
                "mailto:a@b.c",
                "http://[::1]:80/",
            ],
            &[
                "example.com",
                "/a",
                "1a:b",
                "http://a b",
                "http://a/%2",
                "http://a/\u{fc}",
            ],
        ),
        (
            "email",
            &["a.b+c@example.com", "\"a b\"@example.com", "a@[127.0.0.1]"],
            &["a", "@b", "a@", "a b@c.d", "a..b@c.d", "a@-c.d", "a@c..d"],
        ),
        (
            "ipv4",
            &["127.0.0.1"],
            &["127.0.0", "256.0.0.1", "01.0.0.1", "::1"],
        ),
        (
            "ipv6",
            &["::1", "::", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8", "1::8"],
            &[
                "127.0.0.1",
                ":::",
                "fe80::1%lo",
                "1:2:3:4:5:6:7",
                "1::2::3",
                "1:2:3:4:5:6:7:8:9",
                "1.2.3.4::",
                "12345::",
                "1:2:3:4:5:6:7::8:9",
            ],
        ),
        (
            "uuid",
            &["2EB8AA08-aa98-11ea-b4aa-73b441d16380"],
            &[
                "2eb8aa08aa9811eab4aa73b441d16380",
                "2eb8aa08-aa98-11ea-b4aa-73b441d1638g",
            ],
        ),
        (
            "regex",
            &["^(?=a)[(]b*?\\)c{2,3}$", "(?<n>a)\\k<n>|[^\\]]+", "a??", ""],
            &["(a", "a)", "[a", "*a", "a|+", "a\\", "a***"],
        ),
        ("hostname", &["anything -- is fine"], &[]),
    ] {
        let document = |version| {
            SchemaDocument::new(json!({"$schema": version, "type": "string", "format": format}))
        };
        for text in fit {
            let found = wrong(&document(old), &json!(text).to_string());
            assert_eq!(found, None, "{format} {text}");
        }
        for text in others {
            let text = json!(text).to_string();
            assert_ne!(wrong(&document(old), &text), None, "{format} {text}");
            assert_eq!(wrong(&document(new), &text), None, "{format} {text}");
        }
    }
    let asserted = json!({
        "$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/format-assertion": true},
        "format": "date",
    });
    let asserted = SchemaDocument::new(asserted);
    assert_eq!(
        wrong(&asserted, "\"x\"").as_deref(),
        Some("input is not a date such as 2026-01-31, as its format date demands")
    );
    assert_eq!(wrong(&asserted, "1"), None);
}

#[test]
fn unknown_references_are_said_to_be_unchecked() {
    for (schema, text, why) in [
        (
            json!({"$ref": "https://example.com/x.json"}),
            "1",
            "the reference \"https://example.com/x.json\" is not in the schema",
        ),
        (
            json!({"properties": {"a": {"$ref": "#/elsewhere"}}}),
            "{\"a\":1}",
            "the reference \"#/elsewhere\" is not in the schema",
        ),
        (
            json!({"not": {"$ref": "#x"}}),
            "1",
            "the reference \"#x\" is not in the schema",
        ),
        (
            json!({"oneOf": [{"$ref": "#x"}, {"$ref": "#y"}]}),
            "1",
            "the reference \"#x\" is not in the schema",
        ),
        (
            json!({"pattern": "(?=a)"}),
            "\"a\"",
            "the pattern \"(?=a)\" cannot be matched",
        ),
        (
            json!({"patternProperties": {"(?=a)": true}, "additionalProperties": false}),
            "{\"a\":1}",
            "the pattern \"(?=a)\" cannot be matched",
        ),
        (json!({"$ref": "#"}), "1", "it is nested too deep"),
        (
            json!({"properties": {"a": true}, "unevaluatedProperties": false}),
            "{\"b\":1}",
            "`unevaluatedProperties` is not supported",
        ),
        (
            json!({"prefixItems": [true], "unevaluatedItems": {"type": "null"}}),
            "[1,2]",
            "`unevaluatedItems` is not supported",
        ),
    ] {
        let found = check(&SchemaDocument::new(schema), text);
        assert_eq!(
            (found.wrong, found.unchecked.as_deref()),
            (None, Some(why)),
            "{text}"
        );
    }
    // Parts that are reached are checked all the same.
    let schema = json!({"properties": {"a": {"$ref": "#x"}, "b": {"type": "null"}}});
    let found = check(&SchemaDocument::new(schema), "{\"a\":1,\"b\":2}");
    assert_eq!(
        found.wrong.map(|w| w.text).as_deref(),
        Some("input.b is an integer; it must be null")
    );
    assert!(found.unchecked.is_some());
}

#[test]
fn hostile_schemas_end_soon() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100), close.repeat(100));
    let patterns: Vec<String> = (0..2000)
        .map(|n| format!("\"(a{{1,60}}){{1,{n}}}\":true"))
        .collect();
    let values = |n: usize| format!("[{}]", vec!["\"x\""; n].join(","));
    for (schema, text) in [
        (
            r##"{"allOf":[{"$ref":"#"},{"$ref":"#"}]}"##.to_owned(),
            "1".to_owned(),
        ),
        (
            r##"{"anyOf":[{"not":{"$ref":"#"}},{"$ref":"#"}],"items":{"$ref":"#"}}"##.to_owned(),
            values(5000),
        ),
        (
            format!("{{\"patternProperties\":{{{}}}}}", patterns.join(",")),
            format!("{{\"{}\":1}}", "a".repeat(4000)),
        ),
        (
            format!("{{\"items\":{{\"enum\":{}}}}}", values(20_000)),
            values(20_000),
        ),
        (format!("{{\"enum\":{}}}", deep("[", "]")), deep("[", "]")),
        (
            deep("{\"not\":", "") + "true" + &"}".repeat(100),
            "1".to_owned(),
        ),
        (
            r#"{"pattern":"(((a{1,100}){1,100}){1,100}){1,100}"}"#.to_owned(),
            format!("\"{}\"", "a".repeat(9000)),
        ),
        (
            r##"{"properties":{"":{"$ref":"#/properties/"}},"$ref":"#/$ref"}"##.to_owned(),
            "{\"\":1}".to_owned(),
        ),
    ] {
        let root = serde_json::from_str(&schema).unwrap_or_else(|e| panic!("{e} {schema}"));
        let start = std::time::Instant::now();
        check(&SchemaDocument::new(root), &text);
        let took = start.elapsed();
        assert!(
            took.as_secs() < 20,
            "{took:?} {}",
            schema.chars().take(60).collect::<String>()
        );
    }
}

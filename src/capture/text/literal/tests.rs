use super::*;

fn json(text: &str) -> Option<String> {
    let mut out = Vec::new();
    match read(text.as_bytes(), &mut out) {
        Literal::Value { .. } => Some(String::from_utf8(out).unwrap()),
        Literal::Open => Some("open".to_owned()),
        Literal::None => None,
    }
}

#[test]
fn printed_objects_are_json() {
    let table: &[(&str, &str)] = &[
        // Python
        (
            "{'a': 1, \"b\": \"it's\", 'c': [True, False, None], 'd': (1, 2.5)}",
            r#"{"a":1,"b":"it's","c":[true,false,null],"d":[1,2.5]}"#,
        ),
        (
            "R(m='x', p=None, i=-1, l=<L.INFO: 'info'>)",
            r#"{"m":"x","i":-1,"l":"info"}"#,
        ),
        ("M(R(m='x', p={'k': None}))", r#"{"m":"x","p":{"k":null}}"#),
        (
            "M(u=AnyUrl('file:///a'), s=set(), t=())",
            r#"{"u":"file:///a","s":{},"t":[]}"#,
        ),
        (
            "{'a': ('bc'\n 'd'), 'e': b'\\xc3\\xa9\\n'}",
            "{\"a\":\"bcd\",\"e\":\"é\\n\"}",
        ),
        (
            "OrderedDict([('a', 1), ('b', OrderedDict([('c', (2,))]))])",
            r#"{"a":1,"b":{"c":[2]}}"#,
        ),
        ("{'a': nan, 'b': -inf}", r#"{"a":null,"b":null}"#),
        // Perl
        (
            "{ 'a' => undef, 'b' => bless( do{\\(my $o = 1)}, 'JSON::PP::Boolean' ) }",
            r#"{"a":null,"b":true}"#,
        ),
        // JavaScript
        (
            "{ a: 'x', 'b-c': undefined, d: null, e: [ [Object], 1 ], f: 10n }",
            r#"{"a":"x","d":null,"e":["[Object]",1],"f":10}"#,
        ),
        (
            "{\n  a: 'x' +\n    'y', // why\n  b: [ 1, 2, ... 7 more items ],\n}",
            r#"{"a":"xy","b":[1,2]}"#,
        ),
        ("<ref *1> Request { a: {}, b: [] }", r#"{"a":{},"b":[]}"#),
        // Rust
        (
            "a::R { m: \"x\", i: Some(Number(1)), n: None, o: Object {\"k\": String(\"v\"), \"l\": Array [Null]} }",
            r#"{"m":"x","i":1,"o":{"k":"v","l":[null]}}"#,
        ),
        // Neovim
        (
            "{\n  a = { 2, 'x' },\n  b = { {\n      c = vim.NIL\n    } },\n  d = vim.empty_dict(),\n  e = {}\n}",
            r#"{"a":[2,"x"],"b":[{"c":null}],"d":{},"e":{}}"#,
        ),
        // Ruby, Elixir, PHP, Swift, Lua
        (
            "{\"a\"=>1, :b=>nil, c: \"x\"}",
            r#"{"a":1,"b":null,"c":"x"}"#,
        ),
        ("%{\"a\" => 1, b: %{}}", r#"{"a":1,"b":{}}"#),
        ("['a' => 1, 'b' => ['x', 'y']]", r#"{"a":1,"b":["x","y"]}"#),
        ("array ( 'a' => true, )", r#"{"a":true}"#),
        ("[\"a\": 1]", r#"{"a":1}"#),
        ("{ a = 1, [\"b\"] = { 2 } }", r#"{"a":1,"b":[2]}"#),
        ("{'a': 1", "open"),
        ("{'a': 'b", "open"),
        ("Sending {'a': None}", r#"{"a":null}"#),
        ("[\"a\": [:], \"b\": []]", r#"{"a":{},"b":[]}"#),
        ("{'a': -   ", "open"),
        ("R(", "open"),
        ("{1, 2}", "-"),
        ("(see the log)", "-"),
        ("{'a' 1}", "-"),
        ("{a}", "-"),
    ];
    for (text, wanted) in table {
        let got = json(text);
        assert_eq!(got.as_deref().unwrap_or("-"), *wanted, "{text}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(json(&deep), None);
}

//! A recording that is printed as a script says what it said before, whatever was recorded.

use super::limits::{HEADER, chunk};
use super::*;
use crate::live::speed::Speed;
use crate::render::style::is_active;

/// A recording of a request and its answer.
fn recorded(protocol: &str, pairs: &[(String, String)]) -> String {
    let mut lines = vec![HEADER.replace("stepflow", protocol)];
    for (n, (request, answer)) in (0u32..).zip(pairs) {
        lines.push(chunk(2 * n + 1, "c2s", request));
        lines.push(chunk(2 * n + 2, "s2c", answer));
    }
    lines.join("\n")
}

fn printed(protocol: &str, recording: &str) -> String {
    let protocol = known(protocol);
    let (side, limits) = (Direction::ToClient, Limits::default());
    let exchanges = compile(
        recording.as_bytes(),
        protocol,
        side,
        limits,
        Speed::default(),
    );
    let text = script(&exchanges.unwrap().recorded.unwrap(), protocol);
    let active = text.contains(|c| is_active(c) && c != '\n');
    assert!(!active, "{text:?}");
    text
}

fn invoke(id: u32, selector: &str) -> String {
    let selector = serde_json::json!(selector);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"invoke","params":{{"selector":{selector},"calldata":[]}}}}"#
    )
}

#[test]
fn values_read_back_as_they_were() {
    for value in [
        r#""\u0001params.component""#,
        r#""{{params.component}}""#,
        r#""{{""#,
        r#""{  }""#,
        r#""a\u202e\u001b[31m\u0085\ufeff\n'\"\\""#,
        r#""a\"b\u200f""#,
        "-0",
        "[-0,-0.0,0.10,1e5,1E+05,1e-7,1e400]",
        "[9223372036854775807,-9223372036854775808,-9223372036854775809,123456789012345678901234567890]",
        "true",
        "null",
        "[[],{},null,true]",
        r#"{"a":{"b":[{}]},"":1,"c d":{"json":"1"},"é\u2066":"{{count}}"}"#,
        r#"{"a":1,"a":-0}"#,
        r#"{"type":"u8","value":[5]}"#,
    ] {
        let request =
            r#"{"jsonrpc":"2.0","id":"ab","method":"components/info","params":{"component":"/a"}}"#;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"ab","result":{value}}}"#);
        let error = format!(
            r#"{{"jsonrpc":"2.0","id":"ab","error":{{"code":-5,"message":"{{{{id}}}} \u202e","data":{value}}}}}"#
        );
        // What no phrase gives is a whole message.
        let whole = format!(r#"{{"jsonrpc":"2.0","id":"ab","more":{value},"result":1}}"#);
        for answer in [answer, error, whole] {
            let pairs = [(request.to_owned(), answer.clone())];
            let script = printed("stepflow", &recorded("stepflow", &pairs));
            let mut bench = Bench::new(known("stepflow"), &script);
            bench.open();
            let said = bench.hear(&format!("{}\n", request.replace("\"ab\"", "\"cd\"")));
            let read = |text: &str| {
                let text = text.trim_end().replace("\"cd\"", "\"ab\"");
                crate::live::script::value::with_json(&text, |root| {
                    let result = root.get("result").map(crate::live::script::toml::json);
                    let more = root.get("more").or(root.get("error"));
                    let more = more.map(|n| n.get("data").unwrap_or(n));
                    (result, more.map(crate::live::script::toml::json))
                })
                .unwrap()
            };
            let shown = |(a, b): (Option<String>, Option<String>)| {
                [a, b].map(|text| {
                    text.map(|text| crate::live::script::toml::quote(&unescaped(&text)))
                })
            };
            assert_eq!(shown(read(&said)), shown(read(&answer)), "{script}");
        }
    }
}

/// JSON in which strings are spelled in one way.
fn unescaped(json: &str) -> String {
    crate::live::script::value::with_json(json, spelled).unwrap()
}

fn spelled(node: crate::tape::Node<'_>) -> String {
    if node.is_map() {
        let members = node.members();
        let members = members.map(|(key, value)| format!("{:?}:{}", key.text(), spelled(value)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    } else if node.is_array() {
        let items = node.children().map(spelled);
        format!("[{}]", items.collect::<Vec<_>>().join(","))
    } else {
        let text = node.text().map(|text| format!("{text:?}"));
        text.unwrap_or_else(|| crate::live::script::toml::json(node))
    }
}

#[test]
fn no_recorded_text_is_a_rule() {
    let name = "x\n[[on]]\nmatch='kind=invoke'\nexit = 3\n\u{1b}[31m\u{202e}";
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":["0x1"]}"#;
    let script = printed(
        "oracle",
        &recorded("oracle", &[(invoke(0, name), answer.to_owned())]),
    );
    assert!(
        script.contains("# #0 invoke x\\n[[on]]\\nmatch='kind=invoke'\\nexit = 3\\n\\u{1b}"),
        "{script}"
    );
    let mut bench = Bench::<'static>::serving(&script);
    assert_eq!(bench.stub.report().rules.len(), 1, "{script}");
    assert_eq!(
        bench.hear(&format!("{}\n", invoke(0, name))),
        format!("{answer}\n")
    );
}

#[test]
fn values_of_the_request_stand_open() {
    let request = |sid: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{sid}-id","method":"components/info","params":{{"component":"/a"}}}}"#
        )
    };
    let whole = |sid: &str| format!(r#"{{"jsonrpc":"2.0","id":"{sid}-id","more":1,"result":2}}"#);
    let pairs = [(request("recorded"), whole("recorded"))];
    let script = printed("stepflow", &recorded("stepflow", &pairs));
    assert!(script.contains("id = \"{{id}}\""), "{script}");
    let mut bench = Bench::new(known("stepflow"), &script);
    bench.open();
    let said = bench.hear(&format!("{}\n", request("this")));
    assert_eq!(said, format!("{}\n", whole("this")));
}

/// What is asked the other way is no template either.
#[test]
fn recorded_callbacks_read_back_as_they_were() {
    let ask = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"{{{{id}}}}","params":{{"x":"{{{{id}}}}"}}}}"#
        )
    };
    let call =
        r#"{"jsonrpc":"2.0","id":"ab","method":"components/info","params":{"component":"/a"}}"#;
    let recording = [
        HEADER.to_owned(),
        chunk(1, "c2s", call),
        chunk(2, "s2c", &ask("q")),
        chunk(3, "c2s", r#"{"jsonrpc":"2.0","id":"q","result":1}"#),
        chunk(4, "s2c", r#"{"jsonrpc":"2.0","id":"ab","result":2}"#),
    ];
    let script = printed("stepflow", &recording.join("\n"));
    let mut bench = Bench::new(known("stepflow"), &script);
    bench.open();
    let said = bench.hear(&format!("{call}\n"));
    let id = serde_json::from_str::<serde_json::Value>(&said).unwrap()["id"].clone();
    assert_eq!(said, format!("{}\n", ask(id.as_str().unwrap())));
}

/// A sort of which no two are the same is told apart in one pass.
#[test]
fn requests_are_told_apart() {
    let felt = |n: u32| format!("0x{n:x}");
    let call = |n: u32| {
        let (a, b) = (felt(n % 3), felt(n));
        format!(
            r#"{{"jsonrpc":"2.0","id":{n},"method":"invoke","params":{{"selector":"f","calldata":["{a}","0x0","{b}"]}}}}"#
        )
    };
    let answer = |n: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{n},"result":["{}"]}}"#,
            felt(n * 2)
        )
    };
    let pairs: Vec<_> = (0..400).map(|n| (call(n), answer(n))).collect();
    let script = printed("oracle", &recorded("oracle", &pairs));
    assert!(
        script.contains(
            "match = 'kind=invoke subject=f .params.calldata[0]=\"0x0\" .params.calldata[2]=\"0x18f\"'\n"
        ),
        "{script}"
    );
    assert!(!script.contains("times"), "{script}");
    let mut bench = Bench::<'static>::serving(&script);
    for n in [0, 1, 300, 399] {
        assert_eq!(
            bench.hear(&format!("{}\n", call(n))),
            format!("{}\n", answer(n))
        );
    }
}

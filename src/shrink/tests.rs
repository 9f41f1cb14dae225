//! Recordings that break a rule are made smaller, and still break it.

use super::{ShrinkConfig, shrink};
use crate::conversation::{RuleSettings, check, rules_of};
use crate::decoder::DecodeOptions;
use crate::encode::EncodeOptions;
use crate::protocol::registry;
use std::ops::ControlFlow;

fn config(values: bool) -> ShrinkConfig<'static> {
    ShrinkConfig {
        decode: DecodeOptions::new(registry::all().to_vec()),
        encode: EncodeOptions::lines(registry::all().to_vec()),
        values,
    }
}

fn breaks(recording: &[u8], rule: &str) -> bool {
    let options = DecodeOptions::new(registry::all().to_vec());
    let found = check(recording, options, RuleSettings::default());
    found.iter().any(|finding| finding.name() == rule)
}

/// Every tenth rule of each protocol: all take a minute.
const STEP: usize = 10;

#[test]
fn a_smaller_recording_still_breaks_the_rule() {
    let mut smaller = 0;
    for protocol in registry::all() {
        for rule in rules_of(*protocol).step_by(STEP) {
            let Some(example) = rule.example() else {
                continue;
            };
            let name = format!("{}/{}", protocol.name(), rule.name);
            let recording = example.fires.as_bytes();
            if !breaks(recording, &name) {
                continue;
            }
            let mut test =
                |_, trial: &[u8]| ControlFlow::<(), bool>::Continue(breaks(trial, &name));
            let shrunk = shrink(recording, &config(false), &mut Vec::new(), &mut test);
            // The bytes of some examples show no protocol.
            let Ok(shrunk) = shrunk else {
                continue;
            };
            assert!(breaks(&shrunk.out, &name), "{name}");
            assert!(shrunk.after.messages <= shrunk.before.messages, "{name}");
            smaller += usize::from(shrunk.after.messages < shrunk.before.messages);
            // The finding may need no message.
            if shrunk.after.messages == 0 {
                continue;
            }
            let again = shrink(&shrunk.out, &config(false), &mut Vec::new(), &mut test).unwrap();
            assert_eq!(again.after.messages, shrunk.after.messages, "{name}");
        }
    }
    assert!(smaller > 10, "{smaller}");
}

#[test]
fn values_ids_and_openings_stay_as_they_are_needed() {
    let lines = [
        r#"{"wiretool":1,"protocol":"mcp"}"#,
        r#"{"t":0,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n"}"#,
        r#"{"t":1,"conn":1,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"}"#,
        r#"{"t":2,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"bad\",\"arguments\":{\"a\":[1,2,3],\"text\":\"a text that is rather long\"}}}\n"}"#,
        r#"{"t":3,"conn":2,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"}"#,
    ];
    let recording = lines.join("\n") + "\n";
    // The failure needs the second element of the argument.
    let mut test = |_, trial: &[u8]| {
        let text = String::from_utf8_lossy(trial);
        ControlFlow::<(), bool>::Continue(text.contains(r#"\"a\":[2"#) || text.contains("[1,2"))
    };
    let shrunk = shrink(
        recording.as_bytes(),
        &config(true),
        &mut Vec::new(),
        &mut test,
    );
    let shrunk = shrunk.unwrap();
    insta::assert_snapshot!(String::from_utf8_lossy(&shrunk.out), @r#"
    {"wiretool":1,"protocol":"mcp"}
    {"t":0,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n"}
    {"t":1,"conn":1,"dir":"s2c","text":"{\"id\":1,\"result\":{}}\n"}
    {"t":2,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"arguments\":{\"a\":[2]}}}\n"}
    "#);
}

//! JSON output is well-formed for strict readers, for any input.

use crate::common::{Setup, json_of};
use crate::seeds::{captured, each, fixtures};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use wiretool::decoder::Decoded;
use wiretool::encoding::Want;
use wiretool::render::{DisplayOptions, json};

/// The members of an object, including repeated keys.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrictValue;
        impl<'de> Visitor<'de> for StrictValue {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(StrictValue)
    }
}

/// Reads every string as text: a lone surrogate is refused. Numbers of any size are accepted.
fn read(text: &str) -> Result<(), serde_json::Error> {
    match text.as_bytes().first() {
        Some(b'{') => {
            let Members(members) = serde_json::from_str(text)?;
            members.iter().try_for_each(|(_, value)| read(value.get()))
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            items.iter().try_for_each(|value| read(value.get()))
        }
        Some(b'"') => serde_json::from_str::<String>(text).map(|_| ()),
        _ => serde_json::from_str::<&RawValue>(text).map(|_| ()),
    }
}

#[test]
fn strict_reader_accepts_every_line() {
    let mut lines = 0;
    for want in [Want::Text, Want::Exact] {
        let mut out = Vec::new();
        let mut check = |decoded: &Decoded<'_>, what: &str| {
            out.clear();
            json::write(decoded, None, DisplayOptions::default(), &mut out);
            let text = std::str::from_utf8(&out).expect("JSON output is UTF-8");
            if let Err(error) = read(text) {
                panic!("{what}: {error}: {text}");
            }
            lines += 1;
        };
        for (protocol, file) in fixtures() {
            let what = file.display().to_string();
            each(protocol, &file, want, &mut |decoded| check(decoded, &what));
        }
    }
    for seed in captured(usize::MAX) {
        for line in json_of(&Setup::of(seed.protocol), [seed.bytes.as_slice()]).lines() {
            if let Err(error) = read(line) {
                panic!("{}: {error}: {line}", seed.name);
            }
        }
    }
    assert!(lines > 1000, "{lines}");
}

#[test]
fn lone_surrogate_is_well_formed_in_output() {
    assert!(read(r#"{"a":["\ud800"]}"#).is_err(), "the reader is strict");
    for half in [
        "\\ud800",
        "\\udc00",
        "\\udbff\\ud800",
        "x\\ud800y",
        "\\ud83d\\n",
    ] {
        for message in [
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"invoke","params":{{"selector":"{half}","calldata":[]}}}}"#
            ),
            format!(
                r#"{{"jsonrpc":"2.0","id":"{half}","method":"invoke","params":{{"selector":"f","calldata":["{half}"]}}}}"#
            ),
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{half}","params":{{"{half}":1,"{half}":2}}}}"#
            ),
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"invoke","{half}"#),
        ] {
            let bytes = format!("{message}\n");
            for protocol in ["oracle", "stepflow"] {
                let out = json_of(&Setup::of(protocol), [bytes.as_bytes()]);
                assert!(!out.is_empty(), "{message}");
                for line in out.lines() {
                    if let Err(error) = read(line) {
                        panic!("{message}: {error}: {line}");
                    }
                }
            }
        }
    }
}

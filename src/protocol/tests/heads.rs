//! Compares the head reader with the full reader, on the messages of all fixtures of a protocol.

use crate::encoding::json;
use crate::tape::{Node, Tape};
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::Path;

#[derive(serde::Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

/// Calls `visit` for each message of the fixtures that has no fault, with its line of JSON output and its value. Fails
/// if there are fewer than `least`.
pub(in crate::protocol) fn each_fixture(
    protocol: &str,
    least: usize,
    see: &mut dyn FnMut(&Value, Node<'_>),
) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut seen = 0;
    for file in std::fs::read_dir(folder.join(protocol)).expect("a folder of fixtures") {
        let file = file.expect("a file").path();
        if file.extension().is_none_or(|e| e != "json") {
            continue;
        }
        for line in std::fs::read_to_string(&file).expect("a file").lines() {
            let Ok(reported) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let raw = serde_json::from_str::<Line<'_>>(line).expect("a line");
            let is_own = reported["protocol"] == protocol && reported["fault"].is_null();
            let Some(message) = raw.message.filter(|_| is_own) else {
                continue;
            };
            let (text, mut tape) = (message.get(), Tape::new());
            let root = json::root(text.as_bytes(), 1000, &mut tape);
            see(&reported, root.expect("JSON"));
            seen += 1;
        }
    }
    assert!(seen >= least, "{protocol}: {seen} messages");
}

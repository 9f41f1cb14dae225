//! Reads the output of `decode -f json`.
//!
//! ```text
//!   {"v":1,"index":0,"conn":1,"dir":"c2s",...,"raw":{"$bin":"0e000000"}}
//! ```
//!
//! Only lines that contain their bytes can be used: `wire.hex` is the whole frame, `raw` the body. The encoder converts
//! messages to bytes.

use super::chunk::{Chunk, InputPlace, Item, ItemSink, Problem};
use super::form::{FormVerdict, InputEnd};
use super::lines::{Line, LineForm};
use super::readable::{first_key, first_object};
use super::time;
use crate::protocol::Direction;
use serde::Deserialize;
use serde_json::Value;

/// Keys that may come first in a line of decode, as it is written or with its keys sorted; no protocol's own.
const FIRST_KEYS: [&[u8]; 5] = [
    b"v\"",
    b"index\"",
    b"body_len\"",
    b"body_offset\"",
    b"conn\"",
];

/// The kind of a line that a child wrote to stderr.
const STDERR: &str = "stderr";

/// Says if text is output of decode.
pub(super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    #[derive(Deserialize)]
    struct LineHead {
        v: u64,
        index: Option<u64>,
        kind: Option<String>,
    }
    if first_key(text).is_ok_and(|key| key.starts_with(br#"v":1,"index":"#)) {
        return FormVerdict::Yes(r#"it begins with "v":1 and "index""#.into());
    }
    match first_object(text, &FIRST_KEYS, end).map(serde_json::from_slice) {
        Ok(Ok(LineHead {
            v: 1,
            index: Some(_),
            ..
        })) => FormVerdict::Yes(r#"its first line has "v":1 and "index""#.into()),
        Ok(Ok(LineHead { v: 1, kind, .. })) if kind.as_deref() == Some(STDERR) => {
            FormVerdict::Yes(r#"its first line has "v":1 and is of stderr"#.into())
        }
        Ok(_) => FormVerdict::No,
        Err(verdict) => verdict,
    }
}

#[derive(Deserialize)]
struct DecodedLine {
    #[serde(default)]
    conn: u32,
    stream: Option<u64>,
    dir: Option<String>,
    time: Option<String>,
    kind: Option<String>,
    raw: Option<Value>,
    wire: Option<Value>,
}

impl DecodedLine {
    fn bytes(&self) -> Option<Vec<u8>> {
        let hex = |value: &Value, key| hex::decode(value.get(key)?.as_str()?).ok();
        if let Some(wire) = &self.wire {
            let mut bytes = hex(wire, "before").unwrap_or_default();
            // If `wire` describes the frame by its parts, `raw` is only one of them.
            bytes.extend(hex(wire, "hex")?);
            return Some(bytes);
        }
        match self.raw.as_ref()? {
            Value::String(text) => Some(text.clone().into_bytes()),
            raw => hex(raw, "$bin"),
        }
    }
}

#[derive(Default)]
pub(super) struct JsonLines {
    /// The number of lines without bytes.
    ignored: u64,
}

impl LineForm for JsonLines {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        if line.text.trim_ascii().is_empty() {
            return;
        }
        let place = InputPlace::Line(line.number);
        match serde_json::from_slice::<DecodedLine>(line.text) {
            Err(error) => {
                Problem::error(place, format!("not a line of decode -f json: {error}"))
                    .report(sink);
            }
            // No bytes of a connection.
            Ok(decoded) if decoded.kind.as_deref() == Some(STDERR) => {}
            Ok(decoded) => {
                if let Some(bytes) = decoded.bytes() {
                    sink(Item::Chunk(Chunk {
                        line: None,
                        conn: decoded.conn,
                        stream: decoded.stream,
                        direction: decoded.dir.as_deref().and_then(Direction::from_name),
                        time: decoded.time.as_deref().and_then(time::parse),
                        bytes: &bytes,
                    }));
                    return;
                }
                self.ignored += 1;
                // Nearly every line of a file would repeat the note.
                if self.ignored == 1 {
                    Problem::error(place, "this line does not contain its bytes")
                        .hint("encode turns messages back into bytes")
                        .report(sink);
                }
            }
        }
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}

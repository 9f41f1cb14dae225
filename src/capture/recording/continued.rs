//! The event with which each later file of a rotated recording begins: what a reader of this file alone needs.
//!
//! ```text
//!   {"t":9,"event":"continued","index":7,"streams":[{"conn":1,"dir":"s2c","offset":310,"framing":"lines",..,"text":"{\"js"}],
//!    "messages":[{"conn":1,"dir":"c2s","index":6,"t":8,"offset":120,"framing":"lines","text":"..","open":true}]}
//! ```
//!
//! A reader of the whole set leaves the event out: the earlier files have it all.

use super::{BASE64, ChunkSource, EventRecord};
use crate::protocol::Direction;
use base64::Engine as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name of the event. An end line with this key is not the last line of the recording.
pub(crate) const CONTINUED: &str = "continued";
/// The key of a header: the number of the file in its set.
pub(crate) const PART: &str = "part";

/// The state of a conversation where a file begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Continued {
    /// The index of the next message.
    #[serde(default)]
    pub(crate) index: u64,
    /// The streams that are open.
    #[serde(default)]
    pub(crate) streams: Vec<ContinuedStream>,
    /// Messages of earlier files, in order: those that opened the session, and open requests.
    #[serde(default)]
    pub(crate) messages: Vec<ContinuedMessage>,
}

/// A direction of a connection, or of a stream of it, amid its bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ContinuedStream {
    #[serde(flatten)]
    pub(crate) place: StreamPlace,
    /// The state of the framing between two messages; absent if the file begins where only a search finds the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<String>,
    /// The bytes before the file that belong to an incomplete message.
    #[serde(flatten)]
    pub(crate) bytes: TextOrBytes,
}

/// A message that an earlier file has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ContinuedMessage {
    #[serde(flatten)]
    pub(crate) place: StreamPlace,
    pub(crate) index: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) t: Option<i64>,
    /// It is a request without an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) open: bool,
    #[serde(flatten)]
    pub(crate) bytes: TextOrBytes,
}

/// A place in a stream, and how the bytes there are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StreamPlace {
    #[serde(default)]
    pub(crate) conn: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stream: Option<u64>,
    pub(crate) dir: ChunkSource,
    pub(crate) offset: u64,
    /// Absent as long as it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) protocol: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) framing: Option<String>,
}

impl StreamPlace {
    pub(crate) fn direction(&self) -> Option<Direction> {
        self.dir.direction()
    }
}

/// Bytes as in a chunk: `text` if they are UTF-8, otherwise `b64`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TextOrBytes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    b64: Option<String>,
}

impl TextOrBytes {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok("") => Self::default(),
            Ok(text) => Self {
                text: Some(text.to_owned()),
                b64: None,
            },
            Err(_) => Self {
                text: None,
                b64: Some(BASE64.encode(bytes)),
            },
        }
    }

    /// Returns the number of bytes, about.
    pub(crate) fn len(&self) -> usize {
        let text = self.text.as_ref().or(self.b64.as_ref());
        text.map_or(0, String::len)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let text = self.text.as_ref().map(|text| text.clone().into_bytes());
        let bytes = self.b64.as_ref().and_then(|b64| BASE64.decode(b64).ok());
        text.or(bytes).unwrap_or_default()
    }
}

impl Continued {
    /// Returns the event, at a time of the recording.
    pub(crate) fn event(&self, t: i64) -> EventRecord {
        let more = match serde_json::to_value(self) {
            Ok(Value::Object(more)) => more,
            _ => Map::new(),
        };
        EventRecord {
            t,
            event: CONTINUED.to_owned(),
            more,
            ..EventRecord::default()
        }
    }

    /// Reads the keys of an event.
    pub(crate) fn read(more: &Map<String, Value>) -> Result<Self, String> {
        serde_json::from_value(Value::Object(more.clone())).map_err(|error| error.to_string())
    }
}

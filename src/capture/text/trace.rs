//! The trace of a language client, as VS Code and editors like it print it.
//!
//! ```text
//!   [Trace - 10:02:27 AM] Sending request 'textDocument/hover - (3)'.
//!   Params: {
//!       "position": …
//!   }
//!
//!   [Trace - 10:02:27 AM] Received response 'textDocument/hover - (3)' in 4ms.
//!   No result returned.
//! ```
//!
//!   :: [10:00:00.000] --> LSP-a textDocument/hover (3): {'position': …}     Sublime Text
//!
//! The trace has method, id and content of each message, from which it is written again.

use super::line::{Common, with_header};
use super::literal::{self, Literal};
use super::marks::Mark;
use super::objects::Balance;
use crate::capture::chunk::{InputPlace, ItemSink, Problem};
use crate::capture::lines::{Line, LineForm};
use crate::protocol::Direction;
use serde_json::Value;
use serde_json::value::RawValue;

/// The most bytes of a message.
const MAX_BYTES: usize = 64 << 20;

#[derive(Default)]
pub(super) struct Trace {
    common: Common,
    message: Option<TracedMessage>,
    /// The number of messages.
    count: u64,
    /// There are parameters and results, or lines that say that there are none.
    has_content: bool,
}

/// A message whose content may still follow.
struct TracedMessage {
    mark: Mark,
    kind: TracedKind,
    /// The method, and the id of a request or an answer as JSON.
    name: String,
    id: Option<String>,
    /// Text and code of an error.
    error: Option<(String, i64)>,
    content: String,
    /// The brackets of the content that are open.
    balance: Balance,
    line: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TracedKind {
    Call,
    Response,
}

impl Trace {
    pub(super) fn new(quoted: bool) -> Self {
        Self {
            common: Common::new(quoted),
            message: None,
            count: 0,
            has_content: false,
        }
    }

    /// Emits the message that is complete now.
    fn flush(&mut self, sink: &mut ItemSink<'_>) {
        let Some(message) = self.message.take() else {
            return;
        };
        self.count += 1;
        self.has_content |= !message.content.is_empty();
        match message.json() {
            Ok(json) => self
                .common
                .emit(message.mark, &with_header(json.as_bytes()), sink),
            Err(text) => {
                let place = InputPlace::Line(message.line);
                Problem::error(place, text).report(sink);
            }
        }
    }
}

impl TracedMessage {
    /// Reads the line that starts a message.
    fn read(text: &str, number: u64) -> Option<(Self, &str)> {
        const STARTS: [(&str, Direction, TracedKind); 6] = [
            ("Sending request '", Direction::ToServer, TracedKind::Call),
            (
                "Sending notification '",
                Direction::ToServer,
                TracedKind::Call,
            ),
            (
                "Sending response '",
                Direction::ToServer,
                TracedKind::Response,
            ),
            ("Received request '", Direction::ToClient, TracedKind::Call),
            (
                "Received notification '",
                Direction::ToClient,
                TracedKind::Call,
            ),
            (
                "Received response '",
                Direction::ToClient,
                TracedKind::Response,
            ),
        ];
        // At most a time precedes.
        let head: String = text.chars().take(80).collect();
        let (at, start, direction, kind) =
            STARTS.into_iter().find_map(|(start, direction, kind)| {
                Some((head.find(start)?, start, direction, kind))
            })?;
        let before = text.get(..at)?;
        // A log channel writes its own time and level before it.
        let is_prefix = before.is_empty() || before.ends_with("] ");
        let rest = text.get(at + start.len()..).filter(|_| is_prefix)?;
        let (name, after) = rest.split_once('\'')?;
        let (name, id) = match name
            .strip_suffix(')')
            .and_then(|name| name.rsplit_once(" - ("))
        {
            Some((method, id)) if !start.contains("notification") => {
                let is_number = !id.is_empty() && id.bytes().all(|c| c.is_ascii_digit());
                let id = if is_number {
                    id.to_owned()
                } else {
                    Value::from(id).to_string()
                };
                (method, Some(id))
            }
            _ => (name, None),
        };
        let failed = after.split_once("failed: ").map(|(_, text)| text);
        let error = failed.and_then(|text| {
            let (text, code) = text.rsplit_once(" (")?;
            let code = code.trim_end_matches(['.', ')']).parse().ok()?;
            Some((text.to_owned(), code))
        });
        let message = Self {
            mark: Mark {
                direction: Some(direction),
                ..Mark::default()
            },
            kind,
            name: name.to_owned(),
            id,
            error,
            content: String::new(),
            balance: Balance::default(),
            line: number,
        };
        Some((message, before))
    }

    /// Adds a line of the content. Returns `false` if the line is not part of it.
    fn add(&mut self, line: &str) -> bool {
        if self.content.is_empty() {
            let labels = ["Params: ", "Result: ", "Error data: "];
            let (_, own) = line.split_once("] ").unwrap_or(("", line));
            let label = |label: &str| line.strip_prefix(label).or(own.strip_prefix(label));
            let Some(text) = labels.into_iter().find_map(label) else {
                return false;
            };
            self.content.push_str(text);
            self.balance.add(text.as_bytes());
        } else if self.balance.is_closed() {
            return false;
        } else if self.content.len() + line.len() <= MAX_BYTES {
            self.content.push_str(line.trim_start());
            self.balance.add(line.as_bytes());
        } else {
            return false;
        }
        true
    }

    /// Reads a line of the panel of Sublime Text, which has the whole message.
    fn read_panel(text: &str, number: u64) -> Option<(Self, &str)> {
        use Direction::{ToClient, ToServer};
        use TracedKind::{Call, Response};
        const ARROWS: [(&str, Direction, TracedKind); 8] = [
            ("-->", ToServer, Call),
            ("->", ToServer, Call),
            (">>>", ToServer, Response),
            ("~~>", ToServer, Response),
            ("<--", ToClient, Call),
            ("<-", ToClient, Call),
            ("<<<", ToClient, Response),
            ("<~~", ToClient, Response),
        ];
        let start = text.strip_prefix(":: ").unwrap_or(text);
        let (time, rest) = start.strip_prefix('[')?.split_once("] ")?;
        let (arrow, rest) = rest.trim_start().split_once(' ')?;
        let (_, direction, kind) = ARROWS.into_iter().find(|(own, ..)| *own == arrow)?;
        let (head, content) = rest.trim_start().split_once(": ")?;
        // The time that an answer took has a colon too.
        let (head, content) = match head.strip_suffix("(duration") {
            Some(head) => (head.trim_end(), content.split_once("): ")?.1),
            None => (head, content),
        };
        let (_, name) = head.split_once(' ')?;
        let (name, id) = match name
            .strip_suffix(')')
            .and_then(|name| name.rsplit_once('('))
        {
            Some((name, id)) => (name.trim_end(), Some(id.to_owned())),
            None => (name, None),
        };
        let mut json = Vec::new();
        let Literal::Value { .. } = literal::read(content.as_bytes(), &mut json) else {
            return None;
        };
        let content = String::from_utf8(json).ok()?;
        let is_error = arrow.contains('~');
        let error: Option<Value> = serde_json::from_str(&content).ok().filter(|_| is_error);
        let error = error.map(|error| {
            let text = error.get("message").and_then(Value::as_str);
            let code = error.get("code").and_then(Value::as_i64);
            (
                text.unwrap_or_default().to_owned(),
                code.unwrap_or_default(),
            )
        });
        let message = Self {
            mark: Mark {
                direction: Some(direction),
                ..Mark::default()
            },
            kind,
            name: name.to_owned(),
            id,
            content: if error.is_some() {
                String::new()
            } else {
                content
            },
            error,
            balance: Balance::default(),
            line: number,
        };
        Some((message, time))
    }

    fn json(&self) -> Result<String, String> {
        let content = Some(self.content.as_str()).filter(|content| !content.is_empty());
        if let Some(content) = content {
            serde_json::from_str::<&RawValue>(content)
                .map_err(|error| format!("the content of {} is not JSON: {error}", self.name))?;
        }
        let mut out = String::from(r#"{"jsonrpc":"2.0""#);
        if let Some(id) = &self.id {
            out.push_str(&format!(r#","id":{id}"#));
        }
        match (self.kind, &self.error) {
            (TracedKind::Call, _) => {
                out.push_str(&format!(r#","method":{}"#, Value::from(self.name.as_str())));
                if let Some(content) = content {
                    out.push_str(&format!(r#","params":{content}"#));
                }
            }
            (TracedKind::Response, Some((text, code))) => {
                let text = Value::from(text.as_str());
                out.push_str(&format!(r#","error":{{"code":{code},"message":{text}"#));
                if let Some(content) = content {
                    out.push_str(&format!(r#","data":{content}"#));
                }
                out.push('}');
            }
            (TracedKind::Response, None) => {
                out.push_str(&format!(r#","result":{}"#, content.unwrap_or("null")));
            }
        }
        out.push('}');
        Ok(out)
    }
}

impl LineForm for Trace {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let cleaned = self.common.uncoloured(line.text).into_owned();
        let text = String::from_utf8_lossy(&cleaned);
        let text = text.trim_end();
        let found = TracedMessage::read(text, line.number)
            .or_else(|| TracedMessage::read_panel(text, line.number));
        if let Some((mut message, before)) = found {
            self.flush(sink);
            let mark = self.common.marks.of(&cleaned, before.as_bytes(), b"");
            (message.mark.time, message.mark.clock) = (mark.time, mark.clock);
            self.message = Some(message);
            return;
        }
        let is_content = self
            .message
            .as_mut()
            .is_some_and(|message| message.add(text));
        if !is_content {
            self.flush(sink);
            let empty = ["No parameters provided", "No result returned"];
            self.has_content |= empty.iter().any(|line| text.contains(line));
            self.common.other(&cleaned);
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.flush(sink);
        if self.count > 1 && !self.has_content {
            let text = "the trace has no parameters and no results: results are shown as null";
            Problem::note(InputPlace::Whole, text)
                .hint("\"trace.server\": \"verbose\" in the settings of VS Code prints them")
                .report(sink);
        }
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}

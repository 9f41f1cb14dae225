//! Writes messages as rows of a table: each line has the same keys, each with one type or null.
//!
//! [`COLUMNS`] lists them. Values that have any JSON type are JSON text: `"1"` and `1` stay different.

use super::{write_content_text, write_fault, write_id_value, write_short_text, write_time_value};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::encoding::json::write_escaped;
use crate::encoding::lossless::write_int;
use crate::protocol::session::{Link, name_of};
use crate::protocol::{Direction, Id, Role};
use crate::render::findings;

/// The number of levels of a value that are written as values; deeper ones are text. Databases limit them.
const MAX_LEVELS: usize = 100;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Integer,
    Float,
    Boolean,
    Text,
    /// RFC 3339 with nanoseconds.
    Time,
    /// JSON text.
    Json,
}

/// Lists the columns, and what a row without values has.
macro_rules! columns {
    ($($name:literal $kind:ident,)*) => {
        /// The columns, in the order of the keys.
        pub(crate) const COLUMNS: &[(&str, ColumnType)] = &[$(($name, ColumnType::$kind)),*];
        /// A row in which each value is null.
        const NULLS: &str = concat!($(",\"", $name, "\":null"),*);
        /// The start of each column in [`NULLS`].
        const STARTS: [usize; COLUMNS.len() + 1] = {
            let (mut starts, mut next) = ([0; COLUMNS.len() + 1], 0);
            while next < COLUMNS.len() {
                starts[next + 1] = starts[next] + COLUMNS[next].0.len() + ",\"\":null".len();
                next += 1;
            }
            starts
        };
    };
}

columns! {
    "v" Integer,
    "src" Text,
    "host" Text,
    "pid" Integer,
    "index" Integer,
    "conn" Integer,
    "stream" Integer,
    "dir" Text,
    "time" Time,
    "offset" Integer,
    "len" Integer,
    "body_offset" Integer,
    "body_len" Integer,
    "framing" Text,
    "protocol" Text,
    "session" Text,
    "peer" Text,
    "kind" Text,
    "role" Text,
    "id" Json,
    "subject" Text,
    "name" Text,
    "outcome" Text,
    "guess" Boolean,
    "message" Json,
    "raw" Json,
    "fault" Text,
    "faults" Json,
    "findings" Json,
    "reply_to" Integer,
    "latency_ms" Float,
    "of" Text,
    "op" Integer,
    "parent" Integer,
    "link" Text,
    "id_form_differs" Boolean,
}

/// What a row has beyond its message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowFacts<'a> {
    /// The capture.
    pub source: &'a str,
    /// The host and the process of the recorder.
    pub host: Option<&'a str>,
    pub pid: Option<u64>,
    /// The session that a header or a member names.
    pub session: Option<&'a str>,
    /// The name and the version that the sender gives itself.
    pub peer: Option<&'a str>,
}

/// Writes rows, and reuses memory between them.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    text: Vec<u8>,
    limited: Vec<u8>,
}

/// Writes the values of a row after their keys.
struct Row<'o> {
    out: &'o mut Vec<u8>,
    /// The number of the next column.
    next: usize,
    /// The number of the first column that is not written: those between are null.
    from: usize,
}

impl Row<'_> {
    /// Begins the next column. Its key is written together with the columns before it that are null.
    fn key(&mut self, name: &str) {
        self.null(name);
        self.nulls("null".len());
    }

    /// Writes the columns up to the next one, without the `less` bytes at their end.
    fn nulls(&mut self, less: usize) {
        let start = |column: usize| STARTS.get(column).copied().unwrap_or_default();
        // The first key has no comma.
        let from = start(self.from) + usize::from(self.from == 0);
        let text = NULLS.get(from..start(self.next).saturating_sub(less));
        self.out
            .extend_from_slice(text.unwrap_or_default().as_bytes());
        self.from = self.next;
    }

    /// Leaves out the value of the next column.
    fn null(&mut self, name: &str) {
        let column = COLUMNS.get(self.next).map(|(name, _)| *name);
        debug_assert_eq!(column, Some(name));
        self.next += 1;
    }

    fn integer(&mut self, name: &str, value: Option<u64>) {
        let Some(value) = value else {
            return self.null(name);
        };
        self.key(name);
        write_int(value, self.out);
    }

    fn text(&mut self, name: &str, value: Option<&str>) {
        let Some(value) = value else {
            return self.null(name);
        };
        self.key(name);
        write_short_text(value, self.out);
    }

    fn boolean(&mut self, name: &str, value: bool) {
        self.key(name);
        let text: &[u8] = if value { b"true" } else { b"false" };
        self.out.extend_from_slice(text);
    }

    /// Writes JSON as text; if there is none, null.
    fn json(&mut self, name: &str, json: &[u8]) {
        if json.is_empty() {
            return self.null(name);
        }
        self.key(name);
        self.out.push(b'"');
        write_escaped(json, self.out);
        self.out.push(b'"');
    }
}

impl Rows {
    /// Writes a row, with its line end.
    pub(crate) fn write(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        facts: RowFacts<'_>,
        out: &mut Vec<u8>,
    ) {
        let (frame, message, origin) = (decoded.frame, decoded.message, decoded.origin);
        out.push(b'{');
        let mut row = Row {
            out,
            next: 0,
            from: 0,
        };
        row.integer("v", Some(1));
        row.text("src", Some(facts.source));
        row.text("host", facts.host);
        row.integer("pid", facts.pid);
        row.integer("index", Some(decoded.index));
        row.integer("conn", origin.conn.map(u64::from));
        row.integer("stream", origin.stream);
        row.text("dir", origin.direction.map(Direction::name));
        if origin.time.is_some() {
            row.key("time");
            write_time_value(origin.time, row.out);
        } else {
            row.null("time");
        }
        row.integer("offset", Some(frame.offset));
        row.integer("len", Some(frame.len));
        let has_body = message.role != Some(Role::Control) || message.value.is_some();
        let body = frame.view.run(message.body).filter(|_| has_body);
        row.integer("body_offset", body);
        row.integer("body_len", body.map(|_| u64::from(message.body.len)));
        row.text("framing", Some(frame.framing.name()));
        row.text("protocol", Some(decoded.protocol.name()));
        row.text("session", facts.session);
        row.text("peer", facts.peer);
        row.text("kind", Some(&*message.kind).filter(|kind| !kind.is_empty()));
        row.text("role", message.role.map(Role::name));
        self.text.clear();
        if message.id != Id::None {
            write_id_value(&message.id, message.value_is_complete(), &mut self.text);
        }
        row.json("id", &self.text);
        row.text("subject", message.subject.as_deref());
        row.text("name", name_of(message, verdict.answer));
        row.text("outcome", message.failed.then_some("error"));
        row.boolean("guess", message.guess);
        self.text.clear();
        let raw = write_content_text(decoded, &mut self.text);
        row.json("message", limit_levels(&self.text, &mut self.limited));
        row.json("raw", &raw);
        self.write_verdict(decoded, verdict, &mut row);
        row.nulls(0);
        row.out.extend_from_slice(b"}\n");
    }

    fn write_verdict(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, row: &mut Row<'_>) {
        let first = decoded.faults().next();
        row.text("fault", first.map(|(_, fault)| fault.code));
        self.text.clear();
        for (i, (offset, fault)) in decoded.faults().enumerate() {
            self.text.push(if i == 0 { b'[' } else { b',' });
            let remarks = if i == 0 { decoded.remarks } else { &[] };
            write_fault(offset, fault, remarks, &mut self.text);
        }
        if first.is_some() {
            self.text.push(b']');
        }
        row.json("faults", &self.text);
        self.text.clear();
        for (i, finding) in verdict.findings.iter().enumerate() {
            self.text.push(if i == 0 { b'[' } else { b',' });
            findings::write_json(finding, Some(decoded.index), &mut self.text);
        }
        if !verdict.findings.is_empty() {
            self.text.push(b']');
        }
        row.json("findings", &self.text);
        let (answer, operation) = (verdict.answer, verdict.operation);
        row.integer("reply_to", answer.map(|answer| answer.to));
        match answer.and_then(|answer| answer.latency) {
            Some(latency) => {
                row.key("latency_ms");
                let millis = findings::millis(latency);
                row.out.extend_from_slice(millis.as_bytes());
                // A reader that guesses types does not take it for an integer.
                if !millis.contains('.') {
                    row.out.extend_from_slice(b".0");
                }
            }
            None => row.null("latency_ms"),
        }
        row.text("of", answer.and_then(|answer| answer.subject.as_deref()));
        row.integer("op", operation.map(|operation| operation.index));
        row.integer("parent", operation.and_then(|operation| operation.parent));
        let link = operation.and_then(|operation| operation.link);
        row.text("link", link.map(Link::name));
        let differs = answer.is_some_and(|answer| answer.id_form_differs);
        row.boolean("id_form_differs", differs);
    }
}

/// Returns JSON text in which values below [`MAX_LEVELS`] are strings with their text.
fn limit_levels<'a>(text: &'a [u8], limited: &'a mut Vec<u8>) -> &'a [u8] {
    // A form that compilers turn into vector instructions; few texts have so many brackets.
    let opens = |part: &[u8]| {
        part.iter()
            .map(|byte| u8::from(byte | 0x20 == b'{'))
            .sum::<u8>()
    };
    let parts = text.chunks(usize::from(u8::MAX));
    if parts.map(|part| usize::from(opens(part))).sum::<usize>() <= MAX_LEVELS {
        return text;
    }
    limited.clear();
    let (mut level, mut in_string, mut escaped) = (0usize, false, false);
    // The start of the value that becomes a string, and the end of what is copied.
    let (mut start, mut copied) = (0, 0);
    for (at, &byte) in text.iter().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                level += 1;
                if level == MAX_LEVELS + 1 {
                    start = at;
                }
            }
            b']' | b'}' => {
                level = level.saturating_sub(1);
                if level == MAX_LEVELS {
                    limited.extend_from_slice(text.get(copied..start).unwrap_or_default());
                    limited.push(b'"');
                    write_escaped(text.get(start..=at).unwrap_or_default(), limited);
                    limited.push(b'"');
                    copied = at + 1;
                }
            }
            _ => {}
        }
    }
    limited.extend_from_slice(text.get(copied..).unwrap_or_default());
    limited
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    #[test]
    fn deep_values_are_text() {
        let mut limited = Vec::new();
        let nested = |levels: usize, inner: &str| {
            format!("{}{inner}{}", "[".repeat(levels), "]".repeat(levels))
        };
        for (levels, wanted) in [
            (100, nested(100, "1")),
            (101, nested(100, "\"[1]\"")),
            (103, nested(100, "\"[[[1]]]\"")),
        ] {
            let text = nested(levels, "1");
            let limited = limit_levels(text.as_bytes(), &mut limited);
            assert_eq!(limited, wanted.as_bytes());
        }
        let pair = format!(r#"[{},"]",{{"a\"":[]}}]"#, nested(101, "1"));
        let limited = limit_levels(pair.as_bytes(), &mut limited);
        let wanted = format!(r#"[{},"]",{{"a\"":[]}}]"#, nested(99, "\"[[1]]\""));
        assert_eq!(limited, wanted.as_bytes());
    }
}

//! Messages in JSON in the lines of a log.
//!
//! ```text
//!   2026-11-22 10:13:52,659 DEBUG client: > TEXT '{"v":1}' [7 bytes]
//!   {"log":"{\"id\":0}\n","stream":"stdout","time":"2026-..."}       docker
//!   {"MESSAGE":[123,34,...],"__REALTIME_TIMESTAMP":"1795341141000000"}   journald
//!   2026-11-22T09:52:21Z stdout P {"id":            Kubernetes: P: the next line of the stream continues it
//!   [pod/a/b] {"id":0}    a-1  | {"id":0}           kubectl, docker compose
//! ```
//!
//! A message is the first JSON object of a line that a protocol may have written. It may be
//! inside another object or inside a string, also with the escapes of a programming language.

use super::escapes::Escapes;
use super::line::{Common, with_header};
use super::marks::Mark;
use super::probe::{MessageFraming, MessageTest};
use crate::capture::chunk::{InputPlace, ItemSink, Problem};
use crate::capture::lines::{Line, LineForm};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Maximum depth of a message inside objects and strings.
const MAX_DEPTH: u32 = 4;
/// The most places of a line where an object may begin.
const MAX_STARTS: usize = 16;
/// The most bytes of a message that several lines carry.
const MAX_PARTS: usize = 64 << 20;

const ESCAPES: Escapes = Escapes {
    latin1: false,
    radix: 8,
};

#[derive(Default)]
pub(super) struct Log {
    common: Common,
    test: MessageTest,
    /// The messages had headers with their lengths.
    has_headers: bool,
    /// The parts of an incomplete line, for stdout and stderr.
    parts: [Vec<u8>; 2],
}

impl Log {
    pub(super) fn new(quoted: bool) -> Self {
        Self {
            common: Common::new(quoted),
            ..Self::default()
        }
    }

    /// Joins a part of a line with those before it; returns the line if this part ends it.
    fn join(&mut self, part: &Part<'_>, line: u64, sink: &mut ItemSink<'_>) -> Option<Vec<u8>> {
        let held = self.parts.get_mut(usize::from(part.is_stderr))?;
        if held.len() + part.text.len() > MAX_PARTS {
            held.clear();
            let text = format!("a line in parts is longer than the limit of {MAX_PARTS} bytes");
            Problem::error(InputPlace::Line(line), text).report(sink);
            return None;
        }
        held.extend_from_slice(&part.text);
        part.ends.then(|| std::mem::take(held))
    }

    /// Finds the message in a text. Returns it with the text before and after it.
    fn find(&mut self, text: &[u8], depth: u32) -> Option<Found> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut starts = 0;
        let mut at = 0;
        while let Some(next) = text
            .get(at..)
            .and_then(|rest| rest.iter().position(|c| b"{\"'".contains(c)))
        {
            at += next;
            let (before, rest) = text.split_at_checked(at)?;
            let (&c, body) = rest.split_first()?;
            starts += 1;
            if starts > MAX_STARTS {
                return None;
            }
            if c == b'{' {
                if let Some(len) = json_len(rest) {
                    let (object, after) = rest.split_at_checked(len)?;
                    if let Some(found) = self.find_in_object(object, depth) {
                        return Some(found.within(before, after));
                    }
                    at += len;
                    continue;
                }
            } else if body.starts_with(b"{") || body.starts_with(b"b'{") {
                // A string whose text is an object: in JSON, or as a programming language prints it.
                let mut inner = Vec::new();
                let literal = ESCAPES.read(body, Some(c), &mut inner);
                if let Some(after) = literal.rest
                    && let Some(found) = self.find(&inner, depth + 1)
                {
                    return Some(found.within(before, after));
                }
            }
            at += 1;
        }
        None
    }

    fn find_in_object(&mut self, object: &[u8], depth: u32) -> Option<Found> {
        if let Some(framing) = self.test.framing(object) {
            if framing != MessageFraming::Either {
                self.has_headers = framing == MessageFraming::Headers;
            }
            return Some(Found {
                message: object.to_vec(),
                beside: [Vec::new(), Vec::new()],
            });
        }
        let members: BTreeMap<String, &RawValue> = serde_json::from_slice(object).ok()?;
        for raw in members.values() {
            let value = raw.get();
            let inner = match value.as_bytes().first()? {
                b'"' => serde_json::from_str::<String>(value).ok()?.into_bytes(),
                b'[' => match serde_json::from_str::<Vec<u8>>(value) {
                    Ok(bytes) => bytes,
                    Err(_) => continue,
                },
                b'{' => value.as_bytes().to_vec(),
                _ => continue,
            };
            if memchr::memchr(b'{', &inner).is_none() {
                continue;
            }
            if let Some(found) = self.find(&inner, depth + 1) {
                let at = value.as_ptr() as usize - object.as_ptr() as usize;
                let before = object.get(..at)?;
                let after = object.get(at + value.len()..)?;
                return Some(found.within(before, after));
            }
        }
        None
    }
}

/// A message, and what the line has beside it.
struct Found {
    message: Vec<u8>,
    beside: [Vec<u8>; 2],
}

impl Found {
    fn within(mut self, before: &[u8], after: &[u8]) -> Self {
        let [own_before, own_after] = &mut self.beside;
        let mut all = before.to_vec();
        all.push(b' ');
        all.append(own_before);
        *own_before = all;
        own_after.push(b' ');
        own_after.extend_from_slice(after);
        self
    }
}

/// The length of the JSON object that a text begins with.
fn json_len(text: &[u8]) -> Option<usize> {
    let mut values =
        serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// A part of a line that a container wrote.
struct Part<'a> {
    is_stderr: bool,
    ends: bool,
    text: std::borrow::Cow<'a, [u8]>,
    /// The text before it, or the whole entry.
    before: &'a [u8],
}

impl<'a> Part<'a> {
    /// `TIME stdout P TEXT`, or `{"log":"TEXT","stream":"stdout","time":"TIME"}`.
    fn read(line: &'a [u8]) -> Option<Self> {
        if line.starts_with(b"{") {
            #[derive(serde::Deserialize)]
            struct DockerEntry {
                log: String,
                stream: String,
            }
            memchr::memmem::find(line, b"\"log\"")?;
            let entry: DockerEntry = serde_json::from_slice(line).ok()?;
            return Some(Self {
                is_stderr: entry.stream == "stderr",
                ends: entry.log.ends_with('\n'),
                text: entry.log.into_bytes().into(),
                before: line,
            });
        }
        let mut words = line.splitn(4, |&c| c == b' ');
        let (time, stream, tag) = (words.next()?, words.next()?, words.next()?);
        let is_entry = time.first()?.is_ascii_digit()
            && (stream == b"stdout" || stream == b"stderr")
            && (tag == b"P" || tag == b"F");
        let text = words.next().filter(|_| is_entry)?;
        Some(Self {
            is_stderr: stream == b"stderr",
            ends: tag == b"F",
            text: text.into(),
            before: line.get(..line.len() - text.len())?,
        })
    }
}

/// The time of an entry of journald, in microseconds.
fn journald_time(entry: &[u8]) -> Option<crate::capture::Time> {
    #[derive(serde::Deserialize)]
    struct JournalEntry<'a> {
        #[serde(rename = "__REALTIME_TIMESTAMP", borrow)]
        time: &'a str,
    }
    memchr::memmem::find(entry, b"__REALTIME")?;
    let entry: JournalEntry<'_> = serde_json::from_slice(entry).ok()?;
    super::marks::epoch(entry.time.as_bytes())
}

impl LineForm for Log {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = self.common.clean(line.text).into_owned();
        let part = Part::read(&text);
        let joined;
        let (body, beside) = match &part {
            Some(part) => {
                let Some(whole) = self.join(part, line.number, sink) else {
                    return;
                };
                joined = whole;
                (joined.as_slice(), part.before)
            }
            None => (text.as_slice(), &b""[..]),
        };
        let Some(found) = self.find(body, 0) else {
            self.common.other(&text);
            return;
        };
        let [before, after] = &found.beside;
        let own = self.common.marks.of(&text, before, after);
        let outer = self.common.marks.of(&text, beside, b"");
        let mark = Mark {
            direction: own.direction.or(outer.direction),
            time: outer.time.or(own.time).or_else(|| journald_time(&text)),
        };
        let mut message = found.message;
        // A message on a line: line breaks inside it are blanks between values.
        for c in &mut message {
            if matches!(c, b'\n' | b'\r') {
                *c = b' ';
            }
        }
        if self.has_headers {
            message = with_header(&message);
        } else {
            message.push(b'\n');
        }
        self.common.emit(mark, &message, sink);
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}

//! Renders a fixture's messages for a snapshot.
//!
//! ```text
//!   #3 ← response  id [volatile]  (saikuro, prefix, response, 30 bytes at 43)
//!        43..47     length   26
//!        48..52     id  [volatile]
//! ```

use super::hidden_values::{HiddenValues, each_hidden, values_of};
use super::{Error, LeftOut, MAX_RENDERING, Rendering, VOLATILE};
use crate::capture::line_table::{LineColumn, LineTable};
use crate::capture::{Chunk, Item};
use crate::conversation::{Conversation, Finding, Output, Run, Sink, Verdict};
use crate::decoder::{Decoded, Origin};
use crate::diff::{Ignore, MessageName};
use crate::encoding::json::{self as json_encoding, write_str};
use crate::path::{Path, PathStep};
use crate::protocol::schema::Fresh;
use crate::protocol::schema::marks::Generated;
use crate::protocol::session::{Answer, Waiting};
use crate::protocol::{Id, Lane, Notes, Protocol};
use crate::render::fields::brief;
use crate::render::line::Lines;
use crate::render::masking::count_secrets;
use crate::render::tree::Detail;
use crate::render::{DisplayOptions, Format, findings, hex, json, tree};
use crate::settings::FixtureOptions;
use crate::span::{Span, SpannedText};
use crate::tape::{Node, Tape};
use std::ops::ControlFlow;

/// Fields of heads that differ in every run, or depend on such values.
const HEADS: [&str; 7] = [
    "content-length",
    "date",
    "length",
    "sec-websocket-accept",
    "sec-websocket-key",
    "traceparent",
    "x-request-id",
];
/// The minimum length of a row of a tree.
const ROW: usize = 16;
/// The maximum depth of a line of JSON that is examined.
const DEPTH: u32 = 2048;

/// Collects a rendering.
pub(super) struct ShownSnapshot<'h> {
    how: &'h FixtureOptions,
    display: DisplayOptions,
    /// The patterns for the last protocol.
    ignore: Option<(String, Ignore)>,
    /// The hidden values, which texts can mention.
    values: HiddenValues,
    notes: Notes,
    lines: Lines,
    text: String,
    left_out: LeftOut,
    /// The lines of the fixture, and those of the messages.
    table: LineTable,
    places: Vec<(u64, LineColumn)>,
    is_recording: bool,
    /// The last known time.
    now: Option<i64>,
    /// The messages that are awaited at the end.
    waiting: Vec<Waiting>,
}

impl<'h> ShownSnapshot<'h> {
    pub fn new(how: &'h FixtureOptions) -> Self {
        let display = DisplayOptions {
            // Control characters must not reach a file that terminals show.
            terminal: true,
            // Hidden values have different lengths in different runs.
            without_positions: how.hides(),
            ..DisplayOptions::default()
        };
        Self {
            how,
            display,
            ignore: None,
            values: HiddenValues::default(),
            notes: Notes::default(),
            lines: Lines::default(),
            text: String::new(),
            left_out: LeftOut::default(),
            table: LineTable::default(),
            places: Vec::new(),
            is_recording: false,
            now: None,
            waiting: Vec::new(),
        }
    }

    /// Adds a note that belongs to no message.
    pub fn note(&mut self, text: &str) {
        if self.how.format == Format::Json {
            let mut out = b"{\"note\":".to_vec();
            write_str(text, &mut out);
            self.text.push_str(&String::from_utf8_lossy(&out));
            self.text.push_str("}\n");
        } else {
            self.text.push_str("! ");
            let style = self.display.style;
            style.push_wire(&mut self.text, crate::render::style::Highlight::Plain, text);
            self.text.push('\n');
        }
    }

    /// Adds findings that belong to no current message.
    fn findings(&mut self, found: &[Finding]) {
        for finding in &self.masked(found) {
            if self.how.format == Format::Json {
                let mut out = b"{\"finding\":".to_vec();
                findings::write_json(finding, None, &mut out);
                out.extend_from_slice(b"}\n");
                let out = redacted(&out, &|_| false, self.how.hides());
                self.text.push_str(&String::from_utf8_lossy(&out));
            } else {
                findings::write_below(finding, None, self.display, &mut self.text);
            }
        }
    }

    /// Returns findings with hidden values replaced.
    fn masked(&self, found: &[Finding]) -> Vec<Finding> {
        let mut found = found.to_vec();
        for finding in &mut found {
            let about = finding.related.into_iter().chain([finding.place.index]);
            let about: Vec<u64> = about.collect();
            finding.text = self.values.mask(&finding.text, &about);
        }
        found
    }

    /// Returns an error if the rendering is too long.
    pub fn check(&self) -> Result<(), Error> {
        if self.text.len() > MAX_RENDERING {
            Err(Error::TooLong)
        } else {
            Ok(())
        }
    }

    /// Prepares the patterns of hidden values for a protocol.
    fn load_patterns(&mut self, protocol: &dyn Protocol) {
        let name = protocol.name();
        if self.ignore.as_ref().is_none_or(|(known, _)| *known != name) {
            let hidden = |one: &&Generated| {
                one.volatile || matches!(one.fresh, Some(Fresh::Id | Fresh::Time))
            };
            let own = protocol.marks().generated.iter().filter(hidden);
            let own = own.map(|one| one.path.as_ref());
            let own = own.filter(|_| self.how.redact_volatile);
            let asked = self.how.ignore.iter().map(String::as_str);
            self.ignore = Some((name.to_owned(), Ignore::new(own.chain(asked))));
        }
    }

    fn show(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) {
        let ignore = self.ignore.take();
        let parts = decoded.root().map(|root| decoded.protocol.part_names(root));
        let parts = parts.unwrap_or_default();
        let answer = verdict.and_then(|verdict| verdict.answer);
        let asked = answer.and_then(|answer| answer.subject.as_deref());
        let name = MessageName {
            parts: &parts,
            ..MessageName::in_pair(decoded.message, asked)
        };
        let hidden = |path: &Path| {
            let ignore = ignore.as_ref();
            ignore.is_some_and(|(_, ignore)| ignore.covers(name, path))
        };
        let root = decoded.root();
        if let Some(root) = root {
            each_hidden(root, &mut Path::new(), &hidden, &mut |_| {
                self.left_out.hidden += 1;
            });
        }
        if self.how.format != Format::Json {
            self.left_out.secrets += count_secrets(decoded, &mut self.notes);
        }
        let mut values = root.map_or_else(Vec::new, |root| values_of(root, &hidden));
        // Titles contain the id, the subject and the name too. That of an answer is in its request.
        let mut message = decoded.message.clone();
        message.name = message.name.filter(|name| name.span.is_some());
        for text in [&mut message.subject, &mut message.name] {
            if let Some(shown) = text
                && values.iter().any(|value| **value == **shown)
            {
                *text = Some(SpannedText::without_span(VOLATILE));
            }
        }
        if id_is_hidden(decoded, &hidden) {
            values.push(message.id.text().trim_matches('"').to_owned());
            message.id = Id::Text(VOLATILE.into());
        }
        if verdict.is_some() {
            self.values.store(decoded.index, values);
        }
        let findings = verdict.map(|verdict| self.masked(verdict.findings));
        let answer = verdict
            .and_then(|verdict| verdict.answer)
            .map(|answer| Answer {
                name: None,
                ..answer.clone()
            });
        let verdict = verdict.map(|verdict| Verdict {
            findings: findings.as_deref().unwrap_or_default(),
            answer: answer.as_ref(),
            ..verdict
        });
        let decoded = &Decoded {
            message: &message,
            raw: None,
            ..*decoded
        };
        self.write(decoded, verdict, &hidden);
        self.ignore = ignore;
    }

    /// Writes a message without its hidden values.
    fn write(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
        hidden: &dyn Fn(&Path) -> bool,
    ) {
        let hidden_field = |path: &str| path.parse().is_ok_and(|path| hidden(&path));
        let (display, text) = (self.display, &mut self.text);
        match self.how.format {
            Format::Tree => {
                let detail = Detail {
                    hidden: &hidden_field,
                    hidden_heads: if self.how.redact_volatile {
                        &HEADS
                    } else {
                        &[]
                    },
                    replacement: VOLATILE,
                    checksums: true,
                    ..Detail::default()
                };
                tree::write_with_detail(decoded, verdict, display, detail, &mut self.notes, text);
            }
            Format::Line => self.lines.write(decoded, verdict, display, text),
            Format::Hex => hex::write(decoded, verdict, display, &mut self.notes, text),
            Format::Json => {
                let mut out = Vec::new();
                json::write(decoded, verdict, display, &mut out);
                let out = redacted(&out, hidden, self.how.hides());
                text.push_str(&String::from_utf8_lossy(&out));
            }
        }
    }

    /// Adds what is known at the end: findings, and the messages that are awaited.
    fn end(&mut self, run: &Run<'_>, found: &[Finding]) {
        let decoder = run.decoder();
        if decoder.protocol().is_none() && decoder.undetected() == 0 {
            self.note("it has no bytes to decode");
        }
        let Some(conversation) = run.conversation() else {
            return;
        };
        self.findings(found);
        // The responses to one direction are in another file.
        if conversation.is_one_way() {
            return;
        }
        let sides = conversation.sides();
        for mut one in std::mem::take(&mut self.waiting) {
            if self.how.redact_volatile && !one.id.is_empty() {
                VOLATILE.clone_into(&mut one.id);
            }
            one.id = self.values.mask(&one.id, &[one.place.index]);
            one.what = self.values.mask(&one.what, &[one.place.index]);
            let why = one.why.as_deref();
            one.why = why.map(|why| self.values.mask(why, &[one.place.index]));
            let mut text = "it waits for an answer:".to_owned();
            let display = DisplayOptions::default();
            findings::write_waiting(&one, self.now, sides, display, &mut text);
            self.note(text.trim_end());
        }
    }

    /// Returns the rendering, with notes about it.
    pub fn into_rendering(self, notes: Vec<String>) -> Rendering {
        Rendering {
            text: self.text,
            left_out: self.left_out,
            notes,
            lines: self.places,
        }
    }

    /// Adds bytes of the fixture, before their messages.
    fn chunk(&mut self, chunk: &Chunk<'_>) {
        let direction = chunk.direction.or(self.how.direction);
        let origin = Origin {
            direction,
            ..chunk.origin()
        };
        self.table.add(self.lane(origin), chunk, !self.is_recording);
    }

    /// Returns the stream whose offsets count from its start.
    fn lane(&self, origin: Origin) -> Lane {
        Lane {
            conn: origin.conn.filter(|_| self.is_recording),
            ..origin.lane()
        }
    }

    fn message(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
    ) -> Result<(), Error> {
        // A rendering that is refused in the end need not be completed.
        self.check()?;
        let mut nodes = 0;
        let rows = matches!(self.how.format, Format::Tree | Format::Hex);
        if let Some(root) = decoded.root().filter(|_| rows) {
            root.each(&mut |_| nodes += 1);
        }
        if nodes > (MAX_RENDERING - self.text.len()) / ROW {
            return Err(Error::TooLong);
        }
        self.now = decoded.origin.time.or(self.now);
        let line = self
            .table
            .find(self.lane(decoded.origin), decoded.frame.offset);
        self.places.extend(line.map(|line| (decoded.index, line)));
        self.load_patterns(decoded.protocol);
        self.show(decoded, verdict);
        Ok(())
    }
}

impl Sink for ShownSnapshot<'_> {
    type Break = Error;

    fn take(&mut self, output: Output<'_>) -> ControlFlow<Error> {
        match output {
            Output::Item(Item::Problem(problem), _) => self.note(&problem.to_string()),
            Output::Item(Item::Header(_), _) => self.is_recording = true,
            Output::Item(Item::Chunk(chunk), _) => self.chunk(chunk),
            Output::Message(decoded, verdict) => {
                if let Err(error) = self.message(decoded, verdict) {
                    return ControlFlow::Break(error);
                }
            }
            Output::Event(event, verdict) => {
                self.now = event.origin().time.or(self.now);
                self.findings(verdict.findings);
            }
            Output::Note(text) => self.note(text),
            Output::BeforeEnd(run) => {
                self.waiting = run.conversation().map_or(Vec::new(), Conversation::waiting);
            }
            Output::End(run, findings) => self.end(run, findings),
            Output::Begin(_) | Output::Item(..) | Output::Pause(..) => {}
        }
        ControlFlow::Continue(())
    }
}

/// Returns `true` if the message's id is a hidden value.
fn id_is_hidden(decoded: &Decoded<'_>, hidden: &dyn Fn(&Path) -> bool) -> bool {
    let id = &decoded.message.id;
    if *id == Id::None {
        return false;
    }
    let id = id.text();
    let mut members = decoded.root().into_iter().flat_map(Node::members);
    let member = |key: &str| Path::from(vec![PathStep::Member(key.to_owned())]);
    hidden(&member("id"))
        || members.any(|(key, value)| {
            hidden(&member(&key.text().unwrap_or_default()))
                && value.text().map_or_else(|| brief(value), String::from) == id
        })
}

/// Members with positions.
const POSITION_KEYS: [&str; 4] = ["offset", "len", "body_offset", "body_len"];

/// Returns a line of JSON without the hidden values of its message, and without positions if these
/// differ from run to run.
fn redacted(line: &[u8], hidden: &dyn Fn(&Path) -> bool, unplaced: bool) -> Vec<u8> {
    let mut parts: Vec<(Span, &str)> = Vec::new();
    let mut tape = Tape::new();
    tape.clear(u32::MAX);
    let whole = Span::new(0, line.len());
    let parsed = json_encoding::parse(line, whole, DEPTH, &mut tape);
    let root = tape.root(line).filter(|_| parsed.is_ok());
    if let Some(root) = root.filter(|_| unplaced) {
        for (key, value) in root.members() {
            let name = key.text().unwrap_or_default();
            let lists = matches!(name.as_ref(), "fault" | "faults" | "finding" | "findings");
            for one in std::iter::once(value)
                .chain(value.children())
                .filter(|_| lists)
            {
                collect_positions(one, &mut parts);
            }
        }
        collect_positions(root, &mut parts);
    }
    if let Some(message) = root.and_then(|root| root.get("message")) {
        each_hidden(message, &mut Path::new(), hidden, &mut |node| {
            parts.push((node.span(), VOLATILE));
        });
    }
    parts.sort_by_key(|(span, _)| span.at());
    let (mut out, mut at) = (Vec::with_capacity(line.len()), 0);
    for (span, instead) in parts {
        out.extend_from_slice(line.get(at..span.at()).unwrap_or_default());
        if !instead.is_empty() {
            write_str(instead, &mut out);
        }
        at = span.end();
    }
    out.extend_from_slice(line.get(at..).unwrap_or_default());
    out
}

/// Adds the members of an object with positions, each with the comma before it.
fn collect_positions(object: Node<'_>, parts: &mut Vec<(Span, &str)>) {
    let mut before: Option<usize> = None;
    for (key, value) in object.members() {
        let end = value.span().end();
        let is_place = POSITION_KEYS.contains(&key.text().unwrap_or_default().as_ref());
        if let Some(before) = before.filter(|_| is_place) {
            parts.push((Span::new(before, end), ""));
        }
        before = Some(end);
    }
}

//! Writes a page: one HTML file that shows a session and needs no other file.
//!
//! ```text
//!   page.html  policy, style  {"messages":[...   ...],"findings":[...],...}  script
//!              '- begin()     '- message()     '- finish()
//! ```
//!
//! Messages are written while they arrive. Beyond the limits below, memory and page stay as they are: what is left out is
//! counted. Texts are escaped as on a screen, and the script makes text nodes of them only.

mod fields;

use super::Form;
use crate::capture::{Item, ProblemSeverity};
use crate::conversation::{Conversation, Finding, Run, Verdict};
use crate::decoder::{Decoded, Origin};
use crate::encoding::Want;
use crate::encoding::json::write_str;
use crate::encoding::lossless::write_int;
use crate::protocol::session::{Link, Place, Rule, WaitingList};
use crate::protocol::{Direction, Notes, Role};
use crate::render::DisplayOptions;
use crate::render::findings::{self, millis};
use crate::render::line::content_text;
use crate::render::style::{Style, escape, shorten};
use crate::render::subject::{masked_subject, parts};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The maximum number of messages.
const MAX_MESSAGES: u64 = 10_000;
/// The maximum size of all fields and bytes of messages.
const MAX_DETAILS: usize = 24 << 20;
/// The maximum number of sentences about the inputs.
const MAX_PROBLEMS: usize = 20;
/// The maximum number of findings, and the maximum size of their texts.
const MAX_FINDINGS: u64 = 5_000;
const MAX_FINDING_TEXT: usize = 2 << 20;
/// The maximum number of requests without an answer that are listed.
const MAX_WAITING: usize = 500;
/// The maximum number of names of inputs in the title.
const MAX_NAMES: usize = 4;
/// The maximum number of inputs whose sides have names.
const MAX_SIDES: usize = 100;
/// The maximum number of characters of a text in a line, and of a sentence.
const MAX_CELL: usize = 200;
const MAX_SENTENCE: usize = 2_000;

/// A page that is being written.
pub(crate) struct Page {
    display: DisplayOptions,
    notes: Notes,
    /// The number of messages, and of those that are left out.
    messages: u64,
    more: u64,
    /// The size of all fields and bytes, and the number of messages without them.
    details: usize,
    bare: u64,
    /// The findings as JSON, their number, and the number of those that are left out.
    findings: Vec<u8>,
    found: u64,
    more_findings: u64,
    rules: BTreeMap<String, Arc<Rule>>,
    waiting: Vec<u8>,
    waits: usize,
    /// The names of all inputs, and the one that is read.
    names: Vec<String>,
    inputs: usize,
    has_several: bool,
    protocols: Vec<String>,
    /// The names of the two sides in each input, by its name if there are several.
    sides: BTreeMap<String, [String; 2]>,
    /// The first and the last time.
    first: Option<i64>,
    last: Option<i64>,
    /// What could not be read of the inputs, and the number of further sentences.
    problems: Vec<String>,
    more_problems: u64,
}

impl Page {
    /// Creates a page without messages.
    pub(crate) fn new(display: DisplayOptions) -> Self {
        Self {
            display: DisplayOptions {
                width: None,
                terminal: false,
                style: Style::default(),
                ..display
            },
            notes: Notes::default(),
            messages: 0,
            more: 0,
            details: 0,
            bare: 0,
            findings: Vec::new(),
            found: 0,
            more_findings: 0,
            rules: BTreeMap::new(),
            waiting: Vec::new(),
            waits: 0,
            names: Vec::new(),
            inputs: 0,
            has_several: false,
            protocols: Vec::new(),
            sides: BTreeMap::new(),
            first: None,
            last: None,
            problems: Vec::new(),
            more_problems: 0,
        }
    }

    /// Writes the page up to the messages.
    fn write_head(out: &mut Vec<u8>) {
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
            hash(SCRIPT),
            hash(STYLE)
        );
        let head = head_and_tail().0;
        let head = head.replacen("{{policy}}", &policy, 1);
        out.extend_from_slice(head.replacen("{{style}}", STYLE, 1).as_bytes());
        out.extend_from_slice(b"{\"messages\":[");
    }

    /// Begins an input.
    fn input(&mut self, name: &str, is_one_of_several: bool) {
        self.inputs += 1;
        self.has_several = is_one_of_several;
        if self.names.len() >= MAX_NAMES {
            self.names.pop();
        }
        // The folders of a machine are nothing for other readers.
        self.names
            .push(name.rsplit('/').next().unwrap_or(name).to_owned());
    }

    /// Returns the name of the input that is read, if there are several.
    fn own_name(&self) -> Option<&str> {
        let name = self.names.last().filter(|_| self.has_several);
        name.map(String::as_str)
    }

    /// Adds a message with its findings.
    fn add_message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, out: &mut Vec<u8>) {
        self.add_findings(verdict.findings);
        if self.messages >= MAX_MESSAGES {
            self.more += 1;
            return;
        }
        out.extend_from_slice(if self.messages == 0 { b"\n" } else { b",\n" });
        self.messages += 1;
        let name = decoded.protocol.name();
        if self.protocols.iter().all(|known| known != name) {
            self.protocols.push(name.to_owned());
        }
        self.write_place(decoded, out);
        self.write_meaning(decoded, verdict, out);
        if self.details >= MAX_DETAILS {
            self.bare += 1;
            out.extend_from_slice(b",\"left\":true}");
            return;
        }
        let start = out.len();
        fields::write(decoded, self.display, &mut self.notes, out);
        self.details += out.len() - start;
        out.push(b'}');
    }

    /// Writes where a message is: its index, connection, direction, time and bytes.
    fn write_place(&mut self, decoded: &Decoded<'_>, out: &mut Vec<u8>) {
        let (origin, frame) = (decoded.origin, decoded.frame);
        out.extend_from_slice(b"{\"i\":");
        write_int(decoded.index, out);
        put_number("conn", origin.conn, out);
        put_number("stream", origin.stream, out);
        put("dir", origin.direction.map(Direction::name), MAX_CELL, out);
        if let Some(time) = origin.time {
            let first = *self.first.get_or_insert(time);
            self.last = self.last.max(Some(time));
            put_json("t", &millis(time.saturating_sub(first)), out);
        }
        put_number("at", Some(frame.offset), out);
        put_number("len", Some(frame.len), out);
        put("framing", Some(frame.framing.name()), MAX_CELL, out);
        put("protocol", Some(decoded.protocol.name()), MAX_CELL, out);
        let merged = self
            .display
            .sources
            .and_then(|all| all.name_of(origin.conn));
        put("src", merged.or(self.own_name()), MAX_CELL, out);
    }

    /// Writes what a message means, alone and in the conversation.
    fn write_meaning(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, out: &mut Vec<u8>) {
        let (message, answer) = (decoded.message, verdict.answer);
        let shows = self.display.show_secrets;
        put("kind", Some(&message.kind), MAX_CELL, out);
        put_true("guess", message.guess, out);
        put("role", message.role.map(Role::name), MAX_CELL, out);
        let id = message.id.text();
        put("id", Some(&*id).filter(|id| !id.is_empty()), MAX_CELL, out);
        let (subject, name) = parts(decoded, answer, shows);
        put("subject", subject.as_deref(), MAX_CELL, out);
        put("name", name.as_deref(), MAX_CELL, out);
        put_true("failed", message.is_error(), out);
        put_true("outcome", message.failed, out);
        let brief = content_text(decoded, answer, shows, MAX_CELL, &mut self.notes);
        put(
            "brief",
            Some(&*brief).filter(|text| !text.is_empty()),
            MAX_CELL,
            out,
        );
        if let Some(answer) = answer {
            put_number("re", Some(answer.to), out);
            if let Some(latency) = answer.latency {
                put_json("ms", &millis(latency), out);
            }
            let of = answer.subject.as_deref();
            let of = of.map(|of| masked_subject(of, shows));
            put("of", of.as_deref(), MAX_CELL, out);
        }
        if let Some(operation) = verdict.operation {
            put_number("op", Some(operation.index), out);
            put_number("parent", operation.parent, out);
            put("link", operation.link.map(Link::name), MAX_CELL, out);
        }
        put("who", verdict.client, MAX_CELL, out);
        let mut faults = decoded.faults().map(|(_, fault)| fault.code).peekable();
        if faults.peek().is_some() {
            out.extend_from_slice(b",\"faults\":[");
            for (n, code) in faults.enumerate() {
                out.extend_from_slice(if n == 0 { b"" } else { b"," });
                write_text(code, MAX_CELL, out);
            }
            out.push(b']');
        }
    }

    /// Adds findings between messages, or at the end.
    fn add_findings(&mut self, found: &[Finding]) {
        for finding in found {
            if self.found >= MAX_FINDINGS || self.findings.len() >= MAX_FINDING_TEXT {
                self.more_findings += 1;
                continue;
            }
            let name = finding.name();
            let out = &mut self.findings;
            out.extend_from_slice(if self.found == 0 { b"\n" } else { b",\n" });
            self.found += 1;
            out.extend_from_slice(b"{\"rule\":");
            write_text(&name, MAX_CELL, out);
            put("severity", Some(finding.severity.name()), MAX_CELL, out);
            let index = finding.place.index;
            put_number("i", (index != Place::NO_MESSAGE).then_some(index), out);
            put("text", Some(&finding.text), MAX_SENTENCE, out);
            put_number("see", finding.related, out);
            out.push(b'}');
            self.rules
                .entry(name)
                .or_insert_with(|| Arc::clone(&finding.rule));
        }
    }

    /// Adds the messages of an input that wait for an answer at its end, and the names of its sides.
    fn add_waiting(&mut self, list: &WaitingList, now: Option<i64>, sides: [&str; 2]) {
        let name = self.own_name().unwrap_or_default();
        if self.sides.len() < MAX_SIDES {
            self.sides.insert(name.to_owned(), sides.map(str::to_owned));
        }
        self.waits += list.count;
        for one in &list.first {
            if self.waiting.len() >= MAX_FINDING_TEXT {
                return;
            }
            let mut text = String::new();
            findings::write_waiting(one, now, sides, self.display, &mut text);
            let index = (one.place.len > 0).then_some(one.place.index);
            let own = index.map(|index| format!("#{index} ")).unwrap_or_default();
            let text = text.trim();
            let out = &mut self.waiting;
            out.extend_from_slice(if out.is_empty() { b"\n{" } else { b",\n{" });
            out.extend_from_slice(b"\"text\":");
            write_text(text.strip_prefix(&*own).unwrap_or(text), MAX_SENTENCE, out);
            put_number("i", index, out);
            out.push(b'}');
        }
    }

    /// Returns what is left out, in sentences.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |n: u64, one: &str, many: &str| match n {
            0 => {}
            1 => notes.push(format!("1 {one}")),
            n => notes.push(format!("{n} {many}")),
        };
        note(
            self.more,
            "message is left out: the page has the first 10000; --where chooses others",
            "messages are left out: the page has the first 10000; --where chooses others",
        );
        note(
            self.bare,
            "message has no fields and bytes: the page is full",
            "messages have no fields and bytes: the page is full; --where chooses fewer messages",
        );
        note(
            self.more_problems,
            "more part of the input could not be used",
            "more parts of the input could not be used",
        );
        note(
            self.more_findings,
            "finding is left out",
            "findings are left out",
        );
        notes
    }

    /// Writes the rest of the page.
    fn write_rest(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"],\n\"findings\":[");
        out.extend_from_slice(&self.findings);
        out.extend_from_slice(b"],\n\"waiting\":[");
        out.extend_from_slice(&self.waiting);
        out.extend_from_slice(b"],\n\"rules\":{");
        for (n, (name, rule)) in self.rules.iter().enumerate() {
            out.extend_from_slice(if n == 0 { b"\n" } else { b",\n" });
            write_text(name, MAX_CELL, out);
            out.extend_from_slice(b":{\"clause\":");
            write_text(&rule.clause, MAX_SENTENCE, out);
            // Its line ends are those of wiretool.
            out.extend_from_slice(b",\"why\":[");
            for (n, line) in rule.why.lines().enumerate() {
                out.extend_from_slice(if n == 0 { b"" } else { b"," });
                write_text(line, MAX_SENTENCE, out);
            }
            out.extend_from_slice(b"]}");
        }
        out.extend_from_slice(b"},\n\"notes\":[");
        for (n, note) in self.problems.iter().chain(&self.notes()).enumerate() {
            out.extend_from_slice(if n == 0 { b"" } else { b"," });
            write_text(note, MAX_SENTENCE, out);
        }
        out.push(b']');
        let mut title = self.names.join(", ");
        if self.inputs > self.names.len() {
            title.push_str(&format!(" and {} more", self.inputs - self.names.len()));
        }
        put("title", Some(&title), MAX_SENTENCE, out);
        put("protocol", Some(&self.protocols.join(", ")), MAX_CELL, out);
        out.extend_from_slice(b",\"sides\":{");
        for (n, (name, [client, server])) in self.sides.iter().enumerate() {
            out.extend_from_slice(if n == 0 { b"" } else { b"," });
            write_text(name, MAX_CELL, out);
            out.extend_from_slice(b":[");
            write_text(client, MAX_CELL, out);
            out.push(b',');
            write_text(server, MAX_CELL, out);
            out.push(b']');
        }
        out.push(b'}');
        put_number("waits", Some(self.waits as u64), out);
        put_number("more", Some(self.more), out);
        put_true("masked", !self.display.show_secrets, out);
        if let Some(first) = self.first {
            put_json("start", &millis(first), out);
        }
        put(
            "tool",
            Some(concat!("wiretool ", env!("CARGO_PKG_VERSION"))),
            MAX_CELL,
            out,
        );
        out.push(b'}');
        out.extend_from_slice(
            head_and_tail()
                .1
                .replacen("{{script}}", SCRIPT, 1)
                .as_bytes(),
        );
    }
}

impl Form for Page {
    fn want(&self) -> Want {
        Want::Places
    }

    fn needs_operations(&self) -> bool {
        true
    }

    fn begin(&mut self, run: &Run<'_>, out: &mut Vec<u8>) {
        if self.inputs == 0 {
            Self::write_head(out);
        }
        let source = run.source();
        self.input(&source.name, source.is_one_of_several);
    }

    fn item(&mut self, item: &Item<'_>, _origin: Origin, _out: &mut Vec<u8>) {
        let Item::Problem(problem) = item else { return };
        if problem.severity != ProblemSeverity::Note {
            if self.problems.len() < MAX_PROBLEMS {
                let name = self.own_name().map(|name| format!("{name}: "));
                let name = name.unwrap_or_default();
                let text = problem.to_string();
                let text = masked_subject(&text, self.display.show_secrets);
                self.problems.push(format!("{name}{text}"));
            } else {
                self.more_problems += 1;
            }
        }
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, out: &mut Vec<u8>) {
        self.add_message(decoded, verdict, out);
    }

    fn findings(&mut self, findings: &[Finding], _out: &mut Vec<u8>) {
        self.add_findings(findings);
    }

    fn wait(&mut self, conversation: &Conversation<'_>, has_both: bool) {
        let list = conversation.unanswered(has_both, MAX_WAITING);
        self.add_waiting(&list, self.last, conversation.sides());
    }

    fn left_out(&self) -> Vec<String> {
        self.notes()
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        if self.inputs == 0 {
            Self::write_head(out);
        }
        self.write_rest(out);
        Ok(())
    }
}

/// Returns the page before and after its data.
fn head_and_tail() -> (&'static str, &'static str) {
    PAGE.split_once("{{data}}").unwrap_or((PAGE, ""))
}

/// Writes text of the wire as a JSON string that ends no script: escaped, and at most `most` characters with a mark that
/// says how much is left out.
fn write_text(text: &str, most: usize, out: &mut Vec<u8>) {
    let is_plain = |b: u8| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\\' | b'<');
    if text.len() <= most && text.bytes().all(is_plain) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    let start = out.len();
    if text.len() > most && text.chars().nth(most).is_some() {
        let cut = format!("{} ({} bytes)", escape(&shorten(text, most)), text.len());
        write_str(&cut, out);
    } else {
        write_str(&escape(text), out);
    }
    if out.get(start..).is_some_and(|text| text.contains(&b'<')) {
        let text = out.split_off(start);
        for byte in text {
            match byte {
                b'<' => out.extend_from_slice(b"\\u003c"),
                byte => out.push(byte),
            }
        }
    }
}

fn put_key(key: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn put(key: &str, text: Option<&str>, most: usize, out: &mut Vec<u8>) {
    if let Some(text) = text {
        put_key(key, out);
        write_text(text, most, out);
    }
}

fn put_number(key: &str, number: Option<impl Into<u64>>, out: &mut Vec<u8>) {
    if let Some(number) = number {
        put_key(key, out);
        write_int(number.into(), out);
    }
}

/// Writes a key with a number that is JSON already.
fn put_json(key: &str, json: &str, out: &mut Vec<u8>) {
    put_key(key, out);
    out.extend_from_slice(json.as_bytes());
}

fn put_true(key: &str, is_true: bool, out: &mut Vec<u8>) {
    if is_true {
        put_json(key, "true", out);
    }
}

//! What a fixture's messages look like in a snapshot.
//!
//! ```text
//!   #3 ← response  id [volatile]  (saikuro, prefix, response, 30 bytes at 43)
//!        43..47     length   26
//!        48..52     id  [volatile]
//! ```

use super::hidden::{Values, each_hidden, values_of};
use super::how::{Format, How};
use super::{Error, MOST};
use crate::capture::{Event, Header};
use crate::conversation::{Conversation, Finding, Verdict};
use crate::decoder::Decoded;
use crate::diff::Ignore;
use crate::encoding::json::{self as json_encoding, write_str};
use crate::path::{Path, Step};
use crate::protocol::schema::Fresh;
use crate::protocol::schema::marks::Generated;
use crate::protocol::session::SessionConfig;
use crate::protocol::{Id, Notes, Protocol};
use crate::render::fields::brief;
use crate::render::tree::Detail;
use crate::render::{Look, findings, hex, json, line, tree};
use crate::span::{Span, SpannedText};
use crate::tape::{Node, Tape};

/// What stands for a value that is not shown.
pub(super) const VOLATILE: &str = "[volatile]";
/// Parts of heads that every run makes anew, or that follow from what it makes.
const HEADS: [&str; 7] = [
    "content-length",
    "date",
    "length",
    "sec-websocket-accept",
    "sec-websocket-key",
    "traceparent",
    "x-request-id",
];
/// Bytes of the shortest row of a tree.
const ROW: usize = 16;
/// Deepest values of a line of JSON that are looked into.
const DEPTH: u32 = 2048;

/// Collects a rendering.
pub(super) struct Shown<'h> {
    how: &'h How,
    look: Look,
    conversation: Option<Conversation<'h>>,
    /// Of the protocol that was last seen.
    ignore: Option<(&'static str, Ignore)>,
    /// What it hid, where sentences may speak of it.
    values: Values,
    notes: Notes,
    text: String,
    too_long: bool,
    /// How many values are not shown.
    hidden: usize,
    /// The last time that is known.
    now: Option<i64>,
}

impl<'h> Shown<'h> {
    pub fn new(how: &'h How, known: &[&'h dyn Protocol]) -> Self {
        let look = Look {
            // What is active on a terminal has no place in a file that terminals show.
            terminal: true,
            // What is left out is not of the same length in every run.
            unplaced: how.hides(),
            ..Look::default()
        };
        let conversation = how
            .lint
            .then(|| Conversation::new(known, &how.judge, SessionConfig::default(), true));
        Self {
            how,
            look,
            conversation,
            ignore: None,
            values: Values::default(),
            notes: Notes::default(),
            text: String::new(),
            too_long: false,
            hidden: 0,
            now: None,
        }
    }

    pub fn header(&mut self, header: &Header) {
        let Some(conversation) = &mut self.conversation else {
            return;
        };
        if let Some(protocol) = &header.protocol {
            conversation.expect(protocol);
        }
        conversation.reached_by(header);
    }

    /// Something that belongs to no message.
    pub fn note(&mut self, text: &str) {
        if self.how.format == Format::Json {
            let mut out = b"{\"note\":".to_vec();
            write_str(text, &mut out);
            self.text.push_str(&String::from_utf8_lossy(&out));
            self.text.push_str("}\n");
        } else {
            self.text.push_str("! ");
            let style = self.look.style;
            style.wire(&mut self.text, crate::render::style::Tone::Plain, text);
            self.text.push('\n');
        }
    }

    pub fn event(&mut self, event: &Event<'_>) {
        self.now = event.time.and_then(|t| i64::try_from(t).ok()).or(self.now);
        if let Some(conversation) = &mut self.conversation {
            let found = conversation.happened(event).findings.to_vec();
            self.findings(&found);
        }
    }

    /// Findings that belong to no message at hand.
    fn findings(&mut self, found: &[Finding]) {
        for finding in &self.covered(found) {
            if self.how.format == Format::Json {
                let mut out = b"{\"finding\":".to_vec();
                findings::json(finding, None, &mut out);
                out.extend_from_slice(b"}\n");
                let out = redacted(&out, &|_| false, self.how.hides());
                self.text.push_str(&String::from_utf8_lossy(&out));
            } else {
                findings::below(finding, None, self.look, &mut self.text);
            }
        }
    }

    /// The same, without what is not shown.
    fn covered(&self, found: &[Finding]) -> Vec<Finding> {
        let mut found = found.to_vec();
        for finding in &mut found {
            let about = finding.related.into_iter().chain([finding.place.index]);
            let about: Vec<u64> = about.collect();
            finding.text = self.values.cover(&finding.text, &about);
        }
        found
    }

    /// Whether it is still of a size that anybody reads.
    pub fn check(&self) -> Result<(), Error> {
        if self.too_long || self.text.len() > MOST {
            Err(Error::TooLong)
        } else {
            Ok(())
        }
    }

    pub fn frame(&mut self, decoded: &Decoded<'_>) {
        // What is refused in the end need not be written.
        if self.check().is_err() {
            return;
        }
        let mut nodes = 0;
        let rows = matches!(self.how.format, Format::Tree | Format::Hex);
        if let Some(root) = decoded.root().filter(|_| rows) {
            root.each(&mut |_| nodes += 1);
        }
        if nodes > (MOST - self.text.len()) / ROW {
            self.too_long = true;
            return;
        }
        self.now = decoded.origin.time.or(self.now);
        self.learn(decoded.protocol);
        let mut conversation = self.conversation.take();
        let verdict = conversation.as_mut().map(|c| c.see(decoded));
        self.show(decoded, verdict);
        self.conversation = conversation;
    }

    /// What is not shown of a protocol's messages.
    fn learn(&mut self, protocol: &dyn Protocol) {
        let name = protocol.name();
        if self.ignore.as_ref().is_none_or(|(known, _)| *known != name) {
            let hidden = |one: &&Generated| {
                one.volatile || matches!(one.fresh, Some(Fresh::Id | Fresh::Time))
            };
            let own = protocol.descriptor().marks.generated.iter().filter(hidden);
            let own = own.map(|one| one.path.as_ref());
            let own = own.filter(|_| self.how.redact_volatile);
            let asked = self.how.ignore.iter().map(String::as_str);
            self.ignore = Some((name, Ignore::new(own.chain(asked))));
        }
    }

    fn show(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) {
        let ignore = self.ignore.take();
        let kind = decoded.message.kind.as_ref();
        let hidden = |path: &Path| {
            let ignore = ignore.as_ref();
            ignore.is_some_and(|(_, ignore)| ignore.covers(kind, path))
        };
        let hidden_field = |path: &str| path.parse().is_ok_and(|path| hidden(&path));
        let root = decoded.root();
        if let Some(root) = root {
            each_hidden(root, &mut Path::new(), &hidden, &mut |_| self.hidden += 1);
        }
        let mut values = root.map_or_else(Vec::new, |root| values_of(root, &hidden));
        // The id and the subject stand in titles, too.
        let mut message = decoded.message.clone();
        if let Some(subject) = &message.subject
            && values.iter().any(|value| **value == **subject)
        {
            message.subject = Some(SpannedText::elsewhere(VOLATILE));
        }
        if id_is_hidden(decoded, &hidden) {
            values.push(message.id.text().trim_matches('"').to_owned());
            message.id = Id::Text(VOLATILE.into());
        }
        if verdict.is_some() {
            self.values.learn(decoded.index, values);
        }
        let findings = verdict.map(|verdict| self.covered(verdict.findings));
        let verdict = verdict.map(|verdict| Verdict {
            findings: findings.as_deref().unwrap_or_default(),
            ..verdict
        });
        let decoded = &Decoded {
            message: &message,
            raw: None,
            ..*decoded
        };
        let (look, text) = (self.look, &mut self.text);
        match self.how.format {
            Format::Tree => {
                let detail = Detail {
                    hidden: &hidden_field,
                    hidden_heads: if self.how.redact_volatile {
                        &HEADS
                    } else {
                        &[]
                    },
                    stand_in: VOLATILE,
                    checksums: true,
                };
                tree::write_in_detail(decoded, verdict, look, detail, &mut self.notes, text);
            }
            Format::Line => line::write(decoded, verdict, look, text),
            Format::Hex => hex::write(decoded, verdict, look, &mut self.notes, text),
            Format::Json => {
                let mut out = Vec::new();
                json::write(decoded, verdict, look, &mut out);
                let out = redacted(&out, &hidden, self.how.hides());
                text.push_str(&String::from_utf8_lossy(&out));
            }
        }
        self.ignore = ignore;
    }

    /// What is left to say once all was read.
    pub fn finish(mut self) -> Result<(String, usize), Error> {
        if let Some(mut conversation) = self.conversation.take() {
            let waiting = conversation.waiting();
            let found = conversation.finish().findings.to_vec();
            self.findings(&found);
            let sides = conversation
                .protocol()
                .map_or(["client", "server"], |p| p.descriptor().sides);
            // The answers to one direction are elsewhere.
            for mut one in waiting {
                if conversation.is_one_way() {
                    break;
                }
                if self.how.redact_volatile && !one.id.is_empty() {
                    VOLATILE.clone_into(&mut one.id);
                }
                one.id = self.values.cover(&one.id, &[one.place.index]);
                one.what = self.values.cover(&one.what, &[one.place.index]);
                let why = one.why.as_deref();
                one.why = why.map(|why| self.values.cover(why, &[one.place.index]));
                let mut text = "it waits for an answer:".to_owned();
                findings::waiting(&one, self.now, sides, Look::default(), &mut text);
                self.note(text.trim_end());
            }
        }
        self.check()?;
        Ok((self.text, self.hidden))
    }
}

/// Whether the message's id is a value that is not shown.
fn id_is_hidden(decoded: &Decoded<'_>, hidden: &dyn Fn(&Path) -> bool) -> bool {
    let id = &decoded.message.id;
    if *id == Id::None {
        return false;
    }
    let id = id.text();
    let mut members = decoded.root().into_iter().flat_map(Node::members);
    let member = |key: &str| Path::from(vec![Step::Member(key.to_owned())]);
    hidden(&member("id"))
        || members.any(|(key, value)| {
            hidden(&member(&key.text().unwrap_or_default()))
                && value.text().map_or_else(|| brief(value), String::from) == id
        })
}

/// Members that say where something lies.
const PLACES: [&str; 4] = ["offset", "len", "body_offset", "body_len"];

/// A line of JSON without the values of its message that are not shown, and without places where those differ from run
/// to run.
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
                places(one, &mut parts);
            }
        }
        places(root, &mut parts);
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

/// The members of an object that say where something lies, each with the comma before it.
fn places(object: Node<'_>, parts: &mut Vec<(Span, &str)>) {
    let mut before: Option<usize> = None;
    for (key, value) in object.members() {
        let end = value.span().end();
        let is_place = PLACES.contains(&key.text().unwrap_or_default().as_ref());
        if let Some(before) = before.filter(|_| is_place) {
            parts.push((Span::new(before, end), ""));
        }
        before = Some(end);
    }
}

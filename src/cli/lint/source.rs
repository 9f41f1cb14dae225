//! The counts of an input, and the positions of its findings.

use super::lines::{LineColumn, LineTable};
use crate::capture::Chunk;
use crate::conversation::{Consequences, Finding, Source};
use crate::decoder::{Decoded, Origin};
use crate::protocol::session::Severity;
use crate::protocol::{Direction, Lane};
use std::collections::BTreeMap;

/// A message of a file, if several files are read as one conversation.
#[derive(Clone, Copy)]
pub struct FileMessage {
    file: u32,
    /// The index of the message in the file.
    pub index: u64,
}

/// The counts of an input.
#[derive(Default)]
pub struct SourceSummary {
    pub name: String,
    pub recording: bool,
    /// The direction of bytes without one.
    direction: Option<Direction>,
    pub messages: u64,
    /// The number of messages that match the condition, if there is one.
    pub matched: u64,
    /// The last known time.
    pub now: Option<i64>,
    /// The number of findings by severity.
    pub counts: BTreeMap<Severity, u64>,
    /// The number of findings by rule.
    pub rules: BTreeMap<String, u64>,
    /// The files of the conversation, two for each connection, and the number of messages of each.
    files: Vec<(String, u64)>,
    /// The messages of these files, in the order of the conversation.
    own: Vec<FileMessage>,
    /// Findings that were not printed yet.
    pub held: Vec<Finding>,
    lines: LineTable,
}

impl SourceSummary {
    /// Returns the names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let alone = self.files.is_empty().then_some(self.name.as_str());
        alone
            .into_iter()
            .chain(self.files.iter().map(|(name, _)| name.as_str()))
    }

    /// Adds bytes of the input, before their messages.
    pub fn add_chunk(&mut self, chunk: &Chunk<'_>) {
        let direction = chunk.direction.or(self.direction);
        let lane = self.lane(Origin {
            direction,
            ..chunk.origin()
        });
        self.lines.add(lane, chunk, !self.recording);
    }

    /// Returns the line of a finding, if the input is text.
    pub fn line_of(&self, finding: &Finding) -> Option<LineColumn> {
        let place = finding.place;
        self.lines.find(self.lane(place.origin), place.offset)
    }

    /// Returns the stream whose offsets count from its start. Only recordings and several pairs have several connections.
    fn lane(&self, origin: Origin) -> Lane {
        let has_several = self.recording || self.files.len() > 2;
        Lane {
            conn: origin.conn.filter(|_| has_several),
            ..origin.lane()
        }
    }

    /// Returns the number of the file that contains a message, if each pair of files is a connection.
    fn file_of(&self, origin: Origin) -> u32 {
        let back = origin.direction == Some(Direction::ToClient);
        let pair = match self.files.len() {
            2 => 0,
            _ => origin.conn.unwrap_or_default(),
        };
        pair.saturating_mul(2).saturating_add(u32::from(back))
    }

    /// Counts a message of a file.
    pub fn count(&mut self, decoded: &Decoded<'_>) {
        self.messages += 1;
        self.now = decoded.origin.time.or(self.now);
        let file = self.file_of(decoded.origin);
        if let Some((_, messages)) = self.files.get_mut(file as usize) {
            self.own.push(FileMessage {
                file,
                index: *messages,
            });
            *messages += 1;
        }
    }

    pub fn file_message(&self, index: u64) -> Option<FileMessage> {
        self.own.get(usize::try_from(index).ok()?).copied()
    }

    fn file(&self, file: u32) -> &str {
        let file = self.files.get(file as usize);
        file.map_or(&self.name, |(name, _)| name)
    }

    /// Returns a number of consequences with the index of the message in its file, and that file.
    pub fn consequences_in_file(&self, one: Consequences) -> (Consequences, &str) {
        match self.file_message(one.index) {
            Some(own) => {
                let index = own.index;
                (Consequences { index, ..one }, self.file(own.file))
            }
            None => (one, &self.name),
        }
    }

    /// Returns a finding with the indices of its file, and that file.
    pub fn with_file_indices(&self, finding: &Finding) -> (Finding, &str) {
        let mut finding = finding.clone();
        let Some(own) = self.file_message(finding.place.index) else {
            let origin = finding.place.origin;
            let file = self.file_of(origin);
            return (finding, self.file(file));
        };
        finding.place.index = own.index;
        finding.text = self.renumbered(&finding.text, own.file);
        let related = finding.related.and_then(|index| self.file_message(index));
        finding.related = related.filter(|r| r.file == own.file).map(|r| r.index);
        if let Some(other) = related.filter(|r| r.file != own.file) {
            let (index, file) = (other.index, self.file(other.file));
            finding.text.push_str(&format!(" (see #{index} of {file})"));
        }
        (finding, self.file(own.file))
    }

    /// Replaces the indices of messages in a text by the indices in their files. Quoted text of the wire
    /// stays unchanged.
    fn renumbered(&self, text: &str, file: u32) -> String {
        let (mut out, mut rest, mut quote) = (String::new(), text, None);
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number = after.get(..digits).unwrap_or_default();
            let named = number
                .parse()
                .ok()
                .and_then(|index| self.file_message(index));
            if let (None, '#', Some(named)) = (quote, c, named) {
                out.push_str(&format!("#{}", named.index));
                if named.file != file {
                    out.push_str(&format!(" of {}", self.file(named.file)));
                }
                rest = after.get(digits..).unwrap_or_default();
                continue;
            }
            match quote {
                None if matches!(c, '"' | '`') => quote = Some(c),
                Some(end) if end == c => quote = None,
                _ => {}
            }
            out.push(c);
            rest = after;
        }
        out
    }

    /// Creates the counts of an input of which nothing was read.
    pub fn new(source: &Source) -> Self {
        let files = source.pairs.iter().flatten();
        Self {
            name: source.name.clone(),
            direction: source.direction,
            files: files.map(|file| (file.clone(), 0)).collect(),
            ..Self::default()
        }
    }
}

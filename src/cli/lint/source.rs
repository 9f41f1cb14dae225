//! The counts of an input, and the positions of its findings.

use crate::capture::line_table::{LineColumn, LineTable};
use crate::capture::{Chunk, Sources};
use crate::conversation::{Finding, Source};
use crate::decoder::{Decoded, Origin};
use crate::protocol::session::Severity;
use crate::protocol::{Direction, Lane};
use std::collections::BTreeMap;

/// The counts of an input.
#[derive(Default)]
pub struct SourceSummary {
    pub name: String,
    pub recording: bool,
    /// It has bytes or datagrams.
    pub has_traffic: bool,
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
    /// The files of the conversation, two for each connection.
    files: Vec<String>,
    /// The captures, if several are one conversation.
    merged: Option<&'static Sources>,
    /// Findings that were not printed yet.
    pub held: Vec<Finding>,
    /// The length of their texts.
    pub held_text: usize,
    lines: LineTable,
}

impl SourceSummary {
    /// Returns the names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let alone = self.files.is_empty().then_some(self.name.as_str());
        alone
            .into_iter()
            .chain(self.files.iter().map(String::as_str))
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

    /// Returns the file that contains a message, if each pair of files is a connection, or the input.
    pub fn file_of(&self, origin: Origin) -> &str {
        if let Some(path) = self.merged.and_then(|all| all.path_of(origin.conn)) {
            return path;
        }
        let back = origin.direction == Some(Direction::ToClient);
        let pair = match self.files.len() {
            2 => 0,
            _ => origin.conn.unwrap_or_default(),
        };
        let file = pair.saturating_mul(2).saturating_add(u32::from(back));
        self.files.get(file as usize).unwrap_or(&self.name)
    }

    /// Counts a message.
    pub fn count(&mut self, decoded: &Decoded<'_>) {
        self.messages += 1;
        self.now = decoded.origin.time.or(self.now);
    }

    /// Creates the counts of an input of which nothing was read.
    pub fn new(source: &Source) -> Self {
        let files = source.pairs.iter().flatten();
        Self {
            name: source.name.clone(),
            direction: source.direction,
            files: files.cloned().collect(),
            merged: source.merged,
            ..Self::default()
        }
    }
}

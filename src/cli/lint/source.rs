//! What lint knows of one input, and where its findings stand.

use crate::conversation::{Consequences, Finding};
use crate::decoder::Decoded;
use crate::protocol::Direction;
use crate::protocol::session::Severity;
use std::collections::BTreeMap;

/// A message of a file, where several files are read as one conversation.
#[derive(Clone, Copy)]
pub struct Own {
    file: u32,
    /// Counts the messages of that file.
    pub index: u64,
}

/// The number of a connection's file of that direction, or of its first one.
fn file_of(conn: Option<u32>, direction: Option<Direction>) -> u32 {
    let back = direction == Some(Direction::ToClient);
    conn.unwrap_or_default()
        .saturating_mul(2)
        .saturating_add(u32::from(back))
}

/// What is summed up of one input.
#[derive(Default)]
pub struct Source {
    pub name: String,
    pub recording: bool,
    pub messages: u64,
    /// Those that the condition chose, where there is one.
    pub matched: u64,
    /// The last time that is known.
    pub now: Option<i64>,
    /// Findings by severity.
    pub counts: BTreeMap<Severity, u64>,
    /// Findings by rule.
    pub rules: BTreeMap<String, u64>,
    /// The files that are read as one conversation, two for each connection, and how many messages of each were seen.
    files: Vec<(String, u64)>,
    /// The messages of such files, in the order of the conversation.
    own: Vec<Own>,
    /// What is not told yet.
    pub held: Vec<Finding>,
}

impl Source {
    /// Two files are read as the directions of one more connection.
    pub fn pair(&mut self, files: [&str; 2]) {
        self.files.extend(files.map(|file| (file.to_owned(), 0)));
    }

    /// Counts a message of its own file.
    pub fn count(&mut self, decoded: &Decoded<'_>) {
        self.messages += 1;
        self.now = decoded.origin.time.or(self.now);
        let file = file_of(decoded.origin.conn, decoded.origin.direction);
        if let Some((_, messages)) = self.files.get_mut(file as usize) {
            self.own.push(Own {
                file,
                index: *messages,
            });
            *messages += 1;
        }
    }

    pub fn own(&self, index: u64) -> Option<Own> {
        self.own.get(usize::try_from(index).ok()?).copied()
    }

    fn file(&self, file: u32) -> &str {
        let file = self.files.get(file as usize);
        file.map_or(&self.name, |(name, _)| name)
    }

    /// A number of consequences by the number of the message in its own file, and that file.
    pub fn following(&self, one: Consequences) -> (Consequences, &str) {
        match self.own(one.index) {
            Some(own) => {
                let index = own.index;
                (Consequences { index, ..one }, self.file(own.file))
            }
            None => (one, &self.name),
        }
    }

    /// A finding by the numbers of its own file, and that file.
    pub fn placed(&self, finding: &Finding) -> (Finding, &str) {
        let mut finding = finding.clone();
        let Some(own) = self.own(finding.place.index) else {
            let origin = finding.place.origin;
            let file = file_of(origin.conn, origin.direction);
            return (finding, self.file(file));
        };
        finding.place.index = own.index;
        finding.text = self.renumbered(&finding.text, own.file);
        let related = finding.related.and_then(|index| self.own(index));
        finding.related = related.filter(|r| r.file == own.file).map(|r| r.index);
        if let Some(other) = related.filter(|r| r.file != own.file) {
            let (index, file) = (other.index, self.file(other.file));
            finding.text.push_str(&format!(" (see #{index} of {file})"));
        }
        (finding, self.file(own.file))
    }

    /// A text that names messages by their numbers in the conversation, with their numbers in their files. Quoted text of
    /// the wire stays as it is.
    fn renumbered(&self, text: &str, file: u32) -> String {
        let (mut out, mut rest, mut quote) = (String::new(), text, None);
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number = after.get(..digits).unwrap_or_default();
            let named = number.parse().ok().and_then(|index| self.own(index));
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

    /// One of which nothing was read.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }
}

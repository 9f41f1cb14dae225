//! The messages of a view: an index in memory, their bytes in a temporary file.
//!
//! ```text
//!   reader --Batch--> Store { entries, file, findings, changes, versions }  <-- screen
//! ```
//!
//! A reader adds batches; the screen decodes single messages again. Memory is 28 bytes for each message, and lists with
//! limits for what is rare: beyond a limit, messages keep their marks, and details are left out.

use super::entry::{Entries, Entry};
use super::operations::StoredOperations;
use crate::cli::stderr_lines::StderrLine;
use crate::conversation::{Finding, MessageOperation, Operation, Verdict};
use crate::decoder::{Decoded, RareParts, StoredFrames};
use crate::encoding::{Parsed, Want};
use crate::protocol::Protocol;
use crate::protocol::session::{Answer, Place};
use anyhow::{Context as _, Result};
use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

/// The maximum number of findings, of messages with rare parts, of changes and of versions whose details are kept.
pub const MAX_DETAILS: usize = 1 << 14;
/// The maximum number of lines of stderr that are kept, and the number of bytes of each.
const MAX_STDERR: usize = 1 << 14;
const MAX_STDERR_LINE: usize = 1 << 10;
/// The number of messages before the selected one in which open requests are searched: a fraction of a redraw.
const MAX_LOOK_BACK: usize = 1 << 20;
/// The number of bytes that are read from the file at once.
const READ_SIZE: usize = 256 << 10;
/// The number of bytes that end a part.
const PART_SIZE: u64 = 1 << 20;

/// A connection that opened or closed.
pub struct ConnChange {
    /// The number of messages before it.
    pub after: usize,
    pub conn: u32,
    /// It opened; otherwise it ended.
    pub opened: bool,
}

/// A version that a message names.
pub struct NamedVersion {
    pub index: usize,
    pub conn: Option<u32>,
    /// `protocolVersion 2025-06-18`.
    pub text: String,
}

/// A subscription that began or ended.
pub struct StoredSubscription {
    /// The number of messages up to the change.
    pub after: usize,
    pub request: usize,
    pub begins: bool,
}

/// A line that a child wrote to stderr.
pub struct StoredStderr {
    /// The number of messages before it.
    pub after: usize,
    conn: u32,
    time: Option<i64>,
    bytes: Box<[u8]>,
}

impl StoredStderr {
    /// Keeps the start of a line after so many messages.
    pub fn new(after: usize, line: StderrLine<'_>) -> Self {
        let StderrLine { conn, time, bytes } = line;
        Self {
            after,
            conn,
            time,
            bytes: bytes.get(..MAX_STDERR_LINE).unwrap_or(bytes).into(),
        }
    }

    pub fn line(&self) -> StderrLine<'_> {
        StderrLine {
            conn: self.conn,
            time: self.time,
            bytes: &self.bytes,
        }
    }
}

/// Results of a reader apart from entries, in the order of events.
pub enum Update {
    Answer {
        to: u64,
        by: usize,
        /// The id of the answer has another form.
        other_form: bool,
    },
    /// A message that waits for an answer, or does not any more.
    Open(usize, bool),
    Finding(Finding),
    Rare(usize, RareParts),
    Change(ConnChange),
    Version(NamedVersion),
    Subscription(StoredSubscription),
    Operation(usize, MessageOperation),
    /// The client of a connection, from a message on.
    Client(usize, Option<u32>, Box<str>),
    /// An operation that has ended.
    Ended(Box<Operation>),
    Stderr(StoredStderr),
}

/// Messages that a reader adds at once.
pub struct Batch {
    pub frames: StoredFrames<'static>,
    /// Entries with positions from the start of `bytes`.
    pub entries: Vec<(Entry, usize)>,
    pub bytes: Vec<u8>,
    pub updates: Vec<Update>,
}

impl Batch {
    /// Creates an empty one.
    pub fn new(frames: StoredFrames<'static>) -> Self {
        Self {
            frames,
            entries: Vec::new(),
            bytes: Vec::new(),
            updates: Vec::new(),
        }
    }
}

/// The state of the input, for the status line.
#[derive(Clone, Default)]
pub struct InputStatus {
    /// The name of the current file, or the addresses of a proxy.
    pub source: String,
    /// No more messages will come.
    pub ended: bool,
    /// Notes about the input, the latest last; at most [`MAX_NOTES`].
    pub notes: Vec<String>,
    /// The messages that are awaited, if the traffic pauses or has ended.
    pub waiting: Vec<String>,
    /// The flags with which `send` reaches the server, if the input names it.
    pub peer: Option<String>,
    /// The first and the last known time.
    pub times: Option<(i64, i64)>,
}

/// The maximum number of notes.
const MAX_NOTES: usize = 100;

impl InputStatus {
    pub fn note(&mut self, text: String) {
        if self.notes.len() == MAX_NOTES {
            self.notes.remove(0);
        }
        self.notes.push(text);
    }
}

/// All messages so far.
pub struct Store {
    pub entries: Entries,
    pub status: InputStatus,
    file: Arc<File>,
    len: u64,
    /// The number of messages whose answers and findings are known.
    pub judged: usize,
    frames: StoredFrames<'static>,
    rare: HashMap<usize, RareParts>,
    findings: HashMap<usize, Vec<Finding>>,
    /// The number of all findings, also of those whose details were left out.
    pub finding_count: u64,
    details: usize,
    /// The number of open requests.
    pub open: usize,
    pub changes: Vec<ConnChange>,
    pub versions: Vec<NamedVersion>,
    pub subscriptions: Vec<StoredSubscription>,
    pub operations: StoredOperations,
    /// The clients of connections, each from a message on.
    clients: HashMap<Option<u32>, Vec<(usize, Box<str>)>>,
    /// Lines of stderr, in their order.
    pub stderr: Vec<StoredStderr>,
}

impl Store {
    /// Creates an empty store with its temporary file.
    pub fn new(frames: StoredFrames<'static>) -> Result<Self> {
        let file = tempfile::tempfile().context("cannot create a temporary file for messages")?;
        Ok(Self {
            entries: Entries::default(),
            status: InputStatus::default(),
            file: Arc::new(file),
            len: 0,
            judged: 0,
            frames,
            rare: HashMap::new(),
            findings: HashMap::new(),
            finding_count: 0,
            details: 0,
            open: 0,
            changes: Vec::new(),
            versions: Vec::new(),
            subscriptions: Vec::new(),
            operations: StoredOperations::default(),
            clients: HashMap::new(),
            stderr: Vec::new(),
        })
    }

    /// Returns the file, to which the caller writes the bytes of each batch before it is added.
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Adds the messages of a batch, and empties it.
    pub fn add(&mut self, batch: &mut Batch) {
        self.frames.clone_from(&batch.frames);
        for (entry, at) in batch.entries.drain(..) {
            if let Some(time) = entry.time() {
                let (first, last) = self.status.times.unwrap_or((time, time));
                self.status.times = Some((first.min(time), last.max(time)));
            }
            self.entries.push(entry.moved_to(self.len + at as u64));
        }
        self.len += batch.bytes.len() as u64;
        batch.bytes.clear();
        for update in batch.updates.drain(..) {
            self.update(update);
        }
    }

    /// Adds what rules say about the messages up to `judged`, and the messages that are awaited, if they changed.
    pub fn judged(
        &mut self,
        judged: usize,
        updates: &mut Vec<Update>,
        waiting: Option<Vec<String>>,
    ) {
        for update in updates.drain(..) {
            self.update(update);
        }
        self.judged = judged;
        if let Some(waiting) = waiting {
            self.status.waiting = waiting;
        }
    }

    /// Returns messages to be decoded without the store: from `start` to at most `end`.
    pub fn part(&self, start: usize, end: usize) -> StorePart {
        let mut entries = Vec::new();
        let first = self.entries.get(start).map_or(self.len, Entry::at);
        let mut stop = first;
        for index in start..end {
            let Some(entry) = self.entries.get(index).filter(|_| stop - first < PART_SIZE) else {
                break;
            };
            entries.push(*entry);
            stop = self.entries.get(index + 1).map_or(self.len, Entry::at);
        }
        StorePart {
            start,
            entries,
            stop,
            bytes: Vec::new(),
            file: Arc::clone(&self.file),
            frames: self.frames.clone(),
        }
    }

    fn update(&mut self, update: Update) {
        match update {
            Update::Answer { to, by, other_form } => {
                if let Some(entry) = self.entries.get_mut(by) {
                    entry.set_request(to, other_form);
                }
                let entry = usize::try_from(to).ok();
                if let Some(entry) = entry.and_then(|to| self.entries.get_mut(to)) {
                    entry.set_answer(by);
                }
            }
            Update::Open(index, is_open) => {
                let entry = self.entries.get_mut(index);
                let changes = entry.is_some_and(|entry| entry.set_open(is_open));
                self.open += usize::from(changes && is_open);
                self.open -= usize::from(changes && !is_open);
            }
            Update::Finding(finding) => {
                self.finding_count += 1;
                let index = finding.place.index;
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                if finding.place.index != Place::NO_MESSAGE
                    && let Some(entry) = self.entries.get_mut(index)
                {
                    entry.add_severity(finding.severity);
                }
                if self.has_space() {
                    self.findings.entry(index).or_default().push(finding);
                }
            }
            Update::Rare(index, parts) => {
                if self.has_space() {
                    self.rare.insert(index, parts);
                }
            }
            Update::Change(change) => {
                if self.has_space() {
                    self.changes.push(change);
                }
            }
            Update::Version(version) => {
                if self.has_space() {
                    self.versions.push(version);
                }
            }
            Update::Operation(index, operation) => self.operations.set(index, operation),
            Update::Client(index, conn, name) => {
                if self.has_space() {
                    self.clients.entry(conn).or_default().push((index, name));
                }
            }
            Update::Ended(operation) => self.operations.end(*operation),
            Update::Stderr(line) => {
                if self.stderr.len() < MAX_STDERR {
                    self.stderr.push(line);
                }
            }
            Update::Subscription(change) => {
                if self.has_space() {
                    self.subscriptions.push(change);
                }
            }
        }
    }

    fn has_space(&mut self) -> bool {
        self.details += 1;
        self.details <= MAX_DETAILS
    }

    /// Decodes a message again, and passes it to `visit` with its findings and the request that it answers.
    pub fn read<T>(
        &self,
        index: usize,
        reader: &mut StoreReader,
        visit: impl FnOnce(&Decoded<'_>, Verdict<'_>) -> T,
    ) -> Option<T> {
        let entry = self.entries.get(index)?;
        let end = self.entries.get(index + 1).map_or(self.len, Entry::at);
        let StoreReader { parsed, block } = reader;
        let bytes = block.bytes(&self.file, entry.at(), end)?;
        let answer = self.answer(entry);
        let verdict = Verdict {
            findings: self.findings.get(&index).map_or(&[], Vec::as_slice),
            answer: answer.as_ref(),
            operation: self.operations.of_message(index),
            client: self.client_of(index, entry.conn()),
            ..Verdict::default()
        };
        let number = (index as u64, entry.origin());
        let rare = self.rare.get(&index);
        let frames = &self.frames;
        frames.read(bytes, number, rare, parsed, |decoded| {
            visit(decoded, verdict)
        })
    }

    /// Returns the client of a connection at a message.
    fn client_of(&self, index: usize, conn: Option<u32>) -> Option<&str> {
        let all = self.clients.get(&conn)?;
        let after = all.partition_point(|(from, _)| *from <= index);
        Some(&all.get(after.checked_sub(1)?)?.1)
    }

    /// Returns the request that a message answers.
    fn answer(&self, entry: &Entry) -> Option<Answer> {
        let to = entry.other().filter(|_| entry.is_answer())?;
        let request = self.entries.get(to)?;
        let times = request.time().zip(entry.time());
        Some(Answer {
            to: to as u64,
            latency: times.map(|(from, to)| to.saturating_sub(from)),
            kind: Arc::default(),
            subject: None,
            name: None,
            last: !request.is_open(),
            id_form_differs: entry.has_other_form(),
        })
    }

    /// Returns the worst finding of a message with its rule, if its details are kept.
    pub fn first_finding(&self, index: usize) -> Option<String> {
        let all = self.findings.get(&index)?;
        let worst = all.iter().max_by_key(|finding| finding.severity)?;
        Some(format!("{}: {}", worst.name(), worst.text))
    }

    /// Returns the number of findings of a message whose details are kept.
    pub fn findings_of(&self, index: usize) -> usize {
        self.findings.get(&index).map_or(0, Vec::len)
    }

    /// Returns the requests up to a message that it leaves open, the newest first. Older ones than [`MAX_LOOK_BACK`]
    /// messages are left out. A granted subscription waits for no answer.
    pub fn open_at(&self, index: usize, most: usize) -> Vec<usize> {
        let all = &self.subscriptions;
        let granted = |at| all.iter().any(|s| s.request == at && s.after <= index + 1);
        let is_open_then = |at: &usize| {
            let Some(entry) = self.entries.get(*at) else {
                return false;
            };
            let later = entry.is_request() && entry.other().is_some_and(|o| o > index);
            entry.is_open() || later && !granted(*at)
        };
        let before = (0..=index).rev().take(MAX_LOOK_BACK).filter(is_open_then);
        before.take(most).collect()
    }

    /// Returns the protocols of the run.
    pub fn protocols(&self) -> &[&'static dyn Protocol] {
        self.frames.protocols()
    }

    /// Returns all findings whose details are kept, in no order.
    #[cfg(test)]
    pub fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.values().flatten()
    }

    /// Returns findings that belong to no message.
    pub fn other_findings(&self) -> &[Finding] {
        self.findings.get(&usize::MAX).map_or(&[], Vec::as_slice)
    }
}

/// Messages outside of the store.
pub struct StorePart {
    start: usize,
    entries: Vec<Entry>,
    /// The position after the last one.
    stop: u64,
    bytes: Vec<u8>,
    file: Arc<File>,
    frames: StoredFrames<'static>,
}

impl StorePart {
    /// Reads the bytes of the messages; `None` if there are no messages, or if the file cannot be read.
    pub fn read(mut self) -> Option<Self> {
        let len = usize::try_from(self.stop - self.entries.first()?.at()).ok()?;
        read_at(&self.file, self.entries.first()?.at(), len, &mut self.bytes);
        (self.bytes.len() == len).then_some(self)
    }

    /// Returns the number of messages up to the last one.
    pub fn end(&self) -> usize {
        self.start + self.entries.len()
    }

    /// Decodes one of the messages again.
    pub fn visit(
        &mut self,
        index: usize,
        rare: Option<&RareParts>,
        parsed: &mut Parsed,
        visit: impl FnOnce(&Decoded<'_>),
    ) -> Option<()> {
        let at = index.checked_sub(self.start)?;
        let (first, entry) = (self.entries.first()?.at(), self.entries.get(at)?);
        let end = self.entries.get(at + 1).map_or(self.stop, Entry::at);
        let range = usize::try_from(entry.at() - first).ok()?..usize::try_from(end - first).ok()?;
        let place = (index as u64, entry.origin());
        let bytes = self.bytes.get(range)?;
        self.frames.read(bytes, place, rare, parsed, visit)
    }
}

/// The buffers to decode stored messages.
pub struct StoreReader {
    pub parsed: Parsed,
    block: FileBlock,
}

impl StoreReader {
    /// Creates the buffers for messages of at most `depth` levels.
    pub fn new(depth: u32) -> Self {
        Self {
            parsed: Parsed::new(Want::Places, depth),
            block: FileBlock::default(),
        }
    }
}

/// Reads up to `len` bytes into `bytes`; fewer at the end of the file, or if it cannot be read.
pub fn read_at(file: &File, from: u64, len: usize, bytes: &mut Vec<u8>) {
    // The messages are in the file: the length is that of written bytes.
    bytes.resize(len, 0);
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match crate::system::read_at(file, rest, from + filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    bytes.truncate(filled);
}

/// A part of the file that was read last: neighbours of a message are often read next.
#[derive(Default)]
struct FileBlock {
    bytes: Vec<u8>,
    at: u64,
}

impl FileBlock {
    fn bytes(&mut self, file: &File, from: u64, to: u64) -> Option<&[u8]> {
        let len = usize::try_from(to.checked_sub(from)?).ok()?;
        let has = |block: &Self| from >= block.at && to <= block.at + block.bytes.len() as u64;
        if !has(self) {
            self.at = from;
            read_at(file, from, len.max(READ_SIZE), &mut self.bytes);
        }
        let start = usize::try_from(from.checked_sub(self.at)?).ok()?;
        self.bytes.get(start..start + len)
    }
}

//! The index of a capture: the places of its messages, their bytes in a temporary file, findings, operations, counts.
//!
//! ```text
//!   capture --> Run --> Indexer --> Index { store, operations, findings, waiting, stats }
//! ```
//!
//! Rules see the bytes of the capture; the file has them with masked secrets. All answers are made from the file, so that
//! no condition and no comparison tells anything about a secret either.

use super::client::Client;
use super::folders::{FileVersion, Folders};
use super::listing::Listing;
use super::page::{display, entry_text};
use crate::capture::Item;
use crate::cli::input::{self, Flow, InputState, unless_failed};
use crate::cli::interrupt::Stop;
use crate::cli::options::{self, InputArgs};
use crate::cli::watch::entry::Entry;
use crate::cli::watch::store::{Batch, Store, StoreReader, Update};
use crate::conversation::{
    Conversation, Finding, Operation, Output, RuleSettings, Run, Sink, Verdict,
};
use crate::decoder::{DecodeOptions, Decoded, RareParts, StoredFrames};
use crate::encoding::Want;
use crate::framing::Limits;
use crate::framing::fields::text_secrets;
use crate::protocol::registry::Protocols;
use crate::protocol::session::{Place, Rule, WaitingList};
use crate::protocol::{Notes, Protocol};
use crate::render::masking::{mask, replaceable_secrets};
use crate::render::operation;
use crate::span::Span;
use crate::stat::Stat;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of bytes that are added at once.
const BATCH_BYTES: usize = 1 << 20;
/// The maximum number of bytes of a temporary file.
const MAX_STORED: u64 = 16 << 30;
/// The maximum number of captures whose index is kept.
const MAX_OPEN: usize = 4;
/// The maximum number of notes about a capture.
const MAX_NOTES: usize = 20;
/// The maximum number of awaited messages that are listed.
const MAX_WAITING: usize = 50;

/// The index of a capture.
pub struct Index {
    pub store: Store,
    pub reader: StoreReader,
    /// The messages that are awaited at the end.
    pub waiting: WaitingList,
    pub sides: [&'static str; 2],
    /// The last known time.
    pub now: Option<i64>,
    /// The statistics of each protocol, and the number of its messages that are awaited at the end.
    pub stats: BTreeMap<&'static str, (Stat, u64)>,
    pub operations: Listing,
    /// The sort of a finding is the number of its rule.
    pub findings: Listing,
    pub rules: Vec<ListedRule>,
    /// What could not be read, in the first sentences.
    pub notes: Vec<String>,
}

/// A rule that is broken.
pub struct ListedRule {
    /// `mcp/id-reused`.
    pub name: String,
    pub rule: Arc<Rule>,
}

/// The captures whose index is kept.
pub struct Recordings {
    pub folders: Folders,
    pub protocols: &'static Protocols,
    /// The one that was used last is the last.
    open: Vec<(PathBuf, FileVersion, Index)>,
    pub call: RunningCall,
}

/// The call that runs.
#[derive(Clone)]
pub struct RunningCall {
    client: Arc<Mutex<Client>>,
    stop: Stop,
}

impl RunningCall {
    /// # Errors
    ///
    /// Fails if the client has cancelled the call.
    pub fn check(&self) -> Result<()> {
        lock(&self.client).look_for_cancellation();
        ensure!(!self.stop.is_set(), "cancelled");
        Ok(())
    }
}

/// Locks what is told to the client, for a short time.
pub fn lock(client: &Mutex<Client>) -> MutexGuard<'_, Client> {
    client.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recordings {
    pub fn new(
        folders: Folders,
        protocols: &'static Protocols,
        client: Arc<Mutex<Client>>,
    ) -> Self {
        Self {
            folders,
            protocols,
            open: Vec::new(),
            call: RunningCall {
                client,
                stop: Stop::default(),
            },
        }
    }

    /// Begins a call: the client is told the progress of reading, and can end it.
    pub fn begin_call(&mut self, request: &Value) {
        self.call.stop = lock(&self.call.client).begin(request);
    }

    /// Ends the call. Returns true if the client has cancelled it.
    pub fn end_call(&mut self) -> bool {
        lock(&self.call.client).end()
    }

    /// Returns the index of a capture, a new one if the file has changed.
    pub fn open(&mut self, name: &str) -> Result<&mut Index> {
        let path = self.folders.find(name)?;
        let version = FileVersion::of(&path)?;
        let known = self.open.iter().position(|(of, ..)| *of == path);
        let known = known.map(|at| self.open.remove(at));
        let index = match known {
            Some((_, of, index)) if of == version => index,
            _ => {
                let keep = self.open.len().min(MAX_OPEN - 1);
                self.open.drain(..self.open.len() - keep);
                self.read(path.clone())?
            }
        };
        self.open.push((path, version, index));
        let (.., index) = self.open.last_mut().context("no index")?;
        Ok(index)
    }

    /// Returns the notes about the capture that was used last.
    pub fn notes(&self) -> &[String] {
        self.open.last().map_or(&[], |(.., index)| &index.notes)
    }

    /// Reads a capture.
    fn read(&self, path: PathBuf) -> Result<Index> {
        let options = DecodeOptions::new(self.protocols.possible());
        let frames = StoredFrames::new(self.protocols.all());
        let mut indexer = Indexer {
            index: Index::new(frames.clone())?,
            batch: Batch::new(frames),
            notes: Notes::default(),
            line: String::new(),
            count: 0,
            written: 0,
            is_recording: false,
        };
        let client = Arc::clone(&self.call.client);
        let (sender, notes) = sync_channel(MAX_NOTES);
        let mut run = InputState {
            quiet: true,
            // Further notes do not fit.
            notes: Some(Box::new(move |text| _ = sender.try_send(text.to_owned()))),
            stop: Some(self.call.stop.clone()),
            progress: Some(Arc::new(move |done, total| {
                lock(&client).tell_progress(done, total);
            })),
            ..InputState::default()
        };
        let args = InputArgs {
            jobs: options::all_jobs(),
            ..InputArgs::of_file(path)
        };
        input::read(&args, &options, &mut run, &mut indexer)?;
        self.call.check()?;
        indexer.flush()?;
        indexer.index.operations.finish()?;
        indexer.index.findings.finish()?;
        indexer.index.notes = notes.try_iter().collect();
        Ok(indexer.index)
    }
}

impl Index {
    fn new(frames: StoredFrames<'static>) -> Result<Self> {
        Ok(Self {
            store: Store::new(frames)?,
            reader: StoreReader::new(Limits::default().depth),
            waiting: WaitingList::default(),
            sides: ["client", "server"],
            now: None,
            stats: BTreeMap::new(),
            operations: Listing::new()?,
            findings: Listing::new()?,
            rules: Vec::new(),
            notes: Vec::new(),
        })
    }
}

/// The sink that fills an index.
struct Indexer {
    index: Index,
    batch: Batch,
    notes: Notes,
    /// The line of an entry of a list.
    line: String,
    /// The number of messages so far.
    count: usize,
    /// The number of bytes in the file.
    written: u64,
    is_recording: bool,
}

impl Indexer {
    fn flush(&mut self) -> Result<()> {
        self.written += self.batch.bytes.len() as u64;
        ensure!(
            self.written <= MAX_STORED,
            "the capture has more than {} GiB of messages: use a smaller one",
            MAX_STORED >> 30
        );
        let written = (&*self.index.store.file()).write_all(&self.batch.bytes);
        written.context("cannot write messages to a temporary file")?;
        self.index.store.add(&mut self.batch);
        Ok(())
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) -> Result<()> {
        let (origin, role) = (decoded.origin, decoded.message.role);
        let updates = &mut self.batch.updates;
        let rare = RareParts::of(decoded);
        updates.extend(rare.map(|parts| Update::Rare(self.count, parts)));
        updates.extend(verdict.answer.map(|answer| Update::Answer {
            to: answer.to,
            by: self.count,
            other_form: answer.id_form_differs,
        }));
        let of = verdict.operation;
        updates.extend(of.map(|operation| Update::Operation(self.count, operation)));
        let entry = Entry::new(0, role, origin.direction, origin.time, origin.conn);
        self.batch.entries.push((entry, self.batch.bytes.len()));
        self.batch.frames.write(decoded, &mut self.batch.bytes);
        let frame_at = self.batch.bytes.len() - decoded.frame.view.bytes.len();
        let stored = self.batch.bytes.get_mut(frame_at..).unwrap_or_default();
        mask_secrets(decoded, &mut self.notes, stored);
        self.index.now = origin.time.or(self.index.now);
        self.count += 1;
        self.find(verdict.findings, verdict.ended)?;
        let name = self.known(decoded.protocol).map_or("", |one| one.name());
        let (stat, _) = self.index.stats.entry(name).or_default();
        stat.add_message(decoded, verdict);
        if self.batch.bytes.len() >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Returns a protocol of the run as one that outlives it.
    fn known(&self, protocol: &dyn Protocol) -> Option<&'static dyn Protocol> {
        let mut all = self.batch.frames.protocols().iter().copied();
        all.find(|known| known.name() == protocol.name())
    }

    fn find(&mut self, findings: &[Finding], ended: &[Operation]) -> Result<()> {
        for finding in findings {
            let sort = self.sort_of(finding);
            write_finding(finding, &mut self.line);
            let text = entry_text(&self.line);
            self.index.findings.add(finding.place.index, sort, &text)?;
            self.batch.updates.push(Update::Finding(finding.clone()));
        }
        for one in ended {
            self.line.clear();
            operation::write_line(one, false, display(), &mut self.line);
            let text = entry_text(&self.line);
            self.index.operations.add(one.index, 0, &text)?;
        }
        Ok(())
    }

    /// Returns the number of the rule of a finding.
    fn sort_of(&mut self, finding: &Finding) -> u16 {
        let rules = &mut self.index.rules;
        let is_it = |known: &ListedRule| Arc::ptr_eq(&known.rule, &finding.rule);
        let known = rules.iter().position(is_it);
        let name = || finding.name();
        let at = known.or_else(|| rules.iter().position(|known| known.name == name()));
        let at = at.unwrap_or_else(|| {
            rules.push(ListedRule {
                name: name(),
                rule: Arc::clone(&finding.rule),
            });
            rules.len() - 1
        });
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    fn wait(&mut self, run: &Run<'_>) {
        let Some(conversation) = run.conversation() else {
            return;
        };
        self.index.waiting = conversation.unanswered(self.is_recording, MAX_WAITING);
        let protocol = conversation.protocol().and_then(|one| self.known(one));
        let sides = protocol.map(|one| one.descriptor().sides);
        self.index.sides = sides.unwrap_or(self.index.sides);
        for one in conversation.each_protocol() {
            let name = one.protocol().map_or("", |protocol| protocol.name());
            if let Some((_, count)) = self.index.stats.get_mut(name) {
                one.unanswered(self.is_recording, &mut |_| *count += 1);
            }
        }
    }

    fn end(&mut self, run: &Run<'_>, findings: &[Finding]) -> Result<()> {
        let conversation = run.conversation();
        let ended = conversation.map_or(&[][..], |one| one.ended_operations());
        self.find(findings, ended)?;
        for one in conversation
            .into_iter()
            .flat_map(Conversation::each_protocol)
        {
            let name = one.protocol().map_or("", |protocol| protocol.name());
            if let Some((stat, _)) = self.index.stats.get_mut(name) {
                stat.finish(one);
            }
        }
        self.flush()
    }
}

impl Sink for Indexer {
    type Break = Result<()>;

    fn want(&self) -> Option<Want> {
        Some(Want::Places)
    }

    fn rules(&self) -> Option<RuleSettings> {
        Some(RuleSettings {
            operations: true,
            ..RuleSettings::default()
        })
    }

    fn take(&mut self, output: Output<'_>) -> Flow {
        unless_failed(match output {
            Output::Message(decoded, verdict) => self.message(decoded, verdict.unwrap_or_default()),
            Output::End(run, findings) => self.end(run, findings),
            Output::Event(_, verdict) => self.find(verdict.findings, verdict.ended),
            Output::BeforeEnd(run) => {
                self.wait(run);
                Ok(())
            }
            Output::Item(Item::Header(_), _) => {
                self.is_recording = true;
                Ok(())
            }
            _ => Ok(()),
        })
    }
}

/// Writes a finding: `#12 warning mcp/id-reused: …  (see #3)`.
fn write_finding(finding: &Finding, line: &mut String) {
    line.clear();
    if finding.place.index != Place::NO_MESSAGE {
        let _ = write!(line, "#{} ", finding.place.index);
    }
    let (severity, name, text) = (finding.severity.name(), finding.name(), &finding.text);
    let _ = write!(line, "{severity} {name}: {text}");
    if let Some(to) = finding.related {
        let _ = write!(line, " (see #{to})");
    }
}

/// Masks the secrets of a message in its stored bytes.
fn mask_secrets(decoded: &Decoded<'_>, notes: &mut Notes, stored: &mut [u8]) {
    let mut secrets = replaceable_secrets(decoded, notes);
    // No field says what is secret in bytes that could not be read.
    if decoded.is_faulty() || decoded.root().is_none() {
        let found = text_secrets(stored).into_iter();
        secrets.extend(found.map(|secret| Span::new(secret.range.start, secret.range.end)));
    }
    mask(stored, &secrets);
}

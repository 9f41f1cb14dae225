//! The index of a capture: the places of its messages, their bytes in a temporary file, findings, operations, counts.
//!
//! ```text
//!   capture --> Run --> Indexer --> Index { store, waiting, stats }
//! ```
//!
//! Rules see the bytes of the capture; the file has them with masked secrets. All answers are made from the file, so that
//! no condition and no comparison tells anything about a secret either.

use super::folders::{FileVersion, Folders};
use crate::capture::Item;
use crate::cli::input::{self, Flow, InputRun, unless_failed};
use crate::cli::options::InputArgs;
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
use crate::protocol::session::WaitingList;
use crate::protocol::{Notes, Protocol};
use crate::render::masking::{mask, replaceable_secrets};
use crate::span::Span;
use crate::stat::Stat;
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

/// The number of bytes that are added at once.
const BATCH_BYTES: usize = 1 << 20;
/// The maximum number of bytes of a temporary file.
const MAX_STORED: u64 = 16 << 30;
/// The maximum number of captures whose index is kept.
const MAX_OPEN: usize = 4;
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
}

/// The captures whose index is kept.
pub struct Recordings {
    pub folders: Folders,
    pub protocols: &'static Protocols,
    /// The one that was used last is the last.
    open: Vec<(PathBuf, FileVersion, Index)>,
}

impl Recordings {
    pub fn new(folders: Folders, protocols: &'static Protocols) -> Self {
        Self {
            folders,
            protocols,
            open: Vec::new(),
        }
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
                Index::read(path.clone(), self.protocols)?
            }
        };
        self.open.push((path, version, index));
        let (.., index) = self.open.last_mut().context("no index")?;
        Ok(index)
    }
}

impl Index {
    fn read(path: PathBuf, protocols: &'static Protocols) -> Result<Self> {
        let options = DecodeOptions::new(protocols.possible());
        let frames = StoredFrames::new(protocols.all());
        let mut indexer = Indexer {
            index: Self {
                store: Store::new(frames.clone())?,
                reader: StoreReader::new(Limits::default().depth),
                waiting: WaitingList::default(),
                sides: ["client", "server"],
                now: None,
                stats: BTreeMap::new(),
            },
            batch: Batch {
                frames,
                entries: Vec::new(),
                bytes: Vec::new(),
                updates: Vec::new(),
            },
            notes: Notes::default(),
            count: 0,
            written: 0,
            is_recording: false,
        };
        let mut run = InputRun {
            quiet: true,
            notes: Some(Box::new(|_| {})),
            ..InputRun::default()
        };
        input::read(&InputArgs::of_file(path), &options, &mut run, &mut indexer)?;
        indexer.flush()?;
        Ok(indexer.index)
    }
}

/// The sink that fills an index.
struct Indexer {
    index: Index,
    batch: Batch,
    notes: Notes,
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
        self.find(verdict.findings, verdict.ended);
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

    fn find(&mut self, findings: &[Finding], ended: &[Operation]) {
        let updates = &mut self.batch.updates;
        updates.extend(findings.iter().cloned().map(Update::Finding));
        let ended = ended.iter().cloned().map(Box::new);
        updates.extend(ended.map(Update::Ended));
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
        self.find(findings, ended);
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
            Output::Event(_, verdict) => {
                self.find(verdict.findings, verdict.ended);
                Ok(())
            }
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

//! Fills the store: the sink of a run on a thread of its own.

use super::entry::Entry;
use super::shared::Shared;
use super::steps::{Step, Steps};
use super::store::{Batch, ConnChange, InputStatus, StoredStderr, Update};
use crate::capture::{Event, EventKind, Header, Item};
use crate::cli::input::{Flow, InputState, unless_failed};
use crate::cli::stderr_lines::{StderrLine, StderrLines};
use crate::conversation::{Output, Run, Sink};
use crate::decoder::{Decoded, RareParts, StoredFrames};
use crate::encoding::Want;
use crate::protocol::Protocol;
use crate::render::style::escape;
use anyhow::{Context as _, Result};
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// The number of messages of the first batch: enough for a screen. Later batches are larger.
const FIRST_BATCH: usize = 64;
const MAX_BATCH: usize = 1 << 12;
/// The number of bytes that end a batch.
const BATCH_BYTES: usize = 1 << 20;
/// The time without traffic after which awaited messages are shown.
const STALL: Duration = Duration::from_millis(500);

/// Sets where notes of a run go, and when it pauses.
pub(super) fn input_run(run: InputState, shared: &Shared) -> InputState {
    let noted = shared.clone();
    InputState {
        notes: Some(Box::new(move |text| {
            noted.store().status.note(text.to_owned());
        })),
        stall: Some(STALL),
        hides_progress: true,
        ..run
    }
}

/// The sink that adds messages to the store.
pub(super) struct IndexSink {
    shared: Shared,
    steps: Arc<Steps>,
    batch: Batch,
    batch_size: usize,
    /// The file of the store.
    file: Arc<File>,
    /// The number of messages so far.
    count: usize,
    /// The input is a recording: nothing but messages is compared with their bytes.
    is_recording: bool,
    stderr: StderrLines,
}

impl IndexSink {
    pub fn new(shared: Shared, steps: Arc<Steps>, frames: StoredFrames<'static>) -> Self {
        let file = shared.store().file();
        Self {
            shared,
            steps,
            batch: Batch::new(frames),
            batch_size: FIRST_BATCH,
            file,
            count: 0,
            is_recording: false,
            stderr: StderrLines::default(),
        }
    }

    fn flush(&mut self) -> Result<()> {
        // The screen does not wait for the disk.
        let written = (&*self.file).write_all(&self.batch.bytes);
        written.context("cannot write messages to a temporary file")?;
        self.shared.store().add(&mut self.batch);
        self.steps.set_stored(self.count);
        Ok(())
    }

    fn set_status(&mut self, set: impl FnOnce(&mut InputStatus)) {
        set(&mut self.shared.store().status);
    }

    /// Adds a step after the messages so far.
    fn step(&mut self, step: Step) -> Result<()> {
        self.make_space()?;
        self.steps.push(self.count, step);
        Ok(())
    }

    /// Makes sure that the steps before can be done, if the next one must wait for them.
    fn make_space(&mut self) -> Result<()> {
        if self.steps.is_full() {
            self.flush()?;
        }
        Ok(())
    }

    /// Begins the conversation of a source.
    fn begin(&mut self, run: &Run<'_>) -> Result<()> {
        self.is_recording = false;
        let protocols = &run.decoder().options().protocols;
        let known = self.batch.frames.protocols().iter().copied();
        let is_one = |known: &&dyn Protocol| protocols.iter().any(|p| p.name() == known.name());
        let protocols = known.filter(|known| is_one(&&**known)).collect();
        let source = Box::new(run.source().clone());
        self.step(Step::Begin(source, protocols))?;
        let name = escape(&run.source().name).into_owned();
        self.set_status(|status| status.source = name);
        Ok(())
    }

    fn header(&mut self, header: &Header) -> Result<()> {
        self.is_recording = true;
        let quote = |words: &Vec<String>| format!("-- {}", shell_words::join(words));
        let connect = header.connect.as_ref();
        let connect = connect.map(|address| format!("--connect {}", shell_words::quote(address)));
        let peer = connect.or(header.argv.as_ref().map(quote));
        self.set_status(|status| status.peer = peer.or(status.peer.take()));
        self.step(Step::Header(Box::new(header.clone())))
    }

    fn message(&mut self, decoded: &Decoded<'_>) -> Result<()> {
        let origin = decoded.origin;
        let role = decoded.message.role;
        let entry = Entry::new(0, role, origin.direction, origin.time, origin.conn);
        if let Some(parts) = RareParts::of(decoded) {
            self.make_space()?;
            self.steps.push_rare(self.count, parts.clone());
            self.batch.updates.push(Update::Rare(self.count, parts));
        }
        let at = self.batch.bytes.len();
        self.batch.frames.write(decoded, &mut self.batch.bytes);
        self.batch.entries.push((entry, at));
        self.count += 1;
        let is_full = self.batch.bytes.len() >= BATCH_BYTES;
        if is_full || self.batch.entries.len() >= self.batch_size {
            self.batch_size = (self.batch_size * 2).min(MAX_BATCH);
            return self.flush();
        }
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        let opened = event.what == EventKind::Open;
        let ended = matches!(
            event.what,
            EventKind::Close | EventKind::Reset | EventKind::Exit
        );
        if (opened || ended) && event.stream.is_none() {
            self.batch.updates.push(Update::Change(ConnChange {
                after: self.count,
                conn: event.conn,
                opened,
            }));
        }
        let Self {
            stderr,
            batch,
            count,
            ..
        } = self;
        stderr.add(event, &mut |line| add_line(line, *count, batch));
        match event.what {
            // Rules do not know them.
            EventKind::Stderr(_) | EventKind::Datagram(_) | EventKind::Other(_) => Ok(()),
            EventKind::Migrate | EventKind::End => Ok(()),
            _ => self.step(Step::Event(event.record(0), event.time)),
        }
    }

    /// Handles a time without input: awaited messages are shown after some of it.
    fn pause(&mut self, silent: Duration) -> Result<()> {
        self.flush()?;
        if silent.is_zero() {
            return Ok(());
        }
        self.step(Step::Pause)
    }

    fn end(&mut self) -> Result<()> {
        let Self {
            stderr,
            batch,
            count,
            ..
        } = self;
        stderr.end(&mut |line| add_line(line, *count, batch));
        self.flush()?;
        self.step(Step::End)
    }
}

/// Adds a line of stderr after the messages so far.
fn add_line(line: StderrLine<'_>, count: usize, batch: &mut Batch) {
    let line = StoredStderr::new(count, line);
    batch.updates.push(Update::Stderr(line));
}

/// Another thread checks rules.
impl Sink for IndexSink {
    type Break = Result<()>;

    fn want(&self) -> Option<Want> {
        Some(if self.is_recording {
            Want::Head
        } else {
            Want::Places
        })
    }

    fn take(&mut self, output: Output<'_>) -> Flow {
        unless_failed(match output {
            Output::Begin(run) => self.begin(run),
            Output::Item(Item::Header(header), _) => self.header(header),
            Output::Message(decoded, _) => self.message(decoded),
            Output::Event(event, _) => self.event(event),
            Output::Pause(_, silent) => self.pause(silent),
            Output::End(..) => self.end(),
            Output::Item(..) | Output::Note(_) | Output::BeforeEnd(_) => Ok(()),
        })
    }
}

//! Fills the store: a sink of the pipeline on a thread of its own.

use super::entry::Entry;
use super::store::{Batch, ConnChange, InputStatus, NamedVersion, Store, Update};
use crate::capture::{Event, EventKind, Header};
use crate::cli::input::{self, FrameDisplay, InputRun};
use crate::conversation::pipeline::Pipeline;
use crate::conversation::{Finding, Judge, Verdict};
use crate::decoder::{Decoded, RareParts, StoredFrames};
use crate::protocol::session::SessionConfig;
use crate::render::DisplayOptions;
use crate::render::findings;
use crate::render::style::{Style, escape, shorten};
use crate::stat::Stat;
use anyhow::Result;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The number of messages of the first batch: enough for a screen. Later batches are larger.
const FIRST_BATCH: usize = 64;
const MAX_BATCH: usize = 1 << 12;
/// The number of bytes that end a batch.
const BATCH_BYTES: usize = 1 << 20;
/// The maximum number of awaited messages that are listed.
const MAX_WAITING: usize = 20;
/// The maximum number of requests that open a session and wait for their answer.
const MAX_HELLOS: usize = 1 << 10;
/// The maximum number of characters of a version.
const MAX_VERSION: usize = 40;
/// The time without traffic after which awaited messages are shown.
const STALL: Duration = Duration::from_millis(500);

/// What the reader and the screen share.
#[derive(Clone)]
pub(super) struct Shared {
    store: Arc<Mutex<Store>>,
    stat: Arc<Mutex<Stat>>,
}

impl Shared {
    pub fn new(store: Store) -> Self {
        Self {
            store: Arc::new(Mutex::new(store)),
            stat: Arc::default(),
        }
    }

    /// Locks the messages, for a short time.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the statistics, for a short time.
    pub fn stat(&self) -> MutexGuard<'_, Stat> {
        self.stat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sink that adds messages to the store.
pub(super) struct IndexSink {
    pub run: InputRun,
    shared: Shared,
    rules: (Judge, SessionConfig),
    show_secrets: bool,
    batch: Batch,
    batch_size: usize,
    /// The number of messages so far.
    count: usize,
    /// Requests that open a session: their answers name versions too.
    hellos: HashSet<u64>,
    /// Awaited messages are on the screen.
    shows_waiting: bool,
    now: Option<i64>,
}

impl IndexSink {
    pub fn new(
        mut run: InputRun,
        shared: Shared,
        frames: StoredFrames<'static>,
        rules: (Judge, SessionConfig),
        show_secrets: bool,
    ) -> Self {
        let noted = shared.clone();
        run.notes = Some(Box::new(move |text| {
            noted.store().status.note(text.to_owned());
        }));
        Self {
            run,
            shared,
            rules,
            show_secrets,
            batch: Batch {
                frames,
                entries: Vec::new(),
                bytes: Vec::new(),
                updates: Vec::new(),
            },
            batch_size: FIRST_BATCH,
            count: 0,
            hellos: HashSet::new(),
            shows_waiting: false,
            now: None,
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.shared.store().add(&mut self.batch)
    }

    fn set_status(&mut self, set: impl FnOnce(&mut InputStatus)) {
        set(&mut self.shared.store().status);
    }

    fn findings(&mut self, findings: &[Finding]) {
        let updates = findings.iter().cloned().map(Update::Finding);
        self.batch.updates.extend(updates);
    }

    /// Stores the versions that the opening of a session names.
    fn versions(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        let is_hello = decoded.protocol.is_hello(decoded.message);
        let answers = verdict.answer.is_some_and(|a| self.hellos.remove(&a.to));
        if !is_hello && !answers {
            return;
        }
        if is_hello && self.hellos.len() < MAX_HELLOS {
            self.hellos.insert(decoded.index);
        }
        let Some(root) = decoded.root() else {
            return;
        };
        let (index, conn) = (self.count, decoded.origin.conn);
        let mut texts = Vec::new();
        root.each(&mut |node| {
            for (key, value) in node.members().filter(|_| node.is_map()) {
                let name = String::from_utf8_lossy(&key.key_bytes()).into_owned();
                let is_plain = !value.is_map() && !value.is_array();
                if is_plain && name.to_ascii_lowercase().contains("version") {
                    let text = value.text().or_else(|| value.number_text().map(Into::into));
                    let text = text.map(|text| format!("{name} {}", shorten(&text, MAX_VERSION)));
                    texts.extend(text.filter(|text| !texts.contains(text)));
                }
            }
        });
        self.batch.updates.extend(
            texts
                .into_iter()
                .map(|text| Update::Version(NamedVersion { index, conn, text })),
        );
    }

    /// Shows the messages that are awaited.
    fn show_waiting(&mut self, pipeline: &Pipeline<'_>) {
        let Some(conversation) = &pipeline.conversation else {
            return;
        };
        let display = DisplayOptions {
            style: Style { color: false },
            show_secrets: self.show_secrets,
            ..DisplayOptions::default()
        };
        let (sides, mut lines) = (conversation.sides(), Vec::new());
        for one in conversation.waiting().iter().take(MAX_WAITING) {
            // First what a narrow screen must show.
            let mut line = match one.expected_sender(sides) {
                Some(side) => format!("the {side} must send next: "),
                None => String::new(),
            };
            findings::write_waiting(one, self.now, sides, display, &mut line);
            lines.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        self.shows_waiting = !lines.is_empty();
        self.set_status(|status| status.waiting = lines);
    }
}

impl FrameDisplay for IndexSink {
    fn run(&mut self) -> &mut InputRun {
        &mut self.run
    }

    fn frame(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        let (verdict, origin) = (verdict.unwrap_or_default(), decoded.origin);
        self.shared.stat().add_message(decoded, verdict);
        self.now = origin.time.or(self.now);
        let at = self.batch.bytes.len();
        let role = decoded.message.role;
        let mut entry = Entry::new(0, role, origin.direction, origin.time, origin.conn);
        if let Some(answer) = verdict.answer {
            entry.set_request(answer.to, answer.id_form_differs);
            self.batch.updates.push(Update::Answer {
                to: answer.to,
                by: self.count,
                last: answer.last,
            });
        }
        self.batch.frames.write(decoded, &mut self.batch.bytes);
        self.batch.entries.push((entry, at));
        if let Some(parts) = RareParts::of(decoded) {
            self.batch.updates.push(Update::Rare(self.count, parts));
        }
        self.findings(verdict.findings);
        self.versions(decoded, verdict);
        self.count += 1;
        if self.shows_waiting {
            self.shows_waiting = false;
            self.set_status(|status| status.waiting.clear());
        }
        let is_full = self.batch.bytes.len() >= BATCH_BYTES;
        if is_full || self.batch.entries.len() >= self.batch_size {
            self.batch_size = (self.batch_size * 2).min(MAX_BATCH);
            return self.flush();
        }
        Ok(())
    }

    fn rules_to_check(&self) -> Option<(Judge, SessionConfig)> {
        Some(self.rules.clone())
    }

    fn idle(&mut self) -> Result<()> {
        self.flush()
    }

    fn begin(&mut self, source: &str) {
        let source = escape(source).into_owned();
        self.set_status(|status| status.source = source);
    }

    fn header(&mut self, header: &Header) {
        let quote = |words: &Vec<String>| format!("-- {}", shell_words::join(words));
        let connect = header.connect.as_ref();
        let connect = connect.map(|address| format!("--connect {}", shell_words::quote(address)));
        let peer = connect.or(header.argv.as_ref().map(quote));
        self.set_status(|status| status.peer = peer.or(status.peer.take()));
    }

    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<()> {
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
        self.findings(findings);
        Ok(())
    }

    fn end(&mut self, source: &str, bytes: u64, pipeline: &mut Pipeline<'_>) -> Result<()> {
        if pipeline.decoder.protocol().is_none() && bytes > 0 {
            input::report_undetected(source, &pipeline.decoder, self);
        }
        self.show_waiting(pipeline);
        if let Some(conversation) = &mut pipeline.conversation {
            let found = conversation.finish().findings;
            self.batch
                .updates
                .extend(found.iter().cloned().map(Update::Finding));
            self.shared.stat().finish(conversation);
        }
        self.flush()
    }

    fn stall(&self) -> Option<Duration> {
        Some(STALL)
    }

    fn stalled(&mut self, pipeline: &Pipeline<'_>, _: Duration) -> Result<()> {
        self.show_waiting(pipeline);
        self.flush()
    }

    fn progress(&mut self) -> bool {
        false
    }
}

//! The recorder: the tap and its output files.
//!
//! ```text
//!   queue --> tap --> recording    the lines of a batch in large writes, before it is decoded
//!                '--> view         line by line
//! ```
//!
//! With sockets, a thread does this work. With a child, the threads of its pumps help.

use super::faults::Faults;
use super::queue::Queue;
use crate::capture::{ChunkSource, EventKind, EventRecord, Header};
use crate::conversation::Output;
use crate::conversation::tap::{Tap, TapConfig, TapCounts, TapSink};
use crate::error::with_flags;
use crate::relay::{EntryBatch, Policy};
use crate::system::{PollFlags, poll};
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Size at which lines of the recording are written.
const WRITE_SIZE: usize = 256 << 10;
/// Pause between two batches: too short to notice, long enough to avoid most wake-ups.
const BATCH_PAUSE: Duration = Duration::from_millis(4);
/// Time limit for a pump that helps.
const HELP_TIMEOUT: Duration = Duration::from_millis(5);
/// Time limit for a pump that waits for lines of others to be written.
const CATCH_UP_TIMEOUT: Duration = Duration::from_millis(50);
/// Time limit at the end for a view without a reader.
const VIEW_TIMEOUT: Duration = Duration::from_secs(1);
/// Time limit at the end for the remaining lines.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of bytes that a pipe or a terminal with any free space takes without blocking.
pub(super) const PIPE_SPACE: usize = 4096;

/// Prints a message for the user.
pub type MessagePrinter = Arc<dyn Fn(&str) + Send + Sync>;

/// Renders what passes as text, appended to the buffer.
pub type Render = Box<dyn FnMut(Output<'_>, &mut Vec<u8>) + Send>;

/// Sees what passes, before it is shown.
pub type RecorderObserver = Box<dyn FnMut(Output<'_>) + Send>;

/// A file and its name.
pub struct RecordingFile {
    /// The file.
    pub file: File,
    /// The name in messages.
    pub name: String,
}

/// The live view of messages.
pub struct RecorderScreen {
    /// The output file.
    pub sink: RecordingFile,
    /// The renderer.
    pub render: Render,
}

/// When the recording goes on in another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileLimit {
    /// After this number of bytes.
    Bytes(u64),
    /// After this time.
    Time(Duration),
}

/// The files of a recording that has several.
pub struct Rotation {
    /// The end of a file.
    pub limit: FileLimit,
    /// Creates the next file.
    pub next: Box<dyn FnMut() -> Result<RecordingFile, String> + Send>,
}

/// The configuration of a recorder.
pub struct Setup {
    /// The configuration of the decoder.
    pub tap: TapConfig<'static>,
    /// The recording. Requires [`TapConfig::record`].
    pub recording: Option<RecordingFile>,
    /// Its next files. Requires [`TapConfig::decode`] and a header with the number of the first file.
    pub rotation: Option<Rotation>,
    /// Sees what passes. Requires [`TapConfig::decode`].
    pub observer: Option<RecorderObserver>,
    /// The live view.
    pub view: Option<RecorderScreen>,
    /// The behavior while the recorder is too slow.
    pub policy: Policy,
    /// Prints messages for the user.
    pub print: MessagePrinter,
}

impl Setup {
    /// A setup that records if `recording` is given, and shows nothing.
    pub fn recording(
        header: Header,
        recording: Option<RecordingFile>,
        print: MessagePrinter,
    ) -> Self {
        Self {
            tap: TapConfig {
                header,
                record: recording.is_some(),
                decode: None,
                rules: None,
                guard: None,
            },
            recording,
            rotation: None,
            observer: None,
            view: None,
            policy: Policy::Wait,
            print,
        }
    }
}

/// Statistics of the traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordingSummary {
    /// Counts of what passed.
    pub counts: TapCounts,
    /// Number of bytes that passed without being inspected.
    pub lost: u64,
    /// A write failed.
    pub failed: bool,
}

/// The bytes of a file, and the time when it began.
#[derive(Clone, Copy, Default)]
struct FileProgress {
    bytes: u64,
    began: i64,
}

struct RecorderState {
    tap: Tap<'static>,
    recording: Option<RecordingFile>,
    rotation: Option<Rotation>,
    /// The current file, or the part of it since a failed rotation.
    file: FileProgress,
    /// The next file could not be created.
    rotation_failed: bool,
    observer: Option<RecorderObserver>,
    view: Option<RecorderScreen>,
    print: MessagePrinter,
    batch: EntryBatch,
    /// Lines of the recording that are not written yet.
    lines: Vec<u8>,
    /// Text of the view that is not written yet.
    text: Vec<u8>,
    failed: bool,
}

/// The queue and its consumer.
pub(super) struct Recorder {
    /// Receives what the pump forwards.
    pub(super) queue: Queue,
    state: Mutex<RecorderState>,
    /// What was inspected so far, for an end that comes too late.
    counts: Mutex<TapCounts>,
    summary: Mutex<Option<RecordingSummary>>,
    done: Condvar,
}

/// A proxied connection, over sockets and over QUIC: its number, and the recorder and the faults that it shares with others.
pub(super) struct Proxied {
    pub(super) recorder: Arc<Recorder>,
    pub(super) conn: u32,
    /// Time of the last transfer, in nanoseconds since the start.
    pub(super) last_transfer: Arc<AtomicI64>,
    pub(super) print: MessagePrinter,
    pub(super) faults: Option<Arc<Faults>>,
}

impl Proxied {
    /// Returns the time, which is that of a transfer.
    pub(super) fn now(&self) -> i64 {
        let now = self.recorder.queue.now();
        self.last_transfer.store(now, Ordering::Relaxed);
        now
    }

    pub(super) fn event(&self, what: EventKind<'_>, dir: ChunkSource) -> EventRecord {
        let mut event = EventRecord::new(what, self.now(), self.conn);
        event.more.insert("dir".into(), dir.name().into());
        event
    }

    /// Creates an event of one stream, with its error code.
    pub(super) fn stream_event(
        &self,
        what: EventKind<'_>,
        dir: ChunkSource,
        stream: Option<u64>,
        code: impl Into<u64>,
    ) -> EventRecord {
        let mut event = self.event(what, dir);
        event.stream = stream;
        event.more.insert("code".into(), code.into().into());
        event
    }

    pub(super) fn record(&self, event: EventRecord) {
        self.recorder.queue.event(self.conn, event);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    /// Writes the header of the recording.
    pub(super) fn new(setup: Setup) -> Arc<Self> {
        let mut lines = Vec::new();
        let queue = Queue::new(setup.policy, setup.tap.header.started);
        let tap = Tap::new(setup.tap, &mut lines);
        let mut state = RecorderState {
            tap,
            recording: setup.recording,
            rotation: setup.rotation,
            file: FileProgress::default(),
            rotation_failed: false,
            observer: setup.observer,
            view: setup.view,
            print: setup.print,
            batch: EntryBatch::default(),
            lines,
            text: Vec::new(),
            failed: false,
        };
        state.write(&queue);
        Arc::new(Self {
            queue,
            state: Mutex::new(state),
            counts: Mutex::default(),
            summary: Mutex::new(None),
            done: Condvar::new(),
        })
    }

    /// Starts a thread that works until the queue is closed and empty.
    pub(super) fn spawn(self: &Arc<Self>) -> io::Result<()> {
        let recorder = Arc::clone(self);
        let thread = std::thread::Builder::new().name("tap".into());
        thread.spawn(move || {
            while recorder.queue.wait() {
                recorder.work();
                recorder.queue.pause(BATCH_PAUSE);
            }
            recorder.end();
        })?;
        Ok(())
    }

    fn work(&self) {
        let mut state = lock(&self.state);
        while state.work(&self.queue) {
            *lock(&self.counts) = state.tap.counts();
        }
    }

    /// Processes the queue unless another thread does. Returns `false` in that case.
    pub(super) fn help(&self) -> bool {
        let state = self.state.try_lock();
        state.is_ok_and(|mut state| {
            state.work(&self.queue);
            *lock(&self.counts) = state.tap.counts();
            true
        })
    }

    /// Makes sure that the queue is processed: does it, or waits for the thread that does it, within a limit.
    pub(super) fn catch_up(&self) {
        if self.help() {
            return;
        }
        // The lock may be held by a thread that waits for a slow disk.
        let until = Instant::now() + CATCH_UP_TIMEOUT;
        while !self.help() && !self.queue.is_writing_for(HELP_TIMEOUT) && Instant::now() < until {
            std::thread::yield_now();
        }
    }

    /// Starts a thread that calls `replace` when the helping pumps are blocked.
    pub(super) fn watch_pumps(
        self: &Arc<Self>,
        replace: impl Fn() + Send + 'static,
    ) -> io::Result<()> {
        let recorder = Arc::clone(self);
        let thread = std::thread::Builder::new().name("tap".into());
        thread.spawn(move || {
            let queue = &recorder.queue;
            let mut known = 0;
            while queue.wait_for_change(&mut known, HELP_TIMEOUT * 20) {
                queue.pause(HELP_TIMEOUT);
                // A blocked pump adds nothing new.
                while recorder.state.try_lock().is_err() {
                    if queue.is_writing_for(HELP_TIMEOUT) {
                        replace();
                    }
                    std::thread::sleep(HELP_TIMEOUT);
                }
                if queue.has_items() {
                    recorder.help();
                }
            }
            recorder.end();
        })?;
        Ok(())
    }

    /// Processes the rest of the queue and writes the end of the recording.
    pub(super) fn end(&self) {
        self.work();
        let mut state = lock(&self.state);
        state.finish(&self.queue);
        let summary = RecordingSummary {
            counts: state.tap.counts(),
            lost: self.queue.lost(),
            failed: state.failed,
        };
        *lock(&self.summary) = Some(summary);
        self.done.notify_all();
    }

    /// Waits for [`Recorder::end`] within a limit that a user who stops the program accepts.
    pub(super) fn join(&self, print: &MessagePrinter) -> RecordingSummary {
        let until = Instant::now() + END_TIMEOUT;
        let mut summary = lock(&self.summary);
        loop {
            if let Some(summary) = *summary {
                return summary;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.done.wait_timeout(summary, left);
            summary = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        print("the last bytes could not be written in time");
        RecordingSummary {
            counts: *lock(&self.counts),
            lost: self.queue.lost(),
            failed: true,
        }
    }
}

impl RecorderState {
    /// Processes one batch. Returns `false` if there was none. Its lines are written before it is decoded: a killed program
    /// loses no line that it had time to write.
    fn work(&mut self, queue: &Queue) -> bool {
        let mut batch = std::mem::take(&mut self.batch);
        let any = queue.swap(&mut batch);
        for passed in batch.entries() {
            self.tap.record(&passed, &mut self.lines);
            if self.lines.len() >= WRITE_SIZE {
                self.write(queue);
            }
        }
        self.write(queue);
        for passed in batch.entries() {
            self.observe(|tap, _, show| tap.read(&passed, show));
            if self.text.len() >= WRITE_SIZE {
                self.write(queue);
            }
        }
        batch.clear();
        self.batch = batch;
        self.write(queue);
        self.rotate(queue);
        any
    }

    /// Begins the next file of the recording if the current one is at its limit. Its bytes are decoded first.
    fn rotate(&mut self, queue: &Queue) {
        let FileProgress { bytes, began } = self.file;
        let now = queue.now();
        let is_full = match self.rotation.as_ref().map(|rotation| rotation.limit) {
            None => false,
            Some(FileLimit::Bytes(most)) => bytes >= most,
            Some(FileLimit::Time(most)) => {
                u128::try_from(now - began).is_ok_and(|age| age >= most.as_nanos())
            }
        };
        let Some(rotation) = self.rotation.as_mut().filter(|_| is_full) else {
            return;
        };
        if self.recording.is_none() {
            return;
        }
        queue.begin_write();
        let next = (rotation.next)();
        queue.end_write();
        let file = match next {
            Ok(file) => file,
            Err(error) => {
                if !std::mem::replace(&mut self.rotation_failed, true) {
                    (self.print)(&format!(
                        "{error}; the recording goes on in its last file, and the next one is tried again at each limit"
                    ));
                }
                self.file = FileProgress {
                    bytes: 0,
                    began: now,
                };
                return;
            }
        };
        self.rotation_failed = false;
        let mut start = Vec::new();
        self.tap.begin_part(now, &mut self.lines, &mut start);
        self.write(queue);
        if self.recording.is_some() {
            self.recording = Some(file);
            self.lines = start;
            self.write(queue);
            // The first lines of the file can be longer than the limit.
            self.file = FileProgress {
                bytes: 0,
                began: now,
            };
        }
    }

    /// Passes an observation to the tap and collects the lines of the recording and the text of the view.
    fn observe(&mut self, take: impl FnOnce(&mut Tap<'static>, &mut Vec<u8>, &mut TapSink<'_>)) {
        let Self {
            tap,
            observer,
            view,
            print,
            lines,
            text,
            ..
        } = self;
        let mut sink = |output: Output<'_>| -> ControlFlow<Infallible> {
            if let Some(observer) = observer {
                observer(output);
            }
            if let Some(view) = view {
                (view.render)(output, text);
            }
            ControlFlow::Continue(())
        };
        take(tap, lines, &mut sink);
        let remarks = tap.remarks.drain(..);
        remarks.for_each(|remark| print(&with_flags(&remark)));
    }

    fn finish(&mut self, queue: &Queue) {
        self.observe(|tap, lines, show| tap.finish(queue.now(), lines, show));
        self.write(queue);
    }

    /// Writes the recording first, because it is permanent.
    fn write(&mut self, queue: &Queue) {
        if !self.lines.is_empty() {
            self.file.bytes += self.lines.len() as u64;
            queue.begin_write();
            if let Some(sink) = &mut self.recording
                && let Err(error) = sink.file.write_all(&self.lines)
            {
                (self.print)(&format!(
                    "cannot write the recording {}: {error}; traffic continues, but is not recorded",
                    sink.name
                ));
                self.failed = true;
                self.recording = None;
                self.tap.stop_recording();
            }
            queue.end_write();
            self.lines.clear();
        }
        if !self.text.is_empty() {
            queue.begin_write();
            if let Some(view) = &mut self.view
                && let Err(error) = view.sink.show(&self.text, queue)
            {
                // A reader may close the view at any time.
                if error.kind() != io::ErrorKind::BrokenPipe {
                    let name = &view.sink.name;
                    (self.print)(&format!(
                        "cannot write to {name}: {error}; nothing more is shown"
                    ));
                    self.failed = true;
                }
                self.view = None;
            }
            queue.end_write();
            self.text.clear();
        }
    }
}

impl RecordingFile {
    /// Writes line by line, and stops for a blocked reader after everything else has ended.
    fn show(&mut self, text: &[u8], queue: &Queue) -> io::Result<()> {
        if self.file.metadata().is_ok_and(|meta| meta.is_file()) {
            return self.file.write_all(text);
        }
        let lines = text.split_inclusive(|b| *b == b'\n');
        for piece in lines.flat_map(|line| line.chunks(PIPE_SPACE)) {
            while !writable(&self.file, VIEW_TIMEOUT / 10)? {
                if queue.closed_for(VIEW_TIMEOUT) {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads it"));
                }
            }
            self.file.write_all(piece)?;
        }
        Ok(())
    }
}

/// Waits until a short write does not block, within a limit.
pub(super) fn writable(file: &File, within: Duration) -> io::Result<bool> {
    let found = poll(file, PollFlags::OUT, Some(within))?;
    if found.contains(PollFlags::ERR) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    Ok(!found.is_empty())
}

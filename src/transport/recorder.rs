//! Where what the pump saw is written down: the tap, and the files behind it.
//!
//! ```text
//!   queue --> tap --> recording    lines of one swap in one write
//!                '--> view         line by line
//! ```
//!
//! For sockets a thread of its own works here; a child's pumps lend a hand themselves.

use super::queue::{Batch, Policy, Queue, What};
use crate::capture::Header;
use crate::conversation::tap::{Counts, Settings, Show, Shown, Tap};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Lines of the recording that are written at once.
const WRITE: usize = 256 << 10;
/// A break between two looks into the queue, too short to be noticed, long enough to save most wake-ups.
const PACE: Duration = Duration::from_millis(4);
/// How long a pump may be held up by the hand it lends.
const WATCH: Duration = Duration::from_millis(5);
/// How long a pump waits for what others have left to be written down.
const MOMENT: Duration = Duration::from_millis(50);
/// How long a view that nobody reads holds up the end.
const VIEW_GRACE: Duration = Duration::from_secs(1);
/// How long what is left may take to be written at the end.
const END_GRACE: Duration = Duration::from_secs(5);
/// Bytes that a pipe or terminal with any room takes without waiting.
const ATOMIC: usize = 4096;

/// Tells the user something.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// Shows frames as text: appends what is to be written.
pub type Render = Box<dyn FnMut(Shown<'_>, &mut Vec<u8>) + Send>;

/// A file and what to call it.
pub struct Sink {
    /// Where to write.
    pub file: File,
    /// Its name in messages.
    pub name: String,
}

/// Where frames are shown.
pub struct View {
    /// Where to write.
    pub sink: Sink,
    /// How they look.
    pub render: Render,
}

/// What is done with what passes.
pub struct Setup {
    /// How it is understood.
    pub tap: Settings<'static>,
    /// The recording; [`Settings::record`] must be set with it.
    pub recording: Option<Sink>,
    /// The view.
    pub view: Option<View>,
    /// What happens when all that is slower than the traffic.
    pub policy: Policy,
    /// Who is told what the user should know.
    pub say: Say,
}

impl Setup {
    /// What passes is recorded, where there is a recording, and nothing is shown.
    pub fn recording(header: Header, recording: Option<Sink>, say: Say) -> Self {
        Self {
            tap: Settings {
                header,
                record: recording.is_some(),
                decode: None,
                judge: None,
                guard: None,
            },
            recording,
            view: None,
            policy: Policy::Wait,
            say,
        }
    }
}

/// How it went, as far as looking is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// What went by.
    pub counts: Counts,
    /// Bytes that went by without being looked at.
    pub lost: u64,
    /// Something could not be written.
    pub trouble: bool,
}

struct RecorderState {
    tap: Tap<'static>,
    recording: Option<Sink>,
    view: Option<View>,
    say: Say,
    batch: Batch,
    /// Lines of the recording that are not written yet.
    lines: Vec<u8>,
    /// Text of the view that is not written yet.
    text: Vec<u8>,
    trouble: bool,
}

/// The queue and what works behind it.
pub(super) struct Recorder {
    /// What the pump saw goes here.
    pub(super) queue: Queue,
    state: Mutex<RecorderState>,
    seen: Mutex<Option<Seen>>,
    done: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    /// Writes the recording's first line.
    pub(super) fn new(setup: Setup) -> Arc<Self> {
        let mut lines = Vec::new();
        let tap = Tap::new(setup.tap, &mut lines);
        let queue = Queue::new(setup.policy);
        let mut state = RecorderState {
            tap,
            recording: setup.recording,
            view: setup.view,
            say: setup.say,
            batch: Batch::default(),
            lines,
            text: Vec::new(),
            trouble: false,
        };
        state.write(&queue);
        Arc::new(Self {
            queue,
            state: Mutex::new(state),
            seen: Mutex::new(None),
            done: Condvar::new(),
        })
    }

    /// A thread that works until the queue is closed and empty.
    pub(super) fn spawn(self: &Arc<Self>) -> io::Result<()> {
        let recorder = Arc::clone(self);
        let thread = std::thread::Builder::new().name("tap".into());
        thread.spawn(move || {
            while recorder.queue.wait() {
                recorder.work();
                recorder.queue.rest(PACE);
            }
            recorder.end();
        })?;
        Ok(())
    }

    fn work(&self) {
        let mut state = lock(&self.state);
        while state.work(&self.queue) {}
    }

    /// Works on what is there, unless somebody does so already; says whether it could.
    pub(super) fn help(&self) -> bool {
        let state = self.state.try_lock();
        state.is_ok_and(|mut state| {
            state.work(&self.queue);
            true
        })
    }

    /// Sees to it that what is there is written down: works on it, or waits for a moment for whoever does.
    pub(super) fn catch_up(&self) {
        if self.help() {
            return;
        }
        // It may have to wait for its turn like anybody; for a disk that hangs nobody waits.
        let until = Instant::now() + MOMENT;
        while !self.help() && !self.queue.writes_for(WATCH) && Instant::now() < until {
            std::thread::yield_now();
        }
    }

    /// A thread that steps in where those who lend a hand are held up: then `replace` is called.
    pub(super) fn watch(self: &Arc<Self>, replace: impl Fn() + Send + 'static) -> io::Result<()> {
        let recorder = Arc::clone(self);
        let thread = std::thread::Builder::new().name("tap".into());
        thread.spawn(move || {
            let queue = &recorder.queue;
            let mut known = 0;
            while queue.changed(&mut known, WATCH * 20) {
                queue.rest(WATCH);
                // Who is held up puts nothing new in.
                while recorder.state.try_lock().is_err() {
                    if queue.writes_for(WATCH) {
                        replace();
                    }
                    std::thread::sleep(WATCH);
                }
                if queue.waits() {
                    recorder.help();
                }
            }
            recorder.end();
        })?;
        Ok(())
    }

    /// Works on what is left, and writes the end.
    pub(super) fn end(&self) {
        self.work();
        let mut state = lock(&self.state);
        state.finish(&self.queue);
        let seen = Seen {
            counts: state.tap.counts(),
            lost: self.queue.lost(),
            trouble: state.trouble,
        };
        *lock(&self.seen) = Some(seen);
        self.done.notify_all();
    }

    /// Waits for [`Recorder::end`], for as long as can be asked of somebody who wants to stop.
    pub(super) fn join(&self, say: &Say) -> Seen {
        let until = Instant::now() + END_GRACE;
        let mut seen = lock(&self.seen);
        loop {
            if let Some(seen) = *seen {
                return seen;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.done.wait_timeout(seen, left);
            seen = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        say("what passed last could not be written in time");
        Seen {
            lost: self.queue.lost(),
            trouble: true,
            ..Seen::default()
        }
    }
}

impl RecorderState {
    /// Takes one batch and writes down what is in it; says whether there was one.
    fn work(&mut self, queue: &Queue) -> bool {
        let mut batch = std::mem::take(&mut self.batch);
        let any = queue.swap(&mut batch);
        for (item, bytes) in batch.items() {
            self.item(item.t, item.conn, &item.what, bytes);
            if self.lines.len() >= WRITE || self.text.len() >= WRITE {
                self.write(queue);
            }
        }
        batch.clear();
        self.batch = batch;
        self.write(queue);
        any
    }

    /// Has the tap take something in: lines of the recording go where they belong, and so does what is shown.
    fn tell(&mut self, take: impl FnOnce(&mut Tap<'static>, &mut Vec<u8>, &mut Show<'_>)) {
        let Self {
            tap,
            view,
            say,
            lines,
            text,
            ..
        } = self;
        let mut show = |shown: Shown<'_>| match (shown, &mut *view) {
            (Shown::Remark(remark), _) => say(remark),
            (shown, Some(view)) => (view.render)(shown, text),
            (_, None) => {}
        };
        take(tap, lines, &mut show);
    }

    fn item(&mut self, t: i64, conn: u32, what: &What, bytes: &[u8]) {
        self.tell(|tap, lines, show| match what {
            What::Chunk(stream) => tap.chunk(t, conn, *stream, bytes, lines, show),
            What::Lost(stream, bytes) => tap.lost(t, conn, *stream, *bytes, lines, show),
            What::Event(event) => tap.event(event, lines, show),
        });
    }

    fn finish(&mut self, queue: &Queue) {
        self.tell(|tap, lines, show| tap.finish(queue.now(), lines, show));
        self.write(queue);
    }

    /// The recording first: it is what stays.
    fn write(&mut self, queue: &Queue) {
        if !self.lines.is_empty() {
            queue.writing(true);
            if let Some(sink) = &mut self.recording
                && let Err(error) = sink.file.write_all(&self.lines)
            {
                (self.say)(&format!(
                    "cannot write the recording {}: {error}; traffic goes on, unrecorded",
                    sink.name
                ));
                self.trouble = true;
                self.recording = None;
                self.tap.stop_recording();
            }
            queue.writing(false);
            self.lines.clear();
        }
        if !self.text.is_empty() {
            queue.writing(true);
            if let Some(view) = &mut self.view
                && let Err(error) = view.sink.show(&self.text, queue)
            {
                // That a reader has seen enough is its right.
                if error.kind() != io::ErrorKind::BrokenPipe {
                    let name = &view.sink.name;
                    (self.say)(&format!(
                        "cannot write to {name}: {error}; nothing more is shown"
                    ));
                    self.trouble = true;
                }
                self.view = None;
            }
            queue.writing(false);
            self.text.clear();
        }
    }
}

impl Sink {
    /// Writes line by line, and gives up on a reader that sleeps when all else has ended.
    fn show(&mut self, text: &[u8], queue: &Queue) -> io::Result<()> {
        if self.file.metadata().is_ok_and(|meta| meta.is_file()) {
            return self.file.write_all(text);
        }
        let lines = text.split_inclusive(|b| *b == b'\n');
        for piece in lines.flat_map(|line| line.chunks(ATOMIC)) {
            while !writable(&self.file, VIEW_GRACE / 10)? {
                if queue.closed_for(VIEW_GRACE) {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads it"));
                }
            }
            self.file.write_all(piece)?;
        }
        Ok(())
    }
}

/// Whether a little can be written without waiting, within some time.
pub(super) fn writable(file: &File, within: Duration) -> io::Result<bool> {
    let mut fds = [PollFd::new(file, PollFlags::OUT)];
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: within.as_nanos().try_into().unwrap_or_default(),
    };
    match poll(&mut fds, Some(&timeout)) {
        Ok(ready) => {
            let gone = fds.iter().any(|fd| fd.revents().contains(PollFlags::ERR));
            if gone {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Ok(ready > 0)
        }
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

//! Reads one file or pipe: waits for bytes, follows a growing file, and ends at a signal.
//!
//! ```text
//!   Waiting --> Readable --> Waiting          bytes
//!      |           '-------> AtEnd --> Waiting     a followed file: it may grow
//!      |                       '-----> Ended
//!      '-- signal --> Cut                     also if a followed file is truncated
//! ```

use super::feed::Feed;
use super::files::OpenFile;
use super::sections::{Threads, read_rest};
use super::{Args, Flow, READ_SIZE, unless_failed};
use crate::cli::interrupt::Stop;
use crate::cli::poll::{wait_readable, wait_readable_unless};
use crate::cli::progress::ReadProgress;
use crate::conversation::Run;
use anyhow::{Context as _, Result};
use std::io::{ErrorKind, Read as _};
use std::ops::ControlFlow;
use std::time::Duration;

/// The time that a single message waits for a second one before it is shown as one of several.
const SINGLE_MESSAGE_WAIT: Duration = Duration::from_millis(200);
/// The length from which on several threads read a file.
const LARGE_FILE: u64 = 32 << 20;
/// The number of bytes that one of these threads reads at a time: the values of its messages fit in the cache of a core.
const PART_SIZE: usize = 32 << 10;
/// The interval between checks of a followed file.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(50);

/// The reason why reading of a source ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadEnd {
    /// All of it was read, or a signal came.
    Done,
    /// All of it was read, and another file continues it.
    Continued,
    /// The bytes that were read are gone; the file must be read from its start.
    Truncated,
    /// The sink needs no more, of this source and of others.
    Unneeded,
}

/// What comes after the end of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadMode {
    /// Nothing.
    Whole,
    /// It may grow.
    Follow,
    /// Another file continues it.
    BeforeNext,
}

#[derive(Clone, Copy)]
enum ReadState {
    Waiting,
    Readable,
    AtEnd,
    Ended,
    Cut(ReadEnd),
}

/// Reads a source.
pub(super) struct SourceReader<'r, 'p, 'f, 's> {
    file: &'r OpenFile,
    mode: ReadMode,
    run: &'r mut Run<'p>,
    feed: &'r mut Feed<'f, 'p, 's>,
    stop: Option<Stop>,
    stall: Option<Duration>,
    progress: Option<ReadProgress>,
    buffer: Vec<u8>,
    /// The number of bytes of earlier files.
    before: u64,
    /// The time since a followed file has grown.
    silent: Duration,
    /// Present if several threads may read the rest.
    threads: Option<Threads>,
}

impl<'r, 'p, 'f, 's> SourceReader<'r, 'p, 'f, 's> {
    pub fn new(
        file: &'r OpenFile,
        mode: ReadMode,
        args: &Args,
        run: &'r mut Run<'p>,
        feed: &'r mut Feed<'f, 'p, 's>,
    ) -> Self {
        let threads = threads(file, args);
        let size = args
            .part_size
            .map_or(READ_SIZE, |size| READ_SIZE.min(size as usize));
        let is_plain = file.plain && mode != ReadMode::Follow;
        Self {
            file,
            mode,
            stop: feed.state.stop.clone(),
            stall: feed.state.stall,
            progress: feed.state.progress(file.len, is_plain),
            buffer: vec![0; size],
            before: run.bytes(),
            silent: Duration::ZERO,
            threads,
            run,
            feed,
        }
    }

    pub fn read(mut self) -> Result<ReadEnd> {
        match self.read_states() {
            ControlFlow::Continue(end) => Ok(end),
            ControlFlow::Break(unneeded) => unneeded.map(|()| ReadEnd::Unneeded),
        }
    }

    fn read_states(&mut self) -> Flow<ReadEnd> {
        // The sink knows the source before the first wait.
        self.run.read(&mut &[][..], self.feed)?;
        let mut state = ReadState::Waiting;
        loop {
            state = match state {
                ReadState::Waiting => self.wait()?,
                ReadState::Readable => self.read_bytes()?,
                ReadState::AtEnd => self.follow()?,
                ReadState::Ended => return self.finish(),
                ReadState::Cut(end) => return self.cut(end),
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(Stop::is_set)
    }

    /// Waits until the source is readable.
    fn wait(&mut self) -> Flow<ReadState> {
        let (file, plain) = (&self.file.file, self.file.plain);
        // A pipe may pause here for any time: waiting output is written first.
        if !plain && self.run.bytes() > 0 && !wait_readable(file, SINGLE_MESSAGE_WAIT) {
            self.run.pause(Duration::ZERO, self.feed)?;
        }
        if let (false, Some(stall)) = (plain, self.stall)
            && !wait_readable_unless(file, Some(stall), &|| self.is_stopped())
            && !self.is_stopped()
        {
            self.run.pause(stall, self.feed)?;
        }
        // A signal ends this wait; it would not end a read.
        let waits = !plain && self.stop.is_some();
        let is_ready = !waits || wait_readable_unless(file, None, &|| self.is_stopped());
        ControlFlow::Continue(if self.is_stopped() {
            ReadState::Cut(ReadEnd::Done)
        } else if is_ready {
            ReadState::Readable
        } else {
            ReadState::Waiting
        })
    }

    /// Reads bytes, and what they hold.
    fn read_bytes(&mut self) -> Flow<ReadState> {
        let n = match (&self.file.file).read(&mut self.buffer) {
            Ok(0) => return ControlFlow::Continue(ReadState::AtEnd),
            Ok(n) => n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {
                return ControlFlow::Continue(ReadState::Waiting);
            }
            Err(e) => {
                let failed = Err(e).with_context(|| format!("cannot read {}", self.file.name));
                return ControlFlow::Break(failed);
            }
        };
        self.silent = Duration::ZERO;
        if let Some(progress) = &mut self.progress {
            progress.set_done(self.run.bytes() - self.before + n as u64);
        }
        let mut rest = self.buffer.get(..n).unwrap_or_default();
        self.run.read(&mut rest, self.feed)?;
        self.read_sections()?;
        ControlFlow::Continue(ReadState::Waiting)
    }

    /// Reads the rest with several threads, if its messages can be read ahead.
    fn read_sections(&mut self) -> Flow {
        let Some(threads) = self.threads.filter(|_| self.run.bytes() > 0) else {
            return ControlFlow::Continue(());
        };
        let Some(splitter) = self.run.splitter() else {
            return ControlFlow::Continue(());
        };
        let progress = self.progress.as_mut();
        read_rest(self.file, splitter, threads, progress, self.run, self.feed)
    }

    /// Waits for more bytes of a followed file, which may be truncated meanwhile.
    fn follow(&mut self) -> Flow<ReadState> {
        if self.mode != ReadMode::Follow {
            return ControlFlow::Continue(ReadState::Ended);
        }
        self.run.pause(Duration::ZERO, self.feed)?;
        let file = &self.file.file;
        let is_shorter = |meta: std::fs::Metadata| meta.len() < self.run.bytes() - self.before;
        if self.file.plain && file.metadata().is_ok_and(is_shorter) {
            let text = "the file was truncated: reading starts again";
            self.feed.state.note(&self.file.name, text);
            return ControlFlow::Continue(ReadState::Cut(ReadEnd::Truncated));
        }
        std::thread::sleep(FOLLOW_INTERVAL);
        let before = self.silent;
        self.silent += FOLLOW_INTERVAL;
        if self
            .stall
            .is_some_and(|stall| before < stall && self.silent >= stall)
        {
            self.run.pause(self.silent, self.feed)?;
        }
        ControlFlow::Continue(ReadState::Waiting)
    }

    fn finish(&mut self) -> Flow<ReadEnd> {
        self.progress = None;
        if self.mode == ReadMode::BeforeNext {
            return ControlFlow::Continue(ReadEnd::Continued);
        }
        end_run(self.run, self.feed, ReadEnd::Done)
    }

    /// Ends the run where reading stopped.
    fn cut(&mut self, end: ReadEnd) -> Flow<ReadEnd> {
        self.progress = None;
        self.feed.is_cut = true;
        end_run(self.run, self.feed, end)
    }
}

/// Returns the threads for a file, if it is large.
fn threads(file: &OpenFile, args: &Args) -> Option<Threads> {
    let is_large = file.len > LARGE_FILE || args.part_size.is_some();
    let is_usual = file.plain && !args.follow && args.jobs.get() > 1;
    (is_large && is_usual).then(|| Threads {
        jobs: args.jobs.get(),
        section: args.part_size.map_or(PART_SIZE, |size| size as usize),
    })
}

/// Ends a run. A sink that needs no more takes the end alone.
pub(super) fn end_run<'p>(
    run: &mut Run<'p>,
    feed: &mut Feed<'_, 'p, '_>,
    mut end: ReadEnd,
) -> Flow<ReadEnd> {
    loop {
        let ended = if feed.is_cut {
            run.cut(feed)
        } else {
            run.finish(feed)
        };
        let ControlFlow::Break(unneeded) = ended else {
            return ControlFlow::Continue(end);
        };
        unless_failed(unneeded)?;
        end = ReadEnd::Unneeded;
        run.drop_waiting();
    }
}

//! Reads the rest of a large file with several threads, each a section of it at a time.
//!
//! ```text
//!   thread 0   split 0 | read 0 ............ | take 0 | split 3 | read 3 ...
//!   thread 1            | split 1 | read 1 ......... | take 1 | ...
//!   thread 2                      | split 2 | read 2 .......... | take 2 | ...
//! ```
//!
//! One thread at a time splits the file, and one at a time takes messages, in the order of the sections: so the sink sees what it
//! sees with one thread. The thread that splits or takes passes the state for it on to the next one.

use super::feed::Feed;
use super::files::OpenFile;
use super::{Flow, THREAD_STACK, unless_failed};
use crate::cli::interrupt::Stop;
use crate::cli::progress::ReadProgress;
use crate::conversation::Run;
use crate::decoder::{Section, SectionMemory, SectionReader, Splitter};
use anyhow::{Context as _, Result};
use std::io::{ErrorKind, Read as _};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, scope};

/// How a file is read with several threads.
#[derive(Clone, Copy)]
pub(super) struct Threads {
    /// The number of threads.
    pub jobs: usize,
    /// The number of bytes of a section, apart from those of its last message.
    pub section: usize,
}

/// What splits the file.
struct Splitting<'r, 'p> {
    splitter: Splitter<'p>,
    file: &'r OpenFile,
    stop: Option<&'r Stop>,
    progress: Option<&'r mut ReadProgress>,
    done: u64,
    section: usize,
    /// The end was reached. The file may have grown since.
    is_ended: bool,
    failed: &'r mut Result<()>,
}

/// What takes the messages.
struct Taking<'r, 'p, 'f, 's> {
    run: &'r mut Run<'p>,
    feed: &'r mut Feed<'f, 'p, 's>,
    flow: &'r mut Flow,
}

/// One thread: what it receives from the thread before it, and passes on to the next.
struct Worker<'a, S, T> {
    splitting: (Receiver<S>, SyncSender<S>),
    taking: (Receiver<T>, SyncSender<T>),
    /// The sink needs no more.
    is_over: &'a AtomicBool,
}

impl Splitting<'_, '_> {
    /// Fills the next section; `false` at the end of the file, after a signal or an error.
    fn split(&mut self, section: &mut Section) -> bool {
        let is_stopped = || self.stop.is_some_and(Stop::is_set);
        if self.is_ended || is_stopped() {
            self.is_ended = true;
            return false;
        }
        let (file, most) = (&self.file.file, self.section as u64);
        let split = self.splitter.split(section, |bytes| {
            loop {
                return match file.take(most).read_to_end(bytes) {
                    Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                    read => read.map(|n| n > 0),
                };
            }
        });
        self.done += section.bytes().len() as u64;
        if let Some(progress) = &mut self.progress {
            progress.set_done(self.done);
        }
        let has_section = split.unwrap_or_else(|error| {
            let failed = Err(error).with_context(|| format!("cannot read {}", self.file.name));
            *self.failed = failed;
            false
        });
        self.is_ended = !has_section;
        has_section
    }
}

impl Worker<'_, Splitting<'_, '_>, Taking<'_, '_, '_, '_>> {
    fn work(self, mut reader: SectionReader<'_>) {
        let (mut section, mut memory) = (Section::default(), SectionMemory::default());
        while let Ok(mut splitting) = self.splitting.0.recv() {
            let is_over = self.is_over.load(Ordering::Relaxed);
            let has_section = !is_over && splitting.split(&mut section);
            // The next thread may have ended.
            let _ = self.splitting.1.send(splitting);
            if !has_section {
                return;
            }
            let messages = reader.read(&section, &mut memory);
            let Ok(taking) = self.taking.0.recv() else {
                return;
            };
            if taking.flow.is_continue() {
                *taking.flow = taking.run.read_section(&section, messages, taking.feed);
            }
            if taking.flow.is_break() {
                self.is_over.store(true, Ordering::Relaxed);
            }
            taking.run.update_reader(&mut reader);
            let _ = self.taking.1.send(taking);
            reader.shrink(&mut memory);
        }
    }
}

/// Returns the threads, each connected with the next one. The first has what splits and what takes.
fn ring<S, T>(jobs: usize, splitting: S, taking: T, is_over: &AtomicBool) -> Vec<Worker<'_, S, T>> {
    let (first_splitting, mut splitting_from) = sync_channel(1);
    let (first_taking, mut taking_from) = sync_channel(1);
    // There is space for one.
    let _ = first_splitting.send(splitting);
    let _ = first_taking.send(taking);
    let mut workers = Vec::new();
    for _ in 1..jobs {
        let (splitting_to, splitting_next) = sync_channel(1);
        let (taking_to, taking_next) = sync_channel(1);
        workers.push(Worker {
            splitting: (
                std::mem::replace(&mut splitting_from, splitting_next),
                splitting_to,
            ),
            taking: (std::mem::replace(&mut taking_from, taking_next), taking_to),
            is_over,
        });
    }
    workers.push(Worker {
        splitting: (splitting_from, first_splitting),
        taking: (taking_from, first_taking),
        is_over,
    });
    workers
}

/// Reads the rest of a file. It ends before the end of the file only if the sink breaks, at a signal, or with an error.
pub(super) fn read_rest<'p>(
    file: &OpenFile,
    splitter: Splitter<'p>,
    threads: Threads,
    progress: Option<&mut ReadProgress>,
    run: &mut Run<'p>,
    feed: &mut Feed<'_, 'p, '_>,
) -> Flow {
    let (mut failed, mut flow) = (Ok(()), ControlFlow::Continue(()));
    let (stop, is_over) = (feed.state.stop.clone(), AtomicBool::new(false));
    let mut reader = splitter.reader();
    reader.finds_secrets = feed.state.masks_lines;
    let splitting = Splitting {
        splitter,
        file,
        stop: stop.as_ref(),
        progress,
        done: run.bytes(),
        section: threads.section,
        is_ended: false,
        failed: &mut failed,
    };
    let taking = Taking {
        run,
        feed,
        flow: &mut flow,
    };
    let workers = ring(threads.jobs, splitting, taking, &is_over);
    scope(|scope| {
        let mut workers = workers.into_iter();
        let first = workers.next();
        for worker in workers {
            let thread = Builder::new().stack_size(THREAD_STACK);
            // Without a thread, its sections are never split: the threads before it end.
            if let Err(error) = thread.spawn_scoped(scope, || worker.work(reader.clone())) {
                return Err(error).context("cannot start a thread");
            }
        }
        if let Some(worker) = first {
            worker.work(reader.clone());
        }
        Ok(())
    })
    .map_or_else(
        |error| ControlFlow::Break(Err(error)),
        ControlFlow::Continue,
    )?;
    flow?;
    unless_failed(failed)
}

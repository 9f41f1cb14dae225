//! Reads several files at the same time, each with a sink of its own, and prints in their order.
//!
//! ```text
//!   thread 1   file 0 ......... | file 3 ....
//!   thread 2   file 1 .... | file 2 .........    what they print waits, up to a limit
//!   main       prints 0 ....... | 1 | 2 .... | 3
//! ```

use super::files::list_units;
use super::source::ReadEnd;
use super::{Args, Input, InputState, Inputs, THREAD_STACK, read, split_input};
use crate::cli::output::CommandOutput;
use crate::cli::thread_output::{self, Printed};
use crate::conversation::Sink;
use crate::decoder::DecodeOptions;
use anyhow::{Context as _, Result};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, scope};

/// The number of prints of one file that wait.
const MAX_WAITING: usize = 8;

/// A sink that can be made for one input, because its state does not depend on earlier ones.
pub trait SinkOfOne: Sink<Break = Result<()>> + Send {
    /// Returns where it prints.
    fn output(&mut self) -> &mut CommandOutput;
    /// Adds the counts of another one.
    fn add(&mut self, one: Self);
}

/// What was read of a file.
struct ReadInput<S> {
    end: Result<ReadEnd>,
    state: InputState,
    sink: S,
}

/// A file that is read, or will be.
struct Job<'u, S> {
    input: Input<'u>,
    /// The state of its input, and where its thread prints; present until a thread begins with it.
    start: Mutex<Option<(InputState, SyncSender<Printed>)>>,
    /// Present at its end.
    read: Mutex<Option<ReadInput<S>>>,
}

/// What the threads share.
struct Shared<'a, 'p, S> {
    args: &'a Args,
    options: &'a DecodeOptions<'p>,
    make: &'a (dyn Fn(CommandOutput) -> S + Sync),
    jobs: &'a [Job<'a, S>],
    next: AtomicUsize,
    is_over: AtomicBool,
}

/// Reads all inputs as [`read`] does, several at the same time if there are several files. `make` returns a sink for one of
/// them.
pub fn read_apart<S: SinkOfOne>(
    args: &Args,
    options: &DecodeOptions<'_>,
    state: &mut InputState,
    screen: &mut S,
    make: &(dyn Fn(CommandOutput) -> S + Sync),
) -> Result<()> {
    let is_usual = !args.follow && args.jobs.get() > 1 && state.notes.is_none();
    let are_files = args.c2s.is_empty() && state.sources.is_none() && args.files.len() > 1
        || matches!(args.files.as_slice(), [only] if only.is_dir());
    let are_plain = || (args.files.iter()).all(|path| path.is_file() || path.is_dir());
    if !is_usual || !are_files || !state.counts_each_source || !are_plain() {
        return read(args, options, state, screen);
    }
    let units = list_units(&args.files)?;
    if units.len() < 2 {
        return read(args, options, state, screen);
    }
    let mut rest = &units[..];
    let (mut jobs, mut receivers) = (Vec::new(), Vec::new());
    while let Some(input) = split_input(&mut rest) {
        let (to, from) = sync_channel(MAX_WAITING);
        receivers.push(from);
        jobs.push(Job {
            input,
            start: Mutex::new(Some((state.of_one(), to))),
            read: Mutex::new(None),
        });
    }
    // A thread for each file; there are no others for parts of a file.
    let alone = Args {
        jobs: NonZeroUsize::MIN,
        ..args.clone()
    };
    let shared = Shared {
        args: &alone,
        options,
        make,
        jobs: &jobs,
        next: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    };
    scope(|scope| {
        for _ in 0..args.jobs.get().min(jobs.len()) {
            let thread = Builder::new().stack_size(THREAD_STACK);
            if let Err(error) = thread.spawn_scoped(scope, || shared.work()) {
                shared.is_over.store(true, Ordering::Relaxed);
                drop(receivers);
                return Err(error).context("cannot start a thread");
            }
        }
        let printed = shared.print(receivers, state, screen);
        shared.is_over.store(true, Ordering::Relaxed);
        printed
    })
}

impl<S: SinkOfOne> Shared<'_, '_, S> {
    /// Reads one file after the other.
    fn work(&self) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(number) else {
                return;
            };
            let start = job.start.lock().ok().and_then(|mut start| start.take());
            let is_over = self.is_over.load(Ordering::Relaxed);
            let Some((state, to)) = start.filter(|_| !is_over) else {
                return;
            };
            thread_output::send_to(Some(to.clone()));
            let read = self.read(&job.input, number, state, to);
            if let Ok(mut place) = job.read.lock() {
                *place = Some(read);
            }
            // The file is over when no sender of it is left.
            thread_output::send_to(None);
        }
    }

    fn read(
        &self,
        input: &Input<'_>,
        number: usize,
        mut state: InputState,
        to: SyncSender<Printed>,
    ) -> ReadInput<S> {
        let mut sink = (self.make)(CommandOutput::to_thread(to));
        let mut inputs = Inputs {
            args: self.args,
            options: self.options,
            state: &mut state,
            screen: &mut sink,
            next_index: 0,
        };
        let mut end = inputs.read_input(input, Some(number as u32));
        let flushed = sink.output().flush();
        if end.is_ok()
            && let Err(error) = flushed
        {
            end = Err(error);
        }
        *sink.output() = CommandOutput::nothing();
        ReadInput { end, state, sink }
    }

    /// Prints what the threads print, in the order of the files.
    fn print(
        &self,
        receivers: Vec<Receiver<Printed>>,
        state: &mut InputState,
        screen: &mut S,
    ) -> Result<()> {
        let mut last_error = None;
        for (job, receiver) in self.jobs.iter().zip(receivers) {
            if state.is_stopped() {
                break;
            }
            for printed in receiver {
                match printed {
                    Printed::Output(text) => {
                        screen.output().push(text);
                        screen.output().written()?;
                    }
                    Printed::Message(lines) => {
                        screen.output().flush()?;
                        thread_output::print(lines);
                    }
                }
            }
            let read = job.read.lock().ok().and_then(|mut read| read.take());
            let read = read.context("a thread has ended early")?;
            state.add(&read.state);
            screen.add(read.sink);
            match read.end {
                Ok(ReadEnd::Unneeded) => break,
                Ok(_) => {}
                Err(error) => {
                    // The next file is read; the last error decides the exit status.
                    if let Some(earlier) = last_error.replace(error) {
                        state.problem("", &format!("{earlier:#}"));
                    }
                }
            }
        }
        last_error.map_or(Ok(()), Err)
    }
}

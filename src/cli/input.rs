//! Reads files, pipes and pairs of one-way files, and passes what they hold to the sink of a command.
//!
//! ```text
//!   files --> SourceReader --> Run --> Feed: notes, counts --> Screen: the sink of the command
//!              waits, follows
//! ```

mod apart;
mod clocks;
mod feed;
mod files;
mod late;
mod merge;
mod pairs;
mod plausibility;
mod sections;
mod source;
mod state;

use super::config::settings;
use super::options::InputArgs as Args;
use crate::capture::{CaptureInput, Form};
use crate::conversation::{Run, Sink, Source};
use crate::decoder::DecodeOptions;
use anyhow::Result;
pub use apart::{SinkOfOne, read_apart};
use feed::Feed;
use files::{OpenFile, Unit, continues, list_units, open};
pub use files::{has_capture_name, is_c2s, other_direction};
pub use merge::merged_sources;
use source::{ReadEnd, ReadMode, SourceReader};
pub use state::InputState;
use std::io::{IsTerminal as _, Seek as _};
use std::ops::ControlFlow;
use std::path::Path;

/// The maximum number of bytes of a read.
const READ_SIZE: usize = 256 << 10;
/// The stack of a thread, as that of the first thread: values may be deeply nested.
const THREAD_STACK: usize = 8 << 20;

/// The sink of a command. It breaks with an error, or when it needs no more.
pub type Screen<'s> = dyn Sink<Break = Result<()>> + Send + 's;

/// Goes on, or to the end of the run.
pub type Flow<T = ()> = ControlFlow<Result<()>, T>;

/// Goes on unless there is an error.
pub fn unless_failed<T>(result: Result<T>) -> Flow<T> {
    match result {
        Ok(value) => ControlFlow::Continue(value),
        Err(error) => ControlFlow::Break(Err(error)),
    }
}

/// Reads all inputs, in order, and passes what they hold to `screen`.
pub fn read(
    args: &Args,
    options: &DecodeOptions<'_>,
    state: &mut InputState,
    screen: &mut Screen<'_>,
) -> Result<()> {
    anyhow::ensure!(
        args.c2s.len() == args.s2c.len(),
        "each --c2s needs an --s2c: one pair per connection"
    );
    let mut inputs = Inputs {
        args,
        options,
        state,
        screen,
        next_index: 0,
    };
    if !args.c2s.is_empty() {
        let all: Vec<_> = args.c2s.iter().zip(&args.s2c).collect();
        return inputs.read_pairs(&all, &Source::default()).map(|_| ());
    }
    if let Some(sources) = inputs.state.sources {
        return inputs.read_merged(sources);
    }
    let mut units = list_units(&args.files)?;
    if units.is_empty() {
        anyhow::ensure!(
            !std::io::stdin().is_terminal(),
            "no FILE, and stdin is a terminal: name a capture, or pipe one in (--help has examples)"
        );
        units.push(Unit::File("-".into()));
    }
    inputs.read_units(&units)
}

/// A unit, and the files that continue it.
struct Input<'u> {
    unit: &'u Unit,
    later_files: Vec<&'u Path>,
}

/// Removes the next input.
fn split_input<'u>(units: &mut &'u [Unit]) -> Option<Input<'u>> {
    let (unit, after) = units.split_first()?;
    let later_files = match unit {
        Unit::File(path) => files_after(path, after),
        Unit::Pair(..) => Vec::new(),
    };
    *units = after.get(later_files.len()..).unwrap_or_default();
    Some(Input { unit, later_files })
}

/// Returns the files after a file that continue it.
fn files_after<'u>(file: &'u Path, after: &'u [Unit]) -> Vec<&'u Path> {
    let mut last = file;
    let mut files = Vec::new();
    for unit in after {
        match unit {
            Unit::File(path) if continues(path, last) => last = path,
            _ => break,
        }
        files.push(last);
    }
    files
}

/// Reads a file and those that continue it, as one.
fn read_files<'p>(
    file: &OpenFile,
    later_files: &[&Path],
    args: &Args,
    run: &mut Run<'p>,
    feed: &mut Feed<'_, 'p, '_>,
) -> Result<ReadEnd> {
    let mode = |n: usize| match (n < later_files.len(), args.follow) {
        (true, _) => ReadMode::BeforeNext,
        (false, true) => ReadMode::Follow,
        (false, false) => ReadMode::Whole,
    };
    let mut end = SourceReader::new(file, mode(0), args, run, feed).read()?;
    for (n, path) in later_files.iter().enumerate() {
        if end != ReadEnd::Continued {
            break;
        }
        let file = open(path)?;
        end = SourceReader::new(&file, mode(n + 1), args, run, feed).read()?;
    }
    Ok(end)
}

/// The inputs of a command.
struct Inputs<'i, 'p, 's> {
    args: &'i Args,
    options: &'i DecodeOptions<'p>,
    state: &'i mut InputState,
    screen: &'i mut Screen<'s>,
    /// The index of the next message.
    next_index: u64,
}

impl Inputs<'_, '_, '_> {
    fn read_units(&mut self, units: &[Unit]) -> Result<()> {
        let several = units.len() > 1;
        // After an error in one file, the next file is read; the last error decides the exit status.
        let mut last_error = None;
        let mut rest = units;
        for n in 0u32.. {
            let Some(input) = split_input(&mut rest) else {
                break;
            };
            if self.state.is_stopped() {
                break;
            }
            match self.read_input(&input, several.then_some(n)) {
                Ok(ReadEnd::Unneeded) => break,
                Ok(_) => {}
                Err(error) if super::is_closed_pipe(&error) => return Err(error),
                Err(error) if several => {
                    if let Some(earlier) = last_error.replace(error) {
                        self.state.problem("", &format!("{earlier:#}"));
                    }
                }
                Err(error) => return Err(error),
            }
            if self.state.counts_each_source {
                self.next_index = 0;
            }
        }
        last_error.map_or(Ok(()), Err)
    }

    /// Reads an input; if there are several, it has a number.
    fn read_input(&mut self, input: &Input<'_>, number: Option<u32>) -> Result<ReadEnd> {
        let source = Source {
            is_one_of_several: number.is_some(),
            conn: number,
            ..Source::default()
        };
        match input.unit {
            Unit::File(path) => self.read_file(path, &input.later_files, &source),
            Unit::Pair(c2s, s2c) => self.read_pairs(&[(c2s, s2c)], &source),
        }
    }

    /// Reads a file and those that continue it, again from the start each time one is truncated.
    fn read_file(
        &mut self,
        path: &Path,
        later_files: &[&Path],
        source: &Source,
    ) -> Result<ReadEnd> {
        let args = self.args;
        let (options, direction) = settings().options_for_path(self.options, args.dir, path);
        let file = open(path)?;
        let is_pasted = !args.follow && args.from == Form::Auto && late::ends_as_pasted(&file)?;
        let input = || {
            CaptureInput::new(args.from)
                .of_pasted_text(is_pasted)
                .with_packet_options(args.packets.options())
                .of_protocols(&options.protocols)
                .of_exact_bytes(direction.is_some() || options.framing.is_some())
        };
        let late_guesses = if args.follow {
            Vec::new()
        } else {
            late::late_guesses(&file, input(), &options)?
        };
        loop {
            let source = Source {
                name: file.name.clone(),
                direction,
                first_index: self.next_index,
                late_guesses: late_guesses.clone(),
                ..source.clone()
            };
            let input = input();
            let rules = self.screen.rules();
            let mut run = Run::of_source(source, Some(input), options.clone(), rules);
            let mut feed = Feed::new(&options, 1, args.dir.is_some(), self.state, self.screen);
            let end = read_files(&file, later_files, args, &mut run, &mut feed)?;
            self.next_index = run.decoder().index();
            if end != ReadEnd::Truncated {
                return Ok(end);
            }
            (&file.file).rewind()?;
        }
    }
}

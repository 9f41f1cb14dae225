//! Runs the command of `shrink` for one trial.

use crate::cli::interrupt::Stop;
use crate::system::{self, Signal};
use crate::transport::now;
use anyhow::{Context as _, Result};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The maximum number of bytes of output that are searched.
const MAX_OUTPUT: u64 = 4 << 20;
/// The time between two looks at the clock and the signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// A command, and what counts as its failure.
pub struct Runner {
    /// The program and its arguments; `{}` is the file.
    pub command: Vec<OsString>,
    /// The time after which it is ended.
    pub timeout: Duration,
    /// The text that shows the failure.
    pub text: Option<String>,
    pub stop: Stop,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    Exit(i32),
    Signal(i32),
    TimedOut,
}

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub struct CommandOutcome {
    pub end: RunEnd,
    /// Its output has the text.
    pub has_text: bool,
}

impl Runner {
    /// Runs the command for a trial; `None` if the user has interrupted it.
    pub fn run(&self, trial: &[u8]) -> Result<Option<CommandOutcome>> {
        let mut file = tempfile::Builder::new()
            .prefix("wiretool-")
            .suffix(".jsonl")
            .tempfile()
            .context("cannot create a temporary file")?;
        file.write_all(trial)
            .context("cannot write a temporary file")?;
        let mut output = tempfile::tempfile().context("cannot create a temporary file")?;
        let end = self.run_with(file.path().as_os_str(), &output)?;
        Ok(end.map(|end| CommandOutcome {
            end,
            has_text: self
                .text
                .as_ref()
                .is_some_and(|text| has_text(&mut output, text)),
        }))
    }

    fn run_with(&self, path: &std::ffi::OsStr, output: &File) -> Result<Option<RunEnd>> {
        let words = self.command.iter().map(|word| match word.to_str() {
            Some(text) if text.contains("{}") => text.replace("{}", &path.to_string_lossy()).into(),
            _ => word.clone(),
        });
        let words: Vec<OsString> = words.collect();
        let (program, arguments) = words.split_first().context("no command")?;
        let clone = || output.try_clone().context("cannot use a temporary file");
        #[cfg(windows)]
        system::unsupported::<()>("starts no programs")?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(clone()?)
            .stderr(clone()?);
        // With its children, so that all of them can be ended.
        let mut child = system::lead_group(&mut command)
            .spawn()
            .with_context(|| format!("cannot start {}", program.to_string_lossy()))?;
        let group = child.id();
        // It may have ended.
        let kill = || system::kill_group(group, Signal::KILL);
        let (ended, end) = channel();
        std::thread::spawn(move || ended.send(child.wait()));
        let start = now();
        let mut is_late = false;
        loop {
            match end.recv_timeout(INTERVAL) {
                Ok(status) => {
                    // Processes that it has left behind.
                    kill();
                    let status = status.context("cannot wait for the command")?;
                    let end = if is_late {
                        RunEnd::TimedOut
                    } else {
                        end_of(status)
                    };
                    return Ok((!self.stop.is_set()).then_some(end));
                }
                Err(RecvTimeoutError::Timeout) => {
                    is_late =
                        u128::try_from(now() - start).unwrap_or_default() > self.timeout.as_nanos();
                    if is_late || self.stop.is_set() {
                        kill();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => anyhow::bail!("cannot wait for the command"),
            }
        }
    }

    /// Returns true if a run for the whole recording failed.
    pub fn is_failure(&self, outcome: &CommandOutcome) -> bool {
        if self.text.is_some() {
            outcome.has_text
        } else {
            outcome.end != RunEnd::Exit(0)
        }
    }

    /// Returns true if a run failed as the one for the whole recording.
    pub fn is_same(&self, outcome: &CommandOutcome, failure: &CommandOutcome) -> bool {
        if self.text.is_some() {
            outcome.has_text
        } else {
            outcome.end == failure.end
        }
    }

    /// Returns how the command fails, in words.
    pub fn describe(&self, failure: &CommandOutcome) -> String {
        match (&self.text, failure.end) {
            (Some(text), _) => format!("the output has {text:?}"),
            (None, RunEnd::Exit(code)) => format!("the command exits with {code}"),
            (None, RunEnd::Signal(signal)) => format!("signal {signal} ends the command"),
            (None, RunEnd::TimedOut) => "the command does not end in time".to_owned(),
        }
    }
}

fn end_of(status: ExitStatus) -> RunEnd {
    match (status.code(), system::signal_of(status)) {
        (Some(code), _) => RunEnd::Exit(code),
        (None, signal) => RunEnd::Signal(signal.unwrap_or_default()),
    }
}

/// Returns true if the first part of the output has a text.
fn has_text(output: &mut File, text: &str) -> bool {
    let mut bytes = Vec::new();
    let read = output
        .rewind()
        .and_then(|()| output.take(MAX_OUTPUT).read_to_end(&mut bytes));
    read.is_ok() && memchr::memmem::find(&bytes, text.as_bytes()).is_some()
}

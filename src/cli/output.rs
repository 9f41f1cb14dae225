//! Writes output to stdout or to a file, which is replaced only when the output is complete.

use super::Exit;
use super::export::collector::text_of;
use super::poll::{PollFlags, poll};
use super::thread_output::Printed;
use crate::render::Format;
use crate::render::style::escape_json;
use crate::system::{self, AsFile};
use crate::transport::Collector;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// The number of waiting bytes that are written at once. Larger writes are not faster on files and slower on pipes.
const FLUSH_SIZE: usize = 128 << 10;

/// The number of checks for a reader of a named pipe, which may start at the same time, and the interval between them.
const MAX_CHECKS: u32 = 100;
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// The time for spans that wait at the end.
const COLLECTOR_TIMEOUT: Duration = Duration::from_secs(70);
const NOT_SENT: &str = "the collector does not take all spans";

/// The maximum number of symbolic links that are followed.
const MAX_LINKS: usize = 40;

/// The reader of stdout closed the pipe, which is not an error; a closed pipe of another output is an error.
#[derive(Debug)]
pub struct StdoutClosed;

impl std::fmt::Display for StdoutClosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the reader of stdout is gone")
    }
}

impl std::error::Error for StdoutClosed {}

/// Output that is collected into large writes; call [`CommandOutput::flush`] before waits.
pub struct CommandOutput {
    waiting: Vec<u8>,
    target: OutputTarget,
    /// It is JSON, in which control characters are escaped.
    pub is_json: bool,
    /// Most likely the terminal that shows the progress.
    terminal: bool,
}

/// Formats of other tools, which are no likely names of files.
const OTHER_FORMATS: [&str; 12] = [
    "csv", "html", "jsonl", "ndjson", "pretty", "raw", "table", "text", "tsv", "wide", "xml",
    "yaml",
];

enum OutputTarget {
    /// Only the exit code is wanted.
    Nothing,
    Stdout(File),
    /// A device or a pipe that the user named.
    Stream(File, PathBuf),
    File(tempfile::NamedTempFile, PathBuf),
    /// Lines of OTLP.
    Collector(Collector),
    /// Another thread writes it.
    Thread(SyncSender<Printed>),
}

/// Returns the name of a file that does not exist if it is that of a format, and the formats that may be meant.
pub fn format_of_name(path: &Path) -> Option<(&str, &str)> {
    let name = path.to_str()?;
    let format = match Format::from_name(name) {
        Some(_) => name,
        None if OTHER_FORMATS.contains(&name) => "tree, line, json or hex",
        None => return None,
    };
    (!path.exists()).then_some((name, format))
}

impl CommandOutput {
    /// Opens stdout or a file; none of `inputs` may be the file.
    pub fn open(path: Option<&Path>, inputs: &[PathBuf]) -> Result<Self> {
        match path.filter(|path| *path != Path::new("-")) {
            None => Ok(Self::new(OutputTarget::Stdout(stdout()?))),
            Some(path) => {
                if let Some((name, format)) = format_of_name(path) {
                    anyhow::bail!(
                        "-o names a file, and the format is -f {format}; a file of this name is -o ./{name}"
                    );
                }
                Self::create(path, inputs)
            }
        }
    }

    /// Returns an output that drops everything.
    pub fn nothing() -> Self {
        Self::new(OutputTarget::Nothing)
    }

    /// Returns an output that sends lines to a collector.
    pub fn collector(collector: Collector) -> Self {
        Self::new(OutputTarget::Collector(collector))
    }

    /// Returns an output that another thread writes.
    pub fn to_thread(sender: SyncSender<Printed>) -> Self {
        Self::new(OutputTarget::Thread(sender))
    }

    /// Opens a file, also if its name is `-`; none of `inputs` may be the file.
    pub fn create(path: &Path, inputs: &[PathBuf]) -> Result<Self> {
        Ok(Self::new(create_file(path, inputs)?))
    }

    fn new(target: OutputTarget) -> Self {
        let terminal = match &target {
            OutputTarget::Stdout(file) | OutputTarget::Stream(file, _) => file.is_terminal(),
            OutputTarget::File(..)
            | OutputTarget::Nothing
            | OutputTarget::Collector(_)
            | OutputTarget::Thread(_) => false,
        };
        Self {
            waiting: Vec::with_capacity(FLUSH_SIZE + (FLUSH_SIZE >> 1)),
            target,
            is_json: false,
            terminal,
        }
    }

    /// Appends text or bytes; call [`CommandOutput::written`] afterwards.
    pub fn push(&mut self, text: impl AsRef<[u8]>) {
        self.waiting.extend_from_slice(text.as_ref());
    }

    /// Appends a line.
    pub fn push_line(&mut self, text: &str) {
        self.push(text);
        self.waiting.push(b'\n');
    }

    /// Returns the buffer to append to; call [`CommandOutput::written`] afterwards.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.waiting
    }

    /// Writes with a function that may empty the buffer meanwhile.
    pub fn write_with(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>, &mut dyn FnMut(&mut Vec<u8>)),
    ) -> Result<()> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut result = Ok(());
        write(&mut waiting, &mut |full| {
            std::mem::swap(full, &mut self.waiting);
            if result.is_ok() {
                result = self.flush();
            }
            std::mem::swap(full, &mut self.waiting);
            full.clear();
        });
        self.waiting = waiting;
        result?;
        self.written()
    }

    /// Flushes if many bytes wait.
    pub fn written(&mut self) -> Result<()> {
        if self.waiting.len() >= FLUSH_SIZE {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes all waiting bytes.
    pub fn flush(&mut self) -> Result<()> {
        let (file, name, is_stdout) = match &mut self.target {
            OutputTarget::Nothing => {
                self.waiting.clear();
                return Ok(());
            }
            OutputTarget::Collector(collector) => {
                let sent = collector.send(&self.waiting);
                self.waiting.clear();
                return sent.map_err(|problem| anyhow::anyhow!("{NOT_SENT}: {problem}"));
            }
            OutputTarget::Thread(sender) => {
                let printed = Printed::Output(std::mem::take(&mut self.waiting));
                // That thread needs no more after an error of its own.
                return sender.send(printed).map_err(|_| StdoutClosed.into());
            }
            OutputTarget::Stdout(file) => (file, Path::new("stdout"), true),
            OutputTarget::Stream(file, path) => (file, path.as_path(), false),
            OutputTarget::File(file, path) => (file.as_file_mut(), path.as_path(), false),
        };
        if self.terminal {
            super::progress::clear();
        }
        let text = self.is_json.then(|| std::str::from_utf8(&self.waiting));
        let written = match text {
            Some(Ok(text)) => file.write_all(escape_json(text).as_bytes()),
            _ => file.write_all(&self.waiting),
        };
        self.waiting.clear();
        match written {
            Err(e) if is_stdout && e.kind() == ErrorKind::BrokenPipe => Err(StdoutClosed.into()),
            written => written.with_context(|| format!("cannot write to {}", name.display())),
        }
    }

    /// Returns true if stdout is a pipe without a reader; does not write to it.
    pub fn is_reader_gone(&self) -> bool {
        let OutputTarget::Stdout(file) = &self.target else {
            return false;
        };
        poll(file, PollFlags::empty(), Duration::ZERO).contains(PollFlags::ERR)
    }

    /// Writes incomplete output and says so, but replaces no file.
    pub fn finish_incomplete(self) -> Result<()> {
        match &self.target {
            OutputTarget::File(_, path) if path.exists() => {
                let name = path.display();
                super::print_message(&format!("interrupted: {name} is left as it was"));
                Ok(())
            }
            OutputTarget::File(_, path) => {
                let note = format!(
                    "interrupted: {} has only a part of the output",
                    path.display()
                );
                self.finish()?;
                super::print_message(&note);
                Ok(())
            }
            _ => self.finish(),
        }
    }

    /// Writes everything, and replaces the file.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        if let OutputTarget::Collector(collector) = &self.target {
            let report = collector.finish(COLLECTOR_TIMEOUT);
            anyhow::ensure!(
                report.dropped == 0 && report.problem.is_none(),
                "{NOT_SENT}: {}",
                text_of(&report)
            );
        }
        if let OutputTarget::File(file, path) = self.target {
            file.persist(&path)
                .map_err(|e| e.error)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

/// Opens a device or a named pipe for writing.
pub fn open_stream(path: &Path) -> std::io::Result<File> {
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    for _ in 0..MAX_CHECKS {
        if let Some(file) = system::open_stream(path)? {
            return Ok(file);
        }
        std::thread::sleep(CHECK_INTERVAL);
    }
    let text = "no process reads it: start its reader first";
    Err(std::io::Error::new(ErrorKind::NotConnected, text))
}

/// Writes a whole text to stdout.
pub fn print(text: &str) -> Result<Exit> {
    let mut output = CommandOutput::open(None, &[])?;
    output.push(text);
    output.finish()?;
    Ok(Exit::Clean)
}

/// Returns stdin, stdout or stderr as a file, without the buffer of the standard library.
pub fn as_file(standard: impl AsFile) -> std::io::Result<File> {
    system::as_file(&standard)
}

/// Returns stdout without the line buffer of the standard library.
pub fn stdout() -> Result<File> {
    super::closed_stdout::ensure_open()?;
    let file = as_file(std::io::stdout()).context("cannot write to stdout")?;
    system::enlarge_pipe(&file);
    Ok(file)
}

fn create_file(named: &Path, inputs: &[PathBuf]) -> Result<OutputTarget> {
    let context = || format!("cannot write {}", named.display());
    let path = &resolve_links(named).with_context(context)?;
    let there = path.metadata().ok();
    if let Some(there) = &there {
        let ours = path.canonicalize().with_context(context)?;
        let mut given = inputs.iter().filter_map(|input| input.canonicalize().ok());
        if given.any(|input| input == ours) || is_stdin(there) {
            anyhow::bail!(
                "{} is an input as well: the output would overwrite it",
                named.display()
            );
        }
        if !there.is_file() {
            let file = open_stream(path).with_context(context)?;
            return Ok(OutputTarget::Stream(file, named.to_owned()));
        }
    }
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // The new file has the mode of the old one, so that no other user can read it.
    let mode = there.map(|there| there.permissions());
    let mut builder = tempfile::Builder::new();
    let permissions = system::permissions(mode.as_ref().map_or(0o666, |_| 0o600));
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    let file = builder
        .prefix(".wiretool-")
        .tempfile_in(folder)
        .map_err(without_path)
        .with_context(context)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode).with_context(context)?;
    }
    Ok(OutputTarget::File(file, path.clone()))
}

/// Returns an error without the name of the temporary file.
fn without_path(error: std::io::Error) -> std::io::Error {
    let inner = error.get_ref().and_then(std::error::Error::source);
    let code = inner.and_then(|inner| inner.downcast_ref::<std::io::Error>()?.raw_os_error());
    code.map_or(error, std::io::Error::from_raw_os_error)
}

/// Returns the target of symbolic links: the target is written, and the link stays.
fn resolve_links(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(to) = std::fs::read_link(&path) else {
            return Ok(path);
        };
        path = path.parent().unwrap_or(Path::new("")).join(to);
    }
    Err(std::io::Error::other("too many links"))
}

/// Returns true if stdin reads this file.
fn is_stdin(there: &Metadata) -> bool {
    let stdin = as_file(std::io::stdin()).and_then(|file| file.metadata());
    there.is_file() && stdin.is_ok_and(|stdin| system::is_same(&stdin, there))
}

/// Returns an object without its null members, as in the lines of decode.
pub fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

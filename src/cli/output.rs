//! Where output goes: stdout, or a file that is there whole or not at all.

use crate::render::style::escape_json;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Written out when so much is waiting. Larger writes gain nothing on files and lose on pipes.
const FULL: usize = 128 << 10;

/// How often it is looked whether a named pipe has a reader, which may be started at the same time, and how long between.
const LOOKS: u32 = 100;
const LOOK: Duration = Duration::from_millis(10);

/// Links that are followed from one to the next.
const LINKS: usize = 40;

/// Nobody reads stdout any more, which is everybody's right; another output that is gone is trouble.
#[derive(Debug)]
pub struct Unread;

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nobody reads stdout any more")
    }
}

impl std::error::Error for Unread {}

/// Output, gathered into large writes; [`Output::flush`] when there is time.
pub struct Output {
    waiting: Vec<u8>,
    target: Target,
    /// It is JSON, in which active characters are escaped.
    pub is_json: bool,
    /// Most likely the one that shows how far reading has come.
    terminal: bool,
}

enum Target {
    Stdout(File),
    /// A device or a pipe that was named.
    Stream(File, PathBuf),
    File(tempfile::NamedTempFile, PathBuf),
}

impl Output {
    /// Stdout, or the file that was asked for; none of `inputs` may be it.
    pub fn open(path: Option<&Path>, inputs: &[PathBuf]) -> Result<Self> {
        let target = match path.filter(|path| *path != Path::new("-")) {
            None => Target::Stdout(stdout()?),
            Some(path) => file(path, inputs)?,
        };
        let terminal = match &target {
            Target::Stdout(file) | Target::Stream(file, _) => file.is_terminal(),
            Target::File(..) => false,
        };
        Ok(Self {
            waiting: Vec::with_capacity(FULL + (FULL >> 1)),
            target,
            is_json: false,
            terminal,
        })
    }

    /// Room to write into; [`Output::written`] afterwards.
    pub fn room(&mut self) -> &mut Vec<u8> {
        &mut self.waiting
    }

    /// Writes by a function that may be given more room while it writes.
    pub fn pass(
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

    /// Something was written: much of it goes out at once.
    pub fn written(&mut self) -> Result<()> {
        if self.waiting.len() >= FULL {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Everything that waits goes out now.
    pub fn flush(&mut self) -> Result<()> {
        let (file, name, is_stdout) = match &mut self.target {
            Target::Stdout(file) => (file, Path::new("stdout"), true),
            Target::Stream(file, path) => (file, path.as_path(), false),
            Target::File(file, path) => (file.as_file_mut(), path.as_path(), false),
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
            Err(e) if is_stdout && e.kind() == ErrorKind::BrokenPipe => Err(Unread.into()),
            written => written.with_context(|| format!("cannot write to {}", name.display())),
        }
    }

    /// Whether stdout is a pipe that nobody reads any more; found out without writing to it.
    pub fn reader_is_gone(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let Target::Stdout(file) = &self.target else {
            return false;
        };
        let mut fds = [PollFd::new(file, PollFlags::empty())];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let polled = poll(&mut fds, Some(&now));
        polled.is_ok() && fds.iter().any(|fd| fd.revents().contains(PollFlags::ERR))
    }

    /// What was written is not all: it goes out, but takes the place of no file that is there.
    pub fn interrupted(self) -> Result<()> {
        match &self.target {
            Target::File(_, path) if path.exists() => {
                let name = path.display();
                super::complain(&format!("interrupted: {name} is left as it was"));
                Ok(())
            }
            _ => self.finish(),
        }
    }

    /// Everything goes out, and a file takes its place.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        if let Target::File(file, path) = self.target {
            file.persist(&path)
                .map_err(|e| e.error)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

/// A device or a named pipe, to be written to as it is.
pub fn stream(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    use std::os::unix::fs::OpenOptionsExt as _;
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let mut options = File::options();
    // Without this, opening a pipe waits for its reader, and no signal ends that.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options
        .append(true)
        .custom_flags(flags.bits().cast_signed());
    let mut looks = 0..LOOKS;
    let file = loop {
        match options.open(path) {
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                if looks.next().is_none() {
                    let text = "no process reads it: start its reader first";
                    return Err(std::io::Error::new(ErrorKind::NotConnected, text));
                }
                std::thread::sleep(LOOK);
            }
            file => break file?,
        }
    };
    let flags = fcntl_getfl(&file)? - OFlags::NONBLOCK;
    fcntl_setfl(&file, flags)?;
    Ok(file)
}

/// Stdout without the line buffer that the standard library puts before it.
pub fn stdout() -> Result<File> {
    super::closed::ensure_open()?;
    let fd = std::io::stdout()
        .as_fd()
        .try_clone_to_owned()
        .context("cannot write to stdout")?;
    // A pipe that holds more makes for fewer switches to its reader; where that is not allowed, it works as it is.
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&fd, 1 << 20);
    Ok(File::from(fd))
}

fn file(asked: &Path, inputs: &[PathBuf]) -> Result<Target> {
    let context = || format!("cannot write {}", asked.display());
    let path = &followed(asked).with_context(context)?;
    let there = path.metadata().ok();
    if let Some(there) = &there {
        let ours = path.canonicalize().with_context(context)?;
        let mut named = inputs.iter().filter_map(|input| input.canonicalize().ok());
        if named.any(|input| input == ours) || is_stdin(there) {
            anyhow::bail!(
                "{} is an input as well: the output would overwrite it",
                asked.display()
            );
        }
        if !there.is_file() {
            let file = stream(path).with_context(context)?;
            return Ok(Target::Stream(file, asked.to_owned()));
        }
    }
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // Whoever may not read the file that is there may not read what is to stand in its place.
    let mode = there.map(|there| there.permissions());
    let file = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(
            mode.as_ref().map_or(0o666, |_| 0o600),
        ))
        .prefix(".wiretool-")
        .tempfile_in(folder)
        .with_context(context)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode).with_context(context)?;
    }
    Ok(Target::File(file, path.clone()))
}

/// What a link leads to: that is written, and the link stays.
fn followed(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(to) = std::fs::read_link(&path) else {
            return Ok(path);
        };
        path = path.parent().unwrap_or(Path::new("")).join(to);
    }
    Err(std::io::Error::other("too many links"))
}

/// Whether stdin was opened on this file.
fn is_stdin(there: &Metadata) -> bool {
    let stdin = std::io::stdin().as_fd().try_clone_to_owned();
    let stdin = stdin.and_then(|fd| File::from(fd).metadata());
    there.is_file() && stdin.is_ok_and(|s| (s.dev(), s.ino()) == (there.dev(), there.ino()))
}

/// An object for programs: what is not known is left out, as in decode's lines.
pub fn present(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, present(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(present).collect(),
        other => other,
    }
}

//! Windows: files, sockets and terminals; no programs, no Unix sockets, and no modes of files.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs::{FileExt as _, MetadataExt as _};
pub use std::os::windows::io::{AsHandle as AsFile, OwnedHandle as OwnedFile};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// Events of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollFlags(u8);

impl PollFlags {
    pub const IN: Self = Self(1);
    pub const OUT: Self = Self(2);
    pub const ERR: Self = Self(4);
    pub const HUP: Self = Self(8);
    pub const NVAL: Self = Self(16);

    pub const fn empty() -> Self {
        Self(0)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl std::ops::BitOr for PollFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(i32);

impl Signal {
    pub const INT: Self = Self(2);
    pub const KILL: Self = Self(9);
    pub const TERM: Self = Self(15);

    pub const fn as_raw(self) -> i32 {
        self.0
    }
}

/// Files cannot be waited for: reading and writing block.
pub fn poll(
    _file: &impl AsFile,
    events: PollFlags,
    _within: Option<Duration>,
) -> io::Result<PollFlags> {
    Ok(events)
}

/// Returns a standard stream as a file, without the buffer of the standard library.
pub fn as_file(standard: &impl AsFile) -> io::Result<File> {
    standard.as_handle().try_clone_to_owned().map(File::from)
}

/// The number of bytes in a pipe is not known.
pub fn unread(_file: &File) -> u64 {
    0
}

/// Opens a device or a named pipe for writing.
pub fn open_stream(path: &Path) -> io::Result<Option<File>> {
    File::options().append(true).open(path).map(Some)
}

pub fn enlarge_pipe(_file: &File) {}

/// Rust's runtime has no standard stream in place of one that is closed: a write fails.
pub fn is_stdout_closed() -> bool {
    false
}

/// A file that can be read and written, and holds nothing.
pub fn open_null() -> io::Result<File> {
    File::options().read(true).write(true).open("NUL")
}

/// Opens the terminal of the process.
pub fn open_terminal() -> io::Result<File> {
    File::options().read(true).write(true).open("CONOUT$")
}

/// Streams cannot be replaced: they stay open until the end of the process.
pub fn replace_stdin(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Streams cannot be replaced: they stay open until the end of the process.
pub fn replace_stdout(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Returns both ends of a new pipe: for reading, for writing.
pub fn pipe() -> io::Result<(File, OwnedFile)> {
    let (read, write) = io::pipe()?;
    Ok((file_of(read), write.into()))
}

/// Returns a pipe's end as a file.
pub fn file_of(pipe: impl Into<OwnedFile>) -> File {
    let pipe: OwnedFile = pipe.into();
    pipe.into()
}

/// The number of columns is in `COLUMNS` only.
pub fn columns() -> Option<usize> {
    None
}

/// The folder of the user is private already.
pub fn make_private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Files have no modes.
pub fn with_mode(options: &mut OpenOptions, _mode: u32) -> &mut OpenOptions {
    options
}

/// The folder of the user is private already.
pub fn make_private_folder(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

/// Files have no modes.
pub fn permissions(_mode: u32) -> Option<Permissions> {
    None
}

/// Files have no numbers that a program can compare.
pub fn is_same(_one: &Metadata, _other: &Metadata) -> bool {
    false
}

/// Returns the time of the last change of a file, in nanoseconds since 1970.
pub fn changed(file: &Metadata) -> i64 {
    /// 1970, in units of 100 ns since 1601.
    const START: u64 = 116_444_736_000_000_000;
    let since = file.last_write_time().saturating_sub(START);
    i64::try_from(since).map_or(i64::MAX, |since| since.saturating_mul(100))
}

/// Returns true for a socket.
pub fn is_socket(_kind: FileType) -> bool {
    false
}

/// Returns true if stdin is a file or a pipe.
pub fn has_input(stdin: &File) -> bool {
    !io::IsTerminal::is_terminal(stdin)
}

/// Reads at an offset.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

/// Returns the bytes of a name.
pub fn bytes_of(name: &OsStr) -> std::borrow::Cow<'_, [u8]> {
    name.as_encoded_bytes().into()
}

/// Returns a name with these bytes, which are those of another name.
pub fn name_of(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Processes end without signals.
pub fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}

pub fn lead_group(command: &mut Command) -> &mut Command {
    command
}

/// Processes receive no signals.
pub fn kill(_pid: u32, _signal: Signal) {}

/// Processes receive no signals.
pub fn kill_group(_pid: u32, _signal: Signal) {}

pub fn is_in_foreground() -> bool {
    true
}

pub fn raise_file_limit() {}

pub fn lower_priority(_by: i32) {}

/// The name of this host is not known without the environment.
pub fn host_name() -> String {
    String::new()
}

/// The number of the parent process is not known.
pub fn parent() -> i32 {
    0
}

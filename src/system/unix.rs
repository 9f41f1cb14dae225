//! Linux and macOS.

pub use rustix::event::PollFlags;
use rustix::event::{PollFd, Timespec};
use rustix::io::Errno;
use rustix::process::Pid;
pub use rustix::process::Signal;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::fd::OwnedFd;
pub use std::os::fd::{AsFd as AsFile, OwnedFd as OwnedFile};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _,
    PermissionsExt as _,
};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// Waits for events of a file or pipe, and returns them, errors included; none after this time or a signal.
pub fn poll(
    file: &impl AsFile,
    events: PollFlags,
    within: Option<Duration>,
) -> io::Result<PollFlags> {
    let mut fds = [PollFd::new(file, events)];
    let timeout = within.map(|within| Timespec {
        tv_sec: within.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: within.subsec_nanos().into(),
    });
    match rustix::event::poll(&mut fds, timeout.as_ref()) {
        Ok(_) => {
            let [fd] = &fds;
            Ok(fd.revents())
        }
        Err(Errno::INTR) => Ok(PollFlags::empty()),
        Err(error) => Err(error.into()),
    }
}

/// Returns a standard stream as a file, without the buffer of the standard library.
pub fn as_file(standard: &impl AsFile) -> io::Result<File> {
    standard.as_fd().try_clone_to_owned().map(File::from)
}

/// Returns the number of bytes in a pipe that are not read yet.
pub fn unread(file: &File) -> u64 {
    rustix::io::ioctl_fionread(file).unwrap_or_default()
}

/// Opens a device or a named pipe for writing without a wait for its reader; `None`: nobody reads it yet.
pub fn open_stream(path: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let mut options = File::options();
    // Without this, opening a pipe waits for its reader, and no signal ends the wait.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options
        .append(true)
        .custom_flags(flags.bits().cast_signed());
    let file = match options.open(path) {
        Err(e) if e.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => return Ok(None),
        file => file?,
    };
    let flags = fcntl_getfl(&file)? - OFlags::NONBLOCK;
    fcntl_setfl(&file, flags)?;
    Ok(Some(file))
}

/// A larger pipe needs fewer switches to its reader; an error is ignored.
pub fn enlarge_pipe(file: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(file, 1 << 20);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// Returns true if stdout was closed before the start; it uses only system calls.
pub fn is_stdout_closed() -> bool {
    rustix::io::fcntl_getfd(rustix::stdio::stdout()) == Err(Errno::BADF)
}

/// A file that can be read and written, and holds nothing.
pub fn open_null() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/null")
}

/// Opens the terminal of the process.
pub fn open_terminal() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
}

/// Puts a file in place of stdin.
pub fn replace_stdin(file: &File) -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(file)?)
}

/// Puts a file in place of stdout.
pub fn replace_stdout(file: &File) -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdout(file)?)
}

/// Returns both ends of a new pipe: for reading, for writing.
pub fn pipe() -> io::Result<(File, OwnedFile)> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    Ok((File::from(read), write))
}

/// Returns a pipe's end as a file.
pub fn file_of(pipe: impl Into<OwnedFd>) -> File {
    let pipe: OwnedFd = pipe.into();
    pipe.into()
}

/// Returns the number of columns of a terminal.
pub fn columns() -> Option<usize> {
    use rustix::termios::tcgetwinsize;
    let sizes = [
        tcgetwinsize(io::stdout()),
        tcgetwinsize(io::stderr()),
        tcgetwinsize(io::stdin()),
    ];
    let widths = sizes.into_iter().flatten().map(|size| size.ws_col);
    widths.map(usize::from).find(|width| *width > 0)
}

/// A new file is readable by the user only.
pub fn make_private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// New files have this mode, so far as the system has modes.
pub fn with_mode(options: &mut OpenOptions, mode: u32) -> &mut OpenOptions {
    options.mode(mode)
}

/// A new folder is for the user only.
pub fn make_private_folder(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder.mode(0o700)
}

/// Returns the permissions of a mode.
#[allow(clippy::unnecessary_wraps)] // Windows has none
pub fn permissions(mode: u32) -> Option<Permissions> {
    Some(Permissions::from_mode(mode))
}

/// Returns true if both are the same file.
pub fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Returns the time of the last change of a file, in nanoseconds since 1970.
pub fn changed(file: &Metadata) -> i64 {
    let seconds = file.mtime().saturating_mul(1_000_000_000);
    seconds.saturating_add(file.mtime_nsec())
}

/// Returns true for a socket.
pub fn is_socket(kind: FileType) -> bool {
    kind.is_socket()
}

/// Returns true if stdin is a file, a pipe or a socket; not if it is a terminal or `/dev/null`.
pub fn has_input(stdin: &File) -> bool {
    let kind = stdin.metadata().map(|found| found.file_type());
    kind.is_ok_and(|kind| !kind.is_char_device())
}

/// Reads at an offset.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// Returns the bytes of a name.
pub fn bytes_of(name: &OsStr) -> std::borrow::Cow<'_, [u8]> {
    name.as_bytes().into()
}

/// Returns a name with these bytes.
pub fn name_of(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// Returns the signal that ended a process.
pub fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// The process leads a group of its own, so that those that it starts can be ended with it.
pub fn lead_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Sends a signal to a process; an error is ignored.
pub fn kill(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Sends a signal to a group of processes; an error is ignored.
pub fn kill_group(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}

/// Returns true if this process is in the foreground of its terminal.
pub fn is_in_foreground() -> bool {
    let group = || {
        let terminal = File::open("/dev/tty").ok()?;
        rustix::termios::tcgetpgrp(&terminal).ok()
    };
    group() == Some(rustix::process::getpgrp())
}

/// Raises the limit of open files to its maximum.
pub fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let _ = setrlimit(Resource::Nofile, all);
}

/// This thread yields to others by this much. Elsewhere the whole process would.
pub fn lower_priority(by: i32) {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(by);
    #[cfg(not(target_os = "linux"))]
    let _ = by;
}

/// The name of this host.
pub fn host_name() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

/// The number of the parent process.
pub fn parent() -> i32 {
    rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get())
}

//! The stdin, stdout and stderr that are forwarded to a child and from it.

use crate::cli::output::as_file;
use crate::transport::Wrap;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::OwnedFd;

/// Takes stdin, stdout and stderr of the process; when they are dropped, the first two are closed.
pub fn take_stdio() -> io::Result<Wrap> {
    let ours = Wrap {
        stdin: as_file(io::stdin())?,
        stdout: as_file(io::stdout())?,
        stderr: as_file(io::stderr())?,
    };
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(ours)
}

/// Returns what is forwarded to a child and from it. The terminal is for the screen: instead, the child gets a stdin
/// that stays open and silent while the second value lives, and its output shows on the screen only.
pub fn take_stdio_beside_screen() -> io::Result<(Wrap, Option<OwnedFd>)> {
    let null = || File::options().read(true).write(true).open("/dev/null");
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let mut silent = None;
    let stdin = if stdin.is_terminal() {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        silent = Some(write);
        File::from(read)
    } else {
        let file = as_file(stdin)?;
        rustix::stdio::dup2_stdin(null()?)?;
        file
    };
    let stdout = if stdout.is_terminal() {
        null()?
    } else {
        let file = as_file(stdout)?;
        rustix::stdio::dup2_stdout(null()?)?;
        file
    };
    let stderr = if stderr.is_terminal() {
        null()?
    } else {
        as_file(stderr)?
    };
    let wrap = Wrap {
        stdin,
        stdout,
        stderr,
    };
    Ok((wrap, silent))
}

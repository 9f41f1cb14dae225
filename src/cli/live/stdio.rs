//! The stdin, stdout and stderr that are forwarded to a child and from it.

use crate::cli::output::as_file;
use crate::system::{self, OwnedFile};
use crate::transport::Wrap;
use std::io::{self, IsTerminal as _};

/// Takes stdin, stdout and stderr of the process; when they are dropped, the first two are closed.
pub fn take_stdio() -> io::Result<Wrap> {
    let ours = Wrap {
        stdin: as_file(io::stdin())?,
        stdout: as_file(io::stdout())?,
        stderr: as_file(io::stderr())?,
    };
    let nothing = system::open_null()?;
    system::replace_stdin(&nothing)?;
    system::replace_stdout(&nothing)?;
    Ok(ours)
}

/// Returns what is forwarded to a child and from it. The terminal is for the screen: instead, the child gets a stdin
/// that stays open and silent while the second value lives, and its output shows on the screen only.
pub fn take_stdio_beside_screen() -> io::Result<(Wrap, Option<OwnedFile>)> {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let mut silent = None;
    let stdin = if stdin.is_terminal() {
        let (read, write) = system::pipe()?;
        silent = Some(write);
        read
    } else {
        let file = as_file(stdin)?;
        system::replace_stdin(&system::open_null()?)?;
        file
    };
    let stdout = if stdout.is_terminal() {
        system::open_null()?
    } else {
        let file = as_file(stdout)?;
        system::replace_stdout(&system::open_null()?)?;
        file
    };
    let stderr = if stderr.is_terminal() {
        system::open_null()?
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

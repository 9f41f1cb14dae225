//! A child, started with pipes, and whoever started us, on our own stdin, stdout and stderr.
//!
//! What reaches us goes to the child and what it says goes on: bytes, ends, signals, and at last its status.

use super::faults::Faults;
use super::listen::runtime;
use super::recorder::{Recorder, Say, Seen, Setup};
use super::signals::{Signals, from_terminal, is_stop};
use super::stdio_pump::{Forwarding, StdioPump};
use crate::capture::{EventRecord, Stream, What};
use crate::conversation::guard::Quarantine;
use crate::conversation::tap::event;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The one connection there is.
pub(super) const CONN: u32 = 1;
/// Between looks whether the pipes of a child that has ended are closed: at first, and at most.
const LOOK: Duration = Duration::from_micros(250);
const LONG_LOOK: Duration = Duration::from_millis(20);
/// Looks that find nothing in a pipe that another process keeps open, before it is left.
const LOOKS: u32 = 5;

/// What to run, and how.
pub struct Child {
    /// The command and its arguments.
    pub argv: Vec<OsString>,
    /// Read the child's stderr however slowly ours is read.
    pub drain_stderr: bool,
    /// Moves lines of the child's stdout that are no lines of the protocol to our stderr.
    pub quarantine: Option<Quarantine>,
    /// What goes wrong on purpose.
    pub faults: Option<Faults>,
    /// How long other processes may keep its stdout and stderr open after it has ended; without a limit where there is none.
    pub held: Option<Duration>,
}

/// Our side of it: whoever started us is at the other end.
pub struct Wrap {
    /// Goes to the child's stdin.
    pub stdin: File,
    /// Gets the child's stdout.
    pub stdout: File,
    /// Gets the child's stderr.
    pub stderr: File,
}

/// How it ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// What was seen.
    pub seen: Seen,
    /// How the child ended.
    pub status: ExitStatus,
}

/// Runs a child until it ends.
///
/// The thread that reads `stdin` is left behind where that does not end: it ends with the process.
///
/// # Errors
///
/// The command cannot be run; or there are no pipes or threads to be had.
pub fn wrap(child: Child, ours: Wrap, setup: Setup) -> io::Result<Ended> {
    let runtime = runtime()?;
    let say = Arc::clone(&setup.say);
    let (recorder, status) = runtime.block_on(run(child, ours, setup, &say))?;
    recorder.queue.close();
    let seen = recorder.join(&say);
    Ok(Ended { seen, status })
}

async fn run(
    child: Child,
    ours: Wrap,
    setup: Setup,
    say: &Say,
) -> io::Result<(Arc<Recorder>, ExitStatus)> {
    // Before there is a child: a signal that came in between would leave it alone.
    let mut signals = Signals::ending()?;
    // What cannot be run is recorded, too: as a connection that there never was.
    let recorder = Recorder::new(setup);
    let started = Running::start(&child.argv, false).inspect_err(|error| {
        let queue = &recorder.queue;
        queue.event(CONN, event(What::Open, queue.now(), CONN));
        let mut refused = event(What::Close, queue.now(), CONN);
        refused
            .more
            .insert("error".into(), error.to_string().into());
        queue.event(CONN, refused);
        queue.close();
        recorder.end();
    });
    let Running {
        child: mut running,
        stdin: to_child,
        stdout: from_child,
        stderr: errors,
    } = started?;
    let queue = &recorder.queue;
    let mut opened = event(What::Open, queue.now(), CONN);
    if let Some(pid) = running.id() {
        opened.more.insert("pid".into(), pid.into());
    }
    queue.event(CONN, opened);
    let faults = child.faults.map(Arc::new);
    if let Some(faults) = &faults {
        faults.announce(queue);
    }
    let stdout = match child.quarantine {
        Some(quarantine) => Forwarding::Quarantine(Box::new(quarantine), ours.stderr.try_clone()?),
        None => Forwarding::Plain,
    };
    let stderr = if child.drain_stderr {
        Forwarding::Drain
    } else {
        Forwarding::Plain
    };
    let up = StdioPump::new(
        (CONN, Stream::C2s),
        ours.stdin,
        to_child,
        Forwarding::Plain,
        &recorder,
        faults.as_ref(),
    );
    let down = StdioPump::new(
        (CONN, Stream::S2c),
        from_child,
        ours.stdout,
        stdout,
        &recorder,
        faults.as_ref(),
    );
    let errors = StdioPump::new(
        (CONN, Stream::Stderr),
        errors,
        ours.stderr,
        stderr,
        &recorder,
        None,
    );
    let pumps = [up, Arc::clone(&down), Arc::clone(&errors)];
    for pump in &pumps {
        pump.spawn()?;
    }
    recorder.watch(move || {
        for pump in &pumps {
            // Without another thread it waits for the one it has.
            let _ = pump.spawn();
        }
    })?;
    let mut held = child.held;
    let status = loop {
        tokio::select! {
            biased;
            status = running.wait() => break status?,
            signal = signals.next() => {
                // Who wants an end does not wait for others.
                if is_stop(signal) {
                    held = Some(Duration::ZERO);
                }
                let child = running.id().and_then(|id| i32::try_from(id).ok());
                let child = child.and_then(rustix::process::Pid::from_raw);
                if let Some(child) = child.filter(|_| !from_terminal(signal)) {
                    let _ = rustix::process::kill_process(child, signal);
                }
            }
        }
    };
    let mut exit = exited(status, queue.now(), CONN);
    // What it said last is in its pipes, and processes that it has started may still write to them.
    let mut until = held.map(|held| Instant::now() + held);
    let (mut look, mut idle) = (LOOK, 0);
    while idle < LOOKS && !(down.is_over() && errors.is_over()) {
        let is_late = until.is_some_and(|until| Instant::now() >= until);
        let is_idle = is_late && down.is_idle() && errors.is_idle();
        idle = if is_idle { idle + 1 } else { 0 };
        tokio::select! {
            biased;
            _ = signals.next() => until = Some(Instant::now()),
            () = tokio::time::sleep(look) => {}
        }
        look = LONG_LOOK.min(look * 2);
    }
    for (pump, name) in [(&down, "stdout"), (&errors, "stderr")] {
        if pump.leave() {
            say(&format!(
                "the child has ended, and another process keeps its {name} open: what that writes from now on is lost"
            ));
        }
    }
    exit.t = queue.now();
    queue.event(CONN, exit);
    Ok((recorder, status))
}

/// A child, and our ends of its pipes.
pub(super) struct Running {
    pub(super) child: tokio::process::Child,
    pub(super) stdin: File,
    pub(super) stdout: File,
    pub(super) stderr: File,
}

impl Running {
    /// Starts it; `ours` is killed when nobody waits for it any more, and leads a group of processes, so that those which
    /// it has started can be killed with it.
    ///
    /// One that is only wrapped stays in the group of whoever started us: keys, stops and signals to that group reach it as
    /// they would without us, it can ask the terminal for a password, and it is gone when its executor kills the group.
    pub(super) fn start(argv: &[OsString], ours: bool) -> io::Result<Self> {
        let (child_in, stdin) = io::pipe()?;
        let (stdout, child_out) = io::pipe()?;
        let (stderr, child_err) = io::pipe()?;
        let [program, arguments @ ..] = argv else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command"));
        };
        let child = {
            let mut command = tokio::process::Command::new(program);
            command
                .args(arguments)
                .stdin(child_in)
                .stdout(child_out)
                .stderr(child_err)
                .kill_on_drop(ours);
            if ours {
                command.process_group(0);
            }
            // The command holds the child's ends of the pipes, and lets them go here.
            command.spawn()?
        };
        Ok(Self {
            child,
            stdin: OwnedFd::from(stdin).into(),
            stdout: OwnedFd::from(stdout).into(),
            stderr: OwnedFd::from(stderr).into(),
        })
    }
}

/// The event of a child's end.
pub(super) fn exited(status: ExitStatus, t: i64, conn: u32) -> EventRecord {
    let mut exit = event(What::Exit, t, conn);
    match (status.code(), status.signal()) {
        (Some(code), _) => exit.more.insert("code".into(), code.into()),
        (None, signal) => exit.more.insert("signal".into(), signal.into()),
    };
    exit
}

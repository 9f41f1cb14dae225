//! The wrap mode: a child with pipes, between the parent process and the child.
//!
//! Passes on bytes, ends, signals and the exit status.

use super::faults::Faults;
use super::listen::runtime;
use super::recorder::{MessagePrinter, Recorder, RecordingSummary, Setup};
use super::signals::{Signals, from_terminal, is_stop};
use super::stdio_pump::{Forwarding, StdioPump};
use crate::capture::{ChunkSource, EventKind, EventRecord};
use crate::conversation::guard::Quarantine;
use crate::system;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::process::Child;

/// The number of the only connection.
pub(super) const CONN: u32 = 1;
/// First and longest interval at which the pipes of a child that has exited are examined.
const POLL_INTERVAL: Duration = Duration::from_micros(250);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Number of examinations without data after which a pipe that another process holds open is left.
const MAX_IDLE_POLLS: u32 = 5;
/// Time limit for other processes that hold stdout or stderr open after a stop signal: they get it a moment after the child.
const HELD_AFTER_STOP: Duration = Duration::from_millis(300);

/// A program to start.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The command and its arguments.
    pub argv: Vec<OsString>,
    /// Variables that are added to its environment.
    pub env: Vec<(String, String)>,
    /// Its working directory, if it is not ours.
    pub folder: Option<PathBuf>,
}

impl From<Vec<OsString>> for Program {
    fn from(argv: Vec<OsString>) -> Self {
        Self {
            argv,
            ..Self::default()
        }
    }
}

/// The child to run.
pub struct ChildCommand {
    /// Its program.
    pub program: Program,
    /// Read the stderr of the child at full speed, even if ours is read slowly.
    pub drain_stderr: bool,
    /// Moves foreign lines of the child's stdout to our stderr.
    pub quarantine: Option<Quarantine>,
    /// The faults to inject.
    pub faults: Option<Faults>,
    /// Time limit for other processes that hold stdout or stderr open after the child has exited. `None`: no limit.
    pub held: Option<Duration>,
}

/// Our files, which lead to the parent process.
pub struct Wrap {
    /// Is forwarded to the stdin of the child.
    pub stdin: File,
    /// Receives the stdout of the child.
    pub stdout: File,
    /// Receives the stderr of the child.
    pub stderr: File,
}

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub struct ChildExit {
    /// Statistics of the traffic.
    pub seen: RecordingSummary,
    /// The exit status of the child.
    pub status: ExitStatus,
}

/// Runs a child until it exits.
///
/// If `stdin` does not end, the thread that reads it stays until the process exits.
///
/// # Errors
///
/// Fails if the command cannot be run, or if pipes or threads are not available.
pub fn wrap(child: ChildCommand, ours: Wrap, setup: Setup) -> io::Result<ChildExit> {
    let runtime = runtime()?;
    let print = Arc::clone(&setup.print);
    let (recorder, status) = runtime.block_on(run(child, ours, setup, &print))?;
    recorder.queue.close();
    let seen = recorder.join(&print);
    Ok(ChildExit { seen, status })
}

async fn run(
    child: ChildCommand,
    ours: Wrap,
    setup: Setup,
    print: &MessagePrinter,
) -> io::Result<(Arc<Recorder>, ExitStatus)> {
    // Registered before the child starts: a signal between the two would orphan the child.
    let mut signals = Signals::ending()?;
    // A command that cannot be run is recorded as a connection that was refused.
    let recorder = Recorder::new(setup);
    let started = RunningChild::start(&child.program, false);
    let started = started.inspect_err(|error| record_refusal(error, &recorder));
    let RunningChild {
        child: mut running,
        stdin: to_child,
        stdout: from_child,
        stderr: errors,
    } = started?;
    let queue = &recorder.queue;
    let mut opened = EventRecord::new(EventKind::Open, queue.now(), CONN);
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
        (CONN, ChunkSource::C2s),
        ours.stdin,
        to_child,
        Forwarding::Plain,
        &recorder,
        faults.as_ref(),
    );
    let down = StdioPump::new(
        (CONN, ChunkSource::S2c),
        from_child,
        ours.stdout,
        stdout,
        &recorder,
        faults.as_ref(),
    );
    let errors = StdioPump::new(
        (CONN, ChunkSource::Stderr),
        errors,
        ours.stderr,
        stderr,
        &recorder,
        None,
    );
    start_pumps([up, Arc::clone(&down), Arc::clone(&errors)], &recorder)?;
    let mut held = child.held;
    let status = wait_for_exit(&mut running, &mut signals, &mut held).await?;
    let mut exit = exit_event(status, queue.now(), CONN);
    wait_for_output([&down, &errors], held, &mut signals).await;
    leave_open_streams([(&down, "stdout"), (&errors, "stderr")], &mut exit, print);
    exit.t = queue.now();
    queue.event(CONN, exit);
    Ok((recorder, status))
}

/// Records a command that could not be run.
fn record_refusal(error: &io::Error, recorder: &Recorder) {
    let queue = &recorder.queue;
    queue.event(CONN, EventRecord::new(EventKind::Open, queue.now(), CONN));
    let mut refused = EventRecord::new(EventKind::Close, queue.now(), CONN);
    let text = error.to_string();
    refused.more.insert("error".into(), text.into());
    queue.event(CONN, refused);
    queue.close();
    recorder.end();
}

/// Starts the threads of the pumps. A pump whose thread is blocked while it helps the recorder gets another one.
fn start_pumps(pumps: [Arc<StdioPump>; 3], recorder: &Arc<Recorder>) -> io::Result<()> {
    for pump in &pumps {
        pump.spawn()?;
    }
    recorder.watch_pumps(move || {
        for pump in &pumps {
            // If no thread can be started, the pump waits for its own thread.
            let _ = pump.spawn();
        }
    })
}

/// Waits for the exit of the child, and passes signals on to it. After a stop signal `held` is short: other processes end, too,
/// or are not waited for.
async fn wait_for_exit(
    running: &mut Child,
    signals: &mut Signals,
    held: &mut Option<Duration>,
) -> io::Result<ExitStatus> {
    loop {
        tokio::select! {
            biased;
            status = running.wait() => return status,
            signal = signals.next() => {
                if is_stop(signal) {
                    *held = Some(held.map_or(HELD_AFTER_STOP, |held| held.min(HELD_AFTER_STOP)));
                }
                if let Some(child) = running.id().filter(|_| !from_terminal(signal)) {
                    system::kill(child, signal);
                }
            }
        }
    }
}

/// Waits for the last output: it is in the pipes, and processes that the child started may still write to them, which is
/// waited for during `held` or until a signal.
async fn wait_for_output(
    pumps: [&Arc<StdioPump>; 2],
    held: Option<Duration>,
    signals: &mut Signals,
) {
    let mut until = held.map(|held| Instant::now() + held);
    let (mut poll_interval, mut idle) = (POLL_INTERVAL, 0);
    while idle < MAX_IDLE_POLLS && !pumps.iter().all(|pump| pump.is_finished()) {
        let is_late = until.is_some_and(|until| Instant::now() >= until);
        let is_idle = is_late && pumps.iter().all(|pump| pump.is_idle());
        idle = if is_idle { idle + 1 } else { 0 };
        tokio::select! {
            biased;
            _ = signals.next() => until = Some(Instant::now()),
            () = tokio::time::sleep(poll_interval) => {}
        }
        poll_interval = MAX_POLL_INTERVAL.min(poll_interval * 2);
    }
}

/// Stops waiting for streams that another process keeps open, and adds them to the exit.
fn leave_open_streams(
    pumps: [(&Arc<StdioPump>, &str); 2],
    exit: &mut EventRecord,
    print: &MessagePrinter,
) {
    let mut open = Vec::new();
    for (pump, name) in pumps {
        if pump.stop_waiting() {
            open.push(name);
            print(&format!(
                "the child has ended, but another process keeps its {name} open: further output is lost"
            ));
        }
    }
    if !open.is_empty() {
        exit.more.insert("open".into(), open.into());
    }
}

/// A child and our ends of its pipes.
pub(super) struct RunningChild {
    pub(super) child: tokio::process::Child,
    pub(super) stdin: File,
    pub(super) stdout: File,
    pub(super) stderr: File,
}

impl RunningChild {
    /// Starts a child. With `ours`, the child is killed when wiretool stops waiting for it, and leads a process group, so
    /// that the processes that it started can be killed with it.
    ///
    /// A wrapped child stays in the process group of the parent: keys and signals to that group reach it directly, it
    /// can ask the terminal for a password, and it ends when the executor kills the group.
    pub(super) fn start(program: &Program, ours: bool) -> io::Result<Self> {
        #[cfg(windows)]
        system::unsupported::<()>("starts no programs")?;
        let (child_in, stdin) = io::pipe()?;
        let (stdout, child_out) = io::pipe()?;
        let (stderr, child_err) = io::pipe()?;
        let [name, arguments @ ..] = program.argv.as_slice() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command"));
        };
        let child = {
            let mut command = tokio::process::Command::new(name);
            if let Some(folder) = &program.folder {
                command.current_dir(folder);
            }
            command
                .args(arguments)
                .envs(program.env.iter().map(|(name, value)| (name, value)))
                .stdin(child_in)
                .stdout(child_out)
                .stderr(child_err)
                .kill_on_drop(ours);
            if ours {
                system::lead_group(command.as_std_mut());
            }
            // Drops the child's ends of the pipes.
            command.spawn()?
        };
        Ok(Self {
            child,
            stdin: system::file_of(stdin),
            stdout: system::file_of(stdout),
            stderr: system::file_of(stderr),
        })
    }
}

/// The event of the exit of a child.
pub(super) fn exit_event(status: ExitStatus, t: i64, conn: u32) -> EventRecord {
    let mut exit = EventRecord::new(EventKind::Exit, t, conn);
    match (status.code(), system::signal_of(status)) {
        (Some(code), _) => exit.more.insert("code".into(), code.into()),
        (None, signal) => exit.more.insert("signal".into(), signal.into()),
    };
    exit
}

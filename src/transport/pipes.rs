//! A connection of a handler over pipes: to a child, or to the parent process.
//!
//! ```text
//!   our stdin  --> thread --> recording --> events            child's stdout --> thread --> recording --> events
//!   our stdout <-- thread <-- recording <-- parts           child's stdin  <-- thread <-- recording <-- parts
//! ```
//!
//! Threads do the blocking I/O, because other processes share the pipes and non-blocking mode would affect them. Bytes are
//! recorded before they are written: a process can be killed at any time.

use super::connection::{Connection, ConnectionEvent, STALL_TIMEOUT, WriteEnd};
use super::pump::READ_SIZE;
use super::socket::CLOSE_TIMEOUT;
use super::stdio::{Program, RunningChild, exit_event};
use super::stdio_pump::{Forwarding, StdioPump, write};
use crate::capture::{ChunkSource, EventKind};
use crate::live::handler::Ended;
use crate::system::{self, Signal};
use std::fs::File;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval at which the pipes of a child that has exited are examined.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Number of examinations without data after which a pipe that another process holds open is left.
const MAX_IDLE_POLLS: u32 = 100;

/// Starts the reading and the writing thread of a connection.
fn start(from: File, to: File, connection: &Arc<Connection>) -> io::Result<Arc<StdioPump>> {
    let place = (connection.conn, connection.theirs);
    let deliver = Forwarding::Deliver(Arc::clone(connection));
    let recorder = &connection.common.recorder;
    let received = StdioPump::new(place, from, None, deliver, recorder, None);
    received.spawn()?;
    let writing = Arc::clone(connection);
    let thread = std::thread::Builder::new().name(connection.ours.name().into());
    thread.spawn(move || write_parts(to, &writing))?;
    Ok(received)
}

/// Writes the parts of a connection until its end, or until the reader has closed.
fn write_parts(to: File, connection: &Connection) {
    let recorder = &connection.common.recorder;
    let mut all = true;
    let mut piece = Vec::new();
    let next = |piece: &mut Vec<u8>| {
        connection.wait_for_blocking(|state| {
            piece.clear();
            piece.extend_from_slice(state.front(READ_SIZE));
            (!piece.is_empty() || state.is_done()).then_some(!piece.is_empty())
        })
    };
    while next(&mut piece) {
        recorder
            .queue
            .offer_blocking(connection.touch(), connection.conn, connection.ours, &piece);
        recorder.catch_up();
        if write(&to, &piece).is_err() {
            all = false;
            connection.discard_unsent();
            break;
        }
        connection.change(|state| state.consume(piece.len()));
    }
    connection.eof(connection.ours, false);
    drop(to);
    connection.change(|state| {
        state.restart_timeout();
        state.all_written = Some(all);
    });
}

/// Waits for the end of the writing. Returns `false` if a write failed.
async fn wait_until_written(connection: &Connection) -> bool {
    connection.wait_for(|state| state.all_written).await
}

/// Starts a child and serves it until it exits.
pub(super) async fn child(program: &Program, stderr: &File, connection: &Arc<Connection>) {
    let ended = match run(program, stderr, connection).await {
        Ok(status) => {
            let signal = system::signal_of(status).map(|signal| 128 + signal);
            Ended::Exited(status.code().or(signal).unwrap_or_default())
        }
        Err(error) => {
            let name = program.argv.first().map(|word| word.to_string_lossy());
            let name = name.unwrap_or_default();
            connection.record_event(connection.event(EventKind::Open));
            connection.refused(EventKind::Close, &error.to_string());
            Ended::Refused(format!("cannot run {name}: {error}"))
        }
    };
    connection.report_end(ended).await;
}

async fn run(
    program: &Program,
    stderr: &File,
    connection: &Arc<Connection>,
) -> io::Result<ExitStatus> {
    let ours = stderr.try_clone()?;
    let RunningChild {
        mut child,
        stdin,
        stdout,
        stderr,
    } = RunningChild::start(program, true)?;
    let group = ProcessGroup::of(&child, connection);
    let mut opened = connection.event(EventKind::Open);
    if let Some(pid) = child.id() {
        opened.more.insert("pid".into(), pid.into());
    }
    connection.record_event(opened);
    connection.emit(ConnectionEvent::Opened).await;
    let place = (connection.conn, ChunkSource::Stderr);
    let recorder = &connection.common.recorder;
    let errors = StdioPump::new(place, stderr, ours, Forwarding::Plain, recorder, None);
    errors.spawn()?;
    let stdout = start(stdout, stdin, connection)?;
    let status = tokio::select! {
        biased;
        status = child.wait() => status?,
        why = wait_for_kill_reason(connection) => {
            if why == KillReason::Stalled {
                connection.print(&format!(
                    "connection {}: the child did not end within {} s after its stdin was closed: killed",
                    connection.conn,
                    STALL_TIMEOUT.as_secs()
                ));
                connection.discard_as_lost();
            }
            connection.signal(Signal::KILL);
            child.start_kill()?;
            child.wait().await?
        }
    };
    group.release();
    connection.discard_unsent();
    // The last output is in the pipes. Other processes that hold them open are not waited for.
    let mut idle_polls = 0;
    while idle_polls < MAX_IDLE_POLLS {
        let written = connection.change(|state| state.all_written.is_some());
        let ended = stdout.is_finished() && errors.is_finished();
        if ended && written {
            break;
        }
        let idle = [&stdout, &errors]
            .iter()
            .all(|pump| pump.is_finished() || pump.is_idle());
        idle_polls = if idle { idle_polls + 1 } else { 0 };
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let is_held = [&stdout, &errors].map(|pump| pump.stop_waiting());
    if is_held.contains(&true) {
        connection.print(&format!(
            "connection {}: the child has ended, but another process keeps its output open: further output \
                is lost",
            connection.conn
        ));
    }
    connection.ended(exit_event(status, connection.touch(), connection.conn));
    Ok(status)
}

/// The process group of a child. It is killed with the child if wiretool stops waiting for it. Processes that outlive
/// a child that exits by itself are not touched.
struct ProcessGroup<'l>(&'l Connection);

impl<'l> ProcessGroup<'l> {
    fn of(child: &tokio::process::Child, connection: &'l Connection) -> Self {
        let pid = child.id().unwrap_or_default();
        connection.group.store(pid, Ordering::Relaxed);
        Self(connection)
    }

    /// After the wait, the system may reuse the number of the group.
    fn release(self) {
        self.0.group.store(0, Ordering::Relaxed);
    }
}

impl Drop for ProcessGroup<'_> {
    fn drop(&mut self) {
        self.0.signal(Signal::KILL);
        self.0.group.store(0, Ordering::Relaxed);
    }
}

/// The reason for killing a child.
#[derive(PartialEq, Eq)]
enum KillReason {
    /// The handler reset the connection.
    Reset,
    /// The child does not exit.
    Stalled,
}

async fn wait_for_kill_reason(connection: &Connection) -> KillReason {
    tokio::select! {
        biased;
        () = connection.wait_for_reset() => {
            // The bytes before the reset are written first, if the child takes them.
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, wait_until_written(connection)).await;
            KillReason::Reset
        }
        () = connection.wait_for_stall() => KillReason::Stalled,
    }
}

/// Serves the parent process until the connection ends.
pub(super) async fn serve_parent(stdin: File, stdout: File, connection: &Arc<Connection>) {
    connection.record_event(connection.event(EventKind::Open));
    connection.emit(ConnectionEvent::Opened).await;
    let ended = match start(stdin, stdout, connection) {
        Ok(_) => wait_for_end(connection).await,
        Err(error) => {
            connection.refused(EventKind::Close, &error.to_string());
            Ended::Refused(format!("cannot serve: {error}"))
        }
    };
    connection.report_end(ended).await;
}

async fn wait_for_end(connection: &Connection) -> Ended {
    let ended =
        connection.wait_for(
            |state| match (state.all_written, state.read_ended, state.end) {
                // A reset overrides the state of both directions.
                (.., Some(WriteEnd::Reset)) => None,
                (Some(false), ..) => Some(None),
                (Some(true), read_ended, Some(WriteEnd::Close)) => Some(Some(!read_ended)),
                (Some(true), true, _) => Some(Some(false)),
                _ => None,
            },
        );
    tokio::select! {
        biased;
        ended = ended => {
            let Some(ours) = ended else {
                connection.reset(false);
                return Ended::Reset;
            };
            connection.closed(ours);
            Ended::Closed
        }
        () = connection.wait_for_reset() => {
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, wait_until_written(connection)).await;
            connection.end_by_us()
        }
        () = connection.wait_for_stall() => {
            connection.print("the reader of stdout is gone: the last output is lost");
            connection.discard_as_lost();
            connection.reset(true);
            Ended::Reset
        }
    }
}

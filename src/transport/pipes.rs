//! A handler's connection over pipes: with a child, or with whoever started us.
//!
//! ```text
//!   our stdin  --> thread --> recording --> events            child's stdout --> thread --> recording --> events
//!   our stdout <-- thread <-- recording <-- parts           child's stdin  <-- thread <-- recording <-- parts
//! ```
//!
//! Threads, since what others share with us must not be set not to wait. What is written is in the recording before: a
//! process can be killed at any time.

use super::connection::{Connection, ConnectionEvent, End, GRACE};
use super::pump::READ;
use super::socket::MOMENT;
use super::stdio::{Running, exited};
use super::stdio_pump::{Forwarding, StdioPump, write};
use crate::capture::{Stream, What};
use crate::live::handler::Ended;
use rustix::process::Signal;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Between looks whether a child that has ended left something in its pipes.
const LOOK: Duration = Duration::from_millis(1);
/// Looks that find nothing in a pipe that somebody else keeps open.
const LOOKS: u32 = 100;

/// Two threads for a connection.
fn start(from: File, to: File, connection: &Arc<Connection>) -> io::Result<Arc<StdioPump>> {
    let place = (connection.conn, connection.theirs);
    let deliver = Forwarding::Deliver(Arc::clone(connection));
    let recorder = &connection.common.recorder;
    let received = StdioPump::new(place, from, None, deliver, recorder, None);
    received.spawn()?;
    let speaks = Arc::clone(connection);
    let thread = std::thread::Builder::new().name(connection.ours.name().into());
    thread.spawn(move || speak(to, &speaks))?;
    Ok(received)
}

/// Writes what is given, until nothing more will be, or nobody reads it.
fn speak(to: File, connection: &Connection) {
    let recorder = &connection.common.recorder;
    let mut all = true;
    let mut piece = Vec::new();
    let next = |piece: &mut Vec<u8>| {
        connection.until_blocking(|state| {
            piece.clear();
            piece.extend_from_slice(state.front(READ));
            (!piece.is_empty() || state.is_done()).then_some(!piece.is_empty())
        })
    };
    while next(&mut piece) {
        recorder
            .queue
            .give_blocking(connection.touch(), connection.conn, connection.ours, &piece);
        recorder.catch_up();
        if write(&to, &piece).is_err() {
            all = false;
            connection.lose();
            break;
        }
        connection.change(|state| state.wrote(piece.len()));
    }
    connection.eof(connection.ours, false);
    drop(to);
    connection.change(|state| {
        state.stirs();
        state.said_all = Some(all);
    });
}

/// Waits until everything was written; says whether it could be.
async fn said(connection: &Connection) -> bool {
    connection.until(|state| state.said_all).await
}

/// Starts a child and serves it until it is gone; records and tells how that was.
pub(super) async fn child(argv: &[OsString], stderr: &File, connection: &Arc<Connection>) {
    let ended = match run(argv, stderr, connection).await {
        Ok(status) => {
            let signal = status.signal().map(|signal| 128 + signal);
            Ended::Exited(status.code().or(signal).unwrap_or_default())
        }
        Err(error) => {
            let program = argv.first().map(|word| word.to_string_lossy());
            let program = program.unwrap_or_default();
            connection.happened(connection.event(What::Open));
            connection.refused(What::Close, &error.to_string());
            Ended::Refused(format!("cannot run {program}: {error}"))
        }
    };
    connection.over(ended).await;
}

async fn run(
    argv: &[OsString],
    stderr: &File,
    connection: &Arc<Connection>,
) -> io::Result<ExitStatus> {
    let ours = stderr.try_clone()?;
    let Running {
        mut child,
        stdin,
        stdout,
        stderr,
    } = Running::start(argv, true)?;
    let group = Group::of(&child, connection);
    let mut opened = connection.event(What::Open);
    if let Some(pid) = child.id() {
        opened.more.insert("pid".into(), pid.into());
    }
    connection.happened(opened);
    connection.tell(ConnectionEvent::Opened).await;
    let place = (connection.conn, Stream::Stderr);
    let recorder = &connection.common.recorder;
    let errors = StdioPump::new(place, stderr, ours, Forwarding::Plain, recorder, None);
    errors.spawn()?;
    let stdout = start(stdout, stdin, connection)?;
    let status = tokio::select! {
        biased;
        status = child.wait() => status?,
        why = enough(connection) => {
            if why == Why::Patience {
                connection.say(&format!(
                    "connection {}: the child did not end within {} s after its stdin was closed: killed",
                    connection.conn,
                    GRACE.as_secs()
                ));
                connection.give_up();
            }
            connection.signal(Signal::KILL);
            child.start_kill()?;
            child.wait().await?
        }
    };
    group.waited_for();
    connection.lose();
    // What it said last is in its pipes; who else keeps them open is not waited for.
    let mut looks = 0;
    while looks < LOOKS {
        let said = connection.change(|state| state.said_all.is_some());
        let over = stdout.is_over() && errors.is_over();
        if over && said {
            break;
        }
        let idle = [&stdout, &errors]
            .iter()
            .all(|pump| pump.is_over() || pump.is_idle());
        looks = if idle { looks + 1 } else { 0 };
        tokio::time::sleep(LOOK).await;
    }
    let is_held = [&stdout, &errors].map(|pump| pump.leave());
    if is_held.contains(&true) {
        connection.say(&format!(
            "connection {}: the child has ended, and another process keeps its output open: what that writes from now on is lost",
            connection.conn
        ));
    }
    connection.ended(exited(status, connection.touch(), connection.conn));
    Ok(status)
}

/// The group of processes that a child leads: killed with it where nobody waits for it any more. What a child leaves behind
/// that ends of itself, it leaves on purpose.
struct Group<'l>(&'l Connection);

impl<'l> Group<'l> {
    fn of(child: &tokio::process::Child, connection: &'l Connection) -> Self {
        let pid = child.id().and_then(|id| i32::try_from(id).ok());
        connection
            .group
            .store(pid.unwrap_or_default(), Ordering::Relaxed);
        Self(connection)
    }

    /// Its leader was waited for: the number may be another's by now.
    fn waited_for(self) {
        self.0.group.store(0, Ordering::Relaxed);
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        self.0.signal(Signal::KILL);
        self.0.group.store(0, Ordering::Relaxed);
    }
}

/// Why a child is killed.
#[derive(PartialEq, Eq)]
enum Why {
    /// That was ordered.
    Cut,
    /// It does not end.
    Patience,
}

async fn enough(connection: &Connection) -> Why {
    tokio::select! {
        biased;
        () = connection.cut() => {
            // What was sent before it was cut is in its pipe, if it takes it at all.
            let _ = tokio::time::timeout(MOMENT, said(connection)).await;
            Why::Cut
        }
        () = connection.patience() => Why::Patience,
    }
}

/// Serves whoever started us until it is over; records and tells how.
pub(super) async fn ours(stdin: File, stdout: File, connection: &Arc<Connection>) {
    connection.happened(connection.event(What::Open));
    connection.tell(ConnectionEvent::Opened).await;
    let ended = match start(stdin, stdout, connection) {
        Ok(_) => stdio(connection).await,
        Err(error) => {
            connection.refused(What::Close, &error.to_string());
            Ended::Refused(format!("cannot serve: {error}"))
        }
    };
    connection.over(ended).await;
}

async fn stdio(connection: &Connection) -> Ended {
    let over = connection.until(|state| match (state.said_all, state.heard_all, state.end) {
        // That it is cut counts, however far both ways have come.
        (.., Some(End::Cut)) => None,
        (Some(false), ..) => Some(None),
        (Some(true), heard, Some(End::Close)) => Some(Some(!heard)),
        (Some(true), true, _) => Some(Some(false)),
        _ => None,
    });
    tokio::select! {
        biased;
        over = over => {
            let Some(ours) = over else {
                connection.reset(false);
                return Ended::Reset;
            };
            connection.closed(ours);
            Ended::Closed
        }
        () = connection.cut() => {
            let _ = tokio::time::timeout(MOMENT, said(connection)).await;
            connection.cut_off()
        }
        () = connection.patience() => {
            connection.say("nobody reads our stdout: what was said last is lost");
            connection.give_up();
            connection.reset(true);
            Ended::Reset
        }
    }
}

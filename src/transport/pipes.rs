//! An actor's connection over pipes: with a child, or with whoever started us.
//!
//! ```text
//!   our stdin  --> thread --> recording --> news            child's stdout --> thread --> recording --> news
//!   our stdout <-- thread <-- recording <-- parts           child's stdin  <-- thread <-- recording <-- parts
//! ```
//!
//! Threads, since what others share with us must not be set not to wait. What is written is in the recording before: a
//! process can be killed at any time.

use super::lane::{Lane, PeerConfig, read, write};
use super::line::{End, GRACE, Line, News, State};
use super::pump::READ;
use super::socket::MOMENT;
use super::stdio::{Running, exited};
use crate::capture::{Stream, What};
use crate::conversation::actor::Ended;
use rustix::process::Signal;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Between looks whether a child that has ended left something in its pipes.
const LOOK: Duration = Duration::from_millis(1);
/// Looks that find nothing in a pipe that somebody else keeps open.
const LOOKS: u32 = 100;

/// Two threads for a line.
fn start(from: File, to: File, line: &Arc<Line>) -> io::Result<Weak<File>> {
    let from = Arc::new(from);
    let look = Arc::downgrade(&from);
    let hears = Arc::clone(line);
    let thread = std::thread::Builder::new().name(line.theirs.name().into());
    thread.spawn(move || hear(&from, &hears))?;
    let speaks = Arc::clone(line);
    let thread = std::thread::Builder::new().name(line.ours.name().into());
    thread.spawn(move || speak(to, &speaks))?;
    Ok(look)
}

/// Hears until the other side says no more.
fn hear(from: &File, line: &Arc<Line>) {
    let behind = &line.common.behind;
    let mut buffer = vec![0; READ];
    loop {
        line.calm_blocking();
        let Ok(n @ 1..) = read(from, &mut buffer) else {
            break;
        };
        if line.is_over() {
            return;
        }
        line.change(|state| state.telling = true);
        let bytes = buffer.get(..n).unwrap_or_default();
        behind
            .queue
            .give_blocking(line.touch(), line.conn, line.theirs, bytes);
        let more = line.tell_blocking(News::Heard(bytes.to_vec()));
        line.change(|state| state.telling = false);
        if !more {
            return;
        }
        behind.help();
    }
    if line.is_over() {
        return;
    }
    line.eof(line.theirs, false);
    line.tell_blocking(News::Eof);
    line.change(|state| state.heard_all = true);
}

/// Writes what is given, until nothing more will be, or nobody reads it.
fn speak(to: File, line: &Line) {
    let behind = &line.common.behind;
    let mut all = true;
    let mut piece = Vec::new();
    let next = |piece: &mut Vec<u8>| {
        line.until_blocking(|state| {
            piece.clear();
            piece.extend_from_slice(state.front(READ));
            (!piece.is_empty() || state.is_done()).then_some(!piece.is_empty())
        })
    };
    while next(&mut piece) {
        behind
            .queue
            .give_blocking(line.touch(), line.conn, line.ours, &piece);
        behind.catch_up();
        if write(&to, &piece).is_err() {
            all = false;
            line.lose();
            break;
        }
        line.change(|state| state.wrote(piece.len()));
    }
    line.eof(line.ours, false);
    drop(to);
    line.change(|state| {
        state.stirs();
        state.said_all = Some(all);
    });
}

/// Waits until everything was written; says whether it could be.
async fn said(line: &Line) -> bool {
    line.until(|state| state.said_all).await
}

/// Starts a child and serves it until it is gone; records and tells how that was.
pub(super) async fn child(argv: &[OsString], stderr: &File, line: &Arc<Line>) {
    let ended = match run(argv, stderr, line).await {
        Ok(status) => {
            let signal = status.signal().map(|signal| 128 + signal);
            Ended::Exited(status.code().or(signal).unwrap_or_default())
        }
        Err(error) => {
            let program = argv.first().map(|word| word.to_string_lossy());
            let program = program.unwrap_or_default();
            line.happened(line.event(What::Open));
            line.refused(What::Close, &error.to_string());
            Ended::Refused(format!("cannot run {program}: {error}"))
        }
    };
    line.over(ended).await;
}

async fn run(argv: &[OsString], stderr: &File, line: &Arc<Line>) -> io::Result<ExitStatus> {
    let ours = stderr.try_clone()?;
    let Running {
        mut child,
        stdin,
        stdout,
        stderr,
    } = Running::start(argv, true)?;
    let group = Group::of(&child, line);
    let mut opened = line.event(What::Open);
    if let Some(pid) = child.id() {
        opened.more.insert("pid".into(), pid.into());
    }
    line.happened(opened);
    line.tell(News::Opened).await;
    let place = (line.conn, Stream::Stderr);
    let behind = &line.common.behind;
    let errors = Lane::new(place, stderr, ours, PeerConfig::Plain, behind, None);
    errors.spawn()?;
    let stdout = start(stdout, stdin, line)?;
    let status = tokio::select! {
        biased;
        status = child.wait() => status?,
        why = enough(line) => {
            if why == Why::Patience {
                line.say(&format!(
                    "connection {}: the child did not end within {} s after its stdin was closed: killed",
                    line.conn,
                    GRACE.as_secs()
                ));
                line.give_up();
            }
            line.signal(Signal::KILL);
            child.start_kill()?;
            child.wait().await?
        }
    };
    group.waited_for();
    line.lose();
    // What it said last is in its pipes; who else keeps them open is not waited for.
    let mut looks = 0;
    let is_idle = || {
        let waits = stdout
            .upgrade()
            .and_then(|from| rustix::io::ioctl_fionread(&*from).ok());
        waits.unwrap_or_default() == 0
    };
    while looks < LOOKS {
        let look = |state: &mut State| (state.heard_all, state.telling, state.said_all.is_some());
        let (over, telling, said) = line.change(look);
        if over && said && errors.is_over() {
            break;
        }
        let idle = !telling && (over || is_idle()) && (errors.is_over() || errors.is_idle());
        looks = if idle { looks + 1 } else { 0 };
        tokio::time::sleep(LOOK).await;
    }
    let is_held = !line.change(|state| state.heard_all);
    if is_held {
        let unread = stdout
            .upgrade()
            .and_then(|from| rustix::io::ioctl_fionread(&*from).ok());
        let queue = &behind.queue;
        queue.missing(line.conn, line.theirs, unread.unwrap_or_default());
    }
    if errors.leave() || is_held {
        line.say(&format!(
            "connection {}: the child has ended, and another process keeps its output open: what that writes from now on is lost",
            line.conn
        ));
    }
    line.ended(exited(status, line.touch(), line.conn));
    Ok(status)
}

/// The group of processes that a child leads: killed with it where nobody waits for it any more. What a child leaves behind
/// that ends of itself, it leaves on purpose.
struct Group<'l>(&'l Line);

impl<'l> Group<'l> {
    fn of(child: &tokio::process::Child, line: &'l Line) -> Self {
        let pid = child.id().and_then(|id| i32::try_from(id).ok());
        line.group.store(pid.unwrap_or_default(), Ordering::Relaxed);
        Self(line)
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

async fn enough(line: &Line) -> Why {
    tokio::select! {
        biased;
        () = line.cut() => {
            // What was sent before it was cut is in its pipe, if it takes it at all.
            let _ = tokio::time::timeout(MOMENT, said(line)).await;
            Why::Cut
        }
        () = line.patience() => Why::Patience,
    }
}

/// Serves whoever started us until it is over; records and tells how.
pub(super) async fn ours(stdin: File, stdout: File, line: &Arc<Line>) {
    line.happened(line.event(What::Open));
    line.tell(News::Opened).await;
    let ended = match start(stdin, stdout, line) {
        Ok(_) => stdio(line).await,
        Err(error) => {
            line.refused(What::Close, &error.to_string());
            Ended::Refused(format!("cannot serve: {error}"))
        }
    };
    line.over(ended).await;
}

async fn stdio(line: &Line) -> Ended {
    let over = line.until(|state| match (state.said_all, state.heard_all, state.end) {
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
                line.reset(false);
                return Ended::Reset;
            };
            line.closed(ours);
            Ended::Closed
        }
        () = line.cut() => {
            let _ = tokio::time::timeout(MOMENT, said(line)).await;
            line.cut_off()
        }
        () = line.patience() => {
            line.say("nobody reads our stdout: what was said last is lost");
            line.give_up();
            line.reset(true);
            Ended::Reset
        }
    }
}

//! A pump: one of a child's three streams, pumped by a thread.
//!
//! ```text
//!   our stdin --> child's stdin        child's stdout --> our stdout        child's stderr --> our stderr
//! ```
//!
//! A thread reads, hands a copy to the queue, writes, and then helps the recorder, so that what was read is in the
//! recording before more is read: a process can be killed at any time. While it does so, another thread may take the
//! pump over; that happens where the recorder is held up, by a disk that hangs.

use super::connection::{Connection, ConnectionEvent};
use super::faults::{Faults, injected};
use super::recorder::{Recorder, writable};
use crate::capture::{Stream, What};
use crate::conversation::guard::{Quarantine, Way};
use crate::conversation::tap::event;
use crate::inject::Out;
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Bytes of one read: what a pipe holds.
const READ: usize = 64 << 10;
/// Reads of fewer bytes are no bulk.
const SMALL: usize = 16 << 10;
/// Bytes that a pipe with any room takes without waiting.
const ATOMIC: usize = 4096;
/// How what is read is passed on.
pub(super) enum Forwarding {
    /// As it comes, and no faster than it is taken.
    Plain,
    /// As it comes; what is not taken at once is let go.
    Drain,
    /// Line by line; what is no line of the protocol goes to this file instead.
    Quarantine(Box<Quarantine>, File),
    /// To whoever handles this connection, as long as not too many answers wait to be written there.
    Deliver(Arc<Connection>),
}

/// What is read and where it goes.
struct Ends {
    from: Arc<File>,
    /// Nowhere where it is delivered.
    to: Option<File>,
    forwarding: Forwarding,
    buffer: Vec<u8>,
    /// Bytes in the buffer that were read and not passed on.
    pending: usize,
    /// Bytes that were passed on, or moved aside.
    done: u64,
}

impl Ends {
    fn connection(&self) -> Option<Arc<Connection>> {
        match &self.forwarding {
            Forwarding::Deliver(connection) => Some(Arc::clone(connection)),
            _ => None,
        }
    }
}

/// One stream.
pub(super) struct StdioPump {
    conn: u32,
    stream: Stream,
    recorder: Arc<Recorder>,
    faults: Option<Arc<Faults>>,
    /// Here while nobody reads or writes.
    ends: Mutex<Option<Ends>>,
    from: Weak<File>,
    /// Something was read and is not written yet.
    moving: AtomicBool,
    over: AtomicBool,
}

impl StdioPump {
    pub(super) fn new(
        (conn, stream): (u32, Stream),
        from: File,
        to: impl Into<Option<File>>,
        forwarding: Forwarding,
        recorder: &Arc<Recorder>,
        faults: Option<&Arc<Faults>>,
    ) -> Arc<Self> {
        let from = Arc::new(from);
        Arc::new(Self {
            conn,
            stream,
            recorder: Arc::clone(recorder),
            faults: faults.filter(|f| f.watch(stream)).map(Arc::clone),
            from: Arc::downgrade(&from),
            ends: Mutex::new(Some(Ends {
                from,
                to: to.into(),
                forwarding,
                buffer: vec![0; READ],
                pending: 0,
                done: 0,
            })),
            moving: AtomicBool::new(false),
            over: AtomicBool::new(false),
        })
    }

    fn take(&self) -> Option<Ends> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.take()
    }

    fn put(&self, with: Ends) {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        *ends = Some(with);
    }

    /// A thread for it, where none is at it.
    pub(super) fn spawn(self: &Arc<Self>) -> io::Result<()> {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        if ends.is_none() {
            return Ok(());
        }
        drop(ends);
        let pump = Arc::clone(self);
        let thread = std::thread::Builder::new().name(self.stream.name().into());
        thread.spawn(move || pump.run())?;
        Ok(())
    }

    /// Whether it has ended.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Whether nothing is on its way through it.
    pub(super) fn is_idle(&self) -> bool {
        !self.moving.load(Ordering::Acquire) && self.unread() == 0
    }

    /// Bytes that were written to it and not read yet.
    fn unread(&self) -> u64 {
        let from = self.from.upgrade();
        let waiting = from.and_then(|from| rustix::io::ioctl_fionread(&*from).ok());
        waiting.unwrap_or_default()
    }

    /// Nobody waits for its end any more, and somebody may still write to it: that is recorded. Says whether it is so.
    pub(super) fn leave(&self) -> bool {
        let is_held = !self.is_over();
        if is_held {
            let queue = &self.recorder.queue;
            queue.missing(self.conn, self.stream, self.unread());
        }
        is_held
    }

    fn run(&self) {
        while let Some(mut ends) = self.take() {
            let connection = ends.connection();
            if ends.pending == 0 {
                if let Some(connection) = &connection {
                    connection.calm_blocking();
                }
                let Ok(n) = read(&ends.from, &mut ends.buffer) else {
                    return self.end(ends);
                };
                if connection.is_some_and(|connection| connection.is_over()) {
                    return self.over.store(true, Ordering::Release);
                }
                self.moving.store(true, Ordering::Release);
                ends.pending = n;
                // Of what a process saw that is killed, at most the last read is missing; of much, a little.
                if n > 0 && n < SMALL && self.recorder.queue.waits() {
                    self.put(ends);
                    self.recorder.catch_up();
                    continue;
                }
            }
            if let Ok(true) = self.pass(&mut ends) {
                self.put(ends);
                self.recorder.help();
            } else {
                return self.end(ends);
            }
        }
    }

    fn end(&self, ends: Ends) {
        if let Some(connection) = ends.connection() {
            if !connection.is_over() {
                connection.eof(self.stream, false);
                connection.tell_blocking(ConnectionEvent::Eof);
                connection.change(|state| state.heard_all = true);
            }
        } else if self.stream != Stream::Stderr {
            let mut event = event(What::Eof, self.recorder.queue.now(), self.conn);
            event.more.insert("dir".into(), self.stream.name().into());
            self.recorder.queue.event(self.conn, event);
        }
        // Closing both ends tells both sides: one that there is no more, the other that nobody reads. A child may end at
        // that, and all with it.
        drop(ends);
        self.recorder.help();
        self.moving.store(false, Ordering::Release);
        self.over.store(true, Ordering::Release);
    }

    /// What follows from one read; says whether more may come.
    fn pass(&self, ends: &mut Ends) -> io::Result<bool> {
        let n = std::mem::take(&mut ends.pending);
        let queue = &self.recorder.queue;
        let bytes = ends.buffer.get(..n).unwrap_or_default();
        if n > 0 {
            // Before it is written: else an answer could be told before its question.
            let connection = ends.connection();
            let now = connection.map_or_else(|| queue.now(), |connection| connection.touch());
            queue.give_blocking(now, self.conn, self.stream, bytes);
        }
        let to = match (&mut ends.forwarding, &ends.to) {
            (Forwarding::Deliver(connection), _) => {
                let more =
                    n > 0 && connection.tell_blocking(ConnectionEvent::Received(bytes.to_vec()));
                self.moving.store(false, Ordering::Release);
                return Ok(more);
            }
            (_, Some(to)) => to,
            (_, None) => return Ok(false),
        };
        if let Some(faults) = &self.faults {
            let outs = match n {
                0 => faults.end(self.conn, self.stream),
                _ => faults.push(queue.now(), self.conn, self.stream, bytes),
            };
            self.go(outs, to)?;
            self.moving.store(false, Ordering::Release);
            return Ok(n > 0);
        }
        match &mut ends.forwarding {
            Forwarding::Plain => write(to, bytes)?,
            Forwarding::Drain => spill(to, bytes)?,
            Forwarding::Quarantine(quarantine, aside) => {
                let done = &mut ends.done;
                let mut sink = |way, line: &[u8]| {
                    let offset = *done;
                    *done += line.len() as u64;
                    if way == Way::On {
                        return write(to, line);
                    }
                    let mut moved = event(What::Other("quarantine"), queue.now(), self.conn);
                    moved.more.insert("dir".into(), self.stream.name().into());
                    moved.more.insert("offset".into(), offset.into());
                    moved.more.insert("bytes".into(), line.len().into());
                    queue.event(self.conn, moved);
                    write(aside, line)
                };
                if n == 0 {
                    quarantine.finish(&mut sink)?;
                } else {
                    quarantine.push(bytes, &mut sink)?;
                }
            }
            Forwarding::Deliver(_) => {}
        }
        self.moving.store(false, Ordering::Release);
        Ok(n > 0)
    }
}

impl StdioPump {
    /// Does what faults ask for. Of pipes nothing is left but to be closed where a connection would be cut.
    fn go(&self, outs: Vec<Out>, to: &File) -> io::Result<()> {
        for out in outs {
            match out {
                Out::Bytes(bytes) => write(to, &bytes)?,
                Out::Wait(ns) => std::thread::sleep(Duration::from_nanos(ns)),
                Out::Told(more) => {
                    let queue = &self.recorder.queue;
                    queue.event(self.conn, injected(queue.now(), self.conn, more));
                }
                Out::Close | Out::Reset => return Err(io::ErrorKind::ConnectionAborted.into()),
                // What comes later is swallowed, but the end is not: nobody is to be left behind for ever.
                Out::Stall => {}
            }
        }
        Ok(())
    }
}

/// Reads, also from what another program has set not to wait.
pub(super) fn read(mut from: &File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait(from, PollFlags::IN),
            read => return read,
        }
    }
}

/// Writes all, also to what another program has set not to wait.
pub(super) fn write(mut to: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait(to, PollFlags::OUT),
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn wait(file: &File, flags: PollFlags) {
    let _ = poll(&mut [PollFd::new(file, flags)], None);
}

/// Writes what is taken without waiting.
fn spill(to: &File, bytes: &[u8]) -> io::Result<()> {
    for piece in bytes.chunks(ATOMIC) {
        // Where nobody reads any more, draining goes on.
        if !writable(to, Duration::ZERO).unwrap_or_default() {
            break;
        }
        if let Err(error) = write(to, piece)
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            return Err(error);
        }
    }
    Ok(())
}

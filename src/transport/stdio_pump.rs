//! A pump for one of the three streams of a child, run by a thread.
//!
//! ```text
//!   our stdin --> child's stdin        child's stdout --> our stdout        child's stderr --> our stderr
//! ```
//!
//! A thread reads, puts a copy into the queue, writes, and then helps the recorder. So the bytes are recorded before the
//! next read, because a process can be killed at any time. While the thread helps, another thread may take over the pump:
//! this happens when the recorder is blocked by a slow disk.

use super::connection::{Connection, ConnectionEvent};
use super::faults::Faults;
use super::inserts::Insert;
use super::recorder::{PIPE_SPACE, Recorder, writable};
use crate::capture::{ChunkSource, EventKind, EventRecord};
use crate::conversation::guard::{LineTarget, Quarantine};
use crate::inject::Out;
use crate::system::{self, PollFlags};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Maximum number of bytes of one read: the size of a pipe.
const READ_SIZE: usize = 64 << 10;
/// Reads of fewer bytes are not bulk data.
const SMALL_READ: usize = 16 << 10;
/// The destination of the bytes.
pub(super) enum Forwarding {
    /// Forward, at the speed of the reader.
    Plain,
    /// Forward; drop bytes that are not taken immediately.
    Drain,
    /// Forward line by line; write foreign lines to this file instead.
    Quarantine(Box<Quarantine>, File),
    /// Deliver to the handler of this connection, with back-pressure.
    Deliver(Arc<Connection>),
}

/// The files and the buffer of a pump.
struct PumpEnds {
    from: Arc<File>,
    /// `None` with [`Forwarding::Deliver`].
    to: Option<File>,
    forwarding: Forwarding,
    buffer: Vec<u8>,
    /// Number of bytes in the buffer that were read and not forwarded yet.
    pending: usize,
    /// Number of bytes that were forwarded or moved to the other file.
    done: u64,
}

impl PumpEnds {
    fn connection(&self) -> Option<Arc<Connection>> {
        match &self.forwarding {
            Forwarding::Deliver(connection) => Some(Arc::clone(connection)),
            _ => None,
        }
    }
}

/// The pump of one stream.
pub(super) struct StdioPump {
    conn: u32,
    dir: ChunkSource,
    recorder: Arc<Recorder>,
    faults: Option<Arc<Faults>>,
    /// `None` while a thread reads or writes.
    ends: Mutex<Option<PumpEnds>>,
    from: Weak<File>,
    /// The receiver of the bytes, if messages can be added, until the end. The lock is held from recording to writing.
    inserts_to: Mutex<Option<File>>,
    /// Bytes were read and are not written yet.
    moving: AtomicBool,
    finished: AtomicBool,
}

impl StdioPump {
    pub(super) fn new(
        (conn, dir): (u32, ChunkSource),
        from: File,
        to: impl Into<Option<File>>,
        forwarding: Forwarding,
        recorder: &Arc<Recorder>,
        faults: Option<&Arc<Faults>>,
    ) -> Arc<Self> {
        let from = Arc::new(from);
        let to = to.into();
        let faults = faults.filter(|f| f.is_affected(dir));
        let inserts = faults.and_then(|faults| faults.inserts.as_ref());
        let inserts_to = inserts.and(to.as_ref()).and_then(|to| to.try_clone().ok());
        let pump = Arc::new(Self {
            conn,
            dir,
            recorder: Arc::clone(recorder),
            faults: faults.map(Arc::clone),
            from: Arc::downgrade(&from),
            inserts_to: Mutex::new(inserts_to),
            ends: Mutex::new(Some(PumpEnds {
                from,
                to,
                forwarding,
                buffer: vec![0; READ_SIZE],
                pending: 0,
                done: 0,
            })),
            moving: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        });
        if let Some(inserts) = inserts {
            let pump = Arc::downgrade(&pump);
            inserts.accept_with(conn.into(), dir, move |insert| {
                if let Some(pump) = pump.upgrade() {
                    pump.insert(insert);
                }
            });
        }
        pump
    }

    fn inserts_to(&self) -> MutexGuard<'_, Option<File>> {
        let to = self.inserts_to.lock();
        to.unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message. Blocks while the receiver takes no bytes.
    pub(super) fn insert(&self, insert: Insert) {
        let to = self.inserts_to();
        let (Some(faults), Some(to)) = (&self.faults, &*to) else {
            return;
        };
        let queue = &self.recorder.queue;
        let added = match faults.insert(self.conn, self.dir, &insert.bytes, queue) {
            Ok(added) => added,
            Err(error) => return insert.reply(Err(error)),
        };
        queue.offer_blocking(queue.now(), self.conn, self.dir, &insert.bytes);
        if send(added.sends, to).is_ok() {
            insert.reply(Ok(()));
        }
        self.recorder.help();
    }

    fn take(&self) -> Option<PumpEnds> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.take()
    }

    fn put(&self, with: PumpEnds) {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        *ends = Some(with);
    }

    /// Starts a thread, unless one already runs the pump.
    pub(super) fn spawn(self: &Arc<Self>) -> io::Result<()> {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        if ends.is_none() {
            return Ok(());
        }
        drop(ends);
        let pump = Arc::clone(self);
        let thread = std::thread::Builder::new().name(self.dir.name().into());
        thread.spawn(move || pump.run())?;
        Ok(())
    }

    /// Returns `true` after the stream has ended.
    pub(super) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    /// Returns `true` if no bytes are on their way through the pump.
    pub(super) fn is_idle(&self) -> bool {
        !self.moving.load(Ordering::Acquire) && self.unread() == 0
    }

    /// Number of bytes in the pipe that are not read yet.
    fn unread(&self) -> u64 {
        let from = self.from.upgrade();
        from.map_or(0, |from| system::unread(&from))
    }

    /// Stops waiting for the end. Returns `true` if another process may still write to the stream; what it wrote and nobody
    /// read is recorded as a loss.
    pub(super) fn stop_waiting(&self) -> bool {
        let is_held = !self.is_finished();
        let unread = if is_held { self.unread() } else { 0 };
        if unread > 0 {
            let queue = &self.recorder.queue;
            queue.add_loss(self.conn, self.dir, unread);
        }
        is_held
    }

    fn run(&self) {
        while let Some(mut ends) = self.take() {
            let connection = ends.connection();
            if ends.pending == 0 {
                if let Some(connection) = &connection {
                    connection.wait_until_readable_blocking();
                }
                let Ok(n) = read(&ends.from, &mut ends.buffer) else {
                    return self.end(ends);
                };
                if connection.is_some_and(|connection| connection.is_finished()) {
                    return self.finished.store(true, Ordering::Release);
                }
                self.moving.store(true, Ordering::Release);
                ends.pending = n;
                // If the process is killed, at most the last read is missing.
                if n > 0 && n < SMALL_READ && self.recorder.queue.has_items() {
                    self.put(ends);
                    self.recorder.catch_up();
                    continue;
                }
            }
            if let Ok(true) = self.forward(&mut ends) {
                self.put(ends);
                self.recorder.help();
            } else {
                return self.end(ends);
            }
        }
    }

    fn end(&self, ends: PumpEnds) {
        if let Some(connection) = ends.connection() {
            if !connection.is_finished() {
                connection.eof(self.dir, false);
                connection.emit_blocking(ConnectionEvent::Eof);
                connection.change(|state| state.read_ended = true);
            }
        } else if self.dir != ChunkSource::Stderr {
            let mut event = EventRecord::new(EventKind::Eof, self.recorder.queue.now(), self.conn);
            event.more.insert("dir".into(), self.dir.name().into());
            self.recorder.queue.event(self.conn, event);
        }
        *self.inserts_to() = None;
        // Closes both ends: the reader sees the end, the writer a broken pipe. A child may exit because of this, so
        // the end is recorded first.
        drop(ends);
        self.recorder.help();
        self.moving.store(false, Ordering::Release);
        self.finished.store(true, Ordering::Release);
    }

    /// Forwards the bytes of one read. Returns `false` at the end of the stream.
    fn forward(&self, ends: &mut PumpEnds) -> io::Result<bool> {
        let n = std::mem::take(&mut ends.pending);
        // An added message is before or after these bytes.
        let inserts = self.inserts_to();
        let queue = &self.recorder.queue;
        let bytes = ends.buffer.get(..n).unwrap_or_default();
        let relayed = self.faults.as_ref().map(|faults| match n {
            0 => faults.end(self.conn, self.dir, queue),
            _ => faults.read(queue.now(), self.conn, self.dir, bytes, queue),
        });
        if n > 0 {
            // Recorded before the write, so that an answer never precedes its request.
            let connection = ends.connection();
            let now = connection.map_or_else(|| queue.now(), |connection| connection.touch());
            queue.offer_blocking(now, self.conn, self.dir, bytes);
        }
        let to = match (&mut ends.forwarding, &ends.to) {
            (Forwarding::Deliver(connection), _) => {
                let more =
                    n > 0 && connection.emit_blocking(ConnectionEvent::Received(bytes.to_vec()));
                self.moving.store(false, Ordering::Release);
                return Ok(more);
            }
            (_, Some(to)) => to,
            (_, None) => return Ok(false),
        };
        if let Some(relayed) = relayed {
            send(relayed.sends, to)?;
            drop(inserts);
            self.moving.store(false, Ordering::Release);
            return Ok(n > 0);
        }
        match &mut ends.forwarding {
            Forwarding::Plain => write(to, bytes)?,
            Forwarding::Drain => write_available(to, bytes)?,
            Forwarding::Quarantine(quarantine, foreign_lines) => {
                let done = &mut ends.done;
                let mut sink = |decision, line: &[u8]| {
                    let offset = *done;
                    *done += line.len() as u64;
                    if decision == LineTarget::Peer {
                        return write(to, line);
                    }
                    let mut moved =
                        EventRecord::new(EventKind::Other("quarantine"), queue.now(), self.conn);
                    moved.more.insert("dir".into(), self.dir.name().into());
                    moved.more.insert("offset".into(), offset.into());
                    moved.more.insert("bytes".into(), line.len().into());
                    queue.event(self.conn, moved);
                    write(foreign_lines, line)
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

/// Sends what the receiver gets. A pipe has no reset, so it is closed instead. Its end is never hidden: the reader must not
/// wait forever.
fn send(outs: Vec<Out>, to: &File) -> io::Result<()> {
    for out in outs {
        match out {
            Out::Bytes(bytes) => write(to, &bytes)?,
            Out::Wait(ns) => std::thread::sleep(Duration::from_nanos(ns)),
            Out::Close(_) | Out::Reset(_) => {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            Out::Event(_) | Out::Stall => {}
        }
    }
    Ok(())
}

/// Reads, also from a file that another program has set to non-blocking mode.
pub(super) fn read(mut from: &File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait(from, PollFlags::IN),
            read => return read,
        }
    }
}

/// Writes everything, also to a file that another program has set to non-blocking mode.
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
    let _ = system::poll(file, flags, None);
}

/// Writes what is taken without blocking.
fn write_available(to: &File, bytes: &[u8]) -> io::Result<()> {
    for piece in bytes.chunks(PIPE_SPACE) {
        // A closed reader does not stop the draining.
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

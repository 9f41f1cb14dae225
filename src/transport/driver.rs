//! Drives a handler: tells it what happens, one thing after another, and does what it commands.
//!
//! ```text
//!   connections --events--> handler --commands--> connections, dials, screen
//!   clock --tick--/
//! ```
//!
//! What waits to be sent is bounded, apart from one order: where answers are not taken, nothing more is heard, and where
//! anything is not taken, timers are late. They are not lost, as they may be what ends the waiting.

use super::connect::{Incoming, Target, accept, accepted, dial};
use super::connection::{Common, Connection, ConnectionEvent, End, FLOOD, GRACE};
use super::listen::{BREATH, Outcome, idle};
use super::queue::Policy;
use super::recorder::{Recorder, Setup};
use super::screen::{Screen, ScreenWriter};
use super::signals::{Signals, from_terminal};
use super::socket::Socket;
use super::tls::Server;
use super::{now, pipes};
use crate::capture::Stream;
use crate::live::handler::{Command, Ended, Handler};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Events that wait for the handler.
const EVENTS: usize = 32;
/// How long the end may take once it is to be at once: until children that were killed are gone.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Nanoseconds since 1970 that never go back.
struct Clock {
    wall: i64,
    start: Instant,
}

impl Clock {
    fn new() -> Self {
        Self {
            wall: now().try_into().unwrap_or_default(),
            start: Instant::now(),
        }
    }

    fn now(&self) -> i64 {
        let passed = i64::try_from(self.start.elapsed().as_nanos());
        self.wall.saturating_add(passed.unwrap_or(i64::MAX))
    }

    /// When it will be so late, or was when it began.
    fn at(&self, time: i64) -> Instant {
        let left = u64::try_from(time.saturating_sub(self.wall)).unwrap_or_default();
        self.start + Duration::from_nanos(left)
    }
}

/// A handler, and all it has to do with.
pub(super) struct Driver<'a> {
    handler: &'a mut dyn Handler,
    ours: Stream,
    target: Option<Arc<Target>>,
    common: Arc<Common>,
    events: mpsc::Receiver<(Arc<Connection>, ConnectionEvent)>,
    /// Numbers that cannot be dialled, and why.
    refused: VecDeque<(u32, String)>,
    connections: BTreeMap<u32, Arc<Connection>>,
    tasks: JoinSet<()>,
    screen_writer: ScreenWriter,
    clock: Clock,
    commands: Vec<Command>,
    stopped: bool,
    /// It ends when the first connection has ended.
    pub(super) once: bool,
    /// It ends when nothing has passed for so long.
    pub(super) idle: Option<Duration>,
    /// When the handler was last called for the time.
    ticked: Option<Instant>,
    /// Connections that were accepted.
    accepted: u32,
    outcome: Outcome,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        handler: &'a mut dyn Handler,
        ours: Stream,
        target: Option<Target>,
        screen: Screen,
        mut setup: Setup,
    ) -> io::Result<Self> {
        // A handler can wait; what it said and heard is not to be lost.
        setup.policy = Policy::Wait;
        let say = Arc::clone(&setup.say);
        let recorder = Recorder::new(setup);
        recorder.spawn()?;
        let (sender, events) = mpsc::channel(EVENTS);
        let common = Arc::new(Common {
            pulse: AtomicI64::new(recorder.queue.now()),
            untaken: AtomicU64::new(0),
            recorder,
            say,
            floods: AtomicUsize::new(0),
            clogs: AtomicUsize::new(0),
            room: Notify::new(),
            events: sender,
        });
        Ok(Self {
            handler,
            ours,
            target: target.map(Arc::new),
            screen_writer: ScreenWriter::new(screen, &common)?,
            common,
            events,
            refused: VecDeque::new(),
            connections: BTreeMap::new(),
            tasks: JoinSet::new(),
            clock: Clock::new(),
            commands: Vec::new(),
            stopped: false,
            once: false,
            idle: None,
            ticked: None,
            accepted: 0,
            outcome: Outcome::default(),
        })
    }

    /// Connection 1 is with whoever started us.
    pub(super) fn stdio(&mut self, stdin: File, stdout: File) {
        let connection = self.connection(1);
        self.tasks
            .spawn(async move { pipes::ours(stdin, stdout, &connection).await });
    }

    /// Until the handler stops, or there is nothing left for it.
    pub(super) async fn run(&mut self, mut signals: Signals, incoming: Option<Incoming>) {
        let common = Arc::clone(&self.common);
        let now = self.clock.now();
        self.handler.begin(now, &mut self.commands);
        self.carry_out(false);
        let mut signalled = false;
        loop {
            while !self.stopped && self.refusals() {}
            self.tick();
            if self.stopped || self.is_over(incoming.is_some()) {
                break;
            }
            let clogged = self.is_clogged();
            let due = self.due();
            tokio::select! {
                biased;
                signal = signals.next() => {
                    self.outcome.signal.get_or_insert(signal.as_raw());
                    // Children are in groups of their own, which keys do not reach.
                    for connection in self.connections.values().filter(|_| from_terminal(signal)) {
                        connection.signal(signal);
                    }
                    let now = self.clock.now();
                    self.handler.interrupted(now, &mut self.commands);
                    self.carry_out(false);
                    if signalled {
                        return self.end(None).await;
                    }
                    signalled = true;
                }
                () = common.room.notified() => {}
                Some((connection, event)) = self.events.recv(), if !clogged => self.hear(&connection, event),
                accepted = accept(incoming.as_ref()), if !clogged => match accepted {
                    Ok((socket, peer, tls)) => self.accept(socket, peer, tls),
                    Err(error) => {
                        (common.say)(&format!("cannot accept a connection: {error}"));
                        tokio::time::sleep(BREATH).await;
                    }
                },
                () = idle(self.idle, &common.recorder.queue, &common.pulse) => break,
                () = until(due) => {}
            }
        }
        drop(incoming);
        self.end(Some(signals)).await;
    }

    /// How it went; call it when nothing runs any more.
    pub(super) fn outcome(self) -> Outcome {
        let Self {
            common,
            mut outcome,
            screen_writer,
            ..
        } = self;
        common.recorder.queue.close();
        outcome.seen = common.recorder.join(&common.say);
        outcome.untaken = common.untaken.load(Ordering::Relaxed);
        if let Some(error) = screen_writer.trouble() {
            (common.say)(&format!("cannot write to stdout: {error}"));
            outcome.seen.trouble = true;
        }
        outcome
    }

    /// Whether nothing can happen any more.
    fn is_over(&self, incoming: bool) -> bool {
        if self.screen_writer.is_closed() {
            return true;
        }
        let empty = self.connections.is_empty() && self.refused.is_empty();
        // Whoever started us does so once.
        let alone = self.target.is_none() && !incoming;
        empty && !incoming && (alone || self.handler.due().is_none())
    }

    /// Whether the handler has answered more than is taken.
    fn is_clogged(&self) -> bool {
        self.screen_writer.waiting() > FLOOD || self.common.clogs.load(Ordering::Relaxed) > 0
    }

    /// Whether the handler has said more than is taken.
    fn is_flooded(&self) -> bool {
        self.is_clogged() || self.common.floods.load(Ordering::Relaxed) > 0
    }

    /// When the handler is to be called if nothing happens before.
    fn due(&self) -> Option<Instant> {
        let due = self.clock.at(self.handler.due()?);
        let late = self.ticked.filter(|_| self.is_flooded());
        Some(late.map_or(due, |ticked| due.max(ticked + GRACE)))
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if !self.stopped && self.due().is_some_and(|due| due <= now) {
            self.ticked = Some(now);
            self.handler.tick(self.clock.now(), &mut self.commands);
            self.carry_out(false);
        }
    }

    /// Tells of one that cannot be dialled; says whether there was one.
    fn refusals(&mut self) -> bool {
        let Some((conn, why)) = self.refused.pop_front() else {
            return false;
        };
        self.ended(conn, &Ended::Refused(why));
        true
    }

    fn hear(&mut self, connection: &Arc<Connection>, event: ConnectionEvent) {
        let (now, conn) = (self.clock.now(), connection.conn);
        // A thread that was left behind may still tell something of a connection that is over.
        let known = self.connections.get(&conn);
        if known.is_none_or(|known| !Arc::ptr_eq(known, connection)) {
            return;
        }
        let answers = matches!(event, ConnectionEvent::Received(_));
        match event {
            ConnectionEvent::Opened | ConnectionEvent::Received(_) | ConnectionEvent::Eof
                if connection.is_cut() => {}
            ConnectionEvent::Opened => self.handler.opened(conn, now, &mut self.commands),
            ConnectionEvent::Received(bytes) => {
                self.handler.received(conn, &bytes, now, &mut self.commands);
            }
            ConnectionEvent::Eof => {
                let eof = Ended::Eof;
                self.handler.ended(conn, &eof, now, &mut self.commands);
            }
            ConnectionEvent::Over(how) => {
                self.connections.remove(&conn);
                self.ended(conn, &how);
                self.stopped |= self.once;
                return;
            }
            ConnectionEvent::Failed => {
                self.connections.remove(&conn);
                self.outcome.refused |= self.once;
                self.stopped |= self.once;
            }
        }
        self.carry_out(answers);
    }

    fn ended(&mut self, conn: u32, how: &Ended) {
        self.outcome.refused |= matches!(how, Ended::Refused(_));
        let now = self.clock.now();
        self.handler.ended(conn, how, now, &mut self.commands);
        self.carry_out(false);
    }

    fn connection(&mut self, conn: u32) -> Arc<Connection> {
        // Tasks that have ended are held until somebody looks.
        while self.tasks.try_join_next().is_some() {}
        let connection = Connection::new(conn, self.ours, &self.common);
        self.connections.insert(conn, Arc::clone(&connection));
        connection
    }

    fn accept(&mut self, socket: Socket, peer: Option<String>, tls: Option<Server>) {
        self.accepted += 1;
        let connection = self.connection(self.accepted);
        self.tasks
            .spawn(async move { accepted(socket, peer, tls, &connection).await });
    }

    /// Does what was ordered, as an answer or unasked.
    fn carry_out(&mut self, answer: bool) {
        let mut commands = std::mem::take(&mut self.commands);
        for command in commands.drain(..) {
            if self.stopped {
                break;
            }
            match command {
                Command::Connect(conn) => self.dial(conn),
                Command::Send(conn, bytes) => {
                    if let Some(connection) = self.connections.get(&conn) {
                        connection.send(bytes, answer);
                    }
                }
                Command::Finish(conn) => self.end_connection(conn, End::Shut),
                Command::Close(conn) => self.end_connection(conn, End::Close),
                Command::Reset(conn) => self.end_connection(conn, End::Cut),
                Command::Print(text) => self.screen_writer.show(text),
                Command::Log(text) => (self.common.say)(&text),
                Command::Stop => self.stopped = true,
            }
        }
        self.commands = commands;
    }

    fn end_connection(&self, conn: u32, end: End) {
        if let Some(connection) = self.connections.get(&conn) {
            connection.end(end);
        }
    }

    fn dial(&mut self, conn: u32) {
        if self.connections.contains_key(&conn) {
            (self.common.say)(&format!("connection {conn} is open already"));
            return;
        }
        let Some(target) = self.target.clone() else {
            let why = "nobody can be dialled here".to_owned();
            return self.refused.push_back((conn, why));
        };
        let connection = self.connection(conn);
        self.tasks
            .spawn(async move { dial(&target, &connection).await });
    }

    /// What was ordered is carried out, what is open is closed; at once where no signals are waited for.
    async fn end(&mut self, signals: Option<Signals>) {
        self.stopped = true;
        for connection in self.connections.values() {
            connection.stop();
        }
        if let Some(mut signals) = signals {
            let at_ease = async {
                while !self.tasks.is_empty() {
                    tokio::select! {
                        Some((connection, event)) = self.events.recv() => over(&mut self.connections, &connection, &event),
                        Some(_) = self.tasks.join_next() => {}
                    }
                }
                self.screen_writer.finish().await;
            };
            tokio::select! {
                () = at_ease => {}
                signal = signals.next() => {
                    self.outcome.signal.get_or_insert(signal.as_raw());
                }
            }
        }
        for connection in self.connections.values() {
            connection.end(End::Cut);
        }
        let at_once = async {
            while !self.tasks.is_empty() {
                tokio::select! {
                    Some((connection, event)) = self.events.recv() => over(&mut self.connections, &connection, &event),
                    Some(_) = self.tasks.join_next() => {}
                }
            }
        };
        let _ = tokio::time::timeout(AT_ONCE, at_once).await;
        self.tasks.shutdown().await;
        while let Ok((connection, event)) = self.events.try_recv() {
            over(&mut self.connections, &connection, &event);
        }
        for connection in self.connections.values() {
            connection.closed(true);
        }
    }
}

fn over(
    connections: &mut BTreeMap<u32, Arc<Connection>>,
    connection: &Connection,
    event: &ConnectionEvent,
) {
    if let ConnectionEvent::Over(_) | ConnectionEvent::Failed = event {
        connections.remove(&connection.conn);
    }
}

/// Waits for a time, where there is one.
async fn until(due: Option<Instant>) {
    match due {
        None => std::future::pending().await,
        // What is due at once still lets others work.
        Some(due) if due <= Instant::now() => tokio::task::yield_now().await,
        Some(due) => tokio::time::sleep_until(due).await,
    }
}

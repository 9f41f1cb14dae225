//! The driver of a handler: passes events to it one by one and executes its commands.
//!
//! ```text
//!   connections --events--> handler --commands--> connections, new connections, screen
//!   clock --tick--/
//! ```
//!
//! Memory is bounded, except for the output of one command: while peers do not take their answers, nothing more is read,
//! and while they do not take anything, timers are late. Timers are never dropped, because one may end the waiting.

use super::connect::{Accepted, Incoming, Target, accept, connect, serve_accepted};
use super::connection::{
    Common, Connection, ConnectionEvent, MAX_WAITING, STALL_TIMEOUT, WriteEnd,
};
use super::listen::{ACCEPT_RETRY_DELAY, AcceptErrors, ListenOutcome, wait_for_idle};
use super::recorder::{Recorder, Setup};
use super::screen::{ScreenWriter, TextScreen};
use super::signals::{Signals, from_terminal};
use super::{now, pipes};
use crate::capture::ChunkSource;
use crate::live::handler::{Command, Ended, Handler};
use crate::protocol::Channel;
use crate::relay::Policy;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Capacity of the channel of events.
const EVENT_CAPACITY: usize = 32;
/// Time limit for an immediate end, in which killed children are waited for.
const ABORT_TIMEOUT: Duration = Duration::from_secs(1);

/// Nanoseconds since 1970, monotonic: a step of the clock of the system does not change it.
pub struct Clock {
    wall: i64,
    start: Instant,
}

impl Clock {
    /// Reads the clock of the system.
    pub fn new() -> Self {
        Self {
            wall: now().try_into().unwrap_or_default(),
            start: Instant::now(),
        }
    }

    /// Returns the current time.
    pub fn now(&self) -> i64 {
        let passed = i64::try_from(self.start.elapsed().as_nanos());
        self.wall.saturating_add(passed.unwrap_or(i64::MAX))
    }

    /// The instant of a time of this clock, in the future or in the past.
    fn at(&self, time: i64) -> Instant {
        let left = u64::try_from(time.saturating_sub(self.wall)).unwrap_or_default();
        self.start + Duration::from_nanos(left)
    }
}

/// A handler and its surroundings.
pub(super) struct Driver<'a> {
    handler: &'a mut dyn Handler,
    ours: ChunkSource,
    target: Option<Arc<Target>>,
    common: Arc<Common>,
    events: mpsc::Receiver<(Arc<Connection>, ConnectionEvent)>,
    /// Connections that could not be opened, with the reason.
    refused: VecDeque<(u32, String)>,
    connections: BTreeMap<Channel, Arc<Connection>>,
    tasks: JoinSet<()>,
    screen_writer: ScreenWriter,
    clock: Clock,
    commands: Vec<Command>,
    stopped: bool,
    /// The run ends with the first connection.
    pub(super) once: bool,
    /// The run ends after this time without traffic.
    pub(super) idle: Option<Duration>,
    /// Time of the last call of the handler's timer.
    ticked: Option<Instant>,
    /// Number of accepted connections.
    accepted: u32,
    outcome: ListenOutcome,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        handler: &'a mut dyn Handler,
        ours: ChunkSource,
        target: Option<Target>,
        screen: TextScreen,
        mut setup: Setup,
    ) -> io::Result<Self> {
        // A handler can wait, so the recording must be complete.
        setup.policy = Policy::Wait;
        let print = Arc::clone(&setup.print);
        let recorder = Recorder::new(setup);
        recorder.spawn()?;
        let (sender, events) = mpsc::channel(EVENT_CAPACITY);
        let common = Arc::new(Common {
            last_transfer: AtomicI64::new(recorder.queue.now()),
            undelivered: AtomicU64::new(0),
            recorder,
            print,
            full_queues: AtomicUsize::new(0),
            full_answers: AtomicUsize::new(0),
            space_freed: Notify::new(),
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
            outcome: ListenOutcome::default(),
        })
    }

    /// Opens connection 1 to the parent process.
    pub(super) fn stdio(&mut self, stdin: File, stdout: File) {
        let connection = self.connection(1.into());
        self.tasks
            .spawn(async move { pipes::serve_parent(stdin, stdout, &connection).await });
    }

    /// Runs until the handler stops or has nothing left to do.
    pub(super) async fn run(&mut self, mut signals: Signals, incoming: Option<Incoming>) {
        let common = Arc::clone(&self.common);
        let now = self.clock.now();
        self.handler.begin(now, &mut self.commands);
        self.execute(false);
        let mut signalled = false;
        let mut accept_errors = AcceptErrors::default();
        loop {
            while !self.stopped && self.report_refusal() {}
            self.tick();
            if self.stopped || self.is_finished(incoming.is_some()) {
                break;
            }
            let too_many_answers = self.is_over_answer_limit();
            let due = self.due();
            tokio::select! {
                biased;
                signal = signals.next() => {
                    self.outcome.signal.get_or_insert(signal.as_raw());
                    // Children are in process groups of their own, so Ctrl-C does not reach them.
                    for connection in self.connections.values().filter(|_| from_terminal(signal)) {
                        connection.signal(signal);
                    }
                    let now = self.clock.now();
                    self.handler.interrupted(now, &mut self.commands);
                    self.execute(false);
                    if signalled {
                        return self.end(None).await;
                    }
                    signalled = true;
                }
                () = common.space_freed.notified() => {}
                Some((connection, event)) = self.events.recv(), if !too_many_answers => self.handle_event(&connection, event),
                accepted = accept(incoming.as_ref()), if !too_many_answers => match accepted {
                    Ok(accepted) => self.accept(accepted),
                    Err(error) => {
                        accept_errors.print(&error, &common.print);
                        tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                    }
                },
                () = wait_for_idle(self.idle, &common.recorder.queue, &common.last_transfer) => break,
                () = wait_until(due) => {}
            }
        }
        drop(incoming);
        self.end(Some(signals)).await;
    }

    /// The result of the run. Call it after everything has ended.
    pub(super) fn outcome(self) -> ListenOutcome {
        let Self {
            common,
            mut outcome,
            screen_writer,
            ..
        } = self;
        common.recorder.queue.close();
        outcome.seen = common.recorder.join(&common.print);
        outcome.undelivered = common.undelivered.load(Ordering::Relaxed);
        if let Some(error) = screen_writer.error() {
            (common.print)(&format!("cannot write to stdout: {error}"));
            outcome.seen.failed = true;
        }
        outcome
    }

    /// Returns `true` if no event can follow.
    fn is_finished(&self, incoming: bool) -> bool {
        if self.screen_writer.is_closed() {
            return true;
        }
        let empty = self.connections.is_empty() && self.refused.is_empty();
        // The parent process connects only once.
        let alone = self.target.is_none() && !incoming;
        empty && !incoming && (alone || self.handler.due().is_none())
    }

    /// Returns `true` if too many bytes of answers wait.
    fn is_over_answer_limit(&self) -> bool {
        self.screen_writer.waiting() > MAX_WAITING
            || self.common.full_answers.load(Ordering::Relaxed) > 0
    }

    /// Returns `true` if too many bytes of any kind wait.
    fn is_over_queue_limit(&self) -> bool {
        self.is_over_answer_limit() || self.common.full_queues.load(Ordering::Relaxed) > 0
    }

    /// The time at which the handler is called if no event precedes it.
    fn due(&self) -> Option<Instant> {
        let due = self.clock.at(self.handler.due()?);
        let late = self.ticked.filter(|_| self.is_over_queue_limit());
        Some(late.map_or(due, |ticked| due.max(ticked + STALL_TIMEOUT)))
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if !self.stopped && self.due().is_some_and(|due| due <= now) {
            self.ticked = Some(now);
            self.handler.tick(self.clock.now(), &mut self.commands);
            self.execute(false);
        }
    }

    /// Reports one connection that could not be opened. Returns `false` if there was none.
    fn report_refusal(&mut self) -> bool {
        let Some((conn, why)) = self.refused.pop_front() else {
            return false;
        };
        self.ended(conn.into(), &Ended::Refused(why));
        true
    }

    fn handle_event(&mut self, connection: &Arc<Connection>, event: ConnectionEvent) {
        let (now, channel) = (self.clock.now(), connection.channel());
        let conn = channel.conn;
        if let ConnectionEvent::Accepted = event {
            self.connections.insert(channel, Arc::clone(connection));
            return;
        }
        // A thread that was left behind may still send events of a connection that has ended.
        let known = self.connections.get(&channel);
        if known.is_none_or(|known| !Arc::ptr_eq(known, connection)) {
            return;
        }
        let answers = matches!(event, ConnectionEvent::Received(_));
        match event {
            ConnectionEvent::Opened | ConnectionEvent::Received(_) | ConnectionEvent::Eof
                if connection.is_reset_requested() => {}
            ConnectionEvent::Accepted => {}
            ConnectionEvent::Opened => self.handler.opened(conn, now, &mut self.commands),
            ConnectionEvent::Received(bytes) => {
                self.handler
                    .received(channel, &bytes, now, &mut self.commands);
            }
            ConnectionEvent::Eof => {
                let eof = Ended::Eof;
                self.handler.ended(channel, &eof, now, &mut self.commands);
            }
            ConnectionEvent::Ended(how) => {
                self.connections.remove(&channel);
                self.ended(channel, &how);
                self.stopped |= self.once && channel.stream.is_none();
                return;
            }
            ConnectionEvent::Failed => {
                self.connections.remove(&channel);
                self.outcome.refused |= self.once;
                self.stopped |= self.once;
            }
        }
        self.execute(answers);
    }

    fn ended(&mut self, channel: Channel, how: &Ended) {
        self.outcome.refused |= matches!(how, Ended::Refused(_));
        let now = self.clock.now();
        self.handler.ended(channel, how, now, &mut self.commands);
        self.execute(false);
    }

    fn connection(&mut self, channel: Channel) -> Arc<Connection> {
        // A finished task stays in the set until it is joined.
        while self.tasks.try_join_next().is_some() {}
        let connection = Connection::new(channel, self.ours, &self.common);
        self.connections.insert(channel, Arc::clone(&connection));
        connection
    }

    fn accept(&mut self, accepted: Accepted) {
        self.accepted += 1;
        let connection = self.connection(self.accepted.into());
        self.tasks
            .spawn(async move { serve_accepted(accepted, &connection).await });
    }

    /// Returns a channel to send on. A stream that does not exist yet is opened.
    fn channel(&mut self, channel: Channel) -> Option<Arc<Connection>> {
        let known = self.connections.get(&channel).cloned();
        let is_server = u64::from(self.ours != ChunkSource::C2s);
        // The lowest bit names the side that opens the stream (RFC 9000 section 2.1).
        if known.is_some() || channel.stream.is_none_or(|stream| stream & 1 != is_server) {
            return known;
        }
        let whole = self.connections.get(&channel.conn.into())?;
        let whole = Arc::clone(whole);
        whole.opener.get()?;
        let stream = self.connection(channel);
        whole.open_stream(&stream).then_some(stream)
    }

    /// Executes the commands of the handler, which answer an event or are unsolicited.
    fn execute(&mut self, answer: bool) {
        let mut commands = std::mem::take(&mut self.commands);
        for command in commands.drain(..) {
            if self.stopped {
                break;
            }
            match command {
                Command::Connect(conn) => self.connect(conn),
                Command::Send(channel, bytes) => {
                    if let Some(connection) = self.channel(channel) {
                        connection.send(bytes, answer);
                    }
                }
                Command::Finish(channel) => {
                    if let Some(connection) = self.channel(channel) {
                        connection.end(WriteEnd::Finish);
                    }
                }
                Command::Close(conn) => self.end_connection(conn, WriteEnd::Close),
                Command::Reset(conn) => self.end_connection(conn, WriteEnd::Reset),
                Command::Print(text) => self.screen_writer.show(text),
                Command::Log(text) => (self.common.print)(&text),
                Command::Stop => self.stopped = true,
            }
        }
        self.commands = commands;
    }

    fn end_connection(&self, conn: u32, end: WriteEnd) {
        let last = Channel {
            conn,
            stream: Some(u64::MAX),
        };
        for (_, connection) in self.connections.range(Channel::from(conn)..=last) {
            connection.end(end);
        }
    }

    fn connect(&mut self, conn: u32) {
        if self.connections.contains_key(&conn.into()) {
            (self.common.print)(&format!("connection {conn} is open already"));
            return;
        }
        let Some(target) = self.target.clone() else {
            let why = "this run cannot open connections".to_owned();
            return self.refused.push_back((conn, why));
        };
        let connection = self.connection(conn.into());
        self.tasks
            .spawn(async move { connect(&target, &connection).await });
    }

    /// Executes the remaining commands and closes all connections; immediately if `signals` is `None`.
    async fn end(&mut self, signals: Option<Signals>) {
        self.stopped = true;
        for connection in self.connections.values() {
            connection.stop();
        }
        if let Some(mut signals) = signals {
            let finishing = async {
                while !self.tasks.is_empty() {
                    tokio::select! {
                        Some((connection, event)) = self.events.recv() => remove_ended(&mut self.connections, &connection, &event),
                        Some(_) = self.tasks.join_next() => {}
                    }
                }
                self.screen_writer.finish().await;
            };
            tokio::select! {
                () = finishing => {}
                signal = signals.next() => {
                    self.outcome.signal.get_or_insert(signal.as_raw());
                }
            }
        }
        for connection in self.connections.values() {
            connection.end(WriteEnd::Reset);
        }
        let aborting = async {
            while !self.tasks.is_empty() {
                tokio::select! {
                    Some((connection, event)) = self.events.recv() => remove_ended(&mut self.connections, &connection, &event),
                    Some(_) = self.tasks.join_next() => {}
                }
            }
        };
        let _ = tokio::time::timeout(ABORT_TIMEOUT, aborting).await;
        self.tasks.shutdown().await;
        while let Ok((connection, event)) = self.events.try_recv() {
            remove_ended(&mut self.connections, &connection, &event);
        }
        for connection in self.connections.values() {
            connection.closed(true);
        }
    }
}

fn remove_ended(
    connections: &mut BTreeMap<Channel, Arc<Connection>>,
    connection: &Connection,
    event: &ConnectionEvent,
) {
    if let ConnectionEvent::Ended(_) | ConnectionEvent::Failed = event {
        connections.remove(&connection.channel());
    }
}

/// Waits until a time, or forever.
async fn wait_until(due: Option<Instant>) {
    match due {
        None => std::future::pending().await,
        // Other tasks run even if the time is already due.
        Some(due) if due <= Instant::now() => tokio::task::yield_now().await,
        Some(due) => tokio::time::sleep_until(due).await,
    }
}

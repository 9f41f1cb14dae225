//! Drives an actor: tells it what happens, one thing after another, and does what it orders.
//!
//! ```text
//!   lines --news--> actor --orders--> lines, dials, screen
//!   clock --tick--/
//! ```
//!
//! What waits to be sent is bounded, apart from one order: where answers are not taken, nothing more is heard, and where
//! anything is not taken, timers are late. They are not lost, as they may be what ends the waiting.

use super::desk::{Behind, Setup};
use super::doors::{Door, Target, accept, accepted, dial};
use super::line::{Common, End, FLOOD, GRACE, Line, News};
use super::proxy::{BREATH, Outcome, idle};
use super::queue::Policy;
use super::screen::{Screen, Shows};
use super::signals::{Signals, from_terminal};
use super::socket::Socket;
use super::tls::Server;
use super::{now, pipes};
use crate::capture::Stream;
use crate::conversation::actor::{Actor, Ended, Order};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// News that wait for the actor.
const NEWS: usize = 32;
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

/// An actor, and all it has to do with.
pub(super) struct Driver<'a> {
    actor: &'a mut dyn Actor,
    ours: Stream,
    target: Option<Arc<Target>>,
    common: Arc<Common>,
    news: mpsc::Receiver<(Arc<Line>, News)>,
    /// Numbers that cannot be dialled, and why.
    refused: VecDeque<(u32, String)>,
    lines: BTreeMap<u32, Arc<Line>>,
    tasks: JoinSet<()>,
    shows: Shows,
    clock: Clock,
    orders: Vec<Order>,
    stopped: bool,
    /// It ends when the first connection has ended.
    pub(super) once: bool,
    /// It ends when nothing has passed for so long.
    pub(super) idle: Option<Duration>,
    /// When the actor was last called for the time.
    ticked: Option<Instant>,
    /// Connections that were accepted.
    accepted: u32,
    outcome: Outcome,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        actor: &'a mut dyn Actor,
        ours: Stream,
        target: Option<Target>,
        screen: Screen,
        mut setup: Setup,
    ) -> io::Result<Self> {
        // An actor can wait; what it said and heard is not to be lost.
        setup.policy = Policy::Wait;
        let say = Arc::clone(&setup.say);
        let behind = Behind::new(setup);
        behind.spawn()?;
        let (sender, news) = mpsc::channel(NEWS);
        let common = Arc::new(Common {
            pulse: AtomicI64::new(behind.queue.now()),
            untaken: AtomicU64::new(0),
            behind,
            say,
            floods: AtomicUsize::new(0),
            clogs: AtomicUsize::new(0),
            room: Notify::new(),
            news: sender,
        });
        Ok(Self {
            actor,
            ours,
            target: target.map(Arc::new),
            shows: Shows::new(screen, &common)?,
            common,
            news,
            refused: VecDeque::new(),
            lines: BTreeMap::new(),
            tasks: JoinSet::new(),
            clock: Clock::new(),
            orders: Vec::new(),
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
        let line = self.line(1);
        self.tasks
            .spawn(async move { pipes::ours(stdin, stdout, &line).await });
    }

    /// Until the actor stops, or there is nothing left for it.
    pub(super) async fn run(&mut self, mut signals: Signals, door: Option<Door>) {
        let common = Arc::clone(&self.common);
        let now = self.clock.now();
        self.actor.begin(now, &mut self.orders);
        self.carry_out(false);
        let mut signalled = false;
        loop {
            while !self.stopped && self.refusals() {}
            self.tick();
            if self.stopped || self.is_over(door.is_some()) {
                break;
            }
            let clogged = self.is_clogged();
            let due = self.due();
            tokio::select! {
                biased;
                signal = signals.next() => {
                    self.outcome.signal.get_or_insert(signal.as_raw());
                    // Children are in groups of their own, which keys do not reach.
                    for line in self.lines.values().filter(|_| from_terminal(signal)) {
                        line.signal(signal);
                    }
                    let now = self.clock.now();
                    self.actor.interrupted(now, &mut self.orders);
                    self.carry_out(false);
                    if signalled {
                        return self.end(None).await;
                    }
                    signalled = true;
                }
                () = common.room.notified() => {}
                Some((line, news)) = self.news.recv(), if !clogged => self.hear(&line, news),
                accepted = accept(door.as_ref()), if !clogged => match accepted {
                    Ok((socket, peer, tls)) => self.accept(socket, peer, tls),
                    Err(error) => {
                        (common.say)(&format!("cannot accept a connection: {error}"));
                        tokio::time::sleep(BREATH).await;
                    }
                },
                () = idle(self.idle, &common.behind.queue, &common.pulse) => break,
                () = until(due) => {}
            }
        }
        drop(door);
        self.end(Some(signals)).await;
    }

    /// How it went; call it when nothing runs any more.
    pub(super) fn outcome(self) -> Outcome {
        let Self {
            common,
            mut outcome,
            shows,
            ..
        } = self;
        common.behind.queue.close();
        outcome.seen = common.behind.join(&common.say);
        outcome.untaken = common.untaken.load(Ordering::Relaxed);
        if let Some(error) = shows.trouble() {
            (common.say)(&format!("cannot write to stdout: {error}"));
            outcome.seen.trouble = true;
        }
        outcome
    }

    /// Whether nothing can happen any more.
    fn is_over(&self, door: bool) -> bool {
        if self.shows.is_closed() {
            return true;
        }
        let empty = self.lines.is_empty() && self.refused.is_empty();
        // Whoever started us does so once.
        let alone = self.target.is_none() && !door;
        empty && !door && (alone || self.actor.due().is_none())
    }

    /// Whether the actor has answered more than is taken.
    fn is_clogged(&self) -> bool {
        self.shows.waiting() > FLOOD || self.common.clogs.load(Ordering::Relaxed) > 0
    }

    /// Whether the actor has said more than is taken.
    fn is_flooded(&self) -> bool {
        self.is_clogged() || self.common.floods.load(Ordering::Relaxed) > 0
    }

    /// When the actor is to be called if nothing happens before.
    fn due(&self) -> Option<Instant> {
        let due = self.clock.at(self.actor.due()?);
        let late = self.ticked.filter(|_| self.is_flooded());
        Some(late.map_or(due, |ticked| due.max(ticked + GRACE)))
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if !self.stopped && self.due().is_some_and(|due| due <= now) {
            self.ticked = Some(now);
            self.actor.tick(self.clock.now(), &mut self.orders);
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

    fn hear(&mut self, line: &Arc<Line>, news: News) {
        let (now, conn) = (self.clock.now(), line.conn);
        // A thread that was left behind may still tell something of a line that is over.
        let known = self.lines.get(&conn);
        if known.is_none_or(|known| !Arc::ptr_eq(known, line)) {
            return;
        }
        let answers = matches!(news, News::Heard(_));
        match news {
            News::Opened | News::Heard(_) | News::Eof if line.is_cut() => {}
            News::Opened => self.actor.opened(conn, now, &mut self.orders),
            News::Heard(bytes) => self.actor.heard(conn, &bytes, now, &mut self.orders),
            News::Eof => {
                let eof = Ended::Eof;
                self.actor.ended(conn, &eof, now, &mut self.orders);
            }
            News::Over(how) => {
                self.lines.remove(&conn);
                self.ended(conn, &how);
                self.stopped |= self.once;
                return;
            }
            News::Failed => {
                self.lines.remove(&conn);
                self.outcome.refused |= self.once;
                self.stopped |= self.once;
            }
        }
        self.carry_out(answers);
    }

    fn ended(&mut self, conn: u32, how: &Ended) {
        self.outcome.refused |= matches!(how, Ended::Refused(_));
        let now = self.clock.now();
        self.actor.ended(conn, how, now, &mut self.orders);
        self.carry_out(false);
    }

    fn line(&mut self, conn: u32) -> Arc<Line> {
        // Tasks that have ended are held until somebody looks.
        while self.tasks.try_join_next().is_some() {}
        let line = Line::new(conn, self.ours, &self.common);
        self.lines.insert(conn, Arc::clone(&line));
        line
    }

    fn accept(&mut self, socket: Socket, peer: Option<String>, tls: Option<Server>) {
        self.accepted += 1;
        let line = self.line(self.accepted);
        self.tasks
            .spawn(async move { accepted(socket, peer, tls, &line).await });
    }

    /// Does what was ordered, as an answer or unasked.
    fn carry_out(&mut self, answer: bool) {
        let mut orders = std::mem::take(&mut self.orders);
        for order in orders.drain(..) {
            if self.stopped {
                break;
            }
            match order {
                Order::Dial(conn) => self.dial(conn),
                Order::Send(conn, bytes) => {
                    if let Some(line) = self.lines.get(&conn) {
                        line.send(bytes, answer);
                    }
                }
                Order::Shut(conn) => self.order(conn, End::Shut),
                Order::Close(conn) => self.order(conn, End::Close),
                Order::Reset(conn) => self.order(conn, End::Cut),
                Order::Show(text) => self.shows.show(text),
                Order::Say(text) => (self.common.say)(&text),
                Order::Stop => self.stopped = true,
            }
        }
        self.orders = orders;
    }

    fn order(&self, conn: u32, end: End) {
        if let Some(line) = self.lines.get(&conn) {
            line.end(end);
        }
    }

    fn dial(&mut self, conn: u32) {
        if self.lines.contains_key(&conn) {
            (self.common.say)(&format!("connection {conn} is open already"));
            return;
        }
        let Some(target) = self.target.clone() else {
            let why = "nobody can be dialled here".to_owned();
            return self.refused.push_back((conn, why));
        };
        let line = self.line(conn);
        self.tasks.spawn(async move { dial(&target, &line).await });
    }

    /// What was ordered is carried out, what is open is closed; at once where no signals are waited for.
    async fn end(&mut self, signals: Option<Signals>) {
        self.stopped = true;
        for line in self.lines.values() {
            line.stop();
        }
        if let Some(mut signals) = signals {
            let at_ease = async {
                while !self.tasks.is_empty() {
                    tokio::select! {
                        Some((line, news)) = self.news.recv() => over(&mut self.lines, &line, &news),
                        Some(_) = self.tasks.join_next() => {}
                    }
                }
                self.shows.finish().await;
            };
            tokio::select! {
                () = at_ease => {}
                signal = signals.next() => {
                    self.outcome.signal.get_or_insert(signal.as_raw());
                }
            }
        }
        for line in self.lines.values() {
            line.end(End::Cut);
        }
        let at_once = async {
            while !self.tasks.is_empty() {
                tokio::select! {
                    Some((line, news)) = self.news.recv() => over(&mut self.lines, &line, &news),
                    Some(_) = self.tasks.join_next() => {}
                }
            }
        };
        let _ = tokio::time::timeout(AT_ONCE, at_once).await;
        self.tasks.shutdown().await;
        while let Ok((line, news)) = self.news.try_recv() {
            over(&mut self.lines, &line, &news);
        }
        for line in self.lines.values() {
            line.closed(true);
        }
    }
}

fn over(lines: &mut BTreeMap<u32, Arc<Line>>, line: &Line, news: &News) {
    if let News::Over(_) | News::Failed = news {
        lines.remove(&line.conn);
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

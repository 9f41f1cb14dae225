//! Plays the calling side of a session: the steps of a recording, whose answers are compared, or messages as they are typed,
//! whose answers are shown.
//!
//! ```text
//!   recording -> Plan: steps (ours), expected (theirs), names (who made which value)      words, lines -> Feed
//!                 |                                                                                        |
//!   begin, opened, received, ended, tick --> Client <------------------------------------------------------'
//!                                              '--> connect, send, close; Event: received, diverged, hangs
//! ```
//!
//! A step goes out once its connection is ready, the steps before it on that connection went out, and every value in it
//! that the other side makes is known. What is typed goes out in turn.

mod compare;
mod connections;
mod deadline;
mod feed;
mod outcome;
mod schedule;
#[cfg(test)]
pub(crate) mod tests;

use crate::conversation::Judge;
use crate::diff::{Compare, Ids, Ignore, Which};
use crate::framing::Limits;
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::{Endpoint, SessionEvent};
use crate::live::handler::{Command, Ended, Handler};
use crate::live::names::{Binding, Values};
use crate::live::plan::{CONN, Expected, Plan, PlannedConnection, Step};
use crate::live::speed::Speed;
use crate::protocol::peer::{PeerConfig, Says};
use connections::{ConnectionOrder, ConnectionState, Stage};
use feed::Feed;
pub use feed::Input;
pub use outcome::{Difference, Divergence, Event, Hang, Outcome};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// What is told goes here, with room for what is to be shown.
pub type Observer<'t> = Box<dyn FnMut(Event<'_>, &mut Vec<Command>) + Send + 't>;

/// How long what nobody asked for may still come, once all is answered, in nanoseconds.
pub const LINGER: i64 = 500_000_000;

/// How long the end waits for what the protocol wants to be heard first, in nanoseconds.
const LEAVE: i64 = 500_000_000;

/// How a plan is played.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What the side is like; whether it says hello of its own follows from the plan.
    pub peer_config: PeerConfig,
    /// Own ids and times are those of the recording.
    pub keep_ids: bool,
    /// A message also waits for all answers that the recording has before it; what is typed, for the answer to the message
    /// before it.
    pub in_order: bool,
    /// What becomes of the distances of the recording.
    pub speed: Speed,
    /// Nanoseconds that an answer may take.
    pub timeout: i64,
    /// Nanoseconds for whatever else may come, once all is answered.
    pub linger: i64,
    /// Goes on after something went otherwise.
    pub keep_going: bool,
    /// What is not compared, or not as a whole.
    pub ignore: Ignore,
    /// What is bounded.
    pub limits: Limits,
}

/// How far a step is.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// When it was said.
    sent: Option<i64>,
    /// The index that it has in this run.
    index: Option<u64>,
    /// When it, or the last answer to it, passed.
    last: i64,
    /// How many of its recorded answers came.
    got: usize,
    /// Nothing more is expected.
    done: bool,
}

/// All of a run but the endpoint that speaks.
struct Run<'p> {
    plan: &'p Plan<'p>,
    settings: &'p Settings,
    compare: Compare<'p>,
    live: Values,
    /// Ids that nobody has to know to go on.
    ids: Ids,
    observer: Observer<'p>,
    steps: Vec<Progress>,
    /// Steps of which an answer must still come, by when they or the last answer to them passed.
    owed: BTreeSet<(i64, usize)>,
    /// Messages of the other side before this one that answer anything have come, but for items; and with items.
    answered: [usize; 2],
    /// Which messages of the other side came.
    came: Vec<bool>,
    /// What the other side says without being asked, by connection, kind and subject.
    pushes: HashMap<(u32, String), VecDeque<usize>>,
    /// Steps by the index that they have in this run.
    said: HashMap<u64, usize>,
    ways: BTreeMap<u32, ConnectionState>,
    conns: ConnectionOrder,
    /// Where messages come from that no plan has.
    feed: Option<Feed<'p>>,
    outcome: Outcome,
    began: i64,
    /// When anything last passed: for the eye. Whoever waits by it waits for ever where something else keeps coming.
    last: i64,
    /// When it last went on: something was said, or came that was waited for. By this clock it is late.
    progressed: i64,
    /// How far the handshake of each connection has been, so that each step of it counts but once.
    greeted: BTreeSet<(u32, &'static str)>,
    /// How often something came that is worth a note: pushes, and requests.
    strange: [u64; 2],
    /// It ends here.
    stops: bool,
}

/// Plays the calling side.
pub struct Client<'p> {
    endpoint: Endpoint<'p>,
    run: Run<'p>,
    /// It takes its leave, until then at the latest.
    leaves: Option<i64>,
}

impl<'p> Client<'p> {
    /// Plays a recorded plan.
    pub fn replaying(
        plan: &'p Plan<'p>,
        config: ConnectionConfig<'p>,
        settings: &'p Settings,
        observer: Observer<'p>,
    ) -> Self {
        let peer_config = PeerConfig {
            no_hello: plan.has_hello,
            ..settings.peer_config.clone()
        };
        Self::new(plan, config, settings, &peer_config, None, observer)
    }

    /// Sends what `next` gives; the plan has nothing but a connection.
    pub fn sending(
        plan: &'p Plan<'p>,
        config: ConnectionConfig<'p>,
        settings: &'p Settings,
        next: Box<dyn FnMut() -> Input + Send + 'p>,
        observer: Observer<'p>,
    ) -> Self {
        let feed = Feed::new(next, !settings.peer_config.no_hello);
        Self::new(
            plan,
            config,
            settings,
            &settings.peer_config,
            Some(feed),
            observer,
        )
    }

    fn new(
        plan: &'p Plan<'p>,
        config: ConnectionConfig<'p>,
        settings: &'p Settings,
        peer_config: &PeerConfig,
        feed: Option<Feed<'p>>,
        observer: Observer<'p>,
    ) -> Self {
        let mut pushes: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (at, told) in plan.expected.iter().enumerate() {
            if told.answers.is_none() && !told.is_orphan {
                let key = (told.kept.conn.unwrap_or_default(), told.kept.what());
                pushes.entry(key).or_default().push_back(at);
            }
        }
        let way = |(conn, _): (&u32, &PlannedConnection)| {
            let stage = Stage::Waits;
            (*conn, ConnectionState { stage, next: 0 })
        };
        let side = config.side;
        let mut endpoint = Endpoint::new(config, peer_config, settings.limits, &Judge::default());
        // What the protocol itself needs connections for gets others.
        endpoint.reserve(plan.connections.keys().last().copied().unwrap_or_default());
        Self {
            run: Run {
                live: Values::new(
                    side,
                    settings.keep_ids,
                    peer_config.token.clone(),
                    peer_config.seed,
                ),
                compare: Compare::new(plan.protocol, &settings.ignore, settings.limits.depth),
                ids: Ids::default(),
                steps: vec![Progress::default(); plan.steps.len()],
                owed: BTreeSet::new(),
                answered: [0; 2],
                came: vec![false; plan.expected.len()],
                ways: plan.connections.iter().map(way).collect(),
                conns: ConnectionOrder::of(plan),
                said: HashMap::new(),
                feed,
                outcome: Outcome::default(),
                began: 0,
                last: 0,
                progressed: 0,
                greeted: BTreeSet::new(),
                strange: [0; 2],
                stops: false,
                pushes,
                plan,
                settings,
                observer,
            },
            endpoint,
            leaves: None,
        }
    }

    /// What came of it so far.
    pub fn outcome(&self) -> &Outcome {
        &self.run.outcome
    }

    /// Whatever can go out goes out; then it is seen whether there is more to wait for.
    fn advance(&mut self, now: i64, commands: &mut Vec<Command>) {
        for event in self.endpoint.events() {
            match event {
                SessionEvent::Open(_) | SessionEvent::Closing(_) => {}
                SessionEvent::Refused(_, why) if self.run.feed.is_some() => self.run.trouble(why),
                SessionEvent::Refused(conn, why) => {
                    self.run.trouble(format!("connection {conn}: {why}"));
                }
            }
        }
        self.run.settle();
        self.run.settle_sent(&self.endpoint);
        while !self.run.stops && (self.dial(now, commands) | self.say(now, commands)) {}
        if !self.run.stops {
            self.wait(now, commands);
        }
        if self.run.stops && !self.run.outcome.is_over {
            self.end(now, commands);
        }
    }

    /// Closes connections that were over by now, and opens those whose turn it is.
    fn dial(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let mut moved = false;
        for conn in self.run.over_by_now() {
            self.run.set(conn, Stage::Closing);
            self.endpoint.close(conn, now, commands);
            moved = true;
        }
        while let Some(conn) = self.run.next_dialled() {
            self.run.set(conn, Stage::Dialled);
            commands.push(Command::Connect(conn));
            moved = true;
        }
        moved
    }

    /// Says what is due, one message a connection.
    fn say(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let mut moved = self.send_next(now, commands);
        let plan = self.run.plan;
        let mut before = None;
        while let Some(conn) = self.run.conns.speaks_after(before) {
            before = Some(conn);
            let Some((number, step)) = self.run.next(conn) else {
                continue;
            };
            match self.run.may_say(&self.endpoint, number, step, now) {
                Ok(()) => {}
                Err(schedule::Wait::Never(why)) => {
                    let how = Difference::Refused(conn, why);
                    self.run.diverged(Some(step), how, commands);
                    self.run.skip(conn);
                    moved = true;
                    continue;
                }
                Err(_) => continue,
            }
            let said = if let Some(bytes) = &step.verbatim {
                Ok(self.endpoint.send(conn, bytes.clone(), now, commands))
            } else {
                let (live, book) = (&mut self.run.live, &plan.names);
                let message = live.rewrite(book, &step.message, &step.places, now);
                let says = Says::new(conn, message);
                self.endpoint.say(&says, Some(&step.wire), now, commands)
            };
            match said {
                Ok(index) => {
                    self.run.has_said(number, index, now);
                    self.run.greets(&self.endpoint, conn, now);
                }
                Err(refusal) => {
                    let (what, index) = (&step.which.what, step.which.index);
                    self.run
                        .trouble(format!("{what} #{index} cannot be said: {refusal}"));
                }
            }
            moved = true;
        }
        moved
    }
}

impl Handler for Client<'_> {
    fn begin(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.run.began = now;
        self.run.goes_on(now);
        if self.run.feed.is_some() {
            self.run.set(CONN, Stage::Dialled);
            commands.push(Command::Connect(CONN));
        }
        self.advance(now, commands);
    }

    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.run.last = now;
        self.run.set(conn, Stage::Open);
        if let Some(feed) = self.run.feed.as_mut().filter(|_| conn == CONN) {
            feed.ends = false;
        }
        self.endpoint.opened(conn, now, commands);
        self.run.greets(&self.endpoint, conn, now);
        self.advance(now, commands);
    }

    fn received(&mut self, conn: u32, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        let run = &mut self.run;
        let mut shown = Vec::new();
        self.endpoint
            .received(conn, bytes, now, commands, &mut |mut heard| {
                run.hear(&mut heard, now, &mut shown);
            });
        commands.append(&mut shown);
        self.run.greets(&self.endpoint, conn, now);
        self.advance(now, commands);
    }

    fn ended(&mut self, conn: u32, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        let readiness = self.endpoint.readiness(conn);
        self.run.closes(conn, &self.endpoint);
        let run = &mut self.run;
        let mut shown = Vec::new();
        let again = self
            .endpoint
            .ended(conn, how, now, commands, &mut |mut heard| {
                run.hear(&mut heard, now, &mut shown);
            });
        commands.append(&mut shown);
        let is_own = self.run.ways.contains_key(&conn);
        let feeds = self.run.feed.is_some();
        match how {
            Ended::Eof if !is_own || feeds && self.leaves.is_none() => {
                commands.push(Command::Close(conn));
                if feeds && is_own {
                    return;
                }
            }
            // Nothing more will be heard.
            Ended::Eof if feeds => self.leaves = Some(now),
            // What need not wait still goes out.
            Ended::Eof => self.advance(now, commands),
            _ if feeds && is_own => {
                self.run
                    .feed_ended(how, again, &readiness, &self.endpoint, commands);
            }
            _ => {}
        }
        if feeds {
            return self.advance(now, commands);
        }
        if again && self.run.has_more(conn) {
            self.run.set(conn, Stage::Dialled);
            commands.push(Command::Connect(conn));
        } else {
            self.run.ended(conn, how, &readiness, commands);
        }
        self.advance(now, commands);
    }

    fn due(&self) -> Option<i64> {
        if self.run.outcome.is_over {
            return None;
        }
        if self.leaves.is_some() {
            return [self.endpoint.due(), self.leaves]
                .into_iter()
                .flatten()
                .min();
        }
        let lingers = self.run.all_said() && !self.run.owes_any();
        let lingers = lingers.then(|| self.run.lingers_until());
        [
            self.endpoint.due(),
            self.deadline(),
            self.run.looks_at(),
            self.run.next_time(&self.endpoint),
            lingers,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn tick(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.endpoint.tick(now, commands);
        self.advance(now, commands);
    }

    fn interrupted(&mut self, now: i64, commands: &mut Vec<Command>) {
        if !self.run.outcome.is_over {
            // Whoever types may be told that it ends, once.
            let grace = if self.run.feed.is_some() && self.leaves.is_none() {
                LEAVE
            } else {
                0
            };
            self.leaves = Some(now.saturating_add(grace));
            self.end(now, commands);
            self.run.outcome.is_over = false;
            self.run.stops = true;
        }
    }
}

/// What a step is, for people.
fn which(step: Option<&Step>) -> Option<Which> {
    step.map(|step| step.which.clone())
}

//! Plays one side of a recorded conversation against a live peer, message by message, and compares what it answers.
//!
//! ```text
//!   recording -> Plan: steps (ours), told (theirs), names (who made which value)
//!                 |
//!   begin, opened, heard, ended, tick --> Player --> dial, send, close
//!                                           '--> Event: diverged, hangs, heard
//! ```
//!
//! A step goes out once its connection is ready, the steps before it on that connection went out, and every value in it
//! that the other side makes is known. Answers are compared with those of the recording. Touches no socket and no clock.

mod asker;
mod compare;
mod connections;
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
use crate::live::plan::{Expected, Plan, PlannedConnection, Step};
use crate::live::speed::Speed;
use crate::protocol::peer::{Manner, Says};
pub use asker::{Asker, Feed, Patience};
use asker::{LEAVE, not_greeted};
use connections::ConnectionOrder;
pub use outcome::{Difference, Divergence, Event, Hang, Outcome};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// What is told goes here, with room for what is to be shown.
pub type Observer<'t> = Box<dyn FnMut(Event<'_>, &mut Vec<Command>) + Send + 't>;

/// How a recording is played.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the side is like; whether it says hello of its own follows from the plan.
    pub manner: Manner,
    /// Own ids and times are those of the recording.
    pub keep_ids: bool,
    /// A message also waits for all answers that the recording has before it.
    pub in_order: bool,
    /// What becomes of the distances of the recording.
    pub speed: Speed,
    /// Nanoseconds that an answer may take.
    pub timeout: i64,
    /// Goes on after something went otherwise.
    pub keep_going: bool,
    /// What is not compared, or not as a whole.
    pub ignore: Ignore,
    /// What is bounded.
    pub limits: Limits,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waits,
    Dialled,
    Open,
    /// Nothing more is said on it.
    Closing,
    Over,
}

/// How far the steps of a connection are.
struct ConnectionState {
    stage: Stage,
    /// How many of its steps were said, or never will be.
    next: usize,
}

/// How far a step is.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// When it was said.
    sent: Option<i64>,
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
    teller: Observer<'p>,
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

/// Plays the calling side of a recording.
pub struct Player<'p> {
    endpoint: Endpoint<'p>,
    play: Run<'p>,
    /// It takes its leave, until then at the latest.
    leaves: Option<i64>,
}

impl<'p> Player<'p> {
    /// A player that has not begun.
    pub fn new(
        plan: &'p Plan<'p>,
        config: ConnectionConfig<'p>,
        settings: &'p Settings,
        teller: Observer<'p>,
    ) -> Self {
        let manner = Manner {
            no_hello: plan.has_hello,
            ..settings.manner.clone()
        };
        let mut pushes: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (at, told) in plan.told.iter().enumerate() {
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
        let mut endpoint = Endpoint::new(config, &manner, settings.limits, &Judge::default());
        // What the protocol itself needs connections for gets others.
        endpoint.reserve(plan.connections.keys().last().copied().unwrap_or_default());
        Self {
            play: Run {
                live: Values::new(side, settings.keep_ids, manner.token.clone(), manner.seed),
                compare: Compare::new(plan.protocol, &settings.ignore, settings.limits.depth),
                ids: Ids::default(),
                steps: vec![Progress::default(); plan.steps.len()],
                owed: BTreeSet::new(),
                answered: [0; 2],
                came: vec![false; plan.told.len()],
                ways: plan.connections.iter().map(way).collect(),
                conns: ConnectionOrder::of(plan),
                said: HashMap::new(),
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
                teller,
            },
            endpoint,
            leaves: None,
        }
    }

    /// What came of it so far.
    pub fn outcome(&self) -> &Outcome {
        &self.play.outcome
    }

    /// Whatever can go out goes out; then it is seen whether there is more to wait for.
    fn advance(&mut self, now: i64, commands: &mut Vec<Command>) {
        for news in self.endpoint.events() {
            match news {
                SessionEvent::Open(_) | SessionEvent::Closing(_) => {}
                SessionEvent::Refused(conn, why) => {
                    self.play.trouble(format!("connection {conn}: {why}"));
                }
            }
        }
        self.play.settle();
        while !self.play.stops && (self.dial(now, commands) | self.say(now, commands)) {}
        if !self.play.stops {
            self.wait(now, commands);
        }
        if self.play.stops && !self.play.outcome.is_over {
            self.end(now, commands);
        }
    }

    /// Closes connections that were over by now, and opens those whose turn it is.
    fn dial(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let mut moved = false;
        for conn in self.play.over_by_now() {
            self.play.set(conn, Stage::Closing);
            self.endpoint.close(conn, now, commands);
            moved = true;
        }
        while let Some(conn) = self.play.next_dialled() {
            self.play.set(conn, Stage::Dialled);
            commands.push(Command::Connect(conn));
            moved = true;
        }
        moved
    }

    /// Says what is due, one message a connection.
    fn say(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let mut moved = false;
        let plan = self.play.plan;
        let mut before = None;
        while let Some(conn) = self.play.conns.speaks_after(before) {
            before = Some(conn);
            let Some((number, step)) = self.play.next(conn) else {
                continue;
            };
            match self.play.may_say(&self.endpoint, number, step, now) {
                Ok(()) => {}
                Err(schedule::Wait::Never(why)) => {
                    let how = Difference::Refused(conn, why);
                    self.play.diverged(Some(step), how, commands);
                    self.play.skip(conn);
                    moved = true;
                    continue;
                }
                Err(_) => continue,
            }
            let said = if let Some(bytes) = &step.verbatim {
                Ok(self.endpoint.send(conn, bytes.clone(), now, commands))
            } else {
                let (live, book) = (&mut self.play.live, &plan.names);
                let message = live.rewrite(book, &step.message, &step.places, now);
                let says = Says::new(conn, message);
                self.endpoint.say(&says, Some(&step.wire), now, commands)
            };
            match said {
                Ok(index) => {
                    self.play.has_said(number, index, now);
                    self.play.greets(&self.endpoint, conn, now);
                }
                Err(refusal) => {
                    let (what, index) = (&step.which.what, step.which.index);
                    self.play
                        .trouble(format!("{what} #{index} cannot be said: {refusal}"));
                }
            }
            moved = true;
        }
        moved
    }

    /// Looks at what is waited for: is it late, or is there nothing left?
    fn wait(&mut self, now: i64, commands: &mut Vec<Command>) {
        let play = &self.play;
        if play.all_said() && !play.owes_any() {
            if play.missing().is_empty() || now >= play.lingers_until() {
                self.play.tell_missing(commands);
                self.play.stops = true;
            }
            return;
        }
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            let held = play.held(&self.endpoint, now);
            let hang = Hang {
                silent: now.saturating_sub(play.progressed),
                other: play.last > play.progressed,
                dials: false,
                now,
                owed: play.owed().map(|step| step.which.clone()).collect(),
                held,
                waiting: self.endpoint.waiting(),
                halves: self.endpoint.halves(),
            };
            self.play.hangs(&hang, commands);
        }
    }

    /// When something that is waited for is late.
    fn deadline(&self) -> Option<i64> {
        let play = &self.play;
        let timeout = play.settings.timeout;
        match play.oldest_owed() {
            Some(since) => Some(since.saturating_add(timeout)),
            // Nothing is owed, and yet something cannot be said.
            None if !play.all_said() && play.next_time(&self.endpoint).is_none() => {
                Some(play.progressed.saturating_add(timeout))
            }
            None => None,
        }
    }

    /// Ends all connections in order.
    fn end(&mut self, now: i64, commands: &mut Vec<Command>) {
        // Where all went as it went then, nothing more was said.
        let as_then = self.play.plan.has_end && self.play.went_well();
        let until = self.leaves.unwrap_or_else(|| {
            self.play.tell_strange(commands);
            now.saturating_add(LEAVE)
        });
        self.leaves = Some(until);
        let open: Vec<u32> = self.play.open().collect();
        for conn in open {
            if as_then {
                self.endpoint.close(conn, now, commands);
            } else if !self.endpoint.bye(conn, now >= until, now, commands) {
                continue;
            }
            self.play.set(conn, Stage::Closing);
        }
        if self.play.open().next().is_none() {
            self.play.outcome.is_over = true;
            commands.push(Command::Stop);
        }
    }
}

impl Handler for Player<'_> {
    fn begin(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.play.began = now;
        self.play.goes_on(now);
        self.advance(now, commands);
    }

    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.play.last = now;
        self.play.set(conn, Stage::Open);
        self.endpoint.opened(conn, now, commands);
        self.play.greets(&self.endpoint, conn, now);
        self.advance(now, commands);
    }

    fn received(&mut self, conn: u32, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        let play = &mut self.play;
        let mut shown = Vec::new();
        self.endpoint
            .received(conn, bytes, now, commands, &mut |mut heard| {
                play.hear(&mut heard, now, &mut shown);
            });
        commands.append(&mut shown);
        self.play.greets(&self.endpoint, conn, now);
        self.advance(now, commands);
    }

    fn ended(&mut self, conn: u32, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        let readiness = self.endpoint.readiness(conn);
        let play = &mut self.play;
        let mut shown = Vec::new();
        let again = self
            .endpoint
            .ended(conn, how, now, commands, &mut |mut heard| {
                play.hear(&mut heard, now, &mut shown);
            });
        commands.append(&mut shown);
        if *how == Ended::Eof {
            // What need not wait still goes out.
            self.advance(now, commands);
        }
        if again && self.play.has_more(conn) {
            self.play.set(conn, Stage::Dialled);
            commands.push(Command::Connect(conn));
        } else {
            self.play.ended(conn, how, &readiness, commands);
        }
        self.advance(now, commands);
    }

    fn due(&self) -> Option<i64> {
        if self.play.outcome.is_over {
            return None;
        }
        if self.leaves.is_some() {
            return [self.endpoint.due(), self.leaves]
                .into_iter()
                .flatten()
                .min();
        }
        let lingers = self.play.all_said() && !self.play.owes_any();
        let lingers = lingers.then(|| self.play.lingers_until());
        [
            self.endpoint.due(),
            self.deadline(),
            self.play.next_time(&self.endpoint),
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
        if !self.play.outcome.is_over {
            self.leaves = Some(now);
            self.end(now, commands);
            self.play.outcome.is_over = false;
            self.play.stops = true;
        }
    }
}

/// What a step is, for people.
fn which(step: Option<&Step>) -> Option<Which> {
    step.map(|step| step.which.clone())
}

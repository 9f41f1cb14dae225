//! Plays one side of a recorded conversation against a live peer, message by message, and compares what it answers.
//!
//! ```text
//!   recording -> Plan: steps (ours), told (theirs), names (who made which value)
//!                 |
//!   begin, opened, heard, ended, tick --> Player --> dial, send, close
//!                                           '--> Tell: diverged, hangs, heard
//! ```
//!
//! A step goes out once its connection is ready, the steps before it on that connection went out, and every value in it
//! that the other side makes is known. Answers are compared with those of the recording. Touches no socket and no clock.

mod asker;
mod conns;
mod meet;
mod names;
mod outcome;
mod plan;
mod speed;
#[cfg(test)]
pub(crate) mod tests;
mod turns;

use crate::conversation::Judge;
use crate::conversation::actor::{Actor, Ended, Order};
use crate::conversation::carrier::Carriage;
use crate::conversation::party::{News, Party};
pub(crate) use crate::diff::Val;
use crate::diff::{Compare, Ids, Ignore, Which};
use crate::framing::Limits;
use crate::protocol::Protocol;
use crate::protocol::peer::{PeerConfig, Says};
use crate::protocol::schema::Fresh;
use crate::protocol::schema::marks::Generated;
pub use asker::{Asker, Feed, Patience};
use asker::{LEAVE, not_greeted};
use conns::Conns;
pub use names::{About, Book, Live, Place, Stands};
pub use outcome::{Divergence, Hang, How, Outcome, Tell};
pub(crate) use plan::check;
pub use plan::{Choice, Line, Plan, Step, Told};
pub use speed::Speed;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// What is told goes here, with room for what is to be shown.
pub type Teller<'t> = Box<dyn FnMut(Tell<'_>, &mut Vec<Order>) + Send + 't>;

/// How a recording is played.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the side is like; whether it says hello of its own follows from the plan.
    pub manner: PeerConfig,
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

/// What is not compared where ids need not correspond: what every run of a protocol makes anew, and what was asked for.
pub fn passed_over<'a>(
    protocol: &'a dyn Protocol,
    strict: bool,
    asked: impl IntoIterator<Item = &'a str>,
) -> Ignore {
    let hidden =
        |one: &&Generated| one.volatile || matches!(one.fresh, Some(Fresh::Time | Fresh::Given));
    let own = protocol.descriptor().marks.generated.iter().filter(hidden);
    let own = own.map(|one| one.path.as_ref()).filter(|_| !strict);
    Ignore::new(own.chain(asked))
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
struct Way {
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

/// All of a run but the party that speaks.
struct Play<'p> {
    plan: &'p Plan<'p>,
    settings: &'p Settings,
    compare: Compare<'p>,
    live: Live,
    /// Ids that nobody has to know to go on.
    ids: Ids,
    teller: Teller<'p>,
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
    ways: BTreeMap<u32, Way>,
    conns: Conns,
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
    party: Party<'p>,
    play: Play<'p>,
    /// It takes its leave, until then at the latest.
    leaves: Option<i64>,
}

impl<'p> Player<'p> {
    /// A player that has not begun.
    pub fn new(
        plan: &'p Plan<'p>,
        carriage: Carriage<'p>,
        settings: &'p Settings,
        teller: Teller<'p>,
    ) -> Self {
        let manner = PeerConfig {
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
        let way = |(conn, _): (&u32, &Line)| {
            let stage = Stage::Waits;
            (*conn, Way { stage, next: 0 })
        };
        let side = carriage.side;
        let mut party = Party::new(carriage, &manner, settings.limits, &Judge::default());
        // What the protocol itself needs connections for gets others.
        party.reserve(plan.lines.keys().last().copied().unwrap_or_default());
        Self {
            play: Play {
                live: Live::new(side, settings.keep_ids, manner.token.clone(), manner.seed),
                compare: Compare::new(plan.protocol, &settings.ignore, settings.limits.depth),
                ids: Ids::default(),
                steps: vec![Progress::default(); plan.steps.len()],
                owed: BTreeSet::new(),
                answered: [0; 2],
                came: vec![false; plan.told.len()],
                ways: plan.lines.iter().map(way).collect(),
                conns: Conns::of(plan),
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
            party,
            leaves: None,
        }
    }

    /// What came of it so far.
    pub fn outcome(&self) -> &Outcome {
        &self.play.outcome
    }

    /// Whatever can go out goes out; then it is seen whether there is more to wait for.
    fn advance(&mut self, now: i64, orders: &mut Vec<Order>) {
        for news in self.party.news() {
            match news {
                News::Open(_) | News::Closing(_) => {}
                News::Refused(conn, why) => {
                    self.play.trouble(format!("connection {conn}: {why}"));
                }
            }
        }
        self.play.settle();
        while !self.play.stops && (self.dial(now, orders) | self.say(now, orders)) {}
        if !self.play.stops {
            self.wait(now, orders);
        }
        if self.play.stops && !self.play.outcome.is_over {
            self.end(now, orders);
        }
    }

    /// Closes connections that were over by now, and opens those whose turn it is.
    fn dial(&mut self, now: i64, orders: &mut Vec<Order>) -> bool {
        let mut moved = false;
        for conn in self.play.over_by_now() {
            self.play.set(conn, Stage::Closing);
            self.party.close(conn, now, orders);
            moved = true;
        }
        while let Some(conn) = self.play.next_dialled() {
            self.play.set(conn, Stage::Dialled);
            orders.push(Order::Dial(conn));
            moved = true;
        }
        moved
    }

    /// Says what is due, one message a connection.
    fn say(&mut self, now: i64, orders: &mut Vec<Order>) -> bool {
        let mut moved = false;
        let plan = self.play.plan;
        let mut before = None;
        while let Some(conn) = self.play.conns.speaks_after(before) {
            before = Some(conn);
            let Some((number, step)) = self.play.next(conn) else {
                continue;
            };
            match self.play.may_say(&self.party, number, step, now) {
                Ok(()) => {}
                Err(turns::Wait::Never(why)) => {
                    let how = How::Refused(conn, why);
                    self.play.diverged(Some(step), how, orders);
                    self.play.skip(conn);
                    moved = true;
                    continue;
                }
                Err(_) => continue,
            }
            let said = if let Some(bytes) = &step.verbatim {
                Ok(self.party.send(conn, bytes.clone(), now, orders))
            } else {
                let (live, book) = (&mut self.play.live, &plan.book);
                let message = live.rewrite(book, &step.message, &step.places, now);
                let says = Says::new(conn, message);
                self.party.say(&says, Some(&step.wire), now, orders)
            };
            match said {
                Ok(index) => {
                    self.play.has_said(number, index, now);
                    self.play.greets(&self.party, conn, now);
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
    fn wait(&mut self, now: i64, orders: &mut Vec<Order>) {
        let play = &self.play;
        if play.all_said() && !play.owes_any() {
            if play.missing().is_empty() || now >= play.lingers_until() {
                self.play.tell_missing(orders);
                self.play.stops = true;
            }
            return;
        }
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            let held = play.held(&self.party, now);
            let hang = Hang {
                silent: now.saturating_sub(play.progressed),
                other: play.last > play.progressed,
                dials: false,
                now,
                owed: play.owed().map(|step| step.which.clone()).collect(),
                held,
                waiting: self.party.waiting(),
                halves: self.party.halves(),
            };
            self.play.hangs(&hang, orders);
        }
    }

    /// When something that is waited for is late.
    fn deadline(&self) -> Option<i64> {
        let play = &self.play;
        let timeout = play.settings.timeout;
        match play.oldest_owed() {
            Some(since) => Some(since.saturating_add(timeout)),
            // Nothing is owed, and yet something cannot be said.
            None if !play.all_said() && play.next_time(&self.party).is_none() => {
                Some(play.progressed.saturating_add(timeout))
            }
            None => None,
        }
    }

    /// Ends all connections in order.
    fn end(&mut self, now: i64, orders: &mut Vec<Order>) {
        // Where all went as it went then, nothing more was said.
        let as_then = self.play.plan.has_end && self.play.went_well();
        let until = self.leaves.unwrap_or_else(|| {
            self.play.tell_strange(orders);
            now.saturating_add(LEAVE)
        });
        self.leaves = Some(until);
        let open: Vec<u32> = self.play.open().collect();
        for conn in open {
            if as_then {
                self.party.close(conn, now, orders);
            } else if !self.party.bye(conn, now >= until, now, orders) {
                continue;
            }
            self.play.set(conn, Stage::Closing);
        }
        if self.play.open().next().is_none() {
            self.play.outcome.is_over = true;
            orders.push(Order::Stop);
        }
    }
}

impl Actor for Player<'_> {
    fn begin(&mut self, now: i64, orders: &mut Vec<Order>) {
        self.play.began = now;
        self.play.goes_on(now);
        self.advance(now, orders);
    }

    fn opened(&mut self, conn: u32, now: i64, orders: &mut Vec<Order>) {
        self.play.last = now;
        self.play.set(conn, Stage::Open);
        self.party.opened(conn, now, orders);
        self.play.greets(&self.party, conn, now);
        self.advance(now, orders);
    }

    fn heard(&mut self, conn: u32, bytes: &[u8], now: i64, orders: &mut Vec<Order>) {
        let play = &mut self.play;
        let mut shown = Vec::new();
        self.party
            .heard(conn, bytes, now, orders, &mut |mut heard| {
                play.hear(&mut heard, now, &mut shown);
            });
        orders.append(&mut shown);
        self.play.greets(&self.party, conn, now);
        self.advance(now, orders);
    }

    fn ended(&mut self, conn: u32, how: &Ended, now: i64, orders: &mut Vec<Order>) {
        let readiness = self.party.readiness(conn);
        let play = &mut self.play;
        let mut shown = Vec::new();
        let again = self.party.ended(conn, how, now, orders, &mut |mut heard| {
            play.hear(&mut heard, now, &mut shown);
        });
        orders.append(&mut shown);
        if *how == Ended::Eof {
            // What need not wait still goes out.
            self.advance(now, orders);
        }
        if again && self.play.has_more(conn) {
            self.play.set(conn, Stage::Dialled);
            orders.push(Order::Dial(conn));
        } else {
            self.play.ended(conn, how, &readiness, orders);
        }
        self.advance(now, orders);
    }

    fn due(&self) -> Option<i64> {
        if self.play.outcome.is_over {
            return None;
        }
        if self.leaves.is_some() {
            return [self.party.due(), self.leaves].into_iter().flatten().min();
        }
        let lingers = self.play.all_said() && !self.play.owes_any();
        let lingers = lingers.then(|| self.play.lingers_until());
        [
            self.party.due(),
            self.deadline(),
            self.play.next_time(&self.party),
            lingers,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn tick(&mut self, now: i64, orders: &mut Vec<Order>) {
        self.party.tick(now, orders);
        self.advance(now, orders);
    }

    fn interrupted(&mut self, now: i64, orders: &mut Vec<Order>) {
        if !self.play.outcome.is_over {
            self.leaves = Some(now);
            self.end(now, orders);
            self.play.outcome.is_over = false;
            self.play.stops = true;
        }
    }
}

/// What a step is, for people.
fn which(step: Option<&Step>) -> Option<Which> {
    step.map(|step| step.which.clone())
}

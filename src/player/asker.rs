//! Says a few messages and waits for what they are answered.
//!
//! ```text
//!   dial --> handshake --> message --> its answer, its items --> message --> … --> bye
//! ```

mod state;

use super::{Hang, Tell, Teller};
use crate::conversation::Judge;
use crate::conversation::actor::{Actor, Ended, Order};
use crate::conversation::carrier::Carriage;
use crate::conversation::party::{News, Party};
use crate::diff::Which;
use crate::framing::Limits;
use crate::protocol::peer::{PeerConfig, Readiness, Says};
use crate::protocol::schema::Fresh;
use crate::protocol::{Protocol, Role};
use state::State;
use std::collections::{BTreeMap, BTreeSet};

/// The connection that is opened.
const CONN: u32 = 1;

/// How long the end waits for what the protocol wants to be heard first, in nanoseconds.
pub(super) const LEAVE: i64 = 500_000_000;

/// How often it is looked whether there is more to say, in nanoseconds.
const LOOK: i64 = 20_000_000;

/// What is to be said next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feed {
    /// A message, as `decode -f json` would show it.
    Message(String),
    /// What is no message: why.
    Bad(String),
    /// Not known yet.
    Wait,
    /// Nothing more.
    End,
}

/// How long is waited, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For each answer, and each item of it.
    pub timeout: i64,
    /// For whatever else may come, once all is answered.
    pub linger: i64,
    /// A message waits for the answer to the one before.
    pub in_turn: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Messages that were said.
    pub sent: u64,
    /// Messages that could not be said, answers that say no or are at fault, and what was not answered.
    pub bad: u64,
    /// It could not be done: why.
    pub trouble: Option<String>,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Dialled,
    Open,
    /// Over HTTP its connection has ended with nothing half done: another is dialled when there is more to say.
    Rests,
    /// It takes its leave, until then at the latest.
    Leaves(i64),
    Over,
}

/// Says messages and waits for their answers.
pub struct Asker<'p> {
    party: Party<'p>,
    state: State<'p>,
    feed: Box<dyn FnMut() -> Feed + Send + 'p>,
    /// The protocol's own hello comes first.
    greets: bool,
    patience: Patience,
    stage: Stage,
    /// A message that has its turn when it can be said.
    next: Option<String>,
    is_last: bool,
    looked: i64,
}

impl<'p> Asker<'p> {
    /// One that has not begun.
    pub fn new(
        carriage: Carriage<'p>,
        manner: &PeerConfig,
        limits: Limits,
        patience: Patience,
        feed: Box<dyn FnMut() -> Feed + Send + 'p>,
        teller: Teller<'p>,
    ) -> Self {
        let mut party = Party::new(carriage, manner, limits, &Judge::default());
        // Over HTTP the other side's requests are answered on connections of their own.
        party.reserve(CONN);
        Self {
            state: State {
                teller,
                asked: Asked::default(),
                owed: BTreeMap::new(),
                oldest: BTreeSet::new(),
                ends: false,
                own: BTreeSet::new(),
                last: 0,
                progressed: 0,
                greeted: BTreeSet::new(),
            },
            party,
            greets: !manner.no_hello,
            feed,
            patience,
            stage: Stage::Dialled,
            next: None,
            is_last: false,
            looked: 0,
        }
    }

    /// What came of it so far.
    pub fn outcome(&self) -> &Asked {
        &self.state.asked
    }

    fn advance(&mut self, now: i64, orders: &mut Vec<Order>) {
        for news in self.party.news() {
            if let News::Refused(_, why) = news {
                self.trouble(why, orders);
            }
        }
        while matches!(self.stage, Stage::Open | Stage::Rests) && self.say(now, orders) {}
        if let Stage::Leaves(until) = self.stage {
            return self.leave(until, now, orders);
        }
        if self.stage == Stage::Over {
            return;
        }
        let (state, patience) = (&mut self.state, self.patience);
        // What the session has closed without a word is owed no more. Only whether any is left matters, and since when.
        while let Some((_, index)) = state.oldest.first().copied() {
            if state.ends || self.party.is_open(index) {
                break;
            }
            state.owes(index, None);
        }
        let done = self.is_last && self.next.is_none() && state.owed.is_empty();
        if done && now >= state.progressed.saturating_add(patience.linger) {
            self.end(now, orders);
        } else if self.deadline().is_some_and(|deadline| now >= deadline) {
            let hang = Hang {
                silent: now.saturating_sub(self.state.progressed),
                other: self.state.last > self.state.progressed,
                dials: self.stage == Stage::Dialled,
                now,
                owed: Vec::new(),
                held: self.next.as_ref().map(|_| self.held()),
                waiting: self.party.waiting(),
                halves: self.party.halves(),
            };
            self.state.asked.bad += 1;
            (self.state.teller)(Tell::Hangs(&hang), orders);
            self.end(now, orders);
        }
    }

    /// The message that waits, and what for.
    fn held(&self) -> (Which, String) {
        let which = Which {
            index: self.state.asked.sent,
            conn: None,
            direction: Some(self.party.side()),
            what: "the next message".into(),
        };
        let why = match self.party.readiness(CONN) {
            Readiness::Waits(what) => what.to_owned(),
            Readiness::Ready | Readiness::Refused(_) => "the answer before it".into(),
        };
        (which, why)
    }

    /// Says the next message, if there is one whose turn it is.
    fn say(&mut self, now: i64, orders: &mut Vec<Order>) -> bool {
        if self.next.is_none() && !self.is_last {
            self.looked = now;
            match (self.feed)() {
                Feed::Message(message) => {
                    self.next = Some(message);
                    self.state.goes_on(now);
                }
                Feed::Bad(why) => {
                    self.state.asked.bad += 1;
                    (self.state.teller)(Tell::Note(why), orders);
                    return true;
                }
                Feed::Wait => return false,
                Feed::End => {
                    self.is_last = true;
                    self.state.goes_on(now);
                }
            }
        }
        let waits = self.patience.in_turn && !self.state.owed.is_empty();
        if self.next.is_none() || waits {
            return false;
        }
        if self.stage == Stage::Rests && self.party.is_quiet() {
            self.stage = Stage::Dialled;
            self.state.goes_on(now);
            orders.push(Order::Dial(CONN));
        }
        if !self.party.is_free(CONN) {
            return false;
        }
        if self.greets {
            match self.party.readiness(CONN) {
                Readiness::Ready => {}
                Readiness::Waits(_) => return false,
                Readiness::Refused(why) => {
                    self.state.asked.bad += 1;
                    (self.state.teller)(Tell::Note(why), orders);
                    self.next = None;
                    self.end(now, orders);
                    return false;
                }
            }
        }
        let Some(message) = self.next.take() else {
            return false;
        };
        match self.party.say(&Says::new(CONN, message), None, now, orders) {
            Ok(index) => {
                let state = &mut self.state;
                state.asked.sent += 1;
                state.goes_on(now);
                state.greets(&self.party, now);
                if let Some(index) = index {
                    state.own.insert(index);
                    if self.party.is_open(index) {
                        state.owes(index, Some(now));
                    }
                }
            }
            Err(refusal) => {
                self.state.asked.bad += 1;
                (self.state.teller)(Tell::Note(refusal.to_string()), orders);
            }
        }
        true
    }

    /// When something that is waited for is late.
    fn deadline(&self) -> Option<i64> {
        let owed = self.state.oldest.first().map(|(since, _)| *since);
        let held = self.next.as_ref().map(|_| self.state.progressed);
        let dials = (self.stage == Stage::Dialled).then_some(self.state.progressed);
        let since = owed.or(held).or(dials)?;
        Some(since.saturating_add(self.patience.timeout))
    }

    fn end(&mut self, now: i64, orders: &mut Vec<Order>) {
        match self.stage {
            Stage::Open => self.leave(now.saturating_add(LEAVE), now, orders),
            Stage::Leaves(_) => self.leave(now, now, orders),
            Stage::Dialled | Stage::Rests | Stage::Over => self.stop(orders),
        }
    }

    /// Says the last word, once it can be said.
    fn leave(&mut self, until: i64, now: i64, orders: &mut Vec<Order>) {
        self.stage = Stage::Leaves(until);
        if self.party.bye(CONN, now >= until, now, orders) {
            self.stop(orders);
        }
    }

    fn stop(&mut self, orders: &mut Vec<Order>) {
        self.stage = Stage::Over;
        orders.push(Order::Stop);
    }

    fn trouble(&mut self, why: String, orders: &mut Vec<Order>) {
        self.state.asked.trouble.get_or_insert(why);
        self.stop(orders);
    }
}

/// What is said of a connection that ended before calls could be made on it.
pub(super) fn not_greeted(protocol: &dyn Protocol, readiness: &Readiness) -> String {
    // A hello with something that whoever plays is given for it is a login.
    let is_hello = |kind: &str| {
        let mut kinds = protocol.descriptor().kinds.iter();
        kinds.any(|k| k.name == kind && k.role == Some(Role::Hello))
    };
    let given =
        (protocol.descriptor().marks.generated.iter()).filter(|m| m.fresh == Some(Fresh::Given));
    let mut kinds = given.filter_map(|m| Some(m.path.split_once(':')?.0));
    match readiness {
        Readiness::Refused(why) => format!("after it was refused: {why}"),
        Readiness::Waits(what) if kinds.any(is_hello) => {
            format!("before {what} came: it may have refused the login")
        }
        Readiness::Waits(what) => format!("before {what} came"),
        Readiness::Ready => "before all was said".to_owned(),
    }
}

impl Actor for Asker<'_> {
    fn begin(&mut self, now: i64, orders: &mut Vec<Order>) {
        self.state.goes_on(now);
        orders.push(Order::Dial(CONN));
    }

    fn opened(&mut self, conn: u32, now: i64, orders: &mut Vec<Order>) {
        self.state.last = now;
        if conn == CONN {
            self.stage = Stage::Open;
            self.state.ends = false;
        }
        self.party.opened(conn, now, orders);
        self.state.greets(&self.party, now);
        self.advance(now, orders);
    }

    fn heard(&mut self, conn: u32, bytes: &[u8], now: i64, orders: &mut Vec<Order>) {
        let state = &mut self.state;
        let mut shown = Vec::new();
        self.party.heard(conn, bytes, now, orders, &mut |heard| {
            state.hear(&heard, now, &mut shown);
        });
        orders.append(&mut shown);
        self.state.greets(&self.party, now);
        self.advance(now, orders);
    }

    fn ended(&mut self, conn: u32, how: &Ended, now: i64, orders: &mut Vec<Order>) {
        let readiness = self.party.readiness(CONN);
        let state = &mut self.state;
        if conn == CONN && !std::mem::replace(&mut state.ends, true) {
            let all: Vec<u64> = state.owed.keys().copied().collect();
            for index in all.into_iter().filter(|index| !self.party.is_open(*index)) {
                state.owes(index, None);
            }
        }
        let mut shown = Vec::new();
        let again = self.party.ended(conn, how, now, orders, &mut |heard| {
            state.hear(&heard, now, &mut shown);
        });
        orders.append(&mut shown);
        if conn != CONN {
            if *how == Ended::Eof {
                orders.push(Order::Close(conn));
            }
            return self.advance(now, orders);
        }
        if again && self.stage == Stage::Open && self.state.owed.is_empty() {
            self.stage = Stage::Rests;
            return self.advance(now, orders);
        }
        let text = match how {
            Ended::Eof => {
                // Nothing more will be heard.
                match self.stage {
                    Stage::Open => orders.push(Order::Close(conn)),
                    Stage::Leaves(_) => self.leave(now, now, orders),
                    _ => {}
                }
                return;
            }
            Ended::Refused(why) => return self.trouble(why.clone(), orders),
            Ended::Closed => "the connection was closed".to_owned(),
            Ended::Reset => "the connection was cut".to_owned(),
            Ended::Exited(status) => format!("the child ended with status {status}"),
        };
        if matches!(self.stage, Stage::Over | Stage::Leaves(_)) {
            return self.stop(orders);
        }
        self.stage = Stage::Over;
        let owed = self.state.owed.len();
        let unsaid = self.next.is_some() || matches!((self.feed)(), Feed::Message(_));
        if owed > 0 || unsaid {
            self.state.asked.bad += 1;
            let what = match owed {
                0 if self.greets && !self.state.greeted.contains("") => {
                    not_greeted(self.party.protocol(), &readiness)
                }
                0 => "before all was said".to_owned(),
                1 => "before its answer came".to_owned(),
                n => format!("before {n} answers came"),
            };
            (self.state.teller)(Tell::Note(format!("{text} {what}")), orders);
        }
        orders.push(Order::Stop);
    }

    fn due(&self) -> Option<i64> {
        match self.stage {
            Stage::Over => return None,
            Stage::Leaves(until) => return self.party.due().into_iter().chain([until]).min(),
            Stage::Dialled | Stage::Open | Stage::Rests => {}
        }
        let state = &self.state;
        let may_say = matches!(self.stage, Stage::Open | Stage::Rests);
        let looks = may_say && !self.is_last && self.next.is_none();
        let looks = looks.then(|| self.looked.saturating_add(LOOK));
        let done = self.is_last && self.next.is_none() && state.owed.is_empty();
        let lingers = done.then(|| state.progressed.saturating_add(self.patience.linger));
        [self.party.due(), self.deadline(), looks, lingers]
            .into_iter()
            .flatten()
            .min()
    }

    fn tick(&mut self, now: i64, orders: &mut Vec<Order>) {
        self.party.tick(now, orders);
        self.advance(now, orders);
    }

    fn interrupted(&mut self, now: i64, orders: &mut Vec<Order>) {
        self.end(now, orders);
    }
}

//! Says a few messages and waits for what they are answered.
//!
//! ```text
//!   dial --> handshake --> message --> its answer, its items --> message --> … --> bye
//! ```

mod state;

use super::{Event, Hang, Observer};
use crate::conversation::Judge;
use crate::diff::Which;
use crate::framing::Limits;
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::{Endpoint, SessionEvent};
use crate::live::handler::{Command, Ended, Handler};
use crate::protocol::peer::{Manner, Readiness, Says};
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
    endpoint: Endpoint<'p>,
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
        config: ConnectionConfig<'p>,
        manner: &Manner,
        limits: Limits,
        patience: Patience,
        feed: Box<dyn FnMut() -> Feed + Send + 'p>,
        teller: Observer<'p>,
    ) -> Self {
        let mut endpoint = Endpoint::new(config, manner, limits, &Judge::default());
        // Over HTTP the other side's requests are answered on connections of their own.
        endpoint.reserve(CONN);
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
            endpoint,
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

    fn advance(&mut self, now: i64, commands: &mut Vec<Command>) {
        for news in self.endpoint.events() {
            if let SessionEvent::Refused(_, why) = news {
                self.trouble(why, commands);
            }
        }
        while matches!(self.stage, Stage::Open | Stage::Rests) && self.say(now, commands) {}
        if let Stage::Leaves(until) = self.stage {
            return self.leave(until, now, commands);
        }
        if self.stage == Stage::Over {
            return;
        }
        let (state, patience) = (&mut self.state, self.patience);
        // What the session has closed without a word is owed no more. Only whether any is left matters, and since when.
        while let Some((_, index)) = state.oldest.first().copied() {
            if state.ends || self.endpoint.is_open(index) {
                break;
            }
            state.owes(index, None);
        }
        let done = self.is_last && self.next.is_none() && state.owed.is_empty();
        if done && now >= state.progressed.saturating_add(patience.linger) {
            self.end(now, commands);
        } else if self.deadline().is_some_and(|deadline| now >= deadline) {
            let hang = Hang {
                silent: now.saturating_sub(self.state.progressed),
                other: self.state.last > self.state.progressed,
                dials: self.stage == Stage::Dialled,
                now,
                owed: Vec::new(),
                held: self.next.as_ref().map(|_| self.held()),
                waiting: self.endpoint.waiting(),
                halves: self.endpoint.halves(),
            };
            self.state.asked.bad += 1;
            (self.state.teller)(Event::Hangs(&hang), commands);
            self.end(now, commands);
        }
    }

    /// The message that waits, and what for.
    fn held(&self) -> (Which, String) {
        let which = Which {
            index: self.state.asked.sent,
            conn: None,
            direction: Some(self.endpoint.side()),
            what: "the next message".into(),
        };
        let why = match self.endpoint.readiness(CONN) {
            Readiness::Waits(what) => what.to_owned(),
            Readiness::Ready | Readiness::Refused(_) => "the answer before it".into(),
        };
        (which, why)
    }

    /// Says the next message, if there is one whose turn it is.
    fn say(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        if self.next.is_none() && !self.is_last {
            self.looked = now;
            match (self.feed)() {
                Feed::Message(message) => {
                    self.next = Some(message);
                    self.state.goes_on(now);
                }
                Feed::Bad(why) => {
                    self.state.asked.bad += 1;
                    (self.state.teller)(Event::Note(why), commands);
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
        if self.stage == Stage::Rests && self.endpoint.is_quiet() {
            self.stage = Stage::Dialled;
            self.state.goes_on(now);
            commands.push(Command::Connect(CONN));
        }
        if !self.endpoint.is_free(CONN) {
            return false;
        }
        if self.greets {
            match self.endpoint.readiness(CONN) {
                Readiness::Ready => {}
                Readiness::Waits(_) => return false,
                Readiness::Refused(why) => {
                    self.state.asked.bad += 1;
                    (self.state.teller)(Event::Note(why), commands);
                    self.next = None;
                    self.end(now, commands);
                    return false;
                }
            }
        }
        let Some(message) = self.next.take() else {
            return false;
        };
        match self
            .endpoint
            .say(&Says::new(CONN, message), None, now, commands)
        {
            Ok(index) => {
                let state = &mut self.state;
                state.asked.sent += 1;
                state.goes_on(now);
                state.greets(&self.endpoint, now);
                if let Some(index) = index {
                    state.own.insert(index);
                    if self.endpoint.is_open(index) {
                        state.owes(index, Some(now));
                    }
                }
            }
            Err(refusal) => {
                self.state.asked.bad += 1;
                (self.state.teller)(Event::Note(refusal.to_string()), commands);
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

    fn end(&mut self, now: i64, commands: &mut Vec<Command>) {
        match self.stage {
            Stage::Open => self.leave(now.saturating_add(LEAVE), now, commands),
            Stage::Leaves(_) => self.leave(now, now, commands),
            Stage::Dialled | Stage::Rests | Stage::Over => self.stop(commands),
        }
    }

    /// Says the last word, once it can be said.
    fn leave(&mut self, until: i64, now: i64, commands: &mut Vec<Command>) {
        self.stage = Stage::Leaves(until);
        if self.endpoint.bye(CONN, now >= until, now, commands) {
            self.stop(commands);
        }
    }

    fn stop(&mut self, commands: &mut Vec<Command>) {
        self.stage = Stage::Over;
        commands.push(Command::Stop);
    }

    fn trouble(&mut self, why: String, commands: &mut Vec<Command>) {
        self.state.asked.trouble.get_or_insert(why);
        self.stop(commands);
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

impl Handler for Asker<'_> {
    fn begin(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.state.goes_on(now);
        commands.push(Command::Connect(CONN));
    }

    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.state.last = now;
        if conn == CONN {
            self.stage = Stage::Open;
            self.state.ends = false;
        }
        self.endpoint.opened(conn, now, commands);
        self.state.greets(&self.endpoint, now);
        self.advance(now, commands);
    }

    fn received(&mut self, conn: u32, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        let state = &mut self.state;
        let mut shown = Vec::new();
        self.endpoint
            .received(conn, bytes, now, commands, &mut |heard| {
                state.hear(&heard, now, &mut shown);
            });
        commands.append(&mut shown);
        self.state.greets(&self.endpoint, now);
        self.advance(now, commands);
    }

    fn ended(&mut self, conn: u32, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        let readiness = self.endpoint.readiness(CONN);
        let state = &mut self.state;
        if conn == CONN && !std::mem::replace(&mut state.ends, true) {
            let all: Vec<u64> = state.owed.keys().copied().collect();
            for index in all
                .into_iter()
                .filter(|index| !self.endpoint.is_open(*index))
            {
                state.owes(index, None);
            }
        }
        let mut shown = Vec::new();
        let again = self.endpoint.ended(conn, how, now, commands, &mut |heard| {
            state.hear(&heard, now, &mut shown);
        });
        commands.append(&mut shown);
        if conn != CONN {
            if *how == Ended::Eof {
                commands.push(Command::Close(conn));
            }
            return self.advance(now, commands);
        }
        if again && self.stage == Stage::Open && self.state.owed.is_empty() {
            self.stage = Stage::Rests;
            return self.advance(now, commands);
        }
        let text = match how {
            Ended::Eof => {
                // Nothing more will be heard.
                match self.stage {
                    Stage::Open => commands.push(Command::Close(conn)),
                    Stage::Leaves(_) => self.leave(now, now, commands),
                    _ => {}
                }
                return;
            }
            Ended::Refused(why) => return self.trouble(why.clone(), commands),
            Ended::Closed => "the connection was closed".to_owned(),
            Ended::Reset => "the connection was cut".to_owned(),
            Ended::Exited(status) => format!("the child ended with status {status}"),
        };
        if matches!(self.stage, Stage::Over | Stage::Leaves(_)) {
            return self.stop(commands);
        }
        self.stage = Stage::Over;
        let owed = self.state.owed.len();
        let unsaid = self.next.is_some() || matches!((self.feed)(), Feed::Message(_));
        if owed > 0 || unsaid {
            self.state.asked.bad += 1;
            let what = match owed {
                0 if self.greets && !self.state.greeted.contains("") => {
                    not_greeted(self.endpoint.protocol(), &readiness)
                }
                0 => "before all was said".to_owned(),
                1 => "before its answer came".to_owned(),
                n => format!("before {n} answers came"),
            };
            (self.state.teller)(Event::Note(format!("{text} {what}")), commands);
        }
        commands.push(Command::Stop);
    }

    fn due(&self) -> Option<i64> {
        match self.stage {
            Stage::Over => return None,
            Stage::Leaves(until) => return self.endpoint.due().into_iter().chain([until]).min(),
            Stage::Dialled | Stage::Open | Stage::Rests => {}
        }
        let state = &self.state;
        let may_say = matches!(self.stage, Stage::Open | Stage::Rests);
        let looks = may_say && !self.is_last && self.next.is_none();
        let looks = looks.then(|| self.looked.saturating_add(LOOK));
        let done = self.is_last && self.next.is_none() && state.owed.is_empty();
        let lingers = done.then(|| state.progressed.saturating_add(self.patience.linger));
        [self.endpoint.due(), self.deadline(), looks, lingers]
            .into_iter()
            .flatten()
            .min()
    }

    fn tick(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.endpoint.tick(now, commands);
        self.advance(now, commands);
    }

    fn interrupted(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.end(now, commands);
    }
}

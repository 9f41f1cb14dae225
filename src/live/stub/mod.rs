//! Stands in for a peer: answers what it is asked, as a script or a recording says, and reaches nobody.
//!
//! ```text
//!   heard --> answer to what we asked?  --> the rule that waits for it goes on
//!         --> a rule of the script?     --> its actions, one after another: wait, ask, say, close
//!         --> a recorded request?       --> its recorded answers
//!         --> the protocol itself?      --> handshake, acks, heartbeats, lists
//!         --> a request all the same    --> a miss: error, close, hang, or an answer that was given for that
//! ```
//!
//! What the protocol asks of every side is the peer's ([`crate::protocol::peer`]), so that a script holds only what
//! matters. A [`Stub`] touches no socket and no clock.

mod batch;
mod dispatch;
mod opening;
mod pending;
mod perform;
mod report;

use crate::conversation::{Judge, Verdict};
use crate::decoder::Decoded;
use crate::framing::{Framing, Limits};
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::Endpoint;
use crate::live::handler::{Command, Ended, Handler};
use crate::live::script::recorded::Exchanges;
use crate::live::script::value::{Fill, Value};
use crate::live::script::{Action, Bytes, Reply, Rule, Script};
use crate::protocol::Direction;
use crate::protocol::make::Mint;
use crate::protocol::peer::{PeerConfig, Phrase, Request, Says};
use batch::Batches;
use dispatch::{Decision, Dispatcher};
use pending::Waiting;
use report::RateLimit;
pub use report::{Report, Usage};
use std::collections::{BTreeSet, HashMap};

/// What is done about a request that nobody has an answer for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OnMiss {
    /// It is answered with an error that says why.
    #[default]
    Error,
    /// The connection is closed.
    Close,
    /// Nothing: it waits for ever.
    Hang,
    /// It is answered with this.
    Answer(Value),
}

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'f> {
    /// A rule of the script: where it stands.
    Rule(&'f str),
    /// A recorded request: its index.
    Recorded(u64),
    /// The protocol itself.
    Protocol,
    /// Nowhere: why.
    Missed(&'f str),
}

/// Told of what the stub does.
pub trait Observer: Send {
    /// The other side said something, and this is what comes of it.
    fn received(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, outcome: Outcome<'_>) {
        let _ = (decoded, verdict, outcome);
    }

    /// Something was asked or answered: told at once, but not again within 100 ms. What is left at the end is
    /// [`Stub::report`]'s.
    fn changed(&mut self, report: &Report) {
        let _ = report;
    }

    /// A script ends the stub with this status.
    fn exits(&mut self, status: u8) {
        let _ = status;
    }
}

/// What a stub is.
pub struct Settings {
    /// What it answers.
    pub script: Script,
    /// What it does about the rest.
    pub on_miss: OnMiss,
    /// It speaks on its own stdin and stdout: the end of the one is the end of all.
    pub stdio: bool,
    /// It dials.
    pub dials: bool,
    /// Who the side is: where ids come from, tokens, secrets. Name, offers and hello are the script's.
    pub peer_config: PeerConfig,
    /// What is bounded.
    pub limits: Limits,
}

/// A stub.
pub struct Stub<'p> {
    endpoint: Endpoint<'p>,
    dispatcher: Dispatcher,
    on_miss: OnMiss,
    before: Option<Bytes>,
    /// What is said as soon as a connection is open, and once calls may be made on it.
    opening: Vec<Value>,
    first: Vec<Value>,
    /// Connections on which calls may not be made yet.
    unready: BTreeSet<u32>,
    refused: Option<String>,
    silent: bool,
    exit: Option<u8>,
    stdio: bool,
    dials: bool,
    framing: Framing,
    waiting: Waiting,
    batches: Batches,
    /// Connections that hear no more: closed when their jobs are done.
    ending: BTreeSet<u32>,
    next: u64,
    mint: Mint,
}

impl<'p> Stub<'p> {
    /// A stub of which nothing was asked.
    pub fn new(config: ConnectionConfig<'p>, settings: Settings, watch: Box<dyn Observer>) -> Self {
        let Settings {
            script,
            on_miss,
            stdio,
            dials,
            peer_config,
            limits,
        } = settings;
        let peer_config = PeerConfig {
            name: script.name.or(peer_config.name),
            dialect: script.dialect.or(peer_config.dialect),
            offers: script.offers,
            no_hello: script.silent,
            ..peer_config
        };
        // A script that says hello otherwise has said so.
        let exchanges = script.recorded;
        let opening = exchanges.as_ref().and_then(Exchanges::opening);
        let opening = opening.filter(|_| !script.silent);
        let peer_config = PeerConfig {
            no_hello: peer_config.no_hello || opening.is_some(),
            ..peer_config
        };
        let mut opening: Vec<Value> = opening.into_iter().collect();
        // Who dials announces itself anyway.
        if script.announces && config.side == Direction::ToClient {
            let mut says = Vec::new();
            let mut twin = config
                .protocol
                .behavior()
                .peer(config.side.other(), &peer_config);
            twin.opened(0, peer_config.now, &mut says);
            opening.extend(says.into_iter().map(|says| Value::Json(says.message)));
        }
        let framing = config.framing;
        let endpoint = Endpoint::new(config, &peer_config, limits, &Judge::default());
        Self {
            dispatcher: Dispatcher {
                report: Report::new(
                    endpoint.protocol().name(),
                    &script.rules,
                    exchanges.as_ref(),
                ),
                exchanges,
                rules: script.rules,
                stale: false,
                told: i64::MIN,
                asked: HashMap::new(),
                greeted: BTreeSet::new(),
                ended: BTreeSet::new(),
                rate_limit: RateLimit::default(),
                now: i64::MIN,
                stdio,
                scratch: Vec::new(),
                watch,
            },
            endpoint,
            on_miss,
            before: script.before,
            opening,
            first: script.first,
            unready: BTreeSet::new(),
            refused: None,
            silent: script.silent,
            exit: script.exit,
            stdio,
            dials,
            framing,
            waiting: Waiting::default(),
            batches: Batches::default(),
            ending: BTreeSet::new(),
            next: 0,
            mint: Mint::new(peer_config.seed ^ 0x6361_6c6c),
        }
    }

    /// What was asked so far.
    pub fn report(&self) -> &Report {
        &self.dispatcher.report
    }

    /// Why the other side did not let it serve, where it did not.
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// What was not told because there was too much of it.
    pub fn untold(&mut self) -> Option<String> {
        self.dispatcher.rate_limit.untold(None)
    }

    /// Tells what went wrong, unless too much of that was told just now.
    fn complain(&mut self, text: String, now: i64, commands: &mut Vec<Command>) {
        if self.dispatcher.rate_limit.allows(now) {
            commands.push(Command::Log(text));
        }
    }

    /// Does what came of messages of a connection that were heard.
    fn act(&mut self, conn: u32, found: Vec<Decision>, now: i64, commands: &mut Vec<Command>) {
        for one in found {
            // What still comes on a connection that was closed here has no answer.
            if one.conn().is_some_and(|conn| self.endpoint.is_closed(conn)) {
                continue;
            }
            let one = match one {
                Decision::Told(told, other) => match self.waiting.told(&told) {
                    Some(job) => {
                        self.run(job, now, commands);
                        continue;
                    }
                    None => *other,
                },
                one => one,
            };
            match one {
                Decision::Told(..) => {}
                Decision::Replies(replies) => self.reply(&replies, now, commands),
                Decision::Start(replies, job) => {
                    self.reply(&replies, now, commands);
                    self.start(*job, now, commands);
                }
                Decision::Batch(request, parts) => self.batch(request, parts, None, now, commands),
                Decision::Resume(id, index, answer) => {
                    if let Some(job) = self.waiting.hear(id, index, answer) {
                        self.run(job, now, commands);
                    }
                }
                Decision::Miss(request, why, told) => {
                    commands.extend(told.then(|| Command::Log(why.clone())));
                    self.miss(&request, None, &why, now, commands);
                }
                Decision::Foreign(conn, text) => {
                    self.unready.remove(&conn);
                    self.refused.get_or_insert_with(|| text.clone());
                    self.complain(text, now, commands);
                    self.endpoint.close(conn, now, commands);
                }
            }
        }
        self.settle(conn, commands, now);
    }

    fn reply(&mut self, replies: &[Says], now: i64, commands: &mut Vec<Command>) {
        for says in replies {
            if let Some(why) = says.why {
                self.unready.remove(&says.conn);
                self.refused.get_or_insert_with(|| why.to_owned());
                self.complain(format!("#{}: {why}: closed", says.conn), now, commands);
            }
            if let Err(refusal) = self.endpoint.say(says, None, now, commands) {
                self.complain(refusal.to_string(), now, commands);
            }
        }
    }

    /// Nobody has an answer to a request, or to a call of a batch.
    fn miss(
        &mut self,
        request: &Request,
        part: Option<(u64, usize)>,
        why: &str,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        let value = match &self.on_miss {
            OnMiss::Error => Err(why.to_owned()),
            OnMiss::Hang => return,
            OnMiss::Close => {
                self.endpoint.close(request.conn, now, commands);
                return;
            }
            OnMiss::Answer(value) => value.fill(&Fill {
                request: &request.message,
                count: 1,
                ..Fill::default()
            }),
        };
        let phrase = match &value {
            Ok(value) => Phrase::Result(value),
            Err(why) => no(why),
        };
        if part.is_some() {
            return self.part_done(part, phrase, now, commands);
        }
        let said = self.endpoint.phrase(request, phrase, now);
        let said = said.and_then(|says| self.endpoint.say(&says, None, now, commands));
        if let Err(refusal) = said {
            self.complain(format!("cannot answer: {refusal}"), now, commands);
        }
    }
}

fn no(why: &str) -> Phrase<'_> {
    Phrase::Error {
        code: None,
        message: why,
        data: None,
    }
}

impl Handler for Stub<'_> {
    fn begin(&mut self, _: i64, commands: &mut Vec<Command>) {
        if self.dials {
            self.endpoint.dial(commands);
        }
    }

    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        let before = self.before.as_ref().map(|b| b.fill(&Fill::default()));
        let before = match before.transpose() {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(why) => {
                commands.push(Command::Log(format!("before: {why}")));
                Vec::new()
            }
        };
        if self.silent {
            self.endpoint.opened(conn, now, commands);
            // What is said in place of the hello counts as one, where it is one.
            self.endpoint.send(conn, before, now, commands);
        } else {
            if !before.is_empty() {
                commands.push(Command::Send(conn, before));
            }
            self.endpoint.opened(conn, now, commands);
        }
        self.settle(conn, commands, now);
        if let Some(status) = self.exit {
            self.dispatcher.watch.exits(status);
            commands.push(Command::Stop);
        }
    }

    fn received(&mut self, conn: u32, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        let mut found = Vec::new();
        let dispatcher = &mut self.dispatcher;
        dispatcher.now = now;
        self.endpoint
            .received(conn, bytes, now, commands, &mut |heard| {
                dispatcher.hear(heard, &mut found);
            });
        let framed = self.framing != Framing::Lines;
        if framed && !self.dispatcher.greeted.contains(&conn) && !self.endpoint.is_deaf(conn) {
            found.extend(dispatch::lost(&self.endpoint, conn));
        }
        self.act(conn, found, now, commands);
        self.dispatcher.tell(now);
    }

    fn ended(&mut self, conn: u32, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        let mut found = Vec::new();
        let dispatcher = &mut self.dispatcher;
        dispatcher.now = now;
        self.endpoint.ended(conn, how, now, commands, &mut |heard| {
            dispatcher.hear(heard, &mut found);
        });
        if *how == Ended::Eof {
            self.act(conn, found, now, commands);
            self.ending.insert(conn);
            if self.stdio {
                self.drop_jobs(conn);
            } else if !self.answers_elsewhere() {
                self.forsake(conn, now, commands);
            }
            self.end_if_done(conn, now, commands);
        } else {
            self.drop_jobs(conn);
            self.ending.remove(&conn);
            self.dispatcher.greeted.remove(&conn);
            self.dispatcher.ended.remove(&conn);
            if let Ended::Refused(why) = how {
                commands.push(Command::Log(why.clone()));
            }
            let was_ready = !self.unready.remove(&conn);
            if !was_ready && !self.first.is_empty() {
                let text = format!("#{conn}: ended before `first` could be said");
                self.complain(text, now, commands);
            }
        }
        self.dispatcher.tell(now);
    }

    fn interrupted(&mut self, now: i64, commands: &mut Vec<Command>) {
        // Who dialled takes its leave.
        if self.dials {
            self.endpoint.close(1, now, commands);
        }
        commands.push(Command::Stop);
    }

    fn due(&self) -> Option<i64> {
        let dues = [
            self.waiting.due(),
            self.endpoint.due(),
            self.dispatcher.due(),
            self.dispatcher.rate_limit.due(),
        ];
        dues.into_iter().flatten().min()
    }

    fn tick(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.endpoint.tick(now, commands);
        while let Some(job) = self.waiting.take_due(now) {
            self.run(job, now, commands);
        }
        commands.extend(
            self.dispatcher
                .rate_limit
                .untold(Some(now))
                .map(Command::Log),
        );
        self.dispatcher.tell(now);
    }
}

#[cfg(test)]
mod tests;

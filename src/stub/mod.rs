//! Stands in for a peer: answers what it is asked, as a script or a recording says, and reaches nobody.
//!
//! ```text
//!   heard --> answer to what we asked?  --> the rule that waits for it goes on
//!         --> a rule of the script?     --> its deeds, one after another: wait, ask, say, close
//!         --> a recorded request?       --> its recorded answers
//!         --> the protocol itself?      --> handshake, acks, heartbeats, lists
//!         --> a request all the same    --> a miss: error, close, hang, or an answer that was given for that
//! ```
//!
//! What the protocol asks of every side is the peer's ([`crate::protocol::peer`]), so that a script holds only what
//! matters. A [`Stub`] touches no socket and no clock.

mod batch;
mod book;
mod desk;
mod follow;
mod inline;
mod print;
mod read;
mod report;
mod script;
mod settle;
mod speak;
mod telling;
mod value;
mod waiting;

use crate::conversation::actor::{Actor, Ended, Order};
use crate::conversation::carrier::Carriage;
use crate::conversation::party::Party;
use crate::conversation::{Judge, Verdict};
use crate::decoder::Decoded;
use crate::framing::{Framing, Limits};
use crate::protocol::Direction;
use crate::protocol::make::Mint;
use crate::protocol::peer::{PeerConfig, Phrase, Request, Says};
use batch::Batches;
pub use book::Book;
use desk::{Desk, Found};
pub use print::script as script_of;
use report::Pace;
pub use report::{Report, Tally};
pub use script::{Bytes, Deed, Flaw, Rule, Script, Speech};
use std::collections::{BTreeSet, HashMap};
pub use value::{Fill, Value};
use waiting::Waiting;

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
pub enum Fate<'f> {
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
pub trait Watch: Send {
    /// The other side said something, and this is what comes of it.
    fn heard(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, fate: Fate<'_>) {
        let _ = (decoded, verdict, fate);
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
pub struct Settings<'p> {
    /// What it answers.
    pub script: Script,
    /// What it answers where the script has nothing.
    pub book: Option<Book<'p>>,
    /// What it does about the rest.
    pub on_miss: OnMiss,
    /// It speaks on its own stdin and stdout: the end of the one is the end of all.
    pub stdio: bool,
    /// It dials.
    pub dials: bool,
    /// Who the side is: where ids come from, tokens, secrets. Name, offers and hello are the script's.
    pub manner: PeerConfig,
    /// What is bounded.
    pub limits: Limits,
}

/// A stub.
pub struct Stub<'p> {
    party: Party<'p>,
    desk: Desk<'p>,
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
    pub fn new(carriage: Carriage<'p>, settings: Settings<'p>, watch: Box<dyn Watch>) -> Self {
        let Settings {
            script,
            book,
            on_miss,
            stdio,
            dials,
            manner,
            limits,
        } = settings;
        let manner = PeerConfig {
            name: script.name.or(manner.name),
            dialect: script.dialect.or(manner.dialect),
            offers: script.offers,
            no_hello: script.silent,
            ..manner
        };
        // A script that says hello otherwise has said so.
        let opening = book.as_ref().and_then(Book::opening);
        let opening = opening.filter(|_| !script.silent);
        let manner = PeerConfig {
            no_hello: manner.no_hello || opening.is_some(),
            ..manner
        };
        let mut opening: Vec<Value> = opening.into_iter().collect();
        // Who dials announces itself anyway.
        if script.announces && carriage.side == Direction::ToClient {
            let mut says = Vec::new();
            let mut twin = carriage
                .protocol
                .behavior()
                .peer(carriage.side.other(), &manner);
            twin.opened(0, manner.now, &mut says);
            opening.extend(says.into_iter().map(|says| Value::Json(says.message)));
        }
        let framing = carriage.framing;
        let party = Party::new(carriage, &manner, limits, &Judge::default());
        Self {
            desk: Desk {
                report: Report::new(party.protocol().name(), &script.rules, book.as_ref()),
                book,
                rules: script.rules,
                stale: false,
                told: i64::MIN,
                asked: HashMap::new(),
                greeted: BTreeSet::new(),
                ended: BTreeSet::new(),
                pace: Pace::default(),
                now: i64::MIN,
                stdio,
                scratch: Vec::new(),
                watch,
            },
            party,
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
            mint: Mint::new(manner.seed ^ 0x6361_6c6c),
        }
    }

    /// What was asked so far.
    pub fn report(&self) -> &Report {
        &self.desk.report
    }

    /// Why the other side did not let it serve, where it did not.
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// What was not told because there was too much of it.
    pub fn untold(&mut self) -> Option<String> {
        self.desk.pace.untold(None)
    }

    /// Tells what went wrong, unless too much of that was told just now.
    fn complain(&mut self, text: String, now: i64, orders: &mut Vec<Order>) {
        if self.desk.pace.allows(now) {
            orders.push(Order::Say(text));
        }
    }

    /// Does what came of messages of a connection that were heard.
    fn act(&mut self, conn: u32, found: Vec<Found>, now: i64, orders: &mut Vec<Order>) {
        for one in found {
            // What still comes on a connection that was closed here has no answer.
            if one.conn().is_some_and(|conn| self.party.is_closed(conn)) {
                continue;
            }
            let one = match one {
                Found::Told(told, other) => match self.waiting.told(&told) {
                    Some(job) => {
                        self.run(job, now, orders);
                        continue;
                    }
                    None => *other,
                },
                one => one,
            };
            match one {
                Found::Told(..) => {}
                Found::Replies(replies) => self.reply(&replies, now, orders),
                Found::Start(replies, job) => {
                    self.reply(&replies, now, orders);
                    self.start(*job, now, orders);
                }
                Found::Batch(request, parts) => self.batch(request, parts, None, now, orders),
                Found::Resume(id, index, answer) => {
                    if let Some(job) = self.waiting.hear(id, index, answer) {
                        self.run(job, now, orders);
                    }
                }
                Found::Miss(request, why, told) => {
                    orders.extend(told.then(|| Order::Say(why.clone())));
                    self.miss(&request, None, &why, now, orders);
                }
                Found::Stranger(conn, text) => {
                    self.unready.remove(&conn);
                    self.refused.get_or_insert_with(|| text.clone());
                    self.complain(text, now, orders);
                    self.party.close(conn, now, orders);
                }
            }
        }
        self.settle(conn, orders, now);
    }

    fn reply(&mut self, replies: &[Says], now: i64, orders: &mut Vec<Order>) {
        for says in replies {
            if let Some(why) = says.why {
                self.unready.remove(&says.conn);
                self.refused.get_or_insert_with(|| why.to_owned());
                self.complain(format!("#{}: {why}: closed", says.conn), now, orders);
            }
            if let Err(refusal) = self.party.say(says, None, now, orders) {
                self.complain(refusal.to_string(), now, orders);
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
        orders: &mut Vec<Order>,
    ) {
        let value = match &self.on_miss {
            OnMiss::Error => Err(why.to_owned()),
            OnMiss::Hang => return,
            OnMiss::Close => {
                self.party.close(request.conn, now, orders);
                return;
            }
            OnMiss::Answer(value) => value.fill(&Fill {
                request: &request.message,
                answer: None,
                count: 1,
            }),
        };
        let phrase = match &value {
            Ok(value) => Phrase::Result(value),
            Err(why) => no(why),
        };
        if part.is_some() {
            return self.part_done(part, phrase, now, orders);
        }
        let said = self.party.phrase(request, phrase, now);
        let said = said.and_then(|says| self.party.say(&says, None, now, orders));
        if let Err(refusal) = said {
            self.complain(format!("cannot answer: {refusal}"), now, orders);
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

impl Actor for Stub<'_> {
    fn begin(&mut self, _: i64, orders: &mut Vec<Order>) {
        if self.dials {
            self.party.dial(orders);
        }
    }

    fn opened(&mut self, conn: u32, now: i64, orders: &mut Vec<Order>) {
        let before = self.before.as_ref().map(|b| b.fill(&Fill::default()));
        let before = match before.transpose() {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(why) => {
                orders.push(Order::Say(format!("before: {why}")));
                Vec::new()
            }
        };
        if self.silent {
            self.party.opened(conn, now, orders);
            // What is said in place of the hello counts as one, where it is one.
            self.party.send(conn, before, now, orders);
        } else {
            if !before.is_empty() {
                orders.push(Order::Send(conn, before));
            }
            self.party.opened(conn, now, orders);
        }
        self.settle(conn, orders, now);
        if let Some(status) = self.exit {
            self.desk.watch.exits(status);
            orders.push(Order::Stop);
        }
    }

    fn heard(&mut self, conn: u32, bytes: &[u8], now: i64, orders: &mut Vec<Order>) {
        let mut found = Vec::new();
        let desk = &mut self.desk;
        desk.now = now;
        self.party.heard(conn, bytes, now, orders, &mut |heard| {
            desk.hear(heard, &mut found);
        });
        let framed = self.framing != Framing::Lines;
        if framed && !self.desk.greeted.contains(&conn) && !self.party.is_deaf(conn) {
            found.extend(desk::lost(&self.party, conn));
        }
        self.act(conn, found, now, orders);
        self.desk.tell(now);
    }

    fn ended(&mut self, conn: u32, how: &Ended, now: i64, orders: &mut Vec<Order>) {
        let mut found = Vec::new();
        let desk = &mut self.desk;
        desk.now = now;
        self.party.ended(conn, how, now, orders, &mut |heard| {
            desk.hear(heard, &mut found);
        });
        if *how == Ended::Eof {
            self.act(conn, found, now, orders);
            self.ending.insert(conn);
            if self.stdio {
                self.drop_jobs(conn);
            } else if !self.answers_elsewhere() {
                self.forsake(conn, now, orders);
            }
            self.end_if_done(conn, now, orders);
        } else {
            self.drop_jobs(conn);
            self.ending.remove(&conn);
            self.desk.greeted.remove(&conn);
            self.desk.ended.remove(&conn);
            if let Ended::Refused(why) = how {
                orders.push(Order::Say(why.clone()));
            }
            let was_ready = !self.unready.remove(&conn);
            if !was_ready && !self.first.is_empty() {
                let text = format!("#{conn}: ended before `first` could be said");
                self.complain(text, now, orders);
            }
        }
        self.desk.tell(now);
    }

    fn interrupted(&mut self, now: i64, orders: &mut Vec<Order>) {
        // Who dialled takes its leave.
        if self.dials {
            self.party.close(1, now, orders);
        }
        orders.push(Order::Stop);
    }

    fn due(&self) -> Option<i64> {
        let dues = [
            self.waiting.due(),
            self.party.due(),
            self.desk.due(),
            self.desk.pace.due(),
        ];
        dues.into_iter().flatten().min()
    }

    fn tick(&mut self, now: i64, orders: &mut Vec<Order>) {
        self.party.tick(now, orders);
        while let Some(job) = self.waiting.take_due(now) {
            self.run(job, now, orders);
        }
        orders.extend(self.desk.pace.untold(Some(now)).map(Order::Say));
        self.desk.tell(now);
    }
}

#[cfg(test)]
mod tests;

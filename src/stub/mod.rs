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

mod book;
mod desk;
mod follow;
mod inline;
mod print;
mod read;
mod report;
mod script;
mod speak;
mod telling;
mod value;
mod waiting;

use crate::conversation::actor::{Actor, Ended, Order};
use crate::conversation::carrier::Carriage;
use crate::conversation::party::{News, Party};
use crate::conversation::{Judge, Verdict};
use crate::decoder::Decoded;
use crate::framing::{Framing, Limits};
use crate::protocol::make::Mint;
use crate::protocol::peer::{Manner, Phrase, Request, Says};
pub use book::{Book, Entry};
use desk::{Desk, Found};
pub use print::script as script_of;
pub use report::{Missed, Report, Tally};
pub use script::{Bytes, Deed, Flaw, Recorded, Rule, Script, Speech, Twist};
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
    /// Who the side is: where ids come from, tokens, secrets. Name, offers and hello are the script's.
    pub manner: Manner,
    /// What is bounded.
    pub limits: Limits,
}

/// A stub.
pub struct Stub<'p> {
    party: Party<'p>,
    desk: Desk<'p>,
    on_miss: OnMiss,
    before: Option<Bytes>,
    first: Vec<Value>,
    silent: bool,
    exit: Option<u8>,
    stdio: bool,
    framing: Framing,
    waiting: Waiting,
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
            manner,
            limits,
        } = settings;
        let manner = Manner {
            name: script.name.or(manner.name),
            dialect: script.dialect.or(manner.dialect),
            offers: script.offers,
            no_hello: script.silent,
            ..manner
        };
        // A script that says hello otherwise has said so.
        let opening = book.as_ref().and_then(Book::opening);
        let opening = opening.filter(|_| !script.silent);
        let manner = Manner {
            no_hello: manner.no_hello || opening.is_some(),
            ..manner
        };
        let mut first: Vec<Value> = opening.into_iter().collect();
        if script.announces {
            let mut says = Vec::new();
            let mut twin = carriage.protocol.peer(carriage.side.other(), &manner);
            twin.opened(0, manner.now, &mut says);
            first.extend(says.into_iter().map(|says| Value::Json(says.message)));
        }
        first.extend(script.first);
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
                stdio,
                scratch: Vec::new(),
                watch,
            },
            party,
            on_miss,
            before: script.before,
            first,
            silent: script.silent,
            exit: script.exit,
            stdio,
            framing,
            waiting: Waiting::default(),
            ending: BTreeSet::new(),
            next: 0,
            mint: Mint::new(manner.seed ^ 0x6361_6c6c),
        }
    }

    /// What was asked so far.
    pub fn report(&self) -> &Report {
        &self.desk.report
    }

    /// Does what came of messages that were heard.
    fn act(&mut self, found: Vec<Found>, now: i64, orders: &mut Vec<Order>) {
        for one in found {
            // What still comes on a connection that was closed here has no answer.
            if one.conn().is_some_and(|conn| self.party.is_closed(conn)) {
                continue;
            }
            match one {
                Found::Replies(replies) => {
                    for says in replies {
                        if let Err(refusal) = self.party.say(&says, None, now, orders) {
                            orders.push(Order::Say(refusal.to_string()));
                        }
                    }
                }
                Found::Start(job) => self.start(job, now, orders),
                Found::Resume(id, index, answer) => {
                    if let Some(job) = self.waiting.hear(id, index, answer) {
                        self.run(job, now, orders);
                    }
                }
                Found::Miss(request, why) => self.miss(&request, &why, now, orders),
                Found::Stranger(conn, text) => {
                    orders.push(Order::Say(text));
                    self.party.close(conn, now, orders);
                }
            }
        }
        self.begin(orders, now);
    }

    /// Does what there is to do about connections that can be used now, and those that cannot.
    fn begin(&mut self, orders: &mut Vec<Order>, now: i64) {
        for news in self.party.news() {
            match news {
                News::Refused(conn, why) => {
                    orders.push(Order::Say(format!("#{conn}: {why}: closed")));
                    self.party.close(conn, now, orders);
                }
                News::Open(conn) => {
                    for message in &self.first {
                        let filled = message.fill(&Fill::default());
                        let said = filled.and_then(|message| {
                            let says = Says::new(conn, message);
                            self.party
                                .say(&says, None, now, orders)
                                .map_err(|e| e.to_string())
                        });
                        if let Err(why) = said {
                            orders.push(Order::Say(format!("first: {why}")));
                        }
                    }
                }
                News::Closing(conn) => {
                    self.drop_jobs(conn);
                    self.party.close(conn, now, orders);
                }
            }
        }
    }

    fn miss(&mut self, request: &Request, why: &str, now: i64, orders: &mut Vec<Order>) {
        orders.push(Order::Say(why.to_owned()));
        let filled = match &self.on_miss {
            OnMiss::Error => None,
            OnMiss::Hang => return,
            OnMiss::Close => {
                self.party.close(request.conn, now, orders);
                return;
            }
            OnMiss::Answer(value) => Some(value.fill(&Fill {
                request: &request.message,
                answer: None,
                count: 1,
            })),
        };
        let said = match &filled {
            Some(Ok(value)) => self.party.phrase(request, Phrase::Result(value), now),
            Some(Err(why)) => self.party.phrase(request, no(why), now),
            None => self.party.phrase(request, no(why), now),
        };
        let said = said.and_then(|says| self.party.say(&says, None, now, orders));
        if let Err(refusal) = said {
            orders.push(Order::Say(format!("cannot answer: {refusal}")));
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
        self.begin(orders, now);
        if let Some(status) = self.exit {
            self.desk.watch.exits(status);
            orders.push(Order::Stop);
        }
    }

    fn heard(&mut self, conn: u32, bytes: &[u8], now: i64, orders: &mut Vec<Order>) {
        let mut found = Vec::new();
        let desk = &mut self.desk;
        self.party.heard(conn, bytes, now, orders, &mut |heard| {
            desk.hear(heard, &mut found);
        });
        let framed = self.framing != Framing::Lines;
        if framed && !self.desk.greeted.contains(&conn) && !self.party.is_deaf(conn) {
            found.extend(desk::lost(&self.party, conn));
        }
        self.act(found, now, orders);
        self.desk.tell(now);
    }

    fn ended(&mut self, conn: u32, how: &Ended, now: i64, orders: &mut Vec<Order>) {
        let mut found = Vec::new();
        let desk = &mut self.desk;
        self.party.ended(conn, how, now, orders, &mut |heard| {
            desk.hear(heard, &mut found);
        });
        if *how == Ended::Eof {
            self.act(found, now, orders);
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
        }
        self.desk.tell(now);
    }

    fn due(&self) -> Option<i64> {
        let dues = [self.waiting.due(), self.party.due(), self.desk.due()];
        dues.into_iter().flatten().min()
    }

    fn tick(&mut self, now: i64, orders: &mut Vec<Order>) {
        self.party.tick(now, orders);
        while let Some(job) = self.waiting.take_due(now) {
            self.run(job, now, orders);
        }
        self.desk.tell(now);
    }
}

#[cfg(test)]
mod tests;

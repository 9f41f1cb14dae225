//! Replaces a peer: answers its messages from a script, and connects to nothing else.
//!
//! ```text
//!   message --> answer to our request?  --> the rule that waits for it continues
//!           --> a rule of the script?   --> its actions, one after another: wait, ask, send, close
//!           --> the protocol itself?    --> handshake, acks, heartbeats, lists
//!           --> another request?        --> a miss: error, close, hang, or a fixed answer
//! ```
//!
//! [`crate::protocol::peer`] does what the protocol requires of every side, so a script has only the answers. A
//! [`Stub`] uses no socket and no clock.

mod batch;
mod dispatch;
mod matcher;
mod opening;
mod pending;
mod perform;
mod report;
mod rules;
mod sender;

use crate::conversation::{Judge, Verdict};
use crate::decoder::Decoded;
use crate::framing::{Framing, Limits};
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::Endpoint;
use crate::live::handler::{Command, Ended, Handler};
use crate::live::script::value::{Fill, OpenValue};
use crate::live::script::{Script, ScriptAction, ScriptRule};
use crate::protocol::Channel;
use crate::protocol::Direction;
use crate::protocol::make::IdGen;
use crate::protocol::peer::{Outgoing, PeerConfig, PeerReply, Request};
use batch::Batches;
use dispatch::{Decision, Dispatcher};
use matcher::RequestMatcher;
use pending::{PendingJobs, RequestOrder};
use report::RateLimit;
pub use report::{AnswerSource, StubReport, Usage};
use std::collections::{BTreeSet, HashMap};

/// The reaction to a request without an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OnMiss {
    /// Answers with an error that gives the reason.
    #[default]
    Error,
    /// Closes the connection.
    Close,
    /// Sends nothing.
    Hang,
    /// Answers with this result.
    Answer(OpenValue),
}

/// Observes a stub.
pub trait StubObserver: Send {
    /// Reports a received message and the source of its answer.
    fn received(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, outcome: AnswerSource<'_>) {
        let _ = (decoded, verdict, outcome);
    }

    /// Reports new counts, at most once in 100 ms. [`Stub::report`] returns the final ones.
    fn changed(&mut self, report: &StubReport) {
        let _ = report;
    }

    /// Reports that the script ends the stub with this status.
    fn exits(&mut self, status: u8) {
        let _ = status;
    }
}

/// The configuration of a stub.
pub struct StubConfig {
    /// Its answers.
    pub script: Script,
    /// The reaction to other requests.
    pub on_miss: OnMiss,
    /// It uses its own stdin and stdout: the end of stdin ends everything.
    pub stdio: bool,
    /// It connects to the peer.
    pub dials: bool,
    /// The side: its ids, tokens and secrets. Name, offers and hello come from the script.
    pub peer_config: PeerConfig,
    /// The limits of messages.
    pub limits: Limits,
}

/// A stub.
pub struct Stub<'p> {
    endpoint: Endpoint<'p>,
    dispatcher: Dispatcher,
    /// Without the rules and hellos of the script, which the dispatcher has.
    config: StubConfig,
    /// Messages that are sent as soon as a connection is open.
    opening: Vec<OpenValue>,
    /// Connections on which calls are not possible yet.
    unready: BTreeSet<u32>,
    refused: Option<String>,
    /// The peer to which this stub connected has ended the connection.
    is_left: bool,
    framing: Framing,
    waiting: PendingJobs,
    batches: Batches,
    order: RequestOrder,
    /// Connections and streams whose peer sends no more: they are closed when their jobs are done.
    ending: BTreeSet<Channel>,
    /// Streams on which something was sent.
    started: BTreeSet<Channel>,
    next: u64,
    id_gen: IdGen,
}

impl<'p> Stub<'p> {
    /// Makes a stub.
    pub fn new(
        connection: ConnectionConfig<'p>,
        mut config: StubConfig,
        watch: Box<dyn StubObserver>,
    ) -> Self {
        let (script, own) = (&mut config.script, config.peer_config.clone());
        // `ready = false` also applies to a recorded hello.
        let mut opening = std::mem::take(&mut script.opening);
        opening.retain(|_| !script.silent);
        let peer_config = PeerConfig {
            name: script.name.take().or(own.name),
            dialect: script.dialect.take().or(own.dialect),
            offers: std::mem::take(&mut script.offers),
            no_hello: script.silent || !opening.is_empty(),
            hellos: script.hellos.iter().map(|hello| hello.to.clone()).collect(),
            ..own
        };
        let (framing, from) = (connection.framing, connection.side.other());
        // A side that connects announces itself in any case.
        if script.announces && connection.side == Direction::ToClient {
            let mut outgoing = Vec::new();
            let mut twin = connection.protocol.behavior().peer(from, &peer_config);
            twin.opened(0, peer_config.now, &mut outgoing);
            opening.extend(outgoing.into_iter().map(|o| OpenValue::Json(o.message)));
        }
        let rules = std::mem::take(&mut script.rules);
        let matcher =
            RequestMatcher::new(connection.protocol, from, framing, config.limits, &rules);
        let order = RequestOrder::new(rules::awaited_requests(&rules));
        let endpoint = Endpoint::new(connection, &peer_config, config.limits, &Judge::default());
        Self {
            dispatcher: Dispatcher {
                report: StubReport::new(endpoint.protocol().name(), &rules, &matcher),
                reads_more: rules::reads_more(&rules),
                matcher,
                hellos: std::mem::take(&mut script.hellos),
                unreadable: std::mem::take(&mut script.unreadable),
                unread: 0,
                rules,
                stale: false,
                last_report: i64::MIN,
                jobs_by_request: HashMap::new(),
                conns_with_messages: BTreeSet::new(),
                ended: BTreeSet::new(),
                rate_limit: RateLimit::default(),
                now: i64::MIN,
                stdio: config.stdio,
                scratch: Vec::new(),
                watch,
            },
            endpoint,
            config,
            opening,
            unready: BTreeSet::new(),
            refused: None,
            is_left: false,
            framing,
            waiting: PendingJobs::default(),
            batches: Batches::default(),
            order,
            ending: BTreeSet::new(),
            started: BTreeSet::new(),
            next: 0,
            id_gen: IdGen::new(peer_config.seed ^ 0x6361_6c6c),
        }
    }

    /// Returns the requests so far.
    pub fn report(&self) -> &StubReport {
        &self.dispatcher.report
    }

    /// Returns the reason why the peer refused this stub, if it did.
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Returns true if the peer to which this stub connected has ended the connection.
    pub fn is_left(&self) -> bool {
        self.is_left
    }

    /// Returns a note about messages that the rate limit suppressed.
    pub fn suppressed_note(&mut self) -> Option<String> {
        self.dispatcher.rate_limit.suppressed_note(None)
    }

    /// Logs a problem, if the rate limit allows it.
    fn log_problem(&mut self, text: String, now: i64, commands: &mut Vec<Command>) {
        if self.dispatcher.rate_limit.allows(now) {
            commands.push(Command::Log(text));
        }
    }

    /// Carries out the decisions on received messages of a connection.
    fn act(&mut self, conn: u32, decisions: Vec<Decision>, now: i64, commands: &mut Vec<Command>) {
        for decision in decisions {
            // Messages that still arrive on a connection that is closed here have no answer.
            if decision
                .conn()
                .is_some_and(|conn| self.endpoint.is_closed(conn))
            {
                continue;
            }
            let decision = match decision {
                Decision::Continue(message, other) => {
                    let elsewhere = self.answers_elsewhere();
                    let job = self.waiting.take_continued(&message, elsewhere);
                    if let Some(job) = job {
                        self.run(job, now, commands);
                        continue;
                    }
                    *other
                }
                decision => decision,
            };
            match decision {
                Decision::Continue(..) => {}
                Decision::Replies(replies) => self.reply(&replies, now, commands),
                Decision::Start(replies, job) => {
                    self.reply(&replies, now, commands);
                    self.start(*job, now, commands);
                }
                Decision::Batch(request, parts) => self.batch(request, parts, None, now, commands),
                Decision::Resume(id, index, answer) => {
                    if let Some(job) = self.waiting.store_answer(id, index, answer) {
                        self.run(job, now, commands);
                    }
                }
                Decision::Miss(request, why, is_reported) => {
                    commands.extend(is_reported.then(|| Command::Log(why.clone())));
                    self.miss(&request, None, &why, now, commands);
                }
                Decision::Foreign(conn, text) => {
                    self.unready.remove(&conn);
                    self.refused.get_or_insert_with(|| text.clone());
                    self.log_problem(text, now, commands);
                    self.endpoint.close(conn, now, commands);
                }
            }
        }
        self.handle_events(conn, commands, now);
    }

    fn reply(&mut self, replies: &[Outgoing], now: i64, commands: &mut Vec<Command>) {
        for outgoing in replies {
            if let Some(why) = &outgoing.why {
                self.unready.remove(&outgoing.conn);
                self.refused.get_or_insert_with(|| why.to_string());
                self.log_problem(format!("#{}: {why}: closed", outgoing.conn), now, commands);
            }
            if let Err(refusal) = self.endpoint.send_message(outgoing, None, now, commands) {
                self.log_problem(refusal.to_string(), now, commands);
            }
        }
    }

    /// Reacts to a request, or a call of a batch, without an answer.
    fn miss(
        &mut self,
        request: &Request,
        part: Option<(u64, usize)>,
        why: &str,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        let value = match &self.config.on_miss {
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
        let peer_reply = match &value {
            Ok(value) => PeerReply::Result(value),
            Err(why) => no(why),
        };
        if part.is_some() {
            return self.part_done(part, (peer_reply, request.is_unknown), now, commands);
        }
        let sent = self.endpoint.encode_reply(request, peer_reply, now);
        let sent =
            sent.and_then(|outgoing| self.endpoint.send_message(&outgoing, None, now, commands));
        if let Err(refusal) = sent {
            self.log_problem(format!("cannot answer: {refusal}"), now, commands);
        }
    }
}

fn no(why: &str) -> PeerReply<'_> {
    PeerReply::Error {
        code: None,
        message: why,
        data: None,
    }
}

impl Handler for Stub<'_> {
    fn begin(&mut self, _: i64, commands: &mut Vec<Command>) {
        if self.config.dials {
            self.endpoint.connect(commands);
        }
    }

    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.open(conn, now, commands);
        self.handle_events(conn, commands, now);
        self.start_streams(commands);
        if let Some(status) = self.config.script.exit {
            self.dispatcher.watch.exits(status);
            commands.push(Command::Stop);
        }
    }

    fn received(&mut self, channel: Channel, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        let conn = channel.conn;
        let mut decisions = Vec::new();
        let dispatcher = &mut self.dispatcher;
        dispatcher.now = now;
        self.endpoint
            .received(channel, bytes, now, commands, &mut |message| {
                dispatcher.receive(message, &mut decisions);
            });
        let framed = self.framing != Framing::Lines;
        if framed
            && !self.dispatcher.conns_with_messages.contains(&conn)
            && !self.endpoint.ignores_input(conn)
        {
            decisions.extend(dispatch::undecodable_start(&self.endpoint, channel));
        }
        self.act(conn, decisions, now, commands);
        self.continue_on_streams(now, commands);
        self.start_streams(commands);
        self.dispatcher.emit_report(now);
    }

    fn ended(&mut self, channel: Channel, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        let conn = channel.conn;
        let mut decisions = Vec::new();
        let dispatcher = &mut self.dispatcher;
        dispatcher.now = now;
        let is_ours = self.endpoint.is_closed(conn) || dispatcher.ended.contains(&conn);
        let is_end = matches!(how, Ended::Eof | Ended::Reset) && channel.stream.is_none();
        self.is_left |= self.config.dials && is_end && !is_ours;
        (self.endpoint).ended(channel, how, now, commands, &mut |message| {
            dispatcher.receive(message, &mut decisions);
        });
        if channel.stream.is_none() {
            self.store_missed(conn, now, commands);
        }
        if *how == Ended::Eof {
            self.act(conn, decisions, now, commands);
            self.ending.insert(channel);
            if self.config.stdio {
                self.waiting.take_unanswered(conn);
                self.drop_expected_answers();
            } else if channel.stream.is_none() && !self.answers_elsewhere() {
                self.end_waiting_jobs(conn, now, commands);
            }
            if channel.stream.is_none() && !self.answers_elsewhere() {
                self.continue_after_last_request(conn, now, commands);
            }
            self.end_if_done(channel, now, commands);
            self.start_streams(commands);
        } else if channel.stream.is_some() {
            self.ending.remove(&channel);
            self.started.remove(&channel);
        } else {
            self.drop_jobs(conn);
            self.ending.retain(|channel| channel.conn != conn);
            self.started.retain(|channel| channel.conn != conn);
            self.dispatcher.conns_with_messages.remove(&conn);
            self.dispatcher.ended.remove(&conn);
            self.order.forget(conn);
            if let Ended::Refused(why) = how {
                commands.push(Command::Log(why.clone()));
            }
            let was_ready = !self.unready.remove(&conn);
            if !was_ready && !self.config.script.first.is_empty() {
                let text = format!("#{conn}: ended before `first` could be sent");
                self.log_problem(text, now, commands);
            }
        }
        self.dispatcher.emit_report(now);
    }

    fn interrupted(&mut self, now: i64, commands: &mut Vec<Command>) {
        // A side that connected closes the connection.
        if self.config.dials {
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
        self.start_streams(commands);
        commands.extend(
            self.dispatcher
                .rate_limit
                .suppressed_note(Some(now))
                .map(Command::Log),
        );
        self.dispatcher.emit_report(now);
    }
}

#[cfg(test)]
mod tests;

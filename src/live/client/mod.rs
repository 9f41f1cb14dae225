//! The calling side of a session: sends the steps of a recording and compares the answers, or sends typed messages and
//! shows the answers.
//!
//! ```text
//!   recording -> Plan: steps (ours), expected (of the peer), names (generated values)    arguments, lines -> MessageFeed
//!                 |                                                                                        |
//!   begin, opened, received, ended, tick --> Client <------------------------------------------------------'
//!                                              '--> connect, send, close; Event: received, diverged, hangs
//! ```
//!
//! A step is sent when its connection is ready, the earlier steps on that connection are sent, and every value in it
//! that the peer generates is known. Typed messages are sent in order.

mod compare;
mod connections;
mod deadline;
mod feed;
mod outcome;
mod schedule;
#[cfg(test)]
pub(crate) mod tests;
mod waits;

use crate::conversation::Judge;
use crate::diff::{Compare, DiffMessage, Ids, Ignore};
use crate::framing::Limits;
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::{Endpoint, SessionEvent};
use crate::live::handler::{Command, Ended, Handler};
use crate::live::names::{Binding, RunValues};
use crate::live::plan::{CONN, Expected, Plan, PlanStep, PlannedConnection};
use crate::live::speed::Speed;
use crate::protocol::Channel;
use crate::protocol::peer::{Outgoing, PeerConfig};
use connections::{ConnectionOrder, ConnectionStage, ConnectionState};
pub use feed::FeedInput;
use feed::MessageFeed;
pub use outcome::{ClientEvent, Divergence, Hang, RunDifference, RunOutcome};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Receives the events of a run; commands may be added, such as output.
pub type ClientObserver<'t> = Box<dyn FnMut(ClientEvent<'_>, &mut Vec<Command>) + Send + 't>;

/// Time for unsolicited messages after everything is answered, in nanoseconds.
pub const LINGER: i64 = 500_000_000;

/// Time limit for a message that the protocol must receive before the end, in nanoseconds.
const LAST_MESSAGE_TIMEOUT: i64 = 500_000_000;

/// The settings of a run.
#[derive(Clone, Debug, Default)]
pub struct ClientConfig {
    /// The properties of the side. The plan decides whether it sends a hello.
    pub peer_config: PeerConfig,
    /// Own ids and times are those of the recording.
    pub keep_ids: bool,
    /// A message also waits for all answers that precede it in the recording. A typed message waits for the answer to
    /// the previous one.
    pub in_order: bool,
    /// The factor for the intervals of the recording.
    pub speed: Speed,
    /// Time limit for an answer, in nanoseconds.
    pub timeout: i64,
    /// Time for further messages after everything is answered, in nanoseconds.
    pub linger: i64,
    /// Continues after a difference.
    pub keep_going: bool,
    /// Values that are not compared, or only in part.
    pub ignore: Ignore,
    /// The limits of the decoder.
    pub limits: Limits,
}

/// The progress of a step.
#[derive(Clone, Copy, Default)]
struct StepProgress {
    /// The time at which it was sent.
    sent: Option<i64>,
    /// The index of the message in this run.
    index: Option<u64>,
    /// The time at which it was sent or last answered.
    last: i64,
    /// The number of its recorded answers that were received or skipped.
    got: usize,
    /// An answer was received, also one that the recording does not have.
    has_begun: bool,
    /// No further answer is expected.
    done: bool,
}

/// The state of a run, except for the endpoint.
struct ClientRun<'p> {
    plan: &'p Plan<'p>,
    settings: &'p ClientConfig,
    compare: Compare<'p>,
    values: RunValues,
    /// Ids that no later message needs.
    ids: Ids,
    observer: ClientObserver<'p>,
    steps: Vec<StepProgress>,
    /// A step refers to an earlier one.
    has_references: bool,
    /// The steps that end sessions over HTTP, without those whose exchange is over.
    deletions: VecDeque<usize>,
    /// Steps with a pending answer, by the time at which they were sent or last answered.
    pending: BTreeSet<(i64, usize)>,
    /// The number of leading expected messages whose answers are complete: without items, and with items.
    answered: [usize; 2],
    /// The number of leading expected messages without a notification that is missing.
    notified: usize,
    /// The number of leading expected messages whose notifications nothing waits for any more.
    given_up: usize,
    /// For each expected message: it was received, or need not be.
    is_received: Vec<bool>,
    /// Expected messages without a request, by connection, kind and subject.
    pushes: HashMap<(u32, String), VecDeque<usize>>,
    /// Steps by the index of the message in this run.
    step_by_index: HashMap<u64, usize>,
    /// The steps that answer a request of the peer that has come, and are not sent so far.
    asked: BTreeSet<usize>,
    states: BTreeMap<u32, ConnectionState>,
    conns: ConnectionOrder,
    /// The source of messages if there is no recording.
    feed: Option<MessageFeed<'p>>,
    outcome: RunOutcome,
    started: i64,
    /// The time of the last traffic, for display. A wait that uses it never ends while unrelated messages arrive.
    last_traffic: i64,
    /// The time of the last progress: a message was sent, or an expected one was received. Time limits count from here.
    last_progress: i64,
    /// The states of the handshake that each connection has reached. Each of them counts once as progress.
    handshakes: BTreeSet<(u32, Cow<'static, str>)>,
    /// The numbers of unexpected pushes, of unanswered requests, and of answers without a recorded one.
    unexpected: [u64; 3],
    /// The run ends.
    is_stopping: bool,
}

/// The calling side of a session.
pub struct Client<'p> {
    endpoint: Endpoint<'p>,
    run: ClientRun<'p>,
    /// The run ends, at this time at the latest.
    close_by: Option<i64>,
    /// The messages at the end of the run are sent at this time at the earliest.
    close_from: Option<i64>,
}

impl<'p> Client<'p> {
    /// Replays a recorded plan.
    pub fn replaying(
        plan: &'p Plan<'p>,
        config: ConnectionConfig<'p>,
        settings: &'p ClientConfig,
        observer: ClientObserver<'p>,
    ) -> Self {
        let peer_config = PeerConfig {
            no_hello: plan.has_hello,
            ..settings.peer_config.clone()
        };
        Self::new(plan, config, settings, &peer_config, None, observer)
    }

    /// Sends the messages that `next` returns. The plan is empty.
    pub fn sending(
        plan: &'p Plan<'p>,
        config: ConnectionConfig<'p>,
        settings: &'p ClientConfig,
        next: Box<dyn FnMut() -> FeedInput + Send + 'p>,
        observer: ClientObserver<'p>,
    ) -> Self {
        let feed = MessageFeed::new(next, !settings.peer_config.no_hello);
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
        settings: &'p ClientConfig,
        peer_config: &PeerConfig,
        feed: Option<MessageFeed<'p>>,
        observer: ClientObserver<'p>,
    ) -> Self {
        let mut pushes: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (at, expected) in plan.expected.iter().enumerate() {
            if expected.is_push() {
                let key = plan.push_key(&expected.stored);
                pushes.entry(key).or_default().push_back(at);
            }
        }
        let state = |(conn, _): (&u32, &PlannedConnection)| {
            let stage = ConnectionStage::Waiting;
            (*conn, ConnectionState { stage, next: 0 })
        };
        let side = config.side;
        let mut endpoint = Endpoint::new(config, peer_config, settings.limits, &Judge::default());
        // Connections that the protocol itself opens get other numbers.
        endpoint.reserve(plan.connections.keys().last().copied().unwrap_or_default());
        Self {
            run: ClientRun {
                values: RunValues::new(
                    side,
                    settings.keep_ids,
                    peer_config.token.clone(),
                    peer_config.seed,
                ),
                compare: Compare::new(plan.protocol, &settings.ignore, settings.limits.depth),
                ids: Ids::default(),
                steps: vec![StepProgress::default(); plan.steps.len()],
                has_references: (plan.steps.iter())
                    .any(|step| step.part_of.is_some() || !step.refers_to.is_empty()),
                deletions: (0..)
                    .zip(&plan.steps)
                    .filter(|(_, step)| step.is_deletion)
                    .map(|(number, _)| number)
                    .collect(),
                pending: BTreeSet::new(),
                answered: [0; 2],
                notified: 0,
                given_up: 0,
                is_received: vec![false; plan.expected.len()],
                states: plan.connections.iter().map(state).collect(),
                conns: ConnectionOrder::of(plan),
                step_by_index: HashMap::new(),
                asked: BTreeSet::new(),
                feed,
                outcome: RunOutcome::default(),
                started: 0,
                last_traffic: 0,
                last_progress: 0,
                handshakes: BTreeSet::new(),
                unexpected: [0; 3],
                is_stopping: false,
                pushes,
                plan,
                settings,
                observer,
            },
            endpoint,
            close_by: None,
            close_from: None,
        }
    }

    /// The result so far.
    pub fn outcome(&self) -> &RunOutcome {
        &self.run.outcome
    }

    /// Sends whatever can be sent, then checks if the run waits for anything.
    fn advance(&mut self, now: i64, commands: &mut Vec<Command>) {
        for event in self.endpoint.events() {
            match event {
                SessionEvent::Open(_) | SessionEvent::Closing(_) => {}
                SessionEvent::Refused(_, why) if self.run.feed.is_some() => self.run.fail(why),
                SessionEvent::Refused(conn, why) => {
                    self.run.fail(format!("connection {conn}: {why}"));
                }
            }
        }
        self.run.advance_answered();
        self.run.advance_deletions(&self.endpoint);
        self.run.complete_closed(&self.endpoint);
        while !self.run.is_stopping
            && (self.update_connections(now, commands) | self.send_steps(now, commands))
        {}
        if !self.run.is_stopping && self.send_early_answer(now, commands) {
            return self.advance(now, commands);
        }
        if !self.run.is_stopping {
            self.stop_or_report_hang(now, commands);
        }
        if self.run.is_stopping && !self.run.outcome.is_over {
            self.end(now, commands);
        }
    }

    /// Sends the steps that are due, one per connection.
    fn send_steps(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let mut moved = self.send_next(now, commands);
        let mut before = None;
        while let Some(conn) = self.run.conns.next_sending(before) {
            before = Some(conn);
            let Some((number, step)) = self.run.next_step(conn) else {
                continue;
            };
            match self.run.check_ready(&self.endpoint, number, step, now) {
                Ok(()) => {}
                Err(schedule::StepWait::Never(why)) => {
                    let how = RunDifference::Refused(conn, why);
                    self.run.report_difference(Some(step), how, commands);
                    self.run.skip(conn);
                    moved = true;
                    continue;
                }
                Err(_) => continue,
            }
            self.send_step(number, step, now, commands);
            moved = true;
        }
        moved
    }

    /// Sends the answer to a request of the peer that came earlier than in the recording, if nothing else goes on: the peer may
    /// wait for it. Returns `true` if there was one.
    fn send_early_answer(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let early = self.run.early_answer(&self.endpoint);
        let number = early.filter(|(time, _)| *time <= now);
        let number = number.map(|(_, number)| number);
        let step = number.and_then(|number| Some((number, self.run.plan.steps.get(number)?)));
        if let Some((number, step)) = step {
            self.send_step(number, step, now, commands);
        }
        step.is_some()
    }

    /// Sends a step.
    fn send_step(&mut self, number: usize, step: &PlanStep, now: i64, commands: &mut Vec<Command>) {
        let conn = step.conn;
        let channel = self.endpoint.channel(conn, step.stream);
        let result = if step.is_deletion {
            let session = step.session.as_deref();
            Ok(self.endpoint.delete_session(conn, session, now, commands))
        } else if let Some(body) = step.verbatim.as_ref().filter(|_| step.is_body) {
            self.endpoint
                .send_body(channel, body, &step.wire, now, commands)
        } else if let Some(bytes) = &step.verbatim {
            Ok(self
                .endpoint
                .send_bytes(channel, bytes.clone(), now, commands))
        } else {
            if step.begins_session() {
                self.endpoint.begin_session(step.session.clone());
            }
            let (values, names) = (&mut self.run.values, &self.run.plan.names);
            let message = values.rewrite(names, &step.message, &step.places, now);
            let mut outgoing = Outgoing::new(conn, message);
            outgoing.stream = channel.stream;
            self.endpoint
                .send_message(&outgoing, Some(&step.wire), now, commands)
        };
        match result {
            Ok(index) => {
                if step.is_last && channel.stream.is_some() {
                    self.endpoint.finish(channel, now, commands);
                }
                self.run.record_sent(number, index, now);
                self.run.record_handshake(&self.endpoint, conn, now);
            }
            Err(refusal) => {
                let (what, index) = (&step.description.what, step.description.index);
                self.run
                    .fail(format!("{what} #{index} cannot be sent: {refusal}"));
            }
        }
    }
}

impl Handler for Client<'_> {
    fn begin(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.run.started = now;
        self.run.record_progress(now);
        if self.run.feed.is_some() {
            self.run.set_stage(CONN, ConnectionStage::Connecting);
            commands.push(Command::Connect(CONN));
        }
        self.advance(now, commands);
    }

    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.run.last_traffic = now;
        self.run.set_stage(conn, ConnectionStage::Open);
        if let Some(feed) = self.run.feed.as_mut().filter(|_| conn == CONN) {
            feed.is_closing = false;
        }
        self.endpoint.opened(conn, now, commands);
        self.run.record_handshake(&self.endpoint, conn, now);
        self.advance(now, commands);
    }

    fn received(&mut self, channel: Channel, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        let run = &mut self.run;
        let mut shown = Vec::new();
        self.endpoint
            .received(channel, bytes, now, commands, &mut |mut received| {
                run.receive(&mut received, now, &mut shown);
            });
        commands.append(&mut shown);
        self.run.record_handshake(&self.endpoint, channel.conn, now);
        self.advance(now, commands);
    }

    fn ended(&mut self, channel: Channel, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        let Channel { conn, stream } = channel;
        let readiness = self.endpoint.readiness(conn);
        if stream.is_none() {
            self.run.complete_before_close(conn, &self.endpoint);
        }
        let run = &mut self.run;
        let mut shown = Vec::new();
        let again = self
            .endpoint
            .ended(channel, how, now, commands, &mut |mut received| {
                run.receive(&mut received, now, &mut shown);
            });
        commands.append(&mut shown);
        if stream.is_some() {
            return self.advance(now, commands);
        }
        let is_own = self.run.states.contains_key(&conn);
        let feeds = self.run.feed.is_some();
        match how {
            Ended::Eof if !is_own || feeds && self.close_by.is_none() => {
                commands.push(Command::Close(conn));
                if feeds && is_own {
                    return;
                }
            }
            // Nothing more will be received.
            Ended::Eof if feeds => self.close_by = Some(now),
            // Messages that need not wait are still sent.
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
        if again && self.run.has_more_steps(conn) {
            self.run.set_stage(conn, ConnectionStage::Connecting);
            commands.push(Command::Connect(conn));
        } else {
            self.run.ended(conn, how, again, &readiness, commands);
        }
        self.advance(now, commands);
    }

    fn due(&self) -> Option<i64> {
        if self.run.outcome.is_over {
            return None;
        }
        if self.close_by.is_some() {
            return [self.endpoint.due(), self.close_from.or(self.close_by)]
                .into_iter()
                .flatten()
                .min();
        }
        let linger = self.run.all_sent() && !self.run.has_pending();
        let linger = linger.then(|| self.run.linger_end());
        [
            self.endpoint.due(),
            self.deadline(),
            self.run.next_read(),
            self.run.next_time(&self.endpoint),
            self.run.next_leave(),
            (self.run.early_answer(&self.endpoint)).map(|(time, _)| time),
            linger,
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
            // A user who types messages can let the protocol close the session, once.
            let grace = if self.run.feed.is_some() && self.close_by.is_none() {
                LAST_MESSAGE_TIMEOUT
            } else {
                0
            };
            self.close_by = Some(now.saturating_add(grace));
            self.end(now, commands);
            self.run.outcome.is_over = false;
            self.run.is_stopping = true;
        }
    }
}

/// Returns the description of a step for users.
fn describe_step(step: Option<&PlanStep>) -> Option<DiffMessage> {
    step.map(|step| step.description.clone())
}

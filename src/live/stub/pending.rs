//! Jobs that wait for a time or for the peer, and their limits.
//!
//! ```text
//!   park --> #1 until 12:00:05   --take_due--> continues
//!            #2 for an answer    --store_answer--> continues
//!            #3 until, or for    --take_ended, drop_all--> ends: its connection ended
//! ```

use super::dispatch::Job;
use super::perform::JobWait;
use super::{Stub, no};
use crate::diff::Val;
use crate::framing::Framing;
use crate::live::handler::Command;
use crate::live::script::value::with_json;
use crate::live::script::{Reply, ScriptAction};
use crate::path::Path;
use crate::protocol::Channel;
use crate::protocol::peer::Request;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of jobs that wait.
const MAX_JOBS: usize = 1 << 14;
/// The maximum number of bytes of their requests and answers.
const MAX_BYTES: usize = 64 << 20;
/// The reason why requests on a connection get no answer.
const PEER_HAS_ENDED: &str = "the other side sends nothing more: requests to it get no answer";

/// The jobs that wait.
#[derive(Default)]
pub(super) struct PendingJobs {
    jobs: BTreeMap<u64, Job>,
    due: BTreeSet<(i64, u64)>,
    held: usize,
}

impl Job {
    /// Returns the number of bytes that it stores while it waits.
    fn weight(&self) -> usize {
        let Self {
            request,
            answer,
            calls,
            ..
        } = self;
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let calls = calls.iter();
        let calls = calls.map(|call| call.sent.len() + text(&call.answer));
        let own = request.kind.len() + text(&request.subject) + request.message.len();
        own + text(answer) + calls.sum::<usize>()
    }

    /// Returns `true` if it may have to wait.
    pub(super) fn may_wait(&self) -> bool {
        let waits = |action: &ScriptAction| {
            matches!(
                action,
                ScriptAction::Wait(_)
                    | ScriptAction::Ask(..)
                    | ScriptAction::Await(_)
                    | ScriptAction::AwaitMessage(_)
                    | ScriptAction::AwaitRequest(_)
                    | ScriptAction::AwaitEnd
            )
        };
        self.actions.iter().any(waits)
    }

    /// Returns `true` if a message that it sends is an event of the session, which outlives the connection.
    fn has_events(&self) -> bool {
        let mut left = self.actions.iter().skip(self.at);
        left.any(|action| match action {
            ScriptAction::SendReply(Reply::Message(message), _) | ScriptAction::Call(message) => {
                message.is_event()
            }
            _ => false,
        })
    }

    /// Returns the action after the one that waits for a message of the peer. The actions before it are skipped.
    fn action_after(&self, message: &Request) -> Option<usize> {
        let from = self.at.saturating_sub(1);
        let mut actions = self.actions.get(from..)?.iter().enumerate();
        let (at, awaited) = actions.find_map(|(n, action)| match action {
            ScriptAction::AwaitMessage(awaited) if awaited.kind == message.kind => {
                Some((from + n + 1, awaited))
            }
            _ => None,
        })?;
        let value = |message: &str, path: &Path| {
            let found = with_json(message, |root| Val::of(path.find(root)?));
            found.ok().flatten()
        };
        let own = value(&self.request.message, &awaited.request)?;
        (value(&message.message, &awaited.path)? == own).then_some(at)
    }
}

/// Which of the recorded requests that rules wait for were received.
pub(super) struct RequestOrder {
    awaited: BTreeSet<u64>,
    received: BTreeSet<(u32, u64)>,
}

impl RequestOrder {
    pub(super) fn new(awaited: BTreeSet<u64>) -> Self {
        Self {
            awaited,
            received: BTreeSet::new(),
        }
    }

    /// Stores a received request. Returns `true` if jobs may wait for it.
    fn receive(&mut self, conn: u32, index: u64) -> bool {
        self.awaited.contains(&index) && self.received.insert((conn, index))
    }

    pub(super) fn is_received(&self, conn: u32, index: u64) -> bool {
        self.received.contains(&(conn, index))
    }

    /// Forgets a connection.
    pub(super) fn forget(&mut self, conn: u32) {
        while let Some(own) = self.received.range((conn, 0)..).next().copied() {
            if own.0 != conn {
                break;
            }
            self.received.remove(&own);
        }
    }
}

impl PendingJobs {
    /// Returns an error if one more job cannot wait.
    pub(super) fn check_capacity(&self, job: &Job) -> Result<(), String> {
        if self.jobs.len() >= MAX_JOBS {
            return Err(format!("{MAX_JOBS} answers wait already"));
        }
        if self.held.saturating_add(job.weight()) > MAX_BYTES {
            let mib = MAX_BYTES >> 20;
            return Err(format!("{mib} MiB of requests wait already"));
        }
        Ok(())
    }

    /// Stores a job until a time; without one, until its answer arrives.
    pub(super) fn keep(&mut self, mut job: Job, until: Option<i64>) {
        job.until = until;
        self.due.extend(until.map(|due| (due, job.id)));
        self.held += job.weight();
        self.jobs.insert(job.id, job);
    }

    fn take(&mut self, id: u64) -> Option<Job> {
        let mut job = self.jobs.remove(&id)?;
        job.after = None;
        job.until_stream = false;
        self.held = self.held.saturating_sub(job.weight());
        if let Some(due) = job.until.take() {
            self.due.remove(&(due, id));
        }
        Some(job)
    }

    /// Returns the time at which the first job continues.
    pub(super) fn due(&self) -> Option<i64> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Removes a job of a connection that waits for a recorded request.
    fn take_after(&mut self, conn: u32, index: u64) -> Option<Job> {
        let mut jobs = self.jobs.values();
        let id = jobs
            .find(|job| job.request.conn == conn && job.after == Some(index))?
            .id;
        self.take(id)
    }

    /// Removes a job of a connection that waits for any recorded request.
    fn take_any_after(&mut self, conn: u32) -> Option<Job> {
        let mut jobs = self.jobs.values();
        let id = jobs
            .find(|job| job.request.conn == conn && job.after.is_some())?
            .id;
        self.take(id)
    }

    /// Removes a job that waits for the end of its connection.
    fn take_ended(&mut self, conn: u32) -> Option<Job> {
        let mut jobs = self.jobs.values();
        let id = jobs
            .find(|job| job.request.conn == conn && job.until_end)?
            .id;
        self.take(id)
    }

    /// Removes a job that waits for an event stream, if its connection has one.
    fn take_for_stream(&mut self, has_stream: impl Fn(u32) -> bool) -> Option<Job> {
        let mut jobs = self.jobs.values();
        let id = jobs
            .find(|job| job.until_stream && has_stream(job.request.conn))?
            .id;
        self.take(id)
    }

    /// Removes a job that is due.
    pub(super) fn take_due(&mut self, now: i64) -> Option<Job> {
        let (_, id) = self.due.first().filter(|(due, _)| *due <= now)?;
        self.take(*id)
    }

    /// Stores an answer. Returns the job if it continues; a job that waits for a time stays.
    pub(super) fn store_answer(&mut self, id: u64, index: u64, answer: String) -> Option<Job> {
        let until = self.jobs.get(&id)?.until;
        let mut job = self.take(id)?;
        job.store_answer(index, answer);
        if until.is_none() {
            return Some(job);
        }
        self.keep(job, until);
        None
    }

    /// Removes the job that waits for this message of the peer; with `elsewhere`, which may come on another connection.
    pub(super) fn take_continued(&mut self, message: &Request, elsewhere: bool) -> Option<Job> {
        let jobs = self.jobs.values();
        let mut own = jobs.filter(|job| elsewhere || job.request.conn == message.conn);
        let (id, at) = own.find_map(|job| Some((job.id, job.action_after(message)?)))?;
        let mut job = self.take(id)?;
        job.at = at;
        Some(job)
    }

    /// Removes the jobs of a connection that wait for an answer that can no longer arrive.
    pub(super) fn take_unanswered(&mut self, conn: u32) -> Vec<Job> {
        let all = self.jobs.values();
        let asking = all.filter(|job| job.request.conn == conn && job.until.is_none());
        let asking: Vec<u64> = asking.map(|job| job.id).collect();
        asking.into_iter().filter_map(|id| self.take(id)).collect()
    }

    /// Removes all jobs of a connection, except those that send events of its session.
    pub(super) fn drop_all(&mut self, conn: u32) {
        let all = self.jobs.values();
        let own = all.filter(|job| job.request.conn == conn && !job.has_events());
        let own: Vec<u64> = own.map(|job| job.id).collect();
        for id in own {
            self.take(id);
        }
    }

    /// Returns `true` if a job of a connection or a stream waits.
    pub(super) fn has(&self, channel: Channel) -> bool {
        let Channel { conn, stream } = channel;
        let mut requests = self.jobs.values().map(|job| &job.request);
        requests.any(|r| r.conn == conn && (stream.is_none() || r.stream == stream))
    }

    /// Returns `true` if this job waits.
    pub(super) fn contains(&self, id: u64) -> bool {
        self.jobs.contains_key(&id)
    }
}

impl Stub<'_> {
    /// Returns `true` if answers to requests of the stub arrive on other connections.
    pub(super) fn answers_elsewhere(&self) -> bool {
        self.framing == Framing::Http
    }

    /// Starts a job. A job that may have to wait is refused if the limits are reached.
    pub(super) fn start(&mut self, mut job: Job, now: i64, commands: &mut Vec<Command>) {
        job.id = self.next;
        self.next += 1;
        let (conn, recorded) = (job.request.conn, job.recorded);
        let recorded = recorded.filter(|index| self.order.receive(conn, *index));
        let room = if job.may_wait() {
            self.waiting.check_capacity(&job)
        } else {
            Ok(())
        };
        match room {
            Ok(()) => self.run(job, now, commands),
            Err(why) => {
                self.give_up(&job, &why, now, commands);
                self.dispatcher.changed();
            }
        }
        while let Some(job) = recorded.and_then(|index| self.waiting.take_after(conn, index)) {
            self.run(job, now, commands);
        }
    }

    /// Continues the jobs of a connection that wait for requests, since its peer sends no more.
    pub(super) fn continue_after_last_request(
        &mut self,
        conn: u32,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        while let Some(job) = self.waiting.take_any_after(conn) {
            self.run(job, now, commands);
        }
    }

    /// Continues the jobs that wait for an event stream that is open now.
    pub(super) fn continue_on_streams(&mut self, now: i64, commands: &mut Vec<Command>) {
        loop {
            let endpoint = &self.endpoint;
            let job = (self.waiting).take_for_stream(|conn| endpoint.can_send_event(conn));
            let Some(job) = job else {
                return;
            };
            self.run(job, now, commands);
        }
    }

    /// Returns `true` if the peer of a connection sends no more.
    fn has_no_more_requests(&self, channel: Channel) -> bool {
        self.ending.contains(&channel.conn.into()) && !self.answers_elsewhere()
    }

    /// Runs a job until it waits or is done.
    pub(super) fn run(&mut self, mut job: Job, now: i64, commands: &mut Vec<Command>) {
        let channel = (self.endpoint).channel(job.request.conn, job.request.stream);
        while let Some(action) = job.actions.get(job.at).cloned() {
            job.at += 1;
            let waits = match self.action(&mut job, &action, now, commands) {
                Ok(None) => continue,
                Ok(Some(JobWait::After(..))) if self.has_no_more_requests(channel) => continue,
                Ok(Some(JobWait::Never)) => return,
                Ok(Some(JobWait::Until(due))) => Ok((Some(due), None)),
                Ok(Some(JobWait::After(index, due))) => {
                    job.after = Some(index);
                    Ok((Some(due), None))
                }
                Ok(Some(JobWait::For(_) | JobWait::Message))
                    if self.has_no_more_requests(channel) =>
                {
                    Err(PEER_HAS_ENDED.to_owned())
                }
                Ok(Some(JobWait::End)) => {
                    job.until_end = true;
                    Ok((None, None))
                }
                Ok(Some(JobWait::Stream)) => {
                    job.at -= 1;
                    job.until_stream = true;
                    Ok((None, None))
                }
                Ok(Some(JobWait::For(index))) => Ok((None, Some(index))),
                Ok(Some(JobWait::Message)) => Ok((None, None)),
                Err(why) => Err(why),
            };
            match waits.and_then(|waits| self.waiting.check_capacity(&job).map(|()| waits)) {
                Ok((until, request)) => {
                    self.dispatcher
                        .jobs_by_request
                        .extend(request.map(|index| (index, job.id)));
                    self.waiting.keep(job, until);
                    return;
                }
                Err(why) => {
                    self.give_up(&job, &why, now, commands);
                    break;
                }
            }
        }
        self.dispatcher.done(&job);
        for channel in [channel, channel.conn.into()] {
            self.end_if_done(channel, now, commands);
        }
    }

    /// Answers with an error, and logs it.
    fn give_up(&mut self, job: &Job, why: &str, now: i64, commands: &mut Vec<Command>) {
        let why = format!("{}: {why}", job.place);
        if !job.answered && job.part.is_some() {
            self.part_done(job.part, (no(&why), false), now, commands);
        } else if !job.answered {
            let sent = self.endpoint.encode_reply(&job.request, no(&why), now);
            let sent = sent
                .and_then(|outgoing| self.endpoint.send_message(&outgoing, None, now, commands));
            if sent.is_err() && !job.is_hello {
                self.dispatcher.miss(&job.request, &why);
            }
        }
        self.log_problem(why, now, commands);
    }

    /// Closes a connection whose peer sends no more, or ends such a stream, if no job of it is left.
    pub(super) fn end_if_done(&mut self, channel: Channel, now: i64, commands: &mut Vec<Command>) {
        if !self.ending.contains(&channel) || self.waiting.has(channel) {
            return;
        }
        self.ending.remove(&channel);
        match channel.stream {
            None => self.endpoint.close(channel.conn, now, commands),
            // A unidirectional stream of the peer has no direction of ours (RFC 9000 section 2.1).
            Some(stream) if stream & 2 == 0 => self.endpoint.finish(channel, now, commands),
            Some(_) => {}
        }
    }

    /// Ends the jobs that wait for an answer on a connection whose peer sends no more.
    pub(super) fn end_waiting_jobs(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        for job in self.waiting.take_unanswered(conn) {
            self.give_up(&job, PEER_HAS_ENDED, now, commands);
            self.dispatcher.report.answered += u64::from(job.answered);
        }
        self.drop_expected_answers();
        self.dispatcher.changed();
    }

    /// Hands over the messages for a session whose connection has ended.
    pub(super) fn store_missed(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        while let Some(mut job) = self.waiting.take_ended(conn) {
            let left = job.actions.get(job.at..).unwrap_or_default();
            let messages = left.iter().filter_map(|action| match action {
                ScriptAction::SendReply(Reply::Message(message), _) => job.json(message).ok(),
                _ => None,
            });
            let messages: Vec<String> = messages.collect();
            job.answered |= !messages.is_empty();
            for message in messages {
                self.endpoint.send_missed(conn, message, now, commands);
            }
            self.dispatcher.done(&job);
        }
    }

    /// Removes all jobs of a connection.
    pub(super) fn drop_jobs(&mut self, conn: u32) {
        self.waiting.drop_all(conn);
        self.batches.leave(conn);
        self.drop_expected_answers();
    }

    /// Removes expected answers of jobs that no longer wait.
    pub(super) fn drop_expected_answers(&mut self) {
        let waiting = &self.waiting;
        self.dispatcher
            .jobs_by_request
            .retain(|_, job| waiting.contains(*job));
    }
}

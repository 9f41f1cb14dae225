//! Answers that wait, for their time or for the other side, and how many there may be.
//!
//! ```text
//!   park --> #1 until 12:00:05   --take_due--> goes on
//!            #2 for an answer    --hear------> goes on
//!            #3 until, or for    --end, drop-> never goes on: its connection ended
//! ```

use super::dispatch::Job;
use super::perform::Wait;
use super::{Stub, no};
use crate::diff::Val;
use crate::framing::Framing;
use crate::live::handler::Command;
use crate::live::script::Action;
use crate::live::script::value::with_json;
use crate::path::Path;
use crate::protocol::peer::Request;
use std::collections::{BTreeMap, BTreeSet};

/// Answers that wait at once.
const MOST: usize = 1 << 14;
/// Bytes of what they answer, and of what they were told.
const HELD: usize = 64 << 20;
/// Why nobody answers what was asked on a connection.
const NOTHING_MORE: &str = "the other side says no more: what it was asked is never answered";

/// What waits.
#[derive(Default)]
pub(super) struct Waiting {
    jobs: BTreeMap<u64, Job>,
    due: BTreeSet<(i64, u64)>,
    held: usize,
}

impl Job {
    /// Bytes that it holds while it waits.
    fn weight(&self) -> usize {
        let Self {
            request,
            answer,
            calls,
            ..
        } = self;
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let calls = calls.iter().map(|(_, answer)| text(answer));
        let own = request.kind.len() + text(&request.subject) + request.message.len();
        own + text(answer) + calls.sum::<usize>()
    }

    /// Whether it may have to wait.
    pub(super) fn may_wait(&self) -> bool {
        let waits = |action: &Action| {
            matches!(
                action,
                Action::Wait(_) | Action::Ask(..) | Action::Await(_) | Action::Hear(_)
            )
        };
        self.actions.iter().any(waits)
    }

    /// Where it goes on once the other side has said this of its call; what was to be said before is not said any more.
    fn after(&self, told: &Request) -> Option<usize> {
        let from = self.at.saturating_sub(1);
        let mut actions = self.actions.get(from..)?.iter().enumerate();
        let (at, heard) = actions.find_map(|(n, action)| match action {
            Action::Hear(heard) if heard.kind == told.kind => Some((from + n + 1, heard)),
            _ => None,
        })?;
        let value = |message: &str, path: &Path| {
            let found = with_json(message, |root| Val::of(path.find(root)?));
            found.ok().flatten()
        };
        let own = value(&self.request.message, &heard.request)?;
        (value(&told.message, &heard.path)? == own).then_some(at)
    }
}

impl Waiting {
    /// Why one more cannot wait.
    pub(super) fn room(&self, job: &Job) -> Result<(), String> {
        if self.jobs.len() >= MOST {
            return Err(format!("{MOST} answers wait already"));
        }
        if self.held.saturating_add(job.weight()) > HELD {
            let mib = HELD >> 20;
            return Err(format!("{mib} MiB of requests wait already"));
        }
        Ok(())
    }

    /// One waits until a time, or where there is none, until it is answered.
    pub(super) fn park(&mut self, mut job: Job, until: Option<i64>) {
        job.until = until;
        self.due.extend(until.map(|due| (due, job.id)));
        self.held += job.weight();
        self.jobs.insert(job.id, job);
    }

    fn take(&mut self, id: u64) -> Option<Job> {
        let mut job = self.jobs.remove(&id)?;
        self.held = self.held.saturating_sub(job.weight());
        if let Some(due) = job.until.take() {
            self.due.remove(&(due, id));
        }
        Some(job)
    }

    /// When the first goes on.
    pub(super) fn due(&self) -> Option<i64> {
        self.due.first().map(|(due, _)| *due)
    }

    /// One whose time has come.
    pub(super) fn take_due(&mut self, now: i64) -> Option<Job> {
        let (_, id) = self.due.first().filter(|(due, _)| *due <= now)?;
        self.take(*id)
    }

    /// One was answered: itself, where it goes on with that. What waits for its time still does.
    pub(super) fn hear(&mut self, id: u64, index: u64, answer: String) -> Option<Job> {
        let until = self.jobs.get(&id)?.until;
        let mut job = self.take(id)?;
        job.hear(index, answer);
        if until.is_none() {
            return Some(job);
        }
        self.park(job, until);
        None
    }

    /// The one of whose call the other side has said this.
    pub(super) fn told(&mut self, told: &Request) -> Option<Job> {
        let mut jobs = self.jobs.values();
        let mut own = jobs.by_ref().filter(|job| job.request.conn == told.conn);
        let (id, at) = own.find_map(|job| Some((job.id, job.after(told)?)))?;
        let mut job = self.take(id)?;
        job.at = at;
        Some(job)
    }

    /// Those of a connection that wait for an answer, which no longer comes.
    pub(super) fn take_asking(&mut self, conn: u32) -> Vec<Job> {
        let all = self.jobs.values();
        let asking = all.filter(|job| job.request.conn == conn && job.until.is_none());
        let asking: Vec<u64> = asking.map(|job| job.id).collect();
        asking.into_iter().filter_map(|id| self.take(id)).collect()
    }

    /// Nothing more is said on a connection.
    pub(super) fn drop_all(&mut self, conn: u32) {
        let all = self.jobs.values();
        let own = all.filter(|job| job.request.conn == conn);
        let own: Vec<u64> = own.map(|job| job.id).collect();
        for id in own {
            self.take(id);
        }
    }

    /// Whether something of a connection waits.
    pub(super) fn has(&self, conn: u32) -> bool {
        self.jobs.values().any(|job| job.request.conn == conn)
    }

    /// Whether that one waits.
    pub(super) fn knows(&self, id: u64) -> bool {
        self.jobs.contains_key(&id)
    }
}

impl Stub<'_> {
    /// Whether answers to what is asked come on another connection than the question.
    pub(super) fn answers_elsewhere(&self) -> bool {
        self.framing == Framing::Http
    }

    /// Begins a job, unless it may have to wait and there is no room for that.
    pub(super) fn start(&mut self, mut job: Job, now: i64, commands: &mut Vec<Command>) {
        job.id = self.next;
        self.next += 1;
        let room = if job.may_wait() {
            self.waiting.room(&job)
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
    }

    /// Goes on with a job until it waits or is done.
    pub(super) fn run(&mut self, mut job: Job, now: i64, commands: &mut Vec<Command>) {
        let conn = job.request.conn;
        while let Some(action) = job.actions.get(job.at).cloned() {
            job.at += 1;
            let waits = match self.action(&mut job, &action, now, commands) {
                Ok(None) => continue,
                Ok(Some(Wait::Never)) => return,
                Ok(Some(Wait::Until(due))) => Ok((Some(due), None)),
                Ok(Some(Wait::For(_) | Wait::Told))
                    if self.ending.contains(&conn) && !self.answers_elsewhere() =>
                {
                    Err(NOTHING_MORE.to_owned())
                }
                Ok(Some(Wait::For(index))) => Ok((None, Some(index))),
                Ok(Some(Wait::Told)) => Ok((None, None)),
                Err(why) => Err(why),
            };
            match waits.and_then(|waits| self.waiting.room(&job).map(|()| waits)) {
                Ok((until, asked)) => {
                    self.dispatcher
                        .asked
                        .extend(asked.map(|index| (index, job.id)));
                    self.waiting.park(job, until);
                    return;
                }
                Err(why) => {
                    self.give_up(&job, &why, now, commands);
                    break;
                }
            }
        }
        self.dispatcher.done(&job);
        self.end_if_done(conn, now, commands);
    }

    /// What cannot be answered is told so, and so is the user.
    fn give_up(&mut self, job: &Job, why: &str, now: i64, commands: &mut Vec<Command>) {
        let why = format!("{}: {why}", job.place);
        if !job.answered && job.part.is_some() {
            self.part_done(job.part, no(&why), now, commands);
        } else if !job.answered
            && let Ok(says) = self.endpoint.phrase(&job.request, no(&why), now)
        {
            let _ = self.endpoint.say(&says, None, now, commands);
        }
        self.complain(why, now, commands);
    }

    /// Closes a connection that hears no more, once nothing is left to be said on it.
    pub(super) fn end_if_done(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        if self.ending.contains(&conn) && !self.waiting.has(conn) {
            self.ending.remove(&conn);
            self.endpoint.close(conn, now, commands);
        }
    }

    /// A connection hears no more: what waits for an answer that would come on it does so in vain.
    pub(super) fn forsake(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        for job in self.waiting.take_asking(conn) {
            self.give_up(&job, NOTHING_MORE, now, commands);
            self.dispatcher.report.answered += u64::from(job.answered);
        }
        self.forget();
        self.dispatcher.changed();
    }

    /// Nothing more is said on a connection.
    pub(super) fn drop_jobs(&mut self, conn: u32) {
        self.waiting.drop_all(conn);
        self.batches.leave(conn);
        self.forget();
    }

    /// Answers are waited for only by what waits.
    fn forget(&mut self) {
        let waiting = &self.waiting;
        self.dispatcher.asked.retain(|_, job| waiting.knows(*job));
    }
}

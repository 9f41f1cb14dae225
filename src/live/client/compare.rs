//! What comes, beside what came then.

use super::{Binding, Difference, Divergence, Event, Expected, Hang, Run, Stage, Step, which};
use crate::diff::{Field, Kept, Scope, Val, Which, general};
use crate::live::endpoint::Received;
use crate::live::handler::{Command, Ended};
use crate::live::plan::id_of;
use crate::path::Path;
use crate::protocol::peer::Readiness;
use crate::protocol::schema::Fresh;
use crate::protocol::{Protocol, Role};
use crate::tape::Node;
use std::cell::OnceCell;
use std::collections::{HashMap, VecDeque};

/// Notes of one sort that are told one by one.
const NOTES: u64 = 20;
/// What nobody asked for.
const PUSH: usize = 0;
/// What nobody answers.
const REQUEST: usize = 1;

impl Run<'_> {
    /// A message of the other side.
    pub(super) fn hear(
        &mut self,
        received: &mut Received<'_>,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        if self.feed.is_some() {
            return self.show(received, now, commands);
        }
        let decoded = received.decoded;
        (self.observer)(Event::Received(decoded, received.verdict), commands);
        let passive = matches!(decoded.message.role, Some(Role::Heartbeat | Role::Control));
        if self.stops || decoded.frame.control.is_some() || passive {
            return;
        }
        self.last = now;
        let kept = Kept::of(decoded, received.verdict.answer);
        let answer = received.verdict.answer;
        let told = match answer.map(|answer| (answer, self.said.get(&answer.to))) {
            Some((answer, Some(number))) => {
                let (number, last) = (*number, answer.last);
                self.answered(number, last, &kept, now, commands)
            }
            // An answer to what the protocol itself said.
            Some((_, None)) => return,
            None => {
                let id = id_of(&decoded.message.id);
                self.push(&kept, id.as_ref(), received.replies.is_empty(), commands)
            }
        };
        let Some(told) = told else {
            return;
        };
        self.goes_on(now);
        if let Some(came) = self.came.get_mut(told) {
            *came = true;
        }
        let plan = self.plan;
        let Some(recorded) = plan.expected.get(told) else {
            return;
        };
        // A step says it.
        if recorded.is_answered {
            received.replies.clear();
        }
        let mut message = Vec::new();
        decoded.write_message(&mut message);
        let message = String::from_utf8_lossy(&message);
        (self.live).hear(&plan.names, &recorded.places, kept.conn, &message);
        self.outcome.compared += 1;
        let (live, ids) = (&self.live, &mut self.ids);
        let scope = |kept: &Kept| Scope {
            conn: kept.conn,
            direction: kept.direction,
        };
        let scopes = [scope(&recorded.kept), scope(&kept)];
        let places = OnceCell::new();
        let mut same = |group, path: &Path, recorded_is: Node<'_>, here: Node<'_>| {
            let Some((one, other)) = Val::of(recorded_is).zip(Val::of(here)) else {
                return Err(None);
            };
            let Some(group) = group else {
                let is_same = live.is_same(&plan.names, &one, &other);
                return if is_same { Ok(()) } else { Err(None) };
            };
            let places = places.get_or_init(|| names_of(recorded));
            match places.get(path) {
                Some(number) => live.is_now(*number, &other),
                None => ids.pair(group, (scopes[0], &one), (scopes[1], &other)),
            }
        };
        let fields = (self.compare).fields_with(&recorded.kept, &kept, &mut same);
        self.outcome.ignored = self.compare.ignored;
        if !fields.is_empty() {
            let flags = flags(&recorded.kept.kind, &fields);
            let recorded_is = crate::diff::which(&recorded.kept);
            let how = Difference::Differs(recorded_is, crate::diff::which(&kept), fields, flags);
            let asked = recorded.answers.and_then(|step| plan.steps.get(step));
            self.diverged(asked, how, commands);
        }
    }

    /// An answer to a step: the recorded one that it stands for.
    fn answered(
        &mut self,
        number: usize,
        last: bool,
        kept: &Kept,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Option<usize> {
        let plan = self.plan;
        let step = plan.steps.get(number)?;
        let got = self.steps.get(number)?.got;
        let role = |told: &usize| plan.expected.get(*told).and_then(|told| told.kept.role);
        let is_item = kept.role == Some(Role::Item);
        let mut left = step.answers.iter().enumerate().skip(got);
        let found = if is_item {
            left.next()
                .filter(|(_, told)| role(told) == Some(Role::Item))
        } else {
            // A stream that is ended here may have had more items then.
            let other = left
                .clone()
                .find(|(_, told)| role(told) != Some(Role::Item));
            other.or_else(|| left.next())
        };
        let upto = found.map_or(got, |(at, _)| at + 1);
        let all = step.is_complete && upto == step.answers.len();
        self.note(number, |progress| {
            // What the recording does not have could come for ever.
            if found.is_some() {
                progress.last = now;
            }
            progress.got = upto;
            progress.done |= last || (all && found.is_some());
        });
        let Some((at, told)) = found else {
            if step.is_complete && !self.is_cancelled(step) {
                self.diverged(
                    Some(step),
                    Difference::Extra(crate::diff::which(kept)),
                    commands,
                );
            }
            return None;
        };
        let skipped = step.answers.get(got..at).unwrap_or_default();
        if !skipped.is_empty() && !self.is_cancelled(step) {
            let missing = skipped.iter().filter_map(|told| plan.expected.get(*told));
            let missing = missing.map(|told| crate::diff::which(&told.kept)).collect();
            self.diverged(Some(step), Difference::Missing(missing), commands);
        }
        self.need_not_come(skipped);
        Some(*told)
    }

    /// Whether a later message, that is no call, spoke of this one: how much is answered then is a matter of time.
    fn is_cancelled(&self, step: &Step) -> bool {
        step.spoken_of.iter().any(|later| {
            let later = self.plan.steps.get(*later).zip(self.steps.get(*later));
            later.is_some_and(|(later, progress)| {
                later.role == Some(Role::Notification) && progress.sent.is_some()
            })
        })
    }

    /// Whether a message of that id was given up.
    fn was_cancelled(&self, id: Option<&Val>) -> bool {
        let is_now = |number: usize| id.is_some_and(|id| self.live.value(number) == Some(id));
        let named = self
            .plan
            .steps
            .iter()
            .filter(|step| step.id.is_some_and(is_now));
        let mut named = named;
        named.any(|step| self.is_cancelled(step))
    }

    /// Something nobody asked for: the recorded message that it stands for.
    fn push(
        &mut self,
        kept: &Kept,
        id: Option<&Val>,
        unanswered: bool,
        commands: &mut Vec<Command>,
    ) -> Option<usize> {
        let key = (kept.conn.unwrap_or_default(), kept.what());
        let told = self.pushes.get_mut(&key).and_then(VecDeque::pop_front);
        if told.is_none() {
            let what = &key.1;
            let answers = [Role::Response, Role::Error, Role::Item, Role::End];
            let is_answer = kept.role.is_some_and(|role| answers.contains(&role));
            // What was given up may be answered all the same, or once more.
            if is_answer && !self.was_cancelled(id) {
                self.diverged(None, Difference::Extra(crate::diff::which(kept)), commands);
            } else if kept.role != Some(Role::Request) {
                let text = format!("{what} came, which the recording does not have");
                self.is_strange(PUSH, text, commands);
            } else if unanswered {
                let text =
                    format!("the other side asks for {what}, which the recording does not answer");
                self.is_strange(REQUEST, text, commands);
            }
        }
        told
    }

    /// Something that the recording does not have: told so often, and counted.
    fn is_strange(&mut self, sort: usize, text: String, commands: &mut Vec<Command>) {
        let Some(count) = self.strange.get_mut(sort) else {
            return;
        };
        *count += 1;
        if *count <= NOTES {
            (self.observer)(Event::Note(text), commands);
        }
    }

    /// How much more of it there was.
    pub(super) fn tell_strange(&mut self, commands: &mut Vec<Command>) {
        for (sort, count) in self.strange.into_iter().enumerate() {
            let more = count.saturating_sub(NOTES);
            let messages = if more == 1 { "message" } else { "messages" };
            let requests = if more == 1 { "request" } else { "requests" };
            let text = match sort {
                _ if more == 0 => continue,
                PUSH => format!("{more} more {messages} came, which the recording does not have"),
                _ => format!("{more} more {requests} came, which the recording does not answer"),
            };
            (self.observer)(Event::Note(text), commands);
        }
    }

    /// Something went otherwise; without `--keep-going` that was it.
    pub(super) fn diverged(
        &mut self,
        asked: Option<&Step>,
        how: Difference,
        commands: &mut Vec<Command>,
    ) {
        if self.stops {
            return;
        }
        self.outcome.differ += 1;
        let asked = which(asked);
        let divergence = Divergence { asked, how };
        (self.observer)(Event::Diverged(&divergence), commands);
        self.stops |= !self.settings.keep_going;
    }

    pub(super) fn hangs(&mut self, hang: &Hang, commands: &mut Vec<Command>) {
        self.outcome.hangs = true;
        self.stops = true;
        (self.observer)(Event::Hangs(hang), commands);
    }

    pub(super) fn trouble(&mut self, why: String) {
        self.outcome.trouble.get_or_insert(why);
        self.stops = true;
    }

    /// What did not come, although it did then and nothing was in its way.
    pub(super) fn tell_missing(&mut self, commands: &mut Vec<Command>) {
        let missing = self.missing().into_iter();
        let missing = missing.filter_map(|told| self.plan.expected.get(told));
        let missing: Vec<Which> = missing.map(|told| crate::diff::which(&told.kept)).collect();
        if !missing.is_empty() {
            self.diverged(None, Difference::Missing(missing), commands);
        }
    }

    /// Whether there is more to say on a connection that has ended with nothing half done.
    pub(super) fn has_more(&self, conn: u32) -> bool {
        !self.stops && self.stage(conn) == Stage::Open && !self.is_said(conn)
    }

    /// A connection has ended.
    pub(super) fn ended(
        &mut self,
        conn: u32,
        how: &Ended,
        readiness: &Readiness,
        commands: &mut Vec<Command>,
    ) {
        let text = match how {
            // Nothing more will be received: whatever waits for that waits in vain.
            Ended::Eof => {
                let steps = self.plan.connections.get(&conn).map(|line| &line.steps);
                let waits = steps.into_iter().flatten().any(|n| self.is_owed(*n));
                if !self.stops && (waits || !self.is_said(conn)) {
                    commands.push(Command::Close(conn));
                }
                return;
            }
            Ended::Refused(why) => {
                self.set(conn, Stage::Over);
                self.trouble(why.clone());
                return;
            }
            Ended::Closed => "was closed".to_owned(),
            Ended::Reset => "was cut".to_owned(),
            Ended::Exited(status) => format!("ended with its child, status {status}"),
        };
        let stage = self.stage(conn);
        self.set(conn, Stage::Over);
        // What is closed here was so then; its answers may come on another.
        if self.stops || matches!(stage, Stage::Closing | Stage::Over) {
            return;
        }
        let plan = self.plan;
        let steps = plan.connections.get(&conn).map(|line| &line.steps);
        let owed = steps.into_iter().flatten().filter(|n| self.is_owed(**n));
        let owed = owed.filter_map(|n| plan.steps.get(*n));
        let owed: Vec<Which> = owed.map(|step| step.which.clone()).collect();
        let unsaid = self.skip(conn);
        if !owed.is_empty() || unsaid > 0 {
            let was_greeted = self.greeted.contains(&(conn, ""));
            let text = if was_greeted || *readiness == Readiness::Ready {
                text
            } else {
                format!("{text} {}", not_greeted(plan.protocol, readiness))
            };
            self.diverged(None, Difference::Ended(conn, text, owed, unsaid), commands);
        }
    }
}

/// The names in a recorded message, by where they stand.
fn names_of(told: &Expected) -> HashMap<&Path, usize> {
    let places = told.places.iter().filter(|place| !place.spot.is_key);
    let names = places.filter_map(|place| match place.binding {
        Binding::Name(number) => Some((&place.path, number)),
        Binding::Time | Binding::Given => None,
    });
    names.collect()
}

/// Paths that would have to be ignored, bound to their kind.
fn flags(kind: &str, fields: &[Field]) -> Vec<String> {
    // What is no path cannot be passed over.
    if fields
        .iter()
        .any(|field| field.path.is_empty() || field.path.starts_with('('))
    {
        return Vec::new();
    }
    let mut flags: Vec<String> = fields
        .iter()
        .map(|field| format!("{kind}:{}", general(&field.path)))
        .collect();
    flags.sort();
    flags.dedup();
    flags
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

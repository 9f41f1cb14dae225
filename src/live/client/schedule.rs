//! Whose turn it is: when a step may go out, and what is still owed.

use super::feed::Feed;
use super::{ConnectionState, Outcome, Run, Speed, Stage, Step};
use crate::diff::Which;
use crate::live::endpoint::Endpoint;
use crate::protocol::Role;
use crate::protocol::peer::Readiness;

/// Why a step does not go out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Not before that time.
    Until(i64),
    /// For this.
    For(String),
    /// It never will: why.
    Never(String),
}

impl<'p> Run<'p> {
    /// Connections that are open.
    pub(super) fn open(&self) -> impl Iterator<Item = u32> {
        let open = |(_, way): &(&u32, &ConnectionState)| way.stage == Stage::Open;
        self.ways.iter().filter(open).map(|(conn, _)| *conn)
    }

    /// What is said next on a connection that is open.
    pub(super) fn next(&self, conn: u32) -> Option<(usize, &'p Step)> {
        let way = self
            .ways
            .get(&conn)
            .filter(|way| way.stage == Stage::Open)?;
        let number = *self.plan.connections.get(&conn)?.steps.get(way.next)?;
        Some((number, self.plan.steps.get(number)?))
    }

    /// Something was said, or came that was waited for.
    pub(super) fn goes_on(&mut self, now: i64) {
        self.last = now;
        self.progressed = now;
    }

    /// A step of a handshake is something that was waited for, once.
    pub(super) fn greets(&mut self, endpoint: &Endpoint<'_>, conn: u32, now: i64) {
        let upto = match endpoint.readiness(conn) {
            Readiness::Waits(what) => what,
            Readiness::Ready => "",
            Readiness::Refused(_) => return,
        };
        if self.ways.contains_key(&conn) && self.greeted.insert((conn, upto)) {
            self.goes_on(now);
        }
    }

    /// Takes note of how far answers have come.
    pub(super) fn settle(&mut self) {
        for (all, with_items) in [false, true].into_iter().enumerate() {
            let mut upto = self.answered.get(all).copied().unwrap_or_default();
            while let Some((told, came)) = self.plan.expected.get(upto).zip(self.came.get(upto)) {
                let waits = told.answers.is_some_and(|step| !self.is_done(step));
                if waits && !came && (with_items || told.kept.role != Some(Role::Item)) {
                    break;
                }
                upto += 1;
            }
            if let Some(slot) = self.answered.get_mut(all) {
                *slot = upto;
            }
        }
    }

    /// A step is waited for, or no more.
    pub(super) fn note(&mut self, number: usize, change: impl FnOnce(&mut super::Progress)) {
        let Some(progress) = self.steps.get_mut(number) else {
            return;
        };
        self.owed.remove(&(progress.last, number));
        change(progress);
        let key = (progress.last, number);
        if self.is_owed(number) {
            self.owed.insert(key);
        }
    }

    fn is_done(&self, step: usize) -> bool {
        self.steps.get(step).is_some_and(|step| step.done)
    }

    /// Whether a step may go out now.
    pub(super) fn may_say(
        &self,
        endpoint: &Endpoint<'_>,
        number: usize,
        step: &Step,
        now: i64,
    ) -> Result<(), Wait> {
        if !endpoint.is_free(step.conn) {
            return Err(match endpoint.readiness(step.conn) {
                Readiness::Waits(what) => Wait::For(what.to_owned()),
                _ => Wait::For("the exchange before it".into()),
            });
        }
        match step.replies_to.map(|told| (told, self.came.get(told))) {
            Some((_, Some(true))) => {}
            Some((told, _)) => {
                let what = self.plan.expected.get(told).map(|told| told.kept.what());
                return Err(Wait::For(what.unwrap_or_default()));
            }
            None => self.greeted(endpoint, number, step)?,
        }
        self.parts(step)?;
        let book = &self.plan.names;
        if let Some(name) = step.needs.iter().find(|n| self.live.value(**n).is_none()) {
            let group = book.name(*name).map_or("value", |name| name.group);
            return Err(Wait::For(format!("the {group} in it")));
        }
        // What was answered before may be why it was said.
        let answered = self.answered[usize::from(self.settings.in_order)];
        if answered < step.heard {
            let told = self.plan.expected.get(answered);
            let asked = told.and_then(|told| self.plan.steps.get(told.answers?));
            return Err(Wait::For(match (told, asked) {
                (Some(told), Some(asked)) if told.kept.role != Some(Role::Item) => {
                    format!("the answer to {}", asked.which.what)
                }
                (told, _) => told.map(|told| told.kept.what()).unwrap_or_default(),
            }));
        }
        if self.plan.protocol.descriptor().takes_turns {
            let mut before = self.owed.iter().filter(|(_, n)| *n < number);
            let before = before.find_map(|(_, n)| {
                let before = self.plan.steps.get(*n)?;
                (before.conn == step.conn).then_some(before)
            });
            if let Some(before) = before {
                return Err(Wait::For(format!("the answer to {}", before.which.what)));
            }
        }
        match self.time_of(step) {
            Some(time) if time > now => Err(Wait::Until(time)),
            _ => Ok(()),
        }
    }

    /// The handshake: what a hello was answered before, and whether calls may be made.
    fn greeted(&self, endpoint: &Endpoint<'_>, number: usize, step: &Step) -> Result<(), Wait> {
        let line = self.plan.connections.get(&step.conn);
        let hellos = line.map(|line| &line.hellos);
        for n in hellos.into_iter().flatten().take_while(|n| **n < number) {
            let Some(hello) = self.plan.steps.get(*n) else {
                continue;
            };
            let answered = hello.answers.iter().take_while(|told| **told < step.heard);
            let answered = answered.count();
            if self
                .steps
                .get(*n)
                .is_some_and(|p| !p.done && p.got < answered)
            {
                return Err(Wait::For(format!("the answer to {}", hello.which.what)));
            }
        }
        // What was said then without being ready is said so again; where the recording begins in the middle, it is not.
        let first = line.and_then(|line| line.steps.first()) == Some(&number);
        let gates = step.was_ready || (first && !self.plan.has_hello);
        if step.is_hello || !gates || step.role != Some(Role::Request) {
            return Ok(());
        }
        match endpoint.readiness(step.conn) {
            Readiness::Ready => Ok(()),
            Readiness::Waits(what) => Err(Wait::For(what.to_owned())),
            Readiness::Refused(why) => Err(Wait::Never(why)),
        }
    }

    /// What it speaks of must have been answered as far as it was then, with every item: it may end it.
    fn parts(&self, step: &Step) -> Result<(), Wait> {
        let about = step.about.iter().filter(|n| !self.is_done(**n));
        for asked in about.filter_map(|n| self.plan.steps.get(*n)) {
            let upto = asked.answers.partition_point(|told| *told < step.heard);
            let before = asked.answers.get(..upto).unwrap_or_default();
            let mut late = before
                .iter()
                .filter(|told| self.came.get(**told) == Some(&false));
            if let Some(told) = late.next().and_then(|told| self.plan.expected.get(*told)) {
                return Err(Wait::For(match told.kept.role {
                    Some(Role::Item) => told.kept.what(),
                    _ => format!("the answer to {}", asked.which.what),
                }));
            }
        }
        Ok(())
    }

    /// When a step goes out at the earliest, where distances are kept.
    fn time_of(&self, step: &Step) -> Option<i64> {
        let first = self.plan.steps.first()?.time?;
        let after = step.time?.saturating_sub(first);
        let after = self.settings.speed.distance(after)?;
        Some(self.began.saturating_add(after))
    }

    /// When the next step goes out that waits for nothing but its time.
    pub(super) fn next_time(&self, endpoint: &Endpoint<'_>) -> Option<i64> {
        if self.settings.speed == Speed::MAX {
            return None;
        }
        let waits = self.conns.speaks().filter_map(|conn| {
            let (number, step) = self.next(conn)?;
            match self.may_say(endpoint, number, step, i64::MIN) {
                Err(Wait::Until(time)) => Some(time),
                _ => None,
            }
        });
        waits.min()
    }

    /// Whether an answer to a step must still come; items of a stream without an end need not.
    pub(super) fn is_owed(&self, number: usize) -> bool {
        let Some(progress) = self.steps.get(number) else {
            return false;
        };
        let step = self.plan.steps.get(number);
        let is_answered = step.is_some_and(|step| progress.got >= step.owed);
        progress.sent.is_some() && !progress.done && !is_answered
    }

    pub(super) fn owed(&self) -> impl Iterator<Item = &'p Step> {
        let mut numbers: Vec<usize> = self.owed.iter().map(|(_, number)| *number).collect();
        numbers.sort_unstable();
        let plan = self.plan;
        (numbers.into_iter()).filter_map(|number| plan.steps.get(number))
    }

    pub(super) fn owes_any(&self) -> bool {
        !self.owed.is_empty()
    }

    /// When the step was last answered that waits the longest.
    pub(super) fn oldest_owed(&self) -> Option<i64> {
        self.owed.first().map(|(last, _)| *last)
    }

    pub(super) fn all_said(&self) -> bool {
        self.conns.all_said() && self.feed.as_ref().is_none_or(Feed::is_done)
    }

    /// All was said and answered, and nothing stopped it.
    pub(super) fn went_well(&self) -> bool {
        let Outcome {
            differ,
            hangs,
            trouble,
            ..
        } = &self.outcome;
        let is_clean = *differ == 0 && !hangs && trouble.is_none();
        is_clean && self.all_said() && !self.owes_any()
    }

    /// Whether all is said on a connection.
    pub(super) fn is_said(&self, conn: u32) -> bool {
        let line = self.plan.connections.get(&conn).zip(self.ways.get(&conn));
        line.is_none_or(|(line, way)| way.next >= line.steps.len())
    }

    /// The first step that cannot go out, and what it waits for.
    pub(super) fn held(&self, endpoint: &Endpoint<'_>, now: i64) -> Option<(Which, String)> {
        if self.feed.is_some() {
            return self.held_input(endpoint);
        }
        let held = self.plan.connections.iter().filter_map(|(conn, line)| {
            let way = self.ways.get(conn)?;
            let number = *line.steps.get(way.next)?;
            let step = self.plan.steps.get(number)?;
            let why = match way.stage {
                Stage::Open => match self.may_say(endpoint, number, step, now) {
                    Err(Wait::For(what) | Wait::Never(what)) => what,
                    Ok(()) | Err(Wait::Until(_)) => return None,
                },
                Stage::Dialled => "the connection".into(),
                _ => "what was answered before its connection was opened".into(),
            };
            Some((number, (step.which.clone(), why)))
        });
        held.min_by_key(|(number, _)| *number).map(|(_, held)| held)
    }

    pub(super) fn lingers_until(&self) -> i64 {
        self.progressed.saturating_add(self.settings.linger)
    }

    /// Messages of the recording that nothing waits for, and that did not come.
    pub(super) fn missing(&self) -> Vec<usize> {
        let told = self.plan.expected.iter().zip(&self.came).enumerate();
        let missing = told.filter(|(at, (told, came))| {
            let over = told.answers.is_some_and(|number| {
                let asked = self.plan.steps.get(number);
                let is_said = self.steps.get(number).is_some_and(|p| p.sent.is_some());
                let is_item = told.kept.role == Some(Role::Item);
                !is_said || is_item && asked.is_some_and(|step| self.is_given_up(step, *at))
            });
            let expected = told.is_due || told.answers.is_some();
            !**came && !told.is_orphan && expected && !over
        });
        missing.map(|(at, _)| at).collect()
    }

    /// Whether an item came when its question was given up: whether it comes then is a matter of time.
    fn is_given_up(&self, asked: &Step, told: usize) -> bool {
        let later = asked
            .spoken_of
            .iter()
            .filter_map(|n| self.plan.steps.get(*n));
        let mut ends = later.filter(|later| later.role == Some(Role::Notification));
        ends.any(|later| later.heard <= told)
    }

    pub(super) fn has_said(&mut self, number: usize, index: Option<u64>, now: i64) {
        self.goes_on(now);
        self.outcome.sent += 1;
        self.note(number, |progress| {
            progress.sent = Some(now);
            progress.last = now;
        });
        if let Some(index) = index {
            self.said.insert(index, number);
        }
        let Some(conn) = self.plan.steps.get(number).map(|step| step.conn) else {
            return;
        };
        if let Some(way) = self.ways.get_mut(&conn) {
            way.next += 1;
        }
        if self.is_said(conn) {
            self.is_now_said(conn);
        }
    }

    /// That these did not come was told, or is a matter of time.
    pub(super) fn need_not_come<'n>(&mut self, told: impl IntoIterator<Item = &'n usize>) {
        for told in told {
            if let Some(came) = self.came.get_mut(*told) {
                *came = true;
            }
        }
    }

    /// Nothing more is said on a connection.
    pub(super) fn skip(&mut self, conn: u32) -> usize {
        let Some((line, way)) = self
            .plan
            .connections
            .get(&conn)
            .zip(self.ways.get_mut(&conn))
        else {
            return 0;
        };
        let left = line.steps.len().saturating_sub(way.next);
        way.next = line.steps.len();
        for number in &line.steps {
            self.note(*number, |progress| progress.done = true);
            let answers = self.plan.steps.get(*number).map(|step| &step.answers);
            self.need_not_come(answers.into_iter().flatten());
        }
        if left > 0 {
            self.is_now_said(conn);
        }
        left
    }
}

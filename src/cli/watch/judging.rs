//! Judges stored messages on a thread of its own: pairs, rules, versions, statistics.
//!
//! ```text
//!   reader --Step--> Steps --> RuleThread --> Store: answers, findings, versions
//!                                 '-- the messages between the steps, decoded again
//! ```
//!
//! So the reader does not wait for rules, which take longer than the index. All steps have a place among the messages: the
//! result is that of a run without threads.

use super::shared::Shared;
use super::store::{NamedVersion, StoredSubscription, Update};
use crate::capture::{EventRecord, Header, Item, Time};
use crate::cli::interrupt::Stop;
use crate::conversation::{Conversation, Output, RuleSettings, Run, Sink, Source, Verdict};
use crate::decoder::{DecodeOptions, Decoded, RareParts};
use crate::encoding::{Parsed, Want};
use crate::protocol::session::{Place, Waiting};
use crate::protocol::{Protocol, Role};
use crate::render::DisplayOptions;
use crate::render::findings;
use crate::render::style::{Style, shorten};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum number of steps, and of rare parts, that wait. The reader waits for space.
const MAX_STEPS: usize = 1 << 12;
/// The number of messages after which their results are stored.
const MAX_PART: usize = 1 << 10;
/// The increase of the thread's nice value.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;
/// The time after which a waiting thread looks if it must stop.
const LOOK: Duration = Duration::from_millis(50);
/// The maximum number of awaited messages that are listed.
const MAX_WAITING: usize = 20;
/// The maximum number of messages that wait for an answer.
const MAX_OPEN: usize = 1 << 16;
/// The maximum number of requests that open a session and wait for their answer.
const MAX_HELLOS: usize = 1 << 10;
/// The maximum number of characters of a version.
const MAX_VERSION: usize = 40;

/// An item between messages.
pub(super) enum Step {
    /// The conversation of a source begins, in these protocols.
    Begin(Box<Source>, Vec<&'static dyn Protocol>),
    Header(Box<Header>),
    /// An event of a connection, and its time.
    Event(EventRecord, Option<Time>),
    /// The traffic pauses: awaited messages are shown.
    Pause,
    /// The conversation ends.
    End,
}

/// The steps that wait, and how many messages are stored.
#[derive(Default)]
pub(super) struct Steps {
    state: Mutex<StepState>,
    changed: Condvar,
}

#[derive(Default)]
struct StepState {
    /// Each with the number of messages before it.
    steps: VecDeque<(usize, Step)>,
    /// The parts of messages that cannot be decoded again.
    rare: BTreeMap<usize, RareParts>,
    stored: usize,
    /// No more steps and messages come.
    closed: bool,
    /// Nobody takes the steps.
    left: bool,
}

/// The next work of the thread.
enum Work {
    Step(Step),
    /// The messages up to this one.
    Messages(usize, BTreeMap<usize, RareParts>),
    End,
}

impl Steps {
    fn lock(&self) -> MutexGuard<'_, StepState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if another step must wait: all messages before it must be stored then.
    pub fn is_full(&self) -> bool {
        let state = self.lock();
        state.steps.len().max(state.rare.len()) >= MAX_STEPS
    }

    fn wait_for_space(&self) -> MutexGuard<'_, StepState> {
        let is_full = |state: &mut StepState| {
            !state.left && state.steps.len().max(state.rare.len()) >= MAX_STEPS
        };
        let waited = self.changed.wait_while(self.lock(), is_full);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a step after this number of messages.
    pub fn push(&self, after: usize, step: Step) {
        let mut state = self.wait_for_space();
        if !state.left {
            state.steps.push_back((after, step));
            self.changed.notify_all();
        }
    }

    /// Adds what cannot be decoded again of a message.
    pub fn push_rare(&self, index: usize, parts: RareParts) {
        let mut state = self.wait_for_space();
        if !state.left {
            state.rare.insert(index, parts);
        }
    }

    /// Sets the number of messages that are in the store.
    pub fn set_stored(&self, count: usize) {
        self.lock().stored = count;
        self.changed.notify_all();
    }

    /// Says that no more steps and messages come.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Waits for the next work after `done` messages.
    fn next(&self, done: usize, stop: &Stop) -> Work {
        let mut state = self.lock();
        loop {
            if stop.exit().is_some() {
                return Work::End;
            }
            let first = state.steps.front().map(|(after, _)| *after);
            if first.is_some_and(|after| after <= done)
                && let Some((_, step)) = state.steps.pop_front()
            {
                self.changed.notify_all();
                return Work::Step(step);
            }
            let end = state.stored.min(first.unwrap_or(usize::MAX));
            if end > done {
                let end = end.min(done + MAX_PART);
                let later = state.rare.split_off(&end);
                let rare = std::mem::replace(&mut state.rare, later);
                self.changed.notify_all();
                return Work::Messages(end, rare);
            }
            if state.closed {
                return Work::End;
            }
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn leave(&self) {
        let mut state = self.lock();
        state.left = true;
        state.steps.clear();
        state.rare.clear();
        self.changed.notify_all();
    }
}

/// The thread that judges.
pub(super) struct RuleThread {
    steps: Arc<Steps>,
    rules: RuleSettings,
    parsed: Parsed,
    run: Option<Run<'static>>,
    results: Results,
}

/// Takes what the run of the thread finds.
struct Results {
    shared: Shared,
    show_secrets: bool,
    /// The number of judged messages.
    done: usize,
    updates: Vec<Update>,
    /// The messages of the conversation that wait for an answer. What ends without one is found when the traffic pauses.
    open: BTreeSet<usize>,
    is_recording: bool,
    /// Requests that open a session: their answers name versions too.
    hellos: HashSet<u64>,
    /// The awaited messages, if they changed.
    waiting: Option<Vec<String>>,
    now: Option<i64>,
}

impl RuleThread {
    /// Creates it for messages of at most `depth` levels.
    pub fn new(
        shared: Shared,
        steps: Arc<Steps>,
        rules: RuleSettings,
        depth: u32,
        show_secrets: bool,
    ) -> Self {
        Self {
            steps,
            rules,
            parsed: Parsed::new(Want::Places, depth),
            run: None,
            results: Results {
                shared,
                show_secrets,
                done: 0,
                updates: Vec::new(),
                open: BTreeSet::new(),
                is_recording: false,
                hellos: HashSet::new(),
                waiting: None,
                now: None,
            },
        }
    }

    /// Judges until the steps are closed and done, or until `stop` is set.
    pub fn run(mut self, stop: &Stop) {
        // For this thread only: the list and the keys come first.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(NICE);
        loop {
            match self.steps.next(self.results.done, stop) {
                Work::Step(next) => self.step(next),
                Work::Messages(end, rare) => self.messages(end, &rare),
                Work::End => return,
            }
            let results = &mut self.results;
            let mut store = results.shared.store();
            store.judged(results.done, &mut results.updates, results.waiting.take());
        }
    }

    fn step(&mut self, step: Step) {
        if let Step::Begin(source, protocols) = step {
            let options = DecodeOptions::new(protocols);
            let rules = Some(self.rules.clone());
            self.run = Some(Run::of_source(*source, None, options, rules));
            return;
        }
        let (Some(run), results) = (&mut self.run, &mut self.results) else {
            return;
        };
        let ControlFlow::Continue(()) = match step {
            Step::Begin(..) => ControlFlow::Continue(()),
            Step::Header(header) => run.item(&Item::Header(&header), results),
            Step::Event(event, time) => run.event(&event.event(time), results),
            Step::Pause => run.pause(Duration::ZERO, results),
            Step::End => run.finish(results),
        };
    }

    fn messages(&mut self, end: usize, rare: &BTreeMap<usize, RareParts>) {
        let Self {
            run,
            results,
            parsed,
            ..
        } = self;
        results.waiting = Some(Vec::new());
        let part = results.shared.store().part(results.done, end);
        let (Some(mut part), Some(run)) = (part.read(), run) else {
            results.done = end;
            return;
        };
        while results.done < part.end() {
            let rare = rare.get(&results.done);
            part.visit(results.done, rare, parsed, |decoded| {
                let ControlFlow::Continue(()) = run.message(decoded, results);
            });
            results.done += 1;
        }
    }
}

impl Sink for Results {
    type Break = Infallible;

    fn take(&mut self, output: Output<'_>) -> ControlFlow<Infallible> {
        match output {
            Output::Begin(_) => {
                self.open.clear();
                self.is_recording = false;
            }
            Output::Item(Item::Header(_), _) => self.is_recording = true,
            Output::Message(decoded, verdict) => {
                self.message(decoded, verdict.unwrap_or_default());
            }
            Output::Event(_, verdict) => self.add(verdict, self.done),
            Output::Waiting(run, _) => {
                let waiting = run.conversation().map(|one| self.find_open(one));
                self.waiting = Some(waiting.unwrap_or_default());
            }
            Output::End(run, findings) => {
                let found = findings.iter().cloned().map(Update::Finding);
                self.updates.extend(found);
                if let Some(conversation) = run.conversation() {
                    self.shared.stat().finish(conversation);
                }
            }
            Output::Item(..) | Output::Note(_) => {}
        }
        ControlFlow::Continue(())
    }
}

impl Results {
    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        self.shared.stat().add_message(decoded, verdict);
        self.now = decoded.origin.time.or(self.now);
        if decoded.message.role == Some(Role::Request) {
            self.set_open(self.done, true);
        }
        if let Some(answer) = verdict.answer {
            self.updates.push(Update::Answer {
                to: answer.to,
                by: self.done,
                other_form: answer.id_form_differs,
            });
            if let Some(to) = usize::try_from(answer.to).ok().filter(|_| answer.last) {
                self.set_open(to, false);
            }
        }
        self.add(verdict, self.done + 1);
        self.versions(decoded, verdict);
    }

    /// Marks a message that waits for an answer, or does not any more.
    fn set_open(&mut self, index: usize, is_open: bool) {
        let changes = if is_open {
            self.open.len() < MAX_OPEN && self.open.insert(index)
        } else {
            self.open.remove(&index)
        };
        if changes {
            self.updates.push(Update::Open(index, is_open));
        }
    }

    /// Marks the messages that wait for an answer, and returns the first of them for display.
    fn find_open(&mut self, conversation: &Conversation<'_>) -> Vec<String> {
        let waiting = conversation.unanswered(self.is_recording);
        let lines = self.awaited(&waiting, conversation.sides());
        let index = |one: &Waiting| usize::try_from(one.place.index).ok();
        let is_message = |one: &&Waiting| one.place.index != Place::NO_MESSAGE;
        let open: BTreeSet<usize> = waiting
            .iter()
            .filter(is_message)
            .filter_map(index)
            .collect();
        let ended: Vec<usize> = self.open.difference(&open).copied().collect();
        for index in ended {
            self.set_open(index, false);
        }
        for index in open {
            self.set_open(index, true);
        }
        lines
    }

    /// Stores findings and subscriptions after this number of messages.
    fn add(&mut self, verdict: Verdict<'_>, after: usize) {
        let found = verdict.findings.iter().cloned().map(Update::Finding);
        self.updates.extend(found);
        for change in verdict.subscriptions {
            let Ok(request) = usize::try_from(change.request) else {
                continue;
            };
            self.updates.push(Update::Subscription(StoredSubscription {
                after,
                request,
                begins: change.begins,
            }));
        }
    }

    /// Stores the versions that the opening of a session names.
    fn versions(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        let is_hello = decoded.protocol.is_hello(decoded.message);
        let answers = verdict.answer.is_some_and(|a| self.hellos.remove(&a.to));
        if !is_hello && !answers {
            return;
        }
        if is_hello && self.hellos.len() < MAX_HELLOS {
            self.hellos.insert(decoded.index);
        }
        let Some(root) = decoded.root() else {
            return;
        };
        let (index, conn) = (self.done, decoded.origin.conn);
        let mut texts = Vec::new();
        root.each(&mut |node| {
            for (key, value) in node.members().filter(|_| node.is_map()) {
                let name = String::from_utf8_lossy(&key.key_bytes()).into_owned();
                let is_plain = !value.is_map() && !value.is_array();
                if is_plain && name.to_ascii_lowercase().contains("version") {
                    let text = value.text().or_else(|| value.number_text().map(Into::into));
                    let text = text.map(|text| format!("{name} {}", shorten(&text, MAX_VERSION)));
                    texts.extend(text.filter(|text| !texts.contains(text)));
                }
            }
        });
        self.updates.extend(
            texts
                .into_iter()
                .map(|text| Update::Version(NamedVersion { index, conn, text })),
        );
    }

    /// Describes the messages that are awaited.
    fn awaited(&self, waiting: &[Waiting], sides: [&'static str; 2]) -> Vec<String> {
        let display = DisplayOptions {
            style: Style { color: false },
            show_secrets: self.show_secrets,
            ..DisplayOptions::default()
        };
        let mut lines = Vec::new();
        for one in waiting.iter().take(MAX_WAITING) {
            // First what a narrow screen must show.
            let mut line = String::new();
            findings::write_waiting(one, self.now, sides, display, &mut line);
            if let Some(side) = one.expected_sender(sides) {
                let line_end = format!("  the {side} must send it");
                line = format!(
                    "the {side} must send next: {}",
                    line.replacen(&line_end, "", 1)
                );
            }
            lines.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        lines
    }
}

impl Drop for RuleThread {
    /// The reader must not wait for a thread that has ended, not even after a panic.
    fn drop(&mut self) {
        self.steps.leave();
    }
}

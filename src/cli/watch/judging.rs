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
use super::steps::{Step, Steps, Work};
use super::store::{NamedVersion, StoredSubscription, Update};
use crate::capture::Item;
use crate::cli::interrupt::Stop;
use crate::conversation::{
    Conversation, Finding, Operation, Output, RuleSettings, Run, Sink, Verdict,
};
use crate::decoder::{DecodeOptions, Decoded, RareParts};
use crate::encoding::{Parsed, Want};
use crate::protocol::Role;
use crate::protocol::session::memory::RecentEntries;
use crate::protocol::session::{Place, Waiting};
use crate::render::DisplayOptions;
use crate::render::findings;
use crate::render::style::{Style, shorten};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// The increase of the thread's nice value.
const NICE: i32 = 10;
/// The maximum number of messages that wait for an answer.
const MAX_OPEN: usize = 1 << 16;
/// The maximum number of requests that open a session and wait for their answer.
const MAX_HELLOS: usize = 1 << 10;
/// The maximum number of characters of a version.
const MAX_VERSION: usize = 40;

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
    /// The messages of the conversation that wait for an answer. When the traffic pauses, those that ended without one are found.
    open: BTreeSet<usize>,
    is_recording: bool,
    /// Requests that open a session: their answers name versions too.
    hellos: HashSet<u64>,
    /// The last client of recent connections.
    clients: RecentEntries<Option<u32>, Box<str>>,
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
            rules: RuleSettings {
                operations: true,
                ..rules
            },
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
                clients: RecentEntries::default(),
                waiting: None,
                now: None,
            },
        }
    }

    /// Judges until the steps are closed and done, or until `stop` is set.
    pub fn run(mut self, stop: &Stop) {
        // For this thread only: the list and the keys come first.
        crate::system::lower_priority(NICE);
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
        let results = &mut self.results;
        let ControlFlow::Continue(()) = match (step, &mut self.run) {
            (Step::Begin(source, protocols), run) => {
                let options = DecodeOptions::new(protocols);
                let rules = Some(self.rules.clone());
                *run = Some(Run::of_source(*source, None, options, rules));
                ControlFlow::Continue(())
            }
            (_, None) => ControlFlow::Continue(()),
            (Step::Header(header), Some(run)) => run.item(&Item::Header(&header), results),
            (Step::Event(event, time), Some(run)) => run.event(&event.event(time), results),
            (Step::Pause, Some(run)) => run.pause(Duration::ZERO, results),
            (Step::End, Some(run)) => run.finish(results),
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
            Output::Message(decoded, verdict) => self.message(decoded, verdict.unwrap_or_default()),
            Output::Event(_, verdict) => self.add(verdict, self.done),
            Output::Pause(run, _) | Output::BeforeEnd(run) => {
                let waiting = run.conversation().map(|one| self.find_open(one));
                self.waiting = Some(waiting.unwrap_or_default());
            }
            Output::End(run, findings) => {
                self.find(findings);
                if let Some(conversation) = run.conversation() {
                    self.end_operations(conversation.ended_operations());
                    let mut stat = self.shared.stat();
                    let all = conversation.each_protocol();
                    all.for_each(|one| stat.finish(one));
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
        if let Some(operation) = verdict.operation {
            self.updates.push(Update::Operation(self.done, operation));
        }
        self.client(decoded.origin.conn, verdict.client);
        self.add(verdict, self.done + 1);
        self.versions(decoded, verdict);
    }

    /// Stores the client of a connection, if it is another one than before.
    fn client(&mut self, conn: Option<u32>, client: Option<&str>) {
        let Some(client) = client else {
            return;
        };
        if self
            .clients
            .get(&conn)
            .is_some_and(|known| **known == *client)
        {
            return;
        }
        self.clients.insert(conn, client.into());
        let update = Update::Client(self.done, conn, client.into());
        self.updates.push(update);
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
        let waiting = conversation.unanswered(self.is_recording, usize::MAX);
        let waiting = waiting.first;
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

    fn find(&mut self, findings: &[Finding]) {
        let found = findings.iter().cloned().map(Update::Finding);
        self.updates.extend(found);
    }

    fn end_operations(&mut self, ended: &[Operation]) {
        let ended = ended.iter().cloned().map(Box::new);
        self.updates.extend(ended.map(Update::Ended));
    }

    /// Stores findings, subscriptions and the ends of operations after this number of messages.
    fn add(&mut self, verdict: Verdict<'_>, after: usize) {
        self.find(verdict.findings);
        self.end_operations(verdict.ended);
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
    fn awaited(&self, waiting: &[Waiting], sides: [&str; 2]) -> Vec<String> {
        let display = DisplayOptions {
            style: Style { color: false },
            show_secrets: self.show_secrets,
            ..DisplayOptions::default()
        };
        let mut lines = Vec::new();
        let (blocked, free): (Vec<_>, Vec<_>) =
            waiting.iter().partition(|one| one.blocked_by.is_some());
        for one in free.into_iter().chain(blocked).take(findings::MAX_WAITING) {
            // First what a narrow screen must show.
            let mut line = String::new();
            findings::write_waiting(one, self.now, sides, display, &mut line);
            if let Some(side) = one.expected_sender(sides) {
                let line_end = format!("  {}", findings::expected_text(side));
                line = line.replacen(&line_end, "", 1);
                line = match one.blocked_by {
                    None => format!("the {side} must send next: {line}"),
                    Some(_) => format!("then the {side} must send: {line}"),
                };
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

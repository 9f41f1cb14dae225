//! A sequence diagram of mermaid, as documents of protocols draw them.
//!
//! ```text
//!   sequenceDiagram
//!       participant p0 as client
//!       participant p1 as server
//!       p0->>+p1: #35;0 tools/call echo        a request: its receiver is active until the answer
//!       p1-->>-p0: #35;1 result, 3.4 ms
//!       Note over p1: must send next
//! ```
//!
//! Up to [`steps`]' limit all messages are shown, so memory is bounded; the diagram is written at the end.

mod lanes;
mod steps;
mod text;

use super::text::brief;
use super::{ExportOptions, Form};
use crate::capture::{Item, ProblemSeverity};
use crate::conversation::{Conversation, Finding, Operation, OperationState, Run, Verdict};
use crate::decoder::{Decoded, Origin};
use crate::encoding::Want;
use crate::escape::{escape, shorten};
use crate::protocol::session::{Answer, Place, Waiting};
use crate::protocol::{Direction, Notes, Role, registry};
use crate::render::findings::{duration, expected_text};
use crate::render::line;
use crate::render::operation::{about, inside};
use crate::render::short_id;
use crate::render::subject::masked_subject;
use lanes::{Lanes, USUAL_SIDES};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use steps::{Arrow, Block, Differs, Note, Step, Steps};
use text::encode;

/// The maximum number of characters of what a message is about, of its content, and of a note.
const MAX_LABEL: usize = 80;
const MAX_DETAIL: usize = 60;
const MAX_NOTE: usize = 200;
/// The number of findings of one message that are shown, and of all notes.
const MAX_FINDINGS: usize = 3;
const MAX_NOTES: usize = 40;
/// The number of requests that are shown as waiting.
const MAX_WAITING: usize = 8;
/// The number of operations that are stored, to be shown in the order of their first messages.
const MAX_OPERATIONS: usize = 1 << 12;

/// A sequence diagram.
pub(super) struct Mermaid {
    options: ExportOptions,
    lanes: Lanes,
    steps: Steps,
    operations: Vec<Step>,
    /// The number of operations that are not stored.
    untracked: u64,
    /// Notes after the last step, and the number of those that are left out.
    last: Vec<Note>,
    more_notes: usize,
    /// The requests without an answer.
    open: HashSet<u64>,
    waiting: u64,
    /// The parts of the inputs that could not be used, and the first one in words.
    problems: u64,
    first_problem: Option<String>,
    now: Option<i64>,
}

impl Mermaid {
    pub(super) fn new(options: ExportOptions) -> Self {
        Self {
            options,
            lanes: Lanes::new(options.sources),
            steps: Steps::default(),
            operations: Vec::new(),
            untracked: 0,
            last: Vec::new(),
            more_notes: 0,
            open: HashSet::new(),
            waiting: 0,
            problems: 0,
            first_problem: None,
            now: None,
        }
    }

    /// Returns a step of a message, without its texts.
    fn step(&mut self, index: u64, origin: Origin, sides: [&str; 2]) -> Step {
        Step {
            index,
            key: 0,
            lane: self.lanes.of(origin.conn, sides),
            conn: origin.conn,
            direction: origin.direction,
            arrow: Arrow::Other,
            answers: None,
            is_error: false,
            label: String::new(),
            detail: String::new(),
            content: String::new(),
            notes: Vec::new(),
        }
    }

    fn note_of(&mut self, finding: &Finding, own: Option<&Step>) -> Note {
        let place = finding.place;
        let is_own = own.is_some_and(|step| step.index == place.index);
        let index = match place.index {
            _ if is_own => String::new(),
            Place::NO_MESSAGE => String::new(),
            index => format!("#{index}: "),
        };
        let (severity, rule) = (finding.severity.name(), finding.name());
        let text = brief(&finding.text, MAX_NOTE);
        Note {
            over: place.origin.direction,
            lane: match own {
                Some(step) if step.conn == place.origin.conn => step.lane,
                _ => self.lanes.known(place.origin.conn),
            },
            text: format!("{severity} {rule}: {index}{text}"),
            unanswered: finding.rule.unanswered.then_some(place.index),
            rule,
        }
    }

    /// Adds a message that is awaited.
    fn add_waiting(&mut self, waiting: &Waiting, sides: [&str; 2]) {
        let place = waiting.place;
        self.open.insert(place.index);
        self.waiting += 1;
        if self.waiting > MAX_WAITING as u64 {
            return;
        }
        let index = (place.len > 0).then(|| format!("#{} ", place.index));
        let mut text = format!(
            "open: {}{}",
            index.unwrap_or_default(),
            brief(
                &masked_subject(&waiting.what, self.options.show_secrets),
                MAX_LABEL
            )
        );
        let times = place.origin.time.zip(self.now);
        if let Some((from, to)) = times.filter(|(from, to)| from < to) {
            let _ = write!(text, ", for {}", duration(to.saturating_sub(from)));
        }
        match waiting.expected_sender(sides) {
            Some(side) => {
                let _ = write!(text, "; {}", expected_text(&brief(side, MAX_LABEL)));
            }
            None => text.push_str("; no answer was seen"),
        }
        if let Some(why) = &waiting.why {
            let _ = write!(text, " ({})", brief(why, MAX_NOTE));
        }
        let lane = self.lanes.of(place.origin.conn, sides);
        self.last.push(Note {
            over: waiting.owes,
            lane,
            rule: String::new(),
            text,
            unanswered: None,
        });
    }

    /// Puts the stored operations in the order of their messages.
    fn place_operations(&mut self) {
        let mut ordered = std::mem::take(&mut self.operations);
        // An operation of one message begins before it ends.
        ordered.sort_by_key(|step| (step.index, step.arrow == Arrow::Answer));
        for step in ordered {
            self.steps.push(step);
        }
        self.steps.fold.steps += self.untracked;
    }

    fn write(&mut self, out: &mut Vec<u8>) {
        let lanes = std::mem::take(&mut self.lanes).finish();
        let mut text = String::from("sequenceDiagram\n");
        for (n, name) in lanes.names.iter().enumerate() {
            let _ = writeln!(text, "    participant p{n} as {}", encode(name));
        }
        let mut writer = Writer {
            bars: Bars::new(&self.steps, &self.open),
            lanes,
            notes: 0,
            hidden: self.more_notes,
            text,
        };
        let what = if self.options.operations {
            "steps of operations"
        } else {
            "messages"
        };
        let Steps {
            blocks,
            first,
            fold,
            ..
        } = &self.steps;
        for (at, block) in blocks.iter().enumerate() {
            if fold.steps > 0 && at == *first {
                writer.fold(&fold.text(what), &fold.answered);
            }
            writer.block(block);
        }
        if fold.steps > 0 && blocks.len() <= *first {
            writer.fold(&fold.text(what), &fold.answered);
        }
        for note in &self.last {
            // Another note says who must send.
            if note
                .unanswered
                .is_none_or(|index| !self.open.contains(&index))
            {
                writer.note(note);
            }
        }
        let more = self.waiting.saturating_sub(MAX_WAITING as u64);
        if more > 0 {
            writer.over_all(&format!("{more} more wait for an answer"));
        }
        let hidden = writer.hidden;
        if hidden > 0 {
            writer.over_all(&format!("{hidden} more findings: see wiretool lint"));
        }
        if writer.lanes.names.is_empty() {
            writer.text.push_str("    participant p0 as no messages\n");
        }
        if let Some(first) = &self.first_problem {
            let more = self.problems - 1;
            let more = (more > 0).then(|| format!("; and {more} more"));
            writer.over_all(&format!("not read: {first}{}", more.unwrap_or_default()));
        }
        writer.end_bars();
        out.extend_from_slice(writer.text.as_bytes());
    }
}

impl Form for Mermaid {
    fn want(&self) -> Want {
        Want::Places
    }

    fn needs_operations(&self) -> bool {
        self.options.operations
    }

    fn begin(&mut self, run: &Run<'_>, _out: &mut Vec<u8>) {
        let source = run.source();
        let name = source.is_one_of_several.then_some(source.name.as_str());
        self.lanes.begin(name);
    }

    fn item(&mut self, item: &Item<'_>, _origin: Origin, _out: &mut Vec<u8>) {
        match item {
            Item::Header(header) => self.lanes.header(header),
            Item::Problem(problem) if problem.severity != ProblemSeverity::Note => {
                self.problems += 1;
                let shows = self.options.show_secrets;
                let text = problem.to_string();
                let first = || brief(&masked_subject(&text, shows), MAX_NOTE);
                self.first_problem.get_or_insert_with(first);
            }
            _ => {}
        }
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, _out: &mut Vec<u8>) {
        self.now = decoded.origin.time.or(self.now);
        if self.options.operations {
            return;
        }
        let sides = decoded.protocol.descriptor().sides;
        let mut step = self.step(decoded.index, decoded.origin, sides);
        let (message, answer) = (decoded.message, verdict.answer);
        step.answers = answer.map(|answer| (answer.to, answer.last));
        step.is_error = message.is_error();
        step.arrow = match message.role {
            Some(Role::Request) => Arrow::Request,
            _ if answer.is_some() => Arrow::Answer,
            Some(Role::Response | Role::Error | Role::Item | Role::End) => Arrow::Answer,
            _ => Arrow::Other,
        };
        let show_secrets = self.options.show_secrets;
        let names = line::names(decoded, answer, show_secrets);
        step.label = brief(&names, MAX_LABEL);
        step.detail = detail(decoded, answer);
        step.content = content(decoded, answer, show_secrets);
        step.key = key_of(&step);
        for finding in verdict.findings.iter().take(MAX_FINDINGS) {
            let note = self.note_of(finding, Some(&step));
            step.notes.push(note);
        }
        let more = verdict.findings.len().saturating_sub(MAX_FINDINGS);
        if more > 0 {
            step.notes.push(Note {
                over: step.direction,
                lane: step.lane,
                rule: "other findings".to_owned(),
                text: format!("{more} more findings about this message"),
                unanswered: None,
            });
        }
        self.steps.push(step);
    }

    fn operation(&mut self, operation: &Operation, last: u64, _out: &mut Vec<u8>) {
        if self.operations.len() >= MAX_OPERATIONS {
            self.untracked += 1;
            return;
        }
        let protocol = registry::find(&operation.protocol);
        let sides = protocol.map_or(USUAL_SIDES, |protocol| protocol.descriptor().sides);
        let mut start = self.step(operation.index, operation.origin, sides);
        let what = about(operation);
        let what = masked_subject(&what, self.options.show_secrets);
        (start.arrow, start.label) = (Arrow::Request, brief(&what, MAX_LABEL));
        start.key = key_of(&start);
        if operation.state == OperationState::Open {
            self.open.insert(operation.index);
            "open".clone_into(&mut start.detail);
            if let Some(lasted) = operation.duration {
                start.detail = format!("open for {}", duration(lasted));
            }
            self.operations.push(start);
            return;
        }
        let mut end = Step {
            index: last.max(operation.index),
            direction: operation.origin.direction.map(Direction::other),
            arrow: Arrow::Answer,
            answers: Some((operation.index, true)),
            is_error: operation.state == OperationState::Failed,
            ..start.clone()
        };
        end.label = format!("{} {}", operation.state.name(), start.label);
        end.detail = operation.duration.map(duration).unwrap_or_default();
        end.key = key_of(&end);
        let inside = brief(&inside(operation), MAX_NOTE);
        // A single owner needs no note.
        if inside.contains(' ') {
            end.notes.push(Note {
                over: end.direction,
                lane: end.lane,
                rule: String::new(),
                text: inside,
                unanswered: None,
            });
        }
        self.operations.extend([start, end]);
    }

    fn findings(&mut self, findings: &[Finding], _out: &mut Vec<u8>) {
        for finding in findings {
            let note = self.note_of(finding, None);
            if self.last.len() < MAX_NOTES {
                self.last.push(note);
            } else {
                self.more_notes += 1;
            }
        }
    }

    fn wait(&mut self, conversation: &Conversation<'_>, has_both: bool) {
        if self.options.is_selective {
            return;
        }
        let sides = conversation.sides();
        let waiting = conversation.unanswered(has_both, steps::MAX_STEPS);
        let listed = waiting.first.len();
        for one in &waiting.first {
            self.add_waiting(one, sides);
        }
        self.waiting += (waiting.count - listed) as u64;
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        self.place_operations();
        self.write(out);
        Ok(())
    }
}

/// Returns id and latency of a message: `id 7, 3.4 ms`.
fn detail(decoded: &Decoded<'_>, answer: Option<&Answer>) -> String {
    let id = decoded.message.id.text();
    let mut parts = Vec::new();
    if !id.is_empty() {
        parts.push(format!("id {}", escape(&short_id(&id))));
    }
    if let Some(latency) = answer.and_then(|answer| answer.latency) {
        parts.push(duration(latency));
    }
    parts.join(", ")
}

/// Returns the content of a message in brief: `{text: "hi"}`.
fn content(decoded: &Decoded<'_>, answer: Option<&Answer>, show_secrets: bool) -> String {
    let notes = &mut Notes::of_secrets();
    let content = line::content_text(decoded, answer, show_secrets, MAX_DETAIL, notes);
    escape(&shorten(&content, MAX_DETAIL)).into_owned()
}

fn key_of(step: &Step) -> u64 {
    let mut hasher = DefaultHasher::new();
    let direction = step.direction.map(Direction::name);
    (step.lane, step.conn, direction, step.arrow, &step.label).hash(&mut hasher);
    hasher.finish()
}

/// The requests whose receiver is drawn active, and how it ends.
struct Bars {
    /// Shown requests with the number of their block.
    begins: HashSet<u64>,
    /// The answers that end one.
    ends: HashSet<u64>,
    /// The receivers of those that have begun.
    active: HashMap<u64, usize>,
}

impl Bars {
    fn new(steps: &Steps, open: &HashSet<u64>) -> Self {
        let mut bars = Self {
            begins: HashSet::new(),
            ends: HashSet::new(),
            active: HashMap::new(),
        };
        // A request and its answer are in the same loop, or both in none.
        let scope = |at: usize, block: &Block| match block {
            Block::Step(_) => None,
            Block::Loop { .. } => Some(at),
        };
        let mut shown = HashMap::new();
        for (at, block) in steps.blocks.iter().enumerate() {
            for step in block.steps() {
                let scope = scope(at, block);
                if step.arrow == Arrow::Request && step.direction.is_some() {
                    shown.insert(step.index, scope);
                    let is_known = open.contains(&step.index)
                        || (steps.fold.answered.contains(&step.index) && at < steps.first);
                    if scope.is_none() && is_known {
                        bars.begins.insert(step.index);
                    }
                }
                if let Some((request, true)) = step.answers
                    && step.direction.is_some()
                    && shown.get(&request) == Some(&scope)
                    && bars.begins.insert(request)
                {
                    bars.ends.insert(step.index);
                }
            }
        }
        bars
    }
}

/// Writes the lines of a diagram.
struct Writer {
    lanes: lanes::Participants,
    bars: Bars,
    notes: usize,
    /// The number of notes that are left out.
    hidden: usize,
    text: String,
}

impl Writer {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "    {line}");
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Step(step) => self.step(step, true, Differs::default()),
            Block::Loop {
                steps,
                count,
                last,
                differs,
            } => {
                let first = steps.first().map_or(0, |step| step.index);
                let what = match differs {
                    Differs { content: true, .. } => ", contents differ",
                    Differs { detail: true, .. } => ", ids or times differ",
                    _ => "",
                };
                let heading = encode(&format!("{count} times, #{first} to #{last}{what}"));
                self.line(format_args!("loop {heading}"));
                for step in steps {
                    self.step(step, false, *differs);
                }
                self.line(format_args!("end"));
            }
        }
    }

    fn step(&mut self, step: &Step, is_single: bool, differs: Differs) {
        let mut label = String::new();
        if is_single {
            let _ = write!(label, "#{} ", step.index);
        }
        if let Some(conn) = step.conn.filter(|_| self.lanes.names_connections) {
            let _ = write!(label, "c{conn} ");
        }
        label.push_str(&step.label);
        let parts = [
            Some(&step.detail).filter(|_| !differs.detail),
            Some(&step.content).filter(|_| !differs.content),
        ];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        let parts: Vec<&str> = parts.map(String::as_str).collect();
        if !parts.is_empty() {
            let _ = write!(label, " ({})", parts.join(", "));
        }
        let label = encode(&label);
        let [client, server] = self.lanes.of(step.lane);
        let (from, to) = match step.direction {
            Some(Direction::ToServer) => (client, server),
            Some(Direction::ToClient) => (server, client),
            None => {
                self.line(format_args!("Note over p{client},p{server}: {label}"));
                return self.notes(&step.notes);
            }
        };
        let arrow = match step.arrow {
            Arrow::Answer => "-->>",
            Arrow::Request | Arrow::Other => "->>",
        };
        let mut sign = "";
        if step.arrow == Arrow::Request && self.bars.begins.contains(&step.index) {
            self.bars.active.insert(step.index, to);
            sign = "+";
        } else if let Some((request, true)) = step.answers
            && self.bars.ends.contains(&step.index)
            && self.bars.active.get(&request) == Some(&from)
        {
            self.bars.active.remove(&request);
            sign = "-";
        }
        self.line(format_args!("p{from}{arrow}{sign}p{to}: {label}"));
        self.notes(&step.notes);
    }

    fn notes(&mut self, notes: &[Note]) {
        for note in notes {
            self.note(note);
        }
    }

    fn note(&mut self, note: &Note) {
        if self.notes >= MAX_NOTES {
            self.hidden += 1;
            return;
        }
        self.notes += 1;
        let [client, server] = self.lanes.of(note.lane);
        let text = encode(&note.text);
        match note.over {
            Some(Direction::ToServer) => self.line(format_args!("Note over p{client}: {text}")),
            Some(Direction::ToClient) => self.line(format_args!("Note over p{server}: {text}")),
            None => self.line(format_args!("Note over p{client},p{server}: {text}")),
        }
    }

    /// Writes a note over all participants.
    fn over_all(&mut self, text: &str) {
        let last = self.lanes.names.len().saturating_sub(1);
        let text = encode(text);
        match last {
            0 => self.line(format_args!("Note over p0: {text}")),
            last => self.line(format_args!("Note over p0,p{last}: {text}")),
        }
    }

    fn fold(&mut self, text: &str, answered: &HashSet<u64>) {
        self.over_all(text);
        let mut ended: Vec<u64> = answered.iter().copied().collect();
        ended.sort_unstable();
        for request in ended {
            if let Some(active) = self.bars.active.remove(&request) {
                self.line(format_args!("deactivate p{active}"));
            }
        }
    }

    /// Ends the bars of requests that are open.
    fn end_bars(&mut self) {
        let mut open: Vec<(u64, usize)> = self.bars.active.drain().collect();
        open.sort_unstable();
        for (_, active) in open {
            self.line(format_args!("deactivate p{active}"));
        }
    }
}

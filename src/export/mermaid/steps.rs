//! The steps of a diagram: repeated ones are a loop, and if there are many, those in the middle are only counted.
//!
//! ```text
//!   a b a b a b c   -->   loop(a b, 3 times) c
//! ```

use crate::protocol::Direction;
use std::collections::{BTreeMap, HashSet, VecDeque};

/// The number of steps that are shown, and those of them that are at the start.
pub(super) const MAX_STEPS: usize = 60;
const FIRST_STEPS: usize = 40;
/// The maximum number of steps of a loop.
const MAX_LOOP: usize = 8;
/// The number of times that make a loop.
const MIN_TIMES: usize = 3;
/// The number of rules that are counted separately.
const MAX_RULES: usize = 8;

/// The function of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Arrow {
    /// It expects an answer.
    Request,
    /// It belongs to a request.
    Answer,
    /// It expects nothing.
    Other,
}

/// An arrow between two participants, with notes below it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The index of its message.
    pub index: u64,
    /// Equal for equal steps.
    pub key: u64,
    /// The number of the lane.
    pub lane: usize,
    pub conn: Option<u32>,
    pub direction: Option<Direction>,
    pub arrow: Arrow,
    /// The request that it answers, and whether it is the last answer.
    pub answers: Option<(u64, bool)>,
    pub is_error: bool,
    /// What it is about, which steps of a loop share.
    pub label: String,
    /// Its id and its time.
    pub detail: String,
    /// What it says, in brief.
    pub content: String,
    pub notes: Vec<Note>,
}

/// A note, over one side or over both.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub over: Option<Direction>,
    pub lane: usize,
    /// What a count of notes names.
    pub rule: String,
    pub text: String,
    /// The message that has no answer, if the note says only that.
    pub unanswered: Option<u64>,
}

/// Steps that are drawn together.
#[derive(Clone, Debug)]
pub(super) enum Block {
    Step(Step),
    Loop {
        steps: Vec<Step>,
        count: u64,
        /// The index of the last message.
        last: u64,
        differs: Differs,
    },
}

/// What differs in the steps of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Differs {
    pub detail: bool,
    pub content: bool,
}

impl Differs {
    /// Compares steps with those that the loop shows.
    fn compare(&mut self, shown: &[Step], steps: &[&Step]) {
        for (shown, step) in shown.iter().zip(steps) {
            self.detail |= shown.detail != step.detail;
            self.content |= shown.content != step.content;
        }
    }
}

impl Block {
    /// Returns its steps, those of a loop once.
    pub fn steps(&self) -> &[Step] {
        match self {
            Self::Step(step) => std::slice::from_ref(step),
            Self::Loop { steps, .. } => steps,
        }
    }

    fn single(&self) -> Option<&Step> {
        match self {
            Self::Step(step) if step.notes.is_empty() => Some(step),
            _ => None,
        }
    }
}

/// The steps that are left out.
#[derive(Debug, Default)]
pub(super) struct Fold {
    pub steps: u64,
    pub errors: u64,
    /// The number of notes by rule.
    pub rules: BTreeMap<String, u64>,
    /// The shown requests whose last answer is left out.
    pub answered: HashSet<u64>,
}

impl Fold {
    fn add(&mut self, block: &Block) {
        let times = match block {
            Block::Step(_) => 1,
            Block::Loop { count, .. } => *count,
        };
        for step in block.steps() {
            self.steps += times;
            self.errors += times * u64::from(step.is_error);
            if let Some((request, true)) = step.answers
                && self.answered.len() < FIRST_STEPS
            {
                self.answered.insert(request);
            }
            for note in &step.notes {
                self.add_note(note);
            }
        }
    }

    fn add_note(&mut self, note: &Note) {
        let is_known = self.rules.contains_key(&note.rule) || self.rules.len() < MAX_RULES;
        let rule = if is_known { &note.rule } else { "other rules" };
        *self.rules.entry(rule.to_owned()).or_default() += 1;
    }

    /// Returns what is left out: `940 messages: 3 errors, mcp/unknown-id 2 times`.
    pub fn text(&self, what: &str) -> String {
        let mut parts = Vec::new();
        match self.errors {
            0 => {}
            1 => parts.push("1 error".to_owned()),
            n => parts.push(format!("{n} errors")),
        }
        parts.extend(self.rules.iter().map(|(rule, n)| format!("{n} {rule}")));
        let between = if parts.is_empty() { "" } else { ": " };
        format!("{} more {what}{between}{}", self.steps, parts.join(", "))
    }
}

/// The steps that are shown.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub blocks: VecDeque<Block>,
    /// The number of blocks before the fold.
    pub first: usize,
    pub fold: Fold,
    /// The number of steps of the blocks.
    len: usize,
}

impl Steps {
    /// Adds a step.
    pub fn push(&mut self, step: Step) {
        self.blocks.push_back(Block::Step(step));
        self.len += 1;
        for size in 1..=MAX_LOOP {
            if self.extend_loop(size) || self.begin_loop(size) {
                break;
            }
        }
        while self.len > MAX_STEPS {
            self.leave_out();
        }
    }

    /// Returns a number of blocks at the end, if they are after the fold and are single steps without notes.
    fn last_steps(&self, size: usize, before: usize) -> Option<Vec<&Step>> {
        let end = self.blocks.len().checked_sub(before)?;
        let start = end.checked_sub(size)?;
        if start < self.first {
            return None;
        }
        self.blocks.range(start..end).map(Block::single).collect()
    }

    /// Adds the last steps to the loop before them, if they repeat it.
    fn extend_loop(&mut self, size: usize) -> bool {
        let Some(last) = self.last_steps(size, 0) else {
            return false;
        };
        let Some(at) = self.blocks.len().checked_sub(size + 1) else {
            return false;
        };
        let block = self.blocks.get(at).filter(|_| at >= self.first);
        let Some(Block::Loop { steps, differs, .. }) = block else {
            return false;
        };
        let keys = steps.iter().map(|step| step.key);
        let has_notes = steps.iter().any(|step| !step.notes.is_empty());
        if has_notes || !keys.eq(last.iter().map(|step| step.key)) {
            return false;
        }
        let index = last.last().map_or(0, |step| step.index);
        let mut all = *differs;
        all.compare(steps, &last);
        self.remove_last(size);
        if let Some(Block::Loop {
            count,
            last,
            differs,
            ..
        }) = self.blocks.back_mut()
        {
            (*count, *last, *differs) = (*count + 1, index, all);
        }
        true
    }

    /// Makes a loop of the last steps, if they repeat those before them often enough.
    fn begin_loop(&mut self, size: usize) -> bool {
        let times: Option<Vec<_>> = (0..MIN_TIMES)
            .rev()
            .map(|before| self.last_steps(size, before * size))
            .collect();
        let Some([first, rest @ ..]) = times.as_deref() else {
            return false;
        };
        let keys = |steps: &[&Step]| steps.iter().map(|step| step.key).collect::<Vec<_>>();
        let wanted = keys(first);
        if rest.iter().any(|steps| keys(steps) != wanted) {
            return false;
        }
        let steps: Vec<Step> = first.iter().copied().cloned().collect();
        let mut differs = Differs::default();
        rest.iter().for_each(|one| differs.compare(&steps, one));
        let last = rest.last().and_then(|steps| steps.last());
        let last = last.map_or(0, |step| step.index);
        self.remove_last(MIN_TIMES * size);
        self.len += size;
        self.blocks.push_back(Block::Loop {
            steps,
            count: MIN_TIMES as u64,
            last,
            differs,
        });
        true
    }

    fn remove_last(&mut self, size: usize) {
        self.blocks.truncate(self.blocks.len().saturating_sub(size));
        self.len = self.len.saturating_sub(size);
    }

    /// Counts the first block after the start instead of showing it.
    fn leave_out(&mut self) {
        if self.first == 0 {
            let mut steps = 0;
            let is_first = |block: &&Block| {
                steps += block.steps().len();
                steps <= FIRST_STEPS
            };
            self.first = self.blocks.iter().take_while(is_first).count();
        }
        match self.blocks.remove(self.first) {
            Some(block) => {
                self.len = self.len.saturating_sub(block.steps().len());
                self.fold.add(&block);
            }
            None => self.len = 0,
        }
    }
}

//! Shows messages near the selected ones, and the other messages of their pairs.

use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::protocol::Role;
use crate::render::Format;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// The maximum number of requests without an answer that are kept, and of their bytes.
const MAX_OPEN: usize = 1 << 12;
const MAX_BYTES: usize = 16 << 20;
/// Output that shows no messages, or only the last ones.
const WITHOUT: [&str; 4] = ["verify", "at", "path", "tail"];

/// Which messages are shown beside the selected ones. The names are those of grep.
#[derive(clap::Args)]
#[command(next_help_heading = "Selection")]
pub struct ContextArgs {
    /// Also show N messages after each match, as grep does
    #[arg(short = 'A', long = "after-context", value_name = "N", conflicts_with_all = WITHOUT)]
    after: Option<usize>,
    /// Also show N messages before each match
    #[arg(short = 'B', long = "before-context", value_name = "N", conflicts_with_all = WITHOUT)]
    before: Option<usize>,
    /// Also show N messages before and after each match
    #[arg(short = 'C', long = "context", value_name = "N", conflicts_with_all = WITHOUT)]
    around: Option<usize>,
    /// Also show the request or the answer of each match
    #[arg(long, conflicts_with_all = WITHOUT)]
    pub pair: bool,
}

/// The text of a message that is not selected.
type Text = Arc<[u8]>;

/// What is done with a message that is not selected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Show,
    /// Keep it until a later message decides.
    Keep,
    Skip,
}

/// Stands between the selection and the output.
pub struct ContextMessages {
    before: usize,
    after: usize,
    pair: bool,
    /// What is written between groups of messages.
    separator: &'static [u8],
    /// The number of messages that are still shown after the last match.
    left: usize,
    /// The last messages that are not shown so far, with their index.
    recent: VecDeque<(u64, Text)>,
    /// The requests without an answer that are not shown so far, by index, and the number of their bytes.
    open: BTreeMap<u64, Text>,
    bytes: usize,
    /// The requests that are shown as matches and have no answer.
    awaited: BTreeSet<u64>,
    /// The index of the last message that is shown.
    shown: Option<u64>,
}

impl ContextMessages {
    pub fn new(args: &ContextArgs, format: Option<Format>) -> Self {
        let around = args.around.unwrap_or(0);
        Self {
            before: args.before.unwrap_or(around),
            after: args.after.unwrap_or(around),
            pair: args.pair,
            separator: match format {
                Some(Format::Json) => b"",
                _ => b"--\n",
            },
            left: 0,
            recent: VecDeque::new(),
            open: BTreeMap::new(),
            bytes: 0,
            awaited: BTreeSet::new(),
            shown: None,
        }
    }

    /// Returns true if messages are shown that are not selected.
    pub fn is_active(&self) -> bool {
        self.before > 0 || self.after > 0 || self.pair
    }

    /// Returns true if no later message belongs to one that is shown.
    pub fn is_complete(&self) -> bool {
        self.left == 0 && self.awaited.is_empty()
    }

    /// Starts an input, whose messages have other numbers.
    pub fn restart(&mut self) {
        (self.left, self.bytes, self.shown) = (0, 0, None);
        self.recent.clear();
        self.open.clear();
        self.awaited.clear();
    }

    /// Says what is done with a message that is not selected.
    pub fn place(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Use {
        let answers = self.answers(verdict);
        if answers || self.left > 0 {
            Use::Show
        } else if self.before > 0 || self.is_request(decoded) {
            Use::Keep
        } else {
            Use::Skip
        }
    }

    /// Keeps the text of a message.
    pub fn keep(&mut self, decoded: &Decoded<'_>, text: &[u8]) {
        let text: Text = text.into();
        if self.is_request(decoded) {
            self.bytes += text.len();
            self.open.insert(decoded.index, Arc::clone(&text));
            while self.open.len() > MAX_OPEN || self.bytes > MAX_BYTES {
                let first = self.open.pop_first();
                self.bytes -= first.map_or(self.bytes, |(_, text)| text.len());
            }
        }
        if self.before > 0 {
            self.recent.push_back((decoded.index, text));
            if self.recent.len() > self.before {
                self.recent.pop_front();
            }
        }
    }

    /// Writes what precedes a message that is shown and not selected.
    pub fn show(&mut self, decoded: &Decoded<'_>, out: &mut Vec<u8>) {
        self.left = self.left.saturating_sub(1);
        self.separate(decoded.index, out);
        self.shown = Some(decoded.index);
    }

    /// Writes what precedes a selected message: its request, and the messages before it.
    pub fn select(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
        out: &mut Vec<u8>,
    ) {
        let answer = verdict.and_then(|verdict| verdict.answer);
        if let Some(answer) = answer.filter(|_| self.pair)
            && !self.recent.iter().any(|(index, _)| *index == answer.to)
            && let Some(text) = self.close(answer.to)
        {
            self.separate(answer.to, out);
            out.extend_from_slice(&text);
            self.shown = Some(answer.to);
        }
        self.answers(verdict);
        for (index, text) in std::mem::take(&mut self.recent) {
            self.close(index);
            self.separate(index, out);
            out.extend_from_slice(&text);
            self.shown = Some(index);
        }
        self.separate(decoded.index, out);
        self.shown = Some(decoded.index);
        self.left = self.after;
        if self.is_request(decoded) && self.awaited.len() < MAX_OPEN {
            self.awaited.insert(decoded.index);
        }
    }

    /// Writes the separator of grep if messages are left out before this one.
    fn separate(&self, index: u64, out: &mut Vec<u8>) {
        let near = self.before > 0 || self.after > 0;
        if near && self.shown.is_some_and(|shown| shown + 1 != index) {
            out.extend_from_slice(self.separator);
        }
    }

    fn is_request(&self, decoded: &Decoded<'_>) -> bool {
        self.pair && decoded.message.role == Some(Role::Request)
    }

    /// Removes and returns the text of a request.
    fn close(&mut self, index: u64) -> Option<Text> {
        let text = self.open.remove(&index)?;
        self.bytes -= text.len();
        Some(text)
    }

    /// Returns true if a message answers a selected request. The request of a last answer is no longer open.
    fn answers(&mut self, verdict: Option<Verdict<'_>>) -> bool {
        let Some(answer) = verdict.and_then(|verdict| verdict.answer) else {
            return false;
        };
        if !answer.last {
            return self.awaited.contains(&answer.to);
        }
        self.close(answer.to);
        self.awaited.remove(&answer.to)
    }
}

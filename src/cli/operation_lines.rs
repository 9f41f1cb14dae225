//! Shows operations in place of messages: a line when each ends, with its parts folded or below it.

use crate::conversation::{Operation, Verdict};
use crate::decoder::Decoded;
use crate::render::{DisplayOptions, Format, operation};
use foldhash::HashSet;
use std::collections::BTreeMap;

/// The maximum number of bytes of the texts that are shown below operations.
const MAX_BYTES: usize = 16 << 20;
/// The length of most lines, in bytes.
const USUAL_LINE: usize = 192;
/// The columns by which parts are indented.
const INDENT: usize = 4;

/// The texts below an operation.
#[derive(Default)]
struct Below {
    /// Messages and operations, by index.
    texts: BTreeMap<u64, Vec<u8>>,
    /// The number of messages that are left out.
    left_out: u64,
}

/// Operations that have not ended.
pub struct OperationLines {
    format: Format,
    /// Those that have a message that is selected.
    selected: HashSet<u64>,
    /// Present if parts are shown below their operation.
    below: Option<BTreeMap<u64, Below>>,
    bytes: usize,
    /// The connection, the operation and the index of the last message that is shown below one.
    last: Option<(Option<u32>, u64, u64)>,
}

impl OperationLines {
    pub fn new(format: Format, shows_parts: bool) -> Self {
        Self {
            format,
            selected: HashSet::default(),
            below: (shows_parts && format != Format::Json).then(BTreeMap::new),
            bytes: 0,
            last: None,
        }
    }

    /// Starts an input, whose messages have other numbers.
    pub fn restart(&mut self) {
        *self = Self::new(self.format, self.below.is_some());
    }

    /// Returns how messages below operations are shown, if they are.
    pub fn display(&self, display: DisplayOptions) -> Option<DisplayOptions> {
        self.below.as_ref()?;
        Some(DisplayOptions {
            width: display.width.map(|width| width.saturating_sub(INDENT)),
            ..display
        })
    }

    /// Selects the operation of a message.
    pub fn select(&mut self, verdict: Option<Verdict<'_>>) {
        let of = verdict.and_then(|verdict| verdict.operation);
        if let Some(of) = of.filter(|of| !of.is_late) {
            self.selected.insert(of.index);
        }
    }

    /// Keeps the text of a message for its operation.
    pub fn keep(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>, text: &[u8]) {
        let of = verdict.and_then(|verdict| verdict.operation);
        if let Some(of) = of.filter(|of| !of.is_late) {
            self.keep_below(of.index, decoded.index, indented(text));
            self.last = Some((decoded.origin.conn, of.index, decoded.index));
        }
    }

    /// Keeps lines of stderr below the message before them, if its operation on their connection has not ended. Returns
    /// `false` if they are shown by themselves.
    pub fn keep_stderr(&mut self, conn: u32, text: &[u8]) -> bool {
        let Some((Some(last), operation, index)) = self.last else {
            return false;
        };
        let below = self.below.as_mut().and_then(|all| all.get_mut(&operation));
        let Some(kept) = below.and_then(|below| below.texts.get_mut(&index)) else {
            return false;
        };
        let text = indented(text);
        if last != conn || self.bytes + text.len() > MAX_BYTES {
            return false;
        }
        self.bytes += text.len();
        kept.extend(text);
        true
    }

    /// Keeps a text that is shown below an operation.
    fn keep_below(&mut self, operation: u64, index: u64, text: Vec<u8>) {
        let Some(all) = &mut self.below else {
            return;
        };
        let below = all.entry(operation).or_default();
        if self.bytes + text.len() > MAX_BYTES {
            below.left_out += 1;
        } else {
            self.bytes += text.len();
            below.texts.insert(index, text);
        }
    }

    /// Returns true if an operation can still be shown.
    fn is_open(&self, operation: u64) -> bool {
        let all = self.below.as_ref();
        self.selected.contains(&operation) || all.is_some_and(|all| all.contains_key(&operation))
    }

    /// Returns the texts of operations that end, without those that are shown below others.
    pub fn end(&mut self, ended: &[Operation], display: DisplayOptions) -> Vec<Vec<u8>> {
        let mut texts = Vec::new();
        // Operations inside began later.
        for one in ended.iter().rev() {
            let below = self.below.as_mut().and_then(|all| all.remove(&one.index));
            let below = below.unwrap_or_default();
            let freed: usize = below.texts.values().map(Vec::len).sum();
            self.bytes = self.bytes.saturating_sub(freed);
            let is_selected = self.selected.remove(&one.index);
            let parent = one.parent.filter(|parent| self.is_open(*parent));
            // A line of its own, or below that of its parent.
            let is_part = parent.is_some_and(|parent| self.selected.contains(&parent));
            if is_selected && self.format == Format::Json {
                let mut text = Vec::new();
                operation::write_json(one, display, &mut text);
                texts.push(text);
            } else if is_selected && !is_part {
                texts.push(text_of(one, false, &below, display));
            }
            if let (Some(parent), Some(narrower)) = (parent, self.display(display)) {
                let text = indented(&text_of(one, true, &below, narrower));
                self.keep_below(parent, one.index, text);
            }
        }
        texts.reverse();
        texts
    }
}

/// Returns the line of an operation, with the texts below it.
fn text_of(one: &Operation, is_part: bool, below: &Below, display: DisplayOptions) -> Vec<u8> {
    let mut line = String::with_capacity(USUAL_LINE);
    operation::write_line(one, is_part, display, &mut line);
    for part in below.texts.values() {
        operation::write_parts(part, display, &mut line);
    }
    if below.left_out > 0 {
        line.push_str(&format!("    and {} more\n", below.left_out));
    }
    line.into_bytes()
}

/// Returns the lines of a text, indented.
fn indented(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + INDENT);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        out.extend(std::iter::repeat_n(b' ', INDENT));
        out.extend_from_slice(line);
    }
    out
}

//! Counts the messages that differ between two snapshots. Messages that only moved are equal.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::fmt;

/// The maximum number of messages of each text that are compared; of longer texts, only the counts
/// are.
const MAX_COMPARED: usize = 1 << 12;

/// The number of messages that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotSummary {
    /// In both, with different content.
    pub changed: usize,
    /// Only in the new text.
    pub added: usize,
    /// Only in the old text.
    pub removed: usize,
    /// The number of the first changed or added message.
    pub first: Option<u64>,
}

impl SnapshotSummary {
    /// Compares the messages of an old and a new text.
    pub fn of(old: &str, new: &str) -> Self {
        let text = new;
        let (old, new) = (messages(old), messages(new));
        let same = |(a, b): &(&String, &String)| a == b;
        let head = old.iter().zip(&new).take_while(same).count();
        let (old, new) = (
            old.get(head..).unwrap_or_default(),
            new.get(head..).unwrap_or_default(),
        );
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(same);
        let tail = tail.count();
        let old = old.get(..old.len() - tail).unwrap_or_default();
        let new = new.get(..new.len() - tail).unwrap_or_default();
        let mut summary = Self::default();
        if old.len().max(new.len()) > MAX_COMPARED {
            summary.replaced(old.len(), new.len());
            summary.first = nth_index(text, head);
            return summary;
        }
        for op in capture_diff_slices(Algorithm::Myers, old, new) {
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            summary.replaced(op.old_range().len(), op.new_range().len());
            if summary.first.is_none() && !op.new_range().is_empty() {
                summary.first = nth_index(text, head + op.new_range().start);
            }
        }
        summary
    }

    fn replaced(&mut self, old: usize, new: usize) {
        self.changed += old.min(new);
        self.removed += old.saturating_sub(new);
        self.added += new.saturating_sub(old);
    }
}

impl fmt::Display for SnapshotSummary {
    /// `1 message changed, 2 added`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.changed, "changed"),
            (self.added, "added"),
            (self.removed, "removed"),
        ];
        let mut some = all.into_iter().filter(|(count, _)| *count > 0);
        let Some((count, what)) = some.next() else {
            return f.write_str("no message changed: only positions or remarks");
        };
        let noun = if count == 1 { "message" } else { "messages" };
        write!(f, "{count} {noun} {what}")?;
        some.try_for_each(|(count, what)| write!(f, ", {count} {what}"))
    }
}

/// Returns the messages of a snapshot without their positions. Notes that belong to no message are
/// left out.
fn messages(text: &str) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for line in text.lines() {
        if let Some(title) = title(line) {
            messages.push(title);
        } else if let Some(last) = messages.last_mut().filter(|_| line.starts_with(' ')) {
            last.push('\n');
            last.push_str(&without_positions(line.trim_start()));
        }
    }
    messages
}

/// Returns `true` for the first line of a message.
pub fn is_title(line: &str) -> bool {
    title(line).is_some()
}

/// Returns a line without positions.
pub fn key(line: &str) -> String {
    title(line).unwrap_or_else(|| without_positions(line.trim_start()))
}

/// Returns the number that the nth message of a text has.
fn nth_index(text: &str, n: usize) -> Option<u64> {
    let line = text.lines().filter(|line| is_title(line)).nth(n)?;
    let rest = line.trim_start();
    let rest = match rest.strip_prefix('#') {
        Some(rest) => rest,
        None => rest.split_once("\"index\":")?.1,
    };
    let end = rest.find(|c: char| !c.is_ascii_digit());
    rest.get(..end.unwrap_or(rest.len()))?.parse().ok()
}

/// Returns the first line of a message, without index and offset.
fn title(line: &str) -> Option<String> {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    if line.starts_with("{\"v\":") {
        return Some(without_positions(line));
    }
    let rest = line.trim_start().strip_prefix('#')?;
    let end = digits(rest);
    let rest = rest.get(end..).filter(|_| end > 0)?.trim_start();
    // In a line, the offset follows the index.
    let rest = rest.get(digits(rest)..).unwrap_or_default().trim_start();
    let is_place = rest.starts_with(['→', '←', '·', 'c']);
    let _ = rest.find(['→', '←', '·']).filter(|_| is_place)?;
    Some(without_positions(rest))
}

/// Returns a line without numbers that count messages or bytes of the stream.
fn without_positions(line: &str) -> String {
    const BEFORE: [&str; 9] = [
        " bytes at ",
        "↩ #",
        "(see #",
        "offset ",
        "\"index\":",
        "\"offset\":",
        "\"body_offset\":",
        "\"reply_to\":",
        "\"related\":",
    ];
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    // A byte range at the start of a row: its length follows from the next columns.
    let range = line
        .get(digits(line)..)
        .and_then(|rest| rest.strip_prefix(".."));
    let line = match range.filter(|_| digits(line) > 0) {
        Some(rest) => rest.get(digits(rest)..).unwrap_or_default().trim_start(),
        None => line,
    };
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let before = BEFORE.iter().find(|before| rest.starts_with(**before));
        let taken = before.map_or(c.len_utf8(), |before| before.len());
        let (now, after) = rest.split_at(taken);
        out.push_str(now);
        rest = match before {
            Some(_) => after.get(digits(after)..).unwrap_or_default(),
            None => after,
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    type Show<'s> = &'s dyn Fn(usize, usize, &str) -> String;

    #[test]
    fn moved_messages_are_equal() {
        let tree = |at: usize, id: usize, method: &str| {
            format!(
                "#{at} → call {method}  id {id}  (oracle, lines, request, 41 bytes at {})  ↩ #{at}\n  {}..{}  {{3}}\n  {:>4}..{}    id  {id}\n",
                at * 41,
                at * 41,
                at * 41 + 41,
                at * 41 + 22,
                at * 41 + 23
            )
        };
        let line = |at: usize, id: usize, method: &str| {
            format!(
                "{:>5} {:>8} → call  {method}  {id}\n      ! some/rule: odd (see #{at})\n",
                format!("#{at}"),
                at * 41
            )
        };
        let json = |at: usize, id: usize, method: &str| {
            format!(
                "{{\"v\":1,\"index\":{at},\"offset\":{},\"len\":41,\"message\":{{\"id\":{id},\"method\":\"{method}\"}},\"reply_to\":{at}}}\n",
                at * 41
            )
        };
        let shows: [Show<'_>; 3] = [&tree, &line, &json];
        for show in shows {
            let text = |all: &[(usize, &str)]| -> String {
                let all = all.iter().enumerate();
                all.map(|(at, (id, method))| show(at, *id, method))
                    .collect()
            };
            let old = text(&[(1, "a"), (2, "b"), (3, "c"), (4, "d")]);
            for (new, want, first) in [
                (
                    vec![(9, "x"), (1, "a"), (2, "b"), (3, "c"), (4, "d")],
                    "1 message added",
                    Some(0),
                ),
                (
                    vec![(1, "a"), (3, "c"), (4, "d")],
                    "1 message removed",
                    None,
                ),
                (
                    vec![(1, "a"), (2, "z"), (3, "c"), (4, "d")],
                    "1 message changed",
                    Some(1),
                ),
                (
                    vec![(9, "x"), (8, "y"), (1, "a"), (2, "z"), (3, "c"), (4, "d")],
                    "1 message changed, 2 added",
                    Some(0),
                ),
                (
                    vec![(1, "a"), (2, "b"), (3, "c"), (4, "d")],
                    "no message changed: only positions or remarks",
                    None,
                ),
            ] {
                let summary = SnapshotSummary::of(&old, &text(&new));
                assert_eq!(summary.to_string(), want, "{old}");
                assert_eq!(summary.first, first, "{old}");
            }
        }
    }
}

//! Line differences between two texts, with some context.

use super::summary::{is_title, key};
use similar::{Algorithm, DiffOp, capture_diff};
use std::hash::Hash;
use std::ops::Range;

/// The number of context lines around a change.
const CONTEXT: usize = 3;
/// The maximum number of lines, without equal ones at start and end, that are compared by
/// similarity; longer texts are replaced as a whole.
const MAX_COMPARED: usize = 1 << 13;

/// The number of lines of each text that are examined, from the first difference.
const MAX_LINES: usize = 1 << 16;

/// A line of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineChange<'t> {
    /// In both texts.
    Both(&'t str),
    /// Only in the old text.
    Old(&'t str),
    /// Only in the new text.
    New(&'t str),
    /// This many equal lines are left out.
    Gap(usize),
}

/// Returns the differences between an old and a new text; empty if they are equal. Lines that differ
/// only in positions are equal, unless nothing else differs. Examines the first 65536 lines of each
/// text from the first difference.
pub fn changes<'t>(old: &'t str, new: &'t str) -> Vec<LineChange<'t>> {
    let (before, at) = common_start(old, new);
    let rest = |text: &'t str| -> Vec<&'t str> {
        let rest = text.get(at..).unwrap_or_default();
        rest.lines().take(MAX_LINES).collect()
    };
    let keys = |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| key(line)).collect() };
    let (old, new) = (rest(old), rest(new));
    let mut paired = parts(&keys(&old), &keys(&new));
    if paired.iter().all(|pair| matches!(pair, (Some(_), Some(_)))) {
        paired = parts(&old, &new);
    }
    let mut all = Vec::new();
    for (before, after) in paired {
        let before = before.and_then(|at| old.get(at).copied());
        let after = after.and_then(|at| new.get(at).copied());
        match (before, after) {
            (Some(_), Some(line)) => all.push(LineChange::Both(line)),
            (Some(line), None) => all.push(LineChange::Old(line)),
            (None, Some(line)) => all.push(LineChange::New(line)),
            (None, None) => {}
        }
    }
    let mut out = shortened(&all);
    match out.first_mut() {
        Some(LineChange::Gap(n)) => *n += before,
        Some(_) if before > 0 => out.insert(0, LineChange::Gap(before)),
        _ => {}
    }
    out
}

/// Returns the number of equal lines at the start, and the position of their end, both without
/// context lines and without the message that is not complete.
fn common_start(old: &str, new: &str) -> (usize, usize) {
    let mut ends = [0; CONTEXT + 1];
    let mut lines = 0;
    let mut header = None;
    let pairs = old.split_inclusive('\n').zip(new.split_inclusive('\n'));
    for (line, _) in pairs.take_while(|(a, b)| a == b) {
        if is_title(line) {
            header = Some((lines, ends[CONTEXT]));
        }
        ends.rotate_left(1);
        ends[CONTEXT] = ends[CONTEXT - 1] + line.len();
        lines += 1;
    }
    let start = (usize::saturating_sub(lines, CONTEXT), ends[0]);
    let is_near = |header: &(usize, usize)| lines - header.0 < MAX_LINES / 2;
    header.filter(is_near).map_or(start, |at| at.min(start))
}

/// The numbers of a line in the old and in the new text.
type Pair = (Option<usize>, Option<usize>);

/// Returns all lines; equal ones are paired.
fn parts<T: Ord + Hash>(old: &[T], new: &[T]) -> Vec<Pair> {
    let same = |(a, b): &(&T, &T)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let rest = (
        old.get(head..).unwrap_or_default(),
        new.get(head..).unwrap_or_default(),
    );
    let tail = rest.0.iter().rev().zip(rest.1.iter().rev());
    let tail = tail.take_while(same).count();
    let (a, b) = (head..old.len() - tail, head..new.len() - tail);
    let both = |old: Range<usize>, new: Range<usize>| old.map(Some).zip(new.map(Some));
    let removed = |old: Range<usize>| old.map(|at| (Some(at), None));
    let added = |new: Range<usize>| new.map(|at| (None, Some(at)));
    let mut out: Vec<Pair> = both(0..head, 0..head).collect();
    if a.len() + b.len() > MAX_COMPARED {
        out.extend(removed(a.clone()));
        out.extend(added(b.clone()));
    } else {
        for op in capture_diff(Algorithm::Myers, old, a.clone(), new, b.clone()) {
            if let DiffOp::Equal { .. } = op {
                out.extend(both(op.old_range(), op.new_range()));
            } else {
                out.extend(removed(op.old_range()));
                out.extend(added(op.new_range()));
            }
        }
    }
    out.extend(both(a.end..old.len(), b.end..new.len()));
    out
}

/// Removes lines that are far from any change, except the first line of a changed message.
fn shortened<'t>(all: &[LineChange<'t>]) -> Vec<LineChange<'t>> {
    let mut near = vec![false; all.len()];
    let mut header = None;
    for (at, change) in all.iter().enumerate() {
        match change {
            LineChange::Both(line) if !is_title(line) => continue,
            LineChange::Both(_) => {
                header = Some(at);
                continue;
            }
            _ => {}
        }
        let around = at.saturating_sub(CONTEXT)..all.len().min(at + CONTEXT + 1);
        near.get_mut(around).unwrap_or_default().fill(true);
        if let Some(near) = header.take().and_then(|at| near.get_mut(at)) {
            *near = true;
        }
    }
    let mut out = Vec::new();
    if !near.contains(&true) {
        return out;
    }
    for (change, near) in all.iter().zip(near) {
        match (near, out.last_mut()) {
            (true, _) => out.push(*change),
            (false, Some(LineChange::Gap(n))) => *n += 1,
            (false, _) => out.push(LineChange::Gap(1)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(old: &str, new: &str) -> String {
        let line = |change: LineChange<'_>| match change {
            LineChange::Both(line) => format!(" {line}"),
            LineChange::Old(line) => format!("-{line}"),
            LineChange::New(line) => format!("+{line}"),
            LineChange::Gap(n) => format!("@{n}"),
        };
        let lines: Vec<String> = changes(old, new).into_iter().map(line).collect();
        lines.join(" ")
    }

    #[test]
    fn changed_lines_have_context() {
        for (old, new, want) in [
            ("a\nb", "a\nb", ""),
            ("", "", ""),
            ("", "a", "+a"),
            ("a", "", "-a"),
            ("a\nb\nc", "a\nx\nc", " a -b +x  c"),
            ("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\nx", "@2  3  4  5 -6 +x"),
            (
                "x\n1\n2\n3\n4\n5\n6\n7\n8",
                "1\n2\n3\n4\n5\n6\n7\n8\ny",
                "-x  1  2  3 @2  6  7  8 +y",
            ),
            ("a\na", "a\na\na", " a  a +a"),
            // The first line of a changed message is context; that of an unchanged one is not.
            (
                "#0 → x\n#1 → a\n 1\n 2\n 3\n 4\n 5\n#2 → b\n 1\n 2\n 3\n 4",
                "#0 → x\n#1 → a\n 1\n 2\n 3\n 4\n y\n#2 → b\n 1\n 2\n 3\n 4",
                "@1  #1 → a @1   2   3   4 - 5 + y  #2 → b   1   2 @2",
            ),
            // Positions are no difference beside another one.
            (
                "#0 → a (1 bytes at 0)\n 0..1 a\n#1 → b (1 bytes at 1)\n 1..2 b",
                "#0 → a (2 bytes at 0)\n 0..2 a\n#1 → b (1 bytes at 2)\n 2..3 b",
                "-#0 → a (1 bytes at 0) +#0 → a (2 bytes at 0)   0..2 a  #1 → b (1 bytes at 2)   2..3 b",
            ),
            (" 1..2 b", " 2..3 b", "- 1..2 b + 2..3 b"),
        ] {
            assert_eq!(rendered(old, new), want, "{old:?} {new:?}");
        }
    }

    #[test]
    fn common_start_is_left_out() {
        let same = "same\n".repeat(3 * MAX_LINES);
        let (old, new) = (format!("{same}a"), format!("{same}b"));
        let changes = changes(&old, &new);
        let both = [LineChange::Both("same"); CONTEXT];
        let around = [&[LineChange::Gap(3 * MAX_LINES - CONTEXT)], &both[..]].concat();
        let differs = [LineChange::Old("a"), LineChange::New("b")];
        assert_eq!(changes, [around, differs.to_vec()].concat());
    }

    #[test]
    fn long_texts_are_replaced_as_a_whole() {
        let old = "a\nb\n".repeat(MAX_COMPARED / 2);
        let new = "b\na\n".repeat(MAX_COMPARED / 2 + 1);
        let changes = changes(&old, &new);
        assert_eq!(changes.len(), 2 * MAX_COMPARED + 2);
        assert!(!changes.iter().any(|c| matches!(c, LineChange::Both(_))));
    }
}

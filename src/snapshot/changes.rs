//! Line differences between two texts, with some context.

use similar::{Algorithm, DiffOp, capture_diff_slices};

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

/// Returns the differences between an old and a new text; empty if they are equal. Examines the
/// first 65536 lines of each text from the first difference.
pub fn changes<'t>(old: &'t str, new: &'t str) -> Vec<LineChange<'t>> {
    let (before, at) = common_start(old, new);
    let rest = |text: &'t str| -> Vec<&'t str> {
        let rest = text.get(at..).unwrap_or_default();
        rest.lines().take(MAX_LINES).collect()
    };
    let mut all = Vec::new();
    for (old, new) in parts(&rest(old), &rest(new)) {
        match (old, new) {
            (Some(old), Some(_)) => all.push(LineChange::Both(old)),
            (Some(old), None) => all.push(LineChange::Old(old)),
            (None, Some(new)) => all.push(LineChange::New(new)),
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
/// context lines.
fn common_start(old: &str, new: &str) -> (usize, usize) {
    let mut ends = [0; CONTEXT + 1];
    let mut lines = 0;
    let pairs = old.split_inclusive('\n').zip(new.split_inclusive('\n'));
    for (line, _) in pairs.take_while(|(a, b)| a == b) {
        ends.rotate_left(1);
        ends[CONTEXT] = ends[CONTEXT - 1] + line.len();
        lines += 1;
    }
    (usize::saturating_sub(lines, CONTEXT), ends[0])
}

/// Returns all lines; equal ones are paired.
fn parts<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Option<&'t str>, Option<&'t str>)> {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let (old, rest_of_old) = old.split_at(head.min(old.len()));
    let (_, new) = new.split_at(head.min(new.len()));
    let tail = rest_of_old.iter().rev().zip(new.iter().rev());
    let tail = tail.take_while(same).count();
    let (a, end) = rest_of_old.split_at(rest_of_old.len() - tail);
    let (b, _) = new.split_at(new.len() - tail);
    let both =
        |lines: &[&'t str]| -> Vec<_> { lines.iter().map(|l| (Some(*l), Some(*l))).collect() };
    let mut out = both(old);
    let removed =
        |lines: &[&'t str]| -> Vec<_> { lines.iter().map(|l| (Some(*l), None)).collect() };
    let added = |lines: &[&'t str]| -> Vec<_> { lines.iter().map(|l| (None, Some(*l))).collect() };
    if a.len() + b.len() > MAX_COMPARED {
        out.extend(removed(a));
        out.extend(added(b));
    } else {
        for op in capture_diff_slices(Algorithm::Myers, a, b) {
            let old = a.get(op.old_range()).unwrap_or_default();
            let new = b.get(op.new_range()).unwrap_or_default();
            if let DiffOp::Equal { .. } = op {
                out.extend(both(old));
            } else {
                out.extend(removed(old));
                out.extend(added(new));
            }
        }
    }
    out.extend(both(end));
    out
}

/// Removes lines that are far from any change.
fn shortened<'t>(all: &[LineChange<'t>]) -> Vec<LineChange<'t>> {
    let mut near = vec![false; all.len()];
    for (at, change) in all.iter().enumerate() {
        if !matches!(change, LineChange::Both(_)) {
            let around = at.saturating_sub(CONTEXT)..all.len().min(at + CONTEXT + 1);
            near.get_mut(around).unwrap_or_default().fill(true);
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

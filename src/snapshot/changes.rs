//! What of two texts differs, line by line, with some lines around it.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Lines around a change that are told.
const AROUND: usize = 3;
/// More lines than these, beside what both begin and end with, are not searched for likeness: one text replaces the
/// other.
const SEARCHED: usize = 1 << 13;

/// Lines of each text that are looked at, from the first that differs.
const LOOKED_AT: usize = 1 << 16;

/// A line of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'t> {
    /// Both have it.
    Both(&'t str),
    /// Only the old text has it.
    Old(&'t str),
    /// Only the new text has it.
    New(&'t str),
    /// So many lines that both have are left out.
    Gap(usize),
}

/// What differs between an old and a new text; nothing where they are equal. Of what differs, the first 65536 lines of
/// each are looked at.
pub fn changes<'t>(old: &'t str, new: &'t str) -> Vec<Change<'t>> {
    let (before, at) = both_begin(old, new);
    let rest = |text: &'t str| -> Vec<&'t str> {
        let rest = text.get(at..).unwrap_or_default();
        rest.lines().take(LOOKED_AT).collect()
    };
    let mut all = Vec::new();
    for (old, new) in parts(&rest(old), &rest(new)) {
        match (old, new) {
            (Some(old), Some(_)) => all.push(Change::Both(old)),
            (Some(old), None) => all.push(Change::Old(old)),
            (None, Some(new)) => all.push(Change::New(new)),
            (None, None) => {}
        }
    }
    let mut out = shortened(&all);
    match out.first_mut() {
        Some(Change::Gap(n)) => *n += before,
        Some(_) if before > 0 => out.insert(0, Change::Gap(before)),
        _ => {}
    }
    out
}

/// How many lines both texts begin with, and where those end, but for some that are told.
fn both_begin(old: &str, new: &str) -> (usize, usize) {
    let mut ends = [0; AROUND + 1];
    let mut lines = 0;
    let pairs = old.split_inclusive('\n').zip(new.split_inclusive('\n'));
    for (line, _) in pairs.take_while(|(a, b)| a == b) {
        ends.rotate_left(1);
        ends[AROUND] = ends[AROUND - 1] + line.len();
        lines += 1;
    }
    (usize::saturating_sub(lines, AROUND), ends[0])
}

/// Every line, those that both have together.
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
    if a.len() + b.len() > SEARCHED {
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

/// Without what is far from any change.
fn shortened<'t>(all: &[Change<'t>]) -> Vec<Change<'t>> {
    let mut near = vec![false; all.len()];
    for (at, change) in all.iter().enumerate() {
        if !matches!(change, Change::Both(_)) {
            let around = at.saturating_sub(AROUND)..all.len().min(at + AROUND + 1);
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
            (false, Some(Change::Gap(n))) => *n += 1,
            (false, _) => out.push(Change::Gap(1)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> String {
        let line = |change: Change<'_>| match change {
            Change::Both(line) => format!(" {line}"),
            Change::Old(line) => format!("-{line}"),
            Change::New(line) => format!("+{line}"),
            Change::Gap(n) => format!("@{n}"),
        };
        let lines: Vec<String> = changes(old, new).into_iter().map(line).collect();
        lines.join(" ")
    }

    #[test]
    fn lines_that_differ() {
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
            assert_eq!(told(old, new), want, "{old:?} {new:?}");
        }
    }

    #[test]
    fn what_both_begin_with() {
        let same = "same\n".repeat(3 * LOOKED_AT);
        let (old, new) = (format!("{same}a"), format!("{same}b"));
        let changes = changes(&old, &new);
        let both = [Change::Both("same"); AROUND];
        let around = [&[Change::Gap(3 * LOOKED_AT - AROUND)], &both[..]].concat();
        let differs = [Change::Old("a"), Change::New("b")];
        assert_eq!(changes, [around, differs.to_vec()].concat());
    }

    #[test]
    fn long_texts_are_not_searched() {
        let old = "a\nb\n".repeat(SEARCHED / 2);
        let new = "b\na\n".repeat(SEARCHED / 2 + 1);
        let changes = changes(&old, &new);
        assert_eq!(changes.len(), 2 * SEARCHED + 2);
        assert!(!changes.iter().any(|c| matches!(c, Change::Both(_))));
    }
}

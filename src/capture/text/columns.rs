//! Columns that are beside a message on several lines, and that are no part of it.
//!
//! ```text
//!    1  {                          numbers: cat -n, less -N, bat
//!   client.log:  {"jsonrpc":"2.   names and times, the same on each line
//!   INFO  {"jsonrpc":"2.0     client.py:20      a place at the right end
//!   -  "id": 1,                    two versions: diff
//! ```

use super::objects::Balance;
use std::borrow::Cow;

/// The most bytes of a column.
const MAX_COLUMN: usize = 120;

/// Returns a text without a column that is at the start of each line.
pub(super) fn without_left(text: &[u8]) -> Cow<'_, [u8]> {
    let lines: Vec<&[u8]> = text.split(|&c| c == b'\n').collect();
    let cuts = numbered(&lines).or_else(|| same_beginning(&lines));
    let Some(cuts) = cuts.filter(|_| lines.len() > 1) else {
        return Cow::Borrowed(text);
    };
    let rest = lines
        .iter()
        .zip(cuts)
        .map(|(line, cut)| line.get(cut..).unwrap_or_default());
    Cow::Owned(rest.collect::<Vec<_>>().join(&b'\n'))
}

/// Returns what the first line of a text has before that of the text without a column.
pub(super) fn first_difference<'t>(text: &'t [u8], bare: &[u8]) -> &'t [u8] {
    let len = |text: &[u8]| memchr::memchr(b'\n', text).unwrap_or(text.len());
    let cut = len(text).saturating_sub(len(bare));
    text.get(..cut).unwrap_or_default()
}

/// Returns a text without the guides that `rich` draws before nested values: `│   │   'a': 1`.
pub(super) fn without_guides(text: &[u8]) -> Cow<'_, [u8]> {
    const GUIDE: &[u8] = "│   ".as_bytes();
    let has_guide = text
        .split(|&c| c == b'\n')
        .skip(1)
        .any(|line| line.starts_with(GUIDE));
    if !has_guide {
        return Cow::Borrowed(text);
    }
    let mut bare = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|&c| c == b'\n') {
        let mut rest = line;
        while let Some(after) = rest.strip_prefix(GUIDE) {
            rest = after;
        }
        bare.extend_from_slice(rest);
    }
    Cow::Owned(bare)
}

/// Where the text after the number of each line begins, if the numbers follow each other.
fn numbered(lines: &[&[u8]]) -> Option<Vec<usize>> {
    let mut wanted: Option<u64> = None;
    let mut mark: Option<&[u8]> = None;
    lines
        .iter()
        .map(|line| {
            let blanks = line.iter().take_while(|&&c| c == b' ').count();
            let digits = line.get(blanks..)?;
            let len = digits.iter().take_while(|c| c.is_ascii_digit()).count();
            let (digits, rest) = digits.split_at_checked(len)?;
            let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
            let is_next = wanted.is_none_or(|wanted| wanted == number);
            wanted = Some(number.checked_add(1)?);
            let marks: [&[u8]; 7] = [b"\t", b": ", b":", b" | ", b" \xe2\x94\x82 ", b" ", b""];
            let found = *mark.get_or_insert(marks.into_iter().find(|mark| rest.starts_with(mark))?);
            // An editor leaves out a blank at the end of a line.
            let has_mark = rest.starts_with(found) || rest == found.trim_ascii_end();
            (is_next && has_mark && !found.is_empty()).then_some(blanks + len + found.len())
        })
        .collect()
}

/// Where each line begins after the text that all of them begin with; digits may differ.
fn same_beginning(lines: &[&[u8]]) -> Option<Vec<usize>> {
    let (first, others) = lines.split_first()?;
    let start = first.iter().position(|c| b"{[".contains(c))?;
    // A bracket may be around a name.
    let start = match first.get(start..)?.iter().position(|&c| c == b'{') {
        Some(next) => start + next,
        None => start,
    };
    let is_same = |a: u8, b: u8| a == b || a.is_ascii_digit() && b.is_ascii_digit();
    let mut len = start.min(MAX_COLUMN);
    for line in others.iter().filter(|line| !line.is_empty()) {
        let pairs = first.iter().zip(line.iter());
        len = len.min(pairs.take_while(|&(&a, &b)| is_same(a, b)).count());
    }
    let column = first.get(..len)?;
    // A part of a word is the beginning of two different words.
    let end = column.iter().rposition(|c| !c.is_ascii_alphanumeric())? + 1;
    let column = column.get(..end)?;
    let has_name = column.iter().any(u8::is_ascii_alphanumeric);
    let is_comment = [&b"#"[..], b"//", b"*", b"--", b";"].contains(&column.trim_ascii());
    (has_name || is_comment).then(|| vec![end; lines.len()])
}

/// Joins lines that were broken at a fixed width, or at blanks; a column at the right end and the margin are left out.
/// Nothing is left of rows of a table, whose borders would become text. `width`: that of the lines, if the text has shown it.
pub(super) fn unwrapped(text: &[u8], width: Option<usize>) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split(|&c| c == b'\n').collect();
    let bar = |line: &&[u8]| line.starts_with("│".as_bytes()) || line.starts_with(b"|");
    if lines.iter().skip(1).any(bar) {
        return Vec::new();
    }
    let width = cut_right(&mut lines).or(width);
    let folds = folds(&lines, width);
    let (last, before) = lines
        .split_last()
        .map_or((&b""[..], &[][..]), |(last, before)| (*last, before));
    // A break at a width may be before one blank; more of them fill the line. `fold` counts bytes.
    let is_broken_at = |width_of: &dyn Fn(&[u8]) -> usize| {
        let width = lines.first().map_or(0, |line| width_of(line));
        let is_full =
            |line: &&[u8]| width_of(line) == width && width_of(line.trim_ascii_end()) + 1 >= width;
        before.iter().all(is_full) && width_of(last.trim_ascii_end()) <= width
    };
    let blanks = |line: &&[u8]| line.iter().take_while(|&&c| c == b' ').count();
    let margin = lines
        .iter()
        .skip(1)
        .filter(|line| !line.is_empty())
        .map(blanks)
        .min();
    let margin = margin.filter(|&margin| margin > 1).unwrap_or(0);
    // One break shows no width; YAML breaks the text in quotes behind a key, or of an item, at blanks.
    let first = lines.first().copied().unwrap_or_default();
    let has = |start: &[u8]| memchr::memmem::find(first, start).is_some();
    let is_folded = lines.len() == 2 && (has(b": '{") || has(b"- '{"));
    let is_fixed =
        !is_folded && (is_broken_at(&chars) || is_broken_at(&<[u8]>::len)) || keeps_blanks(before);
    let widest = lines.iter().map(|line| chars(line.trim_ascii_end())).max();
    let room = width.or(widest).unwrap_or_default().saturating_sub(margin);
    for line in lines.iter_mut().skip(1) {
        *line = line.get(margin..).unwrap_or_default();
    }
    if is_fixed {
        lines.concat()
    } else {
        joined_at_blanks(&lines, &folds, (margin, room)).unwrap_or_default()
    }
}

/// Returns `true` for lines as `fold -s` writes them: each ends with the blank at which it was broken, or is full.
fn keeps_blanks(lines: &[&[u8]]) -> bool {
    let ends_with_blank = |line: &&&[u8]| line.ends_with(b" ") && !line.ends_with(b"  ");
    let blanks = lines.iter().filter(ends_with_blank).count();
    let widest = lines.iter().map(|line| line.len()).max();
    let is_whole = |line: &&[u8]| ends_with_blank(&line) || Some(line.len()) == widest;
    // Lines that are padded have one width.
    let is_padded = lines.iter().all(|line| Some(line.len()) == widest);
    blanks > 0 && !is_padded && lines.iter().all(is_whole)
}

/// The number of characters of a line.
fn chars(line: &[u8]) -> usize {
    String::from_utf8_lossy(line).chars().count()
}

/// Returns for each line if it was broken inside a word, which is longer than the width: `rich` breaks other lines at blanks.
/// Its lines are all filled up to the right margin.
fn folds(lines: &[&[u8]], width: Option<usize>) -> Vec<bool> {
    let widest = lines.iter().map(|line| chars(line.trim_ascii_end())).max();
    let is_full = |line: &&[u8], width: Option<usize>| {
        let bare = line.trim_ascii_end();
        let is_word = !bare.trim_ascii_start().contains(&b' ');
        is_word && Some(chars(bare)) == width
    };
    // Some characters are as wide as two.
    let first = lines.first().map(|line| chars(line));
    let count = lines.iter().filter(|line| Some(chars(line)) == first);
    let are_alike = count.count() * 4 >= lines.len() * 3;
    let is_padded = |line: &&[u8]| line.ends_with(b" ");
    // Other lines are padded to the width of these.
    let is_filled = are_alike && lines.iter().any(is_padded);
    let are_words = lines.iter().filter(|line| is_full(line, widest)).count() > 1;
    let are_padded = are_alike && lines.iter().all(is_padded);
    // A place at the right end shows the width, or the blanks do; otherwise two words that fill their lines show it.
    let width = width
        .or(first.filter(|_| is_filled && !are_padded))
        .or(widest.filter(|_| are_words && are_padded));
    lines.iter().map(|line| is_full(line, width)).collect()
}

/// Joins lines that were broken at blanks; `None` if a line inside a text has room for the word that follows, so that it
/// was broken at another place. `room`: the characters of a full line without the margin, which only the first line still has.
fn joined_at_blanks(
    lines: &[&[u8]],
    folds: &[bool],
    (margin, room): (usize, usize),
) -> Option<Vec<u8>> {
    let mut joined = Vec::new();
    let mut balance = Balance::default();
    let mut is_open = false;
    for (n, line) in lines.iter().enumerate() {
        let bare = line.trim_ascii_end();
        let start = if is_open {
            Some(0)
        } else {
            memchr::memchr(b'{', bare)
        };
        if let Some(start) = start {
            is_open = true;
            balance.add(bare.get(start..)?);
        }
        joined.extend_from_slice(bare);
        if folds.get(n) == Some(&true) {
            continue;
        }
        joined.push(b' ');
        let Some(next) = lines.get(n + 1).filter(|_| balance.is_in_string()) else {
            continue;
        };
        let word = next.split(u8::is_ascii_whitespace).next()?;
        let has_blank = bare.len() < line.len() || word.is_empty();
        // The blank at the end of a line is a part of the text.
        let before = if n == 0 { margin } else { 0 };
        if !has_blank && chars(bare) + 1 + chars(word) <= before + room {
            return None;
        }
        balance.add(b" ");
    }
    Some(joined)
}

/// Removes `client.py:20` at the right end of all lines, or of the first one. Returns the number of characters before it.
fn cut_right(lines: &mut [&[u8]]) -> Option<usize> {
    let first = width_before_place(lines.first()?)?;
    let mut others = lines
        .iter()
        .skip(1)
        .filter_map(|line| width_before_place(line));
    if !others.all(|other| other == first) {
        return None;
    }
    for line in lines {
        let text = String::from_utf8_lossy(line);
        let end = text.char_indices().nth(first).map(|(at, _)| at);
        *line = end.and_then(|end| line.get(..end)).unwrap_or(line);
    }
    Some(first)
}

/// The number of characters before the place at the end of a line. One blank is between the columns.
pub(super) fn width_before_place(line: &[u8]) -> Option<usize> {
    let before = line.get(..place_at_end(line)?)?;
    Some(chars(before).saturating_sub(1))
}

/// Where a file with the number of a line begins, which is the last word of a line.
pub(super) fn place_at_end(line: &[u8]) -> Option<usize> {
    let line = line.trim_ascii_end();
    let at = line.iter().rposition(u8::is_ascii_whitespace)? + 1;
    let word = line.get(at..)?;
    let colon = word.iter().rposition(|&c| c == b':')?;
    let (name, number) = word.split_at_checked(colon)?;
    let number = number.get(1..)?;
    let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    let is_name = |c: &u8| c.is_ascii_alphanumeric() || b"._-/<>".contains(c);
    let is_file = name.contains(&b'.') || name.starts_with(b"<");
    (is_number && is_file && name.iter().all(is_name)).then_some(at)
}

/// Returns the two versions of a text that a diff shows.
pub(super) fn versions(text: &[u8]) -> Option<[Vec<u8>; 2]> {
    let lines = || text.split(|&c| c == b'\n');
    let is_line = |line: &[u8]| matches!(line.first(), None | Some(b' ' | b'+' | b'-'));
    let is_change = |line: &[u8]| matches!(line.first(), Some(b'+' | b'-'));
    if !lines().all(is_line) || !lines().any(is_change) {
        return None;
    }
    // Jest and unittest write a blank behind each mark.
    let is_wide = |line: &[u8]| matches!(line.get(1), None | Some(b' '));
    let marks = if lines().all(is_wide) { 2 } else { 1 };
    Some([b'-', b'+'].map(|mark| {
        let mut version = Vec::with_capacity(text.len());
        for line in lines() {
            if line.first().is_some_and(|&c| c == b' ' || c == mark) {
                version.extend_from_slice(line.get(marks..).unwrap_or_default());
                version.push(b'\n');
            }
        }
        version
    }))
}

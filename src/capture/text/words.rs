//! The words that objects begin with: lines that cannot be read may begin as messages do.

use super::finder::is_json;

/// The bytes of a line in which an object may begin.
const MAX_BEGINNING: usize = 1 << 10;

/// The word that an object begins with: `{"id": 1}`, `[id => 1]`.
pub(super) fn first_word(object: &[u8]) -> Option<&[u8]> {
    let is_word = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_';
    let start = object.iter().position(is_word)?;
    let marks = object.get(..start)?;
    let text = object.get(start..)?;
    let len = text.iter().take_while(|c| is_word(c)).count();
    let is_beginning = marks.iter().all(|c| b"{[(<:\"' ".contains(c));
    let (word, after) = text.split_at_checked(len)?;
    let end = after.iter().position(|c| !b"\"'>]".contains(c))?;
    let value = after.get(end..)?.trim_ascii_start();
    let has_value = matches!(value.first(), Some(b':' | b'=' | b'"'));
    (is_beginning && len >= 4 && has_value).then_some(word)
}

/// The words that objects of a line begin with, and the line itself; none if it is JSON.
pub(super) fn beginnings(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line = line.trim_ascii();
    let line = line.get(..MAX_BEGINNING).unwrap_or(line);
    let brackets = line
        .iter()
        .enumerate()
        .filter(|(_, c)| b"{[(".contains(c))
        .map(|(at, _)| at);
    let starts = brackets.filter(|at| !is_json(line.get(*at..).unwrap_or_default()));
    let is_member = matches!(line.first(), Some(b'"' | b'\''));
    let whole = is_member.then_some(0);
    whole
        .into_iter()
        .chain(starts)
        .take(8)
        .filter_map(|at| first_word(line.get(at..)?))
}

//! Messages of which the program that printed them left out a part.
//!
//! ```text
//!   -> {"jsonrpc": "2.0", "id": 7, "method": "tools/ca...                       the end
//!   > TEXT '{"jsonrpc": "2.0", "id": 7, "meth...ne": null}}}' [185 bytes]       the middle
//!   -> {"jsonrpc": "2.0", "id": 7, "method"                                     the end, without a mark
//! ```
//!
//! A text with a mark that is a whole message by itself is one: people write `...`, too.

use super::objects::completed;
use crate::capture::chunk::{InputPlace, Problem};
use std::collections::BTreeSet;

/// What programs print in place of what they leave out.
const MARKS: [&str; 10] = [
    "...",
    "…",
    "[truncated",
    "<truncated",
    "(truncated",
    "[snip",
    "<snip",
    "[cut",
    "<cut",
    // unittest: `[1028 chars]`.
    " chars]",
];
/// The places in a text where a message may begin that are tried.
const MAX_STARTS: usize = 8;
/// The marks behind one place that are tried.
const MAX_MARKS: usize = 4;
/// The bytes of a message that are examined.
const MAX_EXAMINED: usize = 4 << 10;

/// The beginning of a message, completed as JSON, and the mark where it was cut.
pub(super) struct Beginning {
    pub json: Vec<u8>,
    pub mark: Option<&'static str>,
}

/// Returns what may be the beginnings of cut messages in a text.
pub(super) fn beginnings(text: &[u8]) -> impl Iterator<Item = Beginning> {
    let starts = memchr::memchr_iter(b'{', text).take(MAX_STARTS);
    starts.flat_map(|start| {
        let object = text.get(start..).unwrap_or_default();
        let near = object.get(..MAX_EXAMINED).unwrap_or(object);
        let at_marks = marks(near)
            .take(MAX_MARKS)
            .filter_map(|(at, mark)| Some((near.get(..at)?.trim_ascii_end(), Some(mark))));
        let all = at_marks.chain([(object, None)]);
        all.flat_map(|(head, mark)| {
            let whole = completed(head).into_iter().flatten();
            whole.map(move |json| Beginning { json, mark })
        })
    })
}

/// The marks of a text, and where they are.
fn marks(text: &[u8]) -> impl Iterator<Item = (usize, &'static str)> {
    let mut places: Vec<_> = MARKS
        .iter()
        .flat_map(|mark| memchr::memmem::find_iter(text, *mark).map(move |at| (at, *mark)))
        .collect();
    places.sort_unstable();
    places.into_iter()
}

/// Returns the first mark of a text.
pub(super) fn first_mark(text: &[u8]) -> Option<&'static str> {
    marks(text).next().map(|(_, mark)| mark)
}

/// Returns true if an object of a text, which can be read, has a mark inside, and the text behind it closes a bracket that
/// nothing opens: the bracket was opened in the part that is left out.
pub(super) fn lacks_its_middle(text: &[u8], (start, end): (usize, usize)) -> bool {
    let parts = || Some((text.get(..start)?, text.get(start..end)?, text.get(end..)?));
    let Some((before, object, after)) = parts() else {
        return false;
    };
    let Some(close @ (b'}' | b']')) = after.trim_ascii_start().first() else {
        return false;
    };
    let open = if *close == b'}' { b'{' } else { b'[' };
    let count = |c: u8| memchr::memchr_iter(c, before).count();
    count(open) <= count(*close) && first_mark(object).is_some()
}

/// Returns true if a log states behind a message that it is longer: `' [431 bytes]`.
pub(super) fn is_longer(message: &[u8], after: &[u8]) -> bool {
    stated_len(after).is_some_and(|len| len > message.len() as u64)
}

/// Returns true for a binary frame whose middle Python's websockets leaves out: `> BINARY 85 a7 ... 02 03 [65 bytes]`.
pub(super) fn is_cut_frame(line: &[u8]) -> bool {
    let shown = || {
        let start = memchr::memmem::find(line, b" BINARY ")?;
        let bytes = line.get(start + b" BINARY ".len()..)?;
        let end = memchr::memmem::find(bytes, b" [")?;
        bytes.get(..end)
    };
    let is_byte = |word: &[u8]| word.len() == 2 && word.iter().all(u8::is_ascii_hexdigit);
    shown().is_some_and(|shown| {
        let mut words = shown.split(|&c| c == b' ');
        let has_dots = memchr::memmem::find(shown, b" ... ").is_some();
        has_dots && words.all(|word| is_byte(word) || word == b"...")
    })
}

/// The length of a message that a log states after it: `' [431 bytes]`.
fn stated_len(after: &[u8]) -> Option<u64> {
    let is_quote = |c: &u8| c.is_ascii_whitespace() || b"'\"".contains(c);
    let start = after.iter().position(|c| !is_quote(c))?;
    let number = after.get(start..)?.strip_prefix(b"[")?;
    let end = memchr::memmem::find(number, b" bytes]")?;
    std::str::from_utf8(number.get(..end)?).ok()?.parse().ok()
}

/// The cut messages of a text.
#[derive(Default)]
pub(super) struct CutMessages {
    count: u64,
    /// The line of the first one.
    line: u64,
    mark: Option<&'static str>,
    protocols: BTreeSet<&'static str>,
    /// Lines end as Python's websockets writes them: `[185 bytes]`.
    states_lengths: bool,
}

impl CutMessages {
    /// Adds the cut message of a text, which begins at a line.
    pub(super) fn add(
        &mut self,
        (text, line): (&[u8], u64),
        mark: Option<&'static str>,
        protocol: Option<&'static str>,
    ) {
        if self.count == 0 {
            self.line = line;
        }
        self.count += 1;
        self.mark = self.mark.or(mark);
        self.states_lengths |= text.trim_ascii_end().ends_with(b" bytes]");
        self.protocols.extend(protocol);
    }

    /// Returns the sentence about them, if there are any. `has_messages`: the text has whole ones too.
    pub(super) fn problem(&self, has_messages: bool) -> Option<Problem> {
        let mut names = self.protocols.iter();
        let protocol = match (names.next(), names.next()) {
            (Some(name), None) => format!(" of {name}"),
            _ => String::new(),
        };
        let at = self
            .mark
            .map_or(String::new(), |mark| format!(" at \"{mark}\""));
        let text = match self.count {
            0 => return None,
            1 => format!(
                "this begins like a message{protocol}, but the program that printed it cut it{at}: it is not shown"
            ),
            count => format!(
                "{count} lines begin like messages{protocol}, but the program that printed them cut them{at}: they are not shown; the first is here"
            ),
        };
        let hint = if self.states_lengths {
            "Python's websockets prints whole messages with WEBSOCKETS_MAX_LOG_SIZE=1000000; wiretool proxy -w FILE.jsonl records them"
        } else {
            "print whole messages, or record them: wiretool proxy -w FILE.jsonl"
        };
        let place = InputPlace::Line(self.line);
        let problem = if has_messages {
            Problem::note(place, text)
        } else {
            Problem::unreadable(place, text)
        };
        Some(problem.hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_frames_are_cut() {
        for (line, want) in [
            ("a < BINARY 85 a7 ... 02 03 [65 bytes]", true),
            ("a < BINARY 85 a7 02 03 [4 bytes]", false),
            ("a < TEXT '{ ... }' [65 bytes]", false),
            ("a < BINARY file ... is [65 bytes]", false),
        ] {
            assert_eq!(is_cut_frame(line.as_bytes()), want, "{line}");
        }
    }

    #[test]
    fn an_object_lacks_its_middle_if_more_brackets_close_than_open() {
        let object = r#"{"id":1,"m":"ab...c"}"#;
        for (before, after, want) in [
            ("", "}", true),
            ("[12:00] -> ", "}]}", true),
            ("a:77] -> '", "}' [9 bytes]", true),
            ("", "", false),
            ("{\"all\":[", "]}", false),
            ("f(", ")", false),
            ("x={m: ", " }", false),
        ] {
            let text = [before, object, after].concat();
            let place = (before.len(), before.len() + object.len());
            assert_eq!(lacks_its_middle(text.as_bytes(), place), want, "{text}");
        }
        let plain = b"{\"id\":1}}";
        assert!(!lacks_its_middle(plain, (0, plain.len() - 1)));
    }
}

//! Text in which bytes or messages are shown. Several readings may be possible; the one that gives whole messages wins.
//!
//! ```text
//!   text --> readings: log        messages in JSON in lines, logs of editors, objects as programs print them
//!                      dump       rows of numbers, in any base and order of bytes
//!                      hex        the longest run of hex of each line
//!                      literal    lists of numbers, strings with escapes
//!                      base64     the longest run of Base64 of each line
//!                      raw        the text itself
//!        --> each is decoded --> the best one reads the text
//! ```
//!
//! The readings are tried after 1, 2, 4, 8 ... lines, until one gives messages without faults; at last after
//! [`HOLD_LIMIT`] bytes or at the end. From then on the text is not held.

mod arrays;
mod bare;
mod broken;
mod call_log;
mod cast;
mod clean;
mod columns;
mod container;
mod cut;
mod directions;
mod doubtful;
mod escapes;
mod fields;
mod finder;
mod found;
mod golang;
mod leaves;
mod line;
mod literal;
mod log;
mod loose;
mod marks;
mod neovim;
mod objects;
mod order;
#[cfg(feature = "pcap")]
mod packets_inside;
mod percent;
mod probe;
mod readings;
mod rows;
mod runs;
mod scalars;
mod shown;
mod strings;
mod tables;
mod times;
mod trace;
mod unbracketed;
mod unpacked;
mod words;

use super::chunk::{Chunk, InputPlace, Item, ItemSink, Problem};
use super::form::{Form, FormReader, FormVerdict};
use super::lines::{LineForm, Lines};
use super::pasted::{is_native, is_pasted, is_unchunked};
use crate::protocol::Direction;
use bare::{has_bare_message, has_only_cut_messages, has_only_indented_messages};
use call_log::{CallLog, CallLogKind};
use directions::{is_direction_line, is_request_line};
use finder::Finder;
use line::introduces_quotation;
pub(super) use loose::{detect_loose, shows_bytes};
use marks::QUOTED_HEADER;
pub(super) use probe::{Expected, sender};
use probe::{Probe, Score};
use readings::{READINGS, Reading, ReadingKind};

/// The bytes of text that are held until a reading is chosen.
const HOLD_LIMIT: usize = 256 << 10;

/// The bytes of a first line that are held if its beginning shows no reading: its message may be long.
const MAX_FIRST_LINE: usize = 16 << 20;

/// The bytes of text after which a stream with faults in most lines is no longer doubted.
const MAX_DOUBTFUL: usize = 8 << 10;

/// Returns true if bytes begin as a message does, or as the header before one.
pub(super) fn begins_with_message(bytes: &[u8]) -> bool {
    let mut finder = Finder::default();
    match bytes.trim_ascii_start().first() {
        Some(b'{' | b'[') => finder.has_message(bytes) || finder.cut_message(bytes).is_some(),
        Some(b'C') => bytes.starts_with(b"Content-Length: "),
        _ => is_native(bytes),
    }
}

impl Reading {
    fn score(&self, expected: Expected, text: &[u8], how: Attempt) -> Score {
        let mut probe = Probe::new(expected);
        match self.kind.reader(how.quoted, expected) {
            None => probe.item(&Item::Chunk(Chunk::of(None, text))),
            Some(form) => {
                let mut lines = Lines::new(form);
                lines.push(text, &mut |item| probe.item(&item));
                // Rows and packets hold the last one back until the next, and a log holds lines: other readings would be
                // complete earlier.
                if how.last || self.kind.holds_back() {
                    lines.finish(&mut |item| probe.item(&item));
                }
            }
        }
        probe.finish(how.ended)
    }
}

/// How a text is tried.
#[derive(Clone, Copy)]
struct Attempt {
    quoted: bool,
    /// The text ends here.
    ended: bool,
    /// The choice cannot wait.
    last: bool,
}

/// Returns true if a text is hardly a stream of messages: other text is around them, or most of it is none, and no line is
/// one.
fn is_doubtful(score: Score, text: &[u8]) -> bool {
    is_list_of_values(text)
        || memchr::memmem::find(text, QUOTED_HEADER).is_some()
        || score.faults > score.whole && has_only_cut_messages(text)
        || text.len() <= MAX_DOUBTFUL && is_shown(text)
        || score.faults > score.whole
            && score.faults > 2
            && text.len() <= MAX_DOUBTFUL
            && !has_bare_message(text)
}

/// Returns true if lines show that messages were copied out of something else, if directions alone are between them, or if the
/// messages are indented below other lines.
fn is_shown(text: &[u8]) -> bool {
    let lines = || text.split(|&c| c == b'\n').map(<[u8]>::trim_ascii);
    let is_other = |line: &&[u8]| !line.is_empty() && !matches!(line.first(), Some(b'{' | b'['));
    let others = || lines().filter(is_other);
    is_pasted(text)
        || others().next().is_some()
            && (others().all(is_direction_line) || has_only_indented_messages(text))
}

/// Returns true if later lines do not change what is known about the directions.
fn is_settled(score: Score) -> bool {
    let is_compared = !score.directed || score.whole > 1;
    is_compared && score.wrong == 0 || score.has_both_ways()
}

/// Returns true if a text begins with a list whose first element is a text or a number: no batch begins so.
fn is_list_of_values(text: &[u8]) -> bool {
    let list = text.trim_ascii_start().strip_prefix(b"[");
    let first = list.and_then(|list| list.trim_ascii_start().first());
    first.is_some_and(|c| c.is_ascii_digit() || *c == b'"')
}

/// The lines after which marks that only point in one direction are those of a quotation.
const MAX_ONE_SIDED: usize = 64;

/// Says if `>` at the beginning of lines is the mark of a quotation, as in mail; `None` if the lines that follow may tell.
fn is_quoted(text: &[u8], last: bool) -> Option<bool> {
    let (mut has_mark, mut is_introduced, mut count) = (false, false, 0);
    for line in text.split(|&c| c == b'\n') {
        let line = line.trim_ascii();
        count += 1;
        match line.first() {
            None => continue,
            Some(b'>') if is_introduced => return Some(true),
            Some(b'>') if is_request_line(line) => return Some(false),
            Some(b'>') => has_mark = true,
            Some(b'<') => return Some(false),
            Some(_) => {}
        }
        is_introduced = introduces_quotation(line);
    }
    (last || !has_mark || count > MAX_ONE_SIDED).then_some(has_mark)
}

/// Reads text in the best way.
pub(super) struct Text {
    /// The form that the user asked for.
    wanted: Option<Form>,
    /// The form without evidence for another.
    otherwise: Form,
    /// The protocol that the user named.
    expected: Expected,
    state: TextState,
    /// The beginning of a long first line shows no reading.
    has_tried_beginning: bool,
    /// Later lines show that messages were copied out of something else.
    is_pasted: bool,
    chosen: Option<(Form, String)>,
    corrected: Corrected,
}

/// What happens to the directions of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Corrected {
    No,
    /// They are those of a server, which prints what it receives.
    Turned,
    /// All messages have the same one.
    Dropped,
}

impl Corrected {
    fn of(score: Score) -> (Self, &'static str) {
        if score.is_one_way() {
            let text = "the text gives the messages of both sides the same direction: they are shown without one";
            (Self::Dropped, text)
        } else if score.is_reversed() {
            let text = "the directions are those of the server, which receives what a client sends: all are turned round";
            (Self::Turned, text)
        } else if score.has_only_answers_of_client() {
            let text =
                "the text has only answers, which a server sends: all directions are turned round";
            (Self::Turned, text)
        } else {
            (Self::No, "")
        }
    }

    /// Corrects the direction of an item.
    fn apply(self, mut item: Item<'_>) -> Item<'_> {
        let direction = match &mut item {
            Item::Chunk(chunk) => &mut chunk.direction,
            Item::Gap(gap) => &mut gap.direction,
            _ => return item,
        };
        *direction = direction
            .filter(|_| self == Self::Turned)
            .map(Direction::other);
        item
    }
}

enum TextState {
    /// The text so far, and the number of lines after which the readings are tried next.
    Held(Vec<u8>, usize),
    Raw,
    Lines(Lines<Box<dyn LineForm>>),
}

impl Text {
    /// Creates a reader that tries the readings of one form, or all of them.
    pub(super) fn new(wanted: Option<Form>, otherwise: Form) -> Self {
        Self {
            wanted,
            otherwise,
            expected: None,
            state: TextState::Held(Vec::new(), 1),
            has_tried_beginning: false,
            is_pasted: false,
            chosen: None,
            corrected: Corrected::No,
        }
    }

    /// Chooses the best reading of a text; `last` if the choice cannot wait.
    fn choose(
        &self,
        text: &[u8],
        ended: bool,
        last: bool,
    ) -> Option<(&'static Reading, bool, Score)> {
        let quoted = is_quoted(text, last)?;
        let mut best: Option<(&Reading, Score)> = None;
        // A framing reads the text itself; that is not known yet.
        let (mut has_stream, mut is_open) = (false, false);
        for reading in READINGS {
            let is_wanted = self.wanted.is_none_or(|form| form == reading.form);
            if !is_wanted {
                continue;
            }
            let how = Attempt {
                quoted,
                ended,
                last,
            };
            let score = reading.score(self.expected, text, how);
            // Nothing marks these lines as a log: other lines are errors in a stream.
            has_stream |= reading.form == Form::Raw && score.whole > 0;
            is_open |= reading.form == Form::Raw && score.is_undecided();
            if reading.form == Form::Log
                && !score.directed
                && (has_stream || is_open)
                && self.wanted.is_none()
                && score.is_sure()
                && has_bare_message(text)
                && !self.is_pasted
                && !is_shown(text)
            {
                if is_open && !last {
                    return None;
                }
                // Without a name, a stream in which no message is found yet has none in the end.
                if has_stream || self.expected.is_some() {
                    let raw = READINGS.iter().find(|reading| reading.form == Form::Raw)?;
                    return Some((raw, quoted, score));
                }
            }
            if best
                .as_ref()
                .is_none_or(|(_, most)| score.rank() > most.rank())
            {
                best = Some((reading, score));
            }
            // Messages in the text itself need no other reading.
            let is_stream = score.whole > 0 || last && score.detected;
            if reading.form == Form::Raw
                && is_stream
                && !self.is_pasted
                && !is_doubtful(score, text)
                || reading.form == Form::Log && score.is_sure()
            {
                return Some((reading, quoted, score));
            }
        }
        let (best, score) = best?;
        (last || score.is_sure()).then_some((best, quoted, score))
    }

    /// Chooses the reading of a text of [`HOLD_LIMIT`]. A first line that is longer, and whose beginning shows no reading, is
    /// awaited.
    fn choose_at_limit(&mut self) -> Option<(&'static Reading, bool, Score)> {
        let TextState::Held(held, _) = &self.state else {
            return None;
        };
        let first = memchr::memchr(b'\n', held).map(|end| end + 1);
        let is_long = first.is_none_or(|end| end > HOLD_LIMIT);
        if !self.has_tried_beginning {
            let chosen = self.choose(held.get(..HOLD_LIMIT).unwrap_or(held), false, true);
            let is_found = |score: Score| score.is_any() || score.is_truncated();
            if !is_long || chosen.is_some_and(|(.., score)| is_found(score)) {
                return chosen;
            }
        }
        let is_whole = first.is_some() || held.len() >= MAX_FIRST_LINE;
        let len = first.unwrap_or(held.len()).min(MAX_FIRST_LINE);
        let line = held.get(..len).filter(|_| is_whole);
        let chosen = line.and_then(|line| self.choose(line, false, true));
        self.has_tried_beginning = true;
        chosen
    }

    fn settle(
        &mut self,
        (reading, quoted, score): (&'static Reading, bool, Score),
        sink: &mut ItemSink<'_>,
    ) {
        let TextState::Held(held, _) = &mut self.state else {
            return;
        };
        let held = std::mem::take(held);
        let expected = self.expected;
        let is_found = score.is_any() || score.is_truncated();
        let form = self.wanted.unwrap_or(self.otherwise);
        let fallback = || {
            let mut readings = READINGS.iter().filter(|r| r.form == form);
            // Rows of words are more likely than groups of bytes where the columns are not plain bytes.
            let words = readings.clone().skip(1).find(|r| {
                let how = Attempt {
                    quoted,
                    ended: true,
                    last: true,
                };
                let score = r.score(expected, &held, how);
                score.bytes > 0 && score.problems == 0
            });
            words.or(readings.next()).unwrap_or(reading)
        };
        let is_free = !is_found && self.wanted.is_none();
        if let Some(kind) = CallLogKind::of(&held).filter(|_| is_free) {
            self.chosen = Some((
                Form::Unreadable,
                "it shows messages without their bytes".into(),
            ));
            let log: Box<dyn LineForm> = Box::new(CallLog { kind, ignored: 0 });
            self.state = TextState::Lines(Lines::new(log));
            return self.push(&held, sink);
        }
        let is_cut = self.wanted.is_none()
            && score.whole == 0
            && !score.is_truncated()
            && has_only_cut_messages(&held);
        let log = READINGS
            .iter()
            .find(|one| matches!(one.kind, ReadingKind::Log));
        let reading = match log.filter(|_| is_cut) {
            Some(log) => log,
            None if is_found => reading,
            None => fallback(),
        };
        let evidence = match (is_found, reading.form) {
            _ if is_cut => "its lines begin like messages".into(),
            (true, Form::Raw) => "the text itself contains messages".into(),
            (true, _) if score.whole == 0 => {
                format!("{}: they give the beginning of a message", reading.name)
            }
            (true, _) => format!("{}: they give whole messages", reading.name),
            (false, Form::Raw) => {
                "it is neither a recording, decoded JSON, a dump, base64 nor a log with messages"
                    .into()
            }
            (false, _) => format!("{}, but no reading gives messages", reading.name),
        };
        self.chosen = Some((reading.form, evidence));
        self.state = match reading.kind.reader(quoted, expected) {
            None => TextState::Raw,
            Some(form) => TextState::Lines(Lines::new(form)),
        };
        if reading.form == Form::Log
            && is_unchunked(held.trim_ascii_start()) == FormVerdict::Yes(())
        {
            let text = "the head says that the body is in chunks, which the text does not have: curl -i leaves them out";
            Problem::note(InputPlace::Whole, text).report(sink);
        }
        let text;
        (self.corrected, text) = Corrected::of(score);
        if self.corrected != Corrected::No {
            Problem::note(InputPlace::Whole, text).report(sink);
        }
        self.push(&held, sink);
    }
}

impl FormReader for Text {
    fn expect(&mut self, protocol: Expected) {
        self.expected = protocol;
    }

    fn set_pasted(&mut self, is_pasted: bool) {
        self.is_pasted = is_pasted;
    }

    fn push(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        let (held, next) = match &mut self.state {
            TextState::Raw => return sink(Item::Chunk(Chunk::of(None, bytes))),
            TextState::Lines(lines) if self.corrected != Corrected::No => {
                return lines.push(bytes, &mut |item| sink(self.corrected.apply(item)));
            }
            TextState::Lines(lines) => return lines.push(bytes, sink),
            TextState::Held(held, next) => (held, next),
        };
        held.extend_from_slice(bytes);
        let mut after = *next;
        let chosen = loop {
            let TextState::Held(held, _) = &self.state else {
                return;
            };
            let view = held.get(..HOLD_LIMIT).unwrap_or(held);
            let end = memchr::memchr_iter(b'\n', view).nth(after - 1);
            let lines = end.and_then(|end| view.get(..=end));
            if let Some(lines) = lines {
                after *= 2;
                if let Some(chosen) = self.choose(lines, false, false)
                    && (is_settled(chosen.2) || after > MAX_ONE_SIDED)
                {
                    break chosen;
                }
            } else if held.len() >= HOLD_LIMIT {
                match self.choose_at_limit() {
                    Some(chosen) => break chosen,
                    None => return,
                }
            } else {
                if let TextState::Held(_, next) = &mut self.state {
                    *next = after;
                }
                return;
            }
        };
        self.settle(chosen, sink);
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        if let TextState::Held(held, _) = &self.state
            && let Some(chosen) = self.choose(held, true, true)
        {
            self.settle(chosen, sink);
        }
        match &mut self.state {
            TextState::Lines(lines) if self.corrected != Corrected::No => {
                lines.finish(&mut |item| sink(self.corrected.apply(item)));
            }
            TextState::Lines(lines) => lines.finish(sink),
            TextState::Held(..) | TextState::Raw => {}
        }
    }

    fn ignored(&self) -> u64 {
        match &self.state {
            TextState::Lines(lines) => lines.ignored(),
            _ => 0,
        }
    }

    fn chosen(&self) -> Option<(Form, &str)> {
        let (form, evidence) = self.chosen.as_ref()?;
        Some((*form, evidence))
    }
}

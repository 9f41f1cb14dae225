//! Messages in the lines of a log, in JSON or as programs print objects, and in JSON and objects on several lines.
//!
//! ```text
//!   2026-11-22 10:13:52,659 DEBUG client: > TEXT '{"v":1}' [7 bytes]
//!   {"log":"{\"id\":0}\n","stream":"stdout","time":"2026-..."}       docker
//!   {"MESSAGE":[123,34,...],"__REALTIME_TIMESTAMP":"1795341141000000"}   journald
//!   2026-11-22T09:52:21Z stdout P {"id":            Kubernetes: P: the next line of the stream continues it
//!   [pod/a/b] {"id":0}    a-1  | {"id":0}           kubectl, docker compose
//!   2026-11-22T09:52:21Z recv {                     the following lines belong to it
//! ```
//!
//! Lines after an open bracket are held until it closes. If they show no message, each of them is read for itself.

use super::broken::BrokenLines;
use super::cast::{Cast, ShownLine};
use super::clean::{is_escaped, latin1_as_utf8, without_entities, without_outer_escapes};
use super::columns::{place_at_end, width_before_place};
use super::container::{Part, service};
use super::cut::{self, CutMessages};
use super::doubtful::Doubtful;
use super::fields::{Fields, HeldMessage};
use super::finder::Finder;
use super::found::{Found, FoundAll, is_in_frame, value_of};
use super::line::Common;
use super::marks::{Mark, indent};
use super::objects::{Balance, open_object};
use super::order::Order;
use super::probe::{Expected, exchange};
use super::shown::ShownText;
use super::tables::Tables;
use super::times::{find_clock, find_time, journald_time};
use super::words::{beginnings, first_word};
use crate::capture::chunk::{InputPlace, Item, ItemSink, Problem};
use crate::capture::lines::{Line, LineForm};
use crate::capture::time::Time;
use std::cell::LazyCell;
use std::collections::{BTreeMap, HashSet};

/// The most bytes of a message that several lines carry.
const MAX_PARTS: usize = 64 << 20;
/// The most bytes of lines that are held.
const MAX_HELD: usize = 16 << 20;
/// How often held lines are read again because their first bracket does not close.
const MAX_AGAIN: u32 = 8;
/// The most answers that wait for the framing of the text.
const MAX_WAITING: usize = 16;
/// The most words that are counted.
const MAX_WORDS: usize = 64;

#[derive(Default)]
pub(super) struct Log {
    common: Common,
    finder: Finder,
    /// The parts of an incomplete line, for stdout and stderr.
    parts: [Vec<u8>; 2],
    held: Option<Held>,
    cut: CutMessages,
    /// The first key of the first message.
    key: Vec<u8>,
    /// Words that begin objects in lines that are no JSON: the number of such lines, and the first one.
    words: BTreeMap<Vec<u8>, (u64, u64)>,
    /// The number of messages that stand alone in the text.
    alone: u64,
    /// The number of lines with several messages, and the first one.
    several: Option<(u64, u64)>,
    order: Order,
    fields: Fields,
    /// The first line that is not UTF-8.
    latin1: Option<u64>,
    /// The first messages, if they are answers: a later one shows if they have headers. `None` once that is known.
    waiting: Option<Vec<(Mark, Vec<u8>)>>,
    doubtful: Doubtful,
    /// There is something else than messages.
    has_other: bool,
    broken: BrokenLines,
    cast: Cast,
    tables: Tables,
    shown: ShownText,
    /// The number of the last line.
    last: u64,
    /// The message of the line before, which showed it inside the bytes of a frame.
    framed: Vec<u8>,
}

/// Lines after an open bracket.
struct Held {
    text: Vec<u8>,
    balance: Balance,
    /// The outermost bracket is that of a list.
    is_list: bool,
    origin: TextOrigin,
}

/// Where a text comes from.
#[derive(Clone, Copy)]
struct TextOrigin {
    /// Its first line.
    line: u64,
    /// When a container wrote it.
    time: Option<Time>,
    /// How often it was held before.
    again: u32,
}

impl Log {
    pub(super) fn new(quoted: bool, expected: Expected) -> Self {
        Self {
            common: Common::new(quoted),
            finder: Finder::new(expected),
            waiting: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Joins a part of a line with those before it; returns the line if this part ends it.
    fn join(&mut self, part: &Part<'_>, line: u64, sink: &mut ItemSink<'_>) -> Option<Vec<u8>> {
        let held = self.parts.get_mut(usize::from(part.is_stderr))?;
        if held.len() + part.text.len() > MAX_PARTS {
            held.clear();
            let text = format!("a line in parts is longer than the limit of {MAX_PARTS} bytes");
            Problem::error(InputPlace::Line(line), text).report(sink);
            return None;
        }
        held.extend_from_slice(&part.text);
        part.ends.then(|| std::mem::take(held))
    }

    /// Reads a line, without what a container wrote around it.
    fn text(&mut self, text: &[u8], origin: TextOrigin, sink: &mut ItemSink<'_>) {
        // Another service writes between the lines of a message.
        if let Some(held) = &self.held
            && let (Some(own), Some(other)) = (service(&held.text), service(text))
            && own != other
        {
            let mut all = self.find(text);
            all.open = None;
            return self.take(text, all, origin, sink);
        }
        while let Some(held) = self
            .held
            .take_if(|held| held.ends_before(text, &mut self.finder))
        {
            self.read_again(&held, sink);
        }
        let Some(held) = &mut self.held else {
            let all = self.find(text);
            return self.take(text, all, origin, sink);
        };
        held.text.push(b'\n');
        let start = held.text.len();
        held.text.extend_from_slice(text);
        let closed = held.balance.add(text);
        if closed.is_none() && held.text.len() <= MAX_HELD {
            return;
        }
        let Some(held) = self.held.take() else { return };
        // The next message may begin on the last line, and go on in the next one.
        let next = closed.and_then(|at| open_object(text, at));
        let end = next.map_or(held.text.len(), |at| start + at);
        let (whole, rest) = held.text.split_at_checked(end).unwrap_or_default();
        let all = if closed.is_some() {
            self.finder.in_lines(whole)
        } else {
            FoundAll::default()
        };
        if all.messages.is_empty() {
            return self.read_again(&held, sink);
        }
        self.take(whole, all, held.origin, sink);
        if !rest.is_empty() {
            let all = self.finder.find(rest);
            self.take(rest, all, origin, sink);
        }
    }

    /// Finds the messages of a line, or the beginning of one.
    fn find(&mut self, text: &[u8]) -> FoundAll {
        self.finder.width = width_before_place(text).or(self.finder.width);
        let mut all = self.finder.find(text);
        if all.messages.is_empty()
            && all.open.is_none()
            && let Some(line) = place_at_end(text).and_then(|at| text.get(..at))
        {
            // The place of the call is at the right end of the first line: `"params":      rt.py:8`.
            all.open = self.finder.find(line).open;
        }
        all
    }

    /// Emits what a text has, and holds what is not complete.
    fn take(&mut self, text: &[u8], all: FoundAll, origin: TextOrigin, sink: &mut ItemSink<'_>) {
        let is_other = all.messages.is_empty() && all.open.is_none();
        if is_other && !self.note_cut(text, origin.line) {
            self.other(text, origin.line, sink);
        }
        self.emit(text, all.messages, origin, sink);
        let Some(rest) = all.open.and_then(|start| text.get(start..)) else {
            return;
        };
        let mut balance = Balance::default();
        balance.add(rest);
        if balance.is_closed() || origin.again >= MAX_AGAIN {
            if !self.note_cut(text, origin.line) {
                self.other(text, origin.line, sink);
            }
            return;
        }
        self.held = Some(Held {
            text: text.to_vec(),
            balance,
            is_list: rest.first() == Some(&b'['),
            origin,
        });
    }

    /// Reads held lines again, each for itself.
    fn read_again(&mut self, held: &Held, sink: &mut ItemSink<'_>) {
        let end = memchr::memchr(b'\n', &held.text).unwrap_or(held.text.len());
        let first = held.text.get(..end).unwrap_or_default();
        // A message on several lines was cut.
        if self.finder.cut_message(first).is_none() && self.note_cut(&held.text, held.origin.line) {
            return;
        }
        let lines = held.text.split(|&c| c == b'\n');
        for (line, number) in lines.zip(held.origin.line..) {
            let origin = TextOrigin {
                line: number,
                again: held.origin.again + 1,
                ..held.origin
            };
            if number == held.origin.line {
                if !self.note_cut(line, number) {
                    self.other(line, number, sink);
                }
            } else {
                self.text(line, origin, sink);
            }
        }
    }

    /// Counts a text that is the beginning of a message.
    fn note_cut(&mut self, text: &[u8], line: u64) -> bool {
        if cut::is_cut_frame(text) {
            self.cut.add((text, line), Some("..."), None);
            return true;
        }
        let cut = self.finder.cut_message(text);
        if let Some(cut) = &cut {
            self.cut.add((text, line), cut.mark, cut.protocol);
        }
        cut.is_some()
    }

    fn other(&mut self, text: &[u8], line: u64, sink: &mut ItemSink<'_>) {
        self.has_other |= !text.trim_ascii().is_empty();
        let is_direction = self.fields.read(text);
        let complete = self.fields.release_complete();
        self.pass_held(complete, sink);
        if is_direction {
            return;
        }
        for word in beginnings(text) {
            if let Some((count, _)) = self.words.get_mut(word) {
                *count += 1;
            } else if self.words.len() < MAX_WORDS {
                self.words.insert(word.to_vec(), (1, line));
            }
        }
        self.common.other(text);
    }

    fn emit(
        &mut self,
        text: &[u8],
        messages: Vec<Found>,
        origin: TextOrigin,
        sink: &mut ItemSink<'_>,
    ) {
        let is_json = matches!(text.trim_ascii_start().first(), Some(b'{' | b'['));
        let is_one_line = !text.contains(&b'\n');
        // A text can have very many messages.
        let own_time = LazyCell::new(|| {
            let time = find_time(text).filter(|_| !is_json);
            time.or_else(|| journald_time(text))
        });
        let own_clock = LazyCell::new(|| find_clock(text).filter(|_| !is_json));
        if messages.len() > 1 && !text.starts_with(b"[") && is_one_line {
            let (count, _) = self.several.get_or_insert((0, origin.line));
            *count += 1;
        }
        let framed = std::mem::take(&mut self.framed);
        let count = messages.len();
        let mut emitted: HashSet<Vec<u8>> = HashSet::new();
        for mut found in messages {
            if found.is_alone() {
                self.alone += 1;
            } else {
                self.has_other = true;
            }
            let is_content = self.shown.has_entities() || is_escaped(&found.before, &found.after);
            let before = if is_content {
                &without_entities(&found.before)
            } else {
                &found.before
            };
            let mut mark = self.common.marks.of(text, before, &found.after);
            mark.time = origin.time.or(mark.time).or_else(|| *own_time);
            mark.clock = mark.clock.or_else(|| *own_clock);
            let original = std::mem::take(&mut found.message);
            let mut message = if found.is_unescaped {
                original
            } else {
                let around = (&*found.before, &*found.after);
                without_outer_escapes(&original, around, is_content).into_owned()
            };
            // A message on a line: line breaks inside it are blanks between values.
            for c in &mut message {
                if matches!(c, b'\n' | b'\r') {
                    *c = b' ';
                }
            }
            // A log can show a message twice in one line, or first in its frame and then decoded.
            let is_repeated = !found.follows && emitted.contains(&value_of(&message));
            if is_repeated || framed == message {
                continue;
            }
            if cut::is_longer(&message, &found.after) {
                let mark = cut::first_mark(&message);
                self.cut.add((text, origin.line), mark, None);
                continue;
            }
            if self.is_doubtful(&found, mark, &message, sink) {
                continue;
            }
            if is_in_frame(&found.before) {
                self.framed.clone_from(&message);
            }
            self.order.add(mark, &message, origin.line);
            if self.key.is_empty() {
                self.key = first_word(&message).unwrap_or_default().to_vec();
            }
            self.hold_or_pass(mark, &message, indent(text), sink);
            if is_one_line && count > 1 {
                emitted.insert(value_of(&message));
            }
        }
    }
}

impl Log {
    /// Passes a message on, or holds it until the fields after it show its direction.
    fn hold_or_pass(&mut self, mark: Mark, message: &[u8], indent: usize, sink: &mut ItemSink<'_>) {
        let before = self.fields.release();
        self.pass_held(before, sink);
        if !self.fields.may_follow(mark) {
            return self.pass_on(mark, message, sink);
        }
        self.fields.hold(HeldMessage {
            mark,
            message: message.to_vec(),
            line: self.last,
            indent,
        });
    }

    /// Returns true for an object that may be no message, and is not passed on now.
    fn is_doubtful(
        &mut self,
        found: &Found,
        mark: Mark,
        message: &[u8],
        sink: &mut ItemSink<'_>,
    ) -> bool {
        let is_held = self.doubtful.holds(found, mark, message);
        self.release_doubtful(false, sink);
        self.common.ignored += u64::from(is_held);
        is_held
    }

    fn release_doubtful(&mut self, is_end: bool, sink: &mut ItemSink<'_>) {
        for (mark, message) in self.doubtful.release(is_end) {
            self.pass_on(mark, &message, sink);
        }
    }

    fn pass_held(&mut self, held: Option<HeldMessage>, sink: &mut ItemSink<'_>) {
        let Some(held) = held else { return };
        self.pass_on(held.mark, &held.message, &mut |mut item| {
            if let Item::Chunk(chunk) = &mut item {
                chunk.line.get_or_insert(held.line);
            }
            sink(item);
        });
    }

    /// Passes a message on, with its header if the text has such messages. An answer does not show that.
    fn pass_on(&mut self, mark: Mark, message: &[u8], sink: &mut ItemSink<'_>) {
        if let Some(waiting) = &mut self.waiting
            && waiting.len() < MAX_WAITING
            && matches!(exchange(message), Some((_, false)))
        {
            waiting.push((mark, message.to_vec()));
            return;
        }
        self.pass_waiting(sink);
        let bytes = self.finder.framed(message);
        self.common.emit(mark, &bytes, sink);
    }

    fn pass_waiting(&mut self, sink: &mut ItemSink<'_>) {
        for (mark, message) in self.waiting.take().unwrap_or_default() {
            let bytes = self.finder.framed(&message);
            self.common.emit(mark, &bytes, sink);
        }
    }
}

impl Held {
    /// Returns true if a line shows that the bracket will not close: it begins as a line of a log does, and has a message.
    fn ends_before(&self, line: &[u8], finder: &mut Finder) -> bool {
        let goes_on = match line.first() {
            None | Some(b' ' | b'\t' | b'}' | b']' | b')' | b'[' | b'"' | b'\'' | b',') => true,
            Some(b'{') => self.is_list,
            Some(mark @ (b'+' | b'-')) => self.text.first() == Some(mark),
            Some(_) => false,
        };
        !goes_on && (finder.has_message(line) || finder.cut_message(line).is_some())
    }
}

impl LineForm for Log {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        self.last = line.number;
        if let Some(shown) = self.cast.add(line.text, line.number) {
            self.has_other = true;
            return self.shown(shown, line.number, sink);
        }
        let text = self.common.uncoloured(line.text).into_owned();
        let text = latin1_as_utf8(&text).map_or(text, |utf8| {
            self.latin1.get_or_insert(line.number);
            utf8
        });
        let text = self.shown.read(text);
        let (row, is_read) = self.tables.add(&text, line.number);
        if let Some((row, number)) = row {
            self.part(row, TextOrigin::of(number), sink);
        }
        if is_read {
            self.part(text, TextOrigin::of(line.number), sink);
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        let shown = self.cast.finish();
        self.shown(shown, self.last, sink);
        if let Some((row, number)) = self.tables.finish() {
            self.part(row, TextOrigin::of(number), sink);
        }
        if let Some(text) = self.broken.finish() {
            self.whole_line(&text, TextOrigin::of(self.last), sink);
        }
        while let Some(held) = self.held.take() {
            self.read_again(&held, sink);
        }
        self.release_doubtful(true, sink);
        let held = self.fields.release();
        self.pass_held(held, sink);
        self.pass_waiting(sink);
        self.note_what_is_left_out(sink);
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}

impl TextOrigin {
    const fn of(line: u64) -> Self {
        Self {
            line,
            time: None,
            again: 0,
        }
    }
}

impl Log {
    /// Reads lines that were on a terminal.
    fn shown(&mut self, lines: Vec<ShownLine>, number: u64, sink: &mut ItemSink<'_>) {
        for (line, time) in lines {
            let text = self.common.uncoloured(&line).into_owned();
            let origin = TextOrigin {
                time,
                ..TextOrigin::of(number)
            };
            self.whole_line(text.trim_ascii_end(), origin, sink);
        }
    }

    /// Reads a line that the next one may continue.
    fn part(&mut self, text: Vec<u8>, origin: TextOrigin, sink: &mut ItemSink<'_>) {
        if let Some(start) = self.broken.ended_by(&text) {
            self.whole_line(&start, origin, sink);
        }
        // No JSON has a line break in a text.
        if self.broken.may_be_printable(&text) && self.finder.find(&text).open.is_some() {
            self.broken.set_printable(true);
        }
        let Some(text) = self.broken.add(text) else {
            return;
        };
        // Each part of a mail has its own.
        if let Some((name, encoding)) = split_header(&text)
            && name.eq_ignore_ascii_case(b"Content-Transfer-Encoding")
        {
            let is_printable = encoding.eq_ignore_ascii_case(b"quoted-printable");
            self.broken.set_printable(is_printable);
        }
        self.whole_line(&text, origin, sink);
    }

    /// Reads a line whose end is known.
    fn whole_line(&mut self, text: &[u8], mut origin: TextOrigin, sink: &mut ItemSink<'_>) {
        let number = origin.line;
        let Some(part) = Part::read(text) else {
            return self.text(text, origin, sink);
        };
        origin.time = part.time;
        if let Some(whole) = self.join(&part, number, sink) {
            let whole = whole.strip_suffix(b"\n").unwrap_or(&whole);
            self.text(whole, origin, sink);
        }
    }

    /// Reports what is not shown, and how the text differs from what a peer sends.
    fn note_what_is_left_out(&mut self, sink: &mut ItemSink<'_>) {
        if self.finder.lost.parts {
            Problem::note(InputPlace::Whole, "the print leaves out values of messages")
                .hint("in Node, util.inspect(message, {depth: null}) or JSON.stringify(message) prints all")
                .report(sink);
        }
        if self.finder.lost.numbers {
            let text =
                "the print has NaN or infinity, which JSON cannot write: they are shown as null";
            Problem::note(InputPlace::Whole, text)
                .hint("a peer refuses a message with NaN or Infinity")
                .report(sink);
        }
        let has_messages = !self.key.is_empty();
        if let Some(problem) = self.cut.problem(has_messages) {
            problem.report(sink);
        }
        if let Some((count, line)) = self.words.get(&self.key) {
            let text = match count {
                1 => "this begins like a message, but cannot be read, and is not shown".to_owned(),
                _ => format!(
                    "{count} lines begin like messages, but cannot be read, and are not shown; the first is here"
                ),
            };
            Problem::note(InputPlace::Line(*line), text).report(sink);
        }
        self.order.report(sink);
        if let Some(line) = self.latin1 {
            let text = "this line has bytes that are not UTF-8, which are read as Latin-1";
            Problem::note(InputPlace::Line(line), text).report(sink);
        }
        if self.alone == 0 || self.has_other {
            return;
        }
        if self.finder.has_headers() {
            let text = "the messages have no header with their length, which a peer needs";
            Problem::note(InputPlace::Whole, text).report(sink);
        } else if let Some((count, line)) = self.several {
            let lines = match count {
                1 => "this line has".to_owned(),
                _ => format!("{count} lines have"),
            };
            let text =
                format!("{lines} several messages: a peer of this protocol needs a line for each");
            Problem::note(InputPlace::Line(line), text).report(sink);
        }
    }
}

/// Splits a line of a head: the name of a field, and its value.
fn split_header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let (name, value) = line.split_at_checked(colon)?;
    Some((name.trim_ascii(), value.get(1..)?.trim_ascii()))
}

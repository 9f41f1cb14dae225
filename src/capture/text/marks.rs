//! Marks beside the bytes of a line: time, direction, stream.
//!
//! ```text
//!   2026-11-22T09:52:20.5Z DEBUG ws.client: > TEXT '...'    time, c2s
//!   [server] << {"id":0}                                    c2s: a server receives it
//!   {"stream":"stdout","log":"..."}                         s2c
//!   // Send:    dir: c2s    POST /mcp HTTP/1.1              a heading: c2s up to the next message or heading
//!   Node 1: 127.0.0.1:80                                    lines behind a tab are s2c from here on
//!   peer: 1                                                 s2c from here on
//! ```

use super::clean::to_ascii;
use super::columns::place_at_end;
use super::directions::{
    find_direction, is_answer_line, is_request_line, named_sides, side, word_direction, words,
};
use super::times::{epoch, find_clock, find_time, time_beside};
use crate::capture::pasted::is_file_heading;
use crate::capture::time::Time;
use crate::protocol::Direction;
use Direction::{ToClient, ToServer};

/// The number of bytes at the start of a line and beside bytes that can have marks.
const NEAR: usize = 1 << 10;

/// The direction and the time of the bytes of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub direction: Option<Direction>,
    pub time: Option<Time>,
    /// The time of day, if the line has one.
    pub clock: Option<Time>,
}

/// How a text marks its directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Notation {
    #[default]
    Words,
    /// A list of nodes, as Wireshark writes it, shows that a tab marks the second node.
    Nodes,
    /// The arrows of a log of `Net::HTTP` point to its writer.
    NetHttp,
}

/// The marks of lines without bytes, which hold for the following lines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    notation: Notation,
    kept: Mark,
    /// What the lines before these bytes say.
    heading: Mark,
    /// There were bytes after the heading.
    is_used: bool,
    /// There were bytes.
    has_message: bool,
    /// The first line that is an arrow came after bytes.
    ignores_arrows: Option<bool>,
    /// The blanks before the last bytes.
    indent: usize,
}

impl Marks {
    /// Returns true if the text is a stream of two numbered nodes.
    pub(super) fn has_nodes(self) -> bool {
        self.notation == Notation::Nodes
    }

    /// Reads a line without bytes.
    pub(super) fn note(&mut self, line: &[u8]) {
        let line = to_ascii(line);
        let text = line.trim_ascii();
        let text = text.strip_prefix(b"- ").unwrap_or(text);
        // An arrow between the first two messages is that of neither.
        if is_arrow(text) {
            let is_between = self.has_message;
            if *self.ignores_arrows.get_or_insert(is_between) {
                return;
            }
        }
        if is_net_http(text) {
            self.notation = Notation::NetHttp;
        }
        // A comment between events describes none of them.
        if text.starts_with(b": ") {
            return;
        }
        let is_header = memchr::memmem::find(text, QUOTED_HEADER).is_some();
        if self.is_used && !text.is_empty() && !is_header && indent(&line) > self.indent {
            // An indented line belongs to the message before it.
            self.heading = Mark::default();
            return;
        }
        if std::mem::take(&mut self.is_used) {
            self.heading = Mark::default();
        }
        let is_date = |name: &&[u8]| {
            text.get(..name.len())
                .is_some_and(|t| t.eq_ignore_ascii_case(name))
        };
        if DATES.iter().any(is_date) {
            return;
        }
        if names_file(text) {
            self.heading = Mark::default();
            return;
        }
        if text.starts_with(b"Node 1: ") {
            self.notation = Notation::Nodes;
        } else if let Some(peer) = text.strip_prefix(b"peer: ") {
            self.kept.direction = peer_direction(peer);
        } else if let Some(at) = text.strip_prefix(b"timestamp: ") {
            self.kept.time = epoch(at);
        } else if let Some(peer) = peer_of_array(text) {
            self.kept.direction = Some(peer);
        } else if text.len() <= MAX_HEADING {
            let direction = heading_direction(text);
            self.heading = Mark {
                direction: direction.or(self.heading.direction),
                time: find_time(text).or(self.heading.time),
                clock: find_clock(text).or(self.heading.clock),
            };
        } else {
            self.heading = Mark::default();
        }
    }

    /// Returns the mark of a line with bytes, from the text before and after them.
    pub(super) fn of(&mut self, line: &[u8], before: &[u8], after: &[u8]) -> Mark {
        if self.has_nodes() {
            let second = line.first() == Some(&b'\t');
            self.kept.direction = Some(if second { ToClient } else { ToServer });
        }
        // A line can have many lists: what is far from the bytes is not read again for each.
        let start = before.get(..NEAR).unwrap_or(before);
        let end = before
            .len()
            .checked_sub(NEAR)
            .and_then(|at| before.get(at..));
        let end = &*to_ascii(end.unwrap_or(before));
        let after = &*to_ascii(after.get(..NEAR).unwrap_or(after));
        if let Some(peer) = peer_of_array(start.trim_ascii_start()) {
            self.kept.direction = Some(peer);
        }
        (self.is_used, self.has_message) = (true, true);
        self.indent = indent(line);
        let heading = self.heading;
        if is_net_http(line) {
            self.notation = Notation::NetHttp;
        }
        let own = net_http_direction(line).filter(|_| self.notation == Notation::NetHttp);
        let own = own.or_else(|| find_direction(end, after));
        Mark {
            direction: own.or(heading.direction).or(self.kept.direction),
            time: time_beside(start, end, after)
                .or(heading.time)
                .or(self.kept.time),
            clock: find_clock(start).or(heading.clock),
        }
    }
}

/// Fields of HTTP heads with times in whole seconds, which are not those of the traffic.
const DATES: [&[u8]; 3] = [b"Date: ", b"Expires: ", b"Last-Modified: "];

/// Returns true for a line about a file, whose time is no time of messages: of script, diff, or tail.
fn names_file(line: &[u8]) -> bool {
    let begins = |mark: &&[u8]| line.starts_with(mark);
    let is_version = [&b"--- "[..], b"+++ ", b"*** "].iter().any(begins);
    is_version && line.contains(&b'\t')
        || [&b"Script started on "[..], b"Script done on "]
            .iter()
            .any(begins)
        || is_file_heading(line)
}

/// The number of blanks that a line begins with.
pub(super) fn indent(line: &[u8]) -> usize {
    line.iter().take_while(|c| c.is_ascii_whitespace()).count()
}

/// The header of a message inside a string.
pub(super) const QUOTED_HEADER: &[u8] = b"'Content-Length: ";

/// Returns true for a line that is an arrow.
fn is_arrow(line: &[u8]) -> bool {
    words(line).count() == 1 && line.iter().all(|c| b"<>=-".contains(c))
}

/// The longest line that can be a heading.
const MAX_HEADING: usize = 240;

/// The direction of a heading: the head of an HTTP message or event, a line that ends with a direction, or the one word of a line.
fn heading_direction(line: &[u8]) -> Option<Direction> {
    // `rich` writes the place of the call at the right end.
    let line = place_at_end(line)
        .and_then(|at| line.get(..at))
        .unwrap_or(line);
    let line = element_text(line).unwrap_or(line);
    if let Some(direction) = http_direction(line) {
        return Some(direction);
    }
    // `'id' => 1` is a member of an object.
    if line.starts_with(b"'") && memchr::memmem::find(line, b"' => ").is_some() {
        return None;
    }
    // `SEND on 0(in): 'Content-Length: 193`
    let headers = [QUOTED_HEADER, b"Content-Length: "];
    let header = headers
        .iter()
        .find_map(|mark| memchr::memmem::find(line, mark));
    let line = match header {
        Some(end) => line.get(..end).unwrap_or(line).trim_ascii_end(),
        None => line,
    };
    // A diff: `+ Received`.
    if line.starts_with(b"+ ") {
        return None;
    }
    if is_arrow(line) {
        return find_direction(line, b"");
    }
    // mitmproxy: `127.0.0.1:5000 -> WebSocket text message -> h:80/ws`
    if memchr::memmem::find(line, b" WebSocket ").is_some() {
        let arrow = words(line).find(|word| matches!(*word, b"->" | b"<-"));
        return arrow.and_then(|arrow| find_direction(arrow, b""));
    }
    let has_letters = |word: &&[u8]| word.iter().any(u8::is_ascii_alphabetic);
    let mut all = words(line).filter(has_letters);
    let (first, second) = (all.next()?, all.next());
    let is_alone = second.is_none_or(|word| word.eq_ignore_ascii_case(b"body"));
    match first {
        b"request" | b"Request" | b"REQUEST" if is_alone => return Some(ToServer),
        b"response" | b"Response" | b"RESPONSE" if is_alone => return Some(ToClient),
        _ => {}
    }
    if is_alone
        && line.ends_with(b":")
        && let Some(direction) = side(first)
    {
        return Some(direction);
    }
    // `WRITE: 216B`, `outgoing message`
    let is_size =
        |word: &[u8]| word.first().is_some_and(u8::is_ascii_digit) && !word.starts_with(b"c2s");
    let mut last = words(line)
        .rev()
        .filter(|word| word.len() > 1 && !is_size(word));
    let mut last_word = last.next()?;
    if matches!(last_word, b"message" | b"request" | b"response" | b"bytes") {
        last_word = last.next().unwrap_or(last_word);
    }
    let ends =
        word_direction(last_word, true).is_some() || second.is_none() || line.ends_with(b":");
    let end = last_word.as_ptr() as usize - line.as_ptr() as usize + last_word.len();
    let upto = line.get(..end).unwrap_or(line);
    (ends || named_sides(line).is_some())
        .then(|| find_direction(line, b"").or_else(|| find_direction(upto, b"")))
        .flatten()
}

/// The text of an element of XML that is a line: `<string>out</string>`.
fn element_text(line: &[u8]) -> Option<&[u8]> {
    let line = std::str::from_utf8(line).ok()?;
    let (name, rest) = line.strip_prefix('<')?.split_once('>')?;
    let text = rest.strip_suffix(&format!("</{name}>"))?;
    (!text.contains('<')).then_some(text.as_bytes())
}

/// The direction of a head of HTTP, or of an event.
fn http_direction(line: &[u8]) -> Option<Direction> {
    let line = line.trim_ascii_start();
    let shown = line
        .iter()
        .position(|c| !b"<>*- ".contains(c))
        .and_then(|at| line.get(at..))?;
    if shown.starts_with(b"HTTP/") || is_answer_line(line) {
        return Some(ToClient);
    }
    if line.starts_with(b"event: ") {
        return Some(ToClient);
    }
    is_request_line(line).then_some(ToServer)
}

/// Returns true for the first line of a request or of an answer as Ruby's `Net::HTTP` logs it. Its arrows point to the writer of
/// the log: `<- "POST / HTTP/1.1\r\n`, `-> "HTTP/1.1 200 OK\r\n"`.
fn is_net_http(line: &[u8]) -> bool {
    let sent = line.strip_prefix(b"<- \"");
    sent.is_some_and(is_request_line) || line.starts_with(b"-> \"HTTP/1.")
}

/// The direction of a line of such a log.
fn net_http_direction(line: &[u8]) -> Option<Direction> {
    match line {
        [b'<', b'-', b' ', b'"', ..] => Some(ToServer),
        [b'-', b'>', b' ', b'"', ..] => Some(ToClient),
        _ => None,
    }
}

/// The direction of a numbered peer: the one that spoke first is the client.
fn peer_direction(number: &[u8]) -> Option<Direction> {
    match number {
        b"0" => Some(ToServer),
        b"1" => Some(ToClient),
        _ => None,
    }
}

/// `char peer0_12[] = {`, as Wireshark names its arrays.
fn peer_of_array(text: &[u8]) -> Option<Direction> {
    let at = memchr::memmem::find(text, b"peer")?;
    let (number, rest) = text.get(at + 4..)?.split_at_checked(1)?;
    peer_direction(number)
        .filter(|_| rest.starts_with(b"_") && memchr::memchr(b'[', rest).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_hold_up_to_the_next_message() {
        for (lines, want) in [
            ("// Send:", Some(ToServer)),
            ("h:1 <- WebSocket text message <- h:80/ws", Some(ToClient)),
            ("--> Content-Length: 77", Some(ToServer)),
            ("<-- 200 OK http://h/mcp (3ms)", Some(ToClient)),
            ("*Request*\n{code:json}", Some(ToServer)),
            ("2. Server replies\n```json", Some(ToClient)),
            ("[client-request] (id:3)", Some(ToServer)),
            ("POST /mcp HTTP/1.1\nHost: a\n", Some(ToServer)),
            (
                "h:1: POST http://h/mcp HTTP/1.1\n    a: b\n",
                Some(ToServer),
            ),
            ("< HTTP/1.1 200 OK\n< \n* left intact", Some(ToClient)),
            ("event: message", Some(ToClient)),
            ("- dir: c2s\n  raw: |", Some(ToServer)),
            ("dir  | s2c", Some(ToClient)),
            (
                "[1] DEBUG (x): server -> client\n  payload:",
                Some(ToClient),
            ),
            ("Request\nResponse", Some(ToClient)),
            ("<string>out</string>", Some(ToServer)),
            ("SEND on 0(in): 'Content-Length: 193", Some(ToServer)),
            (
                "L:/127.0.0.1:51000 - R:/127.0.0.1:7000] WRITE: 216B",
                Some(ToServer),
            ),
            (
                "[10:00:00.100] DEBUG (4711): incoming message",
                Some(ToClient),
            ),
            ("[12:14:37] send                   lg.py:73", Some(ToServer)),
            ("what it sent is lost", None),
            (": sent ->", None),
            ("the request of a client", None),
            ("Request the list:", None),
        ] {
            let mut marks = Marks::default();
            lines.lines().for_each(|line| marks.note(line.as_bytes()));
            assert_eq!(marks.of(b"{}", b"", b"").direction, want, "{lines}");
            assert_eq!(marks.of(b"{}", b"", b"").direction, want, "{lines}");
            marks.note(b"");
            assert_eq!(marks.of(b"{}", b"", b"").direction, None, "{lines}");
        }
    }
}

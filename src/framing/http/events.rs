//! Finds the data of server-sent events in a `text/event-stream` body.
//!
//! ```text
//!   : comment LF   id: 7 LF   data: {"jsonrpc" LF   data: :"2.0"} LF   LF
//!                             |     '- data -' '-- LF and data -'      |
//!                             '------------- the event ----------------'
//! ```
//!
//! Chunk heads can split the body at any byte, so this is a state machine that takes bytes.

use super::super::assembly::Assembly;

/// The position of the next byte in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventPlace {
    /// This many bytes of `data`, and nothing else.
    Name(usize),
    /// After `data:`; one space can follow.
    Colon,
    Value,
    /// A comment or another field.
    Other,
}

const NAME: &[u8] = b"data";

/// The maximum length of the other fields that are read, in bytes.
const MAX_FIELD: usize = 1 << 10;

/// The fields of a stream of events that control its continuation.
#[derive(Debug, Default)]
pub(super) struct EventFields {
    /// The number of streams on the connection so far.
    pub(super) number: u64,
    /// The line that is neither `data` nor complete.
    line: Vec<u8>,
    /// The id of the current event, and that of the last complete one.
    id: Option<String>,
    pub(super) last_id: Option<String>,
    /// The time after which a client may connect again, in milliseconds.
    pub(super) retry: Option<i64>,
}

impl EventFields {
    /// Handles the start of a stream.
    pub(super) fn restart(&mut self) {
        let number = self.number + 1;
        *self = Self {
            number,
            ..Self::default()
        };
    }

    fn take(&mut self, bytes: &[u8]) {
        let space = (MAX_FIELD + 1).saturating_sub(self.line.len());
        self.line
            .extend_from_slice(bytes.get(..space).unwrap_or(bytes));
    }

    /// Reads the line that ends.
    fn end_line(&mut self) {
        let line = std::str::from_utf8(&self.line).unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            _ if self.line.len() > MAX_FIELD => {}
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "retry" if value.bytes().all(|b| b.is_ascii_digit()) => {
                self.retry = value.parse().ok().or(self.retry);
            }
            _ => {}
        }
        self.line.clear();
    }

    /// Handles the end of an event.
    fn end_event(&mut self) {
        self.last_id = self.id.take().or(self.last_id.take());
    }
}

#[derive(Debug)]
pub(super) struct EventLines {
    place: EventPlace,
    /// The first byte of the line.
    line: u64,
    /// A CR that belongs to the value unless LF follows.
    cr: Option<u64>,
    /// The first byte of the event's first `data` line.
    pub(super) event: Option<u64>,
    /// The first byte of its first value.
    pub(super) value: u64,
    /// The LF after the last `data` line.
    data_end: Option<u64>,
    /// The event exceeds the limit: the rest of it is skipped.
    dropping: bool,
}

/// The result of [`Lines::feed`].
pub(super) enum FeedResult {
    /// All bytes were taken.
    All,
    /// This many bytes were taken; the last of them completes the event.
    Event(usize),
    /// This many bytes were taken; more of the value exceeds the limit.
    Full(usize),
}

impl EventLines {
    pub(super) fn new() -> Self {
        Self {
            place: EventPlace::Name(0),
            line: 0,
            cr: None,
            event: None,
            value: 0,
            data_end: None,
            dropping: false,
        }
    }

    /// Returns the first byte of an incomplete event, or of bytes that may start one.
    pub(super) fn pending_start(&self) -> Option<u64> {
        let held = matches!(self.place, EventPlace::Name(1..)).then_some(self.line);
        self.event.or(held).filter(|_| !self.dropping)
    }

    /// Returns the first byte of the current event.
    pub(super) fn start(&self) -> u64 {
        self.event.unwrap_or(self.line)
    }

    /// Drops an event that is too long: the rest of it is skipped.
    pub(super) fn drop_event(&mut self) {
        self.event.get_or_insert(self.line);
        self.dropping = true;
    }

    /// Resets the state after an event was emitted.
    pub(super) fn reset(&mut self) {
        self.event = None;
        self.data_end = None;
        self.dropping = false;
    }

    /// Takes bytes of the body. The first of them is at stream offset `offset`.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        offset: u64,
        to: &mut Assembly,
        fields: &mut EventFields,
        limit: usize,
    ) -> FeedResult {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..)
            && let Some(&first) = rest.first()
        {
            let here = offset + at as u64;
            let mut event = false;
            let fits = match self.place {
                EventPlace::Name(_) => {
                    at += 1;
                    if first == b'\n' {
                        if self.place == EventPlace::Name(0) {
                            fields.end_event();
                        }
                        event = self.place == EventPlace::Name(0) && self.event.is_some();
                        self.line_end(here, to, limit)
                    } else {
                        let is_start = self.place == EventPlace::Name(0);
                        let fits = self.take_name_byte(first, here, to, limit);
                        if is_start && self.place == EventPlace::Other {
                            fields.take(&[first]);
                        }
                        fits
                    }
                }
                EventPlace::Colon => {
                    at += usize::from(first == b' ');
                    self.place = EventPlace::Value;
                    if self.data_end.is_none() {
                        self.value = offset + at as u64;
                    }
                    true
                }
                EventPlace::Value => {
                    let end = memchr::memchr(b'\n', rest);
                    let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                    let taken = self.take_value(text, here, end.is_some(), to, limit);
                    at += taken;
                    if taken == text.len() && end.is_some() {
                        at += 1;
                        self.line_end(here + taken as u64, to, limit);
                    }
                    taken == text.len()
                }
                EventPlace::Other => {
                    let end = memchr::memchr(b'\n', rest);
                    let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                    if !fields.line.is_empty() {
                        fields.take(text);
                    }
                    let Some(end) = end else {
                        return FeedResult::All;
                    };
                    fields.end_line();
                    at += end + 1;
                    self.line_end(here + end as u64, to, limit)
                }
            };
            if !fits {
                self.dropping = true;
                return FeedResult::Full(at);
            }
            if event {
                if !self.dropping {
                    return FeedResult::Event(at);
                }
                self.reset();
            }
        }
        FeedResult::All
    }

    /// Takes a byte of a line that may be a `data` line. Returns `true` if the added bytes fit,
    /// like all these functions.
    fn take_name_byte(&mut self, byte: u8, here: u64, to: &mut Assembly, limit: usize) -> bool {
        let EventPlace::Name(n) = self.place else {
            return true;
        };
        // A CR is possible here only in an empty line or after a bare `data`, and only LF can
        // follow it.
        let after_cr = self.cr.take().is_some();
        if n == 0 {
            self.line = here;
        }
        self.place = match byte {
            _ if after_cr => EventPlace::Other,
            b'\r' if n == 0 || n == NAME.len() => {
                self.cr = Some(here);
                return true;
            }
            b':' if n == NAME.len() => EventPlace::Colon,
            _ if NAME.get(n) == Some(&byte) => EventPlace::Name(n + 1),
            _ => EventPlace::Other,
        };
        self.place != EventPlace::Colon || self.start_data_line(to, limit)
    }

    /// Handles a `data` line: starts the event, or continues it with an LF between the lines.
    fn start_data_line(&mut self, to: &mut Assembly, limit: usize) -> bool {
        if self.event.is_none() {
            to.clear();
            self.event = Some(self.line);
        }
        match self.data_end {
            Some(data_end) if !self.dropping => {
                let fits = to.space(data_end, limit) > 0;
                to.record(data_end, usize::from(fits));
                fits
            }
            _ => true,
        }
    }

    /// Takes bytes of a value. A CR at the end waits for the next byte. Returns the number of bytes
    /// taken.
    fn take_value(
        &mut self,
        text: &[u8],
        here: u64,
        ends: bool,
        to: &mut Assembly,
        limit: usize,
    ) -> usize {
        if self.dropping || text.is_empty() {
            return text.len();
        }
        if let Some(cr) = self.cr.take() {
            if to.space(cr, limit) == 0 {
                return 0;
            }
            to.record(cr, 1);
        }
        let content = text.strip_suffix(b"\r").unwrap_or(text);
        let fits = content.len().min(to.space(here, limit));
        to.record(here, fits);
        if fits < content.len() {
            return fits;
        }
        if content.len() < text.len() && !ends {
            self.cr = Some(here + content.len() as u64);
        }
        text.len()
    }

    /// Handles the LF of a line.
    fn line_end(&mut self, here: u64, to: &mut Assembly, limit: usize) -> bool {
        let mut fits = true;
        match self.place {
            // A bare `data` has an empty value.
            EventPlace::Name(n) if n == NAME.len() => {
                if self.event.is_none() {
                    self.value = here;
                }
                fits = self.start_data_line(to, limit);
                self.data_end = Some(here);
            }
            EventPlace::Colon | EventPlace::Value => self.data_end = Some(here),
            EventPlace::Name(_) | EventPlace::Other => {}
        }
        self.place = EventPlace::Name(0);
        self.cr = None;
        fits
    }
}

//! Server-sent events: which bytes of a `text/event-stream` body are an event's data.
//!
//! ```text
//!   : comment LF   id: 7 LF   data: {"jsonrpc" LF   data: :"2.0"} LF   LF
//!                             |     '- data -' '-- LF and data -'      |
//!                             '------------- the event ----------------'
//! ```
//!
//! The body comes in runs, cut anywhere by chunk heads between them; so this is a machine that is fed bytes.

use super::super::assembly::Assembly;

/// Where in a line the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// So many bytes of `data` were there, and nothing else.
    Name(usize),
    /// After `data:`; one space may follow.
    Colon,
    Value,
    /// A comment, another field.
    Other,
}

const NAME: &[u8] = b"data";

#[derive(Debug)]
pub(super) struct Lines {
    place: Place,
    /// First byte of the line.
    line: u64,
    /// A CR that belongs to the value unless LF follows.
    cr: Option<u64>,
    /// First byte of the event's first `data` line.
    pub(super) event: Option<u64>,
    /// First byte of its first value.
    pub(super) value: u64,
    /// The LF that ended the last `data` line.
    joint: Option<u64>,
    /// The event was over the limit: the rest of it is passed over.
    dropping: bool,
}

/// What became of the bytes.
pub(super) enum Fed {
    /// All were taken.
    All,
    /// So many were taken; with the last of them the event is complete.
    Event(usize),
    /// So many were taken; there is no room for more of the value.
    Full(usize),
}

impl Lines {
    pub(super) fn new() -> Self {
        Self {
            place: Place::Name(0),
            line: 0,
            cr: None,
            event: None,
            value: 0,
            joint: None,
            dropping: false,
        }
    }

    /// First byte of an event, or of what may become one, that is not complete.
    pub(super) fn begun(&self) -> Option<u64> {
        let held = matches!(self.place, Place::Name(1..)).then_some(self.line);
        self.event.or(held).filter(|_| !self.dropping)
    }

    /// Where the event at hand begins.
    pub(super) fn start(&self) -> u64 {
        self.event.unwrap_or(self.line)
    }

    /// The event is too long: the rest of it is passed over.
    pub(super) fn drop_event(&mut self) {
        self.event.get_or_insert(self.line);
        self.dropping = true;
    }

    /// Forgets the event: it was given out.
    pub(super) fn reset(&mut self) {
        self.event = None;
        self.joint = None;
        self.dropping = false;
    }

    /// Takes in bytes of the body, the first of which is at `offset` of the stream.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        offset: u64,
        to: &mut Assembly,
        limit: usize,
    ) -> Fed {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..)
            && let Some(&first) = rest.first()
        {
            let here = offset + at as u64;
            let mut event = false;
            let fits = match self.place {
                Place::Name(_) => {
                    at += 1;
                    if first == b'\n' {
                        event = self.place == Place::Name(0) && self.event.is_some();
                        self.line_end(here, to, limit)
                    } else {
                        self.name(first, here, to, limit)
                    }
                }
                Place::Colon => {
                    at += usize::from(first == b' ');
                    self.place = Place::Value;
                    if self.joint.is_none() {
                        self.value = offset + at as u64;
                    }
                    true
                }
                Place::Value => {
                    let end = memchr::memchr(b'\n', rest);
                    let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                    let taken = self.text(text, here, end.is_some(), to, limit);
                    at += taken;
                    if taken == text.len() && end.is_some() {
                        at += 1;
                        self.line_end(here + taken as u64, to, limit);
                    }
                    taken == text.len()
                }
                Place::Other => match memchr::memchr(b'\n', rest) {
                    Some(end) => {
                        at += end + 1;
                        self.line_end(here + end as u64, to, limit)
                    }
                    None => return Fed::All,
                },
            };
            if !fits {
                self.dropping = true;
                return Fed::Full(at);
            }
            if event {
                if !self.dropping {
                    return Fed::Event(at);
                }
                self.reset();
            }
        }
        Fed::All
    }

    /// A byte of a line that may be a `data` line. Like all of these, answers whether what it adds fits.
    fn name(&mut self, byte: u8, here: u64, to: &mut Assembly, limit: usize) -> bool {
        let Place::Name(n) = self.place else {
            return true;
        };
        // Only the CR of an empty line, or of a bare `data`, may stand here, and only LF after it.
        let after_cr = self.cr.take().is_some();
        if n == 0 {
            self.line = here;
        }
        self.place = match byte {
            _ if after_cr => Place::Other,
            b'\r' if n == 0 || n == NAME.len() => {
                self.cr = Some(here);
                return true;
            }
            b':' if n == NAME.len() => Place::Colon,
            _ if NAME.get(n) == Some(&byte) => Place::Name(n + 1),
            _ => Place::Other,
        };
        self.place != Place::Colon || self.begin(to, limit)
    }

    /// A `data` line: the event begins, or goes on with an LF between the lines.
    fn begin(&mut self, to: &mut Assembly, limit: usize) -> bool {
        if self.event.is_none() {
            to.clear();
            self.event = Some(self.line);
        }
        match self.joint {
            Some(joint) if !self.dropping => {
                let fits = to.room(joint, limit) > 0;
                to.note(joint, usize::from(fits));
                fits
            }
            _ => true,
        }
    }

    /// Bytes of a value; a CR at their end waits for what follows. Answers how many were taken.
    fn text(
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
            if to.room(cr, limit) == 0 {
                return 0;
            }
            to.note(cr, 1);
        }
        let kept = text.strip_suffix(b"\r").unwrap_or(text);
        let fits = kept.len().min(to.room(here, limit));
        to.note(here, fits);
        if fits < kept.len() {
            return fits;
        }
        if kept.len() < text.len() && !ends {
            self.cr = Some(here + kept.len() as u64);
        }
        text.len()
    }

    /// The LF of a line.
    fn line_end(&mut self, here: u64, to: &mut Assembly, limit: usize) -> bool {
        let mut fits = true;
        match self.place {
            // A bare `data` is one with an empty value.
            Place::Name(4) => {
                if self.event.is_none() {
                    self.value = here;
                }
                fits = self.begin(to, limit);
                self.joint = Some(here);
            }
            Place::Colon | Place::Value => self.joint = Some(here),
            Place::Name(_) | Place::Other => {}
        }
        self.place = Place::Name(0);
        self.cr = None;
        fits
    }
}

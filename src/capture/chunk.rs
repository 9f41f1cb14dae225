//! The items that every input is converted to.
//!
//! ```text
//!   conn 0  c2s  10:00:00.000000000  00 00 00 05 81 a1 ...
//!   conn 0  s2c  10:00:00.000731208  00 00 00 07 82 a2 ...
//!   conn 0  ---  10:00:00.000800000  close
//! ```

use super::recording::{ChunkSource, Header};
use super::time::Time;
use crate::decoder::{Metadata, SideEvent};
use crate::protocol::{Direction, Origin};
use serde_json::{Map, Value};
use std::fmt;

/// Bytes as they were read, in order within their connection and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk<'a> {
    /// The connection; 0 if the form has none.
    pub conn: u32,
    /// The stream of the connection, if it has several.
    pub stream: Option<u64>,
    /// The direction; `None` if the form does not give it.
    pub direction: Option<Direction>,
    /// The time of the read; only recordings have it.
    pub time: Option<Time>,
    /// The line of the input that holds the bytes, or their end; `None` if the form is not read line by line.
    pub line: Option<u64>,
    /// The bytes: borrowed from the input if the form is raw, otherwise from a reused buffer.
    pub bytes: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Returns the connection, stream, direction and time of the read.
    pub fn origin(&self) -> Origin {
        Origin {
            conn: Some(self.conn),
            stream: self.stream,
            direction: self.direction,
            time: self.time.and_then(|t| i64::try_from(t).ok()),
        }
    }

    /// Creates a chunk without a time.
    #[cfg(feature = "cli")]
    pub(crate) const fn on(conn: u32, direction: Direction, bytes: &'a [u8]) -> Self {
        Self {
            conn,
            ..Self::of(Some(direction), bytes)
        }
    }

    /// Creates a chunk of a form that has neither connections nor times.
    pub(crate) const fn of(direction: Option<Direction>, bytes: &'a [u8]) -> Self {
        Self {
            conn: 0,
            stream: None,
            direction,
            time: None,
            line: None,
            bytes,
        }
    }
}

/// A line of a recording that is neither the header nor a chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The connection; 0 if the recording does not give it.
    pub conn: u32,
    /// The stream, for events of one stream.
    pub stream: Option<u64>,
    /// The direction, for events of one direction.
    pub direction: Option<Direction>,
    /// The time.
    pub time: Option<Time>,
    /// The kind of the event.
    pub what: EventKind<'a>,
    /// The other keys of the event's line.
    pub more: Option<&'a Map<String, Value>>,
}

impl<'a> Event<'a> {
    /// Returns an event of a whole connection, without a time.
    pub(crate) const fn new(conn: u32, what: EventKind<'a>) -> Self {
        Self {
            conn,
            stream: None,
            direction: None,
            time: None,
            what,
            more: None,
        }
    }
}

impl Event<'_> {
    /// Returns the connection, stream, direction and time of the event.
    pub fn origin(&self) -> Origin {
        Origin {
            conn: Some(self.conn),
            stream: self.stream,
            direction: self.direction,
            time: self.time.and_then(|t| i64::try_from(t).ok()),
        }
    }

    /// For an injected fault, returns the origin of the message and the metadata of the fault.
    pub fn fault(&self) -> Option<(Origin, Metadata)> {
        let more = self.more.filter(|_| self.what == EventKind::Inject)?;
        let offset = more.get("offset")?.as_u64()?;
        let fault = more.get("fault")?.as_str()?;
        let action = fault.rsplit_once(": ").map_or(fault, |(_, action)| action);
        self.direction?;
        let event = SideEvent::Fault(action.to_owned());
        (!more.contains_key("undone")).then(|| (self.origin(), Metadata { offset, event }))
    }

    /// For an event that ends a direction or a connection, returns its origin.
    pub fn end(&self) -> Option<Origin> {
        match self.what {
            EventKind::Eof | EventKind::Fin | EventKind::Stop => Some(self.origin()),
            // One direction of a stream; the other may continue.
            EventKind::Reset if self.stream.is_some() => Some(self.origin()),
            EventKind::Close | EventKind::Reset | EventKind::Exit => Some(Origin {
                direction: None,
                ..self.origin()
            }),
            _ => None,
        }
    }

    /// For an event about lost bytes, returns their origin and number. The stderr of a child is not
    /// part of the conversation.
    pub fn lost(&self) -> Option<(Origin, u64)> {
        let dir = self.more.and_then(|more| more.get("dir"));
        if dir.is_some_and(|dir| dir == ChunkSource::Stderr.name()) {
            return None;
        }
        // A datagram belongs to no stream.
        if self.more.is_some_and(|more| more.contains_key("datagram")) {
            return None;
        }
        let len = self
            .more
            .and_then(|more| more.get("bytes").or_else(|| more.get("len")))
            .and_then(Value::as_u64);
        (self.what == EventKind::Lost).then_some((self.origin(), len.unwrap_or_default()))
    }
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind<'a> {
    /// The connection opened.
    Open,
    /// One direction ended.
    Eof,
    /// The connection closed in order.
    Close,
    /// The connection was reset.
    Reset,
    /// The wrapped child exited.
    Exit,
    /// Bytes passed without being recorded.
    Lost,
    /// From here on, the order of the messages is not known.
    Unordered,
    /// One direction of a stream ended.
    Fin,
    /// A receiver asked for no more bytes of a stream.
    Stop,
    /// The client continues from another address.
    Migrate,
    /// A datagram, which belongs to no stream.
    Datagram(&'a [u8]),
    /// wiretool injected a fault.
    Inject,
    /// The recording goes on after an earlier file.
    Continued,
    /// The recording ended in order.
    End,
    /// The wrapped child wrote to stderr.
    Stderr(&'a [u8]),
    /// An event that this version does not know.
    Other(&'a str),
}

impl<'a> EventKind<'a> {
    /// The events that recordings name.
    const NAMED: [Self; 13] = [
        Self::Open,
        Self::Eof,
        Self::Close,
        Self::Reset,
        Self::Exit,
        Self::Lost,
        Self::Unordered,
        Self::Fin,
        Self::Stop,
        Self::Migrate,
        Self::Inject,
        Self::Continued,
        Self::End,
    ];

    /// Returns the kind with this name.
    pub fn from_name(name: &'a str) -> Self {
        let known = Self::NAMED.into_iter().find(|kind| kind.name() == name);
        known.unwrap_or(Self::Other(name))
    }

    /// Returns the name in a recording.
    pub const fn name(self) -> &'a str {
        match self {
            Self::Open => "open",
            Self::Eof => "eof",
            Self::Close => "close",
            Self::Reset => "reset",
            Self::Exit => "exit",
            Self::Lost => "lost",
            Self::Unordered => "unordered",
            Self::Inject => "inject",
            Self::Continued => "continued",
            Self::End => "end",
            Self::Fin => "fin",
            Self::Stop => "stop",
            Self::Migrate => "migrate",
            Self::Datagram(_) => "datagram",
            Self::Stderr(_) => "stderr",
            Self::Other(name) => name,
        }
    }
}

/// A number that the author of a hex dump wrote next to bytes, as their value: `0e 00 00 00  length = 14`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comment<'a> {
    /// The direction of the bytes.
    pub direction: Option<Direction>,
    /// The offset of the bytes in the stream of their direction.
    pub offset: u64,
    /// The number of bytes.
    pub len: usize,
    /// The text before the `=`.
    pub name: &'a str,
    /// The number as written: `14`, `0xe5b06412`.
    pub number: &'a str,
    /// The value of the number.
    pub value: i128,
}

impl Comment<'_> {
    /// Returns the origin of the bytes, as [`Chunk::origin`] does.
    pub fn origin(&self) -> Origin {
        Chunk::of(self.direction, &[]).origin()
    }

    /// Returns the comment as metadata for the decoder, or `None` if the number belongs to no field.
    pub fn metadata(&self) -> Option<Metadata> {
        Some(Metadata {
            offset: self.offset,
            event: SideEvent::Number {
                len: self.len as u64,
                name: self.name.to_owned(),
                number: u64::try_from(self.value).ok()?,
            },
        })
    }
}

/// Missing bytes, by the offsets of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// The direction of the bytes.
    pub direction: Option<Direction>,
    /// The offset of the first missing byte.
    pub from: u64,
    /// The offset of the first byte after the gap.
    pub to: u64,
}

impl Gap {
    /// Returns the origin of the missing bytes, as [`Chunk::origin`] does: only dumps have gaps, and a dump has one
    /// connection.
    pub fn origin(&self) -> Origin {
        Chunk::of(self.direction, &[]).origin()
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "bytes {} to {} of the dump are missing",
            self.from, self.to
        )
    }
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemSeverity {
    /// Information; no bytes are lost.
    Note,
    /// Part of the input could not be used.
    Error,
    /// Nothing of the input can be decoded.
    Unreadable,
}

/// A position in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputPlace {
    /// A line, counted from 1.
    Line(u64),
    /// A byte of the file before inflation, counted from 0.
    Byte(u64),
    /// An entry of a HAR file, counted from 0.
    Entry(u64),
    /// The end of the input.
    End,
    /// The input as a whole.
    Whole,
}

/// A problem of the input itself, not of its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The severity.
    pub severity: ProblemSeverity,
    /// The position.
    pub place: InputPlace,
    /// The problem.
    pub text: String,
    /// A hint for the user.
    pub hint: Option<&'static str>,
}

impl Problem {
    pub(super) fn error(place: InputPlace, text: impl Into<String>) -> Self {
        Self {
            severity: ProblemSeverity::Error,
            place,
            text: text.into(),
            hint: None,
        }
    }

    pub(super) fn note(place: InputPlace, text: impl Into<String>) -> Self {
        Self {
            severity: ProblemSeverity::Note,
            ..Self::error(place, text)
        }
    }

    /// A problem of an input that cannot be decoded: its format, and how to get something readable.
    pub(super) fn unreadable(place: InputPlace, text: impl Into<String>) -> Self {
        Self {
            severity: ProblemSeverity::Unreadable,
            ..Self::error(place, text)
        }
    }

    /// Passes it on.
    pub(super) fn report(self, sink: &mut ItemSink<'_>) {
        sink(Item::Problem(self));
    }

    pub(super) fn hint(self, hint: &'static str) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place {
            InputPlace::Line(line) => write!(f, "line {line}: ")?,
            InputPlace::Byte(at) => write!(f, "byte {at}: ")?,
            InputPlace::Entry(entry) => write!(f, "log.entries[{entry}]: ")?,
            InputPlace::End => f.write_str("at the end: ")?,
            InputPlace::Whole => {}
        }
        f.write_str(&self.text)?;
        self.hint.map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// An item of [`super::CaptureInput`], in the order of the input.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item<'a> {
    /// The first line of a recording.
    Header(&'a Header),
    /// Bytes.
    Chunk(Chunk<'a>),
    /// An event of a recording.
    Event(Event<'a>),
    /// A number next to bytes of the following chunk.
    Comment(Comment<'a>),
    /// Missing bytes before the following chunk.
    Gap(Gap),
    /// The offsets of a dump restart: the following bytes are a separate read, packet or file.
    Break(Option<Direction>),
    /// A problem of the input itself.
    Problem(Problem),
}

/// Receives items.
pub(super) type ItemSink<'s> = dyn FnMut(Item<'_>) + 's;

/// A value for each direction, and one for bytes of unknown direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DirectionSlots<T> {
    unknown: T,
    to_server: T,
    to_client: T,
}

impl<T> DirectionSlots<T> {
    pub(super) fn of(&mut self, direction: Option<Direction>) -> &mut T {
        match direction {
            None => &mut self.unknown,
            Some(Direction::ToServer) => &mut self.to_server,
            Some(Direction::ToClient) => &mut self.to_client,
        }
    }
}

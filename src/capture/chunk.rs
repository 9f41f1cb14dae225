//! What every input becomes, whatever form it has.
//!
//! ```text
//!   conn 0  c2s  10:00:00.000000000  00 00 00 05 81 a1 ...
//!   conn 0  s2c  10:00:00.000731208  00 00 00 07 82 a2 ...
//!   conn 0  ---  10:00:00.000800000  close
//! ```

use super::recording::Header;
use super::time::Time;
use crate::decoder::{Beside, Says};
use crate::protocol::{Direction, Origin};
use serde_json::{Map, Value};

/// Bytes as they were read, in order within their connection and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk<'a> {
    /// Which connection; 0 where the form has none.
    pub conn: u32,
    /// Which way; `None` where the form does not say.
    pub direction: Option<Direction>,
    /// When they were read; only recordings know.
    pub time: Option<Time>,
    /// The bytes: borrowed from the piece that was pushed where the form is raw, from a reused buffer otherwise.
    pub bytes: &'a [u8],
}

/// What else a recording holds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event<'a> {
    /// Which connection; 0 where the recording does not say.
    pub conn: u32,
    /// Which direction, for events of one.
    pub direction: Option<Direction>,
    /// When.
    pub time: Option<Time>,
    /// What happened.
    pub what: What<'a>,
    /// The other keys of the event's line.
    pub more: Option<&'a Map<String, Value>>,
}

impl Event<'_> {
    /// What wiretool did to a message, where that is what happened: the stream, and what stands beside its bytes.
    pub fn fault(&self) -> Option<(Origin, Beside)> {
        let more = self.more.filter(|_| self.what == What::Inject)?;
        let offset = more.get("offset")?.as_u64()?;
        let fault = more.get("fault")?.as_str()?;
        let action = fault.rsplit_once(": ").map_or(fault, |(_, action)| action);
        let origin = Origin {
            conn: Some(self.conn),
            direction: Some(self.direction?),
            time: None,
        };
        let says = Says::Fault(action.to_owned());
        (!more.contains_key("undone")).then_some((origin, Beside { offset, says }))
    }

    /// From where nothing more will come, where that is what happened: one direction, or all of the connection.
    pub fn end(&self) -> Option<Origin> {
        let direction = match self.what {
            What::Eof => self.direction,
            What::Close | What::Reset | What::Exit => None,
            _ => return None,
        };
        Some(Origin {
            conn: Some(self.conn),
            direction,
            time: self.time.and_then(|t| i64::try_from(t).ok()),
        })
    }

    /// From where bytes went by unrecorded, where that is what happened, and how many.
    pub fn lost(&self) -> Option<(Origin, u64)> {
        let len = self
            .more
            .and_then(|more| more.get("bytes").or_else(|| more.get("len")))
            .and_then(Value::as_u64);
        let origin = Origin {
            conn: Some(self.conn),
            direction: self.direction,
            time: self.time.and_then(|t| i64::try_from(t).ok()),
        };
        (self.what == What::Lost).then_some((origin, len.unwrap_or_default()))
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What<'a> {
    /// The connection opened.
    Open,
    /// One direction ended.
    Eof,
    /// The connection closed in order.
    Close,
    /// The connection was cut.
    Reset,
    /// The wrapped child ended.
    Exit,
    /// Bytes went by without being recorded.
    Lost,
    /// A fault was put in on purpose.
    Inject,
    /// The recording ended in order.
    End,
    /// The wrapped child wrote to stderr.
    Stderr(&'a [u8]),
    /// An event that this version does not know.
    Other(&'a str),
}

impl<'a> What<'a> {
    /// The event of that name.
    pub fn from_name(name: &'a str) -> Self {
        match name {
            "open" => Self::Open,
            "eof" => Self::Eof,
            "close" => Self::Close,
            "reset" => Self::Reset,
            "exit" => Self::Exit,
            "lost" => Self::Lost,
            "inject" => Self::Inject,
            "end" => Self::End,
            other => Self::Other(other),
        }
    }

    /// The name in a recording.
    pub const fn name(self) -> &'a str {
        match self {
            Self::Open => "open",
            Self::Eof => "eof",
            Self::Close => "close",
            Self::Reset => "reset",
            Self::Exit => "exit",
            Self::Lost => "lost",
            Self::Inject => "inject",
            Self::End => "end",
            Self::Stderr(_) => "stderr",
            Self::Other(name) => name,
        }
    }
}

/// A number that a hex dump's author wrote beside the bytes it should be the value of: `0e 00 00 00  length = 14`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comment<'a> {
    /// Which way the bytes beside it went.
    pub direction: Option<Direction>,
    /// Where those bytes start in their direction's stream.
    pub offset: u64,
    /// How many they are.
    pub len: usize,
    /// What stands before the `=`.
    pub name: &'a str,
    /// The number as written: `14`, `0xe5b06412`.
    pub number: &'a str,
    /// Its value.
    pub value: i128,
}

impl Comment<'_> {
    /// What a decoder is told of it; `None` where its number is no field's.
    pub fn beside(&self) -> Option<Beside> {
        Some(Beside {
            offset: self.offset,
            says: Says::Number {
                len: self.len as u64,
                name: self.name.to_owned(),
                number: u64::try_from(self.value).ok()?,
            },
        })
    }
}

/// Bytes that a dump's offsets say are missing, in the offsets of that dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// Which way they went.
    pub direction: Option<Direction>,
    /// Offset of the first missing byte.
    pub from: u64,
    /// Offset of the first byte that is there again.
    pub to: u64,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Worth knowing; nothing is lost that was there.
    Note,
    /// Part of the input could not be used.
    Error,
}

/// Where in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A line, counted from 1.
    Line(u64),
    /// A byte of the file as it is, counted from 0.
    Byte(u64),
    /// The end of the input.
    End,
}

/// What is wrong with the input itself, as opposed to the messages in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// What it is.
    pub text: String,
    /// What to do about it.
    pub hint: Option<&'static str>,
}

impl Problem {
    pub(super) fn error(place: Place, text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            place,
            text: text.into(),
            hint: None,
        }
    }

    pub(super) fn note(place: Place, text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Note,
            ..Self::error(place, text)
        }
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
            Place::Line(line) => write!(f, "line {line}: ")?,
            Place::Byte(at) => write!(f, "byte {at}: ")?,
            Place::End => f.write_str("at the end: ")?,
        }
        f.write_str(&self.text)?;
        self.hint.map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// What [`super::Input`] hands on, in the order of the input.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A recording's first line.
    Header(&'a Header),
    /// Bytes.
    Chunk(Chunk<'a>),
    /// What else a recording holds.
    Event(Event<'a>),
    /// A number beside the bytes of the chunk that follows.
    Comment(Comment<'a>),
    /// Bytes that are missing before the chunk that follows.
    Gap(Gap),
    /// A dump starts anew at its first offset: what follows was a read, packet or file of its own.
    Break(Option<Direction>),
    /// What is wrong with the input itself.
    Problem(Problem),
}

/// Where items go.
pub(super) type Sink<'s> = dyn FnMut(Item<'_>) + 's;

/// A slot for each direction, and one for bytes of unknown direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PerDirection<T> {
    unknown: T,
    to_server: T,
    to_client: T,
}

impl<T> PerDirection<T> {
    pub(super) fn of(&mut self, direction: Option<Direction>) -> &mut T {
        match direction {
            None => &mut self.unknown,
            Some(Direction::ToServer) => &mut self.to_server,
            Some(Direction::ToClient) => &mut self.to_client,
        }
    }
}

//! Items that outlive the call of the sink.

use super::chunk::{Chunk, Comment, Event, EventKind, Gap, Item, Problem};
use super::recording::Header;
use super::time::Time;
use crate::protocol::Direction;
use serde_json::{Map, Value};

/// An [`Item`] that owns its bytes and texts.
#[derive(Clone, Debug)]
pub(crate) enum KeptItem {
    Header(Box<Header>),
    Chunk(KeptChunk),
    Event(Box<KeptEvent>),
    Comment(KeptComment),
    Gap(Gap),
    Break(Option<Direction>),
    Problem(Problem),
}

/// A [`Chunk`] of which the first bytes may be read already.
#[derive(Clone, Debug)]
pub(crate) struct KeptChunk {
    conn: u32,
    stream: Option<u64>,
    direction: Option<Direction>,
    time: Option<Time>,
    line: Option<u64>,
    bytes: Vec<u8>,
    read: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct KeptEvent {
    conn: u32,
    stream: Option<u64>,
    direction: Option<Direction>,
    time: Option<Time>,
    name: String,
    /// The bytes of a datagram or of stderr.
    bytes: Vec<u8>,
    more: Option<Map<String, Value>>,
}

#[derive(Clone, Debug)]
pub(crate) struct KeptComment {
    direction: Option<Direction>,
    offset: u64,
    len: usize,
    name: String,
    number: String,
    value: i128,
}

impl KeptChunk {
    /// Copies a chunk from the byte at `from` on.
    pub(crate) fn of(chunk: &Chunk<'_>, from: usize) -> Self {
        Self {
            conn: chunk.conn,
            stream: chunk.stream,
            direction: chunk.direction,
            time: chunk.time,
            line: chunk.line,
            bytes: chunk.bytes.get(from..).unwrap_or_default().to_vec(),
            read: 0,
        }
    }

    /// Marks bytes as read.
    pub(crate) fn consume(&mut self, n: usize) {
        self.read += n;
    }

    /// Returns the bytes that are not read.
    pub(crate) fn chunk(&self) -> Chunk<'_> {
        Chunk {
            conn: self.conn,
            stream: self.stream,
            direction: self.direction,
            time: self.time,
            line: self.line,
            bytes: self.bytes.get(self.read..).unwrap_or_default(),
        }
    }
}

impl KeptEvent {
    pub(crate) fn of(event: &Event<'_>) -> Self {
        let bytes = match event.what {
            EventKind::Datagram(bytes) | EventKind::Stderr(bytes) => bytes,
            _ => &[],
        };
        Self {
            conn: event.conn,
            stream: event.stream,
            direction: event.direction,
            time: event.time,
            name: event.what.name().to_owned(),
            bytes: bytes.to_vec(),
            more: event.more.cloned(),
        }
    }

    pub(crate) fn event(&self) -> Event<'_> {
        let what = match self.name.as_str() {
            "datagram" => EventKind::Datagram(&self.bytes),
            "stderr" => EventKind::Stderr(&self.bytes),
            name => EventKind::from_name(name),
        };
        Event {
            conn: self.conn,
            stream: self.stream,
            direction: self.direction,
            time: self.time,
            what,
            more: self.more.as_ref(),
        }
    }
}

impl KeptItem {
    pub(crate) fn of(item: &Item<'_>) -> Self {
        match item {
            Item::Header(header) => Self::Header(Box::new((*header).clone())),
            Item::Chunk(chunk) => Self::Chunk(KeptChunk::of(chunk, 0)),
            Item::Event(event) => Self::Event(Box::new(KeptEvent::of(event))),
            Item::Comment(comment) => Self::Comment(KeptComment {
                direction: comment.direction,
                offset: comment.offset,
                len: comment.len,
                name: comment.name.to_owned(),
                number: comment.number.to_owned(),
                value: comment.value,
            }),
            Item::Gap(gap) => Self::Gap(*gap),
            Item::Break(direction) => Self::Break(*direction),
            Item::Problem(problem) => Self::Problem(problem.clone()),
        }
    }

    pub(crate) fn item(&self) -> Item<'_> {
        match self {
            Self::Header(header) => Item::Header(header),
            Self::Chunk(chunk) => Item::Chunk(chunk.chunk()),
            Self::Event(event) => Item::Event(event.event()),
            Self::Comment(comment) => Item::Comment(Comment {
                direction: comment.direction,
                offset: comment.offset,
                len: comment.len,
                name: &comment.name,
                number: &comment.number,
                value: comment.value,
            }),
            Self::Gap(gap) => Item::Gap(*gap),
            Self::Break(direction) => Item::Break(*direction),
            Self::Problem(problem) => Item::Problem(problem.clone()),
        }
    }
}

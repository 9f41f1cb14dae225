//! A connection, and the streams of bytes in it.
//!
//! ```text
//!   connection  open requests by method, how much of it is known
//!     stream    one for each direction: flavour of lengths, frames that could not be read
//! ```

use crate::framing::LengthMode;
use crate::protocol::session::{Report, Seen};
use crate::protocol::{Direction, Role};
use crate::span::Span;
use std::collections::{HashMap, VecDeque};

/// Ids that are remembered as told, for each direction of a connection.
const TOLD_IDS: usize = 64;

/// One of a connection's streams of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Way {
    ToServer,
    ToClient,
    Unknown,
}

impl Way {
    pub fn of(direction: Option<Direction>) -> Self {
        match direction {
            Some(Direction::ToServer) => Self::ToServer,
            Some(Direction::ToClient) => Self::ToClient,
            None => Self::Unknown,
        }
    }
}

/// One connection.
#[derive(Default)]
pub(super) struct Conn {
    pub known: Known,
    /// Whether a request was seen.
    pub asked: bool,
    /// The latest request that was answered.
    pub answered: Option<u64>,
    /// Whether an event for another client was told.
    pub wrong_client: bool,
    /// Open requests by the id of their method, the oldest first.
    pub queues: HashMap<u32, VecDeque<u64>>,
    pub streams: [Stream; 3],
}

/// How much of a connection is known.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Known {
    /// What is there, from wherever it begins.
    #[default]
    Given,
    /// All, from its opening.
    Opened,
    /// Messages are missing.
    Partly,
}

/// How the lengths of one sort of frames count.
#[derive(Default)]
struct Flavour {
    /// The flavour, and the first frame that has it.
    first: Option<(LengthMode, u64)>,
    /// That it changed was told.
    changed: bool,
}

/// One direction of a connection.
#[derive(Default)]
pub(super) struct Stream {
    pub heard: bool,
    pub ended: bool,
    /// The flavour of lengths of requests and answers, and of audio and events.
    calls: Flavour,
    pushes: Flavour,
    /// Frames that could not be read.
    pub gaps: u32,
    pub told_ids: Vec<u32>,
}

impl Conn {
    pub fn stream(&mut self, way: Way) -> &mut Stream {
        let [to_server, to_client, unknown] = &mut self.streams;
        match way {
            Way::ToServer => to_server,
            Way::ToClient => to_client,
            Way::Unknown => unknown,
        }
    }

    pub fn heard(&self, direction: Direction) -> bool {
        let [to_server, to_client, _] = &self.streams;
        match direction {
            Direction::ToServer => to_server.heard,
            Direction::ToClient => to_client.heard,
        }
    }

    /// The method of the only open request.
    pub fn open_alone(&self) -> Option<u32> {
        let (method, queue) = self.queues.iter().next()?;
        (self.queues.len() == 1 && queue.len() == 1).then_some(*method)
    }

    /// Takes the oldest open request of a method.
    pub fn take(&mut self, method: u32) -> Option<u64> {
        let queue = self.queues.get_mut(&method)?;
        let oldest = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&method);
        }
        oldest
    }
}

impl Stream {
    /// Looks at how a length counts.
    pub fn length(&mut self, mode: LengthMode, seen: &Seen<'_>, report: &mut Report) {
        let place = || seen.span(Span::new(0, 4));
        let told = [&self.calls, &self.pushes]
            .iter()
            .any(|f| matches!(f.first, Some((LengthMode::Inclusive, _))));
        // The SDKs write requests inclusive, and audio exclusive; their readers know which is which by the method.
        let flavour = match seen.message.role {
            Some(Role::Item) => &mut self.pushes,
            _ => &mut self.calls,
        };
        match flavour.first {
            None => {
                flavour.first = Some((mode, seen.index));
                if mode == LengthMode::Inclusive && !told {
                    let text = "length counts its own four bytes, by the document it does not";
                    report.broken("inclusive-length", place(), text);
                }
            }
            Some((first, index)) if first != mode && !flavour.changed => {
                flavour.changed = true;
                let text = format!(
                    "length is {}, those of this sort are {} since #{index}",
                    mode.name(),
                    first.name()
                );
                report.broken_by("flavour-change", place(), index, text);
            }
            Some(_) => {}
        }
    }

    /// Whether nothing was said of this id yet.
    pub fn is_new(&mut self, id: u32) -> bool {
        let new = !self.told_ids.contains(&id);
        if new && self.told_ids.len() < TOLD_IDS {
            self.told_ids.push(id);
        }
        new
    }
}

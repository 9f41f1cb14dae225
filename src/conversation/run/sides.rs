//! Connections that the server opened: some editors listen, and the language server connects.
//!
//! ```text
//!   recorded   dir s2c: initialize     the side that listened asks first
//!   read       dir c2s: initialize     only a client sends it: both directions of the connection are turned
//! ```

use crate::capture::{Chunk, Event, EventKind, Item};
use crate::decoder::{DecodeOptions, Decoded, Decoder};
use crate::encoding::Want;
use crate::protocol::{Direction, Origin, Role};
use std::collections::BTreeSet;

/// The maximum number of connections without bytes that are looked at.
const MAX_OPENED: usize = 1 << 16;
/// The number of bytes in which the first message is looked for.
const MAX_FIRST: usize = 1 << 16;

/// The note about the first connection that the server opened.
const TURNED: &str = "the side that listened sends the opening request: it is the client, and the directions of its connection are turned";

/// The connections whose directions are turned.
#[derive(Default)]
pub(super) struct Sides {
    /// Those that were opened, and have no bytes so far.
    opened: BTreeSet<u32>,
    turned: BTreeSet<u32>,
    is_noted: bool,
}

impl Sides {
    /// Returns an item with the other direction, if its connection is turned, and a note with the first one.
    pub fn turn<'a>(
        &mut self,
        item: &Item<'a>,
        options: &DecodeOptions<'_>,
    ) -> Option<(Item<'a>, Option<&'static str>)> {
        match item {
            Item::Chunk(chunk) => {
                let is_first = !self.opened.is_empty() && self.opened.remove(&chunk.conn);
                let begins = is_first && is_from_client(chunk, options);
                if begins {
                    self.turned.insert(chunk.conn);
                }
                let direction = chunk.direction.map(Direction::other);
                let turned = Chunk {
                    direction,
                    ..*chunk
                };
                let is_turned = self.is_turned(chunk.conn);
                let is_news = begins && !std::mem::replace(&mut self.is_noted, true);
                is_turned.then_some((Item::Chunk(turned), is_news.then_some(TURNED)))
            }
            Item::Event(event) => {
                if event.what == EventKind::Open && self.opened.len() < MAX_OPENED {
                    self.opened.insert(event.conn);
                }
                let is_turned = self.is_turned(event.conn);
                if event.what == EventKind::Close {
                    self.opened.remove(&event.conn);
                    self.turned.remove(&event.conn);
                }
                let direction = event.direction.map(Direction::other);
                let turned = Event {
                    direction,
                    ..*event
                };
                is_turned.then_some((Item::Event(turned), None))
            }
            _ => None,
        }
    }

    fn is_turned(&self, conn: u32) -> bool {
        !self.turned.is_empty() && self.turned.contains(&conn)
    }
}

/// Returns true for first bytes of the side that listens, whose message only a client sends: it opens a session.
fn is_from_client(chunk: &Chunk<'_>, options: &DecodeOptions<'_>) -> bool {
    if chunk.direction != Some(Direction::ToClient) || chunk.stream.is_some() {
        return false;
    }
    let options = DecodeOptions {
        want: Want::Places,
        ..options.clone()
    };
    let origin = Origin {
        conn: Some(chunk.conn),
        direction: Some(Direction::ToServer),
        ..Origin::default()
    };
    let mut first = None;
    let mut see = |decoded: &Decoded<'_>| {
        let (protocol, message) = (decoded.protocol, decoded.message);
        let opens = message.role == Some(Role::Request) && protocol.is_hello(message);
        let is_of_server = protocol.fixed_direction(message) == Some(Direction::ToClient);
        first.get_or_insert(opens && !is_of_server && !decoded.is_faulty());
    };
    let bytes = chunk.bytes.get(..MAX_FIRST).unwrap_or(chunk.bytes);
    let mut decoder = Decoder::new(options);
    decoder.push(origin, bytes, &mut see);
    decoder.finish(&mut see);
    first == Some(true)
}

//! What a protocol says about the messages of one side: where their id is, and which are errors.

use crate::decoder::Decoded;
use crate::live::script::value::with_json;
use crate::protocol::{Direction, Protocol};
use std::ops::Range;

/// A side of a conversation, as the sender of messages.
#[derive(Clone, Copy)]
pub(super) struct Sender<'p> {
    pub(super) protocol: &'p dyn Protocol,
    pub(super) direction: Direction,
}

impl<'p> Sender<'p> {
    /// Returns the side that answers a message.
    pub(super) fn to(decoded: &Decoded<'p>) -> Self {
        let direction = decoded.origin.direction;
        Self {
            protocol: decoded.protocol,
            direction: direction.map_or(Direction::ToClient, Direction::other),
        }
    }

    /// Returns the other side.
    fn peer(self) -> Self {
        Self {
            direction: self.direction.other(),
            ..self
        }
    }

    /// Returns true for an answer that is an error.
    pub(super) fn is_error(self, message: &str) -> bool {
        let is_error = with_json(message, |root| {
            self.protocol.is_error_answer(root, self.direction)
        });
        is_error.unwrap_or_default()
    }

    /// Returns the range of the id in a message: in an answer, of that of its request.
    pub(super) fn place_of_id(self, message: &str) -> Result<Range<usize>, String> {
        let place = with_json(message, |root| {
            let id = self.protocol.pair_id(root, self.direction)?.span();
            Some(id.at()..id.end())
        })?;
        place.ok_or_else(|| "id: the message has none".into())
    }

    /// Replaces the id of a message.
    pub(super) fn with_id(self, message: &str, id: &str) -> Result<String, String> {
        let place = self.place_of_id(message)?;
        let parts = message.get(..place.start).zip(message.get(place.end..));
        let (before, after) = parts.ok_or("id: the message has none")?;
        Ok(format!("{before}{id}{after}"))
    }

    /// Returns the id of a request of the other side for an answer that has no id itself, as an error of the transport.
    pub(super) fn exchange_of(self, answer: &str, request: &str) -> Option<String> {
        let names_itself = with_json(answer, |root| {
            let id = self.protocol.pair_id(root, self.direction);
            root.get("method").is_some() || id.is_some_and(|id| !id.is_null())
        });
        let place = self.peer().place_of_id(request).ok();
        let place = place.filter(|_| names_itself == Ok(false))?;
        request.get(place).map(str::to_owned)
    }
}

//! A message and its position, as sessions and peers receive it.

use super::{Direction, Message, Origin};
use crate::framing::{Frame, Head};
use crate::span::Span;
use crate::tape::Node;

/// A position in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The index of the message, or [`Place::NO_MESSAGE`].
    pub index: u64,
    /// The connection and direction; the time is that of the message.
    pub origin: Origin,
    /// The first byte, counted from the start of the stream of its direction.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
}

impl Place {
    /// The index of a position that is in no message: a connection on which nothing was sent.
    pub const NO_MESSAGE: u64 = u64::MAX;
}

impl Default for Place {
    /// Returns a position in no message.
    fn default() -> Self {
        Self {
            index: Self::NO_MESSAGE,
            origin: Origin::default(),
            offset: 0,
            len: 0,
        }
    }
}

/// A message as a session receives it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Seen<'a> {
    /// The index, which counts all messages of the run.
    pub index: u64,
    /// The connection, direction and time, if they are known.
    pub origin: Origin,
    /// The bytes and the framing.
    pub frame: &'a Frame<'a>,
    /// The message. Its value is complete and has positions.
    pub message: &'a Message<'a>,
}

impl<'a> Seen<'a> {
    /// Returns the value, if there is one.
    pub fn root(&self) -> Option<Node<'a>> {
        self.message
            .value
            .and_then(|parsed| parsed.root(self.frame.view.bytes))
    }

    /// Returns the position of the whole frame.
    pub fn whole(&self) -> Place {
        Place {
            index: self.index,
            origin: self.origin,
            offset: self.frame.offset,
            len: self.frame.len,
        }
    }

    /// Returns the error in the mask of a WebSocket frame, if there is one. RFC 6455 section 5.1: "a client MUST mask
    /// all frames that it sends to the server", "A server MUST NOT mask any frames"; a receiver of another frame closes
    /// the connection.
    pub(crate) fn wrong_mask(&self) -> Option<&'static str> {
        match (self.frame.head, self.origin.direction?) {
            (Head::WebSocket { masked: false, .. }, Direction::ToServer) => {
                Some("the frame is not masked; frames of a client must be masked")
            }
            (Head::WebSocket { masked: true, .. }, Direction::ToClient) => {
                Some("the frame is masked; frames of a server must not be masked")
            }
            _ => None,
        }
    }

    /// Returns the position of a value.
    pub fn at(&self, node: Node<'_>) -> Place {
        self.span(node.span())
    }

    /// Returns the position of a value, or of the whole frame if there is none.
    pub fn place(&self, node: Option<Node<'_>>) -> Place {
        node.map_or_else(|| self.whole(), |node| self.at(node))
    }

    /// Returns the position of a span of the view.
    pub fn span(&self, span: Span) -> Place {
        let range = self.frame.view.range(span);
        Place {
            offset: range.start,
            len: range.end - range.start,
            ..self.whole()
        }
    }
}

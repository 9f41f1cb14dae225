//! A message and its place, as those who follow conversations are told of it.

use super::{Direction, Message, Origin};
use crate::framing::{Frame, Head};
use crate::span::Span;
use crate::tape::Node;

/// Where something is, in a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The message, or [`Place::NO_MESSAGE`].
    pub index: u64,
    /// Its connection and direction; the time is the message's.
    pub origin: Origin,
    /// First byte, from the start of the direction's stream.
    pub offset: u64,
    /// How many bytes.
    pub len: u64,
}

impl Place {
    /// The index of a place that is in no message: a connection on which nothing was sent.
    pub const NO_MESSAGE: u64 = u64::MAX;
}

/// A message, as a session is told of it.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Seen<'a> {
    /// Counts all messages of the run.
    pub index: u64,
    /// Connection, direction and time, where known.
    pub origin: Origin,
    /// Its bytes and how they were delimited.
    pub frame: &'a Frame<'a>,
    /// What it means. Its value is whole, and has places.
    pub message: &'a Message<'a>,
}

impl<'a> Seen<'a> {
    /// The value, where there is one.
    pub fn root(&self) -> Option<Node<'a>> {
        self.message
            .value
            .and_then(|parsed| parsed.root(self.frame.view.bytes))
    }

    /// The place of the whole frame.
    pub fn whole(&self) -> Place {
        Place {
            index: self.index,
            origin: self.origin,
            offset: self.frame.offset,
            len: self.frame.len,
        }
    }

    /// What is wrong with the mask of a WebSocket frame. RFC 6455 section 5.1: "a client MUST mask all frames that it
    /// sends to the server", "A server MUST NOT mask any frames", and whoever is sent another closes the connection.
    pub fn wrong_mask(&self) -> Option<&'static str> {
        match (self.frame.head, self.origin.direction?) {
            (Head::WebSocket { masked: false, .. }, Direction::ToServer) => {
                Some("the frame is not masked, what a client sends must be")
            }
            (Head::WebSocket { masked: true, .. }, Direction::ToClient) => {
                Some("the frame is masked, what a server sends must not be")
            }
            _ => None,
        }
    }

    /// The place of a value.
    pub fn at(&self, node: Node<'_>) -> Place {
        self.span(node.span())
    }

    /// The place of a part of the view.
    pub fn span(&self, span: Span) -> Place {
        let range = self.frame.view.range(span);
        Place {
            offset: range.start,
            len: range.end - range.start,
            ..self.whole()
        }
    }
}

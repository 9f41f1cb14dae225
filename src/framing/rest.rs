//! The state of a framer between two messages: a decoder of many connections stores it in place of the framer.

use super::LengthMode;

/// The state of a framer between two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramerRest {
    /// That of a new framer.
    New,
    /// The length mode of the last frame that showed one.
    Method(Option<LengthMode>),
    /// `true` if the last WebSocket frame was masked.
    WebSocket(Option<bool>),
    /// The numbers of requests and of answered requests.
    Http {
        requests: u32,
        answered: u32,
        asked: bool,
    },
}

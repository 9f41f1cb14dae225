//! The facts about a frame that a protocol needs and that are not in the frame.

use super::Direction;

/// Facts about a frame that are not in the frame.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Context<'c> {
    /// The direction, if it is known.
    pub direction: Option<Direction>,
    /// Is set only if the direction is unknown and a request with the frame's method id is open: true if the kind of
    /// that request is a guess.
    pub open: Option<bool>,
    /// For a message without a method id whose direction is known: the method ids of the open requests of its stream,
    /// the oldest first.
    pub open_methods: &'c [u32],
}

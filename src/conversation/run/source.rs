//! What is known about a capture before it is read.

use crate::capture::Sources;
use crate::decoder::LateGuess;
use crate::protocol::Direction;

/// A capture: its name, and what its bytes do not say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// The name of the file.
    pub name: String,
    /// The files of the client and of the server of each connection, if each file is one direction.
    pub pairs: Vec<[String; 2]>,
    /// It is one of several captures.
    pub is_one_of_several: bool,
    /// The connection and the direction of bytes for which the capture gives none.
    pub conn: Option<u32>,
    pub direction: Option<Direction>,
    /// The index of the first message.
    pub first_index: u64,
    /// Ended connections are removed, because they can be many, or their numbers are reused.
    pub removes_ended: bool,
    /// Times are left out.
    pub without_times: bool,
    /// The protocols of connections that only the end of the capture shows.
    pub late_guesses: Vec<LateGuess>,
    /// The captures, if several are one conversation.
    pub merged: Option<&'static Sources>,
}

//! How a connection ends when its directions do.
//!
//! ```text
//!   c2s eof, s2c eof           -> closed, after both
//!   c2s reset                  -> reset by the client, at once
//!   the server takes no more   -> reset by the server, after the other direction has ended
//! ```

use crate::capture::{ChunkSource, EventKind, EventRecord};

/// The way in which a fault ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEnd {
    /// In order.
    Close,
    /// By a reset.
    Reset,
}

/// The end of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectionEnd {
    /// The sender has ended it.
    Eof,
    /// The sender reset the connection.
    Reset,
    /// The receiver takes no more.
    Refused,
    /// A fault ends the connection.
    Fault(FaultEnd),
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// Both directions have ended.
    Close,
    /// The sender of this direction reset the connection.
    Reset(ChunkSource),
    /// A fault ended the connection.
    Fault(FaultEnd),
}

impl ConnectionEnd {
    /// Returns the event that records it.
    pub fn event(self, t: i64, conn: u32) -> EventRecord {
        let what = match self {
            Self::Close | Self::Fault(FaultEnd::Close) => EventKind::Close,
            Self::Reset(_) | Self::Fault(FaultEnd::Reset) => EventKind::Reset,
        };
        let mut ended = EventRecord::new(what, t, conn);
        match self {
            Self::Close => {}
            Self::Reset(dir) => {
                ended.more.insert("dir".into(), dir.name().into());
            }
            Self::Fault(_) => {
                ended.more.insert("by".into(), "wiretool".into());
            }
        }
        ended
    }
}

/// The directions of a connection that have ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    ended: [bool; 2],
    /// The first receiver that took no more.
    reset_by: Option<ChunkSource>,
}

impl Ends {
    /// Returns `true` if the direction has not ended.
    pub fn is_open(&self, dir: ChunkSource) -> bool {
        !self.ended[usize::from(dir == ChunkSource::S2c)]
    }

    /// Takes the end of a direction. Returns the end of the connection if nothing more can pass.
    pub fn end(&mut self, dir: ChunkSource, how: DirectionEnd) -> Option<ConnectionEnd> {
        let is_answer = dir == ChunkSource::S2c;
        match how {
            DirectionEnd::Reset => return Some(ConnectionEnd::Reset(dir)),
            DirectionEnd::Fault(end) => return Some(ConnectionEnd::Fault(end)),
            DirectionEnd::Eof => {}
            DirectionEnd::Refused => {
                let receiver = if is_answer {
                    ChunkSource::C2s
                } else {
                    ChunkSource::S2c
                };
                self.reset_by.get_or_insert(receiver);
            }
        }
        self.ended[usize::from(is_answer)] = true;
        let end = self
            .reset_by
            .map_or(ConnectionEnd::Close, ConnectionEnd::Reset);
        (self.ended == [true; 2]).then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_ends_after_both_directions_or_by_a_reset() {
        use ChunkSource::{C2s, S2c};
        use DirectionEnd::{Eof, Fault, Refused, Reset};
        for (ends, want) in [
            (&[(C2s, Eof), (S2c, Eof)][..], Some(ConnectionEnd::Close)),
            (&[(S2c, Eof)], None),
            (&[(C2s, Reset)], Some(ConnectionEnd::Reset(C2s))),
            (&[(C2s, Eof), (S2c, Reset)], Some(ConnectionEnd::Reset(S2c))),
            (&[(C2s, Refused)], None),
            (
                &[(C2s, Refused), (S2c, Eof)],
                Some(ConnectionEnd::Reset(S2c)),
            ),
            (
                &[(S2c, Refused), (C2s, Refused)],
                Some(ConnectionEnd::Reset(C2s)),
            ),
            (
                &[(C2s, Refused), (S2c, Fault(FaultEnd::Close))],
                Some(ConnectionEnd::Fault(FaultEnd::Close)),
            ),
        ] {
            let mut state = Ends::default();
            let mut ended = None;
            for (dir, how) in ends {
                assert!(state.is_open(*dir) && ended.is_none(), "{ends:?}");
                ended = state.end(*dir, *how);
            }
            assert_eq!(ended, want, "{ends:?}");
        }
    }
}

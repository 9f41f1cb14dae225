//! Two one-way streams become one conversation.
//!
//! What each direction says is known, when it said it is not. Ids order what they can: an answer comes after its
//! question, and as early as possible. Where nothing orders, c2s comes first.

use super::{Decoder, Options, Origin};
use crate::protocol::{Direction, Id, Role};
use crate::render::id_text;
use std::collections::HashSet;

/// A piece of one direction's stream: up to `end`, one frame is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which way.
    pub direction: Direction,
    /// First byte in its direction's stream.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// What orders a frame: it asks something, it answers something, or neither.
enum Mark {
    Asks(String),
    Answers(String),
    Neither,
}

struct Side {
    direction: Direction,
    frames: Vec<(usize, Mark)>,
    next: usize,
    at: usize,
    asked: HashSet<String>,
}

/// The pieces of both streams in the order of a conversation.
pub fn interleave(options: &Options<'_>, to_server: &[u8], to_client: &[u8]) -> Vec<Piece> {
    let mut sides = [
        (Direction::ToServer, to_server),
        (Direction::ToClient, to_client),
    ]
    .map(|(direction, _)| Side {
        direction,
        frames: Vec::new(),
        next: 0,
        at: 0,
        asked: HashSet::new(),
    });
    let mut decoder = Decoder::new(options.clone());
    {
        let mut collect = |decoded: &super::Decoded<'_>| {
            let mark = match (&decoded.message.id, decoded.message.role) {
                (Id::None, _) | (_, None) => Mark::Neither,
                (id, Some(Role::Request | Role::Hello)) => Mark::Asks(id_text(id).into_owned()),
                (id, Some(Role::Response | Role::Error | Role::Item | Role::End)) => {
                    Mark::Answers(id_text(id).into_owned())
                }
                _ => Mark::Neither,
            };
            let [server, client] = &mut sides;
            let side = if decoded.origin.direction == Some(Direction::ToServer) {
                server
            } else {
                client
            };
            side.frames.push((decoded.next as usize, mark));
        };
        for (direction, bytes) in [
            (Direction::ToServer, to_server),
            (Direction::ToClient, to_client),
        ] {
            decoder.push(
                Origin {
                    direction: Some(direction),
                    ..Origin::default()
                },
                bytes,
                &mut collect,
            );
        }
        decoder.finish(&mut collect);
    }
    let mut pieces = Vec::new();
    let [server, client] = &mut sides;
    loop {
        let piece = match (server.head(client), client.head(server)) {
            (None, None) => break,
            // An answer whose question was heard comes at once.
            (Some(_), Some(Readiness::Answer)) => client.take(),
            // An answer whose question was not heard yet waits for it.
            (Some(Readiness::TooEarly), Some(Readiness::Free)) => client.take(),
            (Some(_), _) => server.take(),
            (None, Some(_)) => client.take(),
        };
        pieces.push(piece);
    }
    for (side, bytes) in [(server, to_server), (client, to_client)] {
        if side.at < bytes.len() {
            pieces.push(Piece {
                direction: side.direction,
                start: side.at,
                end: bytes.len(),
            });
        }
    }
    pieces
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Readiness {
    Answer,
    Free,
    TooEarly,
}

impl Side {
    /// How the next frame stands to what the other side said so far.
    fn head(&self, other: &Side) -> Option<Readiness> {
        let (_, mark) = self.frames.get(self.next)?;
        Some(match mark {
            Mark::Answers(id) if other.asked.contains(id) => Readiness::Answer,
            Mark::Answers(id) if other.will_ask(id) => Readiness::TooEarly,
            _ => Readiness::Free,
        })
    }

    /// Whether a frame that is still to come asks under this id; looked for only so far, to stay quick.
    fn will_ask(&self, id: &str) -> bool {
        const AHEAD: usize = 256;
        let ahead = self
            .frames
            .get(self.next..)
            .unwrap_or_default()
            .iter()
            .take(AHEAD);
        ahead
            .into_iter()
            .any(|(_, mark)| matches!(mark, Mark::Asks(asked) if asked == id))
    }

    fn take(&mut self) -> Piece {
        let start = self.at;
        if let Some((end, mark)) = self.frames.get(self.next) {
            if let Mark::Asks(id) = mark {
                self.asked.insert(id.clone());
            }
            self.at = (*end).max(start);
        }
        self.next += 1;
        Piece {
            direction: self.direction,
            start,
            end: self.at,
        }
    }
}

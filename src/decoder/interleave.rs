//! Two one-way streams become one conversation.
//!
//! What each direction says is known, when it said it is not. Ids order what they can: an answer comes after its
//! question, and as early as possible. Where nothing orders, c2s comes first.

use super::{Decoder, Options, Origin};
use crate::framing::Head;
use crate::protocol::{Direction, Id, Role};
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

/// How far ahead is looked, to stay quick.
const AHEAD: usize = 256;

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
    /// HTTP exchanges and heartbeats so far: those without an id pair by order.
    exchanges: usize,
    beats: usize,
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
        exchanges: 0,
        beats: 0,
    });
    let mut decoder = Decoder::new(options.clone());
    {
        let mut collect = |decoded: &super::Decoded<'_>| {
            let to_server = decoded.origin.direction == Some(Direction::ToServer);
            let [server, client] = &mut sides;
            let side = if to_server { server } else { client };
            let mark = side.mark(decoded, to_server);
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
    /// What orders a frame. On one connection the n-th HTTP response answers the n-th request; greetings and heartbeats
    /// without an id pair by order too.
    fn mark(&mut self, decoded: &super::Decoded<'_>, to_server: bool) -> Mark {
        let pair = |name: String| {
            if to_server {
                Mark::Asks(name)
            } else {
                Mark::Answers(name)
            }
        };
        if let Head::Http {
            event: false,
            status,
            ..
        } = decoded.frame.head
        {
            let interim = (100..200).contains(&status) && status != 101;
            self.exchanges += usize::from(!interim);
            return pair(format!("http {}", self.exchanges));
        }
        match (&decoded.message.id, decoded.message.role) {
            (Id::None, Some(Role::Hello)) => pair("hello".into()),
            (Id::None, Some(Role::Heartbeat)) => {
                self.beats += 1;
                pair(format!("beat {}", self.beats))
            }
            (Id::None, _) | (_, None) => Mark::Neither,
            (id, Some(Role::Request | Role::Hello)) => Mark::Asks(id.text().into_owned()),
            (id, Some(Role::Response | Role::Error | Role::Item | Role::End)) => {
                Mark::Answers(id.text().into_owned())
            }
            _ => Mark::Neither,
        }
    }

    /// How the next frame stands to what the other side said so far. What answers nothing goes with the answer that
    /// follows it.
    fn head(&self, other: &Side) -> Option<Readiness> {
        let ahead = self.frames.get(self.next..).unwrap_or_default();
        ahead.first()?;
        let first = ahead.iter().take(AHEAD).find_map(|(_, mark)| match mark {
            Mark::Answers(id) if other.asked.contains(id) => Some(Readiness::Answer),
            Mark::Answers(id) if other.will_ask(id) => Some(Readiness::TooEarly),
            Mark::Asks(_) => Some(Readiness::Free),
            _ => None,
        });
        Some(first.unwrap_or(Readiness::Free))
    }

    /// Whether a frame that is still to come asks under this id.
    fn will_ask(&self, id: &str) -> bool {
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

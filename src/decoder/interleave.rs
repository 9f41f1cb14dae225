//! Merges two one-way streams into one conversation.
//!
//! The messages of each direction are known, but not their times. Ids give the order where
//! possible: a response comes after its request, and as early as possible. Without an order, c2s
//! comes first.

use super::{DecodeOptions, Decoder, Origin};
use crate::framing::Head;
use crate::protocol::{Direction, Id, Role};
use std::collections::{HashMap, HashSet, VecDeque};

/// A piece of one direction's stream: one frame is complete at `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPiece {
    /// Its direction.
    pub direction: Direction,
    /// The first byte in its direction's stream.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

/// One direction of a connection, as a capture holds it.
#[derive(Debug, Default)]
pub struct OneWay {
    /// The bytes that the capture has.
    pub bytes: Vec<u8>,
    gaps: Vec<OneWayGap>,
}

/// Missing bytes.
#[derive(Clone, Copy, Debug)]
pub struct OneWayGap {
    /// The index in the bytes of the first byte after the gap.
    pub index: usize,
    /// The number of missing bytes.
    pub len: u64,
    /// The offset of the first missing byte in the stream.
    offset: u64,
}

impl OneWay {
    /// Adds missing bytes after those so far.
    pub fn push_gap(&mut self, len: u64) {
        let end = |gap: &OneWayGap| gap.offset.saturating_add(gap.len) - gap.index as u64;
        let missing = self.gaps.last().map_or(0, end);
        self.gaps.push(OneWayGap {
            index: self.bytes.len(),
            len,
            offset: missing.saturating_add(self.bytes.len() as u64),
        });
    }

    /// Returns the gaps, in order.
    pub fn gaps(&self) -> &[OneWayGap] {
        &self.gaps
    }

    /// Returns the index in the bytes of an offset in the stream.
    fn index(&self, offset: u64) -> usize {
        let before = self.gaps.partition_point(|gap| gap.offset < offset);
        let gap = before.checked_sub(1).and_then(|n| self.gaps.get(n));
        gap.map_or(offset as usize, |gap| {
            let after = offset.saturating_sub(gap.offset.saturating_add(gap.len));
            gap.index + after as usize
        })
    }

    /// Decodes the stream.
    fn decode(
        &self,
        decoder: &mut Decoder<'_>,
        direction: Direction,
        sink: &mut super::FrameSink<'_>,
    ) {
        let origin = Origin {
            direction: Some(direction),
            ..Origin::default()
        };
        let mut from = 0;
        for gap in &self.gaps {
            let bytes = self.bytes.get(from..gap.index).unwrap_or_default();
            decoder.push(origin, bytes, sink);
            decoder.gap(origin, gap.len, sink);
            from = gap.index;
        }
        decoder.push(origin, self.bytes.get(from..).unwrap_or_default(), sink);
    }
}

/// The maximum number of frames to look ahead, to limit the time.
const LOOKAHEAD: usize = 256;

/// The order of a frame: it is a request, a response, or neither.
enum FrameRole {
    Request(String),
    Answers(String),
    Neither,
}

struct InterleaveSide {
    direction: Direction,
    frames: Vec<(usize, FrameRole, PieceRole)>,
    next: usize,
    at: usize,
    asked: HashSet<String>,
    /// The number of HTTP exchanges and heartbeats so far: those without an id pair by order.
    exchanges: usize,
    beats: usize,
}

/// Returns the pieces of connections in the order of one conversation; each connection has its stream to the server and
/// the one to the client. A response to a request of another connection comes after that request; without such an
/// order, earlier connections come first.
pub fn interleave(
    options: &DecodeOptions<'_>,
    connections: &[[OneWay; 2]],
) -> Vec<(usize, StreamPiece)> {
    let all = connections.iter().map(|streams| order(options, streams));
    let mut all: Vec<VecDeque<_>> = all.map(VecDeque::from).collect();
    // Requests that follow, by direction and id; and those of each connection.
    let mut ahead: HashMap<(Direction, String), usize> = HashMap::new();
    let mut own = vec![HashSet::new(); all.len()];
    for (own, pieces) in own.iter_mut().zip(&all) {
        for (piece, role) in pieces {
            if let PieceRole::Asks(id) = role {
                let request = (piece.direction, id.clone());
                *ahead.entry(request.clone()).or_default() += 1;
                own.insert(request);
            }
        }
    }
    let mut asked: HashSet<(Direction, String)> = HashSet::new();
    let mut pieces = Vec::new();
    loop {
        let waits = |own: &HashSet<_>, (piece, role): &(StreamPiece, PieceRole)| match role {
            PieceRole::Answers(id) => {
                let request = (piece.direction.other(), id.clone());
                let is_later = ahead.get(&request).is_some_and(|left| *left > 0);
                is_later && !own.contains(&request) && !asked.contains(&request)
            }
            _ => false,
        };
        let mut fronts = all
            .iter()
            .zip(&own)
            .map(|(queue, own)| (queue.front(), own));
        let next = fronts.position(|(next, own)| next.is_some_and(|next| !waits(own, next)));
        // Connections that wait for each other have no order.
        let next = next.or_else(|| all.iter().position(|queue| !queue.is_empty()));
        let piece = next.and_then(|conn| Some((conn, all.get_mut(conn)?.pop_front()?)));
        let Some((conn, (piece, mark))) = piece else {
            return pieces;
        };
        if let PieceRole::Asks(id) = mark {
            let request = (piece.direction, id);
            if let Some(left) = ahead.get_mut(&request) {
                *left -= 1;
            }
            asked.insert(request);
        }
        pieces.push((conn, piece));
    }
}

/// The part of a piece in the order of several connections.
enum PieceRole {
    /// A request with this id.
    Asks(String),
    /// A response with this id.
    Answers(String),
    Neither,
}

impl PieceRole {
    fn of(decoded: &super::Decoded<'_>) -> Self {
        match (&decoded.message.id, decoded.message.role) {
            (Id::None, _) => Self::Neither,
            (id, Some(Role::Request)) => Self::Asks(id.text().into_owned()),
            (id, Some(Role::Response | Role::Error)) => Self::Answers(id.text().into_owned()),
            _ => Self::Neither,
        }
    }
}

/// Returns the pieces of both streams of a connection in the order of a conversation.
fn order(options: &DecodeOptions<'_>, streams: &[OneWay; 2]) -> Vec<(StreamPiece, PieceRole)> {
    let [to_server, to_client] = streams;
    let mut sides = [Direction::ToServer, Direction::ToClient].map(|direction| InterleaveSide {
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
            let is_to_server = decoded.origin.direction == Some(Direction::ToServer);
            let [server, client] = &mut sides;
            let (side, stream) = if is_to_server {
                (server, to_server)
            } else {
                (client, to_client)
            };
            let mark = side.mark(decoded, is_to_server);
            let call = PieceRole::of(decoded);
            side.frames.push((stream.index(decoded.next), mark, call));
        };
        to_server.decode(&mut decoder, Direction::ToServer, &mut collect);
        to_client.decode(&mut decoder, Direction::ToClient, &mut collect);
        decoder.finish(&mut collect);
    }
    let mut pieces = Vec::new();
    let [server, client] = &mut sides;
    loop {
        let piece = match (server.head(client), client.head(server)) {
            (None, None) => break,
            // A response whose request came comes at once.
            (Some(_), Some(SideReadiness::Answer)) => client.take(),
            // A response whose request has not come waits for it.
            (Some(SideReadiness::TooEarly), Some(SideReadiness::Free)) => client.take(),
            (Some(_), _) => server.take(),
            (None, Some(_)) => client.take(),
        };
        pieces.push(piece);
    }
    for (side, stream) in [(server, to_server), (client, to_client)] {
        if side.at < stream.bytes.len() {
            let piece = StreamPiece {
                direction: side.direction,
                start: side.at,
                end: stream.bytes.len(),
            };
            pieces.push((piece, PieceRole::Neither));
        }
    }
    pieces
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SideReadiness {
    Answer,
    Free,
    TooEarly,
}

impl InterleaveSide {
    /// Returns the mark of a frame. On one connection the n-th HTTP response answers the n-th
    /// request; greetings and heartbeats without an id pair by order too.
    fn mark(&mut self, decoded: &super::Decoded<'_>, to_server: bool) -> FrameRole {
        let pair = |name: String| {
            if to_server {
                FrameRole::Request(name)
            } else {
                FrameRole::Answers(name)
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
            (Id::None, _) | (_, None) => FrameRole::Neither,
            (id, Some(Role::Request | Role::Hello)) => FrameRole::Request(id.text().into_owned()),
            (id, Some(Role::Response | Role::Error | Role::Item | Role::End)) => {
                FrameRole::Answers(id.text().into_owned())
            }
            _ => FrameRole::Neither,
        }
    }

    /// Compares the next frame with the earlier frames of the other direction. A frame without a
    /// request goes with the next response.
    fn head(&self, other: &InterleaveSide) -> Option<SideReadiness> {
        let ahead = self.frames.get(self.next..).unwrap_or_default();
        ahead.first()?;
        let first = ahead
            .iter()
            .take(LOOKAHEAD)
            .find_map(|(_, mark, _)| match mark {
                FrameRole::Answers(id) if other.asked.contains(id) => Some(SideReadiness::Answer),
                FrameRole::Answers(id) if other.will_request(id) => Some(SideReadiness::TooEarly),
                FrameRole::Request(_) => Some(SideReadiness::Free),
                _ => None,
            });
        Some(first.unwrap_or(SideReadiness::Free))
    }

    /// Returns `true` if a later frame is a request with this id.
    fn will_request(&self, id: &str) -> bool {
        let ahead = self
            .frames
            .get(self.next..)
            .unwrap_or_default()
            .iter()
            .take(LOOKAHEAD);
        ahead
            .into_iter()
            .any(|(_, mark, _)| matches!(mark, FrameRole::Request(asked) if asked == id))
    }

    fn take(&mut self) -> (StreamPiece, PieceRole) {
        let start = self.at;
        let mut role = PieceRole::Neither;
        if let Some((end, mark, call)) = self.frames.get_mut(self.next) {
            if let FrameRole::Request(id) = mark {
                self.asked.insert(id.clone());
            }
            self.at = (*end).max(start);
            role = std::mem::replace(call, role);
        }
        self.next += 1;
        let piece = StreamPiece {
            direction: self.direction,
            start,
            end: self.at,
        };
        (piece, role)
    }
}

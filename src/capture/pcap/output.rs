//! Output of a connection: chunks and events, once it is known which side is the client.

use super::super::chunk::{Chunk, Event, EventKind, Item, ItemSink};
use super::opener::{Opener, OwnedPart, WaitingPart};
use super::stream::{CapturedAt, StreamPart};
use crate::protocol::Direction;
use core::net::SocketAddr;
use serde_json::{Map, Value, json};

/// The lower address and port first.
pub(super) type FlowKey = [SocketAddr; 2];

/// An output of a connection.
pub(super) struct FlowOutput {
    pub number: u32,
    ends: FlowKey,
    /// The side that opened it.
    client: Option<usize>,
    /// Holds what comes before the client is known.
    opener: Option<Box<Opener>>,
    opened: CapturedAt,
    pub has_start: [bool; 2],
    pub has_bytes: [bool; 2],
    pub has_ended: [bool; 2],
    pub is_reset: bool,
    pub kind: FlowKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowKind {
    Plain,
    /// Encrypted: it cannot be read.
    Tls,
    /// Not asked for.
    Filtered,
}

impl FlowOutput {
    pub(super) fn new(number: u32, ends: FlowKey, opened: CapturedAt, is_wanted: bool) -> Self {
        Self {
            number,
            ends,
            client: None,
            opener: None,
            opened,
            has_start: [false; 2],
            has_bytes: [false; 2],
            has_ended: [false; 2],
            is_reset: false,
            kind: if is_wanted {
                FlowKind::Plain
            } else {
                FlowKind::Filtered
            },
        }
    }

    /// Passes on bytes in order, or a gap.
    pub(super) fn part(
        &mut self,
        side: usize,
        at: CapturedAt,
        part: StreamPart<'_>,
        sink: &mut ItemSink<'_>,
    ) {
        let has_bytes = self.has_bytes.get_mut(side);
        let is_first = matches!(part, StreamPart::Bytes(_))
            && has_bytes.is_some_and(|has| !std::mem::replace(has, true));
        if let StreamPart::Bytes(bytes) = &part
            && is_first
            && self.kind == FlowKind::Plain
            && is_tls(bytes)
        {
            self.kind = FlowKind::Tls;
        }
        if self.kind != FlowKind::Plain {
            self.opener = None;
            return;
        }
        // The first bytes may begin amid a message.
        if is_first && self.has_start.get(side) == Some(&false) {
            self.owned(side, at, OwnedPart::Gap(0), sink);
        }
        match part {
            StreamPart::Gap(len) => self.owned(side, at, OwnedPart::Gap(len), sink),
            StreamPart::Bytes(bytes) => match self.direction(side) {
                Some(direction) => sink(Item::Chunk(Chunk {
                    line: None,
                    conn: self.number,
                    stream: None,
                    direction: Some(direction),
                    time: at.time,
                    bytes,
                })),
                None => self.owned(side, at, OwnedPart::Bytes(bytes.to_vec()), sink),
            },
        }
    }

    /// Passes on a part, or holds it until the client is known.
    pub(super) fn owned(
        &mut self,
        side: usize,
        at: CapturedAt,
        part: OwnedPart,
        sink: &mut ItemSink<'_>,
    ) {
        if self.kind != FlowKind::Plain {
            return;
        }
        let Some(direction) = self.direction(side) else {
            let opener = self.opener.get_or_insert_with(|| Box::new(Opener::new()));
            match opener.push(WaitingPart { side, at, part }) {
                Ok(None) => {}
                Ok(client) => self.choose_client(client, sink),
                Err(()) => self.choose_client(None, sink),
            }
            return;
        };
        let direction = Some(direction);
        match part {
            OwnedPart::Bytes(bytes) => sink(Item::Chunk(Chunk {
                line: None,
                conn: self.number,
                stream: None,
                direction,
                time: at.time,
                bytes: &bytes,
            })),
            OwnedPart::Gap(len) => {
                let more = Map::from_iter([("len".to_owned(), json!(len))]);
                self.event(EventKind::Lost, direction, at, Some(&more), sink);
            }
            OwnedPart::End => self.event(EventKind::Eof, direction, at, None, sink),
            OwnedPart::Reset => self.event(EventKind::Reset, None, at, None, sink),
        }
    }

    /// Returns the memory that waits for the client to be known.
    pub(super) fn waiting_memory(&self) -> usize {
        self.opener.as_ref().map_or(0, |opener| opener.memory())
    }

    pub(super) fn end(&mut self, side: usize, at: CapturedAt, sink: &mut ItemSink<'_>) {
        let is_first = self
            .has_ended
            .get_mut(side)
            .is_some_and(|has| !std::mem::replace(has, true));
        if is_first {
            self.owned(side, at, OwnedPart::End, sink);
        }
    }

    fn direction(&self, side: usize) -> Option<Direction> {
        self.client.map(|client| {
            if client == side {
                Direction::ToServer
            } else {
                Direction::ToClient
            }
        })
    }

    /// Sets the side of the client, once; `None`: the likeliest, or the one with the higher port. Passes on what waited for it.
    pub(super) fn choose_client(&mut self, client: Option<usize>, sink: &mut ItemSink<'_>) {
        if self.client.is_some() || self.kind == FlowKind::Filtered {
            return;
        }
        let [low, high] = self.ends;
        let likely = || {
            self.opener
                .as_mut()
                .and_then(|opener| opener.likely_client())
        };
        let client = client.or_else(likely);
        let client = client.unwrap_or(usize::from(high.port() > low.port()));
        self.client = Some(client);
        let (client, server) = if client == 0 {
            (low, high)
        } else {
            (high, low)
        };
        let more = [("peer", client), ("server", server)];
        let more = more.map(|(key, end)| (key.to_owned(), Value::String(end.to_string())));
        let opened = self.opened;
        self.event(
            EventKind::Open,
            None,
            opened,
            Some(&Map::from_iter(more)),
            sink,
        );
        for waiting in self
            .opener
            .take()
            .into_iter()
            .flat_map(|opener| opener.waiting)
        {
            self.owned(waiting.side, waiting.at, waiting.part, sink);
        }
    }

    pub(super) fn event(
        &self,
        what: EventKind<'_>,
        direction: Option<Direction>,
        at: CapturedAt,
        more: Option<&Map<String, Value>>,
        sink: &mut ItemSink<'_>,
    ) {
        if self.kind == FlowKind::Filtered {
            return;
        }
        sink(Item::Event(Event {
            direction,
            time: at.time,
            more,
            ..Event::new(self.number, what)
        }));
    }
}

/// Returns true for the first bytes of a stream that is TLS: a record of a handshake, or of data if the start was not
/// captured (RFC 8446 section 5.1).
fn is_tls(bytes: &[u8]) -> bool {
    matches!(bytes, [0x14..=0x17, 3, 0..=4, high, ..] if *high <= 0x48)
}

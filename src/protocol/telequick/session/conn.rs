//! A connection and its byte streams.
//!
//! ```text
//!   connection  completeness, the latest answered request
//!     stream    one for each direction: length mode, frames that could not be read
//! ```

use crate::framing::LengthMode;
use crate::protocol::rule_names::telequick as rule;
use crate::protocol::session::memory::BoxedPerDirection;
use crate::protocol::session::{Current, Place, Report, broken};
use crate::protocol::{ConnStream, Origin, Role};
use crate::span::Span;
use std::collections::BTreeMap;

/// The number of reported ids that are stored, for each direction of a connection.
const REPORTED_IDS: usize = 64;
/// The number of streams whose state is stored.
const MAX_STREAMS: usize = 1 << 14;

/// A connection.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(super) struct TelequickConnection {
    pub known: KnownHistory,
    /// A request was seen on the connection.
    pub asked: bool,
    /// A request was seen on this stream.
    pub asked_here: bool,
    /// A message was reported that does not belong on this stream.
    pub is_misused: bool,
    /// The latest answered request.
    pub answered: Option<u64>,
    /// An event for another client was reported.
    pub wrong_client: bool,
    pub streams: BoxedPerDirection<DirectionStream>,
}

/// The completeness of a connection.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum KnownHistory {
    /// The start is not known.
    #[default]
    Given,
    /// All messages since the opening are known.
    Opened,
    /// Messages are missing.
    Partly,
}

/// The length mode of one kind of frames.
struct FirstMode {
    mode: LengthMode,
    /// The first frame that has it.
    index: u64,
    /// A change was reported.
    changed: bool,
}

/// What few directions have.
#[derive(Default)]
struct RareState {
    /// The first frame of the connection whose length counts itself, and the number of such frames.
    inclusive: Option<(Place, u64)>,
    reported_ids: Vec<u32>,
}

/// One direction of a connection.
#[derive(Default)]
pub(super) struct DirectionStream {
    pub is_active: bool,
    pub ended: bool,
    /// The length mode of requests and answers, and of audio and events.
    calls: Option<FirstMode>,
    pushes: Option<FirstMode>,
    /// The number of frames that could not be read.
    pub gaps: u32,
    rare: Option<Box<RareState>>,
}

impl TelequickConnection {
    /// Returns for each side the first frame whose length counts itself, and their number.
    fn inclusive(&self) -> impl Iterator<Item = (Place, u64)> {
        let sides = self.streams.iter();
        sides.filter_map(|side| side.rare.as_ref()?.inclusive)
    }

    /// Reports the frames whose length counts itself, once for each side.
    pub fn report_inclusive(&self, report: &mut Report) {
        for (first, count) in self.inclusive() {
            let more = match count {
                1 => String::new(),
                2 => ", as in 1 further frame of this side".to_owned(),
                n => format!(", as in {} further frames of this side", n - 1),
            };
            broken!(report, rule::INCLUSIVE_LENGTH, first;
                "length counts its own four bytes{more}; the document forbids it");
        }
    }
}

/// Counts a frame whose length counts itself, for its side of the connection.
pub(super) fn count_inclusive(conns: &mut TelequickConnections, seen: Current<'_, '_>) {
    let connection = conns.entry(whole(seen.origin));
    let side = connection.streams.get_mut(seen.origin.direction);
    let first = || (length_place(seen), 0);
    let rare = side.rare.get_or_insert_default();
    rare.inclusive.get_or_insert_with(first).1 += 1;
}

/// The connection of a stream.
pub(super) fn whole(origin: Origin) -> Origin {
    Origin {
        stream: None,
        ..origin
    }
}

/// The connections, and the streams of those that have several.
#[derive(Default)]
pub(super) struct TelequickConnections {
    all: BTreeMap<ConnStream, TelequickConnection>,
    /// The state of a stream was dropped, because too many were open.
    is_partial: bool,
}

impl TelequickConnections {
    /// Returns the state of a connection, or of one of its streams; creates it if there is none.
    pub fn entry(&mut self, origin: Origin) -> &mut TelequickConnection {
        let stream = origin.conn_stream();
        if !self.all.contains_key(&stream) {
            if stream.1.is_some() && self.all.len() >= MAX_STREAMS {
                self.drop_stream(stream.0);
            }
            let known = self.known(stream);
            let new = TelequickConnection {
                known,
                ..TelequickConnection::default()
            };
            self.all.insert(stream, new);
        }
        self.all.entry(stream).or_default()
    }

    pub fn get(&self, stream: ConnStream) -> Option<&TelequickConnection> {
        self.all.get(&stream)
    }

    pub fn get_mut(&mut self, stream: ConnStream) -> Option<&mut TelequickConnection> {
        self.all.get_mut(&stream)
    }

    /// Removes the state of a connection or stream. There may be none.
    pub fn remove(&mut self, stream: ConnStream) -> Option<TelequickConnection> {
        self.all.remove(&stream)
    }

    pub fn iter(&self) -> impl Iterator<Item = (ConnStream, &TelequickConnection)> {
        self.all.iter().map(|(stream, conn)| (*stream, conn))
    }

    /// Returns a connection and its streams.
    pub fn streams(&self, conn: Option<u32>) -> Vec<ConnStream> {
        let streams = self.all.range((conn, None)..=(conn, Some(u64::MAX)));
        streams.map(|(stream, _)| *stream).collect()
    }

    /// Returns true if streams have open requests, but no state.
    pub fn has_requests_without_state(&self) -> bool {
        self.is_partial
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the completeness of a new stream: as much is known of it as of its connection.
    fn known(&self, (conn, stream): ConnStream) -> KnownHistory {
        let whole = stream.and(self.all.get(&(conn, None)));
        whole.map_or(KnownHistory::Given, |whole| whole.known)
    }

    /// Drops the state of the stream with the lowest number.
    fn drop_stream(&mut self, conn: Option<u32>) {
        let mut streams = self.all.range((conn, Some(0))..=(conn, Some(u64::MAX)));
        let lowest = streams.next().map(|(stream, _)| *stream);
        if let Some(lowest) = lowest {
            self.all.remove(&lowest);
            self.is_partial = true;
        }
    }
}

fn length_place(seen: Current<'_, '_>) -> Place {
    seen.span(Span::new(0, 4))
}

impl DirectionStream {
    /// Checks the mode of a length. Returns true if frames of this kind count their own length, as the first one does.
    pub fn check_length(&mut self, mode: LengthMode, seen: Current<'_, '_>) -> bool {
        // The SDKs write requests inclusive, and audio exclusive; their readers decide by the method.
        let mode_use = match seen.message.role {
            Some(Role::Item) => &mut self.pushes,
            _ => &mut self.calls,
        };
        let first = mode_use.get_or_insert(FirstMode {
            mode,
            index: seen.index,
            changed: false,
        });
        if first.mode != mode && !std::mem::replace(&mut first.changed, true) {
            broken!(seen, rule::FLAVOUR_CHANGE, length_place(seen), first.index;
                "length is {}, but frames of this kind have {} lengths since #{}",
                mode.name(), first.mode.name(), first.index);
        }
        first.mode == LengthMode::Inclusive && mode == LengthMode::Inclusive
    }

    /// Returns true if this id was not reported yet.
    pub fn is_new(&mut self, id: u32) -> bool {
        let ids = &mut self.rare.get_or_insert_default().reported_ids;
        let new = !ids.contains(&id);
        if new && ids.len() < REPORTED_IDS {
            ids.push(id);
        }
        new
    }
}

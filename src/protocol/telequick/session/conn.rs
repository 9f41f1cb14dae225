//! A connection and its byte streams.
//!
//! ```text
//!   connection  completeness, the latest answered request
//!     stream    one for each direction: length mode, frames that could not be read
//! ```

use crate::framing::LengthMode;
use crate::protocol::rule_names::telequick as rule;
use crate::protocol::session::memory::PerDirection;
use crate::protocol::session::{Current, Place, Report, broken};
use crate::protocol::{Link, Origin, Role};
use crate::span::Span;
use std::collections::BTreeMap;

/// The number of reported ids that are stored, for each direction of a connection.
const REPORTED_IDS: usize = 64;

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
    pub streams: PerDirection<DirectionStream>,
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
#[derive(Default)]
struct FirstMode {
    /// The mode, and the first frame that has it.
    first: Option<(LengthMode, u64)>,
    /// A change was reported.
    changed: bool,
}

/// One direction of a connection.
#[derive(Default)]
pub(super) struct DirectionStream {
    pub is_active: bool,
    pub ended: bool,
    /// The first frame of the connection whose length counts itself, and the number of such frames.
    inclusive: Option<(Place, u64)>,
    /// The length mode of requests and answers, and of audio and events.
    calls: FirstMode,
    pushes: FirstMode,
    /// The number of frames that could not be read.
    pub gaps: u32,
    pub reported_ids: Vec<u32>,
}

impl TelequickConnection {
    /// Reports the frames whose length counts itself, once for each side.
    pub fn report_inclusive(&self, report: &mut Report) {
        for (first, count) in self.streams.iter().filter_map(|side| side.inclusive) {
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
pub(super) fn count_inclusive(
    conns: &mut BTreeMap<Link, TelequickConnection>,
    seen: Current<'_, '_>,
) {
    let connection = entry(conns, whole(seen.origin));
    let side = connection.streams.get_mut(seen.origin.direction);
    let first = || (length_place(seen), 0);
    side.inclusive.get_or_insert_with(first).1 += 1;
}

/// The connection of a stream.
pub(super) fn whole(origin: Origin) -> Origin {
    Origin {
        stream: None,
        ..origin
    }
}

/// The state of a connection, or of one of its streams: of that as much is known as of its connection.
pub(super) fn entry(
    conns: &mut BTreeMap<Link, TelequickConnection>,
    origin: Origin,
) -> &mut TelequickConnection {
    let whole = origin.stream.and(conns.get(&(origin.conn, None)));
    let known = whole.map_or(KnownHistory::Given, |whole| whole.known);
    conns
        .entry(origin.link())
        .or_insert_with(|| TelequickConnection {
            known,
            ..TelequickConnection::default()
        })
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
        match mode_use.first {
            None => mode_use.first = Some((mode, seen.index)),
            Some((first, index)) if first != mode && !mode_use.changed => {
                mode_use.changed = true;
                broken!(seen, rule::FLAVOUR_CHANGE, length_place(seen), index;
                    "length is {}, but frames of this kind have {} lengths since #{index}",
                    mode.name(), first.name());
            }
            Some(_) => {}
        }
        matches!(mode_use.first, Some((LengthMode::Inclusive, _))) && mode == LengthMode::Inclusive
    }

    /// Returns true if this id was not reported yet.
    pub fn is_new(&mut self, id: u32) -> bool {
        let new = !self.reported_ids.contains(&id);
        if new && self.reported_ids.len() < REPORTED_IDS {
            self.reported_ids.push(id);
        }
        new
    }
}

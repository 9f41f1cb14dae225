//! The part of a long message that a lookup needs: the values around a byte, or along a path.
//!
//! ```text
//!   result   [ 7, 7, 7, …, 7, 7, 7, …, 7 ]
//!              '- first     '- near the byte, with the number of those that are left out before
//! ```
//!
//! It begins where a tape that stores few values is full. A container may hold the byte until it ends, so it is stored, and
//! removed at its end if it does not.

use super::{EntryKind, MAX_ENTRIES, MAX_TOP_ENTRIES, Scalar, Shape, Tape, unescape};
use crate::span::Span;
use std::borrow::Cow;

/// The number of bytes on each side of a byte whose values are stored: they may say that a value is a secret.
const AROUND: usize = 1 << 14;
/// The number of values beside a path that are stored, for the same reason.
const BESIDE: usize = 1 << 10;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LookupStep {
    Member(String),
    Element(usize),
}

/// What is looked up in each message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The values around the byte at a stream offset.
    At(u64),
    /// The values along a path.
    Along(Vec<LookupStep>),
}

/// What is looked up in the current message.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    /// The values around a byte of the frame.
    At(usize),
    /// The values along a path.
    Along(Vec<LookupStep>),
}

/// A value as it arrives.
#[derive(Clone, Copy)]
pub(super) enum Child<'a> {
    Scalar(Span, Scalar<'a>),
    Container(usize, Shape),
    Label(usize, &'a str),
}

impl<'a> Child<'a> {
    fn span(&self) -> Span {
        match self {
            Self::Scalar(at, _) => *at,
            Self::Container(at, _) | Self::Label(at, _) => Span::new(*at, *at),
        }
    }

    /// Returns the text of a key.
    fn text(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Label(_, name) => Some(Cow::Borrowed(name)),
            Self::Scalar(_, Scalar::Name(_, _, name)) => Some(Cow::Borrowed(name)),
            Self::Scalar(_, Scalar::Uint(number)) => Some(Cow::Owned(number.to_string())),
            Self::Scalar(_, Scalar::Int(number)) => Some(Cow::Owned(number.to_string())),
            Self::Scalar(_, Scalar::Str(text) | Scalar::Json(text, false)) => {
                std::str::from_utf8(text).ok().map(Cow::Borrowed)
            }
            Self::Scalar(_, Scalar::Json(text, true)) => {
                std::str::from_utf8(text).ok().map(unescape)
            }
            _ => None,
        }
    }
}

/// The lengths of the lists of a tape, to which they are cut if a value is removed.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    entries: usize,
    wide: usize,
    gaps: usize,
    /// The number of removed siblings that `gaps` states.
    stated: usize,
}

/// An open container that is stored.
#[derive(Clone, Debug, Default)]
struct Level {
    is_map: bool,
    /// The number of children so far; keys and values count separately.
    count: usize,
    /// The number of those that are not stored.
    omitted: usize,
    /// The number that the last gap states.
    stated: usize,
    /// The number of steps of the path that lead here, if it is on the path.
    steps: Option<usize>,
    /// Where the last member or element begins.
    mark: Mark,
    /// That member or element is stored in any case: the tape is not full.
    stays: bool,
    /// Its key is the next step of the path, or near the byte.
    is_key_wanted: bool,
}

/// The state of a lookup in a message.
#[derive(Clone, Debug)]
pub(super) struct Focus {
    wanted: Wanted,
    /// The stream offset of the byte.
    offset: Option<u64>,
    /// The open containers of the tape.
    levels: Vec<Level>,
    /// Elements after elements that are not stored: the index of the entry, and the number of all before it.
    gaps: Vec<(u32, usize)>,
    /// The number of values beside the path that may still be stored.
    beside: usize,
}

impl Focus {
    pub(super) fn new(lookup: Lookup) -> Self {
        let (wanted, offset) = match lookup {
            Lookup::At(offset) => (Wanted::At(usize::MAX), Some(offset)),
            Lookup::Along(steps) => (Wanted::Along(steps), None),
        };
        Self {
            wanted,
            offset,
            levels: Vec::new(),
            gaps: Vec::new(),
            beside: BESIDE,
        }
    }

    /// Returns the stream offset that is looked up.
    pub(super) fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// Sets its position in the next message, if it is there.
    pub(super) fn look_at(&mut self, at: Option<usize>) {
        self.wanted = Wanted::At(at.unwrap_or(usize::MAX));
    }

    pub(super) fn clear(&mut self) {
        self.levels.clear();
        self.gaps.clear();
        self.beside = BESIDE;
    }

    /// Returns the number of elements before an entry that are not stored, if it is the first one after such elements.
    pub(super) fn omitted_before(&self, index: u32) -> Option<usize> {
        let at = self.gaps.binary_search_by_key(&index, |(index, _)| *index);
        Some(self.gaps.get(at.ok()?)?.1)
    }

    /// Returns true if a value is near the byte.
    fn is_near(&self, at: Span) -> bool {
        let Wanted::At(wanted) = self.wanted else {
            return false;
        };
        at.at() <= wanted.saturating_add(AROUND) && at.end() >= wanted.saturating_sub(AROUND)
    }

    /// Returns the next step of the path below a container.
    fn step(&self, level: &Level) -> Option<&LookupStep> {
        match &self.wanted {
            Wanted::Along(steps) => steps.get(level.steps?),
            Wanted::At(_) => None,
        }
    }

    /// Returns true if a key is wanted.
    fn wants_key(&self, level: &Level, key: &Child<'_>) -> bool {
        match self.step(level) {
            Some(LookupStep::Member(name)) => key.text().is_some_and(|text| text == **name),
            _ => self.is_near(key.span()),
        }
    }

    /// Returns true if the element with this number is wanted, or next to it.
    fn wants_element(&self, level: &Level, number: usize, next_to: usize) -> bool {
        match self.step(level) {
            Some(LookupStep::Element(wanted)) if !level.is_map => {
                number.abs_diff(*wanted) <= next_to
            }
            _ => false,
        }
    }

    /// Returns the number of steps of the path that lead to the child with this number.
    fn steps_below(&self, outer: &Level, number: usize) -> Option<usize> {
        let is_on_path = if outer.is_map {
            outer.is_key_wanted && number % 2 == 1
        } else {
            self.wants_element(outer, number, 0)
        };
        outer.steps.filter(|_| is_on_path).map(|steps| steps + 1)
    }

    /// Returns true if a value of a map, or an element, is stored, at least until its end.
    fn stores(&mut self, level: &Level, child: Child<'_>, number: usize) -> bool {
        if level.stays || level.is_key_wanted {
            return true;
        }
        match (&self.wanted, child) {
            (Wanted::At(at), Child::Container(start, _)) => start <= at.saturating_add(AROUND),
            (Wanted::At(_), _) => self.is_near(child.span()),
            (Wanted::Along(_), Child::Container(..)) => self.wants_element(level, number, 0),
            (Wanted::Along(_), _) if self.wants_element(level, number, 1) => true,
            (Wanted::Along(_), _) => {
                let is_beside = level.is_map && level.steps.is_some() && self.beside > 0;
                self.beside -= usize::from(is_beside);
                is_beside
            }
        }
    }
}

impl Tape {
    /// Decides about a child of the innermost stored container, or about the outermost value. Returns true if nothing is left
    /// to do: it is not stored, or it is a container and now open.
    pub(super) fn see_in_focus(&mut self, focus: &mut Focus, child: Child<'_>) -> bool {
        let depth = self.open.len();
        let len = self.entries.len();
        let is_head = len < MAX_ENTRIES || depth <= 1 && len < MAX_TOP_ENTRIES;
        let Some(mut level) = focus.levels.pop() else {
            return self.open_in_focus(focus, child, Some(0));
        };
        let number = level.count;
        level.count += 1;
        let is_key = level.is_map && number % 2 == 0;
        if is_key || !level.is_map {
            level.mark = Mark {
                entries: len,
                wide: self.wide.len(),
                gaps: focus.gaps.len(),
                stated: level.stated,
            };
            level.is_key_wanted = is_key && focus.wants_key(&level, &child);
            level.stays = is_head;
        }
        // The value decides about its key.
        let is_stored = is_key || focus.stores(&level, child, number);
        if !is_stored {
            self.remove_child(focus, &mut level);
        } else if level.omitted > level.stated && !level.is_map {
            level.stated = level.omitted;
            focus.gaps.push((len as u32, level.omitted));
        }
        let steps = focus.steps_below(&level, number);
        focus.levels.push(level);
        !is_stored || self.open_in_focus(focus, child, steps)
    }

    /// Opens a container to which these steps of the path lead, if it is on the path. Returns false for other values.
    fn open_in_focus(&mut self, focus: &mut Focus, child: Child<'_>, steps: Option<usize>) -> bool {
        let Child::Container(start, shape) = child else {
            return false;
        };
        let inner = Level {
            is_map: shape == Shape::Map,
            steps,
            ..Level::default()
        };
        focus.levels.push(inner);
        let kind = if shape == Shape::Map {
            EntryKind::Map
        } else {
            EntryKind::Array
        };
        self.open.push(self.entries.len() as u32);
        self.push_wide(Span::new(start, start), kind, 0, 0);
        true
    }

    /// Ends a stored container before byte `end`. Removes it if the byte is behind it.
    pub(super) fn close_in_focus(&mut self, focus: &mut Focus, end: usize) {
        focus.levels.pop();
        let Wanted::At(at) = focus.wanted else {
            return;
        };
        let Some(mut outer) = focus.levels.pop() else {
            return;
        };
        let is_key = outer.is_map && outer.count % 2 == 1;
        let is_behind = end < at.saturating_sub(AROUND);
        if is_key {
            outer.is_key_wanted = !is_behind;
        } else if is_behind && !outer.stays && !outer.is_key_wanted {
            self.remove_child(focus, &mut outer);
        }
        focus.levels.push(outer);
    }

    /// Removes the last child of the innermost open container, and its key.
    fn remove_child(&mut self, focus: &mut Focus, level: &mut Level) {
        let mark = level.mark;
        self.entries.truncate(mark.entries);
        self.wide.truncate(mark.wide);
        focus.gaps.truncate(mark.gaps);
        level.stated = mark.stated;
        let removed = if level.is_map { 2 } else { 1 };
        level.omitted += removed;
        let parent = self.open.last().map(|at| self.entry(*at).bits);
        if let Some(wide) = parent.and_then(|at| self.wide.get_mut(at as usize)) {
            wide.bits += removed as u64;
        }
    }
}

//! What the names are in one run: made here, or learnt.

use super::fresh::{other_digits, text, time, write};
use super::{Binding, Name, Names, Place};
use crate::diff::{Spot, Val, walk};
use crate::path::Path;
use crate::protocol::Direction;
use crate::protocol::make::Mint;
use crate::protocol::schema::Fresh;
use std::collections::{HashMap, HashSet};

/// How often a form is tried before it grows.
const TRIES: usize = 32;

/// What the names are in one run.
pub struct Values {
    side: Direction,
    keep: bool,
    given: Option<String>,
    mint: Mint,
    known: Vec<Option<Val>>,
    /// Every value that a name has this time.
    used: HashSet<Val>,
    /// What the other side made, by group and connection of numbers: the first name that each value is.
    firsts: HashMap<(&'static str, Option<u32>, Val), usize>,
    /// Names that the other side does not tell apart from others.
    merged: HashSet<usize>,
    /// The last number that was given out, by group.
    last: HashMap<&'static str, i128>,
}

impl Values {
    /// A run of which nothing is known: the side that is played, whether its own ids and times are kept, what it was given,
    /// and where fresh ids come from.
    pub fn new(side: Direction, keep: bool, given: Option<String>, seed: u64) -> Self {
        Self {
            side,
            keep,
            given,
            mint: Mint::new(seed ^ 0x6964),
            known: Vec::new(),
            used: HashSet::new(),
            firsts: HashMap::new(),
            merged: HashSet::new(),
            last: HashMap::new(),
        }
    }

    /// What a name is this time.
    pub fn value(&self, number: usize) -> Option<&Val> {
        self.known.get(number)?.as_ref()
    }

    /// Learns what a name is this time; the first to say it counts.
    pub fn learn(&mut self, number: usize, val: Val) {
        if self.known.len() <= number {
            self.known.resize(number + 1, None);
        }
        if let Some(slot @ None) = self.known.get_mut(number) {
            self.used.insert(val.clone());
            *slot = Some(val);
        }
    }

    /// Whether a name is this value; if not, what it is.
    pub fn is_now(&self, number: usize, val: &Val) -> Result<(), Option<Val>> {
        match self.value(number) {
            Some(known) if known == val && !self.merged.contains(&number) => Ok(()),
            known => Err(known.filter(|known| *known != val).cloned()),
        }
    }

    /// Learns what a message of the other side says on a connection, in place of the recorded one.
    pub fn hear(&mut self, book: &Names, recorded: &[Place], conn: Option<u32>, message: &str) {
        let side = self.side;
        let wanted: HashMap<&Path, usize> = recorded
            .iter()
            .filter_map(|place| match place.binding {
                Binding::Name(number) if book.name(number)?.owner != side => {
                    Some((&place.path, number))
                }
                _ => None,
            })
            .collect();
        if wanted.is_empty() {
            return;
        }
        walk(message, &mut |path, spot| {
            if let Some(number) = wanted.get(path).filter(|_| !spot.is_key) {
                self.note_merged(book, *number, conn, &spot.val);
                self.learn(*number, spot.val);
            }
        });
        // What was to be told and was not will not be told any more.
        for number in wanted.into_values() {
            if let Some(name) = book.name(number) {
                self.learn(number, name.recorded.clone());
            }
        }
    }

    /// Notes a name whose value is another name already: two things that were two are one.
    fn note_merged(&mut self, book: &Names, number: usize, conn: Option<u32>, val: &Val) {
        let Some(name) = book.name(number) else {
            return;
        };
        if self.value(number).is_some() || name.recorded.is_empty() || val.is_empty() {
            return;
        }
        let conn = conn.filter(|_| matches!(val, Val::Number(_)));
        let first = self.firsts.entry((name.group, conn, val.clone()));
        if *first.or_insert(number) != number {
            self.merged.insert(number);
        }
    }

    /// Whether a value of the recording stands for this one.
    pub fn is_same(&self, book: &Names, recorded: &Val, live: &Val) -> bool {
        let short = book.short.get(recorded).into_iter().flatten();
        let mut known = book.anywhere.get(recorded).into_iter().chain(short);
        known.any(|number| self.value(*number) == Some(live))
    }

    /// A message of the side that is played, as it is to be said now.
    pub fn rewrite(&mut self, book: &Names, message: &str, places: &[Place], now: i64) -> String {
        let mut out = String::with_capacity(message.len());
        let mut from = 0;
        for Place { spot, binding, .. } in places {
            let (start, end) = (spot.span.at(), spot.span.end());
            let old = message.get(start..end).unwrap_or_default();
            let new = match binding {
                Binding::Name(number) => self.name(book, *number, spot, old),
                Binding::Time if self.keep => None,
                Binding::Time => time(&spot.val, old, now),
                Binding::Given => self.given.as_deref().map(text),
            };
            if let Some(new) = new.filter(|_| start >= from) {
                out.push_str(message.get(from..start).unwrap_or_default());
                out.push_str(&new);
                from = end;
            }
        }
        out.push_str(message.get(from..).unwrap_or_default());
        out
    }

    fn name(&mut self, book: &Names, number: usize, spot: &Spot, old: &str) -> Option<String> {
        let name = book.name(number)?;
        if self.value(number).is_none() {
            let own = name.owner == self.side;
            let val = if own && name.fresh == Fresh::Id && !self.keep {
                self.make(book, name)
            } else {
                name.recorded.clone()
            };
            self.learn(number, val);
        }
        let val = self.value(number)?;
        (*val != spot.val).then(|| write(val, spot.form, old))
    }

    /// A value of the same form that nothing else goes by, here or in the recording.
    fn make(&mut self, book: &Names, name: &Name) -> Val {
        // An empty id says that there is none yet.
        if name.recorded.is_empty() {
            return name.recorded.clone();
        }
        if let Val::Number(text) = &name.recorded {
            let Ok(first) = text.parse::<i128>() else {
                return name.recorded.clone();
            };
            let last = self.last.entry(name.group);
            let last = last
                .and_modify(|n| *n = n.saturating_add(1))
                .or_insert(first);
            return Val::Number(last.to_string());
        }
        let Self { mint, used, .. } = self;
        let mut fresh = std::iter::repeat_with(|| mint.uuid()).flatten();
        let is_free = |val: &Val| !used.contains(val) && !book.is_recorded(name.group, val);
        for _ in 0..TRIES {
            let val = like(&name.recorded, &mut fresh);
            if is_free(&val) {
                return val;
            }
        }
        // There are too few values of that form, or none other at all.
        let mut val = like(&name.recorded, &mut fresh);
        while !is_free(&val) {
            val = longer(val, &mut fresh);
        }
        val
    }
}

/// Another value of the same form.
fn like(old: &Val, fresh: &mut impl Iterator<Item = u8>) -> Val {
    match old {
        Val::Uuid(_) => {
            let mut uuid = [0; 16];
            uuid.iter_mut().zip(fresh).for_each(|(to, from)| *to = from);
            Val::Uuid(uuid)
        }
        Val::Bin(bytes) => Val::bin(&fresh.take(bytes.len()).collect::<Vec<u8>>()),
        Val::Text(old) => Val::text(&other_digits(old, fresh)),
        Val::Number(_) => old.clone(),
    }
}

/// A value with more digits or bytes.
fn longer(val: Val, fresh: &mut impl Iterator<Item = u8>) -> Val {
    match val {
        Val::Text(text) => {
            // Several runs that add digits to the same text should differ as well.
            let has_digits = text.bytes().any(|b| b.is_ascii_digit());
            let more = if has_digits { "0" } else { "0000" };
            Val::text(&other_digits(&format!("{text}{more}"), fresh))
        }
        Val::Bin(mut bytes) => {
            bytes.extend(fresh.next());
            Val::bin(&bytes)
        }
        Val::Uuid(_) => like(&val, fresh),
        Val::Number(_) => val,
    }
}

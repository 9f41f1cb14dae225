//! The values of the names in one run: generated here, or received from the peer.

use super::generate::{current_time, json_text, replace_digits, write};
use super::{Binding, Name, Names, ValuePlace};
use crate::diff::{Val, WalkedValue, walk};
use crate::path::Path;
use crate::protocol::Direction;
use crate::protocol::make::IdGen;
use crate::protocol::schema::Fresh;
use std::collections::{HashMap, HashSet};

/// Attempts to find an unused value before the form gets longer.
const MAX_ATTEMPTS: usize = 32;

/// The values of the names in one run.
pub struct RunValues {
    side: Direction,
    keep_ids: bool,
    given: Option<String>,
    id_gen: IdGen,
    values: Vec<Option<Val>>,
    /// The values of all names in this run.
    used: HashSet<Val>,
    /// Values of the peer, by group and, for numbers, connection: the first name with each value.
    firsts: HashMap<(u32, Option<u32>, Val), usize>,
    /// Names whose value the peer also uses for another name of the group.
    duplicates: HashSet<usize>,
    /// The last number that was generated, by group.
    last_numbers: HashMap<u32, i128>,
}

impl RunValues {
    /// Returns a run without values. `keep_ids`: own ids and times are those of the recording; `given`: the value that the
    /// user supplies; `seed`: the seed of the generated ids.
    pub fn new(side: Direction, keep_ids: bool, given: Option<String>, seed: u64) -> Self {
        Self {
            side,
            keep_ids,
            given,
            id_gen: IdGen::new(seed ^ 0x6964),
            values: Vec::new(),
            used: HashSet::new(),
            firsts: HashMap::new(),
            duplicates: HashSet::new(),
            last_numbers: HashMap::new(),
        }
    }

    /// Returns the value of a name in this run.
    pub fn value(&self, number: usize) -> Option<&Val> {
        self.values.get(number)?.as_ref()
    }

    /// Returns `true` if this side generates the value of a name.
    pub fn is_own(&self, names: &Names, number: usize) -> bool {
        names
            .name(number)
            .is_some_and(|name| name.owner == self.side)
    }

    /// Stores the value of a name. A later value of the same name is ignored.
    pub fn store(&mut self, number: usize, val: Val) {
        if self.values.len() <= number {
            self.values.resize(number + 1, None);
        }
        if let Some(slot @ None) = self.values.get_mut(number) {
            self.used.insert(val.clone());
            *slot = Some(val);
        }
    }

    /// Checks that a name has this value. The error is the actual value, if it differs.
    pub fn check(&self, number: usize, val: &Val) -> Result<(), Option<Val>> {
        match self.value(number) {
            Some(known) if known == val && !self.duplicates.contains(&number) => Ok(()),
            known => Err(known.filter(|known| *known != val).cloned()),
        }
    }

    /// Stores the values that a message of the peer has at the positions of the recorded message.
    pub fn receive(
        &mut self,
        names: &Names,
        recorded: &[ValuePlace],
        conn: Option<u32>,
        message: &str,
    ) {
        let side = self.side;
        let wanted: HashMap<&Path, usize> = recorded
            .iter()
            .filter_map(|place| match place.binding {
                Binding::Name(number) if names.name(number)?.owner != side => {
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
                self.note_duplicate(names, *number, conn, &spot.val);
                self.store(*number, spot.val);
            }
        });
        // The peer had to send these values with this message, so they will not follow.
        for number in wanted.into_values() {
            if let Some(name) = names.name(number) {
                self.store(number, name.recorded.clone());
            }
        }
    }

    /// Notes a name whose value is also that of another name: the peer does not distinguish two objects that were
    /// distinct.
    fn note_duplicate(&mut self, names: &Names, number: usize, conn: Option<u32>, val: &Val) {
        let Some(name) = names.name(number) else {
            return;
        };
        if self.value(number).is_some() || name.recorded.is_empty() || val.is_empty() {
            return;
        }
        let conn = conn.filter(|_| val.is_number());
        let first = self.firsts.entry((name.group, conn, val.clone()));
        if *first.or_insert(number) != number {
            self.duplicates.insert(number);
        }
    }

    /// Returns `true` if a recorded value corresponds to this live value.
    pub fn corresponds(&self, names: &Names, recorded: &Val, live: &Val) -> bool {
        let short = names.short.get(recorded).into_iter().flatten();
        let mut known = names.unique.get(recorded).into_iter().chain(short);
        known.any(|number| self.value(*number) == Some(live))
            || matches!((recorded, live), (Val::Text(recorded), Val::Text(live))
                if self.corresponds_by_word(names, recorded, live))
    }

    /// Returns `true` if two texts differ only in words that correspond: a message that names an id.
    fn corresponds_by_word(&self, names: &Names, recorded: &str, live: &str) -> bool {
        let is_end = |c: char| !c.is_alphanumeric() && c != '-' && c != '_';
        let mut words = [recorded, live].map(|text| text.split_inclusive(is_end));
        let mut differ = false;
        loop {
            match words.each_mut().map(Iterator::next) {
                [None, None] => return differ,
                [Some(one), Some(other)] if one == other => {}
                [Some(one), Some(other)] => {
                    let [start, here] = [one, other].map(|word| word.trim_end_matches(is_end));
                    let number = names.unique.get(&Val::text(start));
                    let value = number.and_then(|number| self.value(*number));
                    let is_same = value == Some(&Val::text(here));
                    if !is_same || one.get(start.len()..) != other.get(here.len()..) {
                        return false;
                    }
                    differ = true;
                }
                _ => return false,
            }
        }
    }

    /// Rewrites a recorded message of our side with the values of this run.
    pub fn rewrite(
        &mut self,
        names: &Names,
        message: &str,
        places: &[ValuePlace],
        now: i64,
    ) -> String {
        let mut out = String::with_capacity(message.len());
        let mut from = 0;
        for ValuePlace { spot, binding, .. } in places {
            let (start, end) = (spot.span.at(), spot.span.end());
            let old = message.get(start..end).unwrap_or_default();
            let new = match binding {
                Binding::Name(number) => self.rewritten(names, *number, spot, old),
                Binding::Time | Binding::Process if self.keep_ids => None,
                Binding::Process => Some(std::process::id().to_string()),
                Binding::Time => current_time(&spot.val, old, now),
                Binding::Given => self.given.as_deref().map(json_text),
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

    fn rewritten(
        &mut self,
        names: &Names,
        number: usize,
        spot: &WalkedValue,
        old: &str,
    ) -> Option<String> {
        let name = names.name(number)?;
        if self.value(number).is_none() {
            let own = name.owner == self.side;
            let val = if own && name.fresh == Fresh::Id && !self.keep_ids {
                self.generate(names, name)
            } else {
                name.recorded.clone()
            };
            self.store(number, val);
        }
        let val = self.value(number)?;
        (*val != spot.val).then(|| write(val, spot.form, old))
    }

    /// Returns an unused value of the same form, which is not in the recording either.
    fn generate(&mut self, names: &Names, name: &Name) -> Val {
        // An empty id means that there is none yet.
        if name.recorded.is_empty() {
            return name.recorded.clone();
        }
        if let Some(text) = name.recorded.number_text() {
            let Ok(first) = text.parse::<i128>() else {
                return name.recorded.clone();
            };
            let last = self.last_numbers.entry(name.group);
            let last = last
                .and_modify(|n| *n = n.saturating_add(1))
                .or_insert(first);
            return Val::integer(*last);
        }
        let Self { id_gen, used, .. } = self;
        let mut random = std::iter::repeat_with(|| id_gen.uuid()).flatten();
        let is_free = |val: &Val| !used.contains(val) && !names.is_recorded(name.group, val);
        for _ in 0..MAX_ATTEMPTS {
            let val = same_form(&name.recorded, &mut random);
            if is_free(&val) {
                return val;
            }
        }
        // There are too few values of that form, or no other one.
        let mut val = same_form(&name.recorded, &mut random);
        while !is_free(&val) {
            val = longer(val, &mut random);
        }
        val
    }
}

/// Returns another value of the same form.
fn same_form(old: &Val, random: &mut impl Iterator<Item = u8>) -> Val {
    match old {
        Val::Uuid(_) => {
            let mut uuid = [0; 16];
            uuid.iter_mut()
                .zip(random)
                .for_each(|(to, from)| *to = from);
            Val::Uuid(uuid)
        }
        Val::Bin(bytes) => Val::bin(&random.take(bytes.len()).collect::<Vec<u8>>()),
        Val::Text(old) => Val::text(&replace_digits(old, random)),
        Val::Int(_) | Val::Number(_) => old.clone(),
    }
}

/// Returns a value with more digits or bytes.
fn longer(val: Val, random: &mut impl Iterator<Item = u8>) -> Val {
    match val {
        Val::Text(text) => {
            // Two runs that add digits to the same text must also differ.
            let has_digits = text.bytes().any(|b| b.is_ascii_digit());
            let more = if has_digits { "0" } else { "0000" };
            Val::text(&replace_digits(&format!("{text}{more}"), random))
        }
        Val::Bin(bytes) => {
            let bytes = bytes.iter().copied().chain(random.next());
            Val::bin(&bytes.collect::<Vec<u8>>())
        }
        Val::Uuid(_) => same_form(&val, random),
        Val::Int(_) | Val::Number(_) => val,
    }
}

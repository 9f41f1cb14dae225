//! Maps the ids of two conversations to each other, one to one, as the corresponding messages show
//! them.
//!
//! ```text
//!   A:  SUB seq 3   UNS seq 3        B:  SUB seq 7   UNS seq 8
//!
//!   the SUBs belong together: 3 = 7      the UNSs: 3 is 7, not 8
//! ```
//!
//! An id is written in the form in which it came first, or in another one, on both sides alike.

use super::walk::IdForm;
use super::{IdUse, Val};
use crate::protocol::Direction;
use crate::protocol::schema::Maker;
use std::collections::{HashMap, HashSet};

/// The values that one side gives and the other side returns without reading them, as digests.
#[derive(Debug, Default)]
pub struct OpaqueValues {
    given: [HashSet<u64>; 2],
    pairs: HashSet<[u64; 2]>,
}

impl OpaqueValues {
    /// Stores corresponding values that are given. Of those that are returned, both or none must be known, and they
    /// must be a pair.
    pub fn pair(&mut self, used: IdUse, values: [u64; 2]) -> Result<(), Option<Val>> {
        if used.maker.is_none() {
            for (given, value) in self.given.iter_mut().zip(values) {
                given.insert(value);
            }
            self.pairs.insert(values);
            return Ok(());
        }
        let mut all = self.given.iter().zip(&values);
        let is_known = all.any(|(given, value)| given.contains(value));
        if self.pairs.contains(&values) || !is_known {
            Ok(())
        } else {
            Err(None)
        }
    }
}

/// The scope of an id: numbers are unique in one direction of one connection. Over HTTP clients use any connection: there
/// they are unique in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IdScope {
    /// The connection, if known.
    pub conn: Option<u32>,
    /// The session over HTTP, or the exchange of a message without one.
    pub session: Option<u64>,
    /// The direction of the requests with such ids, if known.
    pub direction: Option<Direction>,
}

/// An id of one side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum IdKey {
    /// An id that is unique everywhere.
    Anywhere(Val),
    /// An id of a group, unique within a scope.
    Within(usize, IdScope, Val),
}

/// The ids of two conversations, one to one.
#[derive(Debug, Default)]
pub struct Ids {
    numbers: [HashMap<IdKey, u64>; 2],
    /// The pairs of values, by number, each with its first form.
    pairs: Vec<[(Val, IdForm); 2]>,
}

impl Ids {
    /// Pairs two ids if both are free or already paired, and if both or none have their first form. Otherwise returns
    /// the id that is paired with the first.
    pub fn pair(
        &mut self,
        used: IdUse,
        one: (IdScope, &Val),
        other: (IdScope, &Val),
        forms: [IdForm; 2],
    ) -> Result<(), Option<Val>> {
        if forms[0] != forms[1] && forms.contains(&IdForm::Fraction) {
            return Err(None);
        }
        let keys = [
            self.key(0, used, one.0, one.1),
            self.key(1, used, other.0, other.1),
        ];
        let [one_is, other_is] = &mut self.numbers;
        let pair_of = |number: u64| self.pairs.get(usize::try_from(number).ok()?);
        match (one_is.get(&keys[0]), other_is.get(&keys[1])) {
            (Some(a), Some(b)) if a == b => {
                let first = pair_of(*a).map_or(forms, |[one, other]| [one.1, other.1]);
                let is_first = [forms[0] == first[0], forms[1] == first[1]];
                if is_first[0] == is_first[1] {
                    Ok(())
                } else {
                    Err(None)
                }
            }
            (None, None) => {
                let number = self.pairs.len() as u64;
                let [a, b] = keys;
                one_is.insert(a, number);
                other_is.insert(b, number);
                let pair = [(one.1.clone(), forms[0]), (other.1.clone(), forms[1])];
                self.pairs.push(pair);
                Ok(())
            }
            (Some(a), _) => Err(pair_of(*a).map(|[_, other]| other.0.clone())),
            (None, Some(_)) => Err(None),
        }
    }

    /// Returns `true` if two values that are not ids of their messages are ids that correspond.
    pub fn are_paired(&self, one: &Val, other: &Val) -> bool {
        let number = |side: usize, val: &Val| {
            let known = self.numbers.get(side)?;
            known.get(&IdKey::Anywhere(val.clone()))
        };
        one.is_unique() && number(0, one).is_some_and(|n| number(1, other) == Some(n))
    }

    /// Returns the number of an id that has a pair.
    pub fn number(&self, side: usize, used: IdUse, scope: IdScope, val: &Val) -> Option<u64> {
        let key = self.key(side, used, scope, val);
        self.numbers.get(side)?.get(&key).copied()
    }

    fn key(&self, side: usize, used: IdUse, scope: IdScope, val: &Val) -> IdKey {
        if val.is_unique() {
            return IdKey::Anywhere(val.clone());
        }
        let is_number = val.is_number();
        // Short text can be an id that the peer generated, on any connection.
        let conn = scope.conn.filter(|_| is_number && scope.session.is_none());
        let session = scope.session.filter(|_| is_number);
        let within = |direction| {
            let scope = IdScope {
                conn,
                session,
                direction,
            };
            IdKey::Within(used.group, scope, val.clone())
        };
        let other = scope.direction.map(Direction::other);
        let [first, second] = match used.maker {
            Some(Maker::Receiver) => [other, scope.direction],
            Some(Maker::Sender) | None => [scope.direction, other],
        }
        .map(within);
        // Each side counts from its own start.
        if is_number && used.maker.is_none() {
            return first;
        }
        match self.numbers.get(side) {
            Some(known) if !known.contains_key(&first) && known.contains_key(&second) => second,
            _ => first,
        }
    }
}

//! Maps the ids of two conversations to each other, one to one, as the corresponding messages show
//! them.
//!
//! ```text
//!   A:  SUB seq 3   UNS seq 3        B:  SUB seq 7   UNS seq 8
//!
//!   the SUBs belong together: 3 = 7      the UNSs: 3 is 7, not 8
//! ```

use super::Val;
use crate::protocol::Direction;
use std::collections::HashMap;

/// The scope of an id: numbers are unique in one direction of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IdScope {
    /// The connection, if known.
    pub conn: Option<u32>,
    /// The direction of the requests with such ids, if known.
    pub direction: Option<Direction>,
}

/// An id of one side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum IdKey {
    /// An id that is unique everywhere.
    Anywhere(Val),
    /// An id of a group, unique within a scope.
    Within(&'static str, IdScope, Val),
}

/// The ids of two conversations, one to one.
#[derive(Debug, Default)]
pub struct Ids {
    numbers: [HashMap<IdKey, u64>; 2],
    /// The pairs of values, by number.
    pairs: Vec<[Val; 2]>,
}

impl Ids {
    /// Pairs two ids if both are free or already paired. Otherwise returns the id that is paired
    /// with the first.
    pub fn pair(
        &mut self,
        group: &'static str,
        one: (IdScope, &Val),
        other: (IdScope, &Val),
    ) -> Result<(), Option<Val>> {
        let keys = [
            self.key(0, group, one.0, one.1),
            self.key(1, group, other.0, other.1),
        ];
        let [one_is, other_is] = &mut self.numbers;
        match (one_is.get(&keys[0]), other_is.get(&keys[1])) {
            (Some(a), Some(b)) if a == b => Ok(()),
            (None, None) => {
                let number = self.pairs.len() as u64;
                let [a, b] = keys;
                one_is.insert(a, number);
                other_is.insert(b, number);
                self.pairs.push([one.1.clone(), other.1.clone()]);
                Ok(())
            }
            (Some(a), _) => {
                let pair = usize::try_from(*a).ok().and_then(|a| self.pairs.get(a));
                Err(pair.map(|[_, b]| b.clone()))
            }
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
    pub fn number(
        &self,
        side: usize,
        group: &'static str,
        scope: IdScope,
        val: &Val,
    ) -> Option<u64> {
        let key = self.key(side, group, scope, val);
        self.numbers.get(side)?.get(&key).copied()
    }

    fn key(&self, side: usize, group: &'static str, scope: IdScope, val: &Val) -> IdKey {
        if val.is_unique() {
            return IdKey::Anywhere(val.clone());
        }
        let within = |scope| IdKey::Within(group, scope, val.clone());
        if matches!(val, Val::Number(_)) {
            return within(scope);
        }
        // Short text can be an id that the peer generated, on any connection.
        let of = |direction| {
            let conn = None;
            within(IdScope { conn, direction })
        };
        let own = of(scope.direction);
        let other = of(scope.direction.map(Direction::other));
        match self.numbers.get(side) {
            Some(known) if !known.contains_key(&own) && known.contains_key(&other) => other,
            _ => own,
        }
    }
}

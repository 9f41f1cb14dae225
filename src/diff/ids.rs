//! Which id of one conversation corresponds to which of the other: one to one, as far as messages that belong together
//! have shown.
//!
//! ```text
//!   A:  SUB seq 3   UNS seq 3        B:  SUB seq 7   UNS seq 8
//!
//!   the SUBs belong together: 3 = 7      the UNSs: 3 is 7, not 8
//! ```

use super::Val;
use crate::protocol::Direction;
use std::collections::HashMap;

/// Where an id counts: numbers in one direction of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The connection, where known.
    pub conn: Option<u32>,
    /// Which way the requests go that have such ids, where known.
    pub direction: Option<Direction>,
}

/// An id of one side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// One that is the same thing wherever it stands.
    Anywhere(Val),
    /// One of a group, within a scope.
    Within(&'static str, Scope, Val),
}

/// The ids of two conversations, one to one.
#[derive(Debug, Default)]
pub struct Ids {
    numbers: [HashMap<Key, u64>; 2],
    /// The values that correspond, by number.
    pairs: Vec<[Val; 2]>,
}

impl Ids {
    /// Whether an id of the one may correspond to one of the other; from then on they do. If not, what does.
    pub fn pair(
        &mut self,
        group: &'static str,
        one: (Scope, &Val),
        other: (Scope, &Val),
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

    /// Whether two values that are no ids of their messages are ids that correspond.
    pub fn are_paired(&self, one: &Val, other: &Val) -> bool {
        let number = |side: usize, val: &Val| {
            let known = self.numbers.get(side)?;
            known.get(&Key::Anywhere(val.clone()))
        };
        one.is_telling() && number(0, one).is_some_and(|n| number(1, other) == Some(n))
    }

    /// The number of an id that corresponds to one of the other side.
    pub fn number(&self, side: usize, group: &'static str, scope: Scope, val: &Val) -> Option<u64> {
        let key = self.key(side, group, scope, val);
        self.numbers.get(side)?.get(&key).copied()
    }

    fn key(&self, side: usize, group: &'static str, scope: Scope, val: &Val) -> Key {
        if val.is_telling() {
            return Key::Anywhere(val.clone());
        }
        let within = |scope| Key::Within(group, scope, val.clone());
        if matches!(val, Val::Number(_)) {
            return within(scope);
        }
        // Short text may be what the other side gave out, on any connection.
        let of = |direction| {
            let conn = None;
            within(Scope { conn, direction })
        };
        let own = of(scope.direction);
        let other = of(scope.direction.map(Direction::other));
        match self.numbers.get(side) {
            Some(known) if !known.contains_key(&own) && known.contains_key(&other) => other,
            _ => own,
        }
    }
}

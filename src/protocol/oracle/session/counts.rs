//! Requests and answers, counted: all that can be judged where it is not known which came first.

use super::Key;
use super::child::Id;
use crate::protocol::session::text::short;
use crate::protocol::session::{Place, Report};
use std::collections::HashMap;

/// How often an id was asked with and answered.
#[derive(Debug, Default)]
struct Count {
    asked: u64,
    answered: u64,
    /// The first answer, and the last.
    first: Option<u64>,
    last: Place,
}

/// What was counted, up to so many ids.
#[derive(Debug)]
pub(super) struct Counts {
    by_id: HashMap<Key, Count>,
    most: usize,
    /// Some were not counted.
    full: bool,
}

impl Counts {
    pub(super) fn with_room(most: usize) -> Self {
        Self {
            by_id: HashMap::new(),
            most,
            full: false,
        }
    }

    fn of(&mut self, key: Key) -> Option<&mut Count> {
        if self.by_id.len() >= self.most && !self.by_id.contains_key(&key) {
            self.full = true;
            return None;
        }
        Some(self.by_id.entry(key).or_default())
    }

    pub(super) fn asked(&mut self, key: Key) {
        if let Some(count) = self.of(key) {
            count.asked += 1;
        }
    }

    /// Answered, here.
    pub(super) fn answered(&mut self, key: Key, place: Place) {
        if let Some(count) = self.of(key) {
            count.answered += 1;
            count.first.get_or_insert(place.index);
            count.last = place;
        }
    }

    /// Reports ids that have more answers than requests, of connections whose beginning was seen.
    pub(super) fn finish(&mut self, began: impl Fn(&Key) -> bool, report: &mut Report) {
        if self.full {
            return;
        }
        let too_many = |(key, count): &(&Key, &Count)| count.answered > count.asked && began(key);
        let mut found: Vec<_> = self.by_id.iter().filter(too_many).collect();
        found.sort_by_key(|(_, count)| count.last.index);
        for (key, count) in found {
            let id = match &key.1 {
                Id::Number(id) => id.to_string(),
                Id::Text(id) => short(&format!("{id:?}")),
                // What could not be read is refused so, whatever its id was.
                Id::Null => continue,
            };
            let (answered, asked) = (count.answered, count.asked);
            let answers = if answered == 1 { "answer" } else { "answers" };
            let requests = if asked == 1 { "request" } else { "requests" };
            let text = format!("id {id} has {answered} {answers} and {asked} {requests}");
            match count.first.filter(|first| *first != count.last.index) {
                Some(first) => report.broken_by("extra-line", count.last, first, text),
                None => report.broken("extra-line", count.last, text),
            }
        }
    }
}

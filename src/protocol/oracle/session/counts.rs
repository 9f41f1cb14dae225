//! Counts requests and answers: the only check if their order is not known.

use super::child::PeerId;
use super::{OracleKey, rule};
use crate::protocol::session::text::short;
use crate::protocol::session::{Place, Report, broken};
use foldhash::HashMap;

/// The numbers of requests and answers with an id.
#[derive(Debug, Default)]
struct IdCount {
    asked: u64,
    answered: u64,
    /// The first answer, and the last.
    first: Option<u64>,
    last: Place,
}

/// The counts of a bounded number of ids.
#[derive(Debug)]
pub(super) struct IdCounts {
    by_id: HashMap<OracleKey, IdCount>,
    most: usize,
    /// Some ids were not counted.
    full: bool,
}

impl IdCounts {
    pub(super) fn with_capacity(most: usize) -> Self {
        Self {
            by_id: HashMap::default(),
            most,
            full: false,
        }
    }

    fn of(&mut self, key: OracleKey) -> Option<&mut IdCount> {
        if self.by_id.len() >= self.most && !self.by_id.contains_key(&key) {
            self.full = true;
            return None;
        }
        Some(self.by_id.entry(key).or_default())
    }

    pub(super) fn asked(&mut self, key: OracleKey) {
        if let Some(count) = self.of(key) {
            count.asked += 1;
        }
    }

    /// Counts an answer at this position.
    pub(super) fn answered(&mut self, key: OracleKey, place: Place) {
        if let Some(count) = self.of(key) {
            count.answered += 1;
            count.first.get_or_insert(place.index);
            count.last = place;
        }
    }

    /// Reports ids with more answers than requests, of connections whose start was seen.
    pub(super) fn finish(&mut self, began: impl Fn(&OracleKey) -> bool, report: &mut Report) {
        if self.full {
            return;
        }
        let too_many =
            |(key, count): &(&OracleKey, &IdCount)| count.answered > count.asked && began(key);
        let mut found: Vec<_> = self.by_id.iter().filter(too_many).collect();
        found.sort_by_key(|(_, count)| count.last.index);
        for (key, count) in found {
            let id = match &key.id {
                PeerId::Number(id) => id.to_string(),
                PeerId::Text(id) => short(&format!("{id:?}")),
                // This is the refusal of an unreadable message, which may have had any id.
                PeerId::Null => continue,
            };
            let (answered, asked) = (count.answered, count.asked);
            let answers = if answered == 1 { "answer" } else { "answers" };
            let requests = if asked == 1 { "request" } else { "requests" };
            let text = format!("id {id} has {answered} {answers} and {asked} {requests}");
            let first = count.first.filter(|first| *first != count.last.index);
            broken!(report, rule::EXTRA_LINE, count.last, first; "{text}");
        }
    }
}

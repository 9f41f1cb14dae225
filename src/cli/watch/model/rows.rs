//! The rows: which messages conditions and folds leave, computed in steps.

use super::{Model, flip};
use crate::cli::watch::condition::Condition;
use crate::cli::watch::entry::Entry;
use crate::cli::watch::store::Store;
use crate::encoding::Want;
use std::collections::HashSet;

/// The messages that conditions and folds leave.
#[derive(Default)]
pub(super) struct RowList {
    pub rows: Vec<u32>,
    /// The number of messages that were checked.
    pub checked: usize,
    /// The connections whose first message was checked.
    pub conns: HashSet<Option<u32>>,
}

/// A search for the next match, in steps.
#[derive(Clone, Copy)]
pub(super) struct Search {
    pub at: usize,
    pub forward: bool,
}

impl Model {
    /// Applies the condition, and searches, for at most `most` messages.
    pub fn work(&mut self, most: usize) {
        let count = self.checkable_count();
        let shared = self.shared.clone();
        let store = shared.store();
        if let Some(condition) = &self.condition {
            self.reader.parsed.set_want(condition.want());
        }
        let mut grown = None;
        if let Some(mut list) = self.rows.take() {
            grown = Some(list.rows.len());
            let end = list.checked.saturating_add(most).min(count);
            for index in list.checked..end {
                if self.passes(index, &store, &mut list.conns) {
                    list.rows.push(index as u32);
                }
            }
            list.checked = list.checked.max(end);
            if self.open_only {
                // Answers arrive later.
                let is_open =
                    |row: &u32| store.entries.get(*row as usize).is_some_and(Entry::is_open);
                list.rows.retain(is_open);
            }
            self.rows = Some(list);
        }
        let search = self.search;
        let found = search.and_then(|search| self.search(search, most, count, &store));
        self.reader.parsed.set_want(Want::Places);
        // The selection locks the messages again.
        drop(store);
        if let Some(from) = grown {
            self.grow_tree(from);
        }
        if let Some(found) = found {
            self.unfold_around(found);
            self.select(found);
        }
        self.keep_in_view();
    }

    /// Returns the number of messages that conditions can be applied to: keys that depend on other messages need judged ones.
    pub(super) fn checkable_count(&self) -> usize {
        let by_session = self
            .condition
            .as_ref()
            .is_some_and(Condition::needs_session);
        let has_folds = !self.folded_requests.is_empty();
        let store = self.shared.store();
        let count = self.message_count_in(&store);
        let by_operation = self.tree.is_some() || self.only_operation.is_some();
        if by_session || self.open_only || has_folds || by_operation {
            count.min(store.judged)
        } else {
            count
        }
    }

    fn passes(&mut self, index: usize, store: &Store, conns: &mut HashSet<Option<u32>>) -> bool {
        let Some(entry) = store.entries.get(index) else {
            return false;
        };
        let conn = entry.conn();
        if self.only.is_some_and(|only| only.conn != conn) || self.open_only && !entry.is_open() {
            return false;
        }
        let is_elsewhere = |only: usize| store.operations.outermost(index) != Some(only);
        if self.only_operation.is_some_and(is_elsewhere) {
            return false;
        }
        let request = entry.other().filter(|_| entry.is_answer());
        let is_in_pair = request.is_some_and(|to| self.folded_requests.contains(&to));
        if is_in_pair || self.filters && !self.is_match(index, store) {
            return false;
        }
        !self.folded_conns.contains(&conn) || conns.insert(conn)
    }

    fn is_match(&mut self, index: usize, store: &Store) -> bool {
        let Self {
            condition,
            reader,
            scratch,
            ..
        } = self;
        let Some(condition) = condition else {
            return true;
        };
        let found = store.read(index, reader, |decoded, verdict| {
            condition.matches(decoded, verdict, scratch)
        });
        found.unwrap_or(false)
    }

    /// Returns the next match, if one of `most` messages is one.
    fn search(
        &mut self,
        search: Search,
        most: usize,
        count: usize,
        store: &Store,
    ) -> Option<usize> {
        let Search { mut at, forward } = search;
        for _ in 0..most {
            let next = if forward {
                Some(at + 1).filter(|at| *at < count)
            } else {
                at.checked_sub(1)
            };
            if next.is_none() && forward && count < self.message_count_in(store) {
                // Rules are checked first.
                break;
            }
            let Some(next) = next else {
                self.search = None;
                let which = if forward { "later" } else { "earlier" };
                self.answer = format!("no {which} message matches");
                return None;
            };
            at = next;
            if self.is_match(at, store) {
                self.search = None;
                return Some(at);
            }
        }
        self.search = Some(Search { at, forward });
        None
    }

    /// Starts to apply conditions and folds to all messages.
    pub(super) fn restart(&mut self) {
        let has_folds = !self.folded_requests.is_empty() || !self.folded_conns.is_empty();
        let is_one = self.only.is_some() || self.only_operation.is_some();
        let is_part = self.filters || self.open_only || is_one || has_folds || self.tree.is_some();
        self.restart_tree();
        self.rows = is_part.then(RowList::default);
        self.search = None;
        self.top = 0;
    }

    /// Takes the condition of the prompt; an empty one shows all messages.
    ///
    /// # Errors
    ///
    /// Returns the text of an error with a caret.
    pub fn set_condition(&mut self, text: &str) -> Result<(), String> {
        let text = text.trim();
        if text.is_empty() {
            self.filters = false;
        } else {
            self.condition = Some(Condition::parse(text).map_err(|error| error.to_string())?);
            text.clone_into(&mut self.condition_text);
            self.filters = true;
        }
        self.restart();
        Ok(())
    }

    /// Hides the answers of a request, or shows them again.
    pub(super) fn fold_pair(&mut self) {
        let Some(entry) = self.selected_entry() else {
            return;
        };
        let request = match entry.other() {
            Some(request) if entry.is_answer() => Some(request),
            other => other.map(|_| self.selected),
        };
        let Some(request) = request else {
            "only a request and its answers fold".clone_into(&mut self.answer);
            return;
        };
        flip(&mut self.folded_requests, request);
        self.restart();
        self.select(request);
    }
}

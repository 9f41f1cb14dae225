//! The messages as a tree of operations that folds.
//!
//! ```text
//!   ▾ #3 tools/call book     an operation; its row is that of its first message
//!       #4 progress          its other messages
//!     ▸ #5 elicitation       an operation inside, folded
//!       #8 its answer
//!     #9 a message of no operation
//! ```

use super::{Model, flip};
use crate::cli::watch::operations::StoredOperations;
use std::collections::{HashMap, HashSet};

/// The rows of a tree, folded at first.
#[derive(Default)]
pub(super) struct OperationTree {
    /// What no operation contains.
    roots: Vec<u32>,
    /// The messages of operations apart from the first one, and the operations inside.
    inside: HashMap<u32, Vec<u32>>,
    /// The messages that have a place.
    known: HashSet<u32>,
    unfolded: HashSet<u32>,
    /// The messages of the rows, each with its depth.
    rows: Vec<(u32, u8)>,
}

impl OperationTree {
    /// Removes all messages.
    fn clear(&mut self) {
        self.roots.clear();
        self.inside.clear();
        self.known.clear();
        self.rows.clear();
    }

    /// Adds a message, with the operations around it.
    fn add(&mut self, index: usize, operations: &StoredOperations) {
        let mut next = Some(index);
        while let Some(index) = next.take() {
            if !self.known.insert(index as u32) {
                return;
            }
            let around = match operations.first(index) {
                Some(first) if first == index => operations.parent(index),
                first => first,
            };
            let place = match around {
                Some(around) => self.inside.entry(around as u32).or_default(),
                None => &mut self.roots,
            };
            place.push(index as u32);
            next = around;
        }
    }

    /// Adds the rows of what shows.
    fn lay_out(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let mut waiting: Vec<(&[u32], u8)> = vec![(&self.roots, 0)];
        while let Some((list, depth)) = waiting.pop() {
            let Some((first, rest)) = list.split_first() else {
                continue;
            };
            rows.push((*first, depth));
            waiting.push((rest, depth));
            if self.unfolded.contains(first)
                && let Some(inside) = self.inside.get(first)
            {
                waiting.push((inside, depth.saturating_add(1)));
            }
        }
        self.rows = rows;
    }
}

impl Model {
    /// Shows the messages as a tree, or in their order.
    pub(super) fn toggle_tree(&mut self) {
        self.tree = match self.tree {
            Some(_) => None,
            None => Some(OperationTree::default()),
        };
        self.restart();
    }

    /// Empties the tree: conditions are applied again.
    pub(super) fn restart_tree(&mut self) {
        if let Some(tree) = &mut self.tree {
            tree.clear();
        }
    }

    /// Adds the messages that conditions leave, from this one of them on.
    pub(super) fn grow_tree(&mut self, from: usize) {
        let (Some(tree), Some(list)) = (&mut self.tree, &self.rows) else {
            return;
        };
        let mut from = from;
        if self.open_only {
            // Messages are removed later.
            tree.clear();
            from = 0;
        }
        let store = self.shared.store();
        let new = list.rows.get(from..).unwrap_or_default();
        if new.is_empty() && !self.open_only {
            return;
        }
        for index in new {
            tree.add(*index as usize, &store.operations);
        }
        drop(store);
        tree.lay_out();
    }

    pub(super) fn tree_rows(&self) -> Option<&[(u32, u8)]> {
        self.tree.as_ref().map(|tree| tree.rows.as_slice())
    }

    /// Returns the row of a message in the tree, or that of the folded operation that contains it.
    pub(super) fn tree_row(&self, index: usize) -> Option<usize> {
        let tree = self.tree.as_ref()?;
        let place = |index: usize| tree.rows.iter().position(|row| row.0 == index as u32);
        let found = place(index).or_else(|| {
            let store = self.shared.store();
            let first = store.operations.first(index)?;
            store.operations.around(first).find_map(place)
        });
        let later = || tree.rows.partition_point(|row| (row.0 as usize) < index);
        let row = found.unwrap_or_else(later);
        Some(row.min(tree.rows.len().saturating_sub(1)))
    }

    /// Returns the depth of a row, and whether it is an operation that is unfolded, or can be.
    pub fn tree_place(&self, row: usize) -> Option<(usize, Option<bool>)> {
        let tree = self.tree.as_ref()?;
        let (index, depth) = tree.rows.get(row)?;
        let has_parts = tree.inside.contains_key(index);
        let is_unfolded = has_parts.then(|| tree.unfolded.contains(index));
        Some((usize::from(*depth), is_unfolded))
    }

    /// Folds the operation of the selected message, or unfolds it; returns false without a tree.
    pub(super) fn fold_operation(&mut self) -> bool {
        let Some(tree) = &mut self.tree else {
            return false;
        };
        let selected = self.selected as u32;
        let first = self.shared.store().operations.first(self.selected);
        let operation = match first {
            _ if tree.inside.contains_key(&selected) => selected,
            Some(first) if tree.unfolded.contains(&(first as u32)) => first as u32,
            _ => {
                "it has no parts".clone_into(&mut self.answer);
                return true;
            }
        };
        flip(&mut tree.unfolded, operation);
        tree.lay_out();
        self.select(operation as usize);
        true
    }

    /// Unfolds what contains a message.
    pub(super) fn unfold_around(&mut self, index: usize) {
        let Some(tree) = &mut self.tree else {
            return;
        };
        let store = self.shared.store();
        let Some(first) = store.operations.first(index) else {
            return;
        };
        let around = store.operations.around(first);
        let before = tree.unfolded.len();
        tree.unfolded
            .extend(around.filter(|one| *one != index).map(|one| one as u32));
        if tree.unfolded.len() != before {
            tree.lay_out();
        }
    }

    /// Shows only the operation of the selected message, with what contains it and is inside of it; or all messages again.
    pub(super) fn one_operation(&mut self) {
        let outermost = self.shared.store().operations.outermost(self.selected);
        self.only_operation = match (self.only_operation, outermost) {
            (None, None) => {
                "it belongs to no operation".clone_into(&mut self.answer);
                None
            }
            (None, found) => found,
            (Some(_), _) => None,
        };
        self.restart();
    }
}

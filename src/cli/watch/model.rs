//! The state of the screen: selection, condition, folds. It knows no terminal and no clock.
//!
//! ```text
//!   Command --> Model { rows, selected, focus, overlay }  <-- view
//!                  '--> Shared: the messages
//! ```
//!
//! Conditions are applied in steps ([`Model::work`]), so that keys are read meanwhile: the first matches show at once, and
//! another condition replaces an unfinished one.

mod look;
mod rows;
mod stderr;
#[cfg(test)]
mod tests;
mod tree;

use super::command::{Command, Overlay, Pane};
use super::condition::Condition;
use super::entry::Entry;
use super::prompt::Prompt;
use super::shared::Shared;
use super::store::{Store, StoreReader};
use look::Look;
use rows::{RowList, Search};
use std::collections::HashSet;
pub(super) use stderr::ScreenLine;
use tree::OperationTree;

/// The additions of the input since the last redraw.
#[derive(PartialEq, Eq)]
pub(super) struct ContentState {
    messages: usize,
    judged: usize,
    findings: u64,
    open: usize,
    stderr: usize,
    notes: Option<String>,
    waiting: Vec<String>,
    ended: bool,
}

/// The connection whose messages show; of messages without connections, those.
#[derive(Clone, Copy)]
pub(super) struct OneLink {
    conn: Option<u32>,
}

/// The state of the screen.
#[allow(clippy::struct_excessive_bools)] // each is a switch of its own
pub(super) struct Model {
    pub shared: Shared,
    pub reader: StoreReader,
    /// The selected message.
    pub selected: usize,
    /// The first row on the screen.
    pub top: usize,
    /// The number of rows on the screen, and of lines of the other panes.
    pub height: usize,
    pub lines_height: usize,
    /// The selection stays at the last message.
    pub follows: bool,
    /// The number of messages that show while the view is paused.
    paused_at: Option<usize>,
    pub focus: Pane,
    /// The last condition, for the search; a filter too if `filters`.
    condition: Option<Condition>,
    pub condition_text: String,
    filters: bool,
    pub open_only: bool,
    pub only: Option<OneLink>,
    /// The operation whose messages show, with those inside.
    only_operation: Option<usize>,
    /// Present if the messages show as a tree of operations.
    tree: Option<OperationTree>,
    folded_requests: HashSet<usize>,
    folded_conns: HashSet<Option<u32>>,
    /// `None`: all messages.
    rows: Option<RowList>,
    search: Option<Search>,
    scratch: Vec<u8>,
    pub overlay: Option<Overlay>,
    pub overlay_top: usize,
    pub prompt: Option<Prompt>,
    pub look: Look,
    pub marked: Option<usize>,
    /// The selected line of the tree, and the first line of bytes and state on the screen.
    pub tree_line: usize,
    pub bytes_top: usize,
    pub state_top: usize,
    /// The answer to the last key.
    pub answer: String,
    /// The latest note before the last key, which is not shown again.
    pub seen_note: Option<String>,
    pub quits: bool,
}

impl Model {
    pub fn new(shared: Shared, reader: StoreReader, follows: bool) -> Self {
        Self {
            shared,
            reader,
            selected: 0,
            top: 0,
            height: 1,
            lines_height: 1,
            follows,
            paused_at: None,
            focus: Pane::Messages,
            condition: None,
            condition_text: String::new(),
            filters: false,
            open_only: false,
            only: None,
            only_operation: None,
            tree: None,
            folded_requests: HashSet::new(),
            folded_conns: HashSet::new(),
            rows: None,
            search: None,
            scratch: Vec::new(),
            overlay: None,
            overlay_top: 0,
            prompt: None,
            look: Look::new(),
            marked: None,
            tree_line: 0,
            bytes_top: 0,
            state_top: 0,
            answer: String::new(),
            seen_note: None,
            quits: false,
        }
    }

    /// Returns the number of messages that can show.
    pub fn message_count(&self) -> usize {
        self.message_count_in(&self.shared.store())
    }

    fn message_count_in(&self, store: &Store) -> usize {
        let all = store.entries.len();
        self.paused_at.map_or(all, |paused| paused.min(all))
    }

    /// Returns the number of rows so far.
    pub fn row_count(&self) -> usize {
        if let Some(rows) = self.tree_rows() {
            return rows.len();
        }
        match &self.rows {
            Some(list) => list.rows.len(),
            None => self.message_count(),
        }
    }

    pub fn message_at(&self, row: usize) -> Option<usize> {
        if let Some(rows) = self.tree_rows() {
            return rows.get(row).map(|(message, _)| *message as usize);
        }
        match &self.rows {
            Some(list) => list.rows.get(row).map(|message| *message as usize),
            None => (row < self.message_count()).then_some(row),
        }
    }

    /// Returns the row of the selected message, or the one that would follow it.
    pub fn selected_row(&self) -> usize {
        if let Some(row) = self.tree_row(self.selected) {
            return row;
        }
        match &self.rows {
            Some(list) => {
                let selected = self.selected as u32;
                let row = list.rows.partition_point(|message| *message < selected);
                row.min(list.rows.len().saturating_sub(1))
            }
            None => self.selected.min(self.message_count().saturating_sub(1)),
        }
    }

    pub fn is_paused(&self) -> bool {
        self.paused_at.is_some()
    }

    /// Returns a value that changes if what the input adds to the screen changes.
    pub fn content_state(&self) -> ContentState {
        let store = self.shared.store();
        let status = &store.status;
        ContentState {
            messages: store.entries.len(),
            judged: store.judged,
            findings: store.finding_count,
            open: store.open,
            stderr: store.stderr.len(),
            notes: status.notes.last().cloned(),
            waiting: status.waiting.clone(),
            ended: status.ended,
        }
    }

    /// Returns true if a condition or a search can go on.
    pub fn is_busy(&self) -> bool {
        let (count, all) = (self.checkable_count(), self.message_count());
        let waits = |search: &Search| search.forward && search.at + 1 >= count && count < all;
        let searches = self.search.as_ref().is_some_and(|search| !waits(search));
        searches || self.rows.as_ref().is_some_and(|list| list.checked < count)
    }

    /// Returns true if a condition or a search is not finished, also if it waits for the rules.
    pub fn is_unfinished(&self) -> bool {
        let count = self.message_count();
        self.search.is_some() || self.rows.as_ref().is_some_and(|list| list.checked < count)
    }

    /// Returns true if a message hides others.
    pub fn is_folded(&self, index: usize, entry: &Entry) -> bool {
        self.folded_requests.contains(&index) || self.folded_conns.contains(&entry.conn())
    }

    /// Returns the conditions for the title of the messages.
    pub fn conditions(&self) -> Vec<String> {
        let mut all = Vec::new();
        all.extend(self.filters.then(|| self.condition_text.clone()));
        all.extend(self.open_only.then(|| "open requests".to_owned()));
        all.extend(self.only.map(|only| match only.conn {
            Some(conn) => format!("connection c{conn}"),
            None => "no connection".to_owned(),
        }));
        all.extend(
            self.only_operation
                .map(|first| format!("operation #{first}")),
        );
        all.extend(self.tree.as_ref().map(|_| "operations".to_owned()));
        all
    }

    fn select(&mut self, index: usize) {
        self.change_selected(index);
        self.follows = false;
        self.keep_in_view();
    }

    fn change_selected(&mut self, index: usize) {
        if self.selected != index {
            self.selected = index;
            (self.tree_line, self.bytes_top, self.state_top) = (0, 0, 0);
            self.look.column = 0;
        }
    }

    /// Moves the selection to a row that shows, and the rows so that it shows.
    pub fn keep_in_view(&mut self) {
        let count = self.row_count();
        if self.follows && count > 0 {
            let last = self.message_at(count - 1).unwrap_or_default();
            self.change_selected(last);
        }
        let row = self.selected_row();
        if let Some(list) = &self.rows
            && list.checked > self.selected
            && let Some(index) = self.message_at(row)
        {
            self.selected = index;
        }
        if row < self.top {
            self.top = row;
        } else if row >= self.top + self.height {
            self.top = row + 1 - self.height;
        }
        self.top = self.top.min(count.saturating_sub(1));
    }

    fn go_to_row(&mut self, row: usize) {
        let count = self.row_count();
        let row = row.min(count.saturating_sub(1));
        if let Some(index) = self.message_at(row) {
            self.select(index);
        }
    }

    fn move_by(&mut self, lines: isize) {
        let shift = |at: usize| at.saturating_add_signed(lines);
        match self.focus {
            _ if self.overlay.is_some() => self.overlay_top = shift(self.overlay_top),
            Pane::Messages => self.go_to_row(shift(self.selected_row())),
            Pane::Tree => self.tree_line = shift(self.tree_line),
            Pane::Bytes => self.bytes_top = shift(self.bytes_top),
            Pane::State => self.state_top = shift(self.state_top),
        }
    }

    fn move_by_pages(&mut self, pages: isize) {
        let height = match self.focus {
            Pane::Messages => self.height,
            _ => self.lines_height,
        };
        let page = height.saturating_sub(1).max(1);
        self.move_by(pages.saturating_mul(isize::try_from(page).unwrap_or(1)));
    }

    /// Shows only the connection of the selected message, or all again.
    fn one_connection(&mut self) {
        let conn = self.selected_entry().map(|entry| entry.conn());
        let only = conn.filter(|_| self.only.is_none());
        self.only = only.map(|conn| OneLink { conn });
        self.restart();
    }

    fn fold_connection(&mut self) {
        if let Some(entry) = self.selected_entry() {
            flip(&mut self.folded_conns, entry.conn());
            self.restart();
        }
    }

    /// Marks the selected message, or compares it with the marked one.
    fn mark_or_compare(&mut self) {
        match self.marked.take() {
            Some(first) if first != self.selected => {
                self.toggle(Overlay::Compare(first, self.selected));
            }
            Some(_) => "no message is marked".clone_into(&mut self.answer),
            None => {
                self.marked = Some(self.selected);
                self.answer = format!("#{} is marked: d on another compares", self.selected);
            }
        }
    }

    /// Carries out a command; returns false for those that need the terminal or files.
    pub fn apply(&mut self, command: Command) -> bool {
        self.answer.clear();
        self.seen_note = self.shared.store().status.notes.last().cloned();
        match command {
            Command::Move(lines) => self.move_by(lines),
            Command::Page(pages) => self.move_by_pages(pages),
            Command::First => self.move_by(isize::MIN),
            Command::Last => {
                self.move_by(isize::MAX);
                self.follows = self.focus == Pane::Messages && self.overlay.is_none();
            }
            Command::NextPane => self.focus = self.focus.step(1),
            Command::PreviousPane => self.focus = self.focus.step(Pane::ALL.len() - 1),
            Command::Open => {
                if self.focus == Pane::Messages {
                    self.focus = Pane::Tree;
                }
            }
            Command::Back => self.back(),
            Command::Quit if self.overlay.is_some() => self.overlay = None,
            Command::Quit => self.quits = true,
            Command::Help => self.toggle(Overlay::Help),
            Command::Stats => self.toggle(Overlay::Stats),
            Command::Prompt => self.prompt = Some(Prompt::default()),
            Command::Match { forward } if self.condition.is_some() => {
                let at = self.selected;
                self.search = Some(Search { at, forward });
            }
            Command::Match { .. } => "type a condition first: /".clone_into(&mut self.answer),
            Command::Finding { forward } => self.next_finding(forward),
            Command::OtherOfPair => self.other_of_pair(),
            Command::OpenOnly => {
                self.open_only = !self.open_only;
                self.restart();
            }
            Command::OneConnection => self.one_connection(),
            Command::OneOperation => self.one_operation(),
            Command::Operations => self.toggle_tree(),
            Command::Delta | Command::Wrap | Command::Zoom | Command::Scroll { .. } => {
                self.look.apply(command);
            }
            Command::Stderr => self.toggle_stderr(),
            Command::Compare => self.mark_or_compare(),
            Command::Pause => {
                let count = self.shared.store().entries.len();
                self.paused_at = self.paused_at.is_none().then_some(count);
            }
            Command::FoldPair => {
                if !self.fold_operation() {
                    self.fold_pair();
                }
            }
            Command::FoldConnection => self.fold_connection(),
            Command::Row(row) => {
                self.focus = Pane::Messages;
                self.go_to_row(row);
            }
            Command::Line(pane, line) => {
                self.focus = pane;
                if pane == Pane::Tree {
                    self.tree_line = line;
                }
            }
            Command::Copy => self.toggle(Overlay::Copy),
            Command::CopyAs(_) | Command::Save | Command::Edit => {
                self.overlay = None;
                return false;
            }
        }
        self.keep_in_view();
        true
    }

    fn toggle(&mut self, overlay: Overlay) {
        self.overlay_top = 0;
        self.overlay = Some(overlay).filter(|new| self.overlay.as_ref() != Some(new));
    }

    fn back(&mut self) {
        if self.overlay.take().is_some() || std::mem::take(&mut self.look.zooms) {
            return;
        }
        if self.focus != Pane::Messages {
            self.focus = Pane::Messages;
            return;
        }
        self.filters = false;
        self.open_only = false;
        self.only = None;
        self.only_operation = None;
        self.restart();
    }

    pub fn selected_entry(&self) -> Option<Entry> {
        self.shared.store().entries.get(self.selected).copied()
    }

    fn next_finding(&mut self, forward: bool) {
        let count = self.message_count();
        let shared = self.shared.clone();
        let store = shared.store();
        let has_finding = |index: &usize| {
            let entry = store.entries.get(*index);
            entry.is_some_and(|entry| entry.severity().is_some())
        };
        let found = if forward {
            (self.selected + 1..count).find(has_finding)
        } else {
            (0..self.selected.min(count)).rev().find(has_finding)
        };
        let is_judged = store.judged >= count;
        // The selection locks the messages again.
        drop(store);
        if let Some(index) = found {
            self.show(index);
            // A small screen may not show the end of the tree.
            self.answer = shared.store().first_finding(index).unwrap_or_default();
            return;
        }
        let which = if forward { "later" } else { "earlier" };
        self.answer = format!("no {which} message has a finding");
        if forward && !is_judged {
            self.answer.push_str(" so far: the rules are being checked");
        }
    }

    fn other_of_pair(&mut self) {
        match self.selected_entry().and_then(|entry| entry.other()) {
            Some(other) => self.show(other),
            None => "no other message belongs to it".clone_into(&mut self.answer),
        }
    }

    /// Selects a message, also if conditions hide it: then they end.
    fn show(&mut self, index: usize) {
        let is_hidden = self.rows.as_ref().is_some_and(|list| {
            let wanted = index as u32;
            list.checked > index && list.rows.binary_search(&wanted).is_err()
        });
        if is_hidden {
            self.folded_requests.clear();
            self.folded_conns.clear();
            let focus = std::mem::replace(&mut self.focus, Pane::Messages);
            self.back();
            self.focus = focus;
            "the condition ended, to show this message".clone_into(&mut self.answer);
        }
        self.unfold_around(index);
        self.select(index);
    }
}

/// Adds a value, or removes it.
fn flip<T: Eq + std::hash::Hash + Copy>(set: &mut HashSet<T>, value: T) {
    if !set.remove(&value) {
        set.insert(value);
    }
}

//! A page of an answer: captured texts of limited size, and where the rest begins.

use super::listing::Listing;
use crate::render::DisplayOptions;
use crate::render::style::shorten;
use crate::render::subject::masked_subject;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The maximum number of bytes of captured text in an answer.
pub const MAX_TEXT: usize = 32 << 10;
/// The maximum number of characters of one message in a list.
pub const MAX_ENTRY: usize = 2000;
/// The number of entries of a page, and the maximum.
const PAGE: usize = 50;
const MAX_PAGE: usize = 100;
/// The number of columns of lines.
const WIDTH: usize = 180;

/// How agents see messages: secrets are never shown.
pub fn display() -> DisplayOptions {
    DisplayOptions {
        width: Some(WIDTH),
        ..DisplayOptions::default()
    }
}

/// Returns the text of an entry of a list: of limited length, without secrets.
pub fn entry_text(text: &str) -> String {
    shorten(&masked_subject(text.trim_end(), false), MAX_ENTRY).into_owned()
}

/// The captured texts of an answer.
pub struct Page {
    texts: Vec<String>,
    bytes: usize,
    most: usize,
    /// The first entry.
    pub start: usize,
}

impl Page {
    pub fn new(cursor: usize, limit: Option<usize>) -> Self {
        Self {
            texts: Vec::new(),
            bytes: 0,
            most: limit.unwrap_or(PAGE).clamp(1, MAX_PAGE),
            start: cursor,
        }
    }

    pub fn is_full(&self) -> bool {
        self.texts.len() >= self.most || self.bytes >= MAX_TEXT
    }

    pub fn add(&mut self, text: &str) {
        self.push(entry_text(text));
    }

    fn push(&mut self, text: String) {
        self.bytes += text.len();
        self.texts.push(text);
    }

    /// Adds entries from the start on. Returns the answer with their number and the cursor of the rest.
    pub fn of_entries<T>(
        mut self,
        what: &str,
        all: &[T],
        write: impl Fn(&T, &mut String),
    ) -> Value {
        let mut next = self.start.min(all.len());
        while let Some(one) = all.get(next).filter(|_| !self.is_full()) {
            let mut text = String::new();
            write(one, &mut text);
            self.add(&text);
            next += 1;
        }
        self.finish(what, all.len(), next)
    }

    /// Adds entries of a list of one sort from the start on. Returns the answer, and the sorts of its entries. `elsewhere`
    /// is a command that shows all of them.
    pub fn of_listing(
        mut self,
        what: &str,
        all: &Listing,
        sort: Option<u16>,
        elsewhere: &str,
    ) -> Result<(Value, BTreeSet<u16>)> {
        let (count, mut sorts) = (all.of_sort(sort).count(), BTreeSet::new());
        let mut next = self.start.min(count);
        for entry in all.of_sort(sort).skip(next) {
            if self.is_full() {
                break;
            }
            self.push(all.line(entry)?);
            sorts.insert(entry.sort);
            next += 1;
        }
        let mut answer = self.finish(what, count, next);
        if all.left_out > 0 {
            let left_out = all.left_out;
            answer["note"] =
                format!("the capture has {left_out} more {what}: {elsewhere} shows all").into();
        }
        Ok((answer, sorts))
    }

    /// Returns the answer: the number of all entries, and the cursor of those that are left out.
    pub fn finish(self, what: &str, all: usize, next: usize) -> Value {
        let mut answer = json!({ what: all, "captured": self.texts });
        if next < all {
            answer["cursor"] = next.into();
            answer["left_out"] = format!("{what} from {next} to {}", all - 1).into();
        }
        answer
    }
}

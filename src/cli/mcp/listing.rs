//! A list of entries that can be long: 16 bytes for each in memory, their lines in a temporary file.

use crate::cli::watch::store::read_at;
use anyhow::{Context as _, Result, ensure};
use std::fs::File;
use std::io::Write as _;

/// The maximum number of entries.
const MAX_ENTRIES: usize = 1 << 22;
/// The number of bytes of lines that are written at once.
const BATCH_BYTES: usize = 1 << 16;

#[derive(Clone, Copy)]
pub struct ListEntry {
    /// The place of its line in the file.
    at: u64,
    /// The message that it belongs to; `u32::MAX` if there is none.
    index: u32,
    len: u16,
    /// The number of its sort.
    pub sort: u16,
}

pub struct Listing {
    file: File,
    written: u64,
    lines: String,
    entries: Vec<ListEntry>,
    /// The number of entries that have no place.
    pub left_out: u64,
}

impl Listing {
    pub fn new() -> Result<Self> {
        let file = tempfile::tempfile().context("cannot create a temporary file for a list")?;
        Ok(Self {
            file,
            written: 0,
            lines: String::new(),
            entries: Vec::new(),
            left_out: 0,
        })
    }

    /// Adds an entry about a message. Its line has at most 64 KiB.
    pub fn add(&mut self, index: u64, sort: u16, line: &str) -> Result<()> {
        if self.entries.len() >= MAX_ENTRIES {
            self.left_out += 1;
            return Ok(());
        }
        self.entries.push(ListEntry {
            at: self.written + self.lines.len() as u64,
            index: u32::try_from(index).unwrap_or(u32::MAX),
            len: u16::try_from(line.len()).context("the line of an entry is too long")?,
            sort,
        });
        self.lines += line;
        if self.lines.len() >= BATCH_BYTES {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let written = (&self.file).write_all(self.lines.as_bytes());
        written.context("cannot write a list to a temporary file")?;
        self.written += self.lines.len() as u64;
        self.lines.clear();
        Ok(())
    }

    /// Completes the list: its entries have the order of their messages.
    pub fn finish(&mut self) -> Result<()> {
        self.write()?;
        self.entries.sort_by_key(|entry| entry.index);
        Ok(())
    }

    /// Returns the entries, of one sort if that is given.
    pub fn of_sort(&self, sort: Option<u16>) -> impl Iterator<Item = ListEntry> + '_ {
        let entries = self.entries.iter().copied();
        entries.filter(move |entry| sort.is_none_or(|sort| entry.sort == sort))
    }

    pub fn line(&self, entry: ListEntry) -> Result<String> {
        let mut line = Vec::new();
        read_at(&self.file, entry.at, entry.len.into(), &mut line);
        ensure!(line.len() == usize::from(entry.len), "cannot read a list");
        String::from_utf8(line).context("the line of an entry has changed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_the_order_of_messages_and_keep_their_lines() {
        assert_eq!(size_of::<ListEntry>(), 16);
        let mut list = Listing::new().unwrap();
        let long = "x".repeat(BATCH_BYTES - 1);
        for (index, sort, line) in [(7, 1, "seven"), (3, 0, "drei ä"), (9, 1, &long), (3, 1, "")] {
            list.add(index, sort, line).unwrap();
        }
        list.finish().unwrap();
        let lines = |sort| -> Vec<String> {
            let entries = list.of_sort(sort);
            entries.map(|entry| list.line(entry).unwrap()).collect()
        };
        assert_eq!(lines(None), ["drei ä", "", "seven", &long]);
        assert_eq!(lines(Some(1)), ["", "seven", &long]);
        assert!(list.add(0, 0, &"x".repeat(1 << 16)).is_err());
    }
}

//! Writes what is read as a recording.

use crate::capture::{Header, Item, ItemRecorder};
use crate::cli::{descriptions, print_message, recording};
use crate::protocol::Direction;
use crate::transport::RecordingFile;
use anyhow::{Context as _, Result};
use std::io::Write as _;
use std::path::Path;

/// The number of bytes that are written at once.
const WRITE_SIZE: usize = 256 << 10;

/// The recording of `-w`.
pub struct DecodeRecorder {
    file: RecordingFile,
    items: ItemRecorder,
    lines: Vec<u8>,
    /// Bytes are in the file.
    has_written: bool,
    /// The header for an input that has none, if the user named a protocol.
    header: Option<Header>,
}

impl DecodeRecorder {
    /// Creates the file, if there is one, and prints its name. The user may have named a protocol.
    pub fn create(
        path: Option<&Path>,
        protocol: Option<&str>,
        quiet: bool,
    ) -> Result<Option<Self>> {
        let Some(path) = path else {
            return Ok(None);
        };
        let file = recording::create_and_note(path, quiet, &print_message)?;
        Ok(Some(Self {
            file,
            items: ItemRecorder::default(),
            lines: Vec::new(),
            has_written: false,
            header: protocol.map(|name| descriptions::header(name, 0)),
        }))
    }

    /// Begins another input.
    pub fn begin_input(&mut self) {
        self.items.begin_input();
    }

    /// Writes an item; `direction` is that of bytes without one.
    pub fn item(&mut self, item: &Item<'_>, direction: Option<Direction>) -> Result<()> {
        self.items.direction = direction;
        let started = match item {
            Item::Chunk(chunk) => Some(chunk.time),
            Item::Event(event) => Some(event.time),
            _ => None,
        };
        if matches!(item, Item::Header(_)) {
            self.header = None;
        } else if let Some(started) = started
            && let Some(mut header) = self.header.take()
        {
            header.started = started;
            self.items.item(&Item::Header(&header), &mut self.lines);
        }
        self.items.item(item, &mut self.lines);
        if self.lines.len() >= WRITE_SIZE {
            self.flush()?;
        }
        Ok(())
    }

    /// Ends the recording.
    pub fn finish(mut self) -> Result<()> {
        std::mem::take(&mut self.items).finish(&mut self.lines);
        self.flush()
    }

    /// Ends the recording after an error: it keeps the bytes so far, and an empty file is removed.
    pub fn abandon(mut self) -> Result<()> {
        if self.lines.is_empty() && !self.has_written {
            let found = self.file.file.metadata();
            // A device or a pipe stays.
            if found.is_ok_and(|found| found.is_file() && found.len() == 0) {
                _ = std::fs::remove_file(&self.file.name);
            }
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        self.has_written = true;
        let written = self.file.file.write_all(&self.lines);
        written.with_context(|| format!("cannot write {}", self.file.name))?;
        self.lines.clear();
        Ok(())
    }
}

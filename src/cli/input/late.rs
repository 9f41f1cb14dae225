//! Finds what only later parts of a file show, before it is read: the protocols of connections, so that their messages are shown
//! in the order of their times, and the report of a program behind all messages.

use super::READ_SIZE;
use super::files::OpenFile;
use crate::capture::{self, CaptureInput};
use crate::conversation::{Output, Run, Source};
use crate::decoder::{DecodeOptions, LateGuess};
use anyhow::{Context as _, Result};
use std::convert::Infallible;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;

/// The maximum number of bytes of a file that are read twice.
const MAX_READ: u64 = 16 << 20;

/// The number of bytes that show if connections are detected separately.
const FIRST_READ: usize = 1 << 10;

/// The number of bytes at the end of a file that show what it is.
const LAST_READ: u64 = 2 << 10;

/// Returns true if the last lines of a file show that messages were copied out of something else. Returns to where the file was.
pub(super) fn ends_as_pasted(file: &OpenFile) -> Result<bool> {
    if !file.plain {
        return Ok(false);
    }
    let failed = || format!("cannot read {}", file.name);
    let start = (&file.file).stream_position().with_context(failed)?;
    let from = file.len.saturating_sub(LAST_READ);
    let mut last = Vec::new();
    (&file.file)
        .seek(SeekFrom::Start(from.max(start)))
        .with_context(failed)?;
    (&file.file)
        .take(LAST_READ)
        .read_to_end(&mut last)
        .with_context(failed)?;
    (&file.file)
        .seek(SeekFrom::Start(start))
        .with_context(failed)?;
    Ok(capture::ends_as_pasted(&last))
}

/// Reads the beginning of a file whose connections are detected separately, and returns to where it was.
pub(super) fn late_guesses(
    file: &OpenFile,
    input: CaptureInput,
    options: &DecodeOptions<'_>,
) -> Result<Vec<LateGuess>> {
    if !file.plain || options.protocols.len() == 1 {
        return Ok(Vec::new());
    }
    let failed = || format!("cannot read {}", file.name);
    let start = (&file.file).stream_position().with_context(failed)?;
    let mut sink = |_: Output<'_>| ControlFlow::<Infallible>::Continue(());
    let mut run = Run::of_source(Source::default(), Some(input), options.clone(), None);
    // The form is known from the first bytes; those of most captures are not read twice.
    let mut size = FIRST_READ;
    let mut part = vec![0; READ_SIZE];
    let is_whole = loop {
        let space = part.get_mut(..size).unwrap_or_default();
        let len = (&file.file).read(space).with_context(failed)?;
        size = READ_SIZE;
        let mut bytes = part.get(..len).unwrap_or_default();
        if bytes.is_empty() {
            break true;
        }
        let ControlFlow::Continue(()) = run.read(&mut bytes, &mut sink);
        if run.bytes() >= MAX_READ || !run.decoder().is_separate() {
            break false;
        }
    };
    if run.decoder().is_separate() {
        let ControlFlow::Continue(()) = run.finish(&mut sink);
    }
    (&file.file)
        .seek(SeekFrom::Start(start))
        .with_context(failed)?;
    let mut found = run.late_guesses();
    found.retain(|late| is_whole || late.is_certain);
    Ok(found)
}

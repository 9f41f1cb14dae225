//! Live traffic: the proxy records it, and the reader follows the recording.
//!
//! ```text
//!   pump --> recording --> reader --> Store
//! ```
//!
//! The pump waits for the disk only, as that of `record` does, and never for the screen.

use super::shared::Shared;
use crate::capture::Form;
use crate::cli::interrupt::Stop;
use crate::cli::live::{self, ConnectionArgs, LiveConfig, take_stdio_beside_screen};
use crate::cli::options::{InputArgs, PacketArgs, SharedArgs};
use crate::cli::{Exit, print_message, recording};
use crate::decoder::DecodeOptions;
use crate::protocol::Protocol;
use crate::system::{self, Signal};
use crate::transport::{Inserts, RecordingFile};
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempPath;

/// Live traffic and its recording.
pub(super) struct LiveTraffic {
    recording: RecordingFile,
    /// Removes the recording when it is dropped, if nobody asked for it: the reader must have opened it.
    pub temporary: Option<TempPath>,
    /// The directions that messages can be added to, if they can.
    pub inserts: Option<Arc<Inserts>>,
}

impl LiveTraffic {
    /// Creates the recording, a temporary file if no name is given.
    pub fn new(write: Option<&Path>, quiet: bool) -> Result<Self> {
        if let Some(path) = write {
            // The line stays on the terminal after the screen is closed.
            let recording = recording::create_and_note(path, quiet, &print_message)?;
            let is_file = recording.file.metadata().is_ok_and(|meta| meta.is_file());
            let name = &recording.name;
            anyhow::ensure!(is_file, "watch reads its recording: {name} is no file");
            return Ok(Self {
                recording,
                temporary: None,
                inserts: None,
            });
        }
        let mut builder = tempfile::Builder::new();
        builder
            .prefix("wiretool-watch-")
            .suffix(".jsonl")
            .append(true);
        let file = builder.tempfile();
        let (file, path) = file
            .context("cannot create a temporary recording")?
            .into_parts();
        let name = path.display().to_string();
        Ok(Self {
            recording: RecordingFile { file, name },
            temporary: Some(path),
            inserts: None,
        })
    }

    /// Returns the input for the reader.
    pub fn input(&self, packets: &PacketArgs) -> InputArgs {
        InputArgs {
            from: Form::Recording,
            follow: true,
            packets: packets.clone(),
            ..InputArgs::of_file(PathBuf::from(&self.recording.name))
        }
    }

    /// Forwards until the end. An error ends the screen, too.
    pub fn relay(
        self,
        connection: &ConnectionArgs,
        protocol: Option<&'static dyn Protocol>,
        options: DecodeOptions<'static>,
        shared: &SharedArgs,
        messages: &Shared,
        stop: &Stop,
    ) -> Result<Exit> {
        let (stdio, silent) = if connection.has_child() {
            let stdio = take_stdio_beside_screen();
            let (stdio, silent) = stdio.context("cannot use stdin, stdout and stderr")?;
            (Some(stdio), silent)
        } else {
            (None, None)
        };
        let noted = messages.clone();
        let ended = live::run(LiveConfig {
            connection,
            lint: None,
            write: None,
            rotate: None,
            otlp: None,
            show_secrets: false,
            recording: Some(self.recording),
            stdio,
            print: Some(Arc::new(move |text: &str| {
                noted.store().status.note(text.to_owned());
            })),
            screen: None,
            decode: (connection.faults.is_given() || self.inserts.is_some()).then_some(options),
            inserts: self.inserts,
            protocol,
            shared,
        });
        drop(silent);
        let mut store = messages.store();
        if ended.is_ok() {
            store.status.note("the traffic has ended".to_owned());
            store.status.ended = true;
        } else {
            stop.set();
        }
        ended
    }
}

/// Ends the proxy as a signal to this process does: it completes the recording.
pub(super) fn end_relay() {
    system::kill(std::process::id(), Signal::TERM);
}

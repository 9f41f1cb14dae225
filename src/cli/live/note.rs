//! Says where the messages of live traffic are.

use super::LiveConfig;
use crate::cli::recording;
use crate::transport::RecordingFile;
use std::path::PathBuf;

const NOT_SHOWN: &str = "messages are shown only if stderr is a terminal: -f line shows them here, \
    -w FILE records them";

/// What the user has asked for.
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(super) struct RecordingNote {
    /// The name of the recording on the command line.
    named: Option<PathBuf>,
    /// The caller does not show the messages of a recording that it made.
    is_needed: bool,
    is_shown: bool,
    quiet: bool,
}

impl RecordingNote {
    pub fn new(config: &LiveConfig<'_>) -> Self {
        Self {
            named: config.write.clone(),
            is_needed: config.recording.is_none(),
            is_shown: (config.screen.as_ref()).is_some_and(|screen| screen.format.is_some()),
            quiet: config.shared.quiet,
        }
    }

    /// Returns the note that names the recording.
    pub fn of_sockets(&self, recording: Option<&RecordingFile>) -> Option<String> {
        recording::note(recording?, self.named.as_ref()?, self.quiet)
    }

    /// Returns the same for a child, and how to see its messages if they are not shown.
    pub fn of_child(&self, recording: Option<&RecordingFile>) -> Option<String> {
        let is_hidden = self.is_needed && !self.is_shown && !self.quiet;
        let Some(file) = recording else {
            return is_hidden.then(|| NOT_SHOWN.to_owned());
        };
        let note = self.of_sockets(Some(file))?;
        let is_file = file.file.metadata().is_ok_and(|meta| meta.is_file());
        if !is_hidden || !is_file {
            return Some(note);
        }
        let name = shell_words::quote(&file.name);
        Some(format!("{note}; wiretool watch --follow {name} shows it"))
    }
}

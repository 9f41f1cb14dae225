//! Captures in the forms of other programs.
//!
//! ```text
//!   Run --Output--> the sink of the command: selects --> Form --> bytes, written as they come
//! ```
//!
//! A form keeps a bounded part of the capture. Texts of the wire are escaped with [`crate::escape`], then for the form;
//! secrets are masked, unless the options show them.

pub(crate) mod facts;
mod har;
pub(crate) mod html;
mod mermaid;
mod otlp;
mod pcapng;
pub(crate) mod sql;
mod text;

use crate::capture::{Item, Sources};
use crate::conversation::{Conversation, Finding, Operation, Run, Verdict};
use crate::decoder::{Decoded, Origin};
use crate::encoding::Want;
use crate::render::DisplayOptions;

/// The forms that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormName {
    /// A sequence diagram of mermaid.
    Mermaid,
    /// A page.
    Html,
    /// Spans of OpenTelemetry.
    Otlp,
    /// A packet capture.
    Pcapng,
    /// An HTTP archive.
    Har,
    /// A table and statements of SQL, which no capture is needed for.
    Sql,
}

impl FormName {
    /// All forms.
    pub(crate) const ALL: [Self; 6] = [
        Self::Mermaid,
        Self::Html,
        Self::Otlp,
        Self::Pcapng,
        Self::Har,
        Self::Sql,
    ];

    /// Returns its name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Mermaid => "mermaid",
            Self::Html => "html",
            Self::Otlp => "otlp",
            Self::Pcapng => "pcapng",
            Self::Har => "har",
            Self::Sql => "sql",
        }
    }

    /// Returns what it is, in a few words.
    pub(crate) const fn about(self) -> &'static str {
        match self {
            Self::Mermaid => "A sequence diagram, as text that GitHub and others draw",
            Self::Html => "A page that shows the session: one file that opens without a network",
            Self::Otlp => "Spans of operations, for a trace viewer (OTLP JSON lines)",
            Self::Pcapng => "A packet capture: each connection as a TCP stream, for Wireshark",
            Self::Har => "HTTP exchanges and WebSocket messages (HAR 1.2), for a browser",
            Self::Sql => "The table for decode -f json --flat, and statements over it",
        }
    }

    /// Returns the form with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }

    /// Begins an output in this form; `None` if it does not depend on captures.
    pub(crate) fn start(self, options: ExportOptions) -> Option<Box<dyn Form + Send>> {
        match self {
            Self::Mermaid => Some(Box::new(mermaid::Mermaid::new(options))),
            Self::Html => Some(Box::new(html::Page::new(DisplayOptions {
                show_secrets: options.show_secrets,
                sources: options.sources,
                ..DisplayOptions::default()
            }))),
            Self::Otlp => Some(Box::new(otlp::Otlp::new(options))),
            Self::Pcapng => Some(Box::new(pcapng::Pcapng::new(options))),
            Self::Har => Some(Box::new(har::Har::new(options))),
            Self::Sql => None,
        }
    }
}

/// What every form needs to know.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub(crate) struct ExportOptions {
    /// Secrets are shown.
    pub show_secrets: bool,
    /// Arguments and results are written.
    pub shows_content: bool,
    /// The traffic is live: what is complete is written at once.
    pub is_live: bool,
    /// Operations are shown instead of messages.
    pub operations: bool,
    /// Only some messages are selected, so findings that belong to no message are left out.
    pub is_selective: bool,
    /// The captures, if several are one conversation.
    pub sources: Option<&'static Sources>,
}

/// Writes captures in one form: each call appends to `out`, which is emptied between the calls.
pub(crate) trait Form: Send {
    /// Returns the details that it needs of each message.
    fn want(&self) -> Want;

    /// Returns `true` if it needs operations.
    fn needs_operations(&self) -> bool {
        false
    }

    /// Begins a capture; there may be several.
    fn begin(&mut self, run: &Run<'_>, out: &mut Vec<u8>);

    /// Takes an item of the capture, before what is read from it, also if no message of it is selected.
    fn item(&mut self, _item: &Item<'_>, _origin: Origin, _out: &mut Vec<u8>) {}

    /// Takes a selected message with its findings.
    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, out: &mut Vec<u8>);

    /// Takes a message that is not selected.
    fn skip(&mut self, _decoded: &Decoded<'_>, _verdict: Verdict<'_>, _out: &mut Vec<u8>) {}

    /// Takes an operation that has ended after the message with this index, and of which a message is selected.
    fn operation(&mut self, _operation: &Operation, _last: u64, _out: &mut Vec<u8>) {}

    /// Takes an operation that has ended, and of which no message is selected.
    fn skip_operation(&mut self, _operation: &Operation) {}

    /// Takes findings of an event, or of the end.
    fn findings(&mut self, findings: &[Finding], out: &mut Vec<u8>);

    /// Takes what waits for an answer at the end of the capture. `has_both`: the capture has both directions.
    fn wait(&mut self, _conversation: &Conversation<'_>, _has_both: bool) {}

    /// Ends a capture.
    fn end(&mut self, _run: &Run<'_>, _out: &mut Vec<u8>) {}

    /// Returns what the output lacks, in sentences.
    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }

    /// Ends the output after the last capture; returns the reason if the captures have no such form.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), String>;
}

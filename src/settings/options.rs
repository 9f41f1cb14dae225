//! How a fixture is read and shown.

use crate::capture::Form;
use crate::conversation::Judge;
use crate::framing::{Framing, LengthMode, Limits};
use crate::protocol::Direction;
use crate::protocol::registry::Signature;
use crate::render::Format;
use std::path::PathBuf;

/// Options for reading and showing a fixture.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub(crate) struct FixtureOptions {
    /// The protocol; detected if not set.
    pub protocol: Option<String>,
    /// The framing; detected if not set.
    pub framing: Option<Framing>,
    /// How frames count their length.
    pub length_mode: LengthMode,
    /// The direction of the bytes, if the fixture does not contain it.
    pub direction: Option<Direction>,
    /// The form of the fixture.
    pub from: Form,
    /// The limits of messages.
    pub limits: Limits,
    /// `true` to stop at the first bad frame.
    pub no_resync: bool,
    /// The format of messages.
    pub format: Format,
    /// `true` to show findings and the requests of responses.
    pub lint: bool,
    /// The severities of findings.
    pub judge: Judge,
    /// A file with definitions of the protocol.
    pub schema: Option<PathBuf>,
    /// Every body is this struct.
    pub as_struct: Option<String>,
    /// The signatures of selectors.
    pub signatures: Vec<Signature>,
    /// Paths of hidden values, with the patterns of diff.
    pub ignore: Vec<String>,
    /// `true` to hide values that differ in every run, too.
    pub redact_volatile: bool,
    /// `true` to use the times of a recording, and to show them in formats that have them.
    pub times: bool,
}

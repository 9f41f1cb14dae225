//! The options of a decoder.

use crate::encoding::{Parsed, Want};
use crate::framing::{Framing, LengthMode, Limits};
use crate::protocol::Protocol;
use crate::tape::Lookup;

/// The choices of the user; the rest is detected.
#[derive(Clone)]
#[non_exhaustive]
pub struct DecodeOptions<'p> {
    /// The possible protocols, in the order that decides a tie; exactly one if it is known.
    pub protocols: Vec<&'p dyn Protocol>,
    /// The framing, if known.
    pub framing: Option<Framing>,
    /// What the length of a frame counts, if its framing has several ways.
    pub length_mode: LengthMode,
    /// The limits of messages.
    pub limits: Limits,
    /// `true` to search for the next frame after a bad one.
    pub resync: bool,
    /// The details that the output needs.
    pub want: Want,
    /// `true` to write the settings in hints as flags, for a command line that has them.
    pub flags: bool,
    /// The values that a lookup needs of a long message, with [`Want::Rows`].
    pub(crate) lookup: Option<Lookup>,
}

impl<'p> DecodeOptions<'p> {
    /// Creates options with the given protocols, default limits and all positions; the rest is
    /// detected.
    pub fn new(protocols: Vec<&'p dyn Protocol>) -> Self {
        Self {
            protocols,
            framing: None,
            length_mode: LengthMode::Auto,
            limits: Limits::default(),
            resync: true,
            want: Want::Places,
            flags: false,
            lookup: None,
        }
    }
}

/// Creates the buffers for messages.
pub(super) fn new_parsed(want: Want, depth: u32, lookup: Option<&Lookup>) -> Parsed {
    let mut parsed = Parsed::new(want, depth);
    if let Some(lookup) = lookup {
        parsed.tape.set_lookup(lookup.clone());
    }
    parsed
}

impl std::fmt::Debug for DecodeOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("DecodeOptions");
        fields.field(
            "protocols",
            &self.protocols.iter().map(|p| p.name()).collect::<Vec<_>>(),
        );
        fields.field("framing", &self.framing);
        fields.field("limits", &self.limits);
        fields.finish_non_exhaustive()
    }
}

impl std::fmt::Debug for super::Decoder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("Decoder");
        fields.field("protocol", &self.protocol.map(<dyn Protocol>::name));
        fields.field("index", &self.index).finish_non_exhaustive()
    }
}

//! Metadata that an input has about its bytes.

use super::Decoded;

/// Metadata about bytes of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// The first of these bytes, in the direction's stream.
    pub offset: u64,
    /// The metadata.
    pub event: SideEvent,
}

/// One kind of metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SideEvent {
    /// A remark in a hex dump: `length = 14`.
    Number {
        /// The number of bytes next to the remark.
        len: u64,
        /// The field name in the remark.
        name: String,
        /// The number in the remark.
        number: u64,
    },
    /// The fault that wiretool applied to the frame that starts here: the receiver got other bytes
    /// than the stream holds.
    Fault(String),
}

impl Decoded<'_> {
    /// Returns `true` if a fault dropped the frame, so that its receiver never got it.
    pub fn is_dropped(&self) -> bool {
        self.has_fault("drop")
    }

    /// Returns `true` if wiretool sent it, and no peer.
    #[cfg(feature = "cli")]
    pub(crate) fn is_sent(&self) -> bool {
        self.has_fault("sent")
    }

    fn has_fault(&self, name: &str) -> bool {
        let is_it = |faults: &str| faults.split(", ").any(|fault| fault == name);
        self.injected.is_some_and(is_it)
    }
}

/// Returns the faults that wiretool applied to the frame that starts at `offset`.
pub(super) fn injections(metadata: &[Metadata], offset: u64) -> String {
    let faults = metadata
        .iter()
        .filter_map(|metadata| match &metadata.event {
            SideEvent::Fault(what) if metadata.offset == offset => Some(what.as_str()),
            _ => None,
        });
    faults.collect::<Vec<_>>().join(", ")
}

//! What an input says of its bytes, beside them.

use super::Decoded;

/// What an input says of bytes of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// First byte of the bytes it stands beside, in the direction's stream.
    pub offset: u64,
    /// What it says.
    pub says: Says,
}

/// What stands beside bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    /// A remark of a hex dump: `length = 14`.
    Number {
        /// How many bytes it stands beside.
        len: u64,
        /// What it says the field is called.
        name: String,
        /// What it says the field is.
        number: u64,
    },
    /// wiretool did this to the frame that begins here: the receiver did not get what stands in the stream.
    Fault(String),
}

impl Decoded<'_> {
    /// Whether wiretool kept it back on purpose, so that its receiver never got it.
    pub fn is_dropped(&self) -> bool {
        let mut faults = self.injected.unwrap_or_default().split(", ");
        faults.any(|fault| fault == "drop")
    }
}

/// What wiretool did to the frame that begins there.
pub(super) fn injections(beside: &[Beside], offset: u64) -> String {
    let faults = beside.iter().filter_map(|beside| match &beside.says {
        Says::Fault(what) if beside.offset == offset => Some(what.as_str()),
        _ => None,
    });
    faults.collect::<Vec<_>>().join(", ")
}

//! What `{:?}` prints of options and encoders: names, no state.

use super::{EncodeOptions, Encoder};
use crate::protocol::Protocol;
use std::fmt;

impl fmt::Debug for EncodeOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("EncodeOptions");
        fields.field(
            "protocols",
            &self.protocols.iter().map(|p| p.name()).collect::<Vec<_>>(),
        );
        fields.field("protocol", &self.protocol.map(<dyn Protocol>::name));
        fields.field("framing", &self.framing);
        fields.finish_non_exhaustive()
    }
}

impl fmt::Debug for Encoder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Encoder");
        fields.field("options", &self.options);
        fields.finish_non_exhaustive()
    }
}

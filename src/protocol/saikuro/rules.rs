//! What saikuro conversations are held to.

use crate::protocol::session::Rule;

/// Every rule, in the order in which a conversation comes to them.
pub(super) static RULES: &[Rule] = &[];

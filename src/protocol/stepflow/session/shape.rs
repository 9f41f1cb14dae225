//! Checks of single messages: the rule for each error.

use super::super::{DESCRIPTOR, schema::DIALECT};
use crate::protocol::rpc::Call;
use crate::protocol::rpc::shape::CallShape;
use crate::protocol::session::Current;

/// Returns the checks of a message.
pub(super) fn of<'s, 'a>(seen: Current<'s, 'a>, call: &'s Call<'a>) -> CallShape<'s, 'a> {
    CallShape {
        dialect: &DIALECT,
        sides: DESCRIPTOR.sides,
        rule: Some,
        may_lack_version: false,
        role: seen.message.role,
        seen,
        call,
    }
}

//! Checks of single messages: the rule for each error.

use super::super::{DESCRIPTOR, schema::DIALECT};
use crate::protocol::rpc::Call;
use crate::protocol::rpc::shape::{CallShape, ShapeViolation};
use crate::protocol::session::Seen;

/// Returns the checks of a message.
pub(super) fn of<'s, 'a>(seen: &'s Seen<'a>, call: &'s Call<'a>) -> CallShape<'s, 'a> {
    CallShape {
        dialect: &DIALECT,
        sides: DESCRIPTOR.sides,
        rule,
        role: seen.message.role,
        seen,
        call,
    }
}

const fn rule(violation: ShapeViolation) -> &'static str {
    match violation {
        ShapeViolation::RepeatedMember => "duplicate-key",
        ShapeViolation::VersionMissing => "version-missing",
        ShapeViolation::VersionWrong => "version-wrong",
        ShapeViolation::ResultBesideMethod => "result-beside-method",
        ShapeViolation::IdMissing => "missing-id",
        ShapeViolation::IdType => "id-type",
        ShapeViolation::IdRange => "id-range",
        ShapeViolation::NullId => "null-id",
        ShapeViolation::NullIdOfError => "null-id-error",
        ShapeViolation::UnknownMethod => "unknown-method",
        ShapeViolation::UnknownNotification => "unknown-notification",
        ShapeViolation::WrongDirection => "wrong-direction",
        ShapeViolation::RequestWithoutId => "request-without-id",
        ShapeViolation::NotificationWithId => "notification-with-id",
        ShapeViolation::ParamsMissing => "params-missing",
        ShapeViolation::ParamsType => "params-type",
        ShapeViolation::MissingParam => "missing-param",
        ShapeViolation::ParamType => "param-type",
        ShapeViolation::NullBeside => "null-beside",
        ShapeViolation::ResultAndError => "result-and-error",
        ShapeViolation::NullResult => "null-result",
        ShapeViolation::MissingResult => "missing-result",
        ShapeViolation::ResultType => "result-type",
        ShapeViolation::ErrorShape => "error-shape",
        ShapeViolation::ErrorCode => "error-code",
        ShapeViolation::ErrorMessage => "error-message",
        ShapeViolation::DuplicateId => "duplicate-id",
        ShapeViolation::IdTypeChanged => "id-type-changed",
        ShapeViolation::AnsweredTwice => "answered-twice",
        ShapeViolation::Orphan => "orphan",
    }
}

//! Checks of single messages: the rule for each error.

use super::super::schema::DIALECT;
use crate::protocol::rpc::Call;
use crate::protocol::rpc::shape::{CallShape, Flaw};
use crate::protocol::session::Seen;

/// Returns the checks of a message.
pub(super) fn of<'s, 'a>(seen: &'s Seen<'a>, call: &'s Call<'a>) -> CallShape<'s, 'a> {
    CallShape {
        dialect: &DIALECT,
        sides: ["runtime", "server"],
        rule,
        role: seen.message.role,
        seen,
        call,
    }
}

const fn rule(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::RepeatedMember => "duplicate-key",
        Flaw::VersionMissing => "version-missing",
        Flaw::VersionWrong => "version-wrong",
        Flaw::ResultBesideMethod => "result-beside-method",
        Flaw::IdMissing => "missing-id",
        Flaw::IdType => "id-type",
        Flaw::IdRange => "id-range",
        Flaw::NullId => "null-id",
        Flaw::NullIdOfError => "null-id-error",
        Flaw::UnknownMethod => "unknown-method",
        Flaw::UnknownNotification => "unknown-notification",
        Flaw::WrongDirection => "wrong-direction",
        Flaw::RequestWithoutId => "request-without-id",
        Flaw::NotificationWithId => "notification-with-id",
        Flaw::ParamsMissing => "params-missing",
        Flaw::ParamsType => "params-type",
        Flaw::MissingParam => "missing-param",
        Flaw::ParamType => "param-type",
        Flaw::NullBeside => "null-beside",
        Flaw::ResultAndError => "result-and-error",
        Flaw::NullResult => "null-result",
        Flaw::MissingResult => "missing-result",
        Flaw::ResultType => "result-type",
        Flaw::ErrorShape => "error-shape",
        Flaw::ErrorCode => "error-code",
        Flaw::ErrorMessage => "error-message",
        Flaw::DuplicateId => "duplicate-id",
        Flaw::IdTypeChanged => "id-type-changed",
        Flaw::AnsweredTwice => "answered-twice",
        Flaw::Orphan => "orphan",
    }
}

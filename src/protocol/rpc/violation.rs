//! The errors of single messages, and the rules that they break.

use crate::protocol::rule_names::RuleId;
use crate::protocol::rule_names::all as rule;

/// The possible errors of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol) enum ShapeViolation {
    RepeatedMember,
    VersionMissing,
    VersionWrong,
    ResultBesideMethod,
    IdMissing,
    IdType,
    IdRange,
    NullId,
    NullIdOfError,
    UnknownMethod,
    UnknownNotification,
    WrongDirection,
    RequestWithoutId,
    NotificationWithId,
    ParamsMissing,
    ParamsType,
    MissingParam,
    ParamType,
    NullBeside,
    ResultAndError,
    NullResult,
    MissingResult,
    ResultType,
    ErrorShape,
    ErrorCode,
    ErrorMessage,
    DuplicateId,
    IdTypeChanged,
    AnsweredTwice,
    Orphan,
}

impl ShapeViolation {
    /// Returns the rule that it breaks, if each error has a rule of its own.
    pub(in crate::protocol) const fn rule(self) -> RuleId {
        match self {
            Self::RepeatedMember => rule::DUPLICATE_KEY,
            Self::VersionMissing => rule::VERSION_MISSING,
            Self::VersionWrong => rule::VERSION_WRONG,
            Self::ResultBesideMethod => rule::RESULT_BESIDE_METHOD,
            Self::IdMissing => rule::MISSING_ID,
            Self::IdType => rule::ID_TYPE,
            Self::IdRange => rule::ID_RANGE,
            Self::NullId => rule::NULL_ID,
            Self::NullIdOfError => rule::NULL_ID_ERROR,
            Self::UnknownMethod => rule::UNKNOWN_METHOD,
            Self::UnknownNotification => rule::UNKNOWN_NOTIFICATION,
            Self::WrongDirection => rule::WRONG_DIRECTION,
            Self::RequestWithoutId => rule::REQUEST_WITHOUT_ID,
            Self::NotificationWithId => rule::NOTIFICATION_WITH_ID,
            Self::ParamsMissing => rule::PARAMS_MISSING,
            Self::ParamsType => rule::PARAMS_TYPE,
            Self::MissingParam => rule::MISSING_PARAM,
            Self::ParamType => rule::PARAM_TYPE,
            Self::NullBeside => rule::NULL_BESIDE,
            Self::ResultAndError => rule::RESULT_AND_ERROR,
            Self::NullResult => rule::NULL_RESULT,
            Self::MissingResult => rule::MISSING_RESULT,
            Self::ResultType => rule::RESULT_TYPE,
            Self::ErrorShape => rule::ERROR_SHAPE,
            Self::ErrorCode => rule::ERROR_CODE,
            Self::ErrorMessage => rule::ERROR_MESSAGE,
            Self::DuplicateId => rule::DUPLICATE_ID,
            Self::IdTypeChanged => rule::ID_TYPE_CHANGED,
            Self::AnsweredTwice => rule::ANSWERED_TWICE,
            Self::Orphan => rule::ORPHAN,
        }
    }

    /// Returns the usual rule that it breaks: similar errors share one, and some break none.
    pub(in crate::protocol) const fn usual_rule(self) -> Option<RuleId> {
        Some(match self {
            Self::VersionMissing | Self::VersionWrong => rule::VERSION,
            Self::ParamsMissing => rule::MISSING_PARAM,
            Self::ParamsType => rule::PARAM_TYPE,
            Self::MissingResult => rule::RESULT_TYPE,
            Self::ErrorCode | Self::ErrorMessage => rule::ERROR_SHAPE,
            Self::UnknownNotification => rule::UNKNOWN_METHOD,
            Self::NullIdOfError | Self::NullResult | Self::IdRange => return None,
            own => own.rule(),
        })
    }
}

//! The errors of single messages, and the rules that they break.

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
    pub(in crate::protocol) const fn rule(self) -> &'static str {
        match self {
            Self::RepeatedMember => "duplicate-key",
            Self::VersionMissing => "version-missing",
            Self::VersionWrong => "version-wrong",
            Self::ResultBesideMethod => "result-beside-method",
            Self::IdMissing => "missing-id",
            Self::IdType => "id-type",
            Self::IdRange => "id-range",
            Self::NullId => "null-id",
            Self::NullIdOfError => "null-id-error",
            Self::UnknownMethod => "unknown-method",
            Self::UnknownNotification => "unknown-notification",
            Self::WrongDirection => "wrong-direction",
            Self::RequestWithoutId => "request-without-id",
            Self::NotificationWithId => "notification-with-id",
            Self::ParamsMissing => "params-missing",
            Self::ParamsType => "params-type",
            Self::MissingParam => "missing-param",
            Self::ParamType => "param-type",
            Self::NullBeside => "null-beside",
            Self::ResultAndError => "result-and-error",
            Self::NullResult => "null-result",
            Self::MissingResult => "missing-result",
            Self::ResultType => "result-type",
            Self::ErrorShape => "error-shape",
            Self::ErrorCode => "error-code",
            Self::ErrorMessage => "error-message",
            Self::DuplicateId => "duplicate-id",
            Self::IdTypeChanged => "id-type-changed",
            Self::AnsweredTwice => "answered-twice",
            Self::Orphan => "orphan",
        }
    }

    /// Returns the usual rule that it breaks: similar errors share one, and some break none.
    pub(in crate::protocol) const fn usual_rule(self) -> &'static str {
        match self {
            Self::VersionMissing | Self::VersionWrong => "version",
            Self::ParamsMissing => "missing-param",
            Self::ParamsType => "param-type",
            Self::MissingResult => "result-type",
            Self::ErrorCode | Self::ErrorMessage => "error-shape",
            Self::UnknownNotification => "unknown-method",
            Self::NullIdOfError | Self::NullResult | Self::IdRange => "",
            own => own.rule(),
        }
    }
}

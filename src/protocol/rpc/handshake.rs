//! The handshake that opens a session: `initialize`, its answer, and in some protocols a notification that confirms it.
//!
//! ```text
//!   New -> initialize -> Requested -> answer -> Answered -> confirmation -> Open
//! ```

use super::extension::RpcMessage;

/// The stage of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::protocol) enum Stage {
    #[default]
    New,
    /// `initialize` was sent, with this index.
    Requested(u64),
    /// It was answered by this message.
    Answered(u64),
    Open,
    /// The handshake was not seen, is not needed, or its error was reported.
    Assumed,
}

/// A wrong order of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol) enum Disorder {
    /// `initialize` again.
    Again,
    /// The confirmation, before the answer.
    ConfirmedEarly,
    BeforeRequest,
    BeforeAnswer,
    BeforeConfirmation,
}

/// A message that breaks the order: how, by which earlier message, and the text of the finding.
pub(in crate::protocol) type BrokenOrder = (Disorder, Option<u64>, String);

impl Stage {
    /// Handles a message of the client. `confirmation` is the method that follows the answer.
    pub(in crate::protocol) fn asks(
        &mut self,
        message: &RpcMessage<'_, '_>,
        confirmation: &str,
    ) -> Option<BrokenOrder> {
        let name = message.short_name();
        let before = *self;
        if message.is("initialize") {
            *self = Self::Requested(message.index);
            let first = match before {
                Self::New | Self::Assumed => return None,
                Self::Requested(first) => Some(first),
                Self::Answered(_) | Self::Open => None,
            };
            let text = "initialize is sent again; once is enough".to_owned();
            return Some((Disorder::Again, first, text));
        }
        let confirms = message.is(confirmation);
        if confirms && before != Self::Assumed {
            *self = Self::Open;
        }
        Some(match before {
            Self::Open | Self::Assumed => return None,
            Self::Answered(_) if confirms => return None,
            Self::New if confirms => (
                Disorder::ConfirmedEarly,
                None,
                format!("{name} is sent without initialize, which should come first"),
            ),
            Self::New => (
                Disorder::BeforeRequest,
                None,
                format!("{name} is sent before initialize, which should come first"),
            ),
            Self::Requested(asked) => (
                if confirms {
                    Disorder::ConfirmedEarly
                } else {
                    Disorder::BeforeAnswer
                },
                Some(asked),
                format!("{name} is sent before initialize, #{asked}, is answered"),
            ),
            Self::Answered(answer) => (
                Disorder::BeforeConfirmation,
                Some(answer),
                format!("{name} is sent before {confirmation}"),
            ),
        })
    }

    /// Handles a request with this index that HTTP refuses: it may be sent again.
    pub(in crate::protocol) fn refused(&mut self, request: u64) {
        if *self == Self::Requested(request) {
            *self = Self::New;
        }
    }

    /// Handles the answer to the request with this index.
    pub(in crate::protocol) fn answered(&mut self, request: u64, message: &RpcMessage<'_, '_>) {
        if *self == Self::Requested(request) {
            *self = match message.result() {
                Some(_) => Self::Answered(message.index),
                None => Self::New,
            };
        }
    }
}

//! Facts about operations: which messages belong together beyond a request and its answer.
//!
//! ```text
//!   #3 tools/call book          begins operation 3
//!   #4   elicitation/create     begins operation 4, inside of 3 (inferred: the only open call)
//!   #5   its answer             ends operation 4; a person made 3 wait
//!   #6 answer: input required   part of operation 3, which goes on; the client must retry
//!   #7 tools/call book          part of operation 3 (recorded: the same requestState)
//!   #8 its answer               ends operation 3
//! ```
//!
//! A request begins an operation, and its last answer ends it: a session states only what differs from this.

/// The evidence for a link between two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Link {
    /// An id in the messages states it.
    Recorded,
    /// Their order or content suggests it, and nothing else fits.
    Inferred,
}

impl Link {
    /// Returns its name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Inferred => "inferred",
        }
    }
}

/// The party that an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Owner {
    /// The server.
    Server,
    /// The client.
    Client,
    /// A person who is asked by the client.
    Person,
    /// The client must send the request once more.
    Retry,
    /// Nothing tells it.
    Unknown,
}

impl Owner {
    /// All parties.
    pub const ALL: [Self; 5] = [
        Self::Server,
        Self::Client,
        Self::Person,
        Self::Retry,
        Self::Unknown,
    ];

    /// Returns its name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Person => "person",
            Self::Retry => "retry",
            Self::Unknown => "unknown",
        }
    }
}

/// Facts about the current message and operations. A message is named by its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct OperationFacts {
    /// The message belongs to the operation of this message.
    pub part_of: Option<(u64, Link)>,
    /// The message begins an operation inside of that of this message; a message that begins none, as a notification, belongs
    /// to that operation.
    pub inside: Option<(u64, Link)>,
    /// `Some(true)`: the operation ends with the message. `Some(false)`: it goes on after it, also after the last answer;
    /// a message that belongs to no operation begins one. Without it, an operation ends with an answer after which none of
    /// its requests is open.
    pub ends: Option<bool>,
    /// The party that the operation waits for after the message, if it is not the receiver of the open request. It holds
    /// until the next request or answer of the operation.
    pub owner: Option<Owner>,
    /// The message asks to cancel the operation that it belongs to. The operation goes on until its answer or its end, unless
    /// `ends` says that it ends here; without an answer after it, or with an error, it is cancelled. An answer with it says
    /// that the operation was cancelled.
    pub cancels: bool,
    /// The request that gets no answer after the message, which cancels it: the operation ends if no other one is open.
    pub leaves: Option<u64>,
    /// The message says that the operation failed, and is no error itself.
    pub fails: bool,
    /// The request is an item of the operation that it belongs to: it is no retry, and waits for no answer of its own.
    pub is_item: bool,
    /// The number of items of the operation that their receiver has not acknowledged after the message, if it acknowledges
    /// items.
    pub unacknowledged: Option<u32>,
    /// The request may be sent again: an operation that fails, or whose connection ends, goes on with the next request that
    /// is part of it.
    pub may_retry: bool,
}

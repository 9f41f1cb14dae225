//! What waits after a break of the sink.

use super::Sink;
use super::outlet::Outlet;
use crate::capture::{Event, KeptEvent, KeptItem};
use crate::decoder::KeptMessage;
use crate::protocol::Protocol;

/// An item that is not read, or in part.
pub(super) struct WaitingItem {
    pub item: KeptItem,
    /// The sink has taken it as an item.
    pub is_announced: bool,
}

/// What was read of an item. Rules are checked when it is passed on.
pub(super) enum KeptOutput {
    Message(Box<KeptMessage>),
    Event(Box<KeptEvent>),
    Note(String),
}

impl KeptOutput {
    pub fn event(event: &Event<'_>) -> Self {
        Self::Event(Box::new(KeptEvent::of(event)))
    }

    /// Passes it on, as if it was read now.
    pub fn pass<S: Sink + ?Sized>(&self, protocols: &[&dyn Protocol], out: &mut Outlet<'_, '_, S>) {
        match self {
            Self::Message(message) => {
                let mut protocols = protocols.iter();
                if let Some(protocol) = protocols.find(|p| p.name() == message.protocol) {
                    message.with(*protocol, |decoded| out.message(decoded));
                }
            }
            Self::Event(event) => out.event(&event.event()),
            Self::Note(text) => out.note(text),
        }
    }
}

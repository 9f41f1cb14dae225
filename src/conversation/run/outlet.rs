//! Passes on what is read until the sink breaks, and keeps what comes after it.

use super::{Conversation, Output, Sink};
use crate::capture::{Event, Item, KeptEvent};
use crate::decoder::{Decoded, KeptMessage, Origin};
use crate::protocol::Protocol;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// What was read of an item after a break. Rules are checked when it is passed on.
pub(super) enum KeptOutput {
    Message(Box<KeptMessage>),
    Event(Box<KeptEvent>),
    Note(String),
}

pub(super) struct Outlet<'r, 'p, S: Sink + ?Sized> {
    pub conversation: &'r mut Option<Conversation<'p>>,
    pub sink: &'r mut S,
    pub flow: ControlFlow<S::Break>,
    kept: &'r mut VecDeque<KeptOutput>,
}

impl<'r, 'p, S: Sink + ?Sized> Outlet<'r, 'p, S> {
    pub fn new(
        conversation: &'r mut Option<Conversation<'p>>,
        sink: &'r mut S,
        kept: &'r mut VecDeque<KeptOutput>,
    ) -> Self {
        Self {
            conversation,
            sink,
            flow: ControlFlow::Continue(()),
            kept,
        }
    }

    /// Returns `true` after a break: what follows waits.
    pub fn is_paused(&self) -> bool {
        self.flow.is_break()
    }

    /// Announces an item, before a break.
    pub fn item(&mut self, item: &Item<'_>, origin: Origin) {
        self.flow = self.sink.take(Output::Item(item, origin));
    }

    /// Checks a message and passes it on.
    pub fn message(&mut self, decoded: &Decoded<'_>) {
        if self.is_paused() {
            let kept = Box::new(decoded.keep());
            return self.kept.push_back(KeptOutput::Message(kept));
        }
        let verdict = self.conversation.as_mut().map(|all| all.see(decoded));
        self.flow = self.sink.take(Output::Message(decoded, verdict));
    }

    /// Checks an event and passes it on.
    pub fn event(&mut self, event: &Event<'_>) {
        if self.is_paused() {
            return self
                .kept
                .push_back(KeptOutput::Event(Box::new(KeptEvent::of(event))));
        }
        let verdict = self.conversation.as_mut().map(|all| all.event(event));
        let verdict = verdict.unwrap_or_default();
        self.flow = self.sink.take(Output::Event(event, verdict));
    }

    pub fn note(&mut self, text: &str) {
        if self.is_paused() {
            return self.kept.push_back(KeptOutput::Note(text.to_owned()));
        }
        self.flow = self.sink.take(Output::Note(text));
    }

    /// Passes on what was kept.
    pub fn repeat(&mut self, kept: &KeptOutput, protocols: &[&dyn Protocol]) {
        match kept {
            KeptOutput::Message(message) => {
                let mut protocols = protocols.iter();
                if let Some(protocol) = protocols.find(|p| p.name() == message.protocol) {
                    message.with(*protocol, |decoded| self.message(decoded));
                }
            }
            KeptOutput::Event(event) => self.event(&event.event()),
            KeptOutput::Note(text) => self.note(text),
        }
    }
}

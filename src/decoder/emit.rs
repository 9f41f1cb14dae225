//! Passes messages on: with their number, the name of their request, and how they end.

use super::open_names::OpenNames;
use super::open_requests::OpenRequests;
use super::{Decoded, FlowSink, Origin, RawFrame};
use crate::framing::{Frame, Framing};
use crate::protocol::{Context, Ending, Message, Protocol};
use std::ops::ControlFlow;

/// The state for passing on the messages of one chunk.
pub(super) struct Emitter<'r, 'p, 's, 't> {
    pub protocol: &'p dyn Protocol,
    /// Another protocol fits the stream too.
    pub tie: bool,
    pub open: OpenRequests,
    pub origin: Origin,
    pub names: &'r mut OpenNames,
    pub index: &'r mut u64,
    /// The time up to which the recording shows that nothing follows.
    pub silent_until: Option<i64>,
    pub sink: &'s mut FlowSink<'t>,
    /// A break of the sink ends the chunk after the frame. Otherwise it is read to its end.
    pub can_halt: bool,
    /// The sink has ended the chunk.
    pub is_halted: bool,
}

/// What is passed on with a message and its frame.
#[derive(Clone, Copy, Default)]
pub(super) struct MessageExtras<'a> {
    /// The stream offset up to which the stream is consumed after the frame.
    pub next: u64,
    /// The entry of its method among the open requests.
    pub entry: Option<usize>,
    pub raw: Option<RawFrame<'a>>,
    pub remarks: &'a [String],
    pub injected: Option<&'a str>,
}

impl Emitter<'_, '_, '_, '_> {
    /// Returns the context of a frame for its protocol, and the entry of its method among the open requests.
    pub fn context(&self, frame: &Frame<'_>) -> (Context<'_>, Option<usize>) {
        self.open.context(self.origin.direction, frame.head)
    }

    /// Completes a message with what earlier messages say about it, and passes it on.
    #[inline(always)]
    pub fn pass_on(
        &mut self,
        frame: &Frame<'_>,
        message: Message<'_>,
        extras: MessageExtras<'_>,
    ) -> ControlFlow<()> {
        // It may refer to the names.
        let mut message = message;
        let is_over = self.is_over();
        self.open
            .observe(self.origin.direction, frame.head, extras.entry, &message);
        message.guess |= self.tie;
        message.ending = ending(frame, extras.next, is_over);
        if let Some(name) = self.names.observe(self.origin, &message) {
            message.inherit(name);
        }
        let decoded = Decoded {
            index: *self.index,
            origin: self.origin,
            protocol: self.protocol,
            frame,
            message: &message,
            next: extras.next,
            remarks: extras.remarks,
            injected: extras.injected,
            raw: extras.raw,
        };
        *self.index += 1;
        let flow = (self.sink)(&decoded);
        self.is_halted |= self.can_halt && flow.is_break();
        flow
    }

    /// Returns `true` if the recording shows that nothing follows the bytes of the current frame.
    fn is_over(&self) -> bool {
        let times = self.silent_until.zip(self.origin.time);
        times.is_some_and(|(until, time)| time < until)
    }
}

/// Returns how the message of a frame ends.
fn ending(frame: &Frame<'_>, next: u64, is_over: bool) -> Ending {
    let is_whole = match &frame.fault {
        Some(fault) => fault.error.code != "truncated",
        None => {
            frame.framing != Framing::Lines
                || frame.control.is_some()
                || next != frame.offset + frame.len
        }
    };
    match (is_whole, is_over) {
        (true, _) => Ending::Whole,
        (false, false) => Ending::Cut,
        (false, true) => Ending::Missing,
    }
}

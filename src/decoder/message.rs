//! The message of a frame: reads it, as one of the protocol or as one of role control (heads of HTTP, control frames of
//! WebSocket, skipped bytes), completes it, and passes it on.

use super::open_requests::{OpenNames, OpenRequests};
use super::{Decoded, FlowSink, Origin, RawFrame};
use crate::encoding::{self, Parsed, Want};
use crate::framing::{Frame, Framing, Head, Limits, Places, View};
use crate::protocol::{Context, Ending, Evidence, Id, Message, Protocol, Role};
use crate::span::{Span, SpannedText};
use std::ops::ControlFlow;

/// Reads a frame as a message of the protocol. The body of HTTP is none in some protocols: it is a text for people.
pub(super) fn read<'a>(
    protocol: &'a dyn Protocol,
    frame: &Frame<'a>,
    context: &Context,
    parsed: &'a mut Parsed,
) -> Message<'a> {
    if let Some(offset) = parsed.tape.looked_up() {
        parsed.tape.look_at(frame.view.index_of(offset));
    }
    match frame.head {
        Head::Http {
            status,
            event: false,
            ..
        } if !protocol.descriptor().has_http_bodies => Message {
            valid: frame.view.body.len == 0,
            ..control(
                if status == 0 {
                    "http-request"
                } else {
                    "http-response"
                },
                frame,
            )
        },
        _ => protocol.read(frame, context, parsed),
    }
}

/// Builds a message of role control with this kind.
pub(super) fn control<'a>(kind: &'static str, frame: &Frame<'a>) -> Message<'a> {
    let mut message = Message {
        kind: kind.into(),
        role: Some(Role::Control),
        id: Id::None,
        body: frame.view.body,
        valid: !matches!(kind, "skipped" | "datagram"),
        ..Message::default()
    };
    match frame.head {
        Head::Http { start, status, .. } => {
            let mut words = start.splitn(3, ' ');
            let (first, second) = (
                words.next().unwrap_or_default(),
                words.next().unwrap_or_default(),
            );
            if status == 0 {
                message.subject = Some(SpannedText::without_span(format!("{first} {second}")));
            } else {
                message.outcome = Some(SpannedText::without_span(status.to_string()));
            }
        }
        Head::Http3 { session, start, .. } => {
            let is_status = start.starts_with(|c: char| c.is_ascii_digit());
            let start = (!start.is_empty()).then(|| SpannedText::without_span(start));
            match session {
                _ if is_status => message.outcome = start,
                Some(session) => {
                    let session = format!("session {session}");
                    message.subject = Some(SpannedText::without_span(session));
                }
                None => message.subject = start,
            }
        }
        Head::WebSocket { opcode: 8, .. } => {
            // MUST (RFC 6455 section 5.5.1): a body, if present, starts with a status code.
            message.outcome = frame.view.body().first_chunk::<2>().map(|code| {
                let at = frame.view.body.at();
                let text = u16::from_be_bytes(*code).to_string();
                SpannedText::new(text, Span::new(at, at + 2))
            });
        }
        _ => {}
    }
    message
}

/// Returns `true` if a part of the frame's bytes is a message of the protocol.
pub(super) fn is_message(frame: &Frame<'_>, body: Span, protocol: &dyn Protocol) -> bool {
    if body.end() > frame.view.bytes.len() || body.len == 0 {
        return false;
    }
    let view = View {
        bytes: frame.view.bytes,
        body,
        places: Places::Run(0),
    };
    let trial = Frame {
        view,
        head: Head::None,
        fault: None,
        control: None,
        ..frame.clone()
    };
    let mut parsed = Parsed::new(Want::Head, Limits::default().depth);
    let message = protocol.read(&trial, &Context::default(), &mut parsed);
    message.faults.is_empty() && message.evidence > Evidence::None
}

/// Returns `true` if a message of the protocol starts at `at`, with any bytes after it.
pub(super) fn starts_with_message(frame: &Frame<'_>, at: usize, protocol: &dyn Protocol) -> bool {
    let rest = frame.view.bytes.get(at..).unwrap_or_default();
    match encoding::measure(rest, Limits::default().depth) {
        Ok(Some(len)) => is_message(frame, Span::new(at, at + len), protocol),
        _ => false,
    }
}

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

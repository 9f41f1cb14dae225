//! The message of a frame: reads it, as one of the protocol or as one of role control (heads of HTTP, control frames of
//! WebSocket, skipped bytes), completes it, and passes it on as [`Decoded`].

use super::open_requests::{OpenNames, OpenRequests};
use super::{FlowSink, Origin, RawFrame};
use crate::encoding::{self, Encoding, Parsed, Want, lossless};
use crate::error::DecodeError;
use crate::framing::{Frame, Framing, Head, Limits, Places, View};
use crate::protocol::{
    Context, Ending, Evidence, Id, Message, Notes, Protocol, Role, Seen, annotate, hide,
};
use crate::span::{Span, SpannedText};
use crate::tape::Node;
use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;

/// A decoded frame, borrowed from the decoder until the next one.
#[non_exhaustive]
pub struct Decoded<'a> {
    /// The number of the frame in the run, from 0.
    pub index: u64,
    /// Its connection, direction and time.
    pub origin: Origin,
    /// The protocol of the message.
    pub protocol: &'a dyn Protocol,
    /// Its bytes and its framing.
    pub frame: &'a Frame<'a>,
    /// Its meaning.
    pub message: &'a Message<'a>,
    /// The stream offset up to which the stream is consumed after this frame.
    pub next: u64,
    /// Differences between the remarks of a hex dump and the bytes.
    pub remarks: &'a [String],
    /// The faults that wiretool applied to it, as a recording reports them: `drop`.
    pub injected: Option<&'a str>,
    /// Its bytes as in the stream, with [`Want::Exact`](crate::encoding::Want::Exact).
    pub raw: Option<RawFrame<'a>>,
}

impl fmt::Debug for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Decoded");
        fields.field("index", &self.index);
        fields.field("origin", &self.origin);
        fields.field("protocol", &self.protocol.name());
        fields
            .field("message", self.message)
            .finish_non_exhaustive()
    }
}

impl<'a> Decoded<'a> {
    /// Returns its errors with absolute offsets, framing first, without errors that only follow from an earlier one.
    pub fn faults(&self) -> impl Iterator<Item = (u64, &'a DecodeError)> {
        let (frame, message) = (self.frame, self.message);
        let own = frame.fault.as_ref().map(|f| (f.offset, &*f.error));
        own.into_iter()
            .chain(message.faults.iter().filter_map(move |error| {
                let follows = own.is_some_and(|(_, own)| {
                    matches!(own.code, "bad-deflate" | "gap" | "compressed")
                        || own.code == error.code
                        || matches!(
                            error.code,
                            "ends-early" | "empty" | "bad-json" | "trailing-bytes"
                        )
                });
                (!follows).then(|| (frame.view.locate(error.span.at()), error))
            }))
    }

    /// Returns `true` if it has an error.
    pub fn is_faulty(&self) -> bool {
        self.faults().next().is_some()
    }

    /// Returns the status of a response of HTTP that has no message of the protocol, and does not accept the request.
    pub(crate) fn refusal_status(&self) -> Option<u16> {
        match self.frame.head {
            Head::Http {
                status: status @ 300..,
                event: false,
                ..
            } => Some(status).filter(|_| matches!(self.message.role, None | Some(Role::Control))),
            _ => None,
        }
    }

    /// Returns the parts that a session needs.
    pub fn seen(&self) -> Seen<'a> {
        Seen {
            index: self.index,
            origin: self.origin,
            frame: self.frame,
            message: self.message,
        }
    }

    /// Returns the value, for outputs that need positions; complete only with
    /// [`Want::Places`](crate::encoding::Want::Places).
    pub fn root(&self) -> Option<Node<'a>> {
        self.message.value?.root(self.frame.view.bytes)
    }

    /// Returns the encoding of the message, if it can be read and its protocol has several.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        let value = self.message.value.filter(|_| self.message.valid)?;
        let has_several = self.protocol.descriptor().encodings.len() > 1;
        has_several.then(|| value.packed_encoding().unwrap_or(Encoding::Json))
    }

    /// Writes the message as lossless JSON, on one line.
    pub fn write_message(&self, out: &mut Vec<u8>) {
        if let Some(parsed) = self.message.value {
            parsed.write_message(self.frame.view.bytes, out);
        }
    }

    /// Returns the message as lossless JSON.
    pub(crate) fn message_text(&self) -> String {
        let mut text = Vec::new();
        self.write_message(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Writes the message as lossless JSON; `full` can empty `out` during the call.
    pub(crate) fn pass_message(&self, out: &mut Vec<u8>, full: &mut dyn FnMut(&mut Vec<u8>)) {
        if let Some(parsed) = self.message.value {
            parsed.pass_message(self.frame.view.bytes, out, full);
        }
    }

    /// Adds the protocol's notes about its values.
    pub fn annotate(&self, notes: &mut Notes) {
        notes.clear();
        if let Some(root) = self.root() {
            annotate(self.protocol, root, self.message, notes);
        }
    }

    /// Replaces the secrets of this message in texts about it.
    pub fn hide_secrets(&self, texts: &mut dyn Iterator<Item = &mut String>) {
        let mut notes = Notes::of_secrets();
        self.annotate(&mut notes);
        let Some(root) = self.root().filter(|_| notes.hidden_values() > 0) else {
            return;
        };
        let mut secrets = Vec::new();
        root.each(&mut |node| {
            let parts = notes.secret_parts(node).iter();
            let text = node.text().filter(|_| parts.len() > 0);
            if let Some(text) = text {
                secrets.extend(
                    parts.filter_map(|part| text.get(part.range.clone()).map(str::to_owned)),
                );
            }
            let mut json = Vec::new();
            if notes.is_secret(node) && !node.is_map() && !node.is_array() {
                lossless::write(node, &mut json);
                secrets.extend(node.text().map(Cow::into_owned));
                secrets.extend(node.raw_content().map(hex::encode));
                secrets.push(String::from_utf8_lossy(&json).into_owned());
            }
        });
        for text in texts {
            for secret in &secrets {
                hide(secret, text);
            }
        }
    }
}

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

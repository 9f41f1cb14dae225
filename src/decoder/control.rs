//! Reads a frame as a message: one of the protocol, or one of role control (heads of HTTP, control frames of WebSocket,
//! skipped bytes).

use crate::encoding::Parsed;
use crate::framing::{Frame, Head};
use crate::protocol::{Context, Id, Message, Protocol, Role};
use crate::span::{Span, SpannedText};

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

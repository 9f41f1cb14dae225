//! Frames in a compact form, from which a frame is decoded again: for outputs that go back to earlier messages.
//!
//! ```text
//!   protocol framing marks open method control name stream offset len head places body bytes
//! ```
//!
//! All numbers are LEB128. Protocols, framings and names of control frames are numbers of lists in
//! [`StoredFrames`]; the origin and the index are stored by the caller. Errors and remarks are rare: [`RareParts`].

use super::message::control;
use super::{Decoded, Origin};
use crate::encoding::Parsed;
use crate::error::DecodeError;
use crate::framing::{Fault, Frame, Framing, HTTP3_STARTS, Head, LengthMode, Piece, Places, View};
use crate::protocol::{Context, Message, Protocol, Role};
use crate::span::Span;

/// The parts of a decoded frame that cannot be decoded again from its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct RareParts {
    fault: Option<Fault>,
    faults: Vec<DecodeError>,
    remarks: Vec<String>,
    injected: Option<Box<str>>,
}

impl RareParts {
    /// Returns the rare parts, if the frame has any.
    pub(crate) fn of(decoded: &Decoded<'_>) -> Option<Self> {
        let parts = Self {
            fault: decoded.frame.fault.clone(),
            faults: decoded.message.faults.clone(),
            remarks: decoded.remarks.to_vec(),
            injected: decoded.injected.map(Into::into),
        };
        let is_plain = parts.fault.is_none() && parts.faults.is_empty();
        let has_none = is_plain && parts.remarks.is_empty() && parts.injected.is_none();
        (!has_none).then_some(parts)
    }
}

/// Another message of the protocol fits, too.
const GUESS: u64 = 1;
/// The frame is shown as skipped bytes, although its framing read it as a message.
const SKIPPED: u64 = 2;

/// The names that stored frames refer to.
#[derive(Clone)]
pub(crate) struct StoredFrames<'p> {
    protocols: Vec<&'p dyn Protocol>,
    framings: Vec<Framing>,
    controls: Vec<&'static str>,
}

impl<'p> StoredFrames<'p> {
    /// Creates the lists for frames of these protocols.
    pub(crate) fn new(protocols: Vec<&'p dyn Protocol>) -> Self {
        Self {
            protocols,
            framings: Framing::ALL.to_vec(),
            controls: Vec::new(),
        }
    }

    /// Returns the protocols.
    pub(crate) fn protocols(&self) -> &[&'p dyn Protocol] {
        &self.protocols
    }

    /// Writes a frame.
    pub(crate) fn write(&mut self, decoded: &Decoded<'_>, out: &mut Vec<u8>) {
        let (frame, message) = (decoded.frame, decoded.message);
        let name = decoded.protocol.name();
        let protocol = self.protocols.iter().position(|p| p.name() == name);
        let framing = number_of(&mut self.framings, frame.framing);
        let control = frame
            .control
            .map(|name| number_of(&mut self.controls, name));
        let is_skipped = control.is_none() && message.kind == "skipped" && message.role.is_none();
        let marks = if message.guess { GUESS } else { 0 } | if is_skipped { SKIPPED } else { 0 };
        // Only an answer without direction is read with the help of its request.
        let open = match message.role {
            Some(Role::Response) if decoded.origin.direction.is_none() => {
                1 + u64::from(message.guess)
            }
            _ => 0,
        };
        for number in [
            protocol.unwrap_or_default() as u64,
            framing,
            marks,
            open,
            message.answered_method.map_or(0, |id| u64::from(id) + 1),
            control.map_or(0, |n| n + 1),
        ] {
            push(number, out);
        }
        // The name of a request is not in the bytes of its answer.
        let inherited = message.name.as_ref().filter(|name| name.span.is_none());
        push_text(inherited.map_or("", |name| name), out);
        push_option(decoded.origin.stream, out);
        push(frame.offset, out);
        push(frame.len, out);
        push_head(frame.head, out);
        push_places(frame.view.places, out);
        push(frame.view.body.start.into(), out);
        push(frame.view.body.len.into(), out);
        out.extend_from_slice(frame.view.bytes);
    }

    /// Decodes a written frame again, and passes it to `visit`; `None` if the bytes are not such a frame. The stream of the
    /// origin is read from the bytes.
    pub(crate) fn read<T>(
        &self,
        bytes: &[u8],
        (index, origin): (u64, Origin),
        rare: Option<&RareParts>,
        parsed: &mut Parsed,
        visit: impl FnOnce(&Decoded<'_>) -> T,
    ) -> Option<T> {
        let mut input = Numbers(bytes);
        let protocol = *self.protocols.get(input.size()?)?;
        let framing = *self.framings.get(input.size()?)?;
        let (marks, open) = (input.next()?, input.next()?);
        let method = u32::try_from(input.next()?.wrapping_sub(1)).ok();
        let control_name = match input.size()? {
            0 => None,
            n => Some(*self.controls.get(n - 1)?),
        };
        let name = input.text()?;
        let stream = input.option()?;
        let (offset, len) = (input.next()?, input.next()?);
        let head = input.head()?;
        let mut pieces = Vec::new();
        let places = input.places(&mut pieces)?;
        let body = Span {
            start: input.small()?,
            len: input.small()?,
        };
        let frame = Frame {
            offset,
            len,
            framing,
            head,
            view: View {
                bytes: input.0,
                body,
                places,
            },
            control: control_name,
            fault: rare.and_then(|rare| rare.fault.clone()),
        };
        let context = Context {
            direction: origin.direction,
            open: (open > 0).then_some(open > 1),
            open_methods: method.as_slice(),
        };
        parsed.clear();
        let mut message = match control_name {
            Some(kind) => control(kind, &frame),
            None if marks & SKIPPED != 0 => Message {
                valid: false,
                role: None,
                ..control("skipped", &frame)
            },
            None => protocol.read(&frame, &context, parsed),
        };
        message.guess = marks & GUESS != 0;
        if !name.is_empty() {
            message.inherit(name);
        }
        if let Some(rare) = rare {
            message.faults.clone_from(&rare.faults);
        }
        Some(visit(&Decoded {
            index,
            origin: Origin { stream, ..origin },
            protocol,
            frame: &frame,
            message: &message,
            next: offset.saturating_add(len),
            remarks: rare.map_or(&[], |rare| &rare.remarks),
            injected: rare.and_then(|rare| rare.injected.as_deref()),
            raw: None,
        }))
    }
}

/// Returns the number of an entry of a list, and adds it if it is new.
fn number_of<T: PartialEq>(list: &mut Vec<T>, entry: T) -> u64 {
    let known = list.iter().position(|one| *one == entry);
    known.unwrap_or_else(|| {
        list.push(entry);
        list.len() - 1
    }) as u64
}

fn push(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn push_option(number: Option<u64>, out: &mut Vec<u8>) {
    push(u64::from(number.is_some()), out);
    if let Some(number) = number {
        push(number, out);
    }
}

fn push_text(text: &str, out: &mut Vec<u8>) {
    push(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn push_head(head: Head<'_>, out: &mut Vec<u8>) {
    match head {
        Head::None => push(0, out),
        Head::Length(length) => {
            push(1, out);
            push(length.into(), out);
        }
        Head::Method { length, id, mode } => {
            let mode = mode.and_then(|mode| LengthMode::ALL.iter().position(|m| *m == mode));
            for number in [
                2,
                length.into(),
                id.into(),
                mode.map_or(0, |n| n as u64 + 1),
            ] {
                push(number, out);
            }
        }
        Head::Http {
            start,
            status,
            len,
            event,
            closes,
        } => {
            let marks = u64::from(event) | u64::from(closes) << 1;
            for number in [3, status.into(), len.into(), marks] {
                push(number, out);
            }
            push_text(start, out);
        }
        Head::WebSocket {
            opcode,
            masked,
            compressed,
            fragments,
        } => {
            let marks = u64::from(masked) | u64::from(compressed) << 1;
            for number in [4, opcode.into(), marks, fragments.into()] {
                push(number, out);
            }
        }
        Head::Http3 {
            number,
            session,
            start,
        } => {
            push(5, out);
            push(number, out);
            push_option(session, out);
            let at = HTTP3_STARTS.iter().position(|(_, known)| *known == start);
            push_option(at.map(|at| at as u64), out);
        }
    }
}

fn push_places(places: Places<'_>, out: &mut Vec<u8>) {
    match places {
        Places::Run(at) => [0, at].iter().for_each(|n| push(*n, out)),
        Places::Packed(at) => [1, at].iter().for_each(|n| push(*n, out)),
        Places::Pieces(pieces) => {
            push(2, out);
            push(pieces.len() as u64, out);
            for piece in pieces {
                push(piece.at.into(), out);
                push(piece.offset, out);
            }
        }
    }
}

/// The numbers at the start of a stored frame; after them, its bytes.
struct Numbers<'a>(&'a [u8]);

impl<'a> Numbers<'a> {
    fn next(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
            shift += 7;
        }
    }

    /// Reads a number that may be absent. `None`: the bytes end.
    #[allow(clippy::option_option)] // as every reader here
    fn option(&mut self) -> Option<Option<u64>> {
        Some(match self.next()? {
            0 => None,
            _ => Some(self.next()?),
        })
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.next()?).ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let size = self.size()?;
        let (text, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.next()?).ok()
    }

    fn head(&mut self) -> Option<Head<'a>> {
        Some(match self.next()? {
            0 => Head::None,
            1 => Head::Length(self.small()?),
            2 => Head::Method {
                length: self.small()?,
                id: self.small()?,
                mode: match self.size()? {
                    0 => None,
                    n => LengthMode::ALL.get(n - 1).copied(),
                },
            },
            3 => {
                let status = u16::try_from(self.next()?).ok()?;
                let (len, marks) = (self.small()?, self.next()?);
                Head::Http {
                    start: self.text()?,
                    status,
                    len,
                    event: marks & 1 != 0,
                    closes: marks & 2 != 0,
                }
            }
            5 => Head::Http3 {
                number: self.next()?,
                session: self.option()?,
                start: match self.option()? {
                    None => "",
                    Some(at) => HTTP3_STARTS.get(usize::try_from(at).ok()?)?.1,
                },
            },
            _ => {
                let opcode = u8::try_from(self.next()?).ok()?;
                let marks = self.next()?;
                Head::WebSocket {
                    opcode,
                    masked: marks & 1 != 0,
                    compressed: marks & 2 != 0,
                    fragments: self.small()?,
                }
            }
        })
    }

    fn places<'v>(&mut self, pieces: &'v mut Vec<Piece>) -> Option<Places<'v>> {
        Some(match self.next()? {
            0 => Places::Run(self.next()?),
            1 => Places::Packed(self.next()?),
            _ => {
                for _ in 0..self.next()? {
                    let at = self.small()?;
                    let offset = self.next()?;
                    pieces.push(Piece { at, offset });
                }
                Places::Pieces(pieces)
            }
        })
    }
}

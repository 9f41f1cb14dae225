//! A message that outlives the chunk it came in: its own bytes, to be read again when it is compared.

use crate::decoder::Decoded;
use crate::encoding::Parsed;
use crate::framing::{Frame, Framing, Head, Piece, Places, View};
use crate::protocol::session::Answer;
use crate::protocol::{Context, Direction, Message, Protocol, Role};
use crate::span::Span;

/// Where the bytes lay in the stream.
enum Lay {
    Run(u64),
    Pieces(Box<[Piece]>),
    Packed(u64),
}

/// What few frames have.
struct Rare {
    head: Head<'static>,
    /// The start line, of HTTP.
    start: Box<str>,
    control: Option<&'static str>,
}

/// One message, kept.
pub struct Kept {
    /// Counts all messages of its input.
    pub index: u64,
    /// Which connection, where there are several.
    pub conn: Option<u32>,
    /// Which way, where known.
    pub direction: Option<Direction>,
    /// What it is.
    pub kind: String,
    /// What part it plays.
    pub role: Option<Role>,
    /// What it is about.
    pub subject: Option<String>,
    /// The message that it answers.
    pub reply_to: Option<u64>,
    /// The first thing that is wrong with it, by its code.
    pub fault: Option<&'static str>,
    bytes: Box<[u8]>,
    body: Span,
    lay: Lay,
    offset: u64,
    len: u64,
    framing: Framing,
    rare: Option<Box<Rare>>,
}

impl Kept {
    /// Keeps a message.
    pub fn of(decoded: &Decoded<'_>, answer: Option<&Answer>) -> Self {
        let (frame, message) = (decoded.frame, decoded.message);
        let (head, start) = match frame.head {
            Head::Http {
                start,
                status,
                len,
                event,
                closes,
            } => (
                Head::Http {
                    start: "",
                    status,
                    len,
                    event,
                    closes,
                },
                start,
            ),
            Head::None => (Head::None, ""),
            Head::Length(n) => (Head::Length(n), ""),
            Head::Method { length, id, mode } => (Head::Method { length, id, mode }, ""),
            Head::WebSocket {
                opcode,
                masked,
                compressed,
                fragments,
            } => (
                Head::WebSocket {
                    opcode,
                    masked,
                    compressed,
                    fragments,
                },
                "",
            ),
        };
        let control = frame.control;
        let is_plain = matches!(head, Head::None) && control.is_none();
        let rare = (!is_plain).then(|| Rare {
            head,
            start: start.into(),
            control,
        });
        Self {
            index: decoded.index,
            conn: decoded.origin.conn,
            direction: decoded.origin.direction,
            kind: message.kind.to_string(),
            role: message.role,
            subject: message.subject.as_deref().map(str::to_owned),
            reply_to: answer.map(|a| a.to),
            fault: decoded.faults().next().map(|(_, error)| error.code),
            bytes: frame.view.bytes.into(),
            body: frame.view.body,
            lay: match frame.view.places {
                Places::Run(offset) => Lay::Run(offset),
                Places::Packed(offset) => Lay::Packed(offset),
                Places::Pieces(pieces) => Lay::Pieces(pieces.into()),
            },
            offset: frame.offset,
            len: frame.len,
            framing: frame.framing,
            rare: rare.map(Box::new),
        }
    }

    /// Bytes that are kept.
    pub fn weight(&self) -> usize {
        self.bytes.len() + self.rare.iter().len() * size_of::<Rare>() + size_of::<Self>()
    }

    /// Its view, as it was.
    pub fn view(&self) -> View<'_> {
        View {
            bytes: &self.bytes,
            body: self.body,
            places: match &self.lay {
                Lay::Run(offset) => Places::Run(*offset),
                Lay::Packed(offset) => Places::Packed(*offset),
                Lay::Pieces(pieces) => Places::Pieces(pieces),
            },
        }
    }

    fn control(&self) -> Option<&'static str> {
        self.rare.as_ref().and_then(|rare| rare.control)
    }

    /// Its frame, as it was, but for what was wrong with it.
    fn frame(&self) -> Frame<'_> {
        let rare = self.rare.as_deref();
        let head = match rare.map_or(Head::None, |rare| rare.head) {
            Head::Http {
                status,
                len,
                event,
                closes,
                ..
            } => Head::Http {
                start: rare.map_or("", |rare| &rare.start),
                status,
                len,
                event,
                closes,
            },
            head => head,
        };
        Frame {
            offset: self.offset,
            len: self.len,
            framing: self.framing,
            head,
            view: self.view(),
            control: self.control(),
            fault: None,
        }
    }

    /// Reads it again and shows its message.
    pub fn read<T>(
        &self,
        protocol: &dyn Protocol,
        parsed: &mut Parsed,
        look: impl FnOnce(&Message<'_>) -> T,
    ) -> T {
        let context = Context {
            direction: self.direction,
            ..Context::default()
        };
        let frame = self.frame();
        parsed.clear();
        match self.control() {
            Some(_) => look(&Message::default()),
            None => look(&protocol.read(&frame, &context, parsed)),
        }
    }

    /// `call math.add`.
    pub fn what(&self) -> String {
        let kind = if self.kind.is_empty() {
            "-"
        } else {
            &self.kind
        };
        match self.subject.as_deref().filter(|s| !s.is_empty()) {
            Some(subject) => format!("{kind} {subject}"),
            None => kind.to_owned(),
        }
    }
}

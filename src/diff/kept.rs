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
    Pieces(Vec<Piece>),
    Packed(u64),
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
    /// Its id, as shown.
    pub id: Box<str>,
    /// The message that it answers.
    pub reply_to: Option<u64>,
    /// The first thing that is wrong with it, by its code.
    pub fault: Option<&'static str>,
    bytes: Vec<u8>,
    body: Span,
    lay: Lay,
    offset: u64,
    len: u64,
    framing: Framing,
    head: Head<'static>,
    /// The start line, of HTTP.
    start: String,
    control: Option<&'static str>,
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
                start.to_owned(),
            ),
            Head::None => (Head::None, String::new()),
            Head::Length(n) => (Head::Length(n), String::new()),
            Head::Method { length, id, mode } => (Head::Method { length, id, mode }, String::new()),
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
                String::new(),
            ),
        };
        Self {
            index: decoded.index,
            conn: decoded.origin.conn,
            direction: decoded.origin.direction,
            kind: message.kind.to_string(),
            role: message.role,
            subject: message.subject.as_deref().map(str::to_owned),
            id: message.id.text().as_ref().into(),
            reply_to: answer.map(|a| a.to),
            fault: decoded.faults().next().map(|(_, error)| error.code),
            bytes: frame.view.bytes.to_vec(),
            body: frame.view.body,
            lay: match frame.view.places {
                Places::Run(offset) => Lay::Run(offset),
                Places::Packed(offset) => Lay::Packed(offset),
                Places::Pieces(pieces) => Lay::Pieces(pieces.to_vec()),
            },
            offset: frame.offset,
            len: frame.len,
            framing: frame.framing,
            head,
            start,
            control: frame.control,
        }
    }

    /// Bytes that are kept.
    pub fn weight(&self) -> usize {
        self.bytes.len() + self.id.len() + size_of::<Self>()
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

    /// Its frame, as it was, but for what was wrong with it.
    fn frame(&self) -> Frame<'_> {
        let head = match self.head {
            Head::Http {
                status,
                len,
                event,
                closes,
                ..
            } => Head::Http {
                start: &self.start,
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
            control: self.control,
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
        match self.control {
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

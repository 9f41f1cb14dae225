//! A message that outlives the chunk it came in: its own bytes, to be read again when it is compared.

use crate::decoder::Decoded;
use crate::encoding::Parsed;
use crate::framing::{Frame, Framing, Head, OwnedPlaces, Places, View};
use crate::protocol::session::Answer;
use crate::protocol::{Context, Direction, Message, Protocol, Role};
use crate::span::Span;
use std::collections::HashSet;
use std::sync::Arc;

/// What few frames have.
#[derive(Clone, Debug)]
struct Rare {
    head: Head<'static>,
    /// The start line, of HTTP.
    start: Box<str>,
    control: Option<&'static str>,
    /// Otherwise one run from the start of the frame.
    places: OwnedPlaces,
}

/// Names that many messages share: each is kept once.
#[derive(Default)]
pub(super) struct Names(HashSet<Arc<str>>);

impl Names {
    /// Names that are kept to be shared. A subject that every message has anew is not worth it.
    const MOST: usize = 1 << 12;

    fn share(&mut self, name: &mut Arc<str>) {
        if let Some(known) = self.0.get(name) {
            *name = Arc::clone(known);
        } else if self.0.len() < Self::MOST {
            self.0.insert(Arc::clone(name));
        }
    }
}

/// One message, kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Counts all messages of its input.
    pub index: u64,
    /// Which connection, where there are several.
    pub conn: Option<u32>,
    /// Which way, where known.
    pub direction: Option<Direction>,
    /// What it is.
    pub kind: Arc<str>,
    /// What part it plays.
    pub role: Option<Role>,
    /// What it is about.
    pub subject: Option<Arc<str>>,
    /// The message that it answers.
    pub reply_to: Option<u64>,
    /// The first thing that is wrong with it, by its code.
    pub fault: Option<&'static str>,
    bytes: Box<[u8]>,
    body: Span,
    offset: u64,
    len: u64,
    framing: Framing,
    rare: Option<Box<Rare>>,
}

impl Kept {
    /// Keeps a message.
    pub fn of(decoded: &Decoded<'_>, answer: Option<&Answer>) -> Self {
        let (frame, message) = (decoded.frame, decoded.message);
        let (head, start) = frame.head.detached();
        let control = frame.control;
        let from_start = matches!(frame.view.places, Places::Run(at) if at == frame.offset);
        let is_plain = matches!(head, Head::None) && from_start && control.is_none();
        let rare = (!is_plain).then(|| Rare {
            head,
            start: start.into(),
            control,
            places: OwnedPlaces::of(frame.view.places),
        });
        Self {
            index: decoded.index,
            conn: decoded.origin.conn,
            direction: decoded.origin.direction,
            kind: (&*message.kind).into(),
            role: message.role,
            subject: message.subject.as_deref().map(Arc::from),
            reply_to: answer.map(|a| a.to),
            fault: decoded.faults().next().map(|(_, error)| error.code),
            bytes: frame.view.bytes.into(),
            body: frame.view.body,
            offset: frame.offset,
            len: frame.len,
            framing: frame.framing,
            rare: rare.map(Box::new),
        }
    }

    /// Shares its kind and subject with other messages.
    pub(super) fn share(&mut self, names: &mut Names) {
        names.share(&mut self.kind);
        if let Some(subject) = &mut self.subject {
            names.share(subject);
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
            places: match &self.rare {
                None => Places::Run(self.offset),
                Some(rare) => rare.places.borrow(),
            },
        }
    }

    fn control(&self) -> Option<&'static str> {
        self.rare.as_ref().and_then(|rare| rare.control)
    }

    /// Its frame, as it was, but for what was wrong with it.
    fn frame(&self) -> Frame<'_> {
        let rare = self.rare.as_deref();
        let head = rare.map_or(Head::None, |rare| rare.head.with_start(&rare.start));
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

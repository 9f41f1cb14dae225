//! A message that outlives its chunk: its own bytes, which are decoded again for a comparison.

use super::MessageName;
use crate::decoder::Decoded;
use crate::encoding::Parsed;
use crate::framing::{Frame, Framing, Head, OwnedPlaces, Places, View};
use crate::protocol::session::{Answer, name_of};
use crate::protocol::{Context, Direction, Message, Protocol, Role, with_name};
use crate::span::Span;
use std::collections::HashSet;
use std::sync::Arc;

/// The properties that few frames have.
#[derive(Clone, Debug)]
struct RareParts {
    head: Head<'static>,
    /// The start line of HTTP.
    start: Box<str>,
    control: Option<&'static str>,
    /// For frames that are not one run from their start.
    places: OwnedPlaces,
    /// The session over HTTP.
    session: Option<u64>,
}

/// Names that many messages share: each is stored once.
#[derive(Default)]
pub(super) struct SharedNames(HashSet<Arc<str>>);

impl SharedNames {
    /// The maximum number of shared names. A subject that differs in every message is not worth
    /// sharing.
    const MAX_NAMES: usize = 1 << 12;

    fn share(&mut self, name: &mut Arc<str>) {
        if let Some(known) = self.0.get(name) {
            *name = Arc::clone(known);
        } else if self.0.len() < Self::MAX_NAMES {
            self.0.insert(Arc::clone(name));
        }
    }
}

/// A stored message.
#[derive(Clone, Debug)]
pub struct StoredMessage {
    /// The number of the message in its input.
    pub index: u64,
    /// The connection, if there are several.
    pub conn: Option<u32>,
    /// The direction, if known.
    pub direction: Option<Direction>,
    /// The kind.
    pub kind: Arc<str>,
    /// The role.
    pub role: Option<Role>,
    /// The subject.
    pub subject: Option<Arc<str>>,
    /// The subject of the request that it answers.
    asked: Option<Arc<str>>,
    /// The name within the subject.
    pub name: Option<Arc<str>>,
    /// The message that it answers.
    pub reply_to: Option<u64>,
    /// The code of its first fault.
    pub fault: Option<&'static str>,
    bytes: Box<[u8]>,
    body: Span,
    offset: u64,
    len: u64,
    framing: Framing,
    /// The method id of the request that it answers, if it has none of its own.
    answered_method: Option<u32>,
    rare: Option<Box<RareParts>>,
}

impl StoredMessage {
    /// Stores a message.
    pub fn of(decoded: &Decoded<'_>, answer: Option<&Answer>) -> Self {
        let (frame, message) = (decoded.frame, decoded.message);
        let (head, start) = frame.head.detached();
        let control = frame.control;
        let from_start = matches!(frame.view.places, Places::Run(at) if at == frame.offset);
        let is_plain = matches!(head, Head::None) && from_start && control.is_none();
        let rare = (!is_plain).then(|| RareParts {
            head,
            start: start.into(),
            control,
            places: OwnedPlaces::of(frame.view.places),
            session: None,
        });
        Self {
            index: decoded.index,
            conn: decoded.origin.conn,
            direction: decoded.origin.direction,
            kind: (&*message.kind).into(),
            role: message.role,
            subject: message.subject.as_deref().map(Arc::from),
            asked: answer.and_then(|answer| answer.subject.clone()),
            name: name_of(message, answer).map(Arc::from),
            reply_to: answer.map(|a| a.to),
            fault: decoded.faults().next().map(|(_, error)| error.code),
            bytes: frame.view.bytes.into(),
            body: frame.view.body,
            offset: frame.offset,
            len: frame.len,
            framing: frame.framing,
            answered_method: message.answered_method,
            rare: rare.map(Box::new),
        }
    }

    /// Sets the session over HTTP.
    pub(super) fn set_session(&mut self, session: Option<u64>) {
        if let Some(rare) = &mut self.rare {
            rare.session = session;
        }
    }

    /// Returns a number of its session over HTTP; of a message without one, that of its exchange alone.
    pub(super) fn session(&self) -> Option<u64> {
        let own = self.rare.as_ref().and_then(|rare| rare.session);
        own.or_else(|| (self.framing == Framing::Http).then_some(self.index))
    }

    /// Shares its kind, subject and name with other messages.
    pub(super) fn share(&mut self, names: &mut SharedNames) {
        names.share(&mut self.kind);
        for text in [&mut self.subject, &mut self.asked, &mut self.name]
            .into_iter()
            .flatten()
        {
            names.share(text);
        }
    }

    /// Returns the number of stored bytes.
    pub fn weight(&self) -> usize {
        self.bytes.len() + self.rare.iter().len() * size_of::<RareParts>() + size_of::<Self>()
    }

    /// Returns its original view.
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

    /// Returns the status of a response of HTTP without a message of the protocol.
    pub(super) fn http_status(&self) -> Option<u16> {
        match self.rare.as_ref()?.head {
            Head::Http { status, .. } => {
                Some(status).filter(|_| matches!(self.role, None | Some(Role::Control)))
            }
            _ => None,
        }
    }

    fn control(&self) -> Option<&'static str> {
        self.rare.as_ref().and_then(|rare| rare.control)
    }

    /// Returns its original frame, without fault.
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

    /// Decodes it again and passes its message to `look`.
    pub fn read<T>(
        &self,
        protocol: &dyn Protocol,
        parsed: &mut Parsed,
        look: impl FnOnce(&Message<'_>) -> T,
    ) -> T {
        let context = Context {
            direction: self.direction,
            open_methods: self.answered_method.as_slice(),
            ..Context::default()
        };
        let frame = self.frame();
        parsed.clear();
        match self.control() {
            Some(_) => look(&Message::default()),
            None => look(&protocol.read(&frame, &context, parsed)),
        }
    }

    /// What corresponding messages have in common: its kind and subject. Its name may be generated.
    pub(crate) fn name(&self) -> MessageName<'_> {
        MessageName {
            kind: &self.kind,
            subject: self.subject.as_deref(),
            parts: &[],
        }
    }

    /// The same, with the subject of the request that it answers if it has none.
    pub(super) fn name_in_pair(&self) -> MessageName<'_> {
        let name = self.name();
        MessageName {
            subject: name.subject.or(self.asked.as_deref()),
            ..name
        }
    }

    /// `call math.add`, `request tools/call echo`.
    pub fn what(&self) -> String {
        let about = with_name(self.subject.as_deref(), self.name.as_deref());
        let name = MessageName {
            kind: &self.kind,
            subject: Some(&about),
            parts: &[],
        };
        name.to_string()
    }
}

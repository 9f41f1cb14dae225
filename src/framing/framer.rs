//! One direction of a stream, split into frames.

use super::{Framing, Hints, Input, LengthMode, Limits, Reader, Step};
use super::{http, lines, method, prefix, values, websocket};

/// One direction's framing: what was read so far of a message that is not complete.
///
/// [`Framer::next`] is called with the window of unconsumed bytes until it answers [`Step::Incomplete`]; then again
/// when the window has grown, or when the stream has ended.
pub struct Framer {
    framing: Framing,
    limits: Limits,
    /// Whether to look for the next frame after a bad one.
    resync: bool,
    kind: Inner,
}

enum Inner {
    Lines(lines::Lines),
    Prefix(prefix::Prefix),
    Method(method::Method),
    WebSocket(Box<websocket::WebSocket>),
    Http(Box<http::Http>),
    Values(values::Values),
    Custom(Box<dyn Reader>),
}

impl Framer {
    /// A framer at the start of a stream.
    pub fn new(
        framing: Framing,
        limits: Limits,
        hints: Hints,
        mode: LengthMode,
        resync: bool,
    ) -> Self {
        let kind = match framing {
            Framing::Lines => Inner::Lines(lines::Lines::default()),
            Framing::Prefix => Inner::Prefix(prefix::Prefix::new(hints)),
            Framing::Method | Framing::Bare => {
                Inner::Method(method::Method::new(framing, hints, mode))
            }
            Framing::WebSocket => Inner::WebSocket(Box::default()),
            Framing::Http => Inner::Http(Box::default()),
            Framing::Values | Framing::Header | Framing::Message => {
                Inner::Values(values::Values::new(framing))
            }
            Framing::Custom(custom) => Inner::Custom((custom.reader)()),
        };
        Self {
            framing,
            limits,
            resync,
            kind,
        }
    }

    /// How this stream is delimited.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Where a message begins whose bytes were taken in so far without it being complete.
    pub fn begun(&self) -> Option<u64> {
        match &self.kind {
            Inner::WebSocket(f) => f.begun(),
            Inner::Http(f) => f.begun(),
            Inner::Custom(f) => f.begun(),
            _ => None,
        }
    }

    /// Whether what comes is no message, as far as anybody can tell: it is passed over, and nobody need wait for it.
    pub fn is_lost(&self) -> bool {
        match &self.kind {
            Inner::Http(f) => f.is_lost(),
            _ => false,
        }
    }

    /// Hears what the other direction of the connection asked for: in HTTP the method of a request decides whether its
    /// response has a body. To be called before bytes are looked at that may answer.
    pub fn hear(&mut self, asking: &mut Self) {
        if let (Inner::Http(f), Inner::Http(asking)) = (&mut self.kind, &mut asking.kind) {
            f.hear(asking);
        }
    }

    /// Bytes are missing: forgets what has begun, and looks for where the next frame begins.
    pub fn seek(&mut self) {
        match &mut self.kind {
            Inner::Lines(f) => *f = lines::Lines::default(),
            Inner::Prefix(f) => f.seek(),
            Inner::Method(f) => f.seek(),
            Inner::WebSocket(f) => f.seek(),
            Inner::Http(f) => f.seek(),
            Inner::Values(f) => *f = values::Values::new(self.framing),
            Inner::Custom(f) => f.seek(),
        }
    }

    /// How a framer that has seen nothing would read on from where the next frame begins; `None` in the middle of
    /// something that only this one knows.
    pub fn anew(&self) -> Option<Framing> {
        let is_between = match &self.kind {
            Inner::Lines(f) => f.is_between(),
            Inner::Prefix(f) => f.is_between(),
            Inner::Method(f) => f.is_between(),
            Inner::WebSocket(f) => f.is_between(),
            Inner::Http(f) => f.is_between(),
            Inner::Values(f) => f.is_between(),
            Inner::Custom(f) => f.is_between(),
        };
        let framing = if self.is_websocket() {
            Framing::WebSocket
        } else {
            self.framing
        };
        is_between.then_some(framing)
    }

    /// Whether this is WebSocket, from the start or by now.
    pub fn is_websocket(&self) -> bool {
        match &self.kind {
            Inner::Http(f) => f.is_upgraded(),
            Inner::WebSocket(_) => true,
            _ => false,
        }
    }

    /// Looks at the window, whose first byte is `base` bytes into the stream; `eof` says that no more will come.
    pub fn next<'a>(&'a mut self, window: &'a [u8], base: u64, eof: bool) -> Step<'a> {
        let input = Input {
            window,
            base,
            eof,
            limits: self.limits,
            resync: self.resync,
        };
        match &mut self.kind {
            Inner::Lines(f) => f.next(input),
            Inner::Prefix(f) => f.next(input),
            Inner::Method(f) => f.next(input),
            Inner::WebSocket(f) => f.next(input),
            Inner::Http(f) => f.next(input),
            Inner::Values(f) => f.next(input),
            Inner::Custom(f) => f.next(input),
        }
    }
}

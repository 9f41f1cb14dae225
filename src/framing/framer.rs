//! Splits one direction of a stream into frames.

use super::custom::CustomReader;
use super::http::EventStream;
use super::state::FramerState;
use super::{Buffer, CustomFraming, Framing, Hints, LengthMode, Limits, Step};
use super::{content_length, http, http3, lines, method, prefix, values, websocket};
use std::fmt;

/// The framing of one direction, with the state of the partial message.
///
/// Call [`Framer::next`] with the window of unconsumed bytes until it returns [`Incomplete`](super::BufferStep::Incomplete);
/// then again when the window has grown or the stream has ended.
///
/// ```
/// use wiretool::framing::{BufferStep, Framer, Framing, Hints, LengthMode, Limits};
///
/// let mut framer = Framer::new(Framing::Lines, Limits::default(), Hints::NONE, LengthMode::Auto, true);
/// let window = b"{}\n[]\n{";
/// let (mut frames, mut at) = (Vec::new(), 0);
/// loop {
///     match framer.next(&window[at..], at as u64, false) {
///         BufferStep::Frame(frame, taken) => {
///             frames.push(frame); // it borrows from the window, not from the framer
///             at += taken;
///         }
///         BufferStep::Took(taken) => at += taken,
///         _ => break,
///     }
/// }
/// assert_eq!((frames.len(), frames[1].body(), at), (2, &b"[]"[..], 6));
/// ```
pub struct Framer {
    framing: Framing,
    limits: Limits,
    /// `true` to search for the next frame after a bad one.
    resync: bool,
    kind: Inner,
}

impl fmt::Debug for Framer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Framer");
        fields.field("framing", &self.framing);
        fields.field("limits", &self.limits).finish_non_exhaustive()
    }
}

enum Inner {
    Lines(lines::LinesFraming),
    Prefix(prefix::Prefix),
    Method(Box<method::MethodFraming>),
    ContentLength(content_length::ContentLengthFraming),
    WebSocket(Box<websocket::WebSocketFraming>),
    Http(Box<http::HttpFraming>),
    Http3(Box<http3::Http3Framing>),
    Values(values::ValuesFraming),
    Custom(CustomReader),
}

impl Framer {
    /// Creates a framer at the start of a stream in a framing from outside this crate. `resync` is `true` to search for
    /// the next frame after a bad one.
    pub fn custom(framing: &dyn CustomFraming, limits: Limits, resync: bool) -> Self {
        let kind = Inner::Custom(CustomReader::new(framing, limits));
        let framing = Framing::Custom(framing.name());
        Self {
            framing,
            limits,
            resync,
            kind,
        }
    }

    /// Creates a framer at the start of a stream. A name of a framing from outside this crate does not say how to read
    /// it, so that the stream is one message: use [`Framer::custom`].
    pub fn new(
        framing: Framing,
        limits: Limits,
        hints: Hints,
        mode: LengthMode,
        resync: bool,
    ) -> Self {
        let kind = match framing {
            Framing::Lines => Inner::Lines(lines::LinesFraming::default()),
            Framing::Prefix => Inner::Prefix(prefix::Prefix::new(hints)),
            Framing::Method | Framing::Bare => {
                Inner::Method(method::MethodFraming::new(framing, hints, mode).into())
            }
            Framing::ContentLength => {
                Inner::ContentLength(content_length::ContentLengthFraming::new())
            }
            Framing::WebSocket => Inner::WebSocket(Box::default()),
            Framing::Http => Inner::Http(Box::default()),
            Framing::Http3 => Inner::Http3(http3::Http3Framing::new(hints, mode).into()),
            Framing::Values | Framing::Header | Framing::Message => {
                Inner::Values(values::ValuesFraming::new(framing, hints.is_cbor))
            }
            Framing::Custom(_) => {
                Inner::Values(values::ValuesFraming::new(Framing::Message, false))
            }
        };
        Self {
            framing,
            limits,
            resync,
            kind,
        }
    }

    /// Returns the framing of this stream.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Returns the offset of a message that is consumed in part.
    pub(crate) fn pending_start(&self) -> Option<u64> {
        match &self.kind {
            Inner::WebSocket(f) => f.pending_start(),
            Inner::Http(f) => f.pending_start(),
            Inner::Custom(f) => f.pending_start(),
            _ => None,
        }
    }

    /// Returns the state of the last stream of server-sent events.
    pub(crate) fn event_stream(&self) -> EventStream<'_> {
        match &self.kind {
            Inner::Http(f) => f.event_stream(),
            _ => EventStream::default(),
        }
    }

    /// Returns `true` while the bytes are no messages (skipped bytes, a tunnel). They need not be
    /// buffered.
    pub fn is_skipping(&self) -> bool {
        match &self.kind {
            Inner::Http(f) => f.is_skipping(),
            _ => false,
        }
    }

    /// Takes over the requests of the other direction: in HTTP the method of a request decides if
    /// its response has a body. Call it before the bytes of a possible response are read.
    pub fn observe_requests(&mut self, asking: &mut Self) {
        if let (Inner::Http(f), Inner::Http(asking)) = (&mut self.kind, &mut asking.kind) {
            f.observe_requests(asking);
        }
    }

    /// Sets the number of the stream of a QUIC connection, which shows its kind.
    pub(crate) fn set_stream(&mut self, stream: Option<u64>) {
        if let (Inner::Http3(f), Some(stream)) = (&mut self.kind, stream) {
            f.set_stream(stream);
        }
    }

    /// Handles missing bytes: drops the partial message and searches for the start of the next
    /// frame.
    pub fn seek(&mut self) {
        match &mut self.kind {
            Inner::Lines(f) => *f = lines::LinesFraming::default(),
            Inner::Prefix(f) => f.seek(),
            Inner::Method(f) => f.seek(),
            Inner::ContentLength(f) => f.seek(),
            Inner::WebSocket(f) => f.seek(),
            Inner::Http(f) => f.seek(),
            Inner::Http3(f) => f.seek(),
            Inner::Values(f) => f.seek(),
            Inner::Custom(f) => f.seek(),
        }
    }

    /// Returns the framing with which a new framer can continue at the start of the next frame;
    /// `None` inside a message.
    pub(crate) fn restart_framing(&self) -> Option<Framing> {
        let is_between = match &self.kind {
            Inner::Lines(f) => f.is_between(),
            Inner::Prefix(f) => f.is_between(),
            Inner::Method(f) => f.is_between(),
            Inner::ContentLength(f) => f.is_between(),
            Inner::WebSocket(f) => f.is_between(),
            Inner::Http(f) => f.is_between(),
            Inner::Http3(f) => return f.restart_framing(),
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

    /// Returns what a new framer needs to read what follows in the same way; `None` if that is not a few bytes.
    pub(crate) fn state(&self) -> Option<FramerState> {
        let new = |is_like_new: bool| is_like_new.then_some(FramerState::New);
        match &self.kind {
            Inner::Lines(f) => new(f.is_like_new()),
            Inner::Prefix(f) => new(f.is_like_new()),
            Inner::ContentLength(f) => new(f.is_like_new()),
            Inner::Method(f) => f.state(),
            Inner::WebSocket(f) => f.state(),
            Inner::Http(f) => f.state(),
            Inner::Http3(_) | Inner::Values(_) | Inner::Custom(_) => None,
        }
    }

    /// Returns what a new framer of [`Framer::restart_framing`] needs to read the next message and what follows, as far as
    /// a few bytes hold it.
    #[cfg(feature = "cli")]
    pub(crate) fn restart_state(&self) -> Option<FramerState> {
        match &self.kind {
            Inner::Http(f) => f.restart_state(),
            Inner::WebSocket(f) => f.restart_state(),
            Inner::Method(f) => Some(f.state().unwrap_or(FramerState::New)),
            _ => Some(FramerState::New),
        }
    }

    /// Gives a new framer the state of an earlier one.
    pub(crate) fn set_state(&mut self, state: FramerState) {
        match &mut self.kind {
            Inner::Method(f) => f.set_state(state),
            Inner::WebSocket(f) => f.set_state(state),
            Inner::Http(f) => f.set_state(state),
            _ => {}
        }
    }

    /// Returns `true` for WebSocket, also after an upgrade.
    pub(crate) fn is_websocket(&self) -> bool {
        match &self.kind {
            Inner::Http(f) => f.is_upgraded(),
            Inner::WebSocket(_) => true,
            _ => false,
        }
    }

    /// Reads the window as [`Framer::next`] does, without a copy: the frame is gone at the next call.
    pub fn step<'a>(&'a mut self, window: &'a [u8], base: u64, eof: bool) -> Step<'a> {
        let input = Buffer {
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
            Inner::ContentLength(f) => f.next(input),
            Inner::WebSocket(f) => f.next(input),
            Inner::Http(f) => f.next(input),
            Inner::Http3(f) => f.next(input),
            Inner::Values(f) => f.next(input),
            Inner::Custom(f) => f.next(input),
        }
    }
}

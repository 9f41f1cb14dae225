//! One chunk of one direction: framed, understood, handed on.
//!
//! ```text
//!   window   what is left of the stream, and the chunk behind it
//!      -> framer    where the next frame ends
//!      -> untold    the frame's own bytes, where they are asked for, and those that belong to none
//!      -> protocol  what it means; doctor, where something is wrong
//!      -> sink
//! ```

use super::beside::injections;
use super::control::control;
use super::mend::{self, Cut, Early};
use super::open::Open;
use super::recovery::Recovery;
use super::untold::{Raw, Untold, Whose};
use super::{Beside, Decoded, Origin, Sink, doctor};
use crate::encoding::Parsed;
use crate::framing::{Backlog, Frame, Framer, Framing, Head, Places, Step, View};
use crate::protocol::{Context, Evidence, Message, Protocol};
use crate::span::Span;

/// One direction of one connection.
pub(super) struct Stream {
    pub(super) framer: Framer,
    /// Bytes that are no whole frame yet.
    pub(super) buffer: Backlog,
    /// Stream offset of the first byte that is not done with.
    pub(super) base: u64,
    pub(super) beside: Vec<Beside>,
    /// Stops at the first bad frame.
    pub(super) stopped: bool,
    /// Its end was told, and nothing came after it.
    pub(super) ended: bool,
    /// The frame before, where it ended early.
    pub(super) early: Option<Early>,
    /// Kept only where frames tell their own bytes.
    pub(super) untold: Option<Untold>,
    /// Lent to the run.
    pub(super) open: Open,
    pub(super) recovery: Recovery,
}

/// What framing and understanding one chunk needs.
pub(super) struct Run<'r, 'p, 's, 't> {
    pub(super) protocol: &'p dyn Protocol,
    /// Another protocol fits the stream as well.
    pub(super) tie: bool,
    pub(super) open: Open,
    pub(super) origin: Origin,
    pub(super) parsed: &'r mut Parsed,
    pub(super) index: &'r mut u64,
    pub(super) resync: bool,
    pub(super) recovery: Recovery,
    pub(super) sink: &'s mut Sink<'t>,
}

/// So many bytes of a chunk are first looked at beside what is left of the one before: enough for most frames.
const BESIDE: usize = 4 << 10;

impl Run<'_, '_, '_, '_> {
    /// Frames a chunk. What is left of those before is completed with no more of it than need be, and the rest is read
    /// where it is.
    pub(super) fn feed(&mut self, stream: &mut Stream, bytes: &[u8], eof: bool) {
        if self.recovery.gap.is_some() && !eof {
            self.tell_gap(stream);
        }
        let mut buffer = std::mem::take(&mut stream.buffer);
        let (mut copied, mut most) = (0, BESIDE);
        while !buffer.is_empty() {
            let fresh = bytes.get(copied..).unwrap_or_default();
            let piece = fresh.get(..most).unwrap_or(fresh);
            buffer.push(piece);
            copied += piece.len();
            let last = copied == bytes.len();
            let done = self.drain(stream, buffer.bytes(), eof && last);
            let left = buffer.len() - done;
            if last {
                buffer.done(done);
                stream.buffer = buffer;
                return;
            }
            if left <= copied {
                // All that is left came with this chunk.
                copied -= left;
                buffer.done(buffer.len());
            } else {
                buffer.done(done);
                most *= 2;
            }
        }
        let rest = bytes.get(copied..).unwrap_or_default();
        let done = self.drain(stream, rest, eof);
        buffer.push(rest.get(done..).unwrap_or_default());
        stream.buffer = buffer;
    }

    /// Frames as much of the window as is complete; returns how much of it is done with.
    fn drain(&mut self, stream: &mut Stream, window: &[u8], eof: bool) -> usize {
        let Stream {
            framer,
            beside,
            stopped,
            untold,
            early,
            ..
        } = stream;
        let base = stream.base;
        let mut at = 0;
        while !*stopped {
            let rest = window.get(at..).unwrap_or_default();
            let here = base + at as u64;
            let begun = untold.as_ref().and_then(|_| framer.begun());
            match framer.next(rest, here, eof) {
                Step::Incomplete(_) | Step::Took(0) => break,
                Step::Took(n) => {
                    at += n;
                    if let Some(untold) = untold {
                        untold.take(rest.get(..n).unwrap_or(rest), here);
                        let whose = match framer.begun() {
                            Some(_) => Whose::Messages,
                            None => Whose::Nobodys,
                        };
                        self.skipped(untold, framer.framing(), whose);
                    }
                }
                Step::Frame(ref frame, n) => {
                    let mend = self.resync.then_some((rest, eof));
                    let mut took = n;
                    let told = if let (None, None) = (&untold, &early) {
                        self.emit(frame, here + n as u64, beside, None, mend)
                    } else {
                        let here = Here::new(rest, n, here, begun);
                        let ended = early.take();
                        let ended = ended.and_then(|early| early.ended_by(frame, self.protocol));
                        let ended = ended.and_then(|hint| mend::hinted(frame, hint));
                        let frame = ended.as_ref().unwrap_or(frame);
                        self.tell(untold.as_mut(), frame, here, beside, mend)
                    };
                    match told {
                        Told::Good => {}
                        Told::Bad => *stopped = !self.resync,
                        Told::Early => *early = Early::new(frame),
                        Told::Wait => break,
                        Told::Off(len) => {
                            let mut body = Vec::new();
                            let frame = mend::mended(frame, rest, len, &mut body);
                            took = frame.len as usize;
                            let here = Here::new(rest, took, here, begun);
                            let told = self.tell(untold.as_mut(), &frame, here, beside, None);
                            *stopped = told == Told::Bad && !self.resync;
                        }
                    }
                    at += took;
                }
            }
        }
        if let Some(untold) = untold
            && (*stopped || eof)
        {
            untold.take(window.get(at..).unwrap_or_default(), base + at as u64);
            let whose = if eof { Whose::Ended } else { Whose::Nobodys };
            self.skipped(untold, framer.framing(), whose);
        }
        if *stopped {
            at = window.len();
        }
        stream.base = base + at as u64;
        at
    }

    /// Hands on a frame, with its own bytes where those are asked for. Where it may be mended and has to be, it is not
    /// handed on.
    fn tell(
        &mut self,
        untold: Option<&mut Untold>,
        frame: &Frame<'_>,
        here: Here<'_>,
        beside: &mut Vec<Beside>,
        mend: Option<(&[u8], bool)>,
    ) -> Told {
        let Here {
            taken,
            offset: here,
            begun,
        } = here;
        let next = here + taken.len() as u64;
        let Some(untold) = untold else {
            return self.emit(frame, next, beside, None, mend);
        };
        if let Some(told) = off(frame, mend, self.protocol) {
            return told;
        }
        if begun.is_some_and(|begun| begun != frame.offset) {
            let told = self.emit(frame, next, beside, Some(untold.inside(taken)), None);
            self.skipped(untold, frame.framing, Whose::Messages);
            return told;
        }
        untold.before(frame.offset, taken, here);
        self.skipped(untold, frame.framing, Whose::Frames);
        let told = self.emit(frame, next, beside, Some(untold.frame(taken)), None);
        untold.told();
        told
    }

    /// Bytes that belong to no frame, where they are too many to wait for the next.
    fn skipped(&mut self, untold: &mut Untold, framing: Framing, whose: Whose) {
        while let Some((offset, raw)) = untold.surplus(whose) {
            let len = raw.bytes.len();
            let frame = Frame {
                offset,
                len: len as u64,
                framing,
                head: Head::None,
                view: View {
                    bytes: raw.bytes,
                    body: Span::new(0, len),
                    places: Places::Run(offset),
                },
                control: Some("skipped"),
                fault: None,
            };
            self.emit(
                &frame,
                offset + len as u64,
                &mut Vec::new(),
                Some(raw),
                None,
            );
            untold.passed();
        }
    }

    /// Understands a frame and hands it on.
    pub(super) fn emit(
        &mut self,
        frame: &Frame<'_>,
        next: u64,
        beside: &mut Vec<Beside>,
        raw: Option<Raw<'_>>,
        mend: Option<(&[u8], bool)>,
    ) -> Told {
        let plain = frame.fault.is_none() && frame.control.is_none();
        if plain && beside.is_empty() && self.recovery.is_idle() {
            let (context, entry) = self.context(frame);
            let mut message = self.protocol.read(frame, &context, self.parsed);
            if message.faults.is_empty() {
                if self.origin.direction.is_none() {
                    self.open.see(frame.head, entry, &message);
                }
                message.guess |= self.tie;
                let decoded = Decoded {
                    index: *self.index,
                    origin: self.origin,
                    protocol: self.protocol,
                    frame,
                    message: &message,
                    next,
                    remarks: &[],
                    injected: None,
                    raw,
                };
                *self.index += 1;
                (self.sink)(&decoded);
                return Told::Good;
            }
        }
        self.emit_repaired(frame, next, beside, raw, mend)
    }

    /// Does what [`Run::emit`] does for a frame that may be at fault, or that something is said about.
    #[cold]
    fn emit_repaired(
        &mut self,
        frame: &Frame<'_>,
        next: u64,
        beside: &mut Vec<Beside>,
        raw: Option<Raw<'_>>,
        mend: Option<(&[u8], bool)>,
    ) -> Told {
        if frame.fault.is_some()
            && let Some(told) = off(frame, mend, self.protocol)
        {
            return told;
        }
        let (context, entry) = self.context(frame);
        let (mut remarks, mut injected) = (Vec::new(), String::new());
        let doctored = frame.fault.as_ref().and_then(|fault| {
            let cause = doctor::diagnose(frame, fault.error.code, self.protocol);
            let hint = match (cause, fault.error.hint.as_deref()) {
                (Some(cause), Some(hint)) => format!("{cause}; {hint}"),
                (Some(cause), None) => cause,
                (None, None) if fault.error.code == "over-limit" => {
                    "if the length is right, raise the limit with --max-message".into()
                }
                (None, _) => return None,
            };
            let mut frame = frame.clone();
            frame.fault.as_mut()?.error.hint = Some(hint.into());
            Some(frame)
        });
        let frame = doctored.as_ref().unwrap_or(frame);
        let mut message = match frame.control {
            Some(kind) => control(kind, frame),
            None => self.protocol.read(frame, &context, self.parsed),
        };
        if !message.faults.is_empty()
            && let Some(told) = off(frame, mend, self.protocol)
        {
            return told;
        }
        // Bytes behind a length that cannot be right are a message only where they look like one.
        let bad_length = frame
            .fault
            .as_ref()
            .is_some_and(|f| matches!(f.error.code, "bad-length" | "over-limit"));
        if bad_length && message.evidence == Evidence::None && frame.control.is_none() {
            message = Message {
                valid: false,
                role: None,
                ..control("skipped", frame)
            };
        }
        let mut frame = frame;
        let other;
        if let Some(fault) = self.recovery.cut(frame, &message) {
            other = Frame {
                fault: Some(fault),
                ..frame.clone()
            };
            frame = &other;
        } else if self.recovery.passes(frame, &message) {
            other = Frame {
                control: Some("skipped"),
                fault: None,
                ..frame.clone()
            };
            frame = &other;
            message = control("skipped", frame);
        }
        if let Some(hint) = self.recovery.line(frame, &message, self.protocol)
            && let Some(first) = message.faults.first_mut()
        {
            first.hint = Some(hint.into());
        } else if let Some(first) = message.faults.first_mut()
            && frame.fault.is_none()
        {
            let cause = match doctor::sight(frame) {
                None if first.hint.is_some() => None,
                _ => doctor::diagnose(frame, first.code, self.protocol).map(Into::into),
            };
            first.hint = cause.or(first.hint.take());
        }
        if !beside.is_empty() {
            let root = message
                .value
                .and_then(|parsed| parsed.root(frame.view.bytes));
            let end = frame.offset + frame.len;
            let (mine, rest): (Vec<_>, _) = std::mem::take(beside)
                .into_iter()
                .partition(|b| b.offset < end);
            *beside = rest;
            remarks = doctor::compare(&mine, frame, root);
            injected = injections(&mine, frame.offset);
        }
        if self.origin.direction.is_none() {
            self.open.see(frame.head, entry, &message);
        }
        message.guess |= self.tie;
        let decoded = Decoded {
            index: *self.index,
            origin: self.origin,
            protocol: self.protocol,
            frame,
            message: &message,
            next,
            remarks: &remarks,
            injected: (!injected.is_empty()).then_some(injected.as_str()),
            raw,
        };
        *self.index += 1;
        (self.sink)(&decoded);
        let first = message.faults.first().map(|fault| fault.code);
        match frame.fault {
            Some(_) => Told::Bad,
            None if first == Some("ends-early") => Told::Early,
            None => Told::Good,
        }
    }

    /// What the protocol is told beside a frame, and where the open requests of its method are counted.
    fn context(&self, frame: &Frame<'_>) -> (Context, Option<usize>) {
        let direction = self.origin.direction;
        let entry = match direction {
            Some(_) => None,
            None => self.open.entry(frame.head),
        };
        let open = self.open.guess(entry);
        (Context { direction, open }, entry)
    }
}

/// What came of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Framing found nothing wrong.
    Good,
    /// Framing found it bad.
    Bad,
    /// Its message is longer than it.
    Early,
    /// Not handed on: its message is so long, and its length is not.
    Off(usize),
    /// Not handed on: more bytes will tell whether its length is right.
    Wait,
}

/// What to do about a frame's length, with the window that it begins and whether that is all; `None`: nothing.
fn off(frame: &Frame<'_>, mend: Option<(&[u8], bool)>, protocol: &dyn Protocol) -> Option<Told> {
    let (window, eof) = mend?;
    match mend::cut(frame, window, eof, protocol) {
        Cut::No => None,
        Cut::Wait => Some(Told::Wait),
        Cut::At(len) => Some(Told::Off(len)),
    }
}

/// Where a frame stands.
#[derive(Clone, Copy)]
struct Here<'a> {
    /// The bytes that are done with once it is.
    taken: &'a [u8],
    /// Stream offset of the first of them.
    offset: u64,
    /// Where a message began that it is inside of.
    begun: Option<u64>,
}

impl<'a> Here<'a> {
    /// So many bytes of a window that begins at an offset.
    fn new(window: &'a [u8], took: usize, offset: u64, begun: Option<u64>) -> Self {
        Self {
            taken: window.get(..took).unwrap_or(window),
            offset,
            begun,
        }
    }
}

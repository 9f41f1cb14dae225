//! Messages that other threads read ahead of the decoder of their stream.
//!
//! ```text
//!   Splitter     the whole frames of the next section   in order
//!   SectionReader   the messages of these frames        any thread, beside the others
//!   Decoder      indexes, names, open requests       in order
//! ```
//!
//! Messages that are read ahead are right only if the decoder is where the section begins, and if no message has a fault: then the next frame
//! begins where the framing says. In other cases the decoder reads the bytes of the section itself. A message that depends on open
//! requests is read again if they are not those that its reader knew.

use super::chunk::{ChunkDecoder, Stream};
use super::message::{MessageExtras, read};
use super::open_requests::OpenRequests;
use super::options::new_parsed;
use super::{Decoder, FlowSink, Origin};
use crate::encoding::{Parsed, Want};
use crate::framing::{Frame, Framer, FramerState, Framing, Head, Places, Step, View};
use crate::protocol::{Context, Direction, Message, Notes, Protocol, annotate};
use crate::span::Span;
use crate::tape::Lookup;

/// The framings whose frames are plain runs of the stream, and that need few bytes to go on after a frame.
const FRAMINGS: [Framing; 4] = [
    Framing::Lines,
    Framing::Prefix,
    Framing::Method,
    Framing::ContentLength,
];
/// The number of bytes from which the memory of a message is given back.
const LARGE: usize = 8 << 10;

/// A run of whole frames of a stream.
#[derive(Default)]
pub(crate) struct Section {
    bytes: Vec<u8>,
    /// The number of first bytes that the decoder had before the stream was split.
    known: usize,
    /// The stream offset of the first byte.
    base: u64,
    frames: Vec<SectionFrame>,
    /// The state of the framer before the first frame and after the last one.
    start: Option<FramerState>,
    end: Option<FramerState>,
    /// The bytes are whole frames without faults.
    is_plain: bool,
}

/// A frame of a section, without its bytes.
struct SectionFrame {
    /// Its first byte in the section.
    at: usize,
    len: usize,
    /// The number of bytes up to the next frame.
    taken: usize,
    head: Head<'static>,
    body: Span,
}

/// A message of a section.
pub(crate) struct SectionMessage<'w> {
    frame: Frame<'w>,
    next: u64,
    message: Message<'w>,
    /// What the message was read with: [`Context::open`].
    open: Option<bool>,
}

impl Section {
    /// Returns the bytes of the stream.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of first bytes that the decoder had before the stream was split.
    pub(crate) fn known(&self) -> usize {
        self.known
    }

    fn frame(&self, frame: &SectionFrame, framing: Framing) -> Frame<'_> {
        let bytes = self.bytes.get(frame.at..frame.at + frame.len);
        let offset = self.base + frame.at as u64;
        Frame {
            offset,
            len: frame.len as u64,
            framing,
            head: frame.head,
            view: View {
                bytes: bytes.unwrap_or_default(),
                body: frame.body,
                places: Places::Run(offset),
            },
            control: None,
            fault: None,
        }
    }
}

/// Splits the rest of a stream into sections.
pub(crate) struct Splitter<'p> {
    framer: Framer,
    /// The state of the framer after the last whole frame.
    state: Option<FramerState>,
    /// The stream offset of the next section.
    base: u64,
    /// The start of a frame that is not whole.
    unread: Vec<u8>,
    /// The number of bytes that the decoder had of it.
    known: usize,
    reader: SectionReader<'p>,
}

impl<'p> Splitter<'p> {
    /// Returns what reads the messages of its sections.
    pub(crate) fn reader(&self) -> SectionReader<'p> {
        self.reader.clone()
    }

    /// Fills the next section. `more` appends bytes, or returns `false` at the end of the stream. Returns `false` if nothing is left.
    pub(crate) fn split<E>(
        &mut self,
        section: &mut Section,
        mut more: impl FnMut(&mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        section.bytes.clear();
        section.frames.clear();
        std::mem::swap(&mut section.bytes, &mut self.unread);
        (section.base, section.start, section.is_plain) = (self.base, self.state, true);
        section.known = std::mem::take(&mut self.known);
        loop {
            let is_open = more(&mut section.bytes)?;
            let whole = self.frames(section);
            if whole == 0 && is_open {
                continue;
            }
            if is_open {
                self.unread
                    .extend_from_slice(section.bytes.get(whole..).unwrap_or_default());
                section.bytes.truncate(whole);
            }
            section.is_plain &= whole == section.bytes.len();
            section.end = self.state;
            self.base += section.bytes.len() as u64;
            return Ok(!section.bytes.is_empty());
        }
    }

    /// Adds the whole frames of a section; returns the number of their bytes.
    fn frames(&mut self, section: &mut Section) -> usize {
        let mut at = 0;
        loop {
            let window = section.bytes.get(at..).unwrap_or_default();
            let base = section.base + at as u64;
            match self.framer.step(window, base, false) {
                Step::Incomplete(_) | Step::Took(0) => return at,
                Step::Took(n) => {
                    section.is_plain = false;
                    at += n;
                }
                Step::Frame(frame, n) => {
                    match plain_head(&frame, base) {
                        Some(head) => section.frames.push(SectionFrame {
                            at,
                            len: frame.view.bytes.len(),
                            taken: n,
                            head,
                            body: frame.view.body,
                        }),
                        None => section.is_plain = false,
                    }
                    at += n;
                }
            }
            self.state = self.framer.state();
        }
    }
}

/// Returns the head of a frame that is a plain run of bytes without a fault.
fn plain_head(frame: &Frame<'_>, offset: u64) -> Option<Head<'static>> {
    let is_run = matches!(frame.view.places, Places::Run(at) if at == offset);
    if !is_run || frame.offset != offset || frame.fault.is_some() || frame.control.is_some() {
        return None;
    }
    Some(match frame.head {
        Head::None => Head::None,
        Head::Length(length) => Head::Length(length),
        Head::Method { length, id, mode } => Head::Method { length, id, mode },
        _ => return None,
    })
}

/// The memory for the messages of a section, one entry for each.
#[derive(Default)]
pub(crate) struct SectionMemory {
    parsed: Vec<Parsed>,
    notes: Vec<Notes>,
}

/// Reads the messages of sections.
#[derive(Clone)]
pub(crate) struct SectionReader<'p> {
    protocol: &'p dyn Protocol,
    framing: Framing,
    direction: Option<Direction>,
    want: Want,
    depth: u32,
    lookup: Option<Lookup>,
    /// The secrets of each message are needed.
    pub(crate) finds_secrets: bool,
    /// The requests that were open before the first section.
    open: OpenRequests,
}

impl SectionReader<'_> {
    /// Reads the messages of a section. `None` if one of them has a fault.
    pub(crate) fn read<'w>(
        &'w self,
        section: &'w Section,
        memory: &'w mut SectionMemory,
    ) -> Option<Vec<SectionMessage<'w>>> {
        if !section.is_plain {
            return None;
        }
        let SectionMemory { parsed, notes } = memory;
        let count = section.frames.len();
        if parsed.len() < count {
            parsed.resize_with(count, || self.new_parsed());
            notes.resize_with(count, Notes::of_secrets);
        }
        let mut open = self.open.clone();
        let mut messages = Vec::with_capacity(section.frames.len());
        for ((at, parsed), notes) in section.frames.iter().zip(parsed).zip(notes) {
            let frame = section.frame(at, self.framing);
            let (context, entry) = open.context(self.direction, frame.head);
            let context = Context {
                open_methods: &[],
                ..context
            };
            let mut message = read(self.protocol, &frame, &context, parsed);
            if !message.faults.is_empty() || message.answered_method.is_some() {
                return None;
            }
            if self.finds_secrets
                && let Some(root) = message.value.and_then(|value| value.root(frame.view.bytes))
                && self.protocol.content(root, &message).is_some()
            {
                annotate(self.protocol, root, &message, notes);
                message.secrets = Some(notes);
            }
            let asked = context.open;
            open.observe(self.direction, frame.head, entry, &message);
            messages.push(SectionMessage {
                next: frame.offset + at.taken as u64,
                frame,
                message,
                open: asked,
            });
        }
        Some(messages)
    }

    fn new_parsed(&self) -> Parsed {
        new_parsed(self.want, self.depth, self.lookup.as_ref())
    }

    /// Gives back the memory of long messages.
    pub(crate) fn shrink(&self, memory: &mut SectionMemory) {
        for one in (memory.parsed.iter_mut()).filter(|one| one.capacity() > LARGE) {
            *one = self.new_parsed();
        }
    }
}

impl Stream<'_> {
    /// Returns the state of the framer, if the next bytes are the start of a frame and nothing else is expected of them.
    fn state_before_frame(&self) -> Option<FramerState> {
        let is_usual = !self.stopped
            && !self.ended
            && self.wrong.is_none()
            && self.metadata.is_empty()
            && self.coverage.is_none()
            && self.recovery.is_idle()
            && self.open.is_without_order();
        let is_line = self.framer.restart_framing() == Some(Framing::Lines);
        let state = if is_line {
            Some(FramerState::New)
        } else {
            self.framer.state()
        };
        state.filter(|_| is_usual)
    }
}

impl<'p> Decoder<'p> {
    /// Returns what splits the rest of the only stream, if its bytes have no times. The decoder then needs each section.
    pub(crate) fn splitter(&mut self, origin: Origin) -> Option<Splitter<'p>> {
        let is_decided =
            self.detecting.is_empty() && self.separate.is_none() && self.held_metadata.is_empty();
        let is_timeless = self.latest.is_none() && origin.time.is_none();
        if !is_decided || !is_timeless || !self.waiting.is_empty() || self.streams.len() != 1 {
            return None;
        }
        let want = self.parsed.want();
        let key = origin.lane();
        let stream = self.streams.get(&key)?;
        let (protocol, framing) = (stream.protocol, stream.framer.framing());
        let is_ordered = framing == Framing::Method && origin.direction.is_some();
        let state = stream.state_before_frame()?;
        if !FRAMINGS.contains(&framing) || is_ordered {
            return None;
        }
        let framers = [(); 2].map(|()| {
            let mut framer = self.framer(protocol, framing, self.options.resync);
            framer.set_state(state);
            framer
        });
        let [framer, own] = framers;
        let stream = self.streams.get_mut(&key)?;
        stream.framer = own;
        let mut unread = Vec::new();
        unread.extend_from_slice(stream.buffer.bytes());
        stream.buffer.consume(unread.len());
        Some(Splitter {
            framer,
            state: Some(state),
            base: stream.base,
            known: unread.len(),
            unread,
            reader: SectionReader {
                protocol,
                framing,
                direction: origin.direction,
                want,
                depth: self.options.limits.depth,
                lookup: self.options.lookup.clone(),
                finds_secrets: false,
                open: stream.open.clone(),
            },
        })
    }

    /// Returns `true` if the decoder is where a section begins.
    pub(crate) fn is_before(&self, origin: Origin, section: &Section) -> bool {
        let Some(stream) = self.streams.get(&origin.lane()) else {
            return false;
        };
        let state = stream.state_before_frame();
        let is_there =
            stream.base == section.base && stream.buffer.is_empty() && section.end.is_some();
        is_there && self.waiting.is_empty() && state.is_some() && state == section.start
    }

    /// Passes on the messages of a section that begins here, until the sink breaks. Returns the number of bytes that it takes: fewer
    /// than all if a message has a fault.
    pub(crate) fn pass_section(
        &mut self,
        origin: Origin,
        section: &Section,
        messages: Vec<SectionMessage<'_>>,
        sink: &mut FlowSink<'_>,
    ) -> usize {
        let mut taken = section.bytes.len();
        self.run(origin.lane(), origin, sink, |run, stream| {
            taken = run.pass_section(stream, section, messages);
        });
        taken
    }

    /// Tells the reader of sections which requests are open now: it reads most messages with them.
    pub(crate) fn update_reader(&self, origin: Origin, reader: &mut SectionReader<'_>) {
        if let Some(stream) = self.streams.get(&origin.lane())
            && reader.framing == Framing::Method
        {
            reader.open.clone_from(&stream.open);
        }
    }
}

impl ChunkDecoder<'_, '_, '_, '_> {
    fn pass_section(
        &mut self,
        stream: &mut Stream<'_>,
        section: &Section,
        messages: Vec<SectionMessage<'_>>,
    ) -> usize {
        self.out.origin.time = None;
        let mut state = section.start;
        for one in messages {
            let SectionMessage {
                frame, next, open, ..
            } = one;
            let (context, entry) = self.out.context(&frame);
            let mut message = one.message;
            if context.open != open {
                // Another request is open than the reader knew.
                message = read(self.out.protocol, &frame, &context, self.parsed);
            }
            if !message.faults.is_empty() {
                stream.base = frame.offset;
                if let Some(state) = state {
                    stream.framer.set_state(state);
                }
                return (frame.offset - section.base) as usize;
            }
            if let (
                Head::Method {
                    mode: Some(mode), ..
                },
                Some(state),
            ) = (frame.head, &mut state)
            {
                *state = FramerState::Method(Some(mode));
            }
            let extras = MessageExtras {
                next,
                entry,
                ..MessageExtras::default()
            };
            if self.out.pass_on(&frame, message, extras).is_break() {
                break;
            }
        }
        stream.base = section.base + section.bytes.len() as u64;
        if let Some(state) = section.end {
            stream.framer.set_state(state);
        }
        section.bytes.len()
    }
}

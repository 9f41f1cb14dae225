//! Decodes one chunk of one direction: splits it into frames, reads them, and emits them.
//!
//! ```text
//!   window   the rest of the stream, and the chunk after it
//!      -> framer    the end of the next frame
//!      -> coverage  the frame's own bytes, if requested, and those of no frame
//!      -> protocol  its meaning; diagnose, if there is an error
//!      -> sink
//! ```

use super::chunk_times::ChunkTimes;
use super::control::{control, read};
use super::coverage::{Coverage, FrameBytes, PendingBytes, RawFrame};
use super::length_repair::{self, FrameOutcome, WrongFrame, length_outcome};
use super::metadata::injections;
use super::open_names::OpenNames;
use super::open_requests::OpenRequests;
use super::recovery::Recovery;
use super::{Decoded, FlowSink, Metadata, Origin, diagnose};
use crate::encoding::Parsed;
use crate::error::DecodeError;
use crate::framing::{Backlog, Frame, Framer, Framing, Head, Places, Step, View};
use crate::protocol::{Ending, Evidence, Message, Protocol};
use crate::span::Span;

/// One direction of one connection.
pub(super) struct Stream<'p> {
    pub(super) protocol: &'p dyn Protocol,
    /// Another protocol fits the stream too.
    pub(super) tie: bool,
    pub(super) framer: Framer,
    /// Bytes that are not a complete frame yet.
    pub(super) buffer: Backlog,
    /// The stream offset of the first byte that is not consumed.
    pub(super) base: u64,
    pub(super) metadata: Vec<Metadata>,
    /// Set at the first bad frame, without resynchronisation.
    pub(super) stopped: bool,
    /// Its end was reported, and no bytes followed.
    pub(super) ended: bool,
    /// The frame before, if its length was wrong.
    pub(super) wrong: Option<WrongFrame>,
    /// Present only if frames report their own bytes.
    pub(super) coverage: Option<Box<Coverage>>,
    /// Moved into the run during a chunk.
    pub(super) times: ChunkTimes,
    /// Its requests are also those that the answers of the connection's other direction answer.
    /// Moved into the run during a chunk.
    pub(super) open: OpenRequests,
    pub(super) recovery: Recovery,
}

/// The state for decoding one chunk.
#[allow(clippy::struct_excessive_bools)] // each is a property of its own
pub(super) struct Run<'r, 'p, 's, 't> {
    pub(super) protocol: &'p dyn Protocol,
    /// Another protocol fits the stream too.
    pub(super) tie: bool,
    pub(super) open: OpenRequests,
    pub(super) origin: Origin,
    pub(super) times: ChunkTimes,
    pub(super) parsed: &'r mut Parsed,
    pub(super) names: &'r mut OpenNames,
    pub(super) index: &'r mut u64,
    pub(super) resync: bool,
    /// Settings in hints are flags.
    pub(super) flags: bool,
    pub(super) recovery: Recovery,
    pub(super) sink: &'s mut FlowSink<'t>,
    /// A break of the sink ends the run after the frame. Otherwise it is read to its end.
    pub(super) can_halt: bool,
    /// The sink has ended the run.
    pub(super) is_halted: bool,
    /// The time up to which the recording shows that nothing follows.
    pub(super) silent_until: Option<i64>,
}

/// The number of bytes of a chunk that are first copied to the rest of the chunk before: enough for most frames.
const FIRST_COPY: usize = 4 << 10;

impl Run<'_, '_, '_, '_> {
    /// Decodes a chunk. The rest of earlier chunks is completed with as few copied bytes as possible; the other bytes
    /// are read in place. Returns the number of consumed bytes: fewer than all only if the sink ended the run.
    pub(super) fn feed(&mut self, stream: &mut Stream<'_>, bytes: &[u8], eof: bool) -> usize {
        // The end of the stream is no part of a line.
        if eof && bytes.is_empty() && stream.framer.framing() != Framing::Lines {
            self.times.end_stream();
        }
        let taken = self.feed_chunk(stream, bytes, eof);
        let pending = stream.framer.pending_start().unwrap_or(stream.base);
        self.times
            .finish(pending, stream.base + stream.buffer.len() as u64);
        taken
    }

    fn feed_chunk(&mut self, stream: &mut Stream<'_>, bytes: &[u8], eof: bool) -> usize {
        if self.recovery.gap.is_some() && !eof {
            self.emit_gap(stream);
        }
        let mut buffer = std::mem::take(&mut stream.buffer);
        let (mut copied, mut most) = (0, FIRST_COPY);
        while !buffer.is_empty() {
            let unread = bytes.get(copied..).unwrap_or_default();
            let piece = unread.get(..most).unwrap_or(unread);
            buffer.push(piece);
            copied += piece.len();
            let last = copied == bytes.len();
            let done = self.drain(stream, buffer.bytes(), eof && last);
            let left = buffer.len() - done;
            let is_own = left <= copied;
            if (last && !self.is_halted) || (self.is_halted && !is_own) {
                buffer.consume(done);
                stream.buffer = buffer;
                return copied;
            }
            if is_own {
                // All remaining bytes came with this chunk.
                copied -= left;
                buffer.consume(buffer.len());
                if self.is_halted {
                    stream.buffer = buffer;
                    return copied;
                }
            } else {
                buffer.consume(done);
                most *= 2;
            }
        }
        let rest = bytes.get(copied..).unwrap_or_default();
        let done = self.drain(stream, rest, eof);
        let unread = rest.get(done..).unwrap_or_default();
        let left = if self.is_halted { unread.len() } else { 0 };
        if left == 0 {
            buffer.push(unread);
        }
        stream.buffer = buffer;
        bytes.len() - left
    }

    /// Decodes the complete frames of the window. Returns the number of consumed bytes.
    fn drain(&mut self, stream: &mut Stream<'_>, window: &[u8], eof: bool) -> usize {
        let Stream {
            framer,
            metadata,
            stopped,
            coverage,
            wrong,
            ..
        } = stream;
        let base = stream.base;
        let mut at = 0;
        while !*stopped && !self.is_halted {
            let rest = window.get(at..).unwrap_or_default();
            let here = base + at as u64;
            let message_start = coverage.as_ref().and_then(|_| framer.pending_start());
            match framer.step(rest, here, eof) {
                Step::Incomplete(_) | Step::Took(0) => break,
                Step::Took(n) => {
                    at += n;
                    if let Some(coverage) = coverage {
                        coverage.add(rest.get(..n).unwrap_or(rest), here);
                        let pending = match framer.pending_start() {
                            Some(_) => PendingBytes::InsideMessage,
                            None => PendingBytes::BetweenFrames,
                        };
                        self.emit_skipped(coverage, framer.framing(), pending);
                    }
                }
                Step::Frame(ref frame, n) => {
                    let repair = self.resync.then_some((rest, eof));
                    let mut took = n;
                    let outcome = if let (None, None) = (&coverage, &wrong) {
                        self.emit(frame, here + n as u64, metadata, None, repair)
                    } else {
                        let here = FrameBytes::new(rest, n, here, message_start);
                        let before = wrong.take();
                        let explain = |wrong: &WrongFrame| wrong.explain(frame, self.protocol);
                        let explained = before.as_ref().and_then(explain);
                        let frame = explained.as_ref().unwrap_or(frame);
                        let told =
                            self.emit_raw(coverage.as_deref_mut(), frame, here, metadata, repair);
                        if told == FrameOutcome::Wait {
                            *wrong = before;
                        }
                        told
                    };
                    match outcome {
                        FrameOutcome::Good => {}
                        FrameOutcome::Bad => *stopped = !self.resync,
                        FrameOutcome::Short => *wrong = WrongFrame::short(frame),
                        FrameOutcome::Wait => break,
                        FrameOutcome::WrongLength(len) => {
                            let mut body = Vec::new();
                            let whole = frame;
                            let frame = length_repair::repaired(whole, rest, len, &mut body);
                            *wrong = WrongFrame::long(whole, &frame);
                            took = frame.len as usize;
                            let here = FrameBytes::new(rest, took, here, message_start);
                            let outcome = self.emit_raw(
                                coverage.as_deref_mut(),
                                &frame,
                                here,
                                metadata,
                                None,
                            );
                            *stopped = outcome == FrameOutcome::Bad && !self.resync;
                        }
                    }
                    at += took;
                }
            }
        }
        if let Some(coverage) = coverage
            && (*stopped || eof)
        {
            coverage.add(window.get(at..).unwrap_or_default(), base + at as u64);
            let pending = if eof {
                PendingBytes::StreamEnd
            } else {
                PendingBytes::BetweenFrames
            };
            self.emit_skipped(coverage, framer.framing(), pending);
        }
        if *stopped {
            at = window.len();
        }
        stream.base = base + at as u64;
        at
    }

    /// Emits a frame, with its own bytes if they are requested. A frame whose length needs repair is not emitted.
    fn emit_raw(
        &mut self,
        coverage: Option<&mut Coverage>,
        frame: &Frame<'_>,
        here: FrameBytes<'_>,
        metadata: &mut Vec<Metadata>,
        repair: Option<(&[u8], bool)>,
    ) -> FrameOutcome {
        let FrameBytes {
            taken,
            offset: here,
            message_start,
        } = here;
        let next = here + taken.len() as u64;
        let Some(coverage) = coverage else {
            return self.emit(frame, next, metadata, None, repair);
        };
        if let Some(outcome) = length_outcome(frame, repair, self.protocol) {
            return outcome;
        }
        if message_start.is_some_and(|start| start != frame.offset) {
            let raw = Some(coverage.inner_frame(taken));
            let outcome = self.emit(frame, next, metadata, raw, None);
            self.emit_skipped(coverage, frame.framing, PendingBytes::InsideMessage);
            return outcome;
        }
        coverage.start_frame(frame.offset, taken, here);
        self.emit_skipped(coverage, frame.framing, PendingBytes::BeforeFrame);
        let raw = Some(coverage.finish_frame(taken));
        let outcome = self.emit(frame, next, metadata, raw, None);
        coverage.clear();
        outcome
    }

    /// Emits bytes that belong to no frame, if they are too many to wait for the next frame.
    fn emit_skipped(&mut self, coverage: &mut Coverage, framing: Framing, pending: PendingBytes) {
        while let Some((offset, raw)) = coverage.surplus(pending) {
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
            let next = offset + len as u64;
            self.emit(&frame, next, &mut Vec::new(), Some(raw), None);
            coverage.drop_surplus();
        }
    }

    /// Reads a frame and emits it.
    pub(super) fn emit(
        &mut self,
        frame: &Frame<'_>,
        next: u64,
        metadata: &mut Vec<Metadata>,
        raw: Option<RawFrame<'_>>,
        repair: Option<(&[u8], bool)>,
    ) -> FrameOutcome {
        self.origin.time = self.times.of(frame.offset, next);
        let is_over = self.is_over();
        let plain = frame.fault.is_none() && frame.control.is_none();
        if plain && metadata.is_empty() && self.recovery.is_idle() {
            let (context, entry) = self.open.context(self.origin.direction, frame.head);
            let mut message = read(self.protocol, frame, &context, self.parsed);
            if message.faults.is_empty() {
                let direction = self.origin.direction;
                self.open.observe(direction, frame.head, entry, &message);
                message.guess |= self.tie;
                message.ending = ending(frame, next, is_over);
                let name = self.names.observe(self.origin, &message);
                message.inherit(name);
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
                let flow = (self.sink)(&decoded);
                self.is_halted |= self.can_halt && flow.is_break();
                return FrameOutcome::Good;
            }
        }
        self.emit_diagnosed(frame, next, metadata, raw, repair)
    }

    /// Returns `true` if the recording shows that nothing follows the bytes of the current frame.
    fn is_over(&self) -> bool {
        let times = self.silent_until.zip(self.origin.time);
        times.is_some_and(|(until, time)| time < until)
    }

    /// Emits a frame like [`Run::emit`] that may have an error or metadata.
    #[cold]
    fn emit_diagnosed(
        &mut self,
        frame: &Frame<'_>,
        next: u64,
        metadata: &mut Vec<Metadata>,
        raw: Option<RawFrame<'_>>,
        repair: Option<(&[u8], bool)>,
    ) -> FrameOutcome {
        if frame.fault.is_some()
            && let Some(outcome) = length_outcome(frame, repair, self.protocol)
        {
            return outcome;
        }
        let is_over = self.is_over();
        let (context, entry) = self.open.context(self.origin.direction, frame.head);
        let (mut remarks, mut injected) = (Vec::new(), String::new());
        let diagnosed = diagnose::with_cause(frame, self.protocol, self.flags);
        let frame = diagnosed.as_ref().unwrap_or(frame);
        let mut message = match frame.control {
            Some(kind) => control(kind, frame),
            None => read(self.protocol, frame, &context, self.parsed),
        };
        if !message.faults.is_empty()
            && let Some(outcome) = length_outcome(frame, repair, self.protocol)
        {
            return outcome;
        }
        // Bytes after an impossible length are a message only if they look like one.
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
        let torn = self.recovery.torn_start(frame, &message);
        if let Some((fault, len @ 1..)) = torn {
            let nothing = raw.as_ref().map(|_| RawFrame::NOTHING);
            self.emit_gap_line((0, len), frame.framing, fault, nothing);
            // The line for the gap has taken the place of the message that was read last.
            return self.emit(frame, next, metadata, raw, repair);
        }
        let torn = torn.map(|(fault, _)| fault);
        if let Some(fault) = torn.or_else(|| self.recovery.gap_fault(frame, &message)) {
            other = Frame {
                fault: Some(fault),
                ..frame.clone()
            };
            frame = &other;
        } else if self.recovery.is_skipped(frame, &message) {
            other = Frame {
                control: Some("skipped"),
                fault: None,
                ..frame.clone()
            };
            frame = &other;
            message = control("skipped", frame);
        }
        if let Some(hint) = self.recovery.line_hint(frame, &message, self.protocol)
            && let Some(first) = message.faults.first_mut()
        {
            first.hint = Some(hint.into());
        } else if let Some(first) = message.faults.first_mut()
            && frame.fault.is_none()
        {
            let cause = match diagnose::obvious_cause(frame) {
                None if first.hint.is_some() => None,
                _ => diagnose::diagnose(frame, first.code, self.protocol).map(Into::into),
            };
            first.hint = cause.or(first.hint.take());
        }
        if self.flags {
            message.faults.iter_mut().for_each(DecodeError::name_flags);
        }
        if !metadata.is_empty() {
            let root = message
                .value
                .and_then(|parsed| parsed.root(frame.view.bytes));
            let end = frame.offset + frame.len;
            let (mine, rest): (Vec<_>, _) = std::mem::take(metadata)
                .into_iter()
                .partition(|b| b.offset < end);
            *metadata = rest;
            remarks = diagnose::compare_metadata(&mine, frame, root);
            injected = injections(&mine, frame.offset);
        }
        let direction = self.origin.direction;
        self.open.observe(direction, frame.head, entry, &message);
        message.guess |= self.tie;
        message.ending = ending(frame, next, is_over);
        let name = self.names.observe(self.origin, &message);
        message.inherit(name);
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
        let flow = (self.sink)(&decoded);
        self.is_halted |= self.can_halt && flow.is_break();
        let first = message.faults.first().map(|fault| fault.code);
        match frame.fault {
            Some(_) => FrameOutcome::Bad,
            // A character may be cut in two.
            None if matches!(first, Some("ends-early" | "bad-utf8")) => FrameOutcome::Short,
            None => FrameOutcome::Good,
        }
    }
}

/// Returns how the message of a frame ends.
pub(super) fn ending(frame: &Frame<'_>, next: u64, is_over: bool) -> Ending {
    let is_whole = match &frame.fault {
        Some(fault) => fault.error.code != "truncated",
        None => {
            frame.framing != Framing::Lines
                || frame.control.is_some()
                || next != frame.offset + frame.len
        }
    };
    match (is_whole, is_over) {
        (true, _) => Ending::Whole,
        (false, false) => Ending::Cut,
        (false, true) => Ending::Missing,
    }
}

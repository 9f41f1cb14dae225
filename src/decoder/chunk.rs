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
use super::coverage::{Coverage, FrameBytes, PendingBytes, RawFrame};
use super::length_repair::{self, FrameOutcome, WrongFrame, length_outcome};
use super::message::{Emitter, MessageExtras, control, read};
use super::metadata::injections;
use super::open_requests::OpenRequests;
use super::recovery::Recovery;
use super::{Decoder, FlowSink, Metadata, Origin, diagnose};
use crate::encoding::Parsed;
use crate::error::DecodeError;
use crate::framing::{Backlog, Frame, Framer, Framing, Head, Places, Step, View};
use crate::protocol::{Direction, Evidence, Lane, Message, Protocol};
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
    /// Moved into its decoder during a chunk.
    pub(super) times: ChunkTimes,
    /// Its requests are also those that the answers of the connection's other direction answer.
    /// Moved into its decoder during a chunk.
    pub(super) open: OpenRequests,
    pub(super) recovery: Recovery,
}

/// The state for decoding one chunk.
pub(super) struct ChunkDecoder<'r, 'p, 's, 't> {
    pub(super) times: ChunkTimes,
    pub(super) parsed: &'r mut Parsed,
    pub(super) resync: bool,
    /// Settings in hints are flags.
    pub(super) flags: bool,
    pub(super) recovery: Recovery,
    pub(super) out: Emitter<'r, 'p, 's, 't>,
}

impl Decoder<'_> {
    /// Decodes bytes of one origin.
    pub(super) fn feed(
        &mut self,
        key: Lane,
        origin: Origin,
        bytes: &[u8],
        eof: bool,
        sink: &mut FlowSink<'_>,
    ) {
        self.run(key, origin, sink, |run, stream| {
            stream.ended = eof;
            run.feed(stream, bytes, eof);
        });
    }

    /// Ends one stream, once. `silent_until`: the recording shows that nothing follows up to then.
    pub(super) fn feed_end(
        &mut self,
        origin: Origin,
        silent_until: Option<i64>,
        sink: &mut FlowSink<'_>,
    ) {
        let key = origin.lane();
        if self.streams.get(&key).is_none_or(|stream| stream.ended) {
            return;
        }
        self.run(key, origin, sink, |run, stream| {
            stream.ended = true;
            run.out.silent_until = silent_until;
            run.feed(stream, &[], true);
        });
    }

    /// Decodes bytes until the sink breaks. Returns the number of consumed bytes.
    pub(super) fn feed_until(
        &mut self,
        key: Lane,
        origin: Origin,
        bytes: &[u8],
        sink: &mut FlowSink<'_>,
    ) -> usize {
        let mut taken = bytes.len();
        self.run(key, origin, sink, |run, stream| {
            stream.ended = false;
            run.out.can_halt = true;
            taken = run.feed(stream, bytes, false);
        });
        taken
    }

    /// Acts on a stream, with what the messages of its connection share.
    pub(super) fn run(
        &mut self,
        key: Lane,
        origin: Origin,
        sink: &mut FlowSink<'_>,
        act: impl FnOnce(&mut ChunkDecoder<'_, '_, '_, '_>, &mut Stream<'_>),
    ) {
        self.share_requests(key);
        let asking = (key.direction == Some(Direction::ToClient)).then(|| key.back());
        let asking_stream = asking.and_then(|asking| self.streams.get_mut(&asking));
        let asked = asking_stream.map(|asking| std::mem::take(&mut asking.open));
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let open = match asking {
            Some(_) => asked.unwrap_or_default(),
            None => std::mem::take(&mut stream.open),
        };
        let mut times = std::mem::take(&mut stream.times);
        let end = stream.base + stream.buffer.len() as u64;
        times.begin(end, origin.time);
        let mut run = ChunkDecoder {
            times,
            parsed: &mut self.parsed,
            resync: self.options.resync,
            flags: self.options.flags,
            recovery: std::mem::take(&mut stream.recovery),
            out: Emitter {
                protocol: stream.protocol,
                tie: stream.tie,
                open,
                origin,
                names: &mut self.names,
                index: &mut self.index,
                silent_until: None,
                sink,
                can_halt: false,
                is_halted: false,
            },
        };
        act(&mut run, stream);
        let open = run.out.open;
        stream.recovery = run.recovery;
        stream.times = run.times;
        match asking {
            None => stream.open = open,
            Some(asking) => {
                if let Some(asking) = self.streams.get_mut(&asking) {
                    asking.open = open;
                }
            }
        }
    }
}

/// The number of bytes of a chunk that are first copied to the rest of the chunk before: enough for most frames.
const FIRST_COPY: usize = 4 << 10;

impl ChunkDecoder<'_, '_, '_, '_> {
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
            if (last && !self.out.is_halted) || (self.out.is_halted && !is_own) {
                buffer.consume(done);
                stream.buffer = buffer;
                return copied;
            }
            if is_own {
                // All remaining bytes came with this chunk.
                copied -= left;
                buffer.consume(buffer.len());
                if self.out.is_halted {
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
        let left = if self.out.is_halted { unread.len() } else { 0 };
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
        while !*stopped && !self.out.is_halted {
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
                        let coverage = coverage.as_deref_mut();
                        self.emit_after(wrong, coverage, frame, here, metadata, repair)
                    };
                    match outcome {
                        FrameOutcome::Good => {}
                        FrameOutcome::Bad => *stopped = !self.resync,
                        FrameOutcome::Short => *wrong = WrongFrame::short(frame),
                        FrameOutcome::Wait => break,
                        FrameOutcome::WrongLength(len) => {
                            let mut body = Vec::new();
                            let repaired = length_repair::repaired(frame, rest, len, &mut body);
                            *wrong = WrongFrame::long(frame, &repaired);
                            took = repaired.len as usize;
                            let here = FrameBytes::new(rest, took, here, message_start);
                            let coverage = coverage.as_deref_mut();
                            let outcome = self.emit_raw(coverage, &repaired, here, metadata, None);
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

    /// Emits a frame, with what it has to do with the wrong length of the frame before.
    fn emit_after(
        &mut self,
        wrong: &mut Option<WrongFrame>,
        coverage: Option<&mut Coverage>,
        frame: &Frame<'_>,
        here: FrameBytes<'_>,
        metadata: &mut Vec<Metadata>,
        repair: Option<(&[u8], bool)>,
    ) -> FrameOutcome {
        let before = wrong.take();
        let explain = |wrong: &WrongFrame| wrong.explain(frame, self.out.protocol);
        let explained = before.as_ref().and_then(explain);
        let frame = explained.as_ref().unwrap_or(frame);
        let outcome = self.emit_raw(coverage, frame, here, metadata, repair);
        if outcome == FrameOutcome::Wait {
            *wrong = before;
        }
        outcome
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
        if let Some(outcome) = length_outcome(frame, repair, self.out.protocol) {
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
        self.out.origin.time = self.times.of(frame.offset, next);
        let plain = frame.fault.is_none() && frame.control.is_none();
        if plain && metadata.is_empty() && self.recovery.is_idle() {
            let protocol = self.out.protocol;
            let (context, entry) = self.out.context(frame);
            let message = read(protocol, frame, &context, self.parsed);
            if message.faults.is_empty() {
                let extras = MessageExtras {
                    next,
                    entry,
                    raw,
                    ..MessageExtras::default()
                };
                let _ = self.out.pass_on(frame, message, extras);
                return FrameOutcome::Good;
            }
        }
        self.emit_diagnosed(frame, next, metadata, raw, repair)
    }

    /// Emits a frame like [`ChunkDecoder::emit`] that may have an error or metadata.
    #[cold]
    fn emit_diagnosed(
        &mut self,
        frame: &Frame<'_>,
        next: u64,
        metadata: &mut Vec<Metadata>,
        raw: Option<RawFrame<'_>>,
        repair: Option<(&[u8], bool)>,
    ) -> FrameOutcome {
        let protocol = self.out.protocol;
        if frame.fault.is_some()
            && let Some(outcome) = length_outcome(frame, repair, protocol)
        {
            return outcome;
        }
        let diagnosed = diagnose::with_cause(frame, protocol, self.flags);
        let frame = diagnosed.as_ref().unwrap_or(frame);
        let (context, entry) = self.out.context(frame);
        let mut message = match frame.control {
            Some(kind) => control(kind, frame),
            None => read(protocol, frame, &context, self.parsed),
        };
        if !message.faults.is_empty()
            && let Some(outcome) = length_outcome(frame, repair, protocol)
        {
            return outcome;
        }
        if is_after_bad_length(frame, &message) {
            message = Message {
                valid: false,
                role: None,
                ..control("skipped", frame)
            };
        }
        let torn = self.recovery.torn_start(frame, &message);
        if let Some((fault, len @ 1..)) = torn {
            let nothing = raw.as_ref().map(|_| RawFrame::NOTHING);
            self.emit_gap_line((0, len), frame.framing, fault, nothing);
            // The line for the gap has taken the place of the message that was read last.
            return self.emit(frame, next, metadata, raw, repair);
        }
        let torn = torn.map(|(fault, _)| fault);
        let fault = torn.or_else(|| self.recovery.gap_fault(frame, &message));
        let is_skipped = fault.is_none() && self.recovery.is_skipped(frame, &message);
        let recovered = (fault.is_some() || is_skipped).then(|| Frame {
            control: if is_skipped {
                Some("skipped")
            } else {
                frame.control
            },
            fault,
            ..frame.clone()
        });
        let frame = recovered.as_ref().unwrap_or(frame);
        if is_skipped {
            message = control("skipped", frame);
        }
        let line_hint = self.recovery.line_hint(frame, &message, protocol);
        diagnose::explain(&mut message, frame, line_hint, protocol);
        if self.flags {
            message.faults.iter_mut().for_each(DecodeError::name_flags);
        }
        let (remarks, injected) = take_metadata(metadata, frame, &message);
        let first = message.faults.first().map(|fault| fault.code);
        let extras = MessageExtras {
            next,
            entry,
            raw,
            remarks: &remarks,
            injected: (!injected.is_empty()).then_some(injected.as_str()),
        };
        let _ = self.out.pass_on(frame, message, extras);
        match frame.fault {
            Some(_) => FrameOutcome::Bad,
            // A character may be cut in two.
            None if matches!(first, Some("ends-early" | "bad-utf8")) => FrameOutcome::Short,
            None => FrameOutcome::Good,
        }
    }
}

/// Returns `true` for bytes after an impossible length that do not look like a message.
fn is_after_bad_length(frame: &Frame<'_>, message: &Message<'_>) -> bool {
    let code = frame.fault.as_ref().map(|fault| fault.error.code);
    matches!(code, Some("bad-length" | "over-limit"))
        && message.evidence == Evidence::None
        && frame.control.is_none()
}

/// Takes the metadata of a frame: returns remarks that differ from its bytes, and the faults that wiretool applied.
fn take_metadata(
    metadata: &mut Vec<Metadata>,
    frame: &Frame<'_>,
    message: &Message<'_>,
) -> (Vec<String>, String) {
    let end = frame.offset + frame.len;
    let (mine, rest): (Vec<_>, _) = std::mem::take(metadata)
        .into_iter()
        .partition(|one| one.offset < end);
    *metadata = rest;
    let root = message
        .value
        .and_then(|parsed| parsed.root(frame.view.bytes));
    let remarks = diagnose::compare_metadata(&mine, frame, root);
    (remarks, injections(&mine, frame.offset))
}

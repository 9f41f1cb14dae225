//! Turns the items of a capture into messages and findings.
//!
//! ```text
//!   items --> Decoder --> messages --> Conversation --> PipelineSink: messages with verdicts, events with findings, notes
//! ```
//!
//! Each command that reads a capture is a [`PipelineSink`]. It declares before the run if it needs verdicts.

use super::{Conversation, Finding, Verdict};
use crate::capture::{Chunk, Event, EventKind, Header, Item, Problem};
use crate::decoder::{self, Decoded, Decoder, Origin};
use crate::encoding::Want;
use crate::protocol::Direction;
use std::ops::ControlFlow;

/// Receives the output of a pipeline. An error ends the run.
pub(crate) trait PipelineSink {
    type Error;
    /// Receives a message, with a verdict if the pipeline has a conversation.
    fn message(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
    ) -> Result<(), Self::Error>;
    /// Receives the first line of a recording.
    fn header(&mut self, header: &Header) {
        let _ = header;
    }
    /// Receives bytes before they are decoded.
    fn bytes(&mut self, origin: Origin, bytes: &[u8]) {
        let _ = (origin, bytes);
    }
    /// Receives an event between messages, with the findings that follow from it.
    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<(), Self::Error> {
        let _ = (event, findings);
        Ok(())
    }
    /// Receives a part of the capture that cannot be read.
    fn problem(&mut self, problem: &Problem) {
        let _ = problem;
    }
    /// Receives a note about bytes that the capture lacks.
    fn note(&mut self, text: &str) {
        let _ = text;
    }
    /// Returns what the sink needs of the following messages, if that has changed.
    fn want(&self) -> Option<Want> {
        None
    }
    /// Returns `true` if the sink needs no further message.
    fn is_done(&self) -> bool {
        false
    }
    /// Returns `true` if the following bytes must wait.
    fn is_paused(&self) -> bool {
        false
    }
}

/// Reads one capture.
#[allow(clippy::struct_excessive_bools)] // each is a property of its own
pub(crate) struct Pipeline<'p> {
    pub(crate) decoder: Decoder<'p>,
    /// Present if messages are judged.
    pub(crate) conversation: Option<Conversation<'p>>,
    /// The connection and the direction of bytes if the capture does not give them.
    pub(crate) conn: Option<u32>,
    pub(crate) direction: Option<Direction>,
    /// The capture numbers its connections.
    pub(crate) is_recording: bool,
    /// Ended connections are removed, because their numbers are reused.
    pub(crate) removes_ended: bool,
    /// The capture was made by another program: connections may be of different protocols, and their numbers are not reused.
    is_captured: bool,
    /// Leaves out times.
    pub(crate) without_times: bool,
    /// The connection of the last note about missing bytes.
    noted_conn: Option<u32>,
}

impl<'p> Pipeline<'p> {
    pub(crate) fn new(decoder: Decoder<'p>, conversation: Option<Conversation<'p>>) -> Self {
        Self {
            decoder,
            conversation,
            conn: None,
            direction: None,
            is_recording: false,
            is_captured: false,
            removes_ended: false,
            without_times: false,
            noted_conn: None,
        }
    }

    /// Handles the next item of the capture.
    pub(crate) fn item<S: PipelineSink>(
        &mut self,
        item: &Item<'_>,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        match item {
            Item::Header(header) => {
                self.header(header);
                sink.header(header);
            }
            Item::Chunk(chunk) => {
                let origin = self.origin_of(chunk);
                return self.push(origin, chunk.bytes, sink);
            }
            Item::Comment(comment) => {
                if let Some(metadata) = comment.metadata() {
                    self.decoder
                        .add_metadata(self.origin(comment.direction), metadata);
                }
            }
            Item::Gap(gap) => {
                sink.note(&format!(
                    "bytes {} to {} of the dump are missing",
                    gap.from, gap.to
                ));
                let (origin, len) = (self.origin(gap.direction), gap.to.saturating_sub(gap.from));
                return self.run(sink, |decoder, sink| decoder.gap(origin, len, sink));
            }
            Item::Event(event) => return self.event(*event, sink),
            Item::Problem(problem) => sink.problem(problem),
            Item::Break(_) => {}
        }
        Ok(())
    }

    /// Handles the first line of a recording.
    pub(crate) fn header(&mut self, header: &Header) {
        self.is_recording = true;
        if header.captured().is_some() {
            self.is_captured = true;
            self.decoder.detect_each_connection();
        }
        if let Some(protocol) = &header.protocol {
            self.decoder.expect(protocol);
        }
        if let Some(conversation) = &mut self.conversation {
            conversation.expect_header(header);
        }
    }

    fn event<S: PipelineSink>(
        &mut self,
        mut event: Event<'_>,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        if self.without_times {
            event.time = None;
        }
        if event
            .lost()
            .is_some_and(|(_, len)| len > 0 || !self.is_captured)
            && self.noted_conn.replace(event.conn) != Some(event.conn)
        {
            sink.note(&format!("c{}: bytes were not recorded", event.conn));
        }
        if event.what == EventKind::Open
            && let Some(server) = event.more.and_then(|more| more.get("server")?.as_str())
        {
            self.decoder.set_server(event.conn, server);
        }
        if let Some((origin, len)) = event.lost() {
            self.run(sink, |decoder, sink| decoder.gap(origin, len, sink))?;
        }
        if let EventKind::Datagram(bytes) = event.what {
            let origin = event.origin();
            self.run(sink, |decoder, sink| decoder.datagram(origin, bytes, sink))?;
        }
        if let Some((origin, metadata)) = event.fault() {
            self.decoder.add_metadata(origin, metadata);
        }
        if let Some(origin) = event.end() {
            let is_one = event.stream.is_some() || event.what == EventKind::Eof;
            let is_closed = self.is_captured && event.what == EventKind::Close;
            let is_over = (self.removes_ended || is_closed) && !is_one;
            self.run(sink, |decoder, sink| {
                if is_over {
                    decoder.close(origin.conn, sink);
                } else {
                    decoder.end(origin, sink);
                }
            })?;
        }
        let verdict = self.conversation.as_mut().map(|c| c.event(&event));
        sink.event(&event, verdict.map_or(&[], |verdict| verdict.findings))
    }

    /// Decodes bytes of one direction of a connection.
    pub(crate) fn push<S: PipelineSink>(
        &mut self,
        origin: Origin,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<(), S::Error> {
        sink.bytes(origin, bytes);
        self.run(sink, |decoder, sink| decoder.push(origin, bytes, sink))
    }

    /// Handles the end of the input. If this is not the end of the capture, truncated messages are left out.
    pub(crate) fn finish<S: PipelineSink>(
        &mut self,
        is_whole: bool,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        self.run(sink, |decoder, sink| {
            decoder.finish(&mut |decoded| {
                if is_whole || !decoded.is_faulty() {
                    sink(decoded);
                }
            });
        })
    }

    /// Decodes bytes like [`Self::push`], until the sink pauses. Returns the number of consumed bytes.
    pub(crate) fn push_until<S: PipelineSink>(
        &mut self,
        origin: Origin,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<usize, S::Error> {
        sink.bytes(origin, bytes);
        let conversation = &mut self.conversation;
        let mut result = Ok(());
        let taken = self.decoder.push_until(origin, bytes, &mut |decoded| {
            if result.is_ok() {
                let verdict = conversation.as_mut().map(|c| c.see(decoded));
                result = sink.message(decoded, verdict);
            }
            if result.is_err() || sink.is_paused() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        result.map(|()| taken)
    }

    /// Returns the origin of the bytes of a chunk.
    pub(crate) fn origin_of(&self, chunk: &Chunk<'_>) -> Origin {
        let origin = chunk.origin();
        Origin {
            conn: origin.conn.filter(|_| self.is_recording).or(self.conn),
            direction: origin.direction.or(self.direction),
            time: origin.time.filter(|_| !self.without_times),
            ..origin
        }
    }

    fn origin(&self, direction: Option<Direction>) -> Origin {
        Origin {
            conn: self.conn,
            direction: direction.or(self.direction),
            ..Origin::default()
        }
    }

    fn run<S: PipelineSink>(
        &mut self,
        sink: &mut S,
        decode: impl FnOnce(&mut Decoder<'p>, &mut decoder::FrameSink<'_>),
    ) -> Result<(), S::Error> {
        let conversation = &mut self.conversation;
        let mut result = Ok(());
        decode(&mut self.decoder, &mut |decoded| {
            if result.is_ok() && !sink.is_done() {
                let verdict = conversation.as_mut().map(|c| c.see(decoded));
                result = sink.message(decoded, verdict);
            }
        });
        if let Some(want) = sink.want() {
            self.decoder.set_want(want);
        }
        result
    }
}

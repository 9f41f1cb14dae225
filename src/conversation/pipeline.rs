//! A capture, from what its source gives to messages and findings.
//!
//! ```text
//!   items --> Decoder --> messages --> Conversation --> Sink: messages with verdicts, events with findings, notes
//! ```
//!
//! Each command that reads a capture is a [`Sink`]. It says before the run whether it needs verdicts.

use super::{Conversation, Finding, Verdict};
use crate::capture::{Event, Header, Item, Problem, What};
use crate::decoder::{self, Decoded, Decoder, Origin};
use crate::encoding::Want;
use crate::protocol::Direction;

/// Receives what a pipeline reads. An error ends the run.
pub(crate) trait Sink {
    type Error;
    /// A message, with a verdict where the pipeline has a conversation.
    fn message(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
    ) -> Result<(), Self::Error>;
    /// The first line of a recording.
    fn header(&mut self, header: &Header) {
        let _ = header;
    }
    /// Bytes that are about to be decoded.
    fn bytes(&mut self, origin: Origin, bytes: &[u8]) {
        let _ = (origin, bytes);
    }
    /// Something that happened between messages, with the findings that follow from it.
    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<(), Self::Error> {
        let _ = (event, findings);
        Ok(())
    }
    /// A part of the capture that cannot be read.
    fn problem(&mut self, problem: &Problem);
    /// Bytes that the capture lacks.
    fn note(&mut self, text: &str) {
        let _ = text;
    }
    /// What is to be known of the messages that follow, where that has changed.
    fn want(&self) -> Option<Want> {
        None
    }
    /// Whether no further message is wanted.
    fn is_done(&self) -> bool {
        false
    }
}

/// Reads one capture.
pub(crate) struct Pipeline<'p> {
    pub(crate) decoder: Decoder<'p>,
    /// Present where messages are judged.
    pub(crate) conversation: Option<Conversation<'p>>,
    /// The connection and direction of bytes whose capture does not tell them.
    pub(crate) conn: Option<u32>,
    pub(crate) direction: Option<Direction>,
    /// Whether connections are those that the capture numbers.
    pub(crate) is_recording: bool,
    /// Leaves out times.
    pub(crate) without_times: bool,
    /// The connection that a note last said lacks bytes.
    lacking: Option<u32>,
}

impl<'p> Pipeline<'p> {
    pub(crate) fn new(decoder: Decoder<'p>, conversation: Option<Conversation<'p>>) -> Self {
        Self {
            decoder,
            conversation,
            conn: None,
            direction: None,
            is_recording: false,
            without_times: false,
            lacking: None,
        }
    }

    /// The next item of the capture.
    pub(crate) fn item<S: Sink>(&mut self, item: &Item<'_>, sink: &mut S) -> Result<(), S::Error> {
        match item {
            Item::Header(header) => self.header(header, sink),
            Item::Chunk(chunk) => {
                let time = chunk.time.filter(|_| !self.without_times);
                let origin = Origin {
                    conn: self.is_recording.then_some(chunk.conn).or(self.conn),
                    direction: chunk.direction.or(self.direction),
                    time: time.and_then(|t| i64::try_from(t).ok()),
                };
                return self.push(origin, chunk.bytes, sink);
            }
            Item::Comment(comment) => {
                if let Some(beside) = comment.beside() {
                    self.decoder.beside(self.origin(comment.direction), beside);
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

    fn header(&mut self, header: &Header, sink: &mut impl Sink) {
        self.is_recording = true;
        if let Some(protocol) = &header.protocol {
            self.decoder.expect(protocol);
        }
        if let Some(conversation) = &mut self.conversation {
            conversation.expect_header(header);
        }
        sink.header(header);
    }

    fn event<S: Sink>(&mut self, mut event: Event<'_>, sink: &mut S) -> Result<(), S::Error> {
        if self.without_times {
            event.time = None;
        }
        if event.what == What::Lost && self.lacking.replace(event.conn) != Some(event.conn) {
            sink.note(&format!("conn {}: bytes went by unrecorded", event.conn));
        }
        if let Some((origin, len)) = event.lost() {
            self.run(sink, |decoder, sink| decoder.gap(origin, len, sink))?;
        }
        if let Some((origin, beside)) = event.fault() {
            self.decoder.beside(origin, beside);
        }
        if let Some(origin) = event.end() {
            self.run(sink, |decoder, sink| decoder.end(origin, sink))?;
        }
        let verdict = self.conversation.as_mut().map(|c| c.happened(&event));
        sink.event(&event, verdict.map_or(&[], |verdict| verdict.findings))
    }

    /// Bytes of one direction of a connection.
    pub(crate) fn push<S: Sink>(
        &mut self,
        origin: Origin,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<(), S::Error> {
        sink.bytes(origin, bytes);
        self.run(sink, |decoder, sink| decoder.push(origin, bytes, sink))
    }

    /// The end of what is read. Where that is not the end of the capture, what it cuts off is left out.
    pub(crate) fn finish<S: Sink>(&mut self, is_whole: bool, sink: &mut S) -> Result<(), S::Error> {
        self.run(sink, |decoder, sink| {
            decoder.finish(&mut |decoded| {
                if is_whole || !decoded.is_faulty() {
                    sink(decoded);
                }
            });
        })
    }

    fn origin(&self, direction: Option<Direction>) -> Origin {
        Origin {
            conn: self.conn,
            direction: direction.or(self.direction),
            time: None,
        }
    }

    fn run<S: Sink>(
        &mut self,
        sink: &mut S,
        decode: impl FnOnce(&mut Decoder<'p>, &mut decoder::Sink<'_>),
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

//! Reads one capture, from its bytes to messages and findings.
//!
//! ```text
//!   bytes --> CaptureInput --> Decoder --> Conversation --> sink(Output)
//!                 items         chunk          message
//!                 waiting       rest           waiting      after a break of the sink, until the next call
//! ```

use super::pipeline::{Pipeline, PipelineSink};
use super::{Conversation, Finding, Verdict};
use crate::capture::{
    CaptureInput, Event, Form, Header, Item, KeptChunk, KeptEvent, KeptItem, Problem,
};
use crate::decoder::{Decoded, Decoder, KeptMessage};
use crate::protocol::session::{Answer, SubscriptionChange};
use crate::protocol::{Direction, Protocol};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::ops::ControlFlow;

/// The number of bytes of a capture that are read at once; what they hold waits in memory after a break.
const PART_BYTES: usize = 16 << 10;

/// One output of a [`Run`], in the order of the capture.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Output<'a> {
    /// The first line of a recording.
    Header(&'a Header),
    /// A message, with its verdict; the verdict is empty if the run has no conversation.
    Message(&'a Decoded<'a>, Verdict<'a>),
    /// An event between messages, with the findings that follow from it.
    Event(&'a Event<'a>, &'a [Finding]),
    /// A part of the capture that cannot be read.
    Problem(&'a Problem),
    /// A note about bytes that the capture lacks.
    Note(&'a str),
    /// The end, with the findings that follow from it. Only a run with a conversation has it.
    End(Verdict<'a>),
}

/// Receives the outputs of a [`Run`]. After a break, the run can go on.
pub type RunSink<'s, B> = dyn FnMut(Output<'_>) -> ControlFlow<B> + 's;

/// Reads one capture: owns the input, the decoder and the conversation.
///
/// The sink can break after each output; then [`Run::read`] returns, and the next call goes on with the next output. So
/// a program can store, send or wait between two messages, without a copy of messages that it does not need.
///
/// ```
/// use std::ops::ControlFlow;
/// use wiretool::capture::{CaptureInput, Form};
/// use wiretool::conversation::{Output, Run};
/// use wiretool::decoder::{DecodeOptions, Decoder};
/// use wiretool::protocol::registry;
///
/// // A hex dump; a recording or a packet capture is read in the same way.
/// let dump = b"00 00 00 05 00 02 02 00 01  # not a message\n7b 7d\n";
/// let decoder = Decoder::new(DecodeOptions::new(vec![registry::find("saikuro").unwrap()]));
/// let mut run = Run::new(CaptureInput::new(Form::Auto), decoder, None);
///
/// // All outputs, one after the other.
/// let mut count = 0;
/// let mut sink = |output: Output<'_>| -> ControlFlow<()> {
///     if let Output::Message(decoded, _) = output {
///         count += usize::from(decoded.is_faulty());
///     }
///     ControlFlow::Continue(())
/// };
/// let mut rest = &dump[..];
/// let _ = run.read(&mut rest, &mut sink);
/// let _ = run.finish(&mut sink);
/// assert_eq!(count, 2);
///
/// // One message for each call, which can be kept.
/// let decoder = Decoder::new(DecodeOptions::new(vec![registry::find("saikuro").unwrap()]));
/// let mut run = Run::new(CaptureInput::new(Form::Auto), decoder, None);
/// let mut rest = &dump[..];
/// let mut kept = Vec::new();
/// kept.extend(std::iter::from_fn(|| run.next(&mut rest)));
/// kept.extend(std::iter::from_fn(|| run.next_at_end()));
/// assert_eq!(kept.len(), 2);
/// ```
pub struct Run<'p> {
    input: CaptureInput,
    pipeline: Pipeline<'p>,
    /// Items that were read before a break; the first may be a chunk that is read in part.
    items: VecDeque<KeptItem>,
    /// Outputs after a break that come before these items.
    outputs: VecDeque<KeptOutput>,
    state: RunState,
}

/// The part of a capture that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunState {
    Open,
    InputEnded,
    Ended,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Run");
        fields.field("decoder", &self.pipeline.decoder);
        fields.field("state", &self.state).finish_non_exhaustive()
    }
}

impl fmt::Debug for Conversation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Conversation");
        fields.field("protocol", &self.protocol.map(<dyn Protocol>::name));
        fields.field("judge", &self.judge);
        fields.finish_non_exhaustive()
    }
}

impl<'p> Run<'p> {
    /// Creates a run at the start of a capture. With a conversation, messages have verdicts.
    pub fn new(
        input: CaptureInput,
        decoder: Decoder<'p>,
        conversation: Option<Conversation<'p>>,
    ) -> Self {
        let mut pipeline = Pipeline::new(decoder, conversation);
        pipeline.is_recording = input.form() == Form::Recording;
        Self {
            input,
            pipeline,
            items: VecDeque::new(),
            outputs: VecDeque::new(),
            state: RunState::Open,
        }
    }

    /// Sets the direction of bytes for which the capture gives none.
    #[must_use]
    pub fn with_direction(mut self, direction: Direction) -> Self {
        self.pipeline.direction = Some(direction);
        self
    }

    /// Returns the input.
    pub fn input(&self) -> &CaptureInput {
        &self.input
    }

    /// Returns the decoder.
    pub fn decoder(&self) -> &Decoder<'p> {
        &self.pipeline.decoder
    }

    /// Returns the conversation, if messages are judged.
    pub fn conversation(&self) -> Option<&Conversation<'p>> {
        self.pipeline.conversation.as_ref()
    }

    /// Reads bytes of the capture, and removes from `bytes` what is read. A break of the sink is returned; call it again
    /// to go on, also if no bytes are left.
    pub fn read<B>(&mut self, bytes: &mut &[u8], sink: &mut RunSink<'_, B>) -> ControlFlow<B> {
        loop {
            self.pass_waiting(sink)?;
            if bytes.is_empty() {
                return ControlFlow::Continue(());
            }
            let (part, rest) = bytes.split_at(bytes.len().min(PART_BYTES));
            *bytes = rest;
            self.read_items(|input, take| input.push(part, take), sink)?;
        }
    }

    /// Ends the capture. After a break of the sink, call it again to go on.
    pub fn finish<B>(&mut self, sink: &mut RunSink<'_, B>) -> ControlFlow<B> {
        self.pass_waiting(sink)?;
        if self.state == RunState::Open {
            self.state = RunState::InputEnded;
            self.read_items(CaptureInput::finish, sink)?;
        }
        if self.state == RunState::InputEnded {
            self.state = RunState::Ended;
            let mut outlet = Outlet::new(sink, &mut self.outputs);
            let Ok(()) = self.pipeline.finish(true, &mut outlet);
            let decoder = &self.pipeline.decoder;
            if let Some(conversation) = &mut self.pipeline.conversation {
                let unknown = decoder.protocol().is_none() && decoder.undetected() > 0;
                let early = unknown.then(|| conversation.unrecognised(decoder).findings.to_vec());
                let mut findings = early.unwrap_or_default();
                let verdict = conversation.finish();
                findings.extend_from_slice(verdict.findings);
                outlet.pass(Output::End(Verdict {
                    findings: &findings,
                    ..verdict
                }));
            }
            return outlet.flow;
        }
        ControlFlow::Continue(())
    }

    /// Returns the next message, or `None` if it needs more bytes than these. Removes from `bytes` what is read.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<KeptMessage> {
        self.read(bytes, &mut keep_message).break_value()
    }

    /// Ends the capture, and returns the next message of the rest.
    pub fn next_at_end(&mut self) -> Option<KeptMessage> {
        self.finish(&mut keep_message).break_value()
    }

    /// Passes on what was read before a break.
    fn pass_waiting<B>(&mut self, sink: &mut RunSink<'_, B>) -> ControlFlow<B> {
        while let Some(output) = self.outputs.pop_front() {
            let protocols = &self.pipeline.decoder.options().protocols;
            output.pass(protocols, sink)?;
        }
        while let Some(mut item) = self.items.pop_front() {
            let mut outlet = Outlet::new(sink, &mut self.outputs);
            let left = read_item(&mut self.pipeline, &item.item(), &mut outlet);
            let flow = outlet.flow;
            if let (Some(taken), KeptItem::Chunk(chunk)) = (left, &mut item) {
                chunk.consume(taken);
                self.items.push_front(item);
            }
            flow?;
        }
        ControlFlow::Continue(())
    }

    /// Reads the items of a part of the capture.
    fn read_items<B>(
        &mut self,
        read: impl FnOnce(&mut CaptureInput, &mut dyn FnMut(Item<'_>)),
        sink: &mut RunSink<'_, B>,
    ) -> ControlFlow<B> {
        let (pipeline, items) = (&mut self.pipeline, &mut self.items);
        let mut outlet = Outlet::new(sink, &mut self.outputs);
        read(&mut self.input, &mut |item| {
            if outlet.is_paused() {
                items.push_back(KeptItem::of(&item));
            } else if let (Some(taken), Item::Chunk(chunk)) =
                (read_item(pipeline, &item, &mut outlet), &item)
            {
                items.push_back(KeptItem::Chunk(KeptChunk::of(chunk, taken)));
            }
        });
        outlet.flow
    }
}

/// Breaks at each message.
fn keep_message(output: Output<'_>) -> ControlFlow<KeptMessage> {
    match output {
        Output::Message(decoded, _) => ControlFlow::Break(decoded.keep()),
        _ => ControlFlow::Continue(()),
    }
}

/// Reads one item. If the sink breaks inside a chunk, returns the number of its bytes that were read.
fn read_item<B>(
    pipeline: &mut Pipeline<'_>,
    item: &Item<'_>,
    outlet: &mut Outlet<'_, '_, B>,
) -> Option<usize> {
    let Item::Chunk(chunk) = item else {
        let Ok(()) = pipeline.item(item, outlet);
        return None;
    };
    let origin = pipeline.origin_of(chunk);
    // All bytes of a chunk may be read before its last message is passed on.
    if chunk.bytes.is_empty() && pipeline.decoder.progress(origin).is_none() {
        return None;
    }
    let Ok(taken) = pipeline.push_until(origin, chunk.bytes, outlet);
    outlet.is_paused().then_some(taken)
}

/// Passes outputs on until the sink breaks, and keeps those after it.
struct Outlet<'r, 's, B> {
    sink: &'r mut RunSink<'s, B>,
    flow: ControlFlow<B>,
    kept: &'r mut VecDeque<KeptOutput>,
}

impl<'r, 's, B> Outlet<'r, 's, B> {
    fn new(sink: &'r mut RunSink<'s, B>, kept: &'r mut VecDeque<KeptOutput>) -> Self {
        Self {
            sink,
            flow: ControlFlow::Continue(()),
            kept,
        }
    }

    fn pass(&mut self, output: Output<'_>) {
        if self.flow.is_continue() {
            self.flow = (self.sink)(output);
        } else {
            self.kept.push_back(KeptOutput::of(&output));
        }
    }
}

impl<B> PipelineSink for Outlet<'_, '_, B> {
    type Error = Infallible;

    fn message(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
    ) -> Result<(), Infallible> {
        self.pass(Output::Message(decoded, verdict.unwrap_or_default()));
        Ok(())
    }

    fn header(&mut self, header: &Header) {
        self.pass(Output::Header(header));
    }

    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<(), Infallible> {
        self.pass(Output::Event(event, findings));
        Ok(())
    }

    fn problem(&mut self, problem: &Problem) {
        self.pass(Output::Problem(problem));
    }

    fn note(&mut self, text: &str) {
        self.pass(Output::Note(text));
    }

    fn is_paused(&self) -> bool {
        self.flow.is_break()
    }
}

/// An [`Output`] after a break.
enum KeptOutput {
    Header(Box<Header>),
    Message(Box<KeptMessage>, KeptVerdict),
    Event(Box<KeptEvent>, Vec<Finding>),
    Problem(Problem),
    Note(String),
    End(KeptVerdict),
}

struct KeptVerdict {
    findings: Vec<Finding>,
    answer: Option<Answer>,
    subscriptions: Vec<SubscriptionChange>,
}

impl KeptVerdict {
    fn of(verdict: Verdict<'_>) -> Self {
        Self {
            findings: verdict.findings.to_vec(),
            answer: verdict.answer.cloned(),
            subscriptions: verdict.subscriptions.to_vec(),
        }
    }

    fn verdict(&self) -> Verdict<'_> {
        Verdict {
            findings: &self.findings,
            answer: self.answer.as_ref(),
            subscriptions: &self.subscriptions,
            without_findings: false,
        }
    }
}

impl KeptOutput {
    fn of(output: &Output<'_>) -> Self {
        match output {
            Output::Header(header) => Self::Header(Box::new((*header).clone())),
            Output::Message(decoded, verdict) => {
                Self::Message(Box::new(decoded.keep()), KeptVerdict::of(*verdict))
            }
            Output::Event(event, findings) => {
                Self::Event(Box::new(KeptEvent::of(event)), findings.to_vec())
            }
            Output::Problem(problem) => Self::Problem((*problem).clone()),
            Output::Note(text) => Self::Note((*text).to_owned()),
            Output::End(verdict) => Self::End(KeptVerdict::of(*verdict)),
        }
    }

    fn pass<B>(&self, protocols: &[&dyn Protocol], sink: &mut RunSink<'_, B>) -> ControlFlow<B> {
        match self {
            Self::Header(header) => sink(Output::Header(header)),
            Self::Message(message, verdict) => {
                match protocols.iter().find(|p| p.name() == message.protocol) {
                    Some(protocol) => message.with(*protocol, |decoded| {
                        sink(Output::Message(decoded, verdict.verdict()))
                    }),
                    None => ControlFlow::Continue(()),
                }
            }
            Self::Event(event, findings) => sink(Output::Event(&event.event(), findings)),
            Self::Problem(problem) => sink(Output::Problem(problem)),
            Self::Note(text) => sink(Output::Note(text)),
            Self::End(verdict) => sink(Output::End(verdict.verdict())),
        }
    }
}

//! Reads one capture, from its bytes to messages and findings. Every command and every program reads through it.
//!
//! ```text
//!   bytes --> CaptureInput --> Decoder --> Conversation --> Sink::take(Output)
//!                 items        messages      verdicts
//! ```
//!
//! A live conversation has no input: its items are given to [`Run::item`].

mod items;
#[cfg(feature = "cli")]
mod sections;
mod sides;

use super::{Conversation, Finding, Judge, Verdict};
use crate::capture::{CaptureInput, Chunk, Event, Form, Item};
use crate::decoder::{DecodeOptions, Decoded, Decoder, FrameSink, KeptMessage, LateGuess, Origin};
use crate::encoding::Want;
use crate::protocol::Direction;
use crate::protocol::session::SessionConfig;
pub(crate) use items::Source;
use items::{ItemReader, Kept, PausableSink};
use std::convert::Infallible;
use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

/// The number of bytes of a capture that are read at once; what they hold waits in memory after a break.
const PART_BYTES: usize = 256 << 10;

/// Reads one capture: owns the input, the decoder and the conversation.
///
/// The sink can break after each output; then [`Run::read`] returns, and the next call goes on with the next output. So
/// a program can store, send or wait between two messages, without a copy of messages that it does not need.
///
/// ```
/// use std::ops::ControlFlow;
/// use wiretool::capture::{CaptureInput, Form};
/// use wiretool::conversation::{Output, Run};
/// use wiretool::decoder::DecodeOptions;
/// use wiretool::protocol::registry;
///
/// // A hex dump; a recording or a packet capture is read in the same way.
/// let dump = b"00 00 00 05 00 02 02 00 01  # not a message\n7b 7d\n";
/// let options = DecodeOptions::new(vec![registry::find("saikuro").unwrap()]);
///
/// // All outputs, one after the other.
/// let mut count = 0;
/// let mut run = Run::new(CaptureInput::new(Form::Auto), options.clone(), None);
/// let _ = run.read_all(dump, &mut |output: Output<'_>| -> ControlFlow<()> {
///     if let Output::Message(decoded, _) = output {
///         count += usize::from(decoded.is_faulty());
///     }
///     ControlFlow::Continue(())
/// });
/// assert_eq!(count, 2);
///
/// // One message for each call, which can be kept.
/// let mut run = Run::new(CaptureInput::new(Form::Auto), options, None);
/// let mut rest = &dump[..];
/// let mut kept = Vec::new();
/// kept.extend(std::iter::from_fn(|| run.next(&mut rest)));
/// kept.extend(std::iter::from_fn(|| run.next_at_end()));
/// assert_eq!(kept.len(), 2);
/// ```
pub struct Run<'p> {
    /// `None`: items are given.
    input: Option<CaptureInput>,
    reader: ItemReader<'p>,
    /// Present if rules are checked.
    conversation: Option<Conversation<'p>>,
    /// What waits after a break.
    kept: Kept,
    state: RunState,
}

/// One output of a [`Run`], in the order of the capture.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Output<'a> {
    /// The capture begins.
    Begin(&'a Run<'a>),
    /// An item of the capture, before what is read from it: a header, bytes, a problem. Bytes are of this origin.
    Item(&'a Item<'a>, Origin),
    /// A message. It has a verdict if rules are checked.
    Message(&'a Decoded<'a>, Option<Verdict<'a>>),
    /// An event between messages, with what follows from it.
    Event(&'a Event<'a>, Verdict<'a>),
    /// A note about bytes that the capture lacks.
    Note(&'a str),
    /// Everything that arrived is read, and nothing more arrived for this time: of live traffic, a pipe or a file that
    /// is followed.
    Pause(&'a Run<'a>, Duration),
    /// The capture is read to its end, and what follows from the end is not known yet.
    BeforeEnd(&'a Run<'a>),
    /// The end, with the findings that follow from it.
    End(&'a Run<'a>, &'a [Finding]),
}

impl<'a> Output<'a> {
    /// Returns the broken rules that it shows.
    pub fn findings(&self) -> &'a [Finding] {
        match self {
            Self::Message(_, verdict) => verdict.map_or(&[], |verdict| verdict.findings),
            Self::Event(_, verdict) => verdict.findings,
            Self::End(_, findings) => findings,
            _ => &[],
        }
    }
}

/// Takes what a [`Run`] reads: shows, counts, compares, stores. A closure is a sink, too.
pub trait Sink {
    /// The reason why it stops the run.
    type Break;

    /// Returns the details that it needs of the next messages; `None`: those of the options of the decoder.
    fn want(&self) -> Option<Want> {
        None
    }

    /// Returns the rules that it needs verdicts of. A run is created with them.
    fn rules(&self) -> Option<RuleSettings> {
        None
    }

    /// Takes the next output. After a break, the run can go on.
    fn take(&mut self, output: Output<'_>) -> ControlFlow<Self::Break>;
}

impl<B, F: FnMut(Output<'_>) -> ControlFlow<B>> Sink for F {
    type Break = B;

    fn take(&mut self, output: Output<'_>) -> ControlFlow<B> {
        self(output)
    }
}

/// How rules are checked, and what verdicts have beside them.
#[derive(Clone, Debug, Default)]
pub struct RuleSettings {
    /// The severity of each rule.
    pub judge: Judge,
    /// The settings of sessions.
    pub session: SessionConfig,
    /// Verdicts name operations.
    pub operations: bool,
}

/// The part of a capture that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunState {
    Start,
    Open,
    InputEnded,
    Decoded,
    Waited,
    Ended,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Run");
        fields.field("decoder", &self.reader.decoder);
        fields.field("state", &self.state).finish_non_exhaustive()
    }
}

impl<'p> Run<'p> {
    /// Creates a run at the start of a capture. With rules, messages have verdicts.
    pub fn new(
        input: CaptureInput,
        options: DecodeOptions<'p>,
        rules: Option<RuleSettings>,
    ) -> Self {
        Self::of_source(Source::default(), Some(input), options, rules)
    }

    /// Creates a run whose items are given, as those of a recording. Directions are never turned: what is read may be written
    /// again in the direction in which it came.
    pub(crate) fn of_items(options: DecodeOptions<'p>, rules: Option<RuleSettings>) -> Self {
        let mut run = Self::of_source(Source::default(), None, options, rules);
        run.reader.sides = None;
        run
    }

    /// Creates a run of a named capture. Pairs of one-way files do not give the order of messages of different
    /// directions.
    pub(crate) fn of_source(
        source: Source,
        input: Option<CaptureInput>,
        options: DecodeOptions<'p>,
        rules: Option<RuleSettings>,
    ) -> Self {
        let conversation = rules.map(|mut rules| {
            rules.session.order &= source.pairs.is_empty();
            let (all, judge) = (&options.protocols, &rules.judge);
            let mut conversation = Conversation::new(all, judge, rules.session);
            if let Some(sources) = source.merged {
                conversation.merge(sources);
            }
            if rules.operations {
                conversation.follow_operations();
            }
            conversation
        });
        let mut decoder = Decoder::new(options).starting_at(source.first_index);
        if source.merged.is_some() {
            decoder.detect_each_connection();
        }
        let has_connections = source.pairs.len() != 1 && input.is_none()
            || input.as_ref().map(CaptureInput::form) == Some(Form::Recording);
        Self {
            input,
            reader: ItemReader::new(decoder, source, has_connections),
            conversation,
            kept: Kept::default(),
            state: RunState::Start,
        }
    }

    /// Sets the direction of bytes for which the capture gives none.
    #[must_use]
    pub fn with_direction(mut self, direction: Direction) -> Self {
        self.reader.source.direction = Some(direction);
        self
    }

    /// Returns the connections whose protocol only the end of the capture showed.
    pub(crate) fn late_guesses(&mut self) -> Vec<LateGuess> {
        self.reader.decoder.late_guesses()
    }

    /// Returns what was known about the capture before it was read.
    pub(crate) fn source(&self) -> &Source {
        &self.reader.source
    }

    /// Returns the input, unless items are given.
    pub fn input(&self) -> Option<&CaptureInput> {
        self.input.as_ref()
    }

    /// Returns the decoder.
    pub fn decoder(&self) -> &Decoder<'p> {
        &self.reader.decoder
    }

    /// Returns the conversation, if rules are checked.
    pub fn conversation(&self) -> Option<&Conversation<'p>> {
        self.conversation.as_ref()
    }

    /// Returns the number of bytes of the input that were read.
    pub fn bytes(&self) -> u64 {
        self.reader.bytes
    }

    /// Returns `true` if there are bytes, and no protocol recognises them.
    pub fn is_unrecognised(&self) -> bool {
        self.bytes() > 0 && self.decoder().protocol().is_none()
    }

    /// Reads bytes of the capture, and removes from `bytes` what is read. A break of the sink is returned; call it again
    /// to go on, also if no bytes are left.
    pub fn read<S: Sink + ?Sized>(
        &mut self,
        bytes: &mut &[u8],
        sink: &mut S,
    ) -> ControlFlow<S::Break> {
        loop {
            self.pass_waiting(sink)?;
            if bytes.is_empty() {
                return ControlFlow::Continue(());
            }
            let (part, rest) = bytes.split_at(bytes.len().min(PART_BYTES));
            *bytes = rest;
            self.reader.bytes += part.len() as u64;
            self.read_items(|input, take| input.push(part, take), sink)?;
        }
    }

    /// Ends the capture. After a break of the sink, call it again to go on.
    pub fn finish<S: Sink + ?Sized>(&mut self, sink: &mut S) -> ControlFlow<S::Break> {
        self.end(true, sink)
    }

    /// Reads a capture whose bytes are all there, to its end.
    pub fn read_all<S: Sink + ?Sized>(
        &mut self,
        mut bytes: &[u8],
        sink: &mut S,
    ) -> ControlFlow<S::Break> {
        self.read(&mut bytes, sink)?;
        self.finish(sink)
    }

    /// Ends the capture before its end: what is cut there is no fault.
    pub(crate) fn cut<S: Sink + ?Sized>(&mut self, sink: &mut S) -> ControlFlow<S::Break> {
        self.end(false, sink)
    }

    fn end<S: Sink + ?Sized>(&mut self, is_whole: bool, sink: &mut S) -> ControlFlow<S::Break> {
        loop {
            self.pass_waiting(sink)?;
            match self.state {
                RunState::Start | RunState::Open => {
                    self.state = RunState::InputEnded;
                    let finish = |input: &mut CaptureInput, take: &mut dyn FnMut(Item<'_>)| {
                        input.finish(&mut |item| {
                            if is_whole || !matches!(item, Item::Problem(_)) {
                                take(item);
                            }
                        });
                    };
                    self.read_items(finish, sink)?;
                }
                RunState::InputEnded => {
                    self.state = RunState::Decoded;
                    self.step(sink, |reader, out| reader.finish(is_whole, out))?;
                }
                RunState::Decoded => {
                    self.state = RunState::Waited;
                    sink.take(Output::BeforeEnd(self))?;
                }
                RunState::Waited => {
                    self.state = RunState::Ended;
                    let findings = self.last_findings();
                    sink.take(Output::End(self, &findings))?;
                }
                RunState::Ended => return ControlFlow::Continue(()),
            }
        }
    }

    /// Drops what waits after a break: the sink needs no more of it.
    pub(crate) fn drop_waiting(&mut self) {
        self.kept = Kept::default();
    }

    /// Ends the conversation; returns its last findings.
    fn last_findings(&mut self) -> Vec<Finding> {
        let decoder = &self.reader.decoder;
        let Some(conversation) = &mut self.conversation else {
            return Vec::new();
        };
        let mut first = Vec::new();
        if decoder.protocol().is_none() && conversation.protocol().is_none() {
            first.extend_from_slice(conversation.unrecognised(decoder).findings);
        }
        first.extend(conversation.last_findings());
        first
    }

    /// Says that nothing arrived for some time.
    pub(crate) fn pause<S: Sink + ?Sized>(
        &mut self,
        silent: Duration,
        sink: &mut S,
    ) -> ControlFlow<S::Break> {
        self.pass_waiting(sink)?;
        sink.take(Output::Pause(self, silent))
    }

    /// Reads an item that was not read from the input.
    pub(crate) fn item<S: Sink + ?Sized>(
        &mut self,
        item: &Item<'_>,
        sink: &mut S,
    ) -> ControlFlow<S::Break> {
        self.step(sink, |reader, out| {
            if let Item::Chunk(chunk) = item {
                reader.bytes += chunk.bytes.len() as u64;
            }
            reader.take(item, out);
        })
    }

    /// Begins a connection of one of several captures.
    pub(crate) fn begin_connection(&mut self, conn: u32) {
        let captures = self.reader.source.merged;
        let header = captures.and_then(|all| all.header_of(Some(conn)));
        if let Some(protocol) = header.and_then(|header| header.protocol) {
            self.reader.decoder.expect_on(conn, &protocol);
        }
    }

    /// Says that bytes are missing in the stream of a chunk, before it.
    pub(crate) fn gap<S: Sink + ?Sized>(
        &mut self,
        chunk: &Chunk<'_>,
        len: u64,
        sink: &mut S,
    ) -> ControlFlow<S::Break> {
        let origin = self.reader.origin_of_chunk(chunk);
        self.decode(|decoder, sink| decoder.gap(origin, len, sink), sink)
    }

    /// Passes on the messages that a step of the decoder yields, as [`Run::item`] does with those of a chunk.
    pub(crate) fn decode<S: Sink + ?Sized>(
        &mut self,
        step: impl FnOnce(&mut Decoder<'p>, &mut FrameSink<'_>),
        sink: &mut S,
    ) -> ControlFlow<S::Break> {
        self.step(sink, |reader, out| reader.decode(out, step))
    }

    /// Performs a step of the decoder whose messages are ignored.
    pub(crate) fn ignore(&mut self, step: impl FnOnce(&mut Decoder<'p>, &mut FrameSink<'_>)) {
        step(&mut self.reader.decoder, &mut |_| {});
    }

    /// Passes on a message that was decoded before.
    pub(crate) fn message<S: Sink + ?Sized>(
        &mut self,
        decoded: &Decoded<'_>,
        sink: &mut S,
    ) -> ControlFlow<S::Break> {
        self.step(sink, |_, out| out.message(decoded))
    }

    /// Tells the conversation of an event after which the decoder needs no step.
    pub(crate) fn event<S: Sink + ?Sized>(
        &mut self,
        event: &Event<'_>,
        sink: &mut S,
    ) -> ControlFlow<S::Break> {
        self.step(sink, |_, out| out.event(event))
    }

    /// Reads an item whose outputs nothing needs.
    pub(crate) fn item_without_sink(&mut self, item: &Item<'_>) {
        let mut sink = |_: Output<'_>| ControlFlow::<Infallible>::Continue(());
        let ControlFlow::Continue(()) = self.item(item, &mut sink);
    }

    /// Tells the conversation of an event whose outputs nothing needs.
    pub(crate) fn event_without_sink(&mut self, event: &Event<'_>) {
        let mut sink = |_: Output<'_>| ControlFlow::<Infallible>::Continue(());
        let ControlFlow::Continue(()) = self.event(event, &mut sink);
    }

    /// Returns the next message, or `None` if it needs more bytes than these. Removes from `bytes` what is read.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<KeptMessage> {
        self.read(bytes, &mut keep_message).break_value()
    }

    /// Ends the capture, and returns the next message of the rest.
    pub fn next_at_end(&mut self) -> Option<KeptMessage> {
        self.finish(&mut keep_message).break_value()
    }

    /// Passes on what was read before a break, or the beginning.
    fn pass_waiting<S: Sink + ?Sized>(&mut self, sink: &mut S) -> ControlFlow<S::Break> {
        if self.state == RunState::Start {
            self.state = RunState::Open;
            sink.take(Output::Begin(self))?;
        }
        while let Some(output) = self.kept.outputs.pop_front() {
            let mut out = PausableSink::new(&mut self.conversation, sink, &mut self.kept);
            out.repeat(&output, &self.reader.decoder.options().protocols);
            out.flow?;
        }
        while let Some(item) = self.kept.items.pop_front() {
            let mut out = PausableSink::new(&mut self.conversation, sink, &mut self.kept);
            self.reader.take_waiting(item, &mut out);
            out.flow?;
        }
        ControlFlow::Continue(())
    }

    /// Passes on what waits, then what a step yields.
    fn step<S: Sink + ?Sized>(
        &mut self,
        sink: &mut S,
        step: impl FnOnce(&mut ItemReader<'p>, &mut PausableSink<'_, 'p, S>),
    ) -> ControlFlow<S::Break> {
        self.pass_waiting(sink)?;
        let mut out = PausableSink::new(&mut self.conversation, sink, &mut self.kept);
        step(&mut self.reader, &mut out);
        out.flow
    }

    /// Reads the items of a part of the capture.
    fn read_items<S: Sink + ?Sized>(
        &mut self,
        read: impl FnOnce(&mut CaptureInput, &mut dyn FnMut(Item<'_>)),
        sink: &mut S,
    ) -> ControlFlow<S::Break> {
        let Some(input) = &mut self.input else {
            return ControlFlow::Continue(());
        };
        let mut out = PausableSink::new(&mut self.conversation, sink, &mut self.kept);
        read(input, &mut |item| self.reader.take(&item, &mut out));
        out.flow
    }
}

/// Checks a whole recording; returns all findings, in the order of their messages.
///
/// ```
/// use wiretool::conversation::{RuleSettings, check, find_rule};
/// use wiretool::decoder::DecodeOptions;
/// use wiretool::protocol::registry;
///
/// let (_, rule) = find_rule("saikuro/seq-gap").unwrap();
/// let recording = rule.example().unwrap().fires;
/// let options = DecodeOptions::new(registry::all().to_vec());
/// let found = check(recording.as_bytes(), options, RuleSettings::default());
/// let found: Vec<String> = found.iter().map(|f| format!("{}: {}", f.name(), f.text)).collect();
/// assert_eq!(found, ["saikuro/seq-gap: seq is 2; it should be 1, after #1"]);
/// ```
pub fn check(recording: &[u8], options: DecodeOptions<'_>, rules: RuleSettings) -> Vec<Finding> {
    let mut run = Run::new(CaptureInput::new(Form::Recording), options, Some(rules));
    let mut found = Vec::new();
    let ControlFlow::Continue(()) = run.read_all(recording, &mut |output: Output<'_>| {
        found.extend_from_slice(output.findings());
        ControlFlow::<Infallible>::Continue(())
    });
    found
}

/// Breaks at each message.
fn keep_message(output: Output<'_>) -> ControlFlow<KeptMessage> {
    match output {
        Output::Message(decoded, _) => ControlFlow::Break(decoded.keep()),
        _ => ControlFlow::Continue(()),
    }
}

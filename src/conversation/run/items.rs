//! Turns the items of a capture into messages and findings.
//!
//! ```text
//!   chunk  --> Decoder --> messages --> Conversation --> messages with verdicts
//!   event  --> Decoder: the end of a stream; Conversation: findings
//!   header --> the protocol; gap --> lost bytes
//! ```

#[cfg(feature = "cli")]
use super::super::continued;
use super::sides::Sides;
use super::{Conversation, Output, Sink};
#[cfg(feature = "cli")]
use crate::capture::Time;
use crate::capture::recording::continued::CONTINUED;
#[cfg(feature = "cli")]
use crate::capture::recording::continued::Continued;
use crate::capture::{
    Chunk, Event, EventKind, Header, Item, KeptChunk, KeptEvent, KeptItem, Sources,
};
use crate::decoder::{Decoded, Decoder, FrameSink, KeptMessage, LateGuess, Origin};
use crate::protocol::{Direction, Protocol};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// A capture: its name, and what its bytes do not say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// The name of the file.
    pub name: String,
    /// The files of the client and of the server of each connection, if each file is one direction.
    pub pairs: Vec<[String; 2]>,
    /// It is one of several captures.
    pub is_one_of_several: bool,
    /// The connection and the direction of bytes for which the capture gives none.
    pub conn: Option<u32>,
    pub direction: Option<Direction>,
    /// The index of the first message.
    pub first_index: u64,
    /// Ended connections are removed, because they can be many, or their numbers are reused.
    pub removes_ended: bool,
    /// Times are left out.
    pub without_times: bool,
    /// The protocols of connections that only the end of the capture shows.
    pub late_guesses: Vec<LateGuess>,
    /// The captures, if several are one conversation.
    pub merged: Option<&'static Sources>,
}

/// What waits after a break.
#[derive(Default)]
pub(super) struct Kept {
    /// Items that were read before; the first may be a chunk that is read in part.
    pub items: VecDeque<WaitingItem>,
    /// Outputs that come before these items.
    pub outputs: VecDeque<KeptOutput>,
}

impl Kept {
    #[cfg(feature = "cli")]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.outputs.is_empty()
    }
}

/// An item that waits after a break: it is not read, or in part.
pub(super) struct WaitingItem {
    item: KeptItem,
    /// The sink has taken it as an item.
    is_announced: bool,
}

/// Reads the items of one capture.
pub(super) struct ItemReader<'p> {
    pub decoder: Decoder<'p>,
    pub source: Source,
    /// The number of bytes of the capture that were read.
    pub bytes: u64,
    /// The capture numbers its connections.
    has_connections: bool,
    /// The capture was made by another program: connections may be of different protocols, and their numbers are not reused.
    is_captured: bool,
    /// The connection of the last note about missing bytes.
    noted_conn: Option<u32>,
    /// The connections that the server opened; `None` if directions are never turned.
    pub sides: Option<Sides>,
    /// Another file, which is not read, goes on where the last one ends.
    is_continued: bool,
    /// The start of the recording.
    #[cfg(feature = "cli")]
    started: Option<Time>,
}

impl<'p> ItemReader<'p> {
    pub fn new(decoder: Decoder<'p>, source: Source, has_connections: bool) -> Self {
        Self {
            decoder,
            source,
            bytes: 0,
            has_connections,
            is_captured: false,
            noted_conn: None,
            sides: Some(Sides::default()),
            is_continued: false,
            #[cfg(feature = "cli")]
            started: None,
        }
    }

    /// Reads an item, or what a break leaves of it later.
    pub fn take<S: Sink + ?Sized>(&mut self, item: &Item<'_>, out: &mut PausableSink<'_, '_, S>) {
        let sides = self.sides.as_mut();
        let turned = sides.and_then(|sides| sides.turn(item, self.decoder.options()));
        let item = match &turned {
            Some((item, note)) => {
                if let Some(note) = note {
                    out.note(note);
                }
                item
            }
            None => item,
        };
        let is_announced = !out.is_paused();
        if is_announced {
            out.item(item, self.origin_of(item));
        }
        let item = if out.is_paused() {
            KeptItem::of(item)
        } else {
            match (self.read(item, out), item) {
                (Some(taken), Item::Chunk(chunk)) => KeptItem::Chunk(KeptChunk::of(chunk, taken)),
                _ => return,
            }
        };
        (out.kept.items).push_back(WaitingItem { item, is_announced });
    }

    /// Reads an item that has waited; what a break leaves of it waits again.
    pub fn take_waiting<S: Sink + ?Sized>(
        &mut self,
        mut waiting: WaitingItem,
        out: &mut PausableSink<'_, '_, S>,
    ) {
        if !waiting.is_announced {
            let item = waiting.item.item();
            out.item(&item, self.origin_of(&item));
            waiting.is_announced = true;
            if out.is_paused() {
                return out.kept.items.push_front(waiting);
            }
        }
        let Some(taken) = self.read(&waiting.item.item(), out) else {
            return;
        };
        if let KeptItem::Chunk(chunk) = &mut waiting.item {
            chunk.consume(taken);
        }
        out.kept.items.push_front(waiting);
    }

    /// Reads one item. If the sink breaks inside a chunk, returns the number of its bytes that were read.
    fn read<S: Sink + ?Sized>(
        &mut self,
        item: &Item<'_>,
        out: &mut PausableSink<'_, '_, S>,
    ) -> Option<usize> {
        match item {
            Item::Header(header) => self.header(header, out),
            Item::Chunk(chunk) => return self.chunk(chunk, out),
            Item::Comment(comment) => {
                if let Some(metadata) = comment.metadata() {
                    let origin = self.origin(comment.direction);
                    self.decoder.add_metadata(origin, metadata);
                }
            }
            Item::Gap(gap) => {
                out.note(&gap.to_string());
                let origin = self.origin(gap.direction);
                let len = gap.to.saturating_sub(gap.from);
                self.decode(out, |decoder, sink| decoder.gap(origin, len, sink));
            }
            Item::Event(event) => self.event(*event, out),
            Item::Problem(_) | Item::Break(_) => {}
        }
        None
    }

    /// Reads the first line of a recording.
    fn header<S: Sink + ?Sized>(&mut self, header: &Header, out: &mut PausableSink<'_, '_, S>) {
        self.has_connections = true;
        #[cfg(feature = "cli")]
        {
            self.started = header.started;
        }
        if self.source.merged.is_some() {
            return;
        }
        if header.captured().is_some() {
            self.is_captured = true;
            self.decoder.detect_each_connection();
            self.decoder.expect_late(&self.source.late_guesses);
        }
        if let Some(protocol) = &header.protocol {
            self.decoder.expect(protocol);
            let mut protocols = self.decoder.options().protocols.iter();
            let recorded = header.more.get(Header::DESCRIPTION);
            let recorded = recorded.and_then(|description| description.get("sha256"));
            let known = protocols
                .find(|known| known.name() == protocol)
                .and_then(|known| known.description_hash());
            if let Some((recorded, known)) = recorded.and_then(|hash| hash.as_str()).zip(known)
                && recorded != known
            {
                out.note(&format!(
                    "it was recorded with another description of {protocol}: SHA-256 {recorded}"
                ));
            }
        }
        if let Some(conversation) = out.conversation {
            conversation.expect_header(header);
        }
    }

    fn chunk<S: Sink + ?Sized>(
        &mut self,
        chunk: &Chunk<'_>,
        out: &mut PausableSink<'_, '_, S>,
    ) -> Option<usize> {
        let origin = self.origin_of_chunk(chunk);
        // All bytes of a chunk may be read before its last message is passed on.
        if chunk.bytes.is_empty() && self.decoder.progress(origin).is_none() {
            return None;
        }
        let taken = self
            .decoder
            .push_until(origin, chunk.bytes, &mut |decoded| {
                out.message(decoded);
                if out.is_paused() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
        self.set_want(out);
        out.is_paused().then_some(taken)
    }

    fn event<S: Sink + ?Sized>(&mut self, mut event: Event<'_>, out: &mut PausableSink<'_, '_, S>) {
        if self.source.without_times {
            event.time = None;
        }
        let is_captured = match self.source.merged {
            Some(sources) => sources.is_captured(event.conn),
            None => self.is_captured,
        };
        if event.lost().is_some_and(|(_, len)| len > 0 || !is_captured)
            && self.noted_conn.replace(event.conn) != Some(event.conn)
        {
            out.note(&format!("c{}: bytes were not recorded", event.conn));
        }
        #[cfg(feature = "cli")]
        if event.what == EventKind::Continued {
            self.go_on(&event, out);
        }
        if event.what == EventKind::Open
            && let Some(server) = event.more.and_then(|more| more.get("server")?.as_str())
        {
            self.decoder.set_server(event.conn, server);
        }
        if let Some((origin, len)) = event.lost() {
            self.decode(out, |decoder, sink| decoder.gap(origin, len, sink));
        }
        if let EventKind::Datagram(bytes) = event.what {
            let origin = event.origin();
            self.decode(out, |decoder, sink| decoder.datagram(origin, bytes, sink));
        }
        if let Some((origin, metadata)) = event.fault() {
            self.decoder.add_metadata(origin, metadata);
        }
        if let Some(origin) = event.end() {
            let is_one = event.stream.is_some() || event.what == EventKind::Eof;
            let is_closed = is_captured && event.what == EventKind::Close;
            let is_over = (self.source.removes_ended || is_closed) && !is_one;
            self.decode(out, |decoder, sink| {
                if is_over {
                    decoder.close(origin.conn, sink);
                } else {
                    decoder.end(origin, sink);
                }
            });
        }
        self.is_continued = event.what == EventKind::End
            && event.more.is_some_and(|more| more.contains_key(CONTINUED));
        // A file that is followed has no end of its own.
        if event.what == EventKind::End && self.source.merged.is_none() {
            self.decode(out, |decoder, sink| decoder.end_detection(sink));
        }
        out.event(&event);
    }

    /// Goes on where the earlier files of the recording, which are not read, end.
    #[cfg(feature = "cli")]
    fn go_on<S: Sink + ?Sized>(&mut self, event: &Event<'_>, out: &mut PausableSink<'_, '_, S>) {
        let continued = match event.more.map(Continued::read) {
            Some(Ok(continued)) => continued,
            Some(Err(error)) => {
                return out.note(&format!("the event continued cannot be read: {error}"));
            }
            None => return,
        };
        out.note("the recording has earlier files, which are not read");
        let started = self.started;
        let options = self.decoder.options().clone();
        if let Some(conversation) = out.conversation {
            // Nothing says what was between the messages, unless they are all.
            let is_whole = continued.index == continued.messages.len() as u64;
            for stream in continued.streams.iter().filter(|_| !is_whole) {
                conversation.lose(stream.place.conn);
            }
            for message in &continued.messages {
                continued::show(message, started, &options, conversation);
            }
        }
        self.decoder.continue_at(continued.index);
        for state in continued.streams.iter().filter_map(continued::state_of) {
            self.decode(out, |decoder, sink| decoder.resume(&state, sink));
        }
    }

    /// Ends all streams. If this is not the end of the capture, truncated messages are left out.
    pub fn finish<S: Sink + ?Sized>(&mut self, is_whole: bool, out: &mut PausableSink<'_, '_, S>) {
        let is_whole = is_whole && !self.is_continued;
        self.decode(out, |decoder, sink| {
            decoder.finish(&mut |decoded| {
                if is_whole || !decoded.is_faulty() {
                    sink(decoded);
                }
            });
        });
    }

    /// Passes on the messages that a step of the decoder yields.
    pub fn decode<S: Sink + ?Sized>(
        &mut self,
        out: &mut PausableSink<'_, '_, S>,
        step: impl FnOnce(&mut Decoder<'p>, &mut FrameSink<'_>),
    ) {
        step(&mut self.decoder, &mut |decoded| out.message(decoded));
        self.set_want(out);
    }

    fn set_want<S: Sink + ?Sized>(&mut self, out: &PausableSink<'_, '_, S>) {
        if let Some(want) = out.sink.want() {
            self.decoder.set_want(want);
        }
    }

    fn origin_of(&self, item: &Item<'_>) -> Origin {
        match item {
            Item::Chunk(chunk) => self.origin_of_chunk(chunk),
            Item::Gap(gap) => self.origin(gap.direction),
            _ => Origin::default(),
        }
    }

    pub fn origin_of_chunk(&self, chunk: &Chunk<'_>) -> Origin {
        let origin = chunk.origin();
        Origin {
            conn: origin
                .conn
                .filter(|_| self.has_connections)
                .or(self.source.conn),
            direction: origin.direction.or(self.source.direction),
            time: origin.time.filter(|_| !self.source.without_times),
            ..origin
        }
    }

    fn origin(&self, direction: Option<Direction>) -> Origin {
        Origin {
            conn: self.source.conn,
            direction: direction.or(self.source.direction),
            ..Origin::default()
        }
    }
}

/// What was read of an item after a break. Rules are checked when it is passed on.
pub(super) enum KeptOutput {
    Message(Box<KeptMessage>),
    Event(Box<KeptEvent>),
    Note(String),
}

/// Passes on what is read until the sink breaks, and keeps what comes after it.
pub(super) struct PausableSink<'r, 'p, S: Sink + ?Sized> {
    pub conversation: &'r mut Option<Conversation<'p>>,
    pub sink: &'r mut S,
    pub flow: ControlFlow<S::Break>,
    kept: &'r mut Kept,
}

impl<'r, 'p, S: Sink + ?Sized> PausableSink<'r, 'p, S> {
    pub fn new(
        conversation: &'r mut Option<Conversation<'p>>,
        sink: &'r mut S,
        kept: &'r mut Kept,
    ) -> Self {
        Self {
            conversation,
            sink,
            flow: ControlFlow::Continue(()),
            kept,
        }
    }

    /// Returns `true` after a break: what follows waits.
    pub fn is_paused(&self) -> bool {
        self.flow.is_break()
    }

    /// Announces an item, before a break.
    pub fn item(&mut self, item: &Item<'_>, origin: Origin) {
        self.flow = self.sink.take(Output::Item(item, origin));
    }

    /// Checks a message and passes it on.
    pub fn message(&mut self, decoded: &Decoded<'_>) {
        if self.is_paused() {
            let kept = Box::new(decoded.keep());
            return self.kept.outputs.push_back(KeptOutput::Message(kept));
        }
        let verdict = self.conversation.as_mut().map(|all| all.see(decoded));
        self.flow = self.sink.take(Output::Message(decoded, verdict));
    }

    /// Checks an event and passes it on.
    pub fn event(&mut self, event: &Event<'_>) {
        if self.is_paused() {
            let kept = Box::new(KeptEvent::of(event));
            return self.kept.outputs.push_back(KeptOutput::Event(kept));
        }
        let verdict = self.conversation.as_mut().map(|all| all.event(event));
        let verdict = verdict.unwrap_or_default();
        self.flow = self.sink.take(Output::Event(event, verdict));
    }

    pub fn note(&mut self, text: &str) {
        if self.is_paused() {
            let kept = KeptOutput::Note(text.to_owned());
            return self.kept.outputs.push_back(kept);
        }
        self.flow = self.sink.take(Output::Note(text));
    }

    /// Passes on what was kept.
    pub fn repeat(&mut self, kept: &KeptOutput, protocols: &[&dyn Protocol]) {
        match kept {
            KeptOutput::Message(message) => {
                let mut protocols = protocols.iter();
                if let Some(protocol) = protocols.find(|p| p.name() == message.protocol) {
                    message.with(*protocol, |decoded| self.message(decoded));
                }
            }
            KeptOutput::Event(event) => self.event(&event.event()),
            KeptOutput::Note(text) => self.note(text),
        }
    }
}

//! Parts of a capture whose messages other threads have read ahead.

use super::items::PausableSink;
use super::{Run, RunState, Sink};
use crate::capture::{Chunk, Item};
use crate::decoder::{Section, SectionMessage, SectionReader, Splitter};
use std::ops::ControlFlow;

impl<'p> Run<'p> {
    /// Returns what splits the rest of the capture into sections, if they can be read ahead. Then each section must be read, in order.
    pub(crate) fn splitter(&mut self) -> Option<Splitter<'p>> {
        let is_usual = self.state == RunState::Open && self.kept.is_empty();
        let input = self.input.as_ref().filter(|_| is_usual)?;
        if !input.passes_bytes() {
            return None;
        }
        let origin = self.reader.origin_of_chunk(&Chunk::of(None, &[]));
        self.reader.decoder.splitter(origin)
    }

    /// Reads a section. The messages that were read ahead are passed on, if the decoder would read the same; otherwise it reads the
    /// bytes. After a break, the run is over.
    pub(crate) fn read_section<S: Sink + ?Sized>(
        &mut self,
        section: &Section,
        messages: Option<Vec<SectionMessage<'_>>>,
        sink: &mut S,
    ) -> ControlFlow<S::Break> {
        // The sink has seen the others, and they are counted.
        let new = section.bytes().get(section.known()..).unwrap_or_default();
        let chunk = Chunk::of(None, new);
        let origin = self.reader.origin_of_chunk(&chunk);
        self.reader.bytes += new.len() as u64;
        let mut out = PausableSink::new(&mut self.conversation, sink, &mut self.kept);
        out.item(&Item::Chunk(chunk), origin);
        if out.is_paused() {
            return out.flow;
        }
        let decoder = &mut self.reader.decoder;
        let mut taken = 0;
        if let Some(messages) = messages.filter(|_| decoder.is_before(origin, section)) {
            taken = decoder.pass_section(origin, section, messages, &mut |decoded| {
                out.message(decoded);
                if out.is_paused() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
        }
        let rest = section.bytes().get(taken..).unwrap_or_default();
        (self.reader).decode(&mut out, |decoder, sink| {
            if !rest.is_empty() {
                decoder.push(origin, rest, sink);
            }
        });
        out.flow
    }

    /// Tells a reader of sections what is known now.
    pub(crate) fn update_reader(&self, reader: &mut SectionReader<'_>) {
        let origin = self.reader.origin_of_chunk(&Chunk::of(None, &[]));
        self.reader.decoder.update_reader(origin, reader);
    }
}

#[cfg(test)]
mod tests;

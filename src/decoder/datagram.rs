//! Datagrams of QUIC: lines of role control between the messages. No protocol uses them.

use super::fallible::unbroken;
use super::message::control;
use super::{Decoded, Decoder, FlowSink, FrameSink, Origin, RawFrame};
use crate::framing::{Frame, Framing, Head, Places, View};
use crate::span::Span;
use std::ops::ControlFlow;

/// The maximum number of bytes of datagrams that wait for the protocol.
const MAX_HELD: usize = 64 << 10;

/// Datagrams before the protocol is known.
#[derive(Default)]
pub(super) struct HeldDatagrams {
    all: Vec<(Origin, Vec<u8>)>,
    /// Their bytes, and the memory of each.
    memory: usize,
}

impl Decoder<'_> {
    /// Emits a datagram; one before the protocol is known waits for it.
    pub(crate) fn datagram(&mut self, origin: Origin, bytes: &[u8], sink: &mut FrameSink<'_>) {
        let _ = self.emit_datagram(origin, bytes, &mut unbroken(sink));
    }

    fn emit_datagram(
        &mut self,
        origin: Origin,
        bytes: &[u8],
        sink: &mut FlowSink<'_>,
    ) -> ControlFlow<()> {
        let Some(protocol) = self.protocol_of(origin.lane()) else {
            let memory = size_of::<(Origin, Vec<u8>)>() + bytes.len();
            if !self.given_up && self.datagrams.memory + memory <= MAX_HELD {
                self.datagrams.memory += memory;
                self.datagrams.all.push((origin, bytes.to_vec()));
            }
            return ControlFlow::Continue(());
        };
        let len = bytes.len();
        let frame = Frame {
            offset: 0,
            len: len as u64,
            framing: Framing::Message,
            head: Head::None,
            view: View {
                bytes,
                body: Span::new(0, len),
                places: Places::Run(0),
            },
            control: Some("datagram"),
            fault: None,
        };
        let message = control("datagram", &frame);
        let decoded = Decoded {
            index: self.index,
            origin,
            protocol,
            frame: &frame,
            message: &message,
            next: 0,
            remarks: &[],
            injected: None,
            // It is not part of a stream that can be written again.
            raw: self.options.want.is_exact().then_some(RawFrame::NOTHING),
        };
        self.index += 1;
        sink(&decoded)
    }

    /// Emits the datagrams that waited for a protocol that is known now.
    pub(super) fn emit_datagrams(&mut self, sink: &mut FlowSink<'_>) {
        if self.datagrams.all.is_empty() {
            return;
        }
        for (origin, bytes) in std::mem::take(&mut self.datagrams).all {
            if self.emit_datagram(origin, &bytes, sink).is_break() {
                return;
            }
        }
    }
}

//! Messages that outlive the call of the sink.

use super::{Decoded, Origin, RawFrame};
use crate::encoding::Parsed;
use crate::framing::{BufferFrame, Frame};
use crate::protocol::{Message, Protocol};
use crate::tape::Node;

/// A decoded message that owns its bytes and values: [`Decoded::keep`] makes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeptMessage {
    /// The number of the frame in the run, from 0.
    pub index: u64,
    /// Its connection, direction and time.
    pub origin: Origin,
    /// The name of its protocol.
    pub protocol: String,
    /// The stream offset up to which the stream is consumed after this frame.
    pub next: u64,
    frame: BufferFrame<'static>,
    /// Without its value.
    message: Message<'static>,
    value: Option<Parsed>,
    remarks: Vec<String>,
    injected: Option<Box<str>>,
    raw: Option<KeptBytes>,
}

/// A [`RawFrame`] that owns its bytes.
#[derive(Clone, Debug)]
struct KeptBytes {
    before: Vec<u8>,
    bytes: Vec<u8>,
    inside: bool,
    between: Vec<usize>,
}

impl Decoded<'_> {
    /// Copies the message, so that it can be stored, sent to another thread, or held across an `await`.
    pub fn keep(&self) -> KeptMessage {
        KeptMessage {
            index: self.index,
            origin: self.origin,
            protocol: self.protocol.name().to_owned(),
            next: self.next,
            frame: BufferFrame::owned(self.frame),
            message: self.message.clone().into_owned(),
            value: self.message.value.cloned(),
            remarks: self.remarks.to_vec(),
            injected: self.injected.map(Into::into),
            raw: self.raw.map(|raw| KeptBytes {
                before: raw.before.to_vec(),
                bytes: raw.bytes.to_vec(),
                inside: raw.inside,
                between: raw.between.to_vec(),
            }),
        }
    }
}

impl KeptMessage {
    /// Returns the message, with its value.
    pub fn message(&self) -> Message<'_> {
        Message {
            value: self.value.as_ref(),
            ..self.message.clone()
        }
    }

    /// Returns the frame.
    pub fn frame(&self) -> Frame<'_> {
        self.frame.frame()
    }

    /// Returns the value of the message.
    pub fn root(&self) -> Option<Node<'_>> {
        self.value.as_ref()?.root(&self.frame.bytes)
    }

    /// Passes the message to a function as the decoder passed it, for renderers and conversations. `protocol` is the
    /// protocol of that name.
    pub fn with<T>(&self, protocol: &dyn Protocol, visit: impl FnOnce(&Decoded<'_>) -> T) -> T {
        let raw = self.raw.as_ref().map(|raw| RawFrame {
            before: &raw.before,
            bytes: &raw.bytes,
            inside: raw.inside,
            between: &raw.between,
        });
        visit(&Decoded {
            index: self.index,
            origin: self.origin,
            protocol,
            frame: &self.frame(),
            message: &self.message(),
            next: self.next,
            remarks: &self.remarks,
            injected: self.injected.as_deref(),
            raw,
        })
    }
}

//! A decoded frame, as a sink receives it.

use super::{Origin, RawFrame};
use crate::encoding::{Encoding, lossless};
use crate::error::DecodeError;
use crate::framing::{Frame, Head};
use crate::protocol::{Message, Notes, Protocol, Role, Seen, annotate, hide};
use crate::tape::Node;
use std::borrow::Cow;
use std::fmt;

/// A decoded frame, borrowed from the decoder until the next one.
#[non_exhaustive]
pub struct Decoded<'a> {
    /// The number of the frame in the run, from 0.
    pub index: u64,
    /// Its connection, direction and time.
    pub origin: Origin,
    /// The protocol of the message.
    pub protocol: &'a dyn Protocol,
    /// Its bytes and its framing.
    pub frame: &'a Frame<'a>,
    /// Its meaning.
    pub message: &'a Message<'a>,
    /// The stream offset up to which the stream is consumed after this frame.
    pub next: u64,
    /// Differences between the remarks of a hex dump and the bytes.
    pub remarks: &'a [String],
    /// The faults that wiretool applied to it, as a recording reports them: `drop`.
    pub injected: Option<&'a str>,
    /// Its bytes as in the stream, with [`Want::Exact`](crate::encoding::Want::Exact).
    pub raw: Option<RawFrame<'a>>,
}

impl fmt::Debug for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Decoded");
        fields.field("index", &self.index);
        fields.field("origin", &self.origin);
        fields.field("protocol", &self.protocol.name());
        fields
            .field("message", self.message)
            .finish_non_exhaustive()
    }
}

impl<'a> Decoded<'a> {
    /// Returns its errors with absolute offsets, framing first, without errors that only follow from an earlier one.
    pub fn faults(&self) -> impl Iterator<Item = (u64, &'a DecodeError)> {
        let (frame, message) = (self.frame, self.message);
        let own = frame.fault.as_ref().map(|f| (f.offset, &*f.error));
        own.into_iter()
            .chain(message.faults.iter().filter_map(move |error| {
                let follows = own.is_some_and(|(_, own)| {
                    matches!(own.code, "bad-deflate" | "gap" | "compressed")
                        || own.code == error.code
                        || matches!(
                            error.code,
                            "ends-early" | "empty" | "bad-json" | "trailing-bytes"
                        )
                });
                (!follows).then(|| (frame.view.locate(error.span.at()), error))
            }))
    }

    /// Returns `true` if it has an error.
    pub fn is_faulty(&self) -> bool {
        self.faults().next().is_some()
    }

    /// Returns the status of a response of HTTP that has no message of the protocol, and does not accept the request.
    pub(crate) fn refusal_status(&self) -> Option<u16> {
        match self.frame.head {
            Head::Http {
                status: status @ 300..,
                event: false,
                ..
            } => Some(status).filter(|_| matches!(self.message.role, None | Some(Role::Control))),
            _ => None,
        }
    }

    /// Returns the parts that a session needs.
    pub fn seen(&self) -> Seen<'a> {
        Seen {
            index: self.index,
            origin: self.origin,
            frame: self.frame,
            message: self.message,
        }
    }

    /// Returns the value, for outputs that need positions; complete only with
    /// [`Want::Places`](crate::encoding::Want::Places).
    pub fn root(&self) -> Option<Node<'a>> {
        self.message.value?.root(self.frame.view.bytes)
    }

    /// Returns the encoding of the message, if it can be read and its protocol has several.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        let value = self.message.value.filter(|_| self.message.valid)?;
        let has_several = self.protocol.descriptor().encodings.len() > 1;
        has_several.then(|| value.packed_encoding().unwrap_or(Encoding::Json))
    }

    /// Writes the message as lossless JSON, on one line.
    pub fn write_message(&self, out: &mut Vec<u8>) {
        if let Some(parsed) = self.message.value {
            parsed.write_message(self.frame.view.bytes, out);
        }
    }

    /// Returns the message as lossless JSON.
    pub(crate) fn message_text(&self) -> String {
        let mut text = Vec::new();
        self.write_message(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Writes the message as lossless JSON; `full` can empty `out` during the call.
    pub(crate) fn pass_message(&self, out: &mut Vec<u8>, full: &mut dyn FnMut(&mut Vec<u8>)) {
        if let Some(parsed) = self.message.value {
            parsed.pass_message(self.frame.view.bytes, out, full);
        }
    }

    /// Adds the protocol's notes about its values.
    pub fn annotate(&self, notes: &mut Notes) {
        notes.clear();
        if let Some(root) = self.root() {
            annotate(self.protocol, root, self.message, notes);
        }
    }

    /// Replaces the secrets of this message in texts about it.
    pub fn hide_secrets(&self, texts: &mut dyn Iterator<Item = &mut String>) {
        let mut notes = Notes::of_secrets();
        self.annotate(&mut notes);
        let Some(root) = self.root().filter(|_| notes.hidden_values() > 0) else {
            return;
        };
        let mut secrets = Vec::new();
        root.each(&mut |node| {
            let parts = notes.secret_parts(node).iter();
            let text = node.text().filter(|_| parts.len() > 0);
            if let Some(text) = text {
                secrets.extend(
                    parts.filter_map(|part| text.get(part.range.clone()).map(str::to_owned)),
                );
            }
            let mut json = Vec::new();
            if notes.is_secret(node) && !node.is_map() && !node.is_array() {
                lossless::write(node, &mut json);
                secrets.extend(node.text().map(Cow::into_owned));
                secrets.extend(node.raw_content().map(hex::encode));
                secrets.push(String::from_utf8_lossy(&json).into_owned());
            }
        });
        for text in texts {
            for secret in &secrets {
                hide(secret, text);
            }
        }
    }
}

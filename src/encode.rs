//! Messages back into bytes: the reverse of decode.
//!
//! ```text
//!   {"v":1,…,"framing":"prefix","protocol":"saikuro","message":{…},"wire":{…}}   a line of decode -f json
//!   {"version":1,"type":"call",…}                                                a message alone
//!   Call { version: 1, kind: "call", … }                                         a value of your own types
//!      -protocol-> body -framing-> frame -> stream
//! ```

mod debug;
mod line;
#[cfg(test)]
mod tests;

use crate::encoding::{Encoding, json, msgpack};
use crate::error::Refusal;
use crate::framing::{FrameJoiner, Framing, LengthMode, Wire};
use crate::protocol::make::IdGen;
use crate::protocol::{Direction, MessageForm, Protocol, WriteOptions};
use crate::span::Span;
use crate::tape::{Node, Tape};
pub(crate) use line::is_line;
#[cfg(feature = "cli")]
pub(crate) use line::is_stderr;
use line::{method, raw_bytes};
use serde_core::ser::{Serialize, SerializeMap as _, Serializer};
use std::collections::BTreeMap;

/// The maximum depth of a written value.
const DEPTH: u32 = 128;

/// The choices of the user; lines of decode supply the open ones.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct EncodeOptions<'p> {
    /// The known protocols.
    pub protocols: Vec<&'p dyn Protocol>,
    /// The protocol of messages without a line of decode.
    pub protocol: Option<&'p dyn Protocol>,
    /// The framing.
    pub framing: Option<Framing>,
    /// What the length of a frame counts, if its framing has several ways.
    pub length_mode: Option<LengthMode>,
    /// The direction of messages that have none.
    pub direction: Option<Direction>,
    /// Write `MessagePack` or CBOR where the protocol also has JSON.
    pub packed: bool,
    /// Write values that are not messages of the protocol.
    pub force: bool,
    /// The length to write instead of the correct one.
    pub length: Option<u32>,
}

impl<'p> EncodeOptions<'p> {
    /// Creates options for messages of one protocol, with the framing of its peers on a plain
    /// stream.
    pub fn new(protocol: &'p dyn Protocol) -> Self {
        Self {
            protocols: vec![protocol],
            protocol: Some(protocol),
            ..Self::default()
        }
    }

    /// Creates options for lines of `decode -f json`, which name their protocol.
    pub fn lines(protocols: Vec<&'p dyn Protocol>) -> Self {
        Self {
            protocols,
            ..Self::default()
        }
    }
}

/// A frame that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoded {
    /// Its direction, if known.
    pub direction: Option<Direction>,
    /// Its bytes, and those of frames that waited for it.
    pub bytes: Vec<u8>,
}

/// Bytes in a value of your own types, for protocols that have bytes; in JSON, `{"$bin":"hex"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if !to.is_human_readable() {
            return to.serialize_bytes(self.0);
        }
        let mut map = to.serialize_map(Some(1))?;
        map.serialize_entry("$bin", &hex::encode(self.0))?;
        map.end()
    }
}

/// Encodes messages as frames.
pub struct Encoder<'p> {
    options: EncodeOptions<'p>,
    joiners: BTreeMap<(Option<i128>, Option<Direction>), FrameJoiner>,
    id_gen: IdGen,
    value: Vec<u8>,
    tape: Tape,
    body: Vec<u8>,
}

impl<'p> Encoder<'p> {
    /// Creates an encoder; `id_gen` generates the masks of WebSocket frames.
    pub fn new(options: EncodeOptions<'p>, id_gen: IdGen) -> Self {
        Self {
            options,
            joiners: BTreeMap::new(),
            id_gen,
            value: Vec::new(),
            tape: Tape::new(),
            body: Vec::new(),
        }
    }

    /// Writes a message from a value of your own types. A body of `MessagePack` is written with
    /// `rmp-serde`: bytes, extension types and floats of 32 bits are kept, and structs become maps.
    /// Other bodies are written with `serde_json`, in the form of `decode -f json`. The frame is
    /// appended to `out`, which stays unchanged after a refusal. Buffers are reused.
    pub fn write(
        &mut self,
        message: &(impl Serialize + ?Sized),
        direction: Option<Direction>,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut value = std::mem::take(&mut self.value);
        let mut tape = std::mem::take(&mut self.tape);
        value.clear();
        tape.clear(u32::MAX);
        let written = self.write_with_buffers(message, direction, &mut value, &mut tape, out);
        (self.value, self.tape) = (value, tape);
        written
    }

    fn write_with_buffers(
        &mut self,
        message: &(impl Serialize + ?Sized),
        direction: Option<Direction>,
        value: &mut Vec<u8>,
        tape: &mut Tape,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let target = self.target(None, direction)?;
        let parsed = if self.form(&target, &Wire::default()) == MessageForm::MessagePack {
            let mut to = rmp_serde::Serializer::new(&mut *value).with_struct_map();
            let written = message.serialize(&mut to);
            written.map_err(|e| Refusal::whole("a value that MessagePack has", e.to_string()))?;
            msgpack::parse(value, Span::new(0, value.len()), DEPTH, tape)
        } else {
            let written = serde_json::to_writer(&mut *value, message);
            written.map_err(|e| Refusal::whole("a value that JSON has", e.to_string()))?;
            json::parse(value, Span::new(0, value.len()), DEPTH, tape).map(drop)
        };
        parsed.map_err(|e| Refusal::whole(e.wanted, e.got))?;
        let root = tape.root(value);
        let root = root.ok_or_else(|| Refusal::whole("a value", "nothing"))?;
        self.framed_into(root, direction, Wire::default(), out)
    }

    /// Writes one line of decode, or one message.
    pub fn encode(&mut self, value: Node<'_>) -> Result<Encoded, Refusal> {
        if is_line(value) {
            self.line(value)
        } else {
            self.message(value, None)
        }
    }

    /// Writes a message without a line of decode.
    pub fn message(
        &mut self,
        message: Node<'_>,
        direction: Option<Direction>,
    ) -> Result<Encoded, Refusal> {
        self.framed(message, direction, Wire::default())
    }

    /// Writes a message with the framing details of `wire`.
    pub(crate) fn framed(
        &mut self,
        message: Node<'_>,
        direction: Option<Direction>,
        wire: Wire,
    ) -> Result<Encoded, Refusal> {
        let mut bytes = Vec::new();
        self.framed_into(message, direction, wire, &mut bytes)?;
        let direction = direction.or(self.options.direction);
        Ok(Encoded { direction, bytes })
    }

    fn framed_into(
        &mut self,
        message: Node<'_>,
        direction: Option<Direction>,
        mut wire: Wire,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let target = self.target(Some(message), direction)?;
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        let result = self.body(&target, &mut wire, &mut body);
        if result.is_ok() {
            self.frame(None, &target, &body, wire, out);
        }
        self.body = body;
        result
    }

    /// Returns the bytes of a message without its framing.
    pub(crate) fn body_of(&self, message: Node<'_>, wire: &mut Wire) -> Result<Vec<u8>, Refusal> {
        let target = self.target(Some(message), None)?;
        let mut body = Vec::new();
        self.body(&target, wire, &mut body)?;
        Ok(body)
    }

    /// Returns the target of a message without a line of decode.
    fn target<'n>(
        &self,
        message: Option<Node<'n>>,
        direction: Option<Direction>,
    ) -> Result<EncodeTarget<'p, 'n>, Refusal> {
        let Some(protocol) = self.options.protocol else {
            let got = "a message that does not name one";
            return Err(Refusal::new("", "a protocol", got));
        };
        Ok(EncodeTarget {
            protocol,
            framing: self.options.framing.unwrap_or(default_framing(protocol)),
            direction: direction.or(self.options.direction),
            message,
            force: self.options.force,
        })
    }

    /// Writes bytes as a frame, such as a ping, in the chosen direction.
    pub(crate) fn frame_of(&mut self, body: &[u8], wire: Wire) -> Result<Encoded, Refusal> {
        let target = self.target(None, None)?;
        Ok(self.encoded(None, &target, body, wire))
    }

    /// Writes the message of a line of decode.
    fn line(&mut self, line: Node<'_>) -> Result<Encoded, Refusal> {
        let text = |key: &str| line.get(key).and_then(Node::text);
        let name = text("protocol").unwrap_or_default();
        let named = self
            .options
            .protocols
            .iter()
            .copied()
            .find(|p| p.name() == name);
        let Some(protocol) = self.options.protocol.or(named) else {
            return Err(Refusal::new(
                "protocol",
                "the name of a protocol",
                format!("`{name}`"),
            ));
        };
        let framing_name = text("framing").unwrap_or_default();
        let known = protocol.framing_named(&framing_name);
        let Some(framing) = self.options.framing.or(known) else {
            return Err(Refusal::new(
                "framing",
                "the name of a framing",
                format!("`{framing_name}`"),
            ));
        };
        let direction = text("dir")
            .and_then(|d| Direction::from_name(&d))
            .or(self.options.direction);
        let mut wire = match line.get("wire") {
            Some(node) => Wire::read(node).map_err(|e| Refusal::new(e.field, e.wanted, e.got))?,
            None => Wire::default(),
        };
        let message = line.get("message");
        // A head that is not complete is a part of the body.
        if framing == Framing::Method && wire.method.is_none() && wire.header.is_empty() {
            wire.method = message.and_then(method);
        }
        // Bytes that decode read are written unchanged, correct or not.
        let written = EncodeTarget {
            protocol,
            framing,
            direction,
            message,
            force: true,
        };
        let mut body = Vec::new();
        match line.get("raw") {
            _ if wire.hex.is_some() => {}
            Some(raw) => {
                if matches!(framing, Framing::Custom(_)) {
                    // The message gives the header.
                    let _ = self.body(&written, &mut wire, &mut Vec::new());
                }
                body = raw_bytes(raw)?;
            }
            None => self
                .body(&written, &mut wire, &mut body)
                .map_err(|r| r.inside("message"))?,
        }
        let conn = line.get("conn").and_then(Node::as_i128);
        Ok(self.encoded(conn, &written, &body, wire))
    }

    /// Returns the form of a body.
    fn form(&self, target: &EncodeTarget<'_, '_>, wire: &Wire) -> MessageForm {
        let descriptor = target.protocol.descriptor();
        // After a length, and in binary messages, the documents specify the encoding that is not text. A description names
        // first what is written.
        let is_binary = || match wire.opcode {
            Some(opcode) => opcode == 2,
            None if target.protocol.description_hash().is_some() => {
                descriptor.encodings.first() != Some(&Encoding::Json)
            }
            None => target.framing == Framing::Prefix,
        };
        let packed = match (descriptor.encodings, wire.encoding) {
            ([Encoding::MessagePack | Encoding::Cbor], _) => true,
            ([_], _) => false,
            _ if self.options.packed => true,
            (_, None) => is_binary(),
            (_, Some(encoding)) => encoding != Encoding::Json,
        };
        if packed {
            descriptor.packed_form()
        } else {
            MessageForm::Json
        }
    }

    /// Writes a message's bytes; the values that framing needs go into `wire`.
    fn body(
        &self,
        target: &EncodeTarget<'_, '_>,
        wire: &mut Wire,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let Some(message) = target.message else {
            return Ok(());
        };
        let form = match self.form(target, wire) {
            form if target.framing == Framing::Header && wire.header.is_empty() => {
                header(message, form != MessageForm::Json)?
            }
            form => form,
        };
        let options = WriteOptions {
            force: target.force,
            direction: target.direction,
            form,
        };
        let written = target.protocol.write(message, &options, out)?;
        if target.framing == Framing::Http {
            let descriptor = target.protocol.descriptor();
            wire.encoding = wire.encoding.or(Some(descriptor.encoding_of(out)));
        }
        let header = out.drain(..written.head.header_len.min(out.len()));
        if wire.header.is_empty() {
            wire.header.extend(header);
        } else {
            drop(header);
        }
        if let (None, Some(id), true) =
            (wire.method, written.head.method_id, wire.header.is_empty())
        {
            let mode = self
                .options
                .length_mode
                .or(written.head.length_mode)
                .unwrap_or_default();
            wire.method = Some((id, mode));
        }
        Ok(())
    }

    fn encoded(
        &mut self,
        conn: Option<i128>,
        target: &EncodeTarget<'_, '_>,
        body: &[u8],
        wire: Wire,
    ) -> Encoded {
        let mut bytes = Vec::new();
        self.frame(conn, target, body, wire, &mut bytes);
        Encoded {
            direction: target.direction,
            bytes,
        }
    }

    fn frame(
        &mut self,
        conn: Option<i128>,
        target: &EncodeTarget<'_, '_>,
        body: &[u8],
        mut wire: Wire,
        out: &mut Vec<u8>,
    ) {
        wire.length = self.options.length.or(wire.length);
        if wire.hex.is_none() {
            let mask = self.id_gen.uuid();
            let mask = [mask[0], mask[1], mask[2], mask[3]];
            let line_end = target.protocol.descriptor().line_end;
            if target.framing == Framing::Lines && !line_end.is_empty() {
                wire.eol.get_or_insert_with(|| line_end.to_owned());
            }
            let from_client = target.direction == Some(Direction::ToServer);
            wire.fill_defaults(target.framing, body, from_client, mask);
        }
        let joiner = self.joiners.entry((conn, target.direction)).or_default();
        let writer = target.protocol.frame_writer(target.framing);
        joiner.push(writer, body, &wire, out);
    }

    /// Returns the frames that still wait for a message that never came.
    pub fn finish(&mut self) -> Vec<Encoded> {
        let joiners = std::mem::take(&mut self.joiners);
        let left = joiners.into_iter().map(|((_, direction), mut joiner)| {
            let mut bytes = Vec::new();
            joiner.finish(&mut bytes);
            Encoded { direction, bytes }
        });
        left.filter(|e| !e.bytes.is_empty()).collect()
    }
}

/// A message to write.
struct EncodeTarget<'p, 'n> {
    protocol: &'p dyn Protocol,
    framing: Framing,
    direction: Option<Direction>,
    message: Option<Node<'n>>,
    force: bool,
}

/// Returns the default framing of a protocol: that of its peers on a plain stream.
fn default_framing(protocol: &dyn Protocol) -> Framing {
    let framings = protocol.descriptor().framings;
    match framings.first() {
        // An HTTP exchange needs more than a message.
        Some(Framing::Http) if framings.contains(&Framing::WebSocket) => Framing::WebSocket,
        Some(first) => *first,
        None => Framing::Message,
    }
}

/// Returns the form with the kind before the message.
fn header(message: Node<'_>, packed: bool) -> Result<MessageForm, Refusal> {
    let kind = message.get("kind").and_then(Node::text).unwrap_or_default();
    match <[u8; 3]>::try_from(kind.as_bytes()) {
        Ok(kind) => Ok(MessageForm::Header {
            version: 1,
            kind,
            packed,
        }),
        Err(_) => Err(Refusal::new("kind", "three letters", format!("`{kind}`"))),
    }
}

//! Messages back into bytes: the reverse of decode.
//!
//! ```text
//!   {"v":1,…,"framing":"prefix","protocol":"saikuro","message":{…},"wire":{…}}   a line of decode -f json
//!   {"version":1,"type":"call",…}                                                a message alone
//!   Call { version: 1, kind: "call", … }                                         a value of one's own types
//!      -protocol-> body -framing-> frame -> stream
//! ```

use crate::encoding::json;
use crate::error::Refusal;
use crate::framing::{Framing, LengthMode, Weave, Wire};
use crate::protocol::make::Mint;
use crate::protocol::{Direction, Form, Protocol, WriteOptions};
use crate::span::Span;
use crate::tape::{Node, Tape};
use serde_core::ser::{Serialize, SerializeMap as _, Serializer};
use std::collections::BTreeMap;

/// Deepest value of a user's own types that is written.
const DEPTH: u32 = 128;

/// What the user chose; lines of decode bring their own where it is left open.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Options<'p> {
    /// The protocols there are.
    pub protocols: Vec<&'p dyn Protocol>,
    /// The protocol of messages that stand alone.
    pub protocol: Option<&'p dyn Protocol>,
    /// How messages are delimited.
    pub framing: Option<Framing>,
    /// How telequick's lengths count.
    pub length_mode: Option<LengthMode>,
    /// Which way messages go that do not say.
    pub direction: Option<Direction>,
    /// Write `MessagePack` where the protocol also has JSON.
    pub packed: bool,
    /// Write what is none of the protocol's messages.
    pub force: bool,
    /// The length to write in place of the right one.
    pub length: Option<u32>,
}

impl<'p> Options<'p> {
    /// For messages of one protocol, delimited as its peers do over a plain stream.
    pub fn new(protocol: &'p dyn Protocol) -> Self {
        Self {
            protocols: vec![protocol],
            protocol: Some(protocol),
            ..Self::default()
        }
    }

    /// For lines of `decode -f json`, which name their protocol.
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
    /// Which way it goes, where known.
    pub direction: Option<Direction>,
    /// Its bytes, and those of frames that waited for it.
    pub bytes: Vec<u8>,
}

/// Bytes in a value of one's own types, for protocols that have bytes: `{"$bin":"hex"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(1))?;
        map.serialize_entry("$bin", &hex::encode(self.0))?;
        map.end()
    }
}

/// Turns messages into frames.
pub struct Encoder<'p> {
    options: Options<'p>,
    weaves: BTreeMap<(Option<i128>, Option<Direction>), Weave>,
    mint: Mint,
    text: Vec<u8>,
    tape: Tape,
    body: Vec<u8>,
}

impl<'p> Encoder<'p> {
    /// An encoder; masks of WebSocket frames follow from the mint.
    pub fn new(options: Options<'p>, mint: Mint) -> Self {
        Self {
            options,
            weaves: BTreeMap::new(),
            mint,
            text: Vec::new(),
            tape: Tape::new(),
            body: Vec::new(),
        }
    }

    /// Writes a message that is a value of one's own types, in the form of `decode -f json`. The frame is added to `out`,
    /// which is as it was after a refusal; buffers are used again from message to message.
    pub fn write(
        &mut self,
        message: &(impl Serialize + ?Sized),
        direction: Option<Direction>,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut text = std::mem::take(&mut self.text);
        let mut tape = std::mem::take(&mut self.tape);
        text.clear();
        tape.clear(u32::MAX);
        let written = self.write_through(message, direction, &mut text, &mut tape, out);
        (self.text, self.tape) = (text, tape);
        written
    }

    fn write_through(
        &mut self,
        message: &(impl Serialize + ?Sized),
        direction: Option<Direction>,
        text: &mut Vec<u8>,
        tape: &mut Tape,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        serde_json::to_writer(&mut *text, message)
            .map_err(|e| Refusal::whole("a value that JSON has", e.to_string()))?;
        json::parse(text, Span::new(0, text.len()), DEPTH, tape)
            .map_err(|e| Refusal::whole(e.wanted, e.got))?;
        let root = tape.root(text);
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

    /// Writes a message that stands alone.
    pub fn message(
        &mut self,
        message: Node<'_>,
        direction: Option<Direction>,
    ) -> Result<Encoded, Refusal> {
        self.framed(message, direction, Wire::default())
    }

    /// Writes a message that stands alone, framed as `wire` has it.
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
        let Some(protocol) = self.options.protocol else {
            return Err(Refusal::new(
                "",
                "a protocol (-p)",
                "a message that does not name one",
            ));
        };
        let framing = self.options.framing.unwrap_or(default_framing(protocol));
        let direction = direction.or(self.options.direction);
        let written = Said {
            protocol,
            framing,
            direction,
            message: Some(message),
            force: self.options.force,
        };
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        let result = self.body(&written, &mut wire, &mut body);
        if result.is_ok() {
            self.frame(None, &written, &body, wire, out);
        }
        self.body = body;
        result
    }

    /// The bytes of a message that stands alone, without what delimits it.
    pub(crate) fn body_of(&self, message: Node<'_>, wire: &mut Wire) -> Result<Vec<u8>, Refusal> {
        let Some(protocol) = self.options.protocol else {
            return Err(Refusal::new("", "a protocol", "none"));
        };
        let said = Said {
            protocol,
            framing: self.options.framing.unwrap_or(default_framing(protocol)),
            direction: self.options.direction,
            message: Some(message),
            force: self.options.force,
        };
        let mut body = Vec::new();
        self.body(&said, wire, &mut body)?;
        Ok(body)
    }

    /// Writes bytes as a frame, such as a ping, in the direction that was chosen.
    pub(crate) fn frame_of(&mut self, body: &[u8], wire: Wire) -> Result<Encoded, Refusal> {
        let Some(protocol) = self.options.protocol else {
            return Err(Refusal::new("", "a protocol", "none"));
        };
        let said = Said {
            protocol,
            framing: self.options.framing.unwrap_or(default_framing(protocol)),
            direction: self.options.direction,
            message: None,
            force: true,
        };
        Ok(self.encoded(None, &said, body, wire))
    }

    /// Writes what a line of decode tells.
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
                "a protocol that there is",
                format!("`{name}`"),
            ));
        };
        let said = text("framing").unwrap_or_default();
        let own = || {
            protocol
                .descriptor()
                .framings
                .iter()
                .find(|f| f.name() == said)
        };
        let known = Framing::from_name(&said).or_else(|| own().copied());
        let Some(framing) = self.options.framing.or(known) else {
            return Err(Refusal::new(
                "framing",
                "a framing that there is",
                format!("`{said}`"),
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
        if framing == Framing::Method && wire.method.is_none() {
            wire.method = message.and_then(method);
        }
        // What decode saw is written as it was, right or wrong.
        let written = Said {
            protocol,
            framing,
            direction,
            message,
            force: true,
        };
        let mut body = Vec::new();
        match line.get("raw") {
            _ if wire.hex.is_some() => {}
            Some(raw) => body = raw_bytes(raw)?,
            None => self
                .body(&written, &mut wire, &mut body)
                .map_err(|r| r.inside("message"))?,
        }
        let conn = line.get("conn").and_then(Node::as_i128);
        Ok(self.encoded(conn, &written, &body, wire))
    }

    /// A message's bytes; what framing must know of it goes into `wire`.
    fn body(&self, said: &Said<'_, '_>, wire: &mut Wire, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let Some(message) = said.message else {
            return Ok(());
        };
        // Behind a length, and in binary messages, the documents have MessagePack.
        let binary = wire
            .opcode
            .map_or(said.framing == Framing::Prefix, |opcode| opcode == 2);
        let packed = self.options.packed || wire.packed.unwrap_or(binary);
        let form = match (said.framing, packed) {
            (Framing::Header, packed) if wire.header.is_empty() => header(message, packed)?,
            (_, true) => Form::MessagePack,
            _ => Form::Json,
        };
        let options = WriteOptions {
            force: said.force,
            direction: said.direction,
            form,
        };
        let written = said.protocol.write(message, &options, out)?;
        if let (None, Some(id)) = (wire.method, written.head.method_id) {
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
        said: &Said<'_, '_>,
        body: &[u8],
        wire: Wire,
    ) -> Encoded {
        let mut bytes = Vec::new();
        self.frame(conn, said, body, wire, &mut bytes);
        Encoded {
            direction: said.direction,
            bytes,
        }
    }

    fn frame(
        &mut self,
        conn: Option<i128>,
        said: &Said<'_, '_>,
        body: &[u8],
        mut wire: Wire,
        out: &mut Vec<u8>,
    ) {
        wire.length = self.options.length.or(wire.length);
        if wire.hex.is_none() {
            let mask = self.mint.uuid();
            let mask = [mask[0], mask[1], mask[2], mask[3]];
            let from_client = said.direction == Some(Direction::ToServer);
            wire.fill(said.framing, body, from_client, mask);
        }
        let weave = self.weaves.entry((conn, said.direction)).or_default();
        weave.push(said.framing, body, &wire, out);
    }

    /// Everything that still waits for a message that never came.
    pub fn finish(&mut self) -> Vec<Encoded> {
        let weaves = std::mem::take(&mut self.weaves);
        let left = weaves.into_iter().map(|((_, direction), mut weave)| {
            let mut bytes = Vec::new();
            weave.finish(&mut bytes);
            Encoded { direction, bytes }
        });
        left.filter(|e| !e.bytes.is_empty()).collect()
    }
}

/// What is to be written.
struct Said<'p, 'n> {
    protocol: &'p dyn Protocol,
    framing: Framing,
    direction: Option<Direction>,
    message: Option<Node<'n>>,
    force: bool,
}

/// Whether a value is a line of decode: it has the contract's version, and says how it was framed.
pub(crate) fn is_line(value: Node<'_>) -> bool {
    value.get("v").is_some_and(|v| v.as_i128() == Some(1))
        && value.get("index").is_some()
        && value.get("framing").is_some()
}

/// How a protocol's messages are delimited where nothing is said: as its peers do over a plain stream.
fn default_framing(protocol: &dyn Protocol) -> Framing {
    match protocol.descriptor().framings.first() {
        // An exchange needs more than a message.
        Some(Framing::Http) => Framing::WebSocket,
        Some(first) => *first,
        None => Framing::Message,
    }
}

/// The method id and the way the length counts, as a telequick message tells them.
fn method(message: Node<'_>) -> Option<(u32, LengthMode)> {
    let id = u32::try_from(message.get("method_id")?.as_i128()?).ok()?;
    let mode = message.get("length_mode").and_then(Node::text);
    Some((
        id,
        mode.and_then(|mode| LengthMode::from_name(&mode))
            .unwrap_or_default(),
    ))
}

/// The form with the kind before the message.
fn header(message: Node<'_>, packed: bool) -> Result<Form, Refusal> {
    let kind = message.get("kind").and_then(Node::text).unwrap_or_default();
    match <[u8; 3]>::try_from(kind.as_bytes()) {
        Ok(kind) => Ok(Form::Header {
            version: 1,
            kind,
            packed,
        }),
        Err(_) => Err(Refusal::new("kind", "three letters", format!("`{kind}`"))),
    }
}

/// `raw` of a line: text, or bytes in hex.
fn raw_bytes(raw: Node<'_>) -> Result<Vec<u8>, Refusal> {
    if let Some(text) = raw.text() {
        return Ok(text.into_owned().into_bytes());
    }
    let digits = raw.get("$bin").and_then(Node::text);
    let bytes = digits.and_then(|d| hex::decode(d.as_bytes()).ok());
    bytes.ok_or_else(|| Refusal::new("raw", "text, or {\"$bin\":\"hex\"}", raw.describe()))
}

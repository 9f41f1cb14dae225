//! Messages back into bytes: the reverse of decode.
//!
//! ```text
//!   {"v":1,…,"framing":"prefix","protocol":"saikuro","message":{…},"wire":{…}}   a line of decode -f json
//!   {"version":1,"type":"call",…}                                                a message alone
//!      -protocol-> body -framing-> frame -> stream
//! ```

use crate::error::Refusal;
use crate::framing::{Framing, LengthMode, Weave, Wire};
use crate::protocol::make::Mint;
use crate::protocol::{Direction, Form, Protocol, WriteOptions};
use crate::tape::Node;
use std::collections::BTreeMap;

/// What the user chose; lines of decode bring their own where it is left open.
#[derive(Clone, Default)]
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

/// A frame that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// Which way it goes, where known.
    pub direction: Option<Direction>,
    /// Its bytes, and those of frames that waited for it.
    pub bytes: Vec<u8>,
}

/// Turns messages into frames.
pub struct Encoder<'p> {
    options: Options<'p>,
    weaves: BTreeMap<(Option<i128>, Option<Direction>), Weave>,
    mint: Mint,
}

impl<'p> Encoder<'p> {
    /// An encoder; masks of WebSocket frames follow from the mint.
    pub fn new(options: Options<'p>, mint: Mint) -> Self {
        Self {
            options,
            weaves: BTreeMap::new(),
            mint,
        }
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
    pub fn framed(
        &mut self,
        message: Node<'_>,
        direction: Option<Direction>,
        mut wire: Wire,
    ) -> Result<Encoded, Refusal> {
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
        let body = self.body(&written, &mut wire)?;
        Ok(self.frame(None, &written, &body, wire))
    }

    /// The bytes of a message that stands alone, without what delimits it.
    pub fn body_of(&self, message: Node<'_>, wire: &mut Wire) -> Result<Vec<u8>, Refusal> {
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
        self.body(&said, wire)
    }

    /// Writes bytes as a frame, such as a ping, in the direction that was chosen.
    pub fn frame_of(&mut self, body: &[u8], wire: Wire) -> Result<Encoded, Refusal> {
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
        Ok(self.frame(None, &said, body, wire))
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
        let body = match line.get("raw") {
            _ if wire.hex.is_some() => Vec::new(),
            Some(raw) => raw_bytes(raw)?,
            None => self
                .body(&written, &mut wire)
                .map_err(|r| r.inside("message"))?,
        };
        let conn = line.get("conn").and_then(Node::as_i128);
        Ok(self.frame(conn, &written, &body, wire))
    }

    /// A message's bytes; what framing must know of it goes into `wire`.
    fn body(&self, said: &Said<'_, '_>, wire: &mut Wire) -> Result<Vec<u8>, Refusal> {
        let mut body = Vec::new();
        let Some(message) = said.message else {
            return Ok(body);
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
        let written = said.protocol.write(message, &options, &mut body)?;
        if let (None, Some(id)) = (wire.method, written.head.method_id) {
            let mode = self
                .options
                .length_mode
                .or(written.head.length_mode)
                .unwrap_or_default();
            wire.method = Some((id, mode));
        }
        Ok(body)
    }

    fn frame(
        &mut self,
        conn: Option<i128>,
        said: &Said<'_, '_>,
        body: &[u8],
        mut wire: Wire,
    ) -> Encoded {
        wire.length = self.options.length.or(wire.length);
        if wire.hex.is_none() {
            let mask = self.mint.uuid();
            let mask = [mask[0], mask[1], mask[2], mask[3]];
            let from_client = said.direction == Some(Direction::ToServer);
            wire.fill(said.framing, body, from_client, mask);
        }
        let mut bytes = Vec::new();
        let weave = self.weaves.entry((conn, said.direction)).or_default();
        weave.push(said.framing, body, &wire, &mut bytes);
        Encoded {
            direction: said.direction,
            bytes,
        }
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
pub fn is_line(value: Node<'_>) -> bool {
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

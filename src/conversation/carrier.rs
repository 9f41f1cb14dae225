//! How messages become the bytes of a live connection, and what the connection itself has to say.
//!
//! ```text
//!   message --write--> body --frame--> bytes          lines, prefix, method, header: as they are
//!                                                     WebSocket: upgrade, masks, pong, close
//!                                                     HTTP: an exchange a message, server-sent events
//! ```
//!
//! A carrier serves one connection, for one side. It is shown every control frame that the decoder finds, and answers what
//! the connection asks for.

use crate::decoder::Decoded;
use crate::encode::{Encoder, Options};
use crate::encoding::json;
use crate::error::Refusal;
use crate::framing::{Framing, LengthMode, Wire};
use crate::protocol::make::Mint;
use crate::protocol::{Direction, Protocol};
use crate::span::Span;
use crate::tape::Tape;

/// Deepest message that is written.
const DEPTH: u32 = 1000;

/// What connections of a conversation have in common.
#[derive(Clone)]
pub struct Carriage<'p> {
    /// Whose messages they are.
    pub protocol: &'p dyn Protocol,
    /// How they are delimited.
    pub framing: Framing,
    /// The side that is served: the direction in which it speaks.
    pub side: Direction,
    /// How telequick's lengths count.
    pub length_mode: Option<LengthMode>,
    /// `MessagePack` where the protocol also has JSON.
    pub packed: bool,
    /// The host that HTTP requests name.
    pub host: String,
    /// The path that HTTP requests name.
    pub path: String,
    /// Further fields of HTTP requests, such as `authorization: …`.
    pub fields: Vec<(String, String)>,
}

impl<'p> Carriage<'p> {
    /// How a protocol's messages go where nothing else is said.
    pub fn new(protocol: &'p dyn Protocol, framing: Framing, side: Direction) -> Self {
        Self {
            protocol,
            framing,
            side,
            length_mode: None,
            packed: false,
            host: "localhost".into(),
            path: "/".into(),
            fields: Vec::new(),
        }
    }
}

/// What the connection itself has to say about a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// It is a message, or nothing that matters here.
    Nothing,
    /// From now on messages can be said.
    Open,
    /// The other side will say no more, and was answered.
    Closing,
    /// It will not do: why.
    Refused(String),
}

/// Serves one connection.
pub struct Carrier<'p> {
    carriage: Carriage<'p>,
    encoder: Encoder<'p>,
}

impl<'p> Carrier<'p> {
    /// For a connection on which nothing was said. Masks and keys follow from the seed.
    pub fn new(carriage: Carriage<'p>, seed: u64) -> Self {
        let options = Options {
            protocols: vec![carriage.protocol],
            protocol: Some(carriage.protocol),
            framing: Some(carriage.framing),
            length_mode: carriage.length_mode,
            direction: Some(carriage.side),
            packed: carriage.packed,
            force: true,
            length: None,
        };
        Self {
            encoder: Encoder::new(options, Mint::new(seed)),
            carriage,
        }
    }

    /// What is sent as soon as the connection is open.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Whether messages can be said.
    pub fn is_open(&self) -> bool {
        true
    }

    /// Whether a message can be said at this moment: over HTTP a client waits until the exchange before is done.
    pub fn is_free(&self) -> bool {
        self.is_open()
    }

    /// A frame of the other side; what the connection answers goes to `out`.
    pub fn heard(&mut self, decoded: &Decoded<'_>, out: &mut Vec<u8>) -> Means {
        let _ = (decoded, out);
        Means::Nothing
    }

    /// Says a message, given as `decode -f json` shows it; `wire` is how one like it was framed before, and holds as far
    /// as it can.
    pub fn say(
        &mut self,
        message: &str,
        wire: Option<&Wire>,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let _ = wire;
        let mut tape = Tape::new();
        let whole = Span::new(0, message.len());
        let parsed = json::parse(message.as_bytes(), whole, DEPTH, &mut tape);
        let root = tape.root(message.as_bytes()).filter(|_| parsed.is_ok());
        let Some(root) = root else {
            return Err(Refusal::new("message", "JSON", format!("`{message}`")));
        };
        let encoded = self.encoder.message(root, Some(self.carriage.side))?;
        out.extend_from_slice(&encoded.bytes);
        Ok(())
    }

    /// What is sent before the connection is closed.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }
}

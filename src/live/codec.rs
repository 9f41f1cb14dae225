//! How messages become the bytes of a live connection, and what the connection itself has to say.
//!
//! ```text
//!   message --write--> body --frame--> bytes          lines, prefix, method, header: as they are
//!                                                     WebSocket: upgrade, masks, pong, close
//!                                                     HTTP: an exchange a message, server-sent events
//! ```
//!
//! A codec serves one connection, for one side. It is shown every frame that the decoder finds, and answers what the
//! connection itself asks for.

mod head;
mod http;
mod websocket;

use crate::decoder::Decoded;
use crate::encode::{Encoder, Options};
use crate::encoding::{json, lossless};
use crate::error::Refusal;
use crate::framing::{Framing, LengthMode, Wire};
use crate::protocol::make::Mint;
use crate::protocol::{Direction, Protocol};
use crate::span::Span;
use crate::tape::{Node, Tape};
use http::Http;
use websocket::WebSocket;

/// Deepest message that is written.
const DEPTH: u32 = 1000;

/// Fields of HTTP requests that follow from the connection and the body, and are nobody else's to say.
pub const MADE: [&str; 8] = [
    "connection",
    "content-length",
    "sec-websocket-accept",
    "sec-websocket-extensions",
    "sec-websocket-key",
    "sec-websocket-version",
    "transfer-encoding",
    "upgrade",
];

/// What connections of a conversation have in common.
#[derive(Clone)]
pub struct ConnectionConfig<'p> {
    /// Whose messages they are.
    pub protocol: &'p dyn Protocol,
    /// How they are delimited. WebSocket begins with its upgrade.
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
    /// Further fields of HTTP requests, such as `authorization: …`, and others in place of the usual `host`,
    /// `content-type` and `accept`. Those of [`MADE`] are not sent.
    pub fields: Vec<(String, String)>,
}

impl<'p> ConnectionConfig<'p> {
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

    /// How such connections are read: WebSocket begins as HTTP.
    pub fn read_as(&self) -> Framing {
        match self.framing {
            Framing::WebSocket => Framing::Http,
            other => other,
        }
    }

    fn is_client(&self) -> bool {
        self.side == Direction::ToServer
    }
}

/// What the connection itself has to say about a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// It is a message, or nothing that matters here.
    Nothing,
    /// From now on messages can be said.
    Open,
    /// The other side will say no more; [`Codec::end`] answers that.
    Closing,
    /// It will not do: why.
    Refused(String),
}

/// Serves one connection.
pub struct Codec<'p> {
    config: ConnectionConfig<'p>,
    encoder: Encoder<'p>,
    over: Over,
}

/// What the messages go over.
enum Over {
    Plain,
    WebSocket(WebSocket),
    Http(Http),
}

impl<'p> Codec<'p> {
    /// For a connection on which nothing was said. Masks and keys follow from the seed.
    pub fn new(config: ConnectionConfig<'p>, seed: u64) -> Self {
        let mut mint = Mint::new(seed);
        let over = match config.framing {
            Framing::WebSocket => Over::WebSocket(WebSocket::new(mint.uuid())),
            Framing::Http => Over::Http(Http::default()),
            _ => Over::Plain,
        };
        let options = Options {
            protocols: vec![config.protocol],
            protocol: Some(config.protocol),
            framing: Some(config.framing),
            length_mode: config.length_mode,
            direction: Some(config.side),
            packed: config.packed,
            force: true,
            length: None,
        };
        Self {
            encoder: Encoder::new(options, mint),
            config,
            over,
        }
    }

    /// What is sent as soon as the connection is open.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if let (Over::WebSocket(over), true) = (&self.over, self.config.is_client()) {
            over.ask(&self.config, out);
        }
    }

    /// Whether messages can be said.
    pub fn is_open(&self) -> bool {
        match &self.over {
            Over::WebSocket(over) => over.is_open(),
            Over::Plain | Over::Http(_) => true,
        }
    }

    /// Whether this side has said that it says no more.
    pub fn is_closed(&self) -> bool {
        match &self.over {
            Over::WebSocket(over) => over.is_closed(),
            Over::Plain | Over::Http(_) => false,
        }
    }

    /// Whether what still comes is passed over, since the other side has ended it, or was refused.
    pub fn is_deaf(&self) -> bool {
        match &self.over {
            Over::WebSocket(over) => over.is_deaf(),
            Over::Http(over) => over.is_deaf(self.config.is_client()),
            Over::Plain => false,
        }
    }

    /// Whether nothing more will pass, so that the connection is to be closed: over HTTP, after an exchange that was said to
    /// be the last.
    pub fn is_over(&self) -> bool {
        matches!(&self.over, Over::Http(over) if over.is_over())
    }

    /// Whether a client waits for an answer of HTTP.
    pub fn is_busy(&self) -> bool {
        matches!(&self.over, Over::Http(over) if over.is_busy())
    }

    /// Whether a client's next exchange can go on another connection when this one ends: over HTTP, where all that was
    /// asked was answered.
    pub fn is_at_rest(&self) -> bool {
        matches!(&self.over, Over::Http(over) if over.is_at_rest()) && self.config.is_client()
    }

    /// The other side says no more.
    pub fn eof(&mut self) {
        if let (Over::Http(over), true) = (&mut self.over, self.config.is_client()) {
            over.ends();
        }
    }

    /// So many bytes of the other side are no whole frame yet; what the connection answers goes to `out`.
    pub fn half(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if let (Over::Http(over), false) = (&mut self.over, self.config.is_client()) {
            over.half(bytes, out);
        }
    }

    /// Whether a message can be said at this moment: over HTTP a client waits until the exchange before is done, and a
    /// server until it is asked.
    pub fn is_free(&self) -> bool {
        match &self.over {
            Over::Http(over) => over.is_free(self.config.is_client()),
            _ => self.is_open(),
        }
    }

    /// A frame of the other side; what the connection answers goes to `out`.
    pub fn received(&mut self, decoded: &Decoded<'_>, out: &mut Vec<u8>) -> Signal {
        let is_client = self.config.is_client();
        match &mut self.over {
            Over::Plain => Signal::Nothing,
            Over::WebSocket(over) => over.received(decoded, is_client, &mut self.encoder, out),
            Over::Http(over) if is_client => over.answered(decoded),
            Over::Http(over) => over.asked(decoded, out),
        }
    }

    /// Says a message, given as `decode -f json` shows it, in answer to the request of its own id or of `to`; `wire` is how one like it was framed before, and holds as far
    /// as it can.
    pub fn say(
        &mut self,
        message: &str,
        to: Option<&str>,
        wire: Option<&Wire>,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut tape = Tape::new();
        let whole = Span::new(0, message.len());
        let parsed = json::parse(message.as_bytes(), whole, DEPTH, &mut tape);
        let root = tape.root(message.as_bytes()).filter(|_| parsed.is_ok());
        let Some(root) = root else {
            return Err(Refusal::new("message", "JSON", format!("`{message}`")));
        };
        if self.is_closed() {
            let closed = Refusal::new("", "an open connection", "one that was closed in order");
            return Err(closed);
        }
        let mut wire = wire.map_or(Wire::default(), again);
        let (side, is_client) = (self.config.side, self.config.is_client());
        let Over::Http(over) = &mut self.over else {
            let encoded = self.encoder.framed(root, Some(side), wire)?;
            out.extend_from_slice(&encoded.bytes);
            return Ok(());
        };
        let body = self.encoder.body_of(root, &mut wire)?;
        if is_client {
            over.post(&self.config, &body, out);
        } else {
            let id = to.map(str::to_owned).or_else(|| id(root));
            let asks = root.get("method").is_some();
            over.answer(&body, id.as_deref(), asks, out)?;
        }
        Ok(())
    }

    /// What is sent before the connection is closed.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if let Over::WebSocket(over) = &mut self.over {
            over.close(&mut self.encoder, out);
        }
    }
}

/// The id of a JSON-RPC message, as it is written.
fn id(root: Node<'_>) -> Option<String> {
    let mut text = Vec::new();
    lossless::write(root.get("id")?, &mut text);
    String::from_utf8(text).ok()
}

/// What of a frame is done again: masks and lengths are made anew, and nothing stands between.
fn again(wire: &Wire) -> Wire {
    Wire {
        packed: wire.packed,
        header: wire.header.clone(),
        eol: wire.eol.clone(),
        method: wire.method,
        opcode: wire.opcode,
        fragments: wire.fragments.clone(),
        ..Wire::default()
    }
}

#[cfg(test)]
mod tests;

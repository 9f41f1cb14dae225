//! Converts messages to the bytes of a live connection, and answers what the transport itself requests.
//!
//! ```text
//!   message --write--> body --frame--> bytes          lines, prefix, method, header: unchanged
//!                                                     WebSocket: upgrade, masks, pong, close
//!                                                     HTTP: one exchange per message, server-sent events
//! ```
//!
//! A codec serves one connection, for one side. It receives every frame that the decoder finds, and answers requests of
//! the transport itself.

pub(super) mod head;
mod http;
mod websocket;

use crate::decoder::Decoded;
use crate::encode::{EncodeOptions, Encoder};
use crate::encoding::{Encoding, Parsed, Want, json, lossless};
use crate::error::Refusal;
use crate::framing::{Buffer, Framing, Head, LengthMode, Limits, Wire};
use crate::protocol::make::IdGen;
use crate::protocol::{Context, Direction, Protocol, Role};
use crate::span::Span;
use crate::tape::{Node, Tape};
use http::HttpCodec;
use websocket::WebSocketCodec;

/// Maximum nesting depth of a message that is written.
const MAX_DEPTH: u32 = 1000;

/// Fields of HTTP requests that follow from the connection and the body. Users cannot set them.
pub const GENERATED_FIELDS: [&str; 8] = [
    "connection",
    "content-length",
    "sec-websocket-accept",
    "sec-websocket-extensions",
    "sec-websocket-key",
    "sec-websocket-version",
    "transfer-encoding",
    "upgrade",
];

/// The event streams that a client opens with GET, if the protocol has sessions over HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventStreams {
    /// None.
    #[default]
    None,
    /// One after the first messages.
    After,
    /// One before all messages: the older transport, in which an event names the path of the messages.
    First,
    /// One after the first messages; before all messages if the server refuses the first one.
    Negotiated,
}

/// What a server gives to the sessions of its clients over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedSessions {
    /// The names of sessions, in the order in which they begin. Further ones are made from the last one.
    pub names: Vec<String>,
    /// The path at which GET opens the event stream of a session.
    pub stream: Option<String>,
    /// DELETE ends a session.
    pub delete: bool,
    /// Answers are events, also if nothing precedes them.
    pub events: bool,
    /// Requests after the opening are accepted at once, and their answers are events of the streams that GET opens.
    pub accepts: bool,
    /// The status of responses to messages without an answer, if it is not 202: 200 or 204.
    pub notified: Option<u16>,
}

impl ServedSessions {
    /// Returns the name of the session with this number, from 0, if sessions have names.
    pub(super) fn name(&self, number: usize) -> Option<String> {
        let beyond = (number + 1).saturating_sub(self.names.len());
        match self.names.get(number) {
            Some(name) => Some(name.clone()),
            None => Some(format!("{}-{}", self.names.last()?, beyond + 1)),
        }
    }

    /// Returns the methods that a server accepts.
    fn methods(&self) -> String {
        let mut methods = "POST".to_owned();
        for (is_accepted, method) in [(self.stream.is_some(), "GET"), (self.delete, "DELETE")] {
            if is_accepted {
                methods = format!("{methods}, {method}");
            }
        }
        methods
    }
}

/// The parts of a request over HTTP that its session sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldsOfRequest<'p> {
    /// Another path.
    pub(super) path: Option<String>,
    /// Fields, which replace those of the configuration.
    pub(super) fields: Vec<(&'p str, String)>,
    /// Fields of recordings that are not sent.
    pub(super) removed: Vec<&'p str>,
}

/// The common configuration of the connections of a conversation.
#[derive(Clone)]
pub struct ConnectionConfig<'p> {
    /// The protocol of the messages.
    pub protocol: &'p dyn Protocol,
    /// The framing of the messages. WebSocket starts with its upgrade.
    pub framing: Framing,
    /// The side that is served: the direction in which it sends.
    pub side: Direction,
    /// What the length of a frame counts, if its framing has several ways.
    pub length_mode: Option<LengthMode>,
    /// Use `MessagePack` if the protocol also has JSON.
    pub packed: bool,
    /// The host in HTTP requests.
    pub host: String,
    /// The path in HTTP requests.
    pub path: String,
    /// A connection has several streams (QUIC): each request has one of its own.
    pub streams: bool,
    /// Further fields of HTTP requests, such as `authorization: …`, and replacements of the default `host`,
    /// `content-type` and `accept`. Fields of [`GENERATED_FIELDS`] are not sent.
    pub fields: Vec<(String, String)>,
    /// Fields of HTTP requests in a recording. A recorded message has its own instead.
    pub recorded: Vec<(String, String)>,
    /// The event streams of a client.
    pub events: EventStreams,
    /// The path at which a server opens an event stream of the older transport over HTTP.
    pub older_path: Option<String>,
    /// The sessions of a server over HTTP.
    pub sessions: ServedSessions,
}

impl<'p> ConnectionConfig<'p> {
    /// Returns the default configuration of a protocol.
    pub fn new(protocol: &'p dyn Protocol, framing: Framing, side: Direction) -> Self {
        Self {
            protocol,
            framing,
            side,
            length_mode: None,
            packed: false,
            host: "localhost".into(),
            path: "/".into(),
            streams: false,
            fields: Vec::new(),
            recorded: Vec::new(),
            events: EventStreams::None,
            older_path: None,
            sessions: ServedSessions::default(),
        }
    }

    /// Returns the framing with which such connections are read: WebSocket starts as HTTP. `None` if the bytes of each
    /// stream decide it, as for answers without length and method id.
    pub fn initial_framing(&self) -> Option<Framing> {
        match self.framing {
            _ if self.streams => None,
            Framing::Method => None,
            Framing::WebSocket => Some(Framing::Http),
            other => Some(other),
        }
    }

    fn is_client(&self) -> bool {
        self.side == Direction::ToServer
    }
}

/// The meaning of a frame for the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The frame is a message or has no effect on the connection.
    Nothing,
    /// From now on messages can be sent.
    Open,
    /// The peer will send nothing more; [`Codec::end`] answers that.
    Closing,
    /// The connection cannot be used, with the reason.
    Refused(String),
}

/// Serves one connection.
pub struct Codec<'p> {
    config: ConnectionConfig<'p>,
    encoder: Encoder<'p>,
    transport: Transport,
    /// The encoding of the peer's last message.
    received: Option<Encoding>,
}

/// The transport of the messages.
enum Transport {
    Plain,
    WebSocket(WebSocketCodec),
    Http(HttpCodec),
}

impl<'p> Codec<'p> {
    /// Returns a codec for a new connection with this number. Masks and keys are generated from the seed.
    pub fn new(config: ConnectionConfig<'p>, number: u32, seed: u64) -> Self {
        let mut id_gen = IdGen::new(seed);
        let transport = match config.framing {
            Framing::WebSocket => Transport::WebSocket(WebSocketCodec::new(id_gen.uuid())),
            Framing::Http => Transport::Http(HttpCodec::new(number)),
            _ => Transport::Plain,
        };
        let options = EncodeOptions {
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
            encoder: Encoder::new(options, id_gen),
            config,
            transport,
            received: None,
        }
    }

    /// Writes the bytes that are sent as soon as the connection is open.
    pub fn start(&mut self, out: &mut Vec<u8>) {
        if let (Transport::WebSocket(transport), true) = (&self.transport, self.config.is_client())
        {
            transport.write_request(&self.config, out);
        }
    }

    /// Writes the request for an event stream, for which a client uses the whole connection.
    pub(super) fn open_stream(&mut self, session: &FieldsOfRequest, out: &mut Vec<u8>) {
        if let Transport::Http(transport) = &mut self.transport {
            transport.open_stream(&self.config, session, out);
        }
    }

    /// Returns `true` if messages can be sent.
    pub fn is_open(&self) -> bool {
        match &self.transport {
            Transport::WebSocket(transport) => transport.is_open(),
            Transport::Plain | Transport::Http(_) => true,
        }
    }

    /// Returns `true` if this side has announced that it sends nothing more.
    pub fn is_closed(&self) -> bool {
        match &self.transport {
            Transport::WebSocket(transport) => transport.is_closed(),
            Transport::Plain | Transport::Http(_) => false,
        }
    }

    /// Returns `true` if further input is ignored, because the peer has ended the connection or was refused.
    pub fn ignores_input(&self) -> bool {
        match &self.transport {
            Transport::WebSocket(transport) => transport.ignores_input(),
            Transport::Http(transport) => transport.ignores_input(self.config.is_client()),
            Transport::Plain => false,
        }
    }

    /// Returns `true` if the connection is to be closed because nothing more will pass: over HTTP, after the last
    /// exchange.
    pub fn is_finished(&self) -> bool {
        matches!(&self.transport, Transport::Http(transport) if transport.is_finished())
    }

    /// Returns `true` if the connection has an event stream of the older transport over HTTP.
    pub(super) fn is_older_stream(&self) -> bool {
        matches!(&self.transport, Transport::Http(transport) if transport.is_older_stream())
    }

    /// Returns the connection with the event stream to which the last message belongs.
    pub(super) fn stream_of_last_message(&self) -> Option<u32> {
        match &self.transport {
            Transport::Http(transport) => transport.stream_of_last_message(),
            _ => None,
        }
    }

    /// Returns `true` if the last request opened the event stream of a session over HTTP.
    pub(super) fn opened_stream(&self) -> bool {
        matches!(&self.transport, Transport::Http(transport) if transport.opened_stream())
    }

    /// Gives a field to the response of the last request over HTTP.
    pub(super) fn add_field(&mut self, name: &str, value: &str) {
        if let Transport::Http(transport) = &mut self.transport {
            transport.add_field(name, value);
        }
    }

    /// Ends the event stream of a session over HTTP.
    pub(super) fn end_stream(&mut self, out: &mut Vec<u8>) {
        if let Transport::Http(transport) = &mut self.transport {
            transport.end_stream(out);
        }
    }

    /// Returns `true` if a client waits for an HTTP response.
    pub fn is_busy(&self) -> bool {
        matches!(&self.transport, Transport::Http(transport) if transport.is_busy())
    }

    /// Returns `true` if a client can continue on another connection when this one ends: over HTTP, if everything is
    /// answered.
    pub fn can_reopen(&self) -> bool {
        matches!(&self.transport, Transport::Http(transport) if transport.can_reopen())
            && self.config.is_client()
    }

    /// Requests the end of a session over HTTP.
    pub(super) fn delete(&mut self, session: &FieldsOfRequest, out: &mut Vec<u8>) {
        if let Transport::Http(transport) = &mut self.transport {
            transport.delete(&self.config, session, out);
        }
    }

    /// The event stream of a response over HTTP ended without the answer.
    pub(super) fn end_response(&mut self) {
        if let Transport::Http(transport) = &mut self.transport {
            transport.end_response();
        }
    }

    /// The peer sends nothing more.
    pub fn eof(&mut self) {
        if let (Transport::Http(transport), true) = (&mut self.transport, self.config.is_client()) {
            transport.end();
        }
    }

    /// Handles the bytes of an incomplete frame of the peer; the answer of the transport is written to `out`.
    pub fn partial(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if let (Transport::Http(transport), false) = (&mut self.transport, self.config.is_client())
        {
            transport.partial(bytes, out);
        }
    }

    /// Returns `true` if a message can be sent now: over HTTP a client waits for the end of the previous exchange, and
    /// a server for a request.
    pub fn can_send(&self) -> bool {
        match &self.transport {
            Transport::Http(transport) => transport.can_send(self.config.is_client()),
            _ => self.is_open(),
        }
    }

    /// Handles a frame of the peer; the answer of the transport is written to `out`.
    pub fn received(&mut self, decoded: &Decoded<'_>, out: &mut Vec<u8>) -> Signal {
        let is_client = self.config.is_client();
        self.received = decoded.encoding().or(self.received);
        match &mut self.transport {
            Transport::Plain => Signal::Nothing,
            Transport::WebSocket(transport) => {
                transport.received(decoded, is_client, &mut self.encoder, out)
            }
            Transport::Http(transport) if is_client => transport.read_response(decoded),
            Transport::Http(transport) => transport.read_request(decoded, &self.config, out),
        }
    }

    /// Writes a message in the form of `decode -f json`. It answers the request with its own id, or with the id `to`.
    /// `wire` is the framing of an earlier message, and is used as far as possible. If neither it nor the configuration
    /// names the encoding, it is that of the peer's last message.
    pub fn write_message(
        &mut self,
        message: &str,
        to: Option<&str>,
        wire: Option<&Wire>,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        self.write(message, to, wire, &mut |_| FieldsOfRequest::default(), out)
    }

    /// Writes a message; `session` returns what a request over HTTP has from its session.
    pub(super) fn write<'s>(
        &mut self,
        message: &str,
        to: Option<&str>,
        wire: Option<&Wire>,
        session: &mut dyn FnMut(Node<'_>) -> FieldsOfRequest<'s>,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut tape = Tape::new();
        let Ok(root) = json::root(message.as_bytes(), MAX_DEPTH, &mut tape) else {
            return Err(Refusal::new("message", "JSON", format!("`{message}`")));
        };
        if self.is_closed() {
            let closed = Refusal::new(
                "",
                "an open connection",
                "a connection that was closed normally",
            );
            return Err(closed);
        }
        let recorded = wire.and_then(|wire| wire.head.as_deref());
        let mut wire = wire.map_or(Wire::default(), repeatable_properties);
        wire.encoding = wire.encoding.or(self.received);
        let (side, is_client) = (self.config.side, self.config.is_client());
        let Transport::Http(transport) = &mut self.transport else {
            let encoded = self.encoder.framed(root, Some(side), wire)?;
            write_frame(self.config.framing, &encoded.bytes, out);
            return Ok(());
        };
        let body = self.encoder.body_of(root, &mut wire)?;
        if is_client {
            transport.post(&self.config, &body, recorded, &session(root), out);
        } else {
            let protocol = self.config.protocol;
            let is_described =
                protocol.description_hash().is_some() && root.get("jsonrpc").is_none();
            let described = is_described.then(|| role_and_id(protocol, side, &body));
            let status = match (&described, root.get("method"), root.get("id")) {
                (Some((is_answer, _)), ..) => is_answer.then_some("200 OK"),
                (None, Some(_), _) => None,
                _ if root.is_array() => Some("200 OK"),
                // MCP: "If the server cannot accept the input, it MUST return an HTTP error status code", with "a
                // JSON-RPC error response that has no `id`".
                (None, None, answered) if answered.is_none_or(Node::is_null) => {
                    Some("400 Bad Request")
                }
                _ => Some("200 OK"),
            };
            let id = to.map(str::to_owned);
            let id = id.or_else(|| described.map_or_else(|| id_of(root), |(_, id)| Some(id)));
            let kind = protocol.descriptor().encoding_of(&body).media_type();
            let events = self.config.sessions.events;
            transport.answer(&body, id.as_deref(), (status, kind), events, out)?;
        }
        Ok(())
    }

    /// Writes a body in a frame of its own, with the properties of a recorded frame.
    pub(super) fn write_body(
        &mut self,
        body: &[u8],
        wire: &Wire,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let encoded = self.encoder.frame_of(body, repeatable_properties(wire))?;
        write_frame(self.config.framing, &encoded.bytes, out);
        Ok(())
    }

    /// Writes the bytes that are sent before the connection is closed.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        if let Transport::WebSocket(transport) = &mut self.transport {
            transport.close(&mut self.encoder, out);
        }
    }
}

/// Writes a frame. Peers that read lines need one after each JSON value, and no other peer is affected by it.
fn write_frame(framing: Framing, frame: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(frame);
    let is_json = matches!(frame, [b'{', .., b'}'] | [b'[', .., b']']);
    if framing == Framing::Values && is_json {
        out.push(b'\n');
    }
}

/// Returns `true` for the last answer to a request of a described protocol, and the id of the message.
fn role_and_id(protocol: &dyn Protocol, side: Direction, body: &[u8]) -> (bool, String) {
    let buffer = Buffer {
        base: 0,
        window: body,
        eof: true,
        limits: Limits::default(),
        resync: false,
    };
    let whole = Span::new(0, body.len());
    let frame = buffer.frame(Framing::Message, Head::None, whole, body.len());
    let context = Context {
        direction: Some(side),
        ..Context::default()
    };
    let mut parsed = Parsed::new(Want::Places, MAX_DEPTH);
    let message = protocol.read(&frame, &context, &mut parsed);
    let is_answer = matches!(message.role, Some(Role::Response | Role::Error | Role::End));
    (is_answer, message.id.text().into_owned())
}

/// Returns the id of a JSON-RPC message as it is written.
fn id_of(root: Node<'_>) -> Option<String> {
    let mut text = Vec::new();
    lossless::write(root.get("id")?, &mut text);
    String::from_utf8(text).ok()
}

/// Returns the properties of a frame that are repeated. Masks and lengths are generated again; gaps are not repeated.
fn repeatable_properties(wire: &Wire) -> Wire {
    Wire {
        encoding: wire.encoding,
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

//! JSON-RPC over HTTP/1.1: a message is posted, and answered in the same exchange.
//!
//! ```text
//!   POST request       -->  200 application/json {response}
//!                           200 text/event-stream data: {callback} … data: {response}
//!   POST response      -->  202
//!   POST notification  -->  202
//! ```
//!
//! A session may also have an event stream for messages of the server that answer nothing:
//!
//! ```text
//!   GET                -->  200 text/event-stream data: {notification} …
//!   DELETE             -->  200
//! ```
//!
//! In the older transport, an event names the path of the messages, and all messages of the server are events:
//!
//! ```text
//!   GET                -->  200 text/event-stream event: endpoint, data: /messages?sessionId=1 … data: {response}
//!   POST any message   -->  202
//! ```
//!
//! If a server sends another message before the answer, the response is a stream of events. The answer to a callback is
//! posted on another connection, because the first is busy with the stream.

use super::{ConnectionConfig, FieldsOfRequest, Signal, head};
use crate::decoder::Decoded;
use crate::encoding::Encoding;
use crate::error::Refusal;
use crate::protocol::Role;
use crate::protocol::peer::MAX_ENTRIES;
use crate::tape::Node;
use std::collections::VecDeque;

/// The path of messages of the older transport, before the number of the event stream.
const OLDER_MESSAGES: &str = "/messages?sessionId=";
/// The start of every response with a stream of events.
const EVENTS: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n";

/// The state of one connection.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // independent facts
pub(super) struct HttpCodec {
    /// Client: an exchange is in progress.
    busy: bool,
    /// Client: the exchange is an event stream that never ends.
    is_stream: bool,
    /// Client: an exchange was answered.
    answered: bool,
    /// No further exchange will start: one side announced this, or has ended its direction.
    is_ending: bool,
    /// Server: a client waits for `100 Continue`; `true` if it was sent.
    continue_sent: Option<bool>,
    /// Server: the requests, in order.
    exchanges: VecDeque<Exchange>,
    /// Server: the number of the connection, which names the event stream on it.
    number: u32,
    /// Server: the connection has an event stream of the older transport.
    is_older_stream: bool,
    /// Server: the connection with the event stream to which the last message belongs.
    stream_of_last_message: Option<u32>,
    /// Server: the last request opened the event stream of a session.
    opened_stream: bool,
}

/// A request, and the part of the response that waits for earlier responses.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // independent facts
struct Exchange {
    /// The id of the request, as it is written; a batch has none.
    id: Option<String>,
    /// Further fields of the response.
    fields: String,
    out: Vec<u8>,
    is_stream: bool,
    /// It is the event stream of a session.
    is_of_session: bool,
    is_done: bool,
    /// The request is HEAD, so the response has no body.
    is_head: bool,
    /// The last exchange on this connection.
    is_last: bool,
    /// HTTP/1.0, which has no chunks: a body without a length ends with the connection.
    is_http10: bool,
}

impl HttpCodec {
    pub(super) fn new(number: u32) -> Self {
        Self {
            number,
            ..Self::default()
        }
    }

    /// Server: returns `true` if the connection has an event stream of the older transport.
    pub(super) fn is_older_stream(&self) -> bool {
        self.is_older_stream
    }

    /// Server: returns the connection with the event stream to which the last message belongs.
    pub(super) fn stream_of_last_message(&self) -> Option<u32> {
        self.stream_of_last_message
    }

    /// Server: returns `true` if the last request opened the event stream of a session.
    pub(super) fn opened_stream(&self) -> bool {
        self.opened_stream
    }

    /// Server: gives a field to the response of the last request.
    pub(super) fn add_field(&mut self, name: &str, value: &str) {
        if let Some(exchange) = self.exchanges.back_mut() {
            exchange.fields.push_str(&format!("{name}: {value}\r\n"));
        }
    }

    /// Server: ends the event stream of a session.
    pub(super) fn end_stream(&mut self, out: &mut Vec<u8>) {
        let mut all = self.exchanges.iter_mut();
        if let Some(exchange) = all.find(|e| e.is_of_session && !e.is_done) {
            exchange.end_stream();
        }
        self.flush(out);
    }

    pub(super) fn can_send(&self, is_client: bool) -> bool {
        if is_client {
            !self.busy && !self.is_ending
        } else {
            !self.exchanges.is_empty()
        }
    }

    /// Returns `true` if no exchange is left and none will follow: RFC 9112 section 9.6, "MUST initiate closure of the
    /// connection" of a server after its last response, "close the connection after reading" that of a client.
    pub(super) fn is_finished(&self) -> bool {
        self.is_ending && !self.busy && self.exchanges.is_empty()
    }

    /// Returns `true` if further input is ignored: RFC 9112 section 9.6, "MUST NOT process any further requests".
    pub(super) fn ignores_input(&self, is_client: bool) -> bool {
        self.is_ending && !is_client
    }

    /// Returns `true` if the connection can end without loss, so that the next exchange can use another one.
    pub(super) fn can_reopen(&self) -> bool {
        self.answered && !self.busy
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Client: the peer sends nothing more.
    pub(super) fn end(&mut self) {
        self.is_ending = true;
    }

    /// Client: requests an event stream.
    pub(super) fn open_stream(
        &mut self,
        config: &ConnectionConfig<'_>,
        session: &FieldsOfRequest,
        out: &mut Vec<u8>,
    ) {
        let defaults = [
            ("accept", head::EVENT_STREAM),
            ("cache-control", "no-cache"),
        ];
        let text = head::request("GET", &defaults, config, None, session);
        out.extend_from_slice(text.as_bytes());
        (self.busy, self.is_stream) = (true, true);
    }

    /// Client: requests the end of the session.
    pub(super) fn delete(
        &mut self,
        config: &ConnectionConfig<'_>,
        session: &FieldsOfRequest,
        out: &mut Vec<u8>,
    ) {
        let text = head::request("DELETE", &[], config, None, session);
        out.extend_from_slice(text.as_bytes());
        self.busy = true;
    }

    /// Client: the event stream of the response ended without the answer, which another stream will have.
    pub(super) fn end_response(&mut self) {
        (self.busy, self.answered) = (false, true);
    }

    /// Client: posts a message, with the fields of a recorded head.
    pub(super) fn post(
        &mut self,
        config: &ConnectionConfig<'_>,
        body: &[u8],
        recorded: Option<&[u8]>,
        session: &FieldsOfRequest,
        out: &mut Vec<u8>,
    ) {
        let kind = config.protocol.descriptor().encoding_of(body).media_type();
        let defaults = [
            ("content-type", kind),
            ("accept", &format!("{kind}, {}", head::EVENT_STREAM)),
            ("content-length", &body.len().to_string()),
        ];
        let text = head::request("POST", &defaults, config, recorded, session);
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(body);
        self.busy = true;
    }

    /// Client: handles a response or an event.
    pub(super) fn read_response(&mut self, decoded: &Decoded<'_>) -> Signal {
        let is_stream = || {
            let kind = head::field(decoded, "content-type");
            let kind = kind.as_deref().and_then(|kind| kind.split(';').next());
            kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case(head::EVENT_STREAM))
        };
        let was_busy = self.busy;
        match head::status(decoded) {
            _ if self.is_stream => {}
            // RFC 9110 section 15.2: the final response follows an interim one.
            Some(100..=199) => {}
            Some(_) => {
                self.busy = decoded.frame.control.is_some() && is_stream();
                self.is_ending |= head::closes_connection(decoded);
            }
            // The stream ends with the answer. Events without a message may precede it.
            None if decoded.message.role == Some(Role::Control) => {}
            None => {
                let role = decoded.message.role;
                let goes_on = matches!(role, Some(Role::Request | Role::Notification | Role::Item));
                self.busy &= goes_on || decoded.root().is_some_and(|m| m.get("method").is_some());
            }
        }
        self.answered |= was_busy && !self.busy;
        Signal::Nothing
    }

    /// Server: handles a request. Requests without an answer of the protocol are answered at once.
    pub(super) fn read_request(
        &mut self,
        decoded: &Decoded<'_>,
        config: &ConnectionConfig<'_>,
        out: &mut Vec<u8>,
    ) -> Signal {
        let refused = if head::status(decoded) != Some(0) {
            Some("the peer does not send an HTTP request".to_owned())
        } else if self.exchanges.len() >= MAX_ENTRIES {
            Some(format!("{MAX_ENTRIES} requests wait on one connection"))
        } else {
            None
        };
        if let Some(why) = refused {
            // Earlier requests are still answered; then the connection is closed.
            self.is_ending = true;
            return Signal::Refused(why);
        }
        self.continue_sent = None;
        let start = head::start_line(decoded);
        let (method, target) = start.split_once(' ').unwrap_or_default();
        let path = target.split([' ', '?']).next().unwrap_or_default();
        let opens_stream = self.read_older_transport(method, target, path, config);
        let is_event_path = config.sessions.stream.as_deref() == Some(path);
        self.opened_stream = method == "GET" && is_event_path && !opens_stream;
        let answer = self.answer_at_once(decoded, method, path, config);
        let batch = decoded.root().filter(|root| root.is_array());
        let mut exchange = Exchange {
            // A batch has no id, and neither has its answer.
            id: batch
                .is_none()
                .then(|| decoded.message.id.text().into_owned()),
            is_head: method == "HEAD",
            is_last: head::closes_connection(decoded),
            is_http10: start.ends_with("HTTP/1.0"),
            ..Exchange::default()
        };
        if opens_stream {
            exchange.start_older_stream(self.number);
        } else if self.opened_stream {
            exchange.is_of_session = true;
            exchange.start_stream();
        } else if let Some((status, body)) = answer {
            exchange.write_response(&status, Encoding::Json.media_type(), body.as_bytes());
        }
        self.is_ending |= exchange.is_last;
        self.exchanges.push_back(exchange);
        self.flush(out);
        Signal::Nothing
    }

    /// Server: returns status and body of a response that waits for nothing.
    fn answer_at_once(
        &self,
        decoded: &Decoded<'_>,
        method: &str,
        path: &str,
        config: &ConnectionConfig<'_>,
    ) -> Option<(String, String)> {
        let accepted_body = config.protocol.descriptor().accepted_body;
        let is_message = decoded.frame.control.is_none();
        let root = decoded.root();
        let batch = root.filter(|root| root.is_array());
        let messages = || root.into_iter().filter(|_| batch.is_none());
        let messages = || messages().chain(batch.into_iter().flat_map(Node::children));
        let has = |key: &str| messages().any(|m| m.get(key).is_some());
        let role = decoded.message.role.filter(|role| *role != Role::Control);
        let asks = messages().any(|m| m.get("method").is_some() && m.get("id").is_some());
        let asks = asks || role == Some(Role::Request);
        let is_accepted = config.sessions.accepts && !config.protocol.is_hello(decoded.message);
        let (status, body) = match (method, is_message) {
            ("POST", _) if decoded.is_faulty() => {
                let text = decoded.faults().next().map(|(_, fault)| fault.to_string());
                let error = serde_json::json!({ "error": { "code": -32600, "message": text } });
                ("400 Bad Request", error.to_string())
            }
            ("POST", true) if asks && self.stream_of_last_message.is_none() && !is_accepted => {
                return None;
            }
            ("POST", true)
                if role.is_some() || ["method", "result", "error"].map(has).contains(&true) =>
            {
                match config.sessions.notified {
                    Some(200) => ("200 OK", String::new()),
                    Some(204) => ("204 No Content", String::new()),
                    _ => ("202 Accepted", accepted_body.to_owned()),
                }
            }
            ("GET" | "HEAD", _) if path == "/health" => {
                ("200 OK", r#"{"status":"healthy"}"#.to_owned())
            }
            ("DELETE", _) if config.sessions.delete => ("200 OK", String::new()),
            ("POST", _) => {
                let error = r#"{"error":"wanted a JSON-RPC message as body"}"#;
                ("400 Bad Request", error.to_owned())
            }
            _ => {
                let methods = config.sessions.methods();
                let error = format!(r#"{{"error":"only {methods} is served here"}}"#);
                // RFC 9110 section 15.5.6: "MUST generate an Allow header field".
                let status = format!("405 Method Not Allowed\r\nallow: {methods}");
                return Some((status, error));
            }
        };
        Some((status.to_owned(), body))
    }

    /// Server: reads the target of a request as that of the older transport. Returns `true` if it opens the event stream.
    fn read_older_transport(
        &mut self,
        method: &str,
        target: &str,
        path: &str,
        config: &ConnectionConfig<'_>,
    ) -> bool {
        let stream = target.split(' ').next().unwrap_or_default();
        let stream = stream.strip_prefix(OLDER_MESSAGES);
        let number = stream.filter(|_| config.older_path.is_some());
        self.stream_of_last_message = number.and_then(|number| number.parse().ok());
        let opens_stream = method == "GET" && config.older_path.as_deref() == Some(path);
        self.is_older_stream |= opens_stream;
        opens_stream
    }

    /// Server: handles the bytes of an incomplete request.
    pub(super) fn partial(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.continue_sent.is_none() && !self.is_ending && head::expects_continue(bytes) {
            self.continue_sent = Some(false);
            self.flush(out);
        }
    }

    /// Server: sends an answer in the exchange with this id, with this status, if `events` as an event; a message that is no
    /// answer in the first exchange.
    pub(super) fn answer(
        &mut self,
        body: &[u8],
        id: Option<&str>,
        (status, kind): (Option<&str>, &str),
        events: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let first = self.exchanges.front();
        let is_of_session = first.is_some_and(|first| first.is_of_session && !first.is_done);
        let is_own_stream = self.is_older_stream || is_of_session;
        let status = status.filter(|_| !is_own_stream);
        let mut all = self.exchanges.iter_mut().filter(|e| !e.is_done);
        let own = all.find(|e| {
            if is_own_stream {
                e.is_stream
            } else {
                status.is_none() || e.id.as_deref() == id
            }
        });
        let Some(exchange) = own else {
            if !self.exchanges.is_empty() {
                // Without an exchange of its own, it would be read as the answer to the first request.
                let wanted = "that of a request that is not answered yet";
                return Err(Refusal::new("id", wanted, id.unwrap_or("none").to_owned()));
            }
            // There is no request, so the message is a response outside of any exchange.
            let mut unmatched = Exchange::default();
            unmatched.write_response(status.unwrap_or("200 OK"), kind, body);
            out.append(&mut unmatched.out);
            return Ok(());
        };
        let is_event = status.is_none() || events && status == Some("200 OK");
        if is_event && !exchange.is_stream {
            exchange.start_stream();
            self.is_ending |= exchange.is_last;
        }
        match status {
            Some(status) if !exchange.is_stream => {
                exchange.write_response(status, kind, body);
            }
            _ => exchange.write_event(body, status.is_some()),
        }
        self.flush(out);
        Ok(())
    }

    /// Sends the response of the first exchange, then those that waited for it.
    fn flush(&mut self, out: &mut Vec<u8>) {
        while let Some(first) = self.exchanges.front_mut() {
            out.append(&mut first.out);
            if !first.is_done {
                return;
            }
            self.exchanges.pop_front();
        }
        if let Some(is_sent @ false) = &mut self.continue_sent {
            *is_sent = true;
            out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }
}

impl Exchange {
    /// Writes a complete response. RFC 9110 section 9.3.2: to HEAD, "the server MUST NOT send content in the response".
    fn write_response(&mut self, status: &str, kind: &str, body: &[u8]) {
        let close = if self.is_last {
            "connection: close\r\n"
        } else {
            ""
        };
        let content = if body.is_empty() {
            String::new()
        } else {
            format!("content-type: {kind}\r\n")
        };
        // RFC 9110 section 8.6: no Content-Length with 204.
        let length = if status.starts_with("204") {
            String::new()
        } else {
            format!("content-length: {}\r\n", body.len())
        };
        let fields = &self.fields;
        let head = format!("HTTP/1.1 {status}\r\n{length}{content}{fields}{close}\r\n");
        self.out.extend_from_slice(head.as_bytes());
        if !self.is_head {
            self.out.extend_from_slice(body);
        }
        self.is_done = true;
    }

    /// Starts a stream of events. RFC 9112 section 6.1: chunks MUST NOT be sent to a client of HTTP/1.0.
    fn start_stream(&mut self) {
        self.is_stream = true;
        // Without chunks only the end of the connection ends the stream.
        self.is_last |= self.is_http10;
        self.out.extend_from_slice(EVENTS.as_bytes());
        self.out.extend_from_slice(self.fields.as_bytes());
        if !self.is_http10 {
            self.out
                .extend_from_slice(b"transfer-encoding: chunked\r\n");
        }
        if self.is_last {
            self.out.extend_from_slice(b"connection: close\r\n");
        }
        self.out.extend_from_slice(b"\r\n");
    }

    /// Starts an event stream of the older transport: its first event has the path of messages.
    fn start_older_stream(&mut self, number: u32) {
        self.start_stream();
        let event = format!("event: endpoint\ndata: {OLDER_MESSAGES}{number}\n\n");
        self.write_part(event.as_bytes());
    }

    /// Writes an event of a stream.
    fn write_event(&mut self, body: &[u8], is_last: bool) {
        self.write_part(&[b"data: ", body, b"\n\n"].concat());
        if is_last {
            self.end_stream();
        }
    }

    /// Ends a stream of events.
    fn end_stream(&mut self) {
        if !self.is_http10 {
            self.out.extend_from_slice(b"0\r\n\r\n");
        }
        self.is_done = true;
    }

    /// Writes a part of a stream, as a chunk.
    fn write_part(&mut self, part: &[u8]) {
        if self.is_http10 {
            self.out.extend_from_slice(part);
            return;
        }
        let size = format!("{:x}\r\n", part.len());
        self.out.extend_from_slice(size.as_bytes());
        self.out.extend_from_slice(part);
        self.out.extend_from_slice(b"\r\n");
    }
}

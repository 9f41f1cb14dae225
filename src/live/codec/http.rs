//! JSON-RPC over HTTP/1.1: a message is posted, and answered in the same exchange.
//!
//! ```text
//!   POST request       -->  200 application/json {response}
//!                           200 text/event-stream data: {callback} … data: {response}
//!   POST response      -->  202 ""
//!   POST notification  -->  202 ""
//! ```
//!
//! A server whose answer is not the first thing that it says in an exchange makes a stream of it. The answer to a callback
//! is posted on another connection: the first is busy with the stream.

use super::{ConnectionConfig, Signal, head};
use crate::decoder::Decoded;
use crate::error::Refusal;
use crate::protocol::peer::MOST;
use std::collections::VecDeque;

/// What every stream of events begins with.
const EVENTS: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n";

/// One connection.
#[derive(Default)]
pub(super) struct Http {
    /// Of a client: an exchange is under way.
    busy: bool,
    /// Of a client: an exchange was answered.
    answered: bool,
    /// No further exchange will be begun: one side said so, or has said all.
    spent: bool,
    /// Of a server: a client waits to be told to send the body of its request; whether it was told.
    expects: Option<bool>,
    /// Of a server: what was asked, in order.
    exchanges: VecDeque<Exchange>,
}

/// What was asked, and what of the answer is not sent yet because others come first.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
struct Exchange {
    /// The id of the request, as it is written.
    id: Option<String>,
    out: Vec<u8>,
    streams: bool,
    done: bool,
    /// It asks for no body.
    head: bool,
    /// The last on this connection.
    last: bool,
    /// It knows no chunks: what has no length ends with the connection.
    old: bool,
}

impl Http {
    pub(super) fn is_free(&self, is_client: bool) -> bool {
        if is_client {
            !self.busy && !self.spent
        } else {
            !self.exchanges.is_empty()
        }
    }

    /// Whether all exchanges are done that will be: RFC 9112 section 9.6, "MUST initiate closure of the connection" of a
    /// server after its last response, "close the connection after reading" that of a client.
    pub(super) fn is_over(&self) -> bool {
        self.spent && !self.busy && self.exchanges.is_empty()
    }

    /// Whether what still comes is passed over: RFC 9112 section 9.6, "MUST NOT process any further requests".
    pub(super) fn is_deaf(&self, is_client: bool) -> bool {
        self.spent && !is_client
    }

    /// Whether the end of the connection leaves nothing half done, so that the next exchange can go on another.
    pub(super) fn is_at_rest(&self) -> bool {
        self.answered && !self.busy
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Of a client: the other side says no more.
    pub(super) fn ends(&mut self) {
        self.spent = true;
    }

    /// The client says something.
    pub(super) fn post(&mut self, config: &ConnectionConfig<'_>, body: &[u8], out: &mut Vec<u8>) {
        let usual = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("content-length", &body.len().to_string()),
        ];
        let text = head::request("POST", &usual, config);
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(body);
        self.busy = true;
    }

    /// The client hears something.
    pub(super) fn answered(&mut self, decoded: &Decoded<'_>) -> Signal {
        let streams = || {
            let kind = head::field(decoded, "content-type");
            let kind = kind.as_deref().and_then(|kind| kind.split(';').next());
            kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
        };
        let asked = self.busy;
        match head::status(decoded) {
            // RFC 9110 section 15.2: interim answers are followed by the one that counts.
            Some(100..=199) => {}
            Some(_) => {
                self.busy = decoded.frame.control.is_some() && streams();
                self.spent |= head::closes(decoded);
            }
            // The stream ends with the answer.
            None => self.busy &= decoded.root().is_some_and(|m| m.get("method").is_some()),
        }
        self.answered |= asked && !self.busy;
        Signal::Nothing
    }

    /// The server hears something; what needs no words of the protocol is answered at once.
    pub(super) fn asked(&mut self, decoded: &Decoded<'_>, out: &mut Vec<u8>) -> Signal {
        let refused = if head::status(decoded) != Some(0) {
            Some("what comes is no HTTP request".to_owned())
        } else if self.exchanges.len() >= MOST {
            Some(format!("{MOST} requests wait on one connection"))
        } else {
            None
        };
        if let Some(why) = refused {
            // What was asked before is still answered; then the connection is closed.
            self.spent = true;
            return Signal::Refused(why);
        }
        self.expects = None;
        let start = head::start(decoded);
        let (method, target) = start.split_once(' ').unwrap_or_default();
        let path = target.split([' ', '?']).next().unwrap_or_default();
        let is_message = decoded.frame.control.is_none();
        let has = |key: &str| decoded.root().is_some_and(|m| m.get(key).is_some());
        let answer = match (method, is_message) {
            ("POST", _) if decoded.is_faulty() => {
                let text = decoded.faults().next().map(|(_, fault)| fault.to_string());
                let error = serde_json::json!({ "error": { "code": -32600, "message": text } });
                Some(("400 Bad Request", error.to_string()))
            }
            ("POST", true) if has("method") && has("id") => None,
            ("POST", true) if has("method") || has("result") || has("error") => {
                Some(("202 Accepted", "\"\"".to_owned()))
            }
            ("GET" | "HEAD", _) if path == "/health" => {
                Some(("200 OK", r#"{"status":"healthy"}"#.to_owned()))
            }
            ("POST", _) => {
                let error = r#"{"error":"a JSON-RPC message is wanted as body"}"#;
                Some(("400 Bad Request", error.to_owned()))
            }
            _ => {
                let error = r#"{"error":"only POST is served here"}"#;
                // RFC 9110 section 15.5.6: "MUST generate an Allow header field".
                Some(("405 Method Not Allowed\r\nallow: POST", error.to_owned()))
            }
        };
        let mut exchange = Exchange {
            id: Some(decoded.message.id.text().into_owned()),
            head: method == "HEAD",
            last: head::closes(decoded),
            old: start.ends_with("HTTP/1.0"),
            ..Exchange::default()
        };
        if let Some((status, body)) = answer {
            exchange.whole(status, &body);
        }
        self.spent |= exchange.last;
        self.exchanges.push_back(exchange);
        self.flush(out);
        Signal::Nothing
    }

    /// The server has so much of a request that is not complete.
    pub(super) fn half(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.expects.is_none() && !self.spent && head::expects(bytes) {
            self.expects = Some(false);
            self.flush(out);
        }
    }

    /// The server says something: in the exchange of that id, or where it asks itself, in the first.
    pub(super) fn answer(
        &mut self,
        body: &[u8],
        id: Option<&str>,
        asks: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut all = self.exchanges.iter_mut().filter(|e| !e.done);
        let own = all.find(|e| asks || e.id.as_deref() == id);
        let Some(exchange) = own else {
            if !self.exchanges.is_empty() {
                // In bytes of no exchange it would be taken for the answer to the first.
                let wanted = "that of a request that is not answered yet";
                return Err(Refusal::new("id", wanted, id.unwrap_or("none").to_owned()));
            }
            // Nobody asked: only bytes of no exchange can say it.
            let mut stray = Exchange::default();
            stray.whole("200 OK", &String::from_utf8_lossy(body));
            out.append(&mut stray.out);
            return Ok(());
        };
        if asks && !exchange.streams {
            exchange.begin_stream();
            self.spent |= exchange.last;
        }
        if exchange.streams {
            exchange.event(body, !asks);
        } else {
            exchange.whole("200 OK", &String::from_utf8_lossy(body));
        }
        self.flush(out);
        Ok(())
    }

    /// Sends what is first; then what was waiting for it.
    fn flush(&mut self, out: &mut Vec<u8>) {
        while let Some(first) = self.exchanges.front_mut() {
            out.append(&mut first.out);
            if !first.done {
                return;
            }
            self.exchanges.pop_front();
        }
        if let Some(told @ false) = &mut self.expects {
            *told = true;
            out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }
}

impl Exchange {
    /// A whole answer. RFC 9110 section 9.3.2: to HEAD, "the server MUST NOT send content in the response".
    fn whole(&mut self, status: &str, body: &str) {
        let close = if self.last {
            "connection: close\r\n"
        } else {
            ""
        };
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\ncontent-type: application/json\r\n{close}\r\n",
            body.len()
        );
        self.out.extend_from_slice(head.as_bytes());
        if !self.head {
            self.out.extend_from_slice(body.as_bytes());
        }
        self.done = true;
    }

    /// What every stream of events begins with. RFC 9112 section 6.1: chunks MUST NOT be sent to a client of HTTP/1.0.
    fn begin_stream(&mut self) {
        self.streams = true;
        // Without chunks only the end of the connection is the end of the stream.
        self.last |= self.old;
        self.out.extend_from_slice(EVENTS.as_bytes());
        if !self.old {
            self.out
                .extend_from_slice(b"transfer-encoding: chunked\r\n");
        }
        if self.last {
            self.out.extend_from_slice(b"connection: close\r\n");
        }
        self.out.extend_from_slice(b"\r\n");
    }

    /// An event of a stream, the last or not.
    fn event(&mut self, body: &[u8], last: bool) {
        let event = [b"data: ", body, b"\n\n"].concat();
        if self.old {
            self.out.extend_from_slice(&event);
        } else {
            let size = format!("{:x}\r\n", event.len());
            self.out.extend_from_slice(size.as_bytes());
            self.out.extend_from_slice(&event);
            self.out.extend_from_slice(b"\r\n");
            if last {
                self.out.extend_from_slice(b"0\r\n\r\n");
            }
        }
        self.done = last;
    }
}

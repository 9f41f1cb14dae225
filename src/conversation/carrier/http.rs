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

use super::{Carriage, Means, head};
use crate::decoder::Decoded;
use std::collections::VecDeque;

/// Exchanges that a client may begin on one connection before the first is answered.
const PIPELINED: usize = 64;
/// What every stream of events begins with.
const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
                      transfer-encoding: chunked\r\n\r\n";

/// One connection.
#[derive(Default)]
pub(super) struct Http {
    /// Of a client: an exchange is under way.
    busy: bool,
    /// Of a server: what was asked, in order.
    exchanges: VecDeque<Exchange>,
}

/// What was asked, and what of the answer is not sent yet because others come first.
#[derive(Default)]
struct Exchange {
    /// The id of the request, as it is written.
    id: Option<String>,
    out: Vec<u8>,
    streams: bool,
    done: bool,
}

impl Http {
    pub(super) fn is_free(&self, is_client: bool) -> bool {
        if is_client {
            !self.busy
        } else {
            !self.exchanges.is_empty()
        }
    }

    /// The client says something.
    pub(super) fn post(&mut self, carriage: &Carriage<'_>, body: &[u8], out: &mut Vec<u8>) {
        let usual = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("content-length", &body.len().to_string()),
        ];
        let text = head::request("POST", &usual, carriage);
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(body);
        self.busy = true;
    }

    /// The client hears something.
    pub(super) fn answered(&mut self, decoded: &Decoded<'_>) -> Means {
        let streams = || {
            let kind = head::field(decoded, "content-type");
            kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
        };
        match head::status(decoded) {
            // RFC 9110 section 15.2: interim answers are followed by the one that counts.
            Some(100..=199) => {}
            Some(_) => self.busy = decoded.frame.control.is_some() && streams(),
            // The stream ends with the answer.
            None => self.busy &= decoded.root().is_some_and(|m| m.get("method").is_some()),
        }
        Means::Nothing
    }

    /// The server hears something; what needs no words of the protocol is answered at once.
    pub(super) fn asked(&mut self, decoded: &Decoded<'_>, out: &mut Vec<u8>) -> Means {
        if head::status(decoded) != Some(0) {
            return Means::Refused("what comes is no HTTP request".into());
        }
        if self.exchanges.len() >= PIPELINED {
            return Means::Refused(format!("{PIPELINED} requests wait on one connection"));
        }
        let start = head::start(decoded);
        let (method, target) = start.split_once(' ').unwrap_or_default();
        let path = target.split([' ', '?']).next().unwrap_or_default();
        let is_message = decoded.frame.control.is_none();
        let has = |key: &str| decoded.root().is_some_and(|m| m.get(key).is_some());
        let answer = match (method, is_message) {
            ("POST", _) if decoded.is_faulty() => {
                let text = decoded.faults().next().map(|(_, fault)| fault.to_string());
                let error = serde_json::json!({ "error": { "code": -32600, "message": text } });
                Some(whole("400 Bad Request", &error.to_string()))
            }
            ("POST", true) if has("method") && has("id") => None,
            ("POST", true) if has("method") || has("result") || has("error") => {
                Some(whole("202 Accepted", "\"\""))
            }
            ("GET", _) if path == "/health" => Some(whole("200 OK", r#"{"status":"healthy"}"#)),
            ("POST", _) => {
                let error = r#"{"error":"a JSON-RPC message is wanted as body"}"#;
                Some(whole("400 Bad Request", error))
            }
            _ => {
                let error = r#"{"error":"only POST is served here"}"#;
                Some(whole("405 Method Not Allowed", error))
            }
        };
        self.exchanges.push_back(Exchange {
            id: Some(decoded.message.id.text().into_owned()),
            done: answer.is_some(),
            out: answer.unwrap_or_default(),
            streams: false,
        });
        self.flush(out);
        Means::Nothing
    }

    /// The server says something: in the exchange of that id, or where it asks itself, in the first.
    pub(super) fn answer(&mut self, body: &[u8], id: Option<&str>, asks: bool, out: &mut Vec<u8>) {
        let open = |e: &&mut Exchange| !e.done;
        let mut all = self.exchanges.iter_mut().filter(open);
        let own = if asks {
            all.next()
        } else {
            let mut all: Vec<&mut Exchange> = all.collect();
            let at = all.iter().position(|e| e.id.as_deref() == id).unwrap_or(0);
            (at < all.len()).then(|| all.swap_remove(at))
        };
        let Some(exchange) = own else {
            // Nobody asked: only bytes of no exchange can say it.
            return out.extend_from_slice(&whole("200 OK", &String::from_utf8_lossy(body)));
        };
        if asks && !exchange.streams {
            exchange.streams = true;
            exchange.out.extend_from_slice(EVENTS.as_bytes());
        }
        if exchange.streams {
            let mut event = b"data: ".to_vec();
            event.extend_from_slice(body);
            event.extend_from_slice(b"\n\n");
            let size = format!("{:x}\r\n", event.len());
            exchange.out.extend_from_slice(size.as_bytes());
            exchange.out.extend_from_slice(&event);
            exchange.out.extend_from_slice(b"\r\n");
        } else {
            let text = String::from_utf8_lossy(body);
            exchange.out.extend_from_slice(&whole("200 OK", &text));
        }
        if !asks {
            exchange.done = true;
            if exchange.streams {
                exchange.out.extend_from_slice(b"0\r\n\r\n");
            }
        }
        self.flush(out);
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
    }
}

/// A whole answer.
fn whole(status: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\ncontent-type: application/json\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

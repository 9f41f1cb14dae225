//! One entry of a HAR file, as items.
//!
//! ```text
//!   request, response          -> POST /rpc HTTP/1.1 ..   HTTP/1.1 200 OK ..
//!   content.size > its text    -> head, text, gap
//!   _webSocketMessages         -> GET /ws HTTP/1.1 ..   HTTP/1.1 101 ..   frames
//! ```

use super::super::chunk::{InputPlace, ItemSink, Problem};
use super::super::form::Form;
use super::super::time::{self, Time};
use super::super::traffic::{self, MAX_CONNECTIONS, Traffic};
use super::http::{Body, Field, Head};
use crate::framing::{self, Framing, Wire};
use crate::protocol::Direction::{self, ToClient, ToServer};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Entry {
    started_date_time: Option<String>,
    time: Option<f64>,
    timings: Option<Timings>,
    connection: Option<Value>,
    #[serde(rename = "_connectionId")]
    connection_id: Option<Value>,
    #[serde(rename = "serverIPAddress")]
    server_address: Option<String>,
    request: Request,
    response: Option<Response>,
    #[serde(rename = "_webSocketMessages")]
    messages: Option<Vec<WebSocketMessage>>,
}

/// Phases of an exchange before its request is sent, in milliseconds; negative if one does not apply.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Timings {
    blocked: Option<f64>,
    dns: Option<f64>,
    connect: Option<f64>,
    send: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Request {
    method: String,
    url: String,
    headers: Option<Vec<Field>>,
    post_data: Option<PostData>,
    body_size: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct PostData {
    mime_type: Option<String>,
    text: Option<String>,
    /// Of some proxies, as in a response.
    encoding: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Response {
    status: Option<f64>,
    status_text: Option<String>,
    headers: Option<Vec<Field>>,
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Content {
    size: Option<f64>,
    mime_type: Option<String>,
    text: Option<String>,
    encoding: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct WebSocketMessage {
    #[serde(rename = "type")]
    kind: String,
    time: Option<f64>,
    opcode: Option<f64>,
    data: Option<String>,
}

/// Emits the items of entries.
#[derive(Default)]
pub(super) struct Exchanges {
    traffic: Traffic,
    /// The connections of HTTP entries by their names.
    conns: HashMap<String, u32>,
    bytes: Vec<u8>,
    /// The latest end of an exchange so far.
    latest_end: Option<Time>,
    /// The latest end of a response with several events. An entry has no times of single events.
    events_until: Option<Time>,
    is_unordered: bool,
}

impl Exchanges {
    /// Emits the entry with this number; `None` if it is too long.
    pub(super) fn entry(&mut self, number: u64, json: Option<&[u8]>, sink: &mut ItemSink<'_>) {
        let problem = match json.map(serde_json::from_slice::<Entry>) {
            None => Some("longer than the limit of 64 MiB; left out".into()),
            Some(Err(error)) => Some(format!("not an entry of a HAR file: {error}")),
            Some(Ok(entry)) => self.exchange(&entry, sink),
        };
        if let Some(text) = problem {
            let problem = Problem::error(InputPlace::Entry(number), text);
            problem.report(sink);
        }
    }

    /// Emits an entry. Returns a text about what cannot be read.
    fn exchange(&mut self, entry: &Entry, sink: &mut ItemSink<'_>) -> Option<String> {
        let request = &entry.request;
        let is_websocket = entry.messages.is_some()
            || request.url.starts_with("ws://")
            || request.url.starts_with("wss://");
        let started = entry.started_date_time.as_deref().and_then(time::parse);
        let conn = self.conn(entry, is_websocket, started, sink);
        let sent = started.map(|at| at + entry.timings.as_ref().map_or(0, Timings::until_sent));
        let received = match (started, entry.time) {
            (Some(at), Some(time)) => Some((at + nanoseconds(time)).max(sent.unwrap_or(at))),
            _ => sent,
        };
        if self.loses_order(entry, sent, received) {
            self.is_unordered = true;
            traffic::emit_unordered(conn, sent, sink);
        }
        let mut problem = None;

        let data = request.post_data.as_ref();
        let body = Body::new(
            data.and_then(|data| data.text.as_deref()),
            data.and_then(|data| data.encoding.as_deref()),
            request.body_size,
            &mut problem,
        );
        let mut head = Head::new(&mut self.bytes, is_websocket);
        head.request(&request.method, &request.url);
        head.fields(request.headers.as_deref().unwrap_or_default());
        let missing = head.end(data.and_then(|data| data.mime_type.as_deref()), &body, true);
        traffic::emit_chunk(conn, ToServer, sent, &self.bytes, sink);
        traffic::emit_lost(conn, ToServer, sent, missing, sink);

        let status = entry.response.as_ref().and_then(|r| r.status);
        let status = status.map_or(0, |status| whole(status).min(999) as u16);
        let messages = entry.messages.as_deref().unwrap_or_default();
        // Writers leave the status out where they did not see the handshake.
        let status = if messages.is_empty() { status } else { 101 };
        // An exchange that failed has no response.
        if status >= 100 {
            let response = entry.response.as_ref();
            let content = response.and_then(|r| r.content.as_ref());
            let has_body = request.method != "HEAD" && !matches!(status, 100..=199 | 204 | 304);
            let body = Body::new(
                content.and_then(|c| c.text.as_deref()),
                content.and_then(|c| c.encoding.as_deref()),
                content.and_then(|c| c.size),
                &mut problem,
            );
            let mut head = Head::new(&mut self.bytes, is_websocket && status == 101);
            let reason = response.and_then(|r| r.status_text.as_deref());
            head.response(status, reason.unwrap_or_default());
            head.fields(
                response
                    .and_then(|r| r.headers.as_deref())
                    .unwrap_or_default(),
            );
            let kind = content.and_then(|c| c.mime_type.as_deref());
            let missing = head.end(kind, &body, has_body);
            let at = if is_websocket { sent } else { received };
            traffic::emit_chunk(conn, ToClient, at, &self.bytes, sink);
            traffic::emit_lost(conn, ToClient, at, missing, sink);
        }
        for (n, message) in messages.iter().enumerate() {
            if let Err(text) = self.message(conn, message, sink) {
                problem.get_or_insert(format!("_webSocketMessages[{n}]: {text}"));
            }
        }
        problem
    }

    /// Returns `true` if the order of the messages is lost with this entry: other messages were sent while events arrived.
    fn loses_order(&mut self, entry: &Entry, sent: Option<Time>, received: Option<Time>) -> bool {
        let has_events = entry.response.as_ref().is_some_and(Response::has_events);
        // A stream that was still open when the file was written has no end.
        let is_open = has_events && received <= sent;
        let overlaps = has_events && sent < self.latest_end || sent < self.events_until;
        self.latest_end = received.max(self.latest_end);
        if has_events {
            self.events_until = received.max(self.events_until);
        }
        (overlaps || is_open) && !self.is_unordered
    }

    /// Returns the connection of an entry. A WebSocket has its own.
    fn conn(
        &mut self,
        entry: &Entry,
        is_websocket: bool,
        time: Option<Time>,
        sink: &mut ItemSink<'_>,
    ) -> u32 {
        let url = &entry.request.url;
        let name = [&entry.connection, &entry.connection_id]
            .into_iter()
            .flatten()
            .find_map(|id| match id {
                Value::String(id) if !id.is_empty() => Some(id.clone()),
                Value::Number(id) => Some(id.to_string()),
                _ => None,
            });
        let name = name.unwrap_or_else(|| {
            url.split(['?', '#'])
                .next()
                .map_or_else(String::new, origin)
        });
        if let (Some(conn), false) = (self.conns.get(&name), is_websocket) {
            return *conn;
        }
        let keys = [
            ("connect", Some(origin(url))),
            ("address", entry.server_address.clone()),
        ];
        let keys = keys
            .each_ref()
            .map(|(key, value)| (*key, value.as_deref().filter(|value| !value.is_empty())));
        let conn = self.traffic.open(Form::Har, time, &keys, sink);
        if !is_websocket {
            if self.conns.len() >= MAX_CONNECTIONS {
                self.conns.clear();
            }
            self.conns.insert(name, conn);
        }
        conn
    }

    fn message(
        &mut self,
        conn: u32,
        message: &WebSocketMessage,
        sink: &mut ItemSink<'_>,
    ) -> Result<(), String> {
        let direction: Direction = match message.kind.as_str() {
            "send" | "request" => ToServer,
            "receive" | "response" => ToClient,
            other => return Err(format!("type: wanted send or receive, got {other:?}")),
        };
        let data = message.data.as_deref().unwrap_or_default();
        let opcode = message.opcode.map_or(1, |opcode| whole(opcode) as u8);
        let decoded;
        let payload = if opcode == 1 {
            data.as_bytes()
        } else {
            decoded = decode_base64(data).map_err(|error| format!("data: {error}"))?;
            &decoded
        };
        let wire = Wire {
            opcode: Some(opcode & 15),
            // RFC 6455 section 5.3: a client masks. This key leaves the payload as it is.
            mask: (direction == ToServer).then(|| vec![[0; 4]]),
            ..Wire::default()
        };
        self.bytes.clear();
        framing::write(Framing::WebSocket, payload, &wire, &mut self.bytes);
        let time = message.time.map(epoch);
        traffic::emit_chunk(conn, direction, time, &self.bytes, sink);
        Ok(())
    }
}

impl Response {
    /// Returns `true` for several server-sent events.
    fn has_events(&self) -> bool {
        let content = self.content.as_ref();
        let kind = content.and_then(|c| c.mime_type.as_deref());
        let text = content.and_then(|c| c.text.as_deref());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut fields = text.unwrap_or_default().lines();
        is_stream
            && fields
                .by_ref()
                .filter(|line| line.starts_with("data:"))
                .nth(1)
                .is_some()
    }
}

impl Timings {
    /// Returns the time from the start until the request was sent.
    fn until_sent(&self) -> Time {
        let phases = [self.blocked, self.dns, self.connect, self.send];
        nanoseconds(phases.into_iter().flatten().filter(|t| *t > 0.0).sum())
    }
}

impl<'a> Body<'a> {
    /// Creates a body from its text and the number of bytes that it had.
    fn new(
        text: Option<&'a str>,
        encoding: Option<&str>,
        size: Option<f64>,
        problem: &mut Option<String>,
    ) -> Self {
        let size = size.map_or(0, whole);
        let text = text.unwrap_or_default();
        let bytes: Cow<'_, [u8]> = if encoding.is_some_and(|e| e.eq_ignore_ascii_case("base64")) {
            match decode_base64(text) {
                Ok(bytes) => bytes.into(),
                Err(error) => {
                    problem.get_or_insert(format!("text: {error}"));
                    // Four characters are three bytes.
                    let size = size.max(1 + text.len() as u64 * 3 / 4);
                    return Self {
                        missing: size,
                        bytes: Cow::Borrowed(&[]),
                    };
                }
            }
        } else {
            text.as_bytes().into()
        };
        // JSON that is whole lost only its byte order mark, or was in another charset.
        let is_whole = !bytes.is_empty() && serde_json::from_slice::<IgnoredAny>(&bytes).is_ok();
        let missing = size.saturating_sub(bytes.len() as u64);
        Self {
            missing: if is_whole { 0 } else { missing },
            bytes,
        }
    }
}

fn decode_base64(text: &str) -> Result<Vec<u8>, String> {
    BASE64
        .decode(text)
        .map_err(|error| format!("not base64: {error}"))
}

/// Returns scheme and authority of a URL.
fn origin(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(start..).unwrap_or_default();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    url.get(..start + end).unwrap_or_default().to_owned()
}

/// Converts a number that some writers give a fraction; a negative one means that it is not known.
fn whole(number: f64) -> u64 {
    u64::try_from(number as i64).unwrap_or_default()
}

/// Converts milliseconds.
fn nanoseconds(milliseconds: f64) -> Time {
    (milliseconds * 1e6).round() as Time
}

/// Returns the time of a message: Chrome and mitmproxy write seconds since 1970, Playwright milliseconds.
fn epoch(time: f64) -> Time {
    let seconds = if time < 1e11 { time } else { time / 1e3 };
    // A double holds present times to less than a microsecond.
    ((seconds * 1e6).round() as Time).saturating_mul(1000)
}

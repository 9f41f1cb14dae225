//! One entry of a HAR file.
//!
//! ```text
//!   {"startedDateTime", "time", "request": {..}, "response": {.., "content": {..}}, "cache", "timings", "connection"}
//! ```

use super::direction_name;
use crate::capture::write_time;
use crate::decoder::Origin;
use crate::encoding::json::write_str;
use crate::framing::fields::{fields, unescaped};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::borrow::Cow;
use std::io::Write as _;

/// The content type of a body that names none, as Chromium writes it.
const UNKNOWN: &str = "x-unknown";

/// Writes what is before the first entry.
pub(super) fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"log":{"version":"1.2","creator":{"name":"wiretool","version":"#);
    write_str(env!("CARGO_PKG_VERSION"), out);
    out.extend_from_slice(b"},\"pages\":[],\"entries\":[\n");
}

/// Writes what is after the last entry.
pub(super) fn end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\n]}}\n");
}

/// Where requests go, if their heads do not say it.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    is_tls: bool,
    authority: &'a str,
}

impl<'a> Target<'a> {
    /// Reads the address that the recorder connected to.
    pub(super) fn new(connect: &'a str) -> Self {
        let (scheme, rest) = connect.split_once("://").unwrap_or(("", connect));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        Self {
            is_tls: matches!(scheme, "https" | "wss" | "tls"),
            authority: match scheme {
                "unix" => "localhost",
                _ if authority.is_empty() || rest.starts_with("unix:") => "localhost",
                _ => authority,
            },
        }
    }

    fn scheme(self, is_websocket: bool) -> &'static str {
        match (is_websocket, self.is_tls) {
            (true, true) => "wss",
            (true, false) => "ws",
            (false, true) => "https",
            (false, false) => "http",
        }
    }
}

/// The start line and the fields of a head.
pub(super) struct HttpHead<'a> {
    start: [Cow<'a, str>; 3],
    fields: Vec<(Cow<'a, str>, String)>,
    len: usize,
}

impl<'a> HttpHead<'a> {
    pub(super) fn read(head: &'a [u8]) -> Self {
        let mut lines = fields(head);
        let start = lines.next().and_then(|line| head.get(line.range));
        let start = start.unwrap_or_default().trim_ascii();
        let mut parts = start.splitn(3, |byte| *byte == b' ');
        let mut part = || String::from_utf8_lossy(parts.next().unwrap_or_default());
        let start = [part(), part(), part()];
        let named = lines.filter(|line| !line.name.is_empty()).map(|line| {
            let value = String::from_utf8_lossy(head.get(line.value).unwrap_or_default());
            let lines = value.lines().map(str::trim).collect::<Vec<_>>();
            (String::from_utf8_lossy(line.name), lines.join(" "))
        });
        Self {
            start,
            fields: named.collect(),
            len: head.len(),
        }
    }

    fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let (_, value) = fields.find(|(field, _)| field.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    pub(super) fn is_event_stream(&self) -> bool {
        let kind = self.field("content-type").unwrap_or_default();
        kind.split(';')
            .next()
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
    }

    pub(super) fn is_chunked(&self) -> bool {
        let coding = self.field("transfer-encoding").unwrap_or_default();
        coding.to_ascii_lowercase().contains("chunked")
    }

    /// Returns the number of bytes that a body had, of which these are there.
    fn body_size(&self, there: usize) -> usize {
        let declared = self
            .field("content-length")
            .and_then(|len| len.parse().ok());
        let declared = declared.filter(|_| self.field("content-encoding").is_none());
        declared.map_or(there, |len: usize| len.max(there))
    }

    /// Returns the address of a request.
    fn url(&self, target: Target<'_>) -> String {
        let [method, path, _] = &self.start;
        if path.contains("://") {
            return uri(path);
        }
        let is_websocket = self
            .field("upgrade")
            .is_some_and(|name| name.eq_ignore_ascii_case("websocket"));
        let authority = self.field("host").filter(|host| !host.is_empty());
        let authority = match method.as_ref() {
            "CONNECT" => path,
            _ => authority.unwrap_or(target.authority),
        };
        let path = match path.as_ref() {
            "*" => "/*",
            path if path.starts_with('/') => path,
            _ => "/",
        };
        let scheme = target.scheme(is_websocket);
        uri(&format!("{scheme}://{authority}{path}"))
    }

    fn write_fields(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"headers\":[");
        for (n, (name, value)) in self.fields.iter().enumerate() {
            write_pair(n, name, value, out);
        }
        write(out, format_args!("],\"headersSize\":{}", self.len));
    }
}

/// Writes one of several objects with a name and a value.
fn write_pair(n: usize, name: &str, value: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(if n == 0 {
        b"{\"name\":"
    } else {
        b",{\"name\":"
    });
    write_str(name, out);
    out.extend_from_slice(b",\"value\":");
    write_str(value, out);
    out.push(b'}');
}

/// Returns an address in which everything that no URI has is escaped (RFC 3986 section 2).
fn uri(text: &str) -> String {
    let mut uri = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_usual = byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
        if is_usual {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// An exchange, or a WebSocket with its messages.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // independent facts
pub(super) struct Entry {
    /// A message of it is selected.
    pub(super) is_selected: bool,
    /// The times of the request, of the head of the response, and of its last event.
    pub(super) started: Option<i64>,
    answered: Option<i64>,
    pub(super) ended: Option<i64>,
    /// The request as JSON.
    request: Vec<u8>,
    /// The members of the response as JSON, without its content.
    response: Vec<u8>,
    content_type: String,
    /// The body of the response.
    pub(super) content: Vec<u8>,
    /// The number of bytes that its head declares.
    declared: usize,
    is_websocket: bool,
    /// The messages of a WebSocket as JSON.
    messages: Vec<u8>,
    /// It continues another entry, which would be too long.
    is_continued: bool,
    lacks_request: bool,
}

impl Entry {
    pub(super) fn request(head: &HttpHead<'_>, body: &[u8], target: Target<'_>) -> Self {
        let [method, _, version] = &head.start;
        let url = head.url(target);
        let mut json = b"{\"method\":".to_vec();
        write_str(method, &mut json);
        json.extend_from_slice(b",\"url\":");
        write_str(&url, &mut json);
        json.extend_from_slice(b",\"httpVersion\":");
        write_str(version, &mut json);
        json.extend_from_slice(b",\"cookies\":[]");
        head.write_fields(&mut json);
        json.extend_from_slice(b",\"queryString\":[");
        let query = url.split_once('?').map_or("", |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        for (n, part) in query.split('&').filter(|part| !part.is_empty()).enumerate() {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let [name, value] = [name, value].map(|text| unescaped(text.as_bytes()));
            let [name, value] = [&name, &value].map(|text| String::from_utf8_lossy(text));
            write_pair(n, &name, &value, &mut json);
        }
        write(
            &mut json,
            format_args!("],\"bodySize\":{}", head.body_size(body.len())),
        );
        if !body.is_empty() {
            json.extend_from_slice(b",\"postData\":{\"mimeType\":");
            write_str(head.field("content-type").unwrap_or(UNKNOWN), &mut json);
            write_text(body, &mut json);
            json.push(b'}');
        }
        json.push(b'}');
        Self {
            request: json,
            is_websocket: url.starts_with("ws"),
            ..Self::default()
        }
    }

    /// Creates an entry whose request is not in the capture.
    pub(super) fn unknown(target: Target<'_>, is_websocket: bool) -> Self {
        let head: &[u8] = if is_websocket {
            b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"
        } else {
            b"GET / HTTP/1.1\r\n\r\n"
        };
        Self {
            lacks_request: true,
            ..Self::request(&HttpHead::read(head), b"", target)
        }
    }

    /// Adds the head of the response.
    pub(super) fn respond(&mut self, head: &HttpHead<'_>, status: u16, time: Option<i64>) {
        let [version, _, reason] = &head.start;
        self.started = self.started.or(time);
        self.answered = time;
        self.declared = head.body_size(0);
        let out = &mut self.response;
        write(out, format_args!("\"status\":{status},\"statusText\":"));
        write_str(reason, out);
        out.extend_from_slice(b",\"httpVersion\":");
        write_str(version, out);
        out.extend_from_slice(b",\"cookies\":[],\"redirectURL\":");
        write_str(head.field("location").unwrap_or_default(), out);
        head.write_fields(out);
        self.content_type
            .push_str(head.field("content-type").unwrap_or(UNKNOWN));
    }

    /// Adds a message of a WebSocket.
    pub(super) fn message(&mut self, opcode: u8, payload: &[u8], origin: Origin) {
        self.ended = origin.time;
        let out = &mut self.messages;
        if !out.is_empty() {
            out.push(b',');
        }
        let kind = direction_name(origin.direction);
        let microseconds = origin.time.unwrap_or_default() / 1000;
        let (seconds, rest) = (
            microseconds.div_euclid(1_000_000),
            microseconds.rem_euclid(1_000_000),
        );
        write(
            out,
            format_args!(
                "{{\"type\":\"{kind}\",\"time\":{seconds}.{rest:06},\"opcode\":{opcode},\"data\":"
            ),
        );
        match std::str::from_utf8(payload) {
            Ok(text) if opcode == 1 => write_str(text, out),
            _ => write_str(&BASE64.encode(payload), out),
        }
        out.push(b'}');
    }

    /// Returns the entry with the messages that follow.
    pub(super) fn next_part(&self) -> Self {
        Self {
            started: self.started,
            answered: self.answered,
            request: self.request.clone(),
            response: self.response.clone(),
            content_type: self.content_type.clone(),
            is_websocket: self.is_websocket,
            is_continued: true,
            ..Self::default()
        }
    }

    /// Returns the memory of its texts.
    pub(super) fn len(&self) -> usize {
        self.request.len() + self.response.len() + self.content.len() + self.messages.len()
    }

    #[allow(clippy::cast_precision_loss)] // durations in nanoseconds are below 2^53
    pub(super) fn write(&self, connection: u32, out: &mut Vec<u8>) {
        let milliseconds = |from: Option<i64>, to: Option<i64>| {
            let between = from.zip(to).map_or(0, |(from, to)| to.saturating_sub(from));
            between.max(0) as f64 / 1e6
        };
        let wait = milliseconds(self.started, self.answered);
        let receive = milliseconds(self.answered, self.ended);
        write(out, format_args!("{{\"connection\":\"{connection}\""));
        if self.is_websocket {
            out.extend_from_slice(b",\"_resourceType\":\"websocket\"");
        }
        let before = out.len();
        write_time("startedDateTime", self.started, out);
        if out.len() == before {
            // The key is required. Nothing happened then.
            write_time("startedDateTime", Some(0), out);
        }
        let time = wait + receive;
        write(out, format_args!(",\"time\":{time},\"request\":"));
        out.extend_from_slice(&self.request);
        out.extend_from_slice(b",\"response\":{");
        if self.response.is_empty() {
            // As Chromium writes a request that failed.
            out.extend_from_slice(br#""status":0,"statusText":"","httpVersion":"","cookies":[],"headers":[],"headersSize":-1,"redirectURL":"""#);
        } else {
            out.extend_from_slice(&self.response);
        }
        let size = self.content.len().max(self.declared);
        write(
            out,
            format_args!(",\"bodySize\":{size},\"content\":{{\"size\":{size},\"mimeType\":"),
        );
        write_str(&self.content_type, out);
        if !self.content.is_empty() {
            write_text(&self.content, out);
        }
        write(
            out,
            format_args!(
                "}}}},\"cache\":{{}},\"timings\":{{\"blocked\":-1,\"dns\":-1,\"connect\":-1,\"ssl\":-1,\"send\":0,\"wait\":{wait},\"receive\":{receive}}}"
            ),
        );
        if self.is_websocket {
            out.extend_from_slice(b",\"_webSocketMessages\":[");
            out.extend_from_slice(&self.messages);
            out.push(b']');
        }
        let comment = match (self.lacks_request, self.is_continued) {
            (true, _) => Some("the request is not in the capture, or is not valid HTTP"),
            (_, true) => Some("continues the last entry of this connection"),
            _ => None,
        };
        if let Some(comment) = comment {
            out.extend_from_slice(b",\"comment\":");
            write_str(comment, out);
        }
        out.push(b'}');
    }
}

/// Writes the text of a body, in Base64 if it is not UTF-8.
fn write_text(body: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"text\":");
    if let Ok(text) = std::str::from_utf8(body) {
        write_str(text, out);
    } else {
        write_str(&BASE64.encode(body), out);
        out.extend_from_slice(b",\"encoding\":\"base64\"");
    }
}

/// Writes text to a buffer.
fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = out.write_fmt(text);
}

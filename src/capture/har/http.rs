//! Writes the heads and bodies of HAR entries as HTTP/1.1.
//!
//! The fields are those of the entry, except what no longer holds: the body is whole, decoded, and not in chunks, and
//! connections are those of the entries.

use crate::framing::fields;
use serde::Deserialize;
use std::borrow::Cow;
use std::io::Write as _;

/// Fields about the transfer of a body, about the connection, or about an extension of WebSocket.
const REPLACED: [&str; 7] = [
    "connection",
    "content-encoding",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "sec-websocket-extensions",
    "transfer-encoding",
];

/// A field of a head.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct Field {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: String,
}

/// A body as far as the entry holds it.
pub(super) struct Body<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// The number of bytes that the entry does not hold.
    pub(super) missing: u64,
}

/// Writes a head and a body into a buffer.
#[allow(clippy::struct_excessive_bools)] // independent facts
pub(super) struct Head<'o> {
    out: &'o mut Vec<u8>,
    /// The exchange starts a WebSocket.
    upgrades: bool,
    is_request: bool,
    has_type: bool,
    has_upgrade: bool,
}

impl<'o> Head<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>, upgrades: bool) -> Self {
        out.clear();
        Self {
            out,
            upgrades,
            is_request: false,
            has_type: false,
            has_upgrade: false,
        }
    }

    /// Writes the first line of a request, and its host.
    pub(super) fn request(&mut self, method: &str, url: &str) {
        self.is_request = true;
        let method = if is_token(method) { method } else { "GET" };
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let path = path.split('#').next().unwrap_or_default();
        let slash = if path.starts_with('/') { "" } else { "/" };
        write(self.out, format_args!("{method} {slash}"));
        for &byte in path.as_bytes() {
            if byte.is_ascii_graphic() {
                self.out.push(byte);
            } else {
                write(self.out, format_args!("%{byte:02X}"));
            }
        }
        write(self.out, format_args!(" HTTP/1.1\r\n"));
        self.field("Host", authority);
    }

    /// Writes the first line of a response.
    pub(super) fn response(&mut self, status: u16, reason: &str) {
        write(self.out, format_args!("HTTP/1.1 {:03} ", status.min(999)));
        value(self.out, reason);
        self.out.extend_from_slice(b"\r\n");
    }

    pub(super) fn fields(&mut self, fields: &[Field]) {
        for Field { name, value } in fields {
            let is = |other: &&str| name.eq_ignore_ascii_case(other);
            // A request has its host from the URL.
            if !is_token(name) || REPLACED.iter().any(is) || self.is_request && is(&"host") {
                continue;
            }
            if is(&"upgrade") {
                // HTTP/2 and the like need no upgrade here.
                if !self.upgrades {
                    continue;
                }
                self.has_upgrade = true;
            }
            self.has_type |= is(&"content-type");
            // Some writers join equal fields with line ends.
            for line in value.split('\n') {
                self.field(name, line);
            }
        }
    }

    /// Ends the head and writes the body. Returns the number of bytes that are missing after it.
    pub(super) fn end(mut self, kind: Option<&str>, body: &Body<'_>, has_body: bool) -> u64 {
        if self.upgrades {
            if !self.has_upgrade {
                self.field("Upgrade", "websocket");
            }
            self.field("Connection", "Upgrade");
            self.out.extend_from_slice(b"\r\n");
            return 0;
        }
        let len = body.bytes.len() as u64 + body.missing;
        let has_body = has_body && (len > 0 || !self.is_request);
        if let (Some(kind), true, false) = (kind, len > 0 && has_body, self.has_type) {
            self.field("Content-Type", kind);
        }
        if !has_body {
            self.out.extend_from_slice(b"\r\n");
            return 0;
        }
        write(self.out, format_args!("Content-Length: {len}\r\n\r\n"));
        self.out.extend_from_slice(&body.bytes);
        body.missing
    }

    fn field(&mut self, name: &str, text: &str) {
        write(self.out, format_args!("{name}: "));
        value(self.out, text);
        self.out.extend_from_slice(b"\r\n");
    }
}

/// Writes text to a buffer.
fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = out.write_fmt(text);
}

/// Writes the value of a field; control characters become blanks.
fn value(out: &mut Vec<u8>, text: &str) {
    let text = text.trim().as_bytes();
    out.extend(
        text.iter()
            .map(|&b| if b.is_ascii_control() { b' ' } else { b }),
    );
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(fields::is_token)
}

//! A HAR file (HAR 1.2), as Chromium writes it: an entry for each HTTP exchange and for each WebSocket.
//!
//! ```text
//!   request ..... response                      --> an entry, written with the response
//!   request ..... response, event, event ..     --> an entry, written with the end of the stream of events
//!   request ..... 101, message, message ..      --> an entry with _webSocketMessages, written at the end
//! ```
//!
//! Bodies are written as they are after inflation and without chunks.

mod entry;

use super::{ExportOptions, Form};
use crate::capture::{EventKind, Item};
use crate::conversation::{Finding, Run, Verdict};
use crate::decoder::{Decoded, Origin};
use crate::encoding::Want;
use crate::framing::{BodyDelimiter, BodyPart, Framing, Head, Places};
use crate::protocol::{Direction, Notes};
use crate::render::masking::{head_secrets, mask, replaceable_secrets};
use crate::span::Span;
use entry::{Entry, HttpHead, Target};
use std::collections::{BTreeMap, VecDeque};

/// The maximum number of bytes of an entry; readers take entries whole.
const MAX_ENTRY: usize = 32 << 20;
/// The maximum number of bytes of all entries that are not complete.
const MAX_WAITING: usize = 256 << 20;
/// The number of connections that are open at a time; the first ends if there are more.
const MAX_CONNECTIONS: usize = 1 << 14;
/// The maximum number of requests of a connection that wait for their responses.
const MAX_REQUESTS: usize = 1 << 10;

/// HTTP exchanges and WebSocket messages.
pub(super) struct Har {
    options: ExportOptions,
    connections: BTreeMap<Option<u32>, Connection>,
    /// The number of connections so far, of all captures.
    count: u32,
    /// The address that the recorder connected to.
    connect: String,
    notes: Notes,
    /// The bytes that wait in entries.
    waiting: usize,
    has_entries: bool,
    /// Messages of no HTTP connection.
    others: u64,
    /// Bytes that are no part of a message. A fault shows that they are not the end of a body.
    unreadable: u64,
    has_faults: bool,
    /// Contents that are left out, because an entry would be too long.
    too_long: u64,
    uses_quic: bool,
}

#[derive(Default)]
struct Connection {
    number: u32,
    /// What the event that opened it says.
    connect: Option<String>,
    /// Requests without responses.
    requests: VecDeque<Entry>,
    /// The entry of a response that is a stream of events, and how its body is delimited.
    events: Option<(Entry, BodyDelimiter)>,
    /// The entry of a WebSocket.
    socket: Option<Entry>,
}

impl Connection {
    /// Returns the entries that are not complete.
    fn into_entries(self) -> impl Iterator<Item = Entry> {
        let events = self.events.map(|(entry, _)| entry);
        self.requests.into_iter().chain(events).chain(self.socket)
    }
}

impl Har {
    pub(super) fn new(options: ExportOptions) -> Self {
        Self {
            options,
            connections: BTreeMap::new(),
            count: 0,
            connect: String::new(),
            notes: Notes::of_secrets(),
            waiting: 0,
            has_entries: false,
            others: 0,
            unreadable: 0,
            has_faults: false,
            too_long: 0,
            uses_quic: false,
        }
    }

    /// Writes an entry, if a message of it is selected.
    fn write(&mut self, entry: &Entry, number: u32, out: &mut Vec<u8>) {
        self.waiting = self.waiting.saturating_sub(entry.len());
        if entry.is_selected {
            self.separate(out);
            entry.write(number, out);
        }
    }

    /// Begins the file, or separates two entries.
    fn separate(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_entries, true) {
            out.extend_from_slice(b",\n");
        } else {
            entry::begin(out);
        }
    }

    /// Writes what is not complete, and ends a connection.
    fn close(&mut self, connection: Connection, out: &mut Vec<u8>) {
        let number = connection.number;
        for entry in connection.into_entries() {
            self.write(&entry, number, out);
        }
    }

    /// Returns the connection, which is put back afterwards.
    fn take(&mut self, conn: Option<u32>, out: &mut Vec<u8>) -> Connection {
        if let Some(known) = self.connections.remove(&conn) {
            return known;
        }
        if self.connections.len() >= MAX_CONNECTIONS
            && let Some((_, first)) = self.connections.pop_first()
        {
            self.close(first, out);
        }
        self.count += 1;
        Connection {
            number: self.count,
            ..Connection::default()
        }
    }

    /// Returns the bytes with stars in the place of secrets.
    fn masked_head(&self, head: &[u8]) -> Vec<u8> {
        let mut head = head.to_vec();
        if !self.options.show_secrets {
            let secrets = head_secrets(&head);
            mask(&mut head, &secrets);
        }
        head
    }

    /// Returns the body, and if a part of it is masked.
    fn masked_body(&mut self, decoded: &Decoded<'_>) -> (Vec<u8>, bool) {
        let view = decoded.frame.view;
        let mut body = view.body().to_vec();
        if self.options.show_secrets {
            return (body, false);
        }
        let start = view.body.at();
        let mut secrets = replaceable_secrets(decoded, &mut self.notes);
        secrets.retain(|span| span.at() >= start && span.end() <= view.body.end());
        let secrets = secrets
            .iter()
            .map(|span| Span::new(span.at() - start, span.end() - start));
        let secrets: Vec<_> = secrets.collect();
        mask(&mut body, &secrets);
        (body, !secrets.is_empty())
    }

    /// Adds content to an entry, unless it is too much.
    fn add(&mut self, entry: &mut Entry, content: &[u8]) {
        if entry.len() + content.len() > MAX_ENTRY || self.waiting + content.len() > MAX_WAITING {
            self.too_long += 1;
            return;
        }
        self.waiting += content.len();
        entry.content.extend_from_slice(content);
    }

    fn request(&mut self, connection: &mut Connection, decoded: &Decoded<'_>) -> Entry {
        let head = self.masked_head(head_of(decoded));
        let (body, _) = self.masked_body(decoded);
        let connect = connection.connect.as_deref().unwrap_or(&self.connect);
        let entry = Entry::request(&HttpHead::read(&head), &body, Target::new(connect));
        self.waiting += entry.len();
        entry
    }

    /// Adds a response to its request. Returns the entry if it is complete.
    fn response(
        &mut self,
        connection: &mut Connection,
        decoded: &Decoded<'_>,
        status: u16,
    ) -> Option<Entry> {
        let head = self.masked_head(head_of(decoded));
        let head = HttpHead::read(&head);
        let mut entry = match connection.requests.pop_front() {
            Some(entry) => entry,
            None => self.unknown_request(connection, status == 101),
        };
        let before = entry.len();
        entry.respond(&head, status, decoded.origin.time);
        self.waiting += entry.len() - before;
        if status == 101 {
            connection.socket = Some(entry);
            return None;
        }
        if head.is_event_stream() && decoded.frame.control.is_some() {
            let source = if head.is_chunked() {
                BodyDelimiter::CHUNKED
            } else {
                BodyDelimiter::Close
            };
            connection.events = Some((entry, source));
            return None;
        }
        let (body, _) = self.masked_body(decoded);
        self.add(&mut entry, &body);
        Some(entry)
    }

    /// Returns the entry of a response whose request is not in the capture.
    fn unknown_request(&mut self, connection: &Connection, is_websocket: bool) -> Entry {
        let connect = connection.connect.as_deref().unwrap_or(&self.connect);
        let entry = Entry::unknown(Target::new(connect), is_websocket);
        self.waiting += entry.len();
        entry
    }

    /// Adds an event to its stream: as it was sent, unless it is compressed or has a secret.
    fn event(&mut self, connection: &mut Connection, decoded: &Decoded<'_>) {
        let stream = connection.events.take();
        let (mut entry, mut source) = stream.unwrap_or_else(|| {
            let mut entry = self.unknown_request(connection, false);
            let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
            entry.respond(&HttpHead::read(head), 200, decoded.origin.time);
            (entry, BodyDelimiter::CHUNKED)
        });
        entry.ended = decoded.origin.time;
        let (body, is_masked) = self.masked_body(decoded);
        let mut content = Vec::new();
        let is_packed = matches!(decoded.frame.view.places, Places::Packed(_));
        let raw = decoded.raw.filter(|_| !is_packed);
        if let Some(raw) = raw {
            without_chunks(&mut source, raw.before, &mut content);
            content = self.masked_head(&content);
            let before = content.len();
            without_chunks(&mut source, raw.bytes, &mut content);
            content.truncate(if is_masked { before } else { content.len() });
        }
        if raw.is_none() || is_masked {
            for line in body.split(|byte| *byte == b'\n') {
                content.extend_from_slice(b"data: ");
                content.extend_from_slice(line);
                content.push(b'\n');
            }
            content.push(b'\n');
        }
        self.add(&mut entry, &content);
        connection.events = Some((entry, source));
    }

    /// Adds a message to its WebSocket.
    fn frame(
        &mut self,
        connection: &mut Connection,
        decoded: &Decoded<'_>,
        (opcode, is_selected): (u8, bool),
        out: &mut Vec<u8>,
    ) {
        let mut entry = if let Some(entry) = connection.socket.take() {
            entry
        } else {
            let mut entry = self.unknown_request(connection, true);
            let head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
            entry.respond(&HttpHead::read(head), 101, decoded.origin.time);
            entry
        };
        if is_selected {
            let (body, _) = self.masked_body(decoded);
            if entry.len() + body.len() > MAX_ENTRY {
                let next = entry.next_part();
                self.write(&entry, connection.number, out);
                entry = next;
                self.waiting += entry.len();
            }
            if self.waiting + body.len() > MAX_WAITING {
                self.too_long += 1;
            } else {
                let before = entry.len();
                entry.message(opcode, &body, decoded.origin);
                self.waiting += entry.len() - before;
            }
        }
        entry.is_selected |= is_selected;
        connection.socket = Some(entry);
    }

    fn take_message(&mut self, decoded: &Decoded<'_>, is_selected: bool, out: &mut Vec<u8>) {
        self.uses_quic |= decoded.origin.stream.is_some();
        let is_known = matches!(
            decoded.frame.head,
            Head::Http { .. } | Head::WebSocket { .. }
        );
        if !is_known || decoded.origin.stream.is_some() {
            let frame = decoded.frame;
            if frame.framing != Framing::Http {
                self.others += u64::from(is_selected);
            } else if is_selected {
                self.unreadable += frame.len;
                self.has_faults |= frame.fault.is_some();
            }
            return;
        }
        let mut connection = self.take(decoded.origin.conn, out);
        let number = connection.number;
        match decoded.frame.head {
            Head::Http { event: true, .. } => {
                self.event(&mut connection, decoded);
                if let Some((entry, _)) = &mut connection.events {
                    entry.is_selected |= is_selected;
                }
            }
            Head::Http { status: 0, .. } => {
                let mut entry = self.request(&mut connection, decoded);
                entry.started = decoded.origin.time;
                entry.is_selected = is_selected;
                if connection.requests.len() >= MAX_REQUESTS
                    && let Some(first) = connection.requests.pop_front()
                {
                    self.write(&first, number, out);
                }
                connection.requests.push_back(entry);
            }
            // Responses before the final one have no place in an entry.
            Head::Http { status, .. } if (100..200).contains(&status) && status != 101 => {
                self.others += u64::from(is_selected);
            }
            Head::Http { status, .. } => {
                if let Some((entry, _)) = connection.events.take() {
                    self.write(&entry, number, out);
                }
                let complete = self.response(&mut connection, decoded, status);
                if let Some(mut entry) = complete {
                    entry.is_selected |= is_selected;
                    self.write(&entry, number, out);
                } else if let Some((entry, _)) = &mut connection.events {
                    entry.is_selected |= is_selected;
                } else if let Some(entry) = &mut connection.socket {
                    entry.is_selected |= is_selected;
                }
            }
            Head::WebSocket { opcode, .. } => {
                self.frame(&mut connection, decoded, (opcode, is_selected), out);
            }
            _ => {}
        }
        self.connections.insert(decoded.origin.conn, connection);
    }
}

/// Returns start line and fields of a frame, empty line included.
fn head_of<'a>(decoded: &Decoded<'a>) -> &'a [u8] {
    let Head::Http { len, .. } = decoded.frame.head else {
        return &[];
    };
    let raw = decoded.raw.map_or(&[][..], |raw| raw.bytes);
    raw.get(..len as usize).unwrap_or(raw)
}

/// Appends the bytes of a body without what delimits its chunks.
fn without_chunks(source: &mut BodyDelimiter, mut rest: &[u8], out: &mut Vec<u8>) {
    while !rest.is_empty() {
        let n = match source.next(rest) {
            BodyPart::Framing(n) => n,
            BodyPart::Data(n) => {
                source.took(n);
                out.extend_from_slice(rest.get(..n).unwrap_or(rest));
                n
            }
            BodyPart::More | BodyPart::End | BodyPart::Bad(_) => return,
        };
        rest = rest.get(n..).unwrap_or_default();
    }
}

impl Form for Har {
    fn want(&self) -> Want {
        Want::Exact
    }

    fn begin(&mut self, _run: &Run<'_>, _out: &mut Vec<u8>) {
        self.connect.clear();
    }

    fn item(&mut self, item: &Item<'_>, origin: Origin, out: &mut Vec<u8>) {
        match item {
            Item::Header(header) => self.connect = header.connect.clone().unwrap_or_default(),
            Item::Event(event) if event.what == EventKind::Open => {
                let connect = event.more.and_then(|more| more.get("connect")?.as_str());
                let Some(connect) = connect else { return };
                let mut connection = self.take(origin.conn, out);
                connection.connect = Some(connect.to_owned());
                self.connections.insert(origin.conn, connection);
            }
            _ => {}
        }
    }

    fn message(&mut self, decoded: &Decoded<'_>, _verdict: Verdict<'_>, out: &mut Vec<u8>) {
        self.take_message(decoded, true, out);
    }

    fn skip(&mut self, decoded: &Decoded<'_>, _verdict: Verdict<'_>, out: &mut Vec<u8>) {
        self.take_message(decoded, false, out);
    }

    fn findings(&mut self, _findings: &[Finding], _out: &mut Vec<u8>) {}

    fn end(&mut self, _run: &Run<'_>, out: &mut Vec<u8>) {
        for connection in std::mem::take(&mut self.connections).into_values() {
            self.close(connection, out);
        }
    }

    fn left_out(&self) -> Vec<String> {
        let count = |number: u64, what: &str| (number > 0).then(|| format!("{number} {what}"));
        let others = "messages are left out: they are no HTTP exchange and no WebSocket message";
        let too_long = "contents are left out: their entry would be too long";
        let unreadable = "bytes are left out: they are not valid HTTP";
        let others = count(self.others, others).filter(|_| self.has_entries);
        others
            .into_iter()
            .chain(count(self.unreadable, unreadable).filter(|_| self.has_faults))
            .chain(count(self.too_long, too_long))
            .collect()
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        if self.has_entries {
            entry::end(out);
            return Ok(());
        }
        Err(if self.uses_quic {
            "a HAR file has HTTP/1.1 and WebSocket, and these are streams of QUIC: wiretool decode shows them"
        } else {
            "a HAR file has HTTP and WebSocket messages, and none was selected: -f html and -f pcapng take messages without HTTP"
        }
        .to_owned())
    }
}

/// Returns the direction as browsers name it.
fn direction_name(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::ToClient) => "receive",
        _ => "send",
    }
}

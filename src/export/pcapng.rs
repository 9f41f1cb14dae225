//! A packet capture: each connection is a TCP stream, as Wireshark follows and dissects it.
//!
//! ```text
//!   chunks --> bytes that wait for their message --> segments: SYN, data with a comment for each message, FIN
//! ```
//!
//! The addresses are made up: 10.1.0.N is the side that opened connection N, and 10.2.0.1 the other side. Bytes are
//! written when their message is complete, because only then its secrets are known.

mod blocks;
mod segment;

use super::text::brief;
use super::{ExportOptions, Form};
use crate::capture::{Header, Item};
use crate::conversation::{Finding, Run, Verdict};
use crate::decoder::{Decoded, Origin};
use crate::encoding::Want;
use crate::framing::Framing;
use crate::protocol::session::memory::PerDirection;
use crate::protocol::{Direction, Notes, Role};
use crate::render::line;
use crate::render::masking::replaceable_secrets;
use segment::{ACK, End, FIN, MAX_PAYLOAD, PUSH, SYN, Segment};
use std::collections::BTreeMap;

/// The number of bytes of a direction that wait for their message; the decoder has the same limit for a message.
const MAX_WAITING: usize = 64 << 20;
/// The number of connections that are open at a time; the first ends if there are more.
const MAX_CONNECTIONS: usize = 1 << 14;
/// The maximum number of characters of a comment.
const MAX_COMMENT: usize = 300;
/// The port that Wireshark reads HTTP on.
const HTTP_PORT: u16 = 80;
/// The port of a protocol that has no usual one.
const OTHER_PORT: u16 = 7000;
/// The minimum number of undecoded bytes that may have a secret.
const MIN_SECRET: usize = 16;
/// Between packets of captures without times, in nanoseconds.
const STEP: i64 = 1_000;

/// Connections as TCP streams.
pub(super) struct Pcapng {
    options: ExportOptions,
    connections: BTreeMap<Option<u32>, Connection>,
    /// The number of connections so far, of all captures.
    count: u32,
    /// What the header of the recording says about the process.
    process: String,
    last_time: i64,
    notes: Notes,
    packet: Vec<u8>,
    has_begun: bool,
    /// Something has no place in a TCP stream.
    refused: Option<String>,
}

#[derive(Debug, Default)]
struct Connection {
    number: u32,
    server_port: u16,
    is_open: bool,
    next: PerDirection<u32>,
    waiting: PerDirection<WaitingBytes>,
}

/// Bytes whose message is not complete.
#[derive(Debug, Default)]
struct WaitingBytes {
    /// The offset in the stream of the first one.
    start: u64,
    bytes: Vec<u8>,
}

impl WaitingBytes {
    /// Removes the bytes before an offset; returns them, and the number of those that the capture lacks.
    fn take(&mut self, to: u64) -> (Vec<u8>, u64) {
        let wanted = to.saturating_sub(self.start);
        let there = usize::try_from(wanted).map_or(self.bytes.len(), |n| n.min(self.bytes.len()));
        let rest = self.bytes.split_off(there);
        let taken = std::mem::replace(&mut self.bytes, rest);
        self.start = self.start.max(to);
        let missing = wanted - taken.len() as u64;
        (taken, missing)
    }
}

impl Connection {
    fn ends(&self, direction: Direction) -> [End; 2] {
        let [_, high, middle, low] = self.number.to_be_bytes();
        let client = End {
            // 24 bits of the number: no recording has more connections at a time.
            address: [10, 1 | high << 1, middle, low],
            port: 49_152 + (self.number % 16_384) as u16,
        };
        let server = End {
            address: [10, 2, 0, 1],
            port: self.server_port,
        };
        match direction {
            Direction::ToServer => [client, server],
            Direction::ToClient => [server, client],
        }
    }
}

impl Pcapng {
    pub(super) fn new(options: ExportOptions) -> Self {
        Self {
            options,
            connections: BTreeMap::new(),
            count: 0,
            process: String::new(),
            last_time: 0,
            notes: Notes::of_secrets(),
            packet: Vec::new(),
            has_begun: false,
            refused: None,
        }
    }

    /// Returns the time of a packet: packets of a file are in order.
    fn time(&mut self, time: Option<i64>) -> i64 {
        let next = self.last_time.saturating_add(STEP);
        let time = time.unwrap_or(next);
        self.last_time = time;
        time
    }

    /// Writes a segment, and counts its bytes.
    fn segment(
        &mut self,
        connection: &mut Connection,
        (direction, flags): (Direction, u8),
        payload: &[u8],
        (time, comment): (i64, &str),
        out: &mut Vec<u8>,
    ) {
        let [from, to] = connection.ends(direction);
        let sequence = *connection.next.get(Some(direction));
        let segment = Segment {
            from,
            to,
            sequence,
            acknowledged: match flags & ACK {
                0 => 0,
                _ => *connection.next.get(Some(direction.other())),
            },
            flags,
            payload,
        };
        segment.write(&mut self.packet);
        let is_inbound = direction == Direction::ToClient;
        blocks::packet(time, &self.packet, is_inbound, comment, out);
        let len = payload.len() as u32 + u32::from(flags & (SYN | FIN) != 0);
        *connection.next.get_mut(Some(direction)) = sequence.wrapping_add(len);
    }

    /// Opens a connection before its first bytes.
    fn open(
        &mut self,
        connection: &mut Connection,
        decoded: Option<&Decoded<'_>>,
        time: i64,
        out: &mut Vec<u8>,
    ) {
        if std::mem::replace(&mut connection.is_open, true) {
            return;
        }
        let descriptor = decoded.map(|decoded| decoded.protocol.descriptor());
        let framing = decoded.map(|decoded| decoded.frame.framing);
        connection.server_port = match framing {
            Some(Framing::Http | Framing::WebSocket) => HTTP_PORT,
            _ => descriptor
                .as_ref()
                .and_then(|d| d.port)
                .unwrap_or(OTHER_PORT),
        };
        if !std::mem::replace(&mut self.has_begun, true) {
            blocks::begin(out);
        }
        let sides = descriptor.map_or(["client", "server"], |d| d.sides);
        let [client, server] = connection.ends(Direction::ToServer);
        let number = connection.number;
        for (end, side) in [(client, 0), (server, 1)] {
            let side = sides.get(side).copied().unwrap_or_default();
            let name = if end == client {
                format!("{side}-c{number}")
            } else {
                side.to_owned()
            };
            if !name.is_empty() {
                blocks::name(end.address, &brief(&name, MAX_COMMENT), out);
            }
        }
        let comment = format!("connection {number}{}", self.process);
        let client = Direction::ToServer;
        self.segment(connection, (client, SYN), b"", (time, &comment), out);
        let server = client.other();
        self.segment(connection, (server, SYN | ACK), b"", (time, ""), out);
        self.segment(connection, (client, ACK), b"", (time, ""), out);
    }

    /// Writes bytes of a stream, in several segments if they are many.
    fn data(
        &mut self,
        connection: &mut Connection,
        direction: Direction,
        bytes: &[u8],
        (time, comment): (i64, &str),
        out: &mut Vec<u8>,
    ) {
        for (n, part) in bytes.chunks(MAX_PAYLOAD).enumerate() {
            let comment = if n == 0 { comment } else { "" };
            let what = (direction, PUSH | ACK);
            self.segment(connection, what, part, (time, comment), out);
        }
    }

    /// Replaces the secrets of a message in the bytes of its frame, which begin at this offset.
    fn mask(&mut self, decoded: &Decoded<'_>, start: u64, bytes: &mut [u8]) {
        let view = decoded.frame.view;
        for span in replaceable_secrets(decoded, &mut self.notes) {
            for at in span.at()..span.end() {
                let old = view.bytes.get(at).copied().unwrap_or_default();
                let is_number = span
                    .of(view.bytes)
                    .iter()
                    .all(|b| b"0123456789+-.eE".contains(b));
                let new = match old {
                    b'0'..=b'9' if is_number => b'1',
                    _ if is_number => old,
                    _ => b'*',
                };
                let one = crate::span::Span::new(at, at + 1);
                let place = view.run(one).and_then(|offset| offset.checked_sub(start));
                let place = place.and_then(|place| usize::try_from(place).ok());
                match place.and_then(|place| bytes.get_mut(place)) {
                    // The bytes of a masked body differ from those of the view.
                    Some(byte) => *byte ^= old ^ new,
                    None => {
                        self.refused.get_or_insert_with(|| {
                            format!("message #{} is compressed and has a secret, which cannot be masked there: --show-secrets writes it as it is", decoded.index)
                        });
                    }
                }
            }
        }
    }

    /// Returns the connection, which is put back afterwards.
    fn take(&mut self, conn: Option<u32>) -> Connection {
        self.connections.remove(&conn).unwrap_or_else(|| {
            self.count += 1;
            Connection {
                number: self.count,
                ..Connection::default()
            }
        })
    }

    /// Writes what waits, unless only some messages are selected, and ends a connection.
    fn close(&mut self, mut connection: Connection, out: &mut Vec<u8>) {
        let has_rest = [Direction::ToServer, Direction::ToClient]
            .iter()
            .any(|direction| !connection.waiting.get(Some(*direction)).bytes.is_empty());
        let time = self.last_time;
        if has_rest && !self.options.is_selective {
            self.open(&mut connection, None, time, out);
        }
        if !connection.is_open {
            return;
        }
        for direction in [Direction::ToServer, Direction::ToClient] {
            let rest = std::mem::take(&mut connection.waiting.get_mut(Some(direction)).bytes);
            // Nothing says where the secrets of an incomplete message are. The end of a body in chunks has none.
            let is_shown = self.options.show_secrets || rest.len() < MIN_SECRET;
            if !self.options.is_selective && is_shown {
                self.data(
                    &mut connection,
                    direction,
                    &rest,
                    (time, "no complete message"),
                    out,
                );
            } else if !self.options.is_selective && !rest.is_empty() {
                let hidden = vec![b'*'; rest.len()];
                self.data(
                    &mut connection,
                    direction,
                    &hidden,
                    (time, "no complete message, masked"),
                    out,
                );
            }
        }
        for direction in [Direction::ToServer, Direction::ToClient] {
            self.segment(
                &mut connection,
                (direction, FIN | ACK),
                b"",
                (time, ""),
                out,
            );
        }
        self.segment(
            &mut connection,
            (Direction::ToServer, ACK),
            b"",
            (time, ""),
            out,
        );
    }

    /// Returns true if a message is no part of a TCP stream.
    fn refuses(&mut self, origin: Origin) -> bool {
        let refuses = origin.stream.is_some();
        if refuses {
            self.refused.get_or_insert_with(|| {
                "streams of QUIC are no TCP streams: wiretool decode shows them".to_owned()
            });
        }
        refuses
    }
}

impl Form for Pcapng {
    fn want(&self) -> Want {
        Want::Places
    }

    fn begin(&mut self, _run: &Run<'_>, _out: &mut Vec<u8>) {
        self.process.clear();
    }

    fn item(&mut self, item: &Item<'_>, origin: Origin, out: &mut Vec<u8>) {
        match item {
            Item::Header(header) => self.process = process_of(header, self.options.show_secrets),
            Item::Chunk(chunk) => {
                let Some(direction) = origin.direction else {
                    self.refused.get_or_insert_with(|| {
                        "the directions of the bytes are not known: name one with --dir".to_owned()
                    });
                    return;
                };
                if self.refuses(origin) {
                    return;
                }
                if self.connections.len() >= MAX_CONNECTIONS
                    && !self.connections.contains_key(&origin.conn)
                    && let Some((_, first)) = self.connections.pop_first()
                {
                    self.close(first, out);
                }
                let mut connection = self.take(origin.conn);
                let waiting = connection.waiting.get_mut(Some(direction));
                waiting.bytes.extend_from_slice(chunk.bytes);
                if waiting.bytes.len() > MAX_WAITING {
                    self.refused.get_or_insert_with(|| {
                        "a message is too long for a packet capture".to_owned()
                    });
                    waiting.bytes.clear();
                }
                self.connections.insert(origin.conn, connection);
            }
            _ => {}
        }
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, out: &mut Vec<u8>) {
        self.bytes_of(decoded, Some(verdict), out);
    }

    fn skip(&mut self, decoded: &Decoded<'_>, _verdict: Verdict<'_>, out: &mut Vec<u8>) {
        self.bytes_of(decoded, None, out);
    }

    fn findings(&mut self, _findings: &[Finding], _out: &mut Vec<u8>) {}

    fn end(&mut self, _run: &Run<'_>, out: &mut Vec<u8>) {
        for connection in std::mem::take(&mut self.connections).into_values() {
            self.close(connection, out);
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        if let Some(refused) = self.refused.take() {
            return Err(refused);
        }
        if !self.has_begun {
            blocks::begin(out);
        }
        Ok(())
    }
}

impl Pcapng {
    /// Writes the bytes up to the end of a message, or drops them.
    fn bytes_of(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>, out: &mut Vec<u8>) {
        let (origin, frame) = (decoded.origin, decoded.frame);
        let Some(direction) = origin.direction.filter(|_| !self.refuses(origin)) else {
            return;
        };
        let is_inside = frame.framing == Framing::WebSocket
            && decoded.message.role == Some(Role::Control)
            && verdict.is_some();
        // A frame inside of a fragmented message goes with the message.
        if is_inside && decoded.next <= frame.offset {
            return;
        }
        let mut connection = self.take(origin.conn);
        let waiting = connection.waiting.get_mut(Some(direction));
        let start = waiting.start;
        let (mut bytes, missing) = waiting.take(decoded.next);
        if let Some(verdict) = verdict {
            let time = self.time(origin.time);
            self.open(&mut connection, Some(decoded), time, out);
            if !self.options.show_secrets {
                self.mask(decoded, start, &mut bytes);
            }
            let names = line::names(decoded, verdict.answer, self.options.show_secrets);
            let comment = format!("#{} {}", decoded.index, brief(&names, MAX_COMMENT));
            let about = (time, comment.as_str());
            self.data(&mut connection, direction, &bytes, about, out);
            let next = connection.next.get_mut(Some(direction));
            *next = next.wrapping_add(missing as u32);
        }
        self.connections.insert(origin.conn, connection);
    }
}

/// Returns what a header says about the process: `, started by: ./server --port 80`.
fn process_of(header: &Header, show_secrets: bool) -> String {
    let argv = header.argv.as_ref().map(|argv| argv.join(" "));
    let text = argv.map(|argv| format!("command {argv}"));
    let text = text.or_else(|| Some(format!("to {}", header.connect.as_ref()?)));
    let text = text.unwrap_or_default();
    let text = crate::render::subject::masked_subject(&text, show_secrets);
    match text.as_ref() {
        "" => String::new(),
        text => format!(", {}", brief(text, MAX_COMMENT)),
    }
}

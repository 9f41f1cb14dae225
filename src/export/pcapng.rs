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
use crate::framing::{Framing, Head, Places};
use crate::protocol::session::memory::PerDirection;
use crate::protocol::{Direction, Notes, Role};
use crate::render::line;
use crate::render::masking::{head_secrets, mask, replaceable_secrets, replacement};
use crate::render::subject::masked_subject;
use segment::{ACK, End, FIN, MAX_PAYLOAD, PUSH, SYN, Segment};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

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
/// The maximum number of lost bytes that sequence numbers show; they wrap at 4 GiB.
const MAX_GAP: u64 = 1 << 30;
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

/// Bytes whose message is not complete, without those that were lost.
#[derive(Debug, Default)]
struct WaitingBytes {
    /// The offset in the stream of what comes next.
    start: u64,
    /// The offset of the end.
    end: u64,
    stretches: VecDeque<Stretch>,
}

/// Bytes without a gap inside.
#[derive(Debug, Default)]
struct Stretch {
    /// The offset in the stream of the first one.
    start: u64,
    bytes: Vec<u8>,
}

impl Stretch {
    fn get_mut(&mut self, offset: u64) -> Option<&mut u8> {
        let at = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get_mut(at)
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }
}

impl WaitingBytes {
    fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let start = self.end;
        self.end = start.saturating_add(bytes.len() as u64);
        match self.stretches.back_mut() {
            Some(last) if last.end() == start => last.bytes.extend_from_slice(bytes),
            _ => self.stretches.push_back(Stretch {
                start,
                bytes: bytes.to_vec(),
            }),
        }
    }

    /// Adds lost bytes.
    fn gap(&mut self, len: u64) {
        self.end = self.end.saturating_add(len);
    }

    /// Returns true if bytes or lost bytes have no message.
    fn has_rest(&self) -> bool {
        self.end > self.start
    }

    /// Returns the memory that the bytes need.
    fn memory(&self) -> usize {
        let stretch = |stretch: &Stretch| stretch.bytes.len() + size_of::<Stretch>();
        self.stretches.iter().map(stretch).sum()
    }

    /// Removes the bytes before an offset.
    fn take(&mut self, to: u64) -> Vec<Stretch> {
        let mut taken = Vec::new();
        while let Some(mut first) = self.stretches.pop_front() {
            if first.start >= to {
                self.stretches.push_front(first);
                break;
            }
            let here = usize::try_from(to - first.start).unwrap_or(usize::MAX);
            if here < first.bytes.len() {
                let bytes = first.bytes.split_off(here);
                self.stretches.push_front(Stretch { start: to, bytes });
            }
            taken.push(first);
        }
        self.start = self.start.max(to);
        self.end = self.end.max(to);
        taken
    }
}

impl Connection {
    /// Skips lost bytes.
    fn skip(&mut self, direction: Direction, lost: u64) {
        let next = self.next.get_mut(Some(direction));
        *next = next.wrapping_add(lost.min(MAX_GAP) as u32);
    }

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

    /// Writes a part of a stream, in several segments if its bytes are many. Sequence numbers skip lost bytes.
    fn data(
        &mut self,
        connection: &mut Connection,
        (direction, range): (Direction, Range<u64>),
        stretches: &[Stretch],
        (time, mut comment): (i64, &str),
        out: &mut Vec<u8>,
    ) {
        let mut at = range.start;
        for stretch in stretches {
            connection.skip(direction, stretch.start.saturating_sub(at));
            at = stretch.end();
            for part in stretch.bytes.chunks(MAX_PAYLOAD) {
                let what = (direction, PUSH | ACK);
                let comment = std::mem::take(&mut comment);
                self.segment(connection, what, part, (time, comment), out);
            }
        }
        connection.skip(direction, range.end.saturating_sub(at));
    }

    /// Replaces the secrets of a message in the bytes of its frame.
    fn mask(&mut self, decoded: &Decoded<'_>, stretches: &mut [Stretch]) {
        let view = decoded.frame.view;
        mask_head(decoded, stretches);
        for span in replaceable_secrets(decoded, &mut self.notes) {
            let replacement = replacement(span.of(view.bytes));
            for at in span.at()..span.end() {
                let old = view.bytes.get(at).copied().unwrap_or_default();
                let new = replacement(old);
                let one = crate::span::Span::new(at, at + 1);
                let offset = view.run(one);
                let byte =
                    offset.and_then(|offset| stretches.iter_mut().find_map(|s| s.get_mut(offset)));
                match byte {
                    // The bytes of a masked body differ from those of the view.
                    Some(byte) => *byte ^= old ^ new,
                    None => {
                        self.refused.get_or_insert_with(|| {
                            format!("message #{} is compressed and may have a secret, which cannot be masked there: --show-secrets writes it as it is", decoded.index)
                        });
                    }
                }
            }
        }
    }

    /// Ends the first connection if another one would be too many.
    fn make_room(&mut self, conn: Option<u32>, out: &mut Vec<u8>) {
        if self.connections.len() >= MAX_CONNECTIONS
            && !self.connections.contains_key(&conn)
            && let Some((_, first)) = self.connections.pop_first()
        {
            self.close(first, out);
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
            .any(|direction| connection.waiting.get(Some(*direction)).has_rest());
        let time = self.last_time;
        if has_rest && !self.options.is_selective {
            self.open(&mut connection, None, time, out);
        }
        if !connection.is_open {
            return;
        }
        for direction in [Direction::ToServer, Direction::ToClient] {
            if self.options.is_selective {
                break;
            }
            let waiting = connection.waiting.get_mut(Some(direction));
            let range = waiting.start..waiting.end;
            let mut rest = waiting.take(range.end);
            let len: usize = rest.iter().map(|stretch| stretch.bytes.len()).sum();
            // Nothing says where the secrets of an incomplete message are. The end of a body in chunks has none.
            let is_shown = self.options.show_secrets || len < MIN_SECRET;
            let comment = if is_shown {
                "no complete message"
            } else {
                for stretch in &mut rest {
                    stretch.bytes.fill(b'*');
                }
                "no complete message, masked"
            };
            let what = (direction, range);
            self.data(&mut connection, what, &rest, (time, comment), out);
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
                self.make_room(origin.conn, out);
                let mut connection = self.take(origin.conn);
                let waiting = connection.waiting.get_mut(Some(direction));
                waiting.push(chunk.bytes);
                if waiting.memory() > MAX_WAITING {
                    self.refused.get_or_insert_with(|| {
                        "a message is too long for a packet capture".to_owned()
                    });
                    waiting.stretches.clear();
                }
                self.connections.insert(origin.conn, connection);
            }
            Item::Gap(gap) => self.gap(origin, gap.to.saturating_sub(gap.from), out),
            Item::Event(event) => {
                if let Some((origin, len)) = event.lost() {
                    self.gap(origin, len, out);
                }
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
    /// Adds lost bytes.
    fn gap(&mut self, origin: Origin, len: u64, out: &mut Vec<u8>) {
        if len == 0 || origin.stream.is_some() {
            return;
        }
        self.make_room(origin.conn, out);
        let mut connection = self.take(origin.conn);
        for direction in [Direction::ToServer, Direction::ToClient] {
            if origin.direction.is_none_or(|lost| lost == direction) {
                connection.waiting.get_mut(Some(direction)).gap(len);
            }
        }
        self.connections.insert(origin.conn, connection);
    }

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
        let range = waiting.start..decoded.next;
        let mut stretches = waiting.take(range.end);
        if let Some(verdict) = verdict {
            let time = self.time(origin.time);
            self.open(&mut connection, Some(decoded), time, out);
            if !self.options.show_secrets {
                self.mask(decoded, &mut stretches);
            }
            let names = line::names(decoded, verdict.answer, self.options.show_secrets);
            let comment = format!("#{} {}", decoded.index, brief(&names, MAX_COMMENT));
            let about = (time, comment.as_str());
            let what = (direction, range);
            self.data(&mut connection, what, &stretches, about, out);
        }
        self.connections.insert(origin.conn, connection);
    }
}

/// Replaces the secrets in the head of a message whose body is not beside it, because it is in chunks or compressed.
fn mask_head(decoded: &Decoded<'_>, stretches: &mut [Stretch]) {
    let Head::Http { len, .. } = decoded.frame.head else {
        return;
    };
    let start = decoded.frame.offset;
    for stretch in stretches.iter_mut() {
        let at = start.checked_sub(stretch.start);
        let at = at.and_then(|at| usize::try_from(at).ok());
        let head = at.and_then(|at| stretch.bytes.get_mut(at..at + len as usize));
        if let Some(head) = head.filter(|_| !matches!(decoded.frame.view.places, Places::Run(_))) {
            let secrets = head_secrets(head);
            mask(head, &secrets);
        }
    }
}

/// Returns what a header says about the process: `, command ./server --port …`.
fn process_of(header: &Header, show_secrets: bool) -> String {
    let argv = header.argv.as_ref();
    let text = match argv {
        Some(argv) if show_secrets => format!("command {}", argv.join(" ")),
        Some(argv) => format!("command {}", without_values(argv)),
        None => match &header.connect {
            Some(address) => format!("to {}", masked_subject(address, show_secrets)),
            None => String::new(),
        },
    };
    match text.as_str() {
        "" => String::new(),
        text => format!(", {}", brief(text, MAX_COMMENT)),
    }
}

/// Returns the words of a command without the values of variables and of flags with a long name: `--any NAME` may be a
/// secret.
fn without_values(argv: &[String]) -> String {
    let mut words = Vec::new();
    let mut is_value = false;
    for arg in argv {
        let is_flag = arg.starts_with('-');
        words.push(match arg.split_once('=') {
            Some((name, _)) => format!("{name}=…"),
            None if is_value && !is_flag => "…".to_owned(),
            None => masked_subject(arg, false).into_owned(),
        });
        is_value = is_flag && arg.len() > 2 && !arg.contains('=');
    }
    words.join(" ")
}

//! Where secrets stand, and what is changed there.

use super::stand_in::{StandIn, spell};
use crate::decoder::{Decoded, Origin};
use crate::framing::{self, Places};
use crate::protocol::Direction;
use crate::tape::{Node, Scalar, Value};
use std::collections::BTreeMap;

/// Fields of an HTTP head whose values are secret.
const HEADERS: [&str; 4] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
];

type Key = (u32, Direction);

/// What is changed, byte by byte: the place in its direction's stream, and old xor new. Masks make no difference to it.
#[derive(Default)]
pub(super) struct Changes(BTreeMap<Key, BTreeMap<u64, u8>>);

impl Changes {
    /// Bytes of a stream. What is changed already stays so.
    pub(super) fn stream(&mut self, origin: Origin, offset: u64, old: &[u8], new: &[u8]) {
        let (Some(conn), Some(direction)) = (origin.conn, origin.direction) else {
            return;
        };
        let changes = self.0.entry((conn, direction)).or_default();
        for (n, (old, new)) in old.iter().zip(new).enumerate() {
            changes.entry(offset + n as u64).or_insert(old ^ new);
        }
    }

    /// Bytes of a frame's view; says whether they stand in the stream.
    pub(super) fn view(
        &mut self,
        decoded: &Decoded<'_>,
        at: usize,
        old: &[u8],
        new: &[u8],
    ) -> bool {
        let view = decoded.frame.view;
        if let Places::Packed(_) = view.places {
            return old == new;
        }
        for (n, (old, new)) in old.iter().zip(new).enumerate() {
            let offset = view.locate(at + n);
            self.stream(decoded.origin, offset, &[*old], &[*new]);
        }
        true
    }

    /// Changes a chunk that begins at `offset`.
    pub(super) fn apply(&self, conn: u32, direction: Direction, offset: u64, bytes: &mut [u8]) {
        let Some(changes) = self.0.get(&(conn, direction)) else {
            return;
        };
        for (at, change) in changes.range(offset..offset + bytes.len() as u64) {
            if let Some(byte) = bytes.get_mut((at - offset) as usize) {
                *byte ^= change;
            }
        }
    }
}

/// Where a value's content stands, the content, and its stand-in.
pub(super) fn replace<'a>(
    node: Node<'a>,
    stand_in: &StandIn,
) -> Option<(usize, &'a [u8], Vec<u8>)> {
    let span = node.span();
    let whole = span.of(node.bytes());
    let (tail, old, made) = match node.value() {
        Value::Scalar(Scalar::Json(raw, _)) => {
            let text = std::str::from_utf8(raw).ok();
            let made = text.and_then(|text| spell(text, stand_in));
            // Spelled in no way that can be read: nothing of it may stay.
            (
                1,
                raw,
                made.map_or_else(|| vec![b'x'; raw.len()], String::into_bytes),
            )
        }
        Value::Scalar(Scalar::Str(raw)) => match std::str::from_utf8(raw) {
            Ok(text) => (0, raw, stand_in.text(text).into_bytes()),
            Err(_) => (0, raw, stand_in.bytes(raw)),
        },
        Value::Scalar(Scalar::Bin(raw) | Scalar::Ext(_, raw)) => (0, raw, stand_in.bytes(raw)),
        Value::Scalar(Scalar::Number(raw)) => {
            let text = std::str::from_utf8(raw).ok()?;
            (0, raw, stand_in.number(text).into_bytes())
        }
        Value::Scalar(Scalar::Uint(_) | Scalar::Int(_) | Scalar::F32(_) | Scalar::F64(_)) => {
            (0, whole, binary(whole, stand_in))
        }
        _ => return None,
    };
    let at = span.end().checked_sub(tail + old.len())?;
    Some((at, old, made))
}

/// A binary number: what tells its width stays, and with it the first byte of its size.
fn binary(old: &[u8], stand_in: &StandIn) -> Vec<u8> {
    let random = stand_in.bytes(old);
    let mut made = old.to_vec();
    match made.as_mut_slice() {
        [one] => {
            let random = random.first().copied().unwrap_or_default();
            *one = if *one < 0x80 {
                random & 0x7f
            } else {
                *one & 0xe0 | random & 0x1f
            };
        }
        [_, one] => *one = random.first().copied().unwrap_or_default() | 0x80,
        _ => {
            for (byte, random) in made.iter_mut().zip(&random).skip(2) {
                *byte = *random;
            }
        }
    }
    made
}

/// Everything in some bytes that is a letter or a digit.
pub(super) fn all(bytes: &[u8], stand_in: &StandIn) -> Vec<u8> {
    let mut made = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        made.extend(stand_in.text(chunk.valid()).bytes());
        made.extend(
            stand_in
                .bytes(chunk.invalid())
                .iter()
                .map(|byte| byte | 0x80),
        );
    }
    made
}

/// An HTTP head, where a frame has one.
pub(super) struct Head<'a> {
    bytes: &'a [u8],
    offset: u64,
}

impl<'a> Head<'a> {
    pub(super) fn of(decoded: &Decoded<'a>) -> Self {
        let frame = decoded.frame;
        let bytes = match (frame.head, decoded.raw) {
            (framing::Head::Http { len, .. }, Some(raw)) => raw.bytes.get(..len as usize),
            _ => None,
        };
        Self {
            bytes: bytes.unwrap_or_default(),
            offset: frame.offset,
        }
    }

    /// Its fields: name, place of the value in the stream, value.
    fn fields(&self) -> impl Iterator<Item = (String, u64, &'a str)> {
        let mut at = self.offset;
        self.bytes
            .split_inclusive(|b| *b == b'\n')
            .filter_map(move |line| {
                let start = at;
                at += line.len() as u64;
                let line = std::str::from_utf8(line).ok()?;
                let (name, value) = line.split_once(':')?;
                let text = value.trim_start();
                let before = name.len() + 1 + value.len() - text.len();
                Some((
                    name.trim().to_ascii_lowercase(),
                    start + before as u64,
                    text.trim_end(),
                ))
            })
    }

    /// Secret values and their places in the stream.
    pub(super) fn secrets(&self) -> Vec<(u64, String)> {
        let mut secrets = Vec::new();
        for (name, offset, value) in self.fields() {
            if !HEADERS.contains(&name.as_str()) {
                continue;
            }
            let mut add = |part: &str| {
                let at = part.as_ptr() as usize - value.as_ptr() as usize;
                if !part.is_empty() {
                    secrets.push((offset + at as u64, part.to_owned()));
                }
            };
            if name.contains("cookie") {
                // Of what a server sets, the first pair is the cookie and the rest says how long it lasts.
                let pairs = if name == "cookie" { usize::MAX } else { 1 };
                for pair in value.split(';').take(pairs) {
                    add(pair
                        .split_once('=')
                        .map_or(pair.trim(), |(_, value)| value.trim()));
                }
            } else {
                // `Bearer`, `Basic`: no secret.
                add(value
                    .split_once(' ')
                    .map_or(value, |(_, credentials)| credentials.trim()));
            }
        }
        secrets
    }

    /// Whether it says that its body is compressed.
    pub(super) fn is_compressed(&self) -> bool {
        let encoding = self.fields().find(|(name, ..)| name == "content-encoding");
        encoding.is_some_and(|(_, _, value)| !value.eq_ignore_ascii_case("identity"))
    }
}

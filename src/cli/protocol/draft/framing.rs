//! Finds framing and encoding: the description that reads all bytes of a capture.

use super::{Capture, Trial, scalar};
use crate::capture::Item;
use crate::conversation::Output;
use crate::protocol::Direction;
use crate::protocol::described::Described;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The number of bytes of each stream, and of streams, in which headers are searched.
const MAX_STREAM: usize = 256 << 10;
const MAX_STREAMS: usize = 64;
/// The maximum distance of a length from the start of its header, and of the body from the length.
const MAX_START: usize = 12;
const MAX_REST: usize = 16;
/// The fewest frames that show a header.
const MIN_FRAMES: usize = 4;
/// The maximum number of headers that are tried.
const MAX_TRIED: usize = 16;

/// A framing and an encoding.
pub struct Found {
    /// Their lines of a description, and what supports them.
    pub toml: String,
    pub why: Vec<String>,
    pub trial: Trial,
    /// The bytes of the bodies have a known form.
    pub is_read: bool,
}

/// The framings of this program that are tried, the most particular first, with their encodings.
const BUILT_IN: [(&str, &[&str]); 7] = [
    ("\"content-length\"", &["json"]),
    ("\"http\", \"websocket\"", &["json"]),
    ("\"websocket\"", &["json"]),
    ("\"prefix\"", &["json", "msgpack", "cbor"]),
    ("\"lines\"", &["json"]),
    ("\"values\"", &["json", "msgpack", "cbor"]),
    ("\"message\"", &["json", "msgpack", "cbor"]),
];

/// Returns the framing and the encoding that read all bytes.
pub fn find(capture: &Capture) -> Option<Found> {
    let mut headers = None;
    let mut best: Option<Found> = None;
    for (framing, encodings) in BUILT_IN {
        // Values and lines could read what has a header: a header that fits is less likely by accident.
        if framing == "\"values\"" {
            let found = headers.get_or_insert_with(|| find_header(capture)).take();
            best = best.or(found);
        }
        for encoding in encodings {
            let toml = format!("framings = [{framing}]\nencodings = [\"{encoding}\"]\n");
            let Some(trial) = trial_of(capture, &toml) else {
                continue;
            };
            // A description of HTTP or WebSocket also reads JSON without it.
            let is_other = framing.contains("websocket") && !trial.has_websocket;
            if is_other && !(framing.contains("http") && trial.has_http) {
                continue;
            }
            let is_better = |best: &Found| trial.containers() > best.trial.containers() * 2;
            if best.as_ref().is_none_or(is_better) {
                let count = trial.messages.len();
                // A framing that no message has is left out.
                let has_websocket = trial.has_websocket;
                let (framing, toml) = match framing.split_once(", ") {
                    Some((http, _)) if !has_websocket => (http, toml.replace(framing, http)),
                    _ => (framing, toml),
                };
                let why = format!(
                    "{count} messages, and no byte is left: {}; {encoding}",
                    framing.replace('"', "").replace(", ", ", then ")
                );
                best = Some(Found {
                    toml,
                    why: vec![why],
                    trial,
                    is_read: true,
                });
            }
        }
        if best.is_some() && framing != "\"values\"" {
            break;
        }
    }
    best
}

/// Reads a capture by a framing and an encoding; `None` if bytes are left, or values that are no messages.
fn trial_of(capture: &Capture, toml: &str) -> Option<Trial> {
    let text = format!("name = \"draft\"\n{toml}[[message]]\nrole = \"notification\"\n");
    let trial = capture.try_description(&text)?;
    let count = trial.messages.len();
    // Texts may come between JSON.
    let least = if toml.contains("\"text\"") {
        count / 4
    } else {
        count * 19 / 20
    };
    let is_opaque = |one: &super::Message| {
        one.value
            .get("body")
            .is_some_and(|body| scalar(body).is_some())
    };
    if trial.messages.iter().any(is_opaque) {
        return None;
    }
    (trial.bad == 0 && count > 0 && trial.containers() >= least.max(1)).then_some(trial)
}

/// The bytes of each direction of each connection.
fn streams(capture: &Capture) -> Vec<Vec<u8>> {
    let mut streams: BTreeMap<_, Vec<u8>> = BTreeMap::new();
    let text = "name = \"draft\"\nframings = [\"message\"]\n[[message]]\nrole = \"notification\"\n";
    let Ok(plain) = Described::from_toml(text) else {
        return Vec::new();
    };
    for (number, part) in capture.parts.iter().enumerate() {
        let part = Capture {
            name: String::new(),
            parts: vec![super::Part {
                bytes: part.bytes.clone(),
                direction: part.direction,
            }],
        };
        part.run(&plain, false, &mut |output| {
            if let Output::Item(Item::Chunk(chunk), origin) = output {
                let key = (number, origin.conn, origin.direction.map(Direction::name));
                if streams.len() < MAX_STREAMS || streams.contains_key(&key) {
                    let stream = streams.entry(key).or_default();
                    let room = MAX_STREAM
                        .saturating_sub(stream.len())
                        .min(chunk.bytes.len());
                    stream.extend_from_slice(chunk.bytes.get(..room).unwrap_or_default());
                }
            }
        });
    }
    streams
        .into_values()
        .filter(|stream| !stream.is_empty())
        .collect()
}

/// The place and the form of a length in a header.
#[derive(Clone, Copy)]
struct Length {
    at: usize,
    wide: usize,
    is_little: bool,
    /// The length of a frame is this number larger.
    plus: usize,
}

impl Length {
    fn all() -> impl Iterator<Item = Self> {
        let widths = [4, 2, 8, 1];
        let forms = (0..=MAX_START).flat_map(move |at| widths.map(|wide| (at, wide)));
        let orders = forms.flat_map(|(at, wide)| {
            let both = [(at, wide, false), (at, wide, true)];
            both.into_iter().take(if wide == 1 { 1 } else { 2 })
        });
        orders.flat_map(|(at, wide, is_little)| {
            let after = at + wide;
            let more = [0, at].into_iter().filter(move |plus| *plus < after);
            let pluses = (after..=after + MAX_REST).chain(more);
            let mut pluses: Vec<_> = pluses.collect();
            pluses.dedup();
            pluses.into_iter().map(move |plus| Self {
                at,
                wide,
                is_little,
                plus,
            })
        })
    }

    /// Returns the length of the frame at the start of bytes.
    fn frame(self, bytes: &[u8]) -> Option<usize> {
        let field = bytes.get(self.at..self.at + self.wide)?;
        let add = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        let value = if self.is_little {
            field.iter().rev().fold(0, add)
        } else {
            field.iter().fold(0, add)
        };
        let len = usize::try_from(value).ok()?.checked_add(self.plus)?;
        (len >= self.at + self.wide).then_some(len)
    }

    /// Returns the frames of a stream; `None` if it does not end with one.
    fn split(self, stream: &[u8]) -> Option<Vec<&[u8]>> {
        let (mut frames, mut rest) = (Vec::new(), stream);
        while !rest.is_empty() {
            let len = self.frame(rest);
            match len.and_then(|len| rest.split_at_checked(len)) {
                Some((frame, after)) => {
                    frames.push(frame);
                    rest = after;
                }
                // The rest of a long stream was left out.
                None if stream.len() == MAX_STREAM && frames.len() >= MIN_FRAMES => break,
                None => return None,
            }
        }
        Some(frames)
    }
}

/// Returns the header that splits all streams into frames whose bodies are readable.
fn find_header(capture: &Capture) -> Option<Found> {
    let streams = streams(capture);
    let mut tried = 0;
    let mut opaque = None;
    for length in Length::all() {
        let frames: Option<Vec<_>> = streams.iter().map(|stream| length.split(stream)).collect();
        let Some(frames) = frames.map(|all| all.concat()) else {
            continue;
        };
        let lens: std::collections::BTreeSet<_> = frames.iter().map(|frame| frame.len()).collect();
        if frames.len() < MIN_FRAMES || lens.len() < 2 {
            continue;
        }
        tried += 1;
        if tried > MAX_TRIED {
            break;
        }
        let after = length.at + length.wide;
        let shortest = lens.first().copied().unwrap_or_default();
        let starts: Vec<_> = match length.plus {
            plus if plus > after => vec![plus],
            _ => (after..=shortest.min(after + MAX_REST)).collect(),
        };
        for start in starts {
            let header = header(length, start, &frames);
            for encoding in ["json", "msgpack", "cbor", "json\", \"text"] {
                let toml = format!("encodings = [\"{encoding}\"]\n{}", header.0);
                if let Some(trial) = trial_of(capture, &toml) {
                    let why = format!(
                        "the bodies of {} messages are {}",
                        trial.messages.len(),
                        encoding.replace("\", \"", " and ")
                    );
                    return Some(found(toml, vec![header.1, why], trial, true));
                }
            }
            let toml = format!("encodings = [\"bytes\"]\n{}", header.0);
            // A short length fits any bytes by accident.
            let is_likely = length.wide >= 4 || header.0.contains("magic = \"");
            if opaque.is_none()
                && is_likely
                && let Some(trial) = capture
                    .try_description(&format!(
                        "name = \"draft\"\n{toml}[[message]]\nrole = \"notification\"\n"
                    ))
                    .filter(|trial| trial.bad == 0)
            {
                opaque = Some(found(toml, vec![header.1], trial, false));
            }
        }
    }
    opaque
}

fn found(toml: String, why: Vec<String>, trial: Trial, is_read: bool) -> Found {
    Found {
        toml,
        why,
        trial,
        is_read,
    }
}

/// Returns a header as TOML, and the numbers that support it.
fn header(length: Length, start: usize, frames: &[&[u8]]) -> (String, String) {
    let order = if length.is_little { "le" } else { "be" };
    let Length { at, wide, plus, .. } = length;
    let after = at + wide;
    let (of, more) = match plus {
        0 => ("frame", 0),
        plus if plus == start => ("body", 0),
        plus if plus == after => ("after-length", 0),
        plus if plus == at => ("from-length", 0),
        plus => ("body", plus - start),
    };
    let mut fields = String::new();
    let first = frames.first().copied().unwrap_or_default();
    let same = (0..at).take_while(|n| frames.iter().all(|frame| frame.get(*n) == first.get(*n)));
    let magic = first.get(..same.count()).unwrap_or_default();
    if !magic.is_empty() {
        let text = std::str::from_utf8(magic).ok();
        let text = text.filter(|text| {
            text.bytes()
                .all(|b| b.is_ascii_graphic() && !b"\"\\".contains(&b))
        });
        let magic = text.map_or_else(|| format!("{magic:?}"), |text| format!("\"{text}\""));
        let _ = writeln!(fields, "  {{ name = \"magic\", magic = {magic} }},");
    }
    let rest =
        |name: &str, from: usize, to: usize, fields: &mut String| match to.saturating_sub(from) {
            0 => {}
            size @ (1 | 2 | 4 | 8) => {
                let _ = writeln!(
                    fields,
                    "  {{ name = \"{name}\", type = \"u{}{order}\" }},",
                    size * 8
                );
            }
            size => {
                let _ = writeln!(fields, "  {{ name = \"{name}\", bytes = {size} }},");
            }
        };
    rest("first", magic.len(), at, &mut fields);
    let less = if more > 0 {
        format!(", plus = -{more}")
    } else {
        String::new()
    };
    let _ = writeln!(
        fields,
        "  {{ name = \"length\", type = \"u{}{order}\", length = \"{of}\"{less} }},",
        wide * 8
    );
    rest("type", after, start, &mut fields);
    let fields = fields.replace("u8be", "u8").replace("u8le", "u8");
    let why = format!(
        "a length of {wide} bytes at byte {at} divides all bytes into {} frames",
        frames.len()
    );
    (format!("[header]\nfields = [\n{fields}]\n"), why)
}

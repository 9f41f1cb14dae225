//! Finds framing and encoding: the description that reads all bytes of a capture.

use super::{Capture, Trial, scalar};
use crate::capture::Item;
use crate::protocol::Direction;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The number of bytes of each stream, and of streams, in which headers are searched.
const MAX_STREAM: usize = 256 << 10;
const MAX_STREAMS: usize = 64;
/// The maximum distance of a length from the start of its header, and of the body from the length.
const MAX_START: usize = 12;
const MAX_REST: usize = 16;
/// The fewest frames that show a header.
const MIN_FRAMES: usize = 4;
/// The maximum distance of a varint with the length from the start of its header.
const MAX_VARINT_START: usize = 2;
/// The numbers of bytes of checksums after a body.
const CHECKSUMS: [usize; 3] = [4, 2, 1];
/// The encodings of bodies, the most particular first.
const ENCODINGS: [&str; 6] = [
    "json",
    "msgpack",
    "cbor",
    "json\", \"text",
    "text",
    "json\", \"bytes",
];
/// The maximum number of headers that are tried.
const MAX_TRIED: usize = 16;
/// The name of a field of which only its place is known.
pub const NUMBERED: &str = "byte";

/// A framing and an encoding.
pub struct Found {
    /// Their lines of a description, and what supports them.
    pub toml: String,
    pub why: Vec<String>,
    pub trial: Trial,
    /// The bytes of the bodies have a known form.
    pub is_read: bool,
}

impl Found {
    /// Returns true if the framing is a header of fields.
    pub fn has_header(&self) -> bool {
        self.toml.contains("[header]")
    }
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

/// The frames that may be unreadable in a capture of a known framing: one of so many.
const BROKEN: usize = 10;

/// Returns the framing and the encoding that read all bytes.
pub fn find(capture: &Capture) -> Option<Found> {
    find_with(capture, false)
}

/// Returns the framing of this program and the encoding that read most frames.
pub fn find_most(capture: &Capture) -> Option<Found> {
    find_with(capture, true)
}

fn find_with(capture: &Capture, may_break: bool) -> Option<Found> {
    let mut headers = None;
    let mut best: Option<Found> = None;
    for (framing, encodings) in BUILT_IN {
        // Values and lines could read what has a header: a header that fits is less likely by accident.
        if framing == "\"values\"" && may_break {
            break;
        }
        if framing == "\"values\"" {
            let found = headers.get_or_insert_with(|| find_header(capture)).take();
            best = best.or(found);
        }
        for encoding in encodings {
            let toml = format!("framings = [{framing}]\nencodings = [\"{encoding}\"]\n");
            let Some(trial) = trial_of(capture, &toml, may_break) else {
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
                let left = match trial.bad {
                    0 => "and no byte is left".to_owned(),
                    1 => "but 1 frame cannot be read".to_owned(),
                    bad => format!("but {bad} frames cannot be read"),
                };
                let why = format!(
                    "{count} messages, {left}: {}; {encoding}",
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

/// Reads a capture by a framing and an encoding; `None` if bytes are left, or values that are no messages. `may_break`: a few
/// frames may be unreadable.
fn trial_of(capture: &Capture, toml: &str, may_break: bool) -> Option<Trial> {
    let text = format!("name = \"draft\"\n{toml}[[message]]\nrole = \"notification\"\n");
    let trial = capture.try_description(&text)?;
    let count = trial.messages.len();
    // Texts and bytes may come between JSON.
    let is_mixed = toml.contains("\"json\", ");
    let least = if is_mixed { count / 4 } else { count * 19 / 20 };
    let bodies = || {
        trial
            .messages
            .iter()
            .filter_map(|one| one.value.get("body"))
    };
    let opaque = bodies().filter(|body| scalar(body).is_some()).count();
    if opaque > 0 && !toml.contains("\"bytes\"")
        || is_mixed && bodies().all(|body| !body.is_object())
    {
        return None;
    }
    let is_printable = |body: &Value| {
        let text = body.as_str();
        text.is_some_and(|text| !text.contains(|c: char| c.is_control() && !c.is_whitespace()))
    };
    let fits = if toml.contains("[\"text\"]") {
        bodies().count() >= MIN_FRAMES && bodies().all(is_printable)
    } else {
        trial.containers() >= least.max(1)
    };
    let may_be_bad = if may_break { count / BROKEN } else { 0 };
    (trial.bad <= may_be_bad && count > 0 && fits).then_some(trial)
}

/// The bytes of each direction of each connection.
pub fn streams(capture: &Capture) -> Vec<(Option<Direction>, Vec<u8>)> {
    let mut streams: BTreeMap<_, (Option<Direction>, Vec<u8>)> = BTreeMap::new();
    for (number, part) in capture.parts.iter().enumerate() {
        for item in &part.items {
            let Item::Chunk(chunk) = item.item() else {
                continue;
            };
            let direction = chunk.direction.or(part.direction);
            let key = (number, chunk.conn, direction.map(Direction::name));
            if streams.len() < MAX_STREAMS || streams.contains_key(&key) {
                let (_, stream) = streams.entry(key).or_insert((direction, Vec::new()));
                let room = MAX_STREAM.saturating_sub(stream.len());
                let room = room.min(chunk.bytes.len());
                stream.extend_from_slice(chunk.bytes.get(..room).unwrap_or_default());
            }
        }
    }
    streams
        .into_values()
        .filter(|(_, stream)| !stream.is_empty())
        .collect()
}

/// The place and the form of a length in a header.
#[derive(Clone, Copy)]
struct Length {
    at: usize,
    /// The number of its bytes; 0 for a varint.
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
        let fixed = orders.flat_map(|(at, wide, is_little)| {
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
        });
        let varints = (0..=MAX_VARINT_START).map(|at| Self {
            at,
            wide: 0,
            is_little: true,
            plus: 0,
        });
        fixed.chain(varints)
    }

    /// Returns the length of the frame at the start of bytes.
    fn frame(self, bytes: &[u8]) -> Option<usize> {
        if self.wide == 0 {
            let field = bytes.get(self.at..)?;
            let size = 1 + field
                .iter()
                .take(4)
                .take_while(|byte| **byte >= 0x80)
                .count();
            let number = field.get(..size)?.iter().rev();
            let number = number.fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f));
            return number.checked_add(self.at + size);
        }
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

    /// Returns the possible ends of the header, each with the number of bytes of a checksum after the body.
    fn ends(self, shortest: usize) -> Vec<(usize, usize)> {
        let after = self.at + self.wide.max(1);
        if self.wide == 0 {
            return vec![(after, 0)];
        }
        if self.plus <= after {
            let starts = after..=shortest.min(after + MAX_REST);
            return starts
                .map(|start| (start, 0))
                .chain(CHECKSUMS.map(|sum| (after, sum)))
                .collect();
        }
        let with_checksum = CHECKSUMS.into_iter().filter_map(|sum| {
            let start = self.plus.checked_sub(sum)?;
            (start >= after).then_some((start, sum))
        });
        [(self.plus, 0)].into_iter().chain(with_checksum).collect()
    }
}

/// Returns the header that splits all streams into frames whose bodies are readable.
fn find_header(capture: &Capture) -> Option<Found> {
    let streams = streams(capture);
    let is_text = |byte: &u8| !byte.is_ascii_control() || byte.is_ascii_whitespace();
    // Each character of a text is a length of something by accident.
    if (streams.iter()).all(|(_, stream)| stream.iter().all(is_text)) {
        return None;
    }
    let mut tried = 0;
    // With a checksum that is right, nothing better is found.
    let mut opaque: Option<(Found, bool)> = None;
    for length in Length::all() {
        let frames: Option<Vec<_>> = streams
            .iter()
            .map(|(_, stream)| length.split(stream))
            .collect();
        let Some(frames) = frames.map(|all| all.concat()) else {
            continue;
        };
        let lens: BTreeSet<_> = frames.iter().map(|frame| frame.len()).collect();
        if frames.len() < MIN_FRAMES || lens.len() < 2 {
            continue;
        }
        tried += 1;
        if tried > MAX_TRIED {
            break;
        }
        let shortest = lens.first().copied().unwrap_or_default();
        for (start, sum) in length.ends(shortest) {
            let header = Header {
                length,
                start,
                sum,
                frames: &frames,
            };
            for checksum in header.checksums() {
                if !checksum.is_empty() && header.read(capture, "bytes", &checksum).is_none() {
                    continue;
                }
                // A short length fits any bytes by accident.
                let is_likely =
                    length.wide >= 4 || header.magic().is_some() || !checksum.is_empty();
                let is_open = |encoding: &&&str| is_likely || !encoding.ends_with("bytes");
                for encoding in ENCODINGS.iter().filter(is_open) {
                    if let Some(trial) = header.read(capture, encoding, &checksum) {
                        return Some(header.found(encoding, &checksum, trial, true));
                    }
                }
                let is_better = match &opaque {
                    None => is_likely,
                    Some((_, is_checked)) => !is_checked && !checksum.is_empty(),
                };
                if is_better && let Some(trial) = header.read(capture, "bytes", &checksum) {
                    let found = header.found("bytes", &checksum, trial, false);
                    opaque = Some((found, !checksum.is_empty()));
                }
            }
        }
    }
    opaque.map(|(found, _)| found)
}

/// A header that splits a capture into frames.
struct Header<'f> {
    length: Length,
    /// The first byte of the body.
    start: usize,
    /// The number of bytes of the checksum after the body.
    sum: usize,
    frames: &'f [&'f [u8]],
}

impl Header<'_> {
    /// Returns the checksums after the body that are possible, as TOML; one empty text if there is none.
    fn checksums(&self) -> Vec<String> {
        let names = match self.sum {
            0 => return vec![String::new()],
            1 => ["sum8", "xor8"],
            2 => ["crc16-ccitt-false", "crc16-modbus"],
            _ => ["crc32", "adler32"],
        };
        let mut all = Vec::new();
        for name in names {
            for of in ["", ", of = \"body\""] {
                for order in ["", ", order = \"little\""].into_iter().take(self.sum) {
                    all.push(format!(
                        "checksum = {{ name = \"sum\", checksum = \"{name}\"{of}{order} }}\n"
                    ));
                }
            }
        }
        all
    }

    /// Reads a capture by the header and an encoding.
    fn read(&self, capture: &Capture, encoding: &str, checksum: &str) -> Option<Trial> {
        let toml = self.toml(encoding, checksum);
        if encoding != "bytes" {
            return trial_of(capture, &toml, false);
        }
        let text = format!("name = \"draft\"\n{toml}[[message]]\nrole = \"notification\"\n");
        capture
            .try_description(&text)
            .filter(|trial| trial.bad == 0)
    }

    fn found(&self, encoding: &str, checksum: &str, trial: Trial, is_read: bool) -> Found {
        let Length { at, wide, .. } = self.length;
        let size = match wide {
            0 => "a varint".to_owned(),
            1 => "a length of 1 byte".to_owned(),
            wide => format!("a length of {wide} bytes"),
        };
        let count = self.frames.len();
        let mut why = vec![format!(
            "{size} at byte {at} divides all bytes into {count} frames"
        )];
        if !checksum.is_empty() {
            why.push(format!(
                "the checksum after the body is right in {count} of {count} frames"
            ));
        }
        if self.gaps().len() > 1 {
            why.push("the fields beside the length are guesses: which bytes are 0, and which differ often".to_owned());
        }
        if is_read {
            let count = trial.messages.len();
            let encoding = encoding.replace("\", \"", " and ");
            why.push(format!("the bodies of {count} messages are {encoding}"));
        }
        Found {
            toml: self.toml(encoding, checksum),
            why,
            trial,
            is_read,
        }
    }

    /// Returns the first bytes, before the length, if all frames have them.
    fn magic(&self) -> Option<&[u8]> {
        let first = self.frames.first()?;
        let is_same = |n: &usize| {
            self.frames
                .iter()
                .all(|frame| frame.get(*n) == first.get(*n))
        };
        let same = (0..self.length.at).take_while(is_same).count();
        let mut magic = first.get(..same)?;
        // Zeros can be the first bytes of a number, and one byte a version.
        while let [before @ .., 0] = magic {
            magic = before;
        }
        Some(magic).filter(|magic| magic.len() > 1)
    }

    /// Returns the fields beside magic bytes and the length: place, width, and order.
    fn gaps(&self) -> Vec<(usize, usize, bool)> {
        let Length { at, wide, .. } = self.length;
        let before = self.numbers(self.magic().map_or(0, <[u8]>::len), at);
        before
            .into_iter()
            .chain(self.numbers(at + wide.max(1), self.start))
            .collect()
    }

    /// Divides bytes of the header into numbers: the higher half of one is 0.
    fn numbers(&self, from: usize, to: usize) -> Vec<(usize, usize, bool)> {
        let column = |n: usize| -> BTreeSet<u8> {
            self.frames
                .iter()
                .filter_map(|frame| frame.get(n).copied())
                .collect()
        };
        let columns: Vec<_> = (from..to).map(column).collect();
        let column = |n: usize| columns.get(n - from).cloned().unwrap_or_default();
        let is_zero = |n: usize| column(n).iter().all(|byte| *byte == 0);
        let is_number = |at: usize, wide: usize, is_little: bool| {
            let byte = |n: usize| if is_little { at + n } else { at + wide - 1 - n };
            // The highest bit can be a flag.
            let top = column(byte(wide - 1));
            let is_high = top.iter().all(|one| matches!(one, 0 | 0x80))
                && (wide / 2..wide - 1).all(|n| is_zero(byte(n)));
            let counts = wide == 2 && top.len() > 1 && top.len() * 8 <= column(byte(0)).len();
            !is_zero(byte(0)) && (is_high || counts)
        };
        let is_any = |n: &usize| {
            let different = column(*n).len();
            different > 8 && different * 4 > self.frames.len()
        };
        let (mut found, mut at) = (Vec::new(), from);
        while at < to {
            let orders = match self.length.wide {
                0 | 1 => vec![false, true],
                _ => vec![self.length.is_little],
            };
            let fits = |wide: &usize| {
                at + wide <= to && (at.is_multiple_of(*wide) || (at - from).is_multiple_of(*wide))
            };
            let mut forms = [8, 4, 2].into_iter().filter(fits).flat_map(|wide| {
                let orders = orders.clone().into_iter();
                orders.map(move |is_little| (wide, is_little))
            });
            let number = forms.find(|(wide, is_little)| is_number(at, *wide, *is_little));
            let (wide, is_little) = number.unwrap_or_else(|| {
                let run = (at..to).take_while(is_any).count();
                (run.max(1), self.length.is_little)
            });
            found.push((at, wide, is_little));
            at += wide;
        }
        found
    }

    /// Returns the description of framing and encoding.
    fn toml(&self, encoding: &str, checksum: &str) -> String {
        let Length {
            at,
            wide,
            plus,
            is_little,
        } = self.length;
        let after = at + wide;
        let whole = self.start + self.sum;
        let (of, more) = match plus {
            _ if wide == 0 => ("body", 0),
            0 => ("frame", 0),
            plus if plus == whole => ("body", 0),
            plus if plus == after => ("after-length", 0),
            plus if plus == at => ("from-length", 0),
            plus => ("body", plus - whole),
        };
        let mut fields = String::new();
        if let Some(magic) = self.magic() {
            let text = std::str::from_utf8(magic).ok();
            let text = text.filter(|text| {
                text.bytes()
                    .all(|b| b.is_ascii_graphic() && !b"\"\\".contains(&b))
            });
            let magic = text.map_or_else(|| format!("{magic:?}"), |text| format!("\"{text}\""));
            let _ = writeln!(fields, "  {{ name = \"magic\", magic = {magic} }},");
        }
        let gaps = self.gaps();
        let is_only = gaps.len() == 1;
        let gap = |(at, size, is_little): (usize, usize, bool), fields: &mut String| {
            let name = if is_only && at > self.length.at {
                "type".to_owned()
            } else {
                format!("{NUMBERED}{at:02}")
            };
            let form = match size {
                1 => "type = \"u8\"".to_owned(),
                2 | 4 | 8 => format!(
                    "type = \"u{}{}\"",
                    size * 8,
                    if is_little { "le" } else { "be" }
                ),
                size => format!("bytes = {size}"),
            };
            let _ = writeln!(fields, "  {{ name = \"{name}\", {form} }},");
        };
        let (before, behind): (Vec<_>, Vec<_>) = gaps.into_iter().partition(|(n, ..)| *n < at);
        for one in before {
            gap(one, &mut fields);
        }
        let form = match wide {
            0 => "varint".to_owned(),
            1 => "u8".to_owned(),
            wide => format!("u{}{}", wide * 8, if is_little { "le" } else { "be" }),
        };
        let less = if more > 0 {
            format!(", plus = -{more}")
        } else {
            String::new()
        };
        let _ = writeln!(
            fields,
            "  {{ name = \"length\", type = \"{form}\", length = \"{of}\"{less} }},"
        );
        for one in behind {
            gap(one, &mut fields);
        }
        format!("encodings = [\"{encoding}\"]\n[header]\nfields = [\n{fields}]\n{checksum}")
    }
}

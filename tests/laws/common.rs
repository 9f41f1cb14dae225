//! Decoding in the laws: a set-up, bytes in pieces, output, and conditions that hold for every output.
//!
//! The fuzz targets use it too; so it fails by panic, and does not depend on a test framework.

use wiretool::conversation::{Conversation, Judge};
use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use wiretool::encoding::Want;
use wiretool::framing::{Framing, Limits, Places};
use wiretool::protocol::described::embedded;
use wiretool::protocol::session::SessionConfig;
use wiretool::protocol::{Notes, registry};
use wiretool::render::{DisplayOptions, hex, json, line, tree};

/// The known properties of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup {
    pub protocol: Option<&'static str>,
    pub framing: Option<Framing>,
    pub limits: Limits,
}

impl Setup {
    pub fn of(protocol: &'static str) -> Self {
        Self {
            protocol: Some(protocol),
            ..Self::default()
        }
    }

    pub fn framed(protocol: &'static str, framing: Framing) -> Self {
        Self {
            framing: Some(framing),
            ..Self::of(protocol)
        }
    }

    pub fn limited(self, message: u32) -> Self {
        let limits = Limits {
            message,
            ..self.limits
        };
        Self { limits, ..self }
    }

    pub fn options(&self, want: Want) -> DecodeOptions<'static> {
        let protocols = registry::all();
        let mut all = protocols.iter().chain(embedded()).copied();
        let mut named = |name| {
            let named = all.find(|protocol| protocol.name() == name);
            vec![named.expect("a protocol of that name")]
        };
        let mut options =
            DecodeOptions::new(self.protocol.map_or_else(|| protocols.to_vec(), &mut named));
        (options.framing, options.limits, options.want) = (self.framing, self.limits, want);
        // As the command line writes them.
        options.flags = true;
        options
    }
}

/// The JSON lines of a stream in these pieces, or the number of bytes if nothing is recognised.
pub fn json_of<'b>(setup: &Setup, pieces: impl IntoIterator<Item = &'b [u8]>) -> String {
    let mut decoder = Decoder::new(setup.options(Want::Text));
    let mut out = Vec::new();
    let mut sink =
        |decoded: &Decoded<'_>| json::write(decoded, None, DisplayOptions::default(), &mut out);
    for piece in pieces {
        decoder.push(Origin::default(), piece, &mut sink);
    }
    decoder.finish(&mut sink);
    if decoder.undetected() > 0 {
        out.extend_from_slice(format!("undetected: {}\n", decoder.undetected()).as_bytes());
    }
    String::from_utf8(out).expect("JSON output is UTF-8")
}

/// Splits the stream in two, three… pieces at these positions (any order; positions beyond the end are ignored).
pub fn cut<'b>(bytes: &'b [u8], places: &[usize]) -> Vec<&'b [u8]> {
    let mut places: Vec<usize> = places
        .iter()
        .copied()
        .filter(|at| *at < bytes.len())
        .collect();
    places.sort_unstable();
    let (mut pieces, mut from) = (Vec::new(), 0);
    for at in places {
        pieces.push(&bytes[from..at]);
        from = at;
    }
    pieces.push(&bytes[from..]);
    pieces
}

/// Panics with the first different line.
pub fn assert_same(whole: &str, split: &str, what: impl Fn() -> String) {
    if whole == split {
        return;
    }
    let (mut a, mut b) = (whole.lines(), split.lines());
    loop {
        let (x, y) = (a.next(), b.next());
        assert!(x == y, "{}\n whole: {x:?}\n split: {y:?}", what());
        assert!(x.is_some(), "{}: line ends differ", what());
    }
}

/// The position of one frame in the stream.
struct Place {
    offset: u64,
    end: u64,
    framing: Framing,
    /// A message, in contrast to the frames between messages.
    message: bool,
    /// The frame reports that bytes after it are skipped.
    passes: bool,
}

/// Decodes a whole stream, renders every frame in every format, and checks all conditions that hold for any bytes.
/// Returns the JSON lines.
pub fn check_all(setup: &Setup, bytes: &[u8]) -> String {
    let mut decoder = Decoder::new(setup.options(Want::Places));
    let (mut out, mut text, mut notes) = (Vec::new(), String::new(), Notes::default());
    let mut places = Vec::new();
    let mut inflated = 0;
    let display = DisplayOptions::default();
    let options = setup.options(Want::Places);
    let mut conversation = Conversation::new(
        &options.protocols,
        &Judge::default(),
        SessionConfig::default(),
    );
    let mut sink = |decoded: &Decoded<'_>| {
        for finding in conversation.see(decoded).findings {
            assert!(finding.place.index <= decoded.index, "{}", finding.text);
        }
        assert!(
            places.len() <= bytes.len() + 16,
            "more frames than bytes: it does not end"
        );
        assert_eq!(decoded.index, places.len() as u64, "frames are counted");
        let start = out.len();
        json::write(decoded, None, display, &mut out);
        check_line(&out[start..], decoded, bytes.len() as u64);
        line::write(decoded, None, display, &mut text);
        tree::write(decoded, None, display, &mut notes, &mut text);
        hex::write(decoded, None, display, &mut notes, &mut text);
        let frame = decoded.frame;
        if matches!(frame.view.places, Places::Packed(_)) {
            inflated += frame.view.bytes.len();
        }
        places.push(Place {
            offset: frame.offset,
            end: frame.offset + frame.len,
            framing: frame.framing,
            message: frame.control.is_none(),
            passes: skips_bytes(decoded, bytes),
        });
    };
    decoder.push(Origin::default(), bytes, &mut sink);
    decoder.finish(&mut sink);
    conversation.finish();
    conversation.waiting();
    let frames = places.len();
    check_places(&places);
    if decoder.undetected() == 0 {
        check_nothing_lost(&places, bytes);
    } else {
        assert_eq!(frames, 0, "either all is told or nothing is recognised");
        assert_eq!(decoder.undetected(), bytes.len(), "all of it is held");
    }
    // Each byte can be a row, indented by the maximum number of levels.
    let row = 8 * setup.limits.depth as usize;
    let bound = 8192 * (frames + 1) + row * (bytes.len() + inflated);
    assert!(out.len() + text.len() <= bound, "output is bounded");
    assert!(
        !text
            .chars()
            .any(|c| c != '\n' && (c.is_control() || is_bidi(c))),
        "no control character reaches text output"
    );
    String::from_utf8(out).expect("JSON output is UTF-8")
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A JSON line is JSON, its positions are in the stream, and the texts of its faults are not empty.
fn check_line(line: &[u8], decoded: &Decoded<'_>, stream: u64) {
    let shown = || String::from_utf8_lossy(line).into_owned();
    let (body, end) = line.split_at(line.len() - 1);
    assert_eq!(end, b"\n");
    assert!(!body.contains(&b'\n'), "one line: {}", shown());
    assert!(is_json(body), "no JSON: {}", shown());
    let frame = decoded.frame;
    let end = frame.offset + frame.len;
    assert!(end <= stream, "beyond the stream: {}", shown());
    if let Some(body) = frame.view.run(decoded.message.body) {
        let body_end = body + decoded.message.body.len as u64;
        assert!(
            body_end <= stream && body >= frame.offset && body_end <= end,
            "body beyond the frame: {}",
            shown()
        );
    }
    for (offset, fault) in decoded.faults() {
        let texts = [&fault.field, &fault.wanted, &fault.got];
        assert!(
            !fault.code.is_empty() && texts.iter().all(|text| !text.is_empty()),
            "a fault that says nothing: {}",
            shown()
        );
        assert!(
            fault.hint.as_ref().is_none_or(|hint| !hint.is_empty()),
            "a hint that says nothing: {}",
            shown()
        );
        // In a compressed body, positions count from the first byte of the frame and may lie beyond its last.
        if !matches!(frame.view.places, Places::Packed(_)) {
            assert!(offset <= stream, "a fault beyond the stream: {}", shown());
        }
        if matches!(frame.view.places, Places::Run(_)) {
            let end = offset + fault.span.len as u64;
            assert!(end <= stream, "a fault beyond the stream: {}", shown());
        }
    }
}

/// Returns `true` if `serde_json` reads the text, and each of its strings alone: if it ignores values it accepts any
/// nesting, but also lone surrogates.
pub fn is_json(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() && {
        let mut rest = text;
        let mut next = || {
            let (_, after) = rest.split_once('"')?;
            let mut escaped = false;
            let end = after.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            })?;
            rest = after.get(end + 1..)?;
            after.get(..end)
        };
        std::iter::from_fn(&mut next)
            .filter(|string| string.contains("\\u"))
            .all(|string| serde_json::from_str::<String>(&format!("\"{string}\"")).is_ok())
    }
}

/// Returns `true` if bytes after this frame may belong to no frame: the rest of a message over the limit, and bytes
/// between server-sent events.
fn skips_bytes(decoded: &Decoded<'_>, bytes: &[u8]) -> bool {
    let frame = decoded.frame;
    let over = |code: &str| matches!(code, "over-limit" | "bad-length");
    let head = || {
        let range = frame.offset as usize..(frame.offset + frame.len) as usize;
        let head = bytes.get(range).unwrap_or_default().to_ascii_lowercase();
        String::from_utf8_lossy(&head).contains("event-stream")
    };
    let fault = frame.fault.as_ref();
    fault.is_some_and(|fault| over(fault.error.code)) || (frame.framing == Framing::Http && head())
}

/// Frames are in the order of their bytes and do not overlap; a fragmented WebSocket message comes after the control
/// frames inside it.
fn check_places(places: &[Place]) {
    for pair in places.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let fragmented = after.framing == Framing::WebSocket && after.message;
        assert!(
            after.offset >= before.end || fragmented,
            "{}..{} after {}..{}",
            after.offset,
            after.end,
            before.offset,
            before.end
        );
    }
}

/// Every byte belongs to a frame, except for separators.
fn check_nothing_lost(places: &[Place], bytes: &[u8]) {
    let mut owner = vec![false; bytes.len()];
    for place in places {
        for byte in &mut owner[place.offset as usize..place.end as usize] {
            *byte = true;
        }
    }
    let passed = places.iter().filter(|p| p.passes).map(|p| p.offset).min();
    for (at, byte) in bytes.iter().enumerate() {
        if owner[at] || passed.is_some_and(|from| from < at as u64) {
            continue;
        }
        let framing = places
            .iter()
            .min_by_key(|p| p.offset.abs_diff(at as u64).min(p.end.abs_diff(at as u64)))
            .map(|p| p.framing);
        let separates = match framing {
            Some(Framing::Lines) => *byte == b'\n',
            Some(Framing::Http) => matches!(byte, b'\r' | b'\n'),
            // White space alone is not a value, so no frame covers it.
            Some(Framing::Values) | None => byte.is_ascii_whitespace(),
            _ => false,
        };
        assert!(
            separates,
            "byte {at} ({byte:#04x}) of {} is lost ({framing:?})",
            bytes.len()
        );
    }
}

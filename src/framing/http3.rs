//! One direction of a stream of HTTP/3 (RFC 9114), and of WebTransport over it.
//!
//! ```text
//!   unidirectional   00 | frames                  control: SETTINGS, GOAWAY
//!                    02, 03 | ...                 QPACK
//!                    40 54 | 00 | messages        WebTransport, session 0
//!   bidirectional    01 1e | 00 00 cf ...         HEADERS of 30 bytes: CONNECT
//!                    40 41 | 00 | messages        WebTransport, session 0; only the side that opens the stream sends this
//! ```
//!
//! Numbers are variable-length integers (RFC 9000 section 16). Messages are delimited by length and method id. Field
//! sections stay compressed: only a method or a status from the static table of QPACK is read.

use super::method::MethodFraming;
use super::{Buffer, Framing, Head, Hints, LengthMode, Limits, PLAUSIBLE, Step};
use crate::error::DecodeError;
use crate::span::Span;

/// Types of unidirectional streams.
const CONTROL: u64 = 0;
const PUSH: u64 = 1;
const ENCODER: u64 = 2;
const DECODER: u64 = 3;
const WEBTRANSPORT_STREAM: u64 = 0x54;
/// Types of frames.
const HEADERS: u64 = 1;
const SETTINGS: u64 = 4;
const WEBTRANSPORT_FRAME: u64 = 0x41;
/// The smallest field section: its two numbers, and a field.
const MIN_SECTION: u64 = 3;
/// The maximum length of a run of bytes without frames, so that memory stays bounded.
const RUN: usize = 64 << 10;

pub(super) struct Http3Framing {
    /// `None`: the first bytes decide.
    is_unidirectional: Option<bool>,
    state: State,
    messages: MethodFraming,
}

#[derive(Clone, Copy)]
enum State {
    /// Nothing was read.
    Start,
    /// HTTP/3 frames.
    Frames,
    /// Messages of a WebTransport stream.
    Messages,
    /// Bytes of this kind that are not divided into frames, up to the end or this many.
    Run(&'static str, u64),
}

impl Http3Framing {
    pub(super) fn new(hints: Hints, mode: LengthMode) -> Self {
        Self {
            is_unidirectional: None,
            state: State::Start,
            messages: MethodFraming::new(Framing::Method, hints, mode),
        }
    }

    /// Sets the kind of the stream.
    pub(super) fn set_stream(&mut self, stream: u64) {
        self.is_unidirectional = Some(is_unidirectional(stream));
    }

    /// Skips to the next message. HTTP/3 frames cannot be found again.
    pub(super) fn seek(&mut self) {
        match self.state {
            State::Messages => self.messages.seek(),
            State::Run(..) => {}
            State::Start | State::Frames => self.state = State::Run("skipped", u64::MAX),
        }
    }

    /// Returns the framing of the next bytes, if they start a frame.
    pub(super) fn restart_framing(&self) -> Option<Framing> {
        match self.state {
            State::Start => Some(Framing::Http3),
            State::Messages => self.messages.is_between().then_some(Framing::Method),
            State::Frames | State::Run(..) => None,
        }
    }

    pub(super) fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a> {
        if input.window.is_empty() {
            return Step::Incomplete(None);
        }
        match self.state {
            State::Messages => self.messages.next(input),
            State::Run(kind, left) => self.run(input, kind, left),
            State::Start => {
                let guessed = || starts_unidirectional(input.window, input.eof);
                let Some(is_unidirectional) = self.is_unidirectional.or_else(guessed) else {
                    return Step::Incomplete(None);
                };
                if is_unidirectional {
                    return self.stream_head(input);
                }
                self.state = State::Frames;
                self.frame(input)
            }
            State::Frames => self.frame(input),
        }
    }

    /// Reads the type of a unidirectional stream.
    fn stream_head<'a>(&mut self, input: Buffer<'a>) -> Step<'a> {
        let Some((number, len)) = number_at(input.window, 0) else {
            return needs_more(input, 8);
        };
        let (kind, state) = match number {
            CONTROL => ("http3-control", State::Frames),
            PUSH => ("http3-push", State::Run("http3-push", u64::MAX)),
            ENCODER => ("qpack-encoder", State::Run("qpack-encoder", u64::MAX)),
            DECODER => ("qpack-decoder", State::Run("qpack-decoder", u64::MAX)),
            WEBTRANSPORT_STREAM => return self.webtransport(input, number, len),
            // MUST (RFC 9114 section 9): unknown types are ignored.
            _ => ("http3-unknown", State::Run("http3-unknown", u64::MAX)),
        };
        self.state = state;
        let head = Head::Http3 {
            number,
            session: None,
            start: "",
        };
        control(input, kind, head, len, len)
    }

    /// Reads the session of a WebTransport stream. Messages follow.
    fn webtransport<'a>(&mut self, input: Buffer<'a>, number: u64, at: usize) -> Step<'a> {
        let Some((session, len)) = number_at(input.window, at) else {
            return needs_more(input, at + 8);
        };
        self.state = State::Messages;
        let head = Head::Http3 {
            number,
            session: Some(session),
            start: "",
        };
        control(input, "webtransport", head, at + len, at + len)
    }

    fn frame<'a>(&mut self, input: Buffer<'a>) -> Step<'a> {
        let Some((number, type_len)) = number_at(input.window, 0) else {
            return needs_more(input, 8);
        };
        if number == WEBTRANSPORT_FRAME {
            return self.webtransport(input, number, type_len);
        }
        let Some((len, len_len)) = number_at(input.window, type_len) else {
            return needs_more(input, type_len + 8);
        };
        let kind = match number {
            0 => "http3-data",
            HEADERS => "http3-headers",
            3 => "http3-cancel-push",
            SETTINGS => "http3-settings",
            5 => "http3-push-promise",
            7 => "http3-goaway",
            0xd => "http3-max-push-id",
            0xf0700 | 0xf0701 => "http3-priority-update",
            _ => "http3-unknown",
        };
        let body = type_len + len_len;
        let limit = u64::from(input.limits.message);
        let mut head = Head::Http3 {
            number,
            session: None,
            start: "",
        };
        if len > limit {
            self.state = State::Run(kind, len);
            let error = DecodeError::new(
                "over-limit",
                Span::new(type_len, body),
                "length",
                format!("at most {limit} bytes"),
                len.to_string(),
            );
            let mut step = control(input, kind, head, body, body);
            if let Step::Frame(frame, _) = &mut step {
                frame.fault = Some(input.fault(type_len, error));
            }
            return step;
        }
        let end = body + len as usize;
        let there = input.window.len();
        if there < end && !input.eof {
            return Step::Incomplete(Some((end - there) as u64));
        }
        if let (HEADERS, Head::Http3 { start, .. }) = (number, &mut head) {
            let section = input.window.get(body..end.min(there));
            *start = section.and_then(first_field).unwrap_or_default();
        }
        let mut step = control(input, kind, head, body, end.min(there));
        if let Step::Frame(frame, _) = &mut step
            && there < end
        {
            let wanted = format!("{len} bytes after the length");
            frame.fault = Some(input.truncated("length", wanted, there - body));
        }
        step
    }

    /// Emits bytes without frames, in runs that do not depend on how the bytes arrive.
    fn run<'a>(&mut self, input: Buffer<'a>, kind: &'static str, left: u64) -> Step<'a> {
        let end = usize::try_from(left).map_or(RUN, |left| left.min(RUN));
        let there = input.window.len();
        if there < end && !input.eof {
            return Step::Incomplete(None);
        }
        let end = end.min(there);
        let left = left.saturating_sub(end as u64);
        self.state = match left {
            0 => State::Frames,
            // The rest of a stream has no end.
            _ if left > u64::MAX / 2 => State::Run(kind, u64::MAX),
            left => State::Run(kind, left),
        };
        control(input, kind, Head::None, 0, end)
    }
}

/// Returns `true` if the opener of this stream is its only sender (RFC 9000 section 2.1).
fn is_unidirectional(stream: u64) -> bool {
    stream & 2 != 0
}

/// Guesses the kind of a stream without a number from its first bytes. `None` if that needs more bytes.
fn starts_unidirectional(window: &[u8], eof: bool) -> Option<bool> {
    match number_at(window, 0) {
        Some((CONTROL, len)) => match window.get(len) {
            Some(next) => Some(u64::from(*next) == SETTINGS),
            None => eof.then_some(true),
        },
        Some((number, _)) => Some(matches!(number, ENCODER | DECODER | WEBTRANSPORT_STREAM)),
        None => eof.then_some(false),
    }
}

/// Decides if a stream of QUIC, in the direction from its opener or back, is one of HTTP/3. `None` if that needs more bytes.
/// `plausible`: messages without HTTP/3 can start with these bytes.
pub(crate) fn starts(
    stream: u64,
    from_opener: bool,
    window: &[u8],
    eof: bool,
    plausible: impl Fn(&[u8]) -> bool,
) -> Option<bool> {
    let Some((number, len)) = number_at(window, 0) else {
        let is_known = matches!(window.first(), None | Some(0x40));
        return (eof || !is_known).then_some(false);
    };
    let second = number_at(window, len);
    let is_likely = match (is_unidirectional(stream), number) {
        (true, CONTROL) => second.is_none_or(|(number, _)| number == SETTINGS),
        (true, PUSH | ENCODER | DECODER | WEBTRANSPORT_STREAM) => true,
        (false, HEADERS) => second.is_none_or(|(len, _)| {
            (MIN_SECTION..u64::from(Limits::default().message)).contains(&len)
        }),
        (false, WEBTRANSPORT_FRAME) => from_opener,
        _ => false,
    };
    if !is_likely {
        return Some(false);
    }
    // A message of more than 16 MiB is not likely.
    let is_too_long = window.get(3).is_some_and(|highest| *highest != 0);
    let section = second.and_then(|(_, more)| window.get(len + more..));
    let is_request = number == HEADERS && section.and_then(first_field).is_some();
    if is_too_long || is_request && !is_unidirectional(stream) {
        return Some(true);
    }
    (eof || window.len() >= PLAUSIBLE).then(|| !plausible(window))
}

/// Reads a variable-length integer, and returns its length.
fn number_at(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    let len = 1 << (first >> 6);
    let rest = bytes.get(at + 1..at + len)?;
    let start = u64::from(first & 0x3f);
    let number = rest.iter().fold(start, |n, b| n << 8 | u64::from(*b));
    Some((number, len))
}

/// Methods and statuses of the static table of QPACK, by index (RFC 9204 appendix A).
pub(crate) const STARTS: [(usize, &str); 21] = [
    (15, "CONNECT"),
    (16, "DELETE"),
    (17, "GET"),
    (18, "HEAD"),
    (19, "OPTIONS"),
    (20, "POST"),
    (21, "PUT"),
    (24, "103"),
    (25, "200"),
    (26, "304"),
    (27, "404"),
    (28, "503"),
    (63, "100"),
    (64, "204"),
    (65, "206"),
    (66, "302"),
    (67, "400"),
    (68, "403"),
    (69, "421"),
    (70, "425"),
    (71, "500"),
];

/// Returns the method or the status with which a field section starts, if the static table of QPACK has it
/// (RFC 9204 section 4.5).
fn first_field(section: &[u8]) -> Option<&'static str> {
    let [0, 0, field @ ..] = section else {
        return None;
    };
    let index = match field {
        [0xff, more @ 0..=0x7f, ..] => 63 + usize::from(*more),
        [first @ 0xc0..=0xfe, ..] => usize::from(first & 0x3f),
        _ => return None,
    };
    let found = STARTS.iter().find(|(n, _)| *n == index)?;
    Some(found.1)
}

/// Waits for the rest of a number, or reports that the stream ends inside it.
fn needs_more(input: Buffer<'_>, most: usize) -> Step<'_> {
    if !input.eof {
        return Step::Incomplete(None);
    }
    let there = input.window.len();
    let mut step = control(input, "http3-unknown", Head::None, there, there);
    if let Step::Frame(frame, _) = &mut step {
        let wanted = format!("a number within {most} bytes");
        frame.fault = Some(input.truncated("type", wanted, there));
    }
    step
}

/// Builds the frame of the first `end` bytes, whose content starts at `body`.
fn control<'a>(
    input: Buffer<'a>,
    kind: &'static str,
    head: Head<'a>,
    body: usize,
    end: usize,
) -> Step<'a> {
    let mut frame = input.frame(Framing::Http3, head, Span::new(body, end), end);
    frame.control = Some(kind);
    Step::Frame(frame, end)
}

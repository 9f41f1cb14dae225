//! Reads the start line and the fields: recognises HTTP/1.1 and determines the length of the body.

use super::chunked::BodyDelimiter;
use super::{MAX_FIELDS, MAX_HEAD};
use crate::error::{DecodeError, show_byte};
use crate::span::Span;
use httparse::{Header, ParserConfig, Status};

/// The properties of a head. It is parsed once, also if the body arrives slowly.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // independent properties
pub(super) struct HttpHead {
    pub(super) request: bool,
    pub(super) status: u16,
    /// The length of the start line, without its line end.
    pub(super) start: usize,
    /// The length of start line, fields and the empty line.
    pub(super) len: usize,
    pub(super) body: BodyPresence,
    /// The body is a stream of events.
    pub(super) events: bool,
    /// It is, and has a content coding: its events are read at its end.
    pub(super) packed_events: bool,
    /// The message asks for WebSocket, or grants it.
    pub(super) upgrade: bool,
    /// The message asks for a tunnel, or grants it: the bytes that follow belong to another
    /// protocol.
    pub(super) tunnel: bool,
    /// The connection does not persist.
    pub(super) closes: bool,
    /// The content coding of the body, unless it is identity.
    pub(super) coding: Option<String>,
    /// An error after which the length of the body is still known.
    pub(super) fault: Option<DecodeError>,
}

/// The body after the head.
#[derive(Clone, Copy, Debug)]
pub(super) enum BodyPresence {
    None,
    Is(BodyDelimiter),
    /// There may be one, but its end is not known.
    Unknown,
}

/// The result of a search for a head.
pub(super) enum StartLine {
    More,
    No(DecodeError),
    /// A head: its length, and the length of its start line.
    Head(usize, usize),
}

/// The progress of the search for the end of a head.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    searched: usize,
    line: Option<usize>,
}

/// Positions before which a search finds nothing, in stream offsets. After a start line without a
/// head another is tried; bytes that were searched once are not searched again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SearchMemo {
    /// From the last start on, no line ends before this offset.
    line: u64,
    /// No empty line follows a line end before this offset.
    empty: u64,
    /// The number of searched bytes.
    #[cfg(test)]
    pub(super) looked: u64,
}

impl SearchMemo {
    /// Returns the position at which a search starts in a window at `base`.
    fn skip(self, from: usize, line: bool, base: u64) -> usize {
        let memo = if line { self.line } else { self.empty };
        from.max(usize::try_from(memo.saturating_sub(base)).unwrap_or(from))
    }
}

impl Search {
    /// Returns `true` if no byte was searched.
    pub(super) fn is_new(&self) -> bool {
        self.searched == 0 && self.line.is_none()
    }

    /// Searches for a start line and the empty line after the fields, in a window at `base`.
    pub(super) fn look(&mut self, window: &[u8], base: u64, memo: &mut SearchMemo) -> StartLine {
        let seen = window.get(..MAX_HEAD).unwrap_or(window);
        match starts_message(seen) {
            Some(true) => {}
            Some(false) => return StartLine::No(not_http(seen)),
            None => return StartLine::More,
        }
        // The first line end that is too close to the end of the window for a decision.
        let mut open = None;
        loop {
            self.searched = memo.skip(self.searched, self.line.is_none(), base);
            let rest = seen.get(self.searched..).unwrap_or_default();
            let found = memchr::memchr(b'\n', rest);
            #[cfg(test)]
            {
                memo.looked += found.unwrap_or(rest.len()) as u64;
            }
            let Some(at) = found else { break };
            let at = at + self.searched;
            if self.line.is_none() {
                let line = seen.get(..at).unwrap_or_default();
                if !is_start_line(line) {
                    return StartLine::No(not_http(seen));
                }
                self.line = Some(line.strip_suffix(b"\r").unwrap_or(line).len());
                memo.line = base + at as u64;
            }
            let end = match seen.get(at + 1..).unwrap_or_default() {
                [b'\n', ..] => at + 2,
                [b'\r', b'\n', ..] => at + 3,
                [] | [b'\r'] if seen.len() < MAX_HEAD => {
                    self.searched = at;
                    return StartLine::More;
                }
                [] | [b'\r'] => {
                    open = open.or(Some(at));
                    self.searched = at + 1;
                    continue;
                }
                _ => {
                    self.searched = at + 1;
                    memo.empty = memo.empty.max(base + self.searched as u64);
                    continue;
                }
            };
            return StartLine::Head(end, self.line.unwrap_or(at));
        }
        let end = base + seen.len() as u64;
        if self.line.is_none() {
            memo.line = memo.line.max(end);
        }
        memo.empty = memo.empty.max(open.map_or(end, |at| base + at as u64));
        if seen.len() == MAX_HEAD {
            let span = Span::new(0, MAX_HEAD);
            let wanted = format!("an empty line within {MAX_HEAD} bytes");
            return StartLine::No(DecodeError::new("bad-http", span, "head", wanted, "none"));
        }
        self.searched = seen.len();
        StartLine::More
    }

    /// Returns the length of the start line if it is complete.
    pub(super) fn start(&self) -> usize {
        self.line.unwrap_or(0)
    }
}

/// Returns `true` if the bytes start with a response's version or a request's method; `None` if
/// more bytes are needed.
fn starts_message(seen: &[u8]) -> Option<bool> {
    const VERSION: &[u8] = b"HTTP/1.";
    if seen.starts_with(VERSION) {
        return Some(true);
    }
    let end = seen
        .iter()
        .take(24)
        .position(|b| !b.is_ascii_uppercase() && *b != b'-');
    match end {
        Some(end) if seen.get(end) == Some(&b' ') => Some(end > 0),
        None if seen.len() < 24 => None,
        _ if seen.len() < VERSION.len() && VERSION.starts_with(seen) => None,
        _ => Some(false),
    }
}

/// Returns `true` if the first line is one of HTTP/1.x.
pub(crate) fn is_start_line(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.starts_with(b"HTTP/1.")
        || line
            .strip_suffix(b"0")
            .or(line.strip_suffix(b"1"))
            .is_some_and(|l| l.ends_with(b" HTTP/1."))
}

/// Builds the error for bytes that are not HTTP/1.1; the hint names their likely protocol.
pub(super) fn not_http(seen: &[u8]) -> DecodeError {
    let (first, hint) = match seen {
        [b'P', b'R', b'I', b' ', b'*', ..] => (
            "the preface of HTTP/2".into(),
            Some("this is HTTP/2, which wiretool does not read; use HTTP/1.1"),
        ),
        [first, ..] => {
            let hint = match first {
                0x16 => Some("this looks like TLS; record or proxy it in plain"),
                0x81 | 0x82 | 0xc1 | 0xc2 => Some("this looks like WebSocket without its upgrade"),
                b'{' | b'[' => Some("this looks like JSON without HTTP"),
                _ => None,
            };
            (show_byte(*first), hint)
        }
        [] => ("nothing".into(), None),
    };
    let error = DecodeError::new(
        "bad-http",
        Span::new(0, 1),
        "start line",
        "a request or a status line of HTTP/1.1",
        first,
    );
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

impl HttpHead {
    /// Parses a complete head. Its start line has `start` bytes.
    pub(super) fn read(bytes: &[u8], start: usize) -> Result<Self, DecodeError> {
        match Self::parse(bytes, start, false) {
            Ok(head) => Ok(head),
            // Real peers refuse this, so it is a fault. The end of the body may still be known.
            Err(error) => match Self::parse(bytes, start, true) {
                Ok(head) => Ok(Self {
                    fault: Some(bad_head(bytes, error)),
                    ..head
                }),
                Err(_) => Err(bad_head(bytes, error)),
            },
        }
    }

    /// Reads the known properties of a head that the end of the stream cuts off.
    pub(super) fn partial(bytes: &[u8]) -> Self {
        let version = b"HTTP/1.";
        let code = bytes.get(9..12).and_then(digits).unwrap_or(0);
        let request = !bytes.starts_with(version) && !version.starts_with(bytes);
        Self {
            request,
            status: if request { 0 } else { code as u16 },
            start: 0,
            len: bytes.len(),
            body: BodyPresence::None,
            events: false,
            packed_events: false,
            upgrade: false,
            tunnel: bytes.starts_with(b"CONNECT "),
            closes: false,
            coding: None,
            fault: None,
        }
    }

    /// `http-request` or `http-response`.
    pub(super) fn kind(&self) -> &'static str {
        if self.request {
            "http-request"
        } else {
            "http-response"
        }
    }

    fn parse(bytes: &[u8], start: usize, lenient: bool) -> Result<Self, httparse::Error> {
        let mut config = ParserConfig::default();
        config
            .ignore_invalid_headers_in_requests(lenient)
            .ignore_invalid_headers_in_responses(lenient);
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut head = Self {
            start,
            ..Self::partial(bytes)
        };
        if head.request {
            let mut request = httparse::Request::new(&mut fields);
            check_complete(config.parse_request(&mut request, bytes)?)?;
            head.closes = request.version == Some(0);
            head.determine_body(request.headers);
        } else {
            let mut response = httparse::Response::new(&mut fields);
            check_complete(config.parse_response(&mut response, bytes)?)?;
            head.status = response.code.unwrap_or(0);
            // RFC 9110 section 9.3.6: after "any 2xx (Successful) response" to CONNECT there is a
            // tunnel. Only the other direction knows the request, but no other response has this
            // phrase and no body.
            let reason = response.reason.unwrap_or_default();
            head.tunnel =
                head.status == 200 && reason.eq_ignore_ascii_case("connection established");
            head.closes = response.version == Some(0);
            head.determine_body(response.headers);
        }
        Ok(head)
    }

    /// RFC 9112 section 6.3: determines the length of the body.
    fn determine_body(&mut self, fields: &[Header<'_>]) {
        let named = |name: &'static str| {
            fields
                .iter()
                .filter(move |f| f.name.eq_ignore_ascii_case(name))
                .map(|f| f.value.trim_ascii())
        };
        let has = |name, token: &[u8]| {
            named(name)
                .flat_map(|v| v.split(|b| *b == b','))
                .any(|v| v.trim_ascii().eq_ignore_ascii_case(token))
        };
        // RFC 9112 section 9.3: the option decides; without one, the version.
        self.closes &= !has("connection", b"keep-alive");
        self.closes |= has("connection", b"close");
        if self.tunnel {
            return;
        }
        let switches = self.request || self.status == 101;
        self.upgrade = switches && has("upgrade", b"websocket");
        // 1. "Any response with a 1xx (Informational), 204 (No Content), or 304 (Not Modified) status code is always
        //    terminated by the first empty line after the header fields"
        if matches!(self.status, 100..=199 | 204 | 304) {
            return;
        }
        // 3. "the Transfer-Encoding overrides the Content-Length"
        let last = named("transfer-encoding")
            .next_back()
            .and_then(|v| v.rsplit(|b| *b == b',').next());
        if let Some(coding) = last {
            // "A sender MUST NOT send a Content-Length header field in any message that contains a Transfer-Encoding
            //  header field"; "such a message might indicate an attempt to perform request smuggling".
            if let Some(length) = named("content-length").next() {
                let shown = length.get(..64).unwrap_or(length).escape_ascii();
                let span = Span::new(0, self.len);
                let wanted = "none beside Transfer-Encoding";
                let got = format!("\"{shown}\"");
                let error = DecodeError::new("bad-http", span, "Content-Length", wanted, got);
                self.fault = Some(error.hint("the body is read by its Transfer-Encoding"));
            }
            if coding.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                self.body = BodyPresence::Is(BodyDelimiter::CHUNKED);
            } else if self.request {
                // 4. "the message body length cannot be determined reliably"
                self.set_length_error("Transfer-Encoding", "chunked as the last", coding);
            } else {
                self.body = BodyPresence::Is(BodyDelimiter::Close);
            }
        } else {
            self.content_length(named("content-length"));
        }
        let is_coded = |v: &&[u8]| !v.is_empty() && !v.eq_ignore_ascii_case(b"identity");
        let coding = named("content-encoding")
            .map(<[u8]>::trim_ascii)
            .find(is_coded);
        self.coding = coding.map(|v| v.get(..64).unwrap_or(v).escape_ascii().to_string());
        let identity = coding.is_none();
        let stream = named("content-type").any(|v| {
            let kind = v.split(|b| *b == b';').next().unwrap_or_default();
            kind.trim_ascii().eq_ignore_ascii_case(b"text/event-stream")
        });
        let is_stream = !self.request && matches!(self.body, BodyPresence::Is(_)) && stream;
        (self.events, self.packed_events) = (is_stream && identity, is_stream && !identity);
    }

    /// Removes the body, whatever the head declares.
    pub(super) fn remove_body(&mut self) {
        self.body = BodyPresence::None;
        self.events = false;
    }

    fn content_length<'h>(&mut self, values: impl Iterator<Item = &'h [u8]>) {
        let mut length = None;
        // 5. a list of the same number over and over is that number; anything else is "an unrecoverable error"
        for value in values.flat_map(|v| v.split(|b| *b == b',')) {
            let number = digits(value.trim_ascii());
            if number.is_none() || length.is_some_and(|l| Some(l) != number) {
                return self.set_length_error("Content-Length", "one decimal number", value);
            }
            length = number;
        }
        self.body = match length {
            Some(0) => BodyPresence::None,
            Some(n) => BodyPresence::Is(BodyDelimiter::Length(n)),
            // 7. "If this is a request message and none of the above are true, then the message body length is zero"
            None if self.request => BodyPresence::None,
            // 8. "the message body length is determined by [...] the connection being closed"
            None => BodyPresence::Is(BodyDelimiter::Close),
        };
    }

    fn set_length_error(&mut self, field: &'static str, wanted: &'static str, got: &[u8]) {
        let shown = got.get(..64).unwrap_or(got).escape_ascii();
        let span = Span::new(0, self.len);
        let error = DecodeError::new("bad-http", span, field, wanted, format!("\"{shown}\""));
        self.fault = Some(error.hint("the end of the body is not known"));
        self.body = BodyPresence::Unknown;
    }
}

/// Content-Length = 1*DIGIT
fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn check_complete(status: Status<usize>) -> Result<(), httparse::Error> {
    match status {
        Status::Complete(_) => Ok(()),
        Status::Partial => Err(httparse::Error::NewLine),
    }
}

fn bad_head(bytes: &[u8], error: httparse::Error) -> DecodeError {
    let wanted = match error {
        httparse::Error::TooManyHeaders => format!("at most {MAX_FIELDS} fields"),
        _ => "a head that RFC 9112 allows".into(),
    };
    let span = Span::new(0, bytes.len());
    DecodeError::new("bad-http", span, "head", wanted, error.to_string())
}

/// RFC 9113 section 3.4: the connection preface that a client of HTTP/2 sends first.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Returns `Some(true)` if the window starts with the preface; `None` if more bytes are needed.
pub(super) fn preface(window: &[u8]) -> Option<bool> {
    let seen = window.get(..PREFACE.len()).unwrap_or(window);
    match PREFACE.starts_with(seen) {
        // `P` and `PR` can also start a method of HTTP/1.1.
        true if seen.len() < PREFACE.len() => (seen.len() < 3).then_some(false),
        same => Some(same),
    }
}

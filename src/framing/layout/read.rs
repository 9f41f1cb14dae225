//! Reads a stream of frames with a header of fields.

use super::{FieldKind, HeaderValue, Layout, LengthRange};
use crate::error::DecodeError;
use crate::framing::{Buffer, Framing, FramingReader, Head, Limits, PLAUSIBLE, Step};
use crate::span::Span;
use std::sync::Arc;

/// The header of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadHeader {
    /// The number of bytes of the header.
    pub(super) len: usize,
    /// The number of bytes of the body; `None` if a delimiter ends it.
    pub(super) body: Option<u64>,
    /// The place of the length.
    length: Span,
    /// The place of the checksum in the header.
    pub(super) checksum: Option<Span>,
}

impl Layout {
    /// Reads the header at the start of some bytes; `Ok(None)` if it is not complete.
    pub(super) fn header(&self, bytes: &[u8]) -> Result<Option<ReadHeader>, DecodeError> {
        let mut at = 0;
        let mut header = ReadHeader {
            len: 0,
            body: (!self.has_length && self.trailer.delimiter.is_empty()).then_some(0),
            length: Span::default(),
            checksum: None,
        };
        let mut counted = None;
        for field in &self.fields {
            let rest = bytes.get(at..).unwrap_or_default();
            let len = match &field.kind {
                FieldKind::Magic(magic) => {
                    let mut both = magic.iter().zip(rest);
                    if let Some(wrong) = both.position(|(magic, byte)| magic != byte) {
                        let span = Span::new(at, at + wrong + 1);
                        return Err(wrong_magic(&field.name, magic, span, bytes));
                    }
                    magic.len()
                }
                FieldKind::Bytes(len) => *len,
                FieldKind::Checksum(checksum) => {
                    let len = checksum.algorithm.len();
                    header.checksum = Some(Span::new(at, at + len));
                    len
                }
                FieldKind::Number(form) | FieldKind::Length { form, .. } => {
                    let Ok(read) = form.read(rest) else {
                        let span = Span::new(at, at + super::MAX_VARINT);
                        let (wanted, got) = ("a number of at most 64 bits", "more bits");
                        let name = field.name.clone();
                        return Err(DecodeError::new("bad-length", span, name, wanted, got));
                    };
                    let Some((value, len)) = read else {
                        return Ok(None);
                    };
                    if let FieldKind::Length { range, plus, .. } = field.kind {
                        header.length = Span::new(at, at + len);
                        counted = Some((&field.name, value, range, plus));
                    }
                    len
                }
            };
            if rest.len() < len {
                return Ok(None);
            }
            at += len;
        }
        header.len = at;
        if let Some((name, value, range, plus)) = counted {
            let least = uncounted(range, header.len, header.length) + i128::from(plus);
            let value = value.number().unwrap_or_default();
            let Ok(body) = u64::try_from(value - least) else {
                let wanted = format!("at least {least}");
                let (name, got) = (name.clone(), value.to_string());
                return Err(DecodeError::new(
                    "bad-length",
                    header.length,
                    name,
                    wanted,
                    got,
                ));
            };
            header.body = Some(body);
        }
        Ok(Some(header))
    }

    /// Returns the length of a body that ends with the first delimiter.
    pub(super) fn delimited_body(&self, frame: &[u8], header: usize) -> Option<u64> {
        let rest = frame.get(header..)?;
        let end = memchr::memmem::find(rest, &self.trailer.delimiter)?;
        let checksum = self.trailer.len() - self.trailer.delimiter.len();
        Some(end.saturating_sub(checksum) as u64)
    }

    fn length_name(&self) -> String {
        let mut fields = self.fields.iter();
        let length = fields.find(|field| matches!(field.kind, FieldKind::Length { .. }));
        length.map_or_else(String::new, |field| field.name.clone())
    }

    /// Reads a header, and checks the length of the body.
    fn plausible(&self, bytes: &[u8], limit: u32) -> Result<Option<ReadHeader>, DecodeError> {
        let header = self.header(bytes)?;
        let Some(body) = header.and_then(|header| header.body) else {
            return Ok(header);
        };
        if body > u64::from(limit) {
            let span = header.map_or(Span::default(), |header| header.length);
            let wanted = format!("a body of at most {limit} bytes");
            let got = format!("one of {body} bytes");
            let error = DecodeError::new("over-limit", span, self.length_name(), wanted, got);
            return Err(error.hint("raise the limit with `max-message`"));
        }
        Ok(header)
    }
}

/// Returns the bytes of header that a length counts besides the body.
pub(super) fn uncounted(range: LengthRange, header: usize, length: Span) -> i128 {
    let counted = match range {
        LengthRange::Body => 0,
        LengthRange::AfterLength => header - length.end().min(header),
        LengthRange::FromLength => header - length.at().min(header),
        LengthRange::Frame => header,
    };
    counted as i128
}

#[cold]
fn wrong_magic(name: &str, magic: &[u8], span: Span, bytes: &[u8]) -> DecodeError {
    let [wanted, got] =
        [magic, span.of(bytes)].map(|bytes| format!("\"{}\"", bytes.escape_ascii()));
    DecodeError::new("bad-magic", span, name.to_owned(), wanted, got)
}

/// The reader of one direction.
pub(super) struct LayoutReader {
    layout: Arc<Layout>,
    /// The maximum length of a body.
    limit: u32,
    /// The number of bytes that were searched for the delimiter without result.
    searched: usize,
    /// The limit was exceeded: everything up to the next delimiter is dropped.
    dropping: bool,
}

impl LayoutReader {
    pub(super) fn new(layout: Arc<Layout>) -> Self {
        Self {
            layout,
            limit: Limits::default().message,
            searched: 0,
            dropping: false,
        }
    }

    fn framing(&self) -> Framing {
        Framing::Custom(self.layout.framing)
    }

    /// Skips the rest of a body over the limit.
    fn drop_rest<'a>(&mut self, input: Buffer<'a>) -> Step<'a> {
        let delimiter = &self.layout.trailer.delimiter;
        if let Some(at) = memchr::memmem::find(input.window, delimiter) {
            self.dropping = false;
            return Step::Took(at + delimiter.len());
        }
        let kept = if input.eof { 0 } else { delimiter.len() - 1 };
        match input.window.len().saturating_sub(kept) {
            0 => Step::Incomplete(None),
            n => Step::Took(n),
        }
    }

    /// Returns the end of the body that a delimiter ends, or a step without one.
    fn delimited<'a>(&mut self, input: Buffer<'a>, header: usize) -> Result<usize, Step<'a>> {
        let delimiter = &self.layout.trailer.delimiter;
        let most = header + self.limit as usize + self.layout.trailer.len();
        let seen = input.window.get(..most).unwrap_or(input.window);
        let from = self.searched.max(header);
        let rest = seen.get(from..).unwrap_or_default();
        if let Some(at) = memchr::memmem::find(rest, delimiter) {
            return Ok(from + at);
        }
        if input.window.len() >= most {
            self.dropping = true;
            let (limit, end) = (self.limit, header + self.limit as usize);
            let error = DecodeError::new(
                "over-limit",
                Span::new(header, end),
                "body",
                format!("at most {limit} bytes"),
                "more than that",
            );
            let error = error.hint("raise the limit with `max-message`");
            return Err(self.frame(input, (header, end), end, Some((header, error))));
        }
        if input.eof {
            let wanted = format!("the delimiter \"{}\"", delimiter.escape_ascii());
            return Err(self.truncated(input, (header, usize::MAX), wanted));
        }
        self.searched = (seen.len() + 1).saturating_sub(delimiter.len()).max(header);
        Err(Step::Incomplete(None))
    }

    /// Returns the frame of a stream that ends inside it.
    fn truncated<'a>(
        &mut self,
        input: Buffer<'a>,
        (start, end): (usize, usize),
        wanted: String,
    ) -> Step<'a> {
        let there = input.window.len();
        let field = match there {
            _ if there < start => "header",
            _ if there < end => "body",
            _ => "trailer",
        };
        let fault = input.truncated(field, wanted, there);
        let (body, error) = ((start.min(there), end.min(there)), (0, *fault.error));
        self.frame(input, body, there, Some(error))
    }

    fn frame<'a>(
        &mut self,
        input: Buffer<'a>,
        (start, end): (usize, usize),
        len: usize,
        error: Option<(usize, DecodeError)>,
    ) -> Step<'a> {
        self.searched = 0;
        let body = Span::new(start, end);
        let mut frame = input.frame(self.framing(), Head::None, body, len);
        frame.fault = error.map(|(at, error)| input.fault(at, error));
        Step::Frame(frame, len)
    }

    /// Returns the error of the bytes after a body, or of a checksum.
    fn check(&self, frame: &[u8], header: &ReadHeader, end: usize) -> Option<(usize, DecodeError)> {
        let trailer = &self.layout.trailer;
        let mut at = end;
        let body = frame.get(header.len..end).unwrap_or_default();
        let head = frame.get(..header.len).unwrap_or_default();
        let own = header.checksum.map(|span| (span.at(), span.end()));
        let of_header = self
            .layout
            .fields
            .iter()
            .find_map(|field| match field.kind {
                FieldKind::Checksum(checksum) => Some((&field.name, checksum, header.checksum?)),
                _ => None,
            });
        let of_trailer = trailer.checksum.as_ref().map(|(name, checksum)| {
            let span = Span::new(end, end + checksum.algorithm.len());
            at = span.end();
            (name, *checksum, span)
        });
        if let Some((name, checksum, span)) = of_header.or(of_trailer) {
            let wanted = u64::from(checksum.of(head, body, own));
            let read = checksum.form().read(span.of(frame));
            if let Ok(Some((HeaderValue::Uint(got), len))) = read
                && got != wanted
            {
                let [wanted, got] =
                    [wanted, got].map(|n| format!("{n:#0width$x}", width = 2 + 2 * len));
                let error = DecodeError::new("bad-checksum", span, name.clone(), wanted, got);
                return Some((span.at(), error));
            }
        }
        let found = frame.get(at..).unwrap_or_default();
        if found != trailer.delimiter {
            let [wanted, got] =
                [&trailer.delimiter, found].map(|b| format!("\"{}\"", b.escape_ascii()));
            let span = Span::new(at, frame.len());
            return Some((
                at,
                DecodeError::new("bad-length", span, "delimiter", wanted, got),
            ));
        }
        None
    }
}

impl FramingReader for LayoutReader {
    fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a> {
        if self.dropping {
            return self.drop_rest(input);
        }
        let window = input.window;
        let header = match self.layout.plausible(window, self.limit) {
            Ok(Some(header)) => header,
            Ok(None) if !input.eof => return Step::Incomplete(None),
            Ok(None) => {
                let wanted = "a whole header".to_owned();
                return self.truncated(input, (usize::MAX, usize::MAX), wanted);
            }
            // The caller searches for a start before it asks for a frame.
            Err(error) => {
                let at = error.span.at();
                let all = (window.len(), window.len());
                return self.frame(input, all, window.len(), Some((at, error)));
            }
        };
        let trailer = self.layout.trailer.len();
        let (end, len) = match header.body {
            Some(body) => {
                let end = header.len + body as usize;
                (end, end + trailer)
            }
            None => match self.delimited(input, header.len) {
                Ok(found) => {
                    let delimiter = self.layout.trailer.delimiter.len();
                    let end = found.saturating_sub(trailer - delimiter);
                    (end.max(header.len), found + delimiter)
                }
                Err(step) => return step,
            },
        };
        if window.len() < len {
            if !input.eof {
                return Step::Incomplete(Some((len - window.len()) as u64));
            }
            let wanted = format!("a frame of {len} bytes");
            return self.truncated(input, (header.len, end), wanted);
        }
        let error = self.check(window.get(..len).unwrap_or_default(), &header, end);
        self.frame(input, (header.len, end), len, error)
    }

    fn is_start(&self, bytes: &[u8]) -> Option<bool> {
        match self.layout.plausible(bytes, self.limit) {
            Ok(Some(_)) => Some(true),
            Ok(None) => None,
            Err(_) => Some(false),
        }
    }

    fn start_len(&self) -> usize {
        self.layout.max_header.max(PLAUSIBLE)
    }

    fn wrong_start(&self, bytes: &[u8]) -> DecodeError {
        let error = self.layout.plausible(bytes, self.limit).err();
        error.unwrap_or_else(|| {
            let span = Span::new(0, bytes.len().min(1));
            DecodeError::new(
                "bad-magic",
                span,
                "header",
                "the start of a frame",
                "other bytes",
            )
        })
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limit = limits.message;
    }

    fn seek(&mut self) {
        self.searched = 0;
        self.dropping = false;
    }

    fn is_between(&self) -> bool {
        !self.dropping
    }
}

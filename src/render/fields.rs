//! Lists the fields of a frame with their positions, for the tree, the hex output and lookups by position.

use super::DisplayOptions;
use crate::decoder::Decoded;
use crate::framing::fields::{self as heads, secrets};
use crate::framing::{Framing, Head, Places};
use crate::path::{PathStep, write_step};
use crate::protocol::{Notes, Remark};
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};
use std::borrow::Cow;
use std::ops::Range;

/// A field of a frame: a part of its header, a key, a value, or a container.
#[derive(Default)]
pub struct FrameField<'a> {
    /// The last step of its path: a key, or `[2]`.
    pub label: Cow<'a, str>,
    /// The path, such as `params.calldata[2]`; empty for the outermost value.
    pub path: String,
    /// The bytes of the field, in view coordinates.
    pub span: Span,
    /// The bytes of the key, if it has one.
    pub key: Option<Span>,
    /// The number of levels below the outermost value.
    pub depth: usize,
    /// The value; `None` for a part of the header.
    pub node: Option<Node<'a>>,
    /// The text of a part of the header.
    pub text: Cow<'a, str>,
    /// The value is a secret: it is shown only with `DisplayOptions::show_secrets`.
    pub secret: bool,
    /// The secret parts of a value that is not secret as a whole, in view coordinates.
    pub hidden: Vec<Span>,
    /// `text` without these parts.
    pub masked: Option<String>,
}

/// The maximum number of fields of one message that outputs show; the rest are counted.
pub const MAX_FIELDS: usize = 10_000;

impl FrameField<'_> {
    /// Returns the remarks on its value as text, without times that have no form of RFC 3339.
    pub(crate) fn remarks<'n>(&self, notes: &'n Notes) -> impl Iterator<Item = Cow<'n, str>> {
        let remarks = self.node.into_iter().flat_map(|node| notes.remarks(node));
        remarks.filter_map(|remark| match remark {
            Remark::Text(text) => Some(Cow::Borrowed(text.as_ref())),
            Remark::Time(ms) => {
                let time = jiff::Timestamp::from_millisecond(*ms).ok()?;
                Some(Cow::Owned(time.to_string()))
            }
        })
    }

    /// Returns true if the value must not be shown.
    pub fn is_secret(&self, notes: &Notes, display: DisplayOptions) -> bool {
        let is_secret = self.secret || self.node.is_some_and(|node| notes.is_secret(node));
        is_secret && !display.show_secrets
    }

    /// Returns the text that is shown instead of a secret.
    pub fn replacement(&self, display: DisplayOptions) -> String {
        let text = match self.node {
            None => Some(Cow::Borrowed(self.text.as_ref())),
            Some(node) => node.text(),
        };
        // Without positions, lengths are left out too.
        match text.filter(|_| !display.without_positions) {
            Some(text) => format!("(secret, {} characters)", text.chars().count()),
            None => "(secret)".into(),
        }
    }
}

/// Returns the fields of a frame in the order of their bytes. A container after the first `most` fields
/// states its number of children.
pub fn fields<'a>(decoded: &Decoded<'a>, most: usize) -> Vec<FrameField<'a>> {
    select(decoded, &FieldFilter::First(most))
}

/// Returns the fields of a frame whose value or key contains a byte of its view, and all fields of the header.
pub fn fields_at<'a>(decoded: &Decoded<'a>, at: usize) -> Vec<FrameField<'a>> {
    select(decoded, &FieldFilter::At(at))
}

/// Returns the fields of a frame along a path, in any of its spellings, and possibly others, and all fields of the header.
pub fn fields_along<'a>(decoded: &Decoded<'a>, spellings: &[&str]) -> Vec<FrameField<'a>> {
    select(decoded, &FieldFilter::Along(spellings))
}

/// Selects the values that are listed.
enum FieldFilter<'w> {
    /// The first values, at most this number.
    First(usize),
    /// The values that contain this byte.
    At(usize),
    /// The values along this path.
    Along(&'w [&'w str]),
}

impl FieldFilter<'_> {
    /// Returns true if a child of a value may be selected, or may contain a selected value.
    fn may_contain(&self, key: Option<Span>, child: Node<'_>, path: &str) -> bool {
        match self {
            Self::First(_) => true,
            Self::At(at) => child.span().contains(*at) || key.is_some_and(|key| key.contains(*at)),
            Self::Along(spellings) => spellings.iter().any(|wanted| wanted.starts_with(path)),
        }
    }

    fn is_full(&self, listed: usize) -> bool {
        matches!(self, Self::First(most) if listed >= *most)
    }
}

fn select<'a>(decoded: &Decoded<'a>, which: &FieldFilter<'_>) -> Vec<FrameField<'a>> {
    let mut fields = Vec::new();
    push_header(decoded, &mut fields);
    if let Some(root) = decoded.root() {
        let (label, path) = (Cow::Borrowed(""), String::new());
        push_value(root, label, path, None, 0, which, &mut fields);
    }
    push_trailer(decoded, &mut fields);
    fields
}

/// Creates a field for a part of a header, or for bytes that are not a value.
fn new_part<'a>(
    label: impl Into<Cow<'a, str>>,
    span: Span,
    text: impl Into<Cow<'a, str>>,
) -> FrameField<'a> {
    let label = label.into();
    FrameField {
        path: label.to_string(),
        label,
        span,
        text: text.into(),
        ..FrameField::default()
    }
}

/// Adds the lines of a head or a trailer that starts at `at`.
fn push_lines<'a>(at: usize, bytes: &'a [u8], is_head: bool, fields: &mut Vec<FrameField<'a>>) {
    let secrets = secrets(bytes, &|_| false);
    let mut secrets = secrets.iter().map(|s| &s.range).peekable();
    for line in heads::fields(bytes) {
        let mut hidden = Vec::new();
        while let Some(secret) = secrets.next_if(|secret| secret.start < line.range.end) {
            hidden.push(secret.clone());
        }
        let text = bytes.get(line.value.clone()).unwrap_or_default();
        let is_first = line.range.start == 0 && is_head;
        let (label, value) = match line.name {
            [] if text.is_empty() => continue,
            _ if is_first => (Cow::Borrowed("start line"), 0..line.value.end),
            // The length of a chunk, or bytes without a colon.
            [] if !is_head => continue,
            [] => (Cow::Borrowed("line"), line.value.clone()),
            name => (String::from_utf8_lossy(name), line.value.clone()),
        };
        let span = Span::new(at + line.range.start, at + line.range.end);
        let mut field = new_part(label, span, unfold(bytes, &value));
        field.secret = line.is_secret() && !is_first;
        mark_secrets(&mut field, bytes, value, at, &hidden);
        fields.push(field);
    }
}

/// Marks the secrets in a field, so that they are not shown.
fn mark_secrets(
    field: &mut FrameField<'_>,
    bytes: &[u8],
    value: Range<usize>,
    at: usize,
    hidden: &[Range<usize>],
) {
    if field.secret || hidden.is_empty() {
        return;
    }
    let (mut text, mut from) = (String::new(), value.start);
    for secret in hidden {
        text.push_str(&unfold(bytes, &(from..secret.start)));
        text.push_str("(secret)");
        from = secret.end;
        let span = Span::new(at + secret.start, at + secret.end);
        field.hidden.push(span);
    }
    text.push_str(&unfold(bytes, &(from..value.end)));
    field.masked = Some(text);
}

/// Returns bytes as text; a unfold line becomes one line.
fn unfold<'a>(bytes: &'a [u8], range: &Range<usize>) -> Cow<'a, str> {
    let text = String::from_utf8_lossy(bytes.get(range.clone()).unwrap_or_default());
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n ", " ").replace("\r\n\t", "\t"))
    } else {
        text
    }
}

/// Adds the fields after the last chunk of a body.
pub(super) fn push_trailer<'a>(decoded: &Decoded<'a>, fields: &mut Vec<FrameField<'a>>) {
    let view = decoded.frame.view;
    if let (Head::Http { event: false, .. }, Places::Run(_)) = (decoded.frame.head, view.places) {
        let at = view.body.end();
        push_lines(at, view.bytes.get(at..).unwrap_or_default(), false, fields);
    }
}

pub(super) fn push_header<'a>(decoded: &Decoded<'a>, fields: &mut Vec<FrameField<'a>>) {
    let (view, message) = (decoded.frame.view, decoded.message);
    match decoded.frame.head {
        Head::Length(_) if decoded.frame.framing == Framing::ContentLength => {
            let head = view.bytes.get(..view.body.at()).unwrap_or_default();
            push_lines(0, head, false, fields);
        }
        Head::Length(length) | Head::Method { length, .. } if view.bytes.len() >= 4 => {
            fields.push(new_part("length", Span::new(0, 4), length.to_string()));
        }
        Head::Http { len, .. } if view.body.at() >= len as usize && len > 0 => {
            let head = view.bytes.get(..len as usize).unwrap_or_default();
            push_lines(0, head, true, fields);
        }
        Head::Http3 {
            number, session, ..
        } => {
            let len = view.bytes.first().map_or(0, |first| 1 << (first >> 6));
            let rest = Span::new(len.min(view.body.at()), view.body.at());
            fields.push(new_part(
                "type",
                Span::new(0, rest.at()),
                number.to_string(),
            ));
            match session {
                Some(session) => fields.push(new_part("session", rest, session.to_string())),
                None if rest.len > 0 => {
                    fields.push(new_part("length", rest, view.body.len.to_string()));
                }
                None => {}
            }
        }
        Head::WebSocket {
            opcode,
            masked,
            compressed,
            fragments,
        } => {
            let text = websocket_text(opcode, [masked, compressed], fragments);
            fields.push(new_part("websocket", Span::new(0, view.body.at()), text));
        }
        _ => {}
    }
    // The protocol has its own header before the encoded message.
    if message.body.start > view.body.start && decoded.frame.framing != Framing::Method {
        let span = Span::new(view.body.at(), message.body.at());
        let text = String::from_utf8_lossy(span.of(view.bytes)).into_owned();
        fields.push(new_part("header", span, text));
    }
    if decoded.root().is_none() && message.body.len > 0 {
        let (body, at) = (message.body.of(view.bytes), message.body.at());
        // Field sections of HTTP/3 are compressed.
        let text = match decoded.frame.framing {
            Framing::Http3 => Cow::Owned(format!("{} bytes", body.len())),
            _ => String::from_utf8_lossy(body),
        };
        let mut field = new_part("body", message.body, text);
        let secrets = secrets(body, &|_| false);
        let secrets: Vec<_> = secrets.into_iter().map(|s| s.range).collect();
        mark_secrets(&mut field, body, 0..body.len(), at, &secrets);
        fields.push(field);
    }
}

/// Describes the header of a WebSocket message: `text, masked, 2 fragments`.
fn websocket_text(opcode: u8, [masked, compressed]: [bool; 2], fragments: u32) -> String {
    let what = match opcode {
        0 => "continuation",
        1 => "text",
        2 => "binary",
        8 => "close",
        9 => "ping",
        10 => "pong",
        _ => "reserved opcode",
    };
    let mut text = what.to_owned();
    if masked {
        text.push_str(", masked");
    }
    if compressed {
        text.push_str(", compressed");
    }
    if fragments > 1 {
        text.push_str(&format!(", {fragments} fragments"));
    }
    text
}

fn push_value<'a>(
    node: Node<'a>,
    label: Cow<'a, str>,
    path: String,
    key: Option<Span>,
    depth: usize,
    which: &FieldFilter<'_>,
    fields: &mut Vec<FrameField<'a>>,
) {
    let (span, is_map) = (node.span(), node.is_map());
    let prefix = path.clone();
    let (mut shown, mut end) = (0, span.at());
    let empty = Cow::Borrowed("");
    fields.push(FrameField {
        label,
        path,
        span,
        key,
        depth,
        node: Some(node),
        text: empty,
        ..FrameField::default()
    });
    if is_map {
        for (key, child) in node.members() {
            if which.is_full(fields.len()) {
                break;
            }
            (shown, end) = (shown + 1, child.span().end());
            let label = key_text(key);
            let mut path = prefix.clone();
            // Writing to a string cannot fail.
            let _ = write_step(
                &PathStep::Member(label.to_string()),
                path.is_empty(),
                &mut path,
            );
            let key = Some(key.span());
            if which.may_contain(key, child, &path) {
                push_value(child, label, path, key, depth + 1, which, fields);
            }
        }
    } else if node.is_array() {
        let mut omitted = 0;
        for (i, child) in node.children().enumerate() {
            if which.is_full(fields.len()) {
                break;
            }
            (shown, end) = (shown + 1, child.span().end());
            omitted = child.omitted_before().unwrap_or(omitted);
            let i = i + omitted;
            let (label, path) = (format!("[{i}]").into(), format!("{prefix}[{i}]"));
            if which.may_contain(None, child, &path) {
                push_value(child, label, path, None, depth + 1, which, fields);
            }
        }
    }
    let lists_all = matches!(which, FieldFilter::First(_));
    let more = (lists_all && (is_map || node.is_array()))
        .then(|| node.count())
        .and_then(|count| count.checked_sub(shown));
    if let Some(more @ 1..) = more {
        let rest = Span::new(end, span.end());
        let text = format!("… {more} more");
        fields.push(FrameField {
            depth: depth + 1,
            path: prefix,
            // These bytes were not searched for secrets.
            hidden: vec![rest],
            masked: Some(text.clone()),
            ..new_part("", rest, text)
        });
    }
}

/// Returns a key in the spelling of paths.
fn key_text(key: Node<'_>) -> Cow<'_, str> {
    key.text().unwrap_or_else(|| {
        let mut out = Vec::new();
        crate::encoding::lossless::write(key, &mut out);
        Cow::Owned(String::from_utf8_lossy(&out).into_owned())
    })
}

/// Returns the field that contains a byte of the frame: the innermost value, key, or part of the header.
pub fn owner<'f, 'a>(
    fields: &'f [FrameField<'a>],
    at: usize,
) -> Option<(&'f FrameField<'a>, bool)> {
    let key = fields
        .iter()
        .rev()
        .find(|f| f.key.is_some_and(|k| k.contains(at)));
    let value = fields
        .iter()
        .filter(|f| f.span.contains(at))
        .min_by_key(|f| (f.span.len, usize::MAX - f.depth));
    key.map(|f| (f, true)).or(value.map(|f| (f, false)))
}

/// Returns a value in brief: the content of a leaf, or the number of children of a container.
pub fn brief(node: Node<'_>) -> String {
    match node.value() {
        Value::Map => format!("{{{}}}", node.count()),
        Value::Array => format!("[{}]", node.count()),
        Value::Scalar(Scalar::Bin(bytes)) => bytes_text(bytes),
        Value::Scalar(Scalar::Ext(kind, bytes)) => format!("ext {kind}, {}", bytes_text(bytes)),
        Value::Scalar(Scalar::Str(bytes)) if std::str::from_utf8(bytes).is_err() => {
            format!("not UTF-8: {}", bytes_text(bytes))
        }
        Value::Scalar(Scalar::Str(_) | Scalar::Json(..)) => {
            format!("\"{}\"", node.text().unwrap_or_default())
        }
        Value::Scalar(Scalar::Name(_, _, name)) => name.to_owned(),
        _ => {
            let mut out = Vec::new();
            crate::encoding::lossless::write(node, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
    }
}

/// Returns bytes as hex, at most the first [`SHOWN`].
fn bytes_text(bytes: &[u8]) -> String {
    const SHOWN: usize = 32;
    let hex = ::hex::encode(bytes.get(..SHOWN).unwrap_or(bytes));
    match bytes.len() {
        0 => "no bytes".into(),
        len if len <= SHOWN => format!("0x{hex}"),
        len => format!("0x{hex}… ({len} bytes)"),
    }
}

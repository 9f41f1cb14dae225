//! A frame as a list of fields with their places: what tree, hex, and lookups by place share.

use super::Look;
use crate::decoder::Decoded;
use crate::framing::fields::{self as heads, secrets};
use crate::framing::{Framing, Head, Places};
use crate::path::{Step, write_step};
use crate::protocol::Notes;
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};
use std::borrow::Cow;
use std::ops::Range;

/// One field of a frame: a part of its header, a key, a value, a container.
pub struct Field<'a> {
    /// Its own name: a key, or `[2]`.
    pub label: Cow<'a, str>,
    /// Where it stands: `params.calldata[2]`; empty for the outermost value.
    pub path: String,
    /// Its bytes, in view coordinates.
    pub span: Span,
    /// The bytes of its key, where it has one.
    pub key: Option<Span>,
    /// Levels below the outermost value.
    pub depth: usize,
    /// The value; none for a part of the header.
    pub node: Option<Node<'a>>,
    /// What a part of the header says.
    pub text: Cow<'a, str>,
    /// Must not be shown unless asked.
    pub secret: bool,
    /// Where only some of its bytes must not: those, in view coordinates.
    pub hidden: Vec<Span>,
    /// What may be shown of `text` then.
    pub masked: Option<String>,
}

/// Fields of one message that outputs show; the rest is counted.
pub const ROWS: usize = 10_000;

impl Field<'_> {
    /// Whether nothing of its value may be shown.
    pub fn is_secret(&self, notes: &Notes, look: Look) -> bool {
        let is_secret = self.secret || self.node.is_some_and(|node| notes.is_secret(node));
        is_secret && !look.show_secrets
    }

    /// What is shown instead of a secret.
    pub fn stand_in(&self, look: Look) -> String {
        let text = match self.node {
            None => Some(Cow::Borrowed(self.text.as_ref())),
            Some(node) => node.text(),
        };
        // Where positions are left out, so is the length.
        match text.filter(|_| !look.unplaced) {
            Some(text) => format!("(secret, {} characters)", text.chars().count()),
            None => "(secret)".into(),
        }
    }
}

/// The fields of a frame, header first, in the order of their bytes. From `most` on, a container says how many more it has.
pub fn fields<'a>(decoded: &Decoded<'a>, most: usize) -> Vec<Field<'a>> {
    select(decoded, &Which::First(most))
}

/// The fields of a frame that hold a byte of its view, or whose key does; of the header all.
pub fn fields_at<'a>(decoded: &Decoded<'a>, at: usize) -> Vec<Field<'a>> {
    select(decoded, &Which::At(at))
}

/// The fields of a frame on the way to a path, in any of its spellings, and perhaps others; of the header all.
pub fn fields_to<'a>(decoded: &Decoded<'a>, spellings: &[&str]) -> Vec<Field<'a>> {
    select(decoded, &Which::To(spellings))
}

/// Which values are listed.
enum Which<'w> {
    /// The first ones.
    First(usize),
    /// Those that hold a byte.
    At(usize),
    /// Those on the way to a path.
    To(&'w [&'w str]),
}

impl Which<'_> {
    /// Whether a child of a value may be, or hold, one of them.
    fn has(&self, key: Option<Span>, child: Node<'_>, path: &str) -> bool {
        match self {
            Self::First(_) => true,
            Self::At(at) => child.span().contains(*at) || key.is_some_and(|key| key.contains(*at)),
            Self::To(spellings) => spellings.iter().any(|wanted| wanted.starts_with(path)),
        }
    }

    fn is_full(&self, listed: usize) -> bool {
        matches!(self, Self::First(most) if listed >= *most)
    }
}

fn select<'a>(decoded: &Decoded<'a>, which: &Which<'_>) -> Vec<Field<'a>> {
    let mut fields = Vec::new();
    header(decoded, &mut fields);
    if let Some(root) = decoded.root() {
        let (label, path) = (Cow::Borrowed(""), String::new());
        value(root, label, path, None, 0, which, &mut fields);
    }
    trailer(decoded, &mut fields);
    fields
}

/// A part of a header, or bytes that are no value.
fn part<'a>(
    label: impl Into<Cow<'a, str>>,
    span: Span,
    text: impl Into<Cow<'a, str>>,
) -> Field<'a> {
    let label = label.into();
    Field {
        path: label.to_string(),
        label,
        span,
        key: None,
        depth: 0,
        node: None,
        text: text.into(),
        secret: false,
        hidden: Vec::new(),
        masked: None,
    }
}

/// The lines of a head or a trailer that begins at `at`.
fn lines<'a>(at: usize, bytes: &'a [u8], is_head: bool, fields: &mut Vec<Field<'a>>) {
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
            // A chunk's length, or bytes without a colon.
            [] if !is_head => continue,
            [] => (Cow::Borrowed("line"), line.value.clone()),
            name => (String::from_utf8_lossy(name), line.value.clone()),
        };
        let span = Span::new(at + line.range.start, at + line.range.end);
        let mut field = part(label, span, folded(bytes, &value));
        field.secret = line.is_secret() && !is_first;
        hide(&mut field, bytes, value, at, &hidden);
        fields.push(field);
    }
}

/// Keeps what is secret in a field from being shown.
fn hide(
    field: &mut Field<'_>,
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
        text.push_str(&folded(bytes, &(from..secret.start)));
        text.push_str("(secret)");
        from = secret.end;
        let span = Span::new(at + secret.start, at + secret.end);
        field.hidden.push(span);
    }
    text.push_str(&folded(bytes, &(from..value.end)));
    field.masked = Some(text);
}

/// Bytes as text, what is folded on one line.
fn folded<'a>(bytes: &'a [u8], range: &Range<usize>) -> Cow<'a, str> {
    let text = String::from_utf8_lossy(bytes.get(range.clone()).unwrap_or_default());
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n ", " ").replace("\r\n\t", "\t"))
    } else {
        text
    }
}

/// What stands after the last chunk of a body.
fn trailer<'a>(decoded: &Decoded<'a>, fields: &mut Vec<Field<'a>>) {
    let view = decoded.frame.view;
    if let (Head::Http { event: false, .. }, Places::Run(_)) = (decoded.frame.head, view.places) {
        let at = view.body.end();
        lines(at, view.bytes.get(at..).unwrap_or_default(), false, fields);
    }
}

/// The subject of a message, unless asked without what is secret in it: a request is named by its target.
pub fn subject<'a>(decoded: &Decoded<'a>, show_secrets: bool) -> Option<Cow<'a, str>> {
    let subject = decoded.message.subject.as_deref()?;
    Some(match decoded.frame.head {
        Head::Http { .. } if !show_secrets => heads::masked(subject),
        _ => Cow::Borrowed(subject),
    })
}

fn header<'a>(decoded: &Decoded<'a>, fields: &mut Vec<Field<'a>>) {
    let (view, message) = (decoded.frame.view, decoded.message);
    match decoded.frame.head {
        Head::Length(length) | Head::Method { length, .. } if view.bytes.len() >= 4 => {
            fields.push(part("length", Span::new(0, 4), length.to_string()));
        }
        Head::Http { len, .. } if view.body.at() >= len as usize && len > 0 => {
            let head = view.bytes.get(..len as usize).unwrap_or_default();
            lines(0, head, true, fields);
        }
        Head::WebSocket {
            opcode,
            masked,
            compressed,
            fragments,
        } => {
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
            fields.push(part("websocket", Span::new(0, view.body.at()), text));
        }
        _ => {}
    }
    // What a protocol has of its own before the encoded message.
    if message.body.start > view.body.start && decoded.frame.framing != Framing::Method {
        let span = Span::new(view.body.at(), message.body.at());
        let text = String::from_utf8_lossy(span.of(view.bytes)).into_owned();
        fields.push(part("header", span, text));
    }
    if decoded.root().is_none() && message.body.len > 0 {
        let (body, at) = (message.body.of(view.bytes), message.body.at());
        let mut field = part("body", message.body, String::from_utf8_lossy(body));
        let secrets = secrets(body, &|_| false);
        let secrets: Vec<_> = secrets.into_iter().map(|s| s.range).collect();
        hide(&mut field, body, 0..body.len(), at, &secrets);
        fields.push(field);
    }
}

fn value<'a>(
    node: Node<'a>,
    label: Cow<'a, str>,
    path: String,
    key: Option<Span>,
    depth: usize,
    which: &Which<'_>,
    fields: &mut Vec<Field<'a>>,
) {
    let (span, is_map) = (node.span(), node.is_map());
    let prefix = path.clone();
    let (mut shown, mut end) = (0, span.at());
    let empty = Cow::Borrowed("");
    fields.push(Field {
        label,
        path,
        span,
        key,
        depth,
        node: Some(node),
        text: empty,
        secret: false,
        hidden: Vec::new(),
        masked: None,
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
            let _ = write_step(&Step::Member(label.to_string()), path.is_empty(), &mut path);
            let key = Some(key.span());
            if which.has(key, child, &path) {
                value(child, label, path, key, depth + 1, which, fields);
            }
        }
    } else if node.is_array() {
        for (i, child) in node.children().enumerate() {
            if which.is_full(fields.len()) {
                break;
            }
            (shown, end) = (shown + 1, child.span().end());
            let (label, path) = (format!("[{i}]").into(), format!("{prefix}[{i}]"));
            if which.has(None, child, &path) {
                value(child, label, path, None, depth + 1, which, fields);
            }
        }
    }
    let more = (is_map || node.is_array())
        .then(|| node.count())
        .and_then(|count| count.checked_sub(shown));
    if let Some(more @ 1..) = more {
        let rest = Span::new(end, span.end());
        let text = format!("… {more} more");
        fields.push(Field {
            depth: depth + 1,
            path: prefix,
            // Nobody has looked for secrets in them.
            hidden: vec![rest],
            masked: Some(text.clone()),
            ..part("", rest, text)
        });
    }
}

/// A key as a path shows it.
fn key_text(key: Node<'_>) -> Cow<'_, str> {
    key.text().unwrap_or_else(|| {
        let mut out = Vec::new();
        crate::encoding::lossless::write(key, &mut out);
        Cow::Owned(String::from_utf8_lossy(&out).into_owned())
    })
}

/// The field that owns a byte of the frame: the innermost value, key or part of the header.
pub fn owner<'f, 'a>(fields: &'f [Field<'a>], at: usize) -> Option<(&'f Field<'a>, bool)> {
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

/// A value in few words: what a leaf holds, how many a container has.
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

/// Bytes as hex, the first of them where there are many.
fn bytes_text(bytes: &[u8]) -> String {
    const SHOWN: usize = 32;
    let hex = ::hex::encode(bytes.get(..SHOWN).unwrap_or(bytes));
    match bytes.len() {
        0 => "no bytes".into(),
        len if len <= SHOWN => format!("0x{hex}"),
        len => format!("0x{hex}… ({len} bytes)"),
    }
}

//! A frame as a list of fields with their places: what tree, hex, and lookups by place share.

use crate::decoder::Decoded;
use crate::framing::{Framing, Head};
use crate::path::{Step, write_step};
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};
use std::borrow::Cow;

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
}

/// All fields of a frame, header first, in the order of their bytes.
pub fn fields<'a>(decoded: &Decoded<'a>) -> Vec<Field<'a>> {
    let mut fields = Vec::new();
    header(decoded, &mut fields);
    if let Some(root) = decoded.root() {
        value(root, Cow::Borrowed(""), String::new(), None, 0, &mut fields);
    }
    fields
}

fn header<'a>(decoded: &Decoded<'a>, fields: &mut Vec<Field<'a>>) {
    let (view, message) = (decoded.frame.view, decoded.message);
    let mut part = |label: Cow<'a, str>, span: Span, text: Cow<'a, str>, secret: bool| {
        let path = label.to_string();
        fields.push(Field {
            label,
            path,
            span,
            key: None,
            depth: 0,
            node: None,
            text,
            secret,
        });
    };
    match decoded.frame.head {
        Head::Length(length) | Head::Method { length, .. } if view.bytes.len() >= 4 => {
            part(
                "length".into(),
                Span::new(0, 4),
                length.to_string().into(),
                false,
            );
        }
        Head::Http { len, .. } if view.body.at() >= len as usize && len > 0 => {
            let head = Span::new(0, len as usize);
            let mut at = 0;
            for line in head.of(view.bytes).split_inclusive(|b| *b == b'\n') {
                let span = Span::new(at, at + line.len());
                at += line.len();
                let line = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
                match line.split_once(':').filter(|_| span.start > 0) {
                    Some((name, text)) => {
                        let secret = [
                            "authorization",
                            "cookie",
                            "set-cookie",
                            "proxy-authorization",
                        ];
                        let secret = secret.contains(&name.to_ascii_lowercase().as_str());
                        part(
                            name.to_owned().into(),
                            span,
                            text.trim().to_owned().into(),
                            secret,
                        );
                    }
                    None if line.is_empty() => {}
                    None => part("start line".into(), span, line.into(), false),
                }
            }
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
            part(
                "websocket".into(),
                Span::new(0, view.body.at()),
                text.into(),
                false,
            );
        }
        _ => {}
    }
    // What a protocol has of its own before the encoded message.
    if message.body.start > view.body.start && decoded.frame.framing != Framing::Method {
        let span = Span::new(view.body.at(), message.body.at());
        let text = String::from_utf8_lossy(span.of(view.bytes)).into_owned();
        part("header".into(), span, text.into(), false);
    }
    if decoded.root().is_none() && message.body.len > 0 {
        let text = String::from_utf8_lossy(message.body.of(view.bytes)).into_owned();
        part("body".into(), message.body, text.into(), false);
    }
}

fn value<'a>(
    node: Node<'a>,
    label: Cow<'a, str>,
    path: String,
    key: Option<Span>,
    depth: usize,
    fields: &mut Vec<Field<'a>>,
) {
    let (span, is_map) = (node.span(), node.is_map());
    let prefix = path.clone();
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
    });
    if is_map {
        for (key, child) in node.members() {
            let label = key_text(key);
            let mut path = prefix.clone();
            // Writing to a string cannot fail.
            let _ = write_step(&Step::Member(label.to_string()), path.is_empty(), &mut path);
            value(child, label, path, Some(key.span()), depth + 1, fields);
        }
    } else if node.is_array() {
        for (i, child) in node.children().enumerate() {
            value(
                child,
                format!("[{i}]").into(),
                format!("{prefix}[{i}]"),
                None,
                depth + 1,
                fields,
            );
        }
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
        Value::Map => format!("{{{}}}", node.members().count()),
        Value::Array => format!("[{}]", node.children().count()),
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

//! Interprets a frame by a description.

use super::Described;
use super::body::{Body, Header};
use super::description::{MessageKind, Word, is_answer};
use super::matching::Found;
use crate::encoding::{Encoding, Parsed};
use crate::framing::{Frame, Framing};
use crate::path::Path;
use crate::protocol::json_body::{self, empty};
use crate::protocol::make::is_json;
use crate::protocol::rpc::read::Exchange;
use crate::protocol::{Context, Direction, Evidence, Id, Message, Role};
use crate::span::SpannedText;
use crate::tape::{Node, Scalar, Value};
use std::borrow::Cow;

/// The kind of a message that no description matches.
pub(super) const UNKNOWN: &str = "unknown";

pub(super) fn read<'a>(
    described: &'a Described,
    frame: &Frame<'a>,
    context: &Context<'_>,
    parsed: &'a mut Parsed,
) -> Message<'a> {
    let view = frame.view;
    let mut message = Message {
        valid: true,
        ..Message::new(view.body)
    };
    let body = view.body();
    let text = body.trim_ascii();
    let format = &described.description.body;
    let encoding = format.encoding(body);
    let is_other = |header: &Header| frame.fault.is_some() && !header.is_whole(view.bytes);
    if format.header.as_ref().is_some_and(is_other) {
        message.valid = false;
        return message;
    }
    let exchange = Exchange::of(frame);
    let is_message = |exchange: &Exchange| match encoding {
        Encoding::Json => exchange.is_json(frame, text),
        other => exchange.may_be(other, frame),
    };
    if let Some(exchange) = exchange.filter(|exchange| !is_message(exchange)) {
        message.valid = text.is_empty();
        exchange.control(&mut message);
        return message;
    }
    let is_empty = match encoding {
        Encoding::Json => text.is_empty(),
        // A text and bytes can be empty.
        Encoding::Text | Encoding::Bytes if frame.framing != Framing::Lines => false,
        _ => body.is_empty(),
    };
    if is_empty && format.header.is_none() {
        if frame.framing == Framing::Lines {
            (message.kind, message.role) = ("blank-line".into(), Some(Role::Control));
            return message;
        }
        message.valid = false;
        message.faults.push(empty(frame));
        return message;
    }
    parsed.set_head(described.matcher.levels);
    let root = parse(format, encoding, frame, context, parsed, &mut message);
    if let Some(root) = root {
        described.matcher.read(root, |found| {
            interpret(described, found, context, &mut message);
        });
    }
    let is_other = message.role.is_none() && message.valid;
    // A refusal may have a page as its body.
    let is_page = encoding != Encoding::Json && !message.valid;
    if let Some(exchange) = exchange.filter(|one| is_other || is_page && one.is_refusal()) {
        message.faults.clear();
        message.valid = true;
        exchange.control(&mut message);
    }
    message
}

/// Reads the value of a frame; its head is read from more levels than usual if paths are longer.
fn parse<'a>(
    format: &Body,
    encoding: Encoding,
    frame: &Frame<'a>,
    context: &Context<'_>,
    parsed: &'a mut Parsed,
    message: &mut Message<'a>,
) -> Option<Node<'a>> {
    let is_plain = format.is_plain(encoding);
    if encoding == Encoding::Json && is_plain {
        return json_body::parse(frame, context, parsed, message);
    }
    let view = frame.view;
    let read = match encoding {
        _ if !is_plain => format.read(view.bytes, view.body, parsed),
        Encoding::Cbor => parsed.cbor(view.bytes, view.body),
        _ => parsed.msgpack(view.bytes, view.body),
    };
    if let Err(error) = read {
        message.valid = false;
        message.faults.push(error);
    }
    let parsed = &*parsed;
    message.value = Some(parsed);
    parsed.root(view.bytes)
}

fn interpret<'a>(
    described: &'a Described,
    found: &Found<'_, 'a>,
    context: &Context<'_>,
    message: &mut Message<'a>,
) {
    let messages = &described.description.messages;
    let Some(kind) = found.kind(messages, context.direction) else {
        if message.valid {
            message.kind = UNKNOWN.into();
        }
        return;
    };
    message.role = Some(role(kind, found, context.direction));
    message.evidence = if kind.certain {
        Evidence::Certain
    } else {
        Evidence::Possible
    };
    (message.kind, message.subject) = names(kind, found);
    if let Some(node) = kind.pair_id().and_then(|path| found.at(path)) {
        (message.id, message.id_span) = (id_of(node), Some(node.span()));
    }
    message.name = word(kind.name.as_ref(), found);
    if message.role == Some(Role::Error) {
        let outcome = kind.outcome.as_ref().and_then(|path| found.at(path));
        message.outcome = outcome.and_then(text_of);
    }
}

/// Returns the name of the kind, and the subject.
pub(super) fn names<'a>(
    kind: &'a MessageKind,
    found: &Found<'_, 'a>,
) -> (Cow<'a, str>, Option<SpannedText<'a>>) {
    let name = match &kind.kind {
        Word::Text(text) => Cow::Borrowed(text.as_str()),
        Word::At(path) => {
            let text = found.at(path).and_then(text_of);
            text.map_or(kind.role.name().into(), |text| text.text)
        }
    };
    (name, word(kind.subject.as_ref(), found))
}

/// Returns the role of a message of a kind.
fn role(kind: &MessageKind, found: &Found<'_, '_>, direction: Option<Direction>) -> Role {
    let holds = |condition: &Option<crate::select::Expr>| {
        let condition = condition.as_ref();
        condition.is_some_and(|condition| found.holds(condition, direction))
    };
    if holds(&kind.error) {
        Role::Error
    } else if holds(&kind.last) {
        Role::End
    } else {
        kind.role
    }
}

/// Returns the role of a message of a direction, if the description has such a message.
pub(super) fn role_of(described: &Described, root: Node<'_>, direction: Direction) -> Option<Role> {
    described.matcher.read(root, |found| {
        let kind = found.kind(&described.description.messages, Some(direction))?;
        Some(role(kind, found, Some(direction)))
    })
}

/// Returns the value that links a message of a direction to others.
pub(super) fn pair_id<'n>(
    described: &Described,
    root: Node<'n>,
    direction: Direction,
) -> Option<Node<'n>> {
    described.matcher.read(root, |found| {
        let kind = found.kind(&described.description.messages, Some(direction))?;
        found.at(kind.pair_id()?)
    })
}

fn word<'a>(word: Option<&'a Word>, found: &Found<'_, 'a>) -> Option<SpannedText<'a>> {
    match word? {
        Word::Text(text) => Some(SpannedText::without_span(text.as_str())),
        Word::At(path) => found.at(path).and_then(text_of),
    }
}

/// Returns the text of a text, of bytes that are UTF-8, as some writers of `MessagePack` write texts, or of a number.
fn text_of(node: Node<'_>) -> Option<SpannedText<'_>> {
    if let Some(text) = node.spanned_text() {
        return Some(text);
    }
    if let Value::Scalar(Scalar::Bin(bytes)) = node.value() {
        let text = std::str::from_utf8(bytes).ok()?;
        return Some(SpannedText::new(text, node.span()));
    }
    let number = node.as_i128().map(|number| number.to_string());
    let number = match node.number_text() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(number?),
    };
    Some(SpannedText::new(number, node.span()))
}

/// Returns an id: in JSON as it is spelled, in other encodings as a value.
pub(super) fn id_of(node: Node<'_>) -> Id<'_> {
    match node.value() {
        Value::Scalar(Scalar::Json(..) | Scalar::Number(_) | Scalar::Bool(_) | Scalar::Null) => {
            let spelled = node.span().of(node.bytes());
            match std::str::from_utf8(spelled) {
                Ok(text) if is_json_text(text) => Id::Json(text.into()),
                _ => Id::None,
            }
        }
        Value::Scalar(Scalar::Bin(bytes)) => match <[u8; 16]>::try_from(bytes) {
            Ok(uuid) => Id::Uuid(uuid),
            Err(_) => Id::Text(hex::encode(bytes).into()),
        },
        Value::Scalar(Scalar::Str(text)) => match std::str::from_utf8(text) {
            Ok(text) => Id::Text(text.into()),
            Err(_) => Id::Text(hex::encode(text).into()),
        },
        Value::Map | Value::Array => {
            let spelled = node.span().of(node.bytes());
            let text = std::str::from_utf8(spelled)
                .ok()
                .filter(|text| is_json(text));
            text.map_or(Id::None, |text| Id::Json(text.into()))
        }
        _ => node.as_i128().map_or(Id::None, Id::Number),
    }
}

/// Returns false for the single bytes of other encodings.
fn is_json_text(text: &str) -> bool {
    text.bytes()
        .next()
        .is_some_and(|first| first.is_ascii_graphic())
}

/// Returns the arguments, the result, or the text of an error.
pub(super) fn content<'n>(
    described: &Described,
    root: Node<'n>,
    message: &Message<'_>,
) -> Option<Node<'n>> {
    described.matcher.read(root, |found| {
        let kind = described.kind_of(found, message)?;
        let at = |path: &Option<Path>| path.as_ref().and_then(|path| found.at(path));
        let text = at(&kind.text).filter(|_| message.role == Some(Role::Error));
        text.or_else(|| at(&kind.content))
    })
}

impl Described {
    /// Returns the kind as which a message was read.
    pub(super) fn kind_of(
        &self,
        found: &Found<'_, '_>,
        message: &Message<'_>,
    ) -> Option<&MessageKind> {
        let role = message.role?;
        let fits = |kind: &&MessageKind| {
            let when = kind.when.as_ref();
            let is_role = kind.role == role || kind.answers() && is_answer(role);
            let is_kind = kind.fixed_kind().is_none_or(|name| name == message.kind);
            is_role && is_kind && when.is_none_or(|when| found.holds(when, None))
        };
        self.description.messages.iter().find(fits)
    }
}

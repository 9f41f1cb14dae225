//! Interprets a frame in any of its three forms.

use super::schema::stage_kinds;
use crate::encoding::{Parsed, json, msgpack};
use crate::error::{DecodeError, show_byte};
use crate::framing::{Frame, Framing};
use crate::protocol::{Context, Direction, Evidence, Id, Message, Notes, Role};
use crate::span::{Span, SpannedText};
use crate::tape::{Node, Scalar, Tape, Value};
use std::borrow::Cow;

/// Returns `true` if a frame with a big-endian length starts here: a `MessagePack` map with a short key, or a JSON
/// object.
pub(super) fn plausible(bytes: &[u8]) -> bool {
    match bytes {
        [0, _, _, _, 0x80..=0x8f, 0xa1..=0xb0, first, ..] => first.is_ascii_lowercase(),
        [0, _, _, _, b'{', b'"', first, ..] => first.is_ascii_lowercase(),
        _ => false,
    }
}

/// The number of stages that the name of a pipeline has.
const MAX_STAGES: usize = 8;
/// The number of parallel stages inside of each other that it has.
const MAX_NESTED: usize = 2;

/// The nesting depth of a pipeline that is read for its name.
const MAX_DEPTH: u32 = 64;

/// The form of a message.
enum BodyForm {
    Json,
    /// The version byte and three letters, then the rest.
    Header,
    MessagePack,
    Unknown(u8),
}

fn form(body: &[u8]) -> BodyForm {
    // `{`, 1 or 2, and the map markers differ in the first byte.
    match body.trim_ascii_start().first() {
        Some(0x80..=0x8f | 0xde | 0xdf) => BodyForm::MessagePack,
        Some(1 | 2) if is_header(body) => BodyForm::Header,
        Some(&byte) if !byte.is_ascii_graphic() => BodyForm::Unknown(byte),
        _ => BodyForm::Json,
    }
}

fn is_header(body: &[u8]) -> bool {
    matches!(body, [1 | 2, a, b, c, ..] if [a, b, c].iter().all(|x| x.is_ascii_uppercase()))
}

pub(super) fn read<'a>(
    frame: &Frame<'a>,
    context: &Context,
    parsed: &'a mut Parsed,
) -> Message<'a> {
    let view = frame.view;
    let mut body = view.body;
    let bytes = view.bytes;
    let mut message = Message {
        body,
        valid: true,
        ..Message::default()
    };
    let mut header = None;
    let mut form = form(body.of(bytes));
    if let BodyForm::Header = form {
        header = bytes
            .get(body.at() + 1..body.at() + 4)
            .and_then(|kind| std::str::from_utf8(kind).ok());
        body = Span::new(body.at() + 4, body.end());
        message.body = body;
        form = match self::form(body.of(bytes)) {
            BodyForm::MessagePack => BodyForm::MessagePack,
            _ => BodyForm::Json,
        };
    }
    let blank = body.of(bytes).trim_ascii().is_empty();
    if blank && header.is_none() {
        message.valid = false;
        message.faults.push(if frame.framing == Framing::Lines {
            DecodeError::new("blank-line", body, "message", "an object", "a blank line")
        } else {
            DecodeError::new("empty", body, "message", "an object", "nothing")
        });
        return message;
    }
    if blank {
        parsed.clear();
    } else {
        let result = match form {
            BodyForm::MessagePack => parsed.msgpack(bytes, body),
            BodyForm::Unknown(byte) => {
                parsed.clear();
                let wanted = "`{`, a MessagePack map, or a version byte and three capital letters";
                Err(DecodeError::new(
                    "bad-header",
                    Span::new(body.at(), body.at() + 1),
                    "first byte",
                    wanted,
                    show_byte(byte),
                ))
            }
            _ => parsed.json(bytes, body),
        };
        if let Err(error) = result {
            message.valid = false;
            message.faults.push(error);
        }
    }
    let parsed = &*parsed;
    let root = parsed.root(bytes);
    if let Some(root) = root {
        message.value = Some(parsed);
        if !root.is_map() {
            if message.valid {
                let got = root.describe();
                message.faults.push(DecodeError::new(
                    "not-an-object",
                    root.span(),
                    "message",
                    "an object",
                    got,
                ));
            }
            return message;
        }
    }
    interpret(root, header, context, &mut message);
    message
}

/// Finds the fields that define the message in one pass.
fn interpret<'a>(
    root: Option<Node<'a>>,
    header: Option<&'a str>,
    context: &Context,
    message: &mut Message<'a>,
) {
    let (mut kind, mut tools, mut tool, mut topic, mut pipeline, mut code) =
        (None, false, None, None, None, None);
    let mut members = root.map(Node::children);
    while let Some((key, value)) = members.as_mut().and_then(|m| Some((m.next()?, m.next()?))) {
        match key.key_bytes().as_ref() {
            b"kind" => kind = value.text(),
            b"seq" => (message.id, message.id_span) = (id(value), Some(value.span())),
            b"tools" => tools = true,
            b"tool" => tool = Some(value),
            b"topic" => topic = Some(value),
            b"pipeline" => pipeline = Some(value),
            b"code" => code = value.spanned_text(),
            _ => {}
        }
    }
    // In the header form the kind is in the header. The document does not say if the JSON repeats it.
    let kind = header.map(Cow::Borrowed).or(kind);
    let name = kind.as_deref().unwrap_or_default();
    let role = role(name);
    let answers = tools || context.direction == Some(Direction::ToClient);
    message.role = match name {
        "LST" if answers => Some(Role::Response),
        _ => role,
    };
    message.evidence = match (role.is_some(), kind.is_some()) {
        (true, _) => Evidence::Certain,
        // Three capitals after a 1 or 2 often occur by chance.
        (false, true) if header.is_none() => Evidence::Possible,
        _ => Evidence::None,
    };
    let stages = pipeline.filter(|p| name == "INV" && has_stages(*p));
    // The tool or the topic is both the subject and the name.
    message.name = match name {
        "INV" => match stages {
            Some(stages) => Some(SpannedText::new(stage_names(stages, 0), stages.span())),
            None => tool.and_then(Node::spanned_text),
        },
        "SUB" => topic.and_then(Node::spanned_text),
        _ => None,
    };
    message.subject = match stages {
        Some(pipeline) => Some(SpannedText::new("pipeline", pipeline.span())),
        None => message.name.clone(),
    };
    message.outcome = code.filter(|_| name == "ERR");
    message.dialect = header.map(|_| "header form".into());
    message.kind = kind.unwrap_or(Cow::Borrowed("unknown"));
}

/// Returns the role of a kind; LST has another role as an answer. The schema has the same facts, and a test compares
/// the two: this function runs for each message.
pub(super) fn role(kind: &str) -> Option<Role> {
    let letters = <[u8; 3]>::try_from(kind.as_bytes()).ok()?;
    Some(match &letters {
        b"HEY" | b"RSM" => Role::Hello,
        b"INV" | b"SUB" | b"LST" => Role::Request,
        b"UNS" | b"CAN" | b"ACK" | b"BYE" | b"WIN" => Role::Notification,
        b"RES" => Role::Response,
        b"STR" | b"EVT" => Role::Item,
        b"END" => Role::End,
        b"ERR" => Role::Error,
        b"HBT" | b"HBA" => Role::Heartbeat,
        _ => return None,
    })
}

/// Returns the number that links a message to others.
pub(super) fn pair_id(root: Node<'_>) -> Option<Node<'_>> {
    root.get("seq")
}

pub(super) fn is_error_answer(root: Node<'_>) -> bool {
    let kind = root.get("kind").and_then(Node::text);
    kind.is_some_and(|kind| role(&kind) == Some(Role::Error))
}

/// Returns the stages of a pipeline, each by its tool or its kind: `search | filter | (mail, log)`.
fn stage_names(pipeline: Node<'_>, depth: usize) -> String {
    let mut tape = Tape::new();
    let stages = reach(pipeline, &mut tape);
    let mut names: Vec<String> = stages
        .children()
        .take(MAX_STAGES)
        .map(|stage| stage_name(stage, depth))
        .collect();
    if stages.children().nth(MAX_STAGES).is_some() {
        names.push("…".to_owned());
    }
    names.join(" | ")
}

fn stage_name(stage: Node<'_>, depth: usize) -> String {
    let (mut tape, mut inner) = (Tape::new(), Tape::new());
    let stage = reach(stage, &mut tape);
    if let Some(tool) = stage.get("tool").and_then(Node::text) {
        return tool.into_owned();
    }
    if let Some(branches) = stage.get("parallel").filter(|_| depth < MAX_NESTED) {
        let branches = reach(branches, &mut inner);
        let names = branches.children().take(MAX_STAGES);
        let names: Vec<String> = names.map(|one| stage_names(one, depth + 1)).collect();
        return format!("({})", names.join(", "));
    }
    let kind = stage_kinds().find(|kind| stage.get(kind).is_some());
    kind.unwrap_or("?").to_owned()
}

/// Returns a value with its direct children, stored in `tape` if only a message's head was read.
fn reach<'a>(node: Node<'a>, tape: &'a mut Tape) -> Node<'a> {
    let (bytes, span) = (node.bytes(), node.span());
    if node.children().next().is_some() || !matches!(bytes.get(span.at()), Some(b'{' | b'[')) {
        return msgpack::reach(node, tape);
    }
    tape.clear(1);
    match json::parse(bytes, span, MAX_DEPTH, tape) {
        Ok(_) => tape.root(bytes).unwrap_or(node),
        Err(_) => node,
    }
}

fn has_stages(pipeline: Node<'_>) -> bool {
    let reached = |tape| reach(pipeline, tape).children().next().is_some();
    pipeline.is_array() && reached(&mut Tape::new())
}

/// Returns `seq` as an id: a number in any integral spelling, otherwise as it is spelled.
fn id(node: Node<'_>) -> Id<'_> {
    match node.value() {
        Value::Scalar(Scalar::Number(text) | Scalar::Json(text, _)) if text.len() < 64 => {
            let text = std::str::from_utf8(node.span().of(node.bytes()));
            text.map_or(Id::None, |text| Id::Json(text.into()))
        }
        Value::Scalar(Scalar::Str(_)) => node.text().map_or(Id::None, Id::Text),
        _ => node.as_i128().map_or(Id::None, Id::Number),
    }
}

/// The text of the error, the arguments, the result, or the main member of another kind.
pub(super) fn content<'n>(root: Node<'n>, message: &Message<'_>) -> Option<Node<'n>> {
    const NAMES: [&str; 7] = [
        "input", "pipeline", "output", "data", "delta", "window", "reason",
    ];
    if message.role == Some(Role::Error) {
        return root.get("message");
    }
    let values = root.get_each::<{ NAMES.len() }, _>(&NAMES, |name| name);
    (0..NAMES.len()).find_map(|n| values.get(n))
}

pub(super) fn annotate(root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
    tokens(root, notes);
    if message.role == Some(Role::Heartbeat)
        && let Some(ts) = root.get("ts")
        && let Some(seconds) = ts.as_i128().and_then(|s| i64::try_from(s).ok())
        && let Some(ms) = seconds.checked_mul(1000)
        && seconds > 1_000_000_000
    {
        notes.remark_time(ts, ms);
    }
}

/// The start of a capability token.
const PREFIX: &str = "qct.";

/// Returns true if text looks like a capability token: the prefix, and parts in the right alphabet.
pub fn is_token(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(PREFIX) else {
        return false;
    };
    let mut parts = rest.split('.');
    parts.next().is_some_and(|version| version.starts_with('v'))
        && parts.clone().count() >= 1
        && parts.all(|part| !part.is_empty() && part.bytes().all(is_base64url))
}

pub(super) fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Marks every text that looks like a capability token as secret.
fn tokens(root: Node<'_>, notes: &mut Notes) {
    root.each(&mut |node| {
        // An escape may stand for the first letter.
        if matches!(node.raw_text().first(), Some(b'q' | b'\\'))
            && node.key_bytes().starts_with(PREFIX.as_bytes())
            && node.text().is_some_and(|t| is_token(&t))
        {
            notes.secret(node);
        }
    });
}

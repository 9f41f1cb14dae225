//! `TeleQuick` voice RPC: calls, call events and audio as serde envelopes.
//!
//! ```text
//!   11 00 00 00 | 12 fa bb e5 | 00 00 07 00 00 00 | 03 00 00 00 61 62 63
//!   length        method id     envelope header     fields, by schema: call_sid "abc"
//! ```
//!
//! Lengths come in two flavours ([`LengthMode`](crate::framing::LengthMode)), answers to a request often without
//! length and method id. Frames carry no request id: an answer is tied to its question by its stream, or by order.
//!
//! | kind | role | id | subject |
//! |---|---|---|---|
//! | name of the struct, `unknown` | request, response, item | none | method or stream, else the id in hex |

#[cfg(feature = "rules")]
mod behavior;
mod flavour;
mod message;
#[cfg(feature = "rules")]
mod peer;
pub(crate) mod schema;
#[cfg(feature = "rules")]
mod session;

use super::make::{Made, Mint, Words};
use super::{
    Collected, Context, Descriptor, Message, Notes, Protocol, Setting, WriteOptions, Written,
};
use crate::encoding::{Parsed, Want};
use crate::error::Refusal;
use crate::framing::{Frame, Framing, Head, Hints};
use crate::protocol::schema::Fresh;
use crate::span::{Span, SpannedText};
use crate::tape::{Node, Scalar, Value};
use message::Plan;
pub(crate) use schema::format;
use schema::{KINDS, MARKS, Mark, RECIPES, UNKNOWN};
pub use schema::{Method, Schema, SchemaError, method_id};
use std::borrow::Cow;
use std::sync::Arc;

/// A frame's envelope, for users of the library.
#[derive(Clone)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The method's name, where the schema has one of that id.
    pub method: Option<Node<'a>>,
    /// The struct that the fields are of; none where they are guessed.
    pub layout: Option<Node<'a>>,
    /// The producer's schema version.
    pub version: Node<'a>,
    /// The oldest version that it says it is compatible with.
    pub compat_version: Node<'a>,
    /// The fields by name; an array where they are guessed.
    pub fields: Node<'a>,
}

/// Reads an envelope from its parsed message; `None` where the envelope is not whole.
pub fn envelope(root: Node<'_>) -> Option<Envelope<'_>> {
    Some(Envelope {
        method: root.get("method"),
        layout: root.get("struct"),
        version: root.get("version")?,
        compat_version: root.get("compat_version")?,
        fields: root.get("fields")?,
    })
}

/// The protocol.
#[derive(Clone, Debug)]
pub struct Telequick {
    /// `None` for the built-in one, which is only read once a frame asks for it.
    own: Option<Own>,
    forced: Option<u32>,
}

/// A schema of one's own, and the facts that follow from it.
#[derive(Clone, Copy)]
struct Own {
    schema: &'static Schema,
    facts: &'static Descriptor,
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.schema.fmt(f)
    }
}

impl Telequick {
    /// As the SDKs write it.
    pub const fn builtin() -> Self {
        Self {
            own: None,
            forced: None,
        }
    }

    /// By a schema of one's own. It is kept as long as the process runs, since facts of protocols are.
    pub fn new(schema: Schema) -> Self {
        let schema: &'static Schema = Box::leak(Box::new(schema));
        let facts = Box::leak(Box::new(Descriptor {
            kinds: kept(schema::kinds(schema)),
            marks: kept(schema::marks::collect(schema)),
            recipes: kept(schema::recipes(schema)),
            ..DESCRIPTOR
        }));
        Self {
            own: Some(Own { schema, facts }),
            forced: None,
        }
    }

    /// The same, reading every envelope as one struct; `None` where the schema has no such struct.
    pub fn with_struct(mut self, name: &str) -> Option<Self> {
        self.forced = Some(self.schema().struct_named(name)?);
        Some(self)
    }

    /// What it reads by.
    pub fn schema(&self) -> &Schema {
        self.own.map_or_else(Schema::builtin, |own| own.schema)
    }
}

/// Facts that are kept as long as the process runs.
fn kept<T: Send + Sync>(facts: T) -> Collected<T> {
    Box::leak(Box::new(Arc::new(facts)))
}

impl Default for Telequick {
    fn default() -> Self {
        Self::builtin()
    }
}

/// Fault codes of telequick's own.
const FAULTS: &[(&str, &str)] = &[
    (
        "envelope-overrun",
        "an envelope does not fit into the bytes there are",
    ),
    ("negative-size", "an envelope's payload_size is below zero"),
    (
        "unreadable-version",
        "compat_version is above the version that the schema describes",
    ),
    (
        "string-length",
        "a string's length is below zero or runs past its envelope",
    ),
    (
        "vector-count",
        "a vector's count is below zero or more than its envelope can hold",
    ),
    ("field-overrun", "a field runs past its envelope"),
];

/// The facts of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "telequick",
    port: None,
    framings: &[Framing::Method, Framing::Bare],
    hints: Hints {
        measure: Some(flavour::measure),
        plausible: Some(flavour::plausible),
    },
    sides: ["client", "gateway"],
    provider: None,
    dialects: &[],
    settings: &[Setting::LengthMode, Setting::Schema],
    kinds: &KINDS,
    recipes: &RECIPES,
    marks: &MARKS,
    shapes: schema::shapes,
    faults: FAULTS,
    value_types: None,
    is_re_encoded: false,
    takes_turns: true,
};

impl Protocol for Telequick {
    fn descriptor(&self) -> &'static Descriptor {
        self.own.map_or(&DESCRIPTOR, |own| own.facts)
    }

    fn read<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &Context,
        parsed: &'a mut Parsed,
    ) -> Message<'a> {
        let schema: &'a Schema = self.schema();
        let body = frame.view.body;
        let mut message = Message {
            kind: Cow::Borrowed(UNKNOWN),
            body,
            ..Message::default()
        };
        let depth = parsed.depth();
        let planned = Plan::new(schema, self.forced, frame, *context, depth)
            .filter(|_| frame.control.is_none());
        let Some(plan) = planned else {
            parsed.clear();
            return message;
        };
        let torn = frame.fault.is_some();
        message.kind = Cow::Borrowed(plan.kind());
        message.role = plan.role();
        message.guess = plan.guess && plan.layout.is_some();
        message.body = plan.body;
        let body = plan.body;
        message.evidence = plan.evidence();
        let subject = match (plan.method, frame.head) {
            (Some(method), _) => Some(Cow::Borrowed(schema.types.name(method.name))),
            (None, Head::Method { id, .. }) => Some(Cow::Owned(format!("0x{id:08x}"))),
            _ => None,
        };
        // The id of the method stands right before the body.
        let has_id = matches!(frame.head, Head::Method { .. });
        let before = frame.view.body.at().checked_sub(4).filter(|_| has_id);
        message.subject = subject.map(|text| SpannedText {
            text,
            span: before.map(|at| Span::new(at, at + 4)),
        });
        message.faults = plan.faults(torn);
        parsed.set_names(&schema.types.names);
        let told = parsed.with(body, |text| plan.tell(text), |tape| plan.tell(tape));
        let whole = plan.header.is_some_and(|h| !h.lies);
        message.valid = told.is_ok() && whole;
        let parsed = &*parsed;
        message.value = Some(parsed);
        // In an envelope that is cut off the last field is too; that is the same fault.
        if whole {
            match told {
                Ok(outcome) => message.faults.extend(outcome.faults),
                Err(error) => message.faults.push(error),
            }
        }
        // Only lines show it; there is no need to look where JSON is wanted.
        let lines = parsed.want() != Want::Text;
        message.outcome = plan.layout.filter(|_| lines).and_then(|id| {
            let name = schema.outcome(id)?;
            let code = parsed.root(frame.view.bytes)?.get("fields")?.get(name)?;
            match code.value() {
                Value::Scalar(Scalar::Name(_, name, _)) => {
                    Some(SpannedText::new(schema.types.name(name), code.span()))
                }
                _ => Some(SpannedText::new(code.as_i128()?.to_string(), code.span())),
            }
        });
        message
    }

    fn write(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written, Refusal> {
        schema::write(self.schema(), self.forced, message, options, out)
    }

    fn make(&self, kind: &str, words: &mut Words<'_>, mint: &mut Mint) -> Result<Made, Refusal> {
        schema::make(self.schema(), kind, words, mint)
    }

    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        for (key, value) in root.members() {
            match key.text().as_deref() {
                Some("method_id") => self.note_method_id(value, notes),
                Some("struct") if message.guess => {
                    notes.remark(value, "other structs fit as well; this is the likeliest");
                }
                Some("fields") if value.is_array() => {
                    notes.remark(value, "no schema for this; the fields are guessed");
                }
                Some("fields") => self.note_fields(value, message, notes),
                _ => {}
            }
        }
    }

    #[cfg(feature = "rules")]
    fn behavior(&self) -> &dyn super::session::Behavior {
        self
    }
}

impl Telequick {
    fn note_method_id(&self, value: Node<'_>, notes: &mut Notes) {
        let Some(id) = value.as_i128().and_then(|id| u32::try_from(id).ok()) else {
            return;
        };
        let name = |method: &schema::Method| self.schema().types.name(method.name).to_owned();
        notes.remark(
            value,
            match self.schema().method(id) {
                Some(method) if method.id == id => format!("0x{id:08x}"),
                Some(method) => format!(
                    "0x{id:08x}, another id of {} (0x{:08x})",
                    name(method),
                    method.id
                ),
                None => match self.schema().near_miss(id) {
                    Some(meant) => format!("0x{id:08x}, unknown: {meant}"),
                    None => format!("0x{id:08x}, unknown"),
                },
            },
        );
    }

    /// Notes on fields, and on those of structs inside.
    fn note_fields(&self, fields: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        let mut open = vec![fields];
        while let Some(node) = open.pop() {
            if node.is_array() {
                open.extend(node.children());
                continue;
            }
            for (key, value) in node.members() {
                if value.is_array() || value.is_map() {
                    open.push(value);
                    continue;
                }
                let name = key.text().unwrap_or_default();
                self.note_field(&name, value, node, message, notes);
            }
        }
    }

    fn note_field(
        &self,
        name: &str,
        value: Node<'_>,
        parent: Node<'_>,
        message: &Message<'_>,
        notes: &mut Notes,
    ) {
        match value.value() {
            Value::Scalar(Scalar::Name(number, ..)) => notes.remark(value, number.to_string()),
            Value::Scalar(Scalar::Int(_) | Scalar::Uint(_)) => {
                for mark in self.schema().marks(&message.kind, name) {
                    note_number(value, mark, notes);
                }
            }
            Value::Scalar(Scalar::Bin(bytes)) if name == schema::name::PAYLOAD => {
                let codec = parent.get(schema::name::CODEC).and_then(Node::text);
                notes.remark(
                    value,
                    match codec.as_deref() {
                        // 8000 samples a second, one byte each.
                        Some(codec @ ("PCMU" | "PCMA")) => {
                            let ms = bytes.len() as u32 as f64 / 8.0;
                            format!("{} bytes, {ms} ms of {codec}", bytes.len())
                        }
                        _ => format!("{} bytes", bytes.len()),
                    },
                );
            }
            _ => {}
        }
    }
}

/// What a number stands for.
fn note_number(value: Node<'_>, mark: &Mark, notes: &mut Notes) {
    let number = value.as_i128().unwrap_or_default();
    match mark {
        Mark::Generated(_, Fresh::Time) => {
            let ms = i64::try_from(number).ok().filter(|ms| *ms != 0);
            if let Some(time) = ms.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()) {
                notes.remark(value, time.to_string());
            }
        }
        Mark::Names(names) => {
            let at = usize::try_from(number).ok();
            if let Some(name) = at.and_then(|at| names.get(at)) {
                notes.remark(value, name.clone());
            }
        }
        _ => {}
    }
}

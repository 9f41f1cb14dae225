//! The schema: the meaning of a frame's bytes, methods by id, structs by name.
//!
//! ```text
//!   text     a `.tq` text: structs, enums, methods, streams, and marks of fields
//!   resolve  resolves its names: this schema
//!   marks, make, shapes, write    derived from it
//! ```
//!
//! [`Schema::builtin`] is the schema of the SDKs; a `.tq` text can add to it or replace parts of it. The ids of most
//! methods follow from their names, see [`method_id`].

mod format;
mod make;
pub(super) mod marks;
mod resolve;
mod shapes;
mod text;
mod token;
mod write;

use crate::encoding::serde_envelope::{
    COMPAT_VERSION, FIELDS, FieldType, LABELS, MAX_DEPTH, TAIL, Types, VERSION,
};
use crate::framing::LengthMode;
use crate::protocol::make::Recipe;
use crate::protocol::schema::marks::Marks;
use crate::protocol::schema::{ANY, Member, TEXT, Type, may, members, must};
use crate::protocol::{Kind, Role};
use crate::tape::Node;
pub use format::format;
pub(super) use make::{check_field, fields, make, message, recipes};
pub(super) use marks::FieldMark;
use resolve::{NameTable, resolve};
pub(super) use shapes::shapes;
use std::fmt;
use std::sync::{Arc, LazyLock};
use text::Definitions;
pub(super) use write::write;

/// Indexes of the fixed names in [`Types::names`], after those of the encoding.
pub(super) mod label {
    pub const METHOD: u32 = 4;
    pub const METHOD_ID: u32 = 5;
    pub const STRUCT: u32 = 6;
    pub const LENGTH_MODE: u32 = 7;
    pub const AFTER: u32 = 8;
    pub const EXCLUSIVE: u32 = 9;
    pub const INCLUSIVE: u32 = 10;
}

/// The names at these indexes.
const FIXED: [&str; 7] = [
    "method",
    "method_id",
    "struct",
    "length_mode",
    "after",
    LengthMode::Exclusive.name(),
    LengthMode::Inclusive.name(),
];

/// Returns a fixed name by its index.
pub(super) const fn fixed(label: u32) -> &'static str {
    let at = label as usize;
    if at < LABELS.len() {
        LABELS[at]
    } else {
        FIXED[at - LABELS.len()]
    }
}

/// The member of a fixed name, in an envelope or around it.
pub(super) fn member(envelope: Node<'_>, label: u32) -> Option<Node<'_>> {
    envelope.get(fixed(label))
}

/// A message: the envelope, and the values before and after it.
pub(super) const MEMBERS: &[Member] = members![
    may(fixed(label::METHOD), TEXT),
    may(fixed(label::METHOD_ID), Type::Integer(0, u32::MAX as i128)),
    may(fixed(label::STRUCT), TEXT),
    may(fixed(VERSION), BYTE),
    may(fixed(COMPAT_VERSION), BYTE),
    may(fixed(label::LENGTH_MODE), Type::OneOf(MODES),),
    must(fixed(FIELDS), ANY),
    may(fixed(TAIL), ANY),
    may(fixed(label::AFTER), ANY),
];
const MODES: &[&str] = &[fixed(label::EXCLUSIVE), fixed(label::INCLUSIVE)];
const BYTE: Type = Type::Integer(0, u8::MAX as i128);

/// Names that sessions and peers use; all other names occur only in the text.
pub(super) mod name {
    pub const AUDIO: &str = "AudioFrame";
    pub const EVENT: &str = "CallEvent";
    pub const DIALPLAN: &str = "ExecuteDialplanRequest";
    pub const CALL: &str = "call_sid";
    pub const PAYLOAD: &str = "payload";
    pub const CODEC: &str = "codec";
    pub const CLIENT: &str = "client_id";
    pub const ERROR: &str = "error_code";
    pub const WHY: &str = "error_message";
    pub const NUMBER: &str = "sequence_number";
    pub const ACTION: &str = "action";
    pub const SEND_DTMF: &str = "SEND_DTMF";
}

/// The names of the fields that describe a message, as indexes in [`Types::names`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeadFields {
    /// The name of what it is about.
    pub name: Option<u32>,
    /// The outcome of a request: a number, 0 for success.
    pub outcome: Option<u32>,
}

/// An error in the text of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaError {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub col: u32,
    /// The expected text.
    pub wanted: String,
    /// The actual text.
    pub got: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            col,
            wanted,
            got,
        } = self;
        write!(f, "{line}:{col}: wanted {wanted}, got {got}")
    }
}

impl std::error::Error for SchemaError {}

/// A call, or a stream of frames that belong to no call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcMethod {
    /// The name, as an index into [`Types::names`].
    pub(crate) name: u32,
    /// The id in its frames.
    pub(crate) id: u32,
    /// The struct of a request, as an index into [`Types::structs`]; `None` for a stream.
    pub(crate) input: Option<u32>,
    /// The struct of a response or an item.
    pub(crate) output: u32,
    /// `output` is sent many times.
    pub(crate) streaming: bool,
}

/// A schema with resolved names.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The structs and enums.
    pub types: Types,
    /// The methods and streams, in the order of the text.
    pub(crate) methods: Vec<RpcMethod>,
    /// The largest frame that peers accept, in bytes.
    pub(crate) frame_limit: Option<u32>,
    /// The deepest nesting of envelopes.
    pub(crate) depth: u32,
    /// The fields that describe a message.
    pub(super) head: HeadFields,
    /// All ids, including aliases, each with the index of its method, in ascending order.
    ids: Vec<(u32, u32)>,
    /// The definitions of the text, for [`Schema::extend`].
    source: Definitions,
}

impl Schema {
    /// Returns the schema of the SDKs.
    pub fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Schema> = LazyLock::new(|| {
            // A test checks the text; with an empty schema every frame would still be shown as a guess.
            Schema::parse(Schema::BUILTIN).unwrap_or_else(|_| Schema::empty())
        });
        &BUILTIN
    }

    /// The text of [`Schema::builtin`].
    pub const BUILTIN: &str = include_str!("schema/telequick.tq");

    /// Parses a complete `.tq` text.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        resolve(text::parse(text)?)
    }

    /// Parses a `.tq` text that extends this schema: a repeated definition replaces the earlier one.
    pub fn extend(&self, text: &str) -> Result<Self, SchemaError> {
        resolve(self.source.clone().merged(text::parse(text)?))
    }

    fn empty() -> Self {
        Self {
            types: Types {
                names: Arc::new(NameTable::default().list),
                ..Types::default()
            },
            methods: Vec::new(),
            frame_limit: None,
            depth: MAX_DEPTH,
            head: HeadFields::default(),
            ids: Vec::new(),
            source: Definitions::default(),
        }
    }

    /// Returns the method or stream with an id; an alias stands for its target.
    pub fn method(&self, id: u32) -> Option<&RpcMethod> {
        let at = self.ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        let (_, method) = self.ids.get(at)?;
        self.methods.get(*method as usize)
    }

    /// Returns the method or stream with a name.
    pub(crate) fn method_named(&self, name: &str) -> Option<&RpcMethod> {
        self.methods
            .iter()
            .find(|m| self.types.name(m.name) == name)
    }

    /// Returns the struct with a name, as an index into [`Types::structs`].
    pub fn struct_named(&self, name: &str) -> Option<u32> {
        let structs = &self.types.structs;
        let at = structs
            .iter()
            .position(|s| self.types.name(s.name) == name)?;
        Some(at as u32)
    }

    /// Returns the name of a struct.
    pub(crate) fn struct_name(&self, id: u32) -> &str {
        self.types
            .layout(id)
            .map_or("", |s| self.types.name(s.name))
    }

    /// Returns the role of a struct in the calls of a method; `None` if both sides may send it, or neither does.
    pub(in crate::protocol::telequick) fn role_in(method: &RpcMethod, layout: u32) -> Option<Role> {
        match method.input {
            Some(input) if input == method.output => None,
            Some(input) if input == layout => Some(Role::Request),
            _ if method.output != layout => None,
            _ if method.streaming => Some(Role::Item),
            _ => Some(Role::Response),
        }
    }

    /// Returns the description of a struct in the text.
    pub(in crate::protocol::telequick) fn about(&self, layout: u32) -> &str {
        let found = self.source.structs.get(layout as usize);
        found.map_or("", |def| &def.about)
    }

    /// Returns the description of a method in the text; if it has none, that of its request.
    pub(in crate::protocol::telequick) fn about_method(&self, method: &RpcMethod) -> &str {
        let place = self.methods.iter().position(|known| known == method);
        let found = place.and_then(|at| self.source.methods.get(at));
        match found.map_or("", |def| &def.about) {
            "" => self.about(method.input.unwrap_or(method.output)),
            about => about,
        }
    }

    /// Describes the likely meaning of an unknown id.
    pub(crate) fn near_miss(&self, id: u32) -> Option<String> {
        if self.method(id).is_some() {
            return None;
        }
        let known = |id: u32| self.method(id).map(|m| self.types.name(m.name));
        let show = |id: u32| {
            let [a, b, c, d] = id.to_le_bytes();
            format!("0x{id:08x} (bytes {a:02x} {b:02x} {c:02x} {d:02x})")
        };
        if id == MISPRINT.0
            && let Some(name) = known(MISPRINT.1)
        {
            let right = show(MISPRINT.1);
            return Some(format!("the document's misprint of {name}, {right}"));
        }
        if let Some(name) = known(id.swap_bytes()) {
            let right = show(id.swap_bytes());
            return Some(format!("{name} with its bytes in the wrong order: {right}"));
        }
        let differs = |m: &RpcMethod| {
            let bytes = (id ^ m.id).to_le_bytes();
            bytes.into_iter().filter(|b| *b != 0).count()
        };
        let nearest = self.methods.iter().min_by_key(|m| differs(m))?;
        let (name, count) = (self.types.name(nearest.name), differs(nearest));
        let bytes = if count == 1 { "byte" } else { "bytes" };
        (count <= 2).then(|| format!("{count} {bytes} away from {name}, {}", show(nearest.id)))
    }
}

/// The document's example of Barge prints the first id, and means the second.
const MISPRINT: (u32, u32) = (0xe5b0_6412, 0xe5bb_fa12);

/// Derives the id of a method from its names, as Redpanda's generator does: the checksum of the service, XOR that of
/// the method and its structs.
pub fn method_id(namespace: &str, service: &str, method: &str, input: &str, output: &str) -> u32 {
    let crc32 = |text: String| {
        let mut crc = flate2::Crc::new();
        crc.update(text.as_bytes());
        crc.sum()
    };
    let ns = namespace;
    let call = format!("{method}{ns}:{ns}::{input}{ns}:{ns}::{output}");
    crc32(format!("{ns}:{service}")) ^ crc32(call)
}

/// The kind of a message that no schema describes.
pub(super) const UNKNOWN: &str = "unknown";

/// Every kind of message.
pub(super) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| kinds(Schema::builtin()));

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| marks::collect(Schema::builtin()));

/// The messages that [`make()`] makes.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| recipes(Schema::builtin()));

/// Returns every struct of a method as a kind.
pub(super) fn kinds(schema: &Schema) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for method in &schema.methods {
        for layout in method.input.into_iter().chain([method.output]) {
            let (name, role) = (schema.struct_name(layout), Schema::role_in(method, layout));
            if let Some(kind) = kinds.iter_mut().find(|kind| kind.name == name) {
                kind.role = kind.role.filter(|own| Some(*own) == role);
                continue;
            }
            let about = schema.about(layout);
            kinds.push(Kind::new(name.to_owned(), role, about.to_owned()));
        }
    }
    let about = "a method id or struct that no schema describes";
    kinds.push(Kind::new(UNKNOWN, None, about));
    kinds
}

/// Returns the built-in type with a name.
fn built_in(name: &str) -> Option<FieldType> {
    Some(match name {
        "bool" => FieldType::Bool,
        "int8" => FieldType::Int(1),
        "uint8" => FieldType::Uint(1),
        "int16" => FieldType::Int(2),
        "uint16" => FieldType::Uint(2),
        "int32" => FieldType::Int(4),
        "uint32" => FieldType::Uint(4),
        "int64" => FieldType::Int(8),
        "uint64" => FieldType::Uint(8),
        "double" => FieldType::Double,
        "string" => FieldType::Str,
        "bytes" => FieldType::Bytes,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;

//! What the bytes of a TeleQuick frame mean: methods by id, structs by name.
//!
//! [`Schema::builtin`] is what the SDKs write; a `.tq` text may add to it or replace parts of it. The ids of most
//! methods follow from their names, see [`method_id`].

use super::idl::{self, Definitions, Name, Place, StructDef, TypeName};
use crate::encoding::serde_envelope::{Enum, Field, LABELS, MAX_DEPTH, Struct, Type, Types};
use crate::framing::LengthMode;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Places of the fixed names in [`Types::names`], after those that the encoding needs.
pub(super) mod label {
    pub const METHOD: u32 = 4;
    pub const METHOD_ID: u32 = 5;
    pub const STRUCT: u32 = 6;
    pub const GUESS: u32 = 7;
    pub const LENGTH_MODE: u32 = 8;
    pub const AFTER: u32 = 9;
    pub const EXCLUSIVE: u32 = 10;
    pub const INCLUSIVE: u32 = 11;
}

/// The names at those places.
const FIXED: [&str; 8] = [
    "method",
    "method_id",
    "struct",
    "guess",
    "length_mode",
    "after",
    "exclusive",
    "inclusive",
];

/// Why a text is no schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Line, from 1.
    pub line: u32,
    /// Character in the line, from 1.
    pub col: u32,
    /// What would have been right.
    pub wanted: String,
    /// What was there.
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

/// A call, or a stream of frames that no call owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its name, a place in [`Types::names`].
    pub name: u32,
    /// The id its frames carry.
    pub id: u32,
    /// The struct of a request, a place in [`Types::structs`]; `None` for a stream.
    pub input: Option<u32>,
    /// The struct of a response or an item.
    pub output: u32,
    /// Whether `output` comes many times.
    pub streaming: bool,
}

/// A schema, every name looked up.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The structs and enums.
    pub types: Types,
    /// The methods and streams, in the order of the text.
    pub methods: Vec<Method>,
    /// How lengths count where the bytes do not say.
    pub length: LengthMode,
    /// Bytes of a frame that peers refuse to go over.
    pub frame_limit: Option<u32>,
    /// Levels of envelopes that are read.
    pub depth: u32,
    /// Every id, aliases too, and the method it stands for.
    ids: HashMap<u32, u32>,
    /// The text's definitions, for [`Schema::extend`].
    source: Definitions,
}

impl Schema {
    /// What the SDKs write.
    pub fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Schema> = LazyLock::new(|| {
            // A test holds the text to be right; an empty schema would still show every frame, by guess.
            Schema::parse(Schema::BUILTIN).unwrap_or_else(|_| Schema::empty())
        });
        &BUILTIN
    }

    /// The text of [`Schema::builtin`].
    pub const BUILTIN: &str = include_str!("telequick.tq");

    /// Reads a `.tq` text that stands alone.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        resolve(idl::parse(text)?)
    }

    /// Reads a `.tq` text on top of this one: what it defines again is replaced.
    pub fn extend(&self, text: &str) -> Result<Self, SchemaError> {
        resolve(self.source.clone().merged(idl::parse(text)?))
    }

    fn empty() -> Self {
        Self {
            types: Types {
                names: Arc::new(Names::default().list),
                ..Types::default()
            },
            methods: Vec::new(),
            length: LengthMode::Auto,
            frame_limit: None,
            depth: MAX_DEPTH,
            ids: HashMap::new(),
            source: Definitions::default(),
        }
    }

    /// The method or stream of an id; aliases stand for their target.
    pub fn method(&self, id: u32) -> Option<&Method> {
        self.methods.get(*self.ids.get(&id)? as usize)
    }

    /// The method or stream of that name.
    pub fn method_named(&self, name: &str) -> Option<&Method> {
        self.methods
            .iter()
            .find(|m| self.types.name(m.name) == name)
    }

    /// The struct of that name, a place in [`Types::structs`].
    pub fn struct_named(&self, name: &str) -> Option<u32> {
        let structs = &self.types.structs;
        let at = structs
            .iter()
            .position(|s| self.types.name(s.name) == name)?;
        Some(at as u32)
    }

    /// The name of a struct.
    pub fn struct_name(&self, id: u32) -> &str {
        self.types
            .layout(id)
            .map_or("", |s| self.types.name(s.name))
    }

    /// What an unknown id is likely meant to be.
    pub fn near_miss(&self, id: u32) -> Option<String> {
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
        let differs = |m: &Method| {
            let bytes = (id ^ m.id).to_le_bytes();
            bytes.into_iter().filter(|b| *b != 0).count()
        };
        let nearest = self.methods.iter().min_by_key(|m| differs(m))?;
        let (name, count) = (self.types.name(nearest.name), differs(nearest));
        let bytes = if count == 1 { "byte" } else { "bytes" };
        (count <= 2).then(|| format!("{count} {bytes} away from {name}, {}", show(nearest.id)))
    }
}

/// The document's worked example of Barge prints this id, and means that one.
const MISPRINT: (u32, u32) = (0xe5b0_6412, 0xe5bb_fa12);

/// The id of a method by its names, as Redpanda's generator derives it: the checksum of the service, exclusive or that
/// of the method and its structs.
pub fn method_id(namespace: &str, service: &str, method: &str, input: &str, output: &str) -> u32 {
    let ns = namespace;
    let call = format!("{method}{ns}:{ns}::{input}{ns}:{ns}::{output}");
    crc32fast::hash(format!("{ns}:{service}").as_bytes()) ^ crc32fast::hash(call.as_bytes())
}

/// The built-in type of that name.
pub(super) fn built_in(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "int8" => Type::Int(1),
        "uint8" => Type::Uint(1),
        "int16" => Type::Int(2),
        "uint16" => Type::Uint(2),
        "int32" => Type::Int(4),
        "uint32" => Type::Uint(4),
        "int64" => Type::Int(8),
        "uint64" => Type::Uint(8),
        "double" => Type::Double,
        "string" => Type::Str,
        "bytes" => Type::Bytes,
        _ => return None,
    })
}

impl Definitions {
    /// These and `later`, which replace what has their name or id.
    fn merged(mut self, later: Self) -> Self {
        self.length = later.length.or(self.length);
        self.frame_limit = later.frame_limit.or(self.frame_limit);
        self.depth_limit = later.depth_limit.or(self.depth_limit);
        self.element_limit = later.element_limit.or(self.element_limit);
        let is_type = |name: &Name| {
            later.structs.iter().any(|s| s.name.text == name.text)
                || later.enums.iter().any(|e| e.name.text == name.text)
        };
        self.structs.retain(|s| !is_type(&s.name));
        self.enums.retain(|e| !is_type(&e.name));
        // Ids must be settled before the service that derived them may change.
        for method in &mut self.methods {
            method.id = method.id.or_else(|| derived(self.service.as_ref(), method));
        }
        self.service = later.service.clone().or(self.service);
        let ids: Vec<_> = later
            .methods
            .iter()
            .filter_map(|m| m.id.or_else(|| derived(self.service.as_ref(), m)))
            .chain(later.aliases.iter().map(|a| a.id))
            .collect();
        let goes = |id: Option<u32>| id.is_some_and(|id| ids.contains(&id));
        self.methods.retain(|m| {
            let renewed = later.methods.iter().any(|l| l.name.text == m.name.text);
            !renewed && !goes(m.id)
        });
        self.aliases.retain(|a| !goes(Some(a.id)));
        let kept = |name: &str| {
            let mut methods = self.methods.iter().chain(&later.methods);
            methods.any(|m| m.name.text == name)
        };
        self.aliases.retain(|a| kept(&a.target.text));
        self.forget_places();
        self.structs.extend(later.structs);
        self.enums.extend(later.enums);
        self.methods.extend(later.methods);
        self.aliases.extend(later.aliases);
        self
    }

    /// Places speak of the later text only.
    fn forget_places(&mut self) {
        let structs = self.structs.iter_mut().flat_map(|s| {
            let fields = s.fields.iter_mut();
            fields
                .flat_map(|f| [&mut f.name, &mut f.kind.name])
                .chain([&mut s.name])
        });
        for name in structs {
            name.place = Place::default();
        }
        for method in &mut self.methods {
            method.name.place = Place::default();
            method.output.place = Place::default();
        }
    }
}

fn derived(service: Option<&(String, String)>, method: &idl::MethodDef) -> Option<u32> {
    let (ns, service) = service?;
    let input = &method.input.as_ref()?.text;
    let id = method_id(ns, service, &method.name.text, input, &method.output.text);
    Some(id)
}

/// Names, each once.
struct Names {
    list: Vec<String>,
    places: HashMap<String, u32>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Self {
            list: Vec::new(),
            places: HashMap::new(),
        };
        for name in LABELS.iter().chain(&FIXED) {
            names.place(name);
        }
        names
    }
}

impl Names {
    fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.list.len() as u32;
        self.list.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}

/// Looks every name up.
fn resolve(source: Definitions) -> Result<Schema, SchemaError> {
    let mut names = Names::default();
    let finder = Finder::new(&source);
    check_sizes(&source, &finder)?;
    let mut types = Types {
        max_elements: source.element_limit,
        ..Types::default()
    };
    for def in &source.enums {
        let mut values: Vec<_> = def
            .values
            .iter()
            .map(|(name, value)| (*value, names.place(&name.text)))
            .collect();
        values.sort_unstable();
        types.enums.push(Enum {
            name: names.place(&def.name.text),
            values,
        });
    }
    for def in &source.structs {
        let mut fields = Vec::new();
        for field in &def.fields {
            fields.push(Field {
                name: names.place(&field.name.text),
                kind: finder.kind(&field.kind)?,
                since: field.since,
            });
        }
        types.structs.push(Struct {
            name: names.place(&def.name.text),
            version: def.version,
            compat_version: def.compat,
            fields,
        });
    }
    let (mut methods, mut ids, mut by_name) = (Vec::new(), HashMap::new(), HashMap::new());
    for (n, def) in source.methods.iter().enumerate() {
        let place = def.name.place;
        let id = def.id.or_else(|| derived(source.service.as_ref(), def));
        let id =
            id.ok_or_else(|| place.error("`= id`, or a `service` to derive it from", "neither"))?;
        if ids.insert(id, n as u32).is_some() {
            return Err(place.error("an id that nothing else has", id.to_string()));
        }
        by_name.insert(def.name.text.as_str(), n as u32);
        methods.push(Method {
            name: names.place(&def.name.text),
            id,
            input: def.input.as_ref().map(|s| finder.layout(s)).transpose()?,
            output: finder.layout(&def.output)?,
            streaming: def.streaming,
        });
    }
    for alias in &source.aliases {
        let target = &alias.target;
        let Some(method) = by_name.get(target.text.as_str()) else {
            let got = format!("`{}`", target.text);
            return Err(target.place.error("a method or stream", got));
        };
        if ids.insert(alias.id, *method).is_some() {
            let place = target.place;
            return Err(place.error("an id that nothing else has", alias.id.to_string()));
        }
    }
    types.names = Arc::new(names.list);
    Ok(Schema {
        types,
        methods,
        length: source.length.unwrap_or_default(),
        frame_limit: source.frame_limit,
        depth: source.depth_limit.unwrap_or(MAX_DEPTH).min(MAX_DEPTH),
        ids,
        source,
    })
}

/// Finds types by name.
struct Finder<'a> {
    structs: HashMap<&'a str, u32>,
    enums: HashMap<&'a str, u32>,
}

impl<'a> Finder<'a> {
    fn new(source: &'a Definitions) -> Self {
        let number = |(n, name): (usize, &'a Name)| (name.text.as_str(), n as u32);
        let structs = source.structs.iter().map(|s| &s.name);
        let enums = source.enums.iter().map(|e| &e.name);
        Self {
            structs: structs.enumerate().map(number).collect(),
            enums: enums.enumerate().map(number).collect(),
        }
    }

    fn kind(&self, spelled: &TypeName) -> Result<Type, SchemaError> {
        let name = spelled.name.text.as_str();
        let found = built_in(name)
            .or_else(|| self.structs.get(name).map(|n| Type::Struct(*n)))
            .or_else(|| self.enums.get(name).map(|n| Type::Enum(*n)));
        let mut kind = found.ok_or_else(|| {
            let place = spelled.name.place;
            place.error("a built-in type, a struct or an enum", format!("`{name}`"))
        })?;
        for _ in 0..spelled.vectors {
            kind = Type::Vector(Box::new(kind));
        }
        Ok(kind)
    }

    fn layout(&self, name: &Name) -> Result<u32, SchemaError> {
        let found = self.structs.get(name.text.as_str()).copied();
        found.ok_or_else(|| name.place.error("a struct", format!("`{}`", name.text)))
    }
}

/// A struct that holds itself by value would have no end; through a vector it may.
fn check_sizes(source: &Definitions, finder: &Finder<'_>) -> Result<(), SchemaError> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; source.structs.len()];
    let held = |def: &StructDef, field: usize| {
        let kind = &def.fields.get(field)?.kind;
        (kind.vectors == 0)
            .then(|| finder.structs.get(kind.name.text.as_str()))
            .flatten()
            .map(|n| *n as usize)
    };
    // Later definitions first: a circle passes through one of them, and that is the one to blame.
    for root in (0..states.len()).rev() {
        // Struct and the field to look at next; a list, since a text decides how deep this goes.
        let mut stack = vec![(root, 0)];
        while let Some((at, field)) = stack.pop() {
            let (Some(def), Some(state)) = (source.structs.get(at), states.get_mut(at)) else {
                break;
            };
            if *state == State::Done {
                continue;
            }
            *state = State::Open;
            if field >= def.fields.len() {
                *state = State::Done;
                continue;
            }
            stack.push((at, field + 1));
            let Some(inner) = held(def, field) else {
                continue;
            };
            match states.get(inner) {
                Some(State::New) => stack.push((inner, 0)),
                Some(State::Open) => {
                    let start = stack.iter().position(|(s, _)| *s == inner).unwrap_or(0);
                    let circle = stack.iter().skip(start);
                    let blamed = circle
                        .filter_map(|(s, f)| source.structs.get(*s)?.fields.get(f.wrapping_sub(1)))
                        .find(|f| f.kind.name.place.line > 0);
                    let name = blamed.map_or(&def.name, |f| &f.kind.name);
                    return Err(name.place.error(
                        "a struct that does not hold itself (a vector of it may)",
                        format!("`{}`", name.text),
                    ));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

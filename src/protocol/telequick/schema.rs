//! What the bytes of a telequick frame mean: methods by id, structs by name.
//!
//! [`Schema::builtin`] is what the SDKs write; a `.tq` text may add to it or replace parts of it. The ids of most
//! methods follow from their names, see [`method_id`].

// Long: a schema is resolved, checked and looked up here; a third of it is tests.

use super::idl::{self, Definitions, Name, Place, StructDef, TypeName};
use crate::encoding::serde_envelope::{Enum, Field, LABELS, MAX_DEPTH, Struct, Type, Types};
use crate::framing::LengthMode;
use crate::tape;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Places of the fixed names in [`Types::names`], after those that the encoding needs.
pub(super) mod label {
    pub const METHOD: u32 = 4;
    pub const METHOD_ID: u32 = 5;
    pub const STRUCT: u32 = 6;
    pub const LENGTH_MODE: u32 = 7;
    pub const AFTER: u32 = 8;
    pub const EXCLUSIVE: u32 = 9;
    pub const INCLUSIVE: u32 = 10;
}

/// The names at those places.
const FIXED: [&str; 7] = [
    "method",
    "method_id",
    "struct",
    "length_mode",
    "after",
    "exclusive",
    "inclusive",
];

/// Why a text is no schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Every id, aliases too, and the method it stands for, by rising id.
    ids: Vec<(u32, u32)>,
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
            ids: Vec::new(),
            source: Definitions::default(),
        }
    }

    /// The method or stream of an id; aliases stand for their target.
    pub fn method(&self, id: u32) -> Option<&Method> {
        let at = self.ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        let (_, method) = self.ids.get(at)?;
        self.methods.get(*method as usize)
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
    list: Vec<tape::Name>,
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
        self.list.push(tape::Name::new(name));
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
    let mut ids: Vec<_> = ids.into_iter().collect();
    ids.sort_unstable();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_text_is_right() {
        let schema = Schema::parse(Schema::BUILTIN).unwrap();
        assert_eq!(schema.types.structs.len(), 30);
        assert_eq!(schema.types.enums.len(), 4);
        assert_eq!(schema.methods.len(), 17);
        assert_eq!(schema.length, LengthMode::Exclusive);
        assert_eq!(schema.frame_limit, Some(1 << 20));
        for (id, method) in [
            (3_854_301_714, "Barge"),
            (9999, "AudioFrame"),
            (10000, "StreamEvents"),
            (2_856_173_042, "SuperviseSubscribe"),
            (3_514_036_100, "ExecuteDialplan"),
        ] {
            let found = schema.method(id).unwrap();
            assert_eq!(schema.types.name(found.name), method, "{id}");
        }
        let dial = schema.struct_named("OriginateRequest").unwrap();
        let dial = schema.types.layout(dial).unwrap();
        let since: Vec<_> = dial.fields.iter().map(|f| f.since).collect();
        assert_eq!((dial.version, dial.compat_version, since.len()), (1, 0, 16));
        assert_eq!(since.get(12..), Some(&[0, 1, 1, 1][..]));
    }

    #[test]
    fn a_schema_is_read_in_time_that_grows_with_its_size() {
        let mut text = "struct S0 version 0 compat 0 { int32 a; }\n".to_owned();
        for n in 1..200_000 {
            text += &format!("struct S{n} version 0 compat 0 {{ S{} a; }}\n", n - 1);
        }
        let (done, finished) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(Schema::builtin().extend(&text).is_ok()));
        // A few seconds at most; where each name is compared with all others, minutes.
        let limit = std::time::Duration::from_secs(30);
        assert_eq!(finished.recv_timeout(limit), Ok(true));
    }

    #[test]
    fn the_fixed_names_stand_where_their_labels_say() {
        let names = Names::default().list;
        for (id, name) in [
            (label::METHOD, "method"),
            (label::METHOD_ID, "method_id"),
            (label::STRUCT, "struct"),
            (label::LENGTH_MODE, "length_mode"),
            (label::AFTER, "after"),
            (label::EXCLUSIVE, "exclusive"),
            (label::INCLUSIVE, "inclusive"),
        ] {
            assert_eq!(names.get(id as usize).map(tape::Name::as_str), Some(name));
        }
    }

    #[test]
    fn ids_follow_from_names() {
        for (method, id, input, output) in [
            (
                "Originate",
                1_430_677_891,
                "OriginateRequest",
                "OriginateResponse",
            ),
            ("OriginateBulk", 721_069_100, "BulkRequest", "BulkResponse"),
            (
                "AbortBulk",
                3_861_915_064,
                "AbortBulkRequest",
                "BulkResponse",
            ),
            (
                "Terminate",
                3_834_253_405,
                "TerminateRequest",
                "TerminateResponse",
            ),
            (
                "StreamEvents",
                959_835_745,
                "EventStreamRequest",
                "CallEvent",
            ),
            (
                "SetInboundRouting",
                1_933_986_897,
                "SetInboundRoutingRequest",
                "Empty",
            ),
            (
                "GetIncomingCalls",
                1_161_946_746,
                "GetIncomingCallsRequest",
                "GetIncomingCallsResponse",
            ),
            (
                "AnswerIncomingCall",
                2_990_157_256,
                "AnswerIncomingCallRequest",
                "AnswerIncomingCallResponse",
            ),
            (
                "GetActiveBuckets",
                2_624_504_207,
                "Empty",
                "ListBucketsResponse",
            ),
            (
                "GetBucketCalls",
                1_217_351_135,
                "BucketRequest",
                "BucketCallList",
            ),
            (
                "ExecuteBucketAction",
                4_030_863_293,
                "BucketActionRequest",
                "BucketActionResponse",
            ),
            (
                "ExecuteDialplan",
                80_147_304,
                "ExecuteDialplanRequest",
                "ExecuteDialplanResponse",
            ),
            ("Barge", 3_854_301_714, "BargeRequest", "Empty"),
            (
                "SuperviseSubscribe",
                425_376_200,
                "SuperviseSubscribeRequest",
                "SuperviseSubscribeResponse",
            ),
        ] {
            let derived = method_id("clutchcall::api", "clutchcall", method, input, output);
            assert_eq!(derived, id, "{method}");
            let known = Schema::builtin().method(id).unwrap();
            assert_eq!(Schema::builtin().types.name(known.name), method);
        }
    }

    #[test]
    fn errors_say_where() {
        for (text, want) in [
            (
                "strukt A {}",
                "1:1: wanted `framing`, `limit`, `service`, `enum`, `struct`, `method`, `stream` or `alias`, got `strukt`",
            ),
            (
                "struct A {\n  string 7;\n}",
                "2:10: wanted the field's name, got 7",
            ),
            ("struct A { string a }", "1:21: wanted `;`, got `}`"),
            (
                "struct A {",
                "1:11: wanted a field's type or `}`, got the end of the text",
            ),
            (
                "struct A { strin a; }",
                "1:12: wanted a built-in type, a struct or an enum, got `strin`",
            ),
            (
                "struct A {} struct A {}",
                "1:20: wanted a type that is not there yet, got `A` again",
            ),
            (
                "struct A { int32 a; int32 a; }",
                "1:27: wanted a field that is not there yet, got `a` again",
            ),
            (
                "struct string {}",
                "1:8: wanted a name that no built-in type has, got `string`",
            ),
            (
                "struct A version 300 {}",
                "1:18: wanted a version of 0 to 255, got 300",
            ),
            (
                "struct A version 2 { int8 a @2; int8 b @1; }",
                "1:41: wanted a version of 2 to 2, the struct's own, got 1",
            ),
            (
                "struct A version 2 { int8 a @3; }",
                "1:30: wanted a version of 0 to 2, the struct's own, got 3",
            ),
            (
                "struct A version 2 { int8 a @1; int8 b; }",
                "1:39: wanted `@1` or later, as the field before has, got `;`",
            ),
            (
                "struct A { B b; }\nstruct B { A a; }",
                "2:12: wanted a struct that does not hold itself (a vector of it may), got `A`",
            ),
            (
                "enum E { A = 1; B = 1; }",
                "1:21: wanted a value that no other constant has, got 1",
            ),
            (
                "enum E { A = 3000000000; }",
                "1:14: wanted an int32, got 3000000000",
            ),
            (
                "struct A {} method M : A -> A;",
                "1:20: wanted `= id`, or a `service` to derive it from, got neither",
            ),
            (
                "struct A {} method M = 1 : A -> B;",
                "1:33: wanted a struct, got `B`",
            ),
            (
                "struct A {} method M = 1 : A -> A; stream S = 1 : A;",
                "1:47: wanted an id that nothing else has, got 1",
            ),
            ("alias 5 = M;", "1:11: wanted a method or stream, got `M`"),
            (
                "alias 4294967296 = M;",
                "1:7: wanted an id of 0 to 4294967295, got 4294967296",
            ),
            (
                "/* x",
                "1:1: wanted `*/` after `/*`, got the end of the text",
            ),
            (
                "limit frame = 0xzz;",
                "1:15: wanted a number, decimal or 0x and hex, got `0xzz`",
            ),
            (
                "struct é {}",
                "1:8: wanted a name, a number or punctuation, got 'é'",
            ),
        ] {
            let error = Schema::parse(text).err().map(|e| e.to_string());
            assert_eq!(error.as_deref(), Some(want), "{text}");
        }
        let deep = format!("struct A {{ {} a; }}", "vector<".repeat(100_000));
        assert!(Schema::parse(&deep).is_err());
        let mut chain = String::new();
        for n in 0..3000 {
            let next = (n + 1) % 3000;
            chain.extend([
                "struct S",
                &n.to_string(),
                " { S",
                &next.to_string(),
                " a; }",
            ]);
        }
        assert!(Schema::parse(&chain).is_err());
    }

    #[test]
    fn what_a_later_text_defines_again_is_replaced() {
        let schema = Schema::builtin()
            .extend(
                "struct BargeRequest version 1 { string call_sid; string to @1; }
                 struct Tree { string stream; vector<Tree> kids; };
                 method Grow : Tree -> stream Tree;
                 alias 77 = Grow;
                 method Reload = 3357922138 : Empty -> Tree;",
            )
            .unwrap();
        let barge = schema.struct_named("BargeRequest").unwrap();
        assert_eq!(schema.types.layout(barge).unwrap().fields.len(), 2);
        let grow = schema.method(77).unwrap();
        let id = method_id("clutchcall::api", "clutchcall", "Grow", "Tree", "Tree");
        assert_eq!((grow.id, grow.streaming), (id, true));
        assert!(schema.method_named("ReloadCertificates").is_none());
        assert!(schema.method_named("Reload").is_some());
        assert_eq!(schema.method(3_854_301_714).unwrap().input, Some(barge));
        let circle = schema.extend("struct IncomingCallInfo { Big b; } struct Big { vector<Big> v; BargeRequest r; IncomingCallInfo i; }");
        assert_eq!(
            circle.unwrap_err().to_string(),
            "1:80: wanted a struct that does not hold itself (a vector of it may), got `IncomingCallInfo`"
        );
    }

    #[test]
    fn near_misses() {
        for (id, want) in [
            (
                0xe5b0_6412,
                Some("the document's misprint of Barge, 0xe5bbfa12 (bytes 12 fa bb e5)"),
            ),
            (
                0x12fa_bbe5,
                Some("Barge with its bytes in the wrong order: 0xe5bbfa12 (bytes 12 fa bb e5)"),
            ),
            (
                0xe5bc_fa12,
                Some("1 byte away from Barge, 0xe5bbfa12 (bytes 12 fa bb e5)"),
            ),
            (0xe5bb_fa12, None),
            (0xdead_beef, None),
        ] {
            assert_eq!(Schema::builtin().near_miss(id).as_deref(), want, "{id:x}");
        }
    }
}

//! Resolves names: from the definitions of a text to a schema.

use super::marks::MarkDef;
use super::text::{Definitions, MethodDef, StructDef, TypeName};
use super::token::{NameToken, TextPlace};
use super::{FIXED, FieldMark, HeadFields, RpcMethod, Schema, SchemaError, built_in, method_id};
use crate::encoding::serde_envelope::{
    Enum, FieldType, LABELS, MAX_DEPTH, Struct, StructField, Types,
};
use crate::tape;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Definitions {
    /// Merges `later` into these definitions: it replaces those with the same name or id.
    pub(super) fn merged(mut self, later: Self) -> Self {
        self.frame_limit = later.frame_limit.or(self.frame_limit);
        self.depth_limit = later.depth_limit.or(self.depth_limit);
        self.element_limit = later.element_limit.or(self.element_limit);
        let is_type = |name: &NameToken| {
            later.structs.iter().any(|s| s.name.text == name.text)
                || later.enums.iter().any(|e| e.name.text == name.text)
        };
        self.structs.retain(|s| !is_type(&s.name));
        self.enums.retain(|e| !is_type(&e.name));
        // Ids must be derived before the service changes.
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
        self.marks.retain(|mark| {
            let is_same = |l: &MarkDef| {
                let owner = |def: &MarkDef| def.owner.as_ref().map(|o| o.text.clone());
                l.name.text == mark.name.text && owner(l) == owner(mark)
            };
            !later.marks.iter().any(is_same)
        });
        self.clear_positions();
        self.structs.extend(later.structs);
        self.enums.extend(later.enums);
        self.methods.extend(later.methods);
        self.aliases.extend(later.aliases);
        self.marks.extend(later.marks);
        self
    }

    /// Clears positions: they refer to the later text only.
    fn clear_positions(&mut self) {
        let structs = self.structs.iter_mut().flat_map(|s| {
            let fields = s.fields.iter_mut();
            fields
                .flat_map(|f| [&mut f.name, &mut f.kind.name])
                .chain([&mut s.name])
        });
        for name in structs {
            name.place = TextPlace::default();
        }
        for method in &mut self.methods {
            method.name.place = TextPlace::default();
            method.output.place = TextPlace::default();
        }
        for mark in &mut self.marks {
            mark.name.place = TextPlace::default();
        }
    }
}

fn derived(service: Option<&(String, String)>, method: &MethodDef) -> Option<u32> {
    let (ns, service) = service?;
    let input = &method.input.as_ref()?.text;
    let id = method_id(ns, service, &method.name.text, input, &method.output.text);
    Some(id)
}

/// Names without duplicates.
pub(super) struct NameTable {
    pub list: Vec<tape::KeyName>,
    places: HashMap<String, u32>,
}

impl Default for NameTable {
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

impl NameTable {
    fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.list.len() as u32;
        self.list.push(tape::KeyName::new(name));
        self.places.insert(name.to_owned(), place);
        place
    }
}

/// Resolves all names.
pub(super) fn resolve(source: Definitions) -> Result<Schema, SchemaError> {
    let mut names = NameTable::default();
    let finder = TypeFinder::new(&source);
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
            fields.push(StructField {
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
    let (methods, ids) = methods(&source, &finder, &mut names)?;
    check_marks(&source)?;
    let mut marked = |mark: FieldMark| {
        let found = source.marks.iter().find(|def| def.marks.contains(&mark));
        found.map(|def| names.place(&def.name.text))
    };
    let head = HeadFields {
        name: marked(FieldMark::Name),
        outcome: marked(FieldMark::Outcome),
    };
    types.names = Arc::new(names.list);
    Ok(Schema {
        types,
        methods,
        frame_limit: source.frame_limit,
        depth: source.depth_limit.unwrap_or(MAX_DEPTH).min(MAX_DEPTH),
        head,
        ids,
        source,
    })
}

/// The methods, and the number of the method of each id, in the order of ids.
type MethodTable = (Vec<RpcMethod>, Vec<(u32, u32)>);

/// Returns the methods and their ids.
fn methods(
    source: &Definitions,
    finder: &TypeFinder<'_>,
    names: &mut NameTable,
) -> Result<MethodTable, SchemaError> {
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
        methods.push(RpcMethod {
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
    Ok((methods, ids))
}

/// Finds types by name.
struct TypeFinder<'a> {
    structs: HashMap<&'a str, u32>,
    enums: HashMap<&'a str, u32>,
}

impl<'a> TypeFinder<'a> {
    fn new(source: &'a Definitions) -> Self {
        let number = |(n, name): (usize, &'a NameToken)| (name.text.as_str(), n as u32);
        let structs = source.structs.iter().map(|s| &s.name);
        let enums = source.enums.iter().map(|e| &e.name);
        Self {
            structs: structs.enumerate().map(number).collect(),
            enums: enums.enumerate().map(number).collect(),
        }
    }

    fn kind(&self, spelled: &TypeName) -> Result<FieldType, SchemaError> {
        let name = spelled.name.text.as_str();
        let found = built_in(name)
            .or_else(|| self.structs.get(name).map(|n| FieldType::Struct(*n)))
            .or_else(|| self.enums.get(name).map(|n| FieldType::Enum(*n)));
        let mut kind = found.ok_or_else(|| {
            let place = spelled.name.place;
            place.error("a built-in type, a struct or an enum", format!("`{name}`"))
        })?;
        for _ in 0..spelled.vectors {
            kind = FieldType::Vector(Box::new(kind));
        }
        Ok(kind)
    }

    fn layout(&self, name: &NameToken) -> Result<u32, SchemaError> {
        let found = self.structs.get(name.text.as_str()).copied();
        found.ok_or_else(|| name.place.error("a struct", format!("`{}`", name.text)))
    }
}

/// Refuses a struct that contains itself by value, which would have no end. Through a vector it may.
fn check_sizes(source: &Definitions, finder: &TypeFinder<'_>) -> Result<(), SchemaError> {
    #[derive(Clone, Copy, PartialEq)]
    enum ResolveState {
        New,
        Open,
        Done,
    }
    let mut states = vec![ResolveState::New; source.structs.len()];
    let held = |def: &StructDef, field: usize| {
        let kind = &def.fields.get(field)?.kind;
        (kind.vectors == 0)
            .then(|| finder.structs.get(kind.name.text.as_str()))
            .flatten()
            .map(|n| *n as usize)
    };
    // Later definitions first: a cycle passes through one of them, and that one is reported.
    for root in (0..states.len()).rev() {
        // The struct and its next field. This is a list because the text decides the depth.
        let mut stack = vec![(root, 0)];
        while let Some((at, field)) = stack.pop() {
            let (Some(def), Some(state)) = (source.structs.get(at), states.get_mut(at)) else {
                break;
            };
            if *state == ResolveState::Done {
                continue;
            }
            *state = ResolveState::Open;
            if field >= def.fields.len() {
                *state = ResolveState::Done;
                continue;
            }
            stack.push((at, field + 1));
            let Some(inner) = held(def, field) else {
                continue;
            };
            match states.get(inner) {
                Some(ResolveState::New) => stack.push((inner, 0)),
                Some(ResolveState::Open) => {
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

/// Checks that each mark is of a field or a constant. Marks of an earlier text may have lost theirs.
fn check_marks(source: &Definitions) -> Result<(), SchemaError> {
    let mut known: HashSet<&str> = HashSet::new();
    for def in &source.structs {
        known.extend(def.fields.iter().map(|field| field.name.text.as_str()));
    }
    for def in &source.enums {
        known.extend(def.values.iter().map(|(name, _)| name.text.as_str()));
    }
    let new = source.marks.iter().filter(|mark| mark.name.place.line > 0);
    for mark in new {
        let name = &mark.name;
        let owner = mark.owner.as_ref();
        let of = |owner: &NameToken| {
            source
                .structs
                .iter()
                .find(|def| def.name.text == owner.text)
        };
        let has = |def: &StructDef| def.fields.iter().any(|f| f.name.text == name.text);
        if !owner.map_or(known.contains(name.text.as_str()), |o| {
            of(o).is_some_and(has)
        }) {
            let wanted = match owner {
                Some(owner) => format!("a field of {}", owner.text),
                None => "a field or a constant".to_owned(),
            };
            return Err(name.place.error(wanted, format!("`{}`", name.text)));
        }
    }
    Ok(())
}

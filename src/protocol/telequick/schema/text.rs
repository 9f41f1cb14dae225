//! Parses the text of a schema, a `.tq` file. Names are not resolved yet.
//!
//! ```text
//!   struct BargeRequest version 0 { string call_sid; }          fields in the order they are written in
//!   method Barge = 3854301714 : BargeRequest -> Empty;          no `= id`: derived from the service and the names
//!   mark call_sid = generated call id;                          the properties of fields with that name
//! ```
//!
//! `///` before a struct, a method or a stream is its description.

use super::SchemaError;
use super::marks::{FieldMark, MarkDef};
use super::token::{NameToken, SchemaToken, TextPlace, TokenReader};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EnumDef {
    pub name: NameToken,
    pub values: Vec<(NameToken, i32)>,
}

/// A type as spelled: `vectors` times `vector<`, then a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypeName {
    pub vectors: u32,
    pub name: NameToken,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldDef {
    pub kind: TypeName,
    pub name: NameToken,
    pub since: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StructDef {
    pub name: NameToken,
    pub about: String,
    pub version: u8,
    pub compat: u8,
    pub fields: Vec<FieldDef>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MethodDef {
    pub name: NameToken,
    pub about: String,
    pub id: Option<u32>,
    /// `None` for a `stream`.
    pub input: Option<NameToken>,
    pub output: NameToken,
    pub streaming: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AliasDef {
    pub id: u32,
    pub target: NameToken,
}

/// All definitions of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Definitions {
    pub frame_limit: Option<u32>,
    pub depth_limit: Option<u32>,
    pub element_limit: Option<u32>,
    pub service: Option<(String, String)>,
    pub enums: Vec<EnumDef>,
    pub structs: Vec<StructDef>,
    pub methods: Vec<MethodDef>,
    pub aliases: Vec<AliasDef>,
    pub marks: Vec<MarkDef>,
}

/// The deepest nesting of `vector<vector<...` in a type.
const MAX_VECTORS: u32 = 16;

/// The keywords that start an item.
const ITEMS: &str =
    "`framing`, `limit`, `service`, `enum`, `struct`, `method`, `stream`, `alias` or `mark`";

/// Parses a text.
pub(super) fn parse(text: &str) -> Result<Definitions, SchemaError> {
    let mut reader = TokenReader::new(text)?;
    let mut found = Definitions::default();
    while reader.token != SchemaToken::End {
        let about = std::mem::take(&mut reader.about);
        let name = reader.word(ITEMS)?;
        match name.text.as_str() {
            "framing" => reader.framing()?,
            "limit" => reader.limit(&mut found)?,
            "service" => reader.service(&mut found)?,
            "enum" => reader.define_enum(&mut found)?,
            "struct" => reader.define_struct(&mut found, about)?,
            "method" => reader.method(&mut found, about)?,
            "stream" => reader.stream(&mut found, about)?,
            "alias" => reader.alias(&mut found)?,
            "mark" => reader.mark(&mut found)?,
            other => return Err(name.place.error(ITEMS, format!("`{other}`"))),
        }
    }
    Ok(found)
}

impl TokenReader<'_> {
    /// Reads how lengths count. Readers see it in the bytes, and a flag decides where they do not.
    fn framing(&mut self) -> Result<(), SchemaError> {
        let what = self.word("`length`")?;
        if what.text != "length" {
            return Err(what.place.error("`length`", format!("`{}`", what.text)));
        }
        self.expect("=")?;
        let wanted = "`exclusive` or `auto`; readers recognise inclusive lengths";
        let mode = self.word(wanted)?;
        if !["exclusive", "auto"].contains(&mode.text.as_str()) {
            return Err(mode.place.error(wanted, format!("`{}`", mode.text)));
        }
        self.expect(";")
    }

    fn limit(&mut self, found: &mut Definitions) -> Result<(), SchemaError> {
        let wanted = "`frame`, `depth` or `elements`";
        let what = self.word(wanted)?;
        let slot = match what.text.as_str() {
            "frame" => &mut found.frame_limit,
            "depth" => &mut found.depth_limit,
            "elements" => &mut found.element_limit,
            other => return Err(what.place.error(wanted, format!("`{other}`"))),
        };
        self.expect("=")?;
        *slot = Some(self.int("a limit of 0 to 4294967295")?);
        self.expect(";")
    }

    fn service(&mut self, found: &mut Definitions) -> Result<(), SchemaError> {
        let mut namespace = self.word("a namespace")?.text;
        while self.take("::")? {
            namespace.push_str("::");
            namespace.push_str(&self.word("a name after `::`")?.text);
        }
        let name = self.word("the service's name")?.text;
        found.service = Some((namespace, name));
        self.expect(";")
    }

    fn define_enum(&mut self, found: &mut Definitions) -> Result<(), SchemaError> {
        let name = self.type_name("the enum's name")?;
        self.expect("{")?;
        let mut values: Vec<(NameToken, i32)> = Vec::new();
        let (mut constants, mut numbers) = (HashSet::new(), HashSet::new());
        while !self.take("}")? {
            let constant = self.word("a constant or `}`")?;
            self.expect("=")?;
            let place = self.place;
            let value: i32 = self.int("an int32")?;
            if !constants.insert(constant.text.clone()) {
                return Err(repeated_name(&constant, "constant"));
            }
            if !numbers.insert(value) {
                return Err(place.error("a value that no other constant has", value.to_string()));
            }
            values.push((constant, value));
            self.expect(";")?;
        }
        self.take(";")?;
        found.enums.push(EnumDef { name, values });
        Ok(())
    }

    fn define_struct(&mut self, found: &mut Definitions, about: String) -> Result<(), SchemaError> {
        let name = self.type_name("the struct's name")?;
        let (mut version, mut compat) = (0, 0);
        while let SchemaToken::Word(word) = &self.token {
            let slot = match word.as_str() {
                "version" => &mut version,
                "compat" => &mut compat,
                _ => return Err(self.unexpected("`version`, `compat` or `{`")),
            };
            self.advance()?;
            *slot = self.int("a version of 0 to 255")?;
        }
        self.expect("{")?;
        let mut fields: Vec<FieldDef> = Vec::new();
        let mut names = HashSet::new();
        while !self.take("}")? {
            let kind = self.spelled_type()?;
            let name = self.word("the field's name")?;
            if !names.insert(name.text.clone()) {
                return Err(repeated_name(&name, "field"));
            }
            let before = fields.last().map_or(0, |f| f.since);
            let since = if self.take("@")? {
                let place = self.place;
                let since: u8 = self.int("a version of 0 to 255")?;
                // Readers of an old version know only the first fields: later ones must follow them.
                if since < before || since > version {
                    let wanted = format!("a version of {before} to {version}, the struct's own");
                    return Err(place.error(wanted, since.to_string()));
                }
                since
            } else if before > 0 {
                return Err(
                    self.unexpected(format!("`@{before}` or later, as the field before has"))
                );
            } else {
                0
            };
            fields.push(FieldDef { kind, name, since });
            self.expect(";")?;
        }
        self.take(";")?;
        found.structs.push(StructDef {
            name,
            about,
            version,
            compat,
            fields,
        });
        Ok(())
    }

    fn spelled_type(&mut self) -> Result<TypeName, SchemaError> {
        let mut vectors = 0;
        let name = loop {
            let name = self.word("a field's type or `}`")?;
            if name.text != "vector" || !self.take("<")? {
                break name;
            }
            vectors += 1;
            if vectors > MAX_VECTORS {
                return Err(name.place.error(
                    format!("at most {MAX_VECTORS} vectors inside each other"),
                    "one more",
                ));
            }
        };
        for _ in 0..vectors {
            self.expect(">")?;
        }
        Ok(TypeName { vectors, name })
    }

    fn method(&mut self, found: &mut Definitions, about: String) -> Result<(), SchemaError> {
        let name = self.word("the method's name")?;
        let place = self.place;
        let id = if self.take("=")? {
            Some(self.int("an id of 0 to 4294967295")?)
        } else {
            None
        };
        self.expect(":")?;
        let input = Some(self.word("the request's struct")?);
        self.expect("->")?;
        let first = self.word("the response's struct")?;
        // `stream` is a keyword only if a name follows.
        let streaming = first.text == "stream" && matches!(self.token, SchemaToken::Word(_));
        let output = if streaming {
            self.word("the response's struct")?
        } else {
            first
        };
        let method = MethodDef {
            name,
            about,
            id,
            input,
            output,
            streaming,
        };
        self.add_method(found, method, place)?;
        self.expect(";")
    }

    fn stream(&mut self, found: &mut Definitions, about: String) -> Result<(), SchemaError> {
        let name = self.word("the stream's name")?;
        self.expect("=")?;
        let place = self.place;
        let id = Some(self.int("an id of 0 to 4294967295")?);
        self.expect(":")?;
        let output = self.word("the stream's struct")?;
        let method = MethodDef {
            name,
            about,
            id,
            input: None,
            output,
            streaming: true,
        };
        self.add_method(found, method, place)?;
        self.expect(";")
    }

    fn alias(&mut self, found: &mut Definitions) -> Result<(), SchemaError> {
        let place = self.place;
        let id = self.int("an id of 0 to 4294967295")?;
        self.check_new_id(id, place)?;
        self.expect("=")?;
        let target = self.word("a method's or stream's name")?;
        found.aliases.push(AliasDef { id, target });
        self.expect(";")
    }

    fn mark(&mut self, found: &mut Definitions) -> Result<(), SchemaError> {
        let mut name = self.word("a field, a constant, or a struct before `.`")?;
        let mut owner = None;
        if self.take(".")? {
            owner = Some(name);
            name = self.word("a field of the struct")?;
        }
        self.expect("=")?;
        let mut marks = vec![FieldMark::read(self)?];
        while self.take(",")? {
            marks.push(FieldMark::read(self)?);
        }
        found.marks.push(MarkDef { owner, name, marks });
        self.expect(";")
    }

    /// Reads the name of a new struct or enum.
    fn type_name(&mut self, wanted: &str) -> Result<NameToken, SchemaError> {
        let name = self.word(wanted)?;
        if super::built_in(&name.text).is_some() || name.text == "vector" {
            let got = format!("`{}`", name.text);
            return Err(name.place.error("a name that no built-in type has", got));
        }
        if !self.types.insert(name.text.clone()) {
            return Err(repeated_name(&name, "type"));
        }
        Ok(name)
    }

    fn add_method(
        &mut self,
        found: &mut Definitions,
        method: MethodDef,
        place: TextPlace,
    ) -> Result<(), SchemaError> {
        if !self.methods.insert(method.name.text.clone()) {
            return Err(repeated_name(&method.name, "method"));
        }
        if let Some(id) = method.id {
            self.check_new_id(id, place)?;
        }
        found.methods.push(method);
        Ok(())
    }

    fn check_new_id(&mut self, id: u32, place: TextPlace) -> Result<(), SchemaError> {
        if !self.ids.insert(id) {
            return Err(place.error("an id that nothing else has", id.to_string()));
        }
        Ok(())
    }
}

fn repeated_name(name: &NameToken, what: &str) -> SchemaError {
    let wanted = format!("a {what} that is not there yet");
    name.place.error(wanted, format!("`{}` again", name.text))
}

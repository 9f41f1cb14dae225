//! The properties of fields and constants beyond their type.
//!
//! ```text
//!   mark call_sid = generated call id;                      fields of that name, in every struct
//!   mark OriginateRequest.session_id = generated session id;    a field of one struct
//!   mark TRANSFER = answered;                               a constant
//! ```

use super::token::{NameToken, SchemaToken, TokenReader};
use super::{Schema, SchemaError};
use crate::protocol::schema::Fresh;
use crate::protocol::schema::marks::{Generated, Marks};
use std::borrow::Cow;

/// A property of a field or a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::protocol::telequick) enum FieldMark {
    /// One side generates the value in each run: the group, and the method for a new value.
    Generated(String, Fresh),
    /// The value differs between equivalent runs.
    Volatile,
    /// The value must not be shown.
    Secret,
    /// The order of the items has no meaning.
    Unordered,
    /// The name of what a message is about: its call.
    Name,
    /// The outcome of a request.
    Outcome,
    /// The value is zero until the call is over.
    Final,
    /// The numbers have these names, from 0.
    Names(Vec<String>),
    /// The action requires an answered call.
    Answered,
    /// Only gateways use the value.
    Gateway,
}

const WANTED: &str = "`generated`, `volatile`, `secret`, `unordered`, `name`, `outcome`, `final`, `names`, `answered` or `gateway`";

impl FieldMark {
    pub(super) fn read(reader: &mut TokenReader<'_>) -> Result<Self, SchemaError> {
        let word = reader.word(WANTED)?;
        Ok(match word.text.as_str() {
            "generated" => {
                let group = reader.word("the group of the value")?.text;
                let wanted = "`id`, `time`, `given` or `same`";
                let fresh = reader.word(wanted)?;
                let fresh = match fresh.text.as_str() {
                    "id" => Fresh::Id,
                    "time" => Fresh::Time,
                    "given" => Fresh::Given,
                    "same" => Fresh::Same,
                    other => return Err(fresh.place.error(wanted, format!("`{other}`"))),
                };
                Self::Generated(group, fresh)
            }
            "volatile" => Self::Volatile,
            "secret" => Self::Secret,
            "unordered" => Self::Unordered,
            "name" => Self::Name,
            "outcome" => Self::Outcome,
            "final" => Self::Final,
            "names" => {
                let mut names = Vec::new();
                while let SchemaToken::Text(_) = reader.token {
                    if let (SchemaToken::Text(name), _) = reader.advance()? {
                        names.push(name);
                    }
                }
                if names.is_empty() {
                    return Err(reader.unexpected("a name in quotes"));
                }
                Self::Names(names)
            }
            "answered" => Self::Answered,
            "gateway" => Self::Gateway,
            other => return Err(word.place.error(WANTED, format!("`{other}`"))),
        })
    }
}

/// The marks of the fields or constants with a name; if there is an owner, only of that struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkDef {
    pub owner: Option<NameToken>,
    pub name: NameToken,
    pub marks: Vec<FieldMark>,
}

impl MarkDef {
    pub(super) fn is_of(&self, owner: &str, name: &str) -> bool {
        let is_owner = |own: &NameToken| own.text == owner;
        self.name.text == name && self.owner.as_ref().is_none_or(is_owner)
    }
}

impl Schema {
    /// Returns the marks of a field of a struct, or of a constant.
    pub(in crate::protocol::telequick) fn marks<'s>(
        &'s self,
        owner: &'s str,
        name: &'s str,
    ) -> impl Iterator<Item = &'s FieldMark> {
        let all = self.source.marks.iter();
        let own = all.filter(move |def| def.is_of(owner, name));
        own.flat_map(|def| &def.marks)
    }

    /// Returns true if a field of a struct, or a constant, has a mark.
    pub(in crate::protocol::telequick) fn is_marked(
        &self,
        owner: &str,
        name: &str,
        mark: &FieldMark,
    ) -> bool {
        self.marks(owner, name).any(|own| own == mark)
    }

    /// Returns the names of all fields and constants with a mark.
    pub(in crate::protocol::telequick) fn marked<'s>(
        &'s self,
        mark: &'s FieldMark,
    ) -> impl Iterator<Item = &'s str> {
        let all = self.source.marks.iter();
        let marked = all.filter(move |def| def.marks.contains(mark));
        marked.map(|def| def.name.text.as_str())
    }
}

/// Collects the marks in the form for generic code.
pub(in super::super) fn collect(schema: &Schema) -> Marks {
    let mut all = Marks::default();
    for def in &schema.source.marks {
        let name = def.name.text.as_str();
        let path: Cow<'static, str> = match &def.owner {
            Some(owner) => format!("{}:fields.{name}", owner.text).into(),
            None => format!("**.{name}").into(),
        };
        let made = def.marks.iter().find_map(|mark| match mark {
            FieldMark::Generated(group, fresh) => Some((group.as_str(), *fresh)),
            _ => None,
        });
        let volatile = def.marks.contains(&FieldMark::Volatile);
        if made.is_some() || volatile {
            all.generated.push(Generated {
                path: path.clone(),
                group: made.map_or(name, |(group, _)| group).to_owned().into(),
                fresh: made.map(|(_, fresh)| fresh),
                volatile,
                maker: None,
                opaque: false,
            });
        }
        if def.marks.contains(&FieldMark::Unordered) {
            all.unordered.push(path);
        }
        if def.marks.contains(&FieldMark::Secret) {
            all.secrets.push(name.to_owned().into());
        }
    }
    all
}

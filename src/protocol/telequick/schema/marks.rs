//! What fields and constants are beyond their type.
//!
//! ```text
//!   mark call_sid = generated call id;                      fields of that name, in every struct
//!   mark OriginateRequest.session_id = generated session id;    a field of one struct
//!   mark TRANSFER = answered;                               a constant
//! ```

use super::token::{Name, Reader, Token};
use super::{Schema, SchemaError};
use crate::protocol::schema::Fresh;
use crate::protocol::schema::marks::{Generated, Marks};
use std::borrow::Cow;

/// What a field or a constant is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::protocol::telequick) enum Mark {
    /// One side makes the value anew in each run: its group, and how a new value is made.
    Generated(String, Fresh),
    /// The value differs between equal runs.
    Volatile,
    /// The value must not be shown.
    Secret,
    /// The order of the items has no meaning.
    Unordered,
    /// How a request ended.
    Outcome,
    /// It is zero until the call is over.
    Final,
    /// Its numbers have these names, from 0.
    Names(Vec<String>),
    /// The action is for a call that is answered.
    Answered,
    /// Only gateways use it.
    Gateway,
}

const WANTED: &str = "`generated`, `volatile`, `secret`, `unordered`, `outcome`, `final`, `names`, `answered` or `gateway`";

impl Mark {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, SchemaError> {
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
            "outcome" => Self::Outcome,
            "final" => Self::Final,
            "names" => {
                let mut names = Vec::new();
                while let Token::Text(_) = reader.token {
                    if let (Token::Text(name), _) = reader.advance()? {
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

/// What fields or constants of a name are; with an owner, only those of that struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkDef {
    pub owner: Option<Name>,
    pub name: Name,
    pub marks: Vec<Mark>,
}

impl MarkDef {
    pub(super) fn is_of(&self, owner: &str, name: &str) -> bool {
        let is_owner = |own: &Name| own.text == owner;
        self.name.text == name && self.owner.as_ref().is_none_or(is_owner)
    }
}

impl Schema {
    /// The marks of a field of a struct, or of a constant.
    pub(in crate::protocol::telequick) fn marks<'s>(
        &'s self,
        owner: &'s str,
        name: &'s str,
    ) -> impl Iterator<Item = &'s Mark> {
        let all = self.source.marks.iter();
        let own = all.filter(move |def| def.is_of(owner, name));
        own.flat_map(|def| &def.marks)
    }

    /// Whether a field of a struct, or a constant, has a mark.
    pub(in crate::protocol::telequick) fn is_marked(
        &self,
        owner: &str,
        name: &str,
        mark: &Mark,
    ) -> bool {
        self.marks(owner, name).any(|own| own == mark)
    }

    /// The names of all that has a mark.
    pub(in crate::protocol::telequick) fn marked<'s>(
        &'s self,
        mark: &'s Mark,
    ) -> impl Iterator<Item = &'s str> {
        let all = self.source.marks.iter();
        let marked = all.filter(move |def| def.marks.contains(mark));
        marked.map(|def| def.name.text.as_str())
    }
}

/// What differs from run to run, as generic code reads it.
pub(in super::super) fn collect(schema: &'static Schema) -> Marks {
    let mut all = Marks::default();
    for def in &schema.source.marks {
        let name = def.name.text.as_str();
        let path: Cow<'static, str> = match &def.owner {
            Some(owner) => format!("{}:fields.{name}", owner.text).into(),
            None => format!("**.{name}").into(),
        };
        let made = def.marks.iter().find_map(|mark| match mark {
            Mark::Generated(group, fresh) => Some((group.as_str(), *fresh)),
            _ => None,
        });
        let volatile = def.marks.contains(&Mark::Volatile);
        if made.is_some() || volatile {
            all.generated.push(Generated {
                path: path.clone(),
                group: made.map_or(name, |(group, _)| group),
                fresh: made.map(|(_, fresh)| fresh),
                volatile,
            });
        }
        if def.marks.contains(&Mark::Unordered) {
            all.unordered.push(path);
        }
        if def.marks.contains(&Mark::Secret) {
            all.secrets.push(name);
        }
    }
    all
}

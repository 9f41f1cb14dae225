//! Collects the marks of all members: the paths of values that are generated, volatile, without order, or secret.
//!
//! A path is written `KIND:PATH`, or `PATH` where several kinds share it; `*` stands for any one key or index, `**` for any
//! number of them.

use super::{Fresh, Mark, Member, Type, members_of};
use std::borrow::Cow;

/// A value that every run makes anew.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Generated {
    /// Its place: `KIND:PATH`.
    pub path: Cow<'static, str>,
    /// Values of one group name the same things.
    pub group: &'static str,
    /// How the side that is played makes a new one; `None` where a replay sends the old one.
    pub fresh: Option<Fresh>,
    /// Whether it says nothing, so that it is not compared.
    pub volatile: bool,
}

impl Generated {
    /// Values at a path, of a group.
    pub const fn new(path: &'static str, group: &'static str, fresh: Fresh) -> Self {
        Self {
            path: Cow::Borrowed(path),
            group,
            fresh: Some(fresh),
            volatile: false,
        }
    }

    /// Values at a path that are not compared, and that a replay does not replace.
    pub const fn ignored(path: &'static str, group: &'static str) -> Self {
        Self {
            path: Cow::Borrowed(path),
            group,
            fresh: None,
            volatile: true,
        }
    }

    /// The same values, which are not compared.
    #[must_use]
    pub fn volatile(self) -> Self {
        Self {
            volatile: true,
            ..self
        }
    }
}

/// The marks of a protocol.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Values that every run makes anew. The first path that fits counts.
    pub generated: Vec<Generated>,
    /// Paths of lists of which the order has no meaning.
    pub unordered: Vec<Cow<'static, str>>,
    /// Names of members that are secret, beside [`crate::framing::fields::NAMES`]: lower case.
    pub secrets: Vec<&'static str>,
}

/// Marks as they are found: kind and path, and what is said of the member there.
#[derive(Default)]
pub(crate) struct Collector {
    found: Vec<Found>,
    /// The objects around the one that is added: a type may hold itself.
    around: Vec<*const Member>,
}

struct Found {
    kind: &'static str,
    path: String,
    name: &'static str,
    marks: &'static [Mark],
}

impl Collector {
    /// Adds the members of a type that stand at a path (empty: the whole message) in messages of a kind.
    pub fn add(&mut self, kind: &'static str, path: &str, ty: &Type) {
        match ty {
            Type::Array(item) => self.add(kind, &format!("{path}[*]"), item),
            Type::Form(ty, _) => return self.add(kind, path, ty),
            // The members of the first one follow.
            Type::Either([_, others @ ..]) => {
                for ty in others {
                    self.add(kind, path, ty);
                }
            }
            _ => {}
        }
        let members = members_of(ty);
        if members.is_empty() || self.around.contains(&members.as_ptr()) {
            return;
        }
        self.around.push(members.as_ptr());
        for (n, member) in members.iter().enumerate() {
            let mut names = vec![member.name];
            names.extend(member.spelled.map(|(name, _)| name));
            for name in names {
                let below = match ty {
                    Type::Tuple(_) => format!("{path}[{n}]"),
                    _ if path.is_empty() => name.to_owned(),
                    _ => format!("{path}.{name}"),
                };
                self.add(kind, &below, &member.ty);
                if !member.marks.is_empty() {
                    self.found.push(Found {
                        kind,
                        path: below,
                        name,
                        marks: member.marks,
                    });
                }
            }
        }
        self.around.pop();
    }

    /// Adds the marks of the id of a kind.
    pub fn id(&mut self, kind: &'static str, marks: &'static [Mark]) {
        if !marks.is_empty() {
            let (path, name) = ("id".to_owned(), "id");
            self.found.push(Found {
                kind,
                path,
                name,
                marks,
            });
        }
    }

    /// The marks of what was added.
    pub fn finish(self) -> Marks {
        let mut marks = Marks::default();
        for found in &self.found {
            let path = self.path(found);
            let has = |mark| found.marks.contains(&mark);
            let made = found.marks.iter().find_map(|mark| match mark {
                Mark::Generated(group, fresh) => Some((*group, *fresh)),
                _ => None,
            });
            if made.is_some() || has(Mark::Volatile) {
                let generated = Generated {
                    path: path.clone().into(),
                    group: made.map_or(found.name, |(group, _)| group),
                    fresh: made.map(|(_, fresh)| fresh),
                    volatile: has(Mark::Volatile),
                };
                if !marks.generated.contains(&generated) {
                    marks.generated.push(generated);
                }
            }
            if has(Mark::Unordered) && !marks.unordered.iter().any(|p| *p == path) {
                marks.unordered.push(path.into());
            }
            if has(Mark::Secret) && !marks.secrets.contains(&found.name) {
                marks.secrets.push(found.name);
            }
        }
        marks
    }

    /// A path as it is written: without a kind where several kinds have it, and mark it alike.
    fn path(&self, found: &Found) -> String {
        let mut others = self.found.iter().filter(|other| other.path == found.path);
        let several = others.clone().any(|other| other.kind != found.kind);
        if several && others.all(|other| other.marks == found.marks) {
            found.path.clone()
        } else {
            format!("{}:{}", found.kind, found.path)
        }
    }
}

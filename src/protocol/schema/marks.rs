//! Collects the marks of all members: the paths of values that are generated, volatile, unordered or secret.
//!
//! A path is written `KIND:PATH`, `KIND SUBJECT:PATH` for messages with one subject, or `PATH` if several kinds share it. `*` stands for any one key or index, `**` for any number of them.

use super::{Fresh, Maker, Mark, Member, MessageSchema, Type, members_of};
use crate::path::{PathStep, write_step};
use std::borrow::Cow;

/// A value that is generated in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Generated {
    /// The path: `KIND:PATH`.
    pub path: Cow<'static, str>,
    /// The group: values of one group name the same objects.
    pub group: Cow<'static, str>,
    /// The method by which a replay makes a new value; `None` if it sends the old one.
    pub fresh: Option<Fresh>,
    /// The value has no meaning and is not compared.
    pub volatile: bool,
    /// The value refers to an earlier one, which this side generated.
    pub maker: Option<Maker>,
    /// Only its presence is compared; without `fresh`, not even that.
    pub opaque: bool,
}

impl Generated {
    /// Values at a path, of a group.
    pub fn new(
        path: impl Into<Cow<'static, str>>,
        group: impl Into<Cow<'static, str>>,
        fresh: Fresh,
    ) -> Self {
        Self {
            path: path.into(),
            group: group.into(),
            fresh: Some(fresh),
            volatile: false,
            maker: None,
            opaque: false,
        }
    }

    /// Values at a path that refer to an earlier value of a group.
    pub fn reference(
        path: impl Into<Cow<'static, str>>,
        group: impl Into<Cow<'static, str>>,
        maker: Maker,
    ) -> Self {
        Self {
            maker: Some(maker),
            ..Self::new(path, group, Fresh::Same)
        }
    }

    /// Values at a path, and all below it, that only the side that generates them reads.
    pub fn opaque(path: impl Into<Cow<'static, str>>, group: impl Into<Cow<'static, str>>) -> Self {
        Self {
            opaque: true,
            ..Self::new(path, group, Fresh::Id)
        }
    }

    /// Anything at a path: neither compared nor replaced.
    #[cfg(feature = "described")]
    pub(crate) fn uncompared(path: String) -> Self {
        Self {
            opaque: true,
            ..Self::ignored(path.clone(), path)
        }
    }

    /// Values at a path of which only their identity is compared, and that a replay does not replace.
    pub fn ignored(
        path: impl Into<Cow<'static, str>>,
        group: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            path: path.into(),
            group: group.into(),
            fresh: None,
            volatile: true,
            maker: None,
            opaque: false,
        }
    }

    /// The same values, but not compared.
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
    /// Values that are generated in every run. The first matching path counts.
    pub generated: Vec<Generated>,
    /// Paths of lists whose order has no meaning.
    pub unordered: Vec<Cow<'static, str>>,
    /// Names of secret members beyond [`crate::framing::fields::NAMES`], in lower case.
    pub secrets: Vec<Cow<'static, str>>,
    /// Members whose keys are names of something else, such as functions: such a key makes no value secret.
    pub dictionaries: Vec<Cow<'static, str>>,
    /// Members that only connect messages, although their names are those of secrets: the subject of the message and
    /// the keys of the member from the root.
    pub public: Vec<(Cow<'static, str>, Vec<Cow<'static, str>>)>,
}

impl Marks {
    /// Returns the marks of messages whose types are those of the whole message.
    pub fn of<'m>(messages: impl IntoIterator<Item = &'m MessageSchema>) -> Self {
        let mut collector = Collector::default();
        for message in messages {
            collector.add((message.name, None), "", &message.ty);
        }
        collector.finish()
    }
}

/// Collected marks: kind, path and marks of each member.
#[derive(Default)]
pub(crate) struct Collector {
    found: Vec<FoundMark>,
    /// The objects that contain the current one: a type may be recursive.
    around: Vec<*const Member>,
}

/// A kind, and a subject if the messages of the kind with other subjects have other types.
type KindName = (&'static str, Option<&'static str>);

struct FoundMark {
    kind: KindName,
    path: String,
    name: &'static str,
    marks: &'static [Mark],
}

impl Collector {
    /// Adds the members of a type at a path (empty: the whole message) in messages of a kind.
    pub fn add(&mut self, kind: KindName, path: &str, ty: &Type) {
        match ty {
            Type::Array(item) => self.add(kind, &format!("{path}[*]"), item),
            Type::Form(ty, _) => return self.add(kind, path, ty),
            // The members of the first alternative follow.
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
                let step = match ty {
                    Type::Tuple(_) => PathStep::Element(n),
                    _ => PathStep::Member(name.to_owned()),
                };
                let mut below = path.to_owned();
                // Writing to a string cannot fail.
                let _ = write_step(&step, path.is_empty(), &mut below);
                self.add(kind, &below, &member.ty);
                if !member.marks.is_empty() {
                    self.found.push(FoundMark {
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
            self.found.push(FoundMark {
                kind: (kind, None),
                path,
                name,
                marks,
            });
        }
    }

    /// Returns the marks of all added members.
    pub fn finish(self) -> Marks {
        let mut marks = Marks::default();
        for found in &self.found {
            let mut path = self.path(found);
            let has = |mark| found.marks.contains(&mark);
            if has(Mark::Opaque) {
                path.push_str(".**");
            }
            let made = found.marks.iter().find_map(|mark| match mark {
                Mark::Generated(group, fresh) => Some((*group, *fresh, None)),
                Mark::Reference(group, maker) => Some((*group, Fresh::Same, Some(*maker))),
                _ => None,
            });
            if made.is_some() || has(Mark::Volatile) {
                let generated = Generated {
                    path: path.clone().into(),
                    group: made.map_or(found.name, |(group, ..)| group).into(),
                    fresh: made.map(|(_, fresh, _)| fresh),
                    volatile: has(Mark::Volatile),
                    maker: made.and_then(|(.., maker)| maker),
                    opaque: has(Mark::Opaque),
                };
                if !marks.generated.contains(&generated) {
                    marks.generated.push(generated);
                }
            }
            if has(Mark::Unordered) && !marks.unordered.iter().any(|p| *p == path) {
                marks.unordered.push(path.into());
            }
            if has(Mark::Secret) && !marks.secrets.iter().any(|s| s == found.name) {
                marks.secrets.push(found.name.into());
            }
        }
        marks
    }

    /// Writes a path: without a kind if several kinds have it with equal marks, and that of a reference with a subject if
    /// one subject has it.
    fn path(&self, found: &FoundMark) -> String {
        let mut others = self.found.iter().filter(|other| other.path == found.path);
        let several = others.clone().any(|other| other.kind.0 != found.kind.0);
        if several && others.clone().all(|other| other.marks == found.marks) {
            return found.path.clone();
        }
        let (kind, subject) = found.kind;
        let mut marks = found.marks.iter();
        let refers = marks.any(|mark| matches!(mark, Mark::Reference(..)));
        match subject {
            Some(subject) if refers && others.all(|other| other.kind == found.kind) => {
                format!("{kind} {subject}:{}", found.path)
            }
            _ => format!("{kind}:{}", found.path),
        }
    }
}

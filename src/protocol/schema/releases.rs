//! Sets of releases.

use super::{Member, MessageSchema, members_of};
use crate::tape::Node;

/// A set of releases of a protocol. Each protocol assigns the bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Releases(pub u16);

impl Releases {
    /// Every release.
    pub const ALL: Self = Self(u16::MAX);

    /// The intersection of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The union of both sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Member {
    /// Returns the releases that write the member as this object does; all releases if the object does not have it.
    pub fn releases_of(&self, object: Node<'_>) -> Releases {
        let is_plain = self.releases == Releases::ALL && self.spelled.is_none();
        match self.spelled {
            _ if is_plain => Releases::ALL,
            Some((name, releases)) if object.get(name).is_some() => releases,
            _ if object.get(self.name).is_some() => self.releases,
            _ => Releases::ALL,
        }
    }
}

impl MessageSchema {
    /// Returns the releases that write the message with these members of content and result.
    pub fn releases_of(&self, content: Option<Node<'_>>, result: Option<Node<'_>>) -> Releases {
        let mut releases = self.releases;
        for (ty, node) in [(&self.ty, content), (&self.result, result)] {
            let Some(node) = node else {
                continue;
            };
            for member in members_of(ty) {
                let all = member.releases_of(node);
                // Members that no release has together are ignored.
                let both = releases.and(all);
                releases = if both.is_empty() { releases } else { both };
            }
        }
        releases
    }
}

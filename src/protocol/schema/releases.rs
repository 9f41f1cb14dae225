//! Sets of releases.

use super::{Member, Message, members_of};
use crate::tape::Node;

/// A set of releases of a protocol; each protocol defines what its bits are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Releases(pub u16);

impl Releases {
    /// Every release.
    pub const ALL: Self = Self(u16::MAX);

    /// The releases of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The releases of either set.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Member {
    /// The releases that write the member as an object has it; every release where it has none.
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

impl Message {
    /// The releases that write the message with these members: of the content, of the result.
    pub fn releases_of(&self, content: Option<Node<'_>>, result: Option<Node<'_>>) -> Releases {
        let mut releases = self.releases;
        for (ty, node) in [(&self.ty, content), (&self.result, result)] {
            for member in members_of(ty) {
                let all = node.map_or(Releases::ALL, |node| member.releases_of(node));
                // Members that no release has together say nothing.
                let both = releases.and(all);
                releases = if both.is_empty() { releases } else { both };
            }
        }
        releases
    }
}

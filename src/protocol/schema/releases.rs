//! Sets of releases.

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

//! Every protocol there is: adding one is adding a line.

use super::{Protocol, oracle, sael, saikuro, stepflow, telequick};

static ALL: &[&dyn Protocol] = &[
    &saikuro::Saikuro,
    &oracle::Oracle::builtin(),
    &sael::Sael,
    &stepflow::Stepflow,
    &telequick::Telequick::builtin(),
];

/// In the order in which a tie of detection is decided.
pub fn all() -> &'static [&'static dyn Protocol] {
    ALL
}

/// The protocol of that name.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    ALL.iter().copied().find(|p| p.name() == name)
}

/// The name of each.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|p| p.name())
}

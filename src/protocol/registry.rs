//! Every protocol there is: adding one is adding a line.

use super::{Protocol, oracle, sael, saikuro, stepflow};

/// In the order in which a tie of detection is decided.
pub static ALL: [&dyn Protocol; 4] = [
    &saikuro::Saikuro,
    &oracle::Oracle,
    &sael::Sael,
    &stepflow::Stepflow,
];

/// The protocol of that name.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    ALL.into_iter().find(|p| p.name() == name)
}

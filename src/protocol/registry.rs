//! Every protocol there is: adding one is adding a line.

use super::{Protocol, oracle, sael, saikuro, stepflow, telequick};

static ORACLE: oracle::Oracle = oracle::Oracle::builtin();
static TELEQUICK: telequick::Telequick = telequick::Telequick::builtin();

/// In the order in which a tie of detection is decided.
pub fn all() -> [&'static dyn Protocol; 5] {
    [
        &saikuro::Saikuro,
        &ORACLE,
        &sael::Sael,
        &stepflow::Stepflow,
        &TELEQUICK,
    ]
}

/// The protocol of that name.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    all().into_iter().find(|p| p.name() == name)
}

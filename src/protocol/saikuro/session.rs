//! A saikuro conversation, over time.

use crate::protocol::session::{Aids, Report, Seen, Session, Waiting};

/// What was said so far.
pub(super) struct Conduct;

impl Conduct {
    pub(super) fn new(_: &Aids) -> Self {
        Self
    }
}

impl Session for Conduct {
    fn message(&mut self, _: &Seen<'_>, _: &mut Report) {}

    fn finish(&mut self, _: &mut Report) {}

    fn waiting(&self) -> Vec<Waiting> {
        Vec::new()
    }
}

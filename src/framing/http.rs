//! stub
use super::{Input, Step};
#[derive(Default)]
pub(super) struct Http;
impl Http {
    pub(super) fn next<'a>(&'a mut self, _: Input<'a>) -> Step<'a> {
        Step::Incomplete(None)
    }
}

//! A message while a session handles it.

use super::{Link, OperationFacts, Place, Report, RuleId, Seen};
use crate::protocol::exchange::OpenRequest;
use std::cell::{RefCell, RefMut};
use std::ops::Deref;

/// A message with the report that its handling fills.
#[derive(Clone, Copy)]
pub struct Current<'s, 'a> {
    seen: &'s Seen<'a>,
    report: &'s RefCell<Report>,
}

impl<'a> Deref for Current<'_, 'a> {
    type Target = Seen<'a>;

    fn deref(&self) -> &Seen<'a> {
        self.seen
    }
}

impl<'a> Current<'_, 'a> {
    /// Handles a message; the results are added to the report.
    pub fn handle<T>(
        seen: &Seen<'a>,
        report: &mut Report,
        handle: impl FnOnce(Current<'_, 'a>) -> T,
    ) -> T {
        let shared = RefCell::new(std::mem::take(report));
        let report_of = &shared;
        let result = handle(Current {
            seen,
            report: report_of,
        });
        *report = shared.into_inner();
        result
    }

    /// Returns the report, for functions that add to it. It must be dropped before the next finding.
    pub fn report(&self) -> RefMut<'_, Report> {
        self.report.borrow_mut()
    }

    /// Adds a broken rule: see [`broken!`](super::broken).
    #[cold]
    pub fn add(&self, rule: RuleId, place: Place, related: Option<u64>, text: &dyn Fn() -> String) {
        self.report().add(rule, place, related, text);
    }

    /// Returns the number of broken rules so far.
    pub fn findings(&self) -> usize {
        self.report().broken.len()
    }

    /// Returns the facts about operations, to change them. It must be dropped before the next finding.
    pub fn operation(&self) -> RefMut<'_, OperationFacts> {
        RefMut::map(self.report(), |report| &mut report.operation)
    }

    /// Records that the message belongs to the operation of an earlier one.
    pub fn part_of(&self, index: u64, link: Link) {
        if index < self.index {
            self.operation().part_of = Some((index, link));
        }
    }

    /// Records that the message asks to cancel the operation of an earlier one, which its ids name.
    pub fn cancels(&self, index: u64) {
        self.part_of(index, Link::Recorded);
        self.operation().cancels = true;
    }

    /// Records that the message begins an operation inside of that of an earlier one.
    pub fn inside(&self, index: u64, link: Link) {
        if index < self.index {
            self.operation().inside = Some((index, link));
        }
    }

    /// Returns what is stored of the message until its answer.
    pub fn stored_request(&self) -> OpenRequest {
        OpenRequest::sharing(self.seen, &mut self.report().texts)
    }

    /// Records that the message answers a request.
    pub fn answers(&self, asked: &OpenRequest, last: bool) {
        self.report().answers(asked, self.seen, last);
    }
}

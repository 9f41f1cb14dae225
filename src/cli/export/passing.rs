//! Passes what a run reads to a form: the messages that are selected, and their operations.

use crate::capture::Item;
use crate::cli::unmatched::Unmatched;
use crate::conversation::{Conversation, Finding, Operation, Output, Run, Verdict};
use crate::decoder::Decoded;
use crate::export::Form;
use crate::select::Filter;
use std::collections::BTreeSet;

/// A form, and which messages it gets.
pub struct Passing {
    pub form: Box<dyn Form + Send>,
    pub filter: Filter,
    pub unmatched: Unmatched,
    scratch: Vec<u8>,
    /// The capture is a recording, which has both directions.
    recording: bool,
    /// The operations that have a message that matches, and have not ended.
    selected: BTreeSet<u64>,
    /// The index of the last message.
    last: u64,
    /// The number of messages that match.
    pub matched: u64,
}

impl Passing {
    pub fn new(form: Box<dyn Form + Send>, filter: Filter) -> Self {
        Self {
            form,
            unmatched: Unmatched::new(&filter),
            filter,
            scratch: Vec::new(),
            recording: false,
            selected: BTreeSet::new(),
            last: 0,
            matched: 0,
        }
    }

    /// Passes on an output; the form appends to `out`.
    pub fn take(&mut self, output: Output<'_>, out: &mut Vec<u8>) {
        match output {
            Output::Begin(run) => self.begin(run, out),
            Output::Item(item, origin) => {
                self.recording |= matches!(item, Item::Header(_));
                self.form.item(item, origin, out);
            }
            Output::Message(decoded, verdict) => {
                self.message(decoded, verdict.unwrap_or_default(), out);
            }
            Output::Event(_, verdict) => {
                self.findings(verdict.findings, out);
                self.operations(verdict.ended, out);
            }
            Output::BeforeEnd(run) => {
                if let Some(conversation) = run.conversation() {
                    self.form.wait(conversation, self.recording);
                }
            }
            Output::End(run, findings) => {
                let conversation = run.conversation();
                self.findings(findings, out);
                let ended = conversation.map_or(&[][..], Conversation::ended_operations);
                self.operations(ended, out);
                self.form.end(run, out);
            }
            Output::Pause(..) | Output::Note(_) => {}
        }
    }

    fn begin(&mut self, run: &Run<'_>, out: &mut Vec<u8>) {
        self.selected.clear();
        self.recording = false;
        self.form.begin(run, out);
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, out: &mut Vec<u8>) {
        self.last = decoded.index;
        let scratch = &mut self.scratch;
        if self.filter.matches(decoded, Some(verdict), scratch) {
            self.matched += 1;
            let of = verdict.operation.filter(|of| !of.is_late);
            self.selected.extend(of.map(|of| of.index));
            self.form.message(decoded, verdict, out);
        } else {
            self.form.skip(decoded, verdict, out);
            if self.matched == 0 {
                self.unmatched.add(decoded);
            }
        }
        self.operations(verdict.ended, out);
    }

    /// Passes on the operations that end.
    fn operations(&mut self, ended: &[Operation], out: &mut Vec<u8>) {
        for operation in ended {
            if self.selected.remove(&operation.index) {
                self.form.operation(operation, self.last, out);
            } else {
                self.form.skip_operation(operation);
            }
        }
    }

    /// Passes on findings that belong to no message, as lint reports them.
    fn findings(&mut self, findings: &[Finding], out: &mut Vec<u8>) {
        if self.filter.is_open() {
            self.form.findings(findings, out);
        }
    }
}

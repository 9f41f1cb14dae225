//! What comes out of a run, and who takes it.

use super::Run;
use crate::capture::{Event, Item};
use crate::conversation::{Finding, Judge, Verdict};
use crate::decoder::{Decoded, Origin};
use crate::encoding::Want;
use crate::protocol::session::SessionConfig;
use std::ops::ControlFlow;
use std::time::Duration;

/// One output of a [`Run`], in the order of the capture.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Output<'a> {
    /// The capture begins.
    Begin(&'a Run<'a>),
    /// An item of the capture, before what is read from it: a header, bytes, a problem. Bytes are of this origin.
    Item(&'a Item<'a>, Origin),
    /// A message. It has a verdict if rules are checked.
    Message(&'a Decoded<'a>, Option<Verdict<'a>>),
    /// An event between messages, with what follows from it.
    Event(&'a Event<'a>, Verdict<'a>),
    /// A note about bytes that the capture lacks.
    Note(&'a str),
    /// Everything that arrived is read, and nothing more arrived for this time: of live traffic, a pipe or a file that
    /// is followed.
    Pause(&'a Run<'a>, Duration),
    /// The capture is read to its end, and what follows from the end is not known yet.
    BeforeEnd(&'a Run<'a>),
    /// The end, with the findings that follow from it.
    End(&'a Run<'a>, &'a [Finding]),
}

impl<'a> Output<'a> {
    /// Returns the broken rules that it shows.
    pub fn findings(&self) -> &'a [Finding] {
        match self {
            Self::Message(_, verdict) => verdict.map_or(&[], |verdict| verdict.findings),
            Self::Event(_, verdict) => verdict.findings,
            Self::End(_, findings) => findings,
            _ => &[],
        }
    }
}

/// Takes what a [`Run`] reads: shows, counts, compares, stores. A closure is a sink, too.
pub trait Sink {
    /// The reason why it stops the run.
    type Break;

    /// Returns the details that it needs of the next messages; `None`: those of the options of the decoder.
    fn want(&self) -> Option<Want> {
        None
    }

    /// Returns the rules that it needs verdicts of. A run is created with them.
    fn rules(&self) -> Option<RuleSettings> {
        None
    }

    /// Takes the next output. After a break, the run can go on.
    fn take(&mut self, output: Output<'_>) -> ControlFlow<Self::Break>;
}

impl<B, F: FnMut(Output<'_>) -> ControlFlow<B>> Sink for F {
    type Break = B;

    fn take(&mut self, output: Output<'_>) -> ControlFlow<B> {
        self(output)
    }
}

/// How rules are checked, and what verdicts have beside them.
#[derive(Clone, Debug, Default)]
pub struct RuleSettings {
    /// The severity of each rule.
    pub judge: Judge,
    /// The settings of sessions.
    pub session: SessionConfig,
    /// Verdicts name operations.
    pub operations: bool,
}

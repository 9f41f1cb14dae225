//! Batches: each call is answered as it would be alone, and the batch once all of them are.
//!
//! ```text
//!   batch [a, b] --> a: a rule, b: a miss --> results [1, an error] --> the answer, in the protocol's words
//! ```

use super::Stub;
use super::dispatch::{Decision, Dispatcher};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::encoding::{Parsed, Want};
use crate::framing::{Frame, Head, Limits, Places, View};
use crate::live::handler::Command;
use crate::live::script::value;
use crate::protocol::peer::{Outcome, Phrase, Request};
use crate::protocol::{Context, WriteOptions};
use crate::span::Span;
use std::collections::BTreeMap;

/// Most batches that wait for their calls.
const MOST: usize = 1 << 12;

/// A batch that is being answered.
struct Batch {
    request: Request,
    outcomes: Vec<Option<Outcome>>,
    /// Calls that are not answered.
    left: usize,
    /// The batch of which it is itself a call, and which.
    part: Option<(u64, usize)>,
}

/// Batches that are being answered.
#[derive(Default)]
pub(super) struct Batches {
    all: BTreeMap<u64, Batch>,
    next: u64,
}

impl Batches {
    /// Nothing more is said on a connection.
    pub(super) fn leave(&mut self, conn: u32) {
        self.all.retain(|_, batch| batch.request.conn != conn);
    }
}

impl Dispatcher {
    /// What is done about one call of a batch: what would be done about it alone.
    pub(super) fn part(&mut self, whole: &Decoded<'_>, message: &str) -> Decision {
        let options = WriteOptions {
            force: true,
            direction: whole.origin.direction,
            ..WriteOptions::default()
        };
        let protocol = whole.protocol;
        let mut body = Vec::new();
        let written = value::with_json(message, |root| protocol.write(root, &options, &mut body));
        let written = written.and_then(|written| written.map_err(|e| e.to_string()));
        let view = View {
            bytes: &body,
            body: Span::new(0, body.len()),
            places: Places::Run(whole.frame.offset),
        };
        let frame = Frame {
            offset: whole.frame.offset,
            len: whole.frame.len,
            framing: whole.frame.framing,
            head: Head::None,
            view,
            control: None,
            fault: None,
        };
        let mut parsed = Parsed::new(Want::Places, Limits::default().depth);
        let context = Context {
            direction: whole.origin.direction,
            ..Context::default()
        };
        let read = protocol.read(&frame, &context, &mut parsed);
        let part = Decoded {
            frame: &frame,
            message: &read,
            remarks: &[],
            raw: None,
            ..*whole
        };
        if let Err(why) = written {
            return Decision::Miss(
                Request::of(&part.seen()),
                why,
                self.rate_limit.allows(self.now),
            );
        }
        self.decide(&part, Verdict::default(), Vec::new())
    }
}

impl Stub<'_> {
    /// Begins to answer a batch.
    pub(super) fn batch(
        &mut self,
        request: Request,
        parts: Vec<Decision>,
        part: Option<(u64, usize)>,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        if self.batches.all.len() >= MOST {
            let why = format!("{MOST} batches wait already");
            self.complain(why.clone(), now, commands);
            return self.miss(&request, part, &why, now, commands);
        }
        let id = self.batches.next;
        self.batches.next += 1;
        let batch = Batch {
            request,
            outcomes: parts.iter().map(|_| None).collect(),
            left: parts.len(),
            part,
        };
        self.batches.all.insert(id, batch);
        for (at, found) in parts.into_iter().enumerate() {
            let part = Some((id, at));
            match found {
                Decision::Start(_, mut job) => {
                    job.part = part;
                    self.start(*job, now, commands);
                }
                Decision::Batch(request, parts) => self.batch(request, parts, part, now, commands),
                Decision::Miss(request, why, told) => {
                    commands.extend(told.then(|| Command::Log(why.clone())));
                    self.miss(&request, part, &why, now, commands);
                }
                // Nobody waits for an answer to it.
                _ => self.put(part, Outcome::Nothing, now, commands),
            }
        }
    }

    /// A call of a batch is answered.
    pub(super) fn part_done(
        &mut self,
        part: Option<(u64, usize)>,
        phrase: Phrase<'_>,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        let outcome = match phrase {
            Phrase::Result(value) => Outcome::Result(value.to_owned()),
            Phrase::Error {
                code,
                message,
                data,
            } => Outcome::Error {
                code: code.map(str::to_owned),
                message: message.to_owned(),
                data: data.map(str::to_owned),
            },
            _ => Outcome::Nothing,
        };
        self.put(part, outcome, now, commands);
    }

    fn put(
        &mut self,
        part: Option<(u64, usize)>,
        outcome: Outcome,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        let Some((id, at)) = part else {
            return;
        };
        let Some(batch) = self.batches.all.get_mut(&id) else {
            return;
        };
        // The first answer counts.
        if let Some(slot @ None) = batch.outcomes.get_mut(at) {
            *slot = Some(outcome);
            batch.left = batch.left.saturating_sub(1);
        }
        if batch.left > 0 {
            return;
        }
        let Some(batch) = self.batches.all.remove(&id) else {
            return;
        };
        let outcomes: Vec<Outcome> = batch.outcomes.into_iter().flatten().collect();
        if batch.part.is_some() {
            let values = outcomes.iter().map(|outcome| match outcome {
                Outcome::Result(value) => value.as_str(),
                Outcome::Error { .. } | Outcome::Nothing => "null",
            });
            let values = format!("[{}]", values.collect::<Vec<_>>().join(","));
            return self.put(batch.part, Outcome::Result(values), now, commands);
        }
        let said = self
            .endpoint
            .phrase(&batch.request, Phrase::Results(&outcomes), now);
        let said = said.and_then(|says| self.endpoint.say(&says, None, now, commands));
        if let Err(refusal) = said {
            self.complain(format!("cannot answer: {refusal}"), now, commands);
        }
    }
}

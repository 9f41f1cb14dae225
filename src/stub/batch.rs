//! Batches: each call is answered as it would be alone, and the batch once all of them are.
//!
//! ```text
//!   batch [a, b] --> a: a rule, b: a miss --> results [1, an error] --> the answer, in the protocol's words
//! ```

use super::desk::{Desk, Found};
use super::{Stub, value};
use crate::conversation::Verdict;
use crate::conversation::actor::Order;
use crate::decoder::Decoded;
use crate::encoding::{Parsed, Want};
use crate::framing::{Frame, Head, Limits, Places, View};
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

impl Desk<'_> {
    /// What is done about one call of a batch: what would be done about it alone.
    pub(super) fn part(&mut self, whole: &Decoded<'_>, message: &str) -> Found {
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
            return Found::Miss(Request::of(&part.seen()), why, self.pace.allows(self.now));
        }
        self.decide(&part, Verdict::default(), Vec::new())
    }
}

impl Stub<'_> {
    /// Begins to answer a batch.
    pub(super) fn batch(
        &mut self,
        request: Request,
        parts: Vec<Found>,
        part: Option<(u64, usize)>,
        now: i64,
        orders: &mut Vec<Order>,
    ) {
        if self.batches.all.len() >= MOST {
            let why = format!("{MOST} batches wait already");
            self.complain(why.clone(), now, orders);
            return self.miss(&request, part, &why, now, orders);
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
                Found::Start(_, mut job) => {
                    job.part = part;
                    self.start(*job, now, orders);
                }
                Found::Batch(request, parts) => self.batch(request, parts, part, now, orders),
                Found::Miss(request, why, told) => {
                    orders.extend(told.then(|| Order::Say(why.clone())));
                    self.miss(&request, part, &why, now, orders);
                }
                // Nobody waits for an answer to it.
                _ => self.put(part, Outcome::Nothing, now, orders),
            }
        }
    }

    /// A call of a batch is answered.
    pub(super) fn part_done(
        &mut self,
        part: Option<(u64, usize)>,
        phrase: Phrase<'_>,
        now: i64,
        orders: &mut Vec<Order>,
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
        self.put(part, outcome, now, orders);
    }

    fn put(
        &mut self,
        part: Option<(u64, usize)>,
        outcome: Outcome,
        now: i64,
        orders: &mut Vec<Order>,
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
            return self.put(batch.part, Outcome::Result(values), now, orders);
        }
        let said = self
            .party
            .phrase(&batch.request, Phrase::Results(&outcomes), now);
        let said = said.and_then(|says| self.party.say(&says, None, now, orders));
        if let Err(refusal) = said {
            self.complain(format!("cannot answer: {refusal}"), now, orders);
        }
    }
}

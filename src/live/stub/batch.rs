//! Batches: each call is answered as if it were alone. The batch is answered when all calls are.
//!
//! ```text
//!   batch [a, b] --> a: a rule, b: a miss --> results [1, an error] --> the answer, as the protocol writes it
//! ```

use super::Stub;
use super::dispatch::{Decision, Dispatcher};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::encoding::{Parsed, Want};
use crate::framing::{Frame, Head, Limits, Places, View};
use crate::live::handler::Command;
use crate::live::script::value;
use crate::protocol::peer::{Outgoing, Peer, PeerReply, Request, RequestOutcome};
use crate::protocol::{Context, WriteOptions};
use crate::span::Span;
use std::collections::BTreeMap;

/// The maximum number of batches that wait for their calls.
const MAX_BATCHES: usize = 1 << 12;

/// A batch that is being answered.
struct BatchReply {
    request: Request,
    outcomes: Vec<Option<RequestOutcome>>,
    /// The number of calls without an answer.
    left: usize,
    /// The outer batch, and the number of the call in it.
    part: Option<(u64, usize)>,
}

/// Batches that are being answered.
#[derive(Default)]
pub(super) struct Batches {
    all: BTreeMap<u64, BatchReply>,
    next: u64,
}

impl Batches {
    /// Removes the batches of a connection.
    pub(super) fn leave(&mut self, conn: u32) {
        self.all.retain(|_, batch| batch.request.conn != conn);
    }
}

impl Dispatcher {
    /// Decides how one call of a batch is answered, as if it were alone.
    pub(super) fn part(
        &mut self,
        whole: &Decoded<'_>,
        message: &str,
        peer: &mut dyn Peer,
    ) -> Decision {
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
        let own = peer.own_answer(&part.seen());
        let replies = own.map(|answer| Outgoing::new(Request::of(&part.seen()).conn, answer));
        let replies = replies.into_iter().collect();
        self.decide(&part, Verdict::default(), replies, peer)
    }
}

impl Stub<'_> {
    /// Starts to answer a batch.
    pub(super) fn batch(
        &mut self,
        request: Request,
        parts: Vec<Decision>,
        part: Option<(u64, usize)>,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        if self.batches.all.len() >= MAX_BATCHES {
            let why = format!("{MAX_BATCHES} batches wait already");
            self.log_problem(why.clone(), now, commands);
            return self.miss(&request, part, &why, now, commands);
        }
        let id = self.batches.next;
        self.batches.next += 1;
        let batch = BatchReply {
            request,
            outcomes: parts.iter().map(|_| None).collect(),
            left: parts.len(),
            part,
        };
        self.batches.all.insert(id, batch);
        for (at, decision) in parts.into_iter().enumerate() {
            let part = Some((id, at));
            match decision {
                Decision::Start(_, mut job) => {
                    job.part = part;
                    self.start(*job, now, commands);
                }
                Decision::Batch(request, parts) => self.batch(request, parts, part, now, commands),
                Decision::Miss(request, why, is_reported) => {
                    commands.extend(is_reported.then(|| Command::Log(why.clone())));
                    self.miss(&request, part, &why, now, commands);
                }
                Decision::Replies(replies) => {
                    let own = replies.into_iter().next();
                    let outcome = own.map_or(RequestOutcome::Nothing, |own| {
                        RequestOutcome::Message(own.message)
                    });
                    self.put(part, outcome, now, commands);
                }
                // It has no answer.
                _ => self.put(part, RequestOutcome::Nothing, now, commands),
            }
        }
    }

    /// Stores the answer to a call of a batch. `is_unknown`: see [`Request::is_unknown`].
    pub(super) fn part_done(
        &mut self,
        part: Option<(u64, usize)>,
        (reply, is_unknown): (PeerReply<'_>, bool),
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        let outcome = match reply {
            PeerReply::Result(value) => RequestOutcome::Result(value.to_owned()),
            PeerReply::Error {
                code,
                message,
                data,
            } => RequestOutcome::Error {
                code: code.map(str::to_owned),
                message: message.to_owned(),
                data: data.map(str::to_owned),
                is_unknown,
            },
            _ => RequestOutcome::Nothing,
        };
        self.put(part, outcome, now, commands);
    }

    fn put(
        &mut self,
        part: Option<(u64, usize)>,
        outcome: RequestOutcome,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        let Some((id, at)) = part else {
            return;
        };
        let Some(batch) = self.batches.all.get_mut(&id) else {
            return;
        };
        // The first answer is used.
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
        let outcomes: Vec<RequestOutcome> = batch.outcomes.into_iter().flatten().collect();
        if batch.part.is_some() {
            let values = outcomes.iter().map(|outcome| match outcome {
                RequestOutcome::Result(value) => value.as_str(),
                _ => "null",
            });
            let values = format!("[{}]", values.collect::<Vec<_>>().join(","));
            return self.put(batch.part, RequestOutcome::Result(values), now, commands);
        }
        let sent = self
            .endpoint
            .encode_reply(&batch.request, PeerReply::Results(&outcomes), now);
        let sent =
            sent.and_then(|outgoing| self.endpoint.send_message(&outgoing, None, now, commands));
        if let Err(refusal) = sent {
            self.log_problem(format!("cannot answer: {refusal}"), now, commands);
        }
    }
}

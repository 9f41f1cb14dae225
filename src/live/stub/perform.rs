//! Carries out the actions of a rule.

use super::Stub;
use super::dispatch::Job;
use super::sender::Sender;
use crate::diff::Val;
use crate::encoding::json;
use crate::encoding::lossless::bytes_json;
use crate::error::Refusal;
use crate::framing::Framing;
use crate::live::handler::Command;
use crate::live::script::value::{Fill, MadeCall, OpenValue, call, with_json};
use crate::live::script::{AwaitedRequest, BytesTemplate, Mutation, Reply, ScriptAction};
use crate::protocol::peer::{Outgoing, PeerReply};
use crate::protocol::uuid_text;
use crate::tape::Node;

/// The event that a job waits for.
pub(super) enum JobWait {
    Until(i64),
    For(u64),
    /// A recorded request, at most until a time.
    After(u64, i64),
    Message,
    /// The end of its connection.
    End,
    /// The event stream of its session, which the action needs.
    Stream,
    Never,
}

impl Job {
    /// Stores the answer to a request of this job.
    pub(super) fn store_answer(&mut self, index: u64, answer: String) {
        let mut calls = self.calls.iter_mut();
        match calls.find(|call| call.index == Some(index)) {
            Some(call) => call.answer = Some(answer),
            None => self.answer = Some(answer),
        }
    }

    fn fill(&self) -> Fill<'_> {
        Fill {
            request: &self.request.message,
            answer: self.answer.as_deref(),
            calls: &self.calls,
            count: self.count,
        }
    }

    pub(super) fn json(&self, value: &OpenValue) -> Result<String, String> {
        value.fill(&self.fill())
    }

    fn text(&self, value: &OpenValue) -> Result<String, String> {
        value.fill_text(&self.fill())
    }

    /// Passes on a reply that is not a whole message.
    fn with_peer_reply<T>(
        &self,
        reply: &Reply,
        say: impl FnOnce(PeerReply<'_>) -> T,
    ) -> Result<T, String> {
        let json = |value: &Option<OpenValue>| value.as_ref().map(|v| self.json(v)).transpose();
        Ok(match reply {
            Reply::Result(value) => say(PeerReply::Result(&self.json(value)?)),
            Reply::Item(value) => say(PeerReply::Item(&self.json(value)?)),
            Reply::Delta(value) => say(PeerReply::Delta(&self.json(value)?)),
            Reply::Message(_) => return Err("a message is said as it is".into()),
            Reply::Tell(method, params) => {
                say(PeerReply::Tell(&self.text(method)?, &self.json(params)?))
            }
            Reply::End(value, _) => say(PeerReply::End(json(value)?.as_deref())),
            Reply::Error {
                code,
                message,
                data,
            } => say(PeerReply::Error {
                code: code
                    .as_ref()
                    .map(|code| self.text(code))
                    .transpose()?
                    .as_deref(),
                message: &self.text(message)?,
                data: json(data)?.as_deref(),
            }),
        })
    }

    fn bytes(&self, bytes: &BytesTemplate) -> Result<Vec<u8>, String> {
        bytes.fill(&self.fill())
    }
}

impl<'p> Stub<'p> {
    /// Carries out one action. Returns the event before the next one, if the job must wait.
    pub(super) fn action(
        &mut self,
        job: &mut Job,
        action: &ScriptAction,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<Option<JobWait>, String> {
        let conn = job.request.conn;
        match action {
            ScriptAction::Wait(time) => return Ok(Some(JobWait::Until(now.saturating_add(*time)))),
            ScriptAction::Send(bytes) => {
                let bytes = job.bytes(bytes)?;
                let channel = self.endpoint.channel(conn, job.request.stream);
                self.endpoint.send_bytes(channel, bytes, now, commands);
                job.answered = true;
            }
            ScriptAction::Ask(method, params) => {
                let (method, params) = (job.text(method)?, job.json(params)?);
                let ask = PeerReply::Ask(&method, &params);
                let outgoing = self.endpoint.encode_reply(&job.request, ask, now);
                let sent = outgoing
                    .and_then(|outgoing| self.send_unasked(&outgoing, false, now, commands));
                if let Some(index) = sent.map_err(|e| e.to_string())? {
                    return Ok(Some(JobWait::For(index)));
                }
            }
            ScriptAction::Call(message)
                if message.is_event() && !self.endpoint.can_send_event(conn) =>
            {
                return Ok(Some(JobWait::Stream));
            }
            ScriptAction::Call(message) => self.call(job, message, now, commands)?,
            ScriptAction::Await(n) => {
                if let Some(MadeCall {
                    index: Some(index),
                    answer: None,
                    ..
                }) = job.calls.get(*n)
                {
                    return Ok(Some(JobWait::For(*index)));
                }
            }
            ScriptAction::AwaitRequest(AwaitedRequest { index, most }) => {
                if !self.order.is_received(conn, *index) {
                    return Ok(Some(JobWait::After(*index, now.saturating_add(*most))));
                }
            }
            ScriptAction::AwaitEnd => return Ok(Some(JobWait::End)),
            ScriptAction::AwaitMessage(_) => return Ok(Some(JobWait::Message)),
            ScriptAction::SendReply(Reply::Message(OpenValue::Recorded(message)), _)
                if !message.is_of(&job.fill()) => {}
            ScriptAction::SendReply(reply, mutation) => {
                self.send_reply(job, reply, mutation, now, commands)?;
            }
            ScriptAction::Close => {
                self.endpoint.close(conn, now, commands);
                return Ok(Some(JobWait::Never));
            }
            ScriptAction::Reset => {
                commands.push(Command::Reset(conn));
                return Ok(Some(JobWait::Never));
            }
            ScriptAction::Exit(status) => {
                self.dispatcher.watch.exits(*status);
                commands.push(Command::Stop);
                return Ok(Some(JobWait::Never));
            }
        }
        Ok(None)
    }

    /// Sends a recorded request with a new id, whose answer a later action may await.
    fn call(
        &mut self,
        job: &mut Job,
        message: &OpenValue,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<(), String> {
        let is_event = message.is_event();
        let message = job.json(message)?;
        let outgoing = match call(&message)? {
            Some((method, params)) => {
                let ask = PeerReply::Ask(&method, &params);
                let asked = self.endpoint.encode_reply(&job.request, ask, now);
                let mut asked = asked.map_err(|e| e.to_string())?;
                // Only the id is new.
                let sender = self.sender();
                let place = sender.place_of_id(&asked.message)?;
                let id = asked.message.get(place).unwrap_or_default();
                asked.message = sender.with_id(&message, id)?;
                asked
            }
            None => Outgoing::new(job.request.conn, self.renamed(&message)?),
        };
        let index = self.send_unasked(&outgoing, is_event, now, commands);
        let index = index.map_err(|e| e.to_string())?;
        if let Some(index) = index {
            self.dispatcher.jobs_by_request.insert(index, job.id);
        }
        job.calls.push(MadeCall {
            index,
            sent: outgoing.message,
            answer: None,
        });
        Ok(())
    }

    /// Sends a message that answers nothing: as an event of its session, or if no request on its connection waits.
    fn send_unasked(
        &mut self,
        outgoing: &Outgoing,
        is_event: bool,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<Option<u64>, Refusal> {
        if is_event || self.framing == Framing::Http && !self.endpoint.can_send(outgoing.conn) {
            return self.endpoint.send_event(outgoing, now, commands);
        }
        self.endpoint.send_message(outgoing, None, now, commands)
    }

    fn sender(&self) -> Sender<'p> {
        Sender {
            protocol: self.endpoint.protocol(),
            direction: self.endpoint.side(),
        }
    }

    /// Replaces the id of a message by a new one if it is a UUID.
    fn renamed(&mut self, message: &str) -> Result<String, String> {
        let sender = self.sender();
        let old = with_json(message, |root| {
            let id = sender.protocol.pair_id(root, sender.direction)?;
            let bytes = id.get("$bin").and_then(Node::text);
            let is_bytes = bytes.is_some();
            match Val::text(&bytes.or_else(|| id.text())?) {
                Val::Uuid(_) => Some(is_bytes),
                _ => None,
            }
        })?;
        let Some(is_bytes) = old else {
            return Ok(message.to_owned());
        };
        let fresh = self.id_gen.uuid();
        let id = if is_bytes {
            bytes_json(&fresh)
        } else {
            format!("\"{}\"", String::from_utf8_lossy(&uuid_text(&fresh)))
        };
        sender.with_id(message, &id)
    }

    /// Sends the answer of a rule. The answer to a call of a batch is sent with the answers to the other calls.
    fn send_reply(
        &mut self,
        job: &mut Job,
        reply: &Reply,
        mutation: &Mutation,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<(), String> {
        let sent = match (reply, job.part) {
            (Reply::Result(_) | Reply::Error { .. }, Some(_)) => {
                let answer = |peer_reply: PeerReply<'_>| {
                    self.part_done(job.part, (peer_reply, false), now, commands);
                };
                job.with_peer_reply(reply, answer)?;
                job.answered = true;
                return Ok(());
            }
            (Reply::Message(value), None) => {
                let mut says = Outgoing::new(job.request.conn, job.json(value)?);
                says.stream = job.request.stream;
                says.to = (self.sender()).exchange_of(&says.message, &job.request.message);
                Ok(says)
            }
            (Reply::Tell(..), _) | (_, None) => job.with_peer_reply(reply, |peer_reply| {
                self.endpoint.encode_reply(&job.request, peer_reply, now)
            })?,
            (_, Some(_)) => {
                return Err("a call of a batch is answered with result or error".into());
            }
        };
        if let (Reply::End(_, false), Err(_)) = (reply, &sent) {
            return Ok(());
        }
        let mut outgoing = sent.map_err(|e| e.to_string())?;
        if let Some(id) = &mutation.id {
            let sender = self.sender();
            let place = sender.place_of_id(&outgoing.message)?;
            outgoing.to = outgoing.message.get(place).map(str::to_owned);
            outgoing.message = sender.with_id(&outgoing.message, &job.json(id)?)?;
        }
        let is_event = matches!(reply, Reply::Message(value) if value.is_event());
        for _ in 0..=u8::from(mutation.twice) {
            if mutation.pretty && self.framing == Framing::Lines {
                let text = with_json(&outgoing.message, |root| {
                    let mut out = Vec::new();
                    json::write_lines(root, 0, &mut out);
                    out.push(b'\n');
                    out
                })?;
                self.endpoint.send_bytes(outgoing.conn, text, now, commands);
            } else if mutation.pretty {
                return Err(
                    "pretty: only messages that are lines can be spread over several".into(),
                );
            } else if is_event || matches!(reply, Reply::Tell(..)) {
                let sent = self.send_unasked(&outgoing, is_event, now, commands);
                sent.map_err(|e| e.to_string())?;
            } else {
                self.endpoint
                    .send_message(&outgoing, None, now, commands)
                    .map_err(|e| e.to_string())?;
            }
        }
        job.answered |= job.part.is_none();
        Ok(())
    }
}

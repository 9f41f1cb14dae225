//! The actions of a rule, carried out.

use super::Stub;
use super::dispatch::Job;
use crate::diff::Val;
use crate::encoding::json;
use crate::framing::Framing;
use crate::live::handler::Command;
use crate::live::script::value::{Fill, Value, call, with_json};
use crate::live::script::{Action, Bytes, Mutation, Reply};
use crate::protocol::peer::{Phrase, Says};
use crate::protocol::uuid_text;
use crate::tape::Node;

/// What a job waits for.
pub(super) enum Wait {
    Until(i64),
    For(u64),
    Told,
    Never,
}

impl Job {
    /// The other side has answered a message of this job.
    pub(super) fn hear(&mut self, index: u64, answer: String) {
        let mut calls = self.calls.iter_mut();
        match calls.find(|(call, _)| *call == Some(index)) {
            Some((_, heard)) => *heard = Some(answer),
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

    fn json(&self, value: &Value) -> Result<String, String> {
        value.fill(&self.fill())
    }

    fn text(&self, value: &Value) -> Result<String, String> {
        value.fill_text(&self.fill())
    }

    fn bytes(&self, bytes: &Bytes) -> Result<Vec<u8>, String> {
        bytes.fill(&self.fill())
    }
}

impl Stub<'_> {
    /// Does one thing; what has to be waited for before the next, if anything.
    pub(super) fn action(
        &mut self,
        job: &mut Job,
        action: &Action,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<Option<Wait>, String> {
        let conn = job.request.conn;
        match action {
            Action::Wait(time) => return Ok(Some(Wait::Until(now.saturating_add(*time)))),
            Action::Send(bytes) => {
                let bytes = job.bytes(bytes)?;
                self.endpoint.send(conn, bytes, now, commands);
                job.answered = true;
            }
            Action::Ask(method, params) => {
                let (method, params) = (job.text(method)?, job.json(params)?);
                let asked = self
                    .endpoint
                    .phrase(&job.request, Phrase::Ask(&method, &params), now);
                let asked = asked.and_then(|says| self.endpoint.say(&says, None, now, commands));
                if let Some(index) = asked.map_err(|e| e.to_string())? {
                    return Ok(Some(Wait::For(index)));
                }
            }
            Action::Call(message) => {
                let message = job.json(message)?;
                let says = match call(&message)? {
                    Some((method, params)) => {
                        let ask = Phrase::Ask(&method, &params);
                        self.endpoint.phrase(&job.request, ask, now)
                    }
                    None => Ok(Says::new(conn, self.renamed(&message)?)),
                };
                let asked = says.and_then(|says| self.endpoint.say(&says, None, now, commands));
                let index = asked.map_err(|e| e.to_string())?;
                if let Some(index) = index {
                    self.dispatcher.asked.insert(index, job.id);
                }
                job.calls.push((index, None));
            }
            Action::Await(n) => {
                if let Some((Some(index), None)) = job.calls.get(*n) {
                    return Ok(Some(Wait::For(*index)));
                }
            }
            Action::Hear(_) => return Ok(Some(Wait::Told)),
            Action::Say(reply, mutation) => self.send_reply(job, reply, mutation, now, commands)?,
            Action::Close => {
                self.endpoint.close(conn, now, commands);
                return Ok(Some(Wait::Never));
            }
            Action::Reset => {
                commands.push(Command::Reset(conn));
                return Ok(Some(Wait::Never));
            }
            Action::Exit(status) => {
                self.dispatcher.watch.exits(*status);
                commands.push(Command::Stop);
                return Ok(Some(Wait::Never));
            }
        }
        Ok(None)
    }

    /// A message with an id that was never used, where it is a UUID.
    fn renamed(&mut self, message: &str) -> Result<String, String> {
        let old = with_json(message, |root| {
            let id = root.get("id")?;
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
        let fresh = self.mint.uuid();
        let id = if is_bytes {
            format!("{{\"$bin\":\"{}\"}}", hex::encode(fresh))
        } else {
            format!("\"{}\"", String::from_utf8_lossy(&uuid_text(&fresh)))
        };
        with_id(message, &id)
    }

    /// A call of a batch has one answer, which goes out with those of the others.
    fn reply_of_part(
        &mut self,
        job: &mut Job,
        reply: &Reply,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<(), String> {
        match reply {
            Reply::Result(value) => {
                let value = job.json(value)?;
                self.part_done(job.part, Phrase::Result(&value), now, commands);
            }
            Reply::Error {
                code,
                message,
                data,
            } => {
                let code = code.as_ref().map(|code| job.text(code)).transpose()?;
                let data = data.as_ref().map(|data| job.json(data)).transpose()?;
                let error = Phrase::Error {
                    code: code.as_deref(),
                    message: &job.text(message)?,
                    data: data.as_deref(),
                };
                self.part_done(job.part, error, now, commands);
            }
            Reply::Tell(method, params) => {
                let (method, params) = (job.text(method)?, job.json(params)?);
                let tell = Phrase::Tell(&method, &params);
                let says = self.endpoint.phrase(&job.request, tell, now);
                let said = says.and_then(|says| self.endpoint.say(&says, None, now, commands));
                said.map_err(|e| e.to_string())?;
                return Ok(());
            }
            _ => return Err("a call of a batch is answered with result or error".into()),
        }
        job.answered = true;
        Ok(())
    }

    fn send_reply(
        &mut self,
        job: &mut Job,
        reply: &Reply,
        mutation: &Mutation,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<(), String> {
        if job.part.is_some() {
            return self.reply_of_part(job, reply, now, commands);
        }
        let request = &job.request;
        let mut say = |phrase: Phrase<'_>| self.endpoint.phrase(request, phrase, now);
        let said = match reply {
            Reply::Result(value) => say(Phrase::Result(&job.json(value)?)),
            Reply::Item(value) => say(Phrase::Item(&job.json(value)?)),
            Reply::Delta(value) => say(Phrase::Delta(&job.json(value)?)),
            Reply::Message(value) => Ok(Says::new(request.conn, job.json(value)?)),
            Reply::Tell(method, params) => {
                say(Phrase::Tell(&job.text(method)?, &job.json(params)?))
            }
            Reply::End(value, wanted) => {
                let value = value.as_ref().map(|value| job.json(value)).transpose()?;
                match say(Phrase::End(value.as_deref())) {
                    Err(_) if !wanted => return Ok(()),
                    said => said,
                }
            }
            Reply::Error {
                code,
                message,
                data,
            } => {
                let code = code.as_ref().map(|code| job.text(code)).transpose()?;
                let data = data.as_ref().map(|data| job.json(data)).transpose()?;
                say(Phrase::Error {
                    code: code.as_deref(),
                    message: &job.text(message)?,
                    data: data.as_deref(),
                })
            }
        };
        let mut says = said.map_err(|e| e.to_string())?;
        if let Some(id) = &mutation.id {
            let place = place_of_id(&says.message)?;
            says.to = says.message.get(place).map(str::to_owned);
            says.message = with_id(&says.message, &job.json(id)?)?;
        }
        for _ in 0..=u8::from(mutation.twice) {
            if mutation.pretty && self.framing == Framing::Lines {
                let text = with_json(&says.message, |root| {
                    let mut out = Vec::new();
                    pretty(root, 0, &mut out);
                    out.push(b'\n');
                    out
                })?;
                self.endpoint.send(says.conn, text, now, commands);
            } else if mutation.pretty {
                return Err(
                    "pretty: only messages that are lines can be spread over several".into(),
                );
            } else {
                self.endpoint
                    .say(&says, None, now, commands)
                    .map_err(|e| e.to_string())?;
            }
        }
        job.answered = true;
        Ok(())
    }
}

/// Where a message has its id.
fn place_of_id(message: &str) -> Result<std::ops::Range<usize>, String> {
    let place = with_json(message, |root| {
        let node = root.get("id").or_else(|| root.get("seq"));
        node.map(Node::span)
    })?;
    let place = place.ok_or("id: the answer has none")?;
    Ok(place.at()..place.at() + place.len as usize)
}

/// A message with another id.
fn with_id(message: &str, id: &str) -> Result<String, String> {
    let place = place_of_id(message)?;
    let parts = message.get(..place.start).zip(message.get(place.end..));
    let (before, after) = parts.ok_or("id: the answer has none")?;
    Ok(format!("{before}{id}{after}"))
}

/// JSON over several lines, as people print it.
fn pretty(node: Node<'_>, depth: usize, out: &mut Vec<u8>) {
    let line = |depth: usize, out: &mut Vec<u8>| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', 2 * depth));
    };
    let (open, close) = match (node.is_map(), node.is_array()) {
        (true, _) => (b'{', b'}'),
        (_, true) => (b'[', b']'),
        _ => return out.extend_from_slice(node.span().of(node.bytes())),
    };
    out.push(open);
    let mut first = true;
    let mut comma = |out: &mut Vec<u8>| {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        line(depth + 1, out);
    };
    if node.is_map() {
        for (key, value) in node.members() {
            comma(out);
            json::write_str(&key.text().unwrap_or_default(), out);
            out.extend_from_slice(b": ");
            pretty(value, depth + 1, out);
        }
    } else {
        for value in node.children() {
            comma(out);
            pretty(value, depth + 1, out);
        }
    }
    if !first {
        line(depth, out);
    }
    out.push(close);
}

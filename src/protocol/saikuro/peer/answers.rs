//! Builds the messages for replies, in either dialect.
//!
//! ```text
//!               real peers                                  document
//!   item        {id, ok, result, seq}                       {id, seq, data}
//!   end         {id, ok, seq, stream_control: end}          {id, seq, end: true}; a channel {id, close: true}
//!   error       {id, ok, error}, in a stream then abort     the same; in a stream {id, seq, error}
//!   result      {id, ok, result}; of a batch an array       the same; of a batch {id, ok, results: [answers]}
//! ```

use super::{SaikuroPeer, envelope, error, failure, flows, name_of, success};
use crate::error::{Refusal, Result};
use crate::protocol::make::{Object, array};
use crate::protocol::peer::{
    Outgoing, PeerReply, Request, RequestOutcome, as_json, as_object, json_of, with_json,
};
use crate::protocol::saikuro::message::field;
use crate::tape::Node;

/// The default code of an error.
const DEFAULT_CODE: &str = "ProviderError";

/// The request that a reply answers.
struct ReplyTarget<'r> {
    request: &'r Request,
    /// The id as it is spelled, and as it is stored.
    id: String,
    name: String,
    /// The request asks for a stream or a channel.
    flows: bool,
    document: bool,
}

impl SaikuroPeer {
    /// Builds the messages for a reply.
    pub(super) fn put(&mut self, to: &Request, reply: PeerReply<'_>) -> Result<Outgoing> {
        let conn = to.conn;
        if let PeerReply::Ask(target, args) | PeerReply::Tell(target, args) = reply {
            let kind = match reply {
                PeerReply::Ask(..) => "call",
                _ if target == "$log" => "log",
                _ => "cast",
            };
            let args = as_json(args, "args")?;
            let is_list = with_json(args, is_array) == Some(true);
            let args = if is_list {
                args.to_owned()
            } else {
                format!("[{args}]")
            };
            return Ok(Outgoing::new(
                conn,
                envelope(kind, target, &args, &mut self.id_gen),
            ));
        }
        let id = with_json(&to.message, |root| {
            let id = field(root, "id")?;
            let spelled = self.id_of(conn, root);
            Some((spelled.unwrap_or_else(|| json_of(id)), name_of(id)))
        });
        let (id, name) = id
            .flatten()
            .ok_or_else(|| Refusal::new("id", "a request to answer", "a message without an id"))?;
        let to = ReplyTarget {
            request: to,
            id,
            name,
            flows: matches!(to.kind.as_str(), "stream" | "channel"),
            document: self.is_document(conn),
        };
        let message = match reply {
            PeerReply::Result(value) => result(&to, as_json(value, "result")?)?,
            PeerReply::Error {
                code,
                message,
                data,
            } => return self.error(&to, code.unwrap_or(DEFAULT_CODE), message, data),
            PeerReply::Results(all) if to.request.kind == "batch" => return self.results(&to, all),
            PeerReply::Item(value) if to.flows => {
                let value = as_json(value, "item")?;
                let item = self.item(&to, value);
                return self.send_or_hold_all(&to, vec![item]);
            }
            PeerReply::End(value) if to.flows => {
                let value = value.map(|value| as_json(value, "end")).transpose()?;
                let mut all: Vec<String> = Vec::new();
                all.extend(value.map(|value| self.item(&to, value)));
                all.push(self.end(&to));
                return self.send_or_hold_all(&to, all);
            }
            _ if to.flows => return Err(reply.refused("result, item, end, error, ask or tell")),
            _ => {
                let wanted = "result, error, ask or tell: only streams and channels have items";
                return Err(reply.refused(wanted));
            }
        };
        Ok(Outgoing::new(conn, message))
    }

    /// Builds the answer to a batch. Real runtimes return null for a failed call, real providers refuse the whole
    /// batch.
    fn results(&mut self, to: &ReplyTarget<'_>, all: &[RequestOutcome]) -> Result<Outgoing> {
        let items = batch_items(to.request);
        if to.document {
            let mut ok = "true";
            let results = all.iter().zip(&items).map(|(one, (id, _))| match one {
                RequestOutcome::Result(value) => success(id).json("result", value).finish(),
                RequestOutcome::Message(answer) => answer.clone(),
                RequestOutcome::Nothing => success(id).json("result", "null").finish(),
                RequestOutcome::Error {
                    code,
                    message,
                    data,
                    ..
                } => {
                    ok = "false";
                    failure(
                        id,
                        code.as_deref().unwrap_or(DEFAULT_CODE),
                        message,
                        data.as_deref(),
                    )
                }
            });
            let results = array(&results.collect::<Vec<_>>());
            let answer = Object::default().json("id", &to.id).json("ok", ok);
            let answer = answer.json("results", &results).finish();
            return Ok(Outgoing::new(to.request.conn, answer));
        }
        let mut values = Vec::new();
        for (at, (one, (_, target))) in all.iter().zip(&items).enumerate() {
            values.push(match one {
                RequestOutcome::Result(value) => value.clone(),
                RequestOutcome::Error { code, message, .. } if !self.is_runtime => {
                    let details = Object::default().json("batch_index", &at.to_string());
                    let details = details.json("target", target).finish();
                    let code = code.as_deref().unwrap_or(DEFAULT_CODE);
                    return self.error(to, code, message, Some(&details));
                }
                _ => "null".to_owned(),
            });
        }
        let answer = success(&to.id).json("result", &array(&values)).finish();
        Ok(Outgoing::new(to.request.conn, answer))
    }

    fn item(&mut self, to: &ReplyTarget<'_>, value: &str) -> String {
        let seq = self.flows.next(to.request.conn, &to.name).to_string();
        if to.document {
            let item = Object::default().json("id", &to.id).json("seq", &seq);
            return item.json("data", value).finish();
        }
        success(&to.id)
            .json("result", value)
            .json("seq", &seq)
            .finish()
    }

    fn end(&mut self, to: &ReplyTarget<'_>) -> String {
        let conn = to.request.conn;
        if to.document && self.flows.is_channel(conn, &to.name) {
            let close = Object::default().json("id", &to.id);
            return close.json("close", "true").finish();
        }
        let seq = self.flows.next(conn, &to.name);
        if !to.document {
            return flows::end(&to.id, seq);
        }
        let end = Object::default().json("id", &to.id);
        end.json("seq", &seq.to_string())
            .json("end", "true")
            .finish()
    }

    fn error(
        &mut self,
        to: &ReplyTarget<'_>,
        code: &str,
        why: &str,
        data: Option<&str>,
    ) -> Result<Outgoing> {
        let conn = to.request.conn;
        let details = data.map(|data| as_object(data, "details")).transpose()?;
        if !to.flows {
            return Ok(Outgoing::new(conn, failure(&to.id, code, why, details)));
        }
        let seq = self.flows.next(conn, &to.name).to_string();
        if to.document {
            let frame = Object::default().json("id", &to.id).json("seq", &seq);
            let frame = frame.json("error", &error(code, why, details));
            return Ok(Outgoing::new(conn, frame.finish()));
        }
        // Real peers send two messages: the error, and the abort.
        let abort = Object::default().json("id", &to.id).json("ok", "false");
        let abort = abort.json("seq", &seq).text("stream_control", "abort");
        Ok(Outgoing::new(conn, failure(&to.id, code, why, details)).and(abort.finish()))
    }

    fn send_or_hold_all(&mut self, to: &ReplyTarget<'_>, all: Vec<String>) -> Result<Outgoing> {
        let conn = to.request.conn;
        let mut outgoing = Outgoing::new(conn, "");
        for message in all {
            match self.flows.send_or_hold(conn, &to.name, message)? {
                Some(message) if outgoing.message.is_empty() => outgoing.message = message,
                Some(message) => outgoing.then.push(message),
                None => {}
            }
        }
        Ok(outgoing)
    }
}

/// Returns id and target of each call of a batch.
fn batch_items(batch: &Request) -> Vec<(String, String)> {
    let items = with_json(&batch.message, |root| {
        let part = |item, name| field(item, name).map_or("null".to_owned(), json_of);
        let items = field(root, "batch_items").into_iter();
        let items = items.flat_map(Node::children);
        let items = items.map(|item| (part(item, "id"), part(item, "target")));
        items.collect()
    });
    items.unwrap_or_default()
}

fn is_array(node: Node<'_>) -> bool {
    node.is_array()
}

fn result(to: &ReplyTarget<'_>, value: &str) -> Result<String> {
    if to.request.kind != "batch" {
        return Ok(success(&to.id).json("result", value).finish());
    }
    let values = with_json(value, |value| {
        let values = value.is_array().then(|| value.children().map(json_of));
        values.map(Iterator::collect::<Vec<_>>)
    });
    let (values, items) = (values.flatten(), batch_items(to.request));
    let Some(values) = values.filter(|values| values.len() == items.len()) else {
        let wanted = format!("an array of {} results, one a call", items.len());
        return Err(Refusal::new("result", wanted, "something else"));
    };
    if !to.document {
        return Ok(success(&to.id).json("result", value).finish());
    }
    let results = items.iter().zip(&values);
    let results: Vec<String> = results
        .map(|((id, _), value)| success(id).json("result", value).finish())
        .collect();
    Ok(success(&to.id).json("results", &array(&results)).finish())
}

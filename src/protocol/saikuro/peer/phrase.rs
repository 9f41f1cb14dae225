//! What phrases become, in either dialect.
//!
//! ```text
//!               real peers                                  document
//!   item        {id, ok, result, seq}                       {id, seq, data}
//!   end         {id, ok, seq, stream_control: end}          {id, seq, end: true}; a channel {id, close: true}
//!   error       {id, ok, error}, in a stream then abort     the same; in a stream {id, seq, error}
//!   result      {id, ok, result}; of a batch an array       the same; of a batch {id, ok, results: [answers]}
//! ```

use super::{Side, envelope, error, flows, name_of, no, yes};
use crate::error::Refusal;
use crate::protocol::make::{Object, array};
use crate::protocol::peer::{Outcome, Phrase, Request, Says, as_json, as_object, json_of, look};
use crate::protocol::saikuro::message::field;
use crate::tape::Node;

/// The code of an error whose author chose none.
const USUAL: &str = "ProviderError";

/// Whom a phrase answers.
struct To<'r> {
    request: &'r Request,
    /// The id as it is spelled, and as it is kept.
    id: String,
    name: String,
    /// It asked for a stream or a channel.
    flows: bool,
    document: bool,
}

impl Side {
    /// Puts a phrase into words.
    pub(super) fn put(&mut self, to: &Request, phrase: Phrase<'_>) -> Result<Says, Refusal> {
        let conn = to.conn;
        if let Phrase::Ask(target, args) | Phrase::Tell(target, args) = phrase {
            let kind = match phrase {
                Phrase::Ask(..) => "call",
                _ if target == "$log" => "log",
                _ => "cast",
            };
            let args = as_json(args, "args")?;
            let is_list = look(args, is_array) == Some(true);
            let args = if is_list {
                args.to_owned()
            } else {
                format!("[{args}]")
            };
            return Ok(Says::new(
                conn,
                envelope(kind, target, &args, &mut self.mint),
            ));
        }
        let id = look(&to.message, |root| {
            let id = field(root, "id")?;
            let spelled = self.id_of(conn, root);
            Some((spelled.unwrap_or_else(|| json_of(id)), name_of(id)))
        });
        let (id, name) = id
            .flatten()
            .ok_or_else(|| Refusal::new("id", "a request to answer", "a message without an id"))?;
        let to = To {
            request: to,
            id,
            name,
            flows: matches!(to.kind.as_str(), "stream" | "channel"),
            document: self.is_document(conn),
        };
        let message = match phrase {
            Phrase::Result(value) => result(&to, as_json(value, "result")?)?,
            Phrase::Error {
                code,
                message,
                data,
            } => return self.error(&to, code.unwrap_or(USUAL), message, data),
            Phrase::Results(all) if to.request.kind == "batch" => return self.results(&to, all),
            Phrase::Item(value) if to.flows => {
                let value = as_json(value, "item")?;
                let item = self.item(&to, value);
                return self.said_or_held(&to, vec![item]);
            }
            Phrase::End(value) if to.flows => {
                let value = value.map(|value| as_json(value, "end")).transpose()?;
                let mut all: Vec<String> = Vec::new();
                all.extend(value.map(|value| self.item(&to, value)));
                all.push(self.end(&to));
                return self.said_or_held(&to, all);
            }
            _ if to.flows => return Err(phrase.refused("result, item, end, error, ask or tell")),
            _ => {
                let wanted = "result, error, ask or tell: only streams and channels have items";
                return Err(phrase.refused(wanted));
            }
        };
        Ok(Says::new(conn, message))
    }

    /// The answer to a batch. Real runtimes give null for a call that fails, real providers refuse the whole batch.
    fn results(&mut self, to: &To<'_>, all: &[Outcome]) -> Result<Says, Refusal> {
        let items = look(&to.request.message, |root| {
            let items = field(root, "batch_items").into_iter();
            let part = |item, name| field(item, name).map_or("null".to_owned(), json_of);
            let items = items.flat_map(Node::children);
            items
                .map(|item| (part(item, "id"), part(item, "target")))
                .collect::<Vec<_>>()
        });
        let items = items.unwrap_or_default();
        if to.document {
            let mut ok = "true";
            let results = all.iter().zip(&items).map(|(one, (id, _))| match one {
                Outcome::Result(value) => yes(id).json("result", value).finish(),
                Outcome::Nothing => yes(id).json("result", "null").finish(),
                Outcome::Error {
                    code,
                    message,
                    data,
                } => {
                    ok = "false";
                    no(
                        id,
                        code.as_deref().unwrap_or(USUAL),
                        message,
                        data.as_deref(),
                    )
                }
            });
            let results = array(&results.collect::<Vec<_>>());
            let answer = Object::default().json("id", &to.id).json("ok", ok);
            let answer = answer.json("results", &results).finish();
            return Ok(Says::new(to.request.conn, answer));
        }
        let mut values = Vec::new();
        for (at, (one, (_, target))) in all.iter().zip(&items).enumerate() {
            values.push(match one {
                Outcome::Result(value) => value.clone(),
                Outcome::Error { code, message, .. } if !self.is_runtime => {
                    let details = Object::default().json("batch_index", &at.to_string());
                    let details = details.json("target", target).finish();
                    let code = code.as_deref().unwrap_or(USUAL);
                    return self.error(to, code, message, Some(&details));
                }
                Outcome::Error { .. } | Outcome::Nothing => "null".to_owned(),
            });
        }
        let answer = yes(&to.id).json("result", &array(&values)).finish();
        Ok(Says::new(to.request.conn, answer))
    }

    fn item(&mut self, to: &To<'_>, value: &str) -> String {
        let seq = self.flows.next(to.request.conn, &to.name).to_string();
        if to.document {
            let item = Object::default().json("id", &to.id).json("seq", &seq);
            return item.json("data", value).finish();
        }
        yes(&to.id).json("result", value).json("seq", &seq).finish()
    }

    fn end(&mut self, to: &To<'_>) -> String {
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
        to: &To<'_>,
        code: &str,
        why: &str,
        data: Option<&str>,
    ) -> Result<Says, Refusal> {
        let conn = to.request.conn;
        let details = data.map(|data| as_object(data, "details")).transpose()?;
        if !to.flows {
            return Ok(Says::new(conn, no(&to.id, code, why, details)));
        }
        let seq = self.flows.next(conn, &to.name).to_string();
        if to.document {
            let frame = Object::default().json("id", &to.id).json("seq", &seq);
            let frame = frame.json("error", &error(code, why, details));
            return Ok(Says::new(conn, frame.finish()));
        }
        // Real peers say it in two: what went wrong, and that it is over.
        let abort = Object::default().json("id", &to.id).json("ok", "false");
        let abort = abort.json("seq", &seq).text("stream_control", "abort");
        Ok(Says::new(conn, no(&to.id, code, why, details)).and(abort.finish()))
    }

    fn said_or_held(&mut self, to: &To<'_>, all: Vec<String>) -> Result<Says, Refusal> {
        let conn = to.request.conn;
        let mut says = Says::new(conn, "");
        for message in all {
            match self.flows.or_hold(conn, &to.name, message)? {
                Some(message) if says.message.is_empty() => says.message = message,
                Some(message) => says.then.push(message),
                None => {}
            }
        }
        Ok(says)
    }
}

fn is_array(node: Node<'_>) -> bool {
    node.is_array()
}

fn result(to: &To<'_>, value: &str) -> Result<String, Refusal> {
    if to.request.kind != "batch" {
        return Ok(yes(&to.id).json("result", value).finish());
    }
    let values = look(value, |value| {
        let values = value.is_array().then(|| value.children().map(json_of));
        values.map(Iterator::collect::<Vec<_>>)
    });
    let ids = look(&to.request.message, |root| {
        let items = field(root, "batch_items");
        let items = items.into_iter().flat_map(Node::children);
        items
            .map(|item| field(item, "id").map_or("null".to_owned(), json_of))
            .collect::<Vec<_>>()
    });
    let (values, ids) = (values.flatten(), ids.unwrap_or_default());
    let Some(values) = values.filter(|values| values.len() == ids.len()) else {
        let wanted = format!("an array of {} results, one a call", ids.len());
        return Err(Refusal::new("result", wanted, "something else"));
    };
    if !to.document {
        return Ok(yes(&to.id).json("result", value).finish());
    }
    let results = ids.iter().zip(&values);
    let results: Vec<String> = results
        .map(|(id, value)| yes(id).json("result", value).finish())
        .collect();
    Ok(yes(&to.id).json("results", &array(&results)).finish())
}

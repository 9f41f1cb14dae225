//! What phrases become, and where they go: to the connection that the session has now, or none yet.

use super::server::{Server, subscribed};
use super::sessions::Open;
use super::{in_call, seq};
use crate::error::Refusal;
use crate::protocol::make::Object;
use crate::protocol::peer::{Phrase, Request, Says, as_json, as_object, json_of, look, with_about};
use crate::tape::Node;
use std::borrow::Cow;

/// The code of an error whose author chose none.
const USUAL: &str = "INTERNAL";
/// The same, of an error in answer to SUB: what real servers say of a topic that they do not have.
const UNKNOWN: &str = "TOPIC_NOT_FOUND";

impl Server {
    /// Puts a phrase into words.
    pub(super) fn put(&mut self, to: &Request, phrase: Phrase<'_>) -> Result<Says, Refusal> {
        let parts = look(&to.message, |root| {
            let trace = root.get("trace_id").filter(|t| t.is_string()).map(json_of);
            let topic = root.get("topic").and_then(Node::text);
            Some((seq(root)?, trace, topic.map(Cow::into_owned)))
        });
        let (number, trace, topic) = parts.flatten().ok_or_else(|| {
            Refusal::new("seq", "a request to answer", "a message without a number")
        })?;
        let session = self.session(to.conn);
        let (v, target) = (session.v, session.conn);
        let subscribed_to = |topic: &str| session.subscribers(topic);
        let events = match phrase {
            Phrase::Tell(topic, _) => subscribed_to(topic),
            _ => Vec::new(),
        };
        let goes_on = !matches!(session.opened(number), None | Some(Open::Call { .. }));
        let id = self.conns.entry(to.conn).session.clone();
        if self.cancelled.get(&(id, number)).is_some() && !matches!(phrase, Phrase::Tell(..)) {
            return Err(phrase.refused("nothing: the call was cancelled"));
        }
        let answer = |kind: &str| in_call(v, kind, number);
        // Real servers say whose trace it is in these alone.
        let traced = |object: Object| object.maybe("trace_id", trace.clone()).finish();
        let item = |name: &str, value: &str| traced(answer("STR").json(name, value));
        let event = |seq: i128, value: &str| in_call(v, "EVT", seq).json("data", value).finish();
        let subscribes = to.kind == "SUB";
        let all = match phrase {
            Phrase::Result(value) => {
                let value = as_json(value, "result")?;
                vec![match to.kind.as_str() {
                    "LST" => answer("LST").json("tools", value).finish(),
                    "SUB" if value == "null" => subscribed(v, number).finish(),
                    "SUB" => subscribed(v, number).json("output", value).finish(),
                    _ => traced(answer("RES").json("output", value)),
                }]
            }
            Phrase::Error {
                code,
                message,
                data,
            } => {
                let data = data.map(|data| as_object(data, "data")).transpose()?;
                let usual = if subscribes { UNKNOWN } else { USUAL };
                let no = answer("ERR").text("code", code.unwrap_or(usual));
                let no = no.text("message", message);
                let own = ["v", "kind", "seq", "code", "message"];
                vec![with_about(no, &own, data).finish()]
            }
            Phrase::Item(value) if subscribes => vec![event(number, as_json(value, "item")?)],
            Phrase::Item(value) => vec![item("data", as_json(value, "item")?)],
            Phrase::Delta(value) if !subscribes => vec![item("delta", as_json(value, "delta")?)],
            Phrase::End(value) if !subscribes => {
                let value = value.map(|value| as_json(value, "end")).transpose()?;
                let mut all: Vec<String> = Vec::new();
                all.extend(value.map(|value| item("data", value)));
                all.push(traced(answer("END")));
                all
            }
            Phrase::Tell(told, value) => {
                let value = as_json(value, "data")?;
                let own = subscribes && topic.as_deref() == Some(told) && goes_on;
                let numbers = if own { vec![number] } else { events };
                if numbers.is_empty() {
                    let wanted = "a topic that somebody has subscribed to";
                    return Err(Refusal::new("topic", wanted, format!("`{told}`")));
                }
                numbers.into_iter().map(|seq| event(seq, value)).collect()
            }
            _ => {
                return Err(phrase.refused(if subscribes {
                    "result, error, item or tell"
                } else {
                    "result, error, item, delta, end or tell"
                }));
            }
        };
        Ok(self.send(to.conn, target, all))
    }

    /// Frames for a session: what finds no connection is kept until there is one.
    fn send(&mut self, asked: u32, target: Option<u32>, all: Vec<String>) -> Says {
        let Some(conn) = target else {
            let session = self.session(asked);
            for frame in all {
                let parts = look(&frame, |root| {
                    let number = seq(root)?;
                    let is_event = root.get("kind").is_some_and(|k| k.is_text("EVT"));
                    Some((number, is_event))
                });
                if let Some((number, is_event)) = parts.flatten() {
                    if !is_event {
                        session.answered(number);
                    }
                    session.keep(number, frame);
                }
            }
            return Says::new(asked, "");
        };
        let mut all = all.into_iter();
        let first = Says::new(conn, all.next().unwrap_or_default());
        all.fold(first, Says::and)
    }
}

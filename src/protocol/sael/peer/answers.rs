//! Builds the frames for replies and selects their connection: the current one of the session, or none yet.

use super::server::{SaelServer, subscribed};
use super::sessions::OpenSeq;
use super::{in_call, seq};
use crate::error::{Refusal, Result};
use crate::protocol::make::Object;
use crate::protocol::peer::{
    Outgoing, PeerReply, Request, as_json, as_object, json_of, with_about, with_json,
};
use crate::tape::Node;
use std::borrow::Cow;

/// The default code of an error.
const DEFAULT_CODE: &str = "INTERNAL";
/// The default code of an error that answers SUB: real servers send it for an unknown topic.
const UNKNOWN_TOPIC: &str = "TOPIC_NOT_FOUND";

impl SaelServer {
    /// Builds the frames for a reply.
    pub(super) fn build_answer(&mut self, to: &Request, reply: PeerReply<'_>) -> Result<Outgoing> {
        let parts = with_json(&to.message, |root| {
            let trace = root.get("trace_id").filter(|t| t.is_string()).map(json_of);
            let topic = root.get("topic").and_then(Node::text);
            Some((seq(root)?, trace, topic.map(Cow::into_owned)))
        });
        let (number, trace, topic) = parts.flatten().ok_or_else(|| {
            Refusal::new("seq", "a request to answer", "a message without a number")
        })?;
        let session = self.session(to.conn);
        let (v, target) = (session.v, session.conn);
        let events = match reply {
            PeerReply::Tell(topic, _) => session.subscribers(topic),
            _ => Vec::new(),
        };
        let goes_on = !matches!(session.opened(number), None | Some(OpenSeq::Call { .. }));
        let id = self.conns.entry(to.conn).session.clone();
        if self.cancelled.get(&(id, number)).is_some() && !matches!(reply, PeerReply::Tell(..)) {
            return Err(reply.refused("nothing: the call was cancelled"));
        }
        let answer = |kind: &str| in_call(v, kind, number);
        // Real servers send the trace id only in these frames.
        let traced = |object: Object| object.optional("trace_id", trace.clone()).finish();
        let item = |name: &str, value: &str| traced(answer("STR").json(name, value));
        let event = |seq: i128, value: &str| in_call(v, "EVT", seq).json("data", value).finish();
        let subscribes = to.kind == "SUB";
        let all = match reply {
            PeerReply::Result(value) => {
                let value = as_json(value, "result")?;
                vec![match to.kind.as_str() {
                    "LST" => answer("LST").json("tools", value).finish(),
                    "SUB" if value == "null" => subscribed(v, number).finish(),
                    "SUB" => subscribed(v, number).json("output", value).finish(),
                    _ => traced(answer("RES").json("output", value)),
                }]
            }
            PeerReply::Error {
                code,
                message,
                data,
            } => {
                let data = data.map(|data| as_object(data, "data")).transpose()?;
                let usual = if subscribes {
                    UNKNOWN_TOPIC
                } else {
                    DEFAULT_CODE
                };
                let refusal = answer("ERR").text("code", code.unwrap_or(usual));
                let refusal = refusal.text("message", message);
                let own = ["v", "kind", "seq", "code", "message"];
                vec![with_about(refusal, &own, data).finish()]
            }
            PeerReply::Item(value) if subscribes => vec![event(number, as_json(value, "item")?)],
            PeerReply::Item(value) => vec![item("data", as_json(value, "item")?)],
            PeerReply::Delta(value) if !subscribes => vec![item("delta", as_json(value, "delta")?)],
            PeerReply::End(value) if !subscribes => {
                let value = value.map(|value| as_json(value, "end")).transpose()?;
                let value = value.map(|value| item("data", value));
                value.into_iter().chain([traced(answer("END"))]).collect()
            }
            PeerReply::Tell(sent, value) => {
                let value = as_json(value, "data")?;
                let own = subscribes && topic.as_deref() == Some(sent) && goes_on;
                let numbers = if own { vec![number] } else { events };
                if numbers.is_empty() {
                    let wanted = "a topic that somebody has subscribed to";
                    return Err(Refusal::new("topic", wanted, format!("`{sent}`")));
                }
                numbers.into_iter().map(|seq| event(seq, value)).collect()
            }
            _ => {
                return Err(reply.refused(if subscribes {
                    "result, error, item or tell"
                } else {
                    "result, error, item, delta, end or tell"
                }));
            }
        };
        Ok(self.send(to.conn, target, all))
    }

    /// Sends frames for a session. Without a connection they are stored until there is one.
    fn send(&mut self, asked: u32, target: Option<u32>, all: Vec<String>) -> Outgoing {
        let Some(conn) = target else {
            let session = self.session(asked);
            for frame in all {
                let parts = with_json(&frame, |root| {
                    let number = seq(root)?;
                    let is_event = root.get("kind").is_some_and(|k| k.is_text("EVT"));
                    Some((number, is_event))
                });
                if let Some((number, is_event)) = parts.flatten() {
                    if !is_event {
                        session.answered(number);
                    }
                    session.store(number, frame);
                }
            }
            return Outgoing::new(asked, "");
        };
        let mut all = all.into_iter();
        let first = Outgoing::new(conn, all.next().unwrap_or_default());
        all.fold(first, Outgoing::and)
    }
}

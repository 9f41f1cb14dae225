//! The peers of telequick. There is no handshake and no heartbeat: a peer only answers in the right struct.
//!
//! ```text
//!   Terminate, TerminateRequest   + result {…}      --> Terminate, TerminateResponse, same length mode
//!                                 + error 3: busy   --> the same, with error_code and error_message if it has them
//!   StreamEvents                  + item {…}        --> StreamEvents, CallEvent      exclusive, as events
//!   anything                      + tell AudioFrame --> AudioFrame, numbered from 0  and audio always are
//! ```
//!
//! Absent fields are zero, with these exceptions: a field that is marked as generated has the value of the request,
//! `timestamp_ms` is now, and `sequence_number` is the next of its call. Audio ends with `tell AudioFrame
//! {"end_of_stream":true}`.

#[cfg(test)]
mod tests;

use super::schema::{self, FieldMark, RpcMethod, Schema, fixed, label, member, name};
use crate::encoding::serde_envelope::{self as envelope, FIELDS};
use crate::error::{Refusal, Result};
use crate::framing::LengthMode;
use crate::protocol::make::text;
use crate::protocol::peer::{
    MAX_ENTRIES, Outgoing, Peer, PeerReply, RecentEntries, Request, as_object, json_of, with_json,
};
use crate::protocol::schema::Fresh;
use crate::protocol::session::Seen;
use crate::tape::Node;

/// The default error of an answer.
const DEFAULT_CODE: &str = "ERR_INTERNAL_ERROR";
/// The outcome in an answer with an error.
const FAILED: &str = "FAILED";
const MILLISECOND: i64 = 1_000_000;

/// Either side: client and gateway send audio in the same way, and only one of them receives requests.
pub(super) struct TelequickPeer<'s> {
    schema: &'s Schema,
    /// The number of the next audio frame, by connection and call.
    next: RecentEntries<(u32, String), u64>,
}

/// The facts of the answered request.
struct ResolvedRequest<'s> {
    method: Option<&'s RpcMethod>,
    /// The id in the request: some methods have several.
    method_id: Option<u32>,
    length_mode: Option<String>,
    /// The fields, each by name in JSON.
    fields: Vec<(String, String)>,
}

impl ResolvedRequest<'_> {
    /// Returns the values before the answer's envelope: those of the request.
    fn head(&self) -> (Option<u32>, Option<&str>) {
        (self.method_id, self.length_mode.as_deref())
    }

    fn field(&self, name: &str) -> Option<&String> {
        value_of(&self.fields, name)
    }
}

impl<'s> TelequickPeer<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        Self {
            schema,
            next: RecentEntries::with_capacity(MAX_ENTRIES),
        }
    }

    fn name(&self, method: &RpcMethod) -> &'s str {
        self.schema.types.name(method.name)
    }

    fn read_request(&self, to: &Request) -> ResolvedRequest<'s> {
        let parts = with_json(&to.message, |root| {
            let id = member(root, label::METHOD_ID).and_then(Node::as_i128);
            let text = |name| Some(member(root, name)?.text()?.into_owned());
            let fields = member(root, FIELDS).map(named).unwrap_or_default();
            ((id, text(label::STRUCT), text(label::LENGTH_MODE)), fields)
        });
        let ((id, layout, length_mode), fields) = parts.unwrap_or_default();
        let schema = self.schema;
        let method_id = id.and_then(|id| u32::try_from(id).ok());
        // A bare envelope has no method id; its struct may identify the method.
        let by_struct = || {
            let layout = schema.struct_named(&layout?)?;
            let mut methods = schema.methods.iter();
            methods.find(|method| method.input == Some(layout))
        };
        let method = match id {
            Some(_) => method_id.and_then(|id| schema.method(id)),
            None => by_struct(),
        };
        ResolvedRequest {
            method,
            method_id,
            length_mode,
            fields,
        }
    }

    fn has(&self, layout: u32, name: &str) -> bool {
        let fields = self
            .schema
            .types
            .layout(layout)
            .map(|layout| &layout.fields);
        let mut fields = fields.into_iter().flatten();
        fields.any(|field| self.schema.types.name(field.name) == name)
    }

    /// Builds a message of a method from the given fields (by name, in JSON), the default ones, and those that follow
    /// from the request.
    fn message(
        &self,
        method: &RpcMethod,
        asked: &ResolvedRequest<'_>,
        (id, length_mode): (Option<u32>, Option<&str>),
        given: &[(String, String)],
        usual: &[(&str, String)],
        now: i64,
    ) -> Result<String> {
        let (schema, layout) = (self.schema, method.output);
        for (key, _) in given {
            schema::check_field(schema, layout, key)?;
        }
        let owner = schema.struct_name(layout);
        let fields = schema::fields(schema, layout, |_, name| {
            let usual = || usual.iter().find(|(key, _)| *key == name).map(|(_, v)| v);
            let reported = value_of(given, name).or_else(usual).cloned();
            Ok(reported.or_else(|| self.derived_value(owner, name, asked, now)))
        })?;
        self.fits(layout, &fields)?;
        let head = (id.unwrap_or(method.id), length_mode);
        Ok(schema::message(schema, method, head, layout, &fields))
    }

    /// Returns a field that follows from the request, or from the time.
    fn derived_value(
        &self,
        owner: &str,
        name: &str,
        asked: &ResolvedRequest<'_>,
        now: i64,
    ) -> Option<String> {
        let marks = || self.schema.marks(owner, name);
        let is_volatile = || marks().any(|mark| *mark == FieldMark::Volatile);
        marks().find_map(|mark| match mark {
            // A volatile time is that of the message; other times belong to the content.
            FieldMark::Generated(_, Fresh::Time) if is_volatile() => Some(milliseconds(now)),
            FieldMark::Generated(_, Fresh::Time) => None,
            FieldMark::Generated(..) => asked.field(name).cloned(),
            _ => None,
        })
    }

    /// Checks that fields can be written as they are given.
    fn fits(&self, layout: u32, fields: &str) -> Result<()> {
        let written = with_json(fields, |fields| {
            let versions = envelope::versions(fields, (0, 0))?;
            let types = &self.schema.types;
            envelope::write(types, layout, versions, fields, None, &mut Vec::new())
        });
        written.unwrap_or(Ok(()))
    }

    /// Finds the method of a pushed message: by its own name, or by that of its struct.
    fn find_pushed_method(&self, name: &str) -> Result<&'s RpcMethod> {
        let layout = self.schema.struct_named(name);
        let pushes = |method: &&RpcMethod| method.streaming || method.input.is_none();
        let is_meant =
            |method: &&RpcMethod| self.name(method) == name || Some(method.output) == layout;
        let mut all = self.schema.methods.iter().filter(pushes);
        all.find(is_meant).ok_or_else(|| {
            let all = self.schema.methods.iter().filter(pushes);
            let names: Vec<&str> = all.map(|method| self.name(method)).collect();
            let wanted = format!("what is pushed: {}", names.join(" "));
            Refusal::new("tell", wanted, format!("`{name}`"))
        })
    }

    fn push(
        &mut self,
        conn: u32,
        method: &RpcMethod,
        value: &str,
        asked: &ResolvedRequest<'_>,
        now: i64,
    ) -> Result<String> {
        let given = members(value, fixed(FIELDS))?;
        let call = value_of(&given, name::CALL).or_else(|| asked.field(name::CALL));
        let key = (conn, call.cloned().unwrap_or_default());
        let next = self.next.get(&key).copied().unwrap_or_default();
        let counts =
            self.has(method.output, name::NUMBER) && value_of(&given, name::NUMBER).is_none();
        let usual = [(name::NUMBER, next.to_string())];
        let id = asked.method_id.filter(|_| asked.method == Some(method));
        let head = (id, Some(LengthMode::Exclusive.name()));
        let message = self.message(method, asked, head, &given, &usual, now)?;
        if counts {
            self.next.insert(key, next.saturating_add(1));
        }
        Ok(message)
    }

    fn error(
        &self,
        asked: &ResolvedRequest<'_>,
        method: &RpcMethod,
        code: Option<&str>,
        why: &str,
        data: Option<&str>,
        now: i64,
    ) -> Result<String> {
        let layout = method.output;
        if !self.has(layout, name::WHY) {
            let got = format!("{}, whose answer has no place for one", self.name(method));
            return Err(Refusal::new("error", "a method that can fail", got));
        }
        let mut given = vec![(name::WHY.to_owned(), text(why))];
        if self.has(layout, name::ERROR) {
            let code = code.unwrap_or(DEFAULT_CODE);
            let code = match code.parse::<i32>() {
                Ok(number) => number.to_string(),
                Err(_) => text(code),
            };
            given.push((name::ERROR.into(), code));
        } else if let Some(code) = code {
            let got = format!("`{code}`: {} has none", self.schema.struct_name(layout));
            return Err(Refusal::new("code", "nothing", got));
        }
        given.extend(members(data.unwrap_or("{}"), "data")?);
        let usual = [("status", text(FAILED))];
        self.message(method, asked, asked.head(), &given, &usual, now)
    }
}

impl Peer for TelequickPeer<'_> {
    fn sent(&mut self, seen: &Seen<'_>, _: i64) {
        let fields = seen.root().and_then(|root| member(root, FIELDS));
        let number = fields.and_then(|fields| fields.get(name::NUMBER)?.as_i128());
        let call = fields.and_then(|fields| fields.get(name::CALL));
        let number = number.and_then(|number| u64::try_from(number).ok());
        if let Some((call, number)) = call.zip(number) {
            let key = (seen.origin.conn.unwrap_or_default(), json_of(call));
            let next = self.next.get(&key).copied().unwrap_or_default();
            self.next.insert(key, next.max(number.saturating_add(1)));
        }
    }

    fn closed(&mut self, conn: u32, _: i64) {
        self.next.retain(|key, _| key.0 != conn);
    }

    fn encode_reply(&mut self, to: &Request, reply: PeerReply<'_>, now: i64) -> Result<Outgoing> {
        let asked = self.read_request(to);
        if let PeerReply::Tell(name, value) = reply {
            let method = self.find_pushed_method(name)?;
            let message = self.push(to.conn, method, value, &asked, now)?;
            return Ok(Outgoing::new(to.conn, message));
        }
        let Some(method) = asked.method else {
            let wanted = "a request of a method that the schema has";
            return Err(Refusal::new("reply", wanted, to.kind.clone()));
        };
        let message = match reply {
            PeerReply::Item(value) if method.streaming => {
                self.push(to.conn, method, value, &asked, now)?
            }
            _ if method.streaming || method.input.is_none() => {
                return Err(reply.refused("item or tell: it is pushed, and has no end"));
            }
            PeerReply::Result(value) => {
                let value = if value.trim() == "null" { "{}" } else { value };
                let given = members(value, "result")?;
                self.message(method, &asked, asked.head(), &given, &[], now)?
            }
            PeerReply::Error {
                code,
                message,
                data,
            } => self.error(&asked, method, code, message, data, now)?,
            _ => return Err(reply.refused("result, error or tell: it has one answer")),
        };
        Ok(Outgoing::new(to.conn, message))
    }
}

/// Returns the members of a JSON object as text.
fn members(value: &str, place: &'static str) -> Result<Vec<(String, String)>> {
    let value = as_object(value, place)?;
    Ok(with_json(value, named).unwrap_or_default())
}

fn named(object: Node<'_>) -> Vec<(String, String)> {
    let members = object.members();
    let named = members.filter_map(|(key, value)| Some((key.text()?.into_owned(), json_of(value))));
    named.collect()
}

/// Returns the value of a name; for a repeated name, the last.
fn value_of<'m>(members: &'m [(String, String)], name: &str) -> Option<&'m String> {
    let mut members = members.iter().rev();
    members.find(|(key, _)| key == name).map(|(_, value)| value)
}

fn milliseconds(now: i64) -> String {
    now.div_euclid(MILLISECOND).to_string()
}

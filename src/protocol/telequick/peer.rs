//! The active half: there is no handshake and no heartbeat, so that all there is to do is to answer in the right struct.
//!
//! ```text
//!   Terminate, TerminateRequest   + result {…}      --> Terminate, TerminateResponse, counted as the request was
//!                                 + error 3: busy   --> the same, error_code and error_message, where it has them
//!   StreamEvents                  + item {…}        --> StreamEvents, CallEvent      counted exclusively, as events
//!   anything                      + tell AudioFrame --> AudioFrame, numbered from 0  and audio always are
//! ```
//!
//! Fields that are not given are zero, but for these: what is marked as generated is the request's, `timestamp_ms` is now,
//! `sequence_number` is the next of its call. Audio ends with `tell AudioFrame {"end_of_stream":true}`.

#[cfg(test)]
mod tests;

use super::schema::{self, Mark, Method, Schema, name};
use crate::encoding::serde_envelope as envelope;
use crate::error::Refusal;
use crate::framing::LengthMode;
use crate::protocol::make::text;
use crate::protocol::peer::{MOST, Peer, Phrase, Recent, Request, Says, as_object, json_of, look};
use crate::protocol::schema::Fresh;
use crate::protocol::session::Seen;
use crate::tape::Node;

/// The error of an answer whose author chose none.
const USUAL: &str = "ERR_INTERNAL_ERROR";
/// How an answer that says no calls what came of it.
const FAILED: &str = "FAILED";
const MILLISECOND: i64 = 1_000_000;

/// Either side: a client and a gateway say audio alike, and only one of them is asked.
pub(super) struct Side<'s> {
    schema: &'s Schema,
    /// The number of the next audio frame, by connection and call.
    next: Recent<(u32, String), u64>,
}

/// What is known of the request that is answered.
struct Asked<'s> {
    method: Option<&'s Method>,
    /// The id that it was asked by: some methods have several.
    method_id: Option<u32>,
    length_mode: Option<String>,
    /// Its fields, each by name in JSON.
    fields: Vec<(String, String)>,
}

impl Asked<'_> {
    /// What stands before an answer: the same as before the request.
    fn head(&self) -> (Option<u32>, Option<&str>) {
        (self.method_id, self.length_mode.as_deref())
    }

    fn field(&self, name: &str) -> Option<&String> {
        value_of(&self.fields, name)
    }
}

impl<'s> Side<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        Self {
            schema,
            next: Recent::with_room(MOST),
        }
    }

    fn name(&self, method: &Method) -> &'s str {
        self.schema.types.name(method.name)
    }

    fn asked(&self, to: &Request) -> Asked<'s> {
        let parts = look(&to.message, |root| {
            let id = root.get("method_id").and_then(Node::as_i128);
            let text = |name| Some(root.get(name)?.text()?.into_owned());
            let fields = root.get("fields").map(named).unwrap_or_default();
            ((id, text("struct"), text("length_mode")), fields)
        });
        let ((id, layout, length_mode), fields) = parts.unwrap_or_default();
        let schema = self.schema;
        let method_id = id.and_then(|id| u32::try_from(id).ok());
        // An envelope alone does not say its method; its struct may.
        let by_struct = || {
            let layout = schema.struct_named(&layout?)?;
            let mut methods = schema.methods.iter();
            methods.find(|method| method.input == Some(layout))
        };
        let method = match id {
            Some(_) => method_id.and_then(|id| schema.method(id)),
            None => by_struct(),
        };
        Asked {
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

    /// A message of a method: the fields that are given, each by name in JSON, the usual ones, and those that follow from
    /// the request.
    fn message(
        &self,
        method: &Method,
        asked: &Asked<'_>,
        (id, length_mode): (Option<u32>, Option<&str>),
        given: &[(String, String)],
        usual: &[(&str, String)],
        now: i64,
    ) -> Result<String, Refusal> {
        let (schema, layout) = (self.schema, method.output);
        for (key, _) in given {
            schema::check_field(schema, layout, key)?;
        }
        let owner = schema.struct_name(layout);
        let fields = schema::fields(schema, layout, |_, name| {
            let usual = || usual.iter().find(|(key, _)| *key == name).map(|(_, v)| v);
            let told = value_of(given, name).or_else(usual).cloned();
            Ok(told.or_else(|| self.follows(owner, name, asked, now)))
        })?;
        self.fits(layout, &fields)?;
        let head = (id.unwrap_or(method.id), length_mode);
        Ok(schema::message(schema, method, head, layout, &fields))
    }

    /// A field that follows from the request, or from the time.
    fn follows(&self, owner: &str, name: &str, asked: &Asked<'_>, now: i64) -> Option<String> {
        let marks = || self.schema.marks(owner, name);
        let is_volatile = || marks().any(|mark| *mark == Mark::Volatile);
        marks().find_map(|mark| match mark {
            // A time that is volatile is that of the message; others are those of what it tells.
            Mark::Generated(_, Fresh::Time) if is_volatile() => Some(milliseconds(now)),
            Mark::Generated(_, Fresh::Time) => None,
            Mark::Generated(..) => asked.field(name).cloned(),
            _ => None,
        })
    }

    /// Whether fields can be written as they are given.
    fn fits(&self, layout: u32, fields: &str) -> Result<(), Refusal> {
        let written = look(fields, |fields| {
            let versions = envelope::versions(fields, (0, 0))?;
            let types = &self.schema.types;
            envelope::write(types, layout, versions, fields, None, &mut Vec::new())
        });
        written.unwrap_or(Ok(()))
    }

    /// The method that pushes what is told: by its own name, or by that of its struct.
    fn pushed(&self, name: &str) -> Result<&'s Method, Refusal> {
        let layout = self.schema.struct_named(name);
        let pushes = |method: &&Method| method.streaming || method.input.is_none();
        let is_meant =
            |method: &&Method| self.name(method) == name || Some(method.output) == layout;
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
        method: &Method,
        value: &str,
        asked: &Asked<'_>,
        now: i64,
    ) -> Result<String, Refusal> {
        let given = members(value, "fields")?;
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
            self.next.put(key, next.saturating_add(1));
        }
        Ok(message)
    }

    fn error(
        &self,
        asked: &Asked<'_>,
        method: &Method,
        code: Option<&str>,
        why: &str,
        data: Option<&str>,
        now: i64,
    ) -> Result<String, Refusal> {
        let layout = method.output;
        if !self.has(layout, name::WHY) {
            let got = format!("{}, whose answer has no place for one", self.name(method));
            return Err(Refusal::new("error", "a method that can fail", got));
        }
        let mut given = vec![(name::WHY.to_owned(), text(why))];
        if self.has(layout, name::ERROR) {
            let code = code.unwrap_or(USUAL);
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

impl Peer for Side<'_> {
    fn said(&mut self, seen: &Seen<'_>, _: i64) {
        let fields = seen.root().and_then(|root| root.get("fields"));
        let number = fields.and_then(|fields| fields.get(name::NUMBER)?.as_i128());
        let call = fields.and_then(|fields| fields.get(name::CALL));
        let number = number.and_then(|number| u64::try_from(number).ok());
        if let Some((call, number)) = call.zip(number) {
            let key = (seen.origin.conn.unwrap_or_default(), json_of(call));
            let next = self.next.get(&key).copied().unwrap_or_default();
            self.next.put(key, next.max(number.saturating_add(1)));
        }
    }

    fn closed(&mut self, conn: u32, _: i64) {
        self.next.retain(|key, _| key.0 != conn);
    }

    fn phrase(&mut self, to: &Request, phrase: Phrase<'_>, now: i64) -> Result<Says, Refusal> {
        let asked = self.asked(to);
        if let Phrase::Tell(name, value) = phrase {
            let method = self.pushed(name)?;
            let message = self.push(to.conn, method, value, &asked, now)?;
            return Ok(Says::new(to.conn, message));
        }
        let Some(method) = asked.method else {
            let wanted = "a request of a method that the schema has";
            return Err(Refusal::new("phrase", wanted, to.kind.clone()));
        };
        let message = match phrase {
            Phrase::Item(value) if method.streaming => {
                self.push(to.conn, method, value, &asked, now)?
            }
            _ if method.streaming || method.input.is_none() => {
                return Err(phrase.refused("item or tell: it is pushed, and has no end"));
            }
            Phrase::Result(value) => {
                let value = if value.trim() == "null" { "{}" } else { value };
                let given = members(value, "result")?;
                self.message(method, &asked, asked.head(), &given, &[], now)?
            }
            Phrase::Error {
                code,
                message,
                data,
            } => self.error(&asked, method, code, message, data, now)?,
            _ => return Err(phrase.refused("result, error or tell: it has one answer")),
        };
        Ok(Says::new(to.conn, message))
    }
}

/// A JSON object's members, as text.
fn members(value: &str, place: &'static str) -> Result<Vec<(String, String)>, Refusal> {
    let value = as_object(value, place)?;
    Ok(look(value, named).unwrap_or_default())
}

fn named(object: Node<'_>) -> Vec<(String, String)> {
    let members = object.members();
    let named = members.filter_map(|(key, value)| Some((key.text()?.into_owned(), json_of(value))));
    named.collect()
}

/// The value of a name; of a repeated one, the last.
fn value_of<'m>(members: &'m [(String, String)], name: &str) -> Option<&'m String> {
    let mut members = members.iter().rev();
    members.find(|(key, _)| key == name).map(|(_, value)| value)
}

fn milliseconds(now: i64) -> String {
    now.div_euclid(MILLISECOND).to_string()
}

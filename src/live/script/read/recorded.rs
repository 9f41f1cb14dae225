//! Reads the parts of a script that come from a recording: requests, hellos, steps, and messages of which values are
//! replaced.

use super::{Read, ScriptReader};
use crate::framing::Framing;
use crate::live::codec::ServedSessions;
use crate::live::script::request::{RequestForm, RequestPattern};
use crate::live::script::template::{Replacement, Template, ValueSource};
use crate::live::script::value::OpenValue;
use crate::live::script::{AwaitedMessage, AwaitedRequest, HelloReply, Reply, ScriptAction};
use crate::path::Path;
use crate::toml_text::{Item, Key};
use std::sync::Arc;

/// The keys of a hello.
const HELLO: [&str; 4] = ["to", "message", "before", "then"];
/// The keys of a request.
const REQUEST: [&str; 7] = [
    "index",
    "json",
    "kind",
    "subject",
    "packed",
    "generated",
    "secret",
];
/// The keys of a step.
const STEP: [&str; 9] = [
    "wait", "message", "call", "answer", "until", "after", "ended", "raw", "close",
];
/// The keys of a message that is waited for.
const UNTIL: [&str; 3] = ["kind", "path", "request"];
/// The keys of a recorded request that is waited for.
const AFTER: [&str; 2] = ["request", "most"];
/// The keys of a recorded message beside its text.
pub(super) const TEMPLATE: [&str; 2] = ["fill", "event"];
/// The keys of the sessions over HTTP.
const SESSIONS: [&str; 6] = ["names", "stream", "delete", "events", "accepts", "notified"];
/// The keys of a value that is replaced.
const FILL: [&str; 6] = ["at", "key", "from", "answer", "call", "keeps_form"];

impl ScriptReader<'_> {
    pub(super) fn hello(&self, item: &Item<'_>) -> Read<HelloReply> {
        let (mut to, mut message) = (None, None);
        let (mut before, mut then) = (Vec::new(), Vec::new());
        for (key, item) in self.toml.entries("hello", item)? {
            match key.get_ref().as_ref() {
                "to" => to = Some(self.toml.string("to", item)?.to_owned()),
                "message" => message = self.messages("message", item)?.into_iter().next(),
                "before" => before = self.messages("before", item)?,
                "then" => {
                    let steps = self.list("then", item)?.into_iter();
                    then = steps.map(|item| self.step(item)).collect::<Read<_>>()?;
                }
                _ => return Err(self.toml.unknown_key(key, &HELLO)),
            }
        }
        let is_empty = message.is_none() && then.is_empty();
        let to = to.filter(|_| !is_empty);
        let wanted = "a table with to, and message or then";
        Ok(HelloReply {
            to: to.ok_or_else(|| self.toml.wrong_value("hello", item, wanted))?,
            message,
            before,
            then: then.into(),
        })
    }

    /// A message as JSON text, or a table with one and its index in the recording.
    pub(super) fn request(&self, item: &Item<'_>) -> Read<(RequestPattern, Option<u64>)> {
        let (mut form, mut message, mut index) = (RequestForm::default(), "", None);
        let (mut kind, mut subject) = (None, None);
        if let Some(text) = item.get_ref().as_str() {
            message = text;
        } else {
            for (key, item) in self.toml.entries("request", item)? {
                let word: &str = key.get_ref();
                match word {
                    "index" => {
                        let number = item.get_ref().as_integer();
                        let number = number.and_then(|n| n.as_str().parse().ok());
                        let number =
                            number.ok_or_else(|| self.toml.wrong_value(word, item, "a number"))?;
                        index = Some(number);
                    }
                    "json" => message = self.toml.string(word, item)?,
                    "kind" => kind = Some(self.toml.string(word, item)?.to_owned()),
                    "subject" => subject = Some(self.toml.string(word, item)?.to_owned()),
                    "packed" => form.packed = self.toml.bool(word, item)?,
                    "generated" => form.generated = self.paths(word, item)?,
                    "secret" => form.secret = self.paths(word, item)?,
                    _ => return Err(self.toml.unknown_key(key, &REQUEST)),
                }
            }
        }
        form.kind = kind.map(|kind| (kind, subject));
        let request = RequestPattern {
            message: message.into(),
            form: Arc::new(form),
        };
        let framing = self.protocol.descriptor().framings.first();
        let framing = framing.copied().unwrap_or(Framing::Message);
        let stored = request.stored(self.protocol, framing, None);
        stored.map_err(|why| self.toml.error(&item.span(), format!("request: {why}")))?;
        Ok((request, index))
    }

    fn paths(&self, word: &str, item: &Item<'_>) -> Read<Vec<Path>> {
        let items = self.list(word, item)?.into_iter();
        items.map(|item| self.path(word, item)).collect()
    }

    fn path(&self, word: &str, item: &Item<'_>) -> Read<Path> {
        let path = self.toml.string(word, item)?.parse::<Path>();
        path.map_err(|_| {
            self.toml
                .wrong_value(word, item, "a path such as \"params.id\"")
        })
    }

    fn index(&self, word: &str, item: &Item<'_>) -> Read<usize> {
        let number = item.get_ref().as_integer();
        let number = number.and_then(|n| n.as_str().parse().ok());
        number.ok_or_else(|| {
            self.toml
                .wrong_value(word, item, "the number of a call, from 0")
        })
    }

    /// One step of an answer.
    pub(super) fn step(&self, item: &Item<'_>) -> Read<ScriptAction> {
        let wanted =
            "a table with one of wait, message, call, answer, until, after, ended, raw, close";
        let table = self.toml.entries("steps", item)?;
        let [(key, value)] = table.as_slice() else {
            return Err(self.toml.wrong_value("steps", item, wanted));
        };
        let word: &str = key.get_ref();
        Ok(match word {
            "wait" => ScriptAction::Wait(self.time(word, value)?),
            "message" | "call" if value.get_ref().as_table().is_none() => {
                return Err(self.toml.wrong_value(
                    word,
                    value,
                    "a whole message, as -f json shows it",
                ));
            }
            "message" => {
                ScriptAction::SendReply(Reply::Message(self.value(value)?), Arc::default())
            }
            "call" => ScriptAction::Call(self.value(value)?),
            "answer" => ScriptAction::Await(self.index(word, value)?),
            "until" => ScriptAction::AwaitMessage(self.until(value)?),
            "after" => ScriptAction::AwaitRequest(self.after(value)?),
            "ended" if self.toml.bool(word, value)? => ScriptAction::AwaitEnd,
            "raw" => ScriptAction::Send(self.bytes(word, value)?),
            "close" if self.toml.bool(word, value)? => ScriptAction::Close,
            "ended" | "close" => return Err(self.toml.wrong_value(word, value, "true")),
            _ => return Err(self.toml.unknown_key(key, &STEP)),
        })
    }

    fn until(&self, item: &Item<'_>) -> Read<AwaitedMessage> {
        let mut awaited = AwaitedMessage {
            kind: String::new(),
            path: Path::new(),
            request: Path::new(),
        };
        for (key, item) in self.toml.entries("until", item)? {
            let word: &str = key.get_ref();
            match word {
                "kind" => self.toml.string(word, item)?.clone_into(&mut awaited.kind),
                "path" => awaited.path = self.path(word, item)?,
                "request" => awaited.request = self.path(word, item)?,
                _ => return Err(self.toml.unknown_key(key, &UNTIL)),
            }
        }
        Ok(awaited)
    }

    fn after(&self, item: &Item<'_>) -> Read<AwaitedRequest> {
        let mut awaited = AwaitedRequest { index: 0, most: 0 };
        for (key, item) in self.toml.entries("after", item)? {
            let word: &str = key.get_ref();
            match word {
                "request" => awaited.index = self.number(word, item)?,
                "most" => awaited.most = self.time(word, item)?,
                _ => return Err(self.toml.unknown_key(key, &AFTER)),
            }
        }
        Ok(awaited)
    }

    /// `{ names = ["a"], stream = "/mcp", delete = true }`.
    pub(super) fn sessions(&self, item: &Item<'_>) -> Read<ServedSessions> {
        let mut sessions = ServedSessions::default();
        for (key, item) in self.toml.entries("sessions", item)? {
            let word: &str = key.get_ref();
            match word {
                "names" => {
                    let names = self.list(word, item)?.into_iter();
                    let names = names.map(|item| self.field_value(word, item));
                    sessions.names = names.collect::<Read<_>>()?;
                }
                "stream" => sessions.stream = Some(self.toml.string(word, item)?.to_owned()),
                "delete" => sessions.delete = self.toml.bool(word, item)?,
                "events" => sessions.events = self.toml.bool(word, item)?,
                "accepts" => sessions.accepts = self.toml.bool(word, item)?,
                "notified" => {
                    let status = self.number(word, item)?;
                    let status = [200, 202, 204]
                        .into_iter()
                        .find(|one| u64::from(*one) == status);
                    let wrong = || self.toml.wrong_value(word, item, "200, 202 or 204");
                    sessions.notified = Some(status.ok_or_else(wrong)?);
                }
                _ => return Err(self.toml.unknown_key(key, &SESSIONS)),
            }
        }
        Ok(sessions)
    }

    /// Text that a field of HTTP can have.
    fn field_value(&self, word: &str, item: &Item<'_>) -> Read<String> {
        let text = self.toml.string(word, item)?;
        if text.is_empty() || text.chars().any(|c| !c.is_ascii_graphic()) {
            let wanted = "names without spaces, such as \"a-1\"";
            return Err(self.toml.wrong_value(word, item, wanted));
        }
        Ok(text.to_owned())
    }

    /// `{ json = '…', fill = [{ at = "id", from = "id" }], event = true }`.
    pub(super) fn template(
        &self,
        json: &Item<'_>,
        rest: &[(&Key<'_>, &Item<'_>)],
    ) -> Read<OpenValue> {
        let text = self.toml.string("json", json)?;
        let plain = OpenValue::json(text).map_err(|why| self.toml.error(&json.span(), why))?;
        let OpenValue::Json(text) = plain else {
            return Ok(plain);
        };
        let (mut replaced, mut is_event, mut place) = (Vec::new(), false, json.span());
        for (key, item) in rest {
            let word: &str = key.get_ref();
            if word == "event" {
                is_event = self.toml.bool(word, item)?;
                continue;
            }
            let items = self.list(word, item)?.into_iter();
            let items = items.map(|item| self.replacement(item));
            replaced = items.collect::<Read<_>>()?;
            place = item.span();
        }
        let template = Template::new(text, replaced);
        let template = template.map_err(|why| self.toml.error(&place, why))?;
        let value = OpenValue::Recorded(Arc::new(template));
        Ok(if is_event { value.into_event() } else { value })
    }

    fn replacement(&self, item: &Item<'_>) -> Read<Replacement> {
        let (mut at, mut name, mut from) = (None, None, None);
        let (mut answer, mut call, mut keeps_form) = (None, None, false);
        for (key, item) in self.toml.entries("fill", item)? {
            let word: &str = key.get_ref();
            match word {
                "at" => at = Some(self.path(word, item)?),
                "key" => name = Some(self.toml.string(word, item)?.to_owned()),
                "from" => from = Some(self.path(word, item)?),
                "answer" => answer = Some(self.index(word, item)?),
                "call" => call = Some(self.index(word, item)?),
                "keeps_form" => keeps_form = self.toml.bool(word, item)?,
                _ => return Err(self.toml.unknown_key(key, &FILL)),
            }
        }
        let Some((at, from)) = at.zip(from) else {
            return Err(self
                .toml
                .wrong_value("fill", item, "tables with at and from"));
        };
        let source = match (answer, call) {
            (Some(call), _) => ValueSource::Call(call, from),
            (None, Some(call)) => ValueSource::Sent(call, from),
            (None, None) => ValueSource::Request(from),
        };
        Ok(Replacement {
            at,
            key: name,
            source,
            keeps_form,
        })
    }
}

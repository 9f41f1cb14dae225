//! Prints the script of a recording, so that it reads back as the same script.
//!
//! ```text
//!   #4 invoke pow -> result      # #4 invoke pow
//!                                [[on]]
//!                                request = { index = 4, json = '{"id":4,...}', generated = ["id"] }
//!                                message = { json = '{"id":4,"result":1}', fill = [{ at = "id", from = "id" }] }
//! ```

use super::request::RequestPattern;
use super::template::{Slot, ValueSource};
use super::value::{OpenValue, PLACEHOLDER};
use super::{
    AwaitedMessage, AwaitedRequest, BytesTemplate, Reply, RuleCondition, RulePlace, Script,
    ScriptAction, ScriptRule,
};
use crate::framing::Framing;
use crate::live::codec::ServedSessions;
use crate::path::Path;
use crate::protocol::Protocol;
use crate::render::style::{escape, is_active, shorten};

/// The maximum length in characters of the text that describes a request.
const SHOWN: usize = 80;

/// Prints the script of a recording. Rules and messages that only other scripts have are left out.
pub fn script(script: &Script, protocol: &dyn Protocol) -> String {
    let mut out = format!(
        "# Requests and answers of a recording; wiretool help scripts explains the keys.\nprotocol = \"{}\"\n",
        protocol.name()
    );
    if !script.offers.is_empty() {
        let offers = script.offers.iter().map(|offer| {
            let name = quote(&offer.name);
            if offer.streams {
                format!("{{ name = {name}, streams = true }}")
            } else {
                name
            }
        });
        out.push_str(&format!("offers = {}\n", list(offers)));
    }
    if let Some(path) = &script.older_path {
        out.push_str(&format!("events = {}\n", quote(path)));
    }
    if let Some(framing) = script.framing {
        out.push_str(&format!("framing = {}\n", quote(framing.name())));
    }
    out.push_str(&sessions(&script.sessions));
    for (key, messages) in [
        ("opening", &script.opening),
        ("unreadable", &script.unreadable),
    ] {
        let messages: Vec<String> = messages.iter().filter_map(value).collect();
        match messages.as_slice() {
            [] => {}
            [message] => out.push_str(&format!("{key} = {message}\n")),
            several => out.push_str(&format!("{key} = [{}]\n", several.join(", "))),
        }
    }
    for hello in &script.hellos {
        out.push_str(&format!("\n[[hello]]\nto = {}\n", quote(&hello.to)));
        if let Some(message) = hello.message.as_ref().and_then(value) {
            out.push_str(&format!("message = {message}\n"));
        }
        if !hello.before.is_empty() {
            let before: Vec<String> = hello.before.iter().filter_map(value).collect();
            out.push_str(&format!("before = {}\n", lines(&before)));
        }
        if !hello.then.is_empty() {
            let steps: Vec<String> = hello.then.iter().filter_map(step).collect();
            out.push_str(&format!("then = {}\n", lines(&steps)));
        }
    }
    for rule in &script.rules {
        if let RuleCondition::Request(request) = &rule.condition {
            print_rule(rule, request, protocol, &mut out);
        }
    }
    out
}

/// The sessions over HTTP.
fn sessions(sessions: &ServedSessions) -> String {
    let names = sessions.names.iter().map(|name| quote(name));
    let names = (!sessions.names.is_empty()).then(|| format!("names = {}", list(names)));
    let stream = sessions.stream.as_ref();
    let stream = stream.map(|path| format!("stream = {}", quote(path)));
    let delete = sessions.delete.then(|| "delete = true".to_owned());
    let events = sessions.events.then(|| "events = true".to_owned());
    let accepts = sessions.accepts.then(|| "accepts = true".to_owned());
    let notified = sessions
        .notified
        .map(|status| format!("notified = {status}"));
    let keys = [names, stream, delete, events, accepts, notified]
        .into_iter()
        .flatten();
    let keys: Vec<String> = keys.collect();
    match keys.as_slice() {
        [] => String::new(),
        keys => format!("sessions = {{ {} }}\n", keys.join(", ")),
    }
}

fn print_rule(
    rule: &ScriptRule,
    request: &RequestPattern,
    protocol: &dyn Protocol,
    out: &mut String,
) {
    let framing = protocol.descriptor().framings.first();
    let framing = framing.copied().unwrap_or(Framing::Message);
    let stored = request.stored(protocol, framing, None);
    let what = stored.map_or(String::new(), |stored| stored.what());
    let mut keys = Vec::new();
    if let RulePlace::Recorded(index) = rule.place {
        keys.push(format!("index = {index}"));
    }
    keys.push(format!("json = {}", literal_quote(&request.message)));
    let form = &request.form;
    if let Some((kind, subject)) = &form.kind {
        keys.push(format!("kind = {}", quote(kind)));
        keys.extend(subject.as_ref().map(|s| format!("subject = {}", quote(s))));
    }
    keys.extend(form.packed.then(|| "packed = true".to_owned()));
    for (key, paths) in [("generated", &form.generated), ("secret", &form.secret)] {
        if !paths.is_empty() {
            keys.push(format!("{key} = {}", list(paths.iter().map(path))));
        }
    }
    out.push_str(&format!(
        "\n# {} {}\n[[on]]\nrequest = {{ {} }}\n",
        rule.place,
        escape(&shorten(&what, SHOWN)),
        keys.join(", ")
    ));
    let messages: Option<Vec<String>> = rule.actions.iter().map(message).collect();
    match messages.as_deref() {
        Some([]) => {}
        Some([only]) => out.push_str(&format!("message = {only}\n")),
        Some(several) => out.push_str(&format!("message = {}\n", lines(several))),
        None => {
            let steps: Vec<String> = rule.actions.iter().filter_map(step).collect();
            out.push_str(&format!("steps = {}\n", lines(&steps)));
        }
    }
}

fn message(action: &ScriptAction) -> Option<String> {
    match action {
        ScriptAction::SendReply(Reply::Message(message), _) => value(message),
        _ => None,
    }
}

fn step(action: &ScriptAction) -> Option<String> {
    match action {
        ScriptAction::Wait(ns) => Some(format!("{{ wait = \"{ns}ns\" }}")),
        ScriptAction::Call(call) => Some(format!("{{ call = {} }}", value(call)?)),
        ScriptAction::Await(call) => Some(format!("{{ answer = {call} }}")),
        ScriptAction::AwaitMessage(AwaitedMessage {
            kind,
            path: at,
            request,
        }) => Some(format!(
            "{{ until = {{ kind = {}, path = {}, request = {} }} }}",
            quote(kind),
            path(at),
            path(request)
        )),
        ScriptAction::AwaitEnd => Some("{ ended = true }".to_owned()),
        ScriptAction::Send(BytesTemplate::Plain(bytes)) => Some(match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains(PLACEHOLDER) => format!("{{ raw = {} }}", quote(text)),
            _ => format!("{{ raw = {{ hex = \"{}\" }} }}", hex::encode(bytes)),
        }),
        ScriptAction::Close => Some("{ close = true }".to_owned()),
        ScriptAction::AwaitRequest(AwaitedRequest { index, most }) => Some(format!(
            "{{ after = {{ request = {index}, most = \"{most}ns\" }} }}"
        )),
        _ => Some(format!("{{ message = {} }}", message(action)?)),
    }
}

/// A recorded message.
fn value(value: &OpenValue) -> Option<String> {
    match value {
        OpenValue::Json(text) => Some(format!("{{ json = {} }}", literal_quote(text))),
        OpenValue::Recorded(template) => {
            let slots = template.slots.iter();
            let slots = slots.map(|slot| slot_text(slot, &template.text));
            let mut keys = vec![format!("json = {}", literal_quote(&template.text))];
            if !template.slots.is_empty() {
                keys.push(format!("fill = {}", list(slots)));
            }
            keys.extend(template.is_event.then(|| "event = true".to_owned()));
            Some(format!("{{ {} }}", keys.join(", ")))
        }
        _ => None,
    }
}

fn slot_text(slot: &Slot, text: &str) -> String {
    let mut keys = vec![format!("at = {}", path(&slot.path))];
    if slot.spot.is_key {
        let span = slot.spot.span;
        let key = text.get(span.at()..span.end()).unwrap_or_default();
        keys.push(format!("key = {}", literal_quote(key)));
    }
    match &slot.source {
        ValueSource::Request(from) => keys.push(format!("from = {}", path(from))),
        ValueSource::Call(call, from) => {
            keys.push(format!("answer = {call}, from = {}", path(from)));
        }
        ValueSource::Sent(call, from) => {
            keys.push(format!("call = {call}, from = {}", path(from)));
        }
    }
    if slot.keeps_form {
        keys.push("keeps_form = true".into());
    }
    format!("{{ {} }}", keys.join(", "))
}

fn path(path: &Path) -> String {
    quote(&path.to_string())
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn lines(items: &[String]) -> String {
    format!("[\n  {},\n]", items.join(",\n  "))
}

/// Formats text in single quotes if possible.
fn literal_quote(text: &str) -> String {
    if text.contains('\'') || text.contains(is_active) {
        quote(text)
    } else {
        format!("'{text}'")
    }
}

/// Formats text in double quotes. Characters that can change a terminal are escaped.
fn quote(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains('\'') && !text.contains(is_active) {
        return format!("'{text}'");
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if is_active(c) => out.push_str(&match c as u32 {
                code @ ..=0xFFFF => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            }),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

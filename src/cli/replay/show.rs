//! Shows differences: both sides, the fields with their bytes, and the flag that ignores them.

use super::super::client::{MAX_SHOWN, describe_hang, write_head};
use super::super::diff::show::{fields_json, message_json, write_field};
use super::super::output::without_nulls;
use super::super::print_message;
use crate::diff::DiffMessage;
use crate::live::client::{ClientEvent, ClientObserver, Divergence, RunDifference};
use crate::live::handler::Command;
use crate::protocol::Protocol;
use crate::render::DisplayOptions;
use crate::render::style::{Highlight, shorten};
use serde_json::{Value as Json, json};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of answers that are listed.
const MAX_LISTED: usize = 20;

/// The output for differences.
pub enum DivergenceOutput {
    /// Text for people.
    Text,
    /// JSON Lines on stdout.
    Json,
    /// A report: rules and texts.
    Report(ReportEntries),
}

/// The content of the report at the end of the run.
pub type ReportEntries = Arc<Mutex<Vec<(&'static str, String)>>>;

/// Creates an observer that shows the events of a client.
pub fn observer(
    protocol: &dyn Protocol,
    display: DisplayOptions,
    quiet: bool,
    out: DivergenceOutput,
) -> ClientObserver<'_> {
    let tell = move |rule, text: String, object: &dyn Fn(&str) -> Json, commands: &mut Vec<_>| {
        match &out {
            DivergenceOutput::Text => commands.push(Command::Print(text)),
            DivergenceOutput::Json => {
                let object = without_nulls(json!({ "v": 1, "divergence": object(&text) }));
                commands.push(Command::Print(format!("{object}\n")));
            }
            DivergenceOutput::Report(entries) => {
                let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
                entries.push((rule, text));
            }
        }
    };
    Box::new(move |event, commands| match event {
        ClientEvent::Received(..) | ClientEvent::Handshake(..) => {}
        ClientEvent::Note(_) if quiet => {}
        ClientEvent::Note(text) => print_message(&text),
        ClientEvent::Hangs(what) => {
            let text = describe_hang(what, protocol, display);
            let object = |text: &str| json!({ "kind": "hangs", "text": text });
            tell("replay/hangs", text, &object, commands);
        }
        ClientEvent::Diverged(divergence) => {
            let mut text = String::new();
            write_divergence(divergence, display, &mut text);
            let object = |text: &str| divergence_json(divergence, text);
            tell("replay/differs", text, &object, commands);
        }
    })
}

/// Returns a difference as JSON.
fn divergence_json(divergence: &Divergence, text: &str) -> Json {
    let all = |list: &[DiffMessage]| list.iter().map(message_json).collect::<Json>();
    let mut object = match &divergence.how {
        RunDifference::Differs(recorded, live, fields, flags) => json!({
            "kind": "differs",
            "recorded": message_json(recorded),
            "live": message_json(live),
            "fields": fields_json(fields),
            "ignore": flags,
        }),
        RunDifference::Extra(live) => json!({ "kind": "extra", "live": message_json(live) }),
        RunDifference::Missing(list) => json!({ "kind": "missing", "messages": all(list) }),
        RunDifference::Ended(conn, why, owed, unsent) => json!({
            "kind": "ended", "conn": conn, "why": why, "messages": all(owed), "unsaid": unsent,
        }),
        RunDifference::Refused(conn, why) => json!({ "kind": "refused", "conn": conn, "why": why }),
    };
    if let Some(members) = object.as_object_mut() {
        members.insert(
            "asked".into(),
            divergence.request.as_ref().map(message_json).into(),
        );
        members.insert("text".into(), text.into());
    }
    object
}

/// Writes a difference: both sides, and the flag that ignores it.
pub fn write_divergence(divergence: &Divergence, display: DisplayOptions, out: &mut String) {
    let style = display.style;
    style.push(out, Highlight::Error, "✗ ");
    if let Some(request) = &divergence.request {
        write_head(request, display, out);
        out.push('\n');
    }
    let lead = if divergence.request.is_some() {
        "  "
    } else {
        ""
    };
    match &divergence.how {
        RunDifference::Differs(recorded, live, fields, flags) => {
            out.push_str(lead);
            write_head(recorded, display, out);
            out.push_str(" of the recording, ");
            if recorded.what != live.what {
                style.push_wire(out, Highlight::Kind, &shorten(&live.what, MAX_SHOWN));
                out.push(' ');
            }
            style.push(out, Highlight::Dim, &format!("#{}", live.index));
            out.push_str(" now\n");
            for field in fields {
                write_field(field, true, display, out);
            }
            if !flags.is_empty() {
                let flags: Vec<String> = flags
                    .iter()
                    .map(|f| format!("--ignore {}", quoted(f)))
                    .collect();
                style.push(out, Highlight::Note, "    to ignore it: ");
                style.push_wire(out, Highlight::Plain, &flags.join(" "));
                out.push('\n');
            }
        }
        RunDifference::Extra(live) => {
            out.push_str(lead);
            write_head(live, display, out);
            out.push_str(" came, but is not in the recording\n");
        }
        RunDifference::Missing(all) => write_list(all, "did not come", lead, display, out),
        RunDifference::Ended(conn, text, owed, unsent) => {
            out.push_str(&format!("connection {conn} "));
            style.push_wire(out, Highlight::Plain, text);
            match unsent {
                0 => {}
                1 => out.push_str(", and 1 message was not sent"),
                n => out.push_str(&format!(", and {n} messages were not sent")),
            }
            out.push('\n');
            write_list(owed, "is not answered", "  ", display, out);
        }
        RunDifference::Refused(conn, why) => {
            out.push_str(&format!(
                "{lead}connection {conn}: calls are not possible: "
            ));
            style.push_wire(out, Highlight::Plain, why);
            out.push('\n');
        }
    }
}

fn write_list(
    all: &[DiffMessage],
    what: &str,
    lead: &str,
    display: DisplayOptions,
    out: &mut String,
) {
    for one in all.iter().take(MAX_LISTED) {
        out.push_str(lead);
        write_head(one, display, out);
        out.push_str(&format!(" of the recording {what}\n"));
    }
    if all.len() > MAX_LISTED {
        out.push_str(&format!("{lead}and {} more\n", all.len() - MAX_LISTED));
    }
}

/// Returns an argument quoted for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

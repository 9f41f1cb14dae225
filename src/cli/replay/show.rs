//! How a divergence is shown: both sides, the fields with their bytes, and the flag that passes over it.

use super::super::calling::{SHOWN, hang, head};
use super::super::complain;
use super::super::diff::show::row;
use crate::diff::Which;
use crate::live::client::{Difference, Divergence, Event, Observer};
use crate::live::handler::Command;
use crate::protocol::Protocol;
use crate::render::Look;
use crate::render::style::{Tone, shorten};

/// Answers that are listed one by one.
const LISTED: usize = 20;

/// Shows what is told.
pub fn observer(protocol: &dyn Protocol, look: Look, quiet: bool) -> Observer<'_> {
    Box::new(move |tell, commands| match tell {
        Event::Received(..) => {}
        Event::Note(_) if quiet => {}
        Event::Note(text) => complain(&text),
        Event::Hangs(what) => commands.push(Command::Print(hang(what, protocol, look))),
        Event::Diverged(divergence) => {
            let mut text = String::new();
            block(divergence, look, &mut text);
            commands.push(Command::Print(text));
        }
    })
}

fn block(divergence: &Divergence, look: Look, out: &mut String) {
    let style = look.style;
    style.put(out, Tone::Bad, "✗ ");
    if let Some(asked) = &divergence.asked {
        head(asked, look, out);
        out.push('\n');
    }
    let lead = if divergence.asked.is_some() { "  " } else { "" };
    match &divergence.how {
        Difference::Differs(recorded, live, fields, flags) => {
            out.push_str(lead);
            head(recorded, look, out);
            out.push_str(" of the recording, ");
            if recorded.what != live.what {
                style.wire(out, Tone::Kind, &shorten(&live.what, SHOWN));
                out.push(' ');
            }
            style.put(out, Tone::Dim, &format!("#{}", live.index));
            out.push_str(" now\n");
            for field in fields {
                row(field, true, look, out);
            }
            if !flags.is_empty() {
                let flags: Vec<String> = flags
                    .iter()
                    .map(|f| format!("--ignore {}", quoted(f)))
                    .collect();
                style.put(out, Tone::Note, "    to pass over it: ");
                style.wire(out, Tone::Plain, &flags.join(" "));
                out.push('\n');
            }
        }
        Difference::Extra(live) => {
            out.push_str(lead);
            head(live, look, out);
            out.push_str(" came, which the recording does not have\n");
        }
        Difference::Missing(all) => list(all, "did not come", lead, look, out),
        Difference::Ended(conn, text, owed, unsaid) => {
            out.push_str(&format!("connection {conn} "));
            style.wire(out, Tone::Plain, text);
            match unsaid {
                0 => {}
                1 => out.push_str(", and 1 message is not said"),
                n => out.push_str(&format!(", and {n} messages are not said")),
            }
            out.push('\n');
            list(owed, "is not answered", "  ", look, out);
        }
        Difference::Refused(conn, why) => {
            out.push_str(&format!("{lead}connection {conn}: no calls may be made: "));
            style.wire(out, Tone::Plain, why);
            out.push('\n');
        }
    }
}

fn list(all: &[Which], what: &str, lead: &str, look: Look, out: &mut String) {
    for one in all.iter().take(LISTED) {
        out.push_str(lead);
        head(one, look, out);
        out.push_str(&format!(" of the recording {what}\n"));
    }
    if all.len() > LISTED {
        out.push_str(&format!("{lead}and {} more\n", all.len() - LISTED));
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

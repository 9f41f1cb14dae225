//! Writes an operation, with its parts folded: as a line, or as a JSON object.
//!
//! ```text
//!   index conn time         subject and name     state     duration owners; parts; counts
//!   #3    c1   10:00:00.120 tools/call book      answered     6.0 s server 20 ms, person 6 s; 1 elicitation/create; 8 messages
//! ```

use super::DisplayOptions;
use super::findings::{duration, millis};
use super::json::{write_parent, write_short_text, write_source, write_text};
use super::line::{clock, fit, push_cut};
use super::style::{Highlight, escape, escape_json};
use super::subject::masked_subject;
use super::wrap::columns;
use crate::capture::write_time;
use crate::conversation::{Operation, OperationState, Unacknowledged};
use crate::encoding::json::write_str;
use crate::encoding::lossless::write_int;
use crate::protocol::session::Link;
use crate::protocol::with_name;

/// From this width on, lines have the time.
const WITH_TIME: usize = 100;
/// The maximum width of the name of a capture.
const WIDEST_SOURCE: usize = 12;

/// Returns the subject and the name of an operation; without a subject, the kind of its first message.
pub(crate) fn about(operation: &Operation) -> String {
    let (subject, name) = (operation.subject.as_deref(), operation.name.as_deref());
    match with_name(subject, name).as_ref() {
        "" => operation.kind.to_string(),
        about => about.to_owned(),
    }
}

/// Writes a line, with its line end. `is_part`: it stands below the operation that contains it.
pub fn write_line(operation: &Operation, is_part: bool, display: DisplayOptions, out: &mut String) {
    let style = display.style;
    let width = display.width.unwrap_or(usize::MAX);
    let sign = match operation.link {
        Some(Link::Inferred) => "~",
        _ => "",
    };
    let mut line = String::new();
    let index = format!("{sign}#{}", operation.index);
    style.push(&mut line, Highlight::Dim, &format!("{index:>6} "));
    if let Some(sources) = display.sources {
        let names = sources.short_names().map(columns);
        let wide = names.max().unwrap_or_default().min(WIDEST_SOURCE);
        let name = sources.name_of(operation.origin.conn).unwrap_or_default();
        let name = fit(&escape(name), wide).into_owned();
        style.push(&mut line, Highlight::Key, &name);
        let fill = wide.saturating_sub(columns(&name));
        line.extend(std::iter::repeat_n(' ', fill + 1));
    }
    if let Some(conn) = operation.origin.conn {
        style.push(
            &mut line,
            Highlight::Dim,
            &format!("{:<2} ", format!("c{conn}")),
        );
    }
    if let Some(time) = operation.origin.time.filter(|_| width >= WITH_TIME) {
        style.push(&mut line, Highlight::Dim, &format!("{} ", clock(time)));
    }
    let wide = match width {
        0..WITH_TIME => 24,
        WITH_TIME..150 => 32,
        usize::MAX => 32,
        _ => 48,
    };
    let about = about(operation);
    let about = escape(&masked_subject(&about, display.show_secrets)).into_owned();
    let about = fit(&about, wide);
    let fill = wide.saturating_sub(columns(&about));
    style.push(&mut line, Highlight::Kind, &about);
    line.extend(std::iter::repeat_n(' ', fill + 1));
    let state = operation.state;
    let highlight = match state {
        OperationState::Answered => Highlight::Plain,
        OperationState::Failed => Highlight::Error,
        OperationState::Open | OperationState::Cancelled => Highlight::Note,
    };
    style.push(&mut line, highlight, &format!("{:<9} ", state.name()));
    let lasted = operation.duration.map_or(String::new(), duration);
    style.push(&mut line, Highlight::Note, &format!("{lasted:>9}"));
    let (mut tail, counts) = tail(operation, is_part);
    let space = width.saturating_sub(columns(&line) + 1);
    // Narrow lines leave out the counts.
    if columns(&tail) + columns(&counts) <= space {
        tail += &counts;
    }
    if !tail.is_empty() && space > 0 {
        line.push(' ');
        style.push(&mut line, Highlight::Plain, &fit(&escape(&tail), space));
    }
    push_cut(line.trim_end(), display, out);
}

/// Writes lines that are indented, cut at the width of the terminal.
pub fn write_parts(parts: &[u8], display: DisplayOptions, out: &mut String) {
    for line in String::from_utf8_lossy(parts).lines() {
        push_cut(line, display, out);
    }
}

/// Returns who made an operation wait, and its parts: `server 20 ms, person 6 s; 1 elicitation/create`.
pub(crate) fn inside(operation: &Operation) -> String {
    tail(operation, false).0
}

/// Returns the owners of the time with the parts, and the counts.
fn tail(operation: &Operation, is_part: bool) -> (String, String) {
    let mut groups = Vec::new();
    if let Some(parent) = operation.parent.filter(|_| !is_part) {
        groups.push(format!("in #{parent}"));
    }
    let shares = operation.named_shares();
    let shares: Vec<_> = match shares.as_slice() {
        // The duration stands before it.
        [(owner, _)] => vec![owner.to_string()],
        several => several
            .iter()
            .map(|(owner, ns)| format!("{owner} {}", duration(*ns)))
            .collect(),
    };
    groups.push(shares.join(", "));
    let parts = operation.parts.iter().map(|part| {
        let sign = if part.is_inferred { "~" } else { "" };
        let kind = match part.count {
            2.. if &*part.kind == "retry" => "retries",
            _ => &part.kind,
        };
        format!("{sign}{} {kind}", part.count)
    });
    groups.push(parts.collect::<Vec<_>>().join(", "));
    if let Some(Unacknowledged { most, last, .. }) = operation.unacknowledged
        && (most > 1 || last > 0)
    {
        let last = if last > 0 {
            format!(", {last} at the end")
        } else {
            String::new()
        };
        groups.push(format!("up to {most} not acknowledged{last}"));
    }
    let messages = match operation.messages {
        1 => "1 message".to_owned(),
        n => format!("{n} messages"),
    };
    groups.retain(|group| !group.is_empty());
    let counts = format!("{messages}, {} bytes", operation.bytes);
    let between = if groups.is_empty() { "" } else { "; " };
    (groups.join("; "), format!("{between}{counts}"))
}

/// Writes a JSON object, with its line end.
pub fn write_json(operation: &Operation, display: DisplayOptions, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(b"{\"v\":1");
    if let Some(conn) = operation.origin.conn {
        out.extend_from_slice(b",\"conn\":");
        write_int(conn, out);
    }
    if let Some(stream) = operation.origin.stream {
        out.extend_from_slice(b",\"stream\":");
        write_int(stream, out);
    }
    if let Some(direction) = operation.origin.direction {
        write_text(b",\"dir\":\"", direction.name(), out);
    }
    write_text(b",\"protocol\":\"", &operation.protocol, out);
    out.extend_from_slice(b",\"kind\":\"operation\",\"role\":\"control\",\"subject\":");
    let subject = operation.subject.as_ref().unwrap_or(&operation.kind);
    write_short_text(subject, out);
    if let Some(name) = &operation.name {
        out.extend_from_slice(b",\"name\":");
        write_short_text(name, out);
    }
    out.extend_from_slice(b",\"op\":");
    write_int(operation.index, out);
    write_parent(operation.parent, operation.link, out);
    write_text(b",\"state\":\"", operation.state.name(), out);
    write_time("start", operation.origin.time, out);
    if let Some(lasted) = operation.duration {
        out.extend_from_slice(b",\"duration_ms\":");
        out.extend_from_slice(millis(lasted).as_bytes());
        out.extend_from_slice(b",\"shares\":{");
        for (i, (owner, ns)) in operation.named_shares().into_iter().enumerate() {
            out.extend_from_slice(if i == 0 { b"" } else { b"," });
            write_str(&owner, out);
            out.push(b':');
            out.extend_from_slice(millis(ns).as_bytes());
        }
        out.push(b'}');
    }
    out.extend_from_slice(b",\"messages\":");
    write_int(operation.messages, out);
    out.extend_from_slice(b",\"bytes\":");
    write_int(operation.bytes, out);
    for (i, part) in operation.parts.iter().enumerate() {
        out.extend_from_slice(if i == 0 { b",\"parts\":{" } else { b"," });
        write_str(&part.kind, out);
        out.push(b':');
        write_int(part.count, out);
    }
    if !operation.parts.is_empty() {
        out.push(b'}');
    }
    if let Some(items) = operation.unacknowledged {
        out.extend_from_slice(b",\"unacknowledged\":{\"most\":");
        write_int(items.most, out);
        out.extend_from_slice(b",\"last\":");
        write_int(items.last, out);
        out.push(b'}');
    }
    write_source(operation.origin, display, out);
    out.push(b'}');
    if display.terminal {
        let text = String::from_utf8_lossy(out.get(start..).unwrap_or_default()).into_owned();
        out.truncate(start);
        out.extend_from_slice(escape_json(&text).as_bytes());
    }
    out.push(b'\n');
}

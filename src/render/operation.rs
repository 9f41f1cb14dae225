//! Writes an operation, with its parts folded: as a line, or as a JSON object.
//!
//! ```text
//!   index conn time         subject and name     state     duration owners; parts; counts
//!   #3    c1   10:00:00.120 tools/call book      answered     6.0 s server 20 ms, person 6 s; 1 elicitation/create; 8 messages
//! ```

use super::DisplayOptions;
use super::findings::{millis, push_duration};
use super::json::{end_line, write_parent, write_short_text, write_source, write_text};
use super::line::{clock, fit, push_blank, push_cut};
use super::style::{Highlight, escape};
use super::subject::masked_subject;
use super::wrap::columns;
use crate::capture::write_time;
use crate::conversation::{Operation, OperationState, Unacknowledged};
use crate::encoding::json::write_str;
use crate::encoding::lossless::write_int;
use crate::protocol::session::Link;
use crate::protocol::with_name;
use std::borrow::Cow;

/// From this width on, lines have the time.
const WITH_TIME: usize = 100;
/// The widths of the index, the connection, the state and the duration.
const INDEX_WIDTH: usize = 6;
const CONN_WIDTH: usize = 2;
const STATE_WIDTH: usize = 9;
const DURATION_WIDTH: usize = 9;
/// The length of most cells, in bytes.
const USUAL_CELL: usize = 96;
/// The maximum width of the name of a capture.
const WIDEST_SOURCE: usize = 12;

/// Returns the subject and the name of an operation; without a subject, the kind of its first message.
pub(crate) fn about(operation: &Operation) -> Cow<'_, str> {
    let (subject, name) = (operation.subject.as_deref(), operation.name.as_deref());
    let about = with_name(subject, name);
    if about.is_empty() {
        return Cow::Borrowed(&operation.kind);
    }
    about
}

/// Writes a line, with its line end. `is_part`: it stands below the operation that contains it.
pub fn write_line(operation: &Operation, is_part: bool, display: DisplayOptions, out: &mut String) {
    if display.width.is_some() {
        let mut line = String::new();
        write_row(operation, is_part, display, &mut line);
        return push_cut(line.trim_end(), display, out);
    }
    write_row(operation, is_part, display, out);
    out.truncate(out.trim_end().len());
    out.push('\n');
}

fn write_row(operation: &Operation, is_part: bool, display: DisplayOptions, line: &mut String) {
    let style = display.style;
    let width = display.width.unwrap_or(usize::MAX);
    let start = line.len();
    let mut cell = String::with_capacity(USUAL_CELL);
    if operation.link == Some(Link::Inferred) {
        cell.push('~');
    }
    cell.push('#');
    push_number(operation.index, &mut cell);
    push_blank(INDEX_WIDTH.saturating_sub(cell.len()), line);
    style.push(line, Highlight::Dim, &cell);
    line.push(' ');
    if let Some(sources) = display.sources {
        let names = sources.short_names().map(columns);
        let wide = names.max().unwrap_or_default().min(WIDEST_SOURCE);
        let name = sources.name_of(operation.origin.conn).unwrap_or_default();
        let name = escape(name);
        let name = fit(&name, wide);
        style.push(line, Highlight::Key, &name);
        push_blank(wide.saturating_sub(columns(&name)) + 1, line);
    }
    if let Some(conn) = operation.origin.conn {
        cell.clear();
        cell.push('c');
        push_number(conn.into(), &mut cell);
        style.push(line, Highlight::Dim, &cell);
        push_blank(CONN_WIDTH.saturating_sub(cell.len()) + 1, line);
    }
    if let Some(time) = operation.origin.time.filter(|_| width >= WITH_TIME) {
        style.push(line, Highlight::Dim, &clock(time));
        line.push(' ');
    }
    let wide = match width {
        0..WITH_TIME => 24,
        WITH_TIME..150 => 32,
        usize::MAX => 32,
        _ => 48,
    };
    let about = about(operation);
    let about = masked_subject(&about, display.show_secrets);
    let about = escape(&about);
    let about = fit(&about, wide);
    style.push(line, Highlight::Kind, &about);
    push_blank(wide.saturating_sub(columns(&about)) + 1, line);
    let state = operation.state;
    let highlight = match state {
        OperationState::Answered => Highlight::Plain,
        OperationState::Failed => Highlight::Error,
        OperationState::Open | OperationState::Cancelled => Highlight::Note,
    };
    style.push(line, highlight, state.name());
    push_blank(STATE_WIDTH.saturating_sub(state.name().len()) + 1, line);
    cell.clear();
    if let Some(lasted) = operation.duration {
        push_duration(lasted, &mut cell);
    }
    push_blank(DURATION_WIDTH.saturating_sub(columns(&cell)), line);
    style.push(line, Highlight::Note, &cell);
    cell.clear();
    push_tail(operation, is_part, &mut cell);
    let counts = cell.len();
    push_counts(operation, &mut cell);
    if display.width.is_some() {
        let space = width.saturating_sub(columns(line.get(start..).unwrap_or_default()) + 1);
        if columns(&cell) > space {
            // Narrow lines leave out the counts.
            cell.truncate(counts);
        }
        let shown = escape(&cell);
        let shown = fit(&shown, space);
        if !shown.is_empty() {
            line.push(' ');
            style.push(line, Highlight::Plain, &shown);
        }
        return;
    }
    line.push(' ');
    style.push(line, Highlight::Plain, &escape(&cell));
}

/// Writes lines that are indented, cut at the width of the terminal.
pub fn write_parts(parts: &[u8], display: DisplayOptions, out: &mut String) {
    for line in String::from_utf8_lossy(parts).lines() {
        push_cut(line, display, out);
    }
}

/// Returns who made an operation wait, and its parts: `server 20 ms, person 6 s; 1 elicitation/create`.
pub(crate) fn inside(operation: &Operation) -> String {
    let mut text = String::new();
    push_tail(operation, false, &mut text);
    text
}

/// Adds the owners of the time, and the parts.
fn push_tail(operation: &Operation, is_part: bool, out: &mut String) {
    if let Some(parent) = operation.parent.filter(|_| !is_part) {
        out.push_str("in #");
        push_number(parent, out);
    }
    if operation.by_source.is_empty() {
        let shares = operation.shares();
        push_shares(shares.map(|(owner, ns)| (owner.name(), ns)), out);
    } else {
        let shares = operation.named_shares();
        push_shares(shares.iter().map(|(owner, ns)| (owner.as_ref(), *ns)), out);
    }
    for (i, part) in operation.parts.iter().enumerate() {
        if i == 0 {
            begin_group(out);
        } else {
            out.push_str(", ");
        }
        if part.is_inferred {
            out.push('~');
        }
        push_number(part.count, out);
        out.push(' ');
        out.push_str(match part.count {
            2.. if &*part.kind == "retry" => "retries",
            _ => &part.kind,
        });
    }
    if let Some(Unacknowledged { most, last, .. }) = operation.unacknowledged
        && (most > 1 || last > 0)
    {
        begin_group(out);
        out.push_str("up to ");
        push_number(most.into(), out);
        out.push_str(" not acknowledged");
        if last > 0 {
            out.push_str(", ");
            push_number(last.into(), out);
            out.push_str(" at the end");
        }
    }
}

/// Adds owners with their parts of the time; of one alone its name, since the duration stands before it.
fn push_shares<'a>(shares: impl Iterator<Item = (&'a str, i64)>, out: &mut String) {
    let mut shares = shares.peekable();
    let mut is_first = true;
    while let Some((owner, ns)) = shares.next() {
        if is_first {
            begin_group(out);
        } else {
            out.push_str(", ");
        }
        out.push_str(owner);
        if !is_first || shares.peek().is_some() {
            out.push(' ');
            push_duration(ns, out);
        }
        is_first = false;
    }
}

/// Adds the numbers of messages and bytes.
fn push_counts(operation: &Operation, out: &mut String) {
    begin_group(out);
    push_number(operation.messages, out);
    out.push_str(match operation.messages {
        1 => " message, ",
        _ => " messages, ",
    });
    push_number(operation.bytes, out);
    out.push_str(" bytes");
}

fn begin_group(out: &mut String) {
    if !out.is_empty() {
        out.push_str("; ");
    }
}

fn push_number(number: u64, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(number));
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
    end_line(display, start, out);
}

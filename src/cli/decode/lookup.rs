//! `--at` and `--path`: find the field at a byte, and the bytes of a field.

use super::Args;
use crate::decoder::Decoded;
use crate::path::Path;
use crate::protocol::Notes;
use crate::render::DisplayOptions;
use crate::render::fields::{FrameField, fields_along, fields_at, owner};
use crate::render::style::Highlight;
use crate::render::subject::subject;
use std::ops::Range;

/// The lookup in each frame.
pub enum Lookup {
    None,
    At(u64),
    Path(String),
}

impl Lookup {
    pub fn new(args: &Args) -> Self {
        match (args.at, &args.path) {
            (Some(offset), _) => Self::At(offset),
            (None, Some(path)) => Self::Path(path.clone()),
            (None, None) => Self::None,
        }
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Says that no message has the field.
    pub fn not_found(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::At(offset) => Some(format!("no message contains offset {offset}")),
            Self::Path(path) => Some(format!("no message has a field {path}")),
        }
    }
}

/// Writes the field that contains the byte at an offset, if it is in this frame.
pub fn write_owner(decoded: &Decoded<'_>, offset: u64, display: DisplayOptions, out: &mut String) {
    let frame = decoded.frame;
    if offset < frame.offset || offset >= frame.offset + frame.len {
        return;
    }
    let mut notes = Notes::default();
    decoded.annotate(&mut notes);
    let at = frame.view.index_of(offset);
    let fields = at.map_or(Vec::new(), |at| fields_at(decoded, at));
    let found = at.and_then(|at| owner(&fields, at));
    let place = match found {
        None => "frame header, or bytes outside of all fields".to_owned(),
        Some((field, is_key)) => {
            let span = if is_key {
                field.key.unwrap_or(field.span)
            } else {
                field.span
            };
            let Range { start, end } = frame.view.range(span);
            let name = if field.path.is_empty() {
                "message"
            } else {
                &field.path
            };
            let value = value_text(field, &notes, display);
            let what = if is_key {
                format!("the key of {name}")
            } else {
                format!("{name} = {value}")
            };
            format!("{what}  {start}..{end}")
        }
    };
    write_line(decoded, &format!("offset {offset}: {place}"), display, out);
}

/// Writes the byte range of a field, if this frame has it.
pub fn write_range(decoded: &Decoded<'_>, path: &str, display: DisplayOptions, out: &mut String) {
    let mut notes = Notes::default();
    decoded.annotate(&mut notes);
    let read = path.parse::<Path>().map(|path| path.to_string());
    let wanted = |field: &&FrameField<'_>| {
        field.path == path || field.node.is_some() && read.as_ref() == Ok(&field.path)
    };
    let spellings = [path, read.as_deref().unwrap_or(path)];
    for field in fields_along(decoded, &spellings).iter().filter(wanted) {
        let Range { start, end } = decoded.frame.view.range(field.span);
        let value = value_text(field, &notes, display);
        write_line(
            decoded,
            &format!("{path} = {value}  {start}..{end}"),
            display,
            out,
        );
    }
}

/// Returns a value, or the text of a part of the header, without secrets.
fn value_text(field: &FrameField<'_>, notes: &Notes, display: DisplayOptions) -> String {
    let masked = field.masked.as_ref().filter(|_| !display.show_secrets);
    match field.node {
        _ if field.is_secret(notes, display) => "(secret)".to_owned(),
        Some(node) => field.brief(node, notes, display),
        None => masked.map_or_else(|| field.text.clone().into_owned(), String::clone),
    }
}

/// Writes a line about a frame, with the index of the frame.
pub fn write_line(decoded: &Decoded<'_>, text: &str, display: DisplayOptions, out: &mut String) {
    display.style.push_wire(out, Highlight::Plain, text);
    let subject = subject(decoded, None, display.show_secrets);
    let subject = subject.map(|s| format!(" {s}")).unwrap_or_default();
    display.style.push_wire(
        out,
        Highlight::Dim,
        &format!("  in #{} {}{subject}", decoded.index, decoded.message.kind),
    );
    out.push('\n');
}

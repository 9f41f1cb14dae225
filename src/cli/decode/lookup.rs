//! `--at` and `--path`: which field owns a byte, and where does a field lie?

use super::Args;
use crate::decoder::Decoded;
use crate::path::Path;
use crate::protocol::Notes;
use crate::render::Look;
use crate::render::fields::{Field, brief, fields_at, fields_to, owner, subject};
use crate::render::style::Tone;
use std::ops::Range;

/// What is asked of each frame.
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
}

/// The field that owns the byte at an offset, where it is in this frame.
pub fn say_owner(
    decoded: &Decoded<'_>,
    offset: u64,
    look: Look,
    notes: &mut Notes,
    out: &mut String,
) {
    let frame = decoded.frame;
    if offset < frame.offset || offset >= frame.offset + frame.len {
        return;
    }
    decoded.annotate(notes);
    let at = frame.view.index_of(offset);
    let fields = at.map_or(Vec::new(), |at| fields_at(decoded, at));
    let found = at.and_then(|at| owner(&fields, at));
    let place = match found {
        None => "frame header, or bytes that no field owns".to_owned(),
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
            let secret = field.is_secret(notes, look);
            let value = match field.node {
                _ if secret => "(secret)".to_owned(),
                Some(node) => brief(node),
                None => text(field, look),
            };
            let what = if is_key {
                format!("the key of {name}")
            } else {
                format!("{name} = {value}")
            };
            format!("{what}  {start}..{end}")
        }
    };
    say(decoded, &format!("offset {offset}: {place}"), look, out);
}

/// Where a field lies, where this frame has it.
pub fn say_range(
    decoded: &Decoded<'_>,
    path: &str,
    look: Look,
    notes: &mut Notes,
    out: &mut String,
) {
    decoded.annotate(notes);
    let read = path.parse::<Path>().map(|path| path.to_string());
    let wanted = |field: &&Field<'_>| {
        field.path == path || field.node.is_some() && read.as_ref() == Ok(&field.path)
    };
    let spellings = [path, read.as_deref().unwrap_or(path)];
    for field in fields_to(decoded, &spellings).iter().filter(wanted) {
        let Range { start, end } = decoded.frame.view.range(field.span);
        let secret = field.is_secret(notes, look);
        let value = match field.node {
            _ if secret => "(secret)".to_owned(),
            Some(node) => brief(node),
            None => text(field, look),
        };
        say(
            decoded,
            &format!("{path} = {value}  {start}..{end}"),
            look,
            out,
        );
    }
}

/// What a part of the header says, as far as it may be shown.
fn text(field: &Field<'_>, look: Look) -> String {
    let masked = field.masked.clone().filter(|_| !look.show_secrets);
    masked.unwrap_or_else(|| field.text.clone().into_owned())
}

/// A line about a frame, and which frame that is.
pub fn say(decoded: &Decoded<'_>, text: &str, look: Look, out: &mut String) {
    look.style.wire(out, Tone::Plain, text);
    let subject = subject(decoded, look.show_secrets);
    let subject = subject.map(|s| format!(" {s}")).unwrap_or_default();
    look.style.wire(
        out,
        Tone::Dim,
        &format!("  in #{} {}{subject}", decoded.index, decoded.message.kind),
    );
    out.push('\n');
}

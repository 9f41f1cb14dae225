//! `--at` and `--path`: find the field at a byte, and the bytes of a field.

use super::Args;
use crate::decoder::Decoded;
use crate::path::{Path, PathStep};
use crate::protocol::Notes;
use crate::render::DisplayOptions;
use crate::render::fields::{FrameField, fields_along, fields_at, owner};
use crate::render::style::Highlight;
use crate::render::subject::subject;
use crate::tape::{self, LookupStep};
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

    /// Returns the values that are looked up in each message. A path that cannot be read is the name of a part of the header.
    pub fn values(&self) -> Option<tape::Lookup> {
        let step = |step: &PathStep| match step {
            PathStep::Member(name) => LookupStep::Member(name.clone()),
            PathStep::Element(number) => LookupStep::Element(*number),
        };
        match self {
            Self::None => None,
            Self::At(offset) => Some(tape::Lookup::At(*offset)),
            Self::Path(path) => {
                let path = path.parse::<Path>().unwrap_or_default();
                Some(tape::Lookup::Along(path.iter().map(step).collect()))
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::{DecodeOptions, Decoder, Origin};
    use crate::encoding::Want;
    use crate::framing::Framing;
    use crate::protocol::registry;
    use std::fmt::Write as _;

    /// Returns what a lookup shows of a stream with one message. `want`: its positions, all or few.
    fn shown(
        protocol: &str,
        framing: Framing,
        bytes: &[u8],
        lookup: &Lookup,
        want: Want,
    ) -> String {
        let protocol = registry::find(protocol).expect("a protocol of that name");
        let mut decoder = Decoder::new(DecodeOptions {
            framing: Some(framing),
            want,
            lookup: lookup.values().filter(|_| want == Want::Rows),
            ..DecodeOptions::new(vec![protocol])
        });
        let (mut out, display) = (String::new(), DisplayOptions::default());
        let mut sink = |decoded: &Decoded<'_>| {
            let fault = decoded.faults().next().map(|(_, fault)| fault.to_string());
            assert_eq!(fault, None);
            match lookup {
                Lookup::At(offset) => write_owner(decoded, *offset, display, &mut out),
                Lookup::Path(path) => write_range(decoded, path, display, &mut out),
                Lookup::None => {}
            }
        };
        decoder.push(Origin::default(), bytes, &mut sink);
        decoder.finish(&mut sink);
        out
    }

    /// A message with more values than are stored: lists, objects, keys that are repeated or have escapes, and secrets.
    fn long_json() -> String {
        let mut text = r#"{"jsonrpc":"2.0","id":1,"result":{"list":["#.to_owned();
        let items = (0..12_000).map(|n| match n % 5 {
            0 => format!("{n}"),
            1 => format!(r#"{{"name":"n{n}","value":[{n},{{"deep":{n}}}]}}"#),
            2 => "[]".to_owned(),
            3 => format!(r#""text {n}""#),
            _ => r#"["--token","hidden-value"]"#.to_owned(),
        });
        text.push_str(&items.collect::<Vec<_>>().join(","));
        text.push_str(r#"],"map":{"#);
        for n in 0..12_000 {
            let _ = write!(text, r#""k{n}":{{"a":{n},"password":"hidden-{n}"}},"#);
        }
        text.push_str(r#""k\u0039":1,"k7":[1,2],"k7":3},"last":[[[5]]]}}"#);
        text + "\n"
    }

    #[test]
    fn lookups_agree_with_all_positions() {
        let json = long_json();
        let buckets = [
            &20_000_u32.to_le_bytes()[..],
            &[0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0].repeat(20_000),
        ];
        let buckets = buckets.concat();
        let size = u32::try_from(buckets.len())
            .expect("a few bytes")
            .to_le_bytes();
        let length = (u32::try_from(buckets.len()).expect("a few bytes") + 10).to_le_bytes();
        let id = 0x9c6e_c18f_u32.to_le_bytes();
        let telequick = [&length[..], &id, &[0, 0], &size, &buckets].concat();
        let paths = [
            "id",
            "result",
            "result.list",
            "result.list[0]",
            "result.list[11996].value[1].deep",
            "result.list[11999][1]",
            "result.list[11999]",
            "result.list[12000]",
            "result.map.k11999",
            "result.map.k11999.password",
            "result.map.k11999.a",
            "result.map.k9",
            "result.map.k7",
            "result.last",
            "result.last[0][0][0]",
            "fields.buckets[19999]",
            "fields.buckets[19999].pending_count",
            "none",
            "start line",
        ];
        for (protocol, framing, bytes) in [
            ("jsonrpc", Framing::Lines, json.as_bytes()),
            ("telequick", Framing::Method, &telequick),
        ] {
            let step = bytes.len() as u64 / 27;
            let ats = (0..30).map(|n| Lookup::At(n * step));
            let ends = (bytes.len() as u64 - 20..bytes.len() as u64).map(Lookup::At);
            let paths = paths.map(|path| Lookup::Path(path.to_owned()));
            let mut found = 0;
            for lookup in ats.chain(ends).chain(paths) {
                let [all, few] = [Want::Places, Want::Rows]
                    .map(|want| shown(protocol, framing, bytes, &lookup, want));
                assert_eq!(all, few, "{protocol}");
                assert!(!few.contains("hidden"), "{few}");
                found += usize::from(!few.is_empty());
            }
            assert!(found > 48, "{found}");
        }
    }
}

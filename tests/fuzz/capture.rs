//! Captures of other programs.

use crate::shape;
use std::collections::BTreeSet;
use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::decoder::{DecodeOptions, Decoder};
use wiretool::protocol::registry;

/// Forms of text that shows bytes.
const TEXTS: [Form; 4] = [Form::Text, Form::Dump, Form::Literal, Form::Log];

/// Returns the items of an input as text, and the form that was found. Its messages are decoded, too.
fn items_of<'b>(form: Form, pieces: impl IntoIterator<Item = &'b [u8]>) -> (Form, Vec<String>) {
    let mut shown = Vec::new();
    let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
    let mut items = |item: Item<'_>| {
        shown.push(format!("{item:?}"));
        match item {
            Item::Chunk(chunk) => decoder.push(chunk.origin(), chunk.bytes, &mut |_| {}),
            Item::Event(event) => {
                if let Some((origin, len)) = event.lost() {
                    decoder.gap(origin, len, &mut |_| {});
                }
            }
            _ => {}
        }
    };
    let mut input = CaptureInput::new(form);
    for piece in pieces {
        input.push(piece, &mut items);
    }
    input.finish(&mut items);
    decoder.finish(&mut |_| {});
    (input.form(), shown)
}

/// Returns a number for the kinds of the items.
fn shape_of(form: Form, items: &[String]) -> u64 {
    let kinds = items.iter().map(|item| {
        let end = item.find("bytes").unwrap_or(item.len()).min(60);
        let kind = item.chars().take(end).filter(|c| !c.is_ascii_digit());
        kind.collect::<String>()
    });
    shape::of(&(form.name(), kinds.collect::<BTreeSet<_>>()))
}

/// The last two bytes select the split of the input; the rest is the input. A split gives the same items.
pub fn check(form: Form, data: &[u8]) -> u64 {
    let Some((text, split)) = data.split_last_chunk() else {
        return 0;
    };
    let at = usize::from(u16::from_be_bytes(*split)) % (text.len() + 1);
    let (found, whole) = items_of(form, [text]);
    let (start, end) = text.split_at(at);
    let (again, split) = items_of(form, [start, end]);
    assert_eq!(found, again, "cut at {at}");
    for pair in whole.iter().zip(&split) {
        assert!(pair.0 == pair.1, "{form:?} cut at {at}: {pair:?}");
    }
    assert_eq!(whole.len(), split.len(), "{form:?} cut at {at}");
    shape_of(found, &whole)
}

/// The byte before the last two selects the form. Text shows its bytes in chunks that depend on the split, so only the
/// forms of captures are compared item by item.
pub fn check_any(data: &[u8]) -> u64 {
    let Some((text, [form, high, low])) = data.split_last_chunk() else {
        return 0;
    };
    let form = Form::ALL[usize::from(*form) % Form::ALL.len()];
    match form {
        Form::Har
        | Form::Strace
        | Form::Curl
        | Form::Socat
        | Form::Ngrep
        | Form::Tcpflow
        | Form::Tcpdump
        | Form::Tshark
        | Form::Pcap => check(form, &[text, &[*high, *low]].concat()),
        _ => check_bytes(form, text, usize::from(*low).max(1)),
    }
}

/// The form that was found, the bytes, and the number of missing ones.
fn bytes_of<'b>(form: Form, pieces: impl IntoIterator<Item = &'b [u8]>) -> (Form, Vec<u8>, u64) {
    let (mut bytes, mut missing) = (Vec::new(), 0_u64);
    let mut items = |item: Item<'_>| match item {
        Item::Chunk(chunk) => bytes.extend_from_slice(chunk.bytes),
        Item::Gap(gap) => missing = missing.saturating_add(gap.to - gap.from),
        _ => {}
    };
    let mut input = CaptureInput::new(form);
    for piece in pieces {
        input.push(piece, &mut items);
    }
    input.finish(&mut items);
    (input.form(), bytes, missing)
}

fn check_bytes(form: Form, text: &[u8], step: usize) -> u64 {
    let whole = bytes_of(form, [text]);
    let pieces = bytes_of(form, text.chunks(step));
    let shown = |(form, bytes, missing): &(Form, Vec<u8>, u64)| {
        format!("{form:?} {missing} {}", bytes.escape_ascii())
    };
    assert!(
        whole == pieces,
        "{form:?} in pieces of {step}:\n{}\n{}",
        shown(&whole),
        shown(&pieces)
    );
    let len = usize::BITS - whole.1.len().leading_zeros();
    shape::of(&(whole.0.name(), len, whole.2 > 0))
}

/// The last two bytes select the form and the size of the pieces.
pub fn check_text(data: &[u8]) -> u64 {
    let Some((text, [form, step])) = data.split_last_chunk() else {
        return 0;
    };
    let form = TEXTS[usize::from(*form) % TEXTS.len()];
    check_bytes(form, text, usize::from(*step).max(1))
}

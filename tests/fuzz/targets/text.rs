//! Reads any text in every way in which programs print bytes; the pieces that it comes in do not matter.
#![no_main]

use wiretool::capture::{CaptureInput, Form, Item};

const FORMS: [Form; 4] = [Form::Text, Form::Dump, Form::Literal, Form::Log];

/// The form that was found, the bytes, and the number of missing ones.
fn read<'b>(form: Form, pieces: impl IntoIterator<Item = &'b [u8]>) -> (Form, Vec<u8>, u64) {
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

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((text, [form, step])) = data.split_last_chunk() else {
        return;
    };
    let form = FORMS[usize::from(*form) % FORMS.len()];
    let whole = read(form, [text]);
    let pieces = read(form, text.chunks(usize::from(*step).max(1)));
    assert!(whole == pieces, "{form:?} in pieces of {step}");
});

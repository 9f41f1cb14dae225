//! Reads any bytes as an input of any form and detects its protocol.
#![no_main]

#[path = "../../laws/common.rs"]
#[allow(dead_code, reason = "shared with the laws, which use all of it")]
mod common;

use common::{Setup, assert_same, check_all, cut, json_of};
use wiretool::capture::{CaptureInput, Form, Item};

/// The bytes of an input in both directions.
fn bytes_of<'b>(form: Form, pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut items = |item: Item<'_>| {
        if let Item::Chunk(chunk) = item {
            bytes.extend_from_slice(chunk.bytes);
        }
    };
    let mut input = CaptureInput::new(form);
    for piece in pieces {
        input.push(piece, &mut items);
    }
    input.finish(&mut items);
    bytes
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((text, [form, high, low])) = data.split_last_chunk() else {
        return;
    };
    let form = Form::ALL[usize::from(*form) % Form::ALL.len()];
    let at = usize::from(u16::from_be_bytes([*high, *low])) % (text.len() + 1);
    let bytes = bytes_of(form, [text]);
    assert!(
        bytes == bytes_of(form, cut(text, &[at])),
        "{form:?} cut at {at}"
    );
    let setup = Setup::default();
    check_all(&setup, &bytes);
    let at = at % (bytes.len() + 1);
    let whole = json_of(&setup, [&bytes[..]]);
    let split = json_of(&setup, cut(&bytes, &[at]));
    assert_same(&whole, &split, || format!("cut at {at}"));
});

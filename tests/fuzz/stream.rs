//! Streams of a protocol.

use crate::common::{Setup, assert_same, check_all, cut, json_of};
use crate::shape;
use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::framing::Framing;
use wiretool::protocol::described::embedded;

/// Checks a stream of one of the protocols that files describe. The third of the last bytes also selects the protocol.
pub fn check_described(data: &[u8]) -> u64 {
    let names = embedded();
    let Some((_, [_, _, low])) = data.split_last_chunk() else {
        return 0;
    };
    check(names[usize::from(*low) % names.len()].name(), data)
}

/// The last three bytes select the framing and the split of the stream; the rest is the stream.
pub fn check(protocol: &'static str, data: &[u8]) -> u64 {
    let Some((bytes, [framing, high, low])) = data.split_last_chunk() else {
        return 0;
    };
    let framing = Framing::ALL.get(usize::from(framing % 16)).copied();
    let setup = Setup {
        framing,
        ..Setup::of(protocol)
    };
    let at = usize::from(u16::from_be_bytes([*high, *low])) % (bytes.len() + 1);
    check_all(&setup, bytes);
    let whole = json_of(&setup, [bytes]);
    let split = json_of(&setup, cut(bytes, &[at]));
    assert_same(&whole, &split, || format!("{setup:?} cut at {at}"));
    let shape = shape::of_lines(&whole);
    // A limit that small inputs reach.
    if high % 4 == 0 {
        let setup = setup.limited(u32::from(*low) + 1);
        let whole = json_of(&setup, [bytes]);
        let split = json_of(&setup, cut(bytes, &[at]));
        assert_same(&whole, &split, || format!("{setup:?} cut at {at}"));
    }
    shape
}

/// Returns the bytes of an input in both directions.
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

/// The last three bytes select the form and the split of the input; its protocol is detected.
pub fn check_input(data: &[u8]) -> u64 {
    let Some((text, [form, high, low])) = data.split_last_chunk() else {
        return 0;
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
    shape::of_lines(&whole)
}

//! The assertions of targets that read captures of other programs.

use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::decoder::{DecodeOptions, Decoder};
use wiretool::protocol::registry;

/// The chunks of an input: connection, direction and bytes. Its messages are decoded, too.
fn chunks_of<'b>(form: Form, pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<String> {
    let mut chunks = Vec::new();
    let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
    let mut items = |item: Item<'_>| {
        chunks.push(format!("{item:?}"));
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
    chunks
}

/// The last two bytes select the split of the input; the rest is the input.
pub fn check(form: Form, data: &[u8]) {
    let Some((text, split)) = data.split_last_chunk() else {
        return;
    };
    let at = usize::from(u16::from_be_bytes(*split)) % (text.len() + 1);
    let whole = chunks_of(form, [text]);
    let (start, end) = text.split_at(at);
    assert!(
        whole == chunks_of(form, [start, end]),
        "{form:?} cut at {at}"
    );
}

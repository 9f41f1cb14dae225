//! The assertions for packet captures.

use std::fmt::Write as _;
use wiretool::capture::{CaptureInput, Form, Item};

/// Reads a packet capture in pieces; returns a line for each item.
fn items_of<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> String {
    let mut text = String::new();
    let mut sink = |item: Item<'_>| {
        let _ = writeln!(text, "{item:?}");
    };
    let mut input = CaptureInput::new(Form::Pcap);
    for piece in pieces {
        input.push(piece, &mut sink);
    }
    input.finish(&mut sink);
    text
}

/// Puts the data behind the head of a file. The split of the file does not change its items.
pub fn check(head: &[u8], data: &[u8]) {
    let Some((rest, [high, low])) = data.split_last_chunk() else {
        return;
    };
    let file = [head, rest].concat();
    let at = usize::from(u16::from_be_bytes([*high, *low])) % (file.len() + 1);
    let (first, second) = file.split_at(at);
    assert!(
        items_of([file.as_slice()]) == items_of([first, second]),
        "cut at {at}"
    );
}

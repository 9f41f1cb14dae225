//! Captures of other programs give the same items in any split, and damage never panics.

use crate::common::cut;
use std::path::Path;
use wiretool::capture::{CaptureInput, Form, Item};

/// The fixtures: their names and bytes.
fn captures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captures");
    let files = std::fs::read_dir(folder).expect("fixtures");
    let mut captures: Vec<(String, Vec<u8>)> = files
        .map(|file| file.expect("a file").path())
        .map(|path| {
            (
                path.display().to_string(),
                std::fs::read(&path).expect("a file"),
            )
        })
        .collect();
    captures.sort();
    assert!(captures.len() >= 10, "{} fixtures", captures.len());
    captures
}

/// The items of an input. Chunks that only pushes separate do not occur in these forms, except raw.
fn items_of<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> (Form, String) {
    let mut items = String::new();
    let mut raw = Vec::new();
    let mut sink = |item: Item<'_>| match item {
        Item::Chunk(chunk) if chunk.direction.is_none() => raw.extend_from_slice(chunk.bytes),
        item => items.push_str(&format!("{item:?}\n")),
    };
    let mut input = CaptureInput::new(Form::Auto);
    for piece in pieces {
        input.push(piece, &mut sink);
    }
    input.finish(&mut sink);
    items.push_str(&raw.escape_ascii().to_string());
    (input.form(), items)
}

#[test]
fn captures_read_same_in_every_split() {
    for (name, bytes) in captures() {
        // Expected output is beside the captures.
        if [".json", ".tree"].iter().any(|end| name.ends_with(end)) {
            continue;
        }
        let whole = items_of([&bytes[..]]);
        assert_ne!(whole.0, Form::Raw, "{name}");
        for size in [1, 7, 4096] {
            assert!(
                whole == items_of(bytes.chunks(size)),
                "{name} in pieces of {size}"
            );
        }
    }
}

#[test]
fn damaged_captures_are_split_invariant() {
    for (name, bytes) in captures() {
        for at in (0..bytes.len()).step_by(bytes.len() / 60 + 1) {
            let start = &bytes[..at];
            let whole = items_of([start]);
            let split = items_of(cut(start, &[at / 2]));
            assert!(whole == split, "{name} cut off at {at}");
            for value in [0, b'\n', b'"', b'<', b'9', 0xff] {
                let mut bytes = bytes.clone();
                bytes[at] = value;
                let whole = items_of([&bytes[..]]);
                let split = items_of(cut(&bytes, &[at, bytes.len() / 2]));
                assert!(whole == split, "{name}, {value:#04x} at {at}");
            }
        }
    }
}

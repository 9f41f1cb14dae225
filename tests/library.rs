//! What a program that uses the library relies on: types that can be kept, shared between threads and printed.

use std::fmt::Debug;
use wiretool::decoder::Decoder;
use wiretool::encoding::Parsed;
use wiretool::framing::{Frame, Framer};
use wiretool::protocol::{Message, Notes};
use wiretool::tape::Tape;

fn is_clone<T: Clone>() {}
fn is_debug<T: Debug>() {}
fn is_shared<T: Send + Sync>() {}

#[test]
fn values_of_messages_can_be_kept() {
    is_clone::<Tape>();
    is_clone::<Parsed>();
}

#[test]
fn readers_are_shared_between_threads() {
    is_shared::<Framer>();
    is_shared::<Decoder<'static>>();
    is_shared::<Parsed>();
}

#[test]
fn readers_and_messages_are_printed() {
    is_debug::<Framer>();
    is_debug::<Frame<'static>>();
    is_debug::<Decoder<'static>>();
    is_debug::<Message<'static>>();
    is_debug::<Notes>();
}

#[cfg(feature = "capture")]
#[test]
fn a_gap_is_in_the_stream_of_its_chunks() {
    use wiretool::capture::{CaptureInput, Form, Item};

    let dump = b"00000000: 0000 0001 4100 0000 0142 0000 0001 4300\n00000010: 0000 0001 4100 0000 0142 0000 0001 4300\n00000030: 0000 0001 4100 0000 0142 0000 0001 4300\n";
    let mut origins = Vec::new();
    let mut sink = |item: Item<'_>| match item {
        Item::Chunk(chunk) => origins.push(("chunk", chunk.origin())),
        Item::Gap(gap) => origins.push(("gap", gap.origin())),
        _ => {}
    };
    let mut input = CaptureInput::new(Form::Xxd);
    input.push(dump, &mut sink);
    input.finish(&mut sink);
    let names: Vec<_> = origins.iter().map(|(name, _)| *name).collect();
    assert!(
        names.contains(&"gap") && names.contains(&"chunk"),
        "{names:?}"
    );
    for (name, origin) in &origins {
        assert_eq!(origin.conn, origins[0].1.conn, "{name}");
        assert_eq!(origin.direction, origins[0].1.direction, "{name}");
    }
}

//! An input gives the same frames in every form and in any split.

use crate::chunking::runner;
use crate::common::{Setup, assert_same, cut, json_of};
use crate::seeds::{Seed, built};
use base64::Engine;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::io::Write as _;
use wiretool::capture::{CaptureInput, ChunkSource, Form, Header, Item, RecordingWriter};
use wiretool::decoder::{Decoded, Decoder, Origin};
use wiretool::encoding::Want;
use wiretool::render::{DisplayOptions, json};

/// The JSON lines of an input in these pieces, with all connections and directions taken as one.
fn json_of_input<'b>(
    setup: &Setup,
    form: Form,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> String {
    let mut decoder = Decoder::new(setup.options(Want::Text));
    let mut out = Vec::new();
    let mut input = CaptureInput::new(form);
    let mut frames =
        |decoded: &Decoded<'_>| json::write(decoded, None, DisplayOptions::default(), &mut out);
    let mut items = |item: Item<'_>| {
        if let Item::Chunk(chunk) = item {
            decoder.push(Origin::default(), chunk.bytes, &mut frames);
        }
    };
    for piece in pieces {
        input.push(piece, &mut items);
    }
    input.finish(&mut items);
    decoder.finish(&mut frames);
    if decoder.undetected() > 0 {
        out.extend_from_slice(format!("undetected: {}\n", decoder.undetected()).as_bytes());
    }
    String::from_utf8(out).expect("JSON output is UTF-8")
}

/// A stream in every form that can hold it.
fn forms(bytes: &[u8]) -> Vec<(Form, Vec<u8>)> {
    let mut hex = String::new();
    for row in bytes.chunks(11) {
        for byte in row {
            let _ = write!(hex, "{byte:02x} ");
        }
        hex.push_str(" # eleven bytes\n");
    }
    let mut xxd = String::new();
    for (i, row) in bytes.chunks(16).enumerate() {
        let _ = write!(xxd, "{:08x}: ", i * 16);
        for pair in row.chunks(2) {
            let _ = write!(xxd, "{} ", hex::encode(pair));
        }
        let shown = row.iter().map(|b| {
            if b.is_ascii_graphic() {
                *b as char
            } else {
                '.'
            }
        });
        xxd.push(' ');
        xxd.extend(shown);
        xxd.push('\n');
    }
    let mut base64 = String::new();
    for row in base64::engine::general_purpose::STANDARD
        .encode(bytes)
        .as_bytes()
        .chunks(76)
    {
        base64.push_str(std::str::from_utf8(row).expect("ASCII"));
        base64.push('\n');
    }
    let mut jsonl = String::new();
    let mut recording = Vec::new();
    let header: Header =
        serde_json::from_str(r#"{"wiretool":1,"started":"2026-01-02T03:04:05.000000006Z"}"#)
            .expect("a header");
    let mut writer = RecordingWriter::new(&header, &mut recording);
    for (n, read) in bytes.chunks(29).enumerate() {
        let wire = hex::encode(read);
        let _ = writeln!(
            jsonl,
            r#"{{"v":1,"index":{n},"offset":{},"len":{},"framing":"lines","wire":{{"hex":"{wire}"}}}}"#,
            n * 29,
            read.len()
        );
        let t = i64::try_from(n).expect("few reads");
        writer.chunk(t, 0, None, ChunkSource::C2s, read, &mut recording);
    }
    writer.end(i64::MAX / 2, &mut recording);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).expect("writing to memory");
    let gzip = gzip.finish().expect("writing to memory");
    vec![
        (Form::Raw, bytes.to_vec()),
        (Form::Raw, gzip),
        (Form::Hex, hex.into_bytes()),
        (Form::Xxd, xxd.into_bytes()),
        (Form::Base64, base64.into_bytes()),
        (Form::Jsonl, jsonl.into_bytes()),
        (Form::Recording, recording),
    ]
}

fn check(seed: &Seed, setup: &Setup) {
    let plain = json_of(setup, [&seed.bytes[..]]);
    for (form, text) in forms(&seed.bytes) {
        let what = |how: &str| format!("{} as {form:?} {how} with {setup:?}", seed.name);
        let whole = json_of_input(setup, form, [&text[..]]);
        assert_same(&plain, &whole, || what("whole"));
        for size in [1, 7] {
            let split = json_of_input(setup, form, text.chunks(size));
            assert_same(&whole, &split, || what(&format!("in pieces of {size}")));
        }
        // Raw bytes may look like another form; every other form is recognised.
        if form != Form::Raw {
            for size in [1, 7, text.len()] {
                let found = json_of_input(setup, Form::Auto, text.chunks(size));
                assert_same(&whole, &found, || {
                    what(&format!("detected in pieces of {size}"))
                });
            }
        }
        let places = prop::collection::vec(0..=text.len(), 1..6);
        runner(6)
            .run(&places, |places| {
                let split = json_of_input(setup, form, cut(&text, &places));
                assert_same(&whole, &split, || what(&format!("cut at {places:?}")));
                Ok(())
            })
            .unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn built_streams_read_same_in_every_form() {
    for seed in built() {
        for setup in seed.setups() {
            check(&seed, &setup);
        }
    }
}

#[test]
fn damaged_forms_are_split_invariant() {
    for seed in built().iter().step_by(4) {
        let setup = seed.setups()[1];
        for (form, text) in forms(&seed.bytes) {
            for at in (0..text.len()).step_by(text.len() / 40 + 1) {
                for value in [0, b'\n', b'z', b'>', 0xff] {
                    let mut text = text.clone();
                    text[at] = value;
                    for form in [form, Form::Auto] {
                        let whole = json_of_input(&setup, form, [&text[..]]);
                        let split = json_of_input(&setup, form, text.chunks(1));
                        assert_same(&whole, &split, || {
                            format!("{} as {form:?}, {value:#04x} at {at}", seed.name)
                        });
                    }
                }
            }
        }
    }
}

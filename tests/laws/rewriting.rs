//! The decoded messages are written as the same bytes.

use crate::common::Setup;
use crate::seeds::captured;
use wiretool::decoder::{Decoded, Decoder, Origin};
use wiretool::encoding::{Encoding, Want, json, lossless};
use wiretool::framing::Framing;
use wiretool::protocol::{Direction, MessageForm, Role, WriteOptions};
use wiretool::span::Span;
use wiretool::tape::Tape;

/// The message as exact text, and the way to write it.
fn exact_message(
    decoded: &Decoded<'_>,
    direction: Option<Direction>,
) -> Option<(Vec<u8>, WriteOptions)> {
    let message = decoded.message;
    let bytes = decoded.frame.view.bytes;
    let body = message.body.of(bytes);
    let packed = matches!(body.first(), Some(0x80..=0x9f | 0xdc..=0xdf));
    let mut text = Vec::new();
    let form = match (decoded.protocol.name(), packed) {
        ("telequick", _) => {
            decoded.write_message(&mut text);
            MessageForm::Json
        }
        (_, true) => {
            lossless::write_exact(decoded.root()?, Encoding::MessagePack, &mut text);
            MessageForm::MessagePack
        }
        (_, false) => {
            text.extend_from_slice(body);
            MessageForm::Json
        }
    };
    let header = decoded.frame.view.body.of(bytes);
    let form = match (message.dialect.as_deref(), header) {
        (Some("header form"), [version, a, b, c, ..]) => MessageForm::Header {
            version: *version,
            kind: [*a, *b, *c],
            packed,
        },
        _ => form,
    };
    let options = WriteOptions {
        force: false,
        direction,
        form,
    };
    Some((text, options))
}

/// Writes the message again; an error gives the reason of the refusal.
fn write_again(
    decoded: &Decoded<'_>,
    text: &[u8],
    options: &WriteOptions,
) -> Result<Vec<u8>, String> {
    let (mut tape, mut out) = (Tape::new(), Vec::new());
    json::parse(text, Span::new(0, text.len()), 1000, &mut tape).map_err(|e| e.to_string())?;
    let root = tape.root(text).ok_or("no value")?;
    let written = decoded.protocol.write(root, options, &mut out);
    written.map_err(|e| e.to_string())?;
    Ok(out)
}

#[test]
fn recorded_messages_are_written_as_same_bytes() {
    let (mut same, mut refused) = (0, Vec::new());
    for seed in captured(usize::MAX) {
        let direction = if seed.name.contains("c2s") {
            Some(Direction::ToServer)
        } else if seed.name.contains("s2c") {
            Some(Direction::ToClient)
        } else {
            None
        };
        let mut decoder = Decoder::new(Setup::of(seed.protocol).options(Want::Places));
        let mut sink = |decoded: &Decoded<'_>| {
            let message = decoded.message;
            let real = decoded.frame.control.is_none() && message.role != Some(Role::Control);
            if decoded.is_faulty() || !message.valid || message.value.is_none() || !real {
                return;
            }
            let Some((text, options)) = exact_message(decoded, direction) else {
                return;
            };
            let forced = WriteOptions {
                force: true,
                ..options
            };
            let out = write_again(decoded, &text, &forced);
            let skip = match options.form {
                MessageForm::Header { .. } => 4,
                _ => 0,
            };
            let body = message.body.of(decoded.frame.view.bytes);
            let reported = String::from_utf8_lossy(&text).into_owned();
            let out = out.unwrap_or_else(|e| panic!("{}: {reported}: {e}", seed.name));
            let mut want = body.to_vec();
            if decoded.frame.framing == Framing::Values {
                // A message on several lines is written on one.
                for byte in want.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
                    *byte = b' ';
                }
            }
            let mut got = &out[skip..];
            if decoded.frame.framing == Framing::Lines {
                // Space around a message belongs to the line; a CR inside it is written as a space.
                got = got.trim_ascii();
                want = want.trim_ascii().to_vec();
                for byte in want.iter_mut().filter(|byte| **byte == b'\r') {
                    *byte = b' ';
                }
            }
            assert_eq!(got, want, "{}: {reported}", seed.name);
            match write_again(decoded, &text, &options) {
                Ok(_) => same += 1,
                Err(error) => refused.push(format!("{}: {error}", seed.name)),
            }
        };
        let origin = Origin {
            direction,
            ..Origin::default()
        };
        decoder.push(origin, &seed.bytes, &mut sink);
        decoder.finish(&mut sink);
    }
    // Recordings contain deliberately wrong messages; there are few of them.
    assert!(refused.len() * 20 <= same, "{same} and {refused:#?}");
    println!("{same} written, {} refused: {refused:#?}", refused.len());
}

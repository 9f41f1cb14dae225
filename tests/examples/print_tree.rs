//! Prints each message as a tree with the position of every field. Needs the feature `render`.

use std::error::Error;
use std::io::{self, Write};
use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use wiretool::protocol::{Notes, registry};
use wiretool::render::{DisplayOptions, tree};

/// A frame of telequick: `Barge` of a call.
const FRAME: &[u8] = b"\x11\0\0\0\x12\xfa\xbb\xe5\0\0\x07\0\0\0\x03\0\0\0abc";

/// The example. Its test compares the output.
pub fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
    let mut notes = Notes::default();
    let mut print = |decoded: &Decoded<'_>| -> io::Result<()> {
        let mut text = String::new();
        tree::write(
            decoded,
            None,
            DisplayOptions::default(),
            &mut notes,
            &mut text,
        );
        out.write_all(text.as_bytes())
    };
    let mut frame = FRAME;
    decoder.try_push(Origin::default(), &mut frame, &mut print)?;
    decoder.try_finish(&mut print)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

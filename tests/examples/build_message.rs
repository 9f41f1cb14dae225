//! Builds a message from a struct and writes it as a frame: `MessagePack` with a length prefix.

use serde::Serialize;
use std::error::Error;
use std::io::{self, Write};
use wiretool::encode::{Bytes, EncodeOptions, Encoder};
use wiretool::protocol::Direction;
use wiretool::protocol::make::IdGen;
use wiretool::protocol::registry;

/// A call of saikuro.
#[derive(Serialize)]
struct Call<'a> {
    version: u32,
    #[serde(rename = "type")]
    kind: &'a str,
    id: Bytes<'a>,
    target: &'a str,
    args: (i64, i64),
}

/// The example. Its test compares the output.
pub fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let saikuro = registry::find("saikuro").ok_or("no saikuro")?;
    let mut encoder = Encoder::new(EncodeOptions::new(saikuro), IdGen::new(1));
    let mut call = Call {
        version: 1,
        kind: "call",
        id: Bytes(&[7; 16]),
        target: "math.add",
        args: (20, 22),
    };
    let mut frame = Vec::new();
    encoder.write(&call, Some(Direction::ToServer), &mut frame)?;
    writeln!(out, "{}", frame.escape_ascii())?;

    // A value that is not a message of the protocol is refused with the name of the field.
    call.id = Bytes(&[]);
    match encoder.write(&call, Some(Direction::ToServer), &mut frame) {
        Ok(()) => writeln!(out, "written")?,
        Err(refusal) => writeln!(out, "{refusal}")?,
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

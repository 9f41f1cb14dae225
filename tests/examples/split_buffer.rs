//! Splits a buffer into frames, without a protocol.

use std::error::Error;
use std::io::{self, Write};
use wiretool::framing::{Framing, Hints, Limits, frames};

/// Two frames with a big-endian length prefix, and one that is truncated by the end of the buffer.
const BUFFER: &[u8] = b"\0\0\0\x02hi\0\0\0\x05there\0\0\0\x09cut";

/// The example. Its test compares the output.
pub fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    for frame in frames(BUFFER, Framing::Prefix, Hints::default(), Limits::default()) {
        let body = String::from_utf8_lossy(frame.body());
        match &frame.fault {
            None => writeln!(out, "{body:?} at {}", frame.offset)?,
            Some(fault) => writeln!(out, "{body:?} at {}: {}", frame.offset, fault.error)?,
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

//! Decodes a stream while its bytes arrive. The protocol and the framing are detected.

use std::error::Error;
use std::io::{self, Read, Write};
use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use wiretool::protocol::registry;

/// The bytes of one side of a connection. Any reader works, such as a file or a socket.
const STREAM: &[u8] =
    br#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[]}}
{"jsonrpc":"2.0","method":"shutdown"}
"#;

/// The example. Its test compares the output.
pub fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    read(STREAM, out)
}

fn read(mut input: impl Read, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
    let mut print = |decoded: &Decoded<'_>| -> io::Result<()> {
        let (protocol, message) = (decoded.protocol.name(), decoded.message);
        writeln!(
            out,
            "{protocol} {} {}",
            message.kind,
            message.subject.as_deref().unwrap_or("-")
        )
    };
    let mut buffer = [0; 16];
    loop {
        let read = input.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        let mut bytes = &buffer[..read];
        decoder.try_push(Origin::default(), &mut bytes, &mut print)?;
    }
    decoder.try_finish(&mut print)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

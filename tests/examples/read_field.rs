//! Reads one field of a message and the bytes that hold it.

use std::error::Error;
use std::io::{self, Write};
use wiretool::encoding::json;
use wiretool::span::Span;
use wiretool::tape::Tape;

const MESSAGE: &[u8] = br#"{"kind":"INV","seq":7,"tool":"search","input":{"q":"caf\u00e9"}}"#;

/// The example. Its test compares the output.
pub fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut tape = Tape::new();
    json::parse(MESSAGE, Span::new(0, MESSAGE.len()), 128, &mut tape)?;
    let root = tape.root(MESSAGE).ok_or("no value")?;
    let input = root.get("input").ok_or("no input")?;
    let query = input.get("q").ok_or("no query")?;

    let span = query.span();
    let spelled = String::from_utf8_lossy(span.of(MESSAGE));
    let text = query.text().ok_or("the query is no text")?;
    writeln!(
        out,
        "{text}, spelled {spelled}, in bytes {}..{}",
        span.at(),
        span.end()
    )?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

//! Shows lines that children wrote to stderr, between the messages.

use crate::capture::{Event, write_time};
use crate::cli::stderr_lines::{StderrLine, StderrLines};
use crate::encoding::json::write_str;
use crate::render::{DisplayOptions, Format};

/// The lines of stderr among the messages.
#[derive(Default)]
pub struct StderrAmongMessages {
    lines: StderrLines,
    /// The index of the message before.
    after: Option<u64>,
}

impl StderrAmongMessages {
    /// Records the index of a message.
    pub fn see(&mut self, index: u64) {
        self.after = Some(index);
    }

    /// Writes the lines that end with an event.
    pub fn add(
        &mut self,
        event: &Event<'_>,
        format: Format,
        display: DisplayOptions,
        out: &mut Vec<u8>,
    ) {
        let after = self.after;
        self.lines
            .add(event, &mut |line| write(line, after, format, display, out));
    }

    /// Writes the lines that have not ended, and starts another input.
    pub fn end(&mut self, format: Format, display: DisplayOptions, out: &mut Vec<u8>) {
        let after = self.after.take();
        self.lines
            .end(&mut |line| write(line, after, format, display, out));
    }
}

fn write(
    line: StderrLine<'_>,
    after: Option<u64>,
    format: Format,
    display: DisplayOptions,
    out: &mut Vec<u8>,
) {
    if format == Format::Json {
        write_json(line, after, display, out);
        return;
    }
    let mut text = String::new();
    line.write(display, &mut text);
    out.extend_from_slice(text.as_bytes());
}

fn write_json(
    line: StderrLine<'_>,
    after: Option<u64>,
    display: DisplayOptions,
    out: &mut Vec<u8>,
) {
    let StderrLine { conn, time, bytes } = line;
    out.extend_from_slice(format!("{{\"v\":1,\"conn\":{conn}").as_bytes());
    write_time("time", time, out);
    out.extend_from_slice(b",\"kind\":\"stderr\",\"role\":\"control\",\"message\":");
    match std::str::from_utf8(bytes) {
        Ok(text) => write_str(text, out),
        Err(_) => {
            out.extend_from_slice(format!("{{\"$str\":\"{}\"}}", hex::encode(bytes)).as_bytes());
        }
    }
    if let Some(after) = after {
        out.extend_from_slice(format!(",\"after\":{after}").as_bytes());
    }
    let source = display.sources.and_then(|all| all.name_of(Some(conn)));
    if let Some(name) = source {
        out.extend_from_slice(b",\"src\":");
        write_str(name, out);
    }
    out.extend_from_slice(b"}\n");
}

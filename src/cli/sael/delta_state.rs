//! Shows the state of a stream after each delta.

use crate::decoder::Decoded;
use crate::protocol::sael::delta::{DeltaStep, Folded, States, is_secret_member, key_json};
use crate::protocol::{Protocol as _, sael::Sael};
use crate::render::DisplayOptions;
use crate::render::style::{Highlight, shorten};

/// The maximum number of characters of a value in a line.
const MAX_LINE: usize = 160;
/// The maximum number of characters of a value in a block, and of lines of a block.
const MAX_VALUE: usize = 100;
const MAX_LINES: usize = 1000;

/// Applies the deltas of a run, and shows the effect of the last message.
#[derive(Default)]
pub struct DeltaStates {
    states: States,
    line: String,
    block: String,
}

impl DeltaStates {
    /// Applies a message.
    pub fn apply(&mut self, decoded: &Decoded<'_>, display: DisplayOptions) {
        self.line.clear();
        self.block.clear();
        if decoded.protocol.name() != Sael.name() {
            return;
        }
        let step = self
            .states
            .see(decoded.origin.conn, decoded.message, decoded.root());
        match step {
            None => {}
            Some(DeltaStep::TooLarge) => {
                self.line.push_str("too large to track");
                self.block.push_str("  state  too large to track\n");
            }
            Some(DeltaStep::Now(value)) => {
                value.write(display.show_secrets, 4 * MAX_LINE, &mut self.line);
                let mut lines = 0;
                let out = &mut self.block;
                out.push_str("  state ");
                write_value(value, display, 1, &mut lines, out);
                if lines >= MAX_LINES {
                    out.push_str("    …\n  }\n");
                }
            }
        }
    }

    /// Writes a line below the line of the message.
    pub fn write_line(&self, display: DisplayOptions, out: &mut String) {
        if !self.line.is_empty() {
            let text = format!("      = state {}", shorten(&self.line, MAX_LINE));
            display.style.push_wire(out, Highlight::Note, &text);
            out.push('\n');
        }
    }

    /// Writes a block below the block of the message.
    pub fn write_block(&self, display: DisplayOptions, out: &mut String) {
        for line in self.block.lines() {
            display.style.push_wire(out, Highlight::Note, line);
            out.push('\n');
        }
    }
}

/// Writes each member of an object on a line, any other value on one line.
fn write_value(
    value: &Folded,
    display: DisplayOptions,
    depth: usize,
    lines: &mut usize,
    out: &mut String,
) {
    let indent = "  ".repeat(depth);
    let Folded::Object(members) = value else {
        let mut text = String::new();
        value.write(display.show_secrets, 4 * MAX_VALUE, &mut text);
        out.push_str(&shorten(&text, MAX_VALUE));
        out.push('\n');
        return;
    };
    out.push_str("{\n");
    for (key, value) in members.iter() {
        *lines += 1;
        if *lines >= MAX_LINES {
            return;
        }
        out.push_str(&format!(
            "{indent}  {}: ",
            shorten(&key_json(key), MAX_VALUE)
        ));
        if !display.show_secrets && is_secret_member(key, value) {
            out.push_str("(secret)\n");
        } else {
            write_value(value, display, depth + 1, lines, out);
        }
    }
    out.push_str(&format!("{indent}}}\n"));
}

//! What a stream's value has come to, beside the message that changed it.

use crate::decoder::Decoded;
use crate::protocol::sael::delta::{Folded, States, Step, is_secret_member, key_json};
use crate::protocol::{Protocol as _, sael::Sael};
use crate::render::Look;
use crate::render::style::{Tone, shorten};

/// Characters of a value on a line of its own.
const LINE: usize = 160;
/// Characters of a value in a block, and lines of a block.
const VALUE: usize = 100;
const LINES: usize = 1000;

/// Folds the deltas of a run, and shows what the last message did.
#[derive(Default)]
pub struct Folds {
    states: States,
    line: String,
    block: String,
}

impl Folds {
    /// Takes note of a message.
    pub fn see(&mut self, decoded: &Decoded<'_>, look: Look) {
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
            Some(Step::TooLarge) => {
                self.line.push_str("too large to be followed");
                self.block.push_str("  state  too large to be followed\n");
            }
            Some(Step::Now(value)) => {
                value.write(look.show_secrets, 4 * LINE, &mut self.line);
                let mut lines = 0;
                let out = &mut self.block;
                out.push_str("  state ");
                block(value, look, 1, &mut lines, out);
                if lines >= LINES {
                    out.push_str("    …\n  }\n");
                }
            }
        }
    }

    /// A line below the message's own.
    pub fn line(&self, look: Look, out: &mut String) {
        if !self.line.is_empty() {
            let text = format!("      = state {}", shorten(&self.line, LINE));
            look.style.wire(out, Tone::Note, &text);
            out.push('\n');
        }
    }

    /// A block below the message's own.
    pub fn block(&self, look: Look, out: &mut String) {
        for line in self.block.lines() {
            look.style.wire(out, Tone::Note, line);
            out.push('\n');
        }
    }
}

/// Objects a member a line; anything else on one.
fn block(value: &Folded, look: Look, depth: usize, lines: &mut usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let Folded::Object(members) = value else {
        let mut text = String::new();
        value.write(look.show_secrets, 4 * VALUE, &mut text);
        out.push_str(&shorten(&text, VALUE));
        out.push('\n');
        return;
    };
    out.push_str("{\n");
    for (key, value) in members.iter() {
        *lines += 1;
        if *lines >= LINES {
            return;
        }
        out.push_str(&format!("{indent}  {}: ", shorten(&key_json(key), VALUE)));
        if !look.show_secrets && is_secret_member(key, value) {
            out.push_str("(secret)\n");
        } else {
            block(value, look, depth + 1, lines, out);
        }
    }
    out.push_str(&format!("{indent}}}\n"));
}

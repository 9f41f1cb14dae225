//! Writes texts to the output. Holds back the first ones, until it is known how they are shown.
//!
//! ```text
//!   the first message --> FirstMessage --> is it the only one? --> its tree, or its line
//!   lines of messages --> FirstScreen --> how wide are the columns? --> output
//! ```

use crate::cli::output::CommandOutput;
use crate::render::DisplayOptions;
use crate::render::Renderer;
use anyhow::Result;

/// The maximum number of messages and of bytes that the first screen holds back.
const MAX_MESSAGES: usize = 50;
const MAX_BYTES: usize = 1 << 16;

/// The output of messages.
pub struct TextWriter {
    pub output: CommandOutput,
    pub renderer: Renderer,
    first_message: Option<FirstMessage>,
    /// Present while the first lines of a file wait for their layout.
    first_screen: Option<FirstScreen>,
}

/// The first message, in both formats, until it is known if it is the only one.
pub struct FirstMessage {
    pub line: Vec<u8>,
    pub tree: Vec<u8>,
}

/// The messages of the first screen, whose columns are as wide as what they show.
#[derive(Default)]
struct FirstScreen {
    text: Vec<u8>,
    messages: usize,
}

impl TextWriter {
    pub fn new(output: CommandOutput) -> Self {
        Self {
            output,
            renderer: Renderer::default(),
            first_message: None,
            first_screen: None,
        }
    }

    /// Holds back the next lines, until they fill a screen.
    pub fn hold_screen(&mut self) {
        self.renderer.hold();
        self.first_screen.get_or_insert_default();
    }

    /// Holds back the first message, until a second one or the end.
    pub fn hold_message(&mut self, message: FirstMessage) {
        self.first_message = Some(message);
    }

    pub fn holds_message(&self) -> bool {
        self.first_message.is_some()
    }

    /// Writes the first message as a line, because it is not the only one.
    pub fn release(&mut self, display: DisplayOptions) -> Result<()> {
        match self.first_message.take() {
            Some(first_message) => self.put(&first_message.line, display),
            None => Ok(()),
        }
    }

    /// Writes the first message as a tree, because it is the only one.
    pub fn release_as_tree(&mut self) {
        if let Some(first_message) = self.first_message.take() {
            self.output.push(&first_message.tree);
        }
    }

    /// Writes a text of one or more messages, or keeps it for the first screen.
    pub fn put(&mut self, text: &[u8], display: DisplayOptions) -> Result<()> {
        let Some(first) = &mut self.first_screen else {
            self.output.push(text);
            return self.output.written();
        };
        first.text.extend_from_slice(text);
        first.messages += 1;
        if first.messages >= MAX_MESSAGES || first.text.len() >= MAX_BYTES {
            self.lay_out(display);
        }
        Ok(())
    }

    /// Writes the first screen.
    pub fn lay_out(&mut self, display: DisplayOptions) {
        if let Some(first) = self.first_screen.take() {
            let out = self.output.buffer();
            self.renderer.lay_out(&first.text, display, out);
        }
    }

    /// Lays out lines that were kept while the first screen was held back.
    pub fn lay_out_kept(&mut self, lines: &mut Vec<u8>, display: DisplayOptions) {
        if !lines.is_empty() && self.first_screen.is_none() {
            let kept = std::mem::take(lines);
            self.renderer.lay_out(&kept, display, lines);
        }
    }

    /// Writes all output that waits.
    pub fn flush(&mut self, display: DisplayOptions) -> Result<()> {
        self.release(display)?;
        self.lay_out(display);
        self.output.flush()
    }
}

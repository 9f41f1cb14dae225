//! The first messages, until it is known how they are shown.

/// The maximum number of messages and of bytes that the first screen holds back.
const MAX_MESSAGES: usize = 50;
const MAX_BYTES: usize = 1 << 16;

/// The first message, in both formats, until it is known if it is the only one.
pub struct FirstMessage {
    pub line: Vec<u8>,
    pub tree: Vec<u8>,
}

/// The messages of the first screen, whose columns are as wide as what they show.
#[derive(Default)]
pub struct FirstScreen {
    pub text: Vec<u8>,
    messages: usize,
}

impl FirstScreen {
    /// Adds a message. Returns true if the screen is full.
    pub fn add(&mut self, text: &[u8]) -> bool {
        self.text.extend_from_slice(text);
        self.messages += 1;
        self.messages >= MAX_MESSAGES || self.text.len() >= MAX_BYTES
    }
}

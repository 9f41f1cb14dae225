//! Writes to stderr without waiting.

use super::poll::poll;
use super::print_message;
use rustix::event::PollFlags;
use std::io::Write as _;
use std::time::Duration;

/// Prints a text, or drops it if the write would block: the parent process may read our stderr late or never.
pub fn print_nonblocking(text: &str) {
    if stderr_has_room() {
        print_message(text);
    }
}

/// Prints a text that is already escaped.
pub fn print_escaped_nonblocking(text: &str) {
    if stderr_has_room() {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

fn stderr_has_room() -> bool {
    !poll(&std::io::stderr(), PollFlags::OUT, Duration::ZERO).is_empty()
}

//! Writes to stderr without waiting.

use super::print_message;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Prints a text, or drops it if the write would block: the parent process may read our stderr late or never.
pub fn print_nonblocking(text: &str) {
    if stderr_has_room() {
        print_message(text);
    }
}

/// Prints a text that is already escaped.
pub fn print_escaped_nonblocking(text: &str) {
    use std::io::Write as _;
    if stderr_has_room() {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

fn stderr_has_room() -> bool {
    let stderr = std::io::stderr();
    let mut fds = [PollFd::new(&stderr, PollFlags::OUT)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
}

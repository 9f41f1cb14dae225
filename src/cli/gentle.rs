//! What is said where nobody need listen.

use super::complain;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Says something unless that would have to wait: whoever started us may read our stderr late or never.
pub fn gently(text: &str) {
    if stderr_has_room() {
        complain(text);
    }
}

/// The same for text that was escaped already.
pub fn gently_raw(text: &str) {
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

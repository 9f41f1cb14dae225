//! Sends what a thread prints to the thread that prints everything in order.

use std::cell::RefCell;
use std::io::Write as _;
use std::sync::mpsc::SyncSender;

/// What was printed.
pub enum Printed {
    /// Output.
    Output(Vec<u8>),
    /// Lines of stderr.
    Message(String),
}

thread_local! {
    static RECEIVING: RefCell<Option<SyncSender<Printed>>> = const { RefCell::new(None) };
}

/// Sends the messages of this thread to another one from now on; `None`: prints them.
pub fn send_to(thread: Option<SyncSender<Printed>>) {
    RECEIVING.set(thread);
}

/// Prints lines to stderr, or sends them. A closed stderr is ignored.
pub fn print(lines: String) {
    let thread = RECEIVING.with_borrow(Clone::clone);
    if let Some(thread) = thread {
        // Nobody may want them any more.
        let _ = thread.send(Printed::Message(lines));
        return;
    }
    super::progress::clear();
    // One write: several threads may print at the same time.
    let _ = std::io::stderr().write_all(lines.as_bytes());
}

//! Keeps what a thread prints, for the thread that prints everything in order.

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
    static JOURNAL: RefCell<Option<SyncSender<Printed>>> = const { RefCell::new(None) };
}

/// Keeps the messages of this thread from now on; `None`: prints them.
pub fn keep(journal: Option<SyncSender<Printed>>) {
    JOURNAL.set(journal);
}

/// Prints lines to stderr, or keeps them. A closed stderr is ignored.
pub fn print(lines: String) {
    let journal = JOURNAL.with_borrow(Clone::clone);
    if let Some(journal) = journal {
        // Nobody may want them any more.
        let _ = journal.send(Printed::Message(lines));
        return;
    }
    super::progress::clear();
    // One write: several threads may print at the same time.
    let _ = std::io::stderr().write_all(lines.as_bytes());
}

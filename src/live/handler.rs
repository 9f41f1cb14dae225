//! A participant of a conversation: events go in, commands come out.
//!
//! ```text
//!   transport: opened, received, ended, tick  -->  Handler  -->  Command: connect, send, close, print, stop  --> transport
//! ```
//!
//! A handler uses no socket and no clock; times are nanoseconds since 1970. The driver calls it from one thread, one
//! call after another, and executes the commands in order.

use crate::protocol::Channel;

/// The end of a connection or a stream, or of one direction of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The peer sends nothing more; it may still receive.
    Eof,
    /// Both directions are closed in order.
    Closed,
    /// The connection was reset.
    Reset,
    /// The connection could not be opened, with the reason.
    Refused(String),
    /// The child has exited: its status, or 128 plus the number of the signal that ended it.
    Exited(i32),
}

/// An instruction to the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Opens a connection, or starts a child, under this number; [`Handler::opened`] or [`Handler::ended`] follows.
    Connect(u32),
    /// Sends bytes. A stream that does not exist yet is opened, after all those with lower numbers.
    Send(Channel, Vec<u8>),
    /// Ends our direction after the bytes that were queued before.
    Finish(Channel),
    /// Closes the connection after everything is sent, and waits for a child.
    Close(u32),
    /// Resets the connection, or kills the child.
    Reset(u32),
    /// Shows text on stdout.
    Print(String),
    /// Shows a message for the user on stderr.
    Log(String),
    /// Ends the run: executes the earlier commands, then closes all connections.
    Stop,
}

/// A participant of a conversation.
pub trait Handler: Send {
    /// Called once, at the start of the run.
    fn begin(&mut self, now: i64, commands: &mut Vec<Command>) {
        let _ = (now, commands);
    }

    /// A connection is open: this side opened it or accepted it.
    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>);

    /// The peer has sent bytes.
    fn received(&mut self, channel: Channel, bytes: &[u8], now: i64, commands: &mut Vec<Command>);

    /// A connection or a stream has ended. After [`Ended::Eof`] another end follows.
    fn ended(&mut self, channel: Channel, how: &Ended, now: i64, commands: &mut Vec<Command>);

    /// The time at which [`Handler::tick`] is called if no event precedes it.
    fn due(&self) -> Option<i64> {
        None
    }

    /// The time of [`Handler::due`] has come.
    fn tick(&mut self, now: i64, commands: &mut Vec<Command>) {
        let _ = (now, commands);
    }

    /// The user interrupts the run: SIGINT, SIGTERM. Unless [`Command::Stop`] follows at once, it is called only once
    /// more.
    fn interrupted(&mut self, now: i64, commands: &mut Vec<Command>) {
        let _ = now;
        commands.push(Command::Stop);
    }
}

//! One that takes part in a conversation: what it hears goes in, what is to be done comes out.
//!
//! ```text
//!   transport: opened, received, ended, tick  -->  Handler  -->  Command: connect, send, close, print, stop  --> transport
//! ```
//!
//! A handler touches no socket and no clock; times are nanoseconds since 1970. Whoever drives it calls it from one thread,
//! one call after another, and carries out the commands in the order in which they were given.

/// How a connection, or one direction of it, came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The other side says no more; it may still listen.
    Eof,
    /// It is closed both ways, in order.
    Closed,
    /// It was cut.
    Reset,
    /// There never was one: why.
    Refused(String),
    /// The child is no more: its status, or 128 and the number of the signal that ended it.
    Exited(i32),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Open a connection, or start a child, under that number; [`Handler::opened`] or [`Handler::ended`] follows.
    Connect(u32),
    /// Send bytes.
    Send(u32, Vec<u8>),
    /// Nothing more will be sent on it; what was given before still is.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "handlers of the tests end one way and go on hearing"
        )
    )]
    Finish(u32),
    /// Close it once everything is sent; a child is waited for.
    Close(u32),
    /// Cut it; a child is killed.
    Reset(u32),
    /// Show text on stdout.
    Print(String),
    /// Tell the user something on stderr.
    Log(String),
    /// It is over: carry out what was ordered before, close what is open, and end.
    Stop,
}

/// Takes part in a conversation.
pub trait Handler: Send {
    /// It begins.
    fn begin(&mut self, now: i64, commands: &mut Vec<Command>) {
        let _ = (now, commands);
    }

    /// A connection is open: one that was dialled, or one that was accepted.
    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>);

    /// Bytes of the other side.
    fn received(&mut self, conn: u32, bytes: &[u8], now: i64, commands: &mut Vec<Command>);

    /// A connection came to its end. After [`Ended::Eof`] another end follows.
    fn ended(&mut self, conn: u32, how: &Ended, now: i64, commands: &mut Vec<Command>);

    /// When it wants to be called if nothing happens before.
    fn due(&self) -> Option<i64> {
        None
    }

    /// That time has come.
    fn tick(&mut self, now: i64, commands: &mut Vec<Command>) {
        let _ = (now, commands);
    }

    /// Somebody wants it to end: SIGINT, SIGTERM. Unless [`Command::Stop`] follows at once, it is called only once more.
    fn interrupted(&mut self, now: i64, commands: &mut Vec<Command>) {
        let _ = now;
        commands.push(Command::Stop);
    }
}

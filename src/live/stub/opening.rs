//! Sends the first messages of a connection, and reports refused connections.
//!
//! ```text
//!   open  --> hello, announce --> calls are possible --> first
//!                             '-> refused: logged
//! ```

use super::Stub;
use crate::framing::Framing;
use crate::live::endpoint::SessionEvent;
use crate::live::handler::Command;
use crate::live::script::value::{Fill, OpenValue};
use crate::protocol::peer::{Outgoing, Readiness};

impl Stub<'_> {
    /// Opens a connection, and sends the first bytes of the script.
    pub(super) fn open(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        let before = self.bytes_before().unwrap_or_else(|why| {
            commands.push(Command::Log(format!("before: {why}")));
            Vec::new()
        });
        if self.endpoint.has_streams() {
            return self.endpoint.opened(conn, now, commands);
        }
        if self.config.script.silent {
            self.endpoint.opened(conn, now, commands);
            // A hello in these bytes counts as the hello.
            self.endpoint.send_bytes(conn, before, now, commands);
        } else {
            if !before.is_empty() {
                commands.push(Command::Send(conn.into(), before));
            }
            self.endpoint.opened(conn, now, commands);
        }
    }

    fn bytes_before(&self) -> Result<Vec<u8>, String> {
        let before = self.config.script.before.as_ref();
        let before = before.map(|before| before.fill(&Fill::default()));
        before.transpose().map(Option::unwrap_or_default)
    }

    /// Puts the first bytes of the script before what is sent first on a stream.
    pub(super) fn start_streams(&mut self, commands: &mut Vec<Command>) {
        if self.config.script.before.is_none() || !self.endpoint.has_streams() {
            return;
        }
        for command in std::mem::take(commands) {
            if let Command::Send(channel, _) = &command
                && self.started.insert(*channel)
                && let Ok(before) = self.bytes_before()
                && !before.is_empty()
            {
                commands.push(Command::Send(*channel, before));
            }
            commands.push(command);
        }
    }

    /// Reacts to connections that are open, refused or closing.
    pub(super) fn handle_events(&mut self, conn: u32, commands: &mut Vec<Command>, now: i64) {
        for event in self.endpoint.events() {
            match event {
                SessionEvent::Refused(conn, why) => {
                    self.log_problem(format!("#{conn}: {why}: closed"), now, commands);
                    // Over HTTP earlier requests are answered first.
                    if self.framing != Framing::Http {
                        self.endpoint.close(conn, now, commands);
                    }
                }
                SessionEvent::Open(conn) => {
                    self.unready.insert(conn);
                    let opening = std::mem::take(&mut self.opening);
                    self.send_messages(conn, &opening, now, commands);
                    self.opening = opening;
                }
                SessionEvent::Closing(conn) => {
                    self.store_missed(conn, now, commands);
                    self.drop_jobs(conn);
                    self.endpoint.close(conn, now, commands);
                }
            }
        }
        if !self.unready.contains(&conn) {
            return;
        }
        match self.endpoint.readiness(conn) {
            Readiness::Waits(_) => {}
            Readiness::Ready => {
                self.unready.remove(&conn);
                let first = std::mem::take(&mut self.config.script.first);
                self.send_messages(conn, &first, now, commands);
                self.config.script.first = first;
            }
            // It ended normally.
            Readiness::Refused(_) if self.dispatcher.ended.contains(&conn) => {
                self.unready.remove(&conn);
            }
            Readiness::Refused(why) => {
                self.unready.remove(&conn);
                self.log_problem(format!("#{conn}: {why}"), now, commands);
                self.refused.get_or_insert(why);
            }
        }
    }

    /// Sends messages of the script that answer no request.
    fn send_messages(
        &mut self,
        conn: u32,
        all: &[OpenValue],
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        for message in all {
            let filled = message.fill(&Fill::default());
            let sent = filled.and_then(|message| {
                let outgoing = Outgoing::new(conn, message);
                let sent = self.endpoint.send_message(&outgoing, None, now, commands);
                sent.map_err(|e| e.to_string())
            });
            if let Err(why) = sent {
                self.log_problem(format!("first: {why}"), now, commands);
            }
        }
    }
}

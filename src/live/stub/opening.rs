//! What is said of its own on connections that can be used, and what becomes of those that cannot.
//!
//! ```text
//!   open  --> hello, announce --> calls may be made --> first
//!                             '-> refused: told
//! ```

use super::Stub;
use crate::framing::Framing;
use crate::live::endpoint::SessionEvent;
use crate::live::handler::Command;
use crate::live::script::value::{Fill, Value};
use crate::protocol::peer::{Readiness, Says};

impl Stub<'_> {
    /// Does what there is to do about connections that can be used now, and those that cannot.
    pub(super) fn settle(&mut self, conn: u32, commands: &mut Vec<Command>, now: i64) {
        for event in self.endpoint.events() {
            match event {
                SessionEvent::Refused(conn, why) => {
                    self.complain(format!("#{conn}: {why}: closed"), now, commands);
                    // Over HTTP what was asked before is answered first.
                    if self.framing != Framing::Http {
                        self.endpoint.close(conn, now, commands);
                    }
                }
                SessionEvent::Open(conn) => {
                    self.unready.insert(conn);
                    let opening = std::mem::take(&mut self.opening);
                    self.say_of_own(conn, &opening, now, commands);
                    self.opening = opening;
                }
                SessionEvent::Closing(conn) => {
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
                let first = std::mem::take(&mut self.first);
                self.say_of_own(conn, &first, now, commands);
                self.first = first;
            }
            // It has ended in order.
            Readiness::Refused(_) if self.dispatcher.ended.contains(&conn) => {
                self.unready.remove(&conn);
            }
            Readiness::Refused(why) => {
                self.unready.remove(&conn);
                self.complain(format!("#{conn}: {why}"), now, commands);
                self.refused.get_or_insert(why);
            }
        }
    }

    /// Says messages of the script that nobody asked for.
    fn say_of_own(&mut self, conn: u32, all: &[Value], now: i64, commands: &mut Vec<Command>) {
        for message in all {
            let filled = message.fill(&Fill::default());
            let said = filled.and_then(|message| {
                let says = Says::new(conn, message);
                let said = self.endpoint.say(&says, None, now, commands);
                said.map_err(|e| e.to_string())
            });
            if let Err(why) = said {
                self.complain(format!("first: {why}"), now, commands);
            }
        }
    }
}

//! What is said of its own on connections that can be used, and what becomes of those that cannot.
//!
//! ```text
//!   open  --> hello, announce --> calls may be made --> first
//!                             '-> refused: told
//! ```

use super::Stub;
use super::value::{Fill, Value};
use crate::conversation::actor::Order;
use crate::conversation::party::News;
use crate::framing::Framing;
use crate::protocol::peer::{Readiness, Says};

impl Stub<'_> {
    /// Does what there is to do about connections that can be used now, and those that cannot.
    pub(super) fn settle(&mut self, conn: u32, orders: &mut Vec<Order>, now: i64) {
        for news in self.party.news() {
            match news {
                News::Refused(conn, why) => {
                    self.complain(format!("#{conn}: {why}: closed"), now, orders);
                    // Over HTTP what was asked before is answered first.
                    if self.framing != Framing::Http {
                        self.party.close(conn, now, orders);
                    }
                }
                News::Open(conn) => {
                    self.unready.insert(conn);
                    let opening = std::mem::take(&mut self.opening);
                    self.say_of_own(conn, &opening, now, orders);
                    self.opening = opening;
                }
                News::Closing(conn) => {
                    self.drop_jobs(conn);
                    self.party.close(conn, now, orders);
                }
            }
        }
        if !self.unready.contains(&conn) {
            return;
        }
        match self.party.readiness(conn) {
            Readiness::Waits(_) => {}
            Readiness::Ready => {
                self.unready.remove(&conn);
                let first = std::mem::take(&mut self.first);
                self.say_of_own(conn, &first, now, orders);
                self.first = first;
            }
            // It has ended in order.
            Readiness::Refused(_) if self.desk.ended.contains(&conn) => {
                self.unready.remove(&conn);
            }
            Readiness::Refused(why) => {
                self.unready.remove(&conn);
                self.complain(format!("#{conn}: {why}"), now, orders);
                self.refused.get_or_insert(why);
            }
        }
    }

    /// Says messages of the script that nobody asked for.
    fn say_of_own(&mut self, conn: u32, all: &[Value], now: i64, orders: &mut Vec<Order>) {
        for message in all {
            let filled = message.fill(&Fill::default());
            let said = filled.and_then(|message| {
                let says = Says::new(conn, message);
                let said = self.party.say(&says, None, now, orders);
                said.map_err(|e| e.to_string())
            });
            if let Err(why) = said {
                self.complain(format!("first: {why}"), now, orders);
            }
        }
    }
}

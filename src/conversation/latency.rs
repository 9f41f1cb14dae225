//! How long answers took: a request waits under its id until something with that id comes the other way.

use crate::decoder::Decoded;
use crate::framing::Framing;
use crate::protocol::{Direction, Id, Role};
use std::collections::{HashMap, VecDeque};

/// Requests that wait at most; the oldest are forgotten.
const WAITING: usize = 4096;

/// Whose answer is awaited: which connection, which way, which id.
type Key = (Option<u32>, Direction, String);

/// Requests that wait for their answers.
#[derive(Default)]
pub struct Latency {
    waiting: HashMap<Key, i64>,
    order: VecDeque<Key>,
}

impl Latency {
    /// A frame, in order; where it answers one before it, how many nanoseconds later it came.
    pub fn see(&mut self, decoded: &Decoded<'_>) -> Option<i64> {
        let (message, origin) = (decoded.message, decoded.origin);
        let (direction, time) = (origin.direction?, origin.time?);
        if message.id == Id::None {
            return None;
        }
        let other = match direction {
            Direction::ToServer => Direction::ToClient,
            Direction::ToClient => Direction::ToServer,
        };
        let id = message.id.text().into_owned();
        // Over HTTP many connections are one session: a callback is answered over another one than it came by.
        let conn = origin
            .conn
            .filter(|_| decoded.frame.framing != Framing::Http);
        match message.role? {
            Role::Request => {
                let key = (conn, direction, id);
                if self.waiting.insert(key.clone(), time).is_none() {
                    self.order.push_back(key);
                }
                // Keys of answered requests stand in the order too, until it is their turn.
                while self.order.len() > WAITING {
                    let oldest = self.order.pop_front();
                    oldest.and_then(|key| self.waiting.remove(&key));
                }
                None
            }
            Role::Response | Role::Error | Role::End => {
                let asked = self.waiting.remove(&(conn, other, id))?;
                Some(time - asked)
            }
            // More answers will come.
            Role::Item => {
                let asked = self.waiting.get(&(conn, other, id))?;
                Some(time - asked)
            }
            _ => None,
        }
    }
}

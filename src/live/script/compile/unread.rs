//! Errors whose id is null: answers to messages that could not be read.
//!
//! ```text
//!   → {bad                     counted
//!   ← error, id null           answers it
//!   → request 9                never answered
//!   ← error, id null           belongs to it: its id could not be read
//!   ← error, id null           goes with the message before it
//! ```

use super::CompiledRequests;
use super::parts::{CompiledRequest, send_action};
use crate::decoder::Decoded;
use crate::live::script::value::OpenValue;
use crate::live::speed::Speed;
use crate::protocol::Role;
use std::collections::HashMap;

/// The messages of the peer that could not be read, and the errors whose id is null.
#[derive(Default)]
pub(super) struct UnreadMessages {
    /// The number of these messages without an answer, by connection.
    open: HashMap<Option<u32>, usize>,
    /// The answers to them, in order.
    pub(super) answers: Vec<OpenValue>,
    /// Errors that answer none of them.
    others: Vec<Refusal>,
}

/// An error whose id is null.
struct Refusal {
    index: u64,
    conn: Option<u32>,
    time: Option<i64>,
    message: String,
}

impl UnreadMessages {
    /// Records a message that could not be read.
    pub(super) fn add(&mut self, conn: Option<u32>) {
        *self.open.entry(conn).or_default() += 1;
    }

    /// Records an error whose id is null. Returns `false` for another message.
    pub(super) fn refuses(&mut self, decoded: &Decoded<'_>) -> bool {
        let message = decoded.message;
        if message.role != Some(Role::Error) || !message.id.is_null() {
            return false;
        }
        let refusal = Refusal {
            index: decoded.index,
            conn: decoded.origin.conn,
            time: decoded.origin.time,
            message: decoded.message_text(),
        };
        match self.open.get_mut(&refusal.conn).filter(|open| **open > 0) {
            Some(open) => {
                *open -= 1;
                self.answers.push(OpenValue::Json(refusal.message));
            }
            None => self.others.push(refusal),
        }
        true
    }

    /// Adds the other errors to the requests that they answer: the first one before it without any answer. If there is
    /// none, an error goes with the message before it.
    pub(super) fn decide(&mut self, entries: &mut CompiledRequests, speed: Speed) {
        for refusal in std::mem::take(&mut self.others) {
            let is_before = |entry: &CompiledRequest| {
                entry.conn == refusal.conn && entry.index < refusal.index && entry.hello.is_none()
            };
            let is_unanswered =
                |entry: &CompiledRequest| entry.is_request && entry.timeline.actions().is_empty();
            let mut all = entries.iter();
            let at = all
                .position(|entry| is_before(entry) && is_unanswered(entry))
                .or_else(|| entries.iter().rposition(|entry| is_before(entry)));
            if let Some(entry) = at.and_then(|at| entries.get_mut(at)) {
                let action = send_action(OpenValue::Json(refusal.message));
                entry.timeline.course(speed).did(action, refusal.time);
            }
        }
    }
}

//! A client with time limits for the opening of its session, and for everything.

use super::offers::OfferRequests;
use crate::live::client::Client;
use crate::live::handler::{Command, Ended, Handler};
use crate::protocol::Channel;
use std::sync::{Arc, Mutex, PoisonError};

/// The reason why a client was stopped.
#[derive(Clone, Copy)]
pub enum Cut {
    Opening,
    Limit,
}

/// A client with a time limit for the opening of its session, and one for everything.
pub struct LimitedClient<'p> {
    pub client: Client<'p>,
    /// What waits for the opening.
    pub opening: Option<Arc<Mutex<OfferRequests>>>,
    pub opened_by: i64,
    pub ended_by: i64,
    pub timeout: i64,
    pub limit: i64,
    pub cut: Option<Cut>,
}

impl LimitedClient<'_> {
    fn is_unopened(&self) -> bool {
        self.opening.as_ref().is_some_and(|requests| {
            requests
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_unopened()
        })
    }

    /// The time of the next limit.
    fn next_limit(&self) -> Option<i64> {
        match self.cut {
            Some(_) => None,
            None if self.is_unopened() => Some(self.opened_by.min(self.ended_by)),
            None => Some(self.ended_by),
        }
    }
}

impl Handler for LimitedClient<'_> {
    fn begin(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.opened_by = now.saturating_add(self.timeout);
        self.ended_by = now.saturating_add(self.limit);
        self.client.begin(now, commands);
    }

    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.client.opened(conn, now, commands);
    }

    fn received(&mut self, channel: Channel, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        self.client.received(channel, bytes, now, commands);
    }

    fn ended(&mut self, channel: Channel, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        self.client.ended(channel, how, now, commands);
    }

    fn due(&self) -> Option<i64> {
        [self.client.due(), self.next_limit()]
            .into_iter()
            .flatten()
            .min()
    }

    fn tick(&mut self, now: i64, commands: &mut Vec<Command>) {
        if self.next_limit().is_some_and(|limit| now >= limit) {
            self.cut = Some(if now >= self.ended_by {
                Cut::Limit
            } else {
                Cut::Opening
            });
            return self.client.interrupted(now, commands);
        }
        self.client.tick(now, commands);
    }

    fn interrupted(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.client.interrupted(now, commands);
    }
}

//! Batches: their answers, and an error that refuses a batch as a whole.
//!
//! ```text
//!   -> [request 1, request 2]     <- {"id":null,"error":…}     answers both
//!   HTTP                          the response to the batch
//!   line, WebSocket               the oldest batch of the other side without any answer
//! ```

use super::super::extension::{Extension, RpcMessage};
use super::RpcSession;
use crate::framing::Head;
use crate::protocol::exchange::pairs::{IdSpace, PairKey};
use crate::protocol::session::Current;
use crate::protocol::session::memory::ConnId;
use crate::protocol::{Direction, Role};

/// The requests of a batch.
#[derive(Debug, Default)]
pub(super) struct OpenBatch {
    conn: ConnId,
    requester: Option<Direction>,
    /// The number of those without an answer.
    open: usize,
    /// One of them was answered.
    is_answered: bool,
}

impl<E: Extension> RpcSession<E> {
    /// Handles a request of a batch.
    pub(super) fn add_member(&mut self, message: &RpcMessage<'_, '_>) {
        let batch = self.batches.entry(message.index);
        batch.conn = message.origin.conn;
        batch.requester = Some(message.requester());
        batch.open += 1;
    }

    /// Handles the answer to a member of a batch, which goes on until each member is answered.
    pub(super) fn answer_member(&mut self, message: &RpcMessage<'_, '_>, batch: u64) {
        let Some(requests) = self.batches.get_mut(&batch) else {
            return;
        };
        requests.open = requests.open.saturating_sub(1);
        requests.is_answered = true;
        if requests.open == 0 {
            self.batches.remove(&batch);
        } else if !message.in_batch {
            message.operation().ends = Some(false);
        }
    }

    /// Handles an answer without an id. An error is the answer to a batch of which no member is answered.
    pub(super) fn refuse_batch(&mut self, message: &RpcMessage<'_, '_>) {
        if message.role != Role::Error || message.in_batch || self.batches.len() == 0 {
            return;
        }
        let conn = message.origin.conn;
        let batch = match message.frame.head {
            // The exchange shows what the response is for.
            Head::Http { event: false, .. } => None,
            Head::Http { .. } => self.connections.get(conn).and_then(|c| c.streamed),
            _ => {
                let asker = message.direction.map(Direction::other);
                let is_of = |batch: &OpenBatch| {
                    batch.conn == conn
                        && !batch.is_answered
                        && (asker.is_none() || batch.requester == asker)
                };
                let own = self.batches.iter().find(|(_, batch)| is_of(batch));
                own.map(|(index, _)| *index)
            }
        };
        let batch = batch.and_then(|index| Some((index, self.batches.get(&index)?)));
        if let Some((index, _)) = batch.filter(|(_, batch)| !batch.is_answered) {
            self.close_batch(message.id_space, index, message.seen);
        }
    }

    /// Closes the requests of a batch that is refused: no other answer comes.
    pub(super) fn close_batch(&mut self, scope: IdSpace, batch: u64, seen: Current<'_, '_>) {
        self.batches.remove(&batch);
        let open = self.pairs.open.sorted_in(scope).into_iter();
        let own = open.filter(|(_, asked, _)| asked.index() == batch);
        let keys: Vec<PairKey> = own.map(|(key, ..)| key.clone()).collect();
        for key in keys {
            let first = self.pairs.open.get(&key);
            // An earlier request may have the same id.
            if first.is_none_or(|(asked, _)| asked.index() != batch) {
                continue;
            }
            if let Some((asked, _)) = self.pairs.close_answered(&key, seen) {
                self.forget(&key);
                self.sessions.state(seen.origin.conn).refused(&asked);
            }
        }
    }
}

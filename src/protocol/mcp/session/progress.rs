//! Values that later messages repeat: progress tokens of requests, and cursors of lists.

use crate::protocol::Direction;
use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rpc::spelling;
use crate::protocol::rule_names::mcp as rule;
use crate::protocol::schema::check::number;
use crate::protocol::session::memory::RecentEntries;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::quote;
use crate::protocol::session::{Link, broken};
use crate::tape::Node;

/// A progress token, with the direction of its request.
pub(super) type Key = (Direction, Box<str>);

/// The tokens and cursors of a session.
#[derive(Default)]
pub(super) struct Tokens {
    progress: RecentEntries<Key, TokenState>,
    cursors: RecentEntries<Box<str>, ()>,
    /// Messages with other ones may have been missed.
    missed: bool,
}

/// The progress of a request.
struct TokenState {
    index: u64,
    last: Option<f64>,
    /// The number of open requests that have it.
    open: u32,
    /// Several open requests have had it.
    shared: bool,
}

impl Tokens {
    /// Messages may have been missed: tokens and cursors that are not known are not reported.
    pub(super) fn missed(&mut self) {
        self.missed = true;
    }

    /// Checks a request or a notification. Returns the key of its progress token.
    pub(super) fn ask(&mut self, message: &RpcMessage<'_, '_>) -> Option<Key> {
        if message.is("notifications/progress") {
            self.check_progress(message);
        }
        if let Some(cursor) = message.param("cursor") {
            let text = cursor.text().unwrap_or_default();
            let is_known = self.cursors.get(&to_stored::<Box<str>>(&text)).is_some();
            if !is_known && !self.missed && !self.cursors.is_full() {
                broken!(message, rule::UNKNOWN_CURSOR, message.at(cursor);
                    "no list ended with the cursor {}", quote(cursor));
            }
        }
        message.call.id?;
        let token = message.param("_meta")?.get("progressToken")?;
        let key = (message.requester(), to_stored(spelling(token)));
        let before = self.progress.get(&key).filter(|before| before.open > 0);
        if let Some(before) = before {
            let index = before.index;
            broken!(message, rule::PROGRESS_TOKEN_SHARED, message.at(token), index;
                "#{index} is open and has the same progress token, {}", quote(token));
        }
        let progress = TokenState {
            index: message.index,
            last: None,
            open: before.map_or(0, |before| before.open).saturating_add(1),
            shared: before.is_some(),
        };
        self.progress.insert(Key::clone(&key), progress);
        Some(key)
    }

    fn check_progress(&mut self, message: &RpcMessage<'_, '_>) {
        let (seen, value) = (message.seen, message.param("progress"));
        let Some(token) = message.param("progressToken") else {
            return;
        };
        let may_be_known = self.missed || self.progress.is_full();
        let key = (message.requester().other(), to_stored(spelling(token)));
        let Some(progress) = self.progress.get_mut(&key) else {
            if !may_be_known {
                broken!(message, rule::PROGRESS_TOKEN, seen.at(token);
                    "no request has the progress token {}", quote(token));
            }
            return;
        };
        let (index, new) = (progress.index, value.and_then(number));
        if !progress.shared {
            message.part_of(index, Link::Recorded);
        }
        if message.repeats.is_some() {
            return;
        }
        if progress.open == 0 {
            broken!(message, rule::PROGRESS_AFTER_ANSWER, seen.whole(), index;
                "this is progress of #{index}, which is already answered");
        } else if let (Some(new), Some(last), Some(value)) = (new, progress.last, value)
            && new <= last
            && !progress.shared
        {
            broken!(message, rule::PROGRESS_ORDER, seen.at(value), index;
                "progress is {new}; before it was {last}, and it should increase");
        }
        progress.last = new.or(progress.last);
    }

    /// Handles an answer to a request with this key.
    pub(super) fn answer(&mut self, message: &RpcMessage<'_, '_>, key: Option<&Key>) {
        // The token of a request that became a task is that of the task.
        let is_task = message
            .result()
            .is_some_and(|result| result.get("task").is_some());
        let progress = key.filter(|_| !is_task);
        if let Some(progress) = progress.and_then(|key| self.progress.get_mut(key)) {
            progress.open = progress.open.saturating_sub(1);
        }
        let cursor = message.result().and_then(|result| result.get("nextCursor"));
        if let Some(cursor) = cursor.and_then(Node::text) {
            self.cursors.insert(to_stored(&cursor), ());
        }
    }
}

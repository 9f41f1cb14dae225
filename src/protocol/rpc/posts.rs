//! HTTP requests of a connection and their responses, which come in the same order (RFC 9112 section 9.3.2).

use std::collections::VecDeque;

/// The largest number of requests on one connection that wait for their response.
const MAX_POSTS: usize = 1 << 12;

/// The HTTP requests of a connection without a response, the oldest first.
#[derive(Debug)]
pub(in crate::protocol) struct Posts<P> {
    open: VecDeque<P>,
    /// Requests or responses are missing: the order does not show which belong together.
    is_partial: bool,
}

impl<P> Default for Posts<P> {
    fn default() -> Self {
        Self {
            open: VecDeque::new(),
            is_partial: false,
        }
    }
}

impl<P> Posts<P> {
    /// Adds a request. If some are missing, only one that is alone has a response.
    pub(in crate::protocol) fn push(&mut self, post: P) {
        if self.open.len() >= MAX_POSTS {
            self.lose();
        }
        if self.is_partial && !self.open.is_empty() {
            self.open.clear();
        } else {
            self.open.push_back(post);
        }
    }

    /// Returns the request that was added last, if it has no response.
    pub(in crate::protocol) fn last_mut(&mut self) -> Option<&mut P> {
        self.open.back_mut()
    }

    /// Removes the request of a final response; `None` if it is not known.
    pub(in crate::protocol) fn take(&mut self) -> Option<P> {
        self.open.pop_front()
    }

    /// Handles lost bytes: they may contain requests and responses.
    pub(in crate::protocol) fn lose(&mut self) {
        self.open.clear();
        self.is_partial = true;
    }

    /// Returns true if no request waits for its response.
    pub(in crate::protocol) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

//! Tracks the requests of a connection, which decide how its responses end.
//!
//! ```text
//!   c2s   GET /   HEAD /health   POST /         noted:    1 requests have been read; the 2nd is a HEAD
//!   s2c   200 ... 200 (no body)  200 ...        answered: the 2nd response has no body, for any head
//! ```

use crate::framing::state::FramerState;
use std::collections::VecDeque;

/// The maximum number of recorded requests without a response; further ones are not recorded.
const MAX_RECORDED: usize = 1 << 10;

/// Methods whose response can have no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestMethod {
    /// RFC 9112 section 6.3: "Any response to a HEAD request [...] is always terminated by the first empty line".
    Head,
    /// "Any 2xx (Successful) response to a CONNECT request implies that the connection will become a tunnel".
    Connect,
}

/// The requests of one direction as they are read, and in the other direction as they are answered.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    /// The number of requests.
    requests: u64,
    /// The number of answered requests.
    answered: u64,
    /// Requests with such a method, each with the number of requests before it.
    noted: VecDeque<(u64, RequestMethod)>,
    /// Some requests may be missing.
    uncertain: bool,
    /// The key of the WebSocket upgrade request.
    key: Option<String>,
}

impl PendingRequests {
    /// Records the head of a request.
    pub(super) fn record(&mut self, head: &[u8]) {
        let method = if head.starts_with(b"HEAD ") {
            Some(RequestMethod::Head)
        } else if head.starts_with(b"CONNECT ") {
            Some(RequestMethod::Connect)
        } else {
            None
        };
        if let Some(method) = method
            && !self.uncertain
            && self.noted.len() < MAX_RECORDED
        {
            self.noted.push_back((self.requests, method));
        }
        self.requests += 1;
    }

    /// Records the key of a WebSocket upgrade request.
    pub(super) fn record_upgrade(&mut self, key: Option<&str>) {
        self.key = key.filter(|_| !self.uncertain).map(str::to_owned);
    }

    /// Handles skipped bytes: the request of a response is no longer known.
    pub(super) fn invalidate(&mut self) {
        self.uncertain = true;
        self.noted.clear();
        self.key = None;
    }

    /// Takes over the new requests of the other direction.
    pub(super) fn observe_requests(&mut self, other: &mut Self) {
        self.requests = other.requests;
        self.key = other.key.take().or(self.key.take());
        if other.uncertain {
            self.invalidate();
        }
        if !self.uncertain {
            self.noted.extend(other.noted.drain(..));
        }
    }

    /// RFC 6455 section 4.2.2: the `Sec-WebSocket-Accept` that the response to the upgrade request
    /// must have.
    pub(super) fn expected_accept(&mut self) -> Option<String> {
        self.key.take().map(|key| super::websocket_accept(&key))
    }

    /// Returns the numbers of requests and responses, if nothing else is known of them.
    pub(super) fn state(&self, asked: bool) -> Option<FramerState> {
        let is_plain = self.noted.is_empty() && !self.uncertain && self.key.is_none();
        Some(FramerState::Http {
            requests: u32::try_from(self.requests).ok().filter(|_| is_plain)?,
            answered: u32::try_from(self.answered).ok()?,
            asked,
        })
    }

    /// Continues with the numbers of requests and responses.
    pub(super) fn set_state(&mut self, state: FramerState) {
        if let FramerState::Http {
            requests, answered, ..
        } = state
        {
            (self.requests, self.answered) = (requests.into(), answered.into());
        }
    }

    /// Counts a response with this status. Returns the method of its request if that is recorded.
    pub(super) fn answer(&mut self, status: u16) -> Option<RequestMethod> {
        // 1xx is not the final response. A response without a request answers nothing.
        if matches!(status, 100..=199) || self.answered == self.requests {
            return None;
        }
        let number = self.answered;
        self.answered += 1;
        let (next, method) = *self.noted.front()?;
        (next == number).then(|| self.noted.pop_front())?;
        Some(method)
    }
}

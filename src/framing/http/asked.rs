//! What a connection's requests say of its responses.
//!
//! ```text
//!   c2s   GET /   HEAD /health   POST /         noted:    1 requests have been read; the 2nd is a HEAD
//!   s2c   200 ... 200 (no body)  200 ...        answered: the 2nd response has no body, whatever its head says
//! ```

use std::collections::VecDeque;

/// Requests of note that are not answered; what is asked beyond is not noted.
const MOST: usize = 1 << 10;

/// Requests whose method decides that no body follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// RFC 9112 section 6.3: "Any response to a HEAD request [...] is always terminated by the first empty line".
    Head,
    /// "Any 2xx (Successful) response to a CONNECT request implies that the connection will become a tunnel".
    Connect,
}

/// The requests of one direction as they are read, and again in the other direction, where they are answered.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// How many were read.
    requests: u64,
    /// How many of them were answered.
    answered: u64,
    /// Those of note, each with how many came before it.
    noted: VecDeque<(u64, Method)>,
    /// Some may have been missed.
    uncertain: bool,
    /// The key of the request for WebSocket.
    key: Option<String>,
}

impl Asked {
    /// A request's head was read.
    pub(super) fn note(&mut self, head: &[u8]) {
        let method = if head.starts_with(b"HEAD ") {
            Some(Method::Head)
        } else if head.starts_with(b"CONNECT ") {
            Some(Method::Connect)
        } else {
            None
        };
        if let Some(method) = method
            && !self.uncertain
            && self.noted.len() < MOST
        {
            self.noted.push_back((self.requests, method));
        }
        self.requests += 1;
    }

    /// A request asked for WebSocket, with this key.
    pub(super) fn ask(&mut self, key: Option<&str>) {
        self.key = key.filter(|_| !self.uncertain).map(str::to_owned);
    }

    /// Something was passed over: which response belongs to which request is not known any more.
    pub(super) fn lose(&mut self) {
        self.uncertain = true;
        self.noted.clear();
        self.key = None;
    }

    /// Takes over what the other direction noted since.
    pub(super) fn hear(&mut self, other: &mut Self) {
        self.requests = other.requests;
        self.key = other.key.take().or(self.key.take());
        if other.uncertain {
            self.lose();
        }
        if !self.uncertain {
            self.noted.extend(other.noted.drain(..));
        }
    }

    /// RFC 6455 section 4.2.2: what the answer to the request for WebSocket must accept it with.
    pub(super) fn accept(&mut self) -> Option<String> {
        self.key.take().map(|key| super::accept(&key))
    }

    /// A response with this status was read: what it answers, where that is of note.
    pub(super) fn answer(&mut self, status: u16) -> Option<Method> {
        // 1xx are not the answer yet. What nobody asked for answers nothing.
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

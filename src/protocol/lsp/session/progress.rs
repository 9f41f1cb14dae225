//! Progress and partial results (LSP 3.17, "Work Done Progress", "Partial Result Progress").
//!
//! ```text
//!   workDoneToken, partialResultToken of a request, or window/workDoneProgress/create
//!     -> $/progress begin, report …, end
//! ```

use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rpc::spelling;
use crate::protocol::rule_names::lsp as rule;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::quote;
use crate::protocol::session::{Link, Place, Report, broken};
use crate::tape::Node;
use std::collections::HashMap;

/// The largest number of tokens.
const MAX_TOKENS: usize = 1 << 10;

/// The request by which a server creates a token.
pub(super) const CREATE: &str = "window/workDoneProgress/create";

/// A token.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
struct Token {
    /// The index of the request that has it; `None` if several may have it.
    request: Option<u64>,
    /// The server created it, so that it is no part of another request.
    created: bool,
    /// The request is answered.
    answered: bool,
    begun: Option<Place>,
    ended: bool,
    /// Some progress was reported.
    reported: bool,
}

/// The tokens of a connection.
#[derive(Default)]
pub(super) struct Progress {
    tokens: HashMap<Box<str>, Token>,
    /// Tokens may have been missed.
    incomplete: bool,
}

/// Returns the key of a token: its JSON.
pub(super) fn key(token: Node<'_>) -> Box<str> {
    to_stored(spelling(token))
}

impl Progress {
    /// Tokens may have been missed.
    pub(super) fn forget(&mut self) {
        self.tokens.clear();
        self.incomplete = true;
    }

    /// Returns true if progress with a token was reported.
    pub(super) fn has_reported(&self, token: &str) -> bool {
        self.tokens.get(token).is_some_and(|token| token.reported)
    }

    /// Handles the answer to a request with a token.
    pub(super) fn answer(&mut self, token: &str) {
        if let Some(token) = self.tokens.get_mut(token) {
            token.answered = true;
        }
    }

    /// Handles a request or a notification.
    pub(super) fn check(&mut self, message: &RpcMessage<'_, '_>) {
        if message.is("$/progress") {
            return self.progress(message);
        }
        if message.is("window/workDoneProgress/cancel")
            && let Some(token) = message.param("token")
            && let Some(index) = self.tokens.get(&key(token)).and_then(|t| t.request)
        {
            return message.cancels(index);
        }
        let created = message.param("token").filter(|_| message.is(CREATE));
        let tokens = [
            message.param("workDoneToken"),
            message.param("partialResultToken"),
            created,
        ];
        for token in tokens.into_iter().flatten().map(key) {
            if self.tokens.len() >= MAX_TOKENS {
                return self.forget();
            }
            let before = self.tokens.get(&token);
            let is_shared = before.is_some_and(|before| {
                let is_open = !before.answered || before.begun.is_some() && !before.ended;
                is_open && before.request != Some(message.index)
            });
            let new = Token {
                request: (!is_shared).then_some(message.index),
                created: created.is_some(),
                ..Token::default()
            };
            self.tokens.insert(token, new);
        }
    }

    fn progress(&mut self, message: &RpcMessage<'_, '_>) {
        let Some(node) = message.param("token") else {
            return;
        };
        let place = message.at(node);
        let Some(token) = self.tokens.get_mut(&key(node)) else {
            if !std::mem::replace(&mut self.incomplete, true) {
                broken!(message, rule::PROGRESS_TOKEN, place;
                    "no request and no window/workDoneProgress/create has the token {}",
                    quote(node));
            }
            return;
        };
        token.reported = true;
        let kind = message
            .param("value")
            .and_then(|value| value.get("kind")?.text());
        if let Some(index) = token.request {
            message.part_of(index, Link::Recorded);
            if token.created && kind.as_deref() == Some("end") {
                message.operation().ends = Some(true);
            }
        }
        match kind.as_deref() {
            Some("begin") => token.begun = Some(place),
            Some("report" | "end") if token.ended || token.begun.is_none() => {
                broken!(message, rule::PROGRESS_ORDER, place;
                    "this progress has no begin, or comes after its end");
            }
            _ => {}
        }
        token.ended |= kind.as_deref() == Some("end");
    }

    /// Reports progress that does not end.
    pub(super) fn end(&self, report: &mut Report) {
        let open = self.tokens.values().filter(|token| !token.ended);
        let mut places: Vec<Place> = open.filter_map(|token| token.begun).collect();
        places.sort_by_key(|place| place.index);
        for place in places {
            broken!(report, rule::PROGRESS_END, place; "the progress that begins here has no end");
        }
    }
}

//! Requests that are cancelled because nothing has answered them.

use super::extension::{Extension, RpcMessage, SentRequest};
use crate::protocol::Direction;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::rule_names::all as rule;
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Severity, broken};
use crate::tape::Node;

/// The shortest wait that is reported, in ns.
const LONG: i64 = 1_000_000_000;
/// Words of reasons that tell of a timeout.
const TIMEOUT: [&str; 5] = ["timeout", "timed out", "time out", "time-out", "deadline"];

/// Reports that a request is cancelled after a long wait. `heard`: the last message that belongs to it.
pub(super) fn report_wait<E: Extension>(
    message: &RpcMessage<'_, '_>,
    (asked, request): (&OpenRequest, &SentRequest<E::Own>),
    heard: Option<u64>,
) {
    let times = asked.origin().time.zip(message.origin.time);
    let Some(wait) = times.map(|(from, to)| to.saturating_sub(from)) else {
        return;
    };
    if wait < LONG {
        return;
    }
    let reason = message.param("reason").filter(|reason| reason.is_string());
    let gave_up = reason.and_then(Node::text).is_some_and(|reason| {
        let reason = reason.to_ascii_lowercase();
        TIMEOUT.iter().any(|words| reason.contains(words))
    });
    let cancel = message.index;
    broken!(message, rule::CANCELLED_UNANSWERED, asked.place(), cancel;
        "{} ({}) is cancelled by #{cancel} after {}.{} s; {}{}",
        asked.describe(), short(asked.id()), wait / LONG, wait % LONG / (LONG / 10),
        request.unread().unwrap_or_else(|| progress::<E>(message, heard)),
        reason.map_or(String::new(), |reason| format!("; the reason is {}", quote(reason))));
    if !gave_up {
        message.report().at_most(Severity::Info);
    }
}

/// Returns what the receiver sent for the request.
fn progress<E: Extension>(message: &RpcMessage<'_, '_>, heard: Option<u64>) -> String {
    let [to_server, to_client] = E::SIDES;
    let receiver = match message.requester() {
        Direction::ToServer => to_client,
        Direction::ToClient => to_server,
    };
    match heard {
        None => format!("the {receiver} sent nothing for it"),
        Some(last) => format!("#{last} is the last message of the {receiver} for it"),
    }
}

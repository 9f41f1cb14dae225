//! Requests that stay open: the expected message, and the rule that the end of the conversation breaks.

use super::state::{Batch, CallKey, OpenKind, SeqStream};
use crate::protocol::Direction;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::rule_names::saikuro as rule;
use crate::protocol::session::{RuleId, Waiting};

/// Returns the expected message for an open request, and the reason why it may take long.
pub(super) fn waiting_for(
    (_, asked, state): (&CallKey, &OpenRequest, &OpenKind),
) -> Option<Waiting> {
    let why = match state {
        OpenKind::Channel(channel)
            if channel.last_acknowledged.is_some() && channel.pending > 0 =>
        {
            let mut waiting = asked.waiting(Some(format!(
                "{} items are not acknowledged",
                channel.pending
            )));
            waiting.owes = asked.origin().direction.map(Direction::other);
            return Some(waiting);
        }
        OpenKind::Single { own: true, .. } | OpenKind::Batch(Batch { own: true, .. }) => Some(
            "the calling connection announced the namespace itself; a runtime reads its answer after 30 s",
        ),
        OpenKind::Single { .. } | OpenKind::Batch(_) => None,
        OpenKind::Stream(SeqStream { orphan: true, .. }) => return None,
        OpenKind::Stream(stream) => stream
            .acknowledged
            .then_some("it was acknowledged by a runtime, which forwards no items"),
        OpenKind::Channel(channel) => match &channel.flows {
            [opener, other] if opener.done.is_some() != other.done.is_some() => {
                let mut waiting = asked.waiting(Some("closed by one side only".into()));
                if other.done.is_some() {
                    waiting.owes = asked.origin().direction;
                }
                return Some(waiting);
            }
            _ if channel.acknowledged => {
                Some("it was acknowledged by a runtime, which forwards no items")
            }
            _ => Some("closed by neither side"),
        },
    };
    Some(asked.waiting(why.map(Into::into)))
}

/// Returns the broken rule of a request that stays open, and the text.
/// `now`: the last known time.
pub(super) fn find_open_problem(
    asked: &OpenRequest,
    state: &OpenKind,
    now: Option<i64>,
) -> Option<(RuleId, String)> {
    let what = asked.describe();
    Some(match state {
        OpenKind::Single { .. } | OpenKind::Batch(_) => {
            (rule::UNANSWERED, format!("{what} has no answer"))
        }
        // The missing items of an orphan were reported.
        OpenKind::Stream(stream) if stream.orphan || stream.acknowledged => return None,
        OpenKind::Stream(_) => (rule::STREAM_UNFINISHED, format!("{what} is not ended")),
        OpenKind::Channel(channel) if channel.is_stalled(now) => {
            let (count, last) = (
                channel.pending,
                channel.last_acknowledged.unwrap_or_default(),
            );
            let items = if count == 1 { "item is" } else { "items are" };
            let text = format!(
                "of {what}, the last {count} {items} not acknowledged: the last answer to an item is #{last}"
            );
            (rule::ITEMS_UNACKNOWLEDGED, text)
        }
        // Real peers cannot close a channel, except those in Rust.
        OpenKind::Channel(channel) if channel.peers => return None,
        OpenKind::Channel(channel) => {
            let closed = channel.flows.iter().any(|flow| flow.done.is_some());
            let by = if closed {
                "one side only"
            } else {
                "neither side"
            };
            (
                rule::CHANNEL_NOT_CLOSED,
                format!("{what} is closed by {by}"),
            )
        }
    })
}

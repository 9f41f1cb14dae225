//! The effect of a frame on its stream or channel.
//!
//! ```text
//!   stream    item 0, item 1, ... end n                                real peers also: error, then abort n
//!   channel   item 0, item 1, ... close    the same in the other direction, numbered separately
//! ```

use super::super::message::field;
use super::check::whole;
use super::state::{Channel, Ending, Flow, SeqStream};
use crate::protocol::Role;
use crate::protocol::rule_names::saikuro as rule;
use crate::protocol::session::{Current, broken};
use crate::tape::Node;

/// The effect of a frame on its request.
pub(super) enum Effect {
    /// It is not an answer.
    Nothing,
    /// It is an answer, and more may come.
    Part,
    /// It is a second answer.
    Again,
    /// It ends the request.
    Over(Ending),
}

/// Checks the number of a frame.
pub(super) fn number(flow: &mut Flow, seen: Current<'_, '_>, root: Node<'_>) {
    let Some((node, seq)) = field(root, "seq").and_then(|n| Some((n, whole(n)?))) else {
        return;
    };
    match (flow.next, flow.last) {
        (Some(next), None) if seq != next => {
            broken!(seen, rule::SEQ_START, seen.at(node);
                "the first seq is {seq}; it should be {next}");
        }
        (Some(next), Some(last)) if seq != next => {
            let again = seq < next;
            let rules = [rule::SEQ_GAP, rule::SEQ_REPEATED];
            broken!(seen, rules[usize::from(again)], seen.at(node), last;
                "seq is {seq}; it should be {next}, after #{last}");
            if again {
                return;
            }
        }
        _ => {}
    }
    flow.next = Some(seq.saturating_add(1));
    flow.last = Some(seen.index);
}

/// Handles a frame from the side that must send a stream.
pub(super) fn stream_frame(
    stream: &mut SeqStream,
    seen: Current<'_, '_>,
    root: Node<'_>,
) -> Effect {
    if !matches!(seen.message.role, Some(Role::Notification)) {
        number(&mut stream.flow, seen, root);
    }
    match seen.message.kind.as_ref() {
        "item" => Effect::Part,
        "end" | "abort" | "stream-error" | "close" => Effect::Over(Ending::Ended),
        "error" => Effect::Over(Ending::Failed(stream.flow.next)),
        "response" | "batch-response" => {
            answered_like_a_call(&mut stream.acknowledged, "stream", seen, root)
        }
        _ => Effect::Nothing,
    }
}

/// Handles an answer without a number: an acknowledgement of the runtime, or a provider that has no streams.
fn answered_like_a_call(
    acknowledged: &mut bool,
    what: &str,
    seen: Current<'_, '_>,
    root: Node<'_>,
) -> Effect {
    if *acknowledged {
        return Effect::Again;
    }
    *acknowledged = true;
    let is_result = root.get("result").is_some();
    if is_result {
        broken!(seen, rule::STREAM_ANSWERED, seen.whole();
            "the {what} is answered like a call, with one result and no seq");
        Effect::Over(Ending::Answered)
    } else {
        broken!(seen, rule::STREAM_ANSWERED, seen.whole();
            "the {what} is acknowledged; a runtime that does this forwards no items");
        Effect::Part
    }
}

/// Handles a frame of a channel, from its opener or from the other side.
pub(super) fn channel_frame(
    channel: &mut Channel,
    is_opener: bool,
    seen: Current<'_, '_>,
    root: Node<'_>,
) -> Effect {
    let message = seen.message;
    let kind = message.kind.as_ref();
    channel.peers |= kind == "channel" || root.get("ok").is_some();
    let [opener, other] = &mut channel.flows;
    let flow = match (is_opener, seen.origin.direction) {
        (true, _) => opener,
        // If directions are not known, the second close belongs to the other side.
        (false, None) if other.done.is_some() => opener,
        (false, _) => other,
    };
    let ends = match kind {
        "item" | "stream-error" | "abort" => false,
        "end" | "close" => true,
        "channel" => {
            if is_opener {
                channel.pending = channel.pending.saturating_add(1);
                channel.waits_since = channel.waits_since.or(seen.origin.time);
                if channel.last_acknowledged.is_some() {
                    seen.operation().unacknowledged = Some(channel.pending);
                }
            }
            match message.role {
                Some(Role::Notification) => return Effect::Nothing,
                Some(Role::End) => field(root, "stream_control").is_some_and(|c| c.is_text("end")),
                _ => false,
            }
        }
        "error" if !is_opener && channel.pending > 0 => {
            channel.item_acknowledged(seen);
            refused(seen);
            return Effect::Part;
        }
        "error" => return Effect::Over(Ending::Failed(flow.next)),
        "response" | "batch-response" if !is_opener => {
            if channel.acknowledged && channel.pending > 0 {
                channel.item_acknowledged(seen);
                return Effect::Part;
            }
            let acknowledged = &mut channel.acknowledged;
            return answered_like_a_call(acknowledged, "channel", seen, root);
        }
        _ => return Effect::Nothing,
    };
    if let Some(done) = flow.done {
        after_own_close(done, seen);
        return Effect::Part;
    }
    if seen.origin.direction.is_some() {
        number(flow, seen, root);
    }
    let aborts = field(root, "stream_control").is_some_and(|c| c.is_text("abort"));
    if kind == "stream-error" || aborts {
        // Each side ends its own direction. If directions are not known, either side may have ended its own.
        let by_opener = is_opener || seen.origin.direction.is_none();
        return Effect::Over(if by_opener {
            Ending::Aborted
        } else {
            Ending::Ended
        });
    }
    if ends {
        flow.done = Some(seen.index);
    }
    if channel.flows.iter().all(|flow| flow.done.is_some()) {
        return Effect::Over(Ending::Closed(channel.pending));
    }
    Effect::Part
}

/// Reports an error that answers an item of a channel.
pub(super) fn refused(seen: Current<'_, '_>) {
    let code = seen.message.outcome.as_deref().unwrap_or("no code");
    broken!(seen, rule::CHANNEL_ITEM_REFUSED, seen.whole();
        "an item on the channel is answered with the error {code:?}; it should have no answer");
}

/// Reports a frame that a side sends after its own close.
fn after_own_close(done: u64, seen: Current<'_, '_>) {
    broken!(seen, rule::AFTER_OWN_CLOSE, seen.whole(), done;
        "this side closed the channel in #{done}, but continues to send");
}

/// Reports a frame after both sides have closed.
pub(super) fn after_both_closed(by: u64, seen: Current<'_, '_>) {
    broken!(seen, rule::AFTER_OWN_CLOSE, seen.whole(), by;
        "both sides closed the channel by #{by}, but this one continues to send");
}

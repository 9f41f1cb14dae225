//! Matches answers and requests.
//!
//! ```text
//!   an answer with an id --> open, asked by the other side   answered(): the state changes, or is past
//!                        --> open, asked by its own side     opener_frame()
//!                        --> past                            late(), late_opener_frame()
//!                        --> neither                         unknown()
//! ```

use super::super::message::field;
use super::frames::{self, Effect, channel_frame, number, stream_frame};
use super::state::{Batch, CallId, CallKey, Ending, FAILED, Flow, IdForm, OpenKind, SeqStream};
use super::{SaikuroSession, reply, rule};
use crate::protocol::exchange::{Found, OpenRequest};
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::{quote, quote_text};
use crate::protocol::session::{Current, Link, OperationFacts, Report, broken};
use crate::protocol::{Direction, Role};
use crate::tape::Node;

/// The time for which a runtime waits for a provider, in ns.
const PATIENCE: i64 = 30_000_000_000;

impl SaikuroSession {
    /// Handles an answer, or a frame of a stream or channel.
    pub(super) fn answer(&mut self, seen: Current<'_, '_>, root: Node<'_>) {
        let (Some(theirs), Some(own)) = (Self::key(seen, true), Self::key(seen, false)) else {
            return match field(root, "id") {
                None => broken!(seen, rule::MISSING_ID, seen.whole(); "an answer needs an id"),
                Some(id) => broken!(seen, rule::BAD_FIELD, seen.at(id);
                    "id is {}; it should be a UUID", quote(id)),
            };
        };
        let wants_result = match self.calls.open.get(&theirs) {
            Some((asked, OpenKind::Single { .. })) => asked.kind() != "announce",
            Some((_, OpenKind::Batch(_))) => true,
            _ => false,
        };
        let codes = &mut self.sender(seen).codes;
        if seen.message.valid {
            reply::reply(seen, root, wants_result, codes);
        }
        let found = self.calls.find(&theirs);
        if found == Found::Open {
            self.answered(&theirs, seen, root);
        } else {
            match (found, self.calls.find(&own)) {
                (_, Found::Open) => {
                    self.opener_frame(&own, seen, root);
                    self.sender(seen).add_refusable(seen.index, None);
                }
                (Found::Ended, _) => self.late(&theirs, seen, root),
                (_, Found::Ended) => {
                    self.late_opener_frame(&own, seen);
                    self.sender(seen).add_refusable(seen.index, None);
                }
                _ => self.unknown(seen, root),
            }
        }
        self.sender(seen).first.get_or_insert(seen.index);
    }

    /// Handles a frame for a request of the other side.
    pub(super) fn answered(&mut self, key: &CallKey, seen: Current<'_, '_>, root: Node<'_>) {
        let Some((asked, state)) = self.calls.open.get_mut(key) else {
            return;
        };
        let form = match state {
            // A provider takes the next message as the answer to its announce.
            OpenKind::Single { .. } if asked.kind() == "announce" => None,
            OpenKind::Single { form, .. } | OpenKind::Batch(Batch { form, .. }) => Some(*form),
            OpenKind::Stream(_) | OpenKind::Channel(_) => None,
        };
        let asked_by = (asked.index(), key.requester);
        let effect = match state {
            OpenKind::Single { .. } => Effect::Over(Ending::Answered),
            OpenKind::Batch(batch) => {
                reply::batch_answer(seen, root, batch);
                Effect::Over(Ending::Answered)
            }
            OpenKind::Stream(stream) => stream_frame(stream, seen, root),
            OpenKind::Channel(channel) => channel_frame(channel, false, seen, root),
        };
        let index = asked.index();
        let is_single = matches!(state, OpenKind::Single { .. } | OpenKind::Batch(_));
        if is_single
            && key.requester == Some(Direction::ToServer)
            && asked.kind() == "announce"
            && self.namespaces.refused(seen, index)
        {
            self.functions.remove_announce(index);
        }
        // A runtime forwards no streams, so it may refuse the answer.
        if !is_single && let Some(conn) = self.conns.get_mut(&key.scope) {
            let side = conn.sides.get_mut(seen.origin.direction);
            side.add_refusable(seen.index, None);
        }
        let is_orphan = matches!(state, OpenKind::Stream(SeqStream { orphan: true, .. }));
        if !is_orphan {
            match effect {
                Effect::Nothing => {}
                Effect::Part | Effect::Again => seen.answers(asked, false),
                Effect::Over(_) => seen.answers(asked, true),
            }
        }
        if let Effect::Again = effect {
            broken!(seen, rule::SECOND_ANSWER, seen.whole(), index;
                "{} was answered before", asked.describe());
        }
        let Effect::Over(how) = effect else {
            return;
        };
        if is_single {
            late_answer(asked, seen);
        }
        if let (OpenKind::Single { .. }, Some(target)) = (&*state, asked.subject())
            && seen.message.role == Some(Role::Response)
        {
            self.functions.check_result(seen, root, (index, target));
        }
        if let Some((asked, state)) = self.calls.open.close(key) {
            // A refusal ends a stream that never started; after items, real peers send an abort.
            if let (Ending::Failed(_), OpenKind::Stream(SeqStream { flow, .. })) = (how, state)
                && flow.last.is_some()
            {
                let failed = &mut self.sender(seen).rare.unaborted;
                if failed.len() < FAILED {
                    failed.push((key.id.clone(), asked.clone()));
                }
            }
            self.end(key.clone(), asked, how, seen);
        }
        if let (Some(form), (index, Some(Direction::ToServer))) = (form, asked_by) {
            self.check_id_form(form, index, seen, root);
        }
        if is_orphan {
            self.orphans -= 1;
        } else if is_single {
            self.handle_answered(key, index, seen);
        }
    }

    /// Reports failed streams without an abort when a connection sends nothing more.
    pub(super) fn report_unaborted(&mut self, conn: Option<u32>, report: &mut Report) {
        let is_complete = !self.calls.has_gap(conn, None);
        let Some(conn) = self.conns.get_mut(&conn).filter(|_| is_complete) else {
            return;
        };
        for (_, asked) in conn.unaborted() {
            broken!(report, rule::STREAM_NOT_ABORTED, asked.place();
                "{} failed after its first items, and no abort came", asked.describe());
        }
    }

    /// Reports an id in another form: a client that compares ids as text does not match it. It is reported once for
    /// each client.
    fn check_id_form(&mut self, asked: IdForm, index: u64, seen: Current<'_, '_>, root: Node<'_>) {
        let Some(id) = field(root, "id") else {
            return;
        };
        let got = IdForm::of(id);
        let side = self.side(seen.origin.conn, Some(Direction::ToServer));
        if got == asked || asked == IdForm::Other {
            return;
        }
        if let Some(answer) = &mut seen.report().answer {
            answer.id_form_differs = true;
        }
        if !side.rare.reported.first(rule::ANSWER_ID_FORM) {
            return;
        }
        broken!(seen, rule::ANSWER_ID_FORM, seen.at(id), index;
            "the id is {}, but the request has it as {}", got.name(), asked.name());
    }

    /// Handles an answered request: a runtime that answers in order has handled all earlier requests.
    fn handle_answered(&mut self, key: &CallKey, index: u64, seen: Current<'_, '_>) {
        let lost = self.calls.has_gap(key.scope, None);
        let conn = self.conns.entry(key.scope).or_default();
        let side = conn.sides.get_mut(key.requester);
        side.handle_answered(index);
        let older = side
            .order
            .keys()
            .next()
            .copied()
            .filter(|older| *older < index);
        if let Some(older) = older
            && !lost
            && key.requester == Some(Direction::ToServer)
            && side.overtaken != Some(older)
        {
            side.overtaken = Some(older);
            broken!(seen, rule::OUT_OF_ORDER, seen.whole(), older;
                "this answers #{index}, but the earlier #{older} is not answered");
        }
    }

    /// Handles a frame of the side that opened the stream or channel.
    pub(super) fn opener_frame(&mut self, key: &CallKey, seen: Current<'_, '_>, root: Node<'_>) {
        let Some((asked, state)) = self.calls.open.get_mut(key) else {
            return;
        };
        if !matches!(state, OpenKind::Stream(SeqStream { orphan: true, .. })) {
            seen.part_of(asked.index(), Link::Recorded);
        }
        seen.operation().is_item = seen.message.role == Some(Role::Request);
        let effect = match state {
            OpenKind::Channel(channel) => channel_frame(channel, true, seen, root),
            OpenKind::Stream(stream) => {
                let control = field(root, "stream_control");
                let paces = control.is_some_and(|c| c.is_text("pause") || c.is_text("resume"));
                if !paces && !stream.reported && !stream.orphan {
                    stream.reported = true;
                    item_from_opener(asked, seen);
                }
                Effect::Nothing
            }
            OpenKind::Single { .. } | OpenKind::Batch(_) => {
                *seen.operation() = OperationFacts::default();
                return answers_itself(asked, seen);
            }
        };
        if let Effect::Over(how) = effect
            && let Some((asked, _)) = self.calls.open.close(key)
        {
            seen.operation().ends = Some(true);
            self.end(key.clone(), asked, how, seen);
        }
    }

    /// Handles a frame for a request that has ended.
    fn late(&mut self, key: &CallKey, seen: Current<'_, '_>, root: Node<'_>) {
        let Some(ended) = self.calls.ended.get_mut(key) else {
            return;
        };
        let (kind, asked, by) = (seen.message.kind.as_ref(), &ended.asked, ended.by);
        let index = asked.index();
        // For a request that was not seen, it is not known if it was a stream.
        if is_item(asked) {
            if matches!(kind, "item" | "end") {
                after_end(asked, by, seen);
            }
            return;
        }
        seen.answers(asked, true);
        let is_error = seen.message.role == Some(Role::Error);
        match ended.how {
            Ending::Cast | Ending::NoAnswer => {
                let what = format!("{}, #{index},", asked.describe().trim_end());
                let code = seen.message.outcome.as_deref().unwrap_or("no code");
                let (rule, text) = match (ended.how, is_error) {
                    (Ending::Cast, true) => (
                        rule::CAST_REFUSED,
                        format!(
                            "{what} failed with {}, and no peer waits for the answer",
                            quote_text(code)
                        ),
                    ),
                    (Ending::Cast, false) => (
                        rule::CAST_ANSWERED,
                        format!("{what} is answered; a cast should have no answer"),
                    ),
                    _ => (
                        rule::LOG_ANSWERED,
                        format!("{what} is answered, and no peer waits for the answer"),
                    ),
                };
                if asked.kind() != "announce" {
                    broken!(seen, rule, seen.whole(), index; "{text}");
                }
                (ended.how, ended.by) = (Ending::Answered, seen.index);
                self.side(key.scope, key.requester).handle_answered(index);
            }
            Ending::Answered => {
                broken!(seen, rule::SECOND_ANSWER, seen.whole(), by;
                    "{}, #{index}, was answered before, by #{by}", asked.describe());
            }
            Ending::Failed(next) if kind == "abort" => {
                let mut flow = Flow {
                    next,
                    last: Some(by),
                    done: None,
                };
                number(&mut flow, seen, root);
                (ended.how, ended.by) = (Ending::Ended, seen.index);
                let sender = self.sender(seen);
                sender.add_refusable(seen.index, None);
                sender.rare.unaborted.retain(|(name, _)| *name != key.id);
            }
            Ending::Closed(pending) if pending > 0 && matches!(kind, "error" | "response") => {
                ended.how = Ending::Closed(pending - 1);
                if is_error {
                    frames::refused(seen);
                }
            }
            Ending::Closed(_) => frames::after_both_closed(by, seen),
            Ending::Unreadable => {}
            Ending::Aborted => match kind {
                "error" => ended.how = Ending::Failed(None),
                "item" => {}
                _ => ended.how = Ending::Ended,
            },
            Ending::Failed(_) | Ending::Ended => after_end(asked, by, seen),
        }
    }

    /// Handles a frame of the side that opened a stream or channel that has ended.
    pub(super) fn late_opener_frame(&mut self, key: &CallKey, seen: Current<'_, '_>) {
        let Some(ended) = self.calls.ended.get_mut(key) else {
            return;
        };
        if matches!(ended.asked.kind(), "stream" | "channel") {
            seen.part_of(ended.asked.index(), Link::Recorded);
        }
        match (ended.asked.kind(), ended.how) {
            ("stream", _) if seen.message.role != Some(Role::Notification) => {
                item_from_opener(&ended.asked, seen);
            }
            ("channel", Ending::Closed(_)) => frames::after_both_closed(ended.by, seen),
            // The opener sent these before it received the end.
            ("channel" | "stream", _) => {}
            (_, Ending::Unreadable) => {}
            _ => answers_itself(&ended.asked, seen),
        }
    }

    /// Handles the answer to an announce in the document's form.
    pub(super) fn acknowledged(&mut self, seen: Current<'_, '_>, root: Node<'_>) {
        let codes = &mut self.sender(seen).codes;
        reply::reply(seen, root, false, codes);
        let Some(node) = root.get("namespace").filter(|n| n.is_string()) else {
            return broken!(seen, rule::BAD_FIELD, seen.whole();
                "the announce_ack names no namespace");
        };
        let namespace = node.text().unwrap_or_default();
        let requester = seen.origin.direction.map(Direction::other);
        let mut key = CallKey {
            scope: seen.origin.conn,
            requester,
            id: CallId::Namespace(to_stored(&namespace)),
        };
        if self.calls.open.get(&key).is_none() {
            if self.calls.ended.get(&key).is_some() {
                return self.late(&key, seen, root);
            }
            // The announce that it most likely means is answered with it.
            let side = self.side(key.scope, requester);
            let mut waits = side
                .order
                .values()
                .filter(|k| matches!(k.id, CallId::Namespace(_)));
            let meant = waits.next().map(|key| key.as_ref().clone());
            broken!(seen, rule::ACK_NAMESPACE, seen.at(node);
                "{} is acknowledged, but was not announced", quote_text(&namespace));
            match meant {
                Some(meant) => key = meant,
                None => return,
            }
        }
        self.answered(&key, seen, root);
    }
}

/// Returns true if only an item of the request is known.
fn is_item(asked: &OpenRequest) -> bool {
    asked.kind() == "item"
}

fn after_end(asked: &OpenRequest, by: u64, seen: Current<'_, '_>) {
    if is_item(asked) {
        broken!(seen, rule::AFTER_END, seen.whole(), by; "this follows #{by}, which ended it");
    } else {
        broken!(seen, rule::AFTER_END, seen.whole(), by;
            "{}, #{}, was ended by #{by}", asked.describe(), asked.index());
    }
}

fn answers_itself(asked: &OpenRequest, seen: Current<'_, '_>) {
    // It was reported that there is no request.
    if is_item(asked) {
        return;
    }
    let index = asked.index();
    broken!(seen, rule::UNKNOWN_ID, seen.whole(), index;
        "this answers {}, #{index}, a request of the same side", asked.describe());
}

fn item_from_opener(asked: &OpenRequest, seen: Current<'_, '_>) {
    broken!(seen, rule::ITEM_FROM_OPENER, seen.whole(), asked.index();
        "the opener of {}, #{}, sends on it", asked.describe(), asked.index());
}

fn late_answer(asked: &OpenRequest, seen: Current<'_, '_>) {
    let times = asked.origin().time.zip(seen.origin.time);
    let took = times.map_or(0, |(from, to)| to.saturating_sub(from));
    // A runtime sends its own Timeout at that moment.
    if took > PATIENCE && seen.message.outcome.as_deref() != Some("Timeout") {
        let (seconds, millis) = (took / 1_000_000_000, took / 1_000_000 % 1000);
        broken!(seen, rule::LATE_ANSWER, seen.whole(), asked.index();
            "{} took {seconds}.{millis:03} s; a runtime waits 30 s", asked.describe());
    }
}

//! What answers belong to.
//!
//! ```text
//!   an answer under an id --> open, asked by the other side   answered(): the state moves on, or is past
//!                         --> open, asked by its own side     opener_frame()
//!                         --> past                            late(), late_opener_frame()
//!                         --> neither                         unknown()
//! ```

use super::super::message::field;
use super::announce::Namespaces;
use super::frames::{self, Effect, number, of_channel, of_stream};
use super::state::{Batch, FAILED, Flow, Form, How, Key, Name, State, Stream};
use super::{Conduct, reply};
use crate::protocol::correlation::Asked;
use crate::protocol::session::text::{quote, quote_text};
use crate::protocol::session::{Report, Seen};
use crate::protocol::{Direction, Role};
use crate::tape::Node;

/// How long a runtime waits for a provider, in ns.
const PATIENCE: i64 = 30_000_000_000;

impl Conduct {
    /// An answer, or a frame of a stream or channel.
    pub(super) fn answer(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let (Some(theirs), Some(own)) = (Self::key(seen, true), Self::key(seen, false)) else {
            let id = field(root, "id");
            let (rule, text) = match id {
                None => (
                    "missing-id",
                    "there is no id that says what this answers".into(),
                ),
                Some(id) => (
                    "bad-field",
                    format!("id is {}, a UUID should be", quote(id)),
                ),
            };
            let place = id.map_or(seen.whole(), |id| seen.at(id));
            return report.broken(rule, place, text);
        };
        let wants_result = match self.open.get(&theirs) {
            Some((asked, State::Single { .. })) => asked.kind.as_ref() != "announce",
            Some((_, State::Batch(_))) => true,
            _ => false,
        };
        let codes = &mut self.sender(seen).codes;
        if seen.message.valid {
            reply::reply(seen, root, wants_result, codes, report);
        }
        if self.open.get(&theirs).is_some() {
            self.answered(&theirs, seen, root, report);
        } else if self.open.get(&own).is_some() {
            self.opener_frame(&own, seen, root, report);
            self.sender(seen).doubt(seen.index, None);
        } else if self.ended.get(&theirs).is_some() {
            self.late(&theirs, seen, root, report);
        } else if self.ended.get(&own).is_some() {
            self.late_opener_frame(&own, seen, report);
            self.sender(seen).doubt(seen.index, None);
        } else {
            self.unknown(seen, root, report);
        }
        self.sender(seen).first.get_or_insert(seen.index);
    }

    /// A frame that belongs to what the other side asked.
    pub(super) fn answered(
        &mut self,
        key: &Key,
        seen: &Seen<'_>,
        root: Node<'_>,
        report: &mut Report,
    ) {
        let Some((asked, state)) = self.open.get_mut(key) else {
            return;
        };
        let form = match state {
            // A provider takes the next message for the answer to its announce.
            State::Single { .. } if asked.kind.as_ref() == "announce" => None,
            State::Single { form, .. } | State::Batch(Batch { form, .. }) => Some(*form),
            State::Stream(_) | State::Channel(_) => None,
        };
        let asked_by = (asked.place.index, key.asker);
        let effect = match state {
            State::Single { .. } => Effect::Over(How::Answered),
            State::Batch(batch) => {
                reply::batch_answer(seen, root, batch, report);
                Effect::Over(How::Answered)
            }
            State::Stream(stream) => of_stream(stream, seen, root, report),
            State::Channel(channel) => of_channel(channel, false, seen, root, report),
        };
        let index = asked.place.index;
        let is_single = matches!(state, State::Single { .. } | State::Batch(_));
        if is_single
            && key.asker == Some(Direction::ToServer)
            && asked.kind.as_ref() == "announce"
            && refused_announce(seen, &mut self.namespaces, index, report)
        {
            self.functions.refuse(index);
        }
        // A runtime hands on nothing that streams, so it may refuse the answer.
        if !is_single && let Some(conn) = self.conns.get_mut(&key.conn) {
            let side = conn.sides.get_mut(seen.origin.direction);
            side.doubt(seen.index, None);
        }
        let is_orphan = matches!(state, State::Stream(Stream { orphan: true, .. }));
        if !is_orphan {
            match effect {
                Effect::Nothing => {}
                Effect::Part | Effect::Again => report.answers(asked, seen, false),
                Effect::Over(_) => report.answers(asked, seen, true),
            }
        }
        if let Effect::Again = effect {
            let text = format!("{} was answered before", asked.what());
            report.broken_by("second-answer", seen.whole(), index, text);
        }
        let Effect::Over(how) = effect else {
            return;
        };
        if is_single {
            late_answer(asked, seen, report);
        }
        if let Some((asked, state)) = self.open.close(key) {
            // A refusal ends what never began; behind items, real peers send an abort.
            if let (How::Failed(_), State::Stream(Stream { flow, .. })) = (how, state)
                && flow.last.is_some()
            {
                let failed = &mut self.sender(seen).unaborted;
                if failed.len() < FAILED {
                    failed.push((key.name.clone(), asked.clone()));
                }
            }
            self.end(key.clone(), asked, how, seen);
        }
        if let (Some(form), (index, Some(Direction::ToServer))) = (form, asked_by) {
            self.form(form, index, seen, root, report);
        }
        if is_orphan {
            self.orphans -= 1;
        } else if is_single {
            self.settle(key, index, seen, report);
        }
    }

    /// Nothing more will come on a connection: streams that failed there were not aborted.
    pub(super) fn unaborted(&mut self, conn: Option<u32>, report: &mut Report) {
        let Some(conn) = self.conns.get_mut(&conn).filter(|conn| !conn.lost) else {
            return;
        };
        for (_, asked) in conn.unaborted() {
            let text = format!(
                "{} failed after its first items, and no abort came",
                asked.what()
            );
            report.broken("stream-not-aborted", asked.place, text);
        }
    }

    /// A client that compares ids as they are written finds no request for an id in another form; told once a client.
    fn form(
        &mut self,
        asked: Form,
        index: u64,
        seen: &Seen<'_>,
        root: Node<'_>,
        report: &mut Report,
    ) {
        let Some(id) = field(root, "id") else {
            return;
        };
        let got = Form::of(id);
        let side = self.side(seen.origin.conn, Some(Direction::ToServer));
        if got == asked || asked == Form::Other {
            return;
        }
        if let Some(answer) = &mut report.answer {
            answer.id_form_differs = true;
        }
        if !side.reported.first("answer-id-form") {
            return;
        }
        let (got, asked) = (got.name(), asked.name());
        let text = format!("the id is written as {got}, that of the request as {asked}");
        report.broken_by("answer-id-form", seen.at(id), index, text);
    }

    /// Something was answered: a runtime that answers in turn is done with all before it.
    fn settle(&mut self, key: &Key, index: u64, seen: &Seen<'_>, report: &mut Report) {
        let conn = self.conns.entry(key.conn).or_default();
        let lost = conn.lost;
        let side = conn.sides.get_mut(key.asker);
        side.settle(index);
        let older = side
            .order
            .keys()
            .next()
            .copied()
            .filter(|older| *older < index);
        if let Some(older) = older
            && !lost
            && key.asker == Some(Direction::ToServer)
            && side.overtaken != Some(older)
        {
            side.overtaken = Some(older);
            let text =
                format!("this answers #{index}, and #{older}, asked before it, is not answered");
            report.broken_by("out-of-order", seen.whole(), older, text);
        }
    }

    /// A frame on what its own sender opened.
    pub(super) fn opener_frame(
        &mut self,
        key: &Key,
        seen: &Seen<'_>,
        root: Node<'_>,
        report: &mut Report,
    ) {
        let Some((asked, state)) = self.open.get_mut(key) else {
            return;
        };
        let effect = match state {
            State::Channel(channel) => of_channel(channel, true, seen, root, report),
            State::Stream(stream) => {
                let control = field(root, "stream_control");
                let paces = control.is_some_and(|c| c.is_text("pause") || c.is_text("resume"));
                if !paces && !stream.told && !stream.orphan {
                    stream.told = true;
                    item_from_opener(asked, seen, report);
                }
                Effect::Nothing
            }
            State::Single { .. } | State::Batch(_) => {
                return answers_itself(asked, seen, report);
            }
        };
        if let Effect::Over(how) = effect
            && let Some((asked, _)) = self.open.close(key)
        {
            self.end(key.clone(), asked, how, seen);
        }
    }

    /// A frame that belongs to what is over.
    fn late(&mut self, key: &Key, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let Some(ended) = self.ended.get_mut(key) else {
            return;
        };
        let (kind, asked, by) = (seen.message.kind.as_ref(), &ended.asked, ended.by);
        let index = asked.place.index;
        // Whether it was a stream is not known of what was followed without its beginning.
        if is_item(asked) {
            if matches!(kind, "item" | "end") {
                after_end(asked, by, seen, report);
            }
            return;
        }
        report.answers(asked, seen, true);
        let is_error = seen.message.role == Some(Role::Error);
        match ended.how {
            How::Cast | How::Told => {
                let what = format!("{}, #{index},", asked.what().trim_end());
                let code = seen.message.outcome.as_deref().unwrap_or("no code");
                let (rule, text) = match (ended.how, is_error) {
                    (How::Cast, true) => (
                        "cast-refused",
                        format!(
                            "{what} failed with {}, and nobody waits to hear it",
                            quote_text(code)
                        ),
                    ),
                    (How::Cast, false) => (
                        "cast-answered",
                        format!("{what} is answered, a cast is not"),
                    ),
                    _ => (
                        "log-answered",
                        format!("{what} is answered, nobody waits for it"),
                    ),
                };
                if asked.kind.as_ref() != "announce" {
                    report.broken_by(rule, seen.whole(), index, text);
                }
                (ended.how, ended.by) = (How::Answered, seen.index);
                self.side(key.conn, key.asker).settle(index);
            }
            How::Answered => {
                let text = format!("{}, #{index}, was answered before, by #{by}", asked.what());
                report.broken_by("second-answer", seen.whole(), by, text);
            }
            How::Failed(next) if kind == "abort" => {
                let mut flow = Flow {
                    next,
                    last: Some(by),
                    done: None,
                };
                number(&mut flow, seen, root, report);
                (ended.how, ended.by) = (How::Ended, seen.index);
                let sender = self.sender(seen);
                sender.doubt(seen.index, None);
                sender.unaborted.retain(|(name, _)| *name != key.name);
            }
            How::Closed(pending) if pending > 0 && matches!(kind, "error" | "response") => {
                ended.how = How::Closed(pending - 1);
                if is_error {
                    frames::refused(seen, report);
                }
            }
            How::Closed(_) => frames::after_both_closed(by, seen, report),
            How::HalfRead => {}
            How::Aborted => match kind {
                "error" => ended.how = How::Failed(None),
                "item" => {}
                _ => ended.how = How::Ended,
            },
            How::Failed(_) | How::Ended => after_end(asked, by, seen, report),
        }
    }

    /// A frame on what its own sender opened, and what is over.
    pub(super) fn late_opener_frame(&mut self, key: &Key, seen: &Seen<'_>, report: &mut Report) {
        let Some(ended) = self.ended.get_mut(key) else {
            return;
        };
        match (ended.asked.kind.as_ref(), ended.how) {
            ("stream", _) if seen.message.role != Some(Role::Notification) => {
                item_from_opener(&ended.asked, seen, report);
            }
            ("channel", How::Closed(_)) => frames::after_both_closed(ended.by, seen, report),
            // What the opener sent before it learned of the end.
            ("channel" | "stream", _) => {}
            (_, How::HalfRead) => {}
            _ => answers_itself(&ended.asked, seen, report),
        }
    }

    /// The answer to an announce in the document's form.
    pub(super) fn acknowledged(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let codes = &mut self.sender(seen).codes;
        reply::reply(seen, root, false, codes, report);
        let Some(node) = root.get("namespace").filter(|n| n.is_string()) else {
            let text = "the announce_ack names no namespace";
            return report.broken("bad-field", seen.whole(), text);
        };
        let namespace = node.text().unwrap_or_default();
        let asker = seen.origin.direction.map(Direction::other);
        let mut key = Key {
            conn: seen.origin.conn,
            asker,
            name: Name::Namespace(namespace.as_ref().into()),
        };
        if self.open.get(&key).is_none() {
            if self.ended.get(&key).is_some() {
                return self.late(&key, seen, root, report);
            }
            // The announce that it most likely means is answered with it.
            let side = self.side(key.conn, asker);
            let mut waits = side
                .order
                .values()
                .filter(|k| matches!(k.name, Name::Namespace(_)));
            let meant = waits.next().cloned();
            let text = format!(
                "{} is acknowledged, which was not announced",
                quote_text(&namespace)
            );
            report.broken("ack-namespace", seen.at(node), text);
            match meant {
                Some(meant) => key = meant,
                None => return,
            }
        }
        self.answered(&key, seen, root, report);
    }
}

/// Whether all that is known of something is an item of it.
fn is_item(asked: &Asked) -> bool {
    asked.kind.as_ref() == "item"
}

fn after_end(asked: &Asked, by: u64, seen: &Seen<'_>, report: &mut Report) {
    let (what, index) = (asked.what(), asked.place.index);
    let text = if is_item(asked) {
        format!("this follows #{by}, which ended it")
    } else {
        format!("{what}, #{index}, was ended by #{by}")
    };
    report.broken_by("after-end", seen.whole(), by, text);
}

fn answers_itself(asked: &Asked, seen: &Seen<'_>, report: &mut Report) {
    // That nobody asked for it was said.
    if is_item(asked) {
        return;
    }
    let index = asked.place.index;
    let text = format!(
        "this answers {}, #{index}, which the same side asked",
        asked.what()
    );
    report.broken_by("unknown-id", seen.whole(), index, text);
}

fn item_from_opener(asked: &Asked, seen: &Seen<'_>, report: &mut Report) {
    let index = asked.place.index;
    let text = format!(
        "the side that opened {}, #{index}, sends on it",
        asked.what()
    );
    report.broken_by("item-from-opener", seen.whole(), index, text);
}

fn late_answer(asked: &Asked, seen: &Seen<'_>, report: &mut Report) {
    let times = asked.origin().time.zip(seen.origin.time);
    let took = times.map_or(0, |(from, to)| to.saturating_sub(from));
    // Its own Timeout is what a runtime says at that moment.
    if took > PATIENCE && seen.message.outcome.as_deref() != Some("Timeout") {
        let (seconds, millis) = (took / 1_000_000_000, took / 1_000_000 % 1000);
        let text = format!(
            "{} took {seconds}.{millis:03} s; a runtime waits 30 s",
            asked.what()
        );
        report.broken_by("late-answer", seen.whole(), asked.place.index, text);
    }
}

/// Says whether it is.
fn refused_announce(
    seen: &Seen<'_>,
    namespaces: &mut Namespaces,
    index: u64,
    report: &mut Report,
) -> bool {
    if seen.message.role != Some(Role::Error) {
        return false;
    }
    namespaces.refuse(seen.origin.conn, index);
    let code = seen.message.outcome.as_deref().unwrap_or("no code");
    let text = format!(
        "the announce is refused with {}: nothing it offers can be called",
        quote_text(code)
    );
    report.broken_by("announce-refused", seen.whole(), index, text);
    true
}

//! The order of the messages of a text: logs and tables can begin with the newest one, or have several streams one after the
//! other.

use super::marks::Mark;
use super::probe::exchange;
use crate::capture::chunk::{InputPlace, ItemSink, Problem};
use crate::capture::time::{DAY, Time};
use std::collections::HashSet;

/// The least number of messages that show that a text begins with the newest one.
const MIN_REVERSED: u64 = 2;
/// The messages whose ids are compared.
const MAX_COMPARED: usize = 64;
/// Threads can write their lines a little later than each other, in nanoseconds; but not one of so many lines.
const MAX_JITTER: Time = 1_000_000_000;
const MAX_LATE: u64 = 4;

#[derive(Default)]
pub(super) struct Order {
    /// Times have dates.
    is_dated: bool,
    times: u64,
    /// The time of the last message, and the latest one.
    last: Option<Time>,
    latest: Option<Time>,
    /// The numbers of messages that are later and earlier than the one before.
    later: u64,
    earlier: u64,
    /// The number of messages that are earlier than another one before them, and the line of the first one.
    back: Option<(u64, u64)>,
    /// One of them is much earlier.
    is_far_back: bool,
    compared: usize,
    asked: HashSet<String>,
    answered: HashSet<String>,
    /// The numbers of answers behind their requests, and of requests behind their answers.
    forward: u64,
    reversed: u64,
}

impl Order {
    /// Adds a message with its time.
    pub(super) fn add(&mut self, mark: Mark, message: &[u8], line: u64) {
        if mark.time.is_some() && !self.is_dated {
            // Times of day cannot be compared with it.
            (self.is_dated, self.last, self.latest) = (true, None, None);
            (self.later, self.earlier, self.times, self.back) = (0, 0, 0, None);
        }
        let time = if self.is_dated { mark.time } else { mark.clock };
        if let Some(time) = time {
            self.time(time, line);
        }
        if self.compared < MAX_COMPARED {
            self.compared += 1;
            self.id(message);
        }
    }

    fn time(&mut self, time: Time, line: u64) {
        if let Some(last) = self.last {
            self.later += u64::from(time > last);
            self.earlier += u64::from(time < last);
        }
        self.last = Some(time);
        let ago = self.latest.map_or(0, |latest| latest.saturating_sub(time));
        // A time of day begins again at midnight.
        let is_next_day = !self.is_dated && ago > DAY / 2;
        self.times += 1;
        if ago > 0 && !is_next_day {
            self.back.get_or_insert((0, line)).0 += 1;
            self.is_far_back |= ago > MAX_JITTER;
        }
        if ago < 0 || is_next_day || self.latest.is_none() {
            self.latest = Some(time);
        }
    }

    fn id(&mut self, message: &[u8]) {
        match exchange(message) {
            Some((id, true)) if self.answered.remove(&id) => self.reversed += 1,
            Some((id, true)) => _ = self.asked.insert(id),
            Some((id, false)) if self.asked.remove(&id) => self.forward += 1,
            Some((id, false)) => _ = self.answered.insert(id),
            None => {}
        }
    }

    fn is_reversed(&self) -> bool {
        let by_time = self.earlier >= MIN_REVERSED;
        let by_id = self.reversed >= MIN_REVERSED && self.forward == 0;
        self.later == 0 && (by_time || by_id)
    }

    /// Says how the order differs from that of the conversation.
    pub(super) fn report(&self, sink: &mut ItemSink<'_>) {
        if self.is_reversed() {
            let text =
                "the text begins with the newest message, and answers are before their requests";
            Problem::note(InputPlace::Whole, text)
                .hint("tac turns lines round, jq reverse a list in JSON")
                .report(sink);
        } else if let Some((count, line)) = self.back
            && (self.is_far_back || count * MAX_LATE >= self.times && count > 1)
        {
            let text = match count {
                1 => "this message is earlier than one before it".to_owned(),
                _ => {
                    format!("{count} messages are earlier than one before them; the first is here")
                }
            };
            let text = format!("{text}: messages are shown in the order of the text");
            Problem::note(InputPlace::Line(line), text)
                .hint("sort FILE puts lines that begin with their time in order")
                .report(sink);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(messages: &[(Option<Time>, &str)], is_dated: bool) -> Vec<String> {
        let mut order = Order::default();
        for ((time, message), line) in messages.iter().zip(1..) {
            let time = time.map(|second| second * 1_000_000_000);
            let mark = Mark {
                time: time.filter(|_| is_dated),
                clock: time,
                ..Mark::default()
            };
            order.add(mark, message.as_bytes(), line);
        }
        let mut found = Vec::new();
        order.report(&mut |item| {
            if let crate::capture::chunk::Item::Problem(problem) = item {
                found.push(problem.to_string());
            }
        });
        found
    }

    #[test]
    fn the_order_of_messages_is_judged_by_times_and_ids() {
        let (ask, answer) = (
            r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1}"#,
        );
        let (ask2, answer2) = (
            r#"{"jsonrpc":"2.0","id":2,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":1}"#,
        );
        let newest = "the text begins with the newest message";
        let back = "this message is earlier than one before it";
        let backs = "2 messages are earlier than one before them";
        for (messages, want) in [
            (
                vec![(None, answer2), (None, ask2), (None, answer), (None, ask)],
                Some(newest),
            ),
            (
                vec![(Some(9), "{}"), (Some(8), "{}"), (Some(7), "{}")],
                Some(newest),
            ),
            (
                vec![(None, ask), (None, answer), (None, ask), (None, answer)],
                None,
            ),
            // Half of the conversation may be from before.
            (vec![(None, answer), (None, ask), (None, answer)], None),
            (
                vec![
                    (Some(1), ask),
                    (Some(9), ask2),
                    (Some(5), answer),
                    (Some(10), answer2),
                ],
                Some(back),
            ),
            (
                vec![
                    (Some(1), ask),
                    (Some(9), ask2),
                    (Some(5), answer),
                    (Some(6), answer2),
                ],
                Some(backs),
            ),
            // Threads write a little later than each other.
            (
                vec![(Some(1), ask), (Some(5), ask2), (Some(4), answer)],
                None,
            ),
            // Midnight.
            (
                vec![(Some(86_390), ask), (Some(5), answer), (Some(6), ask2)],
                None,
            ),
        ] {
            let is_dated = messages
                .first()
                .is_some_and(|(time, _)| time != &Some(86_390));
            let found = notes(&messages, is_dated);
            let is_right = match want {
                Some(want) => matches!(&*found, [one] if one.contains(want)),
                None => found.is_empty(),
            };
            assert!(is_right, "{messages:?}: {found:?}");
        }
    }
}

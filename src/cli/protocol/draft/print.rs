//! Writes what was found as a description, with the numbers that support it as comments.

use super::facts::{
    self, Kind, MIN_PAIRS, Pairs, Values, find_content, find_error, find_kind, find_pairs,
    find_subject, is, is_one_way, only_in, pair_by_order,
};
use super::framing;
use super::items::{add_items, remove_answers_to_repeats};
use super::text::{self, Turns};
use super::{Capture, DraftMessage};
use crate::protocol::Direction;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A draft that is being written.
struct Draft<'c> {
    messages: &'c [DraftMessage],
    values: Values,
    /// The lines before the tables.
    top: String,
    kinds: String,
    /// Fields of a header, with the names that their meaning gives them.
    names: Vec<(String, &'static str)>,
}

/// A kind of message.
#[derive(Default)]
struct Entry {
    when: Option<String>,
    kind: Option<String>,
    role: &'static str,
    id: Option<String>,
    reply_to: Option<String>,
    subject: Option<String>,
    content: Option<String>,
    error: Option<String>,
    of: Vec<usize>,
}

pub fn description(capture: &Capture) -> String {
    let head = format!(
        "# A draft from {}: check each line. Next: wiretool protocol check, and wiretool help describe.\n",
        capture.name.escape_debug()
    );
    let found = framing::find(capture);
    // Some header fits any text by accident: a known framing that reads most is more likely.
    let is_known = found.as_ref().is_some_and(|found| !found.has_header());
    let found = if is_known {
        found
    } else {
        framing::find_most(capture).or(found)
    };
    let Some(found) = found.or_else(|| text::find(capture)) else {
        return format!(
            "{head}# Not found: a framing. No built-in framing and no header with a length reads all bytes; part of the\n\
             # capture may be missing, or it is compressed or encrypted.\n\
             name = \"draft\"\nframings = [\"message\"]\nencodings = [\"bytes\"]\n\n\
             [[message]]\nrole = \"notification\"\n"
        );
    };
    // If the pairs are not those of the description, they are not stated.
    for with_pairs in [true, false] {
        let mut draft = Draft {
            messages: &found.trial.messages,
            values: Values::of(&found.trial.messages),
            top: String::new(),
            kinds: String::new(),
            names: Vec::new(),
        };
        let expected = draft.write_kinds(capture, with_pairs);
        let mut text = head.clone() + "name = \"draft\"\n" + &draft.top;
        for why in &found.why {
            let _ = writeln!(text, "# {why}");
        }
        text += &found.toml;
        if !found.is_read {
            text += "# Not found: the encoding of the bodies.\n";
        }
        text += &draft.kinds;
        for (field, name) in &draft.names {
            text = text.replace(field, name);
        }
        let Some(trial) = capture.try_description(&text) else {
            continue;
        };
        // Two one-way files are read one after the other.
        let has_pairs = !capture.is_ordered() || trial.pairs * 10 >= expected * 9;
        if trial.bad <= found.trial.bad && trial.unknown == 0 && has_pairs {
            let _ = write!(
                text,
                "\n# Read again with this description: {} messages",
                trial.messages.len()
            );
            if capture.is_ordered() {
                let _ = write!(text, ", {} answers with their request", trial.pairs);
            }
            return text + ".\n";
        }
    }
    let toml = &found.toml;
    format!(
        "{head}name = \"draft\"\n{toml}\n# Not found: the kinds of messages.\n[[message]]\nrole = \"notification\"\n"
    )
}

impl Draft<'_> {
    /// Writes the kinds of messages; returns the number of pairs.
    fn write_kinds(&mut self, capture: &Capture, with_pairs: bool) -> usize {
        let messages = self.messages;
        if let Some(turns) = Turns::of(&self.values, messages).filter(|_| with_pairs) {
            (self.top, self.kinds) = turns.write(&self.values);
            return turns.answers.len();
        }
        let pairs = find_pairs(&self.values, messages).filter(|_| with_pairs);
        let (mut pairs, mut guess) = match pairs {
            Some((pairs, true)) => (Some(pairs), None),
            Some((pairs, false)) => (None, Some(pairs)),
            None => (None, None),
        };
        let mut kind = find_kind(&self.values, messages, pairs.as_ref());
        if let (Some(all), Some(kind)) = (&mut pairs, &kind) {
            remove_answers_to_repeats(&self.values, messages, all, kind);
            if all.of.len() < MIN_PAIRS {
                guess = pairs.take();
            }
        }
        let mut by_subject = false;
        if pairs.is_none() && guess.is_none() && capture.is_ordered() && with_pairs {
            let path = self.order_kind(kind.as_ref());
            let of_kind = path.as_deref();
            pairs = of_kind.and_then(|path| pair_by_order(&self.values, messages, Some(path)));
            by_subject = pairs.is_some();
            if !by_subject {
                pairs = pair_by_order(&self.values, messages, None);
                // A kind is of requests or of answers.
                let decides = pairs.as_ref();
                kind = decides
                    .and_then(|pairs| find_kind(&self.values, messages, Some(pairs)))
                    .or(kind.filter(|_| pairs.is_none()));
            }
        }
        if let Some(guess) = guess {
            let _ = writeln!(
                self.top,
                "# Not sure: {1} of an answer may be {0} of its request, in {2} pairs.",
                guess.id,
                guess.reply_to,
                guess.of.len()
            );
        }
        let Some(pairs) = pairs else {
            self.top += "# Not found: what pairs requests and answers. All messages are notifications here.\n";
            self.write_without_pairs(kind);
            return 0;
        };
        let roles = [
            (Some(&pairs.id), "id"),
            (kind.as_ref().map(|kind| &kind.path), "type"),
        ];
        for (path, name) in roles {
            let field = path.and_then(|path| path.strip_prefix(".header."));
            let field = field.filter(|field| field.starts_with(framing::NUMBERED));
            self.names
                .extend(field.map(|field| (field.to_owned(), name)));
        }
        let is_by_side = facts::is_in_header(&pairs.id) && is_one_way(messages, &pairs);
        match kind {
            Some(kind) if !by_subject => self.write_by_kind(pairs, kind),
            kind if pairs.by_order || is_by_side => {
                self.write_by_order(&pairs, kind.as_ref());
                pairs.of.len()
            }
            _ => {
                self.note_pairs(&pairs);
                self.note_kind(None);
                self.write_by_members(&pairs);
                pairs.of.len()
            }
        }
    }

    /// Returns the member by which answers may be paired in order.
    fn order_kind(&self, kind: Option<&Kind>) -> Option<String> {
        kind.map(|kind| kind.path.clone())
            .filter(|path| self.values.count(path) == self.messages.len())
    }

    fn note_kind(&mut self, kind: Option<&Kind>) {
        let count = self.messages.len();
        match kind {
            Some(kind) => {
                let _ = writeln!(
                    self.kinds,
                    "\n# {} names the kind: it has {} values in {count} of {count} messages.",
                    kind.path,
                    kind.values.len()
                );
            }
            None => {
                self.kinds += "\n# No member of all messages names the kind: the members that are there show it.\n";
            }
        }
    }

    fn write_without_pairs(&mut self, kind: Option<Kind>) {
        self.note_kind(kind.as_ref());
        let all = || (0..self.messages.len()).collect();
        let path = kind
            .as_ref()
            .map_or(String::new(), |kind| kind.path.clone());
        let groups = match kind {
            Some(kind) => kind
                .values
                .into_iter()
                .map(|(name, of)| (Some(is(&kind.path, std::slice::from_ref(&name))), name, of))
                .collect(),
            None => vec![(None, String::new(), all())],
        };
        for (when, name, of) in groups {
            let subject = find_subject(&self.values, &of, &[&path]);
            self.write(&Entry {
                when,
                kind: Some(name).filter(|name| is_kind(name)),
                role: "notification",
                content: find_content(&self.values, &of, subject.as_deref()),
                subject,
                of,
                ..Entry::default()
            });
        }
    }

    /// Writes what pairs answers with requests.
    fn note_pairs(&mut self, pairs: &Pairs) {
        let (id, reply_to) = (&pairs.id, &pairs.reply_to);
        let count = pairs.of.len();
        self.top += &if pairs.by_order {
            let is_answer = |one: &&DraftMessage| one.direction == Some(Direction::ToClient);
            let all = self.messages.iter().filter(is_answer).count();
            format!(
                "# {count} of {all} messages of the server follow one of the client in order: no id is needed for that.\npair = \"order\"\n"
            )
        } else if id == reply_to {
            format!(
                "# {id} pairs answers with requests: {count} messages repeat that of one of the other side.\n"
            )
        } else {
            format!(
                "# {reply_to} of an answer is {id} of its request: in {count} of {} messages with {reply_to}.\n",
                pairs.answers
            )
        };
    }

    fn write_by_order(&mut self, pairs: &Pairs, kind: Option<&Kind>) {
        let asked = pairs.asked();
        match kind {
            None => self.note_pairs(pairs),
            Some(kind) => {
                let _ = writeln!(
                    self.top,
                    "# {} of {} messages of the server follow one of the client in order, with the same {}: no id is needed for that.\npair = \"subject\"",
                    pairs.of.len(),
                    self.messages
                        .iter()
                        .filter(|one| one.direction == Some(Direction::ToClient))
                        .count(),
                    kind.path
                );
            }
        }
        self.note_kind(kind);
        let path = kind.map(|kind| kind.path.clone());
        let id = Some(pairs.id.clone()).filter(|_| !pairs.by_order);
        let is_event = |n: &usize| !asked.contains(n) && !pairs.of.contains_key(n);
        let of = |keep: &dyn Fn(&usize) -> bool| {
            (0..self.messages.len())
                .filter(|n| keep(n))
                .collect::<Vec<_>>()
        };
        let is_to_client = |n: &usize| {
            self.messages
                .get(*n)
                .is_some_and(|one| one.direction == Some(Direction::ToClient))
        };
        let events = of(&|n| is_event(n) && is_to_client(n));
        let requests = of(&|n| !is_to_client(n));
        let answers = of(&|n| pairs.of.contains_key(n));
        if let Some(path) = path.as_deref().filter(|_| !events.is_empty()) {
            let names: Vec<_> = self.values.texts(path, &events).into_iter().collect();
            self.write(&Entry {
                when: Some(format!("dir=s2c and {}", is(path, &names))),
                kind: Some("event".to_owned()),
                role: "notification",
                subject: Some(path.to_owned()),
                content: find_content(&self.values, &events, None),
                of: events,
                ..Entry::default()
            });
        }
        for (when, role, of) in [
            ("dir=c2s", "request", requests),
            ("dir=s2c", "response", answers),
        ] {
            self.write(&Entry {
                when: Some(when.to_owned()),
                role,
                id: id.clone(),
                subject: path.clone(),
                content: find_content(&self.values, &of, None),
                error: if role == "response" {
                    find_error(&self.values, &of)
                } else {
                    None
                },
                of,
                ..Entry::default()
            });
        }
    }

    /// Writes the kinds that a member of all messages names; returns the number of pairs.
    fn write_by_kind(&mut self, mut pairs: Pairs, kind: Kind) -> usize {
        self.note_pairs(&pairs);
        self.note_kind(Some(&kind));
        let items = if pairs.by_order {
            BTreeSet::new()
        } else {
            add_items(&self.values, self.messages, &mut pairs, &kind)
        };
        let (id, reply_to) = (&pairs.id, &pairs.reply_to);
        let asked = pairs.asked();
        let requests: BTreeSet<_> = asked.iter().copied().collect();
        let requests: Vec<_> = requests.into_iter().collect();
        let asked_subject = find_subject(&self.values, &requests, &[&kind.path]);
        // An answer of a request with items is the end of them.
        let with_items: BTreeSet<usize> = kind
            .values
            .iter()
            .filter(|(name, _)| items.contains(name))
            .flat_map(|(_, of)| of.iter().filter_map(|n| pairs.of.get(n).copied()))
            .collect();
        for (name, of) in kind.values {
            let is_request = of.iter().any(|n| asked.contains(n));
            let is_answer = of.iter().any(|n| pairs.of.contains_key(n));
            let ends = || {
                let of = of.iter().map(|n| pairs.of.get(n));
                let mut of = of.map(|asked| asked.is_some_and(|asked| with_items.contains(asked)));
                of.all(|ends| ends)
            };
            let role = match (is_request, is_answer) {
                (true, _) => "request",
                (_, true) if items.contains(&name) => "item",
                (_, true) if ends() => "end",
                (_, true) => "response",
                _ => "notification",
            };
            let has_id = of.iter().all(|n| {
                self.values
                    .get(id, *n)
                    .is_some_and(|v| facts::text(v).is_some())
            });
            let is_there = |path: &String| {
                let mut values = of.iter().map(|n| self.values.get(path, *n));
                values.all(|value| value.is_some_and(serde_json::Value::is_string))
            };
            let subject = if is_answer {
                asked_subject.clone().filter(is_there)
            } else {
                find_subject(&self.values, &of, &[&kind.path])
            };
            let subject = subject
                .or(Some(kind.path.clone()).filter(|path| is_request && facts::is_in_header(path)));
            self.write(&Entry {
                when: Some(is(&kind.path, std::slice::from_ref(&name))),
                kind: Some(name).filter(|name| is_kind(name)),
                role,
                id: Some(id.clone())
                    .filter(|_| has_id && (is_request || is_answer && id == reply_to)),
                reply_to: Some(reply_to.clone()).filter(|_| is_answer && id != reply_to),
                content: find_content(&self.values, &of, subject.as_deref()),
                subject,
                error: Some(())
                    .filter(|()| is_answer)
                    .and_then(|()| find_error(&self.values, &of)),
                of,
            });
        }
        pairs.of.len()
    }

    /// Returns the requests, answers and notifications. `of_request`: the member that only requests have.
    fn by_role(
        &self,
        pairs: &Pairs,
        [requests, answers]: [&[usize]; 2],
        of_request: Option<&str>,
    ) -> [Vec<usize>; 3] {
        let (id, reply_to) = (&pairs.id, &pairs.reply_to);
        let others: Vec<_> = (0..self.messages.len())
            .filter(|n| !requests.contains(n) && !answers.contains(n))
            .collect();
        let has = |path: &str, n: &usize| {
            self.values
                .get(path, *n)
                .is_some_and(|v| facts::text(v).is_some())
        };
        // A message with the member of a request, but no id, is a notification; another one with an id is an answer.
        let (mut asks, mut answer, mut tells) = (requests.to_vec(), answers.to_vec(), Vec::new());
        for n in others {
            let is_asking = of_request.is_some_and(|path| self.values.get(path, n).is_some());
            match (is_asking, has(reply_to, &n)) {
                (true, _) if has(id, &n) => asks.push(n),
                (false, true) => answer.push(n),
                _ => tells.push(n),
            }
        }
        [asks, answer, tells]
    }

    /// Writes the kinds of messages that differ by the members that they have.
    fn write_by_members(&mut self, pairs: &Pairs) {
        let (id, reply_to) = (&pairs.id, &pairs.reply_to);
        let answers: Vec<_> = pairs.of.keys().copied().collect();
        let requests: BTreeSet<_> = pairs.asked().into_iter().collect();
        let requests: Vec<_> = requests.into_iter().collect();
        let of_request = only_in(&self.values, &requests, &answers);
        let [asks, answer, tells] =
            self.by_role(pairs, [&requests, &answers], of_request.as_deref());
        let marked = |path: &str| {
            of_request
                .as_ref()
                .map_or(path.to_owned(), |member| format!("{member} and {path}"))
        };
        let kind = of_request.clone().filter(|path| facts::names_kind(path));
        if let Some(kind) = &kind {
            let count = self.values.count(kind);
            let different = self.values.texts(kind, &asks).len();
            let _ = writeln!(
                self.kinds,
                "# {kind} names the kind of requests: it has {different} values in {count} of {count} messages that have it."
            );
        }
        let not = kind.clone().unwrap_or_default();
        let subject = find_subject(&self.values, &asks, &[id, &not]);
        let entries = [
            (
                "request",
                id == reply_to || of_request.is_some(),
                marked(id),
                asks,
            ),
            ("response", true, reply_to.clone(), answer),
            ("notification", true, String::new(), tells),
        ];
        // Without a member that only requests have, answers come first: they alone have the other member.
        let order = if of_request.is_none() {
            [1, 0, 2]
        } else {
            [0, 1, 2]
        };
        for at in order {
            let Some((role, is_sure, when, of)) = entries.get(at) else {
                continue;
            };
            if of.is_empty() || !is_sure && id == reply_to {
                continue;
            }
            let is_answer = *role == "response";
            let has_same = |path: &&String| {
                of.iter().all(|n| {
                    self.values
                        .get(path, *n)
                        .is_some_and(serde_json::Value::is_string)
                })
            };
            let same = subject.as_ref().filter(has_same).cloned();
            let subject = match *role {
                "response" => None,
                _ => same.or_else(|| find_subject(&self.values, of, &[&not])),
            };
            self.write(&Entry {
                when: Some(when.clone()).filter(|when| !when.is_empty()),
                kind: kind.clone().filter(|_| *role == "request"),
                role,
                id: Some(id.clone()).filter(|_| *role == "request" || is_answer && id == reply_to),
                reply_to: Some(reply_to.clone()).filter(|_| is_answer && id != reply_to),
                content: find_content(&self.values, of, subject.as_deref()),
                subject,
                error: Some(())
                    .filter(|()| is_answer)
                    .and_then(|()| find_error(&self.values, of)),
                of: of.clone(),
            });
        }
    }

    fn write(&mut self, entry: &Entry) {
        let directions: BTreeSet<_> = entry
            .of
            .iter()
            .filter_map(|n| Some(self.messages.get(*n)?.direction?.name()))
            .collect();
        let out = &mut self.kinds;
        let _ = write!(
            out,
            "\n# {} of {} messages",
            entry.of.len(),
            self.messages.len()
        );
        let _ = match directions.into_iter().collect::<Vec<_>>().as_slice() {
            [only] if entry.of.len() >= MIN_PAIRS => {
                writeln!(out, ", all of them {only}: perhaps direction = \"{only}\"")
            }
            _ => writeln!(out),
        };
        out.push_str("[[message]]\n");
        let role = Some(entry.role.to_owned());
        for (key, value) in [
            ("when", &entry.when),
            ("kind", &entry.kind),
            ("role", &role),
            ("id", &entry.id),
            ("reply-to", &entry.reply_to),
            ("subject", &entry.subject),
            ("content", &entry.content),
            ("error", &entry.error),
        ] {
            if let Some(value) = value {
                let value = toml::Value::String(value.clone());
                let _ = writeln!(out, "{key} = {value}");
            }
        }
        if entry.role == "response" && entry.error.is_none() {
            out.push_str("# Not found: the condition of an error; no answer shows it.\n");
        }
    }
}

/// Returns true for a value that can be the name of a kind: no number.
fn is_kind(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
}

//! Reads marks, and what sides send by themselves.

use super::super::description::{Heartbeat, MessageKind, Opening, OwnAnswer};
use super::super::matching::Matcher;
use super::Reader;
use crate::diff::PathPattern;
use crate::protocol::peer::with_json;
use crate::protocol::schema::marks::{Generated, Marks};
use crate::protocol::schema::{Fresh, Maker};
use crate::protocol::{Direction, Role};
use crate::select::duration;
use crate::toml_text::{Item, get};

const MARK_KEYS: [&str; 5] = ["volatile", "unordered", "secret", "generated", "references"];
const OPENING_KEYS: [&str; 3] = ["client", "server", "answers"];
const HEARTBEAT_KEYS: [&str; 4] = ["send", "every", "direction", "answer"];
/// The shortest time between two heartbeats, in nanoseconds.
const SHORTEST: i128 = 10_000_000;
const ANSWER_KEYS: [&str; 3] = ["when", "result", "then"];

impl<'t> Reader<'t> {
    pub(super) fn marks(&mut self, item: &Item<'t>) -> Marks {
        let mut marks = Marks::default();
        let entries = self.toml.entries("marks", item);
        let Some(entries) = self.keep(entries) else {
            return marks;
        };
        self.check_keys(&entries, &MARK_KEYS);
        for (key, item) in &entries {
            let key: &str = key.get_ref();
            match key {
                "volatile" => {
                    let paths = self.patterns(key, item).into_iter();
                    marks.generated.extend(paths.map(Generated::uncompared));
                }
                "unordered" => {
                    let paths = self.patterns(key, item).into_iter();
                    marks.unordered.extend(paths.map(Into::into));
                }
                "secret" => {
                    const WANTED: &str = "a list of names of members, not of paths";
                    let names = self.toml.list(key, item, WANTED);
                    for item in self.keep(names).unwrap_or_default() {
                        let name = item.get_ref().as_str();
                        let is_name = |name: &&str| !name.contains(['.', ':', '*', '[']);
                        match name.filter(is_name) {
                            Some(name) => marks.secrets.push(name.to_lowercase().into()),
                            None => {
                                self.wrong::<()>(key, item, WANTED);
                            }
                        }
                    }
                }
                "generated" | "references" => {
                    let items = self.toml.list(key, item, "a list of tables");
                    for item in self.keep(items).unwrap_or_default() {
                        let mark = self.generated(key, item);
                        marks.generated.extend(mark);
                    }
                }
                _ => {}
            }
        }
        marks
    }

    fn patterns(&mut self, key: &str, item: &Item<'t>) -> Vec<String> {
        const WANTED: &str = "a list of paths, such as seq, **.ts or KIND:PATH";
        let items = self.toml.list(key, item, WANTED);
        let mut found = Vec::new();
        for item in self.keep(items).unwrap_or_default() {
            match item
                .get_ref()
                .as_str()
                .filter(|text| PathPattern::is_valid(text))
            {
                Some(text) => found.push(text.to_owned()),
                None => {
                    self.wrong::<()>(key, item, WANTED);
                }
            }
        }
        found
    }

    /// Reads `{ path = "seq", group = "seq", fresh = "id" }`, or a reference with `maker`.
    fn generated(&mut self, key: &str, item: &Item<'t>) -> Option<Generated> {
        let is_reference = key == "references";
        let entries = self.toml.entries(key, item);
        let entries = self.keep(entries)?;
        let last = if is_reference { "maker" } else { "fresh" };
        self.check_keys(&entries, &["path", "group", last]);
        let Some(path) = get(&entries, "path") else {
            self.error(&item.span(), format!("{key}: wanted a path"));
            return None;
        };
        let path = match path.get_ref().as_str() {
            Some(text) if PathPattern::is_valid(text) => text.to_owned(),
            _ => self.wrong("path", path, "a path, such as seq or KIND:PATH")?,
        };
        let group = self.text_of(&entries, "group");
        let group = if group.is_empty() {
            path.clone()
        } else {
            group
        };
        let word = get(&entries, last).map(|item| (item, item.get_ref().as_str()));
        let (fresh, maker) = match (is_reference, word) {
            (true, None) => (Fresh::Same, None),
            (true, Some((_, Some("sender")))) => (Fresh::Same, Some(Maker::Sender)),
            (true, Some((_, Some("receiver")))) => (Fresh::Same, Some(Maker::Receiver)),
            (true, Some((item, _))) => self.wrong(last, item, "sender or receiver")?,
            (false, None | Some((_, Some("id")))) => (Fresh::Id, None),
            (false, Some((_, Some("time")))) => (Fresh::Time, None),
            (false, Some((_, Some("given")))) => (Fresh::Given, None),
            (false, Some((_, Some("same")))) => (Fresh::Same, None),
            (false, Some((item, _))) => self.wrong(last, item, "id, time, given or same")?,
        };
        Some(Generated {
            maker,
            ..Generated::new(path, group, fresh)
        })
    }

    pub(super) fn opening(&mut self, item: &Item<'t>, messages: &[MessageKind]) -> Opening {
        let mut opening = Opening::default();
        let entries = self.toml.entries("opening", item);
        let Some(entries) = self.keep(entries) else {
            return opening;
        };
        self.check_keys(&entries, &OPENING_KEYS);
        if let Some(item) = get(&entries, "client") {
            opening.client = self.json_messages("client", item, messages);
        }
        if let Some(item) = get(&entries, "server") {
            opening.server = self.json_messages("server", item, messages);
        }
        let answers = get(&entries, "answers")
            .map(|item| self.toml.list("answers", item, "a list of tables"));
        for item in answers
            .and_then(|answers| self.keep(answers))
            .unwrap_or_default()
        {
            let entries = self.toml.entries("answers", item);
            let Some(entries) = self.keep(entries) else {
                continue;
            };
            self.check_keys(&entries, &ANSWER_KEYS);
            let when = self.condition(&entries, "when");
            let result = get(&entries, "result").and_then(|item| self.json("result", item));
            if when.is_none() || result.is_none() {
                self.error(&item.span(), "answers: wanted when and result");
            }
            let then = get(&entries, "then").map(|item| self.json_messages("then", item, messages));
            if let (Some(when), Some(result)) = (when, result) {
                opening.answers.push(OwnAnswer {
                    when,
                    result,
                    then: then.unwrap_or_default(),
                });
            }
        }
        opening
    }

    pub(super) fn heartbeat(
        &mut self,
        item: &Item<'t>,
        messages: &[MessageKind],
    ) -> Option<Heartbeat> {
        let entries = self.toml.entries("heartbeat", item);
        let entries = self.keep(entries)?;
        self.check_keys(&entries, &HEARTBEAT_KEYS);
        let (Some(send), Some(every)) = (get(&entries, "send"), get(&entries, "every")) else {
            self.error(&item.span(), "heartbeat: wanted send and every");
            return None;
        };
        let time = every.get_ref().as_str().and_then(duration);
        let time = time.filter(|time| *time >= SHORTEST);
        let Some(every) = time.and_then(|time| i64::try_from(time).ok()) else {
            return self.wrong("every", every, "a time of at least 10ms, such as 30s");
        };
        let direction = match get(&entries, "direction") {
            Some(item) => self.direction(item)?,
            None => Direction::ToServer,
        };
        let (text, kind) = self.heartbeat_message("send", send, direction, messages)?;
        let answer = match get(&entries, "answer") {
            Some(item) => {
                let back = direction.other();
                let (answer, other) = self.heartbeat_message("answer", item, back, messages)?;
                if std::ptr::eq(kind, other) {
                    return self.wrong("answer", item, "a message of another kind than send");
                }
                Some(answer)
            }
            None => None,
        };
        Some(Heartbeat {
            send: text,
            every,
            direction,
            answer,
        })
    }

    /// Reads a message whose kind has the role heartbeat.
    fn heartbeat_message<'m>(
        &mut self,
        key: &str,
        item: &Item<'t>,
        direction: Direction,
        messages: &'m [MessageKind],
    ) -> Option<(String, &'m MessageKind)> {
        let text = self.json(key, item)?;
        let kinds = Matcher::of(messages);
        let kind = with_json(&text, |root| kinds.find(messages, root, Some(direction)));
        if let Some(kind) = kind.flatten().filter(|kind| kind.role == Role::Heartbeat) {
            return Some((text, kind));
        }
        let wanted = "a message that a [[message]] with the role heartbeat matches";
        self.wrong(key, item, wanted)
    }

    /// Reads a list of messages as JSON, each of which a kind of message matches.
    fn json_messages(
        &mut self,
        key: &str,
        item: &Item<'t>,
        messages: &[MessageKind],
    ) -> Vec<String> {
        let items = self.toml.list(key, item, "a list of messages as JSON");
        let mut found = Vec::new();
        for item in self.keep(items).unwrap_or_default() {
            let Some(text) = self.json(key, item) else {
                continue;
            };
            let kinds = Matcher::of(messages);
            let is_known = with_json(&text, |root| kinds.find(messages, root, None).is_some());
            if is_known == Some(true) {
                found.push(text);
            } else {
                self.wrong::<()>(key, item, "a message that a [[message]] matches");
            }
        }
        found
    }

    fn json(&mut self, key: &str, item: &Item<'t>) -> Option<String> {
        let text = item.get_ref().as_str();
        match text.filter(|text| with_json(text, |_| ()).is_some()) {
            Some(text) => Some(text.to_owned()),
            None => self.wrong(key, item, "JSON as text"),
        }
    }
}

//! Reads one rule: its condition, its answer and its other actions.

use super::{Read, ScriptReader};
use crate::live::script::value::OpenValue;
use crate::live::script::{Mutation, Reply, RuleCondition, RulePlace, ScriptAction, ScriptRule};
use crate::select::Expr;
use crate::toml_text::{Item, Key};
use std::ops::Range;
use std::sync::Arc;
use toml::de::DeValue;

/// The keys of a rule.
const RULE: [&str; 22] = [
    "match", "request", "steps", "times", "delay", "garbage", "ask", "tell", "result", "error",
    "items", "end", "message", "raw", "hang", "pretty", "twice", "id", "then", "close", "reset",
    "exit",
];
/// The keys of answers: a rule has one of them.
const ANSWERS: [&str; 7] = [
    "result", "error", "items", "message", "steps", "raw", "hang",
];
/// The keys of an item.
const ITEM: [&str; 4] = ["value", "delta", "error", "after"];
/// The keys of an error.
const ERROR: [&str; 3] = ["code", "message", "data"];
/// The keys of a call.
const CALL: [&str; 3] = ["method", "params", "after"];

/// What the keys of a rule say.
struct RuleKeys {
    condition: RuleCondition,
    /// The index of its recorded request.
    recorded: Option<u64>,
    times: Option<u64>,
    delay: Option<i64>,
    /// The key of its answer.
    answer: Option<&'static str>,
    before: Vec<ScriptAction>,
    replies: Vec<Reply>,
    after: Vec<ScriptAction>,
    mutation: Mutation,
    /// The place of the end of items, and the end, if there is one.
    end: Option<(Range<usize>, Option<Reply>)>,
}

impl RuleKeys {
    fn does_nothing(&self) -> bool {
        self.answer.is_none()
            && self.before.is_empty()
            && self.after.is_empty()
            && self.delay.is_none()
    }

    /// Returns the rule. `place`: where the script has it.
    fn finish(self, place: String) -> ScriptRule {
        let mut replies = self.replies;
        match self.end {
            Some((_, Some(end))) => replies.push(end),
            None if self.answer == Some("items") && !ends_in_error(&self.before) => {
                replies.push(Reply::End(None, false));
            }
            _ => {}
        }
        let request = match &self.condition {
            RuleCondition::Request(request) => Some(request),
            _ => None,
        };
        let place = match self.recorded {
            Some(index) => RulePlace::Recorded(index),
            None => RulePlace::Script(place.into()),
        };
        let mutation = Arc::new(self.mutation);
        let changed = |reply| ScriptAction::SendReply(reply, Arc::clone(&mutation));
        let before = self.before.into_iter().map(|action| match action {
            ScriptAction::SendReply(
                reply
                @ (Reply::Item(_) | Reply::Delta(_) | Reply::Error { .. } | Reply::Message(_)),
                _,
            ) => changed(reply),
            action => action,
        });
        let delay = self.delay.map(ScriptAction::Wait).into_iter();
        let replies = replies.into_iter().map(changed);
        ScriptRule {
            place,
            times: self.times,
            answers: self.answer.map_or(request.is_some(), |a| a != "items"),
            goes_on: self.answer == Some("items"),
            actions: delay
                .chain(before)
                .chain(replies)
                .chain(self.after)
                .collect(),
            condition: self.condition,
        }
    }
}

impl ScriptReader<'_> {
    pub(super) fn rule(&self, item: &Item<'_>) -> Read<ScriptRule> {
        let table = self.toml.entries("on", item)?;
        let mut keys = RuleKeys {
            condition: RuleCondition::Unanswered,
            recorded: None,
            times: None,
            delay: None,
            answer: None,
            before: Vec::new(),
            replies: Vec::new(),
            after: Vec::new(),
            mutation: Mutation::default(),
            end: None,
        };
        for (key, item) in &table {
            self.rule_key(key, item, &mut keys)?;
        }
        if let Some((key, _)) = keys.end.as_ref().filter(|_| keys.answer != Some("items")) {
            return Err(self.toml.error(key, "end: only items have an end"));
        }
        let request = match &keys.condition {
            RuleCondition::Request(request) => Some(request),
            _ => None,
        };
        if request.is_some() && keys.times.is_some() {
            let text = "times: rules with equal requests are used in order, the last one each time";
            return Err(self.toml.error(&item.span(), text));
        }
        if request.is_none() && keys.does_nothing() {
            let text = format!("this rule does nothing: add one of {}", ANSWERS.join(", "));
            return Err(self.toml.error(&item.span(), text));
        }
        let line = self.toml.line(&item.span());
        let place = format!("{}:{line}", self.toml.name);
        Ok(keys.finish(place))
    }

    /// Reads one key of a rule.
    fn rule_key(&self, key: &Key<'_>, item: &Item<'_>, keys: &mut RuleKeys) -> Read<()> {
        let word: &str = key.get_ref();
        if let Some(same) = ANSWERS.into_iter().find(|a| *a == word) {
            if let Some(other) = keys.answer {
                let text = format!(
                    "{other} and {word}: a rule has one answer; use `then` for messages after it"
                );
                return Err(self.toml.error(&key.span(), text));
            }
            keys.answer = Some(same);
        }
        match word {
            "match" | "request" if keys.condition != RuleCondition::Unanswered => {
                let text = "match and request: a rule has one of them";
                return Err(self.toml.error(&key.span(), text));
            }
            "request" => {
                let (request, recorded) = self.request(item)?;
                keys.condition = RuleCondition::Request(request);
                keys.recorded = recorded;
            }
            "match" => keys.condition = RuleCondition::Expr(Box::new(self.condition(item)?)),
            "times" => keys.times = Some(self.number(word, item)?),
            "delay" => keys.delay = Some(self.time(word, item)?),
            "garbage" => keys.before.push(ScriptAction::Send(self.line(word, item)?)),
            "ask" => self.calls(word, item, &mut keys.before, ScriptAction::Ask)?,
            "tell" => self.calls(word, item, &mut keys.before, tell)?,
            "then" => self.calls(word, item, &mut keys.after, tell)?,
            "result" => keys.replies.push(Reply::Result(self.value(item)?)),
            "error" => keys.replies.push(self.error(item)?),
            "message" => {
                let messages = self.messages(word, item)?;
                keys.replies
                    .extend(messages.into_iter().map(Reply::Message));
            }
            "steps" => {
                for item in self.list(word, item)? {
                    keys.before.push(self.step(item)?);
                }
            }
            "items" => {
                for item in self.list(word, item)? {
                    self.item(item, &mut keys.before)?;
                }
            }
            "end" => {
                let end = match item.get_ref() {
                    DeValue::Boolean(false) => None,
                    DeValue::Boolean(true) => Some(Reply::End(None, true)),
                    _ => Some(Reply::End(Some(self.value(item)?), true)),
                };
                keys.end = Some((key.span(), end));
            }
            "raw" => keys
                .before
                .push(ScriptAction::Send(self.bytes(word, item)?)),
            "hang" => {
                if !self.toml.bool(word, item)? {
                    keys.answer = None;
                }
            }
            "pretty" => keys.mutation.pretty = self.toml.bool(word, item)?,
            "twice" => keys.mutation.twice = self.toml.bool(word, item)?,
            "id" => keys.mutation.id = Some(self.value(item)?),
            "close" => keys
                .after
                .extend(self.toml.bool(word, item)?.then_some(ScriptAction::Close)),
            "reset" => keys
                .after
                .extend(self.toml.bool(word, item)?.then_some(ScriptAction::Reset)),
            "exit" => keys
                .after
                .push(ScriptAction::Exit(self.status(word, item)?)),
            _ => return Err(self.toml.unknown_key(key, &RULE)),
        }
        Ok(())
    }

    /// Reads the condition of a rule.
    fn condition(&self, item: &Item<'_>) -> Read<Expr> {
        let text = self.toml.string("match", item)?;
        text.parse::<Expr>().map_err(|error| {
            let text = error.to_string();
            let mut lines = text.lines();
            let first = lines.next().unwrap_or_default().to_owned();
            let hint = error.hint.map_or(String::new(), |hint| format!(": {hint}"));
            self.toml
                .error(&item.span(), format!("match: {first}{hint}"))
        })
    }

    /// Reads one of several answers: a value, or a table with further keys.
    fn item(&self, item: &Item<'_>, actions: &mut Vec<ScriptAction>) -> Read<()> {
        let plain = Arc::new(Mutation::default());
        let has_more = item.get_ref().as_table().is_some_and(|table| {
            let names = || table.keys().map(|key| key.get_ref().as_ref());
            names().all(|name| ITEM.contains(&name)) && names().any(|name| name != "after")
        });
        if !has_more {
            actions.push(ScriptAction::SendReply(
                Reply::Item(self.value(item)?),
                plain,
            ));
            return Ok(());
        }
        let mut reply = None;
        for (key, item) in self.toml.entries("items", item)? {
            let one = match key.get_ref().as_ref() {
                "after" => {
                    actions.push(ScriptAction::Wait(self.time("after", item)?));
                    continue;
                }
                "value" => Reply::Item(self.value(item)?),
                "delta" => Reply::Delta(self.value(item)?),
                _ => self.error(item)?,
            };
            if reply.is_some() {
                return Err(self
                    .toml
                    .error(&key.span(), "an item is one of value, delta, error"));
            }
            reply = Some(one);
        }
        actions.extend(reply.map(|reply| ScriptAction::SendReply(reply, plain)));
        Ok(())
    }

    fn error(&self, item: &Item<'_>) -> Read<Reply> {
        if item.get_ref().as_str().is_some() {
            return Ok(Reply::Error {
                code: None,
                message: self.value(item)?,
                data: None,
            });
        }
        let (mut code, mut message, mut data) = (None, None, None);
        for (key, item) in self.toml.entries("error", item)? {
            let place = match key.get_ref().as_ref() {
                "code" => &mut code,
                "message" => &mut message,
                "data" => &mut data,
                _ => return Err(self.toml.unknown_key(key, &ERROR)),
            };
            *place = Some(self.value(item)?);
        }
        let message = message.ok_or_else(|| {
            self.toml
                .wrong_value("error", item, "a message, or a table with one")
        })?;
        Ok(Reply::Error {
            code,
            message,
            data,
        })
    }

    /// Reads one or several calls.
    fn calls(
        &self,
        word: &str,
        item: &Item<'_>,
        actions: &mut Vec<ScriptAction>,
        action: impl Fn(OpenValue, OpenValue) -> ScriptAction,
    ) -> Read<()> {
        let items = match item.get_ref().as_array() {
            Some(items) => items.iter().collect(),
            None => vec![item],
        };
        for item in items {
            let (mut method, mut params) = (None, OpenValue::Json("{}".into()));
            for (key, item) in self.toml.entries(word, item)? {
                match key.get_ref().as_ref() {
                    "method" => {
                        let value = self.value(item)?;
                        let is_literal =
                            matches!(&value, OpenValue::Json(json) if json.starts_with('"'));
                        if !is_literal {
                            self.toml.string("method", item)?;
                        }
                        method = Some(value);
                    }
                    "params" => params = self.value(item)?,
                    "after" => actions.push(ScriptAction::Wait(self.time("after", item)?)),
                    _ => return Err(self.toml.unknown_key(key, &CALL)),
                }
            }
            let method = method.ok_or_else(|| {
                self.toml
                    .wrong_value(word, item, "a table with method and params")
            })?;
            actions.push(action(method, params));
        }
        Ok(())
    }
}

fn tell(method: OpenValue, params: OpenValue) -> ScriptAction {
    ScriptAction::SendReply(Reply::Tell(method, params), Arc::default())
}

fn ends_in_error(actions: &[ScriptAction]) -> bool {
    matches!(
        actions.last(),
        Some(ScriptAction::SendReply(Reply::Error { .. }, _))
    )
}

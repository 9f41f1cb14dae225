//! Reads one rule: what it answers, and what it does beside.

use super::{Item, Key, Read, Reader};
use crate::live::script::value::Value;
use crate::live::script::{Action, Mutation, Reply, Rule};
use crate::select::Expr;
use std::sync::Arc;
use toml::de::DeValue;

/// What a rule has.
const RULE: [&str; 20] = [
    "match", "times", "delay", "garbage", "ask", "tell", "result", "error", "items", "end",
    "message", "raw", "hang", "pretty", "twice", "id", "then", "close", "reset", "exit",
];
/// Of these, a rule has one.
const ANSWERS: [&str; 6] = ["result", "error", "items", "message", "raw", "hang"];
/// What an item has.
const ITEM: [&str; 4] = ["value", "delta", "error", "after"];
/// What an error has.
const ERROR: [&str; 3] = ["code", "message", "data"];
/// What a callback has.
const CALL: [&str; 3] = ["method", "params", "after"];

/// Where the end of items is told, and how they end: not at all, or with a value or without.
type End<'i, 't> = (&'i Key<'t>, Option<Option<Value>>);

impl Reader<'_> {
    pub(super) fn rule(&self, item: &Item<'_>) -> Read<Rule> {
        let table = self.table("on", item)?;
        let line = self.fail(&item.span(), "").line;
        let mut rule = Rule {
            place: format!("{}:{line}", self.name),
            when: None,
            times: None,
            answers: false,
            goes_on: false,
            actions: Arc::new([]),
        };
        let mut mutation = Mutation::default();
        let (mut before, mut said, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let mut answer: Option<&str> = None;
        let (mut delay, mut end) = (None, None::<End<'_, '_>>);
        for (key, item) in &table {
            let word: &str = key.get_ref();
            if let Some(same) = ANSWERS.into_iter().find(|a| *a == word) {
                if let Some(other) = answer {
                    let text = format!(
                        "{other} and {word}: a rule has one answer; what comes after it stands under `then`"
                    );
                    return Err(self.fail(&key.span(), text));
                }
                answer = Some(same);
            }
            match word {
                "match" => {
                    let text = self.string(word, item)?;
                    rule.when = Some(text.parse::<Expr>().map_err(|error| {
                        let text = error.to_string();
                        let mut lines = text.lines();
                        let first = lines.next().unwrap_or_default().to_owned();
                        let hint = error.hint.map_or(String::new(), |hint| format!(": {hint}"));
                        self.fail(&item.span(), format!("match: {first}{hint}"))
                    })?);
                }
                "times" => rule.times = Some(self.number(word, item)?),
                "delay" => delay = Some(self.time(word, item)?),
                "garbage" => before.push(Action::Send(self.line(word, item)?)),
                "ask" => self.calls(word, item, &mut before, Action::Ask)?,
                "tell" => self.calls(word, item, &mut before, tell)?,
                "then" => self.calls(word, item, &mut after, tell)?,
                "result" => said.push(Reply::Result(self.value(item)?)),
                "error" => said.push(self.error(item)?),
                "message" => {
                    let messages = self.messages(word, item)?;
                    said.extend(messages.into_iter().map(Reply::Message));
                }
                "items" => {
                    for item in self.list(word, item)? {
                        self.item(item, &mut before)?;
                    }
                }
                "end" => {
                    let value = match item.get_ref() {
                        DeValue::Boolean(false) => None,
                        DeValue::Boolean(true) => Some(None),
                        _ => Some(Some(self.value(item)?)),
                    };
                    end = Some((key, value));
                }
                "raw" => before.push(Action::Send(self.bytes(word, item)?)),
                "hang" => {
                    if !self.bool(word, item)? {
                        answer = None;
                    }
                }
                "pretty" => mutation.pretty = self.bool(word, item)?,
                "twice" => mutation.twice = self.bool(word, item)?,
                "id" => mutation.id = Some(self.value(item)?),
                "close" => after.extend(self.bool(word, item)?.then_some(Action::Close)),
                "reset" => after.extend(self.bool(word, item)?.then_some(Action::Reset)),
                "exit" => after.push(Action::Exit(self.status(word, item)?)),
                _ => return Err(self.unknown(key, &RULE)),
            }
        }
        match (end, answer) {
            (Some((key, _)), answer) if answer != Some("items") => {
                return Err(self.fail(&key.span(), "end: only items have an end"));
            }
            (Some((_, Some(value))), _) => said.push(Reply::End(value, true)),
            (None, Some("items")) if !ends_in_error(&before) => said.push(Reply::End(None, false)),
            _ => {}
        }
        rule.goes_on = answer == Some("items");
        rule.answers = answer.is_some_and(|a| a != "items");
        if answer.is_none() && before.is_empty() && after.is_empty() && delay.is_none() {
            let text = format!(
                "this rule does nothing: it wants one of {}",
                ANSWERS.join(", ")
            );
            return Err(self.fail(&item.span(), text));
        }
        let mutation = Arc::new(mutation);
        let said = said
            .into_iter()
            .map(|s| Action::Say(s, Arc::clone(&mutation)));
        let before = before.into_iter().map(|action| match action {
            Action::Say(reply @ (Reply::Item(_) | Reply::Delta(_) | Reply::Error { .. }), _) => {
                Action::Say(reply, Arc::clone(&mutation))
            }
            action => action,
        });
        let delay = delay.map(Action::Wait);
        rule.actions = delay
            .into_iter()
            .chain(before)
            .chain(said)
            .chain(after)
            .collect();
        Ok(rule)
    }

    /// One answer of several: a value, or a table that says more.
    fn item(&self, item: &Item<'_>, actions: &mut Vec<Action>) -> Read<()> {
        let plain = Arc::new(Mutation::default());
        let says_more = item.get_ref().as_table().is_some_and(|table| {
            let names = || table.keys().map(|key| key.get_ref().as_ref());
            names().all(|name| ITEM.contains(&name)) && names().any(|name| name != "after")
        });
        if !says_more {
            actions.push(Action::Say(Reply::Item(self.value(item)?), plain));
            return Ok(());
        }
        let mut reply = None;
        for (key, item) in self.table("items", item)? {
            let one = match key.get_ref().as_ref() {
                "after" => {
                    actions.push(Action::Wait(self.time("after", item)?));
                    continue;
                }
                "value" => Reply::Item(self.value(item)?),
                "delta" => Reply::Delta(self.value(item)?),
                _ => self.error(item)?,
            };
            if reply.is_some() {
                return Err(self.fail(&key.span(), "an item is one of value, delta, error"));
            }
            reply = Some(one);
        }
        actions.extend(reply.map(|reply| Action::Say(reply, plain)));
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
        for (key, item) in self.table("error", item)? {
            let place = match key.get_ref().as_ref() {
                "code" => &mut code,
                "message" => &mut message,
                "data" => &mut data,
                _ => return Err(self.unknown(key, &ERROR)),
            };
            *place = Some(self.value(item)?);
        }
        let message =
            message.ok_or_else(|| self.bad("error", item, "a message, or a table with one"))?;
        Ok(Reply::Error {
            code,
            message,
            data,
        })
    }

    /// A call or several.
    fn calls(
        &self,
        word: &str,
        item: &Item<'_>,
        actions: &mut Vec<Action>,
        action: impl Fn(Value, Value) -> Action,
    ) -> Read<()> {
        let items = match item.get_ref().as_array() {
            Some(items) => items.iter().collect(),
            None => vec![item],
        };
        for item in items {
            let (mut method, mut params) = (None, Value::Json("{}".into()));
            for (key, item) in self.table(word, item)? {
                match key.get_ref().as_ref() {
                    "method" => {
                        let value = self.value(item)?;
                        let is_literal =
                            matches!(&value, Value::Json(json) if json.starts_with('"'));
                        if !is_literal {
                            self.string("method", item)?;
                        }
                        method = Some(value);
                    }
                    "params" => params = self.value(item)?,
                    "after" => actions.push(Action::Wait(self.time("after", item)?)),
                    _ => return Err(self.unknown(key, &CALL)),
                }
            }
            let method =
                method.ok_or_else(|| self.bad(word, item, "a table with method and params"))?;
            actions.push(action(method, params));
        }
        Ok(())
    }
}

fn tell(method: Value, params: Value) -> Action {
    Action::Say(Reply::Tell(method, params), Arc::default())
}

fn ends_in_error(actions: &[Action]) -> bool {
    matches!(actions.last(), Some(Action::Say(Reply::Error { .. }, _)))
}

//! A recording as a script, to be edited by hand.
//!
//! ```text
//!   #4 invoke pow [0x2] -> result [0x4]        # #4
//!                                              [[on]]
//!                                              match = 'kind=invoke subject=pow .params.calldata[0]=0x2'
//!                                              result = ["0x4"]
//! ```
//!
//! What a phrase of the protocol says is written as that phrase: tried on the recorded request, it gives the recorded
//! answer. Everything else is a whole message, in which values of the request stand open.

use super::condition::{condition, varying};
use super::recorded::{Exchanges, RecordedRequest};
use super::template::{Source, Template};
use super::toml::{Holes, is_integer, json, literal, open, quote, toml, verbatim};
use super::value::{Fill, Hole, Value, call, with_json};
use super::{Action, Reply};
use crate::diff::Ignore;
use crate::diff::Val;
use crate::live::names::passed_over;
use crate::path::{Path, Step};
use crate::protocol::peer::{Peer, PeerConfig, Phrase, Request};
use crate::protocol::{Direction, Protocol};
use crate::render::style::{escape, shorten};
use serde_json::Value as Json;
use std::collections::HashMap;

/// Characters of what a request is that are shown.
const SHOWN: usize = 80;
/// Items that are tried in every way; later ones must be like the one before.
const TRIED: usize = 64;

/// Writes the script that answers as the recording did.
pub fn script(exchanges: &Exchanges, protocol: &dyn Protocol) -> String {
    let mut out = format!(
        "# What was asked and answered in a recording; see wiretool stub --help for all that can stand here.\nprotocol = \"{}\"\n",
        protocol.name()
    );
    let mut times: HashMap<String, (usize, usize)> = HashMap::new();
    let groups = varying(exchanges, protocol);
    let conditions: Vec<String> = exchanges
        .entries
        .iter()
        .map(|entry| {
            let group = groups.get(entry.what.as_str());
            condition(entry, group.map_or(&[], |group| &group.paths))
        })
        .collect();
    for condition in &conditions {
        times.entry(condition.clone()).or_default().0 += 1;
    }
    for (entry, condition) in exchanges.entries.iter().zip(&conditions) {
        out.push_str(&format!(
            "\n# #{} {}\n[[on]]\nmatch = {}\n",
            entry.index,
            escape(&shorten(&entry.what, SHOWN)),
            quote(condition)
        ));
        if let Some((all, seen)) = times.get_mut(condition) {
            *seen += 1;
            // The last answer is the one that is given for ever.
            if *seen < *all {
                out.push_str("times = 1\n");
            }
        }
        answer(entry, protocol, &mut out);
    }
    out
}

fn answer(entry: &RecordedRequest, protocol: &dyn Protocol, out: &mut String) {
    let request = Request {
        index: entry.index,
        conn: entry.kept.conn.unwrap_or_default(),
        kind: entry.kept.kind.to_string(),
        subject: entry.kept.subject.as_deref().map(str::to_owned),
        message: entry.message.clone(),
    };
    let asks = entry.actions.iter().filter_map(|action| match action {
        Action::Call(Value::Recorded(recorded)) => {
            let (method, params) = call(&recorded.text).ok()??;
            let params = with_json(&params, toml).ok()?;
            Some(format!(
                "{{ method = {}, params = {params} }}",
                literal(&method)
            ))
        }
        _ => None,
    });
    let asks: Vec<String> = asks.collect();
    if !asks.is_empty() {
        out.push_str(&format!("ask = [{}]\n", asks.join(", ")));
    }
    let said = entry.actions.iter().filter_map(|action| match action {
        Action::Say(Reply::Message(Value::Recorded(recorded)), _) => Some(&**recorded),
        _ => None,
    });
    let said: Vec<&Template> = said.collect();
    let mut speaker = Speaker {
        protocol,
        peer: protocol
            .behavior()
            .peer(Direction::ToClient, &PeerConfig::default()),
        request: &request,
        ignore: passed_over(protocol, false, []),
    };
    let text = match said.as_slice() {
        [] => Some("hang = true\n".to_owned()),
        [only] => speaker.one(only).or_else(|| speaker.items(&said)),
        _ => speaker.items(&said),
    };
    if let Some(text) = text {
        out.push_str(&text);
        return;
    }
    let messages: Vec<String> = said.iter().map(|recorded| whole(entry, recorded)).collect();
    match messages.as_slice() {
        [only] => out.push_str(&format!("message = {only}\n")),
        several => out.push_str(&format!("message = [\n  {},\n]\n", several.join(",\n  "))),
    }
}

/// Looks for the phrase that gives a recorded answer.
struct Speaker<'s> {
    protocol: &'s dyn Protocol,
    peer: Box<dyn Peer + 's>,
    request: &'s Request,
    ignore: Ignore,
}

impl<'s> Speaker<'s> {
    /// Whether a phrase is what was recorded, but for what every run makes anew.
    fn gives(&mut self, phrase: Phrase<'_>, wanted: &Template) -> bool {
        let Ok(says) = self.peer.phrase(self.request, phrase, 0) else {
            return false;
        };
        let read = |text: &str| {
            let mut json = serde_json::from_str::<Json>(text).ok()?;
            self.strip(&mut json, &wanted.kind, &mut Path::new());
            Some(json)
        };
        let said = read(&says.message);
        !says.closes && says.then.is_empty() && said.is_some() && said == read(&wanted.text)
    }

    fn strip(&self, json: &mut Json, kind: &str, path: &mut Path) {
        let below = |path: &mut Path, json: &mut Json| {
            let is_anew = self.ignore.covers(kind, path);
            if !is_anew {
                self.strip(json, kind, path);
            }
            path.pop();
            is_anew
        };
        match json {
            Json::Object(members) => members.retain(|key, value| {
                path.push(Step::Member(key.clone()));
                !below(path, value)
            }),
            Json::Array(items) => {
                for (n, item) in items.iter_mut().enumerate() {
                    path.push(Step::Element(n));
                    below(path, item);
                }
            }
            _ => {}
        }
    }

    /// `result = …` or `error = …`.
    fn one(&mut self, recorded: &Template) -> Option<String> {
        let message = &recorded.text;
        for value in parts(message) {
            if self.gives(Phrase::Result(&value), recorded) {
                return Some(format!("result = {}\n", toml_of(&value)?));
            }
        }
        let told = with_json(message, |root| {
            let error = root
                .get("error")
                .filter(|error| error.is_map())
                .unwrap_or(root);
            let words = error.get("message")?.text()?.into_owned();
            let code = error
                .get("code")
                .map(|code| code.text().map_or_else(|| json(code), Into::into));
            let more = ["data", "details"]
                .into_iter()
                .find_map(|key| error.get(key))
                .map(json);
            Some((words, code, more))
        });
        let (words, code, more) = told.ok()??;
        let phrase = Phrase::Error {
            code: code.as_deref(),
            message: &words,
            data: more.as_deref(),
        };
        if !self.gives(phrase, recorded) {
            return None;
        }
        let mut text = "error = { ".to_owned();
        if let Some(code) = code {
            let code = if is_integer(&code) {
                code
            } else {
                literal(&code)
            };
            text.push_str(&format!("code = {code}, "));
        }
        text.push_str(&format!("message = {}", literal(&words)));
        if let Some(more) = more {
            text.push_str(&format!(", data = {}", toml_of(&more)?));
        }
        text.push_str(" }\n");
        Some(text)
    }

    /// `items = […]`. Peers number what they say, also what was only tried: each trial is another peer's, which has said
    /// what was found before.
    fn items(&mut self, said: &[&Template]) -> Option<String> {
        let (mut items, mut end) = (Vec::new(), "false".to_owned());
        let mut found: Vec<(Sort, String)> = Vec::new();
        let mut usual: Option<(Sort, usize)> = None;
        self.peer = self.one_that_said(&found);
        for (n, recorded) in said.iter().enumerate() {
            let is_last = n + 1 == said.len();
            let values = parts(&recorded.text);
            // Most are like the one before.
            let again = usual.and_then(|(sort, at)| Some((sort, values.get(at)?)));
            let again = again.filter(|(sort, value)| self.gives(sort.phrase(value), recorded));
            let (sort, value) = match again {
                Some((sort, value)) => (sort, value.clone()),
                None if found.len() > TRIED && !is_last => return None,
                None => {
                    let (sort, at) = self.sort(&values, recorded, is_last, &found)?;
                    usual = Some((sort, at));
                    (sort, values.get(at).cloned().unwrap_or_default())
                }
            };
            match sort {
                Sort::Item => items.push(format!("{{ value = {} }}", toml_of(&value)?)),
                Sort::Delta => items.push(format!("{{ delta = {} }}", toml_of(&value)?)),
                Sort::Bare => end = "true".into(),
                // Alone, these say whether there is an end.
                Sort::End if matches!(value.as_str(), "true" | "false") => end = verbatim(&value),
                Sort::End => end = toml_of(&value)?,
                Sort::Error => items.push(format!("{{ {} }}", self.one(recorded)?.trim_end())),
            }
            found.push((sort, value));
        }
        Some(format!("items = [{}]\nend = {end}\n", items.join(", ")))
    }

    /// Which phrase of which value gives a message, where others were said before it.
    fn sort(
        &mut self,
        values: &[String],
        recorded: &Template,
        is_last: bool,
        found: &[(Sort, String)],
    ) -> Option<(Sort, usize)> {
        let all = 0..values.len();
        let ends = all.clone().map(|at| (Sort::End, at)).filter(|_| is_last);
        let bare = is_last.then_some((Sort::Bare, 0));
        let others = all
            .clone()
            .map(|at| (Sort::Item, at))
            .chain(all.map(|at| (Sort::Delta, at)));
        for (sort, at) in bare.into_iter().chain(others).chain(ends) {
            self.peer = self.one_that_said(found);
            if self.gives(sort.phrase(values.get(at)?), recorded) {
                return Some((sort, at));
            }
        }
        self.peer = self.one_that_said(found);
        let error = self
            .one(recorded)
            .filter(|text| is_last && text.starts_with("error"));
        self.peer = self.one_that_said(found);
        error.map(|_| (Sort::Error, 0))
    }

    fn one_that_said(&self, found: &[(Sort, String)]) -> Box<dyn Peer + 's> {
        let mut peer = self
            .protocol
            .behavior()
            .peer(Direction::ToClient, &PeerConfig::default());
        for (sort, value) in found {
            let _ = peer.phrase(self.request, sort.phrase(value), 0);
        }
        peer
    }
}

fn toml_of(text: &str) -> Option<String> {
    with_json(text, toml).ok()
}

/// How one of several answers is put.
#[derive(Clone, Copy)]
enum Sort {
    Item,
    Delta,
    Bare,
    End,
    /// Whatever [`Speaker::one`] makes of it.
    Error,
}

impl Sort {
    fn phrase(self, value: &str) -> Phrase<'_> {
        match self {
            Self::Item => Phrase::Item(value),
            Self::Delta => Phrase::Delta(value),
            Self::End => Phrase::End(Some(value)),
            Self::Bare | Self::Error => Phrase::End(None),
        }
    }
}

/// What a message may have been made of: its members, and theirs.
fn parts(message: &str) -> Vec<String> {
    let found = with_json(message, |root| {
        let mut found = Vec::new();
        for (_, value) in root.members() {
            found.push(json(value));
        }
        for (_, value) in root.members().filter(|(_, value)| value.is_map()) {
            found.extend(value.members().map(|(_, value)| json(value)));
        }
        // Nothing may have been said at all.
        found.push("null".into());
        found
    });
    found.unwrap_or_default()
}

/// A whole message, in which values that came with the request are left open.
fn whole(entry: &RecordedRequest, recorded: &Template) -> String {
    let mut holes = Holes::new();
    for slot in recorded.slots.iter().filter(|slot| !slot.spot.is_key) {
        if let Source::Request(path) = &slot.source
            && let Some(path) = path_to(path, &slot.spot.val, &entry.message)
        {
            holes.insert(slot.spot.span, path);
        }
    }
    let message = with_json(&recorded.text, |root| open(root, &holes));
    message.unwrap_or_else(|_| verbatim(&recorded.text))
}

/// What stands between the braces of a hole that is filled in with what is at a place of a request; nothing where there
/// is no such hole.
fn path_to(path: &Path, val: &Val, request: &str) -> Option<String> {
    let path = Hole::text(path);
    let hole = Value::text(&format!("{{{{{path}}}}}")).ok()?;
    let from = Fill {
        request,
        count: u64::MAX,
        ..Fill::default()
    };
    let filled = hole.fill(&from).ok()?;
    (with_json(&filled, Val::of).ok()?? == *val).then_some(path)
}

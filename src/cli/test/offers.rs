//! What a server offers: read from its messages, stored in a file, and requested.
//!
//! ```text
//!   {"wiretool-baseline":1, "protocol":"mcp",
//!    "announced":{"initialize":{"tools":{}}},             what it says when a session opens
//!    "lists":{"tools/list":{"add":{"inputSchema":…}}}}    its definitions, by their names
//! ```

use crate::cli::output::CommandOutput;
use crate::decoder::Decoded;
use crate::live::client::FeedInput;
use crate::protocol::session::Answer;
use crate::protocol::{Definitions, Descriptor, Protocol};
use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// The number of definitions that are stored.
const MAX_DEFINITIONS: usize = 1 << 14;
/// The number of parts of lists that are requested.
const MAX_PARTS: usize = 1 << 8;
/// The members that name a definition.
const NAMES: [&str; 3] = ["name", "uri", "uriTemplate"];

/// Definitions by name, or announced members.
pub type Members = BTreeMap<String, Value>;

/// What a server offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offered {
    /// The announced members, by the subject or kind of the message.
    pub announced: BTreeMap<String, Members>,
    /// The definitions, by the subject or kind of the request.
    pub lists: BTreeMap<String, Members>,
    count: usize,
}

/// Returns the value at a place; a number is an index.
fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    })
}

/// Returns the list or object that a message is about.
fn find<'d>(lists: &'d [Definitions<'d>], of: &str) -> Option<&'d Definitions<'d>> {
    lists.iter().find(|list| list.of == of)
}

/// Returns the subject or the kind of the request of a message, or of itself if it answers nothing.
fn of<'m>(decoded: &'m Decoded<'_>, answer: Option<&'m Answer>) -> &'m str {
    let own = decoded.message;
    let (subject, kind) = match answer {
        Some(answer) => (answer.subject.as_deref(), &*answer.kind),
        None => (own.subject.as_deref(), own.kind.as_ref()),
    };
    subject.unwrap_or(kind)
}

/// Returns a message as JSON.
fn value_of(decoded: &Decoded<'_>) -> Option<Value> {
    let mut text = Vec::new();
    decoded.write_message(&mut text);
    serde_json::from_slice(&text).ok()
}

impl Offered {
    /// Adds what a message says.
    pub fn add(&mut self, decoded: &Decoded<'_>, answer: Option<&Answer>) {
        let descriptor: Descriptor<'_> = decoded.protocol.descriptor();
        let kind = decoded.message.kind.as_ref();
        let of = of(decoded, answer);
        let named = |lists| find(lists, of).or_else(|| find(lists, kind));
        let announced = named(descriptor.announced);
        let list = named(descriptor.definitions).filter(|_| answer.is_some());
        if announced.is_none() && list.is_none() || decoded.is_faulty() {
            return;
        }
        let Some(value) = value_of(decoded) else {
            return;
        };
        if let Some(one) = announced
            && let Some(Value::Object(members)) = at(&value, one.path)
        {
            let members = members
                .iter()
                .map(|(key, value)| (key.clone(), value.clone()));
            self.announced
                .entry(one.of.to_owned())
                .or_default()
                .extend(members);
        }
        if let Some(list) = list
            && let Some(Value::Array(items)) = at(&value, list.path)
        {
            let stored = self.lists.entry(list.of.to_owned()).or_default();
            for item in items {
                let name = NAMES.iter().find_map(|name| item.get(name)?.as_str());
                self.count += 1;
                if let Some(name) = name.filter(|_| self.count <= MAX_DEFINITIONS) {
                    stored.insert(name.to_owned(), item.clone());
                }
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.announced.is_empty() && self.lists.is_empty()
    }

    /// Returns `2 tools/list, 1 prompts/list` for a note.
    pub fn summary(&self) -> String {
        let lists = self.lists.iter().filter(|(_, list)| !list.is_empty());
        let lists = lists.map(|(of, list)| format!("{} of {of}", list.len()));
        let announced = self.announced.iter();
        let announced = announced.map(|(of, members)| format!("{} of {of}", members.len()));
        announced.chain(lists).collect::<Vec<_>>().join(", ")
    }

    fn to_json(&self, protocol: &str) -> Value {
        json!({
            "wiretool-baseline": 1,
            "protocol": protocol,
            "announced": self.announced,
            "lists": self.lists,
        })
    }

    /// Writes the file, completely or not at all. Returns false if it holds the same already.
    pub fn write(&self, path: &Path, protocol: &str) -> Result<bool> {
        let text = serde_json::to_string_pretty(&self.to_json(protocol))? + "\n";
        if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
            return Ok(false);
        }
        let mut output = CommandOutput::create(path, &[])?;
        output.push(text);
        output.finish()?;
        Ok(true)
    }

    /// Reads the file; `None` if there is none.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let name = path.display();
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| format!("cannot read {name}"))?,
        };
        let value: Value = serde_json::from_str(&text).with_context(|| format!("{name}"))?;
        if value.get("wiretool-baseline") != Some(&json!(1)) {
            bail!("{name}: not a baseline, which has the member \"wiretool-baseline\": 1");
        }
        let lists = |key: &str| {
            let lists = value.get(key).and_then(Value::as_object);
            let lists = lists.into_iter().flatten().map(|(of, list)| {
                let members = list.as_object().cloned().unwrap_or_default();
                (of.clone(), members.into_iter().collect())
            });
            lists.collect()
        };
        Ok(Some(Self {
            announced: lists("announced"),
            lists: lists("lists"),
            count: 0,
        }))
    }
}

/// Requests what a server offers, list by list, and part by part.
pub struct OfferRequests {
    protocol: &'static dyn Protocol,
    lists: VecDeque<&'static Definitions<'static>>,
    /// The cursor of the next part of the list that is requested.
    cursor: Option<(&'static Definitions<'static>, String)>,
    /// An answer is awaited.
    is_waiting: bool,
    parts: usize,
    /// What the server announced; `None`: nothing yet.
    announced: Option<Map<String, Value>>,
}

impl OfferRequests {
    pub fn new(protocol: &'static dyn Protocol) -> Self {
        let descriptor = protocol.descriptor();
        let is_silent = descriptor.announced.is_empty();
        Self {
            protocol,
            lists: descriptor.definitions.iter().collect(),
            cursor: None,
            is_waiting: false,
            parts: 0,
            announced: is_silent.then(Map::new),
        }
    }

    /// Returns true before the server has said what it offers.
    pub fn is_unopened(&self) -> bool {
        self.announced.is_none()
    }

    /// Takes an answer of the server.
    pub fn take(&mut self, decoded: &Decoded<'_>, answer: Option<&Answer>) {
        let Some(answer) = answer else {
            return;
        };
        let descriptor = self.protocol.descriptor();
        let of = of(decoded, Some(answer));
        let value = value_of(decoded).unwrap_or_default();
        if let Some(one) = find(descriptor.announced, of) {
            let members = at(&value, one.path).and_then(Value::as_object);
            self.announced = Some(members.cloned().unwrap_or_default());
        }
        if let Some(list) = find(descriptor.definitions, of) {
            self.is_waiting = false;
            let cursor = at(&value, list.next).and_then(Value::as_str);
            self.cursor = cursor.map(|cursor| (list, cursor.to_owned()));
        }
    }

    /// Returns the words of the next request.
    pub fn next(&mut self) -> Result<Vec<String>, FeedInput> {
        let Some(announced) = &self.announced else {
            return Err(FeedInput::Wait);
        };
        if self.is_waiting {
            return Err(FeedInput::Wait);
        }
        if let Some((list, cursor)) = self.cursor.take().filter(|_| self.parts < MAX_PARTS) {
            self.parts += 1;
            self.is_waiting = true;
            return Ok(vec![list.of.to_owned(), cursor]);
        }
        let is_announced =
            |list: &&Definitions<'_>| list.needs.is_empty() || announced.contains_key(list.needs);
        while let Some(list) = self.lists.pop_front() {
            if is_announced(&list) {
                self.is_waiting = true;
                return Ok(vec![list.of.to_owned()]);
            }
        }
        Err(FeedInput::End)
    }
}

//! `wiretool help TOPIC`: the reference, one Markdown file per topic; the manual has the same pages.
//!
//! Lists replace the lines of a topic in double braces: those of protocols `{{kinds}}`, `{{faults}}` and `{{rules}}`, those of keys
//! `{{json}}`, `{{rows}}` and `{{conditions}}`.

pub mod markdown;

use crate::conversation::full_name;
use crate::encoding::{self, Parsed, Want};
use crate::framing::{self, Limits};
use crate::protocol::registry;
use crate::protocol::rules::COMMON;
use crate::render::json::{self, flat};
use crate::select::Key;
use crate::span::Span;
use crate::tape::Node;
use std::borrow::Cow;
use std::fmt::Write as _;

/// A page of the reference.
pub struct Topic {
    pub name: &'static str,
    pub about: &'static str,
    text: &'static str,
}

macro_rules! topics {
    ($($name:literal: $about:literal,)*) => {
        &[$(Topic { name: $name, about: $about, text: include_str!(concat!($name, ".md")) }),*]
    };
}

/// All topics, in reading order.
pub const TOPICS: &[Topic] = topics! {
    "protocols": "what each protocol looks like, its kinds of message and its own commands",
    "inputs": "the forms of input: dumps, source code, Base64, logs",
    "lines": "the columns, signs and units of lines and trees",
    "where": "conditions that select messages",
    "operations": "what belongs together beyond a request and its answer, and who made it wait",
    "describe": "your own protocol, described in a file",
    "json": "the JSON output, and how to get the same bytes back",
    "export": "captures as diagrams and in other forms",
    "scale": "recordings of many hosts as rows of a table in a database",
    "rules": "what lint checks, and how it reports",
    "faults": "what makes a message undecodable; faults that a proxy injects",
    "recording": "the file format of recordings",
    "live": "proxy, record, send and replay; QUIC",
    "watch": "the panes and keys of the screen",
    "clients": "record between a client, such as an editor, and the server that it starts",
    "agents": "let an agent read recordings: an MCP server",
    "scripts": "the scripts of stub",
    "test": "servers and clients as tests: the files of wiretool test",
    "words": "peer, document, dialect, c2s, executor, felt and other words",
    "config": "wiretool.toml and environment variables",
    "ci": "checks in CI services: lint, snapshots, annotations",
    "limits": "the largest messages, sessions and files, and what happens beyond them",
    "exit": "exit codes",
};

/// The width of a list of keys.
const MAX_COLUMNS: usize = 96;

pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

impl Topic {
    /// Returns the Markdown text, with the lists.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in self.text.lines() {
            match line {
                "{{kinds}}" => kinds(&mut text),
                "{{faults}}" => faults(&mut text),
                "{{rules}}" => rules(&mut text),
                "{{json}}" => keys(json_keys(), &mut text),
                "{{rows}}" => keys(flat::COLUMNS.iter().map(|(name, _)| name), &mut text),
                "{{conditions}}" => keys(Key::names(), &mut text),
                _ => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text
    }
}

fn kinds(out: &mut String) {
    for protocol in registry::all() {
        let kinds = protocol.kinds().iter().map(|kind| &*kind.name);
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "- {}: {kinds}", protocol.name());
    }
}

/// Returns the keys of JSON output, in their order.
fn json_keys() -> Vec<String> {
    let bytes = json::SCHEMA.as_bytes();
    let mut parsed = Parsed::new(Want::Places, Limits::default().depth);
    let read = parsed.json(bytes, Span::new(0, bytes.len()));
    let root = read.ok().and_then(|()| parsed.root(bytes));
    let properties = root.and_then(|root| root.get("properties"));
    let members = properties.into_iter().flat_map(Node::members);
    let names = members.filter_map(|(name, _)| name.text());
    names.map(Cow::into_owned).collect()
}

/// Writes the names of keys as a block of text.
fn keys(names: impl IntoIterator<Item = impl AsRef<str>>, out: &mut String) {
    let mut block = String::from("```text");
    let mut columns = MAX_COLUMNS;
    for name in names {
        let name = name.as_ref();
        columns += 1 + name.len();
        if columns > MAX_COLUMNS {
            columns = name.len();
            block.push('\n');
        } else {
            block.push(' ');
        }
        block.push_str(name);
    }
    let _ = writeln!(out, "{block}\n```");
}

fn faults(out: &mut String) {
    let layers = [
        ("every framing", framing::FAULTS),
        ("every encoding", encoding::FAULTS),
    ];
    let protocols = registry::all().iter();
    let protocols = protocols.map(|protocol| (protocol.name(), protocol.descriptor().faults));
    for (place, list) in layers.into_iter().chain(protocols) {
        let _ = writeln!(out, "- {place}");
        for (code, about) in list {
            let _ = writeln!(out, "  - `{code}`: {about}");
        }
    }
}

fn rules(out: &mut String) {
    for protocol in registry::all() {
        let count = protocol.behavior().rules().len();
        let _ = writeln!(out, "- {}: {count} rules", protocol.name());
    }
    let common = COMMON.iter().map(|rule| full_name("*", rule));
    let common = common.collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "- every protocol: {common}");
}

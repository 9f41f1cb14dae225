//! `wiretool help TOPIC`: the reference, one Markdown file per topic; the manual has the same pages.
//!
//! Lists from the protocols replace the lines `{{kinds}}`, `{{faults}}` and `{{rules}}` of a topic.

pub mod markdown;

use crate::conversation::full_name;
use crate::encoding;
use crate::framing;
use crate::protocol::registry;
use crate::protocol::rules::COMMON;
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

/// Returns the topic with this name.
pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

impl Topic {
    /// Returns the Markdown text, with the lists from the protocols.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in self.text.lines() {
            match line {
                "{{kinds}}" => kinds(&mut text),
                "{{faults}}" => faults(&mut text),
                "{{rules}}" => rules(&mut text),
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

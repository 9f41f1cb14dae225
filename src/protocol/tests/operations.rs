//! Conversations with the facts about operations that sessions state for each message.
//!
//! ```text
//!   > {"id":1,"method":"a"}
//!   < {"id":1,"method":"b"}     => inside 0 inferred
//! ```
//!
//! A line is one message, perhaps with the number of its connection before the direction. `lost` is a gap.

mod family;
mod mcp;
mod others;

use super::of;
use crate::decoder::{DecodeOptions, Decoder};
use crate::protocol::session::{ConnectionChange, Link, OperationFacts, Report, SessionConfig};
use crate::protocol::{Direction, Origin};
use std::fmt::Write as _;

/// Returns facts as a text.
fn shown(facts: &OperationFacts) -> String {
    let mut all = Vec::new();
    for (name, link) in [("part of", facts.part_of), ("inside", facts.inside)] {
        if let Some((index, link)) = link {
            let link = match link {
                Link::Recorded => "recorded",
                Link::Inferred => "inferred",
            };
            all.push(format!("{name} {index} {link}"));
        }
    }
    let says = [(facts.cancels, "cancels"), (facts.fails, "fails")];
    let more = [(facts.may_retry, "may retry"), (facts.is_item, "item")];
    let said = says.into_iter().chain(more);
    all.extend(said.filter(|(is, _)| *is).map(|(_, name)| name.to_owned()));
    if let Some(count) = facts.unacknowledged {
        all.push(format!("{count} unacknowledged"));
    }
    if let Some(request) = facts.leaves {
        all.push(format!("leaves {request}"));
    }
    if let Some(ends) = facts.ends {
        all.push(if ends { "ends" } else { "goes on" }.to_owned());
    }
    if let Some(owner) = facts.owner {
        all.push(format!("{owner:?}").to_lowercase());
    }
    all.join(", ")
}

/// A conversation: its title, and its lines.
type Case = (&'static str, &'static str);

/// Checks the facts that are stated for the messages of conversations. `frame` writes a message.
fn check(protocol: &str, frame: impl Fn(char, &str) -> Vec<u8>, cases: &[Case]) {
    let mut wrong = String::new();
    for (title, lines) in cases {
        let protocol = of(protocol);
        let mut decoder = Decoder::new(DecodeOptions::new(vec![protocol]));
        let mut session = protocol.behavior().session(&SessionConfig::default());
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
        for (at, line) in lines.enumerate() {
            let (said, wanted) = line.split_once("=>").unwrap_or((line, ""));
            let (start, text) = said.trim().split_once(' ').expect("a direction and a text");
            let (conn, way) = start.split_at(start.len() - 1);
            let way = way.chars().next().expect("a direction");
            let origin = Origin {
                conn: Some(conn.parse().unwrap_or(0)),
                direction: Some(match way {
                    '>' => Direction::ToServer,
                    _ => Direction::ToClient,
                }),
                ..Origin::default()
            };
            if text.trim() == "lost" {
                session.event(origin, ConnectionChange::Lost, &mut Report::default());
                continue;
            }
            let (mut got, mut count) = (String::new(), 0);
            decoder.push(origin, &frame(way, text.trim()), &mut |decoded| {
                let mut report = Report::default();
                let seen = decoded.seen();
                session.message(&seen, &mut report);
                let facts = report.operation;
                let named = [facts.part_of, facts.inside].into_iter().flatten();
                for (index, _) in named {
                    assert!(index < seen.index, "{title}: {line}");
                }
                got.push_str(&shown(&facts));
                count += 1;
            });
            if count != 1 || got != wanted.trim() {
                writeln!(
                    wrong,
                    "{title}, line {at}: {said}\n  {count} messages: {got}"
                )
                .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Writes a JSON-RPC message, or a batch, as a line.
fn line(_: char, text: &str) -> Vec<u8> {
    format!("{}\n", versioned(text)).into_bytes()
}

/// Adds the version to each message of a text.
fn versioned(text: &str) -> String {
    let mut text = text.replace("{\"id\"", "{\"jsonrpc\":\"2.0\",\"id\"");
    if text.starts_with("{\"method\"") {
        text.insert_str(1, "\"jsonrpc\":\"2.0\",");
    }
    text
}

/// Writes a message with the header of its length.
fn with_length(_: char, text: &str) -> Vec<u8> {
    let body = versioned(text);
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Writes a message over HTTP: a POST, or a chunk of an event stream; `stream` is the head of one.
fn http(way: char, text: &str) -> Vec<u8> {
    let body = versioned(text);
    let len = body.len();
    let kind = "content-type: application/json";
    match (way, text) {
        ('<', "stream") => "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
            transfer-encoding: chunked\r\n\r\n"
            .into(),
        ('<', "accepted") => b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_vec(),
        // HTTP+SSE of 2024-11-05: a stream names the address of its messages.
        ('<', "endpoint") => {
            let event = "event: endpoint\ndata: /messages?sessionId=s\n\n";
            format!("{:x}\r\n{event}\r\n", event.len()).into_bytes()
        }
        ('>', text) if text.starts_with("? ") => {
            let body = versioned(text.trim_start_matches("? "));
            let len = body.len();
            format!("POST /messages?sessionId=s HTTP/1.1\r\n{kind}\r\ncontent-length: {len}\r\n\r\n{body}").into()
        }
        ('>', "get") => b"GET /mcp HTTP/1.1\r\naccept: text/event-stream\r\n\r\n".to_vec(),
        ('>', "resume") => {
            b"GET /mcp HTTP/1.1\r\naccept: text/event-stream\r\nlast-event-id: 7\r\n\r\n".to_vec()
        }
        ('<', _) => {
            let event = format!("data: {body}\n\n");
            format!("{:x}\r\n{event}\r\n", event.len()).into_bytes()
        }
        _ => format!("POST /mcp HTTP/1.1\r\n{kind}\r\ncontent-length: {len}\r\n\r\n{body}").into(),
    }
}

//! Turns a read recording into a plan.

use super::super::{Expected, Plan, PlanError};
use super::PlanReader;
use crate::framing::Framing;
use crate::live::names::{Binding, Names};
use crate::protocol::peer::with_json;
use std::collections::{HashMap, HashSet};

impl<'p> PlanReader<'p> {
    /// Removes needs that only answers to unselected messages would satisfy: these values are sent as recorded.
    fn drop_unavailable_needs(&mut self) {
        let expected = self.expected.iter().filter(|expected| !expected.is_orphan);
        let places = expected.flat_map(|expected| &expected.places);
        let available: HashSet<usize> = places
            .filter_map(|place| match place.binding {
                Binding::Name(number) => Some(number),
                Binding::Time | Binding::Process | Binding::Given => None,
            })
            .collect();
        for step in &mut self.steps {
            let before = step.needs.len();
            step.needs.retain(|number| available.contains(number));
            if step.needs.len() < before {
                let (what, index) = (&step.description.what, step.description.index);
                self.notes.push(format!(
                    "{what} #{index} goes out with a value of the recording: what it comes from is not said"
                ));
            }
        }
    }

    /// Drops connections on which no selected message is sent, unless they supply values that other connections need.
    fn drop_idle_connections(&mut self) {
        let idle = |conn: u32| !self.chosen_on.contains(&conn);
        let names = |expected: &Expected| {
            let places = expected.places.iter();
            let names = places.filter_map(|place| match place.binding {
                Binding::Name(number) => Some(number),
                Binding::Time | Binding::Process | Binding::Given => None,
            });
            names.collect::<Vec<_>>()
        };
        // Ids are counted per connection: a value that the connection of the step also supplies is not needed from
        // here.
        let mut supplied = HashMap::new();
        for (at, expected) in self.expected.iter().enumerate() {
            if !idle(expected.stored.conn.unwrap_or_default()) {
                for number in names(expected) {
                    supplied.entry(number).or_insert(at);
                }
            }
        }
        let steps = self.steps.iter().filter(|step| !idle(step.conn));
        let needed: HashSet<usize> = steps
            .flat_map(|step| {
                step.needs
                    .iter()
                    .map(|number| (*number, step.received_before))
            })
            .filter(|(number, received_before)| {
                supplied.get(number).is_none_or(|at| at >= received_before)
            })
            .map(|(number, _)| number)
            .collect();
        let is_supplier =
            |expected: &&Expected| names(expected).iter().any(|number| needed.contains(number));
        let suppliers = self.expected.iter().filter(is_supplier);
        let suppliers: HashSet<u32> = suppliers
            .filter_map(|expected| expected.stored.conn)
            .collect();
        let dropped = |conn: u32| idle(conn) && !suppliers.contains(&conn);
        for (_, connection) in self
            .connections
            .iter_mut()
            .filter(|(conn, _)| dropped(**conn))
        {
            connection.steps.clear();
            connection.hellos.clear();
        }
        for expected in &mut self.expected {
            if dropped(expected.stored.conn.unwrap_or_default()) {
                expected.is_orphan = true;
                expected.answers = None;
            }
        }
    }

    /// Forgets the end of the own direction of connections on which no answer follows it.
    fn drop_last_eofs(&mut self) {
        let mut last = HashMap::new();
        for (at, expected) in self.expected.iter().enumerate() {
            if expected.answers.is_some() {
                last.insert(expected.stored.conn.unwrap_or_default(), at);
            }
        }
        let is_http = self.framing == Some(Framing::Http);
        for (conn, connection) in &mut self.connections {
            let follows = |before: &mut usize| last.get(conn).is_none_or(|at| at < before);
            connection
                .received_before_eof
                .take_if(|before| is_http || follows(before));
        }
    }

    /// Returns an HTTP connection with a GET and messages of the peer, but without a step.
    fn event_stream(&self) -> Option<u32> {
        let has_streams = (self.protocol).is_some_and(|p| p.descriptor().http.is_some());
        if self.framing != Some(Framing::Http)
            || has_streams
            || self.unselected + self.unreadable > 0
        {
            return None;
        }
        let has_steps = |conn: u32| {
            let connection = self.connections.get(&conn);
            connection.is_some_and(|connection| !connection.steps.is_empty())
        };
        let messages = self.expected.iter().filter(|message| !message.is_orphan);
        let mut conns = messages.filter_map(|message| message.stored.conn);
        conns.find(|conn| self.streams.contains(conn) && !has_steps(*conn))
    }

    pub(in crate::live::plan) fn finish(mut self) -> Result<Plan<'p>, PlanError> {
        let protocol = self.protocol;
        let is_empty = self.steps.is_empty()
            && self.expected.is_empty()
            && self.unselected + self.unreadable == 0;
        let Some(protocol) = protocol.filter(|_| !is_empty) else {
            return Err("it has no message".into());
        };
        if self.unselected > 0 && self.chosen > 0 {
            self.drop_idle_connections();
        }
        self.drop_unavailable_needs();
        self.drop_last_eofs();
        if self.steps.is_empty() && self.unselected == 0 {
            return Err(match self.unreadable {
                0 => "it has only answers: the calling side sends nothing that can be replayed"
                    .to_owned(),
                1 => "the only message of the calling side is incomplete".to_owned(),
                n => format!("all {n} messages of the calling side are incomplete"),
            });
        }
        if let Some(conn) = self.event_stream() {
            return Err(format!(
                "connection {conn} only receives messages, as an event stream that GET opens: replay supports them only for protocols with sessions over HTTP"
            ));
        }
        if self.expected.is_empty() {
            let only = "it has only requests, and no answer to compare";
            self.notes.push(only.into());
        }
        if self.is_truncated {
            let text = "it has no end line: its messages are replayed";
            self.notes.push(text.into());
        }
        if self.unreadable > 0 {
            let n = self.unreadable;
            let text = if n == 1 {
                "1 message of the calling side is incomplete, and is not sent".to_owned()
            } else {
                format!("{n} messages of the calling side are incomplete, and are not sent")
            };
            self.notes.push(text);
        }
        // A version without sessions has no opening either.
        let first = self.steps.first();
        let is_alone = |message: &str| {
            with_json(message, |root| protocol.needs_no_session(root)).unwrap_or_default()
        };
        let is_alone = first.is_some_and(|step| step.verbatim.is_none() && is_alone(&step.message));
        let has_hello = is_alone || self.steps.iter().any(|step| step.is_hello);
        let has_end = !self.is_truncated && self.unselected + self.unreadable == 0;
        Ok(Plan {
            protocol,
            framing: self.framing.unwrap_or(Framing::Lines),
            path: self.path,
            fields: self.fields.unwrap_or_default(),
            events: self.events,
            header: self.header.unwrap_or_default(),
            steps: self.steps,
            expected: self.expected,
            connections: self.connections,
            ended: self.ended,
            read: self.read,
            matched: self.matched,
            chosen: self.chosen,
            names: self.names.unwrap_or_else(|| Names::new(protocol)),
            has_hello,
            has_end,
            notes: self.notes,
        })
    }
}

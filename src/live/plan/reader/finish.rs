//! What was read of a recording becomes a plan.

use super::super::{Expected, Plan, PlanError};
use super::Reader;
use crate::framing::Framing;
use crate::live::names::{Binding, Names};
use std::collections::{HashMap, HashSet};

impl<'p> Reader<'p> {
    /// What is told only in answer to messages that are left out will not be told: it is said as it was.
    fn settle_needs(&mut self) {
        let told = self.expected.iter().filter(|told| !told.is_orphan);
        let places = told.flat_map(|told| &told.places);
        let learnt: HashSet<usize> = places
            .filter_map(|place| match place.binding {
                Binding::Name(number) => Some(number),
                Binding::Time | Binding::Given => None,
            })
            .collect();
        for step in &mut self.steps {
            let before = step.needs.len();
            step.needs.retain(|number| learnt.contains(number));
            if step.needs.len() < before {
                let (what, index) = (&step.which.what, step.which.index);
                self.notes.push(format!(
                    "{what} #{index} goes out with a value of the recording: what it comes from is not said"
                ));
            }
        }
    }

    /// A connection on which nothing is said that was chosen is not opened, unless it gives what others need.
    fn drop_idle(&mut self) {
        let idle = |conn: u32| !self.chosen_on.contains(&conn);
        let names = |told: &Expected| {
            let places = told.places.iter();
            let names = places.filter_map(|place| match place.binding {
                Binding::Name(number) => Some(number),
                Binding::Time | Binding::Given => None,
            });
            names.collect::<Vec<_>>()
        };
        // Connections count their ids for themselves: what another connection of a step gives too need not come from here.
        let mut given = HashMap::new();
        for (at, told) in self.expected.iter().enumerate() {
            if !idle(told.kept.conn.unwrap_or_default()) {
                for number in names(told) {
                    given.entry(number).or_insert(at);
                }
            }
        }
        let steps = self.steps.iter().filter(|step| !idle(step.conn));
        let needed: HashSet<usize> = steps
            .flat_map(|step| step.needs.iter().map(|number| (*number, step.heard)))
            .filter(|(number, heard)| given.get(number).is_none_or(|at| at >= heard))
            .map(|(number, _)| number)
            .collect();
        let provides = |told: &&Expected| names(told).iter().any(|number| needed.contains(number));
        let giving = self.expected.iter().filter(provides);
        let giving: HashSet<u32> = giving.filter_map(|told| told.kept.conn).collect();
        let dropped = |conn: u32| idle(conn) && !giving.contains(&conn);
        for (_, line) in self
            .connections
            .iter_mut()
            .filter(|(conn, _)| dropped(**conn))
        {
            line.steps.clear();
            line.hellos.clear();
        }
        for told in &mut self.expected {
            if dropped(told.kept.conn.unwrap_or_default()) {
                told.is_orphan = true;
                told.answers = None;
            }
        }
    }

    pub(in crate::live::plan) fn finish(mut self) -> Result<Plan<'p>, PlanError> {
        let spoken = self.protocol;
        let silent =
            self.steps.is_empty() && self.expected.is_empty() && self.left + self.broken == 0;
        let Some(protocol) = spoken.filter(|_| !silent) else {
            return Err("there is no message in it".into());
        };
        if self.left > 0 && self.chosen > 0 {
            self.drop_idle();
        }
        self.settle_needs();
        if self.steps.is_empty() && self.left == 0 {
            return Err(match self.broken {
                0 => {
                    "only the answers are in it: the calling side says nothing that could be played"
                        .to_owned()
                }
                1 => "the one message of the calling side is not whole".to_owned(),
                n => format!("none of {n} messages of the calling side is whole"),
            });
        }
        if self.expected.is_empty() {
            let only = "only the calling side is in it: there is no answer to compare with";
            self.notes.push(only.into());
        }
        if self.torn {
            let torn = "it has no end line: what is there is played";
            self.notes.push(torn.into());
        }
        if self.broken > 0 {
            let n = self.broken;
            let text = if n == 1 {
                "1 message of the calling side is not whole, and is not said".to_owned()
            } else {
                format!("{n} messages of the calling side are not whole, and are not said")
            };
            self.notes.push(text);
        }
        let has_hello = self.steps.iter().any(|step| step.is_hello);
        let has_end = !self.torn && self.left + self.broken == 0;
        Ok(Plan {
            protocol,
            framing: self.framing.unwrap_or(Framing::Lines),
            path: self.path,
            fields: self.fields,
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

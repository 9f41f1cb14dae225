//! Recordings of texts that name no directions: what both sides sent is in one direction.

use super::PlanError;
use crate::capture::{CaptureInput, Form};
use crate::conversation::{Output, Run};
use crate::decoder::{DecodeOptions, Decoded};
use crate::protocol::{Direction, Protocol, Role};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// The most messages that are examined: both directions come sooner.
const MAX_MESSAGES: u64 = 4096;

/// The messages of a recording, as far as they have one direction.
#[derive(Default)]
struct Sides {
    messages: u64,
    requests: u64,
    asked: HashSet<String>,
    /// The answers whose requests the same side sent.
    own_answers: u64,
}

impl Sides {
    /// Adds a message; breaks if the recording has both directions.
    fn see(&mut self, decoded: &Decoded<'_>) -> ControlFlow<()> {
        self.messages += 1;
        // Bytes without a direction are recorded as those of the client.
        let is_other = decoded.origin.direction == Some(Direction::ToClient);
        if is_other || self.messages > MAX_MESSAGES {
            self.own_answers = 0;
            return ControlFlow::Break(());
        }
        let id = decoded.message.id.text().into_owned();
        match decoded.message.role {
            Some(Role::Request) if !id.is_empty() => {
                self.requests += 1;
                self.asked.insert(id);
            }
            Some(Role::Response | Role::Error) if self.asked.remove(&id) => self.own_answers += 1,
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Refuses a recording in which one side answers itself. One-way traffic can have a few such ids by accident.
pub(super) fn check_sides(recording: &[u8], protocols: &[&dyn Protocol]) -> Result<(), PlanError> {
    let mut sides = Sides::default();
    let input = CaptureInput::new(Form::Recording);
    let mut run = Run::new(input, DecodeOptions::new(protocols.to_vec()), None);
    let mut sink = |output: Output<'_>| match output {
        Output::Message(decoded, _) => sides.see(decoded),
        _ => ControlFlow::Continue(()),
    };
    let _ = run.read_all(recording, &mut sink);
    drop(run);
    if sides.own_answers == 0 || sides.own_answers * 2 < sides.requests {
        return Ok(());
    }
    Err("it has the requests and their answers in one direction, as the text that it was made from names none: \
         wiretool decode --c2s FILE --s2c FILE -w NEW.jsonl makes a recording of one file for each side"
        .into())
}

//! Feeds a fixture's bytes to its rendering.

use super::rendering::ShownSnapshot;
use super::{Error, Rendering};
use crate::capture::{CaptureInput, Form};
use crate::conversation::{RuleSettings, Run, Source};
use crate::decoder::DecodeOptions;
use crate::encoding::Want;
use crate::protocol::registry::Protocols;
use crate::settings::FixtureOptions;
use std::ops::ControlFlow;

/// Reads one fixture.
pub(super) struct FixtureReader<'h> {
    run: Run<'h>,
    shown: ShownSnapshot<'h>,
    /// The fixture has its own flags.
    has_flags: bool,
}

impl<'h> FixtureReader<'h> {
    pub fn new(how: &'h FixtureOptions, protocols: &'h Protocols, has_flags: bool) -> Self {
        let options = DecodeOptions {
            protocols: protocols.possible(),
            framing: how.framing,
            length_mode: how.length_mode,
            limits: how.limits,
            resync: !how.no_resync,
            want: Want::Places,
            flags: true,
            lookup: None,
        };
        let source = Source {
            direction: how.direction,
            without_times: !how.times,
            ..Source::default()
        };
        let rules = how.lint.then(|| RuleSettings {
            judge: how.judge.clone(),
            ..RuleSettings::default()
        });
        let is_exact = how.direction.is_some() || how.framing.is_some();
        let input = CaptureInput::new(how.from).of_exact_bytes(is_exact);
        Self {
            run: Run::of_source(source, Some(input), options, rules),
            shown: ShownSnapshot::new(how),
            has_flags,
        }
    }

    /// Adds bytes of the file.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        result(self.run.read(&mut bytes, &mut self.shown))?;
        self.shown.check()
    }

    /// Returns `true` if the bytes so far are a recording, or belong to a protocol.
    pub fn recognises(mut self) -> bool {
        let read = result(self.run.finish(&mut self.shown));
        let is_known = self.run.decoder().protocol().is_some();
        self.form() == Form::Recording || is_known || matches!(read, Err(Error::TooLong))
    }

    fn form(&self) -> Form {
        self.run.input().map_or(Form::Auto, CaptureInput::form)
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<Rendering, Error> {
        let read = result(self.run.finish(&mut self.shown));
        let is_dump = matches!(self.form(), Form::Hex | Form::Xxd);
        if self.has_flags && !is_dump {
            let text = "`# wiretool:` is a comment only in hex dumps: set the flags in wiretool.toml, under [[files]] or [snapshot]";
            return Err(Error::Words(text.into()));
        }
        read?;
        self.shown.check()?;
        let decoder = self.run.decoder();
        if decoder.protocol().is_none() && decoder.undetected() > 0 {
            let comment = if is_dump {
                " in a comment, `# wiretool: -p NAME`, or"
            } else {
                ""
            };
            return Err(Error::Undecodable(format!(
                "no protocol recognises these bytes: name it{comment} in wiretool.toml, under [[files]]"
            )));
        }
        let mut notes = Vec::new();
        if let Some(guess) = decoder.guess().filter(|guess| guess.tie) {
            let other = guess.runner_up.as_deref().unwrap_or("another protocol");
            let protocol = &guess.protocol;
            notes.push(format!(
                "read as {protocol}, but it can also be {other}: name it"
            ));
        }
        Ok(self.shown.into_rendering(notes))
    }
}

fn result(flow: ControlFlow<Error>) -> Result<(), Error> {
    flow.break_value().map_or(Ok(()), Err)
}

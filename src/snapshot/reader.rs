//! Feeds a fixture's bytes to its rendering.

use super::rendering::ShownSnapshot;
use super::{Error, Rendering};
use crate::capture::{CaptureInput, Form, Item};
use crate::conversation::Conversation;
use crate::conversation::pipeline::Pipeline;
use crate::decoder::{DecodeOptions, Decoder};
use crate::encoding::Want;
use crate::protocol::Protocol;
use crate::protocol::registry::Protocols;
use crate::protocol::session::SessionConfig;
use crate::settings::FixtureOptions;

/// Reads one fixture.
pub(super) struct FixtureReader<'h> {
    input: CaptureInput,
    pipeline: Pipeline<'h>,
    shown: ShownSnapshot<'h>,
    bytes: u64,
    /// The fixture has its own flags.
    has_flags: bool,
}

impl<'h> FixtureReader<'h> {
    pub fn new(how: &'h FixtureOptions, protocols: &'h Protocols, has_flags: bool) -> Self {
        let known: Vec<&'h dyn Protocol> = protocols.possible();
        let decoder = Decoder::new(DecodeOptions {
            protocols: known.clone(),
            framing: how.framing,
            length_mode: how.length_mode,
            limits: how.limits,
            resync: !how.no_resync,
            want: Want::Places,
        });
        let conversation = how
            .lint
            .then(|| Conversation::new(&known, &how.judge, SessionConfig::default(), true));
        let mut pipeline = Pipeline::new(decoder, conversation);
        pipeline.direction = how.direction;
        pipeline.without_times = !how.times;
        Self {
            input: CaptureInput::new(how.from),
            pipeline,
            shown: ShownSnapshot::new(how),
            bytes: 0,
            has_flags,
        }
    }

    /// Adds bytes of the file.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        self.items(|input, item| input.push(bytes, item))?;
        self.shown.check()
    }

    /// Reads items until one is refused.
    fn items(
        &mut self,
        read: impl FnOnce(&mut CaptureInput, &mut dyn FnMut(Item<'_>)),
    ) -> Result<(), Error> {
        let (pipeline, shown) = (&mut self.pipeline, &mut self.shown);
        let mut result = Ok(());
        read(&mut self.input, &mut |item| {
            if result.is_ok() {
                result = pipeline.item(&item, shown);
            }
        });
        result
    }

    /// Returns `true` if the bytes so far are a recording, or belong to a protocol.
    pub fn recognises(mut self) -> bool {
        let read = self.items(CaptureInput::finish);
        let read = read.and_then(|()| self.pipeline.finish(true, &mut self.shown));
        let is_known = self.pipeline.decoder.protocol().is_some();
        self.input.form() == Form::Recording || is_known || matches!(read, Err(Error::TooLong))
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<Rendering, Error> {
        self.items(CaptureInput::finish)?;
        let is_dump = matches!(self.input.form(), Form::Hex | Form::Xxd);
        if self.has_flags && !is_dump {
            let text = "`# wiretool:` is a comment only in hex dumps: set the flags in wiretool.toml, under [[files]] or [snapshot]";
            return Err(Error::Words(text.into()));
        }
        self.pipeline.finish(true, &mut self.shown)?;
        let Self {
            pipeline,
            mut shown,
            ..
        } = self;
        let decoder = &pipeline.decoder;
        shown.check()?;
        if decoder.protocol().is_none() {
            if decoder.undetected() > 0 {
                let comment = if is_dump {
                    " in a comment, `# wiretool: -p NAME`, or"
                } else {
                    ""
                };
                return Err(Error::Undecodable(format!(
                    "no protocol recognises these bytes: name it{comment} in wiretool.toml, under [[files]]"
                )));
            }
            shown.note("it has no bytes to decode");
        }
        let mut notes = Vec::new();
        if let Some(guess) = decoder.guess().filter(|guess| guess.tie) {
            let other = guess.runner_up.as_deref().unwrap_or("another protocol");
            let protocol = &guess.protocol;
            notes.push(format!(
                "read as {protocol}, but it can also be {other}: name it"
            ));
        }
        let (text, left_out) = shown.finish(pipeline.conversation)?;
        Ok(Rendering {
            text,
            left_out,
            notes,
        })
    }
}

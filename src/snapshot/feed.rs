//! A fixture's bytes on their way to its rendering.

use super::how::How;
use super::shown::Shown;
use super::{Error, Rendering};
use crate::capture::{Form, Input, Item};
use crate::conversation::Conversation;
use crate::conversation::pipeline::Pipeline;
use crate::decoder::{Decoder, Options};
use crate::encoding::Want;
use crate::protocol::Protocol;
use crate::protocol::registry::Protocols;
use crate::protocol::session::SessionConfig;

/// Reads one fixture.
pub(super) struct Feed<'h> {
    input: Input,
    pipeline: Pipeline<'h>,
    shown: Shown<'h>,
    bytes: u64,
    /// The fixture says itself how it is read.
    says: bool,
}

impl<'h> Feed<'h> {
    pub fn new(how: &'h How, protocols: &'h Protocols, says: bool) -> Self {
        let known: Vec<&'h dyn Protocol> = protocols.possible();
        let decoder = Decoder::new(Options {
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
            input: Input::new(how.from),
            pipeline,
            shown: Shown::new(how),
            bytes: 0,
            says,
        }
    }

    /// More of the file.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        self.items(|input, item| input.push(bytes, item))?;
        self.shown.check()
    }

    /// Reads items up to the first that is refused.
    fn items(
        &mut self,
        read: impl FnOnce(&mut Input, &mut dyn FnMut(Item<'_>)),
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

    /// Whether what came so far is a recording, or some protocol's.
    pub fn recognises(mut self) -> bool {
        let read = self.items(Input::finish);
        let read = read.and_then(|()| self.pipeline.finish(true, &mut self.shown));
        let is_known = self.pipeline.decoder.protocol().is_some();
        self.input.form() == Form::Recording || is_known || matches!(read, Err(Error::TooLong))
    }

    /// There is no more of it.
    pub fn finish(mut self) -> Result<Rendering, Error> {
        self.items(Input::finish)?;
        let is_dump = matches!(self.input.form(), Form::Hex | Form::Xxd);
        if self.says && !is_dump {
            let text = "`# wiretool:` is a comment in hex dumps alone, and data here: say it in wiretool.toml, under [[files]] or [snapshot]";
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
            shown.note("there are no bytes in it to decode");
        }
        let mut notes = Vec::new();
        if let Some(guess) = decoder.guess().filter(|guess| guess.tie) {
            let other = guess.runner_up.as_deref().unwrap_or("another protocol");
            let protocol = &guess.protocol;
            notes.push(format!(
                "read as {protocol}, could as well be {other}: name it"
            ));
        }
        let (text, hidden) = shown.finish(pipeline.conversation)?;
        Ok(Rendering {
            text,
            hidden,
            notes,
        })
    }
}

//! A fixture's bytes on their way to its rendering.

use super::how::How;
use super::shown::Shown;
use super::{Error, Rendering};
use crate::capture::{Event, Form, Header, Input, Item, Problem, What};
use crate::decoder::{Decoder, Options, Origin, Sink};
use crate::encoding::Want;
use crate::protocol::Protocol;
use crate::protocol::registry::Protocols;

/// Reads one fixture.
pub(super) struct Feed<'h> {
    input: Input,
    work: Work<'h>,
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
        Self {
            input: Input::new(how.from),
            work: Work {
                how,
                decoder,
                shown: Shown::new(how, &known),
                recording: false,
                lost: None,
            },
            bytes: 0,
            says,
        }
    }

    /// More of the file.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        let work = &mut self.work;
        self.input.push(bytes, &mut |item| work.item(item));
        self.work.shown.check()
    }

    /// Whether what came so far is a recording, or some protocol's.
    pub fn recognises(mut self) -> bool {
        let work = &mut self.work;
        self.input.finish(&mut |item| work.item(item));
        work.frames(|decoder, sink| decoder.finish(sink));
        self.input.form() == Form::Recording || work.decoder.protocol().is_some()
    }

    /// There is no more of it.
    pub fn finish(mut self) -> Result<Rendering, Error> {
        let work = &mut self.work;
        self.input.finish(&mut |item| work.item(item));
        let is_dump = matches!(self.input.form(), Form::Hex | Form::Xxd);
        if self.says && !is_dump {
            let text = "`# wiretool:` is a comment in hex dumps alone, and data here: say it in wiretool.toml, under [[files]] or [snapshot]";
            return Err(Error::Words(text.into()));
        }
        work.frames(|decoder, sink| decoder.finish(sink));
        let Work {
            decoder, mut shown, ..
        } = self.work;
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
        let (text, hidden) = shown.finish()?;
        Ok(Rendering {
            text,
            hidden,
            notes,
        })
    }
}

struct Work<'h> {
    how: &'h How,
    decoder: Decoder<'h>,
    shown: Shown<'h>,
    recording: bool,
    /// The connection of which it was last said that bytes are missing.
    lost: Option<u32>,
}

impl<'h> Work<'h> {
    #[allow(clippy::needless_pass_by_value)] // as inputs hand items out
    fn item(&mut self, item: Item<'_>) {
        match item {
            Item::Header(header) => self.header(header),
            Item::Chunk(chunk) => {
                let origin = Origin {
                    conn: self.recording.then_some(chunk.conn),
                    direction: chunk.direction.or(self.how.direction),
                    time: chunk
                        .time
                        .filter(|_| self.how.times)
                        .and_then(|t| i64::try_from(t).ok()),
                };
                self.frames(|decoder, sink| decoder.push(origin, chunk.bytes, sink));
            }
            Item::Comment(comment) => {
                let Some(beside) = comment.beside() else {
                    return;
                };
                let origin = Origin {
                    conn: None,
                    direction: comment.direction.or(self.how.direction),
                    time: None,
                };
                self.decoder.beside(origin, beside);
            }
            Item::Gap(gap) => {
                let text = format!("bytes {} to {} of the dump are missing", gap.from, gap.to);
                self.shown.note(&text);
                let origin = Origin {
                    conn: None,
                    direction: gap.direction.or(self.how.direction),
                    time: None,
                };
                let len = gap.to.saturating_sub(gap.from);
                self.frames(|decoder, sink| decoder.gap(origin, len, sink));
            }
            Item::Event(event) => self.event(event),
            Item::Problem(Problem { .. }) => {
                if let Item::Problem(problem) = &item {
                    self.shown.note(&problem.to_string());
                }
            }
            Item::Break(_) => {}
        }
    }

    fn header(&mut self, header: &Header) {
        self.recording = true;
        if let Some(protocol) = &header.protocol {
            self.decoder.expect(protocol);
        }
        self.shown.header(header);
    }

    fn event(&mut self, mut event: Event<'_>) {
        if !self.how.times {
            event.time = None;
        }
        if event.what == What::Lost && self.lost.replace(event.conn) != Some(event.conn) {
            let text = format!("conn {}: bytes went by unrecorded", event.conn);
            self.shown.note(&text);
        }
        if let Some((origin, len)) = event.lost() {
            self.frames(|decoder, sink| decoder.gap(origin, len, sink));
        }
        if let Some(origin) = event.end() {
            self.frames(|decoder, sink| decoder.end(origin, sink));
        }
        self.shown.event(&event);
    }

    fn frames(&mut self, run: impl FnOnce(&mut Decoder<'h>, &mut Sink<'_>)) {
        let shown = &mut self.shown;
        run(&mut self.decoder, &mut |decoded| shown.frame(decoded));
    }
}

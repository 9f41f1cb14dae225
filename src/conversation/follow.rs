//! A whole recording, followed at once.
//!
//! ```text
//!   recording ---> Input ---> Decoder ---> Conversation ---> tell(message, verdict), at the end tell(none, verdict)
//!                    '------> Summary
//! ```

use super::{Conversation, Judge, Verdict};
use crate::capture::{Form, Input, Item, Problem, Severity};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::protocol::Protocol;
use crate::protocol::session::SessionConfig;

/// How a recording could be read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Messages, with faulty ones and those of the transport.
    pub messages: u64,
    /// The protocol, named by the recording or recognised.
    pub protocol: Option<&'static str>,
    /// Bytes that no protocol recognises.
    pub undetected: usize,
    /// Lines that cannot be read, a missing end, and whatever else is to be said of the recording itself: the first 1,000.
    pub problems: Vec<Problem>,
    /// Errors among all problems.
    pub errors: u64,
}

/// Problems that a summary lists.
const LISTED: usize = 1000;

impl Summary {
    /// Whether all of the recording was read: no unreadable line, no unrecognised bytes. A torn end is no error.
    pub fn is_whole(&self) -> bool {
        self.undetected == 0 && self.errors == 0
    }
}

/// Is told of each message, and of the end, with what there is to say of it.
pub type Tell<'t, E> = dyn FnMut(Option<&Decoded<'_>>, Verdict<'_>) -> Result<(), E> + 't;

/// Follows a recording that is at hand as a whole, and tells of each message and, last, of the end. An error of `tell` ends
/// it and is returned.
///
/// ```
/// use std::convert::Infallible;
/// use wiretool::conversation::{Judge, find_rule, follow};
/// use wiretool::decoder::Options;
/// use wiretool::protocol::registry;
/// use wiretool::protocol::session::SessionConfig;
///
/// let (_, rule) = find_rule("saikuro/seq-gap").unwrap();
/// let recording = rule.example.unwrap().fires;
/// let options = Options::new(registry::all().to_vec());
/// let mut found = Vec::new();
/// let Ok(summary) = follow::<Infallible>(recording.as_bytes(), &options, &Judge::default(), SessionConfig::default(), &mut |_, verdict| {
///     found.extend(verdict.findings.iter().map(|f| format!("{}: {}", f.name(), f.text)));
///     Ok(())
/// });
/// assert!(summary.is_whole());
/// assert_eq!(found, ["saikuro/seq-gap: seq is 2, 1 should follow #1"]);
/// ```
pub fn follow<E>(
    recording: &[u8],
    options: &Options<'_>,
    judge: &Judge,
    aids: SessionConfig,
    tell: &mut Tell<'_, E>,
) -> Result<Summary, E> {
    let mut decoder = Decoder::new(options.clone());
    let mut conversation = Conversation::new(&options.protocols, judge, aids, true);
    let mut input = Input::new(Form::Recording);
    let (mut problems, mut errors) = (Vec::new(), 0);
    let mut result = Ok(());
    for part in recording.chunks(PART).map(Some).chain([None]) {
        let mut item = |item: Item<'_>| {
            if let Item::Problem(problem) = item {
                errors += u64::from(problem.severity == Severity::Error);
                if problems.len() < LISTED {
                    problems.push(problem);
                }
            } else if result.is_ok() {
                result = take(&item, &mut decoder, &mut conversation, tell);
            }
        };
        match part {
            Some(part) => input.push(part, &mut item),
            None => input.finish(&mut item),
        }
        std::mem::replace(&mut result, Ok(()))?;
    }
    decoder.try_finish(&mut |decoded| tell(Some(decoded), conversation.see(decoded)))?;
    tell(None, conversation.finish())?;
    Ok(Summary {
        messages: decoder.index(),
        protocol: conversation.protocol().map(Protocol::name),
        undetected: decoder.undetected(),
        problems,
        errors,
    })
}

/// Bytes of the recording that are read at most after an error.
const PART: usize = 1 << 20;

fn take<E>(
    item: &Item<'_>,
    decoder: &mut Decoder<'_>,
    conversation: &mut Conversation<'_>,
    tell: &mut Tell<'_, E>,
) -> Result<(), E> {
    let mut result = Ok(());
    match item {
        Item::Header(header) => {
            if let Some(protocol) = &header.protocol {
                decoder.expect(protocol);
                conversation.expect(protocol);
            }
            conversation.reached_by(header);
        }
        Item::Chunk(chunk) => {
            let origin = Origin {
                conn: Some(chunk.conn),
                direction: chunk.direction,
                time: chunk.time.and_then(|t| i64::try_from(t).ok()),
            };
            return decoder.try_push(origin, chunk.bytes, &mut |decoded| {
                tell(Some(decoded), conversation.see(decoded))
            });
        }
        Item::Event(event) => {
            let mut see = |decoded: &Decoded<'_>| {
                if result.is_ok() {
                    result = tell(Some(decoded), conversation.see(decoded));
                }
            };
            if let Some((origin, beside)) = event.fault() {
                decoder.beside(origin, beside);
            }
            if let Some((origin, len)) = event.lost() {
                decoder.gap(origin, len, &mut see);
            }
            if let Some(origin) = event.end() {
                decoder.end(origin, &mut see);
            }
            result?;
            let verdict = conversation.happened(event);
            if !verdict.findings.is_empty() {
                return tell(None, verdict);
            }
            return Ok(());
        }
        _ => {}
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::registry;
    use std::convert::Infallible;

    fn summary(recording: &str) -> Summary {
        let options = Options::new(registry::all().to_vec());
        let judge = Judge::default();
        let mut tell = |_: Option<&Decoded<'_>>, _: Verdict<'_>| Ok(());
        let Ok(summary) = follow::<Infallible>(
            recording.as_bytes(),
            &options,
            &judge,
            SessionConfig::default(),
            &mut tell,
        );
        summary
    }

    #[test]
    fn a_summary_says_what_could_not_be_read() {
        let head = "{\"wiretool\":1,\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n";
        let unreadable = summary(&format!("{head}{}", "x\n".repeat(3000)));
        assert_eq!((unreadable.errors, unreadable.is_whole()), (3000, false));
        assert_eq!(unreadable.problems.len(), LISTED);

        let chunk = "{\"t\":0,\"conn\":1,\"dir\":\"c2s\",\"text\":\"no protocol\\n\"}\n";
        let unknown = summary(&format!("{head}{chunk}"));
        assert_eq!(
            (unknown.undetected, unknown.errors, unknown.is_whole()),
            (12, 0, false)
        );
    }
}

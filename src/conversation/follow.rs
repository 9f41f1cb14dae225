//! A whole recording, followed at once.
//!
//! ```text
//!   recording ---> Input ---> Decoder ---> Conversation ---> tell(message, verdict), at the end tell(none, verdict)
//! ```

use super::{Conversation, Judge, Verdict};
use crate::capture::{Form, Input, Item};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::protocol::session::Aids;

/// Follows a recording that is at hand as a whole, and tells of each message and, last, of the end.
pub fn follow(
    recording: &[u8],
    options: &Options<'_>,
    judge: &Judge,
    aids: Aids,
    tell: &mut dyn FnMut(Option<&Decoded<'_>>, Verdict<'_>),
) {
    let mut decoder = Decoder::new(options.clone());
    let mut conversation = Conversation::new(&options.protocols, judge, aids, true);
    let mut input = Input::new(Form::Recording);
    let mut item = |item: Item<'_>| match item {
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
            decoder.push(origin, chunk.bytes, &mut |decoded| {
                let verdict = conversation.see(decoded);
                tell(Some(decoded), verdict);
            });
        }
        Item::Event(event) => {
            if let Some((origin, beside)) = event.fault() {
                decoder.beside(origin, beside);
            }
            if let Some((origin, len)) = event.lost() {
                decoder.gap(origin, len, &mut |decoded| {
                    let verdict = conversation.see(decoded);
                    tell(Some(decoded), verdict);
                });
            }
            if let Some(origin) = event.end() {
                decoder.end(origin, &mut |decoded| {
                    let verdict = conversation.see(decoded);
                    tell(Some(decoded), verdict);
                });
            }
            let verdict = conversation.happened(&event);
            if !verdict.findings.is_empty() {
                tell(None, verdict);
            }
        }
        _ => {}
    };
    input.push(recording, &mut item);
    input.finish(&mut item);
    decoder.finish(&mut |decoded| {
        let verdict = conversation.see(decoded);
        tell(Some(decoded), verdict);
    });
    tell(None, conversation.finish());
}

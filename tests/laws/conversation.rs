//! What is said of a conversation does not depend on how its bytes came, and damage never panics.

use wiretool::capture::{Form, Input, Item};
use wiretool::conversation::{Conversation, Judge, Verdict};
use wiretool::decoder::{Decoded, Decoder, Origin};
use wiretool::encoding::Want;
use wiretool::protocol::session::Aids;
use wiretool::protocol::{Protocol, registry};

use crate::common::{Setup, assert_same};

/// What is said of a recording whose chunks go through `pieces` first.
fn said(
    protocol: &dyn Protocol,
    recording: &str,
    pieces: &mut dyn FnMut(&[u8]) -> Vec<Vec<u8>>,
) -> String {
    let setup = Setup {
        protocol: registry::find(protocol.name()).map(Protocol::name),
        ..Setup::default()
    };
    let options = setup.options(Want::Places);
    let mut decoder = Decoder::new(options.clone());
    let mut conversation =
        Conversation::new(&options.protocols, &Judge::default(), Aids::default(), true);
    let mut out = String::new();
    let tell = |verdict: Verdict<'_>, out: &mut String| {
        for finding in verdict.findings {
            let (name, place) = (finding.name(), finding.place);
            out.push_str(&format!("{name} {place:?} {}\n", finding.text));
        }
        if let Some(answer) = verdict.answer {
            out.push_str(&format!("{answer:?}\n"));
        }
    };
    let mut see = |conversation: &mut Conversation<'_>, decoded: &Decoded<'_>| {
        tell(conversation.see(decoded), &mut out);
    };
    let mut input = Input::new(Form::Recording);
    let mut item = |item: Item<'_>| match item {
        Item::Chunk(chunk) => {
            let origin = Origin {
                conn: Some(chunk.conn),
                direction: chunk.direction,
                time: chunk.time.and_then(|t| i64::try_from(t).ok()),
            };
            for piece in pieces(chunk.bytes) {
                decoder.push(origin, &piece, &mut |decoded| {
                    see(&mut conversation, decoded);
                });
            }
        }
        Item::Event(event) => {
            conversation.happened(&event);
        }
        _ => {}
    };
    input.push(recording.as_bytes(), &mut item);
    input.finish(&mut item);
    decoder.finish(&mut |decoded| see(&mut conversation, decoded));
    tell(conversation.finish(), &mut out);
    for waiting in conversation.waiting() {
        out.push_str(&format!("{waiting:?}\n"));
    }
    out
}

fn examples() -> impl Iterator<Item = (&'static dyn Protocol, String, &'static str)> {
    registry::all().iter().copied().flat_map(|protocol| {
        protocol.rules().iter().flat_map(move |rule| {
            let name = format!("{}/{}", protocol.name(), rule.name);
            let both = rule.example.map(|e| [e.fires, e.passes]);
            both.into_iter()
                .flatten()
                .map(move |recording| (protocol, name.clone(), recording))
        })
    })
}

#[test]
fn any_split_says_the_same() {
    for (protocol, name, recording) in examples() {
        let whole = said(protocol, recording, &mut |bytes| vec![bytes.to_vec()]);
        let split = said(protocol, recording, &mut |bytes| {
            bytes.iter().map(|byte| vec![*byte]).collect()
        });
        assert_same(&whole, &split, || name.clone());
    }
}

#[test]
fn damage_is_survived() {
    // Every example, each chunk with one byte changed, a place that moves from example to example.
    for (n, (protocol, _, recording)) in examples().enumerate() {
        for change in 0..6 {
            let mut chunk = 0;
            said(protocol, recording, &mut |bytes| {
                chunk += 1;
                let mut copy = bytes.to_vec();
                let len = copy.len().max(1);
                if let Some(byte) = copy.get_mut((n * 31 + change * 17 + chunk * 7) % len) {
                    *byte = [0x00, 0xff, b'{', *byte ^ 1, *byte ^ 0x80, b'"'][change];
                }
                vec![copy]
            });
        }
    }
}

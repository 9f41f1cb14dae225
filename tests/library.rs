//! What a program that uses the library relies on: types that can be kept, shared between threads and printed.

use std::fmt::Debug;
use wiretool::decoder::{DecodeOptions, Decoded, Decoder, KeptMessage, Origin};
use wiretool::encoding::Parsed;
use wiretool::framing::{
    BufferFrame, BufferStep, Frame, Framer, Framing, Hints, LengthMode, Limits,
};
use wiretool::protocol::{Id, Message, Notes, ValueError, registry};
use wiretool::tape::Tape;

fn is_clone<T: Clone>() {}
fn is_debug<T: Debug>() {}
fn is_shared<T: Send + Sync>() {}

#[test]
fn values_of_messages_can_be_kept() {
    is_clone::<Tape>();
    is_clone::<Parsed>();
}

#[test]
fn readers_are_shared_between_threads() {
    is_shared::<Framer>();
    is_shared::<Decoder<'static>>();
    is_shared::<Parsed>();
    is_shared::<KeptMessage>();
}

#[cfg(feature = "rules")]
#[test]
fn runs_move_to_other_threads() {
    fn is_sent<T: Send>() {}
    is_sent::<wiretool::capture::CaptureInput>();
    is_sent::<wiretool::conversation::Conversation<'static>>();
    is_sent::<wiretool::conversation::Run<'static>>();
}

/// The frames outlive the calls, and the framer is used again while they exist.
#[test]
fn frames_are_kept_while_the_framer_goes_on() {
    let mut framer = Framer::new(
        Framing::WebSocket,
        Limits::default(),
        Hints::NONE,
        LengthMode::Auto,
        true,
    );
    // "Hello" in one frame, and in two with a mask.
    let stream = *b"\x81\x05Hello\x01\x83\0\0\0\0Hel\x80\x82\0\0\0\0lo";
    let mut kept = Vec::new();
    let mut at = 0;
    loop {
        match framer.next(&stream[at..], at as u64, true) {
            BufferStep::Frame(frame, taken) => {
                kept.push(frame);
                at += taken;
            }
            BufferStep::Took(taken) => at += taken,
            _ => break,
        }
    }
    drop(framer);
    let bodies: Vec<_> = kept.iter().map(BufferFrame::body).collect();
    assert_eq!(bodies, [b"Hello", b"Hello"]);
}

#[test]
fn messages_are_kept_with_their_values() {
    let oracle = registry::find("oracle").expect("oracle");
    let mut decoder = Decoder::new(DecodeOptions::new(vec![oracle]));
    let mut kept: Vec<KeptMessage> = Vec::new();
    let mut heads: Vec<Message<'static>> = Vec::new();
    let text = b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"shutdown\"}\nno message\n";
    decoder.push(Origin::default(), text, &mut |decoded| {
        kept.push(decoded.keep());
        heads.push(decoded.message.clone().into_owned());
    });
    drop(decoder);
    assert_eq!(heads[0].id, Id::Json("3".into()));
    let method = kept[0].root().and_then(|root| root.get("method")?.text());
    assert_eq!(method.as_deref(), Some("shutdown"));
    // As the decoder passed it: also with its fault.
    let faults =
        |one: &KeptMessage| one.with(oracle, |decoded: &Decoded<'_>| decoded.faults().count());
    assert_eq!((faults(&kept[0]), faults(&kept[1])), (0, 1));
    assert_eq!((kept[1].frame().offset, kept[1].index), (45, 1));
}

#[test]
fn errors_are_types_with_their_causes() {
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_error::<wiretool::error::DecodeError>();
    is_error::<wiretool::error::Refusal>();
    let _: fn(ValueError) -> Box<dyn std::error::Error + Send + Sync> = |error| error;
    #[cfg(feature = "capture")]
    {
        is_error::<wiretool::capture::RecordError>();
        let error = wiretool::capture::Record::parse(b"{\"t\":00}").expect_err("no record");
        assert_eq!(error.to_string(), "column 7: invalid number");
    }
    #[cfg(feature = "select")]
    is_error::<wiretool::select::PathError>();
    #[cfg(feature = "snapshot")]
    {
        use std::error::Error as _;
        let error = wiretool::snapshot::Error::Unreadable(std::io::ErrorKind::NotFound.into());
        assert!(error.source().is_some());
    }
}

#[test]
fn readers_and_messages_are_printed() {
    is_debug::<Framer>();
    is_debug::<Frame<'static>>();
    is_debug::<Decoder<'static>>();
    is_debug::<Message<'static>>();
    is_debug::<Notes>();
}

#[cfg(feature = "capture")]
#[test]
fn a_gap_is_in_the_stream_of_its_chunks() {
    use wiretool::capture::{CaptureInput, Form, Item};

    let dump = b"00000000: 0000 0001 4100 0000 0142 0000 0001 4300\n00000010: 0000 0001 4100 0000 0142 0000 0001 4300\n00000030: 0000 0001 4100 0000 0142 0000 0001 4300\n";
    let mut origins = Vec::new();
    let mut sink = |item: Item<'_>| match item {
        Item::Chunk(chunk) => origins.push(("chunk", chunk.origin())),
        Item::Gap(gap) => origins.push(("gap", gap.origin())),
        _ => {}
    };
    let mut input = CaptureInput::new(Form::Xxd);
    input.push(dump, &mut sink);
    input.finish(&mut sink);
    let names: Vec<_> = origins.iter().map(|(name, _)| *name).collect();
    assert!(
        names.contains(&"gap") && names.contains(&"chunk"),
        "{names:?}"
    );
    for (name, origin) in &origins {
        assert_eq!(origin.conn, origins[0].1.conn, "{name}");
        assert_eq!(origin.direction, origins[0].1.direction, "{name}");
    }
}

#[cfg(feature = "rules")]
#[test]
fn a_run_gives_its_direction_to_bytes_without_one() {
    use std::ops::ControlFlow;
    use wiretool::capture::{CaptureInput, Form};
    use wiretool::conversation::{Output, Run};
    use wiretool::protocol::Direction;

    let dump = b"7b 7d 0a\n> 7b 7d 0a\n< 7b 7d 0a\n";
    for (given, want) in [
        (
            None,
            [Some(Direction::ToServer), Some(Direction::ToClient), None],
        ),
        (
            Some(Direction::ToClient),
            [
                Direction::ToServer,
                Direction::ToClient,
                Direction::ToClient,
            ]
            .map(Some),
        ),
    ] {
        let options = DecodeOptions::new(vec![registry::find("oracle").unwrap()]);
        let mut run = Run::new(CaptureInput::new(Form::Hex), options, None);
        if let Some(direction) = given {
            run = run.with_direction(direction);
        }
        let mut directions = Vec::new();
        let _: ControlFlow<()> = run.read_all(dump, &mut |output: Output<'_>| {
            if let Output::Message(decoded, _) = output {
                directions.push(decoded.origin.direction);
            }
            ControlFlow::Continue(())
        });
        directions.sort();
        let mut want = want.to_vec();
        want.sort();
        assert_eq!(directions, want);
    }
}

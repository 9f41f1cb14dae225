//! A stream of a real peer reads the same without a named protocol as with it.

use crate::common::Setup;
use crate::seeds::captured;
use std::collections::BTreeSet;
use wiretool::decoder::{Decoded, Decoder, Origin};
use wiretool::encoding::Want;

/// What a stream reads as.
struct Reading {
    framings: BTreeSet<String>,
    messages: usize,
    faults: usize,
}

fn read(setup: &Setup, bytes: &[u8]) -> Reading {
    let mut reading = Reading {
        framings: BTreeSet::new(),
        messages: 0,
        faults: 0,
    };
    let mut decoder = Decoder::new(setup.options(Want::Head));
    let mut sink = |decoded: &Decoded<'_>| {
        reading
            .framings
            .insert(decoded.frame.framing.name().to_owned());
        reading.messages += 1;
        reading.faults += usize::from(decoded.is_faulty());
    };
    decoder.push(Origin::default(), bytes, &mut sink);
    decoder.finish(&mut sink);
    reading
}

/// One direction alone may fit several protocols or none. But its framing is that of its protocol, and nothing is a
/// fault that its protocol reads.
#[test]
fn detection_finds_the_framing_of_the_protocol() {
    let streams = captured(usize::MAX);
    let mut compared = 0;
    for stream in &streams {
        let found = read(&Setup::default(), &stream.bytes);
        let named = read(&Setup::of(stream.protocol), &stream.bytes);
        if found.messages == 0 {
            continue;
        }
        compared += 1;
        let name = &stream.name;
        assert!(found.faults <= named.faults, "{name}: more faults");
        // A file can hold JSON in any layout, where the peers of the protocol write lines.
        if !found.framings.contains("values") {
            assert_eq!(found.framings, named.framings, "{name}");
            assert_eq!(found.messages, named.messages, "{name}");
        }
    }
    assert!(streams.is_empty() || compared > 800, "{compared} streams");
}

#[test]
fn another_protocol_is_named_once() {
    let body = r#"{"type":"request","seq":1,"command":"next","arguments":{"threadId":1}}"#;
    let message = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    for count in [1, 3, 3000] {
        let mut decoder = Decoder::new(Setup::default().options(Want::Head));
        let bytes = message.repeat(count);
        let mut sink = |_: &Decoded<'_>| panic!("no protocol reads it");
        decoder.push(Origin::default(), bytes.as_bytes(), &mut sink);
        decoder.finish(&mut sink);
        let what = "a message of the Debug Adapter Protocol";
        assert_eq!(decoder.resembles(), Some(what), "{count} messages");
    }
}

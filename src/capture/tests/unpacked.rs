//! Messages that a program unpacked from `MessagePack` and printed.

use super::messages::CALL;
use super::*;

/// Returns the bytes of a text, and its problems.
fn read(text: &str) -> (Vec<u8>, Vec<String>) {
    let (mut bytes, mut problems) = (Vec::new(), Vec::new());
    let mut input = CaptureInput::new(Form::Auto);
    let mut sink = |item: Item<'_>| match item {
        Item::Chunk(chunk) => bytes.extend_from_slice(chunk.bytes),
        Item::Problem(problem) => problems.push(problem.to_string()),
        _ => {}
    };
    for piece in text.as_bytes().chunks(11) {
        input.push(piece, &mut sink);
    }
    input.finish(&mut sink);
    (bytes, problems)
}

/// A call with the id `00 01 fe ff .. ff`.
fn call() -> Vec<u8> {
    let mut body = b"\x85\xa7version\x01\xa4type\xa4call\xa2id\xc4\x10\0\x01\xfe".to_vec();
    body.extend([0xff; 13]);
    body.extend(b"\xa6target\xa8math.add\xa4args\x92\x02\xa1x");
    [&(body.len() as u32).to_be_bytes()[..], &body].concat()
}

#[test]
fn unpacked_messages_are_packed_again() {
    let ff = |text: &str| text.repeat(13);
    let (hex, decimal) = (ff(" ff"), ff(", 255"));
    for text in [
        // Python, on one line and on several ones, and behind the words of a log.
        format!(
            "{{'version': 1, 'type': 'call', 'id': b'\\x00\\x01\\xfe{}', 'target': 'math.add', 'args': [2, 'x']}}",
            ff("\\xff")
        ),
        format!(
            "12:00 DEBUG recv {{'version': 1,\n 'type': 'call',\n 'id': b'\\x00\\x01\\xfe'\n       b'{}',\n 'target': 'math.add',\n 'args': [2, 'x']}}",
            ff("\\xff")
        ),
        // Node
        format!(
            "{{\n  version: 1,\n  type: 'call',\n  id: <Buffer 00 01 fe{hex}>,\n  target: 'math.add',\n  args: [ 2, 'x' ]\n}}"
        ),
        format!(
            "{{\n  version: 1,\n  type: 'call',\n  id: Uint8Array(16) [\n    0, 1, 254{decimal}\n  ],\n  target: 'math.add',\n  args: [ 2, 'x' ]\n}}"
        ),
        // Ruby
        format!(
            "{{\"version\"=>1, \"type\"=>\"call\", \"id\"=>\"\\x00\\x01\\xFE{}\", \"target\"=>\"math.add\", \"args\"=>[2, \"x\"]}}",
            ff("\\xFF")
        ),
        // Elixir
        format!(
            "%{{\"version\" => 1, \"type\" => \"call\", \"id\" => <<0, 1, 254{decimal}>>, \"target\" => \"math.add\", \"args\" => [2, \"x\"]}}"
        ),
    ] {
        let (bytes, problems) = read(&format!("{text}\n{text}\n"));
        assert_eq!(bytes, call().repeat(2), "{text}{}", bytes.escape_ascii());
        let is_of_time = |note: &String| note.contains("no date");
        assert!(problems.iter().all(is_of_time), "{problems:?}");
    }
}

#[test]
fn values_that_are_no_message_are_named() {
    for text in [
        "{'a': 1, 'id': b'\\x00\\xff'}\n",
        "{ a: 1, id: <Buffer 00 ff> }\n",
        "%{\"a\" => 1, \"id\" => <<0, 255>>}\n",
    ] {
        let (bytes, problems) = read(text);
        assert!(bytes.is_empty(), "{text}");
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0].starts_with("these are decoded values"),
            "{problems:?}"
        );
    }
    // A message in JSON has no bytes, also beside such values.
    let (bytes, _) = read(&format!("12:00 send {CALL} id=b'\\xff'\n"));
    assert_eq!(bytes, format!("{CALL}\n").as_bytes());
}

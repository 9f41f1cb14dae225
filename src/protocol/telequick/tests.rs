//! Frames made by hand from the document, and their decoding.

use super::*;
use crate::encoding::Want;
use crate::framing::{Framer, LengthMode, Limits, Step};
use crate::protocol::tests::rows;
use crate::protocol::{Direction, Evidence, Remark, Role};
use crate::span::Span;

/// Returns `(offset, len, message, fault codes)` of every frame, with `step` bytes at a time.
fn frames(
    protocol: &Telequick,
    bytes: &[u8],
    framing: Framing,
    direction: Option<Direction>,
    step: usize,
) -> Vec<(u64, u64, String, Vec<&'static str>)> {
    let mode = LengthMode::Auto;
    let mut framer = Framer::new(
        framing,
        Limits::default(),
        protocol.descriptor().hints,
        mode,
        true,
    );
    let mut places = Parsed::new(Want::Places, 128);
    let mut text = Parsed::new(Want::Text, 128);
    let (mut at, mut end, mut out) = (0, step.min(bytes.len()), vec![]);
    loop {
        let eof = end == bytes.len();
        match framer.step(&bytes[at..end], at as u64, eof) {
            Step::Incomplete(need) if eof => {
                assert!(at == end, "stuck at {at}, {need:?}");
                return out;
            }
            Step::Incomplete(_) => end = (end + step).min(bytes.len()),
            Step::Took(n) => at += n,
            Step::Frame(frame, n) => {
                assert!(n > 0, "no progress");
                at += n;
                let context = Context {
                    direction,
                    ..Context::default()
                };
                let [message, reported] = [&mut places, &mut text].map(|parsed| {
                    let message = protocol.read(&frame, &context, parsed);
                    let mut reported = vec![];
                    if let Some(parsed) = message.value {
                        parsed.write_message(frame.view.bytes, &mut reported);
                    }
                    let reported = String::from_utf8(reported).unwrap();
                    (message.faults, reported)
                });
                assert_eq!(message, reported, "tape and text disagree");
                let framing = frame.fault.iter().map(|f| f.error.code);
                let codes = framing.chain(message.0.iter().map(|f| f.code));
                out.push((frame.offset, frame.len, message.1, codes.collect()));
            }
        }
    }
}

fn hex(text: &str) -> Vec<u8> {
    hex::decode(text.replace([' ', '|'], "")).unwrap()
}

/// Formats the frames of `text` in hex: message, then fault codes.
fn shown(text: &str) -> Vec<String> {
    let protocol = Telequick::builtin();
    let bytes = hex(text);
    let whole = frames(&protocol, &bytes, Framing::Method, None, usize::MAX);
    let single = frames(&protocol, &bytes, Framing::Method, None, 1);
    assert_eq!(whole, single, "split into bytes: {text}");
    let line = |(_, _, message, codes): &(u64, u64, String, Vec<&str>)| {
        format!("{message} {}", codes.join(" "))
            .trim_end()
            .replace('"', "'")
    };
    whole.iter().map(line).collect()
}

const BARGE: &str = "11000000 12fabbe5 0000 07000000 03000000 616263";

#[test]
fn the_example_of_the_document_has_one_fault() {
    let reported = "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest','version':0,'compat_version':0,'length_mode':'exclusive','fields':{'call_sid':'abc'}}";
    let inclusive = reported.replace("exclusive", "inclusive");
    assert_eq!(shown(BARGE), [reported]);
    assert_eq!(
        shown("15000000 12fabbe5 0000 07000000 03000000 616263"),
        [inclusive.as_str()]
    );
    // As printed in the document: the length cuts the envelope off, the id is wrong. One fault, nothing left over.
    let printed = "0e000000 1264b0e5 0000 07000000 03000000 616263";
    let guessed =
        "{'method_id':3853542418,'version':0,'compat_version':0,'fields':['abc']} bad-length";
    assert_eq!(shown(printed), [guessed]);
    assert_eq!(shown(&format!("{printed}{BARGE}")), [guessed, reported]);
    assert_eq!(
        shown(&format!("{BARGE}{printed}{BARGE}")),
        [
            reported,
            &guessed.replace(",'fields'", ",'length_mode':'exclusive','fields'"),
            reported
        ]
    );
    let protocol = Telequick::builtin();
    let mut framer = Framer::new(
        Framing::Method,
        Limits::default(),
        protocol.descriptor().hints,
        LengthMode::Auto,
        true,
    );
    let bytes = hex(printed);
    let Step::Frame(frame, 21) = framer.step(&bytes, 0, true) else {
        panic!("not one frame");
    };
    let error = frame.fault.unwrap().error;
    assert_eq!(
        error.to_string(),
        "length: wanted 17 for payload_size 7, or 21 if the length counts itself, got 14, which cuts off the last 3 bytes of the envelope"
    );
    assert_eq!(
        error.hint.as_deref(),
        Some(
            "the method id is wrong, too: 0xe5b06412 is unknown, and the document's misprint of Barge, 0xe5bbfa12 (bytes 12 fa bb e5)"
        )
    );
}

#[test]
fn messages_are_shown_with_their_fields() {
    for (text, want) in [
        // An answer without fields: 14 bytes.
        (
            "0a000000 12fabbe5 0000 00000000",
            "{'method':'Barge','method_id':3854301714,'struct':'Empty','version':0,'compat_version':0,'length_mode':'exclusive','fields':{}}",
        ),
        // Request and answer are both empty.
        (
            "0e000000 8fc16e9c 0000 00000000",
            "{'method':'GetActiveBuckets','method_id':2624504207,'struct':'Empty','version':0,'compat_version':0,'length_mode':'inclusive','fields':{}}",
        ),
        // A field of a newer writer after the known ones.
        (
            "13000000 12fabbe5 0100 09000000 03000000 616263 ffff",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest','version':1,'compat_version':0,'length_mode':'exclusive','fields':{'call_sid':'abc'},'tail':{'$bin':'ffff'}}",
        ),
        // Bytes after the envelope: the length no longer decides the mode.
        (
            "13000000 12fabbe5 0000 07000000 03000000 616263 ffff",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest','version':0,'compat_version':0,'fields':{'call_sid':'abc'},'after':{'$bin':'ffff'}}",
        ),
        // An older writer: fields are absent.
        (
            "19000000 2ca4fa2a 0000 0f000000 0b000000 6161616161616161616161",
            "{'method':'OriginateBulk','method_id':721069100,'struct':'BulkRequest','version':0,'compat_version':0,'length_mode':'exclusive','fields':{'csv_url':'aaaaaaaaaaa'}}",
        ),
        // A vector of structs: a plain one, one of a newer writer, one with a tail.
        (
            "37000000 7ae64145 0000 2d000000 03000000 0000 05000000 01000000 61 0100 00000000 0000 12000000 00000000 00000000 0700000000000000 eeee",
            "{'method':'GetIncomingCalls','method_id':1161946746,'struct':'GetIncomingCallsResponse','version':0,'compat_version':0,'length_mode':'exclusive','fields':{'calls':[{'call_sid':'a'},{'version':1,'compat_version':0,'fields':{}},{'version':0,'compat_version':0,'fields':{'call_sid':'','call_from':'','start_timestamp_ms':7},'tail':{'$bin':'eeee'}}]}}",
        ),
        // A legacy id, and a bool that is neither 0 nor 1.
        (
            "26000000 0f270000 0000 1c000000 01000000 63 02000000 0102 04000000 50434d55 0100000000000000 02",
            "{'method':'AudioFrame','method_id':9999,'struct':'AudioFrame','version':0,'compat_version':0,'length_mode':'exclusive','fields':{'call_sid':'c','payload':{'$bin':'0102'},'codec':'PCMU','sequence_number':1,'end_of_stream':{'$bool':2}}}",
        ),
        (
            "11000000 12fabbe5 0000 ffffffff 03000000 616263",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest','version':0,'compat_version':0,'fields':{'call_sid':'abc'}} negative-size",
        ),
        (
            "11000000 12fabbe5 0000 64000000 03000000 616263",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest','version':0,'compat_version':0,'fields':{'call_sid':'abc'}} envelope-overrun",
        ),
        (
            "11000000 12fabbe5 0000 07000000 ffffffff 616263",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest','version':0,'compat_version':0,'length_mode':'exclusive','fields':{}} string-length",
        ),
        (
            "11000000 12fabbe5 0101 07000000 03000000 616263",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest','version':1,'compat_version':1,'length_mode':'exclusive','fields':{'call_sid':'abc'}} unreadable-version",
        ),
        (
            "06000000 12fabbe5 0000",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest'} envelope-overrun",
        ),
        ("11000000 12fabb", " truncated"),
        (
            "11000000 12fabbe5 00",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest'} truncated",
        ),
        (
            "11000000 12fabbe5 0000 07000000 03000000 61",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest','version':0,'compat_version':0,'length_mode':'exclusive','fields':{}} truncated",
        ),
        (
            "03000000 12fabbe5 0000 07000000 03000000 616263",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest','version':0,'compat_version':0,'fields':{'call_sid':'abc'}} bad-length",
        ),
        (
            // The envelope states its end, which is the end of the stream.
            "ffffff7f 12fabbe5 0000 07000000 03000000 616263",
            "{'method':'Barge','method_id':3854301714,'struct':'BargeRequest','version':0,'compat_version':0,'fields':{'call_sid':'abc'}} over-limit",
        ),
        (
            "17000000 efbeadde 0000 0d000000 02000000 6869 feffffff ff0000",
            "{'method_id':3735928559,'version':0,'compat_version':0,'length_mode':'exclusive','fields':['hi',-2,{'$bin':'ff0000'}]}",
        ),
    ] {
        assert_eq!(shown(text), [want], "{text}");
    }
}

/// Passes the message of the only frame of `text` in hex.
fn with_message<T>(
    text: &str,
    framing: Framing,
    direction: Option<Direction>,
    look: impl FnOnce(&Message<'_>, Node<'_>, &Notes) -> T,
) -> T {
    let (protocol, bytes) = (Telequick::builtin(), hex(text));
    let mode = LengthMode::Auto;
    let mut framer = Framer::new(
        framing,
        Limits::default(),
        protocol.descriptor().hints,
        mode,
        true,
    );
    let Step::Frame(frame, _) = framer.step(&bytes, 0, true) else {
        panic!("no frame: {text}");
    };
    let (mut parsed, mut again) = (
        Parsed::new(Want::Places, 128),
        Parsed::new(Want::Places, 128),
    );
    let context = Context {
        direction,
        ..Context::default()
    };
    let message = protocol.read(&frame, &context, &mut parsed);
    protocol.read(&frame, &context, &mut again);
    let root = again.root(&bytes).unwrap();
    let mut notes = Notes::default();
    protocol.annotate(root, &message, &mut notes);
    look(&message, root, &notes)
}

#[test]
fn kinds_and_roles_are_recognised() {
    for [text, direction, kind, role, subject, evidence] in rows(
        r"
11000000 12fabbe5 0000 07000000 03000000 616263 | - | BargeRequest | request | Barge | Certain
0a000000 12fabbe5 0000 00000000 | - | Empty | response | Barge | Certain
0a000000 8fc16e9c 0000 00000000 | c2s | Empty | request | GetActiveBuckets | Certain
0a000000 8fc16e9c 0000 00000000 | s2c | ListBucketsResponse | response | GetActiveBuckets | Certain
25000000 f0dd47b2 0000 1b000000 00000000 02000000 0102 04000000 50434d55 0100000000000000 01 | - | AudioFrame | item | AudioFrame | Certain
0a000000 efbeadde 0000 00000000 | - | unknown | - | 0xdeadbeef | Possible
0a000000 efbeadde 0000 01000000 | - | unknown | - | 0xdeadbeef | None
0a000000 12fabbe5 0000 ffffffff | - | Empty | response | Barge | Certain
",
    ) {
        let direction = Direction::from_name(direction);
        with_message(text, Framing::Method, direction, |message, _, _| {
            let found = (&*message.kind, message.role, message.subject.as_deref());
            assert_eq!(
                found,
                (kind, Role::from_name(role), Some(subject)),
                "{text}"
            );
            assert_eq!(format!("{:?}", message.evidence), evidence, "{text}");
        });
    }
}

#[test]
fn bare_envelopes_are_recognised() {
    let text = "0000 0c000000 00000000 00000000 07000000";
    with_message(text, Framing::Bare, None, |message, root, _| {
        assert_eq!(message.kind, "ExecuteDialplanResponse");
        assert_eq!(message.role, Some(Role::Response));
        assert_eq!(message.outcome.as_deref(), Some("ERR_UNAUTHORIZED"));
        assert_eq!(message.evidence, Evidence::Possible);
        let keys: Vec<_> = root.members().filter_map(|(k, _)| k.text()).collect();
        assert_eq!(keys, ["struct", "version", "compat_version", "fields"]);
    });
    let forced = Telequick::builtin().with_struct("BucketInfo").unwrap();
    let bytes = hex("0000 09000000 01000000 62 07000000 0000 00000000 0000 0000");
    for step in [1, 3, usize::MAX] {
        let got = frames(&forced, &bytes, Framing::Bare, None, step);
        let reported: Vec<_> = got
            .iter()
            .map(|(at, len, m, f)| (*at, *len, m.replace('"', "'"), f.join(" ")))
            .collect();
        assert_eq!(
            reported,
            [
                (0, 15, "{'struct':'BucketInfo','version':0,'compat_version':0,'fields':{'bucket_id':'b','pending_count':7}}".into(), String::new()),
                (15, 6, "{'struct':'BucketInfo','version':0,'compat_version':0,'fields':{}}".into(), String::new()),
                (21, 4, "{'struct':'BucketInfo'}".into(), "truncated".into()),
            ]
        );
    }
    assert!(Telequick::builtin().with_struct("Bucket").is_none());
}

#[test]
fn every_value_has_its_position() {
    with_message(BARGE, Framing::Method, None, |message, root, _| {
        assert_eq!(message.body, Span::new(8, 21));
        for (key, span) in [
            ("method", (4, 8)),
            ("method_id", (4, 8)),
            ("struct", (4, 8)),
            ("version", (8, 9)),
            ("compat_version", (9, 10)),
            ("length_mode", (0, 4)),
            ("fields", (14, 21)),
        ] {
            let value = root.get(key).unwrap();
            assert_eq!(value.span(), Span::new(span.0, span.1), "{key}");
        }
        let sid = root.get("fields").and_then(|f| f.get("call_sid")).unwrap();
        assert_eq!(sid.span(), Span::new(14, 21));
    });
}

#[test]
fn notes_explain_numbers() {
    let on = |text: &str, path: [&str; 2]| {
        with_message(
            text,
            Framing::Method,
            Some(Direction::ToServer),
            |_, root, notes| {
                let node = root.get(path[0]).unwrap();
                let node = if path[1].is_empty() {
                    node
                } else {
                    node.get(path[1]).unwrap()
                };
                let remarks: Vec<_> = notes.remarks(node).cloned().collect();
                remarks
            },
        )
    };
    let remark = |text: &str| vec![Remark::Text(text.to_owned().into())];
    let audio = "c3000000 f0dd47b2 0000 b9000000 00000000 a0000000".to_owned()
        + &"7f".repeat(160)
        + "04000000 50434d55 0100000000000000 01";
    assert_eq!(
        on(&audio, ["fields", "payload"]),
        remark("160 bytes, 20 ms of PCMU")
    );
    assert_eq!(on(BARGE, ["method_id", ""]), remark("0xe5bbfa12"));
    assert_eq!(
        on("0a000000 0f270000 0000 00000000", ["method_id", ""]),
        remark("0x0000270f, another id of AudioFrame (0xb247ddf0)")
    );
    assert_eq!(
        on("0a000000 12fabce5 0000 00000000", ["method_id", ""]),
        remark("0xe5bcfa12, unknown: 1 byte away from Barge, 0xe5bbfa12 (bytes 12 fa bb e5)")
    );
    let supervise = "1d000000 c8b95a19 0000 13000000 00000000 00000000 00000000 03 02000000 6869";
    assert_eq!(on(supervise, ["fields", "mode"]), remark("barge"));
    let dialplan = "16000000 68f3c604 0000 0c000000 00000000 01000000 00000000";
    assert_eq!(on(dialplan, ["fields", "action"]), remark("1"));
}

#[test]
fn hostile_lengths_and_depths_are_bounded() {
    // Vectors: a negative count, a count larger than the bytes, missing elements.
    for (text, code) in [
        ("0e000000 7ae64145 0000 04000000 ffffffff", "vector-count"),
        (
            "1a000000 7ae64145 0000 10000000 ffffff7f 0000000000000000 00000000",
            "vector-count",
        ),
        (
            "1e000000 8fc16e9c 0000 14000000 03000000 0000 0a000000 02000000 6230 01000000",
            "vector-count",
        ),
        (
            "14000000 7ae64145 0000 0a000000 01000000 0000 ff000000",
            "envelope-overrun",
        ),
        (
            "14000000 7ae64145 0000 0a000000 01000000 0000 ffffffff",
            "negative-size",
        ),
        (
            "14000000 7ae64145 0000 0a000000 01000000 0001 00000000",
            "unreadable-version",
        ),
    ] {
        let protocol = Telequick::builtin();
        let direction = Some(Direction::ToClient);
        let got = frames(
            &protocol,
            &hex(text),
            Framing::Method,
            direction,
            usize::MAX,
        );
        assert_eq!(got.len(), 1, "{text}");
        assert_eq!(got[0].3, [code], "{text}");
    }
    let chain = |levels: usize| {
        let mut bytes = hex("00000000 efbeadde");
        for level in (0..levels).rev() {
            bytes.extend([0, 0]);
            bytes.extend((level as u32 * 6).to_le_bytes());
        }
        let length = (bytes.len() as u32 - 4).to_le_bytes();
        bytes.splice(0..4, length);
        bytes
    };
    for (levels, codes) in [(64, &[][..]), (65, &["too-deep"]), (10_000, &["too-deep"])] {
        let protocol = Telequick::builtin();
        let got = frames(&protocol, &chain(levels), Framing::Method, None, usize::MAX);
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].3, codes, "{levels}");
    }
}

#[test]
fn a_recursive_struct_is_read_to_a_depth() {
    let schema = Schema::parse("struct A { vector<A> kids; } stream S = 1 : A;").unwrap();
    let protocol = Telequick::new(schema);
    let nest = |levels: usize| {
        let mut body = vec![0; 6];
        for _ in 1..levels {
            let mut outer = vec![0, 0];
            outer.extend((body.len() as u32 + 4).to_le_bytes());
            outer.extend([1, 0, 0, 0]);
            outer.append(&mut body);
            body = outer;
        }
        let mut bytes = (body.len() as u32 + 4).to_le_bytes().to_vec();
        bytes.extend([1, 0, 0, 0]);
        bytes.append(&mut body);
        bytes
    };
    for (levels, codes) in [(64, &[][..]), (65, &["too-deep"]), (2000, &["too-deep"])] {
        let got = frames(&protocol, &nest(levels), Framing::Method, None, usize::MAX);
        assert_eq!(got[0].3, codes, "{levels}");
    }
}

/// A short stream with all kinds of frames.
fn stream() -> Vec<u8> {
    hex(&[
        BARGE,
        "15000000 12fabbe5 0000 07000000 03000000 616263",
        "26000000 0f270000 0000 1c000000 01000000 63 02000000 0102 04000000 50434d55 0100000000000000 00",
        "37000000 7ae64145 0000 2d000000 03000000 0000 05000000 01000000 61 0100 00000000 0000 12000000 00000000 00000000 0700000000000000 eeee",
        "17000000 efbeadde 0000 0d000000 02000000 6869 feffffff ff0000",
        "0a000000 12fabbe5 0000 00000000",
    ]
    .concat())
}

#[test]
fn damage_never_panics_and_any_split_gives_the_same_output() {
    let (protocol, good) = (Telequick::builtin(), stream());
    let read = |bytes: &[u8], framing, step| frames(&protocol, bytes, framing, None, step);
    let mut damaged: Vec<Vec<u8>> = (0..=good.len()).map(|n| good[..n].to_vec()).collect();
    for at in 0..good.len() {
        for byte in [0, 0xff, good[at] ^ 1, good[at] ^ 0x80] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            damaged.push(bytes);
        }
    }
    for bytes in &damaged {
        for framing in [Framing::Method, Framing::Bare] {
            let whole = read(bytes, framing, usize::MAX);
            assert_eq!(whole, read(bytes, framing, 1), "{bytes:02x?}");
            // Every byte belongs to a frame.
            let mut at = 0;
            for (offset, len, ..) in &whole {
                assert_eq!(*offset, at);
                at += len;
            }
            assert_eq!(at, bytes.len() as u64);
        }
    }
}

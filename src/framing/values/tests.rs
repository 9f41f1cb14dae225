//! Tests: values of any size, in pieces of any size.

use crate::framing::websocket::tests::{
    Got, damage_with, law_of_damage, law_of_splits, read, splits_with,
};
use crate::framing::{Framer, Framing, Hints, LengthMode, Limits, Step};

/// Returns the frames of a stream that arrives in pieces of `step` bytes and does not end: the end
/// of each frame, its fault, and the number of bytes received by then.
fn live(framing: Framing, stream: &[u8], step: usize) -> Vec<(u64, &'static str, usize)> {
    let (limits, hints) = (Limits::default(), Hints::default());
    let mut framer = Framer::new(framing, limits, hints, LengthMode::Auto, true);
    let (mut emitted, mut at, mut come) = (vec![], 0, 0);
    while come < stream.len() {
        come = (come + step).min(stream.len());
        loop {
            match framer.step(&stream[at..come], at as u64, false) {
                Step::Incomplete(_) | Step::Took(0) => break,
                Step::Took(n) => at += n,
                Step::Frame(frame, n) => {
                    at += n;
                    let fault = frame.fault.map_or("", |fault| fault.error.code);
                    emitted.push((frame.offset + frame.len, fault, come));
                }
            }
        }
    }
    emitted
}

fn object(size: usize) -> Vec<u8> {
    let text = r#"[1]}\""#.repeat(size / 7);
    let list = "[{},".repeat(40) + "0" + &"]".repeat(40);
    format!(r#"{{"list":{list},"text":"{text}","last":{{"n":1.5e3}}}}"#).into_bytes()
}

/// A message is emitted with its last byte, also if nothing follows.
#[test]
fn message_is_emitted_with_its_last_byte() {
    let packed = |size| {
        let mut bytes = Vec::new();
        let text = "x".repeat(size);
        let list = (0..3000).map(|n| (n * n).into()).collect();
        let value = rmpv::Value::Array(vec![text.into(), rmpv::Value::Array(list), 300.into()]);
        rmpv::encode::write_value(&mut bytes, &value).unwrap();
        bytes
    };
    for size in [10, 1_000, 70_000, 140_000, 1_000_000] {
        let json = object(size);
        let headed = [b"\x01INV".as_slice(), &json].concat();
        for (framing, message) in [
            (Framing::Values, json),
            (Framing::Values, packed(size)),
            (Framing::Header, headed),
        ] {
            let twice = [&message[..], &message].concat();
            let one = message.len();
            for step in [997, 65_536] {
                let got = live(framing, &twice, step);
                let come = |end: usize| end.next_multiple_of(step).min(2 * one);
                let want = [one, 2 * one].map(|end| (end as u64, "", come(end)));
                assert_eq!(got, want, "{framing:?} {size} {step}");
            }
        }
    }
}

/// Each byte is examined a few times, not once for each later byte: that would take hours.
#[test]
fn byte_reads_have_linear_cost() {
    const SIZE: usize = 1 << 20;
    let bad = [b"{x".to_vec(), vec![b' '; SIZE], b"\n{}".to_vec()].concat();
    assert_eq!(
        live(Framing::Values, &bad, 1),
        [
            (SIZE as u64 + 3, "", SIZE + 3),
            (SIZE as u64 + 5, "", SIZE + 5)
        ]
    );
    let spaces = [b"\x01INV".to_vec(), vec![b' '; SIZE], b"{}".to_vec()].concat();
    assert_eq!(
        live(Framing::Header, &spaces, 1),
        [(SIZE as u64 + 6, "", SIZE + 6)]
    );
    let junk = [vec![b'-'; SIZE], b"\x01HBT\x01".to_vec()].concat();
    let emitted = live(Framing::Header, &junk, 1);
    assert_eq!(emitted.len(), 17);
    assert!(emitted[..16].iter().all(|frame| frame.1 == "bad-header"));
    let large = object(SIZE);
    assert_eq!(
        live(Framing::Values, &large, 1),
        [(large.len() as u64, "", large.len())]
    );
}

#[test]
fn splits_and_damage_keep_the_laws() {
    let json = br#" {"a":["}",[]]} [1,2] {"b":"\\\""}{x
{"c":1}"#;
    let headers = b"\x01HEY{\"a\":{}}\x01HBTjunk\x01INV  {\"b\":[]}\x02BYE\x01S";
    let packed = b"\x93\x01\x02\xa1a\x81\xc0\xc4\x02\x93\x93\xc1\n\x01\xdc\x00\x02\x01";
    for (framing, stream) in [
        (Framing::Values, &json[..]),
        (Framing::Values, packed),
        (Framing::Header, headers),
    ] {
        assert!(law_of_splits(framing, stream, 1000).len() > 2);
        law_of_damage(framing, stream, 1000);
        law_of_damage(framing, stream, 12);
    }
    // A truncated header is still a header.
    let cut = law_of_splits(Framing::Header, b"\x01HEY\x01S", 1000);
    assert_eq!(cut.last().map(Got::code), Some("truncated"));
}

/// JSON is told from CBOR by its bracket; no byte of CBOR is white space.
#[test]
fn values_of_cbor_follow_one_another() {
    let framer = |limits| {
        let hints = Hints {
            is_cbor: true,
            ..Hints::NONE
        };
        Framer::new(Framing::Values, limits, hints, LengthMode::Auto, true)
    };
    let long = [b"\x9f\x5a\0\0\x10\0".as_slice(), &[0xff; 4096], b"\xff"].concat();
    let values: [&[u8]; 8] = [
        b"\xa1\x61a\x01",
        b"\x0a",
        b"\x20",
        b"\xbf\x61a\x9f\x01\xff\xff",
        &long,
        b"{\"a\":[1]}",
        b"\xc1\x7f\x61z\xff",
        b"\xf7",
    ];
    let stream = values.concat();
    let found = splits_with(&framer, &stream, 1 << 20);
    let lengths: Vec<usize> = found.iter().map(|frame| frame.len as usize).collect();
    assert_eq!(lengths, values.map(<[u8]>::len));
    assert!(
        found.iter().all(|frame| frame.code().is_empty()),
        "{found:?}"
    );
    let short = [values[0], b"\x1c\n", values[3], b"\x9f\x01"].concat();
    let codes: Vec<_> = splits_with(&framer, &short, 1000)
        .iter()
        .map(Got::code)
        .map(str::to_owned)
        .collect();
    assert_eq!(codes, ["", "", "", "truncated"]);
    damage_with(&framer, &short, 1000);
    damage_with(&framer, &stream[..40], 12);
}

/// Values that are long enough to be searched before they are measured again.
#[test]
fn splits_of_large_damaged_values_keep_the_law() {
    let mut state = 1_u64;
    let mut random = |below: usize| {
        let next = state.wrapping_mul(0x5851_f42d_4c95_7f2d);
        state = next.wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize % below
    };
    let packed = |size: usize| {
        let texts = vec![rmpv::Value::from("x".repeat(size)); 3];
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &rmpv::Value::Array(texts)).unwrap();
        bytes
    };
    for round in 0..600 {
        let size = 700 + random(3000);
        let (framing, value) = match round % 3 {
            0 => (Framing::Values, object(size)),
            1 => (Framing::Header, [b"\x01INV", &object(size)[..]].concat()),
            _ => (Framing::Values, packed(size)),
        };
        let mut bytes = value.repeat(2);
        for byte in [b'\n', b'"', b'}', 0xc1, b'x'] {
            if random(2) == 0 {
                bytes.insert(random(bytes.len()), byte);
            }
        }
        bytes.truncate(bytes.len() - random(size));
        let limit = [500, 1200, 3000, 1 << 20][random(4)];
        let whole = read(framing, &bytes, limit, usize::MAX >> 1);
        for step in [1 + random(300), 1 + random(4000)] {
            let split = read(framing, &bytes, limit, step);
            assert_eq!(whole, split, "{round}: windows that grow by {step}");
        }
    }
}

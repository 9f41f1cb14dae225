use super::{ChecksumAlgorithm as Algorithm, *};
use crate::framing::websocket::tests::{Got, damage_with, splits_with};
use crate::framing::{Framer, Limits};

const NAME: FramingName = FramingName::new("test").unwrap();
const LENGTH: usize = 1000;

fn number(name: &str) -> NumberForm {
    NumberForm::from_name(name).unwrap()
}

fn length(form: &str, range: LengthRange, plus: i64) -> FieldKind {
    let form = number(form);
    FieldKind::Length { form, range, plus }
}

fn checksum(algorithm: ChecksumAlgorithm, range: ChecksumRange, little: bool) -> Checksum {
    Checksum {
        algorithm,
        range,
        little,
    }
}

fn layout(fields: &[(&str, FieldKind)], trailer: Trailer) -> HeaderLayout {
    let field = |(name, kind): &(&str, FieldKind)| LayoutField {
        name: (*name).to_owned(),
        kind: kind.clone(),
    };
    HeaderLayout::new(NAME, fields.iter().map(field).collect(), trailer).unwrap()
}

fn no_trailer() -> Trailer {
    Trailer::default()
}

/// Layouts of all forms, each with a name.
fn layouts() -> Vec<(&'static str, HeaderLayout)> {
    let ends_with = |bytes: &[u8]| Trailer {
        delimiter: bytes.to_vec(),
        ..Trailer::default()
    };
    let sum = |algorithm, range, little, delimiter: &[u8]| Trailer {
        checksum: Some(("sum".to_owned(), checksum(algorithm, range, little))),
        delimiter: delimiter.to_vec(),
    };
    vec![
        (
            "i3",
            layout(
                &[
                    ("magic", FieldKind::Magic(b"i3-ipc".to_vec())),
                    ("length", length("u32le", LengthRange::Body, 0)),
                    ("type", FieldKind::Number(number("u32le"))),
                ],
                no_trailer(),
            ),
        ),
        (
            "varint length of all that follows, crc32",
            layout(
                &[
                    ("magic", FieldKind::Magic(b"V".to_vec())),
                    ("length", length("varint", LengthRange::AfterLength, 4)),
                    ("type", FieldKind::Number(number("varint"))),
                    ("flags", FieldKind::Bytes(3)),
                ],
                sum(Algorithm::Crc32, ChecksumRange::Frame, false, b""),
            ),
        ),
        (
            "length of the frame, checksum in the header, delimiter",
            layout(
                &[
                    (
                        "sum",
                        FieldKind::Checksum(checksum(
                            Algorithm::Adler32,
                            ChecksumRange::Frame,
                            true,
                        )),
                    ),
                    ("start", FieldKind::Magic(b"<<".to_vec())),
                    ("length", length("u24", LengthRange::Frame, -1)),
                    ("delta", FieldKind::Number(number("i16be"))),
                ],
                ends_with(b"\r\n"),
            ),
        ),
        (
            "length with itself, no magic",
            layout(
                &[("length", length("u16", LengthRange::FromLength, 0))],
                sum(Algorithm::Crc16Modbus, ChecksumRange::Body, true, b"\0"),
            ),
        ),
        (
            "delimiter alone",
            layout(
                &[
                    ("start", FieldKind::Magic(b"$".to_vec())),
                    ("kind", FieldKind::Number(number("u8"))),
                ],
                sum(Algorithm::Xor8, ChecksumRange::Body, false, b"\r\n"),
            ),
        ),
        (
            "header alone",
            layout(
                &[
                    ("start", FieldKind::Magic(b"HB".to_vec())),
                    ("n", FieldKind::Number(number("i64le"))),
                ],
                sum(Algorithm::Sum8, ChecksumRange::Frame, false, b""),
            ),
        ),
    ]
}

/// Writes a frame with values for all numbers and bytes.
fn frame(layout: &HeaderLayout, value: u64, body: &[u8]) -> Vec<u8> {
    let header = layout.header(&|name| match name {
        "delta" | "n" => Some(HeaderValue::Int(-value.cast_signed())),
        "flags" => Some(HeaderValue::Bytes(b"\x01\x02\x03")),
        _ => Some(HeaderValue::Uint(value)),
    });
    let wire = Wire {
        header: header.unwrap(),
        ..Wire::default()
    };
    let mut out = Vec::new();
    layout.write(body, &wire, &mut out);
    out
}

fn bodies(name: &str) -> Vec<Vec<u8>> {
    match name {
        "header alone" => vec![Vec::new(); 3],
        "delimiter alone" => vec![b"".to_vec(), b"a\rb\n$".to_vec(), vec![b'x'; 300]],
        _ => vec![b"".to_vec(), b"i3-ipc\0V<<".to_vec(), vec![b'y'; 300]],
    }
}

fn framer(layout: &HeaderLayout) -> impl Fn(Limits) -> Framer {
    let layout = layout.clone();
    move |limits| Framer::custom(&layout, limits, true)
}

#[test]
fn frames_are_written_and_read_in_any_split() {
    for (name, layout) in layouts() {
        let bodies = bodies(name);
        let frames: Vec<Vec<u8>> = bodies
            .iter()
            .zip(1..)
            .map(|(body, n)| frame(&layout, n, body))
            .collect();
        let found = splits_with(&framer(&layout), &frames.concat(), 1000);
        let got: Vec<(u64, &[u8], &str)> =
            found.iter().map(|f| (f.len, &*f.body, f.code())).collect();
        let want: Vec<(u64, &[u8], &str)> = frames
            .iter()
            .zip(&bodies)
            .map(|(frame, body)| (frame.len() as u64, &**body, ""))
            .collect();
        assert_eq!(got, want, "{name}");
        damage_with(
            &framer(&layout),
            &frames.concat()[..60.min(frames.concat().len())],
            1000,
        );
        damage_with(&framer(&layout), &frames[1].repeat(2), 3);
    }
}

#[test]
fn fields_have_values_and_places() {
    let mut table = String::new();
    for (name, layout) in layouts() {
        let bytes = frame(&layout, 300 % 256, b"\x01\x02");
        table += &format!("{name}: {}\n", hex::encode(&bytes));
        for field in layout.fields(&bytes) {
            let span = field.span;
            table += &format!(
                "  {}..{} {} {:?}\n",
                span.at(),
                span.end(),
                field.name,
                field.value
            );
        }
        // Fields of a part are those that are complete.
        let all: Vec<_> = layout.fields(&bytes).collect();
        for end in 0..bytes.len() {
            let part: Vec<_> = layout.fields(&bytes[..end]).map(|f| f.span).collect();
            let known: Vec<_> = all
                .iter()
                .map(|f| f.span)
                .filter(|s| s.end() <= end)
                .collect();
            assert!(known.starts_with(&part), "{name} {end}");
        }
    }
    insta::assert_snapshot!(table, @"
    i3: 69332d697063020000002c0000000102
      0..6 magic Bytes([105, 51, 45, 105, 112, 99])
      6..10 length Uint(2)
      10..14 type Uint(44)
    varint length of all that follows, crc32: 560a2c0102030102404fb024
      0..1 magic Bytes([86])
      1..2 length Uint(10)
      2..3 type Uint(44)
      3..6 flags Bytes([1, 2, 3])
      8..12 sum Uint(1078964260)
    length of the frame, checksum in the header, delimiter: 5b02c10a3c3c00000cffd401020d0a
      0..4 sum Uint(180421211)
      4..6 start Bytes([60, 60])
      6..9 length Uint(12)
      9..11 delta Int(-44)
    length with itself, no magic: 0004010281e100
      0..2 length Uint(4)
      4..6 sum Uint(57729)
    delimiter alone: 242c0102030d0a
      0..1 start Bytes([36])
      1..2 kind Uint(44)
      4..5 sum Uint(3)
    header alone: 4842d4ffffffffffffff01025a
      0..2 start Bytes([72, 66])
      2..10 n Int(-44)
      10..11 sum Uint(1)
    ");
}

/// The fault of each frame, in one line.
fn faults(layout: &HeaderLayout, bytes: &[u8]) -> Vec<String> {
    let show = |got: &Got| {
        let fault = got.fault.as_ref();
        let fault = fault
            .map(|(code, field, offset, len)| format!(" {code} {field} at {offset}, {len} bytes"));
        let control = got.control.map(|kind| format!(" {kind}"));
        let what = fault.or(control).unwrap_or_default();
        let body = match got.body.len() {
            0..=40 => format!("\"{}\"", got.body.escape_ascii()),
            many => format!("{many} bytes"),
        };
        format!("{}..{} {body}{what}", got.offset, got.offset + got.len)
    };
    splits_with(&framer(layout), bytes, LENGTH as u32)
        .iter()
        .map(show)
        .collect()
}

#[test]
fn wrong_bytes_are_faults_and_the_stream_continues() {
    let mut table = String::new();
    for (name, layout) in layouts() {
        let good = frame(
            &layout,
            7,
            if name == "header alone" { b"" } else { b"good" },
        );
        let flipped = |at: usize| {
            let mut bytes = good.clone();
            bytes[at] ^= 0x55;
            bytes
        };
        let last = good.len() - 1;
        for (what, stream) in [
            (
                "junk between",
                [&good[..], b"what is this, and what is it for?", &good].concat(),
            ),
            ("last byte", [flipped(last), good.clone()].concat()),
            ("cut", [&good[..], &good[..last]].concat()),
            ("cut in the header", [&good[..], &good[..1]].concat()),
        ] {
            table += &format!("{name}, {what}\n");
            for line in faults(&layout, &stream) {
                table += &format!("  {line}\n");
            }
        }
    }
    insta::assert_snapshot!(table, @r#"
    i3, junk between
      0..18 "good"
      18..51 "what is this, and what is it for?" bad-magic magic at 18, 1 bytes
      51..69 "good"
    i3, last byte
      0..18 "goo1"
      18..36 "good"
    i3, cut
      0..18 "good"
      18..35 "goo" truncated body at 18, 17 bytes
    i3, cut in the header
      0..18 "good"
      18..19 "" truncated header at 18, 1 bytes
    varint length of all that follows, crc32, junk between
      0..14 "good"
      14..47 "what is this, and what is it for?" bad-magic magic at 14, 1 bytes
      47..61 "good"
    varint length of all that follows, crc32, last byte
      0..14 "good" bad-checksum sum at 10, 4 bytes
      14..28 "good"
    varint length of all that follows, crc32, cut
      0..14 "good"
      14..27 "good" truncated trailer at 14, 13 bytes
    varint length of all that follows, crc32, cut in the header
      0..14 "good"
      14..15 "" truncated header at 14, 1 bytes
    length of the frame, checksum in the header, delimiter, junk between
      0..17 "good"
      17..50 "what is this, and what is it for?" bad-magic start at 17, 1 bytes
      50..67 "good"
    length of the frame, checksum in the header, delimiter, last byte
      0..17 "good" bad-length delimiter at 15, 2 bytes
      17..34 "good"
    length of the frame, checksum in the header, delimiter, cut
      0..17 "good"
      17..33 "good" truncated trailer at 17, 16 bytes
    length of the frame, checksum in the header, delimiter, cut in the header
      0..17 "good"
      17..18 "" truncated header at 17, 1 bytes
    length with itself, no magic, junk between
      0..9 "good"
      9..42 "what is this, and what is it for?" over-limit length at 9, 2 bytes
      42..51 "good"
    length with itself, no magic, last byte
      0..9 "good" bad-length delimiter at 8, 1 bytes
      9..18 "good"
    length with itself, no magic, cut
      0..9 "good"
      9..17 "good" truncated trailer at 9, 8 bytes
    length with itself, no magic, cut in the header
      0..9 "good"
      9..10 "" truncated header at 9, 1 bytes
    delimiter alone, junk between
      0..9 "good"
      9..42 "what is this, and what is it for?" bad-magic start at 9, 1 bytes
      42..51 "good"
    delimiter alone, last byte
      0..18 "good\x03\r_$\x07good" bad-checksum sum at 15, 1 bytes
    delimiter alone, cut
      0..9 "good"
      9..17 "good\x03\r" truncated body at 9, 8 bytes
    delimiter alone, cut in the header
      0..9 "good"
      9..10 "" truncated header at 9, 1 bytes
    header alone, junk between
      0..11 ""
      11..44 "what is this, and what is it for?" bad-magic start at 11, 1 bytes
      44..55 ""
    header alone, last byte
      0..11 "" bad-checksum sum at 10, 1 bytes
      11..22 ""
    header alone, cut
      0..11 ""
      11..21 "" truncated trailer at 11, 10 bytes
    header alone, cut in the header
      0..11 ""
      11..12 "" truncated header at 11, 1 bytes
    "#);
}

#[test]
fn lengths_are_limited() {
    let mut table = String::new();
    for (name, layout) in layouts() {
        let long = frame(
            &layout,
            1,
            &vec![
                b'z';
                if name == "header alone" {
                    0
                } else {
                    LENGTH + 1
                }
            ],
        );
        let good = frame(&layout, 2, b"");
        table += &format!("{name}\n");
        for line in faults(&layout, &[&good[..], &long, &good].concat()) {
            table += &format!("  {line}\n");
        }
    }
    // A length that is smaller than what it counts, and one that no memory holds.
    let layout = layout(
        &[("length", length("u64", LengthRange::Frame, 0))],
        no_trailer(),
    );
    for bytes in [[0; 8], [0xff; 8]] {
        for line in faults(&layout, &bytes) {
            table += &format!("  {line}\n");
        }
    }
    insta::assert_snapshot!(table, @r#"
    i3
      0..14 ""
      14..1029 1015 bytes over-limit length at 14, 4 bytes
      1029..1043 ""
    varint length of all that follows, crc32
      0..10 ""
      10..1022 1012 bytes over-limit length at 10, 2 bytes
      1022..1032 ""
    length of the frame, checksum in the header, delimiter
      0..13 ""
      13..1027 1014 bytes over-limit length at 13, 3 bytes
      1027..1040 ""
    length with itself, no magic
      0..5 ""
      5..1011 1006 bytes over-limit length at 5, 2 bytes
      1011..1016 ""
    delimiter alone
      0..5 ""
      5..1007 1000 bytes over-limit body at 7, 1000 bytes
      1011..1016 ""
    header alone
      0..11 ""
      11..22 ""
      22..33 ""
      0..8 "\x00\x00\x00\x00\x00\x00\x00\x00" bad-length length at 0, 8 bytes
      0..8 "\xff\xff\xff\xff\xff\xff\xff\xff" over-limit length at 0, 8 bytes
    "#);
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let (_, i3) = &layouts()[0];
    let (_, varint) = &layouts()[1];
    for (layout, field, value, want) in [
        (
            i3,
            "type",
            HeaderValue::Uint(1 << 32),
            "type: wanted an integer of 0 to 4294967295, got 4294967296",
        ),
        (
            i3,
            "type",
            HeaderValue::Int(-1),
            "type: wanted an integer of 0 to 4294967295, got -1",
        ),
        (
            i3,
            "type",
            HeaderValue::Bytes(b"ab"),
            "type: wanted an integer of 0 to 4294967295, got 2 bytes",
        ),
        (
            varint,
            "flags",
            HeaderValue::Bytes(b"ab"),
            "flags: wanted 3 bytes, got 2 bytes",
        ),
        (
            varint,
            "flags",
            HeaderValue::Uint(1),
            "flags: wanted 3 bytes, got 1",
        ),
    ] {
        let refused = layout
            .header(&|name| (name == field).then_some(value))
            .unwrap_err();
        assert_eq!(refused.to_string(), want);
    }
    assert_eq!(i3.max_body(), Some(u32::MAX.into()));
}

/// The length of an empty body would be below 0.
#[test]
fn lengths_with_a_negative_constant_are_written_back() {
    for form in ["u8", "u16", "u32le", "u64", "u64le", "i64", "varint"] {
        for range in [LengthRange::Body, LengthRange::AfterLength] {
            let layout = layout(&[("length", length(form, range, -2))], Trailer::default());
            let mut wire = Wire {
                header: layout.header(&|_| None).unwrap(),
                ..Wire::default()
            };
            let mut out = Vec::new();
            layout.0.write(b"abcde", &wire, &mut out);
            let value = number(form).read(&out).unwrap().unwrap().0.number();
            assert_eq!(value, Some(3), "{form} {range:?}: {out:?}");
            wire.header.clear();
            let mut again = Vec::new();
            layout.0.write(b"abcde", &wire, &mut again);
            assert_eq!(out, again);
        }
    }
}

#[test]
fn wrong_layouts_are_refused() {
    let field = |name: &str, kind: FieldKind| LayoutField {
        name: name.to_owned(),
        kind,
    };
    let u8 = || FieldKind::Number(number("u8"));
    let sum = checksum(ChecksumAlgorithm::Sum8, ChecksumRange::Body, false);
    let trailer = Trailer {
        checksum: Some(("sum".to_owned(), sum)),
        delimiter: Vec::new(),
    };
    for (fields, trailer, want) in [
        (
            vec![],
            no_trailer(),
            "header: wanted 1 to 64 fields, got 0 fields",
        ),
        (
            vec![field("a", u8()), field("a", u8())],
            no_trailer(),
            "a: wanted a name of its own, got the name \"a\"",
        ),
        (
            vec![field("", u8())],
            no_trailer(),
            "header: wanted a name of its own, got the name \"\"",
        ),
        (
            vec![field("m", FieldKind::Magic(vec![]))],
            no_trailer(),
            "m: wanted 1 to 1024 bytes, got 0 bytes",
        ),
        (
            vec![field("b", FieldKind::Bytes(5000))],
            no_trailer(),
            "b: wanted 1 to 1024 bytes, got 5000 bytes",
        ),
        (
            vec![
                field("b", FieldKind::Bytes(600)),
                field("c", FieldKind::Bytes(600)),
            ],
            no_trailer(),
            "header: wanted a header and a delimiter of at most 1024 bytes, got 1200 bytes",
        ),
        (
            vec![field("c", FieldKind::Checksum(sum))],
            trailer,
            "sum: wanted at most one length and one checksum, got a second one",
        ),
        (
            vec![field(
                "n",
                FieldKind::Number(NumberForm::Fixed {
                    bytes: 9,
                    signed: false,
                    little: false,
                }),
            )],
            no_trailer(),
            "n: wanted a number of 1 to 8 bytes, got 9 bytes",
        ),
    ] {
        let error = HeaderLayout::new(NAME, fields, trailer).unwrap_err();
        assert_eq!(error.to_string(), want);
    }
    for name in ["", "u", "u7", "u8x", "i", "f32", "u128", "ule"] {
        assert_eq!(NumberForm::from_name(name), None, "{name}");
    }
}

/// Each byte of a long body is searched for the delimiter once.
#[test]
fn reads_of_one_byte_have_linear_cost() {
    let (_, layout) = &layouts()[4];
    let long = frame(layout, 1, &vec![b'x'; 1 << 20]);
    let mut framer = Framer::custom(layout, Limits::default(), true);
    let mut ends = Vec::new();
    for end in 1..=long.len() {
        if let crate::framing::Step::Frame(frame, _) = framer.step(&long[..end], 0, false) {
            ends.push((end, frame.fault.is_some()));
        }
    }
    assert_eq!(ends, [(long.len(), false)]);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_the_same_in_any_split(bytes in proptest::collection::vec(0_u8..=255, 0..60), index in 0_usize..6) {
        let (_, layout) = &layouts()[index];
        let good = frame(layout, 3, b"");
        splits_with(&framer(layout), &[&good[..], &bytes, &good].concat(), 40);
    }
}

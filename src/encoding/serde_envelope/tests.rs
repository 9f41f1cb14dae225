//! Tests: every type, the fit of structs, and guesses.

use super::*;
use crate::encoding::lossless;
use crate::tape::Tape;

/// A struct `S` with these fields, and an enum of `NO` = -1 and `YES` = 1.
fn types(kinds: &[FieldType]) -> Types {
    let mut names: Vec<String> = LABELS.map(str::to_owned).to_vec();
    names.extend(["NO", "YES"].map(str::to_owned));
    let first = names.len() as u32;
    names.extend((0..kinds.len()).map(|n| format!("f{n}")));
    let fields = kinds.iter().zip(first..).map(|(kind, name)| StructField {
        name,
        kind: kind.clone(),
        since: 0,
    });
    Types {
        structs: vec![Struct {
            name: 0,
            version: 0,
            compat_version: 0,
            fields: fields.collect(),
        }],
        enums: vec![Enum {
            name: 0,
            values: vec![(-1, 4), (1, 5)],
        }],
        names: Arc::new(names.into_iter().map(KeyName::new).collect()),
        max_elements: None,
    }
}

fn shown(tape: &Tape, bytes: &[u8]) -> String {
    let mut out = vec![];
    lossless::write(tape.root(bytes).unwrap(), &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn every_type_is_read() {
    let vector = |kind| FieldType::Vector(Box::new(kind));
    for (kind, text, want) in [
        (FieldType::Bool, "01", "true"),
        (FieldType::Bool, "02", r#"{"$bool":2}"#),
        (FieldType::Int(1), "80", "-128"),
        (FieldType::Int(2), "ff7f", "32767"),
        (FieldType::Int(4), "00000080", "-2147483648"),
        (
            FieldType::Int(8),
            "0000000000000080",
            "-9223372036854775808",
        ),
        (FieldType::Uint(1), "ff", "255"),
        (FieldType::Uint(2), "0100", "1"),
        (FieldType::Uint(4), "ffffffff", "4294967295"),
        (
            FieldType::Uint(8),
            "ffffffffffffffff",
            "18446744073709551615",
        ),
        (FieldType::Double, "0000000000000080", "-0.0"),
        (
            FieldType::Double,
            "010000000000f87f",
            r#"{"$float":"7ff8000000000001"}"#,
        ),
        (FieldType::Str, "02000000c3a9", "\"é\""),
        (FieldType::Str, "01000000ff", r#"{"$str":"ff"}"#),
        (FieldType::Bytes, "0100000041", r#"{"$bin":"41"}"#),
        (FieldType::Enum(0), "ffffffff", "\"NO\""),
        (FieldType::Enum(0), "02000000", "2"),
        (
            vector(vector(FieldType::Int(1))),
            "02000000 00000000 02000000 01ff",
            "[[],[1,-1]]",
        ),
    ] {
        let bytes = hex::decode(text.replace(' ', "")).unwrap();
        let (types, span) = (types(&[kind]), Span::new(0, bytes.len()));
        let mut tape = Tape::new();
        tape.set_names(&types.names);
        let outcome = parse(&types, 0, &bytes, span, 64, &mut tape).unwrap();
        assert_eq!(outcome.end, bytes.len(), "{text}");
        assert_eq!(shown(&tape, &bytes), format!("{{\"f0\":{want}}}"), "{text}");
        for len in 1..bytes.len() {
            let cut = Span::new(0, len);
            let error = parse(&types, 0, &bytes, cut, 64, &mut Tape::new());
            assert!(error.is_err(), "{text} cut to {len}");
        }
    }
}

#[test]
fn fit_measures_structs() {
    let types = types(&[
        FieldType::Int(2),
        FieldType::Vector(Box::new(FieldType::Int(1))),
    ]);
    for (bytes, sound, complete, full, owned) in [
        (&[][..], true, false, true, 0),
        (&[1, 0], true, true, true, 2),
        (&[1, 0, 0, 0, 0, 0], true, true, true, 6),
        (&[1, 0, 0, 0, 0, 0, 9], true, true, false, 6),
        (&[1], false, true, false, 0),
        (&[1, 0, 2, 0, 0, 0, 9], false, true, false, 6),
    ] {
        let size = bytes.len() as u8;
        let body = [&[0, 0, size, 0, 0, 0], bytes].concat();
        let header = EnvelopeHeader::read(&body, Span::new(0, body.len())).unwrap();
        let got = fit(&types, 0, &body, header, 64);
        let want = Fit {
            sound,
            complete,
            full,
            owned,
        };
        assert_eq!(got, want, "{bytes:?}");
    }
}

#[test]
fn guess_reports_likely_values() {
    for (text, want) in [
        ("", "[]"),
        ("05000000", "[5]"),
        ("02000000 6869 ffffffff", r#"["hi",-1]"#),
        (
            "0201 06000000 02000000 6869",
            r#"[{"version":2,"compat_version":1,"fields":["hi"]}]"#,
        ),
        ("02000000 0100 07", r#"[2,{"$bin":"010007"}]"#),
    ] {
        let bytes = hex::decode(text.replace(' ', "")).unwrap();
        let types = types(&[]);
        let mut tape = Tape::new();
        tape.set_names(&types.names);
        guess(&types, &bytes, Span::new(0, bytes.len()), 64, &mut tape).unwrap();
        assert_eq!(shown(&tape, &bytes), want, "{text}");
    }
}

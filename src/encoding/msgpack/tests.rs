use super::*;
use crate::encoding::{Encoding, json, lossless};
use crate::tape::Tape;
use proptest::prelude::*;

/// The maximum number of JSON levels for one level of `MessagePack`,
/// `{"$as":["map32",{"$map":[[k,v]]}]}`; the innermost value can take as many again.
const LEVELS: u32 = 5;

fn tape_of_json(text: &[u8]) -> Tape {
    let mut tape = Tape::new();
    let depth = (MAX_DEPTH + 1) * LEVELS;
    json::parse(text, Span::new(0, text.len()), depth, &mut tape).unwrap();
    tape
}

fn written(text: &str) -> Result<String, String> {
    let tape = tape_of_json(text.as_bytes());
    let mut out = Vec::new();
    match write(tape.root(text.as_bytes()).unwrap(), &mut out) {
        Ok(()) => Ok(hex::encode(out)),
        Err(refusal) => Err(refusal.to_string()),
    }
}

/// Returns the value as JSON, exact or not, and the bytes written from it.
fn round(bytes: &[u8], exact: bool) -> (String, Vec<u8>) {
    let (mut tape, mut text, mut again) = (Tape::new(), Vec::new(), Vec::new());
    parse(bytes, Span::new(0, bytes.len()), MAX_DEPTH, &mut tape).unwrap();
    let root = tape.root(bytes).unwrap();
    if exact {
        lossless::write_exact(root, Encoding::MessagePack, &mut text);
    } else {
        lossless::write(root, &mut text);
    }
    let tape = tape_of_json(&text);
    write(tape.root(&text).unwrap(), &mut again).unwrap();
    (String::from_utf8(text).unwrap(), again)
}

#[track_caller]
fn check_exact(bytes: &[u8]) {
    let (text, again) = round(bytes, true);
    assert_eq!(hex::encode(&again), hex::encode(bytes), "{text}");
    // Canonical bytes need no widths, and any bytes have a canonical form.
    let (_, canonical) = round(bytes, false);
    let (text, again) = round(&canonical, true);
    assert_eq!(again, canonical, "{text}");
    assert!(!text.contains("{\"$as\":["), "{text}");
    // The tape itself reproduces the bytes too.
    let (mut tape, mut out) = (Tape::new(), Vec::new());
    parse(
        &canonical,
        Span::new(0, canonical.len()),
        MAX_DEPTH,
        &mut tape,
    )
    .unwrap();
    write(tape.root(&canonical).unwrap(), &mut out).unwrap();
    assert_eq!(out, canonical);
}

#[test]
fn output_is_canonical() {
    for (text, want) in [
        ("null", "c0"),
        ("[true,false]", "92c3c2"),
        ("127", "7f"),
        ("128", "cc80"),
        ("255", "ccff"),
        ("256", "cd0100"),
        ("65536", "ce00010000"),
        ("4294967296", "cf0000000100000000"),
        ("18446744073709551615", "cfffffffffffffffff"),
        ("-0", "00"),
        ("-1", "ff"),
        ("-32", "e0"),
        ("-33", "d0df"),
        ("-128", "d080"),
        ("-129", "d1ff7f"),
        ("-32769", "d2ffff7fff"),
        ("-2147483649", "d3ffffffff7fffffff"),
        ("-9223372036854775808", "d38000000000000000"),
        ("1.0", "cb3ff0000000000000"),
        ("-0.0", "cb8000000000000000"),
        ("1e2", "cb4059000000000000"),
        (r#"{"$float":"7fc00001"}"#, "ca7fc00001"),
        (r#"{"$float":"fff0000000000001"}"#, "cbfff0000000000001"),
        (r#""a\u00e9\ud83d\ude00\n""#, "a861c3a9f09f98800a"),
        (r#"{"$str":"FF"}"#, "a1ff"),
        (r#"{"$bin":""}"#, "c400"),
        (r#"{"$bin":"0001"}"#, "c4020001"),
        (r#"{"$ext":[-1,"00112233"]}"#, "d6ff00112233"),
        (r#"{"$ext":[5,"001122"]}"#, "c70305001122"),
        ("{}", "80"),
        (r#"{"b":1,"a":[],"b":2}"#, "83a16201a16190a16202"),
        (
            r#"{"$map":[[{"$bin":""},1],["$bin",2]]}"#,
            "82c40001a42462696e02",
        ),
        (r#"{"\u0024bin":"07"}"#, "c40107"),
        (r#"{"$as":["u8",5]}"#, "cc05"),
        (r#"{"$as":["u64",5]}"#, "cf0000000000000005"),
        (r#"{"$as":["i8",5]}"#, "d005"),
        (r#"{"$as":["i16",-1]}"#, "d1ffff"),
        (r#"{"$as":["i64",-1]}"#, "d3ffffffffffffffff"),
        (r#"{"$as":["f32",0.1]}"#, "ca3dcccccd"),
        (r#"{"$as":["f32",5]}"#, "ca40a00000"),
        (r#"{"$as":["f64",5]}"#, "cb4014000000000000"),
        (r#"{"$as":["str8","a"]}"#, "d90161"),
        (r#"{"$as":["str16",{"$str":"ff"}]}"#, "da0001ff"),
        (r#"{"$as":["str32",""]}"#, "db00000000"),
        (r#"{"$as":["bin16",{"$bin":"01"}]}"#, "c5000101"),
        (r#"{"$as":["bin32",{"$bin":""}]}"#, "c600000000"),
        (r#"{"$as":["array16",[1]]}"#, "dc000101"),
        (r#"{"$as":["array32",[]]}"#, "dd00000000"),
        (r#"{"$as":["map16",{"a":1}]}"#, "de0001a16101"),
        (r#"{"$as":["map32",{"$map":[[1,2]]}]}"#, "df000000010102"),
        (r#"{"$as":["ext8",{"$ext":[1,"ff"]}]}"#, "c70101ff"),
        (r#"{"$as":["ext32",{"$ext":[1,"ff"]}]}"#, "c90000000101ff"),
    ] {
        assert_eq!(written(text).as_deref(), Ok(want), "{text}");
    }
}

#[test]
fn invalid_values_are_refused() {
    let table: Vec<String> = [
        "18446744073709551616",
        "[-9223372036854775809]",
        "1e999",
        r#"{"a":"\ud800"}"#,
        r#"{"\udc00":1}"#,
        r#"{"$bin":"0"}"#,
        r#"{"$bin":5}"#,
        r#"{"$bin":"00","x":1}"#,
        r#"{"a":{"$foo":1}}"#,
        r#"{"x":1,"$y":2}"#,
        r#"{"$ext":[200,"00"]}"#,
        r#"{"$ext":[1]}"#,
        r#"{"$ext":[1,"0x"]}"#,
        r#"{"$float":"00"}"#,
        r#"{"$map":{"a":1}}"#,
        r#"{"$map":[[1,2],[3]]}"#,
        r#"{"$map":[[1,{"$bin":1}]]}"#,
        r#"[0,{"$as":["u7",1]}]"#,
        r#"{"$as":["u8",256]}"#,
        r#"{"$as":["u8",-1]}"#,
        r#"{"$as":["i8",128]}"#,
        r#"{"$as":["u8","x"]}"#,
        r#"{"$as":["u8",1.5]}"#,
        r#"{"$as":["str8",1]}"#,
        r#"{"$as":["map16",[]]}"#,
        r#"{"$as":["u8",{"$as":["u8",1]}]}"#,
        r#"{"$as":["f32",1e60]}"#,
        r#"{"$as":["f32",{"$float":"7ff8000000000000"}]}"#,
        r#"{"$as":["u8",null]}"#,
        r#"{"$bool":2}"#,
    ]
    .into_iter()
    .map(|text| format!("{text}  {}", written(text).unwrap_err()))
    .collect();
    insta::assert_snapshot!(table.join("\n"), @r#"
    18446744073709551616  message: wanted an integer of -2^63 to 2^64-1, got 18446744073709551616
    [-9223372036854775809]  [0]: wanted an integer of -2^63 to 2^64-1, got -9223372036854775809
    1e999  message: wanted a number that a float can hold, or {"$float":"hex bits"}, got 1e999
    {"a":"\ud800"}  a: wanted text, or {"$str":"hex"} for bytes that are not text, got half of a surrogate pair
    {"\udc00":1}  �: wanted text, or {"$str":"hex"} for bytes that are not text, got half of a surrogate pair
    {"$bin":"0"}  $bin: wanted a string of hex digits, two for each byte, got "0"
    {"$bin":5}  $bin: wanted a string of hex digits, two for each byte, got 5
    {"$bin":"00","x":1}  message: wanted a key without `$` in front, or one form alone ({"$map":[[key,value]]} holds any key), got the key "$bin"
    {"a":{"$foo":1}}  a: wanted a key without `$` in front, or one form alone ({"$map":[[key,value]]} holds any key), got the key "$foo"
    {"x":1,"$y":2}  message: wanted a key without `$` in front, or one form alone ({"$map":[[key,value]]} holds any key), got the key "$y"
    {"$ext":[200,"00"]}  $ext[0]: wanted a type of -128 to 127, got 200
    {"$ext":[1]}  $ext: wanted [type,"hex"], got [1]
    {"$ext":[1,"0x"]}  $ext[1]: wanted a string of hex digits, two for each byte, got "0x"
    {"$float":"00"}  $float: wanted 8 or 16 hex digits, got "00"
    {"$map":{"a":1}}  $map: wanted an array of pairs, got {"a":1}
    {"$map":[[1,2],[3]]}  $map[1]: wanted [key,value], got [3]
    {"$map":[[1,{"$bin":1}]]}  $map[0][1].$bin: wanted a string of hex digits, two for each byte, got 1
    [0,{"$as":["u7",1]}]  [1].$as[0]: wanted one width, of bin8 bin16 bin32 ext8 ext16 ext32 f32 f64 u8 u16 u32 u64 i8 i16 i32 i64 str8 str16 str32 array16 array32 map16 map32, got "u7"
    {"$as":["u8",256]}  $as[1]: wanted an integer of 0 to 255, as u8 asks for, got 256
    {"$as":["u8",-1]}  $as[1]: wanted an integer of 0 to 255, as u8 asks for, got -1
    {"$as":["i8",128]}  $as[1]: wanted an integer of -128 to 127, as i8 asks for, got 128
    {"$as":["u8","x"]}  $as[1]: wanted an integer, as u8 asks for, got "x"
    {"$as":["u8",1.5]}  $as[1]: wanted an integer, as u8 asks for, got 1.5
    {"$as":["str8",1]}  $as[1]: wanted a string, as str8 asks for, got 1
    {"$as":["map16",[]]}  $as[1]: wanted a map, as map16 asks for, got []
    {"$as":["u8",{"$as":["u8",1]}]}  $as[1].$as[0]: wanted one width, of bin8 bin16 bin32 ext8 ext16 ext32 f32 f64 u8 u16 u32 u64 i8 i16 i32 i64 str8 str16 str32 array16 array32 map16 map32, got "u8"
    {"$as":["f32",1e60]}  $as[1]: wanted a number that a float can hold, or {"$float":"hex bits"}, got 1e60
    {"$as":["f32",{"$float":"7ff8000000000000"}]}  $as[1]: wanted a number, as f32 asks for, got {"$float":"7ff8000000000000"}
    {"$as":["u8",null]}  $as[1]: wanted an integer, as u8 asks for, got null
    {"$bool":2}  message: wanted true or false: MessagePack has no other bools, got $bool
    "#);
    let long = format!(r#"{{"$as":["str8","{}"]}}"#, "a".repeat(256));
    let error = written(&long).unwrap_err();
    assert_eq!(
        error,
        "$as[1]: wanted a string of length 255 or less, got length 256"
    );
}

#[test]
fn depth_is_bounded() {
    let nest = |levels: u32| {
        let [open, close] = ["[", "]"].map(|s| s.repeat(levels as usize));
        written(&(open + &close))
    };
    assert!(nest(MAX_DEPTH).is_ok());
    let error = nest(MAX_DEPTH + 1).unwrap_err();
    assert!(error.ends_with("wanted at most 1000 levels of nesting, got level 1001"));
    // The longest form of the deepest value, on the stack of a normal program.
    let mut bytes = b"\xdf\0\0\0\x01\x01".repeat(MAX_DEPTH as usize);
    bytes.push(0xc0);
    let program = std::thread::Builder::new().stack_size(8 << 20);
    let run = program.spawn(move || check_exact(&bytes)).unwrap();
    run.join().unwrap();
}

/// Generates every valid encoding, of any width.
fn encodings() -> impl Strategy<Value = Vec<u8>> {
    let int = (any::<u64>(), 0..64u32).prop_map(|(value, shift)| value >> shift);
    let wide = |marker: u8, bytes: usize| {
        move |value: u64| [&[marker], &value.to_be_bytes()[8 - bytes..]].concat()
    };
    let ints: Vec<_> = (0xcc..=0xd3u8)
        .map(|marker| {
            int.clone()
                .prop_map(wide(marker, 1 << (marker & 3)))
                .boxed()
        })
        .collect();
    let floats = prop_oneof![
        any::<u32>(),
        Just(0x8000_0000),
        Just(0x7fc0_0001),
        Just(0xff80_0000)
    ]
    .prop_map(|bits| [&[0xca], &bits.to_be_bytes()[..]].concat());
    let doubles = prop_oneof![
        any::<u64>(),
        any::<i16>().prop_map(|n| f64::from(n).to_bits()),
        Just(1 << 63),
        Just(0x7ff0_0000_0000_0001),
        Just(0xfff0_0000_0000_0000),
    ]
    .prop_map(|bits| [&[0xcb], &bits.to_be_bytes()[..]].concat());
    let bytes = prop_oneof![
        "[a-c$]{0,3}".prop_map(String::into_bytes),
        ".{0,40}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..40),
        prop::collection::vec(any::<u8>(), 250..300),
    ];
    let run = |fixed: (u8, usize), markers: [u8; 3], bytes: Vec<u8>, width: usize| {
        let len = bytes.len();
        let width = if len > 255 { width.max(1) } else { width };
        let mut out = match markers.get(width) {
            None if len < fixed.1 => vec![fixed.0 | len as u8],
            Some(0) | None => [&[markers[1]], &(len as u16).to_be_bytes()[..]].concat(),
            Some(marker) => [&[*marker], &(len as u32).to_be_bytes()[4 - (1 << width)..]].concat(),
        };
        out.extend(bytes);
        out
    };
    let strings = (bytes.clone(), 0..4usize)
        .prop_map(move |(b, width)| run((0xa0, 32), [0xd9, 0xda, 0xdb], b, width));
    let bins = (bytes.clone(), 0..3usize)
        .prop_map(move |(b, width)| run((0, 0), [0xc4, 0xc5, 0xc6], b, width));
    let exts = (bytes, any::<u8>(), 0..3usize).prop_map(move |(b, kind, width)| {
        let len = b.len();
        let mut out = run((0, 0), [0xc7, 0xc8, 0xc9], b, width);
        out.insert(out.len() - len, kind);
        out
    });
    let fixed = (0..5u32, any::<u8>(), any::<[u8; 16]>())
        .prop_map(|(log, kind, bytes)| [&[0xd4 + log as u8, kind], &bytes[..1 << log]].concat());
    let short = prop_oneof![
        0..=0x7fu8,
        0xe0..=0xffu8,
        Just(0xc0),
        Just(0xc2),
        Just(0xc3)
    ];
    let leaf = prop_oneof![
        2 => short.prop_map(|byte| vec![byte]),
        2 => prop::strategy::Union::new(ints),
        1 => floats,
        1 => doubles,
        4 => strings,
        1 => bins,
        1 => exts,
        1 => fixed,
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        let list = prop::collection::vec(inner.clone(), 0..20);
        let entries = prop::collection::vec((inner.clone(), inner), 0..18);
        let head = |fixed: u8, wide: [u8; 2], len: usize, width: usize| match width {
            0 if len < 16 => vec![fixed | len as u8],
            0 | 1 => [&[wide[0]], &(len as u16).to_be_bytes()[..]].concat(),
            _ => [&[wide[1]], &(len as u32).to_be_bytes()[..]].concat(),
        };
        prop_oneof![
            (list, 0..3usize).prop_map(move |(items, width)| {
                let head = head(0x90, [0xdc, 0xdd], items.len(), width);
                [head, items.concat()].concat()
            }),
            (entries, 0..3usize).prop_map(move |(entries, width)| {
                let head = head(0x80, [0xde, 0xdf], entries.len(), width);
                let flat: Vec<_> = entries.into_iter().flat_map(|(k, v)| [k, v]).collect();
                [head, flat.concat()].concat()
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exact_is_the_identity(bytes in encodings()) {
        check_exact(&bytes);
    }

    #[test]
    fn rmpv_reads_what_is_written(bytes in encodings()) {
        let (_, canonical) = round(&bytes, false);
        let read = |mut bytes: &[u8]| rmpv::decode::read_value(&mut bytes).unwrap();
        // Two NaNs are never equal; their text is.
        let [ours, theirs] = [&canonical, &bytes].map(|b| format!("{:?}", read(b)));
        // A 32-bit float becomes the 64-bit float with the same text.
        if !ours.contains("F64") && !theirs.contains("F32") {
            prop_assert_eq!(ours, theirs);
        }
    }
}

#[test]
fn msgpack_test_suite_is_reproduced() {
    let Some(folder) = std::env::var_os("WIRETOOL_CONFORMANCE") else {
        return;
    };
    let path = std::path::Path::new(&folder).join("msgpack-test-suite.json");
    let text = std::fs::read_to_string(path).unwrap();
    let suite: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut count = 0;
    let cases = suite.as_object().unwrap().values();
    for case in cases.flat_map(|group| group.as_array().unwrap()) {
        for spelled in case["msgpack"].as_array().unwrap() {
            let bytes = hex::decode(spelled.as_str().unwrap().replace('-', "")).unwrap();
            check_exact(&bytes);
            count += 1;
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn recorded_bodies_are_reproduced() {
    let Some(folder) = std::env::var_os("WIRETOOL_CAPTURES") else {
        return;
    };
    let mut count = 0;
    for entry in std::fs::read_dir(std::path::Path::new(&folder).join("saikuro")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.extension().is_none_or(|e| e != "bin") || name.contains("-ws-") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let mut rest = &bytes[..];
        while let Some((len, after)) = rest.split_first_chunk::<4>() {
            let len = u32::from_be_bytes(*len) as usize;
            let Some(body) = after.get(..len) else {
                break;
            };
            rest = &after[len..];
            if measure(body, MAX_DEPTH).is_ok_and(|n| n == Some(len)) {
                check_exact(body);
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

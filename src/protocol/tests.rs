//! Writing and reading are inverse for every message, and tables of refused messages.

mod both_sides;
mod generated_paths;
pub(super) mod heads;
#[cfg(feature = "rules")]
mod members;
mod names;
#[cfg(feature = "rules")]
mod operations;
pub(super) mod script;
#[cfg(feature = "rules")]
pub(super) mod session_run;

use super::*;
use crate::encoding::{Encoding, Want, json, lossless};
use crate::framing::{Framer, Framing, Limits, Step};
use crate::tape::Tape;
use proptest::prelude::*;

/// Returns the protocol with this name.
pub(super) fn of(name: &str) -> &'static dyn Protocol {
    registry::find(name).expect("a protocol")
}

/// Returns the cells of each row of a table, between `|`.
pub(super) fn rows<const N: usize>(table: &str) -> impl Iterator<Item = [&str; N]> {
    let rows = table.lines().filter(|row| !row.is_empty());
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        cells.try_into().expect("a cell for each column")
    })
}

/// Returns the body that is written for a JSON message.
pub(super) fn written(
    protocol: &dyn Protocol,
    text: &str,
    options: &WriteOptions,
) -> Result<(Vec<u8>, MessageHead), String> {
    let (mut tape, mut out) = (Tape::new(), b"before".to_vec());
    let root = json::root(text.as_bytes(), 1000, &mut tape).expect("JSON");
    match protocol.write(root, options, &mut out) {
        Ok(written) => Ok((out.split_off(6), written.head)),
        Err(refusal) => {
            assert_eq!(out, b"before", "a refusal leaves nothing: {text}");
            Err(refusal.to_string())
        }
    }
}

/// Returns one line for each message: the reason why it is refused.
pub(super) fn refusals(protocol: &dyn Protocol, options: &WriteOptions, texts: &[&str]) -> String {
    assert!(texts.len() >= 20);
    let lines = texts.iter().map(|text| {
        let refusal = written(protocol, text, options).expect_err(text);
        format!("{text}\n  {refusal}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Describes a body: kind, faults, message.
fn read(
    protocol: &dyn Protocol,
    framing: Framing,
    direction: Option<Direction>,
    bytes: &[u8],
) -> (String, Vec<&'static str>, String) {
    let mode = LengthMode::Auto;
    let mut framer = Framer::new(
        framing,
        Limits::default(),
        protocol.descriptor().hints,
        mode,
        true,
    );
    let Step::Frame(frame, _) = framer.step(bytes, 0, true) else {
        panic!("no frame: {bytes:02x?}");
    };
    let mut parsed = Parsed::new(Want::Places, 128);
    let message = protocol.read(
        &frame,
        &Context {
            direction,
            ..Context::default()
        },
        &mut parsed,
    );
    let (mut text, value) = (Vec::new(), message.value.expect("a value"));
    let body = message.body.of(bytes);
    match body.first() {
        _ if protocol.name() == "telequick" => value.write_message(bytes, &mut text),
        Some(0x80..) => {
            let root = value.root(bytes).expect("a value");
            lossless::write_exact(root, Encoding::MessagePack, &mut text);
        }
        _ => text.extend_from_slice(body),
    }
    let framing = frame.fault.iter().map(|f| f.error.code);
    let faults = framing.chain(message.faults.iter().map(|f| f.code));
    let faults = faults.collect();
    (
        message.kind.into_owned(),
        faults,
        String::from_utf8(text).expect("UTF-8"),
    )
}

/// Writes, reads and writes a message again: the bytes are equal, the kind is known, there are no faults.
fn assert_round_trip(
    protocol: &dyn Protocol,
    framing: Framing,
    text: &str,
    options: &WriteOptions,
) -> Result<(), TestCaseError> {
    let first = written(protocol, text, options);
    prop_assert!(first.is_ok(), "{}: {:?}", text, first);
    let (body, head) = first.unwrap_or_default();
    let bytes = match head.method_id {
        Some(id) => framed(&body, id, head.length_mode),
        None => body.clone(),
    };
    let (kind, faults, decoded) = read(protocol, framing, options.direction, &bytes);
    prop_assert!(faults.is_empty(), "{}: {:?}", text, faults);
    let known = protocol.kinds().iter().any(|k| k.name == kind);
    prop_assert!(known && kind != "unknown", "{}: {}", text, kind);
    let again = written(protocol, &decoded, options).map(|(body, head)| (body, head.method_id));
    prop_assert_eq!(again, Ok((body, head.method_id)), "{}", decoded);
    Ok(())
}

fn framed(body: &[u8], id: u32, mode: Option<LengthMode>) -> Vec<u8> {
    let own = if mode == Some(LengthMode::Inclusive) {
        8
    } else {
        4
    };
    let length = (body.len() as u32 + own).to_le_bytes();
    [&length, &id.to_le_bytes(), body].concat()
}

/// JSON values as text; `lossless` adds the forms that only `MessagePack` has.
fn values(lossless: bool) -> BoxedStrategy<String> {
    let plain = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<i16>().prop_map(|n| format!("{n}.5")),
        Just("-0.0".to_owned()),
        texts(),
    ];
    let forms = prop_oneof![
        Just(r#"{"$bin":"00ff"}"#.to_owned()),
        Just(r#"{"$str":"ff"}"#.to_owned()),
        Just(r#"{"$ext":[-3,"0102"]}"#.to_owned()),
        Just(r#"{"$float":"7ff8000000000001"}"#.to_owned()),
        Just(r#"{"$map":[[1,2],[null,[]],["$x",{}]]}"#.to_owned()),
        Just(r#"{"$as":["u32",5]}"#.to_owned()),
        Just(r#"{"$as":["f32",0.1]}"#.to_owned()),
    ];
    let leaf = if lossless {
        prop_oneof![4 => plain, 1 => forms].boxed()
    } else {
        plain.boxed()
    };
    leaf.prop_recursive(3, 16, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        let map = prop::collection::btree_map("[a-z]{1,6}", inner, 0..4);
        prop_oneof![list.prop_map(|items| array(&items)), map.prop_map(object)]
    })
    .boxed()
}

fn array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

fn object(members: impl IntoIterator<Item = (String, String)>) -> String {
    let members = members.into_iter().map(|(k, v)| format!("\"{k}\":{v}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn objects(lossless: bool) -> BoxedStrategy<String> {
    prop::collection::btree_map("[a-z]{1,6}", values(lossless), 0..4)
        .prop_map(object)
        .boxed()
}

fn arrays(lossless: bool) -> BoxedStrategy<String> {
    prop::collection::vec(values(lossless), 0..4)
        .prop_map(|items| array(&items))
        .boxed()
}

fn texts() -> BoxedStrategy<String> {
    ".{0,20}"
        .prop_map(|text| {
            let mut out = Vec::new();
            json::write_str(&text, &mut out);
            String::from_utf8(out).expect("UTF-8")
        })
        .boxed()
}

/// A message from a template: `<A>` an array, `<O>` an object, `<V>` a value, `<T>` text, `<N>` a number, `<F>` felts.
fn filled(templates: &'static [&'static str], lossless: bool) -> BoxedStrategy<String> {
    let felts = prop::collection::vec("0x[1-9a-f][0-9a-f]{0,20}", 0..4).prop_map(|felts| {
        let felts: Vec<_> = felts.iter().map(|f| format!("\"{f}\"")).collect();
        array(&felts)
    });
    (
        prop::sample::select(templates),
        arrays(lossless),
        objects(lossless),
        values(lossless),
        texts(),
        (1u64..1 << 53).prop_map(|n| n.to_string()),
        felts,
    )
        .prop_map(|(template, a, o, v, t, n, f)| {
            let places = [("A", a), ("O", o), ("V", v), ("T", t), ("N", n), ("F", f)];
            places
                .iter()
                .fold(template.to_owned(), |text, (name, value)| {
                    text.replace(&format!("<{name}>"), value)
                })
        })
        .boxed()
}

const SAIKURO: &[&str] = &[
    r#"{"version":1,"type":"call","id":<T>,"target":"a.b","args":<A>}"#,
    r#"{"version":1,"type":"cast","id":{"$bin":"000102030405060708090a0b0c0d0e0f"},"target":"a.b.c","args":<A>,"meta":<O>,"cap":<T>}"#,
    r#"{"version":1,"type":"resource","id":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255],"target":"a.b","capability":null}"#,
    r#"{"version":1,"type":"batch","id":<T>,"batch_items":[{"version":1,"type":"call","id":<T>,"target":"a.b","args":<A>}]}"#,
    r#"{"version":1,"type":"channel","id":<T>,"target":"","args":<A>,"stream_control":"end","seq":<N>}"#,
    r#"{"version":1,"type":"log","id":<T>,"target":"$log","args":[<O>]}"#,
    r#"{"version":1,"type":"announce","id":<T>,"target":"$saikuro.announce","args":[<O>]}"#,
    r#"{"type":"announce","namespace":<T>,"schema":<O>}"#,
    r#"{"type":"announce_ack","namespace":<T>,"ok":true}"#,
    r#"[1,"call",<T>,"a.b",<A>,null,null,null,null,null]"#,
    r#"{"$map":[["version",1],["type","call"],["id",<T>],["target","a.b"],["args",<A>],[5,<V>]]}"#,
    r#"{"id":<T>,"ok":true,"result":<V>}"#,
    r#"{"id":<T>,"ok":true,"result":<V>,"seq":<N>}"#,
    r#"{"id":<T>,"ok":false,"error":{"code":<T>,"message":<T>,"details":<O>}}"#,
    r#"{"id":<T>,"ok":false,"seq":<N>,"stream_control":"abort"}"#,
    r#"{"id":<T>,"ok":false,"results":[{"id":<T>,"ok":true,"result":<V>}]}"#,
    r#"{"id":<T>,"seq":<N>,"data":<V>}"#,
    r#"{"id":<T>,"seq":<N>,"end":true}"#,
    r#"{"id":<T>,"close":true}"#,
];

const ORACLE: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":<T>,"method":"ready"}"#,
    r#"{"jsonrpc":"2.0", "id":<N>, "method":"ready","params":<O>}"#,
    r#"{"jsonrpc":"2.0","id":<N>,"method":"invoke","params":{"selector":<T>,"calldata":<F>}}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"invoke","params":[<T>,<F>]}"#,
    r#"{"jsonrpc":"2.0","method":"shutdown"}"#,
    r#"{"jsonrpc":"2.0","id":<N>,"result":<F>,"more":<V>}"#,
    r#"{"jsonrpc":"2.0","id":<N>,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":<T>,"error":{"code":<N>,"message":<T>,"data":<V>}}"#,
];

const SAEL: &[&str] = &[
    r#"{"v":1,"kind":"HEY","agent":{"id":<T>,"kind":<T>},"supports":<A>,"auth":{"type":"bearer","token":<T>}}"#,
    r#"{"kind":"HEY","server":{"id":<T>},"session_id":<T>,"tools":<N>}"#,
    r#"{"kind":"HEY","resumed":true,"session_id":<T>,"replayed":<N>}"#,
    r#"{"kind":"RSM","session_id":<T>,"last_seq_received":<N>}"#,
    r#"{"kind":"LST","seq":<N>,"tools":<A>}"#,
    r#"{"kind":"INV","seq":<N>,"tool":<T>,"input":<O>,"trace_id":<T>}"#,
    r#"{"kind":"INV","seq":<N>,"pipeline":[{"tool":<T>,"input":<O>},{"filter":<T>},{"map":<A>},{"parallel":[[{"reduce":<V>}]]}]}"#,
    r#"{"kind":"SUB","seq":<N>,"topic":<T>,"filter":<O>}"#,
    r#"{"kind":"UNS","seq":<N>}"#,
    r#"{"kind":"ACK","more":<V>}"#,
    r#"{"kind":"HBT","ts":<N>}"#,
    r#"{"kind":"BYE"}"#,
    r#"{"kind":"RES","seq":<N>,"output":<V>,"cost":<O>}"#,
    r#"{"kind":"RES","seq":<N>,"subscriptionId":<N>}"#,
    r#"{"kind":"STR","seq":<N>,"data":<V>}"#,
    r#"{"kind":"STR","seq":<N>,"delta":<V>}"#,
    r#"{"kind":"END","seq":<N>}"#,
    r#"{"kind":"ERR","seq":0,"code":<T>,"message":<T>,"stage":<N>}"#,
    r#"{"kind":"EVT","seq":<N>,"data":<V>}"#,
    r#"{"kind":"WIN","window":<N>}"#,
    r#"{"kind":"HBA","ts":<V>}"#,
];

const STEPFLOW: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":<T>,"method":"initialize","params":{"runtime_protocol_version":<N>}}"#,
    r#"{"jsonrpc":"2.0","id":<T>,"method":"initialize","params":{"runtimeProtocolVersion":1,"capabilities":<O>}}"#,
    r#"{"method":"initialized","params":{},"jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":<N>,"method":"components/list","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":<T>,"method":"components/execute","params":{"component":<T>,"input":<V>,"attempt":1}}"#,
    r#"{"jsonrpc":"2.0","id":<T>,"method":"components/execute","params":{"component":{"name":<T>},"input":<V>}}"#,
    r#"{"jsonrpc":"2.0","id":<T>,"method":"blobs/put","params":{"data":<V>,"blob_type":"data"}}"#,
    r#"{"jsonrpc":"2.0","id":<T>,"method":"runs/submit","params":{"flowId":<T>,"inputs":<A>}}"#,
    r#"{"jsonrpc":"2.0","id":<T>,"result":<V>}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":<T>,"data":<V>}}"#,
    r#"{"port":8080}"#,
];

/// The fields of a struct as JSON, with random values.
fn fields(schema: &telequick::Schema, layout: u32, random: &mut fastrand::Rng) -> String {
    use crate::encoding::serde_envelope::FieldType;
    fn value(schema: &telequick::Schema, kind: &FieldType, random: &mut fastrand::Rng) -> String {
        let pick = |random: &mut fastrand::Rng, texts: &[&str]| {
            texts[random.usize(..texts.len())].to_owned()
        };
        match kind {
            FieldType::Bool => pick(random, &["true", "false", r#"{"$bool":7}"#]),
            FieldType::Int(width) => (random.i64(..) >> (64 - 8 * width)).to_string(),
            FieldType::Uint(width) => (random.u64(..) >> (64 - 8 * width)).to_string(),
            FieldType::Double => pick(
                random,
                &["1.5", "-0.0", "3", r#"{"$float":"7ff8000000000002"}"#],
            ),
            FieldType::Str => pick(random, &[r#""""#, r#""a\né""#, r#"{"$str":"ff00"}"#]),
            FieldType::Bytes => pick(random, &[r#"{"$bin":""}"#, r#"{"$bin":"00ff80"}"#]),
            FieldType::Enum(id) => {
                let values = &schema.types.enums[*id as usize].values;
                let (number, name) = values[random.usize(..values.len())];
                match random.u8(..3) {
                    0 => number.to_string(),
                    1 => random.i32(..).to_string(),
                    _ => format!("\"{}\"", schema.types.name(name)),
                }
            }
            FieldType::Vector(element) => {
                let items: Vec<_> = (0..random.usize(..3))
                    .map(|_| value(schema, element, random))
                    .collect();
                array(&items)
            }
            FieldType::Struct(id) if random.bool() => fields(schema, *id, random),
            FieldType::Struct(id) => {
                let fields = fields(schema, *id, random);
                format!(
                    r#"{{"version":{},"compat_version":0,"fields":{fields}}}"#,
                    random.u8(..)
                )
            }
        }
    }
    let described = &schema.types.structs[layout as usize].fields;
    let most = if random.bool() {
        described.len()
    } else {
        random.usize(..=described.len())
    };
    let members = described.iter().take(most).map(|field| {
        let name = schema.types.name(field.name).to_owned();
        (name, value(schema, &field.kind, random))
    });
    object(members.collect::<Vec<_>>())
}

fn telequick_message(seed: u64) -> (String, WriteOptions) {
    let schema = telequick::Schema::builtin();
    let mut random = fastrand::Rng::with_seed(seed);
    let method = &schema.methods[random.usize(..schema.methods.len())];
    let (layout, direction) = match method.input {
        Some(input) if random.bool() => (input, Direction::ToServer),
        _ => (method.output, Direction::ToClient),
    };
    let named = match random.u8(..3) {
        0 => format!(r#""method":"{}""#, schema.types.name(method.name)),
        1 => format!(r#""method_id":{}"#, method.id),
        _ => format!(
            r#""method_id":{},"struct":"{}""#,
            method.id,
            schema.struct_name(layout)
        ),
    };
    let mode = [
        "",
        r#","length_mode":"exclusive""#,
        r#","length_mode":"inclusive""#,
    ];
    let mode = mode[random.usize(..3)];
    let versions = ["", r#","version":0"#, r#","version":3,"compat_version":0"#];
    let versions = versions[random.usize(..3)];
    let fields = fields(schema, layout, &mut random);
    let text = format!(r#"{{{named}{versions}{mode},"fields":{fields}}}"#);
    let options = WriteOptions {
        direction: Some(direction),
        ..WriteOptions::default()
    };
    (text, options)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn saikuro_messages_round_trip(text in filled(SAIKURO, true)) {
        assert_round_trip(of("saikuro"), Framing::Message, &text, &WriteOptions::default())?;
    }

    #[test]
    fn oracle_messages_round_trip(text in filled(ORACLE, false)) {
        assert_round_trip(of("oracle"), Framing::Message, &text, &WriteOptions::default())?;
        let body = written(of("oracle"), &text, &WriteOptions::default()).unwrap().0;
        prop_assert_eq!(body, text.into_bytes());
    }

    #[test]
    fn sael_messages_round_trip(json in filled(SAEL, false), packed in filled(SAEL, true)) {
        for (text, form) in [(&json, MessageForm::Json), (&packed, MessageForm::MessagePack)] {
            let options = WriteOptions { form, ..WriteOptions::default() };
            assert_round_trip(of("sael"), Framing::Message, text, &options)?;
        }
        let kind = json.split("\"kind\":\"").nth(1).unwrap().as_bytes();
        let kind = *kind.first_chunk::<3>().unwrap();
        let form = MessageForm::Header { version: 1, kind, packed: false };
        let options = WriteOptions { form, ..WriteOptions::default() };
        assert_round_trip(of("sael"), Framing::Message, &json, &options)?;
    }

    #[test]
    fn stepflow_messages_round_trip(text in filled(STEPFLOW, false)) {
        assert_round_trip(of("stepflow"), Framing::Message, &text, &WriteOptions::default())?;
    }

    #[test]
    fn telequick_messages_round_trip(seed in any::<u64>()) {
        let (text, options) = telequick_message(seed);
        assert_round_trip(of("telequick"), Framing::Method, &text, &options)?;
    }
}

#[test]
fn force_writes_messages_that_are_not_of_the_protocol() {
    let force = WriteOptions {
        force: true,
        ..WriteOptions::default()
    };
    for (name, text, want) in [
        ("oracle", "[1, 2]", "5b312c20325d"),
        ("oracle", "{\"a\":\n1}", "7b2261223a20317d"),
        ("sael", "{}", "7b7d"),
        ("stepflow", "5", "35"),
        ("saikuro", r#"{"x":{"$as":["u16",1]}}"#, "81a178cd0001"),
        (
            "telequick",
            r#"{"method":"Barge","struct":"Empty","x":1,"fields":{}}"#,
            "000000000000",
        ),
    ] {
        let protocol = of(name);
        let (body, _) = written(protocol, text, &force).unwrap();
        assert_eq!(hex::encode(body), want, "{name} {text}");
    }
    let saikuro = of("saikuro");
    assert!(written(saikuro, r#"{"$x":1,"y":2}"#, &force).is_err());
}

//! Encoding and decoding by table and with random values; refused values and their errors.

use super::*;
use crate::encoding::json;
use crate::protocol::oracle::felt::Felt;
use crate::protocol::tests::rows;
use crate::tape::Tape;
use num_bigint::BigInt;
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;

fn felts_of(ty: &CairoType, text: &str, dialect: CairoDialect) -> Result<Vec<Felt>, SerdeError> {
    let mut tape = Tape::new();
    let root = json::root(text.as_bytes(), 512, &mut tape).unwrap();
    encode(ty, root, dialect)
}

fn felts(text: &str) -> Vec<Felt> {
    let felts = text.split_ascii_whitespace();
    felts.map(|t| Felt::read(t).unwrap()).collect()
}

/// Parses a type, or the name of one below.
fn parse(ty: &str) -> CairoType {
    let text = match ty {
        "POINT" => POINT,
        "SHAPE" => SHAPE,
        text => text,
    };
    CairoType::parse(text).unwrap()
}

/// Describes the result of decoding: the value or the error, and the remaining felts.
fn decoded(ty: &str, text: &str, dialect: CairoDialect) -> String {
    let felts = felts(text);
    match decode(&parse(ty), &felts, dialect) {
        Ok((value, used)) if used < felts.len() => {
            format!("{value} and {} left over", felts.len() - used)
        }
        Ok((value, _)) => value,
        Err(error) => error.to_string(),
    }
}

fn encoded(ty: &str, value: &str, dialect: CairoDialect) -> String {
    match felts_of(&parse(ty), value, dialect) {
        Ok(felts) => {
            let felts: Vec<String> = felts.iter().map(Felt::to_hex).collect();
            felts.join(" ")
        }
        Err(error) => error.to_string(),
    }
}

const POINT: &str = "struct Point { x: u8, pub y: i8, }; Array<Point>";
const SHAPE: &str = "enum Shape { Dot, Circle: u64, Rect: (u32, u32) }";

#[test]
fn values_are_encoded_and_decoded() {
    for [ty, text, value] in rows(
        r#"
felt252 | 0x10 | "0x10"
core::felt252 | -1 | "0x800000000000011000000000000000000000000000000000000000000000000"
core::integer::u8 | 0xff | 255
usize | 0xffffffff | 4294967295
u128 | 0xffffffffffffffffffffffffffffffff | 340282366920938463463374607431768211455
i8 | -128 | -128
i128 | 0x7fffffffffffffffffffffffffffffff | 170141183460469231731687303715884105727
bool | 0x1 | true
u256 | 0x1 0x2 | 680564733841876926926749214863536422913
u512 | 0x1 0x0 0x0 0x1 | 39402006196394479212279040100143613805079739270465446667948293404245721771497210611414266254884915640806627990306817
bytes31 | 0x1 | "0x1"
EthAddress | 0xffffffffffffffffffffffffffffffffffffffff | "0xffffffffffffffffffffffffffffffffffffffff"
NonZero<u256> | 0x0 0x1 | 340282366920938463463374607431768211456
shortstring | 0x68656c6c6f | "hello"
shortstring | 0x0 | ""
() |  | []
(u8) | 0x1 | 1
(u8,) | 0x1 | [1]
(u8, ((), bool)) | 0x1 0x0 | [1,[[],false]]
[u16; 2] | 0x1 0x2 | [1,2]
Span<u256> | 0x1 0x1 0x0 | [1]
core::array::Array::<core::integer::u8> | 0x2 0x1 0x0 | [1,0]
@Array<Option<felt252>> | 0x2 0x0 0x5 0x1 | [{"Some":"0x5"},"None"]
Option<Option<()>> | 0x0 0x0 | {"Some":"Some"}
Option<Array<u8>> | 0x0 0x0 | {"Some":[]}
Result<u8, ByteArray> | 0x1 0x0 0x6e6f 0x2 | {"Err":"no"}
ByteArray | 0x0 0x0 0x0 | ""
ByteArray | 0x0 0xff 0x1 | {"$str":"ff"}
ByteArray | 0x0 0x22 0x3 | "\u0000\u0000\""
POINT | 0x2 0x1 -2 0x3 0x4 | [{"x":1,"y":-2},{"x":3,"y":4}]
SHAPE | 0x0 | "Dot"
SHAPE | 0x2 0x3 0x4 | {"Rect":[3,4]}
struct A{a:u8} struct B{a:A,b:A}; enum C{X:B,Y}; (B, C,) | 0x1 0x2 0x1 | [{"a":{"a":1},"b":{"a":2}},"Y"]
"#,
    ) {
        let felts: Vec<String> = felts(text).iter().map(Felt::to_hex).collect();
        assert_eq!(
            decoded(ty, text, CairoDialect::Cairo),
            value,
            "{ty} of {text}"
        );
        assert_eq!(
            encoded(ty, value, CairoDialect::Cairo),
            felts.join(" "),
            "{ty} from {value}"
        );
    }
}

#[test]
fn dialects_differ() {
    for [ty, text, cairo, sdk] in rows(
        r#"
[u8; 3] | 3 1 2 3 | [3,1,2] and 1 left over | [1,2,3]
[u8; 3] | 1 2 3 | [1,2,3] | felt 0: [u8; 3]: wanted the length 3, as the SDK writes it, got 1
bool | 2 | true | felt 0: bool: wanted 0 or 1, got 2
ByteArray | 0 0x6869 1 | felt 1: ByteArray: wanted a pending word within its length, 1, got 0x6869 | "i"
ByteArray | 0x0 0x12345678901234567890123456789012345678901234567890123456789012 0x1f | felt 2: ByteArray: wanted a pending length of 0 to 30, got 0x1f (31) | {"$str":"12345678901234567890123456789012345678901234567890123456789012"}
ByteArray | 0 0 33 | felt 2: ByteArray: wanted a pending length of 0 to 30, got 0x21 (33) | felt 2: ByteArray: wanted a pending length of 0 to 32, got 0x21 (33)
"#,
    ) {
        assert_eq!(
            decoded(ty, text, CairoDialect::Cairo),
            cairo,
            "{ty} of {text}"
        );
        assert_eq!(decoded(ty, text, CairoDialect::Sdk), sdk, "{ty} of {text}");
    }
    assert_eq!(
        encoded("[u8; 2]", "[7, 8]", CairoDialect::Sdk),
        "0x2 0x7 0x8"
    );
    assert_eq!(encoded("[u8; 0]", "[]", CairoDialect::Sdk), "0x0");
}

#[test]
fn felts_that_do_not_fit_are_refused() {
    for [ty, text, error] in rows(
        r"
u8 | 256 | felt 0: u8: wanted 0 to 255, got 0x100 (256)
u64 | -1 | felt 0: u64: wanted 0 to 2^64 - 1, got 0x800000000000011000000000000000000000000000000000000000000000000 (-1)
i8 | 128 | felt 0: i8: wanted -128 to 127, got 0x80 (128)
i128 | 0x80000000000000000000000000000000 | felt 0: i128: wanted -2^127 to 2^127 - 1, got 0x80000000000000000000000000000000 (170141183460469231731687303715884105728)
u8 |  | felt 0: u8: wanted a felt, got the end of them
u256 | 1 | felt 1: u256: wanted a felt, got the end of them
(u8, u256) | 1 2 0x100000000000000000000000000000000 | felt 2: [1]: u256: wanted limb 1 below 2^128, got 0x100000000000000000000000000000000
NonZero<u8> | 0 | felt 0: NonZero<u8>: wanted anything but 0, got 0
NonZero<felt252> | 0 | felt 0: NonZero<felt252>: wanted anything but 0, got 0
EthAddress | 0x10000000000000000000000000000000000000000 | felt 0: EthAddress: wanted below 2^160, got 0x10000000000000000000000000000000000000000
ClassHash | -1 | felt 0: ClassHash: wanted below 2^251, got 0x800000000000011000000000000000000000000000000000000000000000000 (-1)
shortstring | 0xff | felt 0: shortstring: wanted at most 31 ASCII characters, got 0xff
Option<u8> | 2 | felt 0: Option<u8>: wanted a variant: 0 Some, 1 None, got 2
Result<u8, u8> | 0 256 | felt 1: Ok: u8: wanted 0 to 255, got 0x100 (256)
POINT | 1 5 200 | felt 2: [0].y: i8: wanted -128 to 127, got 0xc8 (200)
Array<Array<u8>> | 2 1 7 2 1 | felt 3: [1]: Array<u8>: wanted at least 2 felts for the length 2, got 1 felt
ByteArray | 0 1 | felt 0: ByteArray: wanted at least 2 felts for the length 0, got 1 felt
ByteArray | 1 0x100000000000000000000000000000000000000000000000000000000000000 0 0 | felt 1: ByteArray: wanted a word of 31 bytes, got 0x100000000000000000000000000000000000000000000000000000000000000
enum Never {} | 0 | felt 0: Never: wanted a variant: , got 0
",
    ) {
        assert_eq!(
            decoded(ty, text, CairoDialect::Cairo),
            error,
            "{ty} of {text}"
        );
    }
}

#[test]
fn hostile_lengths_allocate_nothing() {
    for length in [
        "0xffffffff",
        "0xffffffffffffffff",
        "0x10000000000000000",
        "-1",
    ] {
        for ty in [
            "Array<u8>",
            "Span<u512>",
            "ByteArray",
            "Array<()>",
            "Array<[(); 9]>",
        ] {
            let output = decoded(ty, &format!("{length} 0 0"), CairoDialect::Cairo);
            assert!(
                output.starts_with("felt ") && output.contains("wanted"),
                "{ty}: {output}"
            );
        }
    }
    // The type decides the number of values, and no felt bounds them.
    let many = "[[[(); 4000000000]; 4000000000]; 4000000000]";
    let mut deep = "struct S0 { a: (), b: () }".to_owned();
    for i in 1..60 {
        deep += &format!("struct S{i} {{ a: S{}, b: S{} }}", i - 1, i - 1);
    }
    for ty in [many, deep.as_str()] {
        let output = decoded(ty, "", CairoDialect::Cairo);
        assert!(
            output.contains("at most 65536 values that take no felt"),
            "{output}"
        );
    }
    let wide = deep.replace("()", "u512");
    assert!(decoded(&wide, "1 2", CairoDialect::Cairo).contains("got the end of them"));
    assert_eq!(decoded("Array<()>", "3", CairoDialect::Cairo), "[[],[],[]]");
}

#[test]
fn json_that_does_not_fit_is_refused() {
    for [ty, value, error] in rows(
        r#"
u8 | 256 | u8: wanted 0 to 255, got 256
u8 | 1.0 | u8: wanted an integer, as a number or in a string, got 1.0
u8 | true | u8: wanted an integer, as a number or in a string, got true
i8 | -129 | i8: wanted -128 to 127, got -129
u256 | -1 | u256: wanted 0 to 2^256 - 1, got -1
felt252 | "0X1" | felt252: wanted a felt, got "0X1" (wanted 0x and hex digits, a decimal number, or a short string in quotes: 'abc')
ContractAddress | -1 | ContractAddress: wanted below 2^251, got 0x800000000000011000000000000000000000000000000000000000000000000
NonZero<u8> | 0 | NonZero<u8>: wanted anything but 0, got 0
bool | 1 | bool: wanted true or false, got 1
shortstring | "żółw" | shortstring: wanted a string of at most 31 ASCII characters, not beginning with NUL, got "żółw"
ByteArray | {"$bin":"f"} | ByteArray: wanted a string, or bytes as {"$bin":"hex"}, got {"$bin":"f"}
Array<u8> | {} | Array<u8>: wanted an array, got {}
(u8, u8) | [1] | (u8, u8): wanted an array of 2 items, got [1]
[u8; 2] | [1,2,3] | [u8; 2]: wanted an array of 2 items, got [1,2,3]
POINT | [{"x":1}] | [0].y: i8: wanted a value, got nothing
POINT | [{"x":1,"y":1,"z":1}] | [0]: Point: wanted only x, y, got "z"
POINT | [{"x":1,"y":1,"x":1}] | [0]: Point: wanted each member once, got "x"
Option<u8> | null | Option<u8>: wanted {"Some": u8} or "None", got null
Option<u8> | "Some" | Option<u8>: wanted {"Some": u8} or "None", got "Some"
Option<u8> | {"Some":1,"None":[]} | Option<u8>: wanted {"Some": u8} or "None", got {"Some":1,"None":[]}
SHAPE | {"Rect":[1,-1]} | Rect[1]: u32: wanted 0 to 4294967295, got -1
"#,
    ) {
        assert_eq!(
            encoded(ty, value, CairoDialect::Cairo),
            error,
            "{ty} from {value}"
        );
    }
    for [ty, value, felts] in rows(
        r#"
u256 | "0x100000000000000000000000000000000" | 0x0 0x1
u8 | "7" | 0x7
felt252 | "'abc'" | 0x616263
felt252 | 10000 | 0x2710
ByteArray | {"$bin":"00"} | 0x0 0x0 0x1
Option<u8> | {"None":[]} | 0x1
POINT | [{"y":2,"x":1}] | 0x1 0x1 0x2
"#,
    ) {
        assert_eq!(
            encoded(ty, value, CairoDialect::Cairo),
            felts,
            "{ty} from {value}"
        );
    }
}

#[test]
fn text_that_is_not_a_type_is_refused() {
    let deep = format!("{}u8{}", "Option<".repeat(200), ">".repeat(200));
    let tuple = "(".repeat(100_000);
    let mut chain = "struct S0 { a: u8 }".to_owned();
    for i in 1..200 {
        chain += &format!("struct S{i} {{ a: S{} }}", i - 1);
    }
    for (text, error) in [
        ("", "at byte 0: wanted a type, got the end"),
        ("Array", "at byte 5: wanted `<`, got the end"),
        ("Array<u8", "at byte 8: wanted `>`, got the end"),
        ("u8>", "at byte 2: wanted the end, got `>`"),
        (
            "core::u9",
            "at byte 6: wanted a type (a struct or an enum is defined before it is used), got `u9`",
        ),
        ("[u8; x]", "at byte 5: wanted a number of items, got `x`"),
        ("(u8 u8)", "at byte 4: wanted `,` or `)`, got `u8`"),
        ("(, u8)", "at byte 1: wanted a type, got `,`"),
        ("NonZero<bool>", "at byte 8: wanted a number, got `bool`"),
        ("Result<u8>", "at byte 9: wanted `,`, got `>`"),
        (
            "struct P { x: P }",
            "at byte 14: wanted a type (a struct or an enum is defined before it is used), got `P`",
        ),
        (
            "struct P { x: u8, x: u8 }",
            "at byte 18: wanted another name: this one is taken, got `x`",
        ),
        ("enum E { A(u8) }", "at byte 10: wanted `,` or `}`, got `(`"),
        (&deep, "wanted at most 128 levels of nesting, got"),
        (&tuple, "wanted at most 128 levels of nesting, got"),
        (&chain, "wanted at most 128 levels of nesting, got"),
    ] {
        let output = CairoType::parse(text).unwrap_err().to_string();
        assert!(output.contains(error), "{output}");
    }
    let deep = format!("{}u8{}", "Array<".repeat(127), ">".repeat(127));
    assert!(CairoType::parse(&deep).is_ok());
}

#[test]
fn signatures_are_parsed() {
    for (text, shown) in [
        ("pow(u256) -> u256", "pow(u256) -> u256"),
        (
            "fn f(a: u8, b: core::integer::u16,) -> (u8,);",
            "f(a: u8, b: u16) -> (u8,)",
        ),
        ("f()", "f() -> ()"),
        ("struct P { x: u8 }; f(P) -> Option<P>", "f(P) -> Option<P>"),
    ] {
        assert_eq!(Signature::parse(text).unwrap().to_string(), shown);
    }
    for (text, error) in [
        ("", "at byte 0: wanted the name of a selector, got the end"),
        ("pow u256", "at byte 4: wanted `(`, got `u256`"),
        ("pow(u256", "at byte 8: wanted `,` or `)`, got the end"),
        ("pow() -> u8 u8", "at byte 12: wanted the end, got `u8`"),
    ] {
        assert_eq!(Signature::parse(text).unwrap_err().to_string(), error);
    }
}

fn types() -> impl Strategy<Value = CairoType> {
    let leaves: Vec<CairoType> = [
        "felt252",
        "bytes31",
        "ContractAddress",
        "EthAddress",
        "u8",
        "usize",
        "u64",
        "u128",
        "i8",
        "i16",
        "i64",
        "i128",
        "bool",
        "u256",
        "u512",
        "shortstring",
        "ByteArray",
        "NonZero<u8>",
        "()",
    ]
    .map(|text| CairoType::parse(text).unwrap())
    .to_vec();
    proptest::sample::select(leaves).prop_recursive(4, 24, 4, |inner| {
        let generic = |form: &'static str| {
            inner
                .clone()
                .prop_map(move |ty| CairoType::parse(&form.replace('T', &ty.to_string())).unwrap())
        };
        prop_oneof![
            generic("Array<T>"),
            generic("[T; 3]"),
            generic("Option<T>"),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| CairoType::parse(&format!("Result<{a}, {b}>")).unwrap()),
            vec(inner.clone(), 0..4).prop_map(CairoType::Tuple),
        ]
    })
}

fn quoted(text: &str) -> String {
    let mut json = Vec::new();
    json::write_str(text, &mut json);
    String::from_utf8(json).unwrap()
}

fn list(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

fn integers(bits: u32, signed: bool) -> BoxedStrategy<String> {
    let low = if signed {
        -(BigInt::from(1) << (bits - 1))
    } else {
        BigInt::ZERO
    };
    let most: BigInt = (BigInt::from(1) << bits) - 1;
    vec(any::<u8>(), 0..=bits as usize / 8)
        .prop_map(move |bytes| {
            let n = BigInt::from_bytes_be(num_bigint::Sign::Plus, &bytes);
            (&low + n.min(most.clone())).to_string()
        })
        .boxed()
}

fn values(ty: &CairoType) -> BoxedStrategy<String> {
    match ty {
        CairoType::Scalar(scalar) => match scalar.name.chars().next() {
            Some('u') => integers(scalar.bits, false),
            Some('i') => integers(scalar.bits, true),
            _ => vec(any::<u8>(), 0..=scalar.bits.min(248) as usize / 8)
                .prop_map(|bytes| {
                    let mut felt = Felt::default();
                    felt.0[32 - bytes.len()..].copy_from_slice(&bytes);
                    format!("\"{felt}\"")
                })
                .boxed(),
        },
        CairoType::Bool => any::<bool>().prop_map(|b| b.to_string()).boxed(),
        CairoType::ShortString => "([\x01-\x7f][\\x00-\x7f]{0,30})?"
            .prop_map(|text| quoted(&text))
            .boxed(),
        CairoType::Wide(limbs) => integers(u32::from(*limbs) * LIMB, false),
        CairoType::ByteArray => vec(any::<u8>(), 0..100)
            .prop_map(|bytes| match std::str::from_utf8(&bytes) {
                Ok(text) => quoted(text),
                Err(_) => format!("{{\"$str\":\"{}\"}}", hex::encode(bytes)),
            })
            .boxed(),
        CairoType::NonZero(_) => (1u8..).prop_map(|n| n.to_string()).boxed(),
        CairoType::List(_, item) => vec(values(item), 0..4)
            .prop_map(|items| list(&items))
            .boxed(),
        CairoType::Fixed(item, count) => vec(values(item), *count)
            .prop_map(|items| list(&items))
            .boxed(),
        CairoType::Tuple(types) => {
            let items: Vec<_> = types.iter().map(values).collect();
            items.prop_map(|items| list(&items)).boxed()
        }
        CairoType::Struct(_) => unreachable!("none is made"),
        CairoType::Enum(definition) => {
            let variants = definition.members.iter().map(|(name, ty)| {
                let (name, unit): (Arc<str>, bool) = (name.clone(), ty.is_unit());
                values(ty)
                    .prop_map(move |v| {
                        if unit {
                            quoted(&name)
                        } else {
                            format!("{{\"{name}\":{v}}}")
                        }
                    })
                    .boxed()
            });
            proptest::strategy::Union::new(variants).boxed()
        }
    }
}

fn dialects() -> impl Strategy<Value = CairoDialect> {
    proptest::sample::select(vec![CairoDialect::Cairo, CairoDialect::Sdk])
}

proptest! {
    #[test]
    fn any_value_round_trips(
        (ty, value) in types().prop_flat_map(|ty| (Just(ty.clone()), values(&ty))),
        dialect in dialects(),
    ) {
        let felts = felts_of(&ty, &value, dialect).unwrap();
        prop_assert!(felts.len() >= ty.least());
        prop_assert_eq!(decode(&ty, &felts, dialect), Ok((value, felts.len())));
        prop_assert_eq!(CairoType::parse(&ty.to_string()), Ok(ty.clone()));
        for cut in 0..felts.len() {
            prop_assert!(decode(&ty, &felts[..cut], dialect).is_err());
        }
    }

    #[test]
    fn any_felts_are_a_value_or_an_error(
        ty in types(),
        felts in vec(prop_oneof![0u8..5, any::<u8>()], 0..20),
        dialect in dialects(),
    ) {
        let felts: Vec<Felt> =
            felts.iter().map(|n| Felt::from_number(&(*n).into()).unwrap()).collect();
        match decode(&ty, &felts, dialect) {
            Ok((value, used)) => {
                prop_assert!(used <= felts.len());
                let again = felts_of(&ty, &value, dialect).unwrap();
                prop_assert_eq!(decode(&ty, &again, dialect), Ok((value, again.len())));
            }
            Err(error) => prop_assert!(error.index.is_some_and(|i| i <= felts.len())),
        }
    }

    #[test]
    fn any_text_is_a_type_or_an_error(text in "[a-zA-Z0-9<>(),;:{}@ \\[\\]]{0,40}") {
        let _ = CairoType::parse(&text);
        let _ = Signature::parse(&text);
    }
}

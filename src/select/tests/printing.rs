//! Tests: a printed condition reads back as itself.

use super::super::*;
use super::parse;
use proptest::prelude::*;

#[test]
fn conditions_are_printed() {
    for (text, want) in [
        ("kind=call subject~math.*", "kind=call and subject~math.*"),
        (
            "kind = 'call' , cast && !fault",
            "kind=call,cast and not fault",
        ),
        ("a_or_b", ""),
        ("not kind=call", "kind!=call"),
        ("not (fault || dir==c2s)", "not (fault or dir=c2s)"),
        (
            "fault or role=error and conn=1",
            "fault or (role=error and conn=1)",
        ),
        (
            "(fault or role=error) conn=0x10",
            "(fault or role=error) and conn=16",
        ),
        ("((fault))", "fault"),
        (
            "latency>=1.5ms latency_ms<20",
            "latency>=1500us and latency<20ms",
        ),
        ("latency>2000ms", "latency>2s"),
        ("len>64K", "len>65536"),
        (
            "time>2026-01-31T13:00:00.5+01:00",
            "time>2026-01-31T12:00:00.5Z",
        ),
        ("message.params.calldata[0]=0x1", ".params.calldata[0]=0x1"),
        (".'a b'[\"c\"].d", "message[\"a b\"].c.d"),
        (".a.\"x y\".z/0", ".a[\"x y\"].z/0"),
        (".[0].id=\"7\"", "message[0].id=\"7\""),
        ("message", "message"),
        ("subject~/^a\\/b\\.c/", "subject~/^a\\/b\\.c/"),
        ("subject='two words'", "subject=\"two words\""),
        ("subject='a\"b\\c'", "subject=\"a\\\"b\\\\c\""),
        ("kind=\"cal\"", "kind=\"cal\""),
        ("subject!~a,b", "subject!~a,b"),
        ("finding=sael/malformed", "findings=sael/malformed"),
        ("NOT NOT id", "not not id"),
    ] {
        match text.parse::<Expr>() {
            Ok(expr) => {
                assert_eq!(expr.to_string(), want);
                assert_eq!(parse(want), expr, "{want}");
            }
            Err(error) => assert_eq!(want, "", "{error}"),
        }
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9._*/-]{1,8}", any::<String>()]
}

fn any_key() -> impl Strategy<Value = Key> {
    let step = prop_oneof![
        any_text().prop_map(PathStep::Member),
        (0usize..1000).prop_map(PathStep::Element),
    ];
    prop_oneof![
        prop::sample::select(Key::names().collect::<Vec<_>>())
            .prop_map(|name| Key::from_name(name).unwrap_or(Key::Kind)),
        prop::collection::vec(step, 1..4).prop_map(|steps| Key::Message(steps.into())),
    ]
}

fn any_pattern() -> impl Strategy<Value = TextPattern> {
    let regex = prop::sample::select(vec!["^a", "a/b", r"\d+\.", "", r"\\", "[/\"']| "]);
    prop_oneof![
        any_text().prop_map(TextPattern::Glob),
        regex.prop_map(|r| TextPattern::Regex(
            regex::Regex::new(r).unwrap_or_else(|e| panic!("{e}"))
        )),
    ]
}

/// Generates a value for this key.
fn any_operand(key: &Key, ordered: bool) -> BoxedStrategy<Operand> {
    let words = "[a-z0-9.$\\[\\]*/:-]{1,9}";
    match key.sort() {
        KeySort::Count | KeySort::Bytes => {
            (0..=i128::from(u64::MAX)).prop_map(Operand::Number).boxed()
        }
        KeySort::Duration => any::<i64>()
            .prop_map(|n| Operand::Number(i128::from(n)))
            .boxed(),
        KeySort::Time => prop_oneof![
            any::<i64>().prop_map(|n| Operand::Number(i128::from(n))),
            (0..86_400_000_000_000i128).prop_map(Operand::OfDay),
            (1..i128::from(u64::MAX)).prop_map(Operand::SinceStart),
        ]
        .boxed(),
        KeySort::Id | KeySort::Any if ordered => "-?[0-9]{1,30}(\\.[0-9]{1,3})?"
            .prop_map(Operand::Word)
            .boxed(),
        KeySort::Any => prop_oneof![
            words.prop_map(Operand::Word),
            any_text().prop_map(Operand::Text),
        ]
        .boxed(),
        KeySort::Id => any_text().prop_map(Operand::Text).boxed(),
        KeySort::Text => match key {
            Key::Dir => Just("s2c").boxed(),
            Key::Role => Just("hello").boxed(),
            Key::Outcome => Just("error").boxed(),
            Key::Link => Just("inferred").boxed(),
            Key::Framing => Just("lines").boxed(),
            Key::Protocol => Just("sael").boxed(),
            Key::Fault | Key::Faults => Just("truncated").boxed(),
            Key::Findings => Just("sael/malformed").boxed(),
            _ => return any_text().prop_map(Operand::Text).boxed(),
        }
        .prop_map(|text| Operand::Text(text.to_owned()))
        .boxed(),
    }
}

fn any_test() -> impl Strategy<Value = Expr> {
    any_key().prop_flat_map(|key| {
        let sort = key.sort();
        let order = prop::sample::select(vec![
            Order::Less,
            Order::AtMost,
            Order::More,
            Order::AtLeast,
        ]);
        let there = Just(KeyTest::There).boxed();
        let is = prop::collection::vec(any_operand(&key, false), 1..3).prop_map(KeyTest::Is);
        let like = prop::collection::vec(any_pattern(), 1..3).prop_map(KeyTest::Like);
        let ordered = (order, any_operand(&key, true))
            .prop_map(|(order, operand)| KeyTest::Order(order, operand));
        let third = if matches!(sort, KeySort::Text | KeySort::Id | KeySort::Any) {
            like.boxed()
        } else {
            there.clone()
        };
        let fourth = if sort == KeySort::Text {
            there.clone()
        } else {
            ordered.boxed()
        };
        prop_oneof![there, is, third, fourth].prop_map(move |what| Expr::test(key.clone(), what))
    })
}

fn any_expr() -> impl Strategy<Value = Expr> {
    any_test().prop_recursive(4, 16, 4, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            some.clone().prop_map(Expr::all),
            some.prop_map(Expr::any),
            inner.prop_map(|e| Expr::Not(Box::new(e))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_condition_reads_back(expr in any_expr()) {
        let text = expr.to_string();
        let again = text.parse::<Expr>();
        prop_assert_eq!(again.map_err(|e| e.to_string()), Ok(expr), "{}", text);
    }

    #[test]
    fn parser_accepts_any_text(text in prop_oneof![
        any::<String>(),
        "(kind|id|len|\\.a|not|or|and|\\(|\\)|=|!|~|<|/|,|\"|'| |\\[|\\]|[0-9]|\\\\){0,24}",
    ]) {
        match text.parse::<Expr>() {
            Ok(expr) => {
                let printed = expr.to_string();
                prop_assert_eq!(printed.parse::<Expr>().map_err(|e| e.to_string()), Ok(expr), "{}", printed);
            }
            Err(error) => prop_assert!(text.get(error.at.clone()).is_some(), "{error}"),
        }
    }
}

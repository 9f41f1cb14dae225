use super::*;
use serde_json::json;

fn kept(expr: &str, item: &Value) -> [Option<bool>; 3] {
    ItemFilter::parse(expr).unwrap().judge(item, 1000).kept
}

const YES: [Option<bool>; 3] = [Some(true); 3];
const NO: [Option<bool>; 3] = [Some(false); 3];

#[test]
fn all_references_keep_the_same_items() {
    let item = json!({
        "n": 7, "f": 2.5, "s": "abc", "t": true, "z": null, "l": [1, "x"], "o": {"k": [{"d": 3}]},
        "num": "12", "a": 6, "b": 2, "e": "", "date": "2026-01-01", "pi": "a.b",
    });
    for (expr, want) in [
        ("n == 7 && s == 'abc'", true),
        ("n == 8 || s == 'abc' && t", true),
        ("(n == 8 || s == 'abc') && !t", false),
        ("!(n > 3 && n < 5)", true),
        ("o.k[0].d == 3", true),
        ("o.k[1].d == 3", false),
        ("o.k.d", false),
        ("l[0] == 1", true),
        ("l", true),
        ("e", false),
        ("f >= 2.5 && f <= 2.5", true),
        ("n > a", true),
        ("n > a * b", false),
        ("n == a + b - 1", true),
        ("n == 10 - 5 - 2", true),
        ("b < now() - 900", true),
        ("now == now()", false),
        ("s contains 'b'", true),
        ("s startsWith 'b'", false),
        ("s endsWith \"bc\"", true),
        ("s in ['x', 'abc']", true),
        ("s notIn ['x', \"abc\"]", false),
        ("n in [1, 7.0]", true),
        ("s in l", false),
        ("num > 9", true),
        ("date == '2026-01-01'", true),
        ("s == 'a || b'", false),
        ("s != 'a && b'", true),
        ("s matches '^a.c$'", true),
        ("s matches '\\d'", false),
        ("n matches '7'", false),
        ("t", true),
        ("t == true", true),
        ("s == abc", true),
        ("s==abc", true),
        ("pi == a.b", true),
        ("", true),
        ("   ", true),
        ("()", true),
        ("((s))", true),
    ] {
        assert_eq!(kept(expr, &item), if want { YES } else { NO }, "{expr}");
    }
}

#[test]
fn differences_between_references_are_reported() {
    let some = |go, python, typescript| [Some(go), Some(python), Some(typescript)];
    for (expr, item, want) in [
        ("n == null", json!({}), some(true, true, false)),
        ("n != null", json!({}), some(false, false, true)),
        ("n == null", json!({"n": null}), YES),
        ("n == 0", json!({}), some(false, true, true)),
        ("n == 0", json!({"n": false}), some(false, true, true)),
        ("n == 0", json!({"n": ""}), some(false, true, true)),
        ("n == false", json!({"n": "false"}), some(true, true, false)),
        ("n == false", json!({"n": 0}), YES),
        ("n notIn 'x'", json!({"n": "y"}), some(true, false, false)),
        ("n > 100)", json!({"n": 50}), some(false, true, false)),
        (
            "n matches '(?=a)a'",
            json!({"n": "a"}),
            [Some(false), None, None],
        ),
        ("n matches '(?=a)a' || n == 'a'", json!({"n": "a"}), YES),
        (
            "!(n matches '(a)\\1')",
            json!({"n": "a"}),
            [Some(true), None, None],
        ),
        (
            "n matches '\\d'",
            json!({"n": "٣"}),
            some(false, true, false),
        ),
    ] {
        let filter = ItemFilter::parse(expr).unwrap();
        let judgement = filter.judge(&item, 0);
        assert_eq!(judgement.kept, want, "{expr} over {item}");
        assert_eq!(judgement.agree(), want == YES);
        if want != YES {
            assert_eq!(judgement.differences.len(), 1, "{expr} over {item}");
        }
        for dialect in FilterDialect::ALL {
            let keeps = filter.keeps(&item, 0, dialect);
            assert_eq!(keeps, judgement.by(dialect) == Some(true));
        }
    }
}

#[test]
fn likely_mistakes_are_reported() {
    let output = |expr: &str| {
        let filter = ItemFilter::parse(expr).unwrap();
        let problems = filter.problems().iter().map(|p| format!("  ! {p}\n"));
        format!("{expr}\n{filter}{}", problems.collect::<String>())
    };
    let all = [
        "a == 1 && b in ['x', [2]] || !(c)",
        "stars = 200",
        "a > 1)",
        "(a > 1",
        "a >",
        "a == 'x' # c",
        "a == 1 - 2 - 3",
        "a > 2 * (3 + 4)",
        "a == some-text",
        "!!a",
        "a && ",
        "'p' in tags",
        "a === 1",
        "a matches '['",
        "a matches '(?<=x)y'",
        "a == 'it\\'s'",
        "a and b",
        "a == \"x",
    ]
    .map(output)
    .join("");
    insta::assert_snapshot!(all, @r#"
    a == 1 && b in ['x', [2]] || !(c)
    or
      and
        ==  field a  1
        in  field b  [text "x", [2]]
      not
        truthy  field c
    stars = 200
    truthy  field stars = 200
      ! `stars = 200`: has no operator of the language, and is read as a field's name
    a > 1)
    >  field a  field or text 1)
      ! `a > 1)`: a `)` closes nothing, and is part of the text beside it
    (a > 1
    >  field (a  1
      ! `(a > 1`: a `(` is not closed, and is part of the field's name
    a >
    >  field a  field or text 
      ! `a >`: the value after the operator is missing; empty text is used
    a == 'x' # c
    ==  field a  field or text 'x' # c
    a == 1 - 2 - 3
    ==  field a  (1 - (2 - 3))
      ! `1 - 2 - 3`: is grouped from the right: a - b - c is a - (b - c)
    a > 2 * (3 + 4)
    >  field a  ((2 * field or text (3) + field or text 4))
      ! `2 * (3 + 4)`: parentheses mean nothing in a value
      ! `2 * (3`: parentheses mean nothing in a value
    a == some-text
    ==  field a  (field or text some - field or text text)
      ! `some-text`: is a subtraction; text with a hyphen needs quotes
    !!a
    not
      truthy  field !a
      ! `!!a`: only one `!` is read; the next one is part of the field's name
    a && 
    and
      truthy  field a
      everything
      ! `a &&`: one side of `&&` is empty; an empty side is true
    'p' in tags
    in  field 'p'  field or text tags
      ! `'p'`: the left side is always a field's name, also in quotes
    a === 1
    ==  field a  field or text = 1
      ! `a === 1`: the second `=` is part of the value's text
    a matches '['
    matches  field a  text "["
      ! `'['`: is not a valid pattern: nothing matches
    a matches '(?<=x)y'
    matches  field a  text "(?<=x)y"
      ! `'(?<=x)y'`: look-around and back-references are not in Go's patterns: nothing matches there
    a == 'it\'s'
    ==  field a  text "it\\'s"
      ! `a == 'it\'s'`: a quote is not closed
      ! `'it\'s'`: there are no escapes: quotes inside are part of the text
    a and b
    truthy  field a and b
      ! `a and b`: has no operator of the language, and is read as a field's name
    a == "x
    ==  field a  field or text "x
      ! `a == "x`: a quote is not closed
    "#);
}

#[test]
fn a_stage_returns_a_value_that_is_not_a_list_unchanged() {
    let filter = ItemFilter::parse("a > 1").unwrap();
    for (input, want) in [
        (json!({"not": "a list"}), json!({"not": "a list"})),
        (json!(null), json!(null)),
        (json!([1, "s", {"a": 2}, {"a": 1}]), json!([{"a": 2}])),
    ] {
        assert_eq!(filter.apply(&input, 0, FilterDialect::Go), want);
    }
}

#[test]
fn expressions_over_the_limits_are_refused() {
    let deep = |n: usize| format!("{}a{}", "(".repeat(n), ")".repeat(n));
    assert!(ItemFilter::parse(&deep(100)).is_ok());
    assert_eq!(
        ItemFilter::parse(&deep(5000)).unwrap_err(),
        FilterError::TooDeep
    );
    let lists = format!("a in {}{}", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(ItemFilter::parse(&lists).unwrap_err(), FilterError::TooDeep);
    assert_eq!(
        ItemFilter::parse(&format!("a == {}1", "1+".repeat(5000))).unwrap_err(),
        FilterError::TooDeep
    );
    assert_eq!(
        ItemFilter::parse(&"a".repeat(LONGEST + 1)).unwrap_err(),
        FilterError::TooLong
    );
    let wide = "a=b&&".repeat(LONGEST / 5);
    assert!(ItemFilter::parse(&wide).unwrap().problems().len() <= 100);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]
    #[test]
    fn any_text_is_evaluated(expr in "([a-c.0-9\\[\\]() '\"!&|<>=+*/é-]|&&|\\|\\|| in | matches |now\\(\\)|null){0,30}", n in proptest::num::i32::ANY) {
        if let Ok(filter) = ItemFilter::parse(&expr) {
            let item = json!({"a": n, "b": {"c": ["x", null]}, "c": "0"});
            let judgement = filter.judge(&item, 0);
            proptest::prop_assert_eq!(judgement.by(FilterDialect::Go), Some(filter.keeps(&item, 0, FilterDialect::Go)));
            let _ = filter.to_string();
        }
    }
}

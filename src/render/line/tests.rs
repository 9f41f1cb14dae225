use super::super::DisplayOptions;
use super::Lines;
use crate::conversation::Verdict;
use crate::decoder::{DecodeOptions, Decoder};
use crate::protocol::session::Answer;
use crate::protocol::{Direction, Origin, registry};
use unicode_width::UnicodeWidthStr as _;

const UUID: &str = r#""4dd08780-4146-1567-2ff4-a479a95fbaff""#;

/// Renders a call, its answer, an error, and a call with wide characters, for a terminal of this width.
fn render(width: Option<usize>, color: bool, holds: bool) -> String {
    let oracle = registry::find("oracle").unwrap();
    let mut decoder = Decoder::new(DecodeOptions::new(vec![oracle]));
    let error = r#""error":{"code":-32601,"message":"no such method, or none that is known here"}"#;
    let messages = [
        (Direction::ToServer, invoke(UUID, "sqrt")),
        (
            Direction::ToClient,
            format!(r#"{{"jsonrpc":"2.0","id":{UUID},"result":["0x1"]}}"#),
        ),
        (
            Direction::ToClient,
            format!(r#"{{"jsonrpc":"2.0","id":7,{error}}}"#),
        ),
        (Direction::ToServer, invoke("8", &"長".repeat(30))),
    ];
    let display = DisplayOptions {
        width,
        style: super::super::style::Style { color },
        ..DisplayOptions::default()
    };
    let answer = Answer {
        to: 0,
        latency: Some(3_400_000),
        kind: "invoke".into(),
        subject: None,
        name: None,
        last: true,
        id_form_differs: false,
    };
    let mut out = String::new();
    let mut writer = Lines::default();
    if holds {
        writer.hold();
    }
    for (n, (direction, message)) in (0..).zip(messages) {
        let origin = Origin {
            conn: Some(1),
            direction: Some(direction),
            time: Some(36_000_000_000_000 + n * 1_500_000),
            ..Origin::default()
        };
        decoder.push(origin, format!("{message}\n").as_bytes(), &mut |decoded| {
            let verdict = Verdict {
                findings: &[],
                answer: (direction == Direction::ToClient).then_some(&answer),
                ..Verdict::default()
            };
            writer.write(decoded, Some(verdict), display, &mut out);
        });
    }
    if holds {
        let held = std::mem::take(&mut out);
        writer.lay_out(&held, display, &mut out);
    }
    out
}

/// The same lines without layout, until all of them are known.
fn held(width: usize, color: bool) -> String {
    render(Some(width), color, true)
}

fn lines(width: Option<usize>, color: bool) -> String {
    render(width, color, false)
}

fn invoke(id: &str, selector: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"invoke","params":{{"selector":"{selector}","calldata":[]}}}}"#
    )
}

#[test]
fn padding_is_cut_before_words() {
    insta::assert_snapshot!(lines(Some(80), false), @r#"
    #0 c1 → invoke       sqrt         "4dd0…fbaff"          []
    #1 c1 ← result       sqrt         "4dd0…fbaff"   3.4 ms ["0x1"]
    #2 c1 ← error                     7              3.4 ms -32601: no such meth…
    #3 c1 → invoke       長長長長長長長長長長長…  8                     []
    "#);
    insta::assert_snapshot!(lines(Some(120), false), @r#"
    #0        0 c1 10:00:00.000 → invoke       sqrt         "4dd0…fbaff"          []
    #1        0 c1      +1.5 ms ← result       sqrt         "4dd0…fbaff"   3.4 ms ["0x1"]
    #2       79 c1      +1.5 ms ← error                     7              3.4 ms -32601: no such method, or none that i…
    #3      123 c1      +1.5 ms → invoke       長長長長長長長長長長長長長長長長長長長長…  8                     []
    "#);
    insta::assert_snapshot!(lines(Some(60), false), @r#"
    #0 → invoke     sqrt         "4dd0…f…
    #1 ← result     sqrt         "4dd0…f…
    #2 ← error                   7        -32601: no such me…
    #3 → invoke     長長長長長…  8
    "#);
    insta::assert_snapshot!(lines(Some(40), false), @r#"
    #0 → invoke   sqrt     "4dd0…
    #1 ← result   sqrt     "4dd0…
    #2 ← error             7      -32601…
    #3 → invoke   長長長…  8
    "#);
}

#[test]
fn held_lines_have_the_columns_of_what_they_show() {
    insta::assert_snapshot!(held(80, false), @r#"
    #0 c1 → invoke sqrt                     "4dd0…fbaff"        []
    #1 c1 ← result sqrt                     "4dd0…fbaff" 3.4 ms ["0x1"]
    #2 c1 ← error                           7            3.4 ms -32601: no such me…
    #3 c1 → invoke 長長長長長長長長長長長…  8                   []
    "#);
    insta::assert_snapshot!(held(120, false), @r#"
    #0   0 c1 10:00:00.000 → invoke sqrt                                       "4dd0…fbaff"        []
    #1   0 c1      +1.5 ms ← result sqrt                                       "4dd0…fbaff" 3.4 ms ["0x1"]
    #2  79 c1      +1.5 ms ← error                                             7            3.4 ms -32601: no such method,…
    #3 123 c1      +1.5 ms → invoke 長長長長長長長長長長長長長長長長長長長長…  8                   []
    "#);
}

#[test]
fn cut_words_end_with_an_ellipsis() {
    let whole = lines(Some(400), false);
    let whole: Vec<Vec<&str>> = whole
        .lines()
        .map(|l| l.split_whitespace().collect())
        .collect();
    for width in 1..200 {
        for text in [lines(Some(width), false), held(width, false)] {
            for (line, whole) in text.lines().zip(&whole) {
                assert!(line.width() <= width, "{width}: {line}");
                for word in line.split_whitespace() {
                    let is_whole = whole.contains(&word) || word.contains('…');
                    assert!(is_whole, "{width}: {word} of {line}");
                }
            }
        }
    }
}

#[test]
fn columns_are_aligned() {
    let texts = |width| [lines(Some(width), false), held(width, false)];
    let texts = [80, 120, 200].map(texts).into_iter().flatten();
    for lines in texts {
        let kinds = ["invoke", "result", "error", "invoke"];
        let at = lines.lines().zip(kinds).map(|(line, kind)| {
            let at = line.find(kind).unwrap();
            line.get(..at).unwrap().width()
        });
        let at: Vec<usize> = at.collect();
        assert!(at.iter().all(|column| *column == at[0]), "{lines}");
    }
}

#[test]
fn color_codes_take_no_columns() {
    for width in [40, 80, 120] {
        for (plain, colored) in [
            (lines(Some(width), false), lines(Some(width), true)),
            (held(width, false), held(width, true)),
        ] {
            let mut bare = String::new();
            let mut code = false;
            for c in colored.chars() {
                code |= c == '\u{1b}';
                if !code {
                    bare.push(c);
                }
                code &= c != 'm';
            }
            let trimmed = |text: &str| {
                text.lines()
                    .map(str::trim_end)
                    .collect::<Vec<_>>()
                    .join("\n")
            };
            assert_eq!(trimmed(&plain), trimmed(&bare));
        }
    }
}

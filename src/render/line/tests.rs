use super::super::Look;
use super::write;
use crate::conversation::Verdict;
use crate::decoder::{Decoder, Options};
use crate::protocol::session::Answer;
use crate::protocol::{Direction, Origin, registry};
use unicode_width::UnicodeWidthStr as _;

const UUID: &str = r#""4dd08780-4146-1567-2ff4-a479a95fbaff""#;

/// A call, its answer, an error, and a call in wide characters, on a terminal of some width.
fn lines(width: Option<usize>, color: bool) -> String {
    let oracle = registry::find("oracle").unwrap();
    let mut decoder = Decoder::new(Options::new(vec![oracle]));
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
    let look = Look {
        width,
        style: super::super::style::Style { color },
        ..Look::default()
    };
    let answer = Answer {
        to: 0,
        latency: Some(3_400_000),
        kind: "invoke".into(),
        subject: None,
        last: true,
        id_form_differs: false,
    };
    let mut out = String::new();
    for (direction, message) in messages {
        let origin = Origin {
            conn: Some(1),
            direction: Some(direction),
            time: None,
        };
        decoder.push(origin, format!("{message}\n").as_bytes(), &mut |decoded| {
            let verdict = Verdict {
                findings: &[],
                answer: (direction == Direction::ToClient).then_some(&answer),
            };
            write(decoded, Some(verdict), look, &mut out);
        });
    }
    out
}

fn invoke(id: &str, selector: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"invoke","params":{{"selector":"{selector}","calldata":[]}}}}"#
    )
}

#[test]
fn blanks_give_way_before_words() {
    insta::assert_snapshot!(lines(Some(80), false), @r#"
      0 #1  →      0   122 B  invoke        sqrt  "4dd08780-4146-1…ff4-a479a95fbaff"
      1 #1  ←      0    78 B  result          "4dd08780-41…479a95fbaff"  ↩ #0 3.4 ms
      2 #1  ←     79   103 B  error                          -32601   7  ↩ #0 3.4 ms
      3 #1  →    123   171 B  invoke  長長長長長長長長長長長長長長長長長長長長長…  8
    "#);
    insta::assert_snapshot!(lines(Some(60), false), @r#"
      0 #1  →     0  invoke      sqrt  "4dd08780-41…479a95fbaff"
      1 #1  ←     0  result        "4dd087…95fbaff"  ↩ #0 3.4 ms
      2 #1  ←    79  error                 -32601 7  ↩ #0 3.4 ms
      3 #1  →   123  invoke  長長長長長長長長長長長長長長長…  8
    "#);
    insta::assert_snapshot!(lines(Some(40), false), @r#"
      0 #1  → invoke    sqrt  "4dd08…5fbaff"
    1 #1 ← result    "4dd…baff"  ↩ #0 3.4 ms
      2 #1  ← error    -32601 7  ↩ #0 3.4 ms
    3 #1 → invoke  長長長長長長長長長長…  8
    "#);
}

#[test]
fn what_is_cut_is_seen_to_be() {
    for width in 1..200 {
        let lines = lines(Some(width), false);
        for line in lines.lines() {
            assert!(line.width() <= width, "{width}: {line}");
            // What ends a whole line: an id, or whose answer it is.
            let ends = ["8", "fbaff\"", "↩ #0", " 3.4 ms"];
            let whole = ends.iter().any(|end| line.ends_with(end));
            assert!(whole || line.contains('…'), "{width}: {line}");
        }
    }
}

#[test]
fn colour_takes_no_room() {
    for width in [40, 80, 120] {
        let (plain, colored) = (lines(Some(width), false), lines(Some(width), true));
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

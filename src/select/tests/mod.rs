use super::*;
use crate::conversation::{Conversation, Judge, MessageOperation};
use crate::decoder::{DecodeOptions, Decoder, Origin};
use crate::protocol::registry;
use crate::protocol::session::{Answer, Link, Place, SessionConfig, Severity};

mod printing;

fn parse(text: &str) -> Expr {
    text.parse().unwrap_or_else(|e| panic!("{text}\n{e}"))
}

fn error(text: &str) -> String {
    let error = text.parse::<Expr>().expect_err(text);
    error.to_string()
}

#[test]
fn errors_have_a_caret() {
    insta::assert_snapshot!(error("knd=call"), @"
    wanted a key, got knd
      knd=call
      ^^^ did you mean kind?
    ");
    insta::assert_snapshot!(error("kind=call fault subjcet~x"), @"
    wanted a key, got subjcet
      kind=call fault subjcet~x
                      ^^^^^^^ did you mean subject?
    ");
    insta::assert_snapshot!(error("subject.selector=0x1"), @"
    wanted a key, got subject.selector
      subject.selector=0x1
      ^^^^^^^^^^^^^^^^ fields of the message begin with a dot: .subject.selector
    ");
    for (text, wanted) in [
        ("isError", "outcome=error"),
        ("status>=500", "finding~refused"),
        ("size>200", "did you mean len?"),
        ("from=server", "did you mean dir?"),
        ("dir=server", "s2c from the server"),
        ("port=8765", "conn=N"),
        ("tcp.port == 7000", "conn=N"),
        ("ip.addr == 10.0.0.1", "conn=N"),
        ("jsonrpc.method == \"tools/call\"", "did you mean method?"),
        ("select(.id==3)", "without a function around them: .id=3"),
        ("method contains \"tools\"", "method~TEXT"),
        ("not tools/list", "did you mean subject=tools/list?"),
        ("code=-32602", ".error.code"),
        (
            "hasty",
            "a field of the message is .hasty, a method subject=hasty",
        ),
    ] {
        let error = error(text);
        assert!(error.contains(wanted), "{error}");
    }
    insta::assert_snapshot!(error("kind=cal"), @"
    wanted a kind, got cal
      kind=cal
           ^^^ did you mean call? Quotes keep it is
    ");
    insta::assert_snapshot!(error("role=call"), @"
    wanted a role (request, response, error, notification, item, end, hello, heartbeat, control), got call
      role=call
           ^^^^
    ");
    for (text, hint) in [
        ("error", "errors are role=error or outcome=error"),
        ("!request", "did you mean role=request?"),
        ("kind:request", "did you mean kind=request?"),
        ("not failed", "errors are role=error or outcome=error"),
        ("duration>1ms", "did you mean latency?"),
        ("type=request", "did you mean role or kind?"),
        ("unanswered", "wiretool lint FILE lists requests"),
        ("waiting", "wiretool lint FILE lists requests"),
        ("open", "wiretool lint FILE lists requests"),
        ("pending", "wiretool lint FILE lists requests"),
        ("fault id in (2,3)", "a list has commas: id=2,3"),
        ("index=3..5", "a range is index>=3 index<=5"),
        ("latency=1ms..2ms", "a range is latency>=1ms latency<=2ms"),
        ("tool=echo", "did you mean name?"),
    ] {
        let error = error(text);
        assert!(error.contains(&format!("^ {hint}")), "{error}");
    }
    for right in [
        "role=error or outcome=error",
        "id=2,3",
        "index>=3 index<=5",
        "latency>=1ms latency<=2ms",
    ] {
        parse(right);
    }
    insta::assert_snapshot!(error("protocol='orcale'"), @"
    wanted a protocol, got 'orcale'
      protocol='orcale'
               ^^^^^^^^ did you mean oracle?
    ");
    insta::assert_snapshot!(error("dir=c2c fault"), @"
    wanted a direction, got c2c
      dir=c2c fault
          ^^^ did you mean c2s?
    ");
    insta::assert_snapshot!(error("faults=trunctaed"), @"
    wanted a fault code, got trunctaed
      faults=trunctaed
             ^^^^^^^^^ did you mean truncated?
    ");
    insta::assert_snapshot!(error("findings=sael/malforme"), @"
    wanted the name of a rule, got sael/malforme
      findings=sael/malforme
               ^^^^^^^^^^^^^ did you mean malformed?
    ");
    insta::assert_snapshot!(error("latency>10parsec"), @"
    wanted a time, such as 10ms, 2s or 1.5us, got 10parsec
      latency>10parsec
              ^^^^^^^^
    ");
    insta::assert_snapshot!(error("time>=5"), @"
    wanted a time, such as 2026-01-31T12:00:00Z, 12:00:00 or 0.5s after the first message, got 5
      time>=5
            ^ did you mean 5ms or 5s?
    ");
    insta::assert_snapshot!(error("kind<call"), @"
    wanted =, !=, ~ or !~ after text, got <
      kind<call
          ^ kind has no order
    ");
    insta::assert_snapshot!(error("latency>1.5"), @"
    wanted a time, such as 10ms, 2s or 1.5us, got 1.5
      latency>1.5
              ^^^ did you mean 1.5ms or 1.5s?
    ");
    insta::assert_snapshot!(error("len~6*"), @"
    wanted =, !=, <, <=, > or >= after a number, got ~
      len~6*
         ^
    ");
    insta::assert_snapshot!(error("(fault or conn=1"), @"
    wanted a closing parenthesis, got the end
      (fault or conn=1
                      ^ the one at column 1 is open
    ");
    insta::assert_snapshot!(error("fault or"), @"
    wanted a key, such as kind, subject, fault or .params.selector, got the end
      fault or
              ^
    ");
    insta::assert_snapshot!(error("subject=\"math"), @r#"
    wanted a closing quote, got the end
      subject="math
                   ^ the one at column 9 is open
    "#);
    insta::assert_snapshot!(error("subject~/a(/"), @"
    wanted a regular expression, got /a(/
      subject~/a(/
              ^^^^ unclosed group
    ");
    insta::assert_snapshot!(error(".params[x]"), @"
    wanted the number of an element, or a name in quotes, got x
      .params[x]
              ^
    ");
    insta::assert_snapshot!(error(""), @"
    wanted a key, such as kind, subject, fault or .params.selector, got the end
      
      ^
    ");
    insta::assert_snapshot!(error("fault & conn=1"), @"
    wanted a key, such as kind, subject, fault or .params.selector, got &
      fault & conn=1
            ^
    ");
    insta::assert_snapshot!(error("subject=\u{1b}[1m"), @"
    wanted a value, got �
      subject=�[1m
              ^
    ");
    let deep = format!("{}fault", "!".repeat(65));
    assert!(error(&deep).starts_with("wanted at most 64 levels"));
}

/// Evaluates a condition on each message, with the details that it needs.
fn ask(protocol: &str, chunks: &[(Direction, i64, &[u8])], condition: &str) -> String {
    let expr = parse(condition);
    let protocols = vec![registry::find(protocol).unwrap()];
    let mut decoder = Decoder::new(DecodeOptions {
        want: expr.want(),
        ..DecodeOptions::new(protocols.clone())
    });
    let needs = expr.needs_session();
    let judge = Judge::default();
    let mut conversation =
        needs.then(|| Conversation::new(&protocols, &judge, SessionConfig::default()));
    let (mut scratch, mut output) = (Vec::new(), String::new());
    let mut sink = |decoded: &Decoded<'_>| {
        let verdict = conversation.as_mut().map(|c| c.see(decoded));
        let holds = expr.holds(decoded, verdict, &mut scratch);
        output.push(if holds { '1' } else { '0' });
    };
    for (direction, time, bytes) in chunks {
        let origin = Origin {
            conn: Some(3),
            direction: Some(*direction),
            time: Some(*time),
            ..Origin::default()
        };
        decoder.push(origin, bytes, &mut sink);
    }
    decoder.finish(&mut sink);
    output
}

const TALK: [(Direction, i64, &[u8]); 4] = [
    (
        Direction::ToServer,
        1_769_860_800_000_000_000,
        br#"{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"selector":"pow","calldata":["0x2", 9007199254740993, 2.50, null, {"a b":true}]}}
"#,
    ),
    (
        Direction::ToClient,
        1_769_860_800_012_000_000,
        br#"{"jsonrpc":"2.0","id":1,"result":["0x7"]}
"#,
    ),
    (
        Direction::ToServer,
        1_769_860_801_000_000_000,
        br#"{"jsonrpc":"2.0","id":"x","method":"invoke","params":{"selector":"s\u0071rt","calldata":[],"selector":"sqrt"}}
"#,
    ),
    (Direction::ToServer, 1_769_860_802_000_000_000, b"{\"jsonrpc\"\n"),
];

#[test]
fn conditions_are_evaluated() {
    for (condition, want) in [
        ("index>=1 index<3", "0110"),
        ("conn=3", "1111"),
        ("conn!=3", "0000"),
        ("dir=c2s", "1011"),
        ("time<2026-01-31T12:00:01Z", "1100"),
        ("offset=0", "1100"),
        ("len<=42", "0101"),
        ("body_len=41", "0100"),
        ("framing=lines protocol=oracle", "1111"),
        ("kind=invoke", "1010"),
        ("kind~in*", "1010"),
        ("kind!~/^r/", "1011"),
        ("role=request,response", "1110"),
        ("id", "1110"),
        ("id=1", "1100"),
        ("id=X", "0000"),
        ("id=x", "0010"),
        ("id='\"X\"'", "0010"),
        ("id>0", "1100"),
        ("subject~p*,s*", "1010"),
        ("subject~OW", "0000"),
        ("subject~ow", "1000"),
        ("subject~q*", "0000"),
        ("subject~/OW|^s/", "0010"),
        ("subject!=pow", "0111"),
        ("fault", "0001"),
        ("faults=ends-early,bad-json", "0001"),
        ("not fault", "1110"),
        ("raw~'{*'", "0001"),
        ("message", "1111"),
        (".params", "1010"),
        (".params.selector=pow", "1000"),
        (".params.selector=sqrt", "0010"),
        (".params.calldata[0]=0x2", "1000"),
        (".params.calldata[1]=9007199254740993", "1000"),
        (".params.calldata[1]=9007199254740992", "0000"),
        (".params.calldata[1]=\"9007199254740993\"", "0000"),
        (".params.calldata[1]>9007199254740992", "1000"),
        (".params.calldata[2]=2.5", "1000"),
        (".params.calldata[3]", "0000"),
        (".params.calldata[3]=null", "1000"),
        (".params.calldata[4].'a b'=true", "1000"),
        (".params.calldata=[]", "0010"),
        (".result='[\"0x7\"]'", "0100"),
        (".result[0]~0x*", "0100"),
        (".params.calldata[9]", "0000"),
        ("message~*sqrt*", "0010"),
        ("(kind=invoke or fault) and not subject=pow", "0011"),
        ("kind=invoke or fault and subject=pow", "1010"),
    ] {
        assert_eq!(ask("oracle", &TALK, condition), want, "{condition}");
    }
}

#[test]
fn bytes_floats_and_special_maps_are_compared() {
    // {"id": bin a1b2, "ok": true, "result": {"f": 0.1 as f32, "n": -3, "n": u64::MAX}}
    let body = hex::decode(
        "83a26964c402a1b2a26f6bc3a6726573756c7483a166ca3dcccccda16efda16ecfffffffffffffffff",
    );
    let body = body.unwrap_or_else(|_| panic!("hex"));
    let frame = [&(body.len() as u32).to_be_bytes()[..], &body].concat();
    let chunks = [(Direction::ToClient, 0, frame.as_slice())];
    for (condition, want) in [
        (".id=0xA1B2", "1"),
        (".id=a1b2", "1"),
        (".id=a1", "0"),
        (".id~a1*", "1"),
        (".ok", "1"),
        (".ok=true", "1"),
        (".ok='true'", "0"),
        (".result.f=0.1", "1"),
        (".result.n=18446744073709551615", "1"),
        (".result.n>18446744073709551614", "1"),
        (".result.n>18446744073709551615", "0"),
    ] {
        assert_eq!(ask("saikuro", &chunks, condition), want, "{condition}");
    }
}

/// Times of a day and those after the first message become times.
#[test]
fn times_depend_on_the_first_message() {
    let day = 20_000 * 86_400_000_000_000;
    let second = 1_000_000_000;
    let first = day + (10 * 3600 + 4 * 60) * second;
    for (condition, want) in [
        ("time>=0.5s", first + second / 2),
        ("time<10:04:24", first + 24 * second),
        ("time>10:05", first + 60 * second),
        ("not (kind=call or time<=10:04:00.5)", first + second / 2),
    ] {
        let expr: Expr = condition.parse().unwrap();
        let time: jiff::Timestamp = jiff::Timestamp::from_nanosecond(want).unwrap();
        assert_eq!(expr.to_string().parse(), Ok(expr.clone()), "{expr}");
        let shown = expr.since(first).to_string();
        assert!(
            expr.is_relative() && shown.contains(&time.to_string()),
            "{shown}"
        );
        assert!(!expr.since(first).is_relative());
    }
}

#[test]
fn conversation_keys_are_evaluated() {
    let decoded_of = |then: &mut dyn FnMut(&Decoded<'_>)| {
        let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
        decoder.push(Origin::default(), TALK[1].2, &mut |d| then(d));
        decoder.finish(&mut |d| then(d));
    };
    let rule = &crate::protocol::rules::COMMON[0];
    let finding = |index| crate::conversation::Finding {
        protocol: "oracle".into(),
        rule: rule.clone(),
        severity: Severity::Error,
        place: Place {
            index,
            ..Place::default()
        },
        text: String::new(),
        related: None,
    };
    let (mine, other) = ([finding(0)], [finding(9)]);
    let answer = Answer {
        to: 4,
        latency: Some(12_000_000),
        kind: "invoke".into(),
        subject: None,
        name: None,
        last: true,
        id_form_differs: false,
    };
    for (condition, findings, want) in [
        ("findings", &mine, true),
        ("findings", &other, false),
        ("finding=malformed", &mine, true),
        ("finding=oracle/malformed", &mine, true),
        ("finding=sael/malformed", &mine, false),
        ("finding~oracle/*", &mine, true),
        ("reply_to=4", &mine, true),
        ("op=2 parent=1 link=recorded", &mine, true),
        ("op=4 or link=inferred", &mine, false),
        ("latency>10ms", &mine, true),
        ("latency_ms=12", &mine, true),
        ("latency<12ms", &mine, false),
        ("latency<=12000us", &mine, true),
    ] {
        let expr = parse(condition);
        assert!(expr.needs_session() && expr.want() == Want::Places);
        let mut asked = 0;
        decoded_of(&mut |decoded| {
            let verdict = Verdict {
                findings,
                answer: Some(&answer),
                operation: Some(MessageOperation {
                    index: 2,
                    parent: Some(1),
                    link: Some(Link::Recorded),
                    is_late: false,
                    unacknowledged: None,
                }),
                ..Verdict::default()
            };
            let mut scratch = Vec::new();
            assert_eq!(
                expr.holds(decoded, Some(verdict), &mut scratch),
                want,
                "{condition}"
            );
            assert!(
                !expr.holds(decoded, None, &mut scratch),
                "{condition} without a verdict"
            );
            asked += 1;
        });
        assert_eq!(asked, 1);
    }
}

#[test]
fn conditions_report_their_needs() {
    for (condition, want) in [
        ("kind=call or id=7 and fault", Want::Head),
        ("kind=call .params", Want::Places),
        ("not message~*x*", Want::Places),
        ("raw", Want::Head),
    ] {
        let expr = parse(condition);
        assert_eq!(expr.want(), want, "{condition}");
        assert!(!expr.needs_session());
    }
    for (text, want) in [("x", Want::Text), ("x: 1", Want::Places)] {
        let grep = Select {
            grep: Some(text.into()),
            ..Select::default()
        };
        assert_eq!(grep.filter().want(), want, "{text}");
        assert!(!grep.filter().is_open());
    }
    assert!(Filter::default().is_open());
}

#[test]
fn a_text_is_found_as_lines_show_it() {
    let bytes = br#"{"jsonrpc":"2.0","id":"a","method":"add","params":{"deep":[{"isOn":true}],"text":"say \"hi\"","q":"\u5bff","in":"{\"a\":\"\\u53f8\"}","u":"a\/b"}}"#;
    for (text, found) in [
        ("寿", true),
        ("司", true),
        ("a/b", true),
        ("寿司", false),
        ("isOn", true),
        ("isOn: true", true),
        ("isOn: false", false),
        (r#""isOn":true"#, true),
        ("{deep: [{isOn: true}], ", true),
        (r#"say "hi""#, true),
        ("request add", true),
        ("ison: true", false),
    ] {
        let filter = Select {
            grep: Some(text.into()),
            ..Select::default()
        }
        .filter();
        let mut options = DecodeOptions::new(vec![registry::find("jsonrpc").unwrap()]);
        options.want = filter.want();
        let mut decoder = Decoder::new(options);
        let mut seen = Vec::new();
        let mut see = |decoded: &Decoded<'_>| {
            seen.push(filter.matches(decoded, None, &mut Vec::new()));
        };
        decoder.push(Origin::default(), bytes, &mut see);
        decoder.finish(&mut see);
        assert_eq!(seen, [found], "{text}");
    }
}

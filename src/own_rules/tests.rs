//! Tests of rules that files state: their forms, scopes and errors.

use crate::conversation::{RuleSettings, check};
use crate::decoder::DecodeOptions;
use crate::protocol::Protocol;
use crate::protocol::described::Described;
use std::fmt::Write as _;

/// `N` is the number of a message, `S` its session, `R` the number of the request that it answers.
const CHAT: &str = r#"
name = "chat"
framings = ["lines"]

[[message]]
when = ".re"
kind = "reply"
role = "response"
id = ".re"

[[message]]
when = ".ask"
kind = "ask"
role = "request"
id = ".id"
subject = ".ask"

[[message]]
when = ".hello"
kind = "hello"
role = "hello"

[[message]]
when = ".say"
kind = "say"
role = "notification"
subject = ".say"
"#;

/// Returns the findings of one rule, `INDEX SEVERITY: TEXT (RELATED)`, in a recording of these lines: milliseconds or `-`,
/// connection, `>` or `<`, and a message; or `close` or `lost` instead of the message.
fn findings(rule: &str, lines: &str) -> Vec<String> {
    let text = format!("{CHAT}\n[[rule]]\nname = \"mine\"\n{rule}\n");
    let chat = Described::from_toml(&text).unwrap_or_else(|error| panic!("{error}"));
    let mut recording =
        "{\"wiretool\":1,\"protocol\":\"chat\",\"started\":\"2026-01-01T00:00:00Z\"}\n".to_owned();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (time, rest) = line.split_once(' ').unwrap();
        let (conn, rest) = rest.split_once(' ').unwrap();
        let time: i64 = time.parse().unwrap();
        let start = format!("{{\"t\":{},\"conn\":{conn},", time * 1_000_000);
        let item = match rest {
            "close" => "\"event\":\"close\"}".to_owned(),
            "lost" => "\"event\":\"lost\",\"dir\":\"c2s\",\"len\":9}".to_owned(),
            message => {
                let (sign, message) = message.split_once(' ').unwrap();
                let dir = if sign == ">" { "c2s" } else { "s2c" };
                let text = serde_json::json!(format!("{message}\n"));
                format!("\"dir\":\"{dir}\",\"text\":{text}}}")
            }
        };
        recording += &format!("{start}{item}\n");
    }
    let protocols: Vec<&dyn Protocol> = vec![&chat];
    let found = check(
        recording.as_bytes(),
        DecodeOptions::new(protocols),
        RuleSettings::default(),
    );
    let own = found.iter().filter(|one| one.name() == "chat/mine");
    let text = own.map(|one| {
        let related = one.related.map(|index| format!(" (#{index})"));
        let severity = one.severity.name();
        let related = related.unwrap_or_default();
        format!("{} {severity}: {}{related}", one.place.index, one.text)
    });
    text.collect()
}

#[test]
fn each_form_finds_what_breaks_it() {
    let none: &[&str] = &[];
    for (rule, lines, want) in [
        (
            "when = \"kind=say\"\nmust = \"subject=a,b\"",
            "0 1 > {\"say\":\"a\"}\n1 1 > {\"say\":\"c\"}",
            &["1 error: the message does not match subject=a,b"][..],
        ),
        (
            "never = \"latency>2s\"\nseverity = \"warning\"\ntext = \"{.re} took {latency}, {{sic}}\"",
            "0 1 > {\"ask\":\"x\",\"id\":1}\n10 1 > {\"ask\":\"x\",\"id\":2}\n1000 1 < {\"re\":2}\n2500 1 < {\"re\":1}",
            &["3 warning: 1 took 2500 ms, {sic}"],
        ),
        // A finding that comes later shows no secret of its message.
        (
            "when = \"role=request\"\nthen = \"role=notification\"\nsame = \".token\"",
            "0 1 > {\"ask\":\"x\",\"id\":1,\"token\":\"Zx81Zx81\"}\n1 1 close",
            &["0 error: no later message matches role=notification (.token is (secret))"],
        ),
        (
            "once = \"subject=login\"",
            "0 1 > {\"say\":\"login\"}\n1 2 > {\"say\":\"login\"}\n2 1 > {\"say\":\"login\"}",
            &["2 error: a message before, #0, matches subject=login, too (#0)"],
        ),
        (
            "once = \"subject=login\"\nscope = \"capture\"",
            "0 1 > {\"say\":\"login\"}\n1 2 > {\"say\":\"login\"}",
            &["1 error: a message before, #0, matches subject=login, too (#0)"],
        ),
        (
            "once = \"subject=login\"\nscope = \"session\"",
            "0 1 > {\"hello\":1}\n0 1 > {\"say\":\"login\"}\n1 1 > {\"hello\":1}\n2 1 > {\"say\":\"login\"}",
            none,
        ),
        (
            "when = \"subject~delete_*\"\nafter = \"subject=approve\"\nsame = \".of\"",
            "0 1 > {\"say\":\"approve\",\"of\":1}\n1 1 > {\"say\":\"delete_a\",\"of\":1}\n2 1 > {\"say\":\"delete_b\",\"of\":2}\n3 1 > {\"say\":\"delete_b\"}",
            &["2 error: no earlier message matches subject=approve (.of is 2)"],
        ),
        (
            "when = \"subject=a\"\nafter = \"subject=b\"",
            "0 1 > {\"say\":\"x\"}\n1 1 lost\n2 1 > {\"say\":\"a\"}\n3 2 > {\"say\":\"a\"}",
            &["3 error: no earlier message matches subject=b"],
        ),
        (
            "when = \"subject=write\"\nnot-after = \"subject=quit\"",
            "0 1 > {\"say\":\"write\"}\n1 1 > {\"say\":\"quit\"}\n2 2 > {\"say\":\"write\"}\n3 1 > {\"say\":\"write\"}",
            &["3 error: #1 before it matches subject=quit (#1)"],
        ),
        (
            "when = \"subject=open\"\nthen = \"subject=shut\"\nsame = \".of\"",
            "0 1 > {\"say\":\"open\",\"of\":1}\n1 1 > {\"say\":\"open\",\"of\":2}\n2 1 > {\"say\":\"shut\",\"of\":2}\n3 1 close\n4 2 > {\"say\":\"open\",\"of\":3}",
            &[
                "0 error: no later message matches subject=shut (.of is 1)",
                "3 error: no later message matches subject=shut (.of is 3)",
            ],
        ),
        (
            "when = \"subject=ping\"\nthen = \"subject=pong\"\nwithin = \"1s\"",
            "0 1 > {\"say\":\"ping\"}\n900 1 < {\"say\":\"pong\"}\n1000 1 > {\"say\":\"ping\"}\n2500 1 < {\"say\":\"pong\"}\n3000 1 > {\"say\":\"ping\"}",
            &["2 error: no message within 1 s matches subject=pong"],
        ),
        (
            "when = \"kind=say\"\nincreases = \".n\"",
            "0 1 > {\"say\":1,\"n\":1}\n0 1 < {\"say\":1,\"n\":1}\n1 1 > {\"say\":1,\"n\":1.5}\n2 1 > {\"say\":1}\n3 1 > {\"say\":1,\"n\":1e0}",
            &["4 error: .n is 1e0, and was 1.5 in #2 (#2)"],
        ),
        (
            "when = \"kind=say\"\nat-most = 2\nper = \"1s\"",
            "0 1 > {\"say\":1}\n600 1 > {\"say\":1}\n1000 1 > {\"say\":1}\n1500 1 > {\"say\":1}\n1550 1 > {\"say\":1}\n3000 1 > {\"say\":1}",
            &["3 error: more than 2 messages in 1 s (#1)"],
        ),
        (
            "when = \"role=response\"\nat-most = 1\nscope = \"request\"",
            "0 1 > {\"ask\":\"x\",\"id\":1}\n1 1 > {\"ask\":\"x\",\"id\":2}\n2 1 < {\"re\":1}\n3 1 < {\"re\":2}",
            none,
        ),
        (
            "at-most = 1\nsame = \"subject\"",
            "0 1 > {\"say\":\"a\"}\n1 1 > {\"say\":\"b\"}\n2 1 > {\"say\":\"a\"}",
            &["2 error: more than 1 messages (subject is a)"],
        ),
        (
            "when = \"role=request\"\nthen = \"role=response\"\nscope = \"request\"\nwithin = \"1s\"",
            "0 1 > {\"ask\":\"x\",\"id\":1}\n10 1 > {\"ask\":\"x\",\"id\":2}\n20 1 < {\"re\":2}\n2000 1 < {\"re\":1}",
            &["0 error: no message within 1 s matches role=response"],
        ),
    ] {
        assert_eq!(findings(rule, lines), want, "{rule}\n{lines}");
    }
}

#[test]
fn a_rule_stores_a_limited_number_of_values() {
    let mut lines = String::new();
    for n in 0..65_600 {
        writeln!(lines, "0 1 > {{\"say\":{n}}}").unwrap();
    }
    let found = findings("once = \"kind=say\"\nsame = \".say\"", &lines);
    let note = "65536 info: the rule stores 65536 values: it does not check further ones";
    assert_eq!(found, [note]);
}

#[test]
fn errors_of_rules_have_their_place_and_name_what_is_wanted() {
    // A rule, whose lines are separated by `\n`, and the first error below it.
    let cases = r#"
must = "kind=say"
    3:1: wanted a name: name = "my-rule"
name = "A"\nmust = "kind"
    4:8: name: wanted at most 48 lower-case letters, digits and hyphens, a letter first, got "A"
name = "a"\nmsut = "kind"
    5:1: unknown key msut: did you mean must?
name = "a"
    3:1: wanted one of must, never, once, after, not-after, then, increases, at-most in each rule, got 0
name = "a"\nmust = "kind"\nwhne = "kind"
    6:1: unknown key whne: did you mean when?
name = "a"\nmust = "subjct=a"
    5:9: must: wanted a key, got subjct (did you mean subject?)
name = "a"\nmust = "kind"\nper = "1s"
    6:1: per is of at-most, but the rule has must
name = "a"\nat-most = 0
    5:11: at-most: wanted a number from 1 to 10000, got 0
name = "a"\nthen = "kind"\nwithin = "soon"
    6:10: within: wanted a time such as "2s", "500ms" or "1m", got "soon"
name = "a"\nincreases = "id"
    5:13: increases: wanted a path such as .params.seq, got "id"
name = "a"\nmust = "kind"\ntext = "so {nmae}"
    6:13: text: wanted a path such as .params.id, or a key such as name (did you mean name?), got nmae
name = "a"\nmust = "kind"\nscope = "world"
    6:9: scope: wanted one of connection, session, request, capture, got "world"
name = "a"\nmust = "kind"\nseverity = "bad"
    6:12: severity: wanted one of off, info, warning, error, got "bad"
name = "a"\nmust = "kind"\nprotocol = "mcp"
    6:1: protocol: the rules of a description are of its protocol
name = "unanswered"\nmust = "kind"
    3:1: name: the protocol has a rule unanswered already
name = "a"\nmust = "kind"\n[[rule]]\nname = "a"\nmust = "kind"
    7:8: name: wanted a name that no rule before has, got "a"
"#;
    let mut found = String::from("\n");
    for rule in cases.lines().skip(1).step_by(2) {
        let lines = rule.replace("\\n", "\n");
        let text = format!(
            "name = \"x\"\nframings = [\"lines\"]\n[[rule]]\n{lines}\n[[message]]\nrole = \"notification\"\n"
        );
        let error = Described::from_toml(&text).unwrap_err();
        let (line, column, text) = error.errors().next().unwrap();
        writeln!(found, "{rule}\n    {line}:{column}: {text}").unwrap();
    }
    assert_eq!(found, cases);
}

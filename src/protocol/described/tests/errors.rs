//! Errors of descriptions: each with line, column, and what was expected.

use crate::protocol::described::Described;
use proptest::prelude::*;

/// A description without an error.
const CORRECT: &str = r#"name = "quiz"
framings = ["lines"]
[[message]]
when = ".ask"
role = "request"
id = ".ask"
[[message]]
role = "response"
id = ".answer"
[marks]
secret = ["token"]
"#;

/// Returns `LINE:COLUMN: TEXT` of each error.
fn errors(text: &str) -> Vec<String> {
    match Described::from_toml(text) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let errors = error.errors();
            errors
                .map(|(line, column, text)| format!("{line}:{column}: {text}"))
                .collect()
        }
    }
}

/// Checks changes of a description without an error: each line `FROM -> TO` has the errors below it. `\n` is a line end.
fn check(correct: &str, cases: &str) {
    assert_eq!(errors(correct), Vec::<String>::new());
    let mut found = String::from("\n");
    for change in cases
        .lines()
        .filter(|line| line.contains(" ->") && !line.starts_with(' '))
    {
        let (from, to) = change.split_once(" ->").unwrap();
        let [from, to] = [from, to.trim_start()].map(|text| text.replace("\\n", "\n"));
        assert!(correct.contains(&from), "{from}");
        found += &format!("{change}\n");
        for error in errors(&correct.replacen(&from, &to, 1)) {
            found += &format!("    {error}\n");
        }
    }
    assert_eq!(found, cases);
}

#[test]
fn wrong_descriptions_have_places() {
    check(
        CORRECT,
        r#"
name = "quiz" ->
    1:1: wanted a name: name = "my-protocol"
"quiz" -> "Quiz"
    1:8: name: wanted at most 32 lower-case letters, digits and hyphens, a letter first, got "Quiz"
framings -> framing
    2:1: unknown key framing: did you mean framings?
["lines"] -> ["lines", "pipe"]
    2:22: framings: wanted a list of lines, prefix, content-length, websocket, http, values, message, got "pipe"
["lines"] -> ["lines", "lines"]
    2:22: framings: wanted each name once, got "lines"
["lines"] -> []
    2:12: framings: wanted a list of lines, prefix, content-length, websocket, http, values, message, got []
when = ".ask" -> wehn = ".ask"
    4:1: unknown key wehn: did you mean when?
when = ".ask" -> when = "kind=call"
    4:9: when: wanted paths of the message, such as .type, of at most 16 steps, or dir, got kind
when = ".ask" -> when = ".ask="
    4:14: when: wanted a value
when = ".ask" -> when = ".ask and (.b"
    4:21: when: wanted a closing parenthesis (the one at column 10 is open)
role = "request" -> role = "question"
    5:8: role: wanted one of request, response, error, notification, item, end, hello, heartbeat, control, got "question"
role = "request" ->
    3:1: wanted a role: one of request, response, error, notification, item, end, hello, heartbeat, control
id = ".ask" ->
    3:1: wanted id: the path of the id that pairs the request, or pair = "order" at the top
id = ".answer" ->
    7:1: wanted reply-to or id: the path of the id that pairs the response, or pair = "order" at the top
id = ".ask" -> id = "ask"
    6:6: id: wanted a path that starts with a dot, such as .id or .[1], got "ask"
id = ".ask" -> id = ".ask[x]"
    6:12: id: wanted the number of an element, or a name in quotes
id = ".ask" -> id = ".ask[999]"
    6:6: id: wanted a path of at most 16 steps and elements up to [255], got ".ask[999]"
id = ".ask" -> id = ".ask"\nreply-to = ".b"
    7:1: reply-to is of an answer, but the role is request
id = ".ask" -> id = 7
    6:6: id: wanted a path that starts with a dot, such as .id or .[1], got 7
[marks] -> [marks]\nvolatile = ["a..b"]
    11:13: volatile: wanted a list of paths, such as seq, **.ts or KIND:PATH, got "a..b"
secret = ["token"] -> secret = ["a.token"]
    11:11: secret: wanted a list of names of members, not of paths, got "a.token"
secret = ["token"] -> generated = [{ path = "a", fresh = "new" }]
    11:36: fresh: wanted id, time, given or same, got "new"
secret = ["token"] -> references = [{ path = "a", maker = "me" }]
    11:37: maker: wanted sender or receiver, got "me"
[marks] -> [opening]\nclient = ['{"ask":']\n[marks]
    11:11: client: wanted JSON as text, got '{"ask":'
[marks] -> [opening]\nanswers = [{ when = ".ask" }]\n[marks]
    11:12: answers: wanted when and result
framings -> encodings = ["cbor", "msgpack"]\nframings
    2:13: encodings: wanted json and at most one other, got ["cbor", "msgpack"]
framings -> port = 0\nframings
    2:8: port: wanted a number from 1 to 65535, got 0
framings -> sides = ["a", "a"]\nframings
    2:9: sides: wanted two names: first the side that opens the connection, got ["a", "a"]
framings -> pair = "time"\nframings
    2:8: pair: wanted id, order or subject, got "time"
framings -> encodings = ["xml"]\nframings
    2:14: encodings: wanted a list of json, msgpack, cbor, text, bytes, got "xml"
["lines"] -> ["lines"]\nencodings = ["text"]
    5:8: when: a text has no member ask without its forms: text = ["{ask} {rest...}"]
    7:6: id: a text has no member ask without its forms: text = ["{ask} {rest...}"]
    10:6: id: a text has no member answer without its forms: text = ["{answer} {rest...}"]
[marks] -> [[rule]]\nname = "a"\nwhen = "kind=tock"\nmust = "kind=unknown"\n[marks]
    12:8: when: no message has the kind tock: there are request, response
role = "request" -> role = "request"\nanswers = ".x"
    6:1: answers is of an answer, but the role is request
[marks] -> [opening]\nserver = ['{"no":1}', '{"ask":1}', 3]\n[marks]
    11:36: server: wanted JSON as text, got 3
framings -> base = "jsonrpc"\nframings
    4:3: message: the base has its own
framings -> base = "xmlrpc"\nframings
    2:8: base: wanted the name of a built-in protocol (saikuro, oracle, sael, stepflow, telequick, mcp, lsp, acp, jsonrpc), got "xmlrpc"
name = "quiz" -> name = \n
    1:8: string values must be quoted, expected literal string
"#,
    );
}

/// What two places of a description say together.
#[test]
fn kinds_and_members_exist() {
    check(
        CORRECT,
        r#"
when = ".ask"\n ->
    6:1: no message reaches this kind: that of line 3 matches all of them
[[message]]\nrole = "response" -> [[message]]\nwhen = ".ask"\nrole = "response"
    7:1: no message reaches this kind: that of line 3 matches all of them
[marks] -> [marks]\nvolatile = ["reqest:at", "*:at", "at"]
    11:13: no message has the kind reqest: did you mean request?
[marks] -> [marks]\nreferences = [{ path = "x:at" }]
    11:24: no message has the kind x: there are request, response
"#,
    );
    check(
        r#"name = "x"
[header]
fields = [{ name = "op", type = "u8" }]
[[message]]
role = "notification"
"#,
        r#"
role -> content = ".body"\nrole
    5:11: content: no message has a body: the header has no length, and no delimiter follows it
"#,
    );
    check(
        r#"name = "x"
[header]
fields = [{ name = "op", type = "u8" }, { name = "size", type = "u8", length = "body" }]
[[message]]
role = "notification"
[marks]
volatile = ["*:header.op", "**.op", "header.*", "body.any"]
[[rule]]
name = "a"
when = ".header.op=1"
increases = ".header.size"
text = "{.header.op}"
"#,
        r#"
header.*" -> header.po"
    7:37: the header has no field po: did you mean op?
body.any -> any
    7:49: wanted .header or .body first, such as .body.any, got .any
when = ".header.op -> when = ".header.po
    10:8: when: the header has no field po: did you mean op?
increases = ".header.size -> increases = ".header.sum
    11:13: increases: the header has no field sum: there are op, size
text = "{.header.op} -> text = "{.header.po}
    12:8: text: the header has no field po: did you mean op?
text = -> same = ".po"\ntext =
    12:8: same: wanted .header or .body first, such as .body.po, got .po
"#,
    );
    check(
        FORMS,
        r#"
".header.op=get" -> ".header.po=get"
    13:8: when: the header has no field po: did you mean op?
".header.op=get" -> ".header.op=gte and .header.op=129"
    13:8: when: no value of op has the name gte: did you mean get?
subject = ".header.op" -> subject = ".op"
    15:11: subject: wanted .header or .body first, such as .body.op, got .op
subject = ".header.op" -> subject = ".header.magic"
    15:11: subject: the header has no field magic: there are size, op, sum
"#,
    );
    let texts = FORMS.replace("\"json\", ", "");
    check(
        &texts,
        r#"
subject = ".header.op" -> subject = ".body.vreb"
    15:11: subject: no text has a member vreb: did you mean verb?
"#,
    );
    let text_alone = texts.replace("\".header.op\"", "\".body.ping\"");
    assert_eq!(errors(&text_alone), Vec::<String>::new());
}

/// A description with a header and forms of a text, without an error.
pub(super) const FORMS: &str = r#"name = "forms"
encodings = ["json", "text"]
text = ["{verb}:{what...}", { regex = '^(?<ping>PING)$' }]
pair = "subject"
[header]
fields = [
  { name = "magic", magic = [0xca, 0xfe] },
  { name = "size", type = "u16", length = "body" },
  { name = "op", type = "u8", names = { 1 = "get", 0x81 = "got" } },
]
checksum = { name = "sum", checksum = "crc32", order = "little" }
[[message]]
when = ".header.op=get"
role = "request"
subject = ".header.op"
"#;

#[test]
fn wrong_headers_and_texts_have_places() {
    check(
        FORMS,
        r#"
name = "op",  ->
    9:3: wanted a name of the field
"op" -> "size"
    9:3: header: size: wanted a name of its own, got the name "size"
"u8" -> "u9"
    9:25: type: wanted u8, u16le, u32be, i64 and the like, or varint, got "u9"
type = "u8" -> bytes = 0
    9:26: bytes: wanted a number from 1 to 1024, got 0
    9:29: names is of a field with type
type = "u8",  ->
    9:3: op: wanted one of magic, type, bytes and checksum
0x81 = -> x =
    9:52: names: wanted a number such as 7 or 0x80, got x
"got" -> "get"
    9:59: names: wanted each number and each name once, got "get"
"body" -> "all"
    8:43: length: wanted body, after-length, from-length or frame, got "all"
length = "body" -> plus = 1
    8:41: plus: wanted length beside it, got 1
[0xca, 0xfe] -> [0xca, 256]
    7:29: magic: wanted a text, or a list of bytes such as [0xca, 0xfe], got [0xca, 256]
"crc32" -> "crc33"
    11:39: checksum: wanted one of sum8, xor8, crc16-ccitt-false, crc16-modbus, crc32, adler32, got "crc33"
"little" -> "both"
    11:56: order: wanted big or little, got "both"
checksum = { -> delimter = ""\nchecksum = {
    11:1: unknown key delimter: did you mean delimiter?
[header] -> framings = ["lines"]\n[header]
    5:12: framings: wanted no framings: the header delimits messages, got ["lines"]
[header] -> line-end = "\r"\n[header]
    5:12: line-end: wanted "\n" or "\r\n", got "\r"
encodings = ["json", "text"] ->
    3:8: text: wanted encodings with text beside it, got ["{verb}:{what...}", { regex = '^(?<ping>PING)$' }]
{verb}:{what...} -> {verb}{what}
    3:9: text: wanted a character between two members, got "{verb}{what}"
{verb}:{what...} -> {verb}:{verb}
    3:9: text: wanted each member once, got "{verb}:{verb}"
{verb}:{what...} -> {verb
    3:9: text: wanted members such as {name}, {name:int} or {name...}, got "{verb"
{verb}:{what...} -> verb
    3:9: text: wanted a template with a member such as {command}, got "verb"
(?<ping>PING) -> (PING)
    3:39: regex: wanted a named group, such as (?<level>\w+), got '^(PING)$'
(?<ping>PING) -> (?<ping>PING
    3:39: regex: wanted a regular expression, got '^(?<ping>PING$'
\nsubject -> \nname
    12:1: wanted subject: the path of the value that pairs the request
"#,
    );
    let values = "name = \"x\"\nframings = [\"values\"]\nencodings = [\"bytes\"]\n[[message]]\nrole = \"notification\"\n";
    assert_eq!(
        errors(values),
        [
            "2:12: framings: wanted no values: texts and bytes do not say where they end, got [\"values\"]"
        ]
    );
}

#[test]
fn all_errors_are_reported() {
    let text = CORRECT
        .replace("request", "ask")
        .replace("[marks]", "[mark]")
        .replace(".ask", "ask");
    let found = errors(&text);
    assert_eq!(found.len(), 4, "{found:#?}");
}

#[test]
fn errors_have_carets() {
    let error = Described::from_toml(&CORRECT.replace("role = \"request\"", "rol = \"request\""));
    insta::assert_snapshot!(error.unwrap_err().to_string(), @r#"
    description:3:1: wanted a role: one of request, response, error, notification, item, end, hello, heartbeat, control
      [[message]]
      ^^^^^^^^^^^
    description:5:1: unknown key rol: did you mean role?
      rol = "request"
      ^^^
    "#);
}

#[test]
fn descriptions_are_bounded() {
    let kinds = "[[message]]\nrole = \"notification\"\n".repeat(200);
    let regex = "[[message]]\nrole = \"notification\"\nwhen = '.a~/b/'\n".repeat(20);
    let members = (0..40).fold(String::new(), |text, n| {
        text + &format!("[[message]]\nrole = \"notification\"\nsubject = \".m{n}\"\n")
    });
    let deep = format!("when = \"{}.a\"\n", "(".repeat(70_000));
    let nested = format!("x = {}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    let large = format!("about = \"{}\"\n", "a".repeat(300 << 10));
    let states = "[[message]]\nrole = \"notification\"\nwhen = '.a~/(\\w{1000}){1000}/'\n";
    for (text, want) in [
        (kinds.as_str(), "message: wanted at most 128 kinds"),
        (&regex, "when: wanted at most 16 regular expressions in all"),
        (
            &members,
            "wanted paths with at most 32 different first members",
        ),
        (&deep, "unknown key when"),
        (&nested, ""),
        (&large, "wanted a description of at most 256 KiB"),
        (states, "when: wanted a regular expression"),
    ] {
        let text = format!("name = \"x\"\nframings = [\"lines\"]\n{text}");
        let found = errors(&text).join("\n");
        assert!(found.contains(want) && !found.is_empty(), "{want}: {found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A description with a damaged part is read or refused.
    #[test]
    fn damaged_descriptions_are_read_or_refused(at in 0..CORRECT.len(), len in 0..40_usize, text in "[ -~\n]{0,8}") {
        let end = (at + len).min(CORRECT.len());
        let mut damaged = CORRECT.to_owned();
        damaged.replace_range(at..end, &text);
        if let Err(error) = Described::from_toml(&damaged) {
            prop_assert!(error.errors().all(|(line, column, text)| line > 0 && column > 0 && !text.is_empty()));
        }
    }
}

/// A long wrong part is cut.
#[test]
fn errors_are_short() {
    let path = ".a".repeat(10_000);
    let text = format!(
        "name = \"x\"\nframings = [\"lines\"]\n[[message]]\nwhen = \"{path}\"\nrole = \"request\"\nid = \"{path}\"\n"
    );
    let error = Described::from_toml(&text).unwrap_err().to_string();
    assert!(
        error.contains("of at most 16 steps, or dir, got .a.a"),
        "{error}"
    );
    assert!(error.len() < 1000, "{error}");
}

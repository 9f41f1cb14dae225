//! `wiretool protocol draft`: what it finds of captures whose protocol it does not know.

use crate::common::{self, Ran, file, run, wiretool};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::path::{Path, PathBuf};

fn ran(args: &[&str]) -> Ran {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    run(wiretool().current_dir(root).args(args), "")
}

fn folder() -> PathBuf {
    let folder = common::temporary().join("draft");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the lines of a draft that are no comments.
fn stated(draft: &str) -> Vec<&str> {
    let lines = draft.lines();
    lines
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .collect()
}

#[test]
fn facts_of_unknown_captures_are_found() {
    let dap = "fixtures/dap/session.jsonl";
    // The capture, its members for framing and encoding, the comment on kinds, what pairs, and the number of pairs.
    for (capture, facts, pairs) in [
        (
            dap,
            &[
                "framings = [\"content-length\"]",
                "encodings = [\"json\"]",
                "# .type names the kind: it has 3 values in 27 of 27 messages.",
                "# .request_seq of an answer is .seq of its request: in 11 of 11 messages with .request_seq.",
                "reply-to = \".request_seq\"",
                "error = \".success=false\"",
            ][..],
            11,
        ),
        (
            "fixtures/cdp/session.jsonl",
            &[
                "framings = [\"http\", \"websocket\"]",
                "encodings = [\"json\"]",
                "when = \".method and .id\"",
                "# .id pairs answers with requests: 5 messages repeat that of one of the other side.",
                "subject = \".method\"",
            ],
            5,
        ),
        (
            "fixtures/nvim/session.jsonl",
            &[
                "framings = [\"values\"]",
                "encodings = [\"msgpack\"]",
                "# .[0] names the kind: it has 3 values in 12 of 12 messages.",
                "id = \".[1]\"",
                "subject = \".[2]\"",
            ],
            5,
        ),
        (
            "fixtures/i3/session.jsonl",
            &[
                "  { name = \"magic\", magic = \"i3-ipc\" },",
                "  { name = \"length\", type = \"u32le\", length = \"body\" },",
                "encodings = [\"json\", \"text\"]",
                "# .header.type names the kind: it has 13 values in 48 of 48 messages.",
                "pair = \"subject\"",
            ],
            19,
        ),
        (
            "fixtures/cli/ethereum.jsonl",
            &[
                "framings = [\"http\"]",
                "encodings = [\"json\"]",
                "when = \".method and .id\"",
                "# .id pairs answers with requests: 9 messages repeat that of one of the other side.",
                "error = \".error\"",
            ],
            9,
        ),
        (
            "fixtures/lsp/session.jsonl",
            &[
                "framings = [\"content-length\"]",
                "when = \".method and .id\"",
                "id = \".id\"",
            ],
            6,
        ),
        (
            "fixtures/acp/session.jsonl",
            &[
                "framings = [\"lines\"]",
                "when = \".method and .id\"",
                "id = \".id\"",
            ],
            5,
        ),
    ] {
        let (code, draft, err) = ran(&["protocol", "draft", capture]);
        let missing: Vec<_> = facts
            .iter()
            .filter(|fact| !draft.lines().any(|line| line == **fact))
            .collect();
        assert!(
            code == 0 && missing.is_empty(),
            "{capture}: {err}{draft}lacks {missing:#?}"
        );
        let again = format!(", {pairs} answers with their request.\n");
        assert!(draft.ends_with(&again), "{capture}: {draft}");
        // The draft is correct, and reads the capture.
        let path = file(&folder(), "draft.toml", draft.as_bytes());
        let (code, out, err) = ran(&["protocol", "check", &path]);
        assert_eq!(code, 0, "{capture}: {out}{err}");
        let (code, out, err) = ran(&["decode", "-f", "json", "-p", &path, capture]);
        assert!(code == 0 && !out.contains("\"faults\""), "{capture}: {err}");
    }
}

#[test]
fn a_few_broken_frames_hide_nothing() {
    let mut lines = String::new();
    for n in 0..20 {
        lines += &format!("{{\"id\":{n},\"method\":\"m{}\",\"params\":[]}}\n", n % 3);
        lines += &format!("{{\"id\":{n},\"result\":{{}}}}\n");
    }
    let few = lines.replacen('\n', "\nWARN {\n{\"id\":\n", 1);
    let many = lines.replace('\n', "\nWARN {\n");
    for (text, wanted) in [
        (
            &few,
            "# 40 messages, but 2 frames cannot be read: lines; json",
        ),
        (&many, "# 80 lines of text, and no byte is left"),
    ] {
        let path = file(&folder(), "broken.txt", text.as_bytes());
        let (code, draft, err) = ran(&["protocol", "draft", &path]);
        let is_there = draft.lines().any(|line| line == wanted);
        assert!(code == 0 && is_there, "{err}{draft}");
        let is_json = stated(&draft).contains(&"encodings = [\"json\"]");
        assert_eq!(
            is_json,
            draft.contains("when = \".method and .id\""),
            "{draft}"
        );
    }
}

#[test]
fn a_usual_name_of_kinds_may_have_many_values() {
    let mut lines = "{\"wiretool\":1,\"started\":\"2026-01-01T00:00:00Z\"}\n".to_owned();
    for (side, kind, seq) in [
        ('>', "HEY", None),
        ('<', "HEY", None),
        ('>', "SUB", Some(1)),
        ('<', "RES", Some(1)),
        ('<', "EVT", Some(1)),
        ('<', "EVT", Some(1)),
        ('>', "UNS", Some(1)),
        ('>', "INV", Some(2)),
        ('<', "RES", Some(2)),
        ('>', "SUB", Some(3)),
        ('<', "ERR", Some(3)),
        ('>', "BYE", None),
    ] {
        let seq = seq.map_or(String::new(), |seq| format!(",\"seq\":{seq}"));
        let text = format!("{{\"kind\":\"{kind}\"{seq}}}\n");
        let (time, dir) = (lines.len(), if side == '>' { "c2s" } else { "s2c" });
        lines += &format!("{{\"t\":{time},\"conn\":1,\"dir\":\"{dir}\",\"text\":{text:?}}}\n");
    }
    let path = file(&folder(), "kinds.jsonl", lines.as_bytes());
    let (code, draft, err) = ran(&["protocol", "draft", &path]);
    assert_eq!(code, 0, "{err}");
    let roles = draft
        .lines()
        .filter(|line| line.starts_with("kind") || line.starts_with("role"));
    let roles: Vec<_> = roles.collect();
    insta::assert_snapshot!(roles.join(" "), @r#"kind = "HEY" role = "notification" kind = "SUB" role = "request" kind = "RES" role = "response" kind = "EVT" role = "notification" kind = "UNS" role = "notification" kind = "INV" role = "request" kind = "ERR" role = "response" kind = "BYE" role = "notification""#);
}

#[test]
fn what_is_not_found_is_a_comment() {
    let noise: Vec<u8> = (0..999_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 | 1)
        .collect();
    let few = "{\"a\":1,\"n\":1}\n{\"b\":2,\"n\":1}\n{\"a\":3,\"n\":2}\n";
    for (bytes, wanted) in [
        (noise, "# Not found: a framing."),
        (
            few.as_bytes().to_vec(),
            "# Not found: what pairs requests and answers.",
        ),
    ] {
        let path = file(&folder(), "unknown.bin", bytes);
        let (code, draft, err) = ran(&["protocol", "draft", &path]);
        assert!(code == 0 && draft.contains(wanted), "{err}{draft}");
        let lines = stated(&draft);
        assert!(
            !lines.iter().any(|line| line.starts_with("id =")),
            "{draft}"
        );
        let description = file(&folder(), "unknown.toml", draft.as_bytes());
        let (code, out, _) = ran(&["protocol", "check", &description]);
        assert_eq!(code, 0, "{out}");
        let (_, _, err) = ran(&["decode", &path]);
        assert!(
            err.contains("wiretool protocol draft FILE proposes"),
            "{err}"
        );
    }
    let (code, _, err) = ran(&["protocol", "draft", "no-such-file"]);
    assert!(
        code == 2 && err.contains("cannot read no-such-file"),
        "{err}"
    );
}

/// Both one-way files are read, without the order of their messages.
#[test]
fn facts_of_real_peers_are_found() {
    let Some(captures) = std::env::var_os("WIRETOOL_CAPTURES").map(PathBuf::from) else {
        eprintln!("WIRETOOL_CAPTURES is not set: no captures of real peers");
        return;
    };
    for (capture, facts) in [
        (
            "saikuro/09-direct-py-py.1.c2s.bin",
            &[
                "framings = [\"prefix\"]",
                "encodings = [\"msgpack\"]",
                "when = \".type and .id\"",
                "id = \".id\"",
            ][..],
        ),
        (
            "sael/py-window-400-outstanding.c2s.bin",
            &[
                "framings = [\"http\", \"websocket\"]",
                "encodings = [\"json\"]",
                "when = \".kind=INV\"",
                "id = \".seq\"",
            ],
        ),
    ] {
        let path = captures.join(capture);
        let (code, draft, err) = ran(&["protocol", "draft", path.to_str().unwrap()]);
        let missing: Vec<_> = facts
            .iter()
            .filter(|fact| !draft.lines().any(|line| line == **fact))
            .collect();
        assert!(
            code == 0 && missing.is_empty(),
            "{capture}: {err}{draft}lacks {missing:#?}"
        );
    }
}

/// A recording of chunks of two sides.
struct Recording(String);

impl Recording {
    fn new() -> Self {
        let head = "{\"wiretool\":1,\"started\":\"2026-11-27T11:38:15Z\",\"transport\":\"tcp\"}\n";
        Self(format!("{head}{{\"t\":1,\"conn\":1,\"event\":\"open\"}}\n"))
    }

    fn add(&mut self, dir: &str, bytes: &[u8]) {
        let time = self.0.len();
        let bytes = STANDARD.encode(bytes);
        let line = format!("{{\"t\":{time},\"conn\":1,\"dir\":\"{dir}\",\"b64\":\"{bytes}\"}}\n");
        self.0 += &line;
    }

    /// Adds a request and its answers.
    fn ask(&mut self, request: &[u8], answers: &[Vec<u8>]) {
        self.add("c2s", request);
        for answer in answers {
            self.add("s2c", answer);
        }
    }
}

/// A type, a length of one byte, a text; answers come in order.
fn type_and_length() -> Recording {
    let frame = |kind: u8, body: &str| [&[kind, body.len() as u8], body.as_bytes()].concat();
    let mut all = Recording::new();
    for n in 0..6 {
        all.ask(
            &frame(2, &format!("key{n}={}x", "v".repeat(n))),
            &[frame(0x81, "")],
        );
        all.ask(
            &frame(1, &format!("key{n}")),
            &[frame(0x80, &format!("{}x", "v".repeat(n)))],
        );
    }
    all
}

/// Magic bytes, a command, a number, a length, bytes, and a CRC-32 after them.
fn with_checksum() -> Recording {
    let frame = |command: u8, n: u8, body: &[u8]| {
        let mut frame = vec![0xaa, 0x55, command, n, 0, body.len() as u8];
        frame.extend(body);
        let sum = crc32fast::hash(&frame);
        frame.extend(sum.to_be_bytes());
        frame
    };
    let mut all = Recording::new();
    for n in 0..10 {
        let body: Vec<u8> = (0..n).map(|byte| byte | 0x80).collect();
        all.ask(&frame(0x10, n, &body), &[frame(0x90, n, &body)]);
        all.ask(
            &frame(0x11, n + 100, &[3]),
            &[frame(0x91, n + 100, &[0x41, 0xac])],
        );
    }
    all
}

/// Flags, a type of two bytes, an id of four, a length; JSON and other bytes.
fn with_flags() -> Recording {
    let frame = |kind: u8, id: u8, body: &[u8]| {
        let json = u8::from(body.first() == Some(&b'{'));
        let head = [1, json, 0, kind, 0, 0, 0, id, 0, 0, 0, body.len() as u8];
        [&head, body].concat()
    };
    let mut all = Recording::new();
    for n in 1..7 {
        let call = format!("{{\"method\":\"rev\",\"args\":[{n}]}}");
        all.ask(
            &frame(1, n, call.as_bytes()),
            &[frame(2, n, b"{\"result\":1}")],
        );
        all.ask(
            &frame(3, n + 100, &[0xfe; 3]),
            &[frame(4, n + 100, &[0xff])],
        );
    }
    all
}

/// The same, with a message that both sides send: its type is of no role.
fn with_pings() -> Recording {
    let mut all = with_flags();
    let ping = [1, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0];
    all.ask(&ping, &[ping.to_vec()]);
    all
}

/// A varint with the length, and `[op, id, value]` as JSON.
fn with_varint() -> Recording {
    let frame = |op: &str, id: usize, len: usize| {
        let body = format!("[\"{op}\",{id},\"{}\"]", "x".repeat(len));
        let mut frame = match body.len() {
            len @ ..0x80 => vec![len as u8],
            len => vec![len as u8 | 0x80, (len >> 7) as u8],
        };
        frame.extend(body.as_bytes());
        frame
    };
    let mut all = Recording::new();
    for n in 0..8 {
        all.ask(&frame("echo", n * 3, n * 40), &[frame("ok", n * 3, n * 40)]);
    }
    all
}

/// Ids within an object, and answers that repeat them elsewhere; rows and their end.
fn with_rows() -> Recording {
    let line = |text: String| format!("{text}\n").into_bytes();
    let mut all = Recording::new();
    all.add(
        "s2c",
        &line("{\"meta\":{\"seq\":500,\"type\":\"hello\"}}".to_owned()),
    );
    for n in 1..9 {
        let answer = |kind: &str, seq: usize| {
            line(format!(
                "{{\"meta\":{{\"seq\":{seq},\"type\":\"{kind}\"}},\"in_response_to\":{n}}}"
            ))
        };
        let kind = if n == 5 { "list" } else { "get" };
        let answers = match kind {
            "list" => vec![answer("row", 601), answer("row", 602), answer("done", 603)],
            _ => vec![answer("ok", 500 + n)],
        };
        let request =
            format!("{{\"meta\":{{\"seq\":{n},\"type\":\"{kind}\"}},\"body\":{{\"k\":\"k{n}\"}}}}");
        all.ask(&line(request), &answers);
    }
    all
}

/// Commands, replies with numbers, and a text that is not answered line by line.
fn mail() -> Recording {
    let mut all = Recording::new();
    let line = |text: &str| format!("{text}\r\n").into_bytes();
    all.add("s2c", &line("220 hello"));
    for (command, answers) in [
        ("EHLO me", &["250-here", "250-SIZE", "250 HELP"][..]),
        ("MAIL FROM:<a>", &["250 OK"]),
        ("RCPT TO:<b>", &["250 OK"]),
        ("RCPT TO:<c>", &["550 no"]),
        ("DATA", &["354 go"]),
        ("Subject: x", &[]),
        ("", &[]),
        ("hi", &[]),
        (".", &["250 OK"]),
        ("QUIT", &["221 bye"]),
    ] {
        let answers: Vec<_> = answers.iter().map(|answer| line(answer)).collect();
        all.ask(&line(command), &answers);
    }
    all
}

/// Lines of names and values.
fn names_and_values() -> Recording {
    let mut all = Recording::new();
    for n in 1..7 {
        let put = format!("id={n} op=put key=k{n} value=v\n");
        all.ask(
            put.as_bytes(),
            &[format!("id={n} status=ok\n").into_bytes()],
        );
        let id = n + 50;
        let get = format!("id={id} op=get key=k{n}\n");
        all.ask(
            get.as_bytes(),
            &[format!("id={id} status=ok value=v\n").into_bytes()],
        );
    }
    all
}

#[test]
fn facts_of_other_protocols_are_found() {
    for (name, recording, facts, pairs) in [
        (
            "type-and-length",
            type_and_length(),
            &[
                "encodings = [\"text\"]",
                "  { name = \"type\", type = \"u8\" },",
                "  { name = \"length\", type = \"u8\", length = \"body\" },",
                "pair = \"order\"",
                "when = \".header.type=129\"",
                "role = \"response\"",
            ][..],
            12,
        ),
        (
            "with-checksum",
            with_checksum(),
            &[
                "  { name = \"magic\", magic = [170, 85] },",
                "  { name = \"type\", type = \"u8\" },",
                "  { name = \"id\", type = \"u8\" },",
                "  { name = \"length\", type = \"u16be\", length = \"body\" },",
                "checksum = { name = \"sum\", checksum = \"crc32\" }",
                "id = \".header.id\"",
            ],
            20,
        ),
        (
            "with-flags",
            with_flags(),
            &[
                "encodings = [\"json\", \"bytes\"]",
                "  { name = \"type\", type = \"u16be\" },",
                "  { name = \"id\", type = \"u32be\" },",
                "  { name = \"length\", type = \"u32be\", length = \"body\" },",
                "id = \".header.id\"",
            ],
            12,
        ),
        (
            "with-pings",
            with_pings(),
            &[
                "  { name = \"id\", type = \"u32be\" },",
                "when = \"dir=c2s\"",
                "id = \".header.id\"",
            ],
            13,
        ),
        (
            "with-varint",
            with_varint(),
            &[
                "  { name = \"length\", type = \"varint\", length = \"body\" },",
                "when = \".body.[0]=echo\"",
                "id = \".body.[1]\"",
            ],
            8,
        ),
        (
            "with-rows",
            with_rows(),
            &[
                "when = \".meta.type=row\"",
                "role = \"item\"",
                "role = \"end\"",
                "reply-to = \".in_response_to\"",
                "id = \".meta.seq\"",
            ],
            10,
        ),
        (
            "mail",
            mail(),
            &[
                "line-end = \"\\r\\n\"",
                "pair = \"order\"",
                "when = \".code=220\"",
                "when = 'dir=c2s and .verb=\".\",DATA,EHLO,MAIL,QUIT,RCPT'",
                "when = \".more or .more=''\"",
                "error = \".code>=400\"",
            ],
            9,
        ),
        (
            "names-and-values",
            names_and_values(),
            &[
                "text = [\"id={id:int} op={op} key={key} value={value}\", \"id={id:int} op={op} key={key}\", \"id={id:int} status={status} value={value}\", \"id={id:int} status={status}\"]",
                "when = \".op and .id\"",
                "id = \".id\"",
            ],
            12,
        ),
    ] {
        let capture = file(&folder(), &format!("{name}.jsonl"), recording.0);
        let (code, draft, err) = ran(&["protocol", "draft", &capture]);
        let missing: Vec<_> = facts
            .iter()
            .filter(|fact| !draft.lines().any(|line| line == **fact))
            .collect();
        assert!(
            code == 0 && missing.is_empty(),
            "{name}: {err}{draft}lacks {missing:#?}"
        );
        let again = format!(", {pairs} answers with their request.\n");
        assert!(draft.ends_with(&again), "{name}: {draft}");
        let path = file(&folder(), &format!("{name}.toml"), draft.as_bytes());
        let (code, out, err) = ran(&["lint", "-p", &path, &capture]);
        assert_eq!((code, out.as_str()), (0, ""), "{name}: {err}{draft}");
    }
}

//! Each limit of `wiretool help limits` is tried, here or in a test that the table names.

use crate::common::{file, run, temporary, wiretool};
use std::fmt::Write as _;
use std::path::Path;
use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use wiretool::protocol::registry;

/// Runs a command on a file; returns everything that it prints.
fn on(folder: &Path, args: &[&str], name: &str, content: &[u8]) -> String {
    let path = file(folder, name, content);
    let args: Vec<String> = args.iter().map(|arg| arg.replace("{}", &path)).collect();
    let mut command = wiretool();
    command.args(args).current_dir(folder);
    let (_, out, err) = run(&mut command, b"");
    out + &err
}

/// A request of two values, and another one after it.
fn requests(first: &str) -> Vec<u8> {
    let first = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[{first}]}}\n");
    (first + "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"next\"}\n").into_bytes()
}

fn http(head: &str) -> Vec<u8> {
    format!("POST / HTTP/1.1\r\n{head}Content-Length: 2\r\n\r\n{{}}").into_bytes()
}

fn fields(count: usize) -> String {
    (0..count).fold(String::new(), |mut fields, n| {
        let _ = write!(fields, "X{n}: a\r\n");
        fields
    })
}

fn open_requests(count: usize) -> Vec<u8> {
    let requests = (0..count).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"a\"}}");
        text
    });
    requests.into_bytes()
}

const DESCRIPTION: &str = "name = \"own\"\nframings = [\"lines\"]\n\
    [[message]]\nwhen = \".x\"\nkind = \"x\"\n";

fn rules(count: usize) -> String {
    (0..count).fold(DESCRIPTION.to_owned(), |mut text, n| {
        let _ = write!(
            text,
            "[[rule]]\nname = \"r{n}\"\nnever = \"kind=x\"\ntext = \"t\"\n"
        );
        text
    })
}

/// A limit: its row, the command, an input within it and one beyond it, and what is printed only then.
type Tried = (
    &'static str,
    &'static [&'static str],
    &'static str,
    Vec<u8>,
    Vec<u8>,
    &'static str,
);

fn tried() -> Vec<Tried> {
    let decode: &[&str] = &["decode", "-p", "jsonrpc", "{}"];
    let text = |len: usize| format!("\"{}\"", "x".repeat(len));
    let levels = |n: usize| "[".repeat(n) + &"]".repeat(n);
    let line = |len: usize| {
        let text = "x".repeat(len);
        format!("{{\"wiretool\":1}}\n{{\"t\":1,\"conn\":1,\"dir\":\"c2s\",\"text\":\"{text}\"}}\n")
            .into_bytes()
    };
    let lsp = |len: usize| {
        let field = "a".repeat(len);
        format!("X: {field}\r\nContent-Length: 38\r\n\r\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ab\"}}")
            .into_bytes()
    };
    let comment = |len: usize| format!("{DESCRIPTION}#{}\n", "x".repeat(len)).into_bytes();
    let setting = |len: usize| format!("#{}\n", "x".repeat(len)).into_bytes();
    let methods = |count: usize| {
        let requests = (0..count).fold(String::new(), |mut text, n| {
            let _ = writeln!(
                text,
                "{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"m{n}\"}}"
            );
            text
        });
        requests.into_bytes()
    };
    vec![
        (
            "size of a message, also inflated",
            decode,
            "a.bin",
            requests(&text(1 << 20)),
            requests(&text(17 << 20)),
            "over-limit",
        ),
        (
            "nesting",
            decode,
            "a.bin",
            requests(&levels(100)),
            requests(&levels(200)),
            "too-deep",
        ),
        (
            "head of HTTP",
            decode,
            "a.bin",
            http(&format!("X: {}\r\n", "a".repeat(1 << 19))),
            http(&format!("X: {}\r\n", "a".repeat(1 << 20))),
            "bad-http",
        ),
        (
            "fields of HTTP",
            decode,
            "a.bin",
            http(&fields(100)),
            http(&fields(200)),
            "bad-http",
        ),
        (
            "block of Content-Length",
            &["decode", "-p", "lsp", "{}"],
            "a.bin",
            lsp(8000),
            lsp(9000),
            "missing-header",
        ),
        (
            "requests that fit several protocols",
            &["decode", "-v", "{}"],
            "a.bin",
            Vec::new(),
            methods(3),
            "jsonrpc (lines)",
        ),
        (
            "open requests",
            &["lint", "-p", "jsonrpc", "{}"],
            "a.bin",
            open_requests(65_536),
            open_requests(65_537),
            "later ones are not tracked",
        ),
        (
            "line of a recording",
            &["decode", "-p", "jsonrpc", "{}"],
            "a.jsonl",
            line(1 << 20),
            line(64 << 20),
            "longer than the limit of 67108864 bytes",
        ),
        (
            "wiretool.toml",
            &["decode", "none"],
            "wiretool.toml",
            setting(1 << 19),
            setting(1 << 20),
            "larger than",
        ),
        (
            "description",
            &["protocol", "check", "{}"],
            "a.toml",
            comment(200 << 10),
            comment(256 << 10),
            "256",
        ),
        (
            "rules of a description",
            &["protocol", "check", "{}"],
            "a.toml",
            rules(256).into_bytes(),
            rules(257).into_bytes(),
            "256",
        ),
        (
            "steps of a diagram",
            &[
                "export", "-f", "mermaid", "-p", "jsonrpc", "--dir", "c2s", "{}",
            ],
            "a.bin",
            methods(20),
            methods(200),
            "more messages",
        ),
        (
            "nesting of rows",
            &["decode", "-f", "json", "--flat", "-p", "jsonrpc", "{}"],
            "a.bin",
            requests(&levels(90)),
            requests(&levels(110)),
            "\"[[[",
        ),
    ]
}

/// Rows that other tests try: where, and the name of the test.
const ELSEWHERE: [(&str, &str, &str); 4] = [
    (
        "bytes that no protocol recognises, live",
        include_str!("../../src/conversation/tap.rs"),
        "unrecognised_bytes_are_held_up_to_a_limit",
    ),
    (
        "id, method and name of an open request",
        include_str!("../../src/protocol/session/stored.rs"),
        "long_texts_are_stored_in_part",
    ),
    (
        "recordings of @NAME",
        include_str!("../../src/cli/state.rs"),
        "the_oldest_recordings_are_removed_if_all_are_too_large",
    ),
    (
        "messages of a page",
        include_str!("page_cli.rs"),
        "long_sessions_are_cut_with_a_note",
    ),
];

/// Rows that no test tries, since that takes minutes.
const SLOW: [&str; 1] = ["messages that diff holds"];

#[test]
fn every_limit_of_the_page_is_tried() {
    let page = include_str!("../../src/cli/topics/limits.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("- "));
    let named: Vec<&str> = rows
        .filter_map(|row| Some(row.split_once(": ")?.0))
        .collect();
    let folder = tempfile::tempdir_in(temporary()).unwrap();
    let tried = tried();
    let known = tried.iter().map(|row| row.0);
    let known: Vec<&str> = known
        .chain(ELSEWHERE.map(|row| row.0))
        .chain(SLOW)
        .collect();
    let missing: Vec<&&str> = named.iter().filter(|name| !known.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for (name, text, test) in ELSEWHERE {
        assert!(text.contains(&format!("fn {test}()")), "{name}: {test}");
    }
    for (name, args, path, within, beyond, said) in tried {
        assert!(named.contains(&name), "{name}");
        let start = |text: &str| text.chars().take(2000).collect::<String>();
        let shown = on(folder.path(), args, path, &within);
        assert!(!shown.contains(said), "{name}: {}", start(&shown));
        let shown = on(folder.path(), args, path, &beyond);
        assert!(shown.contains(said), "{name}: {}", start(&shown));
        std::fs::remove_file(folder.path().join(path)).unwrap();
    }
}

#[test]
fn three_requests_that_no_other_protocol_knows_are_shown_at_once() {
    let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
    for (n, wanted) in [0, 0, 3, 1].into_iter().enumerate() {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"m{n}\"}}\n");
        let mut seen = 0;
        decoder.push(
            Origin::default(),
            line.as_bytes(),
            &mut |decoded: &Decoded<'_>| {
                assert_eq!(decoded.protocol.name(), "jsonrpc");
                seen += 1;
            },
        );
        assert_eq!(seen, wanted, "{n}");
    }
}

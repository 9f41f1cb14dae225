//! The live commands over QUIC, as `wiretool help live` shows them.

use crate::common;
use crate::common::programs::{Run, read_until};
use std::collections::BTreeMap;

const TOPIC: &str = include_str!("../../src/cli/topics/live.md");
const FIRST: &str = "wiretool stub telequick --script fixtures/cli/gateway.toml";

/// A command of the topic, with files in a folder and with the ports of this run.
fn words(line: &str, folder: &str, ports: &BTreeMap<String, String>) -> Vec<String> {
    let in_folder = |word: &str| word.rsplit('.').next() == Some("pem") || word == "calls.jsonl";
    let words = line.split_whitespace().skip(1);
    let words = words.map(|word| match word {
        word if in_folder(word) => format!("{folder}/{word}"),
        word => ports.get(word).map_or(word, String::as_str).to_owned(),
    });
    words.collect()
}

#[test]
fn live_commands_of_the_topic_work_together() {
    let at = TOPIC.find(FIRST).unwrap();
    let block = TOPIC[at..].split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let mut ports = BTreeMap::new();
    let mut running = Vec::new();
    let mut outputs = Vec::new();
    for line in block.lines() {
        let mut words = words(line, folder, &ports);
        let listen = words.iter().position(|word| word == "--listen");
        if let Some(at) = listen {
            let shown = std::mem::replace(&mut words[at + 1], "quic://127.0.0.1:0".to_owned());
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let run = Run::new(&words);
            ports.insert(shown, address(&run));
            running.push(run);
            continue;
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (code, out, err) = common::run(common::wiretool().args(&words), "");
        assert_eq!(code, 0, "{line}: {out}{err}");
        outputs.push((out, err));
        // The proxy of this client ends with its connection.
        let run = running.pop().unwrap();
        let (status, _, said) = run.end();
        assert!(status.success(), "{said}");
    }
    let [(sent, _), (_, replayed)] = outputs.as_slice() else {
        panic!("{outputs:?}");
    };
    let heads: Vec<&str> = sent.lines().filter(|line| line.starts_with('#')).collect();
    let kinds: Vec<&str> = heads
        .iter()
        .filter_map(|line| line.split('←').nth(1)?.split_whitespace().next())
        .collect();
    assert_eq!(kinds, ["CallEvent", "CallEvent"], "{sent}");
    assert_eq!(
        replayed.trim(),
        "wiretool: 1 sent, 2 answers compared, 0 differ"
    );
}

/// The listening address that a command prints.
fn address(run: &Run) -> String {
    let said = read_until(&run.stderr, "listening on ");
    let rest = match said.split_once("listening on ") {
        Some((_, rest)) if rest.contains([',', '\n']) => rest.to_owned(),
        Some((_, rest)) => rest.to_owned() + &read_until(&run.stderr, "\n"),
        None => unreachable!("{said}"),
    };
    rest.split([',', '\n', ' ']).next().unwrap().to_owned()
}

#[test]
fn requests_wait_for_the_streams_that_a_server_allows() {
    let listen = ["--listen", "quic://127.0.0.1:0", "--max-streams", "4"];
    let stub = Run::new(&[&["stub", "telequick", "--once"][..], &listen].concat());
    let to = address(&stub);
    let requests = "Barge call_sid=CA0\n".repeat(60);
    let words = ["send", "telequick", "--file", "-", "--insecure"];
    let words = [&words[..], &["--connect", &to]].concat();
    let (code, out, err) = common::run(common::wiretool().args(&words), &requests);
    assert_eq!(code, 0, "{out}{err}");
    let (_, _, said) = stub.end();
    assert!(said.contains("60 requests, 60 without an answer"), "{said}");
}

#[test]
fn codes_of_faults_need_quic() {
    let words = ["proxy", "-p", "saikuro", "--fault", ": close 7"];
    let words = [&words[..], &["--connect", "tcp://127.0.0.1:1"]].concat();
    let (code, _, err) = common::run(common::wiretool().args(&words), "");
    let why = "only quic:// connections end with a code: close and reset have none here";
    assert_eq!((code, err.contains(why)), (2, true), "{err}");
}

#[test]
fn refused_certificate_is_explained() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Some programs use the certificate of an authority for a server.
    let key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let own = authority.self_signed(&key).unwrap();
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let file = |name: &str, text: String| common::file(folder.path(), name, text);
    let (cert, key) = (
        file("cert.pem", own.pem()),
        file("key.pem", key.serialize_pem()),
    );
    let other = file("other.pem", other.cert.pem());
    let listen = [
        "--listen",
        "quic://127.0.0.1:0",
        "--cert",
        &cert,
        "--key",
        &key,
    ];
    let stub = Run::new(&[&["stub", "telequick"][..], &listen].concat());
    let port = address(&stub).rsplit(':').next().unwrap().to_owned();
    let to = format!("quic://localhost:{port}");
    let send = |trust: &[&str]| {
        let words = [
            "send",
            "telequick",
            "Barge",
            "call_sid=CA0",
            "--connect",
            &to,
        ];
        common::run(common::wiretool().args(words).args(trust), "")
    };
    let (code, _, err) = send(&["--cacert", &other]);
    assert_eq!(code, 2, "{err}");
    for word in ["the server's certificate", "--cacert FILE", "--insecure"] {
        assert!(err.contains(word), "{err}");
    }
    assert!(!err.contains("OtherError"), "{err}");
    // The stub answers that it has no rule.
    for trust in [&["--cacert", &cert][..], &["--insecure"]] {
        let (code, out, err) = send(trust);
        assert!(code < 2, "{code} {out}{err}");
    }
}

/// A recording with datagrams: before and after the first message, text and bytes.
const DATAGRAMS: &str = r#"{"wiretool":1,"started":"2026-11-22T10:00:00Z","transport":"quic"}
{"t":0,"conn":1,"event":"open"}
{"t":1000,"conn":1,"dir":"c2s","datagram":true,"text":"early"}
{"t":2000,"conn":1,"stream":0,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n"}
{"t":3000,"conn":1,"dir":"s2c","datagram":true,"b64":"AP8B"}
{"t":4000,"conn":1,"stream":0,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}\n"}
{"t":5000,"conn":1,"event":"close","code":0}
{"t":5000,"event":"end","chunks":4,"bytes":{"c2s":60,"s2c":60}}
"#;

#[test]
fn recorded_datagrams_are_shown() {
    let decode = |words: &[&str]| {
        let (code, out, err) = common::run(common::wiretool().arg("decode").args(words), DATAGRAMS);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        out
    };
    let kinds = |out: &str| -> Vec<String> {
        let values = out
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let kinds =
            values.map(|value| format!("{} {} {}", value["index"], value["dir"], value["kind"]));
        kinds.map(|kind| kind.replace('"', "")).collect()
    };
    let wanted = [
        "0 c2s request",
        "1 c2s datagram",
        "2 s2c datagram",
        "3 s2c response",
    ];
    assert_eq!(kinds(&decode(&["-f", "json"])), wanted);
    let shown = decode(&["-f", "json", "--where", "kind=datagram"]);
    assert!(shown.contains(r#""raw":"early""#), "{shown}");
    assert!(shown.contains(r#""raw":{"$bin":"00ff01"}"#), "{shown}");
    let lines = decode(&["-f", "line", "--kind", "datagram"]);
    assert!(
        lines.contains("\"early\"") && lines.contains("0x00ff01"),
        "{lines}"
    );
    // They are part of no stream that can be written again.
    let exact = decode(&["-f", "json", "--exact"]);
    let (code, out, err) = common::run(common::wiretool().arg("encode"), &exact);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        !out.contains("early") && out.contains("tools/list"),
        "{out}"
    );
}

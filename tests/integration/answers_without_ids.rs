//! Answers that name no request, and have no method id either: a stub plays the recording of a session, and its replay
//! finds no difference, for each transport and each length mode.

use crate::common;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The number of bytes of a length that the length counts; `None` for an envelope alone.
type LengthMode = Option<u32>;
const EXCLUSIVE: LengthMode = Some(4);
const INCLUSIVE: LengthMode = Some(8);
const BARE: LengthMode = None;

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
}

fn message(mode: LengthMode, method: u32, fields: &[u8]) -> Vec<u8> {
    let size = (fields.len() as u32).to_le_bytes();
    let envelope = [&[0, 0][..], &size, fields].concat();
    let Some(own) = mode else {
        return envelope;
    };
    let length = (own + envelope.len() as u32).to_le_bytes();
    [&length[..], &method.to_le_bytes(), &envelope].concat()
}

/// Requests and their answers, by method id.
fn session() -> [(u32, Vec<u8>, Vec<u8>); 5] {
    let call = text("CA01");
    let time = 1_767_225_600_000_i64.to_le_bytes();
    let done = [&call[..], &text("OK"), &text(""), &[0; 4], &time].concat();
    [
        // Terminate, Barge, GetActiveBuckets, AnswerIncomingCall, ExecuteBucketAction
        (3_834_253_405, call.clone(), done.clone()),
        (3_854_301_714, call.clone(), Vec::new()),
        (2_624_504_207, Vec::new(), Vec::new()),
        (
            2_990_157_256,
            [&call[..], &text(""), &text("")].concat(),
            done,
        ),
        (
            4_030_863_293,
            [&text("b"), &[1, 0, 0, 0][..]].concat(),
            vec![7, 0, 0, 0],
        ),
    ]
}

fn recording(transport: &str, request: LengthMode, answer: LengthMode) -> PathBuf {
    let head = r#"{"wiretool":1,"protocol":"telequick","started":"2026-01-01T00:00:00Z","transport":"TRANSPORT"}"#;
    let mut lines = head.replace("TRANSPORT", transport) + "\n";
    lines += "{\"t\":0,\"conn\":1,\"event\":\"open\"}\n";
    let mut t = 0;
    for (n, (method, asked, answered)) in session().into_iter().enumerate() {
        let stream = match transport {
            "quic" => format!(r#""stream":{},"#, 4 * n),
            _ => String::new(),
        };
        for (direction, bytes) in [
            ("c2s", message(request, method, &asked)),
            ("s2c", message(answer, method, &answered)),
        ] {
            t += 1_000_000;
            let text = STANDARD.encode(&bytes);
            lines += &format!(
                "{{\"t\":{t},\"conn\":1,\"dir\":\"{direction}\",{stream}\"b64\":\"{text}\"}}\n"
            );
        }
    }
    lines += &format!("{{\"t\":{t},\"event\":\"end\",\"chunks\":10,\"bytes\":{{}}}}\n");
    let name = format!("answers-{transport}-{request:?}-{answer:?}.jsonl");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, lines).unwrap();
    path
}

#[test]
fn replay_of_a_stub_of_the_recording_has_no_difference() {
    for transport in ["tcp", "quic"] {
        for (request, answer) in [
            (EXCLUSIVE, EXCLUSIVE),
            (INCLUSIVE, INCLUSIVE),
            (INCLUSIVE, BARE),
            (EXCLUSIVE, BARE),
        ] {
            let path = recording(transport, request, answer);
            let name = path.display();
            let mut stub = common::wiretool()
                .args(["stub", "telequick", "-q", "--once", "--from-recording"])
                .arg(&path)
                .args(["--listen", &format!("{transport}://127.0.0.1:0")])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the binary runs");
            let stderr = BufReader::new(stub.stderr.take().expect("a pipe"));
            let mut lines = stderr.lines().map(|line| line.expect("text"));
            let address =
                lines.find_map(|line| Some(line.split_once("listening on ")?.1.to_owned()));
            let address = address.expect("the stub listens");
            let trust = (transport == "quic").then_some("--insecure");
            let replay = common::wiretool()
                .arg("replay")
                .args(trust)
                .arg(&path)
                .args(["--connect", address.split(',').next().unwrap()])
                .stdin(Stdio::null())
                .output()
                .expect("the binary runs");
            let _ = stub.kill();
            let _ = stub.wait();
            let shown = String::from_utf8_lossy(&replay.stderr);
            assert_eq!(replay.status.code(), Some(0), "{name}: {shown}");
            assert!(
                shown.contains("5 answers compared, 0 differ"),
                "{name}: {shown}"
            );
        }
    }
}

/// Lint pairs all of them, and nothing is left unanswered.
#[test]
fn lint_pairs_answers_without_a_method_id() {
    for transport in ["tcp", "quic"] {
        let path = recording(transport, INCLUSIVE, BARE);
        let lint = common::wiretool()
            .args(["lint", "-f", "json"])
            .arg(&path)
            .output();
        let lint = lint.expect("the binary runs");
        let found = String::from_utf8_lossy(&lint.stdout);
        assert!(
            !found.contains("unasked") && !found.contains("unanswered"),
            "{found}"
        );
        let decode = common::wiretool()
            .args(["decode", "-f", "json", "--lint"])
            .arg(&path)
            .output();
        let lines = String::from_utf8(decode.expect("the binary runs").stdout).unwrap();
        let answers = lines.lines().filter(|line| line.contains("\"reply_to\":"));
        assert_eq!(answers.count(), 5, "{lines}");
    }
}

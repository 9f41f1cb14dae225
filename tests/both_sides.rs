//! Real sessions, played by both sides: a stub answers as a recording says, and a replay of the same finds no difference.
//!
//! Reads the captures where `WIRETOOL_CAPTURES` points, as recordings that `tests/recordings.py` makes of them; says so
//! where there are none.

mod common;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Healthy sessions that are not played, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "oracle-real-executor-deep",
        "an answer is nested too deeply to be read",
    ),
    (
        "oracle-sdk-oracle-dup_key_id",
        "a request with two ids was never answered, which the stub says",
    ),
    (
        "oracle-sdk-oracle-shutdown_spaces_as_in_doc",
        "nothing was asked",
    ),
    (
        "sael-synthetic-header-text",
        "its WebSocket messages hold another framing",
    ),
    (
        "saikuro-11-doc-shaped.1",
        "a channel is closed by the recording and by the protocol, where all is said at once",
    ),
];

/// A stub that listens; gone when this is.
struct Stub(Child, String);

impl Drop for Stub {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stub {
    fn start(protocol: &str, scheme: &str, recording: &Path) -> Result<Self, String> {
        let mut child = common::wiretool()
            .args(["stub", protocol, "-q", "--from-recording"])
            .arg(recording)
            .args(["--listen", &format!("{scheme}://127.0.0.1:0")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("stderr is read");
        // Whoever writes more than a pipe holds is not held up.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let Some((_, address)) = line.trim().split_once("listening on ") else {
            let _ = child.wait();
            return Err(line);
        };
        let address = address.split(',').next().unwrap_or_default().to_owned();
        Ok(Self(child, address))
    }
}

fn recordings() -> Option<PathBuf> {
    let captures = std::env::var_os("WIRETOOL_CAPTURES").map(PathBuf::from);
    let Some(captures) = captures.filter(|folder| folder.is_dir()) else {
        println!("WIRETOOL_CAPTURES names no folder: real sessions are not looked at");
        return None;
    };
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("both-sides");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings.py");
    let made = Command::new("python3")
        .args([&script, &captures, &out])
        .status();
    assert!(made.is_ok_and(|status| status.success()), "no recordings");
    Some(out)
}

/// What went wrong, if anything did.
fn play(path: &Path) -> Result<(), String> {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap();
    let lint = common::wiretool().args(["lint", "-q"]).arg(path).output();
    let is_healthy = lint.expect("the binary runs").status.success();
    if !is_healthy || LEFT_OUT.iter().any(|(left, _)| *left == name) {
        return Ok(());
    }
    let protocol = name.split('-').next().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let is_stdio = text
        .lines()
        .next()
        .unwrap()
        .contains(r#""transport":"stdio""#);
    // A session that ended before the calling side said anything.
    if !text.contains(r#""dir":"c2s""#) {
        return Ok(());
    }
    let scheme = match protocol {
        "sael" => "ws",
        "saikuro" if text.contains("GET /") => "ws",
        "stepflow" => "http",
        _ => "tcp",
    };
    let mut replay = common::wiretool();
    replay.arg("replay").arg(path).args(["--timeout", "20s"]);
    let _stub = if is_stdio {
        let binary = env!("CARGO_BIN_EXE_wiretool");
        replay.args(["--", binary, "stub", protocol, "-q", "--from-recording"]);
        replay.arg(path);
        None
    } else {
        let stub = Stub::start(protocol, scheme, path).map_err(|e| format!("{name}: {e}"))?;
        replay.args(["--connect", &stub.1]);
        Some(stub)
    };
    let output = replay.stdin(Stdio::null()).output();
    let output = output.expect("the binary runs");
    if output.status.success() {
        return Ok(());
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    Err(format!("{name}: {}\n{shown}{said}", output.status))
}

#[test]
fn healthy_sessions_are_played_by_both_sides() {
    let Some(recordings) = recordings() else {
        return;
    };
    let files = std::fs::read_dir(recordings).unwrap();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 100, "{}", files.len());
    let half = files.len().div_ceil(2);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = files
            .chunks(half)
            .map(|part| scope.spawn(|| part.iter().filter_map(|path| play(path).err()).collect()))
            .collect();
        let found = threads.into_iter().map(|t| t.join().unwrap());
        found.flat_map(|found: Vec<String>| found).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

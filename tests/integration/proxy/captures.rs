//! Streams of real peers through the proxy, including unusual ones: without a fault nothing changes and the recording
//! decodes like the streams; a fault of one message leaves the other messages unchanged.
//!
//! The streams are not part of this repository: `WIRETOOL_CAPTURES` names the folder; without it the test is skipped.

use super::common::*;
use rustix::process::Signal;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread::spawn;
use wiretool::capture::ChunkSource;

/// Both directions of one connection.
struct Pair {
    name: String,
    files: [Option<PathBuf>; 2],
    bytes: [Vec<u8>; 2],
}

impl Pair {
    fn is_http(&self) -> bool {
        let [up, _] = &self.bytes;
        ["GET ", "POST ", "OPTIONS "]
            .iter()
            .any(|m| up.starts_with(m.as_bytes()))
    }
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|e| e == "bin") {
            into.push(path);
        }
    }
}

/// All pairs of a protocol; a stream without a partner is a pair alone.
fn pairs(folder: &Path) -> Vec<Pair> {
    let mut all = Vec::new();
    files(folder, &mut all);
    all.sort();
    let mut pairs: BTreeMap<String, [Option<PathBuf>; 2]> = BTreeMap::new();
    for path in all {
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        let ends = [
            ("c2s.bin", 0),
            ("to_oracle.bin", 0),
            ("s2c.bin", 1),
            ("from_oracle.bin", 1),
        ];
        let end = ends
            .iter()
            .find_map(|(end, at)| Some((name.strip_suffix(end)?, *at)));
        let (name, at) = end.unwrap_or((&name, 0));
        pairs.entry(name.to_owned()).or_default()[at] = Some(path);
    }
    let read = |path: &Option<PathBuf>| {
        path.as_ref()
            .map_or(Vec::new(), |p| std::fs::read(p).unwrap())
    };
    let pair = |(name, files): (String, [Option<PathBuf>; 2])| Pair {
        name,
        bytes: [read(&files[0]), read(&files[1])],
        files,
    };
    pairs.into_iter().map(pair).collect()
}

/// Plays all pairs through one proxy, one connection after another. Returns the output of both ends, and the recording.
fn play(
    pairs: &[&Pair],
    protocol: &str,
    scheme: &str,
    path: &Path,
    faults: &[String],
) -> (Vec<[Vec<u8>; 2]>, Recording) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("{scheme}://{}", listener.local_addr().unwrap());
    let mut more = vec!["-q", "-p", protocol, "-w", path.to_str().unwrap()];
    for fault in faults {
        more.extend(["--fault", fault]);
    }
    let (run, port) = Run::proxy("record", &address, &more);
    let mut out = Vec::new();
    for (n, pair) in pairs.iter().enumerate() {
        let client = connect_to_port(port);
        let server = listener.accept().unwrap().0.with_time_limits();
        let talk = |mut stream: std::net::TcpStream, bytes: Vec<u8>, seed| {
            let mut writer = stream.clone_socket();
            let writing = spawn(move || {
                send(&mut writer, &bytes, seed);
                writer.end();
            });
            let got = receive(&mut stream);
            writing.join().unwrap();
            got
        };
        let [up, down] = pair.bytes.clone();
        let serving = spawn(move || talk(server, down, n as u64));
        let got_down = talk(client, up, !(n as u64));
        out.push([serving.join().unwrap(), got_down]);
    }
    run.signal(Signal::TERM);
    assert_eq!(run.code(), Some(143));
    (out, Recording::read(path))
}

/// Parses a line of decode key by key; peers may send JSON that only a lenient reader accepts.
type Line = BTreeMap<String, Box<RawValue>>;

fn text<'l>(line: &'l Line, key: &str) -> &'l str {
    line.get(key)
        .map_or("", |value| value.get().trim_matches('"'))
}

fn number_of(line: &Line, key: &str) -> usize {
    text(line, key).parse().unwrap_or_default()
}

/// The output of decode by connection and direction, without counters and times.
fn decoded(args: &[&str]) -> BTreeMap<(usize, String), Vec<Line>> {
    let (status, lines, output) = Run::new(&[&["decode", "-f", "json"], args].concat()).end();
    assert!(matches!(status.code(), Some(0 | 1)), "{output}");
    let mut all: BTreeMap<_, Vec<Line>> = BTreeMap::new();
    for line in lines.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let mut line: Line = serde_json::from_slice(line).unwrap();
        let (conn, dir) = (
            number_of(&line, "conn").max(1),
            text(&line, "dir").to_owned(),
        );
        // An id that is used again: the order decides which name an answer has.
        line.retain(|key, _| !["conn", "index", "time", "name"].contains(&key.as_str()));
        all.entry((conn, dir)).or_default().push(line);
    }
    all
}

/// The range of a message in its stream, with its line end.
fn frame_range(line: &Line, stream: &[u8]) -> std::ops::Range<usize> {
    let at = number_of(line, "offset");
    let mut end = at + number_of(line, "len");
    if text(line, "framing") == "lines" && stream.get(end) == Some(&b'\n') {
        end += 1;
    }
    at..end
}

#[test]
fn real_streams_pass_unchanged() {
    let Some(folder) = std::env::var_os("WIRETOOL_CAPTURES").map(PathBuf::from) else {
        println!("WIRETOOL_CAPTURES names no folder: streams of real peers are not played");
        return;
    };
    let mut played = 0;
    for protocol in wiretool::protocol::registry::names() {
        let all = pairs(&folder.join(protocol));
        assert!(!all.is_empty(), "{protocol}");
        let http: Vec<&Pair> = all.iter().filter(|pair| pair.is_http()).collect();
        let scheme = if protocol == "stepflow" { "http" } else { "ws" };
        played += all.len() + http.len();
        check_pairs(protocol, "tcp", &all.iter().collect::<Vec<_>>());
        if !http.is_empty() {
            check_pairs(protocol, scheme, &http);
        }
    }
    assert!(played > 300, "{played}");
}

fn check_pairs(protocol: &str, scheme: &str, pairs: &[&Pair]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let (out, recording) = play(pairs, protocol, scheme, &path, &[]);
    let recorded = decoded(&["-p", protocol, path.to_str().unwrap()]);
    let mut faults = Vec::new();
    let mut meant = Vec::new();
    for (n, (pair, out)) in pairs.iter().zip(out).enumerate() {
        let name = format!("{protocol} {scheme} {}", pair.name);
        assert!(out == pair.bytes, "{name}");
        let conn = n as u32 + 1;
        let held = [ChunkSource::C2s, ChunkSource::S2c].map(|way| recording.bytes(conn, way));
        assert!(held == pair.bytes, "{name}: recorded");
        let mut args = vec!["-p", protocol];
        for (flag, file) in ["--c2s", "--s2c"].into_iter().zip(&pair.files) {
            let file = file.as_ref().map_or("/dev/null", |f| f.to_str().unwrap());
            args.extend([flag, file]);
        }
        // On a connection, peers delimit messages by lines; in a file JSON may have any layout.
        let dirs = ["c2s", "s2c"].map(|dir| recorded.get(&(conn as usize, dir.to_owned())));
        let mut lines = dirs.into_iter().flatten().flatten();
        if lines.all(|line| text(line, "framing") == "lines") {
            args.extend(["--framing", "lines"]);
        }
        let wanted = decoded(&args);
        for ((_, dir), wanted) in &wanted {
            let got = recorded.get(&(conn as usize, dir.clone()));
            let got = got.map_or(&[][..], Vec::as_slice);
            assert_eq!(got.len(), wanted.len(), "{name} {dir}");
            for (got, wanted) in got.iter().zip(wanted) {
                let texts = |line: &Line| format!("{line:?}");
                assert_eq!(texts(got), texts(wanted), "{name} {dir}");
            }
        }
        // Applies one action to a message in the middle, in the direction with more messages.
        let by = |dir: &str| {
            wanted
                .get(&(1, dir.to_owned()))
                .map_or(&[][..], Vec::as_slice)
        };
        let at = usize::from(by("s2c").len() > by("c2s").len());
        let dir = ["c2s", "s2c"][at];
        let whole: Vec<&Line> = by(dir)
            .iter()
            .filter(|line| !line.contains_key("fault") && number_of(line, "body_len") > 3)
            .collect();
        let Some(line) = whole.get(whole.len() / 2) else {
            continue;
        };
        let place = frame_range(line, &pair.bytes[at]);
        let action = ["drop", "truncate 3", "corrupt byte", "inject"][n % 4];
        meant.push((n, at, place.clone(), action));
        let does = action.replace(
            "inject",
            &format!("inject {}", folder.path().join("f").display()),
        );
        faults.push(format!(
            "dir={dir} conn={conn} offset={}: {does}",
            place.start
        ));
    }
    assert!(
        meant.len() > pairs.len() / 3,
        "{protocol} {scheme}: {}",
        meant.len()
    );
    std::fs::write(folder.path().join("f"), "#put in#").unwrap();
    let path = folder.path().join("f.jsonl");
    let (out, recording) = play(pairs, protocol, scheme, &path, &faults);
    let events = recording.events();
    let injected = events.iter().filter(|e| e.starts_with("inject")).count();
    // One line for each planned fault, and one for each injected fault.
    assert_eq!(injected, 2 * meant.len(), "{protocol} {scheme}");
    let mut meant = meant.into_iter().peekable();
    for (n, (pair, out)) in pairs.iter().zip(out).enumerate() {
        let here = meant.next_if(|(conn, ..)| *conn == n);
        for at in [0, 1] {
            let name = format!("{protocol} {scheme} {} {at} {here:?}", pair.name);
            let (was, is) = (&pair.bytes[at], &out[at]);
            let Some((_, _, place, action)) = here.as_ref().filter(|(_, way, ..)| *way == at)
            else {
                assert!(is == was, "{name}");
                continue;
            };
            let (before, after) = (&was[..place.start], &was[place.end..]);
            assert!(is.starts_with(before) && is.ends_with(after), "{name}");
            let middle = &is[before.len()..is.len() - after.len()];
            let was = &was[place.clone()];
            match *action {
                "truncate 3" => assert_eq!(middle, &was[..3], "{name}"),
                "inject" => assert!(middle == [b"#put in#", was].concat(), "{name}"),
                "corrupt byte" => {
                    let differs = middle.iter().zip(was).filter(|(a, b)| a != b).count();
                    assert_eq!((middle.len(), differs), (was.len(), 1), "{name}");
                }
                // An event of a stream becomes a comment of the same length.
                _ => assert!(middle.is_empty() || middle.len() == was.len(), "{name}"),
            }
        }
    }
}

//! `wiretool telequick schema` and `wiretool telequick audio`.

use crate::common::{self, Ran};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

fn run(args: &[&str]) -> Ran {
    common::run(
        common::wiretool().args(["telequick", "schema"]).args(args),
        "",
    )
}

#[test]
fn ids() {
    insta::assert_snapshot!(run(&["id", "Barge"]).1, @"Barge: 3854301714  0xe5bbfa12  12 fa bb e5");
    insta::assert_snapshot!(run(&["id", "AllocateWt"]).1, @"
    AllocateWt: 1883317180  0x704123bc  bc 23 41 70
    the schema has 1763028449 (0x6915ade1) for it: these names do not give that id
    ");
    let own = run(&["id", "Ping", "--request", "Empty", "--response", "Empty"]);
    assert_eq!((own.0, own.2.as_str()), (0, ""));
    let (code, out, err) = run(&["id", "Nothing"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("--request"), "{err}");
    assert_eq!(run(&["id", "Ping", "--request", "Empty"]).0, 2);
}

#[test]
fn show() {
    insta::assert_snapshot!(run(&["show", "BucketActionRequest"]).1, @"
    struct BucketActionRequest version 0 compat 0 {
      string bucket_id;
      int32 action;
    }
    ");
    let (code, out, _) = run(&["show"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("3854301714  0xe5bbfa12  12 fa bb e5  BargeRequest -> Empty"),
        "{out}"
    );
    assert_eq!(run(&["show", "Nothing"]).0, 1);
}

#[test]
fn schema_check_and_format_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let good = file(
        "good.tq",
        "struct Ping{string note;EventType kind;}; method Ping=7:Ping->Empty;",
    );
    let bad = file("bad.tq", "struct Ping {\n  strin note;\n}");
    assert_eq!(run(&["check", &good]), (0, String::new(), String::new()));
    let (code, _, err) = run(&["check", &good, &bad]);
    assert_eq!(code, 1);
    assert!(err.contains("bad.tq:2:3: wanted"), "{err}");
    assert_eq!(run(&["check", "/none"]).0, 2);
    insta::assert_snapshot!(run(&["format", &good]).1, @"
    struct Ping {
      string note;
      EventType kind;
    }
    method Ping = 7 : Ping -> Empty;
    ");
    assert_eq!(run(&["format", &good, "-o", &good]).0, 0);
    assert!(
        std::fs::read_to_string(&good)
            .unwrap()
            .starts_with("struct Ping {\n")
    );
    assert_eq!(run(&["format", &bad]).0, 1);
}

/// The kind of each frame, with `?` for a guess.
fn kinds(bytes: &[u8]) -> Vec<String> {
    use wiretool::decoder::{DecodeOptions, Decoder, Origin};
    let telequick = wiretool::protocol::registry::find("telequick").unwrap();
    let mut decoder = Decoder::new(DecodeOptions::new(vec![telequick]));
    let mut kinds = Vec::new();
    let mut sink = |decoded: &wiretool::decoder::Decoded<'_>| {
        let message = decoded.message;
        kinds.push(format!(
            "{}{}",
            message.kind,
            if message.guess { "?" } else { "" }
        ));
    };
    decoder.push(Origin::default(), bytes, &mut sink);
    decoder.finish(&mut sink);
    kinds
}

/// A frame of a method, with a length that does not include itself.
fn frame(id: u32, version: u8, fields: &str) -> Vec<u8> {
    let fields = hex::decode(fields.replace(' ', "")).unwrap();
    let size = u32::try_from(fields.len()).unwrap();
    let parts: [&[u8]; 5] = [
        &(size + 10).to_le_bytes(),
        &id.to_le_bytes(),
        &[version, 0],
        &size.to_le_bytes(),
        &fields,
    ];
    parts.concat()
}

#[test]
fn direction_is_detected_by_version_fields_and_open_requests() {
    const ORIGINATE: u32 = 1_430_677_891;
    const DIALPLAN: u32 = 80_147_304;
    const BUCKETS: u32 = 2_624_504_207;
    const BARGE: u32 = 3_854_301_714;
    // Six texts, then an int64 instead of the int32 `max_duration_ms`.
    let texts = "01000000 61".repeat(6);
    let dial =
        format!("{texts} e803000000000000 01000000 63 01000000 00000000 00 00000000 01000000 78");
    let asked = frame(DIALPLAN, 0, "03000000 616263 07000000 00000000");
    let done = frame(DIALPLAN, 0, "02000000 4f4b 00000000 00000000");
    let empty = frame(BUCKETS, 0, "");
    let mut behind = frame(BARGE, 0, "03000000 616263");
    behind[10] = 0;
    for (frames, want) in [
        (vec![frame(ORIGINATE, 1, &dial)], vec!["OriginateRequest?"]),
        (vec![done.clone()], vec!["ExecuteDialplanRequest?"]),
        (
            vec![asked, done],
            vec!["ExecuteDialplanRequest", "ExecuteDialplanResponse"],
        ),
        (
            vec![empty.clone(), empty.clone(), empty],
            vec!["Empty?", "ListBucketsResponse?", "Empty?"],
        ),
        (vec![behind], vec!["BargeRequest"]),
        (vec![frame(BARGE, 0, "")], vec!["Empty"]),
    ] {
        assert_eq!(kinds(&frames.concat()), want);
    }
}

/// In any order of the answers, none is shown as a certain request.
#[test]
fn answers_are_never_certain_requests() {
    let Some(folder) = std::env::var_os("WIRETOOL_CAPTURES") else {
        return;
    };
    let folder = std::path::Path::new(&folder).join("telequick");
    let golden = std::fs::read_dir(folder.join("golden")).unwrap();
    let mut files: Vec<_> = golden.map(|entry| entry.unwrap().path()).collect();
    files.push(folder.join("mixed.bin"));
    for path in files
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "bin"))
    {
        let bytes = std::fs::read(path).unwrap();
        let expected = std::fs::read_to_string(path.with_extension("expected.jsonl")).unwrap();
        let expected: Vec<serde_json::Value> = expected
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let place = |frame: &serde_json::Value, key: &str| frame[key].as_u64().unwrap() as usize;
        let alone = |frame: &serde_json::Value| {
            let at = place(frame, "offset");
            kinds(&bytes[at..at + place(frame, "frame_len")]).concat()
        };
        let all = kinds(&bytes);
        assert_eq!(all.len(), expected.len(), "{}", path.display());
        for (frame, together) in expected.iter().zip(&all) {
            let want = frame["struct"].as_str().unwrap();
            if frame["method"].is_string() {
                let answers = want.ends_with("Response") || want == "CallEvent";
                let together = answers.then_some(together);
                for reported in together.into_iter().chain([&alone(frame)]) {
                    let right = reported.trim_end_matches('?') == want || reported.ends_with('?');
                    assert!(right, "{}: {reported}, not {want}", path.display());
                }
            }
            let mixed = path.ends_with("mixed.bin");
            assert!(
                !mixed || together.trim_end_matches('?') == want,
                "{together}, not {want}"
            );
        }
    }
}

/// Bytes 4 to 8 of a frame identify telequick, whatever else is wrong.
#[test]
fn damaged_frames_are_detected_by_method_id() {
    let whole = frame(3_854_301_714, 0, "03000000 616263");
    let with = |at: usize, bytes: &[u8]| {
        let mut frame = whole.clone();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        frame
    };
    let cut = (8..whole.len()).map(|len| whole[..len].to_vec());
    let broken = [
        with(0, &[0; 4]),
        with(0, &3_u32.to_le_bytes()),
        with(0, &[0xff; 4]),
        with(10, &[0xff; 4]),
        with(10, &100_u32.to_le_bytes()),
        with(14, &[0xff; 4]),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frame.bin");
    for bytes in broken.into_iter().chain(cut) {
        std::fs::write(&path, &bytes).unwrap();
        let (code, out, err) = common::run(
            common::wiretool()
                .args(["decode", "-f", "json", "--from", "raw"])
                .arg(&path),
            "",
        );
        let shown = hex::encode(&bytes);
        assert_eq!(code, 1, "{shown}: {err}");
        let line: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(
            (&line["protocol"], &line["subject"]),
            (&"telequick".into(), &"Barge".into()),
            "{shown}: {out}"
        );
        assert!(line["fault"].is_object(), "{shown}: {out}");
    }
}

/// Returns the line of a recording with an audio frame.
fn audio(ms: u64, dir: &str, (sid, number): (&str, u64), codec: &str, payload: &[u8]) -> String {
    let mut fields = Vec::new();
    for bytes in [sid.as_bytes(), payload, codec.as_bytes()] {
        fields.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        fields.extend_from_slice(bytes);
    }
    fields.extend_from_slice(&number.to_le_bytes());
    fields.push(0);
    let mut frame = (fields.len() as u32 + 10).to_le_bytes().to_vec();
    frame.extend_from_slice(&2_991_054_320_u32.to_le_bytes());
    frame.extend_from_slice(&[0, 0]);
    frame.extend_from_slice(&(fields.len() as u32).to_le_bytes());
    frame.extend_from_slice(&fields);
    let t = ms * 1_000_000;
    let line = serde_json::json!({"t": t, "conn": 1, "dir": dir, "b64": BASE64.encode(frame)});
    format!("{line}\n")
}

#[test]
fn the_sound_of_a_call_becomes_two_channels() {
    let folder = tempfile::tempdir().unwrap();
    let header = "{\"wiretool\":1,\"protocol\":\"telequick\",\"started\":\"2026-01-01T00:00:00.000000000Z\"}\n";
    // Two samples a frame; frame 1 is missing, frame 2 is repeated, and a pause of a second comes before frame 3.
    let calls = [
        audio(0, "c2s", ("A", 0), "PCMU", &[0x80, 0xff]),
        audio(2, "s2c", ("A", 7), "PCMA", &[0xaa, 0x2a]),
        audio(3, "c2s", ("A", 2), "PCMU", &[0x00, 0x00]),
        audio(4, "c2s", ("A", 2), "PCMU", &[0x80, 0x80]),
        audio(1000, "c2s", ("A", 3), "PCMU", &[0x2a]),
    ];
    let one = common::file(
        folder.path(),
        "one.jsonl",
        header.to_owned() + &calls.concat(),
    );
    let other = audio(5, "c2s", ("B", 0), "PCM16", &[1, 0, 0xff, 0xff]);
    let two = common::file(
        folder.path(),
        "two.jsonl",
        header.to_owned() + &calls.concat() + &other,
    );
    // Frame 13 comes after frame 14, frame 11 never, and frame 10 twice.
    let late = [(10, 0x80), (12, 0x00), (14, 0x55), (13, 0xaa), (10, 0x2a)]
        .map(|(number, byte)| audio(number, "c2s", ("A", number), "PCMU", &[byte]));
    let late = common::file(
        folder.path(),
        "late.jsonl",
        header.to_owned() + &late.concat(),
    );
    let wav = folder.path().join("out.wav");
    let run = |args: &[&str]| {
        let mut command = common::wiretool();
        command
            .args(["telequick", "audio", "-o"])
            .arg(&wav)
            .args(args);
        common::run(&mut command, "")
    };
    // Header: PCM, channels, rate, bytes a second, bytes of a sample of all channels, bits.
    let read = || {
        let bytes = std::fs::read(&wav).unwrap();
        let number = |at: usize, len: usize| {
            let bytes = bytes[at..at + len].iter().rev();
            bytes.fold(0_u64, |all, byte| all << 8 | u64::from(*byte))
        };
        assert_eq!(
            (&bytes[..4], &bytes[8..16]),
            (&b"RIFF"[..], &b"WAVEfmt "[..])
        );
        assert_eq!(number(4, 4), bytes.len() as u64 - 8);
        assert_eq!(number(40, 4), bytes.len() as u64 - 44);
        let format = [(20, 2), (22, 2), (24, 4), (28, 4), (32, 2), (34, 2)];
        let format = format.map(|(at, len)| number(at, len));
        let samples = bytes[44..].chunks(2);
        let samples = samples.map(|pair| i16::from_le_bytes(pair.try_into().unwrap()));
        (format, samples.collect::<Vec<_>>())
    };
    let (code, _, err) = run(&[&one]);
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("c2s: 1 s of PCMU, 1 frame is missing"),
        "{err}"
    );
    assert!(err.contains("1 frame is left out"), "{err}");
    let (format, samples) = read();
    assert_eq!(format, [1, 2, 8000, 32000, 4, 16]);
    let channel = |n: usize| {
        samples
            .iter()
            .skip(n)
            .step_by(2)
            .copied()
            .collect::<Vec<_>>()
    };
    let (client, server) = (channel(0), channel(1));
    assert_eq!(client[..6], [32124, 0, 0, 0, -32124, -32124]);
    assert!(client[6..8000].iter().all(|sample| *sample == 0));
    assert_eq!(client[8000..], [-5372]);
    // The server begins 2 ms later.
    assert!(server[..16].iter().all(|sample| *sample == 0));
    assert_eq!(server[16..18], [32256, -32256]);
    assert!(server[18..].iter().all(|sample| *sample == 0));

    let (code, _, err) = run(&[&two, "--call", "B", "--rate", "16000"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(read(), ([1, 1, 16000, 32000, 2, 16], vec![1, -1]));
    let (code, _, err) = run(&[&late]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("PCMU, 1 frame is missing"), "{err}");
    assert!(err.contains("1 frame is left out"), "{err}");
    assert_eq!(read().1, [32124, 0, -32124, 5372, -716]);
    std::fs::remove_file(&wav).unwrap();
    let (code, _, err) = run(&[&two]);
    assert_eq!(code, 2);
    assert!(err.contains("choose one with --call: A, B"), "{err}");
    let (code, _, err) = run(&[&two, "--call", "C"]);
    assert_eq!(code, 1);
    assert!(err.contains("there is no audio of the call C"), "{err}");
    assert!(!wav.exists());
}

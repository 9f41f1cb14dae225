//! `wiretool telequick schema`.

use crate::common::{self, Ran};

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

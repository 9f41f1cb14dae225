//! Tests every form from bytes to items, in all splits.

mod cut;
mod foreign;
mod loggers;
mod loose;
mod messages;
mod other_forms;
mod pastes;
mod printed;
mod programs;
mod records;
mod samples;
#[cfg(feature = "pcap")]
mod tshark;
mod unpacked;

use super::*;
use crate::protocol::Direction::{ToClient, ToServer};
use flate2::{Compression, GzBuilder};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use samples::*;
use std::fmt::Write as _;
use std::io::Write as _;

/// The items of a run; chunks that only the pushes separate are joined.
#[derive(Debug, Default, PartialEq)]
struct Run {
    bytes: Vec<u8>,
    log: String,
    form: Option<Form>,
    evidence: String,
    ignored: u64,
}

fn run(form: Form, input: &[u8], step: usize) -> Run {
    let mut run = Run::default();
    let mut reader = CaptureInput::new(form);
    let mut cut_by_pushes = Vec::new();
    {
        let mut sink = |item: Item<'_>| match item {
            Item::Chunk(chunk) => {
                run.bytes.extend_from_slice(chunk.bytes);
                cut_by_pushes.push((run.log.len(), run.bytes.len()));
                if chunk.conn > 0 || chunk.direction.is_some() || chunk.time.is_some() {
                    let _ = writeln!(
                        run.log,
                        "chunk {} {:?} {:?} {}",
                        chunk.conn,
                        chunk.direction,
                        chunk.time,
                        chunk.bytes.len()
                    );
                }
            }
            Item::Problem(problem) => {
                let _ = writeln!(run.log, "{:?} {problem}", problem.severity);
            }
            Item::Comment(c) => {
                let _ = writeln!(
                    run.log,
                    "{}+{} {} = {} = {}",
                    c.offset, c.len, c.name, c.number, c.value
                );
            }
            Item::Gap(gap) => {
                let _ = writeln!(run.log, "gap {:?} {}..{}", gap.direction, gap.from, gap.to);
            }
            Item::Break(direction) => {
                let _ = writeln!(run.log, "break {direction:?} at {}", run.bytes.len());
            }
            Item::Header(header) => {
                let _ = writeln!(run.log, "header {:?}", header.protocol);
            }
            Item::Event(event) => {
                let _ = writeln!(
                    run.log,
                    "event {} {:?} {:?} {:?}",
                    event.conn, event.direction, event.time, event.what
                );
            }
        };
        for piece in input.chunks(step.max(1)) {
            reader.push(piece, &mut sink);
        }
        reader.finish(&mut sink);
    }
    run.form = Some(reader.form());
    run.evidence = reader.evidence().to_owned();
    run.ignored = reader.ignored_lines();
    run
}

/// Reads the input whole and in pieces; the results must be equal.
fn read(form: Form, input: &[u8]) -> Run {
    let whole = run(form, input, input.len());
    for step in [1, 2, 3, 7, 64, 1000] {
        if step < input.len() {
            assert_eq!(run(form, input, step), whole, "in pieces of {step}");
        }
    }
    whole
}

fn auto(input: impl AsRef<[u8]>) -> Run {
    read(Form::Auto, input.as_ref())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzBuilder::new().write(Vec::new(), Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn form_is_detected_from_the_bytes() {
    let recording = gzip(RECORDING.as_bytes());
    let table: &[(&[u8], Form)] = &[
        (b"", Form::Raw),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"a\"}\n",
            Form::Raw,
        ),
        (b"[{\"jsonrpc\":\"2.0\"}]", Form::Raw),
        (b"{\"v\":2,\"index\":0}\n", Form::Raw),
        (b"{\n  \"v\": 1\n}\n", Form::Raw),
        (b"{\"index\":0,\"v\":1}\n", Form::Jsonl),
        (b" { \"wiretool\": 1}", Form::Recording),
        (b"{\"wiretoolbox\":1}", Form::Raw),
        (
            b"{\"protocol\":\"mcp\",\"transport\":\"http\",\"wiretool\":1}\n",
            Form::Recording,
        ),
        (b"{\"protocol\":\"mcp\"}\n", Form::Raw),
        (b"\x85\xa4type\x00", Form::Raw),
        (b"\0\0\0\x05\x81\xa1a\xc0", Form::Raw),
        (b"0\0\0\0", Form::Raw),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", Form::Raw),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", Form::Raw),
        (b"1a\r\n{\"jsonrpc\":\"2.0\"}", Form::Raw),
        (b"ready\nsteady\n", Form::Raw),
        (b"Added: 3\n", Form::Raw),
        (b"\n\n", Form::Raw),
        (b"a", Form::Raw),
        (b"\x1f\x8b", Form::Raw),
        (BARGE.as_bytes(), Form::Hex),
        (b"# a frame\n\n> 0e00 // length\n", Form::Hex),
        (b"deadbeef", Form::Hex),
        (b"0x16, 0x00, 0x00", Form::Hex),
        (b"\xef\xbb\xbf0e 00\r\n", Form::Hex),
        (b"00000000 11 22\n33 44\n", Form::Hex),
        (b"00000000", Form::Hex),
        (XXD_P.as_bytes(), Form::Hex),
        (XXD.as_bytes(), Form::Xxd),
        (XXD_A.as_bytes(), Form::Xxd),
        (XXD_G1.as_bytes(), Form::Xxd),
        (XXD_E.as_bytes(), Form::Dump),
        (b"00000000: 7b7d  {}", Form::Xxd),
        (b"# from the wire\n00000000: 7b7d  {}", Form::Xxd),
        (HEXDUMP_C.as_bytes(), Form::Xxd),
        (HEXDUMP.as_bytes(), Form::Dump),
        (OD_Z.as_bytes(), Form::Xxd),
        (OD_X.as_bytes(), Form::Xxd),
        (OD.as_bytes(), Form::Xxd),
        (b"000000 0016 0000\n000004 1122\n000006\n", Form::Dump),
        (b"0000   7b 7d   {}\n", Form::Xxd),
        (b"\t0x0000:  4500 003c\n", Form::Xxd),
        (BASE64_TEXT.as_bytes(), Form::Base64),
        (b"eyJhIjoxLCJiIjpbXX0", Form::Base64),
        (b"eyJhIjoxLCJiIjpbXX0=\r\n", Form::Base64),
        (b"eyJhIjox", Form::Raw),
        (b"eyJhIjoxLCJiIjpbXX0=\nmore", Form::Raw),
        (RECORDING.as_bytes(), Form::Recording),
        (DECODED.as_bytes(), Form::Jsonl),
        (&recording, Form::Recording),
    ];
    for (input, want) in table {
        let run = auto(input);
        let shown = String::from_utf8_lossy(input);
        assert_eq!(run.form, Some(*want), "{} for {shown}", run.evidence);
        assert!(!run.evidence.is_empty(), "{shown}");
        if *want == Form::Raw {
            assert_eq!((run.bytes.as_slice(), run.log.as_str()), (*input, ""));
        }
    }
}

#[test]
fn form_is_reported_as_soon_as_it_is_decided() {
    for (input, want) in [
        (&b"\0"[..], Form::Auto),
        (b"\0\x01", Form::Raw),
        (b"\x81", Form::Raw),
        (b"{\"jsonrpc\"", Form::Auto),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\n",
            Form::Raw,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}{",
            Form::Auto,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}{}",
            Form::Auto,
        ),
        // Unreadable bytes behind a message are an error in a stream.
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}{\"x\"}\n",
            Form::Raw,
        ),
        (b"[{\"jsonrpc\"", Form::Auto),
        (b"[{", Form::Auto),
        (b"[", Form::Auto),
        (b"ready\n", Form::Auto),
        (b"GET ", Form::Auto),
        (b"GET / HTTP/1.1\r\n", Form::Raw),
        (b"{\"wiretool\"", Form::Recording),
        (b"{\"v\":1,\"index\":", Form::Jsonl),
        (b"0e 00 length\n", Form::Hex),
        (b"00000000: 7b7d  {}\n", Form::Xxd),
        (&[b'A'; 4097], Form::Hex),
        (&[b'z'; 4097], Form::Base64),
        (b"{\"v\":1,\"in", Form::Auto),
        (b"0e 00", Form::Auto),
        (&[b'z'; 4096], Form::Auto),
    ] {
        let mut reader = CaptureInput::new(Form::Auto);
        reader.push(input, &mut |_| {});
        assert_eq!(reader.form(), want, "{}", String::from_utf8_lossy(input));
    }
}

#[test]
fn form_of_long_input_is_decided_by_the_first_4_kib() {
    let lines = BASE64_TEXT.lines().next().unwrap().to_owned() + "\n";
    let hex = "# all of it\n".to_owned() + &"0e".repeat(5000);
    for (input, want, len) in [
        (lines.repeat(100) + BASE64_TEXT, Form::Base64, 57 * 101 + 39),
        (hex, Form::Hex, 5000),
        ("word".repeat(5000), Form::Base64, 15000),
        ("00 11 22 33\n".repeat(1000), Form::Hex, 4000),
    ] {
        let run = auto(&input);
        assert_eq!((run.form, run.bytes.len()), (Some(want), len));
        assert_eq!(run.log, "");
    }
}

#[test]
fn comments_next_to_hex_are_reported() {
    let run = auto(BARGE);
    assert_eq!(
        run.bytes,
        b"\x0e\0\0\0\x12\x64\xb0\xe5\0\0\x07\0\0\0\x03\0\0\0abc"
    );
    assert_eq!(
        run.log,
        "0+4 length = 14 = 14\n\
         4+4 method_id = 3854301714 = 3854301714\n\
         10+4 payload_size = 7 = 7\n\
         14+4 string length = 3 = 3\n"
    );
    assert_eq!(run.evidence, "line 1 begins with hex bytes");
    assert_eq!(auto(XXD_P).bytes, sample());
    let run = read(
        Form::Hex,
        b"unsigned char a[] = {\n  0x61, 0x62,\n  0x63\n};\n> 64 n = 0x64\n< 65\n> 66 m = 1\n67\n",
    );
    assert_eq!((run.bytes.as_slice(), run.ignored), (&b"abcdefg"[..], 2));
    assert_eq!(
        run.log,
        "0+1 n = 0x64 = 100\n\
         chunk 0 Some(ToServer) None 1\n\
         chunk 0 Some(ToClient) None 1\n\
         1+1 m = 1 = 1\n\
         chunk 0 Some(ToServer) None 1\n\
         chunk 0 Some(ToServer) None 1\n"
    );
}

#[test]
fn real_dumps_are_read() {
    for dump in [XXD, XXD_A, XXD_G1, HEXDUMP_C, OD_Z, OD_X, OD] {
        let run = auto(dump);
        assert_eq!(run.bytes, sample(), "{dump}");
        assert_eq!((run.log.as_str(), run.ignored), ("", 0), "{dump}");
        assert_eq!(auto(dump.replace('\n', "\r\n")).bytes, sample());
    }
    // Decimal offsets, and a last column that looks like hex.
    assert_eq!(auto(XXD_D).bytes.len(), 96);
    assert_eq!(
        auto("00000000: 6164 2062 65  ad be\n00000005: 3030  00\n").bytes,
        b"ad be00"
    );
    assert_eq!(
        auto("\t0x0000:  4500 003c 61  E..<a\n").bytes,
        b"E\0\0\x3ca"
    );
    for words in [HEXDUMP, XXD_E] {
        let run = auto(words);
        assert!(
            sample().starts_with(&run.bytes) && run.bytes.len() >= 32,
            "{words}"
        );
        assert_eq!(run.log, "", "{words}");
        let run = read(Form::Xxd, words.as_bytes());
        assert_eq!(run.bytes, b"");
        assert_eq!(
            run.log,
            "Error line 1: the columns are words, with bytes in another order \
             (--from dump finds the order that gives messages)\n"
        );
    }
}

#[test]
fn dump_offsets_are_checked() {
    for (dump, bytes, log) in [
        (
            "00000000: 6162\n00000004: 6364\n",
            "abcd",
            "gap None 2..4\n",
        ),
        ("00000100: 6162\n00000102: 6364\n", "abcd", ""),
        (
            "first\n00000000: 6162\n\nsecond\n00000000: 6364\n",
            "abcd",
            "break None at 2\n",
        ),
        (
            "> 00000000: 6162\n< 00000000: 63\n> 00000002: 64\n00000003: 65\n",
            "abcde",
            "chunk 0 Some(ToServer) None 2\n\
             chunk 0 Some(ToClient) None 1\n\
             chunk 0 Some(ToServer) None 1\n\
             chunk 0 Some(ToServer) None 1\n",
        ),
        (
            "00000010: 6162\n00000004: 6364\n",
            "abcd",
            "Error line 2: the offset goes back from 0x12 to 0x4 (are the columns hex bytes? \
             xxd -b and od without -t x1 print something else)\nbreak None at 2\n",
        ),
        ("00000000  61 62\n*\n00000005\n", "ababa", ""),
        (
            "00000000  61 62\n*\n",
            "ab",
            "Error at the end: the offset after the last * is missing, so the number of repeated lines is unknown\n",
        ),
        ("*\n00000000  61 62\n00000004\n", "ab", "gap None 2..4\n"),
        ("ffffffffffffffff: 6162\n", "ab", ""),
    ] {
        let run = read(Form::Xxd, dump.as_bytes());
        assert_eq!(
            (run.bytes.as_slice(), run.log.as_str()),
            (bytes.as_bytes(), log),
            "{dump}"
        );
    }
    let run = run(Form::Xxd, b"00000000  61\n*\nffffffffffffffff\n", 100);
    assert_eq!(run.bytes.len(), (64 << 20) + 1);
    assert_eq!(
        run.log,
        "Error line 3: * lines expand to more than the limit of 67108864 bytes\n\
         gap None 67108865..18446744073709551615\n"
    );
}

#[test]
fn base64_is_read_with_and_without_line_ends() {
    assert_eq!(auto(BASE64_TEXT).bytes, sample());
    assert_eq!(auto(BASE64_TEXT.replace('\n', "")).bytes, sample());
    let url = BASE64_TEXT.replace('/', "_").replace('\n', "\r\n");
    assert_eq!(auto(url).bytes, sample());
}

#[test]
fn decoded_lines_with_bytes_are_read() {
    let run = auto(DECODED);
    assert_eq!(run.bytes, b"\xc1\xc1\0\xff{}");
    assert_eq!(
        run.log,
        "chunk 2 Some(ToServer) None 2\n\
         Error line 2: this line does not contain its bytes (encode turns messages back into bytes)\n\
         chunk 0 Some(ToClient) Some(1000000000) 2\n"
    );
    assert_eq!(run.ignored, 1);
}

#[test]
fn recordings_are_read() {
    const START: i128 = 1_795_255_200_000_000_000;
    let at = |t: i128| Some(START + t);
    let run = auto(RECORDING);
    assert_eq!(run.bytes, b"{\"id\":0}\n\0\0\0\x05\x81\xa1\xff");
    let mut want = "header Some(\"oracle\")\n".to_owned();
    let event =
        |t, conn, direction, what| format!("event {conn} {direction:?} {:?} {what:?}\n", at(t));
    want += &event(0, 1, None, EventKind::Open);
    let _ = writeln!(want, "chunk 1 {:?} {:?} 9", Some(ToServer), at(120_000));
    let _ = writeln!(want, "chunk 1 {:?} {:?} 7", Some(ToClient), at(450_000));
    want += &event(460_000, 1, None, EventKind::Stderr(b"\x1b[31mlate\n"));
    want += &event(470_000, 1, Some(ToClient), EventKind::Eof);
    want += &event(900_000, 1, None, EventKind::Close);
    want += &event(900_100, 0, None, EventKind::End);
    assert_eq!(run.log, want);
}

#[test]
fn damaged_recordings_load() {
    let lines: Vec<&str> = RECORDING.lines().collect();
    for (input, log, bytes) in [
        (
            format!("{}\n{}\n", lines[0], lines[2]),
            "Note at the end: the recording has no end line: its writer was stopped, or still runs\n",
            9,
        ),
        (
            format!("{}\n{}\n{}", lines[0], lines[2], &lines[3][..20]),
            "Note line 3: the last line is incomplete and was ignored\n\
             Note at the end: the recording has no end line: its writer was stopped, or still runs\n",
            9,
        ),
        (
            format!("{}\nnonsense\n{}\n{}", lines[0], lines[2], lines[7]),
            "Error line 2: column 2: expected ident\n\
             Note line 4: the end line counts 3 chunks, but the file has 1\n",
            9,
        ),
        (
            format!(
                "{}\n{{\"t\":0,\"dir\":\"up\",\"text\":\"\"}}\n{{\"t\":0}}\n",
                lines[0]
            ) + "{\"dir\":\"c2s\",\"t\":1}\n{\"event\":\"end\"}",
            "Error line 2: dir: wanted c2s, s2c or stderr, got \"up\"\n\
             Error line 3: neither a chunk (dir) nor an event\n\
             Error line 4: a chunk has either text or b64\n",
            0,
        ),
        (
            "{\"wiretool\":2}\n{\"event\":\"end\"}\n".into(),
            "Error line 1: version 2 of the recording format; this wiretool reads version 1\n",
            0,
        ),
        (
            "{\"wiretool\":1,\"started\":\"noon\"}\n{\"event\":\"end\"}\n".into(),
            "Error line 1: column 31: started: not a time of RFC 3339: \"noon\"\n",
            0,
        ),
    ] {
        let run = auto(&input);
        let problems: String = run
            .log
            .lines()
            .filter(|l| l.starts_with("Note") || l.starts_with("Error"))
            .map(|l| l.to_owned() + "\n")
            .collect();
        assert_eq!(
            (problems.as_str(), run.bytes.len()),
            (log, bytes),
            "{input}"
        );
    }
}

#[test]
fn gzipped_input_of_every_form_is_read() {
    for text in [
        BARGE,
        XXD,
        HEXDUMP_C,
        BASE64_TEXT,
        RECORDING,
        DECODED,
        "{}\n",
    ] {
        assert_eq!(auto(gzip(text.as_bytes())), auto(text));
    }
    let whole = gzip(BARGE.as_bytes());
    let run = auto(&whole[..whole.len() - 4]);
    assert_eq!(run.bytes.len(), 21);
    assert!(run.log.contains("gzip data is cut off"), "{}", run.log);
}

#[test]
fn damaged_input_never_panics_and_splits_do_not_matter() {
    let texts = [BARGE, XXD_A, HEXDUMP_C, OD, BASE64_TEXT, RECORDING, DECODED];
    for text in texts {
        let seed = text.as_bytes();
        let seed = seed.get(..400).unwrap_or(seed);
        for at in 0..seed.len() {
            for byte in [0, b'*', b'\n', b'0', b':', 0xff] {
                let mut input = seed.to_vec();
                input[at] = byte;
                let whole = run(Form::Auto, &input, input.len());
                assert_eq!(run(Form::Auto, &input, 1), whole, "byte {at} is {byte}");
            }
        }
    }
    for form in Form::ALL {
        for text in texts {
            read(form, text.as_bytes());
        }
        read(form, &(0..=255).collect::<Vec<u8>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_text_is_read_equally_in_all_splits(
        lines in vec(
            prop_oneof![
                "[0-9a-f]{1,9}:?[ ]{0,3}([0-9a-f]{2}[ ]{0,3}){0,5}[|>.a-f]{0,4}",
                "[0a*<># ]{0,6}",
                "[A-Za-z0-9+/_=-]{0,24}",
                "(\\{\"(v|index|conn|wiretool|id)\":[01],?)?(\"(index|t|text)\":1?)?\\}?",
                any::<String>(),
            ],
            0..6,
        ),
        form in select(Form::ALL.to_vec()),
        step in 1_usize..20,
    ) {
        let input = lines.join("\n").into_bytes();
        prop_assert_eq!(run(form, &input, step), run(form, &input, input.len()));
    }
}

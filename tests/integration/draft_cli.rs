//! `wiretool protocol draft`: what it finds of captures whose protocol it does not know.

use crate::common::{self, Ran, file, run, wiretool};
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

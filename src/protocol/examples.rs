//! The examples of the rules of this crate: the recordings in `fixtures/PROTOCOL/rules`, which `build.rs` packs.

use super::rules::Example;
use flate2::read::ZlibDecoder;
use std::collections::HashMap;
use std::io::Read as _;
use std::sync::LazyLock;

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/examples.z"));

/// Names with lengths, each before its recording.
static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::new();
    let read = ZlibDecoder::new(PACKED).read_to_string(&mut text);
    debug_assert!(read.is_ok(), "{read:?}");
    text
});

/// The recordings by name.
static ALL: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    let mut rest = TEXT.as_str();
    while let Some((head, after)) = rest.split_once('\n')
        && let Some((name, len)) = head.split_once(' ')
        && let Some((recording, next)) =
            len.parse().ok().and_then(|len| after.split_at_checked(len))
    {
        all.insert(name, recording);
        rest = next;
    }
    all
});

/// Returns the example of a rule.
pub(crate) fn find(protocol: &str, rule: &str) -> Option<Example> {
    let recording = |end| {
        ALL.get(format!("{protocol}/{rule}.{end}.jsonl").as_str())
            .copied()
    };
    Some(Example {
        fires: recording("fires")?,
        passes: recording("passes")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_recordings_are_packed() {
        assert!(ALL.len() > 1000, "{} recordings", ALL.len());
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        for (name, recording) in ALL.iter() {
            let (protocol, file) = name.split_once('/').expect("a folder");
            let path = root.join(protocol).join("rules").join(file);
            assert_eq!(
                *recording,
                std::fs::read_to_string(path).expect("a file"),
                "{name}"
            );
        }
    }

    /// The binary and the package stay small.
    #[test]
    fn packed_examples_are_small_and_those_of_the_package() {
        assert!(PACKED.len() < 300_000, "{} bytes", PACKED.len());
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/examples.z");
        if std::env::var_os("WIRETOOL_BLESS").is_some() {
            std::fs::write(&path, PACKED).expect("the file is written");
        }
        let stored = std::fs::read(&path).unwrap_or_default();
        assert!(
            stored == PACKED,
            "WIRETOOL_BLESS=1 cargo test --lib packed_examples writes it"
        );
    }
}

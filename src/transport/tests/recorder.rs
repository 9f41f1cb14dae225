//! The order of the recorder's work.

use super::common::*;
use crate::capture::ChunkSource;
use crate::conversation::Output;
use crate::decoder::DecodeOptions;
use crate::protocol::registry;
use crate::transport::recorder::{FileLimit, Recorder, RecorderScreen, RecordingFile, Rotation};
use std::fs::File;

/// All lines of a batch are in the recording before its first message is decoded.
#[test]
fn lines_are_written_before_messages_are_decoded() {
    let (folder, path) = folder();
    let (mut setup, _) = setup(Some(&path));
    let protocol = registry::find("jsonrpc").unwrap();
    setup.tap.decode = Some(DecodeOptions::new(vec![protocol]));
    let (tell, written) = std::sync::mpsc::channel();
    let recording = path.clone();
    setup.view = Some(RecorderScreen {
        sink: RecordingFile {
            file: File::create(folder.path().join("view")).unwrap(),
            name: "view".into(),
        },
        render: Box::new(move |output: Output<'_>, _: &mut Vec<u8>| {
            if let Output::Message(..) = output {
                let text = std::fs::read_to_string(&recording).unwrap();
                tell.send(text.lines().count()).unwrap();
            }
        }),
    });
    let recorder = Recorder::new(setup);
    for line in [&b"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n"[..]; 3] {
        recorder.queue.offer(1, 1, ChunkSource::C2s, line, false);
    }
    assert!(recorder.help());
    let written: Vec<usize> = written.try_iter().collect();
    assert_eq!(written, [4; 3], "a header and three chunks");
}

/// A rotation that fails is tried again at the next limit, and is reported once.
#[test]
fn failed_rotation_is_tried_again() {
    let (folder, path) = folder();
    let (mut setup, printed) = setup(Some(&path));
    let protocol = registry::find("jsonrpc").unwrap();
    setup.tap.decode = Some(DecodeOptions::new(vec![protocol]));
    setup.tap.header.more.insert("part".into(), 1.into());
    let next = folder.path().join("next");
    let name = next.clone();
    let mut tries = 0;
    setup.rotation = Some(Rotation {
        limit: FileLimit::Bytes(1),
        next: Box::new(move || {
            tries += 1;
            if tries < 3 {
                return Err("no more files".into());
            }
            Ok(RecordingFile {
                file: File::create(&name).unwrap(),
                name: "next".into(),
            })
        }),
    });
    let recorder = Recorder::new(setup);
    for _ in 0..3 {
        let line = b"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n";
        recorder.queue.offer(1, 1, ChunkSource::C2s, line, false);
        assert!(recorder.help());
    }
    assert!(next.exists(), "the third limit begins another file");
    let printed = printed.lock().unwrap().clone();
    assert_eq!(printed.len(), 1, "{printed:?}");
    assert!(printed[0].contains("no more files"), "{printed:?}");
}

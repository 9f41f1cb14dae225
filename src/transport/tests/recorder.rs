//! The order of the recorder's work.

use super::common::*;
use crate::capture::ChunkSource;
use crate::conversation::Output;
use crate::decoder::DecodeOptions;
use crate::protocol::registry;
use crate::transport::recorder::{Recorder, RecorderScreen, RecordingFile};
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

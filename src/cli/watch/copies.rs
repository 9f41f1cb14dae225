//! Copies of messages: one for the clipboard, the shown ones as a recording.

use super::command::CopyForm;
use super::model::Model;
use crate::capture::{ChunkSource, Header, RecordingWriter, Time};
use crate::cli::recording;
use crate::decoder::Decoded;
use crate::framing::{Framing, Head, Places, Wire, write};
use crate::protocol::Direction;
use anyhow::{Context as _, Result};
use std::io::{self, Write};
use std::path::Path;

/// The name of a saved recording.
const SAVED: &str = "watch-{n}.jsonl";
/// The number of bytes that are written at once.
const WRITE_SIZE: usize = 256 << 10;

/// Returns the selected message in a form, and what the form is called.
pub(super) fn text_to_copy(model: &mut Model, form: CopyForm) -> Option<(String, &'static str)> {
    let shared = model.shared.clone();
    let store = shared.store();
    let peer = store.status.peer.clone();
    store.read(model.selected, &mut model.reader, |decoded, _| {
        let name = decoded.protocol.name();
        let json = || shell_words::quote(&decoded.message_text()).into_owned();
        match form {
            CopyForm::Hex => (hex::encode(wire_bytes(decoded).0), "hex"),
            CopyForm::Json => (decoded.message_text(), "JSON"),
            CopyForm::Encode => {
                let text = format!("echo {} | wiretool encode -p {name}", json());
                (text, "the encode command")
            }
            CopyForm::Send => {
                let port = decoded.protocol.descriptor().port;
                let usual = port.map(|port| format!("--connect tcp://127.0.0.1:{port}"));
                let peer = peer.or(usual).unwrap_or_else(|| "--connect ADDR".into());
                let text = format!("echo {} | wiretool send {name} --json - {peer}", json());
                (text, "the send command")
            }
        }
    })
}

/// Saves the messages that show; returns what was saved.
pub(super) fn save(model: &mut Model) -> Result<String> {
    anyhow::ensure!(model.row_count() > 0, "no message shows: nothing is saved");
    let mut file = recording::create(Path::new(SAVED), false)?;
    let written = write_recording(model, &mut file.file);
    let (saved, changed) = written.with_context(|| format!("cannot write {}", file.name))?;
    let changed = match changed {
        0 => String::new(),
        n => format!("; {n} were masked, compressed or in pieces, and are framed anew"),
    };
    Ok(format!("{saved} messages are in {}{changed}", file.name))
}

/// Writes the messages that show as a recording. Returns their number, and that of frames that are not as on the wire.
fn write_recording(model: &mut Model, to: &mut dyn Write) -> io::Result<(u64, u64)> {
    let shared = model.shared.clone();
    let first = shared.store().status.times.map_or(0, |(first, _)| first);
    let header = Header::new(Time::from(first));
    let mut out = Vec::new();
    let mut writer = RecordingWriter::new(&header, &mut out);
    let (mut saved, mut changed, mut now) = (0, 0, 0);
    for row in 0..model.row_count() {
        let Some(index) = model.message_at(row) else {
            break;
        };
        shared.store().read(index, &mut model.reader, |decoded, _| {
            let origin = decoded.origin;
            let source = match origin.direction {
                Some(Direction::ToClient) => ChunkSource::S2c,
                _ => ChunkSource::C2s,
            };
            let time = origin.time.map_or(now, |time| time.saturating_sub(first));
            now = time.max(now);
            let (mut bytes, is_exact) = wire_bytes(decoded);
            if decoded.frame.framing == Framing::Lines {
                // The frame ends before it.
                bytes.push(b'\n');
            }
            let place = (origin.conn.unwrap_or_default(), origin.stream);
            writer.chunk(now, place.0, place.1, source, &bytes, &mut out);
            saved += 1;
            changed += u64::from(!is_exact);
        });
        if out.len() >= WRITE_SIZE {
            to.write_all(&out)?;
            out.clear();
        }
    }
    writer.end(now, &mut out);
    to.write_all(&out)?;
    Ok((saved, changed))
}

/// Returns the bytes of a frame as on the wire, and true; if the view holds only its body, a new frame, and false.
fn wire_bytes(decoded: &Decoded<'_>) -> (Vec<u8>, bool) {
    let (frame, view) = (decoded.frame, decoded.frame.view);
    let is_whole = matches!(view.places, Places::Run(at) if at == frame.offset);
    if is_whole && view.bytes.len() as u64 == frame.len {
        return (view.bytes.to_vec(), true);
    }
    let (framing, opcode) = match frame.head {
        Head::WebSocket { opcode, .. } => (Framing::WebSocket, Some(opcode)),
        _ => (frame.framing, None),
    };
    let wire = Wire {
        opcode,
        ..Wire::default()
    };
    let mut out = Vec::new();
    write(framing, view.body(), &wire, &mut out);
    (out, false)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{model_of, model_of_file};
    use super::*;

    /// Returns the kinds and subjects of all messages.
    fn heads(model: &mut Model) -> Vec<String> {
        let shared = model.shared.clone();
        let store = shared.store();
        let head = |index| {
            store.read(index, &mut model.reader, |decoded, _| {
                let subject = decoded.message.subject.as_deref().unwrap_or_default();
                let direction = decoded.origin.direction;
                format!("{direction:?} {} {subject}", decoded.message.kind)
            })
        };
        (0..store.entries.len()).filter_map(head).collect()
    }

    #[test]
    fn a_saved_recording_has_the_messages_that_show() {
        let folder = tempfile::tempdir().unwrap();
        for (fixture, changed) in [
            ("sael/rules/replay-many.fires.jsonl", 0),
            ("cli/pow.jsonl", 0),
            ("captures/socat.txt", 0),
        ] {
            let mut model = model_of(fixture);
            let mut bytes = Vec::new();
            let written = write_recording(&mut model, &mut bytes).unwrap();
            let wanted = heads(&mut model);
            assert_eq!(written, (wanted.len() as u64, changed), "{fixture}");
            let file = folder.path().join("saved.jsonl");
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(heads(&mut model_of_file(file)), wanted, "{fixture}");
        }
    }

    #[test]
    fn copies_are_commands_that_shells_take_as_one_message() {
        let mut model = model_of("cli/pow.jsonl");
        let mut copy = |form| text_to_copy(&mut model, form).unwrap().0;
        assert!(copy(CopyForm::Hex).starts_with("7b226a736f6e727063"));
        let json = copy(CopyForm::Json);
        assert!(json.starts_with(r#"{"jsonrpc":"2.0""#), "{json}");
        let words = shell_words::split(&copy(CopyForm::Send)).unwrap();
        assert_eq!(words.get(1), Some(&json));
        assert_eq!(
            words.get(3..6).unwrap_or_default(),
            ["wiretool", "send", "oracle"]
        );
        assert!(copy(CopyForm::Encode).ends_with("| wiretool encode -p oracle"));
    }
}

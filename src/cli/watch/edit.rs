//! A message in the user's editor, to be sent once more.
//!
//! ```text
//!   selected message --JSON--> file --$EDITOR--> JSON --Encoder--> frame --Inserts--> the same direction and connection
//! ```

use super::model::Model;
use super::terminal::FullScreen;
use crate::cli::values::parse_json;
use crate::encode::{EncodeOptions, Encoder};
use crate::encoding::json;
use crate::framing::Framing;
use crate::protocol::make::IdGen;
use crate::protocol::{Direction, Protocol};
use crate::render::{self, DisplayOptions};
use crate::span::Span;
use crate::tape::Tape;
use crate::transport::Inserts;
use anyhow::{Context as _, Result, anyhow, ensure};
use std::io::{Read as _, Seek as _, Write as _};
use std::process::Command;
use std::sync::Arc;

/// The editor if the environment names none.
const USUAL_EDITOR: &str = "vi";
/// The maximum depth of an edited value, and of a line of decode around it.
const DEPTH: u32 = 1000;
/// The maximum number of bytes that are read from an editor: the default limit of a message, as text.
const MAX_TEXT: u64 = 64 << 20;

/// The state of editing.
pub(super) struct Editing {
    inserts: Arc<Inserts>,
    /// The seed of masks.
    seed: u64,
    /// A text with an error: the message, and what the user typed.
    draft: Option<(usize, String)>,
}

/// A message that can be sent once more.
struct Sendable {
    /// The line of decode.
    line: Vec<u8>,
    protocols: Vec<&'static dyn Protocol>,
    conn: u32,
    stream: Option<u64>,
    direction: Direction,
}

impl Editing {
    /// `seed`: of masks.
    pub fn new(inserts: Arc<Inserts>, seed: u64) -> Self {
        Self {
            inserts,
            seed,
            draft: None,
        }
    }

    /// Lets the user edit the selected message, and sends the result. Returns what happened.
    pub fn edit(&mut self, model: &mut Model, screen: &mut FullScreen) -> Result<String> {
        let sendable = sendable(model)?;
        let original = lines_of(&sendable)?;
        let earlier = self.draft.take();
        let draft = earlier.filter(|(index, _)| *index == model.selected);
        let shown = draft.map_or_else(|| original.clone(), |(_, text)| text);
        let edited = in_editor(&shown, screen)?;
        if edited == original {
            return Ok("unchanged: nothing is sent".into());
        }
        self.seed = self.seed.wrapping_add(1);
        let frame = match encode(&sendable, &edited, IdGen::new(self.seed)) {
            Ok(frame) => frame,
            Err(error) => {
                self.draft = Some((model.selected, edited));
                return Err(error.context("not sent, e opens it again"));
            }
        };
        let Sendable {
            conn,
            stream,
            direction,
            ..
        } = sendable;
        let sent = self.inserts.send(conn, stream, direction, &frame);
        if let Err(refusal) = sent {
            self.draft = Some((model.selected, edited));
            return Err(anyhow!("{refusal}"));
        }
        let arrow = match direction {
            Direction::ToServer => "→",
            Direction::ToClient => "←",
        };
        Ok(format!("sent {} bytes, #{conn} {arrow}", frame.len()))
    }
}

/// Returns the selected message, if its carrier takes another one.
fn sendable(model: &mut Model) -> Result<Sendable> {
    let shared = model.shared.clone();
    let store = shared.store();
    let protocols = store.protocols().to_vec();
    let found = store.read(model.selected, &mut model.reader, |decoded, _| {
        let framing = decoded.frame.framing;
        ensure!(
            !matches!(framing, Framing::Http | Framing::Http3),
            "not sent: an HTTP exchange has one request and one answer; y s copies a send command"
        );
        ensure!(
            !matches!(framing, Framing::Bare | Framing::Message),
            "not sent: without framing, a stream has only one message"
        );
        let mut line = Vec::new();
        render::json::write(decoded, None, DisplayOptions::default(), &mut line);
        let origin = decoded.origin;
        let place = origin.conn.zip(origin.direction);
        let (conn, direction) = place.context("not sent: its connection is not known")?;
        Ok(Sendable {
            line,
            protocols,
            conn,
            stream: origin.stream,
            direction,
        })
    });
    found.context("no message is selected")?
}

/// Passes the position of the message in a line of decode.
fn message_span(line: &[u8]) -> Option<Span> {
    let mut tape = Tape::new();
    let root = parse_json(line, &mut tape).ok()?;
    // The bytes of a message that cannot be decoded would be sent unchanged.
    let is_whole = root.get("raw").is_none();
    Some(root.get("message").filter(|_| is_whole)?.span())
}

/// Returns the message as JSON over several lines.
fn lines_of(sendable: &Sendable) -> Result<String> {
    let line = &sendable.line;
    let span = message_span(line).context("not sent: it is no message that can be written")?;
    let (text, mut tape, mut out) = (span.of(line), Tape::new(), Vec::new());
    let root = parse_json(text, &mut tape).map_err(|_| anyhow!("not sent: it is no JSON"))?;
    json::write_lines(root, 0, &mut out);
    out.push(b'\n');
    Ok(String::from_utf8(out)?)
}

/// Returns the frame of an edited message.
fn encode(sendable: &Sendable, edited: &str, ids: IdGen) -> Result<Vec<u8>> {
    let mut tape = Tape::new();
    if let Err(error) = json::root(edited.as_bytes(), DEPTH, &mut tape) {
        let before = edited.get(..error.span.at()).unwrap_or(edited);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        anyhow::bail!(
            "line {line}, column {column}: wanted {}, got {}",
            error.wanted,
            error.got
        );
    }
    let span = message_span(&sendable.line).context("it is no message")?;
    let (before, after) = (span.at(), span.end());
    let mut line = sendable.line.get(..before).unwrap_or_default().to_vec();
    json::write_compact(edited.as_bytes(), &mut line);
    line.extend_from_slice(sendable.line.get(after..).unwrap_or_default());
    let mut tape = Tape::new();
    let root = parse_json(&line, &mut tape).map_err(anyhow::Error::msg)?;
    let options = EncodeOptions::lines(sendable.protocols.clone());
    let mut encoder = Encoder::new(options, ids);
    let mut frame = encoder.encode(root)?.bytes;
    for rest in encoder.finish() {
        frame.extend_from_slice(&rest.bytes);
    }
    Ok(frame)
}

/// Returns a text after the user has edited it.
fn in_editor(text: &str, screen: &mut FullScreen) -> Result<String> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("wiretool-").suffix(".json");
    let context = "cannot create a temporary file";
    let mut file = builder.tempfile().context(context)?;
    file.write_all(text.as_bytes()).context(context)?;
    let named = ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.trim().is_empty());
    let editor = named.unwrap_or_else(|| USUAL_EDITOR.into());
    let words = shell_words::split(&editor).context("$VISUAL or $EDITOR is no command")?;
    let (program, arguments) = words.split_first().context("$EDITOR is no command")?;
    let ended = screen.outside(|terminal| {
        Command::new(program)
            .args(arguments)
            .arg(file.path())
            .stdin(terminal.try_clone()?)
            .stdout(terminal.try_clone()?)
            .stderr(terminal.try_clone()?)
            .status()
    })?;
    let ended = ended.with_context(|| format!("not sent: cannot run {program}"))?;
    ensure!(ended.success(), "not sent: {program} failed ({ended})");
    // Editors may replace the file.
    let mut edited = String::new();
    let mut file = std::fs::File::open(file.path()).context("not sent: the file is gone")?;
    file.rewind()?;
    let read = file.take(MAX_TEXT).read_to_string(&mut edited);
    read.context("not sent: cannot read the file")?;
    Ok(edited)
}

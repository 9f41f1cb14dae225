//! `wiretool protocol draft`: proposes a description of an unknown capture.
//!
//! ```text
//!   capture --framing--> the description with the fewest bad frames --messages--> facts --print--> TOML with the numbers
//! ```
//!
//! Only what holds in all messages is stated; everything else is a comment.

mod facts;
mod framing;
mod items;
mod print;
mod text;

use super::super::input::{is_c2s, other_direction};
use super::super::options;
use super::super::progress::ReadProgress;
use super::super::{Exit, output};
use crate::capture::{CaptureInput, Form, Item, KeptItem};
use crate::conversation::{Output, Run};
use crate::decoder::{DecodeOptions, Decoded};
use crate::encoding::Want;
use crate::framing::Framing;
use crate::protocol::described::Described;
use crate::protocol::{Direction, Protocol, Role};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::convert::Infallible;
use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The maximum number of bytes that are read of each file.
const MAX_BYTES: u64 = 16 << 20;
/// The number of bytes that are read before the progress is shown.
const BLOCK: usize = 256 << 10;
/// The maximum number of messages that are examined.
const MAX_MESSAGES: usize = 5_000;

/// Propose a description of an unknown capture, with the numbers that support it
#[derive(clap::Args)]
#[command(before_help = super::EXAMPLES, after_help = super::EXIT_CODES, help_template = options::HELP)]
pub struct DraftArgs {
    /// A capture in any form; for NAME.c2s.bin, NAME.s2c.bin is read, too
    #[arg(value_name = "CAPTURE", value_parser = options::capture(), required_unless_present_any = ["c2s", "s2c"])]
    file: Option<PathBuf>,
    /// Client-to-server bytes: from the side that opened the connection
    #[arg(long, value_name = "FILE", value_parser = options::capture(), conflicts_with = "file")]
    c2s: Option<PathBuf>,
    /// Server-to-client bytes
    #[arg(long, value_name = "FILE", value_parser = options::capture(), conflicts_with = "file")]
    s2c: Option<PathBuf>,
}

struct CaptureFile {
    /// What its form has in it: each description reads that, and not the form.
    items: Vec<KeptItem>,
    len: u64,
    direction: Option<Direction>,
}

impl CaptureFile {
    fn read(path: &Path, direction: Option<Direction>) -> Result<Self> {
        let bytes = read(path)?;
        let (mut input, mut items) = (CaptureInput::new(Form::Auto), Vec::new());
        let mut keep = |item: Item<'_>| items.push(KeptItem::of(&item));
        for block in bytes.chunks(BLOCK) {
            input.push(block, &mut keep);
        }
        input.finish(&mut keep);
        Ok(Self {
            items,
            len: bytes.len() as u64,
            direction,
        })
    }
}

/// A capture that is read several times.
pub struct Capture {
    name: String,
    parts: Vec<CaptureFile>,
}

/// A message as far as it is known.
pub struct DraftMessage {
    pub value: Value,
    pub conn: Option<u32>,
    pub direction: Option<Direction>,
}

/// What a description reads of a capture.
#[derive(Default)]
pub struct Trial {
    pub messages: Vec<DraftMessage>,
    /// The number of messages with an answer to an earlier one.
    pub pairs: usize,
    /// Frames that cannot be read.
    pub bad: usize,
    /// Messages that no `[[message]]` matches.
    pub unknown: usize,
    /// A message came in a WebSocket frame.
    pub has_websocket: bool,
    /// A message came in a body of HTTP.
    pub has_http: bool,
}

impl Capture {
    fn open(args: &DraftArgs) -> Result<Self> {
        use Direction::{ToClient, ToServer};
        let mut files = Vec::new();
        files.extend(
            args.c2s
                .as_deref()
                .map(|path| (path.to_owned(), Some(ToServer))),
        );
        files.extend(
            args.s2c
                .as_deref()
                .map(|path| (path.to_owned(), Some(ToClient))),
        );
        if let Some(path) = &args.file {
            let direction = if is_c2s(path) { ToServer } else { ToClient };
            match other_direction(path) {
                Some(other) => {
                    files.push((path.clone(), Some(direction)));
                    let other = Some(other).filter(|other| other.is_file());
                    files.extend(other.map(|other| (other, Some(direction.other()))));
                }
                None => files.push((path.clone(), None)),
            }
        }
        files.sort_by_key(|(_, direction)| *direction == Some(ToClient));
        let name = files.first().map(|(path, _)| path.display().to_string());
        let parts = files.iter();
        let parts = parts.map(|(path, direction)| CaptureFile::read(path, *direction));
        let parts: Vec<_> = parts.collect::<Result<_>>()?;
        ensure!(
            parts.iter().any(|part| part.len > 0),
            "{} is empty",
            name.unwrap_or_default()
        );
        Ok(Self {
            name: name.unwrap_or_default(),
            parts,
        })
    }

    /// Returns true if the order of messages of different directions is known.
    fn is_ordered(&self) -> bool {
        self.parts.len() == 1
    }

    /// Passes on everything that a protocol reads of it.
    fn run(&self, protocol: &dyn Protocol, with_rules: bool, take: &mut dyn FnMut(&Output<'_>)) {
        for part in &self.parts {
            let options = DecodeOptions {
                want: Want::Places,
                ..DecodeOptions::new(vec![protocol])
            };
            let mut run = Run::of_items(options, with_rules.then(Default::default));
            if let Some(direction) = part.direction {
                run = run.with_direction(direction);
            }
            let mut sink = |output: Output<'_>| -> ControlFlow<Infallible> {
                take(&output);
                ControlFlow::Continue(())
            };
            let (mut progress, mut done) = (ReadProgress::new(part.len, true), 0);
            for item in &part.items {
                let item = item.item();
                if let Some(progress) = &mut progress {
                    progress.set_done(done);
                }
                if let Item::Chunk(chunk) = &item {
                    done += chunk.bytes.len() as u64;
                }
                let ControlFlow::Continue(()) = run.item(&item, &mut sink);
            }
            let ControlFlow::Continue(()) = run.finish(&mut sink);
        }
    }

    /// Reads it by a description; `None` if the description is wrong.
    fn try_description(&self, text: &str) -> Option<Trial> {
        let described = Described::from_toml(text).ok()?;
        let mut trial = Trial::default();
        self.run(&described, true, &mut |output| {
            let Output::Message(decoded, verdict) = output else {
                return;
            };
            trial.add(decoded);
            trial.pairs += usize::from(verdict.is_some_and(|verdict| verdict.answer.is_some()));
        });
        Some(trial)
    }
}

impl Trial {
    fn add(&mut self, decoded: &Decoded<'_>) {
        let message = decoded.message;
        if decoded.is_faulty() || !message.valid {
            self.bad += 1;
        } else if message.role.is_none() {
            self.unknown += 1;
        } else if message.role != Some(Role::Control) && self.messages.len() < MAX_MESSAGES {
            self.has_websocket |= decoded.frame.framing == Framing::WebSocket;
            self.has_http |= decoded.frame.framing == Framing::Http;
            let text = decoded.message_text();
            let value = serde_json::from_str(&text).unwrap_or(Value::Null);
            self.messages.push(DraftMessage {
                value,
                conn: decoded.origin.conn,
                direction: decoded.origin.direction,
            });
        }
    }

    /// Returns the number of messages that are objects or lists.
    fn containers(&self) -> usize {
        let messages = self.messages.iter();
        let is_container = |one: &&DraftMessage| {
            let value = one
                .value
                .get("header")
                .map_or(Some(&one.value), |_| one.value.get("body"));
            value.is_none_or(|value| {
                scalar(value).is_none() && (value.is_object() || value.is_array())
            })
        };
        messages.filter(is_container).count()
    }
}

/// Returns the value of an object that stands for a value that JSON does not have, such as bytes.
fn scalar(value: &Value) -> Option<&Value> {
    let members = value.as_object().filter(|members| members.len() == 1);
    let (name, value) = members?.iter().next()?;
    name.starts_with('$').then_some(value)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let context = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin()
            .take(MAX_BYTES)
            .read_to_end(&mut bytes)
            .with_context(context)?;
        return Ok(bytes);
    }
    let file = File::open(path).with_context(context)?;
    file.take(MAX_BYTES)
        .read_to_end(&mut bytes)
        .with_context(context)?;
    Ok(bytes)
}

pub fn run(args: &DraftArgs) -> Result<Exit> {
    let capture = Capture::open(args)?;
    output::print(&print::description(&capture))
}

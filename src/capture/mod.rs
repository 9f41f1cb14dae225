//! Everything starts as chunks: bytes with connection, direction and, where known, time.
//!
//! ```text
//!   file, pipe, paste --push--> gunzip -> which form? -> raw        -> chunks, events,
//!                                                        hex           comments, gaps,
//!                                                        xxd           problems
//!                                                        base64
//!                                                        jsonl
//!                                                        recording
//! ```
//!
//! [`Input`] is told bytes as they arrive and hands on what they hold as soon as they hold it. How they are split into
//! pushes makes no difference to what comes out; only raw and base64 chunks are cut where the pushes were.

mod base64_text;
mod chunk;
mod detect;
mod dump;
mod form;
mod gzip;
mod hex;
mod json_lines;
mod lines;
pub(crate) mod recording;
#[cfg(test)]
mod tests;
mod time;

pub use chunk::{Chunk, Comment, Event, Gap, Item, Place, Problem, Severity, What};
pub use form::Form;
pub use recording::{EventRecord, Header, Record, RecordingWriter, Stream};
pub use time::Time;

use base64_text::Base64;
use chunk::Sink;
use gzip::Gunzip;
#[cfg(feature = "cli")]
pub(crate) use lines::LINE_LIMIT;
use lines::{LineForm, Lines};

/// One input: a file, a pipe, a paste. Gzipped ones are inflated, whatever their form.
///
/// ```
/// use wiretool::capture::{Form, Input, Item};
///
/// let mut bytes = Vec::new();
/// let mut sink = |item: Item<'_>| {
///     if let Item::Chunk(chunk) = item {
///         bytes.extend_from_slice(chunk.bytes);
///     }
/// };
/// let mut input = Input::new(Form::Auto);
/// input.push(b"03 00 00 00 string length = 3\n61 62 6", &mut sink);
/// input.push(b"3 the string\n", &mut sink);
/// input.finish(&mut sink);
/// assert_eq!(input.form(), Form::Hex);
/// assert_eq!(bytes, b"\x03\0\0\0abc");
/// ```
pub struct Input {
    gate: Gate,
    plain: Plain,
}

/// What stands before the form.
enum Gate {
    /// Too few bytes to tell, at most 2.
    Undecided(Vec<u8>),
    Open,
    Gzip(Box<Gunzip>),
}

/// An input that is not compressed.
struct Plain {
    form: Form,
    evidence: String,
    body: Body,
}

enum Body {
    /// Bytes held until the form is known, at most [`detect::LIMIT`] and one push.
    Undecided(Vec<u8>),
    Raw,
    Base64(Base64),
    Lines(Lines, Box<dyn LineForm>),
}

impl Input {
    /// An input of that form.
    pub fn new(form: Form) -> Self {
        let mut plain = Plain {
            form,
            evidence: String::new(),
            body: Body::Undecided(Vec::new()),
        };
        if form != Form::Auto {
            plain.decide(form, "asked for".into());
        }
        Self {
            gate: Gate::Undecided(Vec::new()),
            plain,
        }
    }

    /// More bytes. What they hold goes to `sink` before this returns.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Item<'_>)) {
        match &mut self.gate {
            Gate::Open => self.plain.push(bytes, sink),
            Gate::Gzip(gunzip) => {
                let plain = &mut self.plain;
                gunzip.push(bytes, &mut |out| plain.take(out, sink));
            }
            Gate::Undecided(held) => {
                if held.is_empty() && gzip::is_gzip(bytes) == Some(false) {
                    self.gate = Gate::Open;
                    return self.plain.push(bytes, sink);
                }
                held.extend_from_slice(bytes);
                if let Some(is_gzip) = gzip::is_gzip(held) {
                    let held = std::mem::take(held);
                    self.gate = if is_gzip {
                        Gate::Gzip(Box::new(Gunzip::new()))
                    } else {
                        Gate::Open
                    };
                    self.push(&held, sink);
                }
            }
        }
    }

    /// There are no more bytes. Call it once.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Item<'_>)) {
        let plain = &mut self.plain;
        match &mut self.gate {
            Gate::Open => {}
            Gate::Gzip(gunzip) => gunzip.finish(&mut |out| plain.take(out, sink)),
            Gate::Undecided(held) => {
                let held = std::mem::take(held);
                plain.push(&held, sink);
            }
        }
        plain.finish(sink);
    }

    /// The form, once it is known; [`Form::Auto`] until then.
    pub fn form(&self) -> Form {
        self.plain.form
    }

    /// Why it is that form; empty until it is known.
    pub fn evidence(&self) -> &str {
        &self.plain.evidence
    }

    /// Whether the input is gzipped.
    pub fn is_gzip(&self) -> bool {
        matches!(self.gate, Gate::Gzip(_))
    }

    /// How many lines held nothing for this form, comments and blank lines apart.
    pub fn ignored_lines(&self) -> u64 {
        match &self.plain.body {
            Body::Lines(_, form) => form.ignored(),
            _ => 0,
        }
    }
}

impl Plain {
    fn take(&mut self, out: Result<&[u8], Problem>, sink: &mut Sink<'_>) {
        match out {
            Ok(bytes) => self.push(bytes, sink),
            Err(problem) => sink(Item::Problem(problem)),
        }
    }

    fn decide(&mut self, form: Form, evidence: String) {
        let lines = |form| Body::Lines(Lines::new(), form);
        self.form = form;
        self.evidence = evidence;
        self.body = match form {
            Form::Auto | Form::Raw => Body::Raw,
            Form::Base64 => Body::Base64(Base64::default()),
            Form::Hex => lines(Box::<hex::Hex>::default()),
            Form::Xxd => lines(Box::<dump::Dump>::default()),
            Form::Jsonl => lines(Box::<json_lines::JsonLines>::default()),
            Form::Recording => lines(Box::<recording::Reader>::default()),
        };
    }

    fn push(&mut self, bytes: &[u8], sink: &mut Sink<'_>) {
        if bytes.is_empty() {
            return;
        }
        match &mut self.body {
            Body::Raw => sink(Item::Chunk(Chunk {
                conn: 0,
                direction: None,
                time: None,
                bytes,
            })),
            Body::Base64(base64) => base64.push(bytes, sink),
            Body::Lines(lines, form) => lines.push(bytes, form.as_mut(), sink),
            Body::Undecided(held) => {
                // Nearly always the first push decides; then nothing is copied.
                if held.is_empty() {
                    if let Some((form, evidence)) = detect::detect(bytes, false) {
                        self.decide(form, evidence);
                        return self.push(bytes, sink);
                    }
                    held.extend_from_slice(bytes);
                } else {
                    held.extend_from_slice(bytes);
                    if let Some((form, evidence)) = detect::detect(held, false) {
                        let held = std::mem::take(held);
                        self.decide(form, evidence);
                        self.push(&held, sink);
                    }
                }
            }
        }
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        if let Body::Undecided(held) = &mut self.body {
            let held = std::mem::take(held);
            if let Some((form, evidence)) = detect::detect(&held, true) {
                self.decide(form, evidence);
            }
            self.push(&held, sink);
        }
        match &mut self.body {
            Body::Base64(base64) => base64.finish(sink),
            Body::Lines(lines, form) => lines.finish(form.as_mut(), sink),
            Body::Undecided(_) | Body::Raw => {}
        }
    }
}

//! Reads captures. Every input becomes chunks: bytes with a connection, a direction and, if known, a time.
//!
//! ```text
//!   file, pipe, paste --push--> gunzip -> which form? -> raw        -> chunks, events,
//!                                                        hex           comments, gaps,
//!                                                        xxd           problems
//!                                                        base64
//!                                                        text
//!                                                        jsonl
//!                                                        recording
//!                                                        pcap
//!                                                        har, strace, curl, ..
//! ```
//!
//! [`CaptureInput`] receives bytes as they arrive and emits items as soon as they are complete. The split of the input into
//! pushes does not change the items; only raw and base64 chunks end at the ends of pushes.

mod base64_text;
mod chunk;
mod detect;
mod dump;
mod form;
mod gzip;
mod har;
mod hex;
mod journald;
mod json_lines;
mod kept;
#[cfg(feature = "snapshot")]
pub(crate) mod line_table;
mod lines;
#[cfg(feature = "cli")]
pub(crate) mod lookalike;
mod page;
mod pasted;
#[cfg(feature = "pcap")]
mod pcap;
mod printed;
mod readable;
pub(crate) mod recording;
#[cfg(feature = "rules")]
mod sources;
mod strace;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod traffic;
mod unreadable;
mod utf16;

pub use chunk::{
    Chunk, Comment, Event, EventKind, Gap, InputPlace, Item, Problem, ProblemSeverity,
};
pub use form::Form;
#[cfg(feature = "pcap")]
pub use pcap::PacketOptions;
pub use recording::{
    ChunkSource, EventRecord, Header, ItemRecorder, Record, RecordError, RecordingWriter,
};
pub use time::Time;
#[cfg(feature = "render")]
pub(crate) use time::write_time;

#[cfg(feature = "cli")]
use crate::protocol::{Protocol, registry};
use chunk::ItemSink;
use detect::DetectedForm;
use form::FormReader;
use gzip::Gunzip;
#[cfg(feature = "rules")]
pub(crate) use kept::{KeptChunk, KeptEvent, KeptItem};
use lines::BOM;
#[cfg(feature = "cli")]
pub(crate) use lines::LINE_LIMIT;
#[cfg(feature = "cli")]
pub(crate) use pasted::ends_as_pasted;
#[cfg(feature = "rules")]
pub(crate) use sources::{Relation, Sources};
use text::Expected;
use utf16::Utf16;

/// One input: a file, a pipe, or pasted text. Gzipped input is inflated, in any form.
///
/// ```
/// use wiretool::capture::{CaptureInput, Form, Item};
///
/// let mut bytes = Vec::new();
/// let mut sink = |item: Item<'_>| {
///     if let Item::Chunk(chunk) = item {
///         bytes.extend_from_slice(chunk.bytes);
///     }
/// };
/// let mut input = CaptureInput::new(Form::Auto);
/// input.push(b"03 00 00 00 string length = 3\n61 62 6", &mut sink);
/// input.push(b"3 the string\n", &mut sink);
/// input.finish(&mut sink);
/// assert_eq!(input.form(), Form::Hex);
/// assert_eq!(bytes, b"\x03\0\0\0abc");
/// ```
pub struct CaptureInput {
    gzip: GzipDetection,
    plain: PlainInput,
}

impl std::fmt::Debug for CaptureInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("CaptureInput");
        fields.field("form", &self.form());
        fields.field("evidence", &self.evidence());
        fields.finish_non_exhaustive()
    }
}

/// The state of the detection of gzip.
enum GzipDetection {
    /// Too few bytes to decide, at most 2.
    Undecided(Vec<u8>),
    Plain,
    Gzip(Box<Gunzip>),
}

/// Input that is not compressed.
struct PlainInput {
    form: Form,
    evidence: String,
    encoding: TextEncoding,
    body: InputBody,
    /// The bytes are exactly what one side sent.
    is_exact: bool,
    /// Lines show that messages were copied out of something else.
    is_pasted: bool,
    /// The protocol that the user named.
    expected: Expected,
    #[cfg(feature = "pcap")]
    packet_options: PacketOptions,
}

/// The encoding of an input that is text.
enum TextEncoding {
    /// Too few bytes to decide.
    Undecided(Vec<u8>),
    /// The input begins with this number of zero bytes.
    Zeros(u64),
    /// UTF-8, or no text.
    Bytes,
    Utf16(Utf16),
}

enum InputBody {
    /// Bytes that are stored until the form is known, at most [`detect::LIMIT`] and one push.
    Undecided(Vec<u8>),
    Raw,
    Form(Box<dyn FormReader>),
}

impl CaptureInput {
    /// Creates an input of this form.
    pub fn new(form: Form) -> Self {
        let mut plain = PlainInput {
            form,
            evidence: String::new(),
            encoding: match form {
                Form::Raw | Form::Pcap => TextEncoding::Bytes,
                _ => TextEncoding::Undecided(Vec::new()),
            },
            body: InputBody::Undecided(Vec::new()),
            is_exact: false,
            is_pasted: false,
            expected: None,
            #[cfg(feature = "pcap")]
            packet_options: PacketOptions::default(),
        };
        if form != Form::Auto {
            plain.set_form(form, "asked for".into(), detect::reader(form));
        }
        Self {
            gzip: GzipDetection::Undecided(Vec::new()),
            plain,
        }
    }

    /// Returns the ports that were asked for, if the input is no packet capture.
    #[cfg(feature = "cli")]
    pub(crate) fn unused_ports(&self) -> &[u16] {
        match self.form() {
            Form::Pcap => &[],
            _ => &self.plain.packet_options.ports,
        }
    }

    /// Says that the bytes are exactly what one side sent: a byte order mark, or a message without its header, is a fault of
    /// that side.
    #[cfg(any(feature = "cli", feature = "snapshot"))]
    #[must_use]
    pub(crate) fn of_exact_bytes(mut self, is_exact: bool) -> Self {
        self.plain.is_exact = is_exact;
        self
    }

    /// Says that later lines show that messages were copied out of something else: other lines are no errors.
    #[cfg(feature = "cli")]
    #[must_use]
    pub(crate) fn of_pasted_text(mut self, is_pasted: bool) -> Self {
        self.plain.is_pasted = is_pasted;
        self
    }

    /// Sets the possible protocols. If the user named one, text is searched for its messages.
    #[cfg(feature = "cli")]
    #[must_use]
    pub(crate) fn of_protocols(mut self, protocols: &[&dyn Protocol]) -> Self {
        self.plain.expected = match protocols {
            [only] => registry::find(only.name()),
            _ => None,
        };
        if let InputBody::Form(reader) = &mut self.plain.body {
            reader.expect(self.plain.expected);
        }
        self
    }

    /// Sets what to read if the input is a packet capture. Call it before the first bytes.
    #[cfg(feature = "pcap")]
    #[must_use]
    pub fn with_packet_options(mut self, options: PacketOptions) -> Self {
        self.plain.packet_options = options;
        if self.plain.form == Form::Pcap {
            self.plain.set_form(Form::Pcap, "asked for".into(), None);
        }
        self
    }

    /// Adds bytes. Their items go to `sink` before this returns.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Item<'_>)) {
        match &mut self.gzip {
            GzipDetection::Plain => self.plain.push(bytes, sink),
            GzipDetection::Gzip(gunzip) => {
                let plain = &mut self.plain;
                gunzip.push(bytes, &mut |out| plain.push_inflated(out, sink));
            }
            GzipDetection::Undecided(held) => {
                if held.is_empty() && gzip::is_gzip(bytes) == Some(false) {
                    self.gzip = GzipDetection::Plain;
                    return self.plain.push(bytes, sink);
                }
                held.extend_from_slice(bytes);
                if let Some(is_gzip) = gzip::is_gzip(held) {
                    let held = std::mem::take(held);
                    self.gzip = if is_gzip {
                        GzipDetection::Gzip(Box::new(Gunzip::new()))
                    } else {
                        GzipDetection::Plain
                    };
                    self.push(&held, sink);
                }
            }
        }
    }

    /// Ends the input. Call it once.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Item<'_>)) {
        let plain = &mut self.plain;
        match &mut self.gzip {
            GzipDetection::Plain => {}
            GzipDetection::Gzip(gunzip) => gunzip.finish(&mut |out| plain.push_inflated(out, sink)),
            GzipDetection::Undecided(held) => {
                let held = std::mem::take(held);
                plain.push(&held, sink);
            }
        }
        plain.finish(sink);
    }

    /// Returns the form, or [`Form::Auto`] until it is known.
    pub fn form(&self) -> Form {
        match self.plain.chosen() {
            Some((form, _)) => form,
            None if self.plain.form == Form::Text => Form::Auto,
            None => self.plain.form,
        }
    }

    /// Returns the evidence for the form; empty until it is known.
    pub fn evidence(&self) -> &str {
        let chosen = self.plain.chosen();
        chosen.map_or(&self.plain.evidence, |(_, evidence)| evidence)
    }

    /// Returns `true` if all further bytes are passed on as they are.
    #[cfg(feature = "cli")]
    pub(crate) fn passes_bytes(&self) -> bool {
        let plain = &self.plain;
        matches!(self.gzip, GzipDetection::Plain)
            && matches!(plain.encoding, TextEncoding::Bytes)
            && matches!(plain.body, InputBody::Raw)
    }

    /// Returns the number of lines without data of this form, except comments and blank lines.
    pub(crate) fn ignored_lines(&self) -> u64 {
        match &self.plain.body {
            InputBody::Form(reader) => reader.ignored(),
            _ => 0,
        }
    }
}

impl PlainInput {
    fn push_inflated(&mut self, out: Result<&[u8], Problem>, sink: &mut ItemSink<'_>) {
        match out {
            Ok(bytes) => self.push(bytes, sink),
            Err(problem) => problem.report(sink),
        }
    }

    fn chosen(&self) -> Option<(Form, &str)> {
        match &self.body {
            InputBody::Form(reader) => reader.chosen(),
            _ => None,
        }
    }

    fn set_form(&mut self, form: Form, evidence: String, reader: Option<Box<dyn FormReader>>) {
        self.form = form;
        self.evidence = evidence;
        self.body = match reader {
            Some(mut reader) => {
                reader.expect(self.expected);
                reader.set_pasted(self.is_pasted);
                InputBody::Form(reader)
            }
            None => InputBody::Raw,
        };
        #[cfg(feature = "pcap")]
        if form == Form::Pcap {
            let reader = pcap::PcapReader::new(&self.packet_options);
            self.body = InputBody::Form(Box::new(reader));
        }
    }

    fn push(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        match &mut self.encoding {
            TextEncoding::Bytes => self.push_form(bytes, sink),
            TextEncoding::Utf16(_) => self.push_utf16(bytes, sink),
            TextEncoding::Zeros(count) => {
                let zeros = bytes.iter().take_while(|c| **c == 0).count();
                *count += zeros as u64;
                let rest = bytes.get(zeros..).unwrap_or_default();
                if !rest.is_empty() {
                    self.end_zeros(rest, sink);
                }
            }
            TextEncoding::Undecided(held) => {
                held.extend_from_slice(bytes);
                if let Some(is_utf16) = utf16::is_utf16(held) {
                    let held = std::mem::take(held);
                    self.set_encoding(&held, is_utf16, sink);
                }
            }
        }
    }

    fn set_encoding(&mut self, held: &[u8], is_utf16: bool, sink: &mut ItemSink<'_>) {
        self.encoding = if is_utf16 {
            TextEncoding::Utf16(Utf16::new(held))
        } else if held.first() == Some(&0) && !self.is_exact {
            TextEncoding::Zeros(0)
        } else {
            TextEncoding::Bytes
        };
        self.push(held, sink);
    }

    /// Leaves out the zero bytes before a text: programs go on at their old offset after `copytruncate` of logrotate. Other
    /// bytes keep them.
    fn end_zeros(&mut self, rest: &[u8], sink: &mut ItemSink<'_>) {
        const LEAST: u64 = 256;
        const PIECE: u64 = 4 << 10;
        let TextEncoding::Zeros(count) = self.encoding else {
            return;
        };
        self.encoding = TextEncoding::Bytes;
        let is_text = rest
            .first()
            .is_some_and(|c| c.is_ascii_graphic() || c.is_ascii_whitespace());
        if count >= LEAST && is_text {
            let text = format!(
                "{count} zero bytes before the text are left out: the log was truncated while its program had it open"
            );
            Problem::note(InputPlace::Whole, text).report(sink);
        } else {
            let zeros = [0; PIECE as usize];
            let mut left = count;
            while left > 0 {
                let len = left.min(PIECE);
                self.push_form(zeros.get(..len as usize).unwrap_or_default(), sink);
                left -= len;
            }
        }
        self.push_form(rest, sink);
    }

    fn push_utf16(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        let encoding = std::mem::replace(&mut self.encoding, TextEncoding::Bytes);
        if let TextEncoding::Utf16(mut utf16) = encoding {
            self.push_form(utf16.push(bytes).as_bytes(), sink);
            self.encoding = TextEncoding::Utf16(utf16);
        }
    }

    fn push_form(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        if bytes.is_empty() {
            return;
        }
        match &mut self.body {
            InputBody::Raw => sink(Item::Chunk(Chunk::of(None, bytes))),
            InputBody::Form(reader) => reader.push(bytes, sink),
            InputBody::Undecided(held) => {
                // The first push nearly always decides; then nothing is copied.
                if held.is_empty() {
                    if let Some(detected) =
                        detect::detect(bytes, false, self.is_exact, self.expected)
                    {
                        return self.start(detected, bytes, sink);
                    }
                    held.extend_from_slice(bytes);
                } else {
                    held.extend_from_slice(bytes);
                    if let Some(detected) =
                        detect::detect(held, false, self.is_exact, self.expected)
                    {
                        let held = std::mem::take(held);
                        self.start(detected, &held, sink);
                    }
                }
            }
        }
    }

    /// Reads the first bytes in the form that they have.
    fn start(&mut self, detected: DetectedForm, bytes: &[u8], sink: &mut ItemSink<'_>) {
        let (mut form, mut evidence, mut reader) = detected;
        let is_json = |text: &[u8]| matches!(text.trim_ascii_start().first(), Some(b'{' | b'['));
        if form == Form::Raw && self.is_pasted && !self.is_exact && is_json(bytes) {
            form = Form::Text;
            evidence = "its last lines are those of another program".into();
            reader = detect::reader(form);
        }
        self.set_form(form, evidence, reader);
        let after_mark = bytes.strip_prefix(BOM).filter(|_| !self.is_exact);
        match after_mark
            .filter(|text| matches!(form, Form::Raw | Form::Text | Form::Log) && is_json(text))
        {
            Some(text) => {
                let note = "a byte order mark is before the text, and is left out: peers refuse it";
                Problem::note(InputPlace::Whole, note).report(sink);
                self.push_form(text, sink);
            }
            None => self.push_form(bytes, sink),
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        if let TextEncoding::Undecided(held) = &mut self.encoding {
            let held = std::mem::take(held);
            // A few characters after the mark are enough at the end.
            let is_utf16 = held.len() >= 4 && utf16::is_utf16(&held).is_none();
            self.set_encoding(&held, is_utf16, sink);
        }
        self.end_zeros(b"", sink);
        if let InputBody::Undecided(held) = &mut self.body {
            let held = std::mem::take(held);
            match detect::detect(&held, true, self.is_exact, self.expected) {
                Some(detected) => self.start(detected, &held, sink),
                None => self.push_form(&held, sink),
            }
        }
        if let InputBody::Form(reader) = &mut self.body {
            reader.finish(sink);
        }
    }
}

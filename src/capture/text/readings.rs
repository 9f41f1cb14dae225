//! The ways to read text, in the order of preference.

use super::super::form::Form;
use super::super::hex::Hex;
use super::super::lines::LineForm;
use super::arrays::Arrays;
use super::escapes::Escapes;
use super::log::Log;
use super::neovim::Neovim;
#[cfg(feature = "pcap")]
use super::packets_inside::PacketsInside;
use super::percent::Percent;
use super::probe::Expected;
use super::rows::{Columns, Rows};
use super::runs::{RunKind, Runs};
use super::strings::Strings;
use super::trace::Trace;
use super::unpacked::Unpacked;

/// A way to read text.
pub(super) struct Reading {
    pub form: Form,
    pub name: &'static str,
    pub kind: ReadingKind,
}

#[derive(Clone, Copy)]
pub(super) enum ReadingKind {
    Raw,
    Log,
    Neovim,
    Trace,
    Unpacked,
    Rows(Columns),
    PlainRows(Columns),
    HexLines,
    Runs(RunKind),
    Arrays {
        radix: u32,
    },
    Strings(Escapes),
    Percent {
        mark: u8,
    },
    /// Whole packets in what another reading gives.
    #[cfg(feature = "pcap")]
    Packets(&'static ReadingKind),
}
pub(super) use ReadingKind as Kind;

const fn reading(form: Form, name: &'static str, kind: ReadingKind) -> Reading {
    Reading { form, name, kind }
}

const fn rows(name: &'static str, columns: Columns) -> Reading {
    reading(Form::Dump, name, Kind::Rows(columns))
}

const fn plain(name: &'static str, columns: Columns) -> Reading {
    reading(Form::Dump, name, Kind::PlainRows(columns))
}

const fn runs(name: &'static str, kind: RunKind) -> Reading {
    reading(Form::Text, name, Kind::Runs(kind))
}

const fn arrays(name: &'static str, radix: u32) -> Reading {
    reading(Form::Literal, name, Kind::Arrays { radix })
}

const fn strings(name: &'static str, latin1: bool, radix: u32) -> Reading {
    let escapes = Escapes {
        latin1,
        radix,
        ..BYTES
    };
    reading(Form::Literal, name, Kind::Strings(escapes))
}

/// Escapes of strings that show bytes.
const BYTES: Escapes = Escapes {
    latin1: true,
    radix: 8,
    is_text: false,
};

#[cfg(feature = "pcap")]
const fn packets(name: &'static str, kind: &'static ReadingKind) -> Reading {
    reading(Form::Text, name, Kind::Packets(kind))
}

/// The readings; of equally good ones, the first is chosen.
pub(super) const READINGS: &[Reading] = &[
    reading(Form::Raw, "the text itself", Kind::Raw),
    reading(Form::Log, "the log of Neovim", Kind::Neovim),
    reading(Form::Log, "messages in lines of a log", Kind::Log),
    reading(Form::Log, "the trace of an editor", Kind::Trace),
    reading(
        Form::Log,
        "messages that were unpacked from MessagePack",
        Kind::Unpacked,
    ),
    rows("rows of hex bytes", Columns::Pairs),
    rows("rows of 2-byte hex words", Columns::little(16, 2)),
    rows("rows of 4-byte hex words", Columns::little(16, 4)),
    rows("rows of 8-byte hex words", Columns::little(16, 8)),
    rows("rows of octal bytes", Columns::little(8, 1)),
    rows("rows of 2-byte octal words", Columns::little(8, 2)),
    rows("rows of 4-byte octal words", Columns::little(8, 4)),
    rows("rows of 8-byte octal words", Columns::little(8, 8)),
    rows("rows of binary bytes", Columns::little(2, 1)),
    rows("rows of characters", Columns::Characters),
    rows("rows of decimal bytes", Columns::little(10, 1)),
    rows("rows of 2-byte decimal words", Columns::little(10, 2)),
    rows("rows of 4-byte decimal words", Columns::little(10, 4)),
    rows("rows of 8-byte decimal words", Columns::little(10, 8)),
    rows("rows of 2-byte octal words, big-endian", Columns::big(8, 2)),
    rows("rows of 4-byte octal words, big-endian", Columns::big(8, 4)),
    rows("rows of 8-byte octal words, big-endian", Columns::big(8, 8)),
    rows(
        "rows of 2-byte decimal words, big-endian",
        Columns::big(10, 2),
    ),
    rows(
        "rows of 4-byte decimal words, big-endian",
        Columns::big(10, 4),
    ),
    rows(
        "rows of 8-byte decimal words, big-endian",
        Columns::big(10, 8),
    ),
    reading(Form::Hex, "lines that begin with hex bytes", Kind::HexLines),
    runs("hex inside text", RunKind::Hex),
    runs("hex in numbered lines", RunKind::NumberedHex),
    runs("hex without leading zeros", RunKind::UnpaddedHex),
    plain("hex bytes", Columns::Pairs),
    plain("2-byte hex words", Columns::little(16, 2)),
    plain("4-byte hex words", Columns::little(16, 4)),
    plain("8-byte hex words", Columns::little(16, 8)),
    plain("octal bytes", Columns::little(8, 1)),
    plain("2-byte octal words", Columns::little(8, 2)),
    plain("binary bytes", Columns::little(2, 1)),
    plain("characters", Columns::Characters),
    plain("decimal bytes", Columns::little(10, 1)),
    plain("2-byte decimal words", Columns::little(10, 2)),
    plain("4-byte decimal words", Columns::little(10, 4)),
    strings("strings with escapes", true, 8),
    strings("strings with escapes, as UTF-8", false, 8),
    strings("strings with decimal escapes", true, 10),
    arrays("lists of numbers", 10),
    arrays("lists of hex numbers", 16),
    reading(
        Form::Literal,
        "percent-encoded bytes",
        Kind::Percent { mark: b'%' },
    ),
    reading(
        Form::Literal,
        "quoted-printable bytes",
        Kind::Percent { mark: b'=' },
    ),
    runs("Base64 inside text", RunKind::WrappedBase64),
    runs("Base64 inside text, each line for itself", RunKind::Base64),
    #[cfg(feature = "pcap")]
    packets("packets in lists of numbers", &Kind::Arrays { radix: 10 }),
    #[cfg(feature = "pcap")]
    packets("packets in strings with escapes", &Kind::Strings(BYTES)),
    #[cfg(feature = "pcap")]
    packets("packets in hex inside text", &Kind::Runs(RunKind::Hex)),
];

impl ReadingKind {
    /// Returns true if the reader holds lines until it knows the next ones.
    pub(super) fn holds_back(self) -> bool {
        match self {
            Kind::Rows(_) | Kind::Log => true,
            #[cfg(feature = "pcap")]
            Kind::Packets(_) => true,
            _ => false,
        }
    }

    /// The reader of lines; `None` for the text itself.
    pub(super) fn reader(self, quoted: bool, expected: Expected) -> Option<Box<dyn LineForm>> {
        Some(match self {
            Kind::Raw => return None,
            Kind::Log => Box::new(Log::new(quoted, expected)),
            Kind::Neovim => Box::new(Neovim::new(quoted)),
            Kind::Trace => Box::new(Trace::new(quoted)),
            Kind::Unpacked => Box::new(Unpacked::new(quoted)),
            Kind::Rows(columns) => Box::new(Rows::new(quoted, columns, true)),
            Kind::PlainRows(columns) => Box::new(Rows::new(quoted, columns, false)),
            Kind::HexLines => Box::<Hex>::default(),
            Kind::Runs(kind) => Box::new(Runs::new(quoted, kind)),
            Kind::Arrays { radix } => Box::new(Arrays::new(quoted, radix)),
            Kind::Percent { mark } => Box::new(Percent::new(quoted, mark)),
            Kind::Strings(escapes) => Box::new(Strings::new(quoted, escapes)),
            #[cfg(feature = "pcap")]
            Kind::Packets(kind) => Box::new(PacketsInside::new(kind.reader(quoted, expected)?)),
        })
    }
}

//! The forms of input: the values of `--from`.

use super::chunk::ItemSink;
use super::text::Expected;

/// Declares the forms: documentation, variant and name on the command line.
macro_rules! forms {
    ($($(#[$attribute:meta])* $variant:ident $name:literal,)*) => {
        /// A form of input.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Form {
            $($(#[$attribute])* $variant,)*
        }

        impl Form {
            /// All forms.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Returns the name on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

forms! {
    /// Detected from the bytes.
    #[default]
    Auto "auto",
    /// The bytes themselves.
    Raw "raw",
    /// Hex bytes, line by line, with comments.
    Hex "hex",
    /// Hex bytes after offsets: `xxd`, `hexdump -C`, `od -t x1`.
    Xxd "xxd",
    /// Base64 in either alphabet.
    Base64 "base64",
    /// The output of `decode -f json`.
    Jsonl "jsonl",
    /// Text that shows bytes or contains messages, in the best reading.
    Text "text",
    /// Rows of numbers, in any base and order of bytes.
    Dump "dump",
    /// Lists of numbers and strings with escapes, as in source code.
    Literal "literal",
    /// Lines of a log that contain messages in JSON.
    Log "log",
    /// A recording, as `-w` writes it.
    Recording "recording",
    /// A packet capture, pcap or pcapng; read with the feature `pcap`.
    Pcap "pcap",
    /// HTTP and WebSocket traffic that a browser or a proxy exported.
    Har "har",
    /// A page of `wiretool export -f html`.
    Page "page",
    /// A trace of system calls.
    Strace "strace",
    /// Output of `curl --trace` and `--trace-ascii`.
    Curl "curl",
    /// Output of `socat -v` and `-x`.
    Socat "socat",
    /// Output of `ngrep -x`.
    Ngrep "ngrep",
    /// Output of `tcpflow -c -D`.
    Tcpflow "tcpflow",
    /// Output of `tcpdump -X` and `-x`; read with the feature `pcap`.
    Tcpdump "tcpdump",
    /// The output of `tshark -x`; read with the feature `pcap`.
    Tshark "tshark",
    /// A format that is named but not read, such as ELF or zip.
    Unreadable "unreadable",
}

/// The answer of a form to the beginning of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormVerdict<T = String> {
    /// The input has this form, for this reason.
    Yes(T),
    No,
    /// More bytes are needed.
    Open,
}

impl<T> FormVerdict<T> {
    pub(super) fn map<U>(self, convert: impl FnOnce(T) -> U) -> FormVerdict<U> {
        match self {
            Self::Yes(reason) => FormVerdict::Yes(convert(reason)),
            Self::No => FormVerdict::No,
            Self::Open => FormVerdict::Open,
        }
    }
}

/// The continuation after the present bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputEnd {
    /// More bytes.
    More,
    /// More bytes that detection does not wait for.
    Limit,
    /// Nothing.
    Real,
}

/// Converts the bytes of an input of one form to items.
pub(super) trait FormReader: Send {
    fn push(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>);
    /// Sets the protocol that the user named. It comes before the first bytes.
    fn expect(&mut self, _protocol: Expected) {}
    /// Says that later lines show that messages were copied out of something else. It comes before the first bytes.
    fn set_pasted(&mut self, _is_pasted: bool) {}
    /// Ends the input.
    fn finish(&mut self, _sink: &mut ItemSink<'_>) {}
    /// Returns the number of lines without data of this form.
    fn ignored(&self) -> u64 {
        0
    }
    /// Returns the form that the reader found, and why, if it reads several.
    fn chosen(&self) -> Option<(Form, &str)> {
        None
    }
}

impl Form {
    /// Returns the form with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_names_round_trip() {
        for form in Form::ALL {
            assert_eq!(Form::from_name(form.name()), Some(form));
        }
        assert_eq!(Form::from_name("HEX"), None);
    }
}

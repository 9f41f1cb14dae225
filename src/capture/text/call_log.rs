//! What programs print without the bytes of messages, such as traces of calls: it is named if no reading of a text gives
//! messages.

use super::super::chunk::{InputPlace, ItemSink, Problem};
use super::super::lines::{Line, LineForm};
use super::unpacked::begins_with_bytes;

/// The sections of Node for which `NODE_DEBUG` prints lines.
const NODE_SECTIONS: [&[u8]; 18] = [
    b"CHILD_PROCESS",
    b"CLUSTER",
    b"ESM",
    b"FETCH",
    b"FS",
    b"HTTP",
    b"HTTP2",
    b"HTTPS",
    b"MODULE",
    b"NET",
    b"QUIC",
    b"STREAM",
    b"TIMER",
    b"TLS",
    b"UNDICI",
    b"WEBSOCKET",
    b"WORKER",
    b"ZLIB",
];

/// A log of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallLogKind {
    /// `NET 10318: onconnection`
    NodeDebug,
    /// `> POST / HTTP/1.1`, `< HTTP/1.1 200 OK`: what `curl -v` prints beside its remarks.
    CurlVerbose,
    /// `{'type': 'x', 'id': b'\xee'}`: values with bytes, as a program prints them.
    Values,
}

impl CallLogKind {
    const ALL: [Self; 2] = [Self::NodeDebug, Self::CurlVerbose];

    /// Returns the log that a text is: two of its lines are from the program, and the first one is.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        if begins_with_bytes(text) {
            return Some(Self::Values);
        }
        let mut lines = text.split(|&c| c == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.find(|line| !line.is_empty())?;
        let kind = Self::ALL.into_iter().find(|kind| kind.is_line(first))?;
        lines.any(|line| kind.is_line(line)).then_some(kind)
    }

    fn is_line(self, line: &[u8]) -> bool {
        match self {
            Self::NodeDebug => {
                let mut words = line.splitn(3, |&c| c == b' ');
                let section = words.next().unwrap_or_default();
                let pid = words.next().and_then(|word| word.strip_suffix(b":"));
                NODE_SECTIONS.contains(&section)
                    && pid.is_some_and(|pid| !pid.is_empty() && pid.iter().all(u8::is_ascii_digit))
            }
            Self::CurlVerbose => {
                let is_request = |head: &[u8]| memchr::memmem::find(head, b" HTTP/").is_some();
                line.starts_with(b"*   Trying ")
                    || line.starts_with(b"* Connected to ")
                    || line.starts_with(b"* Host ")
                    || line.starts_with(b"< HTTP/")
                    || line.strip_prefix(b"> ").is_some_and(is_request)
            }
            Self::Values => false,
        }
    }

    fn problem(self) -> Problem {
        let (text, hint) = match self {
            Self::NodeDebug => (
                "NODE_DEBUG prints calls without their bytes",
                "wiretool proxy records them, and tcpdump -w FILE.pcap captures them",
            ),
            Self::CurlVerbose => (
                "curl -v prints heads without bodies",
                "curl --trace FILE prints all bytes",
            ),
            Self::Values => (
                "these are decoded values with bytes, as a program prints them, and not the bytes of messages",
                "print the bytes that were received, before they are unpacked: data.hex()",
            ),
        };
        Problem::unreadable(InputPlace::Whole, text).hint(hint)
    }
}

/// Reports a log of calls at the end of the input.
pub(super) struct CallLog {
    pub kind: CallLogKind,
    /// The number of lines.
    pub ignored: u64,
}

impl LineForm for CallLog {
    fn line(&mut self, _: Line<'_>, _: &mut ItemSink<'_>) {
        self.ignored += 1;
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.kind.problem().report(sink);
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}

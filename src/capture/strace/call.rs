//! Calls that transfer bytes: read and write, send and recv, and their vectors.
//!
//! ```text
//!   read(0, "abc"..., 4096) = 38                                       3 bytes, 35 missing
//!   writev(1, [{iov_base="ab", iov_len=2}, {iov_base="c", iov_len=1}], 2) = 3
//!   recvmsg(3, {msg_name=NULL, .., msg_iov=[{iov_base="a", iov_len=9}], ..}, 0) = 1
//!   sendmmsg(3, [{msg_hdr={.., msg_iov=[{iov_base="a", iov_len=1}], ..}, msg_len=1}], 1, 0) = 1    a vector for each message
//!   sendfile(3, 4, NULL, 100) = 100                                    100 missing
//! ```

use super::line::{self, SystemCall};

/// The way in which a call transfers bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    pub writes: bool,
    /// Only sockets have this call.
    pub is_socket: bool,
    shape: BufferShape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BufferShape {
    /// The second argument is a string.
    Text,
    /// The second argument has strings after `iov_base=`.
    Vector,
    /// The second argument has messages, each with a vector and its length after `msg_len=`.
    Messages,
    /// The bytes are not printed.
    Hidden,
}

impl Transfer {
    /// Returns how a call of this name transfers bytes of a stream.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        let (writes, is_socket, shape) = match name {
            b"read" => (false, false, BufferShape::Text),
            b"write" => (true, false, BufferShape::Text),
            b"recv" | b"recvfrom" => (false, true, BufferShape::Text),
            b"send" | b"sendto" => (true, true, BufferShape::Text),
            b"readv" | b"preadv" | b"preadv2" => (false, false, BufferShape::Vector),
            b"writev" | b"pwritev" | b"pwritev2" => (true, false, BufferShape::Vector),
            b"recvmmsg" => (false, true, BufferShape::Messages),
            b"sendmmsg" => (true, true, BufferShape::Messages),
            b"recvmsg" => (false, true, BufferShape::Vector),
            b"sendmsg" => (true, true, BufferShape::Vector),
            b"sendfile" | b"sendfile64" => (true, false, BufferShape::Hidden),
            _ => return None,
        };
        Some(Self {
            writes,
            is_socket,
            shape,
        })
    }

    /// Returns true if the bytes stay in the socket.
    pub(super) fn is_peek(self, call: &SystemCall<'_>) -> bool {
        let has = |arg: &&[u8]| memchr::memmem::find(arg, b"MSG_PEEK").is_some();
        self.is_socket && call.args.iter().skip(2).any(has)
    }

    /// Returns true if the call names the address of the other side, as calls for datagrams do.
    pub(super) fn is_datagram(call: &SystemCall<'_>) -> bool {
        call.arg(4).starts_with(b"{") || memchr::memmem::find(call.arg(1), b"msg_name={").is_some()
    }
}

/// The bytes of a call, as far as they were printed.
#[derive(Default)]
pub(super) struct Transferred {
    bytes: Vec<u8>,
    /// The parts: the end of their bytes, and the number of bytes that are missing after them.
    parts: Vec<(usize, u64)>,
}

impl Transferred {
    /// Reads the bytes of a call with this return value.
    pub(super) fn read(&mut self, call: &SystemCall<'_>, transfer: Transfer, value: u64) {
        self.bytes.clear();
        self.parts.clear();
        let arg = call.arg(1);
        match transfer.shape {
            BufferShape::Hidden => self.missing(value),
            BufferShape::Text => {
                let mut left = value;
                self.string(arg, &mut left, |_| None);
                self.missing(left);
            }
            BufferShape::Vector => self.vector(arg, value),
            BufferShape::Messages => {
                let mut rest = arg;
                // The return value is the number of messages.
                for _ in 0..value {
                    let Some((message, len, after)) = split_message(rest) else {
                        break;
                    };
                    self.vector(message, len);
                    rest = after;
                }
            }
        }
    }

    /// Reads the strings of a vector of which `left` bytes were transferred.
    fn vector(&mut self, text: &[u8], mut left: u64) {
        let mut rest = text;
        while let Some(at) = memchr::memmem::find(rest, b"iov_base=") {
            rest = rest.get(at + 9..).unwrap_or_default();
            // An address, where the call failed to read the memory.
            rest = self.string(rest, &mut left, iov_len).unwrap_or(rest);
        }
        self.missing(left);
    }

    /// Adds bytes that were not printed.
    fn missing(&mut self, len: u64) {
        match self.parts.last_mut() {
            Some((_, missing)) => *missing += len,
            None => self.parts.push((0, len)),
        }
    }

    /// Returns true if no byte was transferred.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.parts.iter().all(|(_, missing)| *missing == 0)
    }

    /// Adds a string, at most `left` bytes. A part that was cut misses bytes up to `size`, or all.
    fn string<'a>(
        &mut self,
        text: &'a [u8],
        left: &mut u64,
        size: impl Fn(&[u8]) -> Option<u64>,
    ) -> Option<&'a [u8]> {
        let start = self.bytes.len();
        let (is_cut, rest) = line::string(text, &mut self.bytes)?;
        let most = usize::try_from(*left).unwrap_or(usize::MAX);
        self.bytes.truncate(start.saturating_add(most));
        let shown = (self.bytes.len() - start) as u64;
        *left -= shown;
        let missing = if is_cut {
            size(rest).map_or(*left, |size| size.saturating_sub(shown).min(*left))
        } else {
            0
        };
        *left -= missing;
        self.parts.push((self.bytes.len(), missing));
        Some(rest)
    }

    /// Returns the parts: bytes, and the number of bytes that are missing after them.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let starts = std::iter::once(0).chain(self.parts.iter().map(|(end, _)| *end));
        let parts = starts.zip(&self.parts);
        parts.map(|(start, (end, missing))| {
            (self.bytes.get(start..*end).unwrap_or_default(), *missing)
        })
    }
}

/// Splits the first message of `sendmmsg` off: its text, its length, and what follows.
fn split_message(text: &[u8]) -> Option<(&[u8], u64, &[u8])> {
    const LENGTH: &[u8] = b", msg_len=";
    let mut at = 0;
    loop {
        // A string may contain the same text.
        match text.get(at)? {
            b'"' => at = line::string_end(text, at)? + 1,
            b',' if text.get(at..)?.starts_with(LENGTH) => break,
            _ => at += 1,
        }
    }
    let (message, rest) = text.split_at_checked(at)?;
    let (digits, after) = line::digits(rest.get(LENGTH.len()..)?);
    Some((message, line::number(digits)?, after))
}

/// Reads the size of a buffer after its string.
fn iov_len(rest: &[u8]) -> Option<u64> {
    let size = rest.strip_prefix(b", iov_len=")?;
    line::number(line::digits(size).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_bytes_follow_the_printed_ones() {
        let table: &[(&str, &[(&str, u64)])] = &[
            (r#"read(0, "abc", 4096) = 3"#, &[("abc", 0)]),
            (r#"read(0, "abc"..., 4096) = 38"#, &[("abc", 35)]),
            // A write that was not complete.
            (r#"write(1, "abcdef", 6) = 4"#, &[("abcd", 0)]),
            ("write(1, 0x7ffc, 6) = 4", &[("", 4)]),
            (
                r#"writev(1, [{iov_base="ab"..., iov_len=5}, {iov_base="c", iov_len=1}], 2) = 6"#,
                &[("ab", 3), ("c", 0)],
            ),
            (
                r#"readv(1, [{iov_base="ab", iov_len=2}, {iov_base="c"..., iov_len=4000}], 2) = 40"#,
                &[("ab", 0), ("c", 37)],
            ),
            (
                r#"recvmsg(3, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="abc", iov_len=9}], msg_iovlen=1, msg_control=[{cmsg_len=20, cmsg_data="x"}]}, 0) = 3"#,
                &[("abc", 0)],
            ),
            ("sendfile(3, 4, NULL, 100) = 99", &[("", 99)]),
            (
                r#"sendmmsg(3, [{msg_hdr={msg_name=NULL, msg_iov=[{iov_base="ab, msg_len=9", iov_len=13}, {iov_base="c"..., iov_len=4}], msg_iovlen=2}, msg_len=17}, {msg_hdr={msg_iov=[{iov_base="d", iov_len=1}]}, msg_len=1}, {msg_hdr={msg_iov=[{iov_base="not sent", iov_len=8}]}, msg_len=8}], 3, 0) = 2"#,
                &[("ab, msg_len=9", 0), ("c", 3), ("d", 0)],
            ),
        ];
        for (text, wanted) in table {
            let call = SystemCall::read(text.as_bytes()).unwrap();
            let transfer = Transfer::of(call.name).unwrap();
            let mut got = Transferred::default();
            got.read(&call, transfer, call.value.unwrap());
            let got: Vec<(&str, u64)> = got
                .parts()
                .map(|(bytes, missing)| (std::str::from_utf8(bytes).unwrap(), missing))
                .collect();
            assert_eq!(got, *wanted, "{text}");
        }
    }
}

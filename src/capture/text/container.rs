//! Lines that containers wrote, in parts.
//!
//! ```text
//!   {"log":"{\"id\":0}\n","stream":"stdout","time":"2026-..."}       docker
//!   2026-11-22T09:52:21Z stdout P {"id":            Kubernetes: P: the next line of the stream continues it
//! ```

use super::times::find_time;
use crate::capture::time::{self, Time};

/// A part of a line that a container wrote.
pub(super) struct Part<'a> {
    pub is_stderr: bool,
    pub ends: bool,
    pub text: std::borrow::Cow<'a, [u8]>,
    /// When the container wrote it.
    pub time: Option<Time>,
}

impl<'a> Part<'a> {
    /// `TIME stdout P TEXT`, or `{"log":"TEXT","stream":"stdout","time":"TIME"}`.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        if line.starts_with(b"{") {
            #[derive(serde::Deserialize)]
            struct DockerEntry {
                log: String,
                stream: String,
                time: Option<String>,
            }
            memchr::memmem::find(line, b"\"log\"")?;
            let entry: DockerEntry = serde_json::from_slice(line).ok()?;
            return Some(Self {
                is_stderr: entry.stream == "stderr",
                ends: entry.log.ends_with('\n'),
                time: entry.time.as_deref().and_then(time::parse),
                text: entry.log.into_bytes().into(),
            });
        }
        let mut words = line.splitn(4, |&c| c == b' ');
        let (time, stream, tag) = (words.next()?, words.next()?, words.next()?);
        let is_entry = time.first()?.is_ascii_digit()
            && (stream == b"stdout" || stream == b"stderr")
            && (tag == b"P" || tag == b"F");
        let text = words.next().filter(|_| is_entry)?;
        Some(Self {
            is_stderr: stream == b"stderr",
            ends: tag == b"F",
            text: text.into(),
            time: find_time(time),
        })
    }
}

/// Returns the service that wrote a line, as docker compose prints it: `mcp-1  | {`.
pub(super) fn service(line: &[u8]) -> Option<&[u8]> {
    let name = line
        .get(..memchr::memmem::find(line, b" | ")?)?
        .trim_ascii();
    let is_name = |c: &u8| c.is_ascii_alphanumeric() || b"._-".contains(c);
    // Others are the numbers of lines.
    let is_named = name.iter().any(u8::is_ascii_alphabetic);
    (is_named && name.iter().all(is_name)).then_some(name)
}

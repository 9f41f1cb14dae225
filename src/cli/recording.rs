//! Recordings as files: read whole; written never over another one, readable by nobody else.

use crate::transport::Sink;
use anyhow::{Context as _, Result};
use flate2::read::MultiGzDecoder;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Names that are tried.
const TRIES: u32 = 100_000;

/// A whole recording, inflated where it is gzipped, without a byte order mark; `-` is stdin.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let name = path.display();
    let cannot = || format!("cannot read {name}");
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.context("cannot read stdin")?;
    } else {
        bytes = std::fs::read(path).with_context(cannot)?;
    }
    if bytes.starts_with(b"\x1f\x8b") {
        let packed = std::mem::take(&mut bytes);
        let mut inflater = MultiGzDecoder::new(packed.as_slice());
        inflater.read_to_end(&mut bytes).with_context(cannot)?;
    }
    // Some editors put a byte order mark before the text.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    Ok(bytes)
}

/// Makes the file: `{pid}` and `{n}` in its name are filled in; where there is one already and no `{n}`, the next free
/// suffix makes another. Devices and pipes are written to as they are; `-` is stdout, where nothing else is shown there.
pub fn create(asked: &Path, stdout_is_free: bool) -> Result<Sink> {
    if asked == Path::new("-") {
        anyhow::ensure!(
            stdout_is_free,
            "cannot write the recording to stdout, which shows other things: name a file"
        );
        let file = super::output::stdout()?;
        let name = "stdout".into();
        return Ok(Sink { file, name });
    }
    let context = || format!("cannot write {}", asked.display());
    let text = asked.to_string_lossy();
    let pattern = if text.contains("{pid}") {
        PathBuf::from(text.replace("{pid}", &std::process::id().to_string()))
    } else {
        asked.to_owned()
    };
    let numbered = text.contains("{n}");
    for n in 1..TRIES {
        let path = match (numbered, n) {
            (true, n) => PathBuf::from(pattern.to_string_lossy().replace("{n}", &n.to_string())),
            (false, 1) => pattern.clone(),
            (false, n) => {
                let mut name = pattern.clone().into_os_string();
                name.push(format!(".{}", n - 1));
                PathBuf::from(name)
            }
        };
        match open(&path) {
            Ok(file) => {
                let name = path.display().to_string();
                return Ok(Sink { file, name });
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e).with_context(context),
        }
    }
    anyhow::bail!("{}: every name that was tried is taken", asked.display())
}

fn open(path: &Path) -> std::io::Result<File> {
    // What is neither a file nor free is there to be written to; a folder is refused there.
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return super::output::stream(path);
    }
    let mut options = OpenOptions::new();
    options.append(true).mode(0o600).create_new(true);
    options.open(path)
}

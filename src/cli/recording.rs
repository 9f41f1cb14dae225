//! Reads recordings as a whole, and creates new ones: never over another file, readable only by the user.

use super::output::format_of_name;
use super::state;
use super::values::read_input;
use crate::capture::recording::Record;
use crate::capture::{CaptureInput, Form, Item, ItemRecorder, ProblemSeverity};
use crate::select::Key;
use crate::transport::{Clock, FileLimit, RecordingFile, Rotation};
use anyhow::{Context as _, Result};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// The maximum number of names that are tried.
const MAX_NAMES: u32 = 100_000;

/// Extensions of captures that are not written.
const OTHER_FORMS: [&str; 10] = [
    "bz2", "cap", "csv", "gz", "har", "html", "pcap", "pcapng", "zip", "zst",
];

/// Reads a whole recording, inflated if it is gzipped, without a byte order mark; `-` is stdin. A capture of another program
/// becomes a recording.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = read_input(path)?;
    if bytes.starts_with(b"\x1f\x8b") {
        let packed = std::mem::take(&mut bytes);
        let mut inflater = MultiGzDecoder::new(packed.as_slice());
        inflater
            .read_to_end(&mut bytes)
            .with_context(|| format!("cannot read {}", path.display()))?;
    }
    // Some editors put a byte order mark before the text.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    let converted = convert(&bytes).with_context(|| path.display().to_string())?;
    let bytes = converted.unwrap_or(bytes);
    if !has_header(&bytes) {
        let (name, file) = match path.to_string_lossy() {
            text if text == "-" => ("stdin".into(), "FILE".into()),
            text => (text.clone(), shell_words::quote(&text).into_owned()),
        };
        anyhow::bail!(
            "{name}: not a recording: the first line must be {{\"wiretool\":1,…}}; \
             wiretool decode -w NEW.jsonl {file} makes one"
        );
    }
    Ok(bytes)
}

/// Returns `true` if the first non-blank line is the header of a recording.
pub fn has_header(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty());
    first.is_some_and(|line| matches!(Record::parse(line), Ok(Record::Header(_))))
}

/// Converts a capture of another program to a recording; returns `None` for other input.
fn convert(bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    /// The number of bytes that are read at once.
    const PART_SIZE: usize = 1 << 20;
    let mut input = CaptureInput::new(Form::Auto);
    let (mut recorder, mut out) = (ItemRecorder::default(), Vec::new());
    let (mut is_captured, mut unreadable) = (false, None);
    let mut take = |item: Item<'_>| match item {
        Item::Problem(problem) if problem.severity == ProblemSeverity::Unreadable => {
            unreadable = Some(problem.to_string());
        }
        item => {
            is_captured |= matches!(item, Item::Header(header) if header.captured().is_some());
            recorder.item(&item, &mut out);
        }
    };
    for part in bytes.chunks(PART_SIZE) {
        input.push(part, &mut take);
        if !matches!(input.form(), Form::Auto | Form::Pcap | Form::Unreadable) {
            return Ok(None);
        }
    }
    input.finish(&mut take);
    if let Some(text) = unreadable {
        anyhow::bail!(text);
    }
    recorder.finish(&mut out);
    Ok(is_captured.then_some(out))
}

/// Returns a name with the process id, the host and a time (of UTC, in milliseconds) in their places.
fn filled(name: &str, time: i64) -> Cow<'_, str> {
    let mut name = Cow::Borrowed(name);
    let mut replace = |key: &str, value: &dyn Fn() -> String| {
        if name.contains(key) {
            name = Cow::Owned(name.replace(key, &value()));
        }
    };
    replace("{pid}", &|| std::process::id().to_string());
    replace("{host}", &|| crate::system::host_name().replace('/', "_"));
    replace("{time}", &|| {
        let time = jiff::Timestamp::from_nanosecond(time.into()).unwrap_or_default();
        time.strftime("%Y%m%dT%H%M%S.%3fZ").to_string()
    });
    name
}

/// Reads the limit of a file: `100M`, `2G`, `1h`.
pub fn parse_limit(text: &str) -> Result<FileLimit, String> {
    let wanted = || format!("wanted a size or a time, such as 100M or 1h, got {text:?}");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let factor = match unit {
        "K" => 1u64 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => {
            let time = super::values::parse_duration(text).map_err(|_| wanted())?;
            let is_long = time >= std::time::Duration::from_secs(1);
            return is_long
                .then_some(FileLimit::Time(time))
                .ok_or_else(|| "wanted at least 1s".to_owned());
        }
    };
    let number: u64 = digits.parse().map_err(|_| wanted())?;
    let bytes = number.checked_mul(factor).filter(|bytes| *bytes > 0);
    bytes.map(FileLimit::Bytes).ok_or_else(wanted)
}

/// Returns the limit of files in the state folder, which has a limit for all of them.
pub fn limit_in_state(named: &Path) -> Option<FileLimit> {
    let is_named = named.to_string_lossy().starts_with('@');
    is_named.then_some(FileLimit::Bytes(state::PART_SIZE))
}

/// Creates the first file of a recording that goes on in others, whose names sort in order.
pub fn create_parts(named: &Path, limit: FileLimit) -> Result<(RecordingFile, Rotation)> {
    anyhow::ensure!(named != Path::new("-"), "--rotate needs the name of a file");
    let name = named.to_string_lossy();
    let in_state = name.strip_prefix('@').map(state::new_recording);
    let is_in_state = in_state.is_some();
    let in_state = in_state.transpose()?;
    let named = in_state.as_deref().unwrap_or(named);
    let is_other = named.metadata().is_ok_and(|meta| !meta.is_file());
    anyhow::ensure!(
        !is_other,
        "--rotate needs a plain file: {} is none",
        named.display()
    );
    let text = named.to_string_lossy();
    let named = if ["{n}", "{time}"].iter().any(|key| text.contains(key)) {
        named.to_owned()
    } else {
        let stem = named.file_stem().unwrap_or_default().to_string_lossy();
        let extension = named.extension().map_or(String::new(), |extension| {
            format!(".{}", extension.to_string_lossy())
        });
        named.with_file_name(format!("{stem}-{{n}}{extension}"))
    };
    let mut number = 1;
    // The clock of the system can be set back, after which names would not sort in order.
    let clock = Clock::new();
    let mut next = move || -> Result<RecordingFile> {
        if is_in_state {
            state::make_room();
        }
        let name = named
            .to_string_lossy()
            .replace("{n}", &format!("{number:06}"));
        // The next file of the same millisecond would have a suffix, after which names do not sort in order.
        while name.contains("{time}") && Path::new(filled(&name, clock.now()).as_ref()).exists() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let file = create_at(Path::new(&name), false, clock.now())?;
        number += 1;
        Ok(file)
    };
    let first = next()?;
    let rotation = Rotation {
        limit,
        next: Box::new(move || next().map_err(|error| format!("{error:#}"))),
    };
    Ok((first, rotation))
}

/// Creates the file. `@NAME` is a new file in the state folder. In other names `{pid}`, `{host}`, `{time}` and `{n}` are replaced; if the
/// file exists and the name has no `{n}`, the next free suffix is used. Devices and pipes are written directly; `-` is stdout, if nothing else is written there.
pub fn create(named: &Path, stdout_is_free: bool) -> Result<RecordingFile> {
    create_at(named, stdout_is_free, Clock::new().now())
}

/// Creates the file; `{time}` is replaced by this time, in nanoseconds since 1970.
fn create_at(named: &Path, stdout_is_free: bool, time: i64) -> Result<RecordingFile> {
    if named == Path::new("-") {
        anyhow::ensure!(
            stdout_is_free,
            "cannot write the recording to stdout, which shows messages: name a file"
        );
        let file = super::output::stdout()?;
        let name = "stdout".into();
        return Ok(RecordingFile { file, name });
    }
    if let Some(form) = other_form(named) {
        let name = named.with_extension("");
        let is_recording = name.extension().is_some_and(|end| end == "jsonl");
        let name = name.display().to_string() + if is_recording { "" } else { ".jsonl" };
        anyhow::bail!(
            "{}: no {form} is written, only recordings in JSON Lines: -w {}",
            named.display(),
            shell_words::quote(&name)
        );
    }
    let context = || format!("cannot write {}", named.display());
    let text = named.to_string_lossy();
    if is_condition(&text) {
        let quoted = shell_words::quote(&text);
        anyhow::bail!(
            "-w takes the name of a new recording; a condition is --where {quoted}, and a recording of this name -w ./{quoted}"
        );
    }
    if let Some((name, format)) = format_of_name(named) {
        anyhow::bail!(
            "-w names a recording, and the format of what is shown is -f {format}; a recording of this name is -w ./{name}"
        );
    }
    if let Some(name) = text.strip_prefix('@') {
        return create_at(&state::new_recording(name)?, stdout_is_free, time);
    }
    let pattern = match filled(&text, time) {
        Cow::Borrowed(_) => named.to_owned(),
        Cow::Owned(name) => PathBuf::from(name),
    };
    let numbered = text.contains("{n}");
    for n in 1..MAX_NAMES {
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
                return Ok(RecordingFile { file, name });
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e).with_context(context),
        }
    }
    anyhow::bail!("{}: all possible names are in use", named.display())
}

/// Returns true for a condition in place of the name of a file: other programs take one after `-w`.
fn is_condition(name: &str) -> bool {
    let key = name.split(['<', '>', '=', '!', '~']).next();
    key.is_some_and(|key| key.len() < name.len() && Key::from_name(key.trim()).is_some())
}

/// Returns the form that the name of a file promises, if it is not that of a recording.
fn other_form(named: &Path) -> Option<&'static str> {
    let extension = named.extension()?.to_str()?;
    let is = |form: &&str| extension.eq_ignore_ascii_case(form);
    OTHER_FORMS.into_iter().find(is)
}

/// Creates the file as [`create`] does, for a command that writes to stdout, and prints its name.
pub fn create_and_note(named: &Path, quiet: bool, print: &dyn Fn(&str)) -> Result<RecordingFile> {
    let file = create(named, false)?;
    if let Some(note) = note(&file, named, quiet) {
        print(&note);
    }
    Ok(file)
}

/// Returns the note that names a recording; `None` if it is quiet, and the name is the one that the user gave.
pub fn note(file: &RecordingFile, named: &Path, quiet: bool) -> Option<String> {
    let is_as_named = Path::new(&file.name) == named || named == Path::new("-");
    (!quiet || !is_as_named).then(|| format!("recording to {}", file.name))
}

fn open(path: &Path) -> std::io::Result<File> {
    // An existing device or pipe is written to; for a folder the error is returned.
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return super::output::open_stream(path);
    }
    let mut options = OpenOptions::new();
    crate::system::make_private(options.append(true).create_new(true)).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_no_name_of_a_recording() {
        for (name, wanted) in [
            ("session.jsonl", false),
            ("run=3.jsonl", false),
            ("./id=3", false),
            ("/tmp/id=3", false),
            ("id=3", true),
            ("method=tools/call", true),
            ("latency > 500", true),
        ] {
            assert_eq!(is_condition(name), wanted, "{name}");
        }
    }

    #[test]
    fn a_name_of_another_form_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.har", "b.PCAP", "a b.pcapng"] {
            let path = folder.path().join(name);
            let error = create(&path, false).err().unwrap().to_string();
            assert!(error.contains("only recordings in JSON Lines"), "{error}");
            assert!(error.contains(".jsonl"), "{error}");
            assert!(!path.exists());
        }
        for name in ["a.jsonl", "har", "a.har.wt"] {
            let path = folder.path().join(name);
            let file = create(&path, false).unwrap();
            let wanted = format!("recording to {}", path.display());
            assert_eq!(note(&file, &path, false), Some(wanted));
            assert_eq!(note(&file, &path, true), None);
        }
    }
}

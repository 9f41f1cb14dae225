//! Protocols that files describe: those that a flag names, those of the project, and those of the user.
//!
//! ```text
//!   -p dap.toml  >  protocols = ["dap.toml"] in wiretool.toml  >  ~/.config/wiretool/protocols/*.toml  >  this program's
//! ```

use super::config;
use super::suggestions::is_command;
use super::values::{Names, read_text, words};
use crate::capture::{Header, Record, Time};
use crate::conversation::rules_of;
use crate::own_rules;
use crate::protocol::described::{Described, embedded};
use crate::protocol::{Protocol, registry};
use crate::settings::{FileScope, SettingsFile};
use crate::toml_text::TomlText;
use anyhow::{Result, bail};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The maximum size of a description, in bytes.
const MAX_FILE: u64 = 256 << 10;
/// The maximum size of a schema file, in bytes.
const MAX_SCHEMA: u64 = 3 << 20;
/// The maximum number of descriptions in the folder of the user.
const MAX_FILES: usize = 64;

/// The files that were read, with the names of their protocols.
static READ: Mutex<Vec<(PathBuf, &'static str)>> = Mutex::new(Vec::new());

/// Returns true for the path of a description in place of the name of a protocol. `tools/list` is a method, unless there
/// is such a file.
pub fn is_path(word: &OsStr) -> bool {
    let path = Path::new(word);
    let is_toml = path.extension().is_some_and(|end| end == "toml");
    is_toml || path.components().count() > 1 && path.is_file() && !is_command(word)
}

/// Reads a description.
pub fn read(path: &Path) -> Result<Described> {
    let name = path.display().to_string();
    anyhow::ensure!(
        !is_json(path),
        "{name} is JSON: wanted a protocol, or a description of one in TOML; a stub answers from a recording with --from-recording {name}"
    );
    let text = read_text(path, MAX_FILE)?;
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    let files = |name: &str| beside(folder, name);
    Ok(Described::from_toml_with(&name, &text, &files)?)
}

/// Returns true for a file that begins as a recording does.
fn is_json(path: &Path) -> bool {
    let mut first = [0; 2];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *b"{\""
}

/// Returns the text of a file in the folder of a description, also below it.
fn beside(folder: &Path, name: &str) -> Result<String, String> {
    let whole = |path: &Path| {
        let whole = path.canonicalize();
        whole.map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    let path = whole(&folder.join(name))?;
    if !path.starts_with(whole(folder)?) || !path.is_file() {
        return Err(format!(
            "wanted a file in the folder of the description, got {name}"
        ));
    }
    read_text(&path, MAX_SCHEMA).map_err(|error| format!("{error:#}"))
}

/// Adds the protocol of a file to those of the process, which uses it until it ends. Returns its name.
pub fn add(path: &Path) -> Result<&'static str> {
    let known = || READ.lock().map(|read| read.clone()).unwrap_or_default();
    if let Some((_, name)) = known().iter().find(|(read, _)| read == path) {
        return Ok(name);
    }
    let described = read(path)?;
    let name = described.name();
    if let Some((other, name)) = known().iter().find(|(_, known)| *known == name) {
        let one = registry::find(name).and_then(Protocol::description_hash);
        if one == described.description_hash() {
            return Ok(name);
        }
        bail!(
            "{}: {} describes {name}, too",
            path.display(),
            other.display()
        );
    }
    // A description of this program can be replaced by a better one.
    let is_embedded = embedded().iter().any(|one| one.name() == name);
    if !is_embedded && registry::find(name).is_some() {
        bail!("{}", taken(path, name)?);
    }
    let described: &'static Described = Box::leak(Box::new(described));
    registry::extend(&[described], &[]);
    if let Ok(mut read) = READ.lock() {
        read.push((path.to_owned(), described.name()));
    }
    Ok(described.name())
}

/// Returns the header of a recording of a protocol. It names the description, its hash and its file, without the folder.
pub fn header(protocol: &str, started: Time) -> Header {
    let mut header = Header {
        protocol: Some(protocol.to_owned()),
        ..Header::new(started)
    };
    if let Some(hash) = registry::find(protocol).and_then(Protocol::description_hash) {
        let mut description = json!({"name": protocol, "sha256": hash});
        let known = READ.lock().map(|read| read.clone()).unwrap_or_default();
        let file = known.iter().find(|(_, name)| *name == protocol);
        if let Some(name) = file.and_then(|(path, _)| path.file_name()) {
            description["file"] = name.to_string_lossy().into();
        }
        header
            .more
            .insert(Header::DESCRIPTION.to_owned(), description);
    }
    header
}

/// Adds the descriptions of recordings among the words of a command line, if no protocol here has their name.
/// Each is a file in the folder of the recording or in the working folder, with the name that the recording gives.
pub fn add_recorded(args: &[OsString]) -> Result<()> {
    let own = args.iter().skip(1).take_while(|word| *word != "--");
    let files = own.filter_map(|word| super::state::find(PathBuf::from(word)).ok());
    for recording in files.filter(|path| path.is_file()) {
        let Some(header) = header_of(&recording) else {
            continue;
        };
        let unknown = header
            .protocol
            .as_deref()
            .filter(|name| registry::find(name).is_none());
        let Some(name) = unknown else { continue };
        let recorded = header.more.get(Header::DESCRIPTION);
        let recorded = recorded.and_then(|description| description.get("file")?.as_str());
        let names = [recorded.map(str::to_owned), Some(format!("{name}.toml"))];
        let folders = [recording.parent(), Some(Path::new(""))];
        let paths = names.iter().flatten().flat_map(|file| {
            let is_plain =
                Path::new(file).file_name() == Some(OsStr::new(file)) && is_path(file.as_ref());
            let folders = folders.iter().flatten().filter(move |_| is_plain);
            folders.map(move |folder| folder.join(file))
        });
        for path in paths.filter(|path| path.is_file()) {
            // Another protocol may have a file of this name.
            if read(&path)?.name() == name {
                add(&path)?;
                break;
            }
        }
    }
    Ok(())
}

/// Reads the first line of a recording; `None` for other files.
fn header_of(path: &Path) -> Option<Header> {
    /// The maximum length of the line, which can have the words of a command.
    const MAX_LINE: u64 = 64 << 10;
    let mut start = [0; 11];
    let mut file = File::open(path).ok()?;
    file.read_exact(&mut start).ok()?;
    if &start != b"{\"wiretool\"" {
        return None;
    }
    let mut line = start.to_vec();
    let rest = file.take(MAX_LINE);
    BufReader::new(rest).read_until(b'\n', &mut line).ok()?;
    match Record::parse(line.trim_ascii()) {
        Ok(Record::Header(header)) => Some(header),
        _ => None,
    }
}

/// Returns the error of a description whose name another protocol has.
pub fn taken(path: &Path, name: &str) -> Result<String> {
    let (file, text) = (path.display().to_string(), read_text(path, MAX_FILE)?);
    let toml = TomlText {
        name: &file,
        text: &text,
    };
    let table = toml.parse()?;
    let place = table.get("name").map_or(0..0, toml::Spanned::span);
    let error = format!("name: there is a protocol with the name {name} already");
    Ok(toml.error(&place, error).to_string())
}

/// Adds the protocols of the project and of the user.
pub fn add_all(args: &[OsString]) -> Result<()> {
    let project = project_file(args);
    let named = match &project {
        Some((file, scope)) => SettingsFile::protocols(file, *scope)?,
        None => Vec::new(),
    };
    if let (Some(path), Some((file, _))) = (named.iter().find(|path| !path.is_file()), &project) {
        let (file, path) = (file.display(), path.display());
        bail!("{file}: protocols: there is no file {path}");
    }
    for path in named.into_iter().chain(of_user()) {
        add(&path)?;
    }
    if let Some((file, _)) = &project {
        add_rules(file)?;
    }
    Ok(())
}

/// Adds the rules that the project's file states.
fn add_rules(file: &Path) -> Result<()> {
    let names: Vec<_> = registry::names().collect();
    let rules = SettingsFile::own_rules(file, &names)?;
    for own in &rules {
        let protocols = registry::all().iter();
        let is_for = |name| own.protocol.as_deref().is_none_or(|one| one == name);
        // A description that is not needed is not read.
        let mut built_in = protocols.filter(|one| own.protocol.is_some() && is_for(one.name()));
        let known = built_in.find(|one| rules_of(**one).any(|rule| rule.name == own.rule.name));
        if let Some(known) = known {
            bail!(
                "{}: {} has a rule {} already",
                own.rule.clause,
                known.name(),
                own.rule.name
            );
        }
    }
    own_rules::set_project(rules);
    Ok(())
}

/// Returns the project's file.
fn project_file(args: &[OsString]) -> Option<(PathBuf, FileScope)> {
    // Flags of a child process are not ours.
    let own = args.iter().take_while(|word| *word != "--");
    let mut words = own.filter_map(|word| word.to_str());
    let named = words.find_map(|word| match word.strip_prefix("--config")? {
        "" => Some(None),
        rest => rest.strip_prefix('=').map(Some),
    });
    let named = named.and_then(|given| given.or_else(|| words.next()));
    let (file, scope) = match named.map(PathBuf::from).or_else(config::named_by_variable) {
        Some(path) => (Some(path), FileScope::Named),
        None => (config::project_file_here(), FileScope::Project),
    };
    let file = file.filter(|file| file.is_file())?;
    Some((file, scope))
}

/// Returns the descriptions in the folder of the user, in the order of their names.
fn of_user() -> Vec<PathBuf> {
    let folder = config::user_folder().map(|folder| folder.join("protocols"));
    let entries = folder.and_then(|folder| folder.read_dir().ok());
    let paths = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let is_description = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    let mut paths: Vec<_> = paths.filter(is_description).take(MAX_FILES).collect();
    paths.sort();
    paths
}

/// Returns a parser for the name of a protocol, or the path of a description.
pub fn protocol() -> ProtocolName {
    ProtocolName(words("protocol"))
}

/// A parser for the name of a protocol, or the path of a description, whose protocol is added to those of the process.
#[derive(Clone)]
pub struct ProtocolName(Names);

impl TypedValueParser for ProtocolName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        if !is_path(value) {
            return self.0.parse_ref(command, arg, value);
        }
        let name = add(Path::new(value));
        name.map(str::to_owned).map_err(|error| {
            let kind = ErrorKind::ValueValidation;
            clap::Error::raw(kind, format!("{error:#}\n")).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

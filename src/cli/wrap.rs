//! `wiretool wrap` and `wiretool unwrap`: put a recorder between a client and the servers that its configuration starts.
//!
//! ```text
//!   configuration --> entry: command and arguments --> edits --> checked: they can be undone --> file
//! ```

mod clients;
mod entry;
mod file;
mod names;
mod text;

use super::options::{self, SharedArgs};
use super::output::CommandOutput;
use super::{Exit, print_lines, print_message, state};
use crate::framing::fields::{masked, text_secrets, without};
use crate::path::{Path as KeyPath, PathStep};
use crate::render::style::escape;
use anyhow::{Context as _, Result, bail};
use clients::{ANY_TABLES, CONFIGS, ServerTable};
use entry::{Launch, Recorder, Server};
use file::ConfigFile;
use names::{name_of, recording_name};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use text::Placed;

const EXAMPLES: &str = "\
Examples:
  wiretool wrap                            list the servers of all clients
  wiretool wrap github                     record this server from its next start on
  wiretool wrap --dry-run github           show what would change
  wiretool wrap --in my.json --entry servers.github
  wiretool wrap --launcher ./rec -- npx -y server   for clients that take only one word
  wiretool decode @github                  what was recorded last
  wiretool unwrap github                   as it was";

const UNWRAP_EXAMPLES: &str = "\
Examples:
  wiretool unwrap github        start this server without a recorder
  wiretool unwrap --all         all servers of all clients
  wiretool unwrap --dry-run github";

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  wrap: there are no servers, or one has a URL and is not changed; unwrap: none is recorded
  2  usage, or a file that cannot be read, written or understood: it is not changed";

/// The maximum length of a command in the list, in characters.
const MAX_COMMAND: usize = 70;

/// Says that no server was found, and what to do then.
fn no_servers(files: &Selected) -> String {
    match files.as_slice() {
        [(file, _)] if file.client.is_empty() => {
            let name = &file.name;
            format!(
                "{name} has no table of servers that is known; --entry names the path of an entry"
            )
        }
        _ => "no configuration of a client has servers; --in names a file".to_owned(),
    }
}

/// Record the servers that a client starts
///
/// Changes the configuration of the client. Without NAME, lists the servers and agents in the configurations of clients (Claude, Cursor, VS Code, Windsurf, Zed, Gemini CLI,
/// Codex, Helix), and changes nothing. Recordings are in the state folder: `@NAME` is the newest of a server, `@last` that of all.
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Servers to record
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    place: PlaceArgs,
    /// Write a script that records a command, for a client whose setting takes one word
    #[arg(long, value_name = "FILE", requires = "command", conflicts_with_all = ["names", "client", "file", "entry"])]
    launcher: Option<PathBuf>,
    /// Command of the script
    #[arg(last = true, value_name = "COMMAND", requires = "launcher")]
    command: Vec<OsString>,
}

/// Undo `wrap`: start servers without a recorder
///
/// Everything else in the configuration stays, also what was edited since.
#[derive(clap::Args)]
#[command(before_help = UNWRAP_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct UnwrapArgs {
    /// Servers to restore
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "entry"])]
    names: Vec<String>,
    /// All servers that are recorded
    #[arg(long, conflicts_with_all = ["names", "entry"])]
    all: bool,
    #[command(flatten)]
    place: PlaceArgs,
}

/// The configurations to look at.
#[derive(clap::Args)]
struct PlaceArgs {
    /// Only configurations of this client: claude-code, cursor, vscode, ...
    #[arg(long, value_name = "CLIENT", value_parser = client_names())]
    client: Option<String>,
    /// Only this configuration, in JSON or TOML
    #[arg(long = "in", value_name = "FILE", conflicts_with = "client")]
    file: Option<PathBuf>,
    /// The path of the server's entry in the file: `tools.servers["my server"]`
    #[arg(long, value_name = "PATH", requires = "file", conflicts_with = "names")]
    entry: Option<KeyPath>,
    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

fn client_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = CONFIGS.iter().map(|config| config.client).collect();
    names.dedup();
    names
}

/// The place of a server.
struct Entry {
    name: String,
    /// The keys to it.
    path: KeyPath,
    protocol: Option<&'static str>,
}

impl PlaceArgs {
    /// Reads the configurations that exist, and finds their entries.
    fn read(&self) -> Result<Vec<(ConfigFile, Vec<Entry>)>> {
        if let Some(path) = &self.file {
            let file = ConfigFile::read(path, "")?;
            let entries = match &self.entry {
                Some(entry) => vec![Entry {
                    name: name_of(entry)?,
                    path: entry.clone(),
                    protocol: None,
                }],
                None => entries(&file, ANY_TABLES),
            };
            return Ok(vec![(file, entries)]);
        }
        let is_wanted = |client: &str| self.client.as_deref().is_none_or(|only| only == client);
        // The configuration of another client does not stop this one.
        Ok(read_all(&is_wanted, &|error| {
            print_message(&format!("{error:#}"));
        }))
    }
}

/// Reads the configurations of clients that exist.
fn read_all(is_wanted: &dyn Fn(&str) -> bool, report: &dyn Fn(anyhow::Error)) -> Selected {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let variable = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| !path.as_os_str().is_empty())
    };
    let mut all: Selected = Vec::new();
    for config in CONFIGS.iter().filter(|config| is_wanted(config.client)) {
        let path = config.path(home.as_deref(), &variable);
        let Some(path) = path.filter(|path| path.is_file()) else {
            continue;
        };
        match ConfigFile::read(&path, config.client) {
            // In the home folder, two paths name one file.
            Ok(file) if all.iter().any(|(other, _)| other.is_same(&file)) => {}
            Ok(file) => {
                let entries = entries(&file, config.tables);
                all.push((file, entries));
            }
            Err(error) => report(error),
        }
    }
    all
}

/// Returns the servers in the tables at these keys. Other settings may stand beside them.
fn entries(file: &ConfigFile, tables: &[ServerTable]) -> Vec<Entry> {
    let mut found = Vec::new();
    for table in tables {
        let mut add = |name: &str, steps: &[PathStep]| {
            found.push(Entry {
                name: name.to_owned(),
                path: KeyPath::from(steps.to_vec()),
                protocol: table.protocol,
            });
        };
        collect(&file.root, table.keys, &mut Vec::new(), &mut add);
    }
    found.retain(|entry| !matches!(file.server(&entry.path), Ok(Server::Unknown)));
    found
}

/// Calls `add` with the name and the path of each member of the tables at these keys, and of each item of lists there.
fn collect(
    table: &Placed,
    keys: &[&str],
    steps: &mut Vec<PathStep>,
    add: &mut dyn FnMut(&str, &[PathStep]),
) {
    if keys.is_empty() {
        for (n, item) in table.items().unwrap_or_default().iter().enumerate() {
            let named = item.member("name").ok().flatten();
            let named = named.and_then(|member| member.value.text());
            let name = named.map_or_else(|| n.to_string(), str::to_owned);
            steps.push(PathStep::Element(n));
            add(&name, steps);
            // Continue has the command one level below.
            if matches!(item.member("transport"), Ok(Some(_))) {
                steps.push(PathStep::Member("transport".to_owned()));
                add(&name, steps);
                steps.pop();
            }
            steps.pop();
        }
    }
    for member in table.members() {
        if keys
            .first()
            .is_some_and(|key| *key != "*" && *key != member.key)
        {
            continue;
        }
        steps.push(PathStep::Member(member.key.clone()));
        match keys.split_first() {
            Some((_, below)) => collect(&member.value, below, steps, add),
            None => add(&member.key, steps),
        }
        steps.pop();
    }
}

/// Returns the path of this program, as configurations name it.
fn program() -> Result<String> {
    let path = std::env::current_exe().context("the path of this program is not known")?;
    let path = path
        .to_str()
        .context("the path of this program is not UTF-8")?;
    Ok(path.to_owned())
}

/// Runs `wrap`.
pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    let program = program()?;
    if let Some(path) = &args.launcher {
        return write_launcher(path, &args.command, &program, (args.place.dry_run, shared));
    }
    let files = args.place.read()?;
    if args.names.is_empty() && args.place.entry.is_none() {
        return list(&files, &program);
    }
    let found = select(files, &args.names, args.place.entry.is_some())?;
    let all = read_all(&|_| true, &|_| {});
    let mut exit = Exit::Clean;
    for (mut file, entries) in found {
        let mut changed = Vec::new();
        for entry in &entries {
            let name = format!("@{}", recording_name(&file, entry, &all));
            let recorder = Recorder {
                program: &program,
                name: &name,
                protocol: entry.protocol,
            };
            match file.server(&entry.path)? {
                Server::Address(address) => {
                    print_proxy(&file, entry, address, &name);
                    exit = Exit::Negative;
                }
                Server::Unknown => bail!(
                    "{}: {} has neither a command nor a URL",
                    file.name,
                    entry.path
                ),
                Server::Started(launch) if launch.recorded(&program).is_some() => {
                    shared.note(&format!("{} is recorded already", entry.name));
                }
                Server::Started(_) => {
                    file.wrap(&entry.path, recorder)?;
                    changed.push((entry, name));
                }
            }
        }
        if !changed.is_empty() {
            finish(&file, args.place.dry_run, shared)?;
            if !args.place.dry_run {
                note_next(&args.place, &changed, shared);
            }
        }
    }
    Ok(exit)
}

/// Prints what comes next.
fn note_next(place: &PlaceArgs, entries: &[(&Entry, String)], shared: &SharedArgs) {
    let mut undo = vec!["wiretool", "unwrap"];
    let file = place.file.as_ref().map(|path| path.to_string_lossy());
    if let Some(file) = &file {
        undo.extend(["--in", file]);
    }
    let client = place.client.as_ref().map(ToString::to_string);
    if let Some(client) = &client {
        undo.extend(["--client", client]);
    }
    let entry = place.entry.as_ref().map(KeyPath::to_string);
    match &entry {
        Some(entry) => undo.extend(["--entry", entry]),
        None => undo.extend(entries.iter().map(|(entry, _)| &*entry.name)),
    }
    let name = entries.first().map_or("", |(_, name)| name);
    shared.note(&format!(
        "restart the client; then: wiretool watch {name}; undo: {}",
        shell_words::join(undo)
    ));
}

pub fn run_unwrap(args: &UnwrapArgs, shared: &SharedArgs) -> Result<Exit> {
    let program = program()?;
    let files = args.place.read()?;
    let is_named = args.place.entry.is_some() || args.all;
    let found = select_recorded(files, &args.names, is_named, &program);
    let mut count = 0;
    for (mut file, entries) in found {
        let mut changed = false;
        for entry in &entries {
            changed |= file.unwrap(&entry.path, &program)?;
        }
        if changed {
            count += 1;
            finish(&file, args.place.dry_run, shared)?;
        }
    }
    if count == 0 {
        print_message(&match &args.names[..] {
            [] => "no server is recorded".to_owned(),
            names => format!("{} is not recorded", names.join(", ")),
        });
    }
    Ok(Exit::negative_if(count == 0))
}

/// A configuration, and the entries of it that are meant.
type Selected = Vec<(ConfigFile, Vec<Entry>)>;

/// Keeps the entries with these names, each in one configuration.
fn select(files: Selected, names: &[String], all: bool) -> Result<Selected> {
    for name in names {
        let mut places = Vec::new();
        for (file, entries) in &files {
            for entry in entries.iter().filter(|entry| entry.name == *name) {
                places.push(format!("{}: {}", file.name, entry.path));
            }
        }
        match &places[..] {
            [] => {
                let all = files.iter().flat_map(|(_, entries)| entries);
                let mut known: Vec<&str> = all.map(|entry| &*entry.name).collect();
                known.sort_unstable();
                known.dedup();
                let known = match &known[..] {
                    [] => no_servers(&files),
                    known => format!("there are {}", known.join(", ")),
                };
                bail!(
                    "no server has the name {name}: {known}; wiretool proxy -- COMMAND shows the messages of a command, record -w FILE -- COMMAND records them"
                );
            }
            [_] => {}
            // One of them may be recorded, and the others not: the user decides.
            several => bail!(
                "{name} is there {} times: choose one with --client, or with --in and --entry: {}",
                several.len(),
                several.join(", ")
            ),
        }
    }
    Ok(keep(files, |_, entry| all || names.contains(&entry.name)))
}

/// Keeps the entries with these names that are recorded.
fn select_recorded(files: Selected, names: &[String], all: bool, program: &str) -> Selected {
    let is_recorded = |file: &ConfigFile, entry: &Entry| {
        let server = file.server(&entry.path);
        matches!(server, Ok(Server::Started(launch)) if launch.recorded(program).is_some())
    };
    let wanted = |entry: &Entry| all || names.contains(&entry.name);
    keep(files, |file, entry| {
        wanted(entry) && is_recorded(file, entry)
    })
}

fn keep(files: Selected, wanted: impl Fn(&ConfigFile, &Entry) -> bool) -> Selected {
    let files = files.into_iter().map(|(file, entries)| {
        let entries = entries.into_iter().filter(|entry| wanted(&file, entry));
        let entries: Vec<Entry> = entries.collect();
        (file, entries)
    });
    files.filter(|(_, entries)| !entries.is_empty()).collect()
}

/// Writes the file, or prints the difference.
fn finish(file: &ConfigFile, dry_run: bool, shared: &SharedArgs) -> Result<()> {
    if dry_run {
        let mut out = CommandOutput::open(None, &[])?;
        out.push(file.difference());
        return out.flush();
    }
    let backup = file.write()?;
    shared.note(&format!(
        "{} is changed; before: {}",
        file.name,
        backup.display()
    ));
    Ok(())
}

/// Prints all servers.
fn list(files: &Selected, program: &str) -> Result<Exit> {
    let mut out = String::new();
    for (file, entries) in files.iter().filter(|(_, entries)| !entries.is_empty()) {
        let client = if file.client.is_empty() {
            String::new()
        } else {
            format!("{}  ", file.client)
        };
        let _ = writeln!(out, "{client}{}", escape(&file.name));
        let widest = entries.iter().map(|entry| entry.name.chars().count()).max();
        let widest = widest.unwrap_or_default().min(24);
        for entry in entries {
            let (kind, what) = match file.server(&entry.path) {
                Ok(Server::Started(launch)) => started(&launch, program),
                Ok(Server::Address(address)) => ("url", masked(address)),
                Ok(Server::Unknown) => (
                    "unknown",
                    Cow::Borrowed("it has neither a command nor a URL"),
                ),
                // The file and the name are there already.
                Err(error) => ("unreadable", error.root_cause().to_string().into()),
            };
            let _ = writeln!(
                out,
                "  {:widest$}  {kind:8}  {}",
                escape(&entry.name),
                escape(&what)
            );
        }
    }
    if out.is_empty() {
        print_message(&no_servers(files));
        return Ok(Exit::Negative);
    }
    let mut output = CommandOutput::open(None, &[])?;
    output.push(out);
    output.flush()?;
    Ok(Exit::Clean)
}

/// Returns the state and the command of a server that a client starts.
fn started<'w>(launch: &Launch<'_>, program: &str) -> (&'static str, Cow<'w, str>) {
    let words = launch.words();
    let recorded = launch.recorded(program);
    let own = words
        .get(recorded.unwrap_or_default()..)
        .unwrap_or_default();
    let command = shell_words::join(own);
    let command = without(&command, &text_secrets(command.as_bytes()));
    let mut command = shortened(&command).into_owned();
    if recorded.is_none() {
        return ("stdio", command.into());
    }
    if let Some(name) = launch.recording(program) {
        let count = state::count(name);
        let text = super::count_text(count, "recording", "recordings");
        command += &format!("  ({text}: @{name})");
    }
    ("recorded", command.into())
}

/// Cuts a long command; `--dry-run` shows all of it.
fn shortened(command: &str) -> Cow<'_, str> {
    match command.char_indices().nth(MAX_COMMAND) {
        Some((at, _)) => format!("{}…", command.get(..at).unwrap_or_default()).into(),
        None => command.into(),
    }
}

/// Prints how to record a server that no client starts.
fn print_proxy(file: &ConfigFile, entry: &Entry, address: &str, name: &str) {
    let port = 20_000
        + entry
            .name
            .bytes()
            .fold(0, |sum: u32, b| (sum * 31 + u32::from(b)) % 10_000);
    let (server, path) = split_url(address);
    let listen = format!("http://127.0.0.1:{port}");
    let mut command = vec!["wiretool", "record"];
    command.extend(entry.protocol.into_iter().flat_map(|name| ["-p", name]));
    command.extend(["-w", name, "--listen", &listen, "--connect", address]);
    if server.starts_with("https:") {
        command.push("--rewrite-host");
    }
    print_lines(&format!(
        "{} has an address, which no client starts: nothing is changed. Run\n  {}\nand in {} set the address of {} to\n  {listen}{path}",
        entry.name,
        shell_words::join(command),
        file.name,
        entry.path,
    ));
}

/// Splits a URL into scheme with authority, and the rest.
fn split_url(url: &str) -> (&str, &str) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(start..).and_then(|rest| rest.find('/'));
    url.split_at(end.map_or(url.len(), |end| start + end))
}

/// Writes a script that records a command.
fn write_launcher(
    path: &Path,
    command: &[OsString],
    program: &str,
    (dry_run, shared): (bool, &SharedArgs),
) -> Result<Exit> {
    let name = path
        .file_stem()
        .context("--launcher: wanted the name of a file")?;
    let name = format!("@{}", state::file_name(&name.to_string_lossy()));
    let mut words = vec![
        program.to_owned(),
        "record".into(),
        "-w".into(),
        name.clone(),
        "--".into(),
    ];
    for word in command {
        let word = word.to_str();
        words.push(
            word.context("--launcher: a word of the command is not UTF-8")?
                .to_owned(),
        );
    }
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", shell_words::join(&words));
    if dry_run {
        let mut out = CommandOutput::open(None, &[])?;
        out.push(&script);
        out.flush()?;
        return Ok(Exit::Clean);
    }
    let mut options = std::fs::OpenOptions::new();
    let options = options.write(true).create_new(true);
    let created = crate::system::with_mode(options, 0o755).open(path);
    let context = || format!("cannot write {}", path.display());
    created
        .and_then(|mut file| file.write_all(script.as_bytes()))
        .with_context(context)?;
    shared.note(&format!(
        "{} records {}: wiretool watch {name}",
        path.display(),
        shell_words::join(command.iter().map(|word| word.to_string_lossy()))
    ));
    Ok(Exit::Clean)
}

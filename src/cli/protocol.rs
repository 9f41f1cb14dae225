//! `wiretool protocol`: checks descriptions, shows protocols as pages, and proposes descriptions.

mod draft;

use super::Exit;
use super::descriptions;
use super::options;
use super::output;
use crate::conversation::full_name;
use crate::framing::Framing;
use crate::protocol::described::texts;
use crate::protocol::{Protocol, Role, registry};
use crate::render::style::escape;
use anyhow::{Result, anyhow};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool protocol check my.toml    is the description correct?
  wiretool protocol show dap         sides, framings, kinds and rules of a protocol
  wiretool protocol show my.toml
  wiretool protocol show dap --toml > my.toml   a description to begin with
  wiretool protocol draft FILE       propose a description of an unknown capture
  wiretool decode -p my.toml FILE    how to write one: wiretool help describe";

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  check: the description has an error
  2  usage, or a file that cannot be read";

/// Check, show and draft descriptions of protocols
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    what: ProtocolCommand,
}

#[derive(clap::Subcommand)]
enum ProtocolCommand {
    Check(CheckArgs),
    Show(ShowArgs),
    Draft(draft::DraftArgs),
}

/// Check a description: every error with line, column, and what was expected
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
struct CheckArgs {
    /// Descriptions
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Show a protocol: its sides, framings, kinds and rules
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
struct ShowArgs {
    /// The name of a protocol, or the file of a description
    #[arg(value_name = "PROTOCOL")]
    protocol: OsString,
    /// Print the description itself, of a protocol that this program describes in a file
    #[arg(long)]
    toml: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    match &args.what {
        ProtocolCommand::Check(args) => check(args),
        ProtocolCommand::Show(args) => show(args),
        ProtocolCommand::Draft(args) => draft::run(args),
    }
}

fn check(args: &CheckArgs) -> Result<Exit> {
    let (mut text, mut exit) = (String::new(), Exit::Clean);
    for path in &args.files {
        let file = path.display().to_string();
        let described = match descriptions::read(path) {
            Ok(described) => described,
            Err(error) if error.is::<crate::protocol::described::DescriptionError>() => {
                let _ = writeln!(text, "{error}");
                exit = Exit::Negative;
                continue;
            }
            Err(error) => return Err(error),
        };
        let (name, kinds) = (described.name(), described.kinds().len());
        if registry::find_built_in(name).is_some() {
            let _ = writeln!(text, "{}", descriptions::taken(path, name)?);
            exit = Exit::Negative;
            continue;
        }
        let _ = writeln!(text, "{file}: {name} is correct, with {kinds} kinds");
    }
    output::print(&escape_lines(&text))?;
    Ok(exit)
}

fn escape_lines(text: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "{}", escape(line));
        out
    })
}

fn show(args: &ShowArgs) -> Result<Exit> {
    let name = args.protocol.to_string_lossy();
    if args.toml {
        let text = texts()
            .find(|(known, _)| *known == name)
            .map(|(_, text)| text);
        let names: Vec<_> = texts().map(|(name, _)| name).collect();
        let text = text.ok_or_else(|| {
            anyhow!(
                "wanted a protocol that a file describes ({}), got {name}",
                names.join(", ")
            )
        })?;
        return output::print(text);
    }
    if descriptions::is_path(&args.protocol) {
        let described = descriptions::read(args.protocol.as_ref())?;
        return output::print(&escape_lines(&page(&described, described.about())));
    }
    let names: Vec<_> = registry::names().collect();
    let protocol = registry::find(&name);
    let protocol = protocol.ok_or_else(|| {
        anyhow!(
            "wanted a protocol ({}) or a file, got {name}",
            names.join(", ")
        )
    })?;
    output::print(&escape_lines(&page(protocol, "")))
}

pub fn page(protocol: &dyn Protocol, about: &str) -> String {
    let descriptor = protocol.descriptor();
    let mut page = String::new();
    let [first, second] = descriptor.sides;
    let about = if about.is_empty() {
        String::new()
    } else {
        format!(": {about}")
    };
    let _ = writeln!(page, "{}{about}", protocol.name());
    let _ = writeln!(
        page,
        "  sides      {first} (opens the connection), {second}"
    );
    let framings = descriptor.framings.iter().map(Framing::name);
    let _ = writeln!(
        page,
        "  framings   {}",
        framings.collect::<Vec<_>>().join(", ")
    );
    let encodings = descriptor.encodings.iter();
    let encodings = encodings.map(|encoding| encoding.name());
    let _ = writeln!(
        page,
        "  encodings  {}",
        encodings.collect::<Vec<_>>().join(", ")
    );
    if let Some(port) = descriptor.port {
        let _ = writeln!(page, "  port       {port}");
    }
    let kinds = protocol.kinds();
    let wide = kinds
        .iter()
        .map(|kind| kind.name.len())
        .max()
        .unwrap_or_default()
        .min(32);
    let _ = writeln!(page, "\nKinds:");
    for kind in kinds {
        let role = kind.role.map_or("-", Role::name);
        let _ = writeln!(page, "  {:wide$}  {role:12}  {}", kind.name, kind.about);
    }
    let recipes = protocol.recipes();
    if !recipes.is_empty() {
        let _ = writeln!(page, "\nwiretool make {}:", protocol.name());
        for recipe in recipes {
            let _ = writeln!(page, "  {} {}", recipe.name, recipe.words);
        }
    }
    let rules = protocol.behavior().rules();
    let _ = writeln!(page, "\nRules (wiretool lint --explain RULE):");
    for rule in rules {
        let _ = writeln!(
            page,
            "  {:8} {}",
            rule.both().name(),
            full_name(protocol.name(), rule)
        );
    }
    page
}
